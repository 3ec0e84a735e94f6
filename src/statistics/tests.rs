//! Tests of the statistics: properties, and A/A trials under several kinds of synthetic noise.

use proptest::prelude::*;

use super::*;
use crate::units::Nanoseconds;

/// Trials of each kind of noise; one in twenty of them may be called different.
const TRIALS: u64 = 400;

/// A uniform number in (0, 1].
fn uniform(random: &mut SplitMix64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let bits = ((random.bits() >> 11) + 1) as f64;
    bits / (1u64 << 53) as f64
}

/// A normal number with mean 0 and deviation 1 (Box and Muller).
fn normal(random: &mut SplitMix64) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Makes the sample of `round` at `moment` (0 or 1 within it), in units of the true time.
type Noise = fn(&mut SplitMix64, round: usize, moment: f64) -> f64;

/// Kinds of noise that timers show, each with the name that a failure prints.
#[expect(clippy::cast_precision_loss, reason = "small round numbers")]
const NOISES: [(&str, Noise); 6] = [
    ("normal, 1 %", |random, _, _| 1.0 + 0.01 * normal(random)),
    ("log-normal, skewed", |random, _, _| 1.0 + 0.02 * (1.2 * normal(random)).exp()),
    ("one in ten preempted", |random, _, _| {
        let late = if uniform(random) < 0.1 { -uniform(random).ln() } else { 0.0 };
        1.0 + 0.002 * normal(random) + late
    }),
    ("two clock states", |random, _, _| {
        let slow = if uniform(random) < 0.4 { 0.08 } else { 0.0 };
        1.0 + slow + 0.001 * normal(random)
    }),
    ("timer of 1 % of the time", |random, _, _| {
        ((1.0 + 0.01 * normal(random)) * 100.0).round() / 100.0
    }),
    ("drift of 20 % over 100 rounds", |random, round, moment| {
        1.0 + 0.002 * (round as f64 + moment / 2.0) + 0.003 * normal(random)
    }),
];

/// Takes `rounds` pairs of the same kernel, whose second is `slower` times as slow, as a runner
/// does: the order is swapped from round to round.
fn pairs(noise: Noise, rounds: usize, slower: f64, random: &mut SplitMix64) -> Vec<(f64, f64)> {
    (0..rounds)
        .map(|round| {
            let first = noise(random, round, 0.0);
            let second = noise(random, round, 1.0);
            let (a, b) = if round % 2 == 0 { (first, second) } else { (second, first) };
            (a * slower, b)
        })
        .collect()
}

#[test]
fn a_kernel_compared_with_itself_is_called_different_in_at_most_one_trial_in_twenty() {
    for (name, noise) in NOISES {
        for rounds in [8, 10, 30, 101, 300] {
            let different = (0..TRIALS)
                .filter(|trial| {
                    let mut random = SplitMix64::new(trial * 7919 + rounds as u64);
                    let ratio = paired_ratio(&pairs(noise, rounds, 1.0, &mut random))
                        .expect("every sample is above zero");
                    ratio.verdict() == RatioVerdict::Different
                })
                .count();
            assert!(
                different * 20 <= usize::try_from(TRIALS).expect("small"),
                "{name}, {rounds} rounds: {different} of {TRIALS} called different"
            );
        }
    }
}

#[test]
fn a_drift_that_always_favours_the_first_of_a_round_stays_within_the_promise() {
    // 1 % over 100 rounds, not swapped: each pair is off by 0.005 % with 0.3 % noise a sample.
    let different = (0..TRIALS)
        .filter(|trial| {
            let mut random = SplitMix64::new(trial + 11);
            let pairs: Vec<(f64, f64)> = (0..100u32)
                .map(|round| {
                    let base = 1.0 + 0.0001 * f64::from(round);
                    (
                        base + 0.003 * normal(&mut random),
                        base + 0.000_05 + 0.003 * normal(&mut random),
                    )
                })
                .collect();
            paired_ratio(&pairs).expect("usable").verdict() == RatioVerdict::Different
        })
        .count();
    assert!(different * 20 <= usize::try_from(TRIALS).expect("small"), "{different}");
}

#[test]
fn a_difference_well_above_the_noise_is_found() {
    for (name, noise) in &NOISES[..1] {
        let found = (0..TRIALS)
            .filter(|trial| {
                let mut random = SplitMix64::new(trial + 1);
                let ratio = paired_ratio(&pairs(*noise, 100, 1.02, &mut random)).expect("usable");
                ratio.verdict() == RatioVerdict::Different
            })
            .count();
        assert!(found * 10 >= 9 * usize::try_from(TRIALS).expect("small"), "{name}: {found}");
    }
}

