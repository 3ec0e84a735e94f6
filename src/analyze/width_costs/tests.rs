//! Tests of costs by width, on the synthetic run and on figures worked out by hand.

use std::collections::BTreeSet;

use super::*;
use crate::fixtures;
use crate::record::Value;
use crate::units::Parts;

/// The synthetic run with the simulator of 32 lanes and one of 64 that executed `per_cent` of what
/// twice the width would need at the least.
fn run_at_two_widths(per_cent: u64) -> Run {
    let mut run = fixtures::run();
    let narrow = run
        .devices
        .iter()
        .find(|device| device.is_simulator() && device.subgroup_width_run == Some(Width::W32));
    let narrow = narrow.expect("a simulator of 32 lanes").clone();
    let mut wide = narrow.clone();
    wide.id = "sim:64".to_owned();
    wide.subgroup_width_run = Some(Width::W64);
    run.measurements.retain(|measurement| measurement.device == narrow.id);
    run.devices = vec![narrow, wide];
    let mut more = run.measurements.clone();
    for measurement in &mut more {
        measurement.device = "sim:64".to_owned();
        measurement.subgroup_width = Some(Width::W64);
        for block in measurement.dispatches.iter_mut().flat_map(|dispatch| &mut dispatch.blocks) {
            let narrow = block.executions.0;
            block.parts = Some(Parts { of_16: 2 * narrow, of_32: narrow });
            block.executions.0 = narrow * per_cent / 200;
        }
    }
    run.measurements.extend(more);
    run
}

#[test]
fn the_ratio_is_lane_slots_over_lane_slots() {
    for per_cent in [100, 150, 200] {
        let costs = width_costs(&run_at_two_widths(per_cent));
        assert!(!costs.is_empty());
        for cost in &costs {
            let ratio = cost.ratio.expect("both widths");
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let expected = per_cent as f64 / 100.0;
            assert!((ratio.ratio - expected).abs() < 1e-3, "{per_cent}: {ratio:?}");
            assert_eq!((ratio.seeds, ratio.range), (1, [ratio.ratio; 2]));
            let slots = cost.widths.iter().map(|work| work.width).collect::<Vec<_>>();
            assert_eq!(slots, WIDTHS_COMPARED);
        }
    }
}

#[test]
fn models_are_sums_over_the_parts_that_had_a_lane() {
    for cost in width_costs(&run_at_two_widths(150)) {
        let models = cost.models.expect("parts were counted");
        let [narrow, wide] =
            WIDTHS_COMPARED.map(|width| cost.at(width).expect("counted").lane_slots);
        assert_eq!((models.wave32, models.wave64), (narrow, wide));
        assert_eq!((models.wave64_skipping, models.simd16), (narrow, narrow));
    }
}

#[test]
fn seeds_make_the_interval_and_only_where_they_are_of_one_launch() {
    let mut run = run_at_two_widths(100);
    let kernel = run.measurements[0].kernel.clone();
    let parameters = run.measurements[0].parameters.clone();
    let counts =
        |seed, subgroup_operations| SeedCounts { seed, subgroup_operations, lane_operations: 1 };
    for measurement in &mut run.measurements {
        if measurement.kernel == kernel && measurement.parameters == parameters {
            let wide = measurement.subgroup_width == Some(Width::W64);
            let counts = if wide {
                vec![counts(1, 55), counts(2, 45), counts(9, 1)]
            } else {
                vec![counts(1, 100), counts(2, 100)]
            };
            measurement.seeds = Some(Seeds { parameters: parameters.clone(), counts });
        }
    }
    let ratio = |run: &Run| width_costs(run)[0].ratio.expect("both widths");
    let found = ratio(&run);
    // The launch's own seed is the first of the two.
    assert_eq!(found.seeds, 2);
    assert!(
        (found.range[0] - 0.9).abs() < 1e-9 && (found.range[1] - 1.1).abs() < 1e-9,
        "{found:?}"
    );
    run.measurements[0].seeds.as_mut().expect("set above").parameters.clear();
    assert_eq!(ratio(&run).seeds, 1);
}

