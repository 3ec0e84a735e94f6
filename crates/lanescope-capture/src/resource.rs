//! What stands for a resource of the program's device, and what is recorded.
//!
//! Input: resources of the device that was wrapped. Output: types that hold them, with what is kept of each, and how to
//! get from a handle to what it stands for. What makes them is `device`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::session::{Group, Pipeline, Snapshot, ViewInfo};
use super::wgpu;
use super::wgpu::custom::*;
use crate::folder::ShaderText;

/// Defines a resource that holds what it stands for, and how to get at that.
macro_rules! resource {
    ($name:ident, $plain:ident, $dispatched:ident, $interface:ident, $inner_of:ident, $plain_of:ident
        $(, $field:ident : $type:ty)*) => {
        #[derive(Debug)]
        pub(super) struct $name {
            pub(super) inner: wgpu::$plain,
            $(pub(super) $field: $type,)*
        }

        /// What a handle of the back end stands for.
        pub(super) fn $inner_of(handle: &$dispatched) -> &wgpu::$plain {
            match handle.as_custom::<$name>() {
                Some(resource) => &resource.inner,
                None => panic!("{} of another device", stringify!($plain)),
            }
        }

        /// What a handle of the program stands for; one that was made elsewhere stands for itself.
        pub(super) fn $plain_of(handle: &wgpu::$plain) -> &wgpu::$plain {
            handle.as_custom::<$name>().map_or(handle, |resource| &resource.inner)
        }
    };
}

resource!(CaptureModule, ShaderModule, DispatchShaderModule, ShaderModuleInterface, _inner_module, plain_module, text: Arc<ShaderText>);
resource!(CaptureLayout, BindGroupLayout, DispatchBindGroupLayout, BindGroupLayoutInterface, _inner_layout, plain_layout, entries: Option<BTreeMap<u32, wgpu::BindGroupLayoutEntry>>);
resource!(CaptureGroup, BindGroup, DispatchBindGroup, BindGroupInterface, inner_group, _plain_group, bound: Arc<Group>);
resource!(CaptureView, TextureView, DispatchTextureView, TextureViewInterface, _inner_view, plain_view, info: ViewInfo);
resource!(CaptureSampler, Sampler, DispatchSampler, SamplerInterface, _inner_sampler, plain_sampler, lines: Vec<String>, unsaid: Option<String>);
resource!(CaptureBuffer, Buffer, DispatchBuffer, BufferInterface, inner_buffer, plain_buffer, readable: bool, mode: Mutex<Option<wgpu::MapMode>>);
resource!(CaptureTexture, Texture, DispatchTexture, TextureInterface, inner_texture, plain_texture, readable: bool);
resource!(
    CaptureQuerySet,
    QuerySet,
    DispatchQuerySet,
    QuerySetInterface,
    inner_query_set,
    plain_query_set
);
resource!(
    CapturePipelineLayout,
    PipelineLayout,
    DispatchPipelineLayout,
    PipelineLayoutInterface,
    _inner_pipeline_layout,
    plain_pipeline_layout
);
resource!(
    CaptureRenderPipeline,
    RenderPipeline,
    DispatchRenderPipeline,
    RenderPipelineInterface,
    inner_render_pipeline,
    _plain_render_pipeline
);
resource!(CapturePipeline, ComputePipeline, DispatchComputePipeline, ComputePipelineInterface, inner_pipeline, _plain_pipeline, about: Arc<Pipeline>);

impl ShaderModuleInterface for CaptureModule {
    fn get_compilation_info(&self) -> Pin<Box<dyn ShaderCompilationInfoFuture>> {
        Box::pin(self.inner.get_compilation_info())
    }
}

impl BindGroupLayoutInterface for CaptureLayout {}
impl BindGroupInterface for CaptureGroup {}
impl TextureViewInterface for CaptureView {}
impl SamplerInterface for CaptureSampler {}
impl PipelineLayoutInterface for CapturePipelineLayout {}

impl QuerySetInterface for CaptureQuerySet {
    only_30! {
        fn destroy(&self) {
            self.inner.destroy();
        }
    }
}

impl RenderPipelineInterface for CaptureRenderPipeline {
    fn get_bind_group_layout(&self, index: u32) -> DispatchBindGroupLayout {
        let inner = self.inner.get_bind_group_layout(index);
        DispatchBindGroupLayout::custom(CaptureLayout { inner, entries: None })
    }
}

impl ComputePipelineInterface for CapturePipeline {
    fn get_bind_group_layout(&self, index: u32) -> DispatchBindGroupLayout {
        let inner = self.inner.get_bind_group_layout(index);
        DispatchBindGroupLayout::custom(CaptureLayout { inner, entries: None })
    }
}

