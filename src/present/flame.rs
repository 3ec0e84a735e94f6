//! Totals by dispatch, function and call site: tables, boxes of a flame chart, and speedscope's file.
//!
//! Input: frames. Output: [`Table`]s, [`FlameBox`]es in parts of the whole, and JSON. The length of a box is
//! its subgroup operations; its idle share is for the colour.

use indexmap::IndexSet;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Cell, Column, Table};
use crate::analyze::{self, CallFrame, DeviceProfile, Work};
use crate::units::{Ratio, Width, text};

/// The address of the schema that a speedscope file names, as speedscope publishes it.
const SPEEDSCOPE_SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The deepest row of a flame chart.
const DEPTH_MAX: usize = 12;

/// The shortest box that is drawn, in percent of the whole.
const LENGTH_MIN: f64 = 0.2;

/// A box of a flame chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlameBox {
    /// Its name.
    pub name: String,
    /// Its row, from 0, the dispatches.
    pub depth: usize,
    /// Where it begins, in percent of the whole.
    pub begin: String,
    /// How long it is, in percent of the whole.
    pub length: String,
    /// How much of it is idle, in percent.
    pub idle: String,
    /// Its figures in words.
    pub detail: String,
}

/// The totals of a device: its dispatches and its functions, where there are several, and the places from
/// which a function is called, where one is called from several.
pub fn totals(device: &DeviceProfile) -> Vec<Table> {
    let mut tables = Vec::new();
    let dispatches = analyze::frames(&device.dispatches);
    if dispatches.len() > 1 {
        let mut table = Table::new("By dispatch", columns("dispatch", true));
        for (frame, dispatch) in dispatches.iter().zip(&device.dispatches) {
            let mut row = row(device, &frame.name, frame.total);
            row.push(Cell::time(dispatch.median_ns, dispatch.ci95_ns));
            table.rows.push(row);
        }
        tables.push(table.without_empty(&["time"]));
    }
    let functions = analyze::by_function(&device.dispatches);
    if functions.len() > 1 {
        let mut table = Table::new("By function", columns("function", false));
        table.rows.extend(functions.iter().map(|(name, work)| row(device, name, *work)));
        tables.push(table);
    }
    let sites = analyze::by_call_site(&device.dispatches);
    if !sites.is_empty() {
        let mut columns = columns("function", false);
        columns.insert(1, Column::words("called from"));
        let mut table = Table::new("By call site, with what each calls", columns);
        for (site, work) in &sites {
            let mut row = row(device, &site.function, *work);
            row.insert(1, Cell::text(site.from.to_string()));
            table.rows.push(row);
        }
        tables.push(table);
    }
    tables
}

fn columns(what: &str, timed: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::words(what),
        Column::figures("subgroup operations"),
        Column::figures("of all"),
        Column::figures("active lanes"),
        Column::figures("idle lane slots"),
    ];
    if timed {
        columns.push(Column::figures("time").with_notes());
    }
    columns
}

fn row(device: &DeviceProfile, name: &str, work: Work) -> Vec<Cell> {
    let width = device.column.width;
    let slots = width.map(|width| work.lane_slots(width));
    vec![
        Cell::text(name),
        Cell::Count(work.subgroup_operations),
        Cell::from_option(part(work, device.column.work), |share| Cell::Percent(Ratio(share))),
        Cell::from_option(work.active_lanes_mean(), Cell::Lanes),
        Cell::from_option(slots, |slots| Cell::Count(slots.saturating_sub(work.lane_operations))),
    ]
}

/// One work's subgroup operations over another's.
#[expect(clippy::cast_precision_loss, reason = "a share is shown to a few digits")]
fn part(work: Work, whole: Work) -> Option<f64> {
    let whole = whole.subgroup_operations;
    (whole > 0).then(|| work.subgroup_operations as f64 / whole as f64)
}

/// The boxes of a device's flame chart; empty where the record does not know functions.
pub fn flame_boxes(device: &DeviceProfile) -> Vec<FlameBox> {
    let frames = analyze::frames(&device.dispatches);
    let whole = frames.iter().fold(Work::default(), |sum, frame| sum.plus(frame.total));
    let mut boxes = Vec::new();
    if frames.iter().any(|frame| !frame.children.is_empty()) {
        lay(&frames, (0, 0.0), whole, device.column.width, &mut boxes);
    }
    boxes
}

