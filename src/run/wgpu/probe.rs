//! What is measured of the device itself.
//!
//! Input: an open device. Output: fields of `record::Device`: the width that it runs, how lanes are
//! numbered, its timer, its multiply-add and copy rates, whether `fma()` rounds once, and whether it
//! leaves long loops by itself. The texts are in `run::probes`; times are the best of a
//! few runs, since a rate is a ceiling.

use wgpu::{Buffer, BufferUsages};

use super::super::probes::{
    self, COPY, FUSED, LOOP, LOOP_TRIPS, PACKING, ROWS, WIDTH, WIDTH_WORKGROUPS, WORKGROUP,
    fma_kernel, words,
};
use super::super::sampling::{Ticks, Timer};
use super::super::{RunError, RunErrorKind};
use super::gpu::{Bound, Gpu, Grid, Sample, Shader, Slot, SlotKind};
use crate::kernel::limits::fold;
use crate::program::{Overrides, Parsed};
use crate::record::{Device, Packing};

/// Runs of a rate's kernel, of which the best counts.
const RATE_RUNS: u32 = 5;

/// Makes a pipeline of a probe's text over buffers at group 0, binding 0, 1, …
pub(super) fn bind(
    gpu: &Gpu,
    text: &str,
    buffers: &[(&Buffer, SlotKind)],
    trusted: bool,
) -> Result<Bound, RunError> {
    let internal = |error: crate::program::ProgramError| {
        RunError::new(RunErrorKind::BadInput, format!("a probe of lanescope's own: {error}"))
    };
    let program = Parsed::new("probe.wgsl", text)
        .and_then(|parsed| parsed.resolve("main", &Overrides::new()))
        .map_err(internal)?;
    let slots: Vec<Slot<'_>> = (0..)
        .zip(buffers)
        .map(|(binding, (buffer, kind))| Slot { group: 0, binding, kind: *kind, buffer })
        .collect();
    let shader = Shader {
        file: "probe.wgsl",
        module: program.module(),
        entry_point: "main",
        trusted,
        zero_memory: true,
        immediates: &[],
    };
    gpu.bind(&shader, &slots)
}

/// A storage buffer that holds `content`.
pub(super) fn storage(gpu: &Gpu, content: &[u32]) -> Buffer {
    let bytes: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = gpu.buffer("probe", BufferUsages::STORAGE, bytes.len() as u64);
    gpu.queue.write_buffer(&buffer, 0, &bytes);
    buffer
}

/// Finds the width that the device runs, from which lanes vote together, not from what it says.
pub(super) fn width(gpu: &Gpu, device: &mut Device) -> Result<(), RunError> {
    let invocations = (WORKGROUP * WIDTH_WORKGROUPS) as usize;
    let buffer = storage(gpu, &vec![0; invocations * 4]);
    let bound = bind(gpu, WIDTH, &[(&buffer, SlotKind::ReadWrite)], false)?;
    gpu.run("finding the subgroup width", &[(&bound, &Grid::Direct([WIDTH_WORKGROUPS, 1, 1]))])?;
    let seen = words(&gpu.read(&buffer, invocations as u64 * 16)?);
    probes::judge_width(device, &seen);
    Ok(())
}

/// Finds where the subgroups of a 3D workgroup begin, from who is first in each.
pub(super) fn packing(gpu: &Gpu) -> Result<Packing, RunError> {
    let count = ROWS.iter().product::<u32>();
    let buffer = storage(gpu, &vec![u32::MAX; count as usize]);
    let bound = bind(gpu, PACKING, &[(&buffer, SlotKind::ReadWrite)], false)?;
    gpu.run("finding where subgroups begin", &[(&bound, &Grid::Direct([1, 1, 1]))])?;
    Ok(probes::judge_packing(&words(&gpu.read(&buffer, u64::from(count) * 4)?)))
}

