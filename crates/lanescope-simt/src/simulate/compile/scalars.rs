//! Operations on scalars of every type.
//!
//! Input: an operator, a kind and registers. Output: instructions. `f16` is computed in `f32` and
//! rounded after each operation (for +, −, ×, ÷ and the square root that is the same as computing
//! it in `f16`); 16-bit integers are extended again; 64-bit scalars go through functions.

use naga::{BinaryOperator, Scalar, Span, SubgroupOperation, UnaryOperator};

use super::{CodeBuilder, Result, SimulateError, scalar_slots};
use crate::program::builtin::{Arithmetic, BuiltinKind};
use crate::simulate::op::{Op, Reg};
use crate::simulate::scalar::{self, double, single};

impl BuiltinKind {
    /// Registers of one.
    pub(super) fn slots(self) -> usize {
        if self.is_wide() { 2 } else { 1 }
    }
}

/// A scalar's registers from its first.
pub(super) fn whole(kind: BuiltinKind, first: Reg) -> impl Iterator<Item = Reg> {
    (first..).take(kind.slots())
}

/// Scalars of one kind in registers, each by its first: what the formulas of
/// [`builtin`](crate::program::builtin) are worked out in.
pub(super) struct Scalars<'b, 'a> {
    pub(super) builder: &'b mut CodeBuilder<'a>,
    pub(super) kind: BuiltinKind,
    pub(super) span: Span,
}

impl Arithmetic for Scalars<'_, '_> {
    type Value = Reg;
    type Error = SimulateError;

    fn binary(&mut self, op: BinaryOperator, left: Reg, right: Reg) -> Result<Reg> {
        Ok(self.builder.binary_scalar(op, self.kind, left, right, self.span)?[0])
    }

    fn negative(&mut self, value: Reg) -> Result<Reg> {
        Ok(self.builder.unary(UnaryOperator::Negate, self.kind, value, self.span)?[0])
    }
}

