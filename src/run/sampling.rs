//! Which launch is sampled next, how often it is repeated, and when to stop.
//!
//! Input: a function that takes one sample of one launch. Output: each launch's [`Time`]. The clock
//! is read here for the budget alone; samples carry the device's own ticks.
//!
//! Launches are interleaved round by round (A B C, C B A, A B C …): drift over the whole run hits
//! all alike, and the swapped order keeps drift within a round from favouring whoever comes first.

use std::time::{Duration, Instant};

use super::{RunError, RunErrorKind, TimeOptions};
use crate::record::{Sample, SampleState, Time};
use crate::statistics::{self, Decision, StopRule};
use crate::units::approximate;
use crate::units::{Nanoseconds, Ratio};

/// A sample should be this many times the timer's quantum, so that its rounding stays below 1 %.
pub const QUANTA_PER_SAMPLE: f64 = 100.0;

/// A sample should take at least this long: what begins and ends a pass is small beside it, and a GPU
/// that works for half of the time or more keeps its clock.
pub const SAMPLE_NS_MIN: f64 = 500_000.0;

/// A difference of ticks within this many quanta says nothing.
const QUANTA_USABLE: f64 = 10.0;

/// The most repetitions of a launch in a sample.
const REPEATS_MAX: u32 = 4096;

/// Rounds that are taken even where the budget is spent: one sample alone has no noise.
const ROUNDS_MIN: u32 = 2;

/// A launch that takes this long or longer needs nothing before it: a device wakes within less.
pub const LONG_NS: f64 = 50_000_000.0;

/// The seed of bootstrap intervals: any fixed number makes the same interval from the same samples.
pub(super) const BOOTSTRAP_SEED: u64 = 0x7469_6d65;

/// The timer of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timer {
    /// Nanoseconds a tick.
    pub period_ns: f64,
    /// The least difference of two timestamps that was seen, in nanoseconds.
    pub quantum_ns: f64,
}

/// Begin and end of a sample, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// At the beginning of the pass.
    pub begin: u64,
    /// At its end.
    pub end: u64,
}

impl Timer {
    /// Whether a sample can be used.
    pub fn state(self, ticks: Ticks) -> SampleState {
        if ticks.end < ticks.begin {
            SampleState::Negative
        } else if ticks.end == ticks.begin {
            SampleState::Zero
        } else if self.duration_ns(ticks) < QUANTA_USABLE * self.quantum_ns {
            SampleState::Quantised
        } else {
            SampleState::Ok
        }
    }

    /// The time between the two, in nanoseconds; negative where the end lies before the beginning.
    pub fn duration_ns(self, ticks: Ticks) -> f64 {
        if ticks.end >= ticks.begin {
            approximate(ticks.end - ticks.begin) * self.period_ns
        } else {
            -approximate(ticks.begin - ticks.end) * self.period_ns
        }
    }
}

/// One launch's state while it is sampled.
struct SampledLaunch {
    repeats: u32,
    samples: Vec<Sample>,
    usable_ns: Vec<f64>,
    failure: Option<RunError>,
    met: bool,
}

/// Samples `repeatable.len()` launches side by side until the stop rule is met for all, or the
/// budget is spent.
///
/// `sample(launch, repeats)` runs a launch `repeats` times between two timestamps; whoever runs it
/// fills in [`Time::dispatches_before_sample`]. A launch whose
/// sample fails is left out from then on, and gives the failure. A failure that ends the device ends
/// sampling: the launches beside it give [`RunErrorKind::Interrupted`].
pub fn sample_all(
    timer: Timer,
    repeatable: &[bool],
    options: &TimeOptions,
    mut sample: impl FnMut(usize, u32) -> Result<Ticks, RunError>,
) -> Vec<Result<Option<Time>, RunError>> {
    #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
    let start = Instant::now();
    let mut launches: Vec<SampledLaunch> =
        repeatable.iter().map(|_| SampledLaunch::new()).collect();
    for (index, repeatable) in repeatable.iter().enumerate() {
        if !has_ended(&launches) {
            launches[index].calibrate(timer, index, *repeatable, &mut sample);
        }
    }
    let mut round = 0;
    while !has_ended(&launches) {
        let mut order: Vec<usize> = (0..launches.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            if launches[index].failure.is_some() || has_ended(&launches) {
                continue;
            }
            let launch = &mut launches[index];
            match sample(index, launch.repeats) {
                Ok(ticks) => launch.add(timer, ticks, round),
                Err(error) => launch.failure = Some(error),
            }
        }
        round += 1;
        if are_finished(&mut launches, options, start.elapsed()) && round >= ROUNDS_MIN {
            break;
        }
    }
    if has_ended(&launches) {
        for launch in launches.iter_mut().filter(|launch| launch.failure.is_none()) {
            let message = "another launch, timed beside it, took the device along";
            launch.failure = Some(RunError::new(RunErrorKind::Interrupted, message));
        }
    }
    launches.into_iter().map(SampledLaunch::finish).collect()
}

