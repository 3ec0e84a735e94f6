//! Numbers of every width: values that each expression must have, worked out in Rust.
//!
//! Input: expressions over variables that naga cannot fold. 64-bit values are compared word by word.

use half::f16;

use super::*;

/// Checks expressions of type `u32` one by one.
fn check_words(head: &str, variables: &str, cases: &[(&str, u32)]) {
    use std::fmt::Write as _;
    let mut body = String::new();
    for (number, (expression, _)) in cases.iter().enumerate() {
        writeln!(body, "output[{number}] = {expression};").unwrap();
    }
    let text = format!(
        "{head}
         @group(0) @binding(0) var<storage, read_write> output: array<u32>;
         @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) z: u32) {{
             {variables}
             {body}
         }}"
    );
    let (found, ..) = run(&text, [1, 1, 1], cases.len(), &[0], &config(4)).unwrap();
    for (&found, &(expression, expected)) in found.iter().zip(cases) {
        assert_eq!(found, expected, "{expression}: {found:#x} is not {expected:#x}");
    }
}

/// Checks expressions of 64 bits: `read` makes a `u64` of each.
fn check_longs(variables: &str, read: &str, cases: &[(&str, u64)]) {
    let words: Vec<(String, u32)> = cases
        .iter()
        .flat_map(|&(expression, expected)| {
            let halves = [("", expected & 0xffff_ffff), (" >> 32u", expected >> 32)];
            halves.map(|(shift, half)| {
                (format!("u32({read}({expression}){shift})"), u32::try_from(half).unwrap())
            })
        })
        .collect();
    let words: Vec<(&str, u32)> =
        words.iter().map(|(text, expected)| (text.as_str(), *expected)).collect();
    check_words("", variables, &words);
}

#[test]
fn signed_integers_of_64_bits() {
    let min = i64::MIN;
    let cases: [(&str, i64); 22] = [
        ("a + 1li", 8),
        ("a * b", -21),
        ("a - b * 4294967296li", 7 + 3 * (1 << 32)),
        ("b / 2li", -1),
        ("b % 2li", -1),
        ("a / o", 7),
        ("a % o", 0),
        ("m / (o - 1li)", min),
        ("m % (o - 1li)", 0),
        ("m - 1li", i64::MAX),
        ("-m", min),
        ("abs(m)", min),
        ("abs(b)", 3),
        ("sign(b)", -1),
        ("min(a, b)", -3),
        ("max(a, b)", 7),
        ("clamp(a, o, o + 5li)", 5),
        ("b >> (z + 1u)", -2),
        ("b << (z + 65u)", -6),
        ("~a", -8),
        ("(a & 3li) | (b ^ 1li)", 3 | (-3 ^ 1)),
        ("select(a, b, a > b)", -3),
    ];
    let cases = cases.map(|(text, value)| (text, value.cast_unsigned()));
    let variables = "var o = i64(z); var a = o + 7li; var b = o - 3li; var m = (o + 1li) << 63u;";
    check_longs(variables, "bitcast<u64>", &cases);
}

#[test]
fn unsigned_integers_of_64_bits() {
    let most = u64::MAX;
    let cases: [(&str, u64); 16] = [
        ("m", most),
        ("m + 1lu", 0),
        ("m * m", 1),
        ("m / 10lu", most / 10),
        ("m % 10lu", most % 10),
        ("m / o", most),
        ("m % o", 0),
        ("m >> (z + 33u)", most >> 33),
        ("a << (z + 64u)", 7),
        ("min(a, m)", 7),
        ("max(a, m)", most),
        ("clamp(m, a, 100lu)", 100),
        ("(m ^ a) & 0xfflu", 0xf8),
        ("o | a", 7),
        ("dot(vec2(a, m), vec2(2lu, 1lu))", 13),
        ("select(a, m, m > a && a <= 7lu && a >= 7lu && a != m && !(a == m))", most),
    ];
    check_longs("var o = u64(z); var a = o + 7lu; var m = o - 1lu;", "u64", &cases);
}

