//! References of the family `shuffle`: subgroups as the device formed them, results as WGSL defines
//! them.
//!
//! Input: a launch, and the seats that its kernel wrote down. Output: its expected elements, whole
//! numbers but for matrices and stencils. What WGSL leaves undefined has the word that the kernel writes in its place.

use super::subgroup_layout::{Subgroup, subgroups};
use super::{By, Element, Expected, Outputs, count, floats, to_element};
use crate::kernel::Launch;
use crate::record::Value;

/// The family's references by name.
pub(super) const REFERENCES: &[(&str, By)] = &[
    ("shuffle/operations", By::Outputs(operations)),
    ("shuffle/out_of_range", By::Outputs(out_of_range)),
    ("shuffle/latency", By::Outputs(latency)),
    ("shuffle/tiles", By::Outputs(tiles)),
    ("shuffle/match_any", By::Outputs(match_any)),
    ("shuffle/matrices", By::Launch(matrices)),
    ("shuffle/stencil", By::Launch(stencil)),
];

/// What the kernel writes where nothing is promised.
const NOT_DEFINED: u32 = u32::MAX;

/// How many results `operations` gives for each element.
const OPERATIONS: usize = 35;

/// Expected words.
pub(super) fn words(values: Vec<u32>) -> Vec<Element> {
    values.into_iter().map(|word| to_element(f64::from(word))).collect()
}

/// The words of an input buffer.
pub(super) fn input_words(launch: &Launch, name: &str) -> Result<Vec<u32>, String> {
    let buffer = launch.buffer(name).ok_or_else(|| format!("there is no buffer `{name}`"))?;
    let bytes = launch.contents(buffer);
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// A parameter that is a name.
pub(super) fn name<'a>(launch: &'a Launch, parameter: &str) -> Result<&'a str, String> {
    match launch.parameters.get(parameter) {
        Some(Value::Name(name)) => Ok(name),
        other => Err(format!("the reference needs a name `{parameter}`, not {other:?}")),
    }
}

/// A signed number's bits.
fn to_signed(word: u32) -> i32 {
    word.cast_signed()
}

fn operations(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let share = u32::try_from(count(launch, "share")?).map_err(|error| error.to_string())?;
    let input = input_words(launch, "input")?;
    // What takes no part writes nothing: the buffer begins as zeros.
    let mut expected = vec![0; OPERATIONS * n];
    for whole in subgroups(outputs, n, count(launch, "workgroup_size")?)? {
        let subgroup = whole.only(|index| (input[index] >> 8) % 100 < share);
        for (lane, index) in &subgroup.members {
            let results = gather(&subgroup, &input, *lane)
                .into_iter()
                .chain(vote(&subgroup, &input, *lane))
                .chain(combine(&subgroup, &input, *lane));
            for (operation, result) in results.enumerate() {
                expected[operation * n + index] = result;
            }
        }
    }
    Ok(Expected::from([("output".to_owned(), words(expected))]))
}

/// What broadcasts, shuffles and quad operations give a lane.
fn gather(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 13] {
    let size = subgroup.size;
    let half = size / 2;
    let from = |source: Option<u32>| {
        let index = source.and_then(|source| subgroup.at(source));
        index.map_or(NOT_DEFINED, |index| input[index])
    };
    let first = subgroup.members.keys().next().copied();
    [
        from(first),
        from(Some(2)),
        from(Some((lane * 5 + 3) % size)),
        from(Some(lane ^ 1)),
        from(Some(lane ^ half)),
        from(lane.checked_sub(1)),
        from(lane.checked_sub(half)),
        from(Some(lane + 1)),
        from(Some(lane + half)),
        // A quad is four lanes in a row: its last, and the neighbours along, across and athwart.
        from(Some(lane / 4 * 4 + 3)),
        from(Some(lane / 2 * 2 + (lane + 1) % 2)),
        from(Some(lane / 4 * 4 + (lane + 2) % 4)),
        from(Some(lane / 4 * 4 + 3 - lane % 4)),
    ]
}

