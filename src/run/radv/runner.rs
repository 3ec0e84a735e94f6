//! The device of a place: a launch compiled, executed, and its instructions beside the blocks.
//!
//! Input: launches. Output: what [`Runner`] asks for. The environment is the process's ([`super`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::amd::{self, AmdMemory, Counts, IssueKind, Outcome};
use crate::instrument::Count;
use crate::kernel::{Dispatch, Launch, Workgroups, reference};
use crate::mapping::branches::{OtherInput, SideBySide, units};
use crate::mapping::matching::Match;
use crate::program::{Binding, Program};
use crate::record::{
    Backend, Counter, Device, DeviceKind, Flag, LimitOf, MachineCode, Method, Packing,
    SOURCE_LANES_MEAN, Tag, flag,
};
use crate::run::launched::{Programs, indirect_counts, outputs_sha256, outputs_shown, programs};
use crate::run::simulator::{self, SimulatorRunner};
use crate::run::{
    Checked, Collected, CountRequest, Counted, CountedDispatch, RunError, RunErrorKind, Runner,
    caught,
};

use super::compiled::{Compiled, ToCompile, has_floats};
use super::place::{GIVES, RadvPlace};
use super::source::CodeSource;
use super::steps::{blocks_of, ran_nearly, ran_of, steps_of};

/// A family at one wave size.
#[derive(Debug)]
pub struct RadvRunner {
    device: Device,
    place: RadvPlace,
    source: CodeSource,
    steps_max: u64,
    operations_max: u64,
    /// Threads that a dispatch may use; nothing means all of the pool.
    threads: Option<usize>,
    /// What the launch that was counted last came to: whoever asks for its code asks next.
    last: Mutex<Option<(Launch, Arc<Ran>)>>,
}

/// What a launch came to on its own contents.
#[derive(Debug)]
struct Ran {
    dispatches: Vec<Executed>,
    /// SHA-256 of each output.
    outputs_sha256: BTreeMap<String, String>,
}

/// The outputs of a launch that are not the simulator's, bit for bit, and what the simulator flagged.
#[derive(Debug)]
struct Differing {
    outputs: Vec<String>,
    flags: Vec<Flag>,
}

impl Differing {
    /// Which they are, and why so as far as that is known: where values are not defined nothing else is said, and floats
    /// are named where there are `floats`. `None` where all are the simulator's.
    fn text(&self, entry_point: &str, floats: bool) -> Option<String> {
        let flagged = |tags: &[Tag]| -> Vec<Flag> {
            self.flags.iter().filter(|flag| tags.contains(&flag.tag)).cloned().collect()
        };
        let names: Vec<String> = self.outputs.iter().map(|name| format!("`{name}`")).collect();
        let undefined = flagged(&UNDEFINED);
        let order = flagged(&[Tag::DependsOnSchedule, Tag::DataRace]);
        let cause = match (undefined.is_empty(), order.is_empty(), floats) {
            (false, ..) => format!(
                "the simulator flagged values that are not defined ({})",
                flag::words(&undefined, ", ")
            ),
            (true, false, _) => {
                format!("invocations depend on which runs first ({})", flag::words(&order, ", "))
            }
            (true, true, true) => {
                "floating point is rounded otherwise, or invocations depend on which runs first"
                    .to_owned()
            }
            (true, true, false) => {
                "it has no floats, so that invocations may depend on which runs first".to_owned()
            }
        };
        (!names.is_empty()).then(|| {
            format!(
                "{entry_point}: what the machine code left in {} is not, bit for bit, what the simulator left: {cause}",
                names.join(", ")
            )
        })
    }
}

/// Flags of values that WGSL, or a subgroup's edge, leaves undefined.
const UNDEFINED: [Tag; 6] = [
    Tag::EdgeSource,
    Tag::InactiveSource,
    Tag::ReadOutOfBounds,
    Tag::WriteOutOfBounds,
    Tag::DivergentBarrier,
    Tag::DivergentUniformLoad,
];

/// Outputs by name.
type Outputs = BTreeMap<String, Vec<u8>>;

