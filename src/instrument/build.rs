//! Building the instrumented module: helper functions, rewritten bodies, the new entry point.
//!
//! Input: the program and where each block's counters go. Output: a module, not yet validated.

use naga::{
    AddressSpace, Arena, ArraySize, AtomicFunction, BinaryOperator, Binding, Block, BuiltIn,
    EntryPoint, Expression, Function, FunctionArgument, GatherMode, GlobalVariable, Handle,
    Literal, LocalVariable, MathFunction, Module, Range, ResourceBinding, Scalar, Span, Statement,
    StorageAccess, SubgroupOperation, SwitchValue, Type, TypeInner, VectorSize,
};

use super::plan::{Act, Plan, Planned, Reduction, Var, Vote};
use super::{CounterBinding, Layout, Method, Options, flush};
use crate::program::{Body, Node, Program};

/// Makes the instrumented module.
pub(super) fn instrument(
    program: &Program,
    layout: Layout,
    binding: CounterBinding,
    plan: &Plan,
    options: &Options,
) -> Module {
    let histogram = options.method == Method::Histogram;
    let width_max = options.subgroup_width_max;
    let mut module = program.module().clone();
    let old_functions = std::mem::replace(&mut module.functions, Arena::new());
    let types = Types::new(&mut module);
    let globals = Globals::new(&mut module, &types, binding, plan);
    let add = module.functions.append(add_function(&types, &globals), Span::UNDEFINED);
    let count =
        module.functions.append(count_function(&types, &globals, add, histogram), Span::UNDEFINED);
    let flush =
        module.functions.append(flush::flush_function(&types, &globals, add), Span::UNDEFINED);
    let context = Context { types, globals, layout, width_max, add, count, flush, plan };

    let mut moved = Vec::new();
    let structure = program.structure();
    let bodies = structure.functions.iter().zip(&plan.functions).zip(&plan.leads);
    for ((handle, function), ((body, planned), leads)) in old_functions.iter().zip(bodies) {
        let span = old_functions.get_span(handle);
        let function = rewrite(function.clone(), (body, planned), *leads, &context, &moved);
        moved.push(module.functions.append(function, span));
    }
    let entry = module.entry_points[0].clone();
    let leads = plan.leads.last().copied().unwrap_or_default();
    let planned = (&structure.entry_point, &plan.entry_point);
    let mut body = rewrite(entry.function.clone(), planned, leads, &context, &moved);
    for argument in &mut body.arguments {
        argument.binding = None;
    }
    body.name = Some(format!("{}_counted", entry.name));
    let body = module.functions.append(body, Span::UNDEFINED);
    let function = entry_function(&module, &entry, body, &context);
    module.entry_points[0] = EntryPoint { function, ..entry };
    module
}

/// The types that counters need.
pub(super) struct Types {
    pub(super) u32: Handle<Type>,
    bool: Handle<Type>,
    vec3_u32: Handle<Type>,
    slots: Handle<Type>,
}

impl Types {
    fn new(module: &mut Module) -> Self {
        let mut add = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
        let u32 = add(TypeInner::Scalar(Scalar::U32));
        let bool = add(TypeInner::Scalar(Scalar::BOOL));
        let vec3_u32 = add(TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 });
        let atomic = add(TypeInner::Atomic(Scalar::U32));
        let slots = add(TypeInner::Array { base: atomic, size: ArraySize::Dynamic, stride: 4 });
        Self { u32, bool, vec3_u32, slots }
    }
}

/// The module's new variables.
pub(super) struct Globals {
    /// The counters' buffer.
    slots: Handle<GlobalVariable>,
    /// The invocation's `local_invocation_index`.
    local_index: Handle<GlobalVariable>,
    /// The first word of the workgroup's stripe.
    stripe: Handle<GlobalVariable>,
    /// The plan's private variables.
    pub(super) vars: Vec<Handle<GlobalVariable>>,
}

