//! The figure of what shuffles return where nothing is promised: a table of words.

use super::{
    ChartError,
    bars::WIDTH,
    canvas::{Anchor, Font, GREY, PALE, draw},
};
use crate::analyze::UndefinedRow;
use crate::units::text;

const MARGIN: i32 = 16;
const TOP: i32 = 78;
const ROW: i32 = 30;

/// Between two columns.
const GAP: i32 = 22;

/// The columns, each with its head and a cell for each device; without those that no device has anything in.
fn columns(rows: &[UndefinedRow]) -> Vec<(&'static str, Vec<String>)> {
    let column = |head, cell: fn(&UndefinedRow) -> String| (head, rows.iter().map(cell).collect());
    let mut columns: Vec<(&str, Vec<String>)> = vec![
        column("device", |row| row.label.clone()),
        column("W", |row| row.width.to_string()),
        column("up", |row| row.up.clone()),
        column("down", |row| row.down.clone()),
        column("by index", |row| row.index.clone()),
        column("inactive source", |row| row.inactive.clone()),
        column("sum, others gone", |row| row.partial_sums.clone()),
    ];
    columns.retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
    columns
}

/// Draws a row for each device.
///
/// # Errors
///
/// [`ChartError::Empty`] where there is none, [`ChartError::Draw`] where drawing fails.
pub(super) fn undefined(rows: &[UndefinedRow]) -> Result<String, ChartError> {
    if rows.is_empty() {
        return Err(ChartError::Empty("shuffles out of range"));
    }
    let count = i32::try_from(rows.len()).unwrap_or(i32::MAX / 64);
    let height = TOP + ROW * (count + 1) + MARGIN;
    let title = "What a shuffle returns whose source is not there";
    draw((WIDTH, height), title, |canvas| {
        canvas.text(title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        let subtitle = "WGSL promises nothing: seen on these devices, and not to be relied upon";
        canvas.text(subtitle, (MARGIN, 42), Anchor::Start, Font::plain(12).colour(GREY))?;
        let (head, font) = (Font::plain(12).bold(), Font::plain(12));
        for place in 1..=count {
            let y = TOP + ROW * place - 15;
            canvas.line(vec![(MARGIN, y), (WIDTH - MARGIN, y)], PALE, 1)?;
        }
        let columns = columns(rows);
        let width = |(title, cells): &(&str, Vec<String>)| {
            cells.iter().map(|cell| font.width(cell)).fold(head.width(title), i32::max) + GAP
        };
        // A name that is too long gives way to the others.
        let others: i32 = columns.iter().skip(1).map(width).sum();
        let mut x = MARGIN;
        for (place, column) in columns.iter().enumerate() {
            canvas.text(column.0, (x, TOP), Anchor::Start, head)?;
            let room = if place == 0 { WIDTH - 2 * MARGIN - others } else { width(column) };
            for (cell, row) in column.1.iter().zip(1..) {
                let cell = if cell.is_empty() { text::NONE } else { cell };
                let text = clip(cell, room - GAP, font);
                canvas.text(&text, (x, TOP + ROW * row), Anchor::Start, font)?;
            }
            x += width(column).min(room);
        }
        Ok(())
    })
}

/// The text, or as much of its beginning as fits.
fn clip(text: &str, room: i32, font: Font) -> String {
    let mut shown = text.to_owned();
    while font.width(&shown) > room && shown.pop().is_some() {}
    if shown.len() < text.len() {
        shown.pop();
        shown.push('…');
    }
    shown
}
