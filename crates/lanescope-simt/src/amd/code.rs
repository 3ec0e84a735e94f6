//! A compiled entry point: its instructions, and what a wave's registers hold at the start.
//!
//! Input: words of machine code and the facts that its compiler states about them. Output:
//! [`Code`], which [`super::dispatch`] executes. What cannot be executed is refused here, before
//! anything runs, wherever the instruction alone shows it.

use super::decode::{DecodeError, Instruction, decode};
use super::fields::{Format, OperandSource, VCC};
use super::opcodes::{Control, OpcodeAction};

/// What a scalar register, or several in a row, hold when a wave begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing that a kernel without scratch memory reads; so many registers.
    Unused(u8),
    /// The low half of the address of descriptor set n.
    Descriptors(u32),
    /// The number of workgroups along x, y and z: three registers.
    Grid,
    /// The workgroup's place along an axis: 0 is x.
    Workgroup(u8),
    /// The number of waves in bits 0 to 5, the wave's own number in bits 6 to 11 and 20 to 24: Mesa reads
    /// the former up to 22, the latter on gfx10.3 and later since.
    WaveNumber,
    /// Words of the immediate address space from byte n on, so many.
    Immediates(u32, u8),
}

impl Start {
    /// The registers that it takes.
    pub fn registers(self) -> u8 {
        match self {
            Self::Unused(count) | Self::Immediates(_, count) => count,
            Self::Grid => 3,
            Self::Descriptors(_) | Self::Workgroup(_) | Self::WaveNumber => 1,
        }
    }
}

/// How denormal numbers are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    /// Whether denormal f32 count as zeros, as sources and as results. f16 and f64 keep theirs.
    pub flush32: bool,
}

/// What the compiler states about the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Lanes of a wave: 32 or 64.
    pub wave: u32,
    /// Vector registers of each lane's own.
    pub vectors: u32,
    /// Bytes of the local data share.
    pub local_bytes: u32,
    /// Bytes of scratch memory a lane.
    pub scratch_bytes: u32,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
    /// The scalar registers, from the first on.
    pub scalars: Vec<Start>,
    /// Denormals.
    pub mode: FloatMode,
}

/// A compiled entry point.
#[derive(Clone, Debug)]
pub struct Code {
    /// What the compiler states.
    pub facts: Facts,
    /// The instructions, in order.
    instructions: Vec<Instruction>,
    /// The offset of each in words.
    offsets: Vec<u32>,
    /// Where a branch goes on, by instruction; its own index elsewhere.
    targets: Vec<u32>,
}

/// What an instruction is, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IssueKind {
    /// Vector arithmetic.
    Valu,
    /// Scalar arithmetic.
    Salu,
    /// Scalar memory.
    Smem,
    /// Buffer memory.
    Vmem,
    /// The local data share, and moves between lanes that run through it.
    Lds,
    /// Branches and the end of the program.
    Branch,
    /// Waiting for memory or for other waves, and hints.
    Wait,
}

impl IssueKind {
    /// What an instruction is.
    pub fn from_instruction(instruction: &Instruction) -> Self {
        match instruction.row.run {
            OpcodeAction::Control(Control::Hint | Control::Wait | Control::Barrier) => Self::Wait,
            OpcodeAction::Control(_) => Self::Branch,
            _ => match instruction.format {
                Format::Sop2 | Format::Sopk | Format::Sop1 | Format::Sopc => Self::Salu,
                Format::Sopp => Self::Branch,
                Format::Smem => Self::Smem,
                Format::Ds => Self::Lds,
                Format::Mubuf => Self::Vmem,
                Format::Vop2 | Format::Vop1 | Format::Vopc | Format::Vop3 | Format::Vop3p => {
                    Self::Valu
                }
            },
        }
    }
}

