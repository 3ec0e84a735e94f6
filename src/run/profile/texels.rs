//! Files that fill textures: pictures, arrays and raw texels.
//!
//! Input: a file's name and bytes, the format of the texture. Output: texels of the first level, or of
//! all, in the texture's format; of a picture its extent too. It opens no file.

use std::collections::BTreeMap;

use super::files::{self, FILE_BYTES_MAX};
use crate::kernel::Description;
use crate::kernel::format::{FileDescription, Formula};
use crate::kernel::texture_description::{TexelFillDescription, TextureDescription};
use crate::texture::{SampledKind, TextureFormat};

/// Reads the files of a description's textures. Where a texture has no `size`, a picture or an array gives
/// it; where it has no `format`, it is `rgba8unorm`. What goes wrong comes with its key.
pub(super) fn read_all(
    description: &mut Description,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<BTreeMap<String, Vec<u8>>, (String, String)> {
    let mut texels = BTreeMap::new();
    for texture in &mut description.textures {
        let Some(TexelFillDescription::File(file)) = texture.fill.clone() else { continue };
        let found = read_one(texture, &file, read).map_err(|message| {
            let message = format!("texture `{}`: `fill`: {message}", texture.name);
            (format!("textures.{}.fill", texture.name), message)
        })?;
        texels.insert(texture.name.clone(), found);
    }
    Ok(texels)
}

fn read_one(
    texture: &mut TextureDescription,
    file: &FileDescription,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let name = file.name();
    let bytes = file.cut(read(name)?)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("`{name}` has {} bytes; at most {FILE_BYTES_MAX}", bytes.len()));
    }
    let format = *texture.format.get_or_insert(TextureFormat::Rgba8Unorm);
    let ending = std::path::Path::new(name).extension().and_then(|ending| ending.to_str());
    let (size, texels) = match ending {
        Some("png") => decode_png(name, &bytes, format)?,
        Some("npy") => decode_npy(name, &bytes, format, texture.size.as_ref().map(Vec::len))?,
        _ => return Ok(bytes),
    };
    texture.size.get_or_insert_with(|| size.iter().map(|e| Formula::Integer(*e)).collect());
    Ok(texels)
}

/// Appends a texel of these components, from 0 to 1 where `whole` is nothing, else integers up to it.
fn append(into: &mut Vec<u8>, format: TextureFormat, components: [f64; 4], most: Option<f64>) {
    // A picture of sRGB is kept as it is.
    let format = format.without_srgb();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "conversions saturate, and so does the codec"
    )]
    let bits = components.map(|value| match format.kind() {
        SampledKind::Float | SampledKind::Depth => (value / most.unwrap_or(1.0)) as f32,
        SampledKind::Uint => f32::from_bits(value as u32),
        SampledKind::Sint => f32::from_bits((value as i32).cast_unsigned()),
    });
    let texel = format.encode(bits.map(f32::to_bits)).to_le_bytes();
    into.extend_from_slice(&texel[..format.bytes() as usize]);
}

/// Without the program there are no files, and so no pictures: a page's core does without their decoder.
#[cfg(not(feature = "devices"))]
fn decode_png(
    name: &str,
    _bytes: &[u8],
    _format: TextureFormat,
) -> Result<(Vec<i64>, Vec<u8>), String> {
    Err(format!("`{name}`: pictures are read by lanescope itself, not by its core"))
}

