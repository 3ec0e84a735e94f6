//! How to execute: what a caller chooses, and the largest launches.
//!
//! Input: nothing. Output: plain data.

use crate::units::Width;

/// Workgroups along a dimension at most: WebGPU's limit.
pub(super) const WORKGROUPS_MAX: u32 = 65_535;

/// Invocations a workgroup at most: what the largest GPUs run.
pub(super) const INVOCATIONS_MAX: u64 = 1024;

/// What a subgroup's beginning counts against the limit of all operations together.
pub const SUBGROUP_OPERATIONS: u64 = 64;

/// Bytes of a buffer at most: offsets are 32 bits, and the last is none.
pub const BUFFER_BYTES_MAX: u32 = u32::MAX - 15;

/// How to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Lanes a subgroup.
    pub width: Width,
    /// When lanes that parted meet again.
    pub reconvergence: Reconvergence,
    /// How `fma` rounds.
    pub fma: Fma,
    /// Operations that one subgroup may execute (as blocks count them, and one for each iteration)
    /// before the launch is stopped. A lane's operations are never more than its subgroup's.
    pub steps_max: u64,
    /// Operations that all subgroups together may execute before the launch is stopped: counted alike, and
    /// [`SUBGROUP_OPERATIONS`] for each subgroup, which takes time to begin.
    pub operations_max: u64,
    /// Which workgroup runs when.
    pub schedule: Schedule,
    /// Whether what would be reported (see [`ReportKind`](super::ReportKind)) stops the launch instead.
    pub strict: bool,
    /// Worker threads at most; nothing means as many as rayon's global pool has. They change how long
    /// a launch takes and nothing else.
    pub threads: Option<usize>,
    /// Whether workgroup memory begins as zeros.
    pub zero_workgroup_memory: bool,
}

/// When lanes that parted meet again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconvergence {
    /// At the end of the `if` or `switch`, and at each iteration of a loop.
    Maximal,
    /// At the end of the innermost loop; outside loops as `Maximal`.
    Late,
}

/// How `fma` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fma {
    /// Once.
    Fused,
    /// After the multiplication and after the addition.
    Unfused,
}

/// Which workgroup runs when, wherever that can be seen: a schedule repeats exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// In dispatch order, each to its end before the next begins; its subgroups in turn, 65,536
    /// operations each.
    InOrder,
    /// Random slices of random workgroups and subgroups, which end at loops, behind accesses to
    /// memory and at barriers; fair in the long run.
    Shuffled {
        /// Of the random numbers.
        seed: u64,
    },
    /// The youngest workgroup and the last subgroup first; the oldest gets one turn in eight.
    Unfair {
        /// Of the random numbers.
        seed: u64,
    },
}
