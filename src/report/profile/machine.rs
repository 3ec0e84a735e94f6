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
    rows: Vec<InstructionText>,
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
    let asked = |device: &&DeviceProfile| {
        device.counters_from.is_some() || !device.counters_missing.is_empty()
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
    for (label, line) in machine_lines(profile) {
        let here = line.file.as_deref() == Some(profile.file.as_str());
        if let Some(number) = line.line.filter(|_| here) {
            all.entry(number).or_default().push(text(&label, &line));
        }
    }
    all
}

/// The machine code that is of no line.
pub(super) fn elsewhere(profile: &Profile) -> Vec<MachineText> {
    let lines = machine_lines(profile).into_iter();
    lines.filter(|(_, line)| line.line.is_none()).map(|(label, line)| text(&label, &line)).collect()
}

/// Every line's machine code, with the label of its device and, of several, its dispatch.
fn machine_lines(profile: &Profile) -> Vec<(String, MachineLine)> {
    let mut all = Vec::new();
    for device in &profile.devices {
        let several = device.dispatches.len() > 1;
        for (number, dispatch) in device.dispatches.iter().enumerate() {
            let Some(code) = &dispatch.machine_code else { continue };
            let mut label = device.column.label.clone();
            if several {
                label += &format!(", dispatch {number} ({})", dispatch.entry_point);
            }
            all.extend(machine::lines(code).into_iter().map(|line| (label.clone(), line)));
        }
    }
    all
}

fn text(label: &str, line: &MachineLine) -> MachineText {
    let count = line.instructions.len();
    let summary = match (line.threads_mean(), line.threads_pred_on_mean()) {
        (Some(threads), Some(on)) => format!(
            "{count} instructions, {} executions, {} lanes, {} not predicated off",
            format::count(line.inst_executed),
            text::lanes(threads),
            text::lanes(on)
        ),
        _ => format!("{count} instructions, never executed"),
    };
    let rows = machine::stretches(&line.instructions).into_iter().map(instruction).collect();
    MachineText { label: label.to_owned(), summary, rows }
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
