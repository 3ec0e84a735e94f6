//! What compilers write and naga's front end does not read, said in what it reads.
//!
//! Input: a module whose constants are frozen. Output: the same program in other instructions; each new
//! one has the place of what it stands for. What cannot be said otherwise is left, and naga names it.
//!
//! | instruction | becomes |
//! |---|---|
//! | `OpUMulExtended`, `OpSMulExtended` | a product of 64 bits and its halves |
//! | `OpIAddCarry`, `OpISubBorrow` | a sum or difference and a comparison |
//! | `OpSMod` | the remainder, and the divisor added where the signs differ |
//! | `OpLogicalAnd`, `OpLogicalOr` of vectors | a choice for each component |
//! | a division by a constant 0 | what WGSL says of it: the dividend, and 0 for a remainder |
//! | `OpImageFetch` without a level | with the first |
//! | `OpCopyLogical` | the parts taken out and put together |
//! | `OpGroupNonUniformElect` | the lane whose index is the first lane's |
//! | `OpGroupNonUniformAllEqual` | comparison with the first lane's value, and whether it holds for all |
//! | `OpGroupNonUniformBallotBitCount`, `…BitExtract`, `…InverseBallot`, `…FindLSB`, `…FindMSB` | operations on the four words of the ballot |
//! | the built-in masks of lanes (`gl_SubgroupLtMask` and the like) | words made of the lane's number, once an entry point |
//! | `Modf`, `ModfStruct` | the whole part, and what is left |
//! | a switch of one case from within which a loop is left, as Slang writes it | nothing: the loop goes on where it ends |
//! | variables of one type at one binding of a module with one entry point | the first of them |

mod ballots;
mod loops;

use std::collections::{BTreeMap, BTreeSet};

use spirv::{
    BuiltIn, Decoration, ExecutionModel, GlslStd450Op as GLOp, ImageOperands, Op, StorageClass,
};

use super::constants::{Value, work_out};
use super::words::{
    Broken, FilePlace, Instruction, Instructions, Type, is_type, is_type_word, variable_words,
};

pub(super) use loops::untangle;

/// An image that is not stored to, in `OpTypeImage`.
const SAMPLED_IMAGE: u32 = 1;

/// The most elements of an array that is copied part by part.
const COPIED_MAX: u64 = 1024;

/// Rewrites a module.
///
/// # Errors
///
/// Where no number is left for an id.
pub(super) fn rewrite(
    module: &mut Instructions,
    types: BTreeMap<u32, Type>,
    values: BTreeMap<u32, Value>,
) -> Result<(), Broken> {
    let list = std::mem::take(&mut module.list);
    let mut rewriter = Rewriter::new(module, &list, types, values);
    for instruction in list {
        rewriter.place = instruction.place;
        if !rewriter.replace(&instruction)? {
            rewriter.out.push(instruction);
        }
    }
    let Rewriter { mut out, declared, decorated, interface, .. } = rewriter;
    let first = out.iter().position(|i| i.op == Op::Function).unwrap_or(out.len());
    out.splice(first..first, declared);
    let types = out.iter().position(|i| is_type(i.op)).unwrap_or(first);
    out.splice(types..types, decorated);
    for entry in out.iter_mut().filter(|i| i.op == Op::EntryPoint) {
        entry.words.extend(&interface);
    }
    module.list = out;
    Ok(())
}

/// The most variables that are joined with others.
const JOINED_MAX: usize = 64;

/// Makes one variable of those at one binding whose types are the same, as far as bytes go: views of one buffer or
/// texture. The other's types become the first's. Where types differ, all is left as it is, and naga refuses it.
pub(super) fn join_variables(module: &mut Instructions) {
    let is_compute =
        |i: &&Instruction| i.op == Op::EntryPoint && i.word(0) == ExecutionModel::GLCompute as u32;
    // What several entry points bind at one place may be several buffers.
    if module.list.iter().filter(is_compute).count() != 1 {
        return;
    }
    for _ in 0..JOINED_MAX {
        let Some(joined) = Declared::new(&module.list).find_joined() else { return };
        joined.apply(&mut module.list);
    }
}

