//! Tests of the simulator as a device: dispatches in a row, indirect ones, strict mode, limits.
//!
//! Input: launches made by hand. Output: counts worked out by hand, or errors of the right kind.

use super::*;
use crate::kernel::{Catalogue, DeviceClass, Dispatch, SEED};
use crate::record::Limit;

/// A launch of a shader with one buffer of so many words a name.
fn launch(source: &str, buffers: &[(&str, u64)], dispatches: &[(&str, Workgroups)]) -> Launch {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("self_test/if_else").unwrap();
    let mut launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
    launch.kernel = "test/launch".to_owned();
    launch.file = "launch.wgsl".to_owned();
    launch.source = source.to_owned();
    let output = launch.buffer("output").unwrap().clone();
    let buffer = |&(name, words): &(&str, u64)| crate::kernel::Buffer {
        name: name.to_owned(),
        size: words * 4,
        output: false,
        ..output.clone()
    };
    launch.buffers = buffers.iter().map(buffer).collect();
    let dispatch = |(entry_point, workgroups): &(&str, Workgroups)| Dispatch {
        entry_point: (*entry_point).to_owned(),
        workgroups: workgroups.clone(),
        native: None,
        overrides: BTreeMap::new(),
        setup: false,
    };
    launch.dispatches = dispatches.iter().map(dispatch).collect();
    launch.reference = None;
    launch.expected = BTreeMap::new();
    launch
}

fn runner(steps_max: u64) -> SimulatorRunner {
    SimulatorRunner::new(Width::new(8).unwrap(), steps_max)
}

fn count(runner: &mut SimulatorRunner, launch: &Launch) -> Result<Counted, RunError> {
    runner.count_once(launch, &CountRequest::once(Method::Executed).with_histogram())
}

#[test]
fn how_far_a_launch_is_can_be_asked() {
    let source = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) { output[id.x] = id.x; }";
    let dispatches = [("main", Workgroups::Direct([1024, 1, 1]))];
    let launch = launch(source, &[("output", 8192)], &dispatches);
    let mut runner = runner(1 << 20).schedule(Schedule::InOrder, Some(1));
    let progress = runner.progress().unwrap();
    assert_eq!(progress.share(), None);
    // The last workgroup is not told of: nothing comes after it.
    for _ in 0..2 {
        count(&mut runner, &launch).unwrap();
        assert_eq!(progress.share(), Some(1023.0 / 1024.0));
    }
}

const INDIRECT: &str = "
@group(0) @binding(0) var<storage, read_write> grid: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(1) fn prepare() {
    grid[1] = 3u; grid[2] = 2u; grid[3] = arrayLength(&grid) - 3u;
}
@compute @workgroup_size(12) fn work(@builtin(local_invocation_index) i: u32, @builtin(num_workgroups) n: vec3<u32>) {
    if i < n.x { output[i] = n.y; }
}";

fn indirect_launch(grid_words: u64, offset: u64) -> Launch {
    let grid = Workgroups::Indirect { buffer: "grid".to_owned(), offset };
    let dispatches = [("prepare", Workgroups::Direct([1, 1, 1])), ("work", grid)];
    launch(INDIRECT, &[("grid", grid_words), ("output", 12)], &dispatches)
}

#[test]
fn an_indirect_dispatch_reads_what_the_one_before_it_wrote() {
    let counted = count(&mut runner(STEPS_MAX), &indirect_launch(4, 4)).unwrap();
    assert_eq!(counted.dispatches[1].workgroups, Some([3, 2, 1]));
    let counts = &counted.dispatches[1].counts;
    let found: Vec<(u64, u64)> = counts.iter().map(|c| (c.executions.0, c.lanes.0)).collect();
    // Six workgroups of a full and a half subgroup; three lanes of each take the branch.
    assert_eq!(found[..2], [(12, 72), (6, 18)]);
    assert_eq!(counts[0].histogram.as_ref().unwrap(), &[0, 0, 0, 6, 0, 0, 0, 6]);
}

