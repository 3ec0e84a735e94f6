//! Sorts and compactions on the simulator: every width, both forms, odd sizes, unfair schedules.
//!
//! Input: plans and the shaders' texts. Output: keys, payloads and counts equal to a stable sort or a
//! filter on the processor, and no access out of bounds. Nothing of wgpu is used but the texts that
//! `Compact` puts together.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::cast_possible_truncation, reason = "sizes and bits of a test are small")]

use std::collections::BTreeMap;

use lanescope_algorithms::partition::radix::{
    Before, Key, Matching, RadixMemory, RadixPlan, RadixStage, RadixTuning, Tallies,
};
use lanescope_algorithms::partition::{Limits, Memory, Order, Plan, Tuning, Writes, words_of};
use lanescope_algorithms::{Compact, Flags, ScanTuning, shaders};
use lanescope_simt::program::{Overrides, Parsed};
use lanescope_simt::simulate::{Compiled, Config, Fma, Memory as Bound, Reconvergence, Schedule};
use lanescope_simt::units::Width;
use lanescope_simt::units::random::mix;

/// Both widths of counts.
const TALLIES: [Tallies; 2] = [Tallies::Words, Tallies::Halves];

const WIDTHS: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// Words after each output, which nobody may write, and what they hold.
const GUARD: usize = 8;
const UNTOUCHED: u32 = 0xdead_beef;

/// What a large GPU has.
const LIMITS: Limits = Limits {
    invocations_max: 1024,
    workgroup_bytes_max: 1 << 20,
    subgroup_barrier: true,
    ..Limits::WEBGPU
};

