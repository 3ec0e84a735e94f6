//! What the made-up contents of a buffer decide.
//!
//! Input: nothing. Output: plain data.

use serde::{Deserialize, Serialize};

/// A buffer whose contents nobody gave, and what follows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeUp {
    /// The shader's variable.
    pub buffer: String,
    /// Lines, from 1, of the conditions that follow its contents, and of loops that end by them.
    pub conditions: Vec<u32>,
    /// Lines, from 1, of the indices that follow its contents.
    pub indices: Vec<u32>,
}
