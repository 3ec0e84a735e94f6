//! How a texture extends and where its texels lie; what a shader's variable takes of it.
//!
//! Input: nothing. Output: plain data. Texels lie level by level; in a level by layer or depth, row, column,
//! sample. It holds no contents.

use serde::{Deserialize, Serialize};

use super::format::{SampledKind, TextureFormat};

/// Bytes of a block of texels that lie together.
const TILE_BYTES: u64 = 128;

/// Bytes of a part of it.
const SECTOR_BYTES: u64 = 32;

/// Along how many dimensions a texture extends; a cube is a 2D texture of six layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextureDimension {
    /// Texels in a row.
    #[serde(rename = "1d")]
    D1,
    /// Rows and columns, in layers.
    #[serde(rename = "2d")]
    D2,
    /// Rows, columns and depth.
    #[serde(rename = "3d")]
    D3,
}

/// A texture's format and extent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextureLayout {
    /// Its format.
    pub format: TextureFormat,
    /// Its dimension.
    pub dimension: TextureDimension,
    /// Texels along x, y and z; along z the layers of a 2D texture. None is 0.
    pub size: [u32; 3],
    /// Mip levels, at least 1.
    pub levels: u32,
    /// Samples a texel, at least 1.
    pub samples: u32,
}

/// How a shader sees a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextureView {
    /// `texture_1d`.
    #[serde(rename = "1d")]
    D1,
    /// `texture_2d`.
    #[serde(rename = "2d")]
    D2,
    /// `texture_2d_array`.
    #[serde(rename = "2d-array")]
    D2Array,
    /// `texture_3d`.
    #[serde(rename = "3d")]
    D3,
    /// `texture_cube`.
    #[serde(rename = "cube")]
    Cube,
    /// `texture_cube_array`.
    #[serde(rename = "cube-array")]
    CubeArray,
}

/// How a shader may access a storage texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureAccess {
    /// `read`.
    Read,
    /// `write`.
    Write,
    /// `read_write`.
    ReadWrite,
    /// `atomic`.
    Atomic,
}

/// What a shader's variable takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureClass {
    /// A texture of one mip level or more, that is only read.
    Sampled {
        /// What its texels hold.
        kind: SampledKind,
        /// Whether a texel has several samples.
        multisampled: bool,
    },
    /// A level of a texture of this format.
    Storage {
        /// The format.
        format: TextureFormat,
        /// How it is accessed.
        access: TextureAccess,
    },
}

impl TextureView {
    /// The dimension of the textures that it shows.
    pub fn dimension(self) -> TextureDimension {
        match self {
            Self::D1 => TextureDimension::D1,
            Self::D2 | Self::D2Array | Self::Cube | Self::CubeArray => TextureDimension::D2,
            Self::D3 => TextureDimension::D3,
        }
    }

    /// Whether it has layers that an index chooses.
    pub fn is_array(self) -> bool {
        matches!(self, Self::D2Array | Self::CubeArray)
    }

    /// Whether it has six faces.
    pub fn is_cube(self) -> bool {
        matches!(self, Self::Cube | Self::CubeArray)
    }

    /// Its name in WebGPU, such as `2d-array`.
    pub fn name(self) -> &'static str {
        match self {
            Self::D1 => "1d",
            Self::D2 => "2d",
            Self::D2Array => "2d-array",
            Self::D3 => "3d",
            Self::Cube => "cube",
            Self::CubeArray => "cube-array",
        }
    }
}

