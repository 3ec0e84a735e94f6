//! IR → IR: adds counters of executions and lanes to every basic block.
//!
//! Input: a [`Program`]. Output: [`Instrumented`], a module that validates, computes the same
//! outputs, and counts into one storage buffer of its own. It decides nothing about devices and
//! runs nothing.
//!
//! # What is counted, and how
//!
//! *Executed* counting: at each execution of a block, the lanes that are there ask which lane is elected
//! (`local_invocation_index == subgroupBroadcastFirst(local_invocation_index)`); the leader counts
//! one issue, every lane counts itself. Nothing is inferred from the program's structure, so the
//! counts say what the device does, reconvergence included.
//!
//! A block's counters live in one of two places. *Registers*: two private scalars an invocation,
//! summed over the subgroup once, when the entry point is done. *Memory*: the leader adds to the
//! buffer at once. Registers are faster but a shader has few: blocks in the deepest loops get them
//! first, at most [`REGISTER_BLOCKS_MAX`] blocks. With a histogram every block counts in memory,
//! because the number of active lanes must be known at each execution: the leader counts one in the
//! bin of that number, and executions and lanes are the bins' sums.
//!
//! *Derived* counting gives the same numbers for less where lanes reconverge as soon as they
//! can: lanes note when they were where, and compare notes where they are together anyway. Its own
//! page, `derive`, has the rules, and what goes to registers and what to memory.
//!
//! *Estimated* counting is for devices whose subgroup operations are missing or not to be believed:
//! each lane counts its own trips, so that lanes are exact and executions a lower bound. Its own page,
//! `estimate`, says which.
//!
//! # Shape of the instrumented module
//!
//! The old entry point becomes a function, appended last with its arguments' bindings cleared; the
//! new entry point keeps the name, notes `local_invocation_index`, calls it, then flushes. The flush
//! stands after the call, so `return` anywhere in the old body cannot skip it. Executed sums are taken
//! over whatever lanes arrive together; if they arrive in parts, each part adds its own sum, so the
//! totals do not depend on reconvergence after the call. Derived counting changes loops, too: they run
//! in stretches of 32 iterations (`rewrite`).
//!
//! # Exactness
//!
//! Counters are 64 bits, two words: the low word's `atomicAdd` returns what it held, so a wrap is
//! seen and carried. The sum of a subgroup's 32-bit counters is taken in halves of 16 bits, which
//! 128 lanes cannot overflow. Private counters wrap after 2^32 executions of a block by one
//! invocation, which no driver lets a dispatch live to see. Slots are striped over workgroups to
//! spare contention; the stripes are as many as fit into [`Options::counter_bytes_max`]. Derived
//! counting of a launch of known size takes so many stripes that words of 16 bits a lane cannot wrap:
//! then nobody waits for what a word held.

mod build;
mod context;
mod decode;
mod derive;
mod estimate;
mod flush;
mod layout;
mod plan;
mod rewrite;

use std::collections::BTreeSet;

use naga::Module;
use naga::valid::ModuleInfo;

use crate::program::{Program, validate};
use crate::units::BlockId;
use layout::Layout;
use plan::CounterPlan;

pub use decode::{BlockDecoding, Count, Decoding, Term};
pub use layout::{CounterBinding, CounterScheme, InstrumentError, Options};

/// The most blocks whose counters are kept in registers: two private scalars each.
pub const REGISTER_BLOCKS_MAX: usize = 64;

/// An instrumented module.
#[derive(Clone, Debug)]
pub struct Instrumented {
    module: Module,
    info: ModuleInfo,
    binding: CounterBinding,
    decoding: Decoding,
}

impl Instrumented {
    /// Adds counters to every block of `program`.
    ///
    /// # Errors
    ///
    /// [`InstrumentError::TooLarge`] when not even one stripe of counters fits, and
    /// [`InstrumentError::Invalid`] when the result does not validate, which is lanescope's fault.
    pub fn new(program: &Program, options: &Options) -> Result<Self, InstrumentError> {
        let (plan, layout) = Self::plan(program, options)?;
        let (group, binding) = free_binding(program.module());
        let binding = CounterBinding { group, binding, size: layout.size() };
        let mut module = build::instrument(program, layout, binding, &plan, options);
        if options.method == CounterScheme::Estimated {
            estimate::finish(&mut module, program, options.subgroup_width_max);
        }
        let info = validate(&module, program.text())?;
        Ok(Self { module, info, binding, decoding: Decoding::new(&plan, layout) })
    }

    fn plan(
        program: &Program,
        options: &Options,
    ) -> Result<(CounterPlan, Layout), InstrumentError> {
        let plan = match options.method {
            CounterScheme::Executed => CounterPlan::executed(program, REGISTER_BLOCKS_MAX),
            CounterScheme::Histogram => {
                CounterPlan::histograms(program, options.subgroup_width_max)
            }
            CounterScheme::Estimated => estimate::plan(program),
            CounterScheme::Derived => {
                let registers_max = 2 * REGISTER_BLOCKS_MAX;
                let light = derive::plan_derived(program, registers_max, true);
                if let Some(layout) = Layout::of_few(program, &light, options) {
                    return Ok((light, layout));
                }
                derive::plan_derived(program, registers_max, false)
            }
        };
        let layout = Layout::new(program, &plan, options)?;
        Ok((plan, layout))
    }

    /// The module: the entry point has the program's name.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// naga's analysis of the module.
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// The buffer to bind.
    pub fn counters(&self) -> CounterBinding {
        self.binding
    }

    /// Reads the counts of each block, by number, from the buffer's bytes after the dispatch;
    /// `None` if counters contradict one another, which derived counting can show of a device
    /// whose lanes do not reconverge.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`CounterBinding::size`].
    pub fn decode(&self, bytes: &[u8]) -> Option<Vec<Count>> {
        self.decoding.decode(bytes)
    }

    /// The most executions of some blocks together by any workgroups that share counters: no subgroup
    /// executed them more often. `None` if one of these sums would be negative.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`CounterBinding::size`].
    pub fn most_in_a_stripe(&self, bytes: &[u8], blocks: &[BlockId]) -> Option<u64> {
        self.decoding.most_in_a_stripe(bytes, blocks)
    }

    /// How the counts are read, for whoever reads the buffer by other means.
    pub fn decoding(&self) -> &Decoding {
        &self.decoding
    }
}

/// The lowest binding that the module leaves free, in a group that it uses where it uses any: a
/// device may have no further group, but bindings are plenty, of which it takes low numbers only.
fn free_binding(module: &Module) -> (u32, u32) {
    let used = || module.global_variables.iter().filter_map(|(_, variable)| variable.binding);
    let group = used().map(|place| place.group).min().unwrap_or(0);
    let taken: BTreeSet<u32> =
        used().filter(|place| place.group == group).map(|place| place.binding).collect();
    // As many numbers as there are bindings, and one more, cannot all be taken.
    let free = (0..).zip(&taken).find(|(number, taken)| number != *taken);
    let count = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    (group, free.map_or(count, |(number, _)| number))
}

#[cfg(test)]
mod tests;
