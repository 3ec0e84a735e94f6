//! Brings a GPU's clocks up before anything is timed.
//!
//! Input: an open device and its timer. Output: nothing but a busy device. A GPU that has idled while
//! the processor made buffers runs at a fraction of its clock (345 of 1980 MHz on an H200), and takes
//! up to three seconds of work to reach it; times taken meanwhile fall threefold. So one kernel of
//! multiply-adds is run over and over until it no longer gets faster, or the time is up.

use std::time::{Duration, Instant};

use wgpu::BufferUsages;

use super::gpu::{Gpu, Grid, SlotKind};
use super::probe;
use crate::run::RunError;
use crate::run::probes::fma_kernel;
use crate::run::sampling::Timer;

/// The longest that warming up may take.
pub(super) const WARM_UP_MAX: Duration = Duration::from_millis(3000);

/// How long the kernel must not have got faster.
const STEADY: Duration = Duration::from_millis(250);

/// What counts as faster: clocks step by a few per cent.
const FASTER_RATIO: f64 = 0.99;

/// Workgroups of 256, enough for any GPU.
const WORKGROUPS: u32 = 8192;

/// Iterations of the kernel: a few milliseconds on a slow GPU, a tenth of one on a fast one.
const TRIPS: u32 = 64;

/// Keeps the device busy until its clock is steady, at most for `limit`; tells how long that took.
///
/// # Errors
///
/// What running the kernel gives.
pub(super) fn up(gpu: &Gpu, timer: Timer, limit: Duration) -> Result<Duration, RunError> {
    #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
    let start = Instant::now();
    let output = gpu.buffer("warm up", BufferUsages::STORAGE, u64::from(WORKGROUPS) * 256 * 4);
    let params = probe::storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), TRIPS, 0]);
    let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
    let bound = probe::bind(gpu, &fma_kernel(4), &slots, true)?;
    let grid = Grid::Direct([WORKGROUPS, 1, 1]);
    let (mut best_ns, mut since) = (f64::INFINITY, start.elapsed());
    while start.elapsed() < limit && start.elapsed().saturating_sub(since) < STEADY {
        let ticks = gpu.run_timed("warming up", &[(&bound, &grid)], 8)?;
        let ns = timer.duration_ns(ticks);
        if ns > 0.0 && ns < best_ns * FASTER_RATIO {
            (best_ns, since) = (ns, start.elapsed());
        }
    }
    Ok(start.elapsed())
}