/// What votes give a lane.
fn vote(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 7] {
    let ballot = subgroup.mask(|index| input[index] % 2 == 1);
    let sixteenths = subgroup.members.values().filter(|index| input[**index].is_multiple_of(16));
    let some = sixteenths.count() > 0;
    let elected = subgroup.members.keys().next() == Some(&lane);
    [
        ballot[0],
        ballot[1],
        ballot[2],
        ballot[3],
        u32::from(elected),
        u32::from(some),
        u32::from(!some),
    ]
}

/// What reductions and scans give a lane.
fn combine(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 15] {
    let values = || subgroup.members.values().map(|index| input[*index]);
    let before = || subgroup.members.range(..lane).map(|(_, index)| input[*index]);
    let upto = || subgroup.members.range(..=lane).map(|(_, index)| input[*index]);
    let sum = |sum: u32, value: u32| sum.wrapping_add(value);
    let product = |product: u32, value: u32| product.wrapping_mul(value | 1);
    let small = || values().map(|value| value % 256);
    [
        values().fold(0, sum),
        values().fold(1, product),
        values().fold(u32::MAX, u32::min),
        values().fold(0, u32::max),
        values().fold(u32::MAX, |all, value| all & (value | 0xffff_0000)),
        values().fold(0, |all, value| all | (value & 0xffff_0000)),
        values().fold(0, |all, value| all ^ value),
        upto().fold(0, sum),
        upto().fold(1, product),
        before().fold(0, sum),
        before().fold(1, product),
        small().sum(),
        small().max().unwrap_or(0),
        values().map(to_signed).min().unwrap_or(0).cast_unsigned(),
        values().map(to_signed).max().unwrap_or(0).cast_unsigned(),
    ]
}

/// No lane whose source is there gets another value; the rest is not checked.
fn out_of_range(_: &Launch, _: &Outputs) -> Result<Expected, String> {
    Ok(Expected::from([("wrong".to_owned(), words(vec![0; 32]))]))
}

fn latency(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let workgroup_size = count(launch, "workgroup_size")?;
    let invocations = count(launch, "workgroups")? * workgroup_size;
    let links = count(launch, "links")? / 16 * 16;
    let operation = name(launch, "operation")?;
    let mut expected = vec![0; invocations];
    for subgroup in subgroups(outputs, invocations, workgroup_size)? {
        let chain = Chain::new(&subgroup, workgroup_size, links);
        for (lane, index) in &subgroup.members {
            expected[*index] = chain.end(operation, *lane, *index)?;
        }
    }
    Ok(Expected::from([("output".to_owned(), words(expected))]))
}

/// What chains of a number of links end in, in one subgroup.
struct Chain<'a> {
    subgroup: &'a Subgroup,
    workgroup_size: usize,
    links: usize,
    /// The last sum of `add_u32`, before what is each lane's own is added.
    sum: u32,
    /// The last mean of `add_f32`.
    mean: f32,
}

impl<'a> Chain<'a> {
    fn new(subgroup: &'a Subgroup, workgroup_size: usize, links: usize) -> Self {
        let mut chain = Self { subgroup, workgroup_size, links, sum: 0, mean: 0.0 };
        let lanes = || subgroup.members.keys().copied();
        let count = lanes().fold(0_u32, |count, _| count + 1);
        let numbers: u32 = lanes().map(|lane| lane + 1).sum();
        let locals = subgroup.members.values().map(|index| chain.local(*index));
        let start = locals.fold(0_u32, |sum, local| sum.wrapping_add(word(local)));
        // The sum of (S + number) over the lanes is count · S + Σ number.
        chain.sum = (1..links).fold(start, |sum, _| sum.wrapping_mul(count).wrapping_add(numbers));
        // Means of lanes, quarters of whole numbers below 2^24, are exact.
        #[expect(clippy::cast_precision_loss, reason = "sums of at most 128 lane numbers")]
        let mean = lanes().sum::<u32>() as f32 / count as f32;
        chain.mean = (0..links).fold(0.0, |all, _| all + mean);
        chain
    }

