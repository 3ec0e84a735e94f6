//! The family of grain: its formulas, derived by hand in its descriptions, against what the simulator
//! and the drivers count.
//!
//! Input: every point of its sweeps, on full grids. Output: a failure where a block's mean active lanes
//! is not what its formula gives: exactly, where nothing is random, else within what sampling explains.

use std::collections::{BTreeMap, BTreeSet};

use lanescope::analyze;
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, Launch, SEED};
use lanescope::program::{Overrides, Parsed, Program};
use lanescope::record::{Measurement, Method, Output, Status, Value};
use lanescope::run::launched::parts_are_executions;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, CountedDispatch, Runner};
use lanescope::units::Width;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::program;
use crate::support::trials_of;

const WIDTHS: [u32; 5] = [8, 16, 32, 64, 128];

/// How far the mean over a sample of random inputs may lie from the formula's mean over all.
const SAMPLED: f64 = 0.03;

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("grain::formulas_hold_on_the_simulator_at_every_width", formulas),
        ("grain::cost_at_64_over_32_is_what_an_audit_found", audit),
        ("grain::parts_of_64_lanes_are_what_narrower_subgroups_execute", parts),
    ])
}

fn kernels(catalogue: &Catalogue) -> Vec<&Kernel> {
    catalogue.select("grain").unwrap()
}

pub(crate) type Point = BTreeMap<String, Value>;

/// Every point of a kernel's sweeps: where something is random, on a grid that is large enough for it to even out.
fn points(kernel: &Kernel) -> Vec<Point> {
    let mut all: Vec<Point> = Vec::new();
    for sweep in &kernel.description.sweeps {
        for mut point in sweep.points(&Point::new()) {
            if kernel.description.parameters.contains_key("n") {
                let even = if may_be_random(kernel, &point) { 15 << 15 } else { 15 << 11 };
                point.insert("n".to_owned(), Value::Integer(even));
            }
            let random = point.contains_key("wavelength");
            point.insert("work".to_owned(), Value::Integer(if random { 16 } else { 2 }));
            if !all.contains(&point) {
                all.push(point);
            }
        }
    }
    all
}

/// Whether a launch's counts depend on random inputs.
fn is_random(kernel: &Kernel, launch: &Launch) -> bool {
    may_be_random(kernel, &launch.parameters)
}

fn may_be_random(kernel: &Kernel, point: &Point) -> bool {
    kernel.name() == "trips" || point.get("offset") == Some(&Value::Name("random".into()))
}

/// What a launch's first dispatch runs.
pub(crate) fn program_of(launch: &Launch) -> Program {
    let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
    let values: Overrides = launch.overrides.clone();
    parsed.resolve(&launch.dispatches[0].entry_point, &values).unwrap()
}

/// Compares the labelled blocks of a launch with their formulas, of those that no lane reaches and those that have none
/// only where `all`; gives how many it compared.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(crate) fn compare(
    launch: &Launch,
    width: Width,
    (random, all): (bool, bool),
    counts: &[(u64, u64)],
) -> Result<usize, String> {
    let program = program_of(launch);
    let mut compared = 0;
    for (block, &(executions, lanes)) in program.blocks().iter().zip(counts) {
        let Some(label) = &block.label else { continue };
        let name = format!("{} {:?} {label} at {width}", launch.kernel, launch.parameters);
        let mean = launch.active_lanes_mean_expected(label, width)?;
        if !all && (executions == 0 || mean.is_none()) {
            continue;
        }
        let mean = mean.ok_or("no formula")?;
        let found = lanes as f64 / executions as f64;
        let allowed = if random { SAMPLED * mean } else { 1e-9 * mean };
        if (found - mean).abs() > allowed || !found.is_finite() {
            return Err(format!("{name}: {found} lanes, the formula says {mean}"));
        }
        if let Some(exact) = launch.counts_expected(label, width)?
            && exact != (executions as f64, lanes as f64)
        {
            return Err(format!("{name}: {executions} and {lanes}, the formulas say {exact:?}"));
        }
        compared += 1;
    }
    Ok(compared)
}

