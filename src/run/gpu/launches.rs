//! What launches work on: their buffers on the device, and kernels with their grids.
//!
//! Input: launches and their programs. Output: buffers with their first contents, compiled dispatches,
//! and the bytes of outputs. Nothing is timed here; what the device cannot hold is refused before a
//! buffer is made.

use std::collections::{BTreeMap, BTreeSet};

use super::device::GpuRunner;
use super::inputs::Inputs;
use super::{Gpu, Grid, Shader, Slot, SlotKind, TextureUses, Uses};
use crate::instrument::{CounterScheme, Instrumented, Options};
use crate::kernel::{Dispatch, Launch, TexelFill, Workgroups, generate::Fill};
use crate::program::{Binding, Bound, BoundSampler, BoundTexture, Program};
use crate::record::Device;
use crate::run::counting::{COUNTER_BYTES_MAX, Outputs, find_written, instrument};
use crate::run::probes::words;
use crate::run::{RunError, RunErrorKind};
use crate::texture::{TextureAccess, TextureClass};
use crate::units::Width;

/// The lanes that a subgroup is taken to have in estimates for a device without subgroup operations:
/// what most GPUs run.
pub(super) const WIDTH_ASSUMED: u32 = 32;

/// A launch's buffers on the device, by name.
pub(in crate::run) type Buffers<B> = BTreeMap<String, B>;

/// A module that counts, with its counters' buffer.
pub(super) struct Counters<B> {
    pub(super) instrumented: Instrumented,
    pub(super) buffer: B,
}

/// The widths that counters are made for.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    run: Option<Width>,
    widest: u32,
}

impl Widths {
    pub(super) fn from_device(device: &Device) -> Self {
        let widest = [device.subgroup_width_max, device.subgroup_width_run];
        // A driver that reports too narrow a width must not write past the histogram's end.
        let widest = widest.iter().flatten().map(|width| width.lanes()).max().unwrap_or(1);
        Self { run: device.subgroup_width_run, widest }
    }

    /// How a dispatch of so many workgroups is instrumented.
    pub(super) fn options(self, workgroups: &Workgroups, method: CounterScheme) -> Options {
        let subgroup_width_max = match method {
            CounterScheme::Estimated => self.run.map_or(WIDTH_ASSUMED, Width::lanes),
            CounterScheme::Executed | CounterScheme::Histogram | CounterScheme::Derived => {
                self.widest
            }
        };
        let workgroups = workgroups.direct();
        Options { method, subgroup_width_max, counter_bytes_max: COUNTER_BYTES_MAX, workgroups }
    }
}

/// A dispatch's shader, plain or counting.
pub(super) fn shader<'a>(
    launch: &'a Launch,
    program: &'a Program,
    counting: Option<&'a Instrumented>,
) -> Shader<'a> {
    Shader {
        program,
        counting,
        trusted: launch.trusted,
        zero_memory: launch.workgroup_memory_zeroed,
        immediates: &launch.immediates,
    }
}

impl<G: Gpu> GpuRunner<G> {
    /// Makes a launch's buffers and fills them; what no shader writes is taken from the launch before
    /// where that had the same.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] where the device cannot hold them, and what making them gives.
    pub(in crate::run) fn buffers(
        &self,
        launch: &Launch,
        programs: &[Program],
    ) -> Result<Buffers<G::Buffer>, RunError> {
        let uses = uses(launch, programs)?;
        self.check_limits(launch, &uses)?;
        let written = written_by(launch, programs)?;
        let mut inputs = self.inputs.borrow_mut();
        inputs.retain(launch);
        let mut buffers = BTreeMap::new();
        for buffer in &launch.buffers {
            let uses = uses.get(&buffer.name).copied().unwrap_or_default();
            let make = || self.fill_buffer(launch, buffer, uses);
            let made = if written.contains(&buffer.name) {
                make()?
            } else {
                inputs.get(launch, buffer, uses, make)?
            };
            buffers.insert(buffer.name.clone(), made);
        }
        self.add_textures(launch, programs, &mut buffers)?;
        Ok(buffers)
    }

