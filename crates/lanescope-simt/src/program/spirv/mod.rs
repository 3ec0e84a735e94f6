//! SPIR-V: a compiled shader made into naga's module, with the lines of its source.
//!
//! Input: words, as glslang, DXC or Slang write them, and the source's text where it is at hand. Output:
//! a [`Parsed`] like that of WGSL: naga's module as its front end makes it, whose places are lines of the
//! original source. It opens no file, and writes no WGSL but to show some where there is no source.
//!
//! The way through: what is about debugging is taken out and put as a place on each instruction
//! (`debug`); specialisation constants get their values and are folded (`constants`); what naga's
//! front end does not read is said in what it reads (`rewrite`); naga parses; its offsets into the words
//! become places in the text (`super::spans`).
//!
//! # The text
//!
//! One text is shown: the main file from its first line, so that its lines keep their numbers, and behind
//! it each other file from which code comes, under a comment with its name. [`Text::parts`] says
//! where each begins. Where no text is known, it is the WGSL that naga writes of the module.

mod constants;
mod debug;
mod rewrite;
#[cfg(test)]
mod tests;
mod words;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use naga::Span;
use naga::valid::{Capabilities, EntryPointError, ValidationError};
use spirv::{Capability, Decoration, ExecutionMode, ExecutionModel, ImageFormat, Op};

use super::error::ProgramError;
use super::overrides::{Origin, Override, OverrideKind, Overrides, Special};
use super::parsed::Parsed;
use super::source::{OPERATORS_MAX, Text};
use super::spans::{self, FunctionPlace, Places};
use super::validate::{guard, reasons, refusal, run_validator};
use crate::binary::{MAGIC, SourceFile, SpirV};
use crate::units::text::{listed, number};
use constants::{Unfit, Value};
use debug::Debug;
use words::{Broken, FilePlace, Instructions, Type};

/// How deep branches and loops may be nested.
const NESTED_MAX: usize = 250;

/// The fewest bits of a number that naga holds.
const BITS_MIN: u32 = 16;

/// Reads a module, and the texts that it holds of its source; `file` is the name that messages show.
///
/// # Errors
///
/// [`ProgramError::SpirV`] where the bytes are no SPIR-V.
pub fn read_spirv(file: &str, bytes: &[u8]) -> Result<SpirV, ProgramError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    let swapped = chunks.first().is_some_and(|word| u32::from_be_bytes(*word) == MAGIC);
    let word = |bytes: &[u8; 4]| match swapped {
        true => u32::from_be_bytes(*bytes),
        false => u32::from_le_bytes(*bytes),
    };
    let words: Vec<u32> = chunks.iter().map(word).collect();
    if !rest.is_empty() {
        let message = format!("its {} bytes are no whole number of words", bytes.len());
        return Err(broken(file, Broken(message)));
    }
    let mut module = Instructions::read(&words).map_err(|wrong| broken(file, wrong))?;
    let Debug { files, .. } = debug::take(&mut module);
    Ok(SpirV { words, files: in_order(files, &module) })
}

/// The files, the one first that the entry point's function begins in; those from which no code comes are
/// left out.
fn in_order(files: Vec<SourceFile>, module: &Instructions) -> Vec<SourceFile> {
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for place in module.list.iter().filter_map(|i| i.place) {
        *used.entry(place.file).or_default() += 1;
    }
    let entries: BTreeSet<u32> =
        module.list.iter().filter(|i| i.op == Op::EntryPoint).map(|i| i.word(1)).collect();
    let mut functions =
        module.list.iter().skip_while(|i| i.op != Op::Function || !entries.contains(&i.word(1)));
    let main = functions.find_map(|i| i.place).map(|place| place.file);
    let main = main.unwrap_or(0);
    let mut ordered: Vec<(usize, SourceFile)> = files.into_iter().enumerate().collect();
    // Without lines a text is of no use.
    ordered.retain(|(index, _)| used.contains_key(index));
    ordered.sort_by_key(|(index, _)| (*index != main, *index));
    ordered.into_iter().map(|(_, file)| file).collect()
}

fn broken(file: &str, Broken(message): Broken) -> ProgramError {
    ProgramError::SpirV { file: file.to_owned(), message }
}

