//! What the lanes of one subgroup do, operation by operation.
//!
//! Input: the blocks that subgroups execute, as the simulator runs a dispatch. Output: a [`Trace`] of the
//! first operations of one subgroup, chosen among those of the first workgroups and of some at even distances, and
//! how unlike the subgroups are. It changes nothing of what is executed.
//!
//! So that the pictures of two widths show the same invocations, the choice does not depend on the width: it falls
//! on the [`GROUP`] neighbours of which the one with most to do has most more to do than the others. A subgroup of
//! 64 lanes holds them all, and two of 32 do, which are both kept; of a narrower width the one with most
//! idle lanes is.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::program::Program;
use crate::record::{Spread, Trace, TracedSubgroup};
use crate::run::clock::Progress;
use crate::simulate::{ForkObserver, Observer, SubgroupPlace};
use crate::units::{BlockId, Ratio, Width};

/// Operations of a subgroup that are kept.
pub(super) const OPERATIONS_MAX: u64 = 256;

/// Workgroups from the first on whose subgroups are looked at.
const WORKGROUPS: u64 = 16;

/// Workgroups from the first on of which a subgroup may be chosen.
const CHOICE_FIRST: u64 = 4;

/// About how many others a subgroup may be chosen of, at even distances.
const CHOICE_WORKGROUPS: u64 = 12;

/// Neighbouring invocations among which is chosen, at every width up to this.
const GROUP: u32 = 64;

/// Operations of an invocation that the choice looks at.
const OWN_MAX: u64 = 4 * OPERATIONS_MAX;

/// Sets of lanes whose operations wait to be given to each lane.
const PENDING_MAX: usize = 8;

/// About how many others are looked at too, at even distances, for what they have in common.
const SPREAD_WORKGROUPS: u64 = 48;

/// The quantiles that are kept, in percent.
const QUANTILES: [u32; 7] = [0, 10, 25, 50, 75, 90, 100];

/// No workgroup has this number.
const NO_WORKGROUP: u64 = u64::MAX;

/// Watches the subgroups of the first workgroups.
#[derive(Clone, Debug)]
pub(super) struct Tracer {
    /// Operations of each block.
    operations: Arc<[u64]>,
    /// How far those workgroups lie apart that are looked at beyond the first.
    distance: u64,
    /// How far those lie apart of which a subgroup may be chosen, a multiple of `distance`.
    choice_distance: u64,
    /// By workgroup and subgroup, so that the first of equals is the same in every run.
    strands: BTreeMap<(u64, u32), Strand>,
    /// The one that was seen last: a subgroup executes many blocks in a row.
    held: Option<((u64, u32), Strand)>,
    /// Whether nothing is to be watched.
    pub(super) rests: bool,
    /// What is told of each workgroup that is done, where somebody waits.
    pub(super) progress: Option<Progress>,
    /// The workgroup whose turn it was last; [`NO_WORKGROUP`] before the first.
    at: Cell<u64>,
}

/// One subgroup.
#[derive(Clone, Debug, Default)]
struct Strand {
    steps: Vec<(BlockId, u128)>,
    operations: u64,
    lane_operations: u64,
    /// What each lane did itself, until it is enough to choose by.
    own: Vec<u64>,
    /// Operations of sets of lanes that are not in `own` yet: a loop executes its blocks by few sets.
    pending: Vec<(u128, u64)>,
    /// The lanes of which it is.
    known: u128,
    /// Whether it may be chosen.
    may_be_chosen: bool,
    /// Operations to the end, and those of active lanes.
    whole: [u64; 2],
}

impl Strand {
    /// Its efficiency to the end.
    fn efficiency(&self, width: Width) -> Option<Ratio> {
        let [operations, lanes] = self.whole;
        Ratio::divide(lanes, operations * u64::from(width.lanes()))
    }

    /// Adds a block to the first operations, and to what its active lanes did.
    fn add(&mut self, block: BlockId, operations: u64, lanes: u64, active: u128) {
        if self.operations < OPERATIONS_MAX {
            self.steps.push((block, active));
            self.operations += operations;
            self.lane_operations += lanes;
        }
        self.add_own(operations, active);
    }

