//! What must hold on every driver.

pub(crate) mod captured;
mod profiles;
mod trust;

use std::collections::BTreeMap;
use std::time::Duration;

use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED, Workgroups};
use lanescope::record::{Measurement, Method, Output, Status, Tag, Value, flag};
use lanescope::run::back_end::OpenOptions;
use lanescope::run::session::{Listener, Open, Phase, SessionOptions, run_device};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::worker::{WorkerOptions, WorkerRunner};
use lanescope::run::{CountRequest, Counted, RunError, Runner, TimeOptions, self_test};
use tempfile::TempDir;

use crate::corpus;
use crate::support::agreement::wider_than_processor;
use crate::support::drivers::{Check, Driver};
use crate::support::{model, program};

/// Every check.
pub(crate) const CHECKS: [Check; 40] = [
    Check::new("counts_equal_the_model_and_the_simulator", counts),
    Check::new("loops_with_branches_count_what_the_simulator_counts", hot_loops),
    Check::new("formulas_of_grain_hold", crate::grain::on_driver),
    Check::new("derived_counts_of_the_catalogue_equal_the_simulator", derived),
    Check::new("times_are_taken_and_outputs_verified", times),
    Check::new("self_test_of_counting", self_test_of_counting),
    Check::new("histograms_add_up", histograms),
    Check::new("corpus_counts_equal_the_simulator", corpus::agrees),
    Check::new("several_and_indirect_dispatches_run", indirect),
    Check::new("what_cannot_be_repeated_is_begun_anew_for_each_pass", begun_anew),
    // CUDA binds whatever there is memory for.
    Check::new("what_is_too_large_is_refused_with_its_limit", too_large).wgpu(),
    Check::new("profile_agrees_with_the_simulator", profiles::agree),
    Check::new("profile_times_and_compare_times_side_by_side", profiles::time).long(),
    Check::new("estimates_bound_what_is_executed", trust::estimates).long(),
    Check::new("a_device_without_subgroups_is_estimated", trust::without_subgroups).wgpu(),
    Check::new("what_a_device_lacks_is_named", trust::lacking_features).wgpu(),
    Check::new("a_panic_of_naga_costs_its_device_only", trust::back_end_panics).wgpu(),
    Check::new("a_scan_that_spins_is_right_and_ends", trust::look_back),
    Check::new("misreported_width_is_flagged", misreported_width).lying(),
    Check::new("a_refused_device_is_told_of_this_one", refused),
    Check::new("without_counting_launches_are_timed_and_checked", times_alone),
    Check::new("doctor_tells_trust_and_where_subgroups_begin", doctor),
    Check::new("subgroup_operations_are_right_and_count_what_the_simulator_counts", collectives),
    Check::new("collectives_are_right", crate::collectives::right).long(),
    Check::new("the_librarys_collectives_are_right_again_and_again", crate::collectives::stress)
        .wgpu(),
    Check::new("random_programs_agree", crate::random::agree),
    Check::new(
        "kernels_with_textures_count_what_the_simulator_counts",
        crate::textures::kernels_agree,
    )
    .wgpu(),
    Check::new("texels_of_every_format_are_the_simulators", crate::textures::formats_agree).wgpu(),
    Check::new("a_captured_dispatch_is_what_the_program_ran", captured::reproduced).wgpu(),
    Check::new("a_capture_holds_what_was_asked_for", captured::asked).wgpu(),
    Check::new("made_up_data_say_what_no_frame_says", captured::unlike_made_up).long().wgpu(),
    Check::new("a_program_asks_for_a_capture_by_a_call", captured::by_call).wgpu(),
    Check::new("a_shader_in_spirv_is_captured_in_a_program", captured::spirv).wgpu(),
    Check::new("what_a_capture_cannot_read_is_named", captured::unread).wgpu(),
    Check::new("filtered_reads_are_the_simulators", crate::textures::random_reads_agree).wgpu(),
    Check::new("partitions_are_stable_and_right", crate::sorting::partitions).long().wgpu(),
    Check::new("sorts_are_stable_and_right", crate::sorting::sorts).long().wgpu(),
    Check::new("sort_then_dispatch_is_right", crate::sorting::sorted).long(),
    Check::new("dispatches_are_timed_within_their_launch", crate::sorting::stages).long(),
    Check::new("endless_loop_costs_its_process_only", endless_loop).endless_loops(),
];

