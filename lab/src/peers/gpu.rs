//! A device with a timer, and what is timed on it.
//!
//! Input: part of an adapter's name. Output: buffers, contents, nanoseconds of passes.

use anyhow::{Context, Result, bail};
use lanescope::run::Runner as _;
use lanescope::run::back_end::WarmUpRule;
use lanescope::run::wgpu::WgpuRunner;
use wgpu::{
    Adapter, Buffer, BufferDescriptor, BufferUsages, ComputePass, ComputePassDescriptor,
    ComputePassTimestampWrites, Device, DeviceDescriptor, DeviceType, Features, Instance, MapMode,
    PollType, QuerySetDescriptor, QueryType, Queue,
};

/// Bytes that are written at once: what stages them takes as much.
const WRITE_BYTES: usize = 64 << 20;

/// An open device.
pub(crate) struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) name: String,
    period_ns: f64,
}

impl Gpu {
    /// Opens the first adapter whose name contains `name`; without one the first GPU, else the
    /// first adapter.
    pub(crate) fn open(name: Option<&str>) -> Result<Self> {
        let instance = Instance::default();
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let is_cpu = |adapter: &Adapter| adapter.get_info().device_type == DeviceType::Cpu;
        let found = match name {
            Some(name) => adapters.iter().find(|adapter| adapter.get_info().name.contains(name)),
            None => adapters.iter().find(|adapter| !is_cpu(adapter)).or(adapters.first()),
        };
        let adapter = found.context("there is no such adapter")?;
        let (device, queue) = pollster::block_on(adapter.request_device(&DeviceDescriptor {
            label: Some("peers"),
            required_features: Features::SUBGROUP
                | Features::TIMESTAMP_QUERY
                | (adapter.features() & Features::SUBGROUP_BARRIER),
            required_limits: adapter.limits(),
            ..DeviceDescriptor::default()
        }))?;
        let period_ns = f64::from(queue.get_timestamp_period());
        Ok(Self { device, queue, name: adapter.get_info().name, period_ns })
    }

    /// The copy rate as lanescope measures it for its records, in bytes a second.
    pub(crate) fn copy_rate(&self) -> Result<f64> {
        for number in 0..16 {
            let Ok(runner) = WgpuRunner::open(number, Some(WarmUpRule::Whole)) else { continue };
            if runner.device().name == self.name {
                return runner.device().copy_bytes_per_s.context("it has no timer");
            }
        }
        bail!("lanescope does not list {}", self.name)
    }

    /// A storage buffer of at least `bytes`, filled up to a multiple of 16.
    pub(crate) fn buffer(&self, bytes: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: bytes.max(16).next_multiple_of(16),
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Writes bytes to the beginning of a buffer.
    pub(crate) fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Result<()> {
        for (index, chunk) in (0_u64..).zip(bytes.chunks(WRITE_BYTES)) {
            self.queue.write_buffer(buffer, index * WRITE_BYTES as u64, chunk);
            let index = self.queue.submit([]);
            self.device.poll(PollType::Wait { submission_index: Some(index), timeout: None })?;
        }
        Ok(())
    }

    /// Reads the first `bytes` of a buffer, a multiple of four.
    pub(crate) fn read(&self, buffer: &Buffer, bytes: u64) -> Result<Vec<u8>> {
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: Some("read back"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
        let index = self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(MapMode::Read, |_| {});
        self.device.poll(PollType::Wait { submission_index: Some(index), timeout: None })?;
        let view = staging.slice(..).get_mapped_range()?;
        Ok(view.to_vec())
    }

    /// Nanoseconds between the beginning and the end of a pass that `record` fills, right after one
    /// that `warm_up` fills: a device that was idle takes a while to reach its speed.
    pub(crate) fn time(
        &self,
        warm_up: impl FnOnce(&mut ComputePass<'_>),
        record: impl FnOnce(&mut ComputePass<'_>),
    ) -> Result<f64> {
        let queries = self.device.create_query_set(&QuerySetDescriptor {
            label: None,
            ty: QueryType::Timestamp,
            count: 2,
        });
        let resolved = self.device.create_buffer(&BufferDescriptor {
            label: Some("timestamps"),
            size: 16,
            usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        warm_up(&mut encoder.begin_compute_pass(&ComputePassDescriptor::default()));
        record(&mut encoder.begin_compute_pass(&ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(ComputePassTimestampWrites {
                query_set: &queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
        }));
        encoder.resolve_query_set(&queries, 0..2, &resolved, 0);
        self.queue.submit([encoder.finish()]);
        let bytes = self.read(&resolved, 16)?;
        let [begin, end] = bytes.as_chunks::<8>().0 else { bail!("there are two timestamps") };
        let ticks = u64::from_le_bytes(*end).saturating_sub(u64::from_le_bytes(*begin));
        #[expect(clippy::cast_precision_loss, reason = "a pass takes far fewer than 2^53 ticks")]
        Ok(ticks as f64 * self.period_ns)
    }
}
