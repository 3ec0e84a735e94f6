//! What a run found, in sentences; and where counting predicts another time than was measured.
//!
//! Input: a run. Output: three to six sentences, and a list of misses with what the record knows of why.
//! Every figure in them comes from the main table; no kernel is known by name.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::agreement::agreements;
use super::curves::curve_sentences;
use super::findings::describe_trouble;
use super::machine;
use super::names::{
    FORM, Launches, NOTABLE, Sharing, device, device_label, family, is_notable, list_text,
    parameters_text, short_name, varied_text, write_count,
};
use super::side_by_side::compiler_changes;
use super::sizes::rate_sentences;
use super::sorting::sweep_crossovers;
use super::summary::{DeviceSummary, Summary, SummaryRow, TimeRatio};
use super::width_costs::width_sentences;
use crate::record::{Measurement, Run, Tag, Value, flag};
use crate::statistics::{PairedRatio, RatioVerdict};
use crate::units::{Nanoseconds, Ratio, text};

/// The most sentences of an overview.
const SENTENCES_MAX: usize = 6;

/// How far means of lanes in the source and in machine code may lie apart and still be the same.
const LANES_APART: f64 = 0.05;

/// From which part of the copy rate on memory decides a time.
const MEMORY_BOUND: f64 = 0.6;

/// From which part of a baseline's time on a launch of next to no work is told of.
const LAUNCH_MIN: f64 = 0.05;

/// A ratio of times that counting misses by more than its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The ratio that was measured.
    pub measured: PairedRatio,
    /// The ratio of subgroup operations.
    pub predicted: f64,
    /// That of the parts of both times that are not the launch's own; where this is a part worth telling.
    pub predicted_with_launch: Option<f64>,
}

/// Ratios that counting misses, of which the record says the same.
#[derive(Clone, Debug, PartialEq)]
pub struct MissGroup {
    /// What the record knows of why, a sentence each; never empty.
    pub reasons: Vec<String>,
    /// The ratios, the furthest off first.
    pub misses: Vec<Miss>,
}

impl Miss {
    /// What was predicted over what was measured: 2 is twice as much, 0.5 half as much, as far off.
    pub fn factor(&self) -> f64 {
        self.predicted / self.measured.median
    }
}

/// What a run found, in three to six sentences where there is that much, what matters most first.
pub fn overview(run: &Run, summary: &Summary) -> Vec<String> {
    let Some((launches, all_well)) = describe_launches(run, summary) else { return Vec::new() };
    let mut sentences = Vec::new();
    if !all_well {
        sentences.push(launches.clone());
    }
    let (first, widths, costs) = costs_and_widths(run, summary);
    sentences.extend(first);
    let mut last: Vec<String> = costs;
    last.extend(describe_agreement(run));
    if all_well {
        last.push(launches);
    }
    // What else is known of widths takes the room that is left.
    let room = SENTENCES_MAX.saturating_sub(sentences.len() + last.len());
    sentences.extend(widths.into_iter().take(room));
    sentences.extend(last);
    sentences.truncate(SENTENCES_MAX);
    sentences
}

/// What is told above a run's tables: what did not go well, then what was found; where that is nothing, what ran.
pub fn opening(run: &Run, summary: &Summary) -> Vec<String> {
    let (first, _, last) = costs_and_widths(run, summary);
    let found = [first, last].concat();
    let launches = describe_launches(run, summary);
    let told = launches.filter(|(_, all_well)| !all_well || found.is_empty());
    told.map(|(launches, _)| launches).into_iter().chain(found).collect()
}

/// The family whose times [`overview`] begins with; `None` where it begins with something else.
pub fn first_family(run: &Run, summary: &Summary) -> Option<String> {
    if width_sentences(run).is_empty() && has_sweeps(run) {
        return None;
    }
    let (row, ratio) = find_largest_ratio(summary.devices.first()?)?;
    is_notable(ratio.median).then(|| family(&row.kernel).to_owned())
}

/// The most figures of sweeps that an overview is about.
const SWEEPS_MAX: usize = 2;