    fn local(&self, index: usize) -> usize {
        index % self.workgroup_size
    }

    /// What the chain of an operation leaves in a lane, as a word.
    fn end(&self, operation: &str, lane: u32, index: usize) -> Result<u32, String> {
        let lanes = self.subgroup.members.len();
        let local = self.local(index);
        let first = self.subgroup.members.values().next().map_or(0, |index| self.local(*index));
        Ok(match operation {
            "multiply_add" => chain_of_multiply_adds(local, self.links).to_bits(),
            "shuffle" => {
                let source = self.subgroup.at(word((lane as usize + self.links) % lanes));
                source.map_or(NOT_DEFINED, |source| word(self.local(source)))
            }
            // An even number of links, and distances of zero.
            "shuffle_xor" | "shuffle_up" | "shuffle_down" => word(local),
            // The first lane's own is 1: it counts the links, and each adds its own to the last.
            "broadcast_first" => word(first + self.links - 1) + lane + 1,
            "add_u32" => self.sum.wrapping_add(lane + 1),
            #[expect(clippy::cast_precision_loss, reason = "a lane's number")]
            "add_f32" => (self.mean + lane as f32).to_bits(),
            // In turn none, and all lanes but the first.
            "ballot" => self.subgroup.mask(|other| other != self.subgroup.members[&0])[0],
            "any" => lane + 1,
            "memory" => word((local + self.links) % self.workgroup_size),
            "reduce_shuffle" | "reduce_memory" => {
                let members = self.subgroup.members.values();
                word(members.map(|index| self.local(*index)).sum::<usize>() / lanes)
            }
            other => return Err(format!("there is no operation {other:?}")),
        })
    }
}

/// A number of an invocation or of links as a word.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// v ↦ v / 2 + 1, which both steps of rounding leave exact or which rests at 2.
#[expect(clippy::cast_precision_loss, reason = "invocation numbers of a workgroup")]
fn chain_of_multiply_adds(start: usize, links: usize) -> f32 {
    let mut v = start as f32;
    for _ in 0..links {
        let next = v.mul_add(0.5, 1.0);
        if next.to_bits() == v.to_bits() {
            break;
        }
        v = next;
    }
    v
}

fn tiles(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let tile = u32::try_from(count(launch, "tile")?).map_err(|error| error.to_string())?;
    let input = input_words(launch, "input")?;
    let through_memory = name(launch, "through")? == "memory";
    let mut expected = vec![0; n];
    for subgroup in subgroups(outputs, n, 256)? {
        let tile = tile.min(subgroup.size);
        for (lane, index) in &subgroup.members {
            // Through memory neighbours are those of the workgroup.
            let place = if through_memory {
                u32::try_from(index % 256).map_err(|error| error.to_string())?
            } else {
                *lane
            };
            let first = place / tile * tile;
            let sum = (first..first + tile).filter_map(|place| {
                let other = if through_memory {
                    Some(index / 256 * 256 + place as usize)
                } else {
                    subgroup.at(place)
                };
                other.filter(|other| *other < n).map(|other| input[other])
            });
            expected[*index] = sum.fold(0, u32::wrapping_add);
        }
    }
    Ok(Expected::from([("output".to_owned(), words(expected))]))
}

fn match_any(launch: &Launch, outputs: &Outputs) -> Result<Expected, String> {
    let n = count(launch, "n")?;
    let input = input_words(launch, "input")?;
    let mut masks = vec![0; 4 * n];
    let mut alike = vec![0; n];
    for subgroup in subgroups(outputs, n, 256)? {
        for index in subgroup.members.values() {
            let mask = subgroup.mask(|other| input[other] == input[*index]);
            masks[4 * index..4 * index + 4].copy_from_slice(&mask);
            alike[*index] = u32::from(mask == subgroup.mask(|_| true));
        }
    }
    let outputs = [("masks".to_owned(), words(masks)), ("alike".to_owned(), words(alike))];
    Ok(Expected::from(outputs))
}

