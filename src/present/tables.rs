//! The list of all tables of a run, and how each is made of `analyze`'s.
//!
//! Input: a run, or a table of `analyze`. Output: [`Table`]s, each with the section it belongs to.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::machine_code::{PLAIN_COLUMNS, counted_code, executed_code, plain_code};
use super::{Cell, Column, Table, kernel_costs, machine_models, width_costs};
use crate::analyze::{
    self, CrossoverTable, DeviceProfile, DeviceSummary, MemoryView, Miss, Missing, ModelRow,
    ModelTable, Over, Profile, SideBySide, SideRow, SpreadRow, Summary, SummaryRow, TimeRatio,
    parameters_text, short_name,
};
use crate::record::{BarrierWait, Device, Output, PeerRow, PublishedFigure, Run, Status};
use crate::units::{Nanoseconds, Ratio, text};

/// The most rows of a device's summary that are shown at once.
const ROWS_MAX: usize = 200;

/// What a table of a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The devices.
    Devices,
    /// What launches cost at each width.
    Widths,
    /// Every measurement of a device.
    Summary,
    /// The same launches by every instrument.
    Instruments,
    /// What compilers made of the launches, and what of it ran.
    MachineCode,
    /// Predicted and measured speed-ups.
    Model,
    /// Where each kernel is as fast as its baseline.
    Crossovers,
}

/// Every table of a run, in the order in which they are shown.
pub fn tables(run: &Run) -> Vec<(Section, Table)> {
    let mut found = vec![(Section::Devices, devices(&run.devices))];
    for device in analyze::summary(run).devices.iter().filter(|device| !device.rows.is_empty()) {
        let emulated = is_emulated(run, device);
        for family in by_family(device) {
            if emulated && !family.rows.iter().any(has_figures) {
                continue;
            }
            found.push((Section::Summary, summary(&family, ROWS_MAX)));
        }
    }
    let costs = analyze::width_costs(run);
    let of_widths = [kernel_costs(&costs), width_costs(&costs), machine_models(&costs)];
    found.extend(of_widths.into_iter().flatten().map(|table| (Section::Widths, table)));
    for table in analyze::side_by_side(run) {
        found.push((Section::Instruments, side_by_side(&table)));
    }
    found.extend(super::traffic(run).map(|table| (Section::Instruments, table)));
    let code = [executed_code(run), counted_code(run)];
    found.extend(code.into_iter().flatten().map(|table| (Section::MachineCode, table)));
    let models = analyze::model_tables(run);
    for (index, table) in models.iter().enumerate() {
        let mut shown = model(table);
        if index + 1 == models.len() {
            shown.notes.extend(analyze::MODEL_LEGEND.map(str::to_owned));
        }
        found.push((Section::Model, shown));
    }
    // One row says no more than the sentence.
    for table in analyze::crossover_tables(run).iter().filter(|table| table.rows.len() > 1) {
        found.push((Section::Crossovers, crossovers(table)));
    }
    found
}

/// The summary of a run in full, a table a device, and what machine code came to.
pub fn summary_tables(run: &Run, found: &Summary) -> Vec<Table> {
    let mut tables = Vec::new();
    for device in &found.devices {
        let mut device = device.clone();
        if is_emulated(run, &device) {
            device.rows.retain(has_figures);
            if device.rows.is_empty() {
                continue;
            }
        }
        tables.push(summary(&device, usize::MAX));
    }
    tables.extend(executed_code(run));
    tables
}

/// Whether no hardware runs what a device's rows are of.
fn is_emulated(run: &Run, device: &DeviceSummary) -> bool {
    run.devices.iter().any(|other| other.id == device.device && other.is_emulated())
}

/// Whether a row of what no hardware runs says more than the table of machine code, which has all that there is of a
/// launch of which machine code alone was executed.
fn has_figures(row: &SummaryRow) -> bool {
    row.active_lanes_mean.is_some() || row.status == Status::Failed
}

