//! When sorting pays: speed-ups over the divergent kernel along an axis, where they cross 1, what
//! counting predicts of them, and what memory traffic explains.
//!
//! Input: a run that holds kernels and the baselines that the catalogue names for them, at several
//! points of a sweep. Output: [`SpeedCurve`]s, [`Crossover`]s, [`ModelRow`]s and [`StageStack`]s. A
//! speed-up is the baseline's median time over the kernel's, at equal parameters on one device.
//!
//! # The model
//!
//! Of k arms that lanes choose independently and evenly, a subgroup of W lanes runs an arm with
//! probability 1 − (1 − 1/k)^W, and so [`arms_run`] of them. Sorting leaves one. What it adds is
//! traffic: [`SORT_BYTES_PER_ELEMENT`] for each element at the device's copy rate.

use std::collections::BTreeMap;

use super::{
    Catalogue, SIZE, Slots, device, device_label, median_time, parameters_text, ratio, short_name,
};
use crate::record::{Measurement, Run, Status, Value};
use crate::units::{Nanoseconds, Width};

/// What sorting moves for each element beyond what the divergent kernel moves, in bytes: the class
/// read (4), its packed form written and read (1), the permutation written and read (8). Gathers
/// and scatters that move more than they use are not in it.
pub const SORT_BYTES_PER_ELEMENT: f64 = 13.0;

/// The parameters that a curve may run along, the first that varies.
const AXES: [&str; 6] = ["density", SIZE, "classes", "work", "model", "hidden"];

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
    pub axis: &'static str,
    /// The others, worded.
    pub fixed: String,
    /// The parameter's value and the speed-up, in rising order of the value; 1 is as fast.
    pub points: Vec<(f64, f64)>,
}

/// Where along its axis a curve lies at 1 or above; values between points are interpolated on
/// logarithmic axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Crossover {
    /// From this value on.
    From(f64),
    /// Up to this value.
    UpTo(f64),
    /// Between these two values, and neither at the first nor at the last point.
    Between(f64, f64),
    /// At every point that was measured.
    Always,
    /// At no point that was measured.
    Never,
    /// At so many of the points that were measured, more than one run of them.
    Some(usize),
}

/// A kernel's speed-up beside what counting and traffic predict.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRow {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The width that ran, in lanes.
    pub width: Option<Width>,
    /// The arms that a subgroup of the baseline runs, by the formula; nothing where the parameters
    /// say of no independent choice.
    pub arms_run: Option<f64>,
    /// The ratio of Σ ops·issues, baseline over kernel: what counting predicts of the speed-up.
    pub speedup_counted: Option<f64>,
    /// The speed-up with the sort's traffic at the copy rate added to the counted time; nothing where
    /// the sort is not in the time, or a rate is not known.
    pub speedup_with_traffic: Option<f64>,
    /// The speed-up that was measured.
    pub speedup_measured: Option<f64>,
}

/// A launch's time by its dispatches.
#[derive(Clone, Debug, PartialEq)]
pub struct StageStack {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// The parameters but the size, worded.
    pub detail: String,
    /// Its dispatches, those of one name together, and last what lies between them, where that is
    /// a fiftieth of the launch or more.
    pub stages: Vec<Stage>,
    /// The launch's own time, without timestamps between its dispatches.
    pub launch: Nanoseconds,
}

/// A part of a launch's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// What it does: `route`, `sort`, `experts`, `scatter`, or the entry point's own name.
    pub name: String,
    /// The sum of the medians of its dispatches.
    pub time: Nanoseconds,
}

/// The arms of k that a subgroup of W lanes runs, where each lane chooses evenly and by itself:
/// k · (1 − (1 − 1/k)^W).
pub fn arms_run(arms: u32, width: Width) -> f64 {
    let k = f64::from(arms.max(1));
    k * (1.0 - (1.0 - 1.0 / k).powi(width_exponent(width)))
}

