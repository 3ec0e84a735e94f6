//! The main table in parts that belong in one figure.
//!
//! Input: a [`Summary`]. Output: a part for each family and form, with one row for each kernel,
//! device and set of other parameters: the one of the largest size. A part of more rows than a figure
//! shows falls into sheets, by what its kernels are compared with, then by values of parameters. How many rows
//! are left out is said.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexMap;

use super::names::{FORM, SIZE, family, parameters_text, short_name};
use super::summary::{DeviceSummary, Summary, SummaryRow};
use super::usual::keep_usual_of_each;
use crate::record::Value;

/// The rows of one family in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryPart {
    /// The family, such as `five_patterns`; empty for a kernel without one.
    pub family: String,
    /// The form, such as `sealed`; `None` if the kernels have none.
    pub form: Option<String>,
    /// The devices that have rows in it.
    pub devices: Vec<DeviceSummary>,
    /// What tells a sheet from the others of its part; empty for a whole part.
    pub words: Vec<SheetWord>,
    /// Rows at smaller sizes, which are not shown.
    pub smaller: Vec<SummaryRow>,
    /// Rows beyond what figures hold, on no sheet.
    pub rows_not_shown: usize,
}

/// What the launches of a sheet share, and those of the other sheets of its part do not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SheetWord {
    /// They are compared with this kernel, or have this value of a parameter, as `input=random`.
    Has(String),
    /// They have no parameter of this name, as others have.
    Lacks(String),
}

impl std::fmt::Display for SheetWord {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Has(words) => formatter.write_str(words),
            Self::Lacks(name) => write!(formatter, "without {name}"),
        }
    }
}

impl Summary {
    /// Splits the table by family and form, in the order of measurement.
    pub fn parts(&self) -> Vec<SummaryPart> {
        let mut parts: IndexMap<(String, Option<String>), (SummaryPart, Places)> = IndexMap::new();
        for device in &self.devices {
            for row in &device.rows {
                let family = family(&row.kernel).to_owned();
                let form = row.parameters.get(FORM).map(ToString::to_string);
                let (part, places) =
                    parts.entry((family.clone(), form.clone())).or_insert_with(|| {
                        let part = SummaryPart {
                            family,
                            form,
                            devices: Vec::new(),
                            words: Vec::new(),
                            smaller: Vec::new(),
                            rows_not_shown: 0,
                        };
                        (part, Places::new())
                    });
                part.add(device, row, places);
            }
        }
        parts.into_values().map(|(part, _)| part).collect()
    }
}

/// Where the row of a device, a kernel and parameters without size stands among the device's rows.
type Places = HashMap<[String; 3], usize>;

/// The most rows of a device that a figure of bars, or of lines by width, shows: beyond them a table
/// reads better, and sweeps have figures of their own.
pub(super) const FIGURE_ROWS_MAX: usize = 40;

/// The most sheets of a part.
const SHEETS_MAX: usize = 12;

impl SummaryPart {
    /// Whether a figure of bars can show it.
    fn fits_figure(&self) -> bool {
        self.devices.iter().all(|device| device.rows.len() <= FIGURE_ROWS_MAX)
    }

    /// Splits it into sheets that figures of bars can show.
    pub fn sheets(&self) -> Vec<Self> {
        // Sheets come in the order of measurement, and what is measured first is shown; the others' rows
        // are counted, so that each sheet can say how many there are beside it.
        let mut sheets = self.split();
        let beyond = sheets.split_off(sheets.len().min(SHEETS_MAX));
        let rows = beyond.iter().flat_map(|sheet| &sheet.devices).map(|device| device.rows.len());
        let rows: usize = rows.sum();
        for sheet in &mut sheets {
            sheet.rows_not_shown += rows;
        }
        sheets
    }

    fn split(&self) -> Vec<Self> {
        if self.fits_figure() {
            return vec![self.clone()];
        }
        let baselines: BTreeSet<&str> =
            self.rows().filter_map(|row| row.baseline.as_deref()).collect();
        // Kernels that are held against one another stay together.
        let word = |row: &SummaryRow| {
            let baseline = baselines.get(row.kernel.as_str()).copied();
            let kernel = baseline.or(row.baseline.as_deref()).map_or("others", short_name);
            SheetWord::Has(kernel.to_owned())
        };
        // First by what is compared with what, and only then by a parameter: a sheet that holds half of a
        // comparison shows nothing.
        let first = self.rows().next().map(word);
        if self.rows().any(|row| Some(word(row)) != first) {
            return self.split_by(word);
        }
        // No parameter tells the rows apart: the first are shown.
        let Some(name) = self.telling() else {
            return vec![self.cut_off()];
        };
        self.split_by(|row| {
            let value = row.parameters.get(&name);
            value.map_or_else(
                || SheetWord::Lacks(name.clone()),
                |value| SheetWord::Has(format!("{name}={value}")),
            )
        })
    }

