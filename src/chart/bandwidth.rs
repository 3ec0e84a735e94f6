//! The figure of rates against size: how near each kernel comes to the device's copy rate.
//!
//! A figure for one device and family, or what of it gives one result. Rates are bytes that must move
//! over the time, so that a kernel which moves more, or waits, lies below. The ceiling is the measured
//! copy rate; lines may pass it where caches hold the arrays, or where a kernel only reads. Both axes are
//! logarithmic: rates of small and large arrays lie decades apart. Few lines share one plot and have their names
//! beside it; of more, each set of parameters has a plot, all of one scale.

use super::{
    ChartError,
    bars::{HEIGHT, WIDTH},
    canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour},
    frame::{ChartFrame, Span},
    line_labels::{End, NAME_STEP, ends, names},
};
use crate::analyze::{SizeSeries, SizeSweep, short_name};
use crate::units::text;

const MARGIN: i32 = 16;
const LEFT: i32 = 84;
const TOP: i32 = 108;
/// The font of the lines below the title, and their distance.
const SUBTITLE: Font = Font { size: 12, bold: false, colour: GREY };
const SUBTITLE_STEP: i32 = 16;
/// A plot with its title and its axis, where there are several.
const PANEL: (i32, i32) = (434, 300);

/// How far the upper end of the axis lies above all rates at least.
const CEILING_ROOM: f64 = 1.5;

/// A plot of the whole sheet that holds every rate and the copy rate; an error where there are not two
/// sizes.
fn whole_frame(sweep: &SizeSweep) -> Result<ChartFrame, ChartError> {
    let sizes = || sweep.series.iter().flat_map(|series| series.points.keys().copied());
    let (Some(smallest), Some(largest)) = (sizes().min(), sizes().max()) else {
        return Err(ChartError::Empty("rates"));
    };
    if smallest == largest {
        return Err(ChartError::Empty("rates at several sizes"));
    }
    let rates = || sweep.series.iter().flat_map(|series| series.points.values().copied());
    let highest = rates().fold(0.0, f64::max);
    let lowest = rates().filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
    if !lowest.is_finite() {
        return Err(ChartError::Empty("rates"));
    }
    let most = highest.max(sweep.copy_bytes_per_s.unwrap_or(0.0));
    // Both ends have numbers; the line of the copy rate has room below the upper one.
    let decade = |rate: f64| 10_f64.powf(rate);
    let (low, high) = (lowest.log10().floor(), (most * CEILING_ROOM).log10().ceil());
    let y = Span::logarithmic(decade(low), decade(high));
    Ok(ChartFrame {
        left: LEFT,
        right: WIDTH - MARGIN,
        top: TOP,
        bottom: HEIGHT - 60,
        pad: 16,
        x: Span::logarithmic(size(smallest.max(1)), size(largest)),
        y,
    })
}

/// A number of elements on an axis.
#[expect(clippy::cast_precision_loss, reason = "places on an axis")]
fn size(n: u64) -> f64 {
    n as f64
}

/// Draws rate against size for each kernel, with the copy rate as the ceiling.
///
/// # Errors
///
/// [`ChartError::Empty`] where no kernel has rates at two sizes, [`ChartError::Draw`] where drawing
/// fails.
pub(super) fn bandwidth(sweep: &SizeSweep) -> Result<String, ChartError> {
    let whole = whole_frame(sweep)?;
    let title = format!("{}: rate against size", subject(sweep));
    if sweep.is_one_plot() {
        one_plot(sweep, whole, &title)
    } else {
        several_plots(sweep, whole, &title)
    }
}

