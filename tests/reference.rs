//! The committed results: they load, they were made from clean commits, every output was right, the
//! counts are those of the simulator and of the input data. What pages say of them is generated
//! (`lab pages`).

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

mod records;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use lanescope::analyze;
use lanescope::program::COUNTING_RULE;
use lanescope::record::{
    AccessCost, Measurement, Output, PeerRow, Run, RunErrorKind, Status, Tag, Touching, Value, flag,
};

use crate::records::load;

const WITH_SIMULATOR: [&str; 6] = [
    "h100-vulkan/five_patterns-default",
    "h200-vulkan/five_patterns-histograms",
    "lavapipe-4/five_patterns-default",
    "lavapipe-8/five_patterns-default",
    "lavapipe-16/five_patterns-default",
    "swiftshader/five_patterns-default",
];

#[test]
fn every_committed_run_is_whole_and_from_a_clean_commit() {
    let files = records::files();
    assert!(files.len() >= 55, "{}", files.len());
    for name in files.keys() {
        let run = load(name);
        assert_eq!(run.tool.git_dirty, Some(false), "{name}");
        assert!(run.tool.git_sha.is_some() && !run.measurements.is_empty(), "{name}");
        for measurement in &run.measurements {
            // An interpreter of machine code refuses by name what it does not know, and gives no figure of it.
            let of_radv = measurement.device.starts_with("radv:");
            if of_radv && measurement.error_kind == Some(RunErrorKind::Unsupported) {
                assert!(measurement.dispatches.iter().all(|dispatch| dispatch.blocks.is_empty()));
                assert!(measurement.error.is_some(), "{name}: {}", measurement.kernel);
                continue;
            }
            assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
            // The hot loops have no reference, nor have the self-test's kernels: it is their counts that are right.
            let of_none = ["hot_loops/", "self_test/"];
            let checked = !of_none.iter().any(|family| measurement.kernel.starts_with(family));
            let expected = if checked { Output::Verified } else { Output::Unchecked };
            assert_eq!(measurement.output, expected, "{name}: {:?}", measurement.error);
        }
    }
}

/// A figure of an older rule must not pass for one of today's: what is older has times alone.
#[test]
fn no_record_has_counts_of_an_older_counting_rule() {
    let mut times_alone = 0;
    for name in records::files().into_keys() {
        let run = load(&name);
        if run.counting_rule == COUNTING_RULE {
            continue;
        }
        times_alone += 1;
        for measurement in &run.measurements {
            let what = format!("{name}: {}", measurement.kernel);
            assert_eq!(measurement.active_lanes_mean, None, "{what}");
            assert!(measurement.dispatches.iter().all(|d| d.blocks.is_empty()), "{what}");
            assert!(measurement.time.is_some(), "{what}");
        }
    }
    assert!(times_alone > 0, "where none is left, this test has nothing to hold");
}

#[test]
fn every_device_counts_what_the_simulator_counts() {
    for name in WITH_SIMULATOR {
        let run = load(name);
        let rows = analyze::agreements(&run);
        let is_pattern = |kernel: &str| kernel.starts_with("five_patterns/");
        let measured = run.measurements.iter();
        let devices = measured.filter(|m| m.device.starts_with("wgpu") && is_pattern(&m.kernel));
        let devices = devices.count();
        assert!(devices >= 5, "{name}");
        let twins = rows.iter().filter(|row| is_pattern(&row.kernel)).count();
        assert_eq!(twins, devices, "{name}: each measurement of the patterns has its twin");
        for row in rows {
            let least = if is_pattern(&row.kernel) { 8 } else { 4 };
            assert!(row.agreement.blocks_compared >= least, "{name} {}", row.kernel);
            assert_eq!(row.agreement.differences, [], "{name} {}", row.kernel);
        }
    }
}

/// Through CUDA and through Vulkan; the hot loops have no reference.
#[test]
fn cuda_counts_what_the_simulator_counts() {
    let run = load("h200-cuda-vulkan/five_patterns-hot_loops");
    assert_eq!((run.tool.git_dirty, run.tool.git_sha.is_some()), (Some(false), true));
    let count = |device: &str| run.measurements.iter().filter(|m| m.device == device).count();
    assert_eq!([count("cuda:0"), count("wgpu:0"), count("sim:32")], [21; 3]);
    for measurement in &run.measurements {
        assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.error);
        let checked = measurement.kernel.starts_with("five_patterns/");
        let expected = if checked { Output::Verified } else { Output::Unchecked };
        assert_eq!(measurement.output, expected, "{}", measurement.kernel);
        let time = measurement.time.as_ref();
        assert_eq!(time.is_some(), measurement.device != "sim:32");
        assert!(time.is_none_or(|time| time.stop_rule_met), "{}", measurement.kernel);
    }
    let rows = analyze::agreements(&run);
    assert_eq!(rows.len(), 42);
    for row in &rows {
        // Its rays end where a float falls below a bound: a step more or less for a few of them.
        let rounded = row.kernel == "hot_loops/raymarch";
        let differences = row.agreement.differences.iter();
        let apart = differences.map(|difference| {
            let (Some(left), Some(right)) = (difference.left, difference.right) else {
                return f64::MAX;
            };
            (left as f64 / right as f64 - 1.0).abs()
        });
        let most = apart.fold(0.0, f64::max);
        assert!(most <= if rounded { 1e-4 } else { 0.0 }, "{} {}: {most}", row.label, row.kernel);
    }
}

