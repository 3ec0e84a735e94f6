//! Stable partition by class: class ids in, a permutation, its inverse and sorted pairs out.
//!
//! Input: n class ids below `classes`, in a buffer of the caller's. Output, by choice: the
//! permutation that puts elements into order by class, its inverse, and a payload and the ids in
//! that order; always where each class begins. Elements of a class keep their order.
//!
//! Two or three dispatches, and one more where both permutation and pairs are asked for; none waits for
//! another workgroup, so nothing is asked of the device's scheduler. It works for any subgroup width from 4
//! to 128. The shader's text says how.
//!
//! # Limits
//!
//! 1 to [`CLASSES_MAX`] classes; as many elements as one binding holds of u32. The device must have
//! `Features::SUBGROUP` and bind [`STORAGE_BUFFERS`] storage buffers in a compute stage, which is what
//! WebGPU promises (`Limits::default()`). Scratch memory is its own: a byte (up to 16 classes half of
//! one) for each element, 4 · classes bytes for each chunk of elements, and above 16 classes
//! 2 · classes bytes for each tile of 3072, classes rounded up to a power of two; each
//! buffer of it has to fit a binding too. No buffer may be given twice.
//!
//! ```no_run
//! # fn sort(device: &wgpu::Device, queue: &wgpu::Queue, ids: &wgpu::Buffer, n: u32)
//! # -> Result<(), lanescope::algorithms::multisplit::MultisplitError> {
//! use lanescope::algorithms::multisplit::{Buffers, Multisplit, Order, words_of};
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

mod tuning;

use std::borrow::Cow;
use std::num::NonZero;

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferDescriptor, BufferUsages, CommandEncoder, ComputePass, ComputePipeline,
    ComputePipelineDescriptor, Device, Features, PipelineCompilationOptions, ShaderModule,
    ShaderModuleDescriptor, ShaderSource,
};

pub use tuning::{Path, Tuning};

use super::trusted;

/// The shader, in its three parts.
const SHADER: &str = concat!(
    include_str!("../../../shaders/sort/split.part.wgsl"),
    include_str!("../../../shaders/sort/split_few.part.wgsl"),
    include_str!("../../../shaders/sort/split_many.part.wgsl"),
);

/// The most classes.
pub const CLASSES_MAX: u32 = 256;

/// Storage buffers that the compute stage of a device must bind.
pub const STORAGE_BUFFERS: u32 = 8;

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

/// Why a partition cannot be made, or what went wrong in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultisplitError {
    /// The number of classes.
    #[error("{classes} classes; a partition has 1 to {CLASSES_MAX}")]
    Classes {
        /// What was asked for.
        classes: u32,
    },
    /// Neither a permutation nor pairs were asked for.
    #[error("neither `order` nor `pairs` is given, so there is nothing to write")]
    NothingAsked,
    /// A buffer that is too small.
    #[error("buffer `{name}` has {size} bytes; {needed} are needed")]
    BufferSize {
        /// Its field.
        name: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The least size in bytes.
        needed: u64,
    },
    /// More elements than the device binds.
    #[error("{n} elements take {needed} bytes; the device binds at most {limit}")]
    TooMany {
        /// The number of elements.
        n: u32,
        /// The largest binding in bytes.
        needed: u64,
        /// The device's limit in bytes.
        limit: u64,
    },
    /// The device has no subgroup operations, or they were not asked for when it was made.
    #[error("the device was made without `Features::SUBGROUP`")]
    NoSubgroups,
    /// The device binds too few storage buffers in a compute stage.
    #[error(
        "the device binds {limit} storage buffers in a compute stage; {STORAGE_BUFFERS} are needed"
    )]
    StorageBuffers {
        /// The device's limit.
        limit: u32,
    },
    /// A tuning that does not fit.
    #[error("this tuning does not fit: {0}")]
    Tuning(String),
    /// A class id that is out of range, found by the device.
    #[error("the class id of element {index} is out of range: ids lie below {classes}")]
    ClassOutOfRange {
        /// The first such element.
        index: u32,
        /// The number of classes.
        classes: u32,
    },
}

/// The length in elements of a buffer for n of them: n rounded up to a multiple of 4, and at
/// least 4. Saturates at the largest multiple of 4 for n near 2^32, which no device binds.
pub fn words_of(n: u32) -> u32 {
    n.max(1).checked_next_multiple_of(4).unwrap_or(u32::MAX - 3)
}

/// Judges the word that a partition left in its `status` buffer.
///
/// # Errors
///
/// [`MultisplitError::ClassOutOfRange`] with the first offending index. What such a partition wrote
/// lies inside its buffers and has no meaning.
pub fn check(status: u32, classes: u32) -> Result<(), MultisplitError> {
    if status == 0 {
        Ok(())
    } else {
        Err(MultisplitError::ClassOutOfRange { index: !status, classes })
    }
}