/// What the sweeps of a run answer: where kernels pay, and what a parameter does to lanes or times.
fn sweep_sentences(run: &Run) -> Vec<String> {
    let curves = curve_sentences(run);
    let nothing = curves.describe_nothing();
    let alone = |sentence: String| vec![sentence];
    let mut figures: Vec<Vec<String>> = sweep_crossovers(run).into_iter().map(alone).collect();
    figures.extend(curves.figures);
    figures.extend(rate_sentences(run).into_iter().map(alone));
    figures.truncate(SWEEPS_MAX);
    if figures.is_empty() {
        figures.extend(nothing.map(alone));
    }
    figures.concat()
}

/// Whether kernels were measured along a parameter, so that there is an answer to show first.
pub fn has_sweeps(run: &Run) -> bool {
    !sweep_sentences(run).is_empty()
}

/// What is said first; what else is known of widths; what comes last. Where times were measured, what kernels take
/// over their baselines comes first, and where only widths were counted these.
fn costs_and_widths(run: &Run, summary: &Summary) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (mut costs, mut widths) = (cost_sentences(run, summary), width_sentences(run));
    // What widths cost says what a sweep does to lanes, and more.
    if widths.is_empty() {
        costs.splice(0..0, sweep_sentences(run));
    }
    if costs.is_empty() && widths.is_empty() && families(summary).len() == 1 {
        costs.extend(summary.devices.iter().filter_map(describe_extremes).take(EXTREMES_MAX));
    }
    let timed = rows(summary).any(|row| row.time.is_some());
    let others = widths.split_off(widths.len().min(if timed { 1 } else { 2 }));
    if timed || widths.is_empty() {
        ([costs, widths].concat(), others, Vec::new())
    } else {
        (widths, others, costs)
    }
}

/// Of how many devices the extremes are told.
const EXTREMES_MAX: usize = 2;

/// Which launch of a device keeps the fewest lanes active and which the most; where all keep as many, which takes
/// the shortest time and which the longest.
fn describe_extremes(device: &DeviceSummary) -> Option<String> {
    let names = LaunchNames::of_device(device);
    let ends = |figure: &dyn Fn(&SummaryRow) -> Option<f64>, written: &dyn Fn(f64) -> String| {
        let all = device.rows.iter().filter_map(|row| Some((row, figure(row)?)));
        let mut all: Vec<(&SummaryRow, f64)> = all.collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (least, most) = (all.first()?, all.last()?);
        let end = |(row, figure): &(&SummaryRow, f64)| (names.name(row), written(*figure));
        Some((end(least), end(most))).filter(|(least, most)| least.1 != most.1)
    };
    let lanes = |row: &SummaryRow| row.efficiency.and(row.active_lanes_mean);
    if let Some(((fewest, least), (fullest, most))) = ends(&lanes, &text::lanes) {
        let of_width = device.width.map_or(String::new(), |width| format!(" of {width}"));
        return Some(format!(
            "On {} {fewest} keeps the fewest lanes active, {least}{of_width} on average, and {fullest} the most, {most}.",
            device.label
        ));
    }
    let time = |row: &SummaryRow| row.time.map(|time| time.median.0);
    let ((fastest, least), (slowest, most)) = ends(&time, &|time| Nanoseconds(time).to_string())?;
    Some(format!(
        "On {} {fastest} takes the shortest time, {least}, and {slowest} the longest, {most}.",
        device.label
    ))
}

/// What kernels cost over their baselines: as measured, and by counting where nothing was.
fn cost_sentences(run: &Run, summary: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    for device in &summary.devices {
        sentences.extend(describe_largest_ratio(run, device).or_else(|| describe_no_ratio(device)));
        sentences.extend(describe_removed_work(device));
    }
    if sentences.is_empty() {
        sentences.extend(describe_counted_ratios(summary));
    }
    sentences
}

