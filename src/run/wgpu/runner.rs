//! Counting and timing of launches on an open adapter.
//!
//! Input: launches. Output: counts, times and verdicts. The measured facts of the device come from
//! `probe`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use wgpu::{Buffer, BufferUsages, DeviceType, Features};

use super::adapters;
use super::gpu::{Bound, Gpu, Grid, Sample, Shader, Slot, SlotKind};
use super::inputs::Inputs;
use super::probe;
use super::warm::Warmth;
use crate::instrument::{Instrumented, Method, Options};
use crate::kernel::{Launch, Workgroups};
use crate::program::Program;
use crate::record::{Device, DeviceKind, IssuesMethod, Time};
use crate::run::counting::{
    COUNTER_BYTES_MAX, Outputs, decoded, instrumented, interrupted, issues_method, known, method,
    verify, written,
};
use crate::run::measure::{outputs_sha256, outputs_shown, programs};
use crate::run::sampling::{LONG_NS, Timer, sample_all};
use crate::run::{
    CountOptions, Counted, CountedDispatch, How, RunError, RunErrorKind, Runner, TimeOptions, Timed,
};
use crate::statistics::median;
use crate::units::{Nanoseconds, Width};

/// Samples of the times of single dispatches.
const DISPATCH_SAMPLES: u32 = 12;

/// The lanes that a subgroup is taken to have in estimates for a device without subgroup operations:
/// what most GPUs run.
const WIDTH_ASSUMED: u32 = 32;

/// A GPU or CPU driver through wgpu.
pub struct WgpuRunner {
    gpu: Gpu,
    device: Device,
    timer: Option<Timer>,
    inputs: RefCell<Inputs>,
    /// What brings clocks up; nothing on CPU drivers, which have none of their own.
    warmth: Option<Warmth>,
}

impl std::fmt::Debug for WgpuRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WgpuRunner").field("device", &self.device).finish_non_exhaustive()
    }
}

/// A launch's buffers on the device.
struct Buffers {
    buffers: BTreeMap<String, Buffer>,
}

impl WgpuRunner {
    /// Opens adapter `wgpu:<number>` and finds the width that it runs and its timer; with
    /// `calibrate`, its rates, fusion and loop limit too.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where there is no such adapter or it gives no device, and what
    /// its driver says where a probe fails.
    pub fn open(number: usize, calibrate: bool) -> Result<Self, RunError> {
        let (listed, adapter) = adapters::open(number).ok_or_else(|| {
            RunError::new(RunErrorKind::NoDevice, format!("there is no adapter wgpu:{number}"))
        })?;
        let info = adapter.get_info();
        let gpu = Gpu::open(&adapter)?;
        let subgroups = gpu.device.features().contains(Features::SUBGROUP);
        let timestamps = gpu.device.features().contains(Features::TIMESTAMP_QUERY);
        let width = |lanes: u32| subgroups.then(|| Width::new(lanes).ok()).flatten();
        let period = f64::from(gpu.queue.get_timestamp_period());
        let mut device = Device {
            id: listed.id.unwrap_or_default(),
            kind: DeviceKind::Wgpu,
            name: info.name.clone(),
            vendor: vendor(info.vendor),
            driver: [info.driver.as_str(), info.driver_info.as_str()].join(" ").trim().to_owned(),
            backend: info.backend.to_str().to_owned(),
            cpu_driver: info.device_type == DeviceType::Cpu,
            subgroup_width_min: width(info.subgroup_min_size),
            subgroup_width_max: width(info.subgroup_max_size),
            subgroup_width_run: None,
            lane_is_local_index_mod_width: None,
            timestamp_period_ns: timestamps.then_some(period),
            timestamp_quantum_ns: None,
            peak_fma_per_s: None,
            copy_bytes_per_s: None,
            fma_fused: None,
            loop_limit: None,
            packing: None,
            trust: None,
            self_test: Vec::new(),
            flags: Vec::new(),
        };
        if subgroups {
            probe::width(&gpu, &mut device)?;
        } else {
            device.flags.push("no_subgroups".to_owned());
        }
        let timer = if timestamps { probe::timer(&gpu, period)? } else { None };
        device.timestamp_quantum_ns = timer.map(|timer| Nanoseconds(timer.quantum_ns));
        if timer.is_none() {
            device.flags.push("no_timestamps".to_owned());
        }
        let mut warmth = None;
        if let Some(timer) = timer.filter(|_| !device.cpu_driver) {
            warmth = Some(Warmth::new(&gpu)?);
            if let Some(warmth) = warmth.as_mut().filter(|_| calibrate) {
                warmth.up(&gpu, timer)?;
            }
        }
        if calibrate {
            probe::calibrate(&gpu, timer, &mut device)?;
            if subgroups {
                device.packing = Some(probe::packing(&gpu)?);
            }
        }
        Ok(Self { gpu, device, timer, inputs: RefCell::default(), warmth })
    }

