//! Along which axes of the grid an entry point tells its invocations apart.
//!
//! Input: a module and its entry point. Output: the last axis of `global_invocation_id` whose component it takes, from 1
//! for x; and how many elements a row has where y counts only as rows of a fixed length. What becomes of a vector that
//! is passed on whole is not followed.

use std::collections::{BTreeMap, HashSet};

use naga::{
    BinaryOperator, Binding, BuiltIn, EntryPoint, Expression, Handle, Literal, Module, TypeInner,
};

/// The last axis that is asked for, 1 to 3.
pub(super) fn last_axis(module: &Module, entry: &EntryPoint) -> u32 {
    let is_id = |binding: Option<&Binding>| {
        matches!(binding, Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)))
    };
    let function = &entry.function;
    let is_member = |base: Handle<Expression>, index: u32| {
        let Expression::FunctionArgument(argument) = function.expressions[base] else {
            return false;
        };
        let ty = function.arguments[argument as usize].ty;
        let TypeInner::Struct { ref members, .. } = module.types[ty].inner else { return false };
        members.get(index as usize).is_some_and(|member| is_id(member.binding.as_ref()))
    };
    // An expression comes after those that it is made of.
    let mut ids: HashSet<Handle<Expression>> = HashSet::new();
    let mut last = 0;
    for (handle, expression) in function.expressions.iter() {
        match *expression {
            Expression::FunctionArgument(argument)
                if is_id(function.arguments[argument as usize].binding.as_ref()) =>
            {
                ids.insert(handle);
            }
            Expression::As { expr, .. } if ids.contains(&expr) => {
                ids.insert(handle);
            }
            Expression::AccessIndex { base, index } if ids.contains(&base) => {
                last = last.max(index + 1);
            }
            Expression::AccessIndex { base, index } if is_member(base, index) => {
                ids.insert(handle);
            }
            Expression::Swizzle { size, vector, pattern } if ids.contains(&vector) => {
                let taken = pattern.iter().take(size as usize);
                last = taken.map(|component| *component as u32 + 1).fold(last, u32::max);
            }
            _ => {}
        }
    }
    last.clamp(1, 3)
}

/// The number that y is multiplied by wherever it is taken, before something is added: `y * 1024 + x`. `None`
/// where y is taken otherwise as well, or by several such numbers.
pub(super) fn row_length(module: &Module, entry: &EntryPoint) -> Option<u64> {
    let function = &entry.function;
    let is_y = |expression: &Expression| match *expression {
        Expression::AccessIndex { base, index: 1 } => match function.expressions[base] {
            Expression::FunctionArgument(argument) => {
                let binding = function.arguments[argument as usize].binding.as_ref();
                matches!(binding, Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)))
            }
            _ => false,
        },
        _ => false,
    };
    let constant = |handle: Handle<Expression>| match function.expressions[handle] {
        Expression::Literal(Literal::U32(value)) => Some(u64::from(value)),
        Expression::Constant(constant) => {
            match module.global_expressions[module.constants[constant].init] {
                Expression::Literal(Literal::U32(value)) => Some(u64::from(value)),
                _ => None,
            }
        }
        _ => None,
    };
    // y, and what it is multiplied by so far.
    let mut rows: BTreeMap<Handle<Expression>, u64> = BTreeMap::new();
    let mut lengths: HashSet<u64> = HashSet::new();
    for (handle, expression) in function.expressions.iter() {
        if is_y(expression) {
            rows.insert(handle, 1);
            continue;
        }
        if let Expression::Binary { op, left, right } = *expression {
            let row = rows.get(&left).zip(Some(right)).or_else(|| rows.get(&right).zip(Some(left)));
            let Some((length, other)) = row else { continue };
            match (op, constant(other)) {
                (BinaryOperator::Multiply, Some(factor)) => {
                    rows.insert(handle, length.checked_mul(factor)?);
                }
                (BinaryOperator::Add, _) => {
                    lengths.insert(*length);
                }
                _ => return None,
            }
            continue;
        }
        let mut other = false;
        super::operands::of_expression(expression, &mut |operand| {
            other |= rows.contains_key(&operand)
        });
        if other {
            return None;
        }
    }
    let mut lengths = lengths.into_iter();
    lengths.next().filter(|length| *length > 1 && lengths.next().is_none())
}
