//! The only door to naga: text in, a validated program with numbered blocks out.
//!
//! Input: WGSL text and a file name for messages; then an entry point and override values. Output:
//! [`Program`]: naga's module for one entry point with its overrides resolved, the tree of its
//! basic blocks ([`structure`]), and the place of each in the source. It runs nothing and changes
//! no code: `instrument` and `translate` do.
//!
//! The way through: [`Parsed::new`] blanks directives that naga does not know ([`source`]), parses,
//! puts implicit returns where the source has them (`returns`), and validates; [`Parsed::resolve`] picks the entry point, drops what it does not reach, puts the
//! overrides in, validates again and numbers the blocks. Errors are naga's own diagnostics, shown
//! against the text as it was written.

pub mod branch;
pub mod builtin;
pub mod constructs;
pub mod emit;
pub(crate) mod followed;
mod lives;
pub mod loops;
mod needs;
pub mod operands;
mod pointers;
mod portable;
pub mod reflect;
mod returns;
mod shape;
pub mod source;
pub mod structure;
pub mod trips;
pub mod uniformity;
pub mod visit;
pub mod walk;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use naga::valid::{Capabilities, ModuleInfo, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{AddressSpace, Handle, Module, ShaderStage, TypeInner};

pub use branch::BlockFlow;
pub use constructs::Construct;
pub use emit::{Emission, Language, emit_all};
pub use needs::Needs;
pub(crate) use portable::ignore_uniformity;
pub use portable::{Portable, portable};
pub use reflect::{Access, Interface, Override, OverrideKind, Resource};
pub use source::{Location, Text};
pub use structure::{BlockInfo, Body, Case, Node, Straight, Structure};

/// Why naga finds a module invalid, with the places.
type InvalidModule = naga::WithSpan<naga::valid::ValidationError>;

/// The rule by which blocks' operations are counted, as records name it: 1 where jumps (`break`,
/// `continue`, `return`) count an operation, 2 where they count none.
pub const COUNTING_RULE: u32 = 2;

/// Operators of one expression: a chain of them takes about 400 bytes of stack each in naga's front
/// end, and up to some thousands in its back-ends.
pub const OPERATORS_MAX: u32 = 10_000;

/// What naga's parser says where something is nested too deeply for it.
const RECURSION: &str = "recursion limit";

/// Open brackets from which on they are taken for what was nested too deeply.
const DEEP: usize = 50;

/// Override values by name or by number, as WebGPU's pipeline constants.
pub type Overrides = BTreeMap<String, f64>;

/// A module that parsed and validated, before an entry point is chosen.
#[derive(Clone, Debug)]
pub struct Parsed {
    text: Arc<Text>,
    module: Module,
}

/// One entry point's program, ready to run, to instrument or to translate.
#[derive(Clone, Debug)]
pub struct Program {
    text: Arc<Text>,
    module: Module,
    info: ModuleInfo,
    structure: Structure,
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

/// Why a shader cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The text is no WGSL that naga knows; the message is naga's, with the place.
    #[error("{file} is not valid WGSL:\n{diagnostic}")]
    Parse {
        /// The file's name.
        file: String,
        /// naga's diagnostic against the original text.
        diagnostic: String,
    },
    /// An expression that is too long for naga, whose stages go down into it operator by operator.
    #[error(
        "{file}:{line}: the expression here has more than {max} operators, which naga cannot go \
         through; split it into several statements"
    )]
    Expression {
        /// The file's name.
        file: String,
        /// The line of the operator that is one too many.
        line: u32,
        /// The limit.
        max: u32,
    },
    /// Brackets are nested more deeply than naga goes.
    #[error(
        "{file}:{line}: brackets are nested {depth} deep here, more than naga goes; break it up"
    )]
    Nesting {
        /// The file's name.
        file: String,
        /// The line of the innermost bracket.
        line: u32,
        /// How many brackets are open there.
        depth: usize,
    },
    /// The module breaks a rule of WGSL.
    #[error("{file} does not validate:\n{diagnostic}")]
    Validate {
        /// The file's name.
        file: String,
        /// naga's diagnostic against the original text.
        diagnostic: String,
    },
    /// There is no such compute entry point.
    #[error("{file} has no compute entry point {name:?}; it has: {known}")]
    EntryPoint {
        /// The file's name.
        file: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// An override's value is missing or impossible.
    #[error("{file}: overrides: {message}")]
    Overrides {
        /// The file's name.
        file: String,
        /// What naga says.
        message: String,
    },
    /// Overrides that the entry point reads have no value.
    #[error("{file}:{line}: the shader gives no value to {names}")]
    OverridesMissing {
        /// The file's name.
        file: String,
        /// The line of the first.
        line: u32,
        /// Their names, worded.
        names: String,
    },
    /// A variable whose layout is not known.
    #[error("{file}:{line}: {name} holds {what}, which lanescope cannot fill")]
    Layout {
        /// The file's name.
        file: String,
        /// The line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// What it is or holds.
        what: &'static str,
    },
    /// A resource that lanescope cannot provide.
    #[error(
        "{file}:{line}: {name}, bound at @group({group}) @binding({binding}), is {what}, which \
         lanescope does not provide: only buffers can be bound; to profile the rest, read a storage \
         buffer in its place"
    )]
    Resource {
        /// The file's name.
        file: String,
        /// The line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// Its bind group.
        group: u32,
        /// Its binding.
        binding: u32,
        /// What kind of resource it is, with its article.
        what: &'static str,
    },
    /// One of naga's back-ends cannot write the module.
    #[error(
        "{file}:{line}: naga cannot write the entry point {entry:?} in {language}: {message}; \
         devices that take this language cannot run it"
    )]
    Emit {
        /// The file's name.
        file: String,
        /// The line of the entry point: back-ends tell no nearer place.
        line: u32,
        /// The entry point.
        entry: String,
        /// The language.
        language: Language,
        /// What naga says.
        message: String,
    },
    /// naga itself failed.
    #[error("naga panicked while it {stage} {file}: {message}; please report it to naga")]
    Panicked {
        /// The file's name.
        file: String,
        /// What it was doing.
        stage: &'static str,
        /// The panic's message.
        message: String,
    },
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
        let parsed = guarded(file, "parsed", || naga::front::wgsl::parse_str(text.cleaned()))?;
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
        validate(&module, &text)?;
        Ok(Self { text, module })
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

    /// Picks the compute entry point `name` and puts in override values.
    ///
    /// # Errors
    ///
    /// [`ProgramError::EntryPoint`] when there is none of that name, [`ProgramError::Overrides`]
    /// when a value is unknown or does not fit, [`ProgramError::OverridesMissing`] when there is
    /// none, [`ProgramError::Validate`] when the module
    /// is no longer valid with these values.
    pub fn resolve(&self, name: &str, overrides: &Overrides) -> Result<Program, ProgramError> {
        let file = self.text.file();
        if !self.entry_points().contains(&name) {
            return Err(ProgramError::EntryPoint {
                file: file.to_owned(),
                name: name.to_owned(),
                known: self.entry_points().join(", "),
            });
        }
        let mut module = self.module.clone();
        module.entry_points.retain(|e| e.stage == ShaderStage::Compute && e.name == name);
        let module = guarded(file, "resolved overrides of", || {
            naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
            let info = validate(&module, &self.text)?;
            let constants = self.constants(&module, overrides)?;
            naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
                .map(|(resolved, _)| resolved.into_owned())
                .map_err(|error| ProgramError::Overrides {
                    file: file.to_owned(),
                    message: error.to_string(),
                })
        })??;
        let info = validate(&module, &self.text)?;
        let structure = structure::analyse(&module, &info, &self.text);
        Ok(Program { text: Arc::clone(&self.text), module, info, structure })
    }
}

