//! Reductions, scans and softmax: right at every width, at sizes that fill nothing evenly, under
//! every schedule; and the library's functions again and again on each driver.
//!
//! Input: the catalogue's families and `lanescope::algorithms`. Output: outputs equal to the CPU
//! references, counts equal to the formulas of the descriptions.

mod stress;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lanescope::kernel::{Catalogue, DeviceClass, Kernel, Launch, SEED};
use lanescope::program::{Overrides, Parsed};
use lanescope::record::{Method, Output, Value};
use lanescope::run::back_end::OpenOptions;
use lanescope::run::simulator::SimulatorRunner;
use lanescope::run::worker::{WorkerOptions, WorkerRunner};
use lanescope::run::{CountRequest, Counted, Runner};
use lanescope::simulate::Schedule;
use lanescope::units::Width;
use libtest_mimic::Trial;

use crate::support::drivers::Driver;
use crate::support::program::path;
use crate::support::trials_of;

pub(crate) use stress::{CHILD, child, stress};

const FAMILIES: [&str; 3] = ["reduce", "scan", "softmax"];

/// Operations of a subgroup before a launch counts as hanging.
const STEPS_MAX: u64 = 1 << 26;

const REQUEST: CountRequest =
    CountRequest { method: Method::Executed, histogram: false, runs: 1, trace: false };

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("collectives::right_at_every_width_on_the_simulator", every_width),
        ("collectives::expected_counts_are_the_simulators", expected_counts),
        ("collectives::blocked_workgroups_help_themselves", fallback),
    ])
}

fn kernels(catalogue: &Catalogue) -> impl Iterator<Item = &Kernel> {
    catalogue.kernels().filter(|kernel| FAMILIES.contains(&kernel.family()))
}

/// A launch with `n` elements and other choices.
fn launch(kernel: &Kernel, n: i64, choices: &[(&str, Value)]) -> Launch {
    let mut chosen: BTreeMap<String, Value> =
        choices.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    chosen.insert("n".to_owned(), Value::Integer(n));
    // Bits are of integers, and products of many numbers from 0 to 1000 are 0 or nothing.
    let operation = chosen.get("operation").map(Value::to_string).unwrap_or_default();
    if ["and", "or", "xor"].contains(&operation.as_str()) {
        chosen.insert("type".to_owned(), Value::Name("u32".to_owned()));
    }
    if operation == "product" {
        chosen.insert("low".to_owned(), Value::Real(0.999));
        chosen.insert("high".to_owned(), Value::Real(1.001));
    }
    kernel.launch(DeviceClass::Quick, &chosen, SEED).unwrap()
}

/// The choices of a kernel: its defaults, then each other value of each enumerated parameter once.
fn choices(kernel: &Kernel) -> Vec<Vec<(&str, Value)>> {
    let defaults = kernel.defaults(DeviceClass::Quick);
    let mut found = vec![Vec::new()];
    for (name, parameter) in &kernel.description.parameters {
        let others = parameter.values.iter().filter(|value| defaults.get(name) != Some(*value));
        found.extend(others.map(|value| vec![(name.as_str(), value.clone())]));
    }
    found
}

/// Runs a launch, and fails with its name where its outputs are not the reference's.
fn verified(runner: &mut dyn Runner, launch: &Launch) -> Counted {
    let name = format!("{} {:?} on {}", launch.kernel, launch.parameters, runner.device().id);
    let counted =
        runner.count_once(launch, &REQUEST).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(counted.checked.output, Output::Verified, "{name}: {:?}", counted.checked.mismatch);
    counted
}

/// Every kernel with every choice at sizes around its blocks; and around tiles by default.
fn every_width() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut launches = 0;
    for width in [4, 8, 32, 64, 128] {
        let mut runner = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX);
        for kernel in kernels(&catalogue) {
            for (index, choice) in choices(kernel).iter().enumerate() {
                let sizes: &[i64] = if index == 0 {
                    &[0, 1, 3, 255, 257, 1021, 4095, 4097, 4099, 9973]
                } else {
                    &[1021, 4099]
                };
                for &n in sizes {
                    verified(&mut runner, &launch(kernel, n, choice));
                    launches += 1;
                }
            }
        }
    }
    assert!(launches > 5 * 13 * 8, "{launches}");
}

