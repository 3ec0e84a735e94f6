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

/// The line on which the size of workgroups stands; where the text has none, as SPIR-V's, that of the entry
/// point's first block.
pub(super) fn size_line(program: &Program) -> u32 {
    let name = &program.entry_point().name;
    if let Some(line) = program.text().workgroup_size_line(name) {
        return line;
    }
    let first = program.blocks().iter().find(|block| block.function == *name);
    first.map_or(1, |block| block.location.line)
}

/// Finds the branches and loops at which lanes may part, the largest bound first.
pub(super) fn find_causes(program: &Program, outcome: &Outcome, width: Width) -> Vec<Cause> {
    let flows = program.flows();
    let mut inside: BTreeMap<u32, Vec<(BlockId, usize)>> = BTreeMap::new();
    for (block, flow) in program.blocks().iter().zip(&flows) {
        for (depth, around) in flow.path.iter().enumerate() {
            if around.class != Class::Uniform {
                inside.entry(around.construct).or_default().push((block.id, depth));
            }
        }
    }
    let called = blocks_called(program, &flows);
    let idle = |(block, counts): (&BlockInfo, &BlockCounts)| {
        let least = counts.lanes.0.div_ceil(u64::from(width.lanes()));
        let spare = counts.executions.0.saturating_sub(least);
        u128::from(block.ops) * u128::from(spare)
    };
    let idle: Vec<u128> = program.blocks().iter().zip(&outcome.blocks).map(idle).collect();
    let cause = |(construct, blocks): (u32, Vec<(BlockId, usize)>)| {
        let (first, depth) = *blocks.first()?;
        let around = flows[first.index()].path[depth];
        let ids: BTreeSet<BlockId> = blocks.iter().map(|(id, _)| *id).collect();
        let reached = reach((program, &flows), &called, &ids, depth);
        let is_loop = matches!(around.part, BranchPart::LoopBody | BranchPart::LoopContinuing);
        let entry = program.blocks()[first.index()].function == program.entry_point().name;
        let returns = |id: &&BlockId| {
            let flow = &flows[id.index()];
            let is_direct = flow.path.last().is_some_and(|around| around.construct == construct);
            is_direct && flow.leaves == Some(Leave::Return)
        };
        let leaves_at =
            ids.iter().find(returns).copied().filter(|_| !is_loop && entry && depth == 0);
        let change = match (is_loop, leaves_at) {
            (true, _) => Change::OrderByTripCount,
            (false, Some(_)) => Change::PackWhatGoesOn,
            (false, None) => Change::OrderByBranch,
        };
        let keys = if is_loop { vec![first] } else { arms(&flows, &blocks) };
        let bound = reached.indices().map(|index| idle[index]).sum();
        let postponed = postpone((program, &flows), &called, &blocks, outcome);
        Some(Cause { change, line: around.line, keys, leaves_at, bound, postponed, construct })
    };
    let mut causes: Vec<Cause> = inside.into_iter().filter_map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.bound));
    causes
}

/// The first block of each arm.
fn arms(flows: &[BlockFlow], blocks: &[(BlockId, usize)]) -> Vec<BlockId> {
    let mut seen: Vec<BranchPart> = Vec::new();
    let mut firsts = Vec::new();
    for &(id, depth) in blocks {
        let part = flows[id.index()].path[depth].part;
        if !seen.contains(&part) {
            seen.push(part);
            firsts.push(id);
        }
    }
    firsts
}

/// Some of a program's blocks.
#[derive(Clone, Debug, Default)]
struct Blocks(Vec<u64>);

impl Blocks {
    fn insert(&mut self, id: BlockId) {
        let word = id.index() / 64;
        self.0.resize(self.0.len().max(word + 1), 0);
        self.0[word] |= 1 << (id.index() % 64);
    }

    fn extend(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn indices(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        })
    }
}

/// The blocks of each function, and of all that it calls, by its name.
fn blocks_called<'a>(program: &'a Program, flows: &[BlockFlow]) -> BTreeMap<&'a str, Blocks> {
    let mut all: BTreeMap<&str, Blocks> = BTreeMap::new();
    // Callees stand before their callers.
    for (block, flow) in program.blocks().iter().zip(flows) {
        let mut more = Blocks::default();
        more.insert(block.id);
        flow.calls
            .iter()
            .filter_map(|name| all.get(&**name))
            .for_each(|blocks| more.extend(blocks));
        all.entry(&block.function).or_default().extend(&more);
    }
    all
}

