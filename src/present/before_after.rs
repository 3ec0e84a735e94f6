//! Two runs as tables: every launch of both; one launch before and after, its dispatches, functions and lines.
//!
//! Input: what `analyze` compared. Output: [`Table`]s for terminal, Markdown and page.

use super::tables::{TWICE, stand_twice};
use super::{Cell, Column, Table};
use crate::analyze::{
    Comparison, ComparisonRow, Figures, LaunchComparison, LaunchPart, LinePart, Trend,
    parameters_text,
};
use crate::units::{Nanoseconds, Width};

/// The comparison of two runs.
pub fn comparison(comparison: &Comparison) -> Table {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::words("device A").once(),
        Column::words("device B").once().repeats(&["device A"]),
        Column::figures("W A").once(),
        Column::figures("W B").once().repeats(&["W A"]),
        Column::figures("lanes A"),
        Column::figures("lanes B").repeats(&["lanes A"]),
        Column::figures("time A"),
        Column::figures("time B"),
        Column::figures("time B / A").with_notes(),
        Column::figures("subgroup operations B / A"),
        Column::figures("lane slots A").spare(),
        Column::figures("lane slots B").spare(),
        Column::figures("lane slots B / A").with_notes(),
        Column::figures("seeds"),
        Column::words("flags").below(),
    ];
    let mut table = Table::new("", columns);
    // What was executed as machine code alone stands in a table of its own.
    let rows = comparison.rows.iter().filter(|row| !row.is_executed_alone());
    table.rows = rows.map(comparison_cells).collect();
    let launches = comparison
        .rows
        .iter()
        .map(|row| (&row.kernel, parameters_text(&row.parameters, &[]), &row.labels));
    table.notes.extend(stand_twice(launches).then(|| TWICE.to_owned()));
    table.without_empty(&[
        "time A",
        "time B",
        "time B / A",
        "subgroup operations B / A",
        "lane slots A",
        "lane slots B",
        "lane slots B / A",
        "seeds",
    ])
}

/// A launch's row of a comparison.
fn comparison_cells(row: &ComparisonRow) -> Vec<Cell> {
    let one_width = |row: &ComparisonRow| row.widths[0] == row.widths[1];
    let width = |width: Option<Width>| Cell::from_option(width, Cell::Width);
    let lanes = |lanes: Option<f64>| Cell::from_option(lanes, Cell::Lanes);
    let time = |time: Option<Nanoseconds>| Cell::from_option(time, Cell::Time);
    vec![
        Cell::Kernel(row.kernel.clone()),
        Cell::parameters(&row.parameters),
        Cell::text(&row.labels[0]),
        Cell::text(&row.labels[1]),
        width(row.widths[0]),
        width(row.widths[1]),
        lanes(row.active_lanes_means[0]),
        lanes(row.active_lanes_means[1]),
        time(row.medians[0]),
        time(row.medians[1]),
        Cell::from_option(row.time_ratio.as_ref(), |ratio| {
            Cell::Between(ratio.ratio, [ratio.interval.low, ratio.interval.high])
        }),
        Cell::from_option(row.subgroup_operations_ratio.filter(|_| one_width(row)), Cell::Factor),
        Cell::from_option(row.lane_slots[0].filter(|_| !one_width(row)), Cell::Rounded),
        Cell::from_option(row.lane_slots[1].filter(|_| !one_width(row)), Cell::Rounded),
        Cell::from_option(row.lane_slots_ratio.filter(|_| !one_width(row)), |ratio| {
            match row.lane_slots_range {
                Some((range, _)) => Cell::Between(ratio, range),
                None => Cell::Factor(ratio),
            }
        }),
        Cell::from_option(row.lane_slots_range.filter(|_| !one_width(row)), |(_, seeds)| {
            Cell::Count(seeds as u128)
        }),
        Cell::Flags(row.flags.clone()),
    ]
}

