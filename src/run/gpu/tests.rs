//! What is done with launches on any GPU, on one that is not there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::fake::{FakeGpu, STAMP_NS, STEP_NS, WIDTH, content, runner};
use super::{GpuRunner, Stamps};
use crate::kernel::generate::Fill;
use crate::kernel::{Buffer, Catalogue, DeviceClass, Dispatch, Launch, SEED, Workgroups};
use crate::layout::ScalarType;
use crate::record::{Method, Output, Packing, SampleState, Tag, Value};
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountRequest, RunErrorKind, Runner as _, TimeOptions, self_test, simulator};
use crate::units::Width;

/// Two counts are made ready, and added to what is there by a dispatch whose grid a third works out:
/// it cannot be repeated on what it left behind.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> grid: array<u32>;
@compute @workgroup_size(16)
fn start(@builtin(global_invocation_id) id: vec3<u32>) { sums[id.x] = 100u; }
@compute @workgroup_size(1)
fn plan() { grid[0] = table[0]; grid[1] = 1u; grid[2] = 1u; }
@compute @workgroup_size(16)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var turn = 0u; turn <= id.x % 3u; turn++) { sums[id.x] += table[id.x]; }
}";

/// Workgroups that the launch works out.
const PLANNED: u32 = 3;

fn launch() -> Launch {
    let buffer = |name: &str, fill: Fill| Buffer {
        name: name.to_owned(),
        size: 64 * 4,
        fill,
        scalar: ScalarType::U32,
        output: name == "sums",
    };
    let direct = |count: u32| Workgroups::Direct([count, 1, 1]);
    let indirect = Workgroups::Indirect { buffer: "grid".to_owned(), offset: 0 };
    let dispatch = |entry_point: &str, workgroups, setup| Dispatch {
        entry_point: entry_point.to_owned(),
        workgroups,
        native: None,
        overrides: BTreeMap::new(),
        setup,
    };
    let buffers = vec![
        buffer("table", Fill::Words(vec![PLANNED; 64])),
        buffer("sums", Fill::Words(vec![7; 64])),
        buffer("grid", Fill::Zero),
    ];
    Launch {
        kernel: "tests/three".to_owned(),
        dispatches: vec![
            dispatch("start", direct(2), true),
            dispatch("plan", direct(1), false),
            dispatch("add", indirect, false),
        ],
        repeatable: false,
        trusted: true,
        ..Launch::of_shader("three.wgsl", SHADER, buffers, [1; 3])
    }
}

fn options() -> TimeOptions {
    TimeOptions { budget: Duration::ZERO, samples_min: 2, noise_ratio_max: 0.01, counting: None }
}

#[test]
fn a_timer_that_the_machine_s_clock_contradicts_gives_no_time() {
    let mut device = runner(true);
    let launch = Launch { repeatable: true, ..launch() };
    let mut timed = || {
        let mut times = device.time(std::slice::from_ref(&launch), &options(), &mut |_| {});
        // From here on it tells far less than passes.
        device.gpu.lies_from.set(Some(0));
        times.remove(0).unwrap().unwrap()
    };
    assert!(timed().time.is_some());
    let contradicted = timed();
    assert_eq!((contradicted.time, contradicted.dispatches.len()), (None, 0));
    assert_eq!(contradicted.flags, [Tag::TimerContradicted.into()]);
}

#[test]
fn a_sample_that_tells_more_than_passed_does_not_count_and_is_told() {
    let mut device = runner(true);
    let launch = Launch { repeatable: true, ..launch() };
    let several = TimeOptions { budget: Duration::from_secs(60), samples_min: 8, ..options() };
    let mut timed = |leaps_at: u32| {
        let played = device.gpu.played();
        device.gpu.leaps_at.set(Some(played + leaps_at));
        device.gpu.take_log();
        let mut times = device.time(std::slice::from_ref(&launch), &several, &mut |_| {});
        let log = device.gpu.take_log();
        let samples = log.iter().filter(|line| line.starts_with("timing tests/three:")).count();
        (times.remove(0).unwrap().unwrap(), u32::try_from(samples).unwrap())
    };
    let (sound, count) = timed(0);
    let sound_time = sound.time.unwrap();
    assert_eq!((sound.flags, sound_time.samples.len()), (Vec::new(), 8));
    // The third of those that count, behind those that find how often the launch is repeated.
    let (leaping, _) = timed(count - 5);
    let time = leaping.time.unwrap();
    assert_eq!(leaping.flags, [Tag::TimerContradicted.into()]);
    assert_eq!((time.median_ns, time.samples.len()), (sound_time.median_ns, 9));
    let states: Vec<SampleState> = time.samples.iter().map(|sample| sample.state).collect();
    let expected =
        |index: usize| if index == 2 { SampleState::Impossible } else { SampleState::Ok };
    assert_eq!(states, (0..9).map(expected).collect::<Vec<_>>());
    assert_eq!(leaping.dispatches, sound.dispatches);
}

