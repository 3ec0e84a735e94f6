//! Lanes as bits.
//!
//! Input: booleans of lanes. Output: masks, and what is done for each lane of one.

#![expect(clippy::inline_always, reason = "code must be inlined to get the dispatched features")]

/// Lanes as bits.
pub(super) type Mask = u128;

/// The lanes whose boolean is set, inactive ones included.
#[inline(always)]
pub(super) fn bits<const N: usize>(values: &[u32; N]) -> Mask {
    let mut mask = 0;
    for (index, chunk) in values.as_chunks::<8>().0.iter().enumerate() {
        let mut part = 0u32;
        for (lane, value) in chunk.iter().enumerate() {
            part |= (value & 1) << lane;
        }
        mask |= Mask::from(part) << (8 * index);
    }
    mask
}

/// Runs a scalar function for the active lanes only; the others keep what they had.
#[inline(always)]
pub(super) fn for_each_lane(mut exec: Mask, mut f: impl FnMut(usize)) {
    while exec != 0 {
        f(exec.trailing_zeros() as usize);
        exec &= exec - 1;
    }
}
