//! Whether `algorithms::multisplit` is right on a device: nothing, one class, as much as a binding
//! holds, and random sizes, classes, cuts and inputs; after each the workgroups that its classes fill.
//! And whether buffers that will not do are refused.
//!
//! Input: how many random ones, and a seed. Output: a line on standard output; on standard error each
//! partition that is wrong, with what reproduces it. Exit code 1 where there is one. The adapter is
//! the first that the environment shows. Every buffer ends in words that nobody may write.
//!
//! `cargo run --release -p lab -- split-check --count 200 --seed 1`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;

use anyhow::Context;
use lanescope::algorithms::multisplit::{
    Buffers, CLASSES_MAX, ClassGrids, Multisplit, MultisplitError, Order, Pairs, Path, Tuning,
    check, words_of,
};
use lanescope::kernel::generate::mix;
use lanescope::partition::{self, Limits, Plan, Writes};
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, Features, MapMode, PollType, Queue};

/// Random partitions on a device.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many.
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most elements.
    #[arg(long, default_value_t = 20_000)]
    n_max: u32,
}

/// The most bytes of a binding on the device that is opened: a limit that a test can reach.
pub(crate) const BINDING_BYTES: u64 = 1 << 16;

/// Words after each buffer's own, and what they hold before and after.
pub(crate) const GUARD_WORDS: u32 = 64;
pub(crate) const UNTOUCHED: u32 = 0xdead_beef;

/// What every partition writes here: all there is.
const WRITES: Writes = Writes { order: Some(partition::Order::WithInverse), pairs: true };

/// An open device.
pub(crate) struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
}

/// One partition.
#[derive(Debug)]
struct Case {
    keys: Vec<u32>,
    classes: u32,
    tuning: Tuning,
    /// The first index that holds no class, where one was put in.
    offender: Option<u32>,
    /// What it was made from, where it is random.
    seed: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { count, seed, n_max } = *arguments;
    let gpu = open(BINDING_BYTES)?;
    let limits = gpu.device.limits();
    let most = u32::try_from(limits.max_storage_buffer_binding_size / 4)?;
    let named =
        [(0, 8), (1000, 1), (most, 3)].map(|shape| Case::with_cycled_classes(shape, &limits));
    let random = (seed..seed + count).map(|seed| Case::random(seed, n_max.min(most), &limits));
    let (mut done, mut wrong) = (0_u64, 0_u64);
    for case in named.into_iter().chain(random) {
        done += 1;
        if let Err(error) = verify(&gpu, &case) {
            wrong += 1;
            let Case { keys, classes, tuning, seed, .. } = &case;
            let n = keys.len();
            eprintln!("seed {seed:?}: n = {n}, {classes} classes, {tuning:?}: {error:#}");
        }
    }
    for (what, told) in [
        ("one more than a binding holds", check_refusal(&gpu, most)),
        ("buffers that will not do", refused_buffers(&gpu)),
    ] {
        if let Err(error) = told {
            wrong += 1;
            eprintln!("{what}: {error:#}");
        }
    }
    println!("{done} partitions, {wrong} wrong");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Case {
    /// n elements whose classes go round.
    fn with_cycled_classes((n, classes): (u32, u32), limits: &wgpu::Limits) -> Self {
        let tuning = Tuning::choose(limits, n, classes, true);
        let keys = (0..n).map(|i| i % classes).collect();
        Self { keys, classes, tuning, offender: None, seed: None }
    }

    fn random(from: u64, n_max: u32, limits: &wgpu::Limits) -> Self {
        let mut state = from << 32;
        let mut below = |bound: u32| {
            state += 1;
            u32::try_from(((mix(state) >> 32) * u64::from(bound)) >> 32).unwrap_or(0)
        };
        // Small and odd sizes as often as large ones, and those about powers of two.
        let n = match below(4) {
            0 => below(66),
            1 => (1 << below(14)) + below(3),
            _ => below(n_max + 1),
        }
        .min(n_max);
        let classes = [1, 2, 3, 8, 9, 16, 17, 32, 255, CLASSES_MAX, 1 + below(CLASSES_MAX)];
        let classes = classes[below(11) as usize];
        let chosen = Tuning::choose(limits, n, classes, true);
        let path = if classes <= 16 && below(3) > 0 { Path::Few } else { Path::Many };
        let path = if below(4) == 0 { Path::Runs } else { path };
        let (threads, rows) = match path {
            Path::Few | Path::Runs => (128 << below(4), 1),
            Path::Many => (128 << below(2), 1 + below(3)),
        };
        let other = Tuning {
            path,
            threads,
            rows,
            tiles_per_chunk: if path == Path::Runs { 1 + below(900) } else { 1 + below(8) },
            fold: path == Path::Few && below(2) == 0,
        };
        let tuning = if other.check(limits, n, classes).is_ok() { other } else { chosen };
        let kind = below(4);
        let mut keys: Vec<u32> = (0..n)
            .map(|i| match kind {
                0 => 0,
                1 => u32::try_from(u64::from(i) * u64::from(classes) / u64::from(n)).unwrap_or(0),
                2 => below(classes).min(below(classes)),
                _ => below(classes),
            })
            .collect();
        let mut offender = None;
        if n > 0 && below(5) == 0 {
            let (first, second) = (below(n), below(n));
            keys[first as usize] = classes;
            keys[second as usize] = u32::MAX;
            offender = Some(first.min(second));
        }
        Self { keys, classes, tuning, offender, seed: Some(from) }
    }
}

/// Opens the first adapter; bindings may have `binding_bytes` at most.
pub(crate) fn open(binding_bytes: u64) -> anyhow::Result<Gpu> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.into_iter().next().context("there is no adapter")?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: Features::SUBGROUP | (adapter.features() & Features::SUBGROUP_BARRIER),
        required_limits: wgpu::Limits {
            max_storage_buffer_binding_size: binding_bytes,
            ..adapter.limits()
        },
        ..Default::default()
    }))?;
    Ok(Gpu { device, queue })
}