/// The input elements of a measurement's launch.
fn input(measurement: &Measurement) -> Vec<f32> {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel(&measurement.kernel).unwrap();
    let launch =
        kernel.launch(DeviceClass::Quick, &measurement.parameters, measurement.seed).unwrap();
    let bytes = launch.contents(launch.buffer("input").unwrap());
    let words = bytes.as_chunks::<4>().0;
    let Some(Value::Integer(n)) = measurement.parameters.get("n") else { panic!("no n") };
    words.iter().take(usize::try_from(*n).unwrap()).map(|w| f32::from_le_bytes(*w)).collect()
}

/// Checks a measurement's counts against the model, block by block.
pub(crate) fn check_against_model(measurement: &Measurement) {
    let name =
        format!("{} {:?} {}", measurement.kernel, measurement.parameters, measurement.device);
    assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
    assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
    let width = measurement.subgroup_width.unwrap().index();
    let expected = model::five_patterns(&measurement.kernel, &input(measurement), width);
    let found: Vec<model::Counts> = measurement.dispatches[0]
        .blocks
        .iter()
        .map(|block| (block.executions.0, block.lanes.0))
        .collect();
    assert_eq!(found, expected, "{name}");
}

/// Executions and lanes of the five patterns, in every form, at sizes that fill workgroups and that do
/// not, equal what the data say, on the device and on the simulator at its width.
fn counts(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let simulator = format!("sim:{}", driver.width);
    let arguments = [
        "five_patterns",
        "--no-timing",
        "--device",
        &driver.device(),
        "--device",
        &simulator,
        "-a",
        "n=[1,300,8192]",
        "-a",
        "form=[sealed,published,opaque]",
    ];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.devices[0].subgroup_width_run.unwrap().lanes(), driver.width);
    assert_eq!(run.measurements.len(), 2 * 3 * 3 * 5);
    for measurement in &run.measurements {
        check_against_model(measurement);
    }
    let agreements = lanescope::analyze::agreements(&run);
    assert_eq!(agreements.len(), 3 * 3 * 5);
    for row in agreements {
        assert!(row.agreement.blocks_compared >= 8, "{}", row.kernel);
        assert_eq!(row.agreement.differences, [], "{} {:?}", row.kernel, row.parameters);
    }
}

/// The default forms are timed; samples are usable, ratios are there, outputs right.
fn times(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let device = driver.device();
    let arguments =
        ["five_patterns", "--quick", "--budget", "3", "--device", &device, "-a", "n=16384"];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.measurements.len(), 10);
    for measurement in &run.measurements {
        assert_eq!(measurement.output, Output::Verified, "{:?}", measurement.error);
        let time = measurement.time.as_ref().unwrap();
        assert!(time.median_ns.0 > 0.0 && time.samples.len() >= 2, "{}", measurement.kernel);
        assert!(time.ci95_ns[0] <= time.median_ns && time.median_ns <= time.ci95_ns[1]);
        // A launch that has once taken long, as on a busy processor, goes without.
        if measurement.device.starts_with("wgpu") {
            let before = time.dispatches_before_sample.unwrap();
            assert!([0, time.dispatches_per_sample].contains(&before), "{before}");
        }
        let flagged = flag::has(&measurement.flags, &Tag::StopRuleNotMet);
        assert_eq!(flagged, !time.stop_rule_met);
        assert!(!measurement.runtime_checks.timed);
    }
    let device = &run.devices[0];
    assert_eq!(device.cpu_driver, driver.family != "cuda", "{device:?}");
    assert!(device.peak_fma_per_s.unwrap() > 1e8, "{device:?}");
    assert!(device.copy_bytes_per_s.unwrap() > 1e8);
    for file in
        ["report.html", "lanes-five_patterns-sealed.svg", "lanes-five_patterns-published.svg"]
    {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
}

