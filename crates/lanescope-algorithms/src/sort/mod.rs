//! Stable sort of 32-bit keys, with a 32-bit payload or without: a radix sort.
//!
//! Input: n keys in a buffer of the caller's, u32, i32 or f32, and where it is wanted a payload for each.
//! Output: both in ascending order of the keys, in other buffers of the caller's; the input stays as it
//! is. Keys that are equal keep their order. Only the bits of a key that are asked for count, so that
//! keys known to be small are sorted in fewer passes.
//!
//! [`Key`] says what order keys have; of f32 it is IEEE 754's total order, that of `f32::total_cmp`.
//! [`crate::partition::radix`] says how a sort is cut, and the shader's text how a pass works and where
//! its method is from. It works for any subgroup width from 4 to 128. On GPUs workgroups look back at
//! what those before them have published, and work out for themselves what they look for in vain too
//! long: so each ends by its own work alone, and nothing is asked of the device's scheduler. On drivers
//! that run on a processor, and above 2^30 - 1 keys, each invocation takes a run of keys, without a barrier,
//! and counts are made by dispatches of their own.
//!
//! # Limits
//!
//! As many keys as one binding holds of u32, on a device with `Features::SUBGROUP` that binds
//! [`STORAGE_BUFFERS`] storage buffers in a compute stage, which is
//! what WebGPU promises. A device that was opened with `Features::SUBGROUP_BARRIER` too sorts many keys sooner. Scratch memory is its own: with more than one pass, which is more than 8 bits, a
//! buffer as large as the keys and one as large as the payload; and counts, of each tile 8 bytes for each of the digit's
//! values. Each buffer of it has to fit a binding too.
//!
//! ```no_run
//! # fn sort(device: &wgpu::Device, queue: &wgpu::Queue, keys: &wgpu::Buffer, payload: &wgpu::Buffer, n: u32)
//! # -> Result<(), lanescope_algorithms::sort::SortError> {
//! use lanescope_algorithms::sort::{Buffers, Key, Payload, Sort, words_of};
//!
//! let buffer = |words: u32| {
//!     device.create_buffer(&wgpu::BufferDescriptor {
//!         label: None,
//!         size: u64::from(words) * 4,
//!         usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
//!         mapped_at_creation: false,
//!     })
//! };
//! let (keys_sorted, payload_sorted) = (buffer(words_of(n)), buffer(words_of(n)));
//! let payload = Some(Payload { payload, payload_sorted: &payload_sorted });
//! let buffers = Buffers { keys, keys_sorted: &keys_sorted, payload };
//! // Once for these buffers:
//! let sort = Sort::new(device, n, Key::F32, 0..32, &buffers)?;
//! // As often as there are new keys:
//! let mut encoder = device.create_command_encoder(&Default::default());
//! sort.encode(&mut encoder);
//! queue.submit([encoder.finish()]);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePass, Device, DeviceType,
};

use crate::multisplit::error::check_buffer;
use crate::multisplit::prepared::{PreparedDispatch, constants, dispatch, module, pipeline, words};
use crate::multisplit::{MultisplitError, STORAGE_BUFFERS, check_device};
use crate::partition::Limits;
use crate::partition::radix::{RadixMemory, RadixPlan};
use crate::shaders;

pub use crate::partition::radix::{Before, Key, Matching, RadixTuning, Tallies};
pub use crate::partition::words_of;

/// Buffers of the caller's; all need the usage `STORAGE`. Each is [`words_of`]\(n\) × u32 long, which is
/// n rounded up to a multiple of 4; what lies beyond the n-th is neither used nor changed.
#[derive(Clone, Copy, Debug)]
pub struct Buffers<'a> {
    /// The keys.
    pub keys: &'a Buffer,
    /// Written: the keys in order.
    pub keys_sorted: &'a Buffer,
    /// Where each key has a payload.
    pub payload: Option<Payload<'a>>,
}

/// A payload for each key.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The payloads.
    pub payload: &'a Buffer,
    /// Written: the payloads in the order of their keys.
    pub payload_sorted: &'a Buffer,
}

/// Why a sort cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SortError {
    /// The bits that are to count.
    #[error("bits {start} to {end} of a key; they are a range within 0 to 32 that is not empty")]
    Bits {
        /// The first.
        start: u32,
        /// The one after the last.
        end: u32,
    },
    /// The device, the buffers or the tuning.
    #[error(transparent)]
    Partition(#[from] MultisplitError),
}

/// A sort of given buffers, made ready: pipelines, scratch memory and bindings.
///
/// It may be encoded any number of times; submissions of one device run one after the other, as the
/// scratch memory is shared.
#[derive(Debug)]
pub struct Sort {
    steps: Vec<PreparedDispatch>,
}

