//! Textures and samplers of a launch, and their seeded texels.
//!
//! Input: descriptions with everything filled in, and the values of parameters. Output: [`Texture`] and
//! [`Sampler`], plain data, and the bytes of texels. Which textures a shader binds is `run::profile`'s;
//! what texels mean is `texture`'s.
//!
//! Made-up texels are *value noise*: random values on lattices of 32, 16, 8 and 4 texels, each with half
//! the weight of the one before, interpolated smoothly; so neighbours are alike, as in a picture. Source: K.
//! Perlin, "An Image Synthesizer", SIGGRAPH 1985, with values in place of gradients. Every component,
//! layer and texture has lattices of its own.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::expression::Formula;
use super::formula::{self, Names};
use super::generate::{hexadecimal, stream};
use super::limits::{BUFFER_BYTES_MAX, TEXTURE_EXTENT_MAX};
use super::texture_description::{
    AddressDescription, SamplerDescription, TexelFillDescription, TextureDescription,
};
use crate::texture::{
    AddressMode, Filter, SampledKind, SamplerSettings, TextureDimension, TextureLayout, TextureView,
};
use crate::units::random::mix;
use crate::units::text::listed;

/// A texture of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Texture {
    /// The shader's variable that it is bound to.
    pub name: String,
    /// Its format and extent.
    pub layout: TextureLayout,
    /// What it holds at first.
    pub fill: TexelFill,
    /// Whether it is compared between devices.
    pub output: bool,
}

/// What a texture holds at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TexelFill {
    /// Zeros.
    Zero,
    /// Smooth random values.
    Noise([f64; 2]),
    /// Independent random values.
    Uniform([f64; 2]),
    /// Values that rise along each dimension.
    Gradient([f64; 2]),
    /// Two values in turn.
    Checkers([f64; 2]),
    /// These texels, level by level.
    Bytes(#[serde(with = "hexadecimal")] Vec<u8>),
}

/// A sampler of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// The shader's variable that it is bound to.
    pub name: String,
    /// Its settings.
    pub settings: SamplerSettings,
}

// Descriptions

/// Works out a texture; `texels` are those of its file, where it has one, and `view` is how the shader
/// sees it. What goes wrong comes with the key that is to blame.
pub(super) fn build(
    given: &TextureDescription,
    view: TextureView,
    names: &Names,
    texels: Option<&Vec<u8>>,
) -> Result<Texture, (&'static str, String)> {
    let name = &given.name;
    let missing = |key: &'static str| (key, format!("texture `{name}` needs `{key}`"));
    let wrong =
        |key: &'static str| move |why: String| (key, format!("texture `{name}`: `{key}`: {why}"));
    let format = given.format.ok_or_else(|| missing("format"))?;
    let count = |key: &'static str, formula: &Formula| {
        let count = formula::evaluate_count(formula, names).map_err(wrong(key))?;
        match u32::try_from(count) {
            Ok(count) if (1..=TEXTURE_EXTENT_MAX).contains(&count) => Ok(count),
            _ => Err(wrong(key)(format!("{count} is not from 1 to {TEXTURE_EXTENT_MAX}"))),
        }
    };
    let extents = given.size.as_ref().ok_or_else(|| missing("size"))?;
    let dimension = view.dimension();
    let wanted = match dimension {
        TextureDimension::D1 => 1,
        TextureDimension::D2 => 2,
        TextureDimension::D3 => 3,
    };
    if extents.len() != wanted {
        let why = format!("has {} numbers; a {} texture has {wanted}", extents.len(), view.name());
        return Err(wrong("size")(why));
    }
    let mut size = [1; 3];
    for (extent, formula) in size.iter_mut().zip(extents) {
        *extent = count("size", formula)?;
    }
    let layers = given.layers.as_ref().map_or(Ok(1), |layers| count("layers", layers))?;
    if layers > 1 && !view.is_array() {
        return Err(wrong("layers")(format!("the variable is a {} texture", view.name())));
    }
    let faces = if view.is_cube() { 6 } else { 1 };
    if dimension == TextureDimension::D2 {
        size[2] = layers * faces;
    }
    let samples = given.samples.unwrap_or(1);
    if ![1, 2, 4, 8].contains(&samples) {
        return Err(wrong("samples")(format!("{samples} is not 1, 2, 4 or 8")));
    }
    let mut layout = TextureLayout { format, dimension, size, levels: 1, samples };
    let most = if samples > 1 { 1 } else { layout.levels_max() };
    layout.levels = match &given.mip_levels {
        None => 1,
        Some(Formula::Text(text)) if text == "full" => most,
        Some(formula) => {
            let levels = count("mip_levels", formula)?;
            if levels > most {
                return Err(wrong("mip_levels")(format!("{levels} is over {most}, a full chain")));
            }
            levels
        }
    };
    let bytes = layout.bytes();
    if bytes > BUFFER_BYTES_MAX {
        let why = format!("it would take {bytes} bytes; at most {BUFFER_BYTES_MAX}");
        return Err(wrong("size")(why));
    }
    let fill = given.fill.as_ref().ok_or_else(|| missing("fill"))?;
    let fill = to_fill(fill, names, texels, &layout).map_err(wrong("fill"))?;
    Ok(Texture { name: name.clone(), layout, fill, output: given.output })
}

