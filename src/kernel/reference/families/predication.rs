//! References of `predication`: decisions bit by bit, each arm's map in closed form.
//!
//! Input: a launch. Output: its expected elements in f64.

use super::{By, Element, Expected, choice, count, floats, to_element, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("predication/arms", By::Launch(arms)),
    ("predication/common", By::Launch(common)),
    ("predication/elementwise", By::Launch(elementwise)),
    ("predication/special", By::Launch(special)),
    ("predication/unlike", By::Launch(unlike)),
];

/// The arms' maps, with the shaders' constants: f32.
const MAPS: [(f32, f32); 2] = [(0.999, 0.0002), (0.998, 0.0003)];

/// An arm's map done as often as the arm does it: its factor and its term.
fn whole(arm: usize, length: usize) -> (f64, f64) {
    let (a, b) = (f64::from(MAPS[arm].0), f64::from(MAPS[arm].1));
    (0..length).fold((1.0, 0.0), |(factor, term), _| (a * factor, a * term + b))
}

/// Which arm the bit of an iteration says: 0 where it is set.
fn arm_of(flags: u32, iteration: usize) -> usize {
    usize::from(flags.rotate_left(u32::try_from(iteration % 32).unwrap_or(0)) >> 31 == 0)
}

/// Values through the decisions of each element.
fn decide(
    launch: &Launch,
    step: impl Fn(usize, usize, usize, f64) -> f64,
) -> Result<Expected, String> {
    let decisions = count(launch, "decisions")?;
    let (flags, input) = (words(launch, "flags")?, floats(launch, "input")?);
    let element = |(index, (flags, v)): (usize, (&u32, &f64))| {
        let iterations = 0..decisions;
        to_element(
            iterations
                .fold(*v, |v, iteration| step(index, iteration, arm_of(*flags, iteration), v)),
        )
    };
    let output: Vec<Element> = flags.iter().zip(&input).enumerate().map(element).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

fn arms(launch: &Launch) -> Result<Expected, String> {
    let length = count(launch, "length")?;
    let maps = [0, 1].map(|arm| whole(arm, length));
    let through = |arm: usize, v: f64| maps[arm].0 * v + maps[arm].1;
    let input = floats(launch, "input")?;
    match choice(launch, "effect").unwrap_or("value") {
        // Each iteration begins with what the element began with, and the last one is left.
        "store" => decide(launch, |index, _, arm, _| through(arm, input[index])),
        "load" => decide(launch, |index, iteration, arm, _| {
            through(arm, input[index ^ (iteration + arm)])
        }),
        _ => decide(launch, |_, _, arm, v| through(arm, v)),
    }
}

/// The second arm is |v − c|, again and again: from its second step on it goes to and fro between two values.
fn unlike(launch: &Launch) -> Result<Expected, String> {
    let length = count(launch, "length")?;
    let (factor, term) = whole(0, length);
    let c = f64::from(MAPS[1].0);
    let steps = if length % 2 == 1 { 1 } else { 2 };
    let other = |v: f64| (0..steps).fold(v, |v, _| (v - c).abs());
    let one_arm = choice(launch, "choice").is_ok_and(|choice| choice == "one");
    let load = choice(launch, "effect").is_ok_and(|effect| effect == "load");
    let input = floats(launch, "input")?;
    decide(launch, |index, iteration, arm, v| {
        let arm = if one_arm { 0 } else { arm };
        let v = if load { input[index ^ (iteration + arm)] } else { v };
        if arm == 0 { factor * v + term } else { other(v) }
    })
}

fn common(launch: &Launch) -> Result<Expected, String> {
    let (factor, term) = whole(0, count(launch, "length")?);
    let (c, d) = (f64::from(MAPS[1].0), f64::from(MAPS[1].1));
    decide(launch, |_, _, arm, v| {
        let shared = factor * v + term;
        if arm == 0 { shared * c } else { shared + d }
    })
}

fn elementwise(launch: &Launch) -> Result<Expected, String> {
    let operation = choice(launch, "operation")?.to_owned();
    let applied = |x: &f64| match operation.as_str() {
        "sqrt_negate" if *x > 0.0 => x.sqrt() * 2.0,
        "sqrt_negate" => 1.0 - x,
        "abs" => x.abs(),
        _ => x.max(0.0),
    };
    let output = floats(launch, "input")?.iter().map(|x| to_element(applied(x))).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// Zero times infinity, or times what is no number, is no number.
fn special(_: &Launch) -> Result<Expected, String> {
    let differs = [0.0, 1.0, 1.0, 0.0].map(to_element).to_vec();
    Ok(Expected::from([("differs".to_owned(), differs)]))
}
