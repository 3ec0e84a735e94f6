//! Executed code as [`mapping`](crate::mapping) looks at it.
//!
//! Input: a program with its counts, code with what its instructions did. Output: blocks and steps.

use crate::amd::fields::EXEC;
use crate::amd::opcodes::{Control, OpcodeAction};
use crate::amd::{Code, Counts, Instruction, IssueKind};
use crate::instrument::Count;
use crate::mapping::branches::{Guard, LaneSetting, SourceBlock, Step, StepKind};
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
    let step = |(at, (instruction, counts)): (usize, (&Instruction, &Counts))| {
        let name = instruction.row.name;
        let sets_lanes = lane_setting(instruction);
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
            // A comparison that sets lanes works out a condition, too.
            _ if sets_lanes != LaneSetting::Unchanged && name.starts_with("s_") => {
                StepKind::Control
            }
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
            writes: writes(instruction),
            sets_lanes,
        }
    };
    code.instructions().iter().zip(counts).enumerate().map(step).collect()
}

/// How an instruction sets EXEC.
fn lane_setting(instruction: &Instruction) -> LaneSetting {
    let name = instruction.row.name;
    let saves = name.contains("saveexec");
    let sets = name.starts_with("s_") && (instruction.destination == EXEC || saves);
    if name.starts_with("v_cmpx") {
        LaneSetting::Anew
    } else if !sets {
        LaneSetting::Unchanged
    } else if name.starts_with("s_andn2") || name.starts_with("s_xor") {
        LaneSetting::Others
    } else if name.starts_with("s_mov_b") {
        LaneSetting::Back
    } else {
        LaneSetting::Anew
    }
}

/// Instructions of the local data share that leave its words as they are.
const READS: [&str; 5] = ["ds_read", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_nop"];

/// Whether an instruction stores, or is an atomic.
fn writes(instruction: &Instruction) -> bool {
    let name = instruction.row.name;
    match IssueKind::from_instruction(instruction) {
        IssueKind::Vmem => name.contains("_store_") || name.contains("_atomic_"),
        IssueKind::Lds => !READS.iter().any(|start| name.starts_with(start)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amd::decode;

    #[test]
    fn names_say_what_sets_lanes_and_what_writes() {
        use LaneSetting::{Anew, Back, Others, Unchanged};
        let cases: [(&[u32], LaneSetting, bool); 14] = [
            (&[0xbefe_0301], Back, false),                  // s_mov_b32 exec_lo, s1
            (&[0xbefe_0404], Back, false),                  // s_mov_b64 exec, s[4:5]
            (&[0x8a7e_7e04], Others, false),                // s_andn2_b32 exec_lo, s4, exec_lo
            (&[0xbe81_3c01], Anew, false),                  // s_and_saveexec_b32 s1, s1
            (&[0x7d24_0280], Anew, false),                  // v_cmpx_eq_i32_e32 0, v1
            (&[0xbe80_0303], Unchanged, false),             // s_mov_b32 s0, s3
            (&[0x8a04_7e04], Unchanged, false),             // s_andn2_b32 s4, s4, exec_lo
            (&[0x7e04_02a0], Unchanged, false),             // v_mov_b32_e32 v2, 32
            (&[0xe070_4000, 0x8001_0280], Unchanged, true), // buffer_store_dword
            (&[0xe030_1000, 0x8001_0201], Unchanged, false), // buffer_load_dword
            (&[0xe0e0_0000, 0x8003_0b80], Unchanged, true), // buffer_atomic_umax
            (&[0xd834_0000, 0x0000_0302], Unchanged, true), // ds_write_b32
            (&[0xd800_0000, 0x0000_0004], Unchanged, true), // ds_add_u32
            (&[0xd8d8_0004, 0x0100_0001], Unchanged, false), // ds_read_b32
        ];
        for (words, sets, changes) in cases {
            let instruction = decode(words, 0).unwrap();
            let found = (lane_setting(&instruction), writes(&instruction));
            assert_eq!(found, (sets, changes), "{}", instruction.row.name);
        }
    }
}
