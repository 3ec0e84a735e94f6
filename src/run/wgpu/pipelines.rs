//! Pipelines, each compiled once: the launches of a sweep run the same code on other data.
//!
//! Input: modules with bindings. Output: pipelines with their buffers bound. What compiles in the
//! driver's way does so at the first dispatch and stays with the pipeline: on lavapipe a module that
//! counts takes longer to compile than to run. Buffers and contents are `run::gpu`'s.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};
use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingResource, BindingType, BufferBindingType,
    ComputePipelineDescriptor, PipelineCompilationOptions, PipelineLayoutDescriptor,
    SamplerBindingType, ShaderModuleDescriptor, ShaderSource, ShaderStages, TextureSampleType,
};

use super::gpu::{Bound, ModuleSource, WgpuDevice};
use super::kept::Made;
use super::memory::WgpuMemory;
use super::{trusted, uniforms};
use crate::program::guard;
use crate::run::gpu::SlotKind;
use crate::run::{RunError, RunErrorKind};

/// What a pipeline binds.
type Slot<'a> = crate::run::gpu::Slot<'a, WgpuMemory>;

/// Group, binding and kind of a slot.
type SlotPlace = (u32, u32, BindingType);

impl WgpuDevice {
    /// Makes a pipeline, or takes one that was made of the same, and binds its buffers.
    pub(super) fn bind(
        &self,
        shader: &ModuleSource<'_>,
        slots: &[Slot<'_>],
    ) -> Result<Bound, RunError> {
        let groups_max = self.device.limits().max_bind_groups;
        if let Some(slot) = slots.iter().find(|slot| slot.group >= groups_max) {
            let message = format!(
                "{} binds @group({}); the device has {groups_max} bind groups, numbered from 0",
                shader.file, slot.group
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        let (features, limits) = (self.device.features(), self.device.limits());
        super::features::check(shader.file, shader.module, features, &limits)?;
        let stored =
            self.uniforms_as_storage.then(|| uniforms::as_storage(shader.module, slots, &limits));
        let (module, slots) =
            stored.flatten().unwrap_or_else(|| (shader.module.clone(), slots.to_vec()));
        self.check_filters(shader, &slots)?;
        let places: Vec<SlotPlace> =
            slots.iter().map(|s| (s.group, s.binding, self.binding_type(s))).collect();
        let key = key(&module, shader, &places);
        let kept = self.pipelines.borrow().get(&key);
        let is_new = kept.is_none();
        let bound = guard(shader.file, "translated for the driver", || {
            let made = kept.unwrap_or_else(|| self.make(module, shader, &slots));
            let bound = self.bound(&made, shader, &slots);
            (made, bound)
        });
        let (made, bound) =
            bound.map_err(|error| RunError::new(RunErrorKind::Panicked, error.to_string()))?;
        self.check(&format!("making a pipeline of {}", shader.file))?;
        if is_new {
            self.pipelines.borrow_mut().insert(key, made);
        }
        Ok(bound)
    }

    fn make(&self, module: naga::Module, shader: &ModuleSource<'_>, slots: &[Slot<'_>]) -> Made {
        let descriptor = ShaderModuleDescriptor {
            label: Some(shader.file),
            source: ShaderSource::Naga(Cow::Owned(module)),
        };
        let module = if shader.trusted {
            trusted::shader_module(&self.device, descriptor)
        } else {
            self.device.create_shader_module(descriptor)
        };
        let layout = |group: u32| {
            let members = slots.iter().filter(|slot| slot.group == group);
            let entry = |slot: &Slot<'_>| BindGroupLayoutEntry {
                binding: slot.binding,
                visibility: ShaderStages::COMPUTE,
                ty: self.binding_type(slot),
                count: None,
            };
            let entries: Vec<BindGroupLayoutEntry> = members.map(entry).collect();
            self.device.create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            })
        };
        let layouts: Vec<BindGroupLayout> = (0..groups(slots)).map(layout).collect();
        let all: Vec<Option<&BindGroupLayout>> = layouts.iter().map(Some).collect();
        let layout = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &all,
            immediate_size: u32::try_from(shader.immediates.len()).unwrap_or(u32::MAX),
        });
        let pipeline = self.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(shader.entry_point),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(shader.entry_point),
            compilation_options: PipelineCompilationOptions {
                zero_initialize_workgroup_memory: shader.zero_memory,
                ..PipelineCompilationOptions::default()
            },
            cache: None,
        });
        Made { pipeline, layouts }
    }

    fn bound(&self, made: &Made, shader: &ModuleSource<'_>, slots: &[Slot<'_>]) -> Bound {
        let mut bound = Vec::new();
        for (group, layout) in (0..groups(slots)).zip(&made.layouts) {
            let members = || slots.iter().filter(|slot| slot.group == group);
            let views: Vec<Option<wgpu::TextureView>> = members()
                .map(|slot| match (slot.buffer, slot.kind) {
                    (WgpuMemory::Texture(texture), SlotKind::Texture(view, class)) => {
                        Some(texture.view(view, class))
                    }
                    _ => None,
                })
                .collect();
            let entries: Vec<BindGroupEntry<'_>> = members()
                .zip(&views)
                .filter_map(|(slot, view)| {
                    let resource = resource(slot.buffer, view.as_ref())?;
                    Some(BindGroupEntry { binding: slot.binding, resource })
                })
                .collect();
            let descriptor = BindGroupDescriptor { label: None, layout, entries: &entries };
            bound.push((group, self.device.create_bind_group(&descriptor)));
        }
        Bound {
            pipeline: made.pipeline.clone(),
            groups: bound,
            immediates: shader.immediates.to_vec(),
        }
    }
}