/// The family of grain on a GPU, through both interfaces: its counts are the simulator's, which tests hold to
/// formulas.
#[test]
fn grain_counts_on_a_gpu_what_the_simulator_counts() {
    let run = load("h100-cuda-vulkan/grain-all");
    let rows = analyze::agreements(&run);
    assert_eq!(rows.len(), 20, "the points that the simulator ran at the same size");
    for row in &rows {
        assert!(row.agreement.blocks_compared >= 4, "{} {}", row.label, row.kernel);
        assert_eq!(row.agreement.differences, [], "{} {}", row.label, row.kernel);
    }
    let points = run.measurements.iter().filter(|m| m.device != "sim:32");
    assert!(points.clone().all(|m| m.output == Output::Verified), "each output is right");
    let expected = points.flat_map(|m| &m.dispatches[0].blocks).filter_map(|block| {
        let lanes = block.lanes.0 as f64 / block.executions.0 as f64;
        block.active_lanes_mean_expected.map(|expected| lanes / expected)
    });
    let ratios: Vec<f64> = expected.collect();
    assert!(ratios.len() > 60, "{}", ratios.len());
    assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.03), "{ratios:?}");
}

/// By every instrument: counters of all that ran through CUDA, and times that differ by a tenth at most.
#[test]
fn the_sealed_patterns_take_as_long_through_cuda_as_through_vulkan() {
    let run = load("h200-cuda-vulkan/five_patterns-counters");
    assert_eq!((run.tool.git_dirty, run.tool.git_sha.is_some()), (Some(false), true));
    for measurement in &run.measurements {
        assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.error);
        // NVIDIA's names have two underscores; the simulator has figures of its own.
        let counters =
            measurement.counters.iter().filter(|counter| counter.name.contains("__")).count();
        let expected = if measurement.device == "cuda:0" { 28..40 } else { 0..1 };
        assert!(expected.contains(&counters), "{}: {counters}", measurement.kernel);
        assert_eq!(measurement.counters_missing, [""; 0], "{}", measurement.kernel);
    }
    for row in analyze::agreements(&run) {
        assert_eq!(row.agreement.differences, [], "{} {}", row.label, row.kernel);
    }
    let mut near = 0;
    for form in ["sealed", "published"] {
        for cuda in run.measurements.iter().filter(|measurement| measurement.device == "cuda:0") {
            let twin = |measurement: &&Measurement| {
                (&measurement.kernel, &measurement.parameters) == (&cuda.kernel, &cuda.parameters)
                    && measurement.device == "wgpu:0"
            };
            if cuda.parameters.get("form") != Some(&Value::Name(form.into())) {
                continue;
            }
            let time = |measurement: &Measurement| measurement.time.as_ref().unwrap().median_ns.0;
            let ratio = time(cuda) / time(run.measurements.iter().find(twin).unwrap());
            near += usize::from((ratio - 1.0).abs() < 0.1);
            assert_eq!((ratio - 1.0).abs() < 0.1, form == "sealed", "{} {ratio}", cuda.kernel);
        }
    }
    assert_eq!(near, 5);
}

/// What the counters say of the launch for which an article reports 1.5 active threads.
#[test]
fn the_machine_has_no_fewer_lanes_than_the_published_switch_can_have() {
    let run = load("h200-cuda-vulkan/five_patterns-counters");
    let wanted = |measurement: &&Measurement| {
        measurement.device == "cuda:0"
            && measurement.kernel == "five_patterns/indirect_branch"
            && measurement.parameters["form"] == Value::Name("published".into())
    };
    let found = run.measurements.iter().find(wanted).unwrap();
    let named =
        |name: &str| found.counters.iter().find(|counter| counter.name == name).unwrap().value;
    let threads = named("smsp__thread_inst_executed_per_inst_executed.ratio");
    let on = named("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio");
    assert!(found.active_lanes_mean.unwrap() > 8.0 && threads > on && on > 8.0);
}

/// A measurement of the uniform kernel, sealed, at a size.
fn uniform(run: &Run, n: i64) -> &Measurement {
    let wanted = |m: &&Measurement| {
        m.kernel == "five_patterns/uniform"
            && m.time.is_some()
            && m.parameters["n"] == Value::Integer(n)
            && m.parameters["form"] == Value::Name("sealed".into())
    };
    run.measurements.iter().find(wanted).unwrap()
}

#[test]
fn the_uniform_kernel_runs_near_the_peak_on_the_h200() {
    let run = load("h200-vulkan/five_patterns-sizes");
    let peak = run.devices[0].peak_fma_per_s.unwrap();
    for (n, times_at_most) in [(1_i64 << 20, 1.35), (1 << 24, 1.1)] {
        let time = uniform(&run, n).time.as_ref().unwrap();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let least_ns = (n * 512) as f64 / peak * 1e9;
        let times = time.median_ns.0 / least_ns;
        assert!(times > 1.0 && times <= times_at_most, "n = {n}: {times}");
        assert!(time.noise_ratio.0 < 0.01, "{:?}", time.noise_ratio);
    }
}

#[test]
fn the_compiler_removed_the_work_of_two_published_kernels() {
    let run = load("h100-vulkan/five_patterns-default");
    let summary = analyze::summary(&run);
    let rows = || summary.devices[0].rows.iter();
    let form = |row: &analyze::SummaryRow, name: &str| {
        row.parameters.get("form") == Some(&Value::Name(name.to_owned()))
    };
    let mut sealed = 0;
    for row in rows().filter(|row| form(row, "sealed")) {
        sealed += usize::from(matches!(row.time_ratio, analyze::TimeRatio::Measured(_)));
    }
    assert_eq!(sealed, 4);
    let removed: Vec<&str> = rows()
        .filter(|row| flag::has(&row.flags, &Tag::WorkRemovedByCompiler))
        .map(|row| row.kernel.as_str())
        .collect();
    assert_eq!(removed, ["five_patterns/branch_by_lane", "five_patterns/indirect_branch"]);
}

