//! Arithmetic: WGSL's rules and built-in functions against values worked out in Rust.

use super::*;

#[test]
fn integer_edges() {
    let found = evaluate(&[
        "(i + 7) / i",
        "(i + 7) % i",
        "(i - 2147483647 - 1) / (i - 1)",
        "(i - 2147483647 - 1) % (i - 1)",
        "(u + 7u) / u",
        "(u + 7u) % u",
        "(i - 7) / 2",
        "(i - 7) % 2",
        "(u + 1u) << (u + 33u)",
        "(i - 8) >> (u + 1u)",
        "u - 1u",
        "(u + 0x80000000u) * 2u",
        "abs(i - 2147483647 - 1)",
        "-(i - 2147483647 - 1)",
        "sign(i - 9)",
        "clamp(i + 5, 7, 9)",
    ]);
    let min = i32::MIN.cast_unsigned();
    let expected = [
        7,
        0,
        min,
        0,
        7,
        0,
        (-3i32).cast_unsigned(),
        (-1i32).cast_unsigned(),
        2,
        (-4i32).cast_unsigned(),
        u32::MAX,
        0,
        min,
        min,
        u32::MAX,
        7,
    ];
    assert_eq!(found, expected);
}

#[test]
fn conversions_saturate() {
    let found = evaluate(&[
        "i32(f + 1e10)",
        "i32(f - 1e10)",
        "u32(f + 1e10)",
        "u32(f - 3.0)",
        "i32(f - 2.7)",
        "f32(u + 16777217u)",
        "f32(i - 3)",
        "u32(f != 0.0)",
        "f32(u == 0u)",
        "i32(f / f)",
    ]);
    let expected = [
        2_147_483_520,
        i32::MIN.cast_unsigned(),
        4_294_967_040,
        0,
        (-2i32).cast_unsigned(),
        16_777_216f32.to_bits(),
        (-3f32).to_bits(),
        0,
        1f32.to_bits(),
        0,
    ];
    assert_eq!(found, expected);
}

#[test]
fn bit_functions() {
    let found = evaluate(&[
        "countOneBits(u + 0xf0u)",
        "countLeadingZeros(u + 0xf0u)",
        "countTrailingZeros(u + 0xf0u)",
        "reverseBits(u + 1u)",
        "firstLeadingBit(u)",
        "firstLeadingBit(i - 1)",
        "firstLeadingBit(i - 9)",
        "firstTrailingBit(u + 8u)",
        "extractBits(u + 0xabcdu, 4u, 8u)",
        "extractBits(i + 0xabcd, 8u, 8u)",
        "extractBits(u + 5u, 40u, 3u)",
        "insertBits(u + 0xffffffffu, 0u, 4u, 8u)",
        "dot4I8Packed(u + 0x01ff0203u, 0x01020304u)",
        "dot4U8Packed(u + 0x01ff0203u, 0x01020304u)",
    ]);
    let expected = [
        4,
        24,
        4,
        0x8000_0000,
        u32::MAX,
        u32::MAX,
        3,
        3,
        0xbc,
        0xffff_ffab,
        0,
        0xffff_f00f,
        17,
        1 + 510 + 6 + 12,
    ];
    assert_eq!(found, expected);
}

