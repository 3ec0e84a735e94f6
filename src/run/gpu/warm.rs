//! Warms a GPU up, so that its clocks are at their highest before anything is timed.
//!
//! Input: an open device and its timer. Output: nothing but a busy device. A GPU that has idled while
//! the processor made buffers runs at a fraction of its clock: an H200 falls from 1980 to 345 MHz
//! after two to four idle seconds, and returns after some tenths of a second of unbroken work. Times
//! taken meanwhile are up to five times too long. So one kernel of multiply-adds is run over and over
//! until it is as fast as it has ever been, and where that is not known, until it no longer gets
//! faster. The rule is [`Best`]'s.
//!
//! Where somebody waits for the answer ([`WarmUpRule::Short`]), it runs until it has kept one speed for a moment, or
//! a short time is up: [`settle`]. That may be a low clock, or one that still rises. So it runs again after
//! timing: where its speed is another, the clock moved under what was timed, and that is said.

use std::time::{Duration, Instant};

use super::probe::{self, Probe};
use super::{Gpu, SlotKind, Uses};
use crate::run::RunError;
use crate::run::back_end::WarmUpRule;
use crate::run::probes::{WORKGROUP, fma_kernel};
use crate::run::sampling::Timer;

/// The longest that warming up may take.
const WARM_UP_MAX: Duration = Duration::from_secs(3);

/// The least that warming up takes where the kernel's best time is not known: what is reached in it
/// counts as the best from then on, so a rest on the way must not be taken for it.
const FIRST_MIN: Duration = Duration::from_millis(1500);

/// How long the kernel must not have got faster, where its best time is not known.
const STEADY: Duration = Duration::from_millis(500);

/// What counts as faster: clocks step by a few per cent.
const FASTER_RATIO: f64 = 0.99;

/// How near the best time is near enough.
const REACHED_RATIO: f64 = 1.03;

/// The longest that a short warm-up may take.
const SHORT_MAX: Duration = Duration::from_millis(150);

/// How long the kernel must have kept one speed for a short warm-up to end.
const SETTLED: Duration = Duration::from_millis(60);

/// What counts as one speed: the slowest time over the fastest.
const SETTLED_RATIO: f64 = 1.02;

/// Runs after timing whose median says whether the clock moved.
const RUNS_AFTER: usize = 5;

/// By how much the kernel's time may differ before and after timing; more is the clock's doing.
const MOVED_RATIO: f64 = 1.03;

/// Workgroups of 256, enough for any GPU.
const WORKGROUPS: u32 = 8192;

/// Iterations of the kernel: a few milliseconds on a slow GPU, a tenth of one on a fast one.
const TRIPS: u32 = 64;

/// Runs of the kernel in a sample.
const REPEATS: u32 = 8;

/// Independent chains of multiply-adds.
const CHAINS: usize = 4;

/// The kernel, and the best time that it has had on this device.
pub(super) struct WarmUp<G: Gpu> {
    kernel: Probe<G>,
    best: Best,
    rule: WarmUpRule,
    /// The kernel's time after the last short warm-up, in nanoseconds; nothing before the first.
    settled_ns: Option<f64>,
}

/// The best time of a kernel, in nanoseconds; `None` if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Best(Option<f64>);

