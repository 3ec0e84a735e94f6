//! Machines that misbehave: full disks, clocks that jump, timestamps that do not run, drivers that report
//! another width, adapters without timestamps or subgroups.
//!
//! A library that is loaded before the system's (`system.c`), and a layer over lavapipe (`layer.c`).

use std::path::Path;

use lanescope::record::{Run, Status, Tag};
use tempfile::TempDir;

use super::drivers::{build, build_layer, with_layer};
use super::{Ended, run};
use crate::support::drivers::Driver;

/// Every check.
pub(super) const CHECKS: [(&str, fn(&Driver)); 4] = [
    ("a_full_disk_at_any_write_keeps_the_record", full_disk),
    ("clocks_that_jump_end_no_run", clocks),
    ("timestamps_that_do_not_run_give_no_times", timestamps),
    ("another_width_than_the_drivers_is_found_out", widths),
];

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

fn clocks(driver: &Driver) {
    let place = TempDir::new().unwrap();
    let library = library(&place);
    // The time of day only dates a record.
    let mut environment = system(&library, "LANESCOPE_TEST_CLOCK", "calendar");
    environment.extend(driver.environment());
    let (folder, ended) = quick(&environment, &["--device", "sim:8", "--device", "wgpu:0"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(record(&folder).measurements.iter().all(|m| m.status == Status::Ok));
    // A clock that leaps forward may look like silence: that costs a launch and says so.
    let mut environment = system(&library, "LANESCOPE_TEST_CLOCK", "hour");
    environment.extend(driver.environment());
    let (folder, ended) = quick(&environment, &["--device", "sim:8", "--device", "wgpu:0"]);
    assert!(matches!(ended.code, Some(0 | 3 | 5)), "{:?}: {}", ended.code, ended.stderr);
    let run = record(&folder);
    let simulated = run.measurements.iter().filter(|m| m.device == "sim:8");
    assert!(simulated.clone().count() >= 2 && simulated.clone().all(|m| m.status == Status::Ok));
    for failed in run.measurements.iter().filter(|m| m.status == Status::Failed) {
        assert!(failed.error.as_ref().is_some_and(|error| error.contains("nothing was heard")));
    }
}

fn timestamps(driver: &Driver) {
    let layer = TempDir::new().unwrap();
    build_layer(layer.path());
    for times in ["none", "zero", "backwards", "jumps"] {
        let environment = with_layer(driver, layer.path(), "LANESCOPE_TEST_TIMES", times);
        let (folder, ended) = quick(&environment, &["--device", "wgpu:0", "--budget", "2"]);
        assert_eq!(ended.code, Some(0), "{times}: {}", ended.stderr);
        let run = record(&folder);
        assert!(run.measurements.len() >= 2, "{times}: {}", ended.stderr);
        let untimed = run.devices[0].flags.iter().any(|flag| flag.tag == Tag::NoTimestamps);
        // Ticks that never move are no timer.
        assert_eq!(
            untimed,
            matches!(times, "none" | "zero"),
            "{times}: {:?}",
            run.devices[0].flags
        );
        for measurement in &run.measurements {
            assert!(measurement.dispatches.iter().all(|dispatch| !dispatch.blocks.is_empty()));
            let timed = measurement.time.as_ref();
            assert_eq!(timed.is_some(), times == "jumps", "{times}: {timed:?}");
            // Only the ticks that say something count: the usual step, whatever leaps between.
            let median = timed.map(|time| time.median_ns.0);
            assert!(median.is_none_or(|median| median < 1e6), "{times}: {median:?}");
        }
    }
}

fn widths(driver: &Driver) {
    let layer = TempDir::new().unwrap();
    build_layer(layer.path());
    for width in ["4", "32", "64"] {
        let environment = with_layer(driver, layer.path(), "LANESCOPE_TEST_WIDTH", width);
        let devices = ["--device", "wgpu:0", "--device", "sim:8", "--no-timing"];
        let (folder, ended) = quick(&environment, &devices);
        assert_eq!(ended.code, Some(0), "{width}: {}", ended.stderr);
        let run = record(&folder);
        let device = run.devices.iter().find(|device| device.id == "wgpu:0").unwrap();
        // The probe says what runs, whatever the driver says.
        assert_eq!(device.subgroup_width_run.map(|width| width.lanes()), Some(8), "{width}");
        let lies = device.flags.iter().any(|flag| flag.tag == Tag::SubgroupWidthMisreported);
        assert!(lies, "{width}: {:?}", device.flags);
        let counts = |id: &str| -> Vec<_> {
            let of = run.measurements.iter().filter(|m| m.device == id);
            of.map(|m| (m.kernel.clone(), m.active_lanes_mean)).collect()
        };
        assert_eq!(counts("wgpu:0"), counts("sim:8"), "{width}");
    }
    let environment = with_layer(driver, layer.path(), "LANESCOPE_TEST_WIDTH", "0");
    let (folder, ended) = quick(&environment, &["--device", "wgpu:0", "--no-timing"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = record(&folder);
    assert!(run.devices[0].flags.iter().any(|flag| flag.tag == Tag::NoSubgroups), "{run:?}");
    let blocks = run.measurements.iter().flat_map(|m| &m.dispatches).flat_map(|d| &d.blocks);
    assert_eq!(blocks.count(), 0);
    assert!(run.measurements.iter().all(|m| m.status == Status::Ok));
}
