//! What a simulator saw of a launch's memory: costs in a model, and data races.
//!
//! Input: sums by source line. Output: plain data. The model's words are those of
//! the simulator's `Traffic`: it is a model of no particular machine.

use serde::{Deserialize, Serialize};

/// What was seen of each dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The dispatches, in the order of execution.
    pub dispatches: Vec<DispatchMemory>,
}

/// What was seen of one dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchMemory {
    /// Its workgroups.
    pub workgroups: u64,
    /// How many of them, from the first on, were watched.
    pub workgroups_watched: u64,
    /// Lanes of its subgroups, all workgroups together, that no invocation fills, since a workgroup's size is no multiple
    /// of the width; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes_never_launched: Option<u64>,
    /// The line on which the workgroups' size stands, from 1; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_line: Option<u32>,
    /// What the watched workgroups' accesses cost, by line, memory and kind.
    pub accesses: Vec<AccessCost>,
    /// What their subgroups waited for one another, by the barrier's line.
    pub waits: Vec<BarrierWait>,
    /// The data races among them; of many a few hundred, and such as name a line that none before names.
    pub races: Vec<DataRace>,
    /// Pairs of lines that race besides and are not listed; absent where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub races_unlisted: Option<u64>,
}

/// What the accesses of one line to one memory cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessCost {
    /// The line, from 1.
    pub line: u32,
    /// The buffer; `null` for the workgroup's memory.
    pub buffer: Option<String>,
    /// What the accesses do.
    pub does: Touching,
    /// Access instructions of subgroups.
    pub executions: u64,
    /// Lanes, summed over those.
    pub lanes: u64,
    /// Sectors of 32 bytes that they touched, and the fewest that hold the distinct bytes that their
    /// lanes wanted, with what idle lanes between them would have wanted; absent for the workgroup's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sectors: Option<Cost>,
    /// The same of cache lines of 128 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_lines: Option<Cost>,
    /// Passes over 32 banks of 4 bytes, and the fewest; absent for buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Cost>,
    /// Turns of atomic operations that may change a word (the most lanes on one word, summed), and the fewest: one for
    /// each execution. Absent where there is none: an atomic load takes no turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Cost>,
    /// How the places that neighbouring lanes access lie to one another; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
}

/// How the places that neighbouring lanes access lie to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Three quarters of them so many bytes apart, with gaps between.
    Stride(u32),
    /// The same, where they are members of structures.
    Members(u32),
    /// At several distances, and the index comes from what a buffer or a texture holds.
    Data,
    /// At several distances, or side by side, and the index does not come from data: rows, blocks, trees.
    Several,
}

/// A cost, and the least that it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// What it was.
    pub taken: u64,
    /// The least.
    pub min: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touching {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes atomically.
    Atomic,
}

impl Touching {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

/// What the subgroups of workgroups wait for one another at the barriers of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierWait {
    /// The barrier's line, from 1.
    pub line: u32,
    /// Barriers passed, workgroup by workgroup.
    pub barriers: u64,
    /// Operations that subgroups had less to do since the barrier before than the one of their
    /// workgroup with most.
    pub waited_operations: u64,
    /// The same with what they did: subgroups times the operations of the one with most.
    pub operations: u64,
}

/// Two lines that touch one scalar in memory with nothing between them, one of them writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRace {
    /// The buffer; `null` for the workgroup's memory.
    pub buffer: Option<String>,
    /// The first byte of the scalar in the example.
    pub offset_bytes: u32,
    /// The two sides of the example.
    pub sides: [RaceSide; 2],
    /// Whether both sides wrote, and the same value each time.
    pub equal_values: bool,
    /// How often it was seen, scalar by scalar.
    pub count: u64,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceSide {
    /// The line, from 1.
    pub line: u32,
    /// Whether it writes.
    pub writes: bool,
    /// The workgroup's number in dispatch order.
    pub workgroup: u64,
    /// The invocation's local index.
    pub invocation: u32,
}
