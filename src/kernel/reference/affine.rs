//! Affine maps in closed form, done many times: what arms of multiply-adds come to.
//!
//! Input: a launch, the map and how often it is done. Output: expected elements in f64.

use super::{Element, Expected, floats, to_element};
use crate::kernel::Launch;

/// v ↦ a·v + b, with the shaders' constants: f32.
pub(super) type Map = (f32, f32);

/// The first arm's map.
pub(super) const RISING: Map = (1.001, 0.0001);
/// The second arm's map.
pub(super) const FALLING: Map = (0.999, 0.0002);

/// The map done `times` times: a^k·v + b·(a^k − 1) / (a − 1).
pub(super) fn repeat((a, b): Map, times: usize, v: f64) -> Element {
    let (a, b) = (f64::from(a), f64::from(b));
    if times == 0 {
        return to_element(v);
    }
    #[expect(clippy::cast_precision_loss, reason = "a trip count")]
    let power = a.powf(times as f64);
    let (product, sum) = (power * v, b * (power - 1.0) / (a - 1.0));
    Element { value: product + sum, magnitude: product.abs() + sum.abs() }
}

/// Element i of the output is a function of element i of the input and of i.
pub(super) fn map(
    launch: &Launch,
    element: impl Fn(usize, f64) -> Element,
) -> Result<Expected, String> {
    let input = floats(launch, "input")?;
    let output = input.iter().enumerate().map(|(index, v)| element(index, *v)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// The arms that take turns along a line of places.
pub(super) fn arm(first: bool, work: usize, v: f64) -> Element {
    repeat(if first { RISING } else { FALLING }, work, v)
}
