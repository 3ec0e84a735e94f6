//! The fields of a decoded instruction: where its values come from and how they are changed.
//!
//! Input: nothing. Output: plain data, which `decode` makes and `wave` and the opcodes execute.

/// SGPR number of the low half of VCC.
pub const VCC: u8 = 106;

/// SGPR number of M0.
pub const M0: u8 = 124;

/// SGPR number that reads as zero and swallows writes.
pub const NULL: u8 = 125;

/// SGPR number of the low half of EXEC.
pub const EXEC: u8 = 126;

/// The encoding of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Scalar, two sources.
    Sop2,
    /// Scalar, a 16-bit constant.
    Sopk,
    /// Scalar, one source.
    Sop1,
    /// Scalar comparison.
    Sopc,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector, two sources.
    Vop2,
    /// Vector, one source.
    Vop1,
    /// Vector comparison.
    Vopc,
    /// Vector, the long form.
    Vop3,
    /// Vector, packed pairs of 16 bits.
    Vop3p,
    /// Local data share.
    Ds,
    /// Buffer memory.
    Mubuf,
}

/// In which of its encodings a vector instruction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EncodingForm {
    /// The format's own.
    Short,
    /// VOP3.
    Long,
    /// Parts of a dword as sources and destination.
    Sdwa,
    /// A source from another lane of a row of 16.
    Dpp16,
    /// A source from another lane of 8.
    Dpp8,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandSource {
    /// A scalar register by its number: 0 to 105, VCC, M0, null or EXEC.
    Scalar(u8),
    /// A vector register.
    Vector(u8),
    /// An inline constant by its code, 128 to 248: its bits depend on the operand's size.
    Inline(u8),
    /// The word behind the instruction.
    Literal(u32),
    /// 1 where VCC is zero.
    VccZero,
    /// 1 where EXEC is zero.
    ExecZero,
    /// The scalar condition code.
    Scc,
}

/// A source taken from another lane of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permute {
    /// For each lane of a row of 16: the lane it reads, [`Permute::NONE`] where it reads past the
    /// row.
    pub from: [u8; 16],
    /// Whether lanes that EXEC has off may be read.
    pub fetch_inactive: bool,
    /// Whether a lane without a source reads zero; else it is not written.
    pub zero_fill: bool,
    /// Rows of 16 lanes that are written.
    pub row_mask: u8,
    /// Banks of 4 lanes in each row that are written.
    pub bank_mask: u8,
}

impl Permute {
    /// The mark of a lane that reads past its row.
    pub const NONE: u8 = 0xff;
}

/// A part of a dword: 0 to 3 a byte, 4 and 5 a word, 6 all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DwordPart {
    /// The code.
    pub code: u8,
    /// Whether the part is sign-extended.
    pub signed: bool,
}

/// Parts of the sources and of the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DwordParts {
    /// The first two sources' parts.
    pub sources: [DwordPart; 2],
    /// The destination's part, by [`DwordPart`]'s codes.
    pub destination: u8,
    /// The rest of the destination: 0 zeros, 1 the sign, 2 as it was.
    pub unused: u8,
}

/// The fields of a buffer or LDS access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFields {
    /// The first offset of a DS instruction, or the only one of another, in its own unit.
    pub offset: u32,
    /// The second offset of a DS instruction.
    pub offset_second: u32,
    /// Whether an atomic gives back what was there.
    pub returns: bool,
    /// Whether the address register holds an offset.
    pub offset_enable: bool,
    /// Whether the address register holds an index.
    pub index_enable: bool,
    /// A field that is set and that execution does not know (LDS as destination, TFE, GDS).
    pub unknown: Option<&'static str>,
}

/// The fields of one instruction.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The format that the opcode is from: of a comparison in VOP3, [`Format::Vopc`].
    pub format: Format,
    /// The encoding.
    pub form: EncodingForm,
    /// Its length, in words.
    pub length: usize,
    /// The destination: a vector register's number, or a scalar's where the opcode writes one.
    pub destination: u8,
    /// The scalar destination of a comparison or of a carry.
    pub scalar_destination: u8,
    /// The sources.
    pub sources: [OperandSource; 3],
    /// Bit n: the absolute value of source n.
    pub absolute: u8,
    /// Bit n: source n negated, after that. In VOP3P its low half.
    pub negate: u8,
    /// VOP3P: the high halves.
    pub negate_high: u8,
    /// 1: times 2; 2: times 4; 3: halved.
    pub output_multiplier: u8,
    /// Whether the result is held within 0 and 1, or within its range.
    pub clamp: bool,
    /// Bit n: source n's high half; bit 3: the destination's.
    pub select_high: u8,
    /// VOP3P: which halves the high result is made of.
    pub select_high_of_high: u8,
    /// DPP.
    pub permute: Option<Box<Permute>>,
    /// SDWA.
    pub parts: Option<Box<DwordParts>>,
    /// The 16-bit constant of SOPK and SOPP, sign-extended.
    pub immediate: i32,
    /// Memory.
    pub access: MemoryFields,
}

impl Fields {
    /// Whether sources and result are taken as they are.
    pub fn is_plain(&self) -> bool {
        self.absolute == 0
            && self.negate == 0
            && self.output_multiplier == 0
            && !self.clamp
            && self.select_high == 0
            && self.permute.is_none()
            && self.parts.is_none()
    }
}
