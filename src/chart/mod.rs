//! Figures as SVG: one figure a file, one function a figure.
//!
//! Input: a table of `analyze`. Output: the text of a self-contained SVG of 900 pixels' width, white
//! background, text as `<text>`, legible without colour: every mark has its number, beside it or in a
//! table below, and the legend's order is the order of the marks. Nothing is computed here but places.
//!
//! Colours are the palette of Okabe and Ito, "Color Universal Design" (2008), made to be told apart
//! with any kind of colour vision.

mod bandwidth;
mod bars;
mod before_after;
mod canvas;
mod crossovers;
mod curves;
mod ends;
mod lanes;
mod latencies;
mod ratios;
mod side_by_side;
mod speedups;
mod stages;
#[cfg(test)]
mod tests;
mod undefined;
mod widths;

pub use bandwidth::bandwidth;
pub use before_after::before_after;
pub use crossovers::crossovers;
pub use curves::curves;
pub use lanes::lanes;
pub use latencies::latencies;
pub use ratios::ratios;
pub use side_by_side::side_by_side;
pub use speedups::speedups;
pub use stages::stages;
pub use undefined::undefined;
pub use widths::widths;

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
