//! AMD's machine code, executed: what of it runs, what notices a fault, random programs, speed, and the
//! code that lanescope brings.
//!
//! Input: a task, a family and a wave size; Mesa's RADV. Output: on standard output what the task found,
//! and exit code 1 where something does not hold; `code` writes the archive of the checkout. This
//! program starts itself again with the environment that RADV reads its family from.
//!
//! ```sh
//! cargo run --release -p lab -- wavefronts entries      # every entry point of the catalogue
//! cargo run --release -p lab -- wavefronts faults       # one flipped bit of each opcode's results
//! cargo run --release -p lab -- wavefronts random --count 2000
//! cargo run --release -p lab -- wavefronts floats --count 2000   # the same of floats, within a tolerance
//! cargo run --release -p lab -- wavefronts shaders tests/wgsl   # every shader of a folder
//! cargo run --release -p lab -- wavefronts speed
//! cargo run --release -p lab -- wavefronts code         # renews src/run/radv/brought.tar.xz
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use lanescope::amd::opcodes::{OpcodeAction, OpcodeRow};
use lanescope::amd::wave::Wave;
use lanescope::amd::{Instruction, Moment};
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, Launch, SEED, reference};
use lanescope::mapping::matching::Match;
use lanescope::program::Parsed;
use lanescope::record::{Method, Output, Tool, Value};
use lanescope::run::launched::outputs_sha256;
use lanescope::run::radv::brought::{self, ARCHIVE, CODE, CodeIndex, CodeRow, INDEX, start_words};
use lanescope::run::radv::{Executed, RadvPlace, RadvRunner, environment};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, RunErrorKind, Runner};
use lzma_rust2::{XzOptions, XzWriter};
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::agreement::{launch_of, program_of};
use crate::root;

#[path = "../../tests/support/shaders.rs"]
mod folder;

use folder::{Verdict, random_floats, verdicts};

/// AMD's machine code: what runs, what notices faults, random programs, speed, the code that is brought.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to do.
    #[arg(value_enum)]
    task: Task,
    /// `shaders`: the folder of WGSL files.
    folder: Option<PathBuf>,
    /// The family.
    #[arg(long, default_value = "navi21")]
    family: String,
    /// Lanes of a wave, 32 or 64; both where it is left out.
    #[arg(long)]
    wave: Option<u32>,
    /// `branches`: of kernels whose id begins so.
    #[arg(long, default_value = "")]
    kernel: String,
    /// `branches`: the launch's n, where it has one.
    #[arg(long)]
    n: Option<i64>,
    /// `random`, `floats`: how many programs at each wave size.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// `random`, `floats`: the seed of the first program, at least 1.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Task {
    /// Compiles and runs every entry point of the catalogue.
    Entries,
    /// Which blocks of the source are in the code, and what became of each arm and loop.
    Branches,
    /// Flips a bit of each result of one opcode after another, and says which no kernel notices.
    Faults,
    /// Runs random programs, and compares their outputs with the simulator's.
    Random,
    /// Runs random programs of floats, and compares their outputs with the simulator's: they lie close.
    Floats,
    /// Runs every entry point of a folder's shaders as `profile` would, and compares their outputs with the
    /// simulator's.
    Shaders,
    /// Wave instructions a second.
    Speed,
    /// Renews the machine code that lanescope brings.
    Code,
}

/// Set in the child that has the environment.
const CHILD: &str = "LANESCOPE_WAVEFRONTS";

/// Instructions of one wave, at most.
const STEPS_OF_WAVE_MAX: u64 = 4 << 20;

/// How many times the sound run's instructions a disturbed one may execute, behind [`FAULTY_STEPS_MIN`].
const FAULTY_TIMES: u64 = 4;

/// Instructions that every disturbed run may execute.
const FAULTY_STEPS_MIN: u64 = 100_000;

/// Opcodes whose faults nobody notices, at most.
const UNNOTICED_MAX: usize = 17;

