//! Terminal tables of what `analyze` made.
//!
//! Input: typed tables. Output: text. Nothing is worked out here but the form of a figure; every
//! figure that is missing is shown as `–`, never as zero.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use super::annotate::method;
use crate::analyze::{
    Comparison, DeviceProfile, DeviceSummary, Missing, SideBySide, SummaryRow, TimeRatio,
    parameters_text, short_name,
};
use crate::occupancy::{Architecture, Occupancy};
use crate::record::{Device, Status, flag};
use crate::units::{Nanoseconds, grouped};

/// What stands where there is no figure.
pub(super) const NONE: &str = "–";

/// How a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// For a terminal of the current width.
    Terminal,
    /// For a Markdown page.
    Markdown,
}

impl Style {
    pub(super) fn table(self, header: &[&str]) -> Table {
        let mut table = Table::new();
        match self {
            Self::Terminal => {
                table
                    .load_style(UTF8_HORIZONTAL_ONLY)
                    .set_content_arrangement(ContentArrangement::Dynamic);
            }
            Self::Markdown => {
                table.load_style(ASCII_MARKDOWN);
            }
        }
        table.set_header(header.iter().copied());
        table
    }
}

/// What each resource allows of a workgroup.
pub(crate) fn occupancy(found: &Occupancy, style: Style) -> String {
    let mut table = style.table(&["resource", "workgroups", "subgroups"]);
    for limit in &found.limits {
        let cell = |times: u32| match limit.workgroups {
            Some(workgroups) => number(workgroups * times),
            None => NONE.to_owned(),
        };
        let name = Cell::new(limit.resource.to_string());
        let figures = [1, found.subgroups_per_workgroup].map(|times| right(cell(times)));
        table.add_row(std::iter::once(name).chain(figures));
    }
    table.to_string()
}

/// What a core of each architecture holds.
pub(crate) fn architectures(all: &[Architecture], style: Style) -> String {
    let mut table = style.table(&[
        "architecture",
        "devices",
        "W",
        "subgroups",
        "workgroups",
        "registers",
        "workgroup memory",
        "sources",
    ]);
    for one in all {
        let figures = [one.width, one.subgroups, one.workgroups, one.registers, one.memory_bytes];
        let mut row = vec![Cell::new(&one.name), Cell::new(&one.description)];
        row.extend(figures.map(|figure| right(number(figure))));
        row.push(Cell::new(one.sources.join(", ")));
        table.add_row(row);
    }
    table.to_string()
}