/// Matrices of 4 by 4, each of `b` multiplied from the left with its own of `a`, so many times.
fn matrices(launch: &Launch) -> Result<Expected, String> {
    let steps = count(launch, "steps")?;
    let (a, mut b) = (floats(launch, "a")?, floats(launch, "b")?);
    for (factor, held) in a.as_chunks::<16>().0.iter().zip(b.as_chunks_mut::<16>().0) {
        for _ in 0..steps {
            let element =
                |at: usize| (0..4).map(|k| factor[at / 4 * 4 + k] * held[4 * k + at % 4]).sum();
            *held = std::array::from_fn(element);
        }
    }
    Ok(Expected::from([("product".to_owned(), b.into_iter().map(to_element).collect())]))
}

/// Half of each point and an eighth of its neighbours, of which those past the edge are the point itself.
fn stencil(launch: &Launch) -> Result<Expected, String> {
    let side = count(launch, "side")?;
    let input = floats(launch, "input")?;
    let point = |at: usize| {
        let (x, y) = (at % side, at / side);
        let left = input[y * side + x.saturating_sub(1)];
        let right = input[y * side + (x + 1).min(side - 1)];
        let above = input[y.saturating_sub(1) * side + x];
        let below = input[(y + 1).min(side - 1) * side + x];
        to_element(0.5 * input[at] + 0.125 * (left + right + above + below))
    };
    let output = (0..side * side).map(point).collect();
    Ok(Expected::from([("output".to_owned(), output)]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kernel::{Catalogue, DeviceClass, SEED};

    /// A launch of a kernel with parameters over the defaults.
    fn launch(kernel: &str, chosen: &[(&str, Value)]) -> Launch {
        let chosen: BTreeMap<String, Value> =
            chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let catalogue = Catalogue::embedded().unwrap();
        catalogue.kernel(kernel).unwrap().launch(DeviceClass::Quick, &chosen, SEED).unwrap()
    }

    /// Seats of `count` invocations in workgroups of `size`, subgroups of four, lane after lane.
    fn seats(count: u32, size: u32) -> Outputs {
        let seat = |index: u32| {
            let local = index % size;
            [4, local % 4, local / 4, 1]
        };
        let bytes = (0..count).flat_map(seat).flat_map(u32::to_le_bytes).collect();
        Outputs::from([("seats".to_owned(), bytes)])
    }

    #[test]
    fn four_lanes_and_a_partial_subgroup_are_as_worked_out_by_hand() {
        let chosen = [("n", Value::Integer(6)), ("workgroup_size", Value::Integer(6))];
        let launch = launch("shuffle/operations", &chosen);
        let v = input_words(&launch, "input").unwrap();
        let expected = operations(&launch, &seats(6, 6)).unwrap();
        let row = |operation: usize| -> Vec<f64> {
            expected["output"][operation * 6..][..6]
                .iter()
                .map(|expected_value| expected_value.value)
                .collect()
        };
        let floats = |words: [u32; 6]| words.map(f64::from).to_vec();
        let none = NOT_DEFINED;
        assert_eq!(row(0), floats([v[0], v[0], v[0], v[0], v[4], v[4]]), "first lane's");
        assert_eq!(row(1), floats([v[2], v[2], v[2], v[2], none, none]), "lane 2's");
        assert_eq!(row(3), floats([v[1], v[0], v[3], v[2], v[5], v[4]]), "across 1");
        assert_eq!(row(4), floats([v[2], v[3], v[0], v[1], none, none]), "across half");
        assert_eq!(row(5), floats([none, v[0], v[1], v[2], none, v[4]]), "from below");
        assert_eq!(row(8), floats([v[2], v[3], none, none, none, none]), "from W / 2 above");
        assert_eq!(row(12), floats([v[3], v[2], v[1], v[0], none, none]), "athwart the quad");
        assert_eq!(row(17), floats([1, 0, 0, 0, 1, 0]), "elected");
        let sum =
            |from: usize, to: usize| v[from..to].iter().fold(0_u32, |a, b| a.wrapping_add(*b));
        let whole = sum(0, 4);
        assert_eq!(row(20), floats([whole, whole, whole, whole, sum(4, 6), sum(4, 6)]), "sum");
        assert_eq!(row(29), floats([0, sum(0, 1), sum(0, 2), sum(0, 3), 0, v[4]]), "sum before");
    }

    #[test]
    fn lanes_that_take_no_part_write_nothing_and_give_nothing() {
        let chosen = [("n", Value::Integer(64)), ("share", Value::Integer(50))];
        let launch = launch("shuffle/operations", &chosen);
        let v = input_words(&launch, "input").unwrap();
        let expected = operations(&launch, &seats(64, 256)).unwrap();
        let takes_part = |index: usize| (v[index] >> 8) % 100 < 50;
        assert!((0..64).any(takes_part) && !(0..64).all(takes_part));
        for index in 0..64 {
            let found = expected["output"][3 * 64 + index].value;
            let source = index ^ 1;
            let right = match (takes_part(index), takes_part(source)) {
                (false, _) => 0,
                (true, false) => NOT_DEFINED,
                (true, true) => v[source],
            };
            assert!((found - f64::from(right)).abs() < 0.5, "{index}");
        }
    }

    #[test]
    fn chains_end_where_their_links_lead() {
        let end = |operation: &str, links: i64| -> Vec<f64> {
            let chosen = [
                ("operation", Value::Name(operation.to_owned())),
                ("workgroup_size", Value::Integer(8)),
            ];
            // Shorter than the shader's chains, so that they can be followed by hand.
            let mut launch = launch("shuffle/latency", &chosen);
            launch.parameters.insert("links".to_owned(), Value::Integer(links));
            let expected = latency(&launch, &seats(8, 8)).unwrap();
            expected["output"].iter().map(|expected_value| expected_value.value).collect()
        };
        assert_eq!(end("memory", 16), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(end("broadcast_first", 16)[..5], [16.0, 17.0, 18.0, 19.0, 20.0]);
        assert_eq!(end("reduce_shuffle", 16), [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0]);
        // S ← 4 S + 10 from S = 6: with sixteen links below 2^32 · 4 it wraps.
        let mut sum = 6_u32;
        for _ in 1..16 {
            sum = sum.wrapping_mul(4).wrapping_add(10);
        }
        assert_eq!(end("add_u32", 16)[0], f64::from(sum.wrapping_add(1)));
        assert_eq!(end("ballot", 16), [14.0; 8]);
        // Sixteen means of 1.5, and the lane.
        assert_eq!(end("add_f32", 16)[3], f64::from(27_f32.to_bits()));
    }

    #[test]
    fn masks_are_those_of_equal_values() {
        let chosen = [("n", Value::Integer(8)), ("values", Value::Integer(1))];
        let alike = launch("shuffle/match_any", &chosen);
        let expected = match_any(&alike, &seats(8, 256)).unwrap();
        assert!(
            expected["alike"].iter().all(|expected_value| (expected_value.value - 1.0).abs() < 0.5)
        );
        assert!(expected["masks"].chunks(4).all(|mask| (mask[0].value - 15.0).abs() < 0.5));
        let chosen = [("n", Value::Integer(8)), ("values", Value::Integer(1 << 30))];
        let different = match_any(&launch("shuffle/match_any", &chosen), &seats(8, 256)).unwrap();
        let first: Vec<f64> = different["masks"]
            .iter()
            .step_by(4)
            .map(|expected_value| expected_value.value)
            .collect();
        assert_eq!(first, [1.0, 2.0, 4.0, 8.0, 1.0, 2.0, 4.0, 8.0]);
    }
}
