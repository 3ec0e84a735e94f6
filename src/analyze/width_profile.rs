//! What a second width makes of one shader: its cost in lane slots, the lines to blame, and what shapes of
//! workgroups would make of it.
//!
//! Input: a profile with the two simulators that are compared. Output: [`WidthProfile`]. Shapes were
//! tried when the shader was counted; nothing is run here.

use std::collections::BTreeMap;

use super::counts::ratio;
use super::profile::{DeviceProfile, Profile};
use super::width_costs::WIDTHS_COMPARED;
use crate::units::{Ratio, Width, text};

/// The least part of all lane slots at the narrow width that a line must add to be blamed.
const BLAMED_MIN: f64 = 0.005;

/// The least that a line adds, as the same part, that is shown: less is 0.0 %.
const ADDED_MIN: f64 = 0.0005;

/// The least saving with which another shape is named.
const SAVING_MIN: f64 = 0.01;

/// A shader at both widths.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthProfile {
    /// Its lane slots at 32 and at 64 lanes.
    pub lane_slots: [u128; 2],
    /// The second over the first.
    pub ratio: f64,
    /// The lines that cost more at 64 lanes, the worst first.
    pub lines: Vec<BlamedLine>,
    /// What 64 lanes add to each line of the shader's own text, as a part of the shader's lane slots at 32 lanes;
    /// below 0 where it costs less.
    pub added: BTreeMap<u32, Ratio>,
    /// What each shape of workgroup costs, the shader's own first; empty where none was tried.
    pub shapes: Vec<ShapeCost>,
    /// Why no other shape was tried, a clause; `None` where some were.
    pub refused: Option<String>,
}

/// A line that costs more at 64 lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlamedLine {
    /// The line, from 1.
    pub line: u32,
    /// What it adds, as a part of the shader's lane slots at 32 lanes.
    pub share: f64,
    /// Its lane slots at 64 lanes over those at 32; `None` where it was not executed at 32.
    pub ratio: Option<f64>,
}

/// What a shape of workgroup costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeCost {
    /// Invocations along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Its lane slots at 32 and at 64 lanes.
    pub lane_slots: [u128; 2],
}

impl WidthProfile {
    /// Compares the two simulators of a profile; `None` where they did not both count.
    pub fn from_profile(profile: &Profile) -> Option<Self> {
        let [narrow, wide] = WIDTHS_COMPARED.map(|width| {
            let fits = |device: &&DeviceProfile| {
                device.simulated && device.column.width == Some(width) && !device.lines.is_empty()
            };
            profile.devices.iter().find(fits)
        });
        let (narrow, wide) = narrow.zip(wide)?;
        let of_file = |device: &DeviceProfile| {
            let here = device.lines.iter().filter(|line| line.file == profile.file);
            here.map(|line| line.line).collect::<Vec<_>>()
        };
        let lane_slots = [narrow, wide].map(slots);
        let [narrow_width, wide_width] = WIDTHS_COMPARED;
        let by_line = [slots_by_line(narrow, narrow_width), slots_by_line(wide, wide_width)];
        Some(Self {
            lane_slots,
            ratio: ratio(lane_slots[1], lane_slots[0])?,
            lines: find_blamed_lines(&by_line[0], wide, lane_slots[0]),
            added: [narrow, wide]
                .into_iter()
                .flat_map(of_file)
                .filter_map(|line| Some((line, find_added(&by_line, line, lane_slots[0])?)))
                .collect(),
            shapes: shapes(narrow, wide, lane_slots),
            refused: wide.shapes.as_ref().and_then(|shapes| shapes.refused.clone()),
        })
    }

    /// What 64 lanes add to the lines to which they add enough to be shown.
    pub fn added_shown(&self) -> BTreeMap<u32, Ratio> {
        let added = self.added.iter().filter(|(_, share)| share.0.abs() >= ADDED_MIN);
        added.map(|(line, share)| (*line, *share)).collect()
    }

    /// The shape that costs least at 64 lanes, where it saves something over the shader's own.
    pub fn better(&self) -> Option<&ShapeCost> {
        let as_launched = self.shapes.first()?;
        let least = self.shapes.iter().min_by_key(|shape| shape.lane_slots[1])?;
        let saved = 1.0 - ratio(least.lane_slots[1], as_launched.lane_slots[1])?;
        (saved >= SAVING_MIN).then_some(least)
    }

