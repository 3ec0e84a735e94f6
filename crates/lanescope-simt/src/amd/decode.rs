//! From words to instructions: the formats of gfx10.3.
//!
//! Input: the words of a piece of machine code. Output: [`Instruction`]s, each with the row of its
//! opcode ([`super::opcodes`]) and its fields resolved. It executes nothing. A word of no known
//! format or opcode is an error that names it: no instruction is ever guessed.
//!
//! Where the field layouts come from: LLVM's `SIInstrFormats.td`, `VOPInstructions.td`,
//! `SOPInstructions.td`, `DSInstructions.td` and `BUFInstructions.td` (Apache-2.0 with LLVM
//! exception) and Mesa's `aco_assembler.cpp` (MIT), which agree; see `docs/licences.md`.

use std::ops::{Deref, DerefMut};

use super::fields::{
    DwordPart, DwordParts, EXEC, EncodingForm, Fields, Format, MemoryFields, OperandSource,
    Permute, VCC,
};
use super::opcodes::{self, OpcodeRow};

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

/// Why words are no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The code ends inside an instruction.
    #[error("the code ends inside the instruction at byte {at:#x}")]
    Truncated {
        /// The instruction's offset in bytes.
        at: usize,
    },
    /// A format that is not decoded.
    #[error("the word {word:#010x} at byte {at:#x} is of format {format}, which is not decoded")]
    Format {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its first word.
        word: u32,
        /// The format.
        format: &'static str,
    },
    /// No opcode of this number.
    #[error("the word {word:#010x} at byte {at:#x} has no known opcode: {format:?} {opcode:#x}")]
    Opcode {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its first word.
        word: u32,
        /// The format.
        format: Format,
        /// The opcode's number.
        opcode: u16,
    },
    /// An operand that is not known.
    #[error("the word {word:#010x} at byte {at:#x} has an operand that is not known: {code}")]
    Operand {
        /// The instruction's offset in bytes.
        at: usize,
        /// Its first word.
        word: u32,
        /// The operand's code.
        code: u32,
    },
}

/// Decodes the instruction at word `index` of `words`.
///
/// # Errors
///
/// [`DecodeError`] with the place and the word.
pub fn decode(words: &[u32], index: usize) -> Result<Instruction, DecodeError> {
    let mut reader = Reader { words, index, length: 1, literal: None };
    let word = reader.word(0)?;
    match word >> 26 {
        _ if word >> 31 == 0 => vector_short(&mut reader, word),
        _ if word >> 30 == 0b10 => scalar(&mut reader, word),
        0b11_0011 => decode_packed(&mut reader, word),
        0b11_0101 => vector_long(&mut reader, word),
        0b11_0110 => local(&mut reader, word),
        0b11_1000 => buffer(&mut reader, word),
        0b11_1101 => scalar_memory(&mut reader, word),
        other => {
            let format = match other {
                0b11_0010 => "VINTRP",
                0b11_0111 => "FLAT, GLOBAL or SCRATCH",
                0b11_1010 => "MTBUF",
                0b11_1100 => "MIMG",
                0b11_1110 => "EXP",
                _ => "unknown",
            };
            Err(DecodeError::Format { at: index * 4, word, format })
        }
    }
}

/// Reads an instruction's words.
struct Reader<'a> {
    words: &'a [u32],
    index: usize,
    /// Words taken so far.
    length: usize,
    /// The literal, once it was read.
    literal: Option<u32>,
}

