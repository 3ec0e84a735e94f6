//! How a radix sort is done: digits, passes, their dispatches, and the buffers that they share.
//!
//! Input: a device's limits, a number of keys, their type and the bits that count. Output: a [`RadixPlan`] of
//! the entry points of `shaders/sort/radix.part.wgsl`, which says how each pass works. Arithmetic alone:
//! it makes nothing and knows no device.
//!
//! A pass orders by a digit of up to 8 bits, the lowest first, and keeps the order of equal ones (Knuth,
//! "The Art of Computer Programming", vol. 3, 5.2.5, Algorithm R). Passes go from the caller's keys to a
//! spare buffer and to the caller's output in turn, so that the last one writes the output and nothing
//! writes the input.

use std::collections::BTreeMap;
use std::ops::Range;

use super::limits::Limits;
use super::tuning::{RUN_MAX, Tuning, TuningError};
use super::{grid, meeting, words_of};

/// Words of the shader's struct `Digit`, filled up to whole vectors.
pub const DIGIT_WORDS: usize = 8;

/// The most bits of a digit.
const DIGIT_BITS_MAX: u32 = 8;

/// The most keys of a lane in a tile.
const ITEMS_MAX: u32 = 32;

/// Workgroups that count the digits of all passes: enough to fill the largest GPU.
const HISTOGRAMS_MAX: u32 = 1056;

/// Counts that look-back publishes have so many bits.
const COUNT_BITS: u32 = 30;

/// How often a workgroup looks at a tile in vain before it counts that tile itself.
const SPINS: u32 = 1024;

/// How many tiles a workgroup looks back at at a time: the fastest of those that were timed on an H100 and an H200.
const AT_ONCE: u32 = 8;

/// More would only be loaded in vain.
const AT_ONCE_MAX: u32 = 32;

/// So many keys at most are few, or some: sizes between those that were timed.
const FEW_KEYS: u32 = 1 << 18;
const SOME_KEYS: u32 = 1 << 21;

/// The line of the shader that says how many keys a lane has.
const ITEMS_LINE: &str = "const ITEMS = 12u;";

/// The line that says how many of them are staged at a time.
const STAGED_LINE: &str = "const STAGED = 12u;";

/// The line that says how many tiles are looked back at at a time.
const LOOKS_LINE: &str = "const LOOKS = 8u;";

/// The line that says whether lanes with the same digit find each other by masks.
const MASKS_LINE: &str = "const MASKS = false;";

/// The line that says whether two groups' counts share a word.
const SHARED_LINE: &str = "const SHARED = 0u;";

/// What begins and ends the line of a loop of as many iterations as a constant says, in the shader.
const LOOP: [&str; 2] = ["for (var r = 0u; r < ", "; r++) {"];

/// What keys are, each of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Unsigned whole numbers.
    U32,
    /// Signed whole numbers.
    I32,
    /// Floats in IEEE 754's total order (IEEE 754-2019, 5.10), as Rust's `f32::total_cmp` has it: −NaN,
    /// −∞, negative numbers, −0, +0, positive numbers, +∞, +NaN; NaNs by their bits.
    F32,
}

impl Key {
    /// The bits that are inverted of every key, and of negative ones besides, so that keys are ordered as
    /// unsigned numbers.
    fn inverted_bits(self) -> [u32; 2] {
        match self {
            Self::U32 => [0, 0],
            Self::I32 => [1 << 31, 0],
            Self::F32 => [1 << 31, u32::MAX >> 1],
        }
    }

    /// A key's bits as a number whose order is that of the keys.
    pub fn ordered_bits(self, key: u32) -> u32 {
        let [all, negative] = self.inverted_bits();
        key ^ all ^ if key >> 31 == 1 { negative } else { 0 }
    }
}

/// How the work is cut. Any that [`RadixTuning::check`] allows gives the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixTuning {
    /// Invocations a workgroup: 128, 256, 512 or 1024.
    pub threads: u32,
    /// Keys of a lane in a tile: a multiple of 2 from 4 to 32. A tile has threads · items keys.
    pub items: u32,
    /// How many of them lie in workgroup memory at a time: a multiple of 2 that divides `items`. Where it is
    /// less than that, more workgroups have room on a core, and each has more barriers.
    pub staged: u32,
    /// How lanes with the same digit find each other.
    pub matching: Matching,
    /// How wide the counts of a tile's digits are.
    pub tallies: Tallies,
    /// How a tile finds out what the tiles before it have.
    pub before: Before,
}

