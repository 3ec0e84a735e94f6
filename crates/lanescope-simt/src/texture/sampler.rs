//! A sampler's settings, WebGPU's.
//!
//! Input: nothing. Output: plain data and what each setting does to an index or a value
//! (<https://www.w3.org/TR/webgpu/#dictdef-gpusamplerdescriptor>). It reads no texture.

use serde::{Deserialize, Serialize};

/// How neighbouring texels or levels are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// The nearest alone.
    Nearest,
    /// The neighbours, by distance.
    Linear,
}

/// Which texel stands for one outside the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressMode {
    /// The one at the edge.
    ClampToEdge,
    /// The texture is repeated.
    Repeat,
    /// The texture is repeated, every other time reversed.
    MirrorRepeat,
}

/// How a reference is compared with a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Never holds.
    Never,
    /// reference < texel.
    Less,
    /// reference = texel.
    Equal,
    /// reference ≤ texel.
    LessEqual,
    /// reference > texel.
    Greater,
    /// reference ≠ texel.
    NotEqual,
    /// reference ≥ texel.
    GreaterEqual,
    /// Always holds.
    Always,
}

/// A sampler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplerSettings {
    /// Along x, y and z.
    pub address: [AddressMode; 3],
    /// Where a texel covers more than a pixel.
    pub mag: Filter,
    /// Where it covers less.
    pub min: Filter,
    /// Between mip levels.
    pub mipmap: Filter,
    /// The least level of detail.
    pub lod_min: f32,
    /// The greatest.
    pub lod_max: f32,
    /// How it compares; only a `sampler_comparison` does.
    pub compare: Option<Comparison>,
}

impl SamplerSettings {
    /// WebGPU's greatest level of detail where none is given.
    pub const LOD_MAX: f32 = 32.0;

    /// A sampler that filters in one way throughout, clamps to the edge and does not compare.
    pub fn new(filter: Filter) -> Self {
        Self {
            address: [AddressMode::ClampToEdge; 3],
            mag: filter,
            min: filter,
            mipmap: filter,
            lod_min: 0.0,
            lod_max: Self::LOD_MAX,
            compare: None,
        }
    }
}

impl AddressMode {
    /// The index that stands for `index` among `count`.
    pub(super) fn wrap(self, index: i64, count: u32) -> i64 {
        let count = i64::from(count);
        match self {
            Self::ClampToEdge => index.clamp(0, count - 1),
            Self::Repeat => index.rem_euclid(count),
            Self::MirrorRepeat => {
                let index = index.rem_euclid(2 * count);
                index.min(2 * count - 1 - index)
            }
        }
    }
}

impl Comparison {
    /// 1 where it holds.
    pub(super) fn compare(self, reference: f32, texel: f32) -> f32 {
        let holds = match self {
            Self::Never => false,
            Self::Less => reference < texel,
            #[expect(clippy::float_cmp, reason = "that is what the comparison is")]
            Self::Equal => reference == texel,
            Self::LessEqual => reference <= texel,
            Self::Greater => reference > texel,
            #[expect(clippy::float_cmp, reason = "that is what the comparison is")]
            Self::NotEqual => reference != texel,
            Self::GreaterEqual => reference >= texel,
            Self::Always => true,
        };
        if holds { 1.0 } else { 0.0 }
    }
}