/// All series in one plot, with a name at each line's end.
fn one_plot(sweep: &SizeSweep, whole: ChartFrame, title: &str) -> Result<String, ChartError> {
    let names = series_names(sweep);
    let room = names.iter().map(|name| Font::plain(12).bold().width(name)).max().unwrap_or(0);
    let lines = subtitle(sweep);
    let top = top(&lines);
    let height = HEIGHT.max(top + 70 + count(names.len()) * NAME_STEP);
    let frame = ChartFrame {
        top,
        right: WIDTH - MARGIN - room.clamp(60, 320) - 20,
        bottom: height - 60,
        ..whole
    };
    draw((WIDTH, height), title, |canvas| {
        heading(canvas, title, &lines)?;
        draw_axes(canvas, &frame)?;
        let lines: Vec<_> = sweep.series.iter().map(|series| places(series, &frame)).collect();
        draw_ceiling(canvas, sweep, &frame, &lines)?;
        for (index, series) in sweep.series.iter().enumerate() {
            draw_series(canvas, series, &frame, index)?;
        }
        draw_names(canvas, sweep, &names, &frame)
    })
}

/// A plot for each set of parameters, two side by side; a number and a colour for each kernel.
fn several_plots(sweep: &SizeSweep, whole: ChartFrame, title: &str) -> Result<String, ChartError> {
    let sets = sweep.sets();
    let mut kernels: Vec<&str> = Vec::new();
    for series in &sweep.series {
        if !kernels.contains(&series.kernel.as_str()) {
            kernels.push(&series.kernel);
        }
    }
    let shared = shared_parameters(sweep);
    let lines = subtitle(sweep);
    let legend = legend(&kernels, top(&lines) - 24);
    let panels_top = legend.last().map_or(TOP, |(_, _, y)| *y) + 30;
    let rows = count(sets.len().div_ceil(2));
    draw((WIDTH, panels_top + rows * PANEL.1 + 10), title, |canvas| {
        heading(canvas, title, &lines)?;
        draw_legend(canvas, &legend)?;
        for ((index, set), row) in sets.iter().enumerate().zip((0..).flat_map(|r| [r, r])) {
            let left = if index % 2 == 0 { 0 } else { PANEL.0 };
            let top = panels_top + row * PANEL.1;
            let frame = ChartFrame {
                left: left + LEFT,
                right: left + PANEL.0 - 30,
                top: top + 44,
                bottom: top + PANEL.1 - 52,
                ..whole
            };
            let unshared: Vec<&str> =
                set.split(", ").filter(|part| !shared.contains(part)).collect();
            let place = (frame.left, top + 10);
            canvas.text(&unshared.join(", "), place, Anchor::Start, Font::plain(14).bold())?;
            draw_axes(canvas, &frame)?;
            let drawn: Vec<&SizeSeries> =
                sweep.series.iter().filter(|series| series.parameters == *set).collect();
            let lines: Vec<_> = drawn.iter().map(|series| places(series, &frame)).collect();
            draw_ceiling(canvas, sweep, &frame, &lines)?;
            let mut marks = Vec::new();
            for series in drawn {
                let kernel = kernels.iter().position(|known| *known == series.kernel).unwrap_or(0);
                draw_series(canvas, series, &frame, kernel)?;
                let Some((n, rate)) = series.points.last_key_value() else { continue };
                let (place, name) = (frame.place(size(*n), *rate), (kernel + 1).to_string());
                marks.push(End { place, name, colour: series_colour(kernel) });
            }
            ends(canvas, frame.right, (frame.top, frame.bottom), marks)?;
        }
        Ok(())
    })
}

/// Whose rates they are, what rates are, what all series share, and what is not there, in lines that fit.
fn subtitle(sweep: &SizeSweep) -> Vec<String> {
    let mut under =
        "bytes that must move over the median time; what only reads may pass a copy".to_owned();
    if sweep.single > 0 {
        under += &format!("; {} series of one size not shown", sweep.single);
    }
    if sweep.not_shown > 0 {
        under += &format!("; {} series of other parameters not shown", sweep.not_shown);
    }
    let shared = shared_parameters(sweep).join(", ");
    let all = if shared.is_empty() { shared } else { format!("; all with {shared}") };
    let lines = [format!("{}{all}", sweep.device), under];
    lines.iter().flat_map(|text| SUBTITLE.lines(text, WIDTH - 2 * MARGIN)).collect()
}