/// The time of arms of unequal length that a subgroup of W lanes runs, in the lengths' unit:
/// Σ length · (1 − (1 − p)^W) over arms of length and probability p.
pub fn arms_run_unequal(arms: &[(f64, f64)], width: Width) -> f64 {
    let one = |(length, p): &(f64, f64)| length * (1.0 - (1.0 - p).powi(width_exponent(width)));
    arms.iter().map(one).sum()
}

fn width_exponent(width: Width) -> i32 {
    i32::try_from(width.lanes()).unwrap_or(i32::MAX)
}

/// The parameters of a measurement as numbers.
#[expect(clippy::cast_precision_loss, reason = "parameters lie far below 2^53")]
fn number(measurement: &Measurement, name: &str) -> Option<f64> {
    match measurement.parameters.get(name)? {
        Value::Integer(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        Value::Name(_) => None,
    }
}

/// Every measurement with its baseline's of the same device and parameters.
fn pairs<'a>(run: &'a Run, catalogue: &Catalogue) -> Vec<(&'a Measurement, &'a Measurement)> {
    let baseline = |measurement: &Measurement| {
        let name = catalogue.kernels.get(&measurement.kernel)?.baseline.as_deref()?;
        run.measurements.iter().find(|other| {
            other.kernel == name
                && other.device == measurement.device
                && other.parameters == measurement.parameters
                && other.status == Status::Ok
        })
    };
    run.measurements
        .iter()
        .filter(|measurement| measurement.status == Status::Ok)
        .filter_map(|measurement| Some((measurement, baseline(measurement)?)))
        .collect()
}

fn speedup(kernel: &Measurement, baseline: &Measurement) -> Option<f64> {
    let (kernel, baseline) = (median_time(kernel)?, median_time(baseline)?);
    (kernel.0 > 0.0).then(|| baseline.0 / kernel.0)
}

/// Makes every curve of at least two points: for each kernel with a baseline, along the parameter
/// that varies most while the others stay.
pub fn speed_curves(run: &Run, catalogue: &Catalogue) -> Vec<SpeedCurve> {
    let pairs = pairs(run, catalogue);
    let mut curves = Vec::new();
    for axis in AXES {
        let mut found: BTreeMap<[String; 4], Vec<(f64, f64)>> = BTreeMap::new();
        // A baseline over itself is the line at 1.
        for (kernel, baseline) in pairs.iter().filter(|(one, base)| one.kernel != base.kernel) {
            let (Some(x), Some(y)) = (number(kernel, axis), speedup(kernel, baseline)) else {
                continue;
            };
            let key = [
                kernel.kernel.clone(),
                baseline.kernel.clone(),
                device_label(run, &kernel.device),
                parameters_text(&kernel.parameters, &[axis]),
            ];
            found.entry(key).or_default().push((x, y));
        }
        for ([kernel, baseline, label, fixed], mut points) in found {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
            if points.len() > 1 {
                curves.push(SpeedCurve { label, kernel, baseline, axis, fixed, points });
            }
        }
    }
    curves
}

/// Sorts curves into figures: a baseline, a parameter, and the curves that have both.
pub fn speed_curve_groups(curves: &[SpeedCurve]) -> Vec<(&str, &str, Vec<&SpeedCurve>)> {
    let mut groups: BTreeMap<(&str, &str), Vec<&SpeedCurve>> = BTreeMap::new();
    for curve in curves {
        groups.entry((&curve.baseline, curve.axis)).or_default().push(curve);
    }
    groups.into_iter().map(|((baseline, axis), curves)| (baseline, axis, curves)).collect()
}

