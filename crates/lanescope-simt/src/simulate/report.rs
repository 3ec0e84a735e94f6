//! What a launch gives back beside its buffers: counts, reports, and how it failed.
//!
//! Input: what the workers tallied. Output: [`Outcome`]. It judges nothing: whether a report is an
//! error is the caller's choice.

use std::collections::{BTreeMap, BTreeSet};

use super::mask::Mask;
use super::observe::SubgroupPlace;
use super::op::{CopyId, FollowId, SITE_NONE, SiteId};
use super::table::{Code, InlinedCall};
use crate::program::Location;
use crate::units::{BlockId, Executions, Lanes, Parts, Width};

/// What a launch did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Counts of every block, by number.
    pub blocks: Vec<BlockCounts>,
    /// What went wrong without ending the launch, by kind and place.
    pub reports: Vec<Report>,
    /// Operations that subgroups executed, with at least one active lane.
    pub steps: u64,
    /// Operations of subgroups that a loop whose body is split takes besides, with
    /// [`Compiled::postponing`](super::Compiled::postponing) alone: a store where lanes come to the branch, a store and two
    /// more for the test each time that lanes which have waited go on, and as many where a loop begins.
    pub split_operations: u64,
    /// Lines, from 1, that another schedule may execute more or less often: those that read a value
    /// which another workgroup of the dispatch wrote, or by an atomic another subgroup of the workgroup, and
    /// a branch or an address follows, and the conditions that follow it. Where there are any, the counts are this schedule's.
    pub depends_on_schedule: BTreeSet<u32>,
    /// The same counts by the way that calls took, the entry point first, a caller before whom it calls:
    /// calls that never happened are left out. Empty where every function is called from one place at
    /// most, and of programs with thousands of calls.
    pub calls: Vec<CallCounts>,
}

/// What a function did where it was called by one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCounts {
    /// The function.
    pub function: String,
    /// The call by which its caller is there, as an index of [`Outcome::calls`], and where it calls; nothing
    /// for the entry point.
    pub from: Option<(usize, Location)>,
    /// Executions and active lanes of its own blocks, those that were executed.
    pub blocks: Vec<(BlockId, Executions, Lanes)>,
}

/// How often a block was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCounts {
    /// Executions by a subgroup with at least one active lane.
    pub executions: Executions,
    /// The active lanes of those, summed.
    pub lanes: Lanes,
    /// Executions by their number of active lanes, `[W]`: the first entry counts those with one.
    pub histogram: Vec<u64>,
    /// The parts of subgroups that had an active lane, summed over the executions; `None` below 64
    /// lanes.
    pub parts: Option<Parts>,
}

/// Something that a shader should not do, at one place of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// What.
    pub kind: ReportKind,
    /// Where in the source.
    pub location: Location,
    /// How often, each lane by itself.
    pub count: u64,
    /// The first workgroup, in dispatch order, that did it: its coordinates.
    pub workgroup: [u32; 3],
    /// The subgroup of that workgroup.
    pub subgroup: u32,
    /// The lowest lane.
    pub lane: u32,
}

/// What is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportKind {
    /// A read out of bounds; it gave zero.
    ReadOutOfBounds,
    /// A write or an atomic operation out of bounds; it was skipped.
    WriteOutOfBounds,
    /// A barrier that not all invocations of the workgroup reached together.
    DivergentBarrier,
    /// A `workgroupUniformLoad` whose pointer differs between invocations.
    DivergentUniformLoad,
    /// A shuffle or broadcast from a lane that other control flow has, or that returned; or one that
    /// names a lane which no subgroup of this width has.
    InactiveSource,
    /// A shuffle up or down past the first or last lane, or any shuffle from a lane that a partial
    /// workgroup leaves empty. Scans and stencils do so at their edges and use nothing of it: it is
    /// no fault, and strict mode goes on.
    EdgeSource,
}

impl ReportKind {
    /// Whether a shader must not do it: strict mode stops there.
    pub fn is_fault(self) -> bool {
        match self {
            Self::ReadOutOfBounds
            | Self::WriteOutOfBounds
            | Self::DivergentBarrier
            | Self::DivergentUniformLoad
            | Self::InactiveSource => true,
            Self::EdgeSource => false,
        }
    }
}

