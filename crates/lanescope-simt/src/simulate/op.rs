//! The instructions of the register program.
//!
//! Input: nothing. Output: [`Op`], what the compiler writes and the interpreter reads. A register
//! holds one 32-bit word of every lane; a 64-bit scalar takes two registers in a row, low word
//! first; `f16` is kept as the `f32` of the same value, `i16` and `u16` extended to 32 bits, `bool`
//! as 0 or 1. This module executes nothing; [`with_pure`] lists the operations that the interpreter
//! runs over all lanes at once, inactive ones included, since they write fresh registers only.

use crate::texture::TextureView;

/// The number of a register.
pub(super) type Reg = u16;

/// The number of a mask slot: a set of lanes that waits somewhere.
pub(super) type Slot = u16;

/// A place in the code: first a label's number, after linking an index.
pub(super) type Target = u32;

/// A block where a function was called from: its index in the table of copies.
pub(super) type CopyId = u32;

/// The index of a source place in the table of sites.
pub(super) type SiteId = u32;

/// The site of an access that another instruction already reports.
pub(super) const SITE_NONE: SiteId = u32::MAX;

/// The index of what follows a value that was read.
pub(super) type FollowId = u16;

/// Of a value that decides nothing, or that no other workgroup can have written.
pub(super) const FOLLOW_NONE: FollowId = u16::MAX;

/// The byte or slot offset of a lane whose index was out of bounds.
pub(super) const OFFSET_INVALID: u32 = u32::MAX;

/// The memory of the workgroup among the roots; buffers follow.
pub(super) const ROOT_WORKGROUP: u16 = 0;

/// Gives the list of pure operations to another macro, and what else that macro is to get.
///
/// Each is written as a function of one lane's words; `f` reads an `f32`, `s` an `i32`, `b` makes
/// a boolean.
macro_rules! with_pure {
    ($callback:ident $($extra:tt)*) => {
        $callback! {
            unary {
                NotB(|a| a ^ 1);
                NotI(|a| !a);
                NegI(|a| 0u32.wrapping_sub(a));
                NegF(|a| a ^ 0x8000_0000);
                AbsF(|a| a & 0x7fff_ffff);
                AbsI(|a| s(a).wrapping_abs().cast_unsigned());
                SqrtF(|a| f(a).sqrt().to_bits());
                FloorF(|a| f(a).floor().to_bits());
                CeilF(|a| f(a).ceil().to_bits());
                TruncF(|a| f(a).trunc().to_bits());
                RoundF(|a| f(a).round_ties_even().to_bits());
                FloatS(|a| scalar::float_from_s(a));
                FloatU(|a| scalar::float_from_u(a));
                IntS(|a| scalar::s_from_float(a));
                IntU(|a| scalar::u_from_float(a));
                TestI(|a| b(a != 0));
                TestF(|a| b(f(a) != 0.0));
                FloatB(|a| a.wrapping_mul(0x3f80_0000));
            }
            binary {
                AddI(|a, c| a.wrapping_add(c));
                SubI(|a, c| a.wrapping_sub(c));
                MulI(|a, c| a.wrapping_mul(c));
                AndI(|a, c| a & c);
                OrI(|a, c| a | c);
                XorI(|a, c| a ^ c);
                Shl(|a, c| a << (c & 31));
                ShrU(|a, c| a >> (c & 31));
                ShrS(|a, c| (s(a) >> (c & 31)).cast_unsigned());
                MinU(|a, c| a.min(c));
                MaxU(|a, c| a.max(c));
                MinS(|a, c| s(a).min(s(c)).cast_unsigned());
                MaxS(|a, c| s(a).max(s(c)).cast_unsigned());
                EqI(|a, c| b(a == c));
                NeI(|a, c| b(a != c));
                LtU(|a, c| b(a < c));
                LeU(|a, c| b(a <= c));
                LtS(|a, c| b(s(a) < s(c)));
                LeS(|a, c| b(s(a) <= s(c)));
                AddF(|a, c| (f(a) + f(c)).to_bits());
                SubF(|a, c| (f(a) - f(c)).to_bits());
                MulF(|a, c| (f(a) * f(c)).to_bits());
                DivF(|a, c| (f(a) / f(c)).to_bits());
                MinF(|a, c| if f(c) < f(a) { c } else { a });
                MaxF(|a, c| if f(a) < f(c) { c } else { a });
                EqF(|a, c| b(f(a) == f(c)));
                NeF(|a, c| b(f(a) != f(c)));
                LtF(|a, c| b(f(a) < f(c)));
                LeF(|a, c| b(f(a) <= f(c)));
            }
            ternary {
                FmaF(|a, c, d| f(a).mul_add(f(c), f(d)).to_bits());
                MulAddF(|a, c, d| (f(a) * f(c) + f(d)).to_bits());
                Select(|a, c, d| if d != 0 { c } else { a });
            }
            $($extra)*
        }
    };
}
pub(super) use with_pure;

