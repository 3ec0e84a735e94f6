//! When sorting pays: speed-ups over the divergent kernel along an axis, where they cross 1, what
//! counting predicts of them, and what memory traffic explains.
//!
//! Input: a run that holds kernels and the baselines that the record names for them, at several
//! points of a sweep. Output: [`SpeedCurve`]s and their [`Crossover`]s here; in the modules below
//! sheets of many curves, tables and sentences of crossovers, the model, lanes before and after, and
//! stages. A speed-up is the baseline's median time over the kernel's, at equal values of the
//! parameters of both, on one device.

mod lanes;
mod model;
mod sentences;
mod sheets;
mod stages;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use lanes::{BeforeAfter, BeforeAfterRow, before_after};
pub use model::{
    MODEL_LEGEND, ModelRow, ModelTable, ORDER_BYTES_PER_ELEMENT, SORT_BYTES_PER_ELEMENT, arms_run,
    arms_run_unequal, model, model_tables,
};
pub(super) use sentences::sweep_crossovers;
pub use sentences::{CrossoverRow, CrossoverTable, crossover_sentences, crossover_tables};
pub use sheets::{SpeedPanel, SpeedSheet, speed_sheets};
pub use stages::{StageSheet, StageStack, StageTime, stages};

use super::names::{baseline, device_label, parameters_text};
use super::rounds::median_time;
use super::usual::{AxisName, Usual, axes};
use crate::record::{Measurement, Run, Status, Value};

/// Speed-ups of one kernel on one device along one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedCurve {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// The baseline's full name.
    pub baseline: String,
    /// The parameter that varies.
    pub axis: String,
    /// What sentences call it.
    pub axis_words: String,
    /// Whether it takes whole numbers alone.
    pub axis_is_whole: bool,
    /// The words that the baseline has no parameter for: they make variants of the kernel, such as `sort=before`.
    pub variant: BTreeMap<String, Value>,
    /// The other parameters.
    pub fixed: BTreeMap<String, Value>,
    /// Those of the others that have another value than they usually have.
    pub unusual: BTreeSet<String>,
    /// The parameter's value and the speed-up, in rising order of the value; 1 is as fast.
    pub points: Vec<(f64, f64)>,
}

impl SpeedCurve {
    /// The kernel's full name, with its variant where it has any: `moe/sorted (sort=before)`.
    pub fn kernel_variant(&self) -> String {
        name_variant(&self.kernel, &self.variant)
    }
}

/// A kernel's name with the words of its variant, where it has any.
fn name_variant(kernel: &str, variant: &BTreeMap<String, Value>) -> String {
    if variant.is_empty() {
        return kernel.to_owned();
    }
    format!("{kernel} ({})", parameters_text(variant, &[]))
}

/// The words that a kernel has and its baseline has no parameter for.
fn variant(kernel: &Measurement, baseline: &Measurement) -> BTreeMap<String, Value> {
    let names = kernel.parameters.iter().filter(|(name, value)| {
        matches!(value, Value::Name(_)) && !baseline.parameters.contains_key(*name)
    });
    names.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Where a curve meets 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The value of the parameter, interpolated on logarithmic axes.
    pub value: f64,
    /// The two points that were measured next to it; between them nothing was.
    pub between: [f64; 2],
}

/// Where along its axis a curve lies at 1 or above.
#[derive(Clone, Debug, PartialEq)]
pub enum Crossover {
    /// From there on.
    From(Crossing),
    /// Up to there.
    UpTo(Crossing),
    /// Between these two, and neither at the first nor at the last point.
    Between(Crossing, Crossing),
    /// At every point that was measured.
    Always,
    /// At no point that was measured.
    Never,
    /// At so many of the points that were measured, more than one run of them.
    Some(usize),
}

/// At most `most` of sorted values, the first and the last among them, evenly between.
fn pick_evenly<T: Clone>(values: &[T], most: usize) -> Vec<T> {
    if values.len() <= most.max(1) {
        return values.to_vec();
    }
    let steps = most.max(2) - 1;
    (0..=steps).map(|step| values[step * (values.len() - 1) / steps].clone()).collect()
}

/// A parameter of a measurement as a number.
fn number(measurement: &Measurement, name: &str) -> Option<f64> {
    measurement.parameters.get(name)?.number()
}

