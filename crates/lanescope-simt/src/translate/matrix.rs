//! Matrices: products, and functions of whole matrices.
//!
//! Input: operands. Output: calls of functions that are declared here, written out element by element
//! in the order in which `simulate` adds.

#![expect(clippy::wildcard_enum_match_arm, reason = "operators on matrices are few")]

use naga::{BinaryOperator, Expression, Handle, MathFunction, TypeInner, VectorSize};

use super::formula::{Formula, Term, products};
use super::frame::TranslatedFunction;
use super::text::COMPONENTS;
use super::text::bare;
use super::{Result, Writer};
use crate::program::builtin::{BuiltinKind, Square};

/// What stands on a side of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Scalar,
    Vector(usize),
    /// Columns, rows.
    Matrix(usize, usize),
}

impl<'a> Writer<'a> {
    fn side(&self, frame: &TranslatedFunction<'a>, handle: Handle<Expression>) -> Side {
        match *frame.type_of(self.module, handle) {
            TypeInner::Matrix { columns, rows, .. } => {
                Side::Matrix(columns as usize, rows as usize)
            }
            TypeInner::Vector { size, .. } => Side::Vector(size as usize),
            _ => Side::Scalar,
        }
    }

    /// The name of a matrix type, declared.
    fn matrix_type(&mut self, columns: usize, rows: usize, kind: BuiltinKind) -> String {
        self.prelude.need("matrix");
        self.prelude.need(&format!("vec{rows}"));
        if rows == VectorSize::Tri as usize {
            self.prelude.need("array_of_vec3");
        }
        format!("matrix<{columns}, vec{rows}<{}>>", kind.name())
    }

    fn side_type(&mut self, side: Side, kind: BuiltinKind) -> String {
        match side {
            Side::Scalar => kind.name().to_owned(),
            Side::Vector(size) => format!("vec{size}<{}>", kind.name()),
            Side::Matrix(columns, rows) => self.matrix_type(columns, rows, kind),
        }
    }

    pub(super) fn matrix_binary(
        &mut self,
        frame: &TranslatedFunction<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
        (a, b): (&str, &str),
    ) -> Result<String> {
        let kind = self.kind_of(frame, left)?;
        let sides = (self.side(frame, left), self.side(frame, right));
        let symbol = naga::back::binary_operation_str(op);
        let (result, parts) = match (op, sides) {
            (BinaryOperator::Multiply, (Side::Matrix(inner, rows), Side::Matrix(columns, _))) => {
                let element = |column: usize, row: usize| {
                    products((0..inner).map(|k| (at("a", k, row), at("b", column, k))))
                };
                (Side::Matrix(columns, rows), all(columns, rows, &element))
            }
            (BinaryOperator::Multiply, (Side::Matrix(inner, rows), Side::Vector(_))) => {
                let element = |_: usize, row: usize| {
                    products((0..inner).map(|k| (at("a", k, row), part("b", k))))
                };
                (Side::Vector(rows), all(1, rows, &element))
            }
            (BinaryOperator::Multiply, (Side::Vector(inner), Side::Matrix(columns, _))) => {
                let element = |_: usize, column: usize| {
                    products((0..inner).map(|k| (part("a", k), at("b", column, k))))
                };
                (Side::Vector(columns), all(1, columns, &element))
            }
            (_, (Side::Matrix(columns, rows), Side::Matrix(..))) => {
                let element = |column: usize, row: usize| {
                    format!("{} {symbol} {}", at("a", column, row), at("b", column, row))
                };
                (Side::Matrix(columns, rows), all(columns, rows, &element))
            }
            (_, (Side::Matrix(columns, rows), Side::Scalar)) => {
                let element =
                    |column: usize, row: usize| format!("{} {symbol} b", at("a", column, row));
                (Side::Matrix(columns, rows), all(columns, rows, &element))
            }
            (_, (Side::Scalar, Side::Matrix(columns, rows))) => {
                let element =
                    |column: usize, row: usize| format!("a {symbol} {}", at("b", column, row));
                (Side::Matrix(columns, rows), all(columns, rows, &element))
            }
            _ => {
                let span = frame.span_of(left);
                return Err(self.unsupported(format!("{op:?} of matrices"), span));
            }
        };
        let types = (self.side_type(sides.0, kind), self.side_type(sides.1, kind));
        let name = self.side_type(result, kind);
        let signature =
            format!("{name} operator{symbol}(const {}& a, const {}& b)", types.0, types.1);
        self.prelude.lift(signature, &return_body(result, &name, &parts));
        Ok(format!("({a} {symbol} {b})"))
    }

    pub(super) fn negate_matrix(
        &mut self,
        frame: &TranslatedFunction<'a>,
        operand: Handle<Expression>,
        text: &str,
    ) -> Result<String> {
        let kind = self.kind_of(frame, operand)?;
        let side = self.side(frame, operand);
        let Side::Matrix(columns, rows) = side else { return Ok(text.to_owned()) };
        let name = self.matrix_type(columns, rows, kind);
        let parts = all(columns, rows, &|column, row| format!("-{}", at("a", column, row)));
        let body = return_body(side, &name, &parts);
        self.prelude.lift(format!("{name} operator-(const {name}& a)"), &body);
        Ok(format!("(-{text})"))
    }

