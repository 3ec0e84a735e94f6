//! The codec and the filters against values worked out by hand.

use super::*;

fn bits(components: [f32; 4]) -> [u32; 4] {
    components.map(f32::to_bits)
}

/// Every format holds what it gives: what is read and written again is the same texel.
#[test]
fn every_format_goes_round() {
    for &format in TextureFormat::ALL {
        let width = format.bytes() * 8;
        let mut random = crate::units::random::SplitMix64::new(7);
        for _ in 0..4096 {
            let raw = u128::from(random.bits()) | u128::from(random.bits()) << 64;
            let raw = if width == 128 { raw } else { raw & ((1 << width) - 1) };
            let read = format.decode(raw);
            // Signalling and quiet NaN, the two zeros' and the two least of a signed format.
            let again = format.decode(format.encode(read));
            let same = (0..4).all(|k| {
                let (a, b) = (f32::from_bits(read[k]), f32::from_bits(again[k]));
                read[k] == again[k] || a.is_nan() && b.is_nan()
            });
            assert!(same, "{format}: {raw:x} reads as {read:x?}, then as {again:x?}");
        }
        assert_eq!(TextureFormat::from_name(format.name()), Some(format));
        assert!([1, 2, 4, 8, 16].contains(&format.bytes()), "{format}");
    }
}

#[test]
fn texels_are_what_the_specification_says() {
    use TextureFormat as F;
    let read = |format: F, raw: u128, expected: [f32; 4]| {
        assert_eq!(format.decode(raw), bits(expected), "{format} {raw:x}");
    };
    let step = 1.0 / 255.0;
    read(F::Rgba8Unorm, 0xff80_3300, [0.0, 51.0 * step, 128.0 * step, 1.0]);
    read(F::Bgra8Unorm, 0xff80_3300, [128.0 * step, 51.0 * step, 0.0, 1.0]);
    read(F::R8Snorm, 0x80, [-1.0, 0.0, 0.0, 1.0]);
    read(F::R8Snorm, 0x81, [-1.0, 0.0, 0.0, 1.0]);
    read(F::Rg8Snorm, 0x7f40, [64.0 * (1.0 / 127.0), 1.0, 0.0, 1.0]);
    read(F::Rg16Float, 0x3c00_c000, [-2.0, 1.0, 0.0, 1.0]);
    read(F::Rgb10a2Unorm, 0xc00f_fc00, [0.0, 1.0, 0.0, 1.0]);
    // 11 bits: exponent 15 and no mantissa are 1; 10 bits: exponent 16 and half a mantissa are 3.
    read(F::Rg11b10Ufloat, 15 << 6 | 16 << 17 | (16 << 5 | 16) << 22, [1.0, 2.0, 3.0, 1.0]);
    // One exponent: 2^(17 − 15 − 9) = 2^−7 a step.
    read(F::Rgb9e5Ufloat, 128 | 256 << 9 | 17 << 27, [1.0, 2.0, 0.0, 1.0]);
    assert_eq!(F::R32Uint.decode(7), [7, 0, 0, 1]);
    assert_eq!(F::R8Sint.decode(0xff), [u32::MAX, 0, 0, 1]);
    assert_eq!(F::Rgb10a2Uint.decode(0x8000_0401), [1, 1, 0, 2]);
    assert_eq!(F::R64Uint.decode(1 << 32 | 5)[..2], [5, 1]);

    let write = |format: F, given: [f32; 4], raw: u128| {
        assert_eq!(format.encode(bits(given)), raw, "{format} {given:?}");
    };
    write(F::R8Unorm, [f32::NAN, 0.0, 0.0, 0.0], 0);
    write(F::R8Unorm, [2.0, 0.0, 0.0, 0.0], 255);
    write(F::R8Unorm, [0.5, 0.0, 0.0, 0.0], 128);
    write(F::R8Snorm, [-7.0, 0.0, 0.0, 0.0], 0x81);
    write(F::R16Float, [65_520.0, 0.0, 0.0, 0.0], 0x7bff);
    write(F::R16Float, [f32::NEG_INFINITY, 0.0, 0.0, 0.0], 0xfc00);
    write(F::R16Float, [1.000_9, 0.0, 0.0, 0.0], 0x3c00);
    write(F::Rg11b10Ufloat, [-1.0, f32::INFINITY, 1e9, 0.0], 0x7c0 << 11 | 0x3df << 22);
    assert_eq!(F::Rgba8Uint.encode([256, 1, 2, 3]), 0x0302_01ff);
    assert_eq!(F::R8Sint.encode([0xffff_ff00, 0, 0, 0]), 0x80);
}

fn layout(dimension: TextureDimension, size: [u32; 3], levels: u32) -> TextureLayout {
    TextureLayout { format: TextureFormat::R32Float, dimension, size, levels, samples: 1 }
}

