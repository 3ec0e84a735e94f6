//! Figures as SVG: one figure a file, one function a figure; and the list of all figures of a run, under
//! which names and in which order, which program and page take from here.
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
mod error;
mod frame;
mod lanes;
mod latencies;
mod line_labels;
mod narrow;
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
pub use bars::Scale;
use bars::{BarFigure, plots_shared};
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

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::analyze::{
    self, BeforeAfter, CurveTable, Latencies, LatencyRow, Load, SideBySide, SizeSweep, SpeedSheet,
    Speedups, StageSheet, SummaryPart, SummaryRow, TimeRatio, TraceSheet, UndefinedRow,
    WidthSeries, WidthSweep,
};
use crate::record::Run;
use crate::units::Ratio;

/// Draws every figure of a run that has something in it, in the order in which figures are shown: each
/// with its SVG.
///
/// # Errors
///
/// [`ChartError::Draw`] where drawing fails.
pub fn draw_all(run: &Run) -> Result<Vec<(Figure, String)>, ChartError> {
    let drawn = figures(run).into_par_iter().filter_map(|figure| match draw(&figure.drawing) {
        Ok(svg) => Some(Ok((figure, svg))),
        // A table may hold rows, and none of them what the figure shows.
        Err(ChartError::Empty(_)) => None,
        Err(error) => Some(Err(error)),
    });
    drawn.collect()
}

/// Draws a figure.
///
/// # Errors
///
/// [`ChartError::Empty`] where it has nothing in it, [`ChartError::Draw`] where drawing fails.
pub fn draw(drawing: &Drawing) -> Result<String, ChartError> {
    match drawing {
        Drawing::Widths(sweep) => widths(sweep),
        Drawing::Crossovers(sheet) => crossovers(sheet),
        Drawing::Stages(family, sheet) => stages(family, sheet),
        Drawing::Bandwidth(sweep) => bandwidth(sweep),
        Drawing::Undefined(rows) => undefined(rows),
        Drawing::Curves(table) => curves(table),
        Drawing::Trace(sheet) => trace(sheet),
        of_bars => bars::bars(&find_figure(of_bars)?.ok_or(ChartError::Empty("bars"))?),
    }
}

/// Draws a figure of bars, or of curves, for a screen as narrow as a phone's; nothing of other figures.
///
/// # Errors
///
/// As [`draw`].
pub fn draw_narrow(drawing: &Drawing) -> Result<Option<String>, ChartError> {
    if let Drawing::Curves(table) = drawing {
        return narrow::curves(table).map(Some);
    }
    find_figure(drawing)?.map(|figure| narrow::bars(&figure)).transpose()
}

/// The bars of a figure; nothing where it has none.
fn find_figure(drawing: &Drawing) -> Result<Option<BarFigure>, ChartError> {
    match drawing {
        Drawing::Lanes(part, plot_max) => lanes(part, *plot_max).map(Some),
        Drawing::Ratios(part, scale) => ratios(part, *scale).map(Some),
        Drawing::SideBySide(table, plot_max) => side_by_side(table, *plot_max).map(Some),
        Drawing::BeforeAfter(table) => before_after(table).map(Some),
        Drawing::Speedups(table) => speedups(table).map(Some),
        Drawing::Latencies(tables, load) => latencies(tables, *load).map(Some),
        Drawing::Widths(_)
        | Drawing::Crossovers(_)
        | Drawing::Stages(..)
        | Drawing::Bandwidth(_)
        | Drawing::Undefined(_)
        | Drawing::Curves(_)
        | Drawing::Trace(_) => Ok(None),
    }
}

/// A figure before it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in a folder, without ending, distinct within the run.
    pub name: String,
    /// What it shows.
    pub drawing: Drawing,
    /// Whether it is the first form of several that stand side by side.
    pub begins_row: bool,
}

/// What a figure shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Mean active lanes of each kernel on each device, and how many pixels the axis is long at most.
    Lanes(SummaryPart, i32),
    /// Times over the baseline's, and the axis.
    Ratios(SummaryPart, Scale),
    /// The same launches by every instrument, and how many pixels the axis is long at most.
    SideBySide(SideBySide, i32),
    /// Lanes at several widths.
    Widths(WidthSweep),
    /// Speed-ups along a parameter, and where they cross 1.
    Crossovers(SpeedSheet),
    /// Lanes before and after sorting.
    BeforeAfter(BeforeAfter),
    /// The stages of a family's launches.
    Stages(String, StageSheet),
    /// Speed-ups beside published ones.
    Speedups(Speedups),
    /// Rates against size.
    Bandwidth(SizeSweep),
    /// Latencies of instructions under a load.
    Latencies(Vec<Latencies>, Load),
    /// What shuffles out of range give.
    Undefined(Vec<UndefinedRow>),
    /// Curves of times.
    Curves(CurveTable),
    /// Lanes along time.
    Trace(TraceSheet),
}