/// Instructions of a launch that faults are planted in, at most, unless it alone executes an opcode.
const FAULTY_INSTRUCTIONS_MAX: u64 = 6_000_000;

/// Opcodes whose faults nobody notices, and why.
const REASONS: [(&str, &str); 5] = [
    (
        "buffer_atomic_cmpswap",
        "the only kernel with one, a bounded lock, may let a lane give up, which a lane does that is told that \
         another has the lock",
    ),
    ("s_max_u32", "its value is not read, only its SCC, which is left as it is"),
    (
        "v_and_or_b32",
        "at waves of 64 the place in a workgroup's memory that a lane zeroes, where every kernel writes before it \
         reads; in reduce/every_lane the values of which two sums are compared",
    ),
    (
        "v_max3_u32",
        "whether keys are to be looked at one by one, which gives the same counts; in shuffle/match_any whether a \
         lane's mask is that of all, which it is in none of these launches",
    ),
    (
        "v_min3_u32",
        "whether all keys of a subgroup are one class, which then is counted once; counting each gives the same",
    ),
];

/// The bits that are flipped, one after the other, until one is noticed.
const BITS: [u32; 6] = [0, 9, 23, 4, 30, 31];

type Buffers = BTreeMap<String, Vec<u8>>;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if std::env::var_os(CHILD).is_none() {
        let environment = environment(&arguments.family).map_err(anyhow::Error::msg)?;
        let mut child = Command::new(std::env::current_exe()?);
        let status =
            child.args(std::env::args().skip(1)).envs(environment).env(CHILD, "1").status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let tool = Tool::this();
    let sha = tool.git_sha.as_deref().unwrap_or("no git checkout");
    println!("lanescope {} ({sha})", tool.version);
    let mut fine = true;
    let mut runners = Vec::new();
    for wave in arguments.wave.map_or(vec![32, 64], |wave| vec![wave]) {
        let place = format!("{}/{wave}", arguments.family);
        let place = RadvPlace::parse(&place).map_err(|why| anyhow::anyhow!("{why:?}"))?;
        let runner = RadvRunner::open(place)?.steps_max(STEPS_OF_WAVE_MAX);
        // The CPU seconds that the speed is taken by are this thread's.
        runners.push(if arguments.task == Task::Speed { runner.threads(1) } else { runner });
    }
    if arguments.task == Task::Code {
        return write_code(&runners);
    }
    for runner in &mut runners {
        let device = runner.device();
        println!("\n{} ({})", device.id, device.driver);
        fine &= match arguments.task {
            Task::Entries => entries(runner)?,
            Task::Branches => branches(runner, arguments)?,
            Task::Faults => faults(runner)?,
            Task::Random => random(runner, arguments)?,
            Task::Floats => floats(runner, arguments),
            Task::Shaders => shaders(runner, arguments)?,
            Task::Speed => speed(runner)?,
            Task::Code => true,
        };
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn contents(launch: &Launch) -> Buffers {
    let made = |buffer: &lanescope::kernel::Buffer| (buffer.name.clone(), launch.contents(buffer));
    launch.buffers.iter().map(made).collect()
}

fn outputs(launch: &Launch, buffers: &Buffers) -> Buffers {
    let kept = launch.buffers.iter().filter(|buffer| buffer.output);
    kept.filter_map(|buffer| Some((buffer.name.clone(), buffers.get(&buffer.name)?.clone())))
        .collect()
}

/// The launches of a kernel that reach its entry points: the default point, then each other value of
/// each parameter.
fn launches(kernel: &Kernel) -> Vec<Launch> {
    let launch =
        |chosen: &BTreeMap<String, Value>| kernel.launch(DeviceClass::Quick, chosen, SEED).ok();
    let mut launches: Vec<Launch> =
        kernel.points(&BTreeMap::new()).iter().filter_map(launch).collect();
    for (name, parameter) in &kernel.description.parameters {
        for value in &parameter.values {
            launches.extend(launch(&BTreeMap::from([(name.clone(), value.clone())])));
        }
    }
    launches
}

/// What became of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Became {
    /// It ran, and the outputs of its launch were the references'.
    Verified,
    /// It ran, and the outputs were the simulator's, bit for bit.
    Same,
    /// It ran; nothing says what its outputs must be.
    Ran(String),
    /// It was compiled and decoded; no launch of the catalogue dispatches it.
    Decoded,
    /// It was refused.
    Refused(String),
}

/// Every entry point of the catalogue: run, or refused with the reason.
fn entries(runner: &mut RadvRunner) -> anyhow::Result<bool> {
    let catalogue = Catalogue::embedded()?;
    let width = runner.device().subgroup_width_run.context("a wave size")?;
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let mut all: BTreeMap<(String, String), Became> = BTreeMap::new();
    for kernel in catalogue.kernels() {
        let parsed = Parsed::new(&kernel.id, &kernel.source)?;
        let names: BTreeSet<String> =
            parsed.entry_points().iter().map(|name| (*name).to_owned()).collect();
        let mut left = names.clone();
        for launch in launches(kernel) {
            let is_here = |name: &String| launch.dispatches.iter().any(|d| d.entry_point == *name);
            let reached: Vec<String> = left.iter().filter(|name| is_here(name)).cloned().collect();
            if reached.is_empty() {
                continue;
            }
            let became = verdict(runner, &mut simulator, &launch)?;
            for name in reached {
                left.remove(&name);
                all.insert((kernel.id.clone(), name), became.clone());
            }
        }
        for name in left {
            let became = parsed
                .resolve(&name, &BTreeMap::new())
                .map_err(|error| error.to_string())
                .and_then(|program| {
                    let launch = launches(kernel).remove(0);
                    runner.compile(&launch, &program).map_err(|error| error.to_string())
                });
            let became = became.map_or_else(Became::Refused, |_| Became::Decoded);
            all.insert((kernel.id.clone(), name), became);
        }
    }
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    for ((kernel, name), became) in &all {
        let (word, why) = match became {
            Became::Verified => ("verified", ""),
            Became::Same => ("equal to the simulator's", ""),
            Became::Ran(why) => ("ran", why.as_str()),
            Became::Decoded => ("decoded, never dispatched", ""),
            Became::Refused(why) => ("refused", why.as_str()),
        };
        *sums.entry(word).or_default() += 1;
        println!("{kernel} {name}: {word}{}{why}", if why.is_empty() { "" } else { ": " });
    }
    println!("{} entry points: {sums:?}", all.len());
    Ok(!all.values().any(|became| matches!(became, Became::Refused(_))))
}

fn verdict(
    runner: &mut RadvRunner,
    simulator: &mut SimulatorRunner,
    launch: &Launch,
) -> anyhow::Result<Became> {
    let request = CountRequest::once(Method::Executed);
    let counted = match runner.count_once(launch, &request) {
        Ok(counted) => counted,
        Err(error) => return Ok(Became::Refused(error.to_string())),
    };
    Ok(match counted.checked.output {
        Output::Verified => Became::Verified,
        Output::Mismatch => Became::Refused(format!("wrong: {:?}", counted.checked.mismatch)),
        _ => match simulator.count_once(launch, &request)?.outputs_sha256 == counted.outputs_sha256
        {
            true => Became::Same,
            false => Became::Ran("its outputs differ from the simulator's".to_owned()),
        },
    })
}

/// What is in the code of each kernel, and what became of its arms and loops.
fn branches(runner: &RadvRunner, arguments: &Arguments) -> anyhow::Result<bool> {
    let mut fine = true;
    for kernel in Catalogue::embedded()?.kernels() {
        if !kernel.id.starts_with(&arguments.kernel) {
            continue;
        }
        let n = arguments.n.filter(|_| kernel.description.parameters.contains_key("n"));
        let chosen = n.map(|n| ("n".to_owned(), Value::Integer(n))).into_iter().collect();
        let launch = kernel.launch(DeviceClass::Quick, &chosen, SEED)?;
        let matched = match runner.match_code(&launch) {
            Ok(matched) => matched,
            Err(error) => {
                println!("{}: {error}", kernel.id);
                fine = false;
                continue;
            }
        };
        for (dispatched, dispatch) in matched.iter().zip(&launch.dispatches) {
            let blocks = &dispatched.beside.matching.blocks;
            let ran = blocks.iter().filter(|what| **what != Match::NeverRan).count();
            let there = blocks.iter().filter(|what| what.is_there()).count();
            println!("{} {}: {there} of {ran} blocks", kernel.id, dispatch.entry_point);
            for (unit, what) in dispatched.beside.units.iter().zip(blocks) {
                if *what != Match::Found && *what != Match::NeverRan {
                    println!("  block {} {} {:?}: {what:?}", unit.block, unit.way, unit.ran);
                }
            }
            for arm in &dispatched.beside.arms {
                println!("  line {} {:?} {}: {:?}", arm.line, arm.part, arm.case, arm.outcome);
            }
        }
    }
    Ok(fine)
}

/// An opcode: what it is known by.
type Opcode = String;

fn opcode(instruction: &Instruction) -> Opcode {
    format!("{:?} {}", instruction.format, instruction.row.name)
}

/// A launch in which faults are planted, with the outputs that it must have.
struct Sound {
    launch: Launch,
    instructions: u64,
    opcodes: BTreeMap<Opcode, &'static OpcodeRow>,
    right: BTreeMap<String, String>,
    verified: bool,
}

impl Sound {
    /// `None` for a launch that is refused.
    fn new(runner: &RadvRunner, launch: Launch) -> Option<Self> {
        let mut buffers = contents(&launch);
        let executed = runner.execute(&launch, &mut buffers).ok()?;
        let outputs = outputs(&launch, &buffers);
        Some(Self {
            instructions: executed.iter().map(|dispatched| dispatched.outcome.instructions()).sum(),
            opcodes: executed.iter().flat_map(executed_opcodes).collect(),
            right: outputs_sha256(&outputs),
            verified: is_verified(&launch, &outputs),
            launch,
        })
    }
}

/// The launches in which faults are planted: those that are not too long, and whatever executes an opcode
/// that none of these has. Default points come first, of them those that are checked against a reference,
/// and the shortest first.
fn sound_launches(runner: &RadvRunner) -> anyhow::Result<Vec<Sound>> {
    let kernels = Catalogue::embedded()?;
    let mut all: Vec<(bool, Sound)> = kernels
        .kernels()
        .par_bridge()
        .flat_map_iter(|kernel| {
            let each = launches(kernel).into_iter().enumerate();
            each.filter_map(|(at, launch)| Some((at > 0, Sound::new(runner, launch)?)))
        })
        .collect();
    let name =
        |sound: &Sound| (sound.launch.kernel.clone(), format!("{:?}", sound.launch.dispatches));
    all.sort_by_cached_key(|(other, sound)| {
        (*other, !sound.verified, sound.instructions, name(sound))
    });
    let short = |sound: &Sound| sound.instructions <= FAULTY_INSTRUCTIONS_MAX;
    let of_short = all.iter().filter(|(_, sound)| short(sound));
    let mut known: BTreeSet<Opcode> =
        of_short.flat_map(|(_, sound)| sound.opcodes.keys().cloned()).collect();
    all.retain(|(_, sound)| {
        let mut new = false;
        for opcode in sound.opcodes.keys() {
            new |= known.insert(opcode.clone());
        }
        new || short(sound)
    });
    Ok(all.into_iter().map(|(_, sound)| sound).collect())
}

/// In what a bit is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// In every lane of every result.
    Every,
    /// In the first lane that is on, of every second result: where every lane errs alike, errors cancel.
    Some,
}

