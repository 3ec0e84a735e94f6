//! Types, constants and the layout of memory.
//!
//! Input: naga's types. Output: their names in C++, and the definitions of structures, padded so
//! that each member stands where WGSL has it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "constants are few forms of expressions, and everything else is refused"
)]

use std::fmt::Write as _;

use naga::proc::NameKey;
use naga::{
    Arena, ArraySize, Expression, Handle, Scalar, Span, StructMember, Type, TypeInner, VectorSize,
};

use super::kind;
use super::{Error, Result, Writer};
use crate::program::array_length;
use crate::program::builtin::BuiltinKind;

impl Writer<'_> {
    /// A scalar type's name.
    pub(super) fn scalar_name(&mut self, scalar: Scalar, span: Span) -> Result<&'static str> {
        Ok(self.kind(scalar, span)?.name())
    }

    /// A scalar type.
    pub(super) fn kind(&mut self, scalar: Scalar, span: Span) -> Result<BuiltinKind> {
        let kind = BuiltinKind::new(scalar)
            .ok_or_else(|| self.unsupported(format!("scalars of type {scalar:?}"), span))?;
        if kind == BuiltinKind::F16 {
            self.prelude.need("f16");
        }
        Ok(kind)
    }

    /// A vector type's name.
    pub(super) fn vector_name(
        &mut self,
        size: VectorSize,
        scalar: Scalar,
        span: Span,
    ) -> Result<String> {
        let scalar = self.scalar_name(scalar, span)?;
        let size = size as u32;
        self.prelude.need(&format!("vec{size}"));
        Ok(format!("vec{size}<{scalar}>"))
    }

    /// The name of a type of the module.
    pub(super) fn type_name(&mut self, ty: Handle<Type>, span: Span) -> Result<String> {
        let module = self.module;
        if let TypeInner::Struct { .. } = module.types[ty].inner {
            return Ok(self.name(&NameKey::Type(ty)));
        }
        self.inner_name(&module.types[ty].inner, span)
    }

    /// The name of a type; structures have theirs by their handle only.
    pub(super) fn inner_name(&mut self, inner: &TypeInner, span: Span) -> Result<String> {
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => {
                Ok(self.scalar_name(scalar, span)?.to_owned())
            }
            TypeInner::Vector { size, scalar } => self.vector_name(size, scalar, span),
            TypeInner::Matrix { columns, rows, scalar } => {
                let column = self.vector_name(rows, scalar, span)?;
                if rows == VectorSize::Tri {
                    self.prelude.need("array_of_vec3");
                }
                self.prelude.need("matrix");
                Ok(format!("matrix<{}, {column}>", columns as u32))
            }
            TypeInner::Array { base, size, stride } => self.array_name(base, size, stride, span),
            TypeInner::Struct { .. }
            | TypeInner::CooperativeMatrix { .. }
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => {
                Err(self.unsupported(format!("values of type {inner:?}"), span))
            }
        }
    }

    fn array_name(
        &mut self,
        base: Handle<Type>,
        size: ArraySize,
        stride: u32,
        span: Span,
    ) -> Result<String> {
        let element = self.type_name(base, span)?;
        if self.layouter[base].to_stride() != stride {
            return Err(Error::Layout {
                file: self.text.file().to_owned(),
                name: format!("array<{element}>"),
                why: format!("its elements stand {stride} bytes apart"),
            });
        }
        let inner = &self.module.types[base].inner;
        let padded = matches!(inner, TypeInner::Vector { size: VectorSize::Tri, .. });
        let suffix = if padded { "_of_vec3" } else { "" };
        match (size, array_length(self.module, size)) {
            (ArraySize::Dynamic, _) => {
                self.prelude.need(&format!("runtime_array{suffix}"));
                Ok(format!("runtime_array<{element}>"))
            }
            (_, Some(length)) => {
                self.prelude.need(&format!("array{suffix}"));
                Ok(format!("array<{element}, {length}u>"))
            }
            (_, None) => Err(self.unsupported("arrays whose length is not known", span)),
        }
    }

    /// The definitions of all structures.
    pub(super) fn structs(&mut self) -> Result<String> {
        let mut text = String::new();
        for (handle, ty) in self.module.types.iter() {
            let TypeInner::Struct { ref members, span } = ty.inner else { continue };
            text.push('\n');
            text.push_str(&self.structure(handle, members, span)?);
        }
        Ok(text)
    }

    fn structure(
        &mut self,
        ty: Handle<Type>,
        members: &[StructMember],
        size: u32,
    ) -> Result<String> {
        let place = self.module.types.get_span(ty);
        let name = self.name(&NameKey::Type(ty));
        let alignment = self.layouter[ty].alignment;
        let mut text = format!("struct alignas({}) {name} {{\n", alignment_bytes(alignment));
        let mut end = 0;
        let mut runtime = false;
        for (index, member) in (0..).zip(members) {
            let member_type = self.type_name(member.ty, place)?;
            let member_name = self.name(&NameKey::StructMember(ty, index));
            let inner = &self.module.types[member.ty].inner;
            let aligned = cpp_alignment(self, member.ty).round_up(end);
            if member.offset > aligned {
                let _ = writeln!(text, "    unsigned char pad{end}_[{}];", member.offset - end);
            } else if member.offset < aligned {
                return Err(Error::Layout {
                    file: self.text.file().to_owned(),
                    name: format!("{name}.{member_name}"),
                    why: format!("it stands at byte {}", member.offset),
                });
            }
            let _ = writeln!(text, "    {member_type} {member_name};");
            end = member.offset + cpp_size(self, member.ty);
            runtime |= matches!(inner, TypeInner::Array { size: ArraySize::Dynamic, .. });
        }
        text.push_str("};\n");
        if !runtime && members.iter().all(|member| member.binding.is_none()) {
            let bytes = alignment.round_up(size);
            if alignment.round_up(end) < bytes {
                // The structure's own size is larger than its members need.
                let padding = format!("    unsigned char pad{end}_[{}];\n}};\n", bytes - end);
                text.truncate(text.len() - 3);
                text.push_str(&padding);
            }
            let _ = writeln!(text, "static_assert(sizeof({name}) == {bytes}, \"WGSL's layout\");");
        }
        Ok(text)
    }

    /// The definitions of the module's named constants.
    pub(super) fn constants(&mut self) -> Result<String> {
        let mut text = String::new();
        let module = self.module;
        for (handle, constant) in module.constants.iter() {
            if constant.name.is_none() || self.inline(constant.ty) {
                continue;
            }
            let span = module.constants.get_span(handle);
            let ty = self.type_name(constant.ty, span)?;
            let name = self.name(&NameKey::Constant(handle));
            let value = self.constant(&module.global_expressions, constant.init, span)?;
            let qualifier = match module.types[constant.ty].inner {
                TypeInner::Scalar(_) => "constexpr",
                _ => "__constant__ const",
            };
            let _ = writeln!(text, "{qualifier} {ty} {name} = {value};");
        }
        if !text.is_empty() {
            text.insert(0, '\n');
        }
        Ok(text)
    }

    /// Whether constants of a type are written where they are used: halves are made at run time.
    fn inline(&self, ty: Handle<Type>) -> bool {
        match self.module.types[ty].inner {
            TypeInner::Scalar(scalar)
            | TypeInner::Vector { scalar, .. }
            | TypeInner::Matrix { scalar, .. } => {
                BuiltinKind::new(scalar).is_none_or(|k| k == BuiltinKind::F16)
            }
            TypeInner::Array { base, .. } => self.inline(base),
            TypeInner::Struct { ref members, .. } => {
                members.iter().any(|member| self.inline(member.ty))
            }
            TypeInner::Atomic(_)
            | TypeInner::CooperativeMatrix { .. }
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => true,
        }
    }

    /// A constant expression.
    pub(super) fn constant(
        &mut self,
        arena: &Arena<Expression>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<String> {
        match arena[handle] {
            Expression::Literal(literal) => {
                if let naga::Literal::F16(_) = literal {
                    self.prelude.need("f16");
                }
                kind::literal(literal).ok_or_else(|| self.unsupported("abstract numbers", span))
            }
            Expression::Constant(constant) => {
                let found = &self.module.constants[constant];
                if found.name.is_some() && !self.inline(found.ty) {
                    return Ok(self.name(&NameKey::Constant(constant)));
                }
                self.constant(&self.module.global_expressions, found.init, span)
            }
            Expression::ZeroValue(ty) => self.zero(ty, span),
            Expression::Compose { ty, ref components } => {
                if let TypeInner::Vector { .. } = self.module.types[ty].inner {
                    let parts = self.constant_parts(arena, handle, span)?;
                    return self.compose(ty, &parts, span);
                }
                let mut parts = Vec::new();
                for &component in components {
                    parts.push(self.constant(arena, component, span)?);
                }
                self.compose(ty, &parts, span)
            }
            Expression::Splat { size, value } => {
                let parts = self.constant_parts(arena, handle, span)?;
                let name = match arena[value] {
                    Expression::Literal(literal) => {
                        self.vector_name(size, literal.scalar(), span)?
                    }
                    Expression::ZeroValue(ty) => match self.module.types[ty].inner {
                        TypeInner::Scalar(scalar) => self.vector_name(size, scalar, span)?,
                        _ => return Err(self.unsupported("this constant expression", span)),
                    },
                    _ => return Err(self.unsupported("this constant expression", span)),
                };
                Ok(format!("{name}{{{}}}", parts.join(", ")))
            }
            _ => Err(self.unsupported("this constant expression", span)),
        }
    }

    /// The components of a constant vector or scalar.
    fn constant_parts(
        &mut self,
        arena: &Arena<Expression>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<Vec<String>> {
        let module = self.module;
        match arena[handle] {
            Expression::Compose { ref components, .. } => {
                let mut parts = Vec::new();
                for &component in components {
                    parts.extend(self.constant_parts(arena, component, span)?);
                }
                Ok(parts)
            }
            Expression::Splat { size, value } => {
                Ok(vec![self.constant(arena, value, span)?; size as usize])
            }
            Expression::ZeroValue(ty) => match module.types[ty].inner {
                TypeInner::Vector { size, scalar } => {
                    Ok(vec![self.kind(scalar, span)?.zero(); size as usize])
                }
                _ => Ok(vec![self.zero(ty, span)?]),
            },
            Expression::Constant(constant) => {
                let init = module.constants[constant].init;
                self.constant_parts(&module.global_expressions, init, span)
            }
            _ => Ok(vec![self.constant(arena, handle, span)?]),
        }
    }

    /// A value with all bits zero.
    pub(super) fn zero(&mut self, ty: Handle<Type>, span: Span) -> Result<String> {
        match self.module.types[ty].inner {
            TypeInner::Scalar(scalar) => Ok(self.kind(scalar, span)?.zero()),
            _ => Ok(format!("{}{{}}", self.type_name(ty, span)?)),
        }
    }

    /// A value of its parts; for structures one a member, else one a component.
    pub(super) fn compose(
        &mut self,
        ty: Handle<Type>,
        parts: &[String],
        span: Span,
    ) -> Result<String> {
        let name = self.type_name(ty, span)?;
        let parts: Vec<String> = match self.module.types[ty].inner {
            TypeInner::Struct { .. } => (0..)
                .zip(parts)
                .map(|(index, part)| {
                    format!(".{} = {part}", self.name(&NameKey::StructMember(ty, index)))
                })
                .collect(),
            _ => parts.to_vec(),
        };
        Ok(format!("{name}{{{}}}", parts.join(", ")))
    }
}

/// The alignment that C++ gives a type: vectors of three have their component's.
fn cpp_alignment(writer: &Writer<'_>, ty: Handle<Type>) -> naga::proc::Alignment {
    match writer.module.types[ty].inner {
        TypeInner::Vector { size: VectorSize::Tri, scalar } => {
            naga::proc::Alignment::new(u32::from(scalar.width))
                .unwrap_or(naga::proc::Alignment::ONE)
        }
        _ => writer.layouter[ty].alignment,
    }
}

/// The size that C++ gives a type; run-time arrays count as empty.
fn cpp_size(writer: &Writer<'_>, ty: Handle<Type>) -> u32 {
    match writer.module.types[ty].inner {
        TypeInner::Array { size: ArraySize::Dynamic, .. } => 0,
        TypeInner::Struct { span, .. } => writer.layouter[ty].alignment.round_up(span),
        _ => writer.layouter[ty].size,
    }
}

/// An alignment in bytes.
fn alignment_bytes(alignment: naga::proc::Alignment) -> u32 {
    alignment.round_up(1)
}
