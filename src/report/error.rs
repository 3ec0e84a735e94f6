//! Why there is no page.
//!
//! Input: what filling in the page meets. Output: an error with its source.

use crate::analyze::MergeError;
use crate::chart::ChartError;
use crate::claims::LedgerError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The runs cannot stand on one page, or there is none.
    #[error("there is nothing to report on")]
    Runs(#[from] MergeError),
    /// A figure could not be drawn, for another reason than that there is nothing in it.
    #[error("cannot draw a figure of the report")]
    Chart(#[from] ChartError),
    /// The embedded ledger of claims failed: a fault of lanescope's.
    #[error("cannot judge claims")]
    Claims(#[from] LedgerError),
    /// The embedded template failed: a fault of lanescope's.
    #[error("cannot fill the report's template")]
    Template(#[from] minijinja::Error),
}