/// A variable that becomes another one.
struct Joined {
    kept: u32,
    gone: u32,
    /// The types of the one that goes, each with that of the one that is kept.
    types: BTreeMap<u32, u32>,
}

/// What is declared before the code.
struct Declared<'a> {
    list: &'a [Instruction],
    /// Where each id is declared.
    at: BTreeMap<u32, usize>,
    /// What is decorated on each id and its members.
    decorated: BTreeMap<u32, Vec<&'a Instruction>>,
}

/// How memory may be accessed, which changes no byte's place.
const ACCESSES: [Decoration; 6] = [
    Decoration::Restrict,
    Decoration::Aliased,
    Decoration::Volatile,
    Decoration::Coherent,
    Decoration::NonWritable,
    Decoration::NonReadable,
];

/// What forbids a kind of access.
const FORBIDDEN: [Decoration; 2] = [Decoration::NonWritable, Decoration::NonReadable];

/// Whether one of these is decorated.
fn is_one_of(decorated: &Instruction, all: &[Decoration]) -> bool {
    let index = if decorated.op == Op::MemberDecorate { 2 } else { 1 };
    all.iter().any(|decoration| decorated.word(index) == *decoration as u32)
}

impl<'a> Declared<'a> {
    fn new(list: &'a [Instruction]) -> Self {
        let code = list.iter().position(|i| i.op == Op::Function).unwrap_or(list.len());
        let declared = list[..code].iter().enumerate();
        let at = declared.filter_map(|(index, i)| Some((i.result()?, index))).collect();
        let mut decorated: BTreeMap<u32, Vec<&Instruction>> = BTreeMap::new();
        for i in list[..code].iter().filter(|i| matches!(i.op, Op::Decorate | Op::MemberDecorate)) {
            decorated.entry(i.word(0)).or_default().push(i);
        }
        Self { list, at, decorated }
    }

    /// The declaration of an id.
    fn get(&self, id: u32) -> Option<&'a Instruction> {
        self.at.get(&id).map(|index| &self.list[*index])
    }

    /// A number that is decorated on an id.
    fn number(&self, id: u32, which: Decoration) -> Option<u32> {
        let mut all = self.decorated.get(&id)?.iter();
        all.find(|i| i.op == Op::Decorate && i.word(1) == which as u32).map(|i| i.word(2))
    }

    /// What is decorated on an id and its members, but for how it may be accessed.
    fn layout(&self, id: u32) -> BTreeSet<&'a [u32]> {
        let all =
            self.decorated.get(&id).into_iter().flatten().filter(|i| !is_one_of(i, &ACCESSES));
        all.map(|i| i.words.get(1..).unwrap_or_default()).collect()
    }

    /// The first variable that can become one before it.
    fn find_joined(&self) -> Option<Joined> {
        let mut first: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let variables = self.list.iter().take_while(|i| i.op != Op::Function);
        for variable in variables.filter(|i| i.op == Op::Variable) {
            let id = variable.word(1);
            let set = self.number(id, Decoration::DescriptorSet);
            let Some(place) = set.zip(self.number(id, Decoration::Binding)) else { continue };
            let kept = *first.entry(place).or_insert(id);
            if kept == id {
                continue;
            }
            let Some(types) = self.get(kept).and_then(|i| self.pair(i.word(0), variable.word(0)))
            else {
                continue;
            };
            return self.is_known(id).then_some(Joined { kept, gone: id, types });
        }
        None
    }

    /// Whether all that takes a variable is known to take it.
    fn is_known(&self, variable: u32) -> bool {
        let mut code = self.list.iter().skip_while(|i| i.op != Op::Function);
        !code.any(|i| variable_words(i).is_none() && i.takes(variable))
    }

    /// The types that a type is made of, each with that at the same place of another type, which stands before it;
    /// `None` where the two are not the same.
    fn pair(&self, kept: u32, gone: u32) -> Option<BTreeMap<u32, u32>> {
        let mut pairs: BTreeMap<u32, u32> = BTreeMap::new();
        let mut open = vec![(kept, gone)];
        while let Some((kept, gone)) = open.pop() {
            if kept == gone {
                continue;
            }
            match pairs.insert(gone, kept) {
                Some(before) if before == kept => continue,
                Some(_) => return None,
                None => {}
            }
            let (left, right) = (self.get(kept)?, self.get(gone)?);
            let is_alike = left.op == right.op && left.words.len() == right.words.len();
            let is_before = self.at.get(&kept) < self.at.get(&gone);
            if !is_alike || !is_before || self.layout(kept) != self.layout(gone) {
                return None;
            }
            for (index, words) in left.words.iter().zip(&right.words).enumerate().skip(1) {
                match is_type_word(left.op, index) {
                    true => open.push((*words.0, *words.1)),
                    false if words.0 != words.1 => return None,
                    false => {}
                }
            }
        }
        (!pairs.values().any(|kept| pairs.contains_key(kept))).then_some(pairs)
    }
}

