//! CPU references: what a kernel must have written.
//!
//! Input: a launch. Output: the expected elements of each output buffer, in f64, and the comparison
//! with what a device wrote. References are written in another way than the shaders wherever there
//! is one (closed forms, f64), so that a shared mistake is unlikely. Each family has a file in `families/`,
//! with its table of names; this file has what they share.

mod affine;
mod after;
mod function;
mod subgroup_layout;

use rayon::prelude::*;

use super::format::Reference;
use super::launch::Launch;
use super::scalars;
use crate::layout::ScalarType;
use function::{By, ELEMENTS_PER_TASK, choice, count, floats, to_element, words};
pub use function::{Element, Expected, Outputs};

/// Whether outputs are right.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputVerdict {
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
    "{count} of {elements} elements of `{buffer}` differ from {against} by more than \
     {tolerance_relative:e} relative + {tolerance_absolute:e}; the first: {}{}",
    describe(.first),
    note_order(.reordered)
)]
pub struct Mismatch {
    /// The output buffer.
    pub buffer: String,
    /// What it was compared with.
    pub against: &'static str,
    /// How many elements differ.
    pub count: usize,
    /// How many there are.
    pub elements: usize,
    /// Relative tolerance.
    pub tolerance_relative: f64,
    /// Absolute tolerance.
    pub tolerance_absolute: f64,
    /// The first that differ: index, found, expected.
    pub first: Vec<Difference>,
    /// Whether each output that differs holds the same words, in another order than the program's own dispatch left
    /// them; never of what a CPU reference is compared with.
    pub reordered: bool,
}

/// An element that differs: its index, what was found, what was expected.
pub type Difference = (usize, f64, f64);

fn describe(first: &[Difference]) -> String {
    let difference =
        |(index, found, expected): &Difference| format!("[{index}] {found} ≠ {expected}");
    first.iter().map(difference).collect::<Vec<_>>().join(", ")
}

/// What is said where nothing but the order differs.
fn note_order(reordered: &bool) -> &'static str {
    if *reordered { "; the words are the same, in another order" } else { "" }
}

/// The families' references: a file for each in `families/`, which `build.rs` lists. Each has a table
/// `REFERENCES` by name; a file of JavaScript beside it, where there is one, has the same under the same names
/// for pages that check outputs in a browser, with the functions of `src/web/worker.js`.
mod families {
    use super::{
        By, ELEMENTS_PER_TASK, Element, Expected, Outputs, affine, choice, count, floats,
        subgroup_layout, to_element, words,
    };

    include!(concat!(env!("OUT_DIR"), "/references.rs"));
}

/// The families' references in JavaScript.
pub use families::JAVASCRIPT;

/// Works out what a launch must write; `None` if it has no reference, or one that needs what was
/// written.
///
/// # Errors
///
/// A sentence, when the reference is unknown or the launch lacks what it reads.
pub fn compute(launch: &Launch) -> Result<Option<Expected>, String> {
    let Some(reference) = &launch.reference else { return Ok(None) };
    match find(&reference.name)? {
        By::Launch(function) => function(launch).map(Some),
        By::Outputs(_) => Ok(None),
    }
}

/// The reference of this name.
fn find(name: &str) -> Result<By, String> {
    let found = families::ALL.iter().copied().flatten().find(|(known, _)| *known == name);
    found.map(|(_, by)| *by).ok_or_else(|| format!("there is no CPU reference {name:?}"))
}

/// The same with the help of what was written, where the reference needs that.
fn compute_after(launch: &Launch, outputs: &Outputs) -> Result<Option<Expected>, String> {
    let Some(reference) = &launch.reference else { return Ok(None) };
    match find(&reference.name)? {
        By::Launch(function) => function(launch).map(Some),
        By::Outputs(function) => function(launch, outputs).map(Some),
    }
}

