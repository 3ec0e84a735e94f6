//! WGSL's built-in functions.
//!
//! Input: naga's `Math` expressions. Output: instructions. Functions that WGSL defines by a formula
//! are that formula, each step rounded; the others are Rust's, well within WGSL's accuracy.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "`builtin::family` is total; its parts match their own"
)]

use naga::{BinaryOperator, Expression, Handle, MathFunction, Span, TypeInner};

use super::expression::Product;
use super::scalars::{Scalars, whole};
use super::{CodeBuilder, CompiledFunction, Result};
use crate::program::builtin::{BuiltinKind, Family, Square, cross, family};
use crate::simulate::op::{Op, Reg};
use crate::simulate::scalar::{self, double, single};

/// A function of one float: for `f32` and `f16`, and for `f64`.
type Float1 = (fn(u32) -> u32, fn(u64) -> u64);

/// A function of two floats.
type Float2 = (fn(u32, u32) -> u32, fn(u64, u64) -> u64);

impl<'a> CodeBuilder<'a> {
    pub(super) fn math(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        fun: MathFunction,
        arguments: &[Handle<Expression>],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let kind = self.kind_of(frame, arguments[0])?;
        let ty = self.type_of(frame, arguments[0]);
        let second = arguments.get(1).map(|&argument| self.type_of(frame, argument));
        let mut operands = Vec::new();
        for &argument in arguments {
            operands.push(self.slots(frame, argument)?);
        }
        if let Some(op) =
            lanes1(fun).filter(|_| matches!(kind, BuiltinKind::F16 | BuiltinKind::F32))
        {
            return self.map_components(kind, &operands, |builder, kind, parts| {
                let value = builder.op1(op, parts[0])?;
                builder.fit(kind, value)
            });
        }
        if let Some(f) = float1(fun).filter(|_| kind.is_float()) {
            return self.map_components(kind, &operands, |builder, kind, parts| {
                builder.float1(kind, f, parts[0])
            });
        }
        if let Some(f) = float2(fun) {
            return self.map_components(kind, &operands, |builder, kind, parts| {
                builder.float2(kind, f, parts[0], parts[1])
            });
        }
        match family(fun) {
            Family::Matrix => {
                let &TypeInner::Matrix { columns, rows, .. } = ty else {
                    return Err(self.unsupported(format!("{fun:?} of no matrix"), span));
                };
                self.matrix(fun, kind, &operands[0], (columns as usize, rows as usize), span)
            }
            Family::Outer => {
                let columns = match second {
                    Some(TypeInner::Vector { size, .. }) => *size as usize,
                    _ => 1,
                };
                let rows = operands[0].len() / kind.slots();
                let shape = Product { rows, inner: 1, columns };
                self.matrix_product(kind, &operands, shape, span)
            }
            Family::Ldexp => self.ldexp(kind, &operands),
            Family::Packing => self.packing(fun, kind, &operands[0], &operands, span),
            Family::Geometry => self.geometry(fun, kind, &operands, span),
            Family::Parts => self.parts(fun, kind, &operands[0]),
            Family::Bits => self.bits(fun, kind, &operands, span),
            Family::Components => self.map_components(kind, &operands, |builder, kind, parts| {
                builder.common(fun, kind, parts, span)
            }),
        }
    }

    fn float1(&mut self, kind: BuiltinKind, f: Float1, a: Reg) -> Result<Vec<Reg>> {
        if kind.is_wide() {
            return self.wide1(f.1, a);
        }
        let value = self.map1(f.0, a)?;
        self.fit(kind, value)
    }

    fn float2(&mut self, kind: BuiltinKind, f: Float2, a: Reg, b: Reg) -> Result<Vec<Reg>> {
        if kind.is_wide() {
            return self.wide2(f.1, a, b);
        }
        let value = self.map2(f.0, a, b)?;
        self.fit(kind, value)
    }