/// The rows of a device by family, since families share few parameters; those that have a baseline first.
fn by_family(device: &DeviceSummary) -> Vec<DeviceSummary> {
    let mut families: IndexMap<&str, DeviceSummary> = IndexMap::new();
    for row in &device.rows {
        let family = families.entry(analyze::family(&row.kernel));
        family.or_insert_with(|| device.without_rows()).rows.push(row.clone());
    }
    let mut families: Vec<DeviceSummary> = families.into_values().collect();
    families.sort_by_key(|family| family.rows.iter().all(|row| row.baseline.is_none()));
    families
}

/// The devices, a row each.
pub fn devices(devices: &[Device]) -> Table {
    let columns = [
        Column::words("device"),
        Column::words("name").below(),
        Column::words("driver").below(),
        Column::words("backend").below(),
        Column::figures("reported width").repeats(&["width (W)"]).silent(),
        Column::figures("width (W)"),
        Column::figures("timer tick").spare(),
        Column::figures("timer quantum").spare(),
        Column::figures("peak"),
        Column::figures("copy"),
        Column::figures("launch cost"),
        Column::words("fma() rounds once").spare(),
        Column::figures("loop limit").spare(),
        Column::words("flags").below(),
    ];
    let mut table = Table::new("", columns);
    table.rows = devices.iter().map(device_cells).collect();
    table.without_empty(&["launch cost"])
}

/// The widths that a device's driver reports.
pub fn width_reported(device: &Device) -> Cell {
    match (device.subgroup_width_min, device.subgroup_width_max) {
        (Some(least), Some(most)) => Cell::Widths(least, most),
        (Some(width), None) | (None, Some(width)) => Cell::Width(width),
        (None, None) => Cell::none(),
    }
}

fn device_cells(device: &Device) -> Vec<Cell> {
    let lanes = match device.lane_is_local_index_mod_width {
        Some(true) => "lane = local index mod W",
        Some(false) => "lanes are numbered otherwise than local index mod W",
        None => "",
    };
    let cpu = if device.cpu_driver { " (on the processor)" } else { "" };
    vec![
        Cell::text(&device.id),
        Cell::text(format!("{}{cpu}", device.name)),
        Cell::text(&device.driver),
        Cell::text(device.backend.name()),
        width_reported(device),
        Cell::from_option(device.subgroup_width_run, Cell::Width).with(lanes.to_owned()),
        Cell::from_option(device.timestamp_period_ns, |period| Cell::Time(Nanoseconds(period))),
        Cell::from_option(device.timestamp_quantum_ns, Cell::Time),
        Cell::from_option(device.peak_fma_per_s, |rate| Cell::Rate(rate, "FMA/s")),
        Cell::from_option(device.copy_bytes_per_s, |rate| Cell::Rate(rate, "B/s")),
        Cell::from_option(device.launch_ns, Cell::Time),
        Cell::from_option(device.fma_fused, Cell::YesNo),
        Cell::from_option(device.loop_limit, |limit| Cell::Count(limit.into())),
        Cell::Flags(device.flags.clone()),
    ]
}