impl TextureInterface for CaptureTexture {
    fn create_view(&self, desc: &wgpu::TextureViewDescriptor<'_>) -> DispatchTextureView {
        let inner = self.inner.create_view(desc);
        let texture = &self.inner;
        let deep = texture.dimension() == wgpu::TextureDimension::D3;
        let all = if deep { 1 } else { texture.depth_or_array_layers() };
        let dimension = desc.dimension.unwrap_or(match texture.dimension() {
            wgpu::TextureDimension::D1 => wgpu::TextureViewDimension::D1,
            wgpu::TextureDimension::D2 if all == 1 => wgpu::TextureViewDimension::D2,
            wgpu::TextureDimension::D2 => wgpu::TextureViewDimension::D2Array,
            wgpu::TextureDimension::D3 => wgpu::TextureViewDimension::D3,
        });
        let rest = all.saturating_sub(desc.base_array_layer);
        let layers = desc.array_layer_count.unwrap_or(match dimension {
            wgpu::TextureViewDimension::D2Array | wgpu::TextureViewDimension::CubeArray => rest,
            wgpu::TextureViewDimension::Cube => 6,
            _ => 1,
        });
        let info = ViewInfo {
            texture: texture.clone(),
            format: desc.format.unwrap_or(texture.format()),
            dimension,
            aspect: desc.aspect,
            level: desc.base_mip_level,
            levels: desc
                .mip_level_count
                .unwrap_or(texture.mip_level_count().saturating_sub(desc.base_mip_level)),
            layer: desc.base_array_layer,
            layers,
            readable: self.readable,
        };
        DispatchTextureView::custom(CaptureView { inner, info })
    }

    fn destroy(&self) {
        self.inner.destroy();
    }
}

impl BufferInterface for CaptureBuffer {
    fn map_async(&self, mode: wgpu::MapMode, range: Range<u64>, callback: BufferMapCallback) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
        self.inner.map_async(mode, range, callback);
    }

    only_30! {
        fn get_mapped_range(
            &self,
            range: Range<u64>,
        ) -> Result<DispatchBufferMappedRange, wgpu::MapRangeError> {
            let mode = *self.mode.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(DispatchBufferMappedRange::custom(match mode {
                Some(wgpu::MapMode::Write) => Mapped::Write(self.inner.get_mapped_range_mut(range)?),
                Some(wgpu::MapMode::Read) | None => Mapped::Read(self.inner.get_mapped_range(range)?),
            }))
        }
    }

    only_29! {
        fn get_mapped_range(&self, range: Range<u64>) -> DispatchBufferMappedRange {
            let mode = *self.mode.lock().unwrap_or_else(PoisonError::into_inner);
            let slice = self.inner.slice(range);
            DispatchBufferMappedRange::custom(match mode {
                Some(wgpu::MapMode::Write) => Mapped::Write(slice.get_mapped_range_mut()),
                Some(wgpu::MapMode::Read) | None => Mapped::Read(slice.get_mapped_range()),
            })
        }
    }

    fn unmap(&self) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.inner.unmap();
    }

    fn destroy(&self) {
        self.inner.destroy();
    }
}

/// A mapped range.
#[derive(Debug)]
enum Mapped {
    Read(wgpu::BufferView),
    Write(wgpu::BufferViewMut),
}

impl BufferMappedRangeInterface for Mapped {
    fn len(&self) -> usize {
        match self {
            Self::Read(view) => view.len(),
            Self::Write(view) => view.len(),
        }
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn read_slice(&self) -> &[u8] {
        match self {
            Self::Read(view) => view,
            // wgpu asks for it of what is mapped to be read alone.
            Self::Write(_) => &[],
        }
    }

    #[expect(unsafe_code, reason = "wgpu's trait has the word; nothing unsafe is done")]
    unsafe fn write_slice(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
        match self {
            Self::Write(view) => view.slice(..),
            Self::Read(_) => wgpu::WriteOnly::from_mut(&mut []),
        }
    }
}

/// What is recorded, shared by an encoder and its passes.
#[derive(Debug)]
pub(super) struct Recording {
    /// Nothing once it was finished.
    pub(super) encoder: Option<wgpu::CommandEncoder>,
    pub(super) snapshots: Vec<Snapshot>,
}

/// Does something with the encoder of a recording.
pub(super) fn with<T>(
    recording: &Mutex<Recording>,
    then: impl FnOnce(&mut wgpu::CommandEncoder) -> T,
) -> T {
    let mut recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut recording.encoder {
        Some(encoder) => then(encoder),
        None => panic!("the encoder was finished"),
    }
}

/// A place in a texture, of what the texture stands for.
pub(super) fn plain_place<'a>(
    place: &wgpu::TexelCopyTextureInfo<'a>,
) -> wgpu::TexelCopyTextureInfo<'a> {
    wgpu::TexelCopyTextureInfo {
        texture: plain_texture(place.texture),
        mip_level: place.mip_level,
        origin: place.origin,
        aspect: place.aspect,
    }
}

/// A place in a buffer, of what the buffer stands for.
pub(super) fn plain_bytes<'a>(
    place: &wgpu::TexelCopyBufferInfo<'a>,
) -> wgpu::TexelCopyBufferInfo<'a> {
    wgpu::TexelCopyBufferInfo { buffer: plain_buffer(place.buffer), layout: place.layout }
}

/// What is not handed on: it would take calls that are unsafe, or GPUs of another kind.
pub(super) fn unsupported(what: &str) -> ! {
    panic!("lanescope-capture does not capture programs with {what}: unset LANESCOPE_CAPTURE")
}