#[test]
fn levels_halve_and_texels_lie_in_rows() {
    let d2 = layout(TextureDimension::D2, [5, 3, 2], 3);
    assert_eq!(d2.levels_max(), 3);
    assert_eq!([0, 1, 2].map(|l| d2.level_size(l)), [[5, 3, 2], [2, 1, 2], [1, 1, 2]]);
    assert_eq!(d2.texels(), 30 + 4 + 2);
    assert_eq!(d2.index(0, [4, 2, 1], 0), Some(29));
    assert_eq!(d2.index(1, [1, 0, 1], 0), Some(33));
    for (level, at, sample) in
        [(0, [5, 0, 0], 0), (0, [-1, 0, 0], 0), (3, [0; 3], 0), (0, [0; 3], 1), (0, [0, 0, 2], 0)]
    {
        assert_eq!(d2.index(level, at, sample), None);
    }
    let d3 = layout(TextureDimension::D3, [8, 4, 2], 4);
    assert_eq!((d3.levels_max(), d3.level_size(2), d3.level_size(3)), (4, [2, 1, 1], [1, 1, 1]));
}

#[test]
fn tiles_hold_blocks_and_no_two_texels_lie_in_one_place() {
    let d2 = layout(TextureDimension::D2, [16, 8, 2], 3);
    let at = |x, y, z| d2.tiled_offset(d2.index(0, [x, y, z], 0).unwrap());
    // 8 × 4 texels of four bytes are a line, 4 × 2 a sector.
    assert_eq!([at(0, 0, 0), at(3, 1, 0), at(4, 0, 0), at(0, 2, 0)], [0, 28, 32, 64]);
    assert_eq!([at(7, 3, 0), at(8, 0, 0), at(0, 4, 0), at(0, 0, 1)], [124, 128, 256, 512]);
    for format in [TextureFormat::R8Unorm, TextureFormat::Rg8Unorm, TextureFormat::Rgba32Float] {
        let mut seen = std::collections::BTreeSet::new();
        let odd =
            TextureLayout { format, samples: 4, ..layout(TextureDimension::D2, [7, 5, 1], 1) };
        let count = usize::try_from(odd.texels()).unwrap();
        assert!((0..count).all(|texel| seen.insert(odd.tiled_offset(texel))), "{format}");
        let levels = TextureLayout { samples: 1, levels: 3, ..odd };
        let mut seen = std::collections::BTreeSet::new();
        let count = usize::try_from(levels.texels()).unwrap();
        assert!((0..count).all(|texel| seen.insert(levels.tiled_offset(texel))), "{format}");
    }
}

