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

use crate::analyze::machine::ExecutedCode;
use crate::analyze::{
    self, Comparison, ExecutedComparison, LaunchComparison, Mark, NotCompared, Profile, Summary,
};
use crate::present;
use crate::record::Run;
use crate::store;
use crate::units::{Nanoseconds, Ratio, Width};

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

/// Writes the record, as a result file has it, and under `marks`, where there is any, what there is to say at places
/// of the sources: figures, advice and findings, of `profile`; worked out when it is exported, and no part of the record.
pub(crate) fn json(
    run: &Run,
    marks: &[Mark],
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    to(path, out, |out| {
        let mut text = store::encode(run, path).map_err(Failure::bad_input)?;
        if !marks.is_empty() {
            let end = text.iter().rposition(|byte| *byte == b'}');
            text.truncate(end.unwrap_or(text.len()));
            text.extend_from_slice(b",\"marks\":");
            serde_json::to_writer(&mut text, marks).map_err(Failure::bad_input)?;
            text.push(b'}');
        }
        spread(&text, out)
    })
}

/// Writes a text of JSON with a line for each of its parts.
fn spread(text: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    let mut from = serde_json::Deserializer::from_slice(text);
    let mut to = serde_json::Serializer::pretty(&mut *out);
    serde_transcode::transcode(&mut from, &mut to).map_err(Failure::bad_input)?;
    Ok(writeln!(out)?)
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

/// Writes the summary as Markdown, a table a device, and one of machine code where some was executed.
pub(crate) fn markdown(
    run: &Run,
    summary: &Summary,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    to(path, out, |out| {
        for table in present::summary_tables(run, summary) {
            writeln!(out, "### {}\n", table.title)?;
            writeln!(out, "{}\n", table.to_markdown())?;
            for note in &table.notes {
                writeln!(out, "{note}\n")?;
            }
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
    /// Machine code of both, executed without its hardware; absent where there is none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    executed: &'a [ExecutedComparison],
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
    let executed = &comparison.executed;
    let comparison_schema = COMPARISON_SCHEMA;
    let text = ComparisonText { comparison_schema, a, b, not_compared, launches, executed };
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
        let code = present::compared_code(comparison);
        if launches.is_empty() && code.is_none() {
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
        if let Some(code) = code {
            writeln!(out, "### {}\n\n{}\n", code.title, code.to_markdown())?;
        }
        for missing in comparison.describe_not_compared() {
            writeln!(out, "- {missing}")?;
        }
        Ok(())
    })
}

/// A whole launch on one device, in a line of JSON.
#[derive(Serialize)]
struct Whole<'a> {
    /// The shader, as it was named.
    shader: &'a str,
    /// The device's id.
    device: &'a str,
    /// The width, in lanes.
    width: Option<Width>,
    /// The source's figures; absent where machine code was executed instead.
    #[serde(flatten)]
    counted: Option<WholeCounts>,
    /// What machine code came to that was executed without hardware, and what it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    executed: Option<&'a ExecutedCode>,
    /// The median time of one launch and its 95 % interval, low and high.
    time_ns: Option<Nanoseconds>,
    /// See `time_ns`.
    time_ci95_ns: Option<[Nanoseconds; 2]>,
    /// What is said of the time, a sentence each.
    time_sentences: Vec<String>,
    /// Why it failed, or which outputs differ.
    error: Option<&'a str>,
}

/// What the source of a launch came to.
#[derive(Serialize)]
struct WholeCounts {
    /// What the counts are worth, in a word.
    trust: &'static str,
    /// Σ operations × executions.
    subgroup_operations: u128,
    /// Mean active lanes.
    active_lanes_mean: Option<f64>,
    /// Mean active lanes over the width.
    efficiency_ratio: Option<Ratio>,
}

/// The whole of a profile on each device.
fn wholes(profile: &Profile) -> impl Iterator<Item = Whole<'_>> {
    profile.devices.iter().map(|device| Whole {
        shader: &profile.kernel,
        device: &device.column.device,
        width: device.column.width,
        counted: device.executed.is_none().then(|| WholeCounts {
            trust: device.trust.name(),
            subgroup_operations: device.column.work.subgroup_operations,
            active_lanes_mean: device.column.work.active_lanes_mean(),
            efficiency_ratio: device.efficiency(),
        }),
        executed: device.executed.as_ref(),
        time_ns: device.time.as_ref().map(|time| time.median),
        time_ci95_ns: device.time.as_ref().map(|time| time.interval),
        time_sentences: device.time.iter().flat_map(analyze::ProfileTime::sentences).collect(),
        error: device.error.as_deref(),
    })
}

/// What a profile came to, for a line of JSON.
pub(crate) fn profile_event(profiles: &[Profile], marks: &[Mark]) -> serde_json::Value {
    let wholes: Vec<Whole<'_>> = profiles.iter().flat_map(wholes).collect();
    serde_json::json!({ "event": "profile", "wholes": wholes, "marks": marks })
}
