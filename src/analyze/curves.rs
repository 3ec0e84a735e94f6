//! Sweeps made into curves: what a parameter does to a time.
//!
//! Input: a run. Output: [`CurveTable`]s, one for each figure: the vote's speed-up against density, and
//! throughput against what a core holds, against workgroup size, against subgroups of a core, and
//! against stride, and attention's lanes along the sequence. All times compared in a curve were sampled side by side.

mod attention;
mod occupancy;
mod vote;

use std::collections::BTreeMap;

use super::names::device_label;
use super::rounds::{overlap, ticks_by_round};
use crate::record::{Measurement, Run, Value};
use crate::statistics;

/// A figure of curves.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveTable {
    /// A word for file names, such as `vote-speed-up`.
    pub name: String,
    /// The title.
    pub title: String,
    /// What to know when reading it.
    pub subtitle: String,
    /// The x axis's quantity with its unit.
    pub x_label: String,
    /// Whether the x axis is logarithmic.
    pub x_logarithmic: bool,
    /// The y axis's quantity with its unit.
    pub y_label: String,
    /// A value of y that gets a line through the whole plot.
    pub reference: Option<f64>,
    /// The curves, in the order of measurement.
    pub series: Vec<CurveSeries>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSeries {
    /// Its name.
    pub name: String,
    /// Whether it was measured, and not worked out or published.
    pub measured: bool,
    /// Its points by ascending x, in the units of the axes.
    pub points: Vec<(f64, f64)>,
}

/// Makes every figure that the run has points for.
pub fn curves(run: &Run) -> Vec<CurveTable> {
    let tables = [
        vote::speed_up(run),
        occupancy::residency(run),
        occupancy::workgroup_size(run),
        occupancy::latency_hiding(run),
        occupancy::strided(run),
    ];
    let tables = tables.into_iter().flatten().chain(attention::lanes(run));
    tables.filter(|table| !table.series.is_empty()).collect()
}

/// The timed measurements of a kernel.
fn timed<'a>(run: &'a Run, kernel: &'a str) -> impl Iterator<Item = &'a Measurement> {
    run.measurements.iter().filter(move |one| one.kernel == kernel && one.time.is_some())
}

/// A parameter that is a number.
#[expect(clippy::cast_precision_loss, reason = "parameters lie far below 2^53")]
fn number(measurement: &Measurement, name: &str) -> Option<f64> {
    match measurement.parameters.get(name)? {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Name(_) => None,
    }
}

/// The device's part of a curve's name: nothing where the figure has but one device.
fn prefix(run: &Run, measurements: &[&Measurement], device: &str) -> String {
    if measurements.iter().all(|one| one.device == device) {
        String::new()
    } else {
        format!("{}: ", device_label(run, device))
    }
}

/// The median over the rounds of one measurement's time over another's, where they were sampled side
/// by side.
fn time_ratio(dividend: &Measurement, divisor: &Measurement) -> Option<f64> {
    if !overlap(dividend, divisor) {
        return None;
    }
    let divisors = ticks_by_round(divisor);
    let ratios: Vec<f64> = ticks_by_round(dividend)
        .into_iter()
        .filter_map(|(round, ticks)| Some(ticks / divisors.get(&round).filter(|by| **by > 0.0)?))
        .collect();
    statistics::median(&ratios)
}

/// Series from points by name, each sorted by x.
fn series(points: indexmap::IndexMap<String, BTreeMap<OrderedX, f64>>) -> Vec<CurveSeries> {
    points
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|(name, points)| CurveSeries {
            name,
            measured: true,
            points: points.into_iter().map(|(x, y)| (x.0, y)).collect(),
        })
        .collect()
}

/// A finite x, ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OrderedX(f64);

impl Eq for OrderedX {}

impl PartialOrd for OrderedX {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedX {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests;
