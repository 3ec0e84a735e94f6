//! References of the families `match` and `coalesced_group`, whose warps are 32 invocations in a row.
//!
//! Input: a launch. Output: its expected elements.

use std::collections::BTreeMap;

use super::shuffle::words as exact;
use super::subgroup_layout;
use super::{By, Expected, Outputs, choice, count, words};
use crate::kernel::Launch;

/// The references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("match/any", By::Launch(any)),
    ("match/all", By::Launch(all)),
    ("coalesced_group/reduction", By::Outputs(reduction)),
];

/// Those that need what was written.
/// Lanes of a warp: CUDA puts invocations into warps by their number.
const LANES: usize = 32;

fn any(launch: &Launch) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let all = choice(launch, "lanes")? == "full";
    let input = words(launch, "input")?;
    let mut masks = Vec::new();
    for warp in input[..n].chunks(LANES) {
        let mut by_value: BTreeMap<u32, u32> = BTreeMap::new();
        for (lane, value) in warp.iter().enumerate().filter(|(_, value)| all || **value % 2 == 1) {
            *by_value.entry(*value).or_default() |= 1 << lane;
        }
        masks.extend(warp.iter().map(|value| by_value.get(value).copied().unwrap_or(0)));
    }
    Ok(Expected::from([("masks".to_owned(), exact(masks))]))
}

fn all(launch: &Launch) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let (input, lots) = (words(launch, "input")?, words(launch, "lots")?);
    let (mut masks, mut alike) = (Vec::new(), Vec::new());
    for (warp, lot) in input[..n].chunks(LANES).zip(lots) {
        let same = lot == 0 || warp.iter().all(|value| *value == warp[0]);
        let mask = if warp.len() == LANES { u32::MAX } else { (1 << warp.len()) - 1 };
        masks.extend(warp.iter().map(|_| if same { mask } else { 0 }));
        alike.extend(warp.iter().map(|_| u32::from(same)));
    }
    let outputs = [("masks".to_owned(), exact(masks)), ("alike".to_owned(), exact(alike))];
    Ok(Expected::from(outputs))
}

/// What the first member of a group has after the article's reduction: in each step a member adds what
/// lies `offset` ranks above, or its own where there is nobody.
fn sum_as_published(mut values: Vec<u32>) -> u32 {
    let mut offset = values.len() / 2;
    while offset > 0 {
        let above = |rank: usize| values.get(rank + offset).copied().unwrap_or(values[rank]);
        values = (0..values.len()).map(|rank| values[rank].wrapping_add(above(rank))).collect();
        offset /= 2;
    }
    values.first().copied().unwrap_or(0)
}

fn reduction(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let mended = choice(launch, "form")? == "corrected";
    let reduced =
        |values: Vec<u32>| if mended { values.iter().sum() } else { sum_as_published(values) };
    let data: Vec<u32> = words(launch, "data")?.into_iter().take(n).collect();
    let mut sums = Vec::new();
    let mut sizes = [false; LANES + 1];
    for warp in data.chunks(LANES) {
        let positive = |value: &u32| value.cast_signed() > 0;
        let taken: Vec<u32> = warp.iter().copied().filter(positive).collect();
        sizes[taken.len()] |= !taken.is_empty();
        sums.push(reduced(taken));
    }
    // Where the machine held a part of the lanes elsewhere, groups of other sizes came about.
    let found = subgroup_layout::words(outputs, "covered_by_size")?;
    let covered = found.iter().zip(sizes).zip(0..).map(|((found, whole), size)| {
        if whole || *found != 0 { reduced(vec![1; size]) } else { 0 }
    });
    let covered = exact(covered.collect());
    let outputs = [("sums".to_owned(), exact(sums)), ("covered_by_size".to_owned(), covered)];
    Ok(Expected::from(outputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_reduction_loses_what_the_ledger_says() {
        let lost = |size: usize| size - sum_as_published(vec![1; size]) as usize;
        assert_eq!([1, 2, 3, 4, 6, 7, 16, 31, 32].map(lost), [0, 0, 1, 0, 2, 3, 0, 15, 0]);
        assert_eq!(sum_as_published(vec![1, 10, 100]), 11, "the third of three is lost");
        assert_eq!(sum_as_published(Vec::new()), 0);
    }
}
