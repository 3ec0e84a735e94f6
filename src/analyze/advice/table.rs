//! What rules ask of the counts: blocks summed over dispatches, constructs, gains.
//!
//! Input: one device's part of a profile. Output: a [`AdviceTable`] for each entry point. It judges
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analyze::DeviceProfile,
    record::{Block, ConstructPart, Dispatch, Enclosure, Flow, Leave},
    units::{BlockId, Width},
};

/// One block, all dispatches of its entry point together.
#[derive(Clone, Debug)]
pub(super) struct AdviceRow<'a> {
    /// The block, with the first dispatch's counts: only what is static is read from it.
    pub(super) block: &'a Block,
    /// Its flow.
    pub(super) flow: &'a Flow,
    /// Executions.
    pub(super) executions: u128,
    /// Lanes.
    pub(super) lanes: u128,
    /// Element k: executions with k + 1 lanes.
    pub(super) histogram: Option<Vec<u128>>,
}

/// A construct and where its counts are.
#[derive(Clone, Debug)]
pub(super) struct AdviceConstruct {
    /// As one of its blocks has it; the part is that block's.
    pub(super) enclosure: Enclosure,
    /// The `if` in whose `else` arm it lies, where it lies directly in one.
    pub(super) chain: Option<u32>,
    /// How many constructs are around it.
    pub(super) depth: usize,
    /// The first block of each part that starts with one.
    pub(super) firsts: Vec<BlockId>,
    /// Every block inside, without called functions.
    pub(super) inside: BTreeSet<BlockId>,
}

/// The counts of one entry point.
#[derive(Clone, Debug)]
pub(super) struct AdviceTable<'a> {
    /// The width.
    pub(super) width: u128,
    /// Invocations a workgroup.
    pub(super) workgroup: u128,
    /// The entry point's name.
    pub(super) entry_point: &'a str,
    /// The blocks by number.
    pub(super) rows: BTreeMap<BlockId, AdviceRow<'a>>,
    /// The constructs by number.
    pub(super) constructs: BTreeMap<u32, AdviceConstruct>,
}

impl<'a> AdviceTable<'a> {
    /// Makes a table for each entry point; blocks without recorded flow are left out.
    pub(super) fn build_all(device: &'a DeviceProfile, width: Width) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Vec<&Dispatch>> = BTreeMap::new();
        for dispatch in &device.dispatches {
            groups.entry(&dispatch.entry_point).or_default().push(dispatch);
        }
        let table = |(entry_point, dispatches): (&'a str, Vec<&'a Dispatch>)| {
            let mut rows: BTreeMap<BlockId, AdviceRow> = BTreeMap::new();
            for block in dispatches.iter().flat_map(|dispatch| &dispatch.blocks) {
                add(&mut rows, block);
            }
            let size = dispatches.first().map_or([1; 3], |dispatch| dispatch.workgroup_size);
            Self {
                width: u128::from(width.lanes()),
                workgroup: size.into_iter().map(u128::from).product(),
                entry_point,
                constructs: constructs(&rows),
                rows,
            }
        };
        groups.into_iter().map(table).collect()
    }

    /// The lanes that did nothing, summed over a block's executions.
    pub(super) fn idle(&self, row: &AdviceRow) -> u128 {
        (row.executions * self.width).saturating_sub(row.lanes)
    }

    /// The subgroup operations of a block that packing its lanes would save at most.
    pub(super) fn removable(&self, row: &AdviceRow) -> u128 {
        let least = row.lanes.div_ceil(self.width);
        u128::from(row.block.operations) * row.executions.saturating_sub(least)
    }

