//! The committed results: they load, they were made from clean commits, every output was right, the
//! counts are those of the simulator and of the input data, and the figures that README and
//! `results/README.md` state are in them.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

use std::path::Path;

use lanescope::analyze;
use lanescope::record::{Measurement, Output, Run, Status, Value};

fn load(name: &str) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/reference");
    lanescope::store::load(&root.join(name).join("result.json")).unwrap()
}

const WITH_SIMULATOR: [&str; 6] = [
    "nvidia-h200",
    "nvidia-h200-histograms",
    "lavapipe-4",
    "lavapipe-8",
    "lavapipe-16",
    "swiftshader",
];

#[test]
fn every_committed_run_is_whole_and_from_a_clean_commit() {
    let alone = [
        "nvidia-h200-sizes",
        "nvidia-h200-shuffle",
        "nvidia-h200-vote",
        "nvidia-h200-occupancy",
        "nvidia-h200-sort",
        "nvidia-h200-moe",
        "nvidia-h200-sparse",
        "lavapipe-8-subgroups",
        "swiftshader-subgroups",
        "simulator",
    ];
    for name in WITH_SIMULATOR.into_iter().chain(alone) {
        let run = load(name);
        assert_eq!(run.tool.git_dirty, Some(false), "{name}");
        assert!(run.tool.git_sha.is_some() && !run.measurements.is_empty(), "{name}");
        for measurement in &run.measurements {
            assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
            assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
        }
    }
}

#[test]
fn every_device_counts_what_the_simulator_counts() {
    for name in WITH_SIMULATOR {
        let run = load(name);
        let rows = analyze::agreements(&run);
        let devices = run.measurements.iter().filter(|m| m.device.starts_with("wgpu")).count();
        assert!(devices >= 5, "{name}");
        assert_eq!(rows.len(), devices, "{name}: each measurement has its twin");
        for row in rows {
            assert!(row.agreement.blocks_compared >= 8, "{name} {}", row.kernel);
            assert_eq!(row.agreement.differences, [], "{name} {}", row.kernel);
        }
    }
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
    let run = load("nvidia-h200-sizes");
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
fn the_ratios_that_the_guide_states_are_in_the_record() {
    let run = load("nvidia-h200");
    let guide = include_str!("../results/README.md");
    let known = analyze::Catalogue {
        kernels: ["branch_by_lane", "branch_by_quad", "early_exit", "indirect_branch", "uniform"]
            .map(|name| {
                let baseline = Some("five_patterns/uniform".to_owned());
                let kernel =
                    analyze::CatalogueKernel { published: None, baseline, published_speedup: None };
                (format!("five_patterns/{name}"), kernel)
            })
            .into(),
    };
    let summary = analyze::summary(&run, &known);
    let rows = || summary.devices[0].rows.iter();
    let form = |row: &analyze::SummaryRow, name: &str| {
        row.parameters["form"] == Value::Name(name.to_owned())
    };
    let mut sealed = 0;
    for row in rows().filter(|row| form(row, "sealed")) {
        if let analyze::TimeRatio::Measured(ratio) = &row.time_ratio {
            let text = format!("{:.2}", ratio.median);
            assert!(guide.contains(&text), "{}: {text}", row.kernel);
            sealed += 1;
        }
    }
    assert_eq!(sealed, 4);
    let removed: Vec<&str> = rows()
        .filter(|row| row.flags.iter().any(|flag| flag == "work_removed_by_compiler"))
        .map(|row| row.kernel.as_str())
        .collect();
    assert_eq!(removed, ["five_patterns/branch_by_lane", "five_patterns/indirect_branch"]);
}
