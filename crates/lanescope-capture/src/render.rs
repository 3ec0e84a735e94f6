//! Render passes and bundles, handed on as they are: nothing of them is captured.
//!
//! Input: wgpu's calls. Output: the same calls on what was wrapped.

use std::ops::Range;

use super::resource::{
    inner_buffer, inner_group, inner_query_set, inner_render_pipeline, plain_query_set, plain_view,
};
use super::wgpu;
use super::wgpu::custom::*;

/// A render pass.
#[derive(Debug)]
pub(super) struct CaptureRenderPass(wgpu::RenderPass<'static>);

impl CaptureRenderPass {
    pub(super) fn begin(
        encoder: &mut wgpu::CommandEncoder,
        desc: &wgpu::RenderPassDescriptor<'_>,
    ) -> Self {
        let colors: Vec<_> = desc.color_attachments.iter().map(plain_color).collect();
        let depth = desc.depth_stencil_attachment.as_ref().map(|attachment| {
            wgpu::RenderPassDepthStencilAttachment {
                view: plain_view(attachment.view),
                depth_ops: attachment.depth_ops,
                stencil_ops: attachment.stencil_ops,
            }
        });
        let timestamp_writes =
            desc.timestamp_writes.as_ref().map(|writes| wgpu::RenderPassTimestampWrites {
                query_set: plain_query_set(writes.query_set),
                beginning_of_pass_write_index: writes.beginning_of_pass_write_index,
                end_of_pass_write_index: writes.end_of_pass_write_index,
            });
        let desc = wgpu::RenderPassDescriptor {
            label: desc.label,
            color_attachments: &colors,
            depth_stencil_attachment: depth,
            timestamp_writes,
            occlusion_query_set: desc.occlusion_query_set.map(plain_query_set),
            multiview_mask: desc.multiview_mask,
        };
        Self(encoder.begin_render_pass(&desc).forget_lifetime())
    }
}

/// An attachment, of what its views stand for.
fn plain_color<'a>(
    attachment: &Option<wgpu::RenderPassColorAttachment<'a>>,
) -> Option<wgpu::RenderPassColorAttachment<'a>> {
    attachment.as_ref().map(|attachment| wgpu::RenderPassColorAttachment {
        view: plain_view(attachment.view),
        depth_slice: attachment.depth_slice,
        resolve_target: attachment.resolve_target.map(plain_view),
        ops: attachment.ops,
    })
}

impl Drop for CaptureRenderPass {
    fn drop(&mut self) {
        // The pass that it holds ends with it.
    }
}

/// A range of a buffer, to its end where no size is given.
fn slice(
    buffer: &DispatchBuffer,
    offset: u64,
    size: Option<wgpu::BufferSize>,
) -> wgpu::BufferSlice<'_> {
    let buffer = inner_buffer(buffer);
    match size {
        Some(size) => buffer.slice(offset..offset + size.get()),
        None => buffer.slice(offset..),
    }
}

impl RenderPassInterface for CaptureRenderPass {
    fn set_pipeline(&mut self, pipeline: &DispatchRenderPipeline) {
        self.0.set_pipeline(inner_render_pipeline(pipeline));
    }

    fn set_bind_group(
        &mut self,
        index: u32,
        bind_group: Option<&DispatchBindGroup>,
        offsets: &[wgpu::DynamicOffset],
    ) {
        self.0.set_bind_group(index, bind_group.map(inner_group), offsets);
    }

    fn set_index_buffer(
        &mut self,
        buffer: &DispatchBuffer,
        index_format: wgpu::IndexFormat,
        offset: u64,
        size: Option<wgpu::BufferSize>,
    ) {
        self.0.set_index_buffer(slice(buffer, offset, size), index_format);
    }

    only_30! {
        fn set_vertex_buffer(
            &mut self,
            slot: u32,
            buffer: Option<&DispatchBuffer>,
            offset: u64,
            size: Option<wgpu::BufferSize>,
        ) {
            if let Some(buffer) = buffer {
                self.0.set_vertex_buffer(slot, slice(buffer, offset, size));
            }
        }
    }

    only_29! {
        fn set_vertex_buffer(
            &mut self,
            slot: u32,
            buffer: &DispatchBuffer,
            offset: u64,
            size: Option<wgpu::BufferSize>,
        ) {
            self.0.set_vertex_buffer(slot, slice(buffer, offset, size));
        }
    }

    fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.0.set_immediates(offset, data);
    }

    fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.0.draw(vertices, instances);
    }

    fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        self.0.draw_indexed(indices, base_vertex, instances);
    }

    fn draw_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.0.draw_indirect(inner_buffer(buffer), offset);
    }

    fn draw_indexed_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.0.draw_indexed_indirect(inner_buffer(buffer), offset);
    }

    fn set_blend_constant(&mut self, color: wgpu::Color) {
        self.0.set_blend_constant(color);
    }

    fn set_scissor_rect(&mut self, x: u32, y: u32, width: u32, height: u32) {
        self.0.set_scissor_rect(x, y, width, height);
    }

    fn set_viewport(&mut self, x: f32, y: f32, width: f32, height: f32, near: f32, far: f32) {
        self.0.set_viewport(x, y, width, height, near, far);
    }

    fn set_stencil_reference(&mut self, reference: u32) {
        self.0.set_stencil_reference(reference);
    }

    fn draw_mesh_tasks(&mut self, x: u32, y: u32, z: u32) {
        self.0.draw_mesh_tasks(x, y, z);
    }

    fn draw_mesh_tasks_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.0.draw_mesh_tasks_indirect(inner_buffer(buffer), offset);
    }

    fn multi_draw_indirect(&mut self, buffer: &DispatchBuffer, offset: u64, count: u32) {
        self.0.multi_draw_indirect(inner_buffer(buffer), offset, count);
    }

    fn multi_draw_indexed_indirect(&mut self, buffer: &DispatchBuffer, offset: u64, count: u32) {
        self.0.multi_draw_indexed_indirect(inner_buffer(buffer), offset, count);
    }

    fn multi_draw_mesh_tasks_indirect(&mut self, buffer: &DispatchBuffer, offset: u64, count: u32) {
        self.0.multi_draw_mesh_tasks_indirect(inner_buffer(buffer), offset, count);
    }

    fn multi_draw_indirect_count(
        &mut self,
        buffer: &DispatchBuffer,
        offset: u64,
        count: &DispatchBuffer,
        count_offset: u64,
        max: u32,
    ) {
        let (buffer, count) = (inner_buffer(buffer), inner_buffer(count));
        self.0.multi_draw_indirect_count(buffer, offset, count, count_offset, max);
    }

    fn multi_draw_indexed_indirect_count(
        &mut self,
        buffer: &DispatchBuffer,
        offset: u64,
        count: &DispatchBuffer,
        count_offset: u64,
        max: u32,
    ) {
        let (buffer, count) = (inner_buffer(buffer), inner_buffer(count));
        self.0.multi_draw_indexed_indirect_count(buffer, offset, count, count_offset, max);
    }

    fn multi_draw_mesh_tasks_indirect_count(
        &mut self,
        buffer: &DispatchBuffer,
        offset: u64,
        count: &DispatchBuffer,
        count_offset: u64,
        max: u32,
    ) {
        let (buffer, count) = (inner_buffer(buffer), inner_buffer(count));
        self.0.multi_draw_mesh_tasks_indirect_count(buffer, offset, count, count_offset, max);
    }

    fn insert_debug_marker(&mut self, label: &str) {
        self.0.insert_debug_marker(label);
    }

    fn push_debug_group(&mut self, label: &str) {
        self.0.push_debug_group(label);
    }

    fn pop_debug_group(&mut self) {
        self.0.pop_debug_group();
    }

    fn write_timestamp(&mut self, query_set: &DispatchQuerySet, query_index: u32) {
        self.0.write_timestamp(inner_query_set(query_set), query_index);
    }

    fn begin_occlusion_query(&mut self, query_index: u32) {
        self.0.begin_occlusion_query(query_index);
    }

    fn end_occlusion_query(&mut self) {
        self.0.end_occlusion_query();
    }

    fn begin_pipeline_statistics_query(&mut self, query_set: &DispatchQuerySet, query_index: u32) {
        self.0.begin_pipeline_statistics_query(inner_query_set(query_set), query_index);
    }

    fn end_pipeline_statistics_query(&mut self) {
        self.0.end_pipeline_statistics_query();
    }

    fn execute_bundles(&mut self, bundles: &mut dyn Iterator<Item = &DispatchRenderBundle>) {
        let known = bundles.filter_map(|bundle| bundle.as_custom::<CaptureBundle>());
        let bundles: Vec<&wgpu::RenderBundle> = known.map(|bundle| &bundle.0).collect();
        self.0.execute_bundles(bundles);
    }
}

/// A bundle.
#[derive(Debug)]
struct CaptureBundle(wgpu::RenderBundle);

impl RenderBundleInterface for CaptureBundle {}

