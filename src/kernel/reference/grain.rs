//! References of the family of grain: affine maps in closed form, by the arm or the trip count of an
//! element.
//!
//! Input: a launch. Output: its expected elements in f64. Which arm an element takes is worked out from its
//! place, not as the shaders do.

use super::{Element, Expected, Function, choice, count, floats, to_element, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("grain/run_lengths", runs),
    ("grain/trips", trips),
    ("grain/small_workgroups", workgroups),
    ("grain/image_tiles", tiles),
];

/// v ↦ a·v + b, with the shaders' constants: f32.
type Map = (f32, f32);

const RISING: Map = (1.001, 0.0001);
const FALLING: Map = (0.999, 0.0002);

/// The map done `times` times: a^k·v + b·(a^k − 1) / (a − 1).
fn repeated((a, b): Map, times: usize, v: f64) -> Element {
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
fn map(launch: &Launch, element: impl Fn(usize, f64) -> Element) -> Result<Expected, String> {
    let input = floats(launch, "input")?;
    let output = input.iter().enumerate().map(|(index, v)| element(index, *v)).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// The arms that take turns along a line of places.
fn arm(first: bool, work: usize, v: f64) -> Element {
    repeated(if first { RISING } else { FALLING }, work, v)
}

fn runs(launch: &Launch) -> Result<Expected, String> {
    let (run, work) = (count(launch, "run")?, count(launch, "work")?);
    let offsets = words(launch, "offsets")?;
    map(launch, |index, v| {
        let place = index + offsets[index / 256] as usize;
        arm(place % (2 * run) < run, work, v)
    })
}

fn trips(launch: &Launch) -> Result<Expected, String> {
    let wavelength = count(launch, "wavelength")?;
    let nodes = words(launch, "nodes")?;
    map(launch, |index, v| {
        let part = index % wavelength;
        let [from, to] = [0, 1].map(|next| i64::from(nodes[index / wavelength + next]));
        // A power of two divides exactly, so that rounding down is the whole numbers'.
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let trips = from as f64 + (to - from) as f64 * part as f64 / wavelength as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two counts"
        )]
        let trips = trips.floor() as usize;
        repeated(FALLING, trips, v)
    })
}

fn workgroups(launch: &Launch) -> Result<Expected, String> {
    let work = count(launch, "work")?;
    map(launch, |_, v| repeated(FALLING, work, v))
}

fn tiles(launch: &Launch) -> Result<Expected, String> {
    let [columns, region, work] = ["columns", "region", "work"].map(|name| count(launch, name));
    let (columns, region, work) = (columns?, region?, work?);
    let edge = choice(launch, "edge")?.to_owned();
    map(launch, |index, v| {
        let (x, y) = (index % columns, index / columns);
        let place = match edge.as_str() {
            "vertical" => x,
            "horizontal" => y,
            _ => x + y,
        };
        arm((place + 1) % (2 * region) < region, work, v)
    })
}
