//! Packed opcodes: two results of 16 bits a lane.
//!
//! Input: a wave and an instruction. Output: the wave's changed registers.

use super::super::math::*;
use super::super::wave::OperandKind;
use super::RowSource::Vop3p;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// Integers of 16 bits.
macro_rules! packed {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            pairs(w, i, OperandKind::Bits, &|s: [u16; 3]| {
                let [$a, $b, $c] = s;
                $e
            });
        })
    };
}

/// Numbers of 16 bits.
macro_rules! packed_real {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            pairs(w, i, OperandKind::Real, &|s: [u16; 3]| {
                let [$a, $b, $c] = s;
                $e
            });
        })
    };
}
/// VOP3P, by number.
pub(super) const VOP3P: &[OpcodeRow] = &[
    row_of(
        Vop3p,
        0x00,
        "v_pk_mad_i16",
        Operands::Three,
        packed!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ),
    row_of(Vop3p, 0x01, "v_pk_mul_lo_u16", Operands::Two, packed!(|a, b, _c| a.wrapping_mul(b))),
    row_of(Vop3p, 0x02, "v_pk_add_i16", Operands::Two, packed!(|a, b, _c| a.wrapping_add(b))),
    row_of(Vop3p, 0x03, "v_pk_sub_i16", Operands::Two, packed!(|a, b, _c| a.wrapping_sub(b))),
    row_of(Vop3p, 0x04, "v_pk_lshlrev_b16", Operands::Two, packed!(|a, b, _c| b << (a & 15))),
    row_of(Vop3p, 0x05, "v_pk_lshrrev_b16", Operands::Two, packed!(|a, b, _c| b >> (a & 15))),
    row_of(
        Vop3p,
        0x06,
        "v_pk_ashrrev_i16",
        Operands::Two,
        packed!(|a, b, _c| ((b as i16) >> (a & 15)) as u16),
    ),
    row_of(
        Vop3p,
        0x07,
        "v_pk_max_i16",
        Operands::Two,
        packed!(|a, b, _c| (a as i16).max(b as i16) as u16),
    ),
    row_of(
        Vop3p,
        0x08,
        "v_pk_min_i16",
        Operands::Two,
        packed!(|a, b, _c| (a as i16).min(b as i16) as u16),
    ),
    row_of(
        Vop3p,
        0x09,
        "v_pk_mad_u16",
        Operands::Three,
        packed!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ),
    row_of(Vop3p, 0x0a, "v_pk_add_u16", Operands::Two, packed!(|a, b, _c| a.wrapping_add(b))),
    row_of(Vop3p, 0x0b, "v_pk_sub_u16", Operands::Two, packed!(|a, b, _c| a.wrapping_sub(b))),
    row_of(Vop3p, 0x0c, "v_pk_max_u16", Operands::Two, packed!(|a, b, _c| a.max(b))),
    row_of(Vop3p, 0x0d, "v_pk_min_u16", Operands::Two, packed!(|a, b, _c| a.min(b))),
    row_of(Vop3p, 0x0e, "v_pk_fma_f16", Operands::Three, packed_real!(|a, b, c| fuse16(a, b, c))),
    row_of(
        Vop3p,
        0x0f,
        "v_pk_add_f16",
        Operands::Two,
        packed_real!(|a, b, _c| real16(number16(a) + number16(b))),
    ),
    row_of(
        Vop3p,
        0x10,
        "v_pk_mul_f16",
        Operands::Two,
        packed_real!(|a, b, _c| real16(number16(a) * number16(b))),
    ),
    row_of(
        Vop3p,
        0x11,
        "v_pk_min_f16",
        Operands::Two,
        packed_real!(|a, b, _c| real16(lesser(number16(a), number16(b)))),
    ),
    row_of(
        Vop3p,
        0x12,
        "v_pk_max_f16",
        Operands::Two,
        packed_real!(|a, b, _c| real16(greater(number16(a), number16(b)))),
    ),
    refused_row(Vop3p, 0x13, "v_dot2_f32_f16", Operands::Three),
    refused_row(Vop3p, 0x14, "v_dot2_i32_i16", Operands::Three),
    refused_row(Vop3p, 0x15, "v_dot2_u32_u16", Operands::Three),
    refused_row(Vop3p, 0x16, "v_dot4_i32_i8", Operands::Three),
    refused_row(Vop3p, 0x17, "v_dot4_u32_u8", Operands::Three),
    refused_row(Vop3p, 0x18, "v_dot8_i32_i4", Operands::Three),
    refused_row(Vop3p, 0x19, "v_dot8_u32_u4", Operands::Three),
    row_of(Vop3p, 0x20, "v_fma_mix_f32", Operands::Three, OpcodeAction::Vector(multiply_add_mixed)),
    refused_row(Vop3p, 0x21, "v_fma_mixlo_f16", Operands::Three),
    refused_row(Vop3p, 0x22, "v_fma_mixhi_f16", Operands::Three),
];
