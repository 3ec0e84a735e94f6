//! Contents of files that a launch file names: raw bytes, or a NumPy array.
//!
//! Input: a file's name and bytes, the scalar type that the buffer has. Output: the bytes that the
//! buffer begins with. It opens no file.
//!
//! NumPy's format is that of its NEP 1: a magic word, a version, the length of a header, the header
//! (a Python dictionary with three known keys), the elements. The header is read here: the crates
//! that read it bring a parser of Python literals that needs a C compiler to build.

use crate::kernel::ScalarType;

/// The most bytes of a file that fill a buffer: they travel to the device's process as text.
pub const FILE_BYTES_MAX: u64 = 1 << 28;

/// What a buffer begins with: the elements of `.npy`, else the bytes as they are.
///
/// # Errors
///
/// A sentence that says what does not fit and how to save the array instead.
pub fn decode(name: &str, bytes: Vec<u8>, wanted: Option<ScalarType>) -> Result<Vec<u8>, String> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!(
            "`{name}` has {} bytes; files fill buffers up to {FILE_BYTES_MAX} bytes: cut it, or use a \
             generated fill",
            bytes.len()
        ));
    }
    let npy = std::path::Path::new(name).extension().is_some_and(|end| end == "npy");
    if npy { elements(name, &bytes, wanted) } else { Ok(bytes) }
}

/// What a NumPy header says.
struct Header<'a> {
    /// The elements' type, in NumPy's words.
    dtype: &'a str,
    /// Whether the first index runs fastest.
    fortran_order: bool,
    /// Elements along each dimension.
    shape: Vec<u64>,
    /// What follows the header.
    rest: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads a header; `None` if it is none.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (version, rest) = bytes.strip_prefix(b"\x93NUMPY")?.split_at_checked(2)?;
        let (length, rest) = match version[0] {
            1 => {
                let (length, rest) = rest.split_first_chunk::<2>()?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
            2 | 3 => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                (usize::try_from(u32::from_le_bytes(*length)).ok()?, rest)
            }
            _ => return None,
        };
        let (header, rest) = rest.split_at_checked(length)?;
        let header = std::str::from_utf8(header).ok()?;
        let value = |key: &str| {
            let (_, after) = header.split_once(&format!("'{key}'"))?;
            Some(after.trim_start().strip_prefix(':')?.trim_start())
        };
        // Structured types have a list here, of which no WGSL scalar is one.
        let dtype = match value("descr")?.strip_prefix('\'') {
            Some(text) => text.split('\'').next()?,
            None => "a structure",
        };
        let (shape, _) = value("shape")?.strip_prefix('(')?.split_once(')')?;
        let shape = shape.split(',').map(str::trim).filter(|count| !count.is_empty());
        Some(Self {
            dtype,
            fortran_order: value("fortran_order")?.starts_with("True"),
            shape: shape.map(|count| count.parse().ok()).collect::<Option<_>>()?,
            rest,
        })
    }
}

/// The elements of a NumPy array, in C's order.
fn elements(name: &str, bytes: &[u8], wanted: Option<ScalarType>) -> Result<Vec<u8>, String> {
    let header = Header::read(bytes)
        .ok_or_else(|| format!("`{name}` is no NumPy array of format 1, 2 or 3"))?;
    let Header { dtype, fortran_order, shape, rest } = header;
    let found = ALL.into_iter().find(|scalar| numpy(*scalar) == dtype).ok_or_else(|| {
        format!(
            "`{name}` holds {dtype}, which no WGSL type is; save it as one, such as \
             a.astype('<f4')"
        )
    })?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
        return Err(format!(
            "`{name}` holds {found} ({dtype}), and the buffer {wanted}: save the array as that, \
             such as a.astype('{}')",
            numpy(wanted)
        ));
    }
    if fortran_order && shape.len() > 1 {
        return Err(format!(
            "`{name}` is stored column by column; save np.ascontiguousarray(a) instead"
        ));
    }
    let length = shape.iter().fold(found.bytes(), |size, count| size.saturating_mul(*count));
    let whole = usize::try_from(length).ok().and_then(|length| rest.get(..length));
    whole.map(<[u8]>::to_vec).ok_or_else(|| {
        format!("`{name}` is cut off: {length} bytes are announced, {} are there", rest.len())
    })
}

