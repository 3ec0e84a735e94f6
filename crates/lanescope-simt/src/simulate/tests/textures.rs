//! Textures, instruction by instruction: each built-in function against values worked out by hand, what
//! lies out of bounds, atomics, and workgroups that share texels.

use super::{Compiled, config, program};
use crate::simulate::{Config, Memory, Outcome, ReportKind, SimulateError, Trap};
use crate::texture::{
    AddressMode, Comparison, Filter, SamplerSettings, TextureDimension, TextureFormat,
    TextureLayout,
};

/// The words of the output, the bytes of each texture afterwards, and what was counted.
type Ran = (Vec<u32>, Vec<Vec<u8>>, Outcome);

/// A texture to bind at binding 1 and up.
struct Given {
    layout: TextureLayout,
    bytes: Vec<u8>,
}

fn given(format: TextureFormat, size: [u32; 3], levels: u32, bytes: &[u8]) -> Given {
    let dimension = TextureDimension::D2;
    let layout = TextureLayout { format, dimension, size, levels, samples: 1 };
    Given { layout, bytes: bytes.to_vec() }
}

/// Runs `body` with these declarations; gives the words of `output` and the bytes of the textures.
fn ran(
    declared: &str,
    body: &str,
    textures: &[Given],
    samplers: &[SamplerSettings],
    config: &Config,
) -> Result<Ran, Trap> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> output: array<u32, 64>;
         {declared}
         @compute @workgroup_size(8)
         fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3<u32>) {{
             {body}
         }}"
    );
    let program = program(&text);
    let compiled = Compiled::new(&program)?;
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 256]);
    for (texture, binding) in textures.iter().zip(1..) {
        memory.bind_texture(0, binding, &texture.layout, &texture.bytes);
    }
    for (sampler, binding) in samplers.iter().zip(10..) {
        memory.bind_sampler(0, binding, sampler.clone());
    }
    let outcome = compiled.run([2, 1, 1], &mut memory, config)?;
    let words = memory.bytes(0, 0).unwrap();
    let words = words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let after = (1..).take(textures.len()).map(|k| memory.bytes(0, k).unwrap()).collect();
    Ok((words, after, outcome))
}

fn words(declared: &str, body: &str, textures: &[Given], samplers: &[SamplerSettings]) -> Vec<u32> {
    ran(declared, body, textures, samplers, &config(8)).unwrap().0
}

#[test]
fn texels_are_loaded_by_level_and_layer() {
    let bytes: Vec<u8> = (0..4 * 2 * 3 + 2 * 3).collect();
    let layered = given(TextureFormat::R8Uint, [4, 2, 3], 2, &bytes);
    let declared = "@group(0) @binding(1) var t: texture_2d_array<u32>;";
    let found = words(
        declared,
        "output[i] = textureLoad(t, vec2(i % 4, i / 4), 2, 0).x;
         output[8 + i % 2] = textureLoad(t, vec2(i32(i) % 2, 0), 1u, 1).x;
         output[10] = textureLoad(t, vec2(0, 0), 0, 0).w;",
        &[layered],
        &[],
    );
    assert_eq!(found[..8], [16, 17, 18, 19, 20, 21, 22, 23]);
    assert_eq!(found[8..11], [26, 27, 1]);
}

#[test]
fn functions_take_textures_and_samplers() {
    let texture = given(TextureFormat::R32Float, [2, 1, 1], 1, &[0, 0, 0, 0, 0, 0, 128, 63]);
    let declared = "@group(0) @binding(1) var t: texture_2d<f32>;
        @group(0) @binding(10) var s: sampler;
        fn at(t: texture_2d<f32>, s: sampler, x: f32) -> f32 {
            return textureSampleLevel(t, s, vec2(x, 0.5), 0.0).r;
        }";
    let linear = SamplerSettings::new(Filter::Linear);
    let body = "output[i] = u32(at(t, s, f32(i) / 8.0) * 1000.0);";
    let found = words(declared, body, &[texture], &[linear]);
    assert_eq!(found[..8], [0, 0, 0, 250, 500, 750, 1000, 1000]);
}

