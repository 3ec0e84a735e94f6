//! Machine-readable and Markdown forms of a run: `--export-json`, `--export-csv`,
//! `--export-markdown`.
//!
//! Input: a record and what `analyze` made of it. Output: bytes to a file or, for `-`, to standard
//! output. The JSON is the record itself; CSV and Markdown hold the summary.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::failure::Failure;
use super::table::{self, Style};
use crate::analyze::{Summary, TimeRatio, parameters_text};
use crate::record::{Run, Status, flag};
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

/// Writes the record.
pub(crate) fn json(run: &Run, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    to(path, out, |out| {
        let document = store::document(run, path).map_err(Failure::bad_input)?;
        serde_json::to_writer_pretty(&mut *out, &document).map_err(Failure::bad_input)?;
        Ok(writeln!(out)?)
    })
}

/// Writes the summary as CSV, a row a measurement; what was not measured is empty.
pub(crate) fn csv(summary: &Summary, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    to(path, out, |out| csv_rows(summary, out))
}

fn csv_rows(summary: &Summary, out: &mut dyn Write) -> Result<(), Failure> {
    let mut out = csv::Writer::from_writer(out);
    let header = [
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
    out.write_record(header).map_err(Failure::bad_input)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for device in &summary.devices {
        for row in &device.rows {
            let time = row.time;
            let ratio = match &row.time_ratio {
                TimeRatio::Measured(ratio) => Some(ratio),
                TimeRatio::None | TimeRatio::Baseline | TimeRatio::Withheld(_) => None,
            };
            let interval = ratio.and_then(|ratio| ratio.interval);
            let published = row.published.as_ref().map(|published| published.active_lanes_mean);
            let cells = [
                device.device.clone(),
                device.label.clone(),
                row.kernel.clone(),
                parameters_text(&row.parameters, &[]),
                if row.status == Status::Ok { "ok" } else { "failed" }.to_owned(),
                row.width.map_or(String::new(), |width| width.to_string()),
                number(row.active_lanes_mean),
                number(row.active_lanes_mean_expected),
                number(row.active_lanes_mean_simulated),
                number(published),
                number(row.efficiency.map(|ratio| ratio.0)),
                number(time.map(|time| time.median.0)),
                number(time.map(|time| time.interval[0].0)),
                number(time.map(|time| time.interval[1].0)),
                number(time.map(|time| time.noise.0)),
                number(ratio.map(|ratio| ratio.median)),
                number(interval.map(|interval| interval.low)),
                number(interval.map(|interval| interval.high)),
                number(row.time_ratio_predicted),
                number(row.bandwidth.map(|found| found.bytes_per_s)),
                number(row.bandwidth.and_then(|found| found.copy_rate).map(|share| share.0)),
                flag::words(&row.flags, " "),
                row.error.clone().unwrap_or_default(),
            ];
            out.write_record(cells).map_err(Failure::bad_input)?;
        }
    }
    Ok(out.flush()?)
}

/// Writes the summary as Markdown, a table a device.
pub(crate) fn markdown(summary: &Summary, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    to(path, out, |out| {
        for device in &summary.devices {
            writeln!(out, "### {} ({})\n", device.label, device.device)?;
            writeln!(out, "{}\n", table::summary(device, Style::Markdown))?;
        }
        Ok(())
    })
}
