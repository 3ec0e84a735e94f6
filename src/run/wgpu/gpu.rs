//! An open device: buffers, dispatches and timestamps, with every error as a value.
//!
//! Input: an adapter; pipelines, which `pipelines` makes. Output: what [`Gpu`]
//! asks for: bytes and ticks. Of launches it knows nothing.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wgpu::{
    Adapter, BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePass,
    ComputePassDescriptor, ComputePassTimestampWrites, ComputePipeline, Device, DeviceDescriptor,
    ExperimentalFeatures, Features, MapMode, PollType, QuerySet, QuerySetDescriptor, QueryType,
    Queue,
};

use super::kept::Pipelines;
use super::memory::WgpuMemory;
use super::uniforms;
use crate::instrument::Instrumented;
use crate::program::catch_panic;
use crate::run::gpu::{
    Clock, Gpu, GpuDispatch, GpuLimits, GpuSample, Grid, Shader, Slot, Stamps, TextureUses, Uses,
};
use crate::run::sampling::Ticks;
use crate::run::{RunError, RunErrorKind};
use crate::texture::{SamplerSettings, TextureLayout};

/// Optional features that are asked for where the adapter has them.
const FEATURES: Features = Features::SUBGROUP
    .union(Features::SUBGROUP_BARRIER)
    .union(Features::TIMESTAMP_QUERY)
    .union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(Features::TIMESTAMP_QUERY_INSIDE_PASSES)
    .union(Features::SHADER_F16)
    .union(Features::SHADER_F64)
    .union(Features::SHADER_INT64)
    .union(Features::SHADER_INT64_ATOMIC_MIN_MAX)
    .union(Features::SHADER_INT64_ATOMIC_ALL_OPS)
    .union(Features::SHADER_FLOAT32_ATOMIC)
    .union(Features::IMMEDIATES)
    .union(Features::FLOAT32_FILTERABLE)
    .union(Features::BGRA8UNORM_STORAGE)
    .union(Features::TEXTURE_FORMAT_16BIT_NORM)
    .union(Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES)
    .union(Features::TEXTURE_ATOMIC)
    .union(Features::TEXTURE_INT64_ATOMIC);

/// Names features that are not asked for, separated by commas: what lanescope does on a device
/// without them can then be seen on one that has them.
const HIDING: &str = "LANESCOPE_WITHOUT_FEATURES";

/// The features that [`HIDING`] names, by wgpu's names.
fn read_hidden_features() -> Features {
    let names = std::env::var(HIDING).unwrap_or_default();
    let known = names.split(',').filter_map(|name| Features::from_name(name.trim()));
    known.fold(Features::empty(), Features::union)
}

/// How long a submission may take before this process says that it hangs. The parent's own limit of
/// silence comes first, and holds also where the driver does not come back from waiting.
pub(super) const SUBMISSION_LIMIT: Duration = Duration::from_hours(1);

/// Bytes that are sent at once: what stages them takes as much.
const WRITE_BYTES: usize = 64 << 20;

/// What went wrong outside a call that could say so.
#[derive(Clone, Debug, Default)]
struct Mishaps {
    error: Option<(RunErrorKind, String)>,
    lost: Option<String>,
}

/// An open device.
pub struct WgpuDevice {
    pub(super) adapter: Adapter,
    pub(super) device: Device,
    pub(super) queue: Queue,
    /// Whether uniform buffers are bound as storage.
    pub(super) uniforms_as_storage: bool,
    /// What was compiled.
    pub(super) pipelines: RefCell<Pipelines>,
    mishaps: Arc<Mutex<Mishaps>>,
}

impl std::fmt::Debug for WgpuDevice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WgpuDevice").field("device", &self.device).finish_non_exhaustive()
    }
}

