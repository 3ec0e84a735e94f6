//! Building the instrumented module: helper functions, rewritten bodies, the new entry point.
//!
//! Input: the program and where each block's counters go. Output: a module, not yet validated.

use naga::{
    AddressSpace, Arena, ArraySize, AtomicFunction, BinaryOperator, Binding, Block, BuiltIn,
    EntryPoint, Expression, Function, FunctionArgument, GatherMode, GlobalVariable, Handle,
    Literal, LocalVariable, MathFunction, Module, Range, ResourceBinding, Scalar, Span, Statement,
    StorageAccess, SubgroupOperation, Type, TypeInner, VectorSize,
};

use super::{CounterBinding, Layout, Place};
use crate::program::{Body, Case, Node, Program};
use crate::units::BlockId;

/// Makes the instrumented module.
pub(super) fn instrument(
    program: &Program,
    layout: Layout,
    binding: CounterBinding,
    places: &[Place],
    histogram: bool,
) -> Module {
    let mut module = program.module().clone();
    let old_functions = std::mem::replace(&mut module.functions, Arena::new());
    let types = Types::new(&mut module);
    let globals = Globals::new(&mut module, &types, layout, binding, places);
    let add = module.functions.append(add_function(&types, &globals), Span::UNDEFINED);
    let count =
        module.functions.append(count_function(&types, &globals, add, histogram), Span::UNDEFINED);
    let flush = module.functions.append(flush_function(&types, &globals, add), Span::UNDEFINED);
    let context = Context { types, globals, layout, count, flush, places };

    let mut moved = Vec::new();
    let structure = program.structure();
    for ((handle, function), body) in old_functions.iter().zip(&structure.functions) {
        let span = old_functions.get_span(handle);
        let function = rewrite(function.clone(), body, &context, &moved);
        moved.push(module.functions.append(function, span));
    }
    let entry = module.entry_points[0].clone();
    let mut body = rewrite(entry.function.clone(), &structure.entry_point, &context, &moved);
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
struct Types {
    u32: Handle<Type>,
    vec3_u32: Handle<Type>,
    slots: Handle<Type>,
}

impl Types {
    fn new(module: &mut Module) -> Self {
        let mut add = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
        let u32 = add(TypeInner::Scalar(Scalar::U32));
        let vec3_u32 = add(TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 });
        let atomic = add(TypeInner::Atomic(Scalar::U32));
        let slots = add(TypeInner::Array { base: atomic, size: ArraySize::Dynamic, stride: 4 });
        Self { u32, vec3_u32, slots }
    }
}

/// The module's new variables.
struct Globals {
    /// The counters' buffer.
    slots: Handle<GlobalVariable>,
    /// The invocation's `local_invocation_index`.
    local_index: Handle<GlobalVariable>,
    /// The first word of the workgroup's stripe.
    stripe: Handle<GlobalVariable>,
    /// Private issues and lanes, by block number, where the block counts in registers.
    registers: Vec<Option<[Handle<GlobalVariable>; 2]>>,
}

impl Globals {
    fn new(
        module: &mut Module,
        types: &Types,
        layout: Layout,
        binding: CounterBinding,
        places: &[Place],
    ) -> Self {
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
        let mut registers = Vec::new();
        for (block, place) in places.iter().enumerate() {
            registers.push((*place == Place::Registers).then(|| {
                [
                    private(format!("lanescope_issues_{block}")),
                    private(format!("lanescope_lanes_{block}")),
                ]
            }));
        }
        debug_assert_eq!(registers.len(), places.len().min(layout.blocks as usize));
        Self { slots, local_index, stripe, registers }
    }
}

/// What rewriting a body needs.
struct Context<'a> {
    types: Types,
    globals: Globals,
    layout: Layout,
    count: Handle<Function>,
    flush: Handle<Function>,
    places: &'a [Place],
}

/// Appends expressions and statements to a function.
struct Builder<'a> {
    expressions: &'a mut Arena<Expression>,
    block: Block,
}