    fn add(&mut self, kind: BuiltinKind, a: Reg, b: Reg, span: Span) -> Result<Reg> {
        Ok(self.binary_scalar(BinaryOperator::Add, kind, a, b, span)?[0])
    }

    fn sub(&mut self, kind: BuiltinKind, a: Reg, b: Reg, span: Span) -> Result<Reg> {
        Ok(self.binary_scalar(BinaryOperator::Subtract, kind, a, b, span)?[0])
    }

    fn mul(&mut self, kind: BuiltinKind, a: Reg, b: Reg, span: Span) -> Result<Reg> {
        Ok(self.binary_scalar(BinaryOperator::Multiply, kind, a, b, span)?[0])
    }

    fn div(&mut self, kind: BuiltinKind, a: Reg, b: Reg, span: Span) -> Result<Reg> {
        Ok(self.binary_scalar(BinaryOperator::Divide, kind, a, b, span)?[0])
    }

    /// The register of a number in a float kind.
    fn number(&mut self, kind: BuiltinKind, value: f32) -> Result<Reg> {
        if kind.is_wide() {
            return Ok(self.wide(f64::from(value).to_bits())?[0]);
        }
        self.word(value.to_bits())
    }

    fn min_max(&mut self, kind: BuiltinKind, largest: bool, a: Reg, b: Reg) -> Result<Vec<Reg>> {
        let wide = |single: fn(u64, u64) -> u64, other: fn(u64, u64) -> u64| {
            if largest { other } else { single }
        };
        let op = |min: fn(Reg, Reg, Reg) -> Op, max| if largest { max } else { min };
        match kind {
            BuiltinKind::F16 | BuiltinKind::F32 => {
                Ok(vec![self.op2(op(Op::MinF, Op::MaxF), a, b)?])
            }
            BuiltinKind::I16 | BuiltinKind::I32 => {
                Ok(vec![self.op2(op(Op::MinS, Op::MaxS), a, b)?])
            }
            BuiltinKind::U16 | BuiltinKind::U32 | BuiltinKind::Bool => {
                Ok(vec![self.op2(op(Op::MinU, Op::MaxU), a, b)?])
            }
            BuiltinKind::F64 => self.wide2(wide(double::min, double::max), a, b),
            BuiltinKind::I64 => self.wide2(wide(scalar::long_min_s, scalar::long_max_s), a, b),
            BuiltinKind::U64 => self.wide2(wide(scalar::long_min_u, scalar::long_max_u), a, b),
        }
    }

    fn clamp(&mut self, kind: BuiltinKind, a: Reg, low: Reg, high: Reg) -> Result<Vec<Reg>> {
        let least = self.min_max(kind, true, a, low)?[0];
        self.min_max(kind, false, least, high)
    }

