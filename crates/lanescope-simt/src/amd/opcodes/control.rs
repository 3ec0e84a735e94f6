//! Scalar comparisons, scalar opcodes with a constant of 16 bits, and program control.
//!
//! Input: a wave and an instruction. Output: the wave's changed SCC and scalar registers; where it
//! goes on is the caller's matter.

use super::super::fields::{Fields, VCC};
use super::super::wave::{OperandKind, Wave};
use super::RowSource::Sop;
use super::{Control, OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// SCC says whether it holds, of 32 bits.
macro_rules! compare {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.read(i.sources[0]), w.read(i.sources[1]));
            w.scc = $e;
        })
    };
}

/// SCC says whether it holds, of 64 bits.
macro_rules! compare64 {
    (|$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let [$a, $b] = [0, 1].map(|n: usize| w.read64(i.sources[n], OperandKind::Bits));
            w.scc = $e;
        })
    };
}

/// SCC says whether a bit of 64 is so.
macro_rules! bit_of64 {
    ($set:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let bit = w.read(i.sources[1]) & 63;
            w.scc = (w.read64(i.sources[0], OperandKind::Bits) >> bit & 1 != 0) == $set;
        })
    };
}

/// SCC says whether it holds between a register and the constant: with its sign, or without.
macro_rules! compare_constant {
    (i32, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.scalar(i.destination) as i32, i.immediate);
            w.scc = $e;
        })
    };
    (u32, |$a:ident, $b:ident| $e:expr) => {
        OpcodeAction::Scalar(|w, i| {
            let ($a, $b) = (w.scalar(i.destination), i.immediate as u32 & 0xffff);
            w.scc = $e;
        })
    };
}

fn add_constant(wave: &mut Wave, fields: &Fields) {
    let before = wave.scalar(fields.destination) as i32;
    let (sum, overflow) = before.overflowing_add(fields.immediate);
    wave.set_scalar(fields.destination, sum as u32);
    wave.scc = overflow;
}

/// SOPC, by number.
pub(super) const SOPC: &[OpcodeRow] = &[
    row_of(Sop, 0x00, "s_cmp_eq_i32", Operands::Two, compare!(|a, b| (a as i32) == (b as i32))),
    row_of(Sop, 0x01, "s_cmp_lg_i32", Operands::Two, compare!(|a, b| (a as i32) != (b as i32))),
    row_of(Sop, 0x02, "s_cmp_gt_i32", Operands::Two, compare!(|a, b| (a as i32) > (b as i32))),
    row_of(Sop, 0x03, "s_cmp_ge_i32", Operands::Two, compare!(|a, b| (a as i32) >= (b as i32))),
    row_of(Sop, 0x04, "s_cmp_lt_i32", Operands::Two, compare!(|a, b| (a as i32) < (b as i32))),
    row_of(Sop, 0x05, "s_cmp_le_i32", Operands::Two, compare!(|a, b| (a as i32) <= (b as i32))),
    row_of(Sop, 0x06, "s_cmp_eq_u32", Operands::Two, compare!(|a, b| a == b)),
    row_of(Sop, 0x07, "s_cmp_lg_u32", Operands::Two, compare!(|a, b| a != b)),
    row_of(Sop, 0x08, "s_cmp_gt_u32", Operands::Two, compare!(|a, b| a > b)),
    row_of(Sop, 0x09, "s_cmp_ge_u32", Operands::Two, compare!(|a, b| a >= b)),
    row_of(Sop, 0x0a, "s_cmp_lt_u32", Operands::Two, compare!(|a, b| a < b)),
    row_of(Sop, 0x0b, "s_cmp_le_u32", Operands::Two, compare!(|a, b| a <= b)),
    row_of(Sop, 0x0c, "s_bitcmp0_b32", Operands::Two, compare!(|a, b| a >> (b & 31) & 1 == 0)),
    row_of(Sop, 0x0d, "s_bitcmp1_b32", Operands::Two, compare!(|a, b| a >> (b & 31) & 1 != 0)),
    row_of(Sop, 0x0e, "s_bitcmp0_b64", Operands::Two, bit_of64!(false)),
    row_of(Sop, 0x0f, "s_bitcmp1_b64", Operands::Two, bit_of64!(true)),
    row_of(Sop, 0x12, "s_cmp_eq_u64", Operands::Two, compare64!(|a, b| a == b)),
    row_of(Sop, 0x13, "s_cmp_lg_u64", Operands::Two, compare64!(|a, b| a != b)),
];