impl Globals {
    fn new(module: &mut Module, types: &Types, binding: CounterBinding, plan: &Plan) -> Self {
        let zero =
            module.global_expressions.append(Expression::Literal(Literal::U32(0)), Span::UNDEFINED);
        let mut add = |name: String, space, binding, ty, init| {
            let variable = GlobalVariable {
                name: Some(name),
                space,
                binding,
                ty,
                init,
                memory_decorations: naga::MemoryDecorations::empty(),
            };
            module.global_variables.append(variable, Span::UNDEFINED)
        };
        // As naga's front end has it: wgpu compares the access with the layout's, atomics or not.
        let access = StorageAccess::LOAD | StorageAccess::STORE;
        let place = ResourceBinding { group: binding.group, binding: binding.binding };
        let space = AddressSpace::Storage { access };
        let slots = add("lanescope_slots".into(), space, Some(place), types.slots, None);
        let mut private =
            |name: String| add(name, AddressSpace::Private, None, types.u32, Some(zero));
        let local_index = private("lanescope_local_index".into());
        let stripe = private("lanescope_stripe".into());
        let vars = (0..plan.vars).map(|var| private(format!("lanescope_counter_{var}"))).collect();
        Self { slots, local_index, stripe, vars }
    }
}

/// What rewriting a body needs.
pub(super) struct Context<'a> {
    pub(super) types: Types,
    pub(super) globals: Globals,
    layout: Layout,
    /// The widest subgroup that may run the module, in lanes.
    pub(super) width_max: u32,
    pub(super) add: Handle<Function>,
    count: Handle<Function>,
    pub(super) flush: Handle<Function>,
    pub(super) plan: &'a Plan,
}

/// Appends expressions and statements to a function.
pub(super) struct Builder<'a> {
    pub(super) expressions: &'a mut Arena<Expression>,
    pub(super) block: Block,
}

