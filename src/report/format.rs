//! Numbers in the running text of the page, in the forms of `present`.
//!
//! Input: figures that may be missing. Output: text; what was not measured is a dash, never a zero.

/// Writes a figure of whatever unit.
pub(super) use crate::units::figure;
/// Writes a count with its thousands set apart by commas.
pub(super) use crate::units::grouped_text as count;
use crate::units::{Ratio, Width};

use crate::present::Cell;
pub(super) use crate::units::text::NONE;

/// Writes a mean number of lanes.
pub(super) fn lanes(value: Option<f64>) -> String {
    Cell::from_option(value, Cell::Lanes).to_text()
}

/// Writes a ratio as a percentage.
pub(super) fn percent(value: Option<Ratio>) -> String {
    Cell::from_option(value, Cell::Percent).to_text()
}

/// Writes a width.
pub(super) fn width(value: Option<Width>) -> String {
    Cell::from_option(value, Cell::Width).to_text()
}