fn lay(
    frames: &[CallFrame],
    (depth, begin): (usize, f64),
    whole: Work,
    width: Option<Width>,
    boxes: &mut Vec<FlameBox>,
) {
    let mut begin = begin;
    for frame in frames {
        let length = part(frame.total, whole).unwrap_or(0.0) * 100.0;
        if length >= LENGTH_MIN && depth < DEPTH_MAX {
            let efficiency = frame.total.active_lanes_mean().zip(width);
            let idle =
                efficiency.map_or(0.0, |(mean, width)| 1.0 - mean / f64::from(width.lanes()));
            let operations =
                super::count_text(frame.total.subgroup_operations, "subgroup operation");
            boxes.push(FlameBox {
                name: frame.name.clone(),
                depth,
                begin: format!("{begin:.2}"),
                length: format!("{length:.2}"),
                idle: format!("{:.0}", idle * 100.0),
                detail: format!(
                    "{}: {operations} ({} of all), {} of the lane slots idle",
                    frame.name,
                    text::percent(Ratio(length / 100.0)),
                    text::percent(Ratio(idle))
                ),
            });
            lay(&frame.children, (depth + 1, begin), whole, width, boxes);
        }
        begin += length;
    }
}

/// The profile of a device as a file of speedscope: stacks of dispatch, functions and line, weighed by
/// subgroup operations, and again by idle lane slots.
pub fn speedscope(name: &str, devices: &[DeviceProfile]) -> Value {
    let mut names: IndexSet<String> = IndexSet::new();
    let mut profiles = Vec::new();
    for device in devices.iter().filter(|device| !device.lines.is_empty()) {
        let mut stacks: Vec<(Vec<usize>, Work)> = Vec::new();
        for frame in analyze::frames(&device.dispatches) {
            stack(&frame, &[], &mut names, &mut stacks);
        }
        let id = &device.column.device;
        let operations = |work: Work| work.subgroup_operations;
        profiles.push(sampled_profile(&format!("{id}: subgroup operations"), &stacks, operations));
        if let Some(width) = device.column.width {
            let idle = |work: Work| work.lane_slots(width).saturating_sub(work.lane_operations);
            profiles.push(sampled_profile(&format!("{id}: idle lane slots"), &stacks, idle));
        }
    }
    let frames: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "$schema": SPEEDSCOPE_SCHEMA,
        "name": name,
        "exporter": format!("lanescope {}", env!("CARGO_PKG_VERSION")),
        "shared": { "frames": frames },
        "profiles": profiles,
    })
}

/// Adds the lines of a frame and of those under it, each with its stack.
fn stack(
    frame: &CallFrame,
    above: &[usize],
    names: &mut IndexSet<String>,
    stacks: &mut Vec<(Vec<usize>, Work)>,
) {
    let (place, _) = names.insert_full(frame.name.clone());
    let path = [above, &[place]].concat();
    for (line, work) in &frame.lines {
        let (leaf, _) = names.insert_full(format!("line {line}"));
        stacks.push(([&path[..], &[leaf]].concat(), *work));
    }
    for child in &frame.children {
        stack(child, &path, names, stacks);
    }
}

fn sampled_profile(
    name: &str,
    stacks: &[(Vec<usize>, Work)],
    weight: impl Fn(Work) -> u128,
) -> Value {
    let weighed: Vec<(&Vec<usize>, u64)> = stacks
        .iter()
        .map(|(stack, work)| (stack, u64::try_from(weight(*work)).unwrap_or(u64::MAX)))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    let total = weighed.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight));
    json!({
        "type": "sampled",
        "name": name,
        "unit": "none",
        "startValue": 0,
        "endValue": total,
        "samples": weighed.iter().map(|(stack, _)| stack).collect::<Vec<_>>(),
        "weights": weighed.iter().map(|(_, weight)| weight).collect::<Vec<_>>(),
    })
}
