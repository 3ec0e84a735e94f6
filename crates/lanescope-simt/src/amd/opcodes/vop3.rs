//! Vector opcodes that have the long form only.
//!
//! Input: a wave and an instruction. Output: the wave's changed registers.

use super::super::math::*;
use super::super::wave::OperandKind;
use super::RowSource::{Vop2, Vop3};
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// Two sources a lane, 32 bits.
macro_rules! v2 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| w.lanes2(i, |$a, $b| $e))
    };
}

/// Three sources a lane, 32 bits.
macro_rules! v3 {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| w.lanes3(i, |$a, $b, $c| $e))
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

/// Two sources a lane, 16 bits.
macro_rules! s2 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 2, OperandKind::Bits, &|s: [u16; 3]| {
                let [$a, $b, ..] = s;
                $e
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

/// Three sources a lane, f16.
macro_rules! h3 {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 3, OperandKind::Real, &|s: [u16; 3]| {
                let [$a, $b, $c] = s.map(number16);
                real16($e)
            })
        })
    };
}

/// Three sources a lane, f64.
macro_rules! d3 {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            w.lanes64(i, OperandKind::Real, |s| {
                let [$a, $b, $c] = s.map(f64::from_bits);
                ($e).to_bits()
            });
        })
    };
}
/// VOP3, by number.
pub(super) const VOP3: &[OpcodeRow] = &[
    refused_row(Vop3, 0x140, "v_fma_legacy_f32", Operands::Three),
    row_of(
        Vop3,
        0x142,
        "v_mad_i32_i24",
        Operands::Three,
        v3!(|a, b, c| (signed24(a).wrapping_mul(signed24(b)) as u32).wrapping_add(c)),
    ),
    row_of(
        Vop3,
        0x143,
        "v_mad_u32_u24",
        Operands::Three,
        v3!(|a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)),
    ),
    refused_row(Vop3, 0x144, "v_cubeid_f32", Operands::Three),
    refused_row(Vop3, 0x145, "v_cubesc_f32", Operands::Three),
    refused_row(Vop3, 0x146, "v_cubetc_f32", Operands::Three),
    refused_row(Vop3, 0x147, "v_cubema_f32", Operands::Three),
    row_of(
        Vop3,
        0x148,
        "v_bfe_u32",
        Operands::Three,
        v3!(|a, b, c| a >> (b & 31) & ((1 << (c & 31)) - 1)),
    ),
    row_of(
        Vop3,
        0x149,
        "v_bfe_i32",
        Operands::Three,
        v3!(|a, b, c| field_signed(a, b & 31, c & 31)),
    ),
    row_of(Vop3, 0x14a, "v_bfi_b32", Operands::Three, v3!(|a, b, c| (a & b) | (!a & c))),
    row_of(Vop3, 0x14b, "v_fma_f32", Operands::Three, f3!(|a, b, c| fuse(a, b, c))),
    row_of(Vop3, 0x14c, "v_fma_f64", Operands::Three, d3!(|a, b, c| a.mul_add(b, c))),
    refused_row(Vop3, 0x14d, "v_lerp_u8", Operands::Three),
    row_of(
        Vop3,
        0x14e,
        "v_alignbit_b32",
        Operands::Three,
        v3!(|a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
    ),
    row_of(
        Vop3,
        0x14f,
        "v_alignbyte_b32",
        Operands::Three,
        v3!(|a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32),
    ),
    refused_row(Vop3, 0x150, "v_mullit_f32", Operands::Three),
    row_of(Vop3, 0x151, "v_min3_f32", Operands::Three, f3!(|a, b, c| lesser(lesser(a, b), c))),
    row_of(
        Vop3,
        0x152,
        "v_min3_i32",
        Operands::Three,
        v3!(|a, b, c| (a as i32).min(b as i32).min(c as i32) as u32),
    ),
    row_of(Vop3, 0x153, "v_min3_u32", Operands::Three, v3!(|a, b, c| a.min(b).min(c))),
    row_of(Vop3, 0x154, "v_max3_f32", Operands::Three, f3!(|a, b, c| greater(greater(a, b), c))),
    row_of(
        Vop3,
        0x155,
        "v_max3_i32",
        Operands::Three,
        v3!(|a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
    ),
    row_of(Vop3, 0x156, "v_max3_u32", Operands::Three, v3!(|a, b, c| a.max(b).max(c))),
    row_of(Vop3, 0x157, "v_med3_f32", Operands::Three, f3!(|a, b, c| middle(a, b, c))),
    row_of(
        Vop3,
        0x158,
        "v_med3_i32",
        Operands::Three,
        v3!(|a, b, c| (a as i32).max(b as i32).min((a as i32).min(b as i32).max(c as i32)) as u32),
    ),
    row_of(
        Vop3,
        0x159,
        "v_med3_u32",
        Operands::Three,
        v3!(|a, b, c| a.max(b).min(a.min(b).max(c))),
    ),
    refused_row(Vop3, 0x15a, "v_sad_u8", Operands::Three),
    refused_row(Vop3, 0x15b, "v_sad_hi_u8", Operands::Three),
    refused_row(Vop3, 0x15c, "v_sad_u16", Operands::Three),
    row_of(Vop3, 0x15d, "v_sad_u32", Operands::Three, v3!(|a, b, c| a.abs_diff(b).wrapping_add(c))),
    row_of(Vop3, 0x15e, "v_cvt_pk_u8_f32", Operands::Three, v3!(|a, b, c| place_byte(a, b, c))),
    refused_row(Vop3, 0x15f, "v_div_fixup_f32", Operands::Three),
    refused_row(Vop3, 0x160, "v_div_fixup_f64", Operands::Three),
    row_of(Vop3, 0x164, "v_add_f64", Operands::Two, d3!(|a, b, _c| a + b)),
    row_of(Vop3, 0x165, "v_mul_f64", Operands::Two, d3!(|a, b, _c| a * b)),
    refused_row(Vop3, 0x166, "v_min_f64", Operands::Two),
    refused_row(Vop3, 0x167, "v_max_f64", Operands::Two),
    refused_row(Vop3, 0x168, "v_ldexp_f64", Operands::Two),
    row_of(Vop3, 0x169, "v_mul_lo_u32", Operands::Two, v2!(|a, b| a.wrapping_mul(b))),
    row_of(
        Vop3,
        0x16a,
        "v_mul_hi_u32",
        Operands::Two,
        v2!(|a, b| (u64::from(a) * u64::from(b) >> 32) as u32),
    ),
    row_of(
        Vop3,
        0x16c,
        "v_mul_hi_i32",
        Operands::Two,
        v2!(|a, b| (i64::from(a as i32) * i64::from(b as i32) >> 32) as u32),
    ),
    refused_row(Vop3, 0x16d, "v_div_scale_f32", Operands::CarryOutOfThree),
    refused_row(Vop3, 0x16e, "v_div_scale_f64", Operands::CarryOutOfThree),
    refused_row(Vop3, 0x16f, "v_div_fmas_f32", Operands::Three),
    refused_row(Vop3, 0x170, "v_div_fmas_f64", Operands::Three),
    refused_row(Vop3, 0x171, "v_msad_u8", Operands::Three),
    refused_row(Vop3, 0x172, "v_qsad_pk_u16_u8", Operands::Three),
    refused_row(Vop3, 0x173, "v_mqsad_pk_u16_u8", Operands::Three),
    refused_row(Vop3, 0x174, "v_trig_preop_f64", Operands::Two),
    refused_row(Vop3, 0x175, "v_mqsad_u32_u8", Operands::Three),
    row_of(
        Vop3,
        0x176,
        "v_mad_u64_u32",
        Operands::CarryOutOfThree,
        OpcodeAction::VectorToScalar(multiply_add_wide),
    ),
    row_of(
        Vop3,
        0x177,
        "v_mad_i64_i32",
        Operands::CarryOutOfThree,
        OpcodeAction::VectorToScalar(multiply_add_wide_signed),
    ),
    row_of(Vop3, 0x178, "v_xor3_b32", Operands::Three, v3!(|a, b, c| a ^ b ^ c)),
    row_of(
        Vop3,
        0x2ff,
        "v_lshlrev_b64",
        Operands::Two,
        OpcodeAction::Vector(|w, i| shift64(w, i, |n, a| a << (n & 63))),
    ),
    row_of(
        Vop3,
        0x300,
        "v_lshrrev_b64",
        Operands::Two,
        OpcodeAction::Vector(|w, i| shift64(w, i, |n, a| a >> (n & 63))),
    ),
    row_of(
        Vop3,
        0x301,
        "v_ashrrev_i64",
        Operands::Two,
        OpcodeAction::Vector(|w, i| {
            shift64(w, i, |n, a| (a.cast_signed() >> (n & 63)).cast_unsigned())
        }),
    ),
    row_of(Vop3, 0x303, "v_add_nc_u16", Operands::Two, s2!(|a, b| a.wrapping_add(b))),
    row_of(Vop3, 0x304, "v_sub_nc_u16", Operands::Two, s2!(|a, b| a.wrapping_sub(b))),
    row_of(Vop3, 0x305, "v_mul_lo_u16", Operands::Two, s2!(|a, b| a.wrapping_mul(b))),
    row_of(Vop3, 0x307, "v_lshrrev_b16", Operands::Two, s2!(|a, b| b >> (a & 15))),
    row_of(
        Vop3,
        0x308,
        "v_ashrrev_i16",
        Operands::Two,
        s2!(|a, b| ((b as i16) >> (a & 15)) as u16),
    ),
    row_of(Vop3, 0x309, "v_max_u16", Operands::Two, s2!(|a, b| a.max(b))),
    row_of(Vop3, 0x30a, "v_max_i16", Operands::Two, s2!(|a, b| (a as i16).max(b as i16) as u16)),
    row_of(Vop3, 0x30b, "v_min_u16", Operands::Two, s2!(|a, b| a.min(b))),
    row_of(Vop3, 0x30c, "v_min_i16", Operands::Two, s2!(|a, b| (a as i16).min(b as i16) as u16)),
    row_of(Vop3, 0x30d, "v_add_nc_i16", Operands::Two, s2!(|a, b| a.wrapping_add(b))),
    row_of(Vop3, 0x30e, "v_sub_nc_i16", Operands::Two, s2!(|a, b| a.wrapping_sub(b))),
    row_of(Vop2, 0x30f, "v_add_co_u32", Operands::CarryOut, OpcodeAction::VectorToScalar(add_out)),
    row_of(
        Vop2,
        0x310,
        "v_sub_co_u32",
        Operands::CarryOut,
        OpcodeAction::VectorToScalar(subtract_out),
    ),
    row_of(Vop3, 0x311, "v_pack_b32_f16", Operands::Two, OpcodeAction::Vector(pack)),
    refused_row(Vop3, 0x312, "v_cvt_pknorm_i16_f16", Operands::Two),
    refused_row(Vop3, 0x313, "v_cvt_pknorm_u16_f16", Operands::Two),
    row_of(Vop3, 0x314, "v_lshlrev_b16", Operands::Two, s2!(|a, b| b << (a & 15))),
    row_of(
        Vop2,
        0x319,
        "v_subrev_co_u32",
        Operands::CarryOut,
        OpcodeAction::VectorToScalar(subtract_reversed_out),
    ),
    row_of(
        Vop3,
        0x340,
        "v_mad_u16",
        Operands::Three,
        s3!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ),
    refused_row(Vop3, 0x342, "v_interp_p1ll_f16", Operands::Two),
    refused_row(Vop3, 0x343, "v_interp_p1lv_f16", Operands::Three),
    row_of(Vop3, 0x344, "v_perm_b32", Operands::Three, v3!(|a, b, c| bytes_chosen(a, b, c))),
    row_of(Vop3, 0x345, "v_xad_u32", Operands::Three, v3!(|a, b, c| (a ^ b).wrapping_add(c))),
    row_of(
        Vop3,
        0x346,
        "v_lshl_add_u32",
        Operands::Three,
        v3!(|a, b, c| (a << (b & 31)).wrapping_add(c)),
    ),
    row_of(
        Vop3,
        0x347,
        "v_add_lshl_u32",
        Operands::Three,
        v3!(|a, b, c| a.wrapping_add(b) << (c & 31)),
    ),
    row_of(Vop3, 0x34b, "v_fma_f16", Operands::Three, s3!(|a, b, c| fuse16(a, b, c))),
    row_of(Vop3, 0x351, "v_min3_f16", Operands::Three, h3!(|a, b, c| lesser(lesser(a, b), c))),
    refused_row(Vop3, 0x352, "v_min3_i16", Operands::Three),
    refused_row(Vop3, 0x353, "v_min3_u16", Operands::Three),
    row_of(Vop3, 0x354, "v_max3_f16", Operands::Three, h3!(|a, b, c| greater(greater(a, b), c))),
    refused_row(Vop3, 0x355, "v_max3_i16", Operands::Three),
    refused_row(Vop3, 0x356, "v_max3_u16", Operands::Three),
    row_of(Vop3, 0x357, "v_med3_f16", Operands::Three, h3!(|a, b, c| middle(a, b, c))),
    refused_row(Vop3, 0x358, "v_med3_i16", Operands::Three),
    refused_row(Vop3, 0x359, "v_med3_u16", Operands::Three),
    refused_row(Vop3, 0x35a, "v_interp_p2_f16", Operands::Three),
    row_of(
        Vop3,
        0x35e,
        "v_mad_i16",
        Operands::Three,
        s3!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ),
    refused_row(Vop3, 0x35f, "v_div_fixup_f16", Operands::Three),
    row_of(Vop3, 0x360, "v_readlane_b32", Operands::Two, OpcodeAction::Lane(read_lane)),
    row_of(Vop3, 0x361, "v_writelane_b32", Operands::Two, OpcodeAction::Lane(write_lane)),
    row_of(Vop2, 0x362, "v_ldexp_f32", Operands::Two, OpcodeAction::Vector(scale)),
    row_of(Vop2, 0x363, "v_bfm_b32", Operands::Two, v2!(|a, b| ((1 << (a & 31)) - 1) << (b & 31))),
    row_of(
        Vop2,
        0x364,
        "v_bcnt_u32_b32",
        Operands::Two,
        v2!(|a, b| a.count_ones().wrapping_add(b)),
    ),
    row_of(Vop2, 0x365, "v_mbcnt_lo_u32_b32", Operands::Two, OpcodeAction::Vector(count_below_low)),
    row_of(
        Vop2,
        0x366,
        "v_mbcnt_hi_u32_b32",
        Operands::Two,
        OpcodeAction::Vector(count_below_high),
    ),
    refused_row(Vop2, 0x368, "v_cvt_pknorm_i16_f32", Operands::Two),
    refused_row(Vop2, 0x369, "v_cvt_pknorm_u16_f32", Operands::Two),
    row_of(
        Vop2,
        0x36a,
        "v_cvt_pk_u16_u32",
        Operands::Two,
        v2!(|a, b| a.min(0xffff) | b.min(0xffff) << 16),
    ),
    row_of(
        Vop2,
        0x36b,
        "v_cvt_pk_i16_i32",
        Operands::Two,
        v2!(|a, b| signed16(a) | signed16(b) << 16),
    ),
    row_of(
        Vop3,
        0x36d,
        "v_add3_u32",
        Operands::Three,
        v3!(|a, b, c| a.wrapping_add(b).wrapping_add(c)),
    ),
    row_of(Vop3, 0x36f, "v_lshl_or_b32", Operands::Three, v3!(|a, b, c| a << (b & 31) | c)),
    row_of(Vop3, 0x371, "v_and_or_b32", Operands::Three, v3!(|a, b, c| (a & b) | c)),
    row_of(Vop3, 0x372, "v_or3_b32", Operands::Three, v3!(|a, b, c| a | b | c)),
    refused_row(Vop3, 0x373, "v_mad_u32_u16", Operands::Three),
    refused_row(Vop3, 0x375, "v_mad_i32_i16", Operands::Three),
    row_of(Vop3, 0x376, "v_sub_nc_i32", Operands::Two, v2!(|a, b| a.wrapping_sub(b))),
    row_of(Vop3, 0x377, "v_permlane16_b32", Operands::Three, OpcodeAction::Vector(permute_row)),
    row_of(
        Vop3,
        0x378,
        "v_permlanex16_b32",
        Operands::Three,
        OpcodeAction::Vector(permute_other_row),
    ),
    row_of(Vop3, 0x37f, "v_add_nc_i32", Operands::Two, v2!(|a, b| a.wrapping_add(b))),
];
