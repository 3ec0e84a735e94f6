//! What the made-up contents of a buffer decide.
//!
//! Input: nothing. Output: plain data.

use serde::{Deserialize, Serialize};

/// A buffer whose contents nobody gave, and what follows them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeUp {
    /// The shader's variable.
    pub buffer: String,
    /// Lines, from 1, of the conditions that follow its contents, and of loops that end by them.
    pub conditions: Vec<u32>,
    /// Lines, from 1, of the indices that follow its contents.
    pub indices: Vec<u32>,
    /// Whether it was filled with zeros, as memory of atomics is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zeros: bool,
    /// Whether the launch file says how its random contents are distributed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// The numbers of it that decide, where it holds no array: their values were chosen, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<Constant>,
}

/// A number that stands alone, and what was chosen for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// The variable, with the path of fields that leads to it: `view.center.x`.
    pub name: String,
    /// Its value.
    pub value: f64,
}
