//! A compute pass that is cut where a dispatch is captured.
//!
//! Input: what a program sets and dispatches. Output: the same on the encoder, in as many passes as it takes.

use std::sync::{Arc, Mutex, PoisonError};

use super::resource::{
    CaptureGroup, CapturePipeline, Recording, inner_buffer, inner_group, inner_pipeline,
    inner_query_set, plain_query_set, with,
};
use super::session::{Grid, Session, State};
use super::wgpu;
use super::wgpu::custom::*;

/// A pass.
#[derive(Debug)]
pub(super) struct CapturePass {
    session: Arc<Session>,
    recording: Arc<Mutex<Recording>>,
    label: Option<String>,
    /// Where the time of the pass's end goes.
    end: Option<(wgpu::QuerySet, u32)>,
    /// Nothing while it is cut.
    pass: Option<wgpu::ComputePass<'static>>,
    state: State,
    groups: Vec<String>,
    /// Whether a query of statistics is open: it cannot be cut.
    statistics: bool,
}

impl CapturePass {
    pub(super) fn begin(
        session: Arc<Session>,
        recording: Arc<Mutex<Recording>>,
        desc: &wgpu::ComputePassDescriptor<'_>,
    ) -> Self {
        let timestamp_writes =
            desc.timestamp_writes.as_ref().map(|writes| wgpu::ComputePassTimestampWrites {
                query_set: plain_query_set(writes.query_set),
                beginning_of_pass_write_index: writes.beginning_of_pass_write_index,
                end_of_pass_write_index: writes.end_of_pass_write_index,
            });
        let end = timestamp_writes
            .as_ref()
            .and_then(|writes| Some((writes.query_set.clone(), writes.end_of_pass_write_index?)));
        let desc = wgpu::ComputePassDescriptor { label: desc.label, timestamp_writes };
        let pass = with(&recording, |encoder| encoder.begin_compute_pass(&desc).forget_lifetime());
        Self {
            session,
            recording,
            label: desc.label.map(str::to_owned),
            end,
            pass: Some(pass),
            state: State::default(),
            groups: Vec::new(),
            statistics: false,
        }
    }

    fn pass(&mut self) -> &mut wgpu::ComputePass<'static> {
        match &mut self.pass {
            Some(pass) => pass,
            None => panic!("a pass that is cut takes no commands"),
        }
    }

    /// Ends the pass, records something between, and goes on in a new one.
    fn cut(&mut self, between: impl FnOnce(&Session, &mut wgpu::CommandEncoder)) {
        if let Some(pass) = &mut self.pass {
            self.groups.iter().for_each(|_| pass.pop_debug_group());
        }
        self.pass = None;
        let session = &self.session;
        let timestamp_writes =
            self.end.as_ref().map(|(query_set, index)| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: None,
                end_of_pass_write_index: Some(*index),
            });
        let desc = wgpu::ComputePassDescriptor { label: self.label.as_deref(), timestamp_writes };
        let mut pass = with(&self.recording, |encoder| {
            between(session, encoder);
            encoder.begin_compute_pass(&desc).forget_lifetime()
        });
        if let Some((pipeline, _)) = &self.state.pipeline {
            pass.set_pipeline(pipeline);
        }
        for (&index, (group, _, offsets)) in &self.state.groups {
            pass.set_bind_group(index, group, offsets);
        }
        if !self.state.immediates.is_empty() {
            pass.set_immediates(0, &self.state.immediates);
        }
        self.groups.iter().for_each(|label| pass.push_debug_group(label));
        self.pass = Some(pass);
    }

    /// Records a dispatch, with copies around it where it is meant.
    fn dispatch(&mut self, grid: &Grid) {
        let meant = self.session.meant(self.label.as_deref(), &self.state, grid);
        let mut snapshot = meant.filter(|_| !self.statistics);
        if let Some(snapshot) = &mut snapshot {
            self.cut(|session, encoder| snapshot.copy_before(session, encoder));
        }
        match grid {
            Grid::Direct([x, y, z]) => self.pass().dispatch_workgroups(*x, *y, *z),
            Grid::Indirect { buffer, offset, .. } => {
                self.pass().dispatch_workgroups_indirect(buffer, *offset);
            }
        }
        if let Some(mut snapshot) = snapshot {
            self.cut(|session, encoder| snapshot.copy_after(session, encoder));
            let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
            recording.snapshots.push(snapshot);
        }
    }
}

