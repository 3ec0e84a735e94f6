//! Machine code by source line: what the hardware executed of each line, and with how many lanes.
//!
//! Input: a dispatch's [`MachineCode`]. Output: a [`MachineLine`] for each source line that has
//! instructions, in the order of the source, then one for those of no line. Lanes of the machine are
//! NVIDIA's: all that were active ("Avg. Active Threads Per Warp"), and those of them that no predicate
//! turned off ("Avg. Not Predicated Off Threads Per Warp").

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;

use super::names::is_simulated;
use super::parameters_text;
use crate::mapping::sass;
use crate::record::{
    Arm, ArmOutcome, ConstructPart, Counter, Dispatch, Instruction, MachineCode, Measurement, Run,
    SOURCE_LANES_MEAN, Value,
};
use crate::units::{Width, approximate, grouped_text, text};

/// What the hardware executed of one source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineLine {
    /// The file; nothing for instructions of no line.
    pub file: Option<String>,
    /// The line, from 1; nothing for instructions of no line.
    pub line: Option<u32>,
    /// The line's instructions in the order of their offsets.
    pub instructions: Vec<Instruction>,
    /// Executions by subgroups, summed over them.
    pub inst_executed: u128,
    /// Active lanes, summed over those.
    pub thread_inst_executed: u128,
    /// Those of them that no predicate turned off.
    pub thread_inst_executed_pred_on: u128,
}

impl MachineLine {
    /// Returns the mean active lanes; `None` if the line never ran.
    pub fn threads_mean(&self) -> Option<f64> {
        mean(self.thread_inst_executed, self.inst_executed)
    }

    /// Returns the mean active lanes that no predicate turned off; `None` if the line never ran.
    pub fn threads_pred_on_mean(&self) -> Option<f64> {
        mean(self.thread_inst_executed_pred_on, self.inst_executed)
    }
}

/// Whether a line is none, its file, its number: none comes last.
type CodePlace<'a> = (bool, Option<&'a str>, Option<u32>);

/// Sums a dispatch's instructions by source line.
pub fn lines(code: &MachineCode) -> Vec<MachineLine> {
    let mut by_line: BTreeMap<CodePlace<'_>, Vec<&Instruction>> = BTreeMap::new();
    for instruction in &code.instructions {
        let key = (instruction.line.is_none(), instruction.file.as_deref(), instruction.line);
        by_line.entry(key).or_default().push(instruction);
    }
    let line = |((_, file, line), ones): (CodePlace<'_>, Vec<&Instruction>)| {
        let sum = |figure: fn(&Instruction) -> u64| {
            ones.iter().map(|instruction| u128::from(figure(instruction))).sum()
        };
        MachineLine {
            file: file.map(str::to_owned),
            line,
            inst_executed: sum(|instruction| instruction.inst_executed),
            thread_inst_executed: sum(|instruction| instruction.thread_inst_executed),
            thread_inst_executed_pred_on: sum(|instruction| {
                instruction.thread_inst_executed_pred_on
            }),
            instructions: ones.into_iter().cloned().collect(),
        }
    };
    by_line.into_iter().map(line).collect()
}

/// Instructions in a row that did the same: one operation, one predicate, the same counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// The first of them.
    pub first: &'a Instruction,
    /// How many they are, at least 1.
    pub count: usize,
}

/// Gathers instructions into stretches: what an unrolled loop becomes is shown once.
pub fn stretches(instructions: &[Instruction]) -> Vec<Stretch<'_>> {
    let did = |instruction: &Instruction| {
        [
            instruction.inst_executed,
            instruction.thread_inst_executed,
            instruction.thread_inst_executed_pred_on,
        ]
    };
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for instruction in instructions {
        match stretches.last_mut() {
            Some(last)
                if did(last.first) == did(instruction)
                    && operation(last.first.text.as_deref())
                        == operation(instruction.text.as_deref()) =>
            {
                last.count += 1;
            }
            _ => stretches.push(Stretch { first: instruction, count: 1 }),
        }
    }
    stretches
}

/// Returns an instruction's operation with its predicate, as `@P0 FFMA`; nothing without a text.
pub fn operation(text: Option<&str>) -> Option<String> {
    let mut words = text?.split_whitespace();
    let first = words.next()?;
    let second = first.starts_with('@').then(|| words.next()).flatten();
    Some(second.map_or(first.to_owned(), |second| format!("{first} {second}")))
}

