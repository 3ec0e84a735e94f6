//! Where values of a module go, and which elements of buffers' arrays they lead to.
//!
//! Input: a module's functions. Output: a graph ([`Flow`]) over all of them and without regard to order: from operands on, by
//! way of variables, into what is called and out of it; and what comes from some values by it. A value that a function hands
//! back goes to those calls alone that handed it in. It ends at an element of an array: a place is no number that comes from
//! its index. What arrays hold by that says [`held`](super::held). Nothing is changed; no value is worked out.

use naga::{
    AddressSpace, BinaryOperator, Expression, Function, GlobalVariable, Handle, LocalVariable,
    MathFunction, Module, Type, TypeInner,
};

use super::operands::of_expression;
use super::visit::{Jump, Write, Written, for_each_effect};

/// An expression of a function, which goes by its number: the module's in order, the entry points last.
pub(super) type Value = (usize, Handle<Expression>);

/// An array of a buffer: the variable, or a member of one that is a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Array {
    pub(super) global: Handle<GlobalVariable>,
    pub(super) member: Option<u32>,
}

/// The type of an array of a buffer; `None` if it is something else.
pub(super) fn type_of(module: &Module, array: Array) -> Option<Handle<Type>> {
    let whole = module.global_variables[array.global].ty;
    let ty = match (&module.types[whole].inner, array.member) {
        (TypeInner::Struct { members, .. }, Some(member)) => members.get(member as usize)?.ty,
        (TypeInner::Struct { .. }, None) => return None,
        _ => whole,
    };
    matches!(module.types[ty].inner, TypeInner::Array { .. }).then_some(ty)
}

/// The array of a buffer that a pointer leads to.
pub(super) fn array_of(
    module: &Module,
    function: &Function,
    pointer: Handle<Expression>,
) -> Option<Array> {
    let (global, index) = match function.expressions[pointer] {
        Expression::GlobalVariable(global) => (global, None),
        Expression::AccessIndex { base, index } => match function.expressions[base] {
            Expression::GlobalVariable(global) => (global, Some(index)),
            _ => return None,
        },
        _ => return None,
    };
    let variable = &module.global_variables[global];
    let is_struct = matches!(module.types[variable.ty].inner, TypeInner::Struct { .. });
    let array = Array { global, member: index.filter(|_| is_struct) };
    let given = matches!(variable.space, AddressSpace::Storage { .. } | AddressSpace::Uniform);
    (given && type_of(module, array).is_some()).then_some(array)
}

/// The array whose element a pointer leads to, or into, and the index.
pub(super) fn element_of(
    module: &Module,
    function: &Function,
    mut pointer: Handle<Expression>,
) -> Option<(Array, Handle<Expression>)> {
    loop {
        match function.expressions[pointer] {
            Expression::Access { base, index } => match array_of(module, function, base) {
                Some(array) => return Some((array, index)),
                None => pointer = base,
            },
            Expression::AccessIndex { base, .. } => pointer = base,
            _ => return None,
        }
    }
}

/// A value or a variable, by its number in the graph.
type Vertex = usize;

/// Where values go.
pub(super) struct Flow<'a> {
    pub(super) functions: Vec<&'a Function>,
    /// The first vertex of each function: its expressions', then its variables', what its arguments point to, and
    /// the result. Before all of them stand the module's variables.
    firsts: Vec<Vertex>,
    /// Within a function, calls included that hand on what was handed in; and whether the value stays what it is, but
    /// for something added.
    inside: Vec<Vec<(Vertex, bool)>>,
    /// Out of a function to those that call it.
    out: Vec<Vec<Vertex>>,
    /// Into what is called.
    into: Vec<Vec<Vertex>>,
    /// For each function the arguments that it uses.
    arguments: Vec<Vec<Option<Vertex>>>,
    /// For each function how what is handed in comes out.
    passages: Vec<Vec<Passage>>,
}

/// A way through a function.
#[derive(Clone, Copy)]
struct Passage {
    argument: usize,
    /// Whether it begins at what the argument points to, and not at the argument.
    is_pointed: bool,
    /// Where it ends: at what an argument points to, or at the result.
    exit: Option<usize>,
    plain: bool,
}

/// What comes from some values.
pub(super) struct Reached<'f, 'a> {
    flow: &'f Flow<'a>,
    reached: Vec<bool>,
}

