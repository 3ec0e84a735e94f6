//! What accesses would cost in a simple model of memory.
//!
//! Input: accesses, blocks and barriers. Output: [`TrafficSums`], sums by source line. It is a model
//! of no particular machine: no caches, no order, no time.
//!
//! # The model
//!
//! One access instruction of one subgroup reads or writes *sectors* of [`SECTOR_BYTES`] and *lines* of
//! [`MEMORY_LINE_BYTES`] of a buffer, each once however many lanes want it; the least that it could touch are
//! as many as hold the distinct bytes that its lanes want. In the workgroup's memory word i lies in
//! bank i mod [`BANKS`]; each *pass* serves one word of each bank, to however many lanes want it; the least is
//! ⌈distinct words / [`BANKS`]⌉. An atomic operation takes a *turn* for each lane that changes
//! the same word. Between two barriers a workgroup takes as long as its subgroup with most
//! operations; what the others have less, they *wait*.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::program::Program;
use crate::simulate::mask::for_each_lane;
use crate::simulate::observe::{
    Access, AccessKind, ForkObserver, Observer, PassedBarrier, Space, SubgroupPlace,
};
use crate::units::BlockId;

/// Bytes of a sector: what a GPU's cache fetches at least.
pub const SECTOR_BYTES: u32 = 32;

/// Bytes of a line: what a GPU's cache keeps together.
pub const MEMORY_LINE_BYTES: u32 = 128;

/// Banks of the workgroup's memory, each a word of 4 bytes wide.
const BANKS: u32 = 32;

/// What the accesses of one line to one memory cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessSums {
    /// Instructions of subgroups.
    pub executions: u64,
    /// Lanes, summed over those.
    pub lanes: u64,
    /// Sectors touched; 0 for workgroup memory.
    pub sectors: u64,
    /// The fewest sectors that hold the distinct bytes that were wanted.
    pub sectors_min: u64,
    /// Lines touched; 0 for workgroup memory.
    pub lines: u64,
    /// The fewest lines.
    pub lines_min: u64,
    /// Passes over the banks; 0 for buffers.
    pub passes: u64,
    /// The fewest passes.
    pub passes_min: u64,
    /// Turns of atomic operations: the most lanes on one word, summed; 0 where nothing is atomic.
    pub turns: u64,
}

/// What subgroups wait for one another at the barriers of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    /// Barriers passed, workgroup by workgroup.
    pub barriers: u64,
    /// Operations that subgroups had less to do than the one of their workgroup with most.
    pub waited: u64,
    /// Operations of all those subgroups and what they waited.
    pub operations: u64,
}

/// Sums of a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficSums {
    /// By line, memory and kind of access.
    pub accesses: BTreeMap<(u32, Space, AccessKind), AccessSums>,
    /// By line of the barrier.
    pub waits: BTreeMap<u32, WaitSums>,
}

/// Sums up what accesses cost.
#[derive(Debug)]
pub struct Traffic {
    /// Operations of each block.
    operations: Vec<u64>,
    subgroups: usize,
    sums: TrafficSums,
    /// By workgroup in flight, the operations of each subgroup since the last barrier.
    since: BTreeMap<u64, Vec<u64>>,
    /// Of the access that is looked at: what it touches.
    touched: Vec<u32>,
}

impl Traffic {
    /// Watches a program that runs in subgroups of `width` lanes.
    pub fn new(program: &Program, width: crate::units::Width) -> Self {
        let size: u32 = program.workgroup_size().iter().product();
        Self::of(
            program.blocks().iter().map(|block| block.ops).collect(),
            size.div_ceil(width.lanes()) as usize,
        )
    }

    fn of(operations: Vec<u64>, subgroups: usize) -> Self {
        Self {
            operations,
            subgroups,
            sums: TrafficSums::default(),
            since: BTreeMap::new(),
            touched: Vec::new(),
        }
    }

    /// The sums.
    pub fn sums(&self) -> &TrafficSums {
        &self.sums
    }
}

