//! Packing, unpacking, and matrices: every function, against formulas written anew here.
//!
//! Input: values at the ends and in the middle of each format. Output: each word must be the one
//! that WGSL's definition gives.

use half::f16;

use super::*;

/// Values that a normalised format must clamp, round and keep.
const VALUES: [f32; 8] = [0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -7.0, 0.3];

/// Runs an expression for each of eight lanes over `input`, an array of `f32` or `u32`.
fn evaluate_lanes(element: &str, expression: &str, input: &[u32]) -> Vec<u32> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
         @group(0) @binding(1) var<storage, read> input: array<{element}>;
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
             let a = input[i]; let b = input[(i + 1u) % 8u];
             let c = input[(i + 2u) % 8u]; let d = input[(i + 3u) % 8u];
             output[i] = {expression};
         }}"
    );
    run(&text, [1, 1, 1], 8, input, &config(8)).unwrap().0
}

/// A word of parts of so many bits each, from the lowest up.
fn joined(parts: &[i64], bits: u32) -> u32 {
    let mask = (1_i64 << bits) - 1;
    let word = parts.iter().rev().fold(0, |word, part| word << bits | part & mask);
    u32::try_from(word).unwrap()
}

fn pack(expression: &str, parts: usize, part: impl Fn(f32) -> i64) {
    let input = VALUES.map(f32::to_bits);
    let bits = 32 / u32::try_from(parts).unwrap();
    for (lane, found) in evaluate_lanes("f32", expression, &input).into_iter().enumerate() {
        let values: Vec<i64> = (0..parts).map(|k| part(VALUES[(lane + k) % 8])).collect();
        assert_eq!(found, joined(&values, bits), "{expression} in lane {lane}");
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "the values are small")]
fn floats_are_packed() {
    let normal = |low: f64, scale: f64| {
        move |value: f32| (0.5 + scale * f64::from(value).clamp(low, 1.0)).floor() as i64
    };
    pack("pack4x8snorm(vec4(a, b, c, d))", 4, normal(-1.0, 127.0));
    pack("pack4x8unorm(vec4(a, b, c, d))", 4, normal(0.0, 255.0));
    pack("pack2x16snorm(vec2(a, b))", 2, normal(-1.0, 32767.0));
    pack("pack2x16unorm(vec2(a, b))", 2, normal(0.0, 65535.0));
    pack("pack2x16float(vec2(a, b))", 2, |value| i64::from(f16::from_f32(value).to_bits()));
}

#[test]
fn integers_are_packed() {
    let values = [0_i32, 1, -1, 127, 128, -129, 300, i32::MIN];
    let input = values.map(i32::cast_unsigned);
    type PackedPart = fn(i32) -> i64;
    let cases: [(&str, &str, PackedPart); 4] = [
        ("i32", "pack4xI8(vec4(a, b, c, d))", i64::from),
        ("i32", "pack4xI8Clamp(vec4(a, b, c, d))", |v| i64::from(v.clamp(-128, 127))),
        ("u32", "pack4xU8(vec4(a, b, c, d))", i64::from),
        ("u32", "pack4xU8Clamp(vec4(a, b, c, d))", |v| i64::from(v.cast_unsigned().min(255))),
    ];
    for (element, expression, part) in cases {
        for (lane, found) in evaluate_lanes(element, expression, &input).into_iter().enumerate() {
            let parts: Vec<i64> = (0..4).map(|k| part(values[(lane + k) % 8])).collect();
            assert_eq!(found, joined(&parts, 8), "{expression} in lane {lane}");
        }
    }
}

#[test]
fn words_are_unpacked() {
    let input =
        [0, u32::MAX, 0x8000_8081, 0x7fff_017f, 0x3c00_c000, 0x0102_0304, 0xff00_ff00, 0x80ff_7f01];
    let bytes = |word: u32, part: usize| word.to_le_bytes()[part];
    let shorts = |word: u32, part: usize| {
        let bytes = word.to_le_bytes();
        u16::from_le_bytes([bytes[2 * part], bytes[2 * part + 1]])
    };
    let signed = |byte: u8| f32::from(byte.cast_signed());
    for (lane, word) in input.into_iter().enumerate() {
        for (part, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let byte = bytes(word, part);
            let mut cases = vec![
                (
                    format!("bitcast<u32>(unpack4x8snorm(a).{name})"),
                    (signed(byte) / 127.0).max(-1.0).to_bits(),
                ),
                (
                    format!("bitcast<u32>(unpack4x8unorm(a).{name})"),
                    (f32::from(byte) / 255.0).to_bits(),
                ),
                (
                    format!("bitcast<u32>(unpack4xI8(a).{name})"),
                    i32::from(byte.cast_signed()).cast_unsigned(),
                ),
                (format!("unpack4xU8(a).{name}"), u32::from(byte)),
            ];
            if part < 2 {
                let short = shorts(word, part);
                let snorm = (f32::from(short.cast_signed()) / 32767.0).max(-1.0);
                cases.extend([
                    (format!("bitcast<u32>(unpack2x16snorm(a).{name})"), snorm.to_bits()),
                    (
                        format!("bitcast<u32>(unpack2x16unorm(a).{name})"),
                        (f32::from(short) / 65535.0).to_bits(),
                    ),
                    (
                        format!("u32(unpack2x16float(a).{name} == {})", literal(short)),
                        u32::from(!f16::from_bits(short).is_nan()),
                    ),
                ]);
            }
            for (expression, expected) in cases {
                assert_eq!(
                    evaluate_lanes("u32", &expression, &input)[lane],
                    expected,
                    "{expression} of {word:#x}"
                );
            }
        }
    }
}

/// The value of `f16` bits as WGSL writes it; what is no number stands for zero.
fn literal(bits: u16) -> String {
    let value = f16::from_bits(bits);
    if value.is_finite() { format!("{:e}f", value.to_f32()) } else { "0.0".to_owned() }
}
