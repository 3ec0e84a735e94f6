//! The catalogue: every kernel's shader and description, embedded in the program.
//!
//! Input: the folder `shaders`, at compile time, or one like it from elsewhere; then a choice of
//! parameters. Output: [`Launch`], one point of a sweep: a list of dispatches over named buffers with
//! seeded contents. It knows nothing of devices, and does not read the WGSL: `program` does.
//!
//! | file | what it holds |
//! |---|---|
//! | `<family>/family.toml` | what the kernels of a family share, and what is known of it: [`mod@family`] |
//! | `<family>/<name>.toml` | what is a kernel's own: [`mod@format`] |
//! | `<family>/<name>.wgsl` | its shader; `.cu` for the few kernels that WGSL cannot say |
//! | `<family>/<name>.part.wgsl` | a part of shaders, for kernels that name it |
//! | `lib/<name>.wgsl` | the same, for the kernels of several families |
//!
//! A family is its folder: adding one is adding files. Rust is written only for a CPU reference
//! ([`mod@reference`]) that the existing ones cannot express.

mod allowed;
pub mod buffer_description;
pub mod captured;
mod catalogue;
pub mod condition;
mod described;
mod dispatches;
mod error;
mod expression;
pub mod family;
pub mod format;
pub mod formula;
pub mod generate;
pub mod launch;
pub mod limits;
mod lines;
mod multisplit;
pub mod names;
mod note;
pub mod pattern;
pub mod reference;
mod replacements;
pub mod scalars;
pub mod shape;
pub mod texture_description;
pub mod textures;

pub use catalogue::{Catalogue, DeviceClass, SEED, embedded_text, near_matches};
pub use described::{Kernel, KernelLanguage};
pub use dispatches::{Dispatch, Native, Workgroups};
pub use error::KernelError;
pub use family::{Family, Renamed};
pub use format::{Description, FillDescription, PublishedDescription};
pub use generate::Fill;
pub use launch::{Buffer, Launch, Surroundings};
pub use shape::Extent;
pub use textures::{Sampler, TexelFill, Texture};

pub use crate::layout::{ScalarType, Shape};

#[cfg(test)]
mod tests;
