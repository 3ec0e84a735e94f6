//! Functions of one lane: WGSL's arithmetic that is more than one machine instruction.
//!
//! Input and output: words as registers hold them (`op`). Every function is total: no value makes
//! one panic, since inactive lanes may hold anything. Integer rules are WGSL's: `x / 0` is `x`,
//! `x % 0` is 0, the most negative number divided by −1 is itself; conversions from floats saturate
//! to the outermost values that the float type can hold exactly, as naga emits them, and give 0 for
//! NaN.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::inline_always,
    reason = "this module is WGSL's conversions"
)]

use half::f16;

/// Writes functions of floats for words (`f32`) and for 64-bit scalars (`f64`).
macro_rules! float_functions {
    ($($name:ident($($arg:ident),+) -> $body:expr;)*) => {
        /// Functions of `f32`.
        pub(in crate::simulate) mod single {
            #![allow(dead_code, reason = "some functions of f32 are instructions of their own")]
            type Float = f32;
            $(pub(in crate::simulate) fn $name($($arg: u32),+) -> u32 {
                $(let $arg = Float::from_bits($arg);)+
                let value: Float = $body;
                value.to_bits()
            })*
        }
        /// Functions of `f64`.
        pub(in crate::simulate) mod double {
            type Float = f64;
            $(pub(in crate::simulate) fn $name($($arg: u64),+) -> u64 {
                $(let $arg = Float::from_bits($arg);)+
                let value: Float = $body;
                value.to_bits()
            })*
        }
    };
}

float_functions! {
    neg(x) -> -x;
    abs(x) -> x.abs();
    add(x, y) -> x + y;
    sub(x, y) -> x - y;
    mul(x, y) -> x * y;
    div(x, y) -> x / y;
    rem(x, y) -> x % y;
    min(x, y) -> if y < x { y } else { x };
    max(x, y) -> if x < y { y } else { x };
    sqrt(x) -> x.sqrt();
    inverse_sqrt(x) -> 1.0 / x.sqrt();
    cos(x) -> x.cos();
    cosh(x) -> x.cosh();
    sin(x) -> x.sin();
    sinh(x) -> x.sinh();
    tan(x) -> x.tan();
    tanh(x) -> x.tanh();
    acos(x) -> x.acos();
    asin(x) -> x.asin();
    atan(x) -> x.atan();
    atan2(y, x) -> y.atan2(x);
    asinh(x) -> x.asinh();
    acosh(x) -> x.acosh();
    atanh(x) -> x.atanh();
    radians(x) -> x.to_radians();
    degrees(x) -> x.to_degrees();
    ceil(x) -> x.ceil();
    floor(x) -> x.floor();
    round(x) -> x.round_ties_even();
    trunc(x) -> x.trunc();
    fract(x) -> x - x.floor();
    modf_fract(x) -> if x.is_infinite() { (0.0 as Float).copysign(x) } else { x - x.trunc() };
    exp(x) -> x.exp();
    exp2(x) -> x.exp2();
    ln(x) -> x.ln();
    log2(x) -> x.log2();
    pow(x, y) -> x.powf(y);
    sign(x) -> if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    step(edge, x) -> if edge <= x { 1.0 } else { 0.0 };
}

fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

fn s(word: u32) -> i32 {
    word.cast_signed()
}

// Conversions

/// `f32(i32)`.
#[inline(always)]
pub(super) fn float_from_s(a: u32) -> u32 {
    (a.cast_signed() as f32).to_bits()
}

