//! The kinds of advice.
//!
//! Input: nothing. Output: each kind's name, and what the change costs elsewhere. What it saves is `cards`' matter.

use crate::record::Change;

/// What a piece of advice changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A barrier that not every invocation of a workgroup reaches.
    BarrierInDivergentFlow,
    /// Invocations that go on past a return become neighbours.
    PackWhatGoesOn,
    /// Invocations that take the same way become neighbours.
    OrderByBranch,
    /// Invocations whose loop iterates equally often become neighbours.
    OrderByTripCount,
    /// A loop's body is split at a branch, which lanes then take together.
    SplitLoopBody,
    /// Workgroups have another size.
    WorkgroupSize,
    /// Workgroups have other sides.
    WorkgroupShape,
    /// Fewer workgroups are launched.
    FewerWorkgroups,
    /// Both arms of a short branch are run by all lanes.
    Select,
    /// Addresses of neighbouring lanes lie apart.
    ScatteredAccess,
    /// Lanes want different words of one bank.
    BankConflict,
    /// Lanes change one word atomically.
    CrowdedAtomic,
    /// Subgroups wait whole for others.
    WaitAtBarrier,
}

impl From<Change> for Rule {
    fn from(change: Change) -> Self {
        match change {
            Change::PackWhatGoesOn => Self::PackWhatGoesOn,
            Change::OrderByBranch => Self::OrderByBranch,
            Change::OrderByTripCount => Self::OrderByTripCount,
            Change::SplitLoopBody => Self::SplitLoopBody,
            Change::WorkgroupSize { .. } => Self::WorkgroupSize,
            Change::WorkgroupShape { .. } => Self::WorkgroupShape,
            Change::FewerWorkgroups { .. } => Self::FewerWorkgroups,
            Change::Predicate => Self::Select,
        }
    }
}

impl Rule {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::OrderByTripCount,
        Self::OrderByBranch,
        Self::PackWhatGoesOn,
        Self::SplitLoopBody,
        Self::FewerWorkgroups,
        Self::WorkgroupSize,
        Self::WorkgroupShape,
        Self::Select,
        Self::BarrierInDivergentFlow,
        Self::ScatteredAccess,
        Self::BankConflict,
        Self::CrowdedAtomic,
        Self::WaitAtBarrier,
    ];

    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BarrierInDivergentFlow => "barrier_in_divergent_flow",
            Self::PackWhatGoesOn => "pack_what_goes_on",
            Self::OrderByBranch => "order_by_branch",
            Self::OrderByTripCount => "order_by_trip_count",
            Self::SplitLoopBody => "split_loop_body",
            Self::WorkgroupSize => "workgroup_size",
            Self::WorkgroupShape => "workgroup_shape",
            Self::FewerWorkgroups => "fewer_workgroups",
            Self::Select => "select",
            Self::ScatteredAccess => "scattered_access",
            Self::BankConflict => "bank_conflict",
            Self::CrowdedAtomic => "crowded_atomic",
            Self::WaitAtBarrier => "wait_at_barrier",
        }
    }

    /// What was seen, and what is changed: a clause each.
    pub fn cause(self) -> &'static str {
        match self {
            Self::BarrierInDivergentFlow => {
                "not every invocation of a workgroup reaches a barrier: an error, whatever it costs"
            }
            Self::PackWhatGoesOn => {
                "lanes return, and the rest of their subgroup goes on without them: subgroups are made of \
                 those that go on"
            }
            Self::OrderByBranch => {
                "lanes take different ways of an `if` or a `switch`: neighbours become invocations that \
                 take the same way"
            }
            Self::OrderByTripCount => {
                "lanes of a subgroup leave a loop at different times: neighbours become invocations that \
                 stay about equally long"
            }
            Self::SplitLoopBody => {
                "lanes come to a branch of a loop in different iterations: they wait there while the others go on to \
                 their next iterations, and take it together"
            }
            Self::WorkgroupSize => "the workgroup's size is no multiple of the width",
            Self::WorkgroupShape => {
                "lanes of a subgroup part in a grid with rows: workgroups of as many invocations have other sides"
            }
            Self::FewerWorkgroups => "all invocations of the last workgroups return at once",
            Self::Select => {
                "a short branch, both arms of which all lanes run: it saves no subgroup operation, which \
                 is said"
            }
            Self::ScatteredAccess => {
                "a subgroup's access touches at least twice the sectors of 32 bytes that it must"
            }
            Self::BankConflict => "lanes want different words of one bank of workgroup memory",
            Self::CrowdedAtomic => "four lanes and more of a subgroup access one word atomically",
            Self::WaitAtBarrier => {
                "whole subgroups wait for others of their workgroup, which idle lanes do not show"
            }
        }
    }

    /// What the change costs elsewhere; for a barrier, what to try.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::BarrierInDivergentFlow => {
                "Move the barrier to where every invocation passes it, or let the condition be \
                 the same for the whole workgroup."
            }
            Self::PackWhatGoesOn => {
                "Not counted: the pass that packs their numbers (a prefix sum and a store), and one load \
                 for each invocation to find its number; their other loads and stores lie further apart."
            }
            Self::OrderByBranch => {
                "Not counted: sorting or binning the numbers of the invocations by what decides, and one \
                 load for each invocation to find its number; their other loads and stores lie further \
                 apart."
            }
            Self::OrderByTripCount => {
                "Not counted: sorting the numbers of the invocations by how often they loop, which must be \
                 known or estimated before, and one load for each invocation to find its number; their other \
                 loads and stores lie further apart."
            }
            Self::SplitLoopBody => {
                "Counted: a test each time the branch is taken. Not counted: registers for what lanes remember \
                 while they wait."
            }
            Self::WorkgroupSize => {
                "Not counted: larger workgroups may leave fewer of them on a core at once."
            }
            Self::WorkgroupShape => {
                "Not counted: other lanes are neighbours, so that loads and stores lie further apart where rows become \
                 shorter."
            }
            Self::FewerWorkgroups => {
                "It costs nothing where the host knows how much work there is, else an indirect dispatch."
            }
            Self::ScatteredAccess => {
                "Not counted: what the change does to other accesses, and what sorting or copying costs."
            }
            Self::BankConflict => {
                "Not counted: what sorting costs; unused elements and copies take workgroup memory, so that fewer workgroups may fit on a core."
            }
            Self::CrowdedAtomic => {
                "Not counted: the subgroup operation before it (`subgroupAdd`, `subgroupMax`, a ballot), or a copy a \
                 workgroup where the word lies in a buffer."
            }
            Self::WaitAtBarrier => "Other barriers may then be needed, or more workgroups.",
            Self::Select => "Registers for both arms; loads of both arms are made by all lanes.",
        }
    }
}
