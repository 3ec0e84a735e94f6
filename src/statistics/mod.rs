//! Median, noise, intervals, paired ratios and the stop rule of a timed kernel: pure functions.
//!
//! Input: samples that somebody else took, as plain numbers of any one unit (nanoseconds, ticks).
//! Output: the same unit, or dimensionless ratios. This module reads no clock, draws no random bits
//! that are not seeded by its caller, and decides nothing about which samples count.
//!
//! # What is computed
//!
//! - **Median**: the middle sample, or the mean of the two middle ones.
//! - **Noise**: half the interquartile range over the median; robust where a standard deviation is
//!   carried away by one preempted sample. Quartiles are interpolated linearly between order
//!   statistics (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
//!   Statistician 50(4), 1996).
//! - **Interval of a median**: the percentile bootstrap (Efron and Tibshirani, "An Introduction to
//!   the Bootstrap", 1993, chapter 13), seeded.
//! - **Paired ratio**: see [`PairedRatio`].
//! - **Stop rule**: see [`StopRule`].

mod ratio;
mod stop;
#[cfg(test)]
mod tests;

pub use ratio::{
    PAIRED_CONFIDENCE_RATIO, PAIRS_MIN, PairedRatio, RatioVerdict, UnpairedRatio, paired_ratio,
    unpaired_ratio,
};
pub use stop::{Decision, StopRule};

use crate::units::Ratio;
use crate::units::random::SplitMix64;

/// Resamples of a bootstrap: enough that the ends of a 95 % interval rest on fifty of them each.
const RESAMPLES: usize = 2000;

/// The confidence of [`median_interval`], 1.0 being certainty.
pub const MEDIAN_CONFIDENCE_RATIO: f64 = 0.95;

/// A closed range of values in the unit of the samples from which it was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, never less than `low`.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in the interval, its ends included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Returns the median of `samples` in their unit; `None` if there are none or one is NaN.
pub fn median(samples: &[f64]) -> Option<f64> {
    Some(quantile_of_sorted(&sort(samples)?, 0.5))
}

/// Returns half the interquartile range of `samples` over their median.
///
/// `None` if there are no samples, one is NaN, or the median is not above zero: noise relative
/// to nothing says nothing.
pub fn noise(samples: &[f64]) -> Option<Ratio> {
    let sorted = sort(samples)?;
    let middle = quantile_of_sorted(&sorted, 0.5);
    let range = quantile_of_sorted(&sorted, 0.75) - quantile_of_sorted(&sorted, 0.25);
    (middle > 0.0).then(|| Ratio(range / 2.0 / middle))
}

/// Returns the 95 % percentile-bootstrap interval of the median of `samples`, in their unit.
///
/// The same samples in the same order with the same `seed` give the same interval. `None` if
/// there are no samples or one is NaN. With one sample the interval is that sample: the number of
/// samples has to be shown beside it.
pub fn median_interval(samples: &[f64], seed: u64) -> Option<Interval> {
    let sorted = sort(samples)?;
    let mut random = SplitMix64::new(seed);
    let mut scratch = sorted.clone();
    let mut medians: Vec<f64> =
        (0..RESAMPLES).map(|_| resampled_median(&sorted, &mut scratch, &mut random)).collect();
    Some(percentile_interval(&mut medians, MEDIAN_CONFIDENCE_RATIO))
}

/// Returns the quantile of `samples` at `portion` (0.5 is the median), in their unit.
///
/// `None` if there are no samples, one is NaN, or `portion` is outside 0 to 1.
pub fn quantile(samples: &[f64], portion: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&portion) {
        return None;
    }
    Some(quantile_of_sorted(&sort(samples)?, portion))
}

/// Sorts a copy of `samples`; `None` if there are none or one is NaN.
fn sort(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|sample| sample.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// Interpolates the quantile at `portion` (0 to 1) of at least one ascending sample.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list: not negative, and far below 2^53"
)]
fn quantile_of_sorted(sorted: &[f64], portion: f64) -> f64 {
    let place = portion * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    // Without the test, two infinite neighbours would give NaN.
    if low == high { low } else { low + (high - low) * (place - below as f64) }
}

/// Draws as many samples as there are, with replacement, and returns their median.
fn resampled_median(samples: &[f64], scratch: &mut [f64], random: &mut SplitMix64) -> f64 {
    for slot in scratch.iter_mut() {
        *slot = samples[random.below(samples.len())];
    }
    let middle = scratch.len() / 2;
    let (lower, upper, _) = scratch.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if samples.len() % 2 == 1 {
        return upper;
    }
    let lower = lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// Returns the central interval that holds the portion `confidence` of at least one `values`.
fn percentile_interval(values: &mut [f64], confidence: f64) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Interval { low: quantile_of_sorted(values, tail), high: quantile_of_sorted(values, 1.0 - tail) }
}