/// The run with hardware counters; `other/ncu` has what `ncu` printed of the same launches.
const COUNTERS: &str = "h100-cuda/five_patterns-counters";

/// What `ncu` printed of each launch, by the figure's name, in the order of the launches.
fn ncu() -> Vec<std::collections::BTreeMap<String, f64>> {
    let text = text("results/other/ncu/five_patterns.txt");
    let mut launches = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("sealed (") {
            launches.push(std::collections::BTreeMap::new());
        }
        let mut words = line.split_whitespace();
        let (Some(name), Some(last)) = (words.next(), words.next_back()) else { continue };
        if let (true, Ok(value)) = (name.contains("__"), last.replace(',', "").parse::<f64>()) {
            launches.last_mut().unwrap().insert(name.to_owned(), value);
        }
    }
    launches
}

/// The sealed patterns that ran through CUDA, in the order in which they ran.
fn through_cuda(run: &Run) -> Vec<&Measurement> {
    run.measurements.iter().filter(|m| m.device == "cuda:0").collect()
}

#[test]
fn instructions_and_lanes_are_those_that_ncu_prints_for_the_same_launches() {
    let run = load(COUNTERS);
    let (ours, theirs) = (through_cuda(&run), ncu());
    assert_eq!([ours.len(), theirs.len()], [5, 5]);
    for (ours, theirs) in ours.iter().zip(theirs) {
        let kernel = &ours.kernel;
        assert!(ours.counters_missing.is_empty(), "{kernel}: {:?}", ours.counters_missing);
        assert_eq!(ours.output, Output::Verified, "{kernel}");
        let counter = |name: &str| analyze::machine::counter(ours, name).unwrap();
        let [threads, on] = analyze::machine::threads_means(&ours.counters).unwrap();
        let pairs = [
            (threads, theirs["smsp__thread_inst_executed_per_inst_executed.ratio"]),
            (on, theirs["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"]),
            (
                counter("smsp__thread_inst_executed_per_inst_executed.ratio"),
                theirs["smsp__thread_inst_executed_per_inst_executed.ratio"],
            ),
            (counter("smsp__sass_inst_executed"), theirs["smsp__inst_executed.sum"]),
            (counter("smsp__inst_executed.sum"), theirs["smsp__inst_executed.sum"]),
        ];
        for (ours, theirs) in pairs {
            assert!((ours / theirs - 1.0).abs() < 0.01, "{kernel}: {ours}, ncu has {theirs}");
        }
    }
}

#[test]
fn the_machine_has_the_counted_lanes_on_each_line_of_the_hot_loop() {
    let run = load(COUNTERS);
    for measurement in through_cuda(&run) {
        let dispatch = &measurement.dispatches[0];
        let code = dispatch.machine_code.as_ref().unwrap();
        let lines = analyze::machine::lines(code);
        let all: u128 = lines.iter().map(|line| line.inst_executed).sum();
        let mut hot = 0;
        for line in lines.iter().filter(|line| line.inst_executed * 10 > all) {
            let number = line.line.unwrap();
            let lines = dispatch.lines();
            let counted = lines.iter().find(|line| line.line == number).unwrap();
            #[expect(clippy::cast_precision_loss, reason = "a mean of counts")]
            let counted = counted.lane_operations as f64 / counted.subgroup_operations as f64;
            let machine = line.threads_mean().unwrap();
            let kernel = &measurement.kernel;
            assert!(
                (machine / counted - 1.0).abs() < 0.001,
                "{kernel}, line {number}: {machine} lanes, counted {counted}"
            );
            hot += 1;
        }
        assert!(hot >= 1, "{}", measurement.kernel);
    }
}

/// A measurement of a kernel on a device with a value of one parameter.
fn find_measurement<'a>(
    run: &'a Run,
    device: &str,
    kernel: &str,
    parameter: &str,
    value: &Value,
) -> &'a Measurement {
    let wanted = |m: &&Measurement| {
        m.device == device && m.kernel == kernel && m.parameters[parameter] == *value
    };
    run.measurements.iter().find(wanted).unwrap()
}

fn named(value: &str) -> Value {
    Value::Name(value.to_owned())
}

#[test]
fn what_wgsl_cannot_say_holds_on_the_h100() {
    let run = load("h100-cuda/native-all");
    let native = |m: &&Measurement| flag::has(&m.flags, &Tag::NoWgslToCount);
    assert!(run.measurements.iter().filter(native).count() >= 25);
    for measurement in run.measurements.iter().filter(native) {
        // Nothing was counted, which is not zero.
        assert_eq!((measurement.active_lanes_mean, measurement.method), (None, None));
        assert!(measurement.dispatches.iter().all(|dispatch| dispatch.blocks.is_empty()));
    }
    let mut sizes = BTreeSet::new();
    for measurement in run.measurements.iter().filter(|m| m.kernel.starts_with("coalesced_group")) {
        assert_eq!(measurement.outputs_shown["subset"], [0.0], "the group was the whole branch");
        let published = measurement.parameters["form"] == named("published");
        let covered = measurement.outputs_shown["covered_by_size"].iter().zip(0_u32..);
        for (covered, size) in covered.filter(|(covered, _)| **covered != 0.0) {
            sizes.insert(size);
            // The largest power of two up to the size is what the published form takes along.
            let expected = if published { 1 << size.ilog2() } else { size };
            assert_eq!(covered.to_bits(), f64::from(expected).to_bits(), "of {size}");
        }
    }
    assert_eq!(sizes, (1..=32).collect());
    let refused =
        run.measurements.iter().filter(|m| flag::has(&m.flags, &Tag::CooperativeLaunchRefused));
    let refused: Vec<&Value> = refused.map(|m| &m.parameters["workgroups"]).collect();
    assert_eq!(refused, [&Value::Integer(65_536)]);
    // From lanes that have returned come zeros, whatever the mask names.
    for measurement in run.measurements.iter().filter(|m| m.kernel == "vote/after_return") {
        for (tail, sum) in (0_u32..).zip(&measurement.outputs_shown["sums"]) {
            assert_eq!(sum.to_bits(), f64::from(tail * (tail + 1) / 2).to_bits(), "of {tail}");
        }
    }
    for measurement in run.measurements.iter().filter(|m| m.kernel == "reconvergence/join") {
        assert!(
            measurement.outputs_shown["joined"].iter().all(|mask| *mask == f64::from(u32::MAX))
        );
    }
}

