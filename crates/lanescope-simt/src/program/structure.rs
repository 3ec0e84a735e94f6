//! Basic blocks: the one place that numbers them.
//!
//! Input: a validated module with its overrides resolved. Output: for each function a [`Body`], a
//! tree of straight-line [`Straight`] runs and structured control flow, and one [`BlockInfo`] a
//! block. Simulator, instrumenter and CUDA translation all walk these trees, so that they cannot
//! number blocks differently. Nothing is changed here.
//!
//! A block is a maximal straight-line run inside one structured body. `Statement::Block` is
//! transparent, an empty body has no block, and a `Call` does not end one: a callee's lanes all
//! come back, so what follows the call runs with the same lanes. `If`, `Switch` and `Loop` end a
//! block and count no operation of their own: what a test takes are the expressions of its condition,
//! which are emitted and count already, and a branch that counted too would count the test twice.
//! A jump (`break`, `continue`, `return`, `kill`) ends a block too, and its body: what stands behind it
//! is unreachable, belongs to no block, and is never counted; nor is a loop's `continuing` that no lane
//! can come to. A jump counts no operation, since no
//! machine spends one on it; a block that is nothing but a jump has none, and its executions still say
//! how often lanes left there. All this is [`COUNTING_RULE`](super::COUNTING_RULE).
//!
//! Functions are numbered in the module's order (callees before callers), the entry point last.

use std::collections::{BTreeMap, BTreeSet};

use naga::{
    BinaryOperator, Block, Expression, Function, Handle, MathFunction, Module, Span, Statement,
    SwitchValue, TypeInner,
};

use super::exits::Exits;
use super::source::{Location, Text, find_start};
use super::visit::{Control, Jump, effect};
use crate::units::BlockId;

/// A structured body as a tree.
#[derive(Clone, Debug)]
pub struct Body {
    /// What it consists of, in order.
    pub nodes: Vec<Node>,
    /// How lanes leave it. Kept here, since whoever asks at each depth of a chain of `else if`s would
    /// else walk the rest of the chain each time.
    exits: Exits,
    /// The constructs in it, those inside them included.
    pub(super) constructs: usize,
}

impl Body {
    /// A body of these nodes.
    fn new(nodes: Vec<Node>) -> Self {
        let exits = nodes.iter().map(Node::exits).fold(Exits::THROUGH, Exits::then);
        let constructs = nodes.iter().map(Node::constructs).sum();
        Self { nodes, exits, constructs }
    }

    /// How lanes leave it.
    pub fn exits(&self) -> Exits {
        self.exits
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// A part of a body.
#[derive(Clone, Debug)]
pub enum Node {
    /// A basic block.
    Straight(Straight),
    /// A two-way branch.
    If {
        /// The boolean that chooses.
        condition: Handle<Expression>,
        /// What the lanes with `true` run; may be empty.
        accept: Body,
        /// What the others run; may be empty.
        reject: Body,
        /// The place in the source.
        span: Span,
    },
    /// A branch of many ways.
    Switch {
        /// The integer that chooses.
        selector: Handle<Expression>,
        /// The cases in the source's order.
        cases: Vec<Case>,
        /// The place in the source.
        span: Span,
    },
    /// A loop without a condition of its own: it ends by `break`, `break_if` or `return`.
    Loop {
        /// The part in which `continue` may stand.
        body: Body,
        /// The part that runs after it, `break_if`'s condition included.
        continuing: Body,
        /// Leaves the loop after `continuing` where true.
        break_if: Option<Handle<Expression>>,
        /// The place in the source.
        span: Span,
    },
}

impl Node {
    /// The bodies inside it, in the text's order: an `if`'s two, a `switch`'s cases, a loop's body
    /// and `continuing`; a block has none.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let (pair, cases): (_, &[Case]) = match self {
            Self::Straight(_) => (None, &[]),
            Self::If { accept, reject, .. } => (Some([accept, reject]), &[]),
            Self::Switch { cases, .. } => (None, cases),
            Self::Loop { body, continuing, .. } => (Some([body, continuing]), &[]),
        };
        pair.into_iter().flatten().chain(cases.iter().map(|case| &case.body))
    }