#[test]
fn conversions_of_64_bits() {
    let variables =
        "var o = i64(z); var f = f32(z); var d = f64(f); var w = u64(z) + 0x8000000180000000lu;";
    let longs: [(&str, u64); 10] = [
        ("u64(f + 3.9)", 3),
        ("u64(f - 3.9)", 0),
        ("bitcast<u64>(i64(f - 3.9))", (-3i64).cast_unsigned()),
        ("bitcast<u64>(i64(f + 1e30))", 0x7fff_ff80_0000_0000),
        ("u64(f + 1e30)", 0xffff_ff00_0000_0000),
        ("bitcast<u64>(i64(i32(z) - 5i))", (-5i64).cast_unsigned()),
        ("u64(z - 5u)", 0xffff_fffb),
        ("u64(o - 1li)", u64::MAX),
        ("bitcast<u64>(d + 1.5lf)", 1.5f64.to_bits()),
        ("bitcast<u64>(f64(w))", 9_223_372_043_297_226_752f64.to_bits()),
    ];
    check_longs(variables, "u64", &longs);
    let words = [
        ("u32(w)", 0x8000_0000),
        ("bitcast<u32>(i32(w))", 0x8000_0000),
        ("bitcast<u32>(f32(w))", 9_223_372_043_297_226_752f32.to_bits()),
        ("bitcast<u32>(f32(bitcast<i64>(w)))", (-9_223_372_030_412_324_864f32).to_bits()),
        ("bitcast<u32>(i32(o - 7li))", (-7i32).cast_unsigned()),
        ("u32(bool(w))", 1),
        ("u32(bool(o))", 0),
        ("u32(d - 3.0lf)", 0),
        ("u32(d + 1e12lf)", u32::MAX),
        ("bitcast<u32>(i32(d - 1e12lf))", 0x8000_0000),
        ("bitcast<u32>(f32(d + 0.1lf))", 0.1f32.to_bits()),
    ];
    check_words("", variables, &words);
}

#[test]
fn floats_of_64_bits() {
    let (a, b) = (0.1f64, -2.75f64);
    let cases: [(&str, f64); 36] = [
        ("a + b", a + b),
        ("a - b", a - b),
        ("a * b", a * b),
        ("a / b", a / b),
        ("b % 2.0lf", -0.75),
        ("-a", -a),
        ("abs(b)", 2.75),
        ("sqrt(a)", a.sqrt()),
        ("floor(b)", -3.0),
        ("ceil(b)", -2.0),
        ("trunc(b)", -2.0),
        ("round(b + 0.25lf)", -2.0),
        ("fract(b)", 0.25),
        ("sign(b)", -1.0),
        ("min(a, b)", b),
        ("max(a, b)", a),
        ("clamp(b, o, a)", 0.0),
        ("saturate(a + 5.0lf)", 1.0),
        ("step(a, b)", 0.0),
        ("mix(a, b, 0.25lf)", a * 0.75 + b * 0.25),
        ("fma(a, b, a)", a.mul_add(b, a)),
        ("modf(b).fract", -0.75),
        ("modf(b).whole", -2.0),
        ("frexp(b).fract", -0.6875),
        ("f64(frexp(b).exp)", 2.0),
        ("ldexp(a, i32(z) + 5)", a * 32.0),
        ("inverseSqrt(o + 4.0lf)", 0.5),
        ("select(a, b, a > b)", b),
        ("dot(vec3(a, b, 1.0lf), vec3(2.0lf, 4.0lf, 8.0lf))", a * 2.0 + b * 4.0 + 8.0),
        ("length(vec2(o + 3.0lf, o + 4.0lf))", 5.0),
        ("cross(vec3(a, b, o), vec3(o, o + 1.0lf, a)).z", a),
        ("normalize(vec2(o + 3.0lf, o + 4.0lf)).x", 0.6),
        ("determinant(mat2x2<f64>(a, b, o + 3.0lf, o + 4.0lf))", a * 4.0 - 3.0 * b),
        ("transpose(mat2x3<f64>(a, b, o, o, a, b))[2].y", b),
        ("(mat2x2<f64>(a, b, o, a) * vec2(2.0lf, 3.0lf)).y", b * 2.0 + a * 3.0),
        ("(mat2x2<f64>(a, b, o, a) * mat2x2<f64>(a, b, o, a))[0].y", b * a + a * b),
    ];
    let cases = cases.map(|(text, value)| (text, value.to_bits()));
    let variables = "var o = f64(z); var a = o + 0.1lf; var b = o - 2.75lf;";
    check_longs(variables, "bitcast<u64>", &cases);
    let tests = [
        ("u32(a > b) + 2u * u32(a >= b)", 3),
        ("u32(a < b) + 2u * u32(a <= b)", 0),
        ("u32(a == a) + 2u * u32(a != a)", 1),
        ("u32(bool(a)) + 2u * u32(bool(o))", 1),
    ];
    check_words("", variables, &tests);
}

