//! Filtered reads, gathering and levels of detail.
//!
//! Input: a texture's layout, a way to its texels, a sampler and a place. Output: components. The
//! formulas are those of Vulkan's chapter "Image Operations", which WebGPU's devices follow
//! (<https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#textures>): texel i covers
//! places from i to i + 1 of a texture as many long; a linear filter weighs texels by the distance of
//! their middles, in `f32`. It says nothing of precision: devices weigh with 8 bits or more.
//!
//! Anisotropic filtering is not modelled: a gradient gives the level of detail of its longer side.

use super::cube;
use super::format::SampledKind;
use super::layout::{TextureLayout, TextureView};
use super::sampler::{AddressMode, Filter, SamplerSettings};

/// A texture that is sampled.
#[derive(Clone, Copy)]
pub struct Sampled<'a> {
    /// Its layout.
    pub layout: &'a TextureLayout,
    /// How the shader sees it.
    pub view: TextureView,
    /// Gives the components of the texel of a number, see [`TextureLayout::index`].
    pub texel: &'a dyn Fn(usize) -> [u32; 4],
}

impl std::fmt::Debug for Sampled<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sampled").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// Which level of detail is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelOfDetail {
    /// This one.
    Exact(f32),
    /// The one that follows from how the place changes along x and y of a picture.
    Gradient([f32; 3], [f32; 3]),
}

/// Where and how a texture is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplePoint {
    /// The place, from 0 to 1; of a cube the direction. Components that a view lacks mean nothing.
    pub at: [f32; 3],
    /// The layer; of a cube array the cube.
    pub layer: i64,
    /// Texels to go on from there.
    pub offset: [i32; 3],
    /// The level of detail, before the sampler clamps it.
    pub level: LevelOfDetail,
    /// What texels are compared with.
    pub reference: Option<f32>,
    /// Whether the place is clamped to the middles of the texels at the edges first.
    pub clamp_to_edge: bool,
}

/// A texel of a footprint.
#[derive(Clone, Copy, Debug)]
enum Corner {
    /// Its number.
    One(usize),
    /// A corner of a cube, where no texel is: the three others of the footprint.
    None,
}

/// The texels that a read of one level combines.
struct Footprint {
    /// Along x fastest; as many as 2^dimensions, of which the first `count` are there.
    corners: [Corner; 8],
    weights: [f32; 8],
    count: usize,
}

impl Footprint {
    fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }
}

