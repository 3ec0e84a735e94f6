//! Tests of profiles, on what the simulator counted.

use super::*;
use crate::{
    analyze::Work,
    fixtures::{self, DEMO, random_words, simulated},
    kernel::Fill,
};

#[test]
fn lines_stand_by_waste_and_sum_to_the_whole() {
    let run = simulated(DEMO, random_words(), 32, &[8, 32]);
    let profiles = profiles(&run);
    assert_eq!(profiles.len(), 1, "one shader, two devices");
    assert_eq!(profiles[0].text.as_deref(), Some(DEMO));
    assert_eq!(profiles[0].devices.len(), 2);
    for (device, measurement) in profiles[0].devices.iter().zip(&run.measurements) {
        let wasted: Vec<f64> =
            device.lines.iter().map(|line| line.wasted.expect("known")).collect();
        assert!(wasted.is_sorted_by(|a, b| a >= b) && wasted[0] > 0.0, "{wasted:?}");
        let shares: f64 = device.lines.iter().map(|l| l.share.expect("counted").0).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        assert_eq!(device.column.work, Work::from_measurement(measurement));
        assert_eq!(device.efficiency(), measurement.efficiency_ratio);
        for line in &device.lines {
            assert!(!line.blocks.is_empty(), "line {}", line.line);
            let full = line.efficiency.expect("executed").0;
            #[expect(clippy::cast_precision_loss, reason = "a few thousand slots")]
            let expected = line.work.subgroup_operations as f64 * (1.0 - full);
            assert!((line.wasted.expect("known") - expected).abs() < 1e-6);
        }
    }
}

#[test]
fn dispatches_of_one_shader_are_summed() {
    let mut run = simulated(DEMO, random_words(), 32, &[32]);
    let once = profiles(&run)[0].devices[0].clone();
    let dispatch = run.measurements[0].dispatches[0].clone();
    run.measurements[0].dispatches.push(dispatch);
    let twice = &profiles(&run)[0].devices[0];
    for (line, two) in once.lines.iter().zip(&twice.lines) {
        assert_eq!((line.line, line.operations), (two.line, two.operations));
        assert_eq!(two.work.subgroup_operations, 2 * line.work.subgroup_operations);
        assert_eq!(two.active_lanes_mean, line.active_lanes_mean);
        let doubled = |bins: &Vec<u128>| bins.iter().map(|count| 2 * count).collect::<Vec<_>>();
        assert_eq!(two.histogram, line.histogram.as_ref().map(doubled));
    }
}

/// Lanes that loop 0 to 31 times: those that test, 32 down to 1, are 16.5 on average, those in the body 16.
#[test]
fn the_test_of_a_loop_and_its_body_have_their_own_lanes() {
    let text = "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let trips = table[id.x];
    var sum = 0u;
    for (var i = 0u; i < trips; i++) {
        sum += trips * 3u;
    }
    sums[id.x] = sum;
}
";
    let run = simulated(text, Fill::Words((0..1024).map(|i| i % 32).collect()), 16, &[32]);
    let means = |line: u32| -> Vec<f64> {
        let blocks = run.measurements[0].dispatches[0].blocks.iter();
        let here = blocks.filter(|block| block.lines.get(&line).is_some_and(|count| *count > 0));
        here.filter_map(|block| Ratio::divide(block.lanes.0, block.executions.0))
            .map(|mean| mean.0)
            .collect()
    };
    assert_eq!(means(8), [16.0], "the body");
    let head = means(7);
    assert!(head.contains(&16.5), "the test: {head:?}");
    assert!(head.iter().all(|mean| [16.0, 16.5, 32.0].contains(mean)), "{head:?}");
    let device = &profiles(&run)[0].devices[0];
    assert_eq!(device.line(8).and_then(|line| line.active_lanes_mean), Some(16.0));
}

