//! Which values read from memory decide something: a branch's way or an address.
//!
//! Input: a module and the trees of its bodies. Output: for each load or atomic result of a buffer
//! that the program also writes, and of workgroup memory with atomics, whether a condition or an address follows its value, and the lines
//! of those conditions; and for each buffer, and each field of a buffer that is a struct, the lines of all
//! conditions and addresses that follow anything in it ([`Deciding`]); and which numbers of the host bound places of
//! invocations ([`PlaceBounds`]). Whether workgroups, or subgroups of one, in fact exchange such a value is seen when the program
//! runs, by the simulator. Nothing is changed; no value is worked out.
//!
//! # Method
//!
//! A graph of where values come from, without regard to order: an expression from its operands, a
//! load from everything that is ever stored to its variable, an argument from every call, a call's
//! result from every `return`. Each condition and each address is followed back through it. What a
//! condition merely guards does not come from it: the condition itself has been found then.

use std::collections::{BTreeMap, BTreeSet};

use naga::BinaryOperator::{
    Add, And, Greater, GreaterEqual, InclusiveOr, Less, LessEqual, LogicalAnd, LogicalOr, Multiply,
    Subtract,
};
use naga::{
    AddressSpace, BuiltIn, Expression, Function, GlobalVariable, Handle, LocalVariable, Module,
    ScalarKind, Span, Statement, StorageAccess, Type, TypeInner, UnaryOperator,
};

use super::operands::of_expression;
use super::source::{Text, find_start};
use super::structure::{Body, Node, Structure};
use super::visit::{Jump, Meeting, effect};

/// The values that decide something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followed {
    /// By function (the module's in order, the entry point last) and expression: the lines of the
    /// conditions that follow it, none where only addresses do.
    values: BTreeMap<(usize, Handle<Expression>), BTreeSet<u32>>,
}

impl Followed {
    /// The lines of the conditions that follow a value; `None` if nothing follows it.
    pub(crate) fn lines(
        &self,
        function: usize,
        value: Handle<Expression>,
    ) -> Option<&BTreeSet<u32>> {
        self.values.get(&(function, value))
    }
}

/// What follows the contents of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deciding {
    /// Lines of conditions, and of the loops that end by them.
    pub conditions: BTreeSet<u32>,
    /// Of these the lines of loops whose trip count follows it as a whole number, such as a limit; what
    /// becomes a float on the way, such as the side of an image that places its rays, is no such number.
    pub trip_lines: BTreeSet<u32>,
    /// Of these the lines of conditions that do more than keep an invocation's place inside a bound, as
    /// `id.x < count` does, and follow it as a whole number.
    pub choices: BTreeSet<u32>,
    /// Lines of indices into buffers and workgroup memory.
    pub indices: BTreeSet<u32>,
}

/// Numbers of the host that bound places of invocations or counters of loops, as `variable`, `variable.field` or
/// `variable.field.x`; those of immediate data without the variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceBounds {
    /// Below them nothing is done: `if id.x >= first { … }`, `for (var i = first; i < end; i++)`.
    lower: BTreeSet<String>,
    /// From them on nothing is done: `if id.x >= count { return; }`.
    upper: BTreeSet<String>,
}

impl PlaceBounds {
    /// Whether a number is a lower bound, and nowhere an upper one.
    pub fn is_lower(&self, name: &str) -> bool {
        is_among(&self.lower, name) && !self.is_upper(name)
    }

    /// Whether a number is an upper bound.
    pub fn is_upper(&self, name: &str) -> bool {
        is_among(&self.upper, name)
    }

    /// Adds the bounds of another entry point.
    pub fn extend(&mut self, other: &Self) {
        self.lower.extend(other.lower.iter().cloned());
        self.upper.extend(other.upper.iter().cloned());
    }
}