#[test]
fn sentences_say_where_64_lanes_cost_more() {
    let sentences = width_sentences(&run_at_two_widths(100));
    assert!(
        sentences.len() == 1 && sentences[0].starts_with("64 lanes cost as many"),
        "{sentences:?}"
    );
    let sentences = width_sentences(&run_at_two_widths(150));
    assert!(sentences[0].contains("(at most 1.500 times as many, for "), "{sentences:?}");
    let kernels: BTreeSet<String> =
        run_at_two_widths(150).measurements.into_iter().map(|counted| counted.kernel).collect();
    assert!(kernels.len() > UNNAMED_MAX, "{kernels:?}");
    assert!(
        sentences[1].starts_with("By kernel, at the dearest launch and seed of each, 64 lanes "),
        "{sentences:?}"
    );
    let named =
        kernels.iter().filter(|kernel| sentences[1].contains(&format!("{kernel} (1.500×)")));
    assert_eq!(named.count(), kernels.len().min(NAMED_MAX), "{sentences:?}");
    let grain = GrainNote {
        parameter: "run".into(),
        words: "Arms".into(),
        of: "runs of".into(),
        beside: BTreeMap::new(),
    };
    let sentence = grain_sentence(&grain, "from 0", vec![(64.0, 1.0), (32.0, 1.98), (48.0, 1.49)]);
    assert_eq!(
        sentence,
        "For arms from 0, 64 lanes cost more than 32 at runs of 32 (1.980×), 48 (1.490×), and less than 5 % more at \
         64."
    );
    let once = grain_sentence(&grain, "", vec![(64.0, 1.33), (32.0, 1.0)]);
    assert_eq!(
        once,
        "For arms, 64 lanes cost more than 32 at runs of 64 (1.330×), and less than 5 % more at 32."
    );
    let alike = grain_sentence(&grain, "", vec![(1.0, 1.0), (2.0, 1.01)]);
    assert_eq!(alike, "For arms, 64 lanes cost less than 5 % more than 32 at runs of 1, 2.");
}

#[test]
fn a_value_that_was_counted_at_two_sizes_is_named_once() {
    let mut run = run_at_two_widths(150);
    let kernel = run.measurements[0].kernel.clone();
    let first = run.measurements[0].parameters.clone();
    run.measurements
        .retain(|measurement| measurement.kernel == kernel && measurement.parameters == first);
    let pair = std::mem::take(&mut run.measurements);
    assert_eq!(pair.len(), 2, "both widths");
    for (length, n, for_widths) in
        [(32, 200, false), (16, 100, true), (32, 100, true), (64, 100, true)]
    {
        run.measurements.extend(pair.iter().cloned().map(|mut measurement| {
            measurement.parameters.insert("run".to_owned(), Value::Integer(length));
            measurement.parameters.insert("n".to_owned(), Value::Integer(n));
            measurement.for_widths = for_widths;
            measurement
        }));
    }
    let (words, unit) = ("Arms".to_owned(), "runs of".to_owned());
    let grain = GrainNote { parameter: "run".to_owned(), words, of: unit, beside: BTreeMap::new() };
    run.kernels.entry(kernel).or_default().grain = Some(grain);
    let sentences = width_sentences(&run);
    assert_eq!(
        sentences[1],
        "For arms, 64 lanes cost more than 32 at runs of 16 (1.500×), 32 (1.500×), 64 (1.500×)."
    );
}

#[test]
fn sentences_about_grain_are_of_the_launches_that_were_asked_for() {
    let point = |at: f64, ratio: f64, size: &str, is_main: bool| GrainPoint {
        at,
        ratio,
        size: Some(size.to_owned()),
        is_main,
    };
    let extra = [(32.0, 1.974), (40.0, 1.25), (64.0, 1.0)];
    let extra = extra.map(|(at, ratio)| point(at, ratio, "7680", false));
    let main = [(8.0, 1.0), (32.0, 2.0), (64.0, 1.0)];
    let choose = |main: &[GrainPoint]| of_main_size(&[&extra, main].concat());
    let asked = main.map(|(at, ratio)| point(at, ratio, "983040", true));
    assert_eq!(choose(&asked), (main.to_vec(), true));
    // Two are no axis: the others fill in, and what was asked for goes before.
    assert_eq!(choose(&asked[1..]), (vec![(32.0, 2.0), (64.0, 1.0), (40.0, 1.25)], false));
    assert_eq!(choose(&[]), (vec![(32.0, 1.974), (40.0, 1.25), (64.0, 1.0)], false));
    // Of several sizes the one of most launches.
    let once = point(32.0, 1.5, "64", true);
    assert_eq!(choose(&[&[once], &asked[..]].concat()), (main.to_vec(), true));
    // They come before sentences that speak of more values.
    let sentence = |is_main: bool, values: usize| GrainSentence {
        is_main,
        values,
        most: 2.0,
        text: String::new(),
    };
    assert_eq!(sentence(true, 3).order(&sentence(false, 13)), Ordering::Less);
    assert_eq!(sentence(false, 3).order(&sentence(false, 13)), Ordering::Greater);
}
