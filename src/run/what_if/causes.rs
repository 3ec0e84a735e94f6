//! Where lanes may have parted: the branches and loops of a program, by what is idle in them.
//!
//! Input: a program and its counts. Output: [`Cause`]s, the one with the most idle lanes first, each
//! with the blocks by which invocations are told apart. It runs nothing; the bound of a cause only
//! says what is worth a trial, and is never shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::branch::{BranchPart, Leave};
use crate::program::uniformity::Class;
use crate::program::{BlockFlow, BlockInfo, Program};
use crate::record::{BlockTotals, Change};
use crate::simulate::{BlockCounts, Outcome, Postponed};
use crate::units::{BlockId, Executions, Width};

/// Operations of a branch's arms, both together, up to which `select` is tried.
const ARMS_MAX: u64 = 16;

/// A branch or loop that lanes may leave or take apart.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// What to try.
    pub(super) change: Change,
    /// The line of the condition, of the loop's start for a loop.
    pub(super) line: u32,
    /// Executions of these tell invocations apart.
    pub(super) keys: Vec<BlockId>,
    /// The block by which the entry point's invocations return, where it is such a branch.
    pub(super) leaves_at: Option<BlockId>,
    /// Subgroup operations that lanes packed in it, and in what follows where lanes leave, would
    /// not need.
    pub(super) bound: u128,
    /// How lanes wait at the branch, where it lies in a loop's body that may be split there.
    pub(super) postponed: Option<Postponed>,
    /// Its number in the program.
    pub(super) construct: u32,
    /// The blocks inside it.
    blocks: Vec<BlockId>,
}

/// The counts of blocks.
pub(super) fn totals(outcome: &Outcome) -> Vec<BlockTotals> {
    let totals_of =
        |block: &BlockCounts| BlockTotals { executions: block.executions, lanes: block.lanes };
    outcome.blocks.iter().map(totals_of).collect()
}

/// Subgroup operations of counts.
pub(super) fn operations(program: &Program, counts: &[BlockTotals]) -> u128 {
    let pairs = program.blocks().iter().zip(counts);
    pairs.map(|(block, count)| u128::from(block.ops) * u128::from(count.executions.0)).sum()
}

/// Finds the branches and loops at which lanes may part, the largest bound first; `flows` are the program's.
pub(super) fn find_causes(
    program: &Program,
    flows: &[BlockFlow],
    outcome: &Outcome,
    width: Width,
) -> Vec<Cause> {
    let constructs = find_constructs(program, flows);
    let idle = |(block, counts): (&BlockInfo, &BlockCounts)| {
        let least = counts.lanes.0.div_ceil(u64::from(width.lanes()));
        let spare = counts.executions.0.saturating_sub(least);
        u128::from(block.ops) * u128::from(spare)
    };
    let idle: Vec<u128> = program.blocks().iter().zip(&outcome.blocks).map(idle).collect();
    let reached = reach(program, &Blame { flows, idle }, &constructs);
    let cause = |(construct, inside): (u32, Inside)| {
        let Inside { depth, blocks } = inside;
        let first = *blocks.first()?;
        let around = flows[first.index()].path[depth];
        if around.class == Class::Uniform {
            return None;
        }
        let is_loop = is_loop(around.part);
        let entry = program.blocks()[first.index()].function == program.entry_point().name;
        let returns = |id: &&BlockId| {
            let flow = &flows[id.index()];
            let is_direct = flow.path.last().is_some_and(|around| around.construct == construct);
            is_direct && flow.leaves == Some(Leave::Return)
        };
        let leaves_at =
            blocks.iter().find(returns).copied().filter(|_| !is_loop && entry && depth == 0);
        let change = match (is_loop, leaves_at) {
            (true, _) => Change::OrderByTripCount,
            (false, Some(_)) => Change::PackWhatGoesOn,
            (false, None) => Change::OrderByBranch,
        };
        let arms = arms(flows, &blocks, depth);
        let postponed = postpone((program, flows), &reached, (&blocks, depth, &arms), outcome);
        let keys = if is_loop { vec![first] } else { arms };
        let bound = reached.get(&construct).map_or(0, |reached| reached.idle);
        let line = around.line;
        Some(Cause { change, line, keys, leaves_at, bound, postponed, construct, blocks })
    };
    let mut causes: Vec<Cause> = constructs.into_iter().filter_map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.bound));
    causes
}

/// What lies inside a construct.
struct Inside {
    /// The construct's place in the paths of its blocks.
    depth: usize,
    /// The blocks, in order.
    blocks: Vec<BlockId>,
}

