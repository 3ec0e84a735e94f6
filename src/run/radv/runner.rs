//! The device of a place: a launch compiled, executed, and its instructions beside the blocks.
//!
//! Input: launches. Output: what [`Runner`] asks for. The environment is the process's ([`super`]).

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::amd::{self, AmdMemory, Code, Counts, IssueKind, Outcome};
use crate::kernel::{Dispatch, Launch, Workgroups, reference};
use crate::program::{Binding, Program};
use crate::record::{Backend, Counter, Device, DeviceKind, MachineCode, Method, Packing};
use crate::run::launched::{indirect_counts, outputs_sha256, outputs_shown, programs};
use crate::run::simulator::SimulatorRunner;
use crate::run::{
    Checked, Collected, CountRequest, Counted, CountedDispatch, RunError, RunErrorKind, Runner,
    caught,
};
use crate::units::Width;

use super::driver::{Compiler, Input, Output};
use super::matching::{Match, Matching, Ran};
use super::place::{GIVES, Place};
use super::{facts, listing, spirv};

/// Instructions that one wave may execute.
pub const STEPS_MAX: u64 = 1 << 32;

/// A family at one wave size.
#[derive(Debug)]
pub struct RadvRunner {
    device: Device,
    family: &'static str,
    wave: Width,
    compiler: Compiler,
}

/// Changes a wave's registers behind an instruction.
pub type Disturb<'a> = dyn FnMut(&mut amd::wave::Wave, &amd::Instruction) + 'a;

/// What one dispatch of a launch came to.
#[derive(Debug)]
pub struct Executed {
    /// The entry point.
    pub entry_point: String,
    /// The workgroups that ran.
    pub workgroups: [u32; 3],
    /// The code.
    pub code: Code,
    /// SHA-256 of the code's words, in hexadecimal.
    pub sha256: String,
    /// The listing's line of each instruction, where it has one.
    pub lines: Vec<Option<String>>,
    /// What ran.
    pub outcome: Outcome,
}

impl RadvRunner {
    /// Opens a place in this process, whose environment must be [`environment`](super::environment)'s.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where RADV is not there or gives another family.
    pub fn open(Place { family, wave }: Place) -> Result<Self, RunError> {
        let missing = |message| RunError::new(RunErrorKind::NoDevice, message);
        let compiler = Compiler::open().map_err(missing)?;
        if !compiler.name.to_lowercase().contains(family) {
            return Err(missing(format!("RADV gives {}, not {family}", compiler.name)));
        }
        let device = device(family, wave, &compiler.driver);
        Ok(Self { device, family, wave, compiler })
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
        self.execute_all(launch, buffers, None)
    }

    /// As [`Self::execute`], with faults planted ([`amd::run_disturbed`]).
    ///
    /// # Errors
    ///
    /// As [`Self::execute`].
    pub fn execute_disturbed(
        &self,
        launch: &Launch,
        buffers: &mut BTreeMap<String, Vec<u8>>,
        after: &mut Disturb<'_>,
    ) -> Result<Vec<Executed>, RunError> {
        self.execute_all(launch, buffers, Some(after))
    }

    fn execute_all(
        &self,
        launch: &Launch,
        buffers: &mut BTreeMap<String, Vec<u8>>,
        mut after: Option<&mut Disturb<'_>>,
    ) -> Result<Vec<Executed>, RunError> {
        let programs = programs(launch)?;
        let mut done = Vec::new();
        for pair in launch.dispatches.iter().zip(programs.iter()) {
            done.push(self.dispatch(launch, pair, buffers, after.as_deref_mut())?);
        }
        Ok(done)
    }

    fn dispatch(
        &self,
        launch: &Launch,
        (dispatch, program): (&Dispatch, &Program),
        buffers: &mut BTreeMap<String, Vec<u8>>,
        after: Option<&mut Disturb<'_>>,
    ) -> Result<Executed, RunError> {
        let unsupported = |message: String| RunError::new(RunErrorKind::Unsupported, message);
        let bindings = program.bindings().map_err(|error| unsupported(error.to_string()))?;
        let output = self.compile_program(launch, program, &bindings)?;
        let words = facts::words(&output).map_err(unsupported)?;
        let mut groups: Vec<u32> = bindings.iter().map(|binding| binding.group).collect();
        groups.dedup();
        let facts = facts::facts(&output, self.wave.lanes(), program.workgroup_size(), &groups)
            .map_err(unsupported)?;
        let code = Code::new(&words, facts).map_err(|error| {
            unsupported(format!("{}, {}: {error}", launch.kernel, dispatch.entry_point))
        })?;
        let listing = facts::text(&output, "Assembly").map_err(unsupported)?;
        let lines = listing::lines(&code, &words, listing);
        let workgroups = match &dispatch.workgroups {
            Workgroups::Direct(workgroups) => *workgroups,
            Workgroups::Indirect { buffer, offset } => {
                let bytes = buffers.get(buffer).map(Vec::as_slice).unwrap_or_default();
                indirect_counts(buffer, bytes, *offset)?
            }
        };
        let outcome = run(launch, (&code, &bindings), workgroups, buffers, after)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let entry_point = dispatch.entry_point.clone();
        Ok(Executed { entry_point, workgroups, code, sha256, lines, outcome })
    }

