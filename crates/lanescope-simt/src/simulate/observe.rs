//! The observer: what may watch an execution without changing it.
//!
//! Input: calls from the interpreter. Output: whatever an implementor gathers. Every hook is empty
//! by default, and none can alter the execution: they get copies. Without an observer a launch
//! pays one predicted branch a block and an access.

use crate::units::BlockId;

/// Watches an execution. Each worker thread has its own, so that hooks need no lock.
pub trait Observer: Send {
    /// Whether anything of this workgroup is to be reported; what is not costs nothing.
    fn watches(&self, workgroup: u64) -> bool {
        let _ = workgroup;
        true
    }

    /// A subgroup executes a basic block; bit i of `active` is set where lane i is active.
    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) {
        let _ = (place, block, active);
    }

    /// A subgroup accesses memory with one instruction.
    fn access(&mut self, access: &Access<'_>) {
        let _ = access;
    }
}

/// An observer that several workers can share the work of.
pub trait ForkObserver: Observer + Sized {
    /// Makes an empty observer of the same kind, for another worker.
    fn fresh(&self) -> Self;

    /// Adds what another worker saw; the order of workers is not defined.
    fn merge(&mut self, other: Self);
}

/// One memory instruction of one subgroup.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Which subgroup.
    pub place: SubgroupPlace,
    /// Which memory.
    pub space: Space,
    /// What it does.
    pub kind: AccessKind,
    /// The lanes that access it; lanes out of bounds are left out.
    pub active: u128,
    /// The first byte of each lane's access, by lane `[lanes]`; entries of lanes that are not in
    /// `active` mean nothing.
    pub offsets: &'a [u32],
    /// Bytes a lane accesses.
    pub size_bytes: u32,
}

/// A memory that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// The workgroup's memory; offsets count over all its variables.
    Workgroup,
    /// A uniform or storage buffer.
    Buffer {
        /// Bind group.
        group: u32,
        /// Binding in the group.
        binding: u32,
    },
    /// The immediates.
    Immediates,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes atomically; an atomic load or store counts here too.
    Atomic,
}

/// Which subgroup it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubgroupPlace {
    /// The workgroup's number in dispatch order: x runs fastest.
    pub workgroup: u64,
    /// The subgroup's number in its workgroup.
    pub subgroup: u32,
}