/// What takes 50 virtual milliseconds and more.
const LONG: &str = "
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var turn = 0u; turn < 40000u; turn++) { sums[id.x] += turn; }
}";

#[test]
fn a_timer_that_tells_far_less_of_the_same_launch_is_contradicted() {
    let buffer = launch().buffers.remove(1);
    let launch = Launch::of_shader("long.wgsl", LONG, vec![buffer], [1; 3]);
    let mut device = runner(true);
    let mut timed = |lies_after: Option<u32>| {
        let lies_from = lies_after.map(|number| device.gpu.played() + number);
        device.gpu.lies_from.set(lies_from);
        let mut times = device.time(std::slice::from_ref(&launch), &options(), &mut |_| {});
        times.remove(0).unwrap().unwrap()
    };
    let sound = timed(None);
    assert!(sound.time.is_some_and(|time| time.median_ns.0 > 5e7) && sound.flags.is_empty());
    // The first sample is right, and says what the others leave out.
    let contradicted = timed(Some(2));
    assert_eq!(contradicted.time, None);
    assert_eq!(contradicted.flags, [Tag::TimerContradicted.into()]);
}

/// What stands in `sums` after one run of the launch from the start.
fn sums() -> Vec<u32> {
    let first = |index: u32| if index < 32 { 100 } else { 7 };
    let added = |index: u32| if index < 16 * PLANNED { PLANNED * (1 + index % 3) } else { 0 };
    (0..64).map(|index| first(index) + added(index)).collect()
}

#[test]
fn a_device_is_probed_by_running_kernels() {
    let device = runner(true).device;
    assert_eq!(device.subgroup_width_run, Width::new(WIDTH).ok());
    assert_eq!(device.lane_is_local_index_mod_width, Some(true));
    assert_eq!(device.packing, Some(Packing::Linear));
    assert_eq!((device.fma_fused, device.loop_limit), (Some(true), None));
    assert!(device.timestamp_quantum_ns.is_some() && device.peak_fma_per_s.is_some());
    assert!(device.copy_bytes_per_s.is_some());
    assert!(device.flags.is_empty(), "{:?}", device.flags);
}

#[test]
fn every_method_counts_what_the_simulator_counts_and_twice_the_same() {
    let launch = launch();
    let mut device = runner(false);
    let mut model = SimulatorRunner::new(Width::new(WIDTH).unwrap(), simulator::STEPS_MAX);
    let once = CountRequest::once;
    let exact = once(Method::Executed).with_histogram();
    let expected = model.count_once(&launch, &exact).unwrap();
    let methods = [Method::Executed, Method::Derived, Method::Estimated];
    for request in methods.map(once).into_iter().chain([exact]) {
        device.gpu.take_log();
        let mut heard = 0;
        let counted = device.count(&launch, &request.with_runs(2), &mut || heard += 1).unwrap();
        assert_eq!(counted.len(), 2);
        assert_eq!(counted[0], counted[1], "{request:?}");
        // Before each of three dispatches is compiled, and before it runs, twice.
        assert_eq!(heard, 9, "{request:?}");
        assert_eq!(counted[0].outputs_sha256, expected.outputs_sha256, "{request:?}");
        assert_eq!(counted[0].dispatches[2].workgroups, None);
        for (found, model) in counted[0].dispatches.iter().zip(&expected.dispatches) {
            for (found, model) in found.counts.iter().zip(&model.counts) {
                assert_eq!(found.lanes, model.lanes, "{request:?}");
                // Estimates are at most what is executed.
                match request.method {
                    Method::Estimated => assert!(found.executions <= model.executions),
                    Method::Executed | Method::Derived => {
                        assert_eq!(found.executions, model.executions)
                    }
                }
                if request.histogram {
                    assert_eq!(found.histogram, model.histogram);
                }
            }
        }
        let grids: Vec<String> =
            device.gpu.take_log().into_iter().filter(|line| line.contains(": add")).collect();
        assert_eq!(grids, ["counting tests/three: add 3×1×1"; 2]);
    }
}

