//! `sim:W`: the simulator as a device.
//!
//! Input: launches. Output: counts, histograms and verdicts. It takes no time: a simulator's speed
//! says nothing of a GPU's.

mod arranged;
mod checked;
mod look;
mod race;
mod trace;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::ahead::{Ahead, bytes};
use super::clock::{Progress, Stopwatch};
use super::launched::{indirect_counts, outputs_sha256, outputs_shown, programs};
use super::{CountRequest, Counted, CountedDispatch, RunError, RunErrorKind, Runner, caught};
use crate::instrument::Count;
use crate::kernel::{Dispatch, Launch, Workgroups};
use crate::program::Program;
use crate::record::{
    Backend, Call, CallBlock, Counter, Device, DeviceKind, Flag, Gives, LimitOf, Method, Packing,
    Tag, Trace, Trust,
};
use crate::simulate::{
    BUFFER_BYTES_MAX, CallCounts, Compiled, Config, DetachedBuffer, Fma, ForkObserver, Memory,
    Outcome, Reconvergence, Report, ReportKind, Schedule, Trap,
};
use crate::units::Width;
use trace::Tracer;

pub use arranged::{Changed, Contents, Dispatched};
pub use look::{LOOKED_AT_MAX, WATCHED_OPERATIONS};

/// Operations that one subgroup may execute where nothing else is asked for.
pub const STEPS_MAX: u64 = 1 << 32;

/// Operations that all subgroups of a launch may execute together where nothing else is asked for: on one
/// core some minutes' work.
pub const OPERATIONS_MAX: u64 = 1 << 35;

/// Bytes of a launch's buffers, all together, where nothing else is asked for: 4 GiB. While a
/// launch is prepared and checked, up to three times as much may be in use.
pub const MEMORY_BYTES_MAX: u64 = 4 << 30;

/// What the ids of simulators begin with, before a colon.
pub const PREFIX: &str = "sim";

/// The id of the simulator at a width.
pub fn device_id(width: Width) -> String {
    format!("{PREFIX}:{width}")
}

/// What it gives.
pub const GIVES: Gives = Gives { counts: true, times: false, counters: false, code: false };

/// The simulator at one width.
#[derive(Debug)]
pub struct SimulatorRunner {
    device: Device,
    config: Config,
    memory_bytes_max: u64,
    ahead: Ahead<Result<Counted, RunError>>,
    progress: Progress,
}

impl SimulatorRunner {
    /// A simulator of subgroups of `width` lanes: maximal reconvergence, fused multiply-adds,
    /// workgroups in dispatch order, at most `steps_max` operations a subgroup.
    pub fn new(width: Width, steps_max: u64) -> Self {
        let id = device_id(width);
        let device = Device {
            gives: Some(GIVES),
            name: format!("SIMT simulator, {width} lanes"),
            vendor: "lanescope".to_owned(),
            driver: env!("CARGO_PKG_VERSION").to_owned(),
            subgroup_width_min: Some(width),
            subgroup_width_max: Some(width),
            subgroup_width_run: Some(width),
            lane_is_local_index_mod_width: Some(true),
            fma_fused: Some(true),
            packing: Some(Packing::Linear),
            trust: Some(Trust::Guaranteed),
            ..Device::unmeasured(id, DeviceKind::Simulator, Backend::Interpreter)
        };
        let config = Config {
            width,
            reconvergence: Reconvergence::Maximal,
            fma: Fma::Fused,
            steps_max,
            operations_max: OPERATIONS_MAX,
            schedule: Schedule::InOrder,
            strict: false,
            threads: None,
            zero_workgroup_memory: true,
        };
        Self {
            device,
            config,
            memory_bytes_max: MEMORY_BYTES_MAX,
            ahead: Ahead::new(bytes),
            progress: Progress::default(),
        }
    }

