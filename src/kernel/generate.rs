//! Seeded contents of buffers: the same bytes on every device and in every process.
//!
//! Input: a [`Fill`], a seed and a buffer's name. Output: bytes, little-endian. Element i depends on
//! seed, name and i alone (a counter-based generator), so that any part can be made on its own; in
//! [`Fill::Default`] it is the byte offset that counts, and a member of a struct is a buffer of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::pattern::{self, Pattern};
use super::scalars::{encode, uniform};
use super::shape::{self, Extent};
use crate::layout::{ScalarType, Shape};
pub use crate::units::random::mix;

/// Elements that one thread makes at a time.
const ELEMENTS_PER_TASK: usize = 1 << 16;

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Zeros.
    Zero,
    /// These 32-bit words, then zeros.
    Words(Vec<u32>),
    /// Independent uniform values from `low`, included, to `high`, left out.
    Uniform {
        /// The type of an element.
        scalar: ScalarType,
        /// The least value.
        low: f64,
        /// The bound, never reached.
        high: f64,
    },
    /// low + (high − low) · u^exponent with u uniform from 0 to 1.
    Skewed {
        /// The type of an element.
        scalar: ScalarType,
        /// The least value.
        low: f64,
        /// The bound, never reached by integers.
        high: f64,
        /// The exponent.
        exponent: f64,
        /// How many neighbours share a value, at least 1.
        length: u64,
    },
    /// first + step · index.
    Series {
        /// The type of an element.
        scalar: ScalarType,
        /// The first element.
        first: f64,
        /// The difference of neighbours.
        step: f64,
    },
    /// Contents with a structure; they depend on the number of elements, too.
    Pattern {
        /// The type of an element.
        scalar: ScalarType,
        /// The structure.
        pattern: Pattern,
    },
    /// These bytes, then zeros: a file's content.
    Bytes(#[serde(with = "hexadecimal")] Vec<u8>),
    /// Sensible values by the variable's type.
    Default {
        /// The type.
        shape: Shape,
        /// What integers that stand alone follow from.
        extent: Extent,
    },
    /// Of a struct, or of each element of an array of structs, these members; the others as [`Fill::Default`] says.
    Members {
        /// The type.
        shape: Shape,
        /// What integers that stand alone follow from.
        extent: Extent,
        /// What each member holds: element i's is part i of the content of a buffer of such members alone.
        members: BTreeMap<String, Self>,
    },
}

/// Bytes as a string of hexadecimal digits: a list of numbers would take twice the room.
pub(super) mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::kernel) fn serialize<S: Serializer>(
        bytes: &[u8],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        to.serialize_str(&digits.collect::<String>())
    }

    pub(in crate::kernel) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || D::Error::custom("bytes are pairs of hexadecimal digits");
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|v| u8::try_from(v).ok());
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(wrong());
        }
        let byte = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
        pairs.iter().map(|pair| byte(pair).ok_or_else(wrong)).collect()
    }
}

/// The stream of one buffer: a hash of seed and name (FNV-1a over the name). Element i's random bits
/// are those of [`mix`] at this and i more.
pub fn stream(seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    mix(seed ^ hash)
}