fn to_fill(
    given: &TexelFillDescription,
    names: &Names,
    texels: Option<&Vec<u8>>,
    layout: &TextureLayout,
) -> Result<TexelFill, String> {
    let [least, greatest] = layout.format.range(0);
    let range = |[low, high]: &[Formula; 2], bound: f64| {
        let range = [formula::evaluate(low, names)?, formula::evaluate(high, names)?];
        if range[0] > range[1] || range[0] < least || range[1] > greatest + bound {
            let format = layout.format;
            return Err(format!(
                "[{}, {}] is not within {least} and {greatest}, what {format} holds",
                range[0], range[1]
            ));
        }
        Ok(range)
    };
    let integers = matches!(layout.format.kind(), SampledKind::Uint | SampledKind::Sint);
    Ok(match given {
        TexelFillDescription::Zero => TexelFill::Zero,
        TexelFillDescription::Noise(given) => TexelFill::Noise(range(given, 0.0)?),
        TexelFillDescription::Uniform(given) => {
            TexelFill::Uniform(range(given, if integers { 1.0 } else { 0.0 })?)
        }
        TexelFillDescription::Gradient(given) => TexelFill::Gradient(range(given, 0.0)?),
        TexelFillDescription::Checkers(given) => TexelFill::Checkers(range(given, 0.0)?),
        TexelFillDescription::File(file) => {
            let file = file.name();
            let texels = texels.ok_or_else(|| {
                format!("the file `{file}` was not read; only launch files name files")
            })?;
            let first = layout.level_texels(0) * u64::from(layout.format.bytes());
            if (texels.len() as u64) < first || texels.len() as u64 > layout.bytes() {
                let format = layout.format;
                let [x, y, z] = layout.size;
                return Err(format!(
                    "`{file}` has {} bytes of texels; {x}×{y}×{z} texels of {format} are {first} bytes, \
                     with all levels {}",
                    texels.len(),
                    layout.bytes()
                ));
            }
            TexelFill::Bytes(texels.clone())
        }
    })
}

