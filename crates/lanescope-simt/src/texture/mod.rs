//! Textures as plain data: formats, extents, samplers, and what reading one gives.
//!
//! Input: texels as words and the settings of a sampler. Output: components, as the bits of `f32`, `u32`
//! or `i32`. It knows nothing of naga, of lanes or of devices; the simulator reads and writes its
//! textures here, and what fills a texture encodes its texels here.
//!
//! | file | what it is |
//! |---|---|
//! | `format` | the one table from a format's texels to components and back |
//! | `layout` | dimensions, levels, layers and samples, and where a texel lies |
//! | `sampler` | filters, addresses outside, comparison |
//! | `sample` | filtered reads, gathering, levels of detail |
//! | `cube` | which face a direction meets, and what lies beyond a face's edge |

mod cube;
mod format;
mod layout;
mod sample;
mod sampler;

pub use format::{SampledKind, TextureFormat};
pub use layout::{TextureAccess, TextureClass, TextureDimension, TextureLayout, TextureView};
pub use sample::{LevelOfDetail, SamplePoint, Sampled};
pub use sampler::{AddressMode, Comparison, Filter, SamplerSettings};

#[cfg(test)]
mod tests;
