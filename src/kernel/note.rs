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
        let published = self.published.as_ref().map(|published| record::PublishedFigure {
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
            gives_up: self.gives_up.clone(),
            divergence: self.divergence.clone(),
            figures: self.figures.clone(),
            reading: self.reading.clone(),
            read_from: self.read_from.clone(),
            grain: self.grain.clone(),
        }
    }
}

impl Catalogue {
    /// Gives a run that says nothing of its kernels, as those of older versions, the notes of this
    /// catalogue's kernels that it measured; to others the figures of kernels that had none when they were
    /// measured, since a figure can be drawn of any record, and which launches are ended by a limit.
    pub fn annotate(&self, run: &mut Run) {
        if !run.kernels.is_empty() {
            for (name, note) in &mut run.kernels {
                let Some(kernel) = self.kernel(name) else { continue };
                if note.figures.is_empty() {
                    note.figures.clone_from(&kernel.description.figures);
                }
                if note.gives_up.is_empty() {
                    note.gives_up.clone_from(&kernel.description.gives_up);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_figure_that_a_kernel_got_later_is_drawn_of_older_records() {
        let catalogue = Catalogue::embedded().expect("the catalogue is right");
        let kernel = catalogue.kernel("alignment/chunks").expect("a kernel with a figure");
        let mut run = fixtures::run();
        let older = KernelNote {
            question: Some("asked then".to_owned()),
            figures: Vec::new(),
            ..kernel.description.note()
        };
        run.kernels.insert("alignment/chunks".to_owned(), older);
        catalogue.annotate(&mut run);
        let note = &run.kernels["alignment/chunks"];
        assert_eq!(note.figures, kernel.description.figures);
        assert_eq!(note.question.as_deref(), Some("asked then"), "the rest is the record's");
        // So is what of an older record is ended by a limit.
        let kernel = catalogue.all().find(|kernel| !kernel.description.gives_up.is_empty());
        let kernel = kernel.expect("a kernel that waits");
        run.kernels.insert(kernel.id.clone(), KernelNote::default());
        catalogue.annotate(&mut run);
        assert_eq!(run.kernels[&kernel.id].gives_up, kernel.description.gives_up);
    }
}
