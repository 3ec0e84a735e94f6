//! Runs random programs on a device and on the simulator, side by side.
//!
//! Input: how many programs, the first seed, a device. Output: on standard output a table of the
//! statement forms that were run and the throughput; at the first disagreement its seed, the blocks
//! that differ and a shrunk program, and exit code 1. Where lavapipe's vectors are wider than the processor's,
//! a quarter of the programs may end its process; they are counted. Where nobody reads the output any more, it ends
//! quietly.
//!
//! `cargo run --release -p lab -- agreement --count 1000 --device wgpu:0`

#[path = "../../tests/support/agreement.rs"]
mod programs;
#[path = "../../tests/support/random_program/mod.rs"]
pub(crate) mod random_program;
#[path = "../../tests/support/side_by_side.rs"]
mod side_by_side;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use lanescope::instrument::{self, CounterScheme, Instrumented};
use lanescope::program::Parsed;
use lanescope::record::Tool;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::worker::WorkerRunner;
use lanescope::run::{RunErrorKind, Runner};
use lanescope::translate::{self, Checks};

use programs::{compare, smallest, wider_than_processor};
pub(crate) use programs::{launch, program};
use random_program::{Options, Program};

pub(crate) use programs::launch as launch_of;

/// Runs random programs on a device and on the simulator, side by side.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many programs.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The seed of the first program; the others follow it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The device, `wgpu:N` or `cuda:N`.
    #[arg(long, default_value = "wgpu:0")]
    device: String,
    /// How many programs run at a time, each in a device process of its own.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Leave out statements before a `break`, `continue` or `return` in the same `if`.
    #[arg(long)]
    plain_exits: bool,
    /// Write no `switch`: NVIDIA's driver executes a case once for each way that leads to it.
    #[arg(long)]
    without_switch: bool,
    /// Write no textures.
    #[arg(long)]
    without_textures: bool,
    /// Write no loop that reaches lavapipe's limit.
    #[arg(long)]
    without_long_loops: bool,
    /// Write no program in which workgroups hand a number on.
    #[arg(long)]
    without_exchange: bool,
    /// Go on after a disagreement, or a program that cannot be run, and shrink nothing; the exit code is still 1.
    #[arg(long)]
    keep_going: bool,
    /// Print the program of `--seed`, for a CUDA device the kernel that counts in C++ too, and run nothing.
    #[arg(long)]
    print: bool,
}

/// How long nothing may be heard of a program.
const SILENCE_MAX: Duration = Duration::from_secs(40);

