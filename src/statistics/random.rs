//! Seeded random bits for resampling: `SplitMix64`.
//!
//! Input: a seed. Output: the same bits on every machine. Not for inputs of kernels, which have a
//! generator of their own that devices can repeat, and not for secrets.
//!
//! Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

/// A stream of random bits.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Starts the stream that belongs to `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns an index below `bound`, which is at least 1; its bias is below `bound` / 2^64.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the product's upper half lies below bound, which is a usize"
    )]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }
}