/// Makes the bytes of a buffer of `size` bytes.
pub fn contents(fill: &Fill, seed: u64, name: &str, size: u64) -> Vec<u8> {
    let length = usize::try_from(size).unwrap_or(usize::MAX);
    let base = stream(seed, name);
    let mut bytes = match fill {
        Fill::Default { shape, extent } => {
            return shape::contents(shape, *extent, size, &|at| mix(base.wrapping_add(at)));
        }
        Fill::Members { shape, extent, .. } => {
            shape::contents(shape, *extent, size, &|at| mix(base.wrapping_add(at)))
        }
        _ => vec![0_u8; length],
    };
    match fill {
        Fill::Zero | Fill::Default { .. } => {}
        Fill::Members { shape, members, .. } => {
            write_members(&mut bytes, shape, members, seed, name);
        }
        Fill::Words(given) => {
            for (word, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(given) {
                *word = value.to_le_bytes();
            }
        }
        Fill::Bytes(given) => {
            let given = &given[..given.len().min(length)];
            bytes[..given.len()].copy_from_slice(given);
        }
        Fill::Uniform { scalar, low, high } => {
            write_elements(&mut bytes, *scalar, |index| {
                uniform(*scalar, *low, *high, mix(base.wrapping_add(index)))
            });
        }
        Fill::Skewed { scalar, low, high, exponent, length } => {
            write_elements(&mut bytes, *scalar, |index| {
                let random = mix(base.wrapping_add(index / length));
                skew(*scalar, *low, *high, *exponent, random)
            });
        }
        Fill::Pattern { scalar, pattern } => {
            pattern::write(&mut bytes, *scalar, pattern, &|at| mix(base.wrapping_add(at)));
        }
        Fill::Series { scalar, first, step } => {
            #[expect(clippy::cast_precision_loss, reason = "indices lie far below 2^53")]
            write_elements(&mut bytes, *scalar, |index| {
                encode(*scalar, first + step * index as f64)
            });
        }
    }
    bytes
}

/// Writes the members of a struct, or of each element of an array of structs.
fn write_members(
    bytes: &mut [u8],
    shape: &Shape,
    members: &BTreeMap<String, Fill>,
    seed: u64,
    name: &str,
) {
    for (member, fill) in members {
        let Some(places) = shape.member(member, bytes.len() as u64) else { continue };
        let [first, each, stride, count] =
            [places.offset, places.size, places.stride, places.count]
                .map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let name = format!("{name}.{member}");
        let made = contents(fill, seed, &name, places.size.saturating_mul(places.count));
        for (number, part) in made.chunks_exact(each.max(1)).enumerate().take(count) {
            let at = first.saturating_add(number.saturating_mul(stride));
            if let Some(place) = bytes.get_mut(at..at.saturating_add(each)) {
                place.copy_from_slice(part);
            }
        }
    }
}

/// What contents are made from.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    seed: u64,
    size: u64,
    name: String,
    fill: Fill,
}

/// Contents that were made last, the newest first: a launch's are asked for at each width, by each dispatch's
/// reference, and with each device.
static KEPT: Mutex<VecDeque<(Origin, Arc<[u8]>)>> = Mutex::new(VecDeque::new());

/// The fewest and the most bytes of contents that are kept.
const KEPT_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 18;

/// Bytes of all contents that are kept.
const KEPT_BYTES_SUM_MAX: usize = if cfg!(target_family = "wasm") { 4 << 20 } else { 32 << 20 };

/// As [`contents`], and made once where they are small.
pub(super) fn contents_kept(fill: &Fill, seed: u64, name: &str, size: u64) -> Vec<u8> {
    let costs_little = matches!(fill, Fill::Zero | Fill::Words(_) | Fill::Bytes(_));
    if costs_little || !KEPT_BYTES.contains(&size) {
        return contents(fill, seed, name, size);
    }
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |(known, _): &&(Origin, Arc<[u8]>)| {
        (known.seed, known.size) == (seed, size) && known.name == name && known.fill == *fill
    };
    let known = kept().iter().find(is_it).map(|(_, bytes)| Arc::clone(bytes));
    if let Some(bytes) = known {
        return bytes.to_vec();
    }
    let bytes = contents(fill, seed, name, size);
    let origin = Origin { seed, size, name: name.to_owned(), fill: fill.clone() };
    let mut kept = kept();
    kept.push_front((origin, bytes.as_slice().into()));
    let sums = kept.iter().scan(0, |sum, (_, bytes)| {
        *sum += bytes.len();
        Some(*sum)
    });
    let fit = sums.take_while(|sum| *sum <= KEPT_BYTES_SUM_MAX).count();
    kept.truncate(fit);
    bytes
}

