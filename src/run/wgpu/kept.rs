//! Pipelines that were made, kept by all that they follow from.
//!
//! Input: a key and a pipeline. Output: the same pipeline for the same key.

use std::collections::BTreeMap;

use wgpu::{BindGroupLayout, ComputePipeline};
/// The most pipelines that are kept; when one more is made, all are let go.
const KEPT_MAX: usize = 256;

/// Pipelines by all that they follow from.
#[derive(Default)]
pub(super) struct Pipelines {
    kept: BTreeMap<[u8; 32], Made>,
}

/// A pipeline and the layouts of its bind groups, from group 0 on.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) pipeline: ComputePipeline,
    pub(super) layouts: Vec<BindGroupLayout>,
}

impl Pipelines {
    /// The pipeline that was kept under a key.
    pub(super) fn get(&self, key: &[u8; 32]) -> Option<Made> {
        self.kept.get(key).cloned()
    }

    /// Keeps a pipeline.
    pub(super) fn insert(&mut self, key: [u8; 32], made: Made) {
        if self.kept.len() >= KEPT_MAX {
            self.kept.clear();
        }
        self.kept.insert(key, made);
    }
}