/// Writes the enum of operations: the pure ones from the list, the others below.
macro_rules! define_operations {
    (
        unary { $($u:ident($uf:expr);)* }
        binary { $($b:ident($bf:expr);)* }
        ternary { $($t:ident($tf:expr);)* }
        $($others:tt)*
    ) => {
        define_enum! { { $($u)* } { $($b)* } { $($t)* } $($others)* }
    };
}

macro_rules! define_enum {
    ({ $($u:ident)* } { $($b:ident)* } { $($t:ident)* } $($others:tt)*) => {
        /// One instruction. The destination comes first.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Op {
            $($u(Reg, Reg),)*
            $($b(Reg, Reg, Reg),)*
            $($t(Reg, Reg, Reg, Reg),)*
            $($others)*
        }
    };
}

with_pure! { define_operations
    /// A scalar function of one word, for the active lanes.
    Map1(fn(u32) -> u32, Reg, Reg),
    /// A scalar function of two words.
    Map2(fn(u32, u32) -> u32, Reg, [Reg; 2]),
    /// A scalar function of three words.
    Map3(fn(u32, u32, u32) -> u32, Reg, [Reg; 3]),
    /// A scalar function of four words.
    Map4(fn(u32, u32, u32, u32) -> u32, Reg, [Reg; 4]),
    /// A fused multiply-add in `f16`, by the policy.
    FmaHalf(Reg, [Reg; 3]),
    /// A fused multiply-add in `f64`, by the policy.
    FmaDouble(Reg, [Reg; 3]),
    /// A function of one 64-bit scalar.
    Wide1(fn(u64) -> u64, Reg, Reg),
    /// A function of two 64-bit scalars.
    Wide2(fn(u64, u64) -> u64, Reg, [Reg; 2]),
    /// A function of two 64-bit scalars that gives a word.
    WideTest(fn(u64, u64) -> u32, Reg, [Reg; 2]),
    /// A 64-bit scalar from a word.
    Widen(fn(u32) -> u64, Reg, Reg),
    /// A word from a 64-bit scalar.
    Narrow(fn(u64) -> u32, Reg, Reg),
    /// Copies all lanes.
    Copy(Reg, Reg),
    /// Copies the active lanes: the store to a variable that lives in registers.
    Store(Reg, Reg),
    /// Sets registers in a row to one.
    Fill { dst: Reg, count: u16, src: Reg },
    /// `base + index · stride`, or invalid where `base` is or `index` is not below `length`.
    Index {
        dst: Reg,
        base: Reg,
        index: Reg,
        length: Reg,
        stride: u32,
    },
    /// Reads registers `base + offset …` with an offset a lane; an invalid one reads 0.
    Gather { dst: Reg, count: u16, base: Reg, offset: Reg, site: SiteId },
    /// Writes registers `base + offset …` with an offset a lane; an invalid one writes nothing.
    Scatter { base: Reg, offset: Reg, src: Reg, count: u16, site: SiteId },
    /// Reads words that are the same for all lanes.
    LoadUniform { dst: Reg, count: u16, root: u16, offset: u32, site: SiteId },
    /// Reads `count` scalars from memory at `at.offset + dynamic`.
    Load { dst: Reg, dynamic: Reg, at: u32 },
    /// Writes `count` scalars to memory.
    MemoryStore { src: Reg, dynamic: Reg, at: u32 },
    /// Reads, changes and writes a scalar of memory; `with` indexes the table of atomics.
    Atomic { dynamic: Reg, with: u32 },
    /// Reads, writes or asks a texture; `with` indexes the table of textures' operations.
    Texture { with: u32 },
    /// Gives the lanes whose predicate holds as four words.
    Ballot { dst: Reg, predicate: Reg },
    /// Combines the words of the active lanes.
    Collective { fold: fn(u32, u32) -> u32, dst: Reg, src: Reg, identity: Reg, scan: Scan },
    /// Combines the 64-bit scalars of the active lanes.
    CollectiveWide { fold: fn(u64, u64) -> u64, dst: Reg, src: Reg, identity: Reg, scan: Scan },
    /// Reads other lanes' words; `count` registers in a row.
    Shuffle { mode: Shuffle, dst: Reg, src: Reg, index: Reg, count: u16, site: SiteId },
    /// Counts the execution of a copy of a basic block, by [`Code::copies`](super::table::Code::copies).
    Block { copy: CopyId, ops: u32 },
    /// Goes on with the lanes where `condition` is `!invert`; the others wait in `slot`.
    If { condition: Reg, slot: Slot, invert: bool, splits: bool, target: Target },
    /// Exchanges the active lanes with those that wait in `slot`.
    Else { slot: Slot, target: Target },
    /// Adds the lanes that wait in `slot`.
    Join { slot: Slot, target: Target },
    /// The lanes where `condition` is `!invert` execute `copy`, a lone `break`.
    BreakIf { condition: Reg, slot: Slot, invert: bool, copy: CopyId, target: Target },
    /// Leaves for `slot`: `break`, `continue`, `return`.
    Leave { slot: Slot, target: Target },
    /// Opens a switch: all active lanes wait in `rest`.
    Switch { rest: Slot, exits: Slot },
    /// Moves the lanes of `rest` whose selector equals the word of register `value` to `slot`.
    Case { selector: Reg, value: Reg, rest: Slot, slot: Slot },
    /// Moves the lanes that no case took to the default's slot.
    CaseDefault { rest: Slot, slot: Slot },
    /// Late reconvergence only: splits the subgroup by the arm that each lane takes.
    SwitchSplit { first: Slot, arms: u16 },
    /// Adds the lanes of a case to those that fell through.
    CaseBegin { slot: Slot, target: Target },
    /// Opens a loop.
    LoopBegin { exits: Slot },
    /// Begins an iteration.
    LoopHead { continued: Slot },
    /// Goes back to the head with the lanes that are left.
    LoopBack { head: Target, site: SiteId },
    /// Goes back with the lanes where `condition` is not set; the others leave.
    LoopBackUnless { condition: Reg, exits: Slot, head: Target, site: SiteId },
    /// Goes on with the lanes that left the loop.
    LoopEnd { exits: Slot, target: Target },
    /// As `LoopEnd`, of a loop that [`Postponed`](super::Postponed) lanes wait in.
    LoopMeet { exits: Slot, target: Target },
    /// Begins such a loop.
    LoopGather,
    /// Lets the lanes that are set, or with `invert` the others, wait at the branch behind it.
    Postpone { condition: Reg, invert: bool },
    /// Empties a slot.
    Clear { slot: Slot },
    /// Waits for the workgroup's other subgroups.
    Barrier { site: SiteId, workgroup: bool, storage: bool },
    /// Tells an observer that the lanes have met, which orders the accesses of the subgroup.
    SubgroupBarrier { site: SiteId, workgroup: bool, storage: bool },
    /// Reports where the active lanes' offsets differ.
    CheckUniform { offset: Reg, key: u32, site: SiteId },
    /// Ends the subgroup.
    End,
}