/// Changes a wave's registers before or behind an instruction.
pub type Disturb<'a> = dyn FnMut(&mut amd::wave::Wave, &amd::Instruction, amd::Moment) + 'a;

/// What one dispatch of a launch came to.
#[derive(Debug)]
pub struct Executed {
    /// The entry point.
    pub entry_point: String,
    /// The workgroups that ran.
    pub workgroups: [u32; 3],
    /// The code.
    pub compiled: Arc<Compiled>,
    /// What ran.
    pub outcome: Outcome,
}

/// A dispatch's code beside the source.
#[derive(Debug)]
pub struct Matched {
    /// What the code came to on the launch's own input.
    pub outcome: Outcome,
    /// The code.
    pub compiled: Arc<Compiled>,
    /// Its instructions beside the blocks of the source.
    pub beside: SideBySide,
    /// What the simulator counted of each block of the source.
    pub counts: Vec<Count>,
}

impl RadvRunner {
    /// Opens a place in this process, whose environment must be [`environment`](super::environment)'s:
    /// RADV compiles, and where it is not there the code that lanescope brings is executed.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where neither is there.
    pub fn open(place: RadvPlace) -> Result<Self, RunError> {
        let (source, made_with) = CodeSource::open(place)?;
        Ok(Self::new(place, source, made_with))
    }

    /// Opens a place whose code is what lanescope brings.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where it brings none.
    pub fn open_brought(place: RadvPlace) -> Result<Self, RunError> {
        let (source, made_with) = CodeSource::brought(place, "none was asked".to_owned())
            .map_err(|why| RunError::new(RunErrorKind::NoDevice, why))?;
        Ok(Self::new(place, source, made_with))
    }

    fn new(place: RadvPlace, source: CodeSource, driver: String) -> Self {
        let compiles_nothing = source.brought_because().map(str::to_owned);
        let device = Device { driver, compiles_nothing, ..device(place) };
        Self {
            device,
            place,
            source,
            steps_max: simulator::STEPS_MAX,
            operations_max: simulator::OPERATIONS_MAX,
            threads: None,
            last: Mutex::new(None),
        }
    }

    /// The same, with another limit of the instructions that one wave may execute, in place of the simulator's of
    /// operations.
    #[must_use]
    pub fn steps_max(self, steps_max: u64) -> Self {
        Self { steps_max, ..self }
    }

    /// The same, with another limit of the instructions that all waves of a launch may execute together, in place
    /// of the simulator's of operations.
    #[must_use]
    pub fn operations_max(self, operations_max: u64) -> Self {
        Self { operations_max, ..self }
    }

    /// The same, with so many threads at most for a dispatch. They change how long it takes and nothing else.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The family and the wave size.
    pub fn place(&self) -> RadvPlace {
        self.place
    }