impl Sampled<'_> {
    /// Reads with a filter: four components, of a depth texture or a comparison one and three zeros.
    pub fn sample(&self, sampler: &SamplerSettings, point: &SamplePoint) -> [f32; 4] {
        let lod = match point.level {
            LevelOfDetail::Exact(lod) => lod,
            LevelOfDetail::Gradient(x, y) => self.lod(point.at, x, y),
        };
        let lod = if lod.is_nan() { 0.0 } else { lod };
        let lod = lod.max(sampler.lod_min).min(sampler.lod_max.max(sampler.lod_min));
        let filter = if lod <= 0.0 { sampler.mag } else { sampler.min };
        #[expect(clippy::cast_precision_loss, reason = "levels are few")]
        let last = (self.layout.levels - 1) as f32;
        let lod = lod.clamp(0.0, last);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the last level"
        )]
        let level = |lod: f32| lod as u32;
        match sampler.mipmap {
            // The nearest level; of two equally near ones the more detailed.
            Filter::Nearest => {
                let nearest = ((lod + 0.5).ceil() - 1.0).clamp(0.0, last);
                self.read_filtered(sampler, point, filter, level(nearest))
            }
            Filter::Linear => {
                let fine = lod.floor();
                let near = self.read_filtered(sampler, point, filter, level(fine));
                let part = lod - fine;
                if part == 0.0 {
                    return near;
                }
                let far = self.read_filtered(sampler, point, filter, level((fine + 1.0).min(last)));
                std::array::from_fn(|k| near[k] + (far[k] - near[k]) * part)
            }
        }
    }

    /// Reads one component, or one comparison, of each of the four texels that a linear filter would
    /// combine: those at (0, 1), (1, 1), (1, 0), (0, 0).
    pub fn gather(
        &self,
        sampler: &SamplerSettings,
        point: &SamplePoint,
        component: usize,
    ) -> [u32; 4] {
        let footprint = self.footprint(sampler, point, Filter::Linear, 0);
        [2, 3, 1, 0].map(|corner| match footprint.corners[corner] {
            Corner::One(texel) => self.component(sampler, point, texel, component),
            Corner::None => {
                // The average of the others, as for a filter; integers take the first of them.
                let others: Vec<u32> = footprint
                    .corners()
                    .iter()
                    .filter_map(|corner| match corner {
                        Corner::One(texel) => {
                            Some(self.component(sampler, point, *texel, component))
                        }
                        Corner::None => None,
                    })
                    .collect();
                match self.layout.format.kind() {
                    SampledKind::Uint | SampledKind::Sint => others[0],
                    SampledKind::Float | SampledKind::Depth => {
                        let sum: f32 = others.iter().map(|bits| f32::from_bits(*bits)).sum();
                        (sum / 3.0).to_bits()
                    }
                }
            }
        })
    }

    /// The bits of a texel's component, compared where there is a reference.
    fn component(
        &self,
        sampler: &SamplerSettings,
        point: &SamplePoint,
        texel: usize,
        component: usize,
    ) -> u32 {
        let bits = (self.texel)(texel)[component];
        match (point.reference, sampler.compare) {
            (Some(reference), Some(compare)) => {
                // What is compared with fixed-point depth is clamped to its range.
                let [low, high] = self.layout.format.range(0);
                #[expect(clippy::cast_possible_truncation, reason = "0, 1 or infinite")]
                let reference = reference.clamp(low as f32, high as f32);
                compare.compare(reference, f32::from_bits(bits)).to_bits()
            }
            _ => bits,
        }
    }

    /// One level's texels, combined.
    fn read_filtered(
        &self,
        sampler: &SamplerSettings,
        point: &SamplePoint,
        filter: Filter,
        level: u32,
    ) -> [f32; 4] {
        let footprint = self.footprint(sampler, point, filter, level);
        let texel = |number: usize| -> [f32; 4] {
            if point.reference.is_some() {
                let compared = self.component(sampler, point, number, 0);
                return [f32::from_bits(compared), 0.0, 0.0, 0.0];
            }
            (self.texel)(number).map(f32::from_bits)
        };
        let mut known = [None; 8];
        for (known, corner) in known.iter_mut().zip(footprint.corners()) {
            if let Corner::One(number) = corner {
                *known = Some(texel(*number));
            }
        }
        if let (1, Some(texel)) = (footprint.count, known[0]) {
            return texel;
        }
        let mut sum = [0.0; 4];
        for (found, weight) in known.iter().zip(footprint.weights).take(footprint.count) {
            for (k, part) in sum.iter_mut().enumerate() {
                let value = found.map_or_else(
                    || known.iter().flatten().map(|other| other[k]).sum::<f32>() / 3.0,
                    |found| found[k],
                );
                *part += value * weight;
            }
        }
        sum
    }

    /// The texels of a level that a read combines.
    fn footprint(
        &self,
        sampler: &SamplerSettings,
        point: &SamplePoint,
        filter: Filter,
        level: u32,
    ) -> Footprint {
        let size = self.layout.level_size(level);
        let cube = self.view.is_cube();
        let (face, at) = if cube {
            let (face, [s, t]) = cube::face(point.at);
            (face, [s, t, 0.0])
        } else {
            (0, point.at)
        };
        let dimensions = match self.view {
            TextureView::D1 => 1,
            TextureView::D3 => 3,
            TextureView::D2 | TextureView::D2Array | TextureView::Cube | TextureView::CubeArray => {
                2
            }
        };
        let layer = self.layer(point.layer, face);
        let (mut first, mut part) = ([0_i64; 3], [0_f32; 3]);
        for k in 0..dimensions {
            #[expect(clippy::cast_precision_loss, reason = "extents are below 2^24")]
            let extent = size[k] as f32;
            let mut place = at[k];
            if point.clamp_to_edge {
                place = place.clamp(0.5 / extent, 1.0 - 0.5 / extent);
            }
            #[expect(clippy::cast_precision_loss, reason = "WGSL's offsets are from −8 to 7")]
            let place = place * extent + point.offset[k] as f32;
            let place = if filter == Filter::Linear { place - 0.5 } else { place };
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let texel = place.floor() as i64;
            // Halved, so that a neighbour of the greatest number is one.
            first[k] = texel.clamp(i64::MIN / 2, i64::MAX / 2);
            part[k] = place - place.floor();
            if !part[k].is_finite() {
                part[k] = 0.0;
            }
        }
        let linear = filter == Filter::Linear;
        let count = if linear { 1 << dimensions } else { 1_usize };
        let (mut corners, mut weights) = ([Corner::None; 8], [0.0; 8]);
        for corner in 0..count {
            let mut texel = [0_i64; 3];
            let mut weight = 1.0;
            for k in 0..dimensions {
                let far = (corner >> k) & 1 == 1;
                texel[k] = first[k] + i64::from(far);
                weight *= if !linear {
                    1.0
                } else if far {
                    part[k]
                } else {
                    1.0 - part[k]
                };
            }
            weights[corner] = weight;
            corners[corner] = self.corner(sampler, level, texel, (face, layer), linear);
        }
        Footprint { corners, weights, count }
    }

    /// The texel at an index that may lie outside.
    fn corner(
        &self,
        sampler: &SamplerSettings,
        level: u32,
        mut texel: [i64; 3],
        (face, layer): (u32, i64),
        linear: bool,
    ) -> Corner {
        let size = self.layout.level_size(level);
        if self.view.is_cube() {
            let inside = |at: i64| at.clamp(-1, i64::from(size[0]));
            let at = if linear {
                [inside(texel[0]), inside(texel[1])]
            } else {
                [0, 1].map(|k| AddressMode::ClampToEdge.wrap(texel[k], size[0]))
            };
            let Some((beyond, [x, y])) = cube::beyond(face, at, size[0]) else {
                return Corner::None;
            };
            texel = [x, y, layer - i64::from(face) + i64::from(beyond)];
        } else {
            let wrapped = |k: usize| sampler.address[k].wrap(texel[k], size[k]);
            texel = match self.view {
                TextureView::D1 => [wrapped(0), 0, 0],
                TextureView::D3 => [wrapped(0), wrapped(1), wrapped(2)],
                TextureView::D2
                | TextureView::D2Array
                | TextureView::Cube
                | TextureView::CubeArray => [wrapped(0), wrapped(1), layer],
            };
        }
        self.layout.index(level, texel, 0).map_or(Corner::None, Corner::One)
    }

    /// The layer that is read, clamped to those that are there.
    fn layer(&self, asked: i64, face: u32) -> i64 {
        let layers = i64::from(self.layout.size[2]);
        match self.view {
            TextureView::D2Array => asked.clamp(0, layers - 1),
            TextureView::Cube => i64::from(face),
            TextureView::CubeArray => asked.clamp(0, layers / 6 - 1) * 6 + i64::from(face),
            TextureView::D1 | TextureView::D2 | TextureView::D3 => 0,
        }
    }

    /// The level of detail of a gradient: the logarithm of the longer side in texels.
    fn lod(&self, at: [f32; 3], x: [f32; 3], y: [f32; 3]) -> f32 {
        let size = self.layout.size;
        let length = |side: [f32; 3]| {
            let [s, t, r] = if self.view.is_cube() {
                let [s, t] = cube::change(at, side);
                [s, t, 0.0]
            } else {
                side
            };
            #[expect(clippy::cast_precision_loss, reason = "extents are below 2^24")]
            let texels = |part: f32, extent: u32| part * extent as f32;
            let used = match self.view {
                TextureView::D1 => [texels(s, size[0]), 0.0, 0.0],
                TextureView::D3 => [texels(s, size[0]), texels(t, size[1]), texels(r, size[2])],
                TextureView::D2
                | TextureView::D2Array
                | TextureView::Cube
                | TextureView::CubeArray => [texels(s, size[0]), texels(t, size[1]), 0.0],
            };
            used.iter().map(|part| part * part).sum::<f32>().sqrt()
        };
        length(x).max(length(y)).log2()
    }
}
