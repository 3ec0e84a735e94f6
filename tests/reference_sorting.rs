//! The committed results of sorting, then dispatching: as fast as was asked for, and what pages say in
//! words of them. Their figures are generated (`lab pages`).

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

mod records;

use std::path::{Path, PathBuf};

use lanescope::analyze::{self, ModelRow};
use lanescope::record::{PeerRow, Value};

use crate::records::load;

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn peers() -> Vec<PeerRow> {
    let path = results().join("reference/nvidia-h200/peers.json");
    lanescope::store::load_peers(&path).unwrap().rows
}

#[test]
fn partitions_are_as_fast_as_asked_for_on_the_h200() {
    let rows = peers();
    let asked = [
        ("permutation_8", 26, "cub", 2.0),
        ("permutation_8", 26, "torch", 8.0),
        ("pairs_8", 26, "cub", 1.25),
        ("pairs_256", 26, "cub", 1.0),
        ("permutation_8", 16, "cub", 2.0),
    ];
    for (work, pow2, peer, ratio) in asked {
        let row = rows.iter().find(|row| {
            (row.work.as_str(), row.n, row.peer.as_str()) == (work, 1 << pow2, peer)
                && row.device == "NVIDIA H200"
        });
        let row = row.unwrap_or_else(|| panic!("{work} of 2^{pow2} beside {peer}"));
        assert!(row.speed_ratio >= ratio, "{work} of 2^{pow2}: {}", row.speed_ratio);
        if (work, pow2) == ("permutation_8", 26) {
            assert!(row.median_ns <= 245e3, "{} ns", row.median_ns);
        }
    }
}

/// Peers are timed by CUDA events, lanescope by Vulkan's timestamps: what says that no ratio is the clocks'.
#[test]
fn both_clocks_give_a_copy_the_same_rate() {
    let run = load("h200-cuda-vulkan/sort-permutation-timers");
    let rates: Vec<f64> = run.devices.iter().filter_map(|device| device.copy_bytes_per_s).collect();
    let [events, timestamps] = rates[..] else { panic!("{rates:?}") };
    assert!((events / timestamps - 1.0).abs() < 0.002, "{rates:?}");
    let median = |device: &str| {
        let found =
            run.measurements.iter().find(|measurement| measurement.device == device).unwrap();
        found.time.as_ref().unwrap().median_ns.0
    };
    assert!(median("wgpu:0") < median("cuda:0"));
}

/// The row of a kernel with these parameters.
fn row<'a>(rows: &'a [ModelRow], kernel: &str, parameters: &[(&str, Value)]) -> &'a ModelRow {
    let found = rows.iter().find(|row| {
        row.kernel == kernel
            && parameters.iter().all(|(name, value)| row.parameters.get(*name) == Some(value))
    });
    found.unwrap_or_else(|| panic!("no {kernel} with {parameters:?}"))
}

#[test]
fn a_mixture_of_experts_gains_what_counting_predicts() {
    let run = load("h200-vulkan/moe-all");
    let rows = analyze::model(&run);
    let asked = [("n", 1 << 18), ("model", 64), ("hidden", 256)]
        .map(|(name, value)| (name, Value::Integer(value)));
    let sorted = row(&rows, "moe/sorted", &asked);
    let (counted, measured) = (sorted.speedup_counted.unwrap(), sorted.speedup_measured.unwrap());
    assert!(measured >= 0.8 * counted, "{measured} of {counted}");
}

/// Of classes that lie in runs or in order.
#[test]
fn sorting_pays_at_no_size_where_classes_lie_together() {
    let tables = analyze::crossover_tables(&load("h200-vulkan/sort-curves"));
    let [table] = tables.as_slice() else { panic!("{} tables", tables.len()) };
    let kernel = table.kernels.iter().position(|kernel| kernel == "sorted").unwrap();
    let place =
        |name: &str| table.parameters.iter().position(|parameter| parameter == name).unwrap();
    let (arms, classes, input) = (place("arms"), place("classes"), place("input"));
    let words = |form: &str, k: &str, lie: &str| {
        let found = table.rows.iter().find(|row| {
            let value = |at: usize| row.parameters[at].as_str();
            (value(arms), value(classes), value(input)) == (form, k, lie)
        });
        found.unwrap().crossovers[kernel].clone().unwrap()
    };
    for k in ["2", "4", "8", "16", "32"] {
        for (form, lie) in [
            ("equal", "clustered"),
            ("equal", "ordered"),
            ("unequal", "clustered"),
            ("unequal", "ordered"),
        ] {
            assert_eq!(words(form, k, lie), "at no n from 64 to 67,108,864");
        }
    }
}