/// Why code is not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// A word that is no instruction.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An instruction that is decoded and not executed.
    #[error("{mnemonic} at byte {at:#x} is not executed{reason}")]
    Refused {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its mnemonic.
        mnemonic: String,
        /// Why, worded as what follows the sentence.
        reason: &'static str,
    },
    /// A branch to what is no instruction.
    #[error("the branch at byte {at:#x} leads to no instruction")]
    Target {
        /// The branch's offset in bytes.
        at: usize,
    },
    /// Scratch memory: registers that did not fit, or an array that is indexed.
    #[error("the code uses {bytes} bytes of scratch memory a lane, which is not executed")]
    Scratch {
        /// The bytes.
        bytes: u32,
    },
    /// A scalar register that is read before anything is written to it and that nothing is known of.
    #[error("{mnemonic} at byte {at:#x} reads s{register}, and nothing is known of what it holds")]
    Unset {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its mnemonic.
        mnemonic: String,
        /// The register.
        register: u8,
    },
    /// A vector register that the wave does not have.
    #[error("{mnemonic} at byte {at:#x} names a vector register beyond the {count} that it has")]
    Register {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its mnemonic.
        mnemonic: String,
        /// The registers.
        count: usize,
    },
}

impl Code {
    /// Decodes `words` and refuses what is not executed.
    ///
    /// Words behind the last `s_endpgm` are data, and are not decoded: `code_words` says how many
    /// words are instructions.
    ///
    /// # Errors
    ///
    /// [`CodeError`] with the place.
    pub fn new(words: &[u32], facts: Facts) -> Result<Self, CodeError> {
        if facts.scratch_bytes != 0 {
            return Err(CodeError::Scratch { bytes: facts.scratch_bytes });
        }
        let mut instructions = Vec::new();
        let mut offsets = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let instruction = decode(words, at)?;
            offsets.push(at as u32);
            at += instruction.length;
            instructions.push(instruction);
        }
        let shared = if facts.wave == 64 { super::wave::SHARED } else { 0 };
        let vectors = facts.vectors as usize + shared;
        for (instruction, offset) in instructions.iter().zip(&offsets) {
            let at = *offset as usize * 4;
            let mnemonic = instruction.mnemonic();
            if let Some(reason) = refusal(instruction) {
                return Err(CodeError::Refused { at, mnemonic, reason });
            }
            let highest = instruction.sources.iter().filter_map(|source| match source {
                OperandSource::Vector(register) => Some(usize::from(*register)),
                _ => None,
            });
            let written =
                writes_vector(instruction).then_some(usize::from(instruction.destination));
            if highest.chain(written).max().is_some_and(|register| register >= vectors) {
                return Err(CodeError::Register { at, mnemonic, count: vectors });
            }
        }
        if let Some((index, register)) = unset(&instructions, &facts.scalars) {
            let (at, mnemonic) = (offsets[index] as usize * 4, instructions[index].mnemonic());
            return Err(CodeError::Unset { at, mnemonic, register });
        }
        let targets = targets(&instructions, &offsets)?;
        Ok(Self { facts, instructions, offsets, targets })
    }

    /// The instructions, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The offset of an instruction in bytes.
    pub fn offset(&self, index: usize) -> usize {
        self.offsets[index] as usize * 4
    }

    /// Where a branch goes on.
    pub fn target(&self, index: usize) -> usize {
        self.targets[index] as usize
    }
}