/// A pipeline with its buffers bound.
#[derive(Clone)]
pub struct Bound {
    pub(super) pipeline: ComputePipeline,
    pub(super) groups: Vec<(u32, BindGroup)>,
    pub(super) immediates: Vec<u8>,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Bound").field("pipeline", &self.pipeline).finish_non_exhaustive()
    }
}

/// A sample, kept to be encoded anew each time: command buffers run once.
pub struct Recorded {
    work: Vec<(Bound, Grid<WgpuMemory>)>,
    repeats: u32,
    before: u32,
    resets: Vec<(WgpuMemory, WgpuMemory)>,
    stamps: Stamps,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Recorded")
            .field("dispatches", &self.work.len())
            .finish_non_exhaustive()
    }
}

/// What to make a pipeline from.
#[derive(Clone, Copy)]
pub(super) struct ModuleSource<'a> {
    pub(super) file: &'a str,
    pub(super) module: &'a naga::Module,
    pub(super) entry_point: &'a str,
    /// Whether the module goes without run-time checks.
    pub(super) trusted: bool,
    /// Whether workgroup memory begins as zeros.
    pub(super) zero_memory: bool,
    pub(super) immediates: &'a [u8],
}

impl WgpuDevice {
    /// Opens a device with every optional feature that the adapter has and its own limits.
    pub(super) fn open(adapter: &Adapter) -> Result<Self, RunError> {
        let descriptor = DeviceDescriptor {
            label: Some("lanescope"),
            required_features: (adapter.features() & FEATURES) - read_hidden_features(),
            required_limits: adapter.limits(),
            experimental_features: ExperimentalFeatures::disabled(),
            ..DeviceDescriptor::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) =
            opened.map_err(|error| RunError::new(RunErrorKind::NoDevice, error.to_string()))?;
        let mishaps = Arc::new(Mutex::new(Mishaps::default()));
        let noted = Arc::clone(&mishaps);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let kind = match &error {
                wgpu::Error::OutOfMemory { .. } => RunErrorKind::OutOfMemory,
                wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => {
                    RunErrorKind::Driver
                }
            };
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.error.get_or_insert((kind, error.to_string()));
        }));
        let noted = Arc::clone(&mishaps);
        device.set_device_lost_callback(move |reason, message| {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.lost.get_or_insert(format!("{reason:?}: {message}"));
        });
        let uniforms_as_storage = uniforms::folds_values(&adapter.get_info());
        let pipelines = RefCell::default();
        let adapter = adapter.clone();
        Ok(Self { adapter, device, queue, uniforms_as_storage, pipelines, mishaps })
    }

    /// Fails with what went wrong since the last call, if anything did.
    pub(super) fn check(&self, doing: &str) -> Result<(), RunError> {
        let mut mishaps = self.mishaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = &mishaps.lost {
            let message = format!("the device was lost while {doing}: {reason}");
            return Err(RunError::new(RunErrorKind::DeviceLost, message));
        }
        match mishaps.error.take() {
            Some((kind, message)) => Err(RunError::new(kind, format!("{doing} failed: {message}"))),
            None => Ok(()),
        }
    }

    /// Makes a buffer, all zero.
    fn make_buffer(&self, label: &str, usage: BufferUsages, size: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: Some(label),
            size: size.next_multiple_of(4).max(4),
            usage: usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        })
    }

    fn submit(&self, encoder: CommandEncoder, doing: &str) -> Result<(), RunError> {
        let submitted = catch_panic(|| self.queue.submit([encoder.finish()]));
        self.check(doing)?;
        let index = submitted.map_err(|payload| {
            RunError::new(RunErrorKind::Driver, format!("{doing}: wgpu panicked: {payload}"))
        })?;
        self.wait(index, doing)
    }

    fn wait(&self, index: wgpu::SubmissionIndex, doing: &str) -> Result<(), RunError> {
        let wait =
            PollType::Wait { submission_index: Some(index), timeout: Some(SUBMISSION_LIMIT) };
        let waited = self.device.poll(wait);
        self.check(doing)?;
        waited.map(drop).map_err(|error| {
            let message =
                format!("{doing} did not return within {} s ({error})", SUBMISSION_LIMIT.as_secs());
            RunError::new(RunErrorKind::TimeLimit, message)
        })
    }

    /// Runs commands, waits, and reads `size` bytes of a buffer after `offset`.
    pub(super) fn read_after(
        &self,
        mut encoder: CommandEncoder,
        doing: &str,
        buffer: &Buffer,
        (offset, size): (u64, u64),
    ) -> Result<Vec<u8>, RunError> {
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: Some("read back"),
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
        self.submit(encoder, doing)?;
        let outcome = Arc::new(Mutex::new(None));
        let told = Arc::clone(&outcome);
        staging.slice(..).map_async(MapMode::Read, move |result| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        let wait = PollType::Wait { submission_index: None, timeout: Some(SUBMISSION_LIMIT) };
        let waited = self.device.poll(wait);
        self.check("reading back")?;
        let mapped = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (waited, mapped) {
            (Ok(_), Some(Ok(()))) => {}
            (waited, mapped) => {
                let message = format!("a buffer cannot be read back: {waited:?}, {mapped:?}");
                return Err(RunError::new(RunErrorKind::Driver, message));
            }
        }
        let view = staging
            .slice(..)
            .get_mapped_range()
            .map_err(|error| RunError::new(RunErrorKind::Driver, format!("{error:?}")))?;
        let bytes = view.to_vec();
        drop(view);
        staging.unmap();
        Ok(bytes)
    }
}

