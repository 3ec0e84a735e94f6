//! The opcodes of gfx10.3: a number, a name, and the function that executes it.
//!
//! Input: a format and an opcode's number. Output: its [`OpcodeRow`]. A row whose function is
//! [`OpcodeAction::Refused`] is decoded and named and never executed: whoever meets it gets an error, not a
//! figure.
//!
//! # Where the rows come from
//!
//! Numbers and names: LLVM's AMDGPU target (`VOP1Instructions.td`, `VOP2Instructions.td`,
//! `VOP3Instructions.td`, `VOP3PInstructions.td`, `VOPCInstructions.td`, `SOPInstructions.td`,
//! `SMInstructions.td`, `DSInstructions.td`, `BUFInstructions.td`; Apache-2.0 with LLVM exception):
//! each row says which ([`RowSource`]). Every number of every format was given to its disassembler for
//! gfx1030, and a test does it again where `llvm-mc` is installed. Mesa's `aco_opcodes.py` (MIT) has the same numbers for those that
//! its compiler emits. What they do: what Mesa's compiler takes them for when it selects one for an
//! operation of NIR, whose meaning `nir_opcodes.py` states (MIT), and LLVM's operand documents;
//! nothing is from AMD's own texts, see `docs/licences.md`.

mod control;
mod ds;
mod mubuf;
pub mod row;
mod sop1;
mod sop2;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

use super::fields::Format;
pub use row::{Control, OpcodeAction, OpcodeRow, Operands, RowSource};
use row::{refused_row, row_of};

/// The row of an opcode.
pub fn row(format: Format, code: u16) -> Option<&'static OpcodeRow> {
    let table = table(format);
    let found = table.binary_search_by_key(&code, |row| row.code).ok()?;
    table.get(found)
}

/// All rows of a format, by number.
pub fn table(format: Format) -> &'static [OpcodeRow] {
    match format {
        Format::Sop2 => sop2::SOP2,
        Format::Sopk => control::SOPK,
        Format::Sop1 => sop1::SOP1,
        Format::Sopc => control::SOPC,
        Format::Sopp => control::SOPP,
        Format::Smem => mubuf::SMEM,
        Format::Vop2 => vop2::VOP2,
        Format::Vop1 => vop1::VOP1,
        Format::Vopc => vopc::VOPC,
        Format::Vop3 => vop3::VOP3,
        Format::Vop3p => vop3p::VOP3P,
        Format::Ds => ds::DS,
        Format::Mubuf => mubuf::MUBUF,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formats of the tables, each with the files that its rows may be from.
    const FORMATS: [(Format, &[RowSource]); 13] = [
        (Format::Sop2, &[RowSource::Sop]),
        (Format::Sopk, &[RowSource::Sop]),
        (Format::Sop1, &[RowSource::Sop]),
        (Format::Sopc, &[RowSource::Sop]),
        (Format::Sopp, &[RowSource::Sop]),
        (Format::Smem, &[RowSource::Sm]),
        (Format::Vop2, &[RowSource::Vop2]),
        (Format::Vop1, &[RowSource::Vop1]),
        (Format::Vopc, &[RowSource::Vopc]),
        (Format::Vop3, &[RowSource::Vop3, RowSource::Vop2]),
        (Format::Vop3p, &[RowSource::Vop3p]),
        (Format::Ds, &[RowSource::Ds]),
        (Format::Mubuf, &[RowSource::Buf]),
    ];

    #[test]
    fn each_row_has_a_source_that_is_named_above() {
        let head = include_str!("mod.rs").split("\n\n").next().unwrap();
        for (format, sources) in FORMATS {
            for row in table(format) {
                assert!(sources.contains(&row.source), "{format:?} {}: {:?}", row.name, row.source);
                assert!(head.contains(&format!("`{}`", row.source.file())), "{}", row.name);
            }
            for source in sources {
                assert!(table(format).iter().any(|row| row.source == *source), "{source:?}");
            }
        }
    }
}
