//! A SPIR-V module as a list of instructions.
//!
//! Input: words. Output: [`Instructions`], and words again; ids and types are looked up here. It knows
//! which word of an instruction is its result, and no instruction's meaning.

use std::collections::BTreeMap;
use std::ops::Range;

use spirv::Op;

use crate::binary::MAGIC;

/// Words of the header.
const HEADER: usize = 5;

/// The most types that stand in one another: the specification's limit for structures.
pub(super) const TYPES_NESTED_MAX: u32 = 255;

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilePlace {
    /// Which of the module's files.
    pub(super) file: usize,
    /// Line, from 1.
    pub(super) line: u32,
    /// Column, from 1; 0 where it is not known.
    pub(super) column: u32,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// What it does.
    pub(super) op: Op,
    /// Its words behind the first.
    pub(super) words: Vec<u32>,
    /// Where its source stands.
    pub(super) place: Option<FilePlace>,
}

/// A module.
#[derive(Clone, Debug)]
pub(super) struct Instructions {
    /// Version, generator, bound and schema.
    header: [u32; 4],
    /// In order.
    pub(super) list: Vec<Instruction>,
}

/// A type, as far as it decides how instructions are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    /// No value.
    Void,
    /// A boolean.
    Bool,
    /// An integer of so many bits.
    Int {
        /// Bits.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A float of so many bits.
    Float {
        /// Bits.
        width: u32,
    },
    /// Components of a scalar type.
    Vector {
        /// The component's type.
        base: u32,
        /// How many.
        count: u32,
    },
    /// Columns of a vector type.
    Matrix {
        /// The column's type.
        base: u32,
        /// How many.
        count: u32,
    },
    /// Elements whose number a constant gives.
    Array {
        /// The element's type.
        base: u32,
        /// The constant.
        length: u32,
    },
    /// Elements, as many as the buffer has.
    RuntimeArray {
        /// The element's type.
        base: u32,
    },
    /// Members.
    Struct(Vec<u32>),
    /// A pointer.
    Pointer {
        /// The storage class.
        class: u32,
        /// What it points at.
        base: u32,
    },
    /// Whatever else.
    Other,
}

/// What is wrong with words that are no module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) String);

impl Instruction {
    /// An instruction without a place.
    pub(super) fn new(op: Op, words: Vec<u32>) -> Self {
        Self { op, words, place: None }
    }

    /// A word, 0 where there are fewer: naga refuses instructions that are too short.
    pub(super) fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// The id that it gives a type or constant or value; `None` if it gives none.
    pub(super) fn result(&self) -> Option<u32> {
        match self.op {
            op if gives_no_result(op) => None,
            op if is_type(op) => self.words.first().copied(),
            Op::Label | Op::String | Op::ExtInstImport => self.words.first().copied(),
            _ => self.words.get(1).copied(),
        }
    }

    /// The id of the type of its result, where it has a result with a type.
    pub(super) fn result_type(&self) -> Option<u32> {
        let typed = !matches!(self.op, Op::Label | Op::String | Op::ExtInstImport);
        (typed && !gives_no_result(self.op) && !is_type(self.op))
            .then(|| self.words.first().copied())
            .flatten()
    }

    /// Whether it takes a value or a variable; its other words are numbers and types.
    pub(super) fn takes(&self, id: u32) -> bool {
        let (from, to) = match self.op {
            Op::Function | Op::SelectionMerge | Op::LoopMerge | Op::Switch => return false,
            Op::Variable => (3, usize::MAX),
            Op::CompositeExtract => (2, 3),
            Op::CompositeInsert | Op::VectorShuffle => (2, 4),
            Op::ExtInst => (4, usize::MAX),
            _ => (if self.result().is_some() { 2 } else { 0 }, usize::MAX),
        };
        self.words.iter().take(to).skip(from).any(|word| *word == id)
    }

