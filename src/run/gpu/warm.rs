//! Warms a GPU up, so that its clocks are at their highest before anything is timed.
//!
//! Input: an open device and its timer. Output: nothing but a busy device. A GPU that has idled while
//! the processor made buffers runs at a fraction of its clock: an H200 falls from 1980 to 345 MHz
//! after two to four idle seconds, and returns after some tenths of a second of unbroken work. Times
//! taken meanwhile are up to five times too long. So one kernel of multiply-adds is run over and over
//! until it is as fast as it has ever been, and where that is not known, until it no longer gets
//! faster. The rule is [`Best`]'s.

use std::time::{Duration, Instant};

use super::probe::{self, Probe};
use super::{Gpu, SlotKind, Uses};
use crate::run::RunError;
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
}

/// The best time of a kernel, in nanoseconds; nothing where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Best(Option<f64>);

impl<G: Gpu> WarmUp<G> {
    /// Compiles the kernel.
    ///
    /// # Errors
    ///
    /// What compiling it gives.
    pub(super) fn new(gpu: &G) -> Result<Self, RunError> {
        let bytes = u64::from(WORKGROUPS) * u64::from(WORKGROUP) * 4;
        let output = gpu.buffer("warm up", bytes, Uses::default())?;
        let params = probe::storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), TRIPS, 0])?;
        let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
        let kernel =
            Probe::new(gpu, &fma_kernel(CHAINS), &slots, [WORKGROUPS, 1, 1], (REPEATS, 0))?;
        Ok(Self { kernel, best: Best::default() })
    }

    /// Keeps the device busy until its clock is up, at most for [`WARM_UP_MAX`].
    ///
    /// # Errors
    ///
    /// What running the kernel gives.
    pub(super) fn up(&mut self, gpu: &G, timer: Timer) -> Result<(), RunError> {
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        self.best = self.best.reach(|| start.elapsed(), || self.kernel.time_ns(gpu, timer))?;
        Ok(())
    }
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

    #[test]
    fn times_that_say_nothing_are_no_best() {
        let ticks = Cell::new(0);
        let elapsed = || Duration::from_millis(ticks.replace(ticks.get() + 100));
        assert_eq!(Best(None).reach(elapsed, || Ok(0.0)).unwrap(), Best(None));
    }
}
