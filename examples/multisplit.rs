//! Sorts a buffer of class ids on a GPU of your own: the permutation, and where each class begins.
//!
//! Input: class ids from 0 to 255 as arguments, or eight of them where there are none. Output: the
//! order on standard output. Exit code 1 where an id is out of range of `--classes`.
//!
//! `cargo run --release --example multisplit -- --classes 4 3 1 0 3 2 0`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use anyhow::Context;
use clap::Parser;
use lanescope::algorithms::multisplit::{Buffers, Multisplit, Order, check, words_of};
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, MapMode, PollType, Queue};

/// Sorts class ids.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many classes there are: ids lie below it.
    #[arg(long, default_value_t = 4)]
    classes: u32,
    /// Class ids.
    #[arg(default_values_t = [3, 1, 0, 3, 2, 0, 1, 3])]
    ids: Vec<u32>,
}

fn main() -> anyhow::Result<()> {
    let Arguments { classes, ids } = Arguments::parse();
    let n = u32::try_from(ids.len())?;
    // A device of your own: subgroup operations are all that is asked of it.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::SUBGROUP,
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    // Buffers of your own, in lengths that are multiples of four elements.
    let keys = buffer(&device, words_of(n));
    queue.write_buffer(&keys, 0, bytemuck::cast_slice(&ids));
    let [permutation, inverse] = [(); 2].map(|()| buffer(&device, words_of(n)));
    let (offsets, status) = (buffer(&device, classes + 1), buffer(&device, 1));
    let order = Order { permutation: &permutation, inverse: Some(&inverse) };
    let buffers = Buffers {
        keys: &keys,
        offsets: &offsets,
        status: &status,
        order: Some(order),
        pairs: None,
    };
    let split = Multisplit::new(&device, n, classes, &buffers)?;
    // An encoder of your own: other commands may stand before and after.
    let mut encoder = device.create_command_encoder(&Default::default());
    split.encode(&mut encoder);
    queue.submit([encoder.finish()]);
    check(read(&device, &queue, &status, 1)?[0], classes)?;
    let places = read(&device, &queue, &permutation, ids.len())?;
    let sorted: Vec<u32> = places.iter().map(|place| ids[*place as usize]).collect();
    println!("ids          {ids:?}");
    println!("permutation  {places:?}");
    println!("inverse      {:?}", read(&device, &queue, &inverse, ids.len())?);
    println!("in order     {sorted:?}");
    println!("offsets      {:?}", read(&device, &queue, &offsets, classes as usize + 1)?);
    Ok(())
}

fn buffer(device: &Device, words: u32) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: None,
        size: u64::from(words) * 4,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Reads the first words of a buffer back.
fn read(device: &Device, queue: &Queue, buffer: &Buffer, words: usize) -> anyhow::Result<Vec<u32>> {
    if words == 0 {
        return Ok(Vec::new());
    }
    let size = words as u64 * 4;
    let staging = device.create_buffer(&BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
    queue.submit([encoder.finish()]);
    staging.slice(..).map_async(MapMode::Read, |_| {});
    device.poll(PollType::wait_indefinitely())?;
    let view = staging.slice(..).get_mapped_range().ok().context("the buffer is not mapped")?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}
