//! What is compiled and what comes of it: a module with what a pipeline adds, and machine code.
//!
//! Input: programs, which naga writes as SPIR-V. Output: [`ToCompile`] with the key of its code, and
//! [`Compiled`]. Nothing is compiled here.

use naga::back::spv::{Options, WriterFlags, ZeroInitializeWorkgroupMemoryMode, write_vec};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::{ScalarKind, TypeInner};

use crate::amd::Code;
use crate::kernel::Launch;
use crate::program::{Binding, Program, guard};
use crate::run::launched::sha256_bytes;
use crate::run::{RunError, RunErrorKind};

use super::place::RadvPlace;

/// A compiled entry point.
#[derive(Debug)]
pub struct Compiled {
    /// The code.
    pub code: Code,
    /// Its words.
    pub words: Vec<u32>,
    /// SHA-256 of the words, in hexadecimal.
    pub sha256: String,
    /// The listing's line of each instruction, where it has one.
    pub lines: Vec<Option<String>>,
}

/// What is compiled: the module and what a pipeline adds to it.
#[derive(Debug)]
pub struct ToCompile {
    /// SPIR-V.
    pub words: Vec<u32>,
    /// The entry point.
    pub entry_point: String,
    /// Group, binding and whether it is a uniform buffer, of each buffer.
    pub bindings: Vec<(u32, u32, bool)>,
    /// Bytes of immediates.
    pub immediate_bytes: u32,
}

impl ToCompile {
    /// What a program of a launch becomes: the module that would be timed, with checks where the launch
    /// is not trusted.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::BadInput`] for what cannot be written as SPIR-V, [`RunErrorKind::Unsupported`]
    /// for bindings that are no buffers.
    pub fn new(program: &Program, bindings: &[Binding], launch: &Launch) -> Result<Self, RunError> {
        let words = spirv(program, launch.workgroup_memory_zeroed, !launch.trusted)
            .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
        let place = |binding: &Binding| (binding.group, binding.binding, binding.uniform);
        Ok(Self {
            words,
            entry_point: program.entry_point().name.clone(),
            bindings: bindings.iter().map(place).collect(),
            immediate_bytes: u32::try_from(launch.immediates.len()).unwrap_or(u32::MAX),
        })
    }

    /// The key of its code at a place: the first half of a SHA-256, in hexadecimal.
    pub fn key(&self, place: RadvPlace) -> String {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let rest =
            format!("{place} {} {:?} {}", self.entry_point, self.bindings, self.immediate_bytes);
        bytes.extend(rest.as_bytes());
        sha256_bytes(&bytes)[..32].to_owned()
    }
}

/// SHA-256 of words of code, in hexadecimal.
pub(super) fn sha256_of(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    sha256_bytes(&bytes)
}

/// An index outside reads or writes the last element.
const CHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Restrict,
    buffer: BoundsCheckPolicy::Restrict,
    image_load: BoundsCheckPolicy::Restrict,
    binding_array: BoundsCheckPolicy::Restrict,
};

/// No index is checked.
const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// Whether a program works with floats anywhere: what has none is rounded nowhere.
pub(super) fn has_floats(program: &Program) -> bool {
    let (module, info) = (program.module(), program.info());
    let is_float = |ty: &naga::proc::TypeResolution| {
        let inner = ty.inner_with(&module.types);
        matches!(inner, TypeInner::Matrix { .. }) || inner.scalar_kind() == Some(ScalarKind::Float)
    };
    let entry_points = module.entry_points.iter().enumerate();
    let entry_points = entry_points.map(|(at, entry)| (&entry.function, info.get_entry_point(at)));
    let functions = module.functions.iter().map(|(handle, found)| (found, &info[handle]));
    entry_points.chain(functions).any(|(function, known)| {
        function.expressions.iter().any(|(handle, _)| is_float(&known[handle].ty))
    })
}

/// A program as naga writes it: with checks of indices and of divisions, or without any; loops are not
/// bounded, which ends none that ends. `zeroed` says whether workgroup memory begins as zeros.
///
/// # Errors
///
/// A sentence with naga's word.
fn spirv(program: &Program, zeroed: bool, checked: bool) -> Result<Vec<u32>, String> {
    let options = Options {
        lang_version: (1, 6),
        flags: WriterFlags::empty(),
        bounds_check_policies: if checked { CHECKED } else { UNCHECKED },
        zero_initialize_workgroup_memory: if zeroed {
            ZeroInitializeWorkgroupMemoryMode::Native
        } else {
            ZeroInitializeWorkgroupMemoryMode::None
        },
        force_loop_bounding: false,
        emit_int_div_checks: checked,
        ..Options::default()
    };
    let file = program.text().file();
    guard(file, "written as SPIR-V", || write_vec(program.module(), program.info(), &options, None))
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("naga cannot write {file} as SPIR-V: {error}"))
}
