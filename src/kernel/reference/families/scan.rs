//! References of the scans: running sums, in f64 or as the devices' integers wrap.
//!
//! Input: a launch with parameters `n`, `type` and `kind` (`inclusive` or `exclusive`). Output: every
//! prefix sum, of all elements or within blocks of 256.

use rayon::prelude::*;

use super::{By, ELEMENTS_PER_TASK, Element, Expected, choice, count, to_element, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] =
    &[("scan/blocks", By::Launch(blocks)), ("scan/all", By::Launch(all))];

/// Elements that a workgroup of the ladder takes.
const BLOCK: usize = 256;

fn blocks(launch: &Launch) -> Result<Expected, String> {
    scan(launch, BLOCK)
}

fn all(launch: &Launch) -> Result<Expected, String> {
    scan(launch, usize::MAX)
}

/// Prefix sums that begin anew every `block` elements.
fn scan(launch: &Launch, block: usize) -> Result<Expected, String> {
    let (n, input) = (count(launch, "n")?, words(launch, "input")?);
    let input = input.get(..n).ok_or("the input is shorter than n")?;
    let exclusive = choice(launch, "kind")? == "exclusive";
    let run: fn(&[u32], bool, &mut [Element]) = match choice(launch, "type")? {
        "f32" => running_floats,
        "u32" => |given, exclusive, output| running(given, exclusive, f64::from, output),
        "i32" => |given, exclusive, output| {
            running(given, exclusive, |bits| f64::from(bits.cast_signed()), output);
        },
        other => return Err(format!("there is no type {other:?}")),
    };
    // On all processors: 2^28 elements are four gigabytes, which are touched for the first time here.
    let nothing = Element { value: 0.0, magnitude: 0.0 };
    let mut output: Vec<Element> = rayon::iter::repeat_n(nothing, n).collect();
    let block = block.min(n.max(1));
    let blocks = output.par_chunks_mut(block).zip(input.par_chunks(block));
    blocks.for_each(|(output, given)| run(given, exclusive, output));
    Ok(Expected::from([("output".to_owned(), output)]))
}

/// What stands before each part of [`ELEMENTS_PER_TASK`] words: the sums of the parts before it.
fn offsets<T: Copy + Send>(
    given: &[u32],
    first: T,
    total: impl Fn(&[u32]) -> T + Send + Sync,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let totals: Vec<T> = given.par_chunks(ELEMENTS_PER_TASK).map(total).collect();
    let mut sum = first;
    let before = totals.into_iter().map(|total| {
        let before = sum;
        sum = add(sum, total);
        before
    });
    before.collect()
}

fn running(given: &[u32], exclusive: bool, shown: fn(u32) -> f64, output: &mut [Element]) {
    let total = |part: &[u32]| part.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word));
    let offsets = offsets(given, 0, total, u32::wrapping_add);
    let parts = output.par_chunks_mut(ELEMENTS_PER_TASK).zip(given.par_chunks(ELEMENTS_PER_TASK));
    parts.zip(offsets).for_each(|((output, given), mut sum)| {
        for (element, word) in output.iter_mut().zip(given) {
            let before = sum;
            sum = sum.wrapping_add(*word);
            let value = shown(if exclusive { before } else { sum });
            *element = Element { value, magnitude: value.abs() };
        }
    });
}

fn running_floats(given: &[u32], exclusive: bool, output: &mut [Element]) {
    let add = |sum: Element, more: Element| Element {
        value: sum.value + more.value,
        magnitude: sum.magnitude + more.magnitude,
    };
    let element_of = |word: &u32| to_element(f64::from(f32::from_bits(*word)));
    let zero = Element { value: 0.0, magnitude: 0.0 };
    let total = |part: &[u32]| part.iter().map(element_of).fold(zero, add);
    let offsets = offsets(given, zero, total, add);
    let parts = output.par_chunks_mut(ELEMENTS_PER_TASK).zip(given.par_chunks(ELEMENTS_PER_TASK));
    parts.zip(offsets).for_each(|((output, given), mut sum)| {
        for (element, word) in output.iter_mut().zip(given) {
            let before = sum;
            sum = add(sum, element_of(word));
            *element = if exclusive { before } else { sum };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_run_wrap_and_leave_out_the_last_where_asked() {
        let values = |exclusive| {
            let mut output = [to_element(0.0); 3];
            running(&[1, 2, u32::MAX], exclusive, f64::from, &mut output);
            output.map(|element| element.value)
        };
        assert_eq!(values(false), [1.0, 3.0, 2.0]);
        assert_eq!(values(true), [0.0, 1.0, 3.0]);
    }

    #[test]
    fn sums_go_on_from_part_to_part() {
        let given = vec![1.0_f32.to_bits(); 2 * ELEMENTS_PER_TASK + 3];
        let mut floats = vec![to_element(0.0); given.len()];
        running_floats(&given, false, &mut floats);
        let mut whole = floats.clone();
        running(&vec![1; given.len()], false, f64::from, &mut whole);
        assert_eq!(floats, whole);
        assert!(
            floats.iter().zip(1..).all(|(found, index)| *found == to_element(f64::from(index)))
        );
    }
}
