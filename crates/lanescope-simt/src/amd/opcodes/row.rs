//! What a row of the tables of opcodes holds.
//!
//! Input: nothing. Output: plain data: a number, a name, what the sources are and the function that
//! executes it.

use crate::amd::instruction::Instruction;
use crate::amd::reach::{Fault, Reach};
use crate::amd::wave::Wave;
/// One opcode.
#[derive(Debug)]
pub struct Row {
    /// Its number in its format.
    pub code: u16,
    /// Its mnemonic, without the suffix of an encoding.
    pub name: &'static str,
    /// What its sources are.
    pub operands: Operands,
    /// What executes it.
    pub run: Run,
}

/// What the sources of an opcode are, where the encoding alone does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// One source.
    One,
    /// Two.
    Two,
    /// Three.
    Three,
    /// Two and a mask of lanes, VCC in the short form.
    Select,
    /// Two and a carry in, and a carry out: both VCC in the short form.
    Carry,
    /// Two, and a carry out.
    CarryOut,
    /// Three, and a carry out.
    CarryOutOfThree,
    /// Two, and the destination as the third.
    Accumulate,
    /// Two, and the literal as the third.
    AddLiteral,
    /// Two, and the literal between them.
    MultiplyLiteral,
    /// Two; the result is a mask of lanes.
    Compare,
    /// Two; the result goes to EXEC.
    CompareExec,
}

impl Operands {
    /// The sources that the long form has fields for.
    pub fn sources(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two | Self::CarryOut | Self::Accumulate | Self::Compare | Self::CompareExec => 2,
            Self::AddLiteral | Self::MultiplyLiteral => 2,
            Self::Three | Self::Select | Self::Carry | Self::CarryOutOfThree => 3,
        }
    }
}

/// Changes a wave's own registers.
pub type Act = fn(&mut Wave, &Instruction);

/// Reads or writes memory that waves share.
pub type Touch = fn(&mut Wave, &Instruction, &mut Reach<'_>) -> Result<(), Fault>;

/// What executes an opcode.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Nothing: it is refused by its name.
    Refused,
    /// A scalar operation.
    Scalar(Act),
    /// A vector operation, which EXEC masks.
    Vector(Act),
    /// A vector operation that writes scalar registers: no half of the wave is ever skipped.
    VectorToScalar(Act),
    /// A vector operation on one lane, issued once whatever the wave's size.
    Lane(Act),
    /// Scalar memory.
    ScalarMemory(Touch),
    /// Buffer memory.
    VectorMemory(Touch),
    /// Local data share.
    Local(Touch),
    /// Program control.
    Control(Control),
}

/// What program control does.
#[derive(Clone, Copy, Debug)]
pub enum Control {
    /// Nothing that a result depends on: hints.
    Hint,
    /// Waits for memory, which is always done here.
    Wait,
    /// Ends the wave.
    End,
    /// Waits for the workgroup's other waves.
    Barrier,
    /// Goes on elsewhere where the condition holds.
    Branch(fn(&Wave) -> bool),
}

impl Row {
    /// Whether LLVM gives the mnemonic a suffix for its encoding.
    pub fn has_long_form(&self) -> bool {
        let alone = ["v_readfirstlane_b32", "v_swap_b32", "v_swaprel_b32", "v_pk_fmac_f16"];
        !matches!(self.operands, Operands::AddLiteral | Operands::MultiplyLiteral)
            && !alone.contains(&self.name)
    }
}

/// A row that is executed.
pub(super) const fn row_of(code: u16, name: &'static str, operands: Operands, run: Run) -> Row {
    Row { code, name, operands, run }
}

/// A row that is decoded only.
pub(super) const fn named(code: u16, name: &'static str, operands: Operands) -> Row {
    Row { code, name, operands, run: Run::Refused }
}
