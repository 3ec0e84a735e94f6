//! Launches of kernels that are written in CUDA C++, for what WGSL cannot say.
//!
//! Input: launches whose text is CUDA C++. Output: outputs with their verdict, and what the device
//! holds at once of a cooperative launch. There are no blocks of WGSL in them, so nothing is counted by
//! source line: the record has the flag [`Tag::NoWgslToCount`] and no counts, rather than zeros.

use super::driver::Argument;
use super::embedded::native_text;
use super::runner::{Buffers, CudaRunner, Grid, Work};
use crate::kernel::{Launch, Native, Workgroups};
use crate::record::{Counter, Method, Tag};
use crate::run::counting::verify;
use crate::run::measure::{outputs_sha256, outputs_shown};
use crate::run::{Counted, RunError, RunErrorKind};

/// Why a cooperative launch is not timed.
pub(super) fn refused() -> RunError {
    let message = "the driver refuses a cooperative launch of more workgroups than fit at once";
    RunError::new(RunErrorKind::Unsupported, message)
}

impl CudaRunner {
    /// The dispatches of a launch, compiled.
    pub(super) fn native(&self, launch: &Launch, buffers: &Buffers) -> Result<Vec<Work>, RunError> {
        let image = self.compiler.text_image(&native_text(&launch.file, &launch.source))?;
        let arguments: Vec<Argument> =
            launch.buffers.iter().map(|buffer| buffers[&buffer.name].argument()).collect();
        let each = launch.dispatches.iter().map(|dispatch| {
            let Native { workgroup_size, cooperative } = dispatch.native.ok_or_else(|| {
                let message = format!("{} has no workgroup size", launch.kernel);
                RunError::new(RunErrorKind::BadInput, message)
            })?;
            let kernel = self.gpu().load(&image, &dispatch.entry_point)?.cooperative(cooperative);
            let grid = match &dispatch.workgroups {
                Workgroups::Direct(grid) => Grid::Direct(*grid),
                Workgroups::Indirect { buffer, offset } => {
                    Grid::Indirect { buffer: buffer.clone(), offset: *offset }
                }
            };
            Ok(Work {
                kernel,
                image: image.clone(),
                function: dispatch.entry_point.clone(),
                arguments: arguments.clone(),
                block: workgroup_size,
                grid,
            })
        });
        each.collect()
    }

    /// The most workgroups of a dispatch that the device holds at once, where it asks for all.
    fn held(&self, work: &Work) -> Result<Option<u32>, RunError> {
        let invocations = work.block.iter().product();
        let asked = work.kernel.is_cooperative();
        asked.then(|| self.gpu().resident(&work.kernel, invocations)).transpose()
    }

    /// Whether some dispatch asks for more workgroups at once than the device holds.
    pub(super) fn too_large(&self, ready: &[(Work, [u32; 3])]) -> Result<bool, RunError> {
        for (work, grid) in ready {
            let wanted: u64 = grid.iter().copied().map(u64::from).product();
            if self.held(work)?.is_some_and(|held| wanted > u64::from(held)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs a launch once and checks its outputs. A refused cooperative launch runs nothing, and
    /// whether that is right is for the reference to say.
    pub(super) fn run_native(&self, launch: &Launch) -> Result<Counted, RunError> {
        let buffers = self.buffers(launch)?;
        let mut flags = vec![Tag::NoWgslToCount.into()];
        let mut counters = Vec::new();
        for work in self.native(launch, &buffers)? {
            let grid = self.grid(launch, &work.grid, &buffers)?;
            if let Some(held) = self.held(&work)? {
                counters.push(Counter {
                    name: "workgroups_resident_max".to_owned(),
                    value: f64::from(held),
                    unit: "workgroups".to_owned(),
                    description: "workgroups of this kernel that the whole device holds at once: \
                                  cuOccupancyMaxActiveBlocksPerMultiprocessor times \
                                  multiprocessors"
                        .to_owned(),
                });
            }
            match self.run_once(&work, grid, &format!("running {}", launch.kernel)) {
                Err(error)
                    if work.kernel.is_cooperative() && error.kind == RunErrorKind::Unsupported =>
                {
                    flags.push(Tag::CooperativeLaunchRefused.into());
                }
                other => other?,
            }
        }
        let outputs = self.outputs(launch, &buffers)?;
        Ok(Counted {
            answer_ns: None,
            counters,
            width: self.device.subgroup_width_run,
            method: Method::Executed,
            dispatches: Vec::new(),
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: false,
            flags,
        })
    }
}
