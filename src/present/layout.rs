//! A table for a terminal: columns where they fit, and a card for each row where they do not.
//!
//! Input: a table, and the terminal's columns where it is one. Output: text that is no wider than the
//! terminal, and without one as wide as it must be. What is said of a row is tried in this order: all in
//! one line; words at its end in a line beneath; then all but the intervals of figures; then these too; then
//! what can be spared; then the same with a kernel's name and what its rows share in a heading; then cards. No
//! line is drawn between rows.

use comfy_table::{CellAlignment, ContentArrangement, presets::NOTHING};

use super::fit::{fold, fold_parts, width_of};
use super::{Align, Cell, Column, Table, count_text};

/// Spaces between two columns.
const GAP: usize = 2;

/// What stands before a line that belongs to the row above.
const INDENT: &str = "    ";

/// What a row's line holds; the rest stands beneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Everything.
    Line,
    /// Everything but the words at its end.
    WordsBelow,
    /// Of notes the intervals alone.
    IntervalsAlone,
    /// No notes.
    NotesBelow,
    /// Neither notes nor what can be spared.
    SpareBelow,
}

/// The columns of a row above which what a kernel's rows share stands above them, and not in each.
const COLUMNS_READ: usize = 100;

/// The forms, those that take most room first.
const FORMS: [Form; 5] =
    [Form::Line, Form::WordsBelow, Form::IntervalsAlone, Form::NotesBelow, Form::SpareBelow];

impl Table {
    /// The whole table with its title, what holds for all rows, and its notes, for a terminal of so many
    /// columns; empty if it is no terminal.
    pub fn to_screen(self, columns: Option<usize>) -> String {
        let table = self.condense();
        let mut text = String::new();
        if !table.title.is_empty() {
            text += &format!("{}\n", fold(&table.title, "", columns));
        }
        if !table.facts.is_empty() {
            text += &format!("{}\n", fold_parts(&table.facts, "; ", "", columns));
        }
        if !text.is_empty() && !table.rows.is_empty() {
            text += "\n";
        }
        text += &format!("{}\n", table.to_text(columns));
        if !table.rows_folded.is_empty() {
            let count = table.rows_folded.len();
            let rows = count_text(count as u128, "row");
            let stand = if count == 1 { "stands" } else { "stand" };
            let line = format!("{rows} {} {stand} on the page.", table.folded_are);
            text += &format!("{}\n", fold(&line, "", columns));
        }
        for note in &table.notes {
            let note = without_long_links(note, columns);
            text += &format!("{}\n", fold(&format!("– {note}"), "", columns));
        }
        text
    }

    /// The rows, without title, facts and notes.
    pub fn to_text(&self, columns: Option<usize>) -> String {
        let form =
            FORMS.into_iter().find(|form| columns.is_none_or(|room| self.width(*form) <= room));
        // Nobody follows a row over more columns, wherever there is room for them.
        let wide = matches!(form, Some(Form::Line)) && self.width(Form::Line) > COLUMNS_READ;
        let narrower = |table: &Self| table.width(Form::Line) < self.width(Form::Line);
        if let Some(table) = self.grouped_by_kernel().filter(|table| wide && narrower(table)) {
            return table.to_lines(Form::Line, columns);
        }
        match form {
            Some(form) => self.to_lines(form, columns),
            None => match self.grouped_by_kernel() {
                Some(table) => table.to_text(columns),
                None if self.groups.len() > 1 => self.to_blocks(columns),
                None => self.to_cards(columns),
            },
        }
    }

    /// Whether each row fits into one line of a terminal.
    pub fn fits(&self, columns: Option<usize>) -> bool {
        columns.is_none_or(|room| self.width(Form::Line) <= room)
    }

