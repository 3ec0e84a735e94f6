//! The figure of time ratios: each kernel's time over its baseline's, against what counting predicts.

use crate::units::{Ratio, text};
use std::collections::BTreeSet;

use super::{
    ChartError,
    bars::{Bar, BarFigure, Scale},
    lanes::{any, groups, series, subtitle, title},
};
use crate::analyze::{RatioVerdict, SummaryPart, SummaryRow, TimeRatio, short_name};
use crate::record::Tag;

/// The time ratios of every device that was timed, with their intervals.
///
/// A ratio that would mislead is not drawn: its place says why; those that were not timed side by side have no place,
/// and the subtitle says how many they are.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no ratio.
pub(super) fn ratios(part: &SummaryPart, scale: Scale) -> Result<BarFigure, ChartError> {
    // Reasons alone are no picture: they stand in the table.
    if !any(part, |row| matches!(row.time_ratio, TimeRatio::Measured(_))) {
        return Err(ChartError::Empty("time ratios"));
    }
    Ok(figure(part, scale))
}

/// The figure at a scale.
pub(super) fn figure(part: &SummaryPart, scale: Scale) -> BarFigure {
    let apart = |row: &SummaryRow| row.time_ratio == TimeRatio::Withheld(Tag::NotInterleaved);
    let timed = |row: &SummaryRow| {
        matches!(row.time_ratio, TimeRatio::Measured(_) | TimeRatio::Withheld(_)) && !apart(row)
    };
    let left_out = part.devices.iter().flat_map(|device| &device.rows).filter(|row| apart(row));
    let left_out = match left_out.count() {
        0 => String::new(),
        count => format!("; {} {}", Tag::NotInterleaved.phrase(), left_out_text(count)),
    };
    let whiskers = |row: &SummaryRow| matches!(&row.time_ratio, TimeRatio::Measured(ratio) if ratio.interval.is_some());
    let predicted = any(part, |row| timed(row) && row.time_ratio_predicted.is_some());
    BarFigure {
        title: title(&format!("Time over that of {}", baseline(part)), part),
        subtitle: subtitle(
            &match predicted {
                true => format!(
                    "measured (predicted from counted executions), a bar for each device{left_out}"
                ),
                false => format!("measured, a bar for each device{left_out}"),
            },
            part,
            timed,
        ),
        x_label: format!("time / time of {} (1: the same time)", baseline(part)),
        series: series(part, timed),
        tick_label: predicted.then(|| "predicted: ratio of Σ operations × executions".to_owned()),
        diamond_label: None,
        whisker_label: any(part, whiskers).then(|| "99 % interval".to_owned()),
        reference: Some(1.0),
        scale,
        groups: groups(part, timed, bar),
    }
}

/// How many launches are left out, as the end of a clause.
fn left_out_text(count: usize) -> String {
    match count {
        1 => "and left out: 1 launch".to_owned(),
        many => format!("and left out: {many} launches"),
    }
}

/// How far a part's measured and predicted ratios reach.
pub(super) fn reach(part: &SummaryPart) -> f64 {
    let rows = part.devices.iter().flat_map(|device| &device.rows);
    let reach = rows.filter_map(|row| match &row.time_ratio {
        TimeRatio::Measured(ratio) => {
            let measured = ratio.interval.map_or(ratio.median, |interval| interval.high);
            Some(measured.max(row.time_ratio_predicted.unwrap_or(0.0)))
        }
        TimeRatio::Withheld(_) | TimeRatio::None | TimeRatio::Baseline => None,
    });
    reach.fold(0.0, f64::max)
}

/// Names the baseline, where the rows share one.
fn baseline(part: &SummaryPart) -> &str {
    let names: BTreeSet<&str> = part
        .devices
        .iter()
        .flat_map(|device| &device.rows)
        .filter_map(|row| row.baseline.as_deref())
        .collect();
    match names.first() {
        Some(name) if names.len() == 1 => short_name(name),
        _ => "the baseline kernel",
    }
}

/// Which difference from what was measured is remarked.
pub(super) const REMARKED: f64 = 0.1;

/// By how much a prediction is off, where that is over a tenth.
pub(super) fn remark(measured: Option<f64>, predicted: f64) -> String {
    match measured.map(|measured| predicted / measured - 1.0) {
        Some(off) if off > REMARKED => format!(", {} more", text::whole_percent(Ratio(off))),
        Some(off) if off < -REMARKED => format!(", {} less", text::whole_percent(Ratio(-off))),
        _ => String::new(),
    }
}

/// Makes the bar of one row.
fn bar(series: usize, row: &SummaryRow) -> Bar {
    let measured = match &row.time_ratio {
        TimeRatio::Measured(ratio) => Some(ratio.median),
        TimeRatio::Withheld(_) | TimeRatio::None | TimeRatio::Baseline => None,
    };
    let predicted = row.time_ratio_predicted.map_or(String::new(), |predicted| {
        format!(" (predicted {}{})", text::ratio(predicted), remark(measured, predicted))
    });
    let (value, whisker, text) = match &row.time_ratio {
        TimeRatio::Measured(ratio) => {
            let doubt = match ratio.verdict() {
                RatioVerdict::Different => "",
                RatioVerdict::NotDistinguished => " ≈ 1",
                RatioVerdict::TooFewPairs => " few pairs",
            };
            let whisker = ratio.interval.map(|interval| (interval.low, interval.high));
            (
                Some(ratio.median),
                whisker,
                format!("{}{predicted}{doubt}", text::ratio(ratio.median)),
            )
        }
        TimeRatio::Withheld(reason) => (None, None, reason.phrase()),
        TimeRatio::None | TimeRatio::Baseline => (None, None, String::new()),
    };
    Bar { series, value, whisker, tick: row.time_ratio_predicted, diamond: None, text }
}
