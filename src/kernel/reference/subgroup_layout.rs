//! How a device formed subgroups, as a kernel wrote it down.
//!
//! Input: the output buffer `seats`: of each invocation the subgroup's size, the lane, the subgroup's
//! number in the workgroup, and a word that the kernel chooses. Output: the subgroups with their
//! members. What the device may choose freely (which invocation sits where) is taken from it; that it
//! seats them as WGSL promises is checked.

use std::collections::BTreeMap;

use super::Outputs;

/// The widest subgroup that WGSL allows, in lanes.
const LANES_MAX: u32 = 128;

/// One subgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subgroup {
    /// Its width, in lanes.
    pub(super) size: u32,
    /// Its members' invocation numbers, by lane.
    pub(super) members: BTreeMap<u32, usize>,
}

impl Subgroup {
    /// The invocation in a lane, where there is one.
    pub(super) fn at(&self, lane: u32) -> Option<usize> {
        self.members.get(&lane).copied()
    }

    /// The same without the members that `stays` leaves out.
    pub(super) fn only(&self, stays: impl Fn(usize) -> bool) -> Self {
        let members = self.members.iter().filter(|(_, index)| stays(**index));
        Self { size: self.size, members: members.map(|(lane, index)| (*lane, *index)).collect() }
    }

    /// The mask of the members for which `holds`, in four words.
    pub(super) fn mask(&self, holds: impl Fn(usize) -> bool) -> [u32; 4] {
        let mut mask = [0; 4];
        for (lane, index) in &self.members {
            if holds(*index) {
                mask[(lane / 32) as usize] |= 1 << (lane % 32);
            }
        }
        mask
    }
}

/// The elements of an output of words.
pub(super) fn words(outputs: &Outputs, name: &str) -> Result<Vec<u32>, String> {
    let bytes = outputs.get(name).ok_or_else(|| format!("`{name}` was not read back"))?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// The subgroups of the first `count` invocations in workgroups of `workgroup_size`.
///
/// # Errors
///
/// A sentence, where the seats are none that WGSL allows: sizes that differ or are no power of two,
/// a lane past the size or taken twice.
pub(super) fn subgroups(
    outputs: &Outputs,
    count: usize,
    workgroup_size: usize,
) -> Result<Vec<Subgroup>, String> {
    let words = words(outputs, "seats")?;
    let seats = words.as_chunks::<4>().0;
    if seats.len() < count || workgroup_size == 0 {
        return Err(format!("`seats` has {} elements, not {count}", seats.len()));
    }
    let mut found: BTreeMap<(usize, u32), Subgroup> = BTreeMap::new();
    for (index, [size, lane, number, _]) in seats.iter().take(count).enumerate() {
        let same = seats[0][0] == *size && size.is_power_of_two() && *size <= LANES_MAX;
        if !same || lane >= size {
            return Err(format!(
                "invocation {index} says that it sits in lane {lane} of {size}, the first in one of {}",
                seats[0][0]
            ));
        }
        let key = (index / workgroup_size, *number);
        let subgroup =
            found.entry(key).or_insert_with(|| Subgroup { size: *size, members: BTreeMap::new() });
        if let Some(other) = subgroup.members.insert(*lane, index) {
            return Err(format!(
                "invocations {other} and {index} both say that they sit in lane {lane} of subgroup \
                 {number}"
            ));
        }
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(seats: &[[u32; 4]]) -> Outputs {
        let bytes = seats.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        Outputs::from([("seats".to_owned(), bytes)])
    }

    #[test]
    fn invocations_are_gathered_by_workgroup_and_subgroup() {
        // Two workgroups of three, subgroups of two, seated backwards.
        let seats = [[2, 1, 0, 1], [2, 0, 0, 1], [2, 0, 1, 1], [2, 1, 0, 1], [2, 0, 0, 1]];
        let found = subgroups(&outputs(&seats), 5, 3).unwrap();
        let members: Vec<Vec<usize>> =
            found.iter().map(|subgroup| subgroup.members.values().copied().collect()).collect();
        assert_eq!(members, [vec![1, 0], vec![2], vec![4, 3]]);
        assert_eq!(found[0].mask(|index| index == 0), [2, 0, 0, 0]);
        assert_eq!(found[0].only(|index| index == 0).at(0), None);
    }

    #[test]
    fn seats_that_cannot_be_are_refused() {
        for seats in [[[3, 0, 0, 1]; 1], [[4, 4, 0, 1]; 1]] {
            assert!(subgroups(&outputs(&seats), 1, 1).unwrap_err().contains("sits in lane"));
        }
        let twice = outputs(&[[4, 1, 0, 1], [4, 1, 0, 1]]);
        assert!(subgroups(&twice, 2, 2).unwrap_err().contains("both say"));
        assert!(subgroups(&twice, 3, 2).is_err());
    }
}
