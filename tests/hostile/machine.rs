//! Machines that misbehave: a disk that is full.
//!
//! Input: a library that is loaded before the system's (`system.c`).

use std::path::Path;

use lanescope::record::Run;
use tempfile::TempDir;

use super::drivers::{Check, build};
use super::{Ended, run};
use crate::support::drivers::Driver;

/// Every check.
pub(super) const CHECKS: [Check; 1] = [("a_full_disk_at_any_write_keeps_the_record", full_disk)];

/// A quick run of two kernels.
const QUICK: [&str; 7] =
    ["five_patterns/uniform", "five_patterns/early_exit", "--quick", "--seeds", "1", "--out", "o"];

fn quick(environment: &[(String, String)], devices: &[&str]) -> (TempDir, Ended) {
    let folder = TempDir::new().unwrap();
    let ended = run(&folder, environment, &[&QUICK[..], devices].concat(), 100);
    ended.sound(&format!("{environment:?}"));
    (folder, ended)
}

fn record(folder: &TempDir) -> Run {
    lanescope::store::load(&folder.path().join("o/result.json")).unwrap()
}

/// The variables under which the program finds a system that does so.
fn system(library: &Path, variable: &str, value: &str) -> Vec<(String, String)> {
    [("LD_PRELOAD", library.to_str().unwrap()), (variable, value)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

fn library(folder: &TempDir) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/system.c");
    build(folder.path(), &source, "libsystem.so", &["-ldl"]);
    folder.path().join("libsystem.so")
}

fn full_disk(_: &Driver) {
    let place = TempDir::new().unwrap();
    let library = library(&place);
    let mut kept = Vec::new();
    for at in ["1", "2", "3", "1000"] {
        let environment = system(&library, "LANESCOPE_TEST_FULL_AT", at);
        let (folder, ended) = quick(&environment, &["--device", "sim:8"]);
        let file = folder.path().join("o/result.json");
        if at == "1000" {
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        } else {
            ended.says(at, 2, "No space left on device");
            assert!(ended.stderr.contains("result.json"), "{at}: {}", ended.stderr);
        }
        // What was saved before is whole; the first write makes the file.
        assert_eq!(file.exists(), at != "1", "{at}: {}", ended.stderr);
        kept.push(if file.exists() { record(&folder).measurements.len() } else { 0 });
        let left = std::fs::read_dir(folder.path().join("o")).unwrap().flatten();
        let hidden = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
        assert_eq!(hidden.count(), 0, "{at}: a hidden file is left");
    }
    assert!(kept.is_sorted() && kept.last() > Some(&1), "{kept:?}");
}
