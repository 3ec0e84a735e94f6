//! What the lanes of one subgroup do, operation by operation.
//!
//! Input: the blocks that subgroups execute, as the simulator runs a dispatch. Output: a [`Trace`] of the
//! first operations of the subgroup that leaves most lanes idle in them, among those of the first
//! workgroups. It changes nothing of what is executed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::program::Program;
use crate::record::Trace;
use crate::simulate::{ForkObserver, Observer, SubgroupPlace};
use crate::units::{BlockId, Width};

/// Operations of a subgroup that are kept.
pub(super) const OPERATIONS_MAX: u64 = 256;

/// Workgroups from the first on whose subgroups are looked at.
const WORKGROUPS: u64 = 16;

/// Watches the subgroups of the first workgroups.
#[derive(Clone, Debug)]
pub(super) struct Tracer {
    /// Operations of each block.
    operations: Arc<[u64]>,
    /// By workgroup and subgroup, so that the first of equals is the same in every run.
    strands: BTreeMap<(u64, u32), Strand>,
}

/// One subgroup.
#[derive(Clone, Debug, Default)]
struct Strand {
    steps: Vec<(BlockId, u128)>,
    operations: u64,
    lane_operations: u64,
}

impl Tracer {
    /// One that has seen nothing of this program.
    pub(super) fn new(program: &Program) -> Self {
        let operations = program.blocks().iter().map(|block| block.ops).collect();
        Self { operations, strands: BTreeMap::new() }
    }

    /// The subgroup with most idle lanes in its first operations; nothing where none did anything.
    pub(super) fn finish(self, dispatch: usize, width: Width) -> Option<Trace> {
        let idle = |strand: &Strand| {
            (strand.operations * u64::from(width.lanes())).saturating_sub(strand.lane_operations)
        };
        let mut best: Option<((u64, u32), Strand)> = None;
        for (place, strand) in self.strands {
            if best.as_ref().is_none_or(|(_, known)| idle(&strand) > idle(known)) {
                best = Some((place, strand));
            }
        }
        let ((workgroup, subgroup), strand) = best?;
        let digits = usize::try_from(width.lanes().div_ceil(4)).unwrap_or(1);
        Some(Trace {
            dispatch,
            workgroup,
            subgroup,
            blocks: strand.steps.iter().map(|(block, _)| *block).collect(),
            active: strand.steps.iter().map(|(_, mask)| format!("{mask:0digits$x}")).collect(),
        })
    }
}

impl Observer for Tracer {
    fn watches(&self, place: SubgroupPlace) -> bool {
        let seen = || self.strands.get(&(place.workgroup, place.subgroup));
        place.workgroup < WORKGROUPS
            && seen().is_none_or(|strand| strand.operations < OPERATIONS_MAX)
    }

    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) -> ControlFlow<()> {
        let operations = self.operations.get(block.index()).copied().unwrap_or(0);
        if operations == 0 {
            return ControlFlow::Continue(());
        }
        let strand = self.strands.entry((place.workgroup, place.subgroup)).or_default();
        strand.steps.push((block, active));
        strand.operations += operations;
        strand.lane_operations += operations * u64::from(active.count_ones());
        if strand.operations < OPERATIONS_MAX {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl ForkObserver for Tracer {
    fn fresh(&self) -> Self {
        Self { operations: Arc::clone(&self.operations), strands: BTreeMap::new() }
    }

    fn merge(&mut self, mut other: Self) {
        self.strands.append(&mut other.strands);
    }
}
