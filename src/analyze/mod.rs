//! Records made into typed tables: what the measurements say, computed again each time.
//!
//! Input: [`Run`]s as loaded or as they grow; what they hold of their kernels is all that is known
//! of these. Output: tables whose cells are numbers. No I/O, no formatting beyond
//! names, and nothing derived here is ever written back into a record.
//!
//! # Words
//!
//! A kernel's **mean active lanes** is Σ operations × lanes / Σ operations × executions over its blocks, all dispatches
//! together; its **efficiency** that over the width. Its **subgroup operations** are Σ operations × executions. Its
//! **size** is the parameter [`SIZE`]; two measurements at different sizes still have comparable
//! means, but not comparable counts or times.
//!
//! Bare `f64`s are means in lanes, or dimensionless ratios, as each field says.

mod advice;
mod agreement;
mod bandwidth;
mod compare;
mod curves;
mod fail_on;
mod findings;
mod latencies;
mod lines;
pub mod machine;
mod merge;
mod order;
mod out_of_range;
mod parts;
mod plausibility;
mod predictions;
mod profile;
mod side_by_side;
mod sizes;
mod sorting;
mod speedups;
mod summary;
#[cfg(test)]
mod tests;
mod widths;

use std::collections::BTreeMap;

pub use advice::{Advice, GAIN_SHARE_MIN, Rule, advice, advice_of};
pub use agreement::{
    Agreement, AgreementRow, Difference, NotComparable, Quantity, agreement, agreements,
};
pub use bandwidth::{Bandwidth, bandwidth};
pub use compare::{Comparison, ComparisonRow, NotCompared, compare};
pub use curves::{CurveSeries, CurveTable, curves};
pub use fail_on::{Condition, ConditionError, SHARE_MIN, Violation};
pub use findings::{Finding, findings};
pub use latencies::{Latencies, LatencyRow, Load, latencies};
pub use lines::{BlockCell, LineCell, SourceColumn, SourceLine, SourceView, lines, lines_of_most};
pub use merge::{MergeError, merge};
pub use out_of_range::{UndefinedRow, undefined};
pub use parts::{FORM, SummaryPart};
pub use plausibility::{MARGIN_RATIO, Plausibility, plausibility};
pub use predictions::{PredictionRow, predictions};
pub use profile::{DeviceProfile, LineProfile, Profile, profiles};
pub use side_by_side::{
    Change, ChangeKind, Executed, Missing, SideBySide, SideRow, TIMES_APART, side_by_side,
};
pub use sizes::{SizeSeries, SizeSweep, size_sweeps};
pub use sorting::{
    BeforeAfter, BeforeAfterRow, Crossover, CrossoverRow, CrossoverTable, MODEL_LEGEND, ModelRow,
    ModelTable, ORDER_BYTES_PER_ELEMENT, SORT_BYTES_PER_ELEMENT, SpeedCurve, SpeedPanel,
    SpeedSheet, Stage, StageSheet, StageStack, arms_run, arms_run_unequal, before_after, crossover,
    crossover_sentences, crossover_tables, model, model_tables, speed_curves, speed_sheets, stages,
};
pub use speedups::{SpeedupRow, Speedups, speedups};
pub use summary::{DeviceSummary, Summary, SummaryRow, TimeRatio, TimeSummary, summary};
pub use widths::{WidthPoint, WidthSeries, WidthSweep, width_sweep};

pub use crate::statistics::{PairedRatio, Verdict};

use crate::{
    record::{Block, Device, DeviceKind, Measurement, Published, Run, SampleState, Value},
    statistics,
    units::{Nanoseconds, Width},
};

/// The parameter that holds a launch's element count.
pub const SIZE: &str = "n";

/// Sums over all blocks of all dispatches of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Σ operations × executions.
    pub subgroup_operations: u128,
    /// Σ operations × active lanes.
    pub lane_operations: u128,
}

impl Work {
    /// Sums over the blocks of `measurement`, without those of dispatches that only set up.
    pub fn of(measurement: &Measurement) -> Self {
        let worked = measurement.dispatches.iter().filter(|dispatch| !dispatch.setup);
        worked.flat_map(|dispatch| &dispatch.blocks).fold(Self::default(), |sum, block| Self {
            subgroup_operations: sum.subgroup_operations
                + u128::from(block.operations) * u128::from(block.executions.0),
            lane_operations: sum.lane_operations
                + u128::from(block.operations) * u128::from(block.lanes.0),
        })
    }

    /// Returns the mean active lanes; nothing where nothing was issued.
    pub fn active_lanes_mean(self) -> Option<f64> {
        ratio(self.lane_operations, self.subgroup_operations)
    }
}

