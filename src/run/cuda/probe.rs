//! What is measured of a CUDA device itself.
//!
//! Input: an open device. Output: fields of `record::Device`, by the texts of `run::probes`.

use super::driver::{Buffer, Kernel, Launch, Recorded, Sample};
use super::runner::{Compiler, arguments};
use crate::kernel::limits::fold;
use crate::program::{Overrides, Parsed};
use crate::record::{Device, Packing, SampleState};
use crate::run::probes::{
    self, COPY, FUSED, LOOP, LOOP_TRIPS, PACKING, ROWS, WIDTH, WIDTH_WORKGROUPS, WORKGROUP,
    fma_kernel, words,
};
use crate::run::sampling::{Ticks, Timer};
use crate::run::{RunError, RunErrorKind};
use crate::translate::{self, Checks, Translated};

/// Runs of a rate's kernel, of which the best counts.
const RATE_RUNS: u32 = 5;

/// Runs by which the timer's quantum is found.
const TIMER_RUNS: u32 = 48;

/// Workgroups and iterations of the multiply-add probe.
const FMA_WORKGROUPS: u32 = 8192;
const FMA_TRIPS: u32 = 64;

/// Independent chains of multiply-adds.
pub(super) const FMA_CHAINS: [u32; 4] = [1, 2, 4, 8];

/// Bytes of the copy's source.
const COPY_BYTES: u64 = 512 << 20;

/// What messages say is going on.
const RUNNING: &str = "running a probe";

/// A probe's text, translated.
fn translated(text: &str) -> Result<Translated, RunError> {
    let internal = |message: String| {
        RunError::new(RunErrorKind::BadInput, format!("a probe of lanescope's own: {message}"))
    };
    let program = Parsed::new("probe.wgsl", text)
        .and_then(|parsed| parsed.resolve("main", &Overrides::new()))
        .map_err(|error| internal(error.to_string()))?;
    let options = translate::Options { checks: Checks::Unchecked, zero_memory: true };
    translate::cuda(program.module(), program.info(), program.text(), &options)
        .map_err(|error| internal(error.to_string()))
}

/// The C++ of every probe.
pub(super) fn sources() -> Result<Vec<String>, RunError> {
    let texts = [WIDTH, PACKING, FUSED, LOOP, COPY].map(str::to_owned).into_iter();
    let rates = FMA_CHAINS.into_iter().map(|chains| fma_kernel(chains as usize));
    texts.chain(rates).map(|text| Ok(translated(&text)?.source)).collect()
}

/// A probe that was compiled, over buffers at group 0, binding 0, 1, …
pub(super) struct Probe {
    recorded: Recorded,
    _kernel: Kernel,
}

impl Probe {
    /// Compiles a text and records `repeats` runs of it.
    pub(super) fn new(
        compiler: &Compiler,
        text: &str,
        buffers: &[&Buffer],
        grid: [u32; 3],
        repeats: u32,
    ) -> Result<Self, RunError> {
        let translated = translated(text)?;
        let kernel = compiler.load(&translated)?;
        let bound = |_: u32, binding: u32| {
            buffers.get(binding as usize).copied().ok_or_else(|| {
                let message = format!("a probe of lanescope's own binds nothing at {binding}");
                RunError::new(RunErrorKind::BadInput, message)
            })
        };
        compiler.hold(&kernel, &translated, &bound)?;
        let arguments = arguments(&translated, &[], &bound)?;
        let block = translated.block;
        let launch = Launch { kernel: &kernel, arguments: &arguments, grid, block };
        let sample = Sample { launches: &[launch], repeats, before: 0, resets: &[] };
        let recorded = compiler.gpu.record(&sample, RUNNING)?;
        Ok(Self { recorded, _kernel: kernel })
    }

    /// Runs it; the time in nanoseconds.
    pub(super) fn run(&self, compiler: &Compiler) -> Result<f64, RunError> {
        compiler.gpu.timed(&self.recorded, RUNNING)
    }
}

