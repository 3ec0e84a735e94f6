//! Tests of the tables, on the synthetic run.

use super::*;
use crate::{
    fixtures,
    record::{COUNTING_RULE_OF_SCHEMA_1, Flag, PublishedFigure, Run, Status, Tag, Value, flag},
    statistics::RatioVerdict,
    units::{BlockId, Width},
};

/// Returns the synthetic run with made-up published figures.
fn published_run() -> Run {
    let mut run = fixtures::compared_run();
    for (name, _, mean) in fixtures::PATTERNS {
        let note = run.kernels.get_mut(&format!("five_patterns/{name}")).expect("noted");
        note.published = Some(PublishedFigure {
            active_lanes_mean: mean(32.0) + 0.1,
            hardware: "RTX 3090".to_owned(),
            subgroup_width: Width::new(32).ok(),
        });
    }
    run
}

/// Finds a row of the summary.
fn row(summary: &Summary, device: &str, kernel: &str, form: &str) -> SummaryRow {
    let device = summary.devices.iter().find(|row| row.device == device).expect("the device");
    let wanted = Value::Name(form.to_owned());
    let found = device.rows.iter().find(|row| {
        short_name(&row.kernel) == kernel && row.parameters.get("form") == Some(&wanted)
    });
    found.expect("the row").clone()
}

