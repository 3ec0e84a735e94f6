//! Outputs that were checked before: at another width, or with another schedule.
//!
//! Input: a launch, its outputs and their hashes. Output: whether they are right. Of one launch the same bytes are
//! as right as before, so that a reference is worked out once for all widths that agree.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::kernel::{Launch, reference};
use crate::run::Checked;

/// Launches whose verdicts are kept.
const KEPT_MAX: usize = 512;

/// The longest text of a launch whose verdict is kept.
const KEPT_SOURCE_MAX: usize = 1 << 15;

/// A launch, the hashes of its outputs, and whether they are right.
type Kept = (Launch, BTreeMap<String, String>, Checked);

/// The verdicts that were found last, the newest first.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// Checks the outputs of a launch, whose SHA-256 by name are `hashes`.
///
/// # Errors
///
/// As [`reference::check`].
pub(super) fn check(
    launch: &Launch,
    outputs: &BTreeMap<String, Vec<u8>>,
    hashes: &BTreeMap<String, String>,
) -> Result<Checked, String> {
    let is_kept = launch.reference.is_some()
        && launch.derived.is_none()
        && launch.after.is_empty()
        && launch.source.len() <= KEPT_SOURCE_MAX;
    if !is_kept {
        return reference::check(launch, outputs).map(Checked::from);
    }
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |(checked, known, _): &&Kept| {
        // What differs soonest is compared first.
        (&checked.kernel, &checked.parameters, checked.seed)
            == (&launch.kernel, &launch.parameters, launch.seed)
            && known == hashes
            && checked == launch
    };
    if let Some((_, _, checked)) = kept().iter().find(is_it) {
        return Ok(checked.clone());
    }
    let checked = Checked::from(reference::check(launch, outputs)?);
    let mut kept = kept();
    kept.push_front((launch.clone(), hashes.clone(), checked.clone()));
    kept.truncate(KEPT_MAX);
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Catalogue, DeviceClass, SEED, scalars};
    use crate::record::Output;
    use crate::run::launched::outputs_sha256;

    #[test]
    fn other_bytes_of_the_same_launch_are_checked_anew() {
        let catalogue = Catalogue::embedded().unwrap();
        let with_reference = |kernel: &crate::kernel::Kernel| {
            let launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).ok()?;
            let expected = reference::compute(&launch).ok()??;
            Some((launch, expected))
        };
        let (launch, expected) = catalogue.kernels().find_map(with_reference).unwrap();
        let bytes = |(name, elements): (&String, &Vec<reference::Element>)| {
            let scalar = launch.buffer(name).unwrap().scalar;
            let length = usize::try_from(scalar.bytes()).unwrap();
            let element = |element: &reference::Element| {
                scalars::encode(scalar, element.value).to_le_bytes()[..length].to_vec()
            };
            (name.clone(), elements.iter().flat_map(element).collect::<Vec<u8>>())
        };
        let right: BTreeMap<String, Vec<u8>> = expected.iter().map(bytes).collect();
        let mut wrong = right.clone();
        wrong.values_mut().next().unwrap()[..4].fill(0x7f);
        let other = Launch { seed: launch.seed + 1, ..launch.clone() };
        let verdict = |launch: &Launch, outputs| {
            check(launch, outputs, &outputs_sha256(outputs)).unwrap().output
        };
        for _ in 0..2 {
            assert_eq!(verdict(&launch, &right), Output::Verified);
            assert_eq!(verdict(&launch, &wrong), Output::Mismatch);
            assert_eq!(
                Checked::from(reference::check(&other, &right).unwrap()).output,
                verdict(&other, &right)
            );
        }
    }
}
