//! How many iterations a loop takes, where its text alone says so.
//!
//! Input: a function and a loop of its tree, with what stands before it. Output: the number of
//! times that every lane that enters the loop comes to the end of its body. Nothing is run; a loop
//! that is not of the plainest kind has no answer.
//!
//! The plainest kind is `for (var k = a; k < b; k += c)` with constants a, b, c, no other way out,
//! and nobody else storing to k: neither the body nor a callee through a pointer.

#![warn(clippy::wildcard_enum_match_arm)]

use naga::{
    BinaryOperator, Expression, Function, Handle, Literal, LocalVariable, Module, Statement,
};

use super::structure::{Body, Node, Straight};
use super::visit::{Effect, Jump, Written, effect, for_each_effect};

/// The trip count of `body.nodes[index]`, a loop in `function`, if it is constant; `outermost`
/// says that the loop is in no other one of the function.
pub fn constant_trip_count(
    module: &Module,
    function: &Function,
    body: &Body,
    index: usize,
    outermost: bool,
) -> Option<u32> {
    let Node::Loop { body: inside, continuing, break_if: None, .. } = &body.nodes[index] else {
        return None;
    };
    let find = Find { module, function };
    let (head, condition, goes_on) = exit(inside)?;
    let (load, compare, end) = find.comparison(condition)?;
    let variable = find.loaded_variable(load)?;
    // Both are worked out anew in each iteration.
    if !is_emitted(head, condition) || !is_emitted(head, load) {
        return None;
    }
    let compare = if goes_on { compare } else { compare.negate() };
    if leaves(inside, true) != 1 || stores(inside, function, variable) != 0 {
        return None;
    }
    if find.is_handed_over(variable) {
        return None;
    }
    let step = find.step(continuing, variable)?;
    let start = find.start(body, index, variable, outermost)?;
    count_trips(start, compare, end, step)
}

/// A body's head, the condition behind it under which lanes break, and whether `true` goes on.
fn exit(body: &Body) -> Option<(&Straight, Handle<Expression>, bool)> {
    let [Node::Straight(head), Node::If { condition, accept, reject, .. }, ..] =
        body.nodes.as_slice()
    else {
        return None;
    };
    let emits = |(statement, _): &(Statement, _)| matches!(statement, Statement::Emit(_));
    if !head.statements.iter().all(emits) {
        return None;
    }
    let breaks = |body: &Body| {
        let [Node::Straight(straight)] = body.nodes.as_slice() else { return false };
        straight.statements.len() == 1 && straight.jump() == Some(Jump::Break)
    };
    if accept.nodes.is_empty() && breaks(reject) {
        Some((head, *condition, true))
    } else if reject.nodes.is_empty() && breaks(accept) {
        Some((head, *condition, false))
    } else {
        None
    }
}

/// Whether a block works an expression out.
fn is_emitted(straight: &Straight, expression: Handle<Expression>) -> bool {
    straight.statements.iter().any(|(statement, _)| {
        let Statement::Emit(range) = statement else { return false };
        range.clone().any(|handle| handle == expression)
    })
}

/// How many statements leave the loop whose body this is; `of_this_loop` where `break` leaves it.
pub fn leaves(body: &Body, of_this_loop: bool) -> usize {
    let count = |node: &Node| match node {
        Node::Straight(straight) => match straight.jump() {
            Some(Jump::Break) => usize::from(of_this_loop),
            Some(Jump::Return(_) | Jump::Kill) => 1,
            Some(Jump::Continue) | None => 0,
        },
        // A `break` in them leaves them only.
        Node::Switch { .. } | Node::Loop { .. } => node.bodies().map(|b| leaves(b, false)).sum(),
        Node::If { .. } => node.bodies().map(|body| leaves(body, of_this_loop)).sum(),
    };
    body.nodes.iter().map(count).sum()
}

/// How many stores to a variable there are in a node of a body.
fn stores_in(node: &Node, function: &Function, variable: Handle<LocalVariable>) -> usize {
    match node {
        Node::Straight(straight) => stores_of(straight, function, variable).count(),
        Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => {
            node.bodies().map(|body| stores(body, function, variable)).sum()
        }
    }
}

/// How many stores to a variable there are in a body.
fn stores(body: &Body, function: &Function, variable: Handle<LocalVariable>) -> usize {
    body.nodes.iter().map(|node| stores_in(node, function, variable)).sum()
}

/// The values that a block stores to a variable.
fn stores_of<'a>(
    straight: &'a Straight,
    function: &'a Function,
    variable: Handle<LocalVariable>,
) -> impl DoubleEndedIterator<Item = Handle<Expression>> + 'a {
    let value =
        move |(statement, _): &(Statement, _)| stored_value(function, &effect(statement), variable);
    straight.statements.iter().filter_map(value)
}

/// The value that a statement stores to a variable, to the whole of it.
fn stored_value(
    function: &Function,
    effect: &Effect<'_>,
    variable: Handle<LocalVariable>,
) -> Option<Handle<Expression>> {
    let write = effect.writes.filter(|write| is_variable(function, write.pointer, variable))?;
    match write.what {
        Written::Value(value) => Some(value),
        Written::Updated | Written::Unknown => None,
    }
}

