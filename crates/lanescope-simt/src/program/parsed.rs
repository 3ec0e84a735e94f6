//! A module that parsed, and the program of one of its entry points.
//!
//! Input: the text of a shader, and where its lines were made from where a preprocessor wrote it. Output: naga's module
//! with the text that is shown, validated; `resolve` chooses the entry point.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use naga::valid::ModuleInfo;
use naga::{Handle, Module, ShaderStage, Span};

use super::branch::{self, BlockFlow};
use super::error::ProgramError;
use super::fixed::{self, Fixed};
use super::followed::{self, Deciding, PlaceBounds};
use super::held::{self, Uses};
use super::overrides::Origin;
use super::returns;
use super::source::{OPERATORS_MAX, Text};
use super::spans::{self, Places};
use super::structure::{self, BlockInfo, Structure};
use super::validate::{guard, validate};
use crate::binary::{LinePlace, MappedWgsl, SourceFile};

/// What naga's parser says where something is nested too deeply for it.
const RECURSION: &str = "recursion limit";

/// Open brackets from which on they are taken for what was nested too deeply.
const DEEP: usize = 50;

/// A module that parsed and validated, before an entry point is chosen.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub(super) text: Arc<Text>,
    pub(super) module: Module,
    /// naga's analysis of the module as it stands; nothing where that is SPIR-V's.
    pub(super) info: Option<ModuleInfo>,
    /// What it was made from, where that is SPIR-V.
    pub(super) origin: Option<Arc<Origin>>,
}

/// One entry point's program, ready to run, to instrument or to translate.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) text: Arc<Text>,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    pub(super) structure: Structure,
    pub(super) findings: Findings,
}

/// What was found out of a program when it was first asked for: each takes a walk over all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// What follows the contents of buffers, and the numbers that bound places.
    deciding: OnceLock<(BTreeMap<String, Deciding>, PlaceBounds)>,
    /// What arrays hold.
    uses: OnceLock<Uses>,
}

/// A global variable that the host must bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The variable's name in the source.
    pub name: String,
    /// Bind group.
    pub group: u32,
    /// Binding in the group.
    pub binding: u32,
    /// Whether it is a uniform buffer; else a storage buffer.
    pub uniform: bool,
    /// Whether the shader may write it.
    pub writable: bool,
    /// The least size in bytes that holds it, with one element of a run-time array.
    pub size_min: u64,
    /// The variable in the module.
    pub handle: Handle<naga::GlobalVariable>,
}

impl Parsed {
    /// Parses and validates `text`; `file` is the name that messages show.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Parse`] and [`ProgramError::Validate`] with naga's diagnostic,
    /// [`ProgramError::Expression`] where one is too long, [`ProgramError::Nesting`] where one is too
    /// deep, and [`ProgramError::Panicked`] where naga
    /// itself failed.
    pub fn new(file: &str, text: &str) -> Result<Self, ProgramError> {
        let text = Text::new(file, text);
        if let Some(line) = text.too_long(OPERATORS_MAX) {
            let file = file.to_owned();
            return Err(ProgramError::Expression { file, line, max: OPERATORS_MAX });
        }
        let parsed = guard(file, "parsed", || naga::front::wgsl::parse_str(text.cleaned_text()))?;
        let mut module = parsed.map_err(|error| {
            let file = file.to_owned();
            let diagnostic = error.emit_to_string_with_path(text.original(), &file);
            let limit = diagnostic.contains(RECURSION);
            // naga gives this one without a place.
            if let Some((line, depth)) = text.deepest().filter(|(_, n)| limit && *n >= DEEP) {
                return ProgramError::Nesting { file, line, depth };
            }
            ProgramError::Parse { file, diagnostic }
        })?;
        returns::merge_implicit(&mut module);
        let text = Arc::new(text);
        let info = validate(&module, &text)?;
        Ok(Self { text, module, info: Some(info), origin: None })
    }

