//! Places of the source put in place of naga's offsets into words, or into WGSL that a preprocessor wrote.
//!
//! Input: naga's module, whose spans are offsets in bytes into what it was parsed from, and the place of each
//! instruction of SPIR-V ([`put`]) or of each line of WGSL ([`put_lines`]). Output: the same module, whose spans are
//! offsets into the text that is shown. Nothing else is changed. What naga makes of no instruction has no span and
//! gets that of what it belongs to: a branch that of its condition, a loop that of the first thing in it, what copies
//! built-in values that of the entry point, an implicit `return` that of the function's end.

use std::collections::{BTreeMap, BTreeSet};

use naga::{Arena, Block, Expression, Function, Handle, Module, Span, Statement, UniqueArena};

/// Where each function begins in the words and where its first and last instruction with a place stand in
/// the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionPlace {
    /// Offset in the words.
    pub(super) offset: usize,
    /// Its first line.
    pub(super) first: Span,
    /// Its last line.
    pub(super) last: Span,
}

/// The places of a module's instructions, or of its lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// From which offset in what was parsed on which span of the text holds, ascending.
    pub(super) spans: Vec<(usize, Span)>,
    /// Those of the offsets from which on the text holds the very letters that were parsed.
    pub(super) verbatim: BTreeSet<usize>,
    /// The functions, ascending.
    pub(super) functions: Vec<FunctionPlace>,
}

impl Places {
    /// The span of the text for a span of what was parsed.
    pub(super) fn span_of(&self, span: Span) -> Span {
        let Some(range) = span.to_range() else { return Span::UNDEFINED };
        let after = self.spans.partition_point(|(offset, _)| *offset <= range.start);
        let Some(index) = after.checked_sub(1) else { return Span::UNDEFINED };
        let (offset, place) = self.spans[index];
        let line = place.to_range().filter(|_| self.verbatim.contains(&offset));
        line.map_or(place, |line| {
            let start = line.start + (range.start - offset);
            let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(small(start), small(line.end.max(start + 1)))
        })
    }

    /// The function that begins where a span of the words does.
    fn function(&self, span: Span) -> Option<FunctionPlace> {
        let start = span.to_range()?.start;
        let after = self.functions.partition_point(|function| function.offset <= start);
        after.checked_sub(1).map(|index| self.functions[index])
    }
}

/// Puts the places of SPIR-V's instructions in.
pub(super) fn put(module: &mut Module, places: &Places) {
    let spans: Vec<Span> =
        module.functions.iter().map(|(handle, _)| module.functions.get_span(handle)).collect();
    for ((_, function), span) in module.functions.iter_mut().zip(spans) {
        put_function(function, places, places.function(span), false);
    }
    let entry_place = |entry: &naga::EntryPoint| {
        let called = module.functions.iter().filter(|(_, f)| f.name.is_some());
        let mut called = called.filter(|(_, f)| f.name.as_deref() == Some(&entry.name));
        called.next().map(|(handle, _)| module.functions.get_span(handle))
    };
    let entries: Vec<Option<Span>> = module.entry_points.iter().map(entry_place).collect();
    for (entry, span) in module.entry_points.iter_mut().zip(entries) {
        // The function that it wraps stands last in what it calls, and may have another name.
        let callee = entry.function.body.iter().find_map(|statement| match statement {
            Statement::Call { function, .. } => Some(*function),
            _ => None,
        });
        let span = callee.map(|callee| module.functions.get_span(callee)).or(span);
        put_function(&mut entry.function, places, span.and_then(|s| places.function(s)), true);
    }
    put_globals(module, places);
}

/// Puts the places of WGSL's lines in; `ends` has the place of each function's end, by its name.
///
/// A branch and a loop keep their own place where their line has one.
pub(super) fn put_lines(module: &mut Module, places: &Places, ends: &BTreeMap<String, Span>) {
    let place = |span: Span| places.span_of(span);
    let end = |name: &str| ends.get(name).copied().unwrap_or(Span::UNDEFINED);
    let put_body = |function: &mut Function, end: Span| {
        map_arena(&mut function.expressions, place);
        map_arena(&mut function.local_variables, place);
        let mut block = std::mem::take(&mut function.body);
        put_block(&mut block, &function.expressions, &place, end, true);
        function.body = block;
    };
    for (_, function) in module.functions.iter_mut() {
        let end = function.name.as_deref().map_or(Span::UNDEFINED, end);
        put_body(function, end);
    }
    for entry in &mut module.entry_points {
        let end = end(&entry.name);
        put_body(&mut entry.function, end);
    }
    put_globals(module, places);
}

