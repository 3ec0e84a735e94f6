//! What the compiler did to each branch of the source.
//!
//! Input: a program, the counts of its blocks by way of calls, its machine code with what each
//! instruction did, and which instructions are which block ([`Matching`]). Output: an [`Arm`] for each
//! arm of an `if` or a `switch` that does more than leave, and for each loop. Nothing is asked of the compiler, and no figure is
//! made here: an outcome is read off the code.
//!
//! | outcome | how it is told |
//! |---|---|
//! | `kept` | the arm's instructions are there, and a branch on a scalar condition leads over them; a loop whose body is there |
//! | `skipped` | they are there, EXEC is masked, and `s_cbranch_execz` leads over them |
//! | `masked` | they are there, and nothing leads over them; or none ran as the arm did, but vector instructions ran as often as what surrounds it, with the arm's lanes |
//! | `flattened` | none are there, and where what surrounds it ran there are selects (`v_cndmask_b32`, `s_cselect`) |
//! | `unrolled` | a loop's body ran a whole number of times as often as what surrounds it, with lanes to match, and is not there as one |
//! | `folded` | none are there, and there is no select either |
//! | `merged` | it ran as often and with as many lanes as what surrounds it, so that the code does not tell them apart |

use std::collections::BTreeMap;

use crate::amd::opcodes::{Control, OpcodeAction};
use crate::amd::{Code, Counts, IssueKind};
use crate::program::Program;
use crate::program::branch::{BranchPart, Enclosure};
use crate::record::{Arm, ArmOutcome, Call};
use crate::run::CountedDispatch;
use crate::run::measure::to_part;

use super::matching::{Match, Matching};

/// A block by one way of calls, with its executions and lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The way of calls, as functions and the places that they are called from.
    pub way: String,
    /// The block.
    pub block: usize,
    /// Executions and lanes.
    pub ran: (u64, u64),
}

/// The blocks of a counted dispatch by way of calls, in the order in which they would be inlined.
pub fn units(program: &Program, counted: &CountedDispatch) -> Vec<Unit> {
    let mut walk = UnitWalk { program, counted, units: Vec::new(), calls: Vec::new() };
    let entry = program.entry_point().name.clone();
    match counted.calls.is_empty() {
        true => walk.function(&entry, None, String::new()),
        false => walk.function(&entry, Some(0), String::new()),
    }
    walk.units
}

/// The walk over the tree of calls.
struct UnitWalk<'a> {
    program: &'a Program,
    counted: &'a CountedDispatch,
    units: Vec<Unit>,
    /// Calls that were walked.
    calls: Vec<usize>,
}

/// How deep calls may be nested; WGSL has no recursion.
const DEPTH_MAX: usize = 256;

impl UnitWalk<'_> {
    fn function(&mut self, name: &str, call: Option<usize>, way: String) {
        if way.matches('/').count() > DEPTH_MAX {
            return;
        }
        let own: BTreeMap<usize, (u64, u64)> = match call.and_then(|at| self.counted.calls.get(at))
        {
            Some(call) => call
                .blocks
                .iter()
                .map(|one| (one.block.0 as usize, (one.executions.0, one.lanes.0)))
                .collect(),
            None => BTreeMap::new(),
        };
        for (block, info) in self.program.blocks().iter().enumerate() {
            if info.function != name {
                continue;
            }
            let ran = match call {
                Some(_) => own.get(&block).copied().unwrap_or_default(),
                None => {
                    let count = self.counted.counts.get(block);
                    count.map_or((0, 0), |count| (count.executions.0, count.lanes.0))
                }
            };
            self.units.push(Unit { way: way.clone(), block, ran });
            let flow = &self.program.flows()[block];
            for (callee, line) in flow.calls.iter().zip(&flow.call_lines) {
                let way = format!("{way}/{callee}:{line}");
                match call {
                    None => self.function(callee, None, way),
                    Some(caller) => {
                        if let Some(at) = self.called(caller, callee, *line) {
                            self.function(callee, Some(at), format!("{way}#{at}"));
                        }
                    }
                }
            }
        }
    }

    /// The next call of a function by a caller from a line.
    fn called(&mut self, caller: usize, callee: &str, line: u32) -> Option<usize> {
        let is = |call: &Call| {
            call.caller == Some(caller) && call.function == callee && call.line == Some(line)
        };
        let found = self.counted.calls.iter().enumerate().filter(|(_, call)| is(call));
        let at = found.map(|(at, _)| at).find(|at| !self.calls.contains(at))?;
        self.calls.push(at);
        Some(at)
    }
}

