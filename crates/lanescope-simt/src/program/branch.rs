//! Why each block is entered, and how its lanes leave: structured control flow around blocks.
//!
//! Input: a validated module, the trees of its bodies and [`uniformity`](super::uniformity)'s
//! classes. Output: one [`BlockFlow`] a block. Constructs are numbered here over the whole program,
//! in the order of [`structure`](super::structure): the functions first, the entry point last, an
//! outer construct before those inside it. Nothing is changed.

#![warn(clippy::wildcard_enum_match_arm)]

use std::ops::Range;

use naga::{
    AddressSpace, Expression, Function, Handle, Literal, Module, Span, Statement, TypeInner,
};

use super::exits::Exits;
use super::pointers::{Root, base, root};
use super::source::Text;
use super::structure::{Body, Node, Straight, Structure};
use super::uniformity::{Class, Classes, classes};
use super::visit::{Jump, Meeting, Written, effect};
use crate::units::BlockId;

/// A block's place in structured control flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockFlow {
    /// The constructs around the block in its function, outermost first; of more than [`PATH_MAX`] those.
    pub path: Vec<Enclosure>,
    /// The construct that ends right before the block in the same body.
    pub after: Option<u32>,
    /// How its lanes leave at its end.
    pub leaves: Option<Leave>,
    /// Whether it holds a barrier, or a load that is one.
    pub barrier: bool,
    /// Whether it changes memory that others see: it stores there, or has an atomic. What it calls is not looked into.
    pub writes: bool,
    /// The names of the functions that it calls, in order.
    pub calls: Vec<String>,
    /// The line of each of these calls.
    pub call_lines: Vec<u32>,
}

/// A construct around a block, and the part that the block lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// The construct's number in the program.
    pub construct: u32,
    /// The part.
    pub part: BranchPart,
    /// The line of the condition or selector; of the loop's start for a loop.
    pub line: u32,
    /// What the condition depends on; for a loop all the conditions under which it is left.
    pub class: Class,
    /// A block of the body around the construct whose lanes are exactly those that reach it: before
    /// it, else after it; `None` if there is no such block.
    pub parent: Option<BlockId>,
    /// The operator that the construct stands for, where nobody wrote an `if`.
    pub operator: Option<ShortCircuit>,
}

/// An operator whose right side is not asked where its left side decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortCircuit {
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// A part of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BranchPart {
    /// What lanes run for which an `if`'s condition is true.
    IfAccept,
    /// What the others run.
    IfReject,
    /// An arm of a `switch`, by its place in the source from 0; `case 1u, 2u` is one.
    SwitchCase(u32),
    /// A loop's body.
    LoopBody,
    /// What follows the body in each iteration.
    LoopContinuing,
}

/// A statement by which lanes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// `return`, the implicit one at a function's end not counted.
    Return,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// Constructs around a block that its path holds at most: those outermost.
pub const PATH_MAX: usize = 256;

/// Finds the flow of each block, by number.
pub fn flows(module: &Module, structure: &Structure, text: &Text) -> Vec<BlockFlow> {
    let mut flows = vec![BlockFlow::default(); structure.blocks.len()];
    let classes = classes(module, structure);
    let functions = module.functions.iter().map(|(_, function)| function);
    let bodies = functions.zip(&structure.functions);
    let entry = [(&module.entry_points[0].function, &structure.entry_point)];
    let mut first = 0;
    for ((function, body), classes) in bodies.chain(entry).zip(&classes) {
        let mut walk = FlowWalk {
            module,
            function,
            text,
            classes,
            flows: &mut flows,
            path: Vec::new(),
            deeper: 0,
            seen: Vec::new(),
            first,
            next: 0,
        };
        walk.body(body);
        first += walk.next;
    }
    flows
}

/// A walk over one function's tree.
struct FlowWalk<'a> {
    module: &'a Module,
    function: &'a Function,
    text: &'a Text,
    classes: &'a Classes,
    flows: &'a mut [BlockFlow],
    path: Vec<Enclosure>,
    /// Constructs around the place at hand that the path leaves out.
    deeper: u32,
    /// The blocks of the function, as they come.
    seen: Vec<BlockId>,
    /// The number of the function's first construct.
    first: u32,
    /// The next construct's index in the function.
    next: u32,
}

