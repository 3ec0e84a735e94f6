//! How a partition's work is cut: workgroups, tiles, chunks.
//!
//! Input: a device's limits, the number of elements and of classes. Output: a [`Tuning`] that fits
//! them.

use super::limits::{CLASSES_MAX, Limits, WORKGROUPS_MAX};

/// The most packed words of a lane in a chunk: its counts stay inside fields of 16 bits.
const WORDS_PER_LANE_MAX: u32 = 32;

/// The most tiles of a chunk for `Many`, whose counts lie side by side in workgroup memory.
const TILES_COUNTED_MAX: u32 = 16;

/// Chunks of a large partition for `Many`: its first dispatch alone goes by chunks.
const CHUNKS_COUNTED: u32 = 4096;

/// Chunks of a large partition for `Few`: enough to fill the largest GPU several times over, and few enough
/// for their counts to be small beside the elements.
const CHUNKS_WANTED: u32 = 8192;

/// The most chunks whose counts each workgroup of the last dispatch had better add up itself.
const CHUNKS_FOLDED_MAX: u32 = 256;

/// The most keys of a run, and the most runs: lavapipe leaves every loop after 65,535 iterations.
pub(super) const RUN_MAX: u32 = 65_534;

/// Runs of a large partition on a processor, and the least keys of one: counts are few beside keys then.
const RUNS_WANTED: u32 = 2048;
const RUN_MIN: u32 = 512;

/// Which of the ways ranks are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Counters packed into words: up to 16 classes.
    Few,
    /// Ballots of the bits of class ids: up to 256 classes.
    Many,
    /// An invocation takes a run of keys, one after the other: up to 256 classes, for drivers that run on
    /// a processor.
    Runs,
}

/// How the work is cut. Any that [`Tuning::check`] allows gives the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How ranks are found.
    pub path: Path,
    /// Invocations a workgroup: 128, 256, 512 or 1024 for `Few` and `Runs`; 128 or 256 for `Many`.
    pub threads: u32,
    /// Packed words a lane and tile: 1 of 8 keys for `Few`; 1, 2 or 3 of 4 keys for `Many`; 1 for `Runs`,
    /// which packs none.
    pub rows: u32,
    /// Tiles that a workgroup counts one after the other, and for `Few` writes too; at most 16 for
    /// `Many`. For `Runs` the keys of a run, 65,534 at most.
    pub tiles_per_chunk: u32,
    /// Whether the last dispatch adds up the counts of chunks itself, in place of a dispatch of its
    /// own: sooner done where there are few chunks. For `Few` alone.
    pub fold: bool,
}

/// Why a tuning does not fit a device, a number of elements or of classes: the rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TuningError(pub String);

impl Tuning {
    /// The tuning for a device and a size; `pairs` says whether pairs are written.
    pub fn choose(limits: impl Into<Limits>, n: u32, classes: u32, pairs: bool) -> Self {
        let limits = limits.into();
        let path = if classes <= 16 { Path::Few } else { Path::Many };
        // The first of each is what an H200 liked best.
        let candidates: [(u32, u32); 3] = match (path, pairs) {
            (Path::Few, false) => [(128, 1), (128, 1), (128, 1)],
            (Path::Few, true) => [(256, 1), (128, 1), (128, 1)],
            (Path::Many | Path::Runs, _) => [(256, 3), (256, 1), (128, 3)],
        };
        let tuning =
            |(threads, rows)| Self { path, threads, rows, tiles_per_chunk: 1, fold: false };
        let fits = candidates
            .into_iter()
            .map(tuning)
            .find(|candidate| candidate.check(limits, 0, classes).is_ok());
        let mut chosen = fits.unwrap_or_else(|| tuning(candidates[2]));
        let tiles = chosen.tiles(n);
        let wanted = match path {
            Path::Few => tiles / CHUNKS_WANTED,
            Path::Many | Path::Runs => tiles.div_ceil(CHUNKS_COUNTED),
        };
        chosen.tiles_per_chunk = wanted.next_power_of_two().min(chosen.tiles_per_chunk_max());
        chosen.fold = path == Path::Few && chosen.chunks(n) <= CHUNKS_FOLDED_MAX;
        chosen
    }

    /// The tuning for a driver that runs on a processor.
    pub fn for_processor(n: u32) -> Self {
        let tiles_per_chunk = Self::run_length(n);
        Self { path: Path::Runs, threads: 128, rows: 1, tiles_per_chunk, fold: false }
    }

    /// Keys of a run on a processor.
    pub(super) fn run_length(n: u32) -> u32 {
        (n / RUNS_WANTED).clamp(RUN_MIN, RUN_MAX)
    }

    /// Elements of a tile; 1 for `Runs`.
    pub fn tile(&self) -> u32 {
        match self.path {
            Path::Runs => 1,
            Path::Few | Path::Many => self.threads * self.rows * self.keys_per_word(),
        }
    }

    /// The most tiles of a chunk.
    fn tiles_per_chunk_max(&self) -> u32 {
        match self.path {
            Path::Few => WORDS_PER_LANE_MAX / self.rows,
            Path::Many => TILES_COUNTED_MAX,
            Path::Runs => RUN_MAX,
        }
    }

    /// The number of tiles for n elements.
    pub fn tiles(&self, n: u32) -> u32 {
        n.div_ceil(self.tile())
    }