#[test]
fn float_operations_are_exact() {
    let found = evaluate(&[
        "(f + 1.1) + 2.3",
        "(f + 1.1) - 2.3",
        "(f + 1.1) * 2.3",
        "(f + 1.1) / 2.3",
        "(f + 7.5) % 2.0",
        "sqrt(f + 2.0)",
        "floor(f - 1.5)",
        "ceil(f - 1.5)",
        "round(f + 2.5)",
        "trunc(f - 1.5)",
        "fract(f - 1.25)",
        "min(f + 1.0, 2.0)",
        "max(f + 1.0, 2.0)",
        "clamp(f + 5.0, 1.0, 3.0)",
        "saturate(f + 5.0)",
        "sign(f - 2.0)",
        "step(f + 1.0, 2.0)",
        "mix(f + 1.0, 3.0, 0.25)",
        "smoothstep(f, 4.0, 1.0)",
        "abs(f - 3.0)",
        "ldexp(f + 1.5, i + 3)",
        "frexp(f + 6.0).fract",
        "f32(frexp(f + 6.0).exp)",
        "modf(f - 2.75).fract",
        "modf(f - 2.75).whole",
        "quantizeToF16(f + 1.0001)",
        "degrees(f + 1.0)",
        "radians(f + 90.0)",
    ]);
    let expected = [
        1.1f32 + 2.3,
        1.1 - 2.3,
        1.1 * 2.3,
        1.1 / 2.3,
        1.5,
        2f32.sqrt(),
        -2.0,
        -1.0,
        2.0,
        -1.0,
        0.75,
        1.0,
        2.0,
        3.0,
        1.0,
        -1.0,
        1.0,
        1.5,
        0.15625,
        3.0,
        12.0,
        0.75,
        3.0,
        -0.75,
        -2.0,
        1.0,
        1f32.to_degrees(),
        90f32.to_radians(),
    ];
    assert_eq!(found, expected.map(f32::to_bits));
}

#[test]
fn transcendental_functions_are_accurate() {
    let cases: [(&str, f64); 19] = [
        ("sin(f + 1.0)", 1f64.sin()),
        ("cos(f + 1.0)", 1f64.cos()),
        ("tan(f + 1.0)", 1f64.tan()),
        ("asin(f + 0.5)", 0.5f64.asin()),
        ("acos(f + 0.5)", 0.5f64.acos()),
        ("atan(f + 0.5)", 0.5f64.atan()),
        ("atan2(f + 1.0, -2.0)", 1f64.atan2(-2.0)),
        ("sinh(f + 1.0)", 1f64.sinh()),
        ("cosh(f + 1.0)", 1f64.cosh()),
        ("tanh(f + 1.0)", 1f64.tanh()),
        ("asinh(f + 1.0)", 1f64.asinh()),
        ("acosh(f + 2.0)", 2f64.acosh()),
        ("atanh(f + 0.5)", 0.5f64.atanh()),
        ("exp(f + 2.0)", 2f64.exp()),
        ("exp2(f + 2.5)", 2.5f64.exp2()),
        ("log(f + 3.0)", 3f64.ln()),
        ("log2(f + 3.0)", 3f64.log2()),
        ("pow(f + 3.0, 2.5)", 3f64.powf(2.5)),
        ("inverseSqrt(f + 3.0)", 1.0 / 3f64.sqrt()),
    ];
    let names: Vec<&str> = cases.iter().map(|case| case.0).collect();
    for (word, (name, exact)) in evaluate(&names).into_iter().zip(cases) {
        let found = f64::from(f32::from_bits(word));
        assert!(((found - exact) / exact).abs() < 5e-7, "{name}: {found} against {exact}");
    }
}

#[test]
fn vectors_and_matrices() {
    let found = evaluate(&[
        "dot(v3 + vec3(1.0, 2.0, 3.0), vec3(4.0, 5.0, 6.0))",
        "cross(v3 + vec3(1.0, 2.0, 3.0), vec3(4.0, 5.0, 6.0)).y",
        "length(v3 + vec3(2.0, 3.0, 6.0))",
        "distance(v3 + vec3(2.0, 3.0, 6.0), vec3(0.0))",
        "normalize(v3 + vec3(0.0, 0.0, 5.0)).z",
        "reflect(v3 + vec3(1.0, -1.0, 0.0), vec3(0.0, 1.0, 0.0)).y",
        "refract(v3 + vec3(0.0, -1.0, 0.0), vec3(0.0, 1.0, 0.0), 0.5).y",
        "faceForward(v3 + vec3(0.0, 1.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 1.0, 0.0)).y",
        "determinant(mat2x2(f + 1.0, 2.0, 3.0, 4.0))",
        "determinant(mat3x3(f + 2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0))",
        "(mat2x2(f + 1.0, 2.0, 3.0, 4.0) * vec2(5.0, 6.0)).x",
        "(vec2(5.0, 6.0) * mat2x2(f + 1.0, 2.0, 3.0, 4.0)).x",
        "(mat2x3(f + 1.0, 2.0, 3.0, 4.0, 5.0, 6.0) * mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))[2].y",
        "transpose(mat2x3(f + 1.0, 2.0, 3.0, 4.0, 5.0, 6.0))[1].y",
        "(mat2x2(f + 1.0, 2.0, 3.0, 4.0) * 2.0)[1].x",
        "f32(all(v3 == vec3(0.0)))",
        "f32(any(v3 > vec3(0.0)))",
        "select(v3 + 1.0, v3 + 2.0, vec3(true, false, true)).y",
    ]);
    let expected = [
        32.0, 6.0, 7.0, 7.0, 1.0, 1.0, -1.0, -1.0, -2.0, 18.0, 23.0, 17.0, 40.0, 5.0, 6.0, 1.0,
        0.0, 1.0,
    ];
    assert_eq!(found, expected.map(f32::to_bits));
}

