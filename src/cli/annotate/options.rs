//! What options would show that a profile leaves open.
//!
//! Input: a profile. Output: a line of text; empty where it leaves nothing open. What is left open is said
//! where it stands, by those who know no command line.

use super::Look;
use crate::analyze::{DeviceProfile, Profile, memory_view};
use crate::present::fit::fold;
use crate::record::{Refused, Tag, flag};

/// Writes which options show more.
pub(super) fn options(profile: &Profile, look: Look) -> String {
    let open: Vec<&str> = all(profile).collect();
    if open.is_empty() {
        return String::new();
    }
    let line = format!("Options that show more: {}", open.join("; "));
    format!("\n{}\n", look.faint(&fold(&line, "  ", look.columns)))
}

/// Each option that shows more, and what.
fn all(profile: &Profile) -> impl Iterator<Item = &'static str> {
    let any = |is_open: fn(&DeviceProfile) -> bool| profile.devices.iter().any(is_open);
    let hints = [
        (
            any(has_untried_changes) && any(has_unwatched_workgroups),
            "--what-if tries every change and watches every workgroup's memory",
        ),
        (
            any(has_untried_changes) && !any(has_unwatched_workgroups),
            "--what-if tries every change",
        ),
        (
            any(has_unwatched_workgroups) && !any(has_untried_changes),
            "--what-if watches every workgroup's memory",
        ),
        (
            any(is_of_one_schedule),
            "--schedules 8 shows how far other orders of workgroups move the figures",
        ),
        (any(has_too_many_invocations), "a smaller --n lets each invocation be followed"),
        (any(is_out_of_bounds), "--strict stops where an index is out of bounds"),
        (
            !profile.made_up_notes().is_empty() && profile.has_undescribed(),
            "--launch FILE.toml says what the data are (--init writes one)",
        ),
    ];
    hints.into_iter().filter_map(|(is_open, hint)| is_open.then_some(hint))
}

fn has_untried_changes(device: &DeviceProfile) -> bool {
    device.what_if.as_ref().is_some_and(|what_if| what_if.untried > 0)
}

fn has_unwatched_workgroups(device: &DeviceProfile) -> bool {
    memory_view(device).is_some_and(|view| view.workgroups[0] < view.workgroups[1])
}

fn is_of_one_schedule(device: &DeviceProfile) -> bool {
    // Two are what is tried where nobody asks for any.
    !device.schedule_lines().is_empty() && device.schedules.len() < 3
}

fn has_too_many_invocations(device: &DeviceProfile) -> bool {
    let trials = device.what_if.iter().flat_map(|what_if| &what_if.trials);
    trials.into_iter().any(|trial| trial.refused == Some(Refused::Invocations))
}

fn is_out_of_bounds(device: &DeviceProfile) -> bool {
    [Tag::ReadOutOfBounds, Tag::WriteOutOfBounds].iter().any(|tag| flag::has(&device.flags, tag))
}
