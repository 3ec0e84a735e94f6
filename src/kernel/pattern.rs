//! Contents with a structure that real data have: offsets, permutations, sorted keys, skewed ids, points,
//! images, trees.
//!
//! Input: a [`Pattern`], a scalar type, a buffer's length, random bits by index. Output: bytes,
//! little-endian. The same pattern, seed and length give the same bytes everywhere; other than of
//! independent values, elements depend on the length as well.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::scalars::{decode, encode, uniform};
use crate::layout::ScalarType;

/// What a buffer holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Ascending, from 0 in the first element to `last` in the last one: where rows begin.
    Offsets {
        /// The last element.
        last: f64,
        /// How the differences of neighbours are distributed.
        lengths: Lengths,
        /// Of [`Lengths::PowerLaw`]: how fast long ones become rare; over 1.
        exponent: f64,
    },
    /// The numbers from 0 to the number of elements, each once, in random order.
    Permutation,
    /// Ascending values from `low`, included, to `high`, left out by integers.
    Sorted {
        /// The least value.
        low: f64,
        /// The bound.
        high: f64,
        /// The part of the elements that stand somewhere else, 0 to 1.
        moved: f64,
    },
    /// Numbers from 0 to `ids` − 1; number k about as often as 1 / (k + 1)^exponent says.
    Zipf {
        /// How many numbers there are.
        ids: f64,
        /// The exponent, over 0.
        exponent: f64,
    },
    /// Points, each component uniform between two bounds.
    Points {
        /// The least value of each component.
        low: Vec<f64>,
        /// The bound of each component.
        high: Vec<f64>,
        /// Scalars from one point to the next; those behind the components are 0.
        stride: u64,
    },
    /// Pixels, row by row.
    Image {
        /// Pixels of a row.
        width: u64,
        /// What it shows.
        of: Picture,
        /// The darkest value and the lightest.
        range: [f64; 2],
    },
    /// The nodes of a binary tree of boxes in a layout of 32-bit words.
    Bvh {
        /// Leaves; there are 2 · leaves − 1 nodes.
        leaves: u64,
        /// The words of a node.
        node: Vec<NodeWord>,
        /// How it is cut.
        tree: TreeShape,
        /// Whether the two children of a node stand side by side, the left one first, level by level; else a node
        /// stands before its subtrees, the left one first.
        siblings: bool,
    },
}

/// How lengths are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lengths {
    /// All alike.
    Constant,
    /// From 0 to twice the mean.
    #[default]
    Uniform,
    /// Few long ones among many short ones.
    PowerLaw,
}

/// What an image shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// From left to right ever lighter.
    Gradient,
    /// Smooth noise with cells of 16 pixels.
    Noise,
    /// Squares of 8 pixels, dark and light in turn.
    Checkers,
}

/// How a tree is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeShape {
    /// In the middle: leaves are equally deep, give or take one.
    #[default]
    Complete,
    /// Anywhere: some leaves lie far deeper than others.
    Random,
}

/// A word of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeWord {
    /// The box's lower bound along x, `f32`.
    MinX,
    /// Along y.
    MinY,
    /// Along z.
    MinZ,
    /// The box's upper bound along x, `f32`.
    MaxX,
    /// Along y.
    MaxY,
    /// Along z.
    MaxZ,
    /// The number of the left child; 0 in a leaf.
    Left,
    /// The number of the right child; 0 in a leaf.
    Right,
    /// The number of the node where a walk goes on behind this one's subtree, for walks without a stack; the
    /// number of nodes behind the last one.
    Skip,
    /// The first leaf below, counted from the left; in a leaf its own number.
    First,
    /// How many leaves lie below; 1 in a leaf.
    Count,
    /// 1 in a leaf, and 0 elsewhere: how many things a leaf holds, in layouts that tell leaves by it.
    LeafCount,
    /// In a leaf its own number among the leaves, elsewhere the number of the left child.
    LeftOrFirst,
    /// 1 in a leaf, 0 elsewhere.
    Leaf,
    /// 0.
    Zero,
}

/// Pixels of a square of [`Picture::Checkers`].
const SQUARE: u64 = 8;

/// Pixels between the points of [`Picture::Noise`].
const CELL: u64 = 16;

