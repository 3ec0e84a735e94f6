//! The figure of active lanes by every instrument: counted in the source, and by the machine's counters.

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, Scale, order_by_size},
    ratios::remark,
};
use std::collections::BTreeMap;

use crate::analyze::{Missing, SideBySide, SideRow, parameters_text, short_name};
use crate::record::Value;
use crate::units::text;

/// The instruments, in the order of the bars.
const INSTRUMENTS: [&str; 5] = [
    "simulator, 32 lanes",
    "Vulkan, counted in the source",
    "CUDA, counted in the source",
    "machine code, lanes executing",
    "machine code, lanes not predicated off",
];

/// A row's figures, in the order of the bars.
fn figures(row: &SideRow) -> [&Result<f64, Missing>; 5] {
    [&row.simulated, &row.counted_other, &row.counted_cuda, &row.threads, &row.threads_on]
}

/// The first instrument that reads the machine.
const MACHINE: usize = 3;

/// Mean active lanes by instrument, a group of bars for each kernel, the axis so many pixels long at most; instruments
/// and kernels without a figure are left out.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no row.
pub(super) fn side_by_side(table: &SideBySide, plot_max: i32) -> Result<BarFigure, ChartError> {
    let rows: Vec<&SideRow> =
        table.rows.iter().filter(|row| figures(row).iter().any(|figure| figure.is_ok())).collect();
    // Without the machine's figures it says no more than the lanes of each device.
    let machine = |row: &&SideRow| figures(row)[MACHINE..].iter().any(|figure| figure.is_ok());
    let Some(first) = rows.first().filter(|_| rows.iter().any(machine)) else {
        return Err(ChartError::Empty("launches side by side"));
    };
    let (rows, left_out) = most_unlike(&rows);
    let has = |place: &usize| rows.iter().any(|row| figures(row)[*place].is_ok());
    let instruments: Vec<usize> = (0..INSTRUMENTS.len()).filter(has).collect();
    let hardware = rows.iter().filter_map(|row| row.published.as_ref());
    let hardware = hardware.map(|published| published.hardware.clone()).next();
    let form = table.form.as_ref().map_or(String::new(), |form| format!(" ({form})"));
    let devices: Vec<&str> =
        table.other_label.iter().map(String::as_str).chain([table.cuda_label.as_str()]).collect();
    let everywhere = |(name, value): &(&String, &Value)| {
        rows.iter().all(|row| row.parameters.get(*name) == Some(*value))
    };
    let shared: BTreeMap<String, Value> = first
        .parameters
        .iter()
        .filter(everywhere)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut groups: Vec<BarGroup> =
        rows.iter().map(|row| group(row, &shared, &instruments)).collect();
    order_by_size(&mut groups);
    // A kernel that stands on every row stands in the title.
    let one_kernel = rows.len() > 1 && rows.iter().all(|row| row.kernel == first.kernel);
    let one_kernel = one_kernel && groups.iter().all(|group| !group.detail.is_empty());
    let kernel =
        if one_kernel { format!(", {}", short_name(&first.kernel)) } else { String::new() };
    if one_kernel {
        groups.iter_mut().for_each(|group| group.label = std::mem::take(&mut group.detail));
    }
    let shared: String = shared.iter().map(|(name, value)| format!("; {name}={value}")).collect();
    Ok(BarFigure {
        title: format!("Active lanes by instrument, {}{kernel}{form}", table.family),
        subtitle: format!(
            "{}, 32 lanes; a bar for each instrument, top to bottom{shared}{left_out}",
            devices.join(" and ")
        ),
        x_label: "mean active lanes (lanes)".to_owned(),
        series: instruments.iter().map(|place| INSTRUMENTS[*place].to_owned()).collect(),
        tick_label: rows.iter().any(|row| row.expected.is_some()).then(|| "expected".to_owned()),
        diamond_label: hardware.map(|hardware| format!("published ({hardware})")),
        whisker_label: None,
        reference: None,
        scale: Scale { plot_max, ..Scale::alone(32.0) },
        groups,
    })
}

/// The most launches of a sheet: more could be read on a page, and on no slide.
const ROWS_MAX: usize = 20;

/// The launches in which instruments lie furthest apart, in their order; and words for those that are left out.
fn most_unlike<'a>(rows: &[&'a SideRow]) -> (Vec<&'a SideRow>, String) {
    if rows.len() <= ROWS_MAX {
        return (rows.to_vec(), String::new());
    }
    let apart = |row: &SideRow| {
        let known: Vec<f64> =
            figures(row).into_iter().filter_map(|figure| figure.as_ref().ok().copied()).collect();
        let most = known.iter().copied().fold(0.0, f64::max);
        most / known.iter().copied().fold(most, f64::min)
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| apart(rows[*b]).total_cmp(&apart(rows[*a])));
    let left_out = rows.len() - ROWS_MAX;
    order.truncate(ROWS_MAX);
    order.sort_unstable();
    let shown = order.into_iter().map(|place| rows[place]).collect();
    (
        shown,
        format!(
            "; the {ROWS_MAX} launches in which they lie furthest apart, {left_out} more in the table"
        ),
    )
}

/// A kernel's bars; parameters that all have stand in the subtitle. Where the machine's lanes are not the source's,
/// its bars say by how much.
fn group(row: &SideRow, shared: &BTreeMap<String, Value>, instruments: &[usize]) -> BarGroup {
    let all = figures(row);
    let source = all[..MACHINE].iter().rev().find_map(|figure| figure.as_ref().ok().copied());
    let told = |place: usize, mean: f64| match source {
        Some(_) if place >= MACHINE => {
            let remark = remark(source, mean);
            let than_source = if remark.is_empty() { "" } else { " than in the source" };
            format!("{}{remark}{than_source}", text::lanes(mean))
        }
        _ => text::lanes(mean),
    };
    let bar = |(series, place): (usize, &usize)| Bar {
        series,
        value: all[*place].as_ref().ok().copied(),
        whisker: None,
        tick: row.expected,
        diamond: row.published.as_ref().map(|published| published.active_lanes_mean),
        text: all[*place]
            .as_ref()
            .map_or_else(|_| text::NONE.to_owned(), |mean| told(*place, *mean)),
    };
    let omitted: Vec<&str> = shared.keys().map(String::as_str).collect();
    BarGroup {
        heading: String::new(),
        label: short_name(&row.kernel).to_owned(),
        detail: parameters_text(&row.parameters, &omitted),
        bars: instruments.iter().enumerate().map(bar).collect(),
    }
}