/// The tables of one launch: the whole first; dispatches and functions where there are several; calls of functions
/// that are called from several places; the lines that changed most, at most `lines_max` of them.
pub fn launch_comparison(launch: &LaunchComparison, lines_max: usize) -> Vec<Table> {
    let mut tables = vec![whole(launch)];
    let label = device_text(launch);
    if launch.dispatches.len() > 1 {
        tables.push(parts(&format!("Dispatches on {label}"), "dispatch", &launch.dispatches));
    }
    if launch.functions.len() > 1 {
        tables.push(parts(&format!("Functions on {label}"), "function", &launch.functions));
    }
    if !launch.calls.is_empty() {
        let title = format!("Functions by where they are called from on {label}");
        tables.push(parts(&title, "call", &launch.calls));
    }
    tables.extend(lines(launch, lines_max));
    tables
}

/// The device, or the two.
pub fn device_text(launch: &LaunchComparison) -> String {
    let [a, b] = &launch.labels;
    if a == b { a.clone() } else { format!("{a} and {b}") }
}

/// A trend's word; nothing where nothing changed.
fn trend_cell(trend: Trend) -> Cell {
    match trend {
        Trend::Same => Cell::text(""),
        Trend::Better | Trend::Worse => Cell::text(trend.name()),
    }
}