impl Sort {
    /// Makes a sort of n keys ready, cut as [`RadixTuning::choose`] says.
    ///
    /// `bits` are those of [`Key::ordered_bits`] that count, `0..32` for whole keys: of u32 keys below
    /// 2^20 `0..20` will do. Keys that differ in other bits alone count as equal.
    ///
    /// # Errors
    ///
    /// [`SortError`]: of [`MultisplitError`] those of the device, the buffers and their sizes.
    pub fn new(
        device: &Device,
        n: u32,
        key: Key,
        bits: Range<u32>,
        buffers: &Buffers<'_>,
    ) -> Result<Self, SortError> {
        let processor = device.adapter_info().device_type == DeviceType::Cpu;
        let payload = buffers.payload.is_some();
        let tuning = RadixTuning::choose(device, n, payload, processor);
        Self::with_tuning(device, n, key, bits, buffers, tuning)
    }

    /// The same with a tuning of the caller's.
    ///
    /// # Errors
    ///
    /// [`SortError`], with [`MultisplitError::Tuning`] where the tuning does not fit.
    pub fn with_tuning(
        device: &Device,
        n: u32,
        key: Key,
        bits: Range<u32>,
        buffers: &Buffers<'_>,
        tuning: RadixTuning,
    ) -> Result<Self, SortError> {
        if bits.start >= bits.end || bits.end > 32 {
            return Err(SortError::Bits { start: bits.start, end: bits.end });
        }
        check_device(device, n)?;
        let limits = Limits::from(device);
        tuning.check(limits, n).map_err(MultisplitError::from)?;
        let given = buffers.all_given();
        buffers.check(n)?;
        let plan = RadixPlan::new(&limits, n, key, bits, buffers.payload.is_some(), tuning);
        let given = given.into_iter().map(|(memory, _, buffer)| (memory, buffer.clone()));
        Ok(Self { steps: steps(device, &plan, given.collect()) })
    }

    /// Adds the sort's commands to an encoder.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.encode_in(&mut encoder.begin_compute_pass(&Default::default()));
    }

    /// Adds its dispatches to a compute pass, such as one with timestamps.
    pub fn encode_in(&self, pass: &mut ComputePass<'_>) {
        for index in 0..self.steps.len() {
            self.encode_step(pass, index);
        }
    }

    /// The number of dispatches: 0 for n = 0.
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
    /// Every buffer that is given, with its field.
    fn all_given(&self) -> Vec<(RadixMemory, &'static str, &'a Buffer)> {
        let Self { keys, keys_sorted, payload } = *self;
        let mut given = vec![
            (RadixMemory::Keys, "keys", keys),
            (RadixMemory::KeysSorted, "keys_sorted", keys_sorted),
        ];
        if let Some(Payload { payload, payload_sorted }) = payload {
            given.push((RadixMemory::Payload, "payload", payload));
            given.push((RadixMemory::PayloadSorted, "payload_sorted", payload_sorted));
        }
        given
    }

    /// Refuses a buffer that is given twice, that lacks a usage, or that is too small.
    fn check(&self, n: u32) -> Result<(), MultisplitError> {
        let given = self.all_given();
        for (index, (_, second, buffer)) in given.iter().enumerate() {
            if let Some((_, first, _)) = given[..index].iter().find(|(_, _, known)| known == buffer)
            {
                return Err(MultisplitError::SameBuffer { first, second });
            }
            check_buffer(second, buffer, BufferUsages::STORAGE, u64::from(words_of(n)) * 4)?;
        }
        Ok(())
    }
}

/// Makes the stages of a plan, with a buffer for each that it has and the caller did not give.
fn steps(
    device: &Device,
    plan: &RadixPlan,
    mut buffers: BTreeMap<RadixMemory, Buffer>,
) -> Vec<PreparedDispatch> {
    if plan.stages.is_empty() {
        return Vec::new();
    }
    buffers.insert(RadixMemory::Split, words(device, "split", &plan.split));
    for (pass, digit) in plan.digits.iter().enumerate() {
        buffers.insert(RadixMemory::Digit(pass), words(device, "digit", digit));
    }
    for (memory, length) in &plan.lengths {
        let buffer = device.create_buffer(&BufferDescriptor {
            label: Some("sort"),
            size: length * 4,
            usage: BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        buffers.insert(*memory, buffer);
    }
    let radix = plan.specialise(shaders::RADIX);
    let parts = [shaders::SPLIT, shaders::SPLIT_MANY, shaders::SPLIT_RUNS, &radix];
    let module = module(device, &parts, STORAGE_BUFFERS);
    let constants = constants(device, &plan.overrides);
    let mut pipelines = BTreeMap::new();
    let stages = plan.stages.iter();
    let made = stages.map(|stage| {
        let pipeline = pipelines
            .entry(stage.entry_point)
            .or_insert_with(|| pipeline(device, &module, stage.entry_point, &constants));
        let bound: Vec<(u32, &Buffer)> =
            stage.binds.iter().map(|(binding, memory)| (*binding, &buffers[memory])).collect();
        dispatch(device, pipeline, &bound, stage.workgroups)
    });
    made.collect()
}