    /// Makes a launch's textures and samplers.
    fn add_textures(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &mut Buffers<G::Buffer>,
    ) -> Result<(), RunError> {
        let uses = texture_uses(programs)?;
        for texture in &launch.textures {
            let uses = uses.get(&texture.name).copied().unwrap_or_default();
            let made = self.gpu.texture(&texture.name, &texture.layout, uses)?;
            if texture.fill != TexelFill::Zero {
                self.gpu.write(&made, 0, &launch.texels(texture))?;
            }
            buffers.insert(texture.name.clone(), made);
        }
        for sampler in &launch.samplers {
            let made = self.gpu.sampler(&sampler.name, &sampler.settings)?;
            buffers.insert(sampler.name.clone(), made);
        }
        Ok(())
    }

    /// As [`Self::buffers`], with memory of its own for each.
    ///
    /// # Errors
    ///
    /// As [`Self::buffers`].
    pub(in crate::run) fn buffers_apart(
        &self,
        launch: &Launch,
        programs: &[Program],
    ) -> Result<Buffers<G::Buffer>, RunError> {
        let uses = uses(launch, programs)?;
        self.check_limits(launch, &uses)?;
        let made = launch.buffers.iter().map(|buffer| {
            let uses = uses.get(&buffer.name).copied().unwrap_or_default();
            Ok((buffer.name.clone(), self.fill_buffer(launch, buffer, uses)?))
        });
        let mut buffers = made.collect::<Result<_, RunError>>()?;
        self.add_textures(launch, programs, &mut buffers)?;
        Ok(buffers)
    }

    /// Lets go of the contents that are kept for the next launch.
    pub(in crate::run) fn forget_inputs(&self) {
        *self.inputs.borrow_mut() = Inputs::default();
    }

    /// A buffer of a launch with its first contents.
    fn fill_buffer(
        &self,
        launch: &Launch,
        buffer: &crate::kernel::Buffer,
        uses: Uses,
    ) -> Result<G::Buffer, RunError> {
        let made = self.gpu.buffer(&buffer.name, buffer.size, uses)?;
        // Buffers begin as zeros, which need not be sent.
        if buffer.fill != Fill::Zero {
            self.gpu.write(&made, 0, &launch.contents(buffer))?;
        }
        Ok(made)
    }

