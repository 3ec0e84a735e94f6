//! Stable partition by class: class ids in, a permutation, its inverse and sorted pairs out.
//!
//! Input: n class ids below `classes`, in a buffer of the caller's. Output, by choice: the
//! permutation that puts elements into order by class, its inverse, and a payload and the ids in
//! that order; always where each class begins. Elements of a class keep their order.
//!
//! Two or three dispatches, and one more where both permutation and pairs are asked for; none waits for
//! another workgroup, so nothing is asked of the device's scheduler. It works for any subgroup width from 4
//! to 128. The shader's text says how, and [`crate::partition`] how the work is cut. [`ClassGrids`] makes
//! ready what comes next: a dispatch for each class, as large as the class is, without a read-back.
//!
//! # Limits
//!
//! 1 to [`CLASSES_MAX`] classes; as many elements as one binding holds of u32. The device must have
//! `Features::SUBGROUP` and bind [`STORAGE_BUFFERS`] storage buffers in a compute stage, which is what
//! WebGPU promises (`Limits::default()`). Scratch memory is its own: a byte (up to 16 classes half of
//! one) for each element, 4 · classes bytes for each chunk of elements, and above 16 classes
//! 2 · classes bytes for each tile of 3072, classes rounded up to a power of two; each
//! buffer of it has to fit a binding too. A buffer given twice, one made without a usage that it needs
//! and one that is too small are refused by their fields' names. One of another `Device` is not: wgpu
//! panics when such a buffer is bound.
//!
//! ```no_run
//! # fn sort(device: &wgpu::Device, queue: &wgpu::Queue, ids: &wgpu::Buffer, n: u32)
//! # -> Result<(), lanescope_algorithms::multisplit::MultisplitError> {
//! use lanescope_algorithms::multisplit::{Buffers, Multisplit, Order, words_of};
//!
//! let buffer = |words: u32| {
//!     device.create_buffer(&wgpu::BufferDescriptor {
//!         label: None,
//!         size: u64::from(words) * 4,
//!         usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC
//!             | wgpu::BufferUsages::COPY_DST,
//!         mapped_at_creation: false,
//!     })
//! };
//! let (offsets, status, permutation) = (buffer(8 + 1), buffer(1), buffer(words_of(n)));
//! let order = Some(Order { permutation: &permutation, inverse: None });
//! let buffers = Buffers { keys: ids, offsets: &offsets, status: &status, order, pairs: None };
//! let split = Multisplit::new(device, n, 8, &buffers)?;
//! let mut encoder = device.create_command_encoder(&Default::default());
//! split.encode(&mut encoder);
//! queue.submit([encoder.finish()]);
//! // Later: `check` on the word that `status` holds.
//! # Ok(())
//! # }
//! ```

pub(crate) mod error;
mod grids;
pub(crate) mod prepared;

use wgpu::{Buffer, CommandEncoder, ComputePass, Device, DeviceType, Features};

pub use crate::partition::{CLASSES_MAX, Limits, Path, Tuning, TuningError, words_of};
pub use error::{MultisplitError, STORAGE_BUFFERS, check};
pub use grids::ClassGrids;

use crate::partition::{self, Memory, Plan, Writes};
use prepared::{DispatchMaker, PreparedDispatch};

/// Buffers of the caller's; all need the usage `STORAGE`. Where a length is given as
/// [`words_of`]\(n\), it is n rounded up to a multiple of 4, as elements are read and written in
/// fours; what lies beyond the n-th is left alone or has no meaning.
#[derive(Clone, Copy, Debug)]
pub struct Buffers<'a> {
    /// [`words_of`]\(n\) × u32: class ids.
    pub keys: &'a Buffer,
    /// (classes + 1) × u32, written: where each class begins, then n. Needs `COPY_DST`.
    pub offsets: &'a Buffer,
    /// One u32, written; read it back and give it to [`check`]. Needs `COPY_DST`.
    pub status: &'a Buffer,
    /// Where the order is wanted as a permutation.
    pub order: Option<Order<'a>>,
    /// Where pairs are wanted in order.
    pub pairs: Option<Pairs<'a>>,
}

/// The order as a permutation.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// [`words_of`]\(n\) × u32, written: element i of the order is element `permutation[i]` of the
    /// input.
    pub permutation: &'a Buffer,
    /// [`words_of`]\(n\) × u32, written where it is given: element i of the input is element
    /// `inverse[i]` of the order.
    pub inverse: Option<&'a Buffer>,
}

/// Pairs of class id and payload.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    /// [`words_of`]\(n\) × u32: a payload for each element.
    pub payload: &'a Buffer,
    /// [`words_of`]\(n\) × u32, written: the payloads in order.
    pub payload_sorted: &'a Buffer,
    /// [`words_of`]\(n\) × u32, written: the class ids in order.
    pub keys_sorted: &'a Buffer,
}

/// A partition of given buffers, made ready: pipelines, scratch memory and bindings.
///
/// It may be encoded any number of times; submissions of one device run one after the other, as the
/// scratch memory is shared.
#[derive(Debug)]
pub struct Multisplit {
    steps: Vec<PreparedDispatch>,
    offsets: Buffer,
    /// The bytes of `offsets` that are its own.
    offsets_bytes: u64,
    status: Buffer,
}

impl Multisplit {
    /// Makes a partition of n elements into `classes` classes ready, cut as [`Tuning::choose`] says, or as
    /// [`Tuning::for_processor`] on a driver that runs on a processor.
    ///
    /// # Errors
    ///
    /// Every [`MultisplitError`] of a partition but [`MultisplitError::ClassOutOfRange`].
    pub fn new(
        device: &Device,
        n: u32,
        classes: u32,
        buffers: &Buffers<'_>,
    ) -> Result<Self, MultisplitError> {
        let tuning = if device.adapter_info().device_type == DeviceType::Cpu {
            Tuning::for_processor(n)
        } else {
            Tuning::choose(&device.limits(), n, classes, buffers.pairs.is_some())
        };
        Self::with_tuning(device, n, classes, buffers, tuning)
    }

