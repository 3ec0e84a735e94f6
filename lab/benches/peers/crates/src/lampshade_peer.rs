//! `lampshade`, through wgpu 30.

use anyhow::{Context, Result, bail};
use lampshade::{Compactor, KeyValueSoaSorter, Reducer, Scanner, Sorter, U32Reduction};
use wgpu::{Buffer, BufferUsages, CommandEncoder, Device, Features, Queue};

use crate::{Side, Work, key, second};

/// A device with one way of working on it.
pub struct Peer {
    device: Device,
    queue: Queue,
    work: Work,
    n: u32,
    calls: Calls,
    sets: Vec<Set>,
    next: usize,
    period_ns: f64,
}

/// The crate's objects.
enum Calls {
    /// One for each copy, as each remembers its buffers.
    Pairs(Vec<KeyValueSoaSorter>),
    Keys(Sorter),
    Scan(Scanner),
    Reduce(Reducer),
    Compact(Compactor),
}

/// A copy of the buffers: inputs that stay, and what is worked on or written.
struct Set {
    keys: Buffer,
    second: Buffer,
    first_out: Buffer,
    second_out: Buffer,
}

impl Peer {
    pub fn new(work: Work, n: u32, sets: usize) -> Result<Self> {
        let instance = wgpu::Instance::default();
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let adapter = adapters.into_iter().next().context("there is no adapter")?;
        let wanted = Features::SUBGROUP
            | Features::TIMESTAMP_QUERY
            | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features: adapter.features() & wanted,
                required_limits: adapter.limits(),
                ..Default::default()
            }))?;
        let period_ns = f64::from(queue.get_timestamp_period());
        let buffer = |words: u32| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: u64::from(words) * 4,
                usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let keys: Vec<u32> = (0..u64::from(n)).map(key).collect();
        let other: Vec<u32> = (0..u64::from(n)).map(|i| second(work, i)).collect();
        let mut copies = Vec::new();
        for _ in 0..sets {
            let set = Set {
                keys: buffer(n),
                second: buffer(n),
                first_out: buffer(if work == Work::Reduce { 1 } else { n }),
                second_out: buffer(if work == Work::SortPairs { n } else { 1 }),
            };
            for (buffer, words) in [(&set.keys, &keys), (&set.second, &other)] {
                for (index, part) in words.chunks(1 << 24).enumerate() {
                    queue.write_buffer(buffer, (index as u64) << 26, bytemuck::cast_slice(part));
                    queue.submit([]);
                    device.poll(wgpu::PollType::wait_indefinitely())?;
                }
            }
            copies.push(set);
        }
        let calls = match work {
            Work::SortPairs => Calls::Pairs(
                copies
                    .iter()
                    .map(|set| {
                        let mut sorter = KeyValueSoaSorter::new(&device, &queue);
                        sorter.prepare_sort(&set.first_out, &set.second_out, n)?;
                        Ok(sorter)
                    })
                    .collect::<Result<_, lampshade::Error>>()?,
            ),
            Work::SortKeys => Calls::Keys(Sorter::new(&device, &queue)),
            Work::Scan => Calls::Scan(Scanner::new(&device, &queue)),
            Work::Reduce => Calls::Reduce(Reducer::new(&device, &queue)),
            Work::Compact => Calls::Compact(Compactor::new(&device, &queue)),
        };
        Ok(Self { device, queue, work, n, calls, sets: copies, next: 0, period_ns })
    }

    /// Puts unordered keys back where a sort works in place.
    fn restore(&self, encoder: &mut CommandEncoder) {
        let set = &self.sets[self.next];
        let bytes = u64::from(self.n) * 4;
        if self.work == Work::SortPairs {
            encoder.copy_buffer_to_buffer(&set.keys, 0, &set.first_out, 0, bytes);
            encoder.copy_buffer_to_buffer(&set.second, 0, &set.second_out, 0, bytes);
        }
    }

    fn call(&mut self, encoder: &mut CommandEncoder) -> Result<()> {
        let Set { keys, second, first_out, second_out } = &self.sets[self.next];
        match &mut self.calls {
            Calls::Pairs(sorters) => {
                sorters[self.next].record_reserved_sort(encoder, first_out, second_out, self.n)?;
            }
            Calls::Keys(sorter) => sorter.record_sort(encoder, keys, first_out, self.n)?,
            Calls::Scan(scanner) => scanner.record_scan(encoder, keys, first_out, self.n)?,
            Calls::Reduce(reducer) => {
                reducer.record_reduce(encoder, keys, first_out, self.n, U32Reduction::Sum)?;
            }
            Calls::Compact(compactor) => {
                compactor.record_compact(encoder, keys, second, first_out, second_out, self.n)?;
            }
        }
        self.next = (self.next + 1) % self.sets.len();
        Ok(())
    }

    fn read(&self, buffer: &Buffer) -> Result<Vec<u32>> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let view = staging.slice(..).get_mapped_range()?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}

impl Side for Peer {
    fn sample(&mut self, repeats: u32) -> Result<Vec<f64>> {
        let queries = self.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2 * repeats,
        });
        let resolved = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(repeats) * 16,
            usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        // The first call is not timed.
        self.restore(&mut encoder);
        self.call(&mut encoder)?;
        for repeat in 0..repeats {
            self.restore(&mut encoder);
            encoder.write_timestamp(&queries, 2 * repeat);
            self.call(&mut encoder)?;
            encoder.write_timestamp(&queries, 2 * repeat + 1);
        }
        encoder.resolve_query_set(&queries, 0..2 * repeats, &resolved, 0);
        self.queue.submit([encoder.finish()]);
        let words = self.read(&resolved)?;
        let tick = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let times = (0..repeats as usize)
            .map(|i| tick(4 * i + 2).saturating_sub(tick(4 * i)) as f64 * self.period_ns);
        Ok(times.collect())
    }

    fn outputs(&mut self) -> Result<[Vec<u32>; 2]> {
        if self.sets.is_empty() {
            bail!("there are no buffers");
        }
        Ok([self.read(&self.sets[0].first_out)?, self.read(&self.sets[0].second_out)?])
    }
}