#[test]
fn one_lock_in_wgsl_comes_free_through_cuda_and_not_through_vulkan() {
    let run = load("h200-cuda-vulkan/reconvergence-one-warp");
    let kernel = "reconvergence/bounded_lock";
    for (form, holders) in [("after_loop", 16.0), ("inside_loop", 512.0)] {
        // What counts brings lanes together after the loop: on every device, one lane a subgroup.
        for device in ["sim:32", "wgpu:0", "cuda:0"] {
            let counted = find_measurement(&run, device, kernel, "form", &named(form));
            assert_eq!(
                counted.outputs_shown["got"].iter().sum::<f64>().to_bits(),
                f64::to_bits(holders)
            );
        }
    }
    // Without counters, the time says whether lanes polled to the limit.
    let time = |device: &str, form: &str| {
        find_measurement(&run, device, kernel, "form", &named(form))
            .time
            .as_ref()
            .unwrap()
            .median_ns
            .0
    };
    assert!(time("wgpu:0", "after_loop") > 100.0 * time("wgpu:0", "inside_loop"));
    assert!(time("cuda:0", "after_loop") < 2.0 * time("cuda:0", "inside_loop"));
    let lock =
        find_measurement(&run, "cuda:0", "reconvergence/spin_lock", "form", &named("after_loop"));
    assert!(lock.outputs_shown["guarded"].iter().all(|count| count.to_bits() == 32_f64.to_bits()));
}

/// A text file of the repository.
fn text(path: &str) -> String {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    if !path.ends_with(".xz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false).read_to_string(&mut text).unwrap();
    text
}

/// What the kernels ask for at the least: against CUB, cold, through Vulkan.
#[test]
fn reductions_and_scans_are_as_fast_as_asked_for_on_the_h200() {
    let path = "results/reference/nvidia-h200/peers.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let rows = lanescope::store::load_peers(&path).unwrap().rows;
    let asked = [
        ("reduce_f32", 28, 1.0),
        ("reduce_f32", 26, 1.0),
        ("reduce_f32", 24, 1.0),
        ("reduce_f32", 20, 1.0),
        ("reduce_f32", 16, 1.0),
        ("scan_u32", 28, 1.15),
        ("scan_u32", 26, 1.15),
        ("softmax_f32", 26, 1.0),
    ];
    for (work, pow2, ratio) in asked {
        let row = rows.iter().find(|row| {
            (row.work.as_str(), row.n, row.cold) == (work, 1 << pow2, true)
                && row.device == "NVIDIA H200"
        });
        let row = row.unwrap_or_else(|| panic!("{work} of 2^{pow2}"));
        assert!(row.speed_ratio >= ratio, "{work} of 2^{pow2}: {}", row.speed_ratio);
        if (work, pow2) == ("reduce_f32", 28) {
            let bytes_per_ns = 4.0 * 2f64.powi(28) / row.median_ns;
            assert!(bytes_per_ns >= 0.92 * 4800.0, "{bytes_per_ns} GB/s");
        }
    }
}

/// The rows of a file of peers.
fn peer_rows(path: &str) -> Vec<PeerRow> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    lanescope::store::load_peers(&path).unwrap().rows
}

#[test]
fn times_of_the_library_come_out_again_on_another_machine() {
    let gpus = ["nvidia-h100", "nvidia-h200"];
    let files = gpus.map(|gpu| peer_rows(&format!("results/reference/{gpu}/peers.json")));
    let first = files.concat();
    let second = peer_rows("results/other/lab/peers-second.json");
    assert!(second.len() >= 50, "{}", second.len());
    for again in second {
        let is_same = |row: &&PeerRow| {
            (&row.work, row.n, &row.peer, &row.device, row.cold)
                == (&again.work, again.n, &again.peer, &again.device, again.cold)
        };
        let row = first.iter().find(is_same).unwrap_or_else(|| panic!("{again:?}"));
        let change = again.median_ns / row.median_ns - 1.0;
        // Beside the crates, what takes some microseconds took up to a twentieth more or less of them; so do sorts and
        // compactions of few elements.
        let is_new = row.work.starts_with("sort_") || row.work == "compact_half";
        let few = (row.peer != "cub" && row.median_ns < 12_000.0) || (is_new && row.n == 1 << 16);
        let most = if few { 0.05 } else { 0.02 };
        assert!(change.abs() < most, "{} of {}: {change}", row.work, row.n);
    }
}

