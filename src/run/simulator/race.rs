//! A data race in words.
//!
//! Input: a race that the simulator found. Output: a sentence.

use crate::simulate::{Race, Toucher};

/// A race in words, for a trap.
pub(super) fn race_text(race: &Race) -> String {
    let does = |toucher: &Toucher| if toucher.writes { "writes" } else { "reads" };
    let Race { first, second, .. } = race;
    format!(
        "data race: it {} what line {} {} (invocation {} of workgroup {} and invocation {} of workgroup \
         {}), with no barrier or atomic operation between",
        does(second),
        first.line,
        does(first),
        second.invocation,
        second.workgroup,
        first.invocation,
        first.workgroup
    )
}