    /// Executions and lanes of some blocks, and of what they call, by block.
    ///
    /// A called function's outermost blocks run once a call, with the caller's lanes, until lanes may
    /// have returned; so much is the calls' own. Of all its other blocks every execution is counted,
    /// whoever called: that makes a bound larger and never too small.
    fn with_callees(&self, blocks: &BTreeSet<BlockId>) -> BTreeMap<BlockId, AdviceCount> {
        let counts = |row: &AdviceRow| (row.executions, row.lanes);
        let mut own: BTreeMap<BlockId, (u128, u128)> = BTreeMap::new();
        let mut whole: BTreeSet<BlockId> = BTreeSet::new();
        let mut calls = CallTotals::default();
        for row in blocks.iter().filter_map(|id| self.rows.get(id)) {
            whole.insert(row.block.id);
            calls.add(self, row, Some(counts(row)));
        }
        // Callers are numbered after what they call: the last one's calls are all known.
        while let Some((first, called)) = calls.0.pop_last() {
            let Some(name) = self.rows.get(&first).map(|row| &row.flow.function) else { continue };
            let mut known = called;
            for row in self.rows.values().filter(|row| row.flow.function == *name) {
                let outermost = row.flow.path.is_empty();
                if !outermost && row.flow.leaves == Some(Leave::Return) {
                    known = None;
                }
                let counted = known.filter(|_| outermost);
                match counted {
                    Some((executions, lanes)) => {
                        let sum = own.entry(row.block.id).or_default();
                        *sum = (sum.0 + executions, sum.1 + lanes);
                    }
                    None => {
                        whole.insert(row.block.id);
                    }
                }
                calls.add(self, row, counted);
            }
        }
        let called = own.into_iter().map(|(id, (executions, lanes))| {
            (id, AdviceCount { reach: BlockReach::Called, executions, lanes })
        });
        let mut all: BTreeMap<BlockId, AdviceCount> = called.collect();
        for row in whole.iter().filter_map(|id| self.rows.get(id)) {
            let direct = blocks.contains(&row.block.id);
            let reach = if direct { BlockReach::Direct } else { BlockReach::Shared };
            all.insert(
                row.block.id,
                AdviceCount { reach, executions: row.executions, lanes: row.lanes },
            );
        }
        all
    }

    /// Σ operations × executions, Σ operations × lanes and the most that packing could save over some blocks and what they
    /// call.
    pub(super) fn sums(&self, blocks: &BTreeSet<BlockId>) -> Sums {
        self.sums_kept(blocks, |_, count| count.lanes.div_ceil(self.width))
    }

    /// The same, where `kept` says how many executions of a block remain at least.
    pub(super) fn sums_kept(
        &self,
        blocks: &BTreeSet<BlockId>,
        kept: impl Fn(&AdviceRow, AdviceCount) -> u128,
    ) -> Sums {
        let mut sums = Sums::default();
        for (id, count) in self.with_callees(blocks) {
            let Some(row) = self.rows.get(&id) else { continue };
            let operations = u128::from(row.block.operations);
            let least = kept(row, count).max(count.lanes.div_ceil(self.width));
            sums.subgroup_operations += operations * count.executions;
            sums.lanes += operations * count.lanes;
            sums.gain += operations * count.executions.saturating_sub(least);
        }
        sums
    }

    /// The lanes of a block's fullest issue; the width where that was not counted.
    pub(super) fn fullest(&self, row: &AdviceRow) -> u128 {
        let bins = row.histogram.as_ref();
        let last = bins.and_then(|bins| bins.iter().rposition(|count| *count > 0));
        last.map_or(self.width, |bin| bin as u128 + 1)
    }

    /// The fewest runs of a block that have `lanes` lanes together: its fullest ones.
    pub(super) fn fewest(&self, row: &AdviceRow, lanes: u128) -> u128 {
        let Some(bins) = &row.histogram else { return lanes.div_ceil(self.width) };
        let (mut left, mut runs) = (lanes, 0);
        for (bin, count) in bins.iter().enumerate().rev() {
            let size = bin as u128 + 1;
            let taken = left.div_ceil(size).min(*count);
            left = left.saturating_sub(taken * size);
            runs += taken;
        }
        runs
    }