/// Compares output buffers with the reference, or with what a captured program's own dispatch left.
///
/// `outputs` holds the bytes of each output buffer by name.
///
/// # Errors
///
/// What [`compute`] says, and a sentence when an output is missing or too short.
pub fn check(launch: &Launch, outputs: &Outputs) -> Result<OutputVerdict, String> {
    let (Some(expected), Some(reference)) = (compute_after(launch, outputs)?, &launch.reference)
    else {
        return check_after(launch, outputs);
    };
    for (name, values) in &expected {
        let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
        let bytes = outputs.get(name).ok_or_else(|| format!("`{name}` was not read back"))?;
        let count = bytes.len() as u64 / buffer.scalar.bytes();
        if count < values.len() as u64 {
            return Err(format!("`{name}` has {count} elements, not {}", values.len()));
        }
        if let Some(mismatch) = compare(name, buffer.scalar, bytes, values, reference) {
            return Ok(OutputVerdict::Mismatch(mismatch));
        }
    }
    Ok(OutputVerdict::Verified)
}

/// Compares outputs with what a captured program's own dispatch left; nothing is checked where that is not known.
fn check_after(launch: &Launch, outputs: &Outputs) -> Result<OutputVerdict, String> {
    if launch.after.is_empty() {
        return Ok(OutputVerdict::Unchecked);
    }
    let mut in_another_order = None;
    for (name, after) in &launch.after {
        let bytes = outputs.get(name).ok_or_else(|| format!("`{name}` was not read back"))?;
        let layout = launch.texture(name).map(|texture| &texture.layout);
        let Some(found) = after::compare(bytes, after, layout) else { continue };
        let mismatch = Mismatch {
            buffer: name.clone(),
            against: "what the program's own dispatch left",
            count: found.count,
            elements: found.elements,
            tolerance_relative: after.tolerance_relative,
            tolerance_absolute: after.tolerance_absolute,
            first: found.first,
            reordered: found.reordered,
        };
        // What differs in more than its order is said first.
        if !mismatch.reordered {
            return Ok(OutputVerdict::Mismatch(mismatch));
        }
        in_another_order.get_or_insert(mismatch);
    }
    Ok(in_another_order.map_or(OutputVerdict::Verified, OutputVerdict::Mismatch))
}

fn compare(
    name: &str,
    scalar: ScalarType,
    bytes: &[u8],
    values: &[Element],
    reference: &Reference,
) -> Option<Mismatch> {
    let length = usize::try_from(scalar.bytes()).unwrap_or(8);
    let wrong = |(bytes, expected): (&[u8], &Element)| {
        let found = scalars::decode(scalar, bytes);
        let Element { value: expected, magnitude } = *expected;
        let allowed = reference.tolerance_absolute + reference.tolerance_relative * magnitude;
        // Not a number is never right.
        let right = (found - expected).abs() <= allowed;
        (!right).then_some((found, expected))
    };
    let parts: Vec<(usize, Vec<Difference>)> = bytes
        .par_chunks(length * ELEMENTS_PER_TASK)
        .zip(values.par_chunks(ELEMENTS_PER_TASK))
        .enumerate()
        .map(|(task, (bytes, values))| {
            let (mut count, mut first) = (0, Vec::new());
            let elements = bytes.chunks_exact(length).zip(values);
            for (index, (found, expected)) in
                elements.enumerate().filter_map(|(index, both)| Some((index, wrong(both)?)))
            {
                count += 1;
                if first.len() < after::DIFFERENCES_SHOWN {
                    first.push((task * ELEMENTS_PER_TASK + index, found, expected));
                }
            }
            (count, first)
        })
        .collect();
    let count = parts.iter().map(|(count, _)| count).sum();
    let first =
        parts.into_iter().flat_map(|(_, first)| first).take(after::DIFFERENCES_SHOWN).collect();
    (count > 0).then(|| Mismatch {
        buffer: name.to_owned(),
        against: "the reference",
        count,
        elements: values.len(),
        tolerance_relative: reference.tolerance_relative,
        tolerance_absolute: reference.tolerance_absolute,
        first,
        reordered: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_names_the_first_elements() {
        let reference = Reference {
            name: "x".into(),
            tolerance_absolute: 0.0,
            tolerance_relative: 1e-3,
            reason: String::new(),
        };
        let bytes = [1.0_f32, 2.1, f32::NAN].map(f32::to_le_bytes).concat();
        let values = [1.0005, 2.0, 3.0].map(to_element);
        let found = compare("output", ScalarType::F32, &bytes, &values, &reference);
        let mismatch = found.unwrap();
        assert_eq!((mismatch.count, mismatch.first[0].0, mismatch.first[1].0), (2, 1, 2));
        assert!(mismatch.to_string().contains("[1] 2.0999"), "{mismatch}");
    }
}