/// Executions and lanes of loops with branches in them are the simulator's, block by block, but for what
/// SwiftShader does before a `break`.
fn hot_loops(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let simulator = format!("sim:{}", driver.width);
    let devices = ["--device", &driver.device(), "--device", &simulator];
    let arguments = [&["hot_loops", "--no-timing", "-a", "n=2000"], &devices[..]].concat();
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    // What the catalogue holds to no count is looked at by nobody here.
    let catalogue = Catalogue::embedded().unwrap();
    let held = |id: &str| catalogue.kernel(id).unwrap().description.exempt_from_agreement.is_none();
    let exempt = run.measurements.iter().filter(|measurement| !held(&measurement.kernel));
    assert_eq!((exempt.count(), run.measurements.len()), (2, 22));
    let counts = |measurement: &Measurement| -> Vec<(u64, u64)> {
        let blocks = measurement.dispatches[0].blocks.iter();
        blocks.map(|block| (block.executions.0, block.lanes.0)).collect()
    };
    let held = run.measurements.iter().filter(|measurement| held(&measurement.kernel));
    for device in held.filter(|measurement| measurement.device == driver.device()) {
        let simulated = run.measurements.iter().find(|measurement| {
            measurement.device == simulator && measurement.kernel == device.kernel
        });
        let (found, expected) = (counts(device), counts(simulated.unwrap()));
        if driver.family == "swiftshader" {
            // It runs what stands before a `break` once all lanes have left (docs/findings/agreement.md).
            let lanes =
                |counts: &[(u64, u64)]| -> Vec<u64> { counts.iter().map(|c| c.1).collect() };
            assert_eq!(lanes(&found), lanes(&expected), "{}", device.kernel);
            let later = found.iter().zip(&expected).all(|(found, expected)| found.0 <= expected.0);
            assert!(later, "{}: {found:?}, simulated {expected:?}", device.kernel);
        } else {
            assert_eq!(found, expected, "{}", device.kernel);
        }
    }
}

/// Every kernel of the families `shuffle`, `vote` and `occupancy` gives what its reference says, in
/// full and in partial subgroups, and counts what the simulator counts, but for SwiftShader's turns
/// of a loop that lanes leave one after the other, and for the kernel that ends lavapipe's process
/// where its vectors are wider than the processor's: its launches alone fail, and say so.
fn collectives(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let simulator = format!("sim:{}", driver.width);
    let device = driver.device();
    let devices = ["--device", &device, "--device", &simulator];
    let families = ["shuffle", "vote", "occupancy", "--no-timing", "--quick"];
    let arguments = [&families[..], &devices[..]].concat();
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    let may_end = wider_than_processor(&run.devices[0]);
    assert_eq!(code, if may_end { 5 } else { 0 }, "{stderr}");
    let kernels: std::collections::BTreeSet<&str> =
        run.measurements.iter().map(|measurement| measurement.kernel.as_str()).collect();
    assert_eq!(kernels.len(), 15, "{kernels:?}");
    let ends = |measurement: &&Measurement| {
        may_end && measurement.kernel == "shuffle/operations" && measurement.device == device
    };
    for measurement in run.measurements.iter().filter(ends) {
        let error = measurement.error.as_ref().unwrap();
        assert!(error.contains("SIGSEGV"), "{error}");
    }
    for measurement in run.measurements.iter().filter(|measurement| !ends(measurement)) {
        let name =
            format!("{} {:?} {}", measurement.kernel, measurement.parameters, measurement.device);
        assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
        assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
    }
    let rows = lanescope::analyze::agreements(&run);
    // A GPU runs sweeps beside.
    let ended = run.measurements.iter().filter(ends).count();
    let twins =
        run.measurements.iter().filter(|measurement| measurement.device == simulator).count();
    assert!(rows.len() + ended == twins && twins >= 100, "{} of {twins}", rows.len());
    for row in rows {
        let name = format!("{} {:?}", row.kernel, row.parameters);
        assert!(row.agreement.blocks_compared > 0, "{name}");
        let turns = driver.family == "swiftshader" && row.kernel == "shuffle/match_any";
        let expected = row.agreement.differences.iter().all(|difference| {
            turns && difference.quantity == lanescope::analyze::Quantity::Executions
        });
        assert!(expected, "{name}: {:?}", row.agreement.differences);
    }
    for measurement in
        run.measurements.iter().filter(|measurement| measurement.kernel == "shuffle/out_of_range")
    {
        assert_eq!(measurement.outputs_shown["returned"].len(), 34 * 128);
    }
    assert_eq!(lanescope::analyze::undefined_rows(&run).len(), 2);
}

/// Opens a driver's only adapter in a child.
pub(crate) fn open(driver: &Driver, silence_s: u64) -> Result<WorkerRunner, RunError> {
    let options = WorkerOptions {
        program: Some(program::path()),
        environment: driver.environment(),
        silence_max: Duration::from_secs(silence_s),
    };
    WorkerRunner::open_by(&driver.device(), &OpenOptions::usual(None), &options)
}