/// How lanes of a subgroup find those whose keys have the same digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By a ballot for each bit of the digit.
    Ballots,
    /// By a word of workgroup memory for each digit, in which each lane sets its bit: fewer instructions, more conflicts
    /// where many keys are alike, and 16 staged keys at least for a digit of 8 bits, or 12 ([`Tallies::Halves`]). It takes
    /// [`Limits::subgroup_barrier`]; subgroups of fewer than 32 lanes have ballots all the same.
    Masks,
}

/// How wide the numbers are in which each group of 32 lanes counts a digit's keys of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tallies {
    /// A word each.
    Words,
    /// Half a word each, two groups to a word: masks then do with 12 staged keys for a digit of 8 bits, so that workgroups may have
    /// less workgroup memory, and each key takes more instructions. It was not timed.
    Halves,
}

/// How a tile finds out how many keys of each digit the tiles before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// By looking back at what tiles before it have published, in the dispatch that writes.
    LookBack {
        /// How often a workgroup looks at a tile in vain before it counts that tile itself, at least 1.
        spins: u32,
        /// How many tiles it looks back at at a time, so that their loads overlap: 1 to 32.
        at_once: u32,
    },
    /// By dispatches that count, in which an invocation takes a run of keys, one after the other, without a
    /// barrier: for drivers that run on a processor. Tiles are none of its matter, nor is `items`.
    Runs {
        /// Keys of a run: 1 to 65,534, as lavapipe leaves every loop after 65,535 iterations.
        length: u32,
    },
}

impl RadixTuning {
    /// The tuning for a device and n keys, with a payload or without; `processor` says whether it is a driver that
    /// runs on a processor.
    ///
    /// For GPUs it is the fastest of those that were timed on an H200, and that fit the device: where there are few
    /// keys, tiles are small, so that each core has some; where there are many they are large, so that a digit's
    /// keys of a tile fill more of a cache's line, and fewer tiles wait for each other.
    pub fn choose(limits: impl Into<Limits>, n: u32, payload: bool, processor: bool) -> Self {
        let limits = limits.into();
        // Counts that are published have flags beside them: for more keys than that, runs.
        if processor || n >> COUNT_BITS > 0 {
            let before = Before::Runs { length: Tuning::run_length(n) };
            let (matching, tallies) = (Matching::Ballots, Tallies::Words);
            return Self { threads: 128, items: 4, staged: 4, matching, tallies, before };
        }
        let before = Before::LookBack { spins: SPINS, at_once: AT_ONCE };
        let tuning = |(threads, items, staged)| {
            let (matching, tallies) = (Matching::Ballots, Tallies::Words);
            let ballots = Self { threads, items, staged, matching, tallies, before };
            let masks = Self { matching: Matching::Masks, ..ballots };
            if masks.check(limits, n).is_ok() { masks } else { ballots }
        };
        // What an H200 liked best.
        let best: &[_] = match (n, payload) {
            (..=FEW_KEYS, _) => &[(256, 6, 6)],
            (..=SOME_KEYS, _) => &[(512, 16, 16), (256, 16, 8)],
            (_, true) => &[(256, 22, 22), (256, 16, 16), (256, 16, 8)],
            (_, false) => &[(256, 32, 16), (256, 24, 12), (256, 16, 8)],
        };
        let least = [(256, 4, 4), (128, 8, 8), (128, 4, 4)];
        let mut candidates = best.iter().chain(&least).map(|shape| tuning(*shape));
        let fits = candidates.find(|candidate| candidate.check(limits, n).is_ok());
        fits.unwrap_or(tuning(least[2]))
    }

    /// Keys of a tile.
    pub fn tile(&self) -> u32 {
        self.threads * self.items
    }

    /// The number of tiles for n keys.
    pub fn tiles(&self, n: u32) -> u32 {
        n.div_ceil(self.tile())
    }

    /// The most bits of a digit: an invocation has one of its values.
    fn digit_bits_max(&self) -> u32 {
        match self.before {
            Before::Runs { .. } => DIGIT_BITS_MAX,
            _ => self.threads.ilog2().min(DIGIT_BITS_MAX),
        }
    }

    /// Runs of n keys; 1 where nothing goes by runs.
    fn runs(&self, n: u32) -> u32 {
        match self.before {
            Before::Runs { length } => n.div_ceil(length).max(1),
            Before::LookBack { .. } => 1,
        }
    }

    /// Keys of a run; 1 where nothing goes by runs.
    fn run_length(&self) -> u32 {
        match self.before {
            Before::Runs { length } => length,
            Before::LookBack { .. } => 1,
        }
    }