#[test]
fn floats_of_16_bits_round_after_each_operation() {
    let h = |value: f64| f16::from_f64(value);
    let word = |value: f16| value.to_f32().to_bits();
    let (a, b) = (h(0.1), h(-2.75));
    // `half` rounds each operation, as f16 hardware does.
    let cases = [
        ("a + b", a + b),
        ("a - b", a - b),
        ("a * b", a * b),
        ("a / b", a / b),
        ("b % 2.0h", h(-0.75)),
        ("a * a * a", a * a * a),
        ("-b", h(2.75)),
        ("abs(b)", h(2.75)),
        ("sqrt(a)", h(a.to_f64().sqrt())),
        ("floor(b)", h(-3.0)),
        ("round(b)", h(-3.0)),
        ("fract(b)", h(0.25)),
        ("sign(b)", h(-1.0)),
        ("min(a, b)", b),
        ("max(a, b)", a),
        ("clamp(b, o, a)", h(0.0)),
        ("saturate(a + 4.0h)", h(1.0)),
        ("fma(a, a, b)", h(a.to_f64() * a.to_f64() + b.to_f64())),
        ("modf(b).fract", h(-0.75)),
        ("modf(b).whole", h(-2.0)),
        ("frexp(b).fract", h(-0.6875)),
        ("ldexp(b, i32(z) + 2)", h(-11.0)),
        ("o + 60000.0h + 60000.0h", f16::INFINITY),
        ("(o + 2048.0h) + 1.0h", h(2048.0)),
        ("dot(vec2(a, b), vec2(b, a))", a * b + b * a),
        ("(mat2x2<f16>(a, b, b, a) * vec2(a, b)).x", a * a + b * b),
        ("f16(i32(z) - 2049)", h(-2048.0)),
        ("f16(z + 5u)", h(5.0)),
        ("f16(f64(z) + 0.1lf)", a),
        ("vec3<f16>(vec3<f32>(f32(z) + 0.1)).z", a),
    ];
    let texts: Vec<String> =
        cases.iter().map(|(text, _)| format!("bitcast<u32>(f32({text}))")).collect();
    let cases: Vec<(&str, u32)> =
        texts.iter().zip(cases).map(|(text, (_, value))| (text.as_str(), word(value))).collect();
    let variables = "var o = f16(z); var a = o + 0.1h; var b = o - 2.75h;";
    check_words("enable f16;", variables, &cases);
    let words = [
        ("u32(a > b) + 2u * u32(a == b)", 1),
        ("u32(frexp(b).exp)", 2),
        ("u32(a + 7.9h)", 8),
        ("bitcast<u32>(i32(b))", (-2i32).cast_unsigned()),
        ("u32(i64(b) + 5li)", 3),
        ("u32(bool(a)) + 2u * u32(bool(o))", 1),
    ];
    check_words("enable f16;", variables, &words);
}

