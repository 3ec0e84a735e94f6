//! WGSL as CUDA C++: one compute entry point, as a text that NVRTC compiles and a person can read.
//!
//! Input: a validated module of one entry point with its overrides resolved (a
//! [`Program`](crate::program::Program)'s, or an [`Instrumented`](crate::instrument::Instrumented)
//! one), its analysis, the WGSL text. Output: [`Translated`]: the C++ text, the kernel's name and
//! what it takes. It compiles and runs nothing.
//!
//! # How it is written
//!
//! **Types** keep WGSL's names and layouts: `u32`, `vec3<f32>`, `array<vec3<f32>, 4>`; structures
//! are padded by hand and their sizes asserted. (`types`, `prelude`)
//!
//! **Variables.** Uniform buffers lie in constant memory, as long as its 64 KiB last. (`constant`)
//! Other buffers are pointer parameters of the kernel, `const` and `__restrict__` where WGSL allows;
//! lengths of run-time arrays come in one structure after them, immediates by value.
//! Workgroup variables are `__shared__` and begin as zeros
//! where that is asked for; private ones are members of a structure
//! that functions take by reference. Pointers are references. (`function`)
//!
//! **Expressions** are written where they are used, as naga's back ends do; what is loaded, named,
//! used twice or stands on another line than its use gets a variable. (`expression`, `bake`)
//!
//! **Integers** are those of `simulate`: they wrap, shifts take the amount modulo the width,
//! `x / 0` is x. (`operators`, `math`)
//!
//! **Bounds.** With [`Checks::Checked`], a read out of bounds gives zero, a write or atomic is
//! skipped, and an index inside a pointer that is passed on is clamped. (`place`)
//!
//! **Lines.** `#line` directives map each statement to its line of the WGSL.
//!
//! # Which lanes are active
//!
//! Subgroup operations of CUDA's take a mask of the lanes that take part. `__activemask` says which
//! lanes happen to be together, which is not what WGSL means. So the mask is *tracked*: it is
//! computed by `__ballot_sync(mask around, condition)` at each branch and loop in which a subgroup
//! operation is reachable, also through calls, which hand the mask on. A lane that breaks, continues
//! or returns inside such a construct notes so in `leaving` and skips the rest; where the construct
//! ends all lanes of the mask around it vote on who goes on. Lanes therefore meet again where
//! `simulate` says, whatever the machine does in between. Constructs without subgroup operations are
//! plain C++. (`flow`)

#![warn(clippy::wildcard_enum_match_arm)]

mod alike;
mod bake;
mod constant;
mod error;
mod expression;
mod flow;
mod formula;
mod function;
mod keywords;
mod kind;
mod math;
mod matrix;
mod operators;
mod place;
mod prelude;
mod statement;
mod subgroup;
mod types;

use std::collections::BTreeMap;

use naga::proc::{Layouter, NameKey, Namer};
use naga::valid::ModuleInfo;
use naga::{FastHashMap, GlobalVariable, Handle, Module, Span};

pub use constant::Constant;
pub use error::Error;

use self::prelude::Prelude;
use crate::program::{Structure, Text, structure};

/// Lanes of a subgroup on every NVIDIA GPU.
pub const WIDTH: u32 = 32;

/// How to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What happens to accesses out of bounds.
    pub checks: Checks,
    /// Whether workgroup variables begin as zeros; a kernel that writes them first need not wait.
    pub zero_memory: bool,
}

/// What happens to accesses out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// Reads give zero, writes and atomics are skipped.
    Checked,
    /// Nothing is asked: what is timed.
    Unchecked,
}

/// A translated entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// C++ for NVRTC, in the standard of 2020.
    pub source: String,
    /// The kernel's name; it has C linkage.
    pub kernel: String,
    /// The kernel's parameters, in order.
    pub parameters: Vec<Parameter>,
    /// What must lie in the module's constant memory before the kernel runs.
    pub constants: Vec<Constant>,
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Static workgroup memory in bytes.
    pub workgroup_bytes: u32,
}

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The address of the buffer at a binding.
    Buffer {
        /// Bind group.
        group: u32,
        /// Binding.
        binding: u32,
    },
    /// A structure by value: for each run-time array, in order, how many elements it has, as `u32`.
    Lengths(Vec<Length>),
    /// The immediates by value, of so many bytes.
    Immediates {
        /// Size in bytes.
        size: u32,
    },
}