impl Reader<'_> {
    fn at(&self) -> usize {
        self.index * 4
    }

    fn word(&self, offset: usize) -> Result<u32, DecodeError> {
        let word = self.words.get(self.index + offset).copied();
        word.ok_or(DecodeError::Truncated { at: self.at() })
    }

    /// The next word, as part of the instruction.
    fn next(&mut self) -> Result<u32, DecodeError> {
        let word = self.word(self.length)?;
        self.length += 1;
        Ok(word)
    }

    fn row(&self, format: Format, opcode: u32) -> Result<&'static OpcodeRow, DecodeError> {
        let opcode = opcode as u16;
        let unknown = |word| DecodeError::Opcode { at: self.at(), word, format, opcode };
        opcodes::row(format, opcode).ok_or_else(|| unknown(self.words[self.index]))
    }

    /// A source by its nine-bit code; 255 takes the literal behind the instruction.
    fn source(&mut self, code: u32) -> Result<OperandSource, DecodeError> {
        Ok(match code & 0x1ff {
            code @ (0..=107 | 124..=127) => OperandSource::Scalar(code as u8),
            code @ (128..=208 | 240..=248) => OperandSource::Inline(code as u8),
            251 => OperandSource::VccZero,
            252 => OperandSource::ExecZero,
            253 => OperandSource::Scc,
            255 => OperandSource::Literal(self.literal()?),
            code @ 256.. => OperandSource::Vector((code - 256) as u8),
            code => {
                let word = self.words[self.index];
                return Err(DecodeError::Operand { at: self.at(), word, code });
            }
        })
    }

    /// The literal behind the instruction; two sources of one instruction share it.
    fn literal(&mut self) -> Result<u32, DecodeError> {
        let literal = match self.literal {
            Some(literal) => literal,
            None => self.next()?,
        };
        self.literal = Some(literal);
        Ok(literal)
    }

    fn instruction(&self, row: &'static OpcodeRow, format: Format) -> Instruction {
        let fields = Fields {
            format,
            form: EncodingForm::Short,
            length: self.length,
            destination: 0,
            scalar_destination: VCC,
            sources: [OperandSource::Inline(128); 3],
            absolute: 0,
            negate: 0,
            negate_high: 0,
            output_multiplier: 0,
            clamp: false,
            select_high: 0,
            select_high_of_high: 0,
            permute: None,
            parts: None,
            immediate: 0,
            access: MemoryFields::default(),
        };
        Instruction { row, fields }
    }
}

/// A scalar source of eight bits.
fn pair(reader: &mut Reader<'_>, word: u32) -> Result<[OperandSource; 2], DecodeError> {
    let first = reader.source(word & 0xff)?;
    let taken = matches!(first, OperandSource::Literal(_));
    let second = match (word >> 8 & 0xff, first) {
        (255, OperandSource::Literal(_)) if taken => first,
        (code, _) => reader.source(code)?,
    };
    Ok([first, second])
}

fn scalar(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let destination = (word >> 16 & 0x7f) as u8;
    let immediate = i32::from(word as u16 as i16);
    let mut instruction = match word >> 23 & 0x1ff {
        0b1_0111_1101 => {
            let row = reader.row(Format::Sop1, word >> 8 & 0xff)?;
            let first = reader.source(word & 0xff)?;
            let mut instruction = reader.instruction(row, Format::Sop1);
            instruction.sources[0] = first;
            instruction
        }
        0b1_0111_1110 => {
            let row = reader.row(Format::Sopc, word >> 16 & 0x7f)?;
            let [first, second] = pair(reader, word)?;
            let mut instruction = reader.instruction(row, Format::Sopc);
            instruction.sources = [first, second, second];
            return Ok(instruction);
        }
        0b1_0111_1111 => {
            let row = reader.row(Format::Sopp, word >> 16 & 0x7f)?;
            let mut instruction = reader.instruction(row, Format::Sopp);
            instruction.immediate = immediate;
            return Ok(instruction);
        }
        code if code >> 5 == 0b1011 => {
            let row = reader.row(Format::Sopk, word >> 23 & 0x1f)?;
            let mut instruction = reader.instruction(row, Format::Sopk);
            instruction.immediate = immediate;
            instruction
        }
        _ => {
            let row = reader.row(Format::Sop2, word >> 23 & 0x7f)?;
            let [first, second] = pair(reader, word)?;
            let mut instruction = reader.instruction(row, Format::Sop2);
            instruction.sources = [first, second, second];
            instruction
        }
    };
    instruction.destination = destination;
    Ok(instruction)
}

