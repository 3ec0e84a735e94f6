//! Machine-readable and Markdown forms of a run: `--export-json`, `--export-csv`,
//! `--export-markdown`.
//!
//! Input: a record and what `analyze` made of it. Output: bytes to a file or, for `-`, to standard
//! output. The JSON is the record itself; CSV and Markdown hold the summary.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::failure::Failure;
use crate::analyze::Summary;
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
