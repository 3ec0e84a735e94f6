//! Constants of a shader that its host may give values.
//!
//! Input: nothing. Output: how they are named and what they take; and what a SPIR-V module was made from,
//! so that it can be made anew with other values.

use std::collections::BTreeMap;

use crate::binary::SpirV;

/// Override values by name or by number, as WebGPU's pipeline constants.
pub type Overrides = BTreeMap<String, f64>;

/// An override of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Its name.
    pub name: String,
    /// The number that `@id` gave it.
    pub id: Option<u16>,
    /// The line of its declaration, from 1.
    pub line: u32,
    /// Whether the shader gives it a value.
    pub has_default: bool,
    /// Its type in WGSL's words, `bool` or a number.
    pub kind: OverrideKind,
}

/// The type of an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideKind {
    /// `bool`: 0 is false.
    Bool,
    /// An integer.
    Integer,
    /// A float.
    Float,
}

/// What a module of SPIR-V is parsed anew from, with other values for its constants.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The name that messages show.
    pub(super) file: String,
    /// The module.
    pub(super) spirv: SpirV,
    /// What may be given a value.
    pub(super) specials: Vec<Special>,
}

/// A specialisation constant.
#[derive(Clone, Debug)]
pub(super) struct Special {
    /// As it is shown.
    pub(super) shown: Override,
    /// Its number, of 32 bits.
    pub(super) number: u32,
    /// Bits and sign, where it is an integer.
    pub(super) integer: Option<(u32, bool)>,
}