    /// The literal text that starts at a word, and the word behind it.
    pub(super) fn text(&self, from: usize) -> (String, usize) {
        let mut bytes = Vec::new();
        let mut at = from;
        for word in self.words.iter().skip(from) {
            at += 1;
            let part = word.to_le_bytes();
            let end = part.iter().position(|byte| *byte == 0);
            bytes.extend_from_slice(&part[..end.unwrap_or(part.len())]);
            if end.is_some() {
                break;
            }
        }
        (String::from_utf8_lossy(&bytes).into_owned(), at)
    }
}

/// Whether an instruction declares a type.
pub(super) fn is_type(op: Op) -> bool {
    use Op::{
        TypeArray, TypeBool, TypeFloat, TypeFunction, TypeImage, TypeInt, TypeMatrix, TypePointer,
        TypeRuntimeArray, TypeSampledImage, TypeSampler, TypeStruct, TypeVector, TypeVoid,
    };
    matches!(
        op,
        TypeVoid
            | TypeBool
            | TypeInt
            | TypeFloat
            | TypeVector
            | TypeMatrix
            | TypeImage
            | TypeSampler
            | TypeSampledImage
            | TypeArray
            | TypeRuntimeArray
            | TypeStruct
            | TypePointer
            | TypeFunction
            | Op::TypeOpaque
            | Op::TypeAccelerationStructureKHR
            | Op::TypeRayQueryKHR
            | Op::TypeCooperativeMatrixKHR
    )
}

/// Whether a word of a type's declaration is a type.
pub(super) fn is_type_word(op: Op, index: usize) -> bool {
    match op {
        Op::TypeVector
        | Op::TypeMatrix
        | Op::TypeArray
        | Op::TypeRuntimeArray
        | Op::TypeImage
        | Op::TypeSampledImage => index == 1,
        Op::TypePointer => index == 2,
        Op::TypeStruct | Op::TypeFunction => index >= 1,
        _ => false,
    }
}

/// The words at which an instruction takes a variable that the host binds; `None` where that is not known.
pub(super) fn variable_words(instruction: &Instruction) -> Option<Range<usize>> {
    match instruction.op {
        Op::Load
        | Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::ArrayLength
        | Op::ImageTexelPointer
        | Op::CopyObject => Some(2..3),
        Op::Store => Some(0..1),
        Op::FunctionCall => Some(3..instruction.words.len().max(3)),
        _ => None,
    }
}

/// Whether an instruction has no result. The rest has a type and a result.
fn gives_no_result(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::ModuleProcessed
            | Op::Name
            | Op::MemberName
            | Op::Line
            | Op::NoLine
            | Op::Extension
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::Capability
            | Op::TypeForwardPointer
            | Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
            | Op::FunctionEnd
            | Op::Store
            | Op::CopyMemory
            | Op::ImageWrite
            | Op::ControlBarrier
            | Op::MemoryBarrier
            | Op::AtomicStore
            | Op::LoopMerge
            | Op::SelectionMerge
            | Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Kill
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::TerminateInvocation
            | Op::LifetimeStart
            | Op::LifetimeStop
            | Op::AssumeTrueKHR
    )
}

impl Instructions {
    /// Cuts words into instructions.
    ///
    /// # Errors
    ///
    /// In a sentence: another first word, instructions that are cut off, or one that is unknown.
    pub(super) fn read(words: &[u32]) -> Result<Self, Broken> {
        let broken = |message: String| Err(Broken(message));
        let Some((header, mut rest)) = words.split_at_checked(HEADER) else {
            return broken("it is shorter than SPIR-V's header".to_owned());
        };
        if header[0] != MAGIC {
            return broken(format!("its first word is {:#010x}, not SPIR-V's", header[0]));
        }
        let mut list = Vec::new();
        while let Some(first) = rest.first() {
            let at = words.len() - rest.len();
            let (count, number) = ((first >> 16) as usize, first & 0xffff);
            let Some((whole, after)) = rest.split_at_checked(count).filter(|_| count > 0) else {
                return broken(format!("it is cut off in the instruction at word {at}"));
            };
            let Some(op) = Op::from_u32(number) else {
                return broken(format!(
                    "the instruction at word {at} has the unknown number {number}"
                ));
            };
            list.push(Instruction::new(op, whole[1..].to_vec()));
            rest = after;
        }
        Ok(Self { header: [header[1], header[2], header[3], header[4]], list })
    }