impl CodeBuilder<'_> {
    // Instructions with a new destination

    pub(super) fn op1(&mut self, op: fn(Reg, Reg) -> Op, a: Reg) -> Result<Reg> {
        let dst = self.fresh(1)?;
        self.push(op(dst, a))?;
        Ok(dst)
    }

    pub(super) fn op2(&mut self, op: fn(Reg, Reg, Reg) -> Op, a: Reg, b: Reg) -> Result<Reg> {
        let dst = self.fresh(1)?;
        self.push(op(dst, a, b))?;
        Ok(dst)
    }

    pub(super) fn op3(
        &mut self,
        op: fn(Reg, Reg, Reg, Reg) -> Op,
        [a, b, c]: [Reg; 3],
    ) -> Result<Reg> {
        let dst = self.fresh(1)?;
        self.push(op(dst, a, b, c))?;
        Ok(dst)
    }

    pub(super) fn map1(&mut self, f: fn(u32) -> u32, a: Reg) -> Result<Reg> {
        let dst = self.fresh(1)?;
        self.push(Op::Map1(f, dst, a))?;
        Ok(dst)
    }

    pub(super) fn map2(&mut self, f: fn(u32, u32) -> u32, a: Reg, b: Reg) -> Result<Reg> {
        let dst = self.fresh(1)?;
        self.push(Op::Map2(f, dst, [a, b]))?;
        Ok(dst)
    }

    pub(super) fn wide1(&mut self, f: fn(u64) -> u64, a: Reg) -> Result<Vec<Reg>> {
        let dst = self.fresh(2)?;
        self.push(Op::Wide1(f, dst, a))?;
        Ok(vec![dst, dst + 1])
    }

    pub(super) fn wide2(&mut self, f: fn(u64, u64) -> u64, a: Reg, b: Reg) -> Result<Vec<Reg>> {
        let dst = self.fresh(2)?;
        self.push(Op::Wide2(f, dst, [a, b]))?;
        Ok(vec![dst, dst + 1])
    }

    fn widen(&mut self, f: fn(u32) -> u64, a: Reg) -> Result<Vec<Reg>> {
        let dst = self.fresh(2)?;
        self.push(Op::Widen(f, dst, a))?;
        Ok(vec![dst, dst + 1])
    }

    fn narrow(&mut self, f: fn(u64) -> u32, a: Reg) -> Result<Vec<Reg>> {
        let dst = self.fresh(1)?;
        self.push(Op::Narrow(f, dst, a))?;
        Ok(vec![dst])
    }

    /// Brings a result of 32-bit arithmetic back to a smaller type.
    pub(super) fn fit(&mut self, kind: BuiltinKind, value: Reg) -> Result<Vec<Reg>> {
        Ok(vec![match kind {
            BuiltinKind::F16 => self.map1(scalar::round_half, value)?,
            BuiltinKind::I16 => self.map1(scalar::sign_extend_short, value)?,
            BuiltinKind::U16 => {
                let mask = self.word(0xffff)?;
                self.op2(Op::AndI, value, mask)?
            }
            BuiltinKind::F32
            | BuiltinKind::F64
            | BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I64
            | BuiltinKind::U64
            | BuiltinKind::Bool => value,
        }])
    }

    // Operators

    pub(super) fn unary(
        &mut self,
        op: UnaryOperator,
        kind: BuiltinKind,
        a: Reg,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let value = match (op, kind) {
            (UnaryOperator::Negate, BuiltinKind::F16 | BuiltinKind::F32) => {
                self.op1(Op::NegF, a)?
            }
            (UnaryOperator::Negate, BuiltinKind::F64) => return self.wide1(double::neg, a),
            (UnaryOperator::Negate, BuiltinKind::I64 | BuiltinKind::U64) => {
                return self.wide1(scalar::long_neg, a);
            }
            (
                UnaryOperator::Negate,
                BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::I32 | BuiltinKind::U32,
            ) => self.op1(Op::NegI, a)?,
            (UnaryOperator::LogicalNot, BuiltinKind::Bool) => self.op1(Op::NotB, a)?,
            (UnaryOperator::BitwiseNot, BuiltinKind::I64 | BuiltinKind::U64) => {
                return self.wide1(scalar::long_not, a);
            }
            (
                UnaryOperator::BitwiseNot,
                BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::I32 | BuiltinKind::U32,
            ) => self.op1(Op::NotI, a)?,
            (UnaryOperator::Negate | UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, _) => {
                return Err(self.unsupported(format!("{op:?} of {kind:?}"), span));
            }
        };
        self.fit(kind, value)
    }

    pub(super) fn binary_scalar(
        &mut self,
        op: BinaryOperator,
        kind: BuiltinKind,
        a: Reg,
        b: Reg,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let (op, a, b) = if op == BinaryOperator::Greater {
            (BinaryOperator::Less, b, a)
        } else if op == BinaryOperator::GreaterEqual {
            (BinaryOperator::LessEqual, b, a)
        } else {
            (op, a, b)
        };
        let done = match kind {
            BuiltinKind::F16 | BuiltinKind::F32 => self.binary_float(op, kind, a, b)?,
            BuiltinKind::F64 => self.binary_double(op, a, b)?,
            BuiltinKind::I64 | BuiltinKind::U64 => self.binary_long(op, kind, a, b)?,
            BuiltinKind::Bool => self.binary_bool(op, a, b)?,
            BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::I32 | BuiltinKind::U32 => {
                self.binary_int(op, kind, a, b)?
            }
        };
        done.ok_or_else(|| self.unsupported(format!("{op:?} of {kind:?}"), span))
    }

    fn binary_float(
        &mut self,
        op: BinaryOperator,
        kind: BuiltinKind,
        a: Reg,
        b: Reg,
    ) -> Result<Option<Vec<Reg>>> {
        let value = match op {
            BinaryOperator::Add => self.op2(Op::AddF, a, b)?,
            BinaryOperator::Subtract => self.op2(Op::SubF, a, b)?,
            BinaryOperator::Multiply => self.op2(Op::MulF, a, b)?,
            BinaryOperator::Divide => self.op2(Op::DivF, a, b)?,
            BinaryOperator::Modulo => self.map2(single::rem, a, b)?,
            BinaryOperator::Equal => return Ok(Some(vec![self.op2(Op::EqF, a, b)?])),
            BinaryOperator::NotEqual => return Ok(Some(vec![self.op2(Op::NeF, a, b)?])),
            BinaryOperator::Less => return Ok(Some(vec![self.op2(Op::LtF, a, b)?])),
            BinaryOperator::LessEqual => return Ok(Some(vec![self.op2(Op::LeF, a, b)?])),
            BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::And
            | BinaryOperator::ExclusiveOr
            | BinaryOperator::InclusiveOr
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => return Ok(None),
        };
        self.fit(kind, value).map(Some)
    }

    fn binary_double(&mut self, op: BinaryOperator, a: Reg, b: Reg) -> Result<Option<Vec<Reg>>> {
        let f: fn(u64, u64) -> u64 = match op {
            BinaryOperator::Add => double::add,
            BinaryOperator::Subtract => double::sub,
            BinaryOperator::Multiply => double::mul,
            BinaryOperator::Divide => double::div,
            BinaryOperator::Modulo => double::rem,
            BinaryOperator::Equal => return self.wide_test(scalar::double_eq, a, b),
            BinaryOperator::NotEqual => return self.wide_test(scalar::double_ne, a, b),
            BinaryOperator::Less => return self.wide_test(scalar::double_lt, a, b),
            BinaryOperator::LessEqual => return self.wide_test(scalar::double_le, a, b),
            BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::And
            | BinaryOperator::ExclusiveOr
            | BinaryOperator::InclusiveOr
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => return Ok(None),
        };
        self.wide2(f, a, b).map(Some)
    }

    fn wide_test(&mut self, f: fn(u64, u64) -> u32, a: Reg, b: Reg) -> Result<Option<Vec<Reg>>> {
        let dst = self.fresh(1)?;
        self.push(Op::WideTest(f, dst, [a, b]))?;
        Ok(Some(vec![dst]))
    }

    fn binary_long(
        &mut self,
        op: BinaryOperator,
        kind: BuiltinKind,
        a: Reg,
        b: Reg,
    ) -> Result<Option<Vec<Reg>>> {
        let signed = kind.is_signed();
        let f: fn(u64, u64) -> u64 = match op {
            BinaryOperator::Add => scalar::long_add,
            BinaryOperator::Subtract => scalar::long_sub,
            BinaryOperator::Multiply => scalar::long_mul,
            BinaryOperator::Divide if signed => scalar::long_div_s,
            BinaryOperator::Divide => scalar::long_div_u,
            BinaryOperator::Modulo if signed => scalar::long_rem_s,
            BinaryOperator::Modulo => scalar::long_rem_u,
            BinaryOperator::And => scalar::long_and,
            BinaryOperator::ExclusiveOr => scalar::long_xor,
            BinaryOperator::InclusiveOr => scalar::long_or,
            BinaryOperator::ShiftLeft => scalar::long_shl,
            BinaryOperator::ShiftRight if signed => scalar::long_shr_s,
            BinaryOperator::ShiftRight => scalar::long_shr_u,
            BinaryOperator::Equal => return self.wide_test(scalar::long_eq, a, b),
            BinaryOperator::NotEqual => return self.wide_test(scalar::long_ne, a, b),
            BinaryOperator::Less if signed => return self.wide_test(scalar::long_lt_s, a, b),
            BinaryOperator::Less => return self.wide_test(scalar::long_lt_u, a, b),
            BinaryOperator::LessEqual if signed => return self.wide_test(scalar::long_le_s, a, b),
            BinaryOperator::LessEqual => return self.wide_test(scalar::long_le_u, a, b),
            BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr => return Ok(None),
        };
        self.wide2(f, a, b).map(Some)
    }

    fn binary_bool(&mut self, op: BinaryOperator, a: Reg, b: Reg) -> Result<Option<Vec<Reg>>> {
        let op = match op {
            BinaryOperator::And | BinaryOperator::LogicalAnd => Op::AndI,
            BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => Op::OrI,
            BinaryOperator::ExclusiveOr | BinaryOperator::NotEqual => Op::XorI,
            BinaryOperator::Equal => Op::EqI,
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => return Ok(None),
        };
        Ok(Some(vec![self.op2(op, a, b)?]))
    }

    fn binary_int(
        &mut self,
        op: BinaryOperator,
        kind: BuiltinKind,
        a: Reg,
        b: Reg,
    ) -> Result<Option<Vec<Reg>>> {
        let signed = kind.is_signed();
        let compare = |builder: &mut Self, op| Ok(Some(vec![builder.op2(op, a, b)?]));
        let shift = |builder: &mut Self, op| {
            // 16-bit types shift by the amount modulo 16; the instruction takes 32.
            let amount = if matches!(kind, BuiltinKind::I16 | BuiltinKind::U16) {
                let mask = builder.word(15)?;
                builder.op2(Op::AndI, b, mask)?
            } else {
                b
            };
            builder.op2(op, a, amount)
        };
        let value = match op {
            BinaryOperator::Add => self.op2(Op::AddI, a, b)?,
            BinaryOperator::Subtract => self.op2(Op::SubI, a, b)?,
            BinaryOperator::Multiply => self.op2(Op::MulI, a, b)?,
            BinaryOperator::Divide if signed => self.map2(scalar::div_s, a, b)?,
            BinaryOperator::Divide => self.map2(scalar::div_u, a, b)?,
            BinaryOperator::Modulo if signed => self.map2(scalar::rem_s, a, b)?,
            BinaryOperator::Modulo => self.map2(scalar::rem_u, a, b)?,
            BinaryOperator::And => self.op2(Op::AndI, a, b)?,
            BinaryOperator::ExclusiveOr => self.op2(Op::XorI, a, b)?,
            BinaryOperator::InclusiveOr => self.op2(Op::OrI, a, b)?,
            BinaryOperator::ShiftLeft => shift(self, Op::Shl)?,
            BinaryOperator::ShiftRight if signed => shift(self, Op::ShrS)?,
            BinaryOperator::ShiftRight => shift(self, Op::ShrU)?,
            BinaryOperator::Equal => return compare(self, Op::EqI),
            BinaryOperator::NotEqual => return compare(self, Op::NeI),
            BinaryOperator::Less => return compare(self, if signed { Op::LtS } else { Op::LtU }),
            BinaryOperator::LessEqual => {
                return compare(self, if signed { Op::LeS } else { Op::LeU });
            }
            BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr => return Ok(None),
        };
        self.fit(kind, value).map(Some)
    }

    // Conversions

    /// Converts a value, or reads its bits as another type of the same width.
    pub(super) fn cast(
        &mut self,
        from: Scalar,
        to: Scalar,
        convert: bool,
        operand: &[Reg],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let (Some(source), Some(target)) = (BuiltinKind::new(from), BuiltinKind::new(to)) else {
            return Err(self.unsupported(format!("{from:?} as {to:?}"), span));
        };
        let mut result = Vec::new();
        for part in operand.chunks(scalar_slots(from)) {
            result.extend(if source == target {
                part.to_vec()
            } else if convert {
                self.convert(source, target, part[0])?
            } else {
                self.bitcast(source, target, part)?
            });
        }
        Ok(result)
    }

    fn bitcast(
        &mut self,
        source: BuiltinKind,
        target: BuiltinKind,
        part: &[Reg],
    ) -> Result<Vec<Reg>> {
        let bits = match source {
            BuiltinKind::F16 => self.map1(scalar::float_to_half, part[0])?,
            BuiltinKind::I16 => {
                let mask = self.word(0xffff)?;
                self.op2(Op::AndI, part[0], mask)?
            }
            BuiltinKind::F32
            | BuiltinKind::F64
            | BuiltinKind::U16
            | BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I64
            | BuiltinKind::U64
            | BuiltinKind::Bool => return self.of_bits(target, part),
        };
        self.of_bits(target, &[bits])
    }

    fn of_bits(&mut self, target: BuiltinKind, part: &[Reg]) -> Result<Vec<Reg>> {
        match target {
            BuiltinKind::F16 => Ok(vec![self.map1(scalar::half_to_float, part[0])?]),
            BuiltinKind::I16 => Ok(vec![self.map1(scalar::sign_extend_short, part[0])?]),
            BuiltinKind::F32
            | BuiltinKind::F64
            | BuiltinKind::U16
            | BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I64
            | BuiltinKind::U64
            | BuiltinKind::Bool => Ok(part.to_vec()),
        }
    }

    fn convert(&mut self, source: BuiltinKind, target: BuiltinKind, a: Reg) -> Result<Vec<Reg>> {
        match source {
            BuiltinKind::Bool => self.convert_bool(target, a),
            BuiltinKind::I16 | BuiltinKind::I32 => self.convert_int(target, a, true),
            BuiltinKind::U16 | BuiltinKind::U32 => self.convert_int(target, a, false),
            BuiltinKind::F16 => {
                // Infinities become the largest `f16` on the way to an integer.
                let integer = !target.is_float() && target != BuiltinKind::Bool;
                let a = if integer { self.map1(scalar::clamp_half, a)? } else { a };
                self.convert_float(target, a)
            }
            BuiltinKind::F32 => self.convert_float(target, a),
            BuiltinKind::F64 => self.convert_double(target, a),
            BuiltinKind::I64 | BuiltinKind::U64 => self.convert_long(source, target, a),
        }
    }

    fn convert_bool(&mut self, target: BuiltinKind, a: Reg) -> Result<Vec<Reg>> {
        Ok(match target {
            BuiltinKind::F16 | BuiltinKind::F32 => vec![self.op1(Op::FloatB, a)?],
            BuiltinKind::F64 => self.widen(scalar::double_from_u, a)?,
            BuiltinKind::I64 | BuiltinKind::U64 => self.widen(scalar::long_from_u, a)?,
            BuiltinKind::I16
            | BuiltinKind::U16
            | BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::Bool => vec![a],
        })
    }

    fn convert_int(&mut self, target: BuiltinKind, a: Reg, signed: bool) -> Result<Vec<Reg>> {
        Ok(match target {
            BuiltinKind::Bool => vec![self.op1(Op::TestI, a)?],
            BuiltinKind::F16 | BuiltinKind::F32 => {
                let value = self.op1(if signed { Op::FloatS } else { Op::FloatU }, a)?;
                self.fit(target, value)?
            }
            BuiltinKind::F64 if signed => self.widen(scalar::double_from_s, a)?,
            BuiltinKind::F64 => self.widen(scalar::double_from_u, a)?,
            BuiltinKind::I64 | BuiltinKind::U64 if signed => self.widen(scalar::long_from_s, a)?,
            BuiltinKind::I64 | BuiltinKind::U64 => self.widen(scalar::long_from_u, a)?,
            BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::I32 | BuiltinKind::U32 => {
                self.fit(target, a)?
            }
        })
    }

    fn convert_float(&mut self, target: BuiltinKind, a: Reg) -> Result<Vec<Reg>> {
        Ok(match target {
            BuiltinKind::Bool => vec![self.op1(Op::TestF, a)?],
            BuiltinKind::F16 => vec![self.map1(scalar::round_half, a)?],
            BuiltinKind::F32 => vec![a],
            BuiltinKind::F64 => self.widen(scalar::double_from_float, a)?,
            BuiltinKind::I16 => vec![self.map1(scalar::short_from_float, a)?],
            BuiltinKind::U16 => vec![self.map1(scalar::ushort_from_float, a)?],
            BuiltinKind::I32 => vec![self.op1(Op::IntS, a)?],
            BuiltinKind::U32 => vec![self.op1(Op::IntU, a)?],
            BuiltinKind::I64 => self.widen(scalar::long_from_float, a)?,
            BuiltinKind::U64 => self.widen(scalar::ulong_from_float, a)?,
        })
    }

    fn convert_double(&mut self, target: BuiltinKind, a: Reg) -> Result<Vec<Reg>> {
        Ok(match target {
            BuiltinKind::Bool => {
                let zero = self.wide(0)?[0];
                let dst = self.fresh(1)?;
                self.push(Op::WideTest(scalar::double_ne, dst, [a, zero]))?;
                vec![dst]
            }
            BuiltinKind::F16 => self.narrow(scalar::half_from_double, a)?,
            BuiltinKind::F32 => self.narrow(scalar::float_from_double, a)?,
            BuiltinKind::F64 => vec![a, a + 1],
            BuiltinKind::I16 => {
                let float = self.narrow(scalar::float_from_double, a)?[0];
                vec![self.map1(scalar::short_from_float, float)?]
            }
            BuiltinKind::U16 => {
                let float = self.narrow(scalar::float_from_double, a)?[0];
                vec![self.map1(scalar::ushort_from_float, float)?]
            }
            BuiltinKind::I32 => self.narrow(scalar::s_from_double, a)?,
            BuiltinKind::U32 => self.narrow(scalar::u_from_double, a)?,
            BuiltinKind::I64 => self.wide1(scalar::long_from_double, a)?,
            BuiltinKind::U64 => self.wide1(scalar::ulong_from_double, a)?,
        })
    }

    fn convert_long(
        &mut self,
        source: BuiltinKind,
        target: BuiltinKind,
        a: Reg,
    ) -> Result<Vec<Reg>> {
        let signed = source.is_signed();
        Ok(match target {
            BuiltinKind::Bool => {
                let zero = self.wide(0)?[0];
                let dst = self.fresh(1)?;
                self.push(Op::WideTest(scalar::long_ne, dst, [a, zero]))?;
                vec![dst]
            }
            BuiltinKind::F16 | BuiltinKind::F32 => {
                let f = if signed { scalar::float_from_long } else { scalar::float_from_ulong };
                let value = self.narrow(f, a)?[0];
                self.fit(target, value)?
            }
            BuiltinKind::F64 if signed => self.wide1(scalar::double_from_long, a)?,
            BuiltinKind::F64 => self.wide1(scalar::double_from_ulong, a)?,
            BuiltinKind::I64 | BuiltinKind::U64 => vec![a, a + 1],
            BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::I32 | BuiltinKind::U32 => {
                let low = self.narrow(scalar::low_word, a)?[0];
                self.fit(target, low)?
            }
        })
    }
}