/// Works out a sampler; nothing in it can go wrong but limits in the wrong order.
pub(super) fn build_sampler(given: &SamplerDescription) -> Result<Sampler, String> {
    let SamplerDescription {
        name,
        group: _,
        binding: _,
        filter,
        mag_filter,
        min_filter,
        mipmap_filter,
        address,
        lod_min,
        lod_max,
        compare,
    } = given;
    let filter = filter.unwrap_or(Filter::Linear);
    let address = match *address {
        None => [AddressMode::ClampToEdge; 3],
        Some(AddressDescription::Same(mode)) => [mode; 3],
        Some(AddressDescription::Each(modes)) => modes,
    };
    let (lod_min, lod_max) = (lod_min.unwrap_or(0.0), lod_max.unwrap_or(SamplerSettings::LOD_MAX));
    // Not a number is in no order.
    if !(0.0 <= lod_min && lod_min <= lod_max) {
        return Err(format!(
            "sampler `{name}`: `lod_min` is {lod_min} and `lod_max` {lod_max}; they go up from 0"
        ));
    }
    let settings = SamplerSettings {
        address,
        mag: mag_filter.unwrap_or(filter),
        min: min_filter.unwrap_or(filter),
        mipmap: mipmap_filter.unwrap_or(filter),
        lod_min,
        lod_max,
        compare: *compare,
    };
    Ok(Sampler { name: name.clone(), settings })
}

// Texels

impl Texture {
    /// Whether another seed gives other texels.
    pub fn depends_on_seed(&self) -> bool {
        match self.fill {
            TexelFill::Noise([low, high]) | TexelFill::Uniform([low, high]) => low < high,
            TexelFill::Zero
            | TexelFill::Gradient(_)
            | TexelFill::Checkers(_)
            | TexelFill::Bytes(_) => false,
        }
    }

    /// Its first texels, packed level by level.
    pub fn contents(&self, seed: u64) -> Vec<u8> {
        let length = |texels: u64| {
            usize::try_from(texels * u64::from(self.layout.format.bytes())).unwrap_or(usize::MAX)
        };
        let mut bytes = match &self.fill {
            TexelFill::Zero => return vec![0; length(self.layout.texels())],
            TexelFill::Bytes(given) => given.clone(),
            TexelFill::Noise(_)
            | TexelFill::Uniform(_)
            | TexelFill::Gradient(_)
            | TexelFill::Checkers(_) => self.first_level(seed, length(self.layout.level_texels(0))),
        };
        // What a file lacks is made as the levels of all else are.
        let mut begin = 0;
        for level in 1..self.layout.levels {
            let end = begin + length(self.layout.level_texels(level - 1));
            if bytes.len() < end + length(self.layout.level_texels(level)) {
                bytes.truncate(end);
                let next = self.halve(level, &bytes[begin..end]);
                bytes.extend(next);
            }
            begin = end;
        }
        bytes.resize(length(self.layout.texels()), 0);
        bytes
    }

