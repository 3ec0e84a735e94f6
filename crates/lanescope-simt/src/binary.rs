//! A compiled shader as plain data: SPIR-V's words, and the files of its source.
//!
//! Input: nothing. Output: [`SpirV`], which can be sent to another process; `program` reads it.

use serde::{Deserialize, Serialize};

/// The first word of a SPIR-V module.
pub(crate) const MAGIC: u32 = 0x0723_0203;

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
    /// Its name or path, as the compiler wrote it.
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