impl Joined {
    fn apply(&self, list: &mut Vec<Instruction>) {
        let is_gone = |id: u32| id == self.gone || self.types.contains_key(&id);
        // What may be done with either may be done with what is kept.
        let types = self.types.iter().map(|(gone, kept)| (*gone, *kept));
        let both: BTreeMap<u32, u32> = types.chain([(self.gone, self.kept)]).collect();
        let is_decorated = |i: &&Instruction| matches!(i.op, Op::Decorate | Op::MemberDecorate);
        let decorated = list.iter().filter(is_decorated);
        let kept: BTreeSet<u32> = both.values().copied().collect();
        let restricted: BTreeSet<(u32, Vec<u32>)> = decorated
            .filter_map(|i| Some((*both.get(&i.word(0))?, i.words.get(1..)?.to_vec())))
            .collect();
        list.retain(|i| match i.op {
            Op::Name | Op::MemberName | Op::DecorateId => !is_gone(i.word(0)),
            Op::DecorateString | Op::MemberDecorateString => !is_gone(i.word(0)),
            Op::Decorate | Op::MemberDecorate if is_gone(i.word(0)) => false,
            Op::Decorate | Op::MemberDecorate => {
                let is_both = || {
                    let words = i.words.get(1..).unwrap_or_default().to_vec();
                    restricted.contains(&(i.word(0), words))
                };
                !is_one_of(i, &FORBIDDEN) || !kept.contains(&i.word(0)) || is_both()
            }
            _ => i.result().is_none_or(|id| !is_gone(id)),
        });
        for instruction in list {
            self.rename(instruction);
        }
    }

    /// Puts what is kept in the place of what goes.
    fn rename(&self, instruction: &mut Instruction) {
        let op = instruction.op;
        let (is_type, is_typed) = (is_type(op), instruction.result_type().is_some());
        let variables = variable_words(instruction);
        let interface = if op == Op::EntryPoint { instruction.text(2).1 } else { usize::MAX };
        if interface < instruction.words.len() {
            let bound = instruction.words.split_off(interface);
            instruction.words.extend(bound.into_iter().filter(|id| *id != self.gone));
        }
        for (index, word) in instruction.words.iter_mut().enumerate() {
            let takes_type = is_type && is_type_word(op, index) || is_typed && index == 0;
            if let (true, Some(kept)) = (takes_type, self.types.get(&*word)) {
                *word = *kept;
            } else if *word == self.gone
                && variables.as_ref().is_some_and(|all| all.contains(&index))
            {
                *word = self.kept;
            }
        }
    }
}

/// What is known and made while a module is rewritten.
struct Rewriter<'a> {
    module: &'a mut Instructions,
    types: BTreeMap<u32, Type>,
    by_type: BTreeMap<Type, u32>,
    values: BTreeMap<u32, Value>,
    /// The types of results.
    typed: BTreeMap<u32, u32>,
    /// Constants that were made, by type and bits.
    constants: BTreeMap<(u32, Vec<u64>), u32>,
    /// The variables of built-in values, by the built-in's number.
    built_in: BTreeMap<u32, u32>,
    /// The variables of masks of lanes, with the masks' built-in numbers.
    masks: Vec<(u32, u32)>,
    /// The types of images that are read through a sampler's eyes, of one sample: they have levels.
    with_levels: BTreeSet<u32>,
    /// The functions that are entry points.
    entries: Vec<u32>,
    /// The import of GLSL's functions.
    glsl: Option<u32>,
    out: Vec<Instruction>,
    /// Types, constants and variables that were made.
    declared: Vec<Instruction>,
    decorated: Vec<Instruction>,
    /// Variables to add to the interface of each entry point.
    interface: Vec<u32>,
    place: Option<FilePlace>,
    /// Whether the masks are to be set at the first instruction that is no variable.
    sets_masks: bool,
}

