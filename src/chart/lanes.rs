//! The figure of mean active lanes: a bar for each kernel and device, against what is expected.

use crate::units::text;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, Scale, order_by_size},
};
use crate::{
    analyze::{FORM, SIZE, SheetWord, SummaryPart, SummaryRow, parameters_text, short_name},
    record::Status,
};

/// Mean active lanes by kernel and device, with the expected and the published figure.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was counted.
pub(super) fn lanes(part: &SummaryPart, plot_max: i32) -> Result<BarFigure, ChartError> {
    if !any(part, |row| row.active_lanes_mean.is_some()) {
        return Err(ChartError::Empty("counted lanes"));
    }
    Ok(figure(part, plot_max))
}

/// The figure, its axis so many pixels long at most.
pub(super) fn figure(part: &SummaryPart, plot_max: i32) -> BarFigure {
    let part = &with_counts(part);
    let several_widths = part.devices.iter().any(|device| device.beside_other_widths);
    let shown = if several_widths {
        "active lanes / width (efficiency), lane slots; a bar for each device"
    } else {
        "active lanes / width (efficiency), a bar for each device"
    };
    BarFigure {
        title: title("Mean active lanes", part),
        subtitle: subtitle(shown, part, |_| true),
        x_label: "efficiency: mean active lanes / width (%)".to_owned(),
        series: series(part, |_| true),
        tick_label: any(part, |row| find_unexpected(row).is_some())
            .then(|| "expected, where it differs by over 1 %".to_owned()),
        diamond_label: publishers_text(part),
        whisker_label: None,
        reference: None,
        scale: Scale { plot_max, ..Scale::alone(100.0) },
        groups: groups(part, |_| true, |series, row| bar(series, row, several_widths)),
    }
}

/// A part without the devices that counted none of it, and had nothing to fail.
fn with_counts(part: &SummaryPart) -> SummaryPart {
    let has = |row: &SummaryRow| row.active_lanes_mean.is_some() || row.status == Status::Failed;
    let mut part = part.clone();
    part.devices.retain(|device| device.rows.iter().any(has));
    part
}

/// How far a figure may lie from the expected one and still be the same.
const EXPECTED_WITHIN: f64 = 0.01;

/// What was expected in place of what was counted; `None` if that is the same.
fn find_unexpected(row: &SummaryRow) -> Option<f64> {
    let expected = row.active_lanes_mean_expected?;
    let same = |mean: f64| (expected / mean - 1.0).abs() <= EXPECTED_WITHIN;
    (!row.active_lanes_mean.is_some_and(same)).then_some(expected)
}

/// Makes the bar of one row: as long as its efficiency, so that equal ones are equal at every width; with its
/// lane slots where other widths stand beside it, since efficiency does not say which costs more.
fn bar(series: usize, row: &SummaryRow, several_widths: bool) -> Bar {
    let mut text = match row.active_lanes_mean {
        Some(mean) => text::lanes_and_efficiency(mean, row.width),
        None if row.status == Status::Failed => "failed".to_owned(),
        None => "not counted".to_owned(),
    };
    let share =
        |lanes: f64| row.width.map_or(lanes, |width| lanes / f64::from(width.lanes()) * 100.0);
    if let Some(slots) = row.lane_slots.filter(|_| several_widths) {
        text += &format!(", {} slots", text::rounded(slots));
    }
    if let Some(expected) = find_unexpected(row) {
        text += &format!(", exp. {}", text::lanes_of(expected, None));
    }
    if let Some(published) = &row.published {
        let mark = if row.published_is_contradicted() { "≠ " } else { "" };
        text += &format!(", {mark}publ. {}", text::lanes_of(published.active_lanes_mean, None));
    }
    Bar {
        series,
        value: row.active_lanes_mean.map(share),
        whisker: None,
        tick: find_unexpected(row).map(share),
        diamond: row.published.as_ref().map(|published| share(published.active_lanes_mean)),
        text,
    }
}

/// Says whose published figures the diamonds are.
fn publishers_text(part: &SummaryPart) -> Option<String> {
    let hardware: BTreeSet<&str> = rows(part)
        .filter_map(|row| row.published.as_ref())
        .map(|published| &*published.hardware)
        .collect();
    let names: Vec<&str> = hardware.into_iter().collect();
    (!names.is_empty()).then(|| format!("published ({})", names.join(", ")))
}

/// Returns every row of every device.
fn rows(part: &SummaryPart) -> impl Iterator<Item = &SummaryRow> {
    part.devices.iter().flat_map(|device| &device.rows)
}

/// Whether any row has what is asked for.
pub(super) fn any(part: &SummaryPart, has: impl Fn(&SummaryRow) -> bool) -> bool {
    rows(part).any(has)
}

/// Returns a figure's title: the quantity, the family, the form and what the sheet holds of them.
pub(super) fn title(quantity: &str, part: &SummaryPart) -> String {
    let family = if part.family.is_empty() { String::new() } else { format!(", {}", part.family) };
    let form = part.form.as_ref().map_or(String::new(), |form| format!(" ({form})"));
    let kernel = only_kernel(part).map_or(String::new(), |kernel| format!(", {kernel}"));
    // What a sheet's launches lack says less than what they have.
    let has = part.words.iter().filter_map(|word| match word {
        SheetWord::Has(words) => Some(words.as_str()),
        SheetWord::Lacks(_) => None,
    });
    let has: Vec<&str> = has.collect();
    let words = if has.is_empty() { String::new() } else { format!(": {}", has.join(", ")) };
    format!("{quantity}{family}{kernel}{form}{words}")
}

