//! What launches work on: their buffers on the device, and pipelines with their grids.
//!
//! Input: launches and their programs. Output: buffers with their first contents, bound pipelines, and
//! the bytes of outputs. Nothing is run here; what the device cannot hold is refused before a buffer
//! is made.

use std::collections::{BTreeMap, BTreeSet};

use wgpu::{Buffer, BufferUsages};

use super::gpu::{Bound, Grid, Shader, Slot, SlotKind};
use super::runner::WgpuRunner;
use crate::instrument::{Instrumented, Method, Options};
use crate::kernel::{Launch, Workgroups};
use crate::program::Program;
use crate::run::counting::{COUNTER_BYTES_MAX, Outputs, instrumented, known, written};
use crate::run::{RunError, RunErrorKind};
use crate::units::Width;

/// The lanes that a subgroup is taken to have in estimates for a device without subgroup operations:
/// what most GPUs run.
pub(super) const WIDTH_ASSUMED: u32 = 32;

/// A launch's buffers on the device.
pub(super) struct Buffers {
    pub(super) buffers: BTreeMap<String, Buffer>,
}

impl WgpuRunner {
    /// Makes a launch's buffers and fills them.
    pub(super) fn buffers(
        &self,
        launch: &Launch,
        programs: &[Program],
    ) -> Result<Buffers, RunError> {
        let indirect = |name: &str| {
            launch.dispatches.iter().any(|dispatch| match &dispatch.workgroups {
                Workgroups::Indirect { buffer, .. } => buffer == name,
                Workgroups::Direct(_) => false,
            })
        };
        let mut uniform = BTreeSet::new();
        for program in programs {
            for binding in bindings(program)? {
                if binding.uniform {
                    uniform.insert(binding.name);
                }
            }
        }
        self.check_limits(launch, &uniform)?;
        let written = written(programs)?;
        let mut inputs = self.inputs.borrow_mut();
        inputs.retain(launch);
        let mut buffers = BTreeMap::new();
        for buffer in &launch.buffers {
            let mut usage = BufferUsages::STORAGE;
            if uniform.contains(&buffer.name) {
                usage |= BufferUsages::UNIFORM;
            }
            if indirect(&buffer.name) {
                usage |= BufferUsages::INDIRECT;
            }
            let made = if written.contains(&buffer.name) {
                self.gpu.filled(launch, buffer, usage)
            } else {
                inputs.get(&self.gpu, launch, buffer, usage)
            };
            buffers.insert(buffer.name.clone(), made);
        }
        self.gpu.check(&format!("making the buffers of {}", launch.kernel))?;
        Ok(Buffers { buffers })
    }

    /// Refuses what the device cannot hold or dispatch, before any buffer is made.
    pub(super) fn check_limits(
        &self,
        launch: &Launch,
        uniform: &BTreeSet<String>,
    ) -> Result<(), RunError> {
        let limits = self.gpu.device.limits();
        let refused = |message| Err(RunError::new(RunErrorKind::Unsupported, message));
        for buffer in &launch.buffers {
            let binding_max = if uniform.contains(&buffer.name) {
                limits.max_uniform_buffer_binding_size
            } else {
                limits.max_storage_buffer_binding_size
            };
            let bytes_max = binding_max.min(limits.max_buffer_size);
            if buffer.size > bytes_max {
                return refused(format!(
                    "buffer `{}` has {} bytes; {} binds at most {bytes_max}; choose a smaller launch",
                    buffer.name, buffer.size, self.device.id
                ));
            }
        }
        let max = limits.max_compute_workgroups_per_dimension;
        for dispatch in &launch.dispatches {
            if let Workgroups::Direct([x, y, z]) = dispatch.workgroups
                && x.max(y).max(z) > max
            {
                return refused(format!(
                    "`{}` has {x}×{y}×{z} workgroups; {} takes at most {max} along a dimension",
                    dispatch.entry_point, self.device.id
                ));
            }
        }
        Ok(())
    }

    /// Reads a launch's outputs.
    pub(super) fn outputs(&self, launch: &Launch, buffers: &Buffers) -> Result<Outputs, RunError> {
        let mut outputs = BTreeMap::new();
        for buffer in launch.buffers.iter().filter(|buffer| buffer.output) {
            let bytes = self.gpu.read(&buffers.buffers[&buffer.name], buffer.size)?;
            outputs.insert(buffer.name.clone(), bytes);
        }
        Ok(outputs)
    }

