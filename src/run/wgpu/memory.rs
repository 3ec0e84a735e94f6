//! What a shader binds on a device: buffers, textures and samplers.
//!
//! Input: nothing. Output: plain handles; `gpu` and `textures` make, fill and read what they stand for.

use wgpu::{Buffer, Sampler, SamplerBindingType, Texture};

use crate::run::gpu::TextureUses;
use crate::run::{RunError, RunErrorKind};
use crate::texture::TextureLayout;

/// What a shader binds: a copy of the handle is the same memory.
#[derive(Clone, Debug)]
pub enum WgpuMemory {
    /// A buffer.
    Buffer(Buffer),
    /// A texture.
    Texture(WgpuTexture),
    /// A sampler, and how it is bound.
    Sampler(Sampler, SamplerBindingType),
}

impl WgpuMemory {
    /// The buffer that it is.
    pub(super) fn buffer(&self) -> Result<&Buffer, RunError> {
        match self {
            Self::Buffer(buffer) => Ok(buffer),
            Self::Texture(_) | Self::Sampler(..) => {
                let message = "a texture or a sampler in a buffer's place";
                Err(RunError::new(RunErrorKind::BadInput, message))
            }
        }
    }
}

/// A texture on the device.
#[derive(Clone, Debug)]
pub struct WgpuTexture {
    pub(super) texture: Texture,
    pub(super) layout: TextureLayout,
    pub(super) name: String,
    pub(super) uses: TextureUses,
}
