//! References of the family `shuffle`: subgroups as the device formed them, results as WGSL defines
//! them.
//!
//! Input: a launch, and the seats that its kernel wrote down. Output: its expected elements, whole
//! numbers throughout. What WGSL leaves undefined has the word that the kernel writes in its place.

use super::seats::{Subgroup, subgroups};
use super::{Element, Expected, Observing, Outputs, copied, count};
use crate::kernel::Launch;
use crate::record::Value;

/// The family's references by name.
pub(super) const OBSERVING: &[(&str, Observing)] = &[
    ("shuffle/operations", operations),
    ("shuffle/out_of_range", out_of_range),
    ("shuffle/latency", latency),
    ("shuffle/tiles", tiles),
    ("shuffle/match_any", match_any),
];

/// What the kernel writes where nothing is promised.
const NOT_DEFINED: u32 = u32::MAX;

/// How many results `operations` gives for each element.
const OPERATIONS: usize = 35;

/// Expected words.
pub(super) fn words(values: Vec<u32>) -> Vec<Element> {
    values.into_iter().map(|word| copied(f64::from(word))).collect()
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
fn signed(word: u32) -> i32 {
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
            let results = gathered(&subgroup, &input, *lane)
                .into_iter()
                .chain(voted(&subgroup, &input, *lane))
                .chain(combined(&subgroup, &input, *lane));
            for (operation, result) in results.enumerate() {
                expected[operation * n + index] = result;
            }
        }
    }
    Ok(Expected::from([("output".to_owned(), words(expected))]))
}

/// What broadcasts, shuffles and quad operations give a lane.
fn gathered(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 13] {
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
fn voted(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 7] {
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
fn combined(subgroup: &Subgroup, input: &[u32], lane: u32) -> [u32; 15] {
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
        values().map(signed).min().unwrap_or(0).cast_unsigned(),
        values().map(signed).max().unwrap_or(0).cast_unsigned(),
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
        let own: u32 = lanes().map(|lane| lane + 1).sum();
        let locals = subgroup.members.values().map(|index| chain.local(*index));
        let start = locals.fold(0_u32, |sum, local| sum.wrapping_add(word(local)));
        // The sum of (S + own) over the lanes is count · S + Σ own.
        chain.sum = (1..links).fold(start, |sum, _| sum.wrapping_mul(count).wrapping_add(own));
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
        let own = self.local(index);
        let first = self.subgroup.members.values().next().map_or(0, |index| self.local(*index));
        Ok(match operation {
            "multiply_add" => chain_of_multiply_adds(own, self.links).to_bits(),
            "shuffle" => {
                let source = self.subgroup.at(word((lane as usize + self.links) % lanes));
                source.map_or(NOT_DEFINED, |source| word(self.local(source)))
            }
            // An even number of links, and distances of zero.
            "shuffle_xor" | "shuffle_up" | "shuffle_down" => word(own),
            // The first lane's own is 1: it counts the links, and each adds its own to the last.
            "broadcast_first" => word(first + self.links - 1) + lane + 1,
            "add_u32" => self.sum.wrapping_add(lane + 1),
            #[expect(clippy::cast_precision_loss, reason = "a lane's number")]
            "add_f32" => (self.mean + lane as f32).to_bits(),
            // In turn none, and all lanes but the first.
            "ballot" => self.subgroup.mask(|other| other != self.subgroup.members[&0])[0],
            "any" => lane + 1,
            "memory" => word((own + self.links) % self.workgroup_size),
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
