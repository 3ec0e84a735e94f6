//! Multisplit on buffers of known contents: made ready, verified.
//!
//! Input: what is written, a size, a number of classes. Output: partitions that can be recorded, and
//! whether what they wrote is the stable order.

use anyhow::{Result, ensure};
use lanescope::algorithms::multisplit::{Buffers, Multisplit, Order, Pairs, check, words_of};
use wgpu::Buffer;

use super::gpu::Gpu;

/// One copy of the buffers.
pub(crate) struct Set {
    keys: Buffer,
    payload: Option<Buffer>,
    /// The permutation, or the payload in order.
    first: Buffer,
    /// The keys in order, with a payload.
    second: Option<Buffer>,
    offsets: Buffer,
    status: Buffer,
}

/// The class of element i: a hash of i.
pub(crate) fn class(index: u64, classes: u32) -> u32 {
    let bits = lanescope::kernel::generate::mix(index) >> 32;
    u32::try_from((bits * u64::from(classes)) >> 32).unwrap_or(0)
}

/// The payload of element i.
fn payload(index: u32) -> u32 {
    index.wrapping_mul(0x9e37_79b9)
}

impl Set {
    /// Makes a copy; `content` is the keys.
    pub(crate) fn new(gpu: &Gpu, content: &[u8], classes: u32, pairs: bool) -> Result<Self> {
        let n = u32::try_from(content.len() / 4)?;
        let words = |words: u32| gpu.buffer(u64::from(words) * 4);
        let keys = words(words_of(n));
        gpu.write(&keys, content)?;
        let payload = pairs.then(|| words(words_of(n)));
        if let Some(buffer) = &payload {
            let bytes: Vec<u8> = (0..n).flat_map(|i| self::payload(i).to_le_bytes()).collect();
            gpu.write(buffer, &bytes)?;
        }
        Ok(Self {
            keys,
            payload,
            first: words(words_of(n)),
            second: pairs.then(|| words(words_of(n))),
            offsets: words(classes + 1),
            status: words(1),
        })
    }

    /// A partition of this copy.
    pub(crate) fn ready(&self, gpu: &Gpu, n: u64, classes: u32) -> Result<Multisplit> {
        let Self { keys, payload, first, second, offsets, status } = self;
        let pairs = payload.as_ref().zip(second.as_ref()).map(|(payload, keys_sorted)| Pairs {
            payload,
            payload_sorted: first,
            keys_sorted,
        });
        let order = pairs.is_none().then_some(Order { permutation: first, inverse: None });
        let buffers = Buffers { keys, offsets, status, order, pairs };
        Ok(Multisplit::new(&gpu.device, u32::try_from(n)?, classes, &buffers)?)
    }

    /// Compares what was written with a stable counting sort of the keys.
    pub(crate) fn verify(&self, gpu: &Gpu, content: &[u8], classes: u32) -> Result<()> {
        let told = gpu.read(&self.status, 4)?;
        check(u32::from_le_bytes([told[0], told[1], told[2], told[3]]), classes)?;
        let keys: Vec<u32> =
            content.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mut next = vec![0_usize; classes as usize + 1];
        for key in &keys {
            next[*key as usize + 1] += 1;
        }
        for class in 1..next.len() {
            next[class] += next[class - 1];
        }
        let first = gpu.read(&self.first, content.len() as u64)?;
        let second = self.second.as_ref().map(|b| gpu.read(b, content.len() as u64)).transpose()?;
        let word = |bytes: &[u8], at: usize| {
            u32::from_le_bytes([
                bytes[at * 4],
                bytes[at * 4 + 1],
                bytes[at * 4 + 2],
                bytes[at * 4 + 3],
            ])
        };
        for (index, key) in (0_u32..).zip(&keys) {
            let place = next[*key as usize];
            next[*key as usize] += 1;
            let expected = if second.is_some() { payload(index) } else { index };
            let keys_match = second.as_ref().is_none_or(|keys| word(keys, place) == *key);
            ensure!(word(&first, place) == expected && keys_match, "place {place} is wrong");
        }
        Ok(())
    }
}
