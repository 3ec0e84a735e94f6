//! What single opcodes compute, where it is more than an operator.
//!
//! Input: bits or numbers of one lane, or a wave and an instruction where lanes take part as a
//! whole. Output: the result, or changed registers.

use super::fields::{Fields, OperandSource};
use super::wave::{Half, OperandKind, Wave};

/// The largest f32 below one.
pub const LARGEST_BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// The bits of an f32 as a number: of a denormal one, only what `kept` keeps.
#[inline]
pub fn real(value: u32, kept: u32) -> f32 {
    f32::from_bits(flush(value, kept))
}

/// A result's bits: of a denormal one, only what `kept` keeps.
#[inline]
pub fn bits(value: f32, kept: u32) -> u32 {
    flush(value.to_bits(), kept)
}

#[inline]
fn flush(value: u32, kept: u32) -> u32 {
    if value & 0x7f80_0000 == 0 { value & kept } else { value }
}

/// The bits of an f16 as a number.
pub fn number16(value: u16) -> f32 {
    half::f16::from_bits(value).to_f32()
}

/// A result of f16, rounded once: sums, products and quotients of two f16 in f32 round twice alike.
pub fn real16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

/// A multiply-add of f32 that rounds once.
///
/// The product is exact in f64. The sum is rounded to odd there, which makes the second rounding
/// harmless (Boldo and Melquiond, "When double rounding is odd", 2005).
#[inline]
pub fn fuse(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // Knuth's TwoSum: what the sum lost.
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    let bits = sum.to_bits();
    let inexact = lost != 0.0 && lost.is_finite() && bits & 1 == 0;
    // One unit towards what was lost: away from zero where the signs are alike.
    let away = (lost > 0.0) == (sum > 0.0);
    let odd = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact { odd } else { bits }) as f32
}

/// A multiply-add of f16 that rounds once.
pub fn fuse16(a: u16, b: u16, c: u16) -> u16 {
    // The product has 22 bits, the sum at most 53: exact.
    let [a, b, c] = [a, b, c].map(|value| half::f16::from_bits(value).to_f64());
    half::f16::from_f64(a * b + c).to_bits()
}

/// The lesser number; of a number and none, the number; -0 is below 0.
#[inline]
pub fn lesser(a: f32, b: f32) -> f32 {
    if b.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }
}

/// The greater number; of a number and none, the number; 0 is above -0.
#[inline]
pub fn greater(a: f32, b: f32) -> f32 {
    if b.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b }
}

/// The middle one of three; the least where one is no number.
#[inline]
pub fn middle(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return lesser(lesser(a, b), c);
    }
    greater(lesser(a, b), lesser(greater(a, b), c))
}

