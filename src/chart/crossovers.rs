//! The figure of speed-ups along a parameter, and where they cross 1.
//!
//! Input: a sheet of `analyze`. Output: SVG. Both axes are logarithmic, so that twice as fast and half
//! as fast lie equally far from 1. Few curves share one plot and are named below it; many have a plot
//! for each kernel, side by side and of one scale, and a table of crossovers below.

use super::ChartError;
use super::bars::{HEIGHT, WIDTH};
use super::canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour};
use super::frame::{ChartFrame, Span};
use super::line_labels::{End, ends};
use crate::analyze::{Crossover, SpeedCurve, SpeedPanel, SpeedSheet, crossover, short_name};
use crate::record::Value;
use crate::units::text;

const LEFT: i32 = 70;
const RIGHT: i32 = 40;
const BOTTOM: i32 = 60;
/// Height of a line of the legend, or of a table's row.
const LEGEND_LINE: i32 = 18;
/// A panel with its title and its axis, where there are several.
const PANEL: (i32, i32) = (434, 300);
/// The most values of the x axis that have numbers each.
const TICKS_MAX: usize = 12;
/// The font of the lines below the title, where the first is, and their distance.
const SUBTITLE: Font = Font { size: 13, bold: false, colour: GREY };
const SUBTITLE_TOP: i32 = 46;
const SUBTITLE_STEP: i32 = 19;

/// A plot of the whole sheet that holds every point.
fn whole_frame(sheet: &SpeedSheet) -> Option<ChartFrame> {
    let points = || sheet.curves().flat_map(|curve| curve.points.iter().copied());
    points().next()?;
    let span = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
    };
    let x = span(&mut points().map(|(x, _)| x));
    let y = span(&mut points().map(|(_, y)| y).chain([0.5, 2.0]));
    Some(ChartFrame {
        left: LEFT,
        right: WIDTH - RIGHT,
        top: SUBTITLE_TOP,
        bottom: HEIGHT - BOTTOM,
        pad: 0,
        x: Span::logarithmic(x.0, x.1),
        y: Span::logarithmic(y.0.log2().floor().exp2(), y.1.log2().ceil().exp2()),
    })
}

/// Draws speed-ups over the divergent kernel along one parameter.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no curve, [`ChartError::Draw`] where drawing fails.
pub(super) fn crossovers(sheet: &SpeedSheet) -> Result<String, ChartError> {
    let frame = whole_frame(sheet).ok_or(ChartError::Empty("speed-ups"))?;
    let title = format!("Speed-up over {} along {}", sheet.baseline, sheet.axis);
    match sheet.panels.as_slice() {
        [panel] if sheet.series.is_none() => one_plot(sheet, panel, &frame, &title),
        panels => several_plots(sheet, panels, &frame, &title),
    }
}

/// All curves in one plot, each with a number, and a line of words for each below.
fn one_plot(
    sheet: &SpeedSheet,
    panel: &SpeedPanel,
    frame: &ChartFrame,
    title: &str,
) -> Result<String, ChartError> {
    let lines = heading_lines(sheet, "numbers are those of the lines below");
    let frame = ChartFrame { top: below(&lines) + 12, ..*frame };
    let words: Vec<String> =
        (1..).zip(&panel.curves).map(|numbered| words(sheet, numbered)).collect();
    let legend = LEGEND_LINE.saturating_mul(count(words.len()));
    draw((WIDTH, HEIGHT + legend), title, |canvas| {
        heading(canvas, title, &lines)?;
        axes(canvas, &frame, sheet)?;
        for (index, (curve, text)) in panel.curves.iter().zip(&words).enumerate() {
            line(canvas, &frame, index, curve)?;
            let y = frame.bottom + 64 + count(index).saturating_mul(LEGEND_LINE);
            canvas.fill((16, y - 5), (40, y + 5), series_colour(index))?;
            canvas.text(text, (48, y), Anchor::Start, Font::plain(13))?;
        }
        let numbers = (0..panel.curves.len()).map(|place| (place, (place + 1).to_string()));
        marks(canvas, &frame, &panel.curves, numbers)
    })
}