#[test]
fn sorts_of_up_to_a_million_keys_take_less_time_than_cubs_on_the_h100() {
    let rows = peer_rows("results/reference/nvidia-h100/peers.json");
    for work in ["sort_pairs_u32", "sort_keys_u32"] {
        for pow2 in [16, 20] {
            let is_cub = |row: &&PeerRow| {
                (row.work.as_str(), row.n, row.peer.as_str()) == (work, 1 << pow2, "cub")
            };
            let row = rows.iter().find(is_cub);
            let row = row.unwrap_or_else(|| panic!("{work} of 2^{pow2}"));
            assert!(row.speed_ratio > 1.15, "{work} of 2^{pow2}: {}", row.speed_ratio);
        }
    }
}

#[test]
fn sorts_of_keys_and_compactions_take_no_more_time_than_cubs_on_the_h200() {
    let rows = peer_rows("results/reference/nvidia-h200/peers.json");
    let mut compared = 0;
    for row in rows.iter().filter(|row| row.peer == "cub") {
        let least = match (row.work.as_str(), row.n.ilog2()) {
            ("sort_keys_u32", 24..) | ("compact_half", 17..) => 1.0,
            ("sort_keys_u32" | "sort_pairs_u32" | "compact_half", ..24) => 1.15,
            // Slower than CUB's: as it was found, so that it becomes no worse.
            ("sort_pairs_u32", 24..) => 0.83,
            _ => continue,
        };
        assert!(row.speed_ratio > least, "{} of {}: {}", row.work, row.n, row.speed_ratio);
        compared += 1;
    }
    assert!(compared >= 15, "{compared}");
}

#[test]
fn sorts_take_less_than_two_thirds_of_the_time_of_the_best_sort_for_wgpu_on_the_h100() {
    let rows = peer_rows("results/reference/nvidia-h100/peers.json");
    let mut compared = 0;
    for row in rows.iter().filter(|row| ["lampshade", "wgpu_sort"].contains(&row.peer.as_str())) {
        assert!(
            row.speed_ratio > 1.5,
            "{} of {} beside {}: {}",
            row.work,
            row.n,
            row.peer,
            row.speed_ratio
        );
        compared += usize::from(row.work == "sort_pairs_u32" && row.n == 1 << 26);
    }
    assert_eq!(compared, 2, "both crates at 2^26");
}

#[test]
fn a_thousand_look_back_runs_were_right_on_every_driver() {
    // lavapipe at three widths, SwiftShader, the H200: a paragraph each.
    let drivers =
        [("llvmpipe", 4), ("llvmpipe", 8), ("llvmpipe", 16), ("SwiftShader", 4), ("H200", 32)];
    let answers = text("results/other/tests/look-back.txt");
    let paragraphs: Vec<&str> = answers.trim_end().split("\n\n").collect();
    assert_eq!(paragraphs.len(), drivers.len(), "{answers}");
    for (said, (driver, width)) in paragraphs.into_iter().zip(drivers) {
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].contains(driver), "{said}");
        assert!(lines[0].ends_with(&format!("subgroups of {width} to {width} lanes")), "{said}");
        assert!(lines[1].starts_with("1000 runs of"), "{said}");
        assert!(lines.last().unwrap().ends_with("every run ended and was right"), "{said}");
    }
}

#[test]
fn masked_shuffles_compile_before_volta_and_matches_do_not() {
    let rows = text("results/other/cuda/without_gpu.csv");
    let mut seen = std::collections::BTreeMap::new();
    let is_outcome = |row: &&str| row.ends_with(",compiled") || row.ends_with(",refused");
    for row in rows.lines().filter(is_outcome) {
        let fields: Vec<&str> = row.split(',').collect();
        let [_, architecture, intrinsic, outcome] = fields[..] else { panic!("{row}") };
        let architecture: u32 = architecture.parse().unwrap();
        let from = match intrinsic {
            "__match_any_sync" => 70,
            "__reduce_add_sync" => 80,
            _ => 0,
        };
        assert_eq!(outcome == "compiled", architecture >= from, "{row}");
        seen.entry(intrinsic).or_insert_with(Vec::new).push(architecture);
    }
    assert_eq!(seen["__shfl_down_sync"].iter().min(), Some(&35));
    assert_eq!(seen.len(), 5);
}

/// What waves of 64 take over waves of 32 in passes was first found without zeroed workgroup memory: it comes out
/// again so, to the digit; with zeroing, as WGSL has it, it is less.
#[test]
fn ratios_of_passes_that_were_found_first_come_out_without_zeroed_memory() {
    let log = text("results/other/lab/wavefronts.txt.xz");
    let figure = |kernel: &str, memory: &str, place: &str, what: &str| {
        let start = format!("{kernel} of 37d097a, memory {memory}, radv:navi21/{place} {what} ");
        log.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{start}"))
    };
    let over = |kernel, memory, what| {
        let [wide, narrow] =
            ["64", "32"].map(|place| figure(kernel, memory, place, what).parse::<f64>().unwrap());
        format!("{:.2}", wide / narrow)
    };
    let found = [
        ("reduce/shuffle_down", "not zeroed", ["2.88", "3.39", "1.21"]),
        ("reduce/shuffle_down", "zeroed", ["2.60", "3.07", "1.14"]),
        ("scan/shuffle_up", "not zeroed", ["2.09", "2.19", "1.04"]),
        ("scan/shuffle_up", "zeroed", ["2.01", "2.11", "1.00"]),
    ];
    for (kernel, memory, expected) in found {
        let ratios =
            ["passes_min", "passes_max", "instructions"].map(|what| over(kernel, memory, what));
        assert_eq!(ratios, expected, "{kernel}, {memory}");
        // The texts of then and of today are one program.
        let same = figure(kernel, memory, "64", "code").ends_with("that of today's text");
        assert_eq!(same, memory == "zeroed", "{kernel}, {memory}");
    }
}