impl Builder<'_> {
    fn push(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    /// An expression that needs no `Emit`: a literal, a variable, an argument, a result.
    fn plain(&mut self, expression: Expression) -> Handle<Expression> {
        self.expressions.append(expression, Span::UNDEFINED)
    }

    fn emit(&mut self, expression: Expression) -> Handle<Expression> {
        let handle = self.expressions.append(expression, Span::UNDEFINED);
        self.push(Statement::Emit(Range::new_from_bounds(handle, handle)));
        handle
    }

    fn literal(&mut self, value: u32) -> Handle<Expression> {
        self.plain(Expression::Literal(Literal::U32(value)))
    }

    fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Handle<Expression> {
        self.emit(Expression::Binary { op, left, right })
    }

    fn load(&mut self, variable: Handle<GlobalVariable>) -> Handle<Expression> {
        let pointer = self.plain(Expression::GlobalVariable(variable));
        self.emit(Expression::Load { pointer })
    }

    fn store(&mut self, variable: Handle<GlobalVariable>, value: Handle<Expression>) {
        let pointer = self.plain(Expression::GlobalVariable(variable));
        self.push(Statement::Store { pointer, value });
    }

    fn increment(&mut self, variable: Handle<GlobalVariable>) {
        let old = self.load(variable);
        let one = self.literal(1);
        let new = self.binary(BinaryOperator::Add, old, one);
        self.store(variable, new);
    }

    fn call(&mut self, function: Handle<Function>, arguments: Vec<Handle<Expression>>) {
        self.push(Statement::Call { function, arguments, result: None });
    }

    /// True in one of the active lanes of each subgroup.
    fn leads(&mut self, types: &Types, globals: &Globals) -> Handle<Expression> {
        let own = self.load(globals.local_index);
        let first = self.plain(Expression::SubgroupOperationResult { ty: types.u32 });
        let mode = GatherMode::BroadcastFirst;
        self.push(Statement::SubgroupGather { mode, argument: own, result: first });
        self.binary(BinaryOperator::Equal, own, first)
    }

    /// Runs `accept` where `condition` holds.
    fn when(&mut self, condition: Handle<Expression>, accept: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.block);
        accept(self);
        let accept = std::mem::replace(&mut self.block, outer);
        self.push(Statement::If { condition, accept, reject: Block::new() });
    }

    /// Adds to a word of the counters and gives what it held.
    fn atomic_add(
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
fn function(
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
        let ballot = builder.plain(Expression::SubgroupBallotResult);
        builder.push(Statement::SubgroupBallot { result: ballot, predicate: None });
        let bits = builder.emit(Expression::Math {
            fun: MathFunction::CountOneBits,
            arg: ballot,
            arg1: None,
            arg2: None,
            arg3: None,
        });
        let part = |builder: &mut Builder<'_>, index| {
            builder.emit(Expression::AccessIndex { base: bits, index })
        };
        let mut lanes = part(builder, 0);
        for index in 1..4 {
            let more = part(builder, index);
            lanes = builder.binary(BinaryOperator::Add, lanes, more);
        }
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

/// `lanescope_flush(word, value)`: sums `value` over the lanes that are there and adds the sum.
fn flush_function(types: &Types, globals: &Globals, add: Handle<Function>) -> Function {
    function("lanescope_flush", &["word", "value"], types.u32, |builder, arguments| {
        let [word, value] = *arguments else { return };
        let half = builder.literal(16);
        let mask = builder.literal(0xffff);
        let low_half = builder.binary(BinaryOperator::And, value, mask);
        let high_half = builder.binary(BinaryOperator::ShiftRight, value, half);
        let sum = |builder: &mut Builder<'_>, argument| {
            let result = builder.plain(Expression::SubgroupOperationResult { ty: types.u32 });
            builder.push(Statement::SubgroupCollectiveOperation {
                op: SubgroupOperation::Add,
                collective_op: naga::CollectiveOperation::Reduce,
                argument,
                result,
            });
            result
        };
        let low_sum = sum(builder, low_half);
        let high_sum = sum(builder, high_half);
        let shifted = builder.binary(BinaryOperator::ShiftLeft, high_sum, half);
        let low = builder.binary(BinaryOperator::Add, low_sum, shifted);
        let wrapped = builder.binary(BinaryOperator::Less, low, low_sum);
        let zero = builder.literal(0);
        let one = builder.literal(1);
        let carry =
            builder.emit(Expression::Select { condition: wrapped, accept: one, reject: zero });
        let upper = builder.binary(BinaryOperator::ShiftRight, high_sum, half);
        let high = builder.binary(BinaryOperator::Add, upper, carry);
        let leads = builder.leads(types, globals);
        let any = builder.binary(BinaryOperator::InclusiveOr, low, high);
        let some = builder.binary(BinaryOperator::NotEqual, any, zero);
        let adds = builder.binary(BinaryOperator::LogicalAnd, leads, some);
        builder.when(adds, |builder| builder.call(add, vec![word, low, high]));
    })
}

/// Rewrites a function: its blocks count, its calls reach the moved functions.
fn rewrite(
    mut function: Function,
    body: &Body,
    context: &Context<'_>,
    moved: &[Handle<Function>],
) -> Function {
    for (_, expression) in function.expressions.iter_mut() {
        if let Expression::CallResult(callee) = expression {
            *callee = moved[callee.index()];
        }
    }
    let mut rewriter = Rewriter { context, moved, expressions: &mut function.expressions };
    function.body = rewriter.body(body);
    function
}

struct Rewriter<'a> {
    context: &'a Context<'a>,
    moved: &'a [Handle<Function>],
    expressions: &'a mut Arena<Expression>,
}

