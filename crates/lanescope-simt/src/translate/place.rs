//! Places in memory: what pointers lead to.
//!
//! Input: a pointer expression. Output: [`PlaceText`]: the C++ that names it, and the conditions under
//! which it is within bounds.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "pointers are few forms of expressions and types, and everything else is refused"
)]

use naga::proc::NameKey;
use naga::{AddressSpace, ArraySize, Expression, GlobalVariable, Handle, Span, TypeInner};

use super::frame::{Owner, TranslatedFunction};
use super::text::{COMPONENTS, bare, member};
use super::{Result, Writer};
use crate::program::array_length;
use crate::program::builtin::BuiltinKind;

/// A place.
#[derive(Clone, Debug)]
pub(super) struct PlaceText {
    /// An expression that can be assigned to.
    pub(super) text: String,
    /// Conditions that hold where the place exists; empty where it always does.
    pub(super) guards: Vec<String>,
}

impl PlaceText {
    fn always(text: String) -> Self {
        Self { text, guards: Vec::new() }
    }

    /// All conditions as one; `None` if there is none.
    pub(super) fn guard(&self) -> Option<String> {
        (!self.guards.is_empty()).then(|| self.guards.join(" && "))
    }
}

impl<'a> Writer<'a> {
    /// The place that a pointer leads to.
    pub(super) fn place(
        &mut self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> Result<PlaceText> {
        let span = frame.span_of(pointer);
        match frame.function.expressions[pointer] {
            Expression::GlobalVariable(variable) => {
                Ok(PlaceText::always(self.global_text(variable, span)?))
            }
            Expression::LocalVariable(local) => {
                let key = match frame.owner {
                    Owner::Function(function) => NameKey::FunctionLocal(function, local),
                    Owner::EntryPoint => NameKey::EntryPointLocal(0, local),
                };
                Ok(PlaceText::always(self.name(&key)))
            }
            Expression::FunctionArgument(number) => {
                Ok(PlaceText::always(self.argument_name(frame.owner, number)))
            }
            Expression::Access { base, index } => {
                let mut place = self.place(frame, base)?;
                let count = self.count(frame, base)?;
                let text = self.index(frame, index)?;
                if self.is_checked() && !self.is_within_bounds(frame, base, index) {
                    place.guards.push(format!("{text} < {count}"));
                }
                place.text = format!("{}[{text}]", place.text);
                Ok(place)
            }
            Expression::AccessIndex { base, index } => self.place_member(frame, base, index),
            _ => Err(self.unsupported("this kind of pointer", span)),
        }
    }

    fn place_member(
        &mut self,
        frame: &TranslatedFunction<'a>,
        base: Handle<Expression>,
        index: u32,
    ) -> Result<PlaceText> {
        let mut place = self.place(frame, base)?;
        let dynamic = self.dynamic(frame, base);
        if dynamic && self.is_checked() {
            let count = self.count(frame, base)?;
            place.guards.push(format!("{index}u < {count}"));
        }
        let span = frame.span_of(base);
        place.text = match *self.pointee(frame, base) {
            TypeInner::Struct { .. } => {
                let name = match frame.type_of(self.module, base) {
                    TypeInner::Pointer { base, .. } => {
                        self.name(&NameKey::StructMember(*base, index))
                    }
                    _ => return Err(self.unsupported("a member of this pointer", span)),
                };
                member(&place.text, &name)
            }
            TypeInner::Vector { .. } => member(&place.text, COMPONENTS[(index & 3) as usize]),
            _ => format!("{}[{index}u]", place.text),
        };
        Ok(place)
    }

    /// The name of a function's argument.
    pub(super) fn argument_name(&self, owner: Owner, number: u32) -> String {
        self.name(&match owner {
            Owner::Function(function) => NameKey::FunctionArgument(function, number),
            Owner::EntryPoint => NameKey::EntryPointArgument(0, number),
        })
    }

    /// How functions name a global variable.
    fn global_text(&self, handle: Handle<GlobalVariable>, span: Span) -> Result<String> {
        let name = self.name(&NameKey::GlobalVariable(handle));
        match self.module.global_variables[handle].space {
            AddressSpace::Uniform if self.constant.get(&handle) == Some(&1) => Ok(name),
            AddressSpace::Uniform if self.constant.contains_key(&handle) => {
                Ok(format!("{name}[0]"))
            }
            AddressSpace::Uniform | AddressSpace::Storage { .. } => Ok(format!("(*{name})")),
            AddressSpace::Private => Ok(format!("own.{name}")),
            AddressSpace::WorkGroup | AddressSpace::Immediate => Ok(name),
            AddressSpace::Function
            | AddressSpace::Handle
            | AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => {
                Err(self
                    .unsupported(format!("`{name}`, which is neither buffer nor variable"), span))
            }
        }
    }

    /// The type that a pointer leads to; a value pointer's has no handle.
    pub(super) fn pointee(
        &self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> &'a TypeInner {
        match *frame.type_of(self.module, pointer) {
            TypeInner::Pointer { base, .. } => &self.module.types[base].inner,
            ref other => other,
        }
    }

    /// The name of the type that a pointer leads to.
    pub(super) fn pointee_name(
        &mut self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(pointer);
        match *frame.type_of(self.module, pointer) {
            TypeInner::Pointer { base, .. } => self.type_name(base, span),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                self.vector_name(size, scalar, span)
            }
            TypeInner::ValuePointer { size: None, scalar, .. } => {
                Ok(self.scalar_name(scalar, span)?.to_owned())
            }
            _ => Err(self.unsupported("this kind of pointer", span)),
        }
    }

