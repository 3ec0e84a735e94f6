//! Lanes before and after sorting, by width.
//!
//! Input: a run that counted kernels and their baselines at several widths. Output: a
//! [`BeforeAfter`] for each family, at the most usual parameters and the largest size of each device.

use std::collections::BTreeMap;

use super::{name_variant, number, pairs, variant};
use crate::analyze::counts::active_lanes_mean;
use crate::analyze::names::{
    SIZE, device_label, family, is_simulated, parameters_text, short_name,
};
use crate::analyze::usual::{Usual, asks_where_it_pays, keep_usual};
use crate::record::{Measurement, Run};
use crate::units::Width;

/// What sorting does for a family's lanes, from the narrowest subgroups to the widest.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeAfter {
    /// The family.
    pub family: String,
    /// The rows, by kernel, then by width.
    pub rows: Vec<BeforeAfterRow>,
    /// Pairs of other parameters and smaller sizes.
    pub not_shown: usize,
}

/// A kernel beside its baseline on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeAfterRow {
    /// The kernel's short name.
    pub kernel: String,
    /// The baseline's short name.
    pub baseline: String,
    /// The device's name for people.
    pub label: String,
    /// Whether it is the simulator.
    pub simulated: bool,
    /// The parameters, worded.
    pub parameters: String,
    /// The width, in lanes.
    pub width: Width,
    /// Mean active lanes of the baseline and of the kernel.
    pub lanes: [f64; 2],
}

/// Makes the rows of every family that was counted at two widths or more.
pub fn before_after(run: &Run) -> Vec<BeforeAfter> {
    let mut families: BTreeMap<&str, Vec<(&Measurement, &Measurement)>> = BTreeMap::new();
    for (kernel, baseline) in pairs(run) {
        let family = family(&kernel.kernel);
        if kernel.kernel != baseline.kernel && asks_where_it_pays(run, &kernel.kernel) {
            families.entry(family).or_default().push((kernel, baseline));
        }
    }
    families.into_iter().filter_map(|(family, pairs)| compare_family(run, family, pairs)).collect()
}

fn compare_family(
    run: &Run,
    family: &str,
    mut pairs: Vec<(&Measurement, &Measurement)>,
) -> Option<BeforeAfter> {
    let all = pairs.len();
    let usual = Usual::from_run(run);
    keep_usual(&mut pairs, |(kernel, _)| usual.count(&kernel.parameters));
    // Of each variant of a kernel and device the largest.
    let named = |(kernel, baseline): (&Measurement, &Measurement)| {
        name_variant(&kernel.kernel, &variant(kernel, baseline))
    };
    let mut largest: BTreeMap<(String, &str), (&Measurement, &Measurement)> = BTreeMap::new();
    for pair in pairs {
        let size = |measurement: &Measurement| number(measurement, SIZE).unwrap_or(0.0);
        let known = largest.entry((named(pair), &pair.0.device)).or_insert(pair);
        if size(pair.0) > size(known.0) {
            *known = pair;
        }
    }
    let mut rows: Vec<BeforeAfterRow> = largest
        .into_values()
        .filter_map(|(kernel, baseline)| {
            Some(BeforeAfterRow {
                kernel: short_name(&named((kernel, baseline))).to_owned(),
                baseline: short_name(&baseline.kernel).to_owned(),
                label: device_label(run, &kernel.device),
                simulated: is_simulated(run, kernel),
                parameters: {
                    // These stand with the name.
                    let variant = variant(kernel, baseline);
                    let hidden: Vec<&str> = variant.keys().map(String::as_str).collect();
                    parameters_text(&kernel.parameters, &hidden)
                },
                width: kernel.subgroup_width?,
                lanes: [active_lanes_mean(baseline)?, active_lanes_mean(kernel)?],
            })
        })
        .collect();
    rows.sort_by(|a, b| (&a.kernel, a.width, &a.label).cmp(&(&b.kernel, b.width, &b.label)));
    let not_shown = all - rows.len();
    let widths: Vec<Width> = rows.iter().map(|row| row.width).collect();
    let several = widths.iter().any(|width| *width != widths[0]);
    several.then(|| BeforeAfter { family: family.to_owned(), rows, not_shown })
}
