//! Counting and timing of launches on an open CUDA device.
//!
//! Input: launches. Output: counts, times and verdicts. Each dispatch is translated, compiled by NVRTC
//! for the device's own architecture (or found among the embedded PTX where there is no NVRTC), and
//! launched; an indirect dispatch reads its grid back first, which in timing is done once, before the
//! samples. A sample is one graph: the work untimed, then the same work between two events.

use std::collections::BTreeMap;

use super::count::Counting;
use super::driver::{
    Argument, Buffer, GRID_MAX, Gpu, Kernel, Recorded, Sample, WORKGROUP_BYTES_MAX,
};
use super::native::refused;
use super::nvrtc::{Image, Nvrtc, NvrtcError};
use super::warm::Warmth;
use super::{driver, embedded, probe};
use crate::instrument::Method;
use crate::kernel::{Language, Launch, Workgroups};
use crate::program::Program;
use crate::record::{Backend, Device, DeviceKind, Tag, Time};
use crate::run::counting::{Outputs, interrupted, method, verify, written};
use crate::run::measure::programs;
use crate::run::sampling::{LONG_NS, Ticks, Timer, sample_all};
use crate::run::{
    CountOptions, Counted, How, RunError, RunErrorKind, Runner, TimeOptions, Timed, caught,
};
use crate::translate::{self, Checks, Parameter, Translated};
use crate::units::{Nanoseconds, Width};

/// A GPU through CUDA.
pub struct CudaRunner {
    pub(super) compiler: Compiler,
    pub(super) device: Device,
    timer: Option<Timer>,
    /// What brings clocks up, where there is a timer.
    warmth: Option<Warmth>,
}

impl std::fmt::Debug for CudaRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CudaRunner").field("device", &self.device).finish_non_exhaustive()
    }
}

/// An open device with the compiler for it.
pub(super) struct Compiler {
    pub(super) gpu: Gpu,
    /// Nothing, and why: then only what is embedded can be loaded.
    nvrtc: Result<Nvrtc, NvrtcError>,
    /// Whether PTX is made machine code here, with source lines, and not while it is loaded.
    assembles: bool,
}

/// A compiled dispatch with what it takes.
pub(super) struct Work {
    pub(super) kernel: Kernel,
    /// What was loaded.
    pub(super) image: Image,
    /// The kernel's name in it.
    pub(super) function: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) block: [u32; 3],
    pub(super) grid: Grid,
}

/// The grid of a dispatch.
#[derive(Clone, Debug)]
pub(super) enum Grid {
    Direct([u32; 3]),
    /// Three words in a buffer.
    Indirect {
        buffer: String,
        offset: u64,
    },
}

/// A launch's buffers on the device, by name.
pub(super) type Buffers = BTreeMap<String, Buffer>;

/// A launch made ready to be run over and over.
pub(super) struct Ready {
    pub(super) buffers: Buffers,
    /// The dispatches with their grids.
    pub(super) work: Vec<(Work, [u32; 3])>,
    /// What the work's counters are kept in, where it counts.
    _counting: Vec<Counting>,
    /// The contents, after what sets up has run, of the buffers that a launch writes which cannot be
    /// repeated on what it left behind, by name.
    first: Buffers,
    /// Whether one run has been seen to take so long that none need go before it.
    long: bool,
    /// A sample of so many repeats after so many runs, recorded.
    recorded: Option<([u32; 2], Recorded)>,
    /// Whether it asks for more workgroups at once than the device holds, so that there is nothing
    /// to time.
    refused: bool,
}

/// How a launch's kernels are translated.
pub(super) fn options_for(launch: &Launch) -> translate::Options {
    translate::Options {
        checks: if launch.trusted { Checks::Unchecked } else { Checks::Checked },
        zero_memory: launch.workgroup_memory_zeroed,
    }
}

fn bad_input(message: String) -> RunError {
    RunError::new(RunErrorKind::BadInput, message)
}