/// An operation of f32 on bits.
pub fn real_of(f: impl Fn(f32, f32) -> f32, a: u32, b: u32) -> u32 {
    f(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

/// The low 24 bits with their sign.
pub fn signed24(value: u32) -> i32 {
    ((value << 8) as i32) >> 8
}

/// A signed number held within 16 bits.
pub fn signed16(value: u32) -> u32 {
    (value as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff
}

/// An f32 as f16, rounded towards zero.
pub fn half_towards_zero(value: u32) -> u16 {
    let number = f32::from_bits(value);
    let nearest = half::f16::from_f32(number);
    if number.is_finite() && nearest.to_f32().abs() > number.abs() {
        nearest.to_bits() - 1
    } else {
        nearest.to_bits()
    }
}

/// The place, from the highest bit, of the first bit unlike the sign; all ones where there is none.
pub fn first_unlike_sign(value: u32) -> u32 {
    let unlike = if value >> 31 == 0 { value } else { !value };
    if unlike == 0 { u32::MAX } else { unlike.leading_zeros() }
}

/// The place of the first bit that is set; all ones where there is none.
pub fn first(value: u64) -> u32 {
    if value == 0 { u32::MAX } else { value.trailing_zeros() }
}

/// `width` bits from `offset` on.
pub fn field(value: u64, offset: u32, width: u32) -> u64 {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    value >> offset & mask
}

/// `width` bits from `offset` on, with their sign.
pub fn field_signed(value: u32, offset: u32, width: u32) -> u32 {
    if width == 0 {
        return 0;
    }
    let above = 32 - width.min(32);
    (((value as i32 >> offset) << above) >> above) as u32
}

/// Four bytes chosen from eight by the bytes of `choice`: 0 to 3 are `b`'s, 4 to 7 are `a`'s, 8 to
/// 11 the signs of the words, 12 zeros and more ones.
pub fn bytes_chosen(a: u32, b: u32, choice: u32) -> u32 {
    let bytes = (u64::from(a) << 32 | u64::from(b)).to_le_bytes();
    let chosen = choice.to_le_bytes().map(|code| match code {
        0..=7 => bytes[usize::from(code)],
        8..=11 => 0_u8.wrapping_sub(bytes[usize::from(code - 8) * 2 + 1] >> 7),
        12 => 0,
        _ => 0xff,
    });
    u32::from_le_bytes(chosen)
}

/// A number as a byte, put into byte `place` of `rest`.
pub fn place_byte(value: u32, place: u32, rest: u32) -> u32 {
    let byte = f32::from_bits(value).round_ties_even().clamp(0.0, 255.0) as u32;
    let shift = 8 * (place & 3);
    rest & !(0xff << shift) | byte << shift
}

/// The exponent e of m·2^e with m from a half to one; 0 of what has none.
pub fn exponent(value: f32) -> u32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let bits = f64::from(value).to_bits();
    ((bits >> 52 & 0x7ff) as i32 - 1022) as u32
}

/// The m of m·2^e.
pub fn mantissa(value: f32) -> f32 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let bits = f64::from(value).to_bits();
    f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) as f32
}

/// Whether a number is of a class that bits 0 to 9 of `classes` name: signalling and quiet NaN,
/// -∞, negative normal, denormal and zero, then the positive ones the other way round.
pub fn is_class(value: u32, classes: u32) -> bool {
    let number = f32::from_bits(value);
    let class = match (number.classify(), number.is_sign_negative()) {
        (std::num::FpCategory::Nan, _) => u32::from(value & 0x0040_0000 != 0),
        (std::num::FpCategory::Infinite, true) => 2,
        (std::num::FpCategory::Normal, true) => 3,
        (std::num::FpCategory::Subnormal, true) => 4,
        (std::num::FpCategory::Zero, true) => 5,
        (std::num::FpCategory::Zero, false) => 6,
        (std::num::FpCategory::Subnormal, false) => 7,
        (std::num::FpCategory::Normal, false) => 8,
        (std::num::FpCategory::Infinite, false) => 9,
    };
    classes >> class & 1 != 0
}

/// As [`is_class`], of an f16.
pub fn is_class16(value: u16, classes: u16) -> bool {
    let negative = value & 0x8000 != 0;
    let class = match (value >> 10 & 31, value & 0x3ff, negative) {
        (31, fraction, _) if fraction != 0 => u16::from(fraction & 0x200 != 0),
        (31, _, true) => 2,
        (31, _, false) => 9,
        (0, 0, true) => 5,
        (0, 0, false) => 6,
        (0, _, true) => 4,
        (0, _, false) => 7,
        (_, _, true) => 3,
        (_, _, false) => 8,
    };
    classes >> class & 1 != 0
}