/// What counting says of kernels over their baselines, on the first device and all that say the same.
fn describe_counted_ratios(summary: &Summary) -> Option<String> {
    let found = |device: &DeviceSummary| {
        let names = LaunchNames::of_device(device);
        let ratios = device.rows.iter().filter(|row| row.time_ratio != TimeRatio::Baseline);
        let mut ratios: Vec<(String, String, f64)> = ratios
            .filter_map(|row| {
                let baseline = short_name(row.baseline.as_deref()?).to_owned();
                Some((names.name(row), baseline, row.time_ratio_predicted?))
            })
            .collect();
        ratios.sort_by(|a, b| b.2.total_cmp(&a.2));
        let part = |(kernel, baseline, ratio): &(String, String, f64)| {
            (kernel.clone(), baseline.clone(), text::ratio(*ratio))
        };
        Some((part(ratios.first()?), ratios.last().filter(|_| ratios.len() > 1).map(part)))
    };
    let all: Vec<_> =
        summary.devices.iter().filter_map(|device| Some((&device.label, found(device)?))).collect();
    let (_, first) = all.first()?;
    let labels: Vec<String> = all
        .iter()
        .filter(|(_, figures)| figures == first)
        .map(|(label, _)| (*label).clone())
        .collect();
    let ((kernel, baseline, most), least) = first;
    let least = least.as_ref().map_or(String::new(), |(kernel, other_baseline, ratio)| {
        let compared = if other_baseline == baseline {
            String::new()
        } else {
            format!(" those of {other_baseline}")
        };
        format!(", the most, and {kernel} {ratio} times{compared}, the least")
    });
    Some(format!(
        "Counted on {}, {kernel} costs {most} times the lane slots of {baseline}{least}.",
        list_text(&labels)
    ))
}

fn rows(summary: &Summary) -> impl Iterator<Item = &SummaryRow> {
    summary.devices.iter().flat_map(|device| &device.rows)
}

/// What ran where and how it ended, and whether that is well.
fn describe_launches(run: &Run, summary: &Summary) -> Option<(String, bool)> {
    let kernels: BTreeSet<&str> = rows(summary).map(|row| row.kernel.as_str()).collect();
    if kernels.is_empty() {
        return None;
    }
    let families = families(summary);
    let one_family = families.len() == 1;
    let families_text = match families.len() {
        0 => String::new(),
        1..=3 => format!(" of {}", list_text(&families.into_iter().collect::<Vec<_>>())),
        many => format!(" of {many} families"),
    };
    let used = summary.devices.iter().filter(|device| !device.rows.is_empty());
    let labels: Vec<String> = used.map(|device| device.label.clone()).collect();
    let trouble = describe_trouble(summary);
    let ended = if trouble.is_empty() {
        "every launch finished, and no output was wrong".to_owned()
    } else {
        list_text(&trouble)
    };
    let kernels = write_count(kernels.len(), "kernel", "kernels");
    // Those that ran for themselves too are counted once.
    let kernels_of = |for_widths| {
        let measurements = run.measurements.iter();
        let some = measurements.filter(move |measurement| measurement.for_widths == for_widths);
        some.map(|measurement| measurement.kernel.as_str())
    };
    let asked: BTreeSet<&str> = kernels_of(false).collect();
    let beside: BTreeSet<&str> =
        kernels_of(true).filter(|kernel| !asked.contains(kernel)).collect();
    let beside = match beside.len() {
        0 => String::new(),
        count => format!(
            "; {} counted beside them, to compare widths",
            write_count(count, "kernel was", "kernels were")
        ),
    };
    // Simulators give none, nor does machine code that is executed without its hardware.
    let untimed = if run.devices.iter().any(|device| device.gives().times) {
        ""
    } else {
        "; nothing was timed, since no device that ran gives times"
    };
    let labels = list_text(&labels);
    let varied = rows(summary).filter(|_| one_family).map(|row| &row.parameters);
    let varied = varied_text(varied);
    let sentence =
        format!("{kernels}{families_text} ran on {labels}{varied}: {ended}{beside}{untimed}.");
    Some((sentence, trouble.is_empty()))
}

/// The families of a run's kernels.
fn families(summary: &Summary) -> BTreeSet<String> {
    let all = rows(summary).map(|row| family(&row.kernel).to_owned());
    all.filter(|family| !family.is_empty()).collect()
}

/// What names of launches on one device leave out: parameters that do not tell them apart.
struct LaunchNames<'a>(Vec<&'a str>);

impl<'a> LaunchNames<'a> {
    fn of_device(device: &'a DeviceSummary) -> Self {
        let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in device.rows.iter().flat_map(|other| &other.parameters) {
            values.entry(name).or_default().insert(value.to_string());
        }
        let same = values.into_iter().filter(|(_, values)| values.len() == 1);
        Self(same.map(|(name, _)| name).collect())
    }

