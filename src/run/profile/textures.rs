//! Textures and samplers that a launch file leaves out, in part or whole, and the files that fill them.
//!
//! Input: what entry points bind, the launch file's description, the bytes of files. Output: the
//! description with everything filled in, and texels in a texture's format. It opens no file.
//!
//! # What follows from the shader
//!
//! - A storage texture has the shader's format. Floats are `rgba8unorm`, integers `rgba32uint` or
//!   `rgba32sint`, depth `depth16unorm`: each can be filled on every device.
//! - A texture has as many texels as its dispatch has invocations, where that binds a storage texture and
//!   its workgroups extend along as many dimensions; else 256 × 256, 64 × 64 × 64, 8,192 in a row. A row has
//!   no more than that either way, and one level: WebGPU promises no more.
//!   An array has 4 layers, or as many as invocations along z, up to 256. A cube has six square faces, an array
//!   of cubes 4 of them: 24 layers.
//! - There is a full chain of mip levels where the shader asks for one beyond the first.
//! - What is only written begins as zeros. Floats are smooth noise from 0 to 1, integers random below n.
//! - Samplers are linear and clamp; nearest where they read depth or integers, which WebGPU does not
//!   filter. A comparison is `less`.

use crate::kernel::Description;
use crate::kernel::format::{Formula, WorkgroupsDescription};
use crate::kernel::texture_description::{
    SamplerDescription, TexelFillDescription, TextureDescription,
};
use crate::program::{BoundSampler, BoundTexture, Interface};
use crate::texture::{
    Comparison, Filter, SampledKind, TextureAccess, TextureClass, TextureDimension, TextureFormat,
    TextureView,
};

/// The most texels of a row: what every device of WebGPU has where nothing more is asked for, the default of
/// `maxTextureDimension1D` (<https://www.w3.org/TR/webgpu/#limits>).
const EXTENT_1D: i64 = 8192;

/// Texels along x and y where nothing says it.
const EXTENT_2D: i64 = 256;

/// Texels along x, y and z of a 3D texture where nothing says it.
const EXTENT_3D: i64 = 64;

/// Layers of an array where nothing says it, and cubes of an array of cubes, each of which has six faces.
const LAYERS: i64 = 4;

/// The most layers that a grid gives an array: the default of `maxTextureArrayLayers`, in the same place.
const LAYERS_MAX: i64 = 256;

/// Samples of a multisampled texture: what every device has.
const SAMPLES: u32 = 4;

/// The textures of all entry points, each once.
pub(super) fn textures(interfaces: &[Interface]) -> Vec<BoundTexture> {
    let mut all: Vec<BoundTexture> = Vec::new();
    for texture in interfaces.iter().flat_map(|interface| &interface.textures) {
        match all.iter_mut().find(|known| known.name == texture.name) {
            Some(known) => {
                known.written |= texture.written;
                known.levels |= texture.levels;
                known.filtered |= texture.filtered;
            }
            None => all.push(texture.clone()),
        }
    }
    all
}

/// The samplers of all entry points, each once.
pub(super) fn samplers(interfaces: &[Interface]) -> Vec<BoundSampler> {
    let mut all: Vec<BoundSampler> = Vec::new();
    for sampler in interfaces.iter().flat_map(|interface| &interface.samplers) {
        match all.iter_mut().find(|known| known.name == sampler.name) {
            Some(known) => known.filters &= sampler.filters,
            None => all.push(sampler.clone()),
        }
    }
    all
}

/// Describes what the launch file leaves out of textures and samplers; its dispatches are filled in
/// already.
pub(super) fn fill_in(description: &mut Description, interfaces: &[Interface]) {
    for bound in textures(interfaces) {
        if !description.textures.iter().any(|texture| texture.name == bound.name) {
            description.textures.push(TextureDescription::new(&bound.name));
        }
        let grid = grid(description, interfaces, &bound);
        let described = description.textures.iter_mut().find(|texture| texture.name == bound.name);
        if let Some(texture) = described {
            complete(texture, &bound, grid);
        }
    }
    for bound in samplers(interfaces) {
        if !description.samplers.iter().any(|sampler| sampler.name == bound.name) {
            let name = bound.name.clone();
            description.samplers.push(SamplerDescription { name, ..SamplerDescription::default() });
        }
        let described = description.samplers.iter_mut().find(|sampler| sampler.name == bound.name);
        if let Some(sampler) = described {
            let usual = if bound.filters { Filter::Linear } else { Filter::Nearest };
            sampler.filter.get_or_insert(usual);
            if bound.comparison {
                sampler.compare.get_or_insert(Comparison::Less);
            }
        }
    }
}

