//! The main table: a row for each kernel at each point of its parameters, by device.
//!
//! Input: a run. Output: [`Summary`]. Ratios are to the baseline kernel of the same
//! device at the same values of the parameters that both have.

use std::collections::BTreeMap;

use super::agreement::{agreement, differs_by_order};
use super::bandwidth::{Bandwidth, bandwidth};
use super::counts::{Work, active_lanes_mean, active_lanes_mean_expected, efficiency, ratio};
use super::machine::ExecutedCode;
use super::names::{
    Sharing, Simulated, device_label, find_published, find_published_speedup, is_simulated,
};
use super::order::order_rows;
use super::plausibility::{Plausibility, plausibility};
use super::rounds::{overlap, ticks_by_round};
use super::usual::Usual;
use super::width_costs::lane_slots;
use crate::{
    record::{
        Flag, Measurement, Output, PublishedFigure, PublishedSpeedup, Run, Status, Tag, Value, flag,
    },
    statistics::{PairedRatio, paired_ratio},
    units::{Nanoseconds, Ratio, Width},
};

/// The main table.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// A part for each device, in the order of use; devices without measurements have no rows.
    pub devices: Vec<DeviceSummary>,
}

/// The rows of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSummary {
    /// The device's id.
    pub device: String,
    /// Its name for people, distinct within the run.
    pub label: String,
    /// Whether it is the simulator.
    pub simulated: bool,
    /// The width that it runs, in lanes.
    pub width: Option<Width>,
    /// Whether the run has devices of other widths, with which lane slots compare and efficiency does not.
    pub beside_other_widths: bool,
    /// Its measurements in the order in which they finished, but for points added to a sweep, which
    /// stand where they belong.
    pub rows: Vec<SummaryRow>,
}

/// One measurement, with what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// In how many of them it differs from the usual launch.
    pub unusual: usize,
    /// How it ended.
    pub status: Status,
    /// Why it failed, or which outputs differ.
    pub error: Option<String>,
    /// Whether the outputs were right.
    pub output: Output,
    /// The width at which it was counted, in lanes.
    pub width: Option<Width>,
    /// Mean active lanes, measured.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes that the blocks' expectations give; `None` if none has one.
    pub active_lanes_mean_expected: Option<f64>,
    /// Mean active lanes on the simulator at the same width, where the run has it.
    pub active_lanes_mean_simulated: Option<f64>,
    /// A published figure that is comparable at this width.
    pub published: Option<PublishedFigure>,
    /// Mean active lanes over the width.
    pub efficiency: Option<Ratio>,
    /// Subgroup operations × width.
    pub lane_slots: Option<u128>,
    /// What its machine code came to, where that was executed without its hardware.
    pub executed: Option<ExecutedCode>,
    /// Times, where it was timed.
    pub time: Option<TimeSummary>,
    /// How fast memory was used, where the kernel says what it must move.
    pub bandwidth: Option<Bandwidth>,
    /// The kernel with which it is compared, by its full name, where that was measured too.
    pub baseline: Option<String>,
    /// The time over the baseline kernel's.
    pub time_ratio: TimeRatio,
    /// A published speed-up over the same baseline at the same size.
    pub published_speedup: Option<PublishedSpeedup>,
    /// The ratio that counting predicts: Σ operations × executions over the baseline kernel's.
    pub time_ratio_predicted: Option<f64>,
    /// What the multiply-adds say about the time.
    pub plausibility: Plausibility,
    /// Findings, the record's own first.
    pub flags: Vec<Flag>,
}

impl DeviceSummary {
    /// The same device with no rows.
    pub fn without_rows(&self) -> Self {
        let Self { device, label, simulated, width, beside_other_widths, rows: _ } = self;
        Self {
            device: device.clone(),
            label: label.clone(),
            simulated: *simulated,
            width: *width,
            beside_other_widths: *beside_other_widths,
            rows: Vec::new(),
        }
    }
}

impl SummaryRow {
    /// Whether what was counted contradicts the published figure: by more than a tenth, since machine
    /// code of the same kernels has up to 9 % more lanes than their source.
    pub fn published_is_contradicted(&self) -> bool {
        let published = self.published.as_ref().map(|published| published.active_lanes_mean);
        let pair = published.zip(self.active_lanes_mean);
        pair.is_some_and(|(published, counted)| (published / counted - 1.0).abs() > 0.1)
    }

