//! A device and a queue that hand on what they are asked, and what they make.
//!
//! Input: wgpu's calls. Output: the same calls on the device that was wrapped. What stands for resources is `resource`'s,
//! encoders are `encoder`'s; what is kept of a dispatch is `session`'s.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::encoder::{CaptureCommandBuffer, CaptureEncoder};
use super::render::CaptureBundleEncoder;
use super::resource::*;
use super::session::{BufferEntry, Entry, Group, Pipeline, Session, TextureEntry};
use super::wgpu;
use super::wgpu::custom::*;
use crate::folder::ShaderText;
use crate::request::{CaptureRequest, RequestError};

/// Wraps a device and its queue where the environment asks for a capture, else gives them back as they are.
///
/// Everything that the program makes from then on goes through what is returned. Surfaces are configured with
/// [`plain`]'s device and presented with its queue.
///
/// # Errors
///
/// Where [`VARIABLE`](crate::VARIABLE) is set to words that ask for nothing that can be done.
pub fn wrap(
    device: wgpu::Device,
    queue: wgpu::Queue,
) -> Result<(wgpu::Device, wgpu::Queue), RequestError> {
    Ok(match CaptureRequest::from_environment()? {
        Some(request) => wrap_with(device, queue, request),
        None => (device, queue),
    })
}

/// Wraps a device and its queue for a capture that the program asks for itself.
pub fn wrap_with(
    device: wgpu::Device,
    queue: wgpu::Queue,
    request: CaptureRequest,
) -> (wgpu::Device, wgpu::Queue) {
    let session = Arc::new(Session::new(device, queue, request));
    let queue = CaptureQueue { session: Arc::clone(&session), submissions: Mutex::default() };
    let queue = Arc::new(queue);
    let device = CaptureDevice { session, queue: Arc::clone(&queue) };
    (wgpu::Device::from_custom(device), wgpu::Queue::from_custom(SharedQueue(queue)))
}

/// Says that a frame of the program ends; without a capture nothing happens.
pub fn end_frame(device: &wgpu::Device) {
    if let Some(device) = device.as_custom::<CaptureDevice>() {
        device.session.end_frame();
    }
}

/// The device and the queue that were wrapped, for surfaces and for what reaches below wgpu.
pub fn plain(device: &wgpu::Device, queue: &wgpu::Queue) -> (wgpu::Device, wgpu::Queue) {
    device.as_custom::<CaptureDevice>().map_or_else(
        || (device.clone(), queue.clone()),
        |device| (device.session.device.clone(), device.session.queue.clone()),
    )
}

/// The device.
#[derive(Debug)]
struct CaptureDevice {
    session: Arc<Session>,
    queue: Arc<CaptureQueue>,
}

/// The queue.
#[derive(Debug)]
struct CaptureQueue {
    session: Arc<Session>,
    /// wgpu's submissions by their number here, the last of them.
    submissions: Mutex<(u64, BTreeMap<u64, wgpu::SubmissionIndex>)>,
}

/// The queue as wgpu takes it.
#[derive(Debug)]
struct SharedQueue(Arc<CaptureQueue>);

/// How many submissions are known by their number: one that is waited for later has ended.
const SUBMISSIONS_KNOWN: u64 = 4096;

// Error scopes are a thread's own, and so are their guards.
thread_local! {
    static SCOPES: std::cell::RefCell<BTreeMap<u32, wgpu::ErrorScopeGuard>> =
        const { std::cell::RefCell::new(BTreeMap::new()) };
}

impl DeviceInterface for CaptureDevice {
    fn features(&self) -> wgpu::Features {
        self.session.device.features()
    }

    fn limits(&self) -> wgpu::Limits {
        self.session.device.limits()
    }

    fn adapter_info(&self) -> wgpu::AdapterInfo {
        self.session.device.adapter_info()
    }

