//! A decoded instruction: the row of its opcode, and its fields.
//!
//! Input: nothing. Output: plain data, which `decode` makes.

use std::ops::{Deref, DerefMut};

use super::fields::{EncodingForm, Fields, Format};
use super::opcodes::row::OpcodeRow;

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The opcode's row.
    pub row: &'static OpcodeRow,
    /// Its fields, which are the instruction's own.
    pub fields: Fields,
}

impl Deref for Instruction {
    type Target = Fields;

    fn deref(&self) -> &Fields {
        &self.fields
    }
}

impl DerefMut for Instruction {
    fn deref_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Instruction {
    /// The mnemonic with the suffix of its encoding, as LLVM prints it.
    pub fn mnemonic(&self) -> String {
        let suffix = match (self.format, self.form) {
            (_, EncodingForm::Sdwa) => "_sdwa",
            (_, EncodingForm::Dpp16 | EncodingForm::Dpp8) => "_dpp",
            (Format::Vop1 | Format::Vop2 | Format::Vopc, form) if self.row.has_long_form() => {
                if form == EncodingForm::Long {
                    "_e64"
                } else {
                    "_e32"
                }
            }
            _ => "",
        };
        format!("{}{suffix}", self.row.name)
    }
}