impl Parsed {
    /// Makes naga's module of a SPIR-V module; `file` is the name that messages show.
    ///
    /// # Errors
    ///
    /// [`ProgramError::SpirV`] where it is broken, [`ProgramError::Unread`] with the line of what naga
    /// cannot hold, else as [`Parsed::new`].
    pub fn from_spirv(file: &str, spirv: &SpirV) -> Result<Self, ProgramError> {
        parse(file, spirv, &BTreeMap::new())
    }

    /// The same module with values for its constants, where it is SPIR-V and any is given.
    pub(super) fn with_constants(&self, given: &Overrides) -> Result<Option<Self>, ProgramError> {
        let Some(origin) = self.origin.as_ref().filter(|_| !given.is_empty()) else {
            return Ok(None);
        };
        let file = || self.text.file().to_owned();
        let mut values = BTreeMap::new();
        for (word, value) in given {
            let known = |s: &&Special| s.shown.name == *word || s.number.to_string() == *word;
            let Some(found) = origin.specials.iter().find(known) else {
                let names: Vec<&str> =
                    origin.specials.iter().map(|special| special.shown.name.as_str()).collect();
                let names = listed(&names);
                let message = format!(
                    "there is no specialisation constant {word:?}; the module has: {names}"
                );
                return Err(ProgramError::Overrides { file: file(), message });
            };
            if let Some(needed) = unfit(found.integer, *value) {
                let name = &found.shown.name;
                let message = format!("`{name}` is {}, and must be {needed}", number(*value));
                return Err(ProgramError::Overrides { file: file(), message });
            }
            values.insert(found.number, *value);
        }
        parse(&origin.file, &origin.spirv, &values).map(Some)
    }
}

/// What an integer of so many bits takes, with a sign or without, where `value` is none of that.
fn unfit(integer: Option<(u32, bool)>, value: f64) -> Option<String> {
    let (width, signed) = integer?;
    let bits = i32::try_from(width).unwrap_or(32);
    let (low, high) = match signed {
        true => (-2_f64.powi(bits - 1), 2_f64.powi(bits - 1)),
        false => (0.0, 2_f64.powi(bits)),
    };
    let fits = value.fract() == 0.0 && (low..high).contains(&value);
    (!fits).then(|| format!("a whole number from {low} to {}", high - 1.0))
}

fn parse(file: &str, spirv: &SpirV, given: &BTreeMap<u32, f64>) -> Result<Parsed, ProgramError> {
    if !cfg!(feature = "spirv") {
        return Err(broken(file, Broken("it was built without the reader of SPIR-V".to_owned())));
    }
    let wrong = |broken_module: Broken| broken(file, broken_module);
    let mut module = Instructions::read(&spirv.words).map_err(wrong)?;
    let Debug { files, names } = debug::take(&mut module);
    let mut shown = Shown::new(file, &files, spirv);
    rewrite::join_variables(&mut module);
    let types = module.types().map_err(wrong)?;
    let small = holding(&types, is_small);
    drop_small(&mut module, &small);
    check_widths(&module, &small, &shown)?;
    check(&module, &shown)?;
    rewrite::untangle(&mut module).map_err(|place| {
        let what =
            "a loop that is left from within a switch, which naga takes for the switch's end";
        shown.unread(place.or_else(|| first_place(&module)), what)
    })?;
    let specials = constants::specials(&module, &types, &names);
    let values = constants::freeze(&mut module, &types, given).map_err(|error| match error {
        Unfit::Broken(wrong) => broken(file, wrong),
        Unfit::Operation(op, place) => {
            shown.unread(place, &format!("a constant worked out by Op{op:?}"))
        }
    })?;
    prepare(&mut module, &types, &values);
    drop_memory_operands(&mut module);
    rewrite::rewrite(&mut module, types, values).map_err(wrong)?;
    let words = module.write();
    let options = naga::front::spv::Options {
        adjust_coordinate_space: false,
        strict_capabilities: false,
        block_ctx_dump_prefix: None,
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let parsed = guard(file, "parsed", || naga::front::spv::parse_u8_slice(&bytes, &options))?;
    let mut parsed = parsed.map_err(|error| refuse(&error, &module, &shown))?;
    drop_other_stages(&mut parsed);
    let_read(&mut parsed);
    name_variables(&mut parsed);
    if shown.text.is_some() {
        spans::put(&mut parsed, &shown.places(&module));
    } else {
        // Offsets into the words are places in no text.
        spans::put(&mut parsed, &Places::default());
        let plain = Text::new(file, "");
        judge(&parsed, &plain, &module, &shown)?;
        shown.text = Some(written::show(&mut parsed, file)?);
    }
    let text = Arc::new(shown.text.take().unwrap_or_else(|| Text::new(file, "")));
    judge(&parsed, &text, &module, &shown)?;
    let specials = specials.iter().map(|special| overridable(special, &text)).collect();
    let origin = Origin { file: file.to_owned(), spirv: spirv.clone(), specials };
    Ok(Parsed { text, module: parsed, info: None, origin: Some(Arc::new(origin)) })
}

/// How a specialisation constant is shown, and what it takes.
fn overridable(special: &constants::Special, text: &Text) -> Special {
    let line = text.find_word(&special.name).map_or(1, |offset| text.location(offset).line);
    let (kind, integer) = match special.ty {
        Type::Bool => (OverrideKind::Bool, None),
        Type::Int { width, signed } => (OverrideKind::Integer, Some((width, signed))),
        _ => (OverrideKind::Float, None),
    };
    let shown = Override {
        name: special.name.clone(),
        id: u16::try_from(special.number).ok(),
        line,
        has_default: true,
        kind,
    };
    Special { shown, number: special.number, integer }
}

/// The text that is shown, with the files that places refer to.
struct Shown<'a> {
    file: &'a str,
    text: Option<Text>,
    /// For each of the module's files, the index of its part of the text.
    parts: Vec<Option<usize>>,
    names: Vec<String>,
}

