//! The figure of speed-ups along a parameter, and where they cross 1.
//!
//! Input: curves of `analyze`, of one axis and family. Output: SVG. Both axes are logarithmic, so
//! that twice as fast and half as fast lie equally far from 1.

use super::ChartError;
use super::bars::{HEIGHT, WIDTH};
use super::canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour};
use crate::analyze::{Crossover, SpeedCurve, crossover, short_name};

const LEFT: i32 = 70;
const RIGHT: i32 = 40;
const TOP: i32 = 70;
const BOTTOM: i32 = 60;
/// Height of a line of the legend.
const LEGEND_LINE: i32 = 18;
/// The least distance between two numbers at the curves' ends.
const NUMBER_STEP: i32 = 13;

/// Where numbers lie on the sheet.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    bottom: i32,
}

/// Draws speed-ups over the divergent kernel along one parameter.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no curve, [`ChartError::Draw`] where drawing fails.
pub fn crossovers(curves: &[&SpeedCurve]) -> Result<String, ChartError> {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let Some(first) = curves.first().filter(|_| points().next().is_some()) else {
        return Err(ChartError::Empty("speed-ups"));
    };
    let span = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
    };
    let x = span(&mut points().map(|(x, _)| x));
    let y = span(&mut points().map(|(_, y)| y).chain([0.5, 2.0]));
    let y = (y.0.log2().floor().exp2(), y.1.log2().ceil().exp2());
    let legend = i32::try_from(curves.len()).unwrap_or(i32::MAX).saturating_mul(LEGEND_LINE);
    let frame = Frame { x, y, bottom: HEIGHT - BOTTOM };
    let title = format!("Speed-up over {} along {}", first.baseline, first.axis);
    draw((WIDTH, HEIGHT + legend), &title, |canvas| {
        canvas.text(&title, (16, 24), Anchor::Start, Font::plain(18).bold())?;
        let under = "above 1 it pays; both axes logarithmic; numbers are those of the lines below";
        canvas.text(under, (16, 46), Anchor::Start, Font::plain(13).colour(GREY))?;
        axes(canvas, &frame, first.axis)?;
        for (index, curve) in curves.iter().enumerate() {
            series(canvas, &frame, index, curve)?;
        }
        numbers(canvas, &frame, curves)
    })
}

/// Numbers the curves at their last points, from the top, moved down where they would touch.
fn numbers(canvas: &Canvas<'_>, frame: &Frame, curves: &[&SpeedCurve]) -> Result<(), ChartError> {
    let last = |(index, curve): (usize, &&SpeedCurve)| {
        let (x, y) = frame.place(curve.points.last()?.0, curve.points.last()?.1);
        Some((y, x, index))
    };
    let mut places: Vec<(i32, i32, usize)> = curves.iter().enumerate().filter_map(last).collect();
    places.sort_unstable();
    let mut least = i32::MIN;
    for (y, x, index) in places {
        let y = y.max(least);
        least = y + NUMBER_STEP;
        let font = Font::plain(12).bold().colour(series_colour(index));
        canvas.text(&(index + 1).to_string(), (x + 10, y), Anchor::Start, font)?;
    }
    Ok(())
}

impl Frame {
    fn place(&self, x: f64, y: f64) -> (i32, i32) {
        let share = |value: f64, (low, high): (f64, f64)| {
            if high > low { (value.ln() - low.ln()) / (high.ln() - low.ln()) } else { 0.5 }
        };
        #[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
        let pixel =
            |share: f64, from: i32, to: i32| from + (share * f64::from(to - from)).round() as i32;
        (pixel(share(x, self.x), LEFT, WIDTH - RIGHT), pixel(share(y, self.y), self.bottom, TOP))
    }
}

fn axes(canvas: &Canvas<'_>, frame: &Frame, axis: &str) -> Result<(), ChartError> {
    let mut y = frame.y.0;
    while y <= frame.y.1 * 1.001 {
        let (_, at) = frame.place(frame.x.0, y);
        let (colour, thick) = if (y - 1.0).abs() < 1e-9 { (INK, 2) } else { (PALE, 1) };
        canvas.line(vec![(LEFT, at), (WIDTH - RIGHT, at)], colour, thick)?;
        canvas.text(&format!("{y}×"), (LEFT - 8, at), Anchor::End, Font::plain(13))?;
        y *= 2.0;
    }
    let factor = if frame.x.1 / frame.x.0 > 64.0 { 4.0 } else { 2.0 };
    let mut x = frame.x.0;
    while x <= frame.x.1 * 1.001 {
        let (at, _) = frame.place(x, 1.0);
        canvas.line(vec![(at, frame.bottom), (at, frame.bottom + 5)], INK, 1)?;
        canvas.text(&tick(x), (at, frame.bottom + 16), Anchor::Middle, Font::plain(13))?;
        x *= factor;
    }
    canvas.text(axis, (WIDTH / 2, frame.bottom + 38), Anchor::Middle, Font::plain(14))
}

/// A parameter's value: powers of two as such, where they are large.
fn tick(x: f64) -> String {
    let power = x.log2();
    if x >= 512.0 && (power - power.round()).abs() < 1e-9 {
        format!("2^{}", power.round())
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

fn series(
    canvas: &Canvas<'_>,
    frame: &Frame,
    index: usize,
    curve: &SpeedCurve,
) -> Result<(), ChartError> {
    let colour = series_colour(index);
    let places: Vec<(i32, i32)> = curve.points.iter().map(|(x, y)| frame.place(*x, *y)).collect();
    canvas.line(places.clone(), colour, 2)?;
    for place in &places {
        canvas.disc(*place, 4, colour)?;
    }
    let number = format!("{}", index + 1);
    let (axis, count) = (curve.axis, curve.points.len());
    let crossing = match crossover(curve) {
        Crossover::From(x) => format!("pays from {axis} = {}", rounded(x)),
        Crossover::UpTo(x) => format!("pays up to {axis} = {}", rounded(x)),
        Crossover::Between(from, to) => {
            format!("pays from {axis} = {} to {}", rounded(from), rounded(to))
        }
        Crossover::Always => "pays at every point".to_owned(),
        Crossover::Never => "pays at no point".to_owned(),
        Crossover::Some(points) => format!("pays at {points} of {count} points"),
    };
    let name = short_name(&curve.kernel);
    let fixed = &curve.fixed;
    let last = curve.points.last().map_or(1.0, |(_, y)| *y);
    let text =
        format!("{number}  {name}, {}; {fixed}: {crossing}; {last:.2}× at the end", curve.label);
    let line = i32::try_from(index).unwrap_or(i32::MAX).saturating_mul(LEGEND_LINE);
    let y = frame.bottom + 64 + line;
    canvas.fill((16, y - 5), (40, y + 5), colour)?;
    canvas.text(&text, (48, y), Anchor::Start, Font::plain(13))
}

/// Two digits that count, with commas between thousands.
fn rounded(x: f64) -> String {
    let scale = 10_f64.powf(x.abs().log10().floor() - 1.0);
    let value = (x / scale).round() * scale;
    if value < 10.0 {
        return format!("{}", (value * 1e6).round() / 1e6);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_have_two_digits() {
        assert_eq!(rounded(287_654.0), "290,000");
        assert_eq!(rounded(1234.0), "1,200");
        assert_eq!(rounded(0.043_21), "0.043");
        assert_eq!(rounded(83.2), "83");
    }
}
