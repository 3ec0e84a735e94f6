//! Whether `algorithms::multisplit` is right on a device: random sizes, classes, cuts and inputs.
//!
//! Input: how many, and a seed. Output: a line on standard output; on standard error each partition
//! that is wrong, with what reproduces it. Exit code 1 where there is one. The adapter is the first
//! that the environment shows.
//!
//! `cargo run --release --example split_check -- --count 200 --seed 1`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use lanescope::algorithms::multisplit::{
    Buffers, CLASSES_MAX, Multisplit, MultisplitError, Order, Pairs, Path, Tuning, check, words_of,
};
use lanescope::kernel::generate::mix;
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, Features, MapMode, PollType, Queue};

/// Random partitions on a device.
#[derive(Debug, Parser)]
struct Arguments {
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

/// An open device.
struct Gpu {
    device: Device,
    queue: Queue,
}

/// One partition.
#[derive(Debug)]
struct Case {
    keys: Vec<u32>,
    classes: u32,
    tuning: Tuning,
    /// The first index that holds no class, where one was put in.
    offender: Option<u32>,
}

fn main() -> anyhow::Result<ExitCode> {
    let Arguments { count, seed, n_max } = Arguments::parse();
    let gpu = open()?;
    let limits = gpu.device.limits();
    let mut wrong = 0_u64;
    for seed in seed..seed + count {
        let case = Case::random(seed, n_max, &limits);
        if let Err(error) = verify(&gpu, &case) {
            wrong += 1;
            let (n, classes, tuning) = (case.keys.len(), case.classes, case.tuning);
            eprintln!("seed {seed}: n = {n}, {classes} classes, {tuning:?}: {error:#}");
        }
    }
    println!("{count} partitions, {wrong} wrong");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Case {
    fn random(seed: u64, n_max: u32, limits: &wgpu::Limits) -> Self {
        let mut state = seed << 32;
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
        let other = Tuning {
            path: if classes <= 16 && below(3) > 0 { Path::Few } else { Path::Many },
            threads: [128, 256, 512][below(3) as usize],
            rows: [1, 2, 4][below(3) as usize],
            tiles_per_chunk: 1 + below(8),
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
        Self { keys, classes, tuning, offender }
    }
}

fn open() -> anyhow::Result<Gpu> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.into_iter().next().context("there is no adapter")?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: Features::SUBGROUP,
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    Ok(Gpu { device, queue })
}

impl Gpu {
    /// A buffer of words, 0xdeadbeef after those given.
    fn buffer(&self, words: u32, given: &[u32]) -> Buffer {
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: u64::from(words) * 4,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut content = given.to_vec();
        content.resize(words as usize, 0xdead_beef);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&content));
        buffer
    }

    fn read(&self, buffer: &Buffer, words: usize) -> anyhow::Result<Vec<u32>> {
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
    let Case { keys, classes, tuning, offender } = case;
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
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    split.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
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
    Ok(())
}