impl Parsed {
    /// The values by the keys that naga looks for, of the overrides that are left in `module`.
    ///
    /// Naga refuses a key that its module does not have, and each entry point may read some only.
    fn constants(
        &self,
        module: &Module,
        values: &Overrides,
    ) -> Result<naga::back::PipelineConstants, ProgramError> {
        let file = self.text.file().to_owned();
        let overrides = self.overrides();
        let mut given = BTreeMap::new();
        for (word, value) in values {
            let known =
                |o: &&Override| o.name == *word || o.id.is_some_and(|id| id.to_string() == *word);
            let Some(found) = overrides.iter().find(known) else {
                let names: Vec<&str> = overrides.iter().map(|o| o.name.as_str()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let message = format!("there is no override {word:?}; the shader has: {names}");
                return Err(ProgramError::Overrides { file, message });
            };
            if let Some(needed) = reflect::unfit(self.module(), &found.name, *value) {
                let (name, line) = (&found.name, found.line);
                let message = format!("`{name}` (line {line}) is {value}, and must be {needed}");
                return Err(ProgramError::Overrides { file, message });
            }
            given.insert(found.name.clone(), *value);
        }
        let left = |o: &&Override| {
            module.overrides.iter().any(|(_, left)| left.name.as_deref() == Some(o.name.as_str()))
        };
        let missing: Vec<&Override> = overrides
            .iter()
            .filter(left)
            .filter(|o| !o.has_default && !given.contains_key(&o.name))
            .collect();
        if let Some(first) = missing.first() {
            let names: Vec<String> =
                missing.iter().map(|o| format!("`{}` (line {})", o.name, o.line)).collect();
            let names = names.join(", ");
            return Err(ProgramError::OverridesMissing { file, line: first.line, names });
        }
        let pairs = overrides.iter().filter(left).filter_map(|o| {
            let key = o.id.map_or_else(|| o.name.clone(), |id| id.to_string());
            Some((key, *given.get(&o.name)?))
        });
        Ok(pairs.collect())
    }
}

impl Program {
    /// The program of a module that a pass made of this one's, such as one with counters: the
    /// simulator runs it as any other.
    pub fn with_module(&self, module: Module, info: ModuleInfo) -> Self {
        let structure = structure::analyse(&module, &info, &self.text);
        Self { text: Arc::clone(&self.text), module, info, structure }
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

    /// The forms of control flow that the entry point and the functions that it reaches use.
    pub fn constructs(&self) -> std::collections::BTreeSet<Construct> {
        constructs::of(self)
    }

    /// Which values read from memory decide something.
    pub(crate) fn followed(&self) -> followed::Followed {
        followed::of(&self.module, &self.structure, &self.text)
    }

    /// The entry point.
    pub fn entry_point(&self) -> &naga::EntryPoint {
        &self.module.entry_points[0]
    }

    /// Invocations a workgroup along x, y and z.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.entry_point().workgroup_size
    }

