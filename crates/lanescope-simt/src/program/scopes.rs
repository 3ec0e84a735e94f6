//! In which body a local variable lives.
//!
//! Input: a function and its tree. Output: for each local variable how many bodies are around the
//! innermost one that holds all its uses, where each entry of that body starts anew with it. naga
//! keeps a function's variables in one list; whatever stands in a nested body of the text is nested
//! again here. Nothing is run.
//!
//! A body in a loop is entered again and again, and a variable would bring along what it held: there
//! it counts only if the first thing done with it is a store of the whole, in that very body. Else
//! the variable lives outside the outermost loop around.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use naga::{Expression, Function, Handle, LocalVariable};

use super::pointers::{Root, root};
use super::structure::{Body, Node, Straight};
use super::visit::{Write, Written, effect};

/// A body inside another: the number of the node that holds it and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScopeStep {
    node: usize,
    part: usize,
    is_loop: bool,
}

/// What is known of a variable so far.
#[derive(Clone, Debug)]
struct Scope {
    /// The bodies around all uses so far, outermost first.
    home: Vec<ScopeStep>,
    /// Where the first use is, and whether it is a store of the whole.
    first: (Vec<ScopeStep>, bool),
}

/// How many bodies are around the one in which each local variable lives; zero, the function's own,
/// for variables that are not listed.
pub(super) fn find_scopes(
    function: &Function,
    body: &Body,
) -> BTreeMap<Handle<LocalVariable>, usize> {
    let mut walk = ScopeWalk { function, path: Vec::new(), lives: BTreeMap::new() };
    walk.body(body);
    let home = |life: &Scope| {
        let starts_anew = life.first.1 && life.first.0 == life.home;
        let outside_loops = life.home.iter().position(|step| step.is_loop);
        outside_loops.filter(|_| !starts_anew).unwrap_or(life.home.len())
    };
    walk.lives.iter().map(|(variable, life)| (*variable, home(life))).collect()
}

/// A walk over one function's tree.
struct ScopeWalk<'a> {
    function: &'a Function,
    path: Vec<ScopeStep>,
    lives: BTreeMap<Handle<LocalVariable>, Scope>,
}

impl ScopeWalk<'_> {
    fn body(&mut self, body: &Body) {
        for (index, node) in body.nodes.iter().enumerate() {
            if let Node::Straight(straight) = node {
                self.straight(straight);
            }
            // Lanes that took `continue` come to `continuing` with what they had: it is a body of
            // its own, and what both use lives outside.
            let is_loop = matches!(node, Node::Loop { .. });
            for (part, body) in node.bodies().enumerate() {
                self.path.push(ScopeStep { node: index, part, is_loop });
                self.body(body);
                self.path.pop();
            }
        }
    }

    fn straight(&mut self, straight: &Straight) {
        for (statement, _) in &straight.statements {
            let effect = effect(statement);
            for handle in effect.emits.cloned().into_iter().flatten() {
                if let Expression::Load { pointer } = self.function.expressions[handle] {
                    self.uses(pointer, false);
                }
            }
            if let Some(Write { pointer, what }) = effect.writes {
                let variable =
                    matches!(self.function.expressions[pointer], Expression::LocalVariable(_));
                match what {
                    Written::Value(_) => self.uses(pointer, variable),
                    Written::Updated => self.uses(pointer, false),
                    // Whatever else may hold a pointer to a variable keeps it in the function's own
                    // body.
                    Written::Unknown => self.escapes(pointer),
                }
            }
            // A callee may load or store through what it is given; values lead nowhere.
            for operand in effect.reads {
                self.uses(operand, false);
            }
        }
    }

    /// A use of the variable that a pointer points into, if it does.
    fn uses(&mut self, pointer: Handle<Expression>, whole_store: bool) {
        let Root::Local(variable) = root(self.function, pointer) else { return };
        let path = &self.path;
        let life = self
            .lives
            .entry(variable)
            .or_insert_with(|| Scope { home: path.clone(), first: (path.clone(), whole_store) });
        let common = life.home.iter().zip(path).take_while(|(a, b)| a == b).count();
        life.home.truncate(common);
    }

    fn escapes(&mut self, pointer: Handle<Expression>) {
        let path = std::mem::take(&mut self.path);
        self.uses(pointer, false);
        self.path = path;
    }
}