/// How to combine two values, with the value that changes nothing.
pub(super) enum Fold {
    Word(fn(u32, u32) -> u32, u32),
    Wide(fn(u64, u64) -> u64, u64),
}

/// The function of a collective or atomic operation.
pub(super) fn fold(operation: SubgroupOperation, scalar: Scalar) -> Option<Fold> {
    use SubgroupOperation as O;
    let kind = BuiltinKind::new(scalar)?;
    if kind.is_wide() {
        return fold_wide(operation, kind);
    }
    let one = 1f32.to_bits();
    let (f, identity): (fn(u32, u32) -> u32, u32) = match (operation, kind) {
        (O::All, BuiltinKind::Bool) => (scalar::and, 1),
        (O::Any, BuiltinKind::Bool) => (scalar::or, 0),
        (
            O::And,
            BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I16
            | BuiltinKind::U16
            | BuiltinKind::Bool,
        ) => (scalar::and, u32::MAX),
        (
            O::Or,
            BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I16
            | BuiltinKind::U16
            | BuiltinKind::Bool,
        ) => (scalar::or, 0),
        (
            O::Xor,
            BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I16
            | BuiltinKind::U16
            | BuiltinKind::Bool,
        ) => (scalar::xor, 0),
        (O::Add, BuiltinKind::F32) => (single::add, 0),
        (O::Add, BuiltinKind::F16) => (scalar::half_add, 0),
        (O::Add, BuiltinKind::I32 | BuiltinKind::U32) => (scalar::add, 0),
        (O::Add, BuiltinKind::I16) => (scalar::short_add, 0),
        (O::Add, BuiltinKind::U16) => (scalar::ushort_add, 0),
        (O::Mul, BuiltinKind::F32) => (single::mul, one),
        (O::Mul, BuiltinKind::F16) => (scalar::half_mul, one),
        (O::Mul, BuiltinKind::I32 | BuiltinKind::U32) => (scalar::mul, 1),
        (O::Mul, BuiltinKind::I16) => (scalar::short_mul, 1),
        (O::Mul, BuiltinKind::U16) => (scalar::ushort_mul, 1),
        (O::Min, BuiltinKind::F32 | BuiltinKind::F16) => (single::min, f32::INFINITY.to_bits()),
        (O::Max, BuiltinKind::F32 | BuiltinKind::F16) => (single::max, f32::NEG_INFINITY.to_bits()),
        (O::Min, BuiltinKind::I32 | BuiltinKind::I16) => (scalar::min_s, i32::MAX.cast_unsigned()),
        (O::Max, BuiltinKind::I32 | BuiltinKind::I16) => (scalar::max_s, i32::MIN.cast_unsigned()),
        (O::Min, BuiltinKind::U32 | BuiltinKind::U16) => (scalar::min_u, u32::MAX),
        (O::Max, BuiltinKind::U32 | BuiltinKind::U16) => (scalar::max_u, 0),
        (O::All | O::Any | O::Add | O::Mul | O::Min | O::Max | O::And | O::Or | O::Xor, _) => {
            return None;
        }
    };
    Some(Fold::Word(f, identity))
}

