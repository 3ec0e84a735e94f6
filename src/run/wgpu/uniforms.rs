//! Uniform buffers as read-only storage, for a driver that compiles for their values.
//!
//! Input: a module and what it binds. Output: the same with uniform buffers in the address space of
//! storage, or nothing where that cannot be done. Which driver wants it, [`folds_values`] says.
//!
//! lavapipe (seen in Mesa 22.3.6) reads the uniform buffers that a branch or a loop's end depends on
//! when a dispatch runs, folds their values into the shader, unrolls what has become constant, and
//! compiles the result, anew at each dispatch that follows a change of pipeline or bindings. For the
//! 32 arms of `sort/divergent` that is 2.5 s a dispatch, timestamps around it, whatever the number of
//! elements; from a storage buffer the same words take 0.7 ms. It also undoes what uniform buffers are
//! there for in this catalogue: constants that no compiler can fold. Storage is left alone.

use naga::{AddressSpace, Module, StorageAccess, TypeInner};
use wgpu::{AdapterInfo, Limits};

use super::gpu::{Slot, SlotKind};

/// The driver's name for itself, as wgpu gives it.
const LAVAPIPE: &str = "llvmpipe";

/// Whether the driver folds the values of uniform buffers into shaders as they are dispatched.
pub(super) fn folds_values(info: &AdapterInfo) -> bool {
    info.driver == LAVAPIPE
}

/// The module and its bindings with uniform buffers as read-only storage; nothing where it has none,
/// where functions take pointers to them, or where the device binds no more storage buffers.
pub(super) fn as_storage<'a>(
    module: &Module,
    slots: &[Slot<'a>],
    limits: &Limits,
) -> Option<(Module, Vec<Slot<'a>>)> {
    let uniform = |slot: &&Slot<'_>| slot.kind == SlotKind::Uniform;
    let fits = slots.len() <= limits.max_storage_buffers_per_shader_stage as usize;
    let pointed = module.types.iter().any(|(_, kind)| {
        matches!(
            kind.inner,
            TypeInner::Pointer { space: AddressSpace::Uniform, .. }
                | TypeInner::ValuePointer { space: AddressSpace::Uniform, .. }
        )
    });
    if pointed || !fits || slots.iter().find(uniform).is_none() {
        return None;
    }
    let mut module = module.clone();
    for (_, variable) in module.global_variables.iter_mut() {
        if variable.space == AddressSpace::Uniform {
            variable.space = AddressSpace::Storage { access: StorageAccess::LOAD };
        }
    }
    let mut slots = slots.to_vec();
    for slot in slots.iter_mut().filter(|slot| slot.kind == SlotKind::Uniform) {
        slot.kind = SlotKind::ReadOnly;
    }
    Some((module, slots))
}
