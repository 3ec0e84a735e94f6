//! The SIMT simulator: what an execution is, at any subgroup width.
//!
//! Input: a [`Program`](crate::program::Program), buffers, a [`Config`]. Output: the buffers changed, and an [`Outcome`] with
//! the executions, lanes and histogram of every basic block. It measures no time and reads no file.
//!
//! # Semantics
//!
//! ## Subgroups
//! The invocation with local index i is lane i mod W of subgroup i ÷ W of its workgroup, whatever
//! the workgroup's dimensions. A last subgroup may be partial: its other lanes never exist. A
//! subgroup has one program counter and an *active mask*; an instruction is executed for the lanes
//! in the mask. A [`block`](crate::program::structure) is *executed* when a subgroup enters it with
//! at least one active lane, and never with none. (`schedule`, `interpret`)
//!
//! ## If
//! Lanes with a true condition run `accept`, then the others run `reject`; an empty mask skips the
//! arm. All lanes that reach the end of their arm go on together. (`compile/flow`, `interpret`)
//!
//! ## Switch
//! Cases run in the order of the source, each with the lanes whose selector names it and, where the
//! case before it falls through, with the lanes that come from there. Empty cases that fall through
//! name the next one's arm: lanes of `case 1, 2:` run it together. `break` leaves the switch; all
//! lanes go on together after it. (`compile/flow`, `interpret`)
//!
//! ## Loop
//! Lanes that `continue` wait at the start of `continuing`, which all lanes still in the loop run
//! together, and so they begin the next iteration together. `break_if` is asked after `continuing`.
//! Lanes that `break` wait at the loop's end until no lane is left inside. (`compile/flow`,
//! `interpret`)
//!
//! ## Break, Continue, Return
//! Lanes that leave wait where they go: `break` at the end of the innermost loop or switch,
//! `continue` at the innermost loop's `continuing`, even from inside a switch, `return` at the end
//! of the function. Lanes that return from a function called under a mask go on with the caller's
//! other active lanes at the call. (`compile/flow`, `interpret`)
//!
//! ## Call
//! A callee runs with the lanes that are active at the call, for each call anew; its blocks have the
//! same numbers wherever it is called. Where a function is called from several places, each way to it is
//! counted by itself too: [`Outcome::calls`]. (`compile/flow`, `compile/called`)
//!
//! ## Reconvergence
//! All the above is *maximal* reconvergence. Under *late* reconvergence, a model of independent
//! thread scheduling, lanes that part at an `if` or `switch` inside a loop do not meet again at its
//! end but at the end of the innermost loop: each such set of lanes is a *strand* with its own
//! program counter and mask, and executes blocks by itself. Lanes that merely leave the loop early
//! wait at its end as before. Outside loops nothing changes. Subgroup operations see the lanes of
//! the strand. (`schedule`)
//!
//! ## Barriers
//! A subgroup, or a strand, that reaches a barrier waits until every other of the workgroup waits at
//! a barrier or has ended; then all go on. Invocations that do not wait at the same barrier then are
//! reported, as [`ReportKind::DivergentBarrier`]: WGSL forbids it, but nothing hangs. A barrier is
//! part of `workgroupUniformLoad`, before and after the load; pointers that differ are reported.
//! `subgroupBarrier` orders nothing more than program order does. (`compile/statement`,
//! `interpret`, `schedule`)
//!
//! ## Subgroup operations
//! They combine the active lanes, from the lowest up: a sum of floats is ((l0 + l1) + l2) + …, an
//! exclusive scan gives the first lane the identity. A lane that shuffles from an inactive lane, or
//! from outside the subgroup, gets its own value and is reported: as an edge
//! ([`ReportKind::EdgeSource`]) where it goes up or down past the first or last lane, or names a lane
//! that a partial workgroup leaves empty; else as a fault. Quads are four lanes in a row.
//! (`compile/statement`, `interpret`, `subgroup`)
//!
//! ## Memory
//! Buffers, workgroup memory and immediates have naga's layouts. An instruction accesses memory lane
//! by lane from the lowest up; accesses are relaxed. Workgroup memory begins as zeros or, by
//! [`Config::zero_workgroup_memory`], as the word `0xdeadbeef`. (`interpret`, `access`)
//!
//! ## Atomics
//! Each lane's operation is one step, relaxed, from the lowest lane up; `atomicCompareExchangeWeak`
//! never fails spuriously. Those of texels are the same. (`compile/statement`, `access`, `textures`)
//!
//! ## Bounds
//! An index is checked against its own array, vector or matrix, and an access against its buffer. A
//! read out of bounds gives zero, a write or atomic is skipped, and both are reported by line.
//! (`compile/place`, `access`)
//!
//! ## Textures
//! A texture is bound with a format, and its texels are packed ([`TextureFormat`](crate::texture::TextureFormat)
//! says how each format's bits stand for components, with sources). Texels are independent of each
//! other: writing one never touches its neighbour. Accesses go lane by lane from the lowest up, as all
//! others do, and workgroups that share texels are watched as those that share words are (Threads,
//! Exchange). A texel that does not exist (a coordinate, a layer, a level or a sample outside) reads as
//! zeros, and as an alpha of 1 where the format has none: one of the values that WebGPU allows, and what
//! Vulkan's robust access gives. It is not written or changed.
//! Both are reported by line. `textureDimensions` of a level that does not exist gives the last one's. A
//! storage texture is one level. (`textures`, `texture`)
//!
//! ## Samplers
//! A filtered read clamps the level of detail to the sampler's limits and to the levels that are
//! there, magnifies at 0 and below, and weighs 2, 4 or 8 texels of one level or of two, in `f32`; devices
//! weigh with 8 bits or more, so that results differ by up to 1/256 of the range of the texels. A
//! gradient gives the logarithm of its longer side in texels; there is no anisotropic filter. Layers are
//! clamped. Cubes are filtered across their edges; at a corner the missing texel is the mean of the
//! other three. A comparison compares each texel, and then weighs; its reference is clamped to the range
//! of fixed-point depth. To an observer a filtered read is an access for each texel that it reads.
//! (`texture`, `textures`)
//!
//! ## Strict mode
//! With [`Config::strict`] whatever is reported otherwise (see [`ReportKind`]) stops the launch: a
//! [`Trap::Fault`] with its line and workgroup. (`access`, `schedule`)
//!
//! ## Integers
//! They wrap; `x / 0` is x, `x % 0` is 0, the most negative number divided by −1 is itself; shifts
//! take the amount modulo the width; conversions from floats saturate. (`scalar`)
//!
//! ## Floats
//! `f32` +, −, ×, ÷ and square root round as IEEE 754 says, subnormal numbers included; `f16` is
//! computed in `f32` and rounded after each operation. `fma` rounds once or twice, by [`Fma`]; no
//! other pair of operations is ever fused. (`op`, `scalar`)
//!
//! ## Workgroups
//! They begin in dispatch order, x fastest. Progress is promised in that order: one that has begun
//! gets its turn again and again until it ends, so it may wait for an earlier one, not for a later.
//! Which runs when is the [`Schedule`]'s choice: in the default one, [`Schedule::InOrder`], the
//! oldest always has the turn, and its subgroups go round, each for 65,536 operations or until it
//! waits. (`schedule`)
//!
//! ## Threads
//! The answer does not depend on the number of threads, nor on the processor: outcome and memory are
//! those of one thread that follows the schedule. Workgroups run side by side only where no order can
//! be seen: none touches a word that another writes, but for integer atomics of one kind whose old
//! value is not used. (`launch`, `exchange`)
//!
//! ## Exchange
//! What a workgroup does may depend on the schedule where it reads a word that another workgroup of
//! the dispatch writes, and a branch or an address follows the value (look-back, locks, shared
//! queues, marks on vertices). The lines that read it and the conditions that follow it are reported in
//! [`Outcome::depends_on_schedule`]. What only goes on to a buffer changes no count of this dispatch, and is not told:
//! whoever runs a later dispatch over that buffer must try other schedules.
//! The same holds of subgroups of one workgroup where they read, by an atomic, a word that another of them
//! changes and no barrier lies between; and behind a barrier, where what several wrote into the word
//! depends on who came last. A counter that is only added to and read behind a barrier depends on nothing.
//! (`exchange`)
//!
//! ## Arrangements
//! [`Compiled::run_arranged`] gives lanes to invocations in another order, and in workgroups of another
//! size: an invocation keeps its built-in values, its subgroup's excepted. The program is the same,
//! so that only who shares a subgroup with whom differs. (`arrange`, `schedule`)
//!
//! A program compiled by [`Compiled::postponing`] runs one branch of a loop's body otherwise: lanes that
//! come to it wait there, the others go on to their next iterations, and when all of the loop have come
//! or left, those that wait take it together: the loop's body is split there. Each lane does what it does anyway, in its own
//! order. (`compile`, `schedule`)
//!
//! ## Limits
//! All subgroups together may execute [`Config::operations_max`] operations.
//! A subgroup may execute [`Config::steps_max`] operations; one over that is stopped at the back
//! edge of its loop. Memory for registers exists for the subgroups in flight. (`schedule`)

