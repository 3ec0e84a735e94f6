//! References of the family `occupancy`.
//!
//! Input: a launch, and where a walk began. Output: its expected elements.

use rayon::prelude::*;

use super::shuffle::words;
use super::subgroup_layout::words as written;
use super::{By, Element, Expected, Outputs, count, floats, to_element};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("occupancy/throughput", By::Launch(throughput)),
    ("occupancy/spilled", By::Launch(spilled)),
    ("occupancy/capped", By::Launch(capped)),
    ("occupancy/strided", By::Launch(strided)),
    ("occupancy/matrix_product", By::Launch(matrix_product)),
    ("occupancy/latency_hiding", By::Outputs(latency_hiding)),
];

/// Those that need what was written.
fn throughput(launch: &Launch) -> Result<Expected, String> {
    let (n, invocations) = (count(launch, "n")?, count(launch, "invocations")?);
    let steps = count(launch, "multiply_adds")?;
    let (a, b) = (f64::from(0.99_f32), f64::from(0.01_f32));
    let (scale, shift) =
        (0..steps).fold((1.0, 0.0), |(scale, shift), _| (a * scale, a * shift + b));
    let mut sums = vec![0.0; invocations];
    let input = floats(launch, "input")?;
    for row in input.get(..n).ok_or("the input is shorter than n")?.chunks(4 * invocations.max(1)) {
        // Four in a row are one vector.
        for (sum, vector) in sums.iter_mut().zip(row.chunks(4)) {
            *sum += vector.iter().map(|v| scale * v + shift).sum::<f64>();
        }
    }
    // Everything is positive: the sum is its own magnitude.
    let output = sums.into_iter().map(|value| Element { value, magnitude: value }).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// 32 values of each invocation.
fn spilled(launch: &Launch) -> Result<Expected, String> {
    means(launch, count(launch, "invocations")?, 32)
}

/// As many values as the parameter says.
fn capped(launch: &Launch) -> Result<Expected, String> {
    means(launch, count(launch, "n")?, count(launch, "values")?)
}

/// So many values of each invocation, each in turn a quarter of itself and three quarters of the one before.
fn means(launch: &Launch, invocations: usize, values: usize) -> Result<Expected, String> {
    let turns = count(launch, "turns")?;
    let input = floats(launch, "input")?;
    let input = input.get(..invocations).ok_or("the input is shorter than invocations")?;
    let values = u32::try_from(values).map_err(|error| error.to_string())?;
    let mut held: Vec<f64> = (1..=values).map(|k| f64::from(k) / f64::from(values)).collect();
    // Every step is linear: what 1 becomes, times the invocation's input.
    let mut before = 1.0;
    for _ in 0..turns {
        for value in &mut held {
            *value = before + 0.25 * (*value - before);
            before = *value;
        }
    }
    let output = input.iter().map(|x| to_element(x * before)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// Word j holds j, so that a sum of words is a sum of indices.
fn strided(launch: &Launch) -> Result<Expected, String> {
    let (n, stride) = (count(launch, "n")?, count(launch, "stride")?);
    let rows = n / stride;
    let output = (0..n / 16).into_par_iter().map(|invocation| {
        let (group, local) = (invocation / 256, invocation % 256);
        let indices = (0..16).map(|word| (group * 16 + word) * 256 + local);
        indices.map(|i| (i % rows * stride + i / rows) as u64).sum::<u64>()
    });
    let wrapped = |sum: u64| u32::try_from(sum % (1 << 32)).unwrap_or(0);
    Ok(Expected::from([("output".to_owned(), words(output.map(wrapped).collect()))]))
}

/// Rows of the product as sums of rows of b; everything is positive.
fn matrix_product(launch: &Launch) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let (a, b) = (floats(launch, "a")?, floats(launch, "b")?);
    let mut product = vec![0.0; n * n];
    product.par_chunks_exact_mut(n.max(1)).enumerate().for_each(|(row, sums)| {
        for (k, line) in b.chunks_exact(n).take(n).enumerate() {
            let factor = a[row * n + k];
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum += factor * value;
            }
        }
    });
    let elements = product.into_iter().map(|value| Element { value, magnitude: value });
    Ok(Expected::from([("product".to_owned(), elements.collect())]))
}

/// p ↦ 61 · p + 1, as many times as there are hops, from where the walk says that it began.
fn latency_hiding(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let table = u32::try_from(count(launch, "table")?).map_err(|error| error.to_string())?;
    let hops = count(launch, "hops")?;
    let mut walks = written(outputs, "walks")?;
    let mut known: Option<(u32, u32)> = None;
    for walk in walks.as_chunks_mut::<2>().0 {
        let [start, end] = walk;
        if *start >= table {
            return Err(format!("a walk begins at {start}, outside a table of {table}"));
        }
        // Lanes of a group walk together.
        if known.is_none_or(|(from, _)| from != *start) {
            let hop = |place: u32, _| place.wrapping_mul(61).wrapping_add(1) & (table - 1);
            known = Some((*start, (0..hops).fold(*start, hop)));
        }
        *end = known.map_or(0, |(_, to)| to);
    }
    Ok(Expected::from([("walks".to_owned(), words(walks))]))
}
