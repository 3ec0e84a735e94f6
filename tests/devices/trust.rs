//! What a driver's counts are worth, and what is done where they are worth nothing: estimates,
//! missing features, panics.

use std::collections::BTreeMap;

use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::record::{Method, Run, RunErrorKind, Status, Tag, Value};
use lanescope::run::launched::outputs_sha256;
use lanescope::run::profile::{ProfileRequest, prepare};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Counted, Runner};
use lanescope::units::Width;
use tempfile::TempDir;

use super::open;
use crate::support::drivers::Driver;
use crate::support::program;

/// A shader of the user's with a loop in which lanes part.
const PARTING: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 8u; i++) {
        if ((id.x + i) % 2u == 0u) {
            sum += i;
        }
    }
    output[id.x] = sum;
}
";

fn counts(counted: &Counted) -> Vec<(u64, u64)> {
    let dispatches = counted.dispatches.iter();
    dispatches.flat_map(|d| &d.counts).map(|count| (count.executions.0, count.lanes.0)).collect()
}

/// Estimates have the lanes of executed counting, and at most the simulator's executions; those of the
/// five patterns are exact.
pub(super) fn estimates(driver: &Driver) {
    let mut device = open(driver, 60).unwrap();
    let mut simulator = SimulatorRunner::new(Width::new(driver.width).unwrap(), STEPS_MAX);
    let catalogue = Catalogue::embedded().unwrap();
    let options = CountRequest::once(Method::Executed);
    let mut inexact = 0;
    let families = ["five_patterns", "hot_loops"];
    for kernel in catalogue.kernels().filter(|kernel| families.contains(&kernel.family())) {
        let n = BTreeMap::from([("n".to_owned(), Value::Integer(1100))]);
        let launch: Launch = kernel.launch(DeviceClass::Quick, &n, SEED).unwrap();
        let name = &launch.kernel;
        let estimated = device.count_once(&launch, &CountRequest::once(Method::Estimated)).unwrap();
        assert_eq!(estimated.method, Method::Estimated);
        assert_eq!(estimated.width, Width::new(driver.width).ok());
        let executed = device.count_once(&launch, &options).unwrap();
        let simulated = simulator.count_once(&launch, &options).unwrap();
        assert_eq!(estimated.outputs_sha256, executed.outputs_sha256, "{name}");
        let [found, counted, model] = [&estimated, &executed, &simulated].map(counts);
        assert_eq!(found.len(), model.len());
        for ((found, counted), model) in found.iter().zip(&counted).zip(&model) {
            assert_eq!(found.1, counted.1, "{name}: lanes");
            assert!(found.0 <= model.0, "{name}: {found:?}, simulated {model:?}");
        }
        if kernel.family() == "five_patterns" {
            assert_eq!(found, counted, "{name}");
        } else {
            inexact += usize::from(found != model);
        }
    }
    // A bound that is met everywhere would say nothing about branches in loops.
    assert!(inexact > 0);
}

/// Runs `profile` on PARTING with more environment and arguments.
fn profiled(driver: &Driver, hidden: &str, more: &[&str]) -> (i32, Run, String, String) {
    let folder = TempDir::new().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
    std::fs::write(folder.path().join("parting.wgsl"), PARTING).unwrap();
    let mut environment = driver.environment();
    environment.push(("LANESCOPE_WITHOUT_FEATURES".to_owned(), hidden.to_owned()));
    let fixed = ["profile", "parting.wgsl", "--n", "2048", "--device", "wgpu:0", "--out", "out"];
    let output = program::run(&folder, &environment, &[&fixed, more].concat());
    let (code, stdout, stderr) = program::parts(&output);
    let run = lanescope::store::load(&folder.path().join("out/result.json")).unwrap();
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap_or_default();
    assert!(run.measurements.iter().all(|m| m.status == Status::Failed) || page.len() > 1000);
    let estimated = run.measurements[0].method == Some(Method::Estimated);
    assert_eq!(page.contains("estimated counts"), estimated, "the page says so");
    (code, run, stdout, stderr)
}