    /// Compiles and executes a launch over `buffers`, its first contents by name.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] for what is not executed, by its name;
    /// [`RunErrorKind::StepLimit`] for a wave that does not end; [`RunErrorKind::BadInput`] and
    /// [`RunErrorKind::Driver`] for what does not compile.
    pub fn execute(
        &self,
        launch: &Launch,
        buffers: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<Vec<Executed>, RunError> {
        self.execute_all(launch, buffers, self.operations_max, None)
    }

    /// As [`Self::execute`], with faults planted ([`amd::run_disturbed`]); the waves of the launch may execute
    /// `operations_max` instructions together.
    ///
    /// # Errors
    ///
    /// As [`Self::execute`].
    pub fn execute_disturbed(
        &self,
        launch: &Launch,
        buffers: &mut BTreeMap<String, Vec<u8>>,
        operations_max: u64,
        after: &mut Disturb<'_>,
    ) -> Result<Vec<Executed>, RunError> {
        self.execute_all(launch, buffers, operations_max, Some(after))
    }

    fn execute_all(
        &self,
        launch: &Launch,
        buffers: &mut BTreeMap<String, Vec<u8>>,
        operations_max: u64,
        mut after: Option<&mut Disturb<'_>>,
    ) -> Result<Vec<Executed>, RunError> {
        let programs = programs(launch)?;
        let mut done: Vec<Executed> = Vec::new();
        for (index, pair) in launch.dispatches.iter().zip(programs.iter()).enumerate() {
            // RADV's compiler would take minutes and gigabytes over variables that nobody meant.
            programs.check_variables(index)?;
            let spent: u64 = done.iter().map(|dispatched| dispatched.outcome.instructions()).sum();
            let limits = (self.steps_max, operations_max.saturating_sub(spent));
            let dispatched = self.dispatch(launch, pair, buffers, limits, after.as_deref_mut());
            done.push(dispatched.map_err(|error| match error.limit {
                // The limit is the launch's, and not what earlier dispatches left of it.
                Some(limit) if limit.which == LimitOf::Operations => {
                    let all = amd::DispatchError::AllSteps { limit: operations_max };
                    limited(launch, all, LimitOf::Operations, operations_max)
                }
                _ => error,
            })?);
        }
        Ok(done)
    }

    fn dispatch(
        &self,
        launch: &Launch,
        (dispatch, program): (&Dispatch, &Program),
        buffers: &mut BTreeMap<String, Vec<u8>>,
        limits: (u64, u64),
        after: Option<&mut Disturb<'_>>,
    ) -> Result<Executed, RunError> {
        let compiled = self.compile(launch, program)?;
        let workgroups = match &dispatch.workgroups {
            Workgroups::Direct(workgroups) => *workgroups,
            Workgroups::Indirect { buffer, offset } => {
                let bytes = buffers.get(buffer).map(Vec::as_slice).unwrap_or_default();
                indirect_counts(buffer, bytes, *offset)?
            }
        };
        let bindings = bindings(program)?;
        let code = (&compiled.code, bindings.as_slice());
        let outcome = run(launch, code, workgroups, (buffers, limits), self.threads, after)?;
        let entry_point = dispatch.entry_point.clone();
        Ok(Executed { entry_point, workgroups, compiled, outcome })
    }

    /// The code of a program of a launch.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] for what is not executed, by its name; [`RunErrorKind::BadInput`]
    /// and [`RunErrorKind::Driver`] for what does not compile.
    pub fn compile(&self, launch: &Launch, program: &Program) -> Result<Arc<Compiled>, RunError> {
        let asked = ToCompile::new(program, &bindings(program)?, launch)?;
        self.compile_asked(&launch.kernel, program.workgroup_size(), &asked)
    }

    /// The code of an entry point of a kernel, by the invocations of a workgroup along x, y and z.
    ///
    /// # Errors
    ///
    /// As [`Self::compile`].
    pub fn compile_asked(
        &self,
        kernel: &str,
        workgroup: [u32; 3],
        asked: &ToCompile,
    ) -> Result<Arc<Compiled>, RunError> {
        self.source.compile(kernel, workgroup, asked)
    }

    fn count_launch(&self, launch: &Launch) -> Result<Counted, RunError> {
        let (ran, outputs) = self.run_whole(launch)?;
        let checked = reference::check(launch, &outputs)
            .map(Checked::from)
            .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
        let counters = self.counters(launch, &ran.dispatches);
        let kept = Some((launch.clone(), Arc::clone(&ran)));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        let dispatches = ran.dispatches.iter().map(|dispatch| CountedDispatch {
            workgroups: Some(dispatch.workgroups),
            counts: Vec::new(),
            calls: Vec::new(),
            iterations_max: None,
            incomplete: false,
        });
        Ok(Counted {
            answer_ns: None,
            trace: None,
            width: Some(self.place.wave),
            method: Method::Executed,
            dispatches: dispatches.collect(),
            outputs_sha256: ran.outputs_sha256.clone(),
            outputs_shown: outputs_shown(launch, &outputs),
            checked,
            runtime_checks: !launch.trusted,
            counters,
            flags: Vec::new(),
        })
    }

    /// Executes a launch on its own contents: what it came to, and its outputs by name.
    fn run_whole(&self, launch: &Launch) -> Result<(Arc<Ran>, Outputs), RunError> {
        let mut buffers = contents(launch);
        let dispatches = self.execute(launch, &mut buffers)?;
        let names = launch.buffers.iter().filter(|buffer| buffer.output).map(|buffer| &buffer.name);
        let outputs: Outputs = names.filter_map(|name| buffers.remove_entry(name)).collect();
        let outputs_sha256 = outputs_sha256(&outputs);
        Ok((Arc::new(Ran { dispatches, outputs_sha256 }), outputs))
    }

    /// What a launch comes to; as it was counted, where it was the last.
    fn find_executed(&self, launch: &Launch) -> Result<Arc<Ran>, RunError> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, executed)) = last.as_ref().filter(|(known, _)| known == launch) {
            return Ok(Arc::clone(executed));
        }
        drop(last);
        self.run_whole(launch).map(|(ran, _)| ran)
    }

    /// The machine code of each dispatch, its instructions beside the blocks of the source that ran as
    /// they did in the simulator, on the launch's input and on that of the next seed.
    ///
    /// # Errors
    ///
    /// As [`Self::execute`], and as simulating.
    pub fn match_code(&self, launch: &Launch) -> Result<Vec<Matched>, RunError> {
        self.lay_beside(launch).map(|(matched, _)| matched)
    }

    /// The same, and what its outputs are beside the simulator's.
    fn lay_beside(&self, launch: &Launch) -> Result<(Vec<Matched>, Differing), RunError> {
        let programs = programs(launch)?;
        let other = launch.next_input();
        let simulate = |launch: &Launch| {
            let simulator = SimulatorRunner::new(self.place.wave, self.steps_max);
            let mut simulator = simulator.operations_max(self.operations_max);
            simulator.count_once(launch, &CountRequest::once(Method::Executed))
        };
        // Both inputs at once, and the simulator beside them: each is on its own.
        let (ran, simulated) = rayon::join(
            || rayon::join(|| self.find_executed(launch), || self.find_executed(&other)),
            || rayon::join(|| simulate(launch), || simulate(&other)),
        );
        let (ran, simulated) = ([ran.0?, ran.1?], [simulated.0?, simulated.1?]);
        let mut matched = Vec::new();
        for (place, program) in programs.iter().enumerate() {
            let [(blocks, own_units), (_, others)] = simulated.each_ref().map(|counted| {
                counted.dispatches.get(place).map_or_else(Default::default, |dispatched| {
                    let blocks = blocks_of(program, &dispatched.counts);
                    let units = units(&blocks, &program.entry_point().name, &dispatched.calls);
                    (blocks, units)
                })
            });
            let [executed, other] = ran.each_ref().map(|ran| &ran.dispatches[place]);
            let steps = steps_of(&executed.compiled.code, &executed.outcome.counts);
            let ran = ran_of(&other.compiled.code, &other.outcome.counts);
            let other = OtherInput { units: &others, ran };
            let beside = SideBySide::new(&blocks, own_units, &steps, Some(&other), true);
            let (outcome, compiled) = (executed.outcome.clone(), Arc::clone(&executed.compiled));
            let counts =
                simulated[0].dispatches.get(place).map(|dispatched| dispatched.counts.clone());
            matched.push(Matched { outcome, compiled, beside, counts: counts.unwrap_or_default() });
        }
        let of_simulator = &simulated[0].outputs_sha256;
        let differ = |(name, sha256): &(&String, &String)| of_simulator.get(*name) != Some(*sha256);
        let differing = ran[0].outputs_sha256.iter().filter(differ).map(|(name, _)| name.clone());
        let flags = simulated[0].flags.clone();
        Ok((matched, Differing { outputs: differing.collect(), flags }))
    }

    fn map_counters(&self, launch: &Launch) -> Result<Collected, RunError> {
        let programs = programs(launch)?;
        let mut collected = Collected::default();
        let (matched, differing) = self.lay_beside(launch)?;
        collected.counters.extend(self.source_lanes(launch, &matched, &programs));
        for (matched, program) in matched.iter().zip(programs.iter()) {
            collected.machine_code.push(Some(machine_code(matched, &launch.file, program)));
            collected.missing.extend(unmatched_text(matched, program));
        }
        // Where there is a reference, outputs were held against that.
        let last = launch.dispatches.last().filter(|_| launch.reference.is_none());
        let floats = programs.iter().any(has_floats);
        collected.missing.extend(last.and_then(|last| differing.text(&last.entry_point, floats)));
        Ok(collected)
    }

    /// The mean active lanes by the source, which the simulator of this width counted to lay the code beside it.
    #[expect(clippy::cast_precision_loss, reason = "a mean of counts is shown to a few digits")]
    fn source_lanes(
        &self,
        launch: &Launch,
        matched: &[Matched],
        programs: &Programs,
    ) -> Option<Counter> {
        let mut sums = [0_u128; 2];
        let all = launch.dispatches.iter().zip(matched).zip(programs.iter());
        for ((_, dispatched), program) in all.filter(|((dispatch, _), _)| !dispatch.setup) {
            for (count, block) in dispatched.counts.iter().zip(program.blocks()) {
                let ran = [count.executions.0, count.lanes.0].map(u128::from);
                sums = [0, 1].map(|at| sums[at] + ran[at] * u128::from(block.ops));
            }
        }
        (sums[0] > 0).then(|| Counter {
            name: SOURCE_LANES_MEAN.to_owned(),
            value: sums[1] as f64 / sums[0] as f64,
            unit: "1".to_owned(),
            description: format!(
                "mean active lanes by the source, counted by sim:{} and not by machine code",
                self.place.wave
            ),
        })
    }

    /// The figures of a whole launch, without what made it ready.
    fn counters(&self, launch: &Launch, executed: &[Executed]) -> Vec<Counter> {
        let all = launch.dispatches.iter().zip(executed);
        let worked: Vec<&Executed> =
            all.filter(|(dispatch, _)| !dispatch.setup).map(|(_, executed)| executed).collect();
        let hash = |dispatch: &&Executed| dispatch.compiled.sha256[..16].to_owned();
        let hashes: Vec<String> = worked.iter().map(hash).collect();
        let source = format!(
            "{}, waves of {}, {}, code {}",
            self.place.family,
            self.place.wave,
            self.device.driver,
            hashes.join(" ")
        );
        let mut counters = Vec::new();
        for (word, kind) in KINDS {
            let mut total = Counts::default();
            for dispatch in &worked {
                total += &dispatch.outcome.total(&dispatch.compiled.code, kind);
            }
            for (name, value, meaning) in figures(kind, &total) {
                counters.push(counter(&format!("{word}_{name}"), value, meaning, &source));
            }
        }
        counters
    }
}

