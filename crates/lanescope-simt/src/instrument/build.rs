//! Building the instrumented module: helper functions and the new entry point.
//!
//! Input: the program and where each block's counters go. Output: a module, not yet validated. The
//! bodies themselves are rewritten next door, and what all of it is made with is `context`.

use naga::{
    Arena, BinaryOperator, Binding, Block, BuiltIn, EntryPoint, Expression, Function,
    FunctionArgument, Handle, Module, Span, Statement, Type, TypeInner,
};

use super::context::{BodyBuilder, CounterContext, Globals, Types, function};
use super::plan::CounterPlan;
use super::rewrite::rewrite;
use super::{CounterBinding, CounterScheme, Layout, Options, flush};
use crate::program::{Program, ignore_uniformity};

/// Makes the instrumented module.
pub(super) fn instrument(
    program: &Program,
    layout: Layout,
    binding: CounterBinding,
    plan: &CounterPlan,
    options: &Options,
) -> Module {
    let histogram = options.method == CounterScheme::Histogram;
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
    let context = CounterContext { types, globals, layout, width_max, add, count, flush, plan };

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
    if options.method != CounterScheme::Estimated {
        // Whoever is at a block asks which lane is elected: also where lanes have parted.
        ignore_uniformity(&mut module);
    }
    module
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
    context: &CounterContext<'_>,
) -> Function {
    let CounterContext { types, globals, layout, .. } = context;
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
    let mut builder = BodyBuilder { expressions: &mut expressions, block: Block::new() };
    let passed: Vec<Handle<Expression>> = (0_u32..)
        .zip(&arguments)
        .map(|(index, _)| builder.plain(Expression::FunctionArgument(index)))
        .collect();
    let local_index = index_source.value(&mut builder, &passed);
    builder.store(globals.local_index, local_index);
    let workgroup = workgroup_source.value(&mut builder, &passed);
    store_stripe(&mut builder, globals, *layout, workgroup);
    let argument_index = entry.function.arguments.len();
    builder.call(body, passed[..argument_index].to_vec());
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
    builder: &mut BodyBuilder<'_>,
    globals: &Globals,
    layout: Layout,
    workgroup: Handle<Expression>,
) {
    let part = |builder: &mut BodyBuilder<'_>, index| {
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
enum BuiltinSource {
    Argument(usize),
    Member(usize, u32),
}

impl BuiltinSource {
    fn value(
        self,
        builder: &mut BodyBuilder<'_>,
        passed: &[Handle<Expression>],
    ) -> Handle<Expression> {
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
) -> BuiltinSource {
    let is = |binding: &Option<Binding>| *binding == Some(Binding::BuiltIn(wanted));
    for (argument, FunctionArgument { ty, binding, .. }) in arguments.iter().enumerate() {
        if is(binding) {
            return BuiltinSource::Argument(argument);
        }
        if let TypeInner::Struct { ref members, .. } = module.types[*ty].inner {
            let member = (0_u32..).zip(members).find(|(_, member)| is(&member.binding));
            if let Some((index, _)) = member {
                return BuiltinSource::Member(argument, index);
            }
        }
    }
    let name = Some(format!("lanescope_{wanted:?}").to_lowercase());
    let binding = Some(Binding::BuiltIn(wanted));
    arguments.push(FunctionArgument { name, ty, binding });
    BuiltinSource::Argument(arguments.len() - 1)
}