/// Where the plot begins below these lines, or the legend of several plots.
fn top(lines: &[String]) -> i32 {
    TOP + SUBTITLE_STEP * (count(lines.len()) - 2)
}

fn heading(canvas: &Canvas<'_>, title: &str, lines: &[String]) -> Result<(), ChartError> {
    canvas.text(title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
    for (line, place) in lines.iter().zip(0..) {
        canvas.text(line, (MARGIN, 42 + SUBTITLE_STEP * place), Anchor::Start, SUBTITLE)?;
    }
    Ok(())
}

/// The parameters that all series have, as `model=64`; none of a single kernel's without parameters.
fn shared_parameters(sweep: &SizeSweep) -> Vec<&str> {
    let Some(first) = sweep.series.first() else { return Vec::new() };
    let everywhere = |part: &&str| {
        !part.is_empty()
            && sweep
                .series
                .iter()
                .all(|series| series.parameters.split(", ").any(|other| other == *part))
    };
    first.parameters.split(", ").filter(everywhere).collect()
}

/// The kernels' numbered names with their places, the first at `y`, in as many rows as they need.
fn legend(kernels: &[&str], mut y: i32) -> Vec<(String, i32, i32)> {
    let mut x = MARGIN;
    let mut entries = Vec::new();
    for (number, kernel) in (1..).zip(kernels) {
        let name = format!("{number} {}", short_name(kernel));
        let room = 34 + Font::plain(12).bold().width(&name);
        if x > MARGIN && x + room > WIDTH {
            (x, y) = (MARGIN, y + SUBTITLE_STEP);
        }
        entries.push((name, x, y));
        x += room;
    }
    entries
}

fn draw_legend(canvas: &Canvas<'_>, entries: &[(String, i32, i32)]) -> Result<(), ChartError> {
    for (index, (name, x, y)) in entries.iter().enumerate() {
        canvas.fill((*x, y - 5), (x + 10, y + 5), series_colour(index))?;
        canvas.text(name, (x + 15, *y), Anchor::Start, Font::plain(12).bold())?;
    }
    Ok(())
}

fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 4096)
}

/// Says what is drawn: a family, or what of it gives one result.
fn subject(sweep: &SizeSweep) -> String {
    let Some(result) = sweep.result.as_deref() else { return sweep.family.clone() };
    let word = result.rsplit('/').next().unwrap_or(result);
    format!("{}, {}", sweep.family, sweep.result_words.as_deref().unwrap_or(word))
}

/// Returns each series' name: the kernel's, and those parameters that tell it from others.
fn series_names(sweep: &SizeSweep) -> Vec<String> {
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
            let unshared: Vec<String> =
                parts(series).into_iter().filter(|part| !same(part)).collect();
            format!("{} ({})", kernel(series), unshared.join(", "))
        })
        .collect()
}

