//! Seeded random words: `SplitMix64`.
//!
//! Input: a seed, or a counter. Output: the same words on every machine. Not for secrets.
//!
//! Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

/// What a stream's state grows by: 2^64 over the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts the stream that belongs to `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        finish(self.0)
    }

    /// An index below `bound`, which is at least 1; its bias is below `bound` / 2^64.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the product's upper half lies below bound, which is a usize"
    )]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }
}

/// The word of a counter: the `counter`-th of the stream that belongs to 0, from 1. Devices and hosts
/// can work out any of them by itself.
pub fn mix(counter: u64) -> u64 {
    finish(counter.wrapping_mul(STEP))
}

/// Spreads a state's bits over the word.
fn finish(state: u64) -> u64 {
    let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_paper() {
        // The first words for the seed 1234567, as Vigna's C code prints them.
        let mut random = SplitMix64::new(1_234_567);
        let words = [random.bits(), random.bits(), random.bits()];
        assert_eq!(
            words,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn a_counter_gives_the_words_of_the_stream_of_zero() {
        let mut random = SplitMix64::new(0);
        for counter in 1..100 {
            assert_eq!(random.bits(), mix(counter));
        }
    }

    #[test]
    fn indices_stay_below_their_bound() {
        let mut random = SplitMix64::new(3);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[random.below(7)] += 1;
        }
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    }
}
