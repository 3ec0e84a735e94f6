//! The local data share, and the moves between lanes that run through it.
//!
//! Input: a wave, an instruction and what it reaches. Output: changed registers or memory.

use super::super::lanes::{pull, push, swizzle};
use super::super::math::{greater, lesser, real_of};
use super::RowSource::Ds;
use super::{OpcodeAction, OpcodeRow, Operands, refused_row, row_of};

/// DS, by number.
pub(super) const DS: &[OpcodeRow] = &[
    row_of(
        Ds,
        0x00,
        "ds_add_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| old.wrapping_add(new))
        }),
    ),
    row_of(
        Ds,
        0x01,
        "ds_sub_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| old.wrapping_sub(new))
        }),
    ),
    row_of(
        Ds,
        0x02,
        "ds_rsub_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| new.wrapping_sub(old))
        }),
    ),
    row_of(
        Ds,
        0x03,
        "ds_inc_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| if old >= new { 0 } else { old + 1 })
        }),
    ),
    row_of(
        Ds,
        0x04,
        "ds_dec_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(
                w,
                i,
                false,
                |old, new| if old == 0 || old > new { new } else { old - 1 },
            )
        }),
    ),
    row_of(
        Ds,
        0x05,
        "ds_min_i32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| (old as i32).min(new as i32) as u32)
        }),
    ),
    row_of(
        Ds,
        0x06,
        "ds_max_i32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| (old as i32).max(new as i32) as u32)
        }),
    ),
    row_of(
        Ds,
        0x07,
        "ds_min_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, false, |old, new| old.min(new))),
    ),
    row_of(
        Ds,
        0x08,
        "ds_max_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, false, |old, new| old.max(new))),
    ),
    row_of(
        Ds,
        0x09,
        "ds_and_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, false, |old, new| old & new)),
    ),
    row_of(
        Ds,
        0x0a,
        "ds_or_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, false, |old, new| old | new)),
    ),
    row_of(
        Ds,
        0x0b,
        "ds_xor_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, false, |old, new| old ^ new)),
    ),
    refused_row(Ds, 0x0c, "ds_mskor_b32", Operands::Two),
    row_of(
        Ds,
        0x0d,
        "ds_write_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local(w, i, 1)),
    ),
    row_of(
        Ds,
        0x0e,
        "ds_write2_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_twice(w, i, 1, 4)),
    ),
    row_of(
        Ds,
        0x0f,
        "ds_write2st64_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_twice(w, i, 1, 256)),
    ),
    row_of(
        Ds,
        0x10,
        "ds_cmpst_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.exchange_local(w, i, false)),
    ),
    refused_row(Ds, 0x11, "ds_cmpst_f32", Operands::Two),
    row_of(
        Ds,
        0x12,
        "ds_min_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| real_of(lesser, old, new))
        }),
    ),
    row_of(
        Ds,
        0x13,
        "ds_max_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| real_of(greater, old, new))
        }),
    ),
    row_of(Ds, 0x14, "ds_nop", Operands::Two, OpcodeAction::Local(|_, _, _| Ok(()))),
    row_of(
        Ds,
        0x15,
        "ds_add_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, false, |old, new| real_of(|a, b| a + b, old, new))
        }),
    ),
    refused_row(Ds, 0x19, "ds_gws_init", Operands::Two),
    refused_row(Ds, 0x1b, "ds_gws_sema_br", Operands::Two),
    refused_row(Ds, 0x1d, "ds_gws_barrier", Operands::Two),
    row_of(
        Ds,
        0x1e,
        "ds_write_b8",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_part(w, i, 1, 0)),
    ),
    row_of(
        Ds,
        0x1f,
        "ds_write_b16",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_part(w, i, 2, 0)),
    ),
    row_of(
        Ds,
        0x20,
        "ds_add_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old.wrapping_add(new))),
    ),
    row_of(
        Ds,
        0x21,
        "ds_sub_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old.wrapping_sub(new))),
    ),
    row_of(
        Ds,
        0x22,
        "ds_rsub_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| new.wrapping_sub(old))),
    ),
    row_of(
        Ds,
        0x23,
        "ds_inc_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| if old >= new { 0 } else { old + 1 })
        }),
    ),
    row_of(
        Ds,
        0x24,
        "ds_dec_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| if old == 0 || old > new { new } else { old - 1 })
        }),
    ),
    row_of(
        Ds,
        0x25,
        "ds_min_rtn_i32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| (old as i32).min(new as i32) as u32)
        }),
    ),
    row_of(
        Ds,
        0x26,
        "ds_max_rtn_i32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| (old as i32).max(new as i32) as u32)
        }),
    ),
    row_of(
        Ds,
        0x27,
        "ds_min_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old.min(new))),
    ),
    row_of(
        Ds,
        0x28,
        "ds_max_rtn_u32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old.max(new))),
    ),
    row_of(
        Ds,
        0x29,
        "ds_and_rtn_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old & new)),
    ),
    row_of(
        Ds,
        0x2a,
        "ds_or_rtn_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old | new)),
    ),
    row_of(
        Ds,
        0x2b,
        "ds_xor_rtn_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |old, new| old ^ new)),
    ),
    refused_row(Ds, 0x2c, "ds_mskor_rtn_b32", Operands::Two),
    row_of(
        Ds,
        0x2d,
        "ds_wrxchg_rtn_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.change_local(w, i, true, |_, new| new)),
    ),
    refused_row(Ds, 0x2e, "ds_wrxchg2_rtn_b32", Operands::Two),
    refused_row(Ds, 0x2f, "ds_wrxchg2st64_rtn_b32", Operands::Two),
    row_of(
        Ds,
        0x30,
        "ds_cmpst_rtn_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.exchange_local(w, i, true)),
    ),
    refused_row(Ds, 0x31, "ds_cmpst_rtn_f32", Operands::Two),
    row_of(
        Ds,
        0x32,
        "ds_min_rtn_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| real_of(lesser, old, new))
        }),
    ),
    row_of(
        Ds,
        0x33,
        "ds_max_rtn_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| real_of(greater, old, new))
        }),
    ),
    refused_row(Ds, 0x34, "ds_wrap_rtn_b32", Operands::Two),
    row_of(Ds, 0x35, "ds_swizzle_b32", Operands::Two, OpcodeAction::Local(swizzle)),
    row_of(
        Ds,
        0x36,
        "ds_read_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local(w, i, 1)),
    ),
    row_of(
        Ds,
        0x37,
        "ds_read2_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_twice(w, i, 1, 4)),
    ),
    row_of(
        Ds,
        0x38,
        "ds_read2st64_b32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_twice(w, i, 1, 256)),
    ),
    row_of(
        Ds,
        0x39,
        "ds_read_i8",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_part(w, i, 1, true)),
    ),
    row_of(
        Ds,
        0x3a,
        "ds_read_u8",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_part(w, i, 1, false)),
    ),
    row_of(
        Ds,
        0x3b,
        "ds_read_i16",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_part(w, i, 2, true)),
    ),
    row_of(
        Ds,
        0x3c,
        "ds_read_u16",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_part(w, i, 2, false)),
    ),
    refused_row(Ds, 0x3d, "ds_consume", Operands::Two),
    refused_row(Ds, 0x3e, "ds_append", Operands::Two),
    refused_row(Ds, 0x3f, "ds_ordered_count", Operands::Two),
    refused_row(Ds, 0x40, "ds_add_u64", Operands::Two),
    refused_row(Ds, 0x41, "ds_sub_u64", Operands::Two),
    refused_row(Ds, 0x42, "ds_rsub_u64", Operands::Two),
    refused_row(Ds, 0x43, "ds_inc_u64", Operands::Two),
    refused_row(Ds, 0x44, "ds_dec_u64", Operands::Two),
    refused_row(Ds, 0x45, "ds_min_i64", Operands::Two),
    refused_row(Ds, 0x46, "ds_max_i64", Operands::Two),
    refused_row(Ds, 0x47, "ds_min_u64", Operands::Two),
    refused_row(Ds, 0x48, "ds_max_u64", Operands::Two),
    refused_row(Ds, 0x49, "ds_and_b64", Operands::Two),
    refused_row(Ds, 0x4a, "ds_or_b64", Operands::Two),
    refused_row(Ds, 0x4b, "ds_xor_b64", Operands::Two),
    refused_row(Ds, 0x4c, "ds_mskor_b64", Operands::Two),
    row_of(
        Ds,
        0x4d,
        "ds_write_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local(w, i, 2)),
    ),
    row_of(
        Ds,
        0x4e,
        "ds_write2_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_twice(w, i, 2, 8)),
    ),
    row_of(
        Ds,
        0x4f,
        "ds_write2st64_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_twice(w, i, 2, 512)),
    ),
    refused_row(Ds, 0x50, "ds_cmpst_b64", Operands::Two),
    refused_row(Ds, 0x51, "ds_cmpst_f64", Operands::Two),
    refused_row(Ds, 0x52, "ds_min_f64", Operands::Two),
    refused_row(Ds, 0x53, "ds_max_f64", Operands::Two),
    row_of(
        Ds,
        0x55,
        "ds_add_rtn_f32",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| {
            r.change_local(w, i, true, |old, new| real_of(|a, b| a + b, old, new))
        }),
    ),
    refused_row(Ds, 0x60, "ds_add_rtn_u64", Operands::Two),
    refused_row(Ds, 0x61, "ds_sub_rtn_u64", Operands::Two),
    refused_row(Ds, 0x62, "ds_rsub_rtn_u64", Operands::Two),
    refused_row(Ds, 0x63, "ds_inc_rtn_u64", Operands::Two),
    refused_row(Ds, 0x64, "ds_dec_rtn_u64", Operands::Two),
    refused_row(Ds, 0x65, "ds_min_rtn_i64", Operands::Two),
    refused_row(Ds, 0x66, "ds_max_rtn_i64", Operands::Two),
    refused_row(Ds, 0x67, "ds_min_rtn_u64", Operands::Two),
    refused_row(Ds, 0x68, "ds_max_rtn_u64", Operands::Two),
    refused_row(Ds, 0x69, "ds_and_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6a, "ds_or_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6b, "ds_xor_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6c, "ds_mskor_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6d, "ds_wrxchg_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6e, "ds_wrxchg2_rtn_b64", Operands::Two),
    refused_row(Ds, 0x6f, "ds_wrxchg2st64_rtn_b64", Operands::Two),
    refused_row(Ds, 0x70, "ds_cmpst_rtn_b64", Operands::Two),
    refused_row(Ds, 0x71, "ds_cmpst_rtn_f64", Operands::Two),
    refused_row(Ds, 0x72, "ds_min_rtn_f64", Operands::Two),
    refused_row(Ds, 0x73, "ds_max_rtn_f64", Operands::Two),
    row_of(
        Ds,
        0x76,
        "ds_read_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local(w, i, 2)),
    ),
    row_of(
        Ds,
        0x77,
        "ds_read2_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_twice(w, i, 2, 8)),
    ),
    row_of(
        Ds,
        0x78,
        "ds_read2st64_b64",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_twice(w, i, 2, 512)),
    ),
    refused_row(Ds, 0x7e, "ds_condxchg32_rtn_b64", Operands::Two),
    row_of(
        Ds,
        0xa0,
        "ds_write_b8_d16_hi",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_part(w, i, 1, 16)),
    ),
    row_of(
        Ds,
        0xa1,
        "ds_write_b16_d16_hi",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local_part(w, i, 2, 16)),
    ),
    refused_row(Ds, 0xa2, "ds_read_u8_d16", Operands::Two),
    refused_row(Ds, 0xa3, "ds_read_u8_d16_hi", Operands::Two),
    refused_row(Ds, 0xa4, "ds_read_i8_d16", Operands::Two),
    refused_row(Ds, 0xa5, "ds_read_i8_d16_hi", Operands::Two),
    row_of(
        Ds,
        0xa6,
        "ds_read_u16_d16",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_half(w, i, false)),
    ),
    row_of(
        Ds,
        0xa7,
        "ds_read_u16_d16_hi",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local_half(w, i, true)),
    ),
    refused_row(Ds, 0xb0, "ds_write_addtid_b32", Operands::Two),
    refused_row(Ds, 0xb1, "ds_read_addtid_b32", Operands::Two),
    row_of(Ds, 0xb2, "ds_permute_b32", Operands::Two, OpcodeAction::Local(push)),
    row_of(Ds, 0xb3, "ds_bpermute_b32", Operands::Two, OpcodeAction::Local(pull)),
    row_of(
        Ds,
        0xde,
        "ds_write_b96",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local(w, i, 3)),
    ),
    row_of(
        Ds,
        0xdf,
        "ds_write_b128",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.store_local(w, i, 4)),
    ),
    row_of(
        Ds,
        0xfe,
        "ds_read_b96",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local(w, i, 3)),
    ),
    row_of(
        Ds,
        0xff,
        "ds_read_b128",
        Operands::Two,
        OpcodeAction::Local(|w, i, r| r.load_local(w, i, 4)),
    ),
];
