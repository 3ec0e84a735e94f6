//! What a device wrote, beside what a captured program's own dispatch left.
//!
//! Input: bytes, and how they lie in memory. Output: how many elements differ, the first, and whether the same words
//! stand in another order. It judges nothing else.
//!
//! Integers and packed words are compared exactly. Floats may lie apart by a relative and an absolute
//! tolerance, since devices contract, reorder and approximate; the launch file says them. Texels of a
//! normalised format may lie one step of the format apart.

use crate::kernel::captured::After;
use crate::kernel::scalars;
use crate::layout::{ScalarType, Shape};
use crate::texture::{SampledKind, TextureFormat, TextureLayout};

/// How many differing elements a mismatch lists.
pub(super) const DIFFERENCES_SHOWN: usize = 5;

/// Elements that differ.
#[derive(Debug, PartialEq)]
pub(super) struct FoundDifferences {
    /// How many.
    pub(super) count: usize,
    /// Of how many.
    pub(super) elements: usize,
    /// The first: index, found, wanted.
    pub(super) first: Vec<(usize, f64, f64)>,
    /// Whether it is a buffer that holds the same words, each as often, in another order.
    pub(super) reordered: bool,
}

/// The elements of an output that differ; `None` if all are right.
pub(super) fn compare(
    found: &[u8],
    after: &After,
    texture: Option<&TextureLayout>,
) -> Option<FoundDifferences> {
    let wanted = &after.bytes;
    if found.get(..wanted.len()) == Some(wanted) {
        return None;
    }
    let mut differing = Differing { after, count: 0, elements: 0, first: Vec::new() };
    match (texture, &after.shape) {
        (Some(layout), _) => differing.texels(layout.format, found),
        (None, Some(shape)) => differing.shape(shape, 0, found),
        (None, None) => differing.words(found),
    }
    let Differing { count, elements, first, .. } = differing;
    let reordered = count > 0 && texture.is_none() && are_words_the_same(found, wanted);
    (count > 0).then_some(FoundDifferences { count, elements, first, reordered })
}

/// Whether two contents hold the same words of 32 bits, each as often, wherever they stand.
fn are_words_the_same(found: &[u8], wanted: &[u8]) -> bool {
    let ((found, _), (wanted, rest)) = (found.as_chunks::<4>(), wanted.as_chunks::<4>());
    if found.len() < wanted.len() || !rest.is_empty() {
        return false;
    }
    // Those that stand in one place are the same on both sides already.
    let moved = found.iter().zip(wanted).filter(|(found, wanted)| found != wanted);
    let (mut found, mut wanted): (Vec<[u8; 4]>, Vec<[u8; 4]>) =
        moved.map(|(found, wanted)| (*found, *wanted)).unzip();
    found.sort_unstable();
    wanted.sort_unstable();
    found == wanted
}

/// The differences so far.
struct Differing<'a> {
    after: &'a After,
    count: usize,
    elements: usize,
    first: Vec<(usize, f64, f64)>,
}

impl Differing<'_> {
    fn note(&mut self, right: bool, found: f64, wanted: f64) {
        if !right {
            self.count += 1;
            if self.first.len() < DIFFERENCES_SHOWN {
                self.first.push((self.elements, found, wanted));
            }
        }
        self.elements += 1;
    }

    fn is_near(&self, found: f64, wanted: f64) -> bool {
        let allowed = self.after.tolerance_absolute
            + self.after.tolerance_relative * found.abs().max(wanted.abs());
        // What is not a number, or infinite, is right where both are the same.
        (found - wanted).abs() <= allowed || found == wanted || found.is_nan() && wanted.is_nan()
    }

    fn words(&mut self, found: &[u8]) {
        let wanted = &self.after.bytes;
        for (found, wanted) in found.chunks_exact(4).zip(wanted.chunks_exact(4)) {
            let value = |bytes: &[u8]| scalars::decode(ScalarType::U32, bytes);
            self.note(found == wanted, value(found), value(wanted));
        }
    }

    /// Every scalar of a shape that begins at a byte.
    fn shape(&mut self, shape: &Shape, at: u64, found: &[u8]) {
        match shape {
            Shape::Scalar { scalar, .. } => self.scalar(*scalar, at, found),
            Shape::Vector { scalar, components } => {
                for component in 0..u64::from(*components) {
                    self.scalar(*scalar, at + component * scalar.bytes(), found);
                }
            }
            Shape::Matrix { scalar, columns, rows, stride } => {
                for column in 0..u64::from(*columns) {
                    for row in 0..u64::from(*rows) {
                        self.scalar(*scalar, at + column * stride + row * scalar.bytes(), found);
                    }
                }
            }
            Shape::Array { element, stride, count } => {
                let rest = (self.after.bytes.len() as u64).saturating_sub(at);
                let count = count.unwrap_or(rest / (*stride).max(1));
                for index in 0..count.min(rest) {
                    self.shape(element, at + index * stride, found);
                }
            }
            Shape::Struct { fields, .. } => {
                for field in fields {
                    self.shape(&field.shape, at + field.offset, found);
                }
            }
        }
    }

    fn scalar(&mut self, scalar: ScalarType, at: u64, found: &[u8]) {
        let range = usize::try_from(at).ok().zip(usize::try_from(at + scalar.bytes()).ok());
        let Some((from, to)) = range else { return };
        let (Some(found), Some(wanted)) = (found.get(from..to), self.after.bytes.get(from..to))
        else {
            return;
        };
        let value = |bytes: &[u8]| scalars::decode(scalar, bytes);
        let (left, right) = (value(found), value(wanted));
        let is_right = found == wanted || scalar.is_float() && self.is_near(left, right);
        self.note(is_right, left, right);
    }

    fn texels(&mut self, format: TextureFormat, found: &[u8]) {
        let each = format.bytes() as usize;
        let wanted = self.after.bytes.chunks_exact(each);
        for (found, wanted) in found.chunks_exact(each).zip(wanted) {
            let texel = |bytes: &[u8]| {
                let mut padded = [0; 16];
                padded[..each].copy_from_slice(bytes);
                format.decode(u128::from_le_bytes(padded))
            };
            let (left, right) = (texel(found), texel(wanted));
            for component in 0..format.components() {
                let (left, right) = (left[component], right[component]);
                let values = match format.kind() {
                    SampledKind::Float | SampledKind::Depth => {
                        [left, right].map(|bits| f64::from(f32::from_bits(bits)))
                    }
                    SampledKind::Uint => [left, right].map(f64::from),
                    SampledKind::Sint => [left, right].map(|bits| f64::from(bits.cast_signed())),
                };
                let is_float = matches!(format.kind(), SampledKind::Float | SampledKind::Depth);
                let [left, right] = values;
                let is_right = found == wanted
                    || is_float
                        && (self.is_near(left, right)
                            || (left - right).abs() <= step(format, component));
                self.note(is_right, left, right);
            }
        }
    }
}

