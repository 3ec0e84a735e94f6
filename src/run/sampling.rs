//! Which launch is sampled next, how often it is repeated, and when to stop.
//!
//! Input: a function that takes one sample of one launch. Output: each launch's [`Time`]. The clock
//! is read here for the budget alone; samples carry the device's own ticks, and what the machine's
//! clock says of them ([`Timer::held_against`]).
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

/// The longest that finding a launch's repeats may take where the budget is spent already.
const CALIBRATION_MIN: Duration = Duration::from_millis(500);

/// How many times longer than what its timestamps tell a sample of one launch may take until the launch is
/// sampled twice over, whatever time is left: only more of the same work tells a wrong timer from what lies
/// beside the work.
const TOLD_FAR_LESS: f64 = 100.0;

/// Samples that run backwards, or that the machine's clock does not allow, after which no more repeats are
/// tried: one alone may be an accident.
const SENSELESS_MAX: u32 = 3;

/// Samples of a launch of which none could be used after which no more are taken.
const UNUSABLE_MAX: usize = 16;

/// By how much the device's clock may run faster than the machine's.
const CLOCKS_RATIO_MAX: f64 = 1.05;

/// By how much a timer may exceed the machine's clock beside that: the two are not read at once.
const CLOCKS_APART_NS: f64 = 1_000_000.0;

/// How many times less than what the machine's clock leaves for it the work may take: the rest is what
/// writing down and submitting thousands of short dispatches takes.
const SHARE_MAX: f64 = 20.0;

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

/// What the machine's clock says of a submission with timestamps in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around {
    /// From before it was submitted until its timestamps had been read, in nanoseconds.
    pub whole_ns: f64,
    /// How much of that may be something else than the work, in nanoseconds: submitting, waiting, copies.
    pub other_ns: f64,
    /// How often the work runs for each time that it runs between the timestamps: twice where as much goes
    /// before.
    pub runs: f64,
}

impl Around {
    /// A submission that took so long, of which nothing else is known: time may not be more.
    pub fn at_most(whole_ns: f64) -> Self {
        Self { whole_ns, other_ns: whole_ns, runs: 1.0 }
    }
}

/// What the machine's clock says of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Possibility {
    /// They may be right.
    Possible,
    /// Between them lies far less than what the submission took beside all that is known of it. A machine
    /// that lets a submission wait for long makes one such sample, too.
    TooShort,
    /// Between them lies more than there was: nothing but a wrong timer does that.
    TooLong,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenSample {
    /// Its timestamps.
    pub ticks: Ticks,
    /// What the machine's clock says of them.
    pub possibility: Possibility,
}

/// What sampling a launch gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Sampled {
    /// Its time.
    Timed {
        /// The time, by the samples that can be.
        time: Time,
        /// Whether some ran backwards or told of more than passed, so that the timer is not to be relied on.
        contradicted: bool,
    },
    /// No sample that says something.
    Unusable,
    /// Samples of which too many cannot be, or some where too few others are left: they ran backwards, or the
    /// machine's clock contradicts them.
    Contradicted,
}

impl Timer {
    /// What the machine's clock, read around timestamps, says of them.
    pub fn held_against(self, ticks: Ticks, around: Around) -> Possibility {
        let ns = self.duration_ns(ticks);
        let most_ns = around.whole_ns * CLOCKS_RATIO_MAX + CLOCKS_APART_NS;
        let work_ns = around.whole_ns - around.other_ns;
        if ns > most_ns {
            Possibility::TooLong
        } else if ns * around.runs * SHARE_MAX < work_ns {
            Possibility::TooShort
        } else {
            Possibility::Possible
        }
    }

    /// Whether timestamps can be right by what the machine's clock says around them.
    pub fn is_possible(self, ticks: Ticks, around: Around) -> bool {
        self.held_against(ticks, around) == Possibility::Possible
    }

