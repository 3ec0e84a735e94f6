//! The only door to naga: text in, a validated program with numbered blocks out.
//!
//! Input: WGSL text, with a map of its lines or without, or SPIR-V ([`read_spirv`]), and a file name for messages; then an entry point and override values. Output:
//! [`Program`]: naga's module for one entry point with its overrides resolved, the tree of its
//! basic blocks ([`structure`]), and the place of each in the source. It runs nothing and changes
//! no code: `instrument` and `translate` do.
//!
//! The way through: [`Parsed::new`] blanks directives that naga does not know ([`source`]), parses,
//! puts implicit returns where the source has them (`returns`), and validates; [`Parsed::resolve`] picks the entry point, drops what it does not reach, puts the
//! overrides in, validates again and numbers the blocks. Errors are naga's own diagnostics, shown
//! against the text as it was written.

mod axes;
mod bound;
pub mod branch;
pub mod builtin;
pub mod constructs;
#[cfg(feature = "emit")]
pub mod emit;
mod error;
pub mod exits;
mod fixed;
mod flow;
pub(crate) mod followed;
mod held;
pub mod loops;
mod needs;
pub mod operands;
mod overrides;
mod parsed;
mod pointers;
mod portable;
pub mod reflect;
mod resolve;
mod returns;
mod scopes;
mod shape;
pub mod source;
mod spans;
mod spirv;
pub mod structure;
pub mod trips;
pub mod uniformity;
mod validate;
pub mod visit;
pub mod walk;

pub(crate) use bound::view_of;
pub use bound::{Bound, BoundSampler, BoundTexture};
pub use branch::BlockFlow;
pub use constructs::Construct;
#[cfg(feature = "emit")]
pub use emit::{Emission, emit_all};
pub use error::{ProgramError, TargetLanguage};
pub use fixed::Fixed;
pub use followed::{Deciding, PlaceBounds};
pub use held::{Held, Uses};
pub use needs::Needs;
pub use overrides::{Override, OverrideKind, Overrides};
pub use parsed::{Binding, Parsed, Program};
pub(crate) use portable::ignore_uniformity;
pub use portable::{Portable, portable};
pub use reflect::{BindingAccess, Interface, Resource};
pub use source::{Location, OPERATORS_MAX, SourcePart, Text};
pub use spirv::read_spirv;
pub use structure::{BlockInfo, Body, Case, Node, Straight, Structure};
pub use validate::{array_length, catch_panic, guard, panic_is_caught, validate};

pub use crate::units::COUNTING_RULE;

#[cfg(test)]
mod tests;