    /// The constructs that it consists of: itself, and those inside it; a block has none.
    pub fn constructs(&self) -> usize {
        let inside = self.bodies().map(|body| body.constructs);
        usize::from(!matches!(self, Self::Straight(_))) + inside.sum::<usize>()
    }

    /// How lanes leave it, seen from the body that it is a part of.
    pub fn exits(&self) -> Exits {
        self.exits_by(self.bodies().map(Body::exits).fold(Exits::default(), Exits::or))
    }

    /// How lanes leave it, from how they leave any of its bodies.
    pub fn exits_by(&self, inside: Exits) -> Exits {
        match self {
            Self::Straight(straight) => straight.jump().map_or(Exits::THROUGH, Exits::of_jump),
            Self::If { .. } => inside,
            // A `break` in a switch leaves the switch only.
            Self::Switch { .. } => {
                Exits { breaks: false, falls: inside.falls || inside.breaks, ..inside }
            }
            Self::Loop { break_if, .. } => {
                let falls = inside.breaks || break_if.is_some();
                Exits { breaks: false, continues: false, returns: inside.returns, falls }
            }
        }
    }
}

/// A basic block: statements of which none is a branch.
#[derive(Clone, Debug)]
pub struct Straight {
    /// Its number.
    pub block: BlockId,
    /// Its statements with their places; never `Block`, `If`, `Switch` or `Loop`; never empty. A jump
    /// is the last.
    pub statements: Vec<(Statement, Span)>,
}

impl Straight {
    /// The jump by which its lanes leave at its end.
    pub fn jump(&self) -> Option<Jump> {
        effect(&self.statements.last()?.0).leaves
    }
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// The value that selects it.
    pub value: SwitchValue,
    /// What it runs.
    pub body: Body,
    /// Whether its lanes go on with the next case's body.
    pub fall_through: bool,
}

/// What is known of a block without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// Its number.
    pub id: BlockId,
    /// The function that it lies in.
    pub function: String,
    /// The label in force at its first operation.
    pub label: Option<String>,
    /// Where its first operation stands, or its jump where it has none.
    pub location: Location,
    /// Operations: each emitted expression and each statement but jumps.
    pub ops: u64,
    /// What it costs a lane's multiply-add unit at least, in scalar operations: each `fma`, each
    /// addition, subtraction and multiplication of floats, a product and the sum that takes it
    /// together one; a vector's components each. Units add and multiply no faster than they fuse.
    pub fma_ops: u64,
    /// Operations by source line; their sum is `ops`.
    pub lines: BTreeMap<u32, u64>,
}

/// The trees and tables of a module.
#[derive(Clone, Debug)]
pub struct Structure {
    /// A body for each function, in the order of the module's arena.
    pub functions: Vec<Body>,
    /// The entry point's body.
    pub entry_point: Body,
    /// Every block, by number.
    pub blocks: Vec<BlockInfo>,
}

/// Builds the trees of a module that holds one entry point.
///
/// # Panics
///
/// When the module has no entry point: callers choose it before.
pub fn analyse(module: &Module, info: &naga::valid::ModuleInfo, text: &Text) -> Structure {
    let mut blocks = Vec::new();
    let mut functions = Vec::new();
    for (handle, function) in module.functions.iter() {
        let name = function.name.clone().unwrap_or_default();
        let types = &info[handle];
        functions.push(BlockWalk::new(module, types, text, function, &name, &mut blocks).run());
    }
    let entry = &module.entry_points[0];
    let types = info.get_entry_point(0);
    let entry_point =
        BlockWalk::new(module, types, text, &entry.function, &entry.name, &mut blocks).run();
    Structure { functions, entry_point, blocks }
}