/// What was run.
#[derive(Debug, Default)]
struct Totals {
    programs: u64,
    failures: u64,
    /// Programs that ended the driver's process, where its vectors are wider than the processor's.
    ended: u64,
    /// Programs of which the device left a loop by itself, and its counts say so.
    cut_off: u64,
    blocks: u64,
    blocks_min: Option<usize>,
    blocks_idle: u64,
    executions: u64,
    lanes: u64,
    forms: BTreeMap<&'static str, u64>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let result = start(arguments);
    let closed = |error: &anyhow::Error| {
        let cause = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    };
    match result {
        Err(error) if closed(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn start(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let options = Options {
        busy_exits: !arguments.plain_exits,
        switches: !arguments.without_switch,
        // The CUDA translation covers none.
        textures: !arguments.without_textures && !arguments.device.starts_with("cuda"),
        long_loops: !arguments.without_long_loops,
        exchange: !arguments.without_exchange,
        ..Options::ALL
    };
    if arguments.print {
        let text = program(arguments.seed, options);
        write!(io::stdout(), "{}", number_lines(&text))?;
        if arguments.device.starts_with("cuda") {
            let parsed = Parsed::new("random.wgsl", &text.to_string())?;
            let entry = parsed.resolve("main", &BTreeMap::new())?;
            let counting = instrument::Options {
                method: CounterScheme::Executed,
                subgroup_width_max: translate::WIDTH,
                counter_bytes_max: 16 << 20,
                workgroups: None,
            };
            let counting = Instrumented::new(&entry, &counting)?;
            let how = translate::Options { checks: Checks::Checked, zero_memory: true };
            let (module, info) = (counting.module(), counting.info());
            let kernel = translate::cuda(module, info, entry.text(), &how)?;
            write!(io::stdout(), "\n{}", kernel.source)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    compare_all(arguments, options)
}

/// What all jobs share.
#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    end: u64,
    totals: Mutex<Totals>,
}

#[expect(clippy::disallowed_methods, reason = "throughput is part of what it prints")]
fn compare_all(arguments: &Arguments, options: Options) -> anyhow::Result<ExitCode> {
    let shared = Shared {
        next: AtomicU64::new(arguments.seed),
        end: arguments.seed + arguments.count,
        totals: Mutex::default(),
    };
    let tool = Tool::this();
    writeln!(
        io::stdout(),
        "lanescope {} ({}), seeds {} to {}, {options:?}",
        tool.version,
        tool.git_sha.as_deref().unwrap_or("no git checkout"),
        arguments.seed,
        shared.end - 1
    )?;
    let started = Instant::now();
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..arguments.jobs.max(1))
            .map(|job| {
                scope.spawn({
                    let shared = &shared;
                    move || {
                        let result = work(arguments, options, shared, job == 0);
                        if result.is_err() {
                            shared.next.store(shared.end, Ordering::Relaxed);
                        }
                        result
                    }
                })
            })
            .collect();
        jobs.into_iter().try_for_each(|job| match job.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let totals = shared.totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    totals.print(started.elapsed(), &mut io::stdout())?;
    Ok(if totals.failures == 0 && totals.ended * 4 <= arguments.count {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs seeds on a device process of its own until there are no more.
fn work(
    arguments: &Arguments,
    options: Options,
    shared: &Shared,
    first: bool,
) -> anyhow::Result<()> {
    let mut device = WorkerRunner::open(&arguments.device, false, SILENCE_MAX)?;
    let Some(width) = device.device().subgroup_width_run else {
        bail!("{} has no subgroups, so nothing can be counted on it", device.device().name)
    };
    if first {
        let device = device.device();
        writeln!(io::stdout(), "{} ({}), {width} lanes", device.name, device.driver)?;
    }
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    loop {
        let seed = shared.next.fetch_add(1, Ordering::Relaxed);
        if seed >= shared.end {
            return Ok(());
        }
        let program = program(seed, options);
        let comparison = match compare(&program, seed, &mut device, &mut simulator) {
            Err(error)
                if error.kind == RunErrorKind::DeviceLost
                    && wider_than_processor(device.device()) =>
            {
                let mut totals = shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
                totals.ended += 1;
                drop(totals);
                device = WorkerRunner::open(&arguments.device, false, SILENCE_MAX)?;
                continue;
            }
            Err(error) if arguments.keep_going => {
                let mut totals = shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
                (totals.programs, totals.failures) = (totals.programs + 1, totals.failures + 1);
                drop(totals);
                writeln!(io::stdout(), "seed {seed}: {error}")?;
                device = WorkerRunner::open(&arguments.device, false, SILENCE_MAX)?;
                continue;
            }
            other => other.with_context(|| format!("seed {seed}"))?,
        };
        {
            let mut totals = shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
            totals.add(&program, &comparison);
            if totals.programs.is_multiple_of(100) {
                // Nothing is lost where nobody reads how far it is.
                let _ = writeln!(
                    io::stderr(),
                    "{} programs, {} differ",
                    totals.programs,
                    totals.failures
                );
            }
        }
        if !comparison.differences.is_empty() {
            writeln!(io::stdout(), "seed {seed}: {}", comparison.differences.join("\n  "))?;
            if !arguments.keep_going {
                shared.next.store(shared.end, Ordering::Relaxed);
                let (smallest, differences) =
                    smallest(&program, seed, &mut device, &mut simulator)?;
                let differences = differences.join("\n  ");
                writeln!(io::stdout(), "shrunk: {differences}\n{}", number_lines(&smallest))?;
            }
        }
    }
}

impl Totals {
    fn add(&mut self, program: &Program, comparison: &side_by_side::Comparison) {
        self.programs += 1;
        self.failures += u64::from(!comparison.differences.is_empty());
        self.cut_off += u64::from(!comparison.cut_off.is_empty());
        self.blocks += comparison.blocks as u64;
        self.blocks_idle += comparison.blocks_idle as u64;
        self.blocks_min =
            Some(self.blocks_min.map_or(comparison.blocks, |n| n.min(comparison.blocks)));
        self.executions += comparison.executions;
        self.lanes += comparison.lanes;
        for (form, count) in program.forms() {
            *self.forms.entry(form).or_default() += count;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to one digit")]
    fn print(&self, elapsed: Duration, out: &mut impl Write) -> io::Result<()> {
        for (form, count) in &self.forms {
            writeln!(out, "{count:>9}  {form}")?;
        }
        writeln!(
            out,
            "{} programs in {:.1} s ({:.1} a second), {} differ; {} blocks (at least {} a program, \
             {} never executed), {} executions of {} lanes",
            self.programs,
            elapsed.as_secs_f64(),
            self.programs as f64 / elapsed.as_secs_f64(),
            self.failures,
            self.blocks,
            self.blocks_min.unwrap_or(0),
            self.blocks_idle,
            self.executions,
            self.lanes
        )?;
        if self.cut_off > 0 {
            writeln!(
                out,
                "{} programs differ where the driver left a loop by itself: its counts say so in each",
                self.cut_off
            )?;
        }
        if self.ended > 0 {
            writeln!(
                out,
                "{} programs ended the driver's process: its vectors are wider than the processor's",
                self.ended
            )?;
        }
        Ok(())
    }
}

/// The program of a seed, with every form of statement over buffers.
pub(crate) fn program_of(seed: u64) -> Program {
    program(seed, Options::BUFFERS)
}

/// A program's text with line numbers, as differences name them.
fn number_lines(program: &Program) -> String {
    let mut text = String::new();
    for (number, line) in (1..).zip(program.to_string().lines()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{number:4}  {line}");
    }
    text
}