/// `f32(u32)`.
#[inline(always)]
pub(super) fn float_from_u(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// `i32(f32)`: from −2³¹ to 2³¹ − 128.
#[inline(always)]
pub(super) fn s_from_float(a: u32) -> u32 {
    let value = f32::from_bits(a);
    (if value > 2_147_483_520.0 { 2_147_483_520 } else { value as i32 }).cast_unsigned()
}

/// `u32(f32)`: from 0 to 2³² − 256.
#[inline(always)]
pub(super) fn u_from_float(a: u32) -> u32 {
    let value = f32::from_bits(a);
    if value > 4_294_967_040.0 { 4_294_967_040 } else { value as u32 }
}

/// `f16` bits of the nearest `f16`.
pub(super) fn float_to_half(a: u32) -> u32 {
    u32::from(f16::from_f32(f(a)).to_bits())
}

/// The value of `f16` bits.
pub(super) fn half_to_float(a: u32) -> u32 {
    f16::from_bits(a as u16).to_f32().to_bits()
}

/// The nearest value that `f16` has.
pub(super) fn round_half(a: u32) -> u32 {
    half_to_float(float_to_half(a))
}

/// The low 16 bits as a signed number.
pub(super) fn sign_extend_short(a: u32) -> u32 {
    i32::from(a as u16 as i16).cast_unsigned()
}

/// Clamps an `f16` to what `i32(f16)` may give: every finite one fits; infinities give 65504.
pub(super) fn clamp_half(a: u32) -> u32 {
    let value = f(a);
    if value.is_nan() { 0 } else { value.clamp(-65504.0, 65504.0).to_bits() }
}

/// `i16(…)` of a float.
pub(super) fn short_from_float(a: u32) -> u32 {
    i32::from(f(a).clamp(-32768.0, 32767.0) as i16).cast_unsigned()
}

/// `u16(…)` of a float.
pub(super) fn ushort_from_float(a: u32) -> u32 {
    u32::from(f(a).clamp(0.0, 65535.0) as u16)
}

pub(super) fn double_from_float(a: u32) -> u64 {
    f64::from(f(a)).to_bits()
}

pub(super) fn double_from_s(a: u32) -> u64 {
    f64::from(s(a)).to_bits()
}

pub(super) fn double_from_u(a: u32) -> u64 {
    f64::from(a).to_bits()
}

pub(super) fn long_from_s(a: u32) -> u64 {
    i64::from(s(a)).cast_unsigned()
}

pub(super) fn long_from_u(a: u32) -> u64 {
    u64::from(a)
}

/// `i64(f32)`: to 2⁶³ − 2³⁹.
pub(super) fn long_from_float(a: u32) -> u64 {
    let value = f(a);
    let most = 9_223_371_487_098_961_920.0;
    (if value > most { most as i64 } else { value as i64 }).cast_unsigned()
}

/// `u64(f32)`: to 2⁶⁴ − 2⁴⁰.
pub(super) fn ulong_from_float(a: u32) -> u64 {
    let value = f(a);
    let most = 18_446_742_974_197_923_840.0;
    if value > most { most as u64 } else { value as u64 }
}

pub(super) fn float_from_double(a: u64) -> u32 {
    (f64::from_bits(a) as f32).to_bits()
}

pub(super) fn half_from_double(a: u64) -> u32 {
    f16::from_f64(f64::from_bits(a)).to_f32().to_bits()
}

pub(super) fn s_from_double(a: u64) -> u32 {
    (f64::from_bits(a) as i32).cast_unsigned()
}

pub(super) fn u_from_double(a: u64) -> u32 {
    f64::from_bits(a) as u32
}

/// `i64(f64)`: to 2⁶³ − 1024.
pub(super) fn long_from_double(a: u64) -> u64 {
    let value = f64::from_bits(a);
    if value > 9_223_372_036_854_774_784.0 {
        9_223_372_036_854_774_784
    } else {
        (value as i64).cast_unsigned()
    }
}

/// `u64(f64)`: to 2⁶⁴ − 2048.
pub(super) fn ulong_from_double(a: u64) -> u64 {
    let value = f64::from_bits(a);
    if value > 18_446_744_073_709_549_568.0 { 18_446_744_073_709_549_568 } else { value as u64 }
}

pub(super) fn float_from_long(a: u64) -> u32 {
    (a.cast_signed() as f32).to_bits()
}

pub(super) fn float_from_ulong(a: u64) -> u32 {
    (a as f32).to_bits()
}

pub(super) fn double_from_long(a: u64) -> u64 {
    (a.cast_signed() as f64).to_bits()
}

pub(super) fn double_from_ulong(a: u64) -> u64 {
    (a as f64).to_bits()
}

pub(super) fn low_word(a: u64) -> u32 {
    a as u32
}

pub(super) fn index_from_long(a: u64) -> u32 {
    u32::try_from(a).unwrap_or(u32::MAX)
}

// Integers

pub(super) fn div_s(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { s(a).wrapping_div(s(b)).cast_unsigned() }
}

pub(super) fn rem_s(a: u32, b: u32) -> u32 {
    if b == 0 { 0 } else { s(a).wrapping_rem(s(b)).cast_unsigned() }
}

pub(super) fn div_u(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(a)
}

pub(super) fn rem_u(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(0)
}

pub(super) fn sign_s(a: u32) -> u32 {
    s(a).signum().cast_unsigned()
}

pub(super) fn dot4_s(a: u32, b: u32) -> u32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    products.map(|(a, b)| i32::from(a as i8) * i32::from(b as i8)).sum::<i32>().cast_unsigned()
}

pub(super) fn dot4_u(a: u32, b: u32) -> u32 {
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| u32::from(a) * u32::from(b)).sum()
}

// Integers of 64 bits

pub(super) fn long_neg(a: u64) -> u64 {
    a.wrapping_neg()
}

pub(super) fn long_not(a: u64) -> u64 {
    !a
}

