//! What the record keeps of a kernel's description.
//!
//! Input: descriptions. Output: [`KernelNote`]s for [`Run::kernels`], so that a record makes its own
//! page; and the same for records from before they held them.

use super::{Catalogue, Description};
use crate::record::{self, KernelNote, Run};
use crate::units::Width;

/// The width of the warps that the published figures were measured on.
const PUBLISHED_WIDTH: u32 = 32;

impl Description {
    /// What a record keeps of the kernel.
    pub fn note(&self) -> KernelNote {
        let published = self.published.as_ref().map(|published| record::Published {
            active_lanes_mean: published.active_lanes_mean,
            hardware: published.hardware.clone(),
            subgroup_width: Width::new(PUBLISHED_WIDTH).ok(),
        });
        let speedup = self.published_speedup.as_ref().map(|published| record::PublishedSpeedup {
            factor: published.factor,
            n: published.n,
            hardware: published.hardware.clone(),
        });
        KernelNote {
            question: Some(self.question.clone()).filter(|question| !question.is_empty()),
            baseline: self.baseline.clone(),
            published,
            published_speedup: speedup,
            result: self.reference.as_ref().map(|reference| reference.name.clone()),
            tolerance: self.reference.as_ref().map(|reference| record::Tolerance {
                absolute: reference.tolerance_absolute,
                relative: reference.tolerance_relative,
            }),
            result_words: self.result_words.clone(),
            axes: self.axes.clone(),
            usual: self.usual.clone(),
            stages: self.stages.clone(),
            ordered: self.ordered.clone(),
            divergence: self.divergence.clone(),
            figures: self.figures.clone(),
            reading: self.reading.clone(),
            grain: self.grain.clone(),
        }
    }
}

impl Catalogue {
    /// Gives a run that says nothing of its kernels, as those of older versions, the notes of this
    /// catalogue's kernels that it measured; leaves others as they are.
    pub fn annotate(&self, run: &mut Run) {
        if !run.kernels.is_empty() {
            return;
        }
        for measurement in &run.measurements {
            if let Some(kernel) = self.kernel(&measurement.kernel) {
                let note = || kernel.description.note();
                run.kernels.entry(measurement.kernel.clone()).or_insert_with(note);
            }
        }
    }
}