#![warn(clippy::wildcard_enum_match_arm)]

mod access;
mod arrange;
mod bits;
mod compile;
mod compiled;
mod config;
mod error;
mod exchange;
mod interpret;
mod launch;
mod look;
mod mask;
mod memory;
mod observe;
mod op;
mod reach;
mod report;
mod scalar;
mod schedule;
mod strand;
mod subgroup;
mod table;
mod textures;

pub use arrange::{Arrangement, Postponed};
pub use compiled::Compiled;
pub use config::{BUFFER_BYTES_MAX, Config, Fma, Reconvergence, SUBGROUP_OPERATIONS, Schedule};
pub use error::{Limit, SimulateError, Trap};
pub use look::{
    AccessSums, Distances, MEMORY_LINE_BYTES, Race, Races, SECTOR_BYTES, Toucher, Traffic,
    TrafficSums, WaitSums,
};
pub use memory::{DetachedBuffer, Memory};
pub use observe::{
    Access, AccessKind, ForkObserver, Observer, PassedBarrier, Space, SubgroupPlace,
};
pub use report::{BlockCounts, CallCounts, Outcome, Report, ReportKind};

use self::launch::Unseen;

impl Compiled {
    /// Executes a dispatch of `workgroups` over `memory`. Outcome and memory are then the same whatever
    /// the number of threads.
    ///
    /// # Errors
    ///
    /// [`Trap::Refused`] where a buffer is missing or of a wrong size or the dispatch is too large,
    /// [`Trap::Steps`] where a subgroup does not end, [`Trap::Fault`] in strict mode: the trap of the
    /// first workgroup that has one. Buffers then hold what was written until then.
    pub fn run(
        &self,
        workgroups: [u32; 3],
        memory: &mut Memory,
        config: &Config,
    ) -> Result<Outcome, Trap> {
        launch::launch::<Unseen>(self, workgroups, memory, config, None, None).0
    }

    /// Executes the invocations of a dispatch of `workgroups` as `arrangement` gives lanes to them: each
    /// has the built-in values that it has anyway, but those of its subgroup. The coordinates of
    /// reports mean nothing then.
    ///
    /// # Errors
    ///
    /// As [`Compiled::run`].
    pub fn run_arranged(
        &self,
        workgroups: [u32; 3],
        memory: &mut Memory,
        config: &Config,
        arrangement: &Arrangement,
    ) -> Result<Outcome, Trap> {
        launch::launch::<Unseen>(self, workgroups, memory, config, Some(arrangement), None).0
    }

    /// Executes as [`Compiled::run`] does, and shows everything to `observer`.
    ///
    /// # Errors
    ///
    /// As [`Compiled::run`]; the observer then has what was seen until then.
    pub fn run_observed<O: ForkObserver>(
        &self,
        workgroups: [u32; 3],
        memory: &mut Memory,
        config: &Config,
        observer: &mut O,
    ) -> Result<Outcome, Trap> {
        let (outcome, seen) =
            launch::launch(self, workgroups, memory, config, None, Some(&*observer));
        for observed in seen {
            observer.merge(observed);
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
