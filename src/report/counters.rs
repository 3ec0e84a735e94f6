//! Hardware counters as text: of a profile's devices, and of each measurement of a run.
//!
//! Input: counters of a record. Output: rows for the templates. Names, units and descriptions are
//! NVIDIA's; the two means that `ncu` prints stand before them, under the names that it has for them.

use serde::Serialize;

use super::format;
use crate::analyze::{self, machine, parameters_text, stalls};
use crate::record::{Counter, CountersFrom, Measurement, Run};

/// One counter.
#[derive(Debug, Serialize)]
pub(super) struct CounterText {
    name: String,
    value: String,
    unit: String,
    description: String,
}

/// The hardware counters of one measurement, beside its counts.
#[derive(Debug, Serialize)]
pub(super) struct MeasuredText {
    kernel: String,
    parameters: String,
    label: String,
    /// Active lanes: counted in the source, in machine code, not predicated off there.
    lanes: [String; 3],
    /// Different machine instructions of all its dispatches; empty where they were not read.
    instructions: String,
    /// What bounds the kernel by its stalls, a sentence; empty where they were not read.
    reading: String,
    rows: Vec<CounterText>,
    /// What read them, as a clause; empty where nothing did.
    from: String,
    /// Why some are not there.
    missing: Vec<String>,
}

/// Every measurement for which counters were asked for or found.
pub(super) fn list_measurements(run: &Run) -> Vec<MeasuredText> {
    // What a simulator counts of itself is no hardware counter.
    let asked = |measurement: &&Measurement| {
        measurement.counters_from.is_some() || !measurement.counters_missing.is_empty()
    };
    let text = |measurement: &Measurement| {
        let [threads, on] = match machine::threads_means(&measurement.counters) {
            Some(means) => means.map(Some),
            None => [None; 2],
        };
        MeasuredText {
            kernel: measurement.kernel.clone(),
            parameters: parameters_text(&measurement.parameters, &[]),
            label: analyze::device_label(run, &measurement.device),
            lanes: [measurement.active_lanes_mean, threads, on].map(format::lanes),
            instructions: instructions(measurement),
            reading: reading(&measurement.counters),
            rows: rows(&measurement.counters),
            from: measurement.counters_from.as_ref().map_or(String::new(), from),
            missing: measurement.counters_missing.clone(),
        }
    };
    run.measurements.iter().filter(asked).map(text).collect()
}

/// How many machine instructions a launch's dispatches have as compiled, executed or not.
fn instructions(measurement: &Measurement) -> String {
    let codes = measurement.dispatches.iter().filter_map(|dispatch| dispatch.machine_code.as_ref());
    match codes.map(|code| code.instructions.len()).sum::<usize>() {
        0 => String::new(),
        count => count.to_string(),
    }
}

/// What bounds a kernel by its stalls, a sentence; empty where they were not read.
pub(super) fn reading(counters: &[Counter]) -> String {
    stalls::read(counters).map_or(String::new(), |reading| reading.sentence())
}

/// What read counters, as a clause.
pub(super) fn from(from: &CountersFrom) -> String {
    let tool = from.disassembler.as_ref();
    let tool = tool.map_or("no disassembler".to_owned(), Clone::clone);
    format!("read by {} ({}) on {}; {tool}", from.version, from.library, from.chip)
}

/// The rows of a table of counters.
pub(super) fn rows(counters: &[Counter]) -> Vec<CounterText> {
    let row = |counter: &Counter| CounterText {
        name: counter.name.clone(),
        value: format::figure(counter.value),
        unit: counter.unit.clone(),
        description: counter.description.clone(),
    };
    let words = [
        ("Avg. Active Threads Per Warp", "smsp__sass_thread_inst_executed"),
        ("Avg. Not Predicated Off Threads Per Warp", "smsp__sass_thread_inst_executed_pred_on"),
    ];
    let means = machine::threads_means(counters).into_iter().flatten().zip(words);
    let mean = |(mean, (name, over)): (f64, (&str, &str))| CounterText {
        name: name.to_owned(),
        value: format::lanes(Some(mean)),
        unit: "thread/warp".to_owned(),
        description: format!("{over} over smsp__sass_inst_executed"),
    };
    means.map(mean).chain(counters.iter().map(row)).collect()
}