    /// A kernel's short name, with the parameters that tell its launches on this device apart.
    fn name(&self, row: &SummaryRow) -> String {
        let Self(same) = self;
        // The values of a form are words that need no name before them.
        let form = row.parameters.get(FORM).filter(|_| !same.contains(&FORM));
        let without: Vec<&str> = same.iter().copied().chain([FORM]).collect();
        let parts: Vec<String> = form
            .map(ToString::to_string)
            .into_iter()
            .chain([parameters_text(&row.parameters, &without)])
            .filter(|part| !part.is_empty())
            .collect();
        let kernel = short_name(&row.kernel);
        if parts.is_empty() {
            kernel.to_owned()
        } else {
            format!("{kernel} ({})", parts.join(", "))
        }
    }
}

/// The ratios of a device that differ from 1 for certain.
fn find_certain_ratios(
    device: &DeviceSummary,
) -> impl Iterator<Item = (&SummaryRow, &PairedRatio)> {
    device.rows.iter().filter_map(|row| match &row.time_ratio {
        TimeRatio::Measured(ratio) if ratio.verdict() == RatioVerdict::Different => {
            Some((row, ratio))
        }
        _ => None,
    })
}

/// The largest ratio of times on a device that differs from 1 for certain, of the most usual launches where these show
/// anything.
fn find_largest_ratio(device: &DeviceSummary) -> Option<(&SummaryRow, &PairedRatio)> {
    let size = |ratio: &PairedRatio| ratio.median.ln().abs();
    let largest = |most_unusual: usize| {
        find_certain_ratios(device)
            .filter(|(row, _)| row.unusual <= most_unusual)
            .max_by(|a, b| size(a.1).total_cmp(&size(b.1)))
    };
    let least = find_certain_ratios(device).map(|(row, _)| row.unusual).min()?;
    largest(least).filter(|(_, ratio)| is_notable(ratio.median)).or_else(|| largest(usize::MAX))
}

/// The largest ratio of times on a device, beside what counting predicts.
fn describe_largest_ratio(run: &Run, device: &DeviceSummary) -> Option<String> {
    let (row, ratio) = find_largest_ratio(device)?;
    if !is_notable(ratio.median) {
        return Some(format!(
            "On {} no ratio of times is notable: of those that differ measurably from 1 none does by {} or more.",
            device.label,
            text::whole_percent(Ratio(NOTABLE))
        ));
    }
    let interval = ratio.interval.map_or(String::new(), |interval| {
        format!(" (99 % interval {} to {})", text::ratio(interval.low), text::ratio(interval.high))
    });
    let counting = row.time_ratio_predicted.map_or(String::new(), |predicted| {
        let all = describe_predictions(device, row).unwrap_or_default();
        format!("; counting predicts {}{all}", text::ratio(predicted))
    });
    let baseline = row.baseline.as_deref().map_or("its baseline", short_name);
    Some(format!(
        "On {} {} takes {} times as long as {baseline}{interval}{counting}.",
        device_label(run, &device.device),
        LaunchNames::of_device(device).name(row),
        text::ratio(ratio.median)
    ))
}

/// That a device's ratios were measured, and none is other than 1 for certain.
fn describe_no_ratio(device: &DeviceSummary) -> Option<String> {
    let measured = device.rows.iter().filter_map(|row| match &row.time_ratio {
        TimeRatio::Measured(ratio) => Some(ratio.verdict()),
        _ => None,
    });
    let verdicts: Vec<RatioVerdict> = measured.collect();
    if verdicts.is_empty() {
        return None;
    }
    let ratios = write_count(verdicts.len(), "ratio of times was", "ratios of times were");
    let few = verdicts.iter().filter(|verdict| **verdict == RatioVerdict::TooFewPairs).count();
    let why = match few {
        0 => "none differs measurably from 1".to_owned(),
        few if few == verdicts.len() => {
            "there are too few pairs of samples to tell any from 1".to_owned()
        }
        few => format!("none differs measurably from 1, {few} for want of pairs of samples"),
    };
    Some(format!("On {} {ratios} measured; {why}.", device.label))
}

