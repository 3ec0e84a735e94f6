//! Vector comparisons.
//!
//! Input: a wave and an instruction. Output: a mask of lanes in scalar registers, or EXEC.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "the opcodes with an n hold where a source is no number"
)]

use super::super::math::*;
use super::super::wave::OperandKind;
use super::RowSource::Vopc;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// A result that depends on no operand.
macro_rules! mask {
    ($value:expr) => {
        OpcodeAction::VectorToScalar(|w, i| w.compare(i, |_, _| $value))
    };
}

/// A comparison of two values of a type.
macro_rules! cmp {
    (u32, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| w.compare(i, |$a, $b| $e))
    };
    (i32, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            w.compare(i, |a, b| {
                let ($a, $b) = (a as i32, b as i32);
                $e
            });
        })
    };
    (f32, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            let kept = w.kept32;
            w.compare(i, |a, b| {
                let ($a, $b) = (real(a, kept), real(b, kept));
                $e
            });
        })
    };
    (u64, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| w.compare64(i, OperandKind::Bits, |$a, $b| $e))
    };
    (i64, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            w.compare64(i, OperandKind::Bits, |a, b| {
                let ($a, $b) = (a.cast_signed(), b.cast_signed());
                $e
            });
        })
    };
    (f64, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            w.compare64(i, OperandKind::Real, |a, b| {
                let ($a, $b) = (f64::from_bits(a), f64::from_bits(b));
                $e
            });
        })
    };
    (u16, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| compare_shorts(w, i, OperandKind::Bits, &|$a, $b| $e))
    };
    (i16, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            compare_shorts(w, i, OperandKind::Bits, &|a, b| {
                let ($a, $b) = (a as i16, b as i16);
                $e
            });
        })
    };
    (f16, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::VectorToScalar(|w, i| {
            compare_shorts(w, i, OperandKind::Real, &|a, b| {
                let ($a, $b) = (number16(a), number16(b));
                $e
            });
        })
    };
}

/// Whether a number is of one of the classes that a mask names.
macro_rules! class {
    ($f:ident) => {
        OpcodeAction::VectorToScalar(|w, i| w.compare(i, |a, b| $f(a, b)))
    };
}

/// The same of f16.
const CLASS16: OpcodeAction = OpcodeAction::VectorToScalar(|w, i| {
    compare_shorts(w, i, OperandKind::Real, &is_class16);
});