/// The kinds of instructions by the word that their figures begin with.
const KINDS: [(&str, IssueKind); 7] = [
    ("valu", IssueKind::Valu),
    ("salu", IssueKind::Salu),
    ("smem", IssueKind::Smem),
    ("vmem", IssueKind::Vmem),
    ("lds", IssueKind::Lds),
    ("branch", IssueKind::Branch),
    ("wait", IssueKind::Wait),
];

/// The figures of a kind: name, value, meaning.
fn figures(kind: IssueKind, total: &Counts) -> Vec<(&'static str, u64, &'static str)> {
    let mut figures = vec![("instructions", total.executions, "instructions that waves executed")];
    match kind {
        IssueKind::Valu => figures.extend([
            ("lanes", total.lanes, "lanes that EXEC had on, summed over the instructions"),
            ("passes_min", total.passes_min, "passes of 32 lanes where each empty half is skipped"),
            ("passes_max", total.passes_max, "passes of 32 lanes where none is skipped"),
        ]),
        IssueKind::Vmem => {
            figures.push(("outside", total.accesses.outside, "accesses outside their buffer"));
        }
        IssueKind::Lds => figures.extend([
            ("conflicts_min", total.accesses.conflicts, "turns at least for words of one bank"),
            ("outside", total.accesses.outside, "accesses outside the workgroup's memory"),
        ]),
        IssueKind::Salu | IssueKind::Smem | IssueKind::Branch | IssueKind::Wait => {}
    }
    figures
}