/// Whether an instruction may be predicated, so that lanes are off which no branch turned off: NVIDIA's. AMD's
/// mask lanes, and those that are on are all that are counted.
pub fn has_predicates(code: &MachineCode) -> bool {
    code.architecture.starts_with("sm_")
}

/// What a code is of: its architecture, and where its hash is known what compiled it and the hash's beginning.
pub fn code_text(code: &MachineCode, driver: &str) -> String {
    match &code.sha256 {
        Some(hash) => format!("{}, {driver}, code {}", code.architecture, short_hash(hash)),
        None => code.architecture.clone(),
    }
}

/// The beginning of a hash, by which code is told from other code.
fn short_hash(hash: &str) -> String {
    hash.chars().take(8).collect()
}

/// What became of each arm and loop of a dispatch, with its line: `line 24, if: skipped`. The arms of a `switch` are
/// numbered as they stand in it; what `&&` and `||` ask is told as theirs: `line 24, right side of &&: masked`.
pub fn arm_lines(dispatch: &Dispatch) -> Vec<String> {
    let mut arms = arms(dispatch).unwrap_or_default();
    arms.sort_by_key(|arm| arm.line);
    arms.iter()
        .map(|arm| format!("line {}, {}: {}", arm.line, arm_word(arm), arm.outcome.name()))
        .collect()
}

/// What an arm is called.
fn arm_word(arm: &Arm) -> String {
    match (arm.part, arm.operator) {
        (ConstructPart::IfAccept, Some(operator)) => format!("right side of {}", operator.symbol()),
        (ConstructPart::IfReject, Some(operator)) => {
            format!("{} without its right side", operator.symbol())
        }
        (ConstructPart::IfAccept, None) => "if".to_owned(),
        (ConstructPart::IfReject, None) => "else".to_owned(),
        (ConstructPart::SwitchCase, _) => format!("arm {} of the switch", arm.case + 1),
        (ConstructPart::LoopBody | ConstructPart::LoopContinuing, _) => "loop".to_owned(),
    }
}

/// What the words for arms and loops mean, and what they rest on.
pub fn arms_note(outcomes: &[ArmOutcome]) -> String {
    let each = outcomes.iter().map(|outcome| format!("{}, {}", outcome.name(), outcome.meaning()));
    format!(
        "Arms and loops: {}. These words are read off the counts of each launch: with other data the same code may \
         get others. Where arms have equal counts, the code is taken to have them in the source's order.",
        each.collect::<Vec<_>>().join("; ")
    )
}

/// The outcomes that a dispatch's arms and loops came to, each once.
pub fn outcomes(dispatch: &Dispatch) -> Vec<ArmOutcome> {
    let found: BTreeSet<ArmOutcome> =
        arms(dispatch).unwrap_or_default().iter().map(|arm| arm.outcome).collect();
    found.into_iter().collect()
}

/// By how many lanes the blocks that begin on a line differ from their instructions, a sentence each.
pub fn near_texts(code: &MachineCode, line: u32) -> Vec<String> {
    let here = code.near.iter().filter(|block| block.line == line);
    here.map(|block| {
        let (off, lanes) = (grouped_text(block.lanes_off.into()), grouped_text(block.lanes.into()));
        let executions = match block.executions_off {
            0 => String::new(),
            off => format!(", executions by {}", grouped_text(off.into())),
        };
        format!("lanes differ by {off} of {lanes}{executions}: floating point is rounded otherwise")
    })
    .collect()
}

/// What a launch's machine code came to that was executed without its hardware, with what it is of: no figure of
/// it is shown without.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutedCode {
    /// The family that it was compiled for.
    pub family: String,
    /// Lanes of a wave.
    pub width: Width,
    /// What compiled it, with its version.
    pub driver: String,
    /// The beginning of the hash of each code, once each.
    pub code: Vec<String>,
    /// Instructions of all kinds that waves executed.
    pub instructions: u64,
    /// The mean of the lanes that EXEC had on, over vector instructions; `None` if none was executed.
    pub active_lanes_mean: Option<f64>,
    /// Passes of 32 lanes where each empty half is skipped.
    pub passes_min: u64,
    /// Passes of 32 lanes where none is.
    pub passes_max: u64,
    /// Instructions by kind, in the order of the record: a name such as `valu`, and how many waves executed.
    pub kinds: Vec<(String, u64)>,
    /// Turns of the local data share, at least, in which words of one bank were had one after the other.
    pub conflicts_min: u64,
}