impl Builder<'_> {
    pub(super) fn push(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    /// An expression that needs no `Emit`: a literal, a variable, an argument, a result.
    pub(super) fn plain(&mut self, expression: Expression) -> Handle<Expression> {
        self.expressions.append(expression, Span::UNDEFINED)
    }

    pub(super) fn emit(&mut self, expression: Expression) -> Handle<Expression> {
        let handle = self.expressions.append(expression, Span::UNDEFINED);
        self.push(Statement::Emit(Range::new_from_bounds(handle, handle)));
        handle
    }

    pub(super) fn literal(&mut self, value: u32) -> Handle<Expression> {
        self.plain(Expression::Literal(Literal::U32(value)))
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Handle<Expression> {
        self.emit(Expression::Binary { op, left, right })
    }

    pub(super) fn load(&mut self, variable: Handle<GlobalVariable>) -> Handle<Expression> {
        let pointer = self.plain(Expression::GlobalVariable(variable));
        self.emit(Expression::Load { pointer })
    }

    pub(super) fn store(&mut self, variable: Handle<GlobalVariable>, value: Handle<Expression>) {
        let pointer = self.plain(Expression::GlobalVariable(variable));
        self.push(Statement::Store { pointer, value });
    }

    /// A call of a subgroup operation over the active lanes.
    pub(super) fn collective(
        &mut self,
        op: SubgroupOperation,
        argument: Handle<Expression>,
        ty: Handle<Type>,
    ) -> Handle<Expression> {
        let result = self.plain(Expression::SubgroupOperationResult { ty });
        let collective_op = naga::CollectiveOperation::Reduce;
        self.push(Statement::SubgroupCollectiveOperation { op, collective_op, argument, result });
        result
    }

    /// One where `condition` holds, else zero.
    pub(super) fn number(&mut self, condition: Handle<Expression>) -> Handle<Expression> {
        let zero = self.literal(0);
        let one = self.literal(1);
        self.emit(Expression::Select { condition, accept: one, reject: zero })
    }

    /// Adds to a private variable.
    fn add_to(&mut self, variable: Handle<GlobalVariable>, more: Handle<Expression>) {
        let old = self.load(variable);
        let new = self.binary(BinaryOperator::Add, old, more);
        self.store(variable, new);
    }

    pub(super) fn increment(&mut self, variable: Handle<GlobalVariable>) {
        let old = self.load(variable);
        let one = self.literal(1);
        let new = self.binary(BinaryOperator::Add, old, one);
        self.store(variable, new);
    }

    pub(super) fn call(&mut self, function: Handle<Function>, arguments: Vec<Handle<Expression>>) {
        self.push(Statement::Call { function, arguments, result: None });
    }

    /// True in one of the active lanes of each subgroup.
    pub(super) fn leads(&mut self, types: &Types, globals: &Globals) -> Handle<Expression> {
        let own = self.load(globals.local_index);
        let first = self.plain(Expression::SubgroupOperationResult { ty: types.u32 });
        let mode = GatherMode::BroadcastFirst;
        self.push(Statement::SubgroupGather { mode, argument: own, result: first });
        self.binary(BinaryOperator::Equal, own, first)
    }

    /// The number of active lanes. A sum of ones would do, but lavapipe 22.3 then counts the lanes
    /// that a last, partial subgroup lacks.
    pub(super) fn lanes(&mut self) -> Handle<Expression> {
        let ballot = self.plain(Expression::SubgroupBallotResult);
        self.push(Statement::SubgroupBallot { result: ballot, predicate: None });
        let bits = self.emit(Expression::Math {
            fun: MathFunction::CountOneBits,
            arg: ballot,
            arg1: None,
            arg2: None,
            arg3: None,
        });
        let mut lanes = self.emit(Expression::AccessIndex { base: bits, index: 0 });
        for index in 1..4 {
            let more = self.emit(Expression::AccessIndex { base: bits, index });
            lanes = self.binary(BinaryOperator::Add, lanes, more);
        }
        lanes
    }

    /// Runs `accept` where `condition` holds.
    pub(super) fn when(&mut self, condition: Handle<Expression>, accept: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.block);
        accept(self);
        let accept = std::mem::replace(&mut self.block, outer);
        self.push(Statement::If { condition, accept, reject: Block::new() });
    }

    /// Adds to a word of the counters and gives what it held.
    pub(super) fn atomic_add(
        &mut self,
        globals: &Globals,
        types: &Types,
        word: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Handle<Expression> {
        let base = self.plain(Expression::GlobalVariable(globals.slots));
        let pointer = self.emit(Expression::Access { base, index: word });
        let result = self.plain(Expression::AtomicResult { ty: types.u32, comparison: false });
        let fun = AtomicFunction::Add;
        self.push(Statement::Atomic { pointer, fun, value, result: Some(result) });
        result
    }
}

/// Builds a function of u32 arguments without a result.
pub(super) fn function(
    name: &str,
    arguments: &[&str],
    u32: Handle<Type>,
    body: impl FnOnce(&mut Builder<'_>, &[Handle<Expression>]),
) -> Function {
    let mut function = Function { name: Some(name.to_owned()), ..Function::default() };
    let mut builder = Builder { expressions: &mut function.expressions, block: Block::new() };
    let mut handles = Vec::new();
    for (index, name) in (0_u32..).zip(arguments) {
        handles.push(builder.plain(Expression::FunctionArgument(index)));
        let name = Some((*name).to_owned());
        function.arguments.push(FunctionArgument { name, ty: u32, binding: None });
    }
    body(&mut builder, &handles);
    builder.push(Statement::Return { value: None });
    function.body = builder.block;
    function
}

/// `lanescope_add(word, low, high)`: adds a 64-bit value to the counter at `word` of the stripe.
fn add_function(types: &Types, globals: &Globals) -> Function {
    function("lanescope_add", &["word", "low", "high"], types.u32, |builder, arguments| {
        let [word, low, high] = *arguments else { return };
        let stripe = builder.load(globals.stripe);
        let at = builder.binary(BinaryOperator::Add, stripe, word);
        let old = builder.atomic_add(globals, types, at, low);
        let new = builder.binary(BinaryOperator::Add, old, low);
        let wrapped = builder.binary(BinaryOperator::Less, new, old);
        let zero = builder.literal(0);
        let one = builder.literal(1);
        let carry =
            builder.emit(Expression::Select { condition: wrapped, accept: one, reject: zero });
        let upper = builder.binary(BinaryOperator::Add, high, carry);
        let any = builder.binary(BinaryOperator::NotEqual, upper, zero);
        builder.when(any, |builder| {
            let next = builder.binary(BinaryOperator::Add, at, one);
            builder.atomic_add(globals, types, next, upper);
        });
    })
}

/// `lanescope_count(word)`: the active lanes count one issue and themselves, in memory.
fn count_function(
    types: &Types,
    globals: &Globals,
    add: Handle<Function>,
    histogram: bool,
) -> Function {
    function("lanescope_count", &["word"], types.u32, |builder, arguments| {
        let word = arguments[0];
        let lanes = builder.lanes();
        let leads = builder.leads(types, globals);
        builder.when(leads, |builder| {
            let zero = builder.literal(0);
            let one = builder.literal(1);
            let two = builder.literal(2);
            if histogram {
                // Bin k − 1 for k lanes, two words each.
                let below = builder.binary(BinaryOperator::Subtract, lanes, one);
                let offset = builder.binary(BinaryOperator::Multiply, below, two);
                let bin = builder.binary(BinaryOperator::Add, word, offset);
                builder.call(add, vec![bin, one, zero]);
            } else {
                builder.call(add, vec![word, one, zero]);
                let lanes_word = builder.binary(BinaryOperator::Add, word, two);
                builder.call(add, vec![lanes_word, lanes, zero]);
            }
        });
    })
}

/// Rewrites a function: its places count, its calls reach the moved functions.
fn rewrite(
    mut function: Function,
    (body, planned): (&Body, &Planned),
    leads: usize,
    context: &Context<'_>,
    moved: &[Handle<Function>],
) -> Function {
    for (_, expression) in function.expressions.iter_mut() {
        if let Expression::CallResult(callee) = expression {
            *callee = moved[callee.index()];
        }
    }
    let lead = |number| LocalVariable {
        name: Some(format!("lanescope_lead_{number}")),
        ty: context.types.bool,
        init: None,
    };
    let leads = (0..leads)
        .map(|number| function.local_variables.append(lead(number), Span::UNDEFINED))
        .collect();
    let mut rewriter = Rewriter {
        context,
        moved,
        leads,
        expressions: &mut function.expressions,
        locals: &mut function.local_variables,
    };
    function.body = rewriter.body(body, planned);
    function
}

struct Rewriter<'a> {
    context: &'a Context<'a>,
    moved: &'a [Handle<Function>],
    leads: Vec<Handle<LocalVariable>>,
    expressions: &'a mut Arena<Expression>,
    locals: &'a mut Arena<LocalVariable>,
}

impl Rewriter<'_> {
    fn body(&mut self, body: &Body, planned: &Planned) -> Block {
        let mut block = Block::new();
        let mut before = planned.before.iter();
        for (node, nested) in body.nodes.iter().zip(&planned.nested) {
            let mut acts = self.acts(before.next().map_or(&[], Vec::as_slice));
            block.append(&mut acts);
            let mut inner = Vec::new();
            for (body, planned) in super::plan::bodies(node).zip(nested) {
                inner.push(self.body(body, planned));
            }
            let mut inner = inner.into_iter();
            let mut next = || inner.next().unwrap_or_default();
            match *node {
                Node::Straight(ref straight) => {
                    for (statement, span) in &straight.statements {
                        block.push(self.statement(statement), *span);
                    }
                }
                Node::If { condition, span, .. } => {
                    let (accept, reject) = (next(), next());
                    block.push(Statement::If { condition, accept, reject }, span);
                }
                Node::Switch { selector, ref cases, span } => {
                    let cases = cases
                        .iter()
                        .map(|case| naga::SwitchCase {
                            value: case.value,
                            body: next(),
                            fall_through: case.fall_through,
                        })
                        .collect();
                    block.push(Statement::Switch { selector, cases }, span);
                }
                Node::Loop { break_if, span, .. } => {
                    let (body, continuing) = (next(), next());
                    block.push(Statement::Loop { body, continuing, break_if }, span);
                }
            }
        }
        let mut acts = self.acts(before.next().map_or(&[], Vec::as_slice));
        block.append(&mut acts);
        block
    }

    /// The statements of actions.
    fn acts(&mut self, acts: &[Act]) -> Block {
        let Context { types, globals, count, .. } = self.context;
        let mut builder = Builder { expressions: self.expressions, block: Block::new() };
        let var = |var: &Var| globals.vars[var.0];
        let leads = &self.leads;
        let led = |builder: &mut Builder<'_>, lead: &super::plan::Lead| {
            let pointer = builder.plain(Expression::LocalVariable(leads[lead.0]));
            builder.emit(Expression::Load { pointer })
        };
        for act in acts {
            match act {
                Act::Step(step) => builder.increment(var(step)),
                Act::Executed { issues, lanes } => {
                    let leads = builder.leads(types, globals);
                    builder.when(leads, |builder| builder.increment(var(issues)));
                    builder.increment(var(lanes));
                }
                Act::Memory { first } => {
                    let word = builder.literal(first.0 * 2);
                    builder.call(*count, vec![word]);
                }
                Act::Lead(lead) => {
                    let value = builder.leads(types, globals);
                    let pointer = builder.plain(Expression::LocalVariable(leads[lead.0]));
                    builder.push(Statement::Store { pointer, value });
                }
                Act::Led(issues, lead) => {
                    let leads = led(&mut builder, lead);
                    let one = builder.number(leads);
                    builder.add_to(var(issues), one);
                }
                Act::Vote { vote, issues, lead, lanes } => {
                    let lead = lead.map(|lead| led(&mut builder, &lead));
                    let lanes = lanes.as_ref().map(var);
                    count_vote(&mut builder, vote, types, lead, var(issues), lanes);
                }
                Act::Mark { into, turn } => {
                    let Some(turn) = &self.context.plan.turns[*turn] else { continue };
                    let turns = builder.load(var(turn));
                    let one = builder.literal(1);
                    let from_one = builder.binary(BinaryOperator::Add, turns, one);
                    builder.store(var(into), from_one);
                }
                Act::Clear(counter) => {
                    let zero = builder.literal(0);
                    builder.store(var(counter), zero);
                }
                Act::Fold { from, reduction, lanes, into, lead } => {
                    let own = builder.load(var(from));
                    let result = if *reduction == Reduction::Distinct {
                        flush::distinct(&mut builder, self.locals, types, own)
                    } else {
                        builder.collective(SubgroupOperation::Max, own, types.u32)
                    };
                    let lead = lead.map(|lead| led(&mut builder, &lead));
                    let lanes = lanes.as_ref().map(var);
                    fold(
                        &mut builder,
                        *reduction,
                        own,
                        result,
                        lead,
                        [var(from), var(into)],
                        lanes,
                    );
                }
            }
        }
        builder.block
    }

    /// The statement itself, calls redirected.
    fn statement(&self, statement: &Statement) -> Statement {
        let mut statement = statement.clone();
        if let Statement::Call { function, .. } = &mut statement {
            *function = self.moved[function.index()];
        }
        statement
    }
}