/// The first instruction that reads a scalar register which nothing before it writes and which the
/// start does not fill, with the register.
///
/// A compiler lays blocks out so that what writes a value stands before what reads it.
fn unset(instructions: &[Instruction], starts: &[Start]) -> Option<(usize, u8)> {
    let mut known = [false; 128];
    known[usize::from(VCC)..].fill(true);
    let mut next = 0;
    for start in starts {
        let end = next + usize::from(start.registers());
        known[next..end].fill(!matches!(start, Start::Unused(_)));
        next = end;
    }
    for (index, instruction) in instructions.iter().enumerate() {
        for source in instruction.sources {
            if let OperandSource::Scalar(register) = source
                && !known[usize::from(register) & 127]
            {
                return Some((index, register));
            }
        }
        let first = match instruction.row.run {
            OpcodeAction::Scalar(_) | OpcodeAction::ScalarMemory(_) | OpcodeAction::Lane(_) => {
                instruction.destination
            }
            OpcodeAction::VectorToScalar(_) => instruction.scalar_destination,
            _ => continue,
        };
        let name = instruction.row.name;
        let count = [("x16", 16), ("x8", 8), ("x4", 4)];
        // Two where the name does not say it: one too many refuses too little, never too much.
        let count = count.iter().find(|(end, _)| name.ends_with(end)).map_or(2, |(_, n)| *n);
        let first = usize::from(first) & 127;
        known[first..(first + count).min(128)].fill(true);
    }
    None
}

fn targets(instructions: &[Instruction], offsets: &[u32]) -> Result<Vec<u32>, CodeError> {
    let mut targets = Vec::with_capacity(instructions.len());
    for (index, instruction) in instructions.iter().enumerate() {
        let register = index as u32;
        targets.push(match instruction.row.run {
            OpcodeAction::Control(Control::Branch(_)) => {
                let word = i64::from(offsets[index]) + 1 + i64::from(instruction.immediate);
                let found = u32::try_from(word).ok().and_then(|w| offsets.binary_search(&w).ok());
                found.ok_or(CodeError::Target { at: offsets[index] as usize * 4 })? as u32
            }
            _ => register,
        });
    }
    Ok(targets)
}

/// Whether an instruction's destination is a vector register; of a store it is what is stored.
fn writes_vector(i: &Instruction) -> bool {
    match i.row.run {
        OpcodeAction::Vector(_) | OpcodeAction::VectorMemory(_) | OpcodeAction::Local(_) => true,
        OpcodeAction::VectorToScalar(_) => !i.row.name.starts_with("v_cmp"),
        OpcodeAction::Lane(_) => i.row.name.starts_with("v_writelane"),
        _ => false,
    }
}

/// Why an instruction is not executed; the words that follow "is not executed".
fn refusal(i: &Instruction) -> Option<&'static str> {
    let name = i.row.name;
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let real = ends(&["_f32", "_f16", "_f64"]);
    let packed = i.format == Format::Vop3p;
    let wide = ends(&["64"]) || name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64");
    match i.row.run {
        OpcodeAction::Refused => Some(": it is not known"),
        _ if i.clamp && !saturates(name) && (!gives_f32(name) || packed) => Some(" with clamp"),
        _ if i.output_multiplier != 0 && !gives_f32(name) => Some(" with omod"),
        _ if (i.absolute | i.negate) != 0 && !real && !packed && !takes_signs(name) => {
            Some(" with a sign modifier")
        }
        _ if i.select_high != 0 && !packed && !takes_halves(name) => Some(" with op_sel"),
        _ if wide && (i.permute.is_some() || i.parts.is_some()) => Some(" with DPP or SDWA"),
        _ if i.parts.is_some() && i.row.name == "v_swap_b32" => Some(" with SDWA"),
        _ => None,
    }
}

/// Whether an opcode's result is an f32, which alone is multiplied and clamped here.
fn gives_f32(name: &str) -> bool {
    if name.starts_with("v_cvt_") { name.starts_with("v_cvt_f32_") } else { name.ends_with("_f32") }
}

/// Whether an opcode on bits takes sign modifiers, as of an f32.
fn takes_signs(name: &str) -> bool {
    matches!(name, "v_cndmask_b32" | "v_mov_b32")
}

/// Whether clamp is executed as saturation of an integer.
fn saturates(name: &str) -> bool {
    matches!(name, "v_add_nc_u32" | "v_sub_nc_u32")
}

/// Whether an opcode takes halves of its sources.
fn takes_halves(name: &str) -> bool {
    let ends = |ending| name.ends_with(ending);
    ends("16") || ends("16_f32") || name.starts_with("v_permlane") || name.ends_with("_f16")
}
