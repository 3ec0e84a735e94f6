//! A launch's time by its dispatches.
//!
//! Input: a run whose dispatches were timed one by one. Output: [`StageStack`]s. Which dispatch does
//! what, the notes of kernels say.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::names::{SIZE, device_label, parameters_text, short_name};
use crate::analyze::usual::{Usual, keep_usual};
use crate::record::{Run, StageNote, Value};
use crate::units::Nanoseconds;

/// The launches of a family, as many as a figure shows.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSheet {
    /// The launches by their size, of one size in the order of measurement.
    pub stacks: Vec<StageStack>,
    /// The names of stages that the notes of the family's kernels name, in their order, and last that of
    /// what lies between dispatches: a stage's colour is its place here.
    pub order: Vec<String>,
    /// How many others there are of less usual parameters.
    pub unusual: usize,
    /// How many others there are of the usual parameters, at these sizes or without one.
    pub between: usize,
    /// The sizes of those, in rising order.
    pub sizes_between: Vec<i64>,
    /// How many have dispatches whose times exceed their launch's by more than three tenths.
    pub unknown: usize,
}

/// A launch's time by its dispatches.
#[derive(Clone, Debug, PartialEq)]
pub struct StageStack {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// Its dispatches, those of one name together, and last what lies between them, where that is
    /// a fiftieth of the launch or more.
    pub stages: Vec<StageTime>,
    /// The launch's own time, without timestamps between its dispatches.
    pub launch: Nanoseconds,
    /// In how many parameters the launch differs from the usual one.
    pub unusual: usize,
}

/// A part of a launch's time.
#[derive(Clone, Debug, PartialEq)]
pub struct StageTime {
    /// What it does, in a word: the stage that the kernel's note names, or the entry point's own name.
    pub name: String,
    /// The sum of the medians of its dispatches.
    pub time: Nanoseconds,
}

/// The most that the times of single dispatches may exceed the launch's in sum, as a share of it: the
/// start of a dispatch overlaps the end of the one before, but for a timestamp between them, which on
/// an H200 makes 1 µs of each 4 where dispatches are shortest.
const STAGES_EXCESS_RATIO: f64 = 0.3;

/// The least that lies between dispatches and is named, as a share of the launch.
const BETWEEN_RATIO: f64 = 0.02;

/// The name of what a launch takes beyond its dispatches.
const BETWEEN: &str = "between dispatches";

/// The most launches of a sheet.
const STACKS_MAX: usize = 24;

/// Makes the stacks of the launches of `family` whose dispatches were timed one by one, but for launches
/// that these times exceed by more than three tenths: it is not known what such stages hold. Of more
/// launches than a sheet holds, those of the most usual parameters stay, and of these the largest of
/// each kernel and sizes that lie apart.
/// `None` if there is no such launch.
pub fn stages(run: &Run, family: &str) -> Option<StageSheet> {
    let usual = Usual::from_run(run);
    let (mut stacks, mut unknown) = (Vec::new(), 0);
    for measurement in &run.measurements {
        if crate::analyze::family(&measurement.kernel) != family {
            continue;
        }
        let mut stages: Vec<StageTime> = Vec::new();
        for dispatch in &measurement.dispatches {
            let Some(time) = dispatch.median_ns else { continue };
            let name = stage_name(run, &measurement.kernel, &dispatch.entry_point);
            match stages.iter_mut().find(|stage| stage.name == name) {
                Some(stage) => stage.time.0 += time.0,
                None => stages.push(StageTime { name: name.to_owned(), time }),
            }
        }
        let Some(launch) = measurement.time.as_ref().map(|time| time.median_ns) else { continue };
        if stages.is_empty() {
            continue;
        }
        match added_up(stages, launch) {
            Some(stages) => stacks.push(StageStack {
                label: device_label(run, &measurement.device),
                kernel: short_name(&measurement.kernel).to_owned(),
                parameters: measurement.parameters.clone(),
                stages,
                launch,
                unusual: usual.count(&measurement.parameters),
            }),
            None => unknown += 1,
        }
    }
    // Of a launch that was timed several times the first stands.
    let mut known: BTreeSet<String> = BTreeSet::new();
    stacks.retain(|StageStack { label, kernel, parameters, .. }| {
        known.insert(format!("{label} {kernel} {}", parameters_text(parameters, &[])))
    });
    // Sizes that were measured last stand where they belong; at one size the order stays.
    stacks.sort_by_key(size);
    (!stacks.is_empty())
        .then(|| StageSheet { order: order(run, family), ..fitting(stacks, unknown) })
}