/// Moves a loop's count outside: `from` becomes zero, its `result` goes `into` the variable outside
/// by the leader or by all, and each lane's own part to `lanes`.
fn fold(
    builder: &mut Builder<'_>,
    reduction: Reduction,
    own: Handle<Expression>,
    result: Handle<Expression>,
    lead: Option<Handle<Expression>>,
    [from, into]: [Handle<GlobalVariable>; 2],
    lanes: Option<Handle<GlobalVariable>>,
) {
    let zero = builder.literal(0);
    if let Some(lanes) = lanes {
        let added = if reduction == Reduction::Distinct {
            let noted = builder.binary(BinaryOperator::NotEqual, own, zero);
            builder.number(noted)
        } else {
            own
        };
        builder.add_to(lanes, added);
    }
    let added = match lead {
        Some(condition) => {
            builder.emit(Expression::Select { condition, accept: result, reject: zero })
        }
        None => result,
    };
    builder.add_to(into, added);
    builder.store(from, zero);
}

/// Counts a vote: one issue, added by the leader or by all, and each lane that says yes.
fn count_vote(
    builder: &mut Builder<'_>,
    vote: &Vote,
    types: &Types,
    lead: Option<Handle<Expression>>,
    issues: Handle<GlobalVariable>,
    lanes: Option<Handle<GlobalVariable>>,
) {
    let (own, mut yes) = cast_vote(builder, vote, types);
    if let Some(leads) = lead {
        yes = builder.binary(BinaryOperator::LogicalAnd, yes, leads);
    }
    let one = builder.number(yes);
    builder.add_to(issues, one);
    if let Some(lanes) = lanes {
        let one = builder.number(own);
        builder.add_to(lanes, one);
    }
}