    /// Makes a launch's buffers and fills them.
    fn buffers(&self, launch: &Launch, programs: &[Program]) -> Result<Buffers, RunError> {
        let indirect = |name: &str| {
            launch.dispatches.iter().any(|dispatch| match &dispatch.workgroups {
                Workgroups::Indirect { buffer, .. } => buffer == name,
                Workgroups::Direct(_) => false,
            })
        };
        let mut uniform = BTreeSet::new();
        for program in programs {
            for binding in bindings(program)? {
                if binding.uniform {
                    uniform.insert(binding.name);
                }
            }
        }
        self.check_limits(launch, &uniform)?;
        let written = written(programs)?;
        let mut inputs = self.inputs.borrow_mut();
        inputs.retain(launch);
        let mut buffers = BTreeMap::new();
        for buffer in &launch.buffers {
            let mut usage = BufferUsages::STORAGE;
            if uniform.contains(&buffer.name) {
                usage |= BufferUsages::UNIFORM;
            }
            if indirect(&buffer.name) {
                usage |= BufferUsages::INDIRECT;
            }
            let made = if written.contains(&buffer.name) {
                self.gpu.filled(launch, buffer, usage)
            } else {
                inputs.get(&self.gpu, launch, buffer, usage)
            };
            buffers.insert(buffer.name.clone(), made);
        }
        self.gpu.check(&format!("making the buffers of {}", launch.kernel))?;
        Ok(Buffers { buffers })
    }

    /// Refuses what the device cannot hold or dispatch, before any buffer is made.
    fn check_limits(&self, launch: &Launch, uniform: &BTreeSet<String>) -> Result<(), RunError> {
        let limits = self.gpu.device.limits();
        let refused = |message| Err(RunError::new(RunErrorKind::Unsupported, message));
        for buffer in &launch.buffers {
            let binding_max = if uniform.contains(&buffer.name) {
                limits.max_uniform_buffer_binding_size
            } else {
                limits.max_storage_buffer_binding_size
            };
            let bytes_max = binding_max.min(limits.max_buffer_size);
            if buffer.size > bytes_max {
                return refused(format!(
                    "buffer `{}` has {} bytes; {} binds at most {bytes_max}; choose a smaller launch",
                    buffer.name, buffer.size, self.device.id
                ));
            }
        }
        let max = limits.max_compute_workgroups_per_dimension;
        for dispatch in &launch.dispatches {
            if let Workgroups::Direct([x, y, z]) = dispatch.workgroups
                && x.max(y).max(z) > max
            {
                return refused(format!(
                    "`{}` has {x}×{y}×{z} workgroups; {} takes at most {max} along a dimension",
                    dispatch.entry_point, self.device.id
                ));
            }
        }
        Ok(())
    }

    /// Reads a launch's outputs.
    fn outputs(&self, launch: &Launch, buffers: &Buffers) -> Result<Outputs, RunError> {
        let mut outputs = BTreeMap::new();
        for buffer in launch.buffers.iter().filter(|buffer| buffer.output) {
            let bytes = self.gpu.read(&buffers.buffers[&buffer.name], buffer.size)?;
            outputs.insert(buffer.name.clone(), bytes);
        }
        Ok(outputs)
    }

