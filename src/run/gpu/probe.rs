//! What is measured of the device itself.
//!
//! Input: an open device. Output: fields of `record::Device`: the width that it runs, how lanes are
//! numbered, its timer, its multiply-add and copy rates, what a launch costs, whether `fma()` rounds once, and whether it
//! leaves long loops by itself. The texts are in `run::probes`; times are the best of a
//! few runs, since a rate is a ceiling.

use super::{Clock, Gpu, GpuDispatch, GpuSample, Grid, Shader, Slot, SlotKind, Stamps, Uses};
use crate::kernel::limits::fold;
use crate::record::{Device, Packing, SampleState, Tag};
use crate::run::probes::{
    self, COPY, FUSED, LOOP, LOOP_TRIPS, PACKING, ROWS, WIDTH, WIDTH_WORKGROUPS, WORKGROUP,
    fma_kernel, program, words,
};
use crate::run::sampling::{Around, TakenSample, Ticks, Timer};
use crate::run::{RunError, RunErrorKind};
use crate::units::Nanoseconds;

/// Runs of a rate's kernel, of which the best counts.
const RATE_RUNS: u32 = 5;

/// How often the smallest probe is repeated in a sample, and as often before it.
const LAUNCH_REPEATS: u32 = 256;

/// Runs by which the timer's quantum is found.
const TIMER_RUNS: u32 = 48;

/// Runs whose timestamps the machine's clock may contradict before the timer is not believed at all.
const CONTRADICTED_MAX: usize = 3;

/// What submitting a probe and reading its timestamps may take at best, in nanoseconds.
const SUBMIT_NS: f64 = 10_000_000.0;

/// Independent chains of multiply-adds.
const FMA_CHAINS: [u32; 4] = [1, 2, 4, 8];

/// Workgroups and iterations of the multiply-add probe, on drivers on processors and on GPUs.
const FMA_SIZE: [(u32, u32); 2] = [(64, 16), (8192, 64)];

/// Bytes of the copy's source, on drivers on processors and on GPUs: far larger than caches.
const COPY_BYTES: [u64; 2] = [32 << 20, 512 << 20];

/// The text of every probe.
pub(in crate::run) fn texts() -> impl Iterator<Item = String> {
    let fixed = [WIDTH, PACKING, FUSED, LOOP, COPY].map(str::to_owned);
    let rates = FMA_CHAINS.into_iter().map(|chains| fma_kernel(chains as usize));
    fixed.into_iter().chain(rates)
}

/// A probe's kernel over buffers at group 0, binding 0, 1, …
pub(super) fn compile<G: Gpu>(
    gpu: &G,
    text: &str,
    buffers: &[(&G::Buffer, SlotKind)],
) -> Result<G::Kernel, RunError> {
    let program = program(text)?;
    let slots: Vec<Slot<'_, G::Buffer>> = (0..)
        .zip(buffers)
        .map(|(binding, &(buffer, kind))| Slot { group: 0, binding, kind, buffer })
        .collect();
    let shader = Shader {
        program: &program,
        counting: None,
        trusted: true,
        zero_memory: true,
        immediates: &[],
    };
    gpu.compile(&shader, &slots)
}

/// A buffer that holds `content`.
pub(super) fn storage<G: Gpu>(gpu: &G, content: &[u32]) -> Result<G::Buffer, RunError> {
    let bytes: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = gpu.buffer("probe", bytes.len() as u64, Uses::default())?;
    gpu.write(&buffer, 0, &bytes)?;
    Ok(buffer)
}

/// All words of a buffer.
fn read<G: Gpu>(gpu: &G, buffer: &G::Buffer) -> Result<Vec<u32>, RunError> {
    Ok(words(&gpu.read(buffer, 0, gpu.size(buffer))?))
}

/// Runs a probe once on a buffer that holds `content`; gives what it holds then.
fn observe<G: Gpu>(
    gpu: &G,
    text: &str,
    content: &[u32],
    workgroups: u32,
    doing: &str,
) -> Result<Vec<u32>, RunError> {
    let buffer = storage(gpu, content)?;
    let kernel = compile(gpu, text, &[(&buffer, SlotKind::ReadWrite)])?;
    gpu.run(&[(&kernel, &Grid::Direct([workgroups, 1, 1]))], doing)?;
    read(gpu, &buffer)
}

