//! Sensible values for a variable that the host binds.
//!
//! Input: a [`Shape`], which `program` reflects from a shader. Output: the bytes of [`contents`]. It
//! knows nothing of naga and reads no shader.
//!
//! # Sensible values
//!
//! | what | holds |
//! |---|---|
//! | integer in an array | uniform from 0 to the array's length, so that it can index one like it |
//! | integer that stands alone | the extent: n for 1D workgroups, the side of the grid for 2D and 3D; where `run::profile` finds that it only bounds places of invocations from below, 0 |
//! | vector of k integers that stands alone | the k-th root of n, rounded down, in each component |
//! | float | uniform from 0 to 1 |
//! | atomic | 0 |

use serde::{Deserialize, Serialize};

use super::scalars::{encode, uniform};
use crate::layout::{ScalarType, Shape};

/// What the numbers that stand alone follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The number of elements.
    pub n: u64,
    /// Along how many dimensions workgroups extend, 1 to 3.
    pub dimensions: u32,
}

impl Extent {
    /// The k-th root of n, rounded down to a whole number, at least 1.
    pub fn root(self, k: u32) -> u64 {
        root(self.n, k)
    }

    /// What an integer that stands alone holds.
    pub fn alone(self) -> u64 {
        self.root(self.dimensions)
    }
}

/// The k-th root of n, rounded down, at least 1.
pub fn root(n: u64, k: u32) -> u64 {
    let fits = |side: u64| side.checked_pow(k).is_some_and(|power| power <= n);
    // Sides grow bit by bit, from the highest: exact where floats would round.
    let mut side = 0_u64;
    for bit in (0..u64::BITS / k.max(1)).rev() {
        let larger = side | (1 << bit);
        if fits(larger) {
            side = larger;
        }
    }
    side.max(1)
}

/// Makes `size` bytes of sensible values for `shape`; `random` gives 64 bits for each byte offset.
pub fn contents(shape: &Shape, extent: Extent, size: u64, random: &dyn Fn(u64) -> u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
    let mut writer = Writer { bytes: &mut bytes, extent, random };
    writer.shape(shape, 0, None);
    bytes
}

struct Writer<'a> {
    bytes: &'a mut [u8],
    extent: Extent,
    random: &'a dyn Fn(u64) -> u64,
}

