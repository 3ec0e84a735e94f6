//! The terminal's view of what accesses to memory cost in a model.
//!
//! Input: one device's part of a profile. Output: text, a row for each line that takes more than it must;
//! empty where nobody looked at its memory.

use super::Look;
use crate::analyze::{DeviceProfile, MemoryRow, memory_view};
use crate::present;
use crate::present::fit::fold;

/// Writes the lines that take more of memory than they must, and what subgroups wait for one another.
pub(super) fn memory(device: &DeviceProfile, look: Look) -> String {
    let Some(mut view) = memory_view(device) else { return String::new() };
    let sentences = view.sentences();
    let generated = if view.is_generated() { ", of generated data" } else { "" };
    let all = view.rows.len();
    view.rows.retain(MemoryRow::is_costly);
    view.waits.retain(|wait| wait.waited_operations > 0);
    if all == 0 && sentences.is_empty() {
        return String::new();
    }
    let label = &device.column.label;
    let mut text =
        look.heading(&format!("Memory on {label}, in a model of no particular machine{generated}"));
    if !view.rows.is_empty() {
        text += &present::memory_table(&view).to_text(look.columns);
        text.push('\n');
    }
    let others = all - view.rows.len();
    let good = match (others, all) {
        (1, 1) => "The only access takes no more than it must: the page shows it.".to_owned(),
        _ => format!(
            "{others} of {all} accesses (by line and memory) {} must: the page shows all of them.",
            if others == 1 { "takes no more than it" } else { "take no more than they" }
        ),
    };
    let least =
        "1.000×: no more sectors of 32 bytes and cache lines of 128 than the least possible.";
    if view.rows.iter().any(|row| row.sectors.is_some()) {
        text += &format!("{}\n", look.faint(&fold(&format!("  {least}"), "  ", look.columns)));
    }
    for sentence in (others > 0).then_some(good).into_iter().chain(sentences) {
        text += &format!("{}\n", look.faint(&fold(&sentence, "  ", look.columns)));
    }
    if !view.waits.is_empty() {
        text += &look.heading(&format!("What subgroups wait at barriers on {label}"));
        text += &present::waits_table(&view.waits).to_text(look.columns);
        text.push('\n');
    }
    text
}