/// How a fault shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    /// The outputs are wrong.
    Outputs,
    /// What was executed reached nowhere or was refused.
    Fault,
    /// It executed many times the sound run's instructions.
    Endless,
}

/// What became of the faults of an opcode.
struct Planted {
    opcode: Opcode,
    /// The kernel that noticed, the bit, in what it was flipped, and how it showed.
    noticed: Option<(String, u32, Spread, Notice)>,
    /// The kernels in which a fault was planted.
    tried: BTreeSet<String>,
}

impl Planted {
    /// Why nobody notices.
    fn reason(&self) -> Option<&'static str> {
        let is = |(name, _): &&(&str, &str)| self.opcode.ends_with(&format!(" {name}"));
        REASONS.iter().find(is).map(|(_, reason)| *reason)
    }
}

impl std::fmt::Display for Planted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { opcode, noticed, tried } = self;
        match noticed {
            Some((kernel, bit, spread, notice)) => {
                let some = if *spread == Spread::Some { " of some results" } else { "" };
                write!(out, "{opcode}: bit {bit}{some} is noticed by {kernel}")?;
                match notice {
                    Notice::Outputs => Ok(()),
                    Notice::Fault => write!(out, ", whose run is refused"),
                    Notice::Endless => {
                        write!(out, ", which runs over {FAULTY_TIMES} times as long")
                    }
                }
            }
            None => {
                let tried: Vec<&str> = tried.iter().map(String::as_str).collect();
                write!(out, "{opcode}: not noticed by {}", tried.join(", "))?;
                self.reason().map_or(Ok(()), |reason| write!(out, "; {reason}"))
            }
        }
    }
}

