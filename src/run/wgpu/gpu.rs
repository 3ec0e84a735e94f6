//! An open device: buffers, dispatches and timestamps, with every error as a value.
//!
//! Input: an adapter; pipelines, which `pipelines` makes. Output: bytes and ticks. Of launches it knows what
//! their buffers hold at first, and nothing else.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wgpu::{
    Adapter, BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePass,
    ComputePassDescriptor, ComputePassTimestampWrites, ComputePipeline, Device, DeviceDescriptor,
    ExperimentalFeatures, Features, MapMode, PollType, QuerySetDescriptor, QueryType, Queue,
};

use super::super::sampling::Ticks;
use super::super::{RunError, RunErrorKind};
use super::pipelines::Pipelines;
use super::uniforms;
use crate::kernel::Launch;
use crate::kernel::generate::Fill;

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
    .union(Features::IMMEDIATES);

/// Names features that are not asked for, separated by commas: what lanescope does on a device
/// without them can then be seen on one that has them.
const HIDING: &str = "LANESCOPE_WITHOUT_FEATURES";

/// The features that [`HIDING`] names, by wgpu's names.
fn hidden() -> Features {
    let names = std::env::var(HIDING).unwrap_or_default();
    let known = names.split(',').filter_map(|name| Features::from_name(name.trim()));
    known.fold(Features::empty(), Features::union)
}

/// How long a submission may take before this process says that it hangs. The parent's own limit,
/// `--time-limit`, comes first, and holds also where the driver does not come back from waiting.
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
pub(super) struct Gpu {
    pub(super) device: Device,
    pub(super) queue: Queue,
    /// Whether uniform buffers are bound as storage.
    pub(super) uniforms_as_storage: bool,
    /// What was compiled.
    pub(super) pipelines: RefCell<Pipelines>,
    mishaps: Arc<Mutex<Mishaps>>,
}

/// A resource that a pipeline binds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    pub(super) group: u32,
    pub(super) binding: u32,
    pub(super) kind: SlotKind,
    pub(super) buffer: &'a Buffer,
}

/// How a buffer is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    Uniform,
    ReadOnly,
    ReadWrite,
}

/// A pipeline with its buffers bound.
pub(super) struct Bound {
    pub(super) pipeline: ComputePipeline,
    pub(super) groups: Vec<(u32, BindGroup)>,
    pub(super) immediates: Vec<u8>,
}

/// The grid of a dispatch.
#[derive(Clone, Debug)]
pub(super) enum Grid {
    Direct([u32; 3]),
    Indirect(Buffer, u64),
}

/// What a sample runs.
///
/// A device that has waited, if only for the last sample to be read, is not at its speed at once: so
/// the same work goes before, in the same submission, without timestamps.
pub(super) struct Sample<'a> {
    /// The dispatches of a launch.
    pub(super) work: &'a [(&'a Bound, &'a Grid)],
    /// How often they run between the timestamps.
    pub(super) repeats: u32,
    /// How often they run before.
    pub(super) before: u32,
    /// What is copied before either, from and to: the first contents of buffers.
    pub(super) resets: &'a [(Buffer, Buffer)],
}

impl<'a> Sample<'a> {
    /// A sample of dispatches that run once, where nothing but an order of magnitude is wanted.
    pub(super) fn once(work: &'a [(&'a Bound, &'a Grid)]) -> Self {
        Self { work, repeats: 1, before: 0, resets: &[] }
    }

    /// Writes down the resets.
    pub(super) fn reset(&self, encoder: &mut CommandEncoder) {
        for (from, to) in self.resets {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
        }
    }

    /// Writes down the resets, and a pass of the dispatches.
    pub(super) fn record(
        &self,
        encoder: &mut CommandEncoder,
        repeats: u32,
        timestamp_writes: Option<ComputePassTimestampWrites<'_>>,
    ) {
        self.reset(encoder);
        let descriptor = ComputePassDescriptor { label: None, timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        for _ in 0..repeats {
            for (bound, grid) in self.work {
                dispatch(&mut pass, bound, grid);
            }
        }
    }
}

/// What to make a pipeline from.
#[derive(Clone, Copy)]
pub(super) struct Shader<'a> {
    pub(super) file: &'a str,
    pub(super) module: &'a naga::Module,
    pub(super) entry_point: &'a str,
    /// Whether the module goes without run-time checks.
    pub(super) trusted: bool,
    /// Whether workgroup memory begins as zeros.
    pub(super) zero_memory: bool,
    pub(super) immediates: &'a [u8],
}

