//! Executed code as [`mapping`](crate::mapping) looks at it.
//!
//! Input: a program with its counts, code with what its instructions did. Output: blocks and steps. Whole-wave code,
//! for which EXEC is switched on in all lanes, has the lanes here that EXEC had before it: those are the source's.

use crate::amd::fields::{EXEC, Format, OperandSource};
use crate::amd::opcodes::{Control, OpcodeAction};
use crate::amd::{Code, Counts, Instruction, IssueKind};
use crate::instrument::Count;
use crate::mapping::branches::{Guard, LaneSetting, SideBySide, SourceBlock, Step, StepKind};
use crate::mapping::matching::Match;
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
    let begins = whole_wave_begins(code.instructions());
    let ran = ran_of(code, counts);
    let step = |(at, (instruction, ran)): (usize, (&Instruction, &(u64, u64)))| {
        let name = instruction.row.name;
        let sets_lanes = lane_setting(instruction);
        let is_whole_wave = begins[at].is_some();
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
            // In whole-wave code it fills the lanes that were off, and is no choice of the source's.
            _ if name == "v_cndmask_b32" && !is_whole_wave => StepKind::Select,
            _ if name.starts_with("s_cselect") => StepKind::ScalarSelect,
            _ => match IssueKind::from_instruction(instruction) {
                IssueKind::Valu | IssueKind::Vmem | IssueKind::Lds => StepKind::Lanes,
                _ => StepKind::Scalar,
            },
        };
        Step {
            ran: *ran,
            on: ran.1,
            line: None,
            operation: name.to_owned(),
            kind,
            writes: writes(instruction),
            sets_lanes: if is_whole_wave { LaneSetting::Unchanged } else { sets_lanes },
        }
    };
    code.instructions().iter().zip(&ran).enumerate().map(step).collect()
}

/// Executions and lanes of each instruction of a code; in whole-wave code those of what begins it.
pub(super) fn ran_of(code: &Code, counts: &[Counts]) -> Vec<(u64, u64)> {
    let begins = whole_wave_begins(code.instructions());
    let ran = |at: usize| counts.get(at).map_or((0, 0), |counts| (counts.executions, counts.lanes));
    begins.iter().enumerate().map(|(at, begin)| ran(begin.unwrap_or(at))).collect()
}

/// The operand of `s_or_saveexec` that switches all lanes on: -1.
const ALL_LANES: OperandSource = OperandSource::Inline(193);

/// Of each instruction in whole-wave code the one that begins that: from `s_or_saveexec sX, -1` to the `s_mov` of `sX`
/// back to EXEC, both included, with whatever sets EXEC between them. RADV makes reductions and scans of a subgroup so,
/// and of the lanes of an atomic: one straight line without memory of lanes. What is not brought back so is none.
fn whole_wave_begins(instructions: &[Instruction]) -> Vec<Option<usize>> {
    let mut begins = vec![None; instructions.len()];
    for (first, begin) in instructions.iter().enumerate() {
        if !begin.row.name.starts_with("s_or_saveexec_b") || begin.sources[0] != ALL_LANES {
            continue;
        }
        let kept = begin.destination;
        let restores = |instruction: &Instruction| {
            instruction.row.name.starts_with("s_mov_b")
                && instruction.destination == EXEC
                && instruction.sources[0] == OperandSource::Scalar(kept)
        };
        let behind = &instructions[first + 1..];
        let last = behind
            .iter()
            .position(|instruction| restores(instruction) || ends_whole_wave(instruction, kept));
        if let Some(last) = last.filter(|last| restores(&behind[*last])) {
            begins[first..=first + 1 + last].fill(Some(first));
        }
    }
    begins
}