/// The extent and the texels of a picture.
#[cfg(feature = "devices")]
fn decode_png(
    name: &str,
    bytes: &[u8],
    format: TextureFormat,
) -> Result<(Vec<i64>, Vec<u8>), String> {
    let wrong = |error: png::DecodingError| format!("`{name}` is no PNG that can be read: {error}");
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (width, height) = (reader.info().width, reader.info().height);
    let pixels = u64::from(width) * u64::from(height);
    if pixels.saturating_mul(u64::from(format.bytes()).max(8)) > FILE_BYTES_MAX {
        return Err(format!("`{name}` has {width}×{height} pixels, too many to fill a texture"));
    }
    let size = reader.output_buffer_size().ok_or_else(|| format!("`{name}` is too large"))?;
    let mut data = vec![0; size];
    let frame = reader.next_frame(&mut data).map_err(wrong)?;
    data.truncate(frame.buffer_size());
    let channels = frame.color_type.samples();
    let wide = frame.bit_depth == png::BitDepth::Sixteen;
    let most = if wide { 65_535.0 } else { 255.0 };
    let value = |at: &[u8]| {
        if wide { f64::from(u16::from_be_bytes([at[0], at[1]])) } else { f64::from(at[0]) }
    };
    let each = channels * if wide { 2 } else { 1 };
    let mut texels = Vec::new();
    for pixel in data.chunks_exact(each) {
        let values: Vec<f64> = pixel.chunks_exact(each / channels).map(value).collect();
        let components = match values[..] {
            [grey] => [grey, grey, grey, most],
            [grey, alpha] => [grey, grey, grey, alpha],
            [red, green, blue] => [red, green, blue, most],
            [red, green, blue, alpha, ..] => [red, green, blue, alpha],
            [] => [0.0; 4],
        };
        append(&mut texels, format, components, Some(most));
    }
    Ok((vec![i64::from(width), i64::from(height)], texels))
}

/// The extent and the texels of an array of rows: `(height, width)`, `(height, width, components)`, and one
/// dimension more before those for layers or depth.
fn decode_npy(
    name: &str,
    bytes: &[u8],
    format: TextureFormat,
    dimensions: Option<usize>,
) -> Result<(Vec<i64>, Vec<u8>), String> {
    let files::Numbers { shape, values, integers } = files::numbers(name, bytes)?;
    let integer_format = matches!(format.kind(), SampledKind::Uint | SampledKind::Sint);
    if integer_format && integers.is_none() {
        return Err(format!("`{name}` holds floats, and {format} integers: save whole numbers"));
    }
    let most = if integer_format { None } else { integers };
    let last = shape.last().copied().unwrap_or(1);
    // What could be components is, but for an array of as many dimensions as the texture.
    let dimensions = dimensions.unwrap_or(2);
    let components = if shape.len() > dimensions && last <= 4 { last } else { 1 };
    let components = usize::try_from(components).unwrap_or(1).max(1);
    let extents = if components > 1 || shape.len() > dimensions && last == 1 {
        &shape[..shape.len() - 1]
    } else {
        &shape[..]
    };
    let size = extents.iter().rev().map(|e| i64::try_from(*e).unwrap_or(i64::MAX)).collect();
    let alpha = most.unwrap_or(1.0);
    let mut texels = Vec::new();
    for given in values.chunks_exact(components) {
        let mut texel = [0.0, 0.0, 0.0, alpha];
        texel[..components].copy_from_slice(given);
        append(&mut texels, format, texel, most);
    }
    Ok((size, texels))
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;

    #[test]
    fn a_picture_gives_extent_and_texels() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&[255, 0, 51, 1, 2, 3]).unwrap();
        let (size, texels) = decode_png("a.png", &file, TextureFormat::Rgba8Unorm).unwrap();
        assert_eq!((size, texels), (vec![2, 1], vec![255, 0, 51, 255, 1, 2, 3, 255]));
        let (_, texels) = decode_png("a.png", &file, TextureFormat::Rgba8UnormSrgb).unwrap();
        assert_eq!(texels, [255, 0, 51, 255, 1, 2, 3, 255]);
        let (_, texels) = decode_png("a.png", &file, TextureFormat::R8Uint).unwrap();
        assert_eq!(texels, [255, 1]);
        let (_, texels) = decode_png("a.png", &file, TextureFormat::R32Float).unwrap();
        assert_eq!(texels, [1_f32.to_le_bytes(), (1.0_f32 / 255.0).to_le_bytes()].concat());
        let broken = decode_png("a.png", &file[..20], TextureFormat::R8Uint).unwrap_err();
        assert!(broken.contains("`a.png` is no PNG"), "{broken}");
    }
}