    /// Functions that go component by component.
    fn common(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        parts: &[Reg],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let a = parts[0];
        match (fun, kind) {
            (MathFunction::Min, _) => self.min_max(kind, false, a, parts[1]),
            (MathFunction::Max, _) => self.min_max(kind, true, a, parts[1]),
            (MathFunction::Clamp, _) => self.clamp(kind, a, parts[1], parts[2]),
            (MathFunction::Saturate, _) if kind.is_float() => {
                let (zero, one) = (self.number(kind, 0.0)?, self.number(kind, 1.0)?);
                self.clamp(kind, a, zero, one)
            }
            (MathFunction::Abs, BuiltinKind::I64) => self.wide1(scalar::long_abs, a),
            (MathFunction::Abs, BuiltinKind::I32 | BuiltinKind::I16) => {
                let value = self.op1(Op::AbsI, a)?;
                self.fit(kind, value)
            }
            (MathFunction::Abs, _) => Ok(whole(kind, a).collect()),
            (MathFunction::Sign, BuiltinKind::I64) => self.wide1(scalar::long_sign, a),
            (MathFunction::Sign, BuiltinKind::I32 | BuiltinKind::I16) => {
                Ok(vec![self.map1(scalar::sign_s, a)?])
            }
            (MathFunction::Fma, BuiltinKind::F32) => {
                Ok(vec![self.op3(Op::FmaF, [a, parts[1], parts[2]])?])
            }
            (MathFunction::Fma, BuiltinKind::F16) => {
                let dst = self.fresh(1)?;
                self.push(Op::FmaHalf(dst, [a, parts[1], parts[2]]))?;
                Ok(vec![dst])
            }
            (MathFunction::Fma, BuiltinKind::F64) => {
                let dst = self.fresh(2)?;
                self.push(Op::FmaDouble(dst, [a, parts[1], parts[2]]))?;
                Ok(vec![dst, dst + 1])
            }
            (MathFunction::Mix, _) if kind.is_float() => {
                // a · (1 − t) + b · t
                let (b, t) = (parts[1], parts[2]);
                let one = self.number(kind, 1.0)?;
                let rest = self.sub(kind, one, t, span)?;
                let left = self.mul(kind, a, rest, span)?;
                let right = self.mul(kind, b, t, span)?;
                let sum = self.add(kind, left, right, span)?;
                Ok(whole(kind, sum).collect())
            }
            (MathFunction::SmoothStep, _) if kind.is_float() => {
                let (high, x) = (parts[1], parts[2]);
                let over = self.sub(kind, x, a, span)?;
                let range = self.sub(kind, high, a, span)?;
                let ratio = self.div(kind, over, range, span)?;
                let (zero, one) = (self.number(kind, 0.0)?, self.number(kind, 1.0)?);
                let t = self.clamp(kind, ratio, zero, one)?[0];
                let (two, three) = (self.number(kind, 2.0)?, self.number(kind, 3.0)?);
                let twice = self.mul(kind, two, t, span)?;
                let rest = self.sub(kind, three, twice, span)?;
                let square = self.mul(kind, t, t, span)?;
                let value = self.mul(kind, square, rest, span)?;
                Ok(whole(kind, value).collect())
            }
            (MathFunction::QuantizeToF16, BuiltinKind::F32) => {
                Ok(vec![self.map1(scalar::round_half, a)?])
            }
            _ => Err(self.unsupported(format!("{fun:?} of {kind:?}"), span)),
        }
    }

    fn ldexp(&mut self, kind: BuiltinKind, operands: &[Vec<Reg>]) -> Result<Vec<Reg>> {
        let mut result = Vec::new();
        for (number, &exponent) in operands[1].iter().enumerate() {
            let part = operands[0][number * kind.slots()];
            if kind.is_wide() {
                let amount = self.fresh(2)?;
                self.push(Op::Widen(scalar::long_from_s, amount, exponent))?;
                result.extend(self.wide2(scalar::double_ldexp, part, amount)?);
            } else {
                let value = self.map2(scalar::ldexp, part, exponent)?;
                result.extend(self.fit(kind, value)?);
            }
        }
        Ok(result)
    }

    /// `modf` and `frexp`: a structure of all fractions, then all whole parts or exponents.
    fn parts(&mut self, fun: MathFunction, kind: BuiltinKind, operand: &[Reg]) -> Result<Vec<Reg>> {
        let operand = [operand.to_vec()];
        let modf = fun == MathFunction::Modf;
        let fraction: Float1 = if modf {
            (single::modf_fract, double::modf_fract)
        } else {
            (scalar::frexp_fract, scalar::double_frexp_fract)
        };
        let mut result = self.map_components(kind, &operand, |builder, kind, parts| {
            builder.float1(kind, fraction, parts[0])
        })?;
        result.extend(self.map_components(kind, &operand, |builder, kind, parts| {
            if modf {
                return builder.float1(kind, (single::trunc, double::trunc), parts[0]);
            }
            if kind.is_wide() {
                // naga gives the exponent the width of the fraction.
                return builder.wide1(scalar::double_frexp_exp, parts[0]);
            }
            Ok(vec![builder.map1(scalar::frexp_exp, parts[0])?])
        })?);
        Ok(result)
    }

    // Geometry