/// A texture whose texel of a number holds that number.
fn numbered(layout: &TextureLayout, view: TextureView) -> impl Fn(&dyn Fn(&Sampled<'_>)) + '_ {
    move |look| {
        #[expect(clippy::cast_precision_loss, reason = "few texels")]
        let texel = |number: usize| bits([number as f32, 0.0, 0.0, 1.0]);
        look(&Sampled { layout, view, texel: &texel });
    }
}

fn point(at: [f32; 3], level: f32) -> SamplePoint {
    SamplePoint {
        at,
        layer: 0,
        offset: [0; 3],
        level: LevelOfDetail::Exact(level),
        reference: None,
        clamp_to_edge: false,
    }
}

#[test]
fn filters_weigh_neighbours() {
    let row = layout(TextureDimension::D2, [4, 1, 1], 3);
    numbered(&row, TextureView::D2)(&|sampled| {
        let read = |sampler: &SamplerSettings, x: f32, level: f32| {
            sampled.sample(sampler, &point([x, 0.5, 0.0], level))[0]
        };
        let nearest = SamplerSettings::new(Filter::Nearest);
        let linear = SamplerSettings::new(Filter::Linear);
        // The middle of texel 1 is at 1.5 / 4; between texels 1 and 2 lies 0.5.
        assert_eq!(read(&nearest, 0.375, 0.0), 1.0);
        assert_eq!(read(&linear, 0.375, 0.0), 1.0);
        assert_eq!(read(&linear, 0.5, 0.0), 1.5);
        // Levels begin at 0, 4 and 6; halfway between the first two at the left edge lies 2.
        assert_eq!(read(&linear, 0.0, 0.5), 2.0);
        assert_eq!(read(&linear, 0.0, 9.0), 6.0);
        assert_eq!(read(&nearest, 0.0, 0.5), 0.0);
        assert_eq!(read(&nearest, 0.0, 0.6), 4.0);
        assert_eq!(read(&SamplerSettings { lod_min: 2.0, ..nearest.clone() }, 0.0, 0.0), 6.0);
        assert_eq!(read(&SamplerSettings { lod_max: 1.0, ..nearest.clone() }, 0.0, 2.0), 4.0);
        let by = |mode: AddressMode, x: f32| {
            read(&SamplerSettings { address: [mode; 3], ..nearest.clone() }, x, 0.0)
        };
        assert_eq!(
            (by(AddressMode::ClampToEdge, -0.3), by(AddressMode::ClampToEdge, 1.3)),
            (0.0, 3.0)
        );
        assert_eq!((by(AddressMode::Repeat, -0.3), by(AddressMode::Repeat, 1.3)), (2.0, 1.0));
        assert_eq!(
            (by(AddressMode::MirrorRepeat, -0.3), by(AddressMode::MirrorRepeat, 1.3)),
            (1.0, 2.0)
        );
        let edge = SamplePoint { clamp_to_edge: true, ..point([1.2, 0.5, 0.0], 0.0) };
        let repeats = SamplerSettings { address: [AddressMode::Repeat; 3], ..linear.clone() };
        assert_eq!(sampled.sample(&repeats, &edge)[0], 3.0);
        let moved = SamplePoint { offset: [2, 0, 0], ..point([0.125, 0.5, 0.0], 0.0) };
        assert_eq!(sampled.sample(&linear, &moved)[0], 2.0);
        // A change of a half over 4 texels is two texels a pixel: level 1.
        let level = LevelOfDetail::Gradient([0.5, 0.0, 0.0], [0.0; 3]);
        let by_gradient = SamplePoint { level, ..point([0.0, 0.5, 0.0], 0.0) };
        assert_eq!(sampled.sample(&nearest, &by_gradient)[0], 4.0);
    });
}

#[test]
fn a_gather_goes_round_from_below_left() {
    let square = layout(TextureDimension::D2, [2, 2, 1], 1);
    numbered(&square, TextureView::D2)(&|sampled| {
        let linear = SamplerSettings::new(Filter::Linear);
        let found = sampled.gather(&linear, &point([0.5, 0.5, 0.0], 0.0), 0);
        assert_eq!(found, bits([2.0, 3.0, 1.0, 0.0]));
        let compares = SamplerSettings { compare: Some(Comparison::Less), ..linear };
        let asked = SamplePoint { reference: Some(1.5), ..point([0.5, 0.5, 0.0], 0.0) };
        assert_eq!(sampled.gather(&compares, &asked, 0), bits([1.0, 1.0, 0.0, 0.0]));
        assert_eq!(sampled.sample(&compares, &asked)[0], 0.5);
    });
}

#[test]
fn volumes_are_filtered_along_three_axes() {
    let cube = layout(TextureDimension::D3, [2, 2, 2], 1);
    numbered(&cube, TextureView::D3)(&|sampled| {
        let linear = SamplerSettings::new(Filter::Linear);
        assert_eq!(sampled.sample(&linear, &point([0.5; 3], 0.0))[0], 3.5);
        assert_eq!(sampled.sample(&linear, &point([0.25, 0.25, 0.5], 0.0))[0], 2.0);
    });
}

#[test]
fn directions_meet_the_faces_of_the_table() {
    let faces = layout(TextureDimension::D2, [1, 1, 6], 1);
    numbered(&faces, TextureView::Cube)(&|sampled| {
        let nearest = SamplerSettings::new(Filter::Nearest);
        let axes: [([f32; 3], f32); 6] = [
            ([1.0, 0.2, 0.1], 0.0),
            ([-1.0, 0.2, 0.1], 1.0),
            ([0.2, 1.0, 0.1], 2.0),
            ([0.2, -1.0, 0.1], 3.0),
            ([0.2, 0.1, 1.0], 4.0),
            ([0.2, 0.1, -1.0], 5.0),
        ];
        for (direction, face) in axes {
            assert_eq!(sampled.sample(&nearest, &point(direction, 0.0))[0], face, "{direction:?}");
        }
        let linear = SamplerSettings::new(Filter::Linear);
        // On the edge of +x and +z half of each; at the corner of +x, +y and +z a third of each.
        assert_eq!(sampled.sample(&linear, &point([1.0, 0.0, 1.0], 0.0))[0], 2.0);
        let corner = sampled.sample(&linear, &point([1.0, 1.0, 1.0], 0.0))[0];
        assert!((corner - 2.0).abs() < 1e-6, "{corner}");
    });
}

/// Beyond each edge of each face lies the texel whose middle is nearest to the one at the edge.
#[test]
fn faces_are_joined_at_their_edges() {
    let size = 4_u32;
    #[expect(clippy::cast_precision_loss, reason = "few texels")]
    let middle = |face: u32, at: [i64; 2]| -> [f32; 3] {
        let [s, t] = at.map(|at| (2 * at + 1) as f32 / size as f32 - 1.0);
        cube::direction(face, s, t)
    };
    let distance = |a: [f32; 3], b: [f32; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f32>();
    for face in 0..6 {
        for along in 0..i64::from(size) {
            for (inside, outside) in [
                ([0, along], [-1, along]),
                ([3, along], [4, along]),
                ([along, 0], [along, -1]),
                ([along, 3], [along, 4]),
            ] {
                let (other, at) = cube::beyond(face, outside, size).unwrap();
                assert_ne!(other, face);
                let found = distance(middle(other, at), middle(face, inside));
                let least = (0..16)
                    .map(|n| distance(middle(other, [n % 4, n / 4]), middle(face, inside)))
                    .fold(f32::INFINITY, f32::min);
                assert!((found - least).abs() < 1e-6, "{face} {outside:?} is {other} {at:?}");
            }
        }
        assert_eq!(cube::beyond(face, [-1, 4], size), None);
    }
}
