//! The reference of `moe`: every token through the experts that its router chooses, in its original
//! order.
//!
//! Input: a launch. Output: its expected elements in f64. Tokens are worked out in parallel: the
//! GPU's default launch has 17 billion multiply-adds.

use rayon::prelude::*;

use super::{By, Element, Expected, count, floats};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[("moe/layer", By::Launch(layer))];

/// The experts of every launch.
const EXPERTS: usize = 8;

/// What a layer is made of.
struct Layer {
    model: usize,
    hidden: usize,
    top: usize,
    noise: Vec<f64>,
    tilt: Vec<f64>,
    tokens: Vec<f64>,
    first: Vec<f64>,
    bias: Vec<f64>,
    second: Vec<f64>,
}

fn layer(launch: &Launch) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let layer = Layer {
        model: count(launch, "model")?,
        hidden: count(launch, "hidden")?,
        top: count(launch, "top")?,
        noise: floats(launch, "noise")?,
        tilt: floats(launch, "tilt")?,
        tokens: floats(launch, "tokens")?,
        first: floats(launch, "first")?,
        bias: floats(launch, "bias")?,
        second: floats(launch, "second")?,
    };
    let output = (0..n).into_par_iter().flat_map_iter(|token| layer.token(token)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

impl Layer {
    /// A token's row of the output.
    fn token(&self, token: usize) -> Vec<Element> {
        let mut row = vec![Element { value: 0.0, magnitude: 0.0 }; self.model];
        for (expert, gate) in self.route(token) {
            self.add(token, expert, gate, &mut row);
        }
        row
    }

    /// The experts of a token, best first, with their shares. Sums are rounded as the shader's are,
    /// so that the same expert wins.
    fn route(&self, token: usize) -> Vec<(usize, f64)> {
        #[expect(clippy::cast_possible_truncation, reason = "the shader's sums are f32")]
        let logit = |expert: usize| {
            f64::from((self.noise[token * EXPERTS + expert] + self.tilt[expert]) as f32)
        };
        let mut experts: Vec<usize> = (0..EXPERTS).collect();
        // A stable sort: of equal logits the lower expert comes first.
        experts.sort_by(|a, b| logit(*b).total_cmp(&logit(*a)));
        experts.truncate(self.top);
        let weights: Vec<f64> =
            experts.iter().map(|e| (logit(*e) - logit(experts[0])).exp()).collect();
        let sum: f64 = weights.iter().sum();
        experts.into_iter().zip(weights).map(|(e, weight)| (e, weight / sum)).collect()
    }

    /// Adds an expert's output for a token, times its share.
    fn add(&self, token: usize, expert: usize, gate: f64, row: &mut [Element]) {
        let x = &self.tokens[token * self.model..][..self.model];
        for h in 0..self.hidden {
            let unit = expert * self.hidden + h;
            let weights = &self.first[unit * self.model..][..self.model];
            let sum: f64 = x.iter().zip(weights).map(|(x, w)| x * w).sum();
            let g = gate * gelu(sum + self.bias[unit]);
            let out = &self.second[unit * self.model..][..self.model];
            for (element, w) in row.iter_mut().zip(out) {
                element.value += g * w;
                element.magnitude += (g * w).abs();
            }
        }
    }
}

/// The Gaussian error linear unit by its usual tanh form (Hendrycks and Gimpel, 2016).
fn gelu(s: f64) -> f64 {
    0.5 * s * (1.0 + (0.797_884_560_802_865_4 * (s + 0.044_715 * s * s * s)).tanh())
}