impl Reached<'_, '_> {
    pub(super) fn holds(&self, value: Value) -> bool {
        self.reached[self.flow.value(value)]
    }
}

impl<'a> Flow<'a> {
    pub(super) fn new(module: &Module, functions: Vec<&'a Function>) -> Self {
        let mut next = module.global_variables.len();
        let mut firsts = Vec::new();
        for function in &functions {
            firsts.push(next);
            let variables = function.local_variables.len() + function.arguments.len();
            next += function.expressions.len() + variables + 1;
        }
        let (inside, out, into) =
            (vec![Vec::new(); next], vec![Vec::new(); next], vec![Vec::new(); next]);
        let (arguments, passages) = (Vec::new(), Vec::new());
        let mut flow = Self { functions, firsts, inside, out, into, arguments, passages };
        for number in 0..flow.functions.len() {
            let function = flow.functions[number];
            let mut arguments = vec![None; function.arguments.len()];
            for (handle, expression) in function.expressions.iter() {
                if let Expression::FunctionArgument(argument) = *expression
                    && let Some(place) = arguments.get_mut(argument as usize)
                {
                    *place = Some(flow.value((number, handle)));
                }
            }
            flow.arguments.push(arguments);
        }
        // What is called stands before what calls it.
        for number in 0..flow.functions.len() {
            flow.add_expressions(module, number);
            flow.add_statements(module, number);
            let passages = flow.passages_of(number);
            flow.passages.push(passages);
        }
        flow
    }

    fn value(&self, (function, handle): Value) -> Vertex {
        self.firsts[function] + handle.index()
    }

    fn local(&self, function: usize, variable: Handle<LocalVariable>) -> Vertex {
        self.firsts[function] + self.functions[function].expressions.len() + variable.index()
    }

    /// What an argument points to.
    fn pointee(&self, function: usize, argument: usize) -> Vertex {
        let here = self.functions[function];
        self.firsts[function] + here.expressions.len() + here.local_variables.len() + argument
    }

    fn result(&self, function: usize) -> Vertex {
        self.pointee(function, self.functions[function].arguments.len())
    }

