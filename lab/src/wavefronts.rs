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
//! cargo run --release -p lab -- wavefronts shaders tests/wgsl   # every shader of a folder
//! cargo run --release -p lab -- wavefronts speed
//! cargo run --release -p lab -- wavefronts code         # renews src/run/radv/brought.tar.xz
//! ```

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

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
use lanescope::run::radv::{Executed, Place, RadvRunner, environment};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Runner};
use lzma_rust2::{XzOptions, XzWriter};

use crate::agreement::{launch_of, program_of};
use crate::root;

#[path = "../../tests/support/shaders.rs"]
mod folder;

use folder::{Verdict, verdicts};

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
    /// `random`: how many programs at each wave size.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// `random`: the seed of the first program.
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

/// Instructions of one wave, where a fault may make it endless.
const FAULTY_STEPS_MAX: u64 = 4 << 20;

/// Instructions of a kernel that faults are planted in, at most.
const FAULTY_INSTRUCTIONS_MAX: u64 = 6_000_000;

/// Kernels that a fault of an opcode is tried in, at most.
const TRIED_MAX: usize = 12;

/// The bits that are flipped, one after the other, until one is noticed.
const BITS: [u32; 3] = [0, 9, 23];

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
        let place = Place::parse(&place).map_err(|why| anyhow::anyhow!("{why:?}"))?;
        runners.push(RadvRunner::open(place)?.steps_max(FAULTY_STEPS_MAX));
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
            let of = |name: &String| launch.dispatches.iter().any(|d| d.entry_point == *name);
            let reached: Vec<String> = left.iter().filter(|name| of(name)).cloned().collect();
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
        for (one, dispatch) in matched.iter().zip(&launch.dispatches) {
            let blocks = &one.matching.blocks;
            let ran = blocks.iter().filter(|what| **what != Match::NeverRan).count();
            let there = blocks.iter().filter(|what| what.is_there()).count();
            println!("{} {}: {there} of {ran} blocks", kernel.id, dispatch.entry_point);
            for (unit, what) in one.units.iter().zip(blocks) {
                if *what != Match::Found && *what != Match::NeverRan {
                    println!("  block {} {} {:?}: {what:?}", unit.block, unit.way, unit.ran);
                }
            }
            for arm in &one.arms {
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

/// A kernel in which faults are planted, with the outputs that it must have.
struct Sound {
    launch: Launch,
    instructions: u64,
    opcodes: BTreeMap<Opcode, &'static OpcodeRow>,
    right: BTreeMap<String, String>,
    verified: bool,
}

/// Plants faults: which opcodes' flipped results nobody notices.
fn faults(runner: &mut RadvRunner) -> anyhow::Result<bool> {
    let mut kernels = Vec::new();
    for kernel in Catalogue::embedded()?.kernels() {
        let launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED)?;
        let mut buffers = contents(&launch);
        let Ok(executed) = runner.execute(&launch, &mut buffers) else { continue };
        let instructions = executed.iter().map(|one| one.outcome.instructions()).sum();
        if instructions > FAULTY_INSTRUCTIONS_MAX {
            continue;
        }
        let outputs = outputs(&launch, &buffers);
        let verified = is_verified(&launch, &outputs);
        let opcodes = executed.iter().flat_map(executed_opcodes).collect();
        let right = outputs_sha256(&outputs);
        kernels.push(Sound { launch, instructions, opcodes, right, verified });
    }
    // Those that are checked against a reference first, and the shortest first.
    kernels.sort_by_key(|kernel| (!kernel.verified, kernel.instructions));
    let all: BTreeMap<&Opcode, &'static OpcodeRow> = kernels
        .iter()
        .flat_map(|kernel| kernel.opcodes.iter().map(|(name, row)| (name, *row)))
        .collect();
    let (mut noticed, mut missed) = (0, Vec::new());
    for (opcode, row) in &all {
        match find(runner, &kernels, opcode, row) {
            Some((kernel, bit)) => {
                noticed += 1;
                println!("{opcode}: bit {bit} is noticed by {kernel}");
            }
            None => missed.push(*opcode),
        }
    }
    for opcode in &missed {
        println!("{opcode}: not noticed");
    }
    println!("{} opcodes with results, {noticed} noticed, {} not", all.len(), missed.len());
    Ok(missed.len() <= 17)
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

/// The kernel that notices a flipped bit of an opcode's results, and the bit.
fn find(
    runner: &RadvRunner,
    kernels: &[Sound],
    opcode: &Opcode,
    row: &'static OpcodeRow,
) -> Option<(String, u32)> {
    let having = kernels.iter().filter(|kernel| kernel.opcodes.contains_key(opcode));
    for kernel in having.take(TRIED_MAX) {
        for bit in BITS {
            let mut buffers = contents(&kernel.launch);
            let mut hook = |wave: &mut Wave, instruction: &Instruction, moment: Moment| {
                if std::ptr::eq(instruction.row, row) {
                    flip(wave, instruction, moment, bit);
                }
            };
            // What does not end, or reaches nowhere, was noticed.
            let wrong = match runner.execute_disturbed(&kernel.launch, &mut buffers, &mut hook) {
                Err(_) => true,
                Ok(_) => {
                    let outputs = outputs(&kernel.launch, &buffers);
                    match kernel.verified {
                        true => !is_verified(&kernel.launch, &outputs),
                        false => outputs_sha256(&outputs) != kernel.right,
                    }
                }
            };
            if wrong {
                return Some((kernel.launch.kernel.clone(), bit));
            }
        }
    }
    None
}

/// Flips a bit of what an instruction makes: of a store what it stores, of a comparison a lane of its
/// mask, of everything else its result.
fn flip(wave: &mut Wave, instruction: &Instruction, moment: Moment, bit: u32) {
    let name = instruction.row.name;
    let data = |wave: &mut Wave, register: u8| {
        for lane in 0..wave.width() as usize {
            if wave.is_on(lane) {
                let value = wave.lane(register, lane);
                wave.set_lane(register, lane, value ^ 1 << bit);
            }
        }
    };
    let stores = name.contains("store") || name.contains("write") && !name.contains("writelane");
    let atomic = name.contains("atomic") || name.starts_with("ds_") && !name.contains("read");
    let gives =
        !atomic || instruction.access.returns || name.contains("rtn") || name.contains("permute");
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
            issued += executed.iter().map(|one| one.outcome.instructions()).sum::<u64>();
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
    let wanted = brought::wanted()?;
    let mut index = CodeIndex::default();
    let mut words: Vec<u32> = Vec::new();
    let mut places: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut refused = 0;
    for (key, one) in &wanted {
        let runner = runners.iter().find(|runner| runner.place() == one.place);
        let Some(runner) = runner else { bail!("both wave sizes are wanted") };
        index.made_with.clone_from(&runner.device().driver);
        index.family = one.place.family.to_owned();
        if index.made_with.contains("brought") {
            bail!("nothing compiles here: {}", index.made_with);
        }
        let compiled = match runner.compile_asked(&one.kernel, one.workgroup, &one.asked) {
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
            kernel: one.kernel.clone(),
            entry_point: one.asked.entry_point.clone(),
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