/// One function's walk.
struct BlockWalk<'a> {
    module: &'a Module,
    types: &'a naga::valid::FunctionInfo,
    text: &'a Text,
    function: &'a Function,
    name: &'a str,
    end: usize,
    products_added: BTreeSet<Handle<Expression>>,
    /// How many `continue`s were seen.
    continues: usize,
    /// The offset of the last operation seen: where something without a span is put.
    last: usize,
    blocks: &'a mut Vec<BlockInfo>,
}

impl<'a> BlockWalk<'a> {
    fn new(
        module: &'a Module,
        types: &'a naga::valid::FunctionInfo,
        text: &'a Text,
        function: &'a Function,
        name: &'a str,
        blocks: &'a mut Vec<BlockInfo>,
    ) -> Self {
        let end = text.function_end(name);
        let products_added = find_added_products(function);
        let (continues, last) = (0, end);
        Self { module, types, text, function, name, end, products_added, continues, last, blocks }
    }

    fn run(mut self) -> Body {
        let function = self.function;
        self.body(&function.body, true)
    }

    fn body(&mut self, block: &Block, outermost: bool) -> Body {
        let mut nodes = Vec::new();
        let mut straight = Vec::new();
        self.collect(block, outermost, &mut straight, &mut nodes);
        self.close(&mut straight, &mut nodes, outermost, Span::UNDEFINED);
        Body::new(nodes)
    }

    /// Appends a block's statements, seeing through nested plain blocks, up to the first jump; says
    /// whether there was one.
    fn collect(
        &mut self,
        block: &Block,
        outermost: bool,
        straight: &mut Vec<(Statement, Span)>,
        nodes: &mut Vec<Node>,
    ) -> bool {
        for (statement, &span) in block.span_iter() {
            let effect = effect(statement);
            let nothing = effect.emits.is_some_and(|range| range.clone().next().is_none());
            let Some(control) = effect.control else {
                if !nothing {
                    straight.push((statement.clone(), span));
                }
                if let Some(jump) = effect.leaves {
                    self.continues += usize::from(jump == Jump::Continue);
                    return true;
                }
                continue;
            };
            if let Control::Block(inner) = control {
                if self.collect(inner, outermost, straight, nodes) {
                    return true;
                }
                continue;
            }
            self.close(straight, nodes, outermost, span);
            nodes.extend(self.construct(control, span));
        }
        false
    }

    /// A branch or a loop with all that is inside it; a plain block is neither.
    fn construct(&mut self, control: Control<'_>, span: Span) -> Option<Node> {
        match control {
            Control::Block(_) => None,
            Control::If { condition, accept, reject } => {
                let accept = self.body(accept, false);
                let reject = self.body(reject, false);
                Some(Node::If { condition, accept, reject, span })
            }
            Control::Switch { selector, cases } => {
                let case = |case: &naga::SwitchCase| Case {
                    value: case.value,
                    body: self.body(&case.body, false),
                    fall_through: case.fall_through,
                };
                let cases = cases.iter().map(case).collect();
                Some(Node::Switch { selector, cases, span })
            }
            Control::Loop { body, continuing, break_if } => {
                let before = self.continues;
                let body = self.body(body, false);
                if self.continues == before && leaves(&body) {
                    let continuing = Body::default();
                    return Some(Node::Loop { body, continuing, break_if: None, span });
                }
                let continuing = self.body(continuing, false);
                Some(Node::Loop { body, continuing, break_if, span })
            }
        }
    }