impl ExecutedCode {
    /// What a measurement's code came to; `None` where none was executed without its hardware.
    pub fn new(run: &Run, measurement: &Measurement) -> Option<Self> {
        let device = run.devices.iter().find(|device| device.id == measurement.device)?;
        let value = |name: &str| find_value(&measurement.counters, name);
        let vector = value("valu_instructions")?;
        let counters = measurement.counters.iter();
        let kind = |counter: &Counter| {
            let name = counter.name.strip_suffix("_instructions")?;
            Some((name.to_owned(), whole(counter.value)))
        };
        let kinds: Vec<(String, u64)> = counters.filter_map(kind).collect();
        // Every counter says which code it is of, as its last words.
        let hashes = measurement.counters.first()?.description.rsplit_once(", code ")?.1;
        let mut code: Vec<String> = Vec::new();
        for hash in hashes.split(' ').map(short_hash) {
            if !code.contains(&hash) {
                code.push(hash);
            }
        }
        Some(Self {
            family: device.id.split(['/', ':']).nth(1).unwrap_or_default().to_owned(),
            width: measurement.subgroup_width?,
            driver: device.driver.clone(),
            code,
            instructions: kinds.iter().map(|(_, count)| count).sum(),
            active_lanes_mean: value("valu_lanes").filter(|_| vector > 0.0).map(|all| all / vector),
            passes_min: whole(value("valu_passes_min")?),
            passes_max: whole(value("valu_passes_max")?),
            kinds,
            conflicts_min: value("lds_conflicts_min").map_or(0, whole),
        })
    }

    /// What it is of: `navi21, waves of 64, radv Mesa 22.3.6, code 71bf567b`.
    pub fn code_source(&self) -> String {
        let Self { family, width, driver, code, .. } = self;
        format!("{family}, waves of {width}, {driver}, code {}", code.join(" "))
    }

    /// Its figures and what they are of, a sentence.
    pub fn sentence(&self) -> String {
        let lanes = self.active_lanes_mean.map_or(String::new(), |mean| {
            let width = self.width;
            let mean = text::lanes(mean);
            format!("{mean} of {width} lanes on in vector instructions (VALU alone), ")
        });
        format!(
            "machine code, executed without hardware: {lanes}{} instructions, {}; by kind: {} ({})",
            grouped_text(self.instructions.into()),
            self.passes_text(),
            self.kinds_text(),
            self.code_source()
        )
    }

    /// Its instructions by kind, a clause: `VALU 1,024, SALU 512, LDS 96 (at least 32 turns for conflicts of banks)`.
    pub fn kinds_text(&self) -> String {
        let conflicts = match self.conflicts_min {
            0 => String::new(),
            1 => " (at least 1 turn for conflicts of banks)".to_owned(),
            turns => {
                format!(" (at least {} turns for conflicts of banks)", grouped_text(turns.into()))
            }
        };
        let kind = |(name, count): &(String, u64)| {
            let conflicts = if name == "lds" { conflicts.as_str() } else { "" };
            // What a unit is called: VALU, SMEM, LDS. Branches and waits are of none.
            let is_unit = ["alu", "mem", "lds"].iter().any(|end| name.ends_with(end));
            let name = if is_unit { name.to_uppercase() } else { name.clone() };
            format!("{name} {}{conflicts}", grouped_text((*count).into()))
        };
        let some = self.kinds.iter().filter(|(_, count)| *count > 0);
        some.map(kind).collect::<Vec<_>>().join(", ")
    }

    /// Its passes: one number, or the least and the most.
    pub fn passes_text(&self) -> String {
        let [least, most] = [self.passes_min, self.passes_max].map(|n| grouped_text(n.into()));
        match least == most {
            true => format!("{least} passes of 32 lanes"),
            false => format!("{least} to {most} passes of 32 lanes"),
        }
    }
}

/// A count that a record holds as a real number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// What machine code came to in one launch: executed without its hardware, or counted by the hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRow {
    /// The device's id.
    pub device: String,
    /// What compiled the code.
    pub driver: String,
    /// The kernel.
    pub kernel: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// Lanes of a subgroup.
    pub width: Width,
    /// The mean active lanes by the source, of this device or of the simulator of its width.
    pub source_lanes_mean: Option<f64>,
    /// The mean of lanes that vector instructions had, or that all had where the hardware counted;
    /// `None` if none was executed.
    pub lanes_mean: Option<f64>,
    /// Those of them that no predicate turned off, where that was counted.
    pub lanes_on_mean: Option<f64>,
    /// Instructions of all kinds that subgroups executed.
    pub instructions: f64,
    /// Passes of 32 lanes, where each empty half is skipped and where none is; `None` if that is no
    /// question.
    pub passes: Option<[f64; 2]>,
    /// What became of arms and loops, worded; `None` if it cannot be said.
    pub arms: Option<String>,
    /// The beginning of the hash of each dispatch's code, where the record has it.
    pub code: Vec<String>,
}

