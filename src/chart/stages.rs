//! The figure of a launch's time by its stages: a bar a launch, stacked.
//!
//! Input: stacks of `analyze`. Output: SVG; every part has its number in the legend's words.

use super::ChartError;
use super::bars::WIDTH;
use super::canvas::{Anchor, Canvas, Font, GREY, INK, draw, series_colour};
use crate::analyze::{Stage, StageStack};

const LEFT: i32 = 16;
const RIGHT: i32 = 24;
const TOP: i32 = 96;
/// Height of a launch: its words, its bar and its numbers.
const ROW: i32 = 74;
const BAR: i32 = 22;

/// Draws the time of each launch by its stages.
///
/// # Errors
///
/// [`ChartError::Empty`] where no dispatch was timed by itself, [`ChartError::Draw`] where drawing
/// fails.
pub fn stages(family: &str, stacks: &[StageStack]) -> Result<String, ChartError> {
    let total = |stack: &StageStack| stack.stages.iter().map(|stage| stage.time.0).sum::<f64>();
    let longest = stacks.iter().map(total).fold(0.0, f64::max);
    if longest <= 0.0 {
        return Err(ChartError::Empty("stages"));
    }
    let mut names: Vec<&str> = Vec::new();
    for stage in stacks.iter().flat_map(|stack| &stack.stages) {
        if !names.contains(&stage.name.as_str()) {
            names.push(&stage.name);
        }
    }
    let rows = i32::try_from(stacks.len()).unwrap_or(i32::MAX);
    let title = format!("Time by stage, {family}");
    draw((WIDTH, rows.saturating_mul(ROW).saturating_add(TOP + 20)), &title, |canvas| {
        canvas.text(&title, (LEFT, 24), Anchor::Start, Font::plain(18).bold())?;
        let under =
            "medians of dispatches within their launch, less what their timestamps cost; µs";
        canvas.text(under, (LEFT, 46), Anchor::Start, Font::plain(13).colour(GREY))?;
        let mut x = LEFT;
        for (index, name) in names.iter().enumerate() {
            canvas.fill((x, 64), (x + 14, 78), series_colour(index))?;
            canvas.text(name, (x + 20, 71), Anchor::Start, Font::plain(13))?;
            x += 40 + Font::plain(13).width(name);
        }
        for (row, stack) in (0_i32..).zip(stacks) {
            bar(canvas, TOP + row * ROW, stack, &names, longest)?;
        }
        Ok(())
    })
}

fn bar(
    canvas: &Canvas<'_>,
    top: i32,
    stack: &StageStack,
    names: &[&str],
    longest: f64,
) -> Result<(), ChartError> {
    let StageStack { label, kernel, detail, stages, launch } = stack;
    let words = format!("{kernel}, {label}; {detail}");
    canvas.text(&words, (LEFT, top + 8), Anchor::Start, Font::plain(13).bold())?;
    #[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
    let place = |ns: f64| LEFT + (ns / longest * f64::from(WIDTH - LEFT - RIGHT)).round() as i32;
    let (from, mut done) = (top + 18, 0.0);
    for Stage { name, time } in stages {
        let index = names.iter().position(|known| known == name).unwrap_or(0);
        let (left, right) = (place(done), place(done + time.0));
        canvas.fill((left, from), (right.max(left + 1), from + BAR), series_colour(index))?;
        done += time.0;
    }
    canvas.line(vec![(LEFT, from), (LEFT, from + BAR)], INK, 1)?;
    let numbers: Vec<String> =
        stages.iter().map(|stage| format!("{} {:.1}", stage.name, stage.time.0 / 1e3)).collect();
    let sum =
        format!("{} = {:.1} µs; launch {:.1} µs", numbers.join(" + "), done / 1e3, launch.0 / 1e3);
    canvas.text(&sum, (LEFT, from + BAR + 12), Anchor::Start, Font::plain(12).colour(GREY))
}
