//! Why a program cannot be translated.
//!
//! Input: nothing. Output: the module's error type, with the place in the WGSL.

/// Why a program cannot be written as CUDA C++.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program uses something that has no translation.
    #[error("{file}:{line}:{column}: the CUDA translation does not cover {what}")]
    Unsupported {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Column in bytes, from 1.
        column: u32,
        /// What it is.
        what: String,
    },
    /// A type's layout cannot be that of C++.
    #[error("{file}: `{name}` has a layout that C++ cannot be given: {why}")]
    Layout {
        /// The file's name.
        file: String,
        /// The type.
        name: String,
        /// What does not fit.
        why: String,
    },
}
