//! What machine code did, summed over lines, and how that differs from the source.
//!
//! Input: a dispatch with counts of its blocks and of its machine instructions. Output: [`Executed`]
//! sums, and [`Change`]s by the rules below. It knows nothing of devices or kernels.
//!
//! # The rules
//!
//! A rule speaks of a *line*: one that belongs to a single basic block, so that the block's executions and
//! lanes are the line's. S is how often subgroups executed the block; a machine instruction of the line
//! was executed e times, by t lanes in all, of which p were not predicated off; sums over the line's
//! instructions are E, T and P.
//!
//! | change | where | when |
//! |---|---|---|
//! | select | under an `if` or in a `case`, entered by fewer than [`PARTIAL`] of the lanes | T/E at least [`FULL`] of the lanes, P/T at least [`FULL`]: all lanes work, and what a branch would have kept them from is thrown away |
//! | predicated | there too | T/E at least [`FULL`] of the lanes, P/T below [`FULL`]: all lanes go through, some switched off |
//! | copied | in a loop | S over the largest e is within [`WHOLE`] of a whole number from 2: the line stands there in copies, and none was executed more often than once in so many times. Whether a loop was unrolled, or a function came into several arms, the counts do not say; nor, where data decides which copy is used, how many there are |
//! | folded | anywhere | E below [`LEAST_WORK`] of S times the line's multiply-adds: fewer instructions than there are additions and multiplications to do |
//! | gone | anywhere | S above 0, and no instruction of the whole code is of the line |
//!
//! Lines whose block adds and multiplies nothing are left out of the last two: loads, stores and
//! jumps are moved and joined as a matter of course. A rule that needs a count that is not there says
//! nothing.

use std::collections::BTreeMap;

use crate::record::{Block, ConstructPart, Dispatch, Enclosure, Instruction, MachineCode};

/// A block that at most this part of the lanes enter, on the mean, is entered by some.
pub(super) const PARTIAL: f64 = 0.9;

/// From this part on, all lanes are there.
pub(super) const FULL: f64 = 0.98;

/// How far from a whole number a number of copies may lie, relative.
pub(super) const WHOLE: f64 = 0.01;

/// Fewer instructions than this part of the multiply-adds is less than the work.
pub(super) const LEAST_WORK: f64 = 0.9;

/// Sums over machine instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Instructions executed by subgroups.
    pub instructions: u128,
    /// Lanes that executed them.
    pub threads: u128,
    /// Lanes not predicated off.
    pub threads_on: u128,
}

/// How machine code differs from the source on some lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What was done.
    pub kind: ChangeKind,
    /// The lines, in order.
    pub lines: Vec<u32>,
}

/// What a compiler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A branch became a select: all lanes compute both sides.
    Select,
    /// A branch became predication: all lanes go through, some switched off.
    Predicated,
    /// What is within a loop stands there in copies, of which none ran more often than once in so many executions.
    Copied(u64),
    /// Fewer instructions than there is arithmetic to do.
    Folded,
    /// No instruction is left of it.
    Gone,
}

impl std::fmt::Display for ChangeKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Select => formatter.write_str("branch became a select"),
            Self::Predicated => formatter.write_str("branch became predication"),
            Self::Copied(times) => {
                write!(formatter, "code in copies, each run once in {times} executions at most")
            }
            Self::Folded => formatter.write_str("arithmetic folded"),
            Self::Gone => formatter.write_str("work removed"),
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        write!(formatter, "{} ({word} {})", self.kind, lines.join(", "))
    }
}

impl Executed {
    /// Sums over instructions.
    pub fn sum<'a>(instructions: impl IntoIterator<Item = &'a Instruction>) -> Self {
        instructions.into_iter().fold(Self::default(), |sum, instruction| Self {
            instructions: sum.instructions + u128::from(instruction.inst_executed),
            threads: sum.threads + u128::from(instruction.thread_inst_executed),
            threads_on: sum.threads_on + u128::from(instruction.thread_inst_executed_pred_on),
        })
    }

    /// Adds sums.
    pub fn plus(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            threads: self.threads + other.threads,
            threads_on: self.threads_on + other.threads_on,
        }
    }

    /// The mean of the lanes that executed an instruction; `None` if none was executed.
    pub fn threads_mean(self) -> Option<f64> {
        crate::analyze::counts::ratio(self.threads, self.instructions)
    }

    /// The mean of the lanes that executed it and were not predicated off.
    pub fn threads_on_mean(self) -> Option<f64> {
        crate::analyze::counts::ratio(self.threads_on, self.instructions)
    }
}