impl Gpu {
    /// Opens a device with every optional feature that the adapter has and its own limits.
    pub(super) fn open(adapter: &Adapter) -> Result<Self, RunError> {
        let descriptor = DeviceDescriptor {
            label: Some("lanescope"),
            required_features: (adapter.features() & FEATURES) - hidden(),
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
        Ok(Self { device, queue, uniforms_as_storage, pipelines, mishaps })
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

    /// Makes a buffer that shaders use, with its content.
    pub(super) fn buffer(&self, label: &str, usage: BufferUsages, size: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: Some(label),
            size: size.next_multiple_of(4).max(4),
            usage: usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        })
    }

    /// Makes a buffer of a launch, with its first contents.
    pub(super) fn filled(
        &self,
        launch: &Launch,
        buffer: &crate::kernel::Buffer,
        usage: BufferUsages,
    ) -> Buffer {
        let made = self.buffer(&buffer.name, usage, buffer.size);
        if buffer.fill == Fill::Zero {
            // wgpu's buffers begin as zeros, which need not be sent.
            return made;
        }
        for (index, part) in (0_u64..).zip(launch.contents(buffer).chunks(WRITE_BYTES)) {
            self.queue.write_buffer(&made, index * WRITE_BYTES as u64, part);
            if part.len() == WRITE_BYTES {
                // Mishaps are noted, and `check` tells them.
                self.queue.submit([]);
            }
        }
        made
    }

    /// Runs dispatches once, in one pass, and waits.
    pub(super) fn run(&self, doing: &str, work: &[(&Bound, &Grid)]) -> Result<(), RunError> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            for (bound, grid) in work {
                dispatch(&mut pass, bound, grid);
            }
        }
        self.submit(encoder, doing)
    }

    /// Runs dispatches in a pass between two timestamps, right after one without.
    pub(super) fn run_timed(&self, doing: &str, sample: &Sample<'_>) -> Result<Ticks, RunError> {
        let queries = self.device.create_query_set(&QuerySetDescriptor {
            label: None,
            ty: QueryType::Timestamp,
            count: 2,
        });
        let resolved = self.buffer("timestamps", BufferUsages::QUERY_RESOLVE, 16);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if sample.before > 0 {
            sample.record(&mut encoder, sample.before, None);
        }
        let stamps = ComputePassTimestampWrites {
            query_set: &queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        };
        sample.record(&mut encoder, sample.repeats, Some(stamps));
        encoder.resolve_query_set(&queries, 0..2, &resolved, 0);
        let bytes = self.read_after(encoder, doing, &resolved, 16)?;
        let words = bytes.as_chunks::<8>().0;
        match words {
            [begin, end] => {
                Ok(Ticks { begin: u64::from_le_bytes(*begin), end: u64::from_le_bytes(*end) })
            }
            _ => Err(RunError::new(RunErrorKind::Driver, "two timestamps were not read back")),
        }
    }

    fn submit(&self, encoder: CommandEncoder, doing: &str) -> Result<(), RunError> {
        let submitted = catch_unwind(AssertUnwindSafe(|| self.queue.submit([encoder.finish()])));
        self.check(doing)?;
        let Ok(index) = submitted else {
            return Err(RunError::new(RunErrorKind::Driver, format!("{doing}: wgpu panicked")));
        };
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

    /// Reads the first `size` bytes of a buffer.
    pub(super) fn read(&self, buffer: &Buffer, size: u64) -> Result<Vec<u8>, RunError> {
        let encoder = self.device.create_command_encoder(&Default::default());
        self.read_after(encoder, "reading back", buffer, size)
    }

    /// Runs commands, waits, and reads the first `size` bytes of a buffer.
    pub(super) fn read_after(
        &self,
        mut encoder: CommandEncoder,
        doing: &str,
        buffer: &Buffer,
        size: u64,
    ) -> Result<Vec<u8>, RunError> {
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: Some("read back"),
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
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

/// Writes down a dispatch.
pub(super) fn dispatch(pass: &mut ComputePass<'_>, bound: &Bound, grid: &Grid) {
    pass.set_pipeline(&bound.pipeline);
    for (index, group) in &bound.groups {
        pass.set_bind_group(*index, group, &[]);
    }
    if !bound.immediates.is_empty() {
        pass.set_immediates(0, &bound.immediates);
    }
    match grid {
        Grid::Direct([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
        Grid::Indirect(buffer, offset) => pass.dispatch_workgroups_indirect(buffer, *offset),
    }
}
