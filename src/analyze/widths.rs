//! Mean active lanes and lane slots against width: what each kernel wastes, and costs, from the narrowest to the
//! widest.
//!
//! Input: a run with several devices or simulated widths. Output: a series for each kernel at each
//! set of parameters other than size. Sizes are not told apart: the mean hardly depends on them.

use super::counts::{active_lanes_mean, active_lanes_mean_expected, efficiency, ratio};
use super::names::{FORM, SIZE, device_label, family, is_simulated, parameters_text};
use super::width_costs::lane_slots;
use crate::{
    record::{Measurement, Run, Status},
    units::{Ratio, Width},
};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Every kernel's means by width.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthSweep {
    /// A series for each kernel and set of parameters, in the order of measurement.
    pub series: Vec<WidthSeries>,
}

/// One kernel at several widths.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthSeries {
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters but for size, as `form=sealed`; may be empty.
    pub parameters: String,
    /// The form, where the kernel has several.
    pub form: Option<String>,
    /// The figures, by width, then in the order of measurement.
    pub points: Vec<WidthPoint>,
}

/// One figure of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthPoint {
    /// The width, in lanes.
    pub width: Width,
    /// The device's name for people.
    pub label: String,
    /// Whether the simulator gave it.
    pub simulated: bool,
    /// Mean active lanes.
    pub active_lanes_mean: f64,
    /// Mean active lanes over the width.
    pub efficiency: Ratio,
    /// Mean active lanes that the blocks' expectations give.
    pub active_lanes_mean_expected: Option<f64>,
    /// Its lane slots over those of the same launch at the narrowest width that counted it.
    pub lane_slots_ratio: Option<f64>,
}

impl WidthSweep {
    /// Whether a figure of lines can show it.
    pub fn fits_figure(&self) -> bool {
        self.series.len() <= super::parts::FIGURE_ROWS_MAX
    }

    /// Splits the series by family and form, as [`super::Summary::parts`] does.
    pub fn parts(&self) -> Vec<Self> {
        let mut parts: IndexMap<(&str, Option<&str>), Self> = IndexMap::new();
        for series in &self.series {
            let key = (family(&series.kernel), series.form.as_deref());
            let part = parts.entry(key).or_insert_with(|| Self { series: Vec::new() });
            part.series.push(series.clone());
        }
        parts.into_values().collect()
    }
}

/// Collects every counted measurement by kernel and width.
pub fn width_sweep(run: &Run) -> WidthSweep {
    let mut series: IndexMap<(String, String), WidthSeries> = IndexMap::new();
    let shown =
        |measurement: &&Measurement| measurement.status == Status::Ok && !measurement.for_widths;
    // A launch's lane slots at the narrowest width; of several devices of it those of the first.
    let launch = |measurement: &Measurement| {
        (measurement.kernel.clone(), parameters_text(&measurement.parameters, &[]))
    };
    let mut narrowest: HashMap<(String, String), (Width, u128)> = HashMap::new();
    for measurement in run.measurements.iter().filter(shown) {
        if let (Some(width), Some(slots)) = (measurement.subgroup_width, lane_slots(measurement)) {
            let place = narrowest.entry(launch(measurement)).or_insert((width, slots));
            if width < place.0 {
                *place = (width, slots);
            }
        }
    }
    for measurement in run.measurements.iter().filter(shown) {
        let active = active_lanes_mean(measurement);
        let (Some(active), Some(width)) = (active, measurement.subgroup_width) else { continue };
        let Some(efficiency) = efficiency(Some(active), Some(width)) else { continue };
        let parameters = parameters_text(&measurement.parameters, &[SIZE]);
        let key = (measurement.kernel.clone(), parameters.clone());
        let entry = series.entry(key).or_insert_with(|| WidthSeries {
            kernel: measurement.kernel.clone(),
            parameters,
            form: measurement.parameters.get(FORM).map(ToString::to_string),
            points: Vec::new(),
        });
        entry.points.push(WidthPoint {
            width,
            label: device_label(run, &measurement.device),
            simulated: is_simulated(run, measurement),
            active_lanes_mean: active,
            efficiency,
            active_lanes_mean_expected: active_lanes_mean_expected(measurement),
            lane_slots_ratio: narrowest
                .get(&launch(measurement))
                .and_then(|(_, least)| ratio(lane_slots(measurement)?, *least)),
        });
    }
    let mut series: Vec<WidthSeries> = series.into_values().collect();
    for series in &mut series {
        series.points.sort_by_key(|point| point.width);
    }
    WidthSweep { series }
}
