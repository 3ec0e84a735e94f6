//! The figure of curves: a name at each line's end, and a table of all numbers below.
//!
//! Curves run close to one another, so that numbers beside marks would lie over one another.

use super::{
    ChartError,
    bars::WIDTH,
    canvas::{Anchor, Canvas, Font, GREY, PALE, draw, series_colour},
    frame::{ChartFrame, Span},
    line_labels::{End, names},
};
use crate::analyze::{CurveSeries, CurveTable};

/// The height of the sheet above the table.
const HEIGHT: i32 = 560;
const MARGIN: i32 = 16;
const LEFT: i32 = 70;
const TOP: i32 = 112;
/// The height of a row of the table.
const ROW: i32 = 18;
/// The width of a number of the table.
const COLUMN: i32 = 50;

/// The places of a line's points up to where it first leaves the sheet at the top.
#[expect(clippy::cast_possible_truncation, reason = "a place on a sheet of 900 pixels")]
fn inside(frame: &ChartFrame, points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    let mut places = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in points {
        if y <= frame.y.high {
            places.push(frame.place(x, y));
            last = Some((x, y));
            continue;
        }
        if let Some((x0, y0)) = last {
            let portion = (frame.y.high - y0) / (y - y0);
            let (from, to) = (f64::from(frame.x(x0)), f64::from(frame.x(x)));
            places.push(((from + portion * (to - from)).round() as i32, frame.top));
        }
        break;
    }
    places
}

