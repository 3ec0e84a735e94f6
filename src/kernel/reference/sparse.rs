//! References of `sparse`: a map over active elements, and masked attention scores.
//!
//! Input: a launch. Output: its expected elements in f64.

use super::{Element, Expected, Function, count, floats, to_element, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("sparse/map", map),
    ("sparse/attention", attention),
    ("sparse/attention_lists", attention_lists),
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
