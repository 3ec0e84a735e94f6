//! CPU references: what a kernel must have written.
//!
//! Input: a launch. Output: the expected elements of each output buffer, in f64, and the comparison
//! with what a device wrote. References are written in another way than the shaders wherever there
//! is one (closed forms, f64), so that a shared mistake is unlikely.

use std::collections::BTreeMap;

use super::format::{Reference, ScalarType};
use super::generate;
use super::launch::Launch;
use crate::record::Value;

/// How many differing elements a mismatch lists.
const DIFFERENCES_SHOWN: usize = 5;

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

/// Whether outputs are right.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every element lies within the tolerance.
    Verified,
    /// Some do not.
    Mismatch(Mismatch),
    /// There is nothing to compare with.
    Unchecked,
}

/// Outputs that differ from the reference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{count} of {elements} elements of `{buffer}` differ from the reference by more than \
     {tolerance_relative:e} relative + {tolerance_absolute:e}; the first: {}",
    describe(.first)
)]
pub struct Mismatch {
    /// The output buffer.
    pub buffer: String,
    /// How many elements differ.
    pub count: usize,
    /// How many there are.
    pub elements: usize,
    /// Relative tolerance.
    pub tolerance_relative: f64,
    /// Absolute tolerance.
    pub tolerance_absolute: f64,
    /// The first that differ: index, found, expected.
    pub first: Vec<(usize, f64, f64)>,
}