impl TextureLayout {
    /// The texels of a level along x, y and z; layers are not halved.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        let halved = |extent: u32| extent.checked_shr(level).unwrap_or(0).max(1);
        let [x, y, z] = self.size;
        match self.dimension {
            TextureDimension::D1 => [halved(x), 1, 1],
            TextureDimension::D2 => [halved(x), halved(y), z],
            TextureDimension::D3 => [halved(x), halved(y), halved(z)],
        }
    }

    /// The levels of a full chain, down to a single texel.
    pub fn levels_max(&self) -> u32 {
        let [x, y, z] = self.size;
        let most = match self.dimension {
            TextureDimension::D1 => 1,
            TextureDimension::D2 => x.max(y),
            TextureDimension::D3 => x.max(y).max(z),
        };
        most.max(1).ilog2() + 1
    }

    /// The texels of a level, samples counted.
    pub fn level_texels(&self, level: u32) -> u64 {
        let texels = self.level_size(level).into_iter().map(u64::from).product::<u64>();
        texels * u64::from(self.samples)
    }

    /// The texels of all levels, samples counted.
    pub fn texels(&self) -> u64 {
        (0..self.levels).map(|level| self.level_texels(level)).sum()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.texels() * u64::from(self.format.bytes())
    }

    /// The number of a texel among all; `None` if it does not exist.
    pub fn index(&self, level: u32, at: [i64; 3], sample: u32) -> Option<usize> {
        if level >= self.levels || sample >= self.samples {
            return None;
        }
        let size = self.level_size(level);
        let inside = at.iter().zip(size).all(|(&at, size)| (0..i64::from(size)).contains(&at));
        if !inside {
            return None;
        }
        let before: u64 = (0..level).map(|level| self.level_texels(level)).sum();
        let [x, y, z] = at.map(i64::cast_unsigned);
        let [width, height, _] = size.map(u64::from);
        let texel = (z * height + y) * width + x;
        usize::try_from(before + texel * u64::from(self.samples) + u64::from(sample)).ok()
    }

    /// Where a texel lies in a model of tiles, in bytes: a line of 128 bytes holds a block of texels, of four
    /// sectors of 32 bytes, each as square as can be; blocks go in rows, levels and layers one after the
    /// other. GPUs keep textures in some such order, each in its own. Samples are layers of their own.
    pub fn tiled_offset(&self, texel: usize) -> u64 {
        let bytes = u64::from(self.format.bytes());
        let ([tile_x, tile_y], [sector_x, sector_y]) = match bytes {
            1 => ([16, 8], [8, 4]),
            2 => ([8, 8], [4, 4]),
            4 => ([8, 4], [4, 2]),
            8 => ([4, 4], [2, 2]),
            _ => ([4, 2], [2, 1]),
        };
        let mut rest = texel as u64;
        let mut before = 0;
        for level in 0..self.levels {
            let [width, height, depth] = self.level_size(level).map(u64::from);
            let samples = u64::from(self.samples);
            let tiles = [width.div_ceil(tile_x), height.div_ceil(tile_y)];
            let slice = tiles[0] * tiles[1] * TILE_BYTES;
            if rest >= width * height * depth * samples {
                rest -= width * height * depth * samples;
                before += slice * depth * samples;
                continue;
            }
            let (sample, at) = (rest % samples, rest / samples);
            let (x, y, z) = (at % width, at / width % height, at / width / height);
            let tile = y / tile_y * tiles[0] + x / tile_x;
            let (x, y) = (x % tile_x, y % tile_y);
            let sector = y / sector_y * (tile_x / sector_x) + x / sector_x;
            let within = y % sector_y * sector_x + x % sector_x;
            return before
                + slice * (z * samples + sample)
                + tile * TILE_BYTES
                + sector * SECTOR_BYTES
                + within * bytes;
        }
        before
    }

    /// Why a variable cannot be bound to it, in words; `None` if it can.
    pub fn unfit(&self, view: TextureView, class: TextureClass) -> Option<String> {
        if self.dimension != view.dimension() {
            return Some(format!("the variable is a {} texture", view.name()));
        }
        let [width, height, layers] = self.size;
        let sixes = if view == TextureView::Cube { layers == 6 } else { layers % 6 == 0 };
        if view.is_cube() && !(width == height && sixes) {
            return Some("a cube has square faces, six of them".to_owned());
        }
        if view == TextureView::D2 && layers != 1 {
            return Some(format!("the variable has one layer, and the texture {layers}"));
        }
        match class {
            TextureClass::Sampled { kind, multisampled } => {
                let held = self.format.kind();
                // A depth texture may be bound to a variable of floats, not the other way round.
                let fits = kind == held || (kind, held) == (SampledKind::Float, SampledKind::Depth);
                if !fits {
                    let format = self.format;
                    return Some(format!("the variable holds {}, not {format}", kind.words()));
                }
                (multisampled != (self.samples > 1)).then(|| match multisampled {
                    true => "the variable is multisampled: `samples = 4`".to_owned(),
                    false => "the variable is not multisampled".to_owned(),
                })
            }
            TextureClass::Storage { format, .. } if format != self.format => {
                Some(format!("the variable is of {format}"))
            }
            TextureClass::Storage { .. } if self.samples > 1 => {
                Some("storage textures are not multisampled".to_owned())
            }
            TextureClass::Storage { .. } => None,
        }
    }
}

impl SampledKind {
    /// What it is called in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::Float => "floats (f32)",
            Self::Uint => "unsigned integers (u32)",
            Self::Sint => "signed integers (i32)",
            Self::Depth => "depth",
        }
    }
}
