//! What large inputs cost: time, memory and output against size, in doublings.
//!
//! Input: the program, how many doublings. Output: on standard output CSV, a row a run: the kind of
//! input, its size, its bytes, the bytes of record and page, processor time, mebibytes, and to which
//! power of the size the time grew since the row before; with `--largest` of each kind the largest size alone, and the
//! power from the least one on. Times are of one run each.
//!
//! `cargo run --release -p lab -- growth`

#[path = "../../tests/support/growth.rs"]
mod inputs;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::hostile::bounded::{Ended, finish};

/// What large inputs cost, in doublings.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many sizes of each kind at most, each twice the one before.
    #[arg(long, default_value_t = 10)]
    sizes: u32,
    /// Kinds whose names begin so alone.
    #[arg(long, default_value = "")]
    kind: String,
    /// Of each kind the largest size alone, with the power to which the time grew from the least one on.
    #[arg(long)]
    largest: bool,
    /// The program; what lies beside this one where left out.
    #[arg(long)]
    program: Option<PathBuf>,
}

/// The longest that one run may take.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let program = match &arguments.program {
        Some(program) => program.canonicalize().context("--program")?,
        None => std::env::current_exe()?.with_file_name("lanescope"),
    };
    writeln!(
        io::stdout(),
        "kind,size,input_bytes,record_bytes,page_bytes,exit_code,processor_s,memory_mib,power"
    )?;
    for kind in inputs::SHADERS {
        let mut run = |size| profile(&program, &(kind.text)(size), None);
        measure_sizes(arguments, kind.name, [kind.usual, kind.largest], &mut run)?;
    }
    measure_sizes(arguments, "parameters", inputs::PARAMETERS, &mut |size| {
        profile(&program, inputs::LAUNCHED, Some(&inputs::parameters(size)))
    })?;
    measure_sizes(arguments, "dispatches", inputs::DISPATCHES, &mut |size| {
        profile(&program, inputs::LAUNCHED, Some(&inputs::dispatches(size)))
    })?;
    let good = good_record(&program)?;
    measure_sizes(arguments, "measurements", inputs::MEASUREMENTS, &mut |size| {
        report(&program, &inputs::measurements(&good, size))
    })?;
    measure_sizes(arguments, "bins", inputs::BINS, &mut |size| {
        report(&program, &inputs::bins(&good, size))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What a run of the program cost.
struct Cost {
    input_bytes: u64,
    record_bytes: u64,
    page_bytes: u64,
    processor_s: f64,
    ended: Ended,
}

/// Measures a kind at each size.
fn measure_sizes(
    arguments: &Arguments,
    kind: &str,
    [least, largest]: [usize; 2],
    measure: &mut dyn FnMut(usize) -> anyhow::Result<Cost>,
) -> anyhow::Result<()> {
    if !kind.starts_with(&arguments.kind) {
        return Ok(());
    }
    // The time before, and how many doublings ago that was.
    let mut before: Option<(f64, f64)> = None;
    let sizes = (0..arguments.sizes).map(|doubling| least << doubling);
    let mut sizes = sizes.take_while(|size| *size <= largest).peekable();
    while let Some(size) = sizes.next() {
        let Cost { input_bytes, record_bytes, page_bytes, processor_s, ended } = measure(size)?;
        let code = ended.code.map_or("none".to_owned(), |code| code.to_string());
        let power = before.map_or(String::new(), |(before_s, doublings)| {
            format!("{:.2}", (processor_s.max(0.01) / before_s.max(0.01)).log2() / doublings)
        });
        if !arguments.largest || sizes.peek().is_none() {
            writeln!(
                io::stdout(),
                "{kind},{size},{input_bytes},{record_bytes},{page_bytes},{code},{processor_s:.2},{},{power}",
                ended.mebibytes
            )?;
        }
        before = match before {
            Some((first_s, doublings)) if arguments.largest => Some((first_s, doublings + 1.0)),
            _ => Some((processor_s, 1.0)),
        };
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a program for the terminal makes its own input")]
fn profile(program: &Path, text: &str, launch: Option<&str>) -> anyhow::Result<Cost> {
    let folder = TempDir::new()?;
    std::fs::write(folder.path().join("s.wgsl"), text)?;
    let mut command = Command::new(program);
    command.args(["profile", "s.wgsl", "--device", "sim:32", "--out", "o"]);
    match launch {
        Some(launch) => {
            std::fs::write(folder.path().join("l.toml"), launch)?;
            command.args(["--launch", "l.toml"]);
        }
        None => {
            command.args(["--n", "64"]);
        }
    }
    cost(command, &folder, (text.len() + launch.map_or(0, str::len)) as u64)
}

#[expect(clippy::disallowed_methods, reason = "a program for the terminal makes its own input")]
fn report(program: &Path, record: &Value) -> anyhow::Result<Cost> {
    let folder = TempDir::new()?;
    let text = record.to_string();
    std::fs::create_dir(folder.path().join("o"))?;
    std::fs::write(folder.path().join("o/result.json"), &text)?;
    let mut command = Command::new(program);
    command.args(["report", "o/result.json"]);
    cost(command, &folder, text.len() as u64)
}

fn cost(mut command: Command, folder: &TempDir, input_bytes: u64) -> anyhow::Result<Cost> {
    command.current_dir(folder.path()).env("VK_DRIVER_FILES", "/nonexistent/no_driver.json");
    let ended = finish(command, LIMIT);
    let bytes = |ending: &str| -> u64 {
        let files = std::fs::read_dir(folder.path().join("o")).into_iter().flatten().flatten();
        let some = files.filter(|file| file.path().extension().is_some_and(|e| e == ending));
        some.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    };
    Ok(Cost {
        input_bytes,
        record_bytes: bytes("json"),
        page_bytes: bytes("html") + bytes("svg"),
        processor_s: ended.processor.as_secs_f64(),
        ended,
    })
}

fn good_record(program: &Path) -> anyhow::Result<Value> {
    let folder = TempDir::new()?;
    let ended = Command::new(program)
        .current_dir(folder.path())
        .args(["five_patterns/early_exit", "five_patterns/uniform", "--quick", "--histogram"])
        .args(["--device", "sim:8", "--device", "sim:32", "--seeds", "1", "--out", "o"])
        .output()?;
    ensure!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    Ok(serde_json::from_slice(&std::fs::read(folder.path().join("o/result.json"))?)?)
}
