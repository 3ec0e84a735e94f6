//! References of the family `vote`.
//!
//! Input: a launch, and where it matters the seats that its kernel wrote down. Output: its expected
//! elements.

use super::shuffle::words;
use super::subgroup_layout::{subgroups, words as seated};
use super::{By, Expected, Outputs, count, floats, to_element};
use crate::kernel::Launch;
use crate::record::Value;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("vote/early_exit", By::Launch(early_exit)),
    ("vote/semantics", By::Outputs(semantics)),
    ("vote/participation", By::Outputs(participation)),
    ("vote/after_return", By::Outputs(after_return)),
];

/// Those that need the seats.
/// A parameter that is a probability, as the shader gets it: f32.
fn density(launch: &Launch) -> Result<f64, String> {
    match launch.parameters.get("density") {
        #[expect(clippy::cast_possible_truncation, reason = "the shader's precision is meant")]
        Some(Value::Real(density)) => Ok(f64::from(*density as f32)),
        #[expect(clippy::cast_precision_loss, reason = "0 or 1")]
        Some(Value::Integer(density)) => Ok(*density as f64),
        other => Err(format!("the reference needs a number `density`, not {other:?}")),
    }
}

fn early_exit(launch: &Launch) -> Result<Expected, String> {
    let (n, cluster) = (count(launch, "n")?, count(launch, "cluster")?.max(1));
    let trips = count(launch, "trips")?;
    let density = density(launch)?;
    let lots = floats(launch, "lots")?;
    // v ↦ a·v + b, `trips` times, as one affine map; the constants are those of the shader, f32.
    let (a, b) = (f64::from(1.01_f32), f64::from(0.001_f32));
    let (scale, shift) =
        (0..trips).fold((1.0, 0.0), |(scale, shift), _| (a * scale, a * shift + b));
    let worked = |v: f64| super::Element {
        value: scale * v + shift,
        magnitude: (scale * v).abs() + shift.abs(),
    };
    let input = floats(launch, "input")?;
    let element = |(i, v): (usize, &f64)| {
        if lots[i / cluster] < density { worked(*v) } else { to_element(*v) }
    };
    let output = input.iter().take(n).enumerate().map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

fn semantics(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let density = density(launch)?;
    let input = floats(launch, "input")?;
    let mut ballots = vec![0; 4 * n];
    let mut votes = vec![0; 5 * n];
    for subgroup in subgroups(outputs, n, count(launch, "workgroup_size")?)? {
        let mask = subgroup.mask(|index| input[index] < density);
        let holding = subgroup.members.values().filter(|index| input[**index] < density).count();
        let any = u32::from(holding > 0);
        let all = u32::from(holding == subgroup.members.len());
        let bits = u32::try_from(holding).map_err(|error| error.to_string())?;
        for index in subgroup.members.values() {
            ballots[4 * index..4 * index + 4].copy_from_slice(&mask);
            votes[5 * index..5 * index + 5].copy_from_slice(&[any, all, bits, any, all]);
        }
    }
    let outputs = [("ballots".to_owned(), words(ballots)), ("votes".to_owned(), words(votes))];
    Ok(Expected::from(outputs))
}

fn participation(_: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let invocations = 129 * 128;
    let has_element = |index: usize| index % 128 < index / 128;
    let mut masks = vec![0; 4 * invocations];
    let mut sums = vec![0; invocations];
    for subgroup in subgroups(outputs, invocations, 128)? {
        let mask = subgroup.mask(has_element);
        let tail = subgroup.only(has_element);
        let sum = tail.members.keys().map(|lane| lane + 1).sum();
        for index in subgroup.members.values() {
            masks[4 * index..4 * index + 4].copy_from_slice(&mask);
            sums[*index] = sum;
        }
    }
    let outputs = [("masks".to_owned(), words(masks)), ("sums".to_owned(), words(sums))];
    Ok(Expected::from(outputs))
}

/// Of each tail of a warp of 32: the ballots, exactly; of the lanes that are active only that lane 0 is
/// among them and none that has left; the sum where all stay.
fn after_return(_: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let tails = 0..=32_u32;
    let low = |tail: u32| u32::try_from((1_u64 << tail) - 1).unwrap_or(u32::MAX);
    let active = seated(outputs, "active")?.into_iter().zip(tails.clone());
    let active = active.map(|(found, tail)| (found | 1) & low(tail));
    let expected = [
        ("taken".to_owned(), words(tails.clone().map(low).collect())),
        ("active".to_owned(), words(active.collect())),
        ("voted".to_owned(), words(tails.clone().map(|tail| low(tail) & 0x5555_5555).collect())),
        ("whole".to_owned(), words(tails.map(|tail| tail * (tail + 1) / 2).collect())),
    ];
    Ok(Expected::from(expected))
}
