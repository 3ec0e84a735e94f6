//! The figure of rates against size: how near each kernel comes to the device's copy rate.
//!
//! A figure for one device and family, or what of it gives one result. Rates are bytes that must move over the time, so that a
//! kernel which moves more, or waits, lies below. The ceiling is the measured copy rate; lines may
//! pass it where caches hold the arrays, or where a kernel only reads.

use super::{
    ChartError,
    bars::{HEIGHT, WIDTH},
    canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour},
    widths::spread,
};
use crate::analyze::{SizeSeries, SizeSweep, short_name};

const MARGIN: i32 = 16;
const LEFT: i32 = 84;
const TOP: i32 = 92;
/// The least distance between two names, one above the other, in pixels.
const NAME_STEP: i32 = 16;

/// Where the plot lies on the sheet.
struct Frame {
    right: i32,
    bottom: i32,
    /// Base-2 logarithms of the least and largest size.
    logs: (f64, f64),
    /// Bytes a second at the top.
    most: f64,
}

impl Frame {
    /// Returns the place of a size on the x axis.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a place on a sheet of 900 pixels"
    )]
    fn x(&self, n: u64) -> i32 {
        let portion = ((n.max(1) as f64).log2() - self.logs.0) / (self.logs.1 - self.logs.0);
        LEFT + 16 + (portion * f64::from(self.right - LEFT - 32)).round() as i32
    }

    /// Returns the place of a rate on the y axis.
    #[expect(clippy::cast_possible_truncation, reason = "a place on a sheet of 900 pixels")]
    fn y(&self, bytes_per_s: f64) -> i32 {
        let portion = (bytes_per_s / self.most).clamp(0.0, 1.0);
        self.bottom - (portion * f64::from(self.bottom - TOP)).round() as i32
    }
}