/// Whose work the compiler removed.
fn describe_removed_work(device: &DeviceSummary) -> Option<String> {
    let names = LaunchNames::of_device(device);
    let removed = device.rows.iter().filter(|row| row.plausibility.is_removed());
    let gone: BTreeSet<String> = removed.map(|row| names.name(row)).collect();
    if gone.is_empty() {
        return None;
    }
    let count = write_count(gone.len(), "launch", "launches");
    let ratios = if gone.len() == 1 { "its ratio is" } else { "their ratios are" };
    let names: Vec<String> = gone.into_iter().collect();
    Some(format!(
        "On {} the compiler removed work from {count}, {}: {ratios} withheld.",
        device.label,
        list_text(&names)
    ))
}

/// How many ratios counting predicts, as the end of a sentence that is about `subject`; nothing for a single one.
fn describe_predictions(device: &DeviceSummary, subject: &SummaryRow) -> Option<String> {
    let pairs: Vec<(&SummaryRow, &PairedRatio, f64)> = find_certain_ratios(device)
        .filter_map(|(row, ratio)| Some((row, ratio, row.time_ratio_predicted?)))
        .collect();
    let off = |(_, ratio, predicted): &(&SummaryRow, &PairedRatio, f64)| {
        (predicted / ratio.median - 1.0).abs()
    };
    // Half as much is as far off as twice as much.
    let factor = |(_, ratio, predicted): &(&SummaryRow, &PairedRatio, f64)| {
        (predicted / ratio.median).ln().abs()
    };
    let worst = pairs.iter().max_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let all = pairs.len();
    if all < 2 {
        return None;
    }
    if off(worst) <= 0.1 {
        let most = Ratio((off(worst) * 100.0).ceil().max(1.0) / 100.0);
        return Some(format!(", and is within {} of all {all} ratios", text::whole_percent(most)));
    }
    let near = pairs.iter().filter(|pair| off(pair) <= 0.1).count();
    let (row, ratio, predicted) = worst;
    let furthest = if std::ptr::eq(*row, subject) {
        String::new()
    } else {
        format!(
            ", furthest off for {}: {} predicted, {} measured",
            LaunchNames::of_device(device).name(row),
            text::ratio(*predicted),
            text::ratio(ratio.median)
        )
    };
    Some(format!(
        "; counting is within a tenth for {near} of {all} ratios that differ measurably from 1{furthest}"
    ))
}

/// Whether devices count what the simulator counts.
fn describe_agreement(run: &Run) -> Option<String> {
    let all = agreements(run);
    if all.is_empty() {
        return None;
    }
    let blocks = all.iter().map(|row| row.agreement.blocks_compared).sum();
    let blocks = write_count(blocks, "block", "blocks");
    let differing = all.iter().filter(|row| !row.agreement.differences.is_empty()).count();
    let launches = write_count(all.len(), "launch", "launches");
    Some(if differing == 0 {
        format!("Counts equal the simulator's in all {blocks} of {launches}.")
    } else {
        format!("Counts of {differing} of {launches} differ from the simulator's.")
    })
}

/// Every ratio that counting misses by more than its interval, by what the record says of why: those of which it
/// says something first, then by the ratio that is furthest off.
pub fn misses(run: &Run, summary: &Summary) -> Vec<MissGroup> {
    let mut found: Vec<(Miss, Vec<String>)> = Vec::new();
    let launches = Launches::from_run(run);
    for device in &summary.devices {
        let mut rows = DeviceRows::new(device);
        for (row, ratio) in find_certain_ratios(device) {
            let (Some(interval), Some(predicted)) = (ratio.interval, row.time_ratio_predicted)
            else {
                continue;
            };
            if (interval.low..=interval.high).contains(&predicted) {
                continue;
            }
            let baseline = rows.find_baseline(row);
            let with_launch = with_launch(run, device, baseline, predicted);
            let miss = Miss {
                label: device.label.clone(),
                kernel: row.kernel.clone(),
                parameters: row.parameters.clone(),
                measured: *ratio,
                predicted,
                predicted_with_launch: with_launch.as_ref().map(|(with, _)| *with),
            };
            let launch = with_launch.map(|(_, reason)| reason);
            let measured = launches.find_same(&row.kernel, &row.parameters).iter().copied();
            let here: Vec<&Measurement> =
                measured.filter(|measurement| measurement.device == device.device).collect();
            let faster = predicted > ratio.median;
            let others = reasons(run, device, (row, baseline), &here, faster);
            found.push((miss, launch.into_iter().chain(others).collect()));
        }
    }
    found.sort_by(|(a, _), (b, _)| b.factor().ln().abs().total_cmp(&a.factor().ln().abs()));
    let mut groups: IndexMap<Vec<String>, Vec<Miss>> = IndexMap::new();
    for (miss, reasons) in found {
        groups.entry(reasons).or_default().push(miss);
    }
    let unknown = groups.shift_remove(&Vec::new());
    let unknown = unknown.map(|misses| MissGroup { reasons: vec![NO_REASON.to_owned()], misses });
    let known = groups.into_iter().map(|(reasons, misses)| MissGroup { reasons, misses });
    known.chain(unknown).collect()
}

