//! What expressions and statements use.
//!
//! Input: an expression or a statement. Output: the expressions that it names, in order, each as
//! often as it is named. Bodies of branches and loops are not looked into, and what no back end of
//! lanescope's runs has no operands here.

use naga::{Arena, AtomicFunction, Expression, GatherMode, Handle, Statement};

/// Shows what an expression uses.
pub fn of_expression(expression: &Expression, seen: &mut dyn FnMut(Handle<Expression>)) {
    match *expression {
        Expression::Compose { ref components, .. } => components.iter().copied().for_each(seen),
        Expression::Access { base, index } => [base, index].into_iter().for_each(seen),
        Expression::AccessIndex { base, .. } => seen(base),
        Expression::Splat { value, .. } => seen(value),
        Expression::Swizzle { vector, .. } => seen(vector),
        Expression::Load { pointer } => seen(pointer),
        Expression::Unary { expr, .. } | Expression::As { expr, .. } => seen(expr),
        Expression::Binary { left, right, .. } => [left, right].into_iter().for_each(seen),
        Expression::Select { condition, accept, reject } => {
            [condition, accept, reject].into_iter().for_each(seen);
        }
        Expression::Relational { argument, .. } => seen(argument),
        Expression::Math { arg, arg1, arg2, arg3, .. } => {
            [Some(arg), arg1, arg2, arg3].into_iter().flatten().for_each(seen);
        }
        Expression::ArrayLength(pointer) => seen(pointer),
        // These have no operands, or are refused when they are compiled.
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Override(_)
        | Expression::ZeroValue(_)
        | Expression::FunctionArgument(_)
        | Expression::GlobalVariable(_)
        | Expression::LocalVariable(_)
        | Expression::ImageSample { .. }
        | Expression::ImageLoad { .. }
        | Expression::ImageQuery { .. }
        | Expression::Derivative { .. }
        | Expression::CallResult(_)
        | Expression::AtomicResult { .. }
        | Expression::WorkGroupUniformLoadResult { .. }
        | Expression::RayQueryVertexPositions { .. }
        | Expression::RayQueryProceedResult
        | Expression::RayQueryGetIntersection { .. }
        | Expression::SubgroupBallotResult
        | Expression::SubgroupOperationResult { .. }
        | Expression::CooperativeLoad { .. }
        | Expression::CooperativeMultiplyAdd { .. } => {}
    }
}

/// Shows what a statement uses, the operands of the expressions that it emits among it.
pub fn of_statement(
    expressions: &Arena<Expression>,
    statement: &Statement,
    seen: &mut dyn FnMut(Handle<Expression>),
) {
    match *statement {
        Statement::Emit(ref range) => {
            for handle in range.clone() {
                of_expression(&expressions[handle], seen);
            }
        }
        Statement::Return { value } => value.into_iter().for_each(seen),
        Statement::Store { pointer, value } => [pointer, value].into_iter().for_each(seen),
        Statement::Call { ref arguments, .. } => arguments.iter().copied().for_each(seen),
        Statement::WorkGroupUniformLoad { pointer, .. } => seen(pointer),
        Statement::Atomic { pointer, fun, value, .. } => {
            seen(pointer);
            seen(value);
            if let AtomicFunction::Exchange { compare: Some(expected) } = fun {
                seen(expected);
            }
        }
        Statement::SubgroupBallot { predicate, .. } => predicate.into_iter().for_each(seen),
        Statement::SubgroupGather { mode, argument, .. } => {
            seen(argument);
            match mode {
                GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => {}
                GatherMode::Broadcast(index)
                | GatherMode::Shuffle(index)
                | GatherMode::ShuffleDown(index)
                | GatherMode::ShuffleUp(index)
                | GatherMode::ShuffleXor(index)
                | GatherMode::QuadBroadcast(index) => seen(index),
            }
        }
        Statement::SubgroupCollectiveOperation { argument, .. } => seen(argument),
        // These use nothing, or are refused when they are compiled.
        Statement::Break
        | Statement::Continue
        | Statement::Kill
        | Statement::ControlBarrier(_)
        | Statement::MemoryBarrier(_)
        | Statement::Block(_)
        | Statement::If { .. }
        | Statement::Switch { .. }
        | Statement::Loop { .. }
        | Statement::ImageStore { .. }
        | Statement::ImageAtomic { .. }
        | Statement::RayQuery { .. }
        | Statement::RayPipelineFunction(_)
        | Statement::CooperativeStore { .. } => {}
    }
}