    /// Adds a block to what its active lanes did.
    fn add_own(&mut self, operations: u64, active: u128) {
        let rest = active & !self.known;
        if rest == 0 {
            return;
        }
        match self.pending.iter_mut().find(|(lanes, _)| *lanes == rest) {
            Some((_, sum)) => {
                *sum += operations;
                if *sum >= OWN_MAX {
                    self.settle_own();
                }
            }
            None => {
                if self.pending.len() == PENDING_MAX {
                    self.settle_own();
                }
                self.pending.push((rest, operations));
            }
        }
    }

    /// Gives each lane what its sets did.
    fn settle_own(&mut self) {
        for (lanes, operations) in self.pending.drain(..) {
            let mut rest = lanes & !self.known;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if self.own.len() <= lane {
                    self.own.resize(lane + 1, 0);
                }
                self.own[lane] += operations;
                if self.own[lane] >= OWN_MAX {
                    self.own[lane] = OWN_MAX;
                    self.known |= 1 << lane;
                }
            }
        }
    }

    /// The lanes that are idle in its first operations, summed over these.
    fn idle(&self, width: Width) -> u64 {
        (self.operations * u64::from(width.lanes())).saturating_sub(self.lane_operations)
    }

    /// The blocks of its steps, and the lanes that are active in each.
    fn steps(&self, width: Width) -> (Vec<BlockId>, Vec<String>) {
        let digits = usize::try_from(width.lanes().div_ceil(4)).unwrap_or(1);
        let step = |(block, mask): &(BlockId, u128)| (*block, format!("{mask:0digits$x}"));
        self.steps.iter().map(step).unzip()
    }
}

impl Tracer {
    /// One that has seen nothing of this program, of which so many workgroups will run.
    pub(super) fn new(program: &Program, workgroups: [u32; 3]) -> Self {
        let operations = program.blocks().iter().map(|block| block.ops).collect();
        let all = workgroups.iter().map(|count| u64::from(*count)).product::<u64>();
        let distance = all.div_ceil(SPREAD_WORKGROUPS).max(1);
        let choice_distance = distance * all.div_ceil(distance).div_ceil(CHOICE_WORKGROUPS).max(1);
        Self {
            operations,
            distance,
            choice_distance,
            strands: BTreeMap::new(),
            held: None,
            rests: false,
            progress: None,
            at: Cell::new(NO_WORKGROUP),
        }
    }

    /// Whether a subgroup of a workgroup may be chosen.
    fn may_choose(&self, workgroup: u64) -> bool {
        workgroup < CHOICE_FIRST || workgroup.is_multiple_of(self.choice_distance)
    }

    /// What is known of a subgroup.
    fn strand(&mut self, key: (u64, u32)) -> &mut Strand {
        if self.held.as_ref().is_some_and(|(held, _)| *held != key) {
            self.put_back();
        }
        // A division, once a subgroup's turn and not once a block.
        let may_be_chosen = self.held.is_some() || self.may_choose(key.0);
        let strands = &mut self.strands;
        let mut taken = || Strand { may_be_chosen, ..strands.remove(&key).unwrap_or_default() };
        &mut self.held.get_or_insert_with(|| (key, taken())).1
    }

    /// Puts the one that was seen last back to the others.
    fn put_back(&mut self) {
        if let Some((key, mut strand)) = self.held.take() {
            strand.settle_own();
            self.strands.insert(key, strand);
        }
    }

    /// How unlike the subgroups are; `None` if none did anything.
    fn spread(&self, width: Width) -> Option<Spread> {
        let each = self.strands.values().filter_map(|strand| strand.efficiency(width));
        let mut ratios: Vec<Ratio> = each.collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = ratios.len().checked_sub(1)?;
        let at = |percent: u32| ratios[last * percent as usize / 100];
        Some(Spread {
            subgroups: ratios.len() as u64,
            efficiency_ratio_quantiles: QUANTILES.map(|percent| (percent, at(percent))).into(),
        })
    }

