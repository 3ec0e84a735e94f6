//! Whether two measurements of the same launch counted the same.
//!
//! Input: two measurements of one kernel with the same parameters, seed and width. Output: every
//! difference in executions, lanes and histogram, block by block. Equality is exact: counts have no
//! tolerance. A block counted on one side only is a difference too. Estimates are not held against
//! counts. Beside it: whether outputs differ since the order of workgroups or lanes decides them.

use std::collections::BTreeMap;

use super::names::{Simulated, device_label, is_simulated};
use crate::{
    record::{Block, Measurement, Method, Output, Run, Status, Tag, Value, flag},
    units::{BlockId, Width},
};

/// What was compared, and what was not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Blocks that both sides counted.
    pub blocks_compared: usize,
    /// Those of them of which both sides took a histogram.
    pub histograms_compared: usize,
    /// Every difference, by dispatch and block.
    pub differences: Vec<Difference>,
}

/// One count that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The dispatch, from 0.
    pub dispatch: usize,
    /// The block.
    pub block: BlockId,
    /// The source file and line of the block's first operation.
    pub place: (String, u32),
    /// What differs.
    pub quantity: Quantity,
    /// The first measurement's count; `None` if it has no such block.
    pub left: Option<u64>,
    /// The second measurement's count.
    pub right: Option<u64>,
}

/// A count of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Static operations: where they differ, the two ran different programs.
    Operations,
    /// Executions by a subgroup.
    Executions,
    /// Active lanes.
    Lanes,
    /// Executions with this many active lanes, from 1.
    Histogram(usize),
}

/// Why two measurements cannot be held against each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// They are of different launches.
    #[error("the {0} differs")]
    Differs(&'static str),
    /// One of them counted nothing.
    #[error("{0} has no counts")]
    NotCounted(String),
    /// One of them estimated its executions.
    #[error("{0} estimated its executions")]
    Estimated(String),
}

/// A device's measurement held against the simulator's at the same width.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementRow {
    /// The device's name for people.
    pub label: String,
    /// The simulator's id.
    pub simulator: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The width of both, in lanes.
    pub width: Option<Width>,
    /// The result.
    pub agreement: Agreement,
}

/// Holds each device's measurement against the simulator's where the run has both, counted.
pub fn agreements(run: &Run) -> Vec<AgreementRow> {
    let simulated = Simulated::from_run(run);
    run.measurements
        .iter()
        .filter(|measurement| !is_simulated(run, measurement))
        .filter_map(|measurement| {
            let twin = simulated.find(measurement)?;
            Some(AgreementRow {
                label: device_label(run, &measurement.device),
                simulator: twin.device.clone(),
                kernel: measurement.kernel.clone(),
                parameters: measurement.parameters.clone(),
                width: measurement.subgroup_width,
                agreement: agreement(measurement, twin).ok()?,
            })
        })
        .collect()
}

/// Compares the counts of two measurements of one launch.
///
/// # Errors
///
/// [`NotComparable`] where kernel, parameters, seed, width or source differ, or a side has no counts.
pub fn agreement(left: &Measurement, right: &Measurement) -> Result<Agreement, NotComparable> {
    let same = [
        ("kernel", left.kernel == right.kernel),
        ("set of parameters", left.parameters == right.parameters),
        ("seed", left.seed == right.seed),
        ("width", left.subgroup_width == right.subgroup_width),
        ("source", left.source_sha256 == right.source_sha256),
    ];
    if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
        return Err(NotComparable::Differs(what));
    }
    for side in [left, right] {
        if side.method == Some(Method::Estimated) {
            return Err(NotComparable::Estimated(side.device.clone()));
        }
        if super::counts::blocks(side).next().is_none() {
            return Err(NotComparable::NotCounted(side.device.clone()));
        }
    }
    let mut found =
        Agreement { blocks_compared: 0, histograms_compared: 0, differences: Vec::new() };
    for dispatch in 0..left.dispatches.len().max(right.dispatches.len()) {
        let blocks = |side: &'_ Measurement| -> BTreeMap<BlockId, Block> {
            let dispatch = side.dispatches.get(dispatch);
            dispatch
                .map_or(&[][..], |dispatch| &dispatch.blocks)
                .iter()
                .map(|block| (block.id, block.clone()))
                .collect()
        };
        let (lefts, rights) = (blocks(left), blocks(right));
        let mut ids: Vec<BlockId> = lefts.keys().chain(rights.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            compare_block(dispatch, lefts.get(&id), rights.get(&id), &mut found);
        }
    }
    Ok(found)
}

/// Whether outputs differ from what a captured dispatch left, and the order of workgroups, subgroups or lanes decides
/// what is left: some device or simulator of the run saw so of the same launch.
pub fn differs_by_order(run: &Run, measurement: &Measurement) -> bool {
    // What has a CPU reference is right in every order.
    let note = run.kernels.get(&measurement.kernel);
    let is_captured = note.is_some_and(|note| note.result.is_none() && note.tolerance.is_none());
    if !is_captured || (measurement.status, measurement.output) != (Status::Ok, Output::Mismatch) {
        return false;
    }
    let orders = [Tag::DependsOnSchedule, Tag::DataRace, Tag::DiffersBetweenRuns];
    run.measurements.iter().any(|other| {
        (&other.kernel, &other.parameters, other.seed, &other.source_sha256)
            == (
                &measurement.kernel,
                &measurement.parameters,
                measurement.seed,
                &measurement.source_sha256,
            )
            && orders.iter().any(|tag| flag::has(&other.flags, tag))
    })
}

/// Adds what differs between two counts of one block; one of the two may be missing.
fn compare_block(
    dispatch: usize,
    left: Option<&Block>,
    right: Option<&Block>,
    found: &mut Agreement,
) {
    let Some(known) = left.or(right) else { return };
    let mut check = |quantity: Quantity, left: Option<u64>, right: Option<u64>| {
        if left != right {
            let place = (known.file.clone(), known.line);
            let block = known.id;
            let difference = Difference { dispatch, block, place, quantity, left, right };
            found.differences.push(difference);
        }
    };
    check(
        Quantity::Operations,
        left.map(|block| block.operations),
        right.map(|block| block.operations),
    );
    check(
        Quantity::Executions,
        left.map(|block| block.executions.0),
        right.map(|block| block.executions.0),
    );
    check(Quantity::Lanes, left.map(|block| block.lanes.0), right.map(|block| block.lanes.0));
    let (Some(left), Some(right)) = (left, right) else { return };
    if let (Some(lefts), Some(rights)) = (&left.histogram, &right.histogram) {
        for bin in 0..lefts.len().max(rights.len()) {
            // A histogram may leave out its empty end: a missing bin holds nothing.
            let count = |bins: &[u64]| Some(bins.get(bin).copied().unwrap_or(0));
            check(Quantity::Histogram(bin + 1), count(lefts), count(rights));
        }
        found.histograms_compared += 1;
    }
    found.blocks_compared += 1;
}