#[test]
fn what_is_asked_of_a_texture() {
    let mut cube = given(TextureFormat::R8Unorm, [8, 8, 12], 3, &[]);
    let mut volume = given(TextureFormat::R8Unorm, [8, 4, 2], 2, &[]);
    volume.layout.dimension = TextureDimension::D3;
    let mut several = given(TextureFormat::R8Unorm, [2, 2, 1], 1, &[]);
    several.layout.samples = 4;
    cube.bytes.clear();
    let declared = "@group(0) @binding(1) var c: texture_cube_array<f32>;
        @group(0) @binding(2) var v: texture_3d<f32>;
        @group(0) @binding(3) var m: texture_multisampled_2d<f32>;";
    let found = words(
        declared,
        "let d = textureDimensions(c, 1); output[0] = d.x; output[1] = d.y;
         output[2] = textureNumLayers(c); output[3] = textureNumLevels(c);
         let e = textureDimensions(v, 1); output[4] = e.x; output[5] = e.y; output[6] = e.z;
         output[7] = textureNumSamples(m); output[8] = textureDimensions(m).x;",
        &[cube, volume, several],
        &[],
    );
    assert_eq!(found[..9], [4, 4, 2, 3, 4, 2, 1, 4, 2]);
}

#[test]
fn samples_and_depth_are_loaded() {
    let mut several = given(TextureFormat::R8Uint, [2, 1, 1], 1, &[1, 2, 3, 4, 5, 6, 7, 8]);
    several.layout.samples = 4;
    let depth = given(TextureFormat::Depth16Unorm, [2, 1, 1], 1, &[0, 0, 255, 255]);
    let declared = "@group(0) @binding(1) var m: texture_multisampled_2d<u32>;
        @group(0) @binding(2) var d: texture_depth_2d;";
    let found = words(
        declared,
        "output[i] = textureLoad(m, vec2(i / 4, 0u), i % 4).x;
         output[8 + i % 2] = u32(textureLoad(d, vec2(i % 2, 0u), 0) * 10.0);",
        &[several, depth],
        &[],
    );
    assert_eq!(found[..10], [1, 2, 3, 4, 5, 6, 7, 8, 0, 10]);
}

#[test]
fn a_texel_that_does_not_exist_reads_as_zeros_and_is_not_written() {
    let read = given(TextureFormat::R8Uint, [4, 1, 1], 1, &[9; 4]);
    let written = given(TextureFormat::R32Uint, [4, 1, 1], 1, &[]);
    let declared = "@group(0) @binding(1) var t: texture_2d<u32>;
        @group(0) @binding(2) var o: texture_storage_2d<r32uint, write>;";
    let body = "output[i] = textureLoad(t, vec2(i32(i) - 2, 0), 0).x;
        output[8 + i] = textureLoad(t, vec2(0, 0), i).x;
        textureStore(o, vec2(i, 0u), vec4(i + 1));
        textureStore(o, vec2(0, -1), vec4(77u));";
    let textures = || {
        [
            Given { layout: read.layout.clone(), bytes: read.bytes.clone() },
            Given { layout: written.layout.clone(), bytes: Vec::new() },
        ]
    };
    let (found, after, outcome) = ran(declared, body, &textures(), &[], &config(8)).unwrap();
    assert_eq!(found[..8], [0, 0, 9, 9, 9, 9, 0, 0]);
    assert_eq!(found[8..16], [9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(after[1].iter().step_by(4).copied().collect::<Vec<u8>>(), [1, 2, 3, 4]);
    let kinds: Vec<_> =
        outcome.reports.iter().map(|report| (report.kind, report.location.line)).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|(kind, _)| *kind == ReportKind::WriteOutOfBounds).count(), 2);
    let strict = Config { strict: true, ..config(8) };
    let trap = ran(declared, body, &textures(), &[], &strict).unwrap_err();
    assert!(matches!(trap, Trap::Fault { .. }), "{trap}");
}

#[test]
fn stores_keep_to_the_format() {
    let unorm = given(TextureFormat::Rgba8Unorm, [8, 1, 1], 1, &[]);
    let half = given(TextureFormat::R16Float, [8, 1, 1], 1, &[]);
    let declared = "@group(0) @binding(1) var a: texture_storage_2d<rgba8unorm, write>;
        @group(0) @binding(2) var b: texture_storage_2d<r16float, write>;";
    let body = "textureStore(a, vec2(i, 0u), vec4(f32(i) / 7.0, 0.5, -1.0, 2.0));
        textureStore(b, vec2(i, 0u), vec4(f32(i)));";
    let (_, after, _) = ran(declared, body, &[unorm, half], &[], &config(8)).unwrap();
    assert_eq!(after[0][..8], [0, 128, 0, 255, 36, 128, 0, 255]);
    assert_eq!(after[1][..6], [0, 0, 0, 0x3c, 0, 0x40]);
}