/// A partition of given buffers, made ready: pipelines, scratch memory and bindings.
///
/// It may be encoded any number of times; submissions of one device run one after the other, as the
/// scratch memory is shared.
#[derive(Debug)]
pub struct Multisplit {
    steps: Vec<Step>,
    offsets: Buffer,
    /// The bytes of `offsets` that are its own.
    offsets_bytes: u64,
    status: Buffer,
}

/// A dispatch.
#[derive(Debug)]
struct Step {
    pipeline: ComputePipeline,
    group: BindGroup,
    workgroups: u32,
}

impl Multisplit {
    /// Makes a partition of n elements into `classes` classes ready, cut as [`Tuning::choose`] says.
    ///
    /// # Errors
    ///
    /// Every [`MultisplitError`] but [`MultisplitError::ClassOutOfRange`].
    pub fn new(
        device: &Device,
        n: u32,
        classes: u32,
        buffers: &Buffers<'_>,
    ) -> Result<Self, MultisplitError> {
        let tuning = Tuning::choose(&device.limits(), n, classes, buffers.pairs.is_some());
        Self::with_tuning(device, n, classes, buffers, tuning)
    }

    /// The same with a tuning of the caller's.
    ///
    /// # Errors
    ///
    /// Every [`MultisplitError`] but [`MultisplitError::ClassOutOfRange`].
    pub fn with_tuning(
        device: &Device,
        n: u32,
        classes: u32,
        buffers: &Buffers<'_>,
        tuning: Tuning,
    ) -> Result<Self, MultisplitError> {
        check_shape(device, n, classes, buffers)?;
        tuning.check(&device.limits(), n, classes)?;
        let maker = Maker::new(device, n, classes, tuning, buffers);
        let mut steps = Vec::new();
        if n > 0 {
            let (count, permutation, pairs) = match tuning.path {
                Path::Few => ("few_count", "few_permutation", "few_pairs"),
                Path::Many => ("many_count", "many_permutation", "many_pairs"),
            };
            let chunks = tuning.chunks(n);
            let scratch = &maker.scratch;
            let read = [(KEYS, buffers.keys), (STATUS, buffers.status)];
            let mut counted = vec![(PACKED, &scratch.packed), (COUNTS, &scratch.counts)];
            let mut workgroups = chunks;
            if tuning.path == Path::Many {
                counted.push((MANY_BEFORE, &scratch.many_before));
                workgroups = tuning.tiles(n);
            }
            steps.push(maker.step(count, chunks, &[&read[..], &counted[..]].concat()));
            let totals = (TOTALS, &scratch.totals);
            if !tuning.fold {
                steps.push(maker.step("scan", classes, &[counted[1], totals]));
            }
            let placed = [&counted[..], &[totals, (OFFSETS, buffers.offsets)]].concat();
            if let Some(order) = &buffers.order {
                let inverse = (INVERSE, order.inverse.unwrap_or(&scratch.none));
                let written = [(PERMUTATION, order.permutation), inverse];
                steps.push(maker.step(permutation, workgroups, &[&placed[..], &written].concat()));
            }
            if let Some(given) = &buffers.pairs {
                let written = [
                    (PAYLOAD, given.payload),
                    (PAYLOAD_SORTED, given.payload_sorted),
                    (KEYS_SORTED, given.keys_sorted),
                ];
                steps.push(maker.step(pairs, workgroups, &[&placed[..], &written].concat()));
            }
        }
        let (offsets, status) = (buffers.offsets.clone(), buffers.status.clone());
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
    /// where both order and pairs are asked for.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Adds one dispatch to a compute pass, for timing each: they only make sense in order, all of
    /// them. Nothing is added for an index that there is not.
    pub fn encode_step(&self, pass: &mut ComputePass<'_>, index: usize) {
        if let Some(step) = self.steps.get(index) {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.group, &[]);
            // What goes by tiles may have more of them than a line of workgroups holds.
            let lines = step.workgroups.div_ceil(tuning::WORKGROUPS_MAX);
            pass.dispatch_workgroups(step.workgroups.div_ceil(lines), lines, 1);
        }
    }
}

// Bindings of the shader.
const SPLIT: u32 = 0;
const KEYS: u32 = 1;
const STATUS: u32 = 2;
const PACKED: u32 = 3;
const COUNTS: u32 = 4;
const TOTALS: u32 = 5;
const OFFSETS: u32 = 6;
const PERMUTATION: u32 = 7;
const INVERSE: u32 = 8;
const PAYLOAD: u32 = 9;
const PAYLOAD_SORTED: u32 = 10;
const KEYS_SORTED: u32 = 11;
const MANY_BEFORE: u32 = 12;