    /// Whether a pointer leads to a run-time array.
    fn dynamic(&self, frame: &TranslatedFunction<'a>, pointer: Handle<Expression>) -> bool {
        let inner = self.pointee(frame, pointer);
        matches!(inner, TypeInner::Array { size: ArraySize::Dynamic, .. })
    }

    /// How many elements the array, vector or matrix has that an expression is or leads to.
    pub(super) fn count(
        &self,
        frame: &TranslatedFunction<'a>,
        base: Handle<Expression>,
    ) -> Result<String> {
        if let Some(count) = self.count_known(frame, base) {
            return Ok(format!("{count}u"));
        }
        let mut root = base;
        loop {
            match frame.function.expressions[root] {
                Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => {
                    root = base
                }
                Expression::GlobalVariable(variable) => {
                    let name = self.name(&NameKey::GlobalVariable(variable));
                    return Ok(format!("lengths.{name}"));
                }
                _ => {
                    let what = "the length of a run-time array behind a function's argument";
                    return Err(self.unsupported(what, frame.span_of(base)));
                }
            }
        }
    }

    fn count_known(&self, frame: &TranslatedFunction<'a>, base: Handle<Expression>) -> Option<u32> {
        match *self.pointee(frame, base) {
            TypeInner::Array { size, .. } => array_length(self.module, size),
            TypeInner::Vector { size, .. } | TypeInner::ValuePointer { size: Some(size), .. } => {
                Some(size as u32)
            }
            TypeInner::Matrix { columns, .. } => Some(columns as u32),
            _ => None,
        }
    }

    /// Whether an index is known to lie within bounds.
    pub(super) fn is_within_bounds(
        &self,
        frame: &TranslatedFunction<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> bool {
        let number = match frame.function.expressions[index] {
            Expression::Literal(naga::Literal::U32(number)) => Some(number),
            Expression::Literal(naga::Literal::I32(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        let count = self.count_known(frame, base);
        number.zip(count).is_some_and(|(number, count)| number < count)
    }

    /// An index as `u32`.
    pub(super) fn index(
        &mut self,
        frame: &TranslatedFunction<'a>,
        index: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(index);
        if let Expression::Literal(naga::Literal::I32(number)) = frame.function.expressions[index]
            && let Ok(number) = u32::try_from(number)
        {
            return Ok(format!("{number}u"));
        }
        let text = self.value(frame, index)?;
        let text = bare(&text).to_owned();
        Ok(match self.kind_of(frame, index)? {
            BuiltinKind::U32 => text,
            BuiltinKind::I32 | BuiltinKind::I16 | BuiltinKind::U16 => format!("u32({text})"),
            BuiltinKind::I64 | BuiltinKind::U64 => {
                self.prelude.need("index_of");
                format!("index_of(u64({text}))")
            }
            BuiltinKind::F16 | BuiltinKind::F32 | BuiltinKind::F64 | BuiltinKind::Bool => {
                return Err(self.unsupported("an index that is no integer", span));
            }
        })
    }

    /// What a pointer leads to, as a value.
    pub(super) fn load(
        &mut self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> Result<String> {
        let place = self.place(frame, pointer)?;
        let text = match self.pointee(frame, pointer) {
            TypeInner::Atomic(_) => {
                self.prelude.need("load_atomic");
                format!("load_atomic({})", place.text)
            }
            _ => self.copy_read(frame, pointer, &place.text).unwrap_or_else(|| place.text.clone()),
        };
        match place.guard() {
            None => Ok(text),
            Some(guard) => {
                let name = self.pointee_name(frame, pointer)?;
                Ok(format!("({guard} ? {text} : {name}{{}})"))
            }
        }
    }

    /// A place to hand to a function: its indices are clamped where they are checked.
    pub(super) fn clamp_place(
        &mut self,
        frame: &TranslatedFunction<'a>,
        pointer: Handle<Expression>,
    ) -> Result<String> {
        let place = self.place(frame, pointer)?;
        let mut text = place.text;
        for guard in &place.guards {
            if let Some((index, count)) = guard.split_once(" < ") {
                let wanted = format!("[{index}]");
                let clamped = format!("[min({index}, {count} - 1u)]");
                text = text.replacen(&wanted, &clamped, 1);
            }
        }
        Ok(text)
    }
}
