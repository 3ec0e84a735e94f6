//! The decoder against LLVM's disassembler, on what RADV emits.
//!
//! Input: `listing.txt`, one line for each mnemonic and length that stands in the catalogue's code
//! for navi21 (Mesa 22.3.6, waves of 32 and 64): words in hexadecimal, then the mnemonic that LLVM 15
//! prints beside them. Output: none, only whether they hold.

use super::super::decode::{DecodeError, decode};
use super::super::fields::Format;
use super::super::opcodes::table;

/// Words that LLVM 15 calls invalid, each with the word behind, which it prints as an instruction of
/// its own: loads into registers 104 to 107, of which the last two are VCC.
const MISPRINTS: [[u32; 2]; 5] = [
    // Printed as v_mul_u32_u24_e32 v0, s80, v0.
    [0xf428_1a16, 0x1600_0050],
    // v_mul_legacy_f32_e32 v0, s80, v0.
    [0xf428_1a18, 0x0e00_0050],
    // v_or_b32_e32 v0, s48, v0.
    [0xf428_1a1a, 0x3800_0030],
    // v_lshlrev_b32_e32 v0, s32, v0.
    [0xf428_1a1c, 0x3400_0020],
    // Invalid once more.
    [0xf428_1a1c, 0x4000_0020],
];

fn listed() -> impl Iterator<Item = (Vec<u32>, &'static str)> {
    include_str!("listing.txt").lines().map(|line| {
        let (words, mnemonic) = line.rsplit_once(' ').unwrap();
        let words = words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap());
        (words.collect(), mnemonic)
    })
}

#[test]
fn every_mnemonic_of_the_catalogue_is_llvms() {
    assert!(listed().count() > 200);
    for (words, mnemonic) in listed() {
        let instruction = decode(&words, 0).unwrap();
        assert_eq!(instruction.mnemonic(), mnemonic, "{words:x?}");
        assert_eq!(instruction.length, words.len(), "{mnemonic}");
    }
}

#[test]
fn what_llvm_misprints_is_one_instruction() {
    for words in MISPRINTS {
        let instruction = decode(&words, 0).unwrap();
        assert_eq!(instruction.mnemonic(), "s_buffer_load_dwordx4");
        assert_eq!((instruction.destination, instruction.length), (104, 2));
    }
}

/// A code cut anywhere is an error, never a guess.
#[test]
fn a_cut_instruction_is_an_error() {
    for (words, mnemonic) in listed().filter(|(words, _)| words.len() > 1) {
        let cut = decode(&words[..words.len() - 1], 0);
        assert_eq!(cut.unwrap_err(), DecodeError::Truncated { at: 0 }, "{mnemonic}");
    }
}

/// An opcode with a literal of its own in the long form, found by fuzzing: it had four words.
#[test]
fn a_literal_has_no_long_form() {
    let words = [0xd52d_fe83, 0x0303_0683, 0xd52d_fe83, 0xd52d_fe83];
    assert!(matches!(decode(&words, 0), Err(DecodeError::Opcode { opcode: 0x2d, .. })));
}

/// Two sources that name the literal share it in every format, as fuzzing found that one did not.
#[test]
fn sources_share_the_literal() {
    let words = [0xce06_0f00, 0x020d_feff, 0x3f80_0000, 0x4000_0000];
    assert_eq!(decode(&words, 0).unwrap().length, 3);
}

/// Decoding takes any words: an instruction or an error, never a panic.
#[test]
fn any_words_decode_or_are_refused() {
    let mut state = 1_u64;
    for _ in 0..300_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let words = [(state >> 32) as u32, state as u32 ^ 0x5555_aaaa, 0x3f80_0000];
        if let Ok(instruction) = decode(&words, 0) {
            assert!((1..=3).contains(&instruction.length));
        }
    }
}

#[test]
fn rows_stand_in_order_and_names_are_unique_in_a_format() {
    let formats = [
        Format::Sop2,
        Format::Sopk,
        Format::Sop1,
        Format::Sopc,
        Format::Sopp,
        Format::Smem,
        Format::Vop2,
        Format::Vop1,
        Format::Vopc,
        Format::Vop3,
        Format::Vop3p,
        Format::Ds,
        Format::Mubuf,
    ];
    let mut rows = 0;
    for format in formats {
        let table = table(format);
        assert!(table.is_sorted_by(|a, b| a.code < b.code), "{format:?}");
        let mut names: Vec<&str> = table.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.len(), "{format:?}");
        rows += table.len();
    }
    assert_eq!(rows, 857);
}
