//! The figure of lanes along time: a row a lane, operations from left to right, masked lanes grey.
//!
//! Input: a sheet of `analyze`. Output: SVG; each panel says in words whose subgroup it is and how many of
//! its lanes are active in the mean.

use super::bars::WIDTH;
use super::canvas::{Anchor, Canvas, Font, GREY, PALE, draw, series_colour};
use super::error::ChartError;
use crate::analyze::{Strand, TRACE_OPERATIONS, TracePanel, TraceRow, TraceSheet};
use crate::units::text;

const MARGIN: i32 = 16;
/// Where the first row begins below one line, and the distance of two lines.
const TOP: i32 = 84;
const LINE: i32 = 16;
/// The height of the lanes of a panel, whatever its width: 64 lanes of 2 pixels.
const LANES: i32 = 128;
/// The height of a row: its words, its lanes, its axis.
const ROW: i32 = LANES + 58;
/// Between two subgroups of one panel.
const BETWEEN: i32 = 4;
/// Between two panels of a row.
const GAP: i32 = 28;

/// Draws a panel for each kernel and width.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is no panel, [`ChartError::Draw`] where drawing fails.
pub fn trace(sheet: &TraceSheet) -> Result<String, ChartError> {
    let across = sheet.rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
    if across == 0 {
        return Err(ChartError::Empty("traces"));
    }
    let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX / 4096);
    let form = sheet.form.as_ref().map_or(String::new(), |form| format!(" ({form})"));
    let title = format!("Lanes along time, {}{form}", sheet.family);
    let wide = (WIDTH - 2 * MARGIN - GAP * (count(across) - 1)) / count(across);
    let grey = Font::plain(12).colour(GREY);
    let lines = grey.lines(&subtitle(sheet), WIDTH - 2 * MARGIN);
    let more = LINE * (count(lines.len()) - 1);
    let height = TOP + more + count(sheet.rows.len()) * ROW;
    draw((WIDTH, height), &title, |canvas| {
        canvas.text(&title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        for (line, place) in lines.iter().zip(0..) {
            canvas.text(line, (MARGIN, 42 + LINE * place), Anchor::Start, grey)?;
        }
        legend(canvas, TOP + more - 22)?;
        for (index, row) in sheet.rows.iter().enumerate() {
            let top = TOP + more + count(index) * ROW;
            for (place, traced) in row.panels.iter().enumerate() {
                let left = MARGIN + count(place) * (wide + GAP);
                panel(canvas, row, traced, (left, top), wide)?;
            }
        }
        Ok(())
    })
}

/// What the figure shows, and what it leaves out.
fn subtitle(sheet: &TraceSheet) -> String {
    let both = sheet.rows.iter().any(|row| row.panels.len() > 1);
    let both = if both { "; the same invocations at both widths" } else { "" };
    let shared = match sheet.shared.as_str() {
        "" => String::new(),
        shared => format!("{shared}; "),
    };
    let words = format!(
        "{shared}the first {TRACE_OPERATIONS} operations of a subgroup: of those that were looked at the one whose lanes do \
         the most unlike work{both}"
    );
    match sheet.kernels_left_out {
        0 => words,
        1 => format!("{words}; 1 more kernel is not drawn"),
        more => format!("{words}; {more} more kernels are not drawn"),
    }
}

fn legend(canvas: &Canvas<'_>, y: i32) -> Result<(), ChartError> {
    let mut x = MARGIN;
    for (words, colour) in [("active", series_colour(0)), ("idle", PALE)] {
        canvas.fill((x, y - 6), (x + 14, y + 6), colour)?;
        canvas.text(words, (x + 20, y), Anchor::Start, Font::plain(12))?;
        x += 44 + Font::plain(12).width(words);
    }
    Ok(())
}

