//! The end of an instrumented entry point: private variables become counters in memory.
//!
//! Input: a plan's variables. Output: statements. When they run, every lane has done its work.
//!
//! Executed counting takes nothing for granted: whoever arrives together sums what it has, and its
//! leader adds the sum; if lanes arrive in parts, each part adds its own. A loop goes through the
//! variables, because drivers that put a callee in each call's place take long over many of them.
//!
//! Derived counting takes reconvergence for granted: lane k of those that are there keeps the k-th
//! result, so that one memory instruction adds the results of up to [`CHUNK`] counters. Where few
//! enough invocations share a stripe it adds 16 bits a word, waits for no answer and carries nothing:
//! a subgroup that waits for memory at its end costs more than all of its counting.

use std::collections::BTreeMap;

use naga::{
    Arena, BinaryOperator, CollectiveOperation, Expression, Function, Handle, LocalVariable,
    MathFunction, Span, Statement, SubgroupOperation, SwitchCase, SwitchValue,
};

use super::context::{BodyBuilder, CounterContext, Globals, Types, function};
use super::plan::{Bits, Reduction};

/// Counters of derived counting that are added at a time.
const CHUNK: usize = 16;

/// `lanescope_flush(word, value)`: sums `value` over the lanes that are there and adds the sum.
pub(super) fn flush_function(types: &Types, globals: &Globals, add: Handle<Function>) -> Function {
    function("lanescope_flush", &["word", "value"], types.u32, |builder, arguments| {
        let [word, value] = *arguments else { return };
        let [low, high] = sum(builder, types, value);
        let leads = builder.leads(types, globals);
        let any = builder.binary(BinaryOperator::InclusiveOr, low, high);
        let zero = builder.literal(0);
        let some = builder.binary(BinaryOperator::NotEqual, any, zero);
        let adds = builder.binary(BinaryOperator::LogicalAnd, leads, some);
        builder.when(adds, |builder| builder.call(add, vec![word, low, high]));
    })
}

/// The lower and the upper 16 bits of a value.
fn halves(builder: &mut BodyBuilder<'_>, value: Handle<Expression>) -> [Handle<Expression>; 2] {
    let half = builder.literal(16);
    let mask = builder.literal(0xffff);
    let low = builder.binary(BinaryOperator::And, value, mask);
    [low, builder.binary(BinaryOperator::ShiftRight, value, half)]
}

/// The sum of a 32-bit value over the active lanes in 64 bits, low word first: taken in halves of
/// 16 bits, which 128 lanes cannot overflow.
fn sum(
    builder: &mut BodyBuilder<'_>,
    types: &Types,
    value: Handle<Expression>,
) -> [Handle<Expression>; 2] {
    let half = builder.literal(16);
    let [low_half, high_half] = halves(builder, value);
    let low_sum = builder.collective(SubgroupOperation::Add, low_half, types.u32);
    let high_sum = builder.collective(SubgroupOperation::Add, high_half, types.u32);
    let shifted = builder.binary(BinaryOperator::ShiftLeft, high_sum, half);
    let low = builder.binary(BinaryOperator::Add, low_sum, shifted);
    let wrapped = builder.binary(BinaryOperator::Less, low, low_sum);
    let carry = builder.number(wrapped);
    let upper = builder.binary(BinaryOperator::ShiftRight, high_sum, half);
    [low, builder.binary(BinaryOperator::Add, upper, carry)]
}

/// Adds what the plan says to its counters.
pub(super) fn flush_all(
    builder: &mut BodyBuilder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &CounterContext<'_>,
    rank: Option<Handle<Expression>>,
) {
    if context.plan.flushed.is_empty() {
    } else if context.plan.derived {
        flush_together(builder, locals, context, rank);
    } else {
        flush_in_a_loop(builder, locals, context);
    }
}

/// A new local variable of type u32, as a pointer.
fn local(
    builder: &mut BodyBuilder<'_>,
    locals: &mut Arena<LocalVariable>,
    types: &Types,
    name: &str,
) -> Handle<Expression> {
    let variable = LocalVariable { name: Some(name.to_owned()), ty: types.u32, init: None };
    let variable = locals.append(variable, Span::UNDEFINED);
    builder.plain(Expression::LocalVariable(variable))
}