#[test]
fn packing_and_unpacking() {
    let found = evaluate(&[
        "pack4x8snorm(vec4(f + 1.0, -1.0, 0.0, 2.0))",
        "pack4x8unorm(vec4(f + 1.0, 0.5, 0.0, 2.0))",
        "pack2x16snorm(vec2(f + 1.0, -1.0))",
        "pack2x16unorm(vec2(f + 1.0, 0.0))",
        "pack2x16float(vec2(f + 1.0, -2.0))",
        "pack4xI8(vec4(i + 1, -1, 300, 4))",
        "pack4xU8(vec4(u + 1u, 2u, 300u, 4u))",
        "pack4xI8Clamp(vec4(i + 1, -1, 300, 4))",
        "pack4xU8Clamp(vec4(u + 1u, 2u, 300u, 4u))",
        "unpack4x8snorm(u + 0x81u).x",
        "unpack4x8unorm(u + 0xff00u).y",
        "unpack2x16snorm(u + 0x7fffu).x",
        "unpack2x16unorm(u + 0xffff0000u).y",
        "unpack2x16float(u + 0xc0003c00u).y",
        "unpack4xI8(u + 0xff00u).y",
        "unpack4xU8(u + 0xff00u).y",
    ]);
    let expected = [
        0x7f00_817f,
        0xff00_80ff,
        0x8001_7fff,
        0x0000_ffff,
        0xc000_3c00,
        0x042c_ff01,
        0x042c_0201,
        0x047f_ff01,
        0x04ff_0201,
        (-1f32).to_bits(),
        1f32.to_bits(),
        1f32.to_bits(),
        1f32.to_bits(),
        (-2f32).to_bits(),
        u32::MAX,
        255,
    ];
    assert_eq!(found, expected);
}

#[test]
fn fma_rounds_by_the_policy() {
    let expression = ["fma(f + 1.0000001, 1.0000001, -1.0000002)"];
    let a = 1.000_000_1f32;
    let c = -1.000_000_2f32;
    assert_eq!(evaluate(&expression), [a.mul_add(a, c).to_bits()]);
    let unfused = Config { fma: Fma::Unfused, ..config(4) };
    assert_eq!(evaluate_with("", &expression, &unfused), [(a * a + c).to_bits()]);
    assert_ne!(a.mul_add(a, c).to_bits(), (a * a + c).to_bits());
}

#[test]
fn sixty_four_bits_and_sixteen() {
    let found = evaluate_with(
        "enable f16;",
        &[
            "u32((u64(u) + 0x100000000lu) >> 4u)",
            "u32((i64(i) - 5li) / 2li + 10li)",
            "u32((u64(u) + 7lu) % u64(u))",
            "u32((u64(u) + 18446744073709551615lu) > 5lu)",
            "f32(f16(f) + 2049.0h)",
            "f32((f16(f) + 1.0h) / 3.0h)",
            "f32(f16(f + 70000.0))",
            "u32((i64(i) - 1li) * 3li == -3li)",
        ],
        &config(4),
    );
    let third = half::f16::from_f32(1.0 / 3.0).to_f32();
    let expected =
        [0x1000_0000, 8, 0, 1, 2048f32.to_bits(), third.to_bits(), f32::INFINITY.to_bits(), 1];
    assert_eq!(found, expected);
}