    fn compile_program(
        &self,
        launch: &Launch,
        program: &Program,
        bindings: &[Binding],
    ) -> Result<Output, RunError> {
        let driver = |message| RunError::new(RunErrorKind::Driver, message);
        let words = spirv::words(program, launch.workgroup_memory_zeroed)
            .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
        let places: Vec<(u32, u32, bool)> = bindings
            .iter()
            .map(|binding| (binding.group, binding.binding, binding.uniform))
            .collect();
        let input = Input {
            words: &words,
            entry_point: &program.entry_point().name,
            bindings: &places,
            immediate_bytes: u32::try_from(launch.immediates.len()).unwrap_or(u32::MAX),
            wave: self.wave.lanes(),
        };
        self.compiler.compile(&input).map_err(driver)
    }

    fn count_launch(&self, launch: &Launch) -> Result<Counted, RunError> {
        let mut buffers = contents(launch);
        let executed = self.execute(launch, &mut buffers)?;
        let names = launch.buffers.iter().filter(|buffer| buffer.output).map(|buffer| &buffer.name);
        let outputs: BTreeMap<String, Vec<u8>> = names
            .filter_map(|name| buffers.get(name).map(|bytes| (name.clone(), bytes.clone())))
            .collect();
        let checked = reference::check(launch, &outputs)
            .map(Checked::from)
            .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
        let counters = self.counters(&executed);
        let dispatches = executed.iter().map(|dispatch| CountedDispatch {
            workgroups: Some(dispatch.workgroups),
            counts: Vec::new(),
            calls: Vec::new(),
            iterations_max: None,
        });
        Ok(Counted {
            answer_ns: None,
            trace: None,
            width: Some(self.wave),
            method: Method::Executed,
            dispatches: dispatches.collect(),
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked,
            runtime_checks: false,
            counters,
            flags: Vec::new(),
        })
    }

    /// The machine code of each dispatch, its instructions beside the blocks of the source that ran as
    /// they did in the simulator, on the launch's input and on that of the next seed.
    ///
    /// # Errors
    ///
    /// As [`Self::execute`], and as simulating.
    pub fn match_code(&self, launch: &Launch) -> Result<Vec<(Executed, Matching)>, RunError> {
        let other = Launch { seed: launch.seed.wrapping_add(1), ..launch.clone() };
        let mut simulator = SimulatorRunner::new(self.wave, STEPS_MAX);
        let request = CountRequest::once(Method::Executed);
        let mut blocks: Vec<Vec<Ran>> = Vec::new();
        let mut instructions: Vec<Vec<Ran>> = Vec::new();
        let mut executed = Vec::new();
        for launch in [launch, &other] {
            let simulated = simulator.count_once(launch, &request)?;
            let ran = self.execute(launch, &mut contents(launch))?;
            for (place, (dispatch, one)) in simulated.dispatches.iter().zip(&ran).enumerate() {
                let counts = dispatch.counts.iter().map(|count| (count.issues.0, count.lanes.0));
                append(&mut blocks, place, counts);
                let counts = one.outcome.counts.iter().map(|count| (count.executions, count.lanes));
                append(&mut instructions, place, counts);
            }
            if executed.is_empty() {
                executed = ran;
            }
        }
        let pairs = blocks.iter().zip(&instructions);
        let matchings = pairs.map(|(blocks, code)| Matching::new(blocks, code));
        Ok(executed.into_iter().zip(matchings).collect())
    }

    fn map_counters(&self, launch: &Launch) -> Result<Collected, RunError> {
        let programs = programs(launch)?;
        let mut collected = Collected::default();
        for ((executed, matching), program) in self.match_code(launch)?.iter().zip(programs.iter())
        {
            let code = machine_code(executed, matching, &launch.file, program);
            collected.machine_code.push(Some(code));
            collected.missing.extend(unmatched_text(matching, &executed.entry_point, program));
        }
        Ok(collected)
    }