    /// The texels of the first level.
    fn first_level(&self, seed: u64, length: usize) -> Vec<u8> {
        let base = stream(seed, &self.name);
        let [width, height, _] = self.layout.size;
        let samples = self.layout.samples as usize;
        let each = self.layout.format.bytes() as usize;
        // A component of 64 bits is given as two.
        let present = self.layout.format.components().max(2);
        let mut bytes = vec![0; length];
        let row = (width as usize * samples * each).max(1);
        bytes.par_chunks_mut(row).enumerate().for_each(|(number, row)| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let (y, z) = (number % height, number / height);
            let noise = self.noise_rows(base, present, [y, z]);
            for (texel, index) in row.chunks_exact_mut(each).zip(0_u32..) {
                let samples = self.layout.samples;
                let (x, sample) = (index / samples, index % samples);
                let components = std::array::from_fn(|component| {
                    if component < present {
                        self.component(base, [x, y, z], sample, component, &noise)
                    } else {
                        0
                    }
                });
                let bits = self.layout.format.encode(components).to_le_bytes();
                texel.copy_from_slice(&bits[..each]);
            }
        });
        bytes
    }

    /// The noise of a row of the first level: of each component, the texels of each sample; nothing where the
    /// fill is no noise.
    fn noise_rows(&self, base: u64, components: usize, [y, z]: [u32; 2]) -> Vec<Vec<f64>> {
        if !matches!(self.fill, TexelFill::Noise(_)) {
            return Vec::new();
        }
        let deep = self.layout.dimension == TextureDimension::D3;
        let (width, samples) = (self.layout.size[0], self.layout.samples);
        let places =
            (0..components).flat_map(|component| (0..samples).map(move |s| (component, s)));
        let rows = places.map(|(component, sample)| {
            let hashed = hashed(base, component, sample);
            let hashed = if deep { hashed } else { mix(hashed.wrapping_add(u64::from(z))) };
            noise_row(hashed, width, [y, z], deep)
        });
        rows.collect()
    }

    /// The bits of a component of the first level; `noise` is that of its row.
    fn component(
        &self,
        base: u64,
        at: [u32; 3],
        sample: u32,
        component: usize,
        noise: &[Vec<f64>],
    ) -> u32 {
        let interpolate = |[low, high]: [f64; 2], part: f64| low + (high - low) * part;
        let hashed = hashed(base, component, sample);
        let value = match self.fill {
            TexelFill::Zero | TexelFill::Bytes(_) => 0.0,
            TexelFill::Noise(range) => {
                let row = component * self.layout.samples as usize + sample as usize;
                interpolate(range, noise[row][at[0] as usize])
            }
            TexelFill::Uniform(range) => {
                let [x, y, z] = at.map(u64::from);
                let place = mix(hashed.wrapping_add(x | y << 20 | z << 40));
                interpolate(range, fraction(place))
            }
            TexelFill::Gradient(range) => {
                let extent = self.layout.size.get(component).copied().unwrap_or(1);
                let at = at.get(component).copied().unwrap_or(1);
                let last = f64::from(extent.max(2) - 1);
                interpolate(range, (f64::from(at) / last).min(1.0))
            }
            TexelFill::Checkers(range) => {
                let squares: u32 = at.iter().map(|at| at / 8).sum();
                range[squares as usize % 2]
            }
        };
        self.to_bits(value)
    }

    /// A value as the format's components are; integers are rounded down.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value lies within the format's range"
    )]
    fn to_bits(&self, value: f64) -> u32 {
        match self.layout.format.kind() {
            SampledKind::Float | SampledKind::Depth => (value as f32).to_bits(),
            SampledKind::Uint => value.floor() as u32,
            SampledKind::Sint => (value.floor() as i32).cast_unsigned(),
        }
    }

    /// A level from the one before it.
    fn halve(&self, level: u32, before: &[u8]) -> Vec<u8> {
        let format = self.layout.format;
        let each = format.bytes() as usize;
        let ([width, height, depth], [wide, high, _]) =
            (self.layout.level_size(level), self.layout.level_size(level - 1));
        let large = self.layout.level_size(level - 1);
        let deep = self.layout.dimension == TextureDimension::D3;
        let integers = matches!(format.kind(), SampledKind::Uint | SampledKind::Sint);
        let read = |[x, y, z]: [u32; 3]| {
            let texel = ((z * high + y) * wide + x) as usize * each;
            let mut bits = [0; 16];
            bits[..each].copy_from_slice(&before[texel..texel + each]);
            format.decode(u128::from_le_bytes(bits))
        };
        let mut bytes = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let corner = |k: u32| {
                        let far = [k & 1, k >> 1 & 1, if deep { k >> 2 & 1 } else { 0 }];
                        let at = [2 * x, 2 * y, if deep { 2 * z } else { z }];
                        let limit = [0, 1, 2].map(|k: usize| large[k] - 1);
                        [0, 1, 2].map(|k: usize| (at[k] + far[k]).min(limit[k]))
                    };
                    let texel = if integers {
                        read(corner(0))
                    } else {
                        let corners: [[u32; 4]; 8] =
                            std::array::from_fn(|k| read(corner(u32::try_from(k).unwrap_or(0))));
                        std::array::from_fn(|component| {
                            let sum: f32 =
                                corners.iter().map(|c| f32::from_bits(c[component])).sum();
                            (sum / 8.0).to_bits()
                        })
                    };
                    let bits = format.encode(texel).to_le_bytes();
                    bytes.extend_from_slice(&bits[..each]);
                }
            }
        }
        bytes
    }
}

