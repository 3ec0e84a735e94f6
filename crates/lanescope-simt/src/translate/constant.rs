//! Uniform buffers in constant memory.
//!
//! Input: the module's global variables. Output: which of them become `__constant__` variables, and
//! their declarations. It fills none: that is for whoever launches ([`Constant`]).
//!
//! An instruction can have an operand in constant memory, but none in a buffer; with both factors of
//! a multiply-add in registers, a chain of them takes 1.8 times as long. NVIDIA's assembler takes
//! them to registers all the same where it can load two neighbours at once, eight bytes aligned to
//! eight. So small structures lie there twice: numbers at odd words are read from the second copy,
//! where none of the first is a neighbour.
//!
//! A module has 64 KiB of constant memory, so uniform buffers get it in the order of their
//! declaration as long as they fit, and the others stay pointers, as storage buffers are. Constants of
//! the shader's own count too.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "members of structures are few forms of expressions and types"
)]

use std::collections::BTreeMap;

use naga::proc::NameKey;
use naga::{AddressSpace, Expression, GlobalVariable, Handle, StructMember, Type, TypeInner};

use super::frame::TranslatedFunction;
use super::{Constant, Result, Writer};

/// Constant memory of a module in bytes, on every NVIDIA GPU.
const MEMORY_BYTES: u32 = 64 << 10;

/// What sizes are rounded to when it is asked whether they fit: no alignment is larger, so that no
/// order of the variables takes more.
const GRANULE_BYTES: u32 = 32;

/// The largest structure that lies there twice, in bytes.
const TWICE_BYTES_MAX: u32 = 1 << 10;

/// The bytes of a number whose neighbours are read apart from it.
const WORD_BYTES: u32 = 4;

impl<'a> Writer<'a> {
    /// The uniform buffers that constant memory has room for, with the number of their copies.
    pub(super) fn in_constant_memory(&self) -> BTreeMap<Handle<GlobalVariable>, u32> {
        let module = self.module;
        let granules = |ty| self.layouter[ty].size.div_ceil(GRANULE_BYTES);
        let named = module.constants.iter().map(|(_, constant)| constant);
        let named = named.filter(|constant| constant.name.is_some());
        let tables = named.filter(|c| !matches!(module.types[c.ty].inner, TypeInner::Scalar(_)));
        let mut used: u32 = tables.map(|constant| granules(constant.ty)).sum();
        let mut chosen = BTreeMap::new();
        for (handle, variable) in module.global_variables.iter() {
            let copies = self.copies(variable.ty);
            let needed = copies * granules(variable.ty);
            let fits = used + needed <= MEMORY_BYTES / GRANULE_BYTES;
            if variable.space == AddressSpace::Uniform && fits {
                used += needed;
                chosen.insert(handle, copies);
            }
        }
        chosen
    }

    /// How many copies of a type lie in constant memory.
    fn copies(&self, ty: Handle<Type>) -> u32 {
        let small = self.layouter[ty].size <= TWICE_BYTES_MAX;
        let TypeInner::Struct { ref members, .. } = self.module.types[ty].inner else { return 1 };
        let odd = |member: &StructMember| {
            let inner = &self.module.types[member.ty].inner;
            matches!(inner, TypeInner::Scalar(_))
                && self.layouter[member.ty].size == WORD_BYTES
                && is_odd(member.offset)
        };
        1 + u32::from(small && members.iter().any(odd))
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
        let copies = self.copies(variable.ty);
        let array = if copies > 1 { format!("[{copies}]") } else { String::new() };
        let text = format!("__constant__ alignas({alignment}) {ty} {name}{array};\n");
        // A vector of three has no padding behind it, in C++ neither.
        let size = layout.size;
        Ok((text, Constant { name, group, binding, size, copies }))
    }

    /// What is read of a place in constant memory: numbers at odd words from the second copy.
    pub(super) fn copy_read(
        &self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
        text: &str,
    ) -> Option<String> {
        let (variable, offset) = self.member_offset(frame, pointer)?;
        let twice = self.constant.get(&variable).is_some_and(|copies| *copies > 1);
        let word = match self.pointee(frame, pointer) {
            TypeInner::Scalar(scalar) => u32::from(scalar.width) == WORD_BYTES,
            _ => false,
        };
        if !twice || !word || !is_odd(offset) {
            return None;
        }
        let name = self.name(&NameKey::GlobalVariable(variable));
        let rest = text.strip_prefix(&format!("{name}[0]"))?;
        Some(format!("{name}[1]{rest}"))
    }

    /// The variable whose member a pointer leads to, and where in it that stands, in bytes.
    fn member_offset(
        &self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> Option<(Handle<GlobalVariable>, u32)> {
        let (base, index) = match frame.function.expressions[pointer] {
            Expression::GlobalVariable(variable) => return Some((variable, 0)),
            Expression::AccessIndex { base, index } => (base, index),
            _ => return None,
        };
        let (variable, offset) = self.member_offset(frame, base)?;
        match *self.pointee(frame, base) {
            TypeInner::Struct { ref members, .. } => {
                Some((variable, offset + members.get(index as usize)?.offset))
            }
            _ => None,
        }
    }
}

/// Whether a place is the second word of an aligned pair.
fn is_odd(offset: u32) -> bool {
    offset / WORD_BYTES % 2 == 1
}
