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
    for word in 0..N.div_ceil(32) {
        // Row by row, eight lanes side by side; what is across lanes comes last, once.
        let mut sums = [0u32; 8];
        for row in 0..4.min(N / 8) {
            for lane in 0..8 {
                sums[lane] |= (values[32 * word + 8 * row + lane] & 1) << (8 * row + lane);
            }
        }
        let part = sums.iter().fold(0, |all, sum| all | sum);
        mask |= Mask::from(part) << (32 * word);
    }
    mask
}

/// Runs a scalar function for the active lanes only; the others keep what they had.
#[inline(always)]
pub(super) fn for_each_lane(exec: Mask, mut f: impl FnMut(usize)) {
    // Half by half: masks of 128 bits take several instructions a step.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    for (first, half) in [(0, exec as u64), (64, (exec >> 64) as u64)] {
        let mut rest = half;
        while rest != 0 {
            f(first + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// The mask of all `N` lanes.
#[inline(always)]
pub(super) const fn all<const N: usize>() -> Mask {
    Mask::MAX >> (128 - N)
}