impl Gpu {
    /// A buffer of words and the guard; what is not given is [`UNTOUCHED`].
    pub(crate) fn buffer(&self, words: u32, given: &[u32]) -> Buffer {
        let words = words + GUARD_WORDS;
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: u64::from(words) * 4,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut content = given.to_vec();
        content.resize(words as usize, UNTOUCHED);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&content));
        buffer
    }

    /// A buffer for the arguments of dispatches, and the guard.
    fn grids(&self, classes: u32) -> Buffer {
        let words = classes * 4 + GUARD_WORDS;
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: u64::from(words) * 4,
            usage: BufferUsages::STORAGE
                | BufferUsages::INDIRECT
                | BufferUsages::COPY_DST
                | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&vec![UNTOUCHED; words as usize]));
        buffer
    }

    pub(crate) fn read(&self, buffer: &Buffer, words: usize) -> anyhow::Result<Vec<u32>> {
        if words == 0 {
            return Ok(Vec::new());
        }
        let size = words as u64 * 4;
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(MapMode::Read, |_| {});
        self.device.poll(PollType::wait_indefinitely())?;
        let view = staging.slice(..).get_mapped_range().ok().context("not mapped")?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}

/// Runs a partition and compares all that it writes with a sort of pairs.
fn verify(gpu: &Gpu, case: &Case) -> anyhow::Result<()> {
    let Case { keys, classes, tuning, offender, seed: _ } = case;
    let (n, classes) = (u32::try_from(keys.len())?, *classes);
    let payload: Vec<u32> = (0..n).map(|i| !i).collect();
    let written = || gpu.buffer(words_of(n), &[]);
    let ids = gpu.buffer(words_of(n), keys);
    let (offsets, status) = (gpu.buffer(classes + 1, &[]), gpu.buffer(1, &[]));
    let (permutation, inverse, sorted, classes_sorted) =
        (written(), written(), written(), written());
    let payload_buffer = gpu.buffer(words_of(n), &payload);
    let buffers = Buffers {
        keys: &ids,
        offsets: &offsets,
        status: &status,
        order: Some(Order { permutation: &permutation, inverse: Some(&inverse) }),
        pairs: Some(Pairs {
            payload: &payload_buffer,
            payload_sorted: &sorted,
            keys_sorted: &classes_sorted,
        }),
    };
    let split = Multisplit::with_tuning(&gpu.device, n, classes, &buffers, *tuning)?;
    let limits = Limits::from(&gpu.device.limits());
    let plan = Plan::new(&limits, n, classes, WRITES, *tuning);
    let dispatched = plan.stages.iter().filter(|stage| stage.workgroups[0] > 0).count();
    anyhow::ensure!(split.steps() == dispatched, "{} dispatches", split.steps());
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    split.encode(&mut encoder);
    // Some number of elements a workgroup, of which none follows from the others.
    let elements = 1 + (n ^ classes) % 300;
    let grids = gpu.grids(classes);
    ClassGrids::new(&gpu.device, &offsets, classes, elements, &grids)?.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    let lengths = [permutation.clone(), inverse.clone(), sorted.clone(), classes_sorted.clone()]
        .map(|buffer| (buffer, words_of(n)));
    for (buffer, words) in
        lengths.iter().chain(&[(offsets.clone(), classes + 1), (status.clone(), 1)])
    {
        let after = gpu.read(buffer, (*words + GUARD_WORDS) as usize)?;
        let whole = after[*words as usize..].iter().all(|word| *word == UNTOUCHED);
        anyhow::ensure!(whole, "something was written after {words} words");
    }
    let told = check(gpu.read(&status, 1)?[0], classes);
    if let Some(index) = offender {
        let expected = MultisplitError::ClassOutOfRange { index: *index, classes };
        anyhow::ensure!(told == Err(expected), "told {told:?}");
        return Ok(());
    }
    told?;
    let mut order: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
    order.sort_unstable();
    let length = keys.len();
    let found = gpu.read(&permutation, length)?;
    let expected: Vec<u32> = order.iter().map(|(_, index)| *index).collect();
    anyhow::ensure!(found == expected, "the permutation");
    let back = gpu.read(&inverse, length)?;
    anyhow::ensure!(
        found.iter().zip(0_u32..).all(|(index, place)| back[*index as usize] == place),
        "the inverse"
    );
    let values = gpu.read(&sorted, length)?;
    anyhow::ensure!(expected.iter().zip(&values).all(|(i, v)| *v == !*i), "the payload");
    let ids = gpu.read(&classes_sorted, length)?;
    anyhow::ensure!(order.iter().zip(&ids).all(|((key, _), id)| key == id), "the ids in order");
    let begins = gpu.read(&offsets, classes as usize + 1)?;
    let counted: Vec<u32> = (0..=classes)
        .map(|class| u32::try_from(order.partition_point(|(key, _)| *key < class)).unwrap_or(0))
        .collect();
    anyhow::ensure!(begins == counted, "the offsets");
    verify_grids(gpu, &grids, &counted, elements)
}