/// The part of the log of AMD's machine code that begins so.
fn part_of<'a>(log: &'a str, start: &str) -> &'a str {
    let mut parts = log.split("\n== ").map(|part| part.trim_start_matches("== "));
    parts.find(|part| part.starts_with(start)).unwrap_or_else(|| panic!("{start}"))
}

/// How many entry points came to what, at waves of 32 and of 64: `205 entry points: {"verified": 144}`.
fn came_to(part: &str) -> Vec<std::collections::BTreeMap<String, u64>> {
    let mut found = Vec::new();
    for line in part.lines() {
        if let Some((head, sums)) = line.split_once(": {")
            && (head.ends_with(" entry points") || head.ends_with(" files"))
        {
            found.push(serde_json::from_str(&format!("{{{sums}")).unwrap());
        }
    }
    assert_eq!(found.len(), 2, "{part}");
    found
}

/// What ran of AMD's machine code is as much as was asked for: today's catalogue and that of the commit at which it
/// was asked, the corpus and random programs, with the simulator's outputs; faults that nobody notices have a reason.
#[test]
fn as_much_of_amds_code_runs_as_was_asked_for() {
    let log = text("results/other/lab/wavefronts.txt.xz");
    let right = ["verified", "equal to the simulator's", "equal but for floats that lie close"];
    let entries = ["lab wavefronts entries\n", "lab wavefronts entries through Mesa 25.0.7"];
    for start in entries {
        for counts in came_to(part_of(&log, start)) {
            let known = |word: &String| {
                right.contains(&word.as_str()) || word == "decoded, never dispatched"
            };
            assert!(counts.keys().all(known), "{start}: {counts:?}");
            assert!(counts["verified"] >= 144, "{start}: {counts:?}");
        }
    }
    for (start, all, most) in [
        ("lab wavefronts shaders, of the shaders that lab/catalogue_of 37d097a", 255, 5),
        ("lab wavefronts shaders tests/wgsl", 84, 3),
    ] {
        for counts in came_to(part_of(&log, start)) {
            let refused = ["refused", "not launched"].iter().filter_map(|word| counts.get(*word));
            let refused: u64 = refused.sum();
            assert!(counts.values().sum::<u64>() >= all, "{start}: {counts:?}");
            assert!(refused <= most && !counts.contains_key("different"), "{start}: {counts:?}");
        }
    }
    let alike = "outputs of 2000 are the simulator's bit for bit, 0 differ, 0 refused";
    assert_eq!(part_of(&log, "lab wavefronts random").matches(alike).count(), 2);
    let close = part_of(&log, "lab wavefronts floats");
    let none_differs =
        |line: &&str| line.starts_with("2000 programs of floats") && line.ends_with(", 0 are not");
    assert_eq!(close.lines().filter(none_differs).count(), 2, "{close}");
    let faults = part_of(&log, "lab wavefronts faults");
    let missed: Vec<&str> =
        faults.lines().filter(|line| line.contains(": not noticed by ")).collect();
    assert!(missed.iter().all(|line| line.contains("; ")), "without a reason: {missed:#?}");
    let mut sums: Vec<usize> = Vec::new();
    for line in faults.lines().filter(|line| line.contains(" opcodes with results, ")) {
        let unnoticed = line.strip_suffix(" not").and_then(|line| line.rsplit(' ').next());
        sums.push(unnoticed.unwrap().parse().unwrap());
    }
    assert!(sums.len() == 2 && sums.iter().all(|sum| *sum <= 17), "{sums:?}");
    assert_eq!(sums.iter().sum::<usize>(), missed.len());
}