/// Which lanes a collective operation combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// All active lanes.
    Reduce,
    /// The active lanes up to this one.
    Inclusive,
    /// The active lanes below this one.
    Exclusive,
}

/// Where a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    /// The lowest active lane.
    First,
    /// The lane of that number.
    Lane,
    /// The lane so much above.
    Down,
    /// The lane so much below.
    Up,
    /// The lane whose number differs by these bits.
    Xor,
    /// The lane of that number among the quad's four.
    Quad,
}

/// How scalars lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// 32-bit words; a 64-bit scalar is two.
    Words,
    /// `f16`, two bytes.
    Half,
    /// `i16`.
    Short,
    /// `u16`.
    Ushort,
    /// `bool` in one byte.
    Byte,
}

impl Form {
    /// Bytes that one register's share takes.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Self::Words => 4,
            Self::Half | Self::Short | Self::Ushort => 2,
            Self::Byte => 1,
        }
    }
}

/// The static part of an access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// Which memory.
    pub(super) root: u16,
    /// The first byte.
    pub(super) offset: u32,
    /// The byte after the whole value of which this access may be a part: what is checked.
    pub(super) end: u32,
    /// How many registers.
    pub(super) count: u16,
    /// How they lie.
    pub(super) form: Form,
    /// Whether it reads or writes an atomic.
    pub(super) atomic: bool,
    /// Whether a 64-bit atomic, which takes the lock.
    pub(super) locked: bool,
    /// Where to report.
    pub(super) site: SiteId,
    /// The line, for observers.
    pub(super) line: u32,
    /// Who alone accesses the elements that are accessed here.
    pub(super) owner: Owner,
    /// What follows the value that is read, where it decides something.
    pub(super) follow: FollowId,
}