/// The stages that notes of a family's kernels name, each once, and what lies between dispatches.
fn order(run: &Run, family: &str) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for (kernel, note) in &run.kernels {
        if crate::analyze::family(kernel) == family {
            let more = note.stages.iter().map(|stage| &stage.name);
            let more: Vec<String> = more.filter(|name| !order.contains(name)).cloned().collect();
            order.extend(more);
        }
    }
    order.push(BETWEEN.to_owned());
    order
}

/// A launch's size; `None` if it has none.
fn size(stack: &StageStack) -> Option<i64> {
    match stack.parameters.get(SIZE) {
        Some(Value::Integer(size)) => Some(*size),
        Some(Value::Real(_) | Value::Name(_)) | None => None,
    }
}

/// As many launches as a sheet holds: of each kernel the largest size, and of all the smallest; then of
/// the sizes between, as many as have room, evenly.
fn fitting(mut stacks: Vec<StageStack>, unknown: usize) -> StageSheet {
    let all = stacks.len();
    if all > STACKS_MAX {
        keep_usual(&mut stacks, |stack| stack.unusual);
    }
    let unusual = all - stacks.len();
    let dropped = if stacks.len() > STACKS_MAX { drop_between(&mut stacks) } else { Vec::new() };
    let sizes: BTreeSet<i64> = dropped.iter().filter_map(size).collect();
    let sizes_between = sizes.into_iter().collect();
    let order = Vec::new();
    StageSheet { stacks, order, unusual, between: dropped.len(), sizes_between, unknown }
}

/// Takes the launches that have no room out of `stacks`, which are sorted by size, and returns them.
fn drop_between(stacks: &mut Vec<StageStack>) -> Vec<StageStack> {
    let mut largest: BTreeMap<&str, Option<i64>> = BTreeMap::new();
    for stack in &*stacks {
        largest.insert(&stack.kernel, size(stack));
    }
    let ends: BTreeSet<Option<i64>> =
        largest.into_values().chain(stacks.first().map(size)).collect();
    let middle: BTreeSet<Option<i64>> = stacks.iter().map(size).collect();
    let middle: Vec<Option<i64>> = middle.difference(&ends).copied().collect();
    let fits = |kept: &BTreeSet<Option<i64>>| {
        stacks.iter().filter(|stack| kept.contains(&size(stack))).count() <= STACKS_MAX
    };
    let with = |between: usize| -> BTreeSet<Option<i64>> {
        // The ends are there already: what is kept of the rest lies between them.
        let steps = between + 1;
        let places = (1..=between).map(|step| (step * (middle.len() + 1)).div_ceil(steps) - 1);
        places.map(|place| middle[place]).chain(ends.iter().copied()).collect()
    };
    let kept = (0..=middle.len()).rev().map(with).find(fits).unwrap_or(ends);
    let (mut shown, mut dropped): (Vec<StageStack>, Vec<StageStack>) =
        std::mem::take(stacks).into_iter().partition(|stack| kept.contains(&size(stack)));
    // Where not even those have room, the largest stay.
    dropped.extend(shown.drain(..shown.len().saturating_sub(STACKS_MAX)));
    *stacks = shown;
    dropped
}

/// Stages with what lies between them; `None` if there are none, or where they exceed the launch by
/// too much.
fn added_up(mut stages: Vec<StageTime>, launch: Nanoseconds) -> Option<Vec<StageTime>> {
    let sum: f64 = stages.iter().map(|stage| stage.time.0).sum();
    if stages.is_empty() || sum > (1.0 + STAGES_EXCESS_RATIO) * launch.0 {
        return None;
    }
    let left = launch.0 - sum;
    if left >= BETWEEN_RATIO * launch.0 {
        stages.push(StageTime { name: BETWEEN.to_owned(), time: Nanoseconds(left) });
    }
    Some(stages)
}

/// What an entry point of a kernel does, in a word: its stage, or its own name.
pub(super) fn stage_name<'a>(run: &'a Run, kernel: &str, entry_point: &'a str) -> &'a str {
    stage(run, kernel, entry_point).map_or(entry_point, |stage| stage.name.as_str())
}