impl<'a> Shown<'a> {
    fn new(file: &'a str, files: &[SourceFile], spirv: &SpirV) -> Self {
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let nothing = Self { file, text: None, parts: vec![None; files.len()], names };
        if spirv.files.first().is_none_or(|main| main.text.is_none()) {
            return nothing;
        }
        let text = Text::joined(file, &spirv.files);
        let part = |name: &String| text.parts().iter().position(|part| part.name == *name);
        let indices = nothing.names.iter().map(part).collect();
        Self { text: Some(text), parts: indices, ..nothing }
    }

    /// The span of a place: its line, from its column on.
    fn span(&self, place: FilePlace) -> Option<Span> {
        let part = (*self.parts.get(place.file)?)?;
        self.text.as_ref()?.line_span(part, place.line, place.column)
    }

    fn places(&self, module: &Instructions) -> Places {
        let mut places = Places::default();
        let mut last = Span::UNDEFINED;
        let mut open: Option<FunctionPlace> = None;
        let mut known = Vec::new();
        for (instruction, (offset, place)) in module.list.iter().zip(module.offsets()) {
            let span = place.and_then(|place| self.span(place)).unwrap_or(Span::UNDEFINED);
            if instruction.op == Op::Function {
                open = Some(FunctionPlace { offset, first: span, last: Span::UNDEFINED });
                last = Span::UNDEFINED;
            }
            if span.is_defined() {
                last = span;
            }
            if let Some(open) = &mut open {
                open.first = if open.first.is_defined() { open.first } else { span };
                if instruction.op == Op::FunctionEnd {
                    open.last = last;
                    known.push(*open);
                }
            }
            places.spans.push((offset, span));
        }
        places.functions = known;
        places
    }

    /// The refusal of something at a place.
    fn unread(&self, place: Option<FilePlace>, what: &str) -> ProgramError {
        let name = place.and_then(|place| self.names.get(place.file)).filter(|n| !n.is_empty());
        ProgramError::Unread {
            file: name.map_or(self.file, String::as_str).to_owned(),
            line: place.map_or(1, |place| place.line),
            what: what.to_owned(),
        }
    }
}

/// Whether a type is a number of fewer bits than naga holds.
fn is_small(ty: &Type) -> bool {
    matches!(ty, Type::Int { width, .. } | Type::Float { width } if *width < BITS_MIN)
}

