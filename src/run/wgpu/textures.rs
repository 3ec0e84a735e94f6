//! Textures and samplers on a device.
//!
//! Input: a launch's textures and samplers. Output: wgpu's, with their first texels; bytes of texels back;
//! the entries of bind groups. Which are bound where, `run::gpu` says.
//!
//! Texels travel packed, level by level, as [`TextureLayout`] has them. Textures of several samples and
//! 32-bit depth take no copies, so they are refused by name where they would have to hold something.

use wgpu::{
    AddressMode as WgpuAddressMode, BindingType, CommandEncoder, CompareFunction, Extent3d,
    Features, FilterMode, MipmapFilterMode, Origin3d, Sampler, SamplerBindingType,
    SamplerDescriptor, StorageTextureAccess, TexelCopyBufferInfo, TexelCopyBufferLayout,
    TexelCopyTextureInfo, Texture, TextureAspect, TextureDescriptor,
    TextureDimension as WgpuDimension, TextureFormat as WgpuFormat, TextureSampleType,
    TextureUsages, TextureView as WgpuView, TextureViewDescriptor, TextureViewDimension,
};

use super::gpu::WgpuDevice;
use super::memory::WgpuTexture;
use crate::run::gpu::TextureUses;
use crate::run::{RunError, RunErrorKind};
use crate::texture::{
    AddressMode, Comparison, Filter, SampledKind, SamplerSettings, TextureAccess, TextureClass,
    TextureDimension, TextureFormat, TextureLayout, TextureView,
};

/// Rows of a buffer that a texture is copied to begin at multiples of so many bytes.
const ROW_ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// wgpu's word for a format.
pub(super) fn format_of(format: TextureFormat) -> WgpuFormat {
    use TextureFormat as F;
    use WgpuFormat as W;
    match format {
        F::R8Unorm => W::R8Unorm,
        F::R8Snorm => W::R8Snorm,
        F::R8Uint => W::R8Uint,
        F::R8Sint => W::R8Sint,
        F::R16Unorm => W::R16Unorm,
        F::R16Snorm => W::R16Snorm,
        F::R16Uint => W::R16Uint,
        F::R16Sint => W::R16Sint,
        F::R16Float => W::R16Float,
        F::Rg8Unorm => W::Rg8Unorm,
        F::Rg8Snorm => W::Rg8Snorm,
        F::Rg8Uint => W::Rg8Uint,
        F::Rg8Sint => W::Rg8Sint,
        F::R32Uint => W::R32Uint,
        F::R32Sint => W::R32Sint,
        F::R32Float => W::R32Float,
        F::Rg16Unorm => W::Rg16Unorm,
        F::Rg16Snorm => W::Rg16Snorm,
        F::Rg16Uint => W::Rg16Uint,
        F::Rg16Sint => W::Rg16Sint,
        F::Rg16Float => W::Rg16Float,
        F::Rgba8Unorm => W::Rgba8Unorm,
        F::Rgba8UnormSrgb => W::Rgba8UnormSrgb,
        F::Rgba8Snorm => W::Rgba8Snorm,
        F::Rgba8Uint => W::Rgba8Uint,
        F::Rgba8Sint => W::Rgba8Sint,
        F::Bgra8Unorm => W::Bgra8Unorm,
        F::Bgra8UnormSrgb => W::Bgra8UnormSrgb,
        F::Rgb10a2Uint => W::Rgb10a2Uint,
        F::Rgb10a2Unorm => W::Rgb10a2Unorm,
        F::Rg11b10Ufloat => W::Rg11b10Ufloat,
        F::Rgb9e5Ufloat => W::Rgb9e5Ufloat,
        F::R64Uint => W::R64Uint,
        F::Rg32Uint => W::Rg32Uint,
        F::Rg32Sint => W::Rg32Sint,
        F::Rg32Float => W::Rg32Float,
        F::Rgba16Unorm => W::Rgba16Unorm,
        F::Rgba16Snorm => W::Rgba16Snorm,
        F::Rgba16Uint => W::Rgba16Uint,
        F::Rgba16Sint => W::Rgba16Sint,
        F::Rgba16Float => W::Rgba16Float,
        F::Rgba32Uint => W::Rgba32Uint,
        F::Rgba32Sint => W::Rgba32Sint,
        F::Rgba32Float => W::Rgba32Float,
        F::Depth16Unorm => W::Depth16Unorm,
        F::Depth32Float => W::Depth32Float,
    }
}

fn view_dimension(view: TextureView) -> TextureViewDimension {
    match view {
        TextureView::D1 => TextureViewDimension::D1,
        TextureView::D2 => TextureViewDimension::D2,
        TextureView::D2Array => TextureViewDimension::D2Array,
        TextureView::D3 => TextureViewDimension::D3,
        TextureView::Cube => TextureViewDimension::Cube,
        TextureView::CubeArray => TextureViewDimension::CubeArray,
    }
}

fn extent([width, height, depth_or_array_layers]: [u32; 3]) -> Extent3d {
    Extent3d { width, height, depth_or_array_layers }
}