/// Whether a number, or the vector that it is a component of, is among some.
fn is_among(bounds: &BTreeSet<String>, name: &str) -> bool {
    bounds.iter().any(|bound| {
        let rest = name.strip_prefix(bound.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Finds what follows the contents of each buffer, by the variable's name, and of each field of a struct, by
/// `variable.field`, where those that decide nothing are left out; and the numbers that bound places of invocations or
/// counters of loops.
pub(crate) fn find_deciding(
    module: &Module,
    structure: &Structure,
    text: &Text,
) -> (BTreeMap<String, Deciding>, PlaceBounds) {
    let mut graph = build_graph(module, structure, text);
    let bounds = std::mem::take(&mut graph.place_bounds);
    (graph.decide_all(), bounds)
}

/// Finds the values that decide something.
pub(crate) fn find_followed(module: &Module, structure: &Structure, text: &Text) -> Followed {
    build_graph(module, structure, text).follow_all()
}

fn build_graph<'a>(module: &'a Module, structure: &'a Structure, text: &'a Text) -> Graph<'a> {
    let entry = &module.entry_points[0];
    let functions: Vec<(&Function, &Body)> = module
        .functions
        .iter()
        .map(|(_, function)| function)
        .zip(&structure.functions)
        .chain([(&entry.function, &structure.entry_point)])
        .collect();
    let mut graph = Graph::new(module, &functions);
    for (index, (function, body)) in functions.iter().enumerate() {
        let (loops, stored, starts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        FunctionWalk { graph: &mut graph, text, index, function, loops, stored, starts }
            .function(body);
    }
    graph
}

/// A value or a variable, by its number in the graph.
type Vertex = usize;

/// Where a walk ends.
static NOWHERE: Vec<Vertex> = Vec::new();

/// Where values come from, and what they decide.
struct Graph<'a> {
    module: &'a Module,
    /// The first vertex of each function: its expressions', then its locals', arguments' pointees and
    /// the result.
    firsts: Vec<Vertex>,
    /// For each function the vertices of its arguments.
    arguments: Vec<BTreeMap<u32, Handle<Expression>>>,
    functions: Vec<&'a Function>,
    /// For each vertex those that its value comes from.
    sources: Vec<Vec<Vertex>>,
    /// The conditions and addresses.
    decides: Vec<Decision>,
    /// The addresses again, with the lines of theirs.
    indices: Vec<(Vertex, u32)>,
    /// The fields of each buffer that is a struct.
    fields: BTreeMap<Handle<GlobalVariable>, Vec<Vertex>>,
    /// Where a whole number stops being one that is asked for itself: it becomes a float, or the place of something
    /// in memory.
    ends: BTreeSet<Vertex>,
    /// Numbers that bound places and counters.
    place_bounds: PlaceBounds,
    /// Buffers that something is written to.
    written: BTreeSet<Handle<GlobalVariable>>,
    /// Values read from memory, and the buffer; `None` if it is an argument's.
    reads: Vec<(usize, Handle<Expression>, Option<Handle<GlobalVariable>>)>,
}

/// A condition or an address.
struct Decision {
    value: Vertex,
    /// The lines of a condition, and of the loops that it ends; none of an address.
    lines: BTreeSet<u32>,
    /// The lines of the loops that it ends.
    trip_lines: BTreeSet<u32>,
    /// Whether it asks whether the invocation's place is inside a bound, and ends no loop.
    is_bound: bool,
}

impl Decision {
    fn address(value: Vertex) -> Self {
        let (lines, trip_lines) = (BTreeSet::new(), BTreeSet::new());
        Self { value, lines, trip_lines, is_bound: false }
    }
}

/// What a pointer points into.
#[derive(Clone, Copy)]
struct Variable {
    vertex: Vertex,
    /// The buffer or workgroup variable; nothing for a function's own or an argument's.
    shared: Option<Handle<GlobalVariable>>,
    /// Whether it is behind a pointer that a caller handed in.
    argument: bool,
    /// The field of a struct that is shared; nothing where it is the whole, or none of a buffer's.
    field: Option<usize>,
}

impl<'a> Graph<'a> {
    fn new(module: &'a Module, functions: &[(&'a Function, &'a Body)]) -> Self {
        let mut next = module.global_variables.len();
        let mut firsts = Vec::new();
        let mut arguments = Vec::new();
        for (function, _) in functions {
            firsts.push(next);
            let parts = [
                function.expressions.len(),
                function.local_variables.len(),
                function.arguments.len(),
                1,
            ];
            next += parts.iter().sum::<usize>();
            let values = function.expressions.iter().filter_map(|(handle, expression)| {
                if let Expression::FunctionArgument(number) = *expression {
                    Some((number, handle))
                } else {
                    None
                }
            });
            arguments.push(values.collect());
        }
        let mut fields: BTreeMap<Handle<GlobalVariable>, Vec<Vertex>> = BTreeMap::new();
        for (handle, variable) in module.global_variables.iter() {
            let inner = &module.types[variable.ty].inner;
            let given = variable.binding.is_some() || variable.space == AddressSpace::Immediate;
            if let (true, TypeInner::Struct { members, .. }) = (given, inner) {
                fields.insert(handle, (next..next + members.len()).collect());
                next += members.len();
            }
        }
        let mut sources = vec![Vec::new(); next];
        for (buffer, fields) in &fields {
            fields.iter().for_each(|field| sources[*field].push(buffer.index()));
        }
        Self {
            module,
            firsts,
            arguments,
            functions: functions.iter().map(|(function, _)| *function).collect(),
            sources,
            fields,
            decides: Vec::new(),
            indices: Vec::new(),
            ends: BTreeSet::new(),
            place_bounds: PlaceBounds::default(),
            written: BTreeSet::new(),
            reads: Vec::new(),
        }
    }

    fn value(&self, function: usize, handle: Handle<Expression>) -> Vertex {
        self.firsts[function] + handle.index()
    }

    /// What lies behind the pointer that a function takes as an argument.
    fn pointee(&self, function: usize, argument: u32) -> Vertex {
        let here = self.functions[function];
        let before = here.expressions.len() + here.local_variables.len();
        self.firsts[function] + before + argument as usize
    }

    fn result(&self, function: usize) -> Vertex {
        let here = self.functions[function];
        let before = here.expressions.len() + here.local_variables.len() + here.arguments.len();
        self.firsts[function] + before
    }

    fn comes(&mut self, to: Vertex, from: Vertex) {
        self.sources[to].push(from);
    }

    /// The variable that a pointer points into; `None` if it is no pointer into one.
    fn variable(&self, function: usize, pointer: Handle<Expression>) -> Option<Variable> {
        let here = self.functions[function];
        let mut at = pointer;
        let mut last = None;
        loop {
            if let Expression::AccessIndex { base, index } = here.expressions[at] {
                (at, last) = (base, Some(index as usize));
            } else if let Expression::Access { base, .. } = here.expressions[at] {
                (at, last) = (base, None);
            } else if let Expression::LocalVariable(local) = here.expressions[at] {
                let vertex = self.firsts[function] + here.expressions.len() + local.index();
                return Some(Variable { vertex, shared: None, argument: false, field: None });
            } else if let Expression::GlobalVariable(global) = here.expressions[at] {
                let space = self.module.global_variables[global].space;
                let shared = (space != AddressSpace::Private).then_some(global);
                let field = last.filter(|_| self.fields.contains_key(&global));
                return Some(Variable { vertex: global.index(), shared, argument: false, field });
            } else if let Expression::FunctionArgument(number) = here.expressions[at] {
                let vertex = self.pointee(function, number);
                return Some(Variable { vertex, shared: None, argument: true, field: None });
            } else {
                return None;
            }
        }
    }

    /// The field that a member of a copied struct is, `params.n` of `let p = params; p.n`; `None` where the program
    /// may write the buffer, whose reads are told apart.
    fn copied_field(&self, function: usize, expression: &Expression) -> Option<Vertex> {
        let expressions = &self.functions[function].expressions;
        let Expression::AccessIndex { base, index } = *expression else { return None };
        let Expression::Load { pointer } = expressions[base] else { return None };
        let Expression::GlobalVariable(global) = expressions[pointer] else { return None };
        let fixed = match self.module.global_variables[global].space {
            AddressSpace::Uniform | AddressSpace::Immediate => true,
            AddressSpace::Storage { access } => !access.contains(StorageAccess::STORE),
            _ => false,
        };
        self.fields.get(&global).filter(|_| fixed)?.get(index as usize).copied()
    }

    /// What a value that is read there comes from: the field, or the whole with all its fields.
    fn contents(&self, variable: Variable) -> Vec<Vertex> {
        let global = variable.shared.filter(|_| !variable.argument);
        let fields = global.and_then(|global| self.fields.get(&global));
        match (fields, variable.field) {
            (Some(fields), Some(field)) => vec![fields[field]],
            (Some(fields), None) => {
                std::iter::once(variable.vertex).chain(fields.iter().copied()).collect()
            }
            (None, _) => vec![variable.vertex],
        }
    }

    /// What a value that is written there becomes part of: the field, or the whole.
    fn target(&self, variable: Variable) -> Vertex {
        let global = variable.shared.filter(|_| !variable.argument);
        let fields = global.and_then(|global| self.fields.get(&global));
        let field = fields.zip(variable.field).and_then(|(fields, field)| fields.get(field));
        field.copied().unwrap_or(variable.vertex)
    }

    /// Follows every condition and address back to the buffers, and the fields of structs, that they come from.
    fn decide_all(self) -> BTreeMap<String, Deciding> {
        let mut buffers: BTreeMap<Vertex, String> = BTreeMap::new();
        for (handle, variable) in self.module.global_variables.iter() {
            let given = variable.binding.is_some() || variable.space == AddressSpace::Immediate;
            let (true, Some(name)) = (given, &variable.name) else { continue };
            buffers.insert(handle.index(), name.clone());
            let inner = &self.module.types[variable.ty].inner;
            if let (Some(fields), TypeInner::Struct { members, .. }) =
                (self.fields.get(&handle), inner)
            {
                for (vertex, member) in fields.iter().zip(members) {
                    let field = member.name.as_deref().unwrap_or_default();
                    buffers.insert(*vertex, format!("{name}.{field}"));
                }
            }
        }
        let mut decides: BTreeMap<Vertex, Deciding> = BTreeMap::new();
        for decision in self.decides.iter().filter(|decision| !decision.lines.is_empty()) {
            let deciding = decides.entry(decision.value).or_default();
            deciding.conditions.extend(&decision.lines);
            deciding.trip_lines.extend(&decision.trip_lines);
            if !decision.is_bound {
                deciding.choices.extend(&decision.lines);
            }
        }
        for (start, line) in &self.indices {
            decides.entry(*start).or_default().indices.insert(*line);
        }
        // From buffers on to what comes from them: there are fewer of them than of conditions.
        let mut follows: Vec<Vec<Vertex>> = vec![Vec::new(); self.sources.len()];
        for (vertex, sources) in self.sources.iter().enumerate() {
            sources.iter().for_each(|source| follows[*source].push(vertex));
        }
        let mut found: BTreeMap<String, Deciding> = BTreeMap::new();
        let mut seen = Seen::new(follows.len());
        for (buffer, name) in buffers {
            seen.walk(
                buffer,
                |vertex| &follows[vertex],
                |vertex| {
                    if let Some(more) = decides.get(&vertex) {
                        let deciding = found.entry(name.clone()).or_default();
                        deciding.conditions.extend(&more.conditions);
                        deciding.indices.extend(&more.indices);
                    }
                },
            );
            let Some(deciding) = found.get_mut(&name) else { continue };
            seen.walk(
                buffer,
                |vertex| if self.ends.contains(&vertex) { &NOWHERE } else { &follows[vertex] },
                |vertex| {
                    if let Some(more) = decides.get(&vertex) {
                        deciding.trip_lines.extend(&more.trip_lines);
                        deciding.choices.extend(&more.choices);
                    }
                },
            );
        }
        found
    }

    /// Follows every condition and address back.
    fn follow_all(self) -> Followed {
        let shared = |global: Handle<GlobalVariable>| {
            let GlobalVariable { space, ty, .. } = self.module.global_variables[global];
            let among_workgroups =
                matches!(space, AddressSpace::Storage { .. } | AddressSpace::Handle);
            // What subgroups of a workgroup exchange without a barrier goes by atomics.
            let among_subgroups = space == AddressSpace::WorkGroup && has_atomics(self.module, ty);
            (among_workgroups || among_subgroups) && self.written.contains(&global)
        };
        let mut reads: BTreeMap<Vertex, (usize, Handle<Expression>)> = BTreeMap::new();
        for &(function, handle, buffer) in &self.reads {
            if buffer.is_none_or(shared) {
                reads.insert(self.value(function, handle), (function, handle));
            }
        }
        let mut followed = Followed::default();
        if reads.is_empty() {
            return followed;
        }
        let mut seen = Seen::new(self.sources.len());
        for Decision { value, lines, .. } in &self.decides {
            seen.walk(
                *value,
                |vertex| &self.sources[vertex],
                |vertex| {
                    if let Some(&read) = reads.get(&vertex) {
                        followed.values.entry(read).or_default().extend(lines);
                    }
                },
            );
        }
        followed
    }
}

/// The number of the host's that a value is, by its name.
pub(super) fn given_number(
    module: &Module,
    function: &Function,
    value: Handle<Expression>,
) -> Option<String> {
    let expressions = &function.expressions;
    let mut at = value;
    let mut indices = Vec::new();
    let global = loop {
        if let Expression::AccessIndex { base, index } = expressions[at] {
            indices.push(index as usize);
            at = base;
        } else if let Expression::Load { pointer: inner } | Expression::As { expr: inner, .. } =
            expressions[at]
        {
            at = inner;
        } else if let Expression::GlobalVariable(global) = expressions[at] {
            break &module.global_variables[global];
        } else {
            return None;
        }
    };
    let mut name = String::new();
    if global.space != AddressSpace::Immediate {
        name = global.name.clone().filter(|_| global.binding.is_some())?;
    }
    let mut ty = global.ty;
    for index in indices.into_iter().rev() {
        if let TypeInner::Struct { ref members, .. } = module.types[ty].inner {
            let member = members.get(index)?;
            name = format!("{name}.{}", member.name.as_deref()?);
            ty = member.ty;
        } else if let TypeInner::Vector { .. } = module.types[ty].inner {
            return Some(format!("{name}.{}", ["x", "y", "z", "w"].get(index)?));
        } else {
            return None;
        }
    }
    Some(name)
}

/// The answer to a branch's condition with which lanes go on, where those with the other leave or do nothing.
fn kept_answer(accept: &Body, reject: &Body) -> Option<bool> {
    let leaves = |body: &Body| !body.exits().falls;
    match (leaves(accept), leaves(reject)) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ if reject.nodes.is_empty() => Some(true),
        _ if accept.nodes.is_empty() => Some(false),
        _ => None,
    }
}

/// What is stored where and by no branch of its own in a body: pointer and value.
fn stores(body: &Body) -> impl Iterator<Item = (Handle<Expression>, Handle<Expression>)> {
    let straights = body.nodes.iter().filter_map(|node| match node {
        Node::Straight(straight) => Some(&straight.statements),
        Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => None,
    });
    straights.flatten().filter_map(|(statement, _)| match *statement {
        Statement::Store { pointer, value } => Some((pointer, value)),
        _ => None,
    })
}

/// Whether a type holds any atomic.
fn has_atomics(module: &Module, ty: Handle<Type>) -> bool {
    if let TypeInner::Array { base, .. } = module.types[ty].inner {
        return has_atomics(module, base);
    }
    if let TypeInner::Struct { ref members, .. } = module.types[ty].inner {
        return members.iter().any(|member| has_atomics(module, member.ty));
    }
    matches!(module.types[ty].inner, TypeInner::Atomic(_))
}

/// Which vertices a walk through the graph came to, without a set for each of many walks.
struct Seen {
    /// The last walk that came to a vertex.
    walks: Vec<usize>,
    walk: usize,
}

impl Seen {
    fn new(vertices: usize) -> Self {
        Self { walks: vec![0; vertices], walk: 0 }
    }

    /// Goes from a vertex along all `edges`, and shows each vertex once.
    fn walk<'e>(
        &mut self,
        start: Vertex,
        edges: impl Fn(Vertex) -> &'e Vec<Vertex>,
        mut see: impl FnMut(Vertex),
    ) {
        self.walk += 1;
        self.walks[start] = self.walk;
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            see(vertex);
            for &next in edges(vertex) {
                if self.walks[next] != self.walk {
                    self.walks[next] = self.walk;
                    open.push(next);
                }
            }
        }
    }
}