    /// Whether a sample can be used.
    pub fn state(self, TakenSample { ticks, possibility }: TakenSample) -> SampleState {
        if ticks.end < ticks.begin {
            SampleState::Negative
        } else if ticks.end == ticks.begin {
            SampleState::Zero
        } else if possibility != Possibility::Possible {
            SampleState::Impossible
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

/// When enough repeats are found.
#[derive(Clone, Copy)]
struct Calibration {
    /// How long a sample should be.
    wanted_ns: f64,
    /// Whether the launch can be repeated at all.
    repeatable: bool,
    /// How long it may take.
    left: Duration,
}

/// One launch's state while it is sampled.
struct SampledLaunch {
    repeats: u32,
    samples: Vec<Sample>,
    usable_ns: Vec<f64>,
    /// Whether some ran backwards, or told of more than passed.
    contradicted: bool,
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
    mut sample: impl FnMut(usize, u32) -> Result<TakenSample, RunError>,
) -> Vec<Result<Sampled, RunError>> {
    #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
    let start = Instant::now();
    let mut launches: Vec<SampledLaunch> =
        repeatable.iter().map(|_| SampledLaunch::new()).collect();
    for (index, repeatable) in repeatable.iter().enumerate() {
        if !has_ended(&launches) {
            let left = options.budget.saturating_sub(start.elapsed()).max(CALIBRATION_MIN);
            let wanted_ns = SAMPLE_NS_MIN.max(QUANTA_PER_SAMPLE * timer.quantum_ns);
            let until = Calibration { wanted_ns, repeatable: *repeatable, left };
            launches[index].calibrate(timer, until, &mut |repeats| sample(index, repeats));
        }
    }
    let mut round = 0;
    while !has_ended(&launches) {
        let mut order: Vec<usize> = (0..launches.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let launch = &launches[index];
            if launch.failure.is_some() || launch.is_hopeless() || has_ended(&launches) {
                continue;
            }
            let launch = &mut launches[index];
            match sample(index, launch.repeats) {
                Ok(taken) => launch.add(timer, taken, round),
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
    let samples_min = options.samples_min as usize;
    launches.into_iter().map(|launch| launch.finish(samples_min)).collect()
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
    let measured = |launch: &&mut SampledLaunch| launch.failure.is_none() && !launch.is_hopeless();
    for launch in launches.iter_mut().filter(measured) {
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
        let (samples, usable_ns) = (Vec::new(), Vec::new());
        Self { repeats: 1, samples, usable_ns, contradicted: false, failure: None, met: false }
    }

    /// Finds how often the launch must be repeated for a sample to be long enough, as far as its timer and
    /// the time that is left tell.
    fn calibrate(
        &mut self,
        timer: Timer,
        until: Calibration,
        sample: &mut dyn FnMut(u32) -> Result<TakenSample, RunError>,
    ) {
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        let mut senseless = 0;
        loop {
            let before = start.elapsed();
            let taken = match sample(self.repeats) {
                Ok(taken) => taken,
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            };
            let possible = taken.possibility == Possibility::Possible;
            let enough = possible && timer.duration_ns(taken.ticks) >= until.wanted_ns;
            let took = start.elapsed().saturating_sub(before);
            let unclear = self.repeats == 1
                && possible
                && took.as_secs_f64() * 1e9 > TOLD_FAR_LESS * timer.duration_ns(taken.ticks);
            // Twice the repeats take twice as long again.
            let late = start.elapsed() + 2 * took > until.left && !unclear;
            if enough || !until.repeatable || self.repeats >= REPEATS_MAX || late {
                return;
            }
            if !possible || timer.state(taken) == SampleState::Negative {
                senseless += 1;
                if senseless == SENSELESS_MAX {
                    return;
                }
            } else {
                self.repeats *= 2;
            }
        }
    }

    /// Whether so many samples could not be used that none will be.
    fn is_hopeless(&self) -> bool {
        self.usable_ns.is_empty() && self.samples.len() >= UNUSABLE_MAX
    }

    /// Whether a quarter of the samples or more cannot be, since they ran backwards, or the machine's clock
    /// contradicts them; or some for certain, where fewer than `samples_min` are left.
    fn is_contradicted(&self, samples_min: usize) -> bool {
        let impossible = |sample: &&Sample| {
            matches!(sample.state, SampleState::Negative | SampleState::Impossible)
        };
        let count = self.samples.iter().filter(impossible).count();
        let many = count > 0 && 4 * count >= self.samples.len();
        many || (self.contradicted && self.usable_ns.len() < samples_min)
    }

    fn add(&mut self, timer: Timer, taken: TakenSample, round: u32) {
        let (state, ticks) = (timer.state(taken), taken.ticks);
        self.contradicted |=
            state == SampleState::Negative || taken.possibility == Possibility::TooLong;
        if state == SampleState::Ok {
            self.usable_ns.push(timer.duration_ns(ticks) / f64::from(self.repeats));
        }
        self.samples.push(Sample { round, ticks_begin: ticks.begin, ticks_end: ticks.end, state });
    }

    fn finish(self, samples_min: usize) -> Result<Sampled, RunError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.is_contradicted(samples_min) {
            return Ok(Sampled::Contradicted);
        }
        let usable = &self.usable_ns;
        let (Some(median), Some(noise), Some(interval)) = (
            statistics::median(usable),
            statistics::noise(usable),
            statistics::median_interval(usable, BOOTSTRAP_SEED),
        ) else {
            return Ok(Sampled::Unusable);
        };
        let time = Time {
            median_ns: Nanoseconds(median),
            ci95_ns: [Nanoseconds(interval.low), Nanoseconds(interval.high)],
            noise_ratio: noise,
            dispatches_per_sample: self.repeats,
            dispatches_before_sample: None,
            stop_rule_met: self.met,
            samples: self.samples,
        };
        Ok(Sampled::Timed { time, contradicted: self.contradicted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{RatioVerdict, paired_ratio};

    use Possibility::{Possible, TooLong, TooShort};

    const TIMER: Timer = Timer { period_ns: 1.0, quantum_ns: 32.0 };

    fn options(samples_min: u32) -> TimeOptions {
        TimeOptions {
            budget: Duration::from_secs(60),
            samples_min,
            noise_ratio_max: 0.005,
            counting: None,
        }
    }

    fn timed(sampled: &Result<Sampled, RunError>) -> &Time {
        match sampled {
            Ok(Sampled::Timed { time, contradicted: false }) => time,
            other => panic!("{other:?}"),
        }
    }

    /// A device whose launches take what `duration_ns` says, one after the other.
    fn device(
        mut duration_ns: impl FnMut(usize, u64) -> f64,
    ) -> impl FnMut(usize, u32) -> Result<TakenSample, RunError> {
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
            Ok(TakenSample { ticks: Ticks { begin, end: begin + ticks }, possibility: Possible })
        }
    }

    #[test]
    fn short_launches_are_repeated_until_a_sample_is_long_enough() {
        let times = sample_all(TIMER, &[true, false], &options(5), device(|_, _| 1000.0));
        let repeats: Vec<u32> =
            times.iter().map(|time| timed(time).dispatches_per_sample).collect();
        assert_eq!(repeats, [512, 1]);
        for time in times.iter().map(timed) {
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
        let state = |begin, end, possibility| {
            TIMER.state(TakenSample { ticks: Ticks { begin, end }, possibility })
        };
        let ticks = |begin, end| state(begin, end, Possible);
        assert_eq!(ticks(5, 5), SampleState::Zero);
        assert_eq!(ticks(6, 5), SampleState::Negative);
        assert_eq!(ticks(0, 64), SampleState::Quantised);
        assert_eq!(ticks(0, 640), SampleState::Ok);
        assert_eq!(state(0, 640, TooShort), SampleState::Impossible);
        assert_eq!(state(0, 640, TooLong), SampleState::Impossible);
        assert_eq!(state(6, 5, TooShort), SampleState::Negative);
    }

    #[test]
    fn the_machine_s_clock_bounds_what_timestamps_can_say() {
        let held = |ns, whole_ns: f64, other_ns| {
            let around = Around { whole_ns, other_ns, runs: 2.0 };
            TIMER.held_against(Ticks { begin: 0, end: ns }, around)
        };
        // Half of the submission, as it should be; all of it; and more than there was.
        assert_eq!([5_000_000, 10_000_000].map(|ns| held(ns, 10e6, 0.0)), [Possible; 2]);
        assert_eq!(held(60_000_000_000, 10e6, 0.0), TooLong);
        // A submission of short dispatches takes far longer than they do, and not a thousand times as long.
        assert_eq!((held(500_000, 10e6, 0.0), held(12_345, 40e6, 25e6)), (Possible, TooShort));
        assert_eq!(held(12_345, 20e6, 25e6), Possible, "what may be something else says nothing");
    }

    #[test]
    fn timestamps_that_say_nothing_end_calibration_and_sampling() {
        let sampled = |end, possibility| {
            let (mut most, mut taken) = (0, 0);
            let times = sample_all(TIMER, &[true], &options(50), |_, repeats| {
                (most, taken) = (repeats.max(most), taken + 1);
                Ok(TakenSample { ticks: Ticks { begin: 1000, end }, possibility })
            });
            (times[0].clone().unwrap(), most, taken)
        };
        // Repeats are not doubled.
        let taken = SENSELESS_MAX as usize + UNUSABLE_MAX;
        assert_eq!(sampled(5, Possible), (Sampled::Contradicted, 1, taken));
        assert_eq!(sampled(10_000, TooShort), (Sampled::Contradicted, 1, taken));
        assert_eq!(sampled(10_000, TooLong), (Sampled::Contradicted, 1, taken));
        // A timer that is only coarse may tell more repeats.
        let taken = REPEATS_MAX.ilog2() as usize + 1 + UNUSABLE_MAX;
        assert_eq!(sampled(1000, Possible), (Sampled::Unusable, REPEATS_MAX, taken));
    }

    #[test]
    fn a_few_good_samples_among_many_that_cannot_be_give_no_time() {
        let (mut base, mut taken) = (device(|_, _| 600_000.0), 0);
        let times = sample_all(TIMER, &[true], &options(8), |index, repeats| {
            taken += 1;
            let good = base(index, repeats)?;
            let Ticks { begin, end } = good.ticks;
            let backwards = Ticks { begin: end, end: begin };
            let backwards = TakenSample { ticks: backwards, possibility: Possible };
            Ok(if taken % 3 == 0 { backwards } else { good })
        });
        assert_eq!(times[0].as_ref().unwrap(), &Sampled::Contradicted);
    }

    /// What sampling gives of a launch whose fifth sample is what `spoil` makes of it, and whose budget is spent
    /// after the twentieth.
    fn spoiled(samples_min: u32, spoil: impl Fn(TakenSample) -> TakenSample) -> Sampled {
        let mut base = device(|_, taken| 600_000.0 + 9_000.0 * approximate(taken));
        let mut taken = 0;
        let limits = TimeOptions { budget: Duration::from_millis(200), ..options(samples_min) };
        let mut times = sample_all(TIMER, &[true], &limits, |index, repeats| {
            taken += 1;
            if taken == 20 {
                std::thread::sleep(limits.budget);
            }
            let good = base(index, repeats)?;
            Ok(if taken == 5 { spoil(good) } else { good })
        });
        times.remove(0).unwrap()
    }

    #[test]
    fn a_sample_that_cannot_be_does_not_count_and_is_told() {
        let wrong: [fn(TakenSample) -> TakenSample; 2] = [
            |good| TakenSample { possibility: TooLong, ..good },
            |good| {
                let Ticks { begin, end } = good.ticks;
                TakenSample { ticks: Ticks { begin: end, end: begin }, ..good }
            },
        ];
        for spoil in wrong {
            let Sampled::Timed { time, contradicted: true } = spoiled(12, spoil) else {
                panic!("there are enough others, and it is told");
            };
            assert_eq!(time.samples.iter().filter(|s| s.state != SampleState::Ok).count(), 1);
            // Of so few others there is no time.
            assert_eq!(spoiled(40, spoil), Sampled::Contradicted);
        }
        // That one tells of too little may be a machine that let it wait.
        let shorter = |good: TakenSample| TakenSample { possibility: TooShort, ..good };
        for samples_min in [12, 40] {
            let sampled = spoiled(samples_min, shorter);
            assert!(matches!(sampled, Sampled::Timed { contradicted: false, .. }), "{sampled:?}");
        }
    }

    #[test]
    fn the_time_that_is_left_bounds_calibration() {
        let mut most = 0;
        let limits = TimeOptions { budget: Duration::from_millis(10), ..options(2) };
        let times = sample_all(TIMER, &[true], &limits, |_, repeats| {
            most = repeats.max(most);
            std::thread::sleep(Duration::from_millis(10) * repeats);
            Ok(TakenSample { ticks: Ticks { begin: 0, end: 1000 }, possibility: Possible })
        });
        assert!(matches!(times[0], Ok(Sampled::Timed { .. })));
        assert!(most <= 32, "{most} repeats of 10 ms each");
    }

    #[test]
    fn a_sample_that_tells_far_less_than_it_takes_is_taken_twice_over_whatever_time_is_left() {
        let limits = TimeOptions { budget: Duration::ZERO, ..options(2) };
        let sampled = |told_ns, possibility| {
            let mut first = true;
            let times = sample_all(TIMER, &[true], &limits, |_, repeats| {
                if std::mem::take(&mut first) {
                    std::thread::sleep(CALIBRATION_MIN);
                }
                let ticks = Ticks { begin: 1000, end: 1000 + told_ns * u64::from(repeats) };
                let possibility = if repeats == 1 { Possible } else { possibility };
                Ok(TakenSample { ticks, possibility })
            });
            times[0].clone()
        };
        assert_eq!(sampled(12_345, TooShort), Ok(Sampled::Contradicted));
        assert_eq!(timed(&sampled(300_000, Possible)).dispatches_per_sample, 2);
        assert_eq!(timed(&sampled(20_000_000, Possible)).dispatches_per_sample, 1);
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
        assert!(matches!(times[1], Ok(Sampled::Timed { .. })));
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
                let time = timed(&times[index]);
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