impl Drawing {
    /// The family whose kernels it sets beside one another, bar by bar.
    fn family_of_bars(&self) -> Option<&str> {
        match self {
            Self::Lanes(part, _) | Self::Ratios(part, _) => Some(&part.family),
            _ => None,
        }
    }

    /// The family of which it shows one form of several.
    fn family_of_form(&self) -> Option<&str> {
        match self {
            Self::Lanes(part, _) | Self::Ratios(part, _) => {
                part.form.as_ref().map(|_| part.family.as_str())
            }
            Self::SideBySide(table, _) => table.form.as_ref().map(|_| table.family.as_str()),
            _ => None,
        }
    }
}

/// Marks the first of the forms that stand side by side.
fn mark_rows(found: &mut [Figure]) {
    let family_of = |figure: &Figure| {
        let family = figure.drawing.family_of_form()?.to_owned();
        Some((std::mem::discriminant(&figure.drawing), family))
    };
    let all: Vec<_> = found.iter().map(family_of).collect();
    for (at, figure) in found.iter_mut().enumerate() {
        let is_alike = |other: Option<usize>| {
            all[at].is_some() && other.and_then(|other| all.get(other)) == Some(&all[at])
        };
        figure.begins_row = is_alike(Some(at + 1)) && !is_alike(at.checked_sub(1));
    }
}

/// Every figure of a run that has something in it, in the order in which they are shown.
pub fn figures(run: &Run) -> Vec<Figure> {
    let mut found = Vec::new();
    // Where widths are compared, what each costs comes first; where a parameter was swept, what it does.
    let widths_compared = !analyze::width_sentences(run).is_empty();
    let curves_first = widths_compared || analyze::has_sweeps(run);
    if curves_first {
        find_crossovers(run, &mut found);
        find_curves(run, &mut found);
    }
    find_bars(run, &mut found);
    for sheet in analyze::traces(run) {
        let words = [Some("trace"), Some(sheet.family.as_str()), sheet.form.as_deref()];
        found.push(name_figure(words, Drawing::Trace(sheet.clone())));
    }
    find_side_by_side(run, &mut found);
    find_widths(run, &mut found);
    find_sorting(run, &mut found);
    for table in analyze::speedups(run, &analyze::summary(run)) {
        found.push(name_figure(
            [Some("speedup"), Some(table.family.as_str())],
            Drawing::Speedups(table.clone()),
        ));
    }
    for sweep in analyze::size_sweeps(run).into_iter().filter(SizeSweep::has_lines) {
        let word = sweep.name().replace('/', "-");
        found.push(name_figure([Some("rate"), Some(word.as_str())], Drawing::Bandwidth(sweep)));
    }
    let latencies = analyze::latencies(run);
    for (name, load) in [("latency", Load::Alone), ("latency-saturated", Load::Saturated)] {
        let drawn = |row: &LatencyRow| row.load == load && row.ratio.is_some();
        if latencies.iter().flat_map(|latency| &latency.rows).any(drawn) {
            found.push(name_figure([Some(name)], Drawing::Latencies(latencies.clone(), load)));
        }
    }
    let undefined = analyze::undefined_rows(run);
    if let Some(row) = undefined.first() {
        let word = row.kernel.replace(['/', '_'], "-");
        found.push(name_figure([Some(word.as_str())], Drawing::Undefined(undefined)));
    }
    if !curves_first {
        find_crossovers(run, &mut found);
        find_curves(run, &mut found);
    }
    // What the first sentence is about comes first.
    let first = analyze::first_family(run, &analyze::summary(run));
    found.sort_by_key(|figure| {
        figure.drawing.family_of_bars() != first.as_deref() || first.is_none()
    });
    let labels = analyze::labels_with_width(run);
    for figure in &mut found {
        name_widths(&mut figure.drawing, &labels);
    }
    mark_rows(&mut found);
    number_equal_names(found)
}

