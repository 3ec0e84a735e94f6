//! The figure of efficiency against width: what each kernel wastes from the narrowest to the widest.
//!
//! Lines join a kernel's points; where a device and the simulator give a width, the line runs
//! through the simulator's. Where kernels lie on each other, their names are moved apart; the numbers
//! stand in a table below.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{
    ChartError,
    bars::{HEIGHT, WIDTH},
    canvas::{Anchor, Canvas, Font, GREY, PALE, draw, series_colour},
    curves::{NumberRow, Numbers},
    frame::{ChartFrame, Span},
    line_labels::{End, NAME_STEP, names},
};
use crate::analyze::{WidthPoint, WidthSeries, WidthSweep, family, short_name};

const MARGIN: i32 = 16;
const LEFT: i32 = 70;
const TOP: i32 = 108;

/// Draws efficiency against width for each kernel, with the mean active lanes and the lane slots in tables below.
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
    let heading = heading(sweep, shared);
    let top = TOP + 18 * (legend_rows(sweep) - 1);
    // Many kernels need a taller sheet for their names.
    let count = i32::try_from(unshared.len()).unwrap_or(i32::MAX / 64);
    let height = HEIGHT.max(top + 70 + count * NAME_STEP);
    let frame = ChartFrame {
        left: LEFT,
        right: WIDTH - MARGIN - room.clamp(60, 320) - 20,
        top,
        bottom: height - 60,
        pad: 36,
        x: Span::logarithmic(f64::from(*least), f64::from(*most)),
        y: Span::linear(0.0, 1.05),
    };
    let lanes = |point: &WidthPoint| Some(point.active_lanes_mean);
    let numbers = Numbers::new(TABLE_HEAD, number_rows(sweep, &unshared, lanes));
    let slots = |point: &WidthPoint| point.lane_slots_ratio;
    let slots = Numbers::new(SLOTS_HEAD, number_rows(sweep, &unshared, slots));
    let sheet = height + 12 + numbers.height() + slots.height();
    draw((WIDTH, sheet), &heading[0], |canvas| {
        canvas.text(&heading[0], (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        canvas.text(&heading[1], (MARGIN, 42), Anchor::Start, Font::plain(12).colour(GREY))?;
        draw_legend(canvas, sweep)?;
        draw_axes(canvas, &frame, least.ilog2()..=most.ilog2())?;
        for (index, series) in sweep.series.iter().enumerate() {
            draw_line(canvas, series, &frame, index)?;
        }
        for (index, series) in sweep.series.iter().enumerate() {
            draw_marks(canvas, series, &frame, index)?;
        }
        draw_names(canvas, sweep, &unshared, &frame)?;
        numbers.draw(canvas, height + 6)?;
        slots.draw(canvas, height + 6 + numbers.height())
    })
}

/// What heads the tables of numbers.
const TABLE_HEAD: &str = "mean active lanes at W =";
const SLOTS_HEAD: &str = "lane slots over the narrowest's at W =";

/// The title, with the family where it is one, and the line below it.
fn heading(sweep: &WidthSweep, shared: Option<&str>) -> [String; 2] {
    let mut families: Vec<&str> =
        sweep.series.iter().map(|series| family(&series.kernel)).collect();
    families.dedup();
    let title = "Efficiency against subgroup width";
    let title = match families.as_slice() {
        [words] if !words.is_empty() => format!("{title}, {words}"),
        _ => title.to_owned(),
    };
    let shared = shared.filter(|shared| !shared.is_empty()).unwrap_or_default();
    [title, shared.to_owned()]
}

/// A figure of each kernel by width, from the points that its line runs through.
fn number_rows<'a>(
    sweep: &WidthSweep,
    names: &'a [String],
    figure: impl Fn(&WidthPoint) -> Option<f64>,
) -> Vec<NumberRow<'a>> {
    let all = sweep.series.iter().zip(names).enumerate();
    all.map(|(series, (swept, name))| {
        let points = line_points(swept).into_iter();
        let points = points.filter_map(|(width, point)| Some((f64::from(width), figure(point)?)));
        NumberRow { series: Some(series), name, points: points.collect(), remarked: Vec::new() }
    })
    .collect()
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

/// What the marks mean: whether one is a disc, and the words beside it, with the devices that were measured.
fn legend(sweep: &WidthSweep) -> Vec<(bool, String)> {
    let points = || sweep.series.iter().flat_map(|series| &series.points);
    let mut entries = Vec::new();
    if points().any(|point| point.simulated) {
        entries.push((true, "simulated".to_owned()));
    }
    let mut devices: Vec<String> = Vec::new();
    for point in points().filter(|point| !point.simulated) {
        let device = format!("{}, {} lanes", point.label, point.width);
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    for (index, device) in devices.into_iter().enumerate() {
        let first = if index == 0 { "measured: " } else { "" };
        entries.push((false, format!("{first}{device}")));
    }
    entries
}

/// Where each entry of the legend stands.
fn legend_places(entries: &[(bool, String)]) -> Vec<(i32, i32)> {
    let (mut x, mut y) = (MARGIN, 64);
    let mut places = Vec::new();
    for (_, text) in entries {
        let room = 20 + Font::plain(12).width(text) + 18;
        if x > MARGIN && x + room > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + 18);
        }
        places.push((x, y));
        x += room;
    }
    places
}

/// How many rows the legend takes.
fn legend_rows(sweep: &WidthSweep) -> i32 {
    legend_places(&legend(sweep)).last().map_or(1, |(_, y)| (y - 64) / 18 + 1)
}

/// Draws what the marks mean, and names the devices that were measured.
fn draw_legend(canvas: &Canvas<'_>, sweep: &WidthSweep) -> Result<(), ChartError> {
    let entries = legend(sweep);
    for ((disc, text), (x, y)) in entries.iter().zip(legend_places(&entries)) {
        if *disc {
            canvas.disc((x + 7, y), 4, GREY)?;
        } else {
            canvas.square((x + 7, y), 6, GREY)?;
        }
        canvas.text(text, (x + 20, y), Anchor::Start, Font::plain(12))?;
    }
    Ok(())
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
        canvas.line(vec![(x, frame.top), (x, frame.bottom)], PALE, 1)?;
        let width = (1u32 << log).to_string();
        canvas.text(&width, (x, frame.bottom + 16), Anchor::Middle, font)?;
    }
    let middle = i32::midpoint(LEFT, frame.right);
    let label = "subgroup width W (lanes, logarithmic)";
    canvas.text(label, (middle, frame.bottom + 40), Anchor::Middle, Font::plain(13))?;
    canvas.text(
        "efficiency (mean active lanes / W)",
        (MARGIN, frame.top - 12),
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
            canvas.mark(place(frame, point), index)?;
        } else {
            canvas.square(place(frame, point), 6, colour)?;
        }
    }
    Ok(())
}

/// Writes each kernel's name at its line's right end.
fn draw_names(
    canvas: &Canvas<'_>,
    sweep: &WidthSweep,
    labels: &[String],
    frame: &ChartFrame,
) -> Result<(), ChartError> {
    let end = |((index, series), name): ((usize, &WidthSeries), &String)| {
        let (width, point) = line_points(series).pop_last()?;
        let (x, y) = frame.place(f64::from(width), point.efficiency.0);
        Some(End { place: (x + 8, y), name: name.clone(), colour: series_colour(index) })
    };
    let ends = sweep.series.iter().enumerate().zip(labels).filter_map(end);
    names(canvas, frame, ends.collect())
}