    /// Makes what a shader must not do (see [`ReportKind`]) fail its
    /// launch, with the line, where it would only be flagged.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.config.strict = strict;
        self
    }

    /// Sets which workgroup runs when, in place of dispatch order, and on how many threads at most.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule, threads: Option<usize>) -> Self {
        self.config.schedule = schedule;
        self.config.threads = threads;
        self
    }

    /// Sets how many operations a launch's subgroups may execute in all, in place of
    /// [`OPERATIONS_MAX`].
    #[must_use]
    pub fn operations_max(mut self, operations: u64) -> Self {
        self.config.operations_max = operations;
        self
    }

    /// Sets how many bytes a launch's buffers may take in all, in place of [`MEMORY_BYTES_MAX`].
    #[must_use]
    pub fn memory_bytes_max(mut self, bytes: u64) -> Self {
        self.memory_bytes_max = bytes;
        self
    }

    /// Refuses a launch whose buffers are too large, before any is made.
    fn check_memory(&self, launch: &Launch) -> Result<(), RunError> {
        let refused = |message| Err(RunError::new(RunErrorKind::Unsupported, message));
        let bytes_max = u64::from(BUFFER_BYTES_MAX);
        if let Some(buffer) = launch.buffers.iter().find(|buffer| buffer.size > bytes_max) {
            return refused(format!(
                "buffer `{}` has {} bytes; the simulator's offsets hold at most {bytes_max}; \
                 choose a smaller launch",
                buffer.name, buffer.size
            ));
        }
        let texels = |texture: &crate::kernel::Texture| {
            // Each begins at a word of its own.
            let each = u64::from(texture.layout.format.bytes()).next_multiple_of(4);
            texture.layout.texels().saturating_mul(each)
        };
        if let Some(texture) = launch.textures.iter().find(|t| texels(t) > bytes_max) {
            return refused(format!(
                "texture `{}` takes {} bytes; the simulator's offsets hold at most {bytes_max}; \
                 choose a smaller launch",
                texture.name,
                texels(texture)
            ));
        }
        let bytes: u64 = launch.buffers.iter().map(|buffer| buffer.size).sum();
        let bytes = bytes + launch.textures.iter().map(texels).sum::<u64>();
        let bytes_max = self.memory_bytes_max;
        if bytes > bytes_max {
            let error = RunError::new(
                RunErrorKind::Unsupported,
                format!(
                    "the buffers take {bytes} bytes; the simulator takes at most {bytes_max}; \
                     choose a smaller launch"
                ),
            );
            return Err(error.with_limit(LimitOf::MemoryBytes, bytes_max));
        }
        Ok(())
    }

    /// Estimates the operations that a launch's subgroups execute, from at most `workgroups_max` of
    /// each dispatch. Its buffers are made for it alone.
    ///
    /// # Errors
    ///
    /// As counting: where the launch cannot be run, or a subgroup is over the limit of steps.
    pub fn steps(&self, launch: &Launch, workgroups_max: u64) -> Result<u64, RunError> {
        self.check_memory(launch)?;
        let programs = programs(launch)?;
        let mut buffers = buffers(launch);
        let mut steps = 0_u64;
        for (index, dispatch) in launch.dispatches.iter().enumerate() {
            let program = &programs[index];
            let workgroups = grid(dispatch, &buffers)?;
            let count = |grid: [u32; 3]| grid.iter().map(|c| u64::from(*c)).product::<u64>();
            let mut left = workgroups_max.max(1);
            let part = workgroups.map(|count| {
                let taken = u64::from(count).min(left);
                left /= taken.max(1);
                u32::try_from(taken).unwrap_or(u32::MAX)
            });
            let mut tracer = Tracer::new(program, part);
            let compiled = programs.compiled(index)?;
            let outcome =
                self.dispatch(launch, (program, compiled), part, 0, &mut buffers, &mut tracer)?;
            let times = count(workgroups).div_ceil(count(part).max(1));
            steps = steps.saturating_add(outcome.steps.saturating_mul(times));
        }
        Ok(steps)
    }
}

/// How fast the simulator was, by what its blocks count.
#[expect(clippy::cast_precision_loss, reason = "a rate is good to a few digits")]
fn speed(programs: &[Program], dispatches: &[CountedDispatch], seconds: f64) -> Vec<Counter> {
    let blocks = || {
        let pairs = programs.iter().zip(dispatches);
        pairs.flat_map(|(program, dispatch)| program.blocks().iter().zip(&dispatch.counts))
    };
    let instructions: f64 = blocks().map(|(block, c)| (block.ops * c.executions.0) as f64).sum();
    let operations: f64 = blocks().map(|(block, c)| (block.ops * c.lanes.0) as f64).sum();
    let rate = |name: &str, count: f64, description: &str| Counter {
        name: name.to_owned(),
        value: count / seconds.max(1e-9),
        unit: "1/s".to_owned(),
        description: description.to_owned(),
    };
    vec![
        rate(
            "simulator_subgroup_instructions_per_s",
            instructions,
            "operations times executions of all blocks over the time that the simulator took, all threads",
        ),
        rate(
            "simulator_lane_operations_per_s",
            operations,
            "operations times lanes of all blocks over the time that the simulator took, all threads",
        ),
    ]
}