/// Finds the least difference of two timestamps that is not zero; no timer where none is seen.
pub(super) fn timer(gpu: &Gpu, period_ns: f64) -> Result<Option<Timer>, RunError> {
    let buffer = storage(gpu, &[0; 4]);
    let bound = bind(gpu, FUSED, &[(&buffer, SlotKind::ReadWrite)], false)?;
    let grid = Grid::Direct([1, 1, 1]);
    let mut stamps = Vec::new();
    for _ in 0..24 {
        let Ticks { begin, end } =
            gpu.run_timed("finding the timer", &Sample::once(&[(&bound, &grid)]))?;
        stamps.extend([begin, end]);
    }
    stamps.sort_unstable();
    let least = stamps.windows(2).map(|pair| pair[1] - pair[0]).filter(|ticks| *ticks > 0).min();
    // A coarse counter steps in multiples: their greatest common divisor is the quantum.
    let step = stamps.windows(2).map(|pair| pair[1] - pair[0]).fold(0, divisor);
    #[expect(clippy::cast_precision_loss, reason = "differences of ticks lie far below 2^53")]
    let timer = |_| Timer { period_ns, quantum_ns: step as f64 * period_ns };
    Ok(least.map(timer))
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Measures rates, fusion and the loop limit.
pub(super) fn calibrate(
    gpu: &Gpu,
    timer: Option<Timer>,
    device: &mut Device,
) -> Result<(), RunError> {
    device.fma_fused = Some(fused(gpu)?);
    device.loop_limit = loop_limit(gpu)?;
    if let Some(timer) = timer {
        device.peak_fma_per_s = fma_rate(gpu, timer, device.cpu_driver)?;
        device.copy_bytes_per_s = copy_rate(gpu, timer, device.cpu_driver)?;
    }
    Ok(())
}

/// Whether (1 + 2⁻¹²)² − (1 + 2⁻¹¹) keeps the 2⁻²⁴ that rounding the product loses.
fn fused(gpu: &Gpu) -> Result<bool, RunError> {
    let a = (1.0_f32 + 2_f32.powi(-12)).to_bits();
    let c = (-(1.0_f32 + 2_f32.powi(-11))).to_bits();
    let buffer = storage(gpu, &[a, a, c, 0]);
    let bound = bind(gpu, FUSED, &[(&buffer, SlotKind::ReadWrite)], false)?;
    gpu.run("finding whether fma rounds once", &[(&bound, &Grid::Direct([1, 1, 1]))])?;
    let result = words(&gpu.read(&buffer, 16)?);
    Ok(f32::from_bits(result[3]) != 0.0)
}

/// How many iterations the device made of a loop of 2^17, where it made fewer.
fn loop_limit(gpu: &Gpu) -> Result<Option<u64>, RunError> {
    let buffer = storage(gpu, &[LOOP_TRIPS, 0, 0, 0]);
    let bound = bind(gpu, LOOP, &[(&buffer, SlotKind::ReadWrite)], true)?;
    gpu.run("finding the loop limit", &[(&bound, &Grid::Direct([1, 1, 1]))])?;
    let result = words(&gpu.read(&buffer, 16)?);
    Ok((result[1] != LOOP_TRIPS).then(|| u64::from(result[1])))
}

/// The best rate of multiply-adds, over numbers of independent chains, outputs verified.
fn fma_rate(gpu: &Gpu, timer: Timer, cpu_driver: bool) -> Result<Option<f64>, RunError> {
    let (workgroups, trips) = if cpu_driver { (64_u32, 16_u32) } else { (8192, 64) };
    let invocations = u64::from(workgroups) * u64::from(WORKGROUP);
    let params = storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), trips, 0]);
    let output = gpu.buffer("fma", BufferUsages::STORAGE, invocations * 4);
    let grid = Grid::Direct([workgroups, 1, 1]);
    let mut best: Option<f64> = None;
    for chains in [1_u32, 2, 4, 8] {
        let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
        let bound = bind(gpu, &fma_kernel(chains as usize), &slots, true)?;
        let time = best_time(gpu, timer, &bound, &grid)?;
        // v = v/2 + 1 ends at 2 wherever it starts, in fewer steps than there are.
        let result = words(&gpu.read(&output, invocations * 4)?);
        let expected = 2.0 * f64::from(chains);
        let right = |word: &u32| (f64::from(f32::from_bits(*word)) - expected).abs() < 1e-4;
        if !result.iter().all(right) {
            return Err(RunError::new(
                RunErrorKind::Driver,
                "the multiply-add probe gave wrong results; its rate would mean nothing",
            ));
        }
        #[expect(clippy::cast_precision_loss, reason = "counts lie far below 2^53")]
        let work = (invocations * u64::from(trips) * 16 * u64::from(chains)) as f64;
        best = time.map(|ns| work / (ns * 1e-9)).into_iter().chain(best).reduce(f64::max);
    }
    Ok(best)
}