/// Plants faults: which opcodes' flipped results nobody notices.
fn faults(runner: &RadvRunner) -> anyhow::Result<bool> {
    let sound = sound_launches(runner)?;
    let all: BTreeMap<&Opcode, &'static OpcodeRow> = sound
        .iter()
        .flat_map(|launch| launch.opcodes.iter().map(|(name, row)| (name, *row)))
        .collect();
    let plant_in = |(opcode, row): (&&Opcode, &&'static OpcodeRow)| {
        let planted = plant(runner, &sound, opcode, row);
        eprintln!("{planted}");
        planted
    };
    let mut planted: Vec<Planted> = all.iter().par_bridge().map(plant_in).collect();
    planted.sort_by(|a, b| a.opcode.cmp(&b.opcode));
    let (noticed, missed): (Vec<_>, Vec<_>) =
        planted.iter().partition(|planted| planted.noticed.is_some());
    for planted in noticed.iter().chain(&missed) {
        println!("{planted}");
    }
    println!(
        "{} opcodes with results, executed by {} launches; {} noticed, {} not",
        all.len(),
        sound.len(),
        noticed.len(),
        missed.len()
    );
    Ok(missed.len() <= UNNOTICED_MAX && missed.iter().all(|planted| planted.reason().is_some()))
}