    /// The chosen subgroup; `None` if none did anything.
    pub(super) fn finish(mut self, dispatch: usize, width: Width) -> Option<Trace> {
        self.put_back();
        let spread = self.spread(width);
        let each = (GROUP / width.lanes()).max(1);
        let mut groups: BTreeMap<(u64, u32), Vec<(u32, Strand)>> = BTreeMap::new();
        for ((workgroup, subgroup), strand) in std::mem::take(&mut self.strands) {
            if self.may_choose(workgroup) {
                groups.entry((workgroup, subgroup / each)).or_default().push((subgroup, strand));
            }
        }
        let uneven = |group: &[(u32, Strand)]| {
            let lane_operations = || {
                group
                    .iter()
                    .flat_map(|(_, strand)| &strand.own)
                    .filter(|operations| **operations > 0)
            };
            lane_operations().max().map_or(0, |most| {
                lane_operations().map(|operations| most - operations).sum::<u64>()
            })
        };
        // The first of equals, which is the last when seen from the end.
        let chosen = groups.into_iter().rev().max_by_key(|(_, group)| uneven(group));
        let ((workgroup, _), mut group) = chosen?;
        if width.lanes() * 2 < GROUP {
            group.sort_by_key(|(_, strand)| std::cmp::Reverse(strand.idle(width)));
            group.truncate(1);
        }
        let mut traced = group.into_iter().map(|(subgroup, strand)| {
            let (blocks, active) = strand.steps(width);
            TracedSubgroup { subgroup, blocks, active }
        });
        let TracedSubgroup { subgroup, blocks, active } = traced.next()?;
        let beside = traced.collect();
        Some(Trace { dispatch, workgroup, subgroup, blocks, active, beside, spread })
    }
}

impl Observer for Tracer {
    fn watches(&self, place: SubgroupPlace) -> bool {
        let before = self.at.replace(place.workgroup);
        if before != place.workgroup && before != NO_WORKGROUP {
            self.progress.iter().for_each(Progress::step);
        }
        !self.rests
            && (place.workgroup < WORKGROUPS || place.workgroup.is_multiple_of(self.distance))
    }

    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) -> ControlFlow<()> {
        let operations = self.operations.get(block.index()).copied().unwrap_or(0);
        if operations > 0 {
            let lanes = operations * u64::from(active.count_ones());
            let strand = self.strand((place.workgroup, place.subgroup));
            strand.whole[0] += operations;
            strand.whole[1] += lanes;
            // Once every lane has done enough to choose by, nothing more is looked at.
            if strand.may_be_chosen
                && (strand.operations < OPERATIONS_MAX || active & !strand.known != 0)
            {
                strand.add(block, operations, lanes, active);
            }
        }
        ControlFlow::Continue(())
    }
}

impl ForkObserver for Tracer {
    fn fresh(&self) -> Self {
        Self {
            operations: Arc::clone(&self.operations),
            distance: self.distance,
            choice_distance: self.choice_distance,
            strands: BTreeMap::new(),
            held: None,
            rests: self.rests,
            progress: self.progress.clone(),
            at: Cell::new(NO_WORKGROUP),
        }
    }

    fn merge(&mut self, mut other: Self) {
        other.put_back();
        self.strands.append(&mut other.strands);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::random::SplitMix64;

    #[test]
    fn each_lane_has_what_its_sets_did_together() {
        let mut random = SplitMix64::new(1);
        let mut strand = Strand::default();
        let mut sums = [0_u64; 64];
        for _ in 0..400 {
            // Few sets again and again, and now and then another.
            let set = random.bits() % 12;
            let active = u128::from(SplitMix64::new(set).bits());
            let operations = 1 + random.bits() % 9;
            strand.add_own(operations, active);
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += operations * u64::from((active >> lane) & 1 == 1);
            }
        }
        strand.settle_own();
        assert!(sums.iter().any(|sum| *sum > OWN_MAX) && sums.iter().any(|sum| *sum < OWN_MAX));
        assert_eq!(strand.own, sums.map(|sum| sum.min(OWN_MAX)));
    }
}