#[test]
fn a_missing_histogram_is_none_and_not_a_part() {
    let mut run = simulated(DEMO, random_words(), 32, &[32]);
    let line = 27;
    let blocks = &mut run.measurements[0].dispatches[0].blocks;
    let block = blocks.iter_mut().rfind(|block| block.lines.contains_key(&line)).expect("a block");
    block.histogram = None;
    let profile = &profiles(&run)[0];
    assert_eq!(profile.devices[0].line(line).expect("counted").histogram, None);
    assert!(profile.devices[0].line(14).expect("counted").histogram.is_some());
}

#[test]
fn what_failed_stays_and_trust_is_said() {
    let mut run = fixtures::run();
    let found = profiles(&run);
    let failed = found.iter().find(|profile| profile.kernel.ends_with("never_ends"));
    assert_eq!(failed.expect("kept").devices[0].status, Status::Failed);
    assert!(failed.expect("kept").first_counted().is_none());
    let trust = |run: &Run, device: usize| {
        let id = &run.devices[device].id;
        let profiles = profiles(run);
        let mut all = profiles.iter().flat_map(|profile| &profile.devices);
        all.find(|device| device.column.device == *id).map(|device| device.trust)
    };
    assert_eq!(trust(&run, 3), Some(Trust::Guaranteed));
    let device = run.devices[3].id.clone();
    let on_it = |measurement: &&mut Measurement| measurement.device == device;
    let flag = Flag::at(Tag::DependsOnSchedule, [8]);
    run.measurements
        .iter_mut()
        .filter(on_it)
        .for_each(|measurement| measurement.flags.push(flag.clone()));
    assert_eq!(trust(&run, 3), Some(Trust::OneSchedule));
    // A barrier that not all reach is an error of the program, whoever saw it.
    let mut wrong = run.clone();
    let barrier = Flag::at(Tag::DivergentBarrier, [4]);
    wrong.measurements.iter_mut().filter(on_it).for_each(|m| m.flags.push(barrier.clone()));
    assert_eq!(trust(&wrong, 3), Some(Trust::Undefined));
    assert_eq!(trust(&run, 0), Some(Trust::Unknown));
    run.devices[0].trust = Some(Trust::Observed);
    assert_eq!(trust(&run, 0), Some(Trust::Observed));
    run.devices[0].trust = Some(Trust::Unknown);
    assert_eq!(trust(&run, 0), Some(Trust::Unknown));
    // What is said of the shader comes before what is said of the device.
    let judged = |trust| ShaderTrust { trust, constructs: Vec::new(), failed: Vec::new() };
    run.measurements[0].trust = Some(judged(Trust::Observed));
    assert_eq!(trust(&run, 0), Some(Trust::Observed));
    run.measurements[0].method = Some(Method::Estimated);
    assert_eq!(trust(&run, 0), Some(Trust::Estimated));
    // No self-test says what the counts of a loop are worth that the driver left.
    let cut = [Flag::at(Tag::LoopMayBeCutOff, [3]), Flag::at(Tag::LoopCutOff, [3])];
    for flag in cut {
        run.measurements[0].flags = vec![flag];
        assert_eq!(trust(&run, 0), Some(Trust::CutOff));
    }
}

#[test]
fn what_a_second_width_adds_to_each_line_sums_to_what_it_costs() {
    let profile = &profiles(&simulated(DEMO, random_words(), 32, &[32, 64]))[0];
    let compared = crate::analyze::WidthProfile::from_profile(profile).expect("both widths");
    assert!(compared.ratio > 1.05, "{}", compared.ratio);
    let added: f64 = compared.added.values().map(|share| share.0).sum();
    assert!((added - (compared.ratio - 1.0)).abs() < 1e-9, "{added}");
    assert_eq!(compared.added.len(), profile.devices[0].lines.len());
    for line in &compared.lines {
        assert!((compared.added[&line.line].0 - line.share).abs() < 1e-9, "line {}", line.line);
    }
}
