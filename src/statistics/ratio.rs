//! Ratios of two kernels' times, with an interval and a verdict.
//!
//! Input: times taken side by side (paired) or in separate runs (unpaired). Output: the median ratio
//! with an interval. What the ratio means (cost of divergence or not) is for `analyze` to say.

use super::{Interval, RESAMPLES, percentile_interval, resampled_median, sort};
use crate::units::approximate;
use crate::units::random::SplitMix64;

/// The confidence of the interval of a [`PairedRatio`], 1.0 being certainty.
///
/// Higher than the 95 % of a single median on purpose: the method's promise holds for independent
/// pairs, and real samples are somewhat dependent (clocks step, temperature drifts). At 99 %, an
/// A/A comparison stays below one "different" in twenty under such noise too; the tests hold it to
/// that over several kinds of noise.
pub const PAIRED_CONFIDENCE_RATIO: f64 = 0.99;

/// The fewest pairs that can tell two kernels apart at [`PAIRED_CONFIDENCE_RATIO`].
///
/// With fewer, even the outermost samples do not enclose the median with that confidence:
/// 2 · 0.5^8 = 0.8 %, 2 · 0.5^7 = 1.6 %.
pub const PAIRS_MIN: usize = 8;

/// What can be said about two kernels' times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioVerdict {
    /// The interval excludes 1.
    Different,
    /// The interval holds 1: no difference was seen, which is no proof that there is none.
    NotDistinguished,
    /// Fewer than [`PAIRS_MIN`] pairs: there is no interval to judge by.
    TooFewPairs,
}

/// The ratio of two kernels' times, taken pair by pair within rounds.
///
/// Dividing within a round cancels what is common to both samples of it, such as the clock's state.
/// The interval is the distribution-free one of a median, from order statistics: the k-th smallest
/// and the k-th largest ratio enclose the true median unless fewer than k of the pairs fall on one
/// side of it, which for independent pairs is a matter of coin tosses, whatever the distribution's
/// shape (the inverted sign test: Conover, "Practical Nonparametric Statistics", 3rd edition, 1999,
/// sections 3.2 and 3.4). Ties, such as a coarse timer makes, only widen it.
///
/// Drift within a round is common to all rounds where the same kernel always goes first: whoever
/// takes the samples should swap the order from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The median over the pairs of dividend / divisor, dimensionless.
    pub median: f64,
    /// Its interval at [`PAIRED_CONFIDENCE_RATIO`]; nothing below [`PAIRS_MIN`] pairs.
    pub interval: Option<Interval>,
    /// The number of pairs.
    pub pairs: usize,
}

impl PairedRatio {
    /// Says whether the two differ: only where the interval excludes 1.
    pub fn verdict(&self) -> RatioVerdict {
        match self.interval {
            None => RatioVerdict::TooFewPairs,
            Some(interval) if interval.contains(1.0) => RatioVerdict::NotDistinguished,
            Some(_) => RatioVerdict::Different,
        }
    }
}

/// Returns the ratio of `pairs` of times (dividend, divisor), both in the same unit.
///
/// Pairs in which either time is not finite and above zero are left out, and do not count in
/// [`PairedRatio::pairs`]. `None` if no pair is left.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Option<PairedRatio> {
    let usable = |time: f64| time.is_finite() && time > 0.0;
    let ratios: Vec<f64> = pairs
        .iter()
        .filter(|(dividend, divisor)| usable(*dividend) && usable(*divisor))
        .map(|(dividend, divisor)| dividend / divisor)
        .collect();
    let sorted = sort(&ratios)?;
    let interval = order_statistic(sorted.len(), PAIRED_CONFIDENCE_RATIO)
        .map(|k| Interval { low: sorted[k], high: sorted[sorted.len() - 1 - k] });
    Some(PairedRatio { median: geometric_median(&sorted), interval, pairs: sorted.len() })
}