/// An array of numbers, for a texture.
pub(super) struct Numbers {
    /// Elements along each dimension, the last fastest.
    pub(super) shape: Vec<u64>,
    /// The elements.
    pub(super) values: Vec<f64>,
    /// The greatest number of the type, where its elements are integers.
    pub(super) integers: Option<f64>,
}

/// The elements of a NumPy array as numbers.
pub(super) fn numbers(name: &str, bytes: &[u8]) -> Result<Numbers, String> {
    let header = Header::read(bytes)
        .ok_or_else(|| format!("`{name}` is no NumPy array of format 1, 2 or 3"))?;
    let (width, integers) = match header.dtype {
        "<f2" => (2, None),
        "<f4" => (4, None),
        "<f8" => (8, None),
        "|u1" => (1, Some(255.0)),
        "<u2" => (2, Some(65_535.0)),
        "<u4" => (4, Some(f64::from(u32::MAX))),
        "|i1" => (1, Some(127.0)),
        "<i2" => (2, Some(32_767.0)),
        "<i4" => (4, Some(f64::from(i32::MAX))),
        other => {
            return Err(format!(
                "`{name}` holds {other}, which fills no texture; save it as floats or integers of 8 to \
                 32 bits, such as a.astype('<f4')"
            ));
        }
    };
    if header.fortran_order && header.shape.len() > 1 {
        return Err(format!(
            "`{name}` is stored column by column; save np.ascontiguousarray(a) instead"
        ));
    }
    let count = header.shape.iter().fold(1_u64, |all, count| all.saturating_mul(*count));
    let length = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width);
    let whole = header.rest.get(..length);
    let data = whole.ok_or_else(|| format!("`{name}` is cut off: {length} bytes are announced"))?;
    let value = |element: &[u8]| match (header.dtype, element) {
        ("<f2", &[a, b]) => half::f16::from_le_bytes([a, b]).to_f64(),
        ("<f4", &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        ("<f8", &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        ("|u1", &[a]) => f64::from(a),
        ("<u2", &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
        ("<u4", &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
        ("|i1", &[a]) => f64::from(a.cast_signed()),
        ("<i2", &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
        ("<i4", &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
        _ => 0.0,
    };
    let values = data.chunks_exact(width).map(value).collect();
    Ok(Numbers { shape: header.shape, values, integers })
}

/// Every type that an array's elements may have.
const ALL: [ScalarType; 9] = [
    ScalarType::F16,
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::I16,
    ScalarType::I32,
    ScalarType::I64,
];

/// NumPy's word for a type.
fn numpy(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::F16 => "<f2",
        ScalarType::F32 => "<f4",
        ScalarType::F64 => "<f8",
        ScalarType::U16 => "<u2",
        ScalarType::U32 => "<u4",
        ScalarType::U64 => "<u8",
        ScalarType::I16 => "<i2",
        ScalarType::I32 => "<i4",
        ScalarType::I64 => "<i8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A NumPy file of format 1.0, as NEP 1 describes it.
    fn npy(dtype: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let header =
            format!("{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}");
        let padded = (10 + header.len() + 1).next_multiple_of(64);
        let header = format!("{header:<width$}\n", width = padded - 11);
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn the_elements_of_an_array_and_the_bytes_of_anything_else() {
        let data = [1.5_f32, -2.0, 0.25, 8.0].map(f32::to_le_bytes).concat();
        let file = npy("<f4", false, "(2, 2)", &data);
        assert_eq!(decode("a.npy", file.clone(), Some(ScalarType::F32)).unwrap(), data);
        assert_eq!(decode("a.npy", file.clone(), None).unwrap(), data);
        assert_eq!(decode("a.bin", file.clone(), None).unwrap(), file);
    }

    #[test]
    fn what_does_not_fit_says_how_to_save_it() {
        let data = [0; 32];
        let refused = |file: Vec<u8>, part: &str| {
            let message = decode("a.npy", file, Some(ScalarType::F32)).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        refused(npy("<f8", false, "(4,)", &data), "a.astype('<f4')");
        refused(npy("<c8", false, "(4,)", &data), "no WGSL type");
        refused(npy(">f4", false, "(4,)", &data), "no WGSL type");
        refused(npy("<f4", true, "(2, 2)", &data), "ascontiguousarray");
        refused(npy("<f4", false, "(9,)", &data), "36 bytes are announced, 32 are there");
        refused(b"no array".to_vec(), "no NumPy array");
    }
}