/// The launches of a run whose machine code was executed without its hardware, those first that waste most lanes at
/// some width, else in the record's order; those of one kernel and parameters stand together, by width.
pub fn executed(run: &Run) -> Vec<MachineRow> {
    let row = |measurement: &Measurement| {
        let found = ExecutedCode::new(run, measurement)?;
        Some(MachineRow {
            lanes_mean: found.active_lanes_mean,
            instructions: approximate(found.instructions),
            passes: Some([found.passes_min, found.passes_max].map(approximate)),
            code: found.code,
            ..machine_row(run, measurement)?
        })
    };
    wasteful_first(run.measurements.iter().filter_map(row).collect())
}

/// Orders rows by the least part of the lanes that a launch uses at any width; those of a launch stay together.
fn wasteful_first(rows: Vec<MachineRow>) -> Vec<MachineRow> {
    let launch = |row: &MachineRow| (row.kernel.clone(), parameters_text(&row.parameters, &[]));
    let mut launches: IndexMap<(String, String), Vec<MachineRow>> = IndexMap::new();
    for row in rows {
        launches.entry(launch(&row)).or_default().push(row);
    }
    let used = |row: &MachineRow| Some(row.lanes_mean? / f64::from(row.width.lanes()));
    let least = |rows: &Vec<MachineRow>| rows.iter().filter_map(used).fold(1.0, f64::min);
    let mut launches: Vec<Vec<MachineRow>> = launches.into_values().collect();
    launches.sort_by(|a, b| least(a).total_cmp(&least(b)));
    launches.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.width));
    launches.into_iter().flatten().collect()
}

/// The launches of a run whose instructions the hardware counted, in the record's order.
pub fn find_counted(run: &Run) -> Vec<MachineRow> {
    let row = |measurement: &Measurement| {
        let [lanes, on] = threads_means(&measurement.counters)?;
        Some(MachineRow {
            lanes_mean: Some(lanes),
            lanes_on_mean: Some(on),
            instructions: find_value(&measurement.counters, "smsp__sass_inst_executed")?,
            ..machine_row(run, measurement)?
        })
    };
    run.measurements.iter().filter_map(row).collect()
}

/// What a launch's row has before anything is read off its counters; `None` where its device or its width is unknown.
fn machine_row(run: &Run, measurement: &Measurement) -> Option<MachineRow> {
    let device = run.devices.iter().find(|device| device.id == measurement.device)?;
    Some(MachineRow {
        device: device.id.clone(),
        driver: device.driver.clone(),
        kernel: measurement.kernel.clone(),
        parameters: measurement.parameters.clone(),
        width: measurement.subgroup_width?,
        source_lanes_mean: source_lanes(run, measurement),
        lanes_mean: None,
        lanes_on_mean: None,
        instructions: 0.0,
        passes: None,
        arms: arms_text(measurement),
        code: Vec::new(),
    })
}

/// The mean active lanes by the source, of a measurement or of the same launch on the simulator of its width.
fn source_lanes(run: &Run, measurement: &Measurement) -> Option<f64> {
    measurement.subgroup_width?;
    let same = |other: &&Measurement| {
        is_simulated(run, other)
            && other.subgroup_width == measurement.subgroup_width
            && other.kernel == measurement.kernel
            && other.parameters == measurement.parameters
            && other.seed == measurement.seed
    };
    let simulated = || run.measurements.iter().find(same)?.active_lanes_mean;
    let counted = || find_value(&measurement.counters, SOURCE_LANES_MEAN);
    measurement.active_lanes_mean.or_else(simulated).or_else(counted)
}

/// What became of each arm and loop of a dispatch: as the record has it, or, of NVIDIA's code, read off it anew; nothing
/// where the record holds no code, or no texts of it.
pub fn arms(dispatch: &Dispatch) -> Option<Vec<Arm>> {
    let code = dispatch.machine_code.as_ref()?;
    match code.architecture.starts_with("sm_") {
        true => sass::arms_anew(dispatch),
        false => Some(code.arms.clone()),
    }
}

