//! A table of cells, and its forms for Markdown and CSV; `layout` writes it for terminals.
//!
//! Input: columns and rows. Output: text.

use comfy_table::CellAlignment;
use comfy_table::presets::ASCII_MARKDOWN;

use super::Cell;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is of; may be empty.
    pub title: String,
    /// What holds for every row, said once: filled by [`Table::condense`].
    pub facts: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Where a group of rows begins, and what its rows share: filled by [`Table::condense`].
    pub groups: Vec<(usize, String)>,
    /// Rows that a page folds and a terminal counts.
    pub rows_folded: Vec<Vec<Cell>>,
    /// What these are, after their number: `of less usual parameters`.
    pub folded_are: &'static str,
    /// Sentences below it.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Where its cells stand.
    pub align: Align,
    /// Whether terminals and Markdown show what stands beneath a cell, in brackets behind it.
    pub notes_inline: bool,
    /// Whether it is said once, in the heading, where every row has the same.
    pub once: bool,
    /// Whether it goes to a line beneath its row where a terminal is narrow.
    pub below: bool,
    /// Whether its name stands before it there.
    pub named_below: bool,
    /// Whether it goes there with its name where all else has no room.
    pub spare: bool,
    /// Columns that it may only repeat; it is then left out, and the heading says so.
    pub repeats: &'static [&'static str],
    /// Whether nothing is said where it is left out since it equals one of them: only a difference is news.
    pub silent: bool,
}

/// Where cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left: words.
    Left,
    /// At the right: figures.
    Right,
}

/// The columns of the terminal that standard output is; `None` if it is none.
pub fn terminal_columns() -> Option<usize> {
    comfy_table::Table::new().width().map(usize::from)
}

/// The columns of the terminal that standard error is; `None` if it is none.
#[cfg(feature = "devices")]
pub fn error_columns() -> Option<usize> {
    comfy_table::Table::new().use_stderr().width().map(usize::from)
}

impl Column {
    /// A column of words.
    pub fn words(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            align: Align::Left,
            notes_inline: false,
            once: false,
            below: false,
            named_below: false,
            spare: false,
            repeats: &[],
            silent: false,
        }
    }

    /// A column of figures.
    pub fn figures(name: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::words(name) }
    }

    /// The same, whose notes are shown everywhere.
    #[must_use]
    pub fn with_notes(self) -> Self {
        Self { notes_inline: true, ..self }
    }

    /// The same, said once where every row has the same.
    #[must_use]
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// The same, beneath its row where a terminal is narrow.
    #[must_use]
    pub fn below(self) -> Self {
        Self { below: true, ..self }
    }

    /// The same, with its name.
    #[must_use]
    pub fn named_below(self) -> Self {
        Self { below: true, named_below: true, ..self }
    }

    /// The same, the first that goes beneath its row where all else has no room.
    #[must_use]
    pub fn spare(self) -> Self {
        Self { spare: true, ..self }
    }

    /// The same, of which nothing is said where it equals what it repeats.
    #[must_use]
    pub fn silent(self) -> Self {
        Self { silent: true, ..self }
    }

    /// The same, left out where it says no more than one of these columns does.
    #[must_use]
    pub fn repeats(self, columns: &'static [&'static str]) -> Self {
        Self { repeats: columns, ..self }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            title: title.into(),
            facts: Vec::new(),
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            groups: Vec::new(),
            rows_folded: Vec::new(),
            folded_are: "of less usual parameters",
            notes: Vec::new(),
        }
    }

    /// Leaves so many rows, and folds the rest.
    pub fn fold_after(&mut self, count: usize) {
        if self.rows.len() > count {
            self.rows_folded.splice(0..0, self.rows.split_off(count));
        }
    }

    /// The place of the column of this name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Every row, the folded ones last.
    pub(super) fn all_rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.rows.iter().chain(&self.rows_folded)
    }

    /// Every row, to change it.
    pub(super) fn all_rows_mut(&mut self) -> impl Iterator<Item = &mut Vec<Cell>> {
        self.rows.iter_mut().chain(&mut self.rows_folded)
    }

    /// Takes a column away.
    pub(super) fn remove_column(&mut self, place: usize) {
        self.columns.remove(place);
        for row in self.all_rows_mut() {
            row.remove(place);
        }
    }

    /// Whether no row has anything in a column.
    pub(super) fn is_empty_column(&self, place: usize) -> bool {
        self.all_rows().all(|row| row.get(place).is_none_or(Cell::is_missing))
    }

    /// Leaves out the columns, among those named, in which no row has anything.
    #[must_use]
    pub fn without_empty(mut self, names: &[&str]) -> Self {
        for name in names {
            if let Some(place) = self.place(name).filter(|place| self.is_empty_column(*place)) {
                self.remove_column(place);
            }
        }
        self
    }

    /// The table as Markdown, without title and notes.
    pub fn to_markdown(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(self.columns.iter().map(|column| &column.name));
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns);
            table.add_row(cells.map(|(cell, column)| inline(cell, column)));
        }
        for (place, column) in self.columns.iter().enumerate() {
            if let (Align::Right, Some(column)) = (column.align, table.column_mut(place)) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

/// A cell on one line.
fn inline(cell: &Cell, column: &Column) -> String {
    match (cell.to_text(), cell.to_note()) {
        (text, note) if note.is_empty() || !column.notes_inline => text,
        (text, note) => format!("{text} [{note}]"),
    }
}

/// Writes a table as CSV, its columns' names as they are, its cells for machines.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn to_csv(table: &Table, out: &mut dyn std::io::Write) -> Result<(), csv::Error> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(table.columns.iter().map(|column| &column.name))?;
    for row in &table.rows {
        out.write_record(row.iter().map(Cell::to_plain))?;
    }
    Ok(out.flush()?)
}
