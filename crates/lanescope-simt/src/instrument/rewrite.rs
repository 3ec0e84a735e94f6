//! Rewriting bodies: places count, loops run in stretches, calls reach the moved functions.
//!
//! Input: a function with its plan. Output: the function. What it computes stays the same.
//!
//! # A loop in stretches
//!
//! ```text
//! loop { body } continuing { … }     done = false
//!                               ──►  loop {
//!                                        bit = 1; notes = 0
//!                                        if !done {
//!                                            loop { body } continuing { …; bit <<= 1; break if bit == 0 }
//!                                        }
//!                                        fold the notes
//!                                        if subgroupAny(!done) {} else { break }
//!                                    }
//! ```
//!
//! `break` in the body notes that the lane is done. `return` in it, at any depth, notes that the lane
//! returned, with what, and breaks out of one construct after another; the lane returns behind the
//! outermost loop.

use naga::{
    Arena, BinaryOperator, Block, Expression, Function, Handle, LocalVariable, Span, Statement,
    SubgroupOperation, Type,
};

use super::context::{BodyBuilder, CounterContext};
use super::plan::{CounterAction, Loop, LoopId, Planned};
use crate::program::{Body, Node};

/// Rewrites a function.
pub(super) fn rewrite(
    mut function: Function,
    (body, planned): (&Body, &Planned),
    context: &CounterContext<'_>,
    moved: &[Handle<Function>],
) -> Function {
    for (_, expression) in function.expressions.iter_mut() {
        if let Expression::CallResult(callee) = expression {
            *callee = moved[callee.index()];
        }
    }
    let mut rewriter = Rewriter {
        context,
        moved,
        result: function.result.as_ref().map(|result| result.ty),
        expressions: &mut function.expressions,
        locals: &mut function.local_variables,
        frames: Vec::new(),
        returned: None,
    };
    function.body = rewriter.body(body, planned);
    function
}

/// What `break` leaves.
#[derive(Clone, Copy, Debug)]
enum BreakFrame {
    /// A switch, or a loop as it was.
    Plain,
    /// A loop in stretches, and its variable that says whether the lane is done.
    Stretches(LoopId, Handle<LocalVariable>),
}

/// Where a function notes that the lane has returned, and with what.
#[derive(Clone, Copy, Debug)]
struct Returned {
    yes: Handle<LocalVariable>,
    value: Option<Handle<LocalVariable>>,
}

struct Rewriter<'a> {
    context: &'a CounterContext<'a>,
    moved: &'a [Handle<Function>],
    /// What the function returns.
    result: Option<Handle<Type>>,
    expressions: &'a mut Arena<Expression>,
    locals: &'a mut Arena<LocalVariable>,
    /// Loops and switches around the place at hand, innermost last.
    frames: Vec<BreakFrame>,
    returned: Option<Returned>,
}

