//! How often each invocation executed each block.
//!
//! Input: what the simulator shows an observer. Output: orders of invocations by what they did. It
//! runs nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::simulate::{ForkObserver, Observer, SubgroupPlace};
use crate::units::{BlockId, Width};

/// Notes executions by invocation and block.
#[derive(Debug)]
pub(super) struct History {
    /// Invocations of a workgroup.
    size: usize,
    blocks: usize,
    width: usize,
    /// By workgroup: executions, `[blocks × size]`.
    groups: BTreeMap<u64, Vec<u32>>,
}

impl History {
    /// Notes nothing so far; of workgroups of `size` invocations.
    pub(super) fn new(size: u32, blocks: usize, width: Width) -> Self {
        Self { size: size as usize, blocks, width: width.index(), groups: BTreeMap::new() }
    }

    /// How many subgroups have lanes that executed `keys` differently often, and how many there are.
    pub(super) fn count_parted(&self, keys: &[BlockId]) -> (u64, u64) {
        let (mut parted, mut all) = (0, 0);
        for rows in self.groups.values() {
            for first in (0..self.size).step_by(self.width) {
                let lanes = first..self.size.min(first + self.width);
                let row = |block: &BlockId| &rows[block.index() * self.size..][lanes.clone()];
                all += 1;
                parted += u64::from(keys.iter().any(|block| {
                    let row = row(block);
                    row.iter().any(|count| *count != row[0])
                }));
            }
        }
        (parted, all)
    }

    /// Sorts the invocations by how often they executed `keys`, the first key first, and leaves those
    /// that are alike in their order; with `within`, those of each workgroup by themselves. `None` if the
    /// lanes of every subgroup are alike already.
    pub(super) fn order_by(&self, keys: &[BlockId], within: bool) -> Option<Vec<u64>> {
        if self.count_parted(keys).0 == 0 {
            return None;
        }
        let key = |rows: &[u32], local: usize| -> Vec<u32> {
            keys.iter().map(|block| rows[block.index() * self.size + local]).collect()
        };
        let size = self.size as u64;
        let mut all: Vec<(Vec<u32>, u64)> = Vec::new();
        for (group, rows) in &self.groups {
            for local in 0..self.size {
                all.push((key(rows, local), group * size + local as u64));
            }
        }
        let group = |invocation: u64| if within { invocation / size } else { 0 };
        all.sort_by(|(a, i), (b, j)| group(*i).cmp(&group(*j)).then(b.cmp(a)).then(i.cmp(j)));
        Some(all.into_iter().map(|(_, invocation)| invocation).collect())
    }

    /// The number of workgroups in front of the last ones, all of whose invocations executed the block
    /// `leaving` and hence left there.
    pub(super) fn groups_before_all_leave(&self, groups: u64, leaving: BlockId) -> u64 {
        let from = leaving.index() * self.size;
        let leaves = |group: u64| {
            let rows = self.groups.get(&group);
            rows.is_some_and(|rows| rows[from..from + self.size].iter().all(|&count| count > 0))
        };
        (0..groups).rev().find(|&group| !leaves(group)).map_or(0, |last| last + 1)
    }
}

impl Observer for History {
    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) -> ControlFlow<()> {
        let (size, blocks) = (self.size, self.blocks);
        let rows = self.groups.entry(place.workgroup).or_insert_with(|| vec![0; size * blocks]);
        let first = block.index() * size + place.subgroup as usize * self.width;
        let mut left = active;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            rows[first + lane] += 1;
            left &= left - 1;
        }
        ControlFlow::Continue(())
    }
}

impl ForkObserver for History {
    fn fresh(&self) -> Self {
        Self { groups: BTreeMap::new(), ..*self }
    }

    fn merge(&mut self, other: Self) {
        for (group, rows) in other.groups {
            match self.groups.entry(group) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(rows);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    place.get_mut().iter_mut().zip(rows).for_each(|(sum, part)| *sum += part);
                }
            }
        }
    }
}
