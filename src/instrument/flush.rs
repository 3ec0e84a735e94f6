//! The end of an instrumented entry point: private variables become counters in memory.
//!
//! Input: a plan's variables. Output: statements. When they run, every lane has done its work.
//!
//! Executed counting takes nothing for granted: whoever arrives together sums what it has, and its
//! leader adds the sum; if lanes arrive in parts, each part adds its own. A loop goes through the
//! variables, because drivers that put a callee in each call's place take long over many of them.
//!
//! Derived counting takes reconvergence for granted, and saves where subgroups are wide: lane k of
//! those that are there keeps the result for counter k, so that one memory instruction adds up to
//! [`CHUNK`] counters. Narrow subgroups, those of CPU drivers, take the loop: it compiles faster.

use naga::{
    Arena, BinaryOperator, CollectiveOperation, Expression, Function, Handle, LocalVariable, Span,
    Statement, SubgroupOperation, SwitchCase, SwitchValue,
};

use super::build::{Builder, Context, Globals, Types, function};
use super::plan::{Item, Reduction, Var};

/// Lanes from which on a subgroup is wide.
const WIDE: u32 = 32;

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

/// The sum of a 32-bit value over the active lanes in 64 bits, low word first: taken in halves of
/// 16 bits, which 128 lanes cannot overflow.
fn sum(
    builder: &mut Builder<'_>,
    types: &Types,
    value: Handle<Expression>,
) -> [Handle<Expression>; 2] {
    let half = builder.literal(16);
    let mask = builder.literal(0xffff);
    let low_half = builder.binary(BinaryOperator::And, value, mask);
    let high_half = builder.binary(BinaryOperator::ShiftRight, value, half);
    let low_sum = builder.collective(SubgroupOperation::Add, low_half, types.u32);
    let high_sum = builder.collective(SubgroupOperation::Add, high_half, types.u32);
    let shifted = builder.binary(BinaryOperator::ShiftLeft, high_sum, half);
    let low = builder.binary(BinaryOperator::Add, low_sum, shifted);
    let wrapped = builder.binary(BinaryOperator::Less, low, low_sum);
    let carry = builder.number(wrapped);
    let upper = builder.binary(BinaryOperator::ShiftRight, high_sum, half);
    [low, builder.binary(BinaryOperator::Add, upper, carry)]
}

/// How many different values other than zero the active lanes have: in each turn of a loop, the
/// lanes that have the first one's leave it.
pub(super) fn distinct(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    types: &Types,
    value: Handle<Expression>,
) -> Handle<Expression> {
    let turns = local(builder, locals, types, "lanescope_distinct");
    let kept = local(builder, locals, types, "lanescope_first");
    let zero = builder.literal(0);
    builder.push(Statement::Store { pointer: turns, value: zero });
    let there = builder.binary(BinaryOperator::NotEqual, value, zero);
    builder.when(there, |builder| {
        let outer = std::mem::take(&mut builder.block);
        let old = builder.emit(Expression::Load { pointer: turns });
        let one = builder.literal(1);
        let new = builder.binary(BinaryOperator::Add, old, one);
        builder.push(Statement::Store { pointer: turns, value: new });
        let first = builder.plain(Expression::SubgroupOperationResult { ty: types.u32 });
        let mode = naga::GatherMode::BroadcastFirst;
        builder.push(Statement::SubgroupGather { mode, argument: value, result: first });
        // What a body computes is not in scope in `continuing` everywhere.
        builder.push(Statement::Store { pointer: kept, value: first });
        let body = std::mem::take(&mut builder.block);
        let first = builder.emit(Expression::Load { pointer: kept });
        let done = builder.binary(BinaryOperator::Equal, value, first);
        let continuing = std::mem::replace(&mut builder.block, outer);
        builder.push(Statement::Loop { body, continuing, break_if: Some(done) });
    });
    let turns = builder.emit(Expression::Load { pointer: turns });
    builder.collective(SubgroupOperation::Max, turns, types.u32)
}

/// Adds every variable of the plan to its counter.
pub(super) fn flush_all(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &Context<'_>,
) {
    let flushed = &context.plan.flushed;
    if flushed.is_empty() {
    } else if context.plan.derived && context.width_max >= WIDE {
        flush_together(builder, locals, context);
    } else {
        flush_in_a_loop(builder, locals, context, flushed);
    }
}

