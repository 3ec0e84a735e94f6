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
//! used twice or stands on another line than its use gets a variable. (`expression`, `materialise`)
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

mod constant;
mod error;
mod expression;
mod flow;
mod formula;
mod frame;
mod function;
mod keywords;
mod kind;
mod materialise;
mod math;
mod matrix;
mod operators;
mod place;
mod prelude;
mod statement;
mod subgroup;
mod text;
mod translated;
mod types;
mod uniform;
mod writer;

use naga::Module;
use naga::valid::ModuleInfo;

pub use error::Error;
pub use translated::{Checks, Constant, Length, Options, Parameter, Translated, WIDTH};

use crate::program::{Structure, Text, structure};
use translated::Result;
use writer::Writer;

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

impl Writer<'_> {
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
