//! Scalar opcodes of two sources.
//!
//! Input: a wave and an instruction. Output: the wave's changed scalar registers and SCC.

use super::super::math::*;
use super::super::wave::OperandKind;
use super::RowSource::Sop;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// 32 bits; SCC stays as it was.
macro_rules! s32 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.read(i.sources[0]), w.read(i.sources[1]));
            w.set_scalar(i.destination, $e);
        })
    };
}

/// 32 bits; SCC says that the result is not zero.
macro_rules! s32nz {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.read(i.sources[0]), w.read(i.sources[1]));
            let result = $e;
            w.set_scalar(i.destination, result);
            w.scc = result != 0;
        })
    };
}

/// 32 bits; the value is a result and an SCC, and the third argument is the SCC before.
macro_rules! s32scc {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b, $c) = (w.read(i.sources[0]), w.read(i.sources[1]), w.scc);
            let (result, scc) = $e;
            w.set_scalar(i.destination, result);
            w.scc = scc;
        })
    };
}

/// 64 bits; SCC says that the result is not zero.
macro_rules! s64nz {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let [$a, $b] = [0, 1].map(|n: usize| w.read64(i.sources[n], OperandKind::Bits));
            let result = $e;
            w.set_scalar64(i.destination, result);
            w.scc = result != 0;
        })
    };
}