    fn geometry(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        operands: &[Vec<Reg>],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let a = &operands[0];
        let components = |builder: &mut Self, op, left: &[Reg], right: &[Reg]| {
            builder.map_components(
                kind,
                &[left.to_vec(), right.to_vec()],
                |builder, kind, parts| builder.binary_scalar(op, kind, parts[0], parts[1], span),
            )
        };
        match fun {
            MathFunction::Dot => self.dot(kind, a, &operands[1], span),
            MathFunction::Length => self.length(kind, a, span),
            MathFunction::Distance => {
                let difference = components(self, BinaryOperator::Subtract, a, &operands[1])?;
                self.length(kind, &difference, span)
            }
            MathFunction::Normalize => {
                let length = self.length(kind, a, span)?;
                components(self, BinaryOperator::Divide, a, &length)
            }
            MathFunction::Cross => self.cross(kind, a, &operands[1], span),
            MathFunction::FaceForward => {
                // e1 where dot(e2, e3) < 0, else −e1
                let dot = self.dot(kind, &operands[1], &operands[2], span)?[0];
                let zero = self.number(kind, 0.0)?;
                let towards = self.binary_scalar(BinaryOperator::Less, kind, dot, zero, span)?[0];
                let negative =
                    self.map_components(kind, std::slice::from_ref(a), |builder, kind, parts| {
                        builder.unary(naga::UnaryOperator::Negate, kind, parts[0], span)
                    })?;
                let mut result = Vec::new();
                for (&yes, &no) in a.iter().zip(&negative) {
                    result.push(self.op3(Op::Select, [no, yes, towards])?);
                }
                self.pair_registers(result)
            }
            MathFunction::Reflect => {
                // e1 − 2 · dot(e2, e1) · e2
                let normal = &operands[1];
                let dot = self.dot(kind, normal, a, span)?[0];
                let two = self.number(kind, 2.0)?;
                let twice = self.mul(kind, two, dot, span)?;
                let twice: Vec<Reg> = whole(kind, twice).collect();
                let along = components(self, BinaryOperator::Multiply, normal, &twice)?;
                components(self, BinaryOperator::Subtract, a, &along)
            }
            MathFunction::Refract => {
                // k = 1 − e3² · (1 − dot(e2, e1)²); nothing where k < 0, else
                // e3 · e1 − (e3 · dot(e2, e1) + √k) · e2
                let (normal, eta) = (&operands[1], &operands[2]);
                let dot = self.dot(kind, normal, a, span)?[0];
                let (zero, one) = (self.number(kind, 0.0)?, self.number(kind, 1.0)?);
                let square = self.mul(kind, dot, dot, span)?;
                let rest = self.sub(kind, one, square, span)?;
                let eta2 = self.mul(kind, eta[0], eta[0], span)?;
                let bend = self.mul(kind, eta2, rest, span)?;
                let k = self.sub(kind, one, bend, span)?;
                let total = self.binary_scalar(BinaryOperator::Less, kind, k, zero, span)?[0];
                let root = self.float1(kind, (single::sqrt, double::sqrt), k)?[0];
                let scaled = self.mul(kind, eta[0], dot, span)?;
                let factor = self.add(kind, scaled, root, span)?;
                let factor: Vec<Reg> = whole(kind, factor).collect();
                let along = components(self, BinaryOperator::Multiply, normal, &factor)?;
                let ahead = components(self, BinaryOperator::Multiply, a, eta)?;
                let bent = components(self, BinaryOperator::Subtract, &ahead, &along)?;
                let nothing: Vec<Reg> = whole(kind, zero).collect();
                let mut result = Vec::new();
                for (number, &part) in bent.iter().enumerate() {
                    let none = nothing[number % nothing.len()];
                    result.push(self.op3(Op::Select, [part, none, total])?);
                }
                self.pair_registers(result)
            }
            _ => Err(self.unsupported(format!("{fun:?}"), span)),
        }
    }