/// The built-in masks of lanes: each with whether lanes below count, the lane itself, and those above.
const MASKS: [(BuiltIn, [bool; 3]); 5] = [
    (BuiltIn::SubgroupEqMask, [false, true, false]),
    (BuiltIn::SubgroupGeMask, [false, true, true]),
    (BuiltIn::SubgroupGtMask, [false, false, true]),
    (BuiltIn::SubgroupLeMask, [true, true, false]),
    (BuiltIn::SubgroupLtMask, [true, false, false]),
];

impl<'a> Rewriter<'a> {
    fn new(
        module: &'a mut Instructions,
        list: &[Instruction],
        types: BTreeMap<u32, Type>,
        values: BTreeMap<u32, Value>,
    ) -> Self {
        let typed = list.iter().filter_map(|i| Some((i.result()?, i.result_type()?))).collect();
        let built = list.iter().filter(|i| {
            i.op == Op::Decorate && i.word(1) == Decoration::BuiltIn as u32 && i.words.len() == 3
        });
        let built_in: BTreeMap<u32, u32> = built.map(|i| (i.word(2), i.word(0))).collect();
        let mask = |(number, _): &(BuiltIn, [bool; 3])| {
            let number = *number as u32;
            built_in.get(&number).map(|variable| (*variable, number))
        };
        let masks = MASKS.iter().filter_map(mask).collect();
        let entries = list.iter().filter(|i| i.op == Op::EntryPoint).map(|i| i.word(1)).collect();
        let glsl = list.iter().find(|i| i.op == Op::ExtInstImport && i.text(1).0 == "GLSL.std.450");
        // Of two types alike the first, which stands before what uses it.
        let mut by_type = BTreeMap::new();
        for (id, ty) in &types {
            if !matches!(ty, Type::Other | Type::Struct(_)) {
                by_type.entry(ty.clone()).or_insert(*id);
            }
        }
        Self {
            glsl: glsl.map(|i| i.word(0)),
            with_levels: list
                .iter()
                .filter(|i| i.op == Op::TypeImage && i.word(5) == 0 && i.word(6) == SAMPLED_IMAGE)
                .map(|i| i.word(0))
                .collect(),
            module,
            types,
            by_type,
            values,
            typed,
            constants: BTreeMap::new(),
            built_in,
            masks,
            entries,
            out: Vec::with_capacity(list.len()),
            declared: Vec::new(),
            decorated: Vec::new(),
            interface: Vec::new(),
            place: None,
            sets_masks: false,
        }
    }