    /// The buffers that the entry point uses, by group and binding.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Resource`] for textures, samplers, binding arrays and acceleration
    /// structures, naming the first with its line.
    pub fn bindings(&self) -> Result<Vec<Binding>, ProgramError> {
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(self.module.to_ctx()).map_err(|error| ProgramError::Validate {
            file: self.text.file().to_owned(),
            diagnostic: error.to_string(),
        })?;
        let mut bindings = Vec::new();
        for (handle, variable) in self.module.global_variables.iter() {
            let Some(place) = variable.binding else { continue };
            let name = variable.name.clone().unwrap_or_default();
            let writable = match variable.space {
                AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
                AddressSpace::Uniform => false,
                _ => {
                    let span = self.module.global_variables.get_span(handle);
                    let offset = span.to_range().map_or(0, |range| range.start);
                    return Err(ProgramError::Resource {
                        file: self.text.file().to_owned(),
                        line: self.text.location(offset).line,
                        name,
                        group: place.group,
                        binding: place.binding,
                        what: resource(&self.module.types[variable.ty].inner),
                    });
                }
            };
            bindings.push(Binding {
                name,
                group: place.group,
                binding: place.binding,
                uniform: variable.space == AddressSpace::Uniform,
                writable,
                size_min: u64::from(layouter[variable.ty].size),
                handle,
            });
        }
        bindings.sort_by_key(|binding| (binding.group, binding.binding));
        Ok(bindings)
    }
}

/// What a user calls a resource of this type.
fn resource(inner: &TypeInner) -> &'static str {
    match *inner {
        TypeInner::Image { .. } => "a texture",
        TypeInner::Sampler { .. } => "a sampler",
        TypeInner::AccelerationStructure { .. } => "an acceleration structure",
        TypeInner::BindingArray { .. } => "a binding array",
        TypeInner::Scalar(_)
        | TypeInner::Vector { .. }
        | TypeInner::Matrix { .. }
        | TypeInner::CooperativeMatrix { .. }
        | TypeInner::Atomic(_)
        | TypeInner::Pointer { .. }
        | TypeInner::ValuePointer { .. }
        | TypeInner::Array { .. }
        | TypeInner::Struct { .. }
        | TypeInner::RayQuery { .. } => "a resource outside buffers",
    }
}