/// The buffers that a program binds.
fn bindings(program: &Program) -> Result<Vec<Binding>, RunError> {
    let refused = |message| RunError::new(RunErrorKind::Unsupported, message);
    program.bindings().map_err(|error| refused(error.to_string()))
}

#[expect(clippy::cast_precision_loss, reason = "counts lie far below 2^53")]
fn counter(name: &str, value: u64, meaning: &str, source: &str) -> Counter {
    Counter {
        name: name.to_owned(),
        value: value as f64,
        unit: "1".to_owned(),
        description: format!("{meaning}; {source}"),
    }
}

/// A launch's buffers with their first contents.
fn contents(launch: &Launch) -> BTreeMap<String, Vec<u8>> {
    let made = |buffer: &crate::kernel::Buffer| (buffer.name.clone(), launch.contents(buffer));
    launch.buffers.iter().map(made).collect()
}

/// Executes code over the buffers that it binds.
fn run(
    launch: &Launch,
    (code, bindings): (&amd::Code, &[Binding]),
    workgroups: [u32; 3],
    (buffers, (steps_max, all_steps_max)): (&mut BTreeMap<String, Vec<u8>>, (u64, u64)),
    threads: Option<usize>,
    after: Option<&mut Disturb<'_>>,
) -> Result<Outcome, RunError> {
    let mut memory = AmdMemory::new();
    let mut sets: BTreeMap<u32, Vec<[u32; 4]>> = BTreeMap::new();
    for binding in bindings {
        let bytes = buffers.remove(&binding.name).ok_or_else(|| {
            let message = format!("{} describes no buffer `{}`", launch.kernel, binding.name);
            RunError::new(RunErrorKind::BadInput, message)
        })?;
        let number = memory.add(bytes);
        // Descriptors lie in the order of their bindings, which is the order here.
        sets.entry(binding.group).or_default().push(memory.descriptor(number));
    }
    let last = sets.keys().next_back().map_or(0, |group| group + 1);
    let addresses: Vec<u32> = (0..last)
        .map(|group| memory.add_set(sets.get(&group).map_or(&[], Vec::as_slice)))
        .collect();
    let launched = amd::WaveLaunch {
        workgroups,
        sets: &addresses,
        immediates: &launch.immediates,
        steps_max,
        all_steps_max,
        threads,
    };
    let outcome = match after {
        None => amd::run(code, &launched, &mut memory),
        Some(after) => amd::run_disturbed(code, &launched, &mut memory, after),
    };
    for (binding, bytes) in bindings.iter().zip(memory.into_buffers()) {
        buffers.insert(binding.name.clone(), bytes);
    }
    outcome.map_err(|error| match error {
        amd::DispatchError::Steps { limit, .. } => limited(launch, error, LimitOf::Steps, limit),
        amd::DispatchError::AllSteps { limit } => {
            limited(launch, error, LimitOf::Operations, limit)
        }
        amd::DispatchError::Fault { .. } | amd::DispatchError::End { .. } => {
            RunError::new(RunErrorKind::Unsupported, format!("{}: {error}", launch.kernel))
        }
    })
}