fn scalar_memory(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let row = reader.row(Format::Smem, word >> 18 & 0xff)?;
    let second = reader.next()?;
    let offset = reader.source(second >> 25)?;
    let mut instruction = reader.instruction(row, Format::Smem);
    instruction.destination = (word >> 6 & 0x7f) as u8;
    instruction.sources = [OperandSource::Scalar((word << 1 & 0x7f) as u8), offset, offset];
    // 21 bits, signed.
    instruction.immediate = (second << 11) as i32 >> 11;
    instruction.access.returns = word >> 16 & 1 != 0;
    Ok(instruction)
}

fn local(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let row = reader.row(Format::Ds, word >> 18 & 0xff)?;
    let second = reader.next()?;
    let mut instruction = reader.instruction(row, Format::Ds);
    let register = |shift: u32| OperandSource::Vector((second >> shift) as u8);
    instruction.sources = [register(0), register(8), register(16)];
    instruction.destination = (second >> 24) as u8;
    instruction.access = MemoryFields {
        offset: word & 0xff,
        offset_second: word >> 8 & 0xff,
        unknown: (word >> 17 & 1 != 0).then_some("global data share"),
        ..MemoryFields::default()
    };
    Ok(instruction)
}

fn buffer(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let row = reader.row(Format::Mubuf, word >> 18 & 0xff)?;
    let second = reader.next()?;
    let offset = reader.source(second >> 24)?;
    let mut instruction = reader.instruction(row, Format::Mubuf);
    let resource = (second >> 16 & 0x1f) as u8 * 4;
    let enabled = word >> 12 & 3 != 0;
    let address =
        if enabled { OperandSource::Vector(second as u8) } else { OperandSource::Inline(128) };
    instruction.sources = [address, OperandSource::Scalar(resource), offset];
    instruction.destination = (second >> 8) as u8;
    let bit = |word: u32, place: u32| word >> place & 1 != 0;
    let unknown = [(bit(word, 16), "LDS as destination"), (bit(second, 23), "TFE")];
    instruction.access = MemoryFields {
        offset: word & 0xfff,
        offset_second: 0,
        returns: bit(word, 14),
        offset_enable: bit(word, 12),
        index_enable: bit(word, 13),
        unknown: unknown.iter().find(|(set, _)| *set).map(|(_, name)| *name),
    };
    Ok(instruction)
}

fn vector_short(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let destination = (word >> 17) as u8;
    let second = OperandSource::Vector((word >> 9) as u8);
    let (format, opcode) = match word >> 25 & 0x3f {
        0b11_1111 => (Format::Vop1, word >> 9 & 0xff),
        0b11_1110 => (Format::Vopc, word >> 17 & 0xff),
        opcode => (Format::Vop2, opcode),
    };
    let row = reader.row(format, opcode)?;
    let mut instruction = reader.instruction(row, format);
    instruction.destination = destination;
    if format != Format::Vop1 {
        instruction.sources[1] = second;
    }
    match word & 0x1ff {
        249 => parts(reader, &mut instruction)?,
        250 => permute_rows(reader, &mut instruction)?,
        code @ (233 | 234) => permute_eights(reader, &mut instruction, code == 234)?,
        code => instruction.sources[0] = reader.source(code)?,
    }
    add_implied(reader, &mut instruction)?;
    instruction.length = reader.length;
    Ok(instruction)
}

/// Puts in what the opcode reads and writes without a field for it.
fn add_implied(reader: &mut Reader<'_>, instruction: &mut Instruction) -> Result<(), DecodeError> {
    let vcc = OperandSource::Scalar(VCC);
    let destination = OperandSource::Vector(instruction.destination);
    let long = instruction.form == EncodingForm::Long;
    match instruction.row.operands {
        opcodes::Operands::Carry | opcodes::Operands::Select if !long => {
            instruction.sources[2] = vcc;
        }
        opcodes::Operands::Accumulate => instruction.sources[2] = destination,
        opcodes::Operands::AddLiteral => {
            instruction.sources[2] = shared_literal(reader, instruction.sources[0])?;
        }
        opcodes::Operands::MultiplyLiteral => {
            instruction.sources[2] = instruction.sources[1];
            instruction.sources[1] = shared_literal(reader, instruction.sources[0])?;
        }
        opcodes::Operands::CompareExec => instruction.scalar_destination = EXEC,
        _ => {}
    }
    Ok(())
}