    fn create_shader_module(
        &self,
        desc: wgpu::ShaderModuleDescriptor<'_>,
        _: wgpu::ShaderRuntimeChecks,
    ) -> DispatchShaderModule {
        let text = match &desc.source {
            wgpu::ShaderSource::Wgsl(text) => ShaderText::Wgsl(text.clone().into_owned()),
            #[cfg(feature = "spirv")]
            wgpu::ShaderSource::SpirV(words) => ShaderText::SpirV(words.clone().into_owned()),
            _ => ShaderText::Other("it was neither WGSL nor SPIR-V"),
        };
        let inner = self.session.device.create_shader_module(desc);
        DispatchShaderModule::custom(CaptureModule { inner, text: Arc::new(text) })
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn create_shader_module_passthrough(
        &self,
        _: &wgpu::ShaderModuleDescriptorPassthrough<'_>,
    ) -> DispatchShaderModule {
        unsupported("shaders that are passed through to the driver")
    }

    fn create_bind_group_layout(
        &self,
        desc: &wgpu::BindGroupLayoutDescriptor<'_>,
    ) -> DispatchBindGroupLayout {
        let inner = self.session.device.create_bind_group_layout(desc);
        let entries = desc.entries.iter().map(|entry| (entry.binding, *entry)).collect();
        DispatchBindGroupLayout::custom(CaptureLayout { inner, entries: Some(entries) })
    }

    fn create_bind_group(&self, desc: &wgpu::BindGroupDescriptor<'_>) -> DispatchBindGroup {
        let known = desc.layout.as_custom::<CaptureLayout>();
        let layout = known.and_then(|layout| layout.entries.as_ref());
        let entry = |entry: &wgpu::BindGroupEntry<'_>| {
            let described = layout.and_then(|entries| entries.get(&entry.binding));
            (entry.binding, to_entry(&entry.resource, described))
        };
        let bound = Arc::new(Group { entries: desc.entries.iter().map(entry).collect() });
        let inner = self.plain_group(desc);
        DispatchBindGroup::custom(CaptureGroup { inner, bound })
    }

    fn create_pipeline_layout(
        &self,
        desc: &wgpu::PipelineLayoutDescriptor<'_>,
    ) -> DispatchPipelineLayout {
        let layouts: Vec<Option<&wgpu::BindGroupLayout>> =
            desc.bind_group_layouts.iter().map(|layout| layout.map(plain_layout)).collect();
        let desc = wgpu::PipelineLayoutDescriptor { bind_group_layouts: &layouts, ..*desc };
        let inner = self.session.device.create_pipeline_layout(&desc);
        DispatchPipelineLayout::custom(CapturePipelineLayout { inner })
    }

    fn create_render_pipeline(
        &self,
        desc: &wgpu::RenderPipelineDescriptor<'_>,
    ) -> DispatchRenderPipeline {
        let fragment = desc.fragment.clone().map(|fragment| wgpu::FragmentState {
            module: plain_module(fragment.module),
            ..fragment
        });
        let desc = wgpu::RenderPipelineDescriptor {
            layout: desc.layout.map(plain_pipeline_layout),
            vertex: wgpu::VertexState {
                module: plain_module(desc.vertex.module),
                ..desc.vertex.clone()
            },
            fragment,
            cache: None,
            ..desc.clone()
        };
        let inner = self.session.device.create_render_pipeline(&desc);
        DispatchRenderPipeline::custom(CaptureRenderPipeline { inner })
    }

    fn create_mesh_pipeline(&self, _: &wgpu::MeshPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        unsupported("mesh shaders")
    }