#[test]
fn an_indirect_dispatch_of_nothing_or_too_much_is_no_crash() {
    // The counts lie in words 0 to 2: 0, 3, 2.
    let counted = count(&mut runner(STEPS_MAX), &indirect_launch(4, 0)).unwrap();
    assert_eq!(counted.dispatches[1].workgroups, Some([0, 3, 2]));
    assert!(counted.dispatches[1].counts.iter().all(|count| count.executions.0 == 0));
    // 100,003 words make 100,000 workgroups along z.
    let refused = count(&mut runner(STEPS_MAX), &indirect_launch(100_003, 4)).unwrap_err();
    assert_eq!(refused.kind, RunErrorKind::Unsupported);
    assert!(refused.message.contains("3×2×100000") && refused.message.contains("65535"));
    let outside = count(&mut runner(STEPS_MAX), &indirect_launch(4, 8)).unwrap_err();
    assert_eq!(outside.kind, RunErrorKind::BadInput);
    assert!(outside.message.contains("`grid` does not hold three counts at byte 8"), "{outside}");
}

const WRONG: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    if i < 4u {
        workgroupBarrier();
    }
    output[i + 1u] = i;
}";

#[test]
fn strict_mode_fails_the_launch_that_is_flagged_otherwise() {
    let wrong = launch(WRONG, &[("output", 8)], &[("main", Workgroups::Direct([1, 1, 1]))]);
    let counted = count(&mut runner(STEPS_MAX), &wrong).unwrap();
    let flags = [Flag::at(Tag::WriteOutOfBounds, [6]), Flag::at(Tag::DivergentBarrier, [4])];
    assert_eq!(counted.flags, flags);
    let trap = count(&mut runner(STEPS_MAX).strict(true), &wrong).unwrap_err();
    assert_eq!(trap.kind, RunErrorKind::Trap);
    let told = "launch.wgsl:4: barrier in divergent control flow in workgroup 0, 0, 0";
    assert_eq!(trap.message, told);
}

/// A scan's edges are one word whatever their number, and strict mode runs it.
#[test]
fn shuffles_past_the_edge_are_told_once_and_fail_nothing() {
    let scan = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    var sum = i;
    for (var by = 1u; by < 4u; by *= 2u) {
        let other = subgroupShuffleUp(sum, by);
        if i % 4u >= by { sum += other; }
    }
    output[i] = sum +
        subgroupShuffleDown(sum, 1u);
}";
    let scan = launch(scan, &[("output", 8)], &[("main", Workgroups::Direct([1, 1, 1]))]);
    for strict in [false, true] {
        let counted = count(&mut runner(STEPS_MAX).strict(strict), &scan).unwrap();
        let flags = [Flag::at(Tag::EdgeSource, [5, 9])];
        assert_eq!(counted.flags, flags);
    }
}

#[test]
fn limits_are_named_with_the_option_that_raises_them() {
    let endless = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(8) fn main() {
    loop {
        if output[0] == 1u { break; }
    }
}";
    let dispatch = [("main", Workgroups::Direct([1, 1, 1]))];
    let endless = launch(endless, &[("output", 8)], &dispatch);
    let stopped = count(&mut runner(100_000), &endless).unwrap_err();
    assert_eq!(stopped.kind, RunErrorKind::StepLimit);
    let told = &stopped.message;
    assert!(told.starts_with("launch.wgsl:3: ") && told.contains("100000 operations"), "{told}");
    let limit = |which, value| Some(Limit { which, value });
    assert_eq!(stopped.limit, limit(LimitOf::Steps, 100_000));

    let large = launch(WRONG, &[("output", 1 << 20)], &dispatch);
    let refused = count(&mut runner(STEPS_MAX).memory_bytes_max(1 << 22), &large);
    assert!(refused.is_ok(), "exactly the limit");
    let refused = count(&mut runner(STEPS_MAX).memory_bytes_max((1 << 22) - 1), &large);
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind, RunErrorKind::Unsupported);
    assert!(refused.message.contains("4194304 bytes"), "{}", refused.message);
    assert_eq!(refused.limit, limit(LimitOf::MemoryBytes, (1 << 22) - 1));

    let wide = [("main", Workgroups::Direct([1, 65_536, 1]))];
    let refused = count(&mut runner(STEPS_MAX), &launch(WRONG, &[("output", 8)], &wide));
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind, RunErrorKind::Unsupported);
    assert!(refused.message.contains("1×65536×1") && refused.message.contains("65535"));
}