/// The literal that belongs to the opcode, which the first source may name as well.
fn shared_literal(
    reader: &mut Reader<'_>,
    first: OperandSource,
) -> Result<OperandSource, DecodeError> {
    if matches!(first, OperandSource::Literal(_)) {
        return Ok(first);
    }
    reader.literal().map(OperandSource::Literal)
}

fn parts(reader: &mut Reader<'_>, instruction: &mut Instruction) -> Result<(), DecodeError> {
    let word = reader.next()?;
    let bit = |place: u32| word >> place & 1 != 0;
    let scalar_or_vector = |scalar: bool, code: u32| if scalar { code & 0xff } else { code | 256 };
    instruction.form = EncodingForm::Sdwa;
    instruction.sources[0] = reader.source(scalar_or_vector(bit(23), word & 0xff))?;
    if bit(31)
        && let OperandSource::Vector(code) = instruction.sources[1]
    {
        instruction.sources[1] = reader.source(u32::from(code))?;
    }
    let part = |shift: u32| DwordPart { code: (word >> shift & 7) as u8, signed: bit(shift + 3) };
    instruction.negate = u8::from(bit(20)) | u8::from(bit(28)) << 1;
    instruction.absolute = u8::from(bit(21)) | u8::from(bit(29)) << 1;
    let mut parts = DwordParts { sources: [part(16), part(24)], destination: 6, unused: 0 };
    if instruction.format == Format::Vopc {
        if bit(15) {
            instruction.scalar_destination = (word >> 8 & 0x7f) as u8;
        }
    } else {
        parts.destination = (word >> 8 & 7) as u8;
        parts.unused = (word >> 11 & 3) as u8;
        instruction.clamp = bit(13);
        instruction.output_multiplier = (word >> 14 & 3) as u8;
    }
    instruction.parts = Some(Box::new(parts));
    Ok(())
}

fn permute_rows(reader: &mut Reader<'_>, instruction: &mut Instruction) -> Result<(), DecodeError> {
    let word = reader.next()?;
    let bit = |place: u32| word >> place & 1 != 0;
    let control = word >> 8 & 0x1ff;
    let unknown = DecodeError::Operand { at: reader.at(), word: reader.word(0)?, code: control };
    instruction.form = EncodingForm::Dpp16;
    instruction.sources[0] = OperandSource::Vector(word as u8);
    instruction.negate = u8::from(bit(20)) | u8::from(bit(22)) << 1;
    instruction.absolute = u8::from(bit(21)) | u8::from(bit(23)) << 1;
    let count = (control & 15) as i32;
    let mut from = [Permute::NONE; 16];
    for (lane, from) in from.iter_mut().enumerate() {
        let lane = lane as i32;
        let source = match control {
            0x000..=0x0ff => (lane & !3) + (control >> (2 * (lane & 3)) & 3) as i32,
            0x101..=0x10f => lane + count,
            0x111..=0x11f => lane - count,
            0x121..=0x12f => (lane - count) & 15,
            0x140 => 15 - lane,
            0x141 => lane ^ 7,
            0x150..=0x15f => count,
            0x160..=0x16f => lane ^ count,
            _ => return Err(unknown),
        };
        if (0..16).contains(&source) {
            *from = source as u8;
        }
    }
    instruction.permute = Some(Box::new(Permute {
        from,
        fetch_inactive: bit(18),
        zero_fill: bit(19),
        row_mask: (word >> 28) as u8,
        bank_mask: (word >> 24 & 15) as u8,
    }));
    Ok(())
}