/// A walk over one function.
struct FunctionWalk<'g, 'a> {
    graph: &'g mut Graph<'a>,
    text: &'a Text,
    index: usize,
    function: &'a Function,
    /// The lines of the loops around, innermost last.
    loops: Vec<Option<u32>>,
    /// What `&&` and `||` store to the variable of their answer, and what they asked first; and of each whether its
    /// opposite was asked.
    stored: BTreeMap<Handle<LocalVariable>, Vec<(Handle<Expression>, bool)>>,
    /// The host's numbers that are stored to a variable as they are, such as the start of a loop's counter.
    starts: BTreeMap<Handle<LocalVariable>, BTreeSet<String>>,
}

impl FunctionWalk<'_, '_> {
    fn function(&mut self, body: &Body) {
        for (handle, expression) in self.function.expressions.iter() {
            let result = self.graph.value(self.index, handle);
            let mut operands = Vec::new();
            match self.graph.copied_field(self.index, expression) {
                Some(field) => self.graph.comes(result, field),
                None => of_expression(expression, &mut |operand| operands.push(operand)),
            }
            for operand in operands {
                let source = self.graph.value(self.index, operand);
                self.graph.comes(result, source);
            }
            if let Expression::As { kind: ScalarKind::Float, .. } = *expression {
                self.graph.ends.insert(result);
            }
            if let Expression::Load { pointer } = *expression {
                self.read(handle, pointer);
            } else if let Expression::ImageLoad { image, coordinate, array_index, level, .. } =
                *expression
            {
                self.read(handle, image);
                let at = [Some(coordinate), array_index, level];
                self.texel(handle, at.into_iter().flatten());
            } else if let Expression::ImageSample { image, coordinate, array_index, .. } =
                *expression
            {
                self.read(handle, image);
                self.texel(handle, [Some(coordinate), array_index].into_iter().flatten());
            } else if let Expression::CallResult(callee) = *expression {
                let source = self.graph.result(callee.index());
                self.graph.comes(result, source);
            } else if let Expression::Access { base, index } = *expression {
                let variable = self.graph.variable(self.index, base);
                if variable.is_some_and(|variable| variable.shared.is_some() || variable.argument) {
                    self.graph.ends.insert(result);
                    let index = self.graph.value(self.index, index);
                    self.graph.decides.push(Decision::address(index));
                    let line = self.line(self.function.expressions.get_span(handle));
                    self.graph.indices.extend(line.map(|line| (index, line)));
                }
            }
        }
        self.body(body);
    }

