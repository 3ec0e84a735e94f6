//! Expressions.
//!
//! Input: an expression that naga emits. Output: its registers, or the place that it points to.
//! Composing, splitting and swizzling values costs nothing: they only name registers. Mathematical
//! functions are in `math`, scalar operations in `scalars`.

use naga::proc::TypeResolution;
use naga::{BinaryOperator, Expression, Handle, RelationalFunction, Scalar, Span, TypeInner};

use super::scalars::{Scalars, whole};
use super::shape::{PlaceRoot, PlaceShape};
use super::{CodeBuilder, CompiledFunction, Fixed, Result, Value, VariablePlace, scalar_slots};
use crate::program::builtin::{BuiltinKind, sum_of_products};
use crate::program::visit::form_name;
use crate::simulate::op::{Op, Owner, Reg};
use crate::simulate::scalar;

impl<'a> CodeBuilder<'a> {
    /// Evaluates an expression where naga emits it.
    pub(super) fn emit(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<()> {
        match self.expression(frame, handle)? {
            Value::Slots(slots) => self.define(frame, handle, slots),
            other @ (Value::Place(_) | Value::Texture(_) | Value::Sampler(_)) => {
                frame.values[handle.index()] = Some(other);
            }
        }
        Ok(())
    }

    /// The registers of an operand; one use of it is then done.
    pub(super) fn slots(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Vec<Reg>> {
        let value = self.value(frame, handle)?;
        self.note_use(frame, handle);
        match value {
            Value::Slots(slots) => Ok(slots),
            Value::Place(_) | Value::Texture(_) | Value::Sampler(_) => {
                Err(self.unsupported("a pointer used as a value".to_owned(), frame.span))
            }
        }
    }

    #[expect(clippy::unused_self, reason = "reads as its fellows do")]
    pub(super) fn note_use(&self, frame: &mut CompiledFunction<'a>, handle: Handle<Expression>) {
        let uses = &mut frame.uses[handle.index()];
        *uses = uses.saturating_sub(1);
    }

    /// What an expression is; constants, arguments and variables need no emission.
    pub(super) fn value(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        match &frame.values[handle.index()] {
            Some(value) => Ok(value.clone()),
            None => self.expression(frame, handle),
        }
    }

    /// Where an expression stands.
    pub(super) fn span_of(&self, frame: &CompiledFunction<'a>, handle: Handle<Expression>) -> Span {
        let span = frame.function.expressions.get_span(handle);
        let known = span.to_range().is_some_and(|range| range.end > 0);
        if known { span } else { frame.span }
    }

    /// The type of an expression.
    pub(super) fn type_of(
        &self,
        frame: &CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> &'a TypeInner {
        frame.info[handle].ty.inner_with(&self.module.types)
    }

    /// The scalar type of an expression's components.
    pub(super) fn scalar_type(
        &self,
        frame: &CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Scalar> {
        let inner = self.type_of(frame, handle);
        let span = self.span_of(frame, handle);
        let not = || self.unsupported(format!("arithmetic on {inner:?}"), span);
        inner.scalar().ok_or_else(not)
    }

    /// The kind of an expression's components.
    pub(super) fn kind_of(
        &self,
        frame: &CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<BuiltinKind> {
        let scalar = self.scalar_type(frame, handle)?;
        let span = self.span_of(frame, handle);
        BuiltinKind::new(scalar).ok_or_else(|| self.unsupported(format!("{scalar:?}"), span))
    }

    fn shape_of(
        &self,
        frame: &CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<PlaceShape> {
        match frame.info[handle].ty {
            TypeResolution::Handle(ty) => Ok(PlaceShape::Type(ty)),
            TypeResolution::Value(TypeInner::Vector { size, scalar }) => {
                Ok(PlaceShape::Vector(size, scalar))
            }
            TypeResolution::Value(TypeInner::Matrix { columns, rows, scalar }) => {
                Ok(PlaceShape::Matrix(columns, rows, scalar))
            }
            TypeResolution::Value(ref other) => {
                let span = self.span_of(frame, handle);
                Err(self.unsupported(format!("a part of {other:?}"), span))
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm an expression of naga's")]
    fn expression(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        let span = self.span_of(frame, handle);
        let function = frame.function;
        let slots = match function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => {
                self.constant(&function.expressions, handle, span)?
            }
            Expression::FunctionArgument(number) => {
                return Ok(frame.arguments[number as usize].clone());
            }
            Expression::GlobalVariable(variable) => {
                let known = self.globals.get(variable.index());
                return match (known, self.handles.get(&variable.index())) {
                    (Some(Some(place)), _) => Ok(Value::Place(place.clone())),
                    (_, Some(handle)) => Ok(handle.clone()),
                    _ => {
                        let name = self.module.global_variables[variable].name.as_deref();
                        let name = name.unwrap_or_default();
                        let what = "external texture, acceleration structure or binding array";
                        Err(self.unsupported(format!("`{name}`, a {what}"), span))
                    }
                };
            }
            Expression::LocalVariable(variable) => {
                return Ok(Value::Place(Self::local(frame, variable)));
            }
            Expression::Compose { ref components, .. } => {
                let mut slots = Vec::new();
                for &component in components {
                    slots.extend(self.slots(frame, component)?);
                }
                slots
            }
            Expression::Access { base, index } => return self.access(frame, base, index, span),
            Expression::AccessIndex { base, index } => {
                return self.access_fixed(frame, base, index, span);
            }
            Expression::Splat { size, value } => self.slots(frame, value)?.repeat(size as usize),
            Expression::Swizzle { size, vector, pattern } => {
                let width = scalar_slots(self.scalar_type(frame, vector)?);
                let vector = self.slots(frame, vector)?;
                let part = |component: &naga::SwizzleComponent| {
                    let first = *component as usize * width;
                    vector[first..first + width].to_vec()
                };
                pattern[..size as usize].iter().flat_map(part).collect()
            }
            Expression::Load { pointer } => {
                let place = self.place(frame, pointer)?;
                let follow = self.follow(frame, handle, span)?;
                self.load_followed(&place, span, follow)?
            }
            Expression::Unary { op, expr } => {
                let kind = self.kind_of(frame, expr)?;
                let operand = self.slots(frame, expr)?;
                self.map_components(kind, &[operand], |builder, kind, parts| {
                    builder.unary(op, kind, parts[0], span)
                })?
            }
            Expression::Binary { op, left, right } => self.binary(frame, op, left, right, span)?,
            Expression::Select { condition, accept, reject } => {
                self.select_value(frame, condition, accept, reject)?
            }
            Expression::Relational { fun, argument } => self.relational(frame, fun, argument)?,
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> =
                    [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(frame, fun, &arguments, span)?
            }
            Expression::As { expr, kind, convert } => {
                let from = self.scalar_type(frame, expr)?;
                let to = Scalar { kind, width: convert.unwrap_or(from.width) };
                let operand = self.slots(frame, expr)?;
                self.cast(from, to, convert.is_some(), &operand, span)?
            }
            Expression::ArrayLength(pointer) => {
                let place = self.place(frame, pointer)?;
                vec![self.array_length(&place, span)?]
            }
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                return Err(self.unsupported("a result before its statement".to_owned(), span));
            }
            ref image @ (Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::ImageQuery { .. }) => self.texture(frame, handle, image, span)?,
            ref other @ (Expression::Override(_)
            | Expression::Derivative { .. }
            | Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. }
            | Expression::CooperativeLoad { .. }
            | Expression::CooperativeMultiplyAdd { .. }) => {
                let name = form_name(other);
                return Err(self.unsupported(format!("the expression {name}"), span));
            }
        };
        Ok(Value::Slots(slots))
    }

    // Access

    fn access(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        base: Handle<Expression>,
        number: Handle<Expression>,
        span: Span,
    ) -> Result<Value> {
        let kind = self.kind_of(frame, number)?;
        let mut index = self.slots(frame, number)?[0];
        if kind.is_wide() {
            let dst = self.fresh(1)?;
            self.push(Op::Narrow(scalar::index_from_long, dst, index))?;
            index = dst;
        }
        match self.value(frame, base)? {
            Value::Place(place) => {
                self.note_use(frame, base);
                Ok(Value::Place(self.index_place(&place, index, span)?))
            }
            Value::Slots(slots) => {
                self.note_use(frame, base);
                let first = self.in_a_row(&slots)?;
                let whole = VariablePlace {
                    owner: Owner::Anybody,
                    root: PlaceRoot::Registers(first),
                    offset: 0,
                    dynamic: None,
                    shape: self.shape_of(frame, base)?,
                };
                let part = self.index_place(&whole, index, span)?;
                Ok(Value::Slots(self.load(&part, span)?))
            }
            Value::Texture(_) | Value::Sampler(_) => {
                Err(self.unsupported("a binding array".to_owned(), span))
            }
        }
    }

    fn access_fixed(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        base: Handle<Expression>,
        number: u32,
        span: Span,
    ) -> Result<Value> {
        match self.value(frame, base)? {
            Value::Place(place) => {
                self.note_use(frame, base);
                Ok(Value::Place(self.element(&place, number, span)?))
            }
            Value::Slots(slots) => {
                self.note_use(frame, base);
                let whole = VariablePlace {
                    owner: Owner::Anybody,
                    root: PlaceRoot::Registers(0),
                    offset: 0,
                    dynamic: None,
                    shape: self.shape_of(frame, base)?,
                };
                let part = self.element(&whole, number, span)?;
                let count = self.slots_of(&self.inner(part.shape), span)?;
                let first = part.offset as usize;
                Ok(Value::Slots(slots[first..first + count].to_vec()))
            }
            Value::Texture(_) | Value::Sampler(_) => {
                Err(self.unsupported("a binding array".to_owned(), span))
            }
        }
    }

    fn array_length(&mut self, place: &VariablePlace, span: Span) -> Result<Reg> {
        let TypeInner::Array { stride, size, .. } = self.inner(place.shape) else {
            return Err(self.unsupported("arrayLength of no array".to_owned(), span));
        };
        match (place.root, size) {
            (_, naga::ArraySize::Constant(count)) => self.word(count.get()),
            (PlaceRoot::Memory(root), _) => {
                self.fixed_register(Fixed::Length { root, offset: place.offset, stride })
            }
            (PlaceRoot::Registers(_), _) => {
                Err(self.unsupported("a run-time array in registers".to_owned(), span))
            }
        }
    }

    // Operators

    /// Applies a scalar operation to each component; scalars among vectors go with every one.
    pub(super) fn map_components(
        &mut self,
        kind: BuiltinKind,
        operands: &[Vec<Reg>],
        mut f: impl FnMut(&mut Self, BuiltinKind, &[Reg]) -> Result<Vec<Reg>>,
    ) -> Result<Vec<Reg>> {
        let width = kind.slots();
        let count = operands.iter().map(|operand| operand.len() / width).max().unwrap_or(0);
        let mut result = Vec::new();
        for component in 0..count {
            let parts: Vec<Reg> =
                operands
                    .iter()
                    .map(|operand| {
                        if operand.len() == width { operand[0] } else { operand[component * width] }
                    })
                    .collect();
            result.extend(f(self, kind, &parts)?);
        }
        Ok(result)
    }

    fn binary(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let kind = self.kind_of(frame, left)?;
        let types = (self.type_of(frame, left), self.type_of(frame, right));
        let shift = matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
        let operands = [self.slots(frame, left)?, self.slots(frame, right)?];
        if op == BinaryOperator::Multiply
            && let Some(shape) = product(types.0, types.1)
        {
            return self.matrix_product(kind, &operands, shape, span);
        }
        if shift && kind.is_wide() {
            let [left, right] = operands;
            let mut amounts = Vec::new();
            for amount in right {
                let dst = self.fresh(2)?;
                self.push(Op::Widen(scalar::long_from_u, dst, amount))?;
                amounts.extend([dst, dst + 1]);
            }
            return self.map_components(kind, &[left, amounts], |builder, kind, parts| {
                builder.binary_scalar(op, kind, parts[0], parts[1], span)
            });
        }
        self.map_components(kind, &operands, |builder, kind, parts| {
            builder.binary_scalar(op, kind, parts[0], parts[1], span)
        })
    }

    /// `left × right` of matrices and vectors, column by column; each element is the sum of its
    /// products from the first to the last, each product and each sum rounded.
    pub(super) fn matrix_product(
        &mut self,
        kind: BuiltinKind,
        operands: &[Vec<Reg>],
        shape: Product,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let width = kind.slots();
        let Product { rows, inner, columns } = shape;
        let mut result = Vec::new();
        for column in 0..columns {
            for row in 0..rows {
                let pair = |k| {
                    let left = operands[0][(k * rows + row) * width];
                    (left, operands[1][(column * inner + k) * width])
                };
                let mut scalars = Scalars { builder: self, kind, span };
                let sum = sum_of_products(&mut scalars, (0..inner).map(pair))?;
                result.extend(sum.into_iter().flat_map(|sum| whole(kind, sum)));
            }
        }
        Ok(result)
    }

    fn select_value(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Result<Vec<Reg>> {
        let condition = self.slots(frame, condition)?;
        let accept = self.slots(frame, accept)?;
        let reject = self.slots(frame, reject)?;
        let each = if condition.len() == 1 { accept.len() } else { accept.len() / condition.len() };
        let first = self.fresh(accept.len())?;
        for (number, dst) in (0..accept.len()).zip(first..) {
            let condition = condition[number / each];
            self.push(Op::Select(dst, reject[number], accept[number], condition))?;
        }
        Ok((first..).take(accept.len()).collect())
    }

    fn relational(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        fun: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Result<Vec<Reg>> {
        let kind = self.kind_of(frame, argument)?;
        let operand = self.slots(frame, argument)?;
        let fold = |builder: &mut Self, op: fn(Reg, Reg, Reg) -> Op| {
            let mut result = operand[0];
            for &part in &operand[1..] {
                result = builder.op2(op, result, part)?;
            }
            Ok(vec![result])
        };
        match fun {
            RelationalFunction::All => fold(self, Op::AndI),
            RelationalFunction::Any => fold(self, Op::OrI),
            RelationalFunction::IsNan => {
                self.map_components(kind, &[operand], |builder, kind, parts| {
                    builder.test(kind, scalar::is_nan, scalar::double_is_nan, parts[0])
                })
            }
            RelationalFunction::IsInf => {
                self.map_components(kind, &[operand], |builder, kind, parts| {
                    builder.test(kind, scalar::is_inf, scalar::double_is_inf, parts[0])
                })
            }
        }
    }

    fn test(
        &mut self,
        kind: BuiltinKind,
        single: fn(u32) -> u32,
        double: fn(u64) -> u32,
        part: Reg,
    ) -> Result<Vec<Reg>> {
        let dst = self.fresh(1)?;
        self.push(if kind.is_wide() {
            Op::Narrow(double, dst, part)
        } else {
            Op::Map1(single, dst, part)
        })?;
        Ok(vec![dst])
    }
}

/// The extents of a matrix product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
}

/// How to multiply, where it is not component by component.
fn product(left: &TypeInner, right: &TypeInner) -> Option<Product> {
    match (left, right) {
        (&TypeInner::Matrix { columns: inner, rows, .. }, &TypeInner::Matrix { columns, .. }) => {
            Some(Product { rows: rows as usize, inner: inner as usize, columns: columns as usize })
        }
        (&TypeInner::Matrix { columns: inner, rows, .. }, &TypeInner::Vector { .. }) => {
            Some(Product { rows: rows as usize, inner: inner as usize, columns: 1 })
        }
        (&TypeInner::Vector { .. }, &TypeInner::Matrix { columns, rows, .. }) => {
            Some(Product { rows: 1, inner: rows as usize, columns: columns as usize })
        }
        _ => None,
    }
}
