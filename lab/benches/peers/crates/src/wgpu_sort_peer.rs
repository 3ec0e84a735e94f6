//! `wgpu_sort`, through wgpu 0.19, the major that it asks for.

use std::num::NonZeroU32;

use anyhow::{Context, Result};
use wgpu_sort::utils::guess_workgroup_size;
use wgpu_sort::{GPUSorter, SortBuffers};
use wgpu19::{Buffer, BufferUsages, Device, Features, Queue};

use crate::{Side, Work, key, second};

/// A device with a sorter.
pub struct Peer {
    device: Device,
    queue: Queue,
    n: u32,
    sorter: GPUSorter,
    keys: Buffer,
    payload: Buffer,
    sets: Vec<SortBuffers>,
    next: usize,
    period_ns: f64,
}

impl Peer {
    pub fn new(n: u32, sets: usize) -> Result<Self> {
        let instance = wgpu19::Instance::default();
        let adapters = instance.enumerate_adapters(wgpu19::Backends::VULKAN);
        let adapter = adapters.into_iter().next().context("there is no adapter")?;
        let descriptor = wgpu19::DeviceDescriptor {
            label: None,
            required_features: Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor, None))?;
        let period_ns = f64::from(queue.get_timestamp_period());
        let width = pollster::block_on(guess_workgroup_size(&device, &queue));
        let sorter = GPUSorter::new(&device, width.context("no subgroup size works")?);
        let buffer = |word: fn(u64) -> u32| -> Result<Buffer> {
            let buffer = device.create_buffer(&wgpu19::BufferDescriptor {
                label: None,
                size: u64::from(n) * 4,
                usage: BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let words: Vec<u32> = (0..u64::from(n)).map(word).collect();
            for (index, part) in words.chunks(1 << 24).enumerate() {
                queue.write_buffer(&buffer, (index as u64) << 26, bytemuck::cast_slice(part));
                queue.submit([]);
                device.poll(wgpu19::Maintain::Wait);
            }
            Ok(buffer)
        };
        let (keys, payload) = (buffer(key)?, buffer(|i| second(Work::SortPairs, i))?);
        let length = NonZeroU32::new(n).context("there are no keys")?;
        let sets = (0..sets).map(|_| sorter.create_sort_buffers(&device, length)).collect();
        Ok(Self { device, queue, n, sorter, keys, payload, sets, next: 0, period_ns })
    }

    fn read(&self, buffer: &Buffer, bytes: u64) -> Result<Vec<u32>> {
        let staging = self.device.create_buffer(&wgpu19::BufferDescriptor {
            label: None,
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu19::MapMode::Read, |_| {});
        self.device.poll(wgpu19::Maintain::Wait);
        let view = staging.slice(..).get_mapped_range();
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}

impl Side for Peer {
    fn sample(&mut self, repeats: u32) -> Result<Vec<f64>> {
        let queries = self.device.create_query_set(&wgpu19::QuerySetDescriptor {
            label: None,
            ty: wgpu19::QueryType::Timestamp,
            count: 2 * repeats,
        });
        let resolved = self.device.create_buffer(&wgpu19::BufferDescriptor {
            label: None,
            size: u64::from(repeats) * 16,
            usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        // The first call is not timed.
        for call in 0..=repeats {
            let set = &self.sets[self.next];
            let bytes = u64::from(self.n) * 4;
            encoder.copy_buffer_to_buffer(&self.keys, 0, set.keys(), 0, bytes);
            encoder.copy_buffer_to_buffer(&self.payload, 0, set.values(), 0, bytes);
            if let Some(timed) = call.checked_sub(1) {
                encoder.write_timestamp(&queries, 2 * timed);
            }
            self.sorter.sort(&mut encoder, &self.queue, set, None);
            if let Some(timed) = call.checked_sub(1) {
                encoder.write_timestamp(&queries, 2 * timed + 1);
            }
            self.next = (self.next + 1) % self.sets.len();
        }
        encoder.resolve_query_set(&queries, 0..2 * repeats, &resolved, 0);
        self.queue.submit([encoder.finish()]);
        let words = self.read(&resolved, u64::from(repeats) * 16)?;
        let tick = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let times = (0..repeats as usize)
            .map(|i| tick(4 * i + 2).saturating_sub(tick(4 * i)) as f64 * self.period_ns);
        Ok(times.collect())
    }

    fn outputs(&mut self) -> Result<[Vec<u32>; 2]> {
        let bytes = u64::from(self.n) * 4;
        let set = &self.sets[0];
        Ok([self.read(set.keys(), bytes)?, self.read(set.values(), bytes)?])
    }
}