    /// The columns that stand in a row's line.
    fn visible_columns(&self, form: Form) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(move |(_, column)| !is_beneath(column, form))
    }

    /// The columns of a terminal that a column takes.
    fn room(&self, place: usize, column: &Column, form: Form) -> usize {
        let cells = self.rows.iter().map(|row| width_of(&in_line(&row[place], column, form)));
        let word = column.name.split(' ').map(width_of).max().unwrap_or(0);
        cells.max().unwrap_or(0).max(word)
    }

    /// The columns of a terminal that a form takes.
    fn width(&self, form: Form) -> usize {
        let rooms: Vec<usize> = self
            .visible_columns(form)
            .map(|(place, column)| self.room(place, column, form))
            .collect();
        rooms.iter().sum::<usize>() + GAP * rooms.len().saturating_sub(1)
    }

    /// A line for each row, with lines beneath where the form leaves something out.
    fn to_lines(&self, form: Form, columns: Option<usize>) -> String {
        let shown: Vec<(usize, &Column)> = self.visible_columns(form).collect();
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let header = shown.iter().map(|(place, column)| {
            let room = self.room(*place, column, form);
            fold(&column.name, "", None).split(' ').fold(String::new(), |text, word| {
                let line = text.rsplit('\n').next().unwrap_or_default();
                match (line.is_empty(), width_of(line) + 1 + width_of(word) <= room) {
                    (true, _) => word.to_owned(),
                    (false, true) => format!("{text} {word}"),
                    (false, false) => format!("{text}\n{word}"),
                }
            })
        });
        table.set_header(header.collect::<Vec<_>>());
        for row in &self.rows {
            table.add_row(shown.iter().map(|(place, column)| in_line(&row[*place], column, form)));
        }
        for (index, (_, column)) in shown.iter().enumerate() {
            let Some(drawn) = table.column_mut(index) else { continue };
            drawn.set_padding((if index == 0 { 0 } else { 2 }, 0));
            if column.align == Align::Right {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        let headings = lines.len() - self.rows.len();
        let mut text: Vec<String> = lines[..headings].to_vec();
        text.push("─".repeat(self.width(form)));
        for (index, line) in lines[headings..].iter().enumerate() {
            text.extend(self.heading(index, columns));
            text.push(line.clone());
            let beneath = self.beneath(index, form);
            if !beneath.is_empty() {
                text.push(fold_parts(&beneath, "; ", INDENT, columns));
            }
        }
        text.join("\n")
    }

    /// The heading of the group that begins with a row.
    fn heading(&self, index: usize, columns: Option<usize>) -> Option<String> {
        let place = self.groups.binary_search_by_key(&index, |(first, _)| *first).ok()?;
        let words = &self.groups[place].1;
        let space = if index == 0 { "" } else { "\n" };
        let parts: Vec<String> = words.split("; ").map(str::to_owned).collect();
        Some(format!("{space}{}", fold_parts(&parts, "; ", "", columns)))
    }

    /// What a form leaves out of a row's line.
    fn beneath(&self, index: usize, form: Form) -> Vec<String> {
        let mut parts = Vec::new();
        for (cell, column) in self.rows[index].iter().zip(&self.columns) {
            if is_beneath(column, form) && !cell.is_missing() {
                let name = if column.named_below || column.spare { &*column.name } else { "" };
                parts.push(format!("{name} {}", cell.to_text()).trim_start().to_owned());
            }
            let left = match form {
                Form::Line | Form::WordsBelow => String::new(),
                Form::IntervalsAlone => cell.to_remark(),
                Form::NotesBelow | Form::SpareBelow => cell.to_note(),
            };
            if column.notes_inline && !left.is_empty() {
                parts.push(format!("{}: {left}", column.name));
            }
        }
        parts
    }

    /// Each group of rows by itself: what is too wide in one needs no cards in another.
    fn to_blocks(&self, columns: Option<usize>) -> String {
        let frame = self.frame();
        let blocks = self.groups.iter().zip(self.group_ranges()).map(|((_, words), range)| {
            let rows = self.rows[range].to_vec();
            let groups = vec![(0, words.clone())];
            Self { rows, groups, ..frame.clone() }.without_empty_columns().to_block(columns)
        });
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    /// The same without rows and groups; of rows that are folded one that has what any of them has.
    fn frame(&self) -> Self {
        let any = |place: usize| {
            let mut cells = self.rows_folded.iter().filter_map(|row| row.get(place));
            cells.find(|cell| !cell.is_missing()).cloned().unwrap_or_else(Cell::none)
        };
        let folded: Vec<Cell> = (0..self.columns.len()).map(any).collect();
        Self {
            title: self.title.clone(),
            facts: self.facts.clone(),
            columns: self.columns.clone(),
            rows: Vec::new(),
            groups: Vec::new(),
            rows_folded: vec![folded],
            folded_are: self.folded_are,
            notes: self.notes.clone(),
        }
    }

    /// A group of rows: lines where they fit, and a card for a single row.
    fn to_block(&self, columns: Option<usize>) -> String {
        let fits = |form: &Form| columns.is_none_or(|room| self.width(*form) <= room);
        match FORMS.into_iter().find(fits).filter(|_| self.rows.len() > 1) {
            Some(form) => self.to_lines(form, columns),
            None => self.to_cards(columns),
        }
    }

    /// A row after the other, each figure with its name.
    fn to_cards(&self, columns: Option<usize>) -> String {
        let mut text: Vec<String> = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            text.extend(self.heading(index, columns));
            let mut cells = row.iter().zip(&self.columns).filter(|(cell, _)| !cell.is_missing());
            // A figure at a card's head says of what it is.
            let title = |(cell, column): (&Cell, &Column)| match column.align {
                Align::Right => format!("{} {}", column.name, cell.to_text()),
                Align::Left => cell.to_text(),
            };
            // Without words at its head a card is one line of figures.
            let words = |(cell, column): (&Cell, &Column)| {
                column.align == Align::Left || matches!(cell, Cell::Kernel(_))
            };
            let has_head = self.groups.is_empty() || cells.clone().next().is_some_and(words);
            if has_head {
                text.push(fold(&cells.next().map_or(String::new(), title), "", columns));
            }
            let parts: Vec<String> = cells
                .map(|(cell, column)| {
                    let figure = in_line(cell, column, Form::Line);
                    match cell {
                        Cell::Parameters(_) => figure,
                        _ => format!("{} {figure}", column.name),
                    }
                })
                .collect();
            if !parts.is_empty() {
                text.push(fold_parts(&parts, "; ", INDENT, columns));
            }
        }
        text.join("\n")
    }
}

/// Whether a column stands beneath its row.
fn is_beneath(column: &Column, form: Form) -> bool {
    (column.below && form != Form::Line) || (column.spare && form == Form::SpareBelow)
}

/// A cell as a row's line shows it.
fn in_line(cell: &Cell, column: &Column, form: Form) -> String {
    let text = cell.to_text();
    let note = match form {
        _ if !column.notes_inline => String::new(),
        Form::Line | Form::WordsBelow => cell.to_note(),
        Form::IntervalsAlone => cell.to_interval(),
        Form::NotesBelow | Form::SpareBelow => String::new(),
    };
    if note.is_empty() { text } else { format!("{text} [{note}]") }
}

/// A note without the addresses in parentheses that a terminal's line has no room for: the page has them.
fn without_long_links(note: &str, columns: Option<usize>) -> String {
    let mut left = note;
    let mut kept = String::new();
    while let Some(begins) = left.find(" (https://") {
        let Some(length) = left[begins..].find(')') else { break };
        let ends = begins + length + 1;
        let fits = columns.is_none_or(|columns| width_of(&left[begins + 1..ends]) < columns);
        kept.push_str(&left[..if fits { ends } else { begins }]);
        left = &left[ends..];
    }
    kept + left
}
