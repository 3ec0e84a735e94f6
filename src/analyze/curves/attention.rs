//! Lanes of attention along the sequence.
//!
//! Input: a run that counted kernels of sparse attention at several lengths of the sequence. Output: a
//! figure for each mask and head dimension, at density 0.1 where that was measured.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{CurveTable, OrderedX, number, prefix, series};
use crate::analyze::counts::{active_lanes_mean, efficiency};
use crate::analyze::names::{parameters_text, short_name};
use crate::record::{Measurement, Run, Status, Value};

/// The start of the kernels' names.
const KERNELS: &str = "sparse/attention_";

/// The parameter that the curves run along, and the one of which only the usual value is drawn.
const AXES: [&str; 2] = ["sequence", "density"];

/// What only some kernels have: told with their names.
const CLASSES: &str = "classes";

/// Makes a figure for each mask and head dimension.
pub(super) fn lanes(run: &Run) -> Vec<CurveTable> {
    let counted = |one: &&Measurement| {
        one.status == Status::Ok
            && one.kernel.starts_with(KERNELS)
            && active_lanes_mean(one).is_some()
            && number(one, AXES[0]).is_some()
    };
    let mut all: Vec<&Measurement> = run.measurements.iter().filter(counted).collect();
    if all.iter().any(is_usual) {
        all.retain(is_usual);
    }
    let mut figures: IndexMap<String, Vec<&Measurement>> = IndexMap::new();
    for one in all {
        let fixed = parameters_text(&one.parameters, &[AXES[0], CLASSES]);
        figures.entry(fixed).or_default().push(one);
    }
    figures.into_iter().filter_map(|(fixed, found)| table(run, &fixed, &found)).collect()
}

fn is_usual(one: &&Measurement) -> bool {
    one.parameters.get(AXES[1]) == Some(&Value::Real(0.1))
}

fn table(run: &Run, fixed: &str, found: &[&Measurement]) -> Option<CurveTable> {
    let mut points: IndexMap<String, BTreeMap<OrderedX, f64>> = IndexMap::new();
    for one in found {
        let kernel = short_name(&one.kernel);
        let kernel = kernel.strip_prefix("attention_").unwrap_or(kernel);
        let own = one.parameters.get(CLASSES);
        let own = own.map_or(String::new(), |value| format!(" ({CLASSES}={value})"));
        let name = format!("{}{kernel}{own}", prefix(run, found, &one.device));
        let share = efficiency(active_lanes_mean(one), one.subgroup_width);
        if let Some((x, share)) = number(one, AXES[0]).zip(share) {
            points.entry(name).or_default().insert(OrderedX(x), share.0 * 100.0);
        }
    }
    let series = series(points);
    // The usual density goes without saying in names.
    let mut unsaid = vec![AXES[0], CLASSES];
    if found.iter().all(is_usual) {
        unsaid.push(AXES[1]);
    }
    let words = found.first().map(|one| parameters_text(&one.parameters, &unsaid))?;
    let name = format!("lanes-attention-{}", words.replace(", ", "-"));
    (!series.is_empty()).then(|| CurveTable {
        name,
        title: format!("Active lanes of attention along the sequence: {words}"),
        subtitle: format!("mean active lanes over W, {fixed}"),
        x_label: "sequence (keys)".to_owned(),
        x_logarithmic: true,
        y_label: "efficiency: mean active lanes / W (%)".to_owned(),
        reference: Some(100.0),
        series,
    })
}
