//! What a CPU reference is: a function from a launch to what its outputs must hold.
//!
//! Input: a launch, and for what depends on how a device forms subgroups its outputs. Output: expected
//! elements by buffer, and how a reference reads its launch's buffers and parameters.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::kernel::Launch;
use crate::record::Value;

/// Elements that one thread looks at at a time.
pub(super) const ELEMENTS_PER_TASK: usize = 1 << 16;

/// The expected elements of output buffers, by name.
pub type Expected = BTreeMap<String, Vec<Element>>;

/// An expected element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Its value.
    pub value: f64,
    /// The size of what was added up to it, which scales its rounding errors: the relative
    /// tolerance is relative to this, so that cancellation is allowed for where it happens.
    pub magnitude: f64,
}

/// What a reference works out expected outputs from.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// The launch and the numbers of its buffers.
    Launch(fn(&Launch) -> Result<Expected, String>),
    /// The launch and what the device wrote: for what depends on how a device forms subgroups, which the kernel
    /// writes down beside its results.
    Outputs(fn(&Launch, &Outputs) -> Result<Expected, String>),
}

/// The bytes of each output buffer, by name.
pub type Outputs = BTreeMap<String, Vec<u8>>;

/// An element that is only copied, or computed without rounding.
pub(super) fn to_element(value: f64) -> Element {
    Element { value, magnitude: value.abs() }
}

/// The f32 elements of a buffer.
pub(super) fn floats(launch: &Launch, name: &str) -> Result<Vec<f64>, String> {
    let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
    let bytes = launch.contents(buffer);
    let words = bytes.as_chunks::<4>().0;
    Ok(words.par_iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect())
}

/// The 32-bit words of a buffer, as they are at first.
pub(super) fn words(launch: &Launch, name: &str) -> Result<Vec<u32>, String> {
    let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
    let bytes = launch.contents(buffer);
    Ok(bytes.as_chunks::<4>().0.par_iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// The value of a parameter that is a name.
pub(super) fn choice<'a>(launch: &'a Launch, name: &str) -> Result<&'a str, String> {
    match launch.parameters.get(name) {
        Some(Value::Name(value)) => Ok(value),
        other => Err(format!("the reference needs a parameter `{name}`, not {other:?}")),
    }
}

/// The value of a parameter that is a count.
pub(super) fn count(launch: &Launch, name: &str) -> Result<usize, String> {
    match launch.parameters.get(name) {
        Some(Value::Integer(n)) => usize::try_from(*n).map_err(|error| error.to_string()),
        other => Err(format!("the reference needs a whole parameter `{name}`, not {other:?}")),
    }
}