fn is_variable(
    function: &Function,
    pointer: Handle<Expression>,
    variable: Handle<LocalVariable>,
) -> bool {
    matches!(function.expressions[pointer], Expression::LocalVariable(v) if v == variable)
}

/// How a number compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Compare {
    fn new(op: BinaryOperator) -> Option<Self> {
        match op {
            BinaryOperator::Less => Some(Self::Below),
            BinaryOperator::LessEqual => Some(Self::AtMost),
            BinaryOperator::Greater => Some(Self::Above),
            BinaryOperator::GreaterEqual => Some(Self::AtLeast),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::And
            | BinaryOperator::ExclusiveOr
            | BinaryOperator::InclusiveOr
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => None,
        }
    }

    /// What holds where this does not.
    fn negate(self) -> Self {
        match self {
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
        }
    }

    /// The same with its sides changed.
    fn mirror(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
        }
    }
}

/// A constant of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integer {
    value: i64,
    signed: bool,
}

/// The trip count of `for (k = start; k compare end; k += step)`; `None` if k would wrap.
fn count_trips(start: Integer, compare: Compare, end: Integer, step: i64) -> Option<u32> {
    if start.signed != end.signed || step == 0 {
        return None;
    }
    // As if k counted up to a bound that it must stay below.
    let up = step > 0;
    let (from, to) = if up { (start.value, end.value) } else { (-start.value, -end.value) };
    let step = step.abs();
    let bound = match (compare, up) {
        (Compare::Below, true) | (Compare::Above, false) => to,
        (Compare::AtMost, true) | (Compare::AtLeast, false) => to + 1,
        (Compare::Below | Compare::AtMost, false) | (Compare::Above | Compare::AtLeast, true) => {
            return None;
        }
    };
    let trips = if from < bound { (bound - from + step - 1) / step } else { 0 };
    // The last value that k takes must be one that it can take.
    let last = from + trips * step;
    let last = if up { last } else { -last };
    let range = if start.signed {
        i64::from(i32::MIN)..=i64::from(i32::MAX)
    } else {
        0..=i64::from(u32::MAX)
    };
    if range.contains(&last) { u32::try_from(trips).ok() } else { None }
}

struct Find<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Find<'_> {
    /// A comparison of a variable's load with a constant, the load on the left.
    fn comparison(
        &self,
        condition: Handle<Expression>,
    ) -> Option<(Handle<Expression>, Compare, Integer)> {
        let Expression::Binary { op, left, right } = self.function.expressions[condition] else {
            return None;
        };
        let compare = Compare::new(op)?;
        match self.integer(right) {
            Some(end) => Some((left, compare, end)),
            None => Some((right, compare.mirror(), self.integer(left)?)),
        }
    }

    /// The variable that an expression loads.
    fn loaded_variable(&self, handle: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[handle] else { return None };
        let Expression::LocalVariable(variable) = self.function.expressions[pointer] else {
            return None;
        };
        Some(variable)
    }

    /// The value of a constant.
    fn integer(&self, handle: Handle<Expression>) -> Option<Integer> {
        integer(self.module, &self.function.expressions[handle])
    }

    /// Whether a pointer to a variable is given to a callee.
    fn is_handed_over(&self, variable: Handle<LocalVariable>) -> bool {
        let mut found = false;
        for_each_effect(&self.function.body, &mut |effect| {
            let arguments = effect.calls.map_or(&[][..], |call| call.arguments);
            found |= arguments.iter().any(|given| is_variable(self.function, *given, variable));
        });
        found
    }

    /// What a loop's `continuing` adds to a variable, if that is all that it does with it.
    fn step(&self, continuing: &Body, variable: Handle<LocalVariable>) -> Option<i64> {
        if stores(continuing, self.function, variable) != 1 {
            return None;
        }
        let value = continuing.nodes.iter().find_map(|node| match node {
            Node::Straight(straight) => stores_of(straight, self.function, variable).next(),
            Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => None,
        })?;
        let Expression::Binary { op, left, right } = self.function.expressions[value] else {
            return None;
        };
        let is_old = |handle| self.loaded_variable(handle) == Some(variable);
        if op == BinaryOperator::Add && is_old(left) {
            Some(self.integer(right)?.value)
        } else if op == BinaryOperator::Add && is_old(right) {
            Some(self.integer(left)?.value)
        } else if op == BinaryOperator::Subtract && is_old(left) {
            Some(-self.integer(right)?.value)
        } else {
            None
        }
    }

    /// What a variable holds when the loop `body.nodes[index]` is entered.
    fn start(
        &self,
        body: &Body,
        index: usize,
        variable: Handle<LocalVariable>,
        outermost: bool,
    ) -> Option<Integer> {
        for node in body.nodes[..index].iter().rev() {
            match node {
                Node::Straight(straight) => {
                    let last = stores_of(straight, self.function, variable).next_back();
                    if let Some(value) = last {
                        return self.integer(value);
                    }
                }
                Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => {
                    if stores_in(node, self.function, variable) != 0 {
                        return None;
                    }
                }
            }
        }
        // Nobody else stores to it: its first value, if the loop is entered once a call.
        if !outermost || self.all_stores(variable) != 1 {
            return None;
        }
        let init = self.function.local_variables[variable].init?;
        self.integer(init)
    }

    /// How many stores to a variable there are in the function.
    fn all_stores(&self, variable: Handle<LocalVariable>) -> usize {
        let mut count = 0;
        for_each_effect(&self.function.body, &mut |effect| {
            count += usize::from(stored_value(self.function, effect, variable).is_some());
        });
        count
    }
}