fn is_verified(launch: &Launch, outputs: &Buffers) -> bool {
    // What a reference cannot read is not right.
    let verdict = reference::check(launch, outputs).map(lanescope::run::Checked::from);
    verdict.is_ok_and(|checked| checked.output == Output::Verified)
}

/// The opcodes with results that a dispatch executed.
fn executed_opcodes(executed: &Executed) -> Vec<(Opcode, &'static OpcodeRow)> {
    let pairs = executed.compiled.code.instructions().iter().zip(&executed.outcome.counts);
    let with = |instruction: &Instruction| {
        !matches!(instruction.row.run, OpcodeAction::Control(_) | OpcodeAction::Refused)
    };
    pairs
        .filter(|(i, counts)| counts.executions > 0 && with(i))
        .map(|(i, _)| (opcode(i), i.row))
        .collect()
}

/// Plants faults of an opcode in one launch after another, until wrong outputs show one; where none does,
/// a run that is refused or that does not end counts.
fn plant(
    runner: &RadvRunner,
    sound: &[Sound],
    opcode: &Opcode,
    row: &'static OpcodeRow,
) -> Planted {
    let having = sound.iter().filter(|candidate| candidate.opcodes.contains_key(opcode));
    let mut planted = Planted { opcode: opcode.clone(), noticed: None, tried: BTreeSet::new() };
    for candidate in having {
        planted.tried.insert(candidate.launch.kernel.clone());
        let spreads = [Spread::Every, Spread::Some];
        for (spread, bit) in spreads.iter().flat_map(|spread| BITS.map(|bit| (*spread, bit))) {
            let Some(notice) = notice(runner, candidate, row, (bit, spread)) else { continue };
            let found = Some((candidate.launch.kernel.clone(), bit, spread, notice));
            if notice == Notice::Outputs {
                planted.noticed = found;
                return planted;
            }
            planted.noticed = planted.noticed.or(found);
        }
    }
    planted
}

