//! WGSL's scalar types and built-in functions: one table for whoever runs or translates them.
//!
//! Input: naga's scalars and functions. Output: the [`BuiltinKind`] of a scalar, the [`Family`] of a
//! function, and the formulas of those that are sums and products of their operands' parts, in
//! whatever [`Arithmetic`] the caller has: registers of the simulator, or C++'s text. Each formula is
//! one order of operations, so that all that use it round alike. Nothing is worked out here.

#![warn(clippy::wildcard_enum_match_arm)]

use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind};

/// A scalar type that values of a running program have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as in WGSL, and i16, u16, i64 and u64 alike")]
pub enum BuiltinKind {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    Bool,
}

impl BuiltinKind {
    /// The kind of one of naga's scalars; abstract ones have none, nor do other widths.
    pub fn new(scalar: Scalar) -> Option<Self> {
        Some(match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => Self::F16,
            (ScalarKind::Float, 4) => Self::F32,
            (ScalarKind::Float, 8) => Self::F64,
            (ScalarKind::Sint, 2) => Self::I16,
            (ScalarKind::Uint, 2) => Self::U16,
            (ScalarKind::Sint, 4) => Self::I32,
            (ScalarKind::Uint, 4) => Self::U32,
            (ScalarKind::Sint, 8) => Self::I64,
            (ScalarKind::Uint, 8) => Self::U64,
            (ScalarKind::Bool, _) => Self::Bool,
            (
                ScalarKind::Float
                | ScalarKind::Sint
                | ScalarKind::Uint
                | ScalarKind::AbstractInt
                | ScalarKind::AbstractFloat,
                _,
            ) => return None,
        })
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// Whether it has 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::F64 | Self::I64 | Self::U64)
    }

    /// Its bits; one for a boolean.
    pub fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::I16 | Self::U16 => 16,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::F64 | Self::I64 | Self::U64 => 64,
            Self::Bool => 1,
        }
    }

    /// The unsigned integer of the same width; a boolean stays one.
    #[must_use]
    pub fn to_unsigned(self) -> Self {
        match self {
            Self::F16 | Self::I16 | Self::U16 => Self::U16,
            Self::F32 | Self::I32 | Self::U32 => Self::U32,
            Self::F64 | Self::I64 | Self::U64 => Self::U64,
            Self::Bool => Self::Bool,
        }
    }
}

/// What a built-in function works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Component by component.
    Components,
    /// The bits of integers, component by component.
    Bits,
    /// `ldexp`: component by component, of a float and an integer.
    Ldexp,
    /// Whole vectors.
    Geometry,
    /// Matrices.
    Matrix,
    /// Two vectors, from which it makes a matrix.
    Outer,
    /// To and from packed words.
    Packing,
    /// `modf` and `frexp`: its result is a structure of two values.
    Parts,
}

/// The family of a function; every function of naga has one.
#[expect(clippy::too_many_lines, reason = "a list of all of naga's functions")]
pub fn family(fun: MathFunction) -> Family {
    use MathFunction as M;
    match fun {
        M::Abs
        | M::Min
        | M::Max
        | M::Clamp
        | M::Saturate
        | M::Cos
        | M::Cosh
        | M::Sin
        | M::Sinh
        | M::Tan
        | M::Tanh
        | M::Acos
        | M::Asin
        | M::Atan
        | M::Atan2
        | M::Asinh
        | M::Acosh
        | M::Atanh
        | M::Radians
        | M::Degrees
        | M::Ceil
        | M::Floor
        | M::Round
        | M::Fract
        | M::Trunc
        | M::Exp
        | M::Exp2
        | M::Log
        | M::Log2
        | M::Pow
        | M::Sign
        | M::Fma
        | M::Mix
        | M::Step
        | M::SmoothStep
        | M::Sqrt
        | M::InverseSqrt
        | M::QuantizeToF16 => Family::Components,
        M::Modf | M::Frexp => Family::Parts,
        M::Ldexp => Family::Ldexp,
        M::Outer => Family::Outer,
        M::Dot
        | M::Cross
        | M::Distance
        | M::Length
        | M::Normalize
        | M::FaceForward
        | M::Reflect
        | M::Refract => Family::Geometry,
        M::Inverse | M::Transpose | M::Determinant => Family::Matrix,
        M::CountTrailingZeros
        | M::CountLeadingZeros
        | M::CountOneBits
        | M::ReverseBits
        | M::ExtractBits
        | M::InsertBits
        | M::FirstTrailingBit
        | M::FirstLeadingBit => Family::Bits,
        M::Dot4I8Packed
        | M::Dot4U8Packed
        | M::Pack4x8snorm
        | M::Pack4x8unorm
        | M::Pack2x16snorm
        | M::Pack2x16unorm
        | M::Pack2x16float
        | M::Pack4xI8
        | M::Pack4xU8
        | M::Pack4xI8Clamp
        | M::Pack4xU8Clamp
        | M::Unpack4x8snorm
        | M::Unpack4x8unorm
        | M::Unpack2x16snorm
        | M::Unpack2x16unorm
        | M::Unpack2x16float
        | M::Unpack4xI8
        | M::Unpack4xU8 => Family::Packing,
    }
}

