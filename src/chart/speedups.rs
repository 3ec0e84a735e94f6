//! The figure of speed-ups over a family's slowest step, beside the published ones.

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, bars},
    ratios::remark,
};
use crate::analyze::{Speedups, short_name};
use crate::units::text;

/// Draws the speed-up of each kernel on each device that was timed; the published one is a line
/// across the bars.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was timed, [`ChartError::Draw`] where drawing fails.
pub(super) fn speedups(table: &Speedups) -> Result<String, ChartError> {
    if table.devices.is_empty() || table.rows.is_empty() {
        return Err(ChartError::Empty("speed-ups"));
    }
    let baseline = short_name(&table.baseline);
    bars(&BarFigure {
        title: format!("Speed-up over {baseline} ({})", table.family),
        subtitle: format!(
            "measured (published for {}); n = {} where it was timed; a bar for each device",
            table.hardware, table.n
        ),
        x_label: format!("time of {baseline} / time (1: the same speed)"),
        series: table.devices.clone(),
        tick_label: Some(format!("published, {}", table.hardware)),
        diamond_label: None,
        whisker_label: None,
        reference: Some(1.0),
        reach_min: 0.0,
        groups: table
            .rows
            .iter()
            .map(|row| BarGroup {
                label: short_name(&row.kernel).to_owned(),
                detail: String::new(),
                bars: row
                    .measured
                    .iter()
                    .enumerate()
                    .map(|(series, measured)| Bar {
                        series,
                        value: *measured,
                        whisker: None,
                        tick: Some(row.published),
                        diamond: None,
                        text: measured.map_or_else(
                            || format!("not measured (published {}×)", text::ratio(row.published)),
                            |factor| {
                                let off = remark(Some(factor), row.published);
                                format!(
                                    "{}× (published {}×{off})",
                                    text::ratio(factor),
                                    text::ratio(row.published)
                                )
                            },
                        ),
                    })
                    .collect(),
            })
            .collect(),
    })
}
