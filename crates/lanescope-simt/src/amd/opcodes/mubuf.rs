//! Scalar memory and buffers.
//!
//! Input: a wave, an instruction and what it reaches. Output: changed registers or memory.

use super::super::math::{greater, lesser, real_of};
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// SMEM, by number.
pub(super) const SMEM: &[OpcodeRow] = &[
    row_of(
        0x00,
        "s_load_dword",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_scalars(w, i, 1)),
    ),
    row_of(
        0x01,
        "s_load_dwordx2",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_scalars(w, i, 2)),
    ),
    row_of(
        0x02,
        "s_load_dwordx4",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_scalars(w, i, 4)),
    ),
    row_of(
        0x03,
        "s_load_dwordx8",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_scalars(w, i, 8)),
    ),
    row_of(
        0x04,
        "s_load_dwordx16",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_scalars(w, i, 16)),
    ),
    row_of(
        0x08,
        "s_buffer_load_dword",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_uniform(w, i, 1)),
    ),
    row_of(
        0x09,
        "s_buffer_load_dwordx2",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_uniform(w, i, 2)),
    ),
    row_of(
        0x0a,
        "s_buffer_load_dwordx4",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_uniform(w, i, 4)),
    ),
    row_of(
        0x0b,
        "s_buffer_load_dwordx8",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_uniform(w, i, 8)),
    ),
    row_of(
        0x0c,
        "s_buffer_load_dwordx16",
        Operands::Two,
        OpcodeAction::ScalarMemory(|w, i, r| r.load_uniform(w, i, 16)),
    ),
    row_of(0x1f, "s_gl1_inv", Operands::Two, OpcodeAction::ScalarMemory(|_, _, _| Ok(()))),
    row_of(0x20, "s_dcache_inv", Operands::Two, OpcodeAction::ScalarMemory(|_, _, _| Ok(()))),
    refused_row(0x24, "s_memtime", Operands::Two),
    refused_row(0x25, "s_memrealtime", Operands::Two),
    refused_row(0x26, "s_atc_probe", Operands::Two),
    refused_row(0x27, "s_atc_probe_buffer", Operands::Two),
];