/// A launch that executed more than it may.
fn limited(launch: &Launch, error: amd::DispatchError, which: LimitOf, limit: u64) -> RunError {
    let message = format!("{}: {error}; a loop that ends needs a higher limit", launch.kernel);
    RunError::new(RunErrorKind::StepLimit, message).with_limit(which, limit)
}

/// What a place is, but for what gives its code.
fn device(place: RadvPlace) -> Device {
    let RadvPlace { family, wave } = place;
    Device {
        gives: Some(GIVES),
        name: format!("{family}, waves of {wave}, executed without hardware"),
        vendor: "AMD".to_owned(),
        subgroup_width_min: Some(wave),
        subgroup_width_max: Some(wave),
        subgroup_width_run: Some(wave),
        lane_is_local_index_mod_width: Some(true),
        fma_fused: Some(true),
        packing: Some(Packing::Linear),
        ..Device::unmeasured(format!("radv:{place}"), DeviceKind::Radv, Backend::Radv)
    }
}

impl Runner for RadvRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let mut count = || {
            notice();
            caught("interpreter of machine code", &launch.file, || self.count_launch(launch))
        };
        (0..request.runs).map(|_| count()).collect()
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        let found =
            caught("interpreter of machine code", &launch.file, || self.map_counters(launch));
        Some(found.unwrap_or_else(|error| Collected {
            missing: vec![error.to_string()],
            ..Collected::default()
        }))
    }
}

