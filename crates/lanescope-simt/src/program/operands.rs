//! What expressions and statements use.
//!
//! Input: an expression or a statement. Output: the expressions that it names, in order, each as
//! often as it is named. Bodies of branches and loops are not looked into, and expressions that no
//! back end of lanescope's runs have no operands here.

use naga::{Arena, Expression, Handle, ImageQuery, SampleLevel, Statement};

use super::visit::effect;

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
        Expression::ImageSample {
            image,
            sampler,
            gather: _,
            coordinate,
            array_index,
            // A constant.
            offset: _,
            level,
            depth_ref,
            clamp_to_edge: _,
        } => {
            let level = match level {
                SampleLevel::Auto | SampleLevel::Zero => [None, None],
                SampleLevel::Exact(level) | SampleLevel::Bias(level) => [Some(level), None],
                SampleLevel::Gradient { x, y } => [Some(x), Some(y)],
            };
            let rest = [array_index, level[0], level[1], depth_ref].into_iter().flatten();
            [image, sampler, coordinate].into_iter().chain(rest).for_each(seen);
        }
        Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
            let rest = [array_index, sample, level].into_iter().flatten();
            [image, coordinate].into_iter().chain(rest).for_each(seen);
        }
        Expression::ImageQuery { image, query } => {
            seen(image);
            if let ImageQuery::Size { level: Some(level) } = query {
                seen(level);
            }
        }
        // These have no operands, or are refused when they are compiled.
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Override(_)
        | Expression::ZeroValue(_)
        | Expression::FunctionArgument(_)
        | Expression::GlobalVariable(_)
        | Expression::LocalVariable(_)
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
    let effect = effect(statement);
    for handle in effect.emits.cloned().into_iter().flatten() {
        of_expression(&expressions[handle], seen);
    }
    effect.reads.into_iter().for_each(seen);
}
