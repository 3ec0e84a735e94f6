//! A plan's stages on a device: pipelines, scratch memory, bindings.
//!
//! Input: a device, a [`Plan`], the caller's buffers. Output: [`PreparedDispatch`]s to encode. What is cut how is the
//! plan's matter; it checks nothing.

use std::collections::BTreeMap;
use std::num::NonZero;

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferDescriptor, BufferUsages, ComputePass, ComputePipeline, ComputePipelineDescriptor,
    Device, PipelineCompilationOptions, ShaderModule,
};

use crate::partition::{Memory, Path, Plan, Stage};
use crate::shaders;
use crate::trusted::{ENABLE_SUBGROUPS, shader_module};

/// The shader, in its parts.
const SHADER: [&str; 3] = [shaders::SPLIT, shaders::SPLIT_FEW, shaders::SPLIT_MANY];

/// The same for [`Path::Runs`].
const SHADER_OF_RUNS: [&str; 3] = [shaders::SPLIT, shaders::SPLIT_MANY, shaders::SPLIT_RUNS];

/// The line of the shader that holds its constants, and what it becomes for [`folds_values`].
const SPLIT_UNIFORM: &str = "var<uniform> split: Split;";
const SPLIT_STORAGE: &str = "var<storage, read> split: Split;";

/// A dispatch.
#[derive(Debug)]
pub(crate) struct PreparedDispatch {
    pipeline: ComputePipeline,
    group: BindGroup,
    workgroups: [u32; 3],
}

impl PreparedDispatch {
    /// Adds it to a pass.
    pub(crate) fn encode(&self, pass: &mut ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let [x, y, z] = self.workgroups;
        pass.dispatch_workgroups(x, y, z);
    }
}

/// What steps are made from.
pub(super) struct DispatchMaker<'a> {
    device: &'a Device,
    plan: &'a Plan,
    module: ShaderModule,
    constants: Vec<(&'static str, f64)>,
    buffers: BTreeMap<Memory, Buffer>,
}

impl<'a> DispatchMaker<'a> {
    /// Makes the module, and a buffer for each that the plan has and the caller did not give.
    pub(super) fn new(device: &'a Device, plan: &'a Plan, given: &[(Memory, &Buffer)]) -> Self {
        let constants = constants(device, &plan.overrides);
        let mut buffers: BTreeMap<Memory, Buffer> =
            given.iter().map(|(memory, buffer)| (*memory, (*buffer).clone())).collect();
        buffers.insert(Memory::Split, words(device, "split", &plan.split));
        for (memory, length) in &plan.lengths {
            let label = Some(memory.variable(plan.tuning.path));
            buffers.entry(*memory).or_insert_with(|| {
                device.create_buffer(&BufferDescriptor {
                    label,
                    size: length * 4,
                    usage: BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            });
        }
        // One storage buffer more than the most that a stage binds else.
        let parts = if plan.tuning.path == Path::Runs { SHADER_OF_RUNS } else { SHADER };
        let module = module(device, &parts, super::STORAGE_BUFFERS + 1);
        Self { device, plan, module, constants, buffers }
    }

    /// Makes every stage of the plan.
    pub(super) fn steps(&self) -> Vec<PreparedDispatch> {
        self.plan.stages.iter().map(|stage| self.step(stage)).collect()
    }

    fn step(&self, stage: &Stage) -> PreparedDispatch {
        let bound: Vec<(u32, &Buffer)> =
            stage.binds.iter().map(|memory| (memory.binding(), &self.buffers[memory])).collect();
        let Self { device, module, constants, .. } = self;
        step(device, module, stage.entry_point, constants, &bound, stage.workgroups)
    }
}

/// Values of a plan's overrides, and of those that say which code no width of the device needs.
pub(crate) fn constants(
    device: &Device,
    overrides: &BTreeMap<&'static str, u32>,
) -> Vec<(&'static str, f64)> {
    let widths = device.adapter_info();
    let mut constants: Vec<(&'static str, f64)> =
        overrides.iter().map(|(name, value)| (*name, f64::from(*value))).collect();
    constants.extend([
        ("NARROW", f64::from(u8::from(widths.subgroup_min_size < 32))),
        ("WIDE", f64::from(u8::from(widths.subgroup_max_size > 32))),
    ]);
    constants
}

/// Makes the module of a shader that `parts` make up; where the driver folds values of uniform
/// buffers and a stage may bind `storage_buffers`, with `split` in storage.
pub(crate) fn module(device: &Device, parts: &[&str], storage_buffers: u32) -> ShaderModule {
    let room = device.limits().max_storage_buffers_per_shader_stage >= storage_buffers;
    let mut text = format!("{ENABLE_SUBGROUPS}\n{}", parts.concat());
    if room && folds_values(device) {
        text = text.replace(SPLIT_UNIFORM, SPLIT_STORAGE);
    }
    shader_module(device, "multisplit", &text)
}

/// Whether the driver is lavapipe, which compiles anew at each dispatch for the values of uniform
/// buffers that flow depends on; read-only storage it leaves alone.
fn folds_values(device: &Device) -> bool {
    device.adapter_info().driver == "llvmpipe"
}

/// Makes a step of an entry point; the bindings are those of group 0.
pub(super) fn step(
    device: &Device,
    module: &ShaderModule,
    entry_point: &str,
    constants: &[(&str, f64)],
    bound: &[(u32, &Buffer)],
    workgroups: [u32; 3],
) -> PreparedDispatch {
    dispatch(device, &pipeline(device, module, entry_point, constants), bound, workgroups)
}

/// Makes the pipeline of an entry point.
pub(crate) fn pipeline(
    device: &Device,
    module: &ShaderModule,
    entry_point: &str,
    constants: &[(&str, f64)],
) -> ComputePipeline {
    device.create_compute_pipeline(&ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: None,
        module,
        entry_point: Some(entry_point),
        compilation_options: PipelineCompilationOptions {
            constants,
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    })
}

/// Makes a dispatch of a pipeline; the bindings are those of group 0.
pub(crate) fn dispatch(
    device: &Device,
    pipeline: &ComputePipeline,
    bound: &[(u32, &Buffer)],
    workgroups: [u32; 3],
) -> PreparedDispatch {
    let most = device.limits().max_storage_buffer_binding_size / 4 * 4;
    let entries: Vec<BindGroupEntry<'_>> = bound
        .iter()
        .map(|(binding, buffer)| BindGroupEntry {
            binding: *binding,
            resource: BindingResource::Buffer(BufferBinding {
                buffer,
                offset: 0,
                // A caller's buffer may be longer than a binding.
                size: NonZero::new(buffer.size().min(most)),
            }),
        })
        .collect();
    let group = device.create_bind_group(&BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    PreparedDispatch { pipeline: pipeline.clone(), group, workgroups }
}

/// A buffer of the shader's constants, for either way of binding it.
pub(crate) fn words(device: &Device, label: &str, words: &[u32]) -> Buffer {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size: bytes.len() as u64,
        usage: BufferUsages::UNIFORM | BufferUsages::STORAGE,
        mapped_at_creation: true,
    });
    if let Ok(mut view) = buffer.slice(..).get_mapped_range_mut() {
        view.copy_from_slice(&bytes);
    }
    buffer.unmap();
    buffer
}