    /// Fills a launch's buffers as they were at first, where one of `names` is theirs.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub(super) fn refill(
        &self,
        launch: &Launch,
        buffers: &Buffers<G::Buffer>,
        names: &BTreeSet<String>,
    ) -> Result<(), RunError> {
        for buffer in launch.buffers.iter().filter(|buffer| names.contains(&buffer.name)) {
            self.gpu.write(&buffers[&buffer.name], 0, &launch.contents(buffer))?;
        }
        for texture in launch.textures.iter().filter(|texture| names.contains(&texture.name)) {
            self.gpu.write(&buffers[&texture.name], 0, &launch.texels(texture))?;
        }
        Ok(())
    }

    /// Refuses what the device cannot hold or dispatch, before any buffer is made.
    fn check_limits(&self, launch: &Launch, uses: &BTreeMap<String, Uses>) -> Result<(), RunError> {
        let limits = self.gpu.limits();
        let refused = |message| Err(RunError::new(RunErrorKind::Unsupported, message));
        for buffer in &launch.buffers {
            let uniform = uses.get(&buffer.name).is_some_and(|uses| uses.uniform);
            let bytes_max =
                if uniform { limits.uniform_bytes_max } else { limits.storage_bytes_max };
            if buffer.size > bytes_max {
                return refused(format!(
                    "buffer `{}` has {} bytes; {} binds at most {bytes_max}; choose a smaller launch",
                    buffer.name, buffer.size, self.device.id
                ));
            }
        }
        let needed: u64 = launch.buffers.iter().map(|buffer| buffer.size).sum();
        if let Some(there) = limits.memory_bytes.filter(|there| needed > *there) {
            return refused(format!(
                "{} needs {needed} bytes of buffers; {} has {there}; choose a smaller launch",
                launch.kernel, self.device.id
            ));
        }
        for dispatch in &launch.dispatches {
            if let Workgroups::Direct(workgroups) = dispatch.workgroups {
                self.check_workgroups(&dispatch.entry_point, workgroups)?;
            }
        }
        Ok(())
    }

    /// Refuses a grid that is too large.
    fn check_workgroups(&self, entry_point: &str, workgroups: [u32; 3]) -> Result<(), RunError> {
        let max = self.gpu.limits().workgroups_max;
        if workgroups.iter().zip(max).all(|(count, max)| *count <= max) {
            return Ok(());
        }
        let [x, y, z] = workgroups;
        let message = format!(
            "`{entry_point}` has {x}×{y}×{z} workgroups; {} takes at most {}×{}×{}",
            self.device.id, max[0], max[1], max[2]
        );
        Err(RunError::new(RunErrorKind::Unsupported, message))
    }

    /// Reads a launch's outputs.
    ///
    /// # Errors
    ///
    /// What reading gives.
    pub(in crate::run) fn outputs(
        &self,
        launch: &Launch,
        buffers: &Buffers<G::Buffer>,
    ) -> Result<Outputs, RunError> {
        let mut outputs = BTreeMap::new();
        for buffer in launch.buffers.iter().filter(|buffer| buffer.output) {
            let bytes = self.gpu.read(&buffers[&buffer.name], 0, buffer.size)?;
            outputs.insert(buffer.name.clone(), bytes);
        }
        for texture in launch.textures.iter().filter(|texture| texture.output) {
            let bytes = self.gpu.read(&buffers[&texture.name], 0, texture.layout.bytes())?;
            outputs.insert(texture.name.clone(), bytes);
        }
        Ok(outputs)
    }

    /// A module that counts, with its counters' buffer.
    pub(super) fn counters(
        &self,
        program: &Program,
        workgroups: &Workgroups,
        method: CounterScheme,
    ) -> Result<Counters<G::Buffer>, RunError> {
        let widths = Widths::from_device(&self.device);
        let instrumented = instrument(program, &widths.options(workgroups, method))?;
        let size = instrumented.counters().size;
        let buffer = self.gpu.buffer("counters", size, Uses::default())?;
        Ok(Counters { instrumented, buffer })
    }

    /// A dispatch compiled over a launch's buffers, plain or counting, with its grid.
    pub(super) fn kernel(
        &self,
        launch: &Launch,
        program: &Program,
        buffers: &Buffers<G::Buffer>,
        counters: Option<&Counters<G::Buffer>>,
    ) -> Result<G::Kernel, RunError> {
        let mut slots = slots(launch, program, buffers)?;
        if let Some(Counters { instrumented, buffer }) = counters {
            let place = instrumented.counters();
            let (group, binding) = (place.group, place.binding);
            slots.push(Slot { group, binding, kind: SlotKind::ReadWrite, buffer });
        }
        let counting = counters.map(|counters| &counters.instrumented);
        self.gpu.compile(&shader(launch, program, counting), &slots)
    }

    /// A grid as the device takes it: read back where it does not take it from a buffer.
    pub(super) fn settle_grid(
        &self,
        dispatch: &Dispatch,
        buffers: &Buffers<G::Buffer>,
    ) -> Result<Grid<G::Buffer>, RunError> {
        let grid = grid(&dispatch.workgroups, buffers)?;
        let Grid::Indirect(buffer, offset) = &grid else { return Ok(grid) };
        if G::TAKES_INDIRECT_GRIDS {
            return Ok(grid);
        }
        let counts = words(&self.gpu.read(buffer, *offset, 12)?);
        let workgroups = [counts[0], counts[1], counts[2]];
        self.check_workgroups(&dispatch.entry_point, workgroups)?;
        Ok(Grid::Direct(workgroups))
    }
}

