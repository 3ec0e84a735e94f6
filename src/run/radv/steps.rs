//! Executed code as [`mapping`](crate::mapping) looks at it.
//!
//! Input: a program with its counts, code with what its instructions did. Output: blocks and steps.

use crate::amd::fields::EXEC;
use crate::amd::opcodes::{Control, OpcodeAction};
use crate::amd::{Code, Counts, IssueKind};
use crate::instrument::Count;
use crate::mapping::branches::{Guard, SourceBlock, Step, StepKind};
use crate::program::Program;
use crate::run::measure::flow_of;

/// The blocks of a program with their counts.
pub(super) fn blocks_of(program: &Program, counts: &[Count]) -> Vec<SourceBlock> {
    let flows = program.flows();
    let pairs = program.blocks().iter().zip(&flows).enumerate();
    let ran =
        |at: usize| counts.get(at).map_or((0, 0), |count| (count.executions.0, count.lanes.0));
    pairs
        .map(|(at, (info, flow))| SourceBlock {
            operations: info.ops,
            lines: info.lines.keys().copied().collect(),
            flow: flow_of(info, flow),
            ran: ran(at),
        })
        .collect()
}

/// The instructions of a code.
pub(super) fn steps_of(code: &Code, counts: &[Counts]) -> Vec<Step> {
    let step = |(at, (instruction, counts)): (usize, (&crate::amd::Instruction, &Counts))| {
        let name = instruction.row.name;
        // A comparison that does so works out a condition, too.
        let sets_lanes = name.starts_with("v_cmpx")
            || name.starts_with("s_")
                && (instruction.scalar_destination == EXEC || name.contains("saveexec"));
        let kind = match instruction.row.run {
            OpcodeAction::Control(Control::Branch(_)) => {
                let guard = match name {
                    "s_branch" => Guard::Always,
                    "s_cbranch_execz" | "s_cbranch_execnz" => Guard::Lanes,
                    _ => Guard::Whole,
                };
                StepKind::Branch(code.target(at), guard)
            }
            OpcodeAction::Control(_) => StepKind::Control,
            _ if sets_lanes && name.starts_with("s_") => StepKind::Control,
            _ if name == "v_cndmask_b32" => StepKind::Select,
            _ if name.starts_with("s_cselect") => StepKind::ScalarSelect,
            _ => match IssueKind::from_instruction(instruction) {
                IssueKind::Valu | IssueKind::Vmem | IssueKind::Lds => StepKind::Lanes,
                _ => StepKind::Scalar,
            },
        };
        Step {
            ran: (counts.executions, counts.lanes),
            on: counts.lanes,
            line: None,
            operation: name.to_owned(),
            kind,
            sets_lanes,
        }
    };
    code.instructions().iter().zip(counts).enumerate().map(step).collect()
}