/// Who accesses an element of an array, as far as the program's text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The invocation whose `global_invocation_id.x` is the index.
    Invocation,
    /// The workgroup whose `workgroup_id.x` is the index.
    Workgroup,
    /// Anybody.
    Anybody,
}

/// The static part of an atomic operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicOp {
    /// Where.
    pub(super) at: At,
    /// What.
    pub(super) change: Change,
    /// The operand.
    pub(super) value: Reg,
    /// What to compare with, for an exchange that compares.
    pub(super) compare: Option<Reg>,
    /// Where the old value goes, and behind it whether it was exchanged.
    pub(super) result: Option<Reg>,
    /// What it does with its word.
    pub(super) touch: Touch,
    /// What the order makes of several on one word, whether or not anybody uses the old value.
    pub(super) combination: Combination,
}

/// An operation on a texture.
#[derive(Clone, Debug)]
pub(super) struct TextureOp {
    /// Which texture.
    pub(super) root: u16,
    /// How the shader sees it.
    pub(super) view: TextureView,
    /// The texel's column, row and depth, or the place that is sampled; as many as the view has.
    pub(super) at: Vec<Coordinate>,
    /// The layer, where the view has layers.
    pub(super) layer: Option<Coordinate>,
    /// What is done.
    pub(super) action: TextureAction,
    /// Where to report.
    pub(super) site: SiteId,
    /// The line, for observers.
    pub(super) line: u32,
    /// What follows the value that is read, where it decides something.
    pub(super) follow: FollowId,
}

/// A register with a coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate {
    pub(super) register: Reg,
    /// Whether an integer has a sign.
    pub(super) signed: bool,
}

/// What is done with a texture.
#[derive(Clone, Debug)]
pub(super) enum TextureAction {
    /// Reads a texel to registers `dst …`.
    Load { dst: Reg, parts: TexelParts, level: Option<Coordinate>, sample: Option<Coordinate> },
    /// Writes a texel from registers `src …`.
    Store { src: Reg, parts: TexelParts },
    /// Reads, changes and writes a texel.
    Atomic { change: Change, value: Reg, compare: Option<Reg>, touch: Touch },
    /// Reads with a sampler; a comparison, or depth, gives one register, else there are four.
    Sample {
        dst: Reg,
        parts: TexelParts,
        sampler: u16,
        level: SampledLevel,
        offset: [i32; 3],
        reference: Option<Reg>,
        clamp_to_edge: bool,
    },
    /// Reads a component of four texels.
    Gather { dst: Reg, sampler: u16, component: u8, offset: [i32; 3], reference: Option<Reg> },
    /// Gives so many extents of a level.
    Size { dst: Reg, count: u16, level: Option<Coordinate> },
    /// Gives the number of mip levels.
    Levels { dst: Reg },
    /// Gives the number of layers; of a cube array the number of cubes.
    Layers { dst: Reg },
    /// Gives the number of samples of a texel.
    Samples { dst: Reg },
}

/// The registers of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TexelParts {
    /// The first component alone.
    One,
    /// Four.
    Four,
    /// Four of 64 bits, eight registers.
    Wide,
}

/// Which level of detail is sampled.
#[derive(Clone, Debug)]
pub(super) enum SampledLevel {
    /// The first.
    Zero,
    /// This one, a float.
    Exact(Reg),
    /// This one, an integer.
    Whole(Coordinate),
    /// What follows from gradients, as many registers each as the view has coordinates.
    Gradient(Vec<Reg>, Vec<Reg>),
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Of a word.
    Word(fn(u32, u32) -> u32),
    /// Of two.
    Wide(fn(u64, u64) -> u64),
}

/// Operations that commute with themselves at most.
pub(super) const JOINT_MAX: u8 = 12;

/// What several changes of one word leave in it, by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    /// The same in each order, for operations of one number, which is below [`JOINT_MAX`].
    Commutes(u8),
    /// What the last one writes.
    Overwrites,
    /// What the first one writes that finds what it expects.
    Compares,
    /// A sum that is rounded by its order.
    Rounds,
}

/// What an access does with a word, for workgroups that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Reads it.
    Read,
    /// Writes it, or changes it in a way that does not commute or whose old value is used.
    Write,
    /// Changes it by an operation that commutes with itself; its number is below [`JOINT_MAX`].
    Joint(u8),
}
