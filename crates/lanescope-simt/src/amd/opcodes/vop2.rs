//! Vector opcodes of two sources.
//!
//! Input: a wave and an instruction. Output: the wave's changed registers.

use super::super::fields::Fields;
use super::super::math::*;
use super::super::wave::{OperandKind, Wave};
use super::RowSource::Vop2;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// Two sources a lane, 32 bits.
macro_rules! v2 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| w.lanes2(i, |$a, $b| $e))
    };
}

/// Two sources a lane, f32; denormal numbers as the mode says.
macro_rules! f2 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            let kept = w.kept32;
            w.lanes2(i, |$a, $b| {
                let $a = real($a, kept);
                let $b = real($b, kept);
                bits($e, kept)
            });
        })
    };
}

/// Three sources a lane, f32; denormal numbers as the mode says.
macro_rules! f3 {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            let kept = w.kept32;
            w.lanes3(i, |$a, $b, $c| {
                let $a = real($a, kept);
                let $b = real($b, kept);
                let $c = real($c, kept);
                bits($e, kept)
            });
        })
    };
}

/// Two sources a lane, f16.
macro_rules! h2 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 2, OperandKind::Real, &|s: [u16; 3]| {
                let [$a, $b, ..] = s.map(number16);
                real16($e)
            })
        })
    };
}

/// Three sources a lane, 16 bits.
macro_rules! s3 {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 3, OperandKind::Bits, &|s: [u16; 3]| {
                let [$a, $b, $c] = s;
                $e
            })
        })
    };
}
/// A sum; with clamp the greatest number where it does not fit.
fn add(w: &mut Wave, i: &Fields) {
    if i.clamp {
        w.lanes2(&Fields { clamp: false, ..i.clone() }, u32::saturating_add);
    } else {
        w.lanes2(i, u32::wrapping_add);
    }
}

/// A difference; with clamp zero where it is below.
fn subtract(w: &mut Wave, i: &Fields) {
    if i.clamp {
        w.lanes2(&Fields { clamp: false, ..i.clone() }, u32::saturating_sub);
    } else {
        w.lanes2(i, u32::wrapping_sub);
    }
}

