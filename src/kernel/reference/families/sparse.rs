//! References of `sparse`: a map over active elements, and masked attention scores.
//!
//! Input: a launch. Output: its expected elements in f64.

use super::{By, Element, Expected, choice, count, floats, to_element, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("sparse/map", By::Launch(map)),
    ("sparse/attention", By::Launch(attention)),
    ("sparse/attention_lists", By::Launch(attention_lists)),
    ("sparse/attention_whole", By::Launch(attention_whole)),
];

/// What the map's shaders have between two tanh, f32.
const GAIN: f32 = 1.25;
const SHIFT: f32 = 0.125;

/// tanh again and again of active elements; zero elsewhere.
fn map(launch: &Launch) -> Result<Expected, String> {
    let (n, rounds) = (count(launch, "n")?, count(launch, "rounds")?);
    let (input, keys) = (floats(launch, "input")?, words(launch, "keys")?);
    let element = |(v, key): (&f64, &u32)| {
        if *key == 0 {
            return to_element(0.0);
        }
        let step = |v: f64, _| (v * f64::from(GAIN) + f64::from(SHIFT)).tanh();
        to_element((0..rounds).fold(*v, step))
    };
    let output = input.iter().zip(&keys).take(n).map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// Scores where the mask is set, of queries that lie as `[sequence × head]`.
fn attention(launch: &Launch) -> Result<Expected, String> {
    let (sequence, head) = (count(launch, "sequence")?, count(launch, "head")?);
    let (queries, mask) = (floats(launch, "queries")?, words(launch, "mask")?);
    scores(launch, |place| mask[place] != 0, |query, d| queries[query * head + d], sequence)
}

/// Scores where a draw lies below its query's share, of queries that lie as `[head × sequence]`.
fn attention_lists(launch: &Launch) -> Result<Expected, String> {
    let sequence = count(launch, "sequence")?;
    let queries = floats(launch, "queries_transposed")?;
    let (draws, shares) = (words(launch, "draws")?, words(launch, "shares")?);
    let taken = |place: usize| draws[place] < shares[place / sequence];
    scores(launch, taken, |query, d| queries[d * sequence + query], sequence)
}

/// exp of the scaled dot product of query and key where `taken` says so; zero elsewhere.
fn scores(
    launch: &Launch,
    taken: impl Fn(usize) -> bool,
    query_at: impl Fn(usize, usize) -> f64,
    sequence: usize,
) -> Result<Expected, String> {
    let head = count(launch, "head")?;
    let keys = floats(launch, "keys_transposed")?;
    #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred dimensions")]
    let scale = 1.0 / (head as f64).sqrt();
    let mut output: Vec<Element> = vec![to_element(0.0); sequence * sequence];
    for (index, element) in output.iter_mut().enumerate().filter(|(index, _)| taken(*index)) {
        let (query, key) = (index / sequence, index % sequence);
        let terms = (0..head).map(|d| query_at(query, d) * keys[d * sequence + key]);
        *element = to_element((terms.sum::<f64>() * scale).exp());
    }
    Ok(Expected::from([("scores".to_owned(), output)]))
}

/// Values weighed by the scores where the mask is set, over the scores' sum; zero for a query without keys.
fn attention_whole(launch: &Launch) -> Result<Expected, String> {
    let (sequence, head) = (count(launch, "sequence")?, count(launch, "head")?);
    let rows = choice(launch, "keys")? == "rows";
    let (queries, keys) = (floats(launch, "queries")?, floats(launch, "keys_of")?);
    let (values, mask) = (floats(launch, "values")?, words(launch, "mask")?);
    let at = |key: usize, d: usize| if rows { key * head + d } else { d * sequence + key };
    #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred dimensions")]
    let scale = 1.0 / (head as f64).sqrt();
    let mut output = Vec::with_capacity(sequence * head);
    for query in 0..sequence {
        let taken = (0..sequence).filter(|key| mask[query * sequence + key] != 0);
        let weighed: Vec<(usize, f64)> = taken
            .map(|key| {
                let terms = (0..head).map(|d| queries[query * head + d] * keys[at(key, d)]);
                (key, (terms.sum::<f64>() * scale).exp())
            })
            .collect();
        let total: f64 = weighed.iter().map(|(_, weight)| weight).sum();
        output.extend((0..head).map(|d| {
            let sum: f64 = weighed.iter().map(|(key, w)| w * values[key * head + d]).sum();
            to_element(if weighed.is_empty() { 0.0 } else { sum / total })
        }));
    }
    Ok(Expected::from([("output".to_owned(), output)]))
}