/// The counts of a launch on the simulator, whose outputs are right where there is a reference for them.
pub(crate) fn simulate(launch: &Launch, width: Width) -> lanescope::run::Counted {
    let mut runner = SimulatorRunner::new(width, STEPS_MAX);
    let counted = runner.count_once(launch, &CountRequest::once(Method::Executed)).unwrap();
    let expected = match launch.reference {
        Some(_) => Output::Verified,
        None => Output::Unchecked,
    };
    assert_eq!(counted.checked.output, expected, "{:?}", counted.checked.mismatch);
    counted
}

pub(crate) fn pairs(counted: &lanescope::run::Counted) -> Vec<(u64, u64)> {
    let counts = counted.dispatches[0].counts.iter();
    counts.map(|count| (count.executions.0, count.lanes.0)).collect()
}

fn formulas() {
    let catalogue = Catalogue::embedded().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for kernel in kernels(&catalogue) {
        for point in points(kernel) {
            let launch = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
            for width in WIDTHS {
                let width = Width::new(width).unwrap();
                let counts = pairs(&simulate(&launch, width));
                match compare(&launch, width, (is_random(kernel, &launch), true), &counts) {
                    Ok(0) => wrong.push(format!("{} {point:?}: nothing was compared", kernel.id)),
                    Ok(blocks) => compared += blocks,
                    Err(why) => wrong.push(why),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 5 * 50, "{compared}");
}

/// What an audit under the rule that counts jumps found for runs, within 2 %.
fn audit() {
    let catalogue = Catalogue::embedded().unwrap();
    // The kernels of hot loops: a small image of the fractal, and the size of an image at which the audit
    // counted the marched rays (docs/width.md: what these cost depends on it).
    for (id, parameter, value, expected) in [
        ("grain/run_lengths", "run", 32, 1.98),
        ("grain/run_lengths", "run", 48, 1.49),
        ("grain/run_lengths", "run", 64, 1.0),
        ("grain/run_lengths", "run", 40, 1.25),
        ("grain/run_lengths", "run", 96, 1.33),
        ("hot_loops/mandelbrot", "n", 2048, 1.42),
        ("hot_loops/raymarch", "n", 65_536, 1.14),
    ] {
        let kernel = catalogue.kernel(id).unwrap();
        let point = Point::from([(parameter.to_owned(), Value::Integer(value))]);
        let launch = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
        let [narrow, wide] = analyze::WIDTHS_COMPARED.map(|width| slots(&launch, width));
        let ratio = wide / narrow;
        assert!(
            (ratio / expected - 1.0).abs() < 0.02,
            "{id} {parameter}={value}: {ratio}, not {expected}"
        );
    }
}

/// Σ operations × executions × width.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(crate) fn slots(launch: &Launch, width: Width) -> f64 {
    let program = program_of(launch);
    let counted = simulate(launch, width);
    let blocks = program.blocks().iter().zip(&counted.dispatches[0].counts);
    blocks.map(|(block, count)| (block.ops * count.executions.0) as f64).sum::<f64>()
        * f64::from(width.lanes())
}

/// The parts of 32 and 16 lanes that had a lane are the executions at 32 and 16 lanes, block by block,
/// where no kernel asks for its width: what makes one run at 64 lanes say what narrower machines do.
fn parts() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut compared = 0;
    let families = ["grain", "five_patterns", "hot_loops"];
    for kernel in families.iter().flat_map(|family| catalogue.select(family).unwrap()) {
        let point: Point = [("n", 1021), ("work", 3)]
            .into_iter()
            .filter(|(name, _)| kernel.description.parameters.contains_key(*name))
            .map(|(name, value)| (name.to_owned(), Value::Integer(value)))
            .collect();
        let launch = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
        let count = |width: u32| {
            let mut runner = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX);
            let request = CountRequest::once(Method::Executed);
            runner.count_once(&launch, &request).unwrap().dispatches.remove(0).counts
        };
        let [of_16, of_32, of_64, of_128] = [16, 32, 64, 128].map(count);
        assert!(of_32.iter().all(|block| block.parts.is_none()));
        for (block, narrow) in of_64.iter().zip(of_16.iter().zip(&of_32)) {
            let parts = block.parts.unwrap();
            let executions = (narrow.0.executions.0, narrow.1.executions.0);
            assert_eq!((parts.of_16, parts.of_32), executions, "{}", kernel.id);
            compared += 1;
        }
        for (block, wide) in of_64.iter().zip(&of_128) {
            assert_eq!(block.parts, wide.parts, "{} at 128", kernel.id);
        }
    }
    assert!(compared > 100, "{compared}");
    let mut kernels = 0;
    let quick = catalogue.all().filter(|kernel| !kernel.id.starts_with("hot_loops/"));
    for kernel in quick {
        let launch = kernel.launch(DeviceClass::Quick, &Point::new(), SEED).unwrap();
        if launch.language() != KernelLanguage::Wgsl || !parts_are_executions(&launch) {
            continue;
        }
        let count = |width: u32| {
            let mut runner = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX);
            let request = CountRequest::once(Method::Executed);
            runner.count_once(&launch, &request).unwrap().dispatches
        };
        let [narrow, wide] = [32, 64].map(count);
        for (narrow, wide) in narrow.iter().zip(&wide) {
            let executions = narrow.counts.iter().map(|block| block.executions.0);
            let parts = wide.counts.iter().map(|block| block.parts.unwrap().of_32);
            assert!(executions.eq(parts), "{}", kernel.id);
            let lanes = |counts: &CountedDispatch| -> Vec<_> {
                counts.counts.iter().map(|block| block.lanes).collect()
            };
            assert_eq!(lanes(narrow), lanes(wide), "{}", kernel.id);
        }
        kernels += 1;
    }
    assert!(kernels >= 40, "{kernels}");
}