    /// The ratio of times that was published, where what was measured contradicts it: by more than a tenth.
    pub fn published_ratio_contradicted(&self) -> Option<f64> {
        let (published, TimeRatio::Measured(measured)) =
            (self.published_speedup.as_ref()?, &self.time_ratio)
        else {
            return None;
        };
        let ratio = 1.0 / published.factor;
        let nearest = measured.interval.map_or(measured.median, |interval| {
            ratio.clamp(interval.low.min(interval.high), interval.high.max(interval.low))
        });
        ((ratio / nearest - 1.0).abs() > 0.1).then_some(ratio)
    }
}

/// Times of one launch, without the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeSummary {
    /// The median.
    pub median: Nanoseconds,
    /// Its 95 % interval, low and high.
    pub interval: [Nanoseconds; 2],
    /// The noise of the samples.
    pub noise: Ratio,
    /// Whether the stop rule was met.
    pub stop_rule_met: bool,
}

/// A kernel's time over its baseline's.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeRatio {
    /// There is no baseline, or one of the two was not timed.
    None,
    /// The kernel is the baseline.
    Baseline,
    /// Taken pair by pair within rounds.
    Measured(PairedRatio),
    /// There is a figure, but it would mislead: [`Tag::WorkRemovedByCompiler`],
    /// [`Tag::BaselineWorkRemoved`] or, where no round has samples of both, [`Tag::NotInterleaved`].
    Withheld(Tag),
}

/// Makes the main table of `run`.
pub fn summary(run: &Run) -> Summary {
    let mut finished = Finished::from_run(run);
    let mut rows = |device: &str| -> Vec<SummaryRow> {
        let measured = run
            .measurements
            .iter()
            .filter(|measurement| measurement.device == device && !measurement.for_widths);
        measured.map(|measurement| row(run, measurement, &mut finished)).collect()
    };
    let devices = run
        .devices
        .iter()
        .map(|device| DeviceSummary {
            device: device.id.clone(),
            label: device_label(run, &device.id),
            simulated: device.is_simulator(),
            width: device.subgroup_width_run,
            beside_other_widths: run
                .devices
                .iter()
                .any(|other| other.subgroup_width_run != device.subgroup_width_run),
            rows: order_rows(rows(&device.id), |row| (&row.kernel, &row.parameters)),
        })
        .collect();
    Summary { devices }
}

/// The launches of a run that ended well, by what rows are held against.
struct Finished<'a> {
    usual: Usual<'a>,
    simulated: Simulated<'a>,
    /// By kernel and device.
    launches: BTreeMap<(&'a str, &'a str), Sharing<'a, &'a Measurement>>,
}

impl<'a> Finished<'a> {
    fn from_run(run: &'a Run) -> Self {
        let mut launches: BTreeMap<_, Sharing<'a, &'a Measurement>> = BTreeMap::new();
        for (place, measurement) in run.measurements.iter().enumerate() {
            if measurement.status == Status::Ok {
                let key = (measurement.kernel.as_str(), measurement.device.as_str());
                let alike = launches.entry(key).or_default();
                alike.add(place, &measurement.parameters, measurement);
            }
        }
        Self { usual: Usual::from_run(run), simulated: Simulated::from_run(run), launches }
    }

    /// Finds the baseline of `measurement`, which is called `name`: same device, same values of the parameters of
    /// both. Of a baseline that was measured several times the one beside which `measurement` was timed.
    fn baseline(&mut self, name: &'a str, measurement: &'a Measurement) -> Option<&'a Measurement> {
        let key = (name, measurement.device.as_str());
        let all = self.launches.get_mut(&key)?.find(&measurement.parameters);
        // What was not timed was timed beside nothing.
        let timed = measurement.time.is_some() && all.len() > 1;
        let mut beside = all.iter().filter(|_| timed);
        let beside = beside.find(|other| paired_times(measurement, other).is_some());
        beside.or(all.first()).copied()
    }
}

