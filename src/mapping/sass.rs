//! NVIDIA's machine code as steps: what its texts say of control, and what its counters say of lanes.
//!
//! Input: [`MachineCode`] with texts, of one input or of two. Output: a [`Step`] for each instruction, and what became
//! of each arm of a dispatch. No lanes are masked here without a branch: an instruction may be predicated instead, and a branch
//! whose lanes part stands between `BSSY` and `BSYNC`.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{Arm, ArmOutcome, Dispatch, Instruction, MachineCode, NearBlock};

use super::branches::{
    Guard, LaneSetting, OtherInput, SideBySide, SourceBlock, Step, StepKind, Unit, units,
};

/// Operations that move no data: barriers, and what lanes part and come together by.
const CONTROL: [&str; 14] = [
    "BAR",
    "BMOV",
    "BPT",
    "BREAK",
    "BSSY",
    "BSYNC",
    "CALL",
    "EXIT",
    "KILL",
    "NANOSLEEP",
    "NOP",
    "RET",
    "WARPSYNC",
    "YIELD",
];

/// Operations that reach memory; constants are none of it.
const MEMORY: [&str; 11] =
    ["ATOM", "ATOMG", "ATOMS", "LD", "LDG", "LDL", "LDS", "RED", "ST", "STG", "STS"];

/// Those of them that change it.
const WRITES: [&str; 7] = ["ATOM", "ATOMG", "ATOMS", "RED", "ST", "STG", "STS"];

/// A dispatch's code beside its source, on its own input and, where `other` is the same dispatch on another one, on
/// both: what the compiler did to each arm and loop, and the blocks whose lanes are nearly their instructions'.
/// `None` if no disassembler was there, or the record does not say what surrounds a block.
pub fn beside(dispatch: &Dispatch, other: Option<&Dispatch>) -> Option<(Vec<Arm>, Vec<NearBlock>)> {
    let of_code = |dispatch: &Dispatch| steps(dispatch.machine_code.as_ref()?);
    let steps_run = of_code(dispatch)?;
    let blocks = source_blocks(dispatch)?;
    let of_units = |dispatch: &Dispatch, blocks: &[SourceBlock]| {
        units(blocks, &dispatch.entry_point, &dispatch.calls)
    };
    let others = other.and_then(|other| {
        let steps = of_code(other).filter(|steps| steps.len() == steps_run.len())?;
        let ran = steps.iter().map(|step| step.ran).collect();
        Some((of_units(other, &source_blocks(other)?), ran))
    });
    let others = others.as_ref();
    let others: Option<OtherInput<'_>> = others
        .map(|(units, ran): &(Vec<Unit>, Vec<(u64, u64)>)| OtherInput { units, ran: ran.clone() });
    let found =
        SideBySide::new(&blocks, of_units(dispatch, &blocks), &steps_run, others.as_ref(), false);
    let near = found.near_blocks(|block| dispatch.blocks[block].line);
    (!blocks.is_empty()).then_some((found.arms, near))
}

/// What became of each arm and loop of a dispatch, read off its code and its counts whatever its record says: here
/// alone, for whoever writes a record and for whoever shows one. `None` if the record holds no code, or no texts of it
/// and no arms.
///
/// The record's second input is not in it. It tells apart what counts alike on the first; so that where the first tells
/// no more than that, the record's arm stays.
pub fn arms_anew(dispatch: &Dispatch) -> Option<Vec<Arm>> {
    let stored = &dispatch.machine_code.as_ref()?.arms;
    let Some((read, _)) = beside(dispatch, None) else {
        return (!stored.is_empty()).then(|| stored.clone());
    };
    if stored.is_empty() {
        return Some(read);
    }
    let key = |arm: &Arm| (arm.construct, arm.part, arm.case);
    let anew = |arm: &Arm| {
        let mut same = read.iter().filter(|other| key(other) == key(arm));
        match (same.next(), same.next()) {
            (Some(found), None) if found.outcome != ArmOutcome::Merged => *found,
            (Some(found), _) => Arm { operator: found.operator, ..*arm },
            (None, _) => *arm,
        }
    };
    let mut arms: Vec<Arm> = Vec::new();
    for arm in stored.iter().map(anew) {
        // What two ways of calls came to on two inputs may be one on the first.
        if !arms.contains(&arm) {
            arms.push(arm);
        }
    }
    Some(arms)
}

/// The blocks of a dispatch; `None` if the record is too old to say what surrounds one.
fn source_blocks(dispatch: &Dispatch) -> Option<Vec<SourceBlock>> {
    dispatch.blocks.iter().map(SourceBlock::from_record).collect()
}