/// Finds where a curve lies at 1 or above.
pub fn crossover(curve: &SpeedCurve) -> Crossover {
    let pays = |point: &(f64, f64)| point.1 >= 1.0;
    let points = &curve.points;
    let crossings: Vec<f64> = points
        .iter()
        .zip(points.iter().skip(1))
        .filter(|(left, right)| pays(left) != pays(right))
        .map(|(left, right)| crossing(*left, *right))
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

/// Makes the model's row of every kernel with a baseline.
pub fn model(run: &Run, catalogue: &Catalogue) -> Vec<ModelRow> {
    pairs(run, catalogue).into_iter().map(|(kernel, baseline)| row(run, kernel, baseline)).collect()
}

fn row(run: &Run, kernel: &Measurement, baseline: &Measurement) -> ModelRow {
    let independent = ["input", "routing"].iter().any(|name| {
        let value = kernel.parameters.get(*name).map(Value::to_string);
        matches!(value.as_deref(), Some("random" | "even"))
    });
    let arms = match (independent, number(kernel, "classes")) {
        (true, Some(classes)) => Some(classes),
        (true, None) if kernel.kernel.starts_with("moe/") => Some(8.0),
        _ => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few dozen arms; `as` saturates"
    )]
    let arms_run = arms.zip(kernel.subgroup_width).map(|(arms, w)| arms_run(arms as u32, w));
    let (before, after) = (Slots::of(baseline).issues, Slots::of(kernel).issues);
    let speedup_counted = ratio(before, after).filter(|_| before > 0);
    let sorts = kernel.dispatches.iter().any(|d| stage_name(&d.entry_point) == "sort" && !d.setup);
    let rate = device(run, &kernel.device).and_then(|device| device.copy_bytes_per_s);
    let elements = number(kernel, SIZE).map(|n| n * number(kernel, "top").unwrap_or(1.0));
    let traffic_ns = rate
        .zip(elements)
        .filter(|_| sorts)
        .map(|(rate, elements)| elements * SORT_BYTES_PER_ELEMENT / rate * 1e9);
    let time = median_time(baseline).map(|time| time.0);
    let with_traffic =
        |((counted, extra), time): ((f64, f64), f64)| time / (time / counted + extra);
    ModelRow {
        label: device_label(run, &kernel.device),
        kernel: kernel.kernel.clone(),
        parameters: kernel.parameters.clone(),
        width: kernel.subgroup_width,
        arms_run,
        speedup_counted,
        speedup_with_traffic: speedup_counted.zip(traffic_ns).zip(time).map(with_traffic),
        speedup_measured: speedup(kernel, baseline),
    }
}

/// The most that the times of single dispatches may exceed the launch's in sum, as a share of it: the
/// start of a dispatch overlaps the end of the one before, but for a timestamp between them, which on
/// an H200 makes 1 µs of each 4 where dispatches are shortest.
const STAGES_EXCESS_RATIO: f64 = 0.3;

/// The least that lies between dispatches and is named, as a share of the launch.
const BETWEEN_RATIO: f64 = 0.02;

/// The name of what a launch takes beyond its dispatches.
const BETWEEN: &str = "between dispatches";

/// Makes the stack of every launch of `family` whose dispatches were timed one by one, but for launches
/// that these times exceed by more than three tenths: it is not known what such stages hold.
pub fn stages(run: &Run, family: &str) -> Vec<StageStack> {
    let of_family = |m: &&Measurement| m.kernel.split('/').next() == Some(family);
    run.measurements
        .iter()
        .filter(of_family)
        .filter_map(|measurement| {
            let mut stages: Vec<Stage> = Vec::new();
            for dispatch in &measurement.dispatches {
                let Some(time) = dispatch.median_ns else { continue };
                let name = stage_name(&dispatch.entry_point);
                match stages.iter_mut().find(|stage| stage.name == name) {
                    Some(stage) => stage.time.0 += time.0,
                    None => stages.push(Stage { name: name.to_owned(), time }),
                }
            }
            let launch = measurement.time.as_ref()?.median_ns;
            Some(StageStack {
                label: device_label(run, &measurement.device),
                kernel: short_name(&measurement.kernel).to_owned(),
                detail: parameters_text(&measurement.parameters, &[]),
                stages: added_up(stages, launch)?,
                launch,
            })
        })
        .collect()
}