/// A probe of one run as a function that gives the time in nanoseconds.
fn probe<'b>(
    compiler: &'b Compiler,
    text: &str,
    buffers: &[&'b Buffer],
    grid: [u32; 3],
) -> Result<impl Fn() -> Result<f64, RunError> + use<'b>, RunError> {
    let probe = Probe::new(compiler, text, buffers, grid, 1)?;
    Ok(move || probe.run(compiler))
}

/// A buffer that holds `content`.
pub(super) fn storage(compiler: &Compiler, content: &[u32]) -> Result<Buffer, RunError> {
    let bytes: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = compiler.gpu.buffer(bytes.len() as u64)?;
    compiler.gpu.write(&buffer, 0, &bytes)?;
    Ok(buffer)
}

fn read(compiler: &Compiler, buffer: &Buffer) -> Result<Vec<u32>, RunError> {
    Ok(words(&compiler.gpu.read(buffer, 0, buffer.size)?))
}

/// Finds the width that the device runs, from which lanes vote together.
pub(super) fn width(compiler: &Compiler, device: &mut Device) -> Result<(), RunError> {
    let invocations = (WORKGROUP * WIDTH_WORKGROUPS) as usize;
    let buffer = storage(compiler, &vec![0; invocations * 4])?;
    probe(compiler, WIDTH, &[&buffer], [WIDTH_WORKGROUPS, 1, 1])?()?;
    probes::judge_width(device, &read(compiler, &buffer)?);
    Ok(())
}

/// Finds where the subgroups of a 3D workgroup begin, from who is first in each.
fn packing(compiler: &Compiler) -> Result<Packing, RunError> {
    let buffer = storage(compiler, &vec![u32::MAX; ROWS.iter().product::<u32>() as usize])?;
    probe(compiler, PACKING, &[&buffer], [1, 1, 1])?()?;
    Ok(probes::judge_packing(&read(compiler, &buffer)?))
}

/// A span as whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans are positive and far below 2^53"
)]
pub(super) fn ticks(span_ns: f64) -> u64 {
    span_ns.max(0.0).round() as u64
}

/// Finds the least difference of two spans between events; no timer where none is seen.
pub(super) fn timer(compiler: &Compiler) -> Result<Option<Timer>, RunError> {
    let buffer = storage(compiler, &[0; 4])?;
    let run = probe(compiler, FUSED, &[&buffer], [1, 1, 1])?;
    let mut spans = Vec::new();
    for _ in 0..TIMER_RUNS {
        spans.push(ticks(run()?));
    }
    spans.sort_unstable();
    let steps = spans.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0);
    #[expect(clippy::cast_precision_loss, reason = "differences of ticks lie far below 2^53")]
    let timer = |quantum: u64| Timer { period_ns: 1.0, quantum_ns: quantum as f64 };
    Ok(steps.min().map(timer))
}

/// Measures rates, fusion and the loop limit.
pub(super) fn calibrate(
    compiler: &Compiler,
    timer: Option<Timer>,
    device: &mut Device,
) -> Result<(), RunError> {
    device.packing = Some(packing(compiler)?);
    device.fma_fused = Some(fused(compiler)?);
    device.loop_limit = loop_limit(compiler)?;
    if let Some(timer) = timer {
        device.peak_fma_per_s = fma_rate(compiler, timer)?;
        device.copy_bytes_per_s = copy_rate(compiler, timer)?;
    }
    Ok(())
}

/// Whether (1 + 2⁻¹²)² − (1 + 2⁻¹¹) keeps the 2⁻²⁴ that rounding the product loses.
fn fused(compiler: &Compiler) -> Result<bool, RunError> {
    let a = (1.0_f32 + 2_f32.powi(-12)).to_bits();
    let c = (-(1.0_f32 + 2_f32.powi(-11))).to_bits();
    let buffer = storage(compiler, &[a, a, c, 0])?;
    probe(compiler, FUSED, &[&buffer], [1, 1, 1])?()?;
    Ok(f32::from_bits(read(compiler, &buffer)?[3]) != 0.0)
}

