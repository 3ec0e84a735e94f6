//! References of branches by place or by key: `split` and `alignment`.
//!
//! Input: a launch, and for conditions by the width the width that was written. Output: its expected elements in
//! f64, from each element's place in closed form.

use super::affine::{FALLING, RISING, arm, map, repeat};
use super::subgroup_layout;
use super::{By, Expected, Outputs, choice, count, floats, to_element, words};
use crate::kernel::Launch;
use crate::record::Value;

/// The families' references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("split/lanes", By::Launch(lanes)),
    ("split/nested", By::Launch(nested)),
    ("alignment/branch", By::Outputs(branch)),
    ("alignment/chunks", By::Launch(chunks)),
];

/// Those that need what was written.
/// The place among 32 with its five bits in reverse.
fn reverse_bits(place: usize) -> usize {
    (0..5).filter(|bit| place >> bit & 1 == 1).map(|bit| 16 >> bit).sum()
}

fn lanes(launch: &Launch) -> Result<Expected, String> {
    let [few, work] = ["few", "work"].map(|name| count(launch, name));
    let (few, work) = (few?, work?);
    let scattered = choice(launch, "lie")? == "scattered";
    let eighths = match launch.parameters.get("others") {
        Some(Value::Real(share)) if *share == 0.125 => 1,
        Some(Value::Real(share)) if *share == 0.0 => 0,
        _ => 8,
    };
    map(launch, |index, v| {
        let place = if scattered { reverse_bits(index % 32) } else { index % 32 };
        if place < few { repeat(RISING, work, v) } else { repeat(FALLING, work * eighths / 8, v) }
    })
}

/// A bit of the key chooses the map at each depth. All values are positive, so that each is its own magnitude.
fn nested(launch: &Launch) -> Result<Expected, String> {
    let (depth, work) = (count(launch, "depth")?, count(launch, "work")?);
    let keys = words(launch, "keys")?;
    map(launch, |index, v| {
        let maps = (0..depth).map(|bit| if keys[index] >> bit & 1 == 0 { RISING } else { FALLING });
        to_element(maps.fold(v, |v, map| repeat(map, work, v).value))
    })
}

/// Whoever walks to an element, its owner decides.
fn chunks(launch: &Launch) -> Result<Expected, String> {
    let (run, work) = (count(launch, "run")?, count(launch, "work")?);
    map(launch, |index, v| arm(index % (2 * run) < run, work, v))
}

fn branch(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let width = subgroup_layout::words(outputs, "width_run")?.first().copied().unwrap_or(0);
    if !width.is_power_of_two() || width > 128 {
        return Err(format!("a width of {width} lanes was written"));
    }
    let width_run = width as usize;
    let [work, longer] = ["work", "longer"].map(|name| count(launch, name));
    let (work, longer) = (work?, longer?);
    let condition = choice(launch, "condition")?.to_owned();
    let input = floats(launch, "input")?;
    let first = |index: usize| {
        let (group, local) = (index / 256, index % 256);
        match condition.as_str() {
            "mod_2" => local.is_multiple_of(2),
            "mod_4" => local.is_multiple_of(4),
            "mod_8" => local.is_multiple_of(8),
            "mod_16" => local.is_multiple_of(16),
            "by_32" => local % 64 < 32,
            "by_width" => local % (2 * width_run) < width_run,
            "below_16" => local < 16,
            "below_144" => local < 144,
            "by_workgroup" => group.is_multiple_of(2),
            "first_workgroup" => group == 0,
            _ => true,
        }
    };
    let arm_of = |(index, v): (usize, &f64)| {
        let is_first = first(index);
        arm(is_first, if is_first { work * longer } else { work }, *v)
    };
    let output = input.iter().enumerate().map(arm_of).collect();
    Ok(Expected::from([
        ("output".to_owned(), output),
        ("width_run".to_owned(), vec![to_element(width.into())]),
    ]))
}
