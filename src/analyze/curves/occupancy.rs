//! Throughput against what a core holds, workgroup size, subgroups and stride.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{CurveSeries, CurveTable, OrderedX, number, prefix, series, time_ratio, timed};
use crate::record::{Measurement, Run};

/// The kernel whose throughput is shown.
const THROUGHPUT: &str = "occupancy/throughput";

/// Points by curve.
type Points = IndexMap<String, BTreeMap<OrderedX, f64>>;

/// The measurements of a kernel that agree in all parameters but one, where there are several, by
/// device and the rest.
fn swept<'a>(run: &'a Run, kernel: &'a str, by: &str) -> Vec<Vec<&'a Measurement>> {
    let mut sweeps: IndexMap<String, Vec<&Measurement>> = IndexMap::new();
    for one in timed(run, kernel) {
        let rest = crate::analyze::names::parameters_text(&one.parameters, &[by]);
        sweeps.entry(format!("{} {rest}", one.device)).or_default().push(one);
    }
    sweeps.into_values().filter(|sweep| sweep.len() > 2).collect()
}

/// Percentages of the best throughput of a sweep, by what `x` gives.
fn of_best(
    run: &Run,
    by: &str,
    x: impl Fn(&Measurement) -> Option<f64>,
    name: impl Fn(&Measurement) -> Option<String>,
) -> Points {
    let sweeps = swept(run, THROUGHPUT, by);
    let all: Vec<&Measurement> = sweeps.iter().flatten().copied().collect();
    let mut points = Points::new();
    for sweep in &sweeps {
        let median = |one: &&&Measurement| {
            crate::analyze::rounds::median_time(one).map_or(f64::MAX, |t| t.0)
        };
        let Some(best) = sweep.iter().min_by(|a, b| median(a).total_cmp(&median(b))) else {
            continue;
        };
        for one in sweep {
            let (Some(x), Some(ratio), Some(name)) = (x(one), time_ratio(best, one), name(one))
            else {
                continue;
            };
            let name = format!("{}{name}", prefix(run, &all, &one.device));
            points.entry(name).or_default().insert(OrderedX(x), ratio * 100.0);
        }
    }
    points
}

/// How a curve of the throughput kernel is called.
fn intensity(one: &Measurement) -> Option<String> {
    let multiply_adds = number(one, "multiply_adds")?;
    let plural = if (multiply_adds - 1.0).abs() < f64::EPSILON { "" } else { "s" };
    Some(format!("{multiply_adds} multiply-add{plural} an element"))
}

/// Throughput against workgroup memory. How many workgroups that leaves on a core is the driver's
/// choice too: it may keep most of the memory for a cache.
pub(super) fn residency(run: &Run) -> Option<CurveTable> {
    let kib = |one: &Measurement| number(one, "memory").map(|bytes| bytes / 1024.0);
    Some(CurveTable {
        name: "occupancy-residency".to_owned(),
        title: "Throughput against workgroup memory".to_owned(),
        subtitle: "the more memory each workgroup keeps, the fewer subgroups a core holds"
            .to_owned(),
        x_label: "workgroup memory (KiB a workgroup)".to_owned(),
        x_logarithmic: true,
        y_label: "throughput (% of the curve's best)".to_owned(),
        reference: Some(100.0),
        series: series(of_best(run, "memory", kib, intensity)),
    })
}

/// Throughput against workgroup size.
pub(super) fn workgroup_size(run: &Run) -> Option<CurveTable> {
    let size = |one: &Measurement| number(one, "workgroup_size");
    let points = of_best(run, "workgroup_size", size, intensity);
    Some(CurveTable {
        name: "occupancy-workgroup-size".to_owned(),
        title: "Throughput against workgroup size".to_owned(),
        subtitle: "the same number of invocations in all".to_owned(),
        x_label: "invocations a workgroup".to_owned(),
        x_logarithmic: true,
        y_label: "throughput (% of the curve's best)".to_owned(),
        reference: Some(100.0),
        series: series(points),
    })
}