impl WgpuDevice {
    /// How a slot is bound.
    fn binding_type(&self, slot: &Slot<'_>) -> BindingType {
        let ty = match (slot.kind, slot.buffer) {
            (SlotKind::Uniform, _) => BufferBindingType::Uniform,
            (SlotKind::Texture(view, class), WgpuMemory::Texture(texture)) => {
                return self.texture_entry(texture, view, class);
            }
            (SlotKind::Sampler, WgpuMemory::Sampler(_, kind)) => {
                return BindingType::Sampler(*kind);
            }
            (SlotKind::ReadOnly | SlotKind::Texture(..) | SlotKind::Sampler, _) => {
                BufferBindingType::Storage { read_only: true }
            }
            (SlotKind::ReadWrite, _) => BufferBindingType::Storage { read_only: false },
        };
        BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
    }

    /// Refuses a texture that is filtered on a device that does not filter its format: wgpu's own
    /// message names neither.
    fn check_filters(&self, shader: &ModuleSource<'_>, slots: &[Slot<'_>]) -> Result<(), RunError> {
        for (texture, sampler) in find_filtered(shader.module) {
            let at = |place: (u32, u32)| slots.iter().find(|s| (s.group, s.binding) == place);
            let (Some(texture), Some(sampler)) = (at(texture), at(sampler)) else { continue };
            let WgpuMemory::Texture(bound) = texture.buffer else { continue };
            let unfiltered = matches!(
                self.binding_type(texture),
                BindingType::Texture {
                    sample_type: TextureSampleType::Float { filterable: false },
                    ..
                }
            );
            let filters = matches!(
                self.binding_type(sampler),
                BindingType::Sampler(SamplerBindingType::Filtering)
            );
            if unfiltered && filters {
                let message = format!(
                    "{} filters the texture `{}`, and this device does not filter {}; choose another \
                     format, or set the sampler's `filter = \"nearest\"`",
                    shader.file, bound.name, bound.layout.format
                );
                return Err(RunError::new(RunErrorKind::Unsupported, message));
            }
        }
        Ok(())
    }
}

/// Group and binding of each texture and sampler that an entry point uses together.
fn find_filtered(module: &naga::Module) -> Vec<((u32, u32), (u32, u32))> {
    let place = |expression: &naga::Expression| match *expression {
        naga::Expression::GlobalVariable(variable) => {
            let binding = module.global_variables[variable].binding?;
            Some((binding.group, binding.binding))
        }
        _ => None,
    };
    let functions = module.functions.iter().map(|(_, function)| function);
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let mut pairs = Vec::new();
    for function in functions.chain(entries) {
        for (_, expression) in function.expressions.iter() {
            if let naga::Expression::ImageSample { image, sampler, .. } = *expression {
                let both = [image, sampler].map(|handle| place(&function.expressions[handle]));
                if let [Some(image), Some(sampler)] = both {
                    pairs.push((image, sampler));
                }
            }
        }
    }
    pairs
}

