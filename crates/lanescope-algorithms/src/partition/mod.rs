//! How a stable partition by class is done: its dispatches, the buffers they share, and their sizes.
//!
//! Input: a device's limits, a number of elements and of classes, and what is to be written. Output: a
//! [`Plan`] of the kernels in `shaders/sort/split*.part.wgsl`: values of their overrides, the words of
//! their uniform buffer, the length of every buffer, and the dispatches in order. Arithmetic alone: it
//! makes nothing, knows no device and reads no shader; tests hold it against the shader's text.
//!
//! [`algorithms::multisplit`](crate::multisplit) makes its pipelines and buffers from a
//! plan, and the catalogue the launches of every kernel that says `[multisplit]`, so that what lanescope
//! counts and times is what the library runs on a GPU; on drivers that run on a processor the library takes
//! [`Tuning::for_processor`]. Two things the catalogue, which is made without a device,
//! cannot know. Its limits are [`Limits::WEBGPU`]; with more, [`Tuning::choose`] comes to the same, and
//! `SCAN_THREADS` alone becomes 512 where workgroups may be that large. And it leaves `NARROW` and `WIDE`
//! as they are in the shader, which is right at every width, where the library says which code cannot
//! be needed at the widths that a driver reports.

mod limits;
pub mod radix;
mod tuning;

use std::collections::BTreeMap;

use limits::WORKGROUPS_MAX;
pub use limits::{CLASSES_MAX, Limits};
pub use tuning::{Path, Tuning, TuningError};

/// Words of the shader's struct `Split`.
pub const SPLIT_WORDS: usize = 5;

/// What a partition writes, beside where classes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Whether it writes the order as a permutation.
    pub order: Option<Order>,
    /// Whether it writes pairs of class and payload in order.
    pub pairs: bool,
}

/// The order as a permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The index of the element that goes to each place.
    Permutation,
    /// That, and the place that each element goes to.
    WithInverse,
}

/// A buffer of the shader, of 32-bit words; its place in this list is its binding in group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// The uniform buffer: [`Plan::split`].
    Split,
    /// Class ids.
    Keys,
    /// 0, or what tells of the first id that is out of range.
    Status,
    /// Class ids packed, several to a word, for the last dispatches.
    Packed,
    /// Counts of classes in chunks, then where they go.
    Counts,
    /// Elements of each class.
    Totals,
    /// Where each class begins, then n.
    Offsets,
    /// The index of the element that goes to each place.
    Permutation,
    /// The place that each element goes to.
    Inverse,
    /// A payload for each element.
    Payload,
    /// The payloads in order.
    PayloadSorted,
    /// The class ids in order.
    KeysSorted,
    /// For [`Path::Many`]: what the tiles of a chunk have before them.
    ManyBefore,
}

impl Memory {
    /// Its binding in group 0.
    pub fn binding(self) -> u32 {
        self as u32
    }

    /// The shader's variable on a path.
    pub fn variable(self, path: Path) -> &'static str {
        match (self, path) {
            (Self::Split, _) => "split",
            (Self::Keys, _) => "keys",
            (Self::Status, _) => "status",
            (Self::Packed, _) => "packed",
            (Self::Counts, _) => "counts",
            (Self::Totals, _) => "totals",
            (Self::Offsets, _) => "offsets",
            (Self::Permutation, _) => "permutation",
            (Self::Inverse, _) => "inverse",
            (Self::Payload, _) => "payload",
            (Self::PayloadSorted, _) => "payload_sorted",
            (Self::KeysSorted, Path::Few | Path::Runs) => "keys_sorted",
            // The same binding, by fours.
            (Self::KeysSorted, Path::Many) => "keys_filled",
            (Self::ManyBefore, _) => "many_before",
        }
    }
}

/// A dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The shader's entry point.
    pub entry_point: &'static str,
    /// Workgroups along x, y and z; none where there is no element.
    pub workgroups: [u32; 3],
    /// What it binds, all of it.
    pub binds: Vec<Memory>,
}

/// A partition, worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How the work is cut.
    pub tuning: Tuning,
    /// Values of overrides by name, of those that its path reads.
    pub overrides: BTreeMap<&'static str, u32>,
    /// The words of the shader's struct `Split`.
    pub split: [u32; SPLIT_WORDS],
    /// Every buffer that a stage binds, with the least length that will do, in words.
    pub lengths: BTreeMap<Memory, u64>,
    /// The dispatches in order.
    pub stages: Vec<Stage>,
}

impl Plan {
    /// Works out a partition of n elements into `classes` classes, cut as `tuning` says, which
    /// [`Tuning::check`] must allow.
    ///
    /// # Panics
    ///
    /// Where `tuning` has no threads, rows or tiles, which [`Tuning::check`] does not allow.
    pub fn new(limits: &Limits, n: u32, classes: u32, writes: Writes, tuning: Tuning) -> Self {
        let inverse = writes.order == Some(Order::WithInverse);
        let chunks = tuning.chunks(n).max(1);
        let split = [n, classes, chunks, tuning.tiles_per_chunk, u32::from(inverse)];
        let stages = stages(n, classes, writes, tuning);
        let bound = stages.iter().flat_map(|stage| &stage.binds);
        let lengths = bound.map(|memory| (*memory, length(*memory, n, &split, tuning))).collect();
        Self { tuning, overrides: overrides(limits, classes, tuning), split, lengths, stages }
    }
}