    /// A program that counts, with its counters' buffer.
    pub(super) fn counting(
        &self,
        program: &Program,
        workgroups: &Workgroups,
        method: Method,
    ) -> Result<(Instrumented, Buffer), RunError> {
        let widest = [self.device.subgroup_width_max, self.device.subgroup_width_run];
        // A driver that reports too narrow a width must not write past the histogram's end.
        let widest = widest.iter().flatten().map(|width| width.lanes()).max().unwrap_or(1);
        let options = Options {
            method,
            subgroup_width_max: match method {
                Method::Estimated => {
                    self.device.subgroup_width_run.map_or(WIDTH_ASSUMED, Width::lanes)
                }
                Method::Executed | Method::Histogram | Method::Derived => widest,
            },
            counter_bytes_max: COUNTER_BYTES_MAX,
            workgroups: known(workgroups),
        };
        let instrumented = instrumented(program, &options)?;
        let size = instrumented.counters().size;
        let counters = self.gpu.buffer("counters", BufferUsages::STORAGE, size);
        Ok((instrumented, counters))
    }

    /// Pipelines of a launch, plain or counting, with their grids.
    pub(super) fn pipelines(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &Buffers,
        counting: Option<Method>,
    ) -> Result<Vec<(Bound, Grid)>, RunError> {
        let mut work = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(programs) {
            let mut slots = buffers.slots(launch, program)?;
            let counting = counting
                .map(|method| self.counting(program, &dispatch.workgroups, method))
                .transpose()?;
            if let Some((instrumented, counters)) = &counting {
                slots.push(counter_slot(instrumented, counters));
            }
            let module = counting.as_ref().map_or(program.module(), |(made, _)| made.module());
            let shader = Shader {
                file: &launch.file,
                module,
                entry_point: &dispatch.entry_point,
                trusted: launch.trusted,
                zero_memory: launch.workgroup_memory_zeroed,
                immediates: &launch.immediates,
            };
            let bound = self.gpu.bind(&shader, &slots)?;
            work.push((bound, buffers.grid(&dispatch.workgroups)?));
        }
        Ok(work)
    }
}

impl Buffers {
    /// The bindings of a program, each with its buffer.
    pub(super) fn slots(
        &self,
        launch: &Launch,
        program: &Program,
    ) -> Result<Vec<Slot<'_>>, RunError> {
        bindings(program)?
            .into_iter()
            .map(|binding| {
                let buffer = self.buffers.get(&binding.name).ok_or_else(|| {
                    let message =
                        format!("{} describes no buffer `{}`", launch.kernel, binding.name);
                    RunError::new(RunErrorKind::BadInput, message)
                })?;
                let kind = match (binding.uniform, binding.writable) {
                    (true, _) => SlotKind::Uniform,
                    (false, false) => SlotKind::ReadOnly,
                    (false, true) => SlotKind::ReadWrite,
                };
                Ok(Slot { group: binding.group, binding: binding.binding, kind, buffer })
            })
            .collect()
    }

    pub(super) fn grid(&self, workgroups: &Workgroups) -> Result<Grid, RunError> {
        match workgroups {
            Workgroups::Direct(grid) => Ok(Grid::Direct(*grid)),
            Workgroups::Indirect { buffer, offset } => {
                let found = self.buffers.get(buffer).ok_or_else(|| {
                    let message = format!("there is no buffer `{buffer}` for an indirect dispatch");
                    RunError::new(RunErrorKind::BadInput, message)
                })?;
                Ok(Grid::Indirect(found.clone(), *offset))
            }
        }
    }
}

fn bindings(program: &Program) -> Result<Vec<crate::program::Binding>, RunError> {
    program.bindings().map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))
}

/// Where a counting module's counters are bound.
pub(super) fn counter_slot<'a>(instrumented: &Instrumented, buffer: &'a Buffer) -> Slot<'a> {
    let place = instrumented.counters();
    Slot { group: place.group, binding: place.binding, kind: SlotKind::ReadWrite, buffer }
}