/// Divides two sums; nothing where the divisor is zero.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts is shown to a few digits")]
fn ratio(dividend: u128, divisor: u128) -> Option<f64> {
    (divisor != 0).then(|| dividend as f64 / divisor as f64)
}

/// Returns every block of every dispatch.
fn blocks(measurement: &Measurement) -> impl Iterator<Item = &Block> {
    measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks)
}

/// Returns the last part of a kernel's name, or of a shader's path.
pub fn short_name(kernel: &str) -> &str {
    kernel.rsplit_once('/').map_or(kernel, |(_, name)| name)
}

/// Returns all but the last part of a kernel's name; empty where it has one part.
pub fn family(kernel: &str) -> &str {
    kernel.rsplit_once('/').map_or("", |(family, _)| family)
}

/// Writes parameters as `form=sealed, n=65536`, leaving out those named in `without`.
pub fn parameters_text(parameters: &BTreeMap<String, Value>, without: &[&str]) -> String {
    let parts: Vec<String> = parameters
        .iter()
        .filter(|(name, _)| !without.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    parts.join(", ")
}

/// Names a device for people: what drivers call it, and the interface where it is hardware's.
///
/// Where several devices of `run` would get the same name, each gets its id too.
pub fn device_label(run: &Run, id: &str) -> String {
    let Some(device) = run.devices.iter().find(|device| device.id == id) else {
        return id.to_owned();
    };
    let label = plain_label(device);
    let alike = run.devices.iter().filter(|other| plain_label(other) == label).count();
    if alike > 1 { format!("{label}, {id}") } else { label }
}

/// Names a device without regard to others.
fn plain_label(device: &Device) -> String {
    match device.kind {
        DeviceKind::Simulator | DeviceKind::Radv => device.id.clone(),
        DeviceKind::Wgpu | DeviceKind::Cuda => {
            format!("{} ({})", device.name, device.backend.name())
        }
    }
}

/// Returns the kernel that `kernel` is compared with.
fn baseline<'a>(run: &'a Run, kernel: &str) -> Option<&'a str> {
    run.kernels.get(kernel)?.baseline.as_deref()
}

/// Returns the figure published for `kernel` where it is comparable at `width`.
fn published<'a>(run: &'a Run, kernel: &str, width: Option<Width>) -> Option<&'a Published> {
    let published = run.kernels.get(kernel)?.published.as_ref();
    published.filter(|figure| figure.subgroup_width.is_none() || figure.subgroup_width == width)
}

/// Returns the device of `run` with this id.
fn device<'a>(run: &'a Run, id: &str) -> Option<&'a Device> {
    run.devices.iter().find(|device| device.id == id)
}

/// Whether a measurement was made by the simulator.
fn is_simulated(run: &Run, measurement: &Measurement) -> bool {
    device(run, &measurement.device).is_some_and(|device| device.kind == DeviceKind::Simulator)
}

/// Returns the time of one launch in each round, in ticks: the median of the round's `ok` samples.
fn ticks_by_round(measurement: &Measurement) -> BTreeMap<u32, f64> {
    let Some(time) = &measurement.time else { return BTreeMap::new() };
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in time.samples.iter().filter(|sample| sample.state == SampleState::Ok) {
        #[expect(clippy::cast_precision_loss, reason = "ticks of one pass, far below 2^53")]
        let ticks = sample.ticks_end.saturating_sub(sample.ticks_begin) as f64;
        let launches = f64::from(time.dispatches_per_sample.max(1));
        rounds.entry(sample.round).or_default().push(ticks / launches);
    }
    rounds
        .into_iter()
        .filter_map(|(round, ticks)| Some((round, statistics::median(&ticks)?)))
        .collect()
}

/// Returns every `ok` sample's time of one launch in nanoseconds; empty without a tick's length.
fn times_ns(run: &Run, measurement: &Measurement) -> Vec<f64> {
    let period = device(run, &measurement.device).and_then(|device| device.timestamp_period_ns);
    let (Some(period), Some(time)) = (period, &measurement.time) else { return Vec::new() };
    let launches = f64::from(time.dispatches_per_sample.max(1));
    time.samples
        .iter()
        .filter(|sample| sample.state == SampleState::Ok)
        .map(|sample| {
            #[expect(clippy::cast_precision_loss, reason = "ticks of one pass, far below 2^53")]
            let ticks = sample.ticks_end.saturating_sub(sample.ticks_begin) as f64;
            ticks * period / launches
        })
        .collect()
}

/// Returns the median time of one launch where the device was timed.
fn median_time(measurement: &Measurement) -> Option<Nanoseconds> {
    measurement.time.as_ref().map(|time| time.median_ns)
}