/// The elements of an array, where its type says how many: nothing for run-time arrays.
///
/// In workgroup memory the number may be an override's, to which the type still refers after
/// overrides are resolved.
pub fn array_length(module: &Module, size: naga::ArraySize) -> Option<u32> {
    match size.resolve(module.to_ctx()) {
        Ok(naga::proc::IndexableLength::Known(length)) => Some(length),
        Ok(naga::proc::IndexableLength::Dynamic) | Err(_) => None,
    }
}

/// Validates a module with everything allowed that some device can run.
///
/// # Errors
///
/// [`ProgramError::Validate`] with naga's diagnostic against the original text.
pub fn validate(module: &Module, text: &Text) -> Result<ModuleInfo, ProgramError> {
    validated(module, text, Capabilities::all())?.map_err(|error| ProgramError::Validate {
        file: text.file().to_owned(),
        diagnostic: placed(*error, module, text)
            .emit_to_string_with_path(text.original(), text.file()),
    })
}

/// Gives an error for which naga names no place the nearest that is known: the entry point, the type.
fn placed(error: InvalidModule, module: &Module, text: &Text) -> InvalidModule {
    if error.spans().next().is_some() {
        return error;
    }
    let (span, what) = match error.as_inner() {
        naga::valid::ValidationError::EntryPoint { name, .. } => {
            (text.function_start(name).map(|start| span_of(start, 2)), "this entry point")
        }
        naga::valid::ValidationError::Layouter(wrong) => {
            (first_of_type(module, wrong.ty), "declared here")
        }
        _ => (None, ""),
    };
    match span {
        Some(span) => error.with_span(span, what),
        None => error,
    }
}

/// A place by its first byte and its length.
fn span_of(start: usize, length: usize) -> naga::Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    naga::Span::new(offset(start), offset(start + length))
}

/// Where a type is declared, else the first variable that has it.
fn first_of_type(module: &Module, ty: Handle<naga::Type>) -> Option<naga::Span> {
    let declared = module.types.get_span(ty);
    let variables = || {
        let mut variables = module.global_variables.iter();
        let found = variables.find(|(_, variable)| variable.ty == ty);
        found.map(|(handle, _)| module.global_variables.get_span(handle))
    };
    declared.is_defined().then_some(declared).or_else(variables)
}

/// naga's verdict on a module where only `capabilities` are allowed.
fn validated(
    module: &Module,
    text: &Text,
    capabilities: Capabilities,
) -> Result<Result<ModuleInfo, Box<InvalidModule>>, ProgramError> {
    guarded(text.file(), "validated", || {
        let mut validator = Validator::new(ValidationFlags::all(), capabilities);
        validator.subgroup_stages(naga::valid::ShaderStages::all());
        validator.subgroup_operations(SubgroupOperationSet::all());
        validator.validate(module).map_err(Box::new)
    })
}

/// Runs a stage of naga and turns a panic into an error.
///
/// # Errors
///
/// [`ProgramError::Panicked`] with the panic's message.
pub fn guarded<T>(
    file: &str,
    stage: &'static str,
    work: impl FnOnce() -> T,
) -> Result<T, ProgramError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "no message".to_owned());
        ProgramError::Panicked { file: file.to_owned(), stage, message }
    })
}

#[cfg(test)]
mod tests;
