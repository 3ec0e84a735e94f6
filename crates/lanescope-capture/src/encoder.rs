//! An encoder that hands on what is recorded.
//!
//! Input: wgpu's calls on an encoder. Output: the same calls on the one that was wrapped. Its passes are `compute`'s and
//! `render`'s.

use std::sync::{Arc, Mutex, PoisonError};

use super::compute::CapturePass;
use super::render::CaptureRenderPass;
use super::resource::*;
use super::session::{Session, Snapshot};
use super::wgpu;
use super::wgpu::custom::*;

/// An encoder.
#[derive(Debug)]
pub(super) struct CaptureEncoder {
    pub(super) session: Arc<Session>,
    pub(super) recording: Arc<Mutex<Recording>>,
}

/// What an encoder gave, until it is submitted.
#[derive(Debug)]
pub(super) struct CaptureCommandBuffer(
    pub(super) Mutex<Option<(wgpu::CommandBuffer, Vec<Snapshot>)>>,
);

impl CommandBufferInterface for CaptureCommandBuffer {}

impl CommandEncoderInterface for CaptureEncoder {
    fn copy_buffer_to_buffer(
        &self,
        source: &DispatchBuffer,
        source_offset: u64,
        destination: &DispatchBuffer,
        destination_offset: u64,
        copy_size: Option<u64>,
    ) {
        let (source, destination) = (inner_buffer(source), inner_buffer(destination));
        with(&self.recording, |encoder| {
            encoder.copy_buffer_to_buffer(
                source,
                source_offset,
                destination,
                destination_offset,
                copy_size,
            );
        });
    }

    fn copy_buffer_to_texture(
        &self,
        source: wgpu::TexelCopyBufferInfo<'_>,
        destination: wgpu::TexelCopyTextureInfo<'_>,
        copy_size: wgpu::Extent3d,
    ) {
        let (source, destination) = (plain_bytes(&source), plain_place(&destination));
        with(&self.recording, |encoder| {
            encoder.copy_buffer_to_texture(source, destination, copy_size);
        });
    }

    fn copy_texture_to_buffer(
        &self,
        source: wgpu::TexelCopyTextureInfo<'_>,
        destination: wgpu::TexelCopyBufferInfo<'_>,
        copy_size: wgpu::Extent3d,
    ) {
        let (source, destination) = (plain_place(&source), plain_bytes(&destination));
        with(&self.recording, |encoder| {
            encoder.copy_texture_to_buffer(source, destination, copy_size);
        });
    }

    fn copy_texture_to_texture(
        &self,
        source: wgpu::TexelCopyTextureInfo<'_>,
        destination: wgpu::TexelCopyTextureInfo<'_>,
        copy_size: wgpu::Extent3d,
    ) {
        let (source, destination) = (plain_place(&source), plain_place(&destination));
        with(&self.recording, |encoder| {
            encoder.copy_texture_to_texture(source, destination, copy_size);
        });
    }

    fn begin_compute_pass(&self, desc: &wgpu::ComputePassDescriptor<'_>) -> DispatchComputePass {
        let session = Arc::clone(&self.session);
        let recording = Arc::clone(&self.recording);
        DispatchComputePass::custom(CapturePass::begin(session, recording, desc))
    }

    fn begin_render_pass(&self, desc: &wgpu::RenderPassDescriptor<'_>) -> DispatchRenderPass {
        let pass = with(&self.recording, |encoder| CaptureRenderPass::begin(encoder, desc));
        DispatchRenderPass::custom(pass)
    }

    fn finish(&mut self) -> DispatchCommandBuffer {
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshots = std::mem::take(&mut recording.snapshots);
        let finished = recording.encoder.take().map(|encoder| (encoder.finish(), snapshots));
        DispatchCommandBuffer::custom(CaptureCommandBuffer(Mutex::new(finished)))
    }

    fn clear_texture(
        &self,
        texture: &DispatchTexture,
        subresource_range: &wgpu::ImageSubresourceRange,
    ) {
        let texture = inner_texture(texture);
        with(&self.recording, |encoder| encoder.clear_texture(texture, subresource_range));
    }

    fn clear_buffer(&self, buffer: &DispatchBuffer, offset: u64, size: Option<u64>) {
        let buffer = inner_buffer(buffer);
        with(&self.recording, |encoder| encoder.clear_buffer(buffer, offset, size));
    }

    fn insert_debug_marker(&self, label: &str) {
        with(&self.recording, |encoder| encoder.insert_debug_marker(label));
    }

    fn push_debug_group(&self, label: &str) {
        with(&self.recording, |encoder| encoder.push_debug_group(label));
    }

    fn pop_debug_group(&self) {
        with(&self.recording, wgpu::CommandEncoder::pop_debug_group);
    }

    fn write_timestamp(&self, query_set: &DispatchQuerySet, query_index: u32) {
        let query_set = inner_query_set(query_set);
        with(&self.recording, |encoder| encoder.write_timestamp(query_set, query_index));
    }

    fn resolve_query_set(
        &self,
        query_set: &DispatchQuerySet,
        first_query: u32,
        query_count: u32,
        destination: &DispatchBuffer,
        destination_offset: u64,
    ) {
        let (query_set, destination) = (inner_query_set(query_set), inner_buffer(destination));
        let queries = first_query..first_query + query_count;
        with(&self.recording, |encoder| {
            encoder.resolve_query_set(query_set, queries, destination, destination_offset);
        });
    }

    fn mark_acceleration_structures_built<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::Blas>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        unsupported("acceleration structures")
    }

    fn build_acceleration_structures<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::BlasBuildEntry<'a>>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        unsupported("acceleration structures")
    }

    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::wgt::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::wgt::TextureTransition<&'a DispatchTexture>>,
    ) {
        // wgpu puts the barriers that a program needs; these are for what reaches below it.
    }
}
