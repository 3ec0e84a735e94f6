//! A strand of a subgroup: its state, why it stops, and what it may use while it runs.
//!
//! Input: nothing. Output: plain data that `interpret` changes and `schedule` chooses from.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;

use super::exchange::{SubgroupExchange, Watch};
use super::mask::Mask;
use super::observe::{Observer, SubgroupPlace};
use super::op::{SiteId, Slot};
use super::report::{ReportKind, Tally};
use super::table::LaunchContext;

/// Lanes of a subgroup that share a program counter, with all their state. Under maximal
/// reconvergence a subgroup is one strand.
#[derive(Clone, Debug)]
pub(super) struct Strand<const N: usize> {
    /// The next instruction.
    pub(super) pc: usize,
    /// The active mask.
    pub(super) exec: Mask,
    /// The lanes that this strand owns, waiting ones included.
    pub(super) lanes: Mask,
    /// The lanes that the subgroup was launched with.
    pub(super) launched: Mask,
    /// Lanes that wait, by slot.
    pub(super) slots: Vec<Mask>,
    /// The registers, `[registers × lanes]`.
    pub(super) registers: Vec<[u32; N]>,
    /// The loops that this strand is in, late reconvergence only.
    pub(super) loops: Vec<usize>,
    /// Linear index of the workgroup, number of the subgroup.
    pub(super) place: SubgroupPlace,
}

/// Why a strand stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It ended.
    Done,
    /// It waits at a barrier.
    Barrier { site: SiteId },
    /// Its slice is used up, at a loop.
    Yield { site: SiteId },
    /// Its slice is used up, behind an access to memory; by random schedules only.
    Pause,
    /// In strict mode: what is reported otherwise.
    Fault { kind: ReportKind, site: SiteId },
    /// Late reconvergence: these lanes take the other arm of the branch at `pc`.
    Split { others: Mask },
    /// Late reconvergence: the arms of a switch part.
    SplitArms { first: Slot, arms: u16 },
    /// These lanes wait at the branch at `pc` until all others of the loop have come to it or left.
    Postpone { waiting: Mask },
    /// Late reconvergence, or lanes are postponed in it: a loop begins.
    LoopEnter,
    /// Late reconvergence, or lanes were postponed in it: a loop ends; without lanes it goes on at
    /// `target`.
    LoopLeave { target: usize },
}

/// What a strand may use while it runs.
pub(super) struct Surroundings<'a> {
    pub(super) context: &'a LaunchContext<'a>,
    pub(super) group: &'a mut Shared,
    pub(super) tally: &'a mut Tally,
    pub(super) observer: Option<&'a mut dyn Observer>,
    pub(super) watch: &'a mut Watch,
    /// Operations that may still run before the strand yields at a loop; may go below zero.
    pub(super) fuel: i64,
}

/// What the subgroups of a workgroup share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Workgroup memory.
    pub(super) memory: Vec<AtomicU32>,
    /// The pointer of each `workgroupUniformLoad` since the last barrier.
    pub(super) uniform: BTreeMap<u32, u32>,
    /// What they do with atomics.
    pub(super) exchange: SubgroupExchange,
}