/// One step of a normalised format, with a hundredth for what decoding rounds; 0 of others.
fn step(format: TextureFormat, component: usize) -> f64 {
    let name = format.to_string();
    let bits = match (name.contains("unorm"), name.contains("snorm")) {
        (false, false) => return 0.0,
        (unsigned, _) => {
            let wide = if name.starts_with("rgb10a2") {
                if component == 3 { 2 } else { 10 }
            } else if name.contains("16") {
                16
            } else {
                8
            };
            wide - i32::from(!unsigned)
        }
    };
    // sRGB's curve is at most 3.3 times as steep as a straight line.
    let steep = if name.contains("srgb") { 3.3 } else { 1.0 };
    1.01 * steep / (2_f64.powi(bits) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Field;

    fn after(bytes: Vec<u8>, shape: Option<Shape>) -> After {
        After { bytes, shape, tolerance_relative: 1e-4, tolerance_absolute: 1e-6 }
    }

    #[test]
    fn floats_may_be_rounded_and_integers_may_not() {
        let scalar = |scalar| Shape::Scalar { scalar, atomic: false };
        let field = |offset, kind| Field { name: String::new(), offset, shape: scalar(kind) };
        let item = Shape::Struct {
            fields: vec![field(0, ScalarType::F32), field(4, ScalarType::U32)],
            size: 8,
        };
        let items = Shape::Array { element: Box::new(item), stride: 8, count: None };
        let bytes = |floats: [f32; 2], whole: [u32; 2]| {
            let pairs = floats.iter().zip(whole);
            pairs.flat_map(|(f, w)| [f.to_le_bytes(), w.to_le_bytes()].concat()).collect()
        };
        let wanted = after(bytes([1.0, f32::NAN], [7, 8]), Some(items));
        let found = |floats, whole| compare(&bytes(floats, whole), &wanted, None);
        assert_eq!(found([1.000_05, f32::NAN], [7, 8]), None);
        let mismatch = found([1.001, f32::NAN], [7, 9]).unwrap();
        assert_eq!((mismatch.count, mismatch.elements), (2, 4));
        assert_eq!(mismatch.first[1], (3, 9.0, 8.0));
        // Without a shape words are compared.
        let plain = after(1.0_f32.to_le_bytes().to_vec(), None);
        assert!(compare(&1.000_05_f32.to_le_bytes(), &plain, None).is_some());
    }

    #[test]
    fn the_same_words_in_another_order_are_told() {
        let bytes = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let wanted = after(bytes(&[3, 1, 2, 1, 9]), None);
        let found = |words: &[u32]| {
            compare(&bytes(words), &wanted, None).map(|found| (found.count, found.reordered))
        };
        assert_eq!(found(&[3, 1, 2, 1, 9]), None);
        assert_eq!(found(&[1, 1, 2, 3, 9]), Some((2, true)));
        // A word more than it should be often, and another one less.
        assert_eq!(found(&[1, 3, 2, 3, 9]), Some((3, false)));
        // What lies behind what was captured is not looked at.
        assert_eq!(found(&[9, 1, 2, 1, 3, 7]), Some((2, true)));
        assert_eq!(found(&[9, 1, 2, 1]), Some((1, false)));
    }

    #[test]
    fn texels_may_be_a_step_apart() {
        let layout = |format| TextureLayout {
            format,
            dimension: crate::texture::TextureDimension::D2,
            size: [1, 1, 1],
            levels: 1,
            samples: 1,
        };
        let wanted = after(vec![10, 20, 30, 255], None);
        let unorm = layout(TextureFormat::Rgba8Unorm);
        assert_eq!(compare(&[11, 20, 29, 255], &wanted, Some(&unorm)), None);
        let off = compare(&[12, 20, 30, 255], &wanted, Some(&unorm)).unwrap();
        assert_eq!((off.count, off.elements, off.first[0].0), (1, 4, 0));
        let uint = layout(TextureFormat::Rgba8Uint);
        assert!(compare(&[11, 20, 30, 255], &wanted, Some(&uint)).is_some());
    }
}
