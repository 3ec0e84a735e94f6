//! Formulas in C++'s text.
//!
//! Input: the formulas of [`builtin`](crate::program::builtin) and the names of their operands. Output:
//! C++ with parentheses where its precedence asks for some, and nowhere else. Operators on halves and
//! on the integers that C++ has are the prelude's; 16-bit integers, which C++ promotes, have none of
//! these functions.

use std::convert::Infallible;

use naga::BinaryOperator;

use crate::program::builtin::{Arithmetic, sum_of_products};

/// C++'s arithmetic, as far as formulas need it: text for text.
#[derive(Debug)]
pub(super) struct Formula;

/// A part of a formula.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) text: String,
    binds: Binds,
}

/// How fast a text holds together, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Sum,
    Product,
    Atom,
}

impl Term {
    /// A name, or an access to a part.
    pub(super) fn atom(text: String) -> Self {
        Self { text, binds: Binds::Atom }
    }

    /// The text as an operand, in parentheses where it binds less than `least`.
    fn operand(self, least: Binds) -> String {
        if self.binds < least { format!("({})", self.text) } else { self.text }
    }
}

impl Arithmetic for Formula {
    type Value = Term;
    type Error = Infallible;

    fn binary(&mut self, op: BinaryOperator, left: Term, right: Term) -> Result<Term, Infallible> {
        // C++ groups from the left: an operand on the right must bind more than the operator.
        let (binds, beyond) = if matches!(op, BinaryOperator::Add | BinaryOperator::Subtract) {
            (Binds::Sum, Binds::Product)
        } else {
            (Binds::Product, Binds::Atom)
        };
        let symbol = naga::back::binary_operation_str(op);
        let text = format!("{} {symbol} {}", left.operand(binds), right.operand(beyond));
        Ok(Term { text, binds })
    }

    fn negative(&mut self, value: Term) -> Result<Term, Infallible> {
        Ok(Term { text: format!("-{}", value.operand(Binds::Atom)), binds: Binds::Product })
    }
}

/// The sum of products of named parts.
pub(super) fn products(pairs: impl IntoIterator<Item = (String, String)>) -> String {
    let pairs = pairs.into_iter().map(|(left, right)| (Term::atom(left), Term::atom(right)));
    let Ok(sum) = sum_of_products(&mut Formula, pairs);
    sum.map(|sum| sum.text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_stand_where_precedence_asks_for_them() {
        let name = |name: &str| Term::atom(name.to_owned());
        let join = |op, left, right| {
            let Ok(term) = Formula.binary(op, left, right);
            term
        };
        use BinaryOperator::{Add, Divide, Multiply, Subtract};
        let product = join(Multiply, name("a"), name("b"));
        let sum = join(Add, product.clone(), name("c"));
        assert_eq!(sum.text, "a * b + c");
        assert_eq!(join(Subtract, sum.clone(), product.clone()).text, "a * b + c - a * b");
        assert_eq!(join(Subtract, product.clone(), sum.clone()).text, "a * b - (a * b + c)");
        assert_eq!(join(Divide, sum.clone(), name("d")).text, "(a * b + c) / d");
        assert_eq!(join(Multiply, name("d"), product.clone()).text, "d * (a * b)");
        let Ok(negative) = Formula.negative(product);
        assert_eq!(negative.text, "-(a * b)");
    }
}