impl<G: Gpu> WarmUp<G> {
    /// Compiles the kernel, for warming up by a rule.
    ///
    /// # Errors
    ///
    /// What compiling it gives.
    pub(super) fn new(gpu: &G, rule: WarmUpRule) -> Result<Self, RunError> {
        let bytes = u64::from(WORKGROUPS) * u64::from(WORKGROUP) * 4;
        let output = gpu.buffer("warm up", bytes, Uses::default())?;
        let params = probe::storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), TRIPS, 0])?;
        let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
        let kernel =
            Probe::new(gpu, &fma_kernel(CHAINS), &slots, [WORKGROUPS, 1, 1], (REPEATS, 0))?;
        Ok(Self { kernel, best: Best::default(), rule, settled_ns: None })
    }

    /// Keeps the device busy until its clock is up, or by a short rule for a moment.
    ///
    /// # Errors
    ///
    /// What running the kernel gives.
    pub(super) fn up(&mut self, gpu: &G, timer: Timer) -> Result<(), RunError> {
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        let run = || self.kernel.time_ns(gpu, timer);
        match self.rule {
            WarmUpRule::Whole => self.best = self.best.reach(|| start.elapsed(), run)?,
            WarmUpRule::Short => {
                self.settled_ns = settle(self.settled_ns, || start.elapsed(), run)?;
            }
        }
        Ok(())
    }

    /// Whether the clock has moved since a short warm-up.
    ///
    /// # Errors
    ///
    /// What running the kernel gives.
    pub(super) fn has_moved(&self, gpu: &G, timer: Timer) -> Result<bool, RunError> {
        let (WarmUpRule::Short, Some(before)) = (self.rule, self.settled_ns) else {
            return Ok(false);
        };
        let runs = (0..RUNS_AFTER).map(|_| self.kernel.time_ns(gpu, timer));
        let runs = runs.collect::<Result<Vec<f64>, RunError>>()?;
        Ok(speed_differs(before, &runs))
    }
}

/// Whether a kernel that took so long takes another time now, by the median of some runs; all in
/// nanoseconds.
fn speed_differs(before: f64, runs: &[f64]) -> bool {
    let ratio = crate::statistics::median(runs).map_or(1.0, |now| now / before);
    !(1.0 / MOVED_RATIO..=MOVED_RATIO).contains(&ratio)
}

/// Runs a kernel until it has kept one speed for [`SETTLED`], or is as fast as it was at the end of the last
/// time, `known`; [`SHORT_MAX`] at most. Gives its time then, in nanoseconds; `None` if it has none.
///
/// # Errors
///
/// What running gives.
fn settle(
    known: Option<f64>,
    elapsed: impl Fn() -> Duration,
    mut run: impl FnMut() -> Result<f64, RunError>,
) -> Result<Option<f64>, RunError> {
    // The fastest and the slowest time since when.
    let mut span: Option<(f64, f64, Duration)> = None;
    let mut last = None;
    while elapsed() < SHORT_MAX {
        let ns = run()?;
        if ns <= 0.0 {
            continue;
        }
        last = Some(ns);
        if known.is_some_and(|known| ns <= known * SETTLED_RATIO) {
            break;
        }
        let now = elapsed();
        let (low, high, since) = span.unwrap_or((ns, ns, now));
        let (low, high) = (low.min(ns), high.max(ns));
        let same = high <= low * SETTLED_RATIO;
        span = Some(if same { (low, high, since) } else { (ns, ns, now) });
        if same && now.saturating_sub(since) >= SETTLED {
            break;
        }
    }
    Ok(last)
}