/// The loops, and the branches at which lanes may part, by number.
fn find_constructs(program: &Program, flows: &[BlockFlow]) -> BTreeMap<u32, Inside> {
    let mut constructs: BTreeMap<u32, Inside> = BTreeMap::new();
    for (block, flow) in program.blocks().iter().zip(flows) {
        for (depth, around) in flow.path.iter().enumerate() {
            if around.class != Class::Uniform || is_loop(around.part) {
                let inside = constructs.entry(around.construct);
                inside.or_insert(Inside { depth, blocks: Vec::new() }).blocks.push(block.id);
            }
        }
    }
    constructs
}

fn is_loop(part: BranchPart) -> bool {
    matches!(part, BranchPart::LoopBody | BranchPart::LoopContinuing)
}

/// The first block of each arm of a construct at this depth.
fn arms(flows: &[BlockFlow], blocks: &[BlockId], depth: usize) -> Vec<BlockId> {
    let mut seen: BTreeSet<BranchPart> = BTreeSet::new();
    let is_first = |id: &&BlockId| seen.insert(flows[id.index()].path[depth].part);
    blocks.iter().filter(is_first).copied().collect()
}

/// Some of a program's blocks.
#[derive(Clone, Debug, Default)]
struct Blocks(Vec<u64>);

impl Blocks {
    /// Adds a block; calls `fresh` with its index where it is new.
    fn insert(&mut self, id: BlockId, fresh: &mut dyn FnMut(usize)) {
        let (word, bit) = (id.index() / 64, 1_u64 << (id.index() % 64));
        self.0.resize(self.0.len().max(word + 1), 0);
        if self.0[word] & bit == 0 {
            self.0[word] |= bit;
            fresh(id.index());
        }
    }

