//! Brings a GPU's clocks up before anything is timed.
//!
//! Input: an open device. Output: nothing but a busy device. A GPU that has idled while the processor
//! made buffers runs at a fraction of its clock (345 of 1980 MHz on an H200), and returns to it after
//! some tenths of a second of unbroken work. So one kernel of multiply-adds is run over and over until
//! it is as fast as it has ever been, and where that is not known, until it no longer gets faster.

use std::time::{Duration, Instant};

use super::driver::Buffer;
use super::probe::{self, FMA_CHAINS, Probe};
use super::runner::Compiler;
use crate::run::RunError;
use crate::run::probes::{WORKGROUP, fma_kernel};

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

/// Workgroups, enough for any GPU.
const WORKGROUPS: u32 = 8192;

/// Iterations of the kernel: a tenth of a millisecond on a fast GPU.
const TRIPS: u32 = 64;

/// Runs of the kernel between two looks at the clock.
const REPEATS: u32 = 8;

/// The kernel, and the best time that it has had on this device.
pub(super) struct Warmth {
    kernel: Probe,
    _buffers: [Buffer; 2],
    best_ns: Option<f64>,
}

impl Warmth {
    /// Compiles the kernel.
    ///
    /// # Errors
    ///
    /// What compiling it gives.
    pub(super) fn new(compiler: &Compiler) -> Result<Self, RunError> {
        let output = compiler.gpu.buffer(u64::from(WORKGROUPS) * u64::from(WORKGROUP) * 4)?;
        let words = [0.5_f32.to_bits(), 1.0_f32.to_bits(), TRIPS, 0];
        let params = probe::storage(compiler, &words)?;
        let text = fma_kernel(FMA_CHAINS[2] as usize);
        let grid = [WORKGROUPS, 1, 1];
        let kernel = Probe::new(compiler, &text, &[&params, &output], grid, REPEATS)?;
        Ok(Self { kernel, _buffers: [output, params], best_ns: None })
    }

    /// Keeps the device busy until its clock is up, at most for [`WARM_UP_MAX`].
    ///
    /// # Errors
    ///
    /// What running the kernel gives.
    pub(super) fn up(&mut self, compiler: &Compiler) -> Result<(), RunError> {
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        let (mut best_ns, mut since) = (f64::INFINITY, start.elapsed());
        while start.elapsed() < WARM_UP_MAX {
            let ns = self.kernel.run(compiler)?;
            if ns > 0.0 && ns < best_ns * FASTER_RATIO {
                (best_ns, since) = (ns, start.elapsed());
            }
            let reached = self.best_ns.is_some_and(|known| best_ns <= known * REACHED_RATIO);
            let elapsed = start.elapsed();
            let steady = elapsed >= FIRST_MIN && elapsed.saturating_sub(since) >= STEADY;
            if reached {
                best_ns = self.best_ns.map_or(best_ns, |known| known.min(best_ns));
                break;
            }
            if steady && self.best_ns.is_none() {
                break;
            }
        }
        // A device that has become too hot for its best does not wait for it the next time.
        self.best_ns = Some(best_ns).filter(|ns| ns.is_finite());
        Ok(())
    }
}