/// Draws both axes with grid lines, numbers and labels.
fn draw_axes(canvas: &Canvas<'_>, frame: &ChartFrame) -> Result<(), ChartError> {
    let font = Font::plain(12).colour(GREY);
    for (rate, text) in rate_ticks(frame) {
        let y = frame.y(rate);
        canvas.line(vec![(frame.left, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&text, (frame.left - 8, y), Anchor::End, font)?;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "logarithms of sizes are small and not negative"
    )]
    let logs = (frame.x.low.log2().ceil() as u32, frame.x.high.log2().floor() as u32);
    let most = u32::try_from((frame.right - frame.left) / 60).unwrap_or(1).max(1);
    let every = (logs.1.saturating_sub(logs.0)).div_ceil(most).max(1);
    for log in (logs.0..=logs.1).filter(|log| (log - logs.0).is_multiple_of(every)) {
        let x = frame.x(size(1 << log));
        canvas.line(vec![(x, frame.top), (x, frame.bottom)], PALE, 1)?;
        canvas.text(&format!("2^{log}"), (x, frame.bottom + 16), Anchor::Middle, font)?;
    }
    let below = (i32::midpoint(frame.left, frame.right), frame.bottom + 38);
    canvas.text("elements n (logarithmic)", below, Anchor::Middle, Font::plain(13))?;
    let place = (frame.left - 68, frame.top - 18);
    canvas.text("rate (logarithmic)", place, Anchor::Start, Font::plain(13))
}

/// The rates that have lines, powers of ten, with their numbers.
fn rate_ticks(frame: &ChartFrame) -> Vec<(f64, String)> {
    let mut ticks = Vec::new();
    let mut rate = frame.y.low;
    while rate <= frame.y.high * 1.001 {
        ticks.push((rate, text::whole_rate(rate, "B/s")));
        rate *= 10.0;
    }
    ticks
}

/// Draws the copy rate, where it was measured.
fn draw_ceiling(
    canvas: &Canvas<'_>,
    sweep: &SizeSweep,
    frame: &ChartFrame,
    lines: &[Vec<(i32, i32)>],
) -> Result<(), ChartError> {
    let Some(copy) = sweep.copy_bytes_per_s else { return Ok(()) };
    let y = frame.y(copy);
    let mut x = frame.left;
    while x < frame.right {
        canvas.line(vec![(x, y), ((x + 8).min(frame.right), y)], INK, 2)?;
        x += 14;
    }
    let (text, font) =
        (format!("measured copy rate, {}", text::rate(copy, "B/s")), Font::plain(12).bold());
    // On the left, or where first no line runs through it.
    let room = font.width(&text);
    let last = (frame.right - room - 4).max(frame.left + 6);
    let step = usize::try_from((last - frame.left - 6) / 4).unwrap_or(0).max(1);
    let free = (frame.left + 6..=last).step_by(step).find(|x| {
        let mut points = lines.iter().flat_map(|line| line.windows(2));
        !points.any(|pair| crosses(pair, (*x - 6, y - 20), (x + room + 6, y)))
    });
    canvas.label(&text, (free.unwrap_or(frame.left + 6), y - 10), font)
}

/// Whether a line between two places, the first on the left, runs through a box.
fn crosses(pair: &[(i32, i32)], (left, top): (i32, i32), (right, bottom): (i32, i32)) -> bool {
    let [(x0, y0), (x1, y1)] = pair else { return false };
    let (from, to) = (left.max(*x0), right.min(*x1));
    let at = |x: i32| y0 + (y1 - y0) * (x - x0) / (x1 - x0).max(1);
    (from..=to).any(|x| (top..=bottom).contains(&at(x)))
}

/// The places of a kernel's points.
fn places(series: &SizeSeries, frame: &ChartFrame) -> Vec<(i32, i32)> {
    series.points.iter().map(|(n, rate)| frame.place(size(*n), *rate)).collect()
}

/// Draws one kernel's line and marks.
fn draw_series(
    canvas: &Canvas<'_>,
    series: &SizeSeries,
    frame: &ChartFrame,
    index: usize,
) -> Result<(), ChartError> {
    let colour = series_colour(index);
    let places = places(series, frame);
    for place in &places {
        canvas.disc(*place, 4, colour)?;
    }
    canvas.line(places, colour, 2)
}

/// Writes each kernel's name at its line's right end.
fn draw_names(
    canvas: &Canvas<'_>,
    sweep: &SizeSweep,
    labels: &[String],
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let end = |((index, series), name): ((usize, &SizeSeries), &String)| {
        let (n, rate) = series.points.last_key_value()?;
        let (x, y) = frame.place(size(*n), *rate);
        Some(End { place: (x + 6, y), name: name.clone(), colour: series_colour(index) })
    };
    let ends = sweep.series.iter().enumerate().zip(labels).filter_map(end);
    names(canvas, frame, ends.collect())
}
