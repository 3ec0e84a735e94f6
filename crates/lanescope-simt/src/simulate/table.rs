//! What the compiler hands to the interpreter: the code and its tables.
//!
//! Input: what `compile` found. Output: [`Code`], fixed for a program, and [`LaunchContext`], the view of
//! it for one launch. Nothing here changes while a launch runs, except the words of the buffers.

use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use naga::BuiltIn;

use super::op::{At, AtomicOp, CopyId, FollowId, Op, Owner, Reg, TextureOp};
use crate::program::Location;
use crate::texture::{SamplerSettings, TextureClass, TextureLayout, TextureView};
use crate::units::BlockId;

/// A compiled program.
#[derive(Debug)]
pub(super) struct Code {
    /// The instructions.
    pub(super) ops: Vec<Op>,
    /// The block of each copy: first all blocks in order, then those of functions that are called again.
    pub(super) copies: Vec<BlockId>,
    /// The calls, the entry point first, a caller before whom it calls; empty where they are not told apart.
    pub(super) calls: Vec<InlinedCall>,
    /// Accesses to memory, static parts.
    pub(super) accesses: Vec<At>,
    /// Atomic operations, static parts.
    pub(super) atomics: Vec<AtomicOp>,
    /// Operations on textures.
    pub(super) textures: Vec<TextureOp>,
    /// Group and binding of each sampler.
    pub(super) samplers: Vec<(u32, u32)>,
    /// Source places.
    pub(super) sites: Vec<Location>,
    /// What follows the values that are read from buffers which the program writes.
    pub(super) follows: Vec<Follow>,
    /// For each root whether the program writes it and workgroups share it.
    pub(super) written: Vec<bool>,
    /// For each root who alone accesses each of its elements.
    pub(super) owners: Vec<Owner>,
    /// For each root, what follows the values of its atomics that decide something.
    pub(super) decisive: Vec<Vec<FollowId>>,
    /// The words of the first registers: constants.
    pub(super) constants: Vec<u32>,
    /// Registers that hold a built-in value, one a component.
    pub(super) builtins: Vec<(BuiltIn, u8, Reg)>,
    /// Registers that hold the number of elements of a run-time array.
    pub(super) lengths: Vec<Length>,
    /// Registers in all.
    pub(super) registers: usize,
    /// Mask slots in all.
    pub(super) slots: usize,
    /// Memories: the workgroup's, then buffers, then immediates.
    pub(super) roots: Vec<Root>,
    /// Bytes of workgroup memory.
    pub(super) workgroup_bytes: u32,
    /// Whether there is any barrier.
    pub(super) barriers: bool,
}

/// A function where it is called: its place among the calls says by which way.
#[derive(Clone, Debug)]
pub(super) struct InlinedCall {
    /// The function.
    pub(super) function: String,
    /// The call by which the caller is there, and the place of this one; nothing for the entry point.
    pub(super) from: Option<(usize, Location)>,
    /// The copies of its blocks.
    pub(super) copies: Vec<CopyId>,
    /// Whether the function was called before, so that its copies are not the blocks themselves.
    pub(super) again: bool,
}

/// A memory that the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The workgroup's own.
    Workgroup,
    /// A buffer.
    Buffer { group: u32, binding: u32, size_min: u32 },
    /// A texture.
    Texture { group: u32, binding: u32, view: TextureView, class: TextureClass },
    /// The immediates.
    Immediates { size_min: u32 },
}

/// What follows a value that decides something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Follow {
    /// The line that reads it, or fetches it by an atomic.
    pub(super) line: u32,
    /// The lines of the conditions that follow it.
    pub(super) conditions: Vec<u32>,
}

/// How to compute a run-time array's number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) register: Reg,
    pub(super) root: u16,
    pub(super) offset: u32,
    pub(super) stride: u32,
}

/// A launch's view of the program.
pub(super) struct LaunchContext<'a> {
    pub(super) code: &'a [Op],
    pub(super) copies: &'a [BlockId],
    pub(super) accesses: &'a [At],
    pub(super) atomics: &'a [AtomicOp],
    pub(super) texture_ops: &'a [TextureOp],
    pub(super) samplers: Vec<&'a SamplerSettings>,
    /// The layout of each root that is a texture.
    pub(super) textures: Vec<Option<&'a TextureLayout>>,
    pub(super) roots: &'a [Root],
    pub(super) sites: &'a [Location],
    /// For each root, what follows the values of its atomics.
    pub(super) decisive: &'a [Vec<FollowId>],
    /// The words of each root; the workgroup's are empty here.
    pub(super) words: Vec<&'a [AtomicU32]>,
    /// The size of each root in bytes.
    pub(super) sizes: Vec<u32>,
    /// Taken for every 64-bit atomic.
    pub(super) lock: &'a Mutex<()>,
    /// Whether one worker runs the whole launch.
    pub(super) alone: bool,
    /// Lanes a subgroup.
    pub(super) width: u32,
    pub(super) late: bool,
    /// Whether a slice may end behind an access to memory.
    pub(super) pauses: bool,
    pub(super) fused: bool,
    pub(super) strict: bool,
}
