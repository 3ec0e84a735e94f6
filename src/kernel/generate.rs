//! Seeded contents of buffers: the same bytes on every device and in every process.
//!
//! Input: a [`Fill`], a seed and a buffer's name. Output: bytes, little-endian. Element i depends on
//! seed, name and i alone (a counter-based generator), so that any part can be made on its own.

use serde::{Deserialize, Serialize};

use super::format::ScalarType;

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
    /// first + step · index.
    Series {
        /// The type of an element.
        scalar: ScalarType,
        /// The first element.
        first: f64,
        /// The difference of neighbours.
        step: f64,
    },
    /// These bytes, then zeros: a file's content.
    Bytes(Vec<u8>),
}

/// A 64-bit mix of a counter: `splitmix64` by Steele, Lea and Flood (OOPSLA 2014).
pub fn mix(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The stream of one buffer: a hash of seed and name (FNV-1a over the name).
fn stream(seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    mix(seed ^ hash)
}

/// Makes the bytes of a buffer of `size` bytes.
pub fn contents(fill: &Fill, seed: u64, name: &str, size: u64) -> Vec<u8> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let mut bytes = vec![0_u8; size];
    let words = bytes.as_chunks_mut::<4>().0;
    match fill {
        Fill::Zero => {}
        Fill::Words(given) => {
            for (word, value) in words.iter_mut().zip(given) {
                *word = value.to_le_bytes();
            }
        }
        Fill::Bytes(given) => {
            let length = given.len().min(size);
            bytes[..length].copy_from_slice(&given[..length]);
        }
        Fill::Uniform { scalar, low, high } => {
            let base = stream(seed, name);
            for (word, index) in words.iter_mut().zip(0_u64..) {
                let random = mix(base.wrapping_add(index));
                *word = uniform(*scalar, *low, *high, random).to_le_bytes();
            }
        }
        Fill::Series { scalar, first, step } => {
            for (word, index) in words.iter_mut().zip(0_u32..) {
                *word = encode(*scalar, first + step * f64::from(index)).to_le_bytes();
            }
        }
    }
    bytes
}

/// A value in [low, high) from 64 random bits: 24 bits for floats, so that 1.0 is never reached.
#[expect(clippy::cast_precision_loss, reason = "at most 53 bits are kept before the conversion")]
fn uniform(scalar: ScalarType, low: f64, high: f64, random: u64) -> u32 {
    match scalar {
        ScalarType::F32 => {
            let unit = (random >> 40) as f64 / f64::from(1_u32 << 24);
            encode(scalar, low + (high - low) * unit)
        }
        ScalarType::U32 | ScalarType::I32 => {
            let unit = (random >> 11) as f64 / (1_u64 << 53) as f64;
            encode(scalar, (low + (high - low) * unit).floor())
        }
    }
}

/// The bits of a value in a scalar type; out-of-range values saturate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which the documentation promises"
)]
pub fn encode(scalar: ScalarType, value: f64) -> u32 {
    match scalar {
        ScalarType::F32 => (value as f32).to_bits(),
        ScalarType::U32 => value as u32,
        ScalarType::I32 => (value as i32).cast_unsigned(),
    }
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
        insta::assert_debug_snapshot!(&long[..16]);
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
