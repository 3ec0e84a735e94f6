//! The page's part on what a second width costs.
//!
//! Input: a profile. Output: text; nothing where the two simulators that are compared did not both count.

use serde::Serialize;

use crate::analyze::{Profile, WIDTHS_COMPARED, WidthProfile};
use crate::units::grouped_text;

/// What 64 lanes cost over 32.
#[derive(Debug, Serialize)]
pub(super) struct WidthsText {
    title: String,
    sentences: Vec<String>,
    /// The widths in words, the heads of the shapes' columns.
    widths: [String; 2],
    shapes: Vec<ShapeText>,
    /// Whether the wider adds to any line what can be shown.
    added: bool,
}

/// A shape of workgroup.
#[derive(Debug, Serialize)]
struct ShapeText {
    name: String,
    lane_slots: [String; 2],
    own: bool,
}

/// Words what a profile says of two widths.
pub(super) fn widths(profile: &Profile) -> Option<WidthsText> {
    let found = WidthProfile::from_profile(profile)?;
    let [narrow, wide] = WIDTHS_COMPARED;
    let shape = |(index, shape): (usize, &crate::analyze::ShapeCost)| ShapeText {
        name: shape.name(),
        lane_slots: shape.lane_slots.map(grouped_text),
        own: index == 0,
    };
    Some(WidthsText {
        title: format!("{wide} lanes over {narrow}"),
        sentences: found.sentences(),
        added: !found.added_shown().is_empty(),
        widths: WIDTHS_COMPARED.map(|width| format!("lane slots at {width} lanes")),
        shapes: found.shapes.iter().enumerate().map(shape).collect(),
    })
}