/// A new local variable of type u32, as a pointer.
fn local(
    builder: &mut Builder<'_>,
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
    builder: &mut Builder<'_>,
    number: Handle<Expression>,
    step: Handle<Expression>,
    end: usize,
    body: impl FnOnce(&mut Builder<'_>),
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

/// One variable a turn: executed counting, and derived counting of narrow subgroups.
fn flush_in_a_loop(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &Context<'_>,
    flushed: &[(Var, Reduction, Item)],
) {
    let Context { types, globals, flush, .. } = context;
    let names = ["lanescope_number", "lanescope_word", "lanescope_value", "lanescope_reduction"];
    let [number, word, value, kind] = names.map(|name| local(builder, locals, types, name));
    let only_sums = flushed.iter().all(|(_, reduction, _)| *reduction == Reduction::Sum);
    let zero = builder.literal(0);
    let one = builder.literal(1);
    builder.push(Statement::Store { pointer: number, value: zero });
    count_loop(builder, number, one, flushed.len(), |builder| {
        let current = builder.emit(Expression::Load { pointer: number });
        let before = std::mem::take(&mut builder.block);
        let mut cases = Vec::new();
        for (index, (var, reduction, item)) in (0_u32..).zip(flushed) {
            let at = builder.literal(item.0 * 2);
            builder.push(Statement::Store { pointer: word, value: at });
            let counted = builder.load(globals.vars[var.0]);
            builder.push(Statement::Store { pointer: value, value: counted });
            if !only_sums {
                let reduction = builder.literal(*reduction as u32);
                builder.push(Statement::Store { pointer: kind, value: reduction });
            }
            let last = index as usize + 1 == flushed.len();
            cases.push(SwitchCase {
                value: if last { SwitchValue::Default } else { SwitchValue::U32(index) },
                body: std::mem::take(&mut builder.block),
                fall_through: false,
            });
        }
        builder.block = before;
        builder.push(Statement::Switch { selector: current, cases });
        let at = builder.emit(Expression::Load { pointer: word });
        let mut counted = builder.emit(Expression::Load { pointer: value });
        if !only_sums {
            counted = one_for_all(builder, locals, context, kind, counted);
        }
        builder.call(*flush, vec![at, counted]);
    });
}

/// A value whose sum over the lanes is what the reduction `kind` says of theirs.
fn one_for_all(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &Context<'_>,
    kind: Handle<Expression>,
    value: Handle<Expression>,
) -> Handle<Expression> {
    let Context { types, globals, .. } = context;
    let zero = builder.literal(0);
    let leads = builder.leads(types, globals);
    let most = builder.collective(SubgroupOperation::Max, value, types.u32);
    let different = distinct(builder, locals, types, value);
    let there = builder.binary(BinaryOperator::NotEqual, value, zero);
    let there = builder.number(there);
    let mut by_leader =
        |accept| builder.emit(Expression::Select { condition: leads, accept, reject: zero });
    let (most, different) = (by_leader(most), by_leader(different));
    let kind = builder.emit(Expression::Load { pointer: kind });
    let mut result = value;
    for (reduction, accept) in
        [(Reduction::Max, most), (Reduction::Distinct, different), (Reduction::Present, there)]
    {
        let number = builder.literal(reduction as u32);
        let condition = builder.binary(BinaryOperator::Equal, kind, number);
        result = builder.emit(Expression::Select { condition, accept, reject: result });
    }
    result
}

/// Derived counting: reduce a chunk of variables, then lane k adds the result of the k-th.
fn flush_together(
    builder: &mut Builder<'_>,
    locals: &mut Arena<LocalVariable>,
    context: &Context<'_>,
) {
    let Context { types, globals, add, plan, .. } = context;
    let number = local(builder, locals, types, "lanescope_number");
    let one = builder.literal(1);
    let zero = builder.literal(0);
    let here = builder.lanes();
    let rank = builder.plain(Expression::SubgroupOperationResult { ty: types.u32 });
    builder.push(Statement::SubgroupCollectiveOperation {
        op: SubgroupOperation::Add,
        collective_op: CollectiveOperation::ExclusiveScan,
        argument: one,
        result: rank,
    });
    for chunk in plan.flushed.chunks(CHUNK) {
        let mut results = Vec::new();
        for (var, reduction, item) in chunk {
            let value = builder.load(globals.vars[var.0]);
            let [low, high] = match reduction {
                Reduction::Sum => sum(builder, types, value),
                Reduction::Max => {
                    [builder.collective(SubgroupOperation::Max, value, types.u32), zero]
                }
                Reduction::Distinct => [distinct(builder, locals, types, value), zero],
                Reduction::Present => {
                    let there = builder.binary(BinaryOperator::NotEqual, value, zero);
                    let one = builder.number(there);
                    [builder.collective(SubgroupOperation::Add, one, types.u32), zero]
                }
            };
            let word = builder.literal(item.0 * 2);
            results.push([word, low, high]);
        }
        // The same number of turns for every lane: one where there are lanes enough.
        builder.push(Statement::Store { pointer: number, value: zero });
        count_loop(builder, number, here, chunk.len(), |builder| {
            let from = builder.emit(Expression::Load { pointer: number });
            let current = builder.binary(BinaryOperator::Add, from, rank);
            let mut mine = [zero; 3];
            for (index, result) in (0_u32..).zip(&results) {
                let index = builder.literal(index);
                let condition = builder.binary(BinaryOperator::Equal, current, index);
                for (kept, new) in mine.iter_mut().zip(result) {
                    *kept =
                        builder.emit(Expression::Select { condition, accept: *new, reject: *kept });
                }
            }
            let [word, low, high] = mine;
            let any = builder.binary(BinaryOperator::InclusiveOr, low, high);
            let some = builder.binary(BinaryOperator::NotEqual, any, zero);
            builder.when(some, |builder| builder.call(*add, vec![word, low, high]));
        });
    }
}