    /// Writes what an instruction becomes; says whether it becomes anything else.
    fn replace(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let word = |index| instruction.word(index);
        self.set_masks(instruction)?;
        self.follow_constants(instruction);
        match instruction.op {
            Op::Decorate if word(1) == Decoration::BuiltIn as u32 => {
                // The size of workgroups is in the entry point.
                let constant = !self.is_variable(word(0));
                Ok(constant || self.masks.iter().any(|(variable, _)| *variable == word(0)))
            }
            Op::Variable if self.masks.iter().any(|(variable, _)| *variable == word(1)) => {
                let words = vec![word(0), word(1), StorageClass::Private as u32];
                self.push(Op::Variable, words);
                Ok(true)
            }
            Op::EntryPoint if !self.masks.is_empty() => {
                let mut entry = instruction.clone();
                let (_, from) = instruction.text(2);
                let all = entry.words.split_off(from);
                let mask = |id: &u32| self.masks.iter().any(|(variable, _)| variable == id);
                entry.words.extend(all.into_iter().filter(|id| !mask(id)));
                self.out.push(entry);
                Ok(true)
            }
            Op::UMulExtended | Op::SMulExtended => self.multiply(instruction),
            Op::IAddCarry | Op::ISubBorrow => self.carry(instruction),
            Op::UDiv | Op::SDiv | Op::UMod | Op::SRem | Op::SMod if self.is_zero(word(3)) => {
                let quotient = matches!(instruction.op, Op::UDiv | Op::SDiv);
                let left = if quotient { word(2) } else { self.constant(word(0), &[0])? };
                let alike = self.type_of(left, word(0)) == word(0);
                let op = if alike { Op::CopyObject } else { Op::Bitcast };
                self.push(op, vec![word(0), word(1), left]);
                Ok(true)
            }
            Op::SMod => self.floored_remainder(instruction),
            // naga has these of single booleans alone.
            Op::LogicalAnd | Op::LogicalOr if self.is_vector(word(0)) => {
                let (a, b) = (word(2), word(3));
                let (yes, no) = if instruction.op == Op::LogicalAnd { (b, a) } else { (a, b) };
                self.push(Op::Select, vec![word(0), word(1), a, yes, no]);
                Ok(true)
            }
            Op::CopyLogical => self.copy(instruction),
            Op::ImageFetch | Op::ImageRead => self.fetch(instruction),
            Op::GroupNonUniformElect => {
                let index = self.load_built_in(BuiltIn::LocalInvocationIndex)?;
                let ty = self.declare_unsigned(32)?;
                let first = self.emit(Op::GroupNonUniformBroadcastFirst, ty, &[word(2), index])?;
                self.push(Op::IEqual, vec![word(0), word(1), index, first]);
                Ok(true)
            }
            Op::GroupNonUniformAllEqual => self.all_equal(instruction),
            Op::GroupNonUniformBallotBitCount => self.count_bits(instruction),
            Op::GroupNonUniformInverseBallot => {
                let lane = self.load_built_in(BuiltIn::SubgroupLocalInvocationId)?;
                self.extract_bit(instruction, lane)
            }
            Op::GroupNonUniformBallotBitExtract => self.extract_bit(instruction, word(4)),
            Op::GroupNonUniformBallotFindLSB => self.find_bit(instruction, GLOp::FindILsb),
            Op::GroupNonUniformBallotFindMSB => self.find_bit(instruction, GLOp::FindUMsb),
            Op::ExtInst if Some(word(2)) == self.glsl => self.glsl_function(instruction),
            _ => Ok(false),
        }
    }

    fn is_vector(&self, ty: u32) -> bool {
        matches!(self.types.get(&ty), Some(Type::Vector { .. }))
    }

    fn is_variable(&self, id: u32) -> bool {
        let ty = self.typed.get(&id).and_then(|ty| self.types.get(ty));
        matches!(ty, Some(Type::Pointer { .. }))
    }

    fn push(&mut self, op: Op, words: Vec<u32>) {
        self.out.push(Instruction { op, words, place: self.place });
    }

    /// Writes an instruction with a result of type `ty`; gives the result.
    fn emit(&mut self, op: Op, ty: u32, operands: &[u32]) -> Result<u32, Broken> {
        let id = self.module.fresh()?;
        let mut words = vec![ty, id];
        words.extend(operands);
        self.push(op, words);
        self.typed.insert(id, ty);
        Ok(id)
    }

    /// The id of a type; declares it where it is not there.
    fn type_id(&mut self, ty: Type) -> Result<u32, Broken> {
        if let Some(known) = self.by_type.get(&ty) {
            return Ok(*known);
        }
        let id = self.module.fresh()?;
        let (op, rest) = match ty {
            Type::Bool => (Op::TypeBool, vec![]),
            Type::Int { width, signed } => (Op::TypeInt, vec![width, u32::from(signed)]),
            Type::Vector { base, count } => (Op::TypeVector, vec![base, count]),
            Type::Pointer { class, base } => (Op::TypePointer, vec![class, base]),
            _ => return Err(Broken("it lacks a type".to_owned())),
        };
        let words = std::iter::once(id).chain(rest).collect();
        self.declared.push(Instruction::new(op, words));
        self.by_type.insert(ty.clone(), id);
        self.types.insert(id, ty);
        Ok(id)
    }