    fn rows(&self) -> impl Iterator<Item = &SummaryRow> {
        self.devices.iter().flat_map(|device| &device.rows)
    }

    /// The parameter to split by: names before numbers, and few values before many.
    fn telling(&self) -> Option<String> {
        let mut values: BTreeMap<&String, (bool, BTreeSet<String>)> = BTreeMap::new();
        let parameters = self.rows().flat_map(|row| &row.parameters);
        for (name, value) in parameters.filter(|(name, _)| *name != SIZE) {
            let number = !matches!(value, Value::Name(_));
            let known = values.entry(name).or_insert((number, BTreeSet::new()));
            known.1.insert(value.to_string());
        }
        // What is the same in all rows splits nothing.
        values.retain(|_, (_, texts)| texts.len() > 1);
        let first = values.into_iter().min_by_key(|(_, (number, texts))| (*number, texts.len()));
        first.map(|(name, _)| name.clone())
    }

    /// The sheets of the rows of each word, each split on.
    fn split_by(&self, word: impl Fn(&SummaryRow) -> SheetWord) -> Vec<Self> {
        let mut sheets: IndexMap<SheetWord, Self> = IndexMap::new();
        for device in &self.devices {
            for row in &device.rows {
                let word = word(row);
                let sheet = sheets.entry(word.clone()).or_insert_with(|| self.without_rows(word));
                sheet.rows_of(device).push(row.clone());
            }
        }
        for row in &self.smaller {
            if let Some(sheet) = sheets.get_mut(&word(row)) {
                sheet.smaller.push(row.clone());
            }
        }
        // What was split by tells the rows of a sheet apart no longer, so that this comes to an end.
        sheets.into_values().flat_map(|sheet| sheet.split()).collect()
    }

    /// A sheet of this part that is told by a word more, and has no rows.
    fn without_rows(&self, word: SheetWord) -> Self {
        Self {
            family: self.family.clone(),
            form: self.form.clone(),
            devices: Vec::new(),
            words: self.words.iter().cloned().chain([word]).collect(),
            smaller: Vec::new(),
            rows_not_shown: self.rows_not_shown,
        }
    }

    /// The rows of a device, none where it had none.
    fn rows_of(&mut self, device: &DeviceSummary) -> &mut Vec<SummaryRow> {
        let known = self.devices.iter().position(|known| known.device == device.device);
        let place = known.unwrap_or_else(|| {
            self.devices.push(device.without_rows());
            self.devices.len() - 1
        });
        &mut self.devices[place].rows
    }

    /// The first rows of each device, as many as a figure shows.
    fn cut_off(&self) -> Self {
        let mut sheet = self.clone();
        for device in &mut sheet.devices {
            sheet.rows_not_shown += device.rows.len().saturating_sub(FIGURE_ROWS_MAX);
            device.rows.truncate(FIGURE_ROWS_MAX);
        }
        sheet
    }

    /// Adds a row, or puts it in the place of one at a smaller size.
    fn add(&mut self, device: &DeviceSummary, row: &SummaryRow, places: &mut Places) {
        let rows = self.rows_of(device);
        let parameters = parameters_text(&row.parameters, &[SIZE]);
        match places.entry([device.device.clone(), row.kernel.clone(), parameters]) {
            Entry::Vacant(place) => {
                place.insert(rows.len());
                rows.push(row.clone());
            }
            Entry::Occupied(place) => {
                // A kernel is shown once: at its largest size, where what a launch costs weighs least.
                let other = &mut rows[*place.get()];
                let smaller = if size(row) > size(other) {
                    std::mem::replace(other, row.clone())
                } else {
                    row.clone()
                };
                self.smaller.push(smaller);
            }
        }
    }
}

impl DeviceSummary {
    /// The same table with, of more than `most` rows, those of each kernel's most usual parameters; and
    /// how many rows that leaves out.
    pub fn usual(&self, most: usize) -> (Self, usize) {
        let mut usual = self.clone();
        if self.rows.len() > most {
            keep_usual_of_each(&mut usual.rows, |row| (&row.kernel, row.unusual));
        }
        let left_out = self.rows.len() - usual.rows.len();
        (usual, left_out)
    }
}

/// Returns a row's size; 0 where it has none.
fn size(row: &SummaryRow) -> i64 {
    match row.parameters.get(SIZE) {
        Some(Value::Integer(size)) => *size,
        Some(Value::Real(_) | Value::Name(_)) | None => 0,
    }
}
