//! Records for tests: synthetic ones, and simulated ones.
//!
//! Input: nothing, or a shader. Output: a [`Run`] with four devices that look like a GPU, a CPU
//! driver and two simulators, and the five patterns in two forms, whose figures are made up by
//! formula; or a [`Run`] of a shader that the simulator counted.

mod sorting;

pub(crate) use sorting::sorting_sweep;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    kernel::{Buffer, Fill, Launch, ScalarType},
    record::{
        Backend, Block, BlockCode, Device, DeviceKind, Dispatch, Host, KernelNote, Measurement,
        Method, Output, Run, RuntimeChecks, SCHEMA, Sample, SampleState, Source, Status, Time,
        Tool, Value,
    },
    run::profile::{ProfileRequest, prepare},
    run::{CountRequest, Runner, measure, simulator::SimulatorRunner, what_if},
    statistics,
    units::{BlockId, COUNTING_RULE, Executions, Lanes, Nanoseconds, Ratio, Width},
};

/// A synthetic source, the same for every kernel but for its first line.
const SOURCE: &str = "\
@group(0) @binding(0) var<storage, read_write> values: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var v = values[id.x];
    for (var i = 0u; i < TRIPS; i++) {
        v = fma(v, a, b); // <synthetic>
    }
    values[id.x] = v;
}
";