    /// The indices of a texel that is read.
    fn texel(
        &mut self,
        read: Handle<Expression>,
        indices: impl Iterator<Item = Handle<Expression>>,
    ) {
        let line = self.line(self.function.expressions.get_span(read));
        for index in indices {
            let index = self.graph.value(self.index, index);
            self.graph.decides.push(Decision::address(index));
            self.graph.indices.extend(line.map(|line| (index, line)));
        }
    }

    /// A value that comes from memory.
    fn read(&mut self, value: Handle<Expression>, pointer: Handle<Expression>) {
        let stored = self.graph.value(self.index, value);
        if let Some(variable) = self.graph.variable(self.index, pointer) {
            for from in self.graph.contents(variable) {
                self.graph.comes(stored, from);
            }
            if variable.shared.is_some() || variable.argument {
                self.graph.reads.push((self.index, value, variable.shared));
            }
        }
    }

    /// A value that goes to memory.
    fn write(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) {
        if let Some(variable) = self.graph.variable(self.index, pointer) {
            self.graph.written.extend(variable.shared);
            let source = self.graph.value(self.index, value);
            let target = self.graph.target(variable);
            self.graph.comes(target, source);
        }
    }

    fn body(&mut self, body: &Body) {
        for node in &body.nodes {
            match node {
                Node::Straight(straight) => {
                    for (statement, _) in &straight.statements {
                        self.statement(statement);
                    }
                }
                Node::If { condition, accept, reject, span } => {
                    let leaves = !self.loops.is_empty() && node.exits().any();
                    self.condition(*condition, *span, leaves);
                    if let Some(kept) = kept_answer(accept, reject) {
                        self.bounds(*condition, kept, 0);
                    }
                    self.answers(*condition, [accept, reject]);
                    self.body(accept);
                    self.body(reject);
                }
                Node::Switch { selector, cases, span } => {
                    let leaves = !self.loops.is_empty() && node.exits().any();
                    self.condition(*selector, *span, leaves);
                    for case in cases {
                        self.body(&case.body);
                    }
                }
                Node::Loop { body, continuing, break_if, span } => {
                    self.loops.push(self.line(*span));
                    self.body(body);
                    self.body(continuing);
                    if let Some(condition) = *break_if {
                        self.condition(condition, self.text.break_if(*span), true);
                    }
                    self.loops.pop();
                }
            }
        }
    }