/// Arithmetic in which a formula is worked out: with registers, or in the text of a language.
pub trait Arithmetic {
    /// A scalar.
    type Value: Clone;
    /// Why something cannot be computed.
    type Error;

    /// Combines two scalars of one kind.
    ///
    /// # Errors
    ///
    /// Where the kind has no such operation.
    fn binary(
        &mut self,
        op: BinaryOperator,
        left: Self::Value,
        right: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// The negative of a scalar.
    ///
    /// # Errors
    ///
    /// Where the kind has none.
    fn negative(&mut self, value: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// The sum of the products of pairs, from the first to the last; `None` if there is no pair.
///
/// # Errors
///
/// What the arithmetic says.
pub fn sum_of_products<A: Arithmetic>(
    arithmetic: &mut A,
    pairs: impl IntoIterator<Item = (A::Value, A::Value)>,
) -> Result<Option<A::Value>, A::Error> {
    let mut sum = None;
    for (left, right) in pairs {
        let product = arithmetic.binary(BinaryOperator::Multiply, left, right)?;
        sum = Some(match sum {
            None => product,
            Some(sum) => arithmetic.binary(BinaryOperator::Add, sum, product)?,
        });
    }
    Ok(sum)
}

/// `cross`: of the components after each one, the product less the one the other way round.
///
/// # Errors
///
/// What the arithmetic says.
pub fn cross<A: Arithmetic>(
    arithmetic: &mut A,
    left: &[A::Value; 3],
    right: &[A::Value; 3],
) -> Result<[A::Value; 3], A::Error> {
    let mut part = |first: usize, second: usize| {
        let ahead = arithmetic.binary(
            BinaryOperator::Multiply,
            left[first].clone(),
            right[second].clone(),
        )?;
        let back = arithmetic.binary(
            BinaryOperator::Multiply,
            left[second].clone(),
            right[first].clone(),
        )?;
        arithmetic.binary(BinaryOperator::Subtract, ahead, back)
    };
    Ok([part(1, 2)?, part(2, 0)?, part(0, 1)?])
}

/// A square matrix, by column and row from 0.
pub struct Square<'a, Value> {
    /// Columns, and rows.
    pub size: usize,
    /// Gives an element.
    pub at: &'a dyn Fn(usize, usize) -> Value,
}

impl<Value> std::fmt::Debug for Square<'_, Value> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Square").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<Value: Clone> Square<'_, Value> {
    /// The determinant.
    ///
    /// # Errors
    ///
    /// What the arithmetic says.
    pub fn determinant<A: Arithmetic<Value = Value>>(
        &self,
        arithmetic: &mut A,
    ) -> Result<Value, A::Error> {
        let all: Vec<usize> = (0..self.size).collect();
        self.minor(arithmetic, &all, &all)
    }

    /// The elements of the inverse, column by column: the adjugate over the determinant.
    ///
    /// # Errors
    ///
    /// What the arithmetic says.
    pub fn inverse<A: Arithmetic<Value = Value>>(
        &self,
        arithmetic: &mut A,
        determinant: &Value,
    ) -> Result<Vec<Value>, A::Error> {
        let without = |omitted: usize| -> Vec<usize> {
            (0..self.size).filter(|&other| other != omitted).collect()
        };
        let mut elements = Vec::new();
        for column in 0..self.size {
            for row in 0..self.size {
                let minor = self.minor(arithmetic, &without(row), &without(column))?;
                let part = arithmetic.binary(BinaryOperator::Divide, minor, determinant.clone())?;
                let odd = (row + column) % 2 == 1;
                elements.push(if odd { arithmetic.negative(part)? } else { part });
            }
        }
        Ok(elements)
    }

    /// The determinant of the given columns and as many rows, by the first of those columns: its
    /// elements times the determinants of what is left without their column and row, with the signs
    /// of a chessboard.
    fn minor<A: Arithmetic<Value = Value>>(
        &self,
        arithmetic: &mut A,
        columns: &[usize],
        rows: &[usize],
    ) -> Result<Value, A::Error> {
        if let [row] = *rows {
            return Ok((self.at)(columns[0], row));
        }
        let mut sum = self.cofactor(arithmetic, columns, rows, 0)?;
        for number in 1..rows.len() {
            let part = self.cofactor(arithmetic, columns, rows, number)?;
            let odd = number % 2 == 1;
            let op = if odd { BinaryOperator::Subtract } else { BinaryOperator::Add };
            sum = arithmetic.binary(op, sum, part)?;
        }
        Ok(sum)
    }

    /// An element of the first of the columns times the determinant of the other columns and rows.
    fn cofactor<A: Arithmetic<Value = Value>>(
        &self,
        arithmetic: &mut A,
        columns: &[usize],
        rows: &[usize],
        number: usize,
    ) -> Result<Value, A::Error> {
        let (column, row) = (columns[0], rows[number]);
        let others: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
        let minor = self.minor(arithmetic, &columns[1..], &others)?;
        arithmetic.binary(BinaryOperator::Multiply, (self.at)(column, row), minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers, and how many operations were made of them.
    struct Whole(usize);

    impl Arithmetic for Whole {
        type Value = i64;
        type Error = String;

        fn binary(&mut self, op: BinaryOperator, a: i64, b: i64) -> Result<i64, String> {
            self.0 += 1;
            #[expect(clippy::wildcard_enum_match_arm, reason = "a test that asks for more fails")]
            match op {
                BinaryOperator::Add => Ok(a + b),
                BinaryOperator::Subtract => Ok(a - b),
                BinaryOperator::Multiply => Ok(a * b),
                BinaryOperator::Divide => Ok(a / b),
                other => Err(format!("{other:?}")),
            }
        }

        fn negative(&mut self, value: i64) -> Result<i64, String> {
            Ok(-value)
        }
    }

    #[test]
    fn determinants_and_inverses_are_those_of_the_textbook() {
        // Columns first: the matrix whose rows are 2 0 1, 1 3 2, 1 1 1.
        let columns = [[2, 1, 1], [0, 3, 1], [1, 2, 1]];
        let at = |column: usize, row: usize| columns[column][row];
        let square = Square { size: 3, at: &at };
        assert_eq!(square.determinant(&mut Whole(0)), Ok(2 + (1 - 3)));
        // A determinant of 1, so that the inverse is whole.
        let columns = [[1, 0, 0], [2, 1, 0], [3, 4, 1]];
        let at = |column: usize, row: usize| columns[column][row];
        let square = Square { size: 3, at: &at };
        let inverse = square.inverse(&mut Whole(0), &1).unwrap();
        assert_eq!(inverse, [1, 0, 0, -2, 1, 0, 5, -4, 1]);
    }

    #[test]
    fn a_cross_product_stands_upright_on_its_factors() {
        let (a, b) = ([1, 2, 3], [-4, 5, 7]);
        let across = cross(&mut Whole(0), &a, &b).unwrap();
        for factor in [a, b] {
            let pairs = across.into_iter().zip(factor);
            assert_eq!(sum_of_products(&mut Whole(0), pairs), Ok(Some(0)));
        }
        assert_eq!(across, [2 * 7 - 3 * 5, -3 * 4 - 7, 5 + 2 * 4]);
    }
}
