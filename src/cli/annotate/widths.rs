//! The terminal's view of what a second width costs.
//!
//! Input: a profile. Output: text; empty where the two simulators that are compared did not both count.

use std::collections::BTreeMap;

use super::Look;
use crate::analyze::{DeviceProfile, Profile, WIDTHS_COMPARED, WidthProfile};
use crate::present::fit::fold;
use crate::units::{Ratio, grouped_text};

/// The narrowest terminals that show beside each line what a second width adds.
const ROOM: usize = 80;

/// What stands beside the lines of the narrower simulator.
pub(super) fn beside() -> String {
    let [narrow, wide] = WIDTHS_COMPARED;
    format!(
        "the lane slots that {wide} lanes add to the line, as a part of the shader's at {narrow}"
    )
}

/// What the wider simulator adds to each line; `None` beside another device, where the two did not both count, where
/// no line costs other than at the narrower, and where there is no room.
pub(super) fn find_added(
    profile: &Profile,
    device: &DeviceProfile,
    look: Look,
) -> Option<BTreeMap<u32, Ratio>> {
    let narrow = device.simulated && device.column.width == Some(WIDTHS_COMPARED[0]);
    if !narrow || look.columns.is_some_and(|columns| columns < ROOM) {
        return None;
    }
    Some(WidthProfile::from_profile(profile)?.added_shown()).filter(|added| !added.is_empty())
}

/// Writes what 64 lanes cost over 32, which lines are to blame, and what other shapes of workgroups cost.
pub(super) fn widths(profile: &Profile, look: Look) -> String {
    let Some(found) = WidthProfile::from_profile(profile) else { return String::new() };
    let [narrow, wide] = WIDTHS_COMPARED;
    let mut text = look.heading(&format!("{wide} lanes over {narrow}"));
    for sentence in found.sentences() {
        text += &format!("{}\n", fold(&format!("  {sentence}"), "  ", look.columns));
    }
    if found.shapes.len() > 1 {
        text += &look.faint(&format!(
            "  {:<17} {:>14} {:>14}\n",
            "workgroup",
            format!("slots at {narrow}"),
            format!("slots at {wide}")
        ));
        for (index, shape) in found.shapes.iter().enumerate() {
            let note = if index == 0 { " (as it is)" } else { "" };
            let [narrow, wide] = shape.lane_slots.map(grouped_text);
            let name = shape.name() + note;
            text += &format!("  {name:<17} {narrow:>14} {wide:>14}\n");
        }
    }
    text
}