/// Bytes read plus bytes written a second by a copy far larger than caches.
fn copy_rate(gpu: &Gpu, timer: Timer, cpu_driver: bool) -> Result<Option<f64>, RunError> {
    let wanted: u64 = if cpu_driver { 32 << 20 } else { 512 << 20 };
    let limits = gpu.device.limits();
    let size = wanted.min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
    let size = size / (16 * u64::from(WORKGROUP)) * 16 * u64::from(WORKGROUP);
    let source = gpu.buffer("copy source", BufferUsages::STORAGE, size);
    let target = gpu.buffer("copy target", BufferUsages::STORAGE, size);
    let mark: Vec<u8> = (0..16).collect();
    gpu.queue.write_buffer(&source, size - 16, &mark);
    let slots = [(&source, SlotKind::ReadOnly), (&target, SlotKind::ReadWrite)];
    let bound = bind(gpu, COPY, &slots, true)?;
    let Some(grid) = fold(size / 16 / u64::from(WORKGROUP)) else { return Ok(None) };
    let exact = u64::from(grid[0]) * u64::from(grid[1]) * u64::from(WORKGROUP) * 16 == size;
    let time = best_time(gpu, timer, &bound, &Grid::Direct(grid))?;
    let tail = gpu.buffer("copy tail", BufferUsages::STORAGE, 16);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(&target, size - 16, &tail, 0, 16);
    gpu.queue.submit([encoder.finish()]);
    if !exact || gpu.read(&tail, 16)? != mark {
        return Err(RunError::new(RunErrorKind::Driver, "the copy probe did not copy its end"));
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes lie far below 2^53")]
    Ok(time.map(|ns| 2.0 * size as f64 / (ns * 1e-9)))
}

/// The best usable time of a few runs, in nanoseconds.
fn best_time(gpu: &Gpu, timer: Timer, bound: &Bound, grid: &Grid) -> Result<Option<f64>, RunError> {
    let mut best: Option<f64> = None;
    let work = [(bound, grid)];
    let sample = Sample { before: 1, ..Sample::once(&work) };
    for _ in 0..RATE_RUNS {
        let ticks = gpu.run_timed("measuring a rate", &sample)?;
        if timer.state(ticks) == crate::record::SampleState::Ok {
            let time = timer.duration_ns(ticks);
            best = Some(best.map_or(time, |best| best.min(time)));
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is first for each of the 48 invocations, where subgroups begin by `begin`.
    fn firsts(begin: impl Fn(u32) -> u32) -> Vec<u32> {
        (0..48).map(begin).collect()
    }

    #[test]
    fn packing_is_judged_from_who_is_first() {
        for width in [1, 2, 4, 8, 16, 32, 64, 128] {
            let linear = firsts(|index| index / width * width);
            assert_eq!(probes::judge_packing(&linear), Packing::Linear, "{width}");
            if width > 1 {
                let rows = firsts(|index| index / 3 * 3 + index % 3 / width * width);
                assert_eq!(probes::judge_packing(&rows), Packing::Rows, "{width}");
            }
        }
        // 2×2 tiles: neighbours in y share a subgroup.
        let tiles = firsts(|index| index / 6 * 6 + index % 3 / 2 * 2);
        assert_eq!(probes::judge_packing(&tiles), Packing::Other);
        // Each layer of 24 begins a subgroup of 16.
        let layers = firsts(|index| index / 24 * 24 + index % 24 / 16 * 16);
        assert_eq!(probes::judge_packing(&layers), Packing::Other);
    }
}
