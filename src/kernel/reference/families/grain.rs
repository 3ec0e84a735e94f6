//! References of the family of grain: affine maps in closed form, by the arm or the trip count of an
//! element.
//!
//! Input: a launch. Output: its expected elements in f64. Which arm an element takes is worked out from its
//! place, not as the shaders do.

use super::affine::{FALLING, arm, map, repeat};
use super::{By, Expected, choice, count, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("grain/run_lengths", By::Launch(runs)),
    ("grain/trips", By::Launch(trips)),
    ("grain/small_workgroups", By::Launch(workgroups)),
    ("grain/image_tiles", By::Launch(tiles)),
];

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
        repeat(FALLING, trips, v)
    })
}

fn workgroups(launch: &Launch) -> Result<Expected, String> {
    let work = count(launch, "work")?;
    map(launch, |_, v| repeat(FALLING, work, v))
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