    /// Booleans that are stored under a condition come from it: so `a && b` is written, and what asks for it asks
    /// for `a`, too.
    fn answers(&mut self, condition: Handle<Expression>, arms: [&Body; 2]) {
        // Where `a || b` asks for `!a` first, what is not so has the condition, not its opposite.
        let [accept, reject] = arms.map(|arm| self.stored_truth(arm));
        let opposite = accept == Some(false) || reject == Some(true);
        for (pointer, value) in arms.into_iter().flat_map(stores) {
            let Expression::LocalVariable(local) = self.function.expressions[pointer] else {
                continue;
            };
            let ty = self.function.local_variables[local].ty;
            let is_bool = matches!(
                self.graph.module.types[ty].inner,
                TypeInner::Scalar(naga::Scalar { kind: ScalarKind::Bool, .. })
            );
            let stored = self.stored.entry(local).or_default();
            stored.extend([(value, false), (condition, opposite)]);
            if let Some(variable) = self.graph.variable(self.index, pointer).filter(|_| is_bool) {
                let source = self.graph.value(self.index, condition);
                self.graph.comes(variable.vertex, source);
            }
        }
    }

    /// The truth that an arm stores for all its lanes.
    fn stored_truth(&self, arm: &Body) -> Option<bool> {
        stores(arm).find_map(|(_, value)| match self.function.expressions[value] {
            Expression::Literal(naga::Literal::Bool(truth)) => Some(truth),
            _ => None,
        })
    }