impl Gpu for WgpuDevice {
    type Buffer = WgpuMemory;
    type Kernel = Bound;
    type Recorded = Recorded;

    const TAKES_INDIRECT_GRIDS: bool = true;

    fn limits(&self) -> GpuLimits {
        let limits = self.device.limits();
        GpuLimits {
            storage_bytes_max: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            uniform_bytes_max: limits.max_uniform_buffer_binding_size.min(limits.max_buffer_size),
            memory_bytes: None,
            workgroups_max: [limits.max_compute_workgroups_per_dimension; 3],
            subgroups: self.device.features().contains(Features::SUBGROUP),
        }
    }

    fn clock(&self) -> Option<Clock> {
        let period_ns = f64::from(self.queue.get_timestamp_period());
        let stamps = self.device.features().contains(Features::TIMESTAMP_QUERY);
        stamps.then_some(Clock::Counter { period_ns })
    }

    fn buffer(&self, name: &str, size: u64, uses: Uses) -> Result<WgpuMemory, RunError> {
        let mut usage = BufferUsages::STORAGE;
        usage.set(BufferUsages::UNIFORM, uses.uniform);
        usage.set(BufferUsages::INDIRECT, uses.indirect);
        let made = self.make_buffer(name, usage, size);
        self.check(&format!("making the buffer `{name}` of {size} bytes"))?;
        Ok(WgpuMemory::Buffer(made))
    }

    fn texture(
        &self,
        name: &str,
        layout: &TextureLayout,
        uses: TextureUses,
    ) -> Result<WgpuMemory, RunError> {
        self.make_texture(name, layout, uses).map(WgpuMemory::Texture)
    }

    fn sampler(&self, name: &str, settings: &SamplerSettings) -> Result<WgpuMemory, RunError> {
        let (sampler, kind) = self.make_sampler(name, settings)?;
        Ok(WgpuMemory::Sampler(sampler, kind))
    }

    fn alike(&self, name: &str, other: &WgpuMemory) -> Result<WgpuMemory, RunError> {
        match other {
            WgpuMemory::Texture(texture) => self.texture(name, &texture.layout, texture.uses),
            WgpuMemory::Buffer(_) | WgpuMemory::Sampler(..) => {
                self.buffer(name, self.size(other), Uses::default())
            }
        }
    }