    /// A number that no id has.
    ///
    /// # Errors
    ///
    /// Where there are no more.
    pub(super) fn fresh(&mut self) -> Result<u32, Broken> {
        let id = self.header[2];
        let next = id.checked_add(1);
        self.header[2] =
            next.ok_or_else(|| Broken("it has no number left for an id".to_owned()))?;
        Ok(id)
    }

    /// The module's words.
    pub(super) fn write(&self) -> Vec<u32> {
        let mut words = vec![MAGIC];
        words.extend(self.header);
        for instruction in &self.list {
            // What is longer was never read, and nothing here makes it longer but strings and lists.
            let count = u32::try_from(instruction.words.len() + 1).unwrap_or(u32::MAX).min(0xffff);
            words.push(count << 16 | instruction.op as u32);
            words.extend(instruction.words.iter().take(count as usize - 1));
        }
        words
    }

    /// The offset in bytes at which naga says that each instruction begins, from which on its place
    /// holds. naga's reader does not count the words that it takes as a list.
    pub(super) fn offsets(&self) -> Vec<(usize, Option<FilePlace>)> {
        let mut at = HEADER * 4;
        let begin = |instruction: &Instruction| {
            let start = at;
            let uncounted = match instruction.op {
                Op::EntryPoint => instruction.words.len() - instruction.text(2).1,
                Op::ExecutionMode | Op::TypeFunction => instruction.words.len().saturating_sub(2),
                _ => 0,
            };
            at += 4 * (1 + instruction.words.len() - uncounted);
            (start, instruction.place)
        };
        self.list.iter().map(begin).collect()
    }

    /// The types, by id.
    ///
    /// # Errors
    ///
    /// Where one refers to what does not stand before it, or is nested too deeply.
    pub(super) fn types(&self) -> Result<BTreeMap<u32, Type>, Broken> {
        let mut types: BTreeMap<u32, Type> = BTreeMap::new();
        let mut depths: BTreeMap<u32, u32> = BTreeMap::new();
        for instruction in self.list.iter().take_while(|i| i.op != Op::Function) {
            if !is_type(instruction.op) {
                continue;
            }
            let word = |index| instruction.word(index);
            let (ty, inner) = match instruction.op {
                Op::TypeVoid => (Type::Void, vec![]),
                Op::TypeBool => (Type::Bool, vec![]),
                Op::TypeInt => (Type::Int { width: word(1), signed: word(2) != 0 }, vec![]),
                Op::TypeFloat => (Type::Float { width: word(1) }, vec![]),
                Op::TypeVector => (Type::Vector { base: word(1), count: word(2) }, vec![word(1)]),
                Op::TypeMatrix => (Type::Matrix { base: word(1), count: word(2) }, vec![word(1)]),
                Op::TypeArray => (Type::Array { base: word(1), length: word(2) }, vec![word(1)]),
                Op::TypeStruct => {
                    let members = instruction.words.get(1..).unwrap_or_default().to_vec();
                    (Type::Struct(members.clone()), members)
                }
                Op::TypePointer => (Type::Pointer { class: word(1), base: word(2) }, vec![]),
                Op::TypeRuntimeArray => (Type::RuntimeArray { base: word(1) }, vec![word(1)]),
                Op::TypeSampledImage => (Type::Other, vec![word(1)]),
                _ => (Type::Other, vec![]),
            };
            let depth = inner.iter().map(|id| depths.get(id).copied()).collect::<Option<Vec<_>>>();
            let depth = depth.ok_or_else(|| {
                Broken(format!("the type %{} is made of what is not declared before it", word(0)))
            })?;
            let depth = 1 + depth.into_iter().max().unwrap_or(0);
            if depth > TYPES_NESTED_MAX {
                let message = format!("its types are nested over {TYPES_NESTED_MAX} deep");
                return Err(Broken(message));
            }
            depths.insert(word(0), depth);
            types.insert(word(0), ty);
        }
        Ok(types)
    }
}