/// Lanes of a warp.
const WARP: u64 = 32;

/// Whether the counts show that some warp parts at a branch: more lanes take it than the warps have that do not go on
/// behind it. Where other branches lead there too, they show nothing.
fn parts_lanes(code: &MachineCode, at: usize, targets: &BTreeSet<u32>) -> bool {
    let falls_through = |instruction: &&Instruction| !targets.contains(&instruction.offset_bytes);
    let Some(next) = code.instructions.get(at + 1).filter(falls_through) else { return false };
    let branch = &code.instructions[at];
    let gone = branch.inst_executed.saturating_sub(next.inst_executed);
    branch.thread_inst_executed_pred_on > gone * WARP
}

/// The instructions of a code; `None` if one has no text.
pub fn steps(code: &MachineCode) -> Option<Vec<Step>> {
    let places: BTreeMap<u32, usize> = code
        .instructions
        .iter()
        .enumerate()
        .map(|(at, instruction)| (instruction.offset_bytes, at))
        .collect();
    let texts = || code.instructions.iter().filter_map(|instruction| instruction.text.as_deref());
    let targets: BTreeSet<u32> = texts().filter_map(target).collect();
    let mut steps = Vec::new();
    let mut regions: Vec<(usize, usize)> = Vec::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        let text = instruction.text.as_deref()?;
        let target = target(text).and_then(|offset| places.get(&offset).copied());
        let (predicate, operation) = split(text);
        if operation == "BSSY"
            && let Some(end) = target
        {
            regions.push((at, end));
        }
        let guard = match predicate {
            _ if operation.starts_with("BRA.U") => Guard::Whole,
            None if !operation.starts_with("BRX") && !text.contains(',') => Guard::Always,
            Some(predicate) if predicate.contains("UP") => Guard::Whole,
            Some(_) if parts_lanes(code, at, &targets) => Guard::Lanes,
            _ => {
                // A table, or what leads to where lanes come together, parts them wherever it stands in there.
                let leads_out = |end: usize| target.is_none_or(|target| target == end);
                let parts = |(begin, end): &(usize, usize)| {
                    let whole =
                        code.instructions[*begin].inst_executed == instruction.inst_executed;
                    let inside = *end > at && target.is_none_or(|target| *end >= target);
                    inside && (whole || leads_out(*end))
                };
                if regions.iter().any(parts) { Guard::Lanes } else { Guard::Whole }
            }
        };
        let stem = operation.split('.').next().unwrap_or_default();
        let kind = match (stem, target) {
            ("BRX" | "JMX", _) => StepKind::Table(guard),
            // Leads to what is done where lanes came apart before an operation of the whole warp.
            ("BRA", _) if operation.starts_with("BRA.DIV") => StepKind::Control,
            ("BRA" | "JMP", Some(target)) => StepKind::Branch(target, guard),
            ("BRA" | "JMP", None) => StepKind::Control,
            _ if CONTROL.contains(&stem) => StepKind::Control,
            ("SEL" | "FSEL" | "DSEL" | "HSEL2", _) => StepKind::Select,
            ("USEL", _) => StepKind::ScalarSelect,
            _ if MEMORY.contains(&stem) => StepKind::Memory,
            _ if stem.starts_with('U') || stem == "S2UR" || stem == "R2UR" => StepKind::Scalar,
            _ => StepKind::Lanes,
        };
        steps.push(Step {
            ran: (instruction.inst_executed, instruction.thread_inst_executed),
            on: instruction.thread_inst_executed_pred_on,
            line: instruction.line,
            operation: operation.to_owned(),
            kind,
            writes: WRITES.contains(&stem),
            sets_lanes: LaneSetting::Unchanged,
        });
    }
    Some(steps)
}

/// The predicate and the operation of a text.
fn split(text: &str) -> (Option<&str>, &str) {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    match first.strip_prefix('@') {
        Some(predicate) => (Some(predicate), words.next().unwrap_or_default()),
        None => (None, first),
    }
}

