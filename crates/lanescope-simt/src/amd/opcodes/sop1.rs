//! Scalar opcodes of one source.
//!
//! Input: a wave and an instruction. Output: the wave's changed scalar registers, SCC and EXEC.

use super::super::fields::{EXEC, Fields};
use super::super::math::*;
use super::super::wave::{OperandKind, Wave};
use super::RowSource::Sop;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// 32 bits; SCC stays as it was.
macro_rules! u32 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read(i.sources[0]);
            let result = $e;
            w.set_scalar(i.destination, result);
        })
    };
}

/// 64 bits; SCC stays as it was.
macro_rules! u64 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read64(i.sources[0], OperandKind::Bits);
            let result = $e;
            w.set_scalar64(i.destination, result);
        })
    };
}

/// 64 bits to 32; SCC stays as it was.
macro_rules! u64to32 {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read64(i.sources[0], OperandKind::Bits);
            let result = $e;
            w.set_scalar(i.destination, result);
        })
    };
}

/// 32 bits; SCC says that the result is not zero.
macro_rules! u32nz {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read(i.sources[0]);
            let result = $e;
            w.set_scalar(i.destination, result);
            w.scc = result != 0;
        })
    };
}

/// 64 bits; SCC says that the result is not zero.
macro_rules! u64nz {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read64(i.sources[0], OperandKind::Bits);
            let result = $e;
            w.set_scalar64(i.destination, result);
            w.scc = result != 0;
        })
    };
}

/// 64 bits to 32; SCC says that the result is not zero.
macro_rules! u64to32nz {
    (|$a:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let $a = w.read64(i.sources[0], OperandKind::Bits);
            let result = $e;
            w.set_scalar(i.destination, result);
            w.scc = result != 0;
        })
    };
}

/// EXEC is kept in the destination and changed.
macro_rules! saveexec {
    (|$a:ident, $e:ident| $value:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $e) = (mask_of(w, i), w.exec());
            let value = $value;
            w.set_mask(i.destination, $e);
            w.set_mask(EXEC, value);
            w.scc = w.exec() != 0;
        })
    };
}

/// EXEC is changed, and kept in the destination as it is then.
macro_rules! wrexec {
    (|$a:ident, $e:ident| $value:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $e) = (mask_of(w, i), w.exec());
            let value = $value;
            w.set_mask(EXEC, value);
            let exec = w.exec();
            w.set_mask(i.destination, exec);
            w.scc = exec != 0;
        })
    };
}

