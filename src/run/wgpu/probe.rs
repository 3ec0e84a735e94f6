//! What is measured of the device itself.
//!
//! Input: an open device. Output: fields of `record::Device`: the width that it runs, how lanes are
//! numbered, its timer, its multiply-add and copy rates, whether `fma()` rounds once, and whether it
//! leaves long loops by itself. Each probe is a small WGSL text of its own; times are the best of a
//! few runs, since a rate is a ceiling.

use wgpu::{Buffer, BufferUsages};

use super::super::sampling::{Ticks, Timer};
use super::super::{RunError, RunErrorKind};
use super::gpu::{Bound, Gpu, Grid, Shader, Slot, SlotKind};
use crate::kernel::launch::fold;
use crate::program::{Overrides, Parsed};
use crate::record::{Device, Packing};
use crate::units::Width;

/// Invocations a workgroup in probes: every device takes 256.
const WORKGROUP: u32 = 256;

/// Workgroups of the width probe.
const WIDTH_WORKGROUPS: u32 = 4;

/// Runs of a rate's kernel, of which the best counts.
const RATE_RUNS: u32 = 5;

const WIDTH: &str = "
struct Seen { size: u32, lane: u32, active_lanes: u32, first: u32 }
@group(0) @binding(0) var<storage, read_write> seen: array<Seen>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let bits = countOneBits(subgroupBallot(true));
    let active_lanes = bits.x + bits.y + bits.z + bits.w;
    let first = subgroupBroadcastFirst(local_index);
    seen[workgroup.x * 256u + local_index] = Seen(size, lane, active_lanes, first);
}";

/// A workgroup whose rows are a multiple of no width but 1, and few enough invocations for everyone.
const ROWS: [u32; 3] = [3, 8, 2];

const PACKING: &str = "
@group(0) @binding(0) var<storage, read_write> firsts: array<u32, 48>;
@compute @workgroup_size(3, 8, 2)
fn main(@builtin(local_invocation_index) local_index: u32) {
    firsts[local_index] = subgroupBroadcastFirst(local_index);
}";

const FUSED: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<f32, 4>;
@compute @workgroup_size(1)
fn main() { values[3] = fma(values[0], values[1], values[2]); }";

const LOOP: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<u32, 4>;
@compute @workgroup_size(1)
fn main() {
    let bound = values[0];
    var hash = 1u;
    var trips = 0u;
    loop {
        if (trips >= bound) { break; }
        hash = hash * 1664525u + 1013904223u;
        trips += 1u;
    }
    values[1] = trips;
    values[2] = hash;
}";

const COPY: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_buffer: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    target_buffer[index] = source[index];
}";

/// Iterations of the loop limit's probe: twice what lavapipe allows.
const LOOP_TRIPS: u32 = 131_072;

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

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
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
    let seen: Vec<[u32; 4]> = seen.as_chunks::<4>().0.to_vec();
    let lanes = seen.iter().map(|[_, _, active, _]| *active).max().unwrap_or(0);
    let Ok(width) = Width::new(lanes) else {
        device.flags.push("subgroup_width_misreported".to_owned());
        return Ok(());
    };
    device.subgroup_width_run = Some(width);
    // Every invocation must see a full subgroup, and as many subgroups must have led as fit.
    let full = seen.iter().all(|[_, _, active, _]| *active == lanes);
    let leaders = (0_u32..)
        .zip(&seen)
        .filter(|(index, [_, _, _, first])| index % WORKGROUP == *first)
        .count();
    let consistent = full && leaders == invocations / width.index();
    let builtin = seen.iter().all(|[size, ..]| *size == lanes);
    let within = device.subgroup_width_min.is_none_or(|min| min <= width)
        && device.subgroup_width_max.is_none_or(|max| width <= max);
    if !(consistent && builtin && within) {
        device.flags.push("subgroup_width_misreported".to_owned());
    }
    let linear = (0_u32..).zip(&seen).all(|(index, [_, lane, _, first])| {
        *lane == index % lanes && *first == index % WORKGROUP - lane
    });
    device.lane_is_local_index_mod_width = Some(linear && consistent);
    Ok(())
}

/// Finds where the subgroups of a 3D workgroup begin, from who is first in each.
pub(super) fn packing(gpu: &Gpu) -> Result<Packing, RunError> {
    let count = ROWS.iter().product::<u32>();
    let buffer = storage(gpu, &vec![u32::MAX; count as usize]);
    let bound = bind(gpu, PACKING, &[(&buffer, SlotKind::ReadWrite)], false)?;
    gpu.run("finding where subgroups begin", &[(&bound, &Grid::Direct([1, 1, 1]))])?;
    Ok(packing_of(&words(&gpu.read(&buffer, u64::from(count) * 4)?)))
}

/// Judges by the first invocation of each invocation's subgroup, both by local index.
fn packing_of(firsts: &[u32]) -> Packing {
    let begin_by = |begin: &dyn Fn(u32, u32) -> u32| {
        (0..=Width::MAX.ilog2())
            .any(|power| (0..).zip(firsts).all(|(index, first)| begin(index, 1 << power) == *first))
    };
    let row = ROWS[0];
    if begin_by(&|index, width| index / width * width) {
        Packing::Linear
    } else if begin_by(&|index, width| index / row * row + index % row / width * width) {
        Packing::Rows
    } else {
        Packing::Other
    }
}

/// Finds the least difference of two timestamps that is not zero; no timer where none is seen.
pub(super) fn timer(gpu: &Gpu, period_ns: f64) -> Result<Option<Timer>, RunError> {
    let buffer = storage(gpu, &[0; 4]);
    let bound = bind(gpu, FUSED, &[(&buffer, SlotKind::ReadWrite)], false)?;
    let grid = Grid::Direct([1, 1, 1]);
    let mut stamps = Vec::new();
    for _ in 0..24 {
        let Ticks { begin, end } = gpu.run_timed("finding the timer", &[(&bound, &grid)], 1)?;
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

/// A kernel of `chains` independent chains of 16 multiply-adds an iteration.
pub(super) fn fma_kernel(chains: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..chains).map(line).collect::<String>();
    let start = each(&|c| format!("    var v{c} = f32(local_index + {c}u);\n"));
    let step = each(&|c| format!("        v{c} = fma(v{c}, a, b);\n")).repeat(16);
    let sum = (0..chains).map(|c| format!("v{c}")).collect::<Vec<_>>().join(" + ");
    format!(
        "struct Params {{ a: f32, b: f32, trips: u32 }}
@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {{
    let a = params.a;
    let b = params.b;
{start}    for (var i = 0u; i < params.trips; i++) {{
{step}    }}
    output[(workgroup.y * grid.x + workgroup.x) * 256u + local_index] = {sum};
}}"
    )
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
    for _ in 0..RATE_RUNS {
        let ticks = gpu.run_timed("measuring a rate", &[(bound, grid)], 1)?;
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
            assert_eq!(packing_of(&linear), Packing::Linear, "{width}");
            if width > 1 {
                let rows = firsts(|index| index / 3 * 3 + index % 3 / width * width);
                assert_eq!(packing_of(&rows), Packing::Rows, "{width}");
            }
        }
        // 2×2 tiles: neighbours in y share a subgroup.
        let tiles = firsts(|index| index / 6 * 6 + index % 3 / 2 * 2);
        assert_eq!(packing_of(&tiles), Packing::Other);
        // Each layer of 24 begins a subgroup of 16.
        let layers = firsts(|index| index / 24 * 24 + index % 24 / 16 * 16);
        assert_eq!(packing_of(&layers), Packing::Other);
    }
}