impl Compiler {
    /// Compiles a translation and loads it.
    pub(super) fn load(&self, translated: &Translated) -> Result<Kernel, RunError> {
        self.gpu.load(&self.image(translated)?, &translated.kernel)
    }

    /// Compiles a translation.
    fn image(&self, translated: &Translated) -> Result<Image, RunError> {
        if translated.workgroup_bytes > WORKGROUP_BYTES_MAX {
            let message = format!(
                "{} bytes of workgroup memory; CUDA has {WORKGROUP_BYTES_MAX} without being asked \
                 for more",
                translated.workgroup_bytes
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        self.text_image(&translated.source)
    }

    /// What the driver loads of a text in CUDA C++.
    pub(super) fn text_image(&self, source: &str) -> Result<Image, RunError> {
        let capability = self.gpu.facts.capability;
        let image = match &self.nvrtc {
            Ok(nvrtc) => nvrtc
                .compile(source, capability)
                .map_err(|error| RunError::new(RunErrorKind::Driver, error.to_string())),
            Err(why) => embedded::find(source).ok_or_else(|| {
                let message = format!(
                    "lanescope brings PTX of the catalogue's default points alone, and none of \
                     this; {why}"
                );
                RunError::new(RunErrorKind::Unsupported, message)
            }),
        }?;
        if self.assembles && image.architecture.starts_with("compute_") {
            return self.gpu.assemble(&image);
        }
        Ok(image)
    }

    /// Fills a kernel's constant memory, where `buffer` gives the one at a binding.
    ///
    /// Once is enough: a buffer belongs to one variable of the WGSL, by its name, and nothing writes
    /// to one that is uniform.
    pub(super) fn hold<'b>(
        &self,
        kernel: &Kernel,
        translated: &Translated,
        buffer: &dyn Fn(u32, u32) -> Result<&'b Buffer, RunError>,
    ) -> Result<(), RunError> {
        for constant in &translated.constants {
            let from = buffer(constant.group, constant.binding)?;
            let bytes = (constant.size, constant.copies);
            self.gpu.hold(kernel, &constant.symbol(), bytes, from)?;
        }
        Ok(())
    }

    /// Translates and compiles a program, plain or counting.
    fn compiled(
        &self,
        program: &Program,
        counting: Option<&Counting>,
        launch: &Launch,
    ) -> Result<(Image, Translated), RunError> {
        let (module, info) = match counting {
            Some(counting) => (counting.instrumented.module(), counting.instrumented.info()),
            None => (program.module(), program.info()),
        };
        let options = options_for(launch);
        let translated = caught("translation", program.text().file(), || {
            translate::cuda(module, info, program.text(), &options)
                .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))
        })?;
        Ok((self.image(&translated)?, translated))
    }
}

/// What a translation's parameters are on this device, where `buffer` gives the one at a binding.
pub(super) fn arguments<'b>(
    translated: &Translated,
    immediates: &[u8],
    buffer: &dyn Fn(u32, u32) -> Result<&'b Buffer, RunError>,
) -> Result<Vec<Argument>, RunError> {
    let mut arguments = Vec::new();
    for parameter in &translated.parameters {
        arguments.push(match parameter {
            Parameter::Buffer { group, binding } => buffer(*group, *binding)?.argument(),
            Parameter::Lengths(lengths) => {
                let mut bytes = Vec::new();
                for length in lengths {
                    let size = buffer(length.group, length.binding)?.size;
                    let elements = size
                        .saturating_sub(u64::from(length.offset))
                        .checked_div(u64::from(length.stride))
                        .unwrap_or(0);
                    let elements = u32::try_from(elements).unwrap_or(u32::MAX);
                    bytes.extend(elements.to_le_bytes());
                }
                Argument::bytes(&bytes)
            }
            Parameter::Immediates { size } => {
                let mut bytes = immediates.to_vec();
                bytes.resize(*size as usize, 0);
                Argument::bytes(&bytes)
            }
        });
    }
    Ok(arguments)
}