#[test]
fn integers_of_16_bits_wrap_at_16() {
    let head = "enable wgpu_int16;";
    let variables =
        "var a = i16(z) + i16(7); var b = i16(z) - i16(3); var m = i16(z) + i16(-32768);
         var p = u16(z) + u16(65535); var o = u16(z);";
    let signed = |value: i32| value.cast_unsigned();
    let cases = [
        ("bitcast<u32>(i32(a * b))", signed(-21)),
        ("bitcast<u32>(i32(m - i16(1)))", 32767),
        ("bitcast<u32>(i32(-m))", signed(-32768)),
        ("bitcast<u32>(i32(m / (b + i16(2))))", signed(-32768)),
        ("bitcast<u32>(i32(m % (b + i16(2))))", 0),
        ("bitcast<u32>(i32(a / i16(o)))", 7),
        ("bitcast<u32>(i32(a % i16(o)))", 0),
        ("bitcast<u32>(i32(b / i16(2)))", signed(-1)),
        ("bitcast<u32>(i32(abs(b)))", 3),
        ("bitcast<u32>(i32(abs(m)))", signed(-32768)),
        ("bitcast<u32>(i32(sign(b)))", signed(-1)),
        ("bitcast<u32>(i32(min(a, b)))", signed(-3)),
        ("bitcast<u32>(i32(max(a, m)))", 7),
        ("bitcast<u32>(i32(clamp(a, b, i16(2))))", 2),
        ("bitcast<u32>(i32(b >> (z + 1u)))", signed(-2)),
        ("bitcast<u32>(i32(~a))", signed(-8)),
        ("u32(p + u16(1))", 0),
        ("u32(p * p)", 1),
        ("u32(p << (z + 4u))", 0xfff0),
        ("u32(p >> (z + 4u))", 0x0fff),
        ("u32(p / o)", 65535),
        ("u32(p % o)", 0),
        ("u32(p / u16(10))", 6553),
        ("u32((p ^ u16(255)) & u16(511))", 256),
        ("u32(u16(b))", 0xfffd),
        ("u32(u16(z + 70000u))", 70000 - 65536),
        ("bitcast<u32>(i32(i16(z + 40000u)))", signed(40000 - 65536)),
        ("u32(a > b) + 2u * u32(p > o)", 3),
        ("bitcast<u32>(f32(b))", (-3f32).to_bits()),
        ("bitcast<u32>(i32(i16(f32(z) - 2.7)))", signed(-2)),
        ("u32(i64(b) + 5li)", 2),
    ];
    check_words(head, variables, &cases);
}

#[test]
fn integers_of_32_bits_by_the_rules() {
    let variables = "var o = i32(z); var a = o + 7; var b = o - 3; var m = o - 2147483647 - 1;";
    let signed = |value: i32| value.cast_unsigned();
    let cases = [
        ("bitcast<u32>(a / o)", 7),
        ("bitcast<u32>(a % o)", 0),
        ("bitcast<u32>(m / (o - 1))", signed(i32::MIN)),
        ("bitcast<u32>(m % (o - 1))", 0),
        ("bitcast<u32>(b / 2)", signed(-1)),
        ("bitcast<u32>(b % 2)", signed(-1)),
        ("bitcast<u32>(m * b)", signed(i32::MIN)),
        ("(z + 7u) / z", 7),
        ("(z + 7u) % z", 0),
        ("(z + 5u) << (z + 32u)", 5),
        ("(z + 5u) << (z + 63u)", 0x8000_0000),
        ("bitcast<u32>(b >> (z + 40u))", signed(-1)),
        ("(z - 1u) >> (z + 35u)", u32::MAX >> 3),
        ("bitcast<u32>(vec3(a, b, m).zyx.x)", signed(i32::MIN)),
        ("bitcast<u32>((vec2(a, b) / vec2(o, 2)).x)", 7),
        ("bitcast<u32>((vec2(a, b) % 2).y)", signed(-1)),
        ("bitcast<u32>(dot(vec2(a, b), vec2(b, a)))", signed(-42)),
    ];
    check_words("", variables, &cases);
}