    /// The runs of each part of a construct: executions and lanes; nothing for a part where no block
    /// tells.
    pub(super) fn arms(&self, construct: &AdviceConstruct) -> BTreeMap<Way, Option<(u128, u128)>> {
        let mut parts: BTreeMap<Way, Vec<&AdviceRow>> = BTreeMap::new();
        for row in construct.inside.iter().filter_map(|id| self.rows.get(id)) {
            parts.entry(construct.way(row)).or_default().push(row);
        }
        let arm = |(way, rows): (Way, Vec<&AdviceRow>)| (way, self.arm(&rows, construct.depth + 1));
        parts.into_iter().map(arm).collect()
    }

    /// The runs of one part, whose blocks are `rows`; `depth` constructs are around its body.
    fn arm(&self, rows: &[&AdviceRow], depth: usize) -> Option<(u128, u128)> {
        let escapes = |row: &&&AdviceRow| match row.flow.leaves {
            None => false,
            Some(Leave::Return) => true,
            Some(leave @ (Leave::Break | Leave::Continue)) => {
                find_left_construct(row.flow, leave).is_none_or(|inner| inner < depth)
            }
        };
        let level = rows.iter().find(|row| row.flow.path.len() == depth);
        let escaped = rows.iter().find(escapes).map(|row| row.block.id);
        if let Some(row) = level.filter(|row| escaped.is_none_or(|first| first >= row.block.id)) {
            return Some((row.executions, row.lanes));
        }
        // Everything starts inside the part's first construct; if that is a loop, its turns tell.
        let first = rows.first()?.flow.path.get(depth)?;
        self.turned_in(self.constructs.get(&first.construct)?)
    }

    /// The executions with which lanes come to a loop, by the block in front of it, else by its turns.
    pub(super) fn count_entries(&self, construct: &AdviceConstruct) -> Option<u128> {
        let parent = construct.enclosure.parent.and_then(|id| self.rows.get(&id));
        let entered = parent.map(|row| row.executions);
        entered.or_else(|| self.turned_in(construct).map(|(executions, _)| executions))
    }

    /// The runs of a loop, executions and lanes, from its own blocks: the head runs once more than the
    /// block that every lane that goes round runs at the end of an iteration.
    ///
    /// Nothing where there is no such block, or where lanes may leave by `break if`. That can stand
    /// only in a `continuing` written after the body, and what follows the body in a `for` is written
    /// before it. A `break if` on a name that the body gave leaves no block, and is not seen.
    pub(super) fn turned_in(&self, construct: &AdviceConstruct) -> Option<(u128, u128)> {
        let depth = construct.depth;
        let head = self.rows.get(construct.inside.first()?)?;
        let level = |row: &AdviceRow| row.flow.path.len() == depth + 1;
        if !level(head) || head.flow.path[depth].part != ConstructPart::LoopBody {
            return None;
        }
        let inside = || construct.inside.iter().filter_map(|id| self.rows.get(id));
        let part = |row: &AdviceRow| row.flow.path[depth].part;
        let turn =
            if let Some(next) = inside().find(|row| part(row) == ConstructPart::LoopContinuing) {
                let place = |row: &AdviceRow| (row.block.line, row.block.column);
                let of_for = inside()
                    .any(|row| part(row) == ConstructPart::LoopBody && place(row) > place(next));
                (level(next) && of_for).then_some(next)
            } else {
                let skips = |row: &AdviceRow| {
                    row.flow.leaves == Some(Leave::Continue)
                        && find_left_construct(row.flow, Leave::Continue) == Some(depth)
                };
                let last = self.rows.get(construct.inside.last()?)?;
                let ends = level(last) && last.flow.leaves.is_none();
                (ends && !inside().any(skips)).then_some(last)
            }?;
        let executions =
            head.executions.checked_sub(turn.executions).filter(|executions| *executions > 0)?;
        Some((executions, head.lanes.checked_sub(turn.lanes)?))
    }