/// What a core does with s subgroups over what it does with one, for each amount of arithmetic between
/// two loads.
pub(super) fn latency_hiding(run: &Run) -> Option<CurveTable> {
    let mut sweeps = swept(run, "occupancy/latency_hiding", "workgroup_size");
    let worked = |one: &&Measurement| {
        one.parameters.get("between").is_some_and(|between| between.to_string() == "worked")
    };
    sweeps.retain(|sweep| sweep.iter().all(worked));
    let all: Vec<&Measurement> = sweeps.iter().flatten().copied().collect();
    let mut points = Points::new();
    for sweep in &sweeps {
        let size = |one: &Measurement| number(one, "workgroup_size").unwrap_or(f64::MAX);
        let least = sweep.iter().min_by(|a, b| size(a).total_cmp(&size(b)));
        let Some(first) = least.filter(|one| number(one, "workgroups") == Some(1.0)) else {
            continue;
        };
        for one in sweep {
            let (Some(ratio), Some(between)) =
                (time_ratio(first, one), number(one, "multiply_adds"))
            else {
                continue;
            };
            // A walk belongs to 32 invocations.
            let walks = size(one) / 32.0;
            let name =
                format!("{}{between} multiply-adds between loads", prefix(run, &all, &one.device));
            points
                .entry(name)
                .or_default()
                .insert(OrderedX(walks), ratio * walks * 32.0 / size(first));
        }
    }
    let most = points.values().filter_map(|curve| curve.last_key_value()).map(|(x, _)| x.0);
    let most = most.fold(1.0, f64::max);
    let mut series = series(points);
    if !series.is_empty() {
        let points = vec![(1.0, 1.0), (most, most)];
        series.push(CurveSeries { name: "all hidden".to_owned(), measured: false, points });
    }
    Some(CurveTable {
        name: "occupancy-latency-hiding".to_owned(),
        title: "Loads that one core does, against its walks through memory".to_owned(),
        subtitle: "each walk: a load, then arithmetic that needs it, then the next".to_owned(),
        x_label: "walks on one core, each of 32 invocations".to_owned(),
        x_logarithmic: false,
        y_label: "loads a second / those of one walk".to_owned(),
        reference: None,
        series,
    })
}

/// What strides cost, beside what whole sectors and whole lines would.
pub(super) fn strided(run: &Run) -> Option<CurveTable> {
    let sweeps = swept(run, "occupancy/strided", "stride");
    let all: Vec<&Measurement> = sweeps.iter().flatten().copied().collect();
    let mut points = Points::new();
    for sweep in &sweeps {
        let Some(first) = sweep.iter().find(|one| number(one, "stride") == Some(1.0)) else {
            continue;
        };
        for one in sweep {
            let (Some(stride), Some(ratio)) = (number(one, "stride"), time_ratio(one, first))
            else {
                continue;
            };
            let name = format!("{}measured", prefix(run, &all, &one.device));
            points.entry(name).or_default().insert(OrderedX(stride), ratio);
        }
    }
    let mut series = series(points);
    if let Some(longest) = series.iter().max_by_key(|one| one.points.len()).cloned() {
        for (name, most) in [("sectors of 32 bytes", 8.0), ("lines of 128 bytes", 32.0)] {
            let points = longest.points.iter().map(|(stride, _)| (*stride, stride.min(most)));
            let name = format!("if memory moved whole {name}");
            series.push(CurveSeries { name, measured: false, points: points.collect() });
        }
    }
    Some(CurveTable {
        name: "occupancy-strided".to_owned(),
        title: "What a stride costs".to_owned(),
        subtitle: "every word is read once, whatever the stride".to_owned(),
        x_label: "stride (words of 4 bytes)".to_owned(),
        x_logarithmic: true,
        y_label: "time / time at stride 1".to_owned(),
        reference: Some(1.0),
        series,
    })
}
