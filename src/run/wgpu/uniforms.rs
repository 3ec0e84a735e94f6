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

use naga::{AddressSpace, GlobalVariable, Module, StorageAccess, TypeInner};
use wgpu::{AdapterInfo, Limits};

use super::memory::WgpuMemory;
use crate::run::gpu::{Slot, SlotKind};

/// The driver's name for itself, as wgpu gives it.
const LAVAPIPE: &str = "llvmpipe";

/// Whether the driver folds the values of uniform buffers into shaders as they are dispatched.
pub(super) fn folds_values(info: &AdapterInfo) -> bool {
    info.driver == LAVAPIPE
}

/// The module and its bindings with uniform buffers as read-only storage; `None` if it has none,
/// where functions take pointers to them, or where the device binds no more storage buffers.
pub(super) fn as_storage<'a>(
    module: &Module,
    slots: &[Slot<'a, WgpuMemory>],
    limits: &Limits,
) -> Option<(Module, Vec<Slot<'a, WgpuMemory>>)> {
    let buffers = slots.iter().filter(|slot| matches!(slot.buffer, WgpuMemory::Buffer(_)));
    if buffers.count() > limits.max_storage_buffers_per_shader_stage as usize {
        return None;
    }
    let module = bind_as_storage(module)?;
    let mut slots = slots.to_vec();
    for slot in slots.iter_mut().filter(|slot| slot.kind == SlotKind::Uniform) {
        slot.kind = SlotKind::ReadOnly;
    }
    Some((module, slots))
}

/// The module with its uniform buffers in storage.
fn bind_as_storage(module: &Module) -> Option<Module> {
    let pointed = module.types.iter().any(|(_, kind)| {
        matches!(
            kind.inner,
            TypeInner::Pointer { space: AddressSpace::Uniform, .. }
                | TypeInner::ValuePointer { space: AddressSpace::Uniform, .. }
        )
    });
    let uniform = |variable: &GlobalVariable| variable.space == AddressSpace::Uniform;
    if pointed || !module.global_variables.iter().any(|(_, variable)| uniform(variable)) {
        return None;
    }
    let mut module = module.clone();
    for (_, variable) in module.global_variables.iter_mut() {
        if uniform(variable) {
            variable.space = AddressSpace::Storage { access: StorageAccess::LOAD };
        }
    }
    Some(module)
}

#[cfg(test)]
mod tests {
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    fn parsed(text: &str) -> Module {
        naga::front::wgsl::parse_str(text).unwrap()
    }

    #[test]
    fn uniform_buffers_become_read_only_storage_and_the_module_stays_valid() {
        let module = parsed(
            "struct Pair { count: u32, terms: array<vec4<f32>, 2> }
            @group(0) @binding(0) var<uniform> pair: Pair;
            @group(0) @binding(1) var<storage, read_write> output: array<f32>;
            @compute @workgroup_size(1) fn main() {
                let terms = &pair.terms;
                for (var i = 0u; i < pair.count; i++) { output[i] = (*terms)[i % 2u].y; }
            }",
        );
        let module = bind_as_storage(&module).unwrap();
        let spaces: Vec<AddressSpace> =
            module.global_variables.iter().map(|(_, variable)| variable.space).collect();
        let load = StorageAccess::LOAD;
        let both = load | StorageAccess::STORE;
        let storage = |access| AddressSpace::Storage { access };
        assert_eq!(spaces, [storage(load), storage(both)]);
        Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).unwrap();
    }

    #[test]
    fn what_has_no_uniform_buffer_or_points_to_one_is_left() {
        let without = "@group(0) @binding(0) var<storage, read_write> output: array<f32>;
            @compute @workgroup_size(1) fn main() { output[0] = 1.0; }";
        assert!(bind_as_storage(&parsed(without)).is_none());
        let pointed = "@group(0) @binding(0) var<uniform> first: vec4<f32>;
            @group(0) @binding(1) var<storage, read_write> output: array<f32>;
            fn read(pair: ptr<uniform, vec4<f32>>) -> f32 { return (*pair).x; }
            @compute @workgroup_size(1) fn main() { output[0] = read(&first); }";
        assert!(bind_as_storage(&parsed(pointed)).is_none());
    }
}