/// VOPC, by number.
pub(super) const VOPC: &[OpcodeRow] = &[
    row_of(Vopc, 0x00, "v_cmp_f_f32", Operands::Compare, mask!(false)),
    row_of(Vopc, 0x01, "v_cmp_lt_f32", Operands::Compare, cmp!(f32, |a, b| a < b)),
    row_of(Vopc, 0x02, "v_cmp_eq_f32", Operands::Compare, cmp!(f32, |a, b| a == b)),
    row_of(Vopc, 0x03, "v_cmp_le_f32", Operands::Compare, cmp!(f32, |a, b| a <= b)),
    row_of(Vopc, 0x04, "v_cmp_gt_f32", Operands::Compare, cmp!(f32, |a, b| a > b)),
    row_of(Vopc, 0x05, "v_cmp_lg_f32", Operands::Compare, cmp!(f32, |a, b| a < b || a > b)),
    row_of(Vopc, 0x06, "v_cmp_ge_f32", Operands::Compare, cmp!(f32, |a, b| a >= b)),
    row_of(
        Vopc,
        0x07,
        "v_cmp_o_f32",
        Operands::Compare,
        cmp!(f32, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(
        Vopc,
        0x08,
        "v_cmp_u_f32",
        Operands::Compare,
        cmp!(f32, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0x09, "v_cmp_nge_f32", Operands::Compare, cmp!(f32, |a, b| !(a >= b))),
    row_of(Vopc, 0x0a, "v_cmp_nlg_f32", Operands::Compare, cmp!(f32, |a, b| !(a < b || a > b))),
    row_of(Vopc, 0x0b, "v_cmp_ngt_f32", Operands::Compare, cmp!(f32, |a, b| !(a > b))),
    row_of(Vopc, 0x0c, "v_cmp_nle_f32", Operands::Compare, cmp!(f32, |a, b| !(a <= b))),
    row_of(Vopc, 0x0d, "v_cmp_neq_f32", Operands::Compare, cmp!(f32, |a, b| !(a == b))),
    row_of(Vopc, 0x0e, "v_cmp_nlt_f32", Operands::Compare, cmp!(f32, |a, b| !(a < b))),
    row_of(Vopc, 0x0f, "v_cmp_tru_f32", Operands::Compare, mask!(true)),
    row_of(Vopc, 0x10, "v_cmpx_f_f32", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0x11, "v_cmpx_lt_f32", Operands::CompareExec, cmp!(f32, |a, b| a < b)),
    row_of(Vopc, 0x12, "v_cmpx_eq_f32", Operands::CompareExec, cmp!(f32, |a, b| a == b)),
    row_of(Vopc, 0x13, "v_cmpx_le_f32", Operands::CompareExec, cmp!(f32, |a, b| a <= b)),
    row_of(Vopc, 0x14, "v_cmpx_gt_f32", Operands::CompareExec, cmp!(f32, |a, b| a > b)),
    row_of(Vopc, 0x15, "v_cmpx_lg_f32", Operands::CompareExec, cmp!(f32, |a, b| a < b || a > b)),
    row_of(Vopc, 0x16, "v_cmpx_ge_f32", Operands::CompareExec, cmp!(f32, |a, b| a >= b)),
    row_of(
        Vopc,
        0x17,
        "v_cmpx_o_f32",
        Operands::CompareExec,
        cmp!(f32, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(
        Vopc,
        0x18,
        "v_cmpx_u_f32",
        Operands::CompareExec,
        cmp!(f32, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0x19, "v_cmpx_nge_f32", Operands::CompareExec, cmp!(f32, |a, b| !(a >= b))),
    row_of(
        Vopc,
        0x1a,
        "v_cmpx_nlg_f32",
        Operands::CompareExec,
        cmp!(f32, |a, b| !(a < b || a > b)),
    ),
    row_of(Vopc, 0x1b, "v_cmpx_ngt_f32", Operands::CompareExec, cmp!(f32, |a, b| !(a > b))),
    row_of(Vopc, 0x1c, "v_cmpx_nle_f32", Operands::CompareExec, cmp!(f32, |a, b| !(a <= b))),
    row_of(Vopc, 0x1d, "v_cmpx_neq_f32", Operands::CompareExec, cmp!(f32, |a, b| !(a == b))),
    row_of(Vopc, 0x1e, "v_cmpx_nlt_f32", Operands::CompareExec, cmp!(f32, |a, b| !(a < b))),
    row_of(Vopc, 0x1f, "v_cmpx_tru_f32", Operands::CompareExec, mask!(true)),
    row_of(Vopc, 0x20, "v_cmp_f_f64", Operands::Compare, mask!(false)),
    row_of(Vopc, 0x21, "v_cmp_lt_f64", Operands::Compare, cmp!(f64, |a, b| a < b)),
    row_of(Vopc, 0x22, "v_cmp_eq_f64", Operands::Compare, cmp!(f64, |a, b| a == b)),
    row_of(Vopc, 0x23, "v_cmp_le_f64", Operands::Compare, cmp!(f64, |a, b| a <= b)),
    row_of(Vopc, 0x24, "v_cmp_gt_f64", Operands::Compare, cmp!(f64, |a, b| a > b)),
    row_of(Vopc, 0x25, "v_cmp_lg_f64", Operands::Compare, cmp!(f64, |a, b| a < b || a > b)),
    row_of(Vopc, 0x26, "v_cmp_ge_f64", Operands::Compare, cmp!(f64, |a, b| a >= b)),
    row_of(
        Vopc,
        0x27,
        "v_cmp_o_f64",
        Operands::Compare,
        cmp!(f64, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(
        Vopc,
        0x28,
        "v_cmp_u_f64",
        Operands::Compare,
        cmp!(f64, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0x29, "v_cmp_nge_f64", Operands::Compare, cmp!(f64, |a, b| !(a >= b))),
    row_of(Vopc, 0x2a, "v_cmp_nlg_f64", Operands::Compare, cmp!(f64, |a, b| !(a < b || a > b))),
    row_of(Vopc, 0x2b, "v_cmp_ngt_f64", Operands::Compare, cmp!(f64, |a, b| !(a > b))),
    row_of(Vopc, 0x2c, "v_cmp_nle_f64", Operands::Compare, cmp!(f64, |a, b| !(a <= b))),
    row_of(Vopc, 0x2d, "v_cmp_neq_f64", Operands::Compare, cmp!(f64, |a, b| !(a == b))),
    row_of(Vopc, 0x2e, "v_cmp_nlt_f64", Operands::Compare, cmp!(f64, |a, b| !(a < b))),
    row_of(Vopc, 0x2f, "v_cmp_tru_f64", Operands::Compare, mask!(true)),
    row_of(Vopc, 0x30, "v_cmpx_f_f64", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0x31, "v_cmpx_lt_f64", Operands::CompareExec, cmp!(f64, |a, b| a < b)),
    row_of(Vopc, 0x32, "v_cmpx_eq_f64", Operands::CompareExec, cmp!(f64, |a, b| a == b)),
    row_of(Vopc, 0x33, "v_cmpx_le_f64", Operands::CompareExec, cmp!(f64, |a, b| a <= b)),
    row_of(Vopc, 0x34, "v_cmpx_gt_f64", Operands::CompareExec, cmp!(f64, |a, b| a > b)),
    row_of(Vopc, 0x35, "v_cmpx_lg_f64", Operands::CompareExec, cmp!(f64, |a, b| a < b || a > b)),
    row_of(Vopc, 0x36, "v_cmpx_ge_f64", Operands::CompareExec, cmp!(f64, |a, b| a >= b)),
    row_of(
        Vopc,
        0x37,
        "v_cmpx_o_f64",
        Operands::CompareExec,
        cmp!(f64, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(
        Vopc,
        0x38,
        "v_cmpx_u_f64",
        Operands::CompareExec,
        cmp!(f64, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0x39, "v_cmpx_nge_f64", Operands::CompareExec, cmp!(f64, |a, b| !(a >= b))),
    row_of(
        Vopc,
        0x3a,
        "v_cmpx_nlg_f64",
        Operands::CompareExec,
        cmp!(f64, |a, b| !(a < b || a > b)),
    ),
    row_of(Vopc, 0x3b, "v_cmpx_ngt_f64", Operands::CompareExec, cmp!(f64, |a, b| !(a > b))),
    row_of(Vopc, 0x3c, "v_cmpx_nle_f64", Operands::CompareExec, cmp!(f64, |a, b| !(a <= b))),
    row_of(Vopc, 0x3d, "v_cmpx_neq_f64", Operands::CompareExec, cmp!(f64, |a, b| !(a == b))),
    row_of(Vopc, 0x3e, "v_cmpx_nlt_f64", Operands::CompareExec, cmp!(f64, |a, b| !(a < b))),
    row_of(Vopc, 0x3f, "v_cmpx_tru_f64", Operands::CompareExec, mask!(true)),
    row_of(Vopc, 0x80, "v_cmp_f_i32", Operands::Compare, mask!(false)),
    row_of(Vopc, 0x81, "v_cmp_lt_i32", Operands::Compare, cmp!(i32, |a, b| a < b)),
    row_of(Vopc, 0x82, "v_cmp_eq_i32", Operands::Compare, cmp!(i32, |a, b| a == b)),
    row_of(Vopc, 0x83, "v_cmp_le_i32", Operands::Compare, cmp!(i32, |a, b| a <= b)),
    row_of(Vopc, 0x84, "v_cmp_gt_i32", Operands::Compare, cmp!(i32, |a, b| a > b)),
    row_of(Vopc, 0x85, "v_cmp_ne_i32", Operands::Compare, cmp!(i32, |a, b| a != b)),
    row_of(Vopc, 0x86, "v_cmp_ge_i32", Operands::Compare, cmp!(i32, |a, b| a >= b)),
    row_of(Vopc, 0x87, "v_cmp_t_i32", Operands::Compare, mask!(true)),
    row_of(Vopc, 0x88, "v_cmp_class_f32", Operands::Compare, class!(is_class)),
    row_of(Vopc, 0x89, "v_cmp_lt_i16", Operands::Compare, cmp!(i16, |a, b| a < b)),
    row_of(Vopc, 0x8a, "v_cmp_eq_i16", Operands::Compare, cmp!(i16, |a, b| a == b)),
    row_of(Vopc, 0x8b, "v_cmp_le_i16", Operands::Compare, cmp!(i16, |a, b| a <= b)),
    row_of(Vopc, 0x8c, "v_cmp_gt_i16", Operands::Compare, cmp!(i16, |a, b| a > b)),
    row_of(Vopc, 0x8d, "v_cmp_ne_i16", Operands::Compare, cmp!(i16, |a, b| a != b)),
    row_of(Vopc, 0x8e, "v_cmp_ge_i16", Operands::Compare, cmp!(i16, |a, b| a >= b)),
    row_of(Vopc, 0x8f, "v_cmp_class_f16", Operands::Compare, CLASS16),
    row_of(Vopc, 0x90, "v_cmpx_f_i32", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0x91, "v_cmpx_lt_i32", Operands::CompareExec, cmp!(i32, |a, b| a < b)),
    row_of(Vopc, 0x92, "v_cmpx_eq_i32", Operands::CompareExec, cmp!(i32, |a, b| a == b)),
    row_of(Vopc, 0x93, "v_cmpx_le_i32", Operands::CompareExec, cmp!(i32, |a, b| a <= b)),
    row_of(Vopc, 0x94, "v_cmpx_gt_i32", Operands::CompareExec, cmp!(i32, |a, b| a > b)),
    row_of(Vopc, 0x95, "v_cmpx_ne_i32", Operands::CompareExec, cmp!(i32, |a, b| a != b)),
    row_of(Vopc, 0x96, "v_cmpx_ge_i32", Operands::CompareExec, cmp!(i32, |a, b| a >= b)),
    row_of(Vopc, 0x97, "v_cmpx_t_i32", Operands::CompareExec, mask!(true)),
    row_of(Vopc, 0x98, "v_cmpx_class_f32", Operands::CompareExec, class!(is_class)),
    row_of(Vopc, 0x99, "v_cmpx_lt_i16", Operands::CompareExec, cmp!(i16, |a, b| a < b)),
    row_of(Vopc, 0x9a, "v_cmpx_eq_i16", Operands::CompareExec, cmp!(i16, |a, b| a == b)),
    row_of(Vopc, 0x9b, "v_cmpx_le_i16", Operands::CompareExec, cmp!(i16, |a, b| a <= b)),
    row_of(Vopc, 0x9c, "v_cmpx_gt_i16", Operands::CompareExec, cmp!(i16, |a, b| a > b)),
    row_of(Vopc, 0x9d, "v_cmpx_ne_i16", Operands::CompareExec, cmp!(i16, |a, b| a != b)),
    row_of(Vopc, 0x9e, "v_cmpx_ge_i16", Operands::CompareExec, cmp!(i16, |a, b| a >= b)),
    row_of(Vopc, 0x9f, "v_cmpx_class_f16", Operands::CompareExec, CLASS16),
    row_of(Vopc, 0xa0, "v_cmp_f_i64", Operands::Compare, mask!(false)),
    row_of(Vopc, 0xa1, "v_cmp_lt_i64", Operands::Compare, cmp!(i64, |a, b| a < b)),
    row_of(Vopc, 0xa2, "v_cmp_eq_i64", Operands::Compare, cmp!(i64, |a, b| a == b)),
    row_of(Vopc, 0xa3, "v_cmp_le_i64", Operands::Compare, cmp!(i64, |a, b| a <= b)),
    row_of(Vopc, 0xa4, "v_cmp_gt_i64", Operands::Compare, cmp!(i64, |a, b| a > b)),
    row_of(Vopc, 0xa5, "v_cmp_ne_i64", Operands::Compare, cmp!(i64, |a, b| a != b)),
    row_of(Vopc, 0xa6, "v_cmp_ge_i64", Operands::Compare, cmp!(i64, |a, b| a >= b)),
    row_of(Vopc, 0xa7, "v_cmp_t_i64", Operands::Compare, mask!(true)),
    refused_row(Vopc, 0xa8, "v_cmp_class_f64", Operands::Compare),
    row_of(Vopc, 0xa9, "v_cmp_lt_u16", Operands::Compare, cmp!(u16, |a, b| a < b)),
    row_of(Vopc, 0xaa, "v_cmp_eq_u16", Operands::Compare, cmp!(u16, |a, b| a == b)),
    row_of(Vopc, 0xab, "v_cmp_le_u16", Operands::Compare, cmp!(u16, |a, b| a <= b)),
    row_of(Vopc, 0xac, "v_cmp_gt_u16", Operands::Compare, cmp!(u16, |a, b| a > b)),
    row_of(Vopc, 0xad, "v_cmp_ne_u16", Operands::Compare, cmp!(u16, |a, b| a != b)),
    row_of(Vopc, 0xae, "v_cmp_ge_u16", Operands::Compare, cmp!(u16, |a, b| a >= b)),
    row_of(Vopc, 0xb0, "v_cmpx_f_i64", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0xb1, "v_cmpx_lt_i64", Operands::CompareExec, cmp!(i64, |a, b| a < b)),
    row_of(Vopc, 0xb2, "v_cmpx_eq_i64", Operands::CompareExec, cmp!(i64, |a, b| a == b)),
    row_of(Vopc, 0xb3, "v_cmpx_le_i64", Operands::CompareExec, cmp!(i64, |a, b| a <= b)),
    row_of(Vopc, 0xb4, "v_cmpx_gt_i64", Operands::CompareExec, cmp!(i64, |a, b| a > b)),
    row_of(Vopc, 0xb5, "v_cmpx_ne_i64", Operands::CompareExec, cmp!(i64, |a, b| a != b)),
    row_of(Vopc, 0xb6, "v_cmpx_ge_i64", Operands::CompareExec, cmp!(i64, |a, b| a >= b)),
    row_of(Vopc, 0xb7, "v_cmpx_t_i64", Operands::CompareExec, mask!(true)),
    refused_row(Vopc, 0xb8, "v_cmpx_class_f64", Operands::CompareExec),
    row_of(Vopc, 0xb9, "v_cmpx_lt_u16", Operands::CompareExec, cmp!(u16, |a, b| a < b)),
    row_of(Vopc, 0xba, "v_cmpx_eq_u16", Operands::CompareExec, cmp!(u16, |a, b| a == b)),
    row_of(Vopc, 0xbb, "v_cmpx_le_u16", Operands::CompareExec, cmp!(u16, |a, b| a <= b)),
    row_of(Vopc, 0xbc, "v_cmpx_gt_u16", Operands::CompareExec, cmp!(u16, |a, b| a > b)),
    row_of(Vopc, 0xbd, "v_cmpx_ne_u16", Operands::CompareExec, cmp!(u16, |a, b| a != b)),
    row_of(Vopc, 0xbe, "v_cmpx_ge_u16", Operands::CompareExec, cmp!(u16, |a, b| a >= b)),
    row_of(Vopc, 0xc0, "v_cmp_f_u32", Operands::Compare, mask!(false)),
    row_of(Vopc, 0xc1, "v_cmp_lt_u32", Operands::Compare, cmp!(u32, |a, b| a < b)),
    row_of(Vopc, 0xc2, "v_cmp_eq_u32", Operands::Compare, cmp!(u32, |a, b| a == b)),
    row_of(Vopc, 0xc3, "v_cmp_le_u32", Operands::Compare, cmp!(u32, |a, b| a <= b)),
    row_of(Vopc, 0xc4, "v_cmp_gt_u32", Operands::Compare, cmp!(u32, |a, b| a > b)),
    row_of(Vopc, 0xc5, "v_cmp_ne_u32", Operands::Compare, cmp!(u32, |a, b| a != b)),
    row_of(Vopc, 0xc6, "v_cmp_ge_u32", Operands::Compare, cmp!(u32, |a, b| a >= b)),
    row_of(Vopc, 0xc7, "v_cmp_t_u32", Operands::Compare, mask!(true)),
    row_of(Vopc, 0xc8, "v_cmp_f_f16", Operands::Compare, mask!(false)),
    row_of(Vopc, 0xc9, "v_cmp_lt_f16", Operands::Compare, cmp!(f16, |a, b| a < b)),
    row_of(Vopc, 0xca, "v_cmp_eq_f16", Operands::Compare, cmp!(f16, |a, b| a == b)),
    row_of(Vopc, 0xcb, "v_cmp_le_f16", Operands::Compare, cmp!(f16, |a, b| a <= b)),
    row_of(Vopc, 0xcc, "v_cmp_gt_f16", Operands::Compare, cmp!(f16, |a, b| a > b)),
    row_of(Vopc, 0xcd, "v_cmp_lg_f16", Operands::Compare, cmp!(f16, |a, b| a < b || a > b)),
    row_of(Vopc, 0xce, "v_cmp_ge_f16", Operands::Compare, cmp!(f16, |a, b| a >= b)),
    row_of(
        Vopc,
        0xcf,
        "v_cmp_o_f16",
        Operands::Compare,
        cmp!(f16, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(Vopc, 0xd0, "v_cmpx_f_u32", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0xd1, "v_cmpx_lt_u32", Operands::CompareExec, cmp!(u32, |a, b| a < b)),
    row_of(Vopc, 0xd2, "v_cmpx_eq_u32", Operands::CompareExec, cmp!(u32, |a, b| a == b)),
    row_of(Vopc, 0xd3, "v_cmpx_le_u32", Operands::CompareExec, cmp!(u32, |a, b| a <= b)),
    row_of(Vopc, 0xd4, "v_cmpx_gt_u32", Operands::CompareExec, cmp!(u32, |a, b| a > b)),
    row_of(Vopc, 0xd5, "v_cmpx_ne_u32", Operands::CompareExec, cmp!(u32, |a, b| a != b)),
    row_of(Vopc, 0xd6, "v_cmpx_ge_u32", Operands::CompareExec, cmp!(u32, |a, b| a >= b)),
    row_of(Vopc, 0xd7, "v_cmpx_t_u32", Operands::CompareExec, mask!(true)),
    row_of(Vopc, 0xd8, "v_cmpx_f_f16", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0xd9, "v_cmpx_lt_f16", Operands::CompareExec, cmp!(f16, |a, b| a < b)),
    row_of(Vopc, 0xda, "v_cmpx_eq_f16", Operands::CompareExec, cmp!(f16, |a, b| a == b)),
    row_of(Vopc, 0xdb, "v_cmpx_le_f16", Operands::CompareExec, cmp!(f16, |a, b| a <= b)),
    row_of(Vopc, 0xdc, "v_cmpx_gt_f16", Operands::CompareExec, cmp!(f16, |a, b| a > b)),
    row_of(Vopc, 0xdd, "v_cmpx_lg_f16", Operands::CompareExec, cmp!(f16, |a, b| a < b || a > b)),
    row_of(Vopc, 0xde, "v_cmpx_ge_f16", Operands::CompareExec, cmp!(f16, |a, b| a >= b)),
    row_of(
        Vopc,
        0xdf,
        "v_cmpx_o_f16",
        Operands::CompareExec,
        cmp!(f16, |a, b| !a.is_nan() && !b.is_nan()),
    ),
    row_of(Vopc, 0xe0, "v_cmp_f_u64", Operands::Compare, mask!(false)),
    row_of(Vopc, 0xe1, "v_cmp_lt_u64", Operands::Compare, cmp!(u64, |a, b| a < b)),
    row_of(Vopc, 0xe2, "v_cmp_eq_u64", Operands::Compare, cmp!(u64, |a, b| a == b)),
    row_of(Vopc, 0xe3, "v_cmp_le_u64", Operands::Compare, cmp!(u64, |a, b| a <= b)),
    row_of(Vopc, 0xe4, "v_cmp_gt_u64", Operands::Compare, cmp!(u64, |a, b| a > b)),
    row_of(Vopc, 0xe5, "v_cmp_ne_u64", Operands::Compare, cmp!(u64, |a, b| a != b)),
    row_of(Vopc, 0xe6, "v_cmp_ge_u64", Operands::Compare, cmp!(u64, |a, b| a >= b)),
    row_of(Vopc, 0xe7, "v_cmp_t_u64", Operands::Compare, mask!(true)),
    row_of(
        Vopc,
        0xe8,
        "v_cmp_u_f16",
        Operands::Compare,
        cmp!(f16, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0xe9, "v_cmp_nge_f16", Operands::Compare, cmp!(f16, |a, b| !(a >= b))),
    row_of(Vopc, 0xea, "v_cmp_nlg_f16", Operands::Compare, cmp!(f16, |a, b| !(a < b || a > b))),
    row_of(Vopc, 0xeb, "v_cmp_ngt_f16", Operands::Compare, cmp!(f16, |a, b| !(a > b))),
    row_of(Vopc, 0xec, "v_cmp_nle_f16", Operands::Compare, cmp!(f16, |a, b| !(a <= b))),
    row_of(Vopc, 0xed, "v_cmp_neq_f16", Operands::Compare, cmp!(f16, |a, b| !(a == b))),
    row_of(Vopc, 0xee, "v_cmp_nlt_f16", Operands::Compare, cmp!(f16, |a, b| !(a < b))),
    row_of(Vopc, 0xef, "v_cmp_tru_f16", Operands::Compare, mask!(true)),
    row_of(Vopc, 0xf0, "v_cmpx_f_u64", Operands::CompareExec, mask!(false)),
    row_of(Vopc, 0xf1, "v_cmpx_lt_u64", Operands::CompareExec, cmp!(u64, |a, b| a < b)),
    row_of(Vopc, 0xf2, "v_cmpx_eq_u64", Operands::CompareExec, cmp!(u64, |a, b| a == b)),
    row_of(Vopc, 0xf3, "v_cmpx_le_u64", Operands::CompareExec, cmp!(u64, |a, b| a <= b)),
    row_of(Vopc, 0xf4, "v_cmpx_gt_u64", Operands::CompareExec, cmp!(u64, |a, b| a > b)),
    row_of(Vopc, 0xf5, "v_cmpx_ne_u64", Operands::CompareExec, cmp!(u64, |a, b| a != b)),
    row_of(Vopc, 0xf6, "v_cmpx_ge_u64", Operands::CompareExec, cmp!(u64, |a, b| a >= b)),
    row_of(Vopc, 0xf7, "v_cmpx_t_u64", Operands::CompareExec, mask!(true)),
    row_of(
        Vopc,
        0xf8,
        "v_cmpx_u_f16",
        Operands::CompareExec,
        cmp!(f16, |a, b| a.is_nan() || b.is_nan()),
    ),
    row_of(Vopc, 0xf9, "v_cmpx_nge_f16", Operands::CompareExec, cmp!(f16, |a, b| !(a >= b))),
    row_of(
        Vopc,
        0xfa,
        "v_cmpx_nlg_f16",
        Operands::CompareExec,
        cmp!(f16, |a, b| !(a < b || a > b)),
    ),
    row_of(Vopc, 0xfb, "v_cmpx_ngt_f16", Operands::CompareExec, cmp!(f16, |a, b| !(a > b))),
    row_of(Vopc, 0xfc, "v_cmpx_nle_f16", Operands::CompareExec, cmp!(f16, |a, b| !(a <= b))),
    row_of(Vopc, 0xfd, "v_cmpx_neq_f16", Operands::CompareExec, cmp!(f16, |a, b| !(a == b))),
    row_of(Vopc, 0xfe, "v_cmpx_nlt_f16", Operands::CompareExec, cmp!(f16, |a, b| !(a < b))),
    row_of(Vopc, 0xff, "v_cmpx_tru_f16", Operands::CompareExec, mask!(true)),
];
