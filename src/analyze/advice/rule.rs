//! The rules of the advice.
//!
//! Input: nothing. Output: each rule's name and what it advises; when one speaks is `rules`' matter.

/// A rule that gives advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A barrier that not every invocation of a workgroup reaches.
    BarrierInDivergentFlow,
    /// Neighbouring lanes take different ways by their number modulo a small constant or its low bits.
    LaneParityBranch,
    /// Lanes of one subgroup take different ways by their number otherwise, such as a bound.
    BranchByInvocation,
    /// Lanes take different ways by what they loaded: sorting would bring like to like.
    DataDependentSwitch,
    /// Lanes of one subgroup leave a loop at different times.
    DivergentTripCounts,
    /// Lanes return and leave the rest of their subgroup half empty.
    EarlyReturn,
    /// The size of the workgroup is no multiple of the width.
    PartialLastSubgroup,
}

impl Rule {
    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BarrierInDivergentFlow => "barrier_in_divergent_flow",
            Self::LaneParityBranch => "lane_parity_branch",
            Self::BranchByInvocation => "branch_by_invocation",
            Self::DataDependentSwitch => "data_dependent_switch",
            Self::DivergentTripCounts => "divergent_trip_counts",
            Self::EarlyReturn => "early_return",
            Self::PartialLastSubgroup => "partial_last_subgroup",
        }
    }

    /// What to try.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::BarrierInDivergentFlow => {
                "Move the barrier to where every invocation passes it, or let the condition be \
                 the same for the whole workgroup."
            }
            Self::LaneParityBranch => {
                "Give each way to whole subgroups: branch on the number divided by the width \
                 instead of on its remainder or low bits, and permute what is loaded accordingly."
            }
            Self::BranchByInvocation => {
                "Move the bound to a multiple of the width, give the work to all lanes of fewer \
                 subgroups, or do it in a dispatch of its own."
            }
            Self::DataDependentSwitch => {
                "Sort or bin the elements by the value that decides, so that a subgroup's lanes \
                 agree; with two ways a partition is enough."
            }
            Self::DivergentTripCounts => {
                "Order the elements by their number of iterations, or let a lane that is done \
                 fetch its next element inside the loop."
            }
            Self::EarlyReturn => {
                "Compact the elements that go on before this kernel, or launch no more \
                 invocations than there is work."
            }
            Self::PartialLastSubgroup => "Make the workgroup's size a multiple of the width.",
        }
    }
}
