//! What sorting gains, on the terminal: the model beside the measurement, and where it pays.
//!
//! Input: a run. Output: text: a table of the model for each device and family, tables of crossovers,
//! and a sentence for each device and baseline.

use std::io::Write;

use comfy_table::{Cell, CellAlignment, Table};

use super::failure::Failure;
use super::table::{NONE, Style};
use crate::analyze::{self, CrossoverTable, ModelRow, ModelTable, short_name};
use crate::record::Run;
use crate::units::Ratio;

/// Writes everything about sorting that the run holds.
pub(crate) fn write(run: &Run, out: &mut impl Write) -> Result<(), Failure> {
    let tables = analyze::model_tables(run);
    for table in &tables {
        let shared = match table.shared.as_slice() {
            [] => String::new(),
            shared => format!(" ({})", shared.join(", ")),
        };
        let (label, family) = (&table.label, &table.family);
        writeln!(out, "\n{label}, {family}{shared}: speed-up counted, with traffic and measured")?;
        writeln!(out, "{}", model(table, Style::Terminal))?;
        if !table.others.is_empty() {
            let count = table.others.len();
            writeln!(out, "{count} rows of less usual parameters stand on the page.")?;
        }
    }
    if !tables.is_empty() {
        for line in analyze::MODEL_LEGEND {
            writeln!(out, "– {line}")?;
        }
    }
    for table in analyze::crossover_tables(run).iter().filter(|table| table.rows.len() > 1) {
        let shared = match table.shared.as_slice() {
            [] => String::new(),
            shared => format!(" ({})", shared.join(", ")),
        };
        writeln!(
            out,
            "\n{}{shared}: where each kernel is as fast as {} along {}, and its speed-up at the end",
            table.label, table.baseline, table.axis
        )?;
        writeln!(out, "{}", crossovers(table, Style::Terminal))?;
    }
    let sentences = analyze::crossover_sentences(run);
    if !sentences.is_empty() {
        writeln!(out)?;
    }
    for sentence in sentences {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

/// Speed-ups over the kernels' baselines, beside what counting and traffic predict.
fn model(found: &ModelTable, style: Style) -> String {
    let header = [
        "kernel",
        "parameters",
        "W",
        "efficiency",
        "arms run",
        "counted",
        "with traffic",
        "measured",
        "remainder",
        "moved",
        "dispatches",
    ];
    let mut table = style.table(&header);
    for row in &found.rows {
        table.add_row(model_cells(found, row).into_iter().map(Cell::new));
    }
    aligned(&mut table, 2);
    table.to_string()
}

fn model_cells(table: &ModelTable, row: &ModelRow) -> [String; 11] {
    let figure = |value: Option<f64>, unit: &str| {
        value.map_or(NONE.to_owned(), |value| format!("{value:.2}{unit}"))
    };
    let percent = |value: Option<Ratio>| {
        value.map_or(NONE.to_owned(), |value| format!("{:.1} %", value.0 * 100.0))
    };
    let [before, after] = row.efficiencies.map(percent);
    let remainder = row.remainder.map_or(NONE.to_owned(), |left| {
        let share = row.remainder_share();
        let share = share.map_or(String::new(), |share| format!(" ({:+.0} %)", share.0 * 100.0));
        format!("{left}{share}")
    });
    let moved = row.bytes.map_or(NONE.to_owned(), |bytes| {
        row.copy_rate.map_or(bytes.to_string(), |rate| format!("{bytes}, {}", percent(Some(rate))))
    });
    let dispatches = row
        .sorting
        .map_or(row.dispatches.to_string(), |time| format!("{}, sorting {time}", row.dispatches));
    [
        short_name(&row.kernel).to_owned(),
        table.parameters(row),
        row.width.map_or(NONE.to_owned(), |width| width.to_string()),
        format!("{before} → {after}"),
        figure(row.arms_run, ""),
        figure(row.speedup_counted, "×"),
        figure(row.speedup_with_traffic, "×"),
        figure(row.speedup_measured, "×"),
        remainder,
        moved,
        dispatches,
    ]
}

/// Where each kernel crosses its baseline.
fn crossovers(found: &CrossoverTable, style: Style) -> String {
    let header: Vec<&str> =
        found.parameters.iter().chain(&found.kernels).map(String::as_str).collect();
    let mut table = style.table(&header);
    for row in &found.rows {
        let cells = row.crossovers.iter().zip(&row.last).map(|(crossover, last)| {
            let last = last.map_or(String::new(), |last| format!("; {last:.2}×"));
            crossover.as_ref().map_or(NONE.to_owned(), |words| format!("{words}{last}"))
        });
        table.add_row(row.parameters.iter().cloned().chain(cells).map(Cell::new));
    }
    table.to_string()
}

/// Sets the columns from this one on to the right.
fn aligned(table: &mut Table, from: usize) {
    for column in from..11 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