/// A call's counts as a record has them.
fn to_call(counts: &CallCounts) -> Call {
    let CallCounts { function, from, blocks } = counts;
    let block = |&(block, executions, lanes)| CallBlock { block, executions, lanes };
    Call {
        function: function.clone(),
        caller: from.map(|(caller, _)| caller),
        line: from.map(|(_, at)| at.line),
        column: from.map(|(_, at)| at.column),
        blocks: blocks.iter().map(block).collect(),
    }
}

/// A launch's buffers and textures with their first contents.
fn buffers(launch: &Launch) -> Buffers {
    let made = |buffer: &crate::kernel::Buffer| {
        (buffer.name.clone(), DetachedBuffer::new(&launch.contents(buffer)))
    };
    let textures = launch.textures.iter().map(|texture| {
        let texels = DetachedBuffer::new_texture(&texture.layout, &launch.texels(texture));
        (texture.name.clone(), texels)
    });
    launch.buffers.iter().map(made).chain(textures).collect()
}

/// A launch's buffers and textures by name, on their way from dispatch to dispatch.
type Buffers = BTreeMap<String, DetachedBuffer>;

impl Runner for SimulatorRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn progress(&self) -> Option<Progress> {
        Some(self.progress.clone())
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        if request.method == Method::Estimated {
            let message =
                format!("{} counts {} and estimates nothing", self.device.id, launch.kernel);
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        self.progress.begin();
        if request.runs == 1 {
            let mut ahead = std::mem::replace(&mut self.ahead, Ahead::new(bytes));
            notice();
            let taken = ahead.take(launch, request, || {
                let simulator = self.without_announced();
                Arc::new(move |launch, request| simulator.count_caught(launch, request))
            });
            self.ahead = ahead;
            if let Some(result) = taken {
                return result.map(|counted| vec![counted]);
            }
        }
        let mut counted = || {
            notice();
            self.count_caught(launch, request)
        };
        (0..request.runs).map(|_| counted()).collect()
    }

    fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        self.ahead.announce(launches, request);
    }
}

/// The flags of what was reported: one for each line of a fault, one for all lines of what is none.
fn to_flags(outcome: &Outcome) -> Vec<Flag> {
    let (faults, edges): (Vec<&Report>, Vec<&Report>) =
        outcome.reports.iter().partition(|report| report.kind.is_fault());
    let mut flags: Vec<Flag> =
        faults.iter().map(|report| Flag::at(tag(report.kind), [report.location.line])).collect();
    if let Some(first) = edges.first() {
        let lines = edges.iter().map(|report| report.location.line);
        flags.push(Flag::at(tag(first.kind), lines));
    }
    if !outcome.depends_on_schedule.is_empty() {
        flags.push(Flag::at(Tag::DependsOnSchedule, outcome.depends_on_schedule.iter().copied()));
    }
    flags
}

/// The tag of a kind of report.
fn tag(kind: ReportKind) -> Tag {
    match kind {
        ReportKind::ReadOutOfBounds => Tag::ReadOutOfBounds,
        ReportKind::WriteOutOfBounds => Tag::WriteOutOfBounds,
        ReportKind::DivergentBarrier => Tag::DivergentBarrier,
        ReportKind::DivergentUniformLoad => Tag::DivergentUniformLoad,
        ReportKind::InactiveSource => Tag::InactiveSource,
        ReportKind::EdgeSource => Tag::EdgeSource,
    }
}

impl SimulatorRunner {
    /// Another that counts the same, to which nothing is announced.
    fn without_announced(&self) -> Self {
        Self {
            device: self.device.clone(),
            config: self.config,
            memory_bytes_max: self.memory_bytes_max,
            ahead: Ahead::new(bytes),
            progress: self.progress.clone(),
        }
    }