/// VOP2, by number.
pub(super) const VOP2: &[OpcodeRow] = &[
    row_of(Vop2, 0x01, "v_cndmask_b32", Operands::Select, OpcodeAction::Vector(select)),
    refused_row(Vop2, 0x02, "v_dot2c_f32_f16", Operands::Accumulate),
    row_of(Vop2, 0x03, "v_add_f32", Operands::Two, f2!(|a, b| a + b)),
    row_of(Vop2, 0x04, "v_sub_f32", Operands::Two, f2!(|a, b| a - b)),
    row_of(Vop2, 0x05, "v_subrev_f32", Operands::Two, f2!(|a, b| b - a)),
    refused_row(Vop2, 0x06, "v_fmac_legacy_f32", Operands::Accumulate),
    row_of(
        Vop2,
        0x07,
        "v_mul_legacy_f32",
        Operands::Two,
        f2!(|a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b }),
    ),
    row_of(Vop2, 0x08, "v_mul_f32", Operands::Two, f2!(|a, b| a * b)),
    row_of(
        Vop2,
        0x09,
        "v_mul_i32_i24",
        Operands::Two,
        v2!(|a, b| signed24(a).wrapping_mul(signed24(b)) as u32),
    ),
    row_of(
        Vop2,
        0x0a,
        "v_mul_hi_i32_i24",
        Operands::Two,
        v2!(|a, b| (i64::from(signed24(a)) * i64::from(signed24(b)) >> 32) as u32),
    ),
    row_of(
        Vop2,
        0x0b,
        "v_mul_u32_u24",
        Operands::Two,
        v2!(|a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
    ),
    row_of(
        Vop2,
        0x0c,
        "v_mul_hi_u32_u24",
        Operands::Two,
        v2!(|a, b| (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 32) as u32),
    ),
    refused_row(Vop2, 0x0d, "v_dot4c_i32_i8", Operands::Accumulate),
    row_of(Vop2, 0x0f, "v_min_f32", Operands::Two, f2!(|a, b| lesser(a, b))),
    row_of(Vop2, 0x10, "v_max_f32", Operands::Two, f2!(|a, b| greater(a, b))),
    row_of(Vop2, 0x11, "v_min_i32", Operands::Two, v2!(|a, b| (a as i32).min(b as i32) as u32)),
    row_of(Vop2, 0x12, "v_max_i32", Operands::Two, v2!(|a, b| (a as i32).max(b as i32) as u32)),
    row_of(Vop2, 0x13, "v_min_u32", Operands::Two, v2!(|a, b| a.min(b))),
    row_of(Vop2, 0x14, "v_max_u32", Operands::Two, v2!(|a, b| a.max(b))),
    row_of(Vop2, 0x16, "v_lshrrev_b32", Operands::Two, v2!(|a, b| b >> (a & 31))),
    row_of(Vop2, 0x18, "v_ashrrev_i32", Operands::Two, v2!(|a, b| ((b as i32) >> (a & 31)) as u32)),
    row_of(Vop2, 0x1a, "v_lshlrev_b32", Operands::Two, v2!(|a, b| b << (a & 31))),
    row_of(Vop2, 0x1b, "v_and_b32", Operands::Two, v2!(|a, b| a & b)),
    row_of(Vop2, 0x1c, "v_or_b32", Operands::Two, v2!(|a, b| a | b)),
    row_of(Vop2, 0x1d, "v_xor_b32", Operands::Two, v2!(|a, b| a ^ b)),
    row_of(Vop2, 0x1e, "v_xnor_b32", Operands::Two, v2!(|a, b| !(a ^ b))),
    row_of(Vop2, 0x25, "v_add_nc_u32", Operands::Two, OpcodeAction::Vector(add)),
    row_of(Vop2, 0x26, "v_sub_nc_u32", Operands::Two, OpcodeAction::Vector(subtract)),
    row_of(Vop2, 0x27, "v_subrev_nc_u32", Operands::Two, v2!(|a, b| b.wrapping_sub(a))),
    row_of(Vop2, 0x28, "v_add_co_ci_u32", Operands::Carry, OpcodeAction::VectorToScalar(add_carry)),
    row_of(
        Vop2,
        0x29,
        "v_sub_co_ci_u32",
        Operands::Carry,
        OpcodeAction::VectorToScalar(subtract_carry),
    ),
    row_of(
        Vop2,
        0x2a,
        "v_subrev_co_ci_u32",
        Operands::Carry,
        OpcodeAction::VectorToScalar(subtract_reversed_carry),
    ),
    row_of(Vop2, 0x2b, "v_fmac_f32", Operands::Accumulate, f3!(|a, b, c| fuse(a, b, c))),
    row_of(Vop2, 0x2c, "v_fmamk_f32", Operands::MultiplyLiteral, f3!(|a, b, c| fuse(a, b, c))),
    row_of(Vop2, 0x2d, "v_fmaak_f32", Operands::AddLiteral, f3!(|a, b, c| fuse(a, b, c))),
    row_of(
        Vop2,
        0x2f,
        "v_cvt_pkrtz_f16_f32",
        Operands::Two,
        v2!(|a, b| u32::from(half_towards_zero(a)) | u32::from(half_towards_zero(b)) << 16),
    ),
    row_of(Vop2, 0x32, "v_add_f16", Operands::Two, h2!(|a, b| a + b)),
    row_of(Vop2, 0x33, "v_sub_f16", Operands::Two, h2!(|a, b| a - b)),
    row_of(Vop2, 0x34, "v_subrev_f16", Operands::Two, h2!(|a, b| b - a)),
    row_of(Vop2, 0x35, "v_mul_f16", Operands::Two, h2!(|a, b| a * b)),
    row_of(Vop2, 0x36, "v_fmac_f16", Operands::Accumulate, s3!(|a, b, c| fuse16(a, b, c))),
    row_of(Vop2, 0x37, "v_fmamk_f16", Operands::MultiplyLiteral, s3!(|a, b, c| fuse16(a, b, c))),
    row_of(Vop2, 0x38, "v_fmaak_f16", Operands::AddLiteral, s3!(|a, b, c| fuse16(a, b, c))),
    row_of(Vop2, 0x39, "v_max_f16", Operands::Two, h2!(|a, b| greater(a, b))),
    row_of(Vop2, 0x3a, "v_min_f16", Operands::Two, h2!(|a, b| lesser(a, b))),
    refused_row(Vop2, 0x3b, "v_ldexp_f16", Operands::Two),
    refused_row(Vop2, 0x3c, "v_pk_fmac_f16", Operands::Accumulate),
];