/// A mask in which each group of four bits is set as a whole where one of them is.
pub fn whole_quads(mask: u64) -> u64 {
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

/// Each bit twice.
pub fn bits_twice(value: u32) -> u64 {
    (0..32).fold(0, |twice, bit| twice | u64::from(value >> bit & 1) * 3 << (2 * bit))
}

/// A signed result and its overflow.
pub fn to_signed((result, overflow): (i32, bool)) -> (u32, bool) {
    (result as u32, overflow)
}

/// A sum of 33 bits as a result and its carry; of a difference, its borrow.
pub fn with_carry(sum: u64) -> (u32, bool) {
    (sum as u32, sum >> 32 != 0)
}

/// Chooses by a mask of lanes: the second source where the lane's bit is set.
pub fn select(wave: &mut Wave, i: &Fields) {
    let mask = match i.sources[2] {
        OperandSource::Scalar(register) => wave.mask(register),
        other => wave.read64(other, OperandKind::Bits),
    };
    choose(wave, i, |lane| mask >> lane & 1 != 0);
}

fn choose(wave: &mut Wave, i: &Fields, second: impl Fn(usize) -> bool) {
    by_lane(wave, i, |lane, [a, b, _]| if second(lane) { b } else { a });
}

/// An operation that knows its lane's number.
fn by_lane(wave: &mut Wave, i: &Fields, f: impl Fn(usize, [u32; 3]) -> u32) {
    for half in 0..wave.halves() {
        if wave.half_is_on(half) {
            let [a, b, c] = wave.shaped_sources(i, half, 2);
            let mut result: Half =
                std::array::from_fn(|lane| f(32 * half + lane, [a[lane], b[lane], c[lane]]));
            wave.finish(i, half, &mut result);
        }
    }
}

/// An addition with a carry: each lane's carry in, and a mask of those out.
fn carry(wave: &mut Wave, i: &Fields, into: u64, f: impl Fn(u64, u64, u64) -> u64) {
    let mut out = 0;
    for half in 0..wave.halves() {
        let [a, b, _] = wave.shaped_sources(i, half, 2);
        let mut result = [0; 32];
        for lane in 0..32 {
            let place = 32 * half + lane;
            let sum = f(u64::from(a[lane]), u64::from(b[lane]), into >> place & 1);
            result[lane] = sum as u32;
            out |= (sum >> 32 & 1) << place;
        }
        wave.finish(i, half, &mut result);
    }
    wave.set_mask(i.scalar_destination, out & wave.exec());
}

/// The mask of carries that go in.
fn carry_in(wave: &Wave, i: &Fields) -> u64 {
    match i.sources[2] {
        OperandSource::Scalar(register) => wave.mask(register),
        other => wave.read64(other, OperandKind::Bits),
    }
}

/// a + b + carry.
pub fn add_carry(wave: &mut Wave, i: &Fields) {
    let into = carry_in(wave, i);
    carry(wave, i, into, |a, b, c| a + b + c);
}

/// a - b - carry.
pub fn subtract_carry(wave: &mut Wave, i: &Fields) {
    let into = carry_in(wave, i);
    carry(wave, i, into, |a, b, c| a.wrapping_sub(b + c));
}

/// b - a - carry.
pub fn subtract_reversed_carry(wave: &mut Wave, i: &Fields) {
    let into = carry_in(wave, i);
    carry(wave, i, into, |a, b, c| b.wrapping_sub(a + c));
}

/// a + b.
pub fn add_out(wave: &mut Wave, i: &Fields) {
    carry(wave, i, 0, |a, b, _| a + b);
}

/// a - b.
pub fn subtract_out(wave: &mut Wave, i: &Fields) {
    carry(wave, i, 0, |a, b, _| a.wrapping_sub(b));
}

/// b - a.
pub fn subtract_reversed_out(wave: &mut Wave, i: &Fields) {
    carry(wave, i, 0, |a, b, _| b.wrapping_sub(a));
}

/// a · b + c, with c and the result of 64 bits.
pub fn multiply_add_wide(wave: &mut Wave, i: &Fields) {
    wide(wave, i, |a, b, c| (u64::from(a) * u64::from(b)).overflowing_add(c));
}

/// The same with signs.
pub fn multiply_add_wide_signed(wave: &mut Wave, i: &Fields) {
    wide(wave, i, |a, b, c| {
        let product = i64::from(a as i32) * i64::from(b as i32);
        let (sum, overflow) = product.overflowing_add(c.cast_signed());
        (sum.cast_unsigned(), overflow)
    });
}

fn wide(wave: &mut Wave, i: &Fields, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
    let mut out = 0;
    for half in 0..wave.halves() {
        let (a, b) = (wave.half(i.sources[0], half), wave.half(i.sources[1], half));
        let c = wave.half64(i.sources[2], half, OperandKind::Bits);
        let mut result = [0; 32];
        for lane in 0..32 {
            let (sum, carry) = f(a[lane], b[lane], c[lane]);
            result[lane] = sum;
            out |= u64::from(carry) << (32 * half + lane);
        }
        wave.write_half64(i.destination, half, &result);
    }
    wave.set_mask(i.scalar_destination, out & wave.exec());
}

/// A shift of 64 bits by a count of 32.
pub fn shift64(wave: &mut Wave, i: &Fields, f: impl Fn(u32, u64) -> u64) {
    for half in 0..wave.halves() {
        if wave.half_is_on(half) {
            let counts = wave.half(i.sources[0], half);
            let values = wave.half64(i.sources[1], half, OperandKind::Bits);
            let result = std::array::from_fn(|lane| f(counts[lane], values[lane]));
            wave.write_half64(i.destination, half, &result);
        }
    }
}

/// a · 2^b.
pub fn scale(wave: &mut Wave, i: &Fields) {
    let kept = wave.kept32;
    by_lane(wave, i, |_, [a, b, _]| {
        let power = 2_f64.powi((b as i32).clamp(-400, 400));
        bits((f64::from(real(a, kept)) * power) as f32, kept)
    });
}

/// The bits of a that stand for lanes below one's own, of lanes 0 to 31, counted and added to b.
pub fn count_below_low(wave: &mut Wave, i: &Fields) {
    by_lane(wave, i, |lane, [a, b, _]| {
        let below = if lane < 32 { (1 << lane) - 1 } else { u32::MAX };
        (a & below).count_ones().wrapping_add(b)
    });
}

/// The same, of lanes 32 to 63.
pub fn count_below_high(wave: &mut Wave, i: &Fields) {
    by_lane(wave, i, |lane, [a, b, _]| {
        let below = if lane < 32 { 0 } else { (1_u32 << (lane - 32)) - 1 };
        (a & below).count_ones().wrapping_add(b)
    });
}

/// The lane that reading the first active one means: lane 0 where none is on.
fn first_lane(wave: &Wave) -> usize {
    let exec = wave.exec();
    if exec == 0 { 0 } else { exec.trailing_zeros() as usize }
}

/// A value of the first active lane.
pub fn read_first_lane(wave: &mut Wave, i: &Fields) {
    let value = match i.sources[0] {
        OperandSource::Vector(register) => wave.lane(register, first_lane(wave)),
        other => wave.read(other),
    };
    wave.set_scalar(i.destination, value);
}

/// The lane that the second source names.
fn named_lane(wave: &Wave, i: &Fields) -> usize {
    (wave.read(i.sources[1]) & (wave.width() - 1)) as usize
}

/// A value of a lane.
pub fn read_lane(wave: &mut Wave, i: &Fields) {
    let value = match i.sources[0] {
        OperandSource::Vector(register) => wave.lane(register, named_lane(wave, i)),
        other => wave.read(other),
    };
    wave.set_scalar(i.destination, value);
}

/// Writes a lane, whether it is on or not.
pub fn write_lane(wave: &mut Wave, i: &Fields) {
    let (lane, value) = (named_lane(wave, i), wave.read(i.sources[0]));
    wave.set_lane(i.destination, lane, value);
}

/// Exchanges two registers.
pub fn swap(wave: &mut Wave, i: &Fields) {
    let OperandSource::Vector(other) = i.sources[0] else { return };
    for half in 0..wave.halves() {
        let (a, b) = (*wave.vector(i.destination, half), *wave.vector(other, half));
        wave.write_half(i.destination, half, &b);
        wave.write_half(other, half, &a);
    }
}

/// A source of 16 bits: the half that the instruction names, with its sign as it wants it.
fn short(i: &Fields, place: usize, value: u32, kind: OperandKind) -> u16 {
    let constant = matches!(i.sources[place], OperandSource::Inline(_));
    let high = i.select_high >> place & 1 != 0 && !constant;
    let mut bits = if high { (value >> 16) as u16 } else { value as u16 };
    if kind == OperandKind::Real {
        if let OperandSource::Inline(code @ 240..) = i.sources[place] {
            bits = real16(f32::from_bits(super::wave::inline32(code)));
        }
        if i.absolute >> place & 1 != 0 {
            bits &= 0x7fff;
        }
        if i.negate >> place & 1 != 0 {
            bits ^= 0x8000;
        }
    }
    bits
}

/// An operation of 16 bits a lane: the rest of the destination stays as it was.
pub fn shorts(
    wave: &mut Wave,
    i: &Fields,
    count: usize,
    kind: OperandKind,
    f: &dyn Fn([u16; 3]) -> u16,
) {
    for half in 0..wave.halves() {
        if !wave.half_is_on(half) {
            continue;
        }
        let sources = raw_sources(wave, i, half, count);
        let before = *wave.vector(i.destination, half);
        let mut result = [0; 32];
        for lane in 0..32 {
            let [a, b, c] = [0, 1, 2].map(|n| short(i, n, sources[n][lane], kind));
            let value = u32::from(f([a, b, c]));
            result[lane] = match (&i.parts, i.select_high >> 3 & 1) {
                (Some(_), _) => value,
                (None, 1) => before[lane] & 0xffff | value << 16,
                _ => before[lane] & 0xffff_0000 | value,
            };
        }
        wave.finish(i, half, &mut result);
    }
}

/// The sources as DPP and SDWA shape them, their signs untouched.
fn raw_sources(wave: &Wave, i: &Fields, half: usize, count: usize) -> [Half; 3] {
    if i.absolute == 0 && i.negate == 0 {
        return wave.shaped_sources(i, half, count);
    }
    let unsigned = Fields { absolute: 0, negate: 0, ..i.clone() };
    wave.shaped_sources(&unsigned, half, count)
}

/// A comparison of 16 bits a lane.
pub fn compare_shorts(
    wave: &mut Wave,
    i: &Fields,
    kind: OperandKind,
    f: &dyn Fn(u16, u16) -> bool,
) {
    let mut mask = 0;
    for half in 0..wave.halves() {
        let [a, b, _] = raw_sources(wave, i, half, 2);
        for lane in 0..32 {
            let holds = f(short(i, 0, a[lane], kind), short(i, 1, b[lane], kind));
            mask |= u64::from(holds) << (32 * half + lane);
        }
    }
    wave.set_mask(i.scalar_destination, mask & wave.exec());
}

/// Two operations of 16 bits a lane: the halves that VOP3P's fields name.
pub fn pairs(wave: &mut Wave, i: &Fields, kind: OperandKind, f: &dyn Fn([u16; 3]) -> u16) {
    let low = Fields { absolute: 0, select_high_of_high: 0, ..i.clone() };
    let high = Fields { select_high: i.select_high_of_high, negate: i.negate_high, ..low.clone() };
    for half in 0..wave.halves() {
        if !wave.half_is_on(half) {
            continue;
        }
        let sources = i.sources.map(|source| wave.half(source, half));
        let result = std::array::from_fn(|lane| {
            let word_of =
                |i: &Fields| u32::from(f([0, 1, 2].map(|n| short(i, n, sources[n][lane], kind))));
            word_of(&low) | word_of(&high) << 16
        });
        wave.write_half(i.destination, half, &result);
    }
}

/// a · b + c in f32, each source an f32 or a half of one as f16.
pub fn multiply_add_mixed(wave: &mut Wave, i: &Fields) {
    let kept = wave.kept32;
    for half in 0..wave.halves() {
        if !wave.half_is_on(half) {
            continue;
        }
        let sources = i.sources.map(|source| wave.half(source, half));
        let result = std::array::from_fn(|lane| {
            let [a, b, c] = [0, 1, 2].map(|n: usize| {
                let value = sources[n][lane];
                let high = i.select_high >> n & 1 != 0;
                let number = match (i.select_high_of_high >> n & 1 != 0, high) {
                    (false, _) => real(value, kept),
                    (true, false) => number16(value as u16),
                    (true, true) => number16((value >> 16) as u16),
                };
                let number = if i.negate_high >> n & 1 != 0 { number.abs() } else { number };
                if i.negate >> n & 1 != 0 { -number } else { number }
            });
            bits(fuse(a, b, c), kept)
        });
        wave.write_half(i.destination, half, &result);
    }
}

/// Two values of 16 bits as one of 32.
pub fn pack(wave: &mut Wave, i: &Fields) {
    for half in 0..wave.halves() {
        if wave.half_is_on(half) {
            let [a, b, _] = raw_sources(wave, i, half, 2);
            let result = std::array::from_fn(|lane| {
                u32::from(short(i, 0, a[lane], OperandKind::Real))
                    | u32::from(short(i, 1, b[lane], OperandKind::Real)) << 16
            });
            wave.write_half(i.destination, half, &result);
        }
    }
}

/// f32 to f16.
pub fn narrow(wave: &mut Wave, i: &Fields) {
    let kept = wave.kept32;
    let high = i.select_high >> 3 & 1 != 0;
    for half in 0..wave.halves() {
        if !wave.half_is_on(half) {
            continue;
        }
        let [a, ..] = wave.shaped_sources(i, half, 1);
        let before = *wave.vector(i.destination, half);
        let mut result = std::array::from_fn(|lane| {
            let value = u32::from(real16(real(a[lane], kept)));
            match (&i.parts, high) {
                (Some(_), _) => value,
                (None, true) => before[lane] & 0xffff | value << 16,
                (None, false) => before[lane] & 0xffff_0000 | value,
            }
        });
        wave.finish(i, half, &mut result);
    }
}

/// f16 to f32.
pub fn widen(wave: &mut Wave, i: &Fields) {
    for half in 0..wave.halves() {
        if wave.half_is_on(half) {
            let [a, ..] = raw_sources(wave, i, half, 1);
            let mut result = std::array::from_fn(|lane| {
                number16(short(i, 0, a[lane], OperandKind::Real)).to_bits()
            });
            wave.finish(i, half, &mut result);
        }
    }
}

/// Each lane reads the lane of its row of 16 that four bits of the other sources name.
pub fn permute_row(wave: &mut Wave, i: &Fields) {
    permute(wave, i, 0);
}

/// Each lane reads from the other row of its half.
pub fn permute_other_row(wave: &mut Wave, i: &Fields) {
    permute(wave, i, 16);
}

fn permute(wave: &mut Wave, i: &Fields, other: usize) {
    let choice = u64::from(wave.read(i.sources[1])) | u64::from(wave.read(i.sources[2])) << 32;
    let (fetch_inactive, zero_fill) = (i.select_high & 1 != 0, i.select_high & 2 != 0);
    for half in 0..wave.halves() {
        let values = wave.half(i.sources[0], half);
        let before = *wave.vector(i.destination, half);
        let result = std::array::from_fn(|lane| {
            let chosen = (choice >> (4 * (lane & 15)) & 15) as usize;
            let from = (lane & 16 ^ other) + chosen;
            match (fetch_inactive || wave.is_on(32 * half + from), zero_fill) {
                (true, _) => values[from],
                (false, true) => 0,
                (false, false) => before[lane],
            }
        });
        wave.write_half(i.destination, half, &result);
    }
}
