//! Scalars as bits: values put into a type, taken from one, and drawn in it.
//!
//! Input: a [`ScalarType`], a value, bytes or random bits. Output: bits or a value. It knows nothing of
//! buffers.

use crate::layout::ScalarType;

/// The bits of a value in [low, high) from 64 random bits. Floats take as many bits as they hold
/// exactly, so that `high` is not reached by rounding where `low` is zero.
#[expect(clippy::cast_precision_loss, reason = "at most 53 bits are kept before the conversion")]
pub(super) fn uniform(scalar: ScalarType, low: f64, high: f64, random: u64) -> u64 {
    let unit = |bits: u32| (random >> (64 - bits)) as f64 / (1_u64 << bits) as f64;
    let value = match scalar {
        ScalarType::F16 => low + (high - low) * unit(11),
        ScalarType::F32 => low + (high - low) * unit(24),
        ScalarType::F64 => low + (high - low) * unit(53),
        ScalarType::U16
        | ScalarType::I16
        | ScalarType::U32
        | ScalarType::I32
        | ScalarType::U64
        | ScalarType::I64 => (low + (high - low) * unit(53)).floor(),
    };
    encode(scalar, value)
}

/// The bits of a value in a scalar type, in the lowest bytes; out-of-range values saturate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which the documentation promises"
)]
pub fn encode(scalar: ScalarType, value: f64) -> u64 {
    match scalar {
        ScalarType::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        ScalarType::F32 => u64::from((value as f32).to_bits()),
        ScalarType::F64 => value.to_bits(),
        ScalarType::U16 => u64::from(value as u16),
        ScalarType::I16 => u64::from((value as i16).cast_unsigned()),
        ScalarType::U32 => u64::from(value as u32),
        ScalarType::I32 => u64::from((value as i32).cast_unsigned()),
        ScalarType::U64 => value as u64,
        ScalarType::I64 => (value as i64).cast_unsigned(),
    }
}

/// The numbers that a type holds, from the first to the second; whole ones where it is no float.
#[expect(clippy::cast_precision_loss, reason = "2^63 and 2^64 are meant, to the bit that f64 has")]
pub(super) fn range(scalar: ScalarType) -> [f64; 2] {
    match scalar {
        ScalarType::F16 => [-65_504.0, 65_504.0],
        ScalarType::F32 => [f64::from(f32::MIN), f64::from(f32::MAX)],
        ScalarType::F64 => [f64::MIN, f64::MAX],
        ScalarType::U16 => [0.0, f64::from(u16::MAX)],
        ScalarType::I16 => [f64::from(i16::MIN), f64::from(i16::MAX)],
        ScalarType::U32 => [0.0, f64::from(u32::MAX)],
        ScalarType::I32 => [f64::from(i32::MIN), f64::from(i32::MAX)],
        ScalarType::U64 => [0.0, u64::MAX as f64],
        ScalarType::I64 => [i64::MIN as f64, i64::MAX as f64],
    }
}

/// Refuses a value that a type does not hold.
///
/// # Errors
///
/// A clause that says what the type holds.
pub(super) fn check(scalar: ScalarType, value: f64) -> Result<(), String> {
    let [low, high] = range(scalar);
    if (low..=high).contains(&value) && (scalar.is_float() || value.fract() == 0.0) {
        return Ok(());
    }
    let numbers = if scalar.is_float() { "numbers" } else { "whole numbers" };
    Err(format!(
        "{value} is no {scalar}, which holds {numbers} from {} to {}",
        limit_text(low),
        limit_text(high)
    ))
}

/// Refuses the ends of a range that a type does not hold or that are the wrong way round; `high` is
/// left out by whole numbers.
///
/// # Errors
///
/// As [`check`].
pub(super) fn check_range(scalar: ScalarType, low: f64, high: f64) -> Result<(), String> {
    if low > high {
        return Err(format!("the range from {low} to {high} is empty: give the lower end first"));
    }
    let beyond = if scalar.is_float() { 0.0 } else { 1.0 };
    let [least, most] = range(scalar);
    if low < least || high > most + beyond {
        let to = if scalar.is_float() { "to" } else { "to just below" };
        let ends = format!("from {} {to} {}", limit_text(least), limit_text(most + beyond));
        return Err(format!("the range from {low} to {high} is not within {scalar}'s, {ends}"));
    }
    Ok(())
}

/// A limit in digits, where these are few.
fn limit_text(limit: f64) -> String {
    if limit.abs() < 1e15 { limit.to_string() } else { format!("{limit:e}") }
}

/// The value of an element's bytes, as many as the type has; 64-bit integers lose their last bits.
#[expect(clippy::cast_precision_loss, reason = "differences of that size are not looked at")]
pub fn decode(scalar: ScalarType, element: &[u8]) -> f64 {
    let mut bytes = [0; 8];
    let length = element.len().min(8);
    bytes[..length].copy_from_slice(&element[..length]);
    let [a, b, c, d, ..] = bytes;
    match scalar {
        ScalarType::F16 => half::f16::from_le_bytes([a, b]).to_f64(),
        ScalarType::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
        ScalarType::F64 => f64::from_le_bytes(bytes),
        ScalarType::U16 => f64::from(u16::from_le_bytes([a, b])),
        ScalarType::I16 => f64::from(i16::from_le_bytes([a, b])),
        ScalarType::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
        ScalarType::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
        ScalarType::U64 => u64::from_le_bytes(bytes) as f64,
        ScalarType::I64 => i64::from_le_bytes(bytes) as f64,
    }
}