    /// Words in which keys are staged, or counted.
    fn room(&self) -> u32 {
        let counted = match self.tallies {
            Tallies::Words => 8,
            Tallies::Halves => 4,
        };
        self.threads * self.staged.max(counted)
    }

    /// Words of the groups' counts, and of their masks where there are any.
    fn tally_words(&self) -> u32 {
        let each = (self.threads / 32) << self.digit_bits_max();
        let counts = match self.tallies {
            Tallies::Words => each,
            Tallies::Halves => each / 2,
        };
        match self.matching {
            Matching::Ballots => counts,
            Matching::Masks => counts + each,
        }
    }

    /// Bytes of workgroup memory of the largest entry point.
    pub fn workgroup_bytes(&self) -> u32 {
        let (threads, bins) = (self.threads, 1 << self.digit_bits_max());
        // Sums, ballots and what leaders were told, of subgroups as narrow as four lanes.
        let narrow = ((threads / 32).max(8) + threads / 4) + (1 + threads / 4) + (1 + threads);
        // What is staged or counted, and where digits go or what a tile that is helped has.
        let written = self.room() + bins;
        let histogram = bins * 32_u32.div_ceil(self.digit_bits_max());
        match self.before {
            Before::LookBack { .. } => 64 + 4 * (written + narrow).max(histogram),
            Before::Runs { .. } => 64 + 4 * bins,
        }
    }

    /// Whether it fits a device and n keys.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks.
    pub fn check(&self, limits: impl Into<Limits>, n: u32) -> Result<(), TuningError> {
        let limits = limits.into();
        let wrong = |message: String| Err(TuningError(message));
        let Self { threads, items, staged, matching, tallies: _, before } = *self;
        if ![128, 256, 512, 1024].contains(&threads) {
            return wrong(format!("threads is {threads}, not 128, 256, 512 or 1024"));
        }
        if threads > limits.invocations_max {
            return wrong(format!("the device has no workgroups of {threads} invocations"));
        }
        if !items.is_multiple_of(2) || !(4..=ITEMS_MAX).contains(&items) {
            return wrong(format!("items is {items}, not a multiple of 2 from 4 to {ITEMS_MAX}"));
        }
        if !staged.is_multiple_of(2) || staged == 0 || !items.is_multiple_of(staged) {
            return wrong(format!("staged is {staged}, no multiple of 2 that divides {items}"));
        }
        if matching == Matching::Masks {
            if !limits.subgroup_barrier {
                return wrong(
                    "masks take a barrier for subgroups, which the device lacks".to_owned(),
                );
            }
            let needed = self.tally_words();
            if self.room() < needed {
                return wrong(format!("staged is {staged}; masks take {}", needed / threads));
            }
        }
        match before {
            Before::LookBack { spins: 0, .. } => {
                return wrong("spins is 0, not at least 1".to_owned());
            }
            Before::LookBack { at_once, .. } if !(1..=AT_ONCE_MAX).contains(&at_once) => {
                return wrong(format!("at_once is {at_once}, not 1 to {AT_ONCE_MAX}"));
            }
            Before::LookBack { .. } if n >> COUNT_BITS > 0 => {
                return wrong(format!("{n} keys; look-back counts up to 2^{COUNT_BITS} - 1"));
            }
            Before::Runs { length } if !(1..=RUN_MAX).contains(&length) => {
                return wrong(format!("length is {length}, not 1 to {RUN_MAX}"));
            }
            Before::Runs { .. } if self.runs(n) > RUN_MAX => {
                return wrong(format!("{} runs; {RUN_MAX} at most", self.runs(n)));
            }
            Before::LookBack { .. } | Before::Runs { .. } => {}
        }
        let (bytes, limit) = (self.workgroup_bytes(), limits.workgroup_bytes_max);
        if bytes > limit {
            return wrong(format!("{bytes} bytes of workgroup memory; the device has {limit}"));
        }
        let needed = 4 * self.lengths(n, self.digit_bits_max(), 4).into_values().max().unwrap_or(0);
        let limit = limits.storage_bytes_max;
        if needed > limit {
            return wrong(format!("{needed} bytes of scratch memory; the device binds {limit}"));
        }
        Ok(())
    }

    /// The lengths of the scratch buffers that count, in words.
    fn lengths(&self, n: u32, digit_bits: u32, passes: u32) -> BTreeMap<RadixMemory, u64> {
        use RadixMemory::*;
        let bins = 1_u64 << digit_bits;
        let lengths = match self.before {
            Before::Runs { .. } => vec![(Counts, bins * u64::from(self.runs(n))), (Totals, bins)],
            Before::LookBack { .. } => {
                let tiles = u64::from(self.tiles(n).max(1));
                vec![(Histogram, bins * u64::from(passes)), (Published, 2 * tiles * bins)]
            }
        };
        lengths.into_iter().collect()
    }
}