/// The offset that a branch names.
fn target(text: &str) -> Option<u32> {
    let (_, operation) = split(text);
    let branches = ["BRA", "JMP", "BSSY"].iter().any(|stem| operation.starts_with(stem));
    let last = text.split_whitespace().next_back().filter(|_| branches)?;
    u32::from_str_radix(last.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ConditionClass, ConstructPart, Enclosure, Flow};
    use crate::units::BlockId;

    fn code(texts: &[(&str, [u64; 3])]) -> MachineCode {
        let instruction = |(at, (text, counts)): (usize, &(&str, [u64; 3]))| Instruction {
            offset_bytes: u32::try_from(16 * at).unwrap(),
            file: None,
            line: None,
            text: Some((*text).to_owned()),
            inst_executed: counts[0],
            thread_inst_executed: counts[1],
            thread_inst_executed_pred_on: counts[2],
        };
        MachineCode {
            function: "main".to_owned(),
            architecture: "sm_90".to_owned(),
            instructions: texts.iter().enumerate().map(instruction).collect(),
            sha256: None,
            arms: Vec::new(),
            near: Vec::new(),
        }
    }

    #[test]
    fn texts_say_what_controls_lanes() {
        let all = [4, 128, 128];
        let code = code(&[
            ("BSSY B0, 0x50", all),
            ("@P0 BRA 0x40", [4, 128, 64]),
            ("FFMA R0, R0, R1, R2", [4, 64, 64]),
            ("BRA 0x50", [4, 64, 64]),
            ("@!P1 FSEL R0, R1, R2, P2", [4, 64, 32]),
            ("BSYNC B0", [8, 128, 128]),
            ("@UP0 BRA 0x80", all),
            ("BRX R4 -0x530 (*\"BRANCH_TARGETS .L_x_39\"*)", all),
            ("@P0 BRA 0x0", all),
        ]);
        let kinds: Vec<StepKind> = steps(&code).unwrap().iter().map(|step| step.kind).collect();
        let expected = [
            StepKind::Control,
            StepKind::Branch(4, Guard::Lanes),
            StepKind::Lanes,
            StepKind::Branch(5, Guard::Always),
            StepKind::Select,
            StepKind::Control,
            StepKind::Branch(8, Guard::Whole),
            StepKind::Table(Guard::Whole),
            StepKind::Branch(0, Guard::Whole),
        ];
        assert_eq!(kinds, expected);
    }

    /// A block with its lines and counts, in an arm of the construct of line 20.
    fn block(arm: Option<ConstructPart>, lines: &[u32], ran: (u64, u64)) -> SourceBlock {
        let enclosure = |part| Enclosure {
            construct: 0,
            part,
            case: 0,
            line: 20,
            condition: ConditionClass::Data,
            parent: Some(BlockId(0)),
            operator: None,
        };
        let flow = Flow {
            function: "main".to_owned(),
            path: arm.map(enclosure).into_iter().collect(),
            path_shared: 0,
            after: None,
            leaves: None,
            barrier: false,
            writes: false,
            calls: Vec::new(),
            call_lines: Vec::new(),
        };
        SourceBlock { operations: 3, lines: lines.to_vec(), flow, ran }
    }

    /// What became of both arms of an `if` in a body of 4 warps, of whose lanes 100 and 28 take the arms.
    fn arms(texts: &[(&str, u32, [u64; 3])]) -> Vec<ArmOutcome> {
        let mut code = code(&texts.iter().map(|(text, _, ran)| (*text, *ran)).collect::<Vec<_>>());
        for (instruction, (_, line, _)) in code.instructions.iter_mut().zip(texts) {
            instruction.line = (*line > 0).then_some(*line);
        }
        let blocks = [
            block(None, &[19, 20], (4, 128)),
            block(Some(ConstructPart::IfAccept), &[21], (4, 100)),
            block(Some(ConstructPart::IfReject), &[23], (4, 28)),
        ];
        let units = units(&blocks, "main", &[]);
        let found = SideBySide::new(&blocks, units, &steps(&code).unwrap(), None, false);
        found.arms.iter().map(|arm| arm.outcome).collect()
    }

    #[test]
    fn lines_tell_what_became_of_an_arm() {
        use ArmOutcome::{Flattened, Folded, Masked, Skipped};
        let all = [4, 128, 128];
        // One arm is computed by every lane, and what is predicated overwrites it.
        let overwritten =
            [("IMAD R0, R7, 0x3, R4", 21, all), ("@P0 SHF.R.U32.HI R0, RZ", 23, [4, 128, 28])];
        assert_eq!(arms(&overwritten), [Flattened, Masked]);
        // Both are chosen by a select that stands on a line of one of them, or on that of the condition.
        for line in [20, 21] {
            assert_eq!(arms(&[("SEL R8, R5, R7, !P0", line, [2, 64, 64])]), [Flattened, Flattened]);
        }
        // Of copies of an arm one is gone, so that no sum is the arm's; the others overwrite what every lane has.
        let copies = [
            ("@!P0 FADD R5, R6, R7", 23, [1, 32, 9]),
            ("@!P1 FADD R5, R6, R7", 23, [1, 32, 8]),
            ("IMAD.MOV R8, RZ, RZ, R5", 19, all),
        ];
        assert_eq!(arms(&copies), [Flattened, Masked]);
        // Copies that no sum tells, behind a branch: they ran with the arm's lanes.
        let behind = [
            ("BSSY B0, 0x70", 20, all),
            ("@!P1 BRA 0x40", 20, [4, 128, 28]),
            ("FFMA R7, R7, R6, R5", 21, [4, 100, 100]),
            ("BRA 0x70", 21, [4, 100, 100]),
            ("FADD R7, R7, -R5", 23, [2, 14, 14]),
            ("FADD R7, R7, -R6", 23, [2, 14, 14]),
            ("FADD R7, R7, -RZ", 23, [2, 14, 14]),
            ("BSYNC B0", 20, [8, 128, 128]),
        ];
        assert_eq!(arms(&behind), [Skipped, Skipped]);
        // What has no line is of an arm where it reaches memory, not where it only has as many lanes.
        let lined = ("IMAD.MOV R8, RZ, RZ, R5", 19, all);
        let stored = ("@P0 STS [R6], RZ", 0, [4, 128, 28]);
        assert_eq!(arms(&[lined, stored]), [Folded, Masked]);
        let divided = ("@P1 IMAD.IADD R10, R10, -R7", 0, [4, 128, 28]);
        assert_eq!(arms(&[lined, divided]), [Folded, Folded]);
    }

    /// What became of the arms of such blocks, by instructions with their lines.
    fn arms_of(blocks: &[SourceBlock], texts: &[(&str, u32, [u64; 3])]) -> Vec<ArmOutcome> {
        let mut code = code(&texts.iter().map(|(text, _, ran)| (*text, *ran)).collect::<Vec<_>>());
        for (instruction, (_, line, _)) in code.instructions.iter_mut().zip(texts) {
            instruction.line = Some(*line);
        }
        let units = units(blocks, "main", &[]);
        let found = SideBySide::new(blocks, units, &steps(&code).unwrap(), None, false);
        found.arms.iter().map(|arm| arm.outcome).collect()
    }

    #[test]
    fn an_arm_that_is_fallen_into_is_told_by_the_branch_to_the_other() {
        // Half of the warps' visits take each arm; the `else` stands first, and asks something itself.
        let blocks = [
            block(None, &[19, 20], (8, 256)),
            block(Some(ConstructPart::IfAccept), &[21], (4, 128)),
            block(Some(ConstructPart::IfReject), &[23], (4, 128)),
        ];
        let half = [4, 128, 128];
        let texts = [
            ("BSSY B0, 0x70", 20, [8, 256, 256]),
            ("@P0 BRA 0x60", 20, [8, 256, 128]),
            ("ISETP.NE.AND P1, PT, R0, RZ, PT", 23, half),
            ("@!P1 BRA 0x50", 23, [4, 128, 0]),
            ("FFMA R7, R7, R6, R5", 23, half),
            ("BRA 0x70", 23, half),
            ("FFMA R7, R7, R4, R3", 21, half),
            ("BSYNC B0", 20, [12, 256, 256]),
        ];
        assert_eq!(arms_of(&blocks, &texts), [ArmOutcome::Skipped; 2]);
    }

    #[test]
    fn of_arms_that_ran_alike_each_is_where_its_lines_are() {
        // The first is predicated, and of the second there is something at two places.
        let mut second = block(Some(ConstructPart::IfAccept), &[25, 26], (4, 100));
        second.flow.path[0].construct = 1;
        let blocks = [
            block(None, &[19, 20, 27], (4, 128)),
            block(Some(ConstructPart::IfAccept), &[21], (4, 100)),
            second,
        ];
        let texts = [
            ("ISETP.NE.AND P1, PT, R0, RZ, PT", 20, [4, 128, 128]),
            ("@!P1 SEL R7, RZ, 0x1, P0", 21, [4, 128, 100]),
            ("@!P2 EXIT", 27, [4, 128, 28]),
            ("FFMA R7, R7, R6, R5", 25, [4, 100, 100]),
            ("FADD R1, R1, R2", 27, [1, 1, 1]),
            ("FADD R7, R7, -R5", 26, [4, 100, 100]),
        ];
        assert_eq!(arms_of(&blocks, &texts), [ArmOutcome::Masked, ArmOutcome::Skipped]);
    }

    /// What became of a loop of 4 warps whose body ran 40 times, at once or in parts.
    fn loop_of(texts: &[(&str, u32, [u64; 3])]) -> ArmOutcome {
        let mut code = code(&texts.iter().map(|(text, _, ran)| (*text, *ran)).collect::<Vec<_>>());
        for (instruction, (_, line, _)) in code.instructions.iter_mut().zip(texts) {
            instruction.line = Some(*line);
        }
        let blocks = [
            block(None, &[19], (4, 128)),
            block(Some(ConstructPart::LoopBody), &[20], (44, 1408)),
            block(Some(ConstructPart::LoopBody), &[21], (40, 1280)),
        ];
        let units = units(&blocks, "main", &[]);
        let found = SideBySide::new(&blocks, units, &steps(&code).unwrap(), None, false);
        found.arms[0].outcome
    }

    #[test]
    fn a_loop_is_one_where_the_code_turns_as_often() {
        let ran = |often: u64| [often, 32 * often, 32 * often];
        // A test before the loop and one at its end add up to that of the source; they are no copies.
        let rotated = [
            ("ISETP.NE.AND P0, PT, R0, RZ, PT", 20, ran(4)),
            ("FFMA R7, R7, R6, R5", 21, ran(40)),
            ("ISETP.NE.AND P0, PT, R0, RZ, PT", 20, ran(40)),
            ("@P0 BRA 0x10", 20, ran(40)),
        ];
        assert_eq!(loop_of(&rotated), ArmOutcome::Kept);
        // Inlined at two places, a loop at each.
        let twice = [
            ("FFMA R7, R7, R6, R5", 21, ran(30)),
            ("@P0 BRA 0x0", 20, ran(30)),
            ("FFMA R7, R7, R6, R5", 21, ran(10)),
            ("@P0 BRA 0x20", 20, ran(10)),
        ];
        assert_eq!(loop_of(&twice), ArmOutcome::Kept);
        // Four copies an iteration; and copies of which each is behind a test of its own, without a loop.
        let four = ("FFMA R7, R7, R6, R5", 21, ran(10));
        assert_eq!(
            loop_of(&[four, four, four, four, ("@P0 BRA 0x0", 20, ran(10))]),
            ArmOutcome::Unrolled
        );
        let part = |often: u64| ("FFMA R7, R7, R6, R5", 21, ran(often));
        assert_eq!(loop_of(&[part(19), part(11), part(7), part(2)]), ArmOutcome::Unrolled);
        // A loop of the code that never iterated is none.
        let never = [part(40), ("@P0 BRA 0x0", 20, [40, 1280, 0])];
        assert_eq!(loop_of(&never), ArmOutcome::Unrolled);
    }

    #[test]
    fn a_table_parts_lanes_wherever_it_stands_in_a_region() {
        let code = code(&[
            ("BSSY B0, 0x50", [4, 128, 128]),
            ("@P0 BRA 0x30", [4, 128, 64]),
            ("BRX R4 -0x530 (*\"BRANCH_TARGETS .L_x_39\"*)", [3, 64, 64]),
            ("@!P1 BRA 0x50", [3, 60, 50]),
            ("@!P1 BRA 0x50", [3, 60, 50]),
            ("BSYNC B0", [8, 128, 128]),
        ]);
        let kinds: Vec<StepKind> = steps(&code).unwrap().iter().map(|step| step.kind).collect();
        let leave = StepKind::Branch(5, Guard::Lanes);
        assert_eq!(kinds[2..5], [StepKind::Table(Guard::Lanes), leave, leave]);
    }

    #[test]
    fn counts_show_that_a_warp_parts_where_no_region_does() {
        // Four warps, of whose lanes half take the branch: of each warp, or all of two warps.
        for (behind, guard) in [(4, Guard::Lanes), (3, Guard::Lanes), (2, Guard::Whole)] {
            let texts = [
                ("@P0 BRA 0x30", [4, 128, 64]),
                ("STG.E [R2.64], R5", [behind, 64, 64]),
                ("EXIT", [behind, 64, 64]),
                ("STG.E [R2.64], R7", [4, 64, 64]),
            ];
            assert_eq!(steps(&code(&texts)).unwrap()[0].kind, StepKind::Branch(3, guard));
        }
        // A loop leads to what stands behind the branch, too.
        let turned = [
            ("@P0 BRA 0x30", [4, 128, 64]),
            ("FADD R1, R1, R2", [8, 128, 128]),
            ("@P1 BRA 0x10", [8, 128, 64]),
            ("EXIT", [4, 128, 128]),
        ];
        let kinds: Vec<StepKind> =
            steps(&code(&turned)).unwrap().into_iter().map(|step| step.kind).collect();
        assert_eq!(kinds[0], StepKind::Branch(3, Guard::Whole));
    }

    #[test]
    fn without_texts_nothing_is_said() {
        let mut code = code(&[("EXIT", [1, 32, 32])]);
        code.instructions[0].text = None;
        assert_eq!(steps(&code), None);
    }
}
