//! What instrumented code is made with: types, variables, and a builder of statements.
//!
//! Input: the module that gets counters, and a plan. Output: [`CounterContext`], which every rewritten body
//! shares, and [`BodyBuilder`], which appends expressions with the `Emit`s that they need. What is built
//! with them is `build`'s, `flush`'s and `rewrite`'s.

use naga::{
    AddressSpace, Arena, ArraySize, AtomicFunction, BinaryOperator, Block, Expression, Function,
    FunctionArgument, GatherMode, GlobalVariable, Handle, Literal, MathFunction, Module, Range,
    ResourceBinding, Scalar, Span, Statement, StorageAccess, SubgroupOperation, Type, TypeInner,
    VectorSize,
};

use super::plan::{Bits, CounterPlan};
use super::{CounterBinding, Layout};

/// The types that counters need.
pub(super) struct Types {
    pub(super) u32: Handle<Type>,
    pub(super) bool: Handle<Type>,
    pub(super) vec3_u32: Handle<Type>,
    slots: Handle<Type>,
}

impl Types {
    pub(super) fn new(module: &mut Module) -> Self {
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
    pub(super) local_index: Handle<GlobalVariable>,
    /// The first word of the workgroup's stripe.
    pub(super) stripe: Handle<GlobalVariable>,
    /// The plan's private variables.
    pub(super) vars: Vec<Handle<GlobalVariable>>,
}

impl Globals {
    pub(super) fn new(
        module: &mut Module,
        types: &Types,
        binding: CounterBinding,
        plan: &CounterPlan,
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
        let vars = (0..plan.vars).map(|var| private(format!("lanescope_counter_{var}"))).collect();
        Self { slots, local_index, stripe, vars }
    }
}

/// What rewriting a body needs.
pub(super) struct CounterContext<'a> {
    pub(super) types: Types,
    pub(super) globals: Globals,
    pub(super) layout: Layout,
    /// The widest subgroup that may run the module, in lanes.
    pub(super) width_max: u32,
    pub(super) add: Handle<Function>,
    pub(super) count: Handle<Function>,
    pub(super) flush: Handle<Function>,
    pub(super) plan: &'a CounterPlan,
}

/// Appends expressions and statements to a function.
pub(super) struct BodyBuilder<'a> {
    pub(super) expressions: &'a mut Arena<Expression>,
    pub(super) block: Block,
}

impl BodyBuilder<'_> {
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
    pub(super) fn double(&mut self, variable: Handle<GlobalVariable>) -> Handle<Expression> {
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
        let local_index = self.load(globals.local_index);
        let first = self.plain(Expression::SubgroupOperationResult { ty: types.u32 });
        let mode = GatherMode::BroadcastFirst;
        self.push(Statement::SubgroupGather { mode, argument: local_index, result: first });
        self.binary(BinaryOperator::Equal, local_index, first)
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
        plan: &CounterPlan,
        bits: &Bits,
    ) -> Handle<Expression> {
        match bits {
            Bits::One => self.literal(1),
            Bits::Var(var) => self.load(globals.vars[var.0]),
            Bits::Iterations(id) => {
                // The bit behind the last iteration, less one, is a bit for each iteration up to it.
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
    body: impl FnOnce(&mut BodyBuilder<'_>, &[Handle<Expression>]),
) -> Function {
    let mut function = Function { name: Some(name.to_owned()), ..Function::default() };
    let mut builder = BodyBuilder { expressions: &mut function.expressions, block: Block::new() };
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
