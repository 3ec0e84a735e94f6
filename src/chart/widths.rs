//! The figure of efficiency against width: what each kernel wastes from the narrowest to the widest.
//!
//! Lines join a kernel's points; where a device and the simulator give a width, the line runs
//! through the simulator's. Where kernels lie on each other, their names and numbers are moved
//! apart, so that each can be read.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{
    ChartError,
    bars::{HEIGHT, WIDTH},
    canvas::{Anchor, Canvas, Font, GREY, PALE, draw, series_colour},
    frame::{ChartFrame, Span},
    line_labels::{End, NAME_STEP, move_apart, names},
};
use crate::analyze::{WidthPoint, WidthSeries, WidthSweep, short_name};

const MARGIN: i32 = 16;
const LEFT: i32 = 70;
const TOP: i32 = 92;
/// The least distance between two numbers, one above the other, in pixels.
const NUMBER_STEP: i32 = 13;

/// Draws efficiency against width for each kernel, with the mean active lanes at each mark.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was counted at two widths or more, [`ChartError::Draw`] where
/// drawing fails.
pub(super) fn widths(sweep: &WidthSweep) -> Result<String, ChartError> {
    let lanes: Vec<u32> = sweep
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.width.lanes())
        .collect();
    let (Some(least), Some(most)) = (lanes.iter().min(), lanes.iter().max()) else {
        return Err(ChartError::Empty("counted lanes"));
    };
    if least == most {
        return Err(ChartError::Empty("lanes at several widths"));
    }
    let shared = shared_parameters(sweep);
    let unshared: Vec<String> =
        sweep.series.iter().map(|series| name(series, sweep, shared.is_some())).collect();
    let room = unshared.iter().map(|name| Font::plain(12).bold().width(name)).max().unwrap_or(0);
    // Many kernels need a taller sheet for their names.
    let count = i32::try_from(unshared.len()).unwrap_or(i32::MAX / 64);
    let height = HEIGHT.max(TOP + 70 + count * NAME_STEP);
    let frame = ChartFrame {
        left: LEFT,
        right: WIDTH - MARGIN - room.clamp(60, 320) - 20,
        top: TOP,
        bottom: height - 60,
        pad: 36,
        x: Span::logarithmic(f64::from(*least), f64::from(*most)),
        y: Span::linear(0.0, 1.05),
    };
    let mut title = "Efficiency against subgroup width".to_owned();
    if let Some(shared) = shared.filter(|shared| !shared.is_empty()) {
        title = format!("{title} ({shared})");
    }
    draw((WIDTH, height), &title, |canvas| {
        canvas.text(&title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        let subtitle = "numbers at the marks: mean active lanes";
        canvas.text(subtitle, (MARGIN, 42), Anchor::Start, Font::plain(12).colour(GREY))?;
        draw_legend(canvas, sweep)?;
        draw_axes(canvas, &frame, least.ilog2()..=most.ilog2())?;
        for (index, series) in sweep.series.iter().enumerate() {
            draw_line(canvas, series, &frame, index)?;
        }
        // Between lines and marks: numbers stand on lines, and nothing on a mark.
        draw_numbers(canvas, sweep, &frame)?;
        for (index, series) in sweep.series.iter().enumerate() {
            draw_marks(canvas, series, &frame, index)?;
        }
        draw_names(canvas, sweep, &unshared, &frame)
    })
}

/// Returns the parameters of all series where they are the same.
fn shared_parameters(sweep: &WidthSweep) -> Option<&str> {
    let first = &sweep.series.first()?.parameters;
    sweep.series.iter().all(|series| series.parameters == *first).then_some(first)
}

/// Returns a series' name: the kernel's, and those parameters that tell it from others of the kernel.
fn name(series: &WidthSeries, sweep: &WidthSweep, shared: bool) -> String {
    let kernel = short_name(&series.kernel);
    let others = || sweep.series.iter().filter(|other| other.kernel == series.kernel);
    let everywhere =
        |part: &str| others().all(|other| other.parameters.split(", ").any(|p| p == part));
    let unshared: Vec<&str> =
        series.parameters.split(", ").filter(|part| !everywhere(part)).collect();
    if shared || unshared.is_empty() {
        kernel.to_owned()
    } else {
        format!("{kernel} ({})", unshared.join(", "))
    }
}

/// Returns the point of each width through which the line runs, by width.
fn line_points(series: &WidthSeries) -> BTreeMap<u32, &WidthPoint> {
    let mut points: BTreeMap<u32, &WidthPoint> = BTreeMap::new();
    for point in &series.points {
        let place = points.entry(point.width.lanes()).or_insert(point);
        if point.simulated && !place.simulated {
            *place = point;
        }
    }
    points
}