fn permute_eights(
    reader: &mut Reader<'_>,
    instruction: &mut Instruction,
    fetch_inactive: bool,
) -> Result<(), DecodeError> {
    let word = reader.next()?;
    instruction.form = EncodingForm::Dpp8;
    instruction.sources[0] = OperandSource::Vector(word as u8);
    let mut from = [0; 16];
    for (lane, from) in from.iter_mut().enumerate() {
        *from = (lane as u8 & 8) + (word >> (8 + 3 * (lane & 7)) & 7) as u8;
    }
    instruction.permute = Some(Box::new(Permute {
        from,
        fetch_inactive,
        // A lane that cannot be read gives zero.
        zero_fill: true,
        row_mask: 15,
        bank_mask: 15,
    }));
    Ok(())
}

fn vector_long(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let opcode = word >> 16 & 0x3ff;
    let (format, opcode) = match opcode {
        0..=0xff => (Format::Vopc, opcode),
        0x100..=0x13f => (Format::Vop2, opcode - 0x100),
        0x180..=0x1ff => (Format::Vop1, opcode - 0x180),
        _ => (Format::Vop3, opcode),
    };
    let row = reader.row(format, opcode)?;
    if matches!(row.operands, opcodes::Operands::AddLiteral | opcodes::Operands::MultiplyLiteral) {
        // What has a literal of its own has no long form.
        let (at, word, opcode) = (reader.at(), reader.words[reader.index], opcode as u16);
        return Err(DecodeError::Opcode { at, word, format, opcode });
    }
    let second = reader.next()?;
    let mut instruction = reader.instruction(row, format);
    instruction.form = EncodingForm::Long;
    instruction.destination = word as u8;
    let mut literal = None;
    for (place, shift) in [0, 9, 18].into_iter().enumerate() {
        let code = second >> shift & 0x1ff;
        instruction.sources[place] = match literal {
            Some(source) if code == 255 => source,
            _ if place >= row.operands.sources() => OperandSource::Inline(128),
            _ => reader.source(code)?,
        };
        if code == 255 {
            literal = Some(instruction.sources[place]);
        }
    }
    instruction.negate = (second >> 29) as u8;
    instruction.output_multiplier = (second >> 27 & 3) as u8;
    instruction.clamp = word >> 15 & 1 != 0;
    match row.operands {
        opcodes::Operands::Carry
        | opcodes::Operands::CarryOut
        | opcodes::Operands::CarryOutOfThree => {
            instruction.scalar_destination = (word >> 8 & 0x7f) as u8;
        }
        opcodes::Operands::Compare | opcodes::Operands::CompareExec => {
            instruction.scalar_destination = word as u8 & 0x7f;
            instruction.absolute = (word >> 8 & 7) as u8;
        }
        _ => {
            instruction.absolute = (word >> 8 & 7) as u8;
            instruction.select_high = (word >> 11 & 15) as u8;
        }
    }
    add_implied(reader, &mut instruction)?;
    instruction.length = reader.length;
    Ok(instruction)
}

fn decode_packed(reader: &mut Reader<'_>, word: u32) -> Result<Instruction, DecodeError> {
    let row = reader.row(Format::Vop3p, word >> 16 & 0x7f)?;
    let second = reader.next()?;
    let mut instruction = reader.instruction(row, Format::Vop3p);
    instruction.destination = word as u8;
    for (place, shift) in [0, 9, 18].into_iter().enumerate() {
        instruction.sources[place] = match second >> shift & 0x1ff {
            _ if place >= row.operands.sources() => OperandSource::Inline(128),
            code => reader.source(code)?,
        };
    }
    instruction.negate = (second >> 29) as u8;
    instruction.negate_high = (word >> 8 & 7) as u8;
    instruction.select_high = (word >> 11 & 7) as u8;
    instruction.select_high_of_high = (second >> 27 & 3 | word >> 12 & 4) as u8;
    instruction.clamp = word >> 15 & 1 != 0;
    instruction.length = reader.length;
    Ok(instruction)
}