/// Every class has the workgroups that its elements fill, in few lines, and not a line too many.
fn verify_grids(gpu: &Gpu, grids: &Buffer, begins: &[u32], elements: u32) -> anyhow::Result<()> {
    let classes = begins.len() - 1;
    let words = gpu.read(grids, classes * 4 + GUARD_WORDS as usize)?;
    let (arguments, guard) = words.split_at(classes * 4);
    anyhow::ensure!(guard.iter().all(|word| *word == UNTOUCHED), "something lies after the grids");
    for (ends, [x, y, z, left]) in begins.windows(2).zip(arguments.as_chunks::<4>().0) {
        let needed = (ends[1] - ends[0]).div_ceil(elements);
        let grid = u64::from(*x) * u64::from(*y);
        let fits = grid >= u64::from(needed) && grid < u64::from(needed) + u64::from(*y);
        let alone = *y == needed.div_ceil(65_535).max(1) && *z == 1 && *left == UNTOUCHED;
        anyhow::ensure!(fits && alone, "{x} × {y} × {z} workgroups for {needed}");
    }
    Ok(())
}

/// One element more than a binding holds is refused.
fn check_refusal(gpu: &Gpu, most: u32) -> anyhow::Result<()> {
    let n = most + 1;
    let [keys, permutation] = [(); 2].map(|()| gpu.buffer(words_of(n), &[]));
    let (offsets, status) = (gpu.buffer(3, &[]), gpu.buffer(1, &[]));
    let order = Some(Order { permutation: &permutation, inverse: None });
    let buffers = Buffers { keys: &keys, offsets: &offsets, status: &status, order, pairs: None };
    let told = Multisplit::new(&gpu.device, n, 2, &buffers).err();
    anyhow::ensure!(matches!(told, Some(MultisplitError::TooMany { .. })), "told {told:?}");
    Ok(())
}

