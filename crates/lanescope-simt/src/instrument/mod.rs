//! IR → IR: adds counters of issues and lanes to every basic block.
//!
//! Input: a [`Program`]. Output: [`Instrumented`], a module that validates, computes the same
//! outputs, and counts into one storage buffer of its own. It decides nothing about devices and
//! runs nothing.
//!
//! # What is counted, and how
//!
//! *Executed* counting: at each execution of a block, the lanes that are there ask who leads them
//! (`local_invocation_index == subgroupBroadcastFirst(local_invocation_index)`); the leader counts
//! one issue, every lane counts itself. Nothing is inferred from the program's structure, so the
//! counts say what the device does, reconvergence included.
//!
//! A block's counters live in one of two places. *Registers*: two private scalars an invocation,
//! summed over the subgroup once, when the entry point is done. *Memory*: the leader adds to the
//! buffer at once. Registers are faster but a shader has few: blocks in the deepest loops get them
//! first, at most [`REGISTER_BLOCKS_MAX`] blocks. With a histogram every block counts in memory,
//! because the number of active lanes must be known at each execution: the leader counts one in the
//! bin of that number, and issues and lanes are the bins' sums.
//!
//! *Derived* counting gives the same numbers for less where lanes come together again as soon as they
//! can: lanes note when they were where, and compare notes where they are together anyway. Its own
//! page, `derive`, has the rules, and what goes to registers and what to memory.
//!
//! *Estimated* counting is for devices whose subgroup operations are missing or not to be believed:
//! each lane counts its own trips, so that lanes are exact and issues a lower bound. Its own page,
//! `estimate`, says which.
//!
//! # Shape of the instrumented module
//!
//! The old entry point becomes a function, appended last with its arguments' bindings cleared; the
//! new entry point keeps the name, notes `local_invocation_index`, calls it, then flushes. The flush
//! stands after the call, so `return` anywhere in the old body cannot skip it. Executed sums are taken
//! over whatever lanes arrive together; if they arrive in parts, each part adds its own sum, so the
//! totals do not depend on reconvergence after the call. Derived counting changes loops, too: they run
//! in stretches of 32 turns (`rewrite`).
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
mod plan;
mod rewrite;

use std::collections::BTreeSet;

use naga::Module;
use naga::valid::ModuleInfo;

use crate::program::{Program, ProgramError, validate};
use crate::units::{Executions, Lanes, Parts};
use plan::Plan;

pub use decode::{BlockDecoding, Decoding, Term};

/// The most blocks whose counters are kept in registers: two private scalars each.
pub const REGISTER_BLOCKS_MAX: usize = 64;

/// The most stripes over which workgroups spread.
const STRIPES_MAX: u64 = 64;

/// The most stripes where a stripe must not be shared by many.
const STRIPES_OF_FEW_MAX: u32 = 4096;

/// The most invocations that may share a stripe without carries: each adds less than 2^16 to a word.
const SHARING_MAX: u64 = 1 << 16;

/// How to instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is counted and how.
    pub method: Method,
    /// The widest subgroup that may run the module, in lanes; sizes the histogram.
    pub subgroup_width_max: u32,
    /// The most bytes that the counters' buffer may take.
    pub counter_bytes_max: u64,
    /// The workgroups that will be dispatched, where that is known beforehand: adding up is cheaper
    /// where there are not too many.
    pub workgroups: Option<[u32; 3]>,
}

/// What is counted and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Each execution of a block is seen: what the device does.
    Executed,
    /// As [`Method::Executed`], and for each block how many issues had 1, 2, … active lanes.
    Histogram,
    /// As few counters as the rest follows from under maximal reconvergence.
    Derived,
    /// Without subgroup operations: each lane counts its own trips, and issues are estimated, as if
    /// [`Options::subgroup_width_max`] consecutive invocations were a subgroup.
    Estimated,
}

/// An instrumented module.
#[derive(Clone, Debug)]
pub struct Instrumented {
    module: Module,
    info: ModuleInfo,
    binding: CounterBinding,
    decoding: Decoding,
}

