//! Which expressions get a variable of their own.
//!
//! Input: a function and the tree of its blocks. Output: [`Materialised`]. An expression that is emitted is
//! written where it is used, unless it is loaded, named, used more than once, needed as a name, or
//! stands on another line than its use. What a loop's `continuing` uses of its body is declared
//! before the loop, because C++ ends the body's scope before.

use std::collections::{BTreeMap, BTreeSet};

use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle, Module, Span, Statement, TypeInner};

use crate::program::operands::{of_expression, of_statement};
use crate::program::visit::effect;
use crate::program::walk::for_each_statement;
use crate::program::{Body, Node, Text};

/// What gets a variable, and where it is declared.
#[derive(Debug, Default)]
pub(super) struct Materialised {
    /// Emitted expressions with a variable.
    pub(super) baked: BTreeSet<Handle<Expression>>,
    /// Those that are declared before a loop, by the loop's number in the order of the walk.
    pub(super) hoisted: BTreeMap<usize, Vec<Handle<Expression>>>,
    /// The expressions that are hoisted anywhere.
    pub(super) early: BTreeSet<Handle<Expression>>,
}

/// Walks a function once.
struct MaterialiseWalk<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
    text: &'a Text,
    checked: bool,
    /// The line of each expression's last user.
    user_line: BTreeMap<Handle<Expression>, u32>,
    bake: Materialised,
    loops: usize,
}

/// Decides for a function.
pub(super) fn materialise(
    module: &Module,
    function: &Function,
    info: &FunctionInfo,
    text: &Text,
    body: &Body,
    checked: bool,
) -> Materialised {
    let mut walk = MaterialiseWalk {
        module,
        function,
        info,
        text,
        checked,
        user_line: BTreeMap::new(),
        bake: Materialised::default(),
        loops: 0,
    };
    walk.users(body);
    walk.body(body);
    walk.bake
}

