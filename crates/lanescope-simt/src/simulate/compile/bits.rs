//! Built-in functions of the bits of integers.
//!
//! Input: operands of an integer kind. Output: instructions that call `simulate::bits`.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "`builtin::family` is total and sends these here"
)]

use naga::{MathFunction, Span};

use super::{CodeBuilder, Result};
use crate::program::builtin::BuiltinKind;
use crate::simulate::bits::{self, long, short, word};
use crate::simulate::op::{Op, Reg};
use crate::simulate::scalar;

/// A function of one integer: of 16 bits, of 32, of 64.
type Bits1 = (fn(u32) -> u32, fn(u32) -> u32, fn(u64) -> u64);

impl CodeBuilder<'_> {
    pub(super) fn bits(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        operands: &[Vec<Reg>],
        span: Span,
    ) -> Result<Vec<Reg>> {
        if kind.is_float() || kind == BuiltinKind::Bool {
            return Err(self.unsupported(format!("{fun:?} of {kind:?}"), span));
        }
        // Offsets and counts are words whatever the kind is.
        let (values, fields): (Vec<_>, Vec<_>) =
            operands.iter().cloned().zip(0..).partition(|(_, number)| match fun {
                MathFunction::ExtractBits => *number < 1,
                MathFunction::InsertBits => *number < 2,
                _ => true,
            });
        let values: Vec<Vec<Reg>> = values.into_iter().map(|(operand, _)| operand).collect();
        let fields: Vec<Reg> = fields.iter().map(|(operand, _)| operand[0]).collect();
        self.map_components(kind, &values, |builder, kind, parts| {
            match (fun, parts, fields.as_slice()) {
                (MathFunction::ExtractBits, &[a], &[offset, count]) => {
                    builder.extract(kind, a, [offset, count])
                }
                (MathFunction::InsertBits, &[a, new], &[offset, count]) => {
                    builder.insert(kind, [a, new], [offset, count])
                }
                (_, &[a], _) => match find_unary(fun, kind.is_signed()) {
                    Some(f) => builder.bits1(kind, f, a),
                    None => Err(builder.unsupported(format!("{fun:?}"), span)),
                },
                _ => Err(builder.unsupported(format!("{fun:?}"), span)),
            }
        })
    }

    fn bits1(&mut self, kind: BuiltinKind, f: Bits1, a: Reg) -> Result<Vec<Reg>> {
        if kind.is_wide() {
            return self.wide1(f.2, a);
        }
        let value = self.map1(if is_short(kind) { f.0 } else { f.1 }, a)?;
        self.fit(kind, value)
    }

    fn extract(&mut self, kind: BuiltinKind, a: Reg, field: [Reg; 2]) -> Result<Vec<Reg>> {
        if kind.is_wide() {
            let signed = kind.is_signed();
            let f = if signed { bits::extract_long_signed } else { bits::extract_long };
            let field = self.in_a_row(&field)?;
            return self.wide2(f, a, field);
        }
        let f = match (is_short(kind), kind.is_signed()) {
            (true, true) => short::extract_signed,
            (true, false) => short::extract,
            (false, true) => word::extract_signed,
            (false, false) => word::extract,
        };
        let dst = self.fresh(1)?;
        self.push(Op::Map3(f, dst, [a, field[0], field[1]]))?;
        Ok(vec![dst])
    }

    fn insert(
        &mut self,
        kind: BuiltinKind,
        [a, new]: [Reg; 2],
        field: [Reg; 2],
    ) -> Result<Vec<Reg>> {
        if kind.is_wide() {
            let field = self.in_a_row(&field)?;
            let rest = self.wide2(bits::clear_long, a, field)?[0];
            let part = self.wide2(bits::place_long, new, field)?[0];
            return self.wide2(scalar::long_or, rest, part);
        }
        let f = if is_short(kind) { short::insert } else { word::insert };
        let dst = self.fresh(1)?;
        self.push(Op::Map4(f, dst, [a, new, field[0], field[1]]))?;
        self.fit(kind, dst)
    }
}

fn is_short(kind: BuiltinKind) -> bool {
    matches!(kind, BuiltinKind::I16 | BuiltinKind::U16)
}

/// Functions of one integer.
fn find_unary(fun: MathFunction, signed: bool) -> Option<Bits1> {
    macro_rules! of {
        ($name:ident) => {
            Some((short::$name, word::$name, long::$name))
        };
    }
    match fun {
        MathFunction::CountTrailingZeros => of!(trailing_zeros),
        MathFunction::CountLeadingZeros => of!(leading_zeros),
        MathFunction::CountOneBits => of!(count_ones),
        MathFunction::ReverseBits => of!(reverse_bits),
        MathFunction::FirstTrailingBit => of!(first_trailing),
        MathFunction::FirstLeadingBit if signed => of!(first_leading_signed),
        MathFunction::FirstLeadingBit => of!(first_leading),
        _ => None,
    }
}