/// MUBUF, by number.
pub(super) const MUBUF: &[OpcodeRow] = &[
    refused_row(0x00, "buffer_load_format_x", Operands::Two),
    refused_row(0x01, "buffer_load_format_xy", Operands::Two),
    refused_row(0x02, "buffer_load_format_xyz", Operands::Two),
    refused_row(0x03, "buffer_load_format_xyzw", Operands::Two),
    refused_row(0x04, "buffer_store_format_x", Operands::Two),
    refused_row(0x05, "buffer_store_format_xy", Operands::Two),
    refused_row(0x06, "buffer_store_format_xyz", Operands::Two),
    refused_row(0x07, "buffer_store_format_xyzw", Operands::Two),
    row_of(
        0x08,
        "buffer_load_ubyte",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_part(w, i, 1, false)),
    ),
    row_of(
        0x09,
        "buffer_load_sbyte",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_part(w, i, 1, true)),
    ),
    row_of(
        0x0a,
        "buffer_load_ushort",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_part(w, i, 2, false)),
    ),
    row_of(
        0x0b,
        "buffer_load_sshort",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_part(w, i, 2, true)),
    ),
    row_of(
        0x0c,
        "buffer_load_dword",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load(w, i, 1)),
    ),
    row_of(
        0x0d,
        "buffer_load_dwordx2",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load(w, i, 2)),
    ),
    row_of(
        0x0e,
        "buffer_load_dwordx4",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load(w, i, 4)),
    ),
    row_of(
        0x0f,
        "buffer_load_dwordx3",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load(w, i, 3)),
    ),
    row_of(
        0x18,
        "buffer_store_byte",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store_part(w, i, 1, 0)),
    ),
    row_of(
        0x19,
        "buffer_store_byte_d16_hi",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store_part(w, i, 1, 16)),
    ),
    row_of(
        0x1a,
        "buffer_store_short",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store_part(w, i, 2, 0)),
    ),
    row_of(
        0x1b,
        "buffer_store_short_d16_hi",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store_part(w, i, 2, 16)),
    ),
    row_of(
        0x1c,
        "buffer_store_dword",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store(w, i, 1)),
    ),
    row_of(
        0x1d,
        "buffer_store_dwordx2",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store(w, i, 2)),
    ),
    row_of(
        0x1e,
        "buffer_store_dwordx4",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store(w, i, 4)),
    ),
    row_of(
        0x1f,
        "buffer_store_dwordx3",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.store(w, i, 3)),
    ),
    refused_row(0x20, "buffer_load_ubyte_d16", Operands::Two),
    refused_row(0x21, "buffer_load_ubyte_d16_hi", Operands::Two),
    refused_row(0x22, "buffer_load_sbyte_d16", Operands::Two),
    refused_row(0x23, "buffer_load_sbyte_d16_hi", Operands::Two),
    row_of(
        0x24,
        "buffer_load_short_d16",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_half(w, i, false)),
    ),
    row_of(
        0x25,
        "buffer_load_short_d16_hi",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.load_half(w, i, true)),
    ),
    row_of(
        0x30,
        "buffer_atomic_swap",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |_, new| new)),
    ),
    row_of(
        0x31,
        "buffer_atomic_cmpswap",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.exchange(w, i)),
    ),
    row_of(
        0x32,
        "buffer_atomic_add",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old.wrapping_add(new))),
    ),
    row_of(
        0x33,
        "buffer_atomic_sub",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old.wrapping_sub(new))),
    ),
    row_of(
        0x35,
        "buffer_atomic_smin",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| {
            r.change(w, i, |old, new| (old as i32).min(new as i32) as u32)
        }),
    ),
    row_of(
        0x36,
        "buffer_atomic_umin",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old.min(new))),
    ),
    row_of(
        0x37,
        "buffer_atomic_smax",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| {
            r.change(w, i, |old, new| (old as i32).max(new as i32) as u32)
        }),
    ),
    row_of(
        0x38,
        "buffer_atomic_umax",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old.max(new))),
    ),
    row_of(
        0x39,
        "buffer_atomic_and",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old & new)),
    ),
    row_of(
        0x3a,
        "buffer_atomic_or",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old | new)),
    ),
    row_of(
        0x3b,
        "buffer_atomic_xor",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| old ^ new)),
    ),
    row_of(
        0x3c,
        "buffer_atomic_inc",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| {
            r.change(w, i, |old, new| if old >= new { 0 } else { old + 1 })
        }),
    ),
    row_of(
        0x3d,
        "buffer_atomic_dec",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| {
            r.change(w, i, |old, new| if old == 0 || old > new { new } else { old - 1 })
        }),
    ),
    refused_row(0x3e, "buffer_atomic_fcmpswap", Operands::Two),
    row_of(
        0x3f,
        "buffer_atomic_fmin",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| real_of(lesser, old, new))),
    ),
    row_of(
        0x40,
        "buffer_atomic_fmax",
        Operands::Two,
        OpcodeAction::VectorMemory(|w, i, r| r.change(w, i, |old, new| real_of(greater, old, new))),
    ),
    refused_row(0x50, "buffer_atomic_swap_x2", Operands::Two),
    refused_row(0x51, "buffer_atomic_cmpswap_x2", Operands::Two),
    refused_row(0x52, "buffer_atomic_add_x2", Operands::Two),
    refused_row(0x53, "buffer_atomic_sub_x2", Operands::Two),
    refused_row(0x55, "buffer_atomic_smin_x2", Operands::Two),
    refused_row(0x56, "buffer_atomic_umin_x2", Operands::Two),
    refused_row(0x57, "buffer_atomic_smax_x2", Operands::Two),
    refused_row(0x58, "buffer_atomic_umax_x2", Operands::Two),
    refused_row(0x59, "buffer_atomic_and_x2", Operands::Two),
    refused_row(0x5a, "buffer_atomic_or_x2", Operands::Two),
    refused_row(0x5b, "buffer_atomic_xor_x2", Operands::Two),
    refused_row(0x5c, "buffer_atomic_inc_x2", Operands::Two),
    refused_row(0x5d, "buffer_atomic_dec_x2", Operands::Two),
    refused_row(0x5e, "buffer_atomic_fcmpswap_x2", Operands::Two),
    refused_row(0x5f, "buffer_atomic_fmin_x2", Operands::Two),
    refused_row(0x60, "buffer_atomic_fmax_x2", Operands::Two),
    row_of(0x71, "buffer_gl0_inv", Operands::Two, OpcodeAction::VectorMemory(|_, _, _| Ok(()))),
    row_of(0x72, "buffer_gl1_inv", Operands::Two, OpcodeAction::VectorMemory(|_, _, _| Ok(()))),
    refused_row(0x80, "buffer_load_format_d16_x", Operands::Two),
    refused_row(0x81, "buffer_load_format_d16_xy", Operands::Two),
    refused_row(0x82, "buffer_load_format_d16_xyz", Operands::Two),
    refused_row(0x83, "buffer_load_format_d16_xyzw", Operands::Two),
    refused_row(0x84, "buffer_store_format_d16_x", Operands::Two),
    refused_row(0x85, "buffer_store_format_d16_xy", Operands::Two),
    refused_row(0x86, "buffer_store_format_d16_xyz", Operands::Two),
    refused_row(0x87, "buffer_store_format_d16_xyzw", Operands::Two),
];