/// The words that an access wants, each once, ascending.
fn distinct_words(access: &Access<'_>, into: &mut Vec<u32>) {
    into.clear();
    for_each_lane(access.active, |lane| {
        let first = access.offsets[lane];
        let words = first / 4..(first + access.size_bytes).div_ceil(4);
        into.extend(words);
    });
    // Neighbouring lanes mostly want neighbouring words.
    if !into.is_sorted() {
        into.sort_unstable();
    }
    into.dedup();
}

/// How many different values an ascending list has after a division.
fn count_units(words: &[u32], words_each: u32) -> u64 {
    let mut count = 0;
    let mut last = None;
    for word in words {
        let unit = word / words_each;
        count += u64::from(last != Some(unit));
        last = Some(unit);
    }
    count
}

/// The most words in one bank.
fn count_passes(words: &[u32]) -> u64 {
    let mut banks = [0_u64; BANKS as usize];
    for word in words {
        banks[(word % BANKS) as usize] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

/// The most lanes that access the same place.
fn count_turns(access: &Access<'_>) -> u64 {
    let mut places: Vec<u32> = Vec::new();
    for_each_lane(access.active, |lane| places.push(access.offsets[lane]));
    places.sort_unstable();
    let most = places.chunk_by(|a, b| a == b).map(<[u32]>::len).max();
    most.unwrap_or(0) as u64
}

impl Observer for Traffic {
    fn block(&mut self, place: SubgroupPlace, block: BlockId, _: u128) -> ControlFlow<()> {
        let subgroups = self.subgroups;
        let since = self.since.entry(place.workgroup).or_insert_with(|| vec![0; subgroups]);
        if let Some(sum) = since.get_mut(place.subgroup as usize) {
            *sum += self.operations.get(block.index()).copied().unwrap_or(0);
        }
        ControlFlow::Continue(())
    }

    fn access(&mut self, access: &Access<'_>) {
        let mut touched = std::mem::take(&mut self.touched);
        distinct_words(access, &mut touched);
        let key = (access.line, access.space, access.kind);
        let sums = self.sums.accesses.entry(key).or_default();
        sums.executions += 1;
        sums.lanes += u64::from(access.active.count_ones());
        let words = touched.len() as u64;
        if access.space == Space::Workgroup {
            sums.passes += count_passes(&touched);
            sums.passes_min += words.div_ceil(u64::from(BANKS));
        } else {
            sums.sectors += count_units(&touched, SECTOR_BYTES / 4);
            sums.sectors_min += words.div_ceil(u64::from(SECTOR_BYTES / 4));
            sums.lines += count_units(&touched, MEMORY_LINE_BYTES / 4);
            sums.lines_min += words.div_ceil(u64::from(MEMORY_LINE_BYTES / 4));
        }
        if access.kind == AccessKind::Atomic {
            sums.turns += count_turns(access);
        }
        self.touched = touched;
    }

    fn barrier(&mut self, barrier: &PassedBarrier) {
        if barrier.subgroup.is_some() {
            return;
        }
        let Some(since) = self.since.get_mut(&barrier.workgroup) else { return };
        let most = since.iter().copied().max().unwrap_or(0);
        let wait = self.sums.waits.entry(barrier.line).or_default();
        wait.barriers += 1;
        wait.operations += most * since.len() as u64;
        wait.waited += since.iter().map(|count| most - count).sum::<u64>();
        since.fill(0);
    }
}

impl ForkObserver for Traffic {
    fn fresh(&self) -> Self {
        Self::of(self.operations.clone(), self.subgroups)
    }

    fn merge(&mut self, other: Self) {
        for (key, part) in other.sums.accesses {
            let sums = self.sums.accesses.entry(key).or_default();
            let AccessSums {
                executions,
                lanes,
                sectors,
                sectors_min,
                lines,
                lines_min,
                passes,
                passes_min,
                turns,
            } = part;
            sums.executions += executions;
            sums.lanes += lanes;
            sums.sectors += sectors;
            sums.sectors_min += sectors_min;
            sums.lines += lines;
            sums.lines_min += lines_min;
            sums.passes += passes;
            sums.passes_min += passes_min;
            sums.turns += turns;
        }
        for (line, part) in other.sums.waits {
            let sums = self.sums.waits.entry(line).or_default();
            sums.barriers += part.barriers;
            sums.waited += part.waited;
            sums.operations += part.operations;
        }
    }
}