/// A lane's own answer to a vote, and what the active lanes find out together.
fn cast_vote(
    builder: &mut Builder<'_>,
    vote: &Vote,
    types: &Types,
) -> (Handle<Expression>, Handle<Expression>) {
    // False before anything is compared with.
    let equals_one_of = |builder: &mut Builder<'_>, selector, values: &[SwitchValue]| {
        let mut any = None;
        for value in values {
            let literal = match *value {
                SwitchValue::I32(value) => Literal::I32(value),
                SwitchValue::U32(value) => Literal::U32(value),
                SwitchValue::Default => continue,
            };
            let right = builder.plain(Expression::Literal(literal));
            let equal = builder.binary(BinaryOperator::Equal, selector, right);
            any = Some(match any {
                Some(any) => builder.binary(BinaryOperator::LogicalOr, any, equal),
                None => equal,
            });
        }
        any.unwrap_or_else(|| builder.plain(Expression::Literal(Literal::Bool(false))))
    };
    let (op, argument, negate) = match vote {
        Vote::Any(condition) => (SubgroupOperation::Any, *condition, false),
        Vote::NotAll(condition) => (SubgroupOperation::All, *condition, true),
        Vote::Equal(selector, values) => {
            (SubgroupOperation::Any, equals_one_of(builder, *selector, values), false)
        }
        Vote::Other(selector, values) => {
            (SubgroupOperation::All, equals_one_of(builder, *selector, values), true)
        }
    };
    let result = builder.collective(op, argument, types.bool);
    let mut answer = |expr| {
        let op = naga::UnaryOperator::LogicalNot;
        if negate { builder.emit(Expression::Unary { op, expr }) } else { expr }
    };
    (answer(argument), answer(result))
}

