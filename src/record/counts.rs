//! Counts of a dispatch: by basic block, with the block's place in control flow, and by source line.
//!
//! Input: what counting gave and what the program says of its blocks. Output: serde types. Sums and
//! ratios are made by `analyze`.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::units::{BlockId, Executions, Lanes, Parts, Ratio};

/// How unlike the subgroups of a dispatch are: the efficiency of each by itself, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many subgroups were looked at: those of the first workgroups, and of others at even distances.
    pub subgroups: u64,
    /// The quantiles of efficiency, by percent: 0 is the least of them, 50 the median, 100 the greatest; below 10
    /// lie the worst tenth of all.
    pub efficiency_ratio_quantiles: BTreeMap<u32, Ratio>,
}

/// What the lanes of one subgroup did in its first operations, as the simulator saw it: a step for each block
/// that it executed, until there were 256 operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The dispatch, by its place in [`Measurement::dispatches`](super::Measurement::dispatches).
    pub dispatch: usize,
    /// The workgroup's number in dispatch order: x runs fastest.
    pub workgroup: u64,
    /// The subgroup's number in its workgroup.
    pub subgroup: u32,
    /// The block of each step.
    pub blocks: Vec<BlockId>,
    /// The active lanes of each step in hexadecimal: bit i is lane i.
    pub active: Vec<String>,
    /// At 32 lanes the other subgroup of the same 64 invocations, where there is one: what one subgroup of 64
    /// lanes holds. Empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<TracedSubgroup>,
    /// How unlike this dispatch's subgroups are; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// Another subgroup of a trace, its steps as the first's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedSubgroup {
    /// The subgroup's number in its workgroup.
    pub subgroup: u32,
    /// The block of each step.
    pub blocks: Vec<BlockId>,
    /// The active lanes of each step in hexadecimal: bit i is lane i.
    pub active: Vec<String>,
}

/// A basic block of a dispatch: what the program says of it, and its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What the program says of it: the same in every dispatch of one entry point, and held once.
    pub code: Arc<BlockCode>,
    /// Executions by a subgroup with at least one active lane.
    pub executions: Executions,
    /// Active lanes, summed over those executions.
    pub lanes: Lanes,
    /// Element k: executions with k + 1 active lanes; nothing where not taken.
    pub histogram: Option<Vec<u64>>,
    /// The parts of 16 and of 32 neighbouring lanes that had an active lane, summed over the
    /// executions: `of_16`, `of_32`. Of simulators of 64 lanes and more; `None` elsewhere.
    pub parts: Option<Parts>,
    /// The mean active lanes that the kernel's author expects at this width, in lanes.
    pub active_lanes_mean_expected: Option<f64>,
}

impl Deref for Block {
    type Target = BlockCode;
    fn deref(&self) -> &BlockCode {
        &self.code
    }
}

/// Counts of one block without what the program says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTotals {
    /// Executions by a subgroup with at least one active lane.
    pub executions: Executions,
    /// Active lanes, summed over those executions.
    pub lanes: Lanes,
}

/// What the program says of a basic block: a row of a block table, see [`crate::record`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCode {
    /// Its number in the program.
    pub id: BlockId,
    /// The label that a marker comment gave it.
    pub label: Option<String>,
    /// The source file.
    pub file: String,
    /// Line of its first operation, from 1.
    pub line: u32,
    /// Column of its first operation, from 1.
    pub column: u32,
    /// Operations: expressions (those of conditions too), stores, calls, atomics, barriers and subgroup
    /// operations; by counting rule 1 jumps too, see [`super::Run::counting_rule`].
    #[serde(alias = "ops")]
    pub operations: u64,
    /// What the block costs each lane's multiply-add unit at least: each `fma`, and each addition,
    /// subtraction or multiplication of floats, a product and the sum that takes it together one; a
    /// vector's components each. `null` or absent where they were not told apart.
    #[serde(default, alias = "fma_ops", skip_serializing_if = "Option::is_none")]
    pub fma_operations: Option<u64>,
    /// Operations by source line; their sum is [`BlockCode::operations`]. Absent where they were not
    /// told apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<u32, u64>,
    /// Why the block is entered and how its lanes leave it; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
}