/// What a schedule is called here: some need all of a workgroup's waiting to end by itself.
fn config(width: u32, schedule: Schedule) -> Config {
    Config {
        width: Width::new(width).unwrap(),
        reconvergence: Reconvergence::Maximal,
        fma: Fma::Fused,
        steps_max: 1 << 28,
        operations_max: u64::MAX,
        schedule,
        strict: true,
        threads: None,
        zero_workgroup_memory: false,
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Runs an entry point of a text; gives the executions of the blocks with a label.
fn run(
    (text, entry_point): (&str, &str),
    overrides: &Overrides,
    grid: [u32; 3],
    bound: &mut BTreeMap<u32, Vec<u8>>,
    config: &Config,
) -> u64 {
    let program = Parsed::new("sort.wgsl", text).unwrap().resolve(entry_point, overrides).unwrap();
    let compiled = Compiled::new(&program).unwrap();
    let mut memory = Bound::new();
    for (binding, bytes) in &*bound {
        memory.bind(0, *binding, bytes);
    }
    let outcome = compiled.run(grid, &mut memory, config).unwrap_or_else(|error| {
        panic!("{entry_point} at {} lanes: {error}", config.width);
    });
    assert_eq!(outcome.reports.len(), 0, "{entry_point}: {:?}", outcome.reports);
    for (binding, bytes) in bound {
        *bytes = memory.bytes(0, *binding).unwrap();
    }
    let helped = program.blocks().iter().zip(&outcome.blocks);
    helped.filter(|(block, _)| block.label.is_some()).map(|(_, counts)| counts.executions.0).sum()
}

/// What is sorted.
struct Case {
    key: Key,
    bits: std::ops::Range<u32>,
    keys: Vec<u32>,
    payload: bool,
    tuning: RadixTuning,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut state = seed << 32;
        let mut below = |bound: u32| {
            state += 1;
            u32::try_from(((mix(state) >> 32) * u64::from(bound)) >> 32).unwrap()
        };
        let key = [Key::U32, Key::I32, Key::F32][below(3) as usize];
        let start = [0, 0, 5, 24][below(4) as usize];
        let bits = start..[32, start + 1 + below(32 - start)][below(2) as usize];
        let n = [below(4), 1000 + below(3), below(4500)][below(3) as usize];
        let spread = [u32::MAX, 7, 1 << 16][below(3) as usize];
        let special =
            [0.0_f32, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-42, -1.0];
        let mut word = || match key {
            Key::F32 if below(4) == 0 => special[below(8) as usize].to_bits(),
            Key::I32 => below(spread).wrapping_sub(spread / 2),
            _ => below(spread),
        };
        let keys = (0..n).map(|_| word()).collect();
        let threads = [128, 256, 512][below(3) as usize];
        let (items, staged) =
            [(4, 4), (6, 6), (8, 4), (8, 8), (12, 6), (16, 16), (18, 18)][below(7) as usize];
        let before = match below(3) {
            0 => Before::Runs { length: 1 + below(700) },
            _ => Before::LookBack { spins: 1 + below(20), at_once: [1, 2, 8][below(3) as usize] },
        };
        let (matching, tallies) = (Matching::Ballots, TALLIES[below(2) as usize]);
        let ballots = RadixTuning { threads, items, staged, matching, tallies, before };
        let masks = RadixTuning { matching: Matching::Masks, ..ballots };
        let tuning = if masks.check(LIMITS, n).is_ok() { masks } else { ballots };
        Self { key, bits, keys, payload: below(2) == 0, tuning }
    }

    /// The order that the sort must give, as indices.
    fn order(&self) -> Vec<usize> {
        let bits = |word: u32| {
            let count = self.bits.end - self.bits.start;
            u64::from(self.key.ordered_bits(word) >> self.bits.start) & ((1_u64 << count) - 1)
        };
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        order.sort_by_key(|index| bits(self.keys[*index]));
        order
    }

    /// Sorts on the simulator and compares; how often a workgroup counted another one's tile.
    fn check(&self, config: &Config) -> u64 {
        let n = u32::try_from(self.keys.len()).unwrap();
        self.tuning.check(LIMITS, n).unwrap();
        let plan =
            RadixPlan::new(&LIMITS, n, self.key, self.bits.clone(), self.payload, self.tuning);
        let text = [
            shaders::SPLIT,
            shaders::SPLIT_MANY,
            shaders::SPLIT_RUNS,
            &plan.specialise(shaders::RADIX),
        ]
        .concat();
        let text = format!("enable subgroups;\n{text}");
        let overrides: Overrides = plan
            .overrides
            .iter()
            .map(|(name, value)| ((*name).to_owned(), f64::from(*value)))
            .collect();
        let mut buffers = self.buffers(&plan);
        let mut helped = 0;
        for RadixStage { entry_point, workgroups, binds } in &plan.stages {
            let mut bound: BTreeMap<u32, Vec<u8>> =
                binds.iter().map(|(binding, memory)| (*binding, buffers[memory].clone())).collect();
            helped += run((&text, entry_point), &overrides, *workgroups, &mut bound, config);
            for (binding, memory) in binds {
                buffers.insert(*memory, bound[binding].clone());
            }
        }
        let order = self.order();
        let expected = |word: &dyn Fn(usize) -> u32| -> Vec<u32> {
            let words = order.iter().map(|index| word(*index));
            words.chain(std::iter::repeat(UNTOUCHED)).take(words_of(n) as usize + GUARD).collect()
        };
        let keys = words(&buffers[&RadixMemory::KeysSorted]);
        assert_eq!(keys, expected(&|index| self.keys[index]), "keys");
        if self.payload {
            let payload = words(&buffers[&RadixMemory::PayloadSorted]);
            assert_eq!(payload, expected(&|index| !u32::try_from(index).unwrap()), "payload");
        }
        assert_eq!(words(&buffers[&RadixMemory::Keys])[..self.keys.len()], self.keys, "the input");
        helped
    }

    fn buffers(&self, plan: &RadixPlan) -> BTreeMap<RadixMemory, Vec<u8>> {
        let length = words_of(u32::try_from(self.keys.len()).unwrap()) as usize;
        let given = |words: &mut dyn Iterator<Item = u32>| {
            let words = words.chain(std::iter::repeat(UNTOUCHED));
            bytes(&words.take(length + GUARD).collect::<Vec<u32>>())
        };
        let mut buffers = BTreeMap::from([
            (RadixMemory::Split, bytes(&[&plan.split[..], &[0; 3]].concat())),
            (RadixMemory::Keys, given(&mut self.keys.iter().copied())),
            (RadixMemory::KeysSorted, given(&mut std::iter::empty())),
            (RadixMemory::Payload, given(&mut (0..).take(self.keys.len()).map(|i: u32| !i))),
            (RadixMemory::PayloadSorted, given(&mut std::iter::empty())),
        ]);
        for (pass, digit) in plan.digits.iter().enumerate() {
            buffers.insert(RadixMemory::Digit(pass), bytes(digit));
        }
        for (memory, words) in &plan.lengths {
            let words = usize::try_from(*words).unwrap();
            buffers.insert(*memory, bytes(&vec![UNTOUCHED; words]));
        }
        buffers
    }
}

/// Keys of every type, any bits of them, with and without a payload, in both forms, at every width.
#[test]
fn sorts_are_stable_and_right_at_every_width() {
    let mut wrong = Vec::new();
    for seed in 0..96_u64 {
        let case = Case::random(seed);
        let width = WIDTHS[usize::try_from(seed % 6).unwrap()];
        let told = std::panic::catch_unwind(|| case.check(&config(width, Schedule::InOrder)));
        if told.is_err() {
            let Case { key, bits, keys, payload, tuning } = &case;
            let settings = format!("{} {key:?}, bits {bits:?}, {payload}, {tuning:?}", keys.len());
            wrong.push(format!("seed {seed}: {settings}, {width} lanes"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Keys that are all equal, and keys that differ in the second of two digits alone: every lane of a row has the same digit, and
/// one counter of each group takes the whole tile. Payloads keep their order.
#[test]
fn sorts_of_keys_that_are_alike_are_stable_at_every_width() {
    for (index, width) in WIDTHS.into_iter().enumerate() {
        let matched = [Matching::Ballots, Matching::Masks];
        for (matching, tallies) in matched.into_iter().flat_map(|m| TALLIES.map(|t| (m, t))) {
            // Tiles that are full, and a last one that is not.
            for (items, n) in [(8, 2 * 8 * 128), (6, 2 * 6 * 128 + 77)] {
                let before = Before::LookBack { spins: 3, at_once: 8 };
                let staged = items;
                let tuning = RadixTuning { threads: 128, items, staged, matching, tallies, before };
                let equal = [0, u32::MAX, 0x8000_0000][index % 3];
                let one_digit = |i: u32| (i * 37 % 128) << 7 | 0x55;
                for keys in [vec![equal; n as usize], (0..n).map(one_digit).collect()] {
                    let key = [Key::U32, Key::I32, Key::F32][index % 3];
                    let case = Case { key, bits: 0..14, keys, payload: true, tuning };
                    case.check(&config(width, Schedule::InOrder));
                    let schedule = Schedule::Unfair { seed: index as u64 };
                    case.check(&config(width, schedule));
                }
            }
        }
    }
}

/// Where fewer keys are staged than masks and counts of whole words need, halves have room; where more are, memory is the same.
#[test]
fn halves_of_words_take_less_memory_where_counts_decide() {
    let tuning = |items, matching, tallies| {
        let before = Before::LookBack { spins: 1024, at_once: 8 };
        RadixTuning { threads: 256, items, staged: items, matching, tallies, before }
    };
    let misfit =
        |tuning: RadixTuning| tuning.check(LIMITS, 1).err().map(|misfit| misfit.to_string());
    let [words, halves] = TALLIES.map(|tallies| misfit(tuning(14, Matching::Masks, tallies)));
    assert_eq!((words.as_deref(), halves), (Some("staged is 14; masks take 16"), None));
    let words = misfit(tuning(10, Matching::Masks, Tallies::Halves));
    assert_eq!(words.as_deref(), Some("staged is 10; masks take 12"));
    let bytes =
        |items| TALLIES.map(|tallies| tuning(items, Matching::Ballots, tallies).workgroup_bytes());
    let ([words, halves], [many_words, many_halves]) = (bytes(4), bytes(22));
    assert_eq!(words - halves, 4 * 4 * 256);
    assert_eq!(many_words, many_halves);
}

/// A tile of as many keys as there can be, all alike: counts and places are the largest that halves of words hold.
#[test]
fn halves_of_words_hold_the_largest_tile() {
    for matching in [Matching::Ballots, Matching::Masks] {
        let before = Before::LookBack { spins: 1024, at_once: 8 };
        let tallies = Tallies::Halves;
        let (threads, items, staged) = (1024, 32, 32);
        let tuning = RadixTuning { threads, items, staged, matching, tallies, before };
        let keys = vec![7; tuning.tile() as usize];
        let case = Case { key: Key::U32, bits: 0..4, keys, payload: true, tuning };
        case.check(&config(32, Schedule::InOrder));
    }
}

/// Workgroups that never find what they look for count it themselves, whoever runs first.
#[test]
fn sorts_need_no_forward_progress() {
    let mut helped = 0;
    for seed in 0..12_u64 {
        let keys = (0..1500 + seed).map(|i| (mix(seed << 32 | i) >> 40) as u32).collect();
        let tuning = RadixTuning {
            threads: 128,
            items: 4,
            staged: 4,
            matching: Matching::Ballots,
            // Each at every width.
            tallies: TALLIES[(seed / 6) as usize],
            before: Before::LookBack { spins: 1 + (seed % 4) as u32, at_once: 8 },
        };
        let case = Case { key: Key::U32, bits: 0..12, keys, payload: true, tuning };
        let width = WIDTHS[usize::try_from(seed % 6).unwrap()];
        helped += case.check(&config(width, Schedule::Unfair { seed }));
    }
    assert!(helped > 20, "{helped} times");
    // In order nobody waits for what has not begun.
    let keys = (0..1500).rev().collect();
    let before = Before::LookBack { spins: 1, at_once: 8 };
    let (matching, tallies) = (Matching::Ballots, Tallies::Words);
    let tuning = RadixTuning { threads: 128, items: 4, staged: 4, matching, tallies, before };
    let case = Case { key: Key::U32, bits: 0..12, keys, payload: false, tuning };
    assert_eq!(case.check(&config(32, Schedule::InOrder)), 0);
}

/// Partitions as on a processor: permutation, inverse, pairs, offsets, and the first id that is no class.
#[test]
fn partitions_by_runs_are_right_at_every_width() {
    for seed in 0..24_u64 {
        let random = |salt: u64, bound: u64| (mix(seed << 40 | salt << 36) >> 20) % bound;
        let width = WIDTHS[usize::try_from(seed % 6).unwrap()];
        let n = 1 + random(0, 3000) as u32;
        let classes = [1, 2, 8, 17, 256][usize::try_from(random(1, 5)).unwrap()];
        let below = u64::from(classes + u32::from(seed % 4 == 3));
        let ids: Vec<u32> =
            (0..u64::from(n)).map(|i| (mix(seed << 32 | i) >> 33) as u32 % below as u32).collect();
        let tuning =
            Tuning { tiles_per_chunk: 1 + random(2, 700) as u32, ..Tuning::for_processor(n) };
        tuning.check(Limits::WEBGPU, n, classes).unwrap();
        let writes = Writes { order: Some(Order::WithInverse), pairs: true };
        let plan = Plan::new(&Limits::WEBGPU, n, classes, writes, tuning);
        let length = |memory| usize::try_from(plan.lengths[&memory]).unwrap();
        let padded = |words: &mut dyn Iterator<Item = u32>| {
            bytes(
                &words
                    .chain(std::iter::repeat(UNTOUCHED))
                    .take(words_of(n) as usize)
                    .collect::<Vec<_>>(),
            )
        };
        let mut buffers: BTreeMap<Memory, Vec<u8>> = plan
            .lengths
            .keys()
            .map(|memory| (*memory, bytes(&vec![UNTOUCHED; length(*memory)])))
            .collect();
        buffers.insert(Memory::Split, bytes(&[&plan.split[..], &[0; 3]].concat()));
        buffers.insert(Memory::Status, bytes(&[0]));
        buffers.insert(Memory::Keys, padded(&mut ids.iter().copied()));
        buffers.insert(Memory::Payload, padded(&mut (0..n).map(|i| !i)));
        run_plan(&plan, &mut buffers, width);
        let found = |memory| words(&buffers[&memory])[..n as usize].to_vec();
        let name = format!("seed {seed}: {n} ids of {classes} classes, {tuning:?}, {width} lanes");
        if let Some(first) = ids.iter().position(|id| *id >= classes) {
            assert_eq!(words(&buffers[&Memory::Status]), [!(first as u32)], "{name}");
            continue;
        }
        assert_eq!(words(&buffers[&Memory::Status]), [0], "{name}");
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|index| ids[*index as usize]);
        assert_eq!(found(Memory::Permutation), order, "{name}");
        let inverse = found(Memory::Inverse);
        assert!((0..n).all(|place| inverse[order[place as usize] as usize] == place), "{name}");
        let sorted =
            |word: &dyn Fn(u32) -> u32| order.iter().map(|i| word(*i)).collect::<Vec<u32>>();
        assert_eq!(found(Memory::PayloadSorted), sorted(&|i| !i), "{name}");
        assert_eq!(found(Memory::KeysSorted), sorted(&|i| ids[i as usize]), "{name}");
        let begins = (0..=classes).map(|c| ids.iter().filter(|id| **id < c).count() as u32);
        let offsets = words(&buffers[&Memory::Offsets]);
        assert_eq!(offsets, begins.collect::<Vec<u32>>(), "{name}");
    }
}

/// Runs a partition's dispatches on its buffers.
fn run_plan(plan: &Plan, buffers: &mut BTreeMap<Memory, Vec<u8>>, width: u32) {
    let text = [shaders::SPLIT, shaders::SPLIT_MANY, shaders::SPLIT_RUNS].concat();
    let text = format!("enable subgroups;\n{text}");
    let overrides =
        plan.overrides.iter().map(|(name, value)| ((*name).to_owned(), f64::from(*value)));
    let overrides: Overrides = overrides.collect();
    for stage in &plan.stages {
        let bound = stage.binds.iter().map(|m| (m.binding(), buffers[m].clone()));
        let mut bound: BTreeMap<u32, Vec<u8>> = bound.collect();
        let entry_point = (text.as_str(), stage.entry_point);
        let config = config(width, Schedule::InOrder);
        run(entry_point, &overrides, stage.workgroups, &mut bound, &config);
        for memory in &stage.binds {
            buffers.insert(*memory, bound[&memory.binding()].clone());
        }
    }
}

/// Flags as words and as bytes, none to all of them set, at every width and under unfair schedules.
#[test]
fn compactions_are_stable_and_right_at_every_width() {
    for seed in 0..48_u64 {
        let random = |salt: u64, bound: u64| (mix(seed << 40 | salt << 36) >> 20) % bound;
        let width = WIDTHS[usize::try_from(seed % 6).unwrap()];
        let n = usize::try_from(
            [1 + random(0, 5), 1023 + random(1, 3), 1 + random(2, 5000)]
                [usize::try_from(seed % 3).unwrap()],
        )
        .unwrap();
        let of_eight = [0, 1, 4, 7, 8][usize::try_from(random(3, 5)).unwrap()];
        let flags = if seed % 2 == 0 { Flags::Words } else { Flags::Bytes };
        let set: Vec<bool> =
            (0..n as u64).map(|i| (mix(seed << 32 | i) >> 33) % 8 < of_eight).collect();
        let elements: Vec<u32> = (0..n).map(|i| mix(i as u64) as u32).collect();
        let tuning = ScanTuning {
            workgroup_size: 128,
            items: 1 + (seed % 3) as u32,
            spins: 1 + (seed % 5) as u32,
        };
        let (kept, count) = compacted(&set, &elements, (flags, tuning), (width, seed));
        let expected: Vec<u32> =
            elements.iter().zip(&set).filter(|(_, set)| **set).map(|(e, _)| *e).collect();
        let name = format!("seed {seed}: {n} elements, {of_eight} of 8 kept, {flags:?}, {width}");
        assert_eq!(count as usize, expected.len(), "{name}");
        assert_eq!(kept[..expected.len()], expected, "{name}");
        assert!(kept[expected.len()..].iter().all(|word| *word == UNTOUCHED), "{name}");
    }
}

/// What a compaction keeps, with what lies beyond it, and how much that is.
fn compacted(
    set: &[bool],
    elements: &[u32],
    (flags, tuning): (Flags, ScanTuning),
    (width, seed): (u32, u64),
) -> (Vec<u32>, u32) {
    let n = elements.len();
    let padded = n.next_multiple_of(4);
    // A flag is anything that is not zero, and what lies past the last one says nothing.
    let flag = |i: usize| match set.get(i) {
        Some(true) => 1 + (i as u32 * 37) % 255,
        Some(false) => 0,
        None => 1,
    };
    let flags_bytes = match flags {
        Flags::Words => bytes(&(0..padded).map(flag).collect::<Vec<u32>>()),
        Flags::Bytes => (0..padded).map(|i| flag(i) as u8).collect(),
    };
    assert_eq!(flags_bytes.len() as u64, flags.bytes(n as u64));
    let tile = tuning.workgroup_size * tuning.items * 4;
    let tiles = (n as u32).div_ceil(tile);
    let mut elements = elements.to_vec();
    elements.resize(padded, UNTOUCHED);
    let mut bound = BTreeMap::from([
        (0, bytes(&[n as u32, 0, 0, 0])),
        (1, flags_bytes),
        (2, bytes(&vec![UNTOUCHED; padded])),
        (3, bytes(&vec![0; 2 * tiles as usize])),
        (4, bytes(&[0, UNTOUCHED])),
        (5, bytes(&elements)),
    ]);
    let text = Compact::shader(flags, tuning, seed % 8 < 4);
    let schedule = if seed % 4 == 0 { Schedule::InOrder } else { Schedule::Unfair { seed } };
    run((&text, "main"), &Overrides::new(), [tiles, 1, 1], &mut bound, &config(width, schedule));
    (words(&bound[&2]), words(&bound[&4])[1])
}
