//! The figure of what shuffles return where nothing is promised: a table of words.

use super::{
    ChartError,
    bars::WIDTH,
    canvas::{Anchor, Font, GREY, PALE, draw},
};
use crate::analyze::UndefinedRow;

const MARGIN: i32 = 16;
const TOP: i32 = 78;
const ROW: i32 = 30;

/// What heads the columns after the device, and where they begin.
const COLUMNS: [(&str, i32); 6] = [
    ("W", 276),
    ("up", 318),
    ("down", 424),
    ("by index", 530),
    ("inactive source", 636),
    ("sum without the others", 744),
];

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
        let head = Font::plain(12).bold();
        canvas.text("device", (MARGIN, TOP), Anchor::Start, head)?;
        for (text, x) in COLUMNS {
            canvas.text(text, (x, TOP), Anchor::Start, head)?;
        }
        for (index, row) in (1..).zip(rows) {
            let y = TOP + ROW * index;
            canvas.line(vec![(MARGIN, y - 15), (WIDTH - MARGIN, y - 15)], PALE, 1)?;
            let font = Font::plain(12);
            canvas.text(&clip(&row.label, 250, font), (MARGIN, y), Anchor::Start, font)?;
            let width = row.width.to_string();
            let cells = [&width, &row.up, &row.down, &row.index, &row.inactive, &row.partial_sums];
            for (text, (_, x)) in cells.into_iter().zip(COLUMNS) {
                canvas.text(text, (x, y), Anchor::Start, font)?;
            }
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