    /// A program that counts, with its counters' buffer.
    fn counting(
        &self,
        program: &Program,
        workgroups: &Workgroups,
        method: Method,
    ) -> Result<(Instrumented, Buffer), RunError> {
        let widest = [self.device.subgroup_width_max, self.device.subgroup_width_run];
        // A driver that reports too narrow a width must not write past the histogram's end.
        let widest = widest.iter().flatten().map(|width| width.lanes()).max().unwrap_or(1);
        let options = Options {
            method,
            subgroup_width_max: match method {
                Method::Estimated => {
                    self.device.subgroup_width_run.map_or(WIDTH_ASSUMED, Width::lanes)
                }
                Method::Executed | Method::Histogram | Method::Derived => widest,
            },
            counter_bytes_max: COUNTER_BYTES_MAX,
            workgroups: known(workgroups),
        };
        let instrumented = instrumented(program, &options)?;
        let size = instrumented.counters().size;
        let counters = self.gpu.buffer("counters", BufferUsages::STORAGE, size);
        Ok((instrumented, counters))
    }

    /// Pipelines of a launch, plain or counting, with their grids.
    fn pipelines(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &Buffers,
        counting: Option<Method>,
    ) -> Result<Vec<(Bound, Grid)>, RunError> {
        let mut work = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(programs) {
            let mut slots = buffers.slots(launch, program)?;
            let counting = counting
                .map(|method| self.counting(program, &dispatch.workgroups, method))
                .transpose()?;
            if let Some((instrumented, counters)) = &counting {
                slots.push(counter_slot(instrumented, counters));
            }
            let module = counting.as_ref().map_or(program.module(), |(made, _)| made.module());
            let shader = Shader {
                file: &launch.file,
                module,
                entry_point: &dispatch.entry_point,
                trusted: launch.trusted,
                zero_memory: launch.workgroup_memory_zeroed,
                immediates: &launch.immediates,
            };
            let bound = self.gpu.bind(&shader, &slots)?;
            work.push((bound, buffers.grid(&dispatch.workgroups)?));
        }
        Ok(work)
    }

    /// A launch made ready to be timed.
    fn ready(&self, launch: &Launch, counting: Option<Method>) -> Result<Ready, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let made = self.pipelines(launch, &programs, &buffers, counting)?;
        let (mut setup, mut work) = (Vec::new(), Vec::new());
        for (dispatch, made) in launch.dispatches.iter().zip(made) {
            if dispatch.setup { setup.push(made) } else { work.push(made) }
        }
        let mut ready = Ready { buffers, setup, work, resets: Vec::new(), long: Cell::new(false) };
        self.set_up(launch, &ready)?;
        if !launch.repeatable {
            ready.resets = self.first_contents(launch, &programs, &ready.buffers)?;
        }
        Ok(ready)
    }

    /// Copies of the buffers that a launch writes, as they are after what is not timed: each with the
    /// buffer that it is copied to before a sample.
    fn first_contents(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &Buffers,
    ) -> Result<Vec<(Buffer, Buffer)>, RunError> {
        let mut resets = Vec::new();
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for name in written(programs)? {
            let Some(buffer) = buffers.buffers.get(&name) else { continue };
            let first = self.gpu.buffer(&name, BufferUsages::empty(), buffer.size());
            encoder.copy_buffer_to_buffer(buffer, 0, &first, 0, buffer.size());
            resets.push((first, buffer.clone()));
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.check(&format!("keeping the first contents of {}", launch.kernel))?;
        Ok(resets)
    }

    /// Runs the dispatches that are not timed.
    fn set_up(&self, launch: &Launch, ready: &Ready) -> Result<(), RunError> {
        if ready.setup.is_empty() {
            return Ok(());
        }
        let work: Vec<(&Bound, &Grid)> = ready.setup.iter().map(|(b, g)| (b, g)).collect();
        self.gpu.run(&format!("setting up {}", launch.kernel), &work)
    }

    /// The median time of each dispatch by itself; nothing of those that are not timed.
    fn dispatch_medians(
        &self,
        launch: &Launch,
        ready: &Ready,
    ) -> Result<Vec<Option<Nanoseconds>>, RunError> {
        let stamps = self.gpu.device.features().contains(Features::TIMESTAMP_QUERY_INSIDE_PASSES);
        let Some(timer) = self.timer.filter(|_| stamps && launch.repeatable) else {
            return Ok(Vec::new());
        };
        if ready.work.len() < 2 {
            return Ok(Vec::new());
        }
        let work: Vec<(&Bound, &Grid)> = ready.work.iter().map(|(b, g)| (b, g)).collect();
        let mut spans = vec![Vec::new(); work.len()];
        for _ in 0..DISPATCH_SAMPLES {
            let stamps = self.gpu.run_stamped(&format!("timing {}", launch.kernel), &work)?;
            for (spans, pair) in spans.iter_mut().zip(stamps.windows(2)) {
                let ticks = Ticks { begin: pair[0], end: pair[1] };
                if ticks.end >= ticks.begin {
                    spans.push(timer.duration_ns(ticks));
                }
            }
        }
        let mut medians = spans.iter().map(|spans| median(spans).map(Nanoseconds));
        let timed = |dispatch: &crate::kernel::Dispatch| {
            if dispatch.setup { None } else { medians.next().flatten() }
        };
        Ok(launch.dispatches.iter().map(timed).collect())
    }

    /// Takes one sample, right after as much of the same work without timestamps; a launch that has
    /// once taken long goes without.
    fn sample(&self, launch: &Launch, ready: &Ready, repeats: u32) -> Result<Ticks, RunError> {
        let work: Vec<(&Bound, &Grid)> = ready.work.iter().map(|(b, g)| (b, g)).collect();
        let before = if ready.long.get() { 0 } else { repeats };
        let sample = Sample { work: &work, repeats, before, resets: &ready.resets };
        let ticks = self.gpu.run_timed(&format!("timing {}", launch.kernel), &sample)?;
        let long = |timer: Timer| timer.duration_ns(ticks) >= LONG_NS * f64::from(repeats);
        ready.long.set(ready.long.get() || self.timer.is_some_and(long));
        Ok(ticks)
    }
}