fn fold_wide(operation: SubgroupOperation, kind: BuiltinKind) -> Option<Fold> {
    use SubgroupOperation as O;
    let (f, identity): (fn(u64, u64) -> u64, u64) = match (operation, kind) {
        (O::And, BuiltinKind::I64 | BuiltinKind::U64) => (scalar::long_and, u64::MAX),
        (O::Or, BuiltinKind::I64 | BuiltinKind::U64) => (scalar::long_or, 0),
        (O::Xor, BuiltinKind::I64 | BuiltinKind::U64) => (scalar::long_xor, 0),
        (O::Add, BuiltinKind::F64) => (double::add, 0),
        (O::Add, BuiltinKind::I64 | BuiltinKind::U64) => (scalar::long_add, 0),
        (O::Mul, BuiltinKind::F64) => (double::mul, 1f64.to_bits()),
        (O::Mul, BuiltinKind::I64 | BuiltinKind::U64) => (scalar::long_mul, 1),
        (O::Min, BuiltinKind::F64) => (double::min, f64::INFINITY.to_bits()),
        (O::Max, BuiltinKind::F64) => (double::max, f64::NEG_INFINITY.to_bits()),
        (O::Min, BuiltinKind::I64) => (scalar::long_min_s, i64::MAX.cast_unsigned()),
        (O::Max, BuiltinKind::I64) => (scalar::long_max_s, i64::MIN.cast_unsigned()),
        (O::Min, BuiltinKind::U64) => (scalar::long_min_u, u64::MAX),
        (O::Max, BuiltinKind::U64) => (scalar::long_max_u, 0),
        (O::All | O::Any | O::Add | O::Mul | O::Min | O::Max | O::And | O::Or | O::Xor, _) => {
            return None;
        }
    };
    Some(Fold::Wide(f, identity))
}