/// How many arms and loops of a launch's code came to what; an arm that came to several things is counted for each, and
/// one that ran in some dispatch of its entry point ran. What makes the launch ready is left out.
pub fn arm_counts(measurement: &Measurement) -> Option<BTreeMap<ArmOutcome, usize>> {
    let mut found: BTreeMap<_, BTreeSet<ArmOutcome>> = BTreeMap::new();
    let mut known = false;
    for dispatch in measurement.dispatches.iter().filter(|dispatch| !dispatch.setup) {
        let Some(code) = &dispatch.machine_code else { continue };
        let Some(arms) = arms(dispatch) else { continue };
        known = true;
        for arm in arms {
            let key = (&code.function, arm.construct, arm.part, arm.case);
            found.entry(key).or_default().insert(arm.outcome);
        }
    }
    let mut counts: BTreeMap<ArmOutcome, usize> = BTreeMap::new();
    for mut outcomes in found.into_values() {
        if outcomes.len() > 1 {
            outcomes.remove(&ArmOutcome::NeverRan);
        }
        outcomes.into_iter().for_each(|outcome| *counts.entry(outcome).or_default() += 1);
    }
    known.then_some(counts)
}

/// The same, worded: `2 kept, 1 skipped`; `none` where there is no branch.
pub fn arms_text(measurement: &Measurement) -> Option<String> {
    let counts = arm_counts(measurement)?;
    let texts = counts.iter().map(|(outcome, count)| format!("{count} {}", outcome.name()));
    let texts: Vec<String> = texts.collect();
    Some(if texts.is_empty() { "none".to_owned() } else { texts.join(", ") })
}

/// How often instructions of an operation were executed in a launch, as `SHFL` or `ds_bpermute_b32`: those
/// whose operation begins so.
pub fn operation_count(measurement: &Measurement, start: &str) -> u64 {
    let codes = measurement.dispatches.iter().filter_map(|dispatch| dispatch.machine_code.as_ref());
    let begins = |instruction: &&Instruction| {
        let words = operation(instruction.text.as_deref()).unwrap_or_default();
        words.rsplit(' ').next().is_some_and(|word| word.starts_with(start))
    };
    let instructions = codes.flat_map(|code| code.instructions.iter()).filter(begins);
    instructions.map(|instruction| instruction.inst_executed).sum()
}

/// Returns the value of a counter by NVIDIA's name; `None` if it was not read.
pub fn counter(measurement: &Measurement, name: &str) -> Option<f64> {
    find_value(&measurement.counters, name)
}

/// Returns the value of a counter among `counters` by its name.
pub(super) fn find_value(counters: &[Counter], name: &str) -> Option<f64> {
    counters.iter().find(|counter| counter.name == name).map(|counter| counter.value)
}

/// Returns the mean active lanes of a whole launch, all and those that no predicate turned off, from
/// counts of its instructions; `None` if those were not read.
pub fn threads_means(counters: &[Counter]) -> Option<[f64; 2]> {
    let executed = find_value(counters, "smsp__sass_inst_executed").filter(|count| *count > 0.0)?;
    let threads = find_value(counters, "smsp__sass_thread_inst_executed")?;
    let on = find_value(counters, "smsp__sass_thread_inst_executed_pred_on")?;
    Some([threads / executed, on / executed])
}