/// The summary of one device: of more than `rows_max` rows those of each kernel's most usual
/// parameters, the others folded. Columns in which it has nothing are left out.
pub fn summary(device: &DeviceSummary, rows_max: usize) -> Table {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("W").once(),
        Column::figures("active lanes"),
        Column::figures("expected").repeats(&["active lanes", "simulated"]).spare(),
        Column::figures("simulated").repeats(&["active lanes"]),
        Column::figures("published"),
        Column::figures("efficiency"),
        Column::figures(LANE_SLOTS).spare(),
        Column::figures("time"),
        Column::figures("ratio").with_notes(),
        Column::figures("predicted"),
        Column::figures("rate").spare(),
        Column::figures("of copy").spare(),
        Column::words("flags").below(),
    ];
    let title = if device.label == device.device {
        device.label.clone()
    } else {
        format!("{}, {}", device.label, device.device)
    };
    let mut table = Table::new(title, columns);
    let (shown, _) = device.usual(rows_max);
    let has_ratios = device
        .rows
        .iter()
        .any(|row| matches!(row.time_ratio, TimeRatio::Measured(_) | TimeRatio::Withheld(_)));
    let mut rest = shown.rows.iter().peekable();
    for row in &device.rows {
        // What is shown stands in the order of the whole.
        let folded = rest.next_if(|next| *next == row).is_none();
        let rows = if folded { &mut table.rows_folded } else { &mut table.rows };
        rows.push(summary_cells(row, device.beside_other_widths, has_ratios));
    }
    let launches =
        device.rows.iter().map(|row| (&row.kernel, parameters_text(&row.parameters, &[])));
    if device.rows.iter().any(|row| row.time.is_some()) && stand_twice(launches) {
        table.notes.push(TWICE.to_owned());
    }
    table.without_empty(&[
        "simulated",
        "published",
        LANE_SLOTS,
        "time",
        "ratio",
        "predicted",
        "rate",
        "of copy",
    ])
}

/// What is said where a launch has several rows.
pub(super) const TWICE: &str =
    "A launch that stands twice was timed twice, side by side with other launches each time.";

/// Whether one of these launches is another of them.
pub(super) fn stand_twice<L: Ord>(mut launches: impl Iterator<Item = L>) -> bool {
    let mut known = BTreeSet::new();
    launches.any(|launch| !known.insert(launch))
}

fn summary_cells(row: &SummaryRow, beside_other_widths: bool, has_ratios: bool) -> Vec<Cell> {
    let mut ratio = time_ratio(&row.time_ratio);
    if let Some(published) = row.published_ratio_contradicted() {
        ratio = ratio.with(format!("≠ published {}×", text::ratio(published)));
    }
    let predicted = Cell::from_option(row.time_ratio_predicted, Cell::Factor);
    // Where no ratio was measured, what is predicted says which row is the baseline.
    let (ratio, predicted) = match row.time_ratio {
        _ if has_ratios => (ratio, predicted),
        TimeRatio::Baseline => (Cell::none(), ratio),
        _ => (Cell::none(), predicted),
    };
    let published = row.published.as_ref();
    // Why a ratio is withheld stands beside it.
    let mut flags = row.flags.clone();
    if let TimeRatio::Withheld(reason) = &row.time_ratio {
        flags.retain(|flag| flag.tag != *reason);
    }
    flags.sort();
    vec![
        Cell::Kernel(row.kernel.clone()),
        Cell::parameters(&row.parameters),
        Cell::from_option(row.width, Cell::Width),
        Cell::from_option(row.active_lanes_mean, Cell::Lanes),
        Cell::from_option(row.active_lanes_mean_expected, Cell::Lanes),
        Cell::from_option(row.active_lanes_mean_simulated, Cell::Lanes),
        Cell::from_option(published, |figure| {
            published_cell(figure, row.published_is_contradicted())
        }),
        Cell::from_option(row.efficiency, Cell::Percent),
        Cell::from_option(row.lane_slots.filter(|_| beside_other_widths), Cell::Rounded),
        Cell::from_option(row.time, |time| {
            Cell::Measured(time.median, time.interval, Some(time.noise))
        }),
        ratio,
        predicted,
        Cell::from_option(row.bandwidth, |found| Cell::Rate(found.bytes_per_s, "B/s")),
        Cell::from_option(row.bandwidth.and_then(|found| found.copy_rate), Cell::Percent),
        Cell::Flags(flags),
    ]
}

/// A published mean of lanes, with a mark where what was counted contradicts it.
fn published_cell(figure: &PublishedFigure, contradicted: bool) -> Cell {
    let published = figure.active_lanes_mean;
    if contradicted {
        let lanes = Cell::Lanes(published).to_text();
        return Cell::text(format!("≠ {lanes}")).with(format!("{}, contradicted", figure.hardware));
    }
    Cell::Lanes(published).with(figure.hardware.clone())
}