/// Draws a table of curves.
///
/// # Errors
///
/// [`ChartError::Empty`] where no curve has two points, [`ChartError::Draw`] where drawing fails.
pub(super) fn curves(table: &CurveTable) -> Result<String, ChartError> {
    let points = || table.series.iter().flat_map(|series| &series.points).copied();
    if !table.series.iter().any(|series| series.points.len() > 1) {
        return Err(ChartError::Empty("curves"));
    }
    let font = Font::plain(12).bold();
    let room = table.series.iter().map(|series| font.width(&series.name)).max().unwrap_or(0);
    let least = points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
    let most = points().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
    let frame = ChartFrame {
        left: LEFT,
        right: WIDTH - MARGIN - room.clamp(60, 330) - 20,
        top: TOP,
        bottom: HEIGHT - 60,
        pad: 24,
        x: Span { low: least, high: most, logarithmic: table.x_logarithmic },
        y: vertical(table),
    };
    let numbers = Numbers::from_table(table);
    draw((WIDTH, HEIGHT + numbers.height()), &table.title, |canvas| {
        canvas.text(&table.title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        let grey = Font::plain(12).colour(GREY);
        let lines = [&table.subtitle, &table.devices];
        let lines = lines.iter().flat_map(|text| grey.lines(text, WIDTH - 2 * MARGIN));
        for (line, y) in lines.zip((42..).step_by(16)) {
            canvas.text(&line, (MARGIN, y), Anchor::Start, grey)?;
        }
        draw_axes(canvas, table, &frame)?;
        for (index, one) in table.series.iter().enumerate() {
            draw_series(canvas, one, &frame, index)?;
        }
        draw_names(canvas, table, &frame)?;
        numbers.draw(canvas, table)
    })
}

/// How many times as high as what was measured a sheet may be for the sake of lines that were worked out.
const REACH_MAX: f64 = 2.5;
/// The least part of the highest value that the lowest has where the axis does not begin at 0.
const FROM_ZERO: f64 = 0.6;

/// What the y axis spans: from 0, but where all that is drawn lies far above it. What was measured decides;
/// lines that were worked out may leave the sheet where they go far beyond.
fn vertical(table: &CurveTable) -> Span {
    let values = |measured: bool| {
        let series = table.series.iter().filter(move |series| series.measured || !measured);
        series.flat_map(|series| &series.points).map(|(_, y)| *y).chain(table.reference)
    };
    let highest = values(true).fold(0.0, f64::max);
    let most = values(false).filter(|y| *y <= highest * REACH_MAX).fold(highest, f64::max);
    let lowest = values(false).fold(f64::INFINITY, f64::min);
    let low = if lowest >= FROM_ZERO * most {
        let step = step((most - lowest) / 4.0);
        (lowest / step - 0.5).floor() * step
    } else {
        0.0
    };
    Span::linear(low, most + (most - low) * 0.08)
}

/// Draws both axes with grid lines, numbers and labels.
fn draw_axes(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let font = Font::plain(12).colour(GREY);
    let step = step((frame.y.high - frame.y.low) / 5.0);
    for index in 0..12 {
        let value = (frame.y.low / step).ceil() * step + step * f64::from(index);
        if value > frame.y.high {
            break;
        }
        let y = frame.y(value);
        canvas.line(vec![(LEFT, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&short(value), (LEFT - 8, y), Anchor::End, font)?;
    }
    if let Some(reference) = table.reference {
        let y = frame.y(reference);
        canvas.line(vec![(LEFT, y), (frame.right, y)], GREY, 1)?;
    }
    let mut values: Vec<f64> =
        table.series.iter().flat_map(|series| series.points.iter().map(|(x, _)| *x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut last = i32::MIN / 2;
    for value in values {
        let (x, text) = (frame.x(value), short(value));
        canvas.line(vec![(x, TOP), (x, frame.bottom)], PALE, 1)?;
        // Numbers that would touch are left out; each mark stands over its line.
        if x - last > font.width(&text) + 6 {
            canvas.text(&text, (x, frame.bottom + 16), Anchor::Middle, font)?;
            last = x;
        }
    }
    let middle = i32::midpoint(LEFT, frame.right);
    let label = if table.x_logarithmic {
        format!("{}, logarithmic", table.x_label)
    } else {
        table.x_label.clone()
    };
    canvas.text(&label, (middle, frame.bottom + 40), Anchor::Middle, Font::plain(13))?;
    let from = if frame.y.low > 0.0 {
        format!("; the axis begins at {}", short(frame.y.low))
    } else {
        String::new()
    };
    let label = format!("{}{from}", table.y_label);
    canvas.text(&label, (MARGIN, TOP - 18), Anchor::Start, Font::plain(13))
}

/// Rounds a step up to 1, 2 or 5 times a power of ten.
fn step(wanted: f64) -> f64 {
    let power = 10_f64.powf(wanted.max(1e-9).log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= wanted);
    times.unwrap_or(10.0) * power
}

/// Writes a number with three digits.
fn digits(value: f64) -> String {
    let digits = match value.abs() {
        large if large >= 99.95 => 0,
        middle if middle >= 9.995 => 1,
        small if small >= 0.0995 || small == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// The same without needless zeros, as numbers of an axis are written.
fn short(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Draws one curve: marks where it was measured, a thin line where it was not.
fn draw_series(
    canvas: &Canvas<'_>,
    series: &CurveSeries,
    frame: &ChartFrame,
    index: usize,
) -> Result<(), ChartError> {
    let (colour, thick) = if series.measured { (series_colour(index), 2) } else { (GREY, 1) };
    canvas.line(inside(frame, &series.points), colour, thick)?;
    for (x, y) in series.points.iter().filter(|_| series.measured) {
        canvas.disc((frame.x(*x), frame.y(*y)), 4, colour)?;
    }
    Ok(())
}

/// The table of what was measured: a row a curve, a column a value of x.
struct Numbers {
    /// Indices of the curves that were measured.
    rows: Vec<usize>,
    /// Values of x, as many a band as the sheet is wide for.
    bands: Vec<Vec<f64>>,
    /// Where the first column begins.
    left: i32,
}

impl Numbers {
    fn from_table(table: &CurveTable) -> Self {
        let measured = table.series.iter().enumerate().filter(|(_, series)| series.measured);
        let rows: Vec<usize> = measured.map(|(index, _)| index).collect();
        let font = Font::plain(12);
        let names = rows.iter().map(|index| font.width(&table.series[*index].name));
        let left = MARGIN + 16 + names.chain([font.width(&table.x_label)]).max().unwrap_or(0);
        let mut values: Vec<f64> = rows
            .iter()
            .flat_map(|index| table.series[*index].points.iter().map(|(x, _)| *x))
            .collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let fit = usize::try_from((WIDTH - MARGIN - left) / COLUMN).unwrap_or(0).max(1);
        Self { rows, bands: values.chunks(fit).map(<[f64]>::to_vec).collect(), left }
    }

    /// Its height in pixels.
    fn height(&self) -> i32 {
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX / 4096);
        count(self.bands.len()) * (count(self.rows.len() + 1) * ROW + 8)
    }

    fn draw(&self, canvas: &Canvas<'_>, table: &CurveTable) -> Result<(), ChartError> {
        let (font, grey) = (Font::plain(12), Font::plain(12).colour(GREY));
        let mut y = HEIGHT;
        for band in &self.bands {
            let columns = || (1..).map(|column| self.left + column * COLUMN);
            canvas.text(&table.x_label, (MARGIN + 12, y), Anchor::Start, grey)?;
            for (value, x) in band.iter().zip(columns()) {
                canvas.text(&short(*value), (x, y), Anchor::End, grey)?;
            }
            y += ROW;
            for index in &self.rows {
                let series = &table.series[*index];
                canvas.fill((MARGIN, y - 5), (MARGIN + 4, y + 5), series_colour(*index))?;
                canvas.text(&series.name, (MARGIN + 12, y), Anchor::Start, font)?;
                for (value, x) in band.iter().zip(columns()) {
                    let same = |point: &&(f64, f64)| point.0.total_cmp(value).is_eq();
                    let number = series.points.iter().find(same).map(|(_, y)| digits(*y));
                    canvas.text(&number.unwrap_or("–".to_owned()), (x, y), Anchor::End, font)?;
                }
                y += ROW;
            }
            y += 8;
        }
        Ok(())
    }
}

/// Writes each curve's name at its right end.
fn draw_names(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let end = |(index, series): (usize, &CurveSeries)| {
        let (x, y) = *inside(frame, &series.points).last()?;
        // From beside the last mark; a line that leaves the sheet ends before.
        let (from, colour) =
            if series.measured { (x + 6, series_colour(index)) } else { (x, GREY) };
        Some(End { place: (from, y), name: series.name.clone(), colour })
    };
    names(canvas, frame, table.series.iter().enumerate().filter_map(end).collect())
}

#[cfg(test)]
mod tests {
    use super::{ChartFrame, LEFT, Span, TOP, inside, short, step};

    #[test]
    fn lines_end_where_they_leave_the_sheet() {
        let (x, y) = (Span::linear(0.0, 10.0), Span::linear(0.0, 5.0));
        let frame = ChartFrame { left: LEFT, right: 500, top: TOP, bottom: 400, pad: 24, x, y };
        let places = inside(&frame, &[(0.0, 0.0), (10.0, 10.0)]);
        assert_eq!(places, [(frame.x(0.0), 400), (frame.x(5.0), TOP)]);
        assert_eq!(inside(&frame, &[(0.0, 1.0), (10.0, 5.0)]).len(), 2);
    }

    #[test]
    fn numbers_are_short_and_steps_are_round() {
        let texts = [0.0, 0.001, 0.8, 1.0, 1.234, 12.34, 99.96, 1024.0].map(short);
        assert_eq!(texts, ["0", "0.001", "0.8", "1", "1.23", "12.3", "100", "1024"]);
        let steps = [0.9, 1.0, 1.1, 3.0, 21.0].map(step);
        assert!(steps.iter().zip([1.0, 1.0, 2.0, 5.0, 50.0]).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