    pub(super) fn matrix_cast(
        &mut self,
        frame: &TranslatedFunction<'a>,
        operand: Handle<Expression>,
        (source, target): (BuiltinKind, BuiltinKind),
        text: &str,
    ) -> Result<String> {
        let side = self.side(frame, operand);
        let Side::Matrix(columns, rows) = side else { return Ok(text.to_owned()) };
        let (from, to) =
            (self.matrix_type(columns, rows, source), self.matrix_type(columns, rows, target));
        let mut parts = Vec::new();
        for column in 0..columns {
            for row in 0..rows {
                parts.push(self.convert(source, target, &at("a", column, row)));
            }
        }
        let name = format!("convert_to_{}", target.name());
        let body = return_body(side, &to, &parts);
        self.prelude.lift(format!("{to} {name}(const {from}& a)"), &body);
        Ok(format!("{name}({})", bare(text)))
    }

    /// The product of a column and a row.
    pub(super) fn outer(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
        arguments: &[Handle<Expression>],
        texts: &[String],
    ) -> Result<String> {
        let kind = self.kind_of(frame, handle)?;
        let (Side::Vector(rows), Side::Vector(columns)) =
            (self.side(frame, arguments[0]), self.side(frame, arguments[1]))
        else {
            let span = frame.span_of(handle);
            return Err(self.unsupported("an outer product of no vectors", span));
        };
        let name = self.matrix_type(columns, rows, kind);
        let parts = all(columns, rows, &|column, row| {
            format!("a.{} * b.{}", COMPONENTS[row], COMPONENTS[column])
        });
        let number = kind.name();
        let signature = format!("{name} outer(vec{rows}<{number}> a, vec{columns}<{number}> b)");
        self.prelude.lift(signature, &return_body(Side::Matrix(columns, rows), &name, &parts));
        Ok(format!("outer({})", texts.join(", ")))
    }

    pub(super) fn matrix_function(
        &mut self,
        frame: &TranslatedFunction<'a>,
        fun: MathFunction,
        argument: Handle<Expression>,
        text: &str,
    ) -> Result<String> {
        let kind = self.kind_of(frame, argument)?;
        let span = frame.span_of(argument);
        let Side::Matrix(columns, rows) = self.side(frame, argument) else {
            return Err(self.unsupported(format!("{fun:?} of no matrix"), span));
        };
        let name = self.matrix_type(columns, rows, kind);
        let element = |column: usize, row: usize| Term::atom(at("a", column, row));
        let square = Square { size: rows, at: &element };
        match fun {
            MathFunction::Transpose => {
                let result = self.matrix_type(rows, columns, kind);
                let parts = all(rows, columns, &|column, row| at("a", row, column));
                let signature = format!("{result} transpose(const {name}& a)");
                let side = Side::Matrix(rows, columns);
                self.prelude.lift(signature, &return_body(side, &result, &parts));
                Ok(format!("transpose({text})"))
            }
            MathFunction::Determinant if columns == rows => {
                let Ok(value) = square.determinant(&mut Formula);
                let body = format!("    return {};\n", value.text);
                let signature = format!("{} determinant(const {name}& a)", kind.name());
                self.prelude.lift(signature, &body);
                Ok(format!("determinant({text})"))
            }
            MathFunction::Inverse if columns == rows => {
                let Ok(value) = square.determinant(&mut Formula);
                let determinant = Term::atom("determinant".to_owned());
                let Ok(elements) = square.inverse(&mut Formula, &determinant);
                let parts: Vec<String> = elements.into_iter().map(|term| term.text).collect();
                let first = format!("    const {} determinant = ({});\n", kind.name(), value.text);
                let body = first + &return_body(Side::Matrix(columns, rows), &name, &parts);
                self.prelude.lift(format!("{name} inverse(const {name}& a)"), &body);
                Ok(format!("inverse({text})"))
            }
            _ => Err(self.unsupported(format!("{fun:?} of a matrix"), span)),
        }
    }
}

/// An element.
fn at(name: &str, column: usize, row: usize) -> String {
    format!("{name}[{column}].{}", COMPONENTS[row])
}

/// A component of a vector.
fn part(name: &str, index: usize) -> String {
    format!("{name}.{}", COMPONENTS[index])
}

/// Every element, column by column.
fn all(columns: usize, rows: usize, element: &dyn Fn(usize, usize) -> String) -> Vec<String> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| element(column, row))).collect()
}

/// The body of a function that returns these elements. Columns are set one by one: padding inside
/// arrays of vectors of three leaves no room for nested braces.
fn return_body(result: Side, name: &str, parts: &[String]) -> String {
    let Side::Matrix(_, rows) = result else {
        return format!("    return {{{}}};\n", parts.join(", "));
    };
    let mut body = format!("    {name} result;\n");
    for (number, column) in parts.chunks(rows).enumerate() {
        body += &format!("    result[{number}] = {{{}}};\n", column.join(", "));
    }
    body + "    return result;\n"
}
