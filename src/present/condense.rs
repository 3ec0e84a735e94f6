//! A table in which nothing is said twice.
//!
//! Input: a table. Output: the same with what all rows share in [`Table::facts`]; what runs of rows share
//! as the headings of [`Table::groups`]; and without columns that are empty or only repeat another. What
//! is left out of a row stands in a heading above it, so that nothing is lost.

use std::collections::BTreeSet;
use std::ops::Range;

use indexmap::IndexMap;

use super::{Cell, Table};
use crate::record::Flag;
use crate::units::{Ratio, text};

/// How many rows a group has on average at least; with fewer, headings take more room than they save.
const GROUP_MIN: usize = 3;

/// How many rows a kernel has on average at least, where each gets a heading.
const RUN_MIN: usize = 2;

/// How far a figure may differ from the one that it repeats.
const REPEATS_MAX: f64 = 0.005;

/// What rows may share.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// The kernel in this column, of tables of one.
    Kernel(usize),
    /// The family of the kernel in this column.
    Family(usize),
    /// A parameter, of those in this column.
    Parameter(usize, String),
    /// A whole column.
    Column(usize),
}

impl Key {
    /// What a row has; `None` if it lacks it.
    fn value(&self, row: &[Cell]) -> Option<String> {
        match self {
            Self::Kernel(place) => match row.get(*place)? {
                Cell::Kernel(name) => Some(name.clone()),
                _ => None,
            },
            Self::Family(place) => match row.get(*place)? {
                Cell::Kernel(name) => Some(name.rsplit_once('/')?.0.to_owned()),
                _ => None,
            },
            Self::Parameter(place, name) => match row.get(*place)? {
                Cell::Parameters(all) => {
                    all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
                }
                _ => None,
            },
            Self::Column(place) => {
                let cell = row.get(*place).filter(|cell| !cell.is_missing())?;
                Some(cell.to_text())
            }
        }
    }

    /// What a heading says of it.
    fn words(&self, table: &Table, value: &str) -> String {
        match self {
            Self::Kernel(_) | Self::Family(_) => value.to_owned(),
            Self::Parameter(_, name) => format!("{name}={value}"),
            // A kernel needs no word that says so.
            Self::Column(place) if table.columns[*place].name == "kernel" => value.to_owned(),
            Self::Column(place) => format!("{} = {value}", table.columns[*place].name),
        }
    }

    /// Takes it out of a row.
    fn take(&self, row: &mut [Cell]) {
        match self {
            Self::Family(place) => {
                if let Some(Cell::Kernel(name)) = row.get_mut(*place)
                    && let Some((_, short)) = name.rsplit_once('/')
                {
                    *name = short.to_owned();
                }
            }
            Self::Parameter(place, name) => {
                if let Some(Cell::Parameters(all)) = row.get_mut(*place) {
                    all.retain(|(known, _)| known != name);
                }
            }
            Self::Kernel(place) | Self::Column(place) => {
                if let Some(cell) = row.get_mut(*place) {
                    *cell = Cell::none();
                }
            }
        }
    }
}

impl Table {
    /// The same with what rows share said once.
    #[must_use]
    pub fn condense(mut self) -> Self {
        self.share();
        if self.all_rows().count() > 1 && self.rows_folded.is_empty() {
            self.group();
        }
        self.without_empty_columns()
    }

    /// A table for each family, and what the rows of all of them share.
    pub fn by_family(mut self) -> (Vec<String>, Vec<Self>) {
        let family = |row: &Vec<Cell>| {
            row.iter().enumerate().find_map(|(place, _)| Key::Family(place).value(row))
        };
        let mut families: IndexMap<Option<String>, Vec<Vec<Cell>>> = IndexMap::new();
        let one_family = self.rows.iter().map(family).collect::<BTreeSet<_>>().len() < 2;
        if one_family || !self.rows_folded.is_empty() {
            return (Vec::new(), vec![self]);
        }
        self.share();
        let mut empty = self.without_empty_columns();
        for row in std::mem::take(&mut empty.rows) {
            families.entry(family(&row)).or_default().push(row);
        }
        let facts = std::mem::take(&mut empty.facts);
        let notes = std::mem::take(&mut empty.notes);
        let mut tables: Vec<Self> =
            families.into_values().map(|rows| Self { rows, ..empty.clone() }).collect();
        // What holds for all of them comes last.
        tables.iter_mut().next_back().into_iter().for_each(|last| last.notes.clone_from(&notes));
        (facts, tables)
    }

