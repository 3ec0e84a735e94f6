//! The terminal's view of what a second width costs.
//!
//! Input: a profile. Output: text; empty where the two simulators that are compared did not both count.

use super::Look;
use crate::analyze::{Profile, WIDTHS_COMPARED, WidthProfile};
use crate::present::fit::fold;
use crate::units::grouped_text;

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