    /// What watches a dispatch of so many workgroups.
    fn tracer(
        &self,
        dispatch: &Dispatch,
        program: &Program,
        workgroups: [u32; 3],
        rests: bool,
    ) -> Tracer {
        // What is known beforehand was announced with the launch.
        if matches!(dispatch.workgroups, Workgroups::Indirect { .. }) {
            self.progress.announce(groups_of(workgroups));
        }
        let mut tracer = Tracer::new(program, workgroups);
        tracer.rests = rests;
        tracer.progress = Some(self.progress.clone());
        tracer
    }

    /// Says how many workgroups a launch has, as far as that is known before it runs.
    fn announce_workgroups(&self, launch: &Launch) {
        for dispatch in &launch.dispatches {
            if let Workgroups::Direct(workgroups) = dispatch.workgroups {
                self.progress.announce(groups_of(workgroups));
            }
        }
    }

    /// Counts a launch. A fault of the simulator's own must not take the other devices' results along.
    fn count_caught(&self, launch: &Launch, request: &CountRequest) -> Result<Counted, RunError> {
        caught("simulator", &launch.file, || self.count_launch(launch, request))
    }

    fn count_launch(&self, launch: &Launch, request: &CountRequest) -> Result<Counted, RunError> {
        self.check_memory(launch)?;
        if self.config.strict
            && let Some((file, race)) = self.find_race(launch)?
        {
            let message = format!("{file}:{}: {}", race.second.line, race::race_text(&race));
            return Err(RunError::new(RunErrorKind::Trap, message));
        }
        let programs = programs(launch)?;
        self.announce_workgroups(launch);
        let mut buffers = buffers(launch);
        let mut dispatches = Vec::new();
        let mut spent = 0_u64;
        let mut elapsed = Some(Duration::ZERO);
        let mut flags = Vec::new();
        let mut trace: Option<(u64, Trace)> = None;
        let listed = launch.dispatches.iter().zip(programs.iter()).enumerate();
        for (index, (dispatch, program)) in listed {
            let workgroups = grid(dispatch, &buffers)?;
            let stopwatch = Stopwatch::start();
            let rests = !request.trace || !launch.traced;
            let mut tracer = self.tracer(dispatch, program, workgroups, rests);
            let program = (program, programs.compiled(index)?);
            let outcome =
                self.dispatch(launch, program, workgroups, spent, &mut buffers, &mut tracer)?;
            spent = spent.saturating_add(outcome.steps);
            elapsed = elapsed.zip(stopwatch.elapsed()).map(|(before, later)| before + later);
            // The dispatch that has most to do is the one that is looked at.
            if !dispatch.setup && trace.as_ref().is_none_or(|(steps, _)| outcome.steps > *steps) {
                let found = tracer.finish(index, self.config.width);
                trace = found.map(|found| (outcome.steps, found)).or(trace);
            }
            flags.extend(to_flags(&outcome));
            let count = |block: crate::simulate::BlockCounts| Count {
                executions: block.executions,
                lanes: block.lanes,
                histogram: request.histogram.then_some(block.histogram),
                parts: block.parts,
            };
            let calls = outcome.calls.iter().map(to_call).collect();
            let counts = outcome.blocks.into_iter().map(count).collect();
            dispatches.push(CountedDispatch {
                workgroups: Some(workgroups),
                counts,
                calls,
                iterations_max: None,
                incomplete: false,
            });
        }
        let outputs: BTreeMap<String, Vec<u8>> = outputs(launch)
            .filter_map(|name| buffers.get(name).map(|taken| (name.to_owned(), taken.to_bytes())))
            .collect();
        let outputs_sha256 = outputs_sha256(&outputs);
        let checked = checked::check(launch, &outputs, &outputs_sha256)
            .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
        let counters = elapsed.map(|time| speed(&programs, &dispatches, time.as_secs_f64()));
        let counters = counters.unwrap_or_default();
        Ok(Counted {
            answer_ns: None,
            width: Some(self.config.width),
            method: Method::Executed,
            dispatches,
            outputs_sha256,
            outputs_shown: outputs_shown(launch, &outputs),
            checked,
            runtime_checks: true,
            counters,
            flags,
            trace: trace.map(|(_, trace)| trace),
        })
    }