    /// Moves to the facts what all rows share, and leaves out columns that repeat another.
    fn share(&mut self) {
        let repeats = self.leave_out_repeats();
        if self.all_rows().count() > 1 {
            self.share_keys();
            self.facts.extend(repeats);
            self.share_remarks();
            let shared = take_shared_flags(&mut self.all_rows_mut().collect::<Vec<_>>());
            self.facts.extend(shared);
        } else {
            self.facts.extend(repeats);
        }
    }

    /// The same without columns in which no row has anything; one stays.
    pub(super) fn without_empty_columns(mut self) -> Self {
        for place in (0..self.columns.len()).rev() {
            if self.is_empty_column(place) && self.columns.len() > 1 {
                self.remove_column(place);
            }
        }
        self
    }

    /// Leaves out columns that only repeat another, and says which.
    fn leave_out_repeats(&mut self) -> Vec<String> {
        let mut facts = Vec::new();
        for place in (0..self.columns.len()).rev() {
            let targets = self.columns[place].repeats;
            let name = self.columns[place].name.clone();
            let found = targets.iter().find_map(|target| {
                let other = self.place(target)?;
                Some((*target, self.difference(place, other)?))
            });
            let Some((target, difference)) = found else { continue };
            if difference > 0.0 {
                let most = text::percent(Ratio((difference * 1000.0).ceil() / 1000.0));
                facts.insert(0, format!("{name} differs from {target} by {most} at most"));
            } else if !self.columns[place].silent {
                facts.insert(0, format!("{name} equals {target}"));
            }
            self.remove_column(place);
        }
        facts
    }

    /// The largest relative difference of two columns; `None` if one is no repetition of the other.
    fn difference(&self, place: usize, other: usize) -> Option<f64> {
        let mut most = 0.0_f64;
        let mut any = false;
        for row in self.all_rows() {
            let (cell, target) = (row.get(place)?, row.get(other)?);
            if cell.is_missing() {
                continue;
            }
            any = true;
            if cell.to_text() != target.to_text() {
                let (value, target) = (cell.value()?, target.value()?);
                most = most.max((value / target - 1.0).abs());
            }
        }
        (any && most <= REPEATS_MAX).then_some(most)
    }

    /// Moves what all rows share to the facts.
    fn share_keys(&mut self) {
        for key in self.keys() {
            let values: BTreeSet<Option<String>> =
                self.all_rows().map(|row| key.value(row)).collect();
            if let [Some(value)] = values.iter().collect::<Vec<_>>().as_slice() {
                let words = key.words(self, value);
                self.facts.push(words);
                self.all_rows_mut().for_each(|row| key.take(row));
            }
        }
    }

    /// Moves what runs of rows share to headings. Kernels that are told apart stand in their rows.
    fn group(&mut self) {
        let mut grouping: Vec<Key> = Vec::new();
        for key in self.keys() {
            let everywhere = self.rows.iter().all(|row| key.value(row).is_some());
            if everywhere && !matches!(key, Key::Kernel(_)) {
                grouping.push(key);
                if self.runs(&grouping).len() * GROUP_MIN > self.rows.len() {
                    grouping.pop();
                }
            }
        }
        if grouping.is_empty() {
            return;
        }
        self.groups = self.runs(&grouping);
        for row in &mut self.rows {
            grouping.iter().for_each(|key| key.take(row));
        }
        self.share_in_groups();
    }

    /// The rows of each group.
    pub(super) fn group_ranges(&self) -> Vec<Range<usize>> {
        let firsts = self.groups.iter().map(|(first, _)| *first);
        let ends = firsts.clone().skip(1).chain([self.rows.len()]);
        firsts.zip(ends).map(|(first, end)| first..end).collect()
    }

    /// Moves the parameters and flags that all rows of a group share to its heading.
    fn share_in_groups(&mut self) {
        let parameters =
            |row: &Vec<Cell>| row.iter().position(|cell| matches!(cell, Cell::Parameters(_)));
        let Some(place) = self.rows.first().and_then(parameters) else { return };
        for (group, range) in self.group_ranges().into_iter().enumerate() {
            let (words, rows) = (&mut self.groups[group].1, &mut self.rows[range]);
            if rows.len() < 2 {
                continue;
            }
            for flags in take_shared_flags(&mut rows.iter_mut().collect::<Vec<_>>()) {
                *words += &format!("; {flags}");
            }
            let shared = shared_parameters(rows, place);
            for (name, value) in &shared {
                *words += &format!("; {name}={value}");
            }
            for row in rows {
                if let Some(Cell::Parameters(all)) = row.get_mut(place) {
                    all.retain(|parameter| !shared.contains(parameter));
                }
            }
        }
    }