    /// A condition; one under which lanes leave decides on the loops around as well.
    fn condition(&mut self, condition: Handle<Expression>, span: Span, leaves: bool) {
        let written = self.function.expressions.get_span(condition);
        let mut lines: BTreeSet<u32> = self.text.branch_line(written, span).into_iter().collect();
        let loops = self.loops.iter().filter(|_| leaves).flatten();
        let trip_lines: BTreeSet<u32> = loops.copied().collect();
        lines.extend(&trip_lines);
        let is_bound = trip_lines.is_empty() && self.is_bound(condition, 0);
        let value = self.graph.value(self.index, condition);
        self.graph.decides.push(Decision { value, lines, trip_lines, is_bound });
    }

    /// Whether a condition asks whether the invocation's place is inside a bound, `&&` and `||` of such included.
    fn is_bound(&self, condition: Handle<Expression>, depth: u32) -> bool {
        let is_bound = |part: Handle<Expression>| depth < 8 && self.is_bound(part, depth + 1);
        if let Expression::Binary { op, left, right } = self.function.expressions[condition] {
            let bounds = [Less, LessEqual, Greater, GreaterEqual].contains(&op);
            let joins = [LogicalAnd, LogicalOr, And, InclusiveOr].contains(&op);
            return bounds && (self.is_place(left, 0) || self.is_place(right, 0))
                || joins && is_bound(left) && is_bound(right);
        }
        if let Expression::Unary { expr: part, .. }
        | Expression::Relational { argument: part, .. } = self.function.expressions[condition]
        {
            return is_bound(part);
        }
        // What `&&` and `||` store: the answer of the second, or a truth.
        let Expression::Load { pointer } = self.function.expressions[condition] else {
            return matches!(
                self.function.expressions[condition],
                Expression::Literal(naga::Literal::Bool(_))
            );
        };
        let Expression::LocalVariable(local) = self.function.expressions[pointer] else {
            return false;
        };
        let made = self.function.local_variables[local].name.is_none();
        let stored = self.stored.get(&local);
        made && stored.is_some_and(|values| values.iter().all(|(value, _)| is_bound(*value)))
    }