/// Whether a launch notices a flipped bit of an opcode's results.
fn notice(
    runner: &RadvRunner,
    sound: &Sound,
    row: &'static OpcodeRow,
    (bit, spread): (u32, Spread),
) -> Option<Notice> {
    let mut buffers = contents(&sound.launch);
    let mut executions = 0_u64;
    let mut hook = |wave: &mut Wave, instruction: &Instruction, moment: Moment| {
        if std::ptr::eq(instruction.row, row) {
            executions += u64::from(moment == Moment::Before);
            if spread == Spread::Every || executions % 2 == 1 {
                flip(wave, instruction, moment, (bit, spread));
            }
        }
    };
    let limit = sound.instructions * FAULTY_TIMES + FAULTY_STEPS_MIN;
    match runner.execute_disturbed(&sound.launch, &mut buffers, limit, &mut hook) {
        Err(error) if error.kind == RunErrorKind::StepLimit => Some(Notice::Endless),
        Err(_) => Some(Notice::Fault),
        Ok(_) => {
            let outputs = outputs(&sound.launch, &buffers);
            let wrong = match sound.verified {
                true => !is_verified(&sound.launch, &outputs),
                false => outputs_sha256(&outputs) != sound.right,
            };
            wrong.then_some(Notice::Outputs)
        }
    }
}

/// Flips a bit of what an instruction makes: of a store what it stores, of a comparison a lane of its
/// mask, of everything else its result.
fn flip(wave: &mut Wave, instruction: &Instruction, moment: Moment, (bit, spread): (u32, Spread)) {
    let name = instruction.row.name;
    let data = |wave: &mut Wave, register: u8| {
        let on = (0..wave.width() as usize).filter(|lane| wave.is_on(*lane));
        let flipped: Vec<usize> = match spread {
            Spread::Every => on.collect(),
            Spread::Some => on.take(1).collect(),
        };
        for lane in flipped {
            let value = wave.lane(register, lane);
            wave.set_lane(register, lane, value ^ 1 << bit);
        }
    };
    let stores = name.contains("store") || name.contains("write") && !name.contains("writelane");
    let atomic = name.contains("atomic") || name.starts_with("ds_") && !name.contains("read");
    let gives = !atomic
        || instruction.access.returns
        || ["rtn", "permute", "swizzle"].iter().any(|part| name.contains(part));
    if stores || !gives {
        if moment == Moment::Before {
            match instruction.sources[1] {
                _ if name.starts_with("buffer") => data(wave, instruction.destination),
                lanescope::amd::fields::OperandSource::Vector(register) => data(wave, register),
                _ => {}
            }
        }
        return;
    }
    if moment == Moment::Before {
        return;
    }
    let scalar = |wave: &mut Wave, register: u8, bit: u32| {
        let value = wave.scalar(register);
        wave.set_scalar(register, value ^ 1 << bit);
    };
    match instruction.row.run {
        OpcodeAction::Scalar(_) if name.starts_with("s_cmp") || name.starts_with("s_bitcmp") => {
            wave.scc = !wave.scc;
        }
        OpcodeAction::Scalar(_) | OpcodeAction::ScalarMemory(_) => {
            scalar(wave, instruction.destination, bit);
        }
        OpcodeAction::Lane(_) if name.contains("read") => {
            scalar(wave, instruction.destination, bit);
        }
        OpcodeAction::VectorToScalar(_) if name.starts_with("v_cmp") => {
            scalar(wave, instruction.scalar_destination, bit);
        }
        _ => data(wave, instruction.destination),
    }
}

