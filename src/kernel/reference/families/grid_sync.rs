//! References of the family `grid_sync`.
//!
//! Input: a launch, and of an ordinary launch which workgroups gave up. Output: its expected elements.

use super::shuffle::words as exact;
use super::subgroup_layout;
use super::{By, Expected, Outputs, count, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("grid_sync/two_dispatches", By::Launch(two_dispatches)),
    ("grid_sync/barrier", By::Outputs(barrier)),
];

/// Those that need what was written.
/// Workgroups of 128 invocations that no GPU holds at once: multiprocessors hold 32 at most, and the
/// largest GPUs have fewer than 200.
const TOO_MANY: usize = 16_384;

/// Invocations of a workgroup.
const WORKGROUP: usize = 128;

/// A workgroup came through the barrier.
const THROUGH: u32 = 1;

/// A workgroup gave up.
const GAVE_UP: u32 = 2;

/// What phase 2 makes of what phase 1 made of the input.
fn sums(launch: &Launch) -> Result<Vec<u32>, String> {
    let input = words(launch, "input")?;
    let n = input.len();
    let middle = |index: usize| 2 * input[index % n] + 1;
    Ok((0..n).map(|index| middle(index + n - 1) + middle(index) + middle(index + 1)).collect())
}

fn two_dispatches(launch: &Launch) -> Result<Expected, String> {
    Ok(Expected::from([("output".to_owned(), exact(sums(launch)?))]))
}

fn barrier(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let workgroups = count(launch, "workgroups")?;
    let too_many = workgroups >= TOO_MANY;
    let outcome: Vec<u32> = match (too_many, count(launch, "cooperative")? != 0) {
        // The driver lets nothing run of what cannot all run.
        (true, true) => vec![0; workgroups],
        // Who gave up, the device says; that somebody must have, is known.
        (true, false) => {
            let found = subgroup_layout::words(outputs, "outcome")?;
            let each = found.iter().take(workgroups);
            let mut outcome: Vec<u32> =
                each.map(|word| if *word == GAVE_UP { GAVE_UP } else { THROUGH }).collect();
            if !outcome.contains(&GAVE_UP) {
                outcome.fill(GAVE_UP);
            }
            outcome
        }
        (false, _) => vec![THROUGH; workgroups],
    };
    let sums = sums(launch)?.into_iter().enumerate();
    let kept = sums.map(|(index, sum)| if outcome[index / WORKGROUP] == THROUGH { sum } else { 0 });
    let outputs =
        [("output".to_owned(), exact(kept.collect())), ("outcome".to_owned(), exact(outcome))];
    Ok(Expected::from(outputs))
}