fn number(value: u32) -> String {
    grouped(value.into())
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The summary of one device.
pub(crate) fn summary(device: &DeviceSummary, style: Style) -> String {
    // Rates have columns where a kernel says what it must move, and nowhere else.
    let rates = device.rows.iter().any(|row| row.bandwidth.is_some());
    let mut header = vec![
        "kernel",
        "parameters",
        "W",
        "active lanes",
        "expected",
        "simulated",
        "published",
        "efficiency",
        "time",
        "ratio",
        "predicted",
    ];
    if rates {
        header.extend(["rate", "of copy"]);
    }
    header.push("flags");
    let mut table = style.table(&header);
    for row in &device.rows {
        table.add_row(summary_cells(row, rates));
    }
    for column in 2..header.len() - 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn summary_cells(row: &SummaryRow, rates: bool) -> Vec<Cell> {
    let lanes = |value: Option<f64>| value.map_or(NONE.to_owned(), |lanes| format!("{lanes:.2}"));
    let time = row.time.map_or(NONE.to_owned(), |time| time.median.to_string());
    let mut flags = row.flags.clone();
    flags.sort();
    let published = row.published.as_ref().map(|published| published.active_lanes_mean);
    let published = published.map_or(NONE.to_owned(), |lanes| format!("{lanes:.1}"));
    let mut cells = vec![
        row.kernel.clone(),
        parameters_text(&row.parameters, &[]),
        row.width.map_or(NONE.to_owned(), |width| width.to_string()),
        lanes(row.active_lanes_mean),
        lanes(row.active_lanes_mean_expected),
        lanes(row.active_lanes_mean_simulated),
        published,
        row.efficiency.map_or(NONE.to_owned(), |ratio| format!("{:.1} %", ratio.0 * 100.0)),
        time,
        time_ratio(&row.time_ratio),
        row.time_ratio_predicted.map_or(NONE.to_owned(), |ratio| format!("{ratio:.2}×")),
    ];
    if rates {
        let rate = row.bandwidth.map(|found| format!("{:.1} GB/s", found.bytes_per_s / 1e9));
        let share = row.bandwidth.and_then(|found| found.copy_rate);
        cells.push(rate.unwrap_or(NONE.to_owned()));
        cells.push(share.map_or(NONE.to_owned(), |share| format!("{:.1} %", share.0 * 100.0)));
    }
    cells.push(flag::words(&flags, ", "));
    cells.into_iter().map(Cell::new).collect()
}

fn time_ratio(ratio: &TimeRatio) -> String {
    match ratio {
        TimeRatio::None => NONE.to_owned(),
        TimeRatio::Baseline => "1 (baseline)".to_owned(),
        TimeRatio::Measured(ratio) => {
            let interval = ratio.interval.map(|interval| (interval.high - interval.low) / 2.0);
            let half = interval.map_or(String::new(), |half| format!(" ± {half:.2}"));
            format!("{:.2}×{half}", ratio.median)
        }
        TimeRatio::Withheld(reason) => format!("withheld: {}", reason.phrase()),
    }
}

/// The same launches by every instrument.
pub(crate) fn side_by_side(found: &SideBySide, style: Style) -> String {
    let header = [
        "kernel",
        "parameters",
        "expected",
        "simulator",
        "Vulkan",
        "CUDA",
        "machine code",
        "not predicated off",
        "published",
        "time, Vulkan",
        "time, CUDA",
        "CUDA / Vulkan",
        "where the machine differs",
    ];
    let mut table = style.table(&header);
    for row in &found.rows {
        let lanes =
            |value: Option<f64>| value.map_or(NONE.to_owned(), |lanes| format!("{lanes:.2}"));
        let counted = |figure: &Result<f64, Missing>| lanes(figure.as_ref().ok().copied());
        let time = |figure: &Result<Nanoseconds, Missing>| {
            figure.as_ref().map_or(NONE.to_owned(), Nanoseconds::to_string)
        };
        let published = row.published.as_ref().map(|published| published.active_lanes_mean);
        let differences = match (row.differences.is_empty(), row.machine_code) {
            (true, true) => "nowhere".to_owned(),
            (true, false) => NONE.to_owned(),
            (false, _) => row.differences.join("; "),
        };
        table.add_row([
            short_name(&row.kernel).to_owned(),
            row.parameters.clone(),
            lanes(row.expected),
            counted(&row.simulated),
            counted(&row.counted_other),
            counted(&row.counted_cuda),
            counted(&row.threads),
            counted(&row.threads_on),
            published.map_or(NONE.to_owned(), |lanes| format!("{lanes:.1}")),
            time(&row.time_other),
            time(&row.time_cuda),
            row.times_ratio().map_or(NONE.to_owned(), |ratio| format!("{ratio:.3}")),
            differences,
        ]);
    }
    for column in 2..header.len() - 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// The devices, a row each.
pub(crate) fn devices(devices: &[Device], style: Style) -> String {
    let header = [
        "device",
        "name",
        "driver",
        "backend",
        "W reported",
        "W run",
        "timer",
        "quantum",
        "fma/s",
        "copy",
        "fma()",
        "loop limit",
        "flags",
    ];
    let mut table = style.table(&header);
    for device in devices {
        table.add_row(device_cells(device));
    }
    table.to_string()
}

fn device_cells(device: &Device) -> Vec<Cell> {
    let none = || NONE.to_owned();
    let reported = match (device.subgroup_width_min, device.subgroup_width_max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("{min}–{max}"),
        _ => none(),
    };
    let fused = device.fma_fused.map(|fused| if fused { "fused" } else { "not fused" });
    let cpu = if device.cpu_driver { " (on the processor)" } else { "" };
    let cells = [
        device.id.clone(),
        format!("{}{cpu}", device.name),
        device.driver.clone(),
        device.backend.to_string(),
        reported,
        device.subgroup_width_run.map_or_else(none, |width| width.to_string()),
        device.timestamp_period_ns.map_or_else(none, |period| format!("{period} ns")),
        device.timestamp_quantum_ns.map_or_else(none, |quantum| quantum.to_string()),
        device.peak_fma_per_s.map_or_else(none, |rate| scaled(rate, "")),
        device.copy_bytes_per_s.map_or_else(none, |rate| scaled(rate, "B/s")),
        fused.map_or_else(none, str::to_owned),
        device.loop_limit.map_or_else(none, |limit| limit.to_string()),
        flag::words(&device.flags, ", "),
    ];
    cells.into_iter().map(Cell::new).collect()
}

/// A profile's devices, a row each.
pub(crate) fn profiled(devices: &[DeviceProfile], style: Style) -> String {
    let header = [
        "device",
        "W",
        "active lanes",
        "efficiency",
        "subgroup operations",
        "counts",
        "trust",
        "worst",
    ];
    let mut table = style.table(&header);
    for device in devices {
        let work = device.column.work;
        let mean = work.active_lanes_mean();
        let failed = device.status == Status::Failed;
        let worst = device.lines.first().filter(|line| line.wasted.is_some_and(|w| w > 0.0));
        let cells = [
            device.column.label.clone(),
            device.column.width.map_or(NONE.to_owned(), |width| width.to_string()),
            mean.map_or(NONE.to_owned(), |lanes| format!("{lanes:.2}")),
            device.efficiency().map_or(NONE.to_owned(), |e| format!("{:.1} %", e.0 * 100.0)),
            mean.map_or(NONE.to_owned(), |_| grouped(work.subgroup_operations)),
            if failed { "failed" } else { method(device.column.method) }.to_owned(),
            device.trust.name().to_owned(),
            worst.map_or(NONE.to_owned(), |line| format!("line {}", line.line)),
        ];
        table.add_row(cells.into_iter().map(Cell::new));
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// A rate with a decimal prefix.
pub(crate) fn scaled(value: f64, unit: &str) -> String {
    let (value, prefix) = match value {
        v if v >= 1e12 => (v / 1e12, "T"),
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v => (v, ""),
    };
    format!("{value:.2} {prefix}{unit}").trim_end().to_owned()
}

/// The comparison of two runs.
pub(crate) fn comparison(comparison: &Comparison, style: Style) -> String {
    let header = [
        "kernel",
        "parameters",
        "device A",
        "device B",
        "W A",
        "W B",
        "lanes A",
        "lanes B",
        "time A",
        "time B",
        "time B / A",
        "subgroup operations B / A",
        "flags",
    ];
    let mut table = style.table(&header);
    for row in &comparison.rows {
        let lanes = |side: usize| {
            row.active_lanes_means[side].map_or(NONE.to_owned(), |lanes| format!("{lanes:.2}"))
        };
        let width = |side: usize| row.widths[side].map_or(NONE.to_owned(), |w| w.to_string());
        let time = |side: usize| row.medians[side].map_or(NONE.to_owned(), |t| t.to_string());
        let ratio = row.time_ratio.as_ref().map_or(NONE.to_owned(), |ratio| {
            format!("{:.3}× [{:.3}, {:.3}]", ratio.ratio, ratio.interval.low, ratio.interval.high)
        });
        table.add_row([
            row.kernel.clone(),
            parameters_text(&row.parameters, &[]),
            row.labels[0].clone(),
            row.labels[1].clone(),
            width(0),
            width(1),
            lanes(0),
            lanes(1),
            time(0),
            time(1),
            ratio,
            row.subgroup_operations_ratio.map_or(NONE.to_owned(), |ratio| format!("{ratio:.3}×")),
            flag::words(&row.flags, ", "),
        ]);
    }
    table.to_string()
}
