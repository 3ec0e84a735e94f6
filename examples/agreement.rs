//! Runs random programs on a device and on the simulator, side by side.
//!
//! Input: how many programs, the first seed, a device. Output: on standard output a table of the
//! statement forms that were run and the throughput; at the first disagreement its seed, the blocks
//! that differ and a shrunk program, and exit code 1.
//!
//! `cargo run --release --example agreement -- --count 1000 --device wgpu:0`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

#[path = "../tests/support/agreement.rs"]
mod agreement;
#[path = "../tests/support/random_program.rs"]
mod random_program;
#[path = "../tests/support/side_by_side.rs"]
mod side_by_side;

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use lanescope::run::Runner;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::worker::{WorkerRunner, serve};

use agreement::{compare, numbered, shrink};
use random_program::{Options, Program};

/// Runs random programs on a device and on the simulator, side by side.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many programs.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The seed of the first program; the others follow it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The device, `wgpu:N`.
    #[arg(long, default_value = "wgpu:0")]
    device: String,
    /// Leave out statements before a `break`, `continue` or `return` in the same `if`.
    #[arg(long)]
    plain_exits: bool,
    /// Go on after a disagreement and shrink nothing; the exit code is still 1.
    #[arg(long)]
    keep_going: bool,
    /// Print the program of `--seed` and run nothing.
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
    blocks: u64,
    blocks_min: Option<usize>,
    blocks_idle: u64,
    issues: u64,
    lanes: u64,
    forms: BTreeMap<&'static str, u64>,
}

fn main() -> anyhow::Result<ExitCode> {
    // The child that owns the device is this program too.
    if std::env::args().nth(1).as_deref() == Some("worker") {
        serve(&mut io::stdin().lock(), &mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse();
    let options = Options { subgroups: true, busy_exits: !arguments.plain_exits };
    if arguments.print {
        print!("{}", numbered(&Program::new(arguments.seed, options)));
        return Ok(ExitCode::SUCCESS);
    }
    run(&arguments, options)
}

#[expect(clippy::disallowed_methods, reason = "throughput is part of what it prints")]
fn run(arguments: &Arguments, options: Options) -> anyhow::Result<ExitCode> {
    let number = arguments.device.strip_prefix("wgpu:").and_then(|number| number.parse().ok());
    let number = number.with_context(|| format!("`{}` is no wgpu:N", arguments.device))?;
    let mut device = WorkerRunner::open(number, false, SILENCE_MAX)?;
    let Some(width) = device.device().subgroup_width_run else {
        bail!("{} has no subgroups, so nothing can be counted on it", device.device().name)
    };
    println!("{} ({}), {width} lanes", device.device().name, device.device().driver);
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let started = Instant::now();
    let mut totals = Totals::default();
    for seed in arguments.seed..arguments.seed + arguments.count {
        let program = Program::new(seed, options);
        let comparison = compare(&program, seed, &mut device, &mut simulator)
            .with_context(|| format!("seed {seed}"))?;
        totals.add(&program, &comparison);
        if !comparison.differences.is_empty() {
            println!("seed {seed}: {}", comparison.differences.join("\n  "));
            if !arguments.keep_going {
                let mut again =
                    |program: &Program| compare(program, seed, &mut device, &mut simulator);
                let smallest = shrink(&program, &mut |program| {
                    again(program).is_ok_and(|comparison| !comparison.differences.is_empty())
                });
                let differences = again(&smallest)?.differences.join("\n  ");
                println!("shrunk: {differences}\n{}", numbered(&smallest));
                break;
            }
        }
        if totals.programs.is_multiple_of(100) {
            eprintln!("{} programs, {} differ", totals.programs, totals.failures);
        }
    }
    totals.print(started.elapsed());
    Ok(if totals.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Totals {
    fn add(&mut self, program: &Program, comparison: &side_by_side::Comparison) {
        self.programs += 1;
        self.failures += u64::from(!comparison.differences.is_empty());
        self.blocks += comparison.blocks as u64;
        self.blocks_idle += comparison.blocks_idle as u64;
        self.blocks_min =
            Some(self.blocks_min.map_or(comparison.blocks, |n| n.min(comparison.blocks)));
        self.issues += comparison.issues;
        self.lanes += comparison.lanes;
        for (form, count) in program.forms() {
            *self.forms.entry(form).or_default() += count;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to one digit")]
    fn print(&self, elapsed: Duration) {
        for (form, count) in &self.forms {
            println!("{count:>9}  {form}");
        }
        println!(
            "{} programs in {:.1} s ({:.1} a second), {} differ; {} blocks (at least {} a program, \
             {} never executed), {} issues of {} lanes",
            self.programs,
            elapsed.as_secs_f64(),
            self.programs as f64 / elapsed.as_secs_f64(),
            self.failures,
            self.blocks,
            self.blocks_min.unwrap_or(0),
            self.blocks_idle,
            self.issues,
            self.lanes
        );
    }
}