/// Puts the width beside each device's name, where a figure has the name alone: a figure is shown without
/// its run.
fn name_widths(drawing: &mut Drawing, labels: &BTreeMap<String, String>) {
    let name = |label: &mut String| {
        if let Some(with) = labels.get(label) {
            label.clone_from(with);
        }
    };
    match drawing {
        Drawing::Crossovers(sheet) => {
            sheet.label.iter_mut().for_each(name);
            let curves = sheet.panels.iter_mut().flat_map(|panel| &mut panel.curves);
            curves.for_each(|curve| name(&mut curve.label));
        }
        Drawing::Stages(_, sheet) => {
            sheet.stacks.iter_mut().for_each(|stack| name(&mut stack.label));
        }
        Drawing::Speedups(table) => table.devices.iter_mut().for_each(name),
        Drawing::Bandwidth(sweep) => name(&mut sweep.device),
        Drawing::Latencies(tables, _) => {
            tables.iter_mut().for_each(|table| name(&mut table.label));
        }
        // They have a width beside each device, column or row of their own.
        Drawing::Lanes(..)
        | Drawing::Ratios(..)
        | Drawing::SideBySide(..)
        | Drawing::Widths(_)
        | Drawing::BeforeAfter(_)
        | Drawing::Undefined(_)
        | Drawing::Curves(_)
        | Drawing::Trace(_) => {}
    }
}

/// Curves, as their families' folders describe them: the figures with fewest first, since they are read at once.
fn find_curves(run: &Run, found: &mut Vec<Figure>) {
    let mut tables = analyze::curves(run);
    tables.sort_by_key(|table| table.series.len());
    for table in tables {
        let name = table.name.clone();
        found.push(name_figure([Some(name.as_str())], Drawing::Curves(table)));
    }
}

/// A figure whose name has these words.
fn name_figure<'a>(words: impl IntoIterator<Item = Option<&'a str>>, drawing: Drawing) -> Figure {
    let words: Vec<&str> = words.into_iter().flatten().collect();
    Figure { name: words.join("-"), drawing, begins_row: false }
}

/// Gives equal names a number, from 2 on.
fn number_equal_names(mut figures: Vec<Figure>) -> Vec<Figure> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for figure in &mut figures {
        let alike = known.entry(figure.name.clone()).or_insert(0);
        *alike += 1;
        if *alike > 1 {
            figure.name = format!("{}-{alike}", figure.name);
        }
    }
    figures
}

/// How much longer the longest bar of a family may be than that of a sheet of the same scale.
const SCALE_SHARED_MAX: f64 = 4.0;

/// The same launches by every instrument, a family after the other; its forms stand side by side.
fn find_side_by_side(run: &Run, found: &mut Vec<Figure>) {
    for forms in analyze::side_by_side(run).chunk_by(|table, next| table.family == next.family) {
        let figure = |table: &SideBySide| side_by_side(table, i32::MAX).ok();
        let (tables, figures): (Vec<&SideBySide>, Vec<BarFigure>) =
            forms.iter().filter_map(|table| Some((table, figure(table)?))).unzip();
        for (table, plot_max) in tables.into_iter().zip(plots_shared(&figures)) {
            let words = [Some("side-by-side"), Some(table.family.as_str()), table.form.as_deref()];
            found.push(name_figure(words, Drawing::SideBySide(table.clone(), plot_max)));
        }
    }
}

/// Lanes and times over the baseline's, a family after the other: first the lanes of each of its forms, then
/// their times, so that forms stand side by side.
fn find_bars(run: &Run, found: &mut Vec<Figure>) {
    let summary = analyze::summary(run);
    let parts: Vec<SummaryPart> = summary.parts().iter().flat_map(SummaryPart::sheets).collect();
    for of_family in parts.chunk_by(|part, next| part.family == next.family) {
        let drawn = |part: &&SummaryPart| {
            let rows = || part.devices.iter().flat_map(|device| &device.rows);
            let counted = rows().any(|row| row.active_lanes_mean.is_some());
            counted && (parts.len() == 1 || !rows().all(is_full))
        };
        let counted: Vec<&SummaryPart> = of_family.iter().filter(drawn).collect();
        let figures: Vec<BarFigure> =
            counted.iter().map(|part| lanes::figure(part, i32::MAX)).collect();
        for (part, plot_max) in counted.into_iter().zip(plots_shared(&figures)) {
            let words = part_words(part);
            let words = [Some("lanes"), Some(words.as_str())];
            found.push(name_figure(words, Drawing::Lanes(part.clone(), plot_max)));
        }
        find_ratios(of_family, found);
    }
}