use crate::run::sampling::Ticks;

/// Where a counting module's counters are bound.
fn counter_slot<'a>(instrumented: &Instrumented, buffer: &'a Buffer) -> Slot<'a> {
    let place = instrumented.counters();
    Slot { group: place.group, binding: place.binding, kind: SlotKind::ReadWrite, buffer }
}

/// A launch whose dispatches count: buffers, pipelines and counters.
struct Counting {
    buffers: Buffers,
    steps: Vec<CountStep>,
    /// The buffers that some dispatch may write.
    written: BTreeSet<String>,
    width: Width,
}

/// A dispatch that counts.
struct CountStep {
    instrumented: Instrumented,
    counters: Buffer,
    bound: Bound,
    grid: Grid,
}

/// What a counted run left behind.
#[derive(PartialEq)]
struct Found {
    dispatches: Vec<CountedDispatch>,
    outputs: Outputs,
}

impl Counting {
    /// Runs the dispatches and reads what they left behind.
    fn run(&self, runner: &WgpuRunner, launch: &Launch) -> Result<Found, RunError> {
        let mut dispatches = Vec::new();
        for CountStep { instrumented, counters, bound, grid } in &self.steps {
            runner.gpu.run(&format!("counting {}", launch.kernel), &[(bound, grid)])?;
            let bytes = runner.gpu.read(counters, instrumented.counters().size)?;
            let counts = decoded(instrumented, &bytes, self.width)?;
            let workgroups = match grid {
                Grid::Direct(workgroups) => Some(*workgroups),
                Grid::Indirect(..) => None,
            };
            dispatches.push(CountedDispatch { workgroups, counts });
        }
        let outputs = runner.outputs(launch, &self.buffers)?;
        Ok(Found { dispatches, outputs })
    }

    /// Puts the first contents back where something may have been written, zeros into counters.
    fn reset(&self, runner: &WgpuRunner, launch: &Launch) {
        for buffer in launch.buffers.iter().filter(|b| self.written.contains(&b.name)) {
            let made = &self.buffers.buffers[&buffer.name];
            runner.gpu.queue.write_buffer(made, 0, &launch.contents(buffer));
        }
        let mut encoder = runner.gpu.device.create_command_encoder(&Default::default());
        for step in &self.steps {
            encoder.clear_buffer(&step.counters, 0, None);
        }
        runner.gpu.queue.submit([encoder.finish()]);
    }
}

/// Buffers and pipelines of a launch.
struct Ready {
    buffers: Buffers,
    /// What is not timed.
    setup: Vec<(Bound, Grid)>,
    work: Vec<(Bound, Grid)>,
    /// First contents and the buffers that they are copied to before each sample: those that a
    /// launch writes which cannot be repeated on what it left behind.
    resets: Vec<(Buffer, Buffer)>,
    /// Whether the launch has taken [`LONG_NS`] or more.
    long: Cell<bool>,
}

