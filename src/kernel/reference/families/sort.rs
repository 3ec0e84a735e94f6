//! References of `sort`: a stable counting sort, and arms of multiply-adds in closed form.
//!
//! Input: a launch. Output: its expected elements in f64. The arms' constants are those of the
//! launch's buffers, f32.

use super::{By, Element, Expected, count, floats, to_element, words};
use crate::kernel::Launch;
use crate::record::Value;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("sort/arms", By::Launch(arms)),
    ("sort/permutation", By::Launch(permutation)),
    ("k_way/bounces", By::Launch(bounces)),
];

/// Each element through the arm of its class.
fn arms(launch: &Launch) -> Result<Expected, String> {
    let (n, classes) = (count(launch, "n")?, count(launch, "classes")?);
    let (input, keys) = (floats(launch, "input")?, words(launch, "keys")?);
    let maps = maps(launch)?;
    let element = |(v, key): (&f64, &u32)| {
        let (scale, sum) = maps[*key as usize % classes];
        Element { value: scale * v + sum, magnitude: (scale * v).abs() + sum.abs() }
    };
    let output = input.iter().zip(&keys).take(n).map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// What each arm does to a value: times the first, plus the second.
fn maps(launch: &Launch) -> Result<Vec<(f64, f64)>, String> {
    let (lengths, factors, terms) =
        (words(launch, "lengths")?, floats(launch, "factors")?, floats(launch, "terms")?);
    let constants = lengths.iter().zip(factors.iter().zip(&terms));
    let map = |(eights, (a, b)): (&u32, (&f64, &f64))| {
        let steps = 0..u64::from(*eights) * 8;
        steps.fold((1.0, 0.0), |(scale, sum), _| (a * scale, a * sum + b))
    };
    Ok(constants.map(map).collect())
}

/// Each ray through the arms of the materials that its number says it hits.
fn bounces(launch: &Launch) -> Result<Expected, String> {
    let (bounces, classes) = (count(launch, "bounces")?, count(launch, "classes")?);
    let (input, maps) = (floats(launch, "input")?, maps(launch)?);
    let element = |(v, ray): (&f64, u32)| {
        let through = |v: f64, bounce: u32| {
            let (scale, sum) = maps[hash(ray * 16 + bounce) as usize % classes];
            scale * v + sum
        };
        to_element((0..).take(bounces).fold(*v, through))
    };
    let output = input.iter().zip(0..).map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// The hash whose remainder is a ray's material: two rounds of shift, exclusive or and product.
fn hash(seed: u32) -> u32 {
    let round = |word: u32, shift: u32, factor: u32| (word ^ (word >> shift)).wrapping_mul(factor);
    let word = round(round(seed, 16, 0x7feb_352d), 15, 0x846c_a68b);
    word ^ (word >> 16)
}

/// Where classes begin, the permutation, and its inverse where it is written.
#[expect(clippy::cast_precision_loss, reason = "indices lie far below 2^53")]
fn permutation(launch: &Launch) -> Result<Expected, String> {
    let (n, classes) = (count(launch, "n")?, count(launch, "classes")?);
    let mut keys = words(launch, "keys")?;
    keys.truncate(n);
    // Sorting pairs of class and index is another way than the shader's counting.
    let mut order: Vec<(u32, usize)> = keys.iter().copied().zip(0..).collect();
    order.sort_unstable();
    let mut inverse = vec![0; n];
    for (place, (_, index)) in order.iter().enumerate() {
        inverse[*index] = place;
    }
    if launch.parameters.get("inverse") == Some(&Value::Name("no".to_owned())) {
        // The vector that is bound in its place stays as it is.
        inverse = vec![0; 4];
    }
    let begins =
        (0..=classes).map(|class| order.partition_point(|(key, _)| (*key as usize) < class));
    let elements = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.map(|number| to_element(number as f64)).collect::<Vec<Element>>()
    };
    Ok(Expected::from([
        ("offsets".to_owned(), elements(&mut begins.into_iter())),
        ("permutation".to_owned(), elements(&mut order.iter().map(|(_, index)| *index))),
        ("inverse".to_owned(), elements(&mut inverse.into_iter())),
    ]))
}