/// 64 random bits as a number from 0, included, to 1, left out.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// What the values of a component and a sample of a texture follow from.
fn hashed(base: u64, component: usize, sample: u32) -> u64 {
    mix(base.wrapping_add(component as u64 * 8 + u64::from(sample)))
}

/// Value noise at each texel of a row, from 0 to 1; along z too where it is `deep`.
///
/// Texels between the same corners of a lattice share their values, so that these are worked out once.
fn noise_row(base: u64, width: u32, [y, z]: [u32; 2], deep: bool) -> Vec<f64> {
    let mut sums = vec![0.0; width as usize];
    let mut weights = 0.0;
    let (corners, dimensions) = if deep { (8_u32, 3) } else { (4, 2) };
    for (octave, cell) in [32_u32, 16, 8, 4].into_iter().enumerate() {
        let weight = 0.5_f64.powi(i32::try_from(octave).unwrap_or(0));
        let hashed = mix(base.wrapping_add(octave as u64));
        let smooth = |at: u32| {
            let part = f64::from(at % cell) / f64::from(cell);
            part * part * (3.0 - 2.0 * part)
        };
        let (along_y, along_z) = (smooth(y), smooth(z));
        for (column, texels) in (0_u32..).zip(sums.chunks_mut(cell as usize)) {
            let values: Vec<f64> = (0..corners)
                .map(|corner| {
                    let far = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
                    let z = if deep { u64::from(z / cell + far[2]) } else { 0 };
                    let lattice =
                        u64::from(column + far[0]) | u64::from(y / cell + far[1]) << 20 | z << 40;
                    fraction(mix(hashed.wrapping_add(lattice)))
                })
                .collect();
            for (x, sum) in (0_u32..).zip(texels) {
                let part = [smooth(x), along_y, along_z];
                for (corner, value) in (0_u32..).zip(&values) {
                    let mut share = 1.0;
                    for (axis, part) in part.iter().enumerate().take(dimensions) {
                        share *= if corner >> axis & 1 == 1 { *part } else { 1.0 - part };
                    }
                    *sum += weight * share * value;
                }
            }
        }
        weights += weight;
    }
    for sum in &mut sums {
        *sum /= weights;
    }
    sums
}

