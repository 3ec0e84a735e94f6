//! Whether `algorithms::sort` and `algorithms::Compact` are right on a device: no key, as many as a
//! binding holds, and random sizes, types, bits, cuts and inputs. And whether buffers that will not do are
//! refused.
//!
//! Input: how many random ones, and a seed. Output: a line on standard output; on standard error each
//! that is wrong, with what reproduces it. Exit code 1 where there is one. The adapter is the first that
//! the environment shows. Every buffer ends in words that nobody may write.
//!
//! `cargo run --release -p lab -- sort-check --count 200 --seed 1`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::ops::Range;
use std::process::ExitCode;

use lanescope::algorithms::multisplit::MultisplitError;
use lanescope::algorithms::sort::{
    Before, Buffers, Key, Matching, Payload, RadixTuning, Sort, SortError, Tallies, words_of,
};
use lanescope::algorithms::{AlgorithmError, Compact, Flags, ScanTuning};
use lanescope::kernel::generate::mix;
use lanescope::partition::Limits;
use wgpu::BufferUsages;

use super::split_check::{BINDING_BYTES, GUARD_WORDS, Gpu, UNTOUCHED, open};

/// Random sorts and compactions on a device.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many of each.
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most elements.
    #[arg(long, default_value_t = 20_000)]
    n_max: u32,
}

