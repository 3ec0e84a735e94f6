//! Tables of `present` as the templates take them.
//!
//! Input: typed tables. Output: the text of every cell, with what stands small beneath it.

use serde::Serialize;

use crate::present::{Align, Cell, Column, Table};

/// A table.
#[derive(Debug, Serialize)]
pub(super) struct TableText {
    title: String,
    /// What holds for all rows.
    facts: String,
    /// Those but for columns of sentences.
    columns: Vec<ColumnText>,
    rows: Vec<RowText>,
    rows_folded: Vec<RowText>,
    folded_are: &'static str,
    notes: Vec<String>,
}

/// A column.
#[derive(Debug, Serialize)]
struct ColumnText {
    name: String,
    /// Whether its cells stand at the right.
    right: bool,
}

/// A row.
#[derive(Debug, Serialize)]
struct RowText {
    /// What this row and those after it share; empty where no group begins.
    heading: String,
    cells: Vec<CellText>,
    /// What stands beneath it, each with its column's name: sentences, which leave a column no room.
    beneath: Vec<(String, String)>,
}

/// A cell.
#[derive(Debug, Serialize)]
struct CellText {
    text: String,
    /// What stands beneath it; empty where nothing does.
    note: String,
    right: bool,
    /// Whether it holds many words.
    wide: bool,
    /// Whether it, or what stands beneath it, is a sentence.
    prose: bool,
    /// Whether there is nothing in it to say.
    none: bool,
}

impl From<Table> for TableText {
    fn from(table: Table) -> Self {
        Self::new(table, false)
    }
}

impl TableText {
    /// The table, whose columns of sentences stand beneath their rows.
    pub(super) fn with_sentences_beneath(table: Table) -> Self {
        Self::new(table, true)
    }

    fn new(table: Table, beneath: bool) -> Self {
        let Table { title, facts, columns, rows, groups, rows_folded, folded_are, notes } =
            table.condense();
        let long = |row: &Vec<Cell>, place: usize| row[place].to_text().len() > LINE_MAX;
        let of_sentences: Vec<bool> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                beneath
                    && column.below
                    && rows.iter().chain(&rows_folded).any(|row| long(row, place))
            })
            .collect();
        let texts = |rows: Vec<Vec<Cell>>, groups: &[(usize, String)]| {
            let row = |(index, row): (usize, &Vec<Cell>)| RowText {
                heading: groups
                    .binary_search_by_key(&index, |(first, _)| *first)
                    .map_or(String::new(), |place| groups[place].1.clone()),
                cells: row
                    .iter()
                    .zip(&columns)
                    .zip(&of_sentences)
                    .filter(|(_, sentences)| !**sentences)
                    .map(|(with, _)| cell(with))
                    .collect(),
                beneath: row
                    .iter()
                    .zip(&columns)
                    .zip(&of_sentences)
                    .filter(|((cell, _), sentences)| **sentences && !cell.is_missing())
                    .map(|((cell, column), _)| (column.name.clone(), cell.to_text()))
                    .collect(),
            };
            rows.iter().enumerate().map(row).collect()
        };
        Self {
            title,
            facts: facts.join("; "),
            rows: texts(rows, &groups),
            rows_folded: texts(rows_folded, &[]),
            folded_are,
            columns: columns
                .iter()
                .zip(&of_sentences)
                .filter(|(_, sentences)| !**sentences)
                .map(|(column, _)| ColumnText {
                    name: column.name.clone(),
                    right: column.align == Align::Right,
                })
                .collect(),
            notes,
        }
    }
}

/// The longest text in bytes that a cell has on one line.
const LINE_MAX: usize = 48;

fn cell((cell, column): (&Cell, &Column)) -> CellText {
    let (text, note) = (cell.to_text(), cell.to_note());
    let none = cell.is_missing() && note.is_empty();
    let right = column.align == Align::Right;
    let prose = !right && text.len().max(note.len()) > LINE_MAX;
    CellText { text, note, right, wide: column.below, prose, none }
}