/// What is said where the record does not say why.
const NO_REASON: &str = "The record does not say why. Counting gives every operation the same weight: latencies, memory, and what the \
     compiler makes of the source, are not in it. Hardware counters of an NVIDIA GPU, where they are asked for, say what was executed.";

/// What the record knows of why a time is not what its operations predict, or its baseline's is not; nothing where
/// it knows nothing. `measured` are its measurements on the device; `faster` says that it took less than predicted.
fn reasons(
    run: &Run,
    summary: &DeviceSummary,
    (row, baseline): (&SummaryRow, Option<&SummaryRow>),
    measured: &[&Measurement],
    faster: bool,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let measurement = measured.first().copied();
    let means = measurement.and_then(|measurement| machine::threads_means(&measurement.counters));
    if let (Some([threads, _]), Some(lanes)) = (means, row.active_lanes_mean)
        && (threads / lanes - 1.0).abs() > LANES_APART
    {
        reasons.push(format!(
            "In machine code {} lanes are active, in the source {}: the compiler changed the flow.",
            text::lanes(threads),
            text::lanes(lanes)
        ));
    }
    let changes = measurement.map(compiler_changes).unwrap_or_default();
    if !changes.is_empty() {
        reasons.push(format!("The compiler changed the source: {}.", changes.join("; ")));
    }
    reasons.extend(more_dispatches(run, row, measured, faster));
    reasons.extend(memory_bound(row, baseline));
    let flagged = [
        (Tag::DiffersFromSimulator, "The device ran other executions than the simulator."),
        (Tag::WidthNotKnownWhenTimed, "The timed module may have run at another width."),
        (Tag::LoopCutOff, "The device left a loop early."),
    ];
    for (tag, sentence) in flagged {
        if flag::has(&row.flags, &tag) {
            reasons.push(sentence.to_owned());
        }
    }
    if device(run, &summary.device).is_some_and(|device| device.cpu_driver) {
        reasons.push(
            "The device is a processor, which runs other programs too, and whose driver takes other \
             instructions for full subgroups than for partial ones."
                .to_owned(),
        );
    }
    reasons
}

/// Which of two is more dispatches: where the slower than predicted is, that is a reason.
fn more_dispatches(
    run: &Run,
    row: &SummaryRow,
    measured: &[&Measurement],
    faster: bool,
) -> Option<String> {
    let dispatches = |timed: Option<&Measurement>| {
        let dispatches = &timed?.dispatches;
        Some(dispatches.iter().filter(|dispatch| !dispatch.setup).count())
    };
    let timed = measured.iter().copied().find(|measurement| measurement.time.is_some());
    let kernel_dispatches = dispatches(timed)?;
    let baseline = row.baseline.as_deref()?;
    let device = &timed?.device;
    let other = dispatches(run.measurements.iter().find(|measurement| {
        measurement.kernel == baseline
            && measurement.device == *device
            && measurement.time.is_some()
    }))?;
    let cost = "each waits for the one before it, and leaves the device idle where it is small";
    match (faster, kernel_dispatches > other, other > kernel_dispatches) {
        (false, true, _) => Some(format!(
            "The kernel is {kernel_dispatches} dispatches, and its baseline {other}: {cost}."
        )),
        (true, _, true) => Some(format!(
            "The baseline is {other} dispatches, and the kernel {kernel_dispatches}: {cost}."
        )),
        _ => None,
    }
}

