//! A launch on simulator and device side by side.
//!
//! Input: a launch and two runners of the same width. Output: where they disagree. It opens no
//! device and prints nothing.

use lanescope::kernel::Launch;
use lanescope::program::loops::{self, LoopCounts};
use lanescope::program::{Parsed, Program};
use lanescope::record::Method;
use lanescope::run::{CountRequest, Counted, RunError, RunErrorKind, Runner};

/// What a program's run gave on both.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Basic blocks.
    pub(crate) blocks: usize,
    /// Blocks that nobody ever executed.
    pub(crate) blocks_idle: usize,
    /// Executions of all blocks together, on the simulator.
    pub(crate) executions: u64,
    /// Lanes of all blocks together, on the simulator.
    pub(crate) lanes: u64,
    /// Lanes, outputs and what else differs, a line each; empty where they agree.
    pub(crate) differences: Vec<String>,
    /// Executions and histograms that differ though the lanes are the same, a line each: they do where
    /// the device puts other invocations into a subgroup, or reconverges otherwise.
    pub(crate) differences_in_issues: Vec<String>,
    /// The lines of loops that the device left by itself, or may have left, as its counts say: what differs may come
    /// from that.
    pub(crate) cut_off: Vec<u32>,
    /// Whether the device's counts are not all there, since it left the loop in which they are added up.
    pub(crate) incomplete: bool,
}

/// The line of the block that a difference is about; `None` where it is about none.
pub(crate) fn line_of(difference: &str) -> Option<u32> {
    let (_, rest) = difference.strip_prefix("block ")?.split_once(" at line ")?;
    rest.split_once(':')?.0.parse().ok()
}

/// Runs a launch of one direct dispatch on both and compares outputs, and executions, lanes and, where
/// counted, the histogram of each block; but for the counts of a function of which nobody can say how often it
/// waits.
///
/// # Errors
///
/// What running gives on either.
pub(crate) fn compare_launch(
    launch: &Launch,
    waits: Option<&str>,
    options: CountRequest,
    device: &mut dyn Runner,
    simulator: &mut dyn Runner,
) -> Result<Comparison, RunError> {
    let predicted = simulator.count_once(launch, &options)?;
    let counted = device.count_once(launch, &options)?;
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let parsed = Parsed::new(&launch.file, &launch.source).map_err(|e| bad(e.to_string()))?;
    let entry_point = launch.dispatches.first().map_or("main", |d| d.entry_point.as_str());
    let resolved =
        parsed.resolve(entry_point, &launch.overrides).map_err(|error| bad(error.to_string()))?;
    let mut differences = Vec::new();
    let mut differences_in_issues = Vec::new();
    if counted.width != predicted.width {
        differences.push(format!("width {:?}, simulated {:?}", counted.width, predicted.width));
    }
    for (name, hash) in &predicted.outputs_sha256 {
        if counted.outputs_sha256.get(name) != Some(hash) {
            differences.push(format!("buffer `{name}` differs"));
        }
    }
    let cut_off = find_cut_off(&resolved, &counted, device.device().loop_limit);
    let (device, simulator) = (counts(&counted), counts(&predicted));
    if device.len() != simulator.len() {
        differences.push(format!("{} blocks, simulated {}", device.len(), simulator.len()));
    }
    for ((block, found), expected) in resolved.blocks().iter().zip(device).zip(simulator) {
        if waits == Some(&*block.function) {
            continue;
        }
        let mut histogram = expected.histogram.clone();
        if let (Some(histogram), Some(found)) = (&mut histogram, &found.histogram) {
            // The device's may have room for wider subgroups than it ran.
            histogram.resize(found.len().max(histogram.len()), 0);
        }
        if (found.executions, found.lanes) != (expected.executions, expected.lanes) {
            let difference = format!(
                "block {} at line {}: {} executions and {} lanes, simulated {} and {}",
                block.id,
                block.location.line,
                found.executions.0,
                found.lanes.0,
                expected.executions.0,
                expected.lanes.0
            );
            if found.lanes == expected.lanes {
                differences_in_issues.push(difference);
            } else {
                differences.push(difference);
            }
        } else if found.histogram != histogram {
            differences_in_issues.push(format!(
                "block {} at line {}: histogram {:?}, simulated {histogram:?}",
                block.id, block.location.line, found.histogram
            ));
        }
    }
    Ok(Comparison {
        blocks: simulator.len(),
        blocks_idle: simulator.iter().filter(|count| count.executions.0 == 0).count(),
        executions: simulator.iter().map(|count| count.executions.0).sum(),
        lanes: simulator.iter().map(|count| count.lanes.0).sum(),
        differences,
        differences_in_issues,
        cut_off,
        incomplete: counted.dispatches.first().is_some_and(|dispatch| dispatch.incomplete),
    })
}

/// The lines of loops that the device left by itself, or may have left.
fn find_cut_off(program: &Program, counted: &Counted, limit: Option<u64>) -> Vec<u32> {
    let counts = counts(counted);
    if counts.len() != program.blocks().len() {
        return Vec::new();
    }
    let lanes: Vec<u64> = counts.iter().map(|count| count.lanes.0).collect();
    let executions: Vec<u64> = match counted.method {
        Method::Estimated => lanes.clone(),
        _ => counts.iter().map(|count| count.executions.0).collect(),
    };
    let dispatch = counted.dispatches.first();
    let workgroups = dispatch.and_then(|dispatch| dispatch.workgroups);
    let sizes = workgroups.map(|workgroups| (workgroups, program.workgroup_size()));
    let of_all = |(groups, size): ([u32; 3], [u32; 3])| {
        groups.into_iter().chain(size).map(u64::from).product()
    };
    let counts = LoopCounts {
        executions: &executions,
        lanes: &lanes,
        invocations: sizes.map(of_all),
        limit,
        iterations_max: dispatch.and_then(|dispatch| dispatch.iterations_max),
        incomplete: dispatch.is_some_and(|dispatch| dispatch.incomplete),
    };
    let cut = loops::cut_off(program, &counts);
    cut.certain.into_iter().chain(cut.possible).collect()
}

fn counts(counted: &Counted) -> &[lanescope::instrument::Count] {
    counted.dispatches.first().map_or(&[], |dispatch| &dispatch.counts)
}
