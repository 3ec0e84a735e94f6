//! Counting without subgroup operations: lanes exactly, executions as an estimate.
//!
//! Input: a [`Program`], and the lanes that a subgroup is taken to have. Output: a [`CounterPlan`] in which
//! every lane counts its own trips through each block, and the end of the entry point that adds them
//! up. It asks no lane about another while the shader runs.
//!
//! # The estimate
//!
//! A workgroup's invocations are cut into *chunks* of W consecutive `local_invocation_index`es. A
//! block's lanes are the sum of all lanes' trips, which is exact. Its executions are, chunk by chunk, the
//! most trips of any lane. A subgroup that executes a block as often as its busiest lane needs does
//! as few executions as can be, so that this is a lower bound where chunks are subgroups. It is what
//! maximal reconvergence gives wherever the lanes that come to a block later are among those that
//! came before: loops that lanes leave at different times, branches that are come to once. It is too
//! low where even lanes take an `if` in even iterations of a loop and odd lanes in odd ones.
//!
//! # How it is added up
//!
//! When the old body is done, all invocations of a workgroup meet at a barrier for each block: each
//! has put its trips into three words of workgroup memory for its chunk by then (the most, and the
//! sum in halves of 16 bits, which 128 lanes cannot overflow). The first lane of each chunk adds
//! them to the counters and clears the words.

use std::num::NonZeroU32;

use naga::{
    AddressSpace, ArraySize, AtomicFunction, Barrier, BinaryOperator, Expression, Function,
    GlobalVariable, Handle, MemoryDecorations, Module, Scalar, Span, Statement, Type, TypeInner,
};

use super::context::{BodyBuilder, function};
use super::plan::{CounterAction, CounterPlan, Form, Item, Reading, Var};
use crate::program::Program;

/// Words of workgroup memory for each chunk.
const CHUNK_WORDS: u32 = 3;

/// Every block counts each lane's trips; two counters a block, of executions and of lanes.
pub(super) fn plan(program: &Program) -> CounterPlan {
    let mut plan = CounterPlan::default();
    let mut acts = Vec::new();
    for _ in program.blocks() {
        acts.push(Some(CounterAction::Step(plan.var())));
        let executions = plan.counters(2);
        let form_of = |item| Form::from([(item, 1)]);
        plan.readings.push(Reading::Sums {
            executions: form_of(executions),
            lanes: form_of(Item(executions.0 + 1)),
        });
    }
    plan.each_block(program, &acts);
    plan
}

/// Makes the end of the entry point of a module that was made from [`plan`]'s plan add up what the
/// lanes counted, in chunks of `width`; takes out what is not needed then, subgroup operations first.
pub(super) fn finish(module: &mut Module, program: &Program, width: u32) {
    let width = width.max(1);
    let globals_before = program.module().global_variables.len();
    let named = |name: &str| {
        let mut added = module.global_variables.iter().skip(globals_before);
        let found = added.find(|(_, variable)| variable.name.as_deref() == Some(name));
        found.expect("`build` names the variables that it adds").0
    };
    let counters: Vec<Handle<GlobalVariable>> = (0..program.blocks().len())
        .map(|block| named(&format!("lanescope_counter_{}", Var(block).0)))
        .collect();
    let local_index = named("lanescope_local_index");
    let add = {
        let mut functions = module.functions.iter();
        let add = functions.find(|(_, f)| f.name.as_deref() == Some("lanescope_add"));
        add.expect("`build` adds functions before the program's own").0
    };

    let invocations: u32 = program.workgroup_size().iter().product();
    let (scratch, u32) = scratch(module, CHUNK_WORDS * invocations.div_ceil(width));
    let sum = sum_function(Names { scratch, local_index, add, u32, width });
    let sum = module.functions.append(sum, Span::UNDEFINED);

    let entry = &mut module.entry_points[0].function;
    let mut body = std::mem::take(&mut entry.body);
    // The `return` behind which nothing would run.
    let last = body.len().saturating_sub(1);
    body.cull(last..);
    let mut builder = BodyBuilder { expressions: &mut entry.expressions, block: body };
    for (block, counter) in (0_u32..).zip(counters) {
        let word = builder.literal(4 * block);
        let trips = builder.load(counter);
        builder.call(sum, vec![word, trips]);
    }
    builder.push(Statement::Return { value: None });
    entry.body = builder.block;
    naga::compact::compact(module, naga::compact::KeepUnused::No);
}