impl Writer<'_> {
    /// Writes a shape at `offset`; `length` is that of the outermost array that holds it.
    fn shape(&mut self, shape: &Shape, offset: u64, length: Option<u64>) {
        match shape {
            Shape::Scalar { atomic: true, .. } => {}
            Shape::Scalar { scalar, atomic: false } => self.number(*scalar, offset, 1, length),
            Shape::Vector { scalar, components } => {
                for index in 0..u64::from(*components) {
                    self.number(*scalar, offset + index * scalar.bytes(), *components, length);
                }
            }
            Shape::Matrix { scalar, columns, rows, stride } => {
                for column in 0..u64::from(*columns) {
                    for row in 0..u64::from(*rows) {
                        let at = offset + column * stride + row * scalar.bytes();
                        self.number(*scalar, at, *rows, length);
                    }
                }
            }
            Shape::Array { element, stride, count } => {
                let rest = (self.bytes.len() as u64).saturating_sub(offset);
                let count = count.unwrap_or_else(|| rest.checked_div(*stride).unwrap_or(0));
                for index in 0..count {
                    self.shape(element, offset + index * stride, length.or(Some(count)));
                }
            }
            Shape::Struct { fields, .. } => {
                for field in fields {
                    self.shape(&field.shape, offset + field.offset, length);
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of elements lie far below 2^53")]
    fn number(&mut self, scalar: ScalarType, offset: u64, components: u32, length: Option<u64>) {
        let bits = match (scalar.is_float(), length) {
            (true, _) => uniform(scalar, 0.0, 1.0, (self.random)(offset)),
            (false, Some(length)) => uniform(scalar, 0.0, length as f64, (self.random)(offset)),
            (false, None) if components > 1 => encode(scalar, self.extent.root(components) as f64),
            (false, None) => encode(scalar, self.extent.alone() as f64),
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let length = usize::try_from(scalar.bytes()).unwrap_or(8);
        if let Some(place) = self.bytes.get_mut(start..start.saturating_add(length)) {
            place.copy_from_slice(&bits.to_le_bytes()[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Field;

    fn scalar(scalar: ScalarType) -> Shape {
        Shape::Scalar { scalar, atomic: false }
    }

    fn field(name: &str, offset: u64, shape: Shape) -> Field {
        Field { name: name.to_owned(), offset, shape }
    }

    #[test]
    fn roots_are_exact_and_rounded_down() {
        assert_eq!([root(65_536, 1), root(65_536, 2), root(64_000, 3)], [65_536, 256, 40]);
        assert_eq!(
            [root(0, 1), root(0, 2), root(63_999, 3), root(u64::MAX, 1)],
            [1, 1, 39, u64::MAX]
        );
    }

    #[test]
    fn a_struct_that_ends_in_a_run_time_array_is_filled_field_by_field() {
        let element = Shape::Struct {
            fields: vec![
                field("key", 0, scalar(ScalarType::U32)),
                field("weight", 4, scalar(ScalarType::F32)),
                field("hits", 8, Shape::Scalar { scalar: ScalarType::U32, atomic: true }),
            ],
            size: 12,
        };
        let array = Shape::Array { element: Box::new(element), stride: 12, count: None };
        let shape = Shape::Struct {
            fields: vec![field("count", 0, scalar(ScalarType::I32)), field("items", 4, array)],
            size: 16,
        };
        assert_eq!((shape.size(10), shape.stride()), (124, Some(12)));
        assert_eq!(shape.uniform_scalar(), None);
        let extent = Extent { n: 10, dimensions: 1 };
        let bytes = contents(&shape, extent, 124, &crate::units::random::mix);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 10);
        let mut keys = std::collections::BTreeSet::new();
        for item in 0..10 {
            keys.insert(word(4 + item * 12));
            assert!((0.0..1.0).contains(&f32::from_bits(word(8 + item * 12))));
            assert_eq!(word(12 + item * 12), 0, "atomics begin at zero");
        }
        assert!(keys.iter().all(|key| *key < 10) && keys.len() > 3, "{keys:?}");
    }

    #[test]
    fn integers_that_stand_alone_follow_the_extent() {
        let shape = Shape::Struct {
            fields: vec![
                field("width", 0, scalar(ScalarType::U32)),
                field("size", 8, Shape::Vector { scalar: ScalarType::I32, components: 2 }),
                field("far", 16, scalar(ScalarType::U64)),
            ],
            size: 24,
        };
        let words = |dimensions: u32| {
            let extent = Extent { n: 4096, dimensions };
            let bytes = contents(&shape, extent, 24, &crate::units::random::mix);
            bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect::<Vec<_>>()
        };
        assert_eq!(words(1), [4096, 0, 64, 64, 4096, 0]);
        assert_eq!(words(2), [64, 0, 64, 64, 64, 0]);
        assert_eq!(words(3)[0], 16);
        let leaves = shape.leaves(8).unwrap();
        let shown: Vec<String> =
            leaves.iter().map(|leaf| format!("{}@{}", leaf.name, leaf.offset)).collect();
        assert_eq!(shown, ["width@0", "size.x@8", "size.y@12", "far@16"]);
        assert_eq!(shape.leaves(3), None);
    }

    #[test]
    fn halves_and_doubles_stay_below_one() {
        for (kind, bytes) in [(ScalarType::F16, 2), (ScalarType::F64, 8)] {
            let shape =
                Shape::Array { element: Box::new(scalar(kind)), stride: bytes, count: None };
            let extent = Extent { n: 4096, dimensions: 1 };
            let filled = contents(&shape, extent, 4096 * bytes, &crate::units::random::mix);
            let values: Vec<f64> = match kind {
                ScalarType::F16 => {
                    let bits = filled.as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b));
                    bits.map(|bits| half::f16::from_bits(bits).to_f64()).collect()
                }
                _ => filled.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            };
            assert!(values.iter().all(|value| (0.0..1.0).contains(value)), "{kind:?}");
            assert!(values.iter().any(|value| *value > 0.99), "{kind:?}");
        }
    }
}
