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
//! because the number of active lanes must be known at each execution.
//!
//! # Shape of the instrumented module
//!
//! The old entry point becomes a function, appended last with its arguments' bindings cleared; the
//! new entry point keeps the name, notes `local_invocation_index`, calls it, then flushes. The flush
//! stands after the call, so `return` anywhere in the old body cannot skip it. Sums are taken over
//! whatever lanes arrive together; if they arrive in parts, each part adds its own sum, so the
//! totals do not depend on reconvergence after the call.
//!
//! # Exactness
//!
//! Counters are 64 bits, two words: the low word's `atomicAdd` returns what it held, so a wrap is
//! seen and carried. The sum of a subgroup's 32-bit counters is taken in halves of 16 bits, which
//! 128 lanes cannot overflow. Private counters wrap after 2^32 executions of a block by one
//! invocation, which no driver lets a dispatch live to see. Slots are striped over workgroups to
//! spare contention; the stripes are as many as fit into [`Options::counter_bytes_max`].

mod build;

use std::collections::{BTreeMap, BTreeSet};

use naga::Module;
use naga::valid::ModuleInfo;

use crate::program::{Body, Node, Program, ProgramError, validate};
use crate::units::{BlockId, Issues, Lanes};

/// The most blocks whose counters are kept in registers: two private scalars each.
pub const REGISTER_BLOCKS_MAX: usize = 64;

/// The most stripes over which workgroups spread.
const STRIPES_MAX: u64 = 64;

/// 32-bit words of a counter.
const COUNTER_WORDS: u64 = 2;

/// How to instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to count, for each block, how many issues had 1, 2, … active lanes.
    pub histogram: bool,
    /// The widest subgroup that may run the module, in lanes; sizes the histogram.
    pub subgroup_width_max: u32,
    /// The most bytes that the counters' buffer may take.
    pub counter_bytes_max: u64,
}

/// An instrumented module.
#[derive(Clone, Debug)]
pub struct Instrumented {
    module: Module,
    info: ModuleInfo,
    binding: CounterBinding,
    layout: Layout,
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
    pub issues: Issues,
    /// Active lanes, summed over those.
    pub lanes: Lanes,
    /// Element k: executions with k + 1 active lanes; `None` where not asked for.
    pub histogram: Option<Vec<u64>>,
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

/// Where a block's counters are kept while the shader runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Registers,
    Memory,
}

/// How the buffer is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    blocks: u32,
    stripes: u32,
    /// Counters of a block: issues, lanes, and the histogram's.
    counters: u32,
}

impl Layout {
    fn new(program: &Program, options: &Options) -> Result<Self, InstrumentError> {
        let counters = 2 + if options.histogram { options.subgroup_width_max } else { 0 };
        let blocks = program.blocks().len();
        let bytes = (blocks as u64).max(1) * u64::from(counters) * COUNTER_WORDS * 4;
        let room = options.counter_bytes_max / bytes;
        if room == 0 {
            return Err(InstrumentError::TooLarge {
                file: program.text().file().to_owned(),
                blocks,
                bytes,
                limit: options.counter_bytes_max,
            });
        }
        let stripes = 1 << room.min(STRIPES_MAX).ilog2();
        Ok(Self { blocks: u32::try_from(blocks).unwrap_or(u32::MAX).max(1), stripes, counters })
    }

    /// Words of one stripe.
    fn stripe_words(self) -> u32 {
        self.blocks * self.counters * 2
    }

    /// The word of a block's first counter in its stripe.
    fn word(self, block: BlockId) -> u32 {
        block.0 * self.counters * 2
    }

    fn size(self) -> u64 {
        u64::from(self.stripe_words()) * u64::from(self.stripes) * 4
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
        let layout = Layout::new(program, options)?;
        let (group, binding) = free_binding(program.module());
        let binding = CounterBinding { group, binding, size: layout.size() };
        let places = places(program, options.histogram);
        let module = build::instrument(program, layout, binding, &places, options.histogram);
        let info = validate(&module, program.text())?;
        Ok(Self { module, info, binding, layout })
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

    /// Reads the counts of each block, by number, from the buffer's bytes after the dispatch.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`CounterBinding::size`].
    pub fn decode(&self, bytes: &[u8]) -> Vec<Count> {
        let words: Vec<u64> =
            bytes.as_chunks::<4>().0.iter().map(|w| u64::from(u32::from_le_bytes(*w))).collect();
        let stripe_words = self.layout.stripe_words() as usize;
        let stripes = &words[..stripe_words * self.layout.stripes as usize];
        let mut totals = vec![0_u64; stripe_words / 2];
        for stripe in stripes.chunks_exact(stripe_words) {
            for (total, pair) in totals.iter_mut().zip(stripe.chunks_exact(2)) {
                *total += pair[0] | (pair[1] << 32);
            }
        }
        let counters = self.layout.counters as usize;
        let count = |block: &[u64]| Count {
            issues: Issues(block[0]),
            lanes: Lanes(block[1]),
            histogram: (counters > 2).then(|| block[2..].to_vec()),
        };
        totals.chunks_exact(counters).map(count).collect()
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

/// Where each block's counters are kept, by block number.
fn places(program: &Program, histogram: bool) -> Vec<Place> {
    let count = program.blocks().len();
    if histogram {
        return vec![Place::Memory; count];
    }
    let mut depths = BTreeMap::new();
    let structure = program.structure();
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        loop_depths(body, 0, &mut depths);
    }
    let mut order: Vec<(u32, BlockId)> = depths.into_iter().map(|(id, d)| (d, id)).collect();
    order.sort_by_key(|(depth, id)| (std::cmp::Reverse(*depth), *id));
    let mut places = vec![Place::Memory; count];
    for (_, id) in order.into_iter().take(REGISTER_BLOCKS_MAX) {
        places[id.index()] = Place::Registers;
    }
    places
}

/// The number of loops around each block, within its function.
fn loop_depths(body: &Body, depth: u32, depths: &mut BTreeMap<BlockId, u32>) {
    for node in &body.nodes {
        match node {
            Node::Straight(straight) => {
                depths.insert(straight.block, depth);
            }
            Node::If { accept, reject, .. } => {
                loop_depths(accept, depth, depths);
                loop_depths(reject, depth, depths);
            }
            Node::Switch { cases, .. } => {
                for case in cases {
                    loop_depths(&case.body, depth, depths);
                }
            }
            Node::Loop { body, continuing, .. } => {
                loop_depths(body, depth + 1, depths);
                loop_depths(continuing, depth + 1, depths);
            }
        }
    }
}

#[cfg(test)]
mod tests;
