//! Machine-readable and Markdown forms of a run: `--export-json`, `--export-csv`,
//! `--export-markdown`.
//!
//! Input: a record and what `analyze` made of it. Output: bytes to a file or, for `-`, to standard
//! output. The JSON is the record itself, of `profile` with what there is to say at places of the sources;
//! CSV and Markdown hold the summary.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::failure::{Exit, Failure};
use serde::Serialize;

use crate::analyze::{Comparison, LaunchComparison, Mark, NotCompared, Summary};
use crate::present;
use crate::record::Run;
use crate::store;

/// Hands a file, or standard output for `-`, to `write`.
fn to(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return write(out);
    }
    let file = File::create(path).map_err(|error| {
        let message = format!("{} cannot be written: {error}", path.display());
        Failure::bad_input(io::Error::new(error.kind(), message))
    })?;
    let mut file = io::BufWriter::new(file);
    write(&mut file)?;
    Ok(file.flush()?)
}

/// Whether an export goes to standard output, where tables must not mix with it.
pub(crate) fn is_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == "-")
}

/// Refuses several forms on standard output, which together are none: each option with whether it goes there.
///
/// # Errors
///
/// Which they are.
pub(crate) fn one_on_stdout(options: &[(&str, bool)]) -> Result<(), Failure> {
    let there = options.iter().filter(|(_, there)| *there);
    let names: Vec<&str> = there.map(|(name, _)| *name).collect();
    if names.len() < 2 {
        return Ok(());
    }
    let message = format!(
        "{} would both be on standard output, where nobody could tell them apart: give all but one a FILE",
        names.join(" and ")
    );
    Err(Failure::message(Exit::BadInput, message))
}

/// A record as it is exported.
#[derive(Serialize)]
struct Exported<'a, R> {
    /// The record, as a result file has it.
    #[serde(flatten)]
    record: R,
    /// What there is to say at places of the sources: figures, advice and findings, of `profile`; worked out
    /// when it was exported, and no part of the record.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    marks: &'a [Mark],
}

/// Writes the record, and marks where there are any.
pub(crate) fn json(
    run: &Run,
    marks: &[Mark],
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    to(path, out, |out| {
        let record = store::document(run, path).map_err(Failure::bad_input)?;
        let document = Exported { record, marks };
        serde_json::to_writer_pretty(&mut *out, &document).map_err(Failure::bad_input)?;
        Ok(writeln!(out)?)
    })
}

/// Writes a value as JSON.
pub(crate) fn value(
    value: &serde_json::Value,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    to(path, out, |out| {
        serde_json::to_writer_pretty(&mut *out, value).map_err(Failure::bad_input)?;
        Ok(writeln!(out)?)
    })
}

/// Writes the summary as CSV, a row a measurement; what was not measured is empty.
pub(crate) fn csv(summary: &Summary, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let table = present::summary_plain(summary);
    to(path, out, |out| present::to_csv(&table, out).map_err(Failure::bad_input))
}

/// Writes the summary as Markdown, a table a device.
pub(crate) fn markdown(summary: &Summary, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    to(path, out, |out| {
        for device in &summary.devices {
            let table = present::summary(device, usize::MAX);
            writeln!(out, "### {}\n", table.title)?;
            writeln!(out, "{}\n", table.to_markdown())?;
        }
        Ok(())
    })
}

/// The form of the JSON of a comparison; a change of what is there is a new number, what is added is none.
const COMPARISON_SCHEMA: u32 = 1;

/// A comparison as JSON.
#[derive(Serialize)]
struct ComparisonText<'a> {
    comparison_schema: u32,
    a: &'a str,
    b: &'a str,
    /// What only one has, a sentence each.
    not_compared: Vec<String>,
    launches: &'a [LaunchComparison],
}

/// Writes a comparison as JSON.
pub(crate) fn comparison_json(
    [a, b]: &[String; 2],
    comparison: &Comparison,
    launches: &[LaunchComparison],
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let not_compared = comparison.not_compared.iter().map(NotCompared::sentence).collect();
    let text =
        ComparisonText { comparison_schema: COMPARISON_SCHEMA, a, b, not_compared, launches };
    to(path, out, |out| {
        serde_json::to_writer_pretty(&mut *out, &text).map_err(Failure::bad_input)?;
        Ok(writeln!(out)?)
    })
}

/// Writes a comparison as Markdown, a section a device.
pub(crate) fn comparison_markdown(
    [a, b]: &[String; 2],
    comparison: &Comparison,
    launches: &[LaunchComparison],
    lines_max: usize,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    to(path, out, |out| {
        writeln!(out, "## lanescope: {a} → {b}\n")?;
        if launches.is_empty() {
            writeln!(out, "The two have no launch in common.\n")?;
        }
        for launch in launches {
            let mut tables = present::launch_comparison(launch, lines_max).into_iter();
            let Some(whole) = tables.next() else { continue };
            writeln!(out, "### {} on {}\n", launch.kernels[1], whole.title)?;
            for sentence in launch.differing.iter().chain(&launch.verdicts) {
                writeln!(out, "- {sentence}")?;
            }
            writeln!(out, "\n{}\n", whole.to_markdown())?;
            for table in tables {
                let (title, text) = (&table.title, table.to_markdown());
                writeln!(out, "<details><summary>{title}</summary>\n\n{text}\n\n</details>\n")?;
            }
        }
        for missing in comparison.describe_not_compared() {
            writeln!(out, "- {missing}")?;
        }
        Ok(())
    })
}
