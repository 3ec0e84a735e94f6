//! Why there is no figure.
//!
//! Input: what drawing finds. Output: an error with its reason; it draws nothing.

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// The table holds nothing that the figure shows.
    #[error("no {0} to draw")]
    Empty(&'static str),
    /// The SVG backend failed.
    #[error("cannot draw: {0}")]
    Draw(String),
}