impl Drop for CapturePass {
    fn drop(&mut self) {
        // The pass ends here, before the encoder is used again.
        self.pass = None;
    }
}

impl ComputePassInterface for CapturePass {
    fn set_pipeline(&mut self, pipeline: &DispatchComputePipeline) {
        let inner = inner_pipeline(pipeline).clone();
        self.pass().set_pipeline(&inner);
        let about = pipeline.as_custom::<CapturePipeline>();
        self.state.pipeline = about.map(|about| (inner, Arc::clone(&about.about)));
    }

    fn set_bind_group(
        &mut self,
        index: u32,
        bind_group: Option<&DispatchBindGroup>,
        offsets: &[wgpu::DynamicOffset],
    ) {
        self.pass().set_bind_group(index, bind_group.map(inner_group), offsets);
        match bind_group.and_then(|group| group.as_custom::<CaptureGroup>()) {
            Some(group) => {
                let known = (group.inner.clone(), Arc::clone(&group.bound), offsets.to_vec());
                self.state.groups.insert(index, known);
            }
            None => {
                self.state.groups.remove(&index);
            }
        }
    }

    fn set_immediates(&mut self, offset: u32, data: &[u8]) {
        self.pass().set_immediates(offset, data);
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let known = &mut self.state.immediates;
        if known.len() < from + data.len() {
            known.resize(from + data.len(), 0);
        }
        known[from..from + data.len()].copy_from_slice(data);
    }

    fn insert_debug_marker(&mut self, label: &str) {
        self.pass().insert_debug_marker(label);
    }

    fn push_debug_group(&mut self, group_label: &str) {
        self.pass().push_debug_group(group_label);
        self.groups.push(group_label.to_owned());
    }

    fn pop_debug_group(&mut self) {
        self.pass().pop_debug_group();
        self.groups.pop();
    }

    fn write_timestamp(&mut self, query_set: &DispatchQuerySet, query_index: u32) {
        self.pass().write_timestamp(inner_query_set(query_set), query_index);
    }

    fn begin_pipeline_statistics_query(&mut self, query_set: &DispatchQuerySet, query_index: u32) {
        self.statistics = true;
        let query_set = inner_query_set(query_set);
        self.pass().begin_pipeline_statistics_query(query_set, query_index);
    }

    fn end_pipeline_statistics_query(&mut self) {
        self.statistics = false;
        self.pass().end_pipeline_statistics_query();
    }

    fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        self.dispatch(&Grid::Direct([x, y, z]));
    }

    fn dispatch_workgroups_indirect(
        &mut self,
        indirect_buffer: &DispatchBuffer,
        indirect_offset: u64,
    ) {
        let readable = indirect_buffer.as_custom::<super::resource::CaptureBuffer>();
        let readable = readable.is_some_and(|buffer| buffer.readable);
        let buffer = inner_buffer(indirect_buffer).clone();
        self.dispatch(&Grid::Indirect { buffer, offset: indirect_offset, readable });
    }

    only_30! {
        fn transition_resources<'a>(
            &mut self,
            _: &mut dyn Iterator<Item = wgpu::wgt::BufferTransition<&'a DispatchBuffer>>,
            _: &mut dyn Iterator<Item = wgpu::wgt::TextureTransition<&'a DispatchTextureView>>,
        ) {
            // wgpu puts the barriers that a program needs; these are for what reaches below it.
        }
    }
}
