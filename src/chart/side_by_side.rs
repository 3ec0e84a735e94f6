//! The figure of active lanes by every instrument: counted in the source, and by the machine's counters.

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, bars, order_by_size},
};
use crate::analyze::{Missing, SideBySide, SideRow, short_name};
use crate::units::text;

/// The instruments, in the order of the bars.
const INSTRUMENTS: [&str; 5] = [
    "simulator, 32 lanes",
    "Vulkan, counted in the source",
    "CUDA, counted in the source",
    "machine code, lanes executing",
    "machine code, lanes not predicated off",
];

/// Draws mean active lanes by instrument, a group of bars for each kernel.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no row, [`ChartError::Draw`] where drawing fails.
pub(super) fn side_by_side(table: &SideBySide) -> Result<String, ChartError> {
    if table.rows.is_empty() {
        return Err(ChartError::Empty("launches side by side"));
    }
    let hardware = table.rows.iter().filter_map(|row| row.published.as_ref());
    let hardware = hardware.map(|published| published.hardware.clone()).next();
    let form = table.form.as_ref().map_or(String::new(), |form| format!(" ({form})"));
    let devices: Vec<&str> =
        table.other_label.iter().map(String::as_str).chain([table.cuda_label.as_str()]).collect();
    let first = table.rows.first().map_or("", |row| row.parameters.as_str());
    let alike = table.rows.iter().all(|row| row.parameters == first);
    let shared = if alike && !first.is_empty() { format!("; {first}") } else { String::new() };
    let mut groups: Vec<BarGroup> = table.rows.iter().map(|row| group(row, alike)).collect();
    order_by_size(&mut groups);
    bars(&BarFigure {
        title: format!("Active lanes by instrument, {}{form}", table.family),
        subtitle: format!(
            "{}, 32 lanes; a bar for each instrument, top to bottom{shared}",
            devices.join(" and ")
        ),
        x_label: "mean active lanes (lanes)".to_owned(),
        series: INSTRUMENTS.map(str::to_owned).to_vec(),
        tick_label: table
            .rows
            .iter()
            .any(|row| row.expected.is_some())
            .then(|| "expected".to_owned()),
        diamond_label: hardware.map(|hardware| format!("published ({hardware})")),
        whisker_label: None,
        reference: None,
        reach_min: 32.0,
        groups,
    })
}

/// A kernel's bars; its parameters stand in the subtitle where all have the same.
fn group(row: &SideRow, alike: bool) -> BarGroup {
    let figures =
        [&row.simulated, &row.counted_other, &row.counted_cuda, &row.threads, &row.threads_on];
    let bar = |(series, figure): (usize, &Result<f64, Missing>)| Bar {
        series,
        value: figure.as_ref().ok().copied(),
        whisker: None,
        tick: row.expected,
        diamond: row.published.as_ref().map(|published| published.active_lanes_mean),
        text: figure.as_ref().map_or_else(|_| text::NONE.to_owned(), |mean| text::lanes(*mean)),
    };
    BarGroup {
        label: short_name(&row.kernel).to_owned(),
        detail: if alike { String::new() } else { row.parameters.clone() },
        bars: figures.into_iter().enumerate().map(bar).collect(),
    }
}
