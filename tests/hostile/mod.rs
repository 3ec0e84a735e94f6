//! Hostile, huge and broken input: nothing crashes, hangs, writes elsewhere or misstates a count.
//!
//! Input: the files of `inputs`, each of which once ended badly, and what the generators here write: deep,
//! long, wide, strange names, strange numbers, strange files. Output: for each an end that the
//! documentation knows ([`Ended::sound`]), in time and memory that follow from its size.

mod children;
mod drivers;
mod launch_files;
mod machine;
mod records;
mod shaders;

use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::bounded::{Ended, files_in, finish};
use crate::support::drivers::Driver;
use crate::support::{hostile, program, trial, trial_needing};

/// The check of what is listed.
const CHECKS: [(&str, fn()); 1] =
    [("each_failure_that_is_handled_is_listed_with_its_test", failures)];

/// Every check as a trial.
pub(crate) fn trials() -> Vec<Trial> {
    let checks = [
        shaders::CHECKS,
        launch_files::CHECKS.as_slice(),
        records::CHECKS.as_slice(),
        children::CHECKS.as_slice(),
        CHECKS.as_slice(),
    ];
    let free = checks.into_iter().flatten();
    let free = free.map(|(name, check)| trial(format!("hostile::{name}"), *check));
    let on_lavapipe = drivers::CHECKS.iter().chain(&machine::CHECKS).map(|(name, check)| {
        let driver = Driver::all()[1];
        let missing = driver.missing().or_else(drivers::compiler_missing);
        let run = move || check(&driver);
        trial_needing(format!("hostile::{name}"), missing, driver.family, run)
    });
    let on_swiftshader = drivers::SWIFTSHADER_CHECKS.iter().map(|(name, check)| {
        let mut all = Driver::all().into_iter();
        let driver = all.find(|driver| driver.family == "swiftshader").unwrap();
        let run = move || check(&driver);
        trial_needing(format!("hostile::{name}"), driver.missing(), driver.family, run)
    });
    free.chain(generated()).chain(on_lavapipe).chain(on_swiftshader).collect()
}

/// Inputs of each kind that are generated here; `lab hostile` runs more.
const GENERATED: u64 = 40;

/// A trial for each kind of generated inputs.
fn generated() -> impl Iterator<Item = Trial> {
    hostile::HostileKind::ALL.into_iter().map(|(name, kind)| {
        Trial::test(format!("hostile::generated_inputs_end_soundly_{name}"), move || {
            let folder = TempDir::new().unwrap();
            let stock = hostile::Stock { shaders: corpus(), record: records::record(&folder) };
            let unsound: Vec<String> = (1..=GENERATED)
                .filter_map(|seed| {
                    let case = hostile::Case::new(kind, seed, &stock);
                    let place = TempDir::new().unwrap();
                    let ended = case.run(&program::path(), place.path());
                    let trouble = ended.err().or_else(|| malformed(place.path()))?;
                    Some(format!("seed {seed}, {}: {trouble}", case.what))
                })
                .collect();
            if unsound.is_empty() { Ok(()) } else { Err(unsound.join("\n").into()) }
        })
    })
}

/// What is wrong with a figure that was written whole.
fn malformed(folder: &Path) -> Option<String> {
    let figures =
        files_in(folder).into_iter().filter(|file| file.extension().is_some_and(|e| e == "svg"));
    figures.into_iter().find_map(|file| {
        let text = std::fs::read_to_string(&file).ok()?;
        // Where there was no room for it, or its writer was killed, it has no end.
        let is_whole = text.trim_end().ends_with("</svg>");
        let error = is_whole.then(|| roxmltree::Document::parse(&text).err()).flatten()?;
        Some(format!("{}: {error}", file.display()))
    })
}

/// The heading of the list of what handles a machine that fails.
const FAILURES: &str = "## Failures of the machine";

/// What is between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// What is written of a file that is no test.
fn library(text: &str) -> impl Iterator<Item = &str> {
    let tests = ["#[cfg(test)]\nmod tests {", "#[cfg(test)]\n#[cfg(unix)]\nmod tests {"];
    let end = tests.iter().filter_map(|head| text.find(head)).min().unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The guide's list of failures that are handled is true: the words are in the files, the tests are there, and no file
/// that makes an error of a device, of memory or of a limit of time is missing.
fn failures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    let rust = |folder: &str| {
        let files = files_in(&root.join(folder)).into_iter();
        let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
        files.map(|file| (file.clone(), read(&file))).collect::<Vec<_>>()
    };
    let texts = [rust("src"), rust("tests"), rust("crates")].concat();
    let guide = read(&root.join("docs/contributing/testing.md"));
    let (_, list) = guide.split_once(FAILURES).expect("the guide has the list");
    let mut listed = Vec::new();
    for row in list.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, file, words, tests] = cells[..] else { panic!("{row}: it has other cells") };
        let (file, words) = (quoted(file), quoted(words));
        let ([file], [words]) = (&file[..], &words[..]) else { panic!("{row}") };
        assert!(read(&root.join(file)).contains(words), "{file} does not say {words:?}");
        let is_open = tests.trim_start().starts_with("nothing: ");
        assert!(is_open || !quoted(tests).is_empty(), "{row}: neither a test nor a reason");
        for test in quoted(tests) {
            let (function, name) = (format!("fn {test}("), format!("\"{test}\""));
            let has = |text: &str| text.contains(&function) || text.contains(&name);
            assert!(texts.iter().any(|(_, text)| has(text)), "there is no test {test}");
        }
        listed.push(root.join(file));
    }
    let kinds =
        ["DeviceLost", "OutOfMemory", "TimeLimit"].map(|kind| format!("RunErrorKind::{kind}"));
    let aside = ["tests.rs", "fake.rs"];
    let runs = texts.iter().filter(|(file, _)| {
        file.starts_with(root.join("src/run")) && aside.iter().all(|name| !file.ends_with(name))
    });
    for (file, text) in runs {
        let makes = library(text).any(|line| kinds.iter().any(|kind| line.contains(kind)));
        assert!(!makes || listed.contains(file), "{} has no row", file.display());
    }
    assert!(listed.len() > 30, "{} rows", listed.len());
}

/// The shaders of `tests/wgsl`.
fn corpus() -> Vec<String> {
    let files = files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl"));
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "wgsl"));
    files.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// A loop that turns longer than some drivers go on.
const BREAK_IF: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var i = 0u;
  loop {
    i += 1u;
    continuing { break if i >= 200000u; }
  }
  o[id.x] = i;
}
";

/// A file of `inputs`.
fn input(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/inputs").join(name)
}

impl Ended {
    /// Asserts that it ended by itself, with an exit code of the documentation, without a panic, and
    /// within the memory that anything may take.
    fn sound(&self, what: &str) -> &Self {
        if let Some(trouble) = self.unsound() {
            panic!("{what}: {trouble}\n{}\n{}", self.stdout, self.stderr);
        }
        self
    }

    /// Asserts its exit code and words of what it said on standard error.
    fn says(&self, what: &str, code: i32, words: &str) {
        self.sound(what);
        let errors = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(self.code, Some(code), "{what}:\n{errors}");
        assert!(errors.contains(words), "{what}: {words:?} is not in\n{errors}");
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