/// A probe that is timed.
pub(super) struct Probe<G: Gpu> {
    recorded: G::Recorded,
    /// How often it runs for each time that it runs between its timestamps.
    runs: f64,
    _kernel: G::Kernel,
}

impl<G: Gpu> Probe<G> {
    /// Compiles a text and records a sample of so many repeats after so many runs.
    ///
    /// # Errors
    ///
    /// What compiling and recording give.
    pub(super) fn new(
        gpu: &G,
        text: &str,
        buffers: &[(&G::Buffer, SlotKind)],
        workgroups: [u32; 3],
        (repeats, before): (u32, u32),
    ) -> Result<Self, RunError> {
        let kernel = compile(gpu, text, buffers)?;
        let grid = Grid::Direct(workgroups);
        let work: [GpuDispatch<'_, G>; 1] = [(&kernel, &grid)];
        let stamps = Stamps::Around;
        let sample = GpuSample { work: &work, repeats, before, resets: &[], stamps };
        let recorded = gpu.record(&sample, "running a probe")?;
        let runs = f64::from(repeats + before) / f64::from(repeats);
        Ok(Self { recorded, runs, _kernel: kernel })
    }

    /// Runs it, between two timestamps; beside them stands what all of it took by the machine's clock, in nanoseconds.
    fn time(&self, gpu: &G) -> Result<(Ticks, f64), RunError> {
        let begun = gpu.machine_ns();
        let ticks = single_sample(gpu.play(&self.recorded, "running a probe")?)?;
        Ok((ticks, gpu.machine_ns() - begun))
    }

    /// Runs it; the time of all repeats in nanoseconds.
    ///
    /// # Errors
    ///
    /// What running gives.
    pub(super) fn time_ns(&self, gpu: &G, timer: Timer) -> Result<f64, RunError> {
        Ok(timer.duration_ns(self.time(gpu)?.0))
    }
}

/// The timestamps about a whole sample.
pub(super) fn single_sample(ticks: Vec<Ticks>) -> Result<Ticks, RunError> {
    let missing = || RunError::new(RunErrorKind::Driver, "two timestamps were not read back");
    ticks.into_iter().next().ok_or_else(missing)
}

/// Finds the width that the device runs, from which lanes vote together, not from what it says.
///
/// # Errors
///
/// What compiling and running give.
pub(super) fn width<G: Gpu>(gpu: &G, device: &mut Device) -> Result<(), RunError> {
    let content = vec![0; (WORKGROUP * WIDTH_WORKGROUPS) as usize * 4];
    let seen = observe(gpu, WIDTH, &content, WIDTH_WORKGROUPS, "finding the subgroup width")?;
    probes::judge_width(device, &seen);
    Ok(())
}

/// Finds where the subgroups of a 3D workgroup begin, from who is first in each.
fn packing<G: Gpu>(gpu: &G) -> Result<Packing, RunError> {
    let content = vec![u32::MAX; ROWS.iter().product::<u32>() as usize];
    let firsts = observe(gpu, PACKING, &content, 1, "finding where subgroups begin")?;
    Ok(probes::judge_packing(&firsts))
}

/// Finds the timer's quantum: of a counter, the greatest common divisor of all differences, since a
/// coarse one steps in multiples; of spans, their least difference. Where none is seen, or the machine's clock
/// contradicts it, there is no timer, and the device is flagged.
///
/// # Errors
///
/// What compiling and running give.
pub(super) fn timer<G: Gpu>(gpu: &G, device: &mut Device) -> Result<Option<Timer>, RunError> {
    let Some(clock) = gpu.clock() else {
        device.flags.push(Tag::NoTimestamps.into());
        return Ok(None);
    };
    let buffer = storage(gpu, &[0; 4])?;
    let probe = Probe::new(gpu, FUSED, &[(&buffer, SlotKind::ReadWrite)], [1, 1, 1], (1, 0))?;
    let (mut found, mut taken) = (Vec::new(), Vec::new());
    for _ in 0..TIMER_RUNS {
        let (ticks, whole_ns) = probe.time(gpu)?;
        match clock {
            Clock::Counter { .. } => found.extend([ticks.begin, ticks.end]),
            Clock::Spans => found.push(ticks.end.saturating_sub(ticks.begin)),
        }
        taken.push((ticks, whole_ns));
    }
    let timer = judge_timer(clock, found);
    let tag = match timer {
        None => Some(Tag::NoTimestamps),
        Some(timer) if is_contradicted(timer, &taken) => Some(Tag::TimerContradicted),
        Some(_) => None,
    };
    device.flags.extend(tag.clone().map(Into::into));
    Ok(timer.filter(|_| tag.is_none()))
}

/// Whether several runs ended before they began, or took longer than there was. That they took far less says
/// nothing yet: the first runs of all wait for much else.
fn is_contradicted(timer: Timer, taken: &[(Ticks, f64)]) -> bool {
    let wrong =
        |(ticks, whole_ns): &&(Ticks, f64)| !timer.is_possible(*ticks, Around::at_most(*whole_ns));
    taken.iter().filter(wrong).count() > CONTRADICTED_MAX
}

/// The timer that these timestamps, or these spans, were taken by.
fn judge_timer(clock: Clock, mut found: Vec<u64>) -> Option<Timer> {
    found.sort_unstable();
    let steps = || found.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0);
    let (period_ns, step) = match clock {
        Clock::Counter { period_ns } => (period_ns, steps().reduce(divisor)),
        Clock::Spans => (1.0, steps().min()),
    };
    #[expect(clippy::cast_precision_loss, reason = "differences of ticks lie far below 2^53")]
    step.map(|step| Timer { period_ns, quantum_ns: step as f64 * period_ns })
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Measures rates, fusion, and where there are subgroups, where they begin.
///
/// # Errors
///
/// What compiling and running give, and [`RunErrorKind::Driver`] where a probe's output is wrong.
pub(super) fn calibrate<G: Gpu>(
    gpu: &G,
    timer: Option<Timer>,
    device: &mut Device,
) -> Result<(), RunError> {
    device.fma_fused = Some(probe_fusion(gpu)?);
    if let Some(timer) = timer {
        device.peak_fma_per_s = fma_rate(gpu, timer, device.cpu_driver)?;
        device.copy_bytes_per_s = copy_rate(gpu, timer, device.cpu_driver)?;
        device.launch_ns = launch_time(gpu, timer)?;
    }
    if gpu.limits().subgroups {
        device.packing = Some(packing(gpu)?);
    }
    Ok(())
}

/// Whether (1 + 2⁻¹²)² − (1 + 2⁻¹¹) keeps the 2⁻²⁴ that rounding the product loses.
fn probe_fusion<G: Gpu>(gpu: &G) -> Result<bool, RunError> {
    let a = (1.0_f32 + 2_f32.powi(-12)).to_bits();
    let c = (-(1.0_f32 + 2_f32.powi(-11))).to_bits();
    let result = observe(gpu, FUSED, &[a, a, c, 0], 1, "finding whether fma rounds once")?;
    Ok(f32::from_bits(result[3]) != 0.0)
}

/// Finds how many iterations the device makes of a loop of 2^17, where it makes fewer.
///
/// # Errors
///
/// What compiling and running give.
pub(super) fn loop_limit<G: Gpu>(gpu: &G) -> Result<Option<u64>, RunError> {
    let result = observe(gpu, LOOP, &[LOOP_TRIPS, 0, 0, 0], 1, "finding the loop limit")?;
    Ok((result[1] != LOOP_TRIPS).then(|| u64::from(result[1])))
}

/// The best rate of multiply-adds, over numbers of independent chains, outputs verified.
fn fma_rate<G: Gpu>(gpu: &G, timer: Timer, cpu_driver: bool) -> Result<Option<f64>, RunError> {
    let (workgroups, trips) = FMA_SIZE[usize::from(!cpu_driver)];
    let invocations = u64::from(workgroups) * u64::from(WORKGROUP);
    let params = storage(gpu, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), trips, 0])?;
    let output = gpu.buffer("fma", invocations * 4, Uses::default())?;
    let mut best: Option<f64> = None;
    for chains in FMA_CHAINS {
        let slots = [(&params, SlotKind::ReadOnly), (&output, SlotKind::ReadWrite)];
        let text = fma_kernel(chains as usize);
        let time = best_time(gpu, timer, &text, &slots, [workgroups, 1, 1])?;
        // v = v/2 + 1 ends at 2 wherever it starts, in fewer steps than there are.
        let expected = 2.0 * f64::from(chains);
        let right = |word: &u32| (f64::from(f32::from_bits(*word)) - expected).abs() < 1e-4;
        if !read(gpu, &output)?.iter().all(right) {
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
fn copy_rate<G: Gpu>(gpu: &G, timer: Timer, cpu_driver: bool) -> Result<Option<f64>, RunError> {
    let limits = gpu.limits();
    let memory_bytes = limits.memory_bytes.unwrap_or(u64::MAX);
    let size = COPY_BYTES[usize::from(!cpu_driver)];
    let size = size.min(limits.storage_bytes_max).min(memory_bytes / 8);
    let size = size / (16 * u64::from(WORKGROUP)) * 16 * u64::from(WORKGROUP);
    let source = gpu.buffer("copy source", size, Uses::default())?;
    let target = gpu.buffer("copy target", size, Uses::default())?;
    let mark: Vec<u8> = (0..16).collect();
    gpu.write(&source, size - 16, &mark)?;
    let Some(grid) = fold(size / 16 / u64::from(WORKGROUP)) else { return Ok(None) };
    let exact = u64::from(grid[0]) * u64::from(grid[1]) * u64::from(WORKGROUP) * 16 == size;
    let slots = [(&source, SlotKind::ReadOnly), (&target, SlotKind::ReadWrite)];
    let time = best_time(gpu, timer, COPY, &slots, grid)?;
    if !exact || gpu.read(&target, size - 16, 16)? != mark {
        return Err(RunError::new(RunErrorKind::Driver, "the copy probe did not copy its end"));
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes lie far below 2^53")]
    Ok(time.map(|ns| 2.0 * size as f64 / (ns * 1e-9)))
}

/// What a launch of one workgroup and one multiply-add takes where it is repeated.
fn launch_time<G: Gpu>(gpu: &G, timer: Timer) -> Result<Option<Nanoseconds>, RunError> {
    let buffer = storage(gpu, &[0; 4])?;
    let slots = [(&buffer, SlotKind::ReadWrite)];
    let probe = Probe::new(gpu, FUSED, &slots, [1; 3], (LAUNCH_REPEATS, LAUNCH_REPEATS))?;
    let time = best_of(gpu, timer, &probe)?;
    Ok(time.map(|ns| Nanoseconds(ns / f64::from(LAUNCH_REPEATS))))
}

/// The best usable time of a few runs, each right after another, in nanoseconds.
fn best_time<G: Gpu>(
    gpu: &G,
    timer: Timer,
    text: &str,
    slots: &[(&G::Buffer, SlotKind)],
    workgroups: [u32; 3],
) -> Result<Option<f64>, RunError> {
    best_of(gpu, timer, &Probe::new(gpu, text, slots, workgroups, (1, 1))?)
}

/// The best usable time of a few runs of a probe, in nanoseconds; nothing where even the shortest run by the
/// machine's clock took far longer.
fn best_of<G: Gpu>(gpu: &G, timer: Timer, probe: &Probe<G>) -> Result<Option<f64>, RunError> {
    let (mut best, mut whole_ns): (Option<Ticks>, f64) = (None, f64::INFINITY);
    for _ in 0..RATE_RUNS {
        let (ticks, took_ns) = probe.time(gpu)?;
        whole_ns = whole_ns.min(took_ns);
        let possibility = timer.held_against(ticks, Around::at_most(took_ns));
        let shorter = |best: &Ticks| timer.duration_ns(ticks) < timer.duration_ns(*best);
        if timer.state(TakenSample { ticks, possibility }) == SampleState::Ok
            && best.as_ref().is_none_or(shorter)
        {
            best = Some(ticks);
        }
    }
    let shortest = Around { whole_ns, other_ns: SUBMIT_NS, runs: probe.runs };
    let possible = |ticks: &Ticks| timer.is_possible(*ticks, shortest);
    Ok(best.filter(possible).map(|ticks| timer.duration_ns(ticks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantum_of_a_counter_is_what_all_steps_share_and_of_spans_the_least_difference() {
        let quantum =
            |clock, found: &[u64]| judge_timer(clock, found.to_vec()).map(|timer| timer.quantum_ns);
        let counter = Clock::Counter { period_ns: 2.0 };
        assert_eq!(quantum(counter, &[100, 196, 164, 260]), Some(64.0));
        assert_eq!(quantum(Clock::Spans, &[2048, 2080, 2048, 2144]), Some(32.0));
        assert_eq!(quantum(counter, &[7, 7, 7]), None);
        assert_eq!(quantum(Clock::Spans, &[0, 0]), None);
    }

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
