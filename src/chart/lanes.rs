//! The figure of mean active lanes: a bar for each kernel and device, against what is expected.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, bars},
};
use crate::{
    analyze::{FORM, SIZE, SummaryPart, SummaryRow, parameters_text, short_name},
    record::Status,
};

/// Draws mean active lanes by kernel and device, with the expected and the published figure.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was counted, [`ChartError::Draw`] where drawing fails.
pub(super) fn lanes(part: &SummaryPart) -> Result<String, ChartError> {
    let figure = BarFigure {
        title: title("Mean active lanes", part),
        subtitle: subtitle(
            "measured / width (efficiency), expected, published; a bar a device, top to bottom",
            part,
        ),
        x_label: "mean active lanes per execution (lanes)".to_owned(),
        series: series(part, |_| true),
        tick_label: any(part, |row| row.active_lanes_mean_expected.is_some())
            .then(|| "expected".to_owned()),
        diamond_label: publishers_text(part),
        whisker_label: None,
        reference: None,
        groups: groups(part, |_| true, bar),
    };
    if !any(part, |row| row.active_lanes_mean.is_some()) {
        return Err(ChartError::Empty("counted lanes"));
    }
    bars(&figure)
}

/// Makes the bar of one row.
fn bar(series: usize, row: &SummaryRow) -> Bar {
    let mut text = match (row.active_lanes_mean, row.width, row.efficiency) {
        (Some(mean), Some(width), Some(efficiency)) => {
            format!("{mean:.1} / {width} ({:.1} %)", efficiency.0 * 100.0)
        }
        (Some(mean), _, _) => format!("{mean:.1}"),
        (None, _, _) if row.status == Status::Failed => "failed".to_owned(),
        (None, _, _) => "not counted".to_owned(),
    };
    if let Some(expected) = row.active_lanes_mean_expected {
        text += &format!(", exp. {expected:.1}");
    }
    if let Some(published) = &row.published {
        text += &format!(", publ. {:.1}", published.active_lanes_mean);
    }
    Bar {
        series,
        value: row.active_lanes_mean,
        whisker: None,
        tick: row.active_lanes_mean_expected,
        diamond: row.published.as_ref().map(|published| published.active_lanes_mean),
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
    let words =
        if part.words.is_empty() { String::new() } else { format!(": {}", part.words.join(", ")) };
    format!("{quantity}{family}{form}{words}")
}

/// Returns a figure's second line, which says when rows are left out.
pub(super) fn subtitle(text: &str, part: &SummaryPart) -> String {
    let mut text = text.to_owned();
    if part.rows_at_smaller_sizes > 0 {
        let count = part.rows_at_smaller_sizes;
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
                format!("{}, W = {width}", device.label)
            }
            _ => device.label.clone(),
        })
        .collect()
}

/// Groups the rows that `shown` accepts by kernel; series are numbered as [`series`] lists them.
pub(super) fn groups(
    part: &SummaryPart,
    shown: impl Fn(&SummaryRow) -> bool,
    bar: impl Fn(usize, &SummaryRow) -> Bar,
) -> Vec<BarGroup> {
    let mut groups: IndexMap<(String, String), BarGroup> = IndexMap::new();
    let devices = part.devices.iter().filter(|device| device.rows.iter().any(&shown));
    for (series, device) in devices.enumerate() {
        for row in device.rows.iter().filter(|row| shown(row)) {
            let label = short_name(&row.kernel).to_owned();
            let detail = parameters_text(&row.parameters, &[SIZE, FORM]);
            let group = groups.entry((label.clone(), detail.clone())).or_insert_with(|| BarGroup {
                label,
                detail,
                bars: Vec::new(),
            });
            group.bars.push(bar(series, row));
        }
    }
    groups.into_values().collect()
}