    /// Keys in a packed word.
    fn keys_per_word(&self) -> u32 {
        match self.path {
            Path::Few => 8,
            Path::Many => 4,
            Path::Runs => 1,
        }
    }

    /// The number of chunks for n elements.
    pub fn chunks(&self, n: u32) -> u32 {
        self.tiles(n).div_ceil(self.tiles_per_chunk)
    }

    /// Invocations of the workgroups that go through the chunks of a class.
    pub(super) fn scan_threads(limits: &Limits) -> u32 {
        [512, 256].into_iter().find(|size| *size <= limits.invocations_max).unwrap_or(128)
    }

    /// The bits of a class id for `Many`.
    pub(super) fn bits(classes: u32) -> u32 {
        classes.max(2).next_power_of_two().ilog2()
    }

    /// The classes that `Few` must have room for.
    pub(super) fn room(classes: u32) -> u32 {
        if classes > 8 { 16 } else { 8 }
    }

    /// Bytes of workgroup memory of the largest entry point.
    pub fn workgroup_bytes(&self, classes: u32) -> u32 {
        let threads = self.threads;
        match self.path {
            Path::Few => {
                let slots = threads / 32;
                let room = Self::room(classes);
                let stage = self.tile() * 4;
                // 128 for counts, and the sums of subgroups as narrow as four lanes.
                let sums = 4 * (threads + 512) + (threads + 512);
                64 + stage + slots * (16 + 8) + (slots + 1) * 4 * room + 2 * 128 + sums
            }
            Path::Many => {
                let bins = 1 << Self::bits(classes);
                // Sums, ballots and what leaders were told, of subgroups as narrow as four lanes.
                let narrow = (8 + threads / 4) * 4 + (1 + threads / 4) * 4 + (1 + threads) * 4;
                let write = 64 + threads * (self.rows * 4).max(8) * 4 + bins * 4 + narrow;
                write.max(64 + 8 * bins * 4)
            }
            Path::Runs => 64 + 4 * (1 << Self::bits(classes)),
        }
    }

    /// The lengths of what grows with n in the scratch memory, in words: packed keys, counts of
    /// chunks, and what tiles have before them.
    pub(super) fn scratch_words(&self, n: u32, classes: u32) -> [u64; 3] {
        let chunks = u64::from(self.chunks(n).max(1));
        let tiles = chunks * u64::from(self.tiles_per_chunk);
        let packed = tiles * u64::from(self.threads * self.rows);
        let (packed, before) = match self.path {
            Path::Few => (packed, 1),
            Path::Many => (packed, tiles << (Self::bits(classes) - 1)),
            Path::Runs => (1, 1),
        };
        [packed, chunks * u64::from(classes), before]
    }

    /// Whether it fits a device, a number of elements and of classes.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks.
    pub fn check(
        &self,
        limits: impl Into<Limits>,
        n: u32,
        classes: u32,
    ) -> Result<(), TuningError> {
        let limits = limits.into();
        let wrong = |message: String| Err(TuningError(message));
        let Self { path, threads, rows, tiles_per_chunk, fold } = *self;
        if ![128, 256, 512, 1024].contains(&threads) {
            return wrong(format!("threads is {threads}, not 128, 256, 512 or 1024"));
        }
        if threads > limits.invocations_max {
            return wrong(format!("the device has no workgroups of {threads} invocations"));
        }
        let (classes_max, rows_max) = match path {
            Path::Few => (16, 1),
            Path::Many => (CLASSES_MAX.min(threads), 3),
            Path::Runs => (CLASSES_MAX, 1),
        };
        if path == Path::Many && threads > 256 {
            return wrong(format!("`Many` takes 128 or 256 threads, not {threads}"));
        }
        if classes > classes_max {
            return wrong(format!(
                "{path:?} with {threads} threads takes {classes_max} classes, not {classes}"
            ));
        }
        if !(1..=rows_max).contains(&rows) {
            return wrong(format!(
                "{path:?} takes 1 to {rows_max} rows for {classes} classes, not {rows}"
            ));
        }
        if fold && path != Path::Few {
            return wrong("fold is for the path `Few` alone".to_owned());
        }
        if self.tile() > 1 << 16 {
            return wrong(format!("a tile of {} elements; 65536 at most", self.tile()));
        }
        let most = self.tiles_per_chunk_max();
        if !(1..=most).contains(&tiles_per_chunk) {
            return wrong(format!("tiles_per_chunk is {tiles_per_chunk}, not 1 to {most}"));
        }
        let (bytes, limit) = (self.workgroup_bytes(classes), limits.workgroup_bytes_max);
        if bytes > limit {
            return wrong(format!("{bytes} bytes of workgroup memory; the device has {limit}"));
        }
        let (chunks, most) = (self.chunks(n), limits.workgroups_max.min(WORKGROUPS_MAX));
        if chunks > most {
            return wrong(format!("{chunks} chunks; {most} at most"));
        }
        let needed = self.scratch_words(n, classes).into_iter().max().unwrap_or(0) * 4;
        let limit = limits.storage_bytes_max;
        if needed > limit {
            return wrong(format!("{needed} bytes of scratch memory; the device binds {limit}"));
        }
        Ok(())
    }
}
