//! The figure of a launch's time by its stages: a bar a launch, stacked.
//!
//! Input: a sheet of `analyze`. Output: SVG; every part has its number in words. Where the longest
//! launch takes more than five times the shortest, each launch fills the sheet, and a thin line below
//! its bar says how long it is beside the longest of its size.

use std::collections::BTreeSet;

use super::ChartError;
use super::bars::WIDTH;
use super::canvas::{Anchor, Canvas, Colour, Font, GREY, INK, draw, series_colour};
use crate::analyze::{SIZE, StageSheet, StageStack, parameters_text};

const LEFT: i32 = 16;
const RIGHT: i32 = 24;
/// Where the first bar's words begin, but for the lines below the title.
const TOP: i32 = 64;
/// The height of a line below the title, and its font.
const LINE: i32 = 16;
const SMALL: Font = Font { size: 12, bold: false, colour: INK };
/// Height of a launch: its words, its bar, its thin line and its numbers.
const ROW: i32 = 80;
const BAR: i32 = 22;
/// Beyond this ratio of the longest to the shortest, launches have scales of their own.
const SCALE_RATIO_MAX: f64 = 5.0;

/// Draws the time of each launch by its stages.
///
/// # Errors
///
/// [`ChartError::Empty`] where no dispatch was timed by itself, [`ChartError::Draw`] where drawing
/// fails.
pub(super) fn stages(family: &str, sheet: &StageSheet) -> Result<String, ChartError> {
    let totals = || sheet.stacks.iter().map(total);
    let longest = totals().fold(0.0, f64::max);
    if longest <= 0.0 {
        return Err(ChartError::Empty("stages"));
    }
    let shared = longest <= SCALE_RATIO_MAX * totals().fold(f64::INFINITY, f64::min);
    let rows = i32::try_from(sheet.stacks.len()).unwrap_or(i32::MAX);
    let title = format!("Time by stage, {family}");
    let lines = [wrap(&scale_words(shared)), wrap(&left_out(sheet))].concat();
    let top = TOP + LINE * i32::try_from(lines.len()).unwrap_or(i32::MAX / LINE / 2);
    draw((WIDTH, rows.saturating_mul(ROW).saturating_add(top + 20)), &title, |canvas| {
        canvas.text(&title, (LEFT, 20), Anchor::Start, Font::plain(18).bold())?;
        for (place, line) in (0_i32..).zip(&lines) {
            canvas.text(line, (LEFT, 40 + place * LINE), Anchor::Start, SMALL.colour(GREY))?;
        }
        let names = names(sheet);
        let mut x = LEFT;
        for (name, colour) in &names {
            canvas.fill((x, top - 28), (x + 14, top - 14), *colour)?;
            canvas.text(name, (x + 20, top - 21), Anchor::Start, Font::plain(13))?;
            x += 40 + Font::plain(13).width(name);
        }
        for (row, stack) in (0_i32..).zip(&sheet.stacks) {
            let of_size = sheet.stacks.iter().filter(|other| same_size(stack, other)).map(total);
            let beside = total(stack) / of_size.fold(f64::MIN_POSITIVE, f64::max);
            let scale =
                if shared { Scale::Shared(longest) } else { Scale::Own(total(stack), beside) };
            bar(canvas, top + row * ROW, stack, &names, scale)?;
        }
        Ok(())
    })
}

/// What a bar's full width is, in nanoseconds.
#[derive(Clone, Copy)]
enum Scale {
    /// The longest launch.
    Shared(f64),
    /// This launch; and its time over that of the longest of its size.
    Own(f64, f64),
}

fn total(stack: &StageStack) -> f64 {
    stack.stages.iter().map(|stage| stage.time.0).sum()
}

fn same_size(one: &StageStack, other: &StageStack) -> bool {
    one.label == other.label && one.parameters.get(SIZE) == other.parameters.get(SIZE)
}

/// The stages of a sheet with their colours, by their place in its order; those that it does not name
/// come last.
fn names(sheet: &StageSheet) -> Vec<(&str, Colour)> {
    let all = || sheet.stacks.iter().flat_map(|stack| &stack.stages).map(|stage| &stage.name);
    let others: BTreeSet<&String> = all().filter(|name| !sheet.order.contains(name)).collect();
    let places = sheet.order.iter().chain(others).enumerate();
    let drawn = places.filter(|(_, known)| all().any(|name| name == *known));
    drawn.map(|(place, name)| (name.as_str(), series_colour(place))).collect()
}