#[test]
fn sorting_what_lies_together_costs_at_large_sizes_too() {
    let curves = analyze::model(&load("h200-vulkan/sort-curves"));
    let gains = curves.iter().filter(|row| {
        row.kernel == "sort/sorted"
            && row.parameters["input"] != Value::Name("random".to_owned())
            && matches!(row.parameters["n"], Value::Integer(n) if n >= 1 << 22)
    });
    let gains: Vec<f64> = gains.map(|row| row.speedup_measured.unwrap()).collect();
    assert_eq!(gains.len(), 60);
    assert!(gains.iter().all(|gain| *gain < 1.0), "{gains:?}");
}

/// Whether what is sorted was sorted before, and not in the time.
fn sorted_before(row: &ModelRow) -> bool {
    row.parameters.get("sort").is_some_and(|sort| sort.to_string() == "before")
}

#[test]
fn compaction_pays_for_heavy_bodies_only() {
    let gains = |name: &str, wanted: &dyn Fn(i64) -> bool| -> Vec<f64> {
        let rows = analyze::model(&load(name));
        let of_map = rows.iter().filter(|row| {
            row.kernel == "sparse/map_compact"
                && !sorted_before(row)
                && matches!(row.parameters["rounds"], Value::Integer(rounds) if wanted(rounds))
        });
        of_map.map(|row| row.speedup_measured.unwrap()).collect()
    };
    let light = gains("h200-vulkan/sparse-all", &|rounds| rounds == 1);
    assert!(!light.is_empty() && light.iter().all(|gain| *gain < 1.0), "{light:?}");
    let heavy = gains("h200-vulkan/sparse-densities", &|rounds| rounds == 256);
    assert!(heavy.iter().any(|gain| *gain > 2.0), "{heavy:?}");
}

/// Listing keys pays for random masks from 1,024 to 8,192 keys; ordering queries never does.
#[test]
fn attention_gains_by_listing_keys_and_never_by_ordering_queries() {
    let runs = ["h200-vulkan/sparse-attention", "h200-vulkan/sparse-attention-8192"].map(load);
    let rows: Vec<ModelRow> = runs.iter().flat_map(analyze::model).collect();
    let in_runs =
        |row: &&ModelRow| row.parameters.get("mask").is_some_and(|mask| mask.to_string() == "runs");
    let listed = rows.iter().filter(|row| {
        row.kernel == "sparse/attention_compact" && !in_runs(row) && !sorted_before(row)
    });
    let listed: Vec<f64> = listed.map(|row| row.speedup_measured.unwrap()).collect();
    // Two head dimensions and four sequences.
    assert!(listed.len() == 8 && listed.iter().all(|gain| *gain > 1.0), "{listed:?}");
    let classes = analyze::model(&load("h200-vulkan/sparse-attention-classes"));
    assert_eq!(classes.len(), 4 * (2 + 2 * 6));
    for row in classes.iter().chain(rows.iter().filter(|row| row.baseline.ends_with("_queries"))) {
        assert!(row.speedup_measured.unwrap() < 1.0, "{row:?}");
    }
}

/// The arms that the formula expects of a subgroup, unequal ones and skewed experts among them, are what
/// counting gives of kernels whose sort is not in the counts or weighs little.
#[test]
fn the_arms_that_the_formula_expects_are_those_that_were_counted() {
    let mut compared = 0;
    for (record, kernel, before) in [
        ("h200-vulkan/sort-all", "sort/sorted", true),
        ("h200-vulkan/moe-routing", "moe/sorted", false),
    ] {
        for row in analyze::model(&load(record)) {
            let large = !matches!(row.parameters["n"], Value::Integer(n) if n < 1 << 16);
            let found = row.arms_run.zip(row.speedup_counted);
            let Some((arms, counted)) =
                found.filter(|_| row.kernel == kernel && sorted_before(&row) == before && large)
            else {
                continue;
            };
            assert!((counted / arms - 1.0).abs() < 0.03, "{record}: {counted} of {arms}");
            compared += 1;
        }
    }
    // Five sizes; even, skewed and one expert, and even ones with two experts a token.
    assert!(compared >= 9, "{compared}");
}

/// With all tokens on one expert nothing diverges, and what sorting gains is not lanes.
#[test]
fn sorting_gains_by_shared_weights_where_counting_predicts_nothing() {
    let rows = analyze::model(&load("h200-vulkan/moe-routing"));
    let row = row(
        &rows,
        "moe/sorted",
        &[("routing", Value::Name("one".to_owned())), ("top", Value::Integer(1))],
    );
    assert!((0.9..1.1).contains(&row.speedup_counted.unwrap()));
    assert!(row.speedup_measured.unwrap() > 1.5);
}