impl CudaRunner {
    /// Opens device `cuda:<number>` and finds the width that it runs and its timer; with `calibrate`,
    /// its rates, fusion and loop limit too.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where there is no driver or no such device, and what the
    /// driver says where a probe fails.
    pub fn open(number: usize, calibrate: bool) -> Result<Self, RunError> {
        let mut runner = Self::unprobed(number, false)?;
        let Self { compiler, device, timer, warmth } = &mut runner;
        probe::width(compiler, device)?;
        *timer = probe::timer(compiler)?;
        device.timestamp_quantum_ns = timer.map(|timer| Nanoseconds(timer.quantum_ns));
        if timer.is_none() {
            device.flags.push(Tag::NoTimestamps.into());
        }
        *warmth = timer.map(|_| Warmth::new(compiler)).transpose()?;
        if calibrate {
            if let Some(warmth) = warmth {
                warmth.up(compiler)?;
            }
            probe::calibrate(compiler, *timer, device)?;
        }
        Ok(runner)
    }

    /// Opens device `cuda:<number>` and measures nothing of it. Where it `assembles`, every kernel
    /// comes as machine code with source lines.
    pub(super) fn unprobed(number: usize, assembles: bool) -> Result<Self, RunError> {
        let gpu = Gpu::open(number)?;
        let nvrtc = Nvrtc::load();
        let facts = gpu.facts.clone();
        let width = u32::try_from(facts.warp_size).ok().and_then(|lanes| Width::new(lanes).ok());
        let device = Device {
            id: format!("cuda:{number}"),
            kind: DeviceKind::Cuda,
            name: facts.name.clone(),
            vendor: "NVIDIA".to_owned(),
            driver: describe(&facts, nvrtc.as_ref().ok()),
            backend: Backend::Cuda,
            cpu_driver: false,
            subgroup_width_min: width,
            subgroup_width_max: width,
            subgroup_width_run: None,
            lane_is_local_index_mod_width: None,
            timestamp_period_ns: Some(1.0),
            timestamp_quantum_ns: None,
            peak_fma_per_s: None,
            copy_bytes_per_s: None,
            fma_fused: None,
            loop_limit: None,
            uniform_buffers_as_storage: false,
            packing: None,
            trust: None,
            self_test: Vec::new(),
            flags: Vec::new(),
        };
        let compiler = Compiler { gpu, nvrtc, assembles };
        Ok(Self { compiler, device, timer: None, warmth: None })
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.compiler.gpu
    }

