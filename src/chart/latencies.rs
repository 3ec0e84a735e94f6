//! The figure of chains: what a link of each operation takes, in multiply-adds.

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, Scale},
};
use crate::analyze::{Latencies, LatencyRow, Load};
use crate::units::text;

/// Every device's links at one load.
///
/// # Errors
///
/// [`ChartError::Empty`] where none was measured.
pub(super) fn latencies(tables: &[Latencies], load: Load) -> Result<BarFigure, ChartError> {
    let shown = |row: &&LatencyRow| row.load == load && row.ratio.is_some();
    let series: Vec<&Latencies> =
        tables.iter().filter(|table| table.rows.iter().any(|row| shown(&row))).collect();
    let mut operations: Vec<&str> = Vec::new();
    for row in series.iter().flat_map(|table| &table.rows).filter(shown) {
        if !operations.contains(&row.operation.as_str()) {
            operations.push(&row.operation);
        }
    }
    if operations.is_empty() {
        return Err(ChartError::Empty("chains"));
    }
    // The unit first, then by what each takes on the first device that has it.
    let ratio = |operation: &str| {
        let rows = series.iter().flat_map(|table| &table.rows).filter(shown);
        rows.filter(|row| row.operation == operation).find_map(|row| row.ratio).unwrap_or(0.0)
    };
    operations.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let groups = operations.iter().map(|operation| BarGroup {
        heading: String::new(),
        label: (*operation).to_owned(),
        detail: String::new(),
        bars: series
            .iter()
            .enumerate()
            .filter_map(|(index, table)| {
                let row =
                    table.rows.iter().filter(shown).find(|row| row.operation == *operation)?;
                Some(bar(index, row))
            })
            .collect(),
    });
    let (title, subtitle) = match load {
        Load::Alone => ("Latency of a link in a chain", "one small workgroup alone on the device"),
        Load::Saturated => (
            "Time of each link of a chain, on a full device",
            "every core holds as many chains as it can",
        ),
    };
    let clock = series.iter().any(|table| table.cycle.is_some());
    let cycles = if clock { ", cycles" } else { "" };
    Ok(BarFigure {
        title: title.to_owned(),
        subtitle: format!("{subtitle}; multiply-adds (nanoseconds{cycles})"),
        x_label: "time of a link / time of a dependent multiply-add".to_owned(),
        series: series.iter().map(|table| table.label.clone()).collect(),
        tick_label: None,
        diamond_label: None,
        whisker_label: None,
        reference: Some(1.0),
        scale: Scale::alone(0.0),
        groups: groups.collect(),
    })
}

fn bar(series: usize, row: &LatencyRow) -> Bar {
    let cycles = row.cycles.map_or(String::new(), |count| format!(", {}", text::cycles(count)));
    let ratio = row.ratio.unwrap_or(0.0);
    let text = format!("{}× ({}{cycles})", text::ratio(ratio), row.link);
    Bar { series, value: row.ratio, whisker: None, tick: None, diamond: None, text }
}
