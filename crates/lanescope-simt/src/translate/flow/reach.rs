//! What a body reaches, and how lanes may leave it.
//!
//! Input: the trees of `program::structure`. Output: whether a subgroup operation is reached, and by
//! which statements lanes leave. It writes nothing.

use naga::{Barrier, Statement};

use crate::program::exits::Exits;
use crate::program::visit::{Jump, Meeting, effect};
use crate::program::{Body, Node, Structure};

/// The statement that a body ends with, where no lane leaves it otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Break,
    Return,
}

/// Whether lanes wait to leave after a construct: those that broke or continued wait for the end of their loop's body,
/// and those that returned for the end of the function, unless nothing stands behind (`tail`).
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
    match node {
        Node::Straight(straight) => {
            straight.statements.iter().any(|(statement, _)| subgroup(tracked, statement))
        }
        Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => {
            node.bodies().any(|body| subgroups_in(tracked, body))
        }
    }
}

/// Whether a statement needs the mask.
fn subgroup(tracked: &[bool], statement: &Statement) -> bool {
    let effect = effect(statement);
    let meets = match effect.synchronises {
        Some(Meeting::Subgroup) => true,
        // A barrier of the workgroup is met by all its lanes or by none, and asks for no mask.
        Some(Meeting::Barrier(flags)) => flags == Barrier::SUB_GROUP,
        Some(Meeting::MemoryOrder(_) | Meeting::UniformLoad) | None => false,
    };
    meets || effect.calls.is_some_and(|call| tracked.get(call.function.index()) == Some(&true))
}

/// How a body ends, where all its lanes leave it by its last statement and none before.
pub(super) fn ending(body: &Body) -> Option<Ending> {
    let (last, before) = body.nodes.split_last()?;
    let Node::Straight(straight) = last else { return None };
    // Where a lane may have left before, the others do not speak for all.
    if before.iter().any(|node| node.exits().any()) {
        return None;
    }
    match straight.jump()? {
        Jump::Break => Some(Ending::Break),
        Jump::Return(_) => Some(Ending::Return),
        Jump::Continue | Jump::Kill => None,
    }
}
