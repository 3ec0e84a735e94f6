//! The figure of speed-ups over a family's slowest step, beside the published ones.

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, Scale, order_by_size},
    ratios::remark,
};
use crate::analyze::{SpeedupRow, Speedups, short_name};
use crate::units::text;

/// The speed-up of each kernel on each device that was timed; the published one is a line
/// across the bars.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was timed.
pub(super) fn speedups(table: &Speedups) -> Result<BarFigure, ChartError> {
    if table.devices.is_empty() || table.rows.is_empty() {
        return Err(ChartError::Empty("speed-ups"));
    }
    let baseline = short_name(&table.baseline);
    let mut groups: Vec<BarGroup> = table.rows.iter().map(group).collect();
    order_by_size(&mut groups);
    Ok(BarFigure {
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
        scale: Scale::alone(0.0),
        groups,
    })
}

/// A kernel's speed-up on each device.
fn group(row: &SpeedupRow) -> BarGroup {
    let published = row.published;
    let words = |measured: Option<f64>| match measured {
        None => format!("not measured (published {}×)", text::ratio(published)),
        Some(factor) => {
            let (off, factor) = (remark(measured, published), text::ratio(factor));
            format!("{factor}× (published {}×{off})", text::ratio(published))
        }
    };
    let bar = |(series, measured): (usize, &Option<f64>)| Bar {
        series,
        value: *measured,
        whisker: None,
        tick: Some(published),
        diamond: None,
        text: words(*measured),
    };
    BarGroup {
        heading: String::new(),
        label: short_name(&row.kernel).to_owned(),
        detail: String::new(),
        bars: row.measured.iter().enumerate().map(bar).collect(),
    }
}