/// Appends `loop { body } continuing { number += step; break if number >= end }`; `number` starts
/// where it stands.
fn count_loop(
    builder: &mut BodyBuilder<'_>,
    number: Handle<Expression>,
    step: Handle<Expression>,
    end: usize,
    body: impl FnOnce(&mut BodyBuilder<'_>),
) {
    let end = builder.literal(u32::try_from(end).unwrap_or(u32::MAX));
    let outer = std::mem::take(&mut builder.block);
    body(builder);
    let body = std::mem::take(&mut builder.block);
    let now = builder.emit(Expression::Load { pointer: number });
    let next = builder.binary(BinaryOperator::Add, now, step);
    builder.push(Statement::Store { pointer: number, value: next });
    let done = builder.binary(BinaryOperator::GreaterEqual, next, end);
    let continuing = std::mem::replace(&mut builder.block, outer);
    builder.push(Statement::Loop { body, continuing, break_if: Some(done) });
}

/// Executed counting: one sum an iteration.
fn flush_in_a_loop(
    builder: &mut BodyBuilder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &CounterContext<'_>,
) {
    let CounterContext { types, globals, flush, plan, .. } = context;
    let names = ["lanescope_number", "lanescope_word", "lanescope_value"];
    let [number, word, value] = names.map(|name| local(builder, locals, types, name));
    let zero = builder.literal(0);
    let one = builder.literal(1);
    builder.push(Statement::Store { pointer: number, value: zero });
    count_loop(builder, number, one, plan.flushed.len(), |builder| {
        let current = builder.emit(Expression::Load { pointer: number });
        let before = std::mem::take(&mut builder.block);
        let mut cases = Vec::new();
        for (index, (bits, _, item)) in (0_u32..).zip(&plan.flushed) {
            let at = builder.literal(plan.word(*item));
            builder.push(Statement::Store { pointer: word, value: at });
            let counted = builder.bits(globals, plan, bits);
            builder.push(Statement::Store { pointer: value, value: counted });
            let last = index as usize + 1 == plan.flushed.len();
            cases.push(SwitchCase {
                value: if last { SwitchValue::Default } else { SwitchValue::U32(index) },
                body: std::mem::take(&mut builder.block),
                fall_through: false,
            });
        }
        builder.block = before;
        builder.push(Statement::Switch { selector: current, cases });
        let at = builder.emit(Expression::Load { pointer: word });
        let counted = builder.emit(Expression::Load { pointer: value });
        builder.call(*flush, vec![at, counted]);
    });
}

/// What is added to a counter: a value for each of its words.
type Words = Vec<Handle<Expression>>;

/// Reduces one value over the lanes.
fn reduce(
    builder: &mut BodyBuilder<'_>,
    context: &CounterContext<'_>,
    (bits, reduction): (&Bits, Reduction),
    seen: &mut BTreeMap<Bits, Handle<Expression>>,
) -> Words {
    let CounterContext { types, globals, plan, .. } = context;
    let value = builder.bits(globals, plan, bits);
    let zero = builder.literal(0);
    match reduction {
        Reduction::Sum => {
            let halves = halves(builder, value);
            if plan.light {
                halves
                    .map(|half| builder.collective(SubgroupOperation::Add, half, types.u32))
                    .into()
            } else {
                sum(builder, types, value).into()
            }
        }
        Reduction::Max => {
            let most = builder.collective(SubgroupOperation::Max, value, types.u32);
            if plan.light { halves(builder, most).into() } else { vec![most, zero] }
        }
        Reduction::Lanes | Reduction::Any => {
            let lanes = *seen.entry(bits.clone()).or_insert_with(|| {
                let there = (*bits != Bits::One).then(|| builder.some(value));
                builder.lanes(there)
            });
            let one = builder.literal(1);
            let result = if reduction == Reduction::Lanes {
                lanes
            } else if *bits == Bits::One {
                one
            } else {
                builder.emit(Expression::Math {
                    fun: MathFunction::Min,
                    arg: lanes,
                    arg1: Some(one),
                    arg2: None,
                    arg3: None,
                })
            };
            if plan.light { vec![result] } else { vec![result, zero] }
        }
    }
}

/// Derived counting: reduce a chunk of values, then lane k adds the k-th.
fn flush_together(
    builder: &mut BodyBuilder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &CounterContext<'_>,
    rank: Option<Handle<Expression>>,
) {
    let CounterContext { types, globals, add, plan, .. } = context;
    let number = local(builder, locals, types, "lanescope_number");
    let one = builder.literal(1);
    let zero = builder.literal(0);
    let here = builder.lanes(None);
    let rank = rank.unwrap_or_else(|| {
        let rank = builder.plain(Expression::SubgroupOperationResult { ty: types.u32 });
        builder.push(Statement::SubgroupCollectiveOperation {
            op: SubgroupOperation::Add,
            collective_op: CollectiveOperation::ExclusiveScan,
            argument: one,
            result: rank,
        });
        rank
    });
    let mut seen = BTreeMap::from([(Bits::One, here)]);
    let mut word = 0;
    for chunk in plan.flushed.chunks(CHUNK) {
        let mut results = Vec::new();
        let first = word;
        for (bits, reduction, item) in chunk {
            debug_assert_eq!(plan.word(*item), word, "counters lie in the order of the flush");
            let words = reduce(builder, context, (bits, *reduction), &mut seen);
            word += plan.items[item.0 as usize].words();
            if plan.light {
                results.extend(words.into_iter().map(|word| [word, zero]));
            } else {
                results.extend(words.as_chunks::<2>().0);
            }
        }
        let stride = if plan.light { 1 } else { 2 };
        // The same number of iterations for every lane: one where there are lanes enough.
        builder.push(Statement::Store { pointer: number, value: rank });
        count_loop(builder, number, here, results.len(), |builder| {
            let current = builder.emit(Expression::Load { pointer: number });
            let mut mine = [zero; 2];
            for (index, result) in (0_u32..).zip(&results) {
                let index = builder.literal(index);
                let condition = builder.binary(BinaryOperator::Equal, current, index);
                for (kept, new) in mine.iter_mut().zip(result) {
                    *kept =
                        builder.emit(Expression::Select { condition, accept: *new, reject: *kept });
                }
            }
            let [low, high] = mine;
            let any = builder.binary(BinaryOperator::InclusiveOr, low, high);
            let some = builder.some(any);
            builder.when(some, |builder| {
                let stride = builder.literal(stride);
                let offset = builder.binary(BinaryOperator::Multiply, current, stride);
                let first = builder.literal(first);
                let word = builder.binary(BinaryOperator::Add, first, offset);
                if plan.light {
                    builder.add_to_word(globals, types, word, low);
                } else {
                    builder.call(*add, vec![word, low, high]);
                }
            });
        });
    }
}