/// A pattern: name, relative work of the loop, and the mean active lanes of its block at a width.
type Pattern = (&'static str, f64, fn(f64) -> f64);

/// The patterns.
pub(crate) const PATTERNS: [Pattern; 5] = [
    ("uniform", 512.0, |w| w),
    ("branch_by_lane", 512.0, |w| w / 2.0),
    ("branch_by_quad", 256.0, |w| w / 4.0),
    ("early_exit", 512.0, |w| w * 0.5 / (1.0 - 0.5f64.powf(w))),
    ("indirect_branch", 256.0, |w| w * 0.25 / (1.0 - 0.75f64.powf(w))),
];

/// Returns a device; `width` is what it runs.
fn device(id: &str, kind: DeviceKind, name: &str, backend: Backend, width: u32) -> Device {
    let width = Width::new(width).ok();
    let simulator = kind == DeviceKind::Simulator;
    Device {
        name: name.to_owned(),
        vendor: if simulator { "lanescope" } else { "Synthetic" }.to_owned(),
        driver: if simulator { "0.1.0" } else { "Synthetic 580.159.04" }.to_owned(),
        cpu_driver: name.starts_with("llvmpipe"),
        subgroup_width_min: width,
        subgroup_width_max: width,
        subgroup_width_run: width,
        lane_is_local_index_mod_width: Some(true),
        timestamp_period_ns: (!simulator).then_some(1.0),
        timestamp_quantum_ns: (!simulator).then_some(Nanoseconds(32.0)),
        peak_fma_per_s: (!simulator).then_some(if name.starts_with("llvmpipe") {
            5.0e9
        } else {
            3.3e13
        }),
        copy_bytes_per_s: (!simulator).then_some(4.2e12),
        fma_fused: Some(!name.starts_with("llvmpipe")),
        loop_limit: name.starts_with("llvmpipe").then_some(65_535),
        ..Device::unmeasured(id, kind, backend)
    }
}

/// Rounds a figure that is known not to be negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up figures")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Returns a block; its histogram has all its executions at the rounded mean.
fn block(id: u32, line: u32, operations: u64, executions: f64, mean: f64, width: u32) -> Block {
    let mut histogram = vec![0; width as usize];
    let executions = whole(executions);
    #[expect(clippy::cast_precision_loss, reason = "made-up figures")]
    let lanes = whole(executions as f64 * mean);
    let bin = usize::try_from(whole(mean)).expect("a width").clamp(1, histogram.len()) - 1;
    histogram[bin] = executions;
    let code = BlockCode {
        id: BlockId(id),
        label: (line == 8).then(|| "body".to_owned()),
        file: "synthetic.wgsl".to_owned(),
        line,
        column: 5,
        operations,
        fma_operations: Some(u64::from(line == 8)),
        lines: BTreeMap::from([(line, operations)]),
        flow: None,
    };
    Block {
        code: Arc::new(code),
        executions: Executions(executions),
        lanes: Lanes(lanes),
        histogram: Some(histogram),
        parts: None,
        active_lanes_mean_expected: None,
    }
}

/// Returns the counts of one pattern at `width` for `n` invocations.
fn dispatch(work: f64, mean: fn(f64) -> f64, width: u32, n: f64, skew: f64) -> Dispatch {
    let w = f64::from(width);
    let subgroups = n / w;
    let mean_exact = mean(w);
    // The loop's lanes are the same at every width; its executions follow from the mean.
    let mut body = block(1, 8, 4, subgroups * work * (w / mean_exact), mean_exact * skew, width);
    body.active_lanes_mean_expected = Some(mean_exact);
    let blocks =
        vec![block(0, 6, 6, subgroups, w, width), body, block(2, 10, 3, subgroups, w, width)];
    Dispatch {
        entry_point: "main".to_owned(),
        workgroups: Some([4096, 1, 1]),
        workgroup_size: [256, 1, 1],
        setup: false,
        median_ns: None,
        ci95_ns: None,
        blocks,
        calls: Vec::new(),
        line_counts: Vec::new(),
        machine_code: None,
    }
}

/// Returns 40 rounds of samples about `median_ns`, with a scatter of about 0.3 %.
pub(crate) fn time(median_ns: f64, offset: u64) -> Time {
    let mut begin = 1_000_000 + offset;
    let samples: Vec<Sample> = (0..40u32)
        .map(|round| {
            let wobble = f64::from(round * 7919 % 13) / 13.0 - 0.5;
            let ticks_begin = begin;
            let ticks_end = begin + whole(median_ns * (1.0 + 0.006 * wobble));
            begin += 10_000_000;
            Sample { round, ticks_begin, ticks_end, state: SampleState::Ok }
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "made-up figures")]
    let times: Vec<f64> =
        samples.iter().map(|sample| (sample.ticks_end - sample.ticks_begin) as f64).collect();
    let interval = statistics::median_interval(&times, 0).expect("samples");
    Time {
        median_ns: Nanoseconds(statistics::median(&times).expect("samples")),
        ci95_ns: [Nanoseconds(interval.low), Nanoseconds(interval.high)],
        noise_ratio: statistics::noise(&times).unwrap_or(Ratio(0.0)),
        dispatches_per_sample: 1,
        dispatches_before_sample: Some(1),
        stop_rule_met: true,
        samples,
    }
}

/// Returns one pattern's measurement on a device.
fn measurement(device: &Device, pattern: usize, form: &str, n: u32) -> Measurement {
    let (name, work, mean) = PATTERNS[pattern];
    let width = device.subgroup_width_run.expect("set above");
    let skew = if pattern == 3 { 1.01 } else { 1.0 };
    let dispatch = dispatch(work, mean, width.lanes(), f64::from(n), skew);
    let executions: u64 =
        dispatch.blocks.iter().map(|block| block.operations * block.executions.0).sum();
    let lanes: u64 = dispatch.blocks.iter().map(|block| block.operations * block.lanes.0).sum();
    let active = Ratio::divide(lanes, executions).map(|ratio| ratio.0);
    // About 22.7 µs for the uniform kernel of the GPU; the published form is folded away.
    #[expect(clippy::cast_precision_loss, reason = "made-up figures")]
    let cost = executions as f64 * f64::from(width.lanes()) / f64::from(1u32 << 20) / 2057.0;
    let folded = form == "published" && pattern > 1;
    let slow = if device.cpu_driver { 20_000.0 } else { 1.0 };
    let median = 22_700.0 * slow * if folded { 0.33 } else { cost };
    Measurement {
        device: device.id.clone(),
        kernel: format!("five_patterns/{name}"),
        parameters: BTreeMap::from([
            ("form".to_owned(), Value::Name(form.to_owned())),
            ("n".to_owned(), Value::Integer(i64::from(n))),
        ]),
        seed: 1,
        for_widths: false,
        status: Status::Ok,
        error: None,
        error_kind: None,
        limit: None,
        subgroup_width: Some(width),
        runtime_checks: RuntimeChecks {
            timed: false,
            counted: false,
            workgroup_memory_zeroed: false,
        },
        output: Output::Verified,
        source_sha256: format!("{pattern:064x}"),
        inputs_sha256: BTreeMap::new(),
        time_unchecked: None,
        time_counting: None,
        method: Some(Method::Executed),
        trust: None,
        answer_ns: None,
        trace: None,
        active_lanes_mean: active,
        efficiency_ratio: active.map(|lanes| Ratio(lanes / f64::from(width.lanes()))),
        dispatches: vec![dispatch],
        schedules: Vec::new(),
        seeds: None,
        shapes: None,
        what_if: None,
        memory: None,
        made_up: Vec::new(),
        time: (device.kind != DeviceKind::Simulator).then(|| time(median, pattern as u64 * 50_000)),
        bytes_moved_min: None,
        outputs_shown: BTreeMap::new(),
        counters: Vec::new(),
        counters_missing: Vec::new(),
        counters_from: None,
        flags: Vec::new(),
    }
}

/// Returns a kernel's name with a note that says what it is compared with.
pub(crate) fn compared(kernel: &str, baseline: &str) -> (String, KernelNote) {
    let note = KernelNote { baseline: Some(baseline.to_owned()), ..KernelNote::default() };
    (kernel.to_owned(), note)
}

/// Returns the synthetic run, each pattern compared with the uniform one.
pub(crate) fn compared_run() -> Run {
    let mut run = run();
    let note =
        |(name, ..): &Pattern| compared(&format!("five_patterns/{name}"), "five_patterns/uniform");
    run.kernels = PATTERNS.iter().map(note).collect();
    run
}

/// Gives a run the notes that the catalogue has of its kernels.
pub(crate) fn noted(mut run: Run) -> Run {
    run.kernels.clear();
    let catalogue = crate::kernel::Catalogue::embedded().unwrap_or_else(|error| panic!("{error}"));
    catalogue.annotate(&mut run);
    run
}

/// Returns the synthetic run.
pub(crate) fn run() -> Run {
    let devices = vec![
        device("wgpu:0", DeviceKind::Wgpu, "NVIDIA H200", Backend::Vulkan, 32),
        device("wgpu:1", DeviceKind::Wgpu, "llvmpipe (LLVM 15.0.6, 256 bits)", Backend::Vulkan, 8),
        device("sim:8", DeviceKind::Simulator, "SIMT simulator", Backend::Interpreter, 8),
        device("sim:32", DeviceKind::Simulator, "SIMT simulator", Backend::Interpreter, 32),
        device("sim:64", DeviceKind::Simulator, "SIMT simulator", Backend::Interpreter, 64),
    ];
    let mut measurements = Vec::new();
    for device in &devices {
        let n = if device.cpu_driver || device.kind == DeviceKind::Simulator { 16 } else { 20 };
        for form in ["sealed", "published"] {
            for pattern in 0..PATTERNS.len() {
                measurements.push(measurement(device, pattern, form, 1 << n));
            }
        }
    }
    let mut failed = measurements[0].clone();
    failed.kernel = "five_patterns/never_ends".to_owned();
    failed.status = Status::Failed;
    failed.error = Some("no answer within its time limit of 10 s; <device lost>".to_owned());
    failed.output = Output::Unchecked;
    failed.dispatches.clear();
    failed.time = None;
    failed.active_lanes_mean = None;
    failed.efficiency_ratio = None;
    measurements.push(failed);
    let sources = (0..PATTERNS.len())
        .map(|pattern| {
            let text = format!("// {} (synthetic)\n{SOURCE}", PATTERNS[pattern].0);
            (format!("{pattern:064x}"), Source { file: "synthetic.wgsl".to_owned(), text })
        })
        .collect();
    Run {
        schema: SCHEMA,
        counting_rule: COUNTING_RULE,
        tool: Tool {
            name: "lanescope".to_owned(),
            version: "0.0.0-synthetic".to_owned(),
            git_sha: Some("0123456789abcdef".to_owned()),
            git_dirty: Some(true),
        },
        started_utc: "2000-01-01T00:00:00Z".to_owned(),
        argv: vec!["run".to_owned(), "five_patterns".to_owned()],
        host: Host {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            logical_cpus: 2,
            environment: BTreeMap::new(),
        },
        devices,
        measurements,
        kernels: BTreeMap::new(),
        sources,
    }
}

/// A shader with one of everything that advice is about; `table` holds 0, 7, 14 … or random words.
pub(crate) const DEMO: &str = "\
// Sums a table by several detours.
@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

fn mixed(word: u32) -> u32 {
    return (word ^ (word >> 7u)) * 0x9e3779b9u;
}

@compute @workgroup_size(80)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let word = table[id.x];
    var sum = 0u;
    if lane % 2u == 0u {
        sum = mixed(word);
    } else {
        sum = mixed(word + 1u) ^ 5u;
    }
    switch word % 4u {
        case 0u: { sum += mixed(sum); }
        case 1u: { sum ^= mixed(sum); }
        case 2u: { sum -= mixed(sum); }
        default: { sum *= 3u; }
    }
    for (var i = 0u; i < word % 16u; i++) {
        sum = mixed(sum) + i; // <trips> & more
    }
    if word % 5u == 0u {
        return;
    }
    for (var i = 0u; i < 8u; i++) {
        sum += mixed(sum);
    }
    sums[id.x] = sum;
}
";

