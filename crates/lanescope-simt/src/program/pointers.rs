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
    match function.expressions[base(function, pointer)] {
        Expression::LocalVariable(handle) => Root::Local(handle),
        Expression::GlobalVariable(handle) => Root::Global(handle),
        _ => Root::Other,
    }
}

/// What a pointer begins at: a variable, an argument, or something that is no pointer.
pub(super) fn base(function: &Function, pointer: Handle<Expression>) -> Handle<Expression> {
    let mut at = pointer;
    while let Expression::Access { base, .. } | Expression::AccessIndex { base, .. } =
        function.expressions[at]
    {
        at = base;
    }
    at
}
