//! Sorts numbers on a GPU of your own with where each was as the payload, and keeps those that are not
//! negative.
//!
//! Input: numbers as arguments, or six where there are none. Output: them in order, where each was, and
//! what is kept, on standard output.
//!
//! `cargo run --release --example sort -- 2.5 -1 0.25 -0`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use anyhow::Context;
use clap::Parser;
use lanescope_algorithms::sort::{Buffers, Key, Payload, Sort, words_of};
use lanescope_algorithms::{Compact, Flags, ScanTuning};
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, MapMode, PollType, Queue};

/// Sorts numbers.
#[derive(Debug, Parser)]
#[command(allow_negative_numbers = true)]
struct Arguments {
    /// Numbers.
    #[arg(default_values_t = [2.5, -1.0, 0.25, -0.0, 0.0, 7.0])]
    numbers: Vec<f32>,
}

/// A device, and its queue.
struct Gpu {
    device: Device,
    queue: Queue,
}

fn main() -> anyhow::Result<()> {
    let Arguments { numbers } = Arguments::parse();
    let n = u32::try_from(numbers.len())?;
    let gpu = Gpu::open()?;
    let bits: Vec<u32> = numbers.iter().map(|number| number.to_bits()).collect();
    let (keys, indices) = (gpu.buffer(n, &bits), gpu.buffer(n, &(0..n).collect::<Vec<u32>>()));
    let (keys_sorted, indices_sorted) = (gpu.buffer(n, &[]), gpu.buffer(n, &[]));
    let payload = Some(Payload { payload: &indices, payload_sorted: &indices_sorted });
    let buffers = Buffers { keys: &keys, keys_sorted: &keys_sorted, payload };
    let sort = Sort::new(&gpu.device, n, Key::F32, 0..32, &buffers)?;

    // The flags would be a shader's; here they follow from the order.
    let mut flags = numbers.clone();
    flags.sort_by(f32::total_cmp);
    let flags: Vec<u32> = flags.iter().map(|number| u32::from(*number >= 0.0)).collect();
    let (flags, kept) = (gpu.buffer(n, &flags), gpu.buffer(n, &[]));
    let tuning = ScanTuning::for_compaction(&gpu.device, n.into());
    let compact = Compact::new(&gpu.device, Flags::Words, tuning)?;
    let scratch = compact.scratch(&gpu.device, n.into());
    let inputs = (&keys_sorted, &flags);
    let selection = compact.prepare(&gpu.device, inputs, n.into(), &kept, &scratch)?;

    // Both in one submission; nothing is read back between them.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    sort.encode(&mut encoder);
    selection.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    let (count, offset) = selection.count();
    let count = gpu.read(count, offset, 1)?[0];
    let floats = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect::<Vec<f32>>();
    println!("in order    {:?}", floats(gpu.read(&keys_sorted, 0, n)?));
    println!("from        {:?}", gpu.read(&indices_sorted, 0, n)?);
    println!("kept        {:?}", floats(gpu.read(&kept, 0, count)?));
    Ok(())
}

impl Gpu {
    /// Opens the first adapter with subgroups.
    fn open() -> anyhow::Result<Self> {
        let instance = wgpu::Instance::default();
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let found = adapters.into_iter().find(|a| a.features().contains(wgpu::Features::SUBGROUP));
        let adapter = found.context("no adapter has subgroups")?;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                // Subgroups' own barriers, where there are any: many keys are sorted sooner.
                required_features: wgpu::Features::SUBGROUP
                    | (adapter.features() & wgpu::Features::SUBGROUP_BARRIER),
                required_limits: adapter.limits(),
                ..Default::default()
            }))?;
        Ok(Self { device, queue })
    }

    /// A buffer for n words that begins with those given.
    fn buffer(&self, n: u32, words: &[u32]) -> Buffer {
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: u64::from(words_of(n)) * 4,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    /// Reads so many words from an offset in bytes on.
    fn read(&self, buffer: &Buffer, offset: u64, words: u32) -> anyhow::Result<Vec<u32>> {
        if words == 0 {
            return Ok(Vec::new());
        }
        let size = u64::from(words) * 4;
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(MapMode::Read, |_| {});
        self.device.poll(PollType::wait_indefinitely())?;
        let view = staging.slice(..).get_mapped_range()?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}