/// Workgroup memory of so many atomic words, and the type u32.
fn scratch(module: &mut Module, words: u32) -> (Handle<GlobalVariable>, Handle<Type>) {
    let mut add = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let u32 = add(TypeInner::Scalar(Scalar::U32));
    let base = add(TypeInner::Atomic(Scalar::U32));
    let size = ArraySize::Constant(NonZeroU32::new(words).unwrap_or(NonZeroU32::MIN));
    let ty = add(TypeInner::Array { base, size, stride: 4 });
    let variable = GlobalVariable {
        name: Some("lanescope_chunks".to_owned()),
        space: AddressSpace::WorkGroup,
        binding: None,
        ty,
        init: None,
        memory_decorations: MemoryDecorations::empty(),
    };
    (module.global_variables.append(variable, Span::UNDEFINED), u32)
}

/// What the function that sums refers to.
struct Names {
    scratch: Handle<GlobalVariable>,
    local_index: Handle<GlobalVariable>,
    add: Handle<Function>,
    u32: Handle<Type>,
    width: u32,
}

/// `lanescope_sum(word, trips)`: each invocation of the workgroup gives its trips; the first of each
/// chunk adds the most of its chunk to the counter at `word`, and the sum to the next.
fn sum_function(names: Names) -> Function {
    let Names { scratch, local_index, add, u32, width } = names;
    function("lanescope_sum", &["word", "trips"], u32, |builder, arguments| {
        let [word, trips] = *arguments else { return };
        let lane_index = builder.load(local_index);
        let width = builder.literal(width);
        let chunk = builder.binary(BinaryOperator::Divide, lane_index, width);
        let words = builder.literal(CHUNK_WORDS);
        let first = builder.binary(BinaryOperator::Multiply, chunk, words);
        let base = builder.plain(Expression::GlobalVariable(scratch));
        let mut pointers = Vec::new();
        for index in 0..CHUNK_WORDS {
            let index = builder.literal(index);
            let index = builder.binary(BinaryOperator::Add, first, index);
            pointers.push(builder.emit(Expression::Access { base, index }));
        }
        let mask = builder.literal(0xffff);
        let half = builder.literal(16);
        let low = builder.binary(BinaryOperator::And, trips, mask);
        let high = builder.binary(BinaryOperator::ShiftRight, trips, half);
        let given =
            [(AtomicFunction::Max, trips), (AtomicFunction::Add, low), (AtomicFunction::Add, high)];
        for (pointer, (fun, value)) in pointers.iter().zip(given) {
            let result = builder.plain(Expression::AtomicResult { ty: u32, comparison: false });
            let (pointer, result) = (*pointer, Some(result));
            builder.push(Statement::Atomic { pointer, fun, value, result });
        }
        builder.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
        let lane = builder.binary(BinaryOperator::Modulo, lane_index, width);
        let zero = builder.literal(0);
        let leads = builder.binary(BinaryOperator::Equal, lane, zero);
        builder.when(leads, |builder| add_up(builder, &pointers, word, add));
        // Nobody gives trips of the next block before the words are clear.
        builder.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
    })
}

/// Adds a chunk's three words to the counters, and clears them.
fn add_up(
    builder: &mut BodyBuilder<'_>,
    pointers: &[Handle<Expression>],
    word: Handle<Expression>,
    add: Handle<Function>,
) {
    let mut values = Vec::new();
    let zero = builder.literal(0);
    for pointer in pointers {
        values.push(builder.emit(Expression::Load { pointer: *pointer }));
        builder.push(Statement::Store { pointer: *pointer, value: zero });
    }
    let [most, low_sum, high_sum] = values[..] else { return };
    let half = builder.literal(16);
    let shifted = builder.binary(BinaryOperator::ShiftLeft, high_sum, half);
    let low = builder.binary(BinaryOperator::Add, low_sum, shifted);
    let wrapped = builder.binary(BinaryOperator::Less, low, low_sum);
    let carry = builder.number(wrapped);
    let upper = builder.binary(BinaryOperator::ShiftRight, high_sum, half);
    let high = builder.binary(BinaryOperator::Add, upper, carry);
    let any = builder.binary(BinaryOperator::NotEqual, most, zero);
    builder.when(any, |builder| {
        builder.call(add, vec![word, most, zero]);
        let two = builder.literal(2);
        let next = builder.binary(BinaryOperator::Add, word, two);
        builder.call(add, vec![next, low, high]);
    });
}