/// A bundle's calls: its encoder borrows what it is given, so that they are kept until it is finished.
#[derive(Debug)]
pub(super) struct CaptureBundleEncoder {
    device: wgpu::Device,
    colors: Vec<Option<wgpu::TextureFormat>>,
    depth: Option<wgpu::RenderBundleDepthStencil>,
    sample_count: u32,
    multiview: Option<std::num::NonZeroU32>,
    label: Option<String>,
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Call {
    Pipeline(wgpu::RenderPipeline),
    Group(u32, Option<wgpu::BindGroup>, Vec<wgpu::DynamicOffset>),
    Indices(wgpu::Buffer, wgpu::IndexFormat, Range<u64>),
    Vertices(u32, wgpu::Buffer, Range<u64>),
    Immediates(u32, Vec<u8>),
    Draw(Range<u32>, Range<u32>),
    DrawIndexed(Range<u32>, i32, Range<u32>),
    DrawIndirect(wgpu::Buffer, u64),
    DrawIndexedIndirect(wgpu::Buffer, u64),
}

impl CaptureBundleEncoder {
    pub(super) fn new(
        device: wgpu::Device,
        desc: &wgpu::RenderBundleEncoderDescriptor<'_>,
    ) -> Self {
        Self {
            device,
            colors: desc.color_formats.to_vec(),
            depth: desc.depth_stencil,
            sample_count: desc.sample_count,
            multiview: desc.multiview,
            label: desc.label.map(str::to_owned),
            calls: Vec::new(),
        }
    }
}

/// A range of a buffer, to its end where no size is given.
fn range(buffer: &wgpu::Buffer, offset: u64, size: Option<wgpu::BufferSize>) -> Range<u64> {
    offset..size.map_or(buffer.size(), |size| offset + size.get())
}

impl RenderBundleEncoderInterface for CaptureBundleEncoder {
    fn set_pipeline(&mut self, pipeline: &DispatchRenderPipeline) {
        self.calls.push(Call::Pipeline(inner_render_pipeline(pipeline).clone()));
    }

    fn set_bind_group(
        &mut self,
        index: u32,
        bind_group: Option<&DispatchBindGroup>,
        offsets: &[wgpu::DynamicOffset],
    ) {
        let group = bind_group.map(|group| inner_group(group).clone());
        self.calls.push(Call::Group(index, group, offsets.to_vec()));
    }

    fn set_index_buffer(
        &mut self,
        buffer: &DispatchBuffer,
        index_format: wgpu::IndexFormat,
        offset: u64,
        size: Option<wgpu::BufferSize>,
    ) {
        let buffer = inner_buffer(buffer).clone();
        let range = range(&buffer, offset, size);
        self.calls.push(Call::Indices(buffer, index_format, range));
    }

    only_30! {
        fn set_vertex_buffer(
            &mut self,
            slot: u32,
            buffer: Option<&DispatchBuffer>,
            offset: u64,
            size: Option<wgpu::BufferSize>,
        ) {
            if let Some(buffer) = buffer.map(|buffer| inner_buffer(buffer).clone()) {
                let range = range(&buffer, offset, size);
                self.calls.push(Call::Vertices(slot, buffer, range));
            }
        }
    }

    only_29! {
        fn set_vertex_buffer(
            &mut self,
            slot: u32,
            buffer: &DispatchBuffer,
            offset: u64,
            size: Option<wgpu::BufferSize>,
        ) {
            let buffer = inner_buffer(buffer).clone();
            let range = range(&buffer, offset, size);
            self.calls.push(Call::Vertices(slot, buffer, range));
        }
    }

    fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.calls.push(Call::Immediates(offset, data.to_vec()));
    }

    fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.calls.push(Call::Draw(vertices, instances));
    }

    fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        self.calls.push(Call::DrawIndexed(indices, base_vertex, instances));
    }

    fn draw_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.calls.push(Call::DrawIndirect(inner_buffer(buffer).clone(), offset));
    }

    fn draw_indexed_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.calls.push(Call::DrawIndexedIndirect(inner_buffer(buffer).clone(), offset));
    }

    fn finish(self, desc: &wgpu::RenderBundleDescriptor<'_>) -> DispatchRenderBundle {
        let made = wgpu::RenderBundleEncoderDescriptor {
            label: self.label.as_deref(),
            color_formats: &self.colors,
            depth_stencil: self.depth,
            sample_count: self.sample_count,
            multiview: self.multiview,
        };
        let mut encoder = self.device.create_render_bundle_encoder(&made);
        for call in &self.calls {
            match call {
                Call::Pipeline(pipeline) => encoder.set_pipeline(pipeline),
                Call::Group(index, group, offsets) => {
                    encoder.set_bind_group(*index, group.as_ref(), offsets);
                }
                Call::Indices(buffer, format, range) => {
                    encoder.set_index_buffer(buffer.slice(range.clone()), *format);
                }
                Call::Vertices(slot, buffer, range) => {
                    encoder.set_vertex_buffer(*slot, buffer.slice(range.clone()));
                }
                Call::Immediates(offset, data) => encoder.set_immediates(*offset, data),
                Call::Draw(vertices, instances) => {
                    encoder.draw(vertices.clone(), instances.clone());
                }
                Call::DrawIndexed(indices, base, instances) => {
                    encoder.draw_indexed(indices.clone(), *base, instances.clone());
                }
                Call::DrawIndirect(buffer, offset) => encoder.draw_indirect(buffer, *offset),
                Call::DrawIndexedIndirect(buffer, offset) => {
                    encoder.draw_indexed_indirect(buffer, *offset);
                }
            }
        }
        DispatchRenderBundle::custom(CaptureBundle(encoder.finish(desc)))
    }

    only_30! {
        fn finish_boxed(
            self: Box<Self>,
            desc: &wgpu::RenderBundleDescriptor<'_>,
        ) -> DispatchRenderBundle {
            (*self).finish(desc)
        }
    }
}