/// A kernel's time over its baseline's.
fn time_ratio(ratio: &TimeRatio) -> Cell {
    match ratio {
        TimeRatio::None => Cell::none(),
        TimeRatio::Baseline => Cell::text("baseline"),
        TimeRatio::Measured(ratio) => Cell::from_paired(ratio),
        TimeRatio::Withheld(reason) => Cell::Noted("withheld".to_owned(), reason.phrase()),
    }
}

/// Every measurement for machines: a unit in each column's name, plain numbers.
pub fn summary_plain(summary: &Summary) -> Table {
    let names = [
        "device",
        "device_name",
        "kernel",
        "parameters",
        "status",
        "subgroup_width",
        "active_lanes_mean",
        "active_lanes_mean_expected",
        "active_lanes_mean_simulated",
        "active_lanes_mean_published",
        "efficiency_ratio",
        "lane_slots",
        "time_median_ns",
        "time_ci95_low_ns",
        "time_ci95_high_ns",
        "time_noise_ratio",
        "time_ratio",
        "time_ratio_low",
        "time_ratio_high",
        "time_ratio_predicted",
        "rate_bytes_per_s",
        "copy_rate_ratio",
        "flags",
        "error",
    ];
    let names = names.into_iter().chain(PLAIN_COLUMNS);
    let mut table = Table::new("", names.map(Column::words));
    for device in &summary.devices {
        table.rows.extend(device.rows.iter().map(|row| plain_cells(device, row)));
    }
    table
}

fn plain_cells(device: &DeviceSummary, row: &SummaryRow) -> Vec<Cell> {
    let ratio = match &row.time_ratio {
        TimeRatio::Measured(ratio) => Some(ratio),
        TimeRatio::None | TimeRatio::Baseline | TimeRatio::Withheld(_) => None,
    };
    let interval = ratio.and_then(|ratio| ratio.interval);
    let published = row.published.as_ref().map(|published| published.active_lanes_mean);
    let mut cells = vec![
        Cell::text(&device.device),
        Cell::text(&device.label),
        Cell::text(&row.kernel),
        Cell::text(parameters_text(&row.parameters, &[])),
        Cell::text(if row.status == Status::Ok { "ok" } else { "failed" }),
        Cell::from_option(row.width, Cell::Width),
        Cell::from_option(row.active_lanes_mean, Cell::Lanes),
        Cell::from_option(row.active_lanes_mean_expected, Cell::Lanes),
        Cell::from_option(row.active_lanes_mean_simulated, Cell::Lanes),
        Cell::from_option(published, Cell::Lanes),
        Cell::from_option(row.efficiency, Cell::Percent),
        Cell::from_option(row.lane_slots, Cell::Count),
        Cell::from_option(row.time, |time| Cell::Time(time.median)),
        Cell::from_option(row.time, |time| Cell::Time(time.interval[0])),
        Cell::from_option(row.time, |time| Cell::Time(time.interval[1])),
        Cell::from_option(row.time, |time| Cell::Percent(time.noise)),
        Cell::from_option(ratio, |ratio| Cell::Factor(ratio.median)),
        Cell::from_option(interval, |interval| Cell::Factor(interval.low)),
        Cell::from_option(interval, |interval| Cell::Factor(interval.high)),
        Cell::from_option(row.time_ratio_predicted, Cell::Factor),
        Cell::from_option(row.bandwidth, |found| Cell::Rate(found.bytes_per_s, "B/s")),
        Cell::from_option(row.bandwidth.and_then(|found| found.copy_rate), Cell::Percent),
        Cell::Flags(row.flags.clone()),
        Cell::text(row.error.clone().unwrap_or_default()),
    ];
    cells.extend(plain_code(row.executed.as_ref()));
    cells
}

/// The most ratios that counting misses for one reason that are shown at once.
const MISSES_MAX: usize = 10;