impl Rewriter<'_> {
    fn body(&mut self, body: &Body) -> Block {
        let mut block = Block::new();
        for node in &body.nodes {
            match *node {
                Node::Straight(ref straight) => {
                    let mut counting = self.counting(straight.block);
                    block.append(&mut counting);
                    for (statement, span) in &straight.statements {
                        block.push(self.statement(statement), *span);
                    }
                }
                Node::If { condition, ref accept, ref reject, span } => {
                    let accept = self.body(accept);
                    let reject = self.body(reject);
                    block.push(Statement::If { condition, accept, reject }, span);
                }
                Node::Switch { selector, ref cases, span } => {
                    let case = |case: &Case| naga::SwitchCase {
                        value: case.value,
                        body: self.body(&case.body),
                        fall_through: case.fall_through,
                    };
                    let cases = cases.iter().map(case).collect();
                    block.push(Statement::Switch { selector, cases }, span);
                }
                Node::Loop { ref body, ref continuing, break_if, span } => {
                    let body = self.body(body);
                    let continuing = self.body(continuing);
                    block.push(Statement::Loop { body, continuing, break_if }, span);
                }
            }
        }
        block
    }

    /// The statements that count one execution of a block.
    fn counting(&mut self, block: BlockId) -> Block {
        let Context { types, globals, layout, count, places, .. } = self.context;
        let mut builder = Builder { expressions: self.expressions, block: Block::new() };
        match (places[block.index()], globals.registers[block.index()]) {
            (Place::Registers, Some([issues, lanes])) => {
                let leads = builder.leads(types, globals);
                builder.when(leads, |builder| builder.increment(issues));
                builder.increment(lanes);
            }
            (Place::Registers | Place::Memory, _) => {
                let word = builder.literal(layout.word(block));
                builder.call(*count, vec![word]);
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
    let counted: Vec<(u32, Handle<GlobalVariable>)> = (0_u32..)
        .zip(&globals.registers)
        .filter_map(|(block, registers)| registers.map(|registers| (block, registers)))
        .flat_map(|(block, [issues, lanes])| {
            let word = layout.word(BlockId(block));
            [(word, issues), (word + 2, lanes)]
        })
        .collect();
    flush_all(&mut builder, &mut locals, &counted, context);
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

/// Sums each register and adds the sum to its word, in a loop: a driver that puts every callee in
/// its call's place then compiles one flush, not two for each block.
fn flush_all(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    counted: &[(u32, Handle<GlobalVariable>)],
    context: &Context<'_>,
) {
    let Context { types, flush, .. } = context;
    let total = counted.len();
    if total == 0 {
        return;
    }
    let mut local = |name: &str| {
        let variable = LocalVariable { name: Some(name.to_owned()), ty: types.u32, init: None };
        locals.append(variable, Span::UNDEFINED)
    };
    let [number, word, value] =
        ["lanescope_number", "lanescope_word", "lanescope_value"].map(&mut local);
    let [number, word, value] =
        [number, word, value].map(|variable| builder.plain(Expression::LocalVariable(variable)));
    let zero = builder.literal(0);
    let one = builder.literal(1);
    let end = builder.literal(u32::try_from(counted.len()).unwrap_or(u32::MAX));
    builder.push(Statement::Store { pointer: number, value: zero });
    let outer = std::mem::take(&mut builder.block);
    let current = builder.emit(Expression::Load { pointer: number });
    let mut cases = Vec::new();
    let loop_start = std::mem::take(&mut builder.block);
    for (index, (at, variable)) in (0_u32..).zip(counted) {
        let at = builder.literal(*at);
        builder.push(Statement::Store { pointer: word, value: at });
        let counted = builder.load(*variable);
        builder.push(Statement::Store { pointer: value, value: counted });
        let value = if index as usize + 1 == total {
            naga::SwitchValue::Default
        } else {
            naga::SwitchValue::U32(index)
        };
        cases.push(naga::SwitchCase {
            value,
            body: std::mem::take(&mut builder.block),
            fall_through: false,
        });
    }
    builder.block = loop_start;
    builder.push(Statement::Switch { selector: current, cases });
    let at = builder.emit(Expression::Load { pointer: word });
    let sum = builder.emit(Expression::Load { pointer: value });
    builder.call(*flush, vec![at, sum]);
    let body = std::mem::take(&mut builder.block);
    let now = builder.emit(Expression::Load { pointer: number });
    let next = builder.binary(BinaryOperator::Add, now, one);
    builder.push(Statement::Store { pointer: number, value: next });
    let done = builder.binary(BinaryOperator::GreaterEqual, next, end);
    let continuing = std::mem::replace(&mut builder.block, outer);
    builder.push(Statement::Loop { body, continuing, break_if: Some(done) });
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
