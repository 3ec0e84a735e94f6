//! What the functions of templates say where they cannot answer.
//!
//! Input: a sentence. Output: the error that a template ends with.

use minijinja::{Error, ErrorKind};

/// An error of a template's function, with a sentence.
pub(super) fn wrong(sentence: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, sentence.to_string())
}
