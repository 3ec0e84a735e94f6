//! Where sorting pays, in tables and in a sentence for each device and baseline.
//!
//! Input: a run. Output: [`CrossoverTable`]s and sentences. Both are along the parameter that matters
//! most of those that vary, as notes of kernels have it.

use crate::units::text;
use std::collections::{BTreeMap, BTreeSet};

use super::{Crossing, Crossover, SpeedCurve, crossover, every_curve, values_of};
use crate::analyze::curves::SWEEP_MIN;
use crate::analyze::names::{exact, list_text, parameters_text, short_name};
use crate::analyze::usual::{asks_where_it_pays, axes, keep_usual};
use crate::record::Run;

/// Where kernels cross their baseline, at every combination of the other parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossoverTable {
    /// The device's name for people.
    pub label: String,
    /// The baseline's full name.
    pub baseline: String,
    /// The parameter that crossovers are values of.
    pub axis: String,
    /// The parameters that all rows share, as `work=512`.
    pub shared: Vec<String>,
    /// The parameters that rows differ in.
    pub parameters: Vec<String>,
    /// The kernels' short names.
    pub kernels: Vec<String>,
    /// A row for each combination.
    pub rows: Vec<CrossoverRow>,
}

/// One combination of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossoverRow {
    /// The value of each of the table's parameters.
    pub parameters: Vec<String>,
    /// For each kernel where it crosses, worded as `from n between 1,024 and 4,096`; `None` if it was
    /// not measured at two values at least.
    pub crossovers: Vec<Option<String>>,
    /// For each kernel the speed-up at the last value of the axis.
    pub last: Vec<Option<f64>>,
}

impl Crossover {
    /// Words it for a curve: `from density = 0.27`, and of whole numbers, which may lie nowhere between two points, by
    /// these: `from rounds between 16 and 24`.
    pub fn words(&self, curve: &SpeedCurve) -> String {
        let SpeedCurve { axis, axis_words: named, axis_is_whole, points, .. } = curve;
        let end = |point: Option<&(f64, f64)>| exact(point.map_or(0.0, |(x, _)| *x));
        let range = || format!("{named} from {} to {}", end(points.first()), end(points.last()));
        // `inside` is the point beside it at which it pays.
        let place = |crossing: &Crossing, inside: usize, name: &str| {
            let [left, right] = crossing.between;
            if !axis_is_whole {
                format!("{name}{}", rounded_text(crossing.value))
            } else if right - left <= 1.0 {
                format!("{name}{}", exact(crossing.between[inside]))
            } else {
                format!("{}between {} and {}", name.replace("= ", ""), exact(left), exact(right))
            }
        };
        let name = format!("{axis} = ");
        match self {
            Self::From(x) => format!("from {}", place(x, 1, &name)),
            Self::UpTo(x) => format!("up to {}", place(x, 0, &name)),
            Self::Between(from, to) => {
                format!("from {} to {}", place(from, 1, &name), place(to, 0, ""))
            }
            Self::Always => format!("at every {}", range()),
            Self::Never => format!("at no {}", range()),
            Self::Some(paying) => format!("at {paying} of {} values of {}", points.len(), range()),
        }
    }
}

/// Two digits that count, with commas between thousands.
pub(super) fn rounded_text(x: f64) -> String {
    if x <= 0.0 {
        return exact(x);
    }
    let scale = 10_f64.powf(x.log10().floor() - 1.0);
    exact((x / scale).round() * scale)
}

/// The curves of each device and baseline along the first parameter that some of them vary in; where
/// none does, the single points.
fn groups(run: &Run) -> Vec<Vec<SpeedCurve>> {
    let mut found: BTreeMap<(String, String), Vec<SpeedCurve>> = BTreeMap::new();
    let asked = |curve: &SpeedCurve| asks_where_it_pays(run, &curve.kernel);
    let axes = axes(run);
    for curve in every_curve(run).into_iter().filter(asked) {
        found.entry((curve.label.clone(), curve.baseline.clone())).or_default().push(curve);
    }
    let along = |curves: Vec<SpeedCurve>| {
        let first = |lines: bool| {
            axes.iter().map(|axis| &axis.name).find(|axis| {
                curves
                    .iter()
                    .any(|curve| curve.axis == **axis && (!lines || curve.points.len() > 1))
            })
        };
        let axis = first(true).or_else(|| first(false));
        curves.into_iter().filter(|curve| Some(&curve.axis) == axis).collect()
    };
    found.into_values().map(along).collect()
}

/// Makes a table for each device and baseline whose kernels were measured along a parameter.
pub fn crossover_tables(run: &Run) -> Vec<CrossoverTable> {
    let lines = |mut curves: Vec<SpeedCurve>| {
        curves.retain(|curve| curve.points.len() > 1);
        curves
    };
    groups(run).into_iter().map(lines).filter_map(|curves| table(&curves)).collect()
}