/// Times over the baseline's, of a family's forms.
fn find_ratios(of_family: &[SummaryPart], found: &mut Vec<Figure>) {
    let drawn = |part: &&SummaryPart| {
        let compared = |row: &SummaryRow| matches!(row.time_ratio, TimeRatio::Measured(_));
        part.devices.iter().flat_map(|device| &device.rows).any(compared)
    };
    let compared: Vec<&SummaryPart> = of_family.iter().filter(drawn).collect();
    // Sheets that stand side by side have one scale, but for those that it would flatten.
    let longest = of_family.iter().map(ratios::reach).fold(0.0, f64::max);
    let reach_min = |part: &SummaryPart| {
        let near = ratios::reach(part) * SCALE_SHARED_MAX >= longest;
        if near { longest } else { 0.0 }
    };
    let figure = |part: &&SummaryPart| ratios::figure(part, Scale::alone(reach_min(part)));
    let figures: Vec<BarFigure> = compared.iter().map(figure).collect();
    for (part, plot_max) in compared.into_iter().zip(plots_shared(&figures)) {
        let words = part_words(part);
        let words = [Some("time"), Some(words.as_str())];
        let scale = Scale { reach_min: reach_min(part), plot_max };
        found.push(name_figure(words, Drawing::Ratios(part.clone(), scale)));
    }
}

/// Whether all lanes of a launch were active, as expected: beside others that says nothing.
fn is_full(row: &SummaryRow) -> bool {
    let full = |share: Ratio| share.0 >= FULL_MIN;
    row.active_lanes_mean.is_none() || row.published.is_none() && row.efficiency.is_some_and(full)
}

/// The efficiency from which on all lanes count as active.
const FULL_MIN: f64 = 0.9995;

/// The words of a part in the names of its figures: family, form and what else tells it from others.
fn part_words(part: &SummaryPart) -> String {
    let words = [Some(part.family.as_str()), part.form.as_deref()].into_iter().flatten();
    let words = words.map(str::to_owned).chain(part.words.iter().map(ToString::to_string));
    words.collect::<Vec<_>>().join("-")
}

/// Lanes at several widths, a family and form each.
fn find_widths(run: &Run, found: &mut Vec<Figure>) {
    // Two widths are two bars, which are drawn already.
    let several = |series: &WidthSeries| {
        let widths: BTreeSet<_> = series.points.iter().map(|point| point.width).collect();
        widths.len() > 2
    };
    let mut parts = analyze::width_sweep(run).parts();
    parts.retain(|part| part.series.iter().any(several) && part.fits_figure());
    for part in &parts {
        let Some(first) = part.series.first() else { continue };
        let family = analyze::family(&first.kernel);
        // Where several families or forms are drawn, each name says whose it is.
        let alone = parts.iter().filter(|other| other.series[0].form == first.form).count() == 1;
        let family = (parts.len() > 1 && !alone).then_some(family);
        let words = [Some("widths"), family, first.form.as_deref()];
        found.push(name_figure(words, Drawing::Widths(part.clone())));
    }
}

/// Speed-ups along a parameter.
fn find_crossovers(run: &Run, found: &mut Vec<Figure>) {
    for sheet in analyze::speed_sheets(&analyze::speed_curves(run)) {
        let name = sheet.name();
        found.push(name_figure([Some("speedup"), Some(name.as_str())], Drawing::Crossovers(sheet)));
    }
}

/// Lanes before and after sorting, and stages.
fn find_sorting(run: &Run, found: &mut Vec<Figure>) {
    for table in analyze::before_after(run) {
        let words = [Some("lanes-before-after"), Some(table.family.as_str())];
        found.push(name_figure(words, Drawing::BeforeAfter(table.clone())));
    }
    let families: BTreeSet<&str> =
        run.measurements.iter().map(|measurement| analyze::family(&measurement.kernel)).collect();
    for family in families {
        if let Some(sheet) = analyze::stages(run, family) {
            let drawing = Drawing::Stages(family.to_owned(), sheet);
            found.push(name_figure([Some("stages"), Some(family)], drawing));
        }
    }
}