/// Which lanes would wait at a branch, were the body of the loop around it split there: those that
/// take the arm that costs most, or do not take an arm that does nothing but go on to the next iteration. `None` if it
/// is no `if`, lies in no loop or in one with a barrier, or where its arm does nothing but leave.
fn postpone(
    (program, flows): (&Program, &[BlockFlow]),
    called: &BTreeMap<&str, Blocks>,
    blocks: &[(BlockId, usize)],
    outcome: &Outcome,
) -> Option<Postponed> {
    let &(first, depth) = blocks.first()?;
    let path = &flows[first.index()].path;
    let is_loop =
        |part: BranchPart| matches!(part, BranchPart::LoopBody | BranchPart::LoopContinuing);
    let around = path[..depth].iter().rposition(|around| is_loop(around.part))?;
    if path[around].part != BranchPart::LoopBody {
        return None;
    }
    let number = path[around].construct;
    let inside =
        program.blocks().iter().map(|block| block.id).filter(|id| {
            flows[id.index()].path.iter().any(|enclosure| enclosure.construct == number)
        });
    let turning = reach((program, flows), called, &inside.collect(), around);
    if turning.indices().any(|index| flows[index].barrier) {
        return None;
    }
    let cost = |arm: BlockId| -> u128 {
        let part = flows[arm.index()].path[depth].part;
        let arm = blocks.iter().filter(|(id, _)| flows[id.index()].path[depth].part == part);
        let cost = |(id, _): &(BlockId, usize)| {
            let block = &program.blocks()[id.index()];
            let calls = flows[id.index()].calls.len() as u128;
            (u128::from(block.ops) + calls) * u128::from(outcome.blocks[id.index()].executions.0)
        };
        arm.map(cost).sum()
    };
    let firsts = arms(flows, blocks);
    let two_ways = |id: &BlockId| {
        matches!(flows[id.index()].path[depth].part, BranchPart::IfAccept | BranchPart::IfReject)
    };
    if !firsts.iter().all(two_ways) {
        return None;
    }
    let dearest = firsts.iter().copied().max_by_key(|&arm| cost(arm))?;
    match (cost(dearest), flows[dearest.index()].leaves, firsts.len()) {
        (0, Some(Leave::Continue), 1) => Some(Postponed { arm: dearest, others: true }),
        (0, ..) => None,
        _ => Some(Postponed { arm: dearest, others: false }),
    }
}

/// The blocks inside a construct, those that its lanes leave out by a jump, and those of every
/// function that any of them calls.
fn reach(
    (program, flows): (&Program, &[BlockFlow]),
    called: &BTreeMap<&str, Blocks>,
    inside: &BTreeSet<BlockId>,
    depth: usize,
) -> Blocks {
    let blocks = program.blocks();
    let mut own_blocks: Vec<BlockId> = inside.iter().copied().collect();
    let Some(last) = own_blocks.last().copied() else { return Blocks::default() };
    let home = &flows[last.index()].path;
    let function = &blocks[last.index()].function;
    // Where lanes leave to: the rest of a loop, or of the function; each once.
    let mut left: BTreeSet<Option<u32>> = BTreeSet::new();
    for leave in inside.iter().filter_map(|id| flows[id.index()].leaves) {
        let around = home[..depth].iter().rposition(|around| {
            matches!(around.part, BranchPart::LoopBody | BranchPart::LoopContinuing)
        });
        left.insert(around.filter(|_| leave != Leave::Return).map(|at| home[at].construct));
    }
    for around in left {
        // The blocks of a function follow one another.
        let behind = blocks[last.index() + 1..].iter();
        let behind = behind.take_while(|block| block.function == *function);
        let within = |block: &&BlockInfo| {
            let path = &flows[block.id.index()].path;
            around.is_none_or(|number| path.iter().any(|other| other.construct == number))
        };
        own_blocks.extend(behind.filter(within).map(|block| block.id));
    }
    let mut reached = Blocks::default();
    for id in own_blocks {
        reached.insert(id);
        let calls = flows[id.index()].calls.iter();
        calls.filter_map(|name| called.get(&**name)).for_each(|blocks| reached.extend(blocks));
    }
    reached
}

/// The counts if all lanes that reach a branch ran both its arms; `None` if the arms are long, or
/// hold more than straight code, or nobody counted who reaches it.
pub(super) fn predicate(
    program: &Program,
    cause: &Cause,
    outcome: &Outcome,
) -> Option<Vec<BlockTotals>> {
    if cause.change != Change::OrderByBranch {
        return None;
    }
    let flows = program.flows();
    let holds = |flow: &BlockFlow| flow.path.iter().any(|a| a.construct == cause.construct);
    let mut counts = totals(outcome);
    let mut sum = 0;
    for (block, flow) in program.blocks().iter().zip(&flows).filter(|(_, flow)| holds(flow)) {
        let around = flow.path.last().filter(|around| around.construct == cause.construct)?;
        let straight = flow.leaves.is_none() && flow.calls.is_empty() && !flow.barrier;
        sum += block.ops;
        if !straight || sum > ARMS_MAX {
            return None;
        }
        let parent = around.parent?;
        // An arm that is not entered at all is run, too.
        let reached = &outcome.blocks[parent.index()];
        counts[block.id.index()] =
            BlockTotals { executions: Executions(reached.executions.0), lanes: reached.lanes };
    }
    Some(counts)
}