#[test]
fn the_self_test_s_launches_come_out_right() {
    let catalogue = Catalogue::embedded().unwrap();
    for case in self_test::run(&mut runner(false), &catalogue).unwrap() {
        assert!(case.differences.is_empty(), "{}: {:?}", case.name, case.differences);
    }
}

#[test]
fn a_launch_that_cannot_be_repeated_begins_anew_in_every_sample() {
    let launch = launch();
    let mut device = runner(false);
    device.gpu.take_log();
    let prepared = device.prepare(&launch, None).unwrap();
    // Its grid was found by running it, and its buffers filled again; then it was set up, its first
    // contents were kept, and it ran once for those who compile only then.
    let log = device.gpu.take_log();
    let doing: Vec<&str> = log.iter().map(|line| line.split(':').next().unwrap()).collect();
    let made = ["make table", "make sums", "make grid"];
    let compiled = ["compile start", "compile plan", "compile add"];
    let grids = ["finding the grids of tests/three"; 3];
    let kept = ["setting up tests/three", "make grid", "make sums"];
    let ran = ["running tests/three before it is timed"; 2];
    assert_eq!(doing, [&made[..], &compiled, &grids, &kept, &ran].concat());
    assert_eq!(content(&prepared.buffers["sums"]), sums());

    let mut heard = Vec::new();
    let times =
        device.time(std::slice::from_ref(&launch), &options(), &mut |index| heard.push(index));
    let timed = times.into_iter().next().unwrap().unwrap().unwrap();
    assert!(!heard.is_empty() && heard.iter().all(|index| *index == 0));
    assert_eq!(timed.checked.output, Output::Unchecked);
    let log = device.gpu.take_log();
    let samples = |stamps: Stamps| {
        log.iter().filter(move |line| line.ends_with(&format!("{stamps:?}"))).count()
    };
    assert!(samples(Stamps::Around) >= 3 && samples(Stamps::Between) >= 24, "{log:?}");
    // The launch's own time and those of its dispatches, of which setting up has none.
    let time = timed.time.as_ref().unwrap();
    let [None, Some(plan), Some(add)] = timed.dispatches[..] else { panic!("{timed:?}") };
    for dispatch in [plan, add] {
        let [low, high] = dispatch.ci95_ns;
        assert!(low <= dispatch.median_ns && dispatch.median_ns <= high, "{dispatch:?}");
    }
    let (plan, add) = (plan.median_ns.0, add.median_ns.0);
    // What a timestamp costs is taken off as far as it is more than the launch's own has.
    #[expect(clippy::cast_precision_loss, reason = "test data")]
    let (step, stamp) = (STEP_NS as f64, STAMP_NS as f64);
    assert!((plan + add - time.median_ns.0).abs() <= stamp, "{plan} {add} {:?}", time.median_ns);
    assert!(add > plan && plan >= step, "{plan} {add}");
}

#[test]
fn what_only_is_read_stays_on_the_device_from_launch_to_launch() {
    let launch = launch();
    let device = runner(false);
    let made = |device: &GpuRunner<FakeGpu>, launch: &Launch| {
        device.gpu.take_log();
        device.prepare(launch, None).unwrap();
        device.gpu.take_log().contains(&"make table".to_owned())
    };
    assert!(made(&device, &launch));
    assert!(!made(&device, &launch));
    let other = Launch { seed: 2, ..launch.clone() };
    assert!(made(&device, &other));
    device.forget_inputs();
    assert!(made(&device, &other));
}

#[test]
fn a_lost_device_is_not_used_again() {
    let mut device = runner(false);
    device.gpu.lost_at.set(Some(1));
    device.gpu.take_log();
    let launches = [launch(), launch(), launch()];
    let times = device.time(&launches, &options(), &mut |_| {});
    let kinds: Vec<RunErrorKind> =
        times.iter().map(|time| time.as_ref().unwrap_err().kind).collect();
    use RunErrorKind::{DeviceLost, Interrupted};
    assert_eq!(kinds, [DeviceLost, Interrupted, Interrupted]);
    let log = device.gpu.take_log();
    assert_eq!(log.iter().filter(|line| line.starts_with("timing")).count(), 1, "{log:?}");
}