/// The source as a mask of lanes.
fn mask_of(wave: &Wave, fields: &Fields) -> u64 {
    let source = fields.sources[0];
    if wave.halves() == 2 {
        wave.read64(source, OperandKind::Bits)
    } else {
        u64::from(wave.read(source))
    }
}
/// SOP1, by number.
pub(super) const SOP1: &[OpcodeRow] = &[
    row_of(Sop, 0x03, "s_mov_b32", Operands::One, u32!(|a| a)),
    row_of(Sop, 0x04, "s_mov_b64", Operands::One, u64!(|a| a)),
    row_of(
        Sop,
        0x05,
        "s_cmov_b32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            if w.scc {
                w.set_scalar(i.destination, w.read(i.sources[0]));
            }
        }),
    ),
    row_of(
        Sop,
        0x06,
        "s_cmov_b64",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            if w.scc {
                w.set_scalar64(i.destination, w.read64(i.sources[0], OperandKind::Bits));
            }
        }),
    ),
    row_of(Sop, 0x07, "s_not_b32", Operands::One, u32nz!(|a| !a)),
    row_of(Sop, 0x08, "s_not_b64", Operands::One, u64nz!(|a| !a)),
    row_of(Sop, 0x09, "s_wqm_b32", Operands::One, u32nz!(|a| whole_quads(u64::from(a)) as u32)),
    row_of(Sop, 0x0a, "s_wqm_b64", Operands::One, u64nz!(|a| whole_quads(a))),
    row_of(Sop, 0x0b, "s_brev_b32", Operands::One, u32!(|a| a.reverse_bits())),
    row_of(Sop, 0x0c, "s_brev_b64", Operands::One, u64!(|a| a.reverse_bits())),
    row_of(Sop, 0x0d, "s_bcnt0_i32_b32", Operands::One, u32nz!(|a| a.count_zeros())),
    row_of(Sop, 0x0e, "s_bcnt0_i32_b64", Operands::One, u64to32nz!(|a| a.count_zeros())),
    row_of(Sop, 0x0f, "s_bcnt1_i32_b32", Operands::One, u32nz!(|a| a.count_ones())),
    row_of(Sop, 0x10, "s_bcnt1_i32_b64", Operands::One, u64to32nz!(|a| a.count_ones())),
    row_of(Sop, 0x11, "s_ff0_i32_b32", Operands::One, u32!(|a| first(u64::from(!a)))),
    row_of(Sop, 0x12, "s_ff0_i32_b64", Operands::One, u64to32!(|a| first(!a))),
    row_of(Sop, 0x13, "s_ff1_i32_b32", Operands::One, u32!(|a| first(u64::from(a)))),
    row_of(Sop, 0x14, "s_ff1_i32_b64", Operands::One, u64to32!(|a| first(a))),
    row_of(
        Sop,
        0x15,
        "s_flbit_i32_b32",
        Operands::One,
        u32!(|a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    ),
    row_of(
        Sop,
        0x16,
        "s_flbit_i32_b64",
        Operands::One,
        u64to32!(|a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    ),
    row_of(Sop, 0x17, "s_flbit_i32", Operands::One, u32!(|a| first_unlike_sign(a))),
    refused_row(Sop, 0x18, "s_flbit_i32_i64", Operands::One),
    row_of(Sop, 0x19, "s_sext_i32_i8", Operands::One, u32!(|a| a as i8 as u32)),
    row_of(Sop, 0x1a, "s_sext_i32_i16", Operands::One, u32!(|a| a as i16 as u32)),
    row_of(
        Sop,
        0x1b,
        "s_bitset0_b32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let bit = w.read(i.sources[0]) & 31;
            w.set_scalar(i.destination, w.scalar(i.destination) & !(1 << bit));
        }),
    ),
    row_of(
        Sop,
        0x1c,
        "s_bitset0_b64",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let bit = w.read(i.sources[0]) & 63;
            w.set_scalar64(i.destination, w.scalar64(i.destination) & !(1 << bit));
        }),
    ),
    row_of(
        Sop,
        0x1d,
        "s_bitset1_b32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let bit = w.read(i.sources[0]) & 31;
            w.set_scalar(i.destination, w.scalar(i.destination) | 1 << bit);
        }),
    ),
    row_of(
        Sop,
        0x1e,
        "s_bitset1_b64",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let bit = w.read(i.sources[0]) & 63;
            w.set_scalar64(i.destination, w.scalar64(i.destination) | 1 << bit);
        }),
    ),
    refused_row(Sop, 0x1f, "s_getpc_b64", Operands::One),
    refused_row(Sop, 0x20, "s_setpc_b64", Operands::One),
    refused_row(Sop, 0x21, "s_swappc_b64", Operands::One),
    row_of(Sop, 0x24, "s_and_saveexec_b64", Operands::One, saveexec!(|a, e| a & e)),
    row_of(Sop, 0x25, "s_or_saveexec_b64", Operands::One, saveexec!(|a, e| a | e)),
    row_of(Sop, 0x26, "s_xor_saveexec_b64", Operands::One, saveexec!(|a, e| a ^ e)),
    row_of(Sop, 0x27, "s_andn2_saveexec_b64", Operands::One, saveexec!(|a, e| a & !e)),
    row_of(Sop, 0x28, "s_orn2_saveexec_b64", Operands::One, saveexec!(|a, e| a | !e)),
    row_of(Sop, 0x29, "s_nand_saveexec_b64", Operands::One, saveexec!(|a, e| !(a & e))),
    row_of(Sop, 0x2a, "s_nor_saveexec_b64", Operands::One, saveexec!(|a, e| !(a | e))),
    row_of(Sop, 0x2b, "s_xnor_saveexec_b64", Operands::One, saveexec!(|a, e| !(a ^ e))),
    refused_row(Sop, 0x2c, "s_quadmask_b32", Operands::One),
    refused_row(Sop, 0x2d, "s_quadmask_b64", Operands::One),
    refused_row(Sop, 0x2e, "s_movrels_b32", Operands::One),
    refused_row(Sop, 0x2f, "s_movrels_b64", Operands::One),
    refused_row(Sop, 0x30, "s_movreld_b32", Operands::One),
    refused_row(Sop, 0x31, "s_movreld_b64", Operands::One),
    row_of(Sop, 0x34, "s_abs_i32", Operands::One, u32nz!(|a| (a as i32).wrapping_abs() as u32)),
    row_of(Sop, 0x37, "s_andn1_saveexec_b64", Operands::One, saveexec!(|a, e| !a & e)),
    row_of(Sop, 0x38, "s_orn1_saveexec_b64", Operands::One, saveexec!(|a, e| !a | e)),
    row_of(Sop, 0x39, "s_andn1_wrexec_b64", Operands::One, wrexec!(|a, e| !a & e)),
    row_of(Sop, 0x3a, "s_andn2_wrexec_b64", Operands::One, wrexec!(|a, e| a & !e)),
    row_of(
        Sop,
        0x3b,
        "s_bitreplicate_b64_b32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let twice = bits_twice(w.read(i.sources[0]));
            w.set_scalar64(i.destination, twice);
        }),
    ),
    row_of(Sop, 0x3c, "s_and_saveexec_b32", Operands::One, saveexec!(|a, e| a & e)),
    row_of(Sop, 0x3d, "s_or_saveexec_b32", Operands::One, saveexec!(|a, e| a | e)),
    row_of(Sop, 0x3e, "s_xor_saveexec_b32", Operands::One, saveexec!(|a, e| a ^ e)),
    row_of(Sop, 0x3f, "s_andn2_saveexec_b32", Operands::One, saveexec!(|a, e| a & !e)),
    row_of(Sop, 0x40, "s_orn2_saveexec_b32", Operands::One, saveexec!(|a, e| a | !e)),
    row_of(Sop, 0x41, "s_nand_saveexec_b32", Operands::One, saveexec!(|a, e| !(a & e))),
    row_of(Sop, 0x42, "s_nor_saveexec_b32", Operands::One, saveexec!(|a, e| !(a | e))),
    row_of(Sop, 0x43, "s_xnor_saveexec_b32", Operands::One, saveexec!(|a, e| !(a ^ e))),
    row_of(Sop, 0x44, "s_andn1_saveexec_b32", Operands::One, saveexec!(|a, e| !a & e)),
    row_of(Sop, 0x45, "s_orn1_saveexec_b32", Operands::One, saveexec!(|a, e| !a | e)),
    row_of(Sop, 0x46, "s_andn1_wrexec_b32", Operands::One, wrexec!(|a, e| !a & e)),
    row_of(Sop, 0x47, "s_andn2_wrexec_b32", Operands::One, wrexec!(|a, e| a & !e)),
    refused_row(Sop, 0x49, "s_movrelsd_2_b32", Operands::One),
];