/// Draws one subgroup, `wide` pixels wide.
fn panel(
    canvas: &Canvas<'_>,
    row: &TraceRow,
    panel: &TracePanel,
    (left, top): (i32, i32),
    wide: i32,
) -> Result<(), ChartError> {
    let width = i32::try_from(panel.width.lanes()).unwrap_or(i32::MAX);
    let mean = panel.active_lanes_mean().unwrap_or(0.0);
    let (_, workgroup) = &panel.place;
    let numbers: Vec<String> = panel.strands.iter().map(|s| s.subgroup.to_string()).collect();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    let words = format!("{}, {}", row.kernel, panel.label);
    let bold = Font::plain(13).bold();
    canvas.text(&words, (left, top + 6), Anchor::Start, bold)?;
    let behind = bold.width(&words) + 10;
    if let Some(line) = Font::plain(11).lines(&row.parameters, wide - behind).first() {
        let cut =
            if line.len() < row.parameters.len() { format!("{line} …") } else { line.clone() };
        canvas.text(&cut, (left + behind, top + 6), Anchor::Start, Font::plain(11).colour(GREY))?;
    }
    let detail = format!(
        "{} of {width} lanes active; workgroup {workgroup}, subgroup{plural} {}",
        text::lanes_of(mean, None),
        numbers.join(" and ")
    );
    let grey = Font::plain(11).colour(GREY);
    canvas.text(&detail, (left, top + 22), Anchor::Start, grey)?;
    let from = top + 32;
    let x = |operations: u64| {
        left + i32::try_from(operations * u64::from(wide.unsigned_abs()) / TRACE_OPERATIONS)
            .unwrap_or(wide)
    };
    // Subgroups of one panel stand one below the other, each with its own time.
    let strands = i32::try_from(panel.strands.len().max(1)).unwrap_or(1);
    let high = (LANES - BETWEEN * (strands - 1)) / strands;
    for (strand, place) in panel.strands.iter().zip(0..) {
        let from = from + place * (high + BETWEEN);
        let y = |lane: i32| from + lane * high / width;
        canvas.fill((left, from), (x(strand.operations()), from + high), PALE)?;
        for (start, end, lane, last) in boxes(strand, panel.width.lanes()) {
            let (lane, last) = (i32::try_from(lane).unwrap_or(0), i32::try_from(last).unwrap_or(0));
            // The box of plotters holds its last pixel.
            let corner = ((x(end) - 1).max(x(start)), (y(last) - 1).max(y(lane)));
            canvas.fill((x(start), y(lane)), corner, series_colour(0))?;
        }
    }
    let bottom = from + LANES + 10;
    let last = format!("{} operations", panel.operations());
    let (end, room) = (x(panel.operations()), Font::plain(11).width(&last));
    // A short panel has room for its last number alone.
    if end - left < room + 14 {
        return canvas.text(&last, (left, bottom), Anchor::Start, grey);
    }
    canvas.text("0", (left, bottom), Anchor::Start, grey)?;
    canvas.text(&last, (end, bottom), Anchor::End, grey)
}

/// Boxes of active lanes: from and to which operation, from and to which lane.
fn boxes(strand: &Strand, width: u32) -> Vec<(u64, u64, u32, u32)> {
    let mut boxes = Vec::new();
    let mut start = 0;
    for (operations, mask) in &strand.steps {
        let mut lane = 0;
        while lane < width {
            let run = (mask >> lane).trailing_ones().min(width - lane);
            if run > 0 {
                boxes.push((start, start + operations, lane, lane + run));
            }
            lane += run.max(1);
        }
        start += operations;
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Width;

    #[test]
    fn runs_of_active_lanes_are_one_box() {
        let panel = TracePanel {
            label: "sim:8".to_owned(),
            width: Width::new(8).expect("a width"),
            place: ("main".to_owned(), 0),
            strands: vec![Strand { subgroup: 0, steps: vec![(3, 0xff), (2, 0b0101_1000)] }],
        };
        assert_eq!(boxes(&panel.strands[0], 8), [(0, 3, 0, 8), (3, 5, 3, 5), (3, 5, 6, 7)]);
        assert_eq!(panel.operations(), 5);
        assert_eq!(panel.active_lanes_mean(), Some(30.0 / 5.0));
    }
}