/// Writes the bits of each element, which `bits` gives by index; on all processors.
fn write_elements(bytes: &mut [u8], scalar: ScalarType, bits: impl Fn(u64) -> u64 + Sync) {
    let length = usize::try_from(scalar.bytes()).unwrap_or(8);
    bytes.par_chunks_mut(length * ELEMENTS_PER_TASK).enumerate().for_each(|(task, bytes)| {
        let first = (task * ELEMENTS_PER_TASK) as u64;
        for (element, index) in bytes.chunks_exact_mut(length).zip(first..) {
            element.copy_from_slice(&bits(index).to_le_bytes()[..length]);
        }
    });
}

/// The bits of low + (high − low) · u^exponent from 64 random bits; integers are rounded down and
/// stay below `high`.
fn skew(scalar: ScalarType, low: f64, high: f64, exponent: f64, random: u64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let u = (random >> 11) as f64 / (1_u64 << 53) as f64;
    let value = low + (high - low) * u.powf(exponent);
    encode(scalar, if scalar.is_float() { value } else { value.floor().min(high - 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_depend_on_seed_name_and_index_alone() {
        let fill = Fill::Uniform { scalar: ScalarType::F32, low: 0.0, high: 1.0 };
        let long = contents(&fill, 7, "input", 4096);
        assert_eq!(contents(&fill, 7, "input", 64), long[..64]);
        assert_ne!(contents(&fill, 8, "input", 64), long[..64]);
        assert_ne!(contents(&fill, 7, "other", 64), long[..64]);
        assert_eq!(
            long[..16],
            [107, 96, 123, 63, 192, 11, 251, 60, 144, 43, 78, 62, 248, 89, 157, 61]
        );
    }

    #[test]
    fn kept_contents_are_those_that_are_made() {
        let fill = |high| Fill::Uniform { scalar: ScalarType::F32, low: 0.0, high };
        for (high, seed, name, size) in [
            (1.0, 7, "input", 4096),
            (1.0, 7, "input", 4096),
            (2.0, 7, "input", 4096),
            (1.0, 8, "input", 4096),
            (1.0, 7, "other", 4096),
            (1.0, 7, "input", 2048),
            (1.0, 7, "input", 64),
            (1.0, 7, "input", KEPT_BYTES.end() + 4),
        ] {
            let made = contents(&fill(high), seed, name, size);
            assert!(
                contents_kept(&fill(high), seed, name, size) == made,
                "{high} {seed} {name} {size}"
            );
        }
    }

    #[test]
    fn elements_beyond_a_task_continue_the_series() {
        let fill = Fill::Series { scalar: ScalarType::U32, first: 3.0, step: 2.0 };
        let elements = 3 * ELEMENTS_PER_TASK + 5;
        let bytes = contents(&fill, 1, "x", 4 * elements as u64);
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        assert!(words.eq((0..u32::try_from(elements).unwrap()).map(|index| 3 + 2 * index)));
    }

    #[test]
    fn uniform_floats_fill_the_unit_interval_and_never_reach_one() {
        let fill = Fill::Uniform { scalar: ScalarType::F32, low: 0.0, high: 1.0 };
        let bytes = contents(&fill, 1, "input", 4 << 16);
        let values: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|w| f32::from_le_bytes(*w)).collect();
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
        let mean = values.iter().sum::<f32>() / 65536.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let below = values.iter().filter(|v| **v < 0.25).count();
        assert!((15_800..17_000).contains(&below), "{below}");
    }

    #[test]
    fn uniform_integers_reach_both_ends() {
        let fill = Fill::Uniform { scalar: ScalarType::I32, low: -2.0, high: 2.0 };
        let bytes = contents(&fill, 1, "x", 400);
        let mut seen: Vec<i32> =
            bytes.as_chunks::<4>().0.iter().map(|w| i32::from_le_bytes(*w)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-2, -1, 0, 1]);
    }
}