/// A fraction of one from random bits.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// Fills `bytes`, whose elements are of type `scalar`; `random` gives 64 bits for each index.
pub(super) fn write(
    bytes: &mut [u8],
    scalar: ScalarType,
    pattern: &Pattern,
    random: &(dyn Fn(u64) -> u64 + Sync),
) {
    let length = usize::try_from(scalar.bytes()).unwrap_or(8);
    let count = (bytes.len() / length) as u64;
    let mut fill = |value: &mut dyn FnMut(u64) -> f64| {
        for (element, index) in bytes.chunks_exact_mut(length).zip(0..) {
            element.copy_from_slice(&encode(scalar, value(index)).to_le_bytes()[..length]);
        }
    };
    let whole = |value: f64, high: f64| {
        if scalar.is_float() { value } else { value.floor().min(high - 1.0) }
    };
    match pattern {
        Pattern::Offsets { last, lengths, exponent } => {
            let ends = offsets(count, *last, *lengths, *exponent, random);
            fill(&mut |index| usize::try_from(index).map_or(0.0, |index| ends[index]));
        }
        Pattern::Permutation => {
            let order = permutation(count, random);
            fill(&mut |index| usize::try_from(index).map_or(0.0, |index| order[index]));
        }
        Pattern::Sorted { low, high, moved } => fill(&mut |index| {
            let moves = unit(random(2 * index)) < *moved;
            let place = if moves { random(2 * index + 1) % count } else { index };
            let share = (to_float(place) + unit(random(2 * place))) / to_float(count);
            whole(low + (high - low) * share, *high)
        }),
        Pattern::Zipf { ids, exponent } => {
            fill(&mut |index| whole(zipf(*ids, *exponent, unit(random(index))), *ids));
        }
        // To the bit as independent values between the bounds, so that a box changes no point that lies in it.
        Pattern::Points { low, high, stride } => fill(&mut |index| {
            let component = usize::try_from(index % (*stride).max(1)).unwrap_or(usize::MAX);
            match (low.get(component), high.get(component)) {
                (Some(low), Some(high)) => {
                    let bits = uniform(scalar, *low, *high, random(index)).to_le_bytes();
                    decode(scalar, &bits)
                }
                _ => 0.0,
            }
        }),
        Pattern::Image { width, of, range: [dark, light] } => fill(&mut |index| {
            let value =
                shade(*of, index % (*width).max(1), index / (*width).max(1), *width, random);
            dark + (light - dark) * value
        }),
        Pattern::Bvh { leaves, node, tree, siblings } => {
            let places = bytes.as_chunks_mut::<4>().0;
            let words = nodes(*leaves, node, (*tree, *siblings), places.len(), random);
            for (word, value) in places.iter_mut().zip(words) {
                *word = value.to_le_bytes();
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "indices and counts lie far below 2^53")]
fn to_float(index: u64) -> f64 {
    index as f64
}

/// Ascending offsets, from 0 to `last`.
fn offsets(
    count: u64,
    last: f64,
    lengths: Lengths,
    exponent: f64,
    random: &dyn Fn(u64) -> u64,
) -> Vec<f64> {
    let mut sum = 0.0;
    let mut ends = vec![0.0];
    for row in 1..count {
        let u = unit(random(row));
        sum += match lengths {
            Lengths::Constant => 1.0,
            Lengths::Uniform => u,
            Lengths::PowerLaw => (1.0 - u).powf(-1.0 / (exponent - 1.0).max(0.01)),
        };
        ends.push(sum);
    }
    ends.iter_mut().for_each(|end| *end = (last * *end / sum.max(f64::MIN_POSITIVE)).floor());
    // Rounding may not take the last one away.
    if let [_, .., end] = ends.as_mut_slice() {
        *end = last;
    }
    ends
}

/// A random order of the numbers below `count`.
fn permutation(count: u64, random: &dyn Fn(u64) -> u64) -> Vec<f64> {
    let mut order: Vec<f64> = (0..count).map(to_float).collect();
    for last in (1..order.len()).rev() {
        let bound = last as u64 + 1;
        let other = usize::try_from(random(last as u64) % bound).unwrap_or(last);
        order.swap(last, other);
    }
    order
}

/// A number below `ids` by its rank's power law: the inverse of the integral of x^−exponent from 1 to
/// `ids` + 1, a close stand-in for the sum.
fn zipf(ids: f64, exponent: f64, u: f64) -> f64 {
    let rest = 1.0 - exponent;
    let rank = if rest.abs() < 1e-9 {
        (ids + 1.0).powf(u)
    } else {
        (1.0 + u * ((ids + 1.0).powf(rest) - 1.0)).powf(1.0 / rest)
    };
    rank - 1.0
}

/// A pixel's value, 0 to 1.
fn shade(picture: Picture, x: u64, y: u64, width: u64, random: &dyn Fn(u64) -> u64) -> f64 {
    match picture {
        Picture::Gradient => to_float(x) / to_float(width.max(2) - 1),
        Picture::Checkers => to_float((x / SQUARE + y / SQUARE) % 2),
        Picture::Noise => {
            let corner = |dx: u64, dy: u64| {
                let column = width / CELL + 2;
                unit(random((y / CELL + dy) * column + x / CELL + dx))
            };
            let [u, v] = [x, y].map(|side| {
                let part = to_float(side % CELL) / to_float(CELL);
                part * part * (3.0 - 2.0 * part)
            });
            let row = |dy: u64| corner(0, dy) * (1.0 - u) + corner(1, dy) * u;
            row(0) * (1.0 - v) + row(1) * v
        }
    }
}

/// A node whose words are to be written.
struct Open {
    number: u64,
    /// The first leaf below, and how many there are.
    first: u64,
    count: u64,
    /// Where a walk goes on behind it.
    skip: u64,
    low: [f64; 3],
    high: [f64; 3],
}

/// The words of a tree's nodes, in the order of their numbers: the first `words_max` of them, or fewer where the
/// tree has no more. Nodes whose words all lie behind are not walked.
fn nodes(
    leaves: u64,
    layout: &[NodeWord],
    (tree, siblings): (TreeShape, bool),
    words_max: usize,
    random: &dyn Fn(u64) -> u64,
) -> Vec<u32> {
    let skip = leaves.saturating_mul(2).saturating_sub(1);
    let words_all = usize::try_from(skip).unwrap_or(usize::MAX).saturating_mul(layout.len());
    let mut words = vec![0; words_all.min(words_max)];
    let root = Open { number: 0, first: 0, count: leaves, skip, low: [0.0; 3], high: [1.0; 3] };
    let mut open = VecDeque::new();
    open.extend((leaves > 0).then_some(root));
    let mut next = 1;
    while let Some(node) = if siblings { open.pop_front() } else { open.pop_back() } {
        let Open { number, first, count, skip, low, high } = node;
        let left = match tree {
            _ if count == 1 => 0,
            TreeShape::Complete => count / 2,
            TreeShape::Random => 1 + random(number) % (count - 1),
        };
        let children = match count {
            1 => [0, 0],
            _ if siblings => [next, next + 1],
            _ => [number + 1, number + 2 * left],
        };
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(layout.len());
        // Nodes are taken in the order of their numbers, so that all others lie behind this one too.
        if at >= words.len() {
            break;
        }
        let record = words.iter_mut().skip(at).zip(layout);
        record.for_each(|(element, part)| *element = word(*part, &node, children));
        if count == 1 {
            continue;
        }
        next += 2;
        // Along the longest side, in proportion to the leaves on either.
        let side = |axis: &usize| high[*axis] - low[*axis];
        let axis = (0..3).max_by(|a, b| side(a).total_cmp(&side(b))).unwrap_or(0);
        let cut = low[axis] + side(&axis) * to_float(left) / to_float(count);
        let (mut middle_high, mut middle_low) = (high, low);
        middle_high[axis] = cut;
        middle_low[axis] = cut;
        let number = children[0];
        let near = Open { number, first, count: left, skip: children[1], low, high: middle_high };
        let far = Open {
            number: children[1],
            first: first + left,
            count: count - left,
            skip,
            low: middle_low,
            high,
        };
        // What is pushed last is taken first, but for siblings.
        open.extend(if siblings { [near, far] } else { [far, near] });
    }
    words
}

/// A word of a node.
fn word(part: NodeWord, node: &Open, children: [u64; 2]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "nodes of a buffer; boxes are f32")]
    let (word, float) = (|number: u64| number as u32, |value: f64| (value as f32).to_bits());
    let leaf = node.count == 1;
    match part {
        NodeWord::MinX => float(node.low[0]),
        NodeWord::MinY => float(node.low[1]),
        NodeWord::MinZ => float(node.low[2]),
        NodeWord::MaxX => float(node.high[0]),
        NodeWord::MaxY => float(node.high[1]),
        NodeWord::MaxZ => float(node.high[2]),
        NodeWord::Left => word(children[0]),
        NodeWord::Right => word(children[1]),
        NodeWord::Skip => word(node.skip),
        NodeWord::First => word(node.first),
        NodeWord::LeftOrFirst => word(if leaf { node.first } else { children[0] }),
        NodeWord::Count => word(node.count),
        NodeWord::Leaf | NodeWord::LeafCount => u32::from(leaf),
        NodeWord::Zero => 0,
    }
}

#[cfg(test)]
mod tests;
