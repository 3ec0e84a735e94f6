//! Bars and curves for a screen as narrow as a phone's.
//!
//! Input: a [`BarFigure`], or a table of curves. Output: SVG of [`WIDTH`] pixels, so that its letters keep their size on
//! such a screen and nothing moves sideways. The name of a group stands above its bars, and each number above its bar;
//! the names of curves stand above the plot, and their numbers below it; the sheet grows downwards.

use super::ChartError;
use super::bars::{
    Bar, BarFigure, BarGroup, LegendKey, Scale, axis_end, bar_text, count, draw_key, draw_whisker,
    legend_keys, nice_step, with_near_reference,
};
use super::canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour};
use super::curves::{check, digits, inside, short, split_at_gaps, values_measured, vertical};
use super::frame::{ChartFrame, Span};
use crate::analyze::{CurveSeries, CurveTable};
use crate::units::text;

/// The sheet's width in pixels: a phone's, less the page's edges.
const WIDTH: i32 = 360;
const MARGIN: i32 = 8;
const ROOM: i32 = WIDTH - 2 * MARGIN;
const TITLE: Font = Font::plain(16).bold();
const TITLE_STEP: i32 = 20;
const SMALL: Font = Font { size: 12, bold: false, colour: GREY };
const STEP: i32 = 16;
const LABEL: Font = Font::plain(13).bold();
const NUMBER: Font = Font::plain(12);
/// The height of a number with its bar, and of the bar.
const ROW: i32 = 27;
const BAR: i32 = 9;
const GROUP_GAP: i32 = 10;
/// The most parts of the axis.
const TICKS: f64 = 5.0;

/// Draws the figure.
///
/// # Errors
///
/// [`ChartError::Draw`] where drawing fails.
pub(super) fn bars(figure: &BarFigure) -> Result<String, ChartError> {
    // Sheets stand below one another: each has its own length.
    let scale = Scale { plot_max: i32::MAX, ..figure.scale };
    let figure = &with_near_reference(&BarFigure { scale, ..figure.clone() });
    let title = TITLE.lines(&figure.title, ROOM);
    let subtitle = SMALL.lines(&figure.subtitle, ROOM);
    let keys = legend(figure);
    let legend_top = 12 + TITLE_STEP * count(title.len()) + STEP * count(subtitle.len()) + 8;
    let top = legend_top + keys.iter().map(|(_, lines)| STEP * count(lines.len())).sum::<i32>() + 4;
    let bottom = top + figure.groups.iter().map(height).sum::<i32>();
    let x_label = SMALL.lines(&figure.x_label, ROOM);
    let height = bottom + 24 + STEP * count(x_label.len());
    let (x, y) = (Span::linear(0.0, axis_end(figure)), Span::linear(0.0, 1.0));
    let plot = ChartFrame { left: MARGIN, right: WIDTH - MARGIN, top, bottom, pad: 0, x, y };
    draw((WIDTH, height), &figure.title, |canvas| {
        write_heading(canvas, &title, &subtitle)?;
        draw_legend(canvas, &keys, legend_top)?;
        draw_axis(canvas, figure, &plot)?;
        write_lines(canvas, &x_label, bottom + 30, Anchor::Middle)?;
        let mut y = top;
        for group in &figure.groups {
            draw_group(canvas, figure, group, (&plot, y))?;
            y += self::height(group);
        }
        Ok(())
    })
}

/// The keys with their words in lines.
fn legend(figure: &BarFigure) -> Vec<(LegendKey, Vec<String>)> {
    let keys = legend_keys(figure).into_iter();
    keys.map(|(key, words)| (key, NUMBER.lines(&words, ROOM - 20))).collect()
}

/// The height of a group with its name and the gap below.
fn height(group: &BarGroup) -> i32 {
    let lines = count(names(group).len() + details(group).len() + headings(group).len());
    STEP * lines + ROW * count(group.bars.len()) + GROUP_GAP
}

fn headings(group: &BarGroup) -> Vec<String> {
    SMALL.lines(&group.heading, ROOM)
}

fn names(group: &BarGroup) -> Vec<String> {
    LABEL.lines(&group.label, ROOM)
}

fn details(group: &BarGroup) -> Vec<String> {
    SMALL.lines(&group.detail, ROOM)
}

/// Writes the title and what stands below it.
fn write_heading(
    canvas: &Canvas<'_>,
    title: &[String],
    subtitle: &[String],
) -> Result<(), ChartError> {
    let mut y = 14;
    for words in title {
        canvas.text(words, (MARGIN, y), Anchor::Start, TITLE)?;
        y += TITLE_STEP;
    }
    write_lines(canvas, subtitle, y - 2, Anchor::Start)
}