    /// The variable of a function or of an invocation that a pointer leads to, or into.
    fn variable(
        &self,
        module: &Module,
        function: usize,
        mut pointer: Handle<Expression>,
    ) -> Option<Vertex> {
        loop {
            match self.functions[function].expressions[pointer] {
                Expression::LocalVariable(variable) => {
                    return Some(self.local(function, variable));
                }
                Expression::FunctionArgument(argument) => {
                    return Some(self.pointee(function, argument as usize));
                }
                Expression::GlobalVariable(global) => {
                    let space = module.global_variables[global].space;
                    return (space == AddressSpace::Private).then_some(global.index());
                }
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                    pointer = base;
                }
                _ => return None,
            }
        }
    }

    fn add_expressions(&mut self, module: &Module, number: usize) {
        let function = self.functions[number];
        for (handle, expression) in function.expressions.iter() {
            let to = self.value((number, handle));
            if let Expression::Load { pointer } = *expression {
                if let Some(variable) = self.variable(module, number, pointer) {
                    self.inside[variable].push((to, true));
                }
            } else if element_of(module, function, handle).is_none() {
                of_expression(expression, &mut |operand| {
                    let plain = stays(function, expression, operand);
                    let from = self.value((number, operand));
                    self.inside[from].push((to, plain));
                });
            }
        }
    }

    fn add_statements(&mut self, module: &Module, number: usize) {
        let function = self.functions[number];
        for_each_effect(&function.body, &mut |effect| {
            if let Some(Write { pointer, what: Written::Value(value) }) = effect.writes
                && let Some(variable) = self.variable(module, number, pointer)
            {
                let value = self.value((number, value));
                self.inside[value].push((variable, true));
            }
            if let Some(Jump::Return(Some(value))) = effect.leaves {
                let (value, result) = (self.value((number, value)), self.result(number));
                self.inside[value].push((result, true));
            }
            if let Some(call) = effect.calls {
                let result = effect.result.map(|result| self.value((number, result)));
                let handed = call.arguments.iter().map(|argument| {
                    let value = self.value((number, *argument));
                    (value, self.variable(module, number, *argument))
                });
                let handed: Vec<_> = handed.collect();
                self.add_call(call.function.index(), &handed, result);
            }
        });
    }

    /// A call: what is handed over, each a value and the variable that it points to where it is a pointer, and the
    /// value that comes back.
    fn add_call(
        &mut self,
        callee: usize,
        handed: &[(Vertex, Option<Vertex>)],
        result: Option<Vertex>,
    ) {
        let result_inside = self.result(callee);
        self.out[result_inside].extend(result);
        for (argument, (value, variable)) in handed.iter().enumerate() {
            let inside = self.arguments[callee].get(argument).copied().flatten();
            self.into[*value].extend(inside);
            if let Some(variable) = *variable {
                let inside = self.pointee(callee, argument);
                self.into[variable].push(inside);
                self.out[inside].push(variable);
            }
        }
        let pointed = |argument: usize| handed.get(argument).and_then(|(_, variable)| *variable);
        for passage in self.passages.get(callee).cloned().unwrap_or_default() {
            let value = handed.get(passage.argument).map(|(value, _)| *value);
            let from = if passage.is_pointed { pointed(passage.argument) } else { value };
            let to = passage.exit.map_or(result, pointed);
            if let (Some(from), Some(to)) = (from, to) {
                self.inside[from].push((to, passage.plain));
            }
        }
    }

    /// How what is handed to a function leaves it.
    fn passages_of(&self, function: usize) -> Vec<Passage> {
        let count = self.functions[function].arguments.len();
        let mut passages = Vec::new();
        for argument in 0..count {
            let value = self.arguments[function][argument].map(|value| (value, false));
            let pointed = (self.pointee(function, argument), true);
            for (start, is_pointed) in value.into_iter().chain([pointed]) {
                for plain in [true, false] {
                    let mut reached = vec![false; self.inside.len()];
                    self.spread(&mut reached, vec![start], plain, None);
                    let results = reached[self.result(function)].then_some(None);
                    let others = (0..count).filter(|other| *other != argument || !is_pointed);
                    let others = others.filter(|other| reached[self.pointee(function, *other)]);
                    passages.extend(
                        results.into_iter().chain(others.map(Some)).map(|exit| Passage {
                            argument,
                            is_pointed,
                            exit,
                            plain,
                        }),
                    );
                }
            }
        }
        passages
    }

    /// Follows values on, within functions and over calls in one direction.
    fn spread(
        &self,
        reached: &mut [bool],
        mut open: Vec<Vertex>,
        plain: bool,
        calls: Option<&[Vec<Vertex>]>,
    ) {
        while let Some(at) = open.pop() {
            let inside = self.inside[at].iter().filter(|(_, stays)| *stays || !plain);
            let over_calls = calls.into_iter().flat_map(|calls| &calls[at]);
            for to in inside.map(|(to, _)| to).chain(over_calls) {
                if !std::mem::replace(&mut reached[*to], true) {
                    open.push(*to);
                }
            }
        }
    }

    /// What comes from values: first out of functions, then into others, so that none comes out where it did not go
    /// in. `plain` leaves out what is more than the value with something added.
    pub(super) fn follow(
        &self,
        values: impl Iterator<Item = Value>,
        plain: bool,
    ) -> Reached<'_, 'a> {
        let mut reached = vec![false; self.inside.len()];
        let starts: Vec<Vertex> = values.map(|value| self.value(value)).collect();
        starts.iter().for_each(|start| reached[*start] = true);
        self.spread(&mut reached, starts, plain, Some(&self.out));
        let all = (0..reached.len()).filter(|vertex| reached[*vertex]).collect();
        self.spread(&mut reached, all, plain, Some(&self.into));
        Reached { flow: self, reached }
    }
}

/// Whether an operand becomes the value of an expression as it is, as a part, or with something added.
fn stays(function: &Function, expression: &Expression, operand: Handle<Expression>) -> bool {
    match *expression {
        Expression::As { .. }
        | Expression::Compose { .. }
        | Expression::Splat { .. }
        | Expression::Swizzle { .. }
        | Expression::AccessIndex { .. }
        | Expression::Binary { op: BinaryOperator::Add, .. }
        | Expression::Math { fun: MathFunction::Max, .. } => true,
        Expression::Access { base, .. } => operand == base,
        Expression::Select { accept, reject, .. } => [accept, reject].contains(&operand),
        Expression::Binary { op: BinaryOperator::Subtract, left, right } => {
            let constant = |handle: Handle<Expression>| {
                let given = &function.expressions[handle];
                matches!(given, Expression::Literal(_) | Expression::Constant(_))
            };
            operand == left && constant(right)
        }
        _ => false,
    }
}