/// How fast AMD's machine code is executed, what it adds to the main job on two cores, how long a profile takes.
#[test]
fn amds_code_is_executed_as_fast_as_was_asked_for() {
    let log = text("results/other/lab/wavefronts.txt.xz");
    let mut rates = 0;
    for line in part_of(&log, "lab wavefronts speed").lines() {
        if let Some(rate) = line.strip_suffix(" million wave instructions a CPU second") {
            let rate: f64 = rate.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(rate >= 10.0, "{line}");
            rates += 1;
        }
    }
    assert!(rates >= 14, "{rates} rates");
    // One launch takes less time on two cores than on one.
    let threads = part_of(&log, "RAYON_NUM_THREADS=1 and 2");
    let wall = |count: u32| -> Vec<f64> {
        let start = format!("threads {count}: ");
        let rows = threads.lines().filter_map(|line| line.strip_prefix(&start));
        rows.map(|row| row.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let (one, two) = (wall(1), wall(2));
    assert!(one.len() == 2 && two.len() == 2);
    assert!(one.iter().all(|one| two.iter().all(|two| two * 1.2 < *one)), "{one:?} {two:?}");
    let times = part_of(&log, "time lanescope profile");
    let of_wall =
        |line: &str| line.strip_prefix("real\t0m")?.strip_suffix('s')?.parse::<f64>().ok();
    let seconds: Vec<f64> = times.lines().filter_map(of_wall).collect();
    assert!(seconds.len() == 2 && seconds.iter().all(|time| *time < 3.0), "{seconds:?}");
    let times = text("results/other/lab/times.txt");
    let (_, adds) = times.split_once("What AMD's machine code adds to the main job").unwrap();
    let wall = |program: &str| -> f64 {
        let row = adds.lines().find_map(|line| line.strip_prefix(&format!("| {program} | ")));
        row.unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let added = wall("lanescope") - wall("lanescope --device sim:32,64");
    assert!(added > 0.0 && added < 5.0, "{added} s");
}

/// Two versions of Mesa compiled the same kernels, all that the catalogue has in WGSL. In both codes all lanes are on
/// where arms are selects; of a loop that lanes leave, passes are those that were found first.
#[test]
fn two_versions_of_mesa_compiled_the_same_kernels() {
    let runs =
        [("Mesa 22.3.6", "navi21/catalogue-quick"), ("Mesa 25.0.7", "navi21/catalogue-mesa-25")];
    let [older, newer] = runs.map(|(version, name)| {
        let run = load(name);
        let drivers = run.devices.iter().map(|device| device.driver.as_str());
        assert_eq!(drivers.filter(|driver| driver.contains(version)).count(), 2, "{name}");
        run
    });
    let kernels = |run: &Run| -> BTreeSet<String> {
        run.measurements.iter().map(|measurement| measurement.kernel.clone()).collect()
    };
    assert_eq!(kernels(&older), kernels(&newer));
    assert!(kernels(&older).len() >= 105);
    let counter = |run: &Run, kernel: &str, width: u32, name: &str| {
        let device = format!("radv:navi21/{width}");
        let mut all = run.measurements.iter();
        let found = all.find(|found| found.kernel == kernel && found.device == device).unwrap();
        analyze::machine::counter(found, name).unwrap()
    };
    for (run, width) in [(&older, 32), (&older, 64), (&newer, 32), (&newer, 64)] {
        let of_machine = |name: &str| counter(run, "hot_loops/state_machine", width, name);
        let mean = of_machine("valu_lanes") / of_machine("valu_instructions");
        assert!((mean - f64::from(width)).abs() < 1e-9, "{mean} of {width}");
    }
    let ratio = |name: &str| {
        let [wide, narrow] =
            [64, 32].map(|width| counter(&older, "hot_loops/mandelbrot", width, name));
        format!("{:.2}", wide / narrow)
    };
    assert_eq!(["valu_passes_min", "valu_passes_max"].map(ratio), ["1.00", "1.42"]);
}

/// What the times of kernels whose answer is known come from: on the H200, branches of lanes that part,
/// memory, and neither; on the H100, whose memory is slower, a copy's too.
#[test]
fn what_a_known_time_comes_from_is_told() {
    use analyze::TimeVerdict::{Arithmetic, IdleLanes, Memory, Neither};
    let verdicts = |record: &str, kernel: &str, chosen: &dyn Fn(&Measurement) -> bool| {
        let run = load(record);
        let mine = |measurement: &&Measurement| {
            measurement.kernel == kernel
                && measurement.device == "wgpu:0"
                && measurement.time.is_some()
                && chosen(measurement)
        };
        let verdict = |measurement: &Measurement| {
            analyze::explain(&run, measurement).map(|time| time.verdict)
        };
        let found: Vec<_> = run.measurements.iter().filter(mine).map(verdict).collect();
        assert!(!found.is_empty(), "{kernel}");
        found
    };
    let form = |name: &'static str| {
        move |measurement: &Measurement| {
            measurement.parameters.get("form") == Some(&Value::Name(name.to_owned()))
        }
    };
    let at = |name: &'static str, most: i64| {
        move |measurement: &Measurement| match measurement.parameters.get(name) {
            Some(Value::Integer(value)) if most > 0 => *value <= most,
            Some(Value::Integer(value)) => *value >= -most,
            _ => false,
        }
    };
    let patterns = "h100-vulkan/five_patterns-default";
    for kernel in ["branch_by_lane", "branch_by_quad", "early_exit", "indirect_branch"] {
        let kernel = format!("five_patterns/{kernel}");
        let found = verdicts(patterns, &kernel, &form("sealed"));
        assert!(found.iter().all(|verdict| *verdict == Some(IdleLanes)), "{kernel}: {found:?}");
    }
    let uniform = verdicts(patterns, "five_patterns/uniform", &form("sealed"));
    assert!(uniform.iter().all(|verdict| *verdict == Some(Arithmetic)), "{uniform:?}");
    // Where the compiler removed the work, nothing is said of the time.
    let removed = verdicts(patterns, "five_patterns/branch_by_lane", &form("published"));
    assert!(removed.iter().all(Option::is_none), "{removed:?}");
    let occupancy = "h200-vulkan/occupancy-all";
    let neighbours = verdicts(occupancy, "occupancy/strided", &at("stride", 1));
    assert!(neighbours.iter().all(|verdict| *verdict == Some(Memory)), "{neighbours:?}");
    let latency = verdicts(occupancy, "occupancy/latency_hiding", &|_| true);
    assert!(latency.iter().all(|verdict| *verdict == Some(Neither)), "{latency:?}");
    let copy = verdicts("h100-vulkan/claims-all", "masked/copy", &at("stride", 1));
    assert!(copy.iter().all(|verdict| *verdict == Some(Memory)), "{copy:?}");
    let scan = verdicts("h200-vulkan/scan-sizes", "scan/device", &at("n", -67_108_864));
    assert!(scan.iter().all(|verdict| *verdict == Some(Memory)), "{scan:?}");
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn a_device_of_32_lanes_takes_what_is_predicted_and_does_not_care_beyond_runs_of_32() {
    let run = load("h200-cuda-vulkan/grain-run_lengths");
    for device in ["wgpu:0", "cuda:0"] {
        let timed = run.measurements.iter().filter(|measurement| measurement.device == device);
        let rows = timed.map(|measurement| {
            let Some(Value::Integer(length)) = measurement.parameters.get("run") else {
                panic!("{:?}", measurement.parameters)
            };
            let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
            let operations: u64 = blocks.map(|block| block.operations * block.executions.0).sum();
            (*length, (measurement.time.as_ref().unwrap().median_ns.0, operations as f64))
        });
        let rows: std::collections::BTreeMap<i64, (f64, f64)> = rows.collect();
        let lengths: Vec<i64> = rows.keys().copied().collect();
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 64, 128], "{device}");
        let over_128 = |length: i64| {
            let ((time, operations), (time_128, operations_128)) = (rows[&length], rows[&128]);
            (time / time_128, operations / operations_128)
        };
        for length in lengths {
            let (time, predicted) = over_128(length);
            assert!((time / predicted - 1.0).abs() < 0.05, "{device} {length}: {time} {predicted}");
            let alike = if length < 32 { over_128(1).0 } else { 1.0 };
            assert!((time / alike - 1.0).abs() < 0.005, "{device} {length}: {time}, {alike}");
        }
    }
}