/// A slot's memory as wgpu binds it; `view` is a texture's.
fn resource<'a>(
    memory: &'a WgpuMemory,
    view: Option<&'a wgpu::TextureView>,
) -> Option<BindingResource<'a>> {
    match memory {
        WgpuMemory::Buffer(buffer) => Some(buffer.as_entire_binding()),
        WgpuMemory::Sampler(sampler, _) => Some(BindingResource::Sampler(sampler)),
        WgpuMemory::Texture(_) => view.map(BindingResource::TextureView),
    }
}

/// How many bind groups the slots take, from group 0 on.
fn groups(slots: &[Slot<'_>]) -> u32 {
    slots.iter().map(|slot| slot.group + 1).max().unwrap_or(0)
}

/// Stands for all that a pipeline follows from. The names of files and the places in their text say
/// nothing of it: kernels that share parts share their pipelines.
fn key(module: &naga::Module, shader: &ModuleSource<'_>, places: &[SlotPlace]) -> [u8; 32] {
    let ModuleSource { file: _, module: _, entry_point, trusted, zero_memory, immediates } = shader;
    let rest = (entry_point, trusted, zero_memory, immediates.len(), places);
    let mut hash = Sha256::new();
    hash.update(format!("{rest:?} "));
    let text = format!("{module:?}");
    let mut text = text.as_str();
    while let Some((before, after)) = text.split_once("Span {") {
        hash.update(before);
        text = after.split_once('}').map_or("", |(_, after)| after);
    }
    hash.update(text);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipeline_is_known_by_what_is_compiled_and_not_by_its_file() {
        let module = naga::Module::default();
        let key_of =
            |shader: &ModuleSource<'_>, places: &[SlotPlace]| key(shader.module, shader, places);
        let first = ModuleSource {
            file: "a.wgsl",
            module: &module,
            entry_point: "main",
            trusted: true,
            zero_memory: true,
            immediates: &[1, 2, 3, 4],
        };
        let buffer =
            |ty| BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let uniform = buffer(BufferBindingType::Uniform);
        let [read, write] =
            [true, false].map(|read_only| buffer(BufferBindingType::Storage { read_only }));
        let places = [(0, 0, uniform), (0, 1, write)];
        let known = key_of(&first, &places);
        assert_eq!(known, key_of(&ModuleSource { file: "b.wgsl", ..first }, &places));
        // Immediate data are set at each dispatch.
        assert_eq!(known, key_of(&ModuleSource { immediates: &[5, 6, 7, 8], ..first }, &places));
        let with = |place: naga::Span| {
            let mut module = naga::Module::default();
            let mut function = naga::Function::default();
            function.body.push(naga::Statement::Kill, place);
            module.functions.append(function, place);
            module
        };
        let (here, there) = (with(naga::Span::new(0, 4)), with(naga::Span::new(5, 9)));
        assert_ne!(format!("{here:?}"), format!("{there:?}"));
        let of_module = |module: &naga::Module| key_of(&ModuleSource { module, ..first }, &places);
        assert_eq!(of_module(&here), of_module(&there));
        assert_ne!(of_module(&here), known);
        let mut module = naga::Module::default();
        let inner = naga::TypeInner::Scalar(naga::Scalar::U32);
        module.types.insert(naga::Type { name: None, inner }, naga::Span::default());
        let others = [
            of_module(&module),
            key_of(&ModuleSource { entry_point: "other", ..first }, &places),
            key_of(&ModuleSource { trusted: false, ..first }, &places),
            key_of(&ModuleSource { zero_memory: false, ..first }, &places),
            key_of(&ModuleSource { immediates: &[], ..first }, &places),
            key_of(&first, &[(0, 0, read), (0, 1, write)]),
            key_of(&first, &[(0, 0, uniform), (1, 1, write)]),
        ];
        let mut all = std::collections::BTreeSet::from(others);
        assert!(all.insert(known));
        assert_eq!(all.len(), others.len() + 1);
    }
}
