//! Along which axes of the grid an entry point tells its invocations apart.
//!
//! Input: a module and its entry point. Output: the last axis of `global_invocation_id` whose component it takes, from 1
//! for x. What becomes of a vector that is passed on whole is not followed.

use std::collections::HashSet;

use naga::{Binding, BuiltIn, EntryPoint, Expression, Handle, Module, TypeInner};

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
