//! Machines that misbehave: a disk that is full, clocks that jump, timestamps that do not run, drivers that
//! report another width.
//!
//! Input: a library that is loaded before the system's (`system.c`), and a layer over lavapipe (`layer.c`).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lanescope::record::{Flag, Method, Run, Status, Tag, flag};
use tempfile::TempDir;

use super::drivers::{Check, build, build_layer, with_layer};
use super::{Ended, run};
use crate::support::bounded::finish;
use crate::support::drivers::Driver;
use crate::support::program;

/// Every check.
pub(super) const CHECKS: [Check; 7] = [
    ("a_full_disk_at_any_write_keeps_the_record", full_disk),
    ("a_save_that_fails_at_any_step_keeps_the_one_before", failing_saves),
    ("a_limit_on_files_keeps_what_was_saved", file_limit),
    ("clocks_that_jump_end_no_run", clocks),
    ("timestamps_that_do_not_run_give_no_times", timestamps),
    ("timestamps_that_go_wrong_later_give_no_times", later_timestamps),
    ("another_width_than_the_drivers_is_found_out", widths),
];

/// A quick run of two kernels.
const QUICK: [&str; 7] =
    ["five_patterns/uniform", "five_patterns/early_exit", "--quick", "--seeds", "1", "--out", "o"];

/// A run of one kernel, as short as there is one.
const SHORT: [&str; 7] =
    ["five_patterns/early_exit", "--quick", "--seeds", "1", "--out", "o", "--budget"];

/// Runs the program as [`SHORT`] says, with a budget of so many seconds, and asserts that it ends well within 40 s.
fn short(environment: &[(String, String)], budget: &str, more: &[&str]) -> (Run, Ended) {
    let folder = TempDir::new().unwrap();
    let ended = run(&folder, environment, &[&SHORT[..], &[budget], more].concat(), 40);
    ended.sound(&format!("{environment:?}"));
    assert_eq!(ended.code, Some(0), "{environment:?}: {}", ended.stderr);
    (record(&folder), ended)
}

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
        leaves_nothing_hidden(&folder, at);
    }
    assert!(kept.is_sorted() && kept.last() > Some(&1), "{kept:?}");
}

fn leaves_nothing_hidden(folder: &TempDir, what: &str) {
    let left = std::fs::read_dir(folder.path().join("o")).unwrap().flatten();
    let hidden = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(hidden.count(), 0, "{what}: a hidden file is left");
}

fn failing_saves(_: &Driver) {
    let place = TempDir::new().unwrap();
    let library = library(&place);
    let full = ("ENOSPC", "No space left on device");
    let broken = ("EIO", "Input/output error");
    let steps = ["fsync", "rename", "folder"];
    for (step, (error, words)) in steps.iter().flat_map(|step| [(step, full), (step, broken)]) {
        let mut kept = Vec::new();
        for at in 1..=3 {
            let what = format!("{step} {at} {error}");
            let environment = system(&library, "LANESCOPE_TEST_SAVE", &what);
            let (folder, ended) = quick(&environment, &["--device", "sim:8"]);
            let message = format!("cannot write results to o/result.json: {words}");
            ended.says(&what, 2, &message);
            leaves_nothing_hidden(&folder, &what);
            // What is there loads, and so is whole.
            let is_there = folder.path().join("o/result.json").exists();
            let saved = is_there.then(|| record(&folder));
            kept.push(saved.map(|run| (run.devices.len(), run.measurements.len())));
        }
        match *step {
            // The file is in its place by then, and whatever was added is saved with the next one.
            "folder" => assert!(kept[0] == Some((0, 0)) && kept.is_sorted(), "{step}: {kept:?}"),
            // First the run as it begins, then its device.
            _ => assert_eq!(kept, [None, Some((0, 0)), Some((1, 0))], "{step} {error}"),
        }
    }
}

/// Runs the program where no file may have more than 4 KiB: a record without measurements is smaller, and one with them
/// larger.
fn limited(folder: &TempDir, arguments: &[&str], output: &str) -> Ended {
    let mut command = Command::new("sh");
    // A block has 512 bytes, as POSIX says.
    let text = format!("ulimit -c 0; ulimit -f 8\nexec \"$0\" \"$@\" {output}");
    command.current_dir(folder.path()).arg("-c").arg(text).arg(program::path());
    command.args(arguments);
    finish(command, Duration::from_secs(40))
}

/// Where no file may grow further there is a sentence, and what was saved before is whole.
fn file_limit(_: &Driver) {
    let folder = TempDir::new().unwrap();
    let ended = limited(&folder, &[&QUICK[..], &["--device", "sim:8"]].concat(), "");
    ended.says("a record may not grow", 2, "o/result.json: File too large");
    leaves_nothing_hidden(&folder, "a record may not grow");
    let saved = record(&folder);
    assert_eq!((saved.devices.len(), saved.measurements.len()), (1, 0));
    // So is what standard output is sent to.
    let ended = limited(&folder, &["list", "--json"], ">listed");
    ended.says("a list may not grow", 2, "File too large");
    let bytes = std::fs::metadata(folder.path().join("listed")).unwrap().len();
    assert_eq!(bytes, 4096, "as much as there was room for");
}

