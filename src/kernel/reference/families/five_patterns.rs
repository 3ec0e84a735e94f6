//! References of the five patterns: affine maps in closed form.
//!
//! Input: a launch. Output: its expected elements in f64. The loops' constants are those of the
//! shaders, f32.

use super::{By, Element, Expected, count, floats, to_element};
use crate::kernel::Launch;
use crate::record::Value;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("five_patterns/uniform", By::Launch(uniform)),
    ("five_patterns/branch_by_lane", By::Launch(branch_by_lane)),
    ("five_patterns/branch_by_quad", By::Launch(branch_by_quad)),
    ("five_patterns/early_exit", By::Launch(early_exit)),
    ("five_patterns/indirect_branch", By::Launch(indirect_branch)),
];

/// v ↦ a·v + b, k times, as one affine map.
#[derive(Clone, Copy)]
struct Affine {
    a: f64,
    b: f64,
}

impl Affine {
    /// The constants are those that the shaders have: f32.
    fn repeat(a: f32, b: f32, times: u32) -> Self {
        let (a, b) = (f64::from(a), f64::from(b));
        let identity = Self { a: 1.0, b: 0.0 };
        (0..times).fold(identity, |map, _| Self { a: a * map.a, b: a * map.b + b })
    }

    fn apply(self, v: f64) -> Element {
        Element { value: self.a * v + self.b, magnitude: (self.a * v).abs() + self.b.abs() }
    }
}

/// Element i of the output is a function of element i of the input and of i.
fn map(launch: &Launch, element: impl Fn(usize, f64) -> Element) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let input = floats(launch, "input")?;
    let output = input.iter().take(n).enumerate().map(|(i, v)| element(i, *v)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// The lane parity that the shaders use: invocations of a workgroup of 256, numbered from 0.
fn local_index(index: usize) -> usize {
    index % 256
}

fn uniform(launch: &Launch) -> Result<Expected, String> {
    let map_512 = Affine::repeat(1.01, 0.001, 512);
    map(launch, |_, v| map_512.apply(v))
}

fn branch_by_lane(launch: &Launch) -> Result<Expected, String> {
    let even = Affine::repeat(1.01, 0.001, 512);
    let published = launch.parameters.get("form") == Some(&Value::Name("published".to_owned()));
    // Published: v + 0.001·i for i from 0 to 511; sealed: v + 0.001, 512 times.
    let steps = if published { 511 * 512 / 2 } else { 512 };
    let odd = Affine::repeat(1.0, 0.001, steps);
    map(launch, |i, v| if local_index(i).is_multiple_of(2) { even.apply(v) } else { odd.apply(v) })
}

fn branch_by_quad(launch: &Launch) -> Result<Expected, String> {
    let taken = Affine::repeat(1.001, 0.0001, 2048);
    map(
        launch,
        |i, v| if local_index(i).is_multiple_of(4) { taken.apply(v) } else { to_element(v) },
    )
}

fn early_exit(launch: &Launch) -> Result<Expected, String> {
    let survivor = Affine::repeat(1.01, -0.005, 1024);
    map(launch, |_, v| if v < 0.5 { to_element(v) } else { survivor.apply(v) })
}

fn indirect_branch(launch: &Launch) -> Result<Expected, String> {
    let arms = [
        Affine::repeat(1.01, 0.0, 256),
        Affine::repeat(1.0, 0.01, 256),
        Affine::repeat(1.0, -0.005, 256),
        Affine::repeat(0.99, 0.0, 256),
    ];
    // Inputs lie in [0, 1) and have 24 bits, so v · 4 is exact and below 4.
    map(launch, |_, v| {
        let arm = [0.25, 0.5, 0.75].iter().filter(|bound| v >= **bound).count();
        arms[arm].apply(v)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_affine_map_equals_repetition() {
        let mut v = 0.3;
        for _ in 0..512 {
            v = v * f64::from(1.01_f32) + f64::from(0.001_f32);
        }
        let closed = Affine::repeat(1.01, 0.001, 512).apply(0.3).value;
        assert!((v - closed).abs() < 1e-12 * v, "{v} {closed}");
    }
}