impl WgpuDevice {
    /// What a format can be used for on this device.
    fn format_features(&self, format: TextureFormat) -> wgpu::TextureFormatFeatures {
        let features = self.device.features();
        if features.contains(Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES) {
            self.adapter.get_texture_format_features(format_of(format))
        } else {
            format_of(format).guaranteed_format_features(features)
        }
    }

    /// Makes a texture, all zero.
    pub(super) fn make_texture(
        &self,
        name: &str,
        layout: &TextureLayout,
        uses: TextureUses,
    ) -> Result<WgpuTexture, RunError> {
        let refused = |why: String| {
            let format = layout.format;
            let message = format!("texture `{name}` ({format}): {why}");
            Err(RunError::new(RunErrorKind::Unsupported, message))
        };
        let format = format_of(layout.format);
        let missing = format.required_features() - self.device.features();
        if !missing.is_empty() {
            return refused("this device does not offer the format; choose another".to_owned());
        }
        let mut usage = TextureUsages::COPY_DST | TextureUsages::COPY_SRC;
        usage.set(TextureUsages::TEXTURE_BINDING, uses.sampled);
        usage.set(TextureUsages::STORAGE_BINDING, uses.stored);
        usage.set(TextureUsages::STORAGE_ATOMIC, uses.atomic);
        let offered = self.format_features(layout.format).allowed_usages;
        if layout.samples > 1 {
            return refused(
                "a multisampled texture takes no copies, so that lanescope cannot fill it on a \
                 device; the simulator reads it"
                    .to_owned(),
            );
        }
        for (flag, what) in [
            (TextureUsages::COPY_DST, "takes no copies, so that lanescope cannot fill it"),
            (TextureUsages::TEXTURE_BINDING, "cannot be sampled"),
            (TextureUsages::STORAGE_BINDING, "is no format of storage textures"),
            (TextureUsages::STORAGE_ATOMIC, "has no atomic operations"),
        ] {
            if usage.contains(flag) && !offered.contains(flag) {
                return refused(format!("on this device the format {what}; choose another"));
            }
        }
        if layout.format == TextureFormat::Depth32Float {
            return refused("a copy cannot fill it; use depth16unorm".to_owned());
        }
        let limits = self.device.limits();
        let [x, y, z] = layout.size;
        let (extents, layers) = match layout.dimension {
            TextureDimension::D1 => (limits.max_texture_dimension_1d, 1),
            TextureDimension::D2 => {
                (limits.max_texture_dimension_2d, limits.max_texture_array_layers)
            }
            TextureDimension::D3 => {
                (limits.max_texture_dimension_3d, limits.max_texture_dimension_3d)
            }
        };
        if x > extents || y > extents || z > layers {
            return refused(format!(
                "it has {x}×{y}×{z} texels; this device takes {extents} along a dimension, and {layers} \
                 layers or deep; make it smaller"
            ));
        }
        let texture = self.device.create_texture(&TextureDescriptor {
            label: Some(name),
            size: extent(layout.size),
            mip_level_count: layout.levels,
            sample_count: layout.samples,
            dimension: match layout.dimension {
                TextureDimension::D1 => WgpuDimension::D1,
                TextureDimension::D2 => WgpuDimension::D2,
                TextureDimension::D3 => WgpuDimension::D3,
            },
            format,
            usage,
            view_formats: &[],
        });
        self.check(&format!("making the texture `{name}`"))?;
        Ok(WgpuTexture { texture, layout: layout.clone(), name: name.to_owned(), uses })
    }

    /// Makes a sampler.
    pub(super) fn make_sampler(
        &self,
        name: &str,
        settings: &SamplerSettings,
    ) -> Result<(Sampler, SamplerBindingType), RunError> {
        let address = |mode: AddressMode| match mode {
            AddressMode::ClampToEdge => WgpuAddressMode::ClampToEdge,
            AddressMode::Repeat => WgpuAddressMode::Repeat,
            AddressMode::MirrorRepeat => WgpuAddressMode::MirrorRepeat,
        };
        let filter = |filter: Filter| match filter {
            Filter::Nearest => FilterMode::Nearest,
            Filter::Linear => FilterMode::Linear,
        };
        let compare = |comparison: Comparison| match comparison {
            Comparison::Never => CompareFunction::Never,
            Comparison::Less => CompareFunction::Less,
            Comparison::Equal => CompareFunction::Equal,
            Comparison::LessEqual => CompareFunction::LessEqual,
            Comparison::Greater => CompareFunction::Greater,
            Comparison::NotEqual => CompareFunction::NotEqual,
            Comparison::GreaterEqual => CompareFunction::GreaterEqual,
            Comparison::Always => CompareFunction::Always,
        };
        let SamplerSettings { address: modes, mag, min, mipmap, lod_min, lod_max, compare: by } =
            settings;
        let sampler = self.device.create_sampler(&SamplerDescriptor {
            label: Some(name),
            address_mode_u: address(modes[0]),
            address_mode_v: address(modes[1]),
            address_mode_w: address(modes[2]),
            mag_filter: filter(*mag),
            min_filter: filter(*min),
            mipmap_filter: match mipmap {
                Filter::Nearest => MipmapFilterMode::Nearest,
                Filter::Linear => MipmapFilterMode::Linear,
            },
            lod_min_clamp: *lod_min,
            lod_max_clamp: *lod_max,
            compare: by.map(compare),
            ..SamplerDescriptor::default()
        });
        self.check(&format!("making the sampler `{name}`"))?;
        let kind = match by {
            Some(_) => SamplerBindingType::Comparison,
            None if [mag, min, mipmap].into_iter().all(|f| *f == Filter::Nearest) => {
                SamplerBindingType::NonFiltering
            }
            None => SamplerBindingType::Filtering,
        };
        Ok((sampler, kind))
    }