/// The kernel that all of several rows are of, on every device, in a part of a family.
fn only_kernel(part: &SummaryPart) -> Option<&str> {
    let mut names = rows(part).map(|row| row.kernel.as_str());
    let first = names.next().filter(|_| !part.family.is_empty())?;
    let several = part.devices.iter().any(|device| device.rows.len() > 1);
    (several && names.all(|name| name == first)).then(|| short_name(first))
}

/// Returns a figure's second line: what all rows that `shown` accepts share, and which are left out.
pub(super) fn subtitle(
    text: &str,
    part: &SummaryPart,
    shown: impl Fn(&SummaryRow) -> bool,
) -> String {
    let mut text = text.to_owned();
    for (name, value) in find_shared(part, &shown) {
        text += &format!("; {name}={value}");
    }
    let count = part.smaller.iter().filter(|row| shown(row)).count();
    if count > 0 {
        text += &format!("; largest {SIZE} of each, {count} smaller not shown");
    }
    if part.rows_not_shown > 0 {
        text += &format!("; {} more rows not shown", part.rows_not_shown);
    }
    text
}

/// Returns the names of the devices that have a row that `shown` accepts.
pub(super) fn series(part: &SummaryPart, shown: impl Fn(&SummaryRow) -> bool) -> Vec<String> {
    part.devices
        .iter()
        .filter(|device| device.rows.iter().any(&shown))
        .map(|device| match device.width {
            Some(width) if !device.simulated => {
                format!("{}, {width} lanes", device.label)
            }
            _ => device.label.clone(),
        })
        .collect()
}

/// The parameters of several rows that have one value in all that have them; size and form are said elsewhere where
/// they vary.
fn find_shared(
    part: &SummaryPart,
    shown: impl Fn(&SummaryRow) -> bool,
) -> BTreeMap<String, String> {
    let mut values: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
    let mut holders: BTreeMap<&String, BTreeSet<(&str, String)>> = BTreeMap::new();
    let launches: BTreeSet<(&str, String)> =
        rows(part).filter(|row| shown(row)).map(launch).collect();
    for row in rows(part).filter(|row| shown(row)) {
        for (name, value) in row.parameters.iter().filter(|(name, _)| *name != FORM) {
            values.entry(name).or_default().insert(value.to_string());
            holders.entry(name).or_default().insert(launch(row));
        }
    }
    let value = |(name, values): (&String, BTreeSet<String>)| {
        let holders = holders.get(name)?.len();
        let value = values.into_iter().next().filter(|_| holders > 1 || launches.len() == 1)?;
        Some((name.clone(), value))
    };
    values.into_iter().filter(|(_, values)| values.len() == 1).filter_map(value).collect()
}

/// A row's kernel and parameters.
fn launch(row: &SummaryRow) -> (&str, String) {
    (&row.kernel, parameters_text(&row.parameters, &[]))
}

/// Groups the rows that `shown` accepts by kernel, the longest first bar first; series are numbered as [`series`] lists them.
pub(super) fn groups(
    part: &SummaryPart,
    shown: impl Fn(&SummaryRow) -> bool,
    bar: impl Fn(usize, &SummaryRow) -> Bar,
) -> Vec<BarGroup> {
    let mut groups: IndexMap<(String, String), BarGroup> = IndexMap::new();
    let shared = find_shared(part, &shown);
    let devices = part.devices.iter().filter(|device| device.rows.iter().any(&shown));
    // Devices may have sizes of their own for one launch; of one device launches of several sizes are told apart.
    let sizes: BTreeSet<String> = rows(part)
        .filter(|row| shown(row))
        .filter_map(|row| Some(row.parameters.get(SIZE)?.to_string()))
        .collect();
    let hidden = (sizes.len() < 2 || devices.clone().count() > 1).then_some(SIZE);
    let omitted: Vec<&str> =
        shared.keys().map(String::as_str).chain([FORM]).chain(hidden).collect();
    for (series, device) in devices.enumerate() {
        for row in device.rows.iter().filter(|row| shown(row)) {
            let label = short_name(&row.kernel).to_owned();
            let detail = parameters_text(&row.parameters, &omitted);
            let group = groups.entry((label.clone(), detail.clone())).or_insert_with(|| BarGroup {
                heading: String::new(),
                label,
                detail,
                bars: Vec::new(),
            });
            group.bars.push(bar(series, row));
        }
    }
    let mut groups: Vec<BarGroup> = groups.into_values().collect();
    // A kernel that stands on every row stands in the title, and rows are named by what tells them apart.
    if only_kernel(part).is_some() && groups.iter().all(|group| !group.detail.is_empty()) {
        for group in &mut groups {
            group.label = std::mem::take(&mut group.detail);
        }
    }
    order_by_size(&mut groups);
    groups
}