/// What is known of a dispatch's code.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its blocks by way of calls.
    pub units: &'a [Unit],
    /// Which instruction is which of them.
    pub matching: &'a Matching,
    /// The code.
    pub code: &'a Code,
    /// What each instruction did.
    pub counts: &'a [Counts],
}

/// An arm: a construct and a part of it.
type ArmKey = (u32, u8, u32);

fn key_of(enclosure: &Enclosure) -> ArmKey {
    match enclosure.part {
        BranchPart::IfAccept => (enclosure.construct, 0, 0),
        BranchPart::IfReject => (enclosure.construct, 1, 0),
        BranchPart::SwitchCase(case) => (enclosure.construct, 2, case),
        BranchPart::LoopBody => (enclosure.construct, 3, 0),
        BranchPart::LoopContinuing => (enclosure.construct, 4, 0),
    }
}

impl Compared<'_> {
    /// What became of each arm and loop, in the order of the source.
    pub fn arms(&self) -> Vec<Arm> {
        let mut members: BTreeMap<ArmKey, (Enclosure, Vec<usize>)> = BTreeMap::new();
        for (block, flow) in self.program.flows().iter().enumerate() {
            for enclosure in &flow.path {
                let (_, blocks) =
                    members.entry(key_of(enclosure)).or_insert_with(|| (*enclosure, Vec::new()));
                blocks.push(block);
            }
        }
        let mut arms: Vec<Arm> = Vec::new();
        for (enclosure, blocks) in members.values() {
            // An arm that only leaves is a part of what it leaves; a loop's end belongs to the loop.
            let works = blocks.iter().any(|block| self.program.blocks()[*block].ops > 0);
            if enclosure.part == BranchPart::LoopContinuing || !works {
                continue;
            }
            let mut outcomes: Vec<ArmOutcome> = Vec::new();
            for way in self.ways(blocks) {
                let outcome = self.outcome(enclosure, blocks, way);
                if !outcomes.contains(&outcome) {
                    outcomes.push(outcome);
                }
            }
            // A function that is inlined again may come to something else there.
            if outcomes.len() > 1 {
                outcomes.retain(|outcome| *outcome != ArmOutcome::NeverRan);
            }
            let (part, case) = to_part(enclosure.part);
            let of = |outcome| Arm {
                construct: enclosure.construct,
                part,
                case,
                line: enclosure.line,
                outcome,
            };
            arms.extend(outcomes.into_iter().map(of));
        }
        arms
    }

    /// The ways of calls by which a block of an arm may run.
    fn ways(&self, blocks: &[usize]) -> Vec<&str> {
        let mut ways: Vec<&str> = Vec::new();
        for unit in self.units.iter().filter(|unit| blocks.contains(&unit.block)) {
            if !ways.contains(&unit.way.as_str()) {
                ways.push(&unit.way);
            }
        }
        ways
    }

    fn outcome(&self, enclosure: &Enclosure, blocks: &[usize], way: &str) -> ArmOutcome {
        let own: Vec<usize> = (0..self.units.len())
            .filter(|at| self.units[*at].way == way && blocks.contains(&self.units[*at].block))
            .collect();
        let ran: Vec<usize> = own.iter().copied().filter(|at| self.units[*at].ran.0 > 0).collect();
        if ran.is_empty() {
            return ArmOutcome::NeverRan;
        }
        let parent = enclosure.parent.and_then(|parent| {
            self.units.iter().position(|unit| unit.way == way && unit.block == parent.0 as usize)
        });
        let around = parent.map(|at| self.units[at].ran);
        let there =
            |at: &usize| self.matching.blocks[*at] == Match::Found && self.operations(*at) > 0;
        if ran.iter().any(there) {
            if enclosure.part == BranchPart::LoopBody {
                return ArmOutcome::Kept;
            }
            let of_arm = |unit: &Option<usize>| {
                unit.is_some_and(|unit| ran.contains(&unit) && self.operations(unit) > 0)
            };
            let first = self.matching.instructions.iter().position(of_arm).unwrap_or(0);
            return self.guard(first, around);
        }
        self.outcome_without_code(enclosure, &ran, parent)
    }

    /// What leads over the instruction at which an arm begins.
    fn guard(&self, first: usize, around: Option<(u64, u64)>) -> ArmOutcome {
        for at in (0..=first).rev() {
            let Some(target) = self.branch(at) else { continue };
            if target <= first {
                continue;
            }
            let fits =
                |at: usize| around.is_none_or(|(often, _)| self.counts[at].executions == often);
            let name = self.code.instructions()[at].row.name;
            if name == "s_branch" {
                // The end of an arm before this one: what leads here decides.
                let leads = |from: &usize| {
                    self.branch(*from).is_some_and(|target| target > at && target <= first)
                };
                return match (0..at).rev().find(leads) {
                    Some(from) => self.kind_of_guard(from),
                    None => ArmOutcome::Kept,
                };
            }
            return if fits(at) { self.kind_of_guard(at) } else { ArmOutcome::Masked };
        }
        ArmOutcome::Masked
    }

    /// Operations of a unit's block.
    fn operations(&self, unit: usize) -> u64 {
        self.program.blocks()[self.units[unit].block].ops
    }

    fn kind_of_guard(&self, at: usize) -> ArmOutcome {
        match self.code.instructions()[at].row.name {
            "s_cbranch_execz" | "s_cbranch_execnz" => ArmOutcome::Skipped,
            _ => ArmOutcome::Kept,
        }
    }

    /// Where a branch leads that is no loop's.
    fn branch(&self, at: usize) -> Option<usize> {
        let action = self.code.instructions()[at].row.run;
        let leads = matches!(action, OpcodeAction::Control(Control::Branch(_)));
        leads.then(|| self.code.target(at)).filter(|target| *target > at)
    }

    fn outcome_without_code(
        &self,
        enclosure: &Enclosure,
        ran: &[usize],
        parent: Option<usize>,
    ) -> ArmOutcome {
        let around = parent.map(|at| self.units[at].ran);
        let units = || ran.iter().map(|at| &self.units[*at]);
        let merged =
            |at: &usize| self.matching.blocks[*at] == Match::Merged && self.operations(*at) > 0;
        if ran.iter().any(merged) {
            return ArmOutcome::Merged;
        }
        let Some((often, lanes)) = around else { return self.selects(None) };
        let whole = |unit: &&Unit| {
            let (executions, active) = unit.ran;
            let times = executions / often.max(1);
            times > 1 && executions == often * times && active == lanes * times
        };
        if enclosure.part == BranchPart::LoopBody && units().any(|unit| whole(&unit)) {
            return ArmOutcome::Unrolled;
        }
        let masked = |unit: &Unit| {
            self.code.instructions().iter().zip(self.counts).any(|(instruction, counts)| {
                let kind = IssueKind::from_instruction(instruction);
                let vector = matches!(kind, IssueKind::Valu | IssueKind::Vmem | IssueKind::Lds);
                vector && counts.executions == often && counts.lanes == unit.ran.1
            })
        };
        if units().any(masked) {
            return ArmOutcome::Masked;
        }
        match self.selects(Some((often, lanes))) {
            // What surrounds it may be flattened itself, into what surrounds that.
            ArmOutcome::Folded if parent.is_some_and(|at| !self.matching.blocks[at].is_there()) => {
                self.selects(None)
            }
            outcome => outcome,
        }
    }

    /// Whether selects ran where what surrounds an arm did, or anywhere where that is not known.
    fn selects(&self, around: Option<(u64, u64)>) -> ArmOutcome {
        let selects = ["v_cndmask_b32", "s_cselect_b32", "s_cselect_b64"];
        let here = |counts: &Counts| {
            counts.executions > 0
                && around.is_none_or(|ran| (counts.executions, counts.lanes) == ran)
        };
        let pairs = self.code.instructions().iter().zip(self.counts);
        let mut found = pairs.filter(|(i, counts)| selects.contains(&i.row.name) && here(counts));
        if found.next().is_some() { ArmOutcome::Flattened } else { ArmOutcome::Folded }
    }
}
