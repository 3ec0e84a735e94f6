//! Simulator and device side by side over random programs.
//!
//! Input: a [`Program`] and two runners of the same width. Output: where they disagree, and a
//! smaller program that still shows it. It opens no device and prints nothing.

use std::collections::BTreeMap;

use lanescope::kernel::{Buffer, Dispatch, Fill, Launch, ScalarType, Workgroups};
use lanescope::program::Parsed;
use lanescope::run::{CountOptions, Counted, RunError, RunErrorKind, Runner};

use super::random_program::{Options, Program, TOTALS};

/// What a program's run gave on both.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Basic blocks.
    pub(crate) blocks: usize,
    /// Blocks that nobody ever executed.
    pub(crate) blocks_idle: usize,
    /// Issues of all blocks together, on the simulator.
    pub(crate) issues: u64,
    /// Lanes of all blocks together, on the simulator.
    pub(crate) lanes: u64,
    /// What differs, a line each; empty where they agree.
    pub(crate) differences: Vec<String>,
}

/// The program of a seed.
///
/// # Panics
///
/// When a generated program is no valid WGSL: a fault of the generator's.
#[expect(clippy::expect_used, reason = "the generator promises a valid program")]
pub(crate) fn program(seed: u64, options: Options) -> Program {
    Program::new(seed, options, &|text| {
        let parsed = Parsed::new("random.wgsl", text).expect("a valid module");
        parsed.resolve("main", &BTreeMap::new()).expect("an entry point").blocks().len()
    })
}

/// A launch of a program, checked, without a reference.
pub(crate) fn launch(program: &Program, seed: u64) -> Launch {
    let invocations = u64::from(program.workgroup_size) * u64::from(program.workgroups);
    let buffer = |name: &str, words: u64, fill| Buffer {
        name: name.to_owned(),
        size: words * 4,
        fill,
        scalar: ScalarType::U32,
        output: true,
    };
    Launch {
        kernel: format!("random/{seed}"),
        file: format!("random-{seed}.wgsl"),
        source: program.to_string(),
        parameters: BTreeMap::new(),
        seed,
        overrides: BTreeMap::new(),
        buffers: vec![
            buffer("output", invocations, Fill::Zero),
            // Minimum and conjunction start from all ones.
            buffer("totals", TOTALS, Fill::Words(vec![0, 0, 0, 0, u32::MAX, u32::MAX])),
        ],
        dispatches: vec![Dispatch {
            entry_point: "main".to_owned(),
            workgroups: Workgroups::Direct([program.workgroups, 1, 1]),
        }],
        repeatable: true,
        trusted: false,
        immediates: Vec::new(),
        reference: None,
        expected: BTreeMap::new(),
        exempt_from_agreement: None,
    }
}

/// Runs a program on both and compares outputs, and issues, lanes and, where counted, the histogram
/// of each block.
///
/// # Errors
///
/// What running gives on either.
pub(crate) fn compare(
    program: &Program,
    seed: u64,
    device: &mut dyn Runner,
    simulator: &mut dyn Runner,
) -> Result<Comparison, RunError> {
    let launch = launch(program, seed);
    // A histogram keeps all counters in memory; without one most are in registers. lavapipe takes
    // three times as long to compile the former.
    let options = CountOptions { histogram: seed.is_multiple_of(8), derived: false };
    let predicted = simulator.count(&launch, &options)?;
    let counted = device.count(&launch, &options)?;
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let parsed = Parsed::new(&launch.file, &launch.source).map_err(|e| bad(e.to_string()))?;
    let resolved =
        parsed.resolve("main", &launch.overrides).map_err(|error| bad(error.to_string()))?;
    let mut differences = Vec::new();
    if counted.width != predicted.width {
        differences.push(format!("width {:?}, simulated {:?}", counted.width, predicted.width));
    }
    for (name, hash) in &predicted.outputs_sha256 {
        if counted.outputs_sha256.get(name) != Some(hash) {
            differences.push(format!("buffer `{name}` differs"));
        }
    }
    let (device, simulator) = (counts(&counted), counts(&predicted));
    if device.len() != simulator.len() {
        differences.push(format!("{} blocks, simulated {}", device.len(), simulator.len()));
    }
    for ((block, found), expected) in resolved.blocks().iter().zip(device).zip(simulator) {
        let mut histogram = expected.histogram.clone();
        if let (Some(histogram), Some(found)) = (&mut histogram, &found.histogram) {
            // The device's may have room for wider subgroups than it ran.
            histogram.resize(found.len().max(histogram.len()), 0);
        }
        if (found.issues, found.lanes) != (expected.issues, expected.lanes) {
            differences.push(format!(
                "block {} at line {}: {} issues and {} lanes, simulated {} and {}",
                block.id,
                block.location.line,
                found.issues.0,
                found.lanes.0,
                expected.issues.0,
                expected.lanes.0
            ));
        } else if found.histogram != histogram {
            differences.push(format!(
                "block {} at line {}: histogram {:?}, simulated {histogram:?}",
                block.id, block.location.line, found.histogram
            ));
        }
    }
    Ok(Comparison {
        blocks: simulator.len(),
        blocks_idle: simulator.iter().filter(|count| count.issues.0 == 0).count(),
        issues: simulator.iter().map(|count| count.issues.0).sum(),
        lanes: simulator.iter().map(|count| count.lanes.0).sum(),
        differences,
    })
}

fn counts(counted: &Counted) -> &[lanescope::instrument::Count] {
    counted.dispatches.first().map_or(&[], |dispatch| &dispatch.counts)
}

/// A smaller program that two runners still disagree on, and how.
///
/// # Errors
///
/// What running gives on either.
pub(crate) fn smallest(
    program: &Program,
    seed: u64,
    device: &mut dyn Runner,
    simulator: &mut dyn Runner,
) -> Result<(Program, Vec<String>), RunError> {
    let mut again = |program: &Program| compare(program, seed, device, simulator);
    let smallest = shrink(program, &mut |program| {
        again(program).is_ok_and(|comparison| !comparison.differences.is_empty())
    });
    let differences = again(&smallest)?.differences;
    Ok((smallest, differences))
}

/// A program that still fails, from which no statement can be taken without losing the failure.
fn shrink(program: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let before = smallest.len();
        let mut index = 0;
        while let Some(smaller) = smallest.without(index) {
            if fails(&smaller) {
                smallest = smaller;
            } else {
                index += 1;
            }
        }
        if smallest.len() == before {
            return smallest;
        }
    }
}