#[test]
fn a_texture_that_a_launch_lacks_is_named() {
    let source = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@group(0) @binding(1) var t: texture_2d<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    output[i] = textureLoad(t, vec2(i, 0u), 0).x;
}";
    let textured = launch(source, &[("output", 8)], &[("main", Workgroups::Direct([1, 1, 1]))]);
    let refused = count(&mut runner(STEPS_MAX), &textured).unwrap_err();
    assert_eq!(refused.kind, RunErrorKind::BadInput);
    assert!(refused.message.contains("describes no texture `t`"), "{refused}");
}

/// A launch of the catalogue on a simulator of a width, counted.
fn count_launch(
    kernel: &str,
    chosen: &[(&str, crate::record::Value)],
    width: Width,
) -> (Launch, Counted) {
    let catalogue = Catalogue::embedded().unwrap();
    let chosen = chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let kernel = catalogue.kernel(kernel).unwrap();
    let launch = kernel.launch(DeviceClass::Quick, &chosen, SEED).unwrap();
    let mut runner = SimulatorRunner::new(width, STEPS_MAX);
    let counted = count(&mut runner, &launch).unwrap();
    (launch, counted)
}

/// What the families `shuffle` and `vote` expect of their blocks is what is counted: exactly where
/// their descriptions give executions and lanes, and within what chance allows elsewhere.
#[test]
#[expect(clippy::cast_precision_loss, reason = "counts of small launches")]
fn collectives_have_the_lanes_that_they_expect() {
    use crate::record::{Output, Value};
    let number = |number: i64| Value::Integer(number);
    let word = |word: &str| Value::Name(word.to_owned());
    let points: Vec<(&str, Vec<(&str, Value)>)> = vec![
        ("shuffle/operations", vec![]),
        ("shuffle/operations", vec![("share", number(60)), ("n", number(8192))]),
        ("shuffle/operations", vec![("workgroup_size", number(100)), ("n", number(8000))]),
        ("shuffle/out_of_range", vec![]),
        ("shuffle/tiles", vec![("tile", number(4))]),
        ("shuffle/tiles", vec![("through", word("memory"))]),
        ("shuffle/match_any", vec![("values", number(2))]),
        ("shuffle/match_any", vec![("values", number(16))]),
        ("shuffle/match_any", vec![("by", word("bits"))]),
        ("vote/participation", vec![]),
        ("vote/semantics", vec![("workgroup_size", number(64))]),
        ("vote/early_exit", vec![("density", Value::Real(0.1)), ("branch", word("plain"))]),
        ("vote/early_exit", vec![("density", Value::Real(0.3)), ("cluster", number(1024))]),
    ];
    let mut compared = 0;
    for width in [8, 32, 64] {
        let width = Width::new(width).unwrap();
        for (kernel, chosen) in &points {
            let (launch, found) = count_launch(kernel, chosen, width);
            assert_eq!(found.checked.output, Output::Verified, "{:?}", found.checked);
            let program = &programs(&launch).unwrap()[0];
            for (block, counts) in program.blocks().iter().zip(&found.dispatches[0].counts) {
                let Some(label) = block.label.as_deref().filter(|_| counts.executions.0 > 0) else {
                    continue;
                };
                let (executions, lanes) = (counts.executions.0 as f64, counts.lanes.0 as f64);
                let expected = launch.active_lanes_mean_expected(label, width).unwrap().unwrap();
                let name = format!("{kernel} {chosen:?} W = {width} {label}");
                if let Some(exact) = launch.counts_expected(label, width).unwrap() {
                    assert_eq!((executions, lanes), exact, "{name}");
                }
                let mean = lanes / executions;
                assert!((mean / expected - 1.0).abs() < 0.06, "{name}: {mean}, not {expected}");
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}