#[test]
fn the_summary_reads_as_a_table() {
    let summary = summary(&published_run());
    let mut text = String::new();
    for device in &summary.devices {
        for row in &device.rows {
            let number =
                |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
            let ratio = match &row.time_ratio {
                TimeRatio::None => "-".to_owned(),
                TimeRatio::Baseline => "baseline".to_owned(),
                TimeRatio::Measured(ratio) => {
                    format!("{:.3} {:?}", ratio.median, ratio.verdict())
                }
                TimeRatio::Withheld(reason) => format!("{reason:?}"),
            };
            text += &format!(
                "{} | {} {} | W {} | {} expected {} simulated {} published {} | {} | {ratio} \
                 predicted {} | {}\n",
                device.label,
                short_name(&row.kernel),
                parameters_text(&row.parameters, &[]),
                row.width.map_or("-".to_owned(), |width| width.to_string()),
                number(row.active_lanes_mean),
                number(row.active_lanes_mean_expected),
                number(row.active_lanes_mean_simulated),
                number(row.published.as_ref().map(|published| published.active_lanes_mean)),
                row.time.map_or("-".to_owned(), |time| time.median.to_string()),
                number(row.time_ratio_predicted),
                flag::words(&row.flags, " "),
            );
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_mean_is_weighted_by_operations_and_an_unlabelled_block_is_taken_as_counted() {
    let mut measurement = published_run().measurements[0].clone();
    let blocks = &mut measurement.dispatches[0].blocks;
    blocks.truncate(2);
    // 2 operations, 10 executions of 20 lanes; 3 operations, 20 executions of 8 lanes.
    for (block, operations) in blocks.iter_mut().zip([2, 3]) {
        std::sync::Arc::make_mut(&mut block.code).operations = operations;
    }
    (blocks[0].executions.0, blocks[0].lanes.0) = (10, 200);
    (blocks[1].executions.0, blocks[1].lanes.0) = (20, 160);
    blocks[1].active_lanes_mean_expected = Some(16.0);
    assert_eq!(
        Work::from_measurement(&measurement),
        Work { subgroup_operations: 80, lane_operations: 880 }
    );
    assert_eq!(counts::active_lanes_mean(&measurement), Some(11.0));
    // Executions: 10 as counted, and 160 / 16 = 10 expected, so 2·10 + 3·10 = 50.
    assert_eq!(counts::active_lanes_mean_expected(&measurement), Some(880.0 / 50.0));
    measurement.dispatches[0].blocks[1].active_lanes_mean_expected = None;
    assert_eq!(counts::active_lanes_mean_expected(&measurement), None);
}

#[test]
fn a_time_below_what_the_multiply_adds_need_withholds_the_ratio() {
    let summary = summary(&published_run());
    let folded = row(&summary, "wgpu:0", "indirect_branch", "published");
    assert!(folded.plausibility.is_removed());
    assert_eq!(folded.time_ratio, TimeRatio::Withheld(Tag::WorkRemovedByCompiler));
    assert!(flag::has(&folded.flags, &Tag::WorkRemovedByCompiler));
    let sealed = row(&summary, "wgpu:0", "indirect_branch", "sealed");
    // 2^20 / 32 subgroups · 1024 iterations · 32 lanes in about 45 µs at 3.3e13 a second: 0.72.
    let Plausibility::Possible { peak_ratio } = sealed.plausibility else { panic!("{sealed:?}") };
    assert!((0.5..1.0).contains(&peak_ratio), "{peak_ratio}");
    let TimeRatio::Measured(ratio) = sealed.time_ratio else { panic!("{sealed:?}") };
    assert_eq!((ratio.verdict(), ratio.pairs), (RatioVerdict::Different, 40));
    let predicted = sealed.time_ratio_predicted.expect("both counted");
    assert!((ratio.median / predicted - 1.0).abs() < 0.01, "{} {predicted}", ratio.median);
}

#[test]
fn an_unknown_timed_width_is_judged_by_active_lanes_only() {
    let run = published_run();
    let quad = |flags: &[Tag]| {
        let mut parameter = run
            .measurements
            .iter()
            .find(|measurement| {
                measurement.kernel.ends_with("branch_by_quad")
                    && measurement.parameters["form"] == Value::Name("published".to_owned())
            })
            .expect("measured")
            .clone();
        parameter.flags = flags.iter().cloned().map(Flag::from).collect();
        plausibility(&run, &parameter)
    };
    assert!(quad(&[]).is_removed());
    assert!(!quad(&[Tag::WidthNotKnownWhenTimed]).is_removed());
}

#[test]
fn kernels_that_were_not_sampled_side_by_side_have_no_ratio() {
    let mut run = published_run();
    let uniform = run.measurements[0].time.as_mut().expect("timed");
    for sample in &mut uniform.samples {
        sample.ticks_begin += 1 << 40;
        sample.ticks_end += 1 << 40;
    }
    let summary = summary(&run);
    let lane = row(&summary, "wgpu:0", "branch_by_lane", "sealed");
    assert_eq!(lane.time_ratio, TimeRatio::Withheld(Tag::NotInterleaved));
}

#[test]
fn of_a_baseline_that_was_measured_twice_the_one_timed_side_by_side_counts() {
    let mut run = published_run();
    let mut apart = run.measurements[0].clone();
    for sample in &mut apart.time.as_mut().expect("timed").samples {
        sample.ticks_begin += 1 << 40;
        sample.ticks_end += 1 << 40;
    }
    run.measurements.insert(0, apart);
    let summary = summary(&run);
    let lane = row(&summary, "wgpu:0", "branch_by_lane", "sealed");
    assert!(matches!(lane.time_ratio, TimeRatio::Measured(_)), "{:?}", lane.time_ratio);
}

#[test]
fn agreement_is_exact_and_lists_every_difference() {
    let run = published_run();
    let measurement = &run.measurements[0];
    let mut other = measurement.clone();
    let same = agreement(measurement, &other).expect("the same launch");
    assert_eq!((same.blocks_compared, same.histograms_compared), (3, 3));
    assert_eq!(same.differences, []);
    let blocks = &mut other.dispatches[0].blocks;
    blocks[1].executions.0 += 1;
    let bins = blocks[1].histogram.as_mut().expect("a histogram");
    bins[0] += 1;
    blocks.remove(2);
    let found = agreement(measurement, &other).expect("still the same launch");
    let what: Vec<(BlockId, Quantity)> = found
        .differences
        .iter()
        .map(|difference| (difference.block, difference.quantity))
        .collect();
    assert_eq!(
        what,
        [
            (BlockId(1), Quantity::Executions),
            (BlockId(1), Quantity::Histogram(1)),
            (BlockId(2), Quantity::Operations),
            (BlockId(2), Quantity::Executions),
            (BlockId(2), Quantity::Lanes),
        ]
    );
    other.seed += 1;
    assert_eq!(agreement(measurement, &other), Err(NotComparable::Differs("seed")));
    other.seed -= 1;
    other.dispatches.clear();
    assert_eq!(
        agreement(measurement, &other),
        Err(NotComparable::NotCounted(other.device.clone()))
    );
}

#[test]
fn a_device_is_held_against_the_simulator_of_its_width_and_size() {
    let mut run = published_run();
    // lavapipe at 8 and sim:8 share n; the GPU's n is another than sim:32's.
    let rows = agreements(&run);
    assert_eq!(rows.len(), 10);
    assert!(
        rows.iter().all(|row| row.simulator == "sim:8" && row.agreement.differences.is_empty())
    );
    let twins = predictions(&run);
    assert_eq!(twins.iter().filter(|row| row.simulator.is_some()).count(), 10);
    assert!(twins.iter().all(|row| {
        row.subgroup_operations_simulated
            .is_none_or(|simulated| Some(simulated) == row.subgroup_operations)
    }));
    let changed = run
        .measurements
        .iter_mut()
        .find(|measurement| measurement.device == "wgpu:1")
        .expect("one");
    changed.dispatches[0].blocks[0].executions.0 += 5;
    let summary = summary(&run);
    let flags = row(&summary, "wgpu:1", "uniform", "sealed").flags;
    assert_eq!(flags, [Flag::from(Tag::DiffersFromSimulator)]);
}

#[test]
fn lines_keep_every_line_and_their_shares_add_up() {
    let run = published_run();
    let views = lines(&run);
    assert_eq!(views.len(), 10);
    let view = &views[1];
    assert_eq!((&*view.kernel, &*view.parameters), ("five_patterns/branch_by_lane", "form=sealed"));
    assert_eq!((view.columns.len(), view.lines.len()), (5, 11));
    assert_eq!(view.lines[0].text.as_deref(), Some("// branch_by_lane (synthetic)"));
    for column in 0..view.columns.len() {
        let cells: Vec<&LineCell> =
            view.lines.iter().filter_map(|line| line.cells[column].as_ref()).collect();
        let share: f64 = cells.iter().filter_map(|cell| cell.share).map(|share| share.0).sum();
        assert!((share - 1.0).abs() < 1e-12, "{share}");
        assert_eq!(cells.len(), 3);
    }
    let cell = view.lines[7].cells[0].as_ref().expect("the loop's body");
    assert_eq!((cell.active_lanes_mean, cell.blocks[0].id), (Some(16.0), BlockId(1)));
    assert_eq!(cell.blocks[0].histogram.as_ref().expect("taken")[15], cell.blocks[0].executions);
}

#[test]
fn several_dispatches_of_a_line_add_up() {
    let mut run = published_run();
    let again = run.measurements[0].dispatches[0].clone();
    let once = lines(&run)[0].lines[7].cells[0].clone().expect("counted");
    run.measurements[0].dispatches.push(again);
    let twice = lines(&run)[0].lines[7].cells[0].clone().expect("counted");
    assert_eq!(twice.work.subgroup_operations, 2 * once.work.subgroup_operations);
    assert_eq!((twice.operations, twice.blocks.len()), (once.operations, 1));
    assert_eq!(twice.blocks[0].executions, 2 * once.blocks[0].executions);
    assert_eq!(twice.active_lanes_mean, once.active_lanes_mean);
}

#[test]
fn a_width_sweep_has_every_device_by_width() {
    let sweep = width_sweep(&published_run());
    assert_eq!(sweep.series.len(), 10);
    let widths: Vec<u32> = sweep.series[0].points.iter().map(|point| point.width.lanes()).collect();
    assert_eq!(widths, [8, 8, 32, 32, 64]);
    assert_eq!(sweep.series[0].points.iter().filter(|point| point.simulated).count(), 3);
}

#[test]
fn a_run_compared_with_itself_has_ratios_of_one_and_other_sizes_are_not_compared() {
    let a = published_run();
    let same = compare(&a, &a, false);
    assert_eq!((same.rows.len(), same.not_compared.len()), (a.measurements.len(), 0));
    for row in &same.rows {
        assert!(
            row.time_ratio.is_none_or(|ratio| ratio.ratio == 1.0 && ratio.interval.contains(1.0))
        );
        assert!(row.subgroup_operations_ratio.is_none_or(|ratio| ratio == 1.0));
    }
    // Whoever waits hears of each launch.
    let (mut rows, mut launches) = (0, 0);
    assert_eq!(compare_noticing(&a, &a, false, &mut || rows += 1).rows.len(), same.rows.len());
    compare_launches_noticing(&a, &a, false, &mut || launches += 1);
    assert_eq!([rows, launches], [same.rows.len(); 2]);
    let mut b = a.clone();
    b.measurements.truncate(2);
    b.measurements[0].parameters.insert(SIZE.to_owned(), Value::Integer(7));
    b.devices[0].id = "wgpu:3".to_owned();
    b.devices[0].name = "Another GPU".to_owned();
    b.devices.truncate(1);
    b.measurements.iter_mut().for_each(|measurement| measurement.device = "wgpu:3".to_owned());
    let mut first = a.clone();
    first.devices.retain(|device| device.id != "wgpu:1");
    first
        .measurements
        .retain(|measurement| measurement.device == "wgpu:0" && measurement.status == Status::Ok);
    let other = compare(&first, &b, false);
    assert_eq!(other.rows.len(), 1);
    assert_eq!(other.rows[0].labels[1], "Another GPU (Vulkan)");
    // Of another device it is said that it is another.
    let none = "run B has no such device; ";
    let at_size = format!("{none}Another GPU (Vulkan) has it at n = 7");
    assert_eq!(other.not_compared[0].reason, at_size);
    let unmeasured = format!("{none}on Another GPU (Vulkan) this kernel was not measured");
    assert!(other.not_compared.iter().any(|missing| missing.reason == unmeasured), "{other:#?}");
    let mut sized = first.clone();
    sized.measurements[0].parameters.insert(SIZE.to_owned(), Value::Integer(7));
    let same = compare(&first, &sized, false);
    assert_eq!(same.not_compared[0].reason, "run B has it at n = 7");
    sized.measurements.remove(0);
    sized.measurements.retain(|other| other.kernel != first.measurements[0].kernel);
    let same = compare(&first, &sized, false);
    assert_eq!(same.not_compared[0].reason, "run B did not measure this kernel on that device");
    let last = other.not_compared.last().expect("B's own");
    let elsewhere = "run A has no such device; NVIDIA H200 (Vulkan) has it at n = 1,048,576";
    assert_eq!((last.side, &*last.reason), (1, elsewhere));
}

#[test]
fn merged_runs_keep_everything_under_names_of_their_own() {
    let run = published_run();
    let joined = merge(&[run.clone(), run.clone()]).expect("two runs");
    assert_eq!(joined.devices.len(), 2 * run.devices.len());
    assert_eq!(joined.devices[5].id, "wgpu:0 (2)");
    assert_eq!(joined.measurements[run.measurements.len()].device, "wgpu:0 (2)");
    assert_eq!(device_label(&joined, "wgpu:0 (2)"), "NVIDIA H200 (Vulkan), wgpu:0 (2)");
    assert_eq!(merge(&[]), Err(MergeError::NoRuns));
}

#[test]
fn flags_are_collected_with_their_places() {
    let run = published_run();
    let found = findings(&run);
    let flags: Vec<&Tag> = found.iter().map(|finding| &finding.flag.tag).collect();
    assert_eq!(flags, [&Tag::WorkRemovedByCompiler, &Tag::Failed]);
    assert_eq!(
        found[1].places[0],
        "five_patterns/never_ends (form=sealed, n=1048576) on NVIDIA H200 (Vulkan)"
    );
}

#[test]
fn operations_of_two_counting_rules_are_not_compared() {
    let (mut old, new) = (published_run(), published_run());
    let same = compare(&old, &new, false);
    assert!(same.rows.iter().any(|row| row.active_lanes_means.iter().all(Option::is_some)));
    assert!(same.rows.iter().any(|row| row.subgroup_operations_ratio.is_some()));
    old.counting_rule = COUNTING_RULE_OF_SCHEMA_1;
    let found = compare(&old, &new, false);
    assert_eq!(found.rows.len(), same.rows.len());
    for (row, before) in found.rows.iter().zip(&same.rows) {
        assert_eq!((row.active_lanes_means, row.subgroup_operations_ratio), ([None; 2], None));
        assert_eq!(row.efficiencies, [None; 2]);
        assert!(flag::has(&row.flags, &Tag::CountingRuleDiffers), "{:?}", row.flags);
        assert_eq!(row.medians, before.medians, "times are of no rule");
    }
    let refused = merge(&[old, new]).expect_err("two rules");
    assert_eq!(refused, MergeError::CountingRules(1, 2));
    assert!(refused.to_string().contains("cannot stand in one table"), "{refused}");
}

/// A record of another rule with other lanes, beside one of today's: its times are taken, and its lanes are not.
#[test]
fn a_gallery_takes_no_lanes_that_another_rule_counted() {
    let (today, mut old) = (published_run(), published_run());
    old.counting_rule = COUNTING_RULE_OF_SCHEMA_1;
    for measurement in &mut old.measurements {
        measurement.active_lanes_mean = measurement.active_lanes_mean.map(|lanes| lanes / 2.0);
        for block in measurement.dispatches.iter_mut().flat_map(|dispatch| &mut dispatch.blocks) {
            block.lanes.0 /= 2;
        }
    }
    let figures = |runs: &[&Run]| {
        let mut gallery = Gallery::default();
        for run in runs {
            gallery.add(run);
        }
        let (_, device) =
            gallery.devices.iter().find(|(key, _)| key.name == "NVIDIA H200").unwrap();
        let pattern = &device.patterns["branch_by_lane form=sealed"];
        (pattern.efficiency(), pattern.time_ratio(), device.of_other_rules)
    };
    let (efficiency, ratio, of_other_rules) = figures(&[&today]);
    assert!(efficiency.is_some() && ratio.is_some());
    assert_eq!(of_other_rules, 0);
    assert_eq!(figures(&[&today, &old]), (efficiency, ratio, 10));
    assert_eq!(figures(&[&old]), (None, ratio, 10));
}

#[test]
fn what_did_not_go_well_comes_first() {
    let mut run = fixtures::compared_run();
    run.measurements.retain(|measured| measured.status == Status::Ok);
    let told = |run: &Run| opening(run, &summary(run));
    let well = told(&run);
    assert!(!well[0].contains(" ran on "), "{well:#?}");
    run.measurements[0].flags.push(Tag::CooperativeLaunchRefused.into());
    run.measurements[1].flags.push(Tag::LoopCutOff.into());
    let ill = told(&run);
    let ways =
        ": 1 launch was refused by the driver and 1 launch was cut off in a loop by the device.";
    assert!(ill[0].ends_with(ways), "{ill:#?}");
    // What waits is known to have given up where the outputs are right.
    let (kernel, parameters) =
        (run.measurements[2].kernel.clone(), run.measurements[2].parameters.clone());
    run.measurements[2].output = crate::record::Output::Verified;
    run.kernels.entry(kernel.clone()).or_default().gives_up = vec![parameters.clone()];
    let flagged = |run: &Run| {
        let rows = summary(run).devices.into_iter().flat_map(|device| device.rows);
        let given_up = rows.filter(|row| flag::has(&row.flags, &Tag::WaitsGivenUp));
        given_up.map(|row| (row.kernel, row.parameters)).collect::<Vec<_>>()
    };
    assert!(flagged(&run).contains(&(kernel, parameters)), "{:?}", flagged(&run));
    assert!(told(&run)[0].contains("ended by a limit on waiting"), "{:#?}", told(&run));
    run.measurements.iter_mut().for_each(|m| m.output = crate::record::Output::Unchecked);
    assert_eq!(flagged(&run), []);
    assert_eq!(ill[1..], well);
}

#[test]
fn what_differs_from_a_capture_is_told_from_what_differs_by_order() {
    use crate::record::Output;
    let mut run = fixtures::compared_run();
    run.measurements.retain(|measured| measured.status == Status::Ok);
    run.measurements.iter_mut().for_each(|measured| {
        measured.output = Output::Unchecked;
        measured.flags.clear();
    });
    run.measurements[0].output = Output::Mismatch;
    let first = run.measurements[0].clone();
    let note = run.kernels.entry(first.kernel.clone()).or_default();
    (note.result, note.tolerance) = (None, None);
    let found = |run: &Run| {
        let summary = summary(run);
        let rows: Vec<&SummaryRow> = summary.devices.iter().flat_map(|d| &d.rows).collect();
        let some = |tag: Tag| rows.iter().any(|row| flag::has(&row.flags, &tag));
        let profiles = profiles(run);
        let mut devices = profiles.iter().flat_map(|profile| &profile.devices);
        let by_order = devices.any(DeviceProfile::differs_by_order);
        assert_eq!(some(Tag::OutputDependsOnOrder), by_order);
        let told = opening(run, &summary)[0].clone();
        assert_eq!(told.contains("1 launch has outputs that differ by order"), by_order, "{told}");
        (some(Tag::OutputMismatch), by_order)
    };
    assert_eq!(found(&run), (true, false));
    for tag in [Tag::DependsOnSchedule, Tag::DataRace, Tag::DiffersBetweenRuns] {
        // Whichever device saw it, of this launch or another one.
        let other = run.devices.last().expect("devices").id.clone();
        let beside = crate::record::Measurement {
            device: other,
            output: Output::Unchecked,
            flags: vec![Flag::at(tag, [8])],
            ..first.clone()
        };
        run.measurements.push(beside);
        assert_eq!(found(&run), (false, true));
        let last = run.measurements.last_mut().expect("it was added");
        last.seed += 1;
        assert_eq!(found(&run), (true, false));
        run.measurements.pop();
    }
    // What has a reference of its own is right in every order.
    run.measurements[0].flags.push(Tag::DataRace.into());
    assert_eq!(found(&run), (false, true));
    run.kernels.entry(first.kernel).or_default().result = Some("sums".to_owned());
    assert_eq!(found(&run), (true, false));
}

#[test]
fn where_nothing_is_compared_the_extremes_are_told() {
    let mut run = fixtures::compared_run();
    run.kernels.clear();
    run.measurements
        .retain(|measured| measured.status == Status::Ok && measured.device == run.devices[0].id);
    run.measurements.iter_mut().for_each(|measured| measured.time = None);
    let told = opening(&run, &summary(&run)).concat();
    assert!(told.contains(" keeps the fewest lanes active, "), "{told}");
    assert!(told.contains(" of 32 on average, and "), "{told}");
}