impl std::fmt::Display for ReportKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::ReadOutOfBounds => "read out of bounds",
            Self::WriteOutOfBounds => "write out of bounds",
            Self::DivergentBarrier => "barrier in divergent control flow",
            Self::DivergentUniformLoad => "workgroupUniformLoad of different pointers",
            Self::InactiveSource => "value taken from an inactive lane",
            Self::EdgeSource => "shuffle past the edge of a subgroup",
        })
    }
}

/// The least width at which parts are counted: narrower subgroups have no two parts of 32 lanes.
const PARTS_WIDTH_MIN: usize = 64;

/// The parts of 16 and of 32 neighbouring lanes in which a mask has a lane.
#[inline]
fn count_occupied(exec: Mask) -> Parts {
    /// All bits of each part but the highest.
    const BELOW_16: u64 = 0x7fff_7fff_7fff_7fff;
    const BELOW_32: u64 = 0x7fff_ffff_7fff_ffff;
    // The highest bit of a part becomes whether any of its bits is set: the sum carries into it.
    let parts = |half: u64, below: u64| {
        u64::from(((((half & below) + below) | half) & !below).count_ones())
    };
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let halves = [exec as u64, (exec >> 64) as u64];
    let [of_16, of_32] =
        [BELOW_16, BELOW_32].map(|below| halves.iter().map(|&half| parts(half, below)).sum());
    Parts { of_16, of_32 }
}

/// What one worker saw.
#[derive(Debug)]
pub(super) struct Tally {
    /// Executions by copy of a block and active lanes, `[copies × (W + 1)]`; the first of each row stays 0.
    histogram: Vec<u64>,
    row: usize,
    /// By copy, of the executions with some lanes and not all; empty below 64 lanes.
    parts: Vec<Parts>,
    reports: BTreeMap<(ReportKind, SiteId), Entry>,
    pub(super) steps: u64,
    pub(super) split_operations: u64,
    /// The accesses whose values subgroups of one workgroup exchanged.
    pub(super) exchanged: BTreeSet<FollowId>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    count: u64,
    first: (SubgroupPlace, u32),
}

impl Tally {
    pub(super) fn new(copies: usize, width: Width) -> Self {
        let row = width.index() + 1;
        let parts = if width.index() >= PARTS_WIDTH_MIN { copies } else { 0 };
        Self {
            histogram: vec![0; copies * row],
            row,
            parts: vec![Parts::default(); parts],
            reports: BTreeMap::new(),
            steps: 0,
            split_operations: 0,
            exchanged: BTreeSet::new(),
        }
    }

    /// Counts an execution of a copy of a block.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one of the interpreter's instructions")]
    pub(super) fn block(&mut self, copy: CopyId, exec: Mask) {
        let lanes = exec.count_ones() as usize;
        self.histogram[copy as usize * self.row + lanes] += 1;
        // Where all lanes are there, so are all parts.
        if lanes + 1 != self.row
            && let Some(parts) = self.parts.get_mut(copy as usize)
        {
            let seen = count_occupied(exec);
            parts.of_16 += seen.of_16;
            parts.of_32 += seen.of_32;
        }
    }

