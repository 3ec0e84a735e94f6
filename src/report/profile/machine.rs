//! Hardware counters and machine code, as the page of a profile shows them.
//!
//! Input: devices' parts of a profile. Output: text for the template: a table of counters a device,
//! and beside each source line its instructions. Nothing is computed here but the form.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::counters::{self, CounterText};
use super::super::format;
use crate::analyze::machine::{self, MachineLine, Stretch};
use crate::analyze::{DeviceProfile, Profile};
use crate::present::count_text;
use crate::record::MachineCode;
use crate::units::{approximate, text};

/// The hardware counters of a device.
#[derive(Debug, Serialize)]
pub(super) struct CountersText {
    label: String,
    /// What read them, as a clause.
    from: String,
    rows: Vec<CounterText>,
    /// What bounds the kernel by its stalls, a sentence; empty where they were not read.
    reading: String,
    /// Why some are not there.
    missing: Vec<String>,
}

/// A source line's machine code on one device.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MachineText {
    label: String,
    summary: String,
    /// Whether instructions may be predicated.
    predicates: bool,
    rows: Vec<InstructionText>,
}

/// What became of arms and loops in a dispatch's code.
#[derive(Debug, Serialize)]
pub(super) struct CodeText {
    /// The dispatch, the device and the code.
    title: String,
    /// Each arm and loop, by its line.
    arms: Vec<String>,
    /// What the words for what became of them mean.
    meaning: String,
    /// Which blocks no instructions were found for.
    missing: Vec<String>,
}

/// Instructions in a row that did the same.
#[derive(Clone, Debug, Serialize)]
struct InstructionText {
    offset: String,
    executed: String,
    threads: String,
    threads_on: String,
    text: String,
}

/// The tables of counters, for every device that was asked for any.
pub(super) fn tables(profile: &Profile) -> Vec<CountersText> {
    // What is missing of executed code stands with the code.
    let asked = |device: &&DeviceProfile| {
        let has_code = device.dispatches.iter().any(|dispatch| dispatch.machine_code.is_some());
        let with_code = device.executed.is_some() && has_code;
        let missing = !device.counters_missing.is_empty() && !with_code;
        device.counters_from.is_some() || missing
    };
    let table = |device: &DeviceProfile| CountersText {
        label: device.column.label.clone(),
        from: device.counters_from.as_ref().map_or(String::new(), counters::from),
        rows: rows(device),
        reading: counters::reading(&device.counters),
        missing: device.counters_missing.clone(),
    };
    profile.devices.iter().filter(asked).map(table).collect()
}

fn rows(device: &DeviceProfile) -> Vec<CounterText> {
    match device.counters_from {
        Some(_) => counters::rows(&device.counters),
        None => Vec::new(),
    }
}

/// The machine code of every line of the profile's file, by line.
pub(super) fn by_line(profile: &Profile) -> BTreeMap<u32, Vec<MachineText>> {
    let mut all: BTreeMap<u32, Vec<MachineText>> = BTreeMap::new();
    for (label, code, line) in machine_lines(profile) {
        let here = line.file.as_deref() == Some(profile.file.as_str());
        if let Some(number) = line.line.filter(|_| here) {
            all.entry(number).or_default().push(text(&label, code, &line));
        }
    }
    all
}

/// The machine code that is of no line.
pub(super) fn elsewhere(profile: &Profile) -> Vec<MachineText> {
    let lines = machine_lines(profile).into_iter();
    let of_none = lines.filter(|(.., line)| line.line.is_none());
    of_none.map(|(label, code, line)| text(&label, code, &line)).collect()
}

/// What became of the arms and loops of each dispatch that has machine code.
pub(super) fn codes(profile: &Profile) -> Vec<CodeText> {
    let mut all = Vec::new();
    for device in &profile.devices {
        for dispatch in &device.dispatches {
            let Some(code) = &dispatch.machine_code else { continue };
            let (label, code_text) =
                (&device.column.label, machine::code_text(code, &device.driver));
            let missing: Vec<String> =
                device.unmatched(dispatch).into_iter().map(str::to_owned).collect();
            let arms = machine::arm_lines(dispatch);
            if !(arms.is_empty() && missing.is_empty()) {
                all.push(CodeText {
                    title: format!(
                        "Machine code of {} on {label} ({code_text})",
                        dispatch.entry_point
                    ),
                    meaning: machine::arms_note(&machine::outcomes(dispatch)),
                    arms,
                    missing,
                });
            }
        }
    }
    all
}

/// Every line's machine code, with the label of its device and, of several, its dispatch.
fn machine_lines(profile: &Profile) -> Vec<(String, &MachineCode, MachineLine)> {
    let mut all = Vec::new();
    for device in &profile.devices {
        let several = device.dispatches.len() > 1;
        for (number, dispatch) in device.dispatches.iter().enumerate() {
            let Some(code) = &dispatch.machine_code else { continue };
            let mut label = device.column.label.clone();
            if several {
                label += &format!(", dispatch {number} ({})", dispatch.entry_point);
            }
            if code.sha256.is_some() {
                label += &format!(" ({})", machine::code_text(code, &device.driver));
            }
            let lines = machine::lines(code).into_iter();
            all.extend(lines.map(|line| (label.clone(), code, line)));
        }
    }
    all
}

fn text(label: &str, code: &MachineCode, line: &MachineLine) -> MachineText {
    let count = count_text(line.instructions.len() as u128, "instruction");
    let predicates = machine::has_predicates(code);
    let mut summary = match (line.threads_mean(), line.threads_pred_on_mean()) {
        (Some(threads), Some(on)) => {
            let on = match predicates {
                true => format!(", {} not predicated off", text::lanes(on)),
                false => String::new(),
            };
            let executions = format::count(line.inst_executed);
            let threads = text::lanes(threads);
            format!("{count}, {executions} executions, {threads} lanes{on}")
        }
        _ => format!("{count}, never executed"),
    };
    for near in line.line.iter().flat_map(|line| machine::near_texts(code, *line)) {
        summary += &format!("; {near}");
    }
    let rows = machine::stretches(&line.instructions).into_iter().map(instruction).collect();
    MachineText { label: label.to_owned(), summary, predicates, rows }
}

fn instruction(Stretch { first, count }: Stretch<'_>) -> InstructionText {
    let text = first.text.clone().unwrap_or_default();
    let operation = machine::operation(first.text.as_deref());
    let operation = operation.unwrap_or_else(|| "instructions".to_owned());
    let mean = |lanes: u64| match first.inst_executed {
        0 => format::lanes(None),
        executed => format::lanes(Some(approximate(lanes) / approximate(executed))),
    };
    InstructionText {
        offset: format!("{:#06x}", first.offset_bytes),
        executed: format::count(first.inst_executed.into()),
        threads: mean(first.thread_inst_executed),
        threads_on: mean(first.thread_inst_executed_pred_on),
        text: match count {
            1 => text,
            _ => format!("{text}  … and {} more {operation} with these counts", count - 1),
        },
    }
}
