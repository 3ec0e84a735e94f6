//! Reductions, prefix sums, compaction and softmax over a caller's device.
//!
//! Input: a device with subgroups, buffers, a number of elements. Output: commands recorded into the
//! caller's pass or encoder. Here is what they share: types, errors, limits and the making of
//! pipelines; the package's page says the rest.

mod compact;
mod reduce;
mod scan;
mod softmax;
#[cfg(test)]
mod tests;

use std::fmt;

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferDescriptor, BufferUsages, ComputePass, ComputePipeline, ComputePipelineDescriptor,
    Device, Features, PipelineCompilationOptions,
};

pub use compact::{Compact, CompactCall, Flags};
pub use reduce::{Reduce, ReduceCall, ReduceScratch, ReduceTuning};
pub use scan::{Scan, ScanCall, ScanKind, ScanScratch, ScanTuning};
pub use softmax::{Softmax, SoftmaxCall, SoftmaxTuning};

/// Workgroups along one dimension that every device takes.
const WORKGROUPS_PER_DIMENSION_MAX: u64 = 65_535;

/// Where a binding may begin in a buffer, in bytes: every device takes multiples of this.
const OFFSET_ALIGNMENT: u64 = 256;

/// Bytes of an element; all types here have this size.
const ELEMENT_BYTES: u64 = 4;

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// 32-bit floats. Their sums depend on the order, which is the library's choice; infinities and
    /// NaN give no defined result, as in WGSL.
    F32,
    /// 32-bit unsigned integers; sums and products wrap.
    U32,
    /// 32-bit signed integers; sums and products wrap.
    I32,
}

/// What combines two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their product.
    Product,
    /// The greater.
    Max,
    /// The lesser.
    Min,
    /// The bits that both have; for integers.
    And,
    /// The bits that either has; for integers.
    Or,
    /// The bits that one has and the other has not; for integers.
    Xor,
}

/// Why an algorithm cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AlgorithmError {
    /// The device was opened without subgroups.
    #[error("the device has no subgroups: open it with wgpu::Features::SUBGROUP")]
    NoSubgroups,
    /// The device may run subgroups of fewer than four lanes.
    #[error("the device runs subgroups of {width} lanes; at least 4 are needed")]
    SubgroupTooNarrow {
        /// The least width that the driver reports, in lanes.
        width: u32,
    },
    /// The operation is not one of the type's.
    #[error("{operation} is no operation of {element}")]
    NotForType {
        /// The operation.
        operation: Operation,
        /// The type.
        element: Element,
    },
    /// A tuning parameter lies outside what the shader or the device takes.
    #[error("{name} = {value} is not possible here; it must be {allowed}")]
    Tuning {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u32,
        /// What is allowed, worded.
        allowed: String,
    },
    /// A buffer is shorter than its vectors of four need.
    #[error(
        "the {name} buffer has {size} bytes; {n} elements need {needed}, a multiple of 16: a \
         buffer must reach to the end of the last vector of four"
    )]
    BufferTooShort {
        /// Which buffer.
        name: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The elements asked for.
        n: u64,
        /// The bytes that they need.
        needed: u64,
    },
    /// More elements than the scratch buffers or a binding are for.
    #[error("{n} elements are more than {max}, the most that this takes here")]
    TooMany {
        /// The elements asked for.
        n: u64,
        /// The most that are possible.
        max: u64,
    },
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::F32 => "f32",
            Self::U32 => "u32",
            Self::I32 => "i32",
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Add => "add",
            Self::Product => "product",
            Self::Max => "max",
            Self::Min => "min",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        })
    }
}

/// Refuses devices on which the shaders would not work.
fn check_device(device: &Device) -> Result<(), AlgorithmError> {
    if !device.features().contains(Features::SUBGROUP) {
        return Err(AlgorithmError::NoSubgroups);
    }
    let width = device.adapter_info().subgroup_min_size;
    if width < 4 {
        return Err(AlgorithmError::SubgroupTooNarrow { width });
    }
    Ok(())
}

/// Refuses a workgroup size that the device or the shaders do not take.
fn check_workgroup(device: &Device, size: u32) -> Result<(), AlgorithmError> {
    let limits = device.limits();
    let max = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    if size.is_power_of_two() && (128..=max).contains(&size) {
        return Ok(());
    }
    let allowed = format!("a power of two from 128 to {max}");
    Err(AlgorithmError::Tuning { name: "workgroup_size", value: size, allowed })
}

/// `wanted`, a power of two, or less where the device's workgroups are smaller.
fn workgroup_size(device: &Device, wanted: u32) -> u32 {
    let limits = device.limits();
    let max = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    wanted.min(1 << max.max(1).ilog2())
}

