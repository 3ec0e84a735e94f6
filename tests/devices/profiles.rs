//! `profile` and `compare` of a user's shader on a driver, beside the simulator.

use lanescope::record::{Measurement, Tag, Trust, flag};
use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::program;

/// A user's shader with nested loops, calls and atomics counts the same on the device and on the
/// simulator, twice over; the device's trust is what its self-test gave.
pub(super) fn agree(driver: &Driver) {
    const SHADER: &str = "struct Params { count: u32, gain: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage> input: array<u32>;
@group(1) @binding(0) var<storage, read_write> output: array<u32>;
@group(1) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 64>;

fn collatz(start: u32) -> u32 {
    var v = start;
    var steps = 0u;
    while (v > 1u && steps < 200u) {
        if (v % 2u == 0u) { v /= 2u; } else { v = v * 3u + 1u; }
        steps++;
    }
    return steps;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.count) { return; }
    let steps = collatz(input[id.x]);
    switch (steps % 4u) {
        case 0u: { atomicAdd(&bins[steps % 64u], 1u); }
        case 1u, 2u: { output[id.x] = steps; }
        default: { output[id.x] = collatz(steps); }
    }
}
";
    let folder = TempDir::new().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
    std::fs::write(folder.path().join("collatz.wgsl"), SHADER).unwrap();
    let simulator = format!("sim:{}", driver.width);
    let arguments = [
        "profile",
        "collatz.wgsl",
        "--no-timing",
        "--n",
        "3000",
        "--device",
        &driver.device(),
        "--device",
        &simulator,
    ];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let device = &run.devices[0];
    let failed = flag::has(&device.flags, &Tag::SelfTestFailed);
    let trust = if failed { Trust::Unknown } else { Trust::Observed };
    assert_eq!(device.trust, Some(trust));
    // The self-test ran for what the shader uses, and for nothing else.
    let judged = run.measurements[0].trust.as_ref().unwrap();
    assert_eq!((judged.trust, judged.failed.len()), (Trust::Observed, 0), "{judged:?}");
    assert!(judged.constructs.contains(&"switch_shared_case".to_owned()), "{judged:?}");
    let tested = device.self_test.iter().map(|part| &part.construct).collect::<Vec<_>>();
    let used = judged.constructs.iter().collect::<Vec<_>>();
    assert_eq!(tested.len(), used.len());
    assert!(used.iter().all(|construct| tested.contains(construct)) && used.len() < 15);
    assert!(run.measurements[0].answer_ns.unwrap().0 > 0.0);
    assert!(run.measurements[0].runtime_checks.counted);
    assert!(run.measurements.iter().all(|m| m.flags.is_empty()), "{stderr}");
    let agreements = lanescope::analyze::agreements(&run);
    assert_eq!(agreements.len(), 1);
    assert!(agreements[0].agreement.blocks_compared > 15);
    assert_eq!(agreements[0].agreement.differences, [], "{stderr}");
}

/// A long loop with a helper.
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = next(a[g.x]);
    for (var k = 0u; k < 200u; k++) { v = next(v); }
    a[g.x] = v;
}
fn next(v: f32) -> f32 { return v * 0.9 + 0.3; }
";

/// Where a device is named alone, a simulator is asked for its accesses and for nothing else; what leaves its bounds is
/// timed with checks alone.
fn time_alone(device: &str, environment: &[(String, String)]) {
    let out_of_bounds = SHADER.replace("a[g.x] = v", "a[g.x + 1u] = v");
    for (shader, in_bounds) in [(SHADER, true), (&*out_of_bounds, false)] {
        let folder = TempDir::new().unwrap();
        program::write(&folder.path().join("a.wgsl"), shader);
        let arguments = ["profile", "a.wgsl", "--n", "4096", "--device", device];
        let (code, run, stderr) = program::record(&folder, environment, &arguments);
        assert_eq!((code, run.devices.len()), (0, 1), "{stderr}");
        assert_eq!(run.measurements[0].time_unchecked.is_some(), in_bounds, "{stderr}");
        let profile = lanescope::analyze::profiles(&run).remove(0);
        let sentences = profile.devices[0].time.as_ref().unwrap().sentences().join(" ");
        assert_eq!(
            sentences.contains("no simulator saw every access in bounds"),
            !in_bounds,
            "{sentences}"
        );
    }
}

/// `profile` times the launch, without run-time checks and with counters beside; two shaders are timed
/// side by side, and what is the same is not called slower.
pub(super) fn time(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("slow.wgsl"), SHADER.replace("200u", "4000u"));
    for name in ["a.wgsl", "b.wgsl"] {
        program::write(&folder.path().join(name), SHADER);
    }
    let (device, environment) = (driver.device(), driver.environment());
    let arguments =
        ["profile", "a.wgsl", "--n", "16384", "--device", &device, "--device", "sim:32"];
    let (code, run, stderr) = program::record(&folder, &environment, &arguments);
    assert_eq!(code, 0, "{stderr}");
    let timed = run.measurements.iter().find(|measurement| measurement.device == device).unwrap();
    let median = |time: &Option<lanescope::record::Time>| time.as_ref().unwrap().median_ns.0;
    assert!(timed.runtime_checks.timed && median(&timed.time) > 0.0);
    assert!(median(&timed.time_unchecked) > 0.0, "the simulator saw nothing out of bounds");
    assert!(median(&timed.time_counting) > 0.0);
    let simulated =
        run.measurements.iter().find(|measurement| measurement.device == "sim:32").unwrap();
    assert!(simulated.time.is_none() && simulated.time_counting.is_none());
    let profile = lanescope::analyze::profiles(&run).remove(0);
    let text = profile.devices[0].time.as_ref().unwrap().sentences().join(" ");
    assert!(
        text.contains("with run-time checks; ") && text.contains("the launches that count take "),
        "{text}"
    );
    assert!(text.contains("Idle lanes explain at most 0"), "{text}");
    let sites =
        |measurement: &Measurement| lanescope::analyze::by_call_site(&measurement.dispatches);
    assert_eq!(sites(timed).len(), 2, "what the lanes that call do is known by call site");
    assert_eq!(
        sites(timed).iter().map(|(site, _)| &site.from).collect::<Vec<_>>(),
        sites(simulated).iter().map(|(site, _)| &site.from).collect::<Vec<_>>()
    );
    let lanes =
        |found| sites(found).iter().map(|(_, work)| work.lane_operations).collect::<Vec<_>>();
    assert_eq!(lanes(timed), lanes(simulated), "as the simulator counted each way by itself");

    time_alone(&device, &environment);
    let arguments = ["compare", "a.wgsl", "b.wgsl", "--n", "16384", "--device", &device];
    let gate = ["--fail-on", "time>1.5", "--export-json", "-"];
    let all = [&arguments[..], &gate[..]].concat();
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &environment, &all));
    assert_eq!(code, 0, "{stderr}");
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let time = &found["launches"][0]["time"];
    assert_eq!(time["side_by_side"], true, "{time}");
    assert!(time["ratio"].as_f64().is_some_and(|ratio| (0.5..2.0).contains(&ratio)), "{time}");

    let arguments = ["compare", "a.wgsl", "slow.wgsl", "--n", "16384", "--device", &device];
    let all = [&arguments[..], &["--fail-on", "time>1.5"]].concat();
    let (code, _, stderr) = program::parts(&program::run(&folder, &environment, &all));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("--fail-on: slow on "), "{stderr}");
}