/// lavapipe counts as every width must. SwiftShader runs what stands before a `break` once all
/// lanes have left the loop: the one difference that is known, and shown by doctor.
fn self_test_of_counting(driver: &Driver) {
    let mut runner = open(driver, 60).unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let cases = self_test::run(&mut runner, &catalogue).unwrap();
    assert_eq!(cases.len(), self_test::parts(&catalogue).count());
    for case in cases {
        assert!(case.blocks_compared > 0, "{}", case.name);
        let known = driver.family == "swiftshader" && case.name == "elect_loop";
        if known {
            assert_eq!(case.differences.len(), 1, "{:?}", case.differences);
            assert!(case.differences[0].contains("128 executions with 512 lanes"));
        } else {
            assert!(case.differences.is_empty(), "{}: {:?}", case.name, case.differences);
        }
    }
}

/// Histograms are taken in another way than executions and lanes, and say the same.
fn histograms(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let simulator = format!("sim:{}", driver.width);
    let arguments = [
        "five_patterns",
        "--no-timing",
        "--histogram",
        "--device",
        &driver.device(),
        "--device",
        &simulator,
        "-a",
        "n=2048",
        "-a",
        "form=sealed",
    ];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for measurement in &run.measurements {
        check_against_model(measurement);
        for block in &measurement.dispatches[0].blocks {
            let histogram = block.histogram.as_ref().unwrap();
            assert_eq!(histogram.len() as u64, u64::from(driver.width));
            assert_eq!(histogram.iter().sum::<u64>(), block.executions.0);
            let lanes: u64 =
                (1..).zip(histogram).map(|(lanes, executions)| lanes * executions).sum();
            assert_eq!(lanes, block.lanes.0);
        }
    }
    for row in lanescope::analyze::agreements(&run) {
        assert!(row.agreement.histograms_compared >= 8);
        assert_eq!(row.agreement.differences, [], "{}", row.kernel);
    }
}

/// Two dispatches over shared buffers: the first works out how many workgroups the second has.
fn indirect_launch() -> Launch {
    let source = "@group(0) @binding(0) var<storage, read_write> grid: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(1)
fn prepare() {
    grid[0] = 5u;
    grid[1] = 1u;
    grid[2] = 1u;
}
@compute @workgroup_size(64)
fn work(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x % 2u == 0u) {
        output[id.x] = id.x + 1u;
    }
}";
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("self_test/if_else").unwrap();
    let mut launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
    launch.kernel = "test/indirect".to_owned();
    launch.file = "indirect.wgsl".to_owned();
    launch.source = source.to_owned();
    let mut grid = launch.buffers[0].clone();
    grid.name = "grid".to_owned();
    grid.size = 16;
    grid.output = false;
    launch.buffers.push(grid);
    let dispatch = |entry_point: &str, workgroups| lanescope::kernel::Dispatch {
        entry_point: entry_point.to_owned(),
        workgroups,
        native: None,
        overrides: BTreeMap::new(),
        setup: false,
    };
    launch.dispatches = vec![
        dispatch("prepare", Workgroups::Direct([1, 1, 1])),
        dispatch("work", Workgroups::Indirect { buffer: "grid".to_owned(), offset: 0 }),
    ];
    launch
}

/// Derived counts of every kernel that promises agreement are those that the simulator counts at
/// each execution, outputs too.
fn derived(driver: &Driver) {
    let mut device = open(driver, 60).unwrap();
    let width = lanescope::units::Width::new(driver.width).unwrap();
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let catalogue = Catalogue::embedded().unwrap();
    let mut compared = 0;
    for kernel in catalogue.kernels() {
        // The other families have checks of their own.
        let family = kernel.id.split('/').next().unwrap_or_default();
        if !["five_patterns", "hot_loops", "self_test"].contains(&family) {
            continue;
        }
        let defaults = kernel.defaults(DeviceClass::Quick);
        let mut chosen = BTreeMap::new();
        if defaults.contains_key("n") {
            chosen.insert("n".to_owned(), Value::Integer(300));
        }
        let launch = kernel.launch(DeviceClass::Quick, &chosen, SEED).unwrap();
        let on_device = device.count_once(&launch, &CountRequest::once(Method::Derived)).unwrap();
        let simulated =
            simulator.count_once(&launch, &CountRequest::once(Method::Executed)).unwrap();
        assert_eq!(on_device.method, Method::Derived);
        // Call sites are told apart on simulators alone.
        let counts = |counted: &Counted| {
            let dispatches = counted.dispatches.iter();
            dispatches
                .map(|dispatch| (dispatch.workgroups, dispatch.counts.clone()))
                .collect::<Vec<_>>()
        };
        assert!(counts(&on_device) == counts(&simulated), "{}: other counts", launch.kernel);
        compared += 1;
    }
    assert!(compared > 20, "only {compared} kernels");
}