    /// Makes a launch's buffers and fills them.
    pub(super) fn buffers(&self, launch: &Launch) -> Result<Buffers, RunError> {
        let needed: u64 = launch.buffers.iter().map(|buffer| buffer.size).sum();
        let there = self.gpu().facts.memory_bytes;
        if needed > there {
            let message = format!(
                "{} needs {needed} bytes of buffers; {} has {there}; choose a smaller launch",
                launch.kernel, self.device.id
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        let mut buffers = BTreeMap::new();
        for buffer in &launch.buffers {
            let made = self.gpu().buffer(buffer.size)?;
            self.gpu().write(&made, 0, &launch.contents(buffer))?;
            buffers.insert(buffer.name.clone(), made);
        }
        Ok(buffers)
    }

    /// Reads a launch's outputs.
    pub(super) fn outputs(&self, launch: &Launch, buffers: &Buffers) -> Result<Outputs, RunError> {
        let mut outputs = BTreeMap::new();
        for buffer in launch.buffers.iter().filter(|buffer| buffer.output) {
            let bytes = self.gpu().read(&buffers[&buffer.name], 0, buffer.size)?;
            outputs.insert(buffer.name.clone(), bytes);
        }
        Ok(outputs)
    }

    /// Runs a launch once with counters and checks its outputs.
    fn counted(&self, launch: &Launch, method: Method) -> Result<Counted, RunError> {
        let ready = self.count_ready(launch, method)?;
        let found = self.count_once(launch, &ready)?;
        self.concluded(launch, &ready, found)
    }

    /// A dispatch compiled, with what it takes.
    pub(super) fn work(
        &self,
        launch: &Launch,
        number: usize,
        program: &Program,
        buffers: &Buffers,
        counting: Option<&Counting>,
    ) -> Result<Work, RunError> {
        let (image, translated) = self.compiler.compiled(program, counting, launch)?;
        let kernel = self.gpu().load(&image, &translated.kernel)?;
        let bindings = program
            .bindings()
            .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))?;
        let named = |group: u32, binding: u32| {
            if let Some(counting) = counting {
                let place = counting.instrumented.counters();
                if (place.group, place.binding) == (group, binding) {
                    return Ok(&counting.buffer);
                }
            }
            let found = bindings.iter().find(|b| (b.group, b.binding) == (group, binding));
            let name = found.map(|binding| binding.name.as_str()).unwrap_or_default();
            buffers
                .get(name)
                .ok_or_else(|| bad_input(format!("{} describes no buffer `{name}`", launch.kernel)))
        };
        self.compiler.hold(&kernel, &translated, &named)?;
        let arguments = arguments(&translated, &launch.immediates, &named)?;
        let grid = match &launch.dispatches[number].workgroups {
            Workgroups::Direct(grid) => Grid::Direct(*grid),
            Workgroups::Indirect { buffer, offset } => {
                Grid::Indirect { buffer: buffer.clone(), offset: *offset }
            }
        };
        let (function, block) = (translated.kernel, translated.block);
        Ok(Work { kernel, image, function, arguments, block, grid })
    }