/// Stages with what lies between them; nothing where there are none, or where they exceed the launch.
fn added_up(mut stages: Vec<Stage>, launch: Nanoseconds) -> Option<Vec<Stage>> {
    let sum: f64 = stages.iter().map(|stage| stage.time.0).sum();
    if stages.is_empty() || sum > (1.0 + STAGES_EXCESS_RATIO) * launch.0 {
        return None;
    }
    let left = launch.0 - sum;
    if left >= BETWEEN_RATIO * launch.0 {
        stages.push(Stage { name: BETWEEN.to_owned(), time: Nanoseconds(left) });
    }
    Some(stages)
}

/// What an entry point does, in a word.
fn stage_name(entry_point: &str) -> &str {
    match entry_point {
        "few_count" | "many_count" | "scan" | "few_permutation" | "many_permutation"
        | "few_pairs" | "many_pairs" => "sort",
        "naive" | "experts" | "experts_in_order" | "expert_alone" => "experts",
        "grids_of_experts" | "grids_of_classes" | "grid_of_active" => "grids",
        "combine" | "scatter" => "scatter",
        "ordered" | "divergent" | "alone" | "collected" | "branch" | "mask" => "work",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn width(lanes: u32) -> Width {
        Width::new(lanes).unwrap()
    }

    #[test]
    fn arms_run_are_those_that_counting_gives() {
        // The published eight experts: 7.89 arms a warp, not 8.
        assert!((arms_run(8, width(32)) - 7.888).abs() < 1e-3);
        assert!((arms_run(32, width(32)) - 20.41).abs() < 1e-2);
        assert!((arms_run(2, width(8)) - 1.9922).abs() < 1e-4);
        let equal: Vec<(f64, f64)> = vec![(1.0, 0.125); 8];
        assert!((arms_run_unequal(&equal, width(64)) - arms_run(8, width(64))).abs() < 1e-12);
        assert!((arms_run_unequal(&[(3.0, 1.0), (5.0, 0.0)], width(32)) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn stages_fill_their_launch_or_are_left_out() {
        let stage = |name: &str, ns| Stage { name: name.to_owned(), time: Nanoseconds(ns) };
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
    fn the_crossover_lies_between_the_points_on_both_sides_of_one() {
        let curve = |points: &[(f64, f64)]| SpeedCurve {
            label: String::new(),
            kernel: String::new(),
            baseline: String::new(),
            axis: SIZE,
            fixed: String::new(),
            points: points.to_vec(),
        };
        let Crossover::From(n) = crossover(&curve(&[(1024.0, 0.5), (4096.0, 2.0)])) else {
            panic!("it crosses");
        };
        assert!((n - 2048.0).abs() < 1e-6);
        assert_eq!(crossover(&curve(&[(1.0, 1.5), (2.0, 3.0)])), Crossover::Always);
        let Crossover::UpTo(density) = crossover(&curve(&[(0.01, 2.0), (0.04, 0.5)])) else {
            panic!("it pays at low densities");
        };
        assert!((density - 0.02).abs() < 1e-9);
        let points = [(1.0, 0.5), (4.0, 2.0), (16.0, 0.5)];
        let Crossover::Between(low, high) = crossover(&curve(&points)) else {
            panic!("it pays in the middle");
        };
        assert!((low - 2.0).abs() < 1e-9 && (high - 8.0).abs() < 1e-9);
        assert_eq!(crossover(&curve(&[(1.0, 0.5), (2.0, 0.9)])), Crossover::Never);
        let points = [(1.0, 1.5), (2.0, 0.9), (3.0, 1.0)];
        assert_eq!(crossover(&curve(&points)), Crossover::Some(2));
    }
}