impl Best {
    /// Runs a kernel until it takes its best time, by what `elapsed` says of the time that has gone by
    /// and `run` of the kernel's in nanoseconds; gives the best time as it is known from then on.
    ///
    /// # Errors
    ///
    /// What running gives.
    pub(super) fn reach(
        self,
        elapsed: impl Fn() -> Duration,
        mut run: impl FnMut() -> Result<f64, RunError>,
    ) -> Result<Self, RunError> {
        let (mut best_ns, mut since) = (f64::INFINITY, elapsed());
        while elapsed() < WARM_UP_MAX {
            let ns = run()?;
            let now = elapsed();
            if ns > 0.0 && ns < best_ns * FASTER_RATIO {
                (best_ns, since) = (ns, now);
            }
            match self.0 {
                Some(known) if best_ns <= known * REACHED_RATIO => {
                    return Ok(Self(Some(known.min(best_ns))));
                }
                None if now >= FIRST_MIN && now.saturating_sub(since) >= STEADY => break,
                Some(_) | None => {}
            }
        }
        // A device that has become too hot for its best does not wait for it the next time.
        Ok(Self(Some(best_ns).filter(|ns| ns.is_finite())))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Reaches a best time on a kernel that takes what `takes` says, in milliseconds, after so many
    /// milliseconds: the best that is known then, in milliseconds, and how long it took.
    fn reached(known: Best, takes: impl Fn(u64) -> u64) -> (Best, u64) {
        let now = Cell::new(0);
        let run = || {
            let ms = takes(now.get());
            now.set(now.get() + ms);
            #[expect(clippy::cast_precision_loss, reason = "test data")]
            Ok(ms as f64)
        };
        let best = known.reach(|| Duration::from_millis(now.get()), run).unwrap();
        (best, now.get())
    }

    #[test]
    fn a_rest_on_the_way_is_not_taken_for_the_best_clock() {
        // At 12 ms for the first second, as a GPU rests at a low clock, then at 10.
        let (best, took) = reached(Best(None), |ms| if ms < 1000 { 12 } else { 10 });
        assert_eq!(best, Best(Some(10.0)));
        assert!((1500..1600).contains(&took), "{took}");
        // What gets faster late is waited for.
        let (best, took) = reached(Best(None), |ms| if ms < 1400 { 12 } else { 10 });
        assert_eq!(best, Best(Some(10.0)));
        assert!((1900..2000).contains(&took), "{took}");
    }

    #[test]
    fn a_best_time_that_is_known_is_reached_at_once_and_never_forgotten_for_a_worse() {
        let (best, took) = reached(Best(Some(100.0)), |_| 102);
        assert_eq!((best, took), (Best(Some(100.0)), 102));
        let (best, took) = reached(Best(Some(100.0)), |ms| if ms < 500 { 200 } else { 90 });
        assert_eq!((best, took), (Best(Some(90.0)), 690));
    }

    #[test]
    fn a_device_that_no_longer_reaches_its_best_is_not_waited_for_twice() {
        let (best, took) = reached(Best(Some(100.0)), |_| 150);
        assert_eq!(best, Best(Some(150.0)));
        assert!((3000..3150).contains(&took), "{took}");
        let (_, took) = reached(best, |_| 150);
        assert_eq!(took, 150);
    }

    /// Settles on a kernel that takes what `takes` says, in milliseconds, after so many milliseconds: its time then
    /// and how long it took.
    fn settled(known: Option<f64>, takes: impl Fn(u64) -> f64) -> (Option<f64>, u64) {
        let now = Cell::new(0);
        let run = || {
            now.set(now.get() + 2);
            Ok(takes(now.get()))
        };
        let last = settle(known, || Duration::from_millis(now.get()), run).unwrap();
        (last, now.get())
    }

    #[test]
    fn a_short_warm_up_ends_where_a_speed_is_kept_and_says_where_it_was_not_enough() {
        assert_eq!(settled(None, |_| 10.0), (Some(10.0), 62));
        // A clock that rises for 40 ms is waited for, one that rises on is not.
        let (last, took) = settled(None, |ms| if ms < 40 { 50.0 } else { 10.0 });
        assert_eq!((last, took), (Some(10.0), 100));
        #[expect(clippy::cast_precision_loss, reason = "test data")]
        let (last, took) = settled(None, |ms| 1000.0 - 5.0 * ms as f64);
        assert_eq!((last, took), (Some(250.0), 150));
        assert!(speed_differs(250.0, &[100.0, 100.0, 240.0]) && speed_differs(100.0, &[104.0]));
        assert!(!speed_differs(100.0, &[102.0, 99.0, 400.0]) && !speed_differs(100.0, &[]));
        // What is as fast as before goes on at once.
        assert_eq!(settled(Some(10.0), |_| 10.1), (Some(10.1), 2));
        assert_eq!(settled(None, |_| 0.0), (None, 150));
    }

    #[test]
    fn times_that_say_nothing_are_no_best() {
        let ticks = Cell::new(0);
        let elapsed = || Duration::from_millis(ticks.replace(ticks.get() + 100));
        assert_eq!(Best(None).reach(elapsed, || Ok(0.0)).unwrap(), Best(None));
    }
}