/// Takes out buffers of numbers of fewer bits than naga holds, and their types, where nothing has to do with any.
fn drop_small(module: &mut Instructions, small: &BTreeSet<u32>) {
    let typed = |i: &words::Instruction| i.result_type().is_some_and(|ty| small.contains(&ty));
    let first = module.list.iter().position(|i| i.op == Op::Function);
    let (declared, code) = module.list.split_at(first.unwrap_or(module.list.len()));
    let buffers = declared.iter().filter(|i| i.op == Op::Variable && typed(i));
    let mut gone: BTreeSet<u32> = buffers.filter_map(words::Instruction::result).collect();
    let constant = declared.iter().any(|i| i.op != Op::Variable && typed(i));
    if constant || code.iter().any(|i| typed(i) || gone.iter().any(|id| i.takes(*id))) {
        return;
    }
    gone.extend(small);
    module.list.retain(|i| match i.op {
        Op::Decorate | Op::MemberDecorate => !gone.contains(&i.word(0)),
        _ => i.result().is_none_or(|id| !gone.contains(&id)),
    });
    for entry in module.list.iter_mut().filter(|i| i.op == Op::EntryPoint) {
        let (_, from) = entry.text(2);
        let interface = entry.words.split_off(from.min(entry.words.len()));
        entry.words.extend(interface.into_iter().filter(|id| !gone.contains(id)));
    }
}

/// Refuses numbers of fewer bits than naga holds, with the line that works with them first.
fn check_widths(
    module: &Instructions,
    small: &BTreeSet<u32>,
    shown: &Shown<'_>,
) -> Result<(), ProgramError> {
    let in_code = module.list.iter().skip_while(|i| i.op != Op::Function);
    let typed = |i: &&words::Instruction| i.result_type().is_some_and(|ty| small.contains(&ty));
    // A variable of a function stands on the function's line.
    let works = in_code.clone().filter(|i| i.op != Op::Variable).find(typed);
    let variable = || module.list.iter().filter(|i| i.op == Op::Variable).find(typed);
    // What takes a constant of such a type makes another of it.
    let declared = || module.list.iter().find(|i| i.result().is_some_and(|id| small.contains(&id)));
    if let Some(found) = works.or_else(variable).or_else(declared) {
        let what = "8-bit numbers, which naga cannot hold (it holds 16, 32 and 64 bits); compile \
                    the shader to unpack them from 32-bit words";
        let used = || found.result().and_then(|id| first_use(module, id)?.1);
        let place = found.place.or_else(used).or_else(|| first_place(module));
        return Err(shown.unread(place, what));
    }
    Ok(())
}

/// The first line of the code.
fn first_place(module: &Instructions) -> Option<FilePlace> {
    module.list.iter().skip_while(|i| i.op != Op::Function).find_map(|i| i.place)
}

/// Which instruction is the first of the code to take a value or a variable, and its place.
fn first_use(module: &Instructions, id: u32) -> Option<(usize, Option<FilePlace>)> {
    let mut in_code = module.list.iter().enumerate().skip_while(|(_, i)| i.op != Op::Function);
    let (index, found) = in_code.find(|(_, i)| i.takes(id))?;
    Some((index, found.place))
}

/// Refuses what is nested more deeply than naga's recursion goes.
fn check(module: &Instructions, shown: &Shown<'_>) -> Result<(), ProgramError> {
    let in_code = module.list.iter().skip_while(|i| i.op != Op::Function);
    let mut depths: BTreeMap<u32, u32> = BTreeMap::new();
    let mut open: Vec<u32> = Vec::new();
    for instruction in in_code {
        match instruction.op {
            Op::SelectionMerge | Op::LoopMerge => open.push(instruction.word(0)),
            Op::Label => {
                let label = instruction.word(0);
                if let Some(at) = open.iter().rposition(|merge| *merge == label) {
                    open.truncate(at);
                }
            }
            Op::FunctionEnd => open.clear(),
            Op::Load | Op::FunctionCall | Op::Phi => {}
            _ => {
                let operands = instruction.words.iter().skip(2);
                let depth =
                    operands.filter_map(|id| depths.get(id)).max().copied().unwrap_or(0) + 1;
                if depth > OPERATORS_MAX {
                    let what = format!(
                        "an expression of over {OPERATORS_MAX} operators in a row, which naga cannot \
                         go through; store a part of it in a variable"
                    );
                    return Err(shown.unread(instruction.place, &what));
                }
                if let Some(id) = instruction.result() {
                    depths.insert(id, depth);
                }
            }
        }
        if open.len() > NESTED_MAX {
            let what = format!("branches and loops that are nested over {NESTED_MAX} deep");
            return Err(shown.unread(instruction.place, &what));
        }
    }
    Ok(())
}