    /// Notes that the lanes `mask` did something; lanes are those of a subgroup of `width`.
    #[cold]
    pub(super) fn report(
        &mut self,
        kind: ReportKind,
        site: SiteId,
        place: SubgroupPlace,
        mask: Mask,
        width: usize,
    ) {
        debug_assert!(width >= 128 || mask >> width == 0, "only lanes of the subgroup");
        if site == SITE_NONE {
            return;
        }
        let count = u64::from(mask.count_ones());
        let first = (place, mask.trailing_zeros());
        let entry = self.reports.entry((kind, site)).or_insert(Entry { count: 0, first });
        entry.count += count;
        entry.first = entry.first.min(first);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, part) in self.histogram.iter_mut().zip(&other.histogram) {
            *sum += part;
        }
        for (sum, part) in self.parts.iter_mut().zip(&other.parts) {
            sum.of_16 += part.of_16;
            sum.of_32 += part.of_32;
        }
        for (&key, part) in &other.reports {
            let entry = self.reports.entry(key).or_insert(Entry { count: 0, first: part.first });
            entry.count += part.count;
            entry.first = entry.first.min(part.first);
        }
        self.steps += other.steps;
        self.split_operations += other.split_operations;
        self.exchanged.extend(&other.exchanged);
    }

    /// Turns the sums into what the caller sees.
    pub(super) fn outcome(&self, code: &Code, workgroups: [u32; 3]) -> Outcome {
        let calls = self.calls(&code.calls, &code.copies);
        let (histogram, parts) = self.by_block(&code.copies);
        let width = (self.row - 1) as u64;
        let occupied_parts = |block: usize, row: &[u64]| {
            let full = row.last().copied().unwrap_or(0);
            let partly = parts.get(block)?;
            Some(Parts {
                of_16: partly.of_16 + full * (width / 16),
                of_32: partly.of_32 + full * (width / 32),
            })
        };
        let rows = histogram.chunks_exact(self.row).enumerate();
        let blocks = rows.map(|(block, row)| BlockCounts {
            executions: executions(row),
            lanes: lanes(row),
            histogram: row[1..].to_vec(),
            parts: occupied_parts(block, row),
        });
        let reports = self.reports.iter().map(|(&(kind, site), entry)| Report {
            kind,
            location: code.sites[site as usize],
            count: entry.count,
            workgroup: coordinates(entry.first.0.workgroup, workgroups),
            subgroup: entry.first.0.subgroup,
            lane: entry.first.1,
        });
        Outcome {
            blocks: blocks.collect(),
            reports: reports.collect(),
            steps: self.steps,
            split_operations: self.split_operations,
            depends_on_schedule: BTreeSet::new(),
            calls,
        }
    }

    /// Sums over the copies of each block: histograms, and parts where they are counted.
    fn by_block(&self, copies: &[BlockId]) -> (Vec<u64>, Vec<Parts>) {
        let blocks = copies.iter().map(|block| block.index() + 1).max().unwrap_or(0);
        let mut histogram = vec![0; blocks * self.row];
        for (counts, block) in self.histogram.chunks_exact(self.row).zip(copies) {
            let row = &mut histogram[block.index() * self.row..][..self.row];
            row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let mut parts = vec![Parts::default(); if self.parts.is_empty() { 0 } else { blocks }];
        for (part, block) in self.parts.iter().zip(copies) {
            parts[block.index()].of_16 += part.of_16;
            parts[block.index()].of_32 += part.of_32;
        }
        (histogram, parts)
    }

    /// The counts of each call that happened; none where no function is called from several places.
    fn calls(&self, calls: &[InlinedCall], copies: &[BlockId]) -> Vec<CallCounts> {
        if !calls.iter().any(|call| call.again) {
            return Vec::new();
        }
        let counted = calls.iter().map(|call| {
            let count = |copy: &CopyId| {
                let row = &self.histogram[*copy as usize * self.row..][..self.row];
                let executions = executions(row);
                (executions.0 > 0).then(|| (copies[*copy as usize], executions, lanes(row)))
            };
            call.copies.iter().filter_map(count).collect::<Vec<_>>()
        });
        let counted: Vec<_> = counted.collect();
        // A callee stands behind its caller, so that from the last on each says whether it happened.
        let mut happened: Vec<bool> = counted.iter().map(|blocks| !blocks.is_empty()).collect();
        for (index, call) in calls.iter().enumerate().rev() {
            if let (true, Some((caller, _))) = (happened[index], call.from) {
                happened[caller] = true;
            }
        }
        let mut place = vec![0; calls.len()];
        let mut listed: Vec<CallCounts> = Vec::new();
        for (index, (call, blocks)) in calls.iter().zip(counted).enumerate() {
            if happened[index] {
                place[index] = listed.len();
                let from = call.from.map(|(caller, at)| (place[caller], at));
                listed.push(CallCounts { function: call.function.clone(), from, blocks });
            }
        }
        listed
    }
}

/// The executions in a row of a histogram.
fn executions(row: &[u64]) -> Executions {
    Executions(row.iter().sum())
}

/// The active lanes in a row of a histogram.
fn lanes(row: &[u64]) -> Lanes {
    Lanes(row.iter().zip(0..).map(|(count, lanes)| count * lanes).sum())
}

/// The coordinates of a workgroup from its number in dispatch order: x runs fastest.
#[expect(clippy::cast_possible_truncation, reason = "each is below its dimension")]
pub(super) fn coordinates(index: u64, workgroups: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = workgroups.map(|count| u64::from(count).max(1));
    [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
}
