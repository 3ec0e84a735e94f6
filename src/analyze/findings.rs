//! Flags put in plain words.
//!
//! Input: the flags of records and of the main table. Output: each once, with its explanation and the
//! places where it was found. The explanations are [`crate::record::Flag`]'s; no figure is made here.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::names::{device_label, list_text, parameters_text, write_count};
use super::summary::{DeviceSummary, Summary, SummaryRow, summary};
use crate::record::{Device, Flag, Output, Run, Status, Tag, TestedPart, flag};

/// A flag with where it was found and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The flag.
    pub flag: Flag,
    /// Devices, kernels of a device, or single launches, at which it was found, in the order of measurement.
    pub places: Vec<String>,
}

/// Collects the flags of devices and measurements, each once, with every place.
pub fn findings(run: &Run) -> Vec<Finding> {
    let mut found: IndexMap<Flag, IndexSet<String>> = IndexMap::new();
    let mut add = |flag: &Flag, place: String| {
        found.entry(flag.clone()).or_default().insert(place);
    };
    for device in &run.devices {
        for flag in &device.flags {
            let label = device_label(run, &device.id);
            add(
                flag,
                if flag.tag == Tag::SelfTestFailed { self_test(device, &label) } else { label },
            );
        }
    }
    for device in summary(run).devices {
        let everywhere = everywhere(&device);
        let mut of_kernels: BTreeMap<&str, Vec<&SummaryRow>> = BTreeMap::new();
        for row in &device.rows {
            of_kernels.entry(&row.kernel).or_default().push(row);
        }
        let shared: BTreeMap<&str, Vec<&Flag>> =
            of_kernels.iter().map(|(kernel, rows)| (*kernel, find_shared(rows))).collect();
        for (flag, place) in &everywhere {
            add(flag, place.clone());
        }
        for row in &device.rows {
            let somewhere = |flag: &&Flag| everywhere.iter().all(|(known, _)| known != *flag);
            for flag in row.flags.iter().filter(somewhere) {
                let kernel = row.kernel.as_str();
                let all = shared[kernel].contains(&flag).then(|| of_kernels[kernel].len());
                add(flag, place(&device.label, all, row));
            }
        }
    }
    let finding = |(flag, places): (Flag, IndexSet<String>)| Finding {
        flag,
        places: places.into_iter().collect(),
    };
    found.into_iter().map(finding).collect()
}

/// The flags that stand on each of several rows.
fn find_shared<'a>(rows: &[&'a SummaryRow]) -> Vec<&'a Flag> {
    let [first, others @ ..] = rows else { return Vec::new() };
    let everywhere = |flag: &&Flag| others.iter().all(|row| row.flags.contains(flag));
    first.flags.iter().filter(everywhere).collect()
}

/// How many launches did not go well, a clause for each way.
pub(super) fn describe_trouble(summary: &Summary) -> Vec<String> {
    let rows = || summary.devices.iter().flat_map(|device| &device.rows);
    let count = |has: &dyn Fn(&SummaryRow) -> bool| rows().filter(|row| has(row)).count();
    let flagged = |tag: &Tag| count(&|row| flag::has(&row.flags, tag));
    let ways = [
        (count(&|row| row.status == Status::Failed), "did", "did", "not finish"),
        (flagged(&Tag::CooperativeLaunchRefused), "was", "were", "refused by the driver"),
        (flagged(&Tag::LoopCutOff), "was", "were", "cut off in a loop by the device"),
        (flagged(&Tag::WaitsGivenUp), "was", "were", "ended by a limit on waiting"),
        (count(&has_wrong_outputs), "has", "have", "wrong outputs"),
        (flagged(&Tag::OutputDependsOnOrder), "has", "have", "outputs that differ by order"),
    ];
    let found = ways.into_iter().filter(|(count, ..)| *count > 0);
    found
        .map(|(count, singular, many, what)| {
            let launches =
                write_count(count, &format!("launch {singular}"), &format!("launches {many}"));
            format!("{launches} {what}")
        })
        .collect()
}

/// Whether outputs differ, and no order of workgroups or lanes decides them.
fn has_wrong_outputs(row: &SummaryRow) -> bool {
    row.output == Output::Mismatch && !flag::has(&row.flags, &Tag::OutputDependsOnOrder)
}

/// What of the self-test differed on a device.
fn self_test(device: &Device, label: &str) -> String {
    let (passed, failed): (Vec<&TestedPart>, Vec<&TestedPart>) =
        device.self_test.iter().partition(|part| part.has_passed());
    if failed.is_empty() {
        return label.to_owned();
    }
    let parts: Vec<String> = failed
        .iter()
        .map(|part| {
            let what = if part.lanes_right { "executions" } else { "executions or lanes" };
            format!("{} ({what})", part.part)
        })
        .collect();
    format!("{label}: {} differ; {} other forms passed", list_text(&parts), passed.len())
}

/// The launch that has a flag; its kernel, where several launches are of it and `all` of them have it.
fn place(label: &str, all: Option<usize>, row: &SummaryRow) -> String {
    let kernel = &row.kernel;
    if let Some(count) = all.filter(|count| *count > 1) {
        return format!("all {count} launches of {kernel} on {label}");
    }
    match parameters_text(&row.parameters, &[]) {
        text if text.is_empty() => format!("{kernel} on {label}"),
        text => format!("{kernel} ({text}) on {label}"),
    }
}

/// The flags that stand on every launch of a device, or on every timed one, with words for these.
fn everywhere(device: &DeviceSummary) -> Vec<(Flag, String)> {
    let label = &device.label;
    let all: Vec<&SummaryRow> = device.rows.iter().collect();
    let timed: Vec<&SummaryRow> = device.rows.iter().filter(|row| row.time.is_some()).collect();
    let groups = [
        (all, format!("every launch on {label}")),
        (timed, format!("every timed launch on {label}")),
    ];
    let mut found: Vec<(Flag, String)> = Vec::new();
    for (rows, words) in groups {
        let [first, others @ ..] = rows.as_slice() else { continue };
        if others.is_empty() {
            continue;
        }
        for flag in &first.flags {
            let shared = others.iter().all(|row| row.flags.contains(flag));
            // A flag of launches that were not timed as well is told launch by launch.
            let here = device.rows.iter().filter(|row| row.flags.contains(flag)).count();
            if shared && here == rows.len() && found.iter().all(|(known, _)| known != flag) {
                found.push((flag.clone(), words.clone()));
            }
        }
    }
    found
}