fn complete(texture: &mut TextureDescription, bound: &BoundTexture, grid: Option<[Formula; 3]>) {
    let kind = match bound.class {
        TextureClass::Storage { format, .. } => {
            texture.format.get_or_insert(format);
            format.kind()
        }
        TextureClass::Sampled { kind, multisampled } => {
            texture.format.get_or_insert(match (kind, multisampled) {
                (SampledKind::Float, _) => TextureFormat::Rgba8Unorm,
                (SampledKind::Depth, _) => TextureFormat::Depth16Unorm,
                // No device has several samples of 128 bits.
                (SampledKind::Uint, true) => TextureFormat::Rgba16Uint,
                (SampledKind::Sint, true) => TextureFormat::Rgba16Sint,
                (SampledKind::Uint, false) => TextureFormat::Rgba32Uint,
                (SampledKind::Sint, false) => TextureFormat::Rgba32Sint,
            });
            if multisampled {
                texture.samples.get_or_insert(SAMPLES);
            }
            kind
        }
    };
    let whole = Formula::Integer;
    let layers = layers(bound.view, grid.as_ref().map(|[_, _, z]| z));
    let [x, y, z] = grid.unwrap_or_else(|| match bound.view.dimension() {
        TextureDimension::D1 => [EXTENT_1D, 1, 1].map(whole),
        TextureDimension::D2 => [EXTENT_2D, EXTENT_2D, 1].map(whole),
        TextureDimension::D3 => [EXTENT_3D; 3].map(whole),
    });
    texture.size.get_or_insert_with(|| match bound.view {
        TextureView::D1 => vec![at_most(x, EXTENT_1D)],
        TextureView::Cube | TextureView::CubeArray => vec![x.clone(), x],
        TextureView::D2 | TextureView::D2Array => vec![x, y],
        TextureView::D3 => vec![x, y, z],
    });
    if bound.view.is_array() {
        texture.layers.get_or_insert(layers);
    }
    if bound.levels && bound.view != TextureView::D1 {
        texture.mip_levels.get_or_insert_with(|| Formula::Text("full".to_owned()));
    }
    let only_written = matches!(
        bound.class,
        TextureClass::Storage { access: TextureAccess::Write | TextureAccess::Atomic, .. }
    );
    texture.fill.get_or_insert_with(|| match kind {
        _ if only_written => TexelFillDescription::Zero,
        SampledKind::Float | SampledKind::Depth => TexelFillDescription::Noise([0, 1].map(whole)),
        SampledKind::Uint | SampledKind::Sint => {
            let format = texture.format.unwrap_or(TextureFormat::R32Uint);
            // What a channel does not hold cannot be asked for.
            let [_, greatest] = format.range(0);
            let below = if greatest < f64::from(1_u32 << 31) - 1.0 {
                Formula::Text(format!("min(n, {})", greatest + 1.0))
            } else {
                Formula::Text("n".to_owned())
            };
            TexelFillDescription::Uniform([whole(0), below])
        }
    });
}

/// The layers of an array, or the cubes of an array of cubes, beside a grid that is so deep.
fn layers(view: TextureView, depth: Option<&Formula>) -> Formula {
    match depth {
        Some(depth) if !view.is_cube() && *depth != Formula::Integer(1) => {
            at_most(depth.clone(), LAYERS_MAX)
        }
        Some(_) | None => Formula::Integer(LAYERS),
    }
}

/// An extent, or `most` where it is more.
fn at_most(extent: Formula, most: i64) -> Formula {
    match extent {
        Formula::Integer(extent) => Formula::Integer(extent.min(most)),
        Formula::Real(_) | Formula::Text(_) => Formula::Text(format!("min({extent}, {most})")),
    }
}