    /// Registers in a row, as the halves of 64-bit scalars must be.
    fn pair_registers(&mut self, registers: Vec<Reg>) -> Result<Vec<Reg>> {
        let first = self.in_a_row(&registers)?;
        Ok((first..).take(registers.len()).collect())
    }

    /// The sum of products from the first to the last.
    fn dot(&mut self, kind: BuiltinKind, a: &[Reg], b: &[Reg], span: Span) -> Result<Vec<Reg>> {
        let shape = Product { rows: 1, inner: a.len() / kind.slots(), columns: 1 };
        self.matrix_product(kind, &[a.to_vec(), b.to_vec()], shape, span)
    }

    fn length(&mut self, kind: BuiltinKind, a: &[Reg], span: Span) -> Result<Vec<Reg>> {
        if a.len() == kind.slots() {
            return self.float1(kind, (single::abs, double::abs), a[0]);
        }
        let square = self.dot(kind, a, a, span)?[0];
        self.float1(kind, (single::sqrt, double::sqrt), square)
    }

    fn cross(&mut self, kind: BuiltinKind, a: &[Reg], b: &[Reg], span: Span) -> Result<Vec<Reg>> {
        let parts = |v: &[Reg]| [0, 1, 2].map(|index| v[index * kind.slots()]);
        let across = cross(&mut Scalars { builder: self, kind, span }, &parts(a), &parts(b))?;
        Ok(across.into_iter().flat_map(|part| whole(kind, part)).collect())
    }

    // Matrices

    fn matrix(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        a: &[Reg],
        (columns, rows): (usize, usize),
        span: Span,
    ) -> Result<Vec<Reg>> {
        let width = kind.slots();
        match fun {
            MathFunction::Transpose => {
                let mut result = Vec::new();
                for row in 0..rows {
                    for column in 0..columns {
                        let first = (column * rows + row) * width;
                        result.extend_from_slice(&a[first..first + width]);
                    }
                }
                Ok(result)
            }
            MathFunction::Determinant if columns == rows => {
                let at = |column: usize, row: usize| a[(column * rows + row) * width];
                let square = Square { size: rows, at: &at };
                let value = square.determinant(&mut Scalars { builder: self, kind, span })?;
                Ok(whole(kind, value).collect())
            }
            MathFunction::Inverse if columns == rows => {
                let at = |column: usize, row: usize| a[(column * rows + row) * width];
                let square = Square { size: rows, at: &at };
                let mut scalars = Scalars { builder: self, kind, span };
                let determinant = square.determinant(&mut scalars)?;
                let elements = square.inverse(&mut scalars, &determinant)?;
                Ok(elements.into_iter().flat_map(|part| whole(kind, part)).collect())
            }
            _ => Err(self.unsupported(format!("{fun:?} of a matrix"), span)),
        }
    }

    // Packing

