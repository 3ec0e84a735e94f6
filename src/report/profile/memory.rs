//! The page's part on what accesses to memory cost in a model.
//!
//! Input: one device's part of a profile. Output: text; nothing where nobody looked at its memory.

use serde::Serialize;

use crate::analyze::{DeviceProfile, MemoryRow, memory_view};
use crate::present;

/// One device's accesses.
#[derive(Debug, Serialize)]
pub(super) struct MemoryText {
    label: String,
    sentences: Vec<String>,
    columns: Vec<String>,
    rows: Vec<RowText>,
    /// Those that take no more than they must.
    rows_folded: Vec<RowText>,
}

/// One line's.
#[derive(Debug, Serialize)]
struct RowText {
    cells: Vec<String>,
}

/// Words what was seen of a device's memory.
pub(super) fn memory(device: &DeviceProfile) -> Option<MemoryText> {
    let view = memory_view(device)?;
    let table = present::memory_table(&view);
    let rows = table
        .rows
        .iter()
        .map(|row| RowText { cells: row.iter().map(present::Cell::to_text).collect() });
    let costly = view.rows.iter().map(MemoryRow::is_costly);
    let (rows, rows_folded): (Vec<_>, Vec<_>) = rows.zip(costly).partition(|(_, costly)| *costly);
    let texts = |rows: Vec<(RowText, bool)>| rows.into_iter().map(|(row, _)| row).collect();
    Some(MemoryText {
        label: device.column.label.clone(),
        sentences: view.sentences(),
        rows: texts(rows),
        rows_folded: texts(rows_folded),
        columns: table.columns.iter().map(|column| column.name.clone()).collect(),
    })
}
