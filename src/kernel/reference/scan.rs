//! References of the scans: running sums, in f64 or as the devices' integers wrap.
//!
//! Input: a launch with parameters `n`, `type` and `kind` (`inclusive` or `exclusive`). Output: every
//! prefix sum, of all elements or within blocks of 256.

use super::{Element, Expected, Function, choice, count, words};
use crate::kernel::Launch;

/// The family's references by name.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[("scan/blocks", blocks), ("scan/all", all)];

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
    let element = choice(launch, "type")?;
    let mut output = Vec::with_capacity(n);
    for block in input.chunks(block.min(n.max(1))) {
        match element {
            "f32" => running_floats(block, exclusive, &mut output),
            "u32" => running(block, exclusive, f64::from, &mut output),
            "i32" => running(block, exclusive, |b| f64::from(b.cast_signed()), &mut output),
            other => return Err(format!("there is no type {other:?}")),
        }
    }
    Ok(Expected::from([("output".to_owned(), output)]))
}

fn running(block: &[u32], exclusive: bool, shown: fn(u32) -> f64, output: &mut Vec<Element>) {
    let mut sum = 0_u32;
    for word in block {
        let before = sum;
        sum = sum.wrapping_add(*word);
        let value = shown(if exclusive { before } else { sum });
        output.push(Element { value, magnitude: value.abs() });
    }
}

fn running_floats(block: &[u32], exclusive: bool, output: &mut Vec<Element>) {
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for word in block {
        let before = Element { value: sum, magnitude };
        let value = f64::from(f32::from_bits(*word));
        sum += value;
        magnitude += value.abs();
        output.push(if exclusive { before } else { Element { value: sum, magnitude } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_run_wrap_and_leave_out_the_last_where_asked() {
        let values = |exclusive| {
            let mut output = Vec::new();
            running(&[1, 2, u32::MAX], exclusive, f64::from, &mut output);
            output.iter().map(|element| element.value).collect::<Vec<_>>()
        };
        assert_eq!(values(false), [1.0, 3.0, 2.0]);
        assert_eq!(values(true), [0.0, 1.0, 3.0]);
    }
}