/// Executions and lanes that descriptions give are those of the simulator, and so are expected means.
fn expected_counts() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut compared = BTreeSet::new();
    for width in [4, 8, 32, 64, 128] {
        let width = Width::new(width).unwrap();
        let mut runner = SimulatorRunner::new(width, STEPS_MAX);
        for kernel in kernels(&catalogue) {
            let launch = launch(kernel, 1 << 14, &[]);
            let counted = verified(&mut runner, &launch);
            let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
            for (dispatch, counts) in launch.dispatches.iter().zip(&counted.dispatches) {
                let program = parsed.resolve(&dispatch.entry_point, &Overrides::new()).unwrap();
                for (block, count) in program.blocks().iter().zip(&counts.counts) {
                    let Some(label) = &block.label else { continue };
                    let name = format!("{} {label} at {width}", kernel.id);
                    #[expect(clippy::cast_precision_loss, reason = "small counts")]
                    let (executions, lanes) = (count.executions.0 as f64, count.lanes.0 as f64);
                    if let Some(expected) = launch.counts_expected(label, width).unwrap() {
                        assert_eq!((executions, lanes), expected, "{name}");
                        compared.insert((kernel.id.clone(), label.clone()));
                    }
                    let mean = launch.active_lanes_mean_expected(label, width).unwrap().unwrap();
                    if executions > 0.0 {
                        let found = lanes / executions;
                        assert!((found - mean).abs() < 0.02 * mean, "{name}: {found} not {mean}");
                    }
                }
            }
        }
    }
    assert!(compared.len() >= 6, "{compared:?}");
}

/// Under schedules that starve the older workgroups, scans are right, and workgroups that waited in
/// vain have summed up tiles themselves.
fn fallback() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("scan/device").unwrap();
    let integer = Value::Integer;
    for (kind, element) in [("inclusive", "u32"), ("exclusive", "f32")] {
        let mut helped = 0;
        for seed in 0..24 {
            let width =
                Width::new([4, 8, 32, 64, 128][usize::try_from(seed).unwrap() % 5]).unwrap();
            let mut runner =
                SimulatorRunner::new(width, STEPS_MAX).schedule(Schedule::Unfair { seed }, Some(1));
            let n = [0, 1, 511, 513, 7919, 8191, 8193][usize::try_from(seed).unwrap() % 7];
            let choice = [
                ("kind", Value::Name(kind.to_owned())),
                ("type", Value::Name(element.to_owned())),
                ("workgroup_size", integer(128)),
                ("items", integer(1)),
                ("spins", integer([1, 4, 64][usize::try_from(seed).unwrap() % 3])),
            ];
            let launch = launch(kernel, n, &choice);
            let counted = verified(&mut runner, &launch);
            helped += fallbacks(&launch, &counted);
        }
        assert!(helped > 20, "{kind} {element}: {helped} times");
    }
    // In order nobody waits for what has not begun.
    let mut runner = SimulatorRunner::new(Width::new(32).unwrap(), STEPS_MAX)
        .schedule(Schedule::InOrder, Some(1));
    let launch = launch(kernel, 100_000, &[]);
    let counted = verified(&mut runner, &launch);
    assert_eq!(fallbacks(&launch, &counted), 0);
}

/// How often subgroups came to the block in which a workgroup helps itself.
fn fallbacks(launch: &Launch, counted: &Counted) -> u64 {
    let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
    let program = parsed.resolve("main", &Overrides::new()).unwrap();
    let at = program.blocks().iter().position(|b| b.label.as_deref() == Some("fallback")).unwrap();
    counted.dispatches[1].counts[at].executions.0
}

/// Every kernel is right on a driver, at sizes that fill nothing evenly.
pub(crate) fn right(driver: &Driver) {
    let options = WorkerOptions {
        program: Some(path()),
        environment: driver.environment(),
        silence_max: Duration::from_secs(60),
    };
    let mut device =
        WorkerRunner::open_by(&driver.device(), &OpenOptions::usual(None), &options).unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    for kernel in kernels(&catalogue) {
        for (index, choice) in choices(kernel).iter().enumerate() {
            // Each launch is compiled anew, which takes CPU drivers longer than running it.
            let n = if index == 0 { 9973 } else { 4099 };
            verified(&mut device, &launch(kernel, n, choice));
        }
    }
}