    /// Sends a texture's texels.
    pub(super) fn write_texels(&self, to: &WgpuTexture, bytes: &[u8]) {
        let layout = &to.layout;
        let mut rest = bytes;
        for level in 0..layout.levels {
            let size = layout.level_size(level);
            let row = size[0] * layout.format.bytes();
            let length = u64::from(row) * u64::from(size[1]) * u64::from(size[2]);
            let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
            let (texels, after) = rest.split_at(length);
            rest = after;
            self.queue.write_texture(
                place(&to.texture, level),
                texels,
                TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: Some(size[1]),
                },
                extent(size),
            );
        }
    }

    /// A texture's texels, packed.
    pub(super) fn read_texels(&self, from: &WgpuTexture) -> Result<Vec<u8>, RunError> {
        let layout = &from.layout;
        let mut bytes = Vec::new();
        for level in 0..layout.levels {
            let size = layout.level_size(level);
            let row = size[0] * layout.format.bytes();
            let padded = row.next_multiple_of(ROW_ALIGNMENT);
            let length = u64::from(padded) * u64::from(size[1]) * u64::from(size[2]);
            let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("texels"),
                size: length,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let mut encoder = self.device.create_command_encoder(&Default::default());
            let to = TexelCopyBufferInfo {
                buffer: &staging,
                layout: TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded),
                    rows_per_image: Some(size[1]),
                },
            };
            encoder.copy_texture_to_buffer(place(&from.texture, level), to, extent(size));
            let doing = format!("reading back the texture `{}`", from.name);
            let rows = self.read_after(encoder, &doing, &staging, (0, length))?;
            for padded_row in rows.chunks_exact(padded as usize) {
                bytes.extend_from_slice(&padded_row[..row as usize]);
            }
        }
        Ok(bytes)
    }

    /// How a texture is bound to a variable.
    pub(super) fn texture_entry(
        &self,
        texture: &WgpuTexture,
        view: TextureView,
        class: TextureClass,
    ) -> BindingType {
        let view_dimension = view_dimension(view);
        match class {
            TextureClass::Sampled { kind, multisampled } => {
                let features = self.format_features(texture.layout.format).flags;
                let filterable = features.contains(wgpu::TextureFormatFeatureFlags::FILTERABLE);
                let depth = texture.layout.format.kind() == SampledKind::Depth;
                let sample_type = match kind {
                    SampledKind::Float => TextureSampleType::Float {
                        filterable: filterable && !depth && !multisampled,
                    },
                    SampledKind::Depth => TextureSampleType::Depth,
                    SampledKind::Uint => TextureSampleType::Uint,
                    SampledKind::Sint => TextureSampleType::Sint,
                };
                BindingType::Texture { sample_type, view_dimension, multisampled }
            }
            TextureClass::Storage { format, access } => BindingType::StorageTexture {
                access: match access {
                    TextureAccess::Read => StorageTextureAccess::ReadOnly,
                    TextureAccess::Write => StorageTextureAccess::WriteOnly,
                    TextureAccess::ReadWrite => StorageTextureAccess::ReadWrite,
                    TextureAccess::Atomic => StorageTextureAccess::Atomic,
                },
                format: format_of(format),
                view_dimension,
            },
        }
    }
}

impl WgpuTexture {
    /// How a variable sees it.
    pub(super) fn view(&self, view: TextureView, class: TextureClass) -> WgpuView {
        let storage = matches!(class, TextureClass::Storage { .. });
        self.texture.create_view(&TextureViewDescriptor {
            label: Some(&self.name),
            dimension: Some(view_dimension(view)),
            usage: Some(if storage {
                self.texture.usage()
                    & (TextureUsages::STORAGE_BINDING | TextureUsages::STORAGE_ATOMIC)
            } else {
                TextureUsages::TEXTURE_BINDING
            }),
            // A storage texture is one level.
            mip_level_count: storage.then_some(1),
            ..TextureViewDescriptor::default()
        })
    }

    /// Writes down a copy of all its texels.
    pub(super) fn copy_to(&self, to: &Self, encoder: &mut CommandEncoder) {
        for level in 0..self.layout.levels {
            encoder.copy_texture_to_texture(
                place(&self.texture, level),
                place(&to.texture, level),
                extent(self.layout.level_size(level)),
            );
        }
    }
}

/// All of a level.
fn place(texture: &Texture, mip_level: u32) -> TexelCopyTextureInfo<'_> {
    TexelCopyTextureInfo { texture, mip_level, origin: Origin3d::ZERO, aspect: TextureAspect::All }
}