/// The figures of the whole, a row each.
fn whole(launch: &LaunchComparison) -> Table {
    let columns =
        [Column::words(""), Column::figures("A"), Column::figures("B"), Column::figures("B / A")];
    let columns = columns.into_iter().chain([Column::words("")]);
    let mut table = Table::new(device_text(launch), columns);
    let one_width = launch.widths[0] == launch.widths[1];
    let mut row =
        |name: &str, cells: [Cell; 2], ratio: Option<Cell>, less_is_better: Option<bool>| {
            let value = |ratio: &Cell| ratio.value();
            let word =
                match (ratio.as_ref().and_then(value), less_is_better) {
                    (Some(ratio), Some(less))
                        if (ratio - 1.0).abs() >= crate::analyze::CHANGE_MIN =>
                    {
                        if (ratio < 1.0) == less { "better" } else { "worse" }
                    }
                    _ => "",
                };
            let ratio = ratio.unwrap_or_else(Cell::none);
            let [a, b] = cells;
            table.rows.push(vec![Cell::text(name), a, b, ratio, Cell::text(word)]);
        };
    let figures = launch.whole.figures;
    let counts = |figure: fn(&Figures) -> Option<u128>| {
        figures.map(|side| Cell::from_option(side.as_ref().and_then(figure), Cell::Count))
    };
    let ratio = |figure: fn(&Figures) -> Option<f64>| {
        let [a, b] = figures.map(|side| side.as_ref().and_then(figure));
        let [a, b] = [a?, b?];
        (a > 0.0).then(|| Cell::Factor(b / a))
    };
    let operations = |figures: &Figures| Some(figures.subgroup_operations);
    let less = one_width.then_some(true);
    let factor = one_width.then(|| ratio(|f| approximate(Some(f.subgroup_operations)))).flatten();
    row("subgroup operations", counts(operations), factor, less);
    let slots = ratio(|figures| approximate(figures.lane_slots));
    row("lane slots", counts(|figures| figures.lane_slots), slots, Some(true));
    let idle = ratio(|figures| approximate(figures.lane_slots_idle));
    row("idle lane slots", counts(|figures| figures.lane_slots_idle), idle, Some(true));
    let lanes = figures
        .map(|side| Cell::from_option(side.and_then(|side| side.active_lanes_mean), Cell::Lanes));
    let factor = one_width.then(|| ratio(|figures| figures.active_lanes_mean)).flatten();
    row("mean active lanes", lanes, factor, None);
    let efficiency = figures
        .map(|side| Cell::from_option(side.and_then(|side| side.efficiency_ratio), Cell::Percent));
    row("efficiency", efficiency, ratio(|figures| Some(figures.efficiency_ratio?.0)), None);
    let times = figures.map(time_cell);
    if times.iter().any(|cell| !cell.is_missing()) {
        let ratio = launch.time.as_ref().map(|time| match time.interval {
            Some(interval) => Cell::Between(time.ratio, interval),
            None => Cell::Factor(time.ratio),
        });
        let known = launch.time.as_ref().is_some_and(|time| {
            let [low, high] = time.bounds();
            low > 1.0 || high < 1.0
        });
        // Where the device itself changed its speed, the ratio at one speed is judged.
        let at_speed = launch.time.as_ref().filter(|time| time.at_speed_of_a.is_some());
        row("time", times, ratio, (known && at_speed.is_none()).then_some(true));
        if let Some(time) = at_speed {
            let [low, high] = time.bounds();
            let ratio = Cell::Between(f64::midpoint(low, high), [low, high]);
            let cells = [Cell::none(), Cell::none()];
            row("time at A's speed", cells, Some(ratio), known.then_some(true));
        }
    }
    table.columns[3].notes_inline = true;
    table
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of counts is shown to a few digits")]
fn approximate(count: Option<u128>) -> Option<f64> {
    count.map(|count| count as f64)
}

/// The columns of figures that parts and lines share.
fn figure_columns() -> Vec<Column> {
    vec![
        Column::figures("lane slots A"),
        Column::figures("lane slots B"),
        Column::figures("lanes A"),
        Column::figures("lanes B"),
        Column::words(""),
        Column::words("subgroup operations, idle slots").below(),
    ]
}

fn figure_cells(figures: &[Option<Figures>; 2], trend: Trend) -> Vec<Cell> {
    let count = |side: usize, figure: fn(&Figures) -> Option<u128>| {
        Cell::from_option(figures[side].as_ref().and_then(figure), Cell::Count)
    };
    let lanes = |side: usize| {
        let mean = figures[side].and_then(|figures| figures.active_lanes_mean);
        Cell::from_option(mean, Cell::Lanes)
    };
    let slots = |figures: &Figures| figures.lane_slots;
    let text = |figure: fn(&Figures) -> Option<u128>| {
        format!("{} → {}", count(0, figure).to_text(), count(1, figure).to_text())
    };
    let operations = text(|figures| Some(figures.subgroup_operations));
    let idle = text(|figures| figures.lane_slots_idle);
    vec![
        count(0, slots),
        count(1, slots),
        lanes(0),
        lanes(1),
        trend_cell(trend),
        Cell::text(format!("operations {operations}, idle {idle}")),
    ]
}

fn time_cell(figures: Option<Figures>) -> Cell {
    Cell::time(
        figures.and_then(|figures| figures.time_ns),
        figures.and_then(|figures| figures.time_ci95_ns),
    )
}

fn parts(title: &str, what: &str, parts: &[LaunchPart]) -> Table {
    let mut columns = vec![Column::words(what)];
    columns.extend(figure_columns());
    let timed =
        |part: &LaunchPart| part.figures.iter().flatten().any(|side| side.time_ns.is_some());
    let timed = parts.iter().any(timed);
    if timed {
        columns.extend(["time A", "time B"].map(|name| Column::figures(name).with_notes()));
    }
    let mut table = Table::new(title, columns);
    for part in parts {
        let mut row = vec![Cell::text(&part.name)];
        row.extend(figure_cells(&part.figures, part.trend));
        if timed {
            row.extend(part.figures.map(time_cell));
        }
        table.rows.push(row);
    }
    table
}

/// The lines whose cost changed, the largest change first; `None` if none did.
fn lines(launch: &LaunchComparison, most: usize) -> Option<Table> {
    let mut changed: Vec<&LinePart> = launch.lines.iter().filter(|line| line.changed).collect();
    if changed.is_empty() || most == 0 {
        return None;
    }
    changed.sort_by_key(|line| std::cmp::Reverse(line.change()));
    let title = match changed.len() > most {
        true => {
            let count = changed.len();
            format!("The {most} of {count} lines that changed most on {}", device_text(launch))
        }
        false => format!("Lines that changed on {}", device_text(launch)),
    };
    let mut columns = vec![Column::figures("A"), Column::figures("B")];
    columns.extend(figure_columns());
    columns.push(Column::words("source").below());
    let mut table = Table::new(title, columns);
    for line in changed.into_iter().take(most) {
        let number =
            |number: Option<u32>| Cell::from_option(number, |number| Cell::Count(number.into()));
        let mut row = vec![number(line.line.a), number(line.line.b)];
        row.extend(figure_cells(&line.figures, line.trend));
        row.push(Cell::text(line.source_text()));
        table.rows.push(row);
    }
    Some(table)
}