fn clocks(driver: &Driver) {
    let place = TempDir::new().unwrap();
    let library = library(&place);
    let both = ["--device", "sim:8", "--device", "wgpu:0"];
    for how in ["calendar", "hour"] {
        let mut environment = system(&library, "LANESCOPE_TEST_CLOCK", how);
        environment.extend(driver.environment());
        let folder = TempDir::new().unwrap();
        let ended = run(&folder, &environment, &[&SHORT[..], &["0.2"], &both].concat(), 40);
        ended.sound(how);
        let run = record(&folder);
        let failed = || run.measurements.iter().filter(|m| m.status == Status::Failed);
        // The time of day only dates a record. A clock that leaps forward may look like silence, or like a wait that
        // took too long: that costs a launch of a device, or all of them where it was being opened, and says so.
        let codes: &[i32] = if how == "calendar" { &[0] } else { &[0, 5] };
        assert!(ended.code.is_some_and(|code| codes.contains(&code)), "{how}: {}", ended.stderr);
        let unopened = ended.stderr.contains("wgpu:0 cannot be used: ");
        let lost = unopened || failed().next().is_some();
        assert_eq!(lost, ended.code == Some(5), "{how}: {}", ended.stderr);
        assert!(failed().all(|m| m.device == "wgpu:0"), "{how}: {}", ended.stderr);
        for failed in failed() {
            let why = failed.error.as_deref().unwrap_or_default();
            let waited = ["nothing was heard for ", "did not return within "];
            assert!(waited.iter().any(|words| why.contains(words)), "{how}: {why}");
        }
        let simulated = run.measurements.iter().filter(|m| m.device == "sim:8");
        assert!(simulated.count() >= 1, "{how}: {}", ended.stderr);
    }
}

/// The record of a short run on lavapipe whose timestamps are so, and no time in it.
fn untimed(driver: &Driver, layer: &TempDir, times: &str, more: &[&str]) -> Run {
    let mut environment = with_layer(driver, layer.path(), "LANESCOPE_TEST_TIMES", times);
    // However many processors there are: what takes next to no time is not told from what a machine lets wait.
    environment.push(("LP_NUM_THREADS".to_owned(), "1".to_owned()));
    let (run, ended) = short(&environment, "0.5", &[&["--device", "wgpu:0"], more].concat());
    assert!(!run.measurements.is_empty(), "{times}: {}", ended.stderr);
    for measurement in &run.measurements {
        assert_eq!(measurement.time, None, "{times}");
        assert!(measurement.dispatches.iter().all(|d| d.median_ns.is_none()), "{times}");
    }
    run
}

fn timestamps(driver: &Driver) {
    let layer = TempDir::new().unwrap();
    build_layer(layer.path());
    for (times, tag) in [
        ("none", Tag::NoTimestamps),
        // Ticks that never move are no timer.
        ("zero", Tag::NoTimestamps),
        ("backwards", Tag::TimerContradicted),
        ("jumps", Tag::TimerContradicted),
    ] {
        let run = untimed(driver, &layer, times, &[]);
        let device = &run.devices[0];
        assert_eq!(device.flags, [Flag::from(tag)], "{times}");
        assert_eq!((device.peak_fma_per_s, device.copy_bytes_per_s), (None, None), "{times}");
        let mut dispatches = run.measurements.iter().flat_map(|m| &m.dispatches);
        assert!(dispatches.all(|dispatch| !dispatch.blocks.is_empty()), "{times}: it is counted");
    }
}

fn later_timestamps(driver: &Driver) {
    let layer = TempDir::new().unwrap();
    build_layer(layer.path());
    // What jumps tells twelve microseconds of most samples, and a minute of some.
    for times in ["later_jumps", "later_backwards"] {
        let run = untimed(driver, &layer, times, &["--no-counting", "-a", "n=262144"]);
        assert_eq!(run.devices[0].flags, [], "{times}");
        for measurement in &run.measurements {
            let told = flag::has(&measurement.flags, &Tag::TimerContradicted);
            assert!(told, "{times}: {:?}", measurement.flags);
        }
    }
}

fn widths(driver: &Driver) {
    let layer = TempDir::new().unwrap();
    build_layer(layer.path());
    let with = |width| with_layer(driver, layer.path(), "LANESCOPE_TEST_WIDTH", width);
    for width in ["4", "32"] {
        let devices = ["--device", "wgpu:0", "--device", "sim:8", "--no-timing"];
        let (run, _) = short(&with(width), "1", &devices);
        let device = run.devices.iter().find(|device| device.id == "wgpu:0").unwrap();
        // The probe says what runs, whatever the driver says.
        assert_eq!(device.subgroup_width_run.map(|width| width.lanes()), Some(8), "{width}");
        let lies = flag::has(&device.flags, &Tag::SubgroupWidthMisreported);
        assert!(lies, "{width}: {:?}", device.flags);
        let counts = |id: &str| -> Vec<_> {
            let measured = run.measurements.iter().filter(|m| m.device == id);
            measured.map(|m| (m.kernel.clone(), m.active_lanes_mean)).collect()
        };
        assert_eq!(counts("wgpu:0"), counts("sim:8"), "{width}");
        assert!(!counts("sim:8").is_empty(), "{width}");
    }
    // Without subgroup operations a run counts nothing, and a profile estimates.
    let (run, _) = short(&with("0"), "1", &["--device", "wgpu:0", "--no-timing"]);
    assert!(flag::has(&run.devices[0].flags, &Tag::NoSubgroups), "{:?}", run.devices[0].flags);
    let mut dispatches = run.measurements.iter().flat_map(|m| &m.dispatches);
    assert!(dispatches.all(|dispatch| dispatch.blocks.is_empty()));
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), super::BREAK_IF);
    let arguments = ["profile", "s.wgsl", "--n", "64", "--out", "o"];
    let ended = super::run(&folder, &with("0"), &[&arguments[..], &["-d", "wgpu:0"]].concat(), 40);
    ended.sound("estimates");
    let run = record(&folder);
    assert!(flag::has(&run.devices[0].flags, &Tag::NoSubgroups), "{}", ended.stderr);
    let methods: Vec<_> = run.measurements.iter().map(|measurement| measurement.method).collect();
    assert_eq!(methods, [Some(Method::Estimated)], "{}", ended.stderr);
}