/// On a driver: every point of every kernel's sweeps, those of simulators too, at its width.
pub(crate) fn on_driver(driver: &Driver) {
    let catalogue = Catalogue::embedded().unwrap();
    for kernel in kernels(&catalogue) {
        let folder = TempDir::new().unwrap();
        let device = driver.device();
        // Each axis with every value that a sweep has.
        let mut axes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (name, values) in kernel.description.sweeps.iter().flat_map(|sweep| &sweep.axes) {
            axes.entry(name).or_default().extend(values.iter().map(Value::to_string));
        }
        axes.insert("work", BTreeSet::from(["16".to_owned()]));
        if kernel.description.parameters.contains_key("n") {
            axes.insert("n", BTreeSet::from([(15 << 15).to_string()]));
        }
        let points: usize = axes.values().map(BTreeSet::len).product();
        let axes = axes.iter().map(|(name, values)| {
            format!("{name}=[{}]", values.iter().map(String::as_str).collect::<Vec<_>>().join(","))
        });
        let axes: Vec<String> = axes.flat_map(|axis| ["-a".to_owned(), axis]).collect();
        let mut arguments = vec![&*kernel.id, "--no-timing", "--device", &device];
        arguments.extend(axes.iter().map(String::as_str));
        let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(run.measurements.len(), points, "{}", kernel.id);
        for measurement in &run.measurements {
            check(kernel, measurement, driver.width);
        }
    }
}

/// Holds a driver's counts of a launch against the formulas at its width.
fn check(kernel: &Kernel, measurement: &Measurement, lanes: u32) {
    assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.error);
    assert_eq!(measurement.output, Output::Verified, "{:?}", measurement.error);
    let launch =
        kernel.launch(DeviceClass::Quick, &measurement.parameters, measurement.seed).unwrap();
    let blocks = measurement.dispatches[0].blocks.iter();
    let counts: Vec<(u64, u64)> = blocks.map(|block| (block.executions.0, block.lanes.0)).collect();
    let width = measurement.subgroup_width.unwrap();
    assert_eq!(width.lanes(), lanes);
    let found = compare(&launch, width, (is_random(kernel, &launch), true), &counts);
    assert!(found.unwrap_or_else(|why| panic!("{why}")) > 0, "{}: no block", kernel.id);
}