impl Buffers {
    /// The bindings of a program, each with its buffer.
    fn slots(&self, launch: &Launch, program: &Program) -> Result<Vec<Slot<'_>>, RunError> {
        bindings(program)?
            .into_iter()
            .map(|binding| {
                let buffer = self.buffers.get(&binding.name).ok_or_else(|| {
                    let message =
                        format!("{} describes no buffer `{}`", launch.kernel, binding.name);
                    RunError::new(RunErrorKind::BadInput, message)
                })?;
                let kind = match (binding.uniform, binding.writable) {
                    (true, _) => SlotKind::Uniform,
                    (false, false) => SlotKind::ReadOnly,
                    (false, true) => SlotKind::ReadWrite,
                };
                Ok(Slot { group: binding.group, binding: binding.binding, kind, buffer })
            })
            .collect()
    }

    fn grid(&self, workgroups: &Workgroups) -> Result<Grid, RunError> {
        match workgroups {
            Workgroups::Direct(grid) => Ok(Grid::Direct(*grid)),
            Workgroups::Indirect { buffer, offset } => {
                let found = self.buffers.get(buffer).ok_or_else(|| {
                    let message = format!("there is no buffer `{buffer}` for an indirect dispatch");
                    RunError::new(RunErrorKind::BadInput, message)
                })?;
                Ok(Grid::Indirect(found.clone(), *offset))
            }
        }
    }
}

fn bindings(program: &Program) -> Result<Vec<crate::program::Binding>, RunError> {
    program.bindings().map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))
}

