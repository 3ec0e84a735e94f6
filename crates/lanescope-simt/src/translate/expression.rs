//! Expressions.
//!
//! Input: naga's expressions. Output: their C++. Every operator is in parentheses; what stands alone
//! loses them again ([`bare`]). Operators are in `operators`, functions in `math` and `matrix`.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "`expression` is total; its parts match on types that validation leaves"
)]

use naga::proc::{NameKey, TypeResolution};
use naga::{Expression, Handle, Scalar, TypeInner, VectorSize};

use super::frame::TranslatedFunction;
use super::text::{COMPONENTS, bare, member};
use super::{Result, Writer};
use crate::program::builtin::BuiltinKind;
use crate::program::visit::form_name;

impl<'a> Writer<'a> {
    /// An expression as it is used: its variable, or its text.
    pub(super) fn value(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<String> {
        match frame.values.get(&handle) {
            Some(name) => Ok(name.clone()),
            None => self.expression(frame, handle),
        }
    }

    /// The type of an expression, in C++.
    pub(super) fn expression_type(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(handle);
        match frame.info[handle].ty {
            TypeResolution::Handle(ty) => self.type_name(ty, span),
            TypeResolution::Value(ref inner) => self.inner_name(inner, span),
        }
    }

    /// The scalar type of an expression's components.
    pub(super) fn scalar_of(
        &self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Scalar> {
        let inner = frame.type_of(self.module, handle);
        let span = frame.span_of(handle);
        inner.scalar().ok_or_else(|| self.unsupported(format!("arithmetic on {inner:?}"), span))
    }

    /// The kind of an expression's components.
    pub(super) fn kind_of(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<BuiltinKind> {
        let scalar = self.scalar_of(frame, handle)?;
        self.kind(scalar, frame.span_of(handle))
    }

    /// The size of a vector, or nothing for scalars.
    pub(super) fn size_of(
        &self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Option<VectorSize> {
        match *frame.type_of(self.module, handle) {
            TypeInner::Vector { size, .. } => Some(size),
            _ => None,
        }
    }

    /// The name of the variable that holds an expression.
    pub(super) fn variable_name(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> String {
        match frame.function.named_expressions.get(&handle) {
            Some(name) => self.namer.call(name),
            None => format!("_e{}", handle.index()),
        }
    }

    fn expression(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(handle);
        let function = frame.function;
        match function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => {
                self.constant(&function.expressions, handle, span)
            }
            Expression::FunctionArgument(number) => Ok(self.argument_name(frame.owner, number)),
            Expression::Compose { ty, ref components } => {
                let parts = self.components(frame, ty, components)?;
                self.compose(ty, &parts, span)
            }
            Expression::Access { base, index } => self.access(frame, handle, base, index),
            Expression::AccessIndex { base, index } => {
                let text = self.value(frame, base)?;
                self.part(frame, base, &text, index)
            }
            Expression::Splat { size, value } => {
                let part = self.value(frame, value)?;
                let name = self.expression_type(frame, handle)?;
                Ok(format!("{name}{{{}}}", vec![bare(&part); size as usize].join(", ")))
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(frame, vector)?;
                let name = self.expression_type(frame, handle)?;
                let parts: Vec<String> = pattern[..size as usize]
                    .iter()
                    .map(|part| format!("{vector}.{}", COMPONENTS[*part as usize]))
                    .collect();
                Ok(format!("{name}{{{}}}", parts.join(", ")))
            }
            Expression::Load { pointer } => self.load(frame, pointer),
            Expression::Unary { op, expr } => self.unary(frame, op, expr),
            Expression::Binary { op, left, right } => self.binary(frame, op, left, right),
            Expression::Select { condition, accept, reject } => {
                self.select(frame, condition, accept, reject)
            }
            Expression::Relational { fun, argument } => self.relational(frame, fun, argument),
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> =
                    [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(frame, handle, fun, &arguments)
            }
            Expression::As { expr, kind, convert } => self.cast(frame, expr, kind, convert),
            Expression::ArrayLength(pointer) => self.count(frame, pointer),
            Expression::GlobalVariable(_) | Expression::LocalVariable(_) => {
                Err(self.unsupported("a pointer used as a value", span))
            }
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                Err(self.unsupported("a result before its statement", span))
            }
            ref other @ (Expression::Override(_)
            | Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::ImageQuery { .. }
            | Expression::Derivative { .. }
            | Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. }
            | Expression::CooperativeLoad { .. }
            | Expression::CooperativeMultiplyAdd { .. }) => {
                Err(self.unsupported(format!("expression {}", form_name(other)), span))
            }
        }
    }

    /// The parts of a composite: vectors inside a vector are taken apart.
    fn components(
        &mut self,
        frame: &TranslatedFunction<'a>,
        ty: Handle<naga::Type>,
        components: &[Handle<Expression>],
    ) -> Result<Vec<String>> {
        let vector = matches!(self.module.types[ty].inner, TypeInner::Vector { .. });
        let mut parts = Vec::new();
        for &component in components {
            let text = self.value(frame, component)?;
            match self.size_of(frame, component).filter(|_| vector) {
                Some(size) => {
                    parts.extend(
                        COMPONENTS[..size as usize].iter().map(|name| format!("{text}.{name}")),
                    );
                }
                None => parts.push(bare(&text).to_owned()),
            }
        }
        Ok(parts)
    }

    /// A part of a value at an index that is not known.
    fn access(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<String> {
        let text = self.value(frame, base)?;
        let number = self.index(frame, index)?;
        if let Some(size) = self.size_of(frame, base) {
            self.prelude.need(&format!("component{}", size as u32));
            return Ok(format!("component({}, {number})", bare(&text)));
        }
        if self.is_checked() && !self.is_within_bounds(frame, base, index) {
            let count = self.count(frame, base)?;
            let zero = self.expression_type(frame, handle)?;
            return Ok(format!("({number} < {count} ? {text}[{number}] : {zero}{{}})"));
        }
        Ok(format!("{text}[{number}]"))
    }

    /// A part of a value at a known index.
    fn part(
        &self,
        frame: &TranslatedFunction<'a>,
        base: Handle<Expression>,
        text: &str,
        index: u32,
    ) -> Result<String> {
        match *frame.type_of(self.module, base) {
            TypeInner::Struct { .. } => match frame.info[base].ty {
                TypeResolution::Handle(ty) => {
                    let name = self.name(&NameKey::StructMember(ty, index));
                    Ok(member(text, &name))
                }
                TypeResolution::Value(_) => {
                    Err(self.unsupported("a structure without a name", frame.span_of(base)))
                }
            },
            TypeInner::Vector { .. } => Ok(format!("{text}.{}", COMPONENTS[(index & 3) as usize])),
            _ => Ok(format!("{text}[{index}u]")),
        }
    }
}