/// A buffer given twice, one without a usage and one that is too small are refused by their names, and
/// so are classes and elements of which there are none.
fn refused_buffers(gpu: &Gpu) -> anyhow::Result<()> {
    let unlike = |usage| {
        let size = 4096;
        let mapped_at_creation = false;
        gpu.device.create_buffer(&BufferDescriptor { label: None, size, usage, mapped_at_creation })
    };
    let whole = || gpu.buffer(words_of(100), &[]);
    let (keys, offsets, status, permutation) = (whole(), whole(), whole(), whole());
    let uncopied = unlike(BufferUsages::STORAGE);
    let unstored = unlike(BufferUsages::COPY_DST | BufferUsages::COPY_SRC);
    let none = unlike(BufferUsages::MAP_READ);
    let split = |keys, offsets, status, permutation, inverse, n| {
        let order = Some(Order { permutation, inverse });
        let buffers = Buffers { keys, offsets, status, order, pairs: None };
        Multisplit::new(&gpu.device, n, 8, &buffers).err()
    };
    let lacks = |name, usage| Some(MultisplitError::BufferUsage { name, usage });
    let twice = |first, second| Some(MultisplitError::SameBuffer { first, second });
    let storage = BufferUsages::STORAGE;
    let copied = BufferUsages::COPY_DST;
    let (k, o, s, p) = (&keys, &offsets, &status, &permutation);
    let size = keys.size();
    let small = MultisplitError::BufferSize { name: "keys", size, needed: 4000 };
    let grids = |offsets, classes, elements, grids| {
        ClassGrids::new(&gpu.device, offsets, classes, elements, grids).err()
    };
    let written = gpu.grids(8);
    for (told, expected) in [
        (split(k, o, s, p, None, 100), None),
        // One that nothing is written to may be as long as it likes, and lack `COPY_DST`.
        (split(&uncopied, o, s, p, None, 100), None),
        (split(k, o, s, k, None, 100), twice("keys", "permutation")),
        (split(k, o, o, p, None, 100), twice("offsets", "status")),
        (split(k, o, s, p, Some(p), 100), twice("permutation", "inverse")),
        (split(&unstored, o, s, p, None, 100), lacks("keys", storage)),
        (split(k, &uncopied, s, p, None, 100), lacks("offsets", copied)),
        (split(k, o, &none, p, None, 100), lacks("status", storage | copied)),
        (split(k, o, s, &unstored, None, 100), lacks("permutation", storage)),
        (split(k, o, s, p, Some(&unstored), 100), lacks("inverse", storage)),
        (split(k, o, s, p, None, 1000), Some(small)),
        (grids(o, 8, 64, &written), None),
        (grids(o, 0, 64, &written), Some(MultisplitError::Classes { classes: 0 })),
        (grids(o, 8, 0, &written), Some(MultisplitError::NoElements)),
        (grids(&written, 8, 64, &written), twice("offsets", "grids")),
        (grids(&unstored, 8, 64, &written), lacks("offsets", storage)),
        (grids(o, 8, 64, k), lacks("grids", BufferUsages::INDIRECT)),
    ] {
        anyhow::ensure!(told == expected, "told {told:?} for {expected:?}");
    }
    Ok(())
}