/// How many iterations the device made of a long loop, where it made fewer.
fn loop_limit(compiler: &Compiler) -> Result<Option<u64>, RunError> {
    let buffer = storage(compiler, &[LOOP_TRIPS, 0, 0, 0])?;
    probe(compiler, LOOP, &[&buffer], [1, 1, 1])?()?;
    let trips = read(compiler, &buffer)?[1];
    Ok((trips != LOOP_TRIPS).then(|| u64::from(trips)))
}

/// The best rate of multiply-adds, over numbers of independent chains, outputs verified.
fn fma_rate(compiler: &Compiler, timer: Timer) -> Result<Option<f64>, RunError> {
    let invocations = u64::from(FMA_WORKGROUPS) * u64::from(WORKGROUP);
    let params = storage(compiler, &[0.5_f32.to_bits(), 1.0_f32.to_bits(), FMA_TRIPS, 0])?;
    let output = compiler.gpu.buffer(invocations * 4)?;
    let mut best: Option<f64> = None;
    for chains in FMA_CHAINS {
        let text = fma_kernel(chains as usize);
        let run = probe(compiler, &text, &[&params, &output], [FMA_WORKGROUPS, 1, 1])?;
        let time = best_time(timer, &run)?;
        // v = v/2 + 1 ends at 2 wherever it starts, in fewer steps than there are.
        let expected = 2.0 * f64::from(chains);
        let right = |word: &u32| (f64::from(f32::from_bits(*word)) - expected).abs() < 1e-4;
        if !read(compiler, &output)?.iter().all(right) {
            return Err(RunError::new(
                RunErrorKind::Driver,
                "the multiply-add probe gave wrong results; its rate would mean nothing",
            ));
        }
        #[expect(clippy::cast_precision_loss, reason = "counts lie far below 2^53")]
        let work = (invocations * u64::from(FMA_TRIPS) * 16 * u64::from(chains)) as f64;
        best = time.map(|ns| work / (ns * 1e-9)).into_iter().chain(best).reduce(f64::max);
    }
    Ok(best)
}

/// Bytes read plus bytes written a second by a copy far larger than caches.
fn copy_rate(compiler: &Compiler, timer: Timer) -> Result<Option<f64>, RunError> {
    let size = COPY_BYTES.min(compiler.gpu.facts.memory_bytes / 8);
    let size = size / (16 * u64::from(WORKGROUP)) * 16 * u64::from(WORKGROUP);
    let (source, target) = (compiler.gpu.buffer(size)?, compiler.gpu.buffer(size)?);
    let mark: Vec<u8> = (0..16).collect();
    compiler.gpu.write(&source, size - 16, &mark)?;
    let Some(grid) = fold(size / 16 / u64::from(WORKGROUP)) else { return Ok(None) };
    let exact = u64::from(grid[0]) * u64::from(grid[1]) * u64::from(WORKGROUP) * 16 == size;
    let run = probe(compiler, COPY, &[&source, &target], grid)?;
    let time = best_time(timer, &run)?;
    if !exact || compiler.gpu.read(&target, size - 16, 16)? != mark {
        return Err(RunError::new(RunErrorKind::Driver, "the copy probe did not copy its end"));
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes lie far below 2^53")]
    Ok(time.map(|ns| 2.0 * size as f64 / (ns * 1e-9)))
}

/// The best usable time of a few runs, in nanoseconds.
fn best_time(
    timer: Timer,
    run: &dyn Fn() -> Result<f64, RunError>,
) -> Result<Option<f64>, RunError> {
    let mut best: Option<f64> = None;
    for _ in 0..RATE_RUNS {
        let span = run()?;
        if timer.state(Ticks { begin: 0, end: ticks(span) }) == SampleState::Ok {
            best = Some(best.map_or(span, |best| best.min(span)));
        }
    }
    Ok(best)
}
