//! The WGSL that naga writes of a module, shown where there is no source.
//!
//! Input: naga's module without places. Output: the text, and the module with places in it. The module
//! stays as it is: only its spans are set, by walking it in the order in which naga writes it. A value
//! that naga writes into the expression that uses it has no span, and counts for what follows.

use naga::back::wgsl::{WriterFlags, write_string};
use naga::{Arena, Block, Expression, Function, Handle, Module, Span, Statement};

use crate::program::error::ProgramError;
use crate::program::source::Text;
use crate::program::validate::{guard, validate};

/// Writes the text, and puts its places into the module.
///
/// # Errors
///
/// Where the module is not valid, or naga panics while writing it.
pub(super) fn show(module: &mut Module, file: &str) -> Result<Text, ProgramError> {
    let nothing = Text::new(file, "");
    let info = validate(module, &nothing)?;
    let written =
        guard(file, "wrote WGSL for", || write_string(module, &info, WriterFlags::empty()))?;
    let text = written.unwrap_or_else(|error| {
        format!("// {file} names no source, and naga cannot write it as WGSL: {error}\n")
    });
    let lines = lines(&text);
    let globals: Vec<Span> = lines
        .iter()
        .take_while(|line| !is_function(line.text))
        .filter(|line| line.text.starts_with("@group") || line.text.starts_with("var"))
        .map(|line| line.span)
        .collect();
    if globals.len() == module.global_variables.len() {
        let mut variables = Arena::new();
        for ((_, variable, _), span) in module.global_variables.drain().zip(globals) {
            variables.append(variable, span);
        }
        module.global_variables = variables;
    }
    let mut starts = (0..lines.len()).filter(|index| is_function(lines[*index].text));
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|e| &mut e.function)) {
        let Some(start) = starts.next() else { break };
        let body = &lines[start..];
        let end = body.iter().position(|line| line.whole == "}").unwrap_or(body.len());
        put(function, &body[..end]);
    }
    Ok(Text::new(file, &text))
}

/// A line of the text.
struct Line<'a> {
    /// As it stands.
    whole: &'a str,
    /// Without what is before and behind.
    text: &'a str,
    span: Span,
}

fn is_function(line: &str) -> bool {
    line.starts_with("fn ")
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    let small = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    text.split('\n')
        .map(|whole| {
            let inner = whole.trim();
            let start = at + (whole.len() - whole.trim_start().len());
            at += whole.len() + 1;
            Line { whole, text: inner, span: Span::new(small(start), small(start + inner.len())) }
        })
        .collect()
}

/// Puts the places of a function's lines into it.
fn put(function: &mut Function, lines: &[Line<'_>]) {
    let mut expressions = Arena::new();
    let mut block = std::mem::take(&mut function.body);
    let mut walk = LineWalk { lines, at: 1, found: Vec::new() };
    walk.block(&mut block, &function.expressions);
    function.body = block;
    let mut spans = vec![Span::UNDEFINED; function.expressions.len()];
    for (handle, span) in walk.found {
        spans[handle.index()] = span;
    }
    for (handle, expression, _) in function.expressions.drain() {
        expressions.append(expression, spans[handle.index()]);
    }
    function.expressions = expressions;
}

/// A walk along the lines of a function, in the order of its statements.
struct LineWalk<'a> {
    lines: &'a [Line<'a>],
    /// The next line.
    at: usize,
    found: Vec<(Handle<Expression>, Span)>,
}

impl LineWalk<'_> {
    /// The next line that is what is looked for; the walk goes on behind it.
    fn next(&mut self, is: impl Fn(&str) -> bool) -> Span {
        let ahead = self.lines.get(self.at..).unwrap_or_default();
        match ahead.iter().position(|line| is(line.text)) {
            Some(index) => {
                let span = ahead[index].span;
                self.at += index + 1;
                span
            }
            None => Span::UNDEFINED,
        }
    }

    fn block(&mut self, block: &mut Block, expressions: &Arena<Expression>) {
        for (statement, span) in block.span_iter_mut() {
            let found = self.statement(statement, expressions);
            if let Some(span) = span {
                *span = found;
            }
        }
    }

    fn statement(&mut self, statement: &mut Statement, expressions: &Arena<Expression>) -> Span {
        match statement {
            Statement::Emit(range) => {
                let mut first = Span::UNDEFINED;
                for handle in range.clone() {
                    let begin = format!("let _e{} =", handle.index());
                    let ahead = self.lines.get(self.at..).unwrap_or_default();
                    // Most stand where they are used.
                    if ahead.iter().take(ALONG).any(|line| line.text.starts_with(&begin)) {
                        let span = self.next(|line| line.starts_with(&begin));
                        self.found.push((handle, span));
                        first = if first.is_defined() { first } else { span };
                    }
                }
                first
            }
            Statement::Block(inner) => {
                let span = self.next(|line| line == "{");
                self.block(inner, expressions);
                span
            }
            Statement::If { condition, accept, reject } => {
                let span = self.next(|line| line.starts_with("if "));
                if matches!(expressions[*condition], Expression::Load { .. }) {
                    self.found.push((*condition, span));
                }
                self.block(accept, expressions);
                self.block(reject, expressions);
                span
            }
            Statement::Switch { cases, .. } => {
                let span = self.next(|line| line.starts_with("switch "));
                for case in cases {
                    self.block(&mut case.body, expressions);
                }
                span
            }
            Statement::Loop { body, continuing, .. } => {
                let span = self.next(|line| line == "loop {");
                self.block(body, expressions);
                self.block(continuing, expressions);
                span
            }
            Statement::Break => self.next(|line| line == "break;"),
            Statement::Continue => self.next(|line| line == "continue;"),
            Statement::Kill => self.next(|line| line == "discard;"),
            Statement::Return { .. } => self.next(|line| line.starts_with("return")),
            _ => self.next(is_plain),
        }
    }
}

/// How many lines ahead a value's name is looked for: what stands between has no value of its own.
const ALONG: usize = 8;

/// Whether a line is a statement that is no branch, loop or jump.
fn is_plain(line: &str) -> bool {
    let structure =
        ["if ", "switch ", "case ", "default:", "loop ", "continuing ", "break", "var "];
    let jump = ["continue;", "discard;", "return"];
    let brace = line.starts_with('}') || line.starts_with('{');
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    !line.is_empty() && !brace && !begins(&structure) && !begins(&jump)
}