#[test]
fn modf_and_frexp_of_vectors_and_edges() {
    let variables = "var o = f32(z); var v = vec3<f32>(o - 2.75, o + 0.0, o + 1e-40);
        var n = modf(v); var e = frexp(v);";
    let tiny = 1e-40f32;
    // A product with a power of two is exact once it is a normal number, in two steps here.
    let exponent = (-132i32).cast_unsigned();
    let fraction = tiny * 2f32.powi(66) * 2f32.powi(66);
    assert!((0.5..1.0).contains(&fraction));
    let cases = [
        ("bitcast<u32>(n.fract.x)", (-0.75f32).to_bits()),
        ("bitcast<u32>(n.whole.x)", (-2f32).to_bits()),
        ("bitcast<u32>(n.fract.z)", tiny.to_bits()),
        ("bitcast<u32>(e.fract.x)", (-0.6875f32).to_bits()),
        ("bitcast<u32>(e.exp.x)", 2),
        ("bitcast<u32>(e.fract.y)", 0),
        ("bitcast<u32>(e.exp.y)", 0),
        ("bitcast<u32>(e.fract.z)", fraction.to_bits()),
        ("bitcast<u32>(e.exp.z)", exponent),
        ("bitcast<u32>(ldexp(e.fract, e.exp).z)", tiny.to_bits()),
        ("bitcast<u32>(modf(o + 3.5).whole)", 3f32.to_bits()),
        ("bitcast<u32>(frexp(o + 8.0).exp)", 4),
    ];
    check_words("", variables, &cases);
}

#[test]
fn bit_functions_of_64_bits() {
    let a = 0x0123_4567_89ab_cdefu64;
    let cases: [(&str, u64); 22] = [
        ("countOneBits(a)", 32),
        ("countOneBits(o - 1lu)", 64),
        ("countLeadingZeros(a)", 7),
        ("countLeadingZeros(o)", 64),
        ("countTrailingZeros(a << 12u)", 12),
        ("countTrailingZeros(o)", 64),
        ("reverseBits(a)", 0xf7b3_d591_e6a2_c480),
        ("firstLeadingBit(a)", 56),
        ("firstLeadingBit(o)", u64::MAX),
        ("firstTrailingBit(a << 33u)", 33),
        ("firstTrailingBit(o)", u64::MAX),
        ("bitcast<u64>(firstLeadingBit(bitcast<i64>(~a)))", 56),
        ("bitcast<u64>(firstLeadingBit(bitcast<i64>(o - 1lu)))", u64::MAX),
        ("extractBits(a, z + 28u, 16u)", 0x5678),
        ("extractBits(a, z + 60u, 16u)", 0),
        ("extractBits(a, z + 52u, 64u)", 0x012),
        ("extractBits(a, z, 64u)", a),
        ("extractBits(a, z + 80u, 3u)", 0),
        ("bitcast<u64>(extractBits(bitcast<i64>(a), z + 8u, 16u))", 0xffff_ffff_ffff_abcd),
        ("insertBits(a, o - 1lu, z + 28u, 8u)", 0x0123_456f_f9ab_cdef),
        ("insertBits(a, o, z + 32u, 64u)", 0x89ab_cdef),
        ("insertBits(a, o, z + 64u, 1u)", a),
    ];
    check_longs("var o = u64(z); var a = o + 0x0123456789abcdeflu;", "u64", &cases);
}

#[test]
fn bit_functions_of_16_bits() {
    let variables = "var a = u16(z + 0x12f0u); var o = u16(z); var b = i16(z) - i16(9);";
    let cases = [
        ("u32(countOneBits(a))", 6),
        ("u32(countLeadingZeros(a))", 3),
        ("u32(countLeadingZeros(o))", 16),
        ("u32(countTrailingZeros(a))", 4),
        ("u32(countTrailingZeros(o))", 16),
        ("u32(reverseBits(a))", 0x0f48),
        ("u32(firstLeadingBit(a))", 12),
        ("u32(firstLeadingBit(o))", 0xffff),
        ("u32(firstTrailingBit(a))", 4),
        ("u32(extractBits(a, z + 4u, 8u))", 0x2f),
        ("u32(extractBits(a, z + 12u, 32u))", 1),
        ("u32(insertBits(a, u16(z + 0xabcu), z + 8u, 32u))", 0xbcf0),
        ("bitcast<u32>(i32(countOneBits(b)))", 15),
        ("bitcast<u32>(i32(firstLeadingBit(b)))", 3),
        ("bitcast<u32>(i32(reverseBits(b)))", 0xffff_efff),
        ("bitcast<u32>(i32(extractBits(b, z, 4u)))", 7),
        ("bitcast<u32>(i32(extractBits(b, z + 3u, 5u)))", (-2i32).cast_unsigned()),
    ];
    check_words("enable wgpu_int16;", variables, &cases);
}
