//! What changes to a launch would have saved, each tried on the simulator with the same data.
//!
//! Input: counts of the launch as it is and of the changed ones. Output: plain data. Which of them
//! are worth advice is worked out when the record is read.

use serde::{Deserialize, Serialize};

use super::counts::BlockTotals;
use crate::units::Nanoseconds;

/// What was tried of a launch, at the measurement's width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The simulator's counts of the launch as it is, by dispatch and block number.
    pub before: Vec<Vec<BlockTotals>>,
    /// The changes, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// How many further changes were not tried, since what trials may take was used up, or what is kept of them.
    pub untried: u32,
    /// Their lines, in the order of what they might save; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untried_lines: Vec<u32>,
    /// The time after which no further change was begun; absent where none was set, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_max_ns: Option<Nanoseconds>,
}

/// The counts of blocks that are kept of trials, at most, unless everything is tried: of a shader with thousands of
/// blocks there are as many causes, and what is kept of each grows with the blocks too.
pub const KEPT_COUNTS_MAX: usize = 1 << 16;

impl WhatIf {
    /// How many counts of blocks the trials have.
    pub fn kept_counts(&self) -> usize {
        self.trials.iter().filter_map(|trial| trial.after.as_ref()).map(Vec::len).sum()
    }
}

/// One change to one dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What is changed.
    pub change: Change,
    /// The dispatch's place in the launch, from 0.
    pub dispatch: u32,
    /// The file.
    pub file: String,
    /// The line of the condition, of the loop or of the size of workgroups, from 1.
    pub line: u32,
    /// The number of the branch or loop in the program, where it is one; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub construct: Option<u32>,
    /// Counts of the dispatch after the change, by block number; absent where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<BlockTotals>>,
    /// Operations of subgroups that the change takes besides those of `after`: a test and what it reads, where a loop's
    /// body is split.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added_operations: u64,
    /// Whether invocations changed places inside their workgroup alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub within_workgroup: bool,
    /// Why it was not tried, or why what came out does not count; absent where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Invocations that go on past a `return` of the entry point become neighbours.
    PackWhatGoesOn,
    /// Invocations that take the same way through a branch equally often become neighbours.
    OrderByBranch,
    /// Invocations whose loop iterates equally often become neighbours.
    OrderByTripCount,
    /// A loop's body is split at a branch: lanes that come to it wait there while the others go on to
    /// their next iterations, and take it together.
    SplitLoopBody,
    /// Workgroups have so many invocations.
    WorkgroupSize {
        /// Before.
        from: u32,
        /// After.
        to: u32,
    },
    /// Workgroups have other sides, and as many invocations.
    WorkgroupShape {
        /// Invocations along x, y and z before.
        from: [u32; 3],
        /// After.
        to: [u32; 3],
    },
    /// So many workgroups are launched; the others return at once.
    FewerWorkgroups {
        /// Before.
        from: u64,
        /// After.
        to: u64,
    },
    /// All lanes run both arms of a short branch, and keep what is theirs (`select`).
    Predicate,
}

/// Why a change was not tried, or does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// The entry point has barriers: invocations belong to their workgroup.
    Barriers,
    /// Its workgroups share memory.
    WorkgroupMemory,
    /// It has subgroup operations: a lane's neighbours are part of its result.
    SubgroupOperations,
    /// It uses the workgroup's number or places in it, which mean something else in others.
    PlaceInWorkgroup,
    /// Its workgroups have two or three dimensions: another size is another tile, and not more of the same row.
    SeveralDimensions,
    /// Several dispatches of the launch have this entry point, whose workgroups have one shape.
    SeveralDispatches,
    /// It uses the number of workgroups.
    WorkgroupCount,
    /// Its workgroups, or subgroups of one, read what others write in the same dispatch.
    Exchange,
    /// The outputs were others, so that invocations depend on their order (such as by an atomic's
    /// old value).
    Outputs,
    /// There are too many invocations to follow each by itself.
    Invocations,
}

/// Whether a field says nothing, and is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Whether a field says nothing, and is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
