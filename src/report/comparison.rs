//! The page of a comparison: what differs, the whole on each device, and the two texts line by line.
//!
//! Input: compared launches. Output: the text of a page that needs no other file. Lines that are the
//! same in text and cost are left out but for those around a change, so that ten thousand lines make a
//! short page. Nothing is worked out here.

use minijinja::value::Serde;
use serde::Serialize;

use super::{ReportError, environment, table::TableText};
use crate::analyze::{Comparison, Figures, LaunchComparison, LinePart, Trend};
use crate::present::{self, Cell};

/// The template's name; its ending turns HTML escaping on.
const TEMPLATE: &str = "comparison.html";

/// Lines around a change that are shown.
const AROUND: usize = 3;

/// Kernels that are shown down to their lines.
const KERNELS_MAX: usize = 8;

/// Everything on the page.
#[derive(Debug, Serialize)]
struct Page {
    a: String,
    b: String,
    launches: Vec<LaunchText>,
    /// Machine code that was executed without its hardware in both.
    code: Option<TableText>,
    not_compared: Vec<String>,
}

/// One launch on all its devices.
#[derive(Debug, Serialize)]
struct LaunchText {
    name: String,
    differing: Vec<String>,
    devices: Vec<DeviceText>,
    rows: Vec<RowText>,
}

/// One device.
#[derive(Debug, Serialize)]
struct DeviceText {
    label: String,
    whole: TableText,
    verdicts: Vec<String>,
    parts: Vec<TableText>,
}

/// A line of either text, or how many are left out.
#[derive(Debug, Default, Serialize)]
struct RowText {
    /// `812 lines, the same in both`; empty for a line.
    left_out: String,
    a: String,
    b: String,
    /// `added`, `removed`, or empty.
    change: &'static str,
    /// What the line was, where it was changed.
    before: String,
    text: String,
    trend: &'static str,
    cells: Vec<CellText>,
}

/// A line on one device.
#[derive(Debug, Serialize)]
struct CellText {
    slots: String,
    idle: String,
    lanes: String,
    trend: &'static str,
}

/// Makes the page; `names` are those of A and B.
///
/// # Errors
///
/// [`ReportError::Template`], a fault of lanescope's own.
pub fn comparison_html(
    names: &[String; 2],
    comparison: &Comparison,
    launches: &[LaunchComparison],
) -> Result<String, ReportError> {
    let mut environment = environment()?;
    environment.add_template(TEMPLATE, include_str!("comparison.html"))?;
    let mut groups: Vec<Vec<&LaunchComparison>> = Vec::new();
    for launch in launches {
        // Devices of one pair of texts share the lines.
        let same = |group: &&mut Vec<&LaunchComparison>| {
            let first = group[0];
            first.kernels == launch.kernels
                && first.lines.len() == launch.lines.len()
                && first.lines.iter().zip(&launch.lines).all(|(a, b)| a.texts == b.texts)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(launch),
            None => groups.push(vec![launch]),
        }
    }
    let page = Page {
        a: names[0].clone(),
        b: names[1].clone(),
        launches: groups.iter().take(KERNELS_MAX).map(|group| launch(group)).collect(),
        code: present::compared_code(comparison).map(Into::into),
        not_compared: comparison.describe_not_compared(),
    };
    Ok(environment.get_template(TEMPLATE)?.render(Serde(page))?)
}

fn launch(group: &[&LaunchComparison]) -> LaunchText {
    let mut differing: Vec<String> = Vec::new();
    for sentence in group.iter().flat_map(|launch| &launch.differing) {
        if !differing.contains(sentence) {
            differing.push(sentence.clone());
        }
    }
    let [a, b] = &group[0].kernels;
    LaunchText {
        name: if a == b { a.clone() } else { format!("{a} → {b}") },
        differing,
        devices: group.iter().map(|launch| device(launch)).collect(),
        rows: rows(group),
    }
}

fn device(launch: &LaunchComparison) -> DeviceText {
    // The page has every line below.
    let mut tables = present::launch_comparison(launch, 0).into_iter();
    let whole = tables.next().unwrap_or_else(|| present::Table::new("", []));
    DeviceText {
        label: present::device_text(launch),
        whole: whole.into(),
        verdicts: launch.verdicts.clone(),
        parts: tables.map(Into::into).collect(),
    }
}

fn rows(group: &[&LaunchComparison]) -> Vec<RowText> {
    let count = group[0].lines.len();
    let changed = |index: usize| {
        group.iter().any(|launch| {
            let line = &launch.lines[index];
            !line.line.same_text || line.changed
        })
    };
    let mut shown = vec![false; count];
    for index in (0..count).filter(|index| changed(*index)) {
        let around = index.saturating_sub(AROUND)..(index + AROUND + 1).min(count);
        shown[around].fill(true);
    }
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (index, shown) in shown.into_iter().enumerate() {
        if shown {
            rows.extend(fold(&mut left_out));
            rows.push(row(group, index));
        } else {
            left_out += 1;
        }
    }
    rows.extend(fold(&mut left_out));
    rows
}

/// The row of lines that are left out; `None` if there are none.
fn fold(left_out: &mut usize) -> Option<RowText> {
    let count = std::mem::take(left_out);
    let text = format!("{}, the same in both", present::count_text(count as u128, "line"));
    (count > 0).then(|| RowText { left_out: text, ..RowText::default() })
}

fn row(group: &[&LaunchComparison], index: usize) -> RowText {
    let line = &group[0].lines[index];
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let [a, b] = &line.texts;
    let changed = a.is_some() && b.is_some() && !line.line.same_text;
    let worst = group
        .iter()
        .map(|launch| launch.lines[index].trend)
        .fold(Trend::Same, |trend, two| if two == Trend::Same { trend } else { two });
    RowText {
        left_out: String::new(),
        a: number(line.line.a),
        b: number(line.line.b),
        change: match (a, b) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "",
        },
        before: a.clone().filter(|_| changed).unwrap_or_default(),
        text: b.clone().or_else(|| a.clone()).unwrap_or_default(),
        trend: worst.name(),
        cells: group.iter().map(|launch| cell(&launch.lines[index])).collect(),
    }
}

fn cell(line: &LinePart) -> CellText {
    if line.figures.iter().all(Option::is_none) {
        let none = String::new;
        return CellText { slots: none(), idle: none(), lanes: none(), trend: "" };
    }
    let both = |cell: &dyn Fn(&Figures) -> Cell| {
        let [a, b] = line.figures.map(|side| side.as_ref().map_or_else(Cell::none, cell).to_text());
        // Where there is no room for both in a line, the second begins one.
        if a == b { a } else { format!("{a} →\u{a0}{b}") }
    };
    CellText {
        slots: both(&|figures| Cell::from_option(figures.lane_slots, Cell::Count)),
        idle: both(&|figures| Cell::from_option(figures.lane_slots_idle, Cell::Count)),
        lanes: both(&|figures| Cell::from_option(figures.active_lanes_mean, Cell::Lanes)),
        trend: if line.trend == Trend::Same { "" } else { line.trend.name() },
    }
}