/// Returns the median of ascending ratios; of an even number, the geometric mean of the middle two.
///
/// So a ratio and its inverse have inverse medians, which an arithmetic mean would not give.
fn geometric_median(sorted: &[f64]) -> f64 {
    let upper = sorted[sorted.len() / 2];
    if sorted.len() % 2 == 1 { upper } else { (sorted[sorted.len() / 2 - 1] * upper).sqrt() }
}

/// Returns the largest index k from 0 for which the k-th sample from either end of `count` sorted
/// ones encloses the median with at least `confidence`; `None` if not even the extremes do.
fn order_statistic(count: usize, confidence: f64) -> Option<usize> {
    // P(fewer than k + 1 of `count` fair coins fall heads) must stay within half of what may go
    // wrong; summed in logarithms, since 0.5^count leaves f64's range at 1,075 samples.
    let allowed = (1.0 - confidence) / 2.0;
    let mut log_term = -approximate(count as u64) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    let mut found = None;
    for k in 0..count / 2 {
        if tail > allowed {
            break;
        }
        found = Some(k);
        log_term += (approximate((count - k) as u64) / approximate((k + 1) as u64)).ln();
        tail += log_term.exp();
    }
    found
}

/// The ratio of two medians that were taken in separate runs.
///
/// Its interval knows the scatter within each run only: what differs between two runs as wholes
/// (clock, temperature, driver) is part of the ratio, not of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnpairedRatio {
    /// Median of the dividend's samples over median of the divisor's, dimensionless.
    pub ratio: f64,
    /// Its interval at [`PAIRED_CONFIDENCE_RATIO`], by the percentile bootstrap of both sides.
    pub interval: Interval,
}

/// Returns the ratio of the medians of two independent sets of times in the same unit.
///
/// Times that are not finite and above zero are left out; `None` if a side has none left. The
/// same input with the same `seed` gives the same interval.
pub fn unpaired_ratio(dividend: &[f64], divisor: &[f64], seed: u64) -> Option<UnpairedRatio> {
    let usable = |samples: &[f64]| -> Option<Vec<f64>> {
        let kept: Vec<f64> =
            samples.iter().copied().filter(|time| time.is_finite() && *time > 0.0).collect();
        sort(&kept)
    };
    let (dividend, divisor) = (usable(dividend)?, usable(divisor)?);
    let mut random = SplitMix64::new(seed);
    let (mut over, mut under) = (dividend.clone(), divisor.clone());
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            resampled_median(&dividend, &mut over, &mut random)
                / resampled_median(&divisor, &mut under, &mut random)
        })
        .collect();
    let ratio =
        super::quantile_of_sorted(&dividend, 0.5) / super::quantile_of_sorted(&divisor, 0.5);
    Some(UnpairedRatio {
        ratio,
        interval: percentile_interval(&mut ratios, PAIRED_CONFIDENCE_RATIO),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_are_those_of_the_binomial_table() {
        // At 95 %: n = 6 gives the extremes, n = 10 the second from each end (1.07 % a side),
        // n = 20 the sixth (2.07 % a side), as in tables of the sign test.
        assert_eq!(order_statistic(5, 0.95), None);
        assert_eq!(order_statistic(6, 0.95), Some(0));
        assert_eq!(order_statistic(10, 0.95), Some(1));
        assert_eq!(order_statistic(20, 0.95), Some(5));
        assert_eq!(order_statistic(PAIRS_MIN - 1, PAIRED_CONFIDENCE_RATIO), None);
        assert_eq!(order_statistic(PAIRS_MIN, PAIRED_CONFIDENCE_RATIO), Some(0));
    }

    #[test]
    fn many_samples_do_not_underflow() {
        // Normal approximation: 5000 − 2.576 · 50 = 4871.
        let k = order_statistic(10_000, 0.99).expect("ten thousand samples have an interval");
        assert!((4860..4880).contains(&k), "{k}");
    }
}