/// Refuses a number of items that is not from 1 to 16.
fn check_items(name: &'static str, items: u32) -> Result<(), AlgorithmError> {
    if (1..=16).contains(&items) {
        return Ok(());
    }
    Err(AlgorithmError::Tuning { name, value: items, allowed: "from 1 to 16".to_owned() })
}

/// Refuses a buffer that does not hold `n` elements in vectors of four.
fn check_length(name: &'static str, buffer: &Buffer, n: u64) -> Result<(), AlgorithmError> {
    let needed = padded_bytes(n);
    if buffer.size() < needed {
        return Err(AlgorithmError::BufferTooShort { name, size: buffer.size(), n, needed });
    }
    Ok(())
}

/// The bytes of `n` elements with the last vector of four filled up.
fn padded_bytes(n: u64) -> u64 {
    (n * ELEMENT_BYTES).next_multiple_of(16)
}

/// The most bytes of one binding, a multiple of what offsets are.
fn binding_bytes_max(device: &Device) -> u64 {
    // Shaders count vectors in 32 bits, with room for what lies beyond the last tile.
    let most = device.limits().max_storage_buffer_binding_size.min(1 << 32);
    most / OFFSET_ALIGNMENT * OFFSET_ALIGNMENT
}

/// Replaces lines of a shader: types, operations, numbers.
///
/// # Panics
///
/// Where the shader has no such text: the shader and this module are out of step.
fn specialise(text: &str, replacements: &[(&str, String)]) -> String {
    let mut result = text.to_owned();
    for (old, new) in replacements {
        assert!(result.contains(old), "the shader has no {old:?} to replace");
        result = result.replace(old, new);
    }
    result
}

/// The line that chooses the type.
fn element_line(element: Element) -> String {
    format!("alias Element = {element};")
}

/// A pipeline whose bindings all lie in group 0.
#[derive(Clone, Debug)]
struct CollectiveStage {
    pipeline: ComputePipeline,
}

/// A stage with its bindings and its grid.
#[derive(Clone, Debug)]
struct CollectiveDispatch {
    pipeline: ComputePipeline,
    group: BindGroup,
    workgroups: [u32; 2],
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug)]
struct BufferPart<'a> {
    buffer: &'a Buffer,
    offset: u64,
    /// Bytes; all of the rest where there is nothing.
    size: Option<u64>,
}

impl<'a> BufferPart<'a> {
    fn whole(buffer: &'a Buffer) -> Self {
        Self { buffer, offset: 0, size: None }
    }
}

impl CollectiveStage {
    fn new(device: &Device, label: &str, text: &str, entry_point: &str) -> Self {
        let module = crate::trusted::shader_module(device, label, text);
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(label),
            layout: None,
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: PipelineCompilationOptions {
                // The shaders write workgroup memory before they read it.
                zero_initialize_workgroup_memory: false,
                ..PipelineCompilationOptions::default()
            },
            cache: None,
        });
        Self { pipeline }
    }

    /// Binds parts of buffers by their binding numbers.
    fn step(
        &self,
        device: &Device,
        parts: &[(u32, BufferPart<'_>)],
        workgroups: [u32; 2],
    ) -> CollectiveDispatch {
        let entries: Vec<BindGroupEntry<'_>> = parts
            .iter()
            .map(|(binding, part)| BindGroupEntry {
                binding: *binding,
                resource: BindingResource::Buffer(BufferBinding {
                    buffer: part.buffer,
                    offset: part.offset,
                    size: part.size.and_then(std::num::NonZero::new),
                }),
            })
            .collect();
        let group = device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        CollectiveDispatch { pipeline: self.pipeline.clone(), group, workgroups }
    }
}

impl CollectiveDispatch {
    fn record(&self, pass: &mut ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.workgroups[0], self.workgroups[1], 1);
    }
}

/// A grid of at least `count` workgroups in two dimensions; shaders skip those that are too many.
fn grid(count: u64) -> [u32; 2] {
    let rows = count.div_ceil(WORKGROUPS_PER_DIMENSION_MAX).max(1);
    let columns = count.div_ceil(rows);
    [columns, rows].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// A buffer of zeros; wgpu zeroes what nobody has written.
fn make_zeroed(device: &Device, label: &str, size: u64) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size: size.max(16).next_multiple_of(16),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// A uniform buffer of up to four words.
fn params(device: &Device, words: &[u32]) -> Buffer {
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some("params"),
        size: 16,
        usage: BufferUsages::UNIFORM,
        mapped_at_creation: true,
    });
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(16, 0);
    if let Ok(mut view) = buffer.slice(..).get_mapped_range_mut() {
        view.copy_from_slice(&bytes);
    }
    buffer.unmap();
    buffer
}