pub(super) fn long_abs(a: u64) -> u64 {
    a.cast_signed().wrapping_abs().cast_unsigned()
}

pub(super) fn long_sign(a: u64) -> u64 {
    a.cast_signed().signum().cast_unsigned()
}

pub(super) fn long_add(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

pub(super) fn long_sub(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b)
}

pub(super) fn long_mul(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b)
}

pub(super) fn long_div_s(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { a.cast_signed().wrapping_div(b.cast_signed()).cast_unsigned() }
}

pub(super) fn long_rem_s(a: u64, b: u64) -> u64 {
    if b == 0 { 0 } else { a.cast_signed().wrapping_rem(b.cast_signed()).cast_unsigned() }
}

pub(super) fn long_div_u(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(a)
}

pub(super) fn long_rem_u(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(0)
}

pub(super) fn long_and(a: u64, b: u64) -> u64 {
    a & b
}

pub(super) fn long_or(a: u64, b: u64) -> u64 {
    a | b
}

pub(super) fn long_xor(a: u64, b: u64) -> u64 {
    a ^ b
}

pub(super) fn long_shl(a: u64, b: u64) -> u64 {
    a << (b & 63)
}

pub(super) fn long_shr_u(a: u64, b: u64) -> u64 {
    a >> (b & 63)
}

pub(super) fn long_shr_s(a: u64, b: u64) -> u64 {
    (a.cast_signed() >> (b & 63)).cast_unsigned()
}

pub(super) fn long_min_u(a: u64, b: u64) -> u64 {
    a.min(b)
}

pub(super) fn long_max_u(a: u64, b: u64) -> u64 {
    a.max(b)
}

pub(super) fn long_min_s(a: u64, b: u64) -> u64 {
    a.cast_signed().min(b.cast_signed()).cast_unsigned()
}

pub(super) fn long_max_s(a: u64, b: u64) -> u64 {
    a.cast_signed().max(b.cast_signed()).cast_unsigned()
}

pub(super) fn long_eq(a: u64, b: u64) -> u32 {
    u32::from(a == b)
}

pub(super) fn long_ne(a: u64, b: u64) -> u32 {
    u32::from(a != b)
}

pub(super) fn long_lt_u(a: u64, b: u64) -> u32 {
    u32::from(a < b)
}

pub(super) fn long_le_u(a: u64, b: u64) -> u32 {
    u32::from(a <= b)
}

pub(super) fn long_lt_s(a: u64, b: u64) -> u32 {
    u32::from(a.cast_signed() < b.cast_signed())
}

pub(super) fn long_le_s(a: u64, b: u64) -> u32 {
    u32::from(a.cast_signed() <= b.cast_signed())
}

pub(super) fn double_eq(a: u64, b: u64) -> u32 {
    u32::from(f64::from_bits(a) == f64::from_bits(b))
}

pub(super) fn double_ne(a: u64, b: u64) -> u32 {
    u32::from(f64::from_bits(a) != f64::from_bits(b))
}

pub(super) fn double_lt(a: u64, b: u64) -> u32 {
    u32::from(f64::from_bits(a) < f64::from_bits(b))
}

pub(super) fn double_le(a: u64, b: u64) -> u32 {
    u32::from(f64::from_bits(a) <= f64::from_bits(b))
}

// Floats

pub(super) fn is_nan(a: u32) -> u32 {
    u32::from(f(a).is_nan())
}

pub(super) fn is_inf(a: u32) -> u32 {
    u32::from(f(a).is_infinite())
}

pub(super) fn double_is_nan(a: u64) -> u32 {
    u32::from(f64::from_bits(a).is_nan())
}

pub(super) fn double_is_inf(a: u64) -> u32 {
    u32::from(f64::from_bits(a).is_infinite())
}

/// `fma` of `f16`: the sum of an exact product, rounded once.
pub(super) fn fma_half(a: u32, b: u32, c: u32) -> u32 {
    let sum = f64::from(f(a)).mul_add(f64::from(f(b)), f64::from(f(c)));
    f16::from_f64(sum).to_f32().to_bits()
}

/// `fma` of `f16` as a multiplication and an addition.
pub(super) fn mul_add_half(a: u32, b: u32, c: u32) -> u32 {
    round_half((f(round_half((f(a) * f(b)).to_bits())) + f(c)).to_bits())
}

/// Splits a finite number into a fraction in [0.5, 1) and a power of two; others come back with 0.
fn frexp(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    // Subnormal numbers are scaled up first.
    let (scaled, less) =
        if value.abs() < f64::MIN_POSITIVE { (value * 2f64.powi(64), 64) } else { (value, 0) };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let fraction = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (fraction, exponent - less)
}

pub(super) fn frexp_fract(a: u32) -> u32 {
    (frexp(f64::from(f(a))).0 as f32).to_bits()
}