/// Whether a launch took down the device.
fn has_ended(launches: &[SampledLaunch]) -> bool {
    launches.iter().any(|launch| launch.failure.as_ref().is_some_and(|f| f.kind.ends_device()))
}

/// Whether every launch has met the stop rule, or has failed, or the time is up.
fn are_finished(launches: &mut [SampledLaunch], options: &TimeOptions, elapsed: Duration) -> bool {
    let rule = StopRule {
        samples_min: options.samples_min as usize,
        noise_max: Ratio(options.noise_ratio_max),
        timeout: Nanoseconds(options.budget.as_secs_f64() * 1e9),
    };
    let mut all = true;
    for launch in launches.iter_mut().filter(|launch| launch.failure.is_none()) {
        match rule.decide(&launch.usable_ns, Nanoseconds(elapsed.as_secs_f64() * 1e9)) {
            Decision::Met => launch.met = true,
            Decision::Continue => (launch.met, all) = (false, false),
            Decision::TimedOut => launch.met = false,
        }
    }
    all
}

impl SampledLaunch {
    fn new() -> Self {
        Self { repeats: 1, samples: Vec::new(), usable_ns: Vec::new(), failure: None, met: false }
    }

    /// Finds how often the launch must be repeated for a sample to be long enough.
    fn calibrate(
        &mut self,
        timer: Timer,
        index: usize,
        repeatable: bool,
        sample: &mut impl FnMut(usize, u32) -> Result<Ticks, RunError>,
    ) {
        let wanted = SAMPLE_NS_MIN.max(QUANTA_PER_SAMPLE * timer.quantum_ns);
        loop {
            match sample(index, self.repeats) {
                Ok(ticks) => {
                    let enough = timer.duration_ns(ticks) >= wanted;
                    if enough || !repeatable || self.repeats >= REPEATS_MAX {
                        return;
                    }
                    self.repeats *= 2;
                }
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }

    fn add(&mut self, timer: Timer, ticks: Ticks, round: u32) {
        let state = timer.state(ticks);
        if state == SampleState::Ok {
            self.usable_ns.push(timer.duration_ns(ticks) / f64::from(self.repeats));
        }
        self.samples.push(Sample { round, ticks_begin: ticks.begin, ticks_end: ticks.end, state });
    }

    fn finish(self) -> Result<Option<Time>, RunError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let usable = &self.usable_ns;
        let (Some(median), Some(noise), Some(interval)) = (
            statistics::median(usable),
            statistics::noise(usable),
            statistics::median_interval(usable, BOOTSTRAP_SEED),
        ) else {
            return Ok(None);
        };
        Ok(Some(Time {
            median_ns: Nanoseconds(median),
            ci95_ns: [Nanoseconds(interval.low), Nanoseconds(interval.high)],
            noise_ratio: noise,
            dispatches_per_sample: self.repeats,
            dispatches_before_sample: None,
            stop_rule_met: self.met,
            samples: self.samples,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{RatioVerdict, paired_ratio};

    const TIMER: Timer = Timer { period_ns: 1.0, quantum_ns: 32.0 };

    fn options(samples_min: u32) -> TimeOptions {
        TimeOptions {
            budget: Duration::from_secs(60),
            samples_min,
            noise_ratio_max: 0.005,
            counting: None,
        }
    }

    /// A device whose launches take what `duration_ns` says, one after the other.
    fn device(
        mut duration_ns: impl FnMut(usize, u64) -> f64,
    ) -> impl FnMut(usize, u32) -> Result<Ticks, RunError> {
        let (mut now, mut taken) = (0_u64, 0);
        move |index, repeats| {
            taken += 1;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "durations in tests are small and positive"
            )]
            let ticks = (duration_ns(index, taken) * f64::from(repeats)) as u64;
            let begin = now;
            now += ticks + 1000;
            Ok(Ticks { begin, end: begin + ticks })
        }
    }

    #[test]
    fn short_launches_are_repeated_until_a_sample_is_long_enough() {
        let times = sample_all(TIMER, &[true, false], &options(5), device(|_, _| 1000.0));
        let repeats: Vec<u32> = times
            .iter()
            .map(|time| time.as_ref().unwrap().as_ref().unwrap().dispatches_per_sample)
            .collect();
        assert_eq!(repeats, [512, 1]);
        for time in times {
            let time = time.unwrap().unwrap();
            assert!(time.stop_rule_met);
            assert!((time.median_ns.0 - 1000.0).abs() < 1.0);
        }
    }

    #[test]
    fn the_order_is_swapped_from_round_to_round() {
        let mut order = Vec::new();
        let mut base = device(|_, _| 600_000.0);
        sample_all(TIMER, &[true; 3], &options(4), |index, repeats| {
            order.push(index);
            base(index, repeats)
        });
        assert_eq!(order[3..9], [0, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn samples_that_say_nothing_do_not_count() {
        let ticks = |begin, end| TIMER.state(Ticks { begin, end });
        assert_eq!(ticks(5, 5), SampleState::Zero);
        assert_eq!(ticks(6, 5), SampleState::Negative);
        assert_eq!(ticks(0, 64), SampleState::Quantised);
        assert_eq!(ticks(0, 640), SampleState::Ok);
    }

    #[test]
    fn a_failing_launch_leaves_the_others() {
        let mut base = device(|_, _| 300_000.0);
        let mut left = 4;
        let times = sample_all(TIMER, &[true, true], &options(5), |index, repeats| {
            if index == 0 {
                left -= 1;
                if left == 0 {
                    return Err(RunError::new(RunErrorKind::Driver, "gone"));
                }
            }
            base(index, repeats)
        });
        assert_eq!(times[0].as_ref().unwrap_err().message, "gone");
        assert!(times[1].as_ref().unwrap().is_some());
    }

    #[test]
    fn a_lost_device_interrupts_the_others_and_is_not_used_again() {
        let mut base = device(|_, _| 300_000.0);
        let (mut taken, mut after) = (0, 0);
        let times = sample_all(TIMER, &[true; 3], &options(50), |index, repeats| {
            taken += 1;
            after += u32::from(taken > 20);
            if taken == 20 {
                return Err(RunError::new(RunErrorKind::TimeLimit, format!("launch {index}")));
            }
            base(index, repeats)
        });
        assert_eq!(after, 0);
        let kinds: Vec<RunErrorKind> =
            times.iter().map(|time| time.as_ref().unwrap_err().kind).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == RunErrorKind::TimeLimit).count(), 1);
        assert_eq!(kinds.iter().filter(|kind| **kind == RunErrorKind::Interrupted).count(), 2);
    }

    #[test]
    fn a_kernel_against_itself_is_called_different_in_at_most_one_trial_in_twenty() {
        let mut different = 0;
        let trials = 200;
        for trial in 0..trials {
            let noisy = device(|index, taken| {
                let random = crate::units::random::mix(trial << 32 | taken << 1);
                // Drift of 10 % over the run, jitter of ± 2 %, a spike in one sample of 16.
                #[expect(clippy::cast_precision_loss, reason = "test data")]
                let (drift, jitter) = (taken as f64 / 500.0, (random >> 40) as f64 / 2f64.powi(24));
                let spike = if random.is_multiple_of(16) { 0.5 } else { 0.0 };
                let _ = index;
                300_000.0 * (1.0 + 0.1 * drift + 0.04 * (jitter - 0.5) + spike)
            });
            let limits = TimeOptions { noise_ratio_max: 0.02, ..options(20) };
            let times = sample_all(TIMER, &[true, true], &limits, noisy);
            let ns = |index: usize| -> Vec<f64> {
                let time = times[index].as_ref().unwrap().as_ref().unwrap();
                let span = |s: &Sample| {
                    TIMER.duration_ns(Ticks { begin: s.ticks_begin, end: s.ticks_end })
                };
                time.samples.iter().map(span).collect()
            };
            let pairs: Vec<(f64, f64)> = ns(0).into_iter().zip(ns(1)).collect();
            let ratio = paired_ratio(&pairs).unwrap();
            different += u64::from(ratio.verdict() == RatioVerdict::Different);
        }
        assert!(different * 20 <= trials, "{different} of {trials}");
    }
}