impl MaterialiseWalk<'_> {
    fn line(&self, span: Span) -> Option<u32> {
        let range = span.to_range().filter(|range| range.end > 0)?;
        Some(self.text.location(range.start).line)
    }

    fn expression_line(&self, handle: Handle<Expression>) -> Option<u32> {
        self.line(self.function.expressions.get_span(handle))
    }

    /// Notes who uses what on which line.
    fn users(&mut self, body: &Body) {
        for (handle, expression) in self.function.expressions.iter() {
            let Some(line) = self.expression_line(handle) else { continue };
            of_expression(expression, &mut |operand| {
                self.user_line.insert(operand, line);
            });
        }
        for_each_statement(body, &mut |statement, span| {
            let Some(line) = self.line(span) else { return };
            if !matches!(statement, Statement::Emit(_)) {
                of_statement(&self.function.expressions, statement, &mut |operand| {
                    self.user_line.insert(operand, line);
                });
            }
        });
    }

    fn body(&mut self, body: &Body) {
        for node in &body.nodes {
            match *node {
                Node::Straight(ref straight) => {
                    for (statement, _) in &straight.statements {
                        self.statement(statement);
                    }
                }
                Node::If { ref accept, ref reject, .. } => {
                    self.body(accept);
                    self.body(reject);
                }
                Node::Switch { selector, ref cases, .. } => {
                    // Each arm's mask asks for it again.
                    self.force(selector);
                    cases.iter().for_each(|case| self.body(&case.body));
                }
                Node::Loop { ref body, ref continuing, break_if, .. } => {
                    let number = self.loops;
                    self.loops += 1;
                    self.body(body);
                    self.body(continuing);
                    self.hoist(number, body, continuing, break_if);
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if let Statement::Emit(range) = statement {
            for handle in range.clone() {
                self.decide_on(handle);
            }
        }
        if let Statement::Atomic {
            fun: naga::AtomicFunction::Exchange { compare: Some(compare) },
            ..
        } = statement
        {
            self.force(*compare);
        }
    }

    fn pointer(&self, handle: Handle<Expression>) -> bool {
        let inner = self.info[handle].ty.inner_with(&self.module.types);
        matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
    }

    /// Decides on an expression where it is emitted.
    fn decide_on(&mut self, handle: Handle<Expression>) {
        if self.pointer(handle) {
            if let Expression::Access { index, .. } = self.function.expressions[handle]
                && self.checked
            {
                self.force(index);
            }
            return;
        }
        let expression = &self.function.expressions[handle];
        let uses = self.info[handle].ref_count;
        let elsewhere = match (self.expression_line(handle), self.user_line.get(&handle)) {
            (Some(line), Some(user)) => line != *user,
            _ => false,
        };
        let named = self.function.named_expressions.contains_key(&handle);
        if named || uses >= expression.bake_ref_count() || (elsewhere && uses > 0) {
            self.bake.baked.insert(handle);
        }
        if let Expression::Swizzle { vector: operand, .. }
        | Expression::Splat { value: operand, .. } = *expression
        {
            self.force(operand);
        }
        if let Expression::Compose { ref components, .. } = *expression {
            for &component in components {
                let inner = self.info[component].ty.inner_with(&self.module.types);
                if matches!(inner, TypeInner::Vector { .. }) {
                    self.force(component);
                }
            }
        }
        if let Expression::Access { index, .. } = *expression
            && self.checked
        {
            self.force(index);
        }
    }

    /// Gives an expression a variable where it can have one.
    fn force(&mut self, handle: Handle<Expression>) {
        let expression = &self.function.expressions[handle];
        let emitted = !expression.needs_pre_emit() && !self.result(expression);
        if emitted && !self.pointer(handle) {
            self.bake.baked.insert(handle);
        }
    }

    /// Whether an expression is a statement's result, which has a variable anyway.
    fn result(&self, expression: &Expression) -> bool {
        matches!(
            expression,
            Expression::CallResult(_)
                | Expression::AtomicResult { .. }
                | Expression::WorkGroupUniformLoadResult { .. }
                | Expression::SubgroupBallotResult
                | Expression::SubgroupOperationResult { .. }
        )
    }

    /// Finds what `continuing` and `break_if` use of the body.
    fn hoist(
        &mut self,
        number: usize,
        body: &Body,
        continuing: &Body,
        break_if: Option<Handle<Expression>>,
    ) {
        let mut made = BTreeSet::new();
        for_each_statement(body, &mut |statement, _| made.extend(effect(statement).defines()));
        let mut used = Vec::new();
        for_each_statement(continuing, &mut |statement, _| {
            of_statement(&self.function.expressions, statement, &mut |operand| used.push(operand));
        });
        for_each_branch(continuing, &mut |handle| used.push(handle));
        used.extend(break_if);
        let mut seen = BTreeSet::new();
        while let Some(handle) = used.pop() {
            if !made.contains(&handle) || !seen.insert(handle) {
                continue;
            }
            if self.pointer(handle) {
                of_expression(&self.function.expressions[handle], &mut |operand| {
                    used.push(operand)
                });
            } else if self.bake.early.insert(handle) {
                self.force(handle);
                self.bake.hoisted.entry(number).or_default().push(handle);
            }
        }
    }
}

/// Shows every expression that a branch of a body asks for.
fn for_each_branch(body: &Body, see: &mut dyn FnMut(Handle<Expression>)) {
    for node in &body.nodes {
        match *node {
            Node::Straight(_) => {}
            Node::If { condition, ref accept, ref reject, .. } => {
                see(condition);
                for_each_branch(accept, see);
                for_each_branch(reject, see);
            }
            Node::Switch { selector, ref cases, .. } => {
                see(selector);
                cases.iter().for_each(|case| for_each_branch(&case.body, see));
            }
            Node::Loop { ref body, ref continuing, break_if, .. } => {
                for_each_branch(body, see);
                for_each_branch(continuing, see);
                break_if.into_iter().for_each(&mut *see);
            }
        }
    }
}
