//! Tables of `present` as the templates take them.
//!
//! Input: typed tables. Output: the text of every cell, with what stands small beneath it.

use serde::Serialize;

use crate::present::{Align, Cell, Column, Table};

/// A table.
#[derive(Debug, Serialize)]
pub(super) struct TableText {
    title: String,
    columns: Vec<ColumnText>,
    rows: Vec<Vec<CellText>>,
    rows_folded: Vec<Vec<CellText>>,
    notes: Vec<String>,
}

/// A column.
#[derive(Debug, Serialize)]
struct ColumnText {
    name: String,
    /// Whether its cells stand at the right.
    right: bool,
}

/// A cell.
#[derive(Debug, Serialize)]
struct CellText {
    text: String,
    /// What stands beneath it; empty where nothing does.
    note: String,
    right: bool,
}

impl From<Table> for TableText {
    fn from(table: Table) -> Self {
        let Table { title, columns, rows, rows_folded, notes } = table;
        let texts = |rows: Vec<Vec<Cell>>| {
            rows.iter().map(|row| row.iter().zip(&columns).map(cell).collect()).collect()
        };
        Self {
            title,
            rows: texts(rows),
            rows_folded: texts(rows_folded),
            columns: columns
                .iter()
                .map(|column| ColumnText {
                    name: column.name.clone(),
                    right: column.align == Align::Right,
                })
                .collect(),
            notes,
        }
    }
}

fn cell((cell, column): (&Cell, &Column)) -> CellText {
    CellText { text: cell.to_text(), note: cell.to_note(), right: column.align == Align::Right }
}
