//! What the planner must know of a body before it plans it.
//!
//! Input: a program. Output: how lanes leave bodies, which constructs lanes may take differently,
//! where barriers are, what is called from where. It plans nothing.

use std::collections::BTreeMap;

use naga::Statement;

use crate::program::uniformity::{Class, Classes, classes};
use crate::program::{Body, Node, Program, Straight};

/// The ways in which lanes leave a body or node other than at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exits {
    pub(super) breaks: bool,
    pub(super) continues: bool,
    pub(super) returns: bool,
    /// Whether some lanes may come to the end.
    pub(super) falls: bool,
}

impl Exits {
    const THROUGH: Self = Self { breaks: false, continues: false, returns: false, falls: true };

    pub(super) fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    /// Whether `break` is the only way on.
    pub(super) fn only_breaks(self) -> bool {
        self.breaks && !self.continues && !self.returns && !self.falls
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        Self {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
            falls: self.falls || other.falls,
        }
    }
}

/// How lanes leave a body.
pub(super) fn exits(body: &Body) -> Exits {
    let mut all = Exits::THROUGH;
    for node in &body.nodes {
        let next = node_exits(node);
        all = Exits { falls: all.falls && next.falls, ..all.or(next) };
    }
    all
}

/// How lanes leave a node.
pub(super) fn node_exits(node: &Node) -> Exits {
    match node {
        Node::Straight(straight) => match straight.statements.last() {
            Some((Statement::Break, _)) => Exits { breaks: true, ..Exits::default() },
            Some((Statement::Continue, _)) => Exits { continues: true, ..Exits::default() },
            Some((Statement::Return { .. } | Statement::Kill, _)) => {
                Exits { returns: true, ..Exits::default() }
            }
            _ => Exits::THROUGH,
        },
        Node::If { accept, reject, .. } => exits(accept).or(exits(reject)),
        Node::Switch { cases, .. } => {
            let all = cases.iter().map(|case| exits(&case.body));
            let all = all.fold(Exits::default(), Exits::or);
            // A `break` in a switch leaves the switch only.
            Exits { breaks: false, falls: all.falls || all.breaks, ..all }
        }
        Node::Loop { body, continuing, break_if, .. } => {
            let inside = exits(body).or(exits(continuing));
            let falls = inside.breaks || break_if.is_some();
            Exits { breaks: false, continues: false, returns: inside.returns, falls }
        }
    }
}

/// How many constructs a node is and holds.
pub(super) fn constructs(node: &Node) -> usize {
    let inside = super::super::plan::bodies(node).flat_map(|body| &body.nodes).map(constructs);
    usize::from(!matches!(node, Node::Straight(_))) + inside.sum::<usize>()
}

/// What is inside a part of a program, callees included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    /// Whether lanes may part at an `if` or `switch` that lies in no loop inside.
    pub(super) parts: bool,
    /// Whether there is a barrier.
    pub(super) barrier: bool,
}

impl Survey {
    fn or(self, other: Self) -> Self {
        Self { parts: self.parts || other.parts, barrier: self.barrier || other.barrier }
    }
}

/// What is known of every function.
pub(super) struct Shape {
    /// Classes of the functions' constructs, the entry point last.
    pub(super) classes: Vec<Classes>,
    functions: Vec<Survey>,
}

impl Shape {
    pub(super) fn new(program: &Program) -> Self {
        let structure = program.structure();
        let classes = classes(program.module(), structure);
        let mut shape = Self { classes, functions: Vec::new() };
        // Callees stand before their callers.
        for (function, body) in structure.functions.iter().enumerate() {
            let survey = shape.survey(function, body, &mut 0);
            shape.functions.push(survey);
        }
        shape
    }

    /// Whether all lanes that come to a construct of a function take it alike.
    pub(super) fn is_uniform(&self, function: usize, construct: usize) -> bool {
        self.classes[function].constructs[construct] == Class::Uniform
    }

    /// What is inside a body of a function, whose next construct is `next`.
    pub(super) fn survey(&self, function: usize, body: &Body, next: &mut usize) -> Survey {
        let mut all = Survey::default();
        for node in &body.nodes {
            if let Node::Straight(straight) = node {
                all = all.or(self.straight(straight));
                continue;
            }
            let construct = *next;
            *next += 1;
            let mut inside = Survey::default();
            for body in super::super::plan::bodies(node) {
                inside = inside.or(self.survey(function, body, next));
            }
            if matches!(node, Node::Loop { .. }) {
                inside.parts = node_exits(node).returns && !self.is_uniform(function, construct);
            } else {
                inside.parts |= !self.is_uniform(function, construct);
            }
            all = all.or(inside);
        }
        all
    }

    fn straight(&self, straight: &Straight) -> Survey {
        let mut all = Survey::default();
        for (statement, _) in &straight.statements {
            match statement {
                Statement::ControlBarrier(_) | Statement::WorkGroupUniformLoad { .. } => {
                    all.barrier = true;
                }
                Statement::Call { function, .. } => {
                    all = all.or(self.functions[function.index()]);
                }
                _ => {}
            }
        }
        all
    }
}

/// How often each function is called from the text.
pub(super) fn call_sites(program: &Program) -> BTreeMap<usize, usize> {
    fn count(body: &Body, sites: &mut BTreeMap<usize, usize>) {
        for node in &body.nodes {
            if let Node::Straight(straight) = node {
                for (statement, _) in &straight.statements {
                    if let Statement::Call { function, .. } = statement {
                        *sites.entry(function.index()).or_default() += 1;
                    }
                }
            }
            for body in super::super::plan::bodies(node) {
                count(body, sites);
            }
        }
    }
    let mut sites = BTreeMap::new();
    let structure = program.structure();
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        count(body, &mut sites);
    }
    sites
}