/// Sectors of the model of memory are NVIDIA's, and its passes but for the zeros that workgroup memory begins with; of kernels
/// without atomic operations, whose look-back depends on the schedule.
#[test]
fn the_model_of_memory_is_what_nvidia_counts() {
    let runs = ["h100-cuda/reduce-traffic", "simulator/reduce-memory"].map(load);
    let rows = analyze::traffic_beside_counters(&analyze::merge(&runs).unwrap());
    let plain = |kernel: &str| !["reduce/device", "scan/device"].contains(&kernel);
    let within = |ratio: f64| (ratio - 1.0).abs() <= 0.02;
    let mut held = 0;
    for row in rows.iter().filter(|row| plain(&row.kernel) && row.modelled > 0) {
        let ratio = row.ratio().unwrap();
        match row.what {
            "passes written" => assert!((1.0..1.3).contains(&ratio), "{row:?}"),
            "passes read" => assert!(ratio <= 1.0 && ratio > 0.93, "{row:?}"),
            _ => assert!(within(ratio), "{row:?}"),
        }
        held += usize::from(within(ratio));
    }
    assert!(held >= 40, "{held} of {}", rows.len());
}

/// Accesses of a launch's dispatches that do not only make ready, each with the text of its line.
fn watched<'a>(run: &'a Run, kernel: &str) -> Vec<(&'a str, &'a AccessCost)> {
    let is_watched = |found: &&Measurement| found.kernel == kernel && found.memory.is_some();
    let measured = run.measurements.iter().find(is_watched).unwrap();
    let lines: Vec<&str> = run.sources[&measured.source_sha256].text.lines().collect();
    let memory = measured.memory.as_ref().unwrap();
    let dispatches = measured.dispatches.iter().zip(&memory.dispatches);
    let accesses = dispatches
        .filter(|(dispatch, _)| !dispatch.setup)
        .flat_map(|(_, seen)| seen.accesses.iter());
    accesses.map(|access| (lines[usize::try_from(access.line).unwrap() - 1], access)).collect()
}

/// Why a GPU's passes and sectors are not all the model's: a load of a vector takes a pass more, an atomic load is a load, and
/// a length that the source loads in each turn of a loop is loaded once.
#[test]
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn what_the_model_of_memory_leaves_out_is_in_the_machine_code() {
    const PASSES_READ: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    let counted = load("h100-cuda/memory-traffic");
    let mut held = 0;
    for measured in &counted.measurements {
        // In other kernels whole subgroups come to a load that a predicate turns off for all their lanes.
        let plain = ["moe/", "sort/", "sparse/map_compact"];
        let loads = analyze::machine::operation_count(measured, "LDS");
        if loads == 0 || !plain.iter().any(|start| measured.kernel.starts_with(start)) {
            continue;
        }
        let vectors = ["LDS.64", "LDS.128"]
            .map(|load| analyze::machine::operation_count(measured, load))
            .iter()
            .sum::<u64>();
        let passes = analyze::machine::counter(measured, PASSES_READ).unwrap();
        let ratio = passes / (loads + vectors) as f64;
        assert!(
            (ratio - 1.0).abs() < 0.002,
            "{} {:?}: {ratio}",
            measured.kernel,
            measured.parameters
        );
        held += 1;
    }
    assert!(held >= 14, "{held} launches");
    let both = analyze::merge(&[counted, load("simulator/memory-traffic")]).unwrap();
    let rows = analyze::traffic_beside_counters(&both);
    let more = |kernel: &str, what: &str| {
        let row = rows.iter().find(|row| row.kernel == kernel && row.what == what).unwrap();
        row.counted - row.modelled as f64
    };
    let atomic_loads = watched(&both, "sparse/attention_compact")
        .into_iter()
        .filter(|(text, access)| access.does == Touching::Atomic && text.contains("atomicLoad("))
        .filter_map(|(_, access)| access.passes)
        .map(|passes| passes.taken)
        .sum::<u64>();
    let beyond = more("sparse/attention_compact", "passes read");
    assert!(atomic_loads > 0 && (beyond - atomic_loads as f64).abs() < 0.5, "{beyond}");
    for kernel in ["attention_queries", "attention_ordered", "attention_separate"] {
        let kernel = format!("sparse/{kernel}");
        let lengths = watched(&both, &kernel)
            .into_iter()
            .filter(|(_, access)| {
                access.does == Touching::Load && access.buffer.as_deref() == Some("lengths")
            })
            .filter_map(|(_, access)| access.sectors)
            .map(|sectors| sectors.taken)
            .sum::<u64>();
        let share = -more(&kernel, "sectors read") / lengths as f64;
        assert!(share > 0.9 && share < 1.0, "{kernel}: {share}");
    }
}
