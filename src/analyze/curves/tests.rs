//! Tests of the curves, on made-up times.

use super::*;
use crate::fixtures;
use crate::record::DeviceKind;

/// A run of one kernel on the synthetic GPU: parameters, and a time in nanoseconds.
fn run(kernel: &str, device: &str, points: &[(&[(&str, Value)], f64)]) -> Run {
    let mut run = fixtures::run();
    let gpu = run.devices.iter_mut().find(|device| device.kind != DeviceKind::Simulator).unwrap();
    gpu.name = device.to_owned();
    let (id, period) = (gpu.id.clone(), gpu.timestamp_period_ns.unwrap());
    let pattern =
        run.measurements.iter().find(|measurement| measurement.device == id).unwrap().clone();
    run.measurements.clear();
    for (parameters, ns) in points {
        let mut copy = pattern.clone();
        copy.kernel = kernel.to_owned();
        copy.parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let time = copy.time.as_mut().unwrap();
        time.dispatches_per_sample = 1;
        time.median_ns = crate::units::Nanoseconds(*ns);
        for sample in &mut time.samples {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "made-up figures"
            )]
            let ticks = (ns / period) as u64;
            sample.ticks_end = sample.ticks_begin + ticks;
        }
        run.measurements.push(copy);
    }
    fixtures::noted(run)
}

fn table(run: &Run, name: &str) -> CurveTable {
    curves(run).into_iter().find(|table| table.name == name).unwrap()
}

fn check(series: &CurveSeries, name: &str, expected: &[(f64, f64)]) {
    assert_eq!(series.name, name);
    assert_eq!(series.points.len(), expected.len(), "{series:?}");
    for ((x, y), (x_expected, y_expected)) in series.points.iter().zip(expected) {
        assert!((x - x_expected).abs() < 0.01 && (y - y_expected).abs() < 0.01, "{series:?}");
    }
}

#[test]
fn a_vote_is_held_against_the_plain_branch_of_the_same_point() {
    let point = |branch: &str, density: f64, cluster: i64| {
        [
            ("branch", Value::Name(branch.to_owned())),
            ("density", Value::Real(density)),
            ("cluster", Value::Integer(cluster)),
            ("trips", Value::Integer(256)),
        ]
    };
    let points = [
        (point("plain", 0.1, 1), 8000.0),
        (point("vote", 0.1, 1), 10_000.0),
        (point("plain", 0.001, 1), 9000.0),
        (point("vote", 0.001, 1), 6000.0),
        // Without its twin, and alone on its curve.
        (point("vote", 0.5, 1), 6000.0),
        (point("plain", 0.1, 1024), 6000.0),
        (point("vote", 0.1, 1024), 6000.0),
    ];
    let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], *ns)).collect();
    let found = table(&run("vote/early_exit", "Something", &points), "vote-speed-up");
    assert_eq!(found.series.len(), 1);
    check(&found.series[0], "random, 256 multiply-adds", &[(0.001, 1.5), (0.1, 0.8)]);
}

#[test]
fn residency_is_shown_by_memory_as_a_part_of_the_best() {
    let point = |memory: i64| {
        [
            ("memory", Value::Integer(memory)),
            ("multiply_adds", Value::Integer(1)),
            ("workgroup_size", Value::Integer(64)),
        ]
    };
    let points = [(point(1024), 1000.0), (point(2048), 1250.0), (point(49_152), 4000.0)];
    let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], *ns)).collect();
    let found = table(&run("occupancy/throughput", "Something", &points), "occupancy-residency");
    let expected = [(1.0, 100.0), (2.0, 80.0), (48.0, 25.0)];
    check(&found.series[0], "1 multiply-add an element", &expected);
}

#[test]
fn walks_and_strides_are_held_against_the_first() {
    let point = |size: i64| {
        [
            ("workgroup_size", Value::Integer(size)),
            ("workgroups", Value::Integer(1)),
            ("between", Value::Name("worked".to_owned())),
            ("multiply_adds", Value::Integer(0)),
        ]
    };
    let points = [(point(32), 1000.0), (point(64), 1000.0), (point(128), 2000.0)];
    let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], *ns)).collect();
    let walks = run("occupancy/latency_hiding", "Something", &points);
    let found = table(&walks, "occupancy-latency-hiding");
    let expected = [(1.0, 1.0), (2.0, 2.0), (4.0, 2.0)];
    check(&found.series[0], "0 multiply-adds between loads", &expected);
    check(&found.series[1], "all hidden", &[(1.0, 1.0), (4.0, 4.0)]);

    let point = |stride: i64| [("stride", Value::Integer(stride))];
    let points = [(point(1), 1000.0), (point(2), 1900.0), (point(16), 9000.0)];
    let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], *ns)).collect();
    let found = table(&run("occupancy/strided", "Something", &points), "occupancy-strided");
    check(&found.series[0], "measured", &[(1.0, 1.0), (2.0, 1.9), (16.0, 9.0)]);
    assert_eq!(found.series[1].points, [(1.0, 1.0), (2.0, 2.0), (16.0, 8.0)]);
}

#[test]
fn without_such_kernels_there_are_no_curves() {
    assert_eq!(curves(&fixtures::run()), []);
}