/// What bars are, a sentence's part each.
fn scale_words(shared: bool) -> Vec<String> {
    let scale = if shared {
        &["one scale for all"][..]
    } else {
        &[
            "each bar is its whole launch",
            "the thin line below it: its time beside the longest of its size",
        ]
    };
    let first = "medians of dispatches within their launch, less what their timestamps cost";
    std::iter::once(&first).chain(scale).map(|part| (*part).to_owned()).collect()
}

/// Parts with semicolons between them, in lines that the sheet is wide enough for.
fn wrap(parts: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if SMALL.width(&format!("{line}; {part}")) <= WIDTH - LEFT - RIGHT => {
                *line += &format!("; {part}");
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

/// The most sizes that are named.
const SIZES_NAMED_MAX: usize = 6;

/// What the figure does not hold, in parts.
fn left_out(sheet: &StageSheet) -> Vec<String> {
    let StageSheet { stacks, unusual, between, sizes_between, unknown, order: _ } = sheet;
    let mut words = Vec::new();
    if *between > 0 {
        words.push(match sizes_between.as_slice() {
            [] => format!("{between} without a size"),
            sizes => format!("{between} at {SIZE} = {}", list_text(sizes)),
        });
    }
    if *unusual > 0 {
        words.push(format!("{unusual} of less usual parameters"));
    }
    if *unknown > 0 {
        words.push(format!("{unknown} whose dispatches exceed them by more than 30 %"));
    }
    if let Some(first) = words.first_mut() {
        *first = format!("not drawn: {first}");
        let all = stacks.len() + between + unusual + unknown;
        words.insert(0, format!("{} of {all} launches", stacks.len()));
    }
    words
}

/// Numbers with commas; of many the first and the last, and how many there are.
fn list_text(sizes: &[i64]) -> String {
    let text =
        |sizes: &[i64]| sizes.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ");
    match sizes {
        [first, .., last] if sizes.len() > SIZES_NAMED_MAX => {
            format!("{first} … {last} ({} sizes)", sizes.len())
        }
        few => text(few),
    }
}

fn bar(
    canvas: &Canvas<'_>,
    top: i32,
    stack: &StageStack,
    names: &[(&str, Colour)],
    scale: Scale,
) -> Result<(), ChartError> {
    let StageStack { label, kernel, parameters, stages, launch, unusual: _ } = stack;
    let words = format!("{kernel}, {label}; {}", parameters_text(parameters, &[]));
    canvas.text(&words, (LEFT, top + 8), Anchor::Start, Font::plain(13).bold())?;
    let full = match scale {
        Scale::Shared(full) | Scale::Own(full, _) => full,
    };
    #[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
    let place = |ns: f64| LEFT + (ns / full * f64::from(WIDTH - LEFT - RIGHT)).round() as i32;
    let (from, mut done) = (top + 18, 0.0);
    for stage in stages {
        let (left, right) = (place(done), place(done + stage.time.0));
        let colour = names.iter().find(|(name, _)| *name == stage.name);
        let colour = colour.map_or(INK, |(_, colour)| *colour);
        canvas.fill((left, from), (right.max(left + 1), from + BAR), colour)?;
        done += stage.time.0;
    }
    canvas.line(vec![(LEFT, from), (LEFT, from + BAR)], INK, 1)?;
    let under = from + BAR + 4;
    if let Scale::Own(full, beside) = scale {
        canvas.line(vec![(LEFT, under), (place(full * beside), under)], INK, 2)?;
    }
    let numbers: Vec<String> =
        stages.iter().map(|stage| format!("{} {:.1}", stage.name, stage.time.0 / 1e3)).collect();
    let sum = format!(
        "{} = {:.1} µs; launch {:.1} µs{}",
        numbers.join(" + "),
        done / 1e3,
        launch.0 / 1e3,
        excess(done, launch.0)
    );
    canvas.text(&sum, (LEFT, under + 12), Anchor::Start, SMALL.colour(GREY))
}

/// By how much the stages exceed their launch, where that is seen in the numbers.
fn excess(sum: f64, launch: f64) -> String {
    let more = sum - launch;
    if more / 1e3 < 0.05 || more < 0.001 * launch {
        return String::new();
    }
    format!("; the sum exceeds it by {:.1} µs ({:.1} %)", more / 1e3, more / launch * 100.0)
}