/// What counting predicts where a part of the baseline's time is that of a launch with nothing to do, and that sentence;
/// nothing where this part is not known or is small.
fn with_launch(
    run: &Run,
    summary: &DeviceSummary,
    baseline: Option<&SummaryRow>,
    predicted: f64,
) -> Option<(f64, String)> {
    let launch = device(run, &summary.device)?.launch_ns?;
    let baseline = baseline?.time?.median;
    let part = Ratio((launch.0 / baseline.0).min(1.0));
    if part.0 < LAUNCH_MIN {
        return None;
    }
    let reason = format!(
        "A launch of next to no work takes {} on {}. With that in both times, and operations in the rest, counting predicts \
         what stands under “with the launch”. What is then still off, the record does not explain.",
        launch, summary.label
    );
    Some((part.0 + (1.0 - part.0) * predicted, reason))
}

/// The rows of a device by kernel.
struct DeviceRows<'a>(BTreeMap<&'a str, Sharing<'a, &'a SummaryRow>>);

impl<'a> DeviceRows<'a> {
    fn new(device: &'a DeviceSummary) -> Self {
        let mut rows: BTreeMap<&str, Sharing<'a, &'a SummaryRow>> = BTreeMap::new();
        for (place, row) in device.rows.iter().enumerate() {
            rows.entry(&row.kernel).or_default().add(place, &row.parameters, row);
        }
        Self(rows)
    }

    /// The row of a launch's baseline.
    fn find_baseline(&mut self, row: &SummaryRow) -> Option<&'a SummaryRow> {
        let of_kernel = self.0.get_mut(row.baseline.as_deref()?)?;
        of_kernel.find(&row.parameters).first().copied()
    }
}