    /// Adds blocks; calls `fresh` with the index of each that is new.
    fn extend(&mut self, other: &Self, fresh: &mut dyn FnMut(usize)) {
        other.each_beyond(self, fresh);
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Calls `each` with the index of each block that is not among others.
    fn each_beyond(&self, others: &Self, each: &mut dyn FnMut(usize)) {
        let others = others.0.iter().copied().chain(std::iter::repeat(0));
        for (place, (word, other)) in self.0.iter().zip(others).enumerate() {
            let mut left = word & !other;
            while left != 0 {
                each(place * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

/// The blocks of each function, and of all that it calls, by its name.
fn blocks_called<'a>(program: &'a Program, flows: &[BlockFlow]) -> BTreeMap<&'a str, Blocks> {
    let mut all: BTreeMap<&str, Blocks> = BTreeMap::new();
    // Callees stand before their callers.
    for (block, flow) in program.blocks().iter().zip(flows) {
        let mut more = Blocks::default();
        flow.calls
            .iter()
            .filter_map(|name| all.get(&**name))
            .for_each(|blocks| more.extend(blocks, &mut |_| {}));
        let function = all.entry(&block.function).or_default();
        function.insert(block.id, &mut |_| {});
        function.extend(&more, &mut |_| {});
    }
    all
}

/// What is summed up of blocks that are reached.
struct Blame<'a> {
    flows: &'a [BlockFlow],
    /// By block the subgroup operations that packed lanes would not need.
    idle: Vec<u128>,
}

/// Blocks that are reached, and those of every function that any of them calls.
#[derive(Default)]
struct Reached {
    blocks: Blocks,
    /// What packed lanes would not need in them.
    idle: u128,
    /// Whether any of them holds a barrier.
    barrier: bool,
}

impl Reached {
    fn add(&mut self, id: BlockId, blame: &Blame<'_>, called: &BTreeMap<&str, Blocks>) {
        let Self { blocks, idle, barrier } = self;
        let mut fresh = |index: usize| {
            *idle += blame.idle[index];
            *barrier |= blame.flows[index].barrier;
        };
        blocks.insert(id, &mut fresh);
        for name in &blame.flows[id.index()].calls {
            if let Some(more) = called.get(&**name) {
                blocks.extend(more, &mut fresh);
            }
        }
    }

    /// What is reached here or in `rest`, without its blocks.
    fn join(&self, rest: &Self, blame: &Blame<'_>) -> Self {
        let (mut idle, barrier) = (rest.idle, self.barrier || rest.barrier);
        self.blocks.each_beyond(&rest.blocks, &mut |index| idle += blame.idle[index]);
        Self { blocks: Blocks::default(), idle, barrier }
    }
}

/// The blocks of a loop or a function from behind some block on.
struct Rest<'a> {
    /// Those before.
    left: &'a [BlockId],
    reached: Reached,
}

/// What is reached by lanes that come to each construct, without the blocks: those inside it, those that its lanes leave
/// out by a jump, and those of every function that any of them calls. What lies behind a construct in its loop or function
/// is summed up from the end on, once for all of them.
fn reach(
    program: &Program,
    blame: &Blame<'_>,
    constructs: &BTreeMap<u32, Inside>,
) -> BTreeMap<u32, Reached> {
    let called = blocks_called(program, blame.flows);
    let mut functions: BTreeMap<&str, Vec<BlockId>> = BTreeMap::new();
    for block in program.blocks() {
        functions.entry(&block.function).or_default().push(block.id);
    }
    let last_first = |(number, inside): (&u32, &Inside)| Some((*inside.blocks.last()?, *number));
    let mut order: Vec<(BlockId, u32)> = constructs.iter().filter_map(last_first).collect();
    order.sort_unstable();
    let mut rests: BTreeMap<(&str, Option<u32>), Rest<'_>> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for (last, number) in order.into_iter().rev() {
        let Inside { depth, blocks } = &constructs[&number];
        let mut reached = Reached::default();
        blocks.iter().for_each(|id| reached.add(*id, blame, &called));
        // Where lanes leave to: the rest of a loop, or of the function, which holds that of the loop.
        let home = &blame.flows[last.index()].path[..*depth];
        let around = home.iter().rev().find(|around| is_loop(around.part));
        let around = around.map(|around| around.construct);
        let leaves = blocks.iter().filter_map(|id| blame.flows[id.index()].leaves);
        let left = leaves.map(|leave| around.filter(|_| leave != Leave::Return)).min();
        if let Some(left) = left {
            let function = program.blocks()[last.index()].function.as_str();
            let rest = rests.entry((function, left)).or_insert_with(|| {
                let left = left.map_or(&functions[function], |number| &constructs[&number].blocks);
                Rest { left, reached: Reached::default() }
            });
            while let Some((id, before)) = rest.left.split_last().filter(|(id, _)| **id > last) {
                rest.reached.add(*id, blame, &called);
                rest.left = before;
            }
            reached = reached.join(&rest.reached, blame);
        }
        reached.blocks = Blocks::default();
        all.insert(number, reached);
    }
    all
}

/// Which lanes would wait at a branch, were the body of the loop around it split there: those that
/// take the arm that costs most, or do not take an arm that does nothing but go on to the next iteration. `None` if it
/// is no `if`, lies in no loop or in one with a barrier, or where its arm does nothing but leave.
fn postpone(
    (program, flows): (&Program, &[BlockFlow]),
    reached: &BTreeMap<u32, Reached>,
    (blocks, depth, arms): (&[BlockId], usize, &[BlockId]),
    outcome: &Outcome,
) -> Option<Postponed> {
    let path = &flows[blocks.first()?.index()].path;
    let around = path[..depth].iter().rev().find(|around| is_loop(around.part))?;
    if around.part != BranchPart::LoopBody {
        return None;
    }
    // A barrier ties the lanes of the loop together.
    if reached.get(&around.construct).is_some_and(|turning| turning.barrier) {
        return None;
    }
    let cost = |arm: BlockId| -> u128 {
        let part = flows[arm.index()].path[depth].part;
        let arm = blocks.iter().filter(|id| flows[id.index()].path[depth].part == part);
        let cost = |id: &BlockId| {
            let block = &program.blocks()[id.index()];
            let calls = flows[id.index()].calls.len() as u128;
            (u128::from(block.ops) + calls) * u128::from(outcome.blocks[id.index()].executions.0)
        };
        arm.map(cost).sum()
    };
    let two_ways = |id: &BlockId| {
        matches!(flows[id.index()].path[depth].part, BranchPart::IfAccept | BranchPart::IfReject)
    };
    if !arms.iter().all(two_ways) {
        return None;
    }
    let dearest = arms.iter().copied().max_by_key(|&arm| cost(arm))?;
    match (cost(dearest), flows[dearest.index()].leaves, arms.len()) {
        (0, Some(Leave::Continue), 1) => Some(Postponed { arm: dearest, others: true }),
        (0, ..) => None,
        _ => Some(Postponed { arm: dearest, others: false }),
    }
}

/// The counts if all lanes that reach a branch ran both its arms; `None` if the arms are long, or
/// hold more than straight code, or nobody counted who reaches it.
pub(super) fn predicate(
    (program, flows): (&Program, &[BlockFlow]),
    cause: &Cause,
    outcome: &Outcome,
) -> Option<Vec<BlockTotals>> {
    if cause.change != Change::OrderByBranch {
        return None;
    }
    let mut changed = Vec::new();
    let mut sum = 0;
    for id in &cause.blocks {
        let (block, flow) = (&program.blocks()[id.index()], &flows[id.index()]);
        let around = flow.path.last().filter(|around| around.construct == cause.construct)?;
        let straight = flow.leaves.is_none() && flow.calls.is_empty() && !flow.barrier;
        sum += block.ops;
        if !straight || sum > ARMS_MAX {
            return None;
        }
        let parent = around.parent?;
        // An arm that is not entered at all is run, too.
        let reached = &outcome.blocks[parent.index()];
        let counts =
            BlockTotals { executions: Executions(reached.executions.0), lanes: reached.lanes };
        changed.push((id.index(), counts));
    }
    let mut all = totals(outcome);
    for (index, counts) in changed {
        all[index] = counts;
    }
    Some(all)
}
