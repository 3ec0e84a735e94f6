//! Bars for a screen as narrow as a phone's.
//!
//! Input: a [`BarFigure`]. Output: SVG of [`WIDTH`] pixels, so that its letters keep their size on such a screen and
//! nothing moves sideways. The name of a group stands above its bars, and each number above its bar; the sheet grows
//! downwards.

use super::ChartError;
use super::bars::{
    Bar, BarFigure, BarGroup, Scale, axis_end, bar_text, count, draw_whisker, nice_step,
    with_near_reference,
};
use super::canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour};
use super::frame::{ChartFrame, Span};

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
const ROW: i32 = 25;
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
        let mut line = 14;
        for words in &title {
            canvas.text(words, (MARGIN, line), Anchor::Start, TITLE)?;
            line += TITLE_STEP;
        }
        write_lines(canvas, &subtitle, line - 2, Anchor::Start)?;
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

/// A key of the legend.
#[derive(Clone, Copy)]
enum Key {
    Series(usize),
    Tick,
    Diamond,
    Whisker,
}

/// The keys with their words in lines.
fn legend(figure: &BarFigure) -> Vec<(Key, Vec<String>)> {
    let series = figure.series.iter().enumerate().map(|(index, name)| (Key::Series(index), name));
    let marks = [
        (Key::Tick, &figure.tick_label),
        (Key::Diamond, &figure.diamond_label),
        (Key::Whisker, &figure.whisker_label),
    ];
    let marks = marks.into_iter().filter_map(|(key, words)| Some((key, words.as_ref()?)));
    series.chain(marks).map(|(key, words)| (key, NUMBER.lines(words, ROOM - 20))).collect()
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
    keys: &[(Key, Vec<String>)],
    mut y: i32,
) -> Result<(), ChartError> {
    let x = MARGIN;
    for (key, lines) in keys {
        match key {
            Key::Series(index) => {
                canvas.fill((x, y - 5), (x + 12, y + 5), series_colour(*index))?;
            }
            Key::Tick => canvas.line(vec![(x + 6, y - 6), (x + 6, y + 6)], INK, 3)?,
            Key::Diamond => canvas.diamond((x + 6, y), 4, INK)?,
            Key::Whisker => draw_whisker(canvas, (x, x + 12), y)?,
        }
        for line in lines {
            canvas.text(line, (x + 20, y), Anchor::Start, NUMBER)?;
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