    fn size(&self, buffer: &WgpuMemory) -> u64 {
        match buffer {
            WgpuMemory::Buffer(buffer) => buffer.size(),
            WgpuMemory::Texture(texture) => texture.layout.bytes(),
            WgpuMemory::Sampler(..) => 0,
        }
    }

    fn write(&self, buffer: &WgpuMemory, offset: u64, bytes: &[u8]) -> Result<(), RunError> {
        if let WgpuMemory::Texture(texture) = buffer {
            self.write_texels(texture, bytes);
            return self.check(&format!("filling the texture `{}`", texture.name));
        }
        let buffer = buffer.buffer()?;
        for (index, part) in (0_u64..).zip(bytes.chunks(WRITE_BYTES)) {
            self.queue.write_buffer(buffer, offset + index * WRITE_BYTES as u64, part);
            if part.len() == WRITE_BYTES {
                self.queue.submit([]);
            }
        }
        self.check("filling a buffer")
    }

    fn read(&self, buffer: &WgpuMemory, offset: u64, size: u64) -> Result<Vec<u8>, RunError> {
        if let WgpuMemory::Texture(texture) = buffer {
            return self.read_texels(texture);
        }
        let buffer = buffer.buffer()?;
        let encoder = self.device.create_command_encoder(&Default::default());
        self.read_after(encoder, "reading back", buffer, (offset, size))
    }

    fn copy(&self, from: &WgpuMemory, to: &WgpuMemory) -> Result<(), RunError> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encode_copy(&mut encoder, from, to);
        self.queue.submit([encoder.finish()]);
        self.check("copying a buffer")
    }

    fn clear(&self, buffer: &WgpuMemory) -> Result<(), RunError> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(buffer.buffer()?, 0, None);
        self.queue.submit([encoder.finish()]);
        self.check("clearing a buffer")
    }

    fn compile(
        &self,
        shader: &Shader<'_>,
        slots: &[Slot<'_, WgpuMemory>],
    ) -> Result<Bound, RunError> {
        let source = ModuleSource {
            file: shader.file(),
            module: shader.counting.map_or(shader.program.module(), Instrumented::module),
            entry_point: shader.entry_point(),
            trusted: shader.trusted,
            zero_memory: shader.zero_memory,
            immediates: shader.immediates,
        };
        self.bind(&source, slots)
    }

    fn run(&self, work: &[GpuDispatch<'_, Self>], doing: &str) -> Result<(), RunError> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            for (bound, grid) in work {
                dispatch(&mut pass, bound, grid);
            }
        }
        self.submit(encoder, doing)
    }

    fn record(&self, sample: &GpuSample<'_, Self>, _: &str) -> Result<Recorded, RunError> {
        let GpuSample { work, repeats, before, resets, stamps } = sample;
        Ok(Recorded {
            work: work.iter().map(|(bound, grid)| ((*bound).clone(), (*grid).clone())).collect(),
            repeats: *repeats,
            before: *before,
            resets: resets.to_vec(),
            stamps: *stamps,
        })
    }

    fn play(&self, recorded: &Recorded, doing: &str) -> Result<Vec<Ticks>, RunError> {
        let inside = self.device.features().contains(Features::TIMESTAMP_QUERY_INSIDE_PASSES);
        let dispatches = recorded.work.len() * recorded.repeats as usize;
        let (count, step) = match recorded.stamps {
            Stamps::Around => (2, 2),
            Stamps::Between if inside => (dispatches + 1, 1),
            Stamps::Between => (2 * dispatches, 2),
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let queries = self.device.create_query_set(&QuerySetDescriptor {
            label: None,
            ty: QueryType::Timestamp,
            count,
        });
        let size = u64::from(count) * 8;
        let resolved = self.make_buffer("timestamps", BufferUsages::QUERY_RESOLVE, size);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if recorded.before > 0 {
            recorded.reset(&mut encoder);
            recorded.encode(&mut encoder, recorded.before, None);
        }
        recorded.reset(&mut encoder);
        match recorded.stamps {
            Stamps::Around => {
                let stamps = pass_stamps(&queries, 0);
                recorded.encode(&mut encoder, recorded.repeats, Some(stamps));
            }
            Stamps::Between if inside => recorded.encode_in_one_pass(&mut encoder, &queries),
            Stamps::Between => recorded.encode_in_passes(&mut encoder, &queries),
        }
        encoder.resolve_query_set(&queries, 0..count, &resolved, 0);
        let bytes = self.read_after(encoder, doing, &resolved, (0, size))?;
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let stamps: Vec<u64> = words.collect();
        let pairs = stamps.windows(2).step_by(step);
        Ok(pairs.map(|pair| Ticks { begin: pair[0], end: pair[1] }).collect())
    }
}

