//! What a translation is asked with, and what comes of it.
//!
//! Input: nothing. Output: plain data for whoever launches the kernel.

use super::error::Error;

/// Lanes of a subgroup on every NVIDIA GPU.
pub const WIDTH: u32 = 32;

/// How to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What happens to accesses out of bounds.
    pub checks: Checks,
    /// Whether workgroup variables begin as zeros; a kernel that writes them first need not wait.
    pub zero_memory: bool,
}

/// What happens to accesses out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// Reads give zero, writes and atomics are skipped.
    Checked,
    /// Nothing is asked: what is timed.
    Unchecked,
}

/// A translated entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// C++ for NVRTC, in the standard of 2020.
    pub source: String,
    /// The kernel's name; it has C linkage.
    pub kernel: String,
    /// The kernel's parameters, in order.
    pub parameters: Vec<Parameter>,
    /// What must lie in the module's constant memory before the kernel runs.
    pub constants: Vec<Constant>,
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Static workgroup memory in bytes.
    pub workgroup_bytes: u32,
}

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The address of the buffer at a binding.
    Buffer {
        /// Bind group.
        group: u32,
        /// Binding.
        binding: u32,
    },
    /// A structure by value: for each run-time array, in order, how many elements it has, as `u32`.
    Lengths(Vec<Length>),
    /// The immediates by value, of so many bytes.
    Immediates {
        /// Size in bytes.
        size: u32,
    },
}

/// How many elements a run-time array has: (the buffer's size − `offset`) ÷ `stride`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Bind group of the buffer.
    pub group: u32,
    /// Its binding.
    pub binding: u32,
    /// Where the array begins, in bytes.
    pub offset: u32,
    /// Bytes from an element to the next.
    pub stride: u32,
}

/// What a part of the translation gives.
pub(super) type Result<T> = std::result::Result<T, Error>;

/// A variable in constant memory, which has the first bytes of a uniform buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name in the namespace `wgsl`.
    pub name: String,
    /// Bind group of the buffer.
    pub group: u32,
    /// Its binding.
    pub binding: u32,
    /// Size in bytes.
    pub size: u32,
    /// How many copies lie there, one after the other.
    pub copies: u32,
}

impl Constant {
    /// The name that the module has for it: C++'s, with the namespace. Without one a uniform buffer
    /// called `clock` would be CUDA's.
    pub fn symbol(&self) -> String {
        format!("_ZN4wgsl{}{}E", self.name.len(), self.name)
    }
}