impl Rewriter<'_> {
    fn body(&mut self, body: &Body, planned: &Planned) -> Block {
        let mut block = Block::new();
        for (index, node) in body.nodes.iter().enumerate() {
            let mut acts = self.acts(&planned.before[index]);
            block.append(&mut acts);
            let nested = &planned.nested[index];
            match *node {
                Node::Straight(ref straight) => {
                    for (statement, span) in &straight.statements {
                        let mut made = self.statement(statement, *span);
                        block.append(&mut made);
                    }
                }
                Node::If { condition, span, .. } => {
                    let [accept, reject] = self.two(node, nested);
                    block.push(Statement::If { condition, accept, reject }, span);
                }
                Node::Switch { selector, ref cases, span } => {
                    self.frames.push(BreakFrame::Plain);
                    let cases = cases
                        .iter()
                        .zip(nested)
                        .map(|(case, planned)| naga::SwitchCase {
                            value: case.value,
                            body: self.body(&case.body, planned),
                            fall_through: case.fall_through,
                        })
                        .collect();
                    self.frames.pop();
                    block.push(Statement::Switch { selector, cases }, span);
                    self.leave_returned(node, false, &mut block);
                }
                Node::Loop { break_if, span, .. } => {
                    match planned.stretches[index] {
                        Some(id) => self.stretches(id, node, nested, &mut block),
                        None => {
                            self.frames.push(BreakFrame::Plain);
                            let [body, continuing] = self.two(node, nested);
                            self.frames.pop();
                            block.push(Statement::Loop { body, continuing, break_if }, span);
                        }
                    }
                    let stretches = planned.stretches[index].is_some();
                    self.leave_returned(node, stretches, &mut block);
                }
            }
        }
        let mut acts = self.acts(planned.before.last().map_or(&[], Vec::as_slice));
        block.append(&mut acts);
        block
    }

    /// The two bodies of a node.
    fn two(&mut self, node: &Node, nested: &[Planned]) -> [Block; 2] {
        let mut made = node.bodies().zip(nested).map(|(body, planned)| self.body(body, planned));
        let first = made.next().unwrap_or_default();
        let second = made.next().unwrap_or_default();
        [first, second]
    }

    fn builder(&mut self) -> BodyBuilder<'_> {
        BodyBuilder { expressions: self.expressions, block: Block::new() }
    }

    /// A new variable of the function.
    fn local(&mut self, name: String, ty: Handle<Type>) -> Handle<LocalVariable> {
        let variable = LocalVariable { name: Some(name), ty, init: None };
        self.locals.append(variable, Span::UNDEFINED)
    }

    /// A loop that runs in stretches.
    fn stretches(&mut self, id: LoopId, node: &Node, nested: &[Planned], block: &mut Block) {
        let Node::Loop { break_if, span, .. } = *node else { return };
        let context = self.context;
        let CounterContext { types, globals, plan, .. } = context;
        let around = &plan.loops[id.0];
        let Some(bit) = around.bit else { return };
        let bit = globals.vars[bit.0];
        let done = self.local(format!("lanescope_done_{}", id.0), types.bool);

        self.frames.push(BreakFrame::Stretches(id, done));
        let [body, mut continuing] = self.two(node, nested);
        self.frames.pop();
        // The end of an iteration: who breaks here is done; the stretch is over when the bit has left the word.
        let mut builder = self.builder();
        if let Some(value) = break_if {
            let pointer = builder.plain(Expression::LocalVariable(done));
            builder.push(Statement::Store { pointer, value });
        }
        let next = builder.double(bit);
        let zero = builder.literal(0);
        let mut over = builder.binary(BinaryOperator::Equal, next, zero);
        if let Some(left) = break_if {
            over = builder.binary(BinaryOperator::LogicalOr, left, over);
        }
        continuing.append(&mut builder.block);
        let mut iterations = Block::new();
        iterations.push(Statement::Loop { body, continuing, break_if: Some(over) }, span);

        let mut builder = self.builder();
        let pointer = builder.plain(Expression::LocalVariable(done));
        let no = builder.plain(Expression::Literal(naga::Literal::Bool(false)));
        builder.push(Statement::Store { pointer, value: no });
        // What is built up to here stands before the outer loop, the rest in it.
        let mut outer = std::mem::take(&mut builder.block);
        let one = builder.literal(1);
        builder.store(bit, one);
        for note in &around.notes {
            let zero = builder.literal(0);
            builder.store(globals.vars[note.0], zero);
        }
        let is_done = builder.emit(Expression::Load { pointer });
        let (accept, reject) = (Block::new(), iterations);
        builder.push(Statement::If { condition: is_done, accept, reject });
        // Lanes that are done turn round with the others: all must be there when notes are handed on.
        fold(&mut builder, context, around);
        let is_done = builder.emit(Expression::Load { pointer });
        let all = builder.collective(SubgroupOperation::All, is_done, types.bool);
        builder.when(all, |builder| builder.push(Statement::Break));
        let body = builder.block;
        outer.push(Statement::Loop { body, continuing: Block::new(), break_if: None }, span);
        block.append(&mut outer);
    }

    /// Leaves the construct around the place at hand, with the lane done.
    fn leave(&mut self) -> Block {
        let CounterContext { globals, plan, .. } = self.context;
        let frame = self.frames.last().copied();
        let mut builder = self.builder();
        if let Some(BreakFrame::Stretches(id, done)) = frame {
            let around = &plan.loops[id.0];
            if let (Some(bit), Some(left)) = (around.bit, around.left) {
                let now = builder.load(globals.vars[bit.0]);
                builder.store(globals.vars[left.0], now);
                // As at the end of an iteration: the bit stands behind the last that was begun.
                builder.double(globals.vars[bit.0]);
            }
            let pointer = builder.plain(Expression::LocalVariable(done));
            let yes = builder.plain(Expression::Literal(naga::Literal::Bool(true)));
            builder.push(Statement::Store { pointer, value: yes });
        }
        builder.push(Statement::Break);
        builder.block
    }

    /// Whether the place at hand lies in a loop in stretches.
    fn in_stretches(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, BreakFrame::Stretches(..)))
    }

    /// The function's note of who returned.
    fn note_returned(&mut self) -> Returned {
        if let Some(returned) = self.returned {
            return returned;
        }
        let yes = self.local("lanescope_returned".to_owned(), self.context.types.bool);
        let result = self.result;
        let value = result.map(|ty| self.local("lanescope_result".to_owned(), ty));
        *self.returned.insert(Returned { yes, value })
    }

    /// Behind a construct from which lanes returned: they go on leaving.
    fn leave_returned(&mut self, node: &Node, stretches: bool, block: &mut Block) {
        let Some(returned) = self.returned.filter(|_| node.exits().returns) else { return };
        // Another loop in stretches is around: on outwards. Behind the outermost the lane returns.
        let accept = if self.in_stretches() {
            self.leave()
        } else if stretches {
            let mut builder = self.builder();
            let value = returned.value.map(|variable| {
                let pointer = builder.plain(Expression::LocalVariable(variable));
                builder.emit(Expression::Load { pointer })
            });
            builder.push(Statement::Return { value });
            builder.block
        } else {
            return;
        };
        let mut builder = self.builder();
        let pointer = builder.plain(Expression::LocalVariable(returned.yes));
        let condition = builder.emit(Expression::Load { pointer });
        builder.push(Statement::If { condition, accept, reject: Block::new() });
        block.append(&mut builder.block);
    }

    /// The statements of actions.
    fn acts(&mut self, acts: &[CounterAction]) -> Block {
        let CounterContext { types, globals, count, plan, .. } = self.context;
        let mut builder = BodyBuilder { expressions: self.expressions, block: Block::new() };
        let var = |var: &super::plan::Var| globals.vars[var.0];
        for act in acts {
            match act {
                CounterAction::Note(into, None) => {
                    let one = builder.literal(1);
                    builder.store(var(into), one);
                }
                CounterAction::Note(into, Some(id)) => {
                    let Some(bit) = plan.loops[id.0].bit else { continue };
                    let old = builder.load(var(into));
                    let now = builder.load(var(&bit));
                    let new = builder.binary(BinaryOperator::InclusiveOr, old, now);
                    builder.store(var(into), new);
                }
                CounterAction::Step(step) => builder.increment(var(step)),
                CounterAction::Executed { executions, lanes } => {
                    let leads = builder.leads(types, globals);
                    builder.when(leads, |builder| builder.increment(var(executions)));
                    builder.increment(var(lanes));
                }
                CounterAction::Memory { first } => {
                    let word = builder.literal(plan.word(*first));
                    builder.call(*count, vec![word]);
                }
                CounterAction::Fold(id) => fold(&mut builder, self.context, &plan.loops[id.0]),
            }
        }
        builder.block
    }

    /// The statement itself, calls redirected and exits noted.
    fn statement(&mut self, statement: &Statement, span: Span) -> Block {
        let mut block = Block::new();
        match statement {
            Statement::Call { function, arguments, result } => {
                let function = self.moved[function.index()];
                let (arguments, result) = (arguments.clone(), *result);
                block.push(Statement::Call { function, arguments, result }, span);
            }
            Statement::Break if matches!(self.frames.last(), Some(BreakFrame::Stretches(..))) => {
                block = self.leave();
            }
            Statement::Return { value } if self.in_stretches() => {
                let returned = self.note_returned();
                let mut builder = self.builder();
                let pointer = builder.plain(Expression::LocalVariable(returned.yes));
                let yes = builder.plain(Expression::Literal(naga::Literal::Bool(true)));
                builder.push(Statement::Store { pointer, value: yes });
                if let (Some(variable), Some(value)) = (returned.value, *value) {
                    let pointer = builder.plain(Expression::LocalVariable(variable));
                    builder.push(Statement::Store { pointer, value });
                }
                block = builder.block;
                let mut leave = self.leave();
                block.append(&mut leave);
            }
            other => block.push(other.clone(), span),
        }
        block
    }
}

/// Hands on what a loop's variables hold.
fn fold(builder: &mut BodyBuilder<'_>, context: &CounterContext<'_>, around: &Loop) {
    let CounterContext { types, globals, plan, .. } = context;
    if around.folds.is_empty() {
        return;
    }
    let zero = builder.literal(0);
    let leads = if around.once { None } else { Some(builder.leads(types, globals)) };
    for fold in &around.folds {
        let from_bits = builder.bits(globals, plan, &fold.from);
        // An iteration that any lane noted is an execution of the subgroup.
        let (executions, lanes) = if around.bit.is_some() {
            let any = builder.collective(SubgroupOperation::Or, from_bits, types.u32);
            (builder.ones(any), builder.ones(from_bits))
        } else {
            (from_bits, from_bits)
        };
        let added = match leads {
            Some(condition) => {
                builder.emit(Expression::Select { condition, accept: executions, reject: zero })
            }
            None => executions,
        };
        builder.add_to(globals.vars[fold.executions.0], added);
        builder.add_to(globals.vars[fold.lanes.0], lanes);
        if let (None, super::plan::Bits::Var(var)) = (around.bit, &fold.from) {
            builder.store(globals.vars[var.0], zero);
        }
    }
}