    /// What the comparison says, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let [narrow, wide] = WIDTHS_COMPARED;
        let change = self.ratio - 1.0;
        let mut sentences = vec![if change.abs() < 0.0005 {
            format!("{wide} lanes cost as many lane slots as {narrow}.")
        } else {
            let more = if change > 0.0 { "more" } else { "fewer" };
            let by = text::percent(Ratio(change.abs()));
            format!("{wide} lanes cost {by} {more} lane slots than {narrow}.")
        }];
        let line = |line: &BlamedLine| {
            format!("line {} ({})", line.line, text::signed_percent(Ratio(line.share)))
        };
        let lines: Vec<String> = self.lines.iter().take(3).map(line).collect();
        if !lines.is_empty() {
            sentences
                .push(format!("Mostly from {}; of all lane slots at {narrow}.", lines.join(", ")));
        }
        if let Some(why) = &self.refused {
            sentences.push(format!("No other shape of workgroup was tried: {why}."));
        }
        match (self.better(), self.shapes.first()) {
            (Some(better), Some(launched)) => {
                let saved = |at: usize| {
                    let share =
                        ratio(better.lane_slots[at], launched.lane_slots[at]).unwrap_or(1.0);
                    text::signed_percent(Ratio(share - 1.0))
                };
                sentences.push(format!(
                    "At {wide} lanes workgroups of {} would cost less than those of {}: {} lane slots; at \
                     {narrow} lanes {}. Tried on the simulator.",
                    better.name(),
                    launched.name(),
                    saved(1),
                    saved(0),
                ));
            }
            (None, Some(launched)) if self.shapes.len() > 1 => {
                let (tried, least) =
                    (self.shapes.len() - 1, text::whole_percent(Ratio(SAVING_MIN)));
                let shapes = if tried == 1 { "shape of workgroup" } else { "shapes of workgroup" };
                sentences.push(format!(
                    "Tried on the simulator: {tried} other {shapes}. At {wide} lanes, none saves {least} of \
                     the lane slots that workgroups of {} cost.",
                    launched.name()
                ));
            }
            _ => {}
        }
        sentences
    }
}

impl ShapeCost {
    /// The shape in words: `8 × 8`.
    pub fn name(&self) -> String {
        match self.workgroup_size {
            [x, 1, 1] => x.to_string(),
            [x, y, 1] => format!("{x} × {y}"),
            [x, y, z] => format!("{x} × {y} × {z}"),
        }
    }
}

fn slots(device: &DeviceProfile) -> u128 {
    device.column.width.map_or(0, |width| device.column.work.lane_slots(width))
}

/// The lane slots of each line of a device.
fn slots_by_line(device: &DeviceProfile, width: Width) -> BTreeMap<u32, u128> {
    let mut slots = BTreeMap::new();
    for line in &device.lines {
        slots.entry(line.line).or_insert_with(|| line.work.lane_slots(width));
    }
    slots
}

/// What the wide one adds to a line, as a part of all lane slots of the narrow one; `by_line` has those of both.
#[expect(clippy::cast_precision_loss, reason = "a share is shown to a few digits")]
fn find_added(by_line: &[BTreeMap<u32, u128>; 2], line: u32, all: u128) -> Option<Ratio> {
    let [before, after] = by_line.each_ref().map(|slots| slots.get(&line).copied().unwrap_or(0));
    (all > 0).then(|| Ratio((after as f64 - before as f64) / all as f64))
}

/// The lines whose lane slots rise, the one that adds most first.
fn find_blamed_lines(
    narrow: &BTreeMap<u32, u128>,
    wide: &DeviceProfile,
    all: u128,
) -> Vec<BlamedLine> {
    let [_, wide_width] = WIDTHS_COMPARED;
    let mut lines: Vec<BlamedLine> = wide
        .lines
        .iter()
        .filter_map(|line| {
            let after = line.work.lane_slots(wide_width);
            let before = narrow.get(&line.line).copied().unwrap_or(0);
            let share = ratio(after.checked_sub(before)?, all)?;
            let blamed = BlamedLine { line: line.line, share, ratio: ratio(after, before) };
            (share >= BLAMED_MIN).then_some(blamed)
        })
        .collect();
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    lines
}

/// The shader's own shape and those that both widths were tried in.
fn shapes(narrow: &DeviceProfile, wide: &DeviceProfile, sums: [u128; 2]) -> Vec<ShapeCost> {
    let (Some(narrow), Some(wide_shapes)) = (&narrow.shapes, &wide.shapes) else {
        return Vec::new();
    };
    let widths = WIDTHS_COMPARED.map(|width| u128::from(width.lanes()));
    let tried = wide_shapes.tried.iter().filter_map(|wide| {
        let same =
            |other: &&crate::record::ShapeCounts| other.workgroup_size == wide.workgroup_size;
        let narrow = narrow.tried.iter().find(same)?;
        let slots = |at: usize, operations: u64| widths[at] * u128::from(operations);
        Some(ShapeCost {
            workgroup_size: wide.workgroup_size,
            lane_slots: [slots(0, narrow.subgroup_operations), slots(1, wide.subgroup_operations)],
        })
    });
    let tried: Vec<ShapeCost> = tried.collect();
    let first = wide.dispatches.first().filter(|_| !tried.is_empty());
    let as_launched =
        first.map(|shape| ShapeCost { workgroup_size: shape.workgroup_size, lane_slots: sums });
    as_launched.into_iter().chain(tried).collect()
}