    fn create_compute_pipeline(
        &self,
        desc: &wgpu::ComputePipelineDescriptor<'_>,
    ) -> DispatchComputePipeline {
        let shader = desc.module.as_custom::<CaptureModule>().map_or_else(
            || Arc::new(ShaderText::Other("it was made before the capture began")),
            |module| Arc::clone(&module.text),
        );
        let options = &desc.compilation_options;
        let constants = options.constants.iter();
        let about = Pipeline {
            label: desc.label.unwrap_or("").to_owned(),
            shader,
            entry_point: desc.entry_point.map(str::to_owned),
            constants: constants.map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            memory_zeroed: options.zero_initialize_workgroup_memory,
        };
        let desc = wgpu::ComputePipelineDescriptor {
            layout: desc.layout.map(plain_pipeline_layout),
            module: plain_module(desc.module),
            cache: None,
            ..desc.clone()
        };
        let inner = self.session.device.create_compute_pipeline(&desc);
        DispatchComputePipeline::custom(CapturePipeline { inner, about: Arc::new(about) })
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn create_pipeline_cache(
        &self,
        _: &wgpu::PipelineCacheDescriptor<'_>,
    ) -> DispatchPipelineCache {
        DispatchPipelineCache::custom(NoCache)
    }

    fn create_buffer(&self, desc: &wgpu::BufferDescriptor<'_>) -> DispatchBuffer {
        use wgpu::BufferUsages as Usages;
        let bound = Usages::STORAGE | Usages::UNIFORM | Usages::INDIRECT;
        let mut desc = desc.clone();
        // What is mapped to be read may only be copied to, and is bound nowhere.
        if desc.usage.intersects(bound) && !desc.usage.contains(Usages::MAP_READ) {
            desc.usage |= Usages::COPY_SRC;
        }
        let readable = desc.usage.contains(Usages::COPY_SRC);
        let inner = self.session.device.create_buffer(&desc);
        let mode = Mutex::new(desc.mapped_at_creation.then_some(wgpu::MapMode::Write));
        DispatchBuffer::custom(CaptureBuffer { inner, readable, mode })
    }

    fn create_texture(&self, desc: &wgpu::TextureDescriptor<'_>) -> DispatchTexture {
        use wgpu::TextureUsages as Usages;
        let mut desc = desc.clone();
        let bound = desc.usage.intersects(Usages::TEXTURE_BINDING | Usages::STORAGE_BINDING);
        let features = self.session.device.features();
        let allowed = desc.format.guaranteed_format_features(features).allowed_usages;
        if bound && allowed.contains(Usages::COPY_SRC) {
            desc.usage |= Usages::COPY_SRC;
        }
        let readable = desc.usage.contains(Usages::COPY_SRC);
        let inner = self.session.device.create_texture(&desc);
        DispatchTexture::custom(CaptureTexture { inner, readable })
    }

    fn create_external_texture(
        &self,
        _: &wgpu::ExternalTextureDescriptor<'_>,
        _: &[&wgpu::TextureView],
    ) -> DispatchExternalTexture {
        unsupported("external textures")
    }

    fn create_blas(
        &self,
        _: &wgpu::CreateBlasDescriptor<'_>,
        _: wgpu::BlasGeometrySizeDescriptors,
    ) -> (Option<u64>, DispatchBlas) {
        unsupported("acceleration structures")
    }

    fn create_tlas(&self, _: &wgpu::CreateTlasDescriptor<'_>) -> DispatchTlas {
        unsupported("acceleration structures")
    }

    fn create_sampler(&self, desc: &wgpu::SamplerDescriptor<'_>) -> DispatchSampler {
        let inner = self.session.device.create_sampler(desc);
        let (lines, unsaid) = sampler_lines(desc);
        DispatchSampler::custom(CaptureSampler { inner, lines, unsaid })
    }

    fn create_query_set(&self, desc: &wgpu::QuerySetDescriptor<'_>) -> DispatchQuerySet {
        let inner = self.session.device.create_query_set(desc);
        DispatchQuerySet::custom(CaptureQuerySet { inner })
    }

    fn create_command_encoder(
        &self,
        desc: &wgpu::CommandEncoderDescriptor<'_>,
    ) -> DispatchCommandEncoder {
        let inner = self.session.device.create_command_encoder(desc);
        let recording = Recording { encoder: Some(inner), snapshots: Vec::new() };
        DispatchCommandEncoder::custom(CaptureEncoder {
            session: Arc::clone(&self.session),
            recording: Arc::new(Mutex::new(recording)),
        })
    }

    fn create_render_bundle_encoder(
        &self,
        desc: &wgpu::RenderBundleEncoderDescriptor<'_>,
    ) -> DispatchRenderBundleEncoder {
        let device = self.session.device.clone();
        DispatchRenderBundleEncoder::custom(CaptureBundleEncoder::new(device, desc))
    }

    fn set_device_lost_callback(&self, callback: BoxDeviceLostCallback) {
        // It is called once; wgpu's own signature does not say so.
        let once = Mutex::new(Some(callback));
        self.session.device.set_device_lost_callback(move |reason, message| {
            let callback = once.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(callback) = callback {
                callback(reason, message);
            }
        });
    }

    fn on_uncaptured_error(&self, handler: Arc<dyn wgpu::UncapturedErrorHandler>) {
        self.session.device.on_uncaptured_error(handler);
    }

    fn push_error_scope(&self, filter: wgpu::ErrorFilter) -> u32 {
        let guard = self.session.device.push_error_scope(filter);
        SCOPES.with_borrow_mut(|scopes| {
            let index = scopes.last_key_value().map_or(0, |(last, _)| last + 1);
            scopes.insert(index, guard);
            index
        })
    }

    fn pop_error_scope(&self, index: u32) -> Pin<Box<dyn PopErrorScopeFuture>> {
        match SCOPES.with_borrow_mut(|scopes| scopes.remove(&index)) {
            Some(guard) => Box::pin(guard.pop()),
            None => Box::pin(std::future::ready(None)),
        }
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn start_graphics_debugger_capture(&self) {}

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn stop_graphics_debugger_capture(&self) {}

    fn poll(
        &self,
        poll_type: wgpu::wgt::PollType<u64>,
    ) -> Result<wgpu::PollStatus, wgpu::PollError> {
        use wgpu::wgt::PollType;
        let poll_type = match poll_type {
            PollType::Poll => wgpu::PollType::Poll,
            PollType::Wait { submission_index, timeout } => {
                let known = submission_index.and_then(|number| self.queue.submission(number));
                wgpu::PollType::Wait { submission_index: known, timeout }
            }
        };
        self.session.device.poll(poll_type)
    }

    fn get_internal_counters(&self) -> wgpu::InternalCounters {
        self.session.device.get_internal_counters()
    }

    fn generate_allocator_report(&self) -> Option<wgpu::AllocatorReport> {
        self.session.device.generate_allocator_report()
    }

    fn destroy(&self) {
        self.session.device.destroy();
    }
}

impl CaptureDevice {
    /// The bind group that is asked for, of what its resources stand for.
    fn plain_group(&self, desc: &wgpu::BindGroupDescriptor<'_>) -> wgpu::BindGroup {
        use wgpu::BindingResource as R;
        fn range<'a>(range: &wgpu::BufferBinding<'a>) -> wgpu::BufferBinding<'a> {
            wgpu::BufferBinding { buffer: plain_buffer(range.buffer), ..range.clone() }
        }
        // Arrays of resources live beside the entries that point to them.
        let mut ranges = BTreeMap::new();
        let mut samplers = BTreeMap::new();
        let mut views = BTreeMap::new();
        for entry in desc.entries {
            match &entry.resource {
                R::BufferArray(all) => {
                    let all: Vec<_> = all.iter().map(range).collect();
                    ranges.insert(entry.binding, all);
                }
                R::SamplerArray(all) => {
                    let all: Vec<_> = all.iter().map(|sampler| plain_sampler(sampler)).collect();
                    samplers.insert(entry.binding, all);
                }
                R::TextureViewArray(all) => {
                    let all: Vec<_> = all.iter().map(|view| plain_view(view)).collect();
                    views.insert(entry.binding, all);
                }
                _ => {}
            }
        }
        let mut entries: Vec<wgpu::BindGroupEntry<'_>> = Vec::new();
        for entry in desc.entries {
            let binding = entry.binding;
            let resource = match &entry.resource {
                R::Buffer(given) => R::Buffer(range(given)),
                R::Sampler(sampler) => R::Sampler(plain_sampler(sampler)),
                R::TextureView(view) => R::TextureView(plain_view(view)),
                R::BufferArray(_) => R::BufferArray(&ranges[&binding]),
                R::SamplerArray(_) => R::SamplerArray(&samplers[&binding]),
                R::TextureViewArray(_) => R::TextureViewArray(&views[&binding]),
                _ => unsupported("external textures or acceleration structures"),
            };
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        let layout = plain_layout(desc.layout);
        let desc = wgpu::BindGroupDescriptor { label: desc.label, layout, entries: &entries };
        self.session.device.create_bind_group(&desc)
    }
}

/// What a bind group's entry is, with what its layout says of it.
fn to_entry(
    resource: &wgpu::BindingResource<'_>,
    described: Option<&wgpu::BindGroupLayoutEntry>,
) -> Entry {
    match resource {
        wgpu::BindingResource::Buffer(range) => {
            let (dynamic, written) = match described.map(|entry| entry.ty) {
                Some(wgpu::BindingType::Buffer { ty, has_dynamic_offset, .. }) => {
                    let read = matches!(
                        ty,
                        wgpu::BufferBindingType::Uniform
                            | wgpu::BufferBindingType::Storage { read_only: true }
                    );
                    (has_dynamic_offset, !read)
                }
                // A layout that wgpu derived from the shader says nothing: what may be written may have been.
                _ => (false, range.buffer.usage().contains(wgpu::BufferUsages::STORAGE)),
            };
            let rest = range.buffer.size().saturating_sub(range.offset);
            Entry::Buffer(BufferEntry {
                buffer: plain_buffer(range.buffer).clone(),
                offset: range.offset,
                size: range.size.map_or(rest, std::num::NonZeroU64::get),
                dynamic,
                written,
                readable: range
                    .buffer
                    .as_custom::<CaptureBuffer>()
                    .is_some_and(|buffer| buffer.readable),
            })
        }
        wgpu::BindingResource::TextureView(view) => {
            let Some(known) = view.as_custom::<CaptureView>() else {
                return Entry::Other("a texture that was made before the capture began");
            };
            let storage = wgpu::TextureUsages::STORAGE_BINDING;
            let written = match described.map(|entry| entry.ty) {
                Some(wgpu::BindingType::StorageTexture { access, .. }) => {
                    access != wgpu::StorageTextureAccess::ReadOnly
                }
                Some(_) => false,
                None => view.texture().usage().contains(storage),
            };
            Entry::Texture(TextureEntry { view: known.info.clone(), written })
        }
        wgpu::BindingResource::Sampler(sampler) => match sampler.as_custom::<CaptureSampler>() {
            Some(known) => Entry::Sampler(known.lines.clone(), known.unsaid.clone()),
            None => Entry::Other("a sampler that was made before the capture began"),
        },
        wgpu::BindingResource::BufferArray(_)
        | wgpu::BindingResource::SamplerArray(_)
        | wgpu::BindingResource::TextureViewArray(_) => Entry::Other("a binding array"),
        _ => Entry::Other("an external texture or an acceleration structure"),
    }
}

/// The lines of a sampler's table, and what they do not say.
fn sampler_lines(desc: &wgpu::SamplerDescriptor<'_>) -> (Vec<String>, Option<String>) {
    let mut unsaid = Vec::new();
    let mut address = |mode: wgpu::AddressMode| match mode {
        wgpu::AddressMode::ClampToEdge => "\"clamp-to-edge\"",
        wgpu::AddressMode::Repeat => "\"repeat\"",
        wgpu::AddressMode::MirrorRepeat => "\"mirror-repeat\"",
        wgpu::AddressMode::ClampToBorder => {
            unsaid.push("it clamps to a border, and is written as clamped to the edge");
            "\"clamp-to-edge\""
        }
    };
    let modes = [desc.address_mode_u, desc.address_mode_v, desc.address_mode_w].map(&mut address);
    if desc.anisotropy_clamp > 1 {
        unsaid.push("it filters anisotropically, and is written as linear");
    }
    let word = |text: String| text.to_lowercase();
    let mut lines = vec![
        format!("mag_filter = \"{}\"", word(format!("{:?}", desc.mag_filter))),
        format!("min_filter = \"{}\"", word(format!("{:?}", desc.min_filter))),
        format!("mipmap_filter = \"{}\"", word(format!("{:?}", desc.mipmap_filter))),
        format!("address = [{}]", modes.join(", ")),
        format!("lod_min = {:?}", desc.lod_min_clamp),
        format!("lod_max = {:?}", desc.lod_max_clamp),
    ];
    if let Some(compare) = desc.compare {
        use wgpu::CompareFunction as F;
        let compare = match compare {
            F::Never => "never",
            F::Less => "less",
            F::Equal => "equal",
            F::LessEqual => "less-equal",
            F::Greater => "greater",
            F::NotEqual => "not-equal",
            F::GreaterEqual => "greater-equal",
            F::Always => "always",
        };
        lines.push(format!("compare = \"{compare}\""));
    }
    (lines, (!unsaid.is_empty()).then(|| unsaid.join("; ")))
}

/// Takes no part in compiling.
#[derive(Debug)]
struct NoCache;

impl PipelineCacheInterface for NoCache {
    fn get_data(&self) -> Option<Vec<u8>> {
        None
    }
}

impl CaptureQueue {
    fn submission(&self, number: u64) -> Option<wgpu::SubmissionIndex> {
        let known = self.submissions.lock().unwrap_or_else(PoisonError::into_inner);
        known.1.get(&number).cloned()
    }
}

impl QueueInterface for SharedQueue {
    fn write_buffer(&self, buffer: &DispatchBuffer, offset: u64, data: &[u8]) {
        self.0.session.queue.write_buffer(inner_buffer(buffer), offset, data);
    }