/// The least mean of lanes of any instruction that was executed: no average of them lies below.
pub(super) fn threads_least(code: &MachineCode) -> Option<f64> {
    let means = code
        .instructions
        .iter()
        .filter_map(|instruction| Executed::sum([instruction]).threads_mean());
    means.reduce(f64::min)
}

/// A line of one block, with what its machine instructions did.
struct LineFacts<'a> {
    line: u32,
    block: &'a Block,
    /// Multiply-adds of the line each time that it is executed; the block's, where it is the block's
    /// only line with operations enough to hold them.
    fma_operations: u64,
    instructions: Vec<&'a Instruction>,
}

/// How a dispatch's machine code differs from its source, at a subgroup width in lanes.
pub(super) fn changes(dispatch: &Dispatch, width: f64) -> Vec<Change> {
    let Some(code) = &dispatch.machine_code else { return Vec::new() };
    let mut found: BTreeMap<ChangeKind, Vec<u32>> = BTreeMap::new();
    for facts in lines(dispatch, code) {
        for kind in judge(&facts, width) {
            found.entry(kind).or_default().push(facts.line);
        }
    }
    found.into_iter().map(|(kind, lines)| Change { kind, lines }).collect()
}

/// The lines that belong to one block that was executed.
fn lines<'a>(dispatch: &'a Dispatch, code: &'a MachineCode) -> Vec<LineFacts<'a>> {
    let mut owners: BTreeMap<u32, Vec<&Block>> = BTreeMap::new();
    for block in &dispatch.blocks {
        for line in block.lines.keys() {
            owners.entry(*line).or_default().push(block);
        }
    }
    let mut facts = Vec::new();
    for (line, blocks) in owners {
        let [block] = blocks.as_slice() else { continue };
        if block.executions.0 == 0 {
            continue;
        }
        // Which line a multiply-add stands on is not recorded: where a block has one line, it is that.
        let fma_operations =
            if block.lines.len() == 1 { block.fma_operations.unwrap_or(0) } else { 0 };
        let on_line = |instruction: &&Instruction| instruction.line == Some(line);
        let instructions = code.instructions.iter().filter(on_line).collect();
        facts.push(LineFacts { line, block, fma_operations, instructions });
    }
    facts
}

#[expect(clippy::cast_precision_loss, reason = "ratios of counts, held against margins")]
fn judge(facts: &LineFacts<'_>, width: f64) -> Vec<ChangeKind> {
    let LineFacts { block, fma_operations, instructions, .. } = facts;
    let sum = Executed::sum(instructions.iter().copied());
    let executions = block.executions.0 as f64;
    let mut kinds = Vec::new();
    let Some(threads) = sum.threads_mean() else {
        if *fma_operations > 0 {
            kinds.push(ChangeKind::Gone);
        }
        return kinds;
    };
    let counted = block.lanes.0 as f64 / executions;
    if is_within(block, is_branch) && counted < PARTIAL * width && threads >= FULL * width {
        let on = sum.threads_on as f64 / sum.threads as f64;
        kinds.push(if on >= FULL { ChangeKind::Select } else { ChangeKind::Predicated });
    }
    let most = instructions.iter().map(|instruction| instruction.inst_executed).max().unwrap_or(0);
    if is_within(block, is_loop) && most > 0 {
        let copies = executions / most as f64;
        let whole = copies.round();
        if whole >= 2.0 && (copies / whole - 1.0).abs() <= WHOLE {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number from 2, at most a count"
            )]
            kinds.push(ChangeKind::Copied(whole as u64));
        }
    }
    if (sum.instructions as f64) < LEAST_WORK * executions * *fma_operations as f64 {
        kinds.push(ChangeKind::Folded);
    }
    kinds
}

fn is_within(block: &Block, kind: fn(ConstructPart) -> bool) -> bool {
    let path = block.flow.iter().flat_map(|flow| &flow.path);
    path.into_iter().any(|around: &Enclosure| kind(around.part))
}

fn is_branch(part: ConstructPart) -> bool {
    match part {
        ConstructPart::IfAccept | ConstructPart::IfReject | ConstructPart::SwitchCase => true,
        ConstructPart::LoopBody | ConstructPart::LoopContinuing => false,
    }
}

fn is_loop(part: ConstructPart) -> bool {
    !is_branch(part)
}
