//! The observer: what may watch an execution without changing it.
//!
//! Input: calls from the interpreter. Output: whatever an implementor gathers. Every hook is empty
//! by default, and none can alter the execution: they get copies. Without an observer a launch
//! pays one predicted branch a block and an access.

use std::ops::ControlFlow;

use crate::units::BlockId;

/// Watches an execution. Each worker thread has its own, so that hooks need no lock.
pub trait Observer: Send {
    /// Whether anything of this subgroup is to be reported when it is its turn; what is not costs
    /// nothing.
    fn watches(&self, place: SubgroupPlace) -> bool {
        let _ = place;
        true
    }

    /// A subgroup executes a basic block; bit i of `active` is set where lane i is active. Where it
    /// breaks, nothing more is reported until it is the subgroup's turn again.
    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) -> ControlFlow<()> {
        let _ = (place, block, active);
        ControlFlow::Continue(())
    }

    /// A subgroup accesses memory with one instruction.
    fn access(&mut self, access: &Access<'_>) {
        let _ = access;
    }

    /// Invocations have waited for one another.
    fn barrier(&mut self, barrier: &PassedBarrier) {
        let _ = barrier;
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
    /// Whether it may change what is there: no load does, an atomic one included.
    pub changes: bool,
    /// The lanes that access it; lanes out of bounds are left out.
    pub active: u128,
    /// The first byte of each lane's access, by lane `[lanes]`; entries of lanes that are not in
    /// `active` mean nothing.
    pub offsets: &'a [u32],
    /// Bytes a lane accesses.
    pub size_bytes: u32,
    /// Bytes of each of its scalars; a 64-bit one counts as two of 4.
    pub part_bytes: u32,
    /// The words that are stored, `[words × lanes]`, a lane's as registers hold them; empty where
    /// nothing is, or by an atomic operation.
    pub values: &'a [u32],
    /// The line in the source, from 1.
    pub line: u32,
}

/// A barrier that invocations have passed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedBarrier {
    /// The workgroup.
    pub workgroup: u64,
    /// The subgroup whose lanes alone waited; `None` if the whole workgroup did.
    pub subgroup: Option<u32>,
    /// The line in the source, from 1.
    pub line: u32,
    /// Whether it orders accesses to the workgroup's memory.
    pub orders_workgroup: bool,
    /// Whether it orders accesses to storage buffers.
    pub orders_storage: bool,
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
    /// A texture; offsets are those of a model of tiles, [`TextureLayout::tiled_offset`].
    ///
    /// [`TextureLayout::tiled_offset`]: crate::texture::TextureLayout::tiled_offset
    Texture {
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