    /// What rows may share, what matters most first.
    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let cells = || self.all_rows().filter_map(|row| row.get(place));
            if cells().any(|cell| matches!(cell, Cell::Kernel(_))) {
                keys.extend([Key::Kernel(place), Key::Family(place)]);
            }
            let mut names: Vec<&String> = Vec::new();
            for cell in cells() {
                if let Cell::Parameters(all) = cell {
                    names.extend(all.iter().map(|(name, _)| name));
                }
            }
            names.sort_unstable();
            names.dedup();
            keys.extend(names.into_iter().map(|name| Key::Parameter(place, name.clone())));
            if column.once {
                keys.push(Key::Column(place));
            }
        }
        keys
    }

    /// Where the values of these keys change, and what they are from there on.
    fn runs(&self, keys: &[Key]) -> Vec<(usize, String)> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let words: Vec<String> =
                keys.iter().filter_map(|key| Some(key.words(self, &key.value(row)?))).collect();
            let words = words.join("; ");
            if found.last().is_none_or(|(_, known)| *known != words) {
                found.push((index, words));
            }
        }
        found
    }

    /// The same with a heading for each run of rows of one kernel: its name, and the parameters that the run
    /// shares. `None` if that saves little, or where there are headings already.
    pub(super) fn grouped_by_kernel(&self) -> Option<Self> {
        let find = |wanted: fn(&Cell) -> bool| {
            (0..self.columns.len()).find(|place| self.rows.iter().all(|row| wanted(&row[*place])))
        };
        if self.rows.is_empty() || !self.groups.is_empty() {
            return None;
        }
        let kernel = find(|cell| matches!(cell, Cell::Kernel(_)))?;
        find(|cell| matches!(cell, Cell::Parameters(_)))?;
        let mut table = Self { groups: Vec::new(), ..self.clone() };
        let mut first = 0;
        for run in self.rows.chunk_by(|row, next| row[kernel] == next[kernel]) {
            table.groups.push((first, run[0][kernel].to_text()));
            first += run.len();
        }
        table.share_in_groups();
        table.remove_column(kernel);
        let table = table.without_empty_columns();
        (table.groups.len() * RUN_MIN <= self.rows.len()).then_some(table)
    }

    /// Moves what stands beside every figure of a column to the facts.
    fn share_remarks(&mut self) {
        for place in 0..self.columns.len() {
            if !self.columns[place].notes_inline {
                continue;
            }
            let figures = self.all_rows().map(|row| &row[place]);
            let figures = figures.filter(|cell| !matches!(cell, Cell::Text(_) | Cell::Missing(_)));
            let remarks: Vec<String> = figures.map(Cell::to_remark).collect();
            let Some(first) = remarks.first().filter(|first| !first.is_empty()) else { continue };
            if remarks.len() < 2 || remarks.iter().any(|remark| remark != first) {
                continue;
            }
            self.facts.push(format!("every {}: {first}", self.columns[place].name));
            for row in self.all_rows_mut() {
                let cell = std::mem::replace(&mut row[place], Cell::none());
                row[place] = cell.without_remark();
            }
        }
    }
}

/// Takes the flags that stand on every one of several rows, and says them, for each column that has any.
fn take_shared_flags(rows: &mut [&mut Vec<Cell>]) -> Vec<String> {
    let columns = rows.first().map_or(0, |row| row.len());
    let mut found = Vec::new();
    for place in 0..columns {
        let mut all = rows.iter().map(|row| flags(&row[place]));
        let mut shared: Vec<Flag> = all.next().unwrap_or_default().to_vec();
        all.for_each(|flags| shared.retain(|flag| flags.contains(flag)));
        if shared.is_empty() {
            continue;
        }
        found.push(format!("on every row: {}", Cell::Flags(shared.clone()).to_text()));
        for row in rows.iter_mut() {
            if let Some(Cell::Flags(flags)) = row.get_mut(place) {
                flags.retain(|flag| !shared.contains(flag));
            }
        }
    }
    found
}

/// The parameters that all of these rows have with one value.
fn shared_parameters(rows: &[Vec<Cell>], place: usize) -> Vec<(String, String)> {
    let all = |row: &Vec<Cell>| match &row[place] {
        Cell::Parameters(all) => all.clone(),
        _ => Vec::new(),
    };
    let mut rows = rows.iter().map(all);
    let mut shared = rows.next().unwrap_or_default();
    rows.for_each(|row| shared.retain(|parameter| row.contains(parameter)));
    shared
}

/// A cell's flags.
fn flags(cell: &Cell) -> &[Flag] {
    match cell {
        Cell::Flags(flags) => flags,
        _ => &[],
    }
}
