//! An open device: buffers, pipelines, dispatches and timestamps, with every error as a value.
//!
//! Input: an adapter; naga modules with bindings. Output: bytes and ticks. Of launches it knows what
//! their buffers hold at first, and nothing else.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wgpu::{
    Adapter, BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages,
    CommandEncoder, ComputePass, ComputePassDescriptor, ComputePassTimestampWrites,
    ComputePipeline, ComputePipelineDescriptor, Device, DeviceDescriptor, ExperimentalFeatures,
    Features, MapMode, PipelineCompilationOptions, PipelineLayoutDescriptor, PollType,
    QuerySetDescriptor, QueryType, Queue, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

use super::super::sampling::Ticks;
use super::super::{RunError, RunErrorKind};
use super::{trusted, uniforms};
use crate::kernel::Launch;
use crate::kernel::generate::Fill;
use crate::program::guarded;

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
    pipeline: ComputePipeline,
    groups: Vec<(u32, BindGroup)>,
    immediates: Vec<u8>,
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
        Ok(Self { device, queue, uniforms_as_storage, mishaps })
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

    /// Makes a pipeline and binds its buffers.
    pub(super) fn bind(&self, shader: &Shader<'_>, slots: &[Slot<'_>]) -> Result<Bound, RunError> {
        let groups_max = self.device.limits().max_bind_groups;
        if let Some(slot) = slots.iter().find(|slot| slot.group >= groups_max) {
            let message = format!(
                "{} binds @group({}); the device has {groups_max} bind groups, numbered from 0",
                shader.file, slot.group
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        let (features, limits) = (self.device.features(), self.device.limits());
        super::features::check(shader.file, shader.module, features, &limits)?;
        let stored =
            self.uniforms_as_storage.then(|| uniforms::as_storage(shader.module, slots, &limits));
        let (module, slots) =
            stored.flatten().unwrap_or_else(|| (shader.module.clone(), slots.to_vec()));
        let descriptor = ShaderModuleDescriptor {
            label: Some(shader.file),
            source: ShaderSource::Naga(Cow::Owned(module)),
        };
        let made = guarded(shader.file, "translated for the driver", || {
            let module = if shader.trusted {
                trusted::shader_module(&self.device, descriptor)
            } else {
                self.device.create_shader_module(descriptor)
            };
            self.pipeline(&module, shader, &slots)
        });
        let bound =
            made.map_err(|error| RunError::new(RunErrorKind::Panicked, error.to_string()))?;
        self.check(&format!("making a pipeline of {}", shader.file))?;
        Ok(bound)
    }

    fn pipeline(
        &self,
        module: &wgpu::ShaderModule,
        shader: &Shader<'_>,
        slots: &[Slot<'_>],
    ) -> Bound {
        let count = slots.iter().map(|slot| slot.group + 1).max().unwrap_or(0);
        let mut layouts = Vec::new();
        let mut groups = Vec::new();
        for group in 0..count {
            let members = || slots.iter().filter(move |slot| slot.group == group);
            let entries: Vec<BindGroupLayoutEntry> = members().map(layout_entry).collect();
            let layout = self.device.create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            });
            let entries: Vec<BindGroupEntry<'_>> = members()
                .map(|slot| BindGroupEntry {
                    binding: slot.binding,
                    resource: slot.buffer.as_entire_binding(),
                })
                .collect();
            let descriptor =
                BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
            groups.push((group, self.device.create_bind_group(&descriptor)));
            layouts.push(layout);
        }
        let layouts: Vec<Option<&wgpu::BindGroupLayout>> = layouts.iter().map(Some).collect();
        let layout = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts,
            immediate_size: u32::try_from(shader.immediates.len()).unwrap_or(u32::MAX),
        });
        let pipeline = self.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(shader.entry_point),
            layout: Some(&layout),
            module,
            entry_point: Some(shader.entry_point),
            compilation_options: PipelineCompilationOptions {
                zero_initialize_workgroup_memory: shader.zero_memory,
                ..PipelineCompilationOptions::default()
            },
            cache: None,
        });
        Bound { pipeline, groups, immediates: shader.immediates.to_vec() }
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

fn layout_entry(slot: &Slot<'_>) -> BindGroupLayoutEntry {
    let ty = match slot.kind {
        SlotKind::Uniform => BufferBindingType::Uniform,
        SlotKind::ReadOnly => BufferBindingType::Storage { read_only: true },
        SlotKind::ReadWrite => BufferBindingType::Storage { read_only: false },
    };
    BindGroupLayoutEntry {
        binding: slot.binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
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