    /// Parses and validates WGSL that a preprocessor wrote; `file` is its name.
    ///
    /// Figures stand on the lines of the files that it was made from, as those of SPIR-V do. Code that was made from no
    /// line of a file whose text is known stands on its own lines of the WGSL, which then follows the files.
    ///
    /// # Errors
    ///
    /// As [`Parsed::new`], on the lines of the WGSL.
    pub fn from_mapped(file: &str, mapped: &MappedWgsl) -> Result<Self, ProgramError> {
        let written = Self::new(file, &mapped.text)?;
        if !mapped.lines.iter().flatten().any(|place| has_text(mapped, *place)) {
            return Ok(written);
        }
        let begins = |name: &&str| written.text.function_start(name);
        let begins = written.entry_points().first().and_then(begins).unwrap_or(0);
        let main = written.text.location(begins).line as usize - 1;
        let (text, places) = place_lines(file, mapped, main);
        let Self { text: written, mut module, info, .. } = written;
        let functions = module.functions.iter().filter_map(|(_, f)| f.name.clone());
        let entries = module.entry_points.iter().map(|entry| entry.name.clone());
        let end = |name: String| {
            let at = u32::try_from(written.function_end(&name)).unwrap_or(u32::MAX);
            (name, places.span_of(Span::new(at, at.saturating_add(1))))
        };
        let ends: BTreeMap<String, Span> = functions.chain(entries).map(end).collect();
        spans::put_lines(&mut module, &places, &ends);
        // Only places are changed.
        Ok(Self { text: Arc::new(text), module, info, origin: None })
    }

    /// The names of the compute entry points.
    pub fn entry_points(&self) -> Vec<&str> {
        let compute = self.module.entry_points.iter().filter(|e| e.stage == ShaderStage::Compute);
        compute.map(|entry| entry.name.as_str()).collect()
    }

    /// The text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The parsed module, with every entry point and unresolved overrides.
    pub fn module(&self) -> &Module {
        &self.module
    }
}

impl Program {
    /// The program of a module that a pass made of this one's, such as one with counters: the
    /// simulator runs it as any other.
    pub fn with_module(&self, module: Module, info: ModuleInfo) -> Self {
        let structure = structure::analyse(&module, &info, &self.text);
        let findings = Findings::default();
        Self { text: Arc::clone(&self.text), module, info, structure, findings }
    }

    /// The text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// naga's module: one entry point, no overrides, nothing unreachable.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// naga's analysis of the module.
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// The trees of basic blocks.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Every block, by number.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.structure.blocks
    }

    /// Why each block is entered, by number.
    pub fn flows(&self) -> Vec<BlockFlow> {
        branch::flows(&self.module, &self.structure, &self.text)
    }

    /// What follows the contents of each buffer, by the variable's name: conditions and indices. Buffers
    /// that decide nothing are left out.
    pub fn find_deciding(&self) -> BTreeMap<String, Deciding> {
        self.deciding().0.clone()
    }

    /// Which numbers of the host bound places of invocations, or counters of loops.
    pub fn find_place_bounds(&self) -> PlaceBounds {
        self.deciding().1.clone()
    }

    fn deciding(&self) -> &(BTreeMap<String, Deciding>, PlaceBounds) {
        let find = || followed::find_deciding(&self.module, &self.structure, &self.text);
        self.findings.deciding.get_or_init(find)
    }

    /// What arrays hold, as far as their use tells.
    pub(super) fn find_uses(&self) -> Uses {
        let (deciding, _) = self.deciding();
        let decides = |name: &str| deciding.get(name).is_some_and(|d| !d.conditions.is_empty());
        let find = || held::find_uses(&self.module, &self.info, &decides);
        self.findings.uses.get_or_init(find).clone()
    }

    /// Which values read from memory decide something.
    pub(crate) fn follow_values(&self) -> followed::Followed {
        followed::find_followed(&self.module, &self.structure, &self.text)
    }

    /// Whether the parts of 16 and of 32 lanes that have an active lane, which are counted at 64 lanes, are the
    /// executions at these widths: nothing asks for the width or for another lane's value, and no order of
    /// invocations (an atomic's) decides anything.
    pub fn parts_are_executions(&self) -> bool {
        let is_atomic = |ty: &naga::Type| matches!(ty.inner, naga::TypeInner::Atomic(_));
        !self.module.types.iter().any(|(_, ty)| is_atomic(ty))
            && !self.find_fixed().contains(&Fixed::Subgroup)
    }

    /// What ties an invocation to its place; nothing where invocations may change places.
    pub fn find_fixed(&self) -> BTreeSet<Fixed> {
        fixed::find_fixed(&self.module, &self.structure)
    }

    /// The entry point.
    pub fn entry_point(&self) -> &naga::EntryPoint {
        &self.module.entry_points[0]
    }

    /// Invocations a workgroup along x, y and z.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.entry_point().workgroup_size
    }
}