/// The value of a literal of 32 bits, or of a constant that is one.
fn integer(module: &Module, expression: &Expression) -> Option<Integer> {
    if let Expression::Constant(constant) = *expression {
        return integer(module, &module.global_expressions[module.constants[constant].init]);
    }
    let Expression::Literal(literal) = *expression else { return None };
    match literal {
        Literal::U32(value) => Some(Integer { value: value.into(), signed: false }),
        Literal::I32(value) => Some(Integer { value: value.into(), signed: true }),
        Literal::F64(_)
        | Literal::F32(_)
        | Literal::F16(_)
        | Literal::U16(_)
        | Literal::I16(_)
        | Literal::U64(_)
        | Literal::I64(_)
        | Literal::Bool(_)
        | Literal::AbstractInt(_)
        | Literal::AbstractFloat(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    /// The trip count of the first loop of an entry point with these statements.
    fn trip_count(statements: &str) -> Option<u32> {
        let text = format!(
            "const END = 9u; override n: u32 = 5u; fn bump(p: ptr<function, u32>) {{ *p += 1u; }}
             @group(0) @binding(0) var<storage, read_write> o: array<u32>;
             @compute @workgroup_size(1) fn main() {{ {statements} }}"
        );
        let program =
            Parsed::new("t.wgsl", &text).unwrap().resolve("main", &Overrides::new()).unwrap();
        let body = &program.structure().entry_point;
        let is_loop = |node: &Node| matches!(node, Node::Loop { .. });
        let index = body.nodes.iter().position(is_loop).unwrap();
        let function = &program.entry_point().function;
        constant_trip_count(program.module(), function, body, index, true)
    }

    #[test]
    fn plain_loops_have_a_constant_trip_count() {
        assert_eq!(trip_count("for (var k = 0u; k < 16u; k++) { o[k] = k; }"), Some(16));
        assert_eq!(trip_count("for (var k = 2u; k < END; k += 3u) { o[k] = k; }"), Some(3));
        assert_eq!(trip_count("for (var k = 0u; k <= n; k++) { o[k] = k; }"), Some(6));
        assert_eq!(trip_count("for (var k = 7; k > -2; k -= 2) { o[0] += 1u; }"), Some(5));
        assert_eq!(trip_count("for (var k = 7i; 0i <= k; k--) { o[0] += 1u; }"), Some(8));
        assert_eq!(trip_count("for (var k = 5u; k < 5u; k++) { o[k] = k; }"), Some(0));
        assert_eq!(trip_count("var k = 1u; k = 3u; for (; k < 9u; k++) { o[k] = k; }"), Some(6));
        let skips = "for (var k = 0u; k < 8u; k++) { if o[k] == 1u { continue; } o[k] = k; }";
        assert_eq!(trip_count(skips), Some(8));
        let breaks_inside =
            "for (var k = 0u; k < 8u; k++) { switch k { case 1u: { break; } default: {} } }";
        assert_eq!(trip_count(breaks_inside), Some(8));
    }

    #[test]
    fn others_have_none() {
        let none = [
            "for (var k = 0u; k < o[0]; k++) { o[k] = k; }",
            "for (var k = o[0]; k < 8u; k++) { o[k] = k; }",
            "for (var k = 0u; k < 8u; k++) { k += o[k]; }",
            "for (var k = 0u; k < 8u; k++) { bump(&k); }",
            "for (var k = 0u; k < 8u; k++) { if o[k] == 1u { break; } }",
            "for (var k = 0u; k < 8u; k++) { if o[k] == 1u { return; } }",
            "for (var k = 0u; k < 8u; k++) { loop { if o[k] == 1u { return; } break; } }",
            "for (var k = 8u; k >= 0u; k--) { if o[k] == 1u { return; } }",
            "for (var k = 0u; k < 4294967295u; k += 2u) { o[k] = k; }",
            "for (var k = 0u; k < 8u; k--) { o[k] = k; }",
            "var k = 0u; if o[0] == 1u { k = 3u; } for (; k < 8u; k++) { o[k] = k; }",
            "var k = 0u; loop { k++; if k < 8u { continue; } break; }",
        ];
        for statements in none {
            assert_eq!(trip_count(statements), None, "{statements}");
        }
    }
}