/// SOPK, by number.
pub(super) const SOPK: &[OpcodeRow] = &[
    row_of(
        Sop,
        0x00,
        "s_movk_i32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| w.set_scalar(i.destination, i.immediate as u32)),
    ),
    row_of(
        Sop,
        0x02,
        "s_cmovk_i32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            if w.scc {
                w.set_scalar(i.destination, i.immediate as u32);
            }
        }),
    ),
    row_of(Sop, 0x03, "s_cmpk_eq_i32", Operands::One, compare_constant!(i32, |a, b| a == b)),
    row_of(Sop, 0x04, "s_cmpk_lg_i32", Operands::One, compare_constant!(i32, |a, b| a != b)),
    row_of(Sop, 0x05, "s_cmpk_gt_i32", Operands::One, compare_constant!(i32, |a, b| a > b)),
    row_of(Sop, 0x06, "s_cmpk_ge_i32", Operands::One, compare_constant!(i32, |a, b| a >= b)),
    row_of(Sop, 0x07, "s_cmpk_lt_i32", Operands::One, compare_constant!(i32, |a, b| a < b)),
    row_of(Sop, 0x08, "s_cmpk_le_i32", Operands::One, compare_constant!(i32, |a, b| a <= b)),
    row_of(Sop, 0x09, "s_cmpk_eq_u32", Operands::One, compare_constant!(u32, |a, b| a == b)),
    row_of(Sop, 0x0a, "s_cmpk_lg_u32", Operands::One, compare_constant!(u32, |a, b| a != b)),
    row_of(Sop, 0x0b, "s_cmpk_gt_u32", Operands::One, compare_constant!(u32, |a, b| a > b)),
    row_of(Sop, 0x0c, "s_cmpk_ge_u32", Operands::One, compare_constant!(u32, |a, b| a >= b)),
    row_of(Sop, 0x0d, "s_cmpk_lt_u32", Operands::One, compare_constant!(u32, |a, b| a < b)),
    row_of(Sop, 0x0e, "s_cmpk_le_u32", Operands::One, compare_constant!(u32, |a, b| a <= b)),
    row_of(Sop, 0x0f, "s_addk_i32", Operands::One, OpcodeAction::Scalar(add_constant)),
    row_of(
        Sop,
        0x10,
        "s_mulk_i32",
        Operands::One,
        OpcodeAction::Scalar(|w, i| {
            let a = w.scalar(i.destination);
            w.set_scalar(i.destination, a.wrapping_mul(i.immediate as u32));
        }),
    ),
    refused_row(Sop, 0x12, "s_getreg_b32", Operands::One),
    refused_row(Sop, 0x13, "s_setreg_b32", Operands::One),
    refused_row(Sop, 0x16, "s_call_b64", Operands::One),
    row_of(Sop, 0x17, "s_waitcnt_vscnt", Operands::One, OpcodeAction::Control(Control::Wait)),
    row_of(Sop, 0x18, "s_waitcnt_vmcnt", Operands::One, OpcodeAction::Control(Control::Wait)),
    row_of(Sop, 0x19, "s_waitcnt_expcnt", Operands::One, OpcodeAction::Control(Control::Wait)),
    row_of(Sop, 0x1a, "s_waitcnt_lgkmcnt", Operands::One, OpcodeAction::Control(Control::Wait)),
    refused_row(Sop, 0x1b, "s_subvector_loop_begin", Operands::One),
    refused_row(Sop, 0x1c, "s_subvector_loop_end", Operands::One),
];

/// SOPP, by number.
pub(super) const SOPP: &[OpcodeRow] = &[
    row_of(Sop, 0x00, "s_nop", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x01, "s_endpgm", Operands::One, OpcodeAction::Control(Control::End)),
    row_of(Sop, 0x02, "s_branch", Operands::One, OpcodeAction::Control(Control::Branch(|_| true))),
    row_of(
        Sop,
        0x04,
        "s_cbranch_scc0",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| !w.scc)),
    ),
    row_of(
        Sop,
        0x05,
        "s_cbranch_scc1",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| w.scc)),
    ),
    row_of(
        Sop,
        0x06,
        "s_cbranch_vccz",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| w.mask(VCC) == 0)),
    ),
    row_of(
        Sop,
        0x07,
        "s_cbranch_vccnz",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| w.mask(VCC) != 0)),
    ),
    row_of(
        Sop,
        0x08,
        "s_cbranch_execz",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| w.exec() == 0)),
    ),
    row_of(
        Sop,
        0x09,
        "s_cbranch_execnz",
        Operands::One,
        OpcodeAction::Control(Control::Branch(|w| w.exec() != 0)),
    ),
    row_of(Sop, 0x0a, "s_barrier", Operands::One, OpcodeAction::Control(Control::Barrier)),
    refused_row(Sop, 0x0b, "s_setkill", Operands::One),
    row_of(Sop, 0x0c, "s_waitcnt", Operands::One, OpcodeAction::Control(Control::Wait)),
    refused_row(Sop, 0x0d, "s_sethalt", Operands::One),
    row_of(Sop, 0x0e, "s_sleep", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x0f, "s_setprio", Operands::One, OpcodeAction::Control(Control::Hint)),
    refused_row(Sop, 0x10, "s_sendmsg", Operands::One),
    refused_row(Sop, 0x11, "s_sendmsghalt", Operands::One),
    refused_row(Sop, 0x12, "s_trap", Operands::One),
    row_of(Sop, 0x13, "s_icache_inv", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x14, "s_incperflevel", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x15, "s_decperflevel", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x16, "s_ttracedata", Operands::One, OpcodeAction::Control(Control::Hint)),
    refused_row(Sop, 0x17, "s_cbranch_cdbgsys", Operands::One),
    refused_row(Sop, 0x18, "s_cbranch_cdbguser", Operands::One),
    refused_row(Sop, 0x19, "s_cbranch_cdbgsys_or_user", Operands::One),
    refused_row(Sop, 0x1a, "s_cbranch_cdbgsys_and_user", Operands::One),
    row_of(Sop, 0x20, "s_inst_prefetch", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x21, "s_clause", Operands::One, OpcodeAction::Control(Control::Hint)),
    row_of(Sop, 0x23, "s_waitcnt_depctr", Operands::One, OpcodeAction::Control(Control::Wait)),
    refused_row(Sop, 0x24, "s_round_mode", Operands::One),
    refused_row(Sop, 0x25, "s_denorm_mode", Operands::One),
    row_of(Sop, 0x28, "s_ttracedata_imm", Operands::One, OpcodeAction::Control(Control::Hint)),
];
