//! The reference of the softmax kernels, in f64.
//!
//! Input: a launch with parameters `n` and `columns`: whole rows, as many as n elements make. Output: exp(x − greatest) / Σ of each row.

use rayon::prelude::*;

use super::{By, Element, Expected, count, floats};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[("softmax/rows", By::Launch(rows))];

fn rows(launch: &Launch) -> Result<Expected, String> {
    let (n, columns) = (count(launch, "n")?, count(launch, "columns")?);
    let rows = n.checked_div(columns).ok_or("columns must not be 0")?;
    let input = floats(launch, "input")?;
    let input = input.get(..rows * columns).ok_or("the input is shorter than the matrix")?;
    let output = input.par_chunks(columns).flat_map_iter(softmax).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

fn softmax(row: &[f64]) -> impl Iterator<Item = Element> {
    let greatest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - greatest).exp()).sum();
    row.iter().map(move |x| {
        let value = (x - greatest).exp() / sum;
        Element { value, magnitude: value }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_to_one_and_do_not_overflow() {
        let found: Vec<f64> = softmax(&[1000.0, 1000.0, -1000.0]).map(|e| e.value).collect();
        assert_eq!(found, [0.5, 0.5, 0.0]);
        let sum: f64 = softmax(&[0.1, 0.7, -3.0, 2.0]).map(|e| e.value).sum();
        assert!((sum - 1.0).abs() < 1e-15, "{sum}");
    }
}
