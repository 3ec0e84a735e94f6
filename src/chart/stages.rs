//! The figure of a launch's time by its stages: a bar a launch, stacked.
//!
//! Input: a sheet of `analyze`. Output: SVG; every part has its number in words. All bars have one scale,
//! so that their lengths compare; launches of one device and size stand together below their heading.

use crate::units::{Nanoseconds, Ratio, text};
use std::collections::BTreeSet;

use super::ChartError;
use super::bars::WIDTH;
use super::canvas::{Anchor, Canvas, Colour, Font, GREY, INK, draw, series_colour};
use crate::analyze::{SIZE, StageSheet, StageStack, StageTime, parameters_text, short_name};

const LEFT: i32 = 16;
const RIGHT: i32 = 24;
/// Where the first bar's words begin, but for the lines below the title.
const TOP: i32 = 64;
/// The height of a line below the title, and its font.
const LINE: i32 = 16;
const SMALL: Font = Font { size: 12, bold: false, colour: INK };
/// Height of a launch: its words and its bar; and of the heading of a size.
const ROW: i32 = 38;
const HEADING: i32 = 28;
const BAR: i32 = 14;

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
    let shared = shared_parameters(&sheet.stacks.iter().collect::<Vec<_>>());
    let groups = groups(sheet, &shared);
    let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX / 4096);
    let title = format!("Time by stage, {family}");
    let exceeds = |stack: &StageStack| !excess(total(stack), stack.launch.0).is_empty();
    let mut lines = [wrap(&scale_words(&shared)), wrap(&left_out(sheet))].concat();
    if sheet.stacks.iter().any(exceeds) {
        lines.push(OVERLAPS.to_owned());
    }
    let top = TOP + LINE * count(lines.len());
    let height = |group: &Group| {
        group.stacks.iter().map(|stack| row_height(stack, &group.shared)).sum::<i32>()
    };
    let rows: i32 = groups.iter().map(height).sum();
    let height = rows + count(groups.len()) * HEADING;
    draw((WIDTH, top + height + 12), &title, |canvas| {
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
        let mut y = top;
        for Group { heading, shared, stacks } in &groups {
            canvas.text(heading, (LEFT, y + 14), Anchor::Start, Font::plain(13).bold())?;
            y += HEADING;
            for stack in stacks {
                bar(canvas, y, stack, shared, &names, longest)?;
                y += row_height(stack, shared);
            }
        }
        Ok(())
    })
}

/// Why stages may take longer than their launch.
const OVERLAPS: &str =
    "Each stage is timed by itself; in the launch stages overlap, so that their sum can exceed it.";

/// The launches of a device and size.
struct Group<'a> {
    /// The device, the size, and what of the parameters these launches share and not those of all groups.
    heading: String,
    /// The parameters that no launch of the group needs to name.
    shared: Vec<String>,
    /// The longest launch first.
    stacks: Vec<&'a StageStack>,
}

/// The launches of each device and size, in the order of the sheet; `everywhere` is what those of all groups share.
fn groups<'a>(sheet: &'a StageSheet, everywhere: &[String]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for stack in &sheet.stacks {
        let size = stack.parameters.get(SIZE).map(|size| format!(", {SIZE} = {size}"));
        let heading = format!("{}{}", stack.label, size.unwrap_or_default());
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.stacks.push(stack),
            None => {
                groups.push(Group { heading, shared: everywhere.to_vec(), stacks: vec![stack] })
            }
        }
    }
    for group in &mut groups {
        group.stacks.sort_by(|a, b| total(b).total_cmp(&total(a)));
        if group.stacks.len() > 1 {
            let of_group = shared_parameters(&group.stacks);
            let parts: Vec<String> =
                of_group.into_iter().filter(|part| !everywhere.contains(part)).collect();
            if !parts.is_empty() {
                group.heading += &format!("; {}", parts.join(", "));
                group.shared.extend(parts);
            }
        }
    }
    groups
}