/// The stage that an entry point of a kernel belongs to, where the kernel's note names one.
pub(super) fn stage<'a>(run: &'a Run, kernel: &str, entry_point: &str) -> Option<&'a StageNote> {
    let stages = &run.kernels.get(kernel)?.stages;
    let means = |message: &String| match message.strip_suffix('*') {
        Some(start) => entry_point.starts_with(start),
        None => entry_point == message,
    };
    stages.iter().find(|stage| stage.entry_points.iter().any(means))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_fill_their_launch_or_are_left_out() {
        let stage = |name: &str, ns| StageTime { name: name.to_owned(), time: Nanoseconds(ns) };
        let whole = vec![stage("sort", 600.0), stage("experts", 395.0)];
        assert_eq!(added_up(whole.clone(), Nanoseconds(1000.0)), Some(whole.clone()));
        assert_eq!(added_up(whole.clone(), Nanoseconds(900.0)), Some(whole));
        let short = vec![stage("sort", 700.0)];
        let filled = vec![stage("sort", 700.0), stage(BETWEEN, 300.0)];
        assert_eq!(added_up(short, Nanoseconds(1000.0)), Some(filled));
        let slow = vec![stage("sort", 97.0), stage("experts", 3612.0)];
        assert_eq!(added_up(slow, Nanoseconds(1343.0)), None);
        assert_eq!(added_up(Vec::new(), Nanoseconds(1343.0)), None);
    }

    #[test]
    fn of_many_launches_the_usual_ones_stay_at_sizes_apart() {
        let stack = |n: i64, input: &str| StageStack {
            label: "device".to_owned(),
            kernel: "sorted".to_owned(),
            parameters: [
                (SIZE.to_owned(), Value::Integer(n)),
                ("input".to_owned(), Value::Name(input.to_owned())),
            ]
            .into(),
            stages: Vec::new(),
            launch: Nanoseconds(1.0),
            unusual: usize::from(input != "random"),
        };
        let few: Vec<StageStack> = (0..4).map(|n| stack(n, "ordered")).collect();
        let sheet = fitting(few.clone(), 0);
        assert_eq!((sheet.stacks, sheet.unusual, sheet.between), (few, 0, 0));
        let inputs = ["ordered", "random"];
        let many = (0..30).flat_map(|n| inputs.map(|input| stack(n, input))).collect();
        let sheet = fitting(many, 3);
        assert_eq!((sheet.stacks.len(), sheet.unusual, sheet.between), (STACKS_MAX, 30, 6));
        assert!(sheet.stacks.iter().all(|stack| stack.parameters["input"].to_string() == "random"));
        assert_eq!(sheet.stacks[0], stack(0, "random"));
        assert_eq!(sheet.stacks.last(), Some(&stack(29, "random")));
        let shown: Vec<i64> = sheet.stacks.iter().filter_map(size).collect();
        let mut every = [shown, sheet.sizes_between].concat();
        every.sort_unstable();
        assert_eq!(every, (0..30).collect::<Vec<i64>>(), "each is drawn or named");
        assert_eq!(sheet.unknown, 3);
    }

    #[test]
    fn the_largest_launch_of_each_kernel_is_drawn() {
        let stack = |kernel: &str, power: u32| StageStack {
            label: "device".to_owned(),
            kernel: kernel.to_owned(),
            parameters: [(SIZE.to_owned(), Value::Integer(1 << power))].into(),
            stages: Vec::new(),
            launch: Nanoseconds(1.0),
            unusual: 0,
        };
        let kernels = ["separate", "separate_before", "sorted"];
        let sweep = (6..=24).step_by(2).flat_map(|n| kernels.map(|kernel| stack(kernel, n)));
        let sheet = fitting(sweep.chain([stack("permutation", 26)]).collect(), 0);
        let sizes: BTreeSet<i64> = sheet.stacks.iter().filter_map(size).collect();
        assert_eq!(sheet.stacks.len(), 22);
        assert!([6, 24, 26].iter().all(|power| sizes.contains(&(1 << power))), "{sizes:?}");
        assert_eq!((sheet.between, sheet.sizes_between.len()), (9, 3));
        // More launches of one size than a sheet holds: as many as fit.
        let one_size = (0..30).map(|kernel| stack(&kernel.to_string(), 10)).collect();
        let sheet = fitting(one_size, 0);
        assert_eq!((sheet.stacks.len(), sheet.between), (STACKS_MAX, 6));
        assert_eq!(sheet.sizes_between, [1024]);
    }

    #[test]
    fn stages_are_those_of_the_note() {
        let run = crate::fixtures::sorting_sweep();
        let name = |entry_point| stage_name(&run, "sort/separate", entry_point);
        assert_eq!(["few_count", "scan", "many_permutation"].map(name), ["sort"; 3]);
        assert_eq!(
            ["alone", "grids_of_classes", "mystery"].map(name),
            ["work", "grids", "mystery"]
        );
    }
}