    fn declare_unsigned(&mut self, width: u32) -> Result<u32, Broken> {
        self.type_id(Type::Int { width, signed: false })
    }

    /// A type of as many components as another has.
    fn like(&mut self, shape: u32, base: u32) -> Result<u32, Broken> {
        match self.types.get(&shape) {
            Some(Type::Vector { count, .. }) => {
                let count = *count;
                self.type_id(Type::Vector { base, count })
            }
            _ => Ok(base),
        }
    }

    /// The four words of a ballot.
    fn words4(&mut self) -> Result<u32, Broken> {
        let base = self.declare_unsigned(32)?;
        self.type_id(Type::Vector { base, count: 4 })
    }

    /// A constant of type `ty`, of one number or of one a component.
    fn constant(&mut self, ty: u32, numbers: &[u64]) -> Result<u32, Broken> {
        let key = (ty, numbers.to_vec());
        if let Some(known) = self.constants.get(&key) {
            return Ok(*known);
        }
        let words = match self.types.get(&ty) {
            Some(Type::Vector { base, count }) => {
                let (base, count) = (*base, *count as usize);
                let number = |index: usize| numbers.get(index).or(numbers.first()).copied();
                let parts: Vec<u64> = (0..count.min(4)).filter_map(number).collect();
                let parts = parts.into_iter().map(|number| self.constant(base, &[number]));
                parts.collect::<Result<Vec<_>, _>>()?
            }
            _ => Vec::new(),
        };
        let id = self.module.fresh()?;
        let (op, rest) = if words.is_empty() {
            #[expect(clippy::cast_possible_truncation, reason = "constants of 32 bits are made")]
            let low = numbers.first().map_or(0, |number| *number as u32);
            (Op::Constant, vec![low])
        } else {
            (Op::ConstantComposite, words)
        };
        let words = [ty, id].into_iter().chain(rest).collect();
        self.declared.push(Instruction::new(op, words));
        self.constants.insert(key, id);
        self.typed.insert(id, ty);
        Ok(id)
    }

    /// The value of a built-in, whose variable is made where there is none.
    fn load_built_in(&mut self, which: BuiltIn) -> Result<u32, Broken> {
        let ty = self.declare_unsigned(32)?;
        let variable = match self.built_in.get(&(which as u32)) {
            Some(known) => *known,
            None => {
                let class = StorageClass::Input as u32;
                let pointer = self.type_id(Type::Pointer { class, base: ty })?;
                let id = self.module.fresh()?;
                self.declared.push(Instruction::new(Op::Variable, vec![pointer, id, class]));
                let words = vec![id, Decoration::BuiltIn as u32, which as u32];
                self.decorated.push(Instruction::new(Op::Decorate, words));
                self.interface.push(id);
                self.built_in.insert(which as u32, id);
                self.typed.insert(id, pointer);
                id
            }
        };
        let held = self.typed.get(&variable).and_then(|pointer| self.types.get(pointer)).cloned();
        let held = match held {
            Some(Type::Pointer { base, .. }) => base,
            _ => ty,
        };
        let loaded = self.emit(Op::Load, held, &[variable])?;
        if held == ty { Ok(loaded) } else { self.emit(Op::Bitcast, ty, &[loaded]) }
    }

    /// The type of a value, or the type `otherwise`.
    fn type_of(&self, id: u32, otherwise: u32) -> u32 {
        self.typed.get(&id).copied().unwrap_or(otherwise)
    }

    /// The types of a structure's two members.
    fn pair(&self, ty: u32) -> Option<(u32, u32)> {
        match self.types.get(&ty) {
            Some(Type::Struct(members)) => match members[..] {
                [low, high] => Some((low, high)),
                _ => None,
            },
            _ => None,
        }
    }