    /// The same with a tuning of the caller's.
    ///
    /// # Errors
    ///
    /// Every [`MultisplitError`] of a partition but [`MultisplitError::ClassOutOfRange`].
    pub fn with_tuning(
        device: &Device,
        n: u32,
        classes: u32,
        buffers: &Buffers<'_>,
        tuning: Tuning,
    ) -> Result<Self, MultisplitError> {
        check_shape(device, n, classes, buffers)?;
        let limits = Limits::from(&device.limits());
        tuning.check(limits, n, classes)?;
        let plan = Plan::new(&limits, n, classes, buffers.writes(), tuning);
        let given = buffers.given_buffers();
        error::check_buffers(&given, |memory| plan.lengths.get(&memory).map_or(0, |w| w * 4))?;
        let (offsets, status) = (buffers.offsets.clone(), buffers.status.clone());
        let steps =
            if n == 0 { Vec::new() } else { DispatchMaker::new(device, &plan, &given).steps() };
        Ok(Self { steps, offsets, offsets_bytes: (u64::from(classes) + 1) * 4, status })
    }

    /// Adds the partition's commands to an encoder.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        encoder.clear_buffer(&self.status, 0, Some(4));
        if self.steps.is_empty() {
            encoder.clear_buffer(&self.offsets, 0, Some(self.offsets_bytes));
        }
        self.encode_in(&mut encoder.begin_compute_pass(&Default::default()));
    }

    /// Adds its dispatches alone to a compute pass, such as one with timestamps: `status` must hold
    /// zero before, and for n = 0 `offsets` is left as it is.
    pub fn encode_in(&self, pass: &mut ComputePass<'_>) {
        for index in 0..self.steps.len() {
            self.encode_step(pass, index);
        }
    }

    /// The number of dispatches: 0 for n = 0, else 3, or 2 where [`Tuning::fold`] is set, and one more
    /// where both order and pairs are asked for; on [`Path::Runs`] three more.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Adds one dispatch to a compute pass, for timing each: they only make sense in order, all of
    /// them. Nothing is added for an index that there is not.
    pub fn encode_step(&self, pass: &mut ComputePass<'_>, index: usize) {
        if let Some(step) = self.steps.get(index) {
            step.encode(pass);
        }
    }
}

impl<'a> Buffers<'a> {
    /// What is written beside where classes begin.
    fn writes(&self) -> Writes {
        let order = self.order.as_ref().map(|order| match order.inverse {
            None => partition::Order::Permutation,
            Some(_) => partition::Order::WithInverse,
        });
        Writes { order, pairs: self.pairs.is_some() }
    }

    /// Every buffer that is given.
    fn given_buffers(&self) -> Vec<(Memory, &'a Buffer)> {
        let Self { keys, offsets, status, order, pairs } = *self;
        let mut given =
            vec![(Memory::Keys, keys), (Memory::Offsets, offsets), (Memory::Status, status)];
        if let Some(Order { permutation, inverse }) = order {
            given.push((Memory::Permutation, permutation));
            given.extend(inverse.map(|inverse| (Memory::Inverse, inverse)));
        }
        if let Some(Pairs { payload, payload_sorted, keys_sorted }) = pairs {
            given.push((Memory::Payload, payload));
            given.push((Memory::PayloadSorted, payload_sorted));
            given.push((Memory::KeysSorted, keys_sorted));
        }
        given
    }
}

impl From<&wgpu::Limits> for Limits {
    /// Those of a device of which no feature is known.
    fn from(limits: &wgpu::Limits) -> Self {
        let invocations = limits.max_compute_invocations_per_workgroup;
        Self {
            invocations_max: invocations.min(limits.max_compute_workgroup_size_x),
            workgroup_bytes_max: limits.max_compute_workgroup_storage_size,
            workgroups_max: limits.max_compute_workgroups_per_dimension,
            storage_bytes_max: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            subgroup_barrier: false,
        }
    }
}

impl From<&Device> for Limits {
    fn from(device: &Device) -> Self {
        let subgroup_barrier = device.features().contains(Features::SUBGROUP_BARRIER);
        Self { subgroup_barrier, ..Self::from(&device.limits()) }
    }
}

/// Refuses what no device does, and what this one cannot.
fn check_shape(
    device: &Device,
    n: u32,
    classes: u32,
    buffers: &Buffers<'_>,
) -> Result<(), MultisplitError> {
    if !(1..=CLASSES_MAX).contains(&classes) {
        return Err(MultisplitError::Classes { classes });
    }
    if buffers.order.is_none() && buffers.pairs.is_none() {
        return Err(MultisplitError::NothingAsked);
    }
    check_device(device, n)
}

/// Refuses a device without subgroups, one that binds too few buffers, and more elements than it binds.
pub(crate) fn check_device(device: &Device, n: u32) -> Result<(), MultisplitError> {
    if !device.features().contains(Features::SUBGROUP) {
        return Err(MultisplitError::NoSubgroups);
    }
    let limit = device.limits().max_storage_buffers_per_shader_stage;
    if limit < STORAGE_BUFFERS {
        return Err(MultisplitError::StorageBuffers { limit });
    }
    let needed = u64::from(words_of(n)) * 4;
    let limit = device.limits().max_storage_buffer_binding_size;
    if needed > limit {
        return Err(MultisplitError::TooMany { n, needed, limit });
    }
    Ok(())
}