/// The shader's function `meet`, in which lanes of a subgroup meet, so that each sees what the others have put in
/// workgroup memory: with a barrier, or with nothing where none puts anything there. What calls it has no such function.
pub(crate) fn meeting(barrier: &str) -> String {
    format!("\nfn meet() {{\n    {barrier}\n}}\n")
}

/// The length in elements of a buffer for n of them: n rounded up to a multiple of 4, and at
/// least 4. Saturates at the largest multiple of 4 for n near 2^32, which no device binds.
pub fn words_of(n: u32) -> u32 {
    n.max(1).checked_next_multiple_of(4).unwrap_or(u32::MAX - 3)
}

fn overrides(limits: &Limits, classes: u32, tuning: Tuning) -> BTreeMap<&'static str, u32> {
    let mut values = BTreeMap::from([
        ("THREADS", tuning.threads),
        ("SCAN_THREADS", Tuning::scan_threads(limits)),
    ]);
    match tuning.path {
        Path::Few => {
            values.extend([("ROOM", Tuning::room(classes)), ("FOLD", u32::from(tuning.fold))]);
        }
        Path::Many => {
            values.extend([("MANY_ROWS", tuning.rows), ("BITS", Tuning::bits(classes))]);
        }
        Path::Runs => values.extend([("BITS", Tuning::bits(classes))]),
    }
    values
}

fn stages(n: u32, classes: u32, writes: Writes, tuning: Tuning) -> Vec<Stage> {
    use Memory::*;
    let (count, permutation, pairs) = match tuning.path {
        Path::Few => ("few_count", "few_permutation", "few_pairs"),
        Path::Many => ("many_count", "many_permutation", "many_pairs"),
        Path::Runs => return stages_of_runs(n, classes, writes, tuning),
    };
    let mut counted = vec![Packed, Counts];
    let chunks = tuning.chunks(n);
    // What a workgroup of the last dispatches takes: a chunk for few classes, a tile for many.
    let mut parts = chunks;
    if tuning.path == Path::Many {
        counted.push(ManyBefore);
        parts = tuning.tiles(n);
    }
    let stage = |entry_point, workgroups, binds: &[&[Memory]]| Stage {
        entry_point,
        workgroups: grid(workgroups),
        binds: [&[Split], binds.concat().as_slice()].concat(),
    };
    let mut stages = vec![stage(count, chunks, &[&[Keys, Status], &counted])];
    if !tuning.fold {
        let classes = if n == 0 { 0 } else { classes };
        stages.push(stage("scan", classes, &[&[Counts, Totals]]));
    }
    let placed = [&counted[..], &[Totals, Offsets]].concat();
    if writes.order.is_some() {
        stages.push(stage(permutation, parts, &[&placed, &[Permutation, Inverse]]));
    }
    if writes.pairs {
        stages.push(stage(pairs, parts, &[&placed, &[Payload, PayloadSorted, KeysSorted]]));
    }
    stages
}

/// The stages of [`Path::Runs`]. What writes uses counts up, so that they are made anew where both order
/// and pairs are written.
fn stages_of_runs(n: u32, classes: u32, writes: Writes, tuning: Tuning) -> Vec<Stage> {
    use Memory::*;
    let runs = tuning.chunks(n).div_ceil(tuning.threads);
    let stage = |entry_point, workgroups, binds: &[Memory]| Stage {
        entry_point,
        workgroups: grid(if n == 0 { 0 } else { workgroups }),
        binds: binds.to_vec(),
    };
    let order = ("runs_permutation", [Permutation, Inverse].as_slice());
    let pairs = ("runs_pairs", [Payload, PayloadSorted, KeysSorted].as_slice());
    let mut stages = Vec::new();
    for (entry_point, written) in
        [writes.order.is_some().then_some(order), writes.pairs.then_some(pairs)]
            .into_iter()
            .flatten()
    {
        stages.push(stage("runs_count", runs, &[Split, Keys, Status, Counts]));
        let scanned = classes.div_ceil(tuning.threads);
        stages.push(stage("run_scan", scanned, &[Split, Counts, Totals]));
        let binds = [&[Split, Keys, Counts, Totals, Offsets], written].concat();
        stages.push(stage(entry_point, runs, &binds));
    }
    stages
}

/// A count of workgroups in two dimensions: what goes by tiles may have more of them than a line holds.
fn grid(count: u32) -> [u32; 3] {
    let lines = count.div_ceil(WORKGROUPS_MAX).max(1);
    [count.div_ceil(lines), lines, 1]
}

/// The length of a buffer, in words.
fn length(memory: Memory, n: u32, split: &[u32; SPLIT_WORDS], tuning: Tuning) -> u64 {
    let [_, classes, _, _, inverse] = *split;
    let [packed, counts, before] = tuning.scratch_words(n, classes);
    match memory {
        Memory::Split => SPLIT_WORDS as u64,
        Memory::Status => 1,
        Memory::Packed => packed,
        Memory::Counts => counts,
        Memory::ManyBefore => before,
        Memory::Totals => u64::from(classes),
        Memory::Offsets => u64::from(classes) + 1,
        // Bound, and not written: one vector will do.
        Memory::Inverse if inverse == 0 => 4,
        Memory::Keys
        | Memory::Permutation
        | Memory::Inverse
        | Memory::Payload
        | Memory::PayloadSorted
        | Memory::KeysSorted => u64::from(words_of(n)),
    }
}