/// Whether an instruction does not stand in whole-wave code for which EXEC is `kept` in a register: it leads elsewhere,
/// keeps EXEC again, reaches memory in each lane, or overwrites the register.
fn ends_whole_wave(instruction: &Instruction, kept: u8) -> bool {
    let is_scalar = matches!(instruction.format, Format::Sop1 | Format::Sop2 | Format::Sopk);
    let elsewhere = matches!(
        IssueKind::from_instruction(instruction),
        IssueKind::Branch | IssueKind::Vmem | IssueKind::Lds
    );
    elsewhere
        || instruction.row.name.contains("saveexec")
        || is_scalar && instruction.destination == kept
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

/// Counts lie near one another where they differ by at most one in so many.
const NEARLY: u64 = 20;

/// Whether an instruction of no block ran nearly as a block that has none did, but not quite.
pub(super) fn ran_nearly(beside: &SideBySide, counts: &[Counts]) -> bool {
    let SideBySide { units, matching, .. } = beside;
    let near = |a: u64, b: u64| a > 0 && a.abs_diff(b) * NEARLY <= a.max(b);
    let pairs = units.iter().zip(&matching.blocks);
    let mut missing = pairs.filter(|(_, what)| **what == Match::Missing);
    let counts = counts.iter().zip(&matching.instructions);
    let left: Vec<&Counts> =
        counts.filter(|(_, unit)| unit.is_none()).map(|(counts, _)| counts).collect();
    missing.any(|(unit, _)| {
        let (executions, lanes) = unit.ran;
        left.iter().any(|ran| near(ran.executions, executions) && near(ran.lanes, lanes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amd::{Facts, FloatMode, Start, decode};
    use crate::mapping::branches::{SideBySide, units};
    use crate::record::{ArmOutcome, ConditionClass, ConstructPart, Enclosure, Flow};
    use crate::units::BlockId;

    /// What Mesa makes of `if (x & 1u) == 0u { atomicAdd(&at, x); }` and `if (x & 2u) == 0u { x = x + 5u; }` in waves of
    /// 64, shortened, with the lanes of 64 executions.
    const ATOMIC: &[(&[u32], u64)] = &[
        (&[0x3604_0281], 4096),              // v_and_b32_e32 v2, 1, v1
        (&[0x7d04_0480], 4096),              // v_cmp_eq_i32_e32 vcc, 0, v2
        (&[0xbe80_246a], 4096),              // s_and_saveexec_b64 s[0:1], vcc
        (&[0xbf88_000e], 2030),              // s_cbranch_execz, to s_mov_b64 exec, s[0:1]
        (&[0xbe8a_25c1], 2030),              // s_or_saveexec_b64 s[10:11], -1
        (&[0xd501_0002, 0x002a_0280], 4096), // v_cndmask_b32_e64 v2, 0, v1, s[10:11]
        (&[0x4a04_04fa, 0xff04_b102], 4096), // v_add_nc_u32_dpp v2, v2, v2 quad_perm:[1,0,3,2] ... fi:1
        (&[0xd778_0003, 0x0201_0102], 4096), // v_permlanex16_b32 v3, v2, 0, 0
        (&[0xbefe_040a], 4096),              // s_mov_b64 exec, s[10:11]
        (&[0xd760_0008, 0x0001_7f02], 2030), // v_readlane_b32 s8, v2, 63
        (&[0xbe8a_240a], 2030),              // s_and_saveexec_b64 s[10:11], s[10:11]
        (&[0x7e08_0208], 64),                // v_mov_b32_e32 v4, s8
        (&[0xe0c8_0000, 0x8001_0400], 64),   // buffer_atomic_add v4, off, s[4:7], 0
        (&[0xbefe_0400], 64),                // s_mov_b64 exec, s[0:1]
        (&[0x4a06_0285], 4096),              // v_add_nc_u32_e32 v3, 5, v1
        (&[0x0202_0701], 4096),              // v_cndmask_b32_e32 v1, v1, v3, vcc
        (&[0xbf81_0000], 4096),              // s_endpgm
    ];

    /// The steps of a code, by words and lanes.
    fn steps(code: &[(&[u32], u64)]) -> Vec<Step> {
        let words: Vec<u32> = code.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let facts = Facts {
            wave: 64,
            vectors: 8,
            local_bytes: 0,
            scratch_bytes: 0,
            workgroup: [64, 1, 1],
            scalars: vec![Start::Immediates(0, 8)],
            mode: FloatMode { flush32: false },
        };
        let counted = |(_, lanes): &(&[u32], u64)| Counts {
            executions: 64,
            lanes: *lanes,
            ..Counts::default()
        };
        let counts: Vec<Counts> = code.iter().map(counted).collect();
        steps_of(&Code::new(&words, facts).unwrap(), &counts)
    }

    /// A block of `main` in the arm of an `if`, or in none.
    fn block(arm: Option<(u32, u32)>, lanes: u64, writes: bool) -> SourceBlock {
        let enclosure = |(construct, parent): (u32, u32)| Enclosure {
            construct,
            part: ConstructPart::IfAccept,
            case: 0,
            line: construct + 6,
            condition: ConditionClass::Data,
            parent: Some(BlockId(parent)),
            operator: None,
        };
        let flow = Flow {
            function: "main".to_owned(),
            path: arm.map(enclosure).into_iter().collect(),
            path_shared: 0,
            after: None,
            leaves: None,
            barrier: false,
            writes,
            calls: Vec::new(),
            call_lines: Vec::new(),
        };
        SourceBlock { operations: 1, lines: Vec::new(), flow, ran: (64, lanes) }
    }

    #[test]
    fn whole_wave_code_is_of_the_lanes_that_were_on_before_it() {
        let steps = steps(ATOMIC);
        let lanes: Vec<u64> = steps.iter().map(|step| step.ran.1).collect();
        assert_eq!(lanes[..4], [4096, 4096, 4096, 2030]);
        assert_eq!(lanes[4..11], [2030; 7]);
        assert_eq!(lanes[11..], [64, 64, 64, 4096, 4096, 4096]);
        assert!(steps[4..9].iter().all(|step| step.sets_lanes == LaneSetting::Unchanged));
        assert_eq!((steps[5].kind, steps[15].kind), (StepKind::Lanes, StepKind::Select));
        let blocks = [
            block(None, 4096, false),
            block(Some((0, 0)), 2030, true),
            block(None, 4096, false),
            block(Some((1, 2)), 2040, false),
            block(None, 4096, false),
        ];
        let found = SideBySide::new(&blocks, units(&blocks, "main", &[]), &steps, None, true);
        let owners = &found.matching.instructions;
        assert_eq!(owners[..3], [Some(0); 3]);
        assert_eq!(owners[3..11], [Some(1); 8]);
        assert!(owners[14..].iter().all(|owner| owner.is_some_and(|owner| owner > 1)));
        let outcomes: Vec<ArmOutcome> = found.arms.iter().map(|arm| arm.outcome).collect();
        assert_eq!(outcomes, [ArmOutcome::Skipped, ArmOutcome::Flattened]);
    }

    #[test]
    fn whole_wave_code_ends_where_its_lanes_are_set_back() {
        let begins = |code: &[&[u32]]| {
            let decoded = code.iter().map(|words| decode(words, 0).unwrap());
            whole_wave_begins(&decoded.collect::<Vec<_>>())
        };
        // A scan sets EXEC in between.
        let scan: [&[u32]; 9] = [
            &[0xbefe_0304],              // s_mov_b32 exec_lo, s4
            &[0xbe81_3dc1],              // s_or_saveexec_b32 s1, -1
            &[0xd501_0001, 0x0006_0880], // v_cndmask_b32_e64 v1, 0, v4, s1
            &[0xbefe_03ff, 0x0001_0000], // s_mov_b32 exec_lo, 0x10000
            &[0xbefe_03c1],              // s_mov_b32 exec_lo, -1
            &[0x927e_9090],              // s_bfm_b32 exec_lo, 16, 16
            &[0x4a04_0302],              // v_add_nc_u32_e32 v2, v2, v1
            &[0xbefe_0301],              // s_mov_b32 exec_lo, s1
            &[0x4a04_0302],              // v_add_nc_u32_e32 v2, v2, v1
        ];
        let mut expected = [Some(1); 9];
        expected[0] = None;
        expected[8] = None;
        assert_eq!(begins(&scan), expected);
        // Nothing is set back; a branch, an access or a new value of the register stands before that.
        assert_eq!(begins(&scan[..7]), [None; 7]);
        for between in [
            &[0xbf88_0001_u32][..],      // s_cbranch_execz
            &[0xe0c8_0000, 0x8001_0400], // buffer_atomic_add v4, off, s[4:7], 0
            &[0xbe81_0303],              // s_mov_b32 s1, s3
            &[0xbe82_3dc1],              // s_or_saveexec_b32 s2, -1
        ] {
            assert_eq!(begins(&[scan[1], between, scan[7]]), [None; 3]);
        }
        // Only part of the lanes is switched on.
        assert_eq!(begins(&[&[0xbe81_3d00], scan[7]]), [None; 2]); // s_or_saveexec_b32 s1, s0
    }

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
