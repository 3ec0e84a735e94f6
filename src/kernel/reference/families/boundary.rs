//! References of `boundary` and of `masked`: sums, products and roles element by element.
//!
//! Input: a launch. Output: its expected elements in f64.

use super::{By, Element, Expected, choice, count, floats, to_element};
use crate::kernel::Launch;

/// The families' references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("boundary/add", By::Launch(add)),
    ("boundary/product", By::Launch(product)),
    ("masked/roles", By::Launch(roles)),
    ("masked/copy", By::Launch(copy)),
];

fn add(launch: &Launch) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let padded = choice(launch, "form")? == "padded";
    let (a, b) = (floats(launch, "a")?, floats(launch, "b")?);
    let sums = a.iter().zip(&b).enumerate();
    let output =
        sums.map(|(index, (a, b))| to_element(if padded || index < n { a + b } else { 0.0 }));
    Ok(Expected::from([("output".to_owned(), output.collect())]))
}

/// Each element as a scalar product of a row and a column.
fn product(launch: &Launch) -> Result<Expected, String> {
    let [columns, rows, inner] = ["columns", "rows", "inner"].map(|name| count(launch, name));
    let (columns, rows, inner) = (columns?, rows?, inner?);
    let (a, b) = (floats(launch, "a")?, floats(launch, "b")?);
    let mut sums = vec![0.0; rows * columns];
    for (row, sums) in sums.chunks_mut(columns).enumerate() {
        for k in 0..inner {
            let factor = a[row * inner + k];
            for (sum, b) in sums.iter_mut().zip(&b[k * columns..]) {
                *sum += factor * b;
            }
        }
    }
    let output: Vec<Element> = sums.into_iter().map(to_element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// Ten times an f32: the product has room in an f64, and is rounded once.
#[expect(clippy::cast_possible_truncation, reason = "the rounding of a multiplication of f32")]
fn ten_times(a: f64) -> f64 {
    f64::from((10.0 * a) as f32)
}

/// Runs of elements in turn times ten and as they are.
fn roles(launch: &Launch) -> Result<Expected, String> {
    let run = count(launch, "run")?;
    let a = floats(launch, "a")?;
    let role = |(index, a): (usize, &f64)| {
        to_element(if index % (2 * run) < run { ten_times(*a) } else { *a })
    };
    Ok(Expected::from([("b".to_owned(), a.iter().enumerate().map(role).collect())]))
}

fn copy(launch: &Launch) -> Result<Expected, String> {
    let a = floats(launch, "a")?;
    Ok(Expected::from([("b".to_owned(), a.into_iter().map(to_element).collect())]))
}