impl Runner for WgpuRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        match self.device.subgroup_width_run {
            Some(width) => self.counted(launch, method(options), width),
            None => self.uncounted(launch),
        }
    }

    fn estimate(&mut self, launch: &Launch) -> Result<Counted, RunError> {
        let width = self.width_estimated()?;
        self.counted(launch, Method::Estimated, width)
    }

    fn count_twice(&mut self, launch: &Launch, how: How) -> Result<(Counted, bool), RunError> {
        let (method, width) = match (how, self.device.subgroup_width_run) {
            (How::Counted(options), Some(width)) => (method(&options), width),
            (How::Counted(_), None) => return Ok((self.uncounted(launch)?, true)),
            (How::Estimated, _) => (Method::Estimated, self.width_estimated()?),
        };
        let counting = self.count_ready(launch, method, width)?;
        let first = counting.run(self, launch)?;
        counting.reset(self, launch);
        let second = counting.run(self, launch)?;
        let same = first == second;
        Ok((self.concluded(launch, method, width, first)?, same))
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
        if !lost {
            self.warm_up(timer);
        }
        let times = sample_all(timer, &repeatable, options, |index, repeats| {
            notice(index);
            match &ready[index] {
                Ok(_) if lost => Err(interrupted()),
                Ok(ready) => self.sample(&launches[index], ready, repeats),
                Err(error) => Err(error.clone()),
            }
        });
        let mut results = Vec::new();
        for (index, (ready, time)) in ready.iter().zip(times).enumerate() {
            notice(index);
            let result = match (ready, time) {
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

impl WgpuRunner {
    /// Runs a launch without counters and checks its outputs.
    fn uncounted(&self, launch: &Launch) -> Result<Counted, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let work = self.pipelines(launch, &programs, &buffers, None)?;
        let work: Vec<(&Bound, &Grid)> = work.iter().map(|(b, g)| (b, g)).collect();
        self.gpu.run(&format!("running {}", launch.kernel), &work)?;
        let outputs = self.outputs(launch, &buffers)?;
        Ok(Counted {
            answer_ns: None,
            counters: Vec::new(),
            width: None,
            method: IssuesMethod::Executed,
            dispatches: Vec::new(),
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags: vec!["not_counted_no_subgroups".to_owned()],
        })
    }

    /// The width for which estimates are made.
    fn width_estimated(&self) -> Result<Width, RunError> {
        let assumed = || Width::new(WIDTH_ASSUMED);
        let width = self.device.subgroup_width_run.map_or_else(assumed, Ok);
        width.map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))
    }

    /// Runs a launch once with counters and checks its outputs.
    fn counted(&self, launch: &Launch, method: Method, width: Width) -> Result<Counted, RunError> {
        let counting = self.count_ready(launch, method, width)?;
        let found = counting.run(self, launch)?;
        self.concluded(launch, method, width, found)
    }

    /// A launch made ready to be counted, more than once.
    fn count_ready(
        &self,
        launch: &Launch,
        method: Method,
        width: Width,
    ) -> Result<Counting, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let mut steps = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(&programs) {
            let (instrumented, counters) = self.counting(program, &dispatch.workgroups, method)?;
            let mut slots = buffers.slots(launch, program)?;
            slots.push(counter_slot(&instrumented, &counters));
            let shader = Shader {
                file: &launch.file,
                module: instrumented.module(),
                entry_point: &dispatch.entry_point,
                trusted: launch.trusted,
                zero_memory: launch.workgroup_memory_zeroed,
                immediates: &launch.immediates,
            };
            let bound = self.gpu.bind(&shader, &slots)?;
            let grid = buffers.grid(&dispatch.workgroups)?;
            steps.push(CountStep { instrumented, counters, bound, grid });
        }
        Ok(Counting { buffers, steps, written: written(&programs)?, width })
    }

    /// What a counted run found, with its outputs checked.
    fn concluded(
        &self,
        launch: &Launch,
        method: Method,
        width: Width,
        found: Found,
    ) -> Result<Counted, RunError> {
        let Found { dispatches, outputs } = found;
        let mut flags = Vec::new();
        // The width is the probe's: such a driver may have chosen another for this module.
        if self.width_varies() {
            flags.push("width_not_known_when_counted".to_owned());
        }
        if self.device.subgroup_width_run.is_none() {
            flags.push("width_assumed".to_owned());
        }
        Ok(Counted {
            answer_ns: None,
            counters: Vec::new(),
            width: Some(width),
            method: issues_method(method),
            dispatches,
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags,
        })
    }

    /// What sampling gave, with the outputs checked.
    fn timed(&self, launch: &Launch, ready: &Ready, time: Option<Time>) -> Result<Timed, RunError> {
        let before = |time: Time| Time {
            dispatches_before_sample: Some(if ready.long.get() {
                0
            } else {
                time.dispatches_per_sample
            }),
            ..time
        };
        let time = time.map(before);
        let mut flags = Vec::new();
        if time.is_none() {
            flags.push("no_usable_samples".to_owned());
        }
        if time.as_ref().is_some_and(|time| !time.stop_rule_met) {
            flags.push("stop_rule_not_met".to_owned());
        }
        if self.width_varies() {
            flags.push("width_not_known_when_timed".to_owned());
        }
        let checked = verify(launch, &self.outputs(launch, &ready.buffers)?)?;
        let dispatch_median_ns = self.dispatch_medians(launch, ready)?;
        Ok(Timed { time, dispatch_median_ns, checked, runtime_checks: !launch.trusted, flags })
    }

    /// Brings a GPU's clocks up.
    fn warm_up(&mut self, timer: Timer) {
        if let Some(warmth) = &mut self.warmth {
            // A device that fails here fails at its first sample too, which then says so.
            drop(warmth.up(&self.gpu, timer));
        }
    }

    /// Whether the driver may choose another width for each module.
    fn width_varies(&self) -> bool {
        self.device.subgroup_width_min != self.device.subgroup_width_max
    }
}

/// The maker of a PCI vendor number.
fn vendor(number: u32) -> String {
    match number {
        0x1002 | 0x1022 => "AMD".to_owned(),
        0x10de => "NVIDIA".to_owned(),
        0x8086 => "Intel".to_owned(),
        0x106b => "Apple".to_owned(),
        0x13b5 => "Arm".to_owned(),
        0x5143 => "Qualcomm".to_owned(),
        0x1010 => "Imagination".to_owned(),
        0x1414 => "Microsoft".to_owned(),
        // Khronos's number for Mesa's software drivers, and Google's for SwiftShader.
        0x10005 => "Mesa".to_owned(),
        0x1ae0 => "Google".to_owned(),
        other => format!("PCI vendor 0x{other:04x}"),
    }
}