pub(super) fn frexp_exp(a: u32) -> u32 {
    frexp(f64::from(f(a))).1.cast_unsigned()
}

pub(super) fn double_frexp_fract(a: u64) -> u64 {
    frexp(f64::from_bits(a)).0.to_bits()
}

pub(super) fn double_frexp_exp(a: u64) -> u64 {
    i64::from(frexp(f64::from_bits(a)).1).cast_unsigned()
}

/// `x · 2^e` in steps that neither overflow nor lose bits early.
fn scale(value: f64, exponent: i32) -> f64 {
    let mut rest = exponent.clamp(-4400, 4400);
    let mut value = value;
    while rest != 0 {
        let step = rest.clamp(-1000, 1000);
        value *= 2f64.powi(step);
        rest -= step;
    }
    value
}

pub(super) fn ldexp(a: u32, exponent: u32) -> u32 {
    (scale(f64::from(f(a)), s(exponent)) as f32).to_bits()
}

pub(super) fn double_ldexp(a: u64, exponent: u64) -> u64 {
    scale(f64::from_bits(a), s(exponent as u32)).to_bits()
}

// Packing

pub(super) fn pack_snorm8(a: u32) -> u32 {
    ((0.5 + 127.0 * f(a).clamp(-1.0, 1.0)).floor() as i32).cast_unsigned() & 0xff
}

pub(super) fn pack_unorm8(a: u32) -> u32 {
    (0.5 + 255.0 * f(a).clamp(0.0, 1.0)).floor() as u32 & 0xff
}

pub(super) fn pack_snorm16(a: u32) -> u32 {
    ((0.5 + 32767.0 * f(a).clamp(-1.0, 1.0)).floor() as i32).cast_unsigned() & 0xffff
}

pub(super) fn pack_unorm16(a: u32) -> u32 {
    (0.5 + 65535.0 * f(a).clamp(0.0, 1.0)).floor() as u32 & 0xffff
}

pub(super) fn unpack_snorm8(a: u32) -> u32 {
    (f32::from(a as u8 as i8) / 127.0).max(-1.0).to_bits()
}

pub(super) fn unpack_unorm8(a: u32) -> u32 {
    (f32::from(a as u8) / 255.0).to_bits()
}

pub(super) fn unpack_snorm16(a: u32) -> u32 {
    (f32::from(a as u16 as i16) / 32767.0).max(-1.0).to_bits()
}

pub(super) fn unpack_unorm16(a: u32) -> u32 {
    (f32::from(a as u16) / 65535.0).to_bits()
}

pub(super) fn clamp_s8(a: u32) -> u32 {
    s(a).clamp(-128, 127).cast_unsigned()
}

pub(super) fn clamp_u8(a: u32) -> u32 {
    a.min(255)
}

pub(super) fn sign_extend_byte(a: u32) -> u32 {
    i32::from(a as u8 as i8).cast_unsigned()
}

// What atomics and collectives fold with

pub(super) fn second(_: u32, b: u32) -> u32 {
    b
}

pub(super) fn long_second(_: u64, b: u64) -> u64 {
    b
}

pub(super) fn add(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

pub(super) fn sub(a: u32, b: u32) -> u32 {
    a.wrapping_sub(b)
}

pub(super) fn mul(a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

pub(super) fn and(a: u32, b: u32) -> u32 {
    a & b
}

pub(super) fn or(a: u32, b: u32) -> u32 {
    a | b
}

pub(super) fn xor(a: u32, b: u32) -> u32 {
    a ^ b
}

pub(super) fn min_u(a: u32, b: u32) -> u32 {
    a.min(b)
}

pub(super) fn max_u(a: u32, b: u32) -> u32 {
    a.max(b)
}

pub(super) fn min_s(a: u32, b: u32) -> u32 {
    s(a).min(s(b)).cast_unsigned()
}

pub(super) fn max_s(a: u32, b: u32) -> u32 {
    s(a).max(s(b)).cast_unsigned()
}

pub(super) fn short_add(a: u32, b: u32) -> u32 {
    sign_extend_short(add(a, b))
}

pub(super) fn short_mul(a: u32, b: u32) -> u32 {
    sign_extend_short(mul(a, b))
}

pub(super) fn ushort_add(a: u32, b: u32) -> u32 {
    add(a, b) & 0xffff
}

pub(super) fn ushort_mul(a: u32, b: u32) -> u32 {
    mul(a, b) & 0xffff
}

pub(super) fn half_add(a: u32, b: u32) -> u32 {
    round_half(single::add(a, b))
}

pub(super) fn half_mul(a: u32, b: u32) -> u32 {
    round_half(single::mul(a, b))
}