/// Whether the text of a place's file is known.
fn has_text(mapped: &MappedWgsl, place: LinePlace) -> bool {
    mapped.files.get(place.file).is_some_and(|file| file.text.is_some())
}

/// Whether a line of WGSL holds more than braces and a comment.
fn is_code(line: &str) -> bool {
    line.split("//").next().unwrap_or_default().contains(char::is_alphanumeric)
}

/// The text that is shown of WGSL that was made from other files, and the places of its lines in it. The file comes first
/// from which line `main`, from 0, was made.
fn place_lines(file: &str, mapped: &MappedWgsl, main: usize) -> (Text, Places) {
    let place = |line: usize| {
        let place = mapped.lines.get(line).copied().flatten();
        place.filter(|place| has_text(mapped, *place))
    };
    let lines: Vec<&str> = mapped.text.split('\n').collect();
    let main = place(main).or_else(|| (0..lines.len()).find_map(place)).map_or(0, |at| at.file);
    let mut used: BTreeSet<usize> = (0..lines.len()).filter_map(place).map(|at| at.file).collect();
    used.remove(&main);
    let order: Vec<usize> = std::iter::once(main).chain(used).collect();
    let mut sources: Vec<SourceFile> =
        order.iter().filter_map(|index| mapped.files.get(*index)).cloned().collect();
    let is_alone = |line: usize| place(line).is_none() && is_code(lines[line]);
    if (0..lines.len()).any(is_alone) {
        sources.push(SourceFile { name: file.to_owned(), text: Some(mapped.text.clone()) });
    }
    let parts: BTreeMap<usize, usize> =
        order.iter().enumerate().map(|(part, file)| (*file, part)).collect();
    let text = Text::joined(file, &sources);
    let mut places = Places::default();
    let mut start = 0;
    for (index, line) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let span = match place(index) {
            Some(at) => parts.get(&at.file).and_then(|part| text.line_span(*part, at.line, 1)),
            None if is_alone(index) => text.line_span(order.len(), number, 1),
            None => None,
        };
        let offset = start + line.len() - line.trim_start().len();
        let shown = span.and_then(Span::to_range).and_then(|range| text.original().get(range));
        if shown.is_some_and(|shown| shown.trim_end() == line.trim()) {
            places.verbatim.insert(offset);
        }
        places.spans.push((offset, span.unwrap_or(Span::UNDEFINED)));
        start += line.len() + 1;
    }
    (text, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_out_of_a_program_is_kept_and_not_handed_to_another() {
        let text = "@group(0) @binding(0) var<storage, read> v: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if v[id.x] > 7u { o[v[id.x]] = 1u; }
}
";
        let parsed = Parsed::new("t.wgsl", text).unwrap();
        let program = parsed.resolve("main", &BTreeMap::new()).unwrap();
        assert!(program.findings.deciding.get().is_none());
        let first = program.interface().unwrap();
        let findings = &program.findings;
        assert!(findings.deciding.get().is_some() && findings.uses.get() == Some(&first.uses));
        assert!(!first.uses.held.is_empty(), "{first:?}");
        assert_eq!(program.interface().unwrap(), first);
        let other = program.with_module(program.module().clone(), program.info().clone());
        assert!(other.findings.deciding.get().is_none() && other.findings.uses.get().is_none());
        assert_eq!(other.interface().unwrap(), first);
    }
}