/// Ratios that counting misses, the furthest off first.
pub fn misses_table(misses: &[Miss]) -> Table {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::words("device").once(),
        Column::figures("measured").with_notes(),
        Column::figures("predicted"),
        Column::figures(LAUNCH_APART),
        Column::figures("counting says"),
    ];
    let mut table = Table::new("", columns);
    table.folded_are = "that are nearer";
    for (place, miss) in misses.iter().enumerate() {
        let off = match miss.factor() {
            factor if factor >= 2.0 => format!("{} times as much", text::ratio(factor)),
            factor if factor <= 0.5 => format!("{} times less", text::ratio(1.0 / factor)),
            factor if factor > 1.0 => format!("{} more", text::whole_percent(Ratio(factor - 1.0))),
            factor => format!("{} less", text::whole_percent(Ratio(1.0 - factor))),
        };
        let rows = if place < MISSES_MAX { &mut table.rows } else { &mut table.rows_folded };
        rows.push(vec![
            Cell::Kernel(miss.kernel.clone()),
            Cell::parameters(&miss.parameters),
            Cell::text(&miss.label),
            Cell::from_paired(&miss.measured),
            Cell::Factor(miss.predicted),
            Cell::from_option(miss.predicted_with_launch, Cell::Factor),
            Cell::text(off),
        ]);
    }
    table.without_empty(&[LAUNCH_APART])
}

/// The column of what counting predicts of the parts of both times that are not the launch's own.
const LAUNCH_APART: &str = "with the launch";

/// The same launches by every instrument; below it why figures are missing.
pub fn side_by_side(found: &SideBySide) -> Table {
    let columns = [
        Column::words("kernel").once(),
        Column::words("parameters"),
        Column::figures("expected"),
        Column::figures("simulator").repeats(&["expected"]),
        Column::figures("Vulkan").repeats(&["expected", "simulator"]),
        Column::figures("CUDA").repeats(&["expected", "simulator", "Vulkan"]),
        Column::figures("machine code"),
        Column::figures("not predicated off"),
        Column::figures("published"),
        Column::figures("time, Vulkan"),
        Column::figures("time, CUDA"),
        Column::figures("CUDA / Vulkan"),
        Column::words("where the machine differs from the source").below(),
    ];
    let form = found.form.as_ref().map_or(String::new(), |form| format!(", {form}"));
    let other = found.other_label.as_ref();
    let beside = other.map_or(String::new(), |label| format!(" and {label}"));
    let title = format!("{}{form}, on {}{beside}", found.family, found.cuda_label);
    let mut table = Table::new(title, columns);
    table.rows = found.rows.iter().map(side_by_side_cells).collect();
    table.notes = found.reasons();
    table.without_empty(&["published"])
}

fn side_by_side_cells(row: &SideRow) -> Vec<Cell> {
    let lanes = |figure: &Result<f64, Missing>| to_cell(figure, |lanes| Cell::Lanes(*lanes));
    let time = |figure: &Result<Nanoseconds, Missing>| to_cell(figure, |time| Cell::Time(*time));
    let published = row.published.as_ref();
    let differences = match (row.differences.is_empty(), row.machine_code) {
        (true, true) => Cell::text("nowhere"),
        (true, false) => Cell::none(),
        (false, _) => Cell::text(row.differences.join("; ")),
    };
    vec![
        Cell::text(short_name(&row.kernel)),
        Cell::parameters(&row.parameters),
        Cell::from_option(row.expected, Cell::Lanes),
        lanes(&row.simulated),
        lanes(&row.counted_other),
        lanes(&row.counted_cuda),
        lanes(&row.threads),
        lanes(&row.threads_on),
        Cell::from_option(published, |figure| Cell::Lanes(figure.active_lanes_mean)),
        time(&row.time_other),
        time(&row.time_cuda),
        Cell::from_option(row.times_ratio(), Cell::Factor),
        differences,
    ]
}

/// A figure, or nothing: the reasons stand once below the table.
fn to_cell<T>(figure: &Result<T, Missing>, cell: impl Fn(&T) -> Cell) -> Cell {
    figure.as_ref().map_or_else(|_| Cell::none(), cell)
}

