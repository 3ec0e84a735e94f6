//! Vector opcodes of one source.
//!
//! Input: a wave and an instruction. Output: the wave's changed registers.

use super::super::math::*;
use super::super::wave::OperandKind;
use super::RowSource::Vop1;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// One source a lane, 32 bits.
macro_rules! v1 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| w.lanes1(i, |$a| $e))
    };
}

/// One source a lane, f32; denormal numbers as the mode says.
macro_rules! f1 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            let kept = w.kept32;
            w.lanes1(i, |$a| {
                let $a = real($a, kept);
                bits($e, kept)
            });
        })
    };
}

/// One source a lane, 16 bits.
macro_rules! s1 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 1, OperandKind::Bits, &|s: [u16; 3]| {
                let [$a, ..] = s;
                $e
            })
        })
    };
}

/// One source a lane, f16.
macro_rules! h1 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Vector(|w, i| {
            shorts(w, i, 1, OperandKind::Real, &|s: [u16; 3]| {
                let [$a, ..] = s.map(number16);
                real16($e)
            })
        })
    };
}
/// VOP1, by number.
pub(super) const VOP1: &[OpcodeRow] = &[
    row_of(Vop1, 0x00, "v_nop", Operands::One, OpcodeAction::Vector(|_, _| {})),
    row_of(Vop1, 0x01, "v_mov_b32", Operands::One, v1!(|a| a)),
    row_of(Vop1, 0x02, "v_readfirstlane_b32", Operands::One, OpcodeAction::Lane(read_first_lane)),
    refused_row(Vop1, 0x03, "v_cvt_i32_f64", Operands::One),
    refused_row(Vop1, 0x04, "v_cvt_f64_i32", Operands::One),
    row_of(Vop1, 0x05, "v_cvt_f32_i32", Operands::One, v1!(|a| (a as i32 as f32).to_bits())),
    row_of(Vop1, 0x06, "v_cvt_f32_u32", Operands::One, v1!(|a| (a as f32).to_bits())),
    row_of(Vop1, 0x07, "v_cvt_u32_f32", Operands::One, v1!(|a| f32::from_bits(a) as u32)),
    row_of(Vop1, 0x08, "v_cvt_i32_f32", Operands::One, v1!(|a| f32::from_bits(a) as i32 as u32)),
    row_of(Vop1, 0x0a, "v_cvt_f16_f32", Operands::One, OpcodeAction::Vector(narrow)),
    row_of(Vop1, 0x0b, "v_cvt_f32_f16", Operands::One, OpcodeAction::Vector(widen)),
    row_of(
        Vop1,
        0x0c,
        "v_cvt_rpi_i32_f32",
        Operands::One,
        v1!(|a| (f32::from_bits(a) + 0.5).floor() as i32 as u32),
    ),
    row_of(
        Vop1,
        0x0d,
        "v_cvt_flr_i32_f32",
        Operands::One,
        v1!(|a| f32::from_bits(a).floor() as i32 as u32),
    ),
    refused_row(Vop1, 0x0e, "v_cvt_off_f32_i4", Operands::One),
    refused_row(Vop1, 0x0f, "v_cvt_f32_f64", Operands::One),
    refused_row(Vop1, 0x10, "v_cvt_f64_f32", Operands::One),
    row_of(Vop1, 0x11, "v_cvt_f32_ubyte0", Operands::One, v1!(|a| ((a & 0xff) as f32).to_bits())),
    row_of(
        Vop1,
        0x12,
        "v_cvt_f32_ubyte1",
        Operands::One,
        v1!(|a| ((a >> 8 & 0xff) as f32).to_bits()),
    ),
    row_of(
        Vop1,
        0x13,
        "v_cvt_f32_ubyte2",
        Operands::One,
        v1!(|a| ((a >> 16 & 0xff) as f32).to_bits()),
    ),
    row_of(Vop1, 0x14, "v_cvt_f32_ubyte3", Operands::One, v1!(|a| ((a >> 24) as f32).to_bits())),
    refused_row(Vop1, 0x15, "v_cvt_u32_f64", Operands::One),
    refused_row(Vop1, 0x16, "v_cvt_f64_u32", Operands::One),
    refused_row(Vop1, 0x17, "v_trunc_f64", Operands::One),
    refused_row(Vop1, 0x18, "v_ceil_f64", Operands::One),
    refused_row(Vop1, 0x19, "v_rndne_f64", Operands::One),
    refused_row(Vop1, 0x1a, "v_floor_f64", Operands::One),
    row_of(
        Vop1,
        0x20,
        "v_fract_f32",
        Operands::One,
        f1!(|a| (a - a.floor()).min(LARGEST_BELOW_ONE)),
    ),
    row_of(Vop1, 0x21, "v_trunc_f32", Operands::One, f1!(|a| a.trunc())),
    row_of(Vop1, 0x22, "v_ceil_f32", Operands::One, f1!(|a| a.ceil())),
    row_of(Vop1, 0x23, "v_rndne_f32", Operands::One, f1!(|a| a.round_ties_even())),
    row_of(Vop1, 0x24, "v_floor_f32", Operands::One, f1!(|a| a.floor())),
    row_of(Vop1, 0x25, "v_exp_f32", Operands::One, f1!(|a| f64::from(a).exp2() as f32)),
    row_of(Vop1, 0x27, "v_log_f32", Operands::One, f1!(|a| f64::from(a).log2() as f32)),
    row_of(Vop1, 0x2a, "v_rcp_f32", Operands::One, f1!(|a| 1.0 / a)),
    row_of(Vop1, 0x2b, "v_rcp_iflag_f32", Operands::One, f1!(|a| 1.0 / a)),
    row_of(Vop1, 0x2e, "v_rsq_f32", Operands::One, f1!(|a| (1.0 / f64::from(a).sqrt()) as f32)),
    refused_row(Vop1, 0x2f, "v_rcp_f64", Operands::One),
    refused_row(Vop1, 0x31, "v_rsq_f64", Operands::One),
    row_of(Vop1, 0x33, "v_sqrt_f32", Operands::One, f1!(|a| a.sqrt())),
    refused_row(Vop1, 0x34, "v_sqrt_f64", Operands::One),
    row_of(
        Vop1,
        0x35,
        "v_sin_f32",
        Operands::One,
        f1!(|a| (f64::from(a) * std::f64::consts::TAU).sin() as f32),
    ),
    row_of(
        Vop1,
        0x36,
        "v_cos_f32",
        Operands::One,
        f1!(|a| (f64::from(a) * std::f64::consts::TAU).cos() as f32),
    ),
    row_of(Vop1, 0x37, "v_not_b32", Operands::One, v1!(|a| !a)),
    row_of(Vop1, 0x38, "v_bfrev_b32", Operands::One, v1!(|a| a.reverse_bits())),
    row_of(
        Vop1,
        0x39,
        "v_ffbh_u32",
        Operands::One,
        v1!(|a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    ),
    row_of(
        Vop1,
        0x3a,
        "v_ffbl_b32",
        Operands::One,
        v1!(|a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
    ),
    row_of(Vop1, 0x3b, "v_ffbh_i32", Operands::One, v1!(|a| first_unlike_sign(a))),
    refused_row(Vop1, 0x3c, "v_frexp_exp_i32_f64", Operands::One),
    refused_row(Vop1, 0x3d, "v_frexp_mant_f64", Operands::One),
    refused_row(Vop1, 0x3e, "v_fract_f64", Operands::One),
    row_of(Vop1, 0x3f, "v_frexp_exp_i32_f32", Operands::One, v1!(|a| exponent(f32::from_bits(a)))),
    row_of(Vop1, 0x40, "v_frexp_mant_f32", Operands::One, f1!(|a| mantissa(a))),
    refused_row(Vop1, 0x42, "v_movreld_b32", Operands::One),
    refused_row(Vop1, 0x43, "v_movrels_b32", Operands::One),
    refused_row(Vop1, 0x44, "v_movrelsd_b32", Operands::One),
    refused_row(Vop1, 0x48, "v_movrelsd_2_b32", Operands::One),
    row_of(
        Vop1,
        0x50,
        "v_cvt_f16_u16",
        Operands::One,
        s1!(|a| half::f16::from_f32(f32::from(a)).to_bits()),
    ),
    row_of(
        Vop1,
        0x51,
        "v_cvt_f16_i16",
        Operands::One,
        s1!(|a| half::f16::from_f32(f32::from(a as i16)).to_bits()),
    ),
    row_of(
        Vop1,
        0x52,
        "v_cvt_u16_f16",
        Operands::One,
        s1!(|a| half::f16::from_bits(a).to_f32() as u16),
    ),
    row_of(
        Vop1,
        0x53,
        "v_cvt_i16_f16",
        Operands::One,
        s1!(|a| half::f16::from_bits(a).to_f32() as i16 as u16),
    ),
    row_of(Vop1, 0x54, "v_rcp_f16", Operands::One, h1!(|a| 1.0 / a)),
    row_of(Vop1, 0x55, "v_sqrt_f16", Operands::One, h1!(|a| a.sqrt())),
    row_of(Vop1, 0x56, "v_rsq_f16", Operands::One, h1!(|a| 1.0 / a.sqrt())),
    row_of(Vop1, 0x57, "v_log_f16", Operands::One, h1!(|a| a.log2())),
    row_of(Vop1, 0x58, "v_exp_f16", Operands::One, h1!(|a| a.exp2())),
    refused_row(Vop1, 0x59, "v_frexp_mant_f16", Operands::One),
    refused_row(Vop1, 0x5a, "v_frexp_exp_i16_f16", Operands::One),
    row_of(Vop1, 0x5b, "v_floor_f16", Operands::One, h1!(|a| a.floor())),
    row_of(Vop1, 0x5c, "v_ceil_f16", Operands::One, h1!(|a| a.ceil())),
    row_of(Vop1, 0x5d, "v_trunc_f16", Operands::One, h1!(|a| a.trunc())),
    row_of(Vop1, 0x5e, "v_rndne_f16", Operands::One, h1!(|a| a.round_ties_even())),
    row_of(Vop1, 0x5f, "v_fract_f16", Operands::One, h1!(|a| a - a.floor())),
    refused_row(Vop1, 0x60, "v_sin_f16", Operands::One),
    refused_row(Vop1, 0x61, "v_cos_f16", Operands::One),
    refused_row(Vop1, 0x62, "v_sat_pk_u8_i16", Operands::One),
    refused_row(Vop1, 0x63, "v_cvt_norm_i16_f16", Operands::One),
    refused_row(Vop1, 0x64, "v_cvt_norm_u16_f16", Operands::One),
    row_of(Vop1, 0x65, "v_swap_b32", Operands::One, OpcodeAction::Vector(swap)),
    refused_row(Vop1, 0x68, "v_swaprel_b32", Operands::One),
];
