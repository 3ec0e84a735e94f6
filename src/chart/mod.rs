//! Figures as SVG: one figure a file, one function a figure.
//!
//! Input: a figure of `present`, which is a table of `analyze`. Output: the text of a self-contained SVG of 900 pixels' width, white
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
mod error;
mod frame;
mod lanes;
mod latencies;
mod line_labels;
mod ratios;
mod side_by_side;
mod speedups;
mod stages;
#[cfg(test)]
mod tests;
mod trace;
mod undefined;
mod widths;

use bandwidth::bandwidth;
use before_after::before_after;
use crossovers::crossovers;
use curves::curves;
pub use error::ChartError;
use lanes::lanes;
use latencies::latencies;
use ratios::ratios;
use side_by_side::side_by_side;
use speedups::speedups;
use stages::stages;
pub use trace::trace;
use undefined::undefined;
use widths::widths;

use crate::present::{Drawing, Figure, figures};
use crate::record::Run;

/// Draws every figure of a run that has something in it, in the order in which figures are shown: each
/// with its SVG.
///
/// # Errors
///
/// [`ChartError::Draw`] where drawing fails.
pub fn draw_all(run: &Run) -> Result<Vec<(Figure, String)>, ChartError> {
    let mut drawn = Vec::new();
    for figure in figures(run) {
        match draw(&figure.drawing) {
            Ok(svg) => drawn.push((figure, svg)),
            // A table may hold rows, and none of them what the figure shows.
            Err(ChartError::Empty(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(drawn)
}

/// Draws a figure.
///
/// # Errors
///
/// [`ChartError::Empty`] where it has nothing in it, [`ChartError::Draw`] where drawing fails.
pub fn draw(drawing: &Drawing) -> Result<String, ChartError> {
    match drawing {
        Drawing::Lanes(part) => lanes(part),
        Drawing::Ratios(part) => ratios(part),
        Drawing::SideBySide(table) => side_by_side(table),
        Drawing::Widths(sweep) => widths(sweep),
        Drawing::Crossovers(sheet) => crossovers(sheet),
        Drawing::BeforeAfter(table) => before_after(table),
        Drawing::Stages(family, sheet) => stages(family, sheet),
        Drawing::Speedups(table) => speedups(table),
        Drawing::Bandwidth(sweep) => bandwidth(sweep),
        Drawing::Latencies(tables, load) => latencies(tables, *load),
        Drawing::Undefined(rows) => undefined(rows),
        Drawing::Curves(table) => curves(table),
        Drawing::Trace(sheet) => trace(sheet),
    }
}
