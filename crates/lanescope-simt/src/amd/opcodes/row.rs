//! What a row of the tables of opcodes holds.
//!
//! Input: nothing. Output: plain data: a number, a name, where both are from, what the sources are and the
//! function that executes it.

use crate::amd::fields::Fields;
use crate::amd::reach::{Fault, Reach};
use crate::amd::wave::Wave;

/// One opcode.
#[derive(Debug)]
pub struct OpcodeRow {
    /// Where its number and its name are from.
    pub source: RowSource,
    /// Its number in its format.
    pub code: u16,
    /// Its mnemonic, without the suffix of an encoding.
    pub name: &'static str,
    /// What its sources are.
    pub operands: Operands,
    /// What executes it.
    pub run: OpcodeAction,
}

/// Where a row's number and name are from: a file of LLVM's AMDGPU target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// Vector operations with one source.
    Vop1,
    /// Vector operations with two sources, those included that gfx10 has in the long form alone.
    Vop2,
    /// Vector operations of the long form.
    Vop3,
    /// Packed vector operations.
    Vop3p,
    /// Vector comparisons.
    Vopc,
    /// Scalar operations and program control.
    Sop,
    /// Scalar memory.
    Sm,
    /// The local data share.
    Ds,
    /// Buffer memory.
    Buf,
}

impl RowSource {
    /// The file's name.
    pub fn file(self) -> &'static str {
        match self {
            Self::Vop1 => "VOP1Instructions.td",
            Self::Vop2 => "VOP2Instructions.td",
            Self::Vop3 => "VOP3Instructions.td",
            Self::Vop3p => "VOP3PInstructions.td",
            Self::Vopc => "VOPCInstructions.td",
            Self::Sop => "SOPInstructions.td",
            Self::Sm => "SMInstructions.td",
            Self::Ds => "DSInstructions.td",
            Self::Buf => "BUFInstructions.td",
        }
    }
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
pub type RegisterOperation = fn(&mut Wave, &Fields);

/// Reads or writes memory that waves share.
pub type MemoryOperation = fn(&mut Wave, &Fields, &mut Reach<'_>) -> Result<(), Fault>;

/// What executes an opcode.
#[derive(Clone, Copy, Debug)]
pub enum OpcodeAction {
    /// Nothing: it is refused by its name.
    Refused,
    /// A scalar operation.
    Scalar(RegisterOperation),
    /// A vector operation, which EXEC masks.
    Vector(RegisterOperation),
    /// A vector operation that writes scalar registers: no half of the wave is ever skipped.
    VectorToScalar(RegisterOperation),
    /// A vector operation on one lane, issued once whatever the wave's size.
    Lane(RegisterOperation),
    /// Scalar memory.
    ScalarMemory(MemoryOperation),
    /// Buffer memory.
    VectorMemory(MemoryOperation),
    /// Local data share.
    Local(MemoryOperation),
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

impl OpcodeRow {
    /// Whether LLVM gives the mnemonic a suffix for its encoding.
    pub fn has_long_form(&self) -> bool {
        let alone = ["v_readfirstlane_b32", "v_swap_b32", "v_swaprel_b32", "v_pk_fmac_f16"];
        !matches!(self.operands, Operands::AddLiteral | Operands::MultiplyLiteral)
            && !alone.contains(&self.name)
    }
}

/// A row that is executed.
pub(super) const fn row_of(
    source: RowSource,
    code: u16,
    name: &'static str,
    operands: Operands,
    run: OpcodeAction,
) -> OpcodeRow {
    OpcodeRow { source, code, name, operands, run }
}

/// A row that is decoded only.
pub(super) const fn refused_row(
    source: RowSource,
    code: u16,
    name: &'static str,
    operands: Operands,
) -> OpcodeRow {
    OpcodeRow { source, code, name, operands, run: OpcodeAction::Refused }
}