    fn create_staging_buffer(&self, size: wgpu::BufferSize) -> Option<DispatchQueueWriteBuffer> {
        let bytes = vec![0; usize::try_from(size.get()).ok()?];
        Some(DispatchQueueWriteBuffer::custom(Staged(bytes)))
    }

    fn validate_write_buffer(&self, _: &DispatchBuffer, _: u64, _: wgpu::BufferSize) -> Option<()> {
        // Writing it is checked.
        Some(())
    }

    fn write_staging_buffer(
        &self,
        buffer: &DispatchBuffer,
        offset: u64,
        staging_buffer: &DispatchQueueWriteBuffer,
    ) {
        if let Some(Staged(bytes)) = staging_buffer.as_custom::<Staged>() {
            self.0.session.queue.write_buffer(inner_buffer(buffer), offset, bytes);
        }
    }

    fn write_texture(
        &self,
        texture: wgpu::TexelCopyTextureInfo<'_>,
        data: &[u8],
        data_layout: wgpu::TexelCopyBufferLayout,
        size: wgpu::Extent3d,
    ) {
        self.0.session.queue.write_texture(plain_place(&texture), data, data_layout, size);
    }

    fn submit(&self, command_buffers: &mut dyn Iterator<Item = DispatchCommandBuffer>) -> u64 {
        let (mut buffers, mut snapshots) = (Vec::new(), Vec::new());
        for buffer in command_buffers {
            let Some(buffer) = buffer.as_custom::<CaptureCommandBuffer>() else {
                panic!("a command buffer of another device")
            };
            let finished = buffer.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some((commands, seen)) = finished {
                buffers.push(commands);
                snapshots.extend(seen);
            }
        }
        let index = self.0.session.queue.submit(buffers);
        let number = {
            let mut known = self.0.submissions.lock().unwrap_or_else(PoisonError::into_inner);
            known.0 += 1;
            let number = known.0;
            known.1.insert(number, index);
            known.1.retain(|earlier, _| earlier + SUBMISSIONS_KNOWN > number);
            number
        };
        self.0.session.finish(snapshots);
        number
    }

    fn get_timestamp_period(&self) -> f32 {
        self.0.session.queue.get_timestamp_period()
    }

    fn on_submitted_work_done(&self, callback: BoxSubmittedWorkDoneCallback) {
        self.0.session.queue.on_submitted_work_done(callback);
    }

    fn compact_blas(&self, _: &DispatchBlas) -> (Option<u64>, DispatchBlas) {
        unsupported("acceleration structures")
    }

    only_30! {
        fn present(&self, _: &DispatchSurfaceOutputDetail) {
            panic!("present with the queue that lanescope_capture::plain gives")
        }
    }
}

/// Bytes on their way into a buffer.
#[derive(Debug)]
struct Staged(Vec<u8>);

impl QueueWriteBufferInterface for Staged {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn write_slice(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
        wgpu::WriteOnly::from_mut(&mut self.0)
    }
}