    fn multiply(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (result, a, b) = (instruction.word(0), instruction.word(2), instruction.word(3));
        let Some((low, high)) = self.pair(result) else { return Ok(false) };
        let signed = instruction.op == Op::SMulExtended;
        let convert = if signed { Op::SConvert } else { Op::UConvert };
        // naga converts by the operand's sign.
        let narrow = self.type_id(Type::Int { width: 32, signed })?;
        let narrow = self.like(low, narrow)?;
        let wide = self.type_id(Type::Int { width: 64, signed })?;
        let wide = self.like(low, wide)?;
        let mut factors = Vec::new();
        for id in [a, b] {
            let type_before = self.type_of(id, low);
            let id =
                if type_before == narrow { id } else { self.emit(Op::Bitcast, narrow, &[id])? };
            factors.push(self.emit(convert, wide, &[id])?);
        }
        let product = self.emit(Op::IMul, wide, &factors)?;
        let shift_type = self.declare_unsigned(32)?;
        let shift_type = self.like(low, shift_type)?;
        let shift = self.constant(shift_type, &[32])?;
        let upper = self.emit(Op::ShiftRightLogical, wide, &[product, shift])?;
        let upper = self.emit(convert, high, &[upper])?;
        let lower = self.emit(Op::IMul, low, &[a, b])?;
        self.push(Op::CompositeConstruct, vec![result, instruction.word(1), lower, upper]);
        Ok(true)
    }

    fn carry(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (result, a, b) = (instruction.word(0), instruction.word(2), instruction.word(3));
        let Some((low, high)) = self.pair(result) else { return Ok(false) };
        let truth = self.type_id(Type::Bool)?;
        let truth = self.like(low, truth)?;
        let (value, carried) = if instruction.op == Op::IAddCarry {
            let sum = self.emit(Op::IAdd, low, &[a, b])?;
            (sum, self.emit(Op::ULessThan, truth, &[sum, a])?)
        } else {
            let difference = self.emit(Op::ISub, low, &[a, b])?;
            (difference, self.emit(Op::ULessThan, truth, &[a, b])?)
        };
        let (one, zero) = (self.constant(high, &[1])?, self.constant(high, &[0])?);
        let carried = self.emit(Op::Select, high, &[carried, one, zero])?;
        self.push(Op::CompositeConstruct, vec![result, instruction.word(1), value, carried]);
        Ok(true)
    }

    /// A texel of the first level, where no level is given.
    fn fetch(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let lod = ImageOperands::LOD.bits();
        let operands = instruction.word(4);
        let leveled = self.with_levels.contains(&self.type_of(instruction.word(2), 0));
        if !leveled || operands & lod != 0 || instruction.words.len() < 4 {
            return Ok(false);
        }
        let word = self.declare_unsigned(32)?;
        let zero = self.constant(word, &[0])?;
        let mut words = instruction.words[..4].to_vec();
        // The level stands before what else is there but a bias, which a fetch has not.
        words.extend([operands | lod, zero]);
        words.extend(instruction.words.iter().skip(5));
        self.push(instruction.op, words);
        Ok(true)
    }

    /// Keeps what is worked out from constants alone: naga works it out too, and refuses to divide by it
    /// where it is 0.
    fn follow_constants(&mut self, instruction: &Instruction) {
        let value = match instruction.op {
            Op::IAdd | Op::ISub | Op::IMul => {
                let operands = instruction.words.get(2..).unwrap_or_default();
                work_out(instruction.op, instruction.word(0), operands, &self.values, &self.types)
            }
            Op::CompositeConstruct if self.is_vector(instruction.word(0)) => {
                let parts = instruction.words.iter().skip(2);
                let parts = parts.map(|id| self.values.get(id).cloned()).collect::<Option<_>>();
                parts.map(Value::Composite)
            }
            _ => None,
        };
        if let (Some(value), Some(id)) = (value, instruction.result()) {
            self.values.insert(id, value);
        }
    }

    /// Whether a constant is 0, in all its components.
    fn is_zero(&self, id: u32) -> bool {
        fn zero(value: &Value) -> bool {
            match value {
                Value::Null | Value::Bits(0) => true,
                Value::Bits(_) | Value::Bool(_) => false,
                Value::Composite(parts) => parts.iter().all(zero),
            }
        }
        self.values.get(&id).is_some_and(zero)
    }