/// The invocations of the dispatch that binds a texture, along x, y and z, where it binds a storage texture
/// and extends along as many dimensions as the texture.
fn grid(
    description: &Description,
    interfaces: &[Interface],
    bound: &BoundTexture,
) -> Option<[Formula; 3]> {
    let wanted = match bound.view.dimension() {
        TextureDimension::D1 => 1,
        TextureDimension::D2 => 2,
        TextureDimension::D3 => 3,
    };
    let stores = |interface: &Interface| {
        let storage = |t: &BoundTexture| matches!(t.class, TextureClass::Storage { .. });
        interface.textures.iter().any(|texture| texture.name == bound.name)
            && interface.textures.iter().any(storage)
            && interface.dimensions() >= wanted
    };
    let interface = interfaces.iter().find(|interface| stores(interface))?;
    let of_entry = |name: &String| *name == interface.entry_point;
    let dispatch = description.dispatches.iter().find(|d| of_entry(&d.entry_point))?;
    let sizes = interface.workgroup_size;
    let times = |count: &Formula, size: u32| match count {
        Formula::Integer(count) => Formula::Integer(count.saturating_mul(i64::from(size))),
        Formula::Real(_) | Formula::Text(_) if size == 1 => count.clone(),
        Formula::Real(_) | Formula::Text(_) => Formula::Text(format!("{size} * ({count})")),
    };
    match dispatch.workgroups.as_ref()? {
        WorkgroupsDescription::Grid([x, y, z]) => {
            Some([times(x, sizes[0]), times(y, sizes[1]), times(z, sizes[2])])
        }
        WorkgroupsDescription::Count(count) if wanted == 1 => {
            Some([times(count, sizes[0]), Formula::Integer(1), Formula::Integer(1)])
        }
        WorkgroupsDescription::Count(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProfileRequest, prepare, template::template};
    use super::*;
    use crate::kernel::{Launch, TexelFill};
    use crate::texture::AddressMode;

    const FILTER: &str = "@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var ids: texture_2d<u32>;
@group(0) @binding(2) var shadows: texture_depth_2d;
@group(0) @binding(3) var s: sampler;
@group(0) @binding(4) var c: sampler_comparison;
@group(0) @binding(5) var picture: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let id_there = textureLoad(ids, id.xy, 0).x;
    let color = textureSampleLevel(photo, s, vec2<f32>(id.xy) / 64.0, f32(id_there % 4u));
    let lit = textureSampleCompareLevel(shadows, c, vec2<f32>(id.xy) / 64.0, 0.5);
    textureStore(picture, id.xy, color * lit);
}";

    fn request(source: &str, description: &str) -> ProfileRequest {
        let description = Description::parse_launch_file("launch.toml", description).unwrap();
        ProfileRequest {
            file: "shader.wgsl".to_owned(),
            name: "shader".to_owned(),
            source: source.to_owned(),
            derived: None,
            description: Some(("launch.toml".to_owned(), description)),
            entry_point: None,
            workgroups: None,
            n: Some(4096),
            seed: 1,
        }
    }

    fn launch(source: &str, description: &str) -> Launch {
        let made = prepare(&request(source, description), &mut |name| Ok(name.as_bytes().to_vec()));
        made.unwrap_or_else(|error| panic!("{error}")).launch
    }

    fn refused(description: &str, parts: &[&str]) {
        let request = match Description::parse_launch_file("launch.toml", description) {
            Err(error) => {
                let message = error.to_string();
                return assert!(parts.iter().all(|part| message.contains(part)), "{message}");
            }
            Ok(_) => request(FILTER, description),
        };
        let message = prepare(&request, &mut |_| Ok(vec![1, 2, 3])).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }

    #[test]
    fn a_shader_alone_gets_textures_of_its_grid() {
        let launch = launch(FILTER, "");
        let shown: Vec<_> = launch
            .textures
            .iter()
            .map(|t| (t.name.as_str(), t.layout.format, t.layout.size, t.layout.levels, t.output))
            .collect();
        use TextureFormat as F;
        assert_eq!(
            shown,
            [
                ("photo", F::Rgba8Unorm, [64, 64, 1], 7, false),
                ("ids", F::Rgba32Uint, [64, 64, 1], 1, false),
                ("shadows", F::Depth16Unorm, [64, 64, 1], 1, false),
                ("picture", F::Rgba16Float, [64, 64, 1], 1, true),
            ]
        );
        assert_eq!(launch.textures[0].fill, TexelFill::Noise([0.0, 1.0]));
        assert_eq!(launch.textures[1].fill, TexelFill::Uniform([0.0, 4096.0]));
        assert_eq!(launch.textures[3].fill, TexelFill::Zero);
        assert!(launch.depends_on_seed());
        let [s, c] = &launch.samplers[..] else { panic!("{:?}", launch.samplers) };
        assert_eq!((s.settings.mag, s.settings.compare), (Filter::Linear, None));
        assert_eq!(s.settings.address, [AddressMode::ClampToEdge; 3]);
        assert_eq!(c.settings.compare, Some(Comparison::Less));
    }

    #[test]
    fn without_a_storage_texture_sizes_are_usual_and_depth_is_not_filtered() {
        let source = "@group(0) @binding(0) var v: texture_3d<f32>;
            @group(0) @binding(1) var k: texture_cube_array<f32>;
            @group(0) @binding(2) var m: texture_multisampled_2d<f32>;
            @group(0) @binding(3) var d: texture_depth_2d;
            @group(0) @binding(4) var s: sampler;
            @group(0) @binding(5) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                o[id.x] = textureLoad(v, vec3(0), 0).x + textureLoad(m, vec2(0), 0).x
                    + textureSampleLevel(d, s, vec2(0.5), 0) + f32(textureDimensions(k).x);
            }";
        let launch = launch(source, "");
        let sizes: Vec<_> =
            launch.textures.iter().map(|t| (t.layout.size, t.layout.samples)).collect();
        assert_eq!(
            sizes,
            [([64, 64, 64], 1), ([256, 256, 24], 1), ([256, 256, 1], 4), ([256, 256, 1], 1)]
        );
        assert_eq!(launch.samplers[0].settings.mag, Filter::Nearest);
    }

    #[test]
    fn a_cube_has_six_faces_and_an_array_four_layers_or_as_many_as_its_grid() {
        let source = "@group(0) @binding(0) var c: texture_cube<f32>;
            @group(0) @binding(1) var k: texture_cube_array<f32>;
            @group(0) @binding(2) var a: texture_2d_array<f32>;
            @group(0) @binding(3) var s: sampler;
            @group(0) @binding(4) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                o[id.x] = textureSampleLevel(c, s, vec3(1.0), 0.0).x
                    + textureSampleLevel(k, s, vec3(1.0), id.x % 4, 0.0).x
                    + textureLoad(a, vec2(0), id.x % 4, 0).x;
            }";
        let sizes = |launch: &Launch| -> Vec<(String, [u32; 3])> {
            launch.textures.iter().map(|t| (t.name.clone(), t.layout.size)).collect()
        };
        let named = |sizes: &[(&str, [u32; 3])]| -> Vec<(String, [u32; 3])> {
            sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect()
        };
        let alone = launch(source, "");
        let wanted = [("c", [256, 256, 6]), ("k", [256, 256, 24]), ("a", [256, 256, 4])];
        assert_eq!(sizes(&alone), named(&wanted));
        // Beside a storage texture an array is as deep as the grid; a cube has six faces all the same.
        let source = "@group(0) @binding(0) var k: texture_cube_array<f32>;
            @group(0) @binding(1) var s: sampler;
            @group(0) @binding(2) var faces: texture_storage_2d_array<rgba8unorm, write>;
            @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let color = textureSampleLevel(k, s, vec3(1.0), id.z % 4, 0.0);
                textureStore(faces, id.xy, id.z, color);
            }";
        for (groups, layers) in [(1, 4), (6, 6), (300, 256)] {
            let request =
                ProfileRequest { workgroups: Some([1, 1, groups]), ..request(source, "") };
            let made = prepare(&request, &mut |_| Err(String::new())).unwrap().launch;
            let wanted = [("k", [8, 8, 24]), ("faces", [8, 8, layers])];
            assert_eq!(sizes(&made), named(&wanted), "{groups} workgroups along z");
        }
    }

    #[test]
    fn a_row_is_no_longer_than_webgpu_promises_and_has_one_level() {
        let source = "@group(0) @binding(0) var ramp: texture_1d<f32>;
            @group(0) @binding(1) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                o[id.x] = textureLoad(ramp, id.x, 1).x;
            }";
        let ramp = &launch(source, "").textures[0].layout;
        assert_eq!((ramp.size, ramp.levels), ([8192, 1, 1], 1));
        let source = "@group(0) @binding(0) var line: texture_storage_1d<r32float, write>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                textureStore(line, id.x, vec4<f32>(1.0));
            }";
        assert_eq!(launch(source, "").textures[0].layout.size, [4096, 1, 1]);
        let many = ProfileRequest { description: None, n: Some(100_000), ..request(source, "") };
        let made = prepare(&many, &mut |_| Err(String::new())).unwrap().launch;
        assert_eq!(made.textures[0].layout.size, [8192, 1, 1]);
    }

    #[test]
    fn what_is_left_out_follows_and_what_is_said_holds() {
        let described = "[[textures]]\nname = \"photo\"\nsize = [8, \"n / 1024\"]\nmip_levels = 2\n\
             fill = { checkers = [0, 0.5] }\n[[samplers]]\nname = \"s\"\nmag_filter = \"nearest\"\n\
             address = [\"repeat\", \"mirror-repeat\", \"repeat\"]\nlod_max = 1.0\n";
        let launch = launch(FILTER, described);
        let photo = launch.texture("photo").unwrap();
        assert_eq!((photo.layout.size, photo.layout.levels), ([8, 4, 1], 2));
        assert_eq!(photo.fill, TexelFill::Checkers([0.0, 0.5]));
        let s = &launch.sampler("s").unwrap().settings;
        assert_eq!((s.mag, s.min, s.lod_max), (Filter::Nearest, Filter::Linear, 1.0));
        assert_eq!(s.address[1], AddressMode::MirrorRepeat);
    }

    #[test]
    fn what_does_not_fit_names_file_line_and_what_is_allowed() {
        let photo = "[[textures]]\nname = \"photo\"\n";
        let with = |more: &str| format!("{photo}{more}\n");
        refused(
            &with("format = \"rgba9\""),
            &["launch.toml", "unknown variant `rgba9`", "rgba8unorm"],
        );
        refused(
            &with("format = \"r32uint\""),
            &["launch.toml:1", "holds floats (f32), not r32uint"],
        );
        refused(
            &with("size = [4]"),
            &["launch.toml:3: texture `photo`: `size`: has 1 numbers; a 2d texture has 2"],
        );
        refused(&with("size = [0, 4]"), &["launch.toml:3", "0 is not from 1 to 32768"]);
        refused(
            &with("size = [4, 4]\nmip_levels = 9"),
            &["launch.toml:4", "9 is over 3, a full chain"],
        );
        refused(&with("layers = 2"), &["launch.toml:3", "the variable is a 2d texture"]);
        refused(
            &with("fill = { noise = [0, 2] }"),
            &["launch.toml:3", "[0, 2] is not within 0 and 1, what rgba8unorm holds"],
        );
        refused(
            &with("fill = { file = \"a.raw\" }"),
            &["launch.toml:3", "`a.raw` has 3 bytes of texels"],
        );
        refused(&with("fill = { file = \"a.png\" }"), &["launch.toml:3", "`a.png` is no PNG"]);
        refused(
            "[[textures]]\nname = \"foto\"\nformat = \"r8unorm\"\nsize = [1, 1]\nfill = \"zero\"\n",
            &[
                "launch.toml:1",
                "no dispatched entry point uses a texture of that name; they use: ids, photo, picture, shadows",
            ],
        );
        refused("[[samplers]]\nname = \"t\"\n", &["launch.toml:1", "they use: s, c"]);
        refused(
            "[[samplers]]\nname = \"s\"\ncompare = \"less\"\n",
            &["launch.toml:1", "does not compare"],
        );
        refused(
            "[[samplers]]\nname = \"s\"\nfilter = \"cubic\"\n",
            &["unknown variant `cubic`, expected `nearest` or `linear`"],
        );
        refused(
            "[[samplers]]\nname = \"s\"\nlod_min = 3.0\nlod_max = 1.0\n",
            &["launch.toml:1", "they go up from 0"],
        );
        refused(
            "[[textures]]\nname = \"picture\"\nformat = \"rgba8unorm\"\n",
            &["the variable is of rgba16float"],
        );
    }

    #[test]
    fn the_file_that_init_writes_gives_the_same_launch() {
        let empty = ProfileRequest { description: None, ..request(FILTER, "") };
        let text = template(&empty).unwrap();
        for part in [
            "[[textures]]",
            "format = \"rgba16float\"",
            "mip_levels = \"full\"",
            "compare = \"less\"",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let again = launch(FILTER, &text);
        let alone = prepare(&empty, &mut |_| Err(String::new())).unwrap().launch;
        assert_eq!(again, alone, "{text}");
    }
}