/// One sort.
#[derive(Debug)]
struct Case {
    key: Key,
    bits: Range<u32>,
    keys: Vec<u32>,
    payload: bool,
    tuning: RadixTuning,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { count, seed, n_max } = *arguments;
    let gpu = open(BINDING_BYTES)?;
    let limits = Limits::from(&gpu.device);
    let most = u32::try_from(gpu.device.limits().max_storage_buffer_binding_size / 4)?;
    let named = [0, most].map(|n| {
        let keys = (0..n).map(|i| hash(u64::from(i))).collect();
        let tuning = RadixTuning::choose(limits, n, true, n % 2 == 0);
        Case { key: Key::U32, bits: 0..16, keys, payload: true, tuning }
    });
    let random = (seed..seed + count).map(|seed| Case::random(seed, n_max.min(most), limits));
    let (mut sorts, mut wrong) = (0_u64, 0_u64);
    let mut tell = |what: String, told: anyhow::Result<()>| {
        if let Err(error) = told {
            wrong += 1;
            eprintln!("{what}: {error:#}");
        }
    };
    for (index, case) in named.into_iter().chain(random).enumerate() {
        sorts += 1;
        let Case { key, bits, keys, payload, tuning } = &case;
        let n = keys.len();
        let what = format!("sort {index}: {n} {key:?}, bits {bits:?}, {payload}, {tuning:?}");
        tell(what, verify(&gpu, &case));
    }
    for seed in seed..seed + count {
        tell(format!("compaction of seed {seed}"), compact(&gpu, seed, n_max.min(most)));
    }
    tell("what will not do".to_owned(), refuses_what_will_not_do(&gpu, most));
    println!("{sorts} sorts and {count} compactions, {wrong} wrong");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hash(index: u64) -> u32 {
    u32::try_from(mix(index) >> 32).unwrap_or(0)
}

/// Random numbers below a bound, one after the other.
fn random(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed << 32;
    move |bound| {
        state += 1;
        u32::try_from((u64::from(hash(state)) * u64::from(bound)) >> 32).unwrap_or(0)
    }
}

/// Small and odd sizes as often as large ones, and those about powers of two.
fn size(below: &mut impl FnMut(u32) -> u32, n_max: u32) -> u32 {
    match below(4) {
        0 => below(66),
        1 => (1 << below(14)) + below(3),
        _ => below(n_max + 1),
    }
    .min(n_max)
}

impl Case {
    fn random(seed: u64, n_max: u32, limits: Limits) -> Self {
        let mut below = random(seed);
        let n = size(&mut below, n_max);
        let key = [Key::U32, Key::I32, Key::F32][below(3) as usize];
        let start = [0, 0, 5, 24][below(4) as usize];
        let bits = start..[32, start + 1 + below(32 - start)][below(2) as usize];
        let spread = [u32::MAX, 1, 7, 1 << 16][below(4) as usize];
        let keys = (0..n).map(|_| below(spread).wrapping_sub(spread / 2)).collect();
        let before = match below(3) {
            0 => Before::Runs { length: 1 + below(700) },
            _ => Before::LookBack { spins: 1 << below(12), at_once: 1 << below(6) },
        };
        let (threads, staged) = (128 << below(3), [4, 6, 8, 16][below(4) as usize]);
        let items = staged * (1 + below(2));
        let matching = [Matching::Ballots, Matching::Masks][below(2) as usize];
        let tallies = [Tallies::Words, Tallies::Halves][below(2) as usize];
        let other = RadixTuning { threads, items, staged, matching, tallies, before };
        let payload = below(2) == 0;
        let chosen = RadixTuning::choose(limits, n, payload, below(2) == 0);
        let takes_other = below(2) == 0 && other.check(limits, n).is_ok();
        let tuning = if takes_other { other } else { chosen };
        Self { key, bits, keys, payload, tuning }
    }
}

/// Runs a sort and compares all that it writes with a stable sort of the bits that count.
fn verify(gpu: &Gpu, case: &Case) -> anyhow::Result<()> {
    let Case { key, bits, keys, payload, tuning } = case;
    let n = u32::try_from(keys.len())?;
    let length = words_of(n);
    let values: Vec<u32> = (0..n).map(|i| !i).collect();
    let (given, values_given) = (gpu.buffer(length, keys), gpu.buffer(length, &values));
    let (sorted, values_sorted) = (gpu.buffer(length, &[]), gpu.buffer(length, &[]));
    let payload =
        payload.then_some(Payload { payload: &values_given, payload_sorted: &values_sorted });
    let buffers = Buffers { keys: &given, keys_sorted: &sorted, payload };
    let sort = Sort::with_tuning(&gpu.device, n, *key, bits.clone(), &buffers, *tuning)?;
    // Twice, as what a sort leaves must not be in the way of the next.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    sort.encode(&mut encoder);
    sort.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    let mut order: Vec<(u32, u32)> = (0..n).map(|i| (keys[i as usize], i)).collect();
    let mask = u32::MAX >> (32 - (bits.end - bits.start));
    order.sort_by_key(|(word, _)| (key.ordered_bits(*word) >> bits.start) & mask);
    let whole = (length + GUARD_WORDS) as usize;
    let compare = |name: &str, buffer, expected: Vec<u32>| -> anyhow::Result<()> {
        let mut expected = expected;
        expected.resize(whole, UNTOUCHED);
        anyhow::ensure!(gpu.read(buffer, whole)? == expected, "{name}");
        Ok(())
    };
    compare("the keys", &sorted, order.iter().map(|(key, _)| *key).collect())?;
    compare("the input", &given, keys.clone())?;
    if payload.is_none() {
        return compare("a payload that was not asked for", &values_sorted, Vec::new());
    }
    compare("the payload", &values_sorted, order.iter().map(|(_, index)| !*index).collect())
}

/// Runs a compaction and compares what it keeps with a filter.
fn compact(gpu: &Gpu, seed: u64, n_max: u32) -> anyhow::Result<()> {
    let mut below = random(seed ^ 0xc0);
    let chosen = ScanTuning::for_device(&gpu.device);
    let small = ScanTuning { workgroup_size: 128, items: 1 + below(3), spins: 1 };
    let tuning = [chosen, small][below(2) as usize];
    // Whole tiles alone are taken.
    let tile = tuning.workgroup_size * tuning.items * 4;
    let n = size(&mut below, n_max / tile * tile);
    let flags = [Flags::Words, Flags::Bytes][below(2) as usize];
    let of_eight = [0, 1, 4, 7, 8][below(5) as usize];
    let set: Vec<u32> =
        (0..n).map(|_| if below(8) < of_eight { 1 + below(255) } else { 0 }).collect();
    let elements: Vec<u32> = (0..n).map(|_| below(u32::MAX)).collect();
    let packed: Vec<u32> = match flags {
        Flags::Words => set.clone(),
        Flags::Bytes => set
            .chunks(4)
            .map(|four| four.iter().rev().fold(0, |word, flag| word << 8 | flag))
            .collect(),
    };
    let length = words_of(n);
    let (input, output) = (gpu.buffer(length, &elements), gpu.buffer(length, &[]));
    let flags_buffer = gpu.buffer(u32::try_from(flags.bytes(n.into()) / 4)?, &packed);
    let compact = Compact::new(&gpu.device, flags, tuning)?;
    let scratch = compact.scratch(&gpu.device, n.into());
    let call =
        compact.prepare(&gpu.device, (&input, &flags_buffer), n.into(), &output, &scratch)?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    call.encode(&mut encoder);
    call.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    let mut expected: Vec<u32> =
        elements.iter().zip(&set).filter(|(_, set)| **set != 0).map(|(e, _)| *e).collect();
    let (count, offset) = call.count();
    let counted = gpu.read(count, 2)?[usize::try_from(offset / 4)?];
    anyhow::ensure!(counted as usize == expected.len(), "{counted} of {n} are kept");
    let whole = (length + GUARD_WORDS) as usize;
    expected.resize(whole, UNTOUCHED);
    anyhow::ensure!(gpu.read(&output, whole)? == expected, "{n} by {flags:?}, {tuning:?}");
    Ok(())
}

/// Bits that there are not, too many keys, and buffers that will not do are refused by their names.
fn refuses_what_will_not_do(gpu: &Gpu, most: u32) -> anyhow::Result<()> {
    let whole = || gpu.buffer(words_of(100), &[]);
    let (keys, sorted, payload, payload_sorted) = (whole(), whole(), whole(), whole());
    let unstored = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4096,
        usage: BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let sort = |n, bits, keys, keys_sorted, payload: Option<_>| {
        let payload = payload.map(|(payload, payload_sorted)| Payload { payload, payload_sorted });
        let buffers = Buffers { keys, keys_sorted, payload };
        Sort::new(&gpu.device, n, Key::U32, bits, &buffers).err()
    };
    let twice =
        |first, second| Some(SortError::Partition(MultisplitError::SameBuffer { first, second }));
    let lacks = |name| MultisplitError::BufferUsage { name, usage: BufferUsages::STORAGE };
    let (k, s, p, o) = (&keys, &sorted, &payload, &payload_sorted);
    let size = keys.size();
    let small = MultisplitError::BufferSize { name: "keys", size, needed: 4000 };
    for (told, expected) in [
        (sort(100, 0..8, k, s, None), None),
        (sort(100, 8..8, k, s, None), Some(SortError::Bits { start: 8, end: 8 })),
        (sort(100, 30..33, k, s, None), Some(SortError::Bits { start: 30, end: 33 })),
        (sort(100, 0..8, k, k, None), twice("keys", "keys_sorted")),
        (sort(100, 0..8, k, s, Some((p, s))), twice("keys_sorted", "payload_sorted")),
        (sort(100, 0..8, k, &unstored, Some((p, o))), Some(lacks("keys_sorted").into())),
        (sort(1000, 0..8, k, s, None), Some(small.into())),
    ] {
        anyhow::ensure!(told == expected, "told {told:?} for {expected:?}");
    }
    let told = sort(most + 1, 0..8, k, s, None);
    let too_many = matches!(told, Some(SortError::Partition(MultisplitError::TooMany { .. })));
    anyhow::ensure!(too_many, "told {told:?} for one more than a binding holds");
    let compact = Compact::new(&gpu.device, Flags::Words, ScanTuning::for_device(&gpu.device))?;
    let scratch = compact.scratch(&gpu.device, 100);
    let call = |n, flags| compact.prepare(&gpu.device, (k, flags), n, s, &scratch).err();
    let short = gpu.buffer(0, &[]);
    anyhow::ensure!(call(101, p) == Some(AlgorithmError::TooMany { n: 101, max: 100 }), "too many");
    let told = call(100, &short);
    let too_short = matches!(told, Some(AlgorithmError::BufferTooShort { name: "flags", .. }));
    anyhow::ensure!(too_short, "told {told:?} for few flags");
    Ok(())
}
