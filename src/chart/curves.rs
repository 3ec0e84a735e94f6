//! The figure of curves: a name at each line's end, and a table of all numbers below.
//!
//! Curves run close to one another, so that numbers beside marks would lie over one another.

use super::{
    ChartError,
    bars::WIDTH,
    canvas::{Anchor, Canvas, Font, GREY, PALE, draw, series_colour},
    frame::{ChartFrame, Span},
    line_labels::{End, names},
    ratios::REMARKED,
};
use crate::analyze::{CurveSeries, CurveTable};
use crate::units::text;

/// The height of the sheet above the table.
const HEIGHT: i32 = 560;
const MARGIN: i32 = 16;
const LEFT: i32 = 70;
const TOP: i32 = 112;
/// The height of a row of the table.
const ROW: i32 = 18;
/// The least and the greatest width of a number of the table.
const COLUMN: (i32, i32) = (42, 50);

/// The places of a line's points up to where it first leaves the sheet at the top.
#[expect(clippy::cast_possible_truncation, reason = "a place on a sheet of 900 pixels")]
pub(super) fn inside(frame: &ChartFrame, points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    let mut places = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in points {
        if y <= frame.y.high {
            places.push(frame.place(x, y));
            last = Some((x, y));
            continue;
        }
        if let Some((x0, y0)) = last {
            let portion = frame.y.portion(y0, y);
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
/// [`ChartError::Empty`] where no curve has two points, or none but the baseline's own, [`ChartError::Draw`] where
/// drawing fails.
pub(super) fn curves(table: &CurveTable) -> Result<String, ChartError> {
    check(table)?;
    let points = || table.series.iter().flat_map(|series| &series.points).copied();
    let measured_at = values_measured(table);
    let font = Font::plain(12).bold();
    let room = table.series.iter().map(|series| font.width(&series.name)).max().unwrap_or(0);
    let least = points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
    let most = points().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
    let (y, ticks) = vertical(table);
    let frame = ChartFrame {
        left: LEFT,
        right: WIDTH - MARGIN - room.clamp(60, 460) - 20,
        top: TOP,
        bottom: HEIGHT - 60,
        pad: 24,
        x: Span { low: least, high: most, logarithmic: table.x_logarithmic },
        y,
    };
    let numbers = tabulate(table);
    draw((WIDTH, HEIGHT + numbers.height()), &table.title, |canvas| {
        canvas.text(&table.title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        let grey = Font::plain(12).colour(GREY);
        let lines = [&table.subtitle, &table.devices];
        let lines = lines.iter().flat_map(|text| grey.lines(text, WIDTH - 2 * MARGIN));
        for (line, y) in lines.zip((42..).step_by(16)) {
            canvas.text(&line, (MARGIN, y), Anchor::Start, grey)?;
        }
        draw_axes(canvas, table, &frame, &ticks)?;
        for (index, series) in table.series.iter().enumerate() {
            let over =
                table.series[index + 1..].iter().filter(|other| coincide(series, other, &frame));
            let over = count(over.take(OVER_MAX).count());
            draw_series(canvas, series, &frame, (index, over), &measured_at)?;
        }
        draw_names(canvas, table, &frame)?;
        numbers.draw(canvas, HEIGHT)
    })
}

/// Refuses a table that shows nothing.
///
/// # Errors
///
/// [`ChartError::Empty`] where no curve has two points, or none but the baseline's own.
pub(super) fn check(table: &CurveTable) -> Result<(), ChartError> {
    if !table.series.iter().any(|series| series.points.len() > 1) {
        return Err(ChartError::Empty("curves"));
    }
    // A baseline over itself says nothing.
    let is_reference =
        |y: f64| table.reference.is_some_and(|reference| (y - reference).abs() < 1e-9);
    let mut measured = table.series.iter().filter(|series| series.measured);
    match measured.all(|series| series.points.iter().all(|(_, y)| is_reference(*y))) {
        true => Err(ChartError::Empty("curves but the baseline's")),
        false => Ok(()),
    }
}

/// How many times as high as what was measured a sheet may be for the sake of lines that were worked out.
const REACH_MAX: f64 = 2.5;
/// The least part of the highest value that the lowest has where the axis does not begin at 0.
const FROM_ZERO: f64 = 0.6;

/// The parts of a linear y axis at most, and of a logarithmic one.
const PARTS: f64 = 6.0;
const DOUBLINGS_MAX: f64 = 10.0;
/// What a quotient may be off by, of its rounding.
const ROUNDING: f64 = 1e-9;

/// What the y axis spans, with its numbers, of which the last lies at or above all that is drawn: from 0, but where
/// all lies far above it. What was measured decides; lines that were worked out may leave the sheet where they go far
/// beyond.
pub(super) fn vertical(table: &CurveTable) -> (Span, Vec<f64>) {
    let values = |measured: bool| {
        let series = table.series.iter().filter(move |series| series.measured || !measured);
        series.flat_map(|series| &series.points).map(|(_, y)| *y).chain(table.reference)
    };
    let highest = values(true).fold(0.0, f64::max);
    let most = values(false).filter(|y| *y <= highest * REACH_MAX).fold(highest, f64::max);
    let lowest = values(false).fold(f64::INFINITY, f64::min);
    if table.y_logarithmic {
        return doublings(lowest, values(false).fold(most, f64::max));
    }
    // Values that are as good as equal have no range to be shown.
    let (step, from) = if lowest >= FROM_ZERO * most && most - lowest > 0.02 * most {
        let step = step((most - lowest) / (PARTS - 1.0));
        (step, (lowest / step - 0.5).floor())
    } else {
        (step(most / PARTS), 0.0)
    };
    let to = (most / step - ROUNDING).ceil();
    let ticks =
        std::iter::successors(Some(from), |tick| Some(tick + 1.0).filter(|tick| *tick <= to));
    (Span::linear(from * step, to * step), ticks.map(|tick| tick * step).collect())
}

/// An axis of powers of two that holds both values.
fn doublings(least: f64, most: f64) -> (Span, Vec<f64>) {
    let (from, to) = ((least.log2() + ROUNDING).floor(), (most.log2() - ROUNDING).ceil());
    let step = ((to - from) / DOUBLINGS_MAX).ceil().max(1.0);
    let to = from + ((to - from) / step).ceil() * step;
    let next = |power: &f64| Some(power + step).filter(|power| *power <= to);
    let ticks = std::iter::successors(Some(from), next).map(f64::exp2).collect();
    (Span::logarithmic(from.exp2(), to.exp2()), ticks)
}

/// Draws both axes with grid lines, numbers and labels.
fn draw_axes(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    frame: &ChartFrame,
    ticks: &[f64],
) -> Result<(), ChartError> {
    let font = Font::plain(12).colour(GREY);
    for value in ticks {
        let y = frame.y(*value);
        canvas.line(vec![(LEFT, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&short(*value), (LEFT - 8, y), Anchor::End, font)?;
    }
    if let Some(reference) = table.reference {
        let y = frame.y(reference);
        canvas.line(vec![(LEFT, y), (frame.right, y)], GREY, 1)?;
    }
    let mut values: Vec<f64> =
        table.series.iter().flat_map(|series| series.points.iter().map(|(x, _)| *x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    // Each mark stands over its line.
    for x in values.iter().map(|value| frame.x(*value)) {
        canvas.line(vec![(x, TOP), (x, frame.bottom)], PALE, 1)?;
    }
    let numbers = values.iter().map(|value| (frame.x(*value), short(*value)));
    canvas.numbers(numbers.collect(), frame.bottom + 16, font)?;
    let middle = i32::midpoint(LEFT, frame.right);
    let label = if table.x_logarithmic {
        format!("{}, logarithmic", table.x_label)
    } else {
        table.x_label.clone()
    };
    canvas.text(&label, (middle, frame.bottom + 40), Anchor::Middle, Font::plain(13))?;
    let from = if table.y_logarithmic {
        ", logarithmic".to_owned()
    } else if frame.y.low > 0.0 {
        format!("; the axis begins at {}", short(frame.y.low))
    } else {
        String::new()
    };
    let label = format!("{}{from}", table.y_label);
    canvas.text(&label, (MARGIN, TOP - 18), Anchor::Start, Font::plain(13))
}

/// Rounds a step up to 1, 2 or 5 times a power of ten.
fn step(wanted: f64) -> f64 {
    let wanted = wanted.max(1e-9) * (1.0 - ROUNDING);
    let power = 10_f64.powf(wanted.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= wanted);
    times.unwrap_or(10.0) * power
}

/// Writes a number with three digits.
pub(super) fn digits(value: f64) -> String {
    let digits = match value.abs() {
        large if large >= 99.95 => 0,
        middle if middle >= 9.995 => 1,
        small if small >= 0.0995 || small == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// The same without needless zeros, as numbers of an axis are written.
pub(super) fn short(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The values of x at which anything was measured, in rising order.
pub(super) fn values_measured(table: &CurveTable) -> Vec<f64> {
    let measured = table.series.iter().filter(|series| series.measured);
    let mut values: Vec<f64> =
        measured.flat_map(|series| series.points.iter().map(|(x, _)| *x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// The parts of a curve that a line joins, where `measured_at` rises: it does not pass over a place where others were measured and this
/// one was not.
pub(super) fn split_at_gaps<'a>(
    series: &'a CurveSeries,
    measured_at: &[f64],
) -> impl Iterator<Item = &'a [(f64, f64)]> {
    let missing_between = |from: f64, to: f64| {
        let behind = measured_at.partition_point(|x| *x <= from.min(to));
        measured_at.get(behind).is_some_and(|x| *x < from.max(to))
    };
    series.points.chunk_by(move |a, b| !series.measured || !missing_between(a.0, b.0))
}

/// How far two curves may lie apart that hide each other, in pixels.
const HIDDEN_WITHIN: i32 = 3;

/// Of how many curves that hide it a curve becomes wider.
const OVER_MAX: usize = 2;

/// Whether one of two measured curves hides the other wherever both were measured, at two places at least.
fn coincide(series: &CurveSeries, other: &CurveSeries, frame: &ChartFrame) -> bool {
    if !series.measured || !other.measured {
        return false;
    }
    // Both rise in x.
    let height = |x: f64| {
        let before = other.points.partition_point(|(at, _)| at - x <= -f64::EPSILON);
        let (_, y) = other.points.get(before).filter(|(at, _)| at - x < f64::EPSILON)?;
        Some(frame.y(*y))
    };
    let mut shared = 0;
    for (x, y) in &series.points {
        if let Some(height) = height(*x) {
            if (frame.y(*y) - height).abs() > HIDDEN_WITHIN {
                return false;
            }
            shared += 1;
        }
    }
    shared > 1
}

/// Draws one curve: marks where it was measured, a thin line where it was not. One that others hide is wider, so that
/// it is seen at both sides of them, but never so wide that it looks like a band of values.
fn draw_series(
    canvas: &Canvas<'_>,
    series: &CurveSeries,
    frame: &ChartFrame,
    (index, over): (usize, i32),
    measured_at: &[f64],
) -> Result<(), ChartError> {
    let wide = 2 + u32::try_from(3 * over).unwrap_or_default();
    let (colour, thick) = if series.measured { (series_colour(index), wide) } else { (GREY, 1) };
    for part in split_at_gaps(series, measured_at) {
        canvas.line(inside(frame, part), colour, thick)?;
    }
    for (x, y) in series.points.iter().filter(|_| series.measured) {
        canvas.mark((frame.x(*x), frame.y(*y)), index)?;
    }
    Ok(())
}

/// A table of numbers below a plot: a row a curve, a column a value of x.
pub(super) struct Numbers<'a> {
    x_label: &'a str,
    rows: Vec<NumberRow<'a>>,
    /// Values of x, as many a band as the sheet is wide for.
    bands: Vec<Vec<f64>>,
    /// Where the first column begins, and the width of each.
    left: i32,
    column: i32,
}

/// A curve's row: the index of its colour, its name, and its points.
pub(super) struct NumberRow<'a> {
    /// `None` for a line that was worked out.
    pub(super) series: Option<usize>,
    pub(super) name: &'a str,
    pub(super) points: Vec<(f64, f64)>,
    /// Which of the points are bold, for they are over a tenth from what was measured; none where it is shorter.
    pub(super) remarked: Vec<bool>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(x_label: &'a str, rows: Vec<NumberRow<'a>>) -> Self {
        let font = Font::plain(12);
        let names = rows.iter().map(|row| font.width(row.name));
        let left = MARGIN + 16 + names.chain([font.width(x_label)]).max().unwrap_or(0);
        let mut values: Vec<f64> =
            rows.iter().flat_map(|row| row.points.iter().map(|(x, _)| *x)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        // All in one band, where narrower columns do it.
        let room = WIDTH - MARGIN - left;
        let column = (room / count(values.len().max(1))).clamp(COLUMN.0, COLUMN.1);
        let fit = usize::try_from(room / column).unwrap_or(0).max(1);
        let bands = values.chunks(fit).map(<[f64]>::to_vec).collect();
        Self { x_label, rows, bands, left, column }
    }

    /// Its height in pixels.
    pub(super) fn height(&self) -> i32 {
        let note = if self.is_remarked() { ROW } else { 0 };
        count(self.bands.len()) * (count(self.rows.len() + 1) * ROW + 8) + note
    }

    fn is_remarked(&self) -> bool {
        self.rows.iter().any(|row| row.remarked.contains(&true))
    }

    /// Draws it from `y` downwards.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, mut y: i32) -> Result<(), ChartError> {
        let (font, grey) = (Font::plain(12), Font::plain(12).colour(GREY));
        for band in &self.bands {
            let columns = || (1..).map(|column| self.left + column * self.column);
            canvas.text(self.x_label, (MARGIN + 12, y), Anchor::Start, grey)?;
            for (value, x) in band.iter().zip(columns()) {
                canvas.text(&short(*value), (x, y), Anchor::End, grey)?;
            }
            y += ROW;
            for row in &self.rows {
                let colour = row.series.map_or(GREY, series_colour);
                canvas.fill((MARGIN, y - 5), (MARGIN + 4, y + 5), colour)?;
                canvas.text(row.name, (MARGIN + 12, y), Anchor::Start, font)?;
                for (value, x) in band.iter().zip(columns()) {
                    let same = |point: &(f64, f64)| point.0.total_cmp(value).is_eq();
                    let found = row.points.iter().position(same);
                    let number = found.map_or(text::NONE.to_owned(), |at| digits(row.points[at].1));
                    let bold = found.is_some_and(|at| row.remarked.get(at) == Some(&true));
                    let font = if bold { font.bold() } else { font };
                    canvas.text(&number, (x, y), Anchor::End, font)?;
                }
                y += ROW;
            }
            y += 8;
        }
        if self.is_remarked() {
            let note = "bold: over a tenth more or less than what was measured";
            canvas.text(note, (MARGIN + 12, y), Anchor::Start, grey)?;
        }
        Ok(())
    }
}

fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 4096)
}

/// The numbers of what was measured, and of lines that were worked out.
fn tabulate(table: &CurveTable) -> Numbers<'_> {
    let mut curves: Vec<_> = table.series.iter().enumerate().collect();
    curves.sort_by_key(|(_, series)| !series.measured);
    let only = match curves.iter().filter(|(_, series)| series.measured).collect::<Vec<_>>()[..] {
        [(_, only)] => Some(*only),
        _ => None,
    };
    let measured_at = values_measured(table);
    // Of a line that was worked out at its ends alone there are no numbers.
    let has = |curve: &CurveSeries, x: &f64| curve.points.iter().any(|point| point.0 == *x);
    curves.retain(|(_, curve)| curve.measured || measured_at.iter().all(|x| has(curve, x)));
    let rows = curves.into_iter().map(|(series, curve)| {
        let mut points = curve.points.clone();
        points.retain(|(x, _)| curve.measured || measured_at.contains(x));
        let remarked = |(x, y): &(f64, f64)| {
            let found = only.and_then(|only| only.points.iter().find(|point| point.0 == *x));
            found
                .filter(|_| !curve.measured)
                .is_some_and(|(_, reference)| (y / reference - 1.0).abs() > REMARKED)
        };
        NumberRow {
            series: curve.measured.then_some(series),
            name: &curve.name,
            remarked: points.iter().map(remarked).collect(),
            points,
        }
    });
    Numbers::new(&table.x_label, rows.collect())
}

/// How far curves lie apart whose names need no lines that cross, in pixels.
const NAMES_APART: i32 = 48;

/// Where names begin if not at the right ends, because all curves meet there: the last value of x at which they lie
/// apart.
fn find_apart(table: &CurveTable, frame: &ChartFrame) -> Option<f64> {
    let measured: Vec<&CurveSeries> =
        table.series.iter().filter(|series| series.measured).collect();
    let spread = |x: f64| {
        let at = |series: &&CurveSeries| series.points.iter().find(|point| point.0 == x).copied();
        let heights: Option<Vec<i32>> =
            measured.iter().map(|series| Some(frame.y(at(series)?.1))).collect();
        let heights = heights?;
        Some(heights.iter().max()? - heights.iter().min()?)
    };
    let values = values_measured(table);
    let (last, before) = values.split_last()?;
    let meet = measured.len() > 2 && spread(*last)? < NAMES_APART / 4;
    let found = before.iter().rev().find(|x| spread(**x).is_some_and(|far| far >= NAMES_APART));
    // From far away a line would cross the whole sheet.
    found.copied().filter(|x| meet && frame.x(*last) - frame.x(*x) < NAMES_APART)
}

/// Writes each curve's name at its right end, or where the curves last lie apart.
fn draw_names(
    canvas: &Canvas<'_>,
    table: &CurveTable,
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let apart = find_apart(table, frame);
    let end = |(index, series): (usize, &CurveSeries)| {
        let there = series.points.iter().find(|(x, _)| series.measured && Some(*x) == apart);
        let (x, y) = match there {
            Some((x, y)) => (frame.x(*x), frame.y(*y)),
            None => *inside(frame, &series.points).last()?,
        };
        // From beside the last mark; a line that leaves the sheet ends before.
        let (from, colour) =
            if series.measured { (x + 6, series_colour(index)) } else { (x, GREY) };
        Some(End { place: (from, y), name: series.name.clone(), colour })
    };
    names(canvas, frame, table.series.iter().enumerate().filter_map(end).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_leave_the_sheet() {
        let (x, y) = (Span::linear(0.0, 10.0), Span::linear(0.0, 5.0));
        let frame = ChartFrame { left: LEFT, right: 500, top: TOP, bottom: 400, pad: 24, x, y };
        let places = inside(&frame, &[(0.0, 0.0), (10.0, 10.0)]);
        assert_eq!(places, [(frame.x(0.0), 400), (frame.x(5.0), TOP)]);
        assert_eq!(inside(&frame, &[(0.0, 1.0), (10.0, 5.0)]).len(), 2);
    }

    #[test]
    fn a_curve_hides_another_that_lies_within_three_pixels_wherever_both_were_measured() {
        let (x, y) = (Span::linear(0.0, 8.0), Span::linear(0.0, 100.0));
        let frame = ChartFrame { left: LEFT, right: 500, top: 0, bottom: 100, pad: 24, x, y };
        let series = |measured, points: &[(f64, f64)]| CurveSeries {
            name: String::new(),
            curve: String::new(),
            devices: Vec::new(),
            measured,
            points: points.to_vec(),
        };
        let curve = series(true, &[(1.0, 50.0), (2.0, 60.0), (4.0, 70.0)]);
        let hides = |measured, points: &[(f64, f64)]| {
            let other = series(measured, points);
            let there = coincide(&curve, &other, &frame);
            assert_eq!(there, coincide(&other, &curve, &frame), "{points:?}");
            there
        };
        assert!(hides(true, &[(1.0, 52.0), (2.0, 60.0), (4.0, 68.0)]));
        // What either lacks is not compared.
        assert!(hides(true, &[(0.5, 9.0), (1.0, 50.0), (3.0, 9.0), (4.0, 70.0), (8.0, 9.0)]));
        assert!(!hides(true, &[(1.0, 50.0), (2.0, 66.0), (4.0, 70.0)]));
        assert!(!hides(true, &[(1.0, 50.0), (3.0, 60.0)]), "one place is no curve");
        assert!(!hides(false, &[(1.0, 50.0), (2.0, 60.0), (4.0, 70.0)]));
    }

    #[test]
    fn lines_do_not_pass_over_what_was_not_measured() {
        let series = |measured, at: &[f64]| CurveSeries {
            name: String::new(),
            curve: String::new(),
            devices: Vec::new(),
            measured,
            points: at.iter().map(|x| (*x, 1.0)).collect(),
        };
        let lengths = |series: &CurveSeries| -> Vec<usize> {
            split_at_gaps(series, &[1.0, 2.0, 4.0, 8.0]).map(<[_]>::len).collect()
        };
        assert_eq!(lengths(&series(true, &[1.0, 2.0, 8.0])), [2, 1]);
        assert_eq!(lengths(&series(true, &[1.0, 2.0, 4.0, 8.0])), [4]);
        // What was worked out is a line through any points.
        assert_eq!(lengths(&series(false, &[1.0, 8.0])), [2]);
    }

    #[test]
    fn an_axis_begins_at_0_but_for_values_far_above_it() {
        let table = |values: &[f64], worked_out: &[f64], reference| {
            let points =
                |values: &[f64]| (1..).map(f64::from).zip(values.iter().copied()).collect();
            let series = |measured, values: &[f64]| CurveSeries {
                name: String::new(),
                curve: String::new(),
                devices: Vec::new(),
                measured,
                points: points(values),
            };
            CurveTable {
                name: String::new(),
                title: String::new(),
                subtitle: String::new(),
                devices: String::new(),
                x_label: String::new(),
                x_logarithmic: false,
                y_label: String::new(),
                y_logarithmic: false,
                reference,
                series: vec![series(true, values), series(false, worked_out)],
            }
        };
        let span = |values: &[f64], worked_out: &[f64], reference| {
            vertical(&table(values, worked_out, reference)).0
        };
        let low = |values: &[f64]| span(values, &[], None).low;
        assert!(low(&[1.0, 2.0]).abs() < 1e-9 && low(&[5.0, 5.01]).abs() < 1e-9);
        assert!((low(&[0.79, 0.98]) - 0.75).abs() < 1e-9, "{}", low(&[0.79, 0.98]));
        // The reference and what was worked out are in the picture, but for what lies far outside.
        assert!(span(&[0.9, 0.95], &[], Some(0.1)).low.abs() < 1e-9);
        assert!(span(&[1.0, 14.0], &[1.0, 32.0], None).high > 32.0);
        assert!(span(&[1.0, 14.0], &[1.0, 64.0], None).high < 16.0);
        // The last number is at or past all that was measured.
        let (_, ticks) = vertical(&table(&[1.0, 26.7], &[], None));
        assert_eq!(ticks, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        let logarithmic = CurveTable { y_logarithmic: true, ..table(&[1.0, 26.7], &[], None) };
        assert_eq!(vertical(&logarithmic).1, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    }

    #[test]
    fn numbers_are_short_and_steps_are_round() {
        let texts = [0.0, 0.001, 0.8, 1.0, 1.234, 12.34, 99.96, 1024.0].map(short);
        assert_eq!(texts, ["0", "0.001", "0.8", "1", "1.23", "12.3", "100", "1024"]);
        let steps = [0.9, 1.0, 1.1, 3.0, 21.0].map(step);
        assert!(steps.iter().zip([1.0, 1.0, 2.0, 5.0, 50.0]).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