#[test]
fn attention_has_a_figure_of_lanes_for_each_mask_and_head() {
    let parameters = |sequence, head, density| {
        [
            ("sequence", Value::Integer(sequence)),
            ("head", Value::Integer(head)),
            ("density", Value::Real(density)),
        ]
    };
    let points =
        [(1024, 64, 0.1), (2048, 64, 0.1), (1024, 128, 0.1), (2048, 128, 0.1), (1024, 64, 1.0)];
    let points = points.map(|(sequence, head, density)| parameters(sequence, head, density));
    let points: Vec<(&[(&str, Value)], f64)> =
        points.iter().map(|point| (&point[..], 100.0)).collect();
    let run = run("sparse/attention_compact", "GPU", &points);
    let figure = table(&run, "lanes-attention-head=64");
    assert_eq!(figure.series.len(), 1);
    assert_eq!(figure.series[0].name, "compact");
    // The synthetic kernel has all lanes active; density 1 is not drawn beside the usual one.
    assert_eq!(figure.series[0].points, [(1024.0, 100.0), (2048.0, 100.0)]);
    assert_eq!(curves(&run).len(), 2, "one for each head dimension");
    // What only some kernels have is shown with their names, in the same figure.
    let mut both = run.clone();
    let mut more = run.measurements.clone();
    for series in &mut more {
        "sparse/attention_separate".clone_into(&mut series.kernel);
        series.parameters.insert("classes".to_owned(), Value::Integer(8));
    }
    both.measurements.extend(more);
    let both = fixtures::noted(both);
    let figure = table(&both, "lanes-attention-head=64");
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["compact", "separate (classes=8)"]);
}

#[test]
fn times_are_over_a_baseline_that_differs_in_another_parameter() {
    let point = |keys: &str, arms: i64| {
        [("keys", Value::Name(keys.to_owned())), ("classes", Value::Integer(arms))]
    };
    let times = [("one", [100.0; 3]), ("even", [190.0, 380.0, 760.0])];
    let points: Vec<_> = times
        .iter()
        .flat_map(|(keys, times)| [2, 4, 8].map(|arms| point(keys, arms)).into_iter().zip(times))
        .collect();
    let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], **ns)).collect();
    let found = table(&run("k_way/switch", "GPU", &points), "k_way-times");
    check(&found.series[0], "keys one", &[(2.0, 1.0), (4.0, 1.0), (8.0, 1.0)]);
    check(&found.series[1], "keys even", &[(2.0, 1.9), (4.0, 3.8), (8.0, 7.6)]);
    let mut run = run("k_way/switch", "GPU", &points);
    let sentences = |run: &Run| curve_sentences(run).figures.concat();
    let expected = |device: &str| {
        format!(
            "On {device} (Vulkan), 32 lanes varying “arms” from 2 to 8 moved “time over that of one arm” between \
             1.900 (at 2) and 7.600 (at 8), in the curve “keys even”."
        )
    };
    assert!(sentences(&run).contains(&expected("GPU")), "{:?}", sentences(&run));
    // A sentence a device, of two; of the others how many they are.
    let (id, first) = (run.measurements[0].device.clone(), run.measurements.clone());
    let gpu = run.devices.iter().find(|device| device.id == id).unwrap().clone();
    for other in ["Second", "Third", "Fourth"] {
        let id = format!("wgpu:{other}");
        let name = other.to_owned();
        run.devices.push(crate::record::Device { id: id.clone(), name, ..gpu.clone() });
        let copies = first.iter().cloned();
        run.measurements.extend(copies.map(|m| Measurement { device: id.clone(), ..m }));
    }
    let told = curve_sentences(&run);
    let times = told.figures.iter().find(|told| told.contains(&expected("GPU"))).unwrap();
    let last = format!("{} 2 more devices are in the figure.", expected("Second"));
    assert_eq!(times, &[expected("GPU"), last]);
}

#[test]
fn what_hardly_moves_is_no_finding() {
    let sentences = |most: f64| {
        let point = |keys: &str, arms: i64| {
            [("keys", Value::Name(keys.to_owned())), ("classes", Value::Integer(arms))]
        };
        let times = [("one", [10_000.0; 3]), ("even", [10_000.0, 10_000.0, most])];
        let points: Vec<_> = times
            .iter()
            .flat_map(|(keys, times)| {
                [2, 4, 8].map(|arms| point(keys, arms)).into_iter().zip(times)
            })
            .collect();
        let points: Vec<_> = points.iter().map(|(point, ns)| (&point[..], **ns)).collect();
        let run = run("k_way/switch", "GPU", &points);
        (curve_sentences(&run), super::super::overview(&run, &super::super::summary(&run)))
    };
    assert_eq!([0.97, 0.99, 1.019, 1.021, 0.0].map(is_notable), [true, false, false, true, false]);
    let (little, opening) = sentences(10_090.0);
    assert_eq!(little.figures, Vec::<Vec<String>>::new());
    assert!(little.sweeps > 0);
    let nothing = "Nothing notable was found along what was varied: ";
    assert!(opening.iter().any(|sentence| sentence.starts_with(nothing)), "{opening:?}");
    let (much, opening) = sentences(10_900.0);
    assert!(!much.figures.is_empty());
    assert!(!opening.iter().any(|sentence| sentence.starts_with(nothing)), "{opening:?}");
}
