//! Brings a GPU's clocks up before anything is timed.
//!
//! Input: an open device and its timer. Output: nothing but a busy device. A GPU that has idled while
//! the processor made buffers runs at a fraction of its clock: an H200 falls from 1980 to 345 MHz
//! after two to four idle seconds, and returns after some tenths of a second of unbroken work. Times
//! taken meanwhile are up to five times too long. So one kernel of multiply-adds is run over and over
//! until it is as fast as it has ever been, and where that is not known, until it no longer gets
//! faster.

use std::time::{Duration, Instant};

use wgpu::{Buffer, BufferUsages};

use super::gpu::{Bound, Gpu, Grid, Sample, SlotKind};
use super::probe;
use crate::run::RunError;
use crate::run::probes::fma_kernel;
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

/// The kernel, and the best time that it has had on this device.
pub(super) struct Warmth {
    bound: Bound,
    _buffers: [Buffer; 2],
    best_ns: Option<f64>,
}

impl Warmth {
    /// Compiles the kernel.
    pub(super) fn new(gpu: &Gpu) -> Result<Self, RunError> {
        let output = gpu.buffer("warm up", BufferUsages::STORAGE, u64::from(WORKGROUPS) * 256 * 4);
        let params = probe::storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), TRIPS, 0]);
        let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
        let bound = probe::bind(gpu, &fma_kernel(4), &slots, true)?;
        Ok(Self { bound, _buffers: [output, params], best_ns: None })
    }

    /// Keeps the device busy until its clock is up, at most for [`WARM_UP_MAX`].
    ///
    /// # Errors
    ///
    /// What running the kernel gives.
    pub(super) fn up(&mut self, gpu: &Gpu, timer: Timer) -> Result<(), RunError> {
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        let grid = Grid::Direct([WORKGROUPS, 1, 1]);
        let work = [(&self.bound, &grid)];
        let sample = Sample { repeats: 8, ..Sample::once(&work) };
        let (mut best_ns, mut since) = (f64::INFINITY, start.elapsed());
        while start.elapsed() < WARM_UP_MAX {
            let ns = timer.duration_ns(gpu.run_timed("warming up", &sample)?);
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