/// The textures and samplers of a description, worked out; `views` are the shader's.
pub(super) fn build_all(
    textures: &[TextureDescription],
    samplers: &[SamplerDescription],
    views: &BTreeMap<String, TextureView>,
    names: &Names,
    texels: &BTreeMap<String, Vec<u8>>,
) -> Result<(Vec<Texture>, Vec<Sampler>), (String, String)> {
    let texture = |given: &TextureDescription| {
        let unknown = || {
            let known: Vec<&str> = views.keys().map(String::as_str).collect();
            let what = listed(&known);
            let message = format!(
                "there is a texture `{}`, but no dispatched entry point uses a texture of that name; \
                 they use: {what}",
                given.name
            );
            (format!("textures.{}", given.name), message)
        };
        let view = views.get(&given.name).ok_or_else(unknown)?;
        build(given, *view, names, texels.get(&given.name))
            .map_err(|(key, message)| (format!("textures.{}.{key}", given.name), message))
    };
    let textures = textures.iter().map(texture).collect::<Result<Vec<_>, _>>()?;
    let sampler = |given: &SamplerDescription| {
        build_sampler(given).map_err(|message| (format!("samplers.{}", given.name), message))
    };
    let samplers = samplers.iter().map(sampler).collect::<Result<Vec<_>, _>>()?;
    let mut seen = std::collections::BTreeSet::new();
    let all = textures.iter().map(|t| &t.name).chain(samplers.iter().map(|s| &s.name));
    if let Some(twice) = all.into_iter().find(|name| !seen.insert((*name).clone())) {
        return Err((
            format!("textures.{twice}"),
            format!("there are two textures or samplers of the name `{twice}`"),
        ));
    }
    Ok((textures, samplers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::TextureFormat;

    fn texture(format: TextureFormat, size: [u32; 3], levels: u32, fill: TexelFill) -> Texture {
        let dimension = TextureDimension::D2;
        let layout = TextureLayout { format, dimension, size, levels, samples: 1 };
        Texture { name: "t".to_owned(), layout, fill, output: false }
    }

    #[test]
    fn noise_is_smooth_within_its_range_and_follows_the_seed() {
        let made = texture(TextureFormat::R32Float, [256, 256, 1], 1, TexelFill::Noise([2.0, 4.0]));
        let values = |seed| -> Vec<f32> {
            let bytes = made.contents(seed);
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        let (first, second) = (values(1), values(2));
        assert_ne!(first, second);
        assert_eq!(first, values(1));
        assert!(first.iter().all(|value| (2.0..4.0).contains(value)));
        let mean = first.iter().sum::<f32>() / 65_536.0;
        assert!((mean - 3.0).abs() < 0.1, "{mean}");
        let spread = first.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 65_536.0;
        let step = first.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f32>() / 65_535.0;
        assert!(spread > 0.02 && step < spread / 8.0, "{spread} {step}");
    }

    /// Value noise at one texel, as it is defined.
    fn noise(base: u64, at: [u32; 3], deep: bool) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (octave, cell) in [32_u32, 16, 8, 4].into_iter().enumerate() {
            let weight = 0.5_f64.powi(i32::try_from(octave).unwrap());
            let hashed = mix(base.wrapping_add(octave as u64));
            let first = at.map(|at| at / cell);
            let part = at.map(|at| {
                let part = f64::from(at % cell) / f64::from(cell);
                part * part * (3.0 - 2.0 * part)
            });
            for corner in 0..if deep { 8 } else { 4 } {
                let far = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
                let mut share = 1.0;
                for k in 0..if deep { 3 } else { 2 } {
                    share *= if far[k] == 1 { part[k] } else { 1.0 - part[k] };
                }
                let z = if deep { u64::from(first[2] + far[2]) } else { 0 };
                let lattice =
                    u64::from(first[0] + far[0]) | u64::from(first[1] + far[1]) << 20 | z << 40;
                sum += weight * share * fraction(mix(hashed.wrapping_add(lattice)));
            }
            weights += weight;
        }
        sum / weights
    }

    #[test]
    fn a_row_of_noise_is_that_of_its_texels() {
        for deep in [false, true] {
            for [y, z] in [[0, 0], [7, 3], [33, 40]] {
                let row = noise_row(5, 70, [y, z], deep);
                let texels: Vec<f64> = (0..70).map(|x| noise(5, [x, y, z], deep)).collect();
                assert_eq!(row, texels, "{y} {z} {deep}");
            }
        }
    }

    #[test]
    fn levels_are_means_and_integers_are_picked() {
        let gradient = TexelFill::Gradient([0.0, 3.0]);
        let made = texture(TextureFormat::R32Float, [4, 2, 1], 3, gradient.clone()).contents(1);
        let values: Vec<f32> =
            made.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1.5]);
        let made = texture(TextureFormat::R8Uint, [4, 2, 1], 3, gradient).contents(1);
        assert_eq!(made, [0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 0]);
    }

    #[test]
    fn a_file_of_the_first_level_gets_the_others() {
        let given = TexelFill::Bytes(vec![10, 20, 30, 40]);
        let made = texture(TextureFormat::R8Unorm, [2, 2, 1], 2, given).contents(1);
        assert_eq!(made, [10, 20, 30, 40, 25]);
    }

    #[test]
    fn checkers_are_eight_texels_wide() {
        let made = texture(TextureFormat::R8Unorm, [16, 16, 1], 1, TexelFill::Checkers([0.0, 1.0]));
        let made = made.contents(1);
        assert_eq!((made[7], made[8], made[8 * 16], made[8 * 16 + 8]), (0, 255, 255, 0));
    }
}