/// The types for which something holds, or for what they are made of.
fn holding(types: &BTreeMap<u32, Type>, says: impl Fn(&Type) -> bool) -> BTreeSet<u32> {
    let mut found: BTreeSet<u32> = BTreeSet::new();
    // A type stands behind what it is made of, but its number may be smaller.
    loop {
        let before = found.len();
        for (id, ty) in types {
            let inner: &[u32] = match ty {
                Type::Vector { base, .. } | Type::Matrix { base, .. } => &[*base],
                Type::Array { base, .. } | Type::RuntimeArray { base } => &[*base],
                Type::Pointer { base, .. } => &[*base],
                Type::Struct(members) => members,
                _ => &[],
            };
            if says(ty) || inner.iter().any(|id| found.contains(id)) {
                found.insert(*id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Takes out what naga's front end refuses though nothing depends on it, and puts the workgroup's size
/// where naga looks for it.
fn prepare(module: &mut Instructions, types: &BTreeMap<u32, Type>, values: &BTreeMap<u32, Value>) {
    let compute: BTreeSet<u32> = module
        .list
        .iter()
        .filter(|i| i.op == Op::EntryPoint && i.word(0) == ExecutionModel::GLCompute as u32)
        .map(|i| i.word(1))
        .collect();
    let number = |id: u32| match values.get(&id) {
        Some(Value::Bits(bits)) => u32::try_from(*bits).ok(),
        _ => None,
    };
    let workgroup = module.list.iter().find(|i| {
        let built = [Decoration::BuiltIn as u32, spirv::BuiltIn::WorkgroupSize as u32];
        i.op == Op::Decorate && i.words.get(1..) == Some(&built)
    });
    let size = workgroup.and_then(|i| values.get(&i.word(0))).and_then(|value| match value {
        Value::Composite(parts) => parts
            .iter()
            .map(|part| match part {
                Value::Bits(bits) => u32::try_from(*bits).ok(),
                _ => None,
            })
            .collect::<Option<Vec<u32>>>(),
        _ => None,
    });
    for instruction in &mut module.list {
        let mode = ExecutionMode::from_u32(instruction.word(1));
        match (instruction.op, mode) {
            (Op::ExecutionModeId, Some(ExecutionMode::LocalSizeId)) => {
                let sizes: Option<Vec<u32>> =
                    instruction.words.iter().skip(2).map(|id| number(*id)).collect();
                if let Some(sizes) = sizes {
                    instruction.op = Op::ExecutionMode;
                    instruction.words.truncate(1);
                    instruction.words.push(ExecutionMode::LocalSize as u32);
                    instruction.words.extend(sizes);
                }
            }
            (Op::ExecutionMode, Some(ExecutionMode::LocalSize)) => {
                if let Some(size) = &size {
                    instruction.words.truncate(2);
                    instruction.words.extend(size);
                }
            }
            _ => {}
        }
        if instruction.op == Op::TypeImage && instruction.word(6) == STORAGE_IMAGE {
            give_format(instruction, types);
        }
        if instruction.op == Op::ExecutionMode && mode.is_some() {
            // naga takes three numbers without looking.
            let local = instruction.word(1) == ExecutionMode::LocalSize as u32;
            while local && instruction.words.len() < 5 {
                instruction.words.push(1);
            }
        }
    }
    module.list.retain(|instruction| match instruction.op {
        Op::Capability => Capability::from_u32(instruction.word(0)).is_some(),
        Op::Extension | Op::DecorateId | Op::DecorateString | Op::MemberDecorateString => false,
        Op::LifetimeStart | Op::LifetimeStop | Op::AssumeTrueKHR | Op::Nop => false,
        Op::EntryPoint => compute.contains(&instruction.word(1)),
        Op::ExecutionMode => {
            instruction.word(1) == ExecutionMode::LocalSize as u32
                && compute.contains(&instruction.word(0))
        }
        Op::ExecutionModeId => false,
        Op::Decorate => Decoration::from_u32(instruction.word(1)).is_some(),
        Op::MemberDecorate => Decoration::from_u32(instruction.word(2)).is_some(),
        _ => true,
    });
}

/// Takes out how loads and stores access memory: naga's front end takes a word of it at most, and looks at none.
fn drop_memory_operands(module: &mut Instructions) {
    for instruction in &mut module.list {
        match instruction.op {
            Op::Load => instruction.words.truncate(3),
            Op::Store => instruction.words.truncate(2),
            _ => {}
        }
    }
}

/// An image that is stored to, in `OpTypeImage`.
const STORAGE_IMAGE: u32 = 2;

/// Gives a storage image without a format, which naga cannot hold, the widest of its type: every texel
/// that was stored in it is read back.
fn give_format(image: &mut words::Instruction, types: &BTreeMap<u32, Type>) {
    let format = match types.get(&image.word(1)) {
        Some(Type::Int { signed: true, .. }) => ImageFormat::Rgba32i,
        Some(Type::Int { signed: false, .. }) => ImageFormat::Rgba32ui,
        _ => ImageFormat::Rgba32f,
    };
    if let Some(word @ 0) = image.words.get_mut(7) {
        *word = format as u32;
    }
}

/// naga's refusal, with the line where it names what it refuses.
fn refuse(
    error: &naga::front::spv::Error,
    module: &Instructions,
    shown: &Shown<'_>,
) -> ProgramError {
    use naga::front::spv::Error;
    let (found, what) = match error {
        Error::UnsupportedInstruction(_, op) => {
            let found = module.list.iter().find(|i| i.op as u32 == *op as u32);
            (found, format!("Op{op:?}, which naga does not read"))
        }
        Error::UnsupportedExtInst(number) => {
            let found = module.list.iter().find(|i| i.op == Op::ExtInst && i.word(3) == *number);
            let name = spirv::GlslStd450Op::from_u32(*number);
            let name = name.map_or_else(|| number.to_string(), |name| format!("{name:?}"));
            (found, format!("GLSL's function {name}, which naga does not read"))
        }
        Error::UnsupportedStorageClass(class) => {
            let name = spirv::StorageClass::from_u32(*class);
            let name = name.map_or_else(|| class.to_string(), |name| format!("{name:?}"));
            let found = module.list.iter().find(|i| i.op == Op::Variable && i.word(2) == *class);
            (found, format!("a variable of the storage class {name}, which naga does not read"))
        }
        Error::InvalidOperandCount(op, count) => {
            let alike = |i: &&words::Instruction| {
                i.op as u32 == *op as u32 && i.words.len() + 1 == usize::from(*count)
            };
            let words = count.saturating_sub(1);
            let what = format!("Op{op:?} with {words} operands, which naga does not read");
            (module.list.iter().find(alike), what)
        }
        other => {
            let id = match other {
                Error::InvalidId(id) | Error::InvalidTypeWidth(id) => Some(*id),
                _ => None,
            };
            let found = id.and_then(|id| module.list.iter().find(|i| i.result() == Some(id)));
            (found, format!("SPIR-V that naga refuses: {other}"))
        }
    };
    let place = found.and_then(|i| i.place).or_else(|| first_place(module));
    shown.unread(place, &what)
}

/// naga's verdict on the module that it made. Where it names no place, the refusal has the line that takes what
/// is refused, else the first of the code.
fn judge(
    parsed: &naga::Module,
    text: &Text,
    module: &Instructions,
    shown: &Shown<'_>,
) -> Result<(), ProgramError> {
    let Err(error) = run_validator(parsed, text, Capabilities::all())? else { return Ok(()) };
    if error.spans().next().is_some() {
        return Err(refusal(*error, parsed, text));
    }
    let (place, what) = match error.as_inner() {
        ValidationError::EntryPoint {
            source: EntryPointError::BindingCollision(second), ..
        } => shared_binding(parsed, *second, module),
        ValidationError::ConstExpression { .. } => unbounded_constant(module),
        _ => None,
    }
    .unwrap_or_else(|| (None, format!("SPIR-V that naga refuses: {}", reasons(error.as_inner()))));
    Err(shown.unread(place.or_else(|| first_place(module)), &what))
}

/// Variables at one binding: where the second of them is used first, and what they are.
fn shared_binding(
    parsed: &naga::Module,
    variable: naga::Handle<naga::GlobalVariable>,
    module: &Instructions,
) -> Option<(Option<FilePlace>, String)> {
    let binding = parsed.global_variables[variable].binding?;
    let alike = parsed.global_variables.iter().filter(|(_, v)| v.binding == Some(binding));
    let names: Vec<&str> = alike.filter_map(|(_, v)| v.name.as_deref()).collect();
    let decorated = |which: Decoration, number: u32| -> BTreeSet<u32> {
        let words = [which as u32, number];
        let all = module.list.iter().filter(|i| i.op == Op::Decorate);
        all.filter(|i| i.words.get(1..) == Some(&words)).map(|i| i.word(0)).collect()
    };
    let set = decorated(Decoration::DescriptorSet, binding.group);
    let bound = decorated(Decoration::Binding, binding.binding);
    let uses: BTreeMap<usize, Option<FilePlace>> =
        set.intersection(&bound).filter_map(|id| first_use(module, *id)).collect();
    let what = format!(
        "variables that share set {} and binding {} ({}), of which naga takes one alone; compile the \
         shader with one of them",
        binding.group,
        binding.binding,
        listed(&names)
    );
    Some((uses.into_values().nth(1).flatten(), what))
}

/// A constant that is infinite or no number: where it is used, and what it is.
fn unbounded_constant(module: &Instructions) -> Option<(Option<FilePlace>, String)> {
    let floats = module.list.iter().filter(|i| i.op == Op::TypeFloat);
    let widths: BTreeMap<u32, u32> = floats.map(|i| (i.word(0), i.word(1))).collect();
    let unbounded = |i: &&words::Instruction| {
        let exponent: u32 = match widths.get(&i.word(0)) {
            Some(16) => 0x7c00,
            Some(32) => 0x7f80_0000,
            Some(64) => 0x7ff0_0000,
            _ => return false,
        };
        i.op == Op::Constant && i.words.last().is_some_and(|high| high & exponent == exponent)
    };
    let found: Vec<u32> =
        module.list.iter().filter(unbounded).filter_map(words::Instruction::result).collect();
    let place = found.iter().find_map(|id| first_use(module, *id)?.1);
    let what = "a constant that is infinite or no number, which naga cannot hold; take a finite \
                number in its place";
    (!found.is_empty()).then(|| (place, what.to_owned()))
}

/// Other stages than compute were taken out of the entry points; what is left of them is unreachable.
fn drop_other_stages(module: &mut naga::Module) {
    module.entry_points.retain(|entry| entry.stage == naga::ShaderStage::Compute);
}

/// Lets what may only be written be read as well, as WGSL's storage buffers are.
fn let_read(module: &mut naga::Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        if let naga::AddressSpace::Storage { access } = &mut variable.space {
            *access |= naga::StorageAccess::LOAD;
        }
    }
}

/// Gives every variable that the host binds a name of its own: its block's where it has none.
fn name_variables(module: &mut naga::Module) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = Vec::new();
    for (handle, variable) in module.global_variables.iter() {
        let bound = variable.binding.is_some() || variable.space == naga::AddressSpace::Immediate;
        let given = variable.name.clone().filter(|name| !name.is_empty());
        let block = || module.types[variable.ty].name.clone().filter(|name| !name.is_empty());
        let numbered = || match variable.binding {
            Some(place) => format!("binding_{}_{}", place.group, place.binding),
            None => "immediates".to_owned(),
        };
        let name = match given {
            given if !bound => given,
            Some(given) => Some(given),
            None => Some(block().unwrap_or_else(numbered)),
        };
        let name = name.map(|name| match bound && !taken.insert(name.clone()) {
            true => format!("{name}_{}", numbered()),
            false => name,
        });
        names.push((handle, name));
    }
    for (handle, name) in names {
        module.global_variables.get_mut(handle).name = name;
    }
}
