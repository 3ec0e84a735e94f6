//! A dispatch for each class: how many workgroups the elements of each one fill.
//!
//! Input: `offsets` as a partition leaves it, and how many elements a workgroup takes. Output: arguments
//! of indirect dispatches, written on the device, in the same encoder as what comes before and after. It
//! makes no dispatch of the caller's.

use wgpu::{Buffer, BufferUsages, CommandEncoder, ComputePass, Device};

use super::error::check_buffer;
use super::prepared::{PreparedDispatch, module, step, words};
use super::{CLASSES_MAX, MultisplitError};
use crate::partition::{Memory, SPLIT_WORDS};
use crate::shaders;

/// The shader, in its two parts: `sort/separate` of the catalogue has the same.
const SHADER: [&str; 2] = [shaders::SPLIT, shaders::GRIDS];

/// The binding of the arguments in the shader.
const GRIDS: u32 = 13;

/// Classes that a workgroup takes, one an invocation.
const CLASSES_PER_WORKGROUP: u32 = 64;

/// Writes the arguments of an indirect dispatch for each class, from where classes begin.
///
/// Encode it after the partition; then dispatch a pipeline for each class with
/// `dispatch_workgroups_indirect(grids, ClassGrids::offset(class))`. Nothing is read back in between.
///
/// The n-th class has elements `offsets[n]` up to `offsets[n + 1]` of the order, and gets as many
/// workgroups as they fill. More than 65,535 lie in several lines, which may hold a few workgroups too
/// many: number them `workgroup_id.y * num_workgroups.x + workgroup_id.x`, and leave out elements from
/// `offsets[n + 1]` on. A class without elements gets no workgroup.
///
/// ```no_run
/// # fn run(device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, offsets: &wgpu::Buffer,
/// #     pipelines: &[wgpu::ComputePipeline], group: &wgpu::BindGroup)
/// # -> Result<(), lanescope_algorithms::multisplit::MultisplitError> {
/// use lanescope_algorithms::multisplit::ClassGrids;
///
/// let grids = device.create_buffer(&wgpu::BufferDescriptor {
///     label: None,
///     size: 8 * ClassGrids::STRIDE,
///     usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
///     mapped_at_creation: false,
/// });
/// // Workgroups of 256 invocations with an element each, for 8 classes.
/// let class_grids = ClassGrids::new(device, offsets, 8, 256, &grids)?;
/// class_grids.encode(encoder);
/// let mut pass = encoder.begin_compute_pass(&Default::default());
/// pass.set_bind_group(0, group, &[]);
/// for (class, pipeline) in (0..8).zip(pipelines) {
///     pass.set_pipeline(pipeline);
///     pass.dispatch_workgroups_indirect(&grids, ClassGrids::offset(class));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClassGrids {
    step: PreparedDispatch,
}

impl ClassGrids {
    /// Bytes from one class's arguments to the next one's: three counts, and a word that is left alone.
    pub const STRIDE: u64 = 16;

    /// Where the arguments of a class begin in `grids`, in bytes.
    pub fn offset(class: u32) -> u64 {
        u64::from(class) * Self::STRIDE
    }

    /// Makes it ready.
    ///
    /// `offsets` holds (`classes` + 1) × u32, as a [`Multisplit`](super::Multisplit) or something else
    /// left it: none less than the one before. `elements` are those that a workgroup takes. `grids` is
    /// written, [`ClassGrids::STRIDE`] bytes a class. Both need the usage `STORAGE`, and `grids`
    /// `INDIRECT`.
    ///
    /// # Errors
    ///
    /// [`MultisplitError::Classes`] for none or more than [`CLASSES_MAX`],
    /// [`MultisplitError::NoElements`], and for the buffers [`MultisplitError::SameBuffer`],
    /// [`MultisplitError::BufferUsage`] and [`MultisplitError::BufferSize`].
    pub fn new(
        device: &Device,
        offsets: &Buffer,
        classes: u32,
        elements: u32,
        grids: &Buffer,
    ) -> Result<Self, MultisplitError> {
        if !(1..=CLASSES_MAX).contains(&classes) {
            return Err(MultisplitError::Classes { classes });
        }
        if elements == 0 {
            return Err(MultisplitError::NoElements);
        }
        if offsets == grids {
            return Err(MultisplitError::SameBuffer { first: "offsets", second: "grids" });
        }
        let needed = (u64::from(classes) + 1) * 4;
        check_buffer("offsets", offsets, BufferUsages::STORAGE, needed)?;
        let usages = BufferUsages::STORAGE | BufferUsages::INDIRECT;
        check_buffer("grids", grids, usages, Self::offset(classes))?;
        let mut split = [0; SPLIT_WORDS];
        // Its second word is all that the entry point reads.
        split[1] = classes;
        let split = words(device, "split", &split);
        let bound = [
            (Memory::Split.binding(), &split),
            (Memory::Offsets.binding(), offsets),
            (GRIDS, grids),
        ];
        let constants = [("ELEMENTS", f64::from(elements))];
        let workgroups = [classes.div_ceil(CLASSES_PER_WORKGROUP), 1, 1];
        let module = module(device, &SHADER, 3);
        let step = step(device, &module, "grids_of_classes", &constants, &bound, workgroups);
        Ok(Self { step })
    }

    /// Adds its dispatch to an encoder, in a pass of its own.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.encode_in(&mut encoder.begin_compute_pass(&Default::default()));
    }

    /// Adds its dispatch to a compute pass.
    pub fn encode_in(&self, pass: &mut ComputePass<'_>) {
        self.step.encode(pass);
    }
}