/// The new entry point: notes where it is, calls the old body, flushes.
fn entry_function(
    module: &Module,
    entry: &EntryPoint,
    body: Handle<Function>,
    context: &Context<'_>,
) -> Function {
    let Context { types, globals, layout, .. } = context;
    let mut arguments = entry.function.arguments.clone();
    let index_source = builtin(module, &mut arguments, BuiltIn::LocalInvocationIndex, types.u32);
    let workgroup_source = builtin(module, &mut arguments, BuiltIn::WorkGroupId, types.vec3_u32);
    let mut expressions = Arena::new();
    let mut locals = Arena::new();
    let mut builder = Builder { expressions: &mut expressions, block: Block::new() };
    let passed: Vec<Handle<Expression>> = (0_u32..)
        .zip(&arguments)
        .map(|(index, _)| builder.plain(Expression::FunctionArgument(index)))
        .collect();
    let local_index = index_source.value(&mut builder, &passed);
    builder.store(globals.local_index, local_index);
    let workgroup = workgroup_source.value(&mut builder, &passed);
    store_stripe(&mut builder, globals, *layout, workgroup);
    let own = entry.function.arguments.len();
    builder.call(body, passed[..own].to_vec());
    flush::flush_all(&mut builder, &mut locals, context);
    builder.push(Statement::Return { value: None });
    let block = builder.block;
    Function {
        name: entry.function.name.clone(),
        arguments,
        expressions,
        body: block,
        local_variables: locals,
        ..Function::default()
    }
}

/// The first word of the workgroup's stripe: neighbours in the grid get different ones.
fn store_stripe(
    builder: &mut Builder<'_>,
    globals: &Globals,
    layout: Layout,
    workgroup: Handle<Expression>,
) {
    let part = |builder: &mut Builder<'_>, index| {
        builder.emit(Expression::AccessIndex { base: workgroup, index })
    };
    let mut number = part(builder, 0);
    for index in 1..3 {
        let more = part(builder, index);
        number = builder.binary(BinaryOperator::Add, number, more);
    }
    let mask = builder.literal(layout.stripes - 1);
    let stripe = builder.binary(BinaryOperator::And, number, mask);
    let words = builder.literal(layout.stripe_words());
    let first = builder.binary(BinaryOperator::Multiply, stripe, words);
    builder.store(globals.stripe, first);
}

/// Where an entry point finds a built-in value.
#[derive(Clone, Copy)]
enum Source {
    Argument(usize),
    Member(usize, u32),
}

impl Source {
    fn value(self, builder: &mut Builder<'_>, passed: &[Handle<Expression>]) -> Handle<Expression> {
        match self {
            Self::Argument(argument) => passed[argument],
            Self::Member(argument, index) => {
                builder.emit(Expression::AccessIndex { base: passed[argument], index })
            }
        }
    }
}

/// Finds a built-in among the arguments, in a struct too, or adds it: a second one is an error.
fn builtin(
    module: &Module,
    arguments: &mut Vec<FunctionArgument>,
    wanted: BuiltIn,
    ty: Handle<Type>,
) -> Source {
    let is = |binding: &Option<Binding>| *binding == Some(Binding::BuiltIn(wanted));
    for (argument, FunctionArgument { ty, binding, .. }) in arguments.iter().enumerate() {
        if is(binding) {
            return Source::Argument(argument);
        }
        if let TypeInner::Struct { ref members, .. } = module.types[*ty].inner {
            let member = (0_u32..).zip(members).find(|(_, member)| is(&member.binding));
            if let Some((index, _)) = member {
                return Source::Member(argument, index);
            }
        }
    }
    let name = Some(format!("lanescope_{wanted:?}").to_lowercase());
    let binding = Some(Binding::BuiltIn(wanted));
    arguments.push(FunctionArgument { name, ty, binding });
    Source::Argument(arguments.len() - 1)
}