/// Draws what the marks mean, and names the devices that were measured.
fn draw_legend(canvas: &Canvas<'_>, sweep: &WidthSweep) -> Result<(), ChartError> {
    let points = || sweep.series.iter().flat_map(|series| &series.points);
    let mut x = MARGIN;
    if points().any(|point| point.simulated) {
        canvas.disc((x + 7, 64), 4, GREY)?;
        canvas.text("simulated", (x + 20, 64), Anchor::Start, Font::plain(12))?;
        x += 110;
    }
    let mut devices: Vec<String> = Vec::new();
    for point in points().filter(|point| !point.simulated) {
        let device = format!("{} at {}", point.label, point.width);
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    if devices.is_empty() {
        return Ok(());
    }
    canvas.square((x + 7, 64), 6, GREY)?;
    // As many names as fit; the others are counted, and the report's table has them all.
    let font = Font::plain(12);
    let mut text = "measured: ".to_owned();
    for (index, device) in devices.iter().enumerate() {
        let rest = devices.len() - index;
        let longer = format!("{text}{}{device}", if index == 0 { "" } else { "; " });
        if index > 0 && x + 20 + font.width(&longer) > WIDTH - MARGIN - 60 {
            text = format!("{text}; and {rest} more");
            break;
        }
        text = longer;
    }
    canvas.text(&text, (x + 20, 64), Anchor::Start, font)
}

/// Draws both axes with grid lines, numbers and labels.
fn draw_axes(
    canvas: &Canvas<'_>,
    frame: &ChartFrame,
    logs: RangeInclusive<u32>,
) -> Result<(), ChartError> {
    let font = Font::plain(12).colour(GREY);
    for percent in [0u32, 25, 50, 75, 100] {
        let y = frame.y(f64::from(percent) / 100.0);
        canvas.line(vec![(LEFT, y), (frame.right, y)], PALE, 1)?;
        canvas.text(&format!("{percent} %"), (LEFT - 8, y), Anchor::End, font)?;
    }
    for log in logs {
        let x = frame.x(f64::from(1u32 << log));
        canvas.line(vec![(x, TOP), (x, frame.bottom)], PALE, 1)?;
        let width = (1u32 << log).to_string();
        canvas.text(&width, (x, frame.bottom + 16), Anchor::Middle, font)?;
    }
    let middle = i32::midpoint(LEFT, frame.right);
    let label = "subgroup width W (lanes, logarithmic)";
    canvas.text(label, (middle, frame.bottom + 40), Anchor::Middle, Font::plain(13))?;
    canvas.text(
        "efficiency (mean active lanes / W)",
        (MARGIN, TOP - 8),
        Anchor::Start,
        Font::plain(13),
    )
}

/// The place of a point.
fn place(frame: &ChartFrame, point: &WidthPoint) -> (i32, i32) {
    frame.place(f64::from(point.width.lanes()), point.efficiency.0)
}

/// Draws one kernel's line.
fn draw_line(
    canvas: &Canvas<'_>,
    series: &WidthSeries,
    frame: &ChartFrame,
    index: usize,
) -> Result<(), ChartError> {
    let line = line_points(series).values().map(|point| place(frame, point)).collect();
    canvas.line(line, series_colour(index), 2)
}

/// Draws one kernel's marks.
fn draw_marks(
    canvas: &Canvas<'_>,
    series: &WidthSeries,
    frame: &ChartFrame,
    index: usize,
) -> Result<(), ChartError> {
    let colour = series_colour(index);
    for point in &series.points {
        if point.simulated {
            canvas.disc(place(frame, point), 4, colour)?;
        } else {
            canvas.square(place(frame, point), 6, colour)?;
        }
    }
    Ok(())
}

/// Writes the mean active lanes beside the marks, each once a width, moved apart.
fn draw_numbers(
    canvas: &Canvas<'_>,
    sweep: &WidthSweep,
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let mut columns: BTreeMap<u32, Vec<(i32, String)>> = BTreeMap::new();
    for series in &sweep.series {
        for (width, point) in line_points(series) {
            let number = format!("{:.1}", point.active_lanes_mean);
            let column = columns.entry(width).or_default();
            if !column.iter().any(|(_, known)| *known == number) {
                column.push((frame.y(point.efficiency.0) - 11, number));
            }
        }
    }
    for (width, mut column) in columns {
        column.sort();
        let wanted: Vec<i32> = column.iter().map(|(y, _)| *y).collect();
        let places = move_apart(&wanted, NUMBER_STEP, TOP, frame.bottom);
        for ((_, number), y) in column.iter().zip(places) {
            let font = Font::plain(11);
            canvas.label(number, (frame.x(f64::from(width)) + 10, y), font)?;
        }
    }
    Ok(())
}

/// Writes each kernel's name at its line's right end.
fn draw_names(
    canvas: &Canvas<'_>,
    sweep: &WidthSweep,
    own: &[String],
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let end = |((index, series), name): ((usize, &WidthSeries), &String)| {
        let (width, point) = line_points(series).pop_last()?;
        let (x, y) = frame.place(f64::from(width), point.efficiency.0);
        // From beside the last number.
        Some(End { place: (x + 36, y), name: name.clone(), colour: series_colour(index) })
    };
    let ends = sweep.series.iter().enumerate().zip(own).filter_map(end);
    names(canvas, frame, ends.collect())
}