/// Speed-ups over the kernels' baselines, beside what counting and traffic predict.
pub fn model(found: &ModelTable) -> Table {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("W"),
        Column::figures("efficiency before"),
        Column::figures("after"),
        Column::figures("arms run"),
        Column::figures("counted"),
        Column::figures("with traffic"),
        Column::figures("measured"),
        Column::figures("remainder").with_notes(),
        Column::figures("moved").with_notes(),
        Column::figures("dispatches").with_notes(),
    ];
    let title = format!(
        "{}, {}{}: speed-up counted, with traffic and measured",
        found.label,
        found.family,
        shared_text(&found.shared)
    );
    let mut table = Table::new(title, columns);
    table.rows = found.rows.iter().map(|row| model_cells(found, row)).collect();
    table.rows_folded = found.others.iter().map(|row| model_cells(found, row)).collect();
    table
}

fn model_cells(table: &ModelTable, row: &ModelRow) -> Vec<Cell> {
    let share = row.remainder_share();
    let share =
        share.map_or(String::new(), |share| format!("{} of the time", text::signed_percent(share)));
    let rate = row
        .copy_rate
        .map_or(String::new(), |rate| format!("{} of the copy rate", text::percent(rate)));
    let sorting = row.sorting.map_or(String::new(), |time| format!("sorting {time}"));
    let [before, after] = row.efficiencies.map(|share| Cell::from_option(share, Cell::Percent));
    vec![
        Cell::text(format!("{} over {}", short_name(&row.kernel), short_name(&row.baseline))),
        Cell::text(table.parameters(row)),
        Cell::from_option(row.width, Cell::Width),
        before,
        after,
        Cell::from_option(row.arms_run, Cell::Lanes),
        Cell::from_option(row.speedup_counted, Cell::Factor),
        Cell::from_option(row.speedup_with_traffic, Cell::Factor),
        Cell::from_option(row.speedup_measured, Cell::Factor),
        Cell::from_option(row.remainder, Cell::Time).with(share),
        Cell::from_option(row.bytes, Cell::Bytes).with(rate),
        Cell::Count(row.dispatches as u128).with(sorting),
    ]
}

/// Where each kernel crosses its baseline.
pub fn crossovers(found: &CrossoverTable) -> Table {
    let parameters = found.parameters.iter().map(Column::words);
    let kernels = found.kernels.iter().map(|name| Column::words(name).with_notes());
    let title = format!(
        "{}{}: where each kernel is as fast as {} along {}, and its speed-up at the end",
        found.label,
        shared_text(&found.shared),
        found.baseline,
        found.axis
    );
    let mut table = Table::new(title, parameters.chain(kernels));
    for row in &found.rows {
        let cells = row.crossovers.iter().zip(&row.last).map(|(crossover, last)| {
            let last = last.map_or(String::new(), |last| Cell::Factor(last).to_text());
            Cell::from_option(crossover.as_ref(), |words| Cell::Noted(words.clone(), last))
        });
        table.rows.push(row.parameters.iter().map(Cell::text).chain(cells).collect());
    }
    table
}