/// A plot for each kernel, two side by side, and a table of where each curve crosses 1.
fn several_plots(
    sheet: &SpeedSheet,
    panels: &[SpeedPanel],
    whole: &ChartFrame,
    title: &str,
) -> Result<String, ChartError> {
    let rows = count(panels.len().div_ceil(2));
    let values = series_values(sheet);
    // What stands at the ends of curves must not reach the numbers of the panel beside it.
    let ends = values.iter().map(|value| Font::plain(12).bold().width(value));
    let ends_room = ends.max().unwrap_or(0) + 4;
    let bands = count(panels.len().div_ceil(kernels_per_band(sheet, panels)));
    let colon = if sheet.words.is_empty() { "" } else { ": " };
    let title = format!("{title}{colon}{}", sheet.words.join(", "));
    let ends = sheet.series.as_ref().map(|series| format!("numbers at the curves' ends: {series}"));
    let lines = heading_lines(sheet, ends.as_deref().unwrap_or_default());
    let panels_top = below(&lines) + 12;
    let table_top = panels_top + rows * PANEL.1 + 26;
    let height = table_top + bands * (count(values.len() + 1) * LEGEND_LINE + 10);
    draw((WIDTH, height), &title, |canvas| {
        heading(canvas, &title, &lines)?;
        for ((index, panel), row) in panels.iter().enumerate().zip((0..).flat_map(|r| [r, r])) {
            let left = if index % 2 == 0 { 0 } else { PANEL.0 };
            let top = panels_top + row * PANEL.1;
            let frame = ChartFrame {
                left: left + 60,
                right: left + PANEL.0 - ends_room.max(30),
                top: top + 26,
                bottom: top + PANEL.1 - 52,
                ..*whole
            };
            let name = panel.kernel.as_deref().map_or("all", short_name);
            canvas.text(name, (left + 60, top + 10), Anchor::Start, Font::plain(14).bold())?;
            axes(canvas, &frame, sheet)?;
            let named: Vec<(usize, String)> = panel
                .curves
                .iter()
                .map(|curve| {
                    let value = series_value(sheet, curve);
                    (values.iter().position(|known| *known == value).unwrap_or(0), value)
                })
                .collect();
            for (curve, (place, _)) in panel.curves.iter().zip(&named) {
                line(canvas, &frame, *place, curve)?;
            }
            marks(canvas, &frame, &panel.curves, named.into_iter())?;
        }
        crossings_table(canvas, sheet, panels, &values, table_top)
    })
}

/// The most kernels of a row of the table of crossovers, and where the first one stands.
const KERNELS_PER_BAND: usize = 4;
const FIRST_COLUMN: i32 = 110;

/// The head of a kernel's column.
fn column_head(panel: &SpeedPanel) -> String {
    format!("{} pays", panel.kernel.as_deref().map_or("all", short_name))
}

/// As many kernels of a row as have room for their names, and for where each of their curves crosses 1.
fn kernels_per_band(sheet: &SpeedSheet, panels: &[SpeedPanel]) -> usize {
    let heads = panels.iter().map(|panel| Font::plain(12).bold().width(&column_head(panel)));
    let cells = panels.iter().flat_map(|panel| &panel.curves);
    let cells = cells.map(|curve| Font::plain(12).width(&crossing(sheet, curve)));
    let widths = heads.chain(cells);
    let fit = (WIDTH - FIRST_COLUMN) / (widths.max().unwrap_or(0) + 8);
    usize::try_from(fit).unwrap_or(0).clamp(1, KERNELS_PER_BAND)
}

/// What the sheet's curves share, how to read it, and what is not on it, in lines that fit.
fn heading_lines(sheet: &SpeedSheet, numbers: &str) -> Vec<String> {
    let shared = sheet.label.iter().chain(&sheet.shared).cloned().collect::<Vec<String>>();
    let mut under = "above 1 it pays; both axes logarithmic".to_owned();
    if !numbers.is_empty() {
        under += &format!("; {numbers}");
    }
    if sheet.not_shown > 0 {
        under += &format!("; {} curves between or of other parameters not drawn", sheet.not_shown);
    }
    let all = [shared.join(", "), under, brackets(sheet).unwrap_or_default().to_owned()];
    all.iter().flat_map(|text| SUBTITLE.lines(text, WIDTH - 32)).collect()
}

/// Where these lines end.
fn below(lines: &[String]) -> i32 {
    SUBTITLE_TOP + SUBTITLE_STEP * count(lines.len())
}

fn heading(canvas: &Canvas<'_>, title: &str, lines: &[String]) -> Result<(), ChartError> {
    canvas.text(title, (16, 24), Anchor::Start, Font::plain(18).bold())?;
    for (line, place) in lines.iter().zip(0..) {
        canvas.text(line, (16, SUBTITLE_TOP + SUBTITLE_STEP * place), Anchor::Start, SUBTITLE)?;
    }
    Ok(())
}

