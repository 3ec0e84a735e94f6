//! Building the instrumented module: helper functions, the new entry point, what bodies are made
//! with.
//!
//! Input: the program and where each block's counters go. Output: a module, not yet validated. The
//! bodies themselves are rewritten next door.

use naga::{
    AddressSpace, Arena, ArraySize, AtomicFunction, BinaryOperator, Binding, Block, BuiltIn,
    EntryPoint, Expression, Function, FunctionArgument, GatherMode, GlobalVariable, Handle,
    Literal, MathFunction, Module, Range, ResourceBinding, Scalar, Span, Statement, StorageAccess,
    SubgroupOperation, Type, TypeInner, VectorSize,
};

use super::plan::{Bits, Plan};
use super::rewrite::rewrite;
use super::{CounterBinding, Layout, Method, Options, flush};
use crate::program::{Program, ignore_uniformity};

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
    let bodies = structure.functions.iter().zip(&plan.functions);
    for ((handle, function), planned) in old_functions.iter().zip(bodies) {
        let span = old_functions.get_span(handle);
        let function = rewrite(function.clone(), planned, &context, &moved);
        moved.push(module.functions.append(function, span));
    }
    let entry = module.entry_points[0].clone();
    let planned = (&structure.entry_point, &plan.entry_point);
    let mut body = rewrite(entry.function.clone(), planned, &context, &moved);
    for argument in &mut body.arguments {
        argument.binding = None;
    }
    body.name = Some(format!("{}_counted", entry.name));
    let body = module.functions.append(body, Span::UNDEFINED);
    let function = entry_function(&module, &entry, body, &context);
    module.entry_points[0] = EntryPoint { function, ..entry };
    if options.method != Method::Estimated {
        // Whoever is at a block asks who leads: also where lanes have parted.
        ignore_uniformity(&mut module);
    }
    module
}

/// The types that counters need.
pub(super) struct Types {
    pub(super) u32: Handle<Type>,
    pub(super) bool: Handle<Type>,
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
    pub(super) count: Handle<Function>,
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
    pub(super) fn add_to(&mut self, variable: Handle<GlobalVariable>, more: Handle<Expression>) {
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

    /// Doubles a private variable; gives what it holds then.
    pub(super) fn doubled(&mut self, variable: Handle<GlobalVariable>) -> Handle<Expression> {
        let old = self.load(variable);
        let one = self.literal(1);
        let new = self.binary(BinaryOperator::ShiftLeft, old, one);
        self.store(variable, new);
        new
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

    /// How many bits are set.
    pub(super) fn ones(&mut self, value: Handle<Expression>) -> Handle<Expression> {
        self.emit(Expression::Math {
            fun: MathFunction::CountOneBits,
            arg: value,
            arg1: None,
            arg2: None,
            arg3: None,
        })
    }

    /// A truth that is not zero.
    pub(super) fn some(&mut self, value: Handle<Expression>) -> Handle<Expression> {
        let zero = self.literal(0);
        self.binary(BinaryOperator::NotEqual, value, zero)
    }

    /// A lane's bits, as a number.
    pub(super) fn bits(
        &mut self,
        globals: &Globals,
        plan: &Plan,
        bits: &Bits,
    ) -> Handle<Expression> {
        match bits {
            Bits::One => self.literal(1),
            Bits::Var(var) => self.load(globals.vars[var.0]),
            Bits::Turns(id) => {
                // The bit behind the last turn, less one, is a bit for each turn up to it.
                let Some(bit) = plan.loops[id.0].bit else { return self.literal(0) };
                let next = self.load(globals.vars[bit.0]);
                let one = self.literal(1);
                self.binary(BinaryOperator::Subtract, next, one)
            }
            Bits::AndNot(all, less) => {
                let all = self.bits(globals, plan, all);
                let less = self.bits(globals, plan, less);
                let op = naga::UnaryOperator::BitwiseNot;
                let others = self.emit(Expression::Unary { op, expr: less });
                self.binary(BinaryOperator::And, all, others)
            }
        }
    }

    /// The number of active lanes, or of those that have `predicate`. A sum of ones would do, but
    /// lavapipe 22.3 then counts the lanes that a last, partial subgroup lacks.
    pub(super) fn lanes(&mut self, predicate: Option<Handle<Expression>>) -> Handle<Expression> {
        let ballot = self.plain(Expression::SubgroupBallotResult);
        self.push(Statement::SubgroupBallot { result: ballot, predicate });
        let bits = self.ones(ballot);
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

    /// Adds to a word of the stripe, without a carry.
    pub(super) fn add_to_word(
        &mut self,
        globals: &Globals,
        types: &Types,
        word: Handle<Expression>,
        value: Handle<Expression>,
    ) {
        let stripe = self.load(globals.stripe);
        let at = self.binary(BinaryOperator::Add, stripe, word);
        self.atomic_add(globals, types, at, value);
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
        let lanes = builder.lanes(None);
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
    // Where all subgroups are full, a lane's number is its rank among those that are there.
    let [x, y, z] = entry.workgroup_size;
    let full = y == 1 && z == 1 && x.is_multiple_of(context.width_max.max(1));
    let rank_source = (full && context.plan.derived)
        .then(|| builtin(module, &mut arguments, BuiltIn::SubgroupInvocationId, types.u32));
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
    let rank = rank_source.map(|source| source.value(&mut builder, &passed));
    flush::flush_all(&mut builder, &mut locals, context, rank);
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
    let words = builder.literal(layout.words);
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
