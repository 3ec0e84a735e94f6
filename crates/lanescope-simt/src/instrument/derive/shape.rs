//! What the planner must know of a body before it plans it.
//!
//! Input: a program. Output: how lanes leave bodies, which constructs lanes may take differently,
//! where barriers are, what is called from where. It plans nothing.

use std::collections::BTreeMap;

use crate::program::uniformity::{Class, Classes, classes};
use crate::program::visit::{Meeting, effect};
use crate::program::walk::for_each_statement;
use crate::program::{Body, Node, Program, Straight};

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
pub(super) struct ProgramShape {
    /// Classes of the functions' constructs, the entry point last.
    pub(super) classes: Vec<Classes>,
    functions: Vec<Survey>,
}

impl ProgramShape {
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
            // Constructs are numbered as the text has them: this one, then those inside it.
            let construct = *next;
            *next += 1;
            let mut inside = Survey::default();
            for body in node.bodies() {
                inside = inside.or(self.survey(function, body, next));
            }
            if matches!(node, Node::Loop { .. }) {
                // Lanes that part inside a loop meet again behind it, but for those that return: what is inside
                // does not matter to what is around.
                inside.parts = node.exits().returns && !self.is_uniform(function, construct);
            } else {
                // They part here, or in one of the arms.
                inside.parts |= !self.is_uniform(function, construct);
            }
            all = all.or(inside);
        }
        all
    }

    fn straight(&self, straight: &Straight) -> Survey {
        let mut all = Survey::default();
        for (statement, _) in &straight.statements {
            let effect = effect(statement);
            all.barrier |=
                matches!(effect.synchronises, Some(Meeting::Barrier(_) | Meeting::UniformLoad));
            // What a function does, whoever calls it does.
            if let Some(call) = effect.calls {
                all = all.or(self.functions[call.function.index()]);
            }
        }
        all
    }
}

/// How often each function is called from the text.
pub(super) fn call_sites(program: &Program) -> BTreeMap<usize, usize> {
    let mut sites = BTreeMap::new();
    let structure = program.structure();
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        for_each_statement(body, &mut |statement, _| {
            if let Some(call) = effect(statement).calls {
                *sites.entry(call.function.index()).or_default() += 1;
            }
        });
    }
    sites
}