/// Writes lines from `y` on.
fn write_lines(
    canvas: &Canvas<'_>,
    lines: &[String],
    y: i32,
    anchor: Anchor,
) -> Result<(), ChartError> {
    let x = if matches!(anchor, Anchor::Middle) { WIDTH / 2 } else { MARGIN };
    for (line, place) in lines.iter().zip(0..) {
        canvas.text(line, (x, y + STEP * place), anchor, SMALL)?;
    }
    Ok(())
}

fn draw_legend(
    canvas: &Canvas<'_>,
    keys: &[(LegendKey, Vec<String>)],
    mut y: i32,
) -> Result<(), ChartError> {
    for (key, lines) in keys {
        draw_key(canvas, *key, (MARGIN, y))?;
        for line in lines {
            canvas.text(line, (MARGIN + 20, y), Anchor::Start, NUMBER)?;
            y += STEP;
        }
    }
    Ok(())
}

fn draw_axis(canvas: &Canvas<'_>, figure: &BarFigure, plot: &ChartFrame) -> Result<(), ChartError> {
    let step = nice_step(plot.x.high, TICKS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few digits")]
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let mut value = 0.0;
    while value <= plot.x.high * 1.0001 {
        let x = plot.x(value);
        canvas.line(vec![(x, plot.top), (x, plot.bottom)], PALE, 1)?;
        let number = format!("{value:.decimals$}");
        // The outer numbers stay on the sheet.
        let half = SMALL.width(&number) / 2;
        let x = x.clamp(MARGIN + half, WIDTH - MARGIN - half);
        canvas.text(&number, (x, plot.bottom + 12), Anchor::Middle, SMALL)?;
        value += step;
    }
    if let Some(reference) = figure.reference {
        let x = plot.x(reference);
        canvas.line(vec![(x, plot.top), (x, plot.bottom)], GREY, 1)?;
    }
    canvas.line(vec![(plot.left, plot.top), (plot.left, plot.bottom)], GREY, 1)
}

fn draw_group(
    canvas: &Canvas<'_>,
    figure: &BarFigure,
    group: &BarGroup,
    (plot, y): (&ChartFrame, i32),
) -> Result<(), ChartError> {
    let mut y = y + STEP / 2;
    let lines = [(headings(group), SMALL), (names(group), LABEL), (details(group), SMALL)];
    for (line, font) in
        lines.iter().flat_map(|(lines, font)| lines.iter().map(move |line| (line, *font)))
    {
        canvas.label(line, (MARGIN, y), font)?;
        y += STEP;
    }
    for bar in &group.bars {
        draw_bar(canvas, figure, bar, (plot, y))?;
        y += ROW;
    }
    Ok(())
}

/// Draws a number, and its bar with its marks below it.
fn draw_bar(
    canvas: &Canvas<'_>,
    figure: &BarFigure,
    bar: &Bar,
    (plot, y): (&ChartFrame, i32),
) -> Result<(), ChartError> {
    canvas.label(&bar_text(figure, bar), (MARGIN, y), NUMBER)?;
    let (top, bottom) = (y + 7, y + 7 + BAR);
    let middle = i32::midpoint(top, bottom);
    if let Some(value) = bar.value {
        let end = (plot.x(value).max(plot.left + 1), bottom);
        canvas.fill((plot.left, top), end, series_colour(bar.series))?;
    }
    if let Some((low, high)) = bar.whisker {
        draw_whisker(canvas, (plot.x(low), plot.x(high)), middle)?;
    }
    if let Some(diamond) = bar.diamond {
        canvas.diamond((plot.x(diamond), middle), 4, INK)?;
    }
    if let Some(tick) = bar.tick {
        let x = plot.x(tick);
        canvas.line(vec![(x, top - 1), (x, bottom + 1)], INK, 3)?;
    }
    Ok(())
}

/// The height of the plot of curves, the room of the numbers beside it, and of a row of numbers below it.
const PLOT: i32 = 230;
const LEFT: i32 = 44;
const NUMBERS_STEP: i32 = 15;
/// Columns of numbers that stand beside one another.
const COLUMNS: usize = 6;
const COLUMN: i32 = 48;

/// Draws curves: their names with numbers above the plot, their values below it, a row a value of x.
///
/// # Errors
///
/// As [`super::curves::curves`].
pub(super) fn curves(table: &CurveTable) -> Result<String, ChartError> {
    check(table)?;
    let title = TITLE.lines(&table.title, ROOM);
    let words = [&table.subtitle, &table.devices];
    let subtitle: Vec<String> = words.iter().flat_map(|text| SMALL.lines(text, ROOM)).collect();
    let named = (1..).zip(&table.series).map(|(number, series): (usize, &CurveSeries)| {
        NUMBER.lines(&format!("{number}: {}", series.name), ROOM - 20)
    });
    let named: Vec<Vec<String>> = named.collect();
    let names_top = 12 + TITLE_STEP * count(title.len()) + STEP * count(subtitle.len()) + 8;
    let y_label = SMALL.lines(&axis(&table.y_label, table.y_logarithmic), ROOM);
    let labels_top = names_top + named.iter().map(|lines| STEP * count(lines.len())).sum::<i32>();
    let top = labels_top + 8 + STEP * count(y_label.len());
    let x_label = SMALL.lines(&axis(&table.x_label, table.x_logarithmic), ROOM);
    let (y, ticks) = vertical(table);
    let points = || table.series.iter().flat_map(|series| &series.points).map(|(x, _)| *x);
    let x = Span {
        low: points().fold(f64::INFINITY, f64::min),
        high: points().fold(f64::NEG_INFINITY, f64::max),
        logarithmic: table.x_logarithmic,
    };
    let (right, bottom) = (WIDTH - MARGIN, top + PLOT);
    let frame = ChartFrame { left: LEFT, right, top, bottom, pad: 10, x, y };
    let numbers_top = bottom + 36 + STEP * count(x_label.len());
    let values = values_measured(table);
    let bands = table.series.iter().filter(|series| series.measured).count().div_ceil(COLUMNS);
    let height = numbers_top + count(bands) * ((count(values.len()) + 1) * NUMBERS_STEP + 8);
    draw((WIDTH, height), &table.title, |canvas| {
        write_heading(canvas, &title, &subtitle)?;
        let mut line = names_top;
        for (index, (series, words)) in table.series.iter().zip(&named).enumerate() {
            let colour = if series.measured { series_colour(index) } else { GREY };
            canvas.fill((MARGIN, line - 5), (MARGIN + 12, line + 5), colour)?;
            for words in words {
                canvas.text(words, (MARGIN + 20, line), Anchor::Start, NUMBER)?;
                line += STEP;
            }
        }
        write_lines(canvas, &y_label, labels_top + 6, Anchor::Start)?;
        draw_plot(canvas, table, &frame, (&ticks, &values))?;
        write_lines(canvas, &x_label, bottom + 32, Anchor::Middle)?;
        draw_numbers(canvas, table, &values, numbers_top)
    })
}

/// An axis' label, with what its steps are.
fn axis(label: &str, logarithmic: bool) -> String {
    if logarithmic { format!("{label}, logarithmic") } else { label.to_owned() }
}

/// Draws the axes and the curves.
fn draw_plot(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    frame: &ChartFrame,
    (ticks, values): (&[f64], &[f64]),
) -> Result<(), ChartError> {
    for value in ticks {
        let y = frame.y(*value);
        canvas.line(vec![(LEFT, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&short(*value), (LEFT - 6, y), Anchor::End, SMALL)?;
    }
    if let Some(reference) = table.reference {
        let y = frame.y(reference);
        canvas.line(vec![(LEFT, y), (frame.right, y)], GREY, 1)?;
    }
    let numbers = values.iter().map(|value| (frame.x(*value), short(*value)));
    canvas.numbers(numbers.collect(), frame.bottom + 14, SMALL)?;
    for (index, series) in table.series.iter().enumerate() {
        let (colour, thick) = if series.measured { (series_colour(index), 2) } else { (GREY, 1) };
        for part in split_at_gaps(series, values) {
            canvas.line(inside(frame, part), colour, thick)?;
        }
        for (x, y) in series.points.iter().filter(|_| series.measured) {
            canvas.mark((frame.x(*x), frame.y(*y)), index)?;
        }
    }
    Ok(())
}

/// Writes what was measured: a row a value of x, a column a curve by its number.
fn draw_numbers(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    values: &[f64],
    mut y: i32,
) -> Result<(), ChartError> {
    let measured = table.series.iter().enumerate().filter(|(_, series)| series.measured);
    let measured: Vec<(usize, &CurveSeries)> = measured.collect();
    for band in measured.chunks(COLUMNS) {
        let places = || (1..).map(|place| MARGIN + 50 + place * COLUMN);
        for ((index, _), x) in band.iter().zip(places()) {
            let font = NUMBER.bold().colour(series_colour(*index));
            canvas.text(&(index + 1).to_string(), (x, y), Anchor::End, font)?;
        }
        for value in values {
            y += NUMBERS_STEP;
            canvas.text(&short(*value), (MARGIN + 50, y), Anchor::End, SMALL)?;
            for ((_, series), x) in band.iter().zip(places()) {
                let same = |point: &&(f64, f64)| point.0.total_cmp(value).is_eq();
                let found = series.points.iter().find(same);
                let number = found.map_or(text::NONE.to_owned(), |(_, y)| digits(*y));
                canvas.text(&number, (x, y), Anchor::End, NUMBER)?;
            }
        }
        y += NUMBERS_STEP + 8;
    }
    Ok(())
}