/// A buffer that dispatches bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RadixMemory {
    /// The uniform buffer of a partition: [`RadixPlan::split`].
    Split,
    /// The uniform buffer of a pass, by its number: [`RadixPlan::digits`].
    Digit(usize),
    /// The caller's keys.
    Keys,
    /// The caller's payload.
    Payload,
    /// The caller's buffer for keys in order.
    KeysSorted,
    /// The caller's buffer for the payload in order.
    PayloadSorted,
    /// Keys between two passes.
    KeysSpare,
    /// The payload between two passes.
    PayloadSpare,
    /// Counts of digits in runs, then where they go.
    Counts,
    /// Keys of each digit.
    Totals,
    /// Keys of each digit of each pass.
    Histogram,
    /// What tiles have published.
    Published,
}

/// A dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RadixStage {
    /// The shader's entry point.
    pub entry_point: &'static str,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// What it binds, by binding in group 0.
    pub binds: Vec<(u32, RadixMemory)>,
}

/// A sort, worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RadixPlan {
    /// How the work is cut.
    pub tuning: RadixTuning,
    /// Values of overrides by name.
    pub overrides: BTreeMap<&'static str, u32>,
    /// The words of the shader's struct `Split`.
    pub split: [u32; super::SPLIT_WORDS],
    /// The words of the shader's struct `Digit`, by pass.
    pub digits: Vec<[u32; DIGIT_WORDS]>,
    /// Every buffer of the sort's own with its length in words, but for the uniform ones.
    pub lengths: BTreeMap<RadixMemory, u64>,
    /// The dispatches in order; none for no key.
    pub stages: Vec<RadixStage>,
}

impl RadixPlan {
    /// Works out a sort of n keys by the bits `bits` of [`Key::ordered_bits`], cut as `tuning` says, which
    /// [`RadixTuning::check`] must allow.
    ///
    /// # Panics
    ///
    /// Where `bits` is empty or goes beyond the 32nd.
    pub fn new(
        limits: &Limits,
        n: u32,
        key: Key,
        bits: Range<u32>,
        payload: bool,
        tuning: RadixTuning,
    ) -> Self {
        assert!(bits.start < bits.end && bits.end <= 32, "no bits of 32-bit keys: {bits:?}");
        let count = bits.end - bits.start;
        let passes = count.div_ceil(tuning.digit_bits_max());
        // Digits as even as can be: fewer bits are ranked sooner.
        let digit_bits = count.div_ceil(passes);
        let mut lengths = tuning.lengths(n, digit_bits, passes);
        if passes > 1 {
            lengths.insert(RadixMemory::KeysSpare, u64::from(words_of(n)));
            if payload {
                lengths.insert(RadixMemory::PayloadSpare, u64::from(words_of(n)));
            }
        }
        let tiles = tuning.tiles(n);
        let histograms = tiles.clamp(1, HISTOGRAMS_MAX);
        let [all, negative] = key.inverted_bits();
        let spins = match tuning.before {
            Before::Runs { .. } => SPINS,
            Before::LookBack { spins, .. } => spins,
        };
        let overrides = BTreeMap::from([
            ("THREADS", tuning.threads),
            ("SCAN_THREADS", Tuning::scan_threads(limits)),
            ("MANY_ROOM", tuning.room()),
            ("BITS", digit_bits),
            ("KEY_SIGN", all),
            ("KEY_NEGATIVE", negative),
            ("PASSES", passes),
            ("SPINS", spins),
            ("HISTOGRAMS", histograms),
        ]);
        let mask = |pass: u32| {
            let rest = count - pass * digit_bits;
            (1 << rest.min(digit_bits)) - 1
        };
        // What tiles publish of the other passes lies behind that.
        let half = tiles << digit_bits;
        let digit = |pass: u32| {
            let (from, to) = if pass.is_multiple_of(2) { (0, half) } else { (half, 0) };
            let shift = bits.start + pass * digit_bits;
            [shift, mask(pass), pass, from, to, digit_bits, mask(passes - 1), 0]
        };
        let mut plan = Self {
            tuning,
            overrides,
            split: [n, 1 << digit_bits, tuning.runs(n), tuning.run_length(), 0],
            digits: (0..passes).map(digit).collect(),
            lengths,
            stages: Vec::new(),
        };
        if n > 0 {
            plan.add_stages(payload, tiles, histograms);
        }
        plan
    }