#[test]
fn a_refused_cooperative_launch_has_no_times_and_is_no_failure() {
    let mut device = runner(false);
    device.gpu.resident_max.set(Some(2));
    // As a kernel in another language would, it has a grid of its own.
    let mut launch = launch();
    launch.dispatches.truncate(2);
    launch.dispatches[1].workgroups = Workgroups::Direct([3, 1, 1]);
    let times = device.time(&[launch], &options(), &mut |_| {});
    assert!(matches!(times[..], [Ok(None)]), "{times:?}");
}

#[test]
fn what_the_device_cannot_hold_is_refused_before_a_buffer_is_made() {
    let device = runner(false);
    let refusal = |change: &dyn Fn(&mut Launch)| {
        let mut launch = launch();
        change(&mut launch);
        device.gpu.take_log();
        let error = device.prepare(&launch, None).err().unwrap();
        assert_eq!(error.kind, RunErrorKind::Unsupported);
        assert!(device.gpu.take_log().is_empty());
        error.message
    };
    let message = refusal(&|launch| launch.buffers[1].size = 2 << 20);
    assert!(message.starts_with("buffer `sums` has 2097152 bytes; fake:0 binds at most 1048576"));
    // Each would fit.
    let message = refusal(&|launch| {
        let large = Buffer { size: 1 << 20, ..launch.buffers[1].clone() };
        launch.buffers.extend(std::iter::repeat_n(large, 16));
    });
    let needed = "tests/three needs 16777984 bytes of buffers; fake:0 has 16777216";
    assert!(message.starts_with(needed), "{message}");
    let message = refusal(&|launch| {
        launch.dispatches[1].workgroups = Workgroups::Direct([1, 65, 1]);
    });
    assert_eq!(message, "`plan` has 1×65×1 workgroups; fake:0 takes at most 64×64×64");
    // A grid that is read back is looked at too.
    let mut launch = launch();
    launch.buffers[0].fill = Fill::Words(vec![65]);
    let error = device.prepare(&launch, None).err().unwrap();
    assert!(error.message.contains("`add` has 65×1×1 workgroups"), "{}", error.message);
}

#[test]
fn kernels_of_the_catalogue_are_timed_and_verified() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.select("uniform").unwrap()[0];
    let n = BTreeMap::from([("n".to_owned(), Value::Integer(1024))]);
    let launch = kernel.launch(DeviceClass::Quick, &n, SEED).unwrap();
    let times = runner(false).time(&[launch], &options(), &mut |_| {});
    let timed = times.into_iter().next().unwrap().unwrap().unwrap();
    assert_eq!(timed.checked.output, Output::Verified);
    assert!(timed.time.is_some() && timed.dispatches.is_empty());
}

#[test]
fn what_is_announced_is_compiled_once_before_it_is_counted_and_timed_launches_together() {
    let mut device = runner(false);
    let launches = [launch(), Launch { kernel: "tests/same".to_owned(), ..launch() }];
    let request = CountRequest::once(Method::Executed);
    let unannounced: Vec<_> =
        launches.iter().map(|launch| device.count_once(launch, &request).unwrap()).collect();
    let list = Arc::new(Mutex::new(Vec::new()));
    device.gpu.compiled_ahead = Some(Arc::clone(&list));
    device.announce(&launches.each_ref(), &request);
    let taken = || std::mem::take(&mut *list.lock().unwrap());
    for (launch, expected) in launches.iter().zip(unannounced) {
        assert_eq!(device.count_once(launch, &request).unwrap(), expected);
    }
    let twice = |how: &str| {
        let points = ["add", "add", "plan", "plan", "start", "start"];
        points.map(|point| format!("{how} {point}"))
    };
    assert_eq!(taken(), twice("counting"));
    // One that was not announced is compiled where it is counted.
    device.count_once(&launches[0], &request).unwrap();
    assert!(taken().is_empty());
    for timed in device.time(&launches, &options(), &mut |_| {}) {
        assert!(timed.unwrap().unwrap().time.is_some());
    }
    assert_eq!(taken(), twice("plain"));
}
