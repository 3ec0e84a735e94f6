//! References of the family `reconvergence`.
//!
//! Input: a launch, and of what the machine may choose what it chose. Output: its expected elements.

use super::shuffle::words as exact;
use super::subgroup_layout;
use super::{By, Expected, Outputs, choice, count, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("reconvergence/ping_pong", By::Launch(ping_pong)),
    ("reconvergence/spin_lock", By::Launch(spin_lock)),
    ("reconvergence/join", By::Outputs(join)),
    ("reconvergence/bounded_lock", By::Outputs(bounded_lock)),
];

/// Those that need what was written.
/// Invocations of each kernel.
const INVOCATIONS: usize = 512;

/// Lanes of a warp.
const LANES: u32 = 32;

/// Each of the two lanes makes all its turns, the others none.
fn ping_pong(launch: &Launch) -> Result<Expected, String> {
    let turns = u32::try_from(count(launch, "turns")?).map_err(|error| error.to_string())?;
    let lanes = (0..LANES).map(|lane| if lane < 2 { turns } else { 0 });
    let made = lanes.cycle().take(INVOCATIONS).collect();
    Ok(Expected::from([("turns_made".to_owned(), exact(made))]))
}

/// Every lane gets its warp's lock, one at a time.
fn spin_lock(_: &Launch) -> Result<Expected, String> {
    let warps = INVOCATIONS / LANES as usize;
    let guarded = ("guarded".to_owned(), exact(vec![LANES; warps]));
    Ok(Expected::from([guarded, ("got".to_owned(), exact(vec![1; INVOCATIONS]))]))
}

/// A lane that has the lock polled less often than it may, and one that has not, just so often.
fn bounded_lock(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let most = u32::try_from(count(launch, "polls")?).map_err(|error| error.to_string())?;
    let (got, polls) =
        (subgroup_layout::words(outputs, "got")?, subgroup_layout::words(outputs, "polls_made")?);
    let each = || got.iter().zip(&polls);
    let expected_got = each().map(|(_, polls)| u32::from(*polls < most)).collect();
    let expected_polls = each().map(|(got, polls)| match (got, *polls < most) {
        (1, true) => *polls,
        _ => most,
    });
    let polls = ("polls_made".to_owned(), exact(expected_polls.collect()));
    Ok(Expected::from([("got".to_owned(), exact(expected_got)), polls]))
}

/// So many steps of the kernel's generator, in closed form: the two numbers by which a step multiplies
/// and adds, composed with themselves.
fn step_by(value: u32, trips: u32) -> u32 {
    let (mut scale, mut shift) = (1_u32, 0_u32);
    for _ in 0..trips {
        scale = scale.wrapping_mul(1_664_525);
        shift = shift.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    value.wrapping_mul(scale).wrapping_add(shift)
}

fn value(shape: &str, given: u32) -> Result<u32, String> {
    let odd = given % 2 == 1;
    Ok(match shape {
        "if_else" if odd => step_by(given, given % 37),
        "if_else" => !step_by(given, given % 11),
        "nested_if" if odd => {
            let outer = step_by(given, given % 37);
            if given % 3 == 1 { !step_by(outer, given % 5) } else { outer }
        }
        "nested_if" if given % 3 == 2 => !step_by(given, given % 11),
        "nested_if" => given,
        "loop_break" => {
            let mut after = (1..=64).map(|trips| step_by(given, trips));
            let first = after.find(|value| value >> 28 == 3);
            first.unwrap_or_else(|| step_by(given, 64))
        }
        "early_continue" => {
            step_by(given, (given & 0xff).count_zeros().saturating_sub(24) * (given % 7))
        }
        other => return Err(format!("the reference knows no shape `{other}`")),
    })
}

fn join(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let shape = choice(launch, "shape")?;
    let input = words(launch, "input")?;
    let values =
        input.iter().map(|given| value(shape, *given)).collect::<Result<Vec<u32>, String>>()?;
    let mut votes = Vec::new();
    for warp in values.chunks(LANES as usize) {
        let vote = warp.iter().zip(0..).fold(0, |vote, (value, lane)| vote | (value % 2) << lane);
        votes.extend(warp.iter().map(|_| vote));
    }
    let mut expected =
        Expected::from([("votes".to_owned(), exact(votes)), ("values".to_owned(), exact(values))]);
    for name in ["joined", "synced"] {
        let found = subgroup_layout::words(outputs, name)?;
        let with_lane = |(mask, lane): (&u32, u32)| mask | 1 << lane;
        let with_own = found.iter().zip((0..LANES).cycle()).map(with_lane).collect();
        expected.insert(name.to_owned(), exact(with_own));
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_in_closed_form_are_steps() {
        let mut value = 12_345_u32;
        for trips in 0..40 {
            assert_eq!(step_by(12_345, trips), value, "{trips}");
            value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        // Of the bits 0b1010, six of eight trips are made.
        assert_eq!(super::value("early_continue", 10).unwrap(), step_by(10, 6 * 3));
        assert!(super::value("spiral", 1).is_err());
    }
}