impl FlowWalk<'_> {
    /// Walks a body; says how lanes leave it.
    fn body(&mut self, body: &Body) -> Exits {
        let (mut before, mut after) = (None, None);
        // Constructs that no block's lanes are known to reach, so far: the blocks in them.
        let mut pending: Vec<Range<usize>> = Vec::new();
        let mut all = Exits::THROUGH;
        for node in &body.nodes {
            if let Node::Straight(straight) = node {
                self.straight(straight, after.take());
                before = Some(straight.block);
                self.settle(&mut pending, straight.block);
                all = all.then(node.exits());
                continue;
            }
            let number = self.first + self.next;
            let begin = self.seen.len();
            let exits = self.construct(node, before);
            all = all.then(exits);
            if exits.any() {
                before = None;
                pending.clear();
            } else if before.is_none() {
                pending.push(begin..self.seen.len());
            }
            after = Some(number);
        }
        all
    }

    /// Makes `block` the parent of the blocks of `pending` constructs of the body at hand: the same lanes
    /// run it after.
    fn settle(&mut self, pending: &mut Vec<Range<usize>>, block: BlockId) {
        // Where the path is full, it does not hold the construct.
        if self.deeper > 0 {
            return;
        }
        let depth = self.path.len();
        for inside in pending.drain(..) {
            for seen in &self.seen[inside] {
                if let Some(around) = self.flows[seen.index()].path.get_mut(depth) {
                    around.parent = Some(block);
                }
            }
        }
    }

    /// Walks a construct; `before` is the block whose lanes reach it. Says how lanes leave it.
    fn construct(&mut self, node: &Node, before: Option<BlockId>) -> Exits {
        let index = self.next;
        self.next += 1;
        let class = self.classes.constructs[index as usize];
        let construct = self.first + index;
        let operator = match node {
            Node::If { accept, reject, .. } => short_circuit(self.function, accept, reject),
            Node::Straight(_) | Node::Switch { .. } | Node::Loop { .. } => None,
        };
        let enclosure =
            |part, line| Enclosure { construct, part, line, class, parent: before, operator };
        let mut inside = Exits::default();
        match node {
            Node::Straight(_) => {}
            Node::If { condition, accept, reject, span } => {
                let line = self.line(Some(*condition), *span);
                inside = self.part(accept, enclosure(BranchPart::IfAccept, line));
                inside = inside.or(self.part(reject, enclosure(BranchPart::IfReject, line)));
            }
            Node::Switch { selector, cases, span } => {
                let line = self.line(Some(*selector), *span);
                let mut number = 0;
                for case in cases {
                    let part = enclosure(BranchPart::SwitchCase(number), line);
                    inside = inside.or(self.part(&case.body, part));
                    // A further value of the arm behind it is no arm.
                    number += u32::from(!(case.fall_through && case.body.nodes.is_empty()));
                }
            }
            Node::Loop { body, continuing, break_if: _, span } => {
                let line = self.line(None, *span);
                inside = self.part(body, enclosure(BranchPart::LoopBody, line));
                let part = enclosure(BranchPart::LoopContinuing, line);
                inside = inside.or(self.part(continuing, part));
            }
        }
        node.exits_by(inside)
    }

    fn part(&mut self, body: &Body, enclosure: Enclosure) -> Exits {
        let kept = self.path.len() < PATH_MAX && self.deeper == 0;
        if kept {
            self.path.push(enclosure);
        } else {
            self.deeper += 1;
        }
        let exits = self.body(body);
        if kept {
            self.path.pop();
        } else {
            self.deeper -= 1;
        }
        exits
    }

    /// The line of a branch or another statement.
    fn line(&self, condition: Option<Handle<Expression>>, span: Span) -> u32 {
        // The load of a variable has no place of its own.
        let condition = condition.map(|handle| self.function.expressions.get_span(handle));
        self.text.branch_line(condition.unwrap_or(Span::UNDEFINED), span).unwrap_or(1)
    }

    fn straight(&mut self, straight: &Straight, after: Option<u32>) {
        let mut flow = BlockFlow { path: self.path.clone(), after, ..BlockFlow::default() };
        for (statement, span) in &straight.statements {
            let effect = effect(statement);
            flow.barrier |=
                matches!(effect.synchronises, Some(Meeting::Barrier(_) | Meeting::UniformLoad));
            // An image is written through no pointer.
            flow.writes |=
                matches!(statement, Statement::ImageStore { .. } | Statement::ImageAtomic { .. })
                    || effect.writes.is_some_and(|write| self.is_seen(write.pointer));
            if let Some(call) = effect.calls {
                let name = self.module.functions[call.function].name.clone();
                flow.calls.push(name.unwrap_or_default());
                flow.call_lines.push(self.line(None, *span));
            }
            let Some(jump) = effect.leaves else { continue };
            flow.leaves = match jump {
                Jump::Break => Some(Leave::Break),
                Jump::Continue => Some(Leave::Continue),
                Jump::Return(_) | Jump::Kill => {
                    // The implicit one at the end has no place, and leaves nobody behind.
                    let written = span.to_range().is_some_and(|range| range.end > 0);
                    written.then_some(Leave::Return)
                }
            };
        }
        self.flows[straight.block.index()] = flow;
        self.seen.push(straight.block);
    }

    /// Whether others see the memory that a pointer leads to.
    fn is_seen(&self, pointer: Handle<Expression>) -> bool {
        match root(self.function, pointer) {
            Root::Local(_) => false,
            Root::Global(variable) => {
                self.module.global_variables[variable].space != AddressSpace::Private
            }
            Root::Other => {
                let Expression::FunctionArgument(index) =
                    self.function.expressions[base(self.function, pointer)]
                else {
                    return false;
                };
                let argument = &self.function.arguments[index as usize];
                let inner = &self.module.types[argument.ty].inner;
                let (TypeInner::Pointer { space, .. } | TypeInner::ValuePointer { space, .. }) =
                    *inner
                else {
                    return false;
                };
                !matches!(space, AddressSpace::Function | AddressSpace::Private)
            }
        }
    }
}

/// The operator that an `if` stands for: of `a && b` and `a || b` the parser makes one that stores `b` to a variable
/// without a name, and a truth where `b` is not asked.
fn short_circuit(function: &Function, accept: &Body, reject: &Body) -> Option<ShortCircuit> {
    let answer = |body: &Body| {
        let Some(Node::Straight(straight)) = body.nodes.last() else { return None };
        let write = effect(&straight.statements.last()?.0).writes?;
        let Written::Value(value) = write.what else { return None };
        let Expression::LocalVariable(local) = function.expressions[write.pointer] else {
            return None;
        };
        function.local_variables[local].name.is_none().then_some((local, value))
    };
    let ((variable, _), (other, value)) = (answer(accept)?, answer(reject)?);
    let Expression::Literal(Literal::Bool(truth)) = function.expressions[value] else {
        return None;
    };
    let alone = reject.nodes.len() == 1 && variable == other;
    alone.then_some(if truth { ShortCircuit::Or } else { ShortCircuit::And })
}

#[cfg(test)]
mod tests;
