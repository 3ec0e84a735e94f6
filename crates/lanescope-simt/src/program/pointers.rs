//! Which variable a pointer leads to.
//!
//! Input: a function and an expression of it. Output: the variable that the expression points into,
//! however deep, where its own function says so: an argument that is a pointer may lead to any.
//! Nothing is worked out; indices do not matter.

use naga::{Expression, Function, GlobalVariable, Handle, LocalVariable};

/// What a pointer points into.
pub(super) enum Root {
    /// A variable of the function.
    Local(Handle<LocalVariable>),
    /// A variable of the module.
    Global(Handle<GlobalVariable>),
    /// An argument, or something that is no pointer.
    Other,
}

/// Follows a pointer to its variable.
pub(super) fn root(function: &Function, pointer: Handle<Expression>) -> Root {
    let mut at = pointer;
    loop {
        if let Expression::Access { base, .. } | Expression::AccessIndex { base, .. } =
            function.expressions[at]
        {
            at = base;
        } else if let Expression::LocalVariable(handle) = function.expressions[at] {
            return Root::Local(handle);
        } else if let Expression::GlobalVariable(handle) = function.expressions[at] {
            return Root::Global(handle);
        } else {
            return Root::Other;
        }
    }
}