/// A device without subgroup operations is profiled by estimates, which say that they are some; so
/// is one that is asked for them.
pub(super) fn without_subgroups(driver: &Driver) {
    let hidden = "SUBGROUP,SUBGROUP_BARRIER";
    let (code, run, stdout, stderr) = profiled(driver, hidden, &["--fail-on", "efficiency<0.1"]);
    assert_eq!(code, 0, "{stderr}");
    let [measurement] = &run.measurements[..] else { panic!("one measurement") };
    assert_eq!(run.devices[0].subgroup_width_run, None);
    assert_eq!(measurement.method, Some(Method::Estimated));
    assert_eq!(measurement.subgroup_width.unwrap().lanes(), 32);
    // Whether the time was quiet is the machine's matter.
    let flags = measurement.flags.iter().filter(|flag| flag.tag != Tag::StopRuleNotMet);
    assert_eq!(flags.cloned().collect::<Vec<_>>(), [Tag::WidthAssumed.into()]);
    // Eight turns, in half of which each lane adds: 4 of 8 turns for 32 lanes, taken for one another.
    let block = measurement.dispatches[0].blocks.iter().find(|block| block.line == 7).unwrap();
    assert_eq!((block.executions.0, block.lanes.0), (2048 / 32 * 4, 2048 * 4));
    assert!(stdout.contains("executions estimated"), "{stdout}");
    assert!(stdout.contains("the device has no subgroup operations"), "{stdout}");
    assert!(stderr.contains("--fail-on rests on estimates"), "{stderr}");

    let (code, run, stdout, stderr) = profiled(driver, "", &["--estimate"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.measurements[0].method, Some(Method::Estimated));
    assert_eq!(run.measurements[0].subgroup_width.unwrap().lanes(), driver.width);
    assert!(stdout.contains("as asked for"), "{stdout}");
}

/// What a device lacks is named in a sentence; where no device has it, the exit code says that the
/// shader is to be changed.
pub(super) fn lacking_features(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let shader = "enable f16;
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = f32(f16(id.x) * 0.5h);
}
";
    #[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
    std::fs::write(folder.path().join("half.wgsl"), shader).unwrap();
    let mut environment = driver.environment();
    environment.push(("LANESCOPE_WITHOUT_FEATURES".to_owned(), "SHADER_F16".to_owned()));
    let sentence = "half.wgsl uses half-precision floats (f16), which this device does not offer; \
                    use f32, or choose another device";
    for (devices, expected) in [(&["wgpu:0"][..], 2), (&["wgpu:0", "sim:8"], 5), (&["sim:8"], 0)] {
        let mut arguments = vec!["profile", "half.wgsl", "--n", "256"];
        arguments.extend(devices.iter().flat_map(|device| ["--device", device]));
        let output = program::run(&folder, &environment, &arguments);
        let (code, _, stderr) = program::parts(&output);
        assert_eq!(code, expected, "{devices:?}: {stderr}");
        assert_eq!(stderr.contains(sentence), expected != 0, "{stderr}");
    }
}

/// A panic in naga's back-end costs its device only, and says whose fault it is.
pub(super) fn back_end_panics(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("panics.wgsl");
    #[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
    std::fs::write(path, crate::corpus::PANICS).unwrap();
    let arguments = ["profile", "panics.wgsl", "--n", "256", "--device", "wgpu:0"];
    let arguments = [&arguments[..], &["--device", "sim:8", "--out", "out"]].concat();
    let output = program::run(&folder, &driver.environment(), &arguments);
    let (code, _, stderr) = program::parts(&output);
    assert_eq!(code, 5, "{stderr}");
    let run = lanescope::store::load(&folder.path().join("out/result.json")).unwrap();
    assert_eq!(run.measurements.len(), 2);
    let measured =
        |id: &str| run.measurements.iter().find(|measurement| measurement.device == id).unwrap();
    let (device, simulator) = (measured("wgpu:0"), measured("sim:8"));
    let why = device.error.clone().unwrap();
    assert_eq!(device.error_kind, Some(RunErrorKind::Panicked), "{why}");
    assert!(why.contains("naga panicked while it"), "{why}");
    assert!(why.contains("panics.wgsl"), "{why}");
    assert_eq!((simulator.status, &simulator.error_kind), (Status::Ok, &None));
    assert!(!simulator.dispatches[0].blocks.is_empty(), "its counts are kept");
}

/// Elements of the scan: 64 tiles.
const SCANNED: u64 = 4096;

/// A scan in which workgroups spin on one another ends, however it is counted, with the right sums;
/// what is counted outside the spinning is the same everywhere.
pub(super) fn look_back(driver: &Driver) {
    let text = include_str!("scan_look_back.wgsl");
    let request = ProfileRequest {
        file: "scan_look_back.wgsl".to_owned(),
        name: "scan_look_back".to_owned(),
        source: text.to_owned(),
        derived: None,
        description: None,
        entry_point: None,
        workgroups: None,
        n: Some(SCANNED),
        seed: SEED,
    };
    let launch = prepare(&request, &mut |file| Err(format!("no file {file}"))).unwrap().launch;
    let input = launch.contents(launch.buffer("input").unwrap());
    let mut sum = 0_u32;
    let scanned = input.as_chunks::<4>().0.iter().flat_map(|word| {
        sum += u32::from_le_bytes(*word) % 16;
        sum.to_le_bytes()
    });
    let scanned = BTreeMap::from([("output".to_owned(), scanned.collect())]);
    let right = &outputs_sha256(&scanned)["output"];

    let mut device = open(driver, 60).unwrap();
    let mut simulator = SimulatorRunner::new(Width::new(driver.width).unwrap(), STEPS_MAX);
    let once = CountRequest::once;
    let simulated = simulator.count_once(&launch, &once(Method::Executed));
    let simulated = simulated.unwrap();
    assert_eq!(&simulated.outputs_sha256["output"], right);
    let methods = [Method::Executed, Method::Derived, Method::Estimated];
    let histogram = once(Method::Executed).with_histogram();
    for request in methods.map(once).into_iter().chain([histogram]) {
        let mut heard = 0;
        let counted = device.count(&launch, &request.with_runs(2), &mut || heard += 1).unwrap();
        let counted = &counted[0];
        // Of each dispatch before it is compiled, and before it runs, twice.
        assert_eq!(heard, 3 * launch.dispatches.len(), "{request:?}");
        assert_eq!(&counted.outputs_sha256["output"], right, "{request:?}");
        // Every lane comes to the end once; how often tiles look for one another is the schedule's.
        let lanes = |counted: &Counted| counts(counted).last().unwrap().1;
        assert_eq!(lanes(counted), lanes(&simulated), "{request:?}");
    }
}
