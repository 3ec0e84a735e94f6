//! Ballots and masks of lanes, said in operations on the four words of a ballot.
//!
//! Input: the instructions of subgroups that naga does not read. Output: those that it does, in the
//! rewriter's list.

use spirv::{BuiltIn, GlslStd450Op as GLOp, GroupOperation, Op};

use super::{MASKS, Rewriter};
use crate::program::spirv::words::{Broken, Instruction, Type};

impl Rewriter<'_> {
    pub(super) fn all_equal(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (ty, id, scope) = (instruction.word(0), instruction.word(1), instruction.word(2));
        let value = instruction.word(3);
        let held = self.type_of(value, ty);
        let component = match self.types.get(&held) {
            Some(Type::Vector { base, .. }) => self.types.get(base),
            other => other,
        };
        let equal = match component {
            Some(Type::Bool) => Op::LogicalEqual,
            Some(Type::Int { .. }) => Op::IEqual,
            Some(Type::Float { .. }) => Op::FOrdEqual,
            _ => return Ok(false),
        };
        let truth = self.like(held, ty)?;
        let mut first = value;
        if equal == Op::LogicalEqual {
            // No language broadcasts booleans.
            let number = self.declare_unsigned(32)?;
            let number = self.like(held, number)?;
            let (one, zero) = (self.constant(number, &[1])?, self.constant(number, &[0])?);
            let selected = self.emit(Op::Select, number, &[value, one, zero])?;
            let theirs =
                self.emit(Op::GroupNonUniformBroadcastFirst, number, &[scope, selected])?;
            first = self.emit(Op::INotEqual, truth, &[theirs, zero])?;
        } else {
            first = self.emit(Op::GroupNonUniformBroadcastFirst, held, &[scope, first])?;
        }
        let mut same = self.emit(equal, truth, &[value, first])?;
        if truth != ty {
            same = self.emit(Op::All, ty, &[same])?;
        }
        self.push(Op::GroupNonUniformAll, vec![ty, id, scope, same]);
        Ok(true)
    }

    /// How many bits of a ballot are set: of all lanes, or of those up to a lane.
    pub(super) fn count_bits(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (ty, id, ballot) = (instruction.word(0), instruction.word(1), instruction.word(4));
        let words = self.words4()?;
        let masked = match GroupOperation::from_u32(instruction.word(3)) {
            Some(GroupOperation::Reduce) => ballot,
            Some(GroupOperation::InclusiveScan) => {
                let mask = self.mask([true, true, false])?;
                self.emit(Op::BitwiseAnd, words, &[ballot, mask])?
            }
            Some(GroupOperation::ExclusiveScan) => {
                let mask = self.mask([true, false, false])?;
                self.emit(Op::BitwiseAnd, words, &[ballot, mask])?
            }
            _ => return Ok(false),
        };
        let counts = self.emit(Op::BitCount, words, &[masked])?;
        let word = self.declare_unsigned(32)?;
        let mut sum = self.emit(Op::CompositeExtract, word, &[counts, 0])?;
        for index in 1..4 {
            let part = self.emit(Op::CompositeExtract, word, &[counts, index])?;
            sum = self.emit(Op::IAdd, word, &[sum, part])?;
        }
        self.push(if ty == word { Op::CopyObject } else { Op::Bitcast }, vec![ty, id, sum]);
        Ok(true)
    }

    /// The words of a ballot in which the bits of lanes below, of the lane itself, and of those above are
    /// set.
    fn mask(&mut self, [below, itself, above]: [bool; 3]) -> Result<u32, Broken> {
        let (word, words) = (self.declare_unsigned(32)?, self.words4()?);
        let truth = self.type_id(Type::Bool)?;
        let truths = self.type_id(Type::Vector { base: truth, count: 4 })?;
        let lane = self.load_built_in(BuiltIn::SubgroupLocalInvocationId)?;
        // Bits below `end` are set first: the lane's own with them, where it goes with those below.
        let end = if itself == below {
            let one = self.constant(word, &[1])?;
            self.emit(Op::IAdd, word, &[lane, one])?
        } else {
            lane
        };
        let bits = if below || above {
            let lanes = self.emit(Op::CompositeConstruct, words, &[end; 4])?;
            let starts = self.constant(words, &[0, 32, 64, 96])?;
            let ends = self.constant(words, &[32, 64, 96, 128])?;
            let ones = self.constant(words, &[0xffff_ffff])?;
            let zeros = self.constant(words, &[0])?;
            let within = self.constant(words, &[31])?;
            let past = self.emit(Op::ISub, words, &[lanes, starts])?;
            let shift = self.emit(Op::BitwiseAnd, words, &[past, within])?;
            let high = self.emit(Op::ShiftLeftLogical, words, &[ones, shift])?;
            let low = self.emit(Op::Not, words, &[high])?;
            let full = self.emit(Op::UGreaterThanEqual, truths, &[lanes, ends])?;
            let low = self.emit(Op::Select, words, &[full, ones, low])?;
            let empty = self.emit(Op::ULessThan, truths, &[lanes, starts])?;
            self.emit(Op::Select, words, &[empty, zeros, low])?
        } else {
            let one = self.constant(word, &[1])?;
            let five = self.constant(word, &[5])?;
            let within = self.constant(word, &[31])?;
            let shift = self.emit(Op::BitwiseAnd, word, &[lane, within])?;
            let bit = self.emit(Op::ShiftLeftLogical, word, &[one, shift])?;
            let which = self.emit(Op::ShiftRightLogical, word, &[lane, five])?;
            let which = self.emit(Op::CompositeConstruct, words, &[which; 4])?;
            let numbers = self.constant(words, &[0, 1, 2, 3])?;
            let here = self.emit(Op::IEqual, truths, &[which, numbers])?;
            let bits = self.emit(Op::CompositeConstruct, words, &[bit; 4])?;
            let zeros = self.constant(words, &[0])?;
            return self.emit(Op::Select, words, &[here, bits, zeros]);
        };
        if below { Ok(bits) } else { self.emit(Op::Not, words, &[bits]) }
    }

    pub(super) fn extract_bit(
        &mut self,
        instruction: &Instruction,
        lane: u32,
    ) -> Result<bool, Broken> {
        let (ty, id, ballot) = (instruction.word(0), instruction.word(1), instruction.word(3));
        let word = self.declare_unsigned(32)?;
        let (one, zero) = (self.constant(word, &[1])?, self.constant(word, &[0])?);
        let (five, within) = (self.constant(word, &[5])?, self.constant(word, &[31])?);
        let which = self.emit(Op::ShiftRightLogical, word, &[lane, five])?;
        let part = self.emit(Op::VectorExtractDynamic, word, &[ballot, which])?;
        let shift = self.emit(Op::BitwiseAnd, word, &[lane, within])?;
        let shifted = self.emit(Op::ShiftRightLogical, word, &[part, shift])?;
        let bit = self.emit(Op::BitwiseAnd, word, &[shifted, one])?;
        self.push(Op::INotEqual, vec![ty, id, bit, zero]);
        Ok(true)
    }

    /// The lowest or highest bit that is set in a ballot.
    pub(super) fn find_bit(
        &mut self,
        instruction: &Instruction,
        which: GLOp,
    ) -> Result<bool, Broken> {
        let (ty, id, ballot) = (instruction.word(0), instruction.word(1), instruction.word(3));
        let Some(glsl) = self.glsl else { return Ok(false) };
        let (word, words) = (self.declare_unsigned(32)?, self.words4()?);
        let truth = self.type_id(Type::Bool)?;
        let within = self.emit(Op::ExtInst, words, &[glsl, which as u32, ballot])?;
        let starts = self.constant(words, &[0, 32, 64, 96])?;
        let places = self.emit(Op::IAdd, words, &[within, starts])?;
        let zero = self.constant(word, &[0])?;
        let order: [u32; 4] = if which == GLOp::FindILsb { [3, 2, 1, 0] } else { [0, 1, 2, 3] };
        let mut found = self.emit(Op::CompositeExtract, word, &[places, order[0]])?;
        for index in &order[1..] {
            let part = self.emit(Op::CompositeExtract, word, &[ballot, *index])?;
            let any = self.emit(Op::INotEqual, truth, &[part, zero])?;
            let place = self.emit(Op::CompositeExtract, word, &[places, *index])?;
            found = self.emit(Op::Select, word, &[any, place, found])?;
        }
        self.push(if ty == word { Op::CopyObject } else { Op::Bitcast }, vec![ty, id, found]);
        Ok(true)
    }

    /// Sets the masks of lanes where an entry point begins, before its first instruction that declares
    /// nothing.
    pub(super) fn set_masks(&mut self, instruction: &Instruction) -> Result<(), Broken> {
        match instruction.op {
            Op::Function => {
                let entry = self.entries.contains(&instruction.word(1));
                self.sets_masks = entry && !self.masks.is_empty();
                Ok(())
            }
            Op::FunctionParameter | Op::Label | Op::Variable => Ok(()),
            _ if self.sets_masks => {
                self.sets_masks = false;
                for (variable, number) in self.masks.clone() {
                    let lanes = MASKS.iter().find(|(which, _)| *which as u32 == number);
                    let Some((_, lanes)) = lanes else { continue };
                    let value = self.mask(*lanes)?;
                    self.push(Op::Store, vec![variable, value]);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
