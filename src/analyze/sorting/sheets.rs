//! Many speed-up curves in sheets that can be read.
//!
//! Input: curves. Output: [`SpeedSheet`]s. Few curves of one baseline and axis share a sheet. Of more,
//! each device and set of names (such as `arms`, `input`) gets a sheet, each kernel a panel of it, and
//! one further parameter, such as `classes`, a curve a value. What is not drawn is counted.

use std::collections::{BTreeMap, BTreeSet};

use super::{SpeedCurve, pick_evenly, values_of};
use crate::analyze::SIZE;
use crate::record::Value;

/// The most curves of a panel: as many as there are colours.
pub(super) const CURVES_MAX: usize = 8;

/// The most sheets of a baseline and axis.
const SHEETS_MAX: usize = 12;

/// A figure of speed-ups over one baseline along one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedSheet {
    /// The baseline's full name.
    pub baseline: String,
    /// The parameter that the curves run along.
    pub axis: String,
    /// The device's name for people; `None` if the sheet holds all devices.
    pub label: Option<String>,
    /// What tells this sheet from the others of the same baseline and axis, as `input=random`.
    pub words: Vec<String>,
    /// The parameters that all its curves share, as `work=512`, but for those above.
    pub shared: Vec<String>,
    /// The parameter that tells a panel's curves apart; `None` if their names do.
    pub series: Option<String>,
    /// A panel for each kernel; one for all where names tell curves apart.
    pub panels: Vec<SpeedPanel>,
    /// Curves of this baseline and axis that are on no sheet.
    pub not_shown: usize,
}

/// The curves of one kernel, or of a variant of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedPanel {
    /// The kernel's full name, with its variant; `None` if there are several.
    pub kernel: Option<String>,
    /// The curves, by rising value of the series' parameter.
    pub curves: Vec<SpeedCurve>,
}

impl SpeedSheet {
    /// A word for file names, such as `sort-divergent-n-input=random`.
    pub fn name(&self) -> String {
        let baseline = self.baseline.replace('/', "-");
        let words =
            std::iter::once(self.axis.as_str()).chain(self.words.iter().map(String::as_str));
        words.fold(baseline, |name, word| format!("{name}-{word}"))
    }

    /// Every curve.
    pub fn curves(&self) -> impl Iterator<Item = &SpeedCurve> {
        self.panels.iter().flat_map(|panel| &panel.curves)
    }
}

/// Sorts curves into sheets.
pub fn speed_sheets(curves: &[SpeedCurve]) -> Vec<SpeedSheet> {
    let mut groups: BTreeMap<(&str, &str), Vec<&SpeedCurve>> = BTreeMap::new();
    // The axes in their order, which is that of the curves.
    let mut axes: Vec<&str> = Vec::new();
    for curve in curves {
        groups.entry((&curve.baseline, &curve.axis)).or_default().push(curve);
        if !axes.contains(&curve.axis.as_str()) {
            axes.push(&curve.axis);
        }
    }
    groups.into_values().flat_map(|curves| sheets(&curves, &axes)).collect()
}