/// Makes the row of one measurement.
fn row<'a>(run: &'a Run, measurement: &'a Measurement, finished: &mut Finished<'a>) -> SummaryRow {
    let active = active_lanes_mean(measurement);
    let width = measurement.subgroup_width;
    let simulated =
        finished.simulated.find(measurement).filter(|_| !is_simulated(run, measurement));
    let baseline = super::names::baseline(run, &measurement.kernel);
    let base = baseline.and_then(|name| finished.baseline(name, measurement));
    let judged = plausibility(run, measurement);
    let mut row = SummaryRow {
        kernel: measurement.kernel.clone(),
        parameters: measurement.parameters.clone(),
        unusual: finished.usual.count(&measurement.parameters),
        status: measurement.status,
        error: measurement.error.clone(),
        output: measurement.output,
        width,
        active_lanes_mean: active,
        active_lanes_mean_expected: active_lanes_mean_expected(measurement),
        active_lanes_mean_simulated: simulated.and_then(active_lanes_mean),
        published: find_published(run, &measurement.kernel, width).cloned(),
        published_speedup: find_published_speedup(run, measurement).cloned(),
        efficiency: efficiency(active, width),
        lane_slots: lane_slots(measurement),
        executed: ExecutedCode::new(run, measurement),
        time: measurement.time.as_ref().map(|time| TimeSummary {
            median: time.median_ns,
            interval: time.ci95_ns,
            noise: time.noise_ratio,
            stop_rule_met: time.stop_rule_met,
        }),
        bandwidth: bandwidth(run, measurement),
        baseline: base.map(|base| base.kernel.clone()),
        time_ratio: base.map_or(TimeRatio::None, |base| time_ratio(run, measurement, base)),
        time_ratio_predicted: base
            .filter(|base| base.subgroup_width == width)
            .filter(|_| Work::from_measurement(measurement).subgroup_operations > 0)
            .and_then(|base| {
                ratio(
                    Work::from_measurement(measurement).subgroup_operations,
                    Work::from_measurement(base).subgroup_operations,
                )
            }),
        plausibility: judged,
        flags: Vec::new(),
    };
    row.flags = flags(run, measurement, &row, simulated);
    if gave_up(run, measurement) {
        row.flags.push(Tag::WaitsGivenUp.into());
    }
    row
}

/// Divides two kernels' times round by round, unless the figure would mislead.
fn time_ratio(run: &Run, measurement: &Measurement, base: &Measurement) -> TimeRatio {
    if measurement.kernel == base.kernel {
        return TimeRatio::Baseline;
    }
    if measurement.time.is_none() || base.time.is_none() {
        return TimeRatio::None;
    }
    if plausibility(run, measurement).is_removed() {
        return TimeRatio::Withheld(Tag::WorkRemovedByCompiler);
    }
    if plausibility(run, base).is_removed() {
        return TimeRatio::Withheld(Tag::BaselineWorkRemoved);
    }
    paired_times(measurement, base)
        .map_or(TimeRatio::Withheld(Tag::NotInterleaved), TimeRatio::Measured)
}

/// One launch's time over another's, pair by pair; `None` where they were not sampled side by side.
pub fn paired_times(dividend: &Measurement, divisor: &Measurement) -> Option<PairedRatio> {
    let divisors = ticks_by_round(divisor);
    let pairs: Vec<(f64, f64)> = ticks_by_round(dividend)
        .into_iter()
        .filter_map(|(round, dividend)| Some((dividend, *divisors.get(&round)?)))
        .collect();
    // Rounds of different groups may bear the same numbers: side by side means overlapping in time.
    paired_ratio(&pairs).filter(|_| overlap(dividend, divisor))
}

/// Collects the findings of a row.
/// Whether right outputs say that something that waits gave up at its limit.
fn gave_up(run: &Run, measurement: &Measurement) -> bool {
    let has = |wanted: &BTreeMap<String, Value>| {
        wanted.iter().all(|(name, value)| measurement.parameters.get(name) == Some(value))
    };
    let note = run.kernels.get(&measurement.kernel);
    measurement.status == Status::Ok
        && measurement.output == Output::Verified
        && !flag::has(&measurement.flags, &Tag::WaitsGivenUp)
        && note.is_some_and(|note| note.gives_up.iter().any(has))
}

fn flags(
    run: &Run,
    measurement: &Measurement,
    row: &SummaryRow,
    simulated: Option<&Measurement>,
) -> Vec<Flag> {
    let mut flags = measurement.flags.clone();
    let mut add = |found: bool, tag: Tag| {
        if found && !flag::has(&flags, &tag) {
            flags.push(tag.into());
        }
    };
    add(measurement.status == Status::Failed, Tag::Failed);
    match measurement.output {
        Output::Mismatch if differs_by_order(run, measurement) => {
            add(true, Tag::OutputDependsOnOrder);
        }
        Output::Mismatch => add(true, Tag::OutputMismatch),
        Output::Unchecked => add(measurement.status == Status::Ok, Tag::OutputUnchecked),
        Output::Verified => {}
    }
    add(row.plausibility.is_removed(), Tag::WorkRemovedByCompiler);
    if let TimeRatio::Withheld(reason) = &row.time_ratio {
        add(true, reason.clone());
    }
    add(row.time.is_some_and(|time| !time.stop_rule_met), Tag::StopRuleNotMet);
    add(
        simulated.is_some_and(|twin| {
            agreement(measurement, twin).is_ok_and(|found| !found.differences.is_empty())
        }),
        Tag::DiffersFromSimulator,
    );
    flags
}
