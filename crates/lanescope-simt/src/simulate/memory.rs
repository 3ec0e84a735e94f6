//! The memory that a launch works on: buffers, textures and samplers by group and binding, and
//! immediates.
//!
//! Input: bytes from the caller. Output: the same buffers after a launch. Words are atomics with
//! relaxed order, which is what WGSL promises between invocations, so that worker threads can share
//! a buffer without `unsafe`. It knows nothing of types.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::texture::{SamplerSettings, TextureLayout};

/// Buffers, textures, samplers and immediates of a launch.
#[derive(Debug, Default)]
pub struct Memory {
    buffers: BTreeMap<(u32, u32), SimulatedBuffer>,
    samplers: BTreeMap<(u32, u32), SamplerSettings>,
    immediates: SimulatedBuffer,
    /// Taken for every 64-bit atomic operation.
    lock: Mutex<()>,
}

/// Bytes as words that threads may share.
#[derive(Debug, Default)]
pub(super) struct SimulatedBuffer {
    pub(super) words: Vec<AtomicU32>,
    pub(super) bytes: usize,
    /// Of a texture; its texels then begin at words of their own.
    pub(super) texture: Option<TextureLayout>,
}

impl Memory {
    /// Makes a memory without buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a buffer with these bytes; one that was bound there before is dropped.
    pub fn bind(&mut self, group: u32, binding: u32, bytes: &[u8]) {
        self.buffers.insert((group, binding), SimulatedBuffer::new(bytes));
    }

    /// Binds a texture with these texels, packed as `layout` says; missing ones are zero.
    pub fn bind_texture(&mut self, group: u32, binding: u32, layout: &TextureLayout, bytes: &[u8]) {
        self.put(group, binding, DetachedBuffer::new_texture(layout, bytes));
    }

    /// Binds a sampler.
    pub fn bind_sampler(&mut self, group: u32, binding: u32, settings: SamplerSettings) {
        self.samplers.insert((group, binding), settings);
    }

    /// Sets the immediates.
    pub fn set_immediates(&mut self, bytes: &[u8]) {
        self.immediates = SimulatedBuffer::new(bytes);
    }

    /// The bytes of a buffer, or of a texture's texels; `None` if none is bound.
    pub fn bytes(&self, group: u32, binding: u32) -> Option<Vec<u8>> {
        self.buffers.get(&(group, binding)).map(SimulatedBuffer::to_bytes)
    }

    /// Takes a buffer out, to be bound elsewhere with [`Memory::put`] and no copy.
    pub fn take(&mut self, group: u32, binding: u32) -> Option<DetachedBuffer> {
        self.buffers.remove(&(group, binding)).map(DetachedBuffer)
    }

    /// Binds a buffer that was taken from another memory or another binding.
    pub fn put(&mut self, group: u32, binding: u32, buffer: DetachedBuffer) {
        self.buffers.insert((group, binding), buffer.0);
    }

    pub(super) fn buffer(&self, group: u32, binding: u32) -> Option<&SimulatedBuffer> {
        self.buffers.get(&(group, binding))
    }

    pub(super) fn sampler(&self, group: u32, binding: u32) -> Option<&SamplerSettings> {
        self.samplers.get(&(group, binding))
    }

    pub(super) fn immediates(&self) -> &SimulatedBuffer {
        &self.immediates
    }

    pub(super) fn lock(&self) -> &Mutex<()> {
        &self.lock
    }
}

/// A buffer on its way from one binding to another: how several dispatches share one.
#[derive(Debug)]
pub struct DetachedBuffer(SimulatedBuffer);

impl DetachedBuffer {
    /// Makes a buffer of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(SimulatedBuffer::new(bytes))
    }

    /// Makes a texture of these texels, packed as `layout` says; missing ones are zero.
    pub fn new_texture(layout: &TextureLayout, bytes: &[u8]) -> Self {
        let (packed, apart) = texel_bytes(layout);
        let texels = usize::try_from(layout.texels()).unwrap_or(usize::MAX);
        let mut padded = vec![0; texels.saturating_mul(apart)];
        for (to, from) in padded.chunks_exact_mut(apart).zip(bytes.chunks_exact(packed)) {
            to[..packed].copy_from_slice(from);
        }
        Self(SimulatedBuffer { texture: Some(layout.clone()), ..SimulatedBuffer::new(&padded) })
    }

    /// Its bytes; a texture's texels are packed.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }
}

impl SimulatedBuffer {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let words = bytes.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        });
        Self { words: words.collect(), bytes: bytes.len(), texture: None }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let words = self.words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        let mut bytes: Vec<u8> = words.collect();
        bytes.truncate(self.bytes);
        match &self.texture {
            Some(layout) => {
                let (packed, apart) = texel_bytes(layout);
                bytes.chunks_exact(apart).flat_map(|texel| texel[..packed].to_vec()).collect()
            }
            None => bytes,
        }
    }
}

/// Bytes of a texel, packed, and from one texel to the next here: whole words, so that threads which write
/// neighbours do not write one word.
pub(super) fn texel_bytes(layout: &TextureLayout) -> (usize, usize) {
    let packed = layout.format.bytes() as usize;
    (packed, packed.next_multiple_of(4))
}