fn table(curves: &[SpeedCurve]) -> Option<CrossoverTable> {
    let first = curves.first()?;
    let all: Vec<&SpeedCurve> = curves.iter().collect();
    let names: BTreeSet<&String> = curves.iter().flat_map(|curve| curve.fixed.keys()).collect();
    let differ = |name: &&String| {
        values_of(&all, name).len() > 1 || !all.iter().all(|curve| curve.fixed.contains_key(*name))
    };
    let (told, shared): (Vec<&String>, Vec<&String>) = names.into_iter().partition(differ);
    let shared = shared.iter().flat_map(|name| {
        values_of(&all, name).into_iter().map(move |value| format!("{name}={value}"))
    });
    let places = |curve: &SpeedCurve| {
        let place = |name: &&String| {
            let value = curve.fixed.get(*name)?;
            values_of(&all, name).iter().position(|known| known == value)
        };
        told.iter().map(place).collect::<Vec<Option<usize>>>()
    };
    let combinations: BTreeSet<Vec<Option<usize>>> = curves.iter().map(places).collect();
    let name = |curve: &SpeedCurve| short_name(&curve.kernel_variant()).to_owned();
    let kernels: BTreeSet<String> = curves.iter().map(name).collect();
    let row = |combination: &Vec<Option<usize>>| {
        let alike = || curves.iter().filter(|curve| places(curve) == *combination);
        let cell = |kernel: &String| alike().find(|curve| name(curve) == *kernel);
        let found: Vec<Option<&SpeedCurve>> = kernels.iter().map(cell).collect();
        let words = |curve: &SpeedCurve| crossover(curve).words(curve);
        let last = |curve: &SpeedCurve| Some(curve.points.last()?.1);
        let fixed = alike().next().map(|curve| &curve.fixed);
        let value = |name: &&String| fixed?.get(*name).map(ToString::to_string);
        CrossoverRow {
            parameters: told.iter().map(|name| value(name).unwrap_or_default()).collect(),
            crossovers: found.iter().map(|curve| curve.map(words)).collect(),
            last: found.iter().map(|curve| curve.and_then(last)).collect(),
        }
    };
    Some(CrossoverTable {
        label: first.label.clone(),
        baseline: first.baseline.clone(),
        axis: first.axis.clone(),
        shared: shared.collect(),
        kernels: kernels.iter().cloned().collect(),
        rows: combinations.iter().map(row).collect(),
        parameters: told.into_iter().cloned().collect(),
    })
}

/// Makes a sentence for each device and baseline: where each kernel pays at the most usual parameters.
pub fn crossover_sentences(run: &Run) -> Vec<String> {
    groups(run).into_iter().filter_map(sentence).collect()
}

/// The sentences of those devices and baselines whose kernels were measured along a parameter.
pub(in crate::analyze) fn sweep_crossovers(run: &Run) -> Vec<String> {
    let mut groups = groups(run);
    groups.iter_mut().for_each(|curves| curves.retain(|curve| curve.points.len() >= SWEEP_MIN));
    groups.into_iter().filter_map(sentence).collect()
}

fn sentence(mut curves: Vec<SpeedCurve>) -> Option<String> {
    keep_usual(&mut curves, |curve| curve.unusual.len());
    let first = curves.first()?.clone();
    // Values of the same parameters; what only some kernels have is shown with their names.
    curves.retain(|curve| {
        first
            .fixed
            .iter()
            .all(|(name, value)| curve.fixed.get(name).is_none_or(|fixed| fixed == value))
    });
    let mut shared = first.fixed.clone();
    shared.retain(|name, _| curves.iter().all(|curve| curve.fixed.contains_key(name)));
    let mut clauses: Vec<(String, bool, Vec<String>)> = Vec::new();
    for curve in &curves {
        let (words, single) = match curve.points.as_slice() {
            [(x, y)] => (
                format!("{} times as fast at {} = {}", text::ratio(*y), curve.axis, exact(*x)),
                true,
            ),
            _ => (crossover(curve).words(curve), false),
        };
        let mut fixed = curve.fixed.clone();
        fixed.retain(|name, _| !shared.contains_key(name));
        fixed.extend(curve.variant.clone());
        let name = match (short_name(&curve.kernel), parameters_text(&fixed, &[])) {
            (name, fixed) if fixed.is_empty() => name.to_owned(),
            (name, fixed) => format!("{name} ({fixed})"),
        };
        match clauses.iter_mut().find(|(known, _, _)| *known == words) {
            Some((_, _, kernels)) => kernels.push(name),
            None => clauses.push((words, single, vec![name])),
        }
    }
    let clauses: Vec<String> = clauses
        .into_iter()
        .map(|(words, single, kernels)| {
            let verb = match (single, kernels.len()) {
                (true, 1) => "is",
                (true, _) => "are",
                (false, 1) => "pays",
                (false, _) => "pay",
            };
            format!("{} {verb} {words}", list_text(&kernels))
        })
        .collect();
    Some(format!(
        "On {}, against {} ({}): {}.",
        first.label,
        first.baseline,
        parameters_text(&shared, &[]),
        clauses.join("; ")
    ))
}
