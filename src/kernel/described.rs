//! A kernel as it was read: its shader and its description.
//!
//! Input: texts. Output: plain data, from which `launch` works out a point of a sweep.

use super::error::KernelError;
use super::format::Description;
/// A kernel: its shader and its description.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// `family/name`.
    pub id: String,
    /// What it is written in.
    pub language: KernelLanguage,
    /// The shader's text.
    pub source: String,
    /// What its TOML says.
    pub description: Description,
}

/// What a kernel is written in: its file's ending says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelLanguage {
    /// WGSL, which every device runs.
    Wgsl,
    /// CUDA C++, for what WGSL cannot say: NVIDIA's GPUs through CUDA run it, and nobody else. Its
    /// kernels are `extern "C"`, and take the addresses of the description's buffers, in order.
    Cuda,
}

impl KernelLanguage {
    /// The language of a file; WGSL where the ending is none of ours.
    pub fn of_file(name: &str) -> Self {
        if name.ends_with(".cu") { Self::Cuda } else { Self::Wgsl }
    }

    /// The ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Cuda => "cu",
        }
    }
}

impl Kernel {
    /// Reads a kernel in WGSL from its two texts; `id` is `family/name`.
    ///
    /// # Errors
    ///
    /// [`KernelError::Toml`] with file, line and key.
    pub fn parse(id: &str, source: &str, description: &str) -> Result<Self, KernelError> {
        let description = Description::parse(&format!("{id}.toml"), description)?;
        let language = KernelLanguage::Wgsl;
        Ok(Self { id: id.to_owned(), language, source: source.to_owned(), description })
    }

    /// Its family.
    pub fn family(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Its name within the family.
    pub fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or_default()
    }
}