/// 64 bits and a count or a field of 32; SCC says that the result is not zero.
macro_rules! shift64nz {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.read64(i.sources[0], OperandKind::Bits), w.read(i.sources[1]));
            let result = $e;
            w.set_scalar64(i.destination, result);
            w.scc = result != 0;
        })
    };
}
/// SOP2, by number.
pub(super) const SOP2: &[OpcodeRow] = &[
    row_of(Sop, 0x00, "s_add_u32", Operands::Two, s32scc!(|a, b, _c| a.overflowing_add(b))),
    row_of(Sop, 0x01, "s_sub_u32", Operands::Two, s32scc!(|a, b, _c| a.overflowing_sub(b))),
    row_of(
        Sop,
        0x02,
        "s_add_i32",
        Operands::Two,
        s32scc!(|a, b, _c| to_signed((a as i32).overflowing_add(b as i32))),
    ),
    row_of(
        Sop,
        0x03,
        "s_sub_i32",
        Operands::Two,
        s32scc!(|a, b, _c| to_signed((a as i32).overflowing_sub(b as i32))),
    ),
    row_of(
        Sop,
        0x04,
        "s_addc_u32",
        Operands::Two,
        s32scc!(|a, b, c| with_carry(u64::from(a) + u64::from(b) + u64::from(c))),
    ),
    row_of(
        Sop,
        0x05,
        "s_subb_u32",
        Operands::Two,
        s32scc!(|a, b, c| with_carry(u64::from(a).wrapping_sub(u64::from(b) + u64::from(c)))),
    ),
    row_of(
        Sop,
        0x06,
        "s_min_i32",
        Operands::Two,
        s32scc!(|a, b, _c| if (a as i32) < b as i32 { (a, true) } else { (b, false) }),
    ),
    row_of(
        Sop,
        0x07,
        "s_min_u32",
        Operands::Two,
        s32scc!(|a, b, _c| if a < b { (a, true) } else { (b, false) }),
    ),
    row_of(
        Sop,
        0x08,
        "s_max_i32",
        Operands::Two,
        s32scc!(|a, b, _c| if a as i32 > b as i32 { (a, true) } else { (b, false) }),
    ),
    row_of(
        Sop,
        0x09,
        "s_max_u32",
        Operands::Two,
        s32scc!(|a, b, _c| if a > b { (a, true) } else { (b, false) }),
    ),
    row_of(
        Sop,
        0x0a,
        "s_cselect_b32",
        Operands::Two,
        OpcodeAction::Scalar(|w, i| {
            let chosen = i.sources[usize::from(!w.scc)];
            w.set_scalar(i.destination, w.read(chosen));
        }),
    ),
    row_of(
        Sop,
        0x0b,
        "s_cselect_b64",
        Operands::Two,
        OpcodeAction::Scalar(|w, i| {
            let chosen = i.sources[usize::from(!w.scc)];
            w.set_scalar64(i.destination, w.read64(chosen, OperandKind::Bits));
        }),
    ),
    row_of(Sop, 0x0e, "s_and_b32", Operands::Two, s32nz!(|a, b| a & b)),
    row_of(Sop, 0x0f, "s_and_b64", Operands::Two, s64nz!(|a, b| a & b)),
    row_of(Sop, 0x10, "s_or_b32", Operands::Two, s32nz!(|a, b| a | b)),
    row_of(Sop, 0x11, "s_or_b64", Operands::Two, s64nz!(|a, b| a | b)),
    row_of(Sop, 0x12, "s_xor_b32", Operands::Two, s32nz!(|a, b| a ^ b)),
    row_of(Sop, 0x13, "s_xor_b64", Operands::Two, s64nz!(|a, b| a ^ b)),
    row_of(Sop, 0x14, "s_andn2_b32", Operands::Two, s32nz!(|a, b| a & !b)),
    row_of(Sop, 0x15, "s_andn2_b64", Operands::Two, s64nz!(|a, b| a & !b)),
    row_of(Sop, 0x16, "s_orn2_b32", Operands::Two, s32nz!(|a, b| a | !b)),
    row_of(Sop, 0x17, "s_orn2_b64", Operands::Two, s64nz!(|a, b| a | !b)),
    row_of(Sop, 0x18, "s_nand_b32", Operands::Two, s32nz!(|a, b| !(a & b))),
    row_of(Sop, 0x19, "s_nand_b64", Operands::Two, s64nz!(|a, b| !(a & b))),
    row_of(Sop, 0x1a, "s_nor_b32", Operands::Two, s32nz!(|a, b| !(a | b))),
    row_of(Sop, 0x1b, "s_nor_b64", Operands::Two, s64nz!(|a, b| !(a | b))),
    row_of(Sop, 0x1c, "s_xnor_b32", Operands::Two, s32nz!(|a, b| !(a ^ b))),
    row_of(Sop, 0x1d, "s_xnor_b64", Operands::Two, s64nz!(|a, b| !(a ^ b))),
    row_of(Sop, 0x1e, "s_lshl_b32", Operands::Two, s32nz!(|a, b| a << (b & 31))),
    row_of(Sop, 0x1f, "s_lshl_b64", Operands::Two, shift64nz!(|a, b| a << (b & 63))),
    row_of(Sop, 0x20, "s_lshr_b32", Operands::Two, s32nz!(|a, b| a >> (b & 31))),
    row_of(Sop, 0x21, "s_lshr_b64", Operands::Two, shift64nz!(|a, b| a >> (b & 63))),
    row_of(Sop, 0x22, "s_ashr_i32", Operands::Two, s32nz!(|a, b| ((a as i32) >> (b & 31)) as u32)),
    row_of(
        Sop,
        0x23,
        "s_ashr_i64",
        Operands::Two,
        shift64nz!(|a, b| (a.cast_signed() >> (b & 63)).cast_unsigned()),
    ),
    row_of(Sop, 0x24, "s_bfm_b32", Operands::Two, s32!(|a, b| ((1 << (a & 31)) - 1) << (b & 31))),
    row_of(
        Sop,
        0x25,
        "s_bfm_b64",
        Operands::Two,
        OpcodeAction::Scalar(|w, i| {
            let [a, b] = [0, 1].map(|n: usize| w.read(i.sources[n]) & 63);
            w.set_scalar64(i.destination, ((1 << a) - 1) << b);
        }),
    ),
    row_of(Sop, 0x26, "s_mul_i32", Operands::Two, s32!(|a, b| a.wrapping_mul(b))),
    row_of(
        Sop,
        0x27,
        "s_bfe_u32",
        Operands::Two,
        s32nz!(|a, b| field(u64::from(a), b & 31, b >> 16 & 0x7f) as u32),
    ),
    row_of(
        Sop,
        0x28,
        "s_bfe_i32",
        Operands::Two,
        s32nz!(|a, b| field_signed(a, b & 31, b >> 16 & 0x7f)),
    ),
    row_of(
        Sop,
        0x29,
        "s_bfe_u64",
        Operands::Two,
        shift64nz!(|a, b| field(a, b & 63, b >> 16 & 0x7f)),
    ),
    refused_row(Sop, 0x2a, "s_bfe_i64", Operands::Two),
    row_of(
        Sop,
        0x2c,
        "s_absdiff_i32",
        Operands::Two,
        s32nz!(|a, b| (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32),
    ),
    row_of(
        Sop,
        0x2e,
        "s_lshl1_add_u32",
        Operands::Two,
        s32scc!(|a, b, _c| with_carry((u64::from(a) << 1) + u64::from(b))),
    ),
    row_of(
        Sop,
        0x2f,
        "s_lshl2_add_u32",
        Operands::Two,
        s32scc!(|a, b, _c| with_carry((u64::from(a) << 2) + u64::from(b))),
    ),
    row_of(
        Sop,
        0x30,
        "s_lshl3_add_u32",
        Operands::Two,
        s32scc!(|a, b, _c| with_carry((u64::from(a) << 3) + u64::from(b))),
    ),
    row_of(
        Sop,
        0x31,
        "s_lshl4_add_u32",
        Operands::Two,
        s32scc!(|a, b, _c| with_carry((u64::from(a) << 4) + u64::from(b))),
    ),
    row_of(Sop, 0x32, "s_pack_ll_b32_b16", Operands::Two, s32!(|a, b| a & 0xffff | b << 16)),
    row_of(
        Sop,
        0x33,
        "s_pack_lh_b32_b16",
        Operands::Two,
        s32!(|a, b| a & 0xffff | b & 0xffff_0000),
    ),
    row_of(Sop, 0x34, "s_pack_hh_b32_b16", Operands::Two, s32!(|a, b| a >> 16 | b & 0xffff_0000)),
    row_of(
        Sop,
        0x35,
        "s_mul_hi_u32",
        Operands::Two,
        s32!(|a, b| (u64::from(a) * u64::from(b) >> 32) as u32),
    ),
    row_of(
        Sop,
        0x36,
        "s_mul_hi_i32",
        Operands::Two,
        s32!(|a, b| (i64::from(a as i32) * i64::from(b as i32) >> 32) as u32),
    ),
];
