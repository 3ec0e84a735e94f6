//! The main table in parts that belong in one figure.
//!
//! Input: a [`Summary`]. Output: a part for each family and form, with one row for each kernel,
//! device and set of other parameters: the one of the largest size. How many rows that leaves out
//! is said.

use indexmap::IndexMap;

use super::{DeviceSummary, SIZE, Summary, SummaryRow, family, parameters_text};
use crate::record::Value;

/// The parameter that tells a kernel's forms apart: sealed against the compiler, or as published.
pub const FORM: &str = "form";

/// The rows of one family in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryPart {
    /// The family, such as `five_patterns`; empty for a kernel without one.
    pub family: String,
    /// The form, such as `sealed`; nothing where the kernels have none.
    pub form: Option<String>,
    /// The devices that have rows in it.
    pub devices: Vec<DeviceSummary>,
    /// Rows at smaller sizes, which are not here.
    pub rows_at_smaller_sizes: usize,
}

impl Summary {
    /// Splits the table by family and form, in the order of measurement.
    pub fn parts(&self) -> Vec<SummaryPart> {
        let mut parts: IndexMap<(String, Option<String>), SummaryPart> = IndexMap::new();
        for device in &self.devices {
            for row in &device.rows {
                let family = family(&row.kernel).to_owned();
                let form = row.parameters.get(FORM).map(ToString::to_string);
                let part = parts.entry((family.clone(), form.clone())).or_insert_with(|| {
                    SummaryPart { family, form, devices: Vec::new(), rows_at_smaller_sizes: 0 }
                });
                part.add(device, row);
            }
        }
        parts.into_values().collect()
    }
}

/// The most rows of a device that a figure of bars, or of lines by width, shows: beyond them a table
/// reads better, and sweeps have figures of their own.
pub(super) const FIGURE_ROWS_MAX: usize = 40;

impl SummaryPart {
    /// Whether a figure of bars can show it.
    pub fn fits_figure(&self) -> bool {
        self.devices.iter().all(|device| device.rows.len() <= FIGURE_ROWS_MAX)
    }

    /// Adds a row, or puts it in the place of one at a smaller size.
    fn add(&mut self, device: &DeviceSummary, row: &SummaryRow) {
        let known = self.devices.iter().position(|known| known.device == device.device);
        let place = known.unwrap_or_else(|| {
            self.devices.push(DeviceSummary { rows: Vec::new(), ..device.clone() });
            self.devices.len() - 1
        });
        let rows = &mut self.devices[place].rows;
        let same_but_size = rows.iter_mut().find(|other| {
            other.kernel == row.kernel
                && parameters_text(&other.parameters, &[SIZE])
                    == parameters_text(&row.parameters, &[SIZE])
        });
        match same_but_size {
            None => rows.push(row.clone()),
            Some(other) => {
                self.rows_at_smaller_sizes += 1;
                if size(row) > size(other) {
                    *other = row.clone();
                }
            }
        }
    }
}

/// Returns a row's size; 0 where it has none.
fn size(row: &SummaryRow) -> i64 {
    match row.parameters.get(SIZE) {
        Some(Value::Integer(size)) => *size,
        Some(Value::Real(_) | Value::Name(_)) | None => 0,
    }
}