    /// Notes the numbers that bound the invocation's place or a loop's counter, where those go on for whom the
    /// condition is `kept`.
    fn bounds(&mut self, condition: Handle<Expression>, kept: bool, depth: u32) {
        let expressions = &self.function.expressions;
        if depth > 8 {
            return;
        }
        if let Expression::Binary { op, left, right } = expressions[condition] {
            if [LogicalAnd, LogicalOr, And, InclusiveOr].contains(&op) {
                self.bounds(left, kept, depth + 1);
                self.bounds(right, kept, depth + 1);
            } else if [Less, LessEqual, Greater, GreaterEqual].contains(&op) {
                let above = [Greater, GreaterEqual].contains(&op) == kept;
                match [left, right].map(|side| self.is_place(side, 0) || self.is_counter(side)) {
                    [true, false] => self.bound(left, right, above),
                    [false, true] => self.bound(right, left, !above),
                    [true, true] | [false, false] => {}
                }
            }
        } else if let Expression::Unary { op: UnaryOperator::LogicalNot, expr } =
            expressions[condition]
        {
            self.bounds(expr, !kept, depth + 1);
        } else if let Expression::Relational { argument, .. } = expressions[condition] {
            self.bounds(argument, kept, depth + 1);
        } else if let Expression::Load { pointer } = expressions[condition]
            && let Expression::LocalVariable(local) = expressions[pointer]
            && self.function.local_variables[local].name.is_none()
        {
            // What `&&` and `||` store.
            for (value, opposite) in self.stored.get(&local).cloned().unwrap_or_default() {
                self.bounds(value, kept != opposite, depth + 1);
            }
        }
    }