/// How many elements a run-time array has: (the buffer's size − `offset`) ÷ `stride`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Bind group of the buffer.
    pub group: u32,
    /// Its binding.
    pub binding: u32,
    /// Where the array begins, in bytes.
    pub offset: u32,
    /// Bytes from an element to the next.
    pub stride: u32,
}

type Result<T> = std::result::Result<T, Error>;

/// Translates the entry point of a module.
///
/// # Errors
///
/// [`Error::Unsupported`] with the place of the first thing that has no translation,
/// [`Error::Layout`] where C++ cannot lay a type out as WGSL does.
pub fn cuda(
    module: &Module,
    info: &ModuleInfo,
    text: &Text,
    options: &Options,
) -> Result<Translated> {
    let structure = structure::analyse(module, info, text);
    Writer::new(module, info, text, options)?.module(&structure)
}

/// Writes a module.
struct Writer<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    text: &'a Text,
    checks: Checks,
    zero_memory: bool,
    layouter: Layouter,
    namer: Namer,
    names: FastHashMap<NameKey, String>,
    prelude: Prelude,
    /// For each function of the module, whether it reaches a subgroup operation.
    tracked: Vec<bool>,
    /// The uniform buffers that lie in constant memory, with the number of their copies.
    constant: BTreeMap<Handle<GlobalVariable>, u32>,
}

impl<'a> Writer<'a> {
    fn new(
        module: &'a Module,
        info: &'a ModuleInfo,
        text: &'a Text,
        options: &Options,
    ) -> Result<Self> {
        let mut namer = Namer::default();
        let mut names = FastHashMap::default();
        let insensitive = naga::proc::CaseInsensitiveKeywordSet::empty();
        namer.reset(
            module,
            &keywords::KEYWORDS,
            naga::proc::KeywordSet::empty(),
            insensitive,
            &["__"],
            &mut names,
        );
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).map_err(|error| Error::Layout {
            file: text.file().to_owned(),
            name: "a type".to_owned(),
            why: error.to_string(),
        })?;
        Ok(Self {
            module,
            info,
            text,
            checks: options.checks,
            zero_memory: options.zero_memory,
            layouter,
            namer,
            names,
            prelude: Prelude::default(),
            tracked: Vec::new(),
            constant: BTreeMap::new(),
        })
    }

    /// An error about something at a place in the source.
    fn unsupported(&self, what: impl Into<String>, span: Span) -> Error {
        let offset = span.to_range().filter(|range| range.end > 0).map_or(0, |range| range.start);
        let location = self.text.location(offset);
        Error::Unsupported {
            file: self.text.file().to_owned(),
            line: location.line,
            column: location.column,
            what: what.into(),
        }
    }

    /// The name that the namer gave.
    fn name(&self, key: &NameKey) -> String {
        self.names.get(key).cloned().unwrap_or_else(|| "unnamed".to_owned())
    }

    fn checked(&self) -> bool {
        self.checks == Checks::Checked
    }

    fn module(mut self, structure: &Structure) -> Result<Translated> {
        self.tracked = flow::tracked(structure);
        self.constant = self.in_constant_memory();
        let types = self.structs()?;
        let constants = self.constants()?;
        let globals = self.globals()?;
        let mut functions = String::new();
        for ((handle, function), body) in self.module.functions.iter().zip(&structure.functions) {
            functions.push('\n');
            functions.push_str(&self.function(handle, function, body)?);
        }
        let (kernel, text) = self.entry_point(&globals, &structure.entry_point)?;
        let entry = &self.module.entry_points[0];
        let source = [
            "#line 1 \"/lanescope/prelude.cu\"\n",
            &self.prelude.text(),
            "\nnamespace wgsl {\n",
            &types,
            &constants,
            &globals.declarations,
            &functions,
            "\n",
            &text,
            "\n} // namespace wgsl\n",
        ]
        .concat();
        Ok(Translated {
            source,
            kernel,
            parameters: globals.parameters,
            constants: globals.constants,
            block: entry.workgroup_size,
            workgroup_bytes: globals.workgroup_bytes,
        })
    }
}

#[cfg(test)]
mod tests;