/// Executions of each block of both dispatches, on the device and on the simulator: 5 workgroups of 64,
/// of which every other lane takes the arm.
fn indirect(driver: &Driver) {
    let launch = indirect_launch();
    let options = CountRequest::once(Method::Executed);
    let mut device = open(driver, 60).unwrap();
    let width = lanescope::units::Width::new(driver.width).unwrap();
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let timing = TimeOptions {
        budget: Duration::from_secs(1),
        samples_min: 3,
        noise_ratio_max: 1.0,
        counting: None,
    };
    let counted = [device.count_once(&launch, &options), simulator.count_once(&launch, &options)];
    for counted in counted.map(Result::unwrap) {
        let counts: Vec<Vec<(u64, u64)>> = counted
            .dispatches
            .iter()
            .map(|d| d.counts.iter().map(|count| (count.executions.0, count.lanes.0)).collect())
            .collect();
        let subgroups = u64::from(5 * 64 / driver.width);
        assert_eq!(counts[0], [(1, 1)]);
        assert_eq!(counts[1][0], (subgroups, 320));
        assert_eq!(counts[1][1], (subgroups, 160));
    }
    let timed = device.time(&[launch], &timing, &mut |_| {});
    let timed = timed[0].as_ref().unwrap().as_ref().unwrap();
    assert!(timed.time.as_ref().unwrap().median_ns.0 > 0.0);
}

/// A launch that adds one to each element: right after any number of samples where it is begun anew
/// for each pass, wrong where it claims that it can be repeated.
fn begun_anew(driver: &Driver) {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("reduce/every_lane").unwrap();
    let mut launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
    launch.file = "add_one.wgsl".to_owned();
    launch.source = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] += 1u;
}"
    .to_owned();
    launch.buffers.retain(|buffer| buffer.name == "output");
    for dispatch in &mut launch.dispatches {
        dispatch.entry_point = "main".to_owned();
    }
    launch.repeatable = false;
    let repeated = Launch { repeatable: true, ..launch.clone() };
    let timing = TimeOptions {
        budget: Duration::from_secs(1),
        samples_min: 3,
        noise_ratio_max: 1.0,
        counting: None,
    };
    let mut device = open(driver, 60).unwrap();
    let timed = device.time(&[launch, repeated], &timing, &mut |_| {});
    let timed: Vec<_> = timed.into_iter().map(|timed| timed.unwrap().unwrap()).collect();
    assert!(timed.iter().all(|timed| timed.time.as_ref().unwrap().samples.len() >= 3));
    assert_eq!(timed[0].checked.output, Output::Verified, "{:?}", timed[0].checked);
    assert_eq!(timed[1].checked.output, Output::Mismatch);
}

/// A driver that reports 32 lanes and runs 16 is flagged in the record, and doctor exits with 4.
fn misreported_width(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let arguments = ["uniform", "--no-timing", "--device", &driver.device(), "-a", "n=1024"];
    let (code, run, _) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0);
    let device = &run.devices[0];
    assert_eq!(device.subgroup_width_max.unwrap().lanes(), 32);
    assert_eq!(device.subgroup_width_run.unwrap().lanes(), 16);
    assert!(flag::has(&device.flags, &Tag::SubgroupWidthMisreported), "{device:?}");
    let output =
        program::run(&folder, &driver.environment(), &["doctor", "--device", &driver.device()]);
    let (code, stdout, _) = program::parts(&output);
    assert_eq!(code, 4, "{stdout}");
    assert!(stdout.contains("subgroup_width_misreported"), "{stdout}");
}

/// Without counting, launches are timed and checked, and no block is in the record.
fn times_alone(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let options = ["--no-counting", "--budget", "1", "-a", "n=1024"];
    let device = ["uniform", "--device", &driver.device()];
    let arguments = [&device[..], &options[..]].concat();
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(!run.measurements.is_empty());
    for measurement in &run.measurements {
        assert_eq!(measurement.output, Output::Verified, "{:?}", measurement.error);
        assert!(measurement.time.is_some() && measurement.efficiency_ratio.is_none());
        assert!(measurement.dispatches.iter().all(|dispatch| dispatch.blocks.is_empty()));
        assert_eq!(measurement.method, None);
    }
    let alone = ["run", "uniform", "--no-counting", "--device", "sim:32"];
    let output = program::run(&folder, &driver.environment(), &alone);
    let (code, _, stderr) = program::parts(&output);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("--no-counting leaves nothing to do on simulators"), "{stderr}");
}

