//! What a launch file says of textures and samplers; the types' documentation is the format's
//! specification.
//!
//! Input: the file's tables. Output: plain data. What it means for one choice of parameters is worked
//! out in `textures`.

use serde::Deserialize;

use super::condition::Condition;
use super::expression::Formula;
use super::format::FileDescription;
use crate::texture::{AddressMode, Comparison, Filter, TextureFormat};

/// A texture. What is left out follows from the shader.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureDescription {
    /// The shader's variable that it is bound to.
    #[serde(default)]
    pub name: String,
    /// In place of a name, with `binding`: the bind group of the variable.
    pub group: Option<u32>,
    /// In place of a name, with `group`: the binding of the variable in its group.
    pub binding: Option<u32>,
    /// The format of its texels, by WebGPU's name, such as `rgba8unorm`; of a storage texture the
    /// shader's.
    pub format: Option<TextureFormat>,
    /// Texels along x, y and z, a formula each: as many as the texture has dimensions.
    pub size: Option<Vec<Formula>>,
    /// Layers of an array, cubes of an array of cubes.
    pub layers: Option<Formula>,
    /// Mip levels, or `"full"` for a chain down to one texel.
    pub mip_levels: Option<Formula>,
    /// Samples of a texel: 4 for a multisampled texture.
    pub samples: Option<u32>,
    /// What it holds at first.
    pub fill: Option<TexelFillDescription>,
    /// Whether its texels are compared between devices; a texture that the shader writes always is.
    #[serde(default)]
    pub output: bool,
    /// What it held after the program's own dispatch: a file, raw texels. What a device wrote is compared
    /// with it.
    pub after: Option<FileDescription>,
    /// Whether there is such a texture: a condition on a parameter.
    #[serde(default = "Condition::always")]
    pub when: Condition,
}

impl TextureDescription {
    /// A description of which everything but the name is left out.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: None,
            binding: None,
            after: None,
            format: None,
            size: None,
            layers: None,
            mip_levels: None,
            samples: None,
            fill: None,
            output: false,
            when: Condition::always(),
        }
    }
}

/// How a texture is filled. Levels beyond the first are each the means of the one before; of integers one
/// texel of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum TexelFillDescription {
    /// Zeros.
    Zero,
    /// Smooth random values from the first to the second.
    Noise([Formula; 2]),
    /// Independent random values from the first, included, to the second, left out.
    Uniform([Formula; 2]),
    /// From the first to the second along x in red, along y in green, along z in blue; alpha is the second.
    Gradient([Formula; 2]),
    /// Squares of 8 × 8 texels, the first and the second in turn.
    Checkers([Formula; 2]),
    /// A file beside the launch file: `.png`; `.npy`, whose last dimension may be components; or raw texels
    /// of the format, level by level.
    File(FileDescription),
}

/// A sampler. What is left out is linear, clamped to the edge and unlimited.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplerDescription {
    /// The shader's variable that it is bound to.
    #[serde(default)]
    pub name: String,
    /// In place of a name, with `binding`: the bind group of the variable.
    pub group: Option<u32>,
    /// In place of a name, with `group`: the binding of the variable in its group.
    pub binding: Option<u32>,
    /// `"linear"` or `"nearest"`, wherever nothing else is said below.
    pub filter: Option<Filter>,
    /// Where a texel covers more than a pixel.
    pub mag_filter: Option<Filter>,
    /// Where it covers less.
    pub min_filter: Option<Filter>,
    /// Between mip levels.
    pub mipmap_filter: Option<Filter>,
    /// `"clamp-to-edge"`, `"repeat"` or `"mirror-repeat"`: for all, or along x, y and z.
    pub address: Option<AddressDescription>,
    /// The least level of detail.
    pub lod_min: Option<f32>,
    /// The greatest level of detail.
    pub lod_max: Option<f32>,
    /// How a `sampler_comparison` compares, such as `"less"`.
    pub compare: Option<Comparison>,
}

/// Which texel stands for one outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "`address` is \"clamp-to-edge\", \"repeat\" or \"mirror-repeat\", or three of them"
)]
pub enum AddressDescription {
    /// Along all dimensions.
    Same(AddressMode),
    /// Along x, y and z.
    Each([AddressMode; 3]),
}
