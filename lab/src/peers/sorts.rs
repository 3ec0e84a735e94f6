//! Sorts of whole keys and compactions on buffers of known contents: made ready, verified.
//!
//! Input: a work, a size. Output: calls that can be recorded, and whether what they wrote is right.

use anyhow::{Result, ensure};
use lanescope::algorithms::sort::{Buffers, Key, Payload, RadixTuning, Sort};
use lanescope::algorithms::{Compact, CompactCall, Flags, ScanTuning};
use rayon::prelude::*;
use wgpu::Buffer;

use super::gpu::Gpu;

/// One copy of the buffers.
pub(crate) struct Set {
    /// The keys, or the elements.
    first: Buffer,
    /// The payload, or a byte for each element: whether it is kept.
    second: Buffer,
    /// What is written.
    first_out: Buffer,
    second_out: Buffer,
}

/// Whether element i is kept.
fn is_kept(index: u64) -> bool {
    lanescope::kernel::generate::mix(!index) >> 63 == 1
}

/// What lies in `second`, of which `bytes` are an element's.
fn second(n: u64, bytes: u64) -> Vec<u8> {
    if bytes == 1 {
        return (0..n).map(|i| u8::from(is_kept(i))).collect();
    }
    (0..u32::try_from(n).unwrap_or(u32::MAX)).flat_map(u32::to_le_bytes).collect()
}

impl Set {
    /// Makes a copy; `content` is the keys or elements, and `payload` whether they have payloads, rather
    /// than flags.
    pub(crate) fn new(gpu: &Gpu, content: &[u8], payload: bool) -> Result<Self> {
        let n = content.len() as u64 / 4;
        let buffer = |bytes: u64, content: &[u8]| -> Result<Buffer> {
            let buffer = gpu.buffer(bytes);
            gpu.write(&buffer, content)?;
            Ok(buffer)
        };
        let bytes = if payload { 4 } else { 1 };
        Ok(Self {
            first: buffer(n * 4, content)?,
            second: buffer(n * bytes, &second(n, bytes))?,
            first_out: buffer(n * 4, &[])?,
            second_out: buffer(n * bytes, &[])?,
        })
    }

    /// A sort of this copy, with its payload or without; cut as the library chooses where nothing else is asked.
    pub(crate) fn sort(
        &self,
        gpu: &Gpu,
        n: u64,
        pairs: bool,
        tuning: Option<RadixTuning>,
    ) -> Result<Sort> {
        let Self { first, second, first_out, second_out } = self;
        let payload = pairs.then_some(Payload { payload: second, payload_sorted: second_out });
        let buffers = Buffers { keys: first, keys_sorted: first_out, payload };
        let (device, n) = (&gpu.device, u32::try_from(n)?);
        Ok(match tuning {
            Some(tuning) => Sort::with_tuning(device, n, Key::U32, 0..32, &buffers, tuning)?,
            None => Sort::new(device, n, Key::U32, 0..32, &buffers)?,
        })
    }

    /// A compaction of this copy; cut as the library chooses where nothing else is asked.
    pub(crate) fn compact(
        &self,
        gpu: &Gpu,
        n: u64,
        tuning: Option<ScanTuning>,
    ) -> Result<CompactCall> {
        let device = &gpu.device;
        let tuning = tuning.unwrap_or_else(|| ScanTuning::for_compaction(device, n));
        let compact = Compact::new(device, Flags::Bytes, tuning)?;
        let scratch = compact.scratch(device, n);
        let elements = (&self.first, &self.second);
        Ok(compact.prepare(device, elements, n, &self.first_out, &scratch)?)
    }

    /// Compares what a sort wrote with the keys in order.
    pub(crate) fn verify_sort(&self, gpu: &Gpu, order: &[u64], pairs: bool) -> Result<()> {
        let bytes = order.len() as u64 * 4;
        let is = |buffer: &Buffer, part: fn(u64) -> u64| -> Result<bool> {
            let found = words(&gpu.read(buffer, bytes)?);
            Ok(order.iter().zip(found).all(|(pair, word)| part(*pair) == u64::from(word)))
        };
        ensure!(is(&self.first_out, |pair| pair >> 32)?, "the keys are not in order");
        if pairs {
            ensure!(
                is(&self.second_out, |pair| pair & 0xffff_ffff)?,
                "the payload is not in order"
            );
        }
        Ok(())
    }

    /// Compares what a compaction kept with a filter.
    pub(crate) fn verify_compact(&self, gpu: &Gpu, content: &[u8]) -> Result<()> {
        let found = words(&gpu.read(&self.first_out, content.len() as u64)?);
        let elements = (0..).zip(words(content)).filter(|(index, _)| is_kept(*index));
        let right = elements.zip(found).all(|((_, element), found)| element == found);
        ensure!(right, "what is kept is wrong");
        Ok(())
    }
}

/// The keys in order, each above its index in one number: those that are equal stay as they were.
pub(crate) fn ordered(content: &[u8]) -> Vec<u64> {
    let pairs = words(content).into_par_iter().enumerate();
    let mut order: Vec<u64> =
        pairs.map(|(index, key)| (u64::from(key) << 32) | index as u64).collect();
    order.par_sort_unstable();
    order
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