/// The values of the series' parameter on a sheet, in the order of the curves.
fn series_values(sheet: &SpeedSheet) -> Vec<String> {
    let longest = sheet.panels.iter().max_by_key(|panel| panel.curves.len());
    let mut values: Vec<String> = longest
        .map(|panel| panel.curves.iter().map(|curve| series_value(sheet, curve)).collect())
        .unwrap_or_default();
    for curve in sheet.curves() {
        let value = series_value(sheet, curve);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    // What has no such parameter gets the first colour.
    values.sort_by_key(|value| value != NONE);
    values
}

/// In place of a value: a kernel that has no such parameter.
const NONE: &str = "none";

fn series_value(sheet: &SpeedSheet, curve: &SpeedCurve) -> String {
    match sheet.series.as_ref().and_then(|name| curve.fixed.get(name)) {
        #[expect(clippy::cast_precision_loss, reason = "parameters lie far below 2^53")]
        Some(Value::Integer(value)) => tick(*value as f64),
        Some(value) => value.to_string(),
        None if sheet.series.is_some() => NONE.to_owned(),
        None => own_parameters(sheet, curve).join(", "),
    }
}

/// The parameters of a curve that are not said of the whole sheet, as `work=512`.
fn own_parameters(sheet: &SpeedSheet, curve: &SpeedCurve) -> Vec<String> {
    let fixed = curve.fixed.iter().map(|(name, value)| format!("{name}={value}"));
    fixed.filter(|part| !sheet.shared.contains(part) && !sheet.words.contains(part)).collect()
}

/// Where each curve crosses 1: a row a value of the series' parameter, a column a kernel.
fn crossings_table(
    canvas: &Canvas<'_>,
    sheet: &SpeedSheet,
    panels: &[SpeedPanel],
    values: &[String],
    top: i32,
) -> Result<(), ChartError> {
    let (bold, font) = (Font::plain(12).bold(), Font::plain(12));
    let mut y = top;
    let per_band = kernels_per_band(sheet, panels);
    let step = (WIDTH - FIRST_COLUMN) / count(per_band);
    for band in panels.chunks(per_band) {
        let columns = || (0..).map(|column| FIRST_COLUMN + column * step);
        canvas.text(sheet.series.as_deref().unwrap_or_default(), (32, y), Anchor::Start, bold)?;
        for (panel, x) in band.iter().zip(columns()) {
            canvas.text(&column_head(panel), (x, y), Anchor::Start, bold)?;
        }
        for (index, value) in values.iter().enumerate() {
            y += LEGEND_LINE;
            canvas.fill((16, y - 5), (26, y + 5), series_colour(index))?;
            canvas.text(value, (32, y), Anchor::Start, font)?;
            for (panel, x) in band.iter().zip(columns()) {
                let same = |curve: &&SpeedCurve| series_value(sheet, curve) == *value;
                let text = panel.curves.iter().find(same);
                let text = text.map_or(text::NONE.to_owned(), |curve| crossing(sheet, curve));
                canvas.text(&text, (x, y), Anchor::Start, font)?;
            }
        }
        y += LEGEND_LINE + 10;
    }
    Ok(())
}

/// Where a curve crosses 1, in few words; and what it spans, where other curves of the sheet have points
/// that it lacks.
fn crossing(sheet: &SpeedSheet, curve: &SpeedCurve) -> String {
    let words = match crossover(curve) {
        Crossover::Always => "at every point".to_owned(),
        Crossover::Never => "at no point".to_owned(),
        Crossover::Some(points) => format!("at {points} of {} points", curve.points.len()),
        found @ (Crossover::From(_) | Crossover::UpTo(_) | Crossover::Between(..)) => {
            found.words(curve)
        }
    };
    words + &lacking(&measured_values(sheet), curve)
}

/// Every value of the axis that some curve of a sheet has, in rising order.
fn measured_values(sheet: &SpeedSheet) -> Vec<f64> {
    let mut values: Vec<f64> =
        sheet.curves().flat_map(|curve| curve.points.iter().map(|(x, _)| *x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// What a curve spans of these values, in brackets; empty if it has them all.
fn lacking(values: &[f64], curve: &SpeedCurve) -> String {
    let (Some((first, _)), Some((last, _))) = (curve.points.first(), curve.points.last()) else {
        return String::new();
    };
    let starts = values.first().is_some_and(|least| first <= least);
    let ends = values.last().is_some_and(|most| last >= most);
    match (starts, ends) {
        (true, true) if curve.points.len() == values.len() => String::new(),
        (true, true) => format!(" ({} of {} points)", curve.points.len(), values.len()),
        (true, false) => format!(" (to {})", tick(*last)),
        (false, true) => format!(" (from {})", tick(*first)),
        (false, false) => format!(" ({} to {})", tick(*first), tick(*last)),
    }
}

/// What a sheet's brackets mean; `None` if it has none.
fn brackets(sheet: &SpeedSheet) -> Option<&'static str> {
    let values = measured_values(sheet);
    let whole = sheet.curves().all(|curve| lacking(&values, curve).is_empty());
    (!whole).then_some("in brackets: what a curve spans that lacks points")
}

/// Writes each curve's mark beside the plot.
fn marks(
    canvas: &Canvas<'_>,
    frame: &ChartFrame,
    curves: &[SpeedCurve],
    marks: impl Iterator<Item = (usize, String)>,
) -> Result<(), ChartError> {
    let end = |(curve, (place, name)): (&SpeedCurve, (usize, String))| {
        let (x, y) = curve.points.last()?;
        Some(End { place: frame.place(*x, *y), name, colour: series_colour(place) })
    };
    let all: Vec<End> = curves.iter().zip(marks).filter_map(end).collect();
    ends(canvas, frame.right, (frame.top, frame.bottom), all)
}

fn axes(canvas: &Canvas<'_>, frame: &ChartFrame, sheet: &SpeedSheet) -> Result<(), ChartError> {
    let mut y = frame.y.low;
    #[expect(clippy::cast_possible_truncation, reason = "a few powers of two")]
    let power = |y: f64| y.log2().round() as i32;
    let lines = power(frame.y.high / frame.y.low);
    while y <= frame.y.high * 1.001 {
        let at = frame.y(y);
        let (colour, thick) = if (y - 1.0).abs() < 1e-9 { (INK, 2) } else { (PALE, 1) };
        canvas.line(vec![(frame.left, at), (frame.right, at)], colour, thick)?;
        // Where lines lie close, every second has its number.
        if frame.bottom - frame.top > 24 * lines || power(y) % 2 == 0 {
            canvas.text(&times(y), (frame.left - 8, at), Anchor::End, Font::plain(13))?;
        }
        y *= 2.0;
    }
    let numbers: Vec<(i32, String)> =
        ticks(&measured_values(sheet)).iter().map(|x| (frame.x(*x), tick(*x))).collect();
    for (at, _) in &numbers {
        canvas.line(vec![(*at, frame.bottom), (*at, frame.bottom + 5)], INK, 1)?;
    }
    canvas.numbers(numbers, frame.bottom + 16, Font::plain(13))?;
    let middle = i32::midpoint(frame.left, frame.right);
    canvas.text(&sheet.axis, (middle, frame.bottom + 38), Anchor::Middle, Font::plain(14))
}

/// A power of two as a factor: 4×, 1/2×, 1/32×.
fn times(y: f64) -> String {
    if y < 1.0 { format!("1/{}×", (1.0 / y).round()) } else { format!("{y}×") }
}

/// Where the x axis has numbers: at what was measured, where that is not much, else by factors of 4.
fn ticks(values: &[f64]) -> Vec<f64> {
    let (Some(from), Some(to)) = (values.first(), values.last()) else { return Vec::new() };
    if values.len() <= TICKS_MAX {
        return values.to_vec();
    }
    let next = |x: &f64| Some(x * 4.0).filter(|x| *x < to * 0.999);
    std::iter::successors(Some(*from), next).chain([*to]).collect()
}

/// A parameter's value: powers of two as such, where they are large.
fn tick(x: f64) -> String {
    let power = x.log2();
    if x >= 1024.0 && (power - power.round()).abs() < 1e-9 {
        format!("2^{}", power.round())
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

fn line(
    canvas: &Canvas<'_>,
    frame: &ChartFrame,
    index: usize,
    curve: &SpeedCurve,
) -> Result<(), ChartError> {
    let colour = series_colour(index);
    let places: Vec<(i32, i32)> = curve.points.iter().map(|(x, y)| frame.place(*x, *y)).collect();
    canvas.line(places.clone(), colour, 2)?;
    for place in &places {
        canvas.disc(*place, 4, colour)?;
    }
    Ok(())
}

/// A curve's line of words below the plot: what is not said of the whole sheet.
fn words(sheet: &SpeedSheet, (number, curve): (usize, &SpeedCurve)) -> String {
    let device = sheet.label.is_none().then(|| curve.label.clone());
    let parameters =
        Some(own_parameters(sheet, curve).join(", ")).filter(|parameters| !parameters.is_empty());
    let name = Some(short_name(&curve.kernel_variant()).to_owned());
    let who: Vec<String> = [name, device, parameters].into_iter().flatten().collect();
    let last = curve.points.last().map_or(1.0, |(_, y)| *y);
    let crossing = crossing(sheet, curve);
    format!("{number}  {}: pays {crossing}; {}× at the end", who.join(", "), text::ratio(last))
}

fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 4096)
}