fn describe(first: &[(usize, f64, f64)]) -> String {
    let one =
        |(index, found, expected): &(usize, f64, f64)| format!("[{index}] {found} ≠ {expected}");
    first.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A reference's function: the launch and the numbers of its buffers in, expected outputs out.
type Function = fn(&Launch) -> Result<Expected, String>;

/// Every reference by name.
const FUNCTIONS: [(&str, Function); 5] = [
    ("five_patterns/uniform", uniform),
    ("five_patterns/branch_by_lane", branch_by_lane),
    ("five_patterns/branch_by_quad", branch_by_quad),
    ("five_patterns/early_exit", early_exit),
    ("five_patterns/indirect_branch", indirect_branch),
];

/// Works out what a launch must write, or nothing where it has no reference.
///
/// # Errors
///
/// A sentence, when the reference is unknown or the launch lacks what it reads.
pub fn expected(launch: &Launch) -> Result<Option<Expected>, String> {
    let Some(reference) = &launch.reference else { return Ok(None) };
    let found = FUNCTIONS.iter().find(|(name, _)| *name == reference.name);
    let Some((_, function)) = found else {
        return Err(format!("there is no CPU reference {:?}", reference.name));
    };
    function(launch).map(Some)
}

/// Compares output buffers with the reference.
///
/// `outputs` holds the bytes of each output buffer by name.
///
/// # Errors
///
/// What [`expected`] says, and a sentence when an output is missing or too short.
pub fn check(launch: &Launch, outputs: &BTreeMap<String, Vec<u8>>) -> Result<Verdict, String> {
    let (Some(expected), Some(reference)) = (expected(launch)?, &launch.reference) else {
        return Ok(Verdict::Unchecked);
    };
    for (name, values) in &expected {
        let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
        let bytes = outputs.get(name).ok_or_else(|| format!("`{name}` was not read back"))?;
        let count = bytes.len() as u64 / buffer.scalar.bytes();
        if count < values.len() as u64 {
            return Err(format!("`{name}` has {count} elements, not {}", values.len()));
        }
        if let Some(mismatch) = compare(name, buffer.scalar, bytes, values, reference) {
            return Ok(Verdict::Mismatch(mismatch));
        }
    }
    Ok(Verdict::Verified)
}

fn compare(
    name: &str,
    scalar: ScalarType,
    bytes: &[u8],
    values: &[Element],
    reference: &Reference,
) -> Option<Mismatch> {
    let length = usize::try_from(scalar.bytes()).unwrap_or(8);
    let mut count = 0;
    let mut first = Vec::new();
    for (index, (element, &expected)) in bytes.chunks_exact(length).zip(values).enumerate() {
        let found = generate::decode(scalar, element);
        let Element { value: expected, magnitude } = expected;
        let allowed = reference.tolerance_absolute + reference.tolerance_relative * magnitude;
        let right = (found - expected).abs() <= allowed;
        if !right {
            count += 1;
            if first.len() < DIFFERENCES_SHOWN {
                first.push((index, found, expected));
            }
        }
    }
    (count > 0).then(|| Mismatch {
        buffer: name.to_owned(),
        count,
        elements: values.len(),
        tolerance_relative: reference.tolerance_relative,
        tolerance_absolute: reference.tolerance_absolute,
        first,
    })
}

/// v ↦ a·v + b, k times, as one affine map.
#[derive(Clone, Copy)]
struct Affine {
    a: f64,
    b: f64,
}

impl Affine {
    /// The constants are those that the shaders have: f32.
    fn repeated(a: f32, b: f32, times: u32) -> Self {
        let (a, b) = (f64::from(a), f64::from(b));
        let identity = Self { a: 1.0, b: 0.0 };
        (0..times).fold(identity, |map, _| Self { a: a * map.a, b: a * map.b + b })
    }

    fn apply(self, v: f64) -> Element {
        Element { value: self.a * v + self.b, magnitude: (self.a * v).abs() + self.b.abs() }
    }
}

/// An element that is only copied.
fn copied(v: f64) -> Element {
    Affine { a: 1.0, b: 0.0 }.apply(v)
}

/// The f32 elements of a buffer.
fn floats(launch: &Launch, name: &str) -> Result<Vec<f64>, String> {
    let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
    let bytes = launch.contents(buffer);
    let words = bytes.as_chunks::<4>().0;
    Ok(words.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect())
}

/// Element i of the output is a function of element i of the input and of i.
fn map(launch: &Launch, element: impl Fn(usize, f64) -> Element) -> Result<Expected, String> {
    let n = match launch.parameters.get("n") {
        Some(Value::Integer(n)) => usize::try_from(*n).map_err(|error| error.to_string())?,
        other => return Err(format!("the reference needs a whole parameter `n`, not {other:?}")),
    };
    let input = floats(launch, "input")?;
    let output = input.iter().take(n).enumerate().map(|(i, v)| element(i, *v)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// The lane parity that the shaders use: invocations of a workgroup of 256, numbered from 0.
fn local_index(index: usize) -> usize {
    index % 256
}

fn uniform(launch: &Launch) -> Result<Expected, String> {
    let map_512 = Affine::repeated(1.01, 0.001, 512);
    map(launch, |_, v| map_512.apply(v))
}

fn branch_by_lane(launch: &Launch) -> Result<Expected, String> {
    let even = Affine::repeated(1.01, 0.001, 512);
    let published = launch.parameters.get("form") == Some(&Value::Name("published".to_owned()));
    // Published: v + 0.001·i for i from 0 to 511; sealed: v + 0.001, 512 times.
    let steps = if published { 511 * 512 / 2 } else { 512 };
    let odd = Affine::repeated(1.0, 0.001, steps);
    map(launch, |i, v| if local_index(i).is_multiple_of(2) { even.apply(v) } else { odd.apply(v) })
}

fn branch_by_quad(launch: &Launch) -> Result<Expected, String> {
    let taken = Affine::repeated(1.001, 0.0001, 2048);
    map(launch, |i, v| if local_index(i).is_multiple_of(4) { taken.apply(v) } else { copied(v) })
}

fn early_exit(launch: &Launch) -> Result<Expected, String> {
    let survivor = Affine::repeated(1.01, -0.005, 1024);
    map(launch, |_, v| if v < 0.5 { copied(v) } else { survivor.apply(v) })
}

fn indirect_branch(launch: &Launch) -> Result<Expected, String> {
    let arms = [
        Affine::repeated(1.01, 0.0, 256),
        Affine::repeated(1.0, 0.01, 256),
        Affine::repeated(1.0, -0.005, 256),
        Affine::repeated(0.99, 0.0, 256),
    ];
    // Inputs lie in [0, 1) and have 24 bits, so v · 4 is exact and below 4.
    map(launch, |_, v| {
        let arm = [0.25, 0.5, 0.75].iter().filter(|bound| v >= **bound).count();
        arms[arm].apply(v)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_affine_map_equals_repetition() {
        let mut v = 0.3;
        for _ in 0..512 {
            v = v * f64::from(1.01_f32) + f64::from(0.001_f32);
        }
        let closed = Affine::repeated(1.01, 0.001, 512).apply(0.3).value;
        assert!((v - closed).abs() < 1e-12 * v, "{v} {closed}");
    }

    #[test]
    fn a_mismatch_names_the_first_elements() {
        let reference = Reference {
            name: "x".into(),
            tolerance_absolute: 0.0,
            tolerance_relative: 1e-3,
            reason: String::new(),
        };
        let bytes = [1.0_f32, 2.1, f32::NAN].map(f32::to_le_bytes).concat();
        let values = [1.0005, 2.0, 3.0].map(copied);
        let found = compare("output", ScalarType::F32, &bytes, &values, &reference);
        let mismatch = found.unwrap();
        assert_eq!((mismatch.count, mismatch.first[0].0, mismatch.first[1].0), (2, 1, 2));
        assert!(mismatch.to_string().contains("[1] 2.0999"), "{mismatch}");
    }
}
