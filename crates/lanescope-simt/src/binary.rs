//! A shader that was made from other files, as plain data: SPIR-V's words, or WGSL that a preprocessor wrote, and the
//! files of the source.
//!
//! Input: nothing. Output: [`Derived`], which can be sent to another process; `program` reads it.

use serde::{Deserialize, Serialize};

/// The first word of a SPIR-V module.
pub(crate) const MAGIC: u32 = 0x0723_0203;

/// A shader that was made from the text that is shown, on whose lines figures stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Derived {
    /// By a compiler.
    SpirV(SpirV),
    /// By a preprocessor.
    Wgsl(MappedWgsl),
}

/// WGSL with the places in other files that its lines were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedWgsl {
    /// The WGSL.
    pub text: String,
    /// The files that its lines were made from; those without text where only names are known.
    pub files: Vec<SourceFile>,
    /// The place of each line; `None` where it was made from no other. Lines that are not in the list have none.
    pub lines: Vec<Option<LinePlace>>,
}

/// A line of one of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinePlace {
    /// Which of the files, from 0.
    pub file: usize,
    /// Line, from 1.
    pub line: u32,
}

/// A SPIR-V module with what is known of its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpirV {
    /// Its words.
    pub words: Vec<u32>,
    /// The files of its source from which code comes, the main one first; those without text where only
    /// names are known.
    pub files: Vec<SourceFile>,
}

/// A file of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name or path, as the compiler or preprocessor wrote it.
    pub name: String,
    /// What stands in it.
    pub text: Option<String>,
}

impl SpirV {
    /// Whether bytes begin as SPIR-V does, in either order.
    pub fn is(bytes: &[u8]) -> bool {
        let first = bytes.first_chunk::<4>();
        first.is_some_and(|word| {
            u32::from_le_bytes(*word) == MAGIC || u32::from_be_bytes(*word) == MAGIC
        })
    }
}
