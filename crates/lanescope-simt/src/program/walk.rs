//! Walks over the trees of numbered blocks, and how lanes leave them.
//!
//! Input: a body, a node or a block of [`structure`](super::structure)'s trees. Output: what is
//! inside it, in the text's order; and the [`Exits`] by which lanes go on. What single statements do
//! says [`visit`](super::visit). Nothing is changed.

#![warn(clippy::wildcard_enum_match_arm)]

use naga::{Span, Statement};

use super::structure::{Body, Case, Node, Straight};
use super::visit::{Jump, effect};

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
}

impl Straight {
    /// The jump by which its lanes leave at its end.
    pub fn jump(&self) -> Option<Jump> {
        effect(&self.statements.last()?.0).leaves
    }
}

/// Shows every basic block of a body, in the text's order.
pub fn for_each_block<'a>(body: &'a Body, see: &mut dyn FnMut(&'a Straight)) {
    for node in &body.nodes {
        if let Node::Straight(straight) = node {
            see(straight);
        }
        for inner in node.bodies() {
            for_each_block(inner, see);
        }
    }
}

/// Shows every statement of a body with its place, in the text's order.
pub fn for_each_statement<'a>(body: &'a Body, see: &mut dyn FnMut(&'a Statement, Span)) {
    for_each_block(body, &mut |straight| {
        for (statement, span) in &straight.statements {
            see(statement, *span);
        }
    });
}

/// Shows every construct of a body, outer ones before those inside them.
pub fn for_each_construct<'a>(body: &'a Body, see: &mut dyn FnMut(&'a Node)) {
    for node in &body.nodes {
        if !matches!(node, Node::Straight(_)) {
            see(node);
        }
        for inner in node.bodies() {
            for_each_construct(inner, see);
        }
    }
}

/// The ways in which lanes go on from a block, a construct or a body, seen from what holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Some may leave the loop or switch around.
    pub breaks: bool,
    /// Some may go to the `continuing` of the loop around.
    pub continues: bool,
    /// Some may leave the function.
    pub returns: bool,
    /// Some may come to the end.
    pub falls: bool,
}

impl Exits {
    /// As lanes go on from nothing.
    pub const THROUGH: Self = Self { breaks: false, continues: false, returns: false, falls: true };

    /// How lanes leave a body.
    pub fn of_body(body: &Body) -> Self {
        body.exits
    }

    /// How lanes leave a node of a body.
    pub fn of_node(node: &Node) -> Self {
        let inside = node.bodies().map(Self::of_body).fold(Self::default(), Self::or);
        Self::of_construct(node, inside)
    }

    /// How lanes leave a node, from how they leave any of its bodies.
    pub fn of_construct(node: &Node, inside: Self) -> Self {
        match node {
            Node::Straight(straight) => straight.jump().map_or(Self::THROUGH, Self::of_jump),
            Node::If { .. } => inside,
            // A `break` in a switch leaves the switch only.
            Node::Switch { .. } => {
                Self { breaks: false, falls: inside.falls || inside.breaks, ..inside }
            }
            Node::Loop { break_if, .. } => {
                let falls = inside.breaks || break_if.is_some();
                Self { breaks: false, continues: false, returns: inside.returns, falls }
            }
        }
    }

    /// How lanes leave what comes first, and then this.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { falls: self.falls && next.falls, ..self.or(next) }
    }

    fn of_jump(jump: Jump) -> Self {
        match jump {
            Jump::Break => Self { breaks: true, ..Self::default() },
            Jump::Continue => Self { continues: true, ..Self::default() },
            Jump::Return(_) | Jump::Kill => Self { returns: true, ..Self::default() },
        }
    }

    /// Whether some lanes may leave before the end.
    pub fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    /// Whether `break` is the only way on.
    pub fn only_breaks(self) -> bool {
        self.breaks && !self.continues && !self.returns && !self.falls
    }

    /// One or the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
            falls: self.falls || other.falls,
        }
    }
}