/// Refuses what does not fit the buffers or the device.
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
    let mut sized = vec![
        ("keys", buffers.keys, needed),
        ("offsets", buffers.offsets, (u64::from(classes) + 1) * 4),
        ("status", buffers.status, 4),
    ];
    if let Some(order) = &buffers.order {
        sized.push(("permutation", order.permutation, needed));
        sized.extend(order.inverse.map(|inverse| ("inverse", inverse, needed)));
    }
    if let Some(pairs) = &buffers.pairs {
        sized.push(("payload", pairs.payload, needed));
        sized.push(("payload_sorted", pairs.payload_sorted, needed));
        sized.push(("keys_sorted", pairs.keys_sorted, needed));
    }
    match sized.into_iter().find(|(_, buffer, needed)| buffer.size() < *needed) {
        Some((name, buffer, needed)) => {
            Err(MultisplitError::BufferSize { name, size: buffer.size(), needed })
        }
        None => Ok(()),
    }
}

/// Memory that the dispatches share.
struct Scratch {
    split: Buffer,
    packed: Buffer,
    counts: Buffer,
    /// For [`Path::Many`].
    many_before: Buffer,
    totals: Buffer,
    /// What is bound where nothing is written.
    none: Buffer,
}

/// What steps are made from.
struct Maker<'a> {
    device: &'a Device,
    module: ShaderModule,
    constants: Vec<(&'static str, f64)>,
    scratch: Scratch,
    binding_bytes_max: u64,
}

impl<'a> Maker<'a> {
    fn new(
        device: &'a Device,
        n: u32,
        classes: u32,
        tuning: Tuning,
        buffers: &Buffers<'_>,
    ) -> Self {
        let source = ShaderSource::Wgsl(Cow::Borrowed(SHADER));
        let descriptor = ShaderModuleDescriptor { label: Some("multisplit"), source };
        let module = trusted::shader_module(device, descriptor);
        let widths = device.adapter_info();
        let constants = vec![
            ("THREADS", f64::from(tuning.threads)),
            ("SCAN_THREADS", f64::from(Tuning::scan_threads(&device.limits()))),
            ("MANY_ROWS", f64::from(tuning.rows)),
            ("ROOM", f64::from(Tuning::room(classes))),
            ("BITS", f64::from(Tuning::bits(classes))),
            ("FOLD", f64::from(u8::from(tuning.fold))),
            ("NARROW", f64::from(u8::from(widths.subgroup_min_size < 32))),
            ("WIDE", f64::from(u8::from(widths.subgroup_max_size > 32))),
        ];
        let chunks = tuning.chunks(n).max(1);
        let [packed, counts, many_before] = tuning.scratch_words(n, classes);
        let storage = |label, words: u64| {
            let usage = BufferUsages::STORAGE;
            let descriptor = BufferDescriptor {
                label: Some(label),
                size: words * 4,
                usage,
                mapped_at_creation: false,
            };
            device.create_buffer(&descriptor)
        };
        let inverse = buffers.order.as_ref().is_some_and(|order| order.inverse.is_some());
        let words = [n, classes, chunks, tuning.tiles_per_chunk, u32::from(inverse), 0, 0, 0];
        let scratch = Scratch {
            split: uniform(device, &words),
            packed: storage("packed", packed),
            counts: storage("counts", counts),
            many_before: storage("many_before", many_before),
            totals: storage("totals", u64::from(classes)),
            none: storage("none", 4 * 4),
        };
        let binding_bytes_max = device.limits().max_storage_buffer_binding_size / 4 * 4;
        Self { device, module, constants, scratch, binding_bytes_max }
    }

    fn step(&self, entry_point: &str, workgroups: u32, bound: &[(u32, &Buffer)]) -> Step {
        let pipeline = self.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: None,
            module: &self.module,
            entry_point: Some(entry_point),
            compilation_options: PipelineCompilationOptions {
                constants: &self.constants,
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        let split = (SPLIT, &self.scratch.split);
        let entries: Vec<BindGroupEntry<'_>> = [split]
            .iter()
            .chain(bound)
            .map(|(binding, buffer)| BindGroupEntry {
                binding: *binding,
                resource: BindingResource::Buffer(BufferBinding {
                    buffer,
                    offset: 0,
                    // A caller's buffer may be longer than a binding.
                    size: NonZero::new(buffer.size().min(self.binding_bytes_max)),
                }),
            })
            .collect();
        let group = self.device.create_bind_group(&BindGroupDescriptor {
            label: Some(entry_point),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Step { pipeline, group, workgroups }
    }
}

/// A uniform buffer that holds these words.
fn uniform(device: &Device, words: &[u32]) -> Buffer {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some("split"),
        size: bytes.len() as u64,
        usage: BufferUsages::UNIFORM,
        mapped_at_creation: true,
    });
    if let Ok(mut view) = buffer.slice(..).get_mapped_range_mut() {
        view.copy_from_slice(&bytes);
    }
    buffer.unmap();
    buffer
}
