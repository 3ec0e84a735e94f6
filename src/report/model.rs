//! What sorting gains, as text: the model beside the measurement, and where it pays.
//!
//! Input: a run. Output: cells of tables, and sentences.

use serde::Serialize;

use super::format;
use crate::{
    analyze::{self, CrossoverTable, ModelRow, ModelTable, short_name},
    record::Run,
};

/// The page's section on sorting; empty where nothing is compared.
#[derive(Debug, Serialize)]
pub(super) struct SortingText {
    sentences: Vec<String>,
    models: Vec<ModelText>,
    legend: Vec<&'static str>,
    crossovers: Vec<CrossoverText>,
}

/// The model of a device and family.
#[derive(Debug, Serialize)]
struct ModelText {
    title: String,
    rows: Vec<ModelRowText>,
    others: Vec<ModelRowText>,
}

/// One launch.
#[derive(Debug, Serialize)]
struct ModelRowText {
    kernel: String,
    baseline: String,
    parameters: String,
    width: String,
    /// Before and after.
    efficiencies: [String; 2],
    arms: String,
    counted: String,
    traffic: String,
    measured: String,
    remainder: String,
    remainder_share: String,
    bytes: String,
    copy_rate: String,
    dispatches: usize,
    sorting: String,
}

/// Where kernels cross one baseline on one device.
#[derive(Debug, Serialize)]
struct CrossoverText {
    title: String,
    parameters: Vec<String>,
    kernels: Vec<String>,
    rows: Vec<CrossoverRowText>,
}

/// One combination of parameters.
#[derive(Debug, Serialize)]
struct CrossoverRowText {
    parameters: Vec<String>,
    /// Where it crosses, and the speed-up at the end.
    cells: Vec<[String; 2]>,
}

/// Everything about sorting that a run holds.
pub(super) fn texts(run: &Run) -> SortingText {
    let tables = analyze::crossover_tables(run);
    let models: Vec<ModelText> = analyze::model_tables(run).iter().map(model_text).collect();
    SortingText {
        sentences: analyze::crossover_sentences(run),
        legend: if models.is_empty() { Vec::new() } else { analyze::MODEL_LEGEND.to_vec() },
        models,
        // One row says no more than the sentence.
        crossovers: tables.iter().filter(|one| one.rows.len() > 1).map(crossover_text).collect(),
    }
}

fn with_shared(text: String, shared: &[String]) -> String {
    if shared.is_empty() { text } else { format!("{text} ({})", shared.join(", ")) }
}

fn model_text(table: &ModelTable) -> ModelText {
    let row = |row: &ModelRow| model_row(table, row);
    ModelText {
        title: with_shared(format!("{}, {}", table.label, table.family), &table.shared),
        rows: table.rows.iter().map(row).collect(),
        others: table.others.iter().map(row).collect(),
    }
}

fn model_row(table: &ModelTable, row: &ModelRow) -> ModelRowText {
    let figure = |value: Option<f64>, unit: &str| {
        value.map_or(format::NONE.to_owned(), |value| format!("{value:.2}{unit}"))
    };
    ModelRowText {
        kernel: short_name(&row.kernel).to_owned(),
        baseline: short_name(&row.baseline).to_owned(),
        parameters: table.parameters(row),
        width: format::width(row.width),
        efficiencies: row.efficiencies.map(format::percent),
        arms: figure(row.arms_run, ""),
        counted: figure(row.speedup_counted, "×"),
        traffic: figure(row.speedup_with_traffic, "×"),
        measured: figure(row.speedup_measured, "×"),
        remainder: format::time(row.remainder),
        remainder_share: row
            .remainder_share()
            .map_or(String::new(), |share| format!("{:+.0} % of the time", share.0 * 100.0)),
        bytes: row.bytes.map_or(format::NONE.to_owned(), |bytes| bytes.to_string()),
        copy_rate: row.copy_rate.map_or(String::new(), |rate| {
            format!("{} of the copy rate", format::percent(Some(rate)))
        }),
        dispatches: row.dispatches,
        sorting: row.sorting.map_or(String::new(), |time| format!("sorting {time}")),
    }
}

fn crossover_text(table: &CrossoverTable) -> CrossoverText {
    let title = format!("{}: along {}, over {}", table.label, table.axis, table.baseline);
    CrossoverText {
        title: with_shared(title, &table.shared),
        parameters: table.parameters.clone(),
        kernels: table.kernels.clone(),
        rows: table
            .rows
            .iter()
            .map(|row| CrossoverRowText {
                parameters: row.parameters.clone(),
                cells: row
                    .crossovers
                    .iter()
                    .zip(&row.last)
                    .map(|(words, last)| {
                        let last =
                            last.map_or(String::new(), |last| format!("{last:.2}× at the end"));
                        [words.clone().unwrap_or(format::NONE.to_owned()), last]
                    })
                    .collect(),
            })
            .collect(),
    }
}
