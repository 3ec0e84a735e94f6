//! The page's part on what accesses to memory cost in a model.
//!
//! Input: one device's part of a profile. Output: text; nothing where nobody looked at its memory.

use serde::Serialize;

use crate::analyze::{DeviceProfile, MemoryRow, MemoryView, memory_view};
use crate::present;

/// One device's accesses.
#[derive(Debug, Serialize)]
pub(super) struct MemoryText {
    label: String,
    sentences: Vec<String>,
    /// The lines that take more than they must.
    costly: RowsText,
    /// Those that take no more.
    others: RowsText,
    /// What subgroups wait at the barriers of each line.
    waits: RowsText,
    /// Whether what accesses take is of data that were made up.
    generated: bool,
}

/// A table of lines, without the columns in which none of them has anything.
#[derive(Debug, Serialize)]
struct RowsText {
    columns: Vec<String>,
    rows: Vec<RowText>,
}

/// One line's.
#[derive(Debug, Serialize)]
struct RowText {
    cells: Vec<String>,
}

/// Words what was seen of a device's memory.
pub(super) fn memory(device: &DeviceProfile) -> Option<MemoryText> {
    let view = memory_view(device)?;
    let sentences = view.sentences();
    let (costly, others): (Vec<_>, Vec<_>) =
        view.rows.iter().cloned().partition(MemoryRow::is_costly);
    let table = |rows| rows_text(present::memory_table(&MemoryView { rows, ..view.clone() }));
    Some(MemoryText {
        label: device.column.label.clone(),
        sentences,
        costly: table(costly),
        others: table(others),
        waits: rows_text(present::waits_table(&view.waits)),
        generated: view.is_generated(),
    })
}

/// A table's texts.
fn rows_text(table: present::Table) -> RowsText {
    let text = |row: &Vec<present::Cell>| RowText {
        cells: row.iter().map(present::Cell::to_text).collect(),
    };
    RowsText {
        rows: table.rows.iter().map(text).collect(),
        columns: table.columns.into_iter().map(|column| column.name).collect(),
    }
}