/// What a sheet's curves share: how unusual it is, the device, and names with values. Where there are too
/// many sheets, the usual ones stay.
type SheetKey<'a> = (usize, &'a str, Vec<(&'a String, String)>);

/// The sheets of one baseline and axis.
fn sheets(curves: &[&SpeedCurve], axes: &[&str]) -> Vec<SpeedSheet> {
    let Some(first) = curves.first() else { return Vec::new() };
    let empty = |label| SpeedSheet {
        baseline: first.baseline.clone(),
        axis: first.axis.clone(),
        label,
        words: Vec::new(),
        shared: Vec::new(),
        series: None,
        panels: Vec::new(),
        not_shown: 0,
    };
    if curves.len() <= CURVES_MAX {
        let alike = |curve: &&SpeedCurve| curve.label == first.label;
        let label = curves.iter().all(alike).then(|| first.label.clone());
        return vec![SpeedSheet {
            shared: find_shared(curves),
            panels: vec![SpeedPanel {
                kernel: None,
                curves: curves.iter().map(|curve| (*curve).clone()).collect(),
            }],
            ..empty(label)
        }];
    }
    let series = series(curves, axes);
    let series = series.as_deref();
    let mut found: BTreeMap<SheetKey<'_>, Vec<&SpeedCurve>> = BTreeMap::new();
    for curve in curves {
        let key = curve.fixed.iter().filter(|(name, _)| Some(name.as_str()) != series);
        let key = key.map(|(name, value)| (name, value.to_string())).collect();
        let unusual = curve.unusual.iter().filter(|name| Some(name.as_str()) != series).count();
        found.entry((unusual, &curve.label, key)).or_default().push(curve);
    }
    let told: BTreeSet<&String> = found
        .keys()
        .flat_map(|(_, _, key)| key.iter().map(|(name, _)| *name))
        .filter(|name| values_of(curves, name).len() > 1)
        .collect();
    let mut made: Vec<SpeedSheet> = Vec::new();
    for ((_, label, key), curves) in found.into_iter().take(SHEETS_MAX) {
        let (words, shared): (Vec<_>, Vec<_>) =
            key.into_iter().partition(|(name, _)| told.contains(name));
        let text = |all: Vec<(&String, String)>| {
            all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
        };
        made.push(SpeedSheet {
            words: text(words),
            shared: text(shared),
            series: series.map(str::to_owned),
            panels: panels(&curves, series),
            ..empty(Some(label.to_owned()))
        });
    }
    let shown: usize = made.iter().map(|sheet| sheet.curves().count()).sum();
    for sheet in &mut made {
        sheet.not_shown = curves.len() - shown;
    }
    made
}

/// The parameters that all curves have with one value, as `work=512`.
fn find_shared(curves: &[&SpeedCurve]) -> Vec<String> {
    let Some(first) = curves.first() else { return Vec::new() };
    let everywhere = |(name, value): &(&String, &Value)| {
        curves.iter().all(|curve| curve.fixed.get(*name) == Some(*value))
    };
    let shared = first.fixed.iter().filter(everywhere);
    shared.map(|(name, value)| format!("{name}={value}")).collect()
}

/// The parameter that curves of a panel differ in: the first number that varies, of the axes but the
/// size, then the size, then by name.
fn series(curves: &[&SpeedCurve], axes: &[&str]) -> Option<String> {
    let first = curves.first()?;
    let mut names: Vec<&str> = axes.iter().copied().filter(|name| *name != SIZE).collect();
    names.push(SIZE);
    let others: BTreeSet<&str> = curves
        .iter()
        .flat_map(|curve| &curve.fixed)
        .filter(|(_, value)| value.number().is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    names.extend(others.into_iter().filter(|name| !axes.contains(name)));
    let varies = |name: &&&str| values_of(curves, name).len() > 1;
    names.iter().filter(|name| **name != first.axis).find(varies).map(|name| (*name).to_owned())
}

/// A panel for each kernel, of as many curves as there are colours.
fn panels(curves: &[&SpeedCurve], series: Option<&str>) -> Vec<SpeedPanel> {
    let values = series.map(|name| pick_evenly(&values_of(curves, name), CURVES_MAX));
    let drawn: Vec<&SpeedCurve> = match (series, &values) {
        (Some(name), Some(values)) => {
            let curves_at =
                |value| curves.iter().filter(move |curve| curve.fixed.get(name) == value);
            // Those of kernels that have no such parameter stand beside them.
            values.iter().map(Some).chain([None]).flat_map(curves_at).copied().collect()
        }
        _ => curves.to_vec(),
    };
    let mut panels: BTreeMap<String, Vec<SpeedCurve>> = BTreeMap::new();
    for curve in drawn {
        panels.entry(curve.kernel_variant()).or_default().push(curve.clone());
    }
    panels
        .into_iter()
        .map(|(kernel, mut curves)| {
            curves.truncate(CURVES_MAX);
            SpeedPanel { kernel: Some(kernel), curves }
        })
        .collect()
}
