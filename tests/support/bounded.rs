//! Runs of the program that are watched from outside: how they ended, in which time and memory.
//!
//! Input: a command and a limit of time. Output: [`Ended`], and whether that is an end that the
//! documentation knows ([`Ended::unsound`]). It asserts nothing.

#![expect(clippy::unwrap_used, reason = "what runs a program and cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lanescope::units::visible::is_hidden;

/// The most mebibytes that any input of a mebibyte may take.
pub(crate) const MEBIBYTES_MAX: u64 = 2048;

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; `None` if a signal or the limit of time ended it.
    pub(crate) code: Option<i32>,
    /// What it wrote on standard output.
    pub(crate) stdout: String,
    /// What it wrote on standard error.
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) took: Duration,
    /// How long processors worked for it and for its children that ended; how long it took where the system does not
    /// say.
    pub(crate) processor: Duration,
    /// The most memory that its own process had, in mebibytes.
    pub(crate) mebibytes: u64,
}

impl Ended {
    /// Why this is no end of the documentation's: no exit code of its own, a panic, too much memory,
    /// characters that steer a terminal.
    pub(crate) fn unsound(&self) -> Option<String> {
        let Self { code, stderr, mebibytes, .. } = self;
        let hides = [&self.stdout, stderr].into_iter().any(|text| text.contains(is_hidden));
        match code {
            Some(code) if !(0..=5).contains(code) => Some(format!("exit code {code}")),
            None => Some(format!("no exit code after {:.1} s", self.took.as_secs_f64())),
            Some(_) if stderr.contains("panicked") => Some("a panic".to_owned()),
            Some(_) if *mebibytes > MEBIBYTES_MAX => Some(format!("{mebibytes} MiB")),
            Some(_) => hides.then(|| "hidden characters on the terminal".to_owned()),
        }
    }
}

/// Runs a command to its end, or for so long.
///
/// # Panics
///
/// When the command cannot be started.
pub(crate) fn finish(mut command: Command, limit: Duration) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    wait(command.spawn().unwrap(), limit)
}

/// Waits for a child whose outputs are pipes, at most for so long.
///
/// # Panics
///
/// When an output is no pipe.
#[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
pub(crate) fn wait(mut child: Child, limit: Duration) -> Ended {
    let start = Instant::now();
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.unwrap().read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let (mut mebibytes, mut processor) = (0, None);
    let stat = format!("/proc/{}/stat", child.id());
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        mebibytes = mebibytes.max(memory(&child));
        processor = processor.max(processor_time(&stat, 4));
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = start.elapsed();
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Ended { code, stdout, stderr, took, processor: processor.unwrap_or(took), mebibytes }
}

/// How long processors worked for a process or a thread, whose file of `/proc` is given, so far: the first two figures
/// are its own, two more those of the process's children that ended. `None` where the system does not say.
pub(crate) fn processor_time(stat: &str, figures: usize) -> Option<Duration> {
    let text = std::fs::read_to_string(stat).ok()?;
    // Before stands a name, which may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    let ticks = rest.split_whitespace().skip(11).take(figures).map(|word| word.parse::<u64>().ok());
    let ticks: u64 = ticks.sum::<Option<u64>>()?;
    // A tick is a hundredth of a second in every kernel that this runs on.
    Some(Duration::from_millis(10 * ticks))
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

/// What a folder holds, by path.
///
/// # Panics
///
/// When a folder in it cannot be read.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