/// The buffer that the host must bind, filled with zeros, and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterBinding {
    /// Bind group; one that the shader uses, where it uses any.
    pub group: u32,
    /// A binding that the shader leaves free.
    pub binding: u32,
    /// Size in bytes.
    pub size: u64,
}

/// The counts of a block.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Count {
    /// Executions with at least one active lane.
    pub issues: Executions,
    /// Active lanes, summed over those.
    pub lanes: Lanes,
    /// Element k: executions with k + 1 active lanes; `None` where not asked for.
    pub histogram: Option<Vec<u64>>,
    /// The parts of subgroups that had an active lane; `None` but on simulators of 64 lanes and more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// Why a program cannot be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// The counters do not fit.
    #[error(
        "{file}: the counters of {blocks} blocks take {bytes} bytes, over the limit of {limit}; \
         leave out the histogram, or raise the limit"
    )]
    TooLarge {
        /// The shader.
        file: String,
        /// Blocks.
        blocks: usize,
        /// Bytes of one stripe.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The result is not valid: a fault of lanescope's.
    #[error("lanescope's instrumentation made an invalid module, please report it: {0}")]
    Invalid(#[from] ProgramError),
}

/// How the buffer is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Words of a stripe.
    words: u32,
    stripes: u32,
}

impl Layout {
    fn new(program: &Program, plan: &Plan, options: &Options) -> Result<Self, InstrumentError> {
        let words = plan.size().max(1);
        let bytes = u64::from(words) * 4;
        let room = options.counter_bytes_max / bytes;
        if room == 0 {
            return Err(InstrumentError::TooLarge {
                file: program.text().file().to_owned(),
                blocks: program.blocks().len(),
                bytes,
                limit: options.counter_bytes_max,
            });
        }
        Ok(Self { words, stripes: 1 << room.min(STRIPES_MAX).ilog2() })
    }

    /// A layout in which no stripe is shared by more than [`SHARING_MAX`] invocations.
    fn of_few(program: &Program, plan: &Plan, options: &Options) -> Option<Self> {
        let [x, y, z] = options.workgroups?;
        let size: u64 = program.workgroup_size().iter().map(|size| u64::from(*size)).product();
        // Neighbours along x get different stripes.
        let shared = |stripes: u32| {
            u64::from(x.div_ceil(stripes))
                .checked_mul(u64::from(y) * u64::from(z))?
                .checked_mul(size)
        };
        let words = plan.size().max(1);
        let fits = |stripes: &u32| {
            let layout = Self { words, stripes: *stripes };
            shared(*stripes).is_some_and(|shared| shared <= SHARING_MAX)
                && layout.size() <= options.counter_bytes_max
        };
        let powers = (STRIPES_MAX.ilog2()..=STRIPES_OF_FEW_MAX.ilog2()).map(|power| 1_u32 << power);
        powers.into_iter().find(fits).map(|stripes| Self { words, stripes })
    }

    fn size(self) -> u64 {
        u64::from(self.words) * u64::from(self.stripes) * 4
    }
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
        if options.method == Method::Estimated {
            estimate::finish(&mut module, program, options.subgroup_width_max);
        }
        let info = validate(&module, program.text())?;
        Ok(Self { module, info, binding, decoding: Decoding::new(&plan, layout) })
    }

    fn plan(program: &Program, options: &Options) -> Result<(Plan, Layout), InstrumentError> {
        let plan = match options.method {
            Method::Executed => Plan::executed(program, REGISTER_BLOCKS_MAX),
            Method::Histogram => Plan::histograms(program, options.subgroup_width_max),
            Method::Estimated => estimate::plan(program),
            Method::Derived => {
                let registers_max = 2 * REGISTER_BLOCKS_MAX;
                let light = derive::derived(program, registers_max, true);
                if let Some(layout) = Layout::of_few(program, &light, options) {
                    return Ok((light, layout));
                }
                derive::derived(program, registers_max, false)
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
    /// nothing where counters contradict one another, which derived counting can show of a device
    /// whose lanes do not reconverge.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`CounterBinding::size`].
    pub fn decode(&self, bytes: &[u8]) -> Option<Vec<Count>> {
        self.decoding.decode(bytes)
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