    /// The remainder that has the divisor's sign.
    fn floored_remainder(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (ty, id, b) = (instruction.word(0), instruction.word(1), instruction.word(3));
        let truth = self.type_id(Type::Bool)?;
        let truth = self.like(ty, truth)?;
        let zero = self.constant(ty, &[0])?;
        let rest = self.emit(Op::SRem, ty, &[instruction.word(2), b])?;
        let signs = self.emit(Op::BitwiseXor, ty, &[rest, b])?;
        let differ = self.emit(Op::SLessThan, truth, &[signs, zero])?;
        let some = self.emit(Op::INotEqual, truth, &[rest, zero])?;
        let sum = self.emit(Op::IAdd, ty, &[rest, b])?;
        let moved = self.emit(Op::Select, ty, &[differ, sum, rest])?;
        self.push(Op::Select, vec![ty, id, some, moved, rest]);
        Ok(true)
    }

    /// Takes a composite apart, and puts it together as another type of the same parts.
    fn copy(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let (ty, id, from) = (instruction.word(0), instruction.word(1), instruction.word(2));
        let type_before = self.type_of(from, ty);
        let Some(parts) = self.parts(ty, type_before) else { return Ok(false) };
        let words = self.copy_parts(ty, from, &parts, 0)?;
        let Some(words) = words else { return Ok(false) };
        self.push(Op::CompositeConstruct, [ty, id].into_iter().chain(words).collect());
        Ok(true)
    }

    /// The types of two composites' parts, the new one's first; `None` if they are not alike.
    fn parts(&self, to: u32, from: u32) -> Option<Vec<(u32, u32)>> {
        match (self.types.get(&to)?, self.types.get(&from)?) {
            (Type::Struct(a), Type::Struct(b)) if a.len() == b.len() => {
                Some(a.iter().copied().zip(b.iter().copied()).collect())
            }
            (Type::Array { base: a, length }, Type::Array { base: b, .. }) => {
                match self.values.get(length)? {
                    Value::Bits(count) if *count <= COPIED_MAX => {
                        Some((0..*count).map(|_| (*a, *b)).collect())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The ids of a composite's parts in their new types; `None` if they are nested too deeply.
    fn copy_parts(
        &mut self,
        _to: u32,
        from: u32,
        parts: &[(u32, u32)],
        depth: u32,
    ) -> Result<Option<Vec<u32>>, Broken> {
        const DEEP: u32 = 8;
        if depth > DEEP || self.out.len() > (1 << 22) {
            return Ok(None);
        }
        let mut made = Vec::new();
        for (index, (to, given)) in (0..).zip(parts.iter().copied()) {
            let part = self.emit(Op::CompositeExtract, given, &[from, index])?;
            if to == given {
                made.push(part);
                continue;
            }
            let Some(inner) = self.parts(to, given) else { return Ok(None) };
            let Some(words) = self.copy_parts(to, part, &inner, depth + 1)? else {
                return Ok(None);
            };
            made.push(self.emit(Op::CompositeConstruct, to, &words)?);
        }
        Ok(Some(made))
    }

    fn glsl_function(&mut self, instruction: &Instruction) -> Result<bool, Broken> {
        let word = |index| instruction.word(index);
        let (ty, id, glsl, x) = (word(0), word(1), word(2), word(4));
        match GLOp::from_u32(word(3)) {
            Some(GLOp::Modf) => {
                let whole = self.emit(Op::ExtInst, ty, &[glsl, GLOp::Trunc as u32, x])?;
                self.push(Op::Store, vec![word(5), whole]);
                self.push(Op::FSub, vec![ty, id, x, whole]);
                Ok(true)
            }
            Some(GLOp::ModfStruct) => {
                let Some((part, _)) = self.pair(ty) else { return Ok(false) };
                let whole = self.emit(Op::ExtInst, part, &[glsl, GLOp::Trunc as u32, x])?;
                let rest = self.emit(Op::FSub, part, &[x, whole])?;
                self.push(Op::CompositeConstruct, vec![ty, id, rest, whole]);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
