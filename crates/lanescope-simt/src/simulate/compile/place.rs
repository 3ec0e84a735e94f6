//! Pointers: where a variable's part lies, and how it is read and written.
//!
//! Input: naga's pointer expressions. Output: a [`VariablePlace`], then loads and stores of it. Buffers,
//! workgroup memory and immediates have naga's layouts; function and private variables are
//! registers. An index is checked against its own array, vector or matrix at once, the whole access
//! against its memory when it happens.

use naga::proc::Alignment;
use naga::{BuiltIn, Scalar, ScalarKind, Span, TypeInner};

use super::shape::{PlaceRoot, PlaceShape, VariablePlace};
use super::{CodeBuilder, Fixed, Result, index, scalar_slots};
use crate::program::array_length;
use crate::simulate::op::{At, FOLLOW_NONE, FollowId, Form, Op, Owner, Reg, SITE_NONE};

/// A step from a composite to one of its elements.
struct AddressStep {
    shape: PlaceShape,
    /// Elements; nothing for a run-time array.
    count: Option<u32>,
    /// Bytes from one to the next.
    bytes: u32,
    /// Registers from one to the next.
    slots: u32,
}

impl CodeBuilder<'_> {
    pub(super) fn inner(&self, shape: PlaceShape) -> TypeInner {
        match shape {
            PlaceShape::Type(handle) => self.module.types[handle].inner.clone(),
            PlaceShape::Scalar(scalar) => TypeInner::Scalar(scalar),
            PlaceShape::Vector(size, scalar) => TypeInner::Vector { size, scalar },
            PlaceShape::Matrix(columns, rows, scalar) => {
                TypeInner::Matrix { columns, rows, scalar }
            }
        }
    }

    /// The elements of a vector, matrix or array.
    fn step(&self, inner: &TypeInner, span: Span) -> Result<AddressStep> {
        Ok(match *inner {
            TypeInner::Vector { size, scalar } => AddressStep {
                shape: PlaceShape::Scalar(scalar),
                count: Some(u32::from(size)),
                bytes: u32::from(scalar.width),
                slots: index(scalar_slots(scalar)),
            },
            TypeInner::Matrix { columns, rows, scalar } => AddressStep {
                shape: PlaceShape::Vector(rows, scalar),
                count: Some(u32::from(columns)),
                bytes: Alignment::from(rows) * u32::from(scalar.width),
                slots: u32::from(rows) * index(scalar_slots(scalar)),
            },
            TypeInner::Array { base, size, stride } => {
                let count = array_length(self.module, size);
                let element = &self.module.types[base].inner;
                // Only buffers hold run-time arrays, and they have no registers.
                let slots = self.slots_of(element, span).map_or(0, index);
                AddressStep { shape: PlaceShape::Type(base), count, bytes: stride, slots }
            }
            TypeInner::Scalar(_)
            | TypeInner::CooperativeMatrix { .. }
            | TypeInner::Atomic(_)
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Struct { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => {
                return Err(self.unsupported(format!("an index into {inner:?}"), span));
            }
        })
    }

    /// The element at a fixed index.
    pub(super) fn element(
        &mut self,
        place: &VariablePlace,
        number: u32,
        span: Span,
    ) -> Result<VariablePlace> {
        let inner = self.inner(place.shape);
        let registers = matches!(place.root, PlaceRoot::Registers(_));
        if let TypeInner::Struct { ref members, .. } = inner {
            let member = &members[number as usize];
            let mut offset = member.offset;
            if registers {
                offset = 0;
                for before in &members[..number as usize] {
                    offset += index(self.slots_of(&self.module.types[before.ty].inner, span)?);
                }
            }
            return Ok(VariablePlace {
                offset: place.offset + offset,
                shape: PlaceShape::Type(member.ty),
                ..place.clone()
            });
        }
        let step = self.step(&inner, span)?;
        if step.count.is_none_or(|count| number >= count) {
            let number = self.word(number)?;
            return self.index_place(place, number, span);
        }
        let each = if registers { step.slots } else { step.bytes };
        Ok(VariablePlace {
            offset: place.offset + number * each,
            shape: step.shape,
            ..place.clone()
        })
    }

    // Bounds

    /// The element at an index that a register holds.
    pub(super) fn index_place(
        &mut self,
        place: &VariablePlace,
        number: Reg,
        span: Span,
    ) -> Result<VariablePlace> {
        let inner = self.inner(place.shape);
        let step = self.step(&inner, span)?;
        let length = match (step.count, place.root) {
            (Some(count), _) => self.word(count)?,
            (None, PlaceRoot::Memory(root)) => {
                let (offset, stride) = (place.offset, step.bytes);
                self.fixed_register(Fixed::Length { root, offset, stride })?
            }
            (None, PlaceRoot::Registers(_)) => {
                return Err(self.unsupported("a run-time array in registers".to_owned(), span));
            }
        };
        let base = match place.dynamic {
            Some(dynamic) => dynamic,
            None => self.word(0)?,
        };
        let stride = match place.root {
            PlaceRoot::Registers(_) => step.slots,
            PlaceRoot::Memory(_) => step.bytes,
        };
        let owner = if place.dynamic.is_none() { self.owner(number) } else { place.owner };
        let dst = self.fresh(1)?;
        self.push(Op::Index { dst, base, index: number, length, stride })?;
        Ok(VariablePlace { dynamic: Some(dst), shape: step.shape, owner, ..place.clone() })
    }

    /// Who alone has this index: the register of a built-in value, which nothing writes.
    fn owner(&self, index: Reg) -> Owner {
        let is = |builtin| self.fixed.get(&Fixed::Builtin(builtin, 0)) == Some(&index);
        match () {
            () if is(BuiltIn::GlobalInvocationId) => Owner::Invocation,
            () if is(BuiltIn::WorkGroupId) => Owner::Workgroup,
            () => Owner::Anybody,
        }
    }

    // Accesses

    /// Reads a place. Registers without a dynamic index come back as they are, not copied.
    pub(super) fn load(&mut self, place: &VariablePlace, span: Span) -> Result<Vec<Reg>> {
        self.load_followed(place, span, FOLLOW_NONE)
    }

    /// Reads a place whose value may decide something.
    pub(super) fn load_followed(
        &mut self,
        place: &VariablePlace,
        span: Span,
        follow: FollowId,
    ) -> Result<Vec<Reg>> {
        let inner = self.inner(place.shape);
        let count = self.slots_of(&inner, span)?;
        match (place.root, place.dynamic) {
            (PlaceRoot::Registers(base), None) => {
                let first = u32::from(base) + place.offset;
                let range = first..first + index(count);
                Ok(range.map(|register| Reg::try_from(register).unwrap_or(Reg::MAX)).collect())
            }
            (PlaceRoot::Registers(base), Some(offset)) => {
                let dst = self.fresh(count)?;
                let base = self.register(base, place.offset)?;
                let site = self.site(span);
                let count = u16::try_from(count).unwrap_or(u16::MAX);
                self.push(Op::Gather { dst, count, base, offset, site })?;
                Ok((dst..dst + count).collect())
            }
            (PlaceRoot::Memory(root), _) => {
                let dst = self.fresh(count)?;
                let mut next = dst;
                for at in self.runs(&inner, (root, place.owner), place.offset, span)? {
                    self.load_run(place, At { follow, ..at }, next)?;
                    next += at.count;
                }
                Ok((dst..next).collect())
            }
        }
    }

    fn load_run(&mut self, place: &VariablePlace, at: At, dst: Reg) -> Result<()> {
        let At { root, offset, count, site, form, atomic, .. } = at;
        match place.dynamic {
            None if form == Form::Words && !atomic && at.follow == FOLLOW_NONE => {
                self.push(Op::LoadUniform { dst, count, root, offset, site })
            }
            dynamic => {
                let dynamic = self.or_zero(dynamic)?;
                self.accesses.push(at);
                let at = index(self.accesses.len() - 1);
                self.push(Op::Load { dst, dynamic, at })
            }
        }
    }

    /// Writes a place in memory, or registers under a dynamic index.
    pub(super) fn write(&mut self, place: &VariablePlace, value: &[Reg], span: Span) -> Result<()> {
        let inner = self.inner(place.shape);
        let value = self.in_a_row(value)?;
        match place.root {
            PlaceRoot::Registers(base) => {
                let offset = self.or_zero(place.dynamic)?;
                let base = self.register(base, place.offset)?;
                let site = self.site(span);
                let count = self.slots_of(&inner, span)?;
                let count = u16::try_from(count).unwrap_or(u16::MAX);
                self.push(Op::Scatter { base, offset, src: value, count, site })
            }
            PlaceRoot::Memory(root) => {
                let mut src = value;
                for at in self.runs(&inner, (root, place.owner), place.offset, span)? {
                    let dynamic = self.or_zero(place.dynamic)?;
                    self.accesses.push(at);
                    let number = index(self.accesses.len() - 1);
                    self.push(Op::MemoryStore { src, dynamic, at: number })?;
                    src += at.count;
                }
                Ok(())
            }
        }
    }

    /// The static part of an atomic operation on a place.
    pub(super) fn atomic_at(&mut self, place: &VariablePlace, span: Span) -> Result<(At, Reg)> {
        let inner = self.inner(place.shape);
        let dynamic = self.or_zero(place.dynamic)?;
        match place.root {
            PlaceRoot::Memory(root) => {
                let runs = self.runs(&inner, (root, place.owner), place.offset, span)?;
                Ok((runs[0], dynamic))
            }
            PlaceRoot::Registers(_) => {
                Err(self.unsupported("an atomic outside memory".to_owned(), span))
            }
        }
    }

    pub(super) fn or_zero(&mut self, register: Option<Reg>) -> Result<Reg> {
        match register {
            Some(register) => Ok(register),
            None => self.word(0),
        }
    }

    fn register(&self, base: Reg, offset: u32) -> Result<Reg> {
        let limit = super::Limit::Registers { max: u32::from(Reg::MAX) };
        Reg::try_from(u32::from(base) + offset).map_err(|_| self.limit(limit))
    }

    /// The registers in a row, copied where they are not.
    pub(super) fn in_a_row(&mut self, registers: &[Reg]) -> Result<Reg> {
        let follows = |pair: &[Reg]| u32::from(pair[0]) + 1 == u32::from(pair[1]);
        if registers.windows(2).all(follows) {
            return Ok(registers.first().copied().unwrap_or(0));
        }
        let first = self.fresh(registers.len())?;
        for (register, &source) in (first..).zip(registers) {
            self.push(Op::Copy(register, source))?;
        }
        Ok(first)
    }

    /// The accesses that make up a value: scalars of one form without gaps go together.
    fn runs(
        &mut self,
        inner: &TypeInner,
        (root, owner): (u16, Owner),
        offset: u32,
        span: Span,
    ) -> Result<Vec<At>> {
        let mut leaves = Vec::new();
        self.leaves(inner, offset, &mut leaves);
        let end =
            leaves.iter().map(|leaf| leaf.0 + u32::from(leaf.1.width)).max().unwrap_or(offset);
        let atomic = matches!(inner, TypeInner::Atomic(_));
        let mut runs: Vec<At> = Vec::new();
        for (at, scalar) in leaves {
            let form = form(scalar);
            let count = if scalar.width == 8 { 2 } else { 1 };
            if let Some(run) = runs.last_mut()
                && run.form == form
                && run.offset + u32::from(run.count) * form.bytes() == at
            {
                run.count += count;
                continue;
            }
            let site = if runs.is_empty() { self.site(span) } else { SITE_NONE };
            let locked = atomic && scalar.width == 8;
            let (follow, line) = (FOLLOW_NONE, self.location(span).line);
            let offset = at;
            runs.push(At {
                root,
                offset,
                end,
                count,
                form,
                atomic,
                locked,
                site,
                follow,
                line,
                owner,
            });
        }
        Ok(runs)
    }

    /// The scalars of a value with their offsets in memory.
    pub(super) fn leaves(&self, inner: &TypeInner, offset: u32, into: &mut Vec<(u32, Scalar)>) {
        let types = &self.module.types;
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => into.push((offset, scalar)),
            TypeInner::Vector { size, scalar } => {
                let width = u32::from(scalar.width);
                into.extend((0..u32::from(size)).map(|part| (offset + part * width, scalar)));
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let stride = Alignment::from(rows) * u32::from(scalar.width);
                let column = TypeInner::Vector { size: rows, scalar };
                for part in 0..u32::from(columns) {
                    self.leaves(&column, offset + part * stride, into);
                }
            }
            // A run-time array's value has no registers: `slots_of` has refused it before.
            TypeInner::Array { base, size, stride } => {
                for part in 0..array_length(self.module, size).unwrap_or(0) {
                    self.leaves(&types[base].inner, offset + part * stride, into);
                }
            }
            TypeInner::Struct { ref members, .. } => {
                for member in members {
                    self.leaves(&types[member.ty].inner, offset + member.offset, into);
                }
            }
            // Their values have no registers: `slots_of` has refused them before.
            TypeInner::CooperativeMatrix { .. }
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => {}
        }
    }
}

/// How a scalar lies in memory.
fn form(scalar: Scalar) -> Form {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Form::Half,
        (ScalarKind::Sint, 2) => Form::Short,
        (ScalarKind::Uint, 2) => Form::Ushort,
        (ScalarKind::Bool, _) => Form::Byte,
        (
            ScalarKind::Sint
            | ScalarKind::Uint
            | ScalarKind::Float
            | ScalarKind::AbstractInt
            | ScalarKind::AbstractFloat,
            _,
        ) => Form::Words,
    }
}
