//! Walks over the trees of numbered blocks.
//!
//! Input: a body of [`structure`](super::structure)'s trees. Output: what is inside it, in the text's
//! order. What single statements do says [`visit`](super::visit). Nothing is changed.

#![warn(clippy::wildcard_enum_match_arm)]

use naga::{Span, Statement};

use super::structure::{Body, Node, Straight};

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