#[test]
fn layers_of_storage_textures_and_volumes_are_written() {
    let layered = given(TextureFormat::R32Uint, [2, 1, 4], 1, &[]);
    let mut volume = given(TextureFormat::R32Uint, [2, 2, 2], 1, &[]);
    volume.layout.dimension = TextureDimension::D3;
    let mut row = given(TextureFormat::R32Uint, [8, 1, 1], 1, &[]);
    row.layout.dimension = TextureDimension::D1;
    let declared = "@group(0) @binding(1) var a: texture_storage_2d_array<r32uint, write>;
        @group(0) @binding(2) var v: texture_storage_3d<r32uint, read_write>;
        @group(0) @binding(3) var r: texture_storage_1d<r32uint, read_write>;";
    let body = "textureStore(a, vec2(i % 2, 0u), i / 2, vec4(i));
        textureStore(v, vec3(i % 2, i / 2 % 2, i / 4), vec4(i * 2));
        textureStore(r, i, vec4(i * 3)); output[i] = textureLoad(r, i).x;
        output[8 + i] = textureLoad(v, vec3(1, 1, 1)).x;";
    for threads in [1, 2] {
        let textures = [&layered, &volume, &row]
            .map(|texture| Given { layout: texture.layout.clone(), bytes: Vec::new() });
        let config = Config { threads: Some(threads), ..config(8) };
        let (found, after, _) = ran(declared, body, &textures, &[], &config).unwrap();
        let firsts = |bytes: &[u8]| bytes.iter().step_by(4).copied().collect::<Vec<u8>>();
        assert_eq!(firsts(&after[0]), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(firsts(&after[1]), [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(found[..8], [0, 3, 6, 9, 12, 15, 18, 21]);
        assert_eq!(found[8..16], [14; 8]);
    }
}

#[test]
fn texels_are_changed_atomically() {
    let sums = given(TextureFormat::R32Uint, [2, 1, 1], 1, &[]);
    let least = given(TextureFormat::R32Sint, [1, 1, 1], 1, &[0; 4]);
    let declared = "@group(0) @binding(1) var a: texture_storage_2d<r32uint, atomic>;
        @group(0) @binding(2) var b: texture_storage_2d<r32sint, atomic>;";
    let body = "textureAtomicAdd(a, vec2(i % 2, 0u), i);
        textureAtomicMin(b, vec2(0, 0), -i32(i));";
    for threads in [1, 2] {
        let textures = [&sums, &least]
            .map(|texture| Given { layout: texture.layout.clone(), bytes: texture.bytes.clone() });
        let config = Config { threads: Some(threads), ..config(8) };
        let (_, after, outcome) = ran(declared, body, &textures, &[], &config).unwrap();
        assert_eq!((after[0][0], after[0][4]), (24, 32));
        assert_eq!(after[1], (-7_i32).to_le_bytes());
        assert!(outcome.depends_on_schedule.is_empty());
    }
}

#[test]
fn a_64_bit_texel_is_changed_atomically() {
    let most = given(TextureFormat::R64Uint, [1, 1, 1], 1, &[]);
    let declared =
        "enable wgpu_int64; @group(0) @binding(1) var a: texture_storage_2d<r64uint, atomic>;";
    let text = "textureAtomicMax(a, vec2(0, 0), (u64(i) << 33) + u64(i));";
    // Directives come first in a module.
    let declared = declared.replace("enable wgpu_int64; ", "");
    let (_, after, _) = ran(&declared, text, &[most], &[], &config(8)).unwrap();
    assert_eq!(u64::from_le_bytes(after[0][..].try_into().unwrap()), (7 << 33) + 7);
}

#[test]
fn comparisons_and_gathers() {
    let depth = given(
        TextureFormat::Depth32Float,
        [2, 2, 1],
        1,
        &[0, 0, 0, 0, 0, 0, 0, 63, 0, 0, 0, 63, 0, 0, 128, 63],
    );
    let declared = "@group(0) @binding(1) var d: texture_depth_2d;
        @group(0) @binding(10) var s: sampler_comparison;
        @group(0) @binding(11) var p: sampler;";
    let less = SamplerSettings {
        compare: Some(Comparison::LessEqual),
        ..SamplerSettings::new(Filter::Linear)
    };
    let nearest = SamplerSettings::new(Filter::Nearest);
    let found = words(
        declared,
        "output[0] = u32(textureSampleCompareLevel(d, s, vec2(0.5), 0.5) * 100.0);
         output[1] = u32(textureSampleCompareLevel(d, s, vec2(0.25), 0.5) * 100.0);
         let g = textureGatherCompare(d, s, vec2(0.5), 0.6);
         output[2] = u32(g.x * 1000.0 + g.y * 100.0 + g.z * 10.0 + g.w);
         let h = textureGather(d, p, vec2(0.5));
         output[3] = u32(h.x * 2000.0 + h.y * 200.0 + h.z * 20.0 + h.w * 2.0);
         output[4] = u32(textureSampleLevel(d, p, vec2(0.9, 0.1), 0) * 100.0);",
        &[depth],
        &[less, nearest],
    );
    assert_eq!(found[..5], [75, 0, 100, 1210, 50]);
}

#[test]
fn components_are_gathered_with_offsets() {
    let texture =
        given(TextureFormat::Rg8Uint, [3, 2, 1], 1, &[0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15]);
    let declared = "@group(0) @binding(1) var t: texture_2d<u32>;
        @group(0) @binding(10) var s: sampler;";
    let found = words(
        declared,
        "let g = textureGather(1, t, s, vec2(1.0 / 3.0, 0.5), vec2(1, 0));
         output[0] = g.x; output[1] = g.y; output[2] = g.z; output[3] = g.w;",
        &[texture],
        &[SamplerSettings::new(Filter::Nearest)],
    );
    assert_eq!(found[..4], [14, 15, 12, 11]);
}

#[test]
fn a_base_level_is_sampled_within_its_outermost_texels() {
    let texture = given(TextureFormat::R32Float, [2, 1, 1], 1, &[0, 0, 0, 0, 0, 0, 128, 63]);
    let declared = "@group(0) @binding(1) var t: texture_2d<f32>;
        @group(0) @binding(10) var s: sampler;";
    let repeat = SamplerSettings {
        address: [AddressMode::Repeat; 3],
        ..SamplerSettings::new(Filter::Linear)
    };
    let found = words(
        declared,
        "let at = vec2(f32(i) / 4.0, 0.5);
         output[i] = u32(textureSampleBaseClampToEdge(t, s, at).x * 1000.0);
         output[8 + i] = u32(textureSampleLevel(t, s, at, 0.0).x * 1000.0);",
        &[texture],
        &[repeat],
    );
    assert_eq!(found[..8], [0, 0, 500, 1000, 1000, 1000, 1000, 1000]);
    assert_eq!(found[8..16], [500, 0, 500, 1000, 500, 0, 500, 1000]);
}

#[test]
fn what_is_bound_must_fit() {
    let declared = "@group(0) @binding(1) var t: texture_2d<f32>;";
    let body = "output[0] = u32(textureLoad(t, vec2(0, 0), 0).x);";
    let refused = |textures: &[Given], part: &str| {
        let trap = ran(declared, body, textures, &[], &config(8)).unwrap_err();
        assert!(matches!(trap, Trap::Refused(SimulateError::Unfit { .. })), "{trap}");
        assert!(trap.to_string().contains(part), "{trap}");
    };
    refused(&[], "the texture at @group(0) @binding(1): none is bound");
    refused(&[given(TextureFormat::R8Uint, [1; 3], 1, &[])], "holds floats (f32), not r8uint");
    refused(&[given(TextureFormat::R8Unorm, [1, 1, 2], 1, &[])], "one layer, and the texture 2");
}

/// A texel that another workgroup wrote decides a branch.
#[test]
fn texels_that_workgroups_exchange_are_told() {
    let texture = given(TextureFormat::R32Uint, [16, 1, 1], 1, &[]);
    let declared = "@group(0) @binding(1) var t: texture_storage_2d<r32uint, read_write>;";
    let body = "textureStore(t, vec2(w.x * 8 + i, 0u), vec4(1u));
        if (textureLoad(t, vec2(15 - (w.x * 8 + i), 0u)).x == 1u) { output[i] += 1u; }";
    let (_, _, outcome) = ran(declared, body, &[texture], &[], &config(8)).unwrap();
    assert!(!outcome.depends_on_schedule.is_empty());
}