impl Recorded {
    /// Writes down the copies of first contents.
    fn reset(&self, encoder: &mut CommandEncoder) {
        for (from, to) in &self.resets {
            encode_copy(encoder, from, to);
        }
    }

    /// Writes down a pass of the dispatches, over and over.
    fn encode(
        &self,
        encoder: &mut CommandEncoder,
        repeats: u32,
        timestamp_writes: Option<ComputePassTimestampWrites<'_>>,
    ) {
        let descriptor = ComputePassDescriptor { label: None, timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        for _ in 0..repeats {
            for (bound, grid) in &self.work {
                dispatch(&mut pass, bound, grid);
            }
        }
    }

    /// Writes down a timestamp, and each dispatch with a timestamp after it.
    fn encode_in_one_pass(&self, encoder: &mut CommandEncoder, queries: &QuerySet) {
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.write_timestamp(queries, 0);
        let mut next = 1;
        for _ in 0..self.repeats {
            for (bound, grid) in &self.work {
                dispatch(&mut pass, bound, grid);
                pass.write_timestamp(queries, next);
                next += 1;
            }
        }
    }

    /// Writes down a pass for each dispatch, with timestamps at its beginning and its end.
    fn encode_in_passes(&self, encoder: &mut CommandEncoder, queries: &QuerySet) {
        let mut next = 0;
        for _ in 0..self.repeats {
            for (bound, grid) in &self.work {
                let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor {
                    label: None,
                    timestamp_writes: Some(pass_stamps(queries, next)),
                });
                dispatch(&mut pass, bound, grid);
                next += 2;
            }
        }
    }
}

/// Writes down a copy of all of a buffer, or of a texture, to its like.
fn encode_copy(encoder: &mut CommandEncoder, from: &WgpuMemory, to: &WgpuMemory) {
    match (from, to) {
        (WgpuMemory::Buffer(from), WgpuMemory::Buffer(to)) => {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
        }
        (WgpuMemory::Texture(from), WgpuMemory::Texture(to)) => from.copy_to(to, encoder),
        // Samplers hold nothing.
        _ => {}
    }
}

/// Timestamps at a pass's beginning and end.
fn pass_stamps(queries: &QuerySet, first: u32) -> ComputePassTimestampWrites<'_> {
    ComputePassTimestampWrites {
        query_set: queries,
        beginning_of_pass_write_index: Some(first),
        end_of_pass_write_index: Some(first + 1),
    }
}

/// Writes down a dispatch.
fn dispatch(pass: &mut ComputePass<'_>, bound: &Bound, grid: &Grid<WgpuMemory>) {
    pass.set_pipeline(&bound.pipeline);
    for (index, group) in &bound.groups {
        pass.set_bind_group(*index, group, &[]);
    }
    if !bound.immediates.is_empty() {
        pass.set_immediates(0, &bound.immediates);
    }
    match grid {
        Grid::Direct([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
        Grid::Indirect(buffer, offset) => {
            // What holds a grid was made as a buffer.
            if let WgpuMemory::Buffer(buffer) = buffer {
                pass.dispatch_workgroups_indirect(buffer, *offset);
            }
        }
    }
}