    fn packing(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        a: &[Reg],
        operands: &[Vec<Reg>],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let mask8 = self.word(0xff)?;
        match fun {
            MathFunction::Dot4I8Packed => {
                Ok(vec![self.map2(scalar::dot4_s, a[0], operands[1][0])?])
            }
            MathFunction::Dot4U8Packed => {
                Ok(vec![self.map2(scalar::dot4_u, a[0], operands[1][0])?])
            }
            MathFunction::Pack4x8snorm => self.pack(a, 8, scalar::pack_snorm8),
            MathFunction::Pack4x8unorm => self.pack(a, 8, scalar::pack_unorm8),
            MathFunction::Pack2x16snorm => self.pack(a, 16, scalar::pack_snorm16),
            MathFunction::Pack2x16unorm => self.pack(a, 16, scalar::pack_unorm16),
            MathFunction::Pack2x16float => self.pack(a, 16, scalar::float_to_half),
            MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => {
                let mut parts = Vec::new();
                for &part in a {
                    parts.push(self.op2(Op::AndI, part, mask8)?);
                }
                self.pack(&parts, 8, std::convert::identity)
            }
            MathFunction::Pack4xI8Clamp => {
                let mut parts = Vec::new();
                for &part in a {
                    let part = self.map1(scalar::clamp_s8, part)?;
                    parts.push(self.op2(Op::AndI, part, mask8)?);
                }
                self.pack(&parts, 8, std::convert::identity)
            }
            MathFunction::Pack4xU8Clamp => self.pack(a, 8, scalar::clamp_u8),
            MathFunction::Unpack4x8snorm => self.unpack(a[0], 8, scalar::unpack_snorm8),
            MathFunction::Unpack4x8unorm => self.unpack(a[0], 8, scalar::unpack_unorm8),
            MathFunction::Unpack2x16snorm => self.unpack(a[0], 16, scalar::unpack_snorm16),
            MathFunction::Unpack2x16unorm => self.unpack(a[0], 16, scalar::unpack_unorm16),
            MathFunction::Unpack2x16float => self.unpack(a[0], 16, scalar::half_to_float),
            MathFunction::Unpack4xI8 => self.unpack(a[0], 8, scalar::sign_extend_byte),
            MathFunction::Unpack4xU8 => {
                let mut parts = Vec::new();
                for part in self.unpack(a[0], 8, std::convert::identity)? {
                    parts.push(self.op2(Op::AndI, part, mask8)?);
                }
                Ok(parts)
            }
            _ => Err(self.unsupported(format!("{fun:?} of {kind:?}"), span)),
        }
    }

    fn pack(&mut self, parts: &[Reg], bits: u32, f: fn(u32) -> u32) -> Result<Vec<Reg>> {
        let mut word = self.word(0)?;
        for (number, &part) in (0..).zip(parts) {
            let part = self.map1(f, part)?;
            let shift = self.word(number * bits)?;
            let shifted = self.op2(Op::Shl, part, shift)?;
            word = self.op2(Op::OrI, word, shifted)?;
        }
        Ok(vec![word])
    }

    fn unpack(&mut self, word: Reg, bits: u32, f: fn(u32) -> u32) -> Result<Vec<Reg>> {
        let mut parts = Vec::new();
        for number in 0..32 / bits {
            let shift = self.word(number * bits)?;
            let part = self.op2(Op::ShrU, word, shift)?;
            parts.push(self.map1(f, part)?);
        }
        Ok(parts)
    }
}

/// Functions that run on all lanes at once.
fn lanes1(fun: MathFunction) -> Option<fn(Reg, Reg) -> Op> {
    match fun {
        MathFunction::Abs => Some(Op::AbsF),
        MathFunction::Sqrt => Some(Op::SqrtF),
        MathFunction::Floor => Some(Op::FloorF),
        MathFunction::Ceil => Some(Op::CeilF),
        MathFunction::Trunc => Some(Op::TruncF),
        MathFunction::Round => Some(Op::RoundF),
        _ => None,
    }
}

fn float1(fun: MathFunction) -> Option<Float1> {
    use MathFunction as M;
    macro_rules! pick {
        ($($variant:ident => $name:ident,)*) => {
            match fun {
                $(M::$variant => Some((single::$name, double::$name)),)*
                _ => None,
            }
        };
    }
    pick! {
        Abs => abs, Cos => cos, Cosh => cosh, Sin => sin, Sinh => sinh, Tan => tan, Tanh => tanh,
        Acos => acos, Asin => asin, Atan => atan, Asinh => asinh, Acosh => acosh, Atanh => atanh,
        Radians => radians, Degrees => degrees, Ceil => ceil, Floor => floor, Round => round,
        Fract => fract, Trunc => trunc, Exp => exp, Exp2 => exp2, Log => ln, Log2 => log2,
        Sign => sign, Sqrt => sqrt, InverseSqrt => inverse_sqrt,
    }
}

fn float2(fun: MathFunction) -> Option<Float2> {
    match fun {
        MathFunction::Atan2 => Some((single::atan2, double::atan2)),
        MathFunction::Pow => Some((single::pow, double::pow)),
        MathFunction::Step => Some((single::step, double::step)),
        _ => None,
    }
}