/// Puts the places of what stands outside of functions in, and of the functions themselves.
fn put_globals(module: &mut Module, places: &Places) {
    map_arena(&mut module.functions, |span| places.span_of(span));
    map_arena(&mut module.global_variables, |span| places.span_of(span));
    map_arena(&mut module.constants, |span| places.span_of(span));
    map_arena(&mut module.global_expressions, |span| places.span_of(span));
    map_arena(&mut module.overrides, |span| places.span_of(span));
    let types = std::mem::replace(&mut module.types, UniqueArena::new());
    for (handle, ty) in types.iter() {
        module.types.insert(ty.clone(), places.span_of(types.get_span(handle)));
    }
}

fn put_function(
    function: &mut Function,
    places: &Places,
    function_place: Option<FunctionPlace>,
    is_wrapper: bool,
) {
    let first = function_place.map_or(Span::UNDEFINED, |span| span.first);
    let place = |span: Span| match places.span_of(span) {
        known if known.is_defined() && !is_wrapper => known,
        _ if is_wrapper => first,
        unknown => unknown,
    };
    map_arena(&mut function.expressions, place);
    map_arena(&mut function.local_variables, place);
    let mut block = std::mem::take(&mut function.body);
    let ends =
        if is_wrapper { first } else { function_place.map_or(Span::UNDEFINED, |span| span.last) };
    put_block(&mut block, &function.expressions, &place, ends, false);
    function.body = block;
}

/// The spans of a block's statements; `ends` is that of a `return` at its end, and `keeps` whether branches and loops
/// have places of their own.
fn put_block(
    block: &mut Block,
    expressions: &Arena<Expression>,
    place: &dyn Fn(Span) -> Span,
    ends: Span,
    keeps: bool,
) {
    let count = block.len();
    for (index, (statement, span)) in block.span_iter_mut().enumerate() {
        let none = Span::UNDEFINED;
        let span_of = |handle: Handle<Expression>| expressions.get_span(handle);
        let mut found = span.as_ref().map_or(none, |span| place(**span));
        let kept = Some(found).filter(|found| keeps && found.is_defined());
        match statement {
            Statement::Block(inner) => put_block(inner, expressions, place, none, keeps),
            Statement::If { condition, accept, reject } => {
                put_block(accept, expressions, place, none, keeps);
                put_block(reject, expressions, place, none, keeps);
                found = kept.unwrap_or_else(|| span_of(*condition));
            }
            Statement::Switch { selector, cases } => {
                cases.iter_mut().for_each(|case| {
                    put_block(&mut case.body, expressions, place, none, keeps);
                });
                found = kept.unwrap_or_else(|| span_of(*selector));
            }
            Statement::Loop { body, continuing, .. } => {
                put_block(body, expressions, place, none, keeps);
                put_block(continuing, expressions, place, none, keeps);
                found = kept.unwrap_or_else(|| first_in(body, expressions));
            }
            Statement::Return { .. } if index + 1 == count && !found.is_defined() => found = ends,
            Statement::Emit(range) if !found.is_defined() => {
                let first = range.clone().map(span_of).find(|span| span.is_defined());
                found = first.unwrap_or(none);
            }
            _ => {}
        }
        if let Some(span) = span {
            *span = found;
        }
    }
}

/// The span of the first thing in a block that has one.
fn first_in(block: &Block, expressions: &Arena<Expression>) -> Span {
    let known = |(statement, span): (&Statement, &Span)| match statement {
        Statement::Emit(range) => {
            range.clone().map(|handle| expressions.get_span(handle)).find(Span::is_defined)
        }
        _ => Some(*span).filter(Span::is_defined),
    };
    block.span_iter().find_map(known).unwrap_or(Span::UNDEFINED)
}

fn map_arena<T>(arena: &mut Arena<T>, map: impl Fn(Span) -> Span) {
    let mut mapped = Arena::new();
    for (_, value, span) in arena.drain() {
        mapped.append(value, map(span));
    }
    *arena = mapped;
}
