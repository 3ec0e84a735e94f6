//! What accesses would cost in a simple model of memory.
//!
//! Input: accesses, blocks and barriers. Output: [`TrafficSums`], sums by source line. It is a model
//! of no particular machine: no caches, no order, no time.
//!
//! # The model
//!
//! One access instruction of one subgroup reads or writes *sectors* of [`SECTOR_BYTES`] and *lines* of
//! [`MEMORY_LINE_BYTES`] of a buffer, each once however many lanes want it; the least that it could touch are
//! as many as hold the distinct bytes that its lanes want. Idle lanes leave gaps, which are no fault of the
//! addresses: a gap between two lanes counts as wanted as far as the lanes between them would fill it. They
//! would where the two lie no further apart than neighbours in one row, or where all lanes keep one
//! distance (see `bridged_words`). In the workgroup's memory word i lies in
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSums {
    /// Instructions of subgroups.
    pub executions: u64,
    /// Lanes, summed over those.
    pub lanes: u64,
    /// Sectors touched; 0 for workgroup memory.
    pub sectors: u64,
    /// The fewest sectors that hold the distinct bytes that were wanted, and what idle lanes between would
    /// have wanted.
    pub sectors_min: u64,
    /// Lines touched; 0 for workgroup memory.
    pub lines: u64,
    /// The fewest lines.
    pub lines_min: u64,
    /// Passes over the banks; 0 for buffers.
    pub passes: u64,
    /// The fewest passes.
    pub passes_min: u64,
    /// Turns of atomic operations that change: the most lanes on one word, summed; 0 where nothing is atomic.
    pub turns: u64,
    /// The fewest turns: one for each such operation.
    pub turns_min: u64,
    /// How far apart neighbouring lanes access.
    pub distances: Distances,
}

/// How far the addresses of neighbouring lanes lie apart, pair by pair of lanes that follow each other among the active
/// ones; idle lanes between them divide the distance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distances {
    /// Bytes of an access.
    size_bytes: u32,
    pairs: u64,
    /// Pairs by bytes of distance; of [`DISTANCES_MAX`] distances, further ones only in `pairs`.
    by_bytes: BTreeMap<u32, u64>,
}

/// Distances that are told apart: who has more of them has no usual one.
const DISTANCES_MAX: usize = 64;

impl Distances {
    /// The distance in bytes of at least three quarters of all pairs; nothing where there is none.
    pub fn usual(&self) -> Option<u32> {
        let (bytes, pairs) = self.by_bytes.iter().max_by_key(|(_, pairs)| **pairs)?;
        (pairs * 4 >= self.pairs * 3).then_some(*bytes)
    }

    /// The same, where it leaves gaps between what neighbouring lanes access.
    pub fn gap(&self) -> Option<u32> {
        self.usual().filter(|bytes| *bytes > self.size_bytes)
    }

    fn add(&mut self, bytes: Option<u32>, pairs: u64) {
        self.pairs += pairs;
        let room = self.by_bytes.len() < DISTANCES_MAX;
        if let Some(bytes) = bytes.filter(|bytes| room || self.by_bytes.contains_key(bytes)) {
            *self.by_bytes.entry(bytes).or_default() += pairs;
        }
    }

    fn see(&mut self, access: &Access<'_>) {
        self.size_bytes = self.size_bytes.max(access.size_bytes);
        let mut last: Option<(usize, u32)> = None;
        // Most accesses keep one distance: equal ones are added together.
        let mut run: (Option<u32>, u64) = (None, 0);
        for_each_lane(access.active, |lane| {
            let here = (lane, access.offsets[lane]);
            if let Some((before, offset)) = last.replace(here) {
                let lanes = u32::try_from(lane - before).unwrap_or(u32::MAX);
                let bytes = here.1.abs_diff(offset);
                let each = bytes.is_multiple_of(lanes).then(|| bytes / lanes);
                if run.0 != each {
                    self.add(run.0, run.1);
                    run = (each, 0);
                }
                run.1 += 1;
            }
        });
        self.add(run.0, run.1);
    }

    fn merge(&mut self, other: Self) {
        self.size_bytes = self.size_bytes.max(other.size_bytes);
        let told: u64 = other.by_bytes.values().sum();
        self.add(None, other.pairs - told);
        other.by_bytes.into_iter().for_each(|(bytes, pairs)| self.add(Some(bytes), pairs));
    }
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
        Self::from_operations(
            program.blocks().iter().map(|block| block.ops).collect(),
            size.div_ceil(width.lanes()) as usize,
        )
    }

    fn from_operations(operations: Vec<u64>, subgroups: usize) -> Self {
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

/// The words that idle lanes would have wanted between those that take part.
///
/// Two lanes that follow each other among the active ones, with k idle ones between, may leave a gap of k accesses
/// in a row of elements. Where all active lanes, three or more, keep one distance from lane to lane, as those
/// that read one member of a structure do, the same holds of that distance.
fn bridged_words(access: &Access<'_>) -> u64 {
    let in_a_run = |mask: u128| mask & mask.wrapping_add(1) == 0;
    if access.active == 0 || in_a_run(access.active >> access.active.trailing_zeros()) {
        return 0;
    }
    let size = i64::from(access.size_bytes);
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    let mut last: Option<(i64, i64)> = None;
    for_each_lane(access.active, |lane| {
        let here = (i64::try_from(lane).unwrap_or(0), i64::from(access.offsets[lane]));
        if let Some((lane, offset)) = last {
            pairs.push((here.0 - lane, (here.1 - offset).abs()));
        }
        last = Some(here);
    });
    let (lanes, bytes) = pairs.first().copied().unwrap_or((1, 0));
    let even = pairs.len() > 1 && pairs.iter().all(|pair| pair.1 * lanes == bytes * pair.0);
    let bridged = |(between, apart): &(i64, i64)| {
        let near = *apart <= size * between;
        let gap = (apart - size).min(size * (between - 1)).max(0);
        if near || even { gap / 4 } else { 0 }
    };
    u64::try_from(pairs.iter().map(bridged).sum::<i64>()).unwrap_or(0)
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
        sums.distances.see(access);
        let words = touched.len() as u64;
        if access.space == Space::Workgroup {
            sums.passes += count_passes(&touched);
            sums.passes_min += words.div_ceil(u64::from(BANKS));
        } else {
            let wanted = words + bridged_words(access);
            let [sectors, lines] = [SECTOR_BYTES, MEMORY_LINE_BYTES].map(|bytes| {
                let taken = count_units(&touched, bytes / 4);
                (taken, wanted.div_ceil(u64::from(bytes / 4)).min(taken))
            });
            sums.sectors += sectors.0;
            sums.sectors_min += sectors.1;
            sums.lines += lines.0;
            sums.lines_min += lines.1;
        }
        // An atomic load serves all lanes at once, as any load does.
        if access.kind == AccessKind::Atomic && access.changes {
            sums.turns += count_turns(access);
            sums.turns_min += 1;
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
        Self::from_operations(self.operations.clone(), self.subgroups)
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
                turns_min,
                distances,
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
            sums.turns_min += turns_min;
            sums.distances.merge(distances);
        }
        for (line, part) in other.sums.waits {
            let sums = self.sums.waits.entry(line).or_default();
            sums.barriers += part.barriers;
            sums.waited += part.waited;
            sums.operations += part.operations;
        }
    }
}