    /// Ends the run of statements collected so far and numbers it; `next` is the branch after it.
    fn close(
        &mut self,
        straight: &mut Vec<(Statement, Span)>,
        nodes: &mut Vec<Node>,
        outermost: bool,
        next: Span,
    ) {
        if straight.is_empty() {
            self.last = find_start(next).unwrap_or(self.last);
            return;
        }
        let statements = std::mem::take(straight);
        let id = BlockId(u32::try_from(self.blocks.len()).unwrap_or(u32::MAX));
        let mut offsets = Vec::new();
        let mut fma_ops = 0;
        let mut jumps = 0;
        for (statement, span) in &statements {
            if let Statement::Emit(ref range) = *statement {
                for handle in range.clone() {
                    offsets.push(find_start(self.function.expressions.get_span(handle)));
                    fma_ops += self.fma_ops(handle);
                }
            } else {
                jumps += usize::from(effect(statement).leaves.is_some());
                let implicit = matches!(statement, Statement::Return { value: None });
                let end = (implicit && outermost).then_some(self.end);
                offsets.push(find_start(*span).or(end));
            }
        }
        let offsets = self.place(&offsets, next);
        let mut lines = BTreeMap::new();
        // A jump is the last statement, and no operation.
        let operations = &offsets[..offsets.len() - jumps];
        for &offset in operations {
            *lines.entry(self.text.location(offset).line).or_insert(0) += 1;
        }
        let first = offsets[0];
        self.blocks.push(BlockInfo {
            id,
            function: self.name.to_owned(),
            label: self.text.label(first).map(str::to_owned),
            location: self.text.location(first),
            ops: operations.len() as u64,
            fma_ops,
            lines,
        });
        nodes.push(Node::Straight(Straight { block: id, statements }));
    }

    /// Places operations that have no span of their own: loads of variables belong to what uses
    /// them, the next operation that has one; what ends a block belongs to what stands before.
    fn place(&mut self, offsets: &[Option<usize>], next: Span) -> Vec<usize> {
        let mut following = find_start(next);
        let mut placed = Vec::new();
        let ahead: Vec<Option<usize>> = offsets
            .iter()
            .rev()
            .map(|offset| {
                following = offset.or(following);
                following
            })
            .collect();
        for offset in ahead.into_iter().rev() {
            self.last = offset.unwrap_or(self.last);
            placed.push(self.last);
        }
        placed
    }

    /// Multiply-adds, in scalars, that an expression costs at least: see [`BlockInfo::fma_ops`].
    fn fma_ops(&self, handle: Handle<Expression>) -> u64 {
        let costs = match self.function.expressions[handle] {
            Expression::Math { fun: MathFunction::Fma, .. }
            | Expression::Binary { op: BinaryOperator::Add | BinaryOperator::Subtract, .. } => true,
            Expression::Binary { op: BinaryOperator::Multiply, .. } => {
                !self.products_added.contains(&handle)
            }
            _ => false,
        };
        match *self.types[handle].ty.inner_with(&self.module.types) {
            TypeInner::Scalar(scalar) if costs && float(scalar) => 1,
            TypeInner::Vector { size, scalar } if costs && float(scalar) => size as u64,
            _ => 0,
        }
    }
}

/// Whether a body ends in a jump.
fn leaves(body: &Body) -> bool {
    match body.nodes.last() {
        Some(Node::Straight(straight)) => {
            straight.statements.last().is_some_and(|(last, _)| effect(last).leaves.is_some())
        }
        Some(Node::If { .. } | Node::Switch { .. } | Node::Loop { .. }) | None => false,
    }
}

/// The products that a sum or difference of the same function takes: one multiply-add with it.
fn find_added_products(function: &Function) -> BTreeSet<Handle<Expression>> {
    let product = |operand: &Handle<Expression>| {
        matches!(
            function.expressions[*operand],
            Expression::Binary { op: BinaryOperator::Multiply, .. }
        )
    };
    let mut added = BTreeSet::new();
    for (_, expression) in function.expressions.iter() {
        if let Expression::Binary {
            op: BinaryOperator::Add | BinaryOperator::Subtract,
            left,
            right,
        } = expression
        {
            added.extend([*left, *right].into_iter().filter(product));
        }
    }
    added
}

fn float(scalar: naga::Scalar) -> bool {
    scalar.kind == naga::ScalarKind::Float
}