/// Counts a shader on simulators of these widths. It may bind `table`, read only, filled as given,
/// and `sums`, both of 4096 words.
pub(crate) fn simulated(source: &str, fill: Fill, workgroups: u32, widths: &[u32]) -> Run {
    let buffer = |name: &str, fill: Fill| Buffer {
        name: name.to_owned(),
        size: 4096 * 4,
        fill,
        scalar: ScalarType::U32,
        output: false,
    };
    let buffers = vec![buffer("table", fill), buffer("sums", Fill::Zero)];
    let launch = Launch {
        kernel: "shaders/demo.wgsl".to_owned(),
        parameters: BTreeMap::from([("n".to_owned(), Value::Integer(4096))]),
        ..Launch::of_shader("demo.wgsl", source, buffers, [workgroups, 1, 1])
    };
    simulated_launch(&launch, widths)
}

/// Counts a user's shader on simulators of these widths, with lanescope's own data and n elements, in so many
/// workgroups where the number is given.
pub(crate) fn profiled(source: &str, n: u64, workgroups: Option<u32>, widths: &[u32]) -> Run {
    simulated_launch(&user_launch(source, n, workgroups), widths)
}

/// What [`profiled`] counts, with every access to memory watched.
pub(crate) fn watched(source: &str, n: u64, widths: &[u32]) -> Run {
    let launch = user_launch(source, n, None);
    let mut run = simulated_launch(&launch, widths);
    for (measured, width) in run.measurements.iter_mut().zip(widths) {
        let simulator = SimulatorRunner::new(Width::new(*width).expect("a width"), 1 << 24);
        measured.memory = Some(simulator.watch_memory(&launch, 1, u64::MAX).expect("it runs"));
    }
    run
}