/// A block's place in its function's structured control flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The function that the block lies in.
    pub function: String,
    /// The constructs around the block in its function, outermost first, up to 256; empty in the
    /// outermost body. A file leaves out those at the front that the block before has too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Enclosure>,
    /// In a file, how many entries of `path` are left out, since they are those at the front of the
    /// path of the block before in its table; 0 where absent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub path_shared: usize,
    /// The construct that ends right before the block in the same body: its lanes that did not
    /// leave come together here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// How the block's lanes leave at its end, where it ends in a statement that leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Leave>,
    /// Whether it holds a barrier, or a load that is one (`workgroupUniformLoad`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub barrier: bool,
    /// Whether it changes memory that others see: it stores there, or has an atomic; what it calls is not looked
    /// into. Absent where it does not, and in older records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// The functions that it calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// The line of each of `calls`, from 1; absent in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_lines: Vec<u32>,
}

/// A function where it was called by one way: the calls of a dispatch are a tree, with the entry point at its
/// root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The function.
    pub function: String,
    /// The call by which its caller is there, by its place in [`Dispatch::calls`](super::Dispatch::calls):
    /// an earlier one; absent for the entry point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<usize>,
    /// The line from which it is called, from 1; absent for the entry point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column from which it is called, in bytes, from 1; absent for the entry point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The counts of its own blocks, those that were executed.
    pub blocks: Vec<CallBlock>,
}

/// Counts of one block by one way of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallBlock {
    /// The block's number in the program.
    pub block: BlockId,
    /// Executions by a subgroup with at least one active lane.
    pub executions: Executions,
    /// Active lanes, summed over those executions.
    pub lanes: Lanes,
}

/// Whether a count is zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A construct around a block, and the part of it that the block lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enclosure {
    /// The construct's number in the program, from 0, in the order of the source within a function.
    pub construct: u32,
    /// The part.
    pub part: ConstructPart,
    /// The part's number: the switch's case, from 0; 0 for every other part.
    #[serde(default)]
    pub case: u32,
    /// The line of the condition or selector; of the loop's first line for a loop.
    pub line: u32,
    /// What the condition depends on; for a loop all the conditions under which it is left.
    pub condition: ConditionClass,
    /// A block of the body around the construct whose lanes are exactly those that reach it: before
    /// it, else after it; absent where there is no such block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<BlockId>,
    /// The operator that the construct stands for, where nobody wrote an `if`; absent where somebody did, and in older
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<ShortCircuit>,
}

/// An operator whose right side is not asked where its left side decides: what is behind it is an arm, as that of an
/// `if` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortCircuit {
    /// `&&`.
    And,
    /// `||`.
    Or,
}

impl ShortCircuit {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

/// A part of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConstructPart {
    /// What lanes run for which an `if`'s condition is true.
    IfAccept,
    /// What the others run.
    IfReject,
    /// A case of a `switch`.
    SwitchCase,
    /// A loop's body, a `for`'s condition included.
    LoopBody,
    /// What follows the body in each iteration.
    LoopContinuing,
}

/// What a condition depends on, as far as the program alone proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionClass {
    /// The same for every invocation of a workgroup that evaluates it together.
    Uniform,
    /// An invocation's number modulo a small constant, or some of its low bits.
    LaneParity,
    /// An invocation's number otherwise, such as a bound.
    Invocation,
    /// Values loaded from memory, or whatever could not be traced.
    Data,
}

/// A statement by which lanes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// `return`, the implicit one at a function's end not counted.
    Return,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// Counts of one source line in one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Operations on it, static.
    #[serde(alias = "ops")]
    pub operations: u64,
    /// Σ operations × executions over its operations.
    #[serde(alias = "issues")]
    pub subgroup_operations: u64,
    /// Σ operations × active lanes over its operations.
    #[serde(alias = "lanes")]
    pub lane_operations: u64,
}

/// Sums blocks by source line, in the order of files and lines; only of blocks that tell their
/// operations apart by line.
pub(super) fn lines_of(blocks: &[Block]) -> Vec<Line> {
    let mut lines: BTreeMap<(&str, u32), Line> = BTreeMap::new();
    for block in blocks {
        for (line, operations) in &block.code.lines {
            let sum = lines.entry((&block.code.file, *line)).or_insert_with(|| Line {
                file: block.code.file.clone(),
                line: *line,
                operations: 0,
                subgroup_operations: 0,
                lane_operations: 0,
            });
            sum.operations += operations;
            sum.subgroup_operations += operations * block.executions.0;
            sum.lane_operations += operations * block.lanes.0;
        }
    }
    lines.into_values().collect()
}