/// Random programs: their outputs are the simulator's, bit for bit.
fn random(runner: &mut RadvRunner, arguments: &Arguments) -> anyhow::Result<bool> {
    let width = runner.device().subgroup_width_run.context("a wave size")?;
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let request = CountRequest::once(Method::Executed);
    let (mut same, mut differ, mut instructions) = (0, 0, 0.0);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for seed in arguments.seed..arguments.seed + arguments.count {
        let launch = launch_of(&program_of(seed), seed);
        let counted = match runner.count_once(&launch, &request) {
            Ok(counted) => counted,
            Err(error) => {
                *refused.entry(error.to_string()).or_default() += 1;
                continue;
            }
        };
        let issued =
            counted.counters.iter().filter(|counter| counter.name.ends_with("_instructions"));
        instructions += issued.map(|counter| counter.value).sum::<f64>();
        if simulator.count_once(&launch, &request)?.outputs_sha256 == counted.outputs_sha256 {
            same += 1;
        } else {
            differ += 1;
            println!("seed {seed}: outputs differ");
        }
    }
    println!(
        "{} programs from seed {}: outputs of {same} are the simulator's bit for bit, {differ} differ, \
         {} refused, {instructions:.0} wave instructions",
        arguments.count,
        arguments.seed,
        refused.values().sum::<u64>()
    );
    for (why, count) in &refused {
        println!("  {count} refused: {why}");
    }
    Ok(differ == 0)
}

/// Random programs of floats: their outputs are the simulator's, but for what is rounded otherwise.
fn floats(runner: &RadvRunner, arguments: &Arguments) -> bool {
    let (mut same, mut close, mut wrong) = (0, 0, 0);
    for seed in arguments.seed..arguments.seed + arguments.count {
        for (_, verdict) in verdicts(runner, "floats.wgsl", &random_floats(seed)) {
            match verdict {
                Verdict::Same => same += 1,
                Verdict::Close => close += 1,
                verdict => {
                    wrong += 1;
                    println!("seed {seed}: {verdict:?}");
                }
            }
        }
    }
    println!(
        "{} programs of floats from seed {}: outputs of {same} are the simulator's bit for bit, of {close} but for \
         floats that lie close, {wrong} are not",
        arguments.count, arguments.seed
    );
    wrong == 0
}

/// Every shader of a folder: what became of its entry points.
fn shaders(runner: &RadvRunner, arguments: &Arguments) -> anyhow::Result<bool> {
    let folder = arguments.folder.as_ref().context("a folder of WGSL files is wanted")?;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "wgsl"));
    paths.sort();
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fine = true;
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(path)?;
        for (entry_point, verdict) in verdicts(runner, &name, &text) {
            let (word, why) = match &verdict {
                Verdict::Same => ("equal to the simulator's", ""),
                Verdict::Close => ("equal but for floats that lie close", ""),
                Verdict::Differs(why) => ("different", why.as_str()),
                Verdict::Undefined(why) => ("ran, outputs not defined", why.as_str()),
                Verdict::Refused(why) => ("refused", why.as_str()),
                Verdict::NoLaunch(why) => ("not launched", why.as_str()),
            };
            fine &= !matches!(verdict, Verdict::Differs(_));
            *sums.entry(word).or_default() += 1;
            println!("{name} {entry_point}: {word}{}{why}", if why.is_empty() { "" } else { ": " });
        }
    }
    println!("{} files: {sums:?}", paths.len());
    Ok(fine)
}

/// CPU seconds of this thread, as Linux counts them: in hundredths.
fn cpu_seconds() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat")?;
    // Behind the name, which may hold blanks: the twelfth and thirteenth are user's and system's ticks.
    let behind = stat.rsplit_once(')').context("a name")?.1;
    let ticks: Vec<f64> =
        behind.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}

