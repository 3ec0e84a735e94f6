//! What a body reaches, and how lanes may leave it.
//!
//! Input: the trees of `program::structure`. Output: whether a subgroup operation is reached, and by
//! which statements lanes leave. It writes nothing.

use naga::{Barrier, Statement};

use crate::program::{Body, Node, Structure};

/// How lanes may leave a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exits {
    pub(super) breaks: bool,
    pub(super) continues: bool,
    pub(super) returns: bool,
}

impl Exits {
    pub(super) fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }
}

/// The statement that a body ends with, where no lane leaves it otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Break,
    Return,
}

/// Whether lanes wait to leave after a construct.
pub(super) fn waits(exits: Exits, tail: bool) -> bool {
    exits.breaks || exits.continues || (exits.returns && !tail)
}

/// For each function of a module, whether it reaches a subgroup operation.
pub(in crate::translate) fn tracked(structure: &Structure) -> Vec<bool> {
    let mut tracked = Vec::new();
    for body in &structure.functions {
        // Callees come before their callers.
        let reaches = subgroups_in(&tracked, body);
        tracked.push(reaches);
    }
    tracked
}

/// Whether a body reaches a subgroup operation.
pub(in crate::translate) fn subgroups_in(tracked: &[bool], body: &Body) -> bool {
    body.nodes.iter().any(|node| subgroups_in_node(tracked, node))
}

pub(super) fn subgroups_in_node(tracked: &[bool], node: &Node) -> bool {
    match *node {
        Node::Straight(ref straight) => {
            straight.statements.iter().any(|(statement, _)| subgroup(tracked, statement))
        }
        Node::If { ref accept, ref reject, .. } => {
            subgroups_in(tracked, accept) || subgroups_in(tracked, reject)
        }
        Node::Switch { ref cases, .. } => {
            cases.iter().any(|case| subgroups_in(tracked, &case.body))
        }
        Node::Loop { ref body, ref continuing, .. } => {
            subgroups_in(tracked, body) || subgroups_in(tracked, continuing)
        }
    }
}

/// Whether a statement needs the mask.
fn subgroup(tracked: &[bool], statement: &Statement) -> bool {
    match *statement {
        Statement::SubgroupBallot { .. }
        | Statement::SubgroupGather { .. }
        | Statement::SubgroupCollectiveOperation { .. } => true,
        Statement::ControlBarrier(flags) => flags == Barrier::SUB_GROUP,
        Statement::Call { function, .. } => tracked.get(function.index()) == Some(&true),
        Statement::Emit(_)
        | Statement::Block(_)
        | Statement::If { .. }
        | Statement::Switch { .. }
        | Statement::Loop { .. }
        | Statement::Break
        | Statement::Continue
        | Statement::Return { .. }
        | Statement::Kill
        | Statement::MemoryBarrier(_)
        | Statement::Store { .. }
        | Statement::ImageStore { .. }
        | Statement::Atomic { .. }
        | Statement::ImageAtomic { .. }
        | Statement::WorkGroupUniformLoad { .. }
        | Statement::RayQuery { .. }
        | Statement::RayPipelineFunction(_)
        | Statement::CooperativeStore { .. } => false,
    }
}

/// How lanes may leave a body.
pub(super) fn exits(body: &Body) -> Exits {
    body.nodes.iter().fold(Exits::default(), |sum, node| sum.with(exits_of(node)))
}

pub(super) fn exits_of(node: &Node) -> Exits {
    match *node {
        Node::Straight(ref straight) => {
            let last = straight.statements.last().map(|(statement, _)| statement);
            Exits {
                breaks: matches!(last, Some(Statement::Break)),
                continues: matches!(last, Some(Statement::Continue)),
                returns: matches!(last, Some(Statement::Return { .. })),
            }
        }
        Node::If { ref accept, ref reject, .. } => exits(accept).with(exits(reject)),
        Node::Switch { ref cases, .. } => {
            let all = cases.iter().fold(Exits::default(), |sum, case| sum.with(exits(&case.body)));
            Exits { breaks: false, ..all }
        }
        Node::Loop { ref body, .. } => Exits { returns: exits(body).returns, ..Exits::default() },
    }
}

/// How a body ends, where all its lanes leave it by its last statement and none before.
pub(super) fn ending(body: &Body) -> Option<Ending> {
    let (last, before) = body.nodes.split_last()?;
    let Node::Straight(straight) = last else { return None };
    if before.iter().any(|node| exits_of(node).any()) {
        return None;
    }
    match straight.statements.last() {
        Some((Statement::Break, _)) => Some(Ending::Break),
        Some((Statement::Return { .. }, _)) => Some(Ending::Return),
        _ => None,
    }
}
