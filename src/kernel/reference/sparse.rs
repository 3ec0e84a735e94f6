//! References of `sparse`: a map over active elements, and masked attention scores.
//!
//! Input: a launch. Output: its expected elements in f64.

use super::{Element, Expected, Function, copied, count, floats, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const FUNCTIONS: &[(&str, Function)] =
    &[("sparse/map", map), ("sparse/attention", attention)];

/// What the map's shaders have between two tanh, f32.
const GAIN: f32 = 1.25;
const SHIFT: f32 = 0.125;

/// tanh again and again of active elements; zero elsewhere.
fn map(launch: &Launch) -> Result<Expected, String> {
    let (n, rounds) = (count(launch, "n")?, count(launch, "rounds")?);
    let (input, keys) = (floats(launch, "input")?, words(launch, "keys")?);
    let element = |(v, key): (&f64, &u32)| {
        if *key == 0 {
            return copied(0.0);
        }
        let step = |v: f64, _| (v * f64::from(GAIN) + f64::from(SHIFT)).tanh();
        copied((0..rounds).fold(*v, step))
    };
    let output = input.iter().zip(&keys).take(n).map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// exp of the scaled dot product of query and key where the mask is set; zero elsewhere.
fn attention(launch: &Launch) -> Result<Expected, String> {
    let (sequence, head) = (count(launch, "sequence")?, count(launch, "head")?);
    let (queries, keys) = (floats(launch, "queries")?, floats(launch, "keys_transposed")?);
    let mask = words(launch, "mask")?;
    #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred dimensions")]
    let scale = 1.0 / (head as f64).sqrt();
    let mut output: Vec<Element> = vec![copied(0.0); sequence * sequence];
    for (index, element) in output.iter_mut().enumerate() {
        if mask[index] == 0 {
            continue;
        }
        let (query, key) = (index / sequence, index % sequence);
        let terms = (0..head).map(|d| queries[query * head + d] * keys[d * sequence + key]);
        *element = copied((terms.sum::<f64>() * scale).exp());
    }
    Ok(Expected::from([("scores".to_owned(), output)]))
}