/// What all rows share, in brackets; empty where nothing is.
fn shared_text(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// The column of lane slots, where widths are compared.
const LANE_SLOTS: &str = "lane slots";

/// A profile's devices, a row each, but for those whose machine code alone was executed.
pub fn profile_table(devices: &[DeviceProfile]) -> Table {
    let columns = [
        Column::words("device"),
        Column::figures("W"),
        Column::figures("active lanes"),
        Column::figures("efficiency"),
        Column::figures("subgroup operations"),
        Column::figures(LANE_SLOTS),
        Column::words("counts").named_below().once(),
        Column::words("trust").named_below().once(),
        Column::words("worst").named_below(),
    ];
    // One width has nothing to be compared with.
    let several = analyze::have_several_widths(devices);
    let columns = columns.into_iter().filter(|column| several || column.name != LANE_SLOTS);
    let mut table = Table::new("", columns);
    for device in devices {
        let work = device.column.work;
        let mean = work.active_lanes_mean();
        let failed = device.status == Status::Failed;
        // Of machine code alone there is a sentence, and nothing for these columns.
        if device.executed.is_some() && mean.is_none() && !failed {
            continue;
        }
        let worst = device.lines.first().filter(|line| line.wasted.is_some_and(|w| w > 0.0));
        let method = device.column.method;
        let mut row = vec![
            Cell::text(&device.column.label),
            Cell::from_option(device.column.width, Cell::Width),
            Cell::from_option(mean, Cell::Lanes),
            Cell::from_option(device.efficiency(), Cell::Percent),
            Cell::from_option(mean, |_| Cell::Count(work.subgroup_operations)),
        ];
        row.extend(several.then(|| {
            let counted = device.column.width.filter(|_| mean.is_some());
            Cell::from_option(counted, |width| Cell::Count(work.lane_slots(width)))
        }));
        row.extend([
            if failed {
                Cell::text("failed")
            } else {
                Cell::from_option(method, |trust| Cell::text(trust.name()))
            },
            // What failed has no counts that could be relied on.
            Cell::from_option(device.trust_shown(), |trust| Cell::text(trust.name())),
            Cell::from_option(worst, |line| Cell::text(format!("line {}", line.line))),
        ]);
        table.rows.push(row);
    }
    table
}

/// Several launches as parts of one: a row for each on each device, with its part of what the device wastes and,
/// where all are timed, its time.
pub fn launches_table(profiles: &[Profile]) -> Table {
    let devices = || profiles.iter().flat_map(|profile| &profile.devices);
    let timed = devices().any(|device| device.time.is_some());
    let checked = devices().any(|device| device.output != Output::Unchecked);
    let columns = [
        Some(Column::words("dispatch")),
        Some(Column::words("device")),
        Some(Column::figures("W")),
        Some(Column::figures("subgroup operations")),
        Some(Column::figures("efficiency")),
        Some(Column::figures("of all waste")),
        timed.then(|| Column::figures("time")),
        checked.then(|| Column::words("outputs")),
    ];
    let mut wasted: BTreeMap<&str, f64> = BTreeMap::new();
    for device in devices() {
        *wasted.entry(&device.column.device).or_default() += waste(device);
    }
    let mut table = Table::new("By dispatch", columns.into_iter().flatten());
    for profile in profiles {
        for device in &profile.devices {
            let all = wasted.get(&*device.column.device).copied().unwrap_or_default();
            let part = device.efficiency().filter(|_| all > 0.0).map(|_| waste(device) / all);
            let counted = device.efficiency().map(|_| device.column.work.subgroup_operations);
            let mut row = vec![
                Cell::text(&profile.kernel),
                Cell::text(&device.column.device),
                Cell::from_option(device.column.width, Cell::Width),
                Cell::from_option(counted, Cell::Count),
                Cell::from_option(device.efficiency(), Cell::Percent),
                Cell::from_option(part, |part| Cell::Percent(Ratio(part))),
            ];
            let time = device.time.as_ref().map(|time| time.median);
            row.extend(timed.then(|| Cell::from_option(time, Cell::Time)));
            row.extend(checked.then(|| Cell::text(outputs(device))));
            table.rows.push(row);
        }
    }
    table
}

/// What is said of a launch's outputs.
fn outputs(device: &DeviceProfile) -> &'static str {
    match (device.status, device.output) {
        (Status::Failed, _) => "failed",
        (_, Output::Verified) => "equal",
        (_, Output::Mismatch) if device.differs_by_order() => "differ by order",
        (_, Output::Mismatch) => "differ",
        (_, Output::Unchecked) => text::NONE,
    }
}

/// The subgroup operations that a launch wastes.
#[expect(clippy::cast_precision_loss, reason = "a share is shown to a few digits")]
fn waste(device: &DeviceProfile) -> f64 {
    let idle = device.efficiency().map_or(0.0, |efficiency| 1.0 - efficiency.0);
    device.column.work.subgroup_operations as f64 * idle
}

