//! Hostile, huge and broken input: nothing crashes, hangs, writes elsewhere or misstates a count.
//!
//! Input: the files of `inputs`, each of which once ended badly, and what the generators here write: deep,
//! long, wide, strange names, strange numbers, strange files. Output: for each an end that the
//! documentation knows ([`Ended::sound`]), in time and memory that follow from its size.

mod children;
mod drivers;
mod launch_files;
mod records;
mod shaders;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::program;

/// The most mebibytes that any input of a mebibyte may take.
const MEBIBYTES_MAX: u64 = 2048;

/// Every check as a trial.
pub(crate) fn trials() -> Vec<Trial> {
    let checks = [
        shaders::CHECKS.as_slice(),
        launch_files::CHECKS.as_slice(),
        records::CHECKS.as_slice(),
        children::CHECKS.as_slice(),
    ];
    let free = checks.into_iter().flatten().map(|(name, check)| {
        Trial::test(format!("hostile::{name}"), || {
            check();
            Ok(())
        })
    });
    let on_lavapipe = drivers::CHECKS.iter().map(|(name, check)| {
        let driver = Driver::all()[1];
        let title = format!("hostile::{name}");
        match (driver.missing().or_else(drivers::compiler_missing), driver.required()) {
            (None, _) => Trial::test(title, move || {
                check(&driver);
                Ok(())
            }),
            (Some(why), true) => Trial::test(title, move || Err(why.into())),
            (Some(why), false) => {
                Trial::test(format!("{title} (skipped: {why})"), || Ok(())).with_ignored_flag(true)
            }
        }
    });
    free.chain(on_lavapipe).collect()
}

/// A file of `inputs`.
fn input(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/inputs").join(name)
}

/// How a run of the program ended.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    took: Duration,
    /// The most memory that its own process had, in mebibytes.
    mebibytes: u64,
}

impl Ended {
    /// Asserts that it ended by itself, with an exit code of the documentation, without a panic, and
    /// within the memory that anything may take.
    fn sound(&self, what: &str) -> &Self {
        let Self { code, stderr, mebibytes, .. } = self;
        assert!(code.is_some_and(|code| (0..=5).contains(&code)), "{what}: {code:?}\n{stderr}");
        assert!(!stderr.contains("panicked at"), "{what}:\n{stderr}");
        assert!(*mebibytes <= MEBIBYTES_MAX, "{what}: {mebibytes} MiB\n{stderr}");
        for text in [&self.stdout, stderr] {
            let hidden = |c: char| lanescope::units::visible::is_hidden(c);
            assert!(!text.contains(hidden), "{what}: {text:?}");
        }
        self
    }

    /// Asserts its exit code and words of what it said on standard error.
    fn says(&self, what: &str, code: i32, words: &str) {
        self.sound(what);
        let said = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(self.code, Some(code), "{what}:\n{said}");
        assert!(said.contains(words), "{what}: {words:?} is not in\n{said}");
    }
}

/// Runs the program in `folder` for at most so many seconds, after which it is ended.
fn run(
    folder: &TempDir,
    environment: &[(String, String)],
    arguments: &[&str],
    seconds: u64,
) -> Ended {
    let mut command = program::command(folder.path(), environment);
    command.args(arguments);
    finish(command, Duration::from_secs(seconds))
}

fn finish(mut command: Command, limit: Duration) -> Ended {
    #[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
    let start = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.unwrap().read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let mut mebibytes = 0;
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        mebibytes = mebibytes.max(memory(&child));
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = start.elapsed();
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Ended { code, stdout, stderr, took, mebibytes }
}

/// The most memory that a process had so far, in mebibytes; 0 where the system does not say.
fn memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let kibibytes = status.ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    kibibytes.unwrap_or(0) / 1024
}

/// What a folder holds, by path, without what lanescope was asked to write there.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
