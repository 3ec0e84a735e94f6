//! References of the reductions: sums in f64, integers as the devices have them.
//!
//! Input: a launch with parameters `n`, `type` (`f32`, `u32` or `i32`) and, where the kernel has it,
//! `operation`. Output: the result of all elements, or of each block of 256. A float's magnitude is
//! the sum of the magnitudes of what was added up, so that a kernel's tolerance is an error bound of
//! summation.

use rayon::prelude::*;

use super::{By, ELEMENTS_PER_TASK, Element, Expected, choice, count, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("reduce/blocks", By::Launch(blocks)),
    ("reduce/all", By::Launch(all)),
    ("reduce/ones", By::Launch(ones)),
];

/// Elements that a workgroup of the ladder takes.
const BLOCK: usize = 256;

/// The sum of each block of 256.
fn blocks(launch: &Launch) -> Result<Expected, String> {
    let (n, input) = (count(launch, "n")?, words(launch, "input")?);
    let combine = combiner(choice(launch, "type")?, "add")?;
    let output = input.get(..n).ok_or("the input is shorter than n")?.par_chunks(BLOCK);
    Ok(Expected::from([("output".to_owned(), output.map(combine).collect())]))
}

/// The result of all elements.
fn all(launch: &Launch) -> Result<Expected, String> {
    let (n, input) = (count(launch, "n")?, words(launch, "input")?);
    let operation = choice(launch, "operation").unwrap_or("add");
    let combine = combiner(choice(launch, "type")?, operation)?;
    let output = vec![combine(input.get(..n).ok_or("the input is shorter than n")?)];
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// 1 for each of n elements: the kernel itself compared.
fn ones(launch: &Launch) -> Result<Expected, String> {
    let unit = Element { value: 1.0, magnitude: 1.0 };
    Ok(Expected::from([("output".to_owned(), vec![unit; count(launch, "n")?])]))
}

/// What combines the words of elements of a type.
type Combine = Box<dyn Fn(&[u32]) -> Element + Send + Sync>;

/// Folds words on all processors: parts of a fixed length, so that sums round the same everywhere.
fn fold_words<T: Copy + Send + Sync>(
    given: &[u32],
    first: T,
    value: impl Fn(u32) -> T + Sync,
    step: impl Fn(T, T) -> T + Sync,
) -> T {
    let part = |words: &[u32]| words.iter().fold(first, |sum, word| step(sum, value(*word)));
    let parts: Vec<T> = given.par_chunks(ELEMENTS_PER_TASK).map(part).collect();
    parts.into_iter().fold(first, &step)
}

fn combiner(element: &str, operation: &str) -> Result<Combine, String> {
    match element {
        "f32" => floats(operation),
        "u32" => integers(operation, u32::max, u32::min, f64::from),
        "i32" => {
            let max = |a: u32, b: u32| a.cast_signed().max(b.cast_signed()).cast_unsigned();
            let min = |a: u32, b: u32| a.cast_signed().min(b.cast_signed()).cast_unsigned();
            integers(operation, max, min, |bits| f64::from(bits.cast_signed()))
        }
        other => Err(format!("there is no type {other:?}")),
    }
}

fn floats(operation: &str) -> Result<Combine, String> {
    let value = |bits: u32| f64::from(f32::from_bits(bits));
    let exact = |value: f64| Element { value, magnitude: value.abs() };
    // What WGSL has in place of infinities.
    let most = f64::from(f32::MAX);
    Ok(match operation {
        "add" => Box::new(move |given| Element {
            value: fold_words(given, 0.0, value, |a, b| a + b),
            magnitude: fold_words(given, 0.0, |bits| value(bits).abs(), |a, b| a + b),
        }),
        "product" => Box::new(move |given| exact(fold_words(given, 1.0, value, |a, b| a * b))),
        "max" => Box::new(move |given| exact(fold_words(given, -most, value, f64::max))),
        "min" => Box::new(move |given| exact(fold_words(given, most, value, f64::min))),
        other => return Err(format!("{other} is no operation of f32")),
    })
}

fn integers(
    operation: &str,
    max: fn(u32, u32) -> u32,
    min: fn(u32, u32) -> u32,
    shown: fn(u32) -> f64,
) -> Result<Combine, String> {
    let signed = shown(u32::MAX) < 0.0;
    let (first, step): (u32, fn(u32, u32) -> u32) = match operation {
        "add" => (0, u32::wrapping_add),
        "product" => (1, u32::wrapping_mul),
        "max" => (if signed { i32::MIN.cast_unsigned() } else { 0 }, max),
        "min" => (if signed { i32::MAX.cast_unsigned() } else { u32::MAX }, min),
        "and" => (u32::MAX, |a, b| a & b),
        "or" => (0, |a, b| a | b),
        "xor" => (0, |a, b| a ^ b),
        other => return Err(format!("there is no operation {other:?}")),
    };
    Ok(Box::new(move |given| {
        let value = shown(fold_words(given, first, |bits| bits, step));
        Element { value, magnitude: value.abs() }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_know_their_sign() {
        let combined = |element: &str, operation: &str, given: &[u32]| {
            combiner(element, operation).unwrap()(given).value
        };
        let minus_one = u32::MAX;
        assert_eq!(combined("u32", "add", &[minus_one, 3]), 2.0);
        assert_eq!(combined("i32", "add", &[minus_one, minus_one]), -2.0);
        assert_eq!(combined("i32", "max", &[minus_one, 5]), 5.0);
        assert_eq!(combined("u32", "max", &[minus_one, 5]), f64::from(u32::MAX));
        assert_eq!(combined("i32", "min", &[]), f64::from(i32::MAX));
        assert_eq!(combined("u32", "product", &[3, 5, 7]), 105.0);
        assert_eq!(combined("u32", "xor", &[0b1100, 0b1010]), f64::from(0b0110));
        assert!(combiner("f32", "xor").is_err());
        let many = vec![1_u32 << 16; 3 * ELEMENTS_PER_TASK + 7];
        assert_eq!(combined("u32", "add", &many), f64::from(7_u32 << 16));
    }
}