/// CPU seconds over which a rate is taken, at least.
const RATE_SECONDS: f64 = 1.0;

/// Wave instructions a CPU second, on one thread.
#[expect(clippy::cast_precision_loss, reason = "a rate is shown to two digits")]
fn speed(runner: &RadvRunner) -> anyhow::Result<bool> {
    let catalogue = Catalogue::embedded()?;
    let mut fine = true;
    for id in [
        "five_patterns/branch_by_lane",
        "five_patterns/uniform",
        "hot_loops/mandelbrot",
        "hot_loops/state_machine",
        "hot_loops/insertion_sort",
        "reduce/shuffle_down",
        "sparse/attention_branch",
    ] {
        let Some(kernel) = catalogue.kernel(id) else { continue };
        let launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED)?;
        runner.execute(&launch, &mut contents(&launch))?;
        let (mut issued, mut seconds) = (0, 0.0);
        while seconds < RATE_SECONDS {
            let mut buffers = contents(&launch);
            let before = cpu_seconds()?;
            let executed = runner.execute(&launch, &mut buffers)?;
            seconds += cpu_seconds()? - before;
            issued +=
                executed.iter().map(|dispatched| dispatched.outcome.instructions()).sum::<u64>();
        }
        let rate = issued as f64 / seconds / 1e6;
        println!("{id}: {rate:.1} million wave instructions a CPU second");
        fine &= rate >= 10.0;
    }
    Ok(fine)
}

/// Compiles the catalogue's default points and writes them into the archive.
#[expect(clippy::disallowed_methods, reason = "writes a file of the checkout")]
fn write_code(runners: &[RadvRunner]) -> anyhow::Result<ExitCode> {
    let wanted = brought::list_wanted()?;
    let mut index = CodeIndex::default();
    let mut words: Vec<u32> = Vec::new();
    let mut places: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut refused = 0;
    for (key, asked) in &wanted {
        let runner = runners.iter().find(|runner| runner.place() == asked.place);
        let Some(runner) = runner else { bail!("both wave sizes are wanted") };
        index.made_with.clone_from(&runner.device().driver);
        index.family = asked.place.family.to_owned();
        if index.made_with.contains("brought") {
            bail!("nothing compiles here: {}", index.made_with);
        }
        let compiled = match runner.compile_asked(&asked.kernel, asked.workgroup, &asked.asked) {
            Ok(compiled) => compiled,
            Err(error) => {
                println!("{error}");
                refused += 1;
                continue;
            }
        };
        let at = *places.entry(compiled.words.clone()).or_insert_with(|| {
            words.extend(&compiled.words);
            words.len() - compiled.words.len()
        });
        let facts = &compiled.code.facts;
        let row = CodeRow {
            kernel: asked.kernel.clone(),
            entry_point: asked.asked.entry_point.clone(),
            wave: facts.wave,
            at,
            words: compiled.words.len(),
            vectors: facts.vectors,
            local_bytes: facts.local_bytes,
            scalars: facts.scalars.iter().copied().map(start_words).collect(),
        };
        index.entry_points.insert(key.clone(), row);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let archive = pack(&[(CODE, &bytes), (INDEX, serde_json::to_string(&index)?.as_bytes())])?;
    std::fs::write(root().join(ARCHIVE), &archive)?;
    println!(
        "{ARCHIVE}: {} entry points, {refused} refused, {} bytes of code, {} bytes packed",
        index.entry_points.len(),
        bytes.len(),
        archive.len()
    );
    Ok(ExitCode::SUCCESS)
}

/// The archive: the same bytes from the same files.
fn pack(files: &[(&str, &[u8])]) -> anyhow::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(XzWriter::new(Vec::new(), XzOptions::with_preset(9))?);
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes)?;
    }
    let mut writer = builder.into_inner()?;
    writer.flush()?;
    Ok(writer.finish()?)
}