    /// Notes a bound of a place or counter, which stays above it or below.
    fn bound(&mut self, place: Handle<Expression>, bound: Handle<Expression>, above: bool) {
        let number = given_number(self.graph.module, self.function, bound);
        let counter = self.local(place);
        let bounds = &mut self.graph.place_bounds;
        if above {
            bounds.lower.extend(number);
            return;
        }
        bounds.upper.extend(number);
        let starts = counter.and_then(|local| self.starts.get(&local));
        bounds.lower.extend(starts.into_iter().flatten().cloned());
    }

    /// The variable whose value an expression is.
    fn local(&self, value: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[value] else { return None };
        let Expression::LocalVariable(local) = self.function.expressions[pointer] else {
            return None;
        };
        Some(local)
    }

    /// Whether a value is that of a variable, inside a loop.
    fn is_counter(&self, value: Handle<Expression>) -> bool {
        !self.loops.is_empty() && self.local(value).is_some()
    }

    /// Whether a value is the invocation's place in the grid, scaled, moved or joined to one number.
    fn is_place(&self, value: Handle<Expression>, depth: u32) -> bool {
        let is_place = |part: Handle<Expression>| depth < 8 && self.is_place(part, depth + 1);
        if let Expression::FunctionArgument(number) = self.function.expressions[value] {
            let argument = self.function.arguments.get(number as usize);
            let binding = argument.and_then(|argument| argument.binding.as_ref());
            return matches!(
                binding,
                Some(naga::Binding::BuiltIn(BuiltIn::GlobalInvocationId | BuiltIn::WorkGroupId))
            );
        }
        if let Expression::Binary { op: Add | Subtract | Multiply, left, right } =
            self.function.expressions[value]
        {
            return is_place(left) || is_place(right);
        }
        if let Expression::AccessIndex { base: part, .. }
        | Expression::Swizzle { vector: part, .. }
        | Expression::As { expr: part, .. } = self.function.expressions[value]
        {
            return is_place(part);
        }
        if let Expression::Compose { ref components, .. } = self.function.expressions[value] {
            return components.iter().all(|part| is_place(*part));
        }
        false
    }

    /// The line on which something begins; nothing for what the parser made up.
    fn line(&self, span: Span) -> Option<u32> {
        Some(self.text.location(find_start(span)?).line)
    }

    fn statement(&mut self, statement: &Statement) {
        let effect = effect(statement);
        if let Statement::Store { pointer, value } = *statement
            && let Expression::LocalVariable(local) = self.function.expressions[pointer]
            && let Some(number) = given_number(self.graph.module, self.function, value)
        {
            self.starts.entry(local).or_default().insert(number);
        }
        if let Some(write) = effect.writes {
            // The pointer too: addresses say where the value goes.
            effect.reads.iter().for_each(|value| self.write(write.pointer, *value));
            effect.result.into_iter().for_each(|result| self.read(result, write.pointer));
        } else if effect.synchronises == Some(Meeting::UniformLoad) {
            for (result, pointer) in effect.result.into_iter().zip(effect.reads) {
                self.read(result, pointer);
            }
        } else if let Statement::ImageStore { image, value, .. }
        | Statement::ImageAtomic { image, value, .. } = *statement
        {
            effect.reads[1..].iter().for_each(|value| self.write(image, *value));
            self.write(image, value);
        } else if let (Some(Meeting::Subgroup), Some(result)) = (effect.synchronises, effect.result)
        {
            for operand in effect.reads {
                let [target, source] = [result, operand].map(|h| self.graph.value(self.index, h));
                self.graph.comes(target, source);
            }
        }
        if let Some(Jump::Return(Some(value))) = effect.leaves {
            let result = self.graph.result(self.index);
            let value = self.graph.value(self.index, value);
            self.graph.comes(result, value);
        }
        if let Some(call) = effect.calls {
            self.call(call.function.index(), call.arguments);
        }
    }

    fn call(&mut self, callee: usize, arguments: &[Handle<Expression>]) {
        for (&argument, number) in arguments.iter().zip(0..) {
            if let Some(variable) = self.graph.variable(self.index, argument) {
                let inside = self.graph.pointee(callee, number);
                for from in self.graph.contents(variable) {
                    self.graph.comes(inside, from);
                }
                let target = self.graph.target(variable);
                self.graph.comes(target, inside);
                // The callee may write through it.
                self.graph.written.extend(variable.shared);
            }
            if let Some(&inside) = self.graph.arguments[callee].get(&number) {
                let inside = self.graph.value(callee, inside);
                let source = self.graph.value(self.index, argument);
                self.graph.comes(inside, source);
            }
        }
    }
}