    /// The grid of a dispatch, read back where the device works it out.
    pub(super) fn grid(
        &self,
        launch: &Launch,
        grid: &Grid,
        buffers: &Buffers,
    ) -> Result<[u32; 3], RunError> {
        let grid = match grid {
            Grid::Direct(grid) => *grid,
            Grid::Indirect { buffer, offset } => {
                let found = buffers.get(buffer).ok_or_else(|| {
                    bad_input(format!("there is no buffer `{buffer}` for an indirect dispatch"))
                })?;
                let bytes = self.gpu().read(found, *offset, 12)?;
                let words = crate::run::probes::words(&bytes);
                [words[0], words[1], words[2]]
            }
        };
        if grid.iter().zip(GRID_MAX).any(|(count, max)| *count > max) {
            let [x, y, z] = grid;
            let message = format!(
                "{} has {x}×{y}×{z} workgroups; CUDA takes at most {}×{}×{}",
                launch.kernel, GRID_MAX[0], GRID_MAX[1], GRID_MAX[2]
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        Ok(grid)
    }

    pub(super) fn run_once(
        &self,
        work: &Work,
        grid: [u32; 3],
        doing: &str,
    ) -> Result<(), RunError> {
        self.gpu().run(&[launched(work, grid)], doing)
    }

    /// Makes a launch ready to be run over and over: where a grid is worked out on the device, by running the
    /// launch once and filling the buffers again.
    pub(super) fn ready(&self, launch: &Launch, method: Option<Method>) -> Result<Ready, RunError> {
        let native = launch.language() == Language::Cuda;
        let programs = if native { Vec::new() } else { programs(launch)? };
        let buffers = self.buffers(launch)?;
        let mut all = Vec::new();
        let mut counters = Vec::new();
        let mut indirect = false;
        if native {
            all = self.native(launch, &buffers)?;
        }
        for (number, program) in programs.iter().enumerate() {
            let workgroups = &launch.dispatches[number].workgroups;
            let counting =
                method.map(|method| self.counting(program, workgroups, method)).transpose()?;
            let work = self.work(launch, number, program, &buffers, counting.as_ref())?;
            counters.extend(counting);
            indirect |= matches!(work.grid, Grid::Indirect { .. });
            all.push(work);
        }
        let mut ready = Vec::new();
        for work in all {
            let grid = self.grid(launch, &work.grid, &buffers)?;
            if indirect {
                self.run_once(&work, grid, &format!("finding the grids of {}", launch.kernel))?;
            }
            ready.push((work, grid));
        }
        if indirect {
            self.refill(launch, &buffers)?;
        }
        self.set_up(launch, &ready)?;
        let mut first = BTreeMap::new();
        if !launch.repeatable {
            let own = launch.buffers.iter().map(|buffer| buffer.name.clone());
            let names = if native { own.collect() } else { written(&programs)? };
            for name in names {
                if let Some(buffer) = buffers.get(&name) {
                    first.insert(name, self.gpu().copied(buffer)?);
                }
            }
        }
        let refused = self.too_large(&ready)?;
        let (long, recorded) = (false, None);
        Ok(Ready { buffers, work: ready, _counting: counters, first, long, recorded, refused })
    }

    /// Runs the dispatches that make ready what is timed.
    pub(super) fn set_up(
        &self,
        launch: &Launch,
        work: &[(Work, [u32; 3])],
    ) -> Result<(), RunError> {
        let setup = launch.dispatches.iter().zip(work).filter(|(dispatch, _)| dispatch.setup);
        for (_, (work, grid)) in setup {
            self.run_once(work, *grid, &format!("setting up {}", launch.kernel))?;
        }
        Ok(())
    }

    /// Fills a launch's buffers as they were at first.
    pub(super) fn refill(&self, launch: &Launch, buffers: &Buffers) -> Result<(), RunError> {
        for buffer in &launch.buffers {
            self.gpu().write(&buffers[&buffer.name], 0, &launch.contents(buffer))?;
        }
        Ok(())
    }

    /// Takes one sample, right after as much of the same work untimed; a launch that has once taken
    /// long goes without.
    fn sample(&self, launch: &Launch, ready: &mut Ready, repeats: u32) -> Result<f64, RunError> {
        let doing = format!("timing {}", launch.kernel);
        let before = if ready.long { 0 } else { repeats };
        let recorded = match ready.recorded.take() {
            Some((counts, recorded)) if counts == [repeats, before] => recorded,
            _ => {
                let timed = launch.dispatches.iter().zip(&ready.work);
                let work: Vec<driver::Launch<'_>> = timed
                    .filter(|(dispatch, _)| !dispatch.setup)
                    .map(|(_, (work, grid))| launched(work, *grid))
                    .collect();
                let resets: Vec<(&Buffer, &Buffer)> =
                    ready.first.iter().map(|(name, first)| (first, &ready.buffers[name])).collect();
                let sample = Sample { launches: &work, repeats, before, resets: &resets };
                self.gpu().record(&sample, &doing)?
            }
        };
        let time = self.gpu().timed(&recorded, &doing);
        ready.recorded = Some(([repeats, before], recorded));
        ready.long |= time.as_ref().is_ok_and(|ns| *ns >= LONG_NS * f64::from(repeats));
        time
    }

    /// What sampling gave, with the outputs checked.
    fn timed(&self, launch: &Launch, ready: &Ready, time: Option<Time>) -> Result<Timed, RunError> {
        let before = |time: Time| Time {
            dispatches_before_sample: Some(if ready.long { 0 } else { time.dispatches_per_sample }),
            ..time
        };
        let time = time.map(before);
        let mut flags = Vec::new();
        if time.is_none() {
            flags.push(Tag::NoUsableSamples.into());
        }
        if time.as_ref().is_some_and(|time| !time.stop_rule_met) {
            flags.push(Tag::StopRuleNotMet.into());
        }
        let checked = verify(launch, &self.outputs(launch, &ready.buffers)?)?;
        // Dispatches are not timed one by one here.
        let dispatch_median_ns = Vec::new();
        Ok(Timed { time, checked, runtime_checks: !launch.trusted, dispatch_median_ns, flags })
    }
}

/// A dispatch as the driver takes it.
pub(super) fn launched(work: &Work, grid: [u32; 3]) -> driver::Launch<'_> {
    driver::Launch { kernel: &work.kernel, arguments: &work.arguments, grid, block: work.block }
}

/// The driver's and the compiler's versions, and what the chip is.
fn describe(facts: &driver::Facts, nvrtc: Option<&Nvrtc>) -> String {
    let compiler = match nvrtc.map(Nvrtc::version) {
        Some((major, minor)) => format!("NVRTC {major}.{minor}"),
        None => "embedded PTX".to_owned(),
    };
    format!(
        "CUDA {}.{}, {compiler}, sm_{}, {} SMs",
        facts.cuda_version / 1000,
        facts.cuda_version % 1000 / 10,
        facts.capability,
        facts.multiprocessors
    )
}

impl Runner for CudaRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        if launch.language() == Language::Cuda {
            return self.run_native(launch);
        }
        self.counted(launch, method(options))
    }

    fn estimate(&mut self, launch: &Launch) -> Result<Counted, RunError> {
        self.counted(launch, Method::Estimated)
    }

    fn count_twice(
        &mut self,
        launch: &Launch,
        how: How,
        _notice: &mut dyn FnMut(),
    ) -> Result<(Counted, bool), RunError> {
        let method = match how {
            How::Counted(options) => method(&options),
            How::Estimated => Method::Estimated,
        };
        let ready = self.count_ready(launch, method)?;
        let first = self.count_once(launch, &ready)?;
        self.count_again(launch, &ready)?;
        let second = self.count_once(launch, &ready)?;
        let same = first == second;
        Ok((self.concluded(launch, &ready, first)?, same))
    }

    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        let Some(timer) = self.timer else {
            return launches.iter().map(|_| Ok(None)).collect();
        };
        let mut lost = false;
        let mut ready: Vec<Result<Ready, RunError>> = Vec::new();
        for (index, launch) in launches.iter().enumerate() {
            notice(index);
            let made = if lost { Err(interrupted()) } else { self.ready(launch, options.counting) };
            lost |= made.as_ref().is_err_and(|error| error.kind.ends_device());
            ready.push(made);
        }
        let repeatable: Vec<bool> = launches.iter().map(|launch| launch.repeatable).collect();
        if let Some(warmth) = self.warmth.as_mut().filter(|_| !lost) {
            // A device that fails here fails at its first sample too, which then says so.
            drop(warmth.up(&self.compiler));
        }
        // Events give spans, not times of day: samples stand one after the other.
        let mut now = 0;
        let times = sample_all(timer, &repeatable, options, |index, repeats| {
            notice(index);
            let span = match &mut ready[index] {
                Ok(_) if lost => Err(interrupted()),
                Ok(ready) if ready.refused => Err(refused()),
                Ok(ready) => self.sample(&launches[index], ready, repeats),
                Err(error) => Err(error.clone()),
            }?;
            let begin = now;
            now += probe::ticks(span);
            Ok(Ticks { begin, end: now })
        });
        let mut results = Vec::new();
        for (index, (ready, time)) in ready.iter().zip(times).enumerate() {
            notice(index);
            let result = match (ready, time) {
                (Ok(ready), _) if ready.refused && !lost => Ok(None),
                (Ok(_), Ok(_)) if lost => Err(interrupted()),
                (Ok(ready), Ok(time)) => self.timed(&launches[index], ready, time).map(Some),
                (_, Err(error)) => Err(error),
                (Err(error), _) => Err(error.clone()),
            };
            lost |= result.as_ref().is_err_and(|error| error.kind.ends_device());
            results.push(result);
        }
        results
    }
}