/// Whoever asks for a device that is not there is told of this one, whichever way it is reached.
fn refused(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    for id in ["cuda:99", "wgpu:99", "sim:x"] {
        let arguments = ["run", "uniform", "--device", id];
        let output = program::run(&folder, &driver.environment(), &arguments);
        let (code, stdout, stderr) = program::parts(&output);
        assert_eq!((code, stdout.as_str()), (3, ""), "{id}: {stderr}");
        let line = format!("\n  {} ", driver.device());
        assert!(stderr.contains(&line), "{id}: {stderr}");
    }
}

/// What counts are worth, and where subgroups of 3D workgroups begin: as found here by hand.
fn doctor(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let device = driver.device();
    let command = ["doctor", "--device", &device];
    let (code, stdout, _) = program::parts(&program::run(&folder, &driver.environment(), &command));
    let passed = "counts: observed: the self-test passed";
    let (expected, trust, packed) = match driver.family {
        "lavapipe" => (0, passed, "a subgroup begins at each row along x"),
        "cuda" => (0, passed, "subgroups follow local_invocation_index"),
        // SwiftShader brings lanes together late after a loop, see `self_test_of_counting`.
        _ => (4, "counts: unknown: no passed self-test", "subgroups follow local_invocation_index"),
    };
    assert_eq!(code, expected, "{stdout}");
    assert!(stdout.contains(trust) && stdout.contains(packed), "{stdout}");
}

/// A buffer over what the CPU drivers bind fails its kernel with both figures, and makes no buffer.
fn too_large(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let arguments = ["uniform", "--device", &driver.device(), "-a", "n=1073741824"];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 5, "{stderr}");
    assert!(run.measurements.iter().all(|m| m.status == Status::Failed));
    let why = run.measurements[0].error.clone().unwrap();
    assert!(why.contains("has 4294967296 bytes; wgpu:0 binds at most"), "{why}");
}

/// Collects what a session hands over.
#[derive(Default)]
struct Collected {
    devices: usize,
    measurements: Vec<Measurement>,
}

impl Listener for Collected {
    fn device(&mut self, _: &lanescope::record::Device) {
        self.devices += 1;
    }
    fn progress(&mut self, _: &str, _: Phase, _: &Launch) {}
    fn measurement(&mut self, measurement: &Measurement, _: (&str, &lanescope::record::Source)) {
        self.measurements.push(measurement.clone());
    }
}

/// A launch that never ends.
fn endless() -> Launch {
    let source = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(4)
fn main() {
    loop {
        output[0] = output[0] + 1u;
        if (output[1] == 7u) { break; }
    }
}";
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("self_test/if_else").unwrap();
    let mut launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
    launch.kernel = "test/endless".to_owned();
    launch.file = "endless.wgsl".to_owned();
    launch.source = source.to_owned();
    launch.dispatches[0].workgroups = Workgroups::Direct([1, 1, 1]);
    launch
}

/// A dispatch that does not return is recorded as failed; the next launch runs in a fresh child.
fn endless_loop(driver: &Driver) {
    let catalogue = Catalogue::embedded().unwrap();
    let next = catalogue.kernel("self_test/if_else").unwrap();
    let next = next.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
    let groups = [vec![endless(), next]];
    let options = SessionOptions::counting(CountRequest::once(Method::Executed));
    let mut collected = Collected::default();
    let mut opened = 0;
    let mut fresh = || -> Result<Box<dyn Runner>, RunError> {
        opened += 1;
        Ok(Box::new(open(driver, 6)?))
    };
    let start: &mut Open<'_> = &mut fresh;
    run_device(start, &groups, &options, &mut collected).unwrap();
    assert_eq!(opened, 2, "the next launch needs a fresh child");
    let statuses: Vec<Status> = collected.measurements.iter().map(|m| m.status).collect();
    assert_eq!(statuses, [Status::Failed, Status::Ok]);
    let why = collected.measurements[0].error.clone().unwrap();
    assert!(why.contains("nothing was heard for 6 s"), "{why}");
    assert_eq!(collected.devices, 1);
}