/// What each line's accesses to memory cost in a model, each figure over the least that it could be.
pub fn memory_table(view: &MemoryView) -> Table {
    let columns = [
        Column::figures("line"),
        Column::words("memory"),
        Column::words("does"),
        Column::figures("lanes"),
        Column::figures("sectors"),
        Column::figures("cache lines"),
        Column::figures("passes"),
        Column::figures("turns"),
    ];
    let over = |cost: Option<Over>| Cell::from_option(cost, |cost| Cell::Factor(cost.ratio));
    let mut table = Table::new("", columns);
    table.rows = view
        .rows
        .iter()
        .map(|row| {
            vec![
                // No commas: the page makes links of it.
                Cell::text(row.line.to_string()),
                Cell::text(row.buffer.as_deref().unwrap_or("workgroup")),
                Cell::text(row.does.name()),
                Cell::Lanes(row.lanes_mean),
                over(row.sectors),
                over(row.cache_lines),
                over(row.passes),
                over(row.turns),
            ]
        })
        .collect();
    table.without_empty(&["sectors", "cache lines", "passes", "turns"])
}

/// What whole subgroups wait for others of their workgroup, a row for each line with barriers.
pub fn waits_table(waits: &[BarrierWait]) -> Table {
    let columns = [
        Column::figures("line"),
        Column::figures("barriers passed"),
        Column::figures("operations waited"),
        Column::figures("of the time"),
    ];
    let mut table = Table::new("", columns);
    let cells = |wait: &BarrierWait| {
        vec![
            Cell::text(wait.line.to_string()),
            Cell::Count(wait.barriers.into()),
            Cell::Count(wait.waited_operations.into()),
            Cell::from_option(
                Ratio::divide(wait.waited_operations, wait.operations),
                Cell::Percent,
            ),
        ]
    };
    table.rows = waits.iter().map(cells).collect();
    table
}

/// The shares of subgroups, in percent, whose efficiencies a table shows.
const QUANTILES: [(u32, &str); 5] =
    [(0, "least"), (10, "a tenth below"), (50, "half below"), (90, "a tenth above"), (100, "most")];

/// How unlike the subgroups of kernels are: between which efficiencies they lie.
pub fn spread_table(rows: &[SpreadRow]) -> Table {
    let mut columns =
        vec![Column::words("kernel"), Column::words("device"), Column::figures("subgroups")];
    columns.extend(QUANTILES.map(|(_, words)| Column::figures(words)));
    let mut table = Table::new("", columns);
    for row in rows {
        let mut cells = vec![
            Cell::Noted(row.kernel.clone(), row.parameters.clone()),
            Cell::text(&row.label),
            Cell::Count(row.subgroups.into()),
        ];
        cells.extend(QUANTILES.map(|(percent, _)| match row.quantiles.get(&percent) {
            Some(ratio) => Cell::Percent(*ratio),
            None => Cell::Missing(String::new()),
        }));
        table.rows.push(cells);
    }
    table
}

/// The library's functions beside what a CUDA user would pick.
pub fn peers(rows: &[PeerRow]) -> Table {
    let columns = [
        Column::words("work"),
        Column::figures("elements"),
        Column::words("caches"),
        Column::figures("time"),
        Column::words("peer"),
        Column::figures("its time"),
        Column::figures("speed over the peer's"),
        Column::figures("of the copy rate"),
        Column::words("device"),
    ];
    let mut table = Table::new("", columns);
    for row in rows {
        table.rows.push(vec![
            Cell::text(&row.work),
            Cell::Count(row.n.into()),
            Cell::text(if row.cold { "cold" } else { "warm" }),
            Cell::Time(Nanoseconds(row.median_ns)),
            Cell::text(&row.peer),
            Cell::Time(Nanoseconds(row.peer_median_ns)),
            Cell::Factor(row.speed_ratio),
            Cell::Percent(Ratio(row.copy_rate_ratio)),
            Cell::text(&row.device),
        ]);
    }
    table
}
