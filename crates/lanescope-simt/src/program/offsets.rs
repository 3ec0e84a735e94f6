//! Which buffers hold offsets: where rows begin.
//!
//! Input: a module. Output: for each buffer of integers that is read both at some i and at i + 1, the buffers that are
//! then indexed by what came out. Whether a condition follows it, so that rows are walked, [`Deciding`](super::Deciding)
//! says. Indices are compared as they are written, a variable's value as its name.

use std::collections::{BTreeMap, BTreeSet};

use naga::{BinaryOperator, Expression, Function, GlobalVariable, Handle, Literal, Module};

use super::operands::of_expression;
use super::visit::{Write, Written, for_each_effect};

/// The buffers that are walked from offset to offset, by the name of the buffer of offsets.
pub(crate) fn find_offsets(module: &Module) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    for function in module.functions.iter().map(|(_, function)| function).chain(entries) {
        let reader = Reader { module, function };
        for global in reader.read_at_neighbours() {
            let name = |global: Handle<GlobalVariable>| {
                module.global_variables[global].name.clone().unwrap_or_default()
            };
            let walked = reader.indexed_by(global).into_iter().map(name);
            found.entry(name(global)).or_default().extend(walked);
        }
    }
    found
}

/// A function whose reads are looked at.
struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Reader<'_> {
    fn expression(&self, handle: Handle<Expression>) -> &Expression {
        &self.function.expressions[handle]
    }

    /// The array that a pointer leads into, and its index.
    fn element(
        &self,
        pointer: Handle<Expression>,
    ) -> Option<(Handle<GlobalVariable>, Handle<Expression>)> {
        let &Expression::Access { base, index } = self.expression(pointer) else { return None };
        let &Expression::GlobalVariable(global) = self.expression(base) else { return None };
        Some((global, index))
    }

    /// The arrays that are read at an index and at the one behind it.
    fn read_at_neighbours(&self) -> BTreeSet<Handle<GlobalVariable>> {
        let mut seen: BTreeMap<(Handle<GlobalVariable>, String), BTreeSet<i64>> = BTreeMap::new();
        for (_, expression) in self.function.expressions.iter() {
            if let &Expression::Load { pointer } = expression
                && let Some((global, index)) = self.element(pointer)
            {
                let (text, constant) = self.sum(index);
                seen.entry((global, text)).or_default().insert(constant);
            }
        }
        let neighbours = seen.into_iter().filter(|(_, constants)| {
            constants.iter().any(|constant| constants.contains(&(constant + 1)))
        });
        neighbours.map(|((global, _), _)| global).collect()
    }

    /// An index as what it is written as, and a constant that is added.
    fn sum(&self, index: Handle<Expression>) -> (String, i64) {
        if let &Expression::Binary { op, left, right } = self.expression(index) {
            match (op, self.constant(left), self.constant(right)) {
                (BinaryOperator::Add, None, Some(constant)) => return (self.text(left), constant),
                (BinaryOperator::Add, Some(constant), None) => return (self.text(right), constant),
                (BinaryOperator::Subtract, None, Some(constant)) => {
                    return (self.text(left), -constant);
                }
                _ => {}
            }
        }
        (self.text(index), 0)
    }

    fn constant(&self, handle: Handle<Expression>) -> Option<i64> {
        match *self.expression(handle) {
            Expression::Literal(Literal::U32(value)) => Some(value.into()),
            Expression::Literal(Literal::I32(value)) => Some(value.into()),
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                match self.module.global_expressions[init] {
                    Expression::Literal(Literal::U32(value)) => Some(value.into()),
                    Expression::Literal(Literal::I32(value)) => Some(value.into()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What an expression is written as; what is long or has an effect stands for itself.
    fn text(&self, handle: Handle<Expression>) -> String {
        match *self.expression(handle) {
            Expression::FunctionArgument(number) => format!("argument {number}"),
            Expression::LocalVariable(variable) => format!("variable {}", variable.index()),
            Expression::GlobalVariable(variable) => format!("global {}", variable.index()),
            Expression::AccessIndex { base, index } => format!("{}.{index}", self.text(base)),
            Expression::Load { pointer } => self.text(pointer),
            Expression::Access { base, index } => {
                format!("{}[{}]", self.text(base), self.text(index))
            }
            _ => format!("expression {}", handle.index()),
        }
    }

    /// The arrays whose index comes from what one array holds, by way of variables too.
    fn indexed_by(&self, source: Handle<GlobalVariable>) -> BTreeSet<Handle<GlobalVariable>> {
        let mut variables = BTreeSet::new();
        loop {
            let mut tainted = BTreeSet::new();
            let mut arrays = BTreeSet::new();
            for (handle, expression) in self.function.expressions.iter() {
                let comes = match *expression {
                    Expression::Load { pointer } => match self.expression(pointer) {
                        Expression::LocalVariable(variable) => variables.contains(variable),
                        _ => self.element(pointer).is_some_and(|(global, _)| global == source),
                    },
                    _ => {
                        let mut any = false;
                        of_expression(expression, &mut |operand| any |= tainted.contains(&operand));
                        any
                    }
                };
                if let (true, Some((global, _))) = (comes, self.element(handle)) {
                    arrays.insert(global);
                }
                if comes && self.element(handle).is_none() {
                    tainted.insert(handle);
                }
            }
            let before = variables.len();
            for_each_effect(&self.function.body, &mut |effect| {
                if let Some(Write { pointer, what: Written::Value(value) }) = effect.writes
                    && let &Expression::LocalVariable(variable) = self.expression(pointer)
                    && tainted.contains(&value)
                {
                    variables.insert(variable);
                }
            });
            if variables.len() == before {
                arrays.remove(&source);
                return arrays;
            }
        }
    }
}