    fn add_stages(&mut self, payload: bool, tiles: u32, histograms: u32) {
        use RadixMemory::*;
        let look_back = matches!(self.tuning.before, Before::LookBack { .. });
        let runs = self.split[2].div_ceil(self.tuning.threads);
        let digits = self.digits.len();
        let classes = self.split[1];
        let mut stage = |entry_point, workgroups, binds: &[(u32, RadixMemory)]| {
            let binds = binds.to_vec();
            self.stages.push(RadixStage { entry_point, workgroups: grid(workgroups), binds });
        };
        if look_back {
            stage("radix_reset", 1, &[(15, Histogram)]);
            let binds = [(0, Split), (14, Digit(0)), (1, Keys), (15, Histogram), (16, Published)];
            stage("radix_histogram", histograms, &binds);
        }
        for pass in 0..digits {
            // The last pass writes the output, the one before it the spare buffer, and so on.
            let to_output = (digits - pass) % 2 == 1;
            let spare = (KeysSpare, PayloadSpare);
            let output = (KeysSorted, PayloadSorted);
            let to = if to_output { output } else { spare };
            let from = match pass {
                0 => (Keys, Payload),
                _ if to_output => spare,
                _ => output,
            };
            let mut binds = vec![(0, Split), (14, Digit(pass)), (1, from.0), (11, to.0)];
            if payload {
                binds.extend([(9, from.1), (10, to.1)]);
            }
            if look_back {
                binds.extend([(15, Histogram), (16, Published)]);
                stage(if payload { "chained_pairs" } else { "chained_keys" }, tiles, &binds);
                continue;
            }
            let counts = [(0, Split), (14, Digit(pass)), (1, from.0), (4, Counts)];
            stage("lane_count", runs, &counts);
            let scans = classes.div_ceil(self.tuning.threads);
            stage("run_scan", scans, &[(0, Split), (4, Counts), (5, Totals)]);
            binds.extend([(4, Counts), (5, Totals)]);
            stage(if payload { "lane_pairs" } else { "lane_keys" }, runs, &binds);
        }
    }

    /// The text that its dispatches are entry points of, given that of `radix.part.wgsl`: what stands
    /// behind the parts of a partition. Loops of as many iterations as a constant says are written out.
    ///
    /// # Panics
    ///
    /// Where `text` has no line that says how many keys a lane has, how many are staged, how many tiles are looked
    /// back at at a time, how lanes with the same digit find each other, or how wide counts are.
    pub fn specialise(&self, text: &str) -> String {
        let RadixTuning { items, staged, matching, tallies, before, .. } = self.tuning;
        let looks = match before {
            Before::LookBack { at_once, .. } => at_once,
            Before::Runs { .. } => AT_ONCE,
        };
        let masks = matching == Matching::Masks;
        let mut text = text.to_owned();
        for (line, name, value) in [
            (ITEMS_LINE, "ITEMS", items.to_string() + "u"),
            (STAGED_LINE, "STAGED", staged.to_string() + "u"),
            (LOOKS_LINE, "LOOKS", looks.to_string() + "u"),
            (MASKS_LINE, "MASKS", masks.to_string()),
            (SHARED_LINE, "SHARED", u32::from(tallies == Tallies::Halves).to_string() + "u"),
        ] {
            assert!(text.contains(line), "the shader has no {line:?} to replace");
            text = text.replace(line, &format!("const {name} = {value};"));
        }
        // Ballots put nothing in workgroup memory.
        text.push_str(&meeting(if masks { "subgroupBarrier();" } else { "" }));
        let trip_count_of = |name: &str| -> Option<u32> {
            let line = format!("const {name} = ");
            let (_, value) = text.split_once(&line)?;
            value.split_once("u;")?.0.parse().ok()
        };
        let mut lines = text.lines();
        let mut written = String::with_capacity(text.len() * 4);
        while let Some(line) = lines.next() {
            let looped = line.split_once(LOOP[0]).and_then(|(indent, rest)| {
                Some((indent, trip_count_of(rest.strip_suffix(LOOP[1])?)?))
            });
            let Some((indent, iterations)) = looped else {
                written.extend([line, "\n"]);
                continue;
            };
            // Bodies are indented deeper than the line that ends them.
            let end = format!("{indent}}}");
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            for iteration in 0..iterations {
                written.push_str(&format!("{indent}{{\n{indent}    const r = {iteration}u;\n"));
                body.iter().for_each(|line| written.extend([line, "\n"]));
                written.push_str(&format!("{end}\n"));
            }
        }
        written
    }
}
