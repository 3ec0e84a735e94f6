//! Runs of the program on hostile inputs, as many as one likes.
//!
//! Input: how many of each kind, the first seed, the program. Output: on standard output how runs of each
//! kind ended, the longest and the one with most memory, and every one that ended unsoundly with its
//! seed; its files are kept where a folder is named. Exit code 1 where there was one.
//!
//! `cargo run --release -p lab -- hostile --count 1000`

#[path = "../../tests/support/bounded.rs"]
pub(crate) mod bounded;
#[path = "../../tests/support/hostile.rs"]
mod inputs;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use lanescope::record::Tool;

use bounded::Ended;
use inputs::{Case, HostileKind, Stock};

/// Runs the program on hostile inputs.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many inputs of each kind.
    #[arg(long, default_value_t = 200)]
    count: u64,
    /// The seed of the first.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One kind alone: shader, launch, record, environment or kill.
    #[arg(long)]
    kind: Option<String>,
    /// The program; what lies beside this one where left out.
    #[arg(long)]
    program: Option<PathBuf>,
    /// How many run at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// A folder for the files of inputs that ended unsoundly.
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// How the runs of a kind ended.
#[derive(Debug, Default)]
struct Totals {
    codes: BTreeMap<String, u64>,
    longest: (Duration, u64),
    largest: (u64, u64),
    unsound: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let program = match &arguments.program {
        Some(program) => program.canonicalize().context("--program")?,
        None => std::env::current_exe()?.with_file_name("lanescope"),
    };
    let stock = stock(&program)?;
    let tool = Tool::this();
    let commit = tool.git_sha.as_deref().unwrap_or("no git checkout");
    let last = arguments.seed + arguments.count - 1;
    writeln!(
        io::stdout(),
        "lanescope {} ({commit}), seeds {} to {last}",
        tool.version,
        arguments.seed
    )?;
    let mut sound = true;
    for (name, kind) in HostileKind::ALL {
        if arguments.kind.as_deref().is_none_or(|asked| asked == name) {
            let totals = run_kind(arguments, &program, kind, &stock);
            totals.print(name)?;
            sound &= totals.unsound.is_empty();
        }
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The shaders of the corpus, and a record of two kernels on two simulators.
fn stock(program: &Path) -> anyhow::Result<Stock> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(super::root().join("tests/wgsl"))? {
        files.push(entry?.path());
    }
    files.sort();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "wgsl"));
    let read = |file: &PathBuf| std::fs::read_to_string(file);
    let shaders = files.iter().map(read).collect::<Result<_, _>>()?;
    let folder = tempfile::tempdir()?;
    let ended = Command::new(program)
        .current_dir(folder.path())
        .args(["five_patterns/early_exit", "five_patterns/uniform", "--quick", "--histogram"])
        .args(["--device", "sim:8", "--device", "sim:32", "--seeds", "1", "--out", "o"])
        .output()?;
    ensure!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let record = serde_json::from_slice(&std::fs::read(folder.path().join("o/result.json"))?)?;
    Ok(Stock { shaders, record })
}

fn run_kind(arguments: &Arguments, program: &Path, kind: HostileKind, stock: &Stock) -> Totals {
    let next = AtomicU64::new(arguments.seed);
    let totals = Mutex::new(Totals::default());
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= arguments.seed + arguments.count {
                        return;
                    }
                    let case = Case::new(kind, seed, stock);
                    let found = tempfile::tempdir()
                        .map_err(|error| error.to_string())
                        .and_then(|folder| case.run(program, folder.path()));
                    if let (Err(_), Some(keep)) = (&found, &arguments.keep) {
                        keep_files(&case, &keep.join(format!("{kind:?}-{seed}")));
                    }
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    totals.add(seed, &case, found);
                }
            });
        }
    });
    totals.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program for the terminal writes what it is asked to"
)]
fn keep_files(case: &Case, folder: &Path) {
    for (name, bytes) in &case.files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            // Nothing is lost but a copy.
            let _ = std::fs::create_dir_all(parent);
        }
        let _ = std::fs::write(path, bytes);
    }
}

impl Totals {
    fn add(&mut self, seed: u64, case: &Case, found: Result<Ended, String>) {
        match found {
            Ok(ended) => {
                let code = ended.code.map_or("killed".to_owned(), |code| code.to_string());
                *self.codes.entry(code).or_default() += 1;
                self.longest = self.longest.max((ended.took, seed));
                self.largest = self.largest.max((ended.mebibytes, seed));
            }
            Err(trouble) => self.unsound.push(format!("seed {seed}, {}: {trouble}", case.what)),
        }
    }

    fn print(&self, kind: &str) -> io::Result<()> {
        let codes: Vec<String> =
            self.codes.iter().map(|(code, count)| format!("{count} with {code}")).collect();
        let ((took, slow), (mebibytes, large)) = (self.longest, self.largest);
        writeln!(
            io::stdout(),
            "{kind}: {}; longest {:.1} s (seed {slow}), most memory {mebibytes} MiB (seed {large}); \
             {} unsound",
            codes.join(", "),
            took.as_secs_f64(),
            self.unsound.len()
        )?;
        self.unsound.iter().try_for_each(|line| writeln!(io::stdout(), "  {line}"))
    }
}