    /// The figures of a whole launch.
    fn counters(&self, executed: &[Executed]) -> Vec<Counter> {
        let hashes: Vec<&str> = executed.iter().map(|dispatch| &dispatch.sha256[..16]).collect();
        let of = format!(
            "{}, waves of {}, {}, code {}",
            self.family,
            self.wave,
            self.device.driver,
            hashes.join(" ")
        );
        let mut counters = Vec::new();
        for (word, kind) in KINDS {
            let mut total = Counts::default();
            for dispatch in executed {
                add(&mut total, &dispatch.outcome.total(&dispatch.code, kind));
            }
            for (name, value, meaning) in figures(kind, &total) {
                counters.push(counter(&format!("{word}_{name}"), value, meaning, &of));
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

/// Puts counts of one more input behind those that dispatch `place` has.
fn append(all: &mut Vec<Vec<Ran>>, place: usize, counts: impl Iterator<Item = (u64, u64)>) {
    if all.len() <= place {
        all.push(counts.map(|count| vec![count]).collect());
    } else {
        for (ran, one) in all[place].iter_mut().zip(counts) {
            ran.push(one);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts lie far below 2^53")]
fn counter(name: &str, value: u64, meaning: &str, of: &str) -> Counter {
    Counter {
        name: name.to_owned(),
        value: value as f64,
        unit: "1".to_owned(),
        description: format!("{meaning}; {of}"),
    }
}

fn add(total: &mut Counts, more: &Counts) {
    total.executions += more.executions;
    total.lanes += more.lanes;
    total.passes_min += more.passes_min;
    total.passes_max += more.passes_max;
    total.accesses.conflicts += more.accesses.conflicts;
    total.accesses.outside += more.accesses.outside;
}

/// A launch's buffers with their first contents.
fn contents(launch: &Launch) -> BTreeMap<String, Vec<u8>> {
    let made = |buffer: &crate::kernel::Buffer| (buffer.name.clone(), launch.contents(buffer));
    launch.buffers.iter().map(made).collect()
}

/// Executes code over the buffers that it binds.
fn run(
    launch: &Launch,
    (code, bindings): (&Code, &[Binding]),
    workgroups: [u32; 3],
    buffers: &mut BTreeMap<String, Vec<u8>>,
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
        steps_max: STEPS_MAX,
    };
    let outcome = match after {
        None => amd::run(code, &launched, &mut memory),
        Some(after) => amd::run_disturbed(code, &launched, &mut memory, after),
    };
    for (binding, bytes) in bindings.iter().zip(memory.into_buffers()) {
        buffers.insert(binding.name.clone(), bytes);
    }
    outcome.map_err(|error| {
        let kind = match error {
            amd::DispatchError::Steps { .. } => RunErrorKind::StepLimit,
            amd::DispatchError::Fault { .. } | amd::DispatchError::End { .. } => {
                RunErrorKind::Unsupported
            }
        };
        RunError::new(kind, format!("{}: {error}", launch.kernel))
    })
}

fn device(family: &str, wave: Width, driver: &str) -> Device {
    Device {
        id: format!("radv:{family}/{wave}"),
        kind: DeviceKind::Radv,
        gives: Some(GIVES),
        name: format!("{family}, waves of {wave}, executed without hardware"),
        vendor: "AMD".to_owned(),
        driver: driver.to_owned(),
        backend: Backend::Radv,
        cpu_driver: false,
        subgroup_width_min: Some(wave),
        subgroup_width_max: Some(wave),
        subgroup_width_run: Some(wave),
        lane_is_local_index_mod_width: Some(true),
        timestamp_period_ns: None,
        timestamp_quantum_ns: None,
        peak_fma_per_s: None,
        copy_bytes_per_s: None,
        fma_fused: Some(true),
        loop_limit: None,
        uniform_buffers_as_storage: false,
        packing: Some(Packing::Linear),
        trust: None,
        self_test: Vec::new(),
        flags: Vec::new(),
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
fn machine_code(
    executed: &Executed,
    matching: &Matching,
    file: &str,
    program: &Program,
) -> MachineCode {
    let code = &executed.code;
    let instructions = executed.outcome.counts.iter().enumerate().map(|(index, counts)| {
        let mnemonic = || code.instructions()[index].mnemonic();
        let line = matching.instructions[index].map(|block| program.blocks()[block].location.line);
        crate::record::Instruction {
            offset_bytes: u32::try_from(code.offset(index)).unwrap_or(u32::MAX),
            file: line.map(|_| file.to_owned()),
            line,
            text: Some(executed.lines[index].clone().unwrap_or_else(mnemonic)),
            inst_executed: counts.executions,
            thread_inst_executed: counts.lanes,
            thread_inst_executed_pred_on: counts.lanes,
        }
    });
    MachineCode {
        function: executed.entry_point.clone(),
        architecture: format!("gfx1030 wave{}", code.facts.wave),
        instructions: instructions.collect(),
    }
}

/// What is said of blocks that no instruction ran as, by the line that they begin at.
fn unmatched_text(matching: &Matching, entry_point: &str, program: &Program) -> Option<String> {
    let pairs = program.blocks().iter().zip(&matching.blocks);
    let mut lines: Vec<u32> = pairs
        .filter(|(_, what)| matches!(what, Match::Missing | Match::Ambiguous))
        .map(|(block, _)| block.location.line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    (!lines.is_empty()).then(|| {
        format!(
            "{entry_point}: no machine instructions are told apart for the blocks that begin at lines {}: \
             they were flattened, merged, inlined more than once, or ran as often as others",
            lines.join(", ")
        )
    })
}