#[test]
fn the_bootstrap_interval_of_a_median_holds_the_true_median_about_as_often_as_it_says() {
    let held = (0..TRIALS)
        .filter(|trial| {
            let mut random = SplitMix64::new(trial + 3);
            let samples: Vec<f64> = (0..50).map(|_| (0.5 * normal(&mut random)).exp()).collect();
            median_interval(&samples, 1).expect("fifty samples").contains(1.0)
        })
        .count();
    // 95 % of 400 is 380; the percentile bootstrap of 50 skewed samples may miss a little.
    assert!((364..=398).contains(&held), "{held} of {TRIALS}");
}

#[test]
fn too_few_pairs_are_said_to_be_too_few() {
    let ratio = paired_ratio(&[(2.0, 1.0); PAIRS_MIN - 1]).expect("usable");
    assert_eq!(
        (ratio.median, ratio.interval, ratio.verdict()),
        (2.0, None, RatioVerdict::TooFewPairs)
    );
    let ratio = paired_ratio(&[(2.0, 1.0); PAIRS_MIN]).expect("usable");
    assert_eq!(ratio.verdict(), RatioVerdict::Different);
    assert_eq!(paired_ratio(&[(0.0, 1.0), (1.0, f64::NAN)]), None);
}

#[test]
fn known_figures() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[f64::NAN, 1.0]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), Some(2.0));
    assert_eq!(quantile(&[1.0], 1.5), None);
    // Quartiles 2 and 4 about a median of 3: half of 2, over 3.
    assert_eq!(noise(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(Ratio(1.0 / 3.0)));
    assert_eq!(noise(&[0.0, 0.0]), None);
}

#[test]
fn a_ratio_of_separate_runs_encloses_the_true_one() {
    let mut random = SplitMix64::new(5);
    let a: Vec<f64> = (0..60).map(|_| 30.0 + normal(&mut random)).collect();
    let b: Vec<f64> = (0..60).map(|_| 20.0 + normal(&mut random)).collect();
    let ratio = unpaired_ratio(&a, &b, 9).expect("usable");
    assert!(ratio.interval.contains(1.5) && !ratio.interval.contains(1.3), "{ratio:?}");
    assert_eq!(unpaired_ratio(&a, &[0.0], 9), None);
}

#[test]
fn the_stop_rule_needs_samples_and_quiet_or_the_end_of_time() {
    let rule =
        StopRule { samples_min: 4, noise_max: StopRule::NOISE_MAX, timeout: Nanoseconds(100.0) };
    let quiet = [10.0; 4];
    let loud = [10.0, 11.0, 12.0, 13.0];
    assert_eq!(rule.decide(&quiet[..3], Nanoseconds(1.0)), Decision::Continue);
    assert_eq!(rule.decide(&quiet, Nanoseconds(1.0)), Decision::Met);
    assert_eq!(rule.decide(&quiet, Nanoseconds(1e9)), Decision::Met);
    assert_eq!(rule.decide(&loud, Nanoseconds(99.0)), Decision::Continue);
    assert_eq!(rule.decide(&loud, Nanoseconds(100.0)), Decision::TimedOut);
    assert_eq!(rule.decide(&[], Nanoseconds(100.0)), Decision::TimedOut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn medians_lie_within_and_do_not_depend_on_order(
        mut samples in prop::collection::vec(1e-3f64..1e12, 1..60),
    ) {
        let before = median(&samples).expect("samples");
        let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let high = samples.iter().copied().fold(0.0, f64::max);
        prop_assert!(low <= before && before <= high);
        samples.reverse();
        prop_assert_eq!(median(&samples), Some(before));
        prop_assert!(noise(&samples).expect("above zero").0 >= 0.0);
    }

    #[test]
    fn intervals_are_ordered_lie_within_and_repeat(
        samples in prop::collection::vec(1e-3f64..1e12, 1..40), seed in any::<u64>(),
    ) {
        let interval = median_interval(&samples, seed).expect("samples");
        let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let high = samples.iter().copied().fold(0.0, f64::max);
        prop_assert!(low <= interval.low && interval.low <= interval.high && interval.high <= high);
        prop_assert_eq!(median_interval(&samples, seed), Some(interval));
    }

    #[test]
    fn a_swapped_pair_gives_the_inverse_and_the_same_verdict(
        pairs in prop::collection::vec((0.5f64..2.0, 0.5f64..2.0), 1..60),
    ) {
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let there = paired_ratio(&pairs).expect("usable");
        let back = paired_ratio(&swapped).expect("usable");
        prop_assert!((there.median * back.median - 1.0).abs() < 1e-12);
        prop_assert_eq!(there.verdict(), back.verdict());
        if let Some(interval) = there.interval {
            prop_assert!(interval.contains(there.median));
        }
    }

    #[test]
    fn scaling_both_sides_changes_nothing(
        pairs in prop::collection::vec((0.5f64..2.0, 0.5f64..2.0), 8..60),
    ) {
        let scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a * 1024.0, b * 1024.0)).collect();
        prop_assert_eq!(paired_ratio(&pairs), paired_ratio(&scaled));
    }
}