/// Draws rate against size for each kernel, with the copy rate as the ceiling.
///
/// # Errors
///
/// [`ChartError::Empty`] where no kernel has rates at two sizes, [`ChartError::Draw`] where drawing
/// fails.
pub fn bandwidth(sweep: &SizeSweep) -> Result<String, ChartError> {
    let sizes = || sweep.series.iter().flat_map(|series| series.points.keys().copied());
    let (Some(least), Some(largest)) = (sizes().min(), sizes().max()) else {
        return Err(ChartError::Empty("rates"));
    };
    if least == largest {
        return Err(ChartError::Empty("rates at several sizes"));
    }
    let names = names(sweep);
    let room = names.iter().map(|name| Font::plain(12).bold().width(name)).max().unwrap_or(0);
    let count = i32::try_from(names.len()).unwrap_or(i32::MAX / 64);
    let height = HEIGHT.max(TOP + 70 + count * NAME_STEP);
    let rates = sweep.series.iter().flat_map(|series| series.points.values().copied());
    let most = rates.chain(sweep.copy_bytes_per_s).fold(0.0, f64::max) * 1.06;
    #[expect(clippy::cast_precision_loss, reason = "places on an axis")]
    let frame = Frame {
        right: WIDTH - MARGIN - room.clamp(60, 300) - 14,
        bottom: height - 60,
        logs: ((least.max(1) as f64).log2(), (largest as f64).log2()),
        most,
    };
    let title = format!("{}: rate against size, {}", subject(sweep), sweep.device);
    draw((WIDTH, height), &title, |canvas| {
        canvas.text(&title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        let mut subtitle =
            "bytes that must move (each input once, each output once) over the median time"
                .to_owned();
        if sweep.not_shown > 0 {
            subtitle += &format!("; {} series not shown", sweep.not_shown);
        }
        canvas.text(&subtitle, (MARGIN, 42), Anchor::Start, Font::plain(12).colour(GREY))?;
        draw_axes(canvas, &frame)?;
        draw_ceiling(canvas, sweep, &frame)?;
        for (index, series) in sweep.series.iter().enumerate() {
            draw_series(canvas, series, &frame, index)?;
        }
        draw_names(canvas, sweep, &names, &frame)
    })
}

/// Says what is drawn: a family, or what of it gives one result.
fn subject(sweep: &SizeSweep) -> String {
    let word = sweep.result.as_deref().and_then(|result| result.rsplit('/').next());
    let what = match word {
        None => return sweep.family.clone(),
        Some("all") => "over the whole array",
        Some("blocks") => "block by block",
        Some(other) => other,
    };
    format!("{}, {what}", sweep.family)
}

/// Returns each series' name: the kernel's, and those parameters that tell it from others.
fn names(sweep: &SizeSweep) -> Vec<String> {
    let kernel = |series: &SizeSeries| short_name(&series.kernel).to_owned();
    let alone = |series: &SizeSeries| {
        sweep.series.iter().filter(|other| other.kernel == series.kernel).count() == 1
    };
    let parts = |series: &SizeSeries| -> Vec<String> {
        series.parameters.split(", ").map(str::to_owned).collect()
    };
    sweep
        .series
        .iter()
        .map(|series| {
            if alone(series) {
                return kernel(series);
            }
            let same = |part: &String| {
                let siblings = sweep.series.iter().filter(|other| other.kernel == series.kernel);
                siblings.into_iter().all(|other| parts(other).contains(part))
            };
            let own: Vec<String> = parts(series).into_iter().filter(|part| !same(part)).collect();
            format!("{} ({})", kernel(series), own.join(", "))
        })
        .collect()
}

/// Draws both axes with grid lines, numbers and labels.
fn draw_axes(canvas: &Canvas<'_>, frame: &Frame) -> Result<(), ChartError> {
    let font = Font::plain(12).colour(GREY);
    let (step, unit, label) = scale(frame.most);
    for count in 0_u32.. {
        let rate = (f64::from(count) * step * 1e-6).round() * 1e6;
        if rate > frame.most {
            break;
        }
        let y = frame.y(rate);
        canvas.line(vec![(LEFT, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&(rate / unit).to_string(), (LEFT - 8, y), Anchor::End, font)?;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "logarithms of sizes are small and not negative"
    )]
    let logs = (frame.logs.0.ceil() as u32, frame.logs.1.floor() as u32);
    let every = ((logs.1.saturating_sub(logs.0)) / 10).max(1);
    for log in (logs.0..=logs.1).filter(|log| (log - logs.0).is_multiple_of(every)) {
        let x = frame.x(1 << log);
        canvas.line(vec![(x, TOP), (x, frame.bottom)], PALE, 1)?;
        canvas.text(&format!("2^{log}"), (x, frame.bottom + 16), Anchor::Middle, font)?;
    }
    let middle = i32::midpoint(LEFT, frame.right);
    let below = (middle, frame.bottom + 40);
    canvas.text("elements n (logarithmic)", below, Anchor::Middle, Font::plain(13))?;
    canvas.text(label, (MARGIN, TOP - 12), Anchor::Start, Font::plain(13))
}

/// The distance of grid lines, the unit of the numbers and its name, for rates up to `most`.
fn scale(most: f64) -> (f64, f64, &'static str) {
    let (unit, label) = if most >= 1e12 { (1e12, "TB/s") } else { (1e9, "GB/s") };
    let rough = most / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
    (step, unit, label)
}

/// Draws the copy rate, where it was measured.
fn draw_ceiling(canvas: &Canvas<'_>, sweep: &SizeSweep, frame: &Frame) -> Result<(), ChartError> {
    let Some(copy) = sweep.copy_bytes_per_s else { return Ok(()) };
    let y = frame.y(copy);
    let mut x = LEFT;
    while x < frame.right {
        canvas.line(vec![(x, y), ((x + 8).min(frame.right), y)], INK, 2)?;
        x += 14;
    }
    let text = format!("measured copy rate, {:.0} GB/s", copy / 1e9);
    canvas.text(&text, (LEFT + 6, y - 10), Anchor::Start, Font::plain(12).bold())
}

/// Draws one kernel's line and marks.
fn draw_series(
    canvas: &Canvas<'_>,
    series: &SizeSeries,
    frame: &Frame,
    index: usize,
) -> Result<(), ChartError> {
    let colour = series_colour(index);
    let places: Vec<(i32, i32)> =
        series.points.iter().map(|(n, rate)| (frame.x(*n), frame.y(*rate))).collect();
    for place in &places {
        canvas.disc(*place, 4, colour)?;
    }
    canvas.line(places, colour, 2)
}

/// Writes each kernel's name and its rate at the largest size at its line's right end, moved apart.
fn draw_names(
    canvas: &Canvas<'_>,
    sweep: &SizeSweep,
    names: &[String],
    frame: &Frame,
) -> Result<(), ChartError> {
    let mut ends: Vec<(i32, i32, usize)> = sweep
        .series
        .iter()
        .enumerate()
        .filter_map(|(index, series)| {
            let (n, rate) = series.points.last_key_value()?;
            Some((frame.y(*rate), frame.x(*n), index))
        })
        .collect();
    ends.sort_unstable();
    let wanted: Vec<i32> = ends.iter().map(|(y, _, _)| *y).collect();
    let places = spread(&wanted, NAME_STEP, TOP, frame.bottom);
    for ((end, x, index), y) in ends.into_iter().zip(places) {
        let colour = series_colour(index);
        canvas.line(vec![(x + 6, end), (frame.right + 8, y)], colour, 1)?;
        canvas.fill((frame.right + 8, y - 5), (frame.right + 12, y + 5), colour)?;
        let font = Font::plain(12).bold();
        canvas.text(&names[index], (frame.right + 17, y), Anchor::Start, font)?;
    }
    Ok(())
}
