//! A table of cells, and its forms for terminals, Markdown and CSV.
//!
//! Input: columns and rows. Output: text. A terminal's table fits the terminal that it is printed on.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, ContentArrangement};

use super::Cell;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is of; may be empty.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Rows of less usual parameters, which a page folds and a terminal counts.
    pub rows_folded: Vec<Vec<Cell>>,
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
}

/// Where cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left: words.
    Left,
    /// At the right: figures.
    Right,
}

/// The columns of the terminal that standard output is; nothing where it is none.
pub fn terminal_columns() -> Option<usize> {
    comfy_table::Table::new().width().map(usize::from)
}

/// How a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For a terminal of the current width.
    Terminal,
    /// For a Markdown page.
    Markdown,
}

impl Column {
    /// A column of words.
    pub fn words(name: impl Into<String>) -> Self {
        Self { name: name.into(), align: Align::Left, notes_inline: false }
    }

    /// A column of figures.
    pub fn figures(name: impl Into<String>) -> Self {
        Self { name: name.into(), align: Align::Right, notes_inline: false }
    }

    /// The same, whose notes are shown everywhere.
    #[must_use]
    pub fn with_notes(self) -> Self {
        Self { notes_inline: true, ..self }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            rows_folded: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Leaves out the columns, among those named, in which no row has anything.
    #[must_use]
    pub fn without_empty(mut self, names: &[&str]) -> Self {
        for name in names {
            let Some(place) = self.columns.iter().position(|column| column.name == *name) else {
                continue;
            };
            let mut rows = self.rows.iter().chain(&self.rows_folded);
            if rows.all(|row| row.get(place).is_none_or(Cell::is_missing)) {
                self.columns.remove(place);
                for row in self.rows.iter_mut().chain(&mut self.rows_folded) {
                    row.remove(place);
                }
            }
        }
        self
    }

    /// The table as text, without title and notes.
    pub fn to_text(&self, style: Style) -> String {
        let mut table = comfy_table::Table::new();
        match style {
            Style::Terminal => {
                table
                    .load_style(UTF8_HORIZONTAL_ONLY)
                    .set_content_arrangement(ContentArrangement::Dynamic);
            }
            Style::Markdown => {
                table.load_style(ASCII_MARKDOWN);
            }
        }
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