/// Where memory decides the time of a launch, or of its baseline.
fn memory_bound(row: &SummaryRow, baseline: Option<&SummaryRow>) -> Option<String> {
    let share = |row: &SummaryRow| row.bandwidth.and_then(|found| found.copy_rate);
    let is_bound = |share: &Ratio| share.0 > MEMORY_BOUND;
    if let Some(share) = share(row).filter(is_bound) {
        return Some(format!(
            "Memory is used at {} of the rate of a copy: it decides the time, and not the operations.",
            text::whole_percent(share)
        ));
    }
    let of_baseline = baseline.and_then(share).filter(is_bound)?;
    Some(format!(
        "The baseline uses memory at {} of the rate of a copy: that decides its time, and not its operations.",
        text::whole_percent(of_baseline)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::summary;
    use crate::fixtures;
    use crate::record::{Device, DeviceKind, Status};

    #[test]
    fn a_run_is_told_in_three_to_six_sentences() {
        let run = fixtures::compared_run();
        let told = overview(&run, &summary(&run));
        assert!((3..=SENTENCES_MAX).contains(&told.len()), "{told:#?}");
        insta::assert_snapshot!(told.join("\n"), @r#"
    6 kernels of five_patterns ran on NVIDIA H200 (Vulkan), llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan), sim:8, sim:32 and sim:64 (varied: form sealed and published; n from 65,536 to 1,048,576): 1 launch did not finish.
    On NVIDIA H200 (Vulkan) branch_by_lane (published) takes 1.996 times as long as uniform (99 % interval 1.996 to 1.996); counting predicts 1.996, and is within 1 % of all 5 ratios.
    On NVIDIA H200 (Vulkan) the compiler removed work from 3 launches, branch_by_quad (published), early_exit (published) and indirect_branch (published): their ratios are withheld.
    On llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan) indirect_branch (published) takes 5.280 times as long as uniform (99 % interval 5.280 to 5.280); counting predicts 1.796; counting is within a tenth for 5 of 8 ratios that differ measurably from 1.
    64 lanes cost as many lane slots as 32, to within 5 %, for all 5 kernels with these inputs.
    Counts equal the simulator's in all 30 blocks of 10 launches.
    "#);
        let mut nothing = run;
        nothing.measurements.clear();
        assert!(overview(&nothing, &summary(&nothing)).is_empty());
    }

    #[test]
    fn where_no_device_gives_times_that_is_told() {
        let is_told = |change: &dyn Fn(&mut Run)| {
            let mut run = fixtures::compared_run();
            run.measurements.retain(|measured| measured.status == Status::Ok);
            change(&mut run);
            let (told, well) = describe_launches(&run, &summary(&run)).expect("launches");
            assert!(well, "{told}");
            told.ends_with("wrong; nothing was timed, since no device that ran gives times.")
        };
        let keep_untimed = |run: &mut Run| {
            run.devices.retain(Device::is_emulated);
            let ids: Vec<String> = run.devices.iter().map(|device| device.id.clone()).collect();
            run.measurements.retain(|measured| ids.contains(&measured.device));
        };
        assert!(!is_told(&|_| {}));
        assert!(is_told(&keep_untimed), "simulators alone");
        // As where nobody names a device and there is no GPU: machine code is executed beside them.
        assert!(is_told(&|run| {
            let gpu = &mut run.devices[0];
            (gpu.kind, gpu.timestamp_quantum_ns) = (DeviceKind::Radv, None);
            keep_untimed(run);
            assert!(run.devices.iter().any(|device| !device.is_simulator()));
        }));
        // A GPU whose driver takes no timestamps.
        assert!(is_told(&|run| {
            for device in &mut run.devices {
                device.timestamp_quantum_ns = None;
            }
        }));
    }

    #[test]
    fn what_counting_misses_is_told_with_what_is_known() {
        let run = fixtures::compared_run();
        let table = summary(&run);
        let found = misses(&run, &table);
        let mut shown = Vec::new();
        for MissGroup { reasons, misses } in &found {
            assert!(!reasons.is_empty());
            shown.push(reasons.join(" "));
            let off = |miss: &Miss| miss.factor().ln().abs();
            assert!(misses.windows(2).all(|pair| off(&pair[0]) >= off(&pair[1])));
            for Miss { label, kernel, predicted, measured, .. } in misses {
                let interval = measured.interval.expect("an interval");
                assert!(!(interval.low..=interval.high).contains(predicted));
                shown.push(format!(
                    "- {label}, {kernel}: {:.2}, predicted {predicted:.2}",
                    measured.median
                ));
            }
        }
        let told: BTreeSet<&Vec<String>> = found.iter().map(|group| &group.reasons).collect();
        assert_eq!(told.len(), found.len(), "what is known is said once");
        insta::assert_snapshot!(shown.join("\n"), @r#"
    The device is a processor, which runs other programs too, and whose driver takes other instructions for full subgroups than for partial ones.
    - llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan), five_patterns/indirect_branch: 5.28, predicted 1.80
    - llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan), five_patterns/early_exit: 5.28, predicted 1.99
    - llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan), five_patterns/branch_by_quad: 5.28, predicted 2.00
    "#);
    }

    #[test]
    fn what_a_launch_itself_costs_is_taken_off_both_times() {
        let mut run = fixtures::compared_run();
        let near =
            |run: &Run| misses(run, &summary(run)).into_iter().flat_map(|group| group.misses);
        assert!(near(&run).all(|miss| miss.predicted_with_launch.is_none()));
        let table = summary(&run);
        let label = near(&run).next().expect("a miss").label;
        let timed = table.devices.iter().find(|device| device.label == label);
        let timed = timed.expect("a device that is missed");
        let baseline = timed.rows.iter().find(|row| row.time_ratio == TimeRatio::Baseline);
        let baseline = baseline.and_then(|row| row.time).expect("a baseline's time").median;
        let cost = |share: f64| Some(Nanoseconds(baseline.0 * share));
        for device in &mut run.devices {
            device.launch_ns = cost(0.25);
        }
        let found: Vec<Miss> = near(&run).filter(|miss| miss.label == timed.label).collect();
        assert!(!found.is_empty());
        for miss in found {
            let with = miss.predicted_with_launch.expect("a quarter of the baseline's time");
            assert!((with - (0.25 + 0.75 * miss.predicted)).abs() < 1e-9, "{miss:?}");
        }
        for device in &mut run.devices {
            device.launch_ns = cost(0.01);
        }
        assert!(near(&run).all(|miss| miss.predicted_with_launch.is_none()));
    }
}