/// Every measurement with its baseline's of the same device and values of the parameters of both.
fn pairs(run: &Run) -> Vec<(&Measurement, &Measurement)> {
    let ok = || run.measurements.iter().filter(|measurement| measurement.status == Status::Ok);
    let key = |kernel: &str, measurement: &Measurement, without: &[&str]| {
        (
            kernel.to_owned(),
            measurement.device.clone(),
            parameters_text(&measurement.parameters, without),
        )
    };
    let mut known: BTreeMap<(String, String, String), &Measurement> = BTreeMap::new();
    // The parameters of each kernel; those of a remedy may be more than its baseline's.
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for measurement in ok() {
        // The first of equal ones, as everywhere.
        known.entry(key(&measurement.kernel, measurement, &[])).or_insert(measurement);
        let parameter = measurement.parameters.keys().map(String::as_str);
        names.entry(&measurement.kernel).or_default().extend(parameter);
    }
    ok().filter_map(|measurement| {
        let baseline = baseline(run, &measurement.kernel)?;
        let theirs = names.get(baseline)?;
        let parameter = measurement.parameters.keys().map(String::as_str);
        let more: Vec<&str> = parameter.filter(|name| !theirs.contains(name)).collect();
        Some((measurement, *known.get(&key(baseline, measurement, &more))?))
    })
    .collect()
}

fn speedup(kernel: &Measurement, baseline: &Measurement) -> Option<f64> {
    let (kernel, baseline) = (median_time(kernel)?, median_time(baseline)?);
    (kernel.0 > 0.0).then(|| baseline.0 / kernel.0)
}

/// Makes every curve of at least two points: for each kernel with a baseline, along each parameter
/// that varies while the others stay.
pub fn speed_curves(run: &Run) -> Vec<SpeedCurve> {
    let mut curves = every_curve(run);
    curves.retain(|curve| curve.points.len() > 1);
    curves
}

/// The same with curves of one point.
fn every_curve(run: &Run) -> Vec<SpeedCurve> {
    let pairs = pairs(run);
    let usual = Usual::from_run(run);
    let mut curves = Vec::new();
    for AxisName { name: axis, words } in axes(run) {
        let mut found: BTreeMap<[String; 4], SpeedCurve> = BTreeMap::new();
        // A baseline over itself is the line at 1.
        for (kernel, baseline) in pairs.iter().filter(|(curve, base)| curve.kernel != base.kernel) {
            let (Some(x), Some(y)) = (number(kernel, &axis), speedup(kernel, baseline)) else {
                continue;
            };
            let label = device_label(run, &kernel.device);
            let mut fixed = kernel.parameters.clone();
            fixed.remove(&axis);
            let variant = variant(kernel, baseline);
            fixed.retain(|name, _| !variant.contains_key(name));
            let key = [
                name_variant(&kernel.kernel, &variant),
                baseline.kernel.clone(),
                label.clone(),
                parameters_text(&fixed, &[]),
            ];
            let curve = found.entry(key).or_insert_with(|| SpeedCurve {
                label,
                kernel: kernel.kernel.clone(),
                baseline: baseline.kernel.clone(),
                axis: axis.clone(),
                axis_words: words.clone(),
                axis_is_whole: true,
                unusual: usual.unusual(&fixed),
                variant,
                fixed,
                points: Vec::new(),
            });
            curve.axis_is_whole &= matches!(kernel.parameters.get(&axis), Some(Value::Integer(_)));
            curve.points.push((x, y));
        }
        for mut curve in found.into_values() {
            curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
            curve.points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
            curves.push(curve);
        }
    }
    curves
}

/// The values of a parameter among curves, in rising order.
fn values_of(curves: &[&SpeedCurve], name: &str) -> Vec<Value> {
    let texts: BTreeSet<String> =
        curves.iter().filter_map(|curve| curve.fixed.get(name)).map(Value::to_string).collect();
    let value = |text: &String| {
        curves
            .iter()
            .filter_map(|curve| curve.fixed.get(name))
            .find(|value| value.to_string() == *text)
    };
    let mut values: Vec<Value> = texts.iter().filter_map(value).cloned().collect();
    values.sort_by(|a, b| match (a.number(), b.number()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.to_string().cmp(&b.to_string()),
    });
    values
}

/// Finds where a curve lies at 1 or above.
pub fn crossover(curve: &SpeedCurve) -> Crossover {
    let pays = |point: &(f64, f64)| point.1 >= 1.0;
    let points = &curve.points;
    let crossings: Vec<Crossing> = points
        .iter()
        .zip(points.iter().skip(1))
        .filter(|(left, right)| pays(left) != pays(right))
        .map(|(left, right)| Crossing {
            value: crossing(*left, *right),
            between: [left.0, right.0],
        })
        .collect();
    let first_pays = points.first().is_some_and(pays);
    match (crossings.as_slice(), first_pays) {
        ([], true) => Crossover::Always,
        ([], false) => Crossover::Never,
        ([x], true) => Crossover::UpTo(*x),
        ([x], false) => Crossover::From(*x),
        ([from, to], false) => Crossover::Between(*from, *to),
        ([..], _) => Crossover::Some(points.iter().filter(|point| pays(point)).count()),
    }
}

/// Where the line between two points on both sides of 1 meets 1, on logarithmic axes.
fn crossing((left_x, left): (f64, f64), (right_x, right): (f64, f64)) -> f64 {
    let share = -left.ln() / (right.ln() - left.ln());
    (left_x.ln() + share * (right_x.ln() - left_x.ln())).exp()
}