    /// How many of each block's executions are partial subgroups' at most, of which `partial` with `rest`
    /// lanes each run the entry point.
    ///
    /// Outside loops one run comes to a block once a call of its function. A loop's executions are taken
    /// to belong to the runs that enter it in equal parts.
    pub(super) fn partial_executions(&self, partial: u128, rest: u128) -> BTreeMap<BlockId, u128> {
        let mut runs = BTreeMap::from([(self.entry_point, partial)]);
        let mut found = BTreeMap::new();
        // Callers are numbered after what they call.
        for (id, row) in self.rows.iter().rev() {
            let runs_here = runs.get(row.flow.function.as_str()).copied().unwrap_or(0);
            let within =
                |part| matches!(part, ConstructPart::LoopBody | ConstructPart::LoopContinuing);
            let around = row.flow.path.iter().find(|around| within(around.part));
            let part = match around.and_then(|around| self.constructs.get(&around.construct)) {
                None => runs_here,
                Some(outermost) => match self
                    .count_entries(outermost)
                    .filter(|entered| *entered > 0)
                {
                    Some(entered) => (row.executions * runs_here.min(entered)).div_ceil(entered),
                    None => row.executions,
                },
            };
            let short = row.histogram.as_ref().map_or(row.executions, |bins| {
                let few = (1u128..).zip(bins).filter(|(lanes, _)| *lanes <= rest);
                few.map(|(_, count)| count).sum()
            });
            let part = part.min(short);
            for name in &row.flow.calls {
                *runs.entry(name).or_default() += part;
            }
            found.insert(*id, part);
        }
        found
    }

    /// The lanes that return somewhere inside a construct.
    pub(super) fn count_returning_lanes(&self, construct: &AdviceConstruct) -> u128 {
        let inside = construct.inside.iter().filter_map(|id| self.rows.get(id));
        inside.filter(|row| row.flow.leaves == Some(Leave::Return)).map(|row| row.lanes).sum()
    }

    /// The rest of a loop's body that lanes skip by a `continue` inside a construct.
    pub(super) fn skipped_blocks(
        &self,
        number: u32,
        construct: &AdviceConstruct,
    ) -> BTreeSet<BlockId> {
        let Some(last) = construct.inside.last() else { return BTreeSet::new() };
        let inside = construct.inside.iter().filter_map(|id| self.rows.get(id));
        let around = inside
            .filter(|row| row.flow.leaves == Some(Leave::Continue))
            .filter_map(|row| {
                find_left_construct(row.flow, Leave::Continue).map(|depth| row.flow.path[depth])
            })
            .find(|around| around.construct < number);
        let Some(around) = around else { return BTreeSet::new() };
        let rest = |row: &&AdviceRow| {
            let same = |other: &Enclosure| {
                other.construct == around.construct && other.part == around.part
            };
            row.block.id > *last && row.flow.path.iter().any(same)
        };
        self.rows.values().filter(rest).map(|row| row.block.id).collect()
    }

    /// Whether a function is called, however far up, from a block that `divergent` says yes to.
    pub(super) fn entered_apart(
        &self,
        function: &str,
        divergent: &dyn Fn(&AdviceRow) -> bool,
    ) -> bool {
        let mut known = BTreeSet::from([function]);
        let mut pending = vec![function];
        while let Some(called) = pending.pop() {
            let calls = |row: &&AdviceRow| row.flow.calls.iter().any(|name| name == called);
            for caller in self.rows.values().filter(calls) {
                if divergent(caller) {
                    return true;
                }
                if known.insert(&caller.flow.function) {
                    pending.push(&caller.flow.function);
                }
            }
        }
        false
    }

    /// The executions with which lanes leave a loop for good by a statement: its `break`s, and every
    /// `return` inside.
    pub(super) fn leavings(&self, number: u32, construct: &AdviceConstruct) -> u128 {
        let leaves = |row: &&AdviceRow| match row.flow.leaves {
            Some(Leave::Return) => true,
            Some(Leave::Continue) | None => false,
            Some(Leave::Break) => find_left_construct(row.flow, Leave::Break)
                .is_some_and(|depth| row.flow.path[depth].construct == number),
        };
        let inside = construct.inside.iter().filter_map(|id| self.rows.get(id));
        inside.filter(leaves).map(|row| row.executions).sum()
    }
}

impl AdviceConstruct {
    /// The part that a block inside lies in.
    pub(super) fn way(&self, row: &AdviceRow) -> Way {
        let around = row.flow.path[self.depth];
        (around.part, around.case)
    }
}

