//! A program as the SPIR-V that RADV compiles.
//!
//! Input: a program. Output: SPIR-V words, as wgpu has naga write them for a module that is timed:
//! without checks of bounds, loops and divisions.

use naga::back::spv::{Options, WriterFlags, ZeroInitializeWorkgroupMemoryMode, write_vec};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use crate::program::{Program, guarded};

/// No index is checked.
const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// The words; `zeroed` says whether workgroup memory begins as zeros.
///
/// # Errors
///
/// A sentence with naga's word.
pub(super) fn words(program: &Program, zeroed: bool) -> Result<Vec<u32>, String> {
    let options = Options {
        lang_version: (1, 6),
        flags: WriterFlags::empty(),
        bounds_check_policies: UNCHECKED,
        zero_initialize_workgroup_memory: if zeroed {
            ZeroInitializeWorkgroupMemoryMode::Native
        } else {
            ZeroInitializeWorkgroupMemoryMode::None
        },
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..Options::default()
    };
    let file = program.text().file();
    guarded(file, "written as SPIR-V", || {
        write_vec(program.module(), program.info(), &options, None)
    })
    .map_err(|error| error.to_string())?
    .map_err(|error| format!("naga cannot write {file} as SPIR-V: {error}"))
}