/// A user's shader with lanescope's own data.
fn user_launch(source: &str, n: u64, workgroups: Option<u32>) -> Launch {
    let request = ProfileRequest {
        file: "shader.wgsl".to_owned(),
        name: "shader".to_owned(),
        source: source.to_owned(),
        derived: None,
        description: None,
        entry_point: None,
        workgroups: workgroups.map(|count| [count, 1, 1]),
        n: Some(n),
        seed: 1,
    };
    prepare(&request, &mut |_| Err("no file".to_owned())).expect("a launch").launch
}

/// Counts a launch on simulators of these widths, and tries every change.
pub(crate) fn simulated_launch(launch: &Launch, widths: &[u32]) -> Run {
    let mut run = run();
    run.argv = vec!["profile".to_owned(), launch.kernel.clone()];
    run.devices.clear();
    run.measurements.clear();
    run.sources = BTreeMap::from([measure::source(launch)]);
    for width in widths {
        let width = Width::new(*width).expect("a width");
        let mut runner = SimulatorRunner::new(width, 1 << 24);
        let request = CountRequest::once(Method::Executed).with_histogram();
        let (counted, error) = match runner.count_once(launch, &request) {
            Ok(counted) => (Some(counted), None),
            Err(error) => (None, Some(error)),
        };
        let results = measure::Results { counted, error, ..measure::Results::default() };
        let device = runner.device().clone();
        let counted = results.counted.is_some();
        let mut measured = measure::measurement(&device, launch, results).expect("a record");
        let tried = || {
            what_if::try_changes(launch, width, 1 << 24, what_if::Budget::Everything)
                .expect("trials")
        };
        measured.what_if = counted.then(tried);
        run.measurements.push(measured);
        run.devices.push(device);
    }
    run
}

/// Words that look random: what [`DEMO`] diverges on.
pub(crate) fn random_words() -> Fill {
    Fill::Uniform { scalar: ScalarType::U32, low: 0.0, high: 65536.0 }
}

/// Returns what `lanescope profile` recorded of a shader on an H200, hardware counters included.
pub(crate) fn counters() -> Run {
    let packed = include_bytes!("fixtures/counters.json.xz");
    crate::store::decode(packed, std::path::Path::new("counters.json.xz")).expect("a record")
}