/// A part of a construct, with its number.
pub(super) type Way = (ConstructPart, u32);

/// A block's executions and lanes, as far as some blocks reach it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdviceCount {
    /// How they reach it.
    pub(super) reach: BlockReach,
    /// Executions.
    pub(super) executions: u128,
    /// Lanes.
    pub(super) lanes: u128,
}

/// How a block is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockReach {
    /// It is one of the blocks.
    Direct,
    /// They call its function, and these are the calls' own counts.
    Called,
    /// They call its function; every caller's executions are in the counts.
    Shared,
}

/// The place in a block's path of the construct that its `break` or `continue` belongs to.
fn find_left_construct(flow: &Flow, leave: Leave) -> Option<usize> {
    flow.path.iter().rposition(|around| match around.part {
        ConstructPart::LoopBody | ConstructPart::LoopContinuing => true,
        ConstructPart::SwitchCase => leave == Leave::Break,
        ConstructPart::IfAccept | ConstructPart::IfReject => false,
    })
}

/// Functions to be counted, by their first block: executions and lanes of the calls, where known.
#[derive(Default)]
struct CallTotals(BTreeMap<BlockId, Option<(u128, u128)>>);

impl CallTotals {
    /// Adds what a block calls, once for each of its `executions` with its `lanes`.
    fn add(&mut self, table: &AdviceTable, row: &AdviceRow, counts: Option<(u128, u128)>) {
        for name in &row.flow.calls {
            let first = table.rows.values().find(|other| other.flow.function == *name);
            let Some(first) = first.map(|row| row.block.id) else { continue };
            let sum = self.0.entry(first).or_insert(Some((0, 0)));
            *sum = sum.zip(counts).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
        }
    }
}

/// Sums over blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Σ operations × executions.
    pub(super) subgroup_operations: u128,
    /// Σ operations × lanes.
    pub(super) lanes: u128,
    /// The most subgroup operations that could be saved.
    pub(super) gain: u128,
}

/// Adds a dispatch's counts of a block.
fn add<'a>(rows: &mut BTreeMap<BlockId, AdviceRow<'a>>, block: &'a Block) {
    let Some(flow) = &block.flow else { return };
    let bins = |block: &Block| {
        block.histogram.as_ref().map(|bins| bins.iter().map(|count| u128::from(*count)).collect())
    };
    let (executions, lanes) = (u128::from(block.executions.0), u128::from(block.lanes.0));
    let Some(row) = rows.get_mut(&block.id) else {
        let row = AdviceRow { block, flow, executions, lanes, histogram: bins(block) };
        rows.insert(block.id, row);
        return;
    };
    row.executions += executions;
    row.lanes += lanes;
    let more: Option<Vec<u128>> = bins(block);
    row.histogram = row.histogram.take().zip(more).map(|(mut sum, more)| {
        sum.resize(sum.len().max(more.len()), 0);
        sum.iter_mut().zip(more).for_each(|(bin, count)| *bin += count);
        sum
    });
}

/// Collects the constructs from the paths of blocks.
fn constructs(rows: &BTreeMap<BlockId, AdviceRow>) -> BTreeMap<u32, AdviceConstruct> {
    let mut found: BTreeMap<u32, AdviceConstruct> = BTreeMap::new();
    for (id, row) in rows {
        for (depth, around) in row.flow.path.iter().enumerate() {
            let construct = found.entry(around.construct).or_insert_with(|| AdviceConstruct {
                enclosure: *around,
                chain: depth
                    .checked_sub(1)
                    .map(|outer| row.flow.path[outer])
                    .filter(|outer| outer.part == ConstructPart::IfReject)
                    .map(|outer| outer.construct),
                depth,
                firsts: Vec::new(),
                inside: BTreeSet::new(),
            });
            construct.inside.insert(*id);
            if depth + 1 == row.flow.path.len() && row.flow.after.is_none() {
                construct.firsts.push(*id);
            }
        }
    }
    found
}