    /// Runs one dispatch over the launch's buffers, of which others have executed so many operations.
    fn dispatch(
        &self,
        launch: &Launch,
        (program, compiled): (&Program, &Compiled),
        workgroups: [u32; 3],
        spent: u64,
        buffers: &mut Buffers,
        observer: &mut impl ForkObserver,
    ) -> Result<Outcome, RunError> {
        let mut memory = Memory::new();
        let places = bind(launch, program, &mut memory, |name| buffers.remove(name))?;
        let zero_workgroup_memory = launch.workgroup_memory_zeroed;
        let operations_max = self.config.operations_max.saturating_sub(spent);
        let config = Config { zero_workgroup_memory, operations_max, ..self.config };
        let outcome = compiled.run_observed(workgroups, &mut memory, &config, observer);
        for (name, group, binding) in places {
            if let Some(taken) = memory.take(group, binding) {
                buffers.insert(name, taken);
            }
        }
        outcome.map_err(|trap| self.explain(trap))
    }

    /// What stopped a launch.
    fn explain(&self, mut trap: Trap) -> RunError {
        // The limit is the launch's, and not what earlier dispatches left of it.
        if let Trap::Operations { operations, .. } = &mut trap {
            *operations = self.config.operations_max;
        }
        let kind = match &trap {
            Trap::Refused(_) => RunErrorKind::Unsupported,
            Trap::Steps { .. } | Trap::Operations { .. } => RunErrorKind::StepLimit,
            Trap::Fault { .. } => RunErrorKind::Trap,
        };
        let error = RunError::new(kind, trap.to_string());
        match trap {
            Trap::Steps { steps, .. } => error.with_limit(LimitOf::Steps, steps),
            Trap::Operations { operations, .. } => {
                error.with_limit(LimitOf::Operations, operations)
            }
            Trap::Refused(_) | Trap::Fault { .. } => error,
        }
    }
}

/// How many workgroups a grid has.
fn groups_of(grid: [u32; 3]) -> u64 {
    grid.iter().map(|&count| u64::from(count)).fold(1, u64::saturating_mul)
}

/// The names of a launch's outputs.
fn outputs(launch: &Launch) -> impl Iterator<Item = &str> {
    let buffers = launch.buffers.iter().filter(|buffer| buffer.output);
    let textures = launch.textures.iter().filter(|texture| texture.output);
    buffers.map(|buffer| buffer.name.as_str()).chain(textures.map(|t| t.name.as_str()))
}

/// Binds what a program uses: buffers and textures that `take` gives, samplers and immediates of the
/// launch. Gives the names of the first two with group and binding.
fn bind(
    launch: &Launch,
    program: &Program,
    memory: &mut Memory,
    mut take: impl FnMut(&str) -> Option<DetachedBuffer>,
) -> Result<Vec<(String, u32, u32)>, RunError> {
    let bound = program
        .bound()
        .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))?;
    let missing = |what: &str, name: &str| {
        let message = format!("{} describes no {what} `{name}`", launch.kernel);
        RunError::new(RunErrorKind::BadInput, message)
    };
    memory.set_immediates(&launch.immediates);
    for sampler in bound.samplers {
        let known = launch.sampler(&sampler.name);
        let known = known.ok_or_else(|| missing("sampler", &sampler.name))?;
        memory.bind_sampler(sampler.group, sampler.binding, known.settings.clone());
    }
    let buffers = bound.buffers.into_iter().map(|b| ("buffer", b.name, b.group, b.binding));
    let textures = bound.textures.into_iter().map(|t| ("texture", t.name, t.group, t.binding));
    let mut places = Vec::new();
    for (what, name, group, binding) in buffers.chain(textures) {
        memory.put(group, binding, take(&name).ok_or_else(|| missing(what, &name))?);
        places.push((name, group, binding));
    }
    Ok(places)
}

/// How many workgroups a dispatch has.
fn grid(dispatch: &Dispatch, buffers: &Buffers) -> Result<[u32; 3], RunError> {
    match &dispatch.workgroups {
        Workgroups::Direct(workgroups) => Ok(*workgroups),
        Workgroups::Indirect { buffer, offset } => indirect(buffers, buffer, *offset),
    }
}

/// The three counts of an indirect dispatch.
fn indirect(buffers: &Buffers, name: &str, offset: u64) -> Result<[u32; 3], RunError> {
    let bytes = buffers.get(name).map(DetachedBuffer::to_bytes).unwrap_or_default();
    indirect_counts(name, &bytes, offset)
}

#[cfg(test)]
mod tests;
