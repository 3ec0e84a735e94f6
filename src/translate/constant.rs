//! Uniform buffers in constant memory.
//!
//! Input: the module's global variables. Output: which of them become `__constant__` variables, and
//! their declarations. It fills none: that is for whoever launches ([`Constant`]).
//!
//! An instruction can have an operand in constant memory, but none in a buffer; with the factors of
//! a multiply-add behind an address, a chain of them takes 1.8 times as long. A module has 64 KiB of
//! constant memory, so uniform buffers get it in the order of their declaration as long as they fit,
//! and the others stay pointers, as storage buffers are. Constants of the shader's own count too.

use std::collections::BTreeSet;

use naga::proc::NameKey;
use naga::{AddressSpace, GlobalVariable, Handle, TypeInner};

use super::{Result, Writer};

/// Constant memory of a module in bytes, on every NVIDIA GPU.
const MEMORY_BYTES: u32 = 64 << 10;

/// What sizes are rounded to when it is asked whether they fit: no alignment is larger, so that no
/// order of the variables takes more.
const GRANULE_BYTES: u32 = 32;

/// A variable in constant memory, which has the first bytes of a uniform buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name in the namespace `wgsl`.
    pub name: String,
    /// Bind group of the buffer.
    pub group: u32,
    /// Its binding.
    pub binding: u32,
    /// Size in bytes.
    pub size: u32,
}

impl Constant {
    /// The name that the module has for it: C++'s, with the namespace. Without one a uniform buffer
    /// called `clock` would be CUDA's.
    pub fn symbol(&self) -> String {
        format!("_ZN4wgsl{}{}E", self.name.len(), self.name)
    }
}

impl Writer<'_> {
    /// The uniform buffers that constant memory has room for.
    pub(super) fn in_constant_memory(&self) -> BTreeSet<Handle<GlobalVariable>> {
        let module = self.module;
        let granules = |ty| self.layouter[ty].size.div_ceil(GRANULE_BYTES);
        let own = module.constants.iter().map(|(_, constant)| constant);
        let own = own.filter(|constant| constant.name.is_some());
        let tables = own.filter(|c| !matches!(module.types[c.ty].inner, TypeInner::Scalar(_)));
        let mut used: u32 = tables.map(|constant| granules(constant.ty)).sum();
        let mut chosen = BTreeSet::new();
        for (handle, variable) in module.global_variables.iter() {
            let fits = used + granules(variable.ty) <= MEMORY_BYTES / GRANULE_BYTES;
            if variable.space == AddressSpace::Uniform && fits {
                used += granules(variable.ty);
                chosen.insert(handle);
            }
        }
        chosen
    }

    /// A uniform buffer in constant memory, with its declaration.
    pub(super) fn constant_buffer(
        &mut self,
        handle: Handle<GlobalVariable>,
        (group, binding): (u32, u32),
    ) -> Result<(String, Constant)> {
        let variable = &self.module.global_variables[handle];
        let ty = self.type_name(variable.ty, self.module.global_variables.get_span(handle))?;
        let name = self.name(&NameKey::GlobalVariable(handle));
        let layout = self.layouter[variable.ty];
        let alignment = layout.alignment.round_up(16);
        let text = format!("__constant__ alignas({alignment}) {ty} {name};\n");
        Ok((text, Constant { name, group, binding, size: layout.size }))
    }
}
