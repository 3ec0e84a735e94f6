//! A function that is being written: its text so far, and what is around the next line.
//!
//! Input: lines of C++. Output: the text, with the lines of the source that they belong to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle, LocalVariable, Module, Span, TypeInner};

use super::materialise::Materialised;

/// Whose body is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Function(Handle<Function>),
    EntryPoint,
}

/// A function that is being written.
pub(super) struct TranslatedFunction<'a> {
    pub(super) owner: Owner,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
    pub(super) bake: Materialised,
    /// The variables that hold expressions.
    pub(super) values: BTreeMap<Handle<Expression>, String>,
    /// Whether a subgroup operation is reachable.
    pub(super) tracked: bool,
    /// The mask of active lanes, where it is tracked.
    pub(super) mask: String,
    /// Whether lanes that leave may do so by a jump: none waits for them here.
    pub(super) direct: bool,
    /// The loops and switches around, innermost last.
    pub(super) constructs: Vec<EnclosingConstruct>,
    /// The counters of the loops around.
    pub(super) counters: Vec<LoopCounter>,
    /// How often the whole function changes each of its variables.
    pub(super) changes: BTreeMap<Handle<LocalVariable>, usize>,
    /// Loops seen so far, in the order of `materialise`'s walk.
    pub(super) loops: usize,
    /// Whether `leaving` is used.
    pub(super) leaving: bool,
    /// Whether `result` is used.
    pub(super) result: bool,
    /// A place for what has no span.
    pub(super) span: Span,
    pub(super) out: String,
    pub(super) indent: usize,
    /// The line that the compiler will give to the next line of the text.
    pub(super) line_next: Option<u32>,
    pub(super) file: &'a str,
}

impl<'a> TranslatedFunction<'a> {
    /// The type of an expression.
    pub(super) fn type_of(&self, module: &'a Module, handle: Handle<Expression>) -> &'a TypeInner {
        self.info[handle].ty.inner_with(&module.types)
    }

    /// Whether what is being written runs once in a run of the function.
    pub(super) fn in_no_loop(&self) -> bool {
        !self.constructs.iter().any(|around| around.repeats)
    }

    /// Where an expression stands.
    pub(super) fn span_of(&self, handle: Handle<Expression>) -> Span {
        let span = self.function.expressions.get_span(handle);
        let known = span.to_range().is_some_and(|range| range.end > 0);
        if known { span } else { self.span }
    }

    /// Writes a line of C++ that belongs to a line of the source.
    pub(super) fn put(&mut self, line: Option<u32>, text: &str) {
        if let Some(line) = line
            && self.line_next != Some(line)
        {
            // Writing to a string cannot fail.
            let _ = writeln!(self.out, "#line {line} \"/lanescope/{}\"", self.file);
            self.line_next = Some(line);
        }
        for part in text.lines() {
            let _ = writeln!(self.out, "{:1$}{part}", "", self.indent * 4);
            self.line_next = self.line_next.map(|line| line + 1);
        }
    }

    /// Writes a line that opens a scope.
    pub(super) fn open(&mut self, line: Option<u32>, text: &str) {
        self.put(line, text);
        self.indent += 1;
    }

    /// Closes a scope.
    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.put(None, text);
    }
}

/// A loop or switch around what is being written.
#[derive(Clone, Debug)]
pub(super) struct EnclosingConstruct {
    /// Whether it is a loop.
    pub(super) repeats: bool,
    /// Whether lanes that leave note so and wait.
    pub(super) tracked: bool,
    /// Where `continue` jumps to, where it is not C++'s own place.
    pub(super) label: Option<String>,
}

/// A counter of a loop that is being written.
#[derive(Clone, Debug)]
pub(super) struct LoopCounter {
    pub(super) variable: Handle<LocalVariable>,
    /// What the loop computes: a value read before it may be another.
    pub(super) inside: BTreeSet<Handle<Expression>>,
}