/// The names of the buffers that a launch may write: all, where there are no programs to tell by.
pub(super) fn written_by(
    launch: &Launch,
    programs: &[Program],
) -> Result<BTreeSet<String>, RunError> {
    if programs.is_empty() {
        let buffers = launch.buffers.iter().map(|buffer| buffer.name.clone());
        return Ok(buffers.collect());
    }
    find_written(programs)
}

/// What each buffer is used for that is not only storage.
fn uses(launch: &Launch, programs: &[Program]) -> Result<BTreeMap<String, Uses>, RunError> {
    let mut uses: BTreeMap<String, Uses> = BTreeMap::new();
    for program in programs {
        for binding in bound(program)?.buffers.into_iter().filter(|binding| binding.uniform) {
            uses.entry(binding.name).or_default().uniform = true;
        }
    }
    for dispatch in &launch.dispatches {
        if let Workgroups::Indirect { buffer, .. } = &dispatch.workgroups {
            uses.entry(buffer.clone()).or_default().indirect = true;
        }
    }
    Ok(uses)
}

/// The bindings of a program, each with its buffer.
fn slots<'b, B>(
    launch: &Launch,
    program: &Program,
    buffers: &'b Buffers<B>,
) -> Result<Vec<Slot<'b, B>>, RunError> {
    let find = |what: &str, name: &str| {
        buffers.get(name).ok_or_else(|| {
            let message = format!("{} describes no {what} `{name}`", launch.kernel);
            RunError::new(RunErrorKind::BadInput, message)
        })
    };
    let Bound { buffers: bindings, textures, samplers } = bound(program)?;
    let slot = |binding: Binding| {
        let buffer = find("buffer", &binding.name)?;
        let kind = match (binding.uniform, binding.writable) {
            (true, _) => SlotKind::Uniform,
            (false, false) => SlotKind::ReadOnly,
            (false, true) => SlotKind::ReadWrite,
        };
        Ok(Slot { group: binding.group, binding: binding.binding, kind, buffer })
    };
    let mut slots = bindings.into_iter().map(slot).collect::<Result<Vec<_>, RunError>>()?;
    for texture in textures {
        let BoundTexture { name, group, binding, view, class, .. } = texture;
        let (buffer, kind) = (find("texture", &name)?, SlotKind::Texture(view, class));
        slots.push(Slot { group, binding, kind, buffer });
    }
    for sampler in samplers {
        let BoundSampler { name, group, binding, .. } = sampler;
        slots.push(Slot {
            group,
            binding,
            kind: SlotKind::Sampler,
            buffer: find("sampler", &name)?,
        });
    }
    Ok(slots)
}

fn bound(program: &Program) -> Result<Bound, RunError> {
    program.bound().map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))
}

/// What each texture is used for.
fn texture_uses(programs: &[Program]) -> Result<BTreeMap<String, TextureUses>, RunError> {
    let mut uses: BTreeMap<String, TextureUses> = BTreeMap::new();
    for program in programs {
        for texture in bound(program)?.textures {
            let uses = uses.entry(texture.name).or_default();
            match texture.class {
                TextureClass::Sampled { .. } => uses.sampled = true,
                TextureClass::Storage { access, .. } => {
                    uses.stored = true;
                    uses.atomic |= access == TextureAccess::Atomic;
                }
            }
        }
    }
    Ok(uses)
}

/// The grid of a dispatch, in a buffer where that holds it.
fn grid<B: Clone>(workgroups: &Workgroups, buffers: &Buffers<B>) -> Result<Grid<B>, RunError> {
    match workgroups {
        Workgroups::Direct(grid) => Ok(Grid::Direct(*grid)),
        Workgroups::Indirect { buffer, offset } => {
            let found = buffers.get(buffer).ok_or_else(|| {
                let message = format!("there is no buffer `{buffer}` for an indirect dispatch");
                RunError::new(RunErrorKind::BadInput, message)
            })?;
            Ok(Grid::Indirect(found.clone(), *offset))
        }
    }
}