/// The parameters of a launch but its size.
fn parameters(stack: &StageStack) -> Vec<String> {
    let words = parameters_text(&stack.parameters, &[SIZE]);
    words.split(", ").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The parameters that all of these launches share, but their size.
fn shared_parameters(stacks: &[&StageStack]) -> Vec<String> {
    let Some(first) = stacks.first() else { return Vec::new() };
    let mut shared = parameters(first);
    shared.retain(|part| stacks.iter().all(|stack| parameters(stack).contains(part)));
    shared
}

/// The kernel of a launch, and those of its parameters that not all share.
fn distinct_words(stack: &StageStack, shared: &[String]) -> String {
    let mut parameter = parameters(stack);
    parameter.retain(|part| !shared.contains(part));
    let kernel = short_name(&stack.kernel);
    if parameter.is_empty() {
        kernel.to_owned()
    } else {
        format!("{kernel} ({})", parameter.join(", "))
    }
}

fn total(stack: &StageStack) -> f64 {
    stack.stages.iter().map(|stage| stage.time.0).sum()
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
fn scale_words(shared: &[String]) -> Vec<String> {
    let first = "medians of dispatches within their launch, less what their timestamps cost, in µs";
    let mut words = vec![first.to_owned(), "one scale for all bars".to_owned()];
    if !shared.is_empty() {
        words.push(format!("all with {}", shared.join(", ")));
    }
    words
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

/// The kernel of a launch with what parameters it has of its own; and its times in numbers.
fn words(stack: &StageStack, shared: &[String]) -> (String, String) {
    let StageStack { stages, launch, label: _, kernel: _, parameters: _, unusual: _ } = stack;
    let done = total(stack);
    let number = |stage: &StageTime| format!("{} {}", stage.name, text::microseconds(stage.time));
    let numbers: Vec<String> = stages.iter().map(number).collect();
    let sum = format!(
        "{} = {}; launch {}{}",
        numbers.join(" + "),
        text::microseconds(Nanoseconds(done)),
        text::microseconds(*launch),
        excess(done, launch.0)
    );
    (distinct_words(stack, shared), sum)
}

/// Whether both stand in one line.
fn fits(words: &str, sum: &str) -> bool {
    SMALL.bold().width(words) + 14 + SMALL.width(sum) <= WIDTH - LEFT - RIGHT
}

/// The height of a launch.
fn row_height(stack: &StageStack, shared: &[String]) -> i32 {
    let (words, sum) = words(stack, shared);
    if fits(&words, &sum) { ROW } else { ROW + LINE }
}

/// Draws a launch: its words and numbers, and below them its bar.
fn bar(
    canvas: &Canvas<'_>,
    top: i32,
    stack: &StageStack,
    shared: &[String],
    names: &[(&str, Colour)],
    longest: f64,
) -> Result<(), ChartError> {
    #[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
    let place = |ns: f64| LEFT + (ns / longest * f64::from(WIDTH - LEFT - RIGHT)).round() as i32;
    let bold = SMALL.bold();
    let (words, sum) = words(stack, shared);
    canvas.text(&words, (LEFT, top + 6), Anchor::Start, bold)?;
    let beside = LEFT + bold.width(&words) + 14;
    let mut at = (beside, top + 6);
    if !fits(&words, &sum) {
        at = (LEFT, top + 6 + LINE);
    }
    canvas.text(&sum, at, Anchor::Start, SMALL.colour(GREY))?;
    let (from, mut done) = (at.1 + 9, 0.0);
    for stage in &stack.stages {
        let (left, right) = (place(done), place(done + stage.time.0));
        let colour = names.iter().find(|(name, _)| *name == stage.name);
        let colour = colour.map_or(INK, |(_, colour)| *colour);
        canvas.fill((left, from), (right.max(left + 1), from + BAR), colour)?;
        done += stage.time.0;
    }
    canvas.line(vec![(LEFT, from), (LEFT, from + BAR)], INK, 1)
}

/// By how much the stages exceed their launch, where that is seen in the numbers.
fn excess(sum: f64, launch: f64) -> String {
    let more = sum - launch;
    if more / 1e3 < 0.05 || more < 0.001 * launch {
        return String::new();
    }
    format!(
        "; the sum exceeds it by {} ({})",
        Nanoseconds(more),
        text::percent(Ratio(more / launch))
    )
}