#[expect(clippy::cast_precision_loss, reason = "a mean of counts is shown to a few digits")]
fn mean(lanes: u128, executions: u128) -> Option<f64> {
    (executions > 0).then(|| lanes as f64 / executions as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ShortCircuit;

    fn instruction(offset: u32, line: Option<u32>, counts: [u64; 3]) -> Instruction {
        let [inst_executed, thread_inst_executed, thread_inst_executed_pred_on] = counts;
        Instruction {
            offset_bytes: offset,
            file: line.map(|_| "a.wgsl".to_owned()),
            line,
            text: None,
            inst_executed,
            thread_inst_executed,
            thread_inst_executed_pred_on,
        }
    }

    #[test]
    fn instructions_come_together_by_line_and_those_of_none_come_last() {
        let code = MachineCode {
            function: "main".to_owned(),
            architecture: "sm_90".to_owned(),
            instructions: vec![
                instruction(0, None, [4, 128, 128]),
                instruction(16, Some(9), [2, 64, 32]),
                instruction(32, Some(3), [4, 128, 128]),
                instruction(48, Some(9), [2, 32, 16]),
                instruction(64, Some(10), [0, 0, 0]),
            ],
            sha256: None,
            arms: Vec::new(),
            near: Vec::new(),
        };
        let lines = lines(&code);
        let numbers: Vec<Option<u32>> = lines.iter().map(|line| line.line).collect();
        assert_eq!(numbers, [Some(3), Some(9), Some(10), None]);
        assert_eq!(lines[1].instructions.len(), 2);
        assert_eq!(lines[1].threads_mean(), Some(24.0));
        assert_eq!(lines[1].threads_pred_on_mean(), Some(12.0));
        assert_eq!(lines[2].threads_mean(), None);
    }

    #[test]
    fn what_an_unrolled_loop_became_is_one_stretch() {
        let with_text = |offset: u32, text: &str, count: u64| Instruction {
            text: Some(text.to_owned()),
            ..instruction(offset, Some(1), [count, 32 * count, 32 * count])
        };
        let all = [
            with_text(0, "FFMA R8, R2, R8, R3", 2),
            with_text(16, "FFMA R8, R2, R8, R4", 2),
            with_text(32, "@P0 FFMA R8, R2, R8, R3", 2),
            with_text(48, "FFMA R8, R2, R8, R3", 2),
            with_text(64, "FFMA R8, R2, R8, R3", 1),
        ];
        let counts: Vec<usize> = stretches(&all).iter().map(|stretch| stretch.count).collect();
        assert_eq!(counts, [2, 1, 1, 1]);
        assert_eq!(operation(Some("@!P0 BRA 0x20")).as_deref(), Some("@!P0 BRA"));
    }

    #[test]
    fn launches_that_waste_most_lanes_at_some_width_come_first() {
        let row = |kernel: &str, width: u32, lanes_mean: Option<f64>| MachineRow {
            device: format!("radv:navi21/{width}"),
            driver: String::new(),
            kernel: kernel.to_owned(),
            parameters: BTreeMap::new(),
            width: Width::new(width).unwrap(),
            source_lanes_mean: None,
            lanes_mean,
            lanes_on_mean: None,
            instructions: 1.0,
            passes: None,
            arms: None,
            code: Vec::new(),
        };
        let rows = [
            ("f/full", 64, Some(64.0)),
            ("f/no_vector", 32, None),
            ("f/half", 64, Some(32.0)),
            ("f/wide", 64, Some(8.0)),
            ("f/wide", 32, Some(32.0)),
            ("f/half", 32, Some(16.0)),
        ];
        let rows = rows.map(|(kernel, width, lanes)| row(kernel, width, lanes)).to_vec();
        let order: Vec<(String, u32)> =
            wasteful_first(rows).into_iter().map(|row| (row.kernel, row.width.lanes())).collect();
        let expected = [
            ("f/wide", 32),
            ("f/wide", 64),
            ("f/half", 32),
            ("f/half", 64),
            ("f/full", 64),
            ("f/no_vector", 32),
        ];
        assert_eq!(order, expected.map(|(kernel, width)| (kernel.to_owned(), width)));
    }

    #[test]
    fn what_an_operator_asks_is_no_if() {
        let word = |part, operator| {
            let outcome = ArmOutcome::Masked;
            arm_word(&Arm { construct: 0, part, case: 0, line: 1, operator, outcome })
        };
        let (accept, reject) = (ConstructPart::IfAccept, ConstructPart::IfReject);
        assert_eq!(word(accept, None), "if");
        assert_eq!(word(accept, Some(ShortCircuit::And)), "right side of &&");
        assert_eq!(word(accept, Some(ShortCircuit::Or)), "right side of ||");
        assert_eq!(word(reject, Some(ShortCircuit::Or)), "|| without its right side");
    }

    #[test]
    fn means_of_a_launch_need_all_counts() {
        let counter = |name: &str, value| Counter {
            name: name.to_owned(),
            value,
            unit: "instruction".to_owned(),
            description: String::new(),
        };
        let mut counters = vec![
            counter("smsp__sass_inst_executed", 2.0),
            counter("smsp__sass_thread_inst_executed", 48.0),
        ];
        assert_eq!(threads_means(&counters), None);
        counters.push(counter("smsp__sass_thread_inst_executed_pred_on", 40.0));
        assert_eq!(threads_means(&counters), Some([24.0, 20.0]));
    }
}