/// The code with what its instructions did, as records hold it.
fn machine_code(matched: &Matched, file: &str, program: &Program) -> MachineCode {
    let Matched { outcome, compiled, beside, .. } = matched;
    let code = &compiled.code;
    let instructions = outcome.counts.iter().enumerate().map(|(index, counts)| {
        let unit = beside.matching.instructions[index].map(|unit| beside.units[unit].block);
        let line = unit.map(|block| program.blocks()[block].location.line);
        crate::record::Instruction {
            offset_bytes: u32::try_from(code.offset(index)).unwrap_or(u32::MAX),
            file: line.map(|_| file.to_owned()),
            line,
            text: Some(text_of(compiled, index)),
            inst_executed: counts.executions,
            thread_inst_executed: counts.lanes,
            thread_inst_executed_pred_on: counts.lanes,
        }
    });
    MachineCode {
        function: program.entry_point().name.clone(),
        architecture: format!("gfx1030 wave{}", code.facts.wave),
        instructions: instructions.collect(),
        sha256: Some(compiled.sha256.clone()),
        arms: beside.arms.clone(),
        near: beside.near_blocks(|block| program.blocks()[block].location.line),
    }
}

/// The text of an instruction. A branch names the offset that it leads to: the listing has a label there, which is not
/// among the instructions.
fn text_of(compiled: &Compiled, index: usize) -> String {
    let code = &compiled.code;
    let Some(text) = &compiled.lines[index] else {
        return code.instructions()[index].mnemonic();
    };
    let target = code.target(index);
    match text.rsplit_once(" BB") {
        Some((branch, _)) if target != index => format!("{branch} {:#06x}", code.offset(target)),
        _ => text.clone(),
    }
}

/// What is said of blocks that no instruction ran as, by the line that they begin at; a jump alone needs none. Where
/// another block begins at the line, what is shown there is that one's.
fn unmatched_text(matched: &Matched, program: &Program) -> Option<String> {
    let begin_at = |sought: Match| -> BTreeSet<u32> {
        let pairs = matched.beside.units.iter().zip(&matched.beside.matching.blocks);
        pairs
            .filter(|(_, what)| **what == sought)
            .map(|(unit, _)| &program.blocks()[unit.block])
            .filter(|block| block.ops > 0)
            .map(|block| block.location.line)
            .collect()
    };
    let (missing, shown) = (begin_at(Match::Missing), begin_at(Match::Found));
    let lines: Vec<String> = missing.iter().map(u32::to_string).collect();
    let shared: Vec<String> = missing.intersection(&shown).map(u32::to_string).collect();
    let others = match shared.is_empty() {
        true => String::new(),
        false => {
            let shared = shared.join(", ");
            format!(
                "; what stands under lines {shared} is of other blocks there, or of another call"
            )
        }
    };
    let cause = match (ran_nearly(&matched.beside, &matched.outcome.counts), has_floats(program)) {
        (true, true) => {
            "other instructions ran nearly so: floating point that is rounded otherwise changes how often \
             loops iterate, and with it the counts of a whole loop"
        }
        (true, false) => "other instructions ran nearly so, as where the compiler changed a loop",
        (false, _) => "the compiler may have removed, merged or copied what they do",
    };
    (!lines.is_empty()).then(|| {
        format!(
            "{}: no machine instructions ran as often, with as many lanes, as blocks that begin at lines {}: none is \
             shown as theirs{others}; {cause}",
            program.entry_point().name,
            lines.join(", ")
        )
    })
}
