//! Arrays that say where rows begin.
//!
//! Input: a module, and what follows the contents of its buffers. Output: [`Rows`]: the arrays that hold
//! offsets, as of a sparse matrix, and the arrays whose elements are reached through them. It works
//! out no value; a name that it gives is a guess at what the host puts there.
//!
//! An array of integers holds offsets where one function reads it at i and at i + 1, and a
//! condition follows what it holds.

use std::collections::{BTreeMap, BTreeSet};

use naga::{
    BinaryOperator, Expression, Function, GlobalVariable, Handle, Literal, Module, ScalarKind,
    TypeInner,
};

use super::followed::Deciding;

/// The arrays of a program that hold rows, by the names of their variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Where rows begin, and where the last one ends.
    pub offsets: BTreeSet<String>,
    /// What stands in the rows.
    pub elements: BTreeSet<String>,
}

/// Finds the arrays that hold rows.
pub(super) fn find_rows(module: &Module, deciding: &BTreeMap<String, Deciding>) -> Rows {
    let functions = module.functions.iter().map(|(_, function)| function);
    let mut rows = Rows::default();
    for function in functions.chain([&module.entry_points[0].function]) {
        for (name, decided) in deciding.iter().filter(|(_, one)| !one.conditions.is_empty()) {
            if reads_pairs(module, function, name) {
                rows.offsets.insert(name.clone());
                rows.elements.extend(decided.arrays.iter().cloned());
            }
        }
    }
    let Rows { offsets, elements } = &mut rows;
    elements.retain(|name| !offsets.contains(name));
    rows
}

/// Whether a function reads an array of integers at i and at i + 1.
fn reads_pairs(module: &Module, function: &Function, name: &str) -> bool {
    let expressions = &function.expressions;
    let is_named = |global: Handle<GlobalVariable>| {
        let variable = &module.global_variables[global];
        variable.name.as_deref() == Some(name) && holds_integers(module, variable)
    };
    let indices: Vec<Handle<Expression>> = expressions
        .iter()
        .filter_map(|(_, expression)| {
            let Expression::Access { base, index } = *expression else { return None };
            let Expression::GlobalVariable(global) = expressions[base] else { return None };
            is_named(global).then_some(index)
        })
        .collect();
    let same = |a: Handle<Expression>, b: Handle<Expression>| {
        let variable = |handle| match expressions[handle] {
            Expression::Load { pointer } => Some(pointer),
            _ => None,
        };
        a == b || variable(a).is_some_and(|pointer| variable(b) == Some(pointer))
    };
    let is_one = |handle: Handle<Expression>| {
        matches!(
            expressions[handle],
            Expression::Literal(Literal::U32(1) | Literal::I32(1) | Literal::AbstractInt(1))
        )
    };
    indices.iter().any(|&index| {
        let Expression::Binary { op: BinaryOperator::Add, left, right } = expressions[index] else {
            return false;
        };
        let before = match (is_one(left), is_one(right)) {
            (_, true) => left,
            (true, _) => right,
            _ => return false,
        };
        indices.iter().any(|&other| same(other, before))
    })
}

fn holds_integers(module: &Module, variable: &GlobalVariable) -> bool {
    let TypeInner::Array { base, .. } = module.types[variable.ty].inner else { return false };
    let inner = &module.types[base].inner;
    matches!(
        inner,
        TypeInner::Scalar(scalar) if matches!(scalar.kind, ScalarKind::Uint | ScalarKind::Sint)
    )
}

#[cfg(test)]
mod tests {
    use crate::program::{Overrides, Parsed};

    /// The offsets and the elements of a shader with this body.
    fn rows(body: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> starts: array<u32>;
             @group(0) @binding(1) var<storage, read> columns: array<u32>;
             @group(0) @binding(2) var<storage, read> x: array<f32>;
             @group(0) @binding(3) var<storage, read_write> y: array<f32>;
             @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {{
                 var sum = 0.0;
                 {body}
                 y[id.x] = sum;
             }}"
        );
        let parsed = Parsed::new("t.wgsl", &text).unwrap();
        let found = parsed.resolve("main", &Overrides::new()).unwrap().find_rows();
        (found.offsets.into_iter().collect(), found.elements.into_iter().collect())
    }

    #[test]
    fn an_array_that_is_read_at_both_ends_of_a_loop_holds_offsets() {
        let expected = (vec!["starts".to_owned()], vec!["columns".to_owned(), "x".to_owned()]);
        let straight = "for (var j = starts[id.x]; j < starts[id.x + 1u]; j++) { \
                        sum += x[columns[j]]; }";
        assert_eq!(rows(straight), expected);
        let named = "let row = id.x; let first = starts[row]; let last = starts[1u + row]; \
                     for (var j = first; j < last; j++) { sum += x[columns[j]]; }";
        assert_eq!(rows(named), expected);
        let variable = "var row = id.x; row += 1u; let first = starts[row]; \
                        let last = starts[row + 1u]; var j = first; \
                        while j < last { sum += x[columns[j]]; j++; }";
        assert_eq!(rows(variable), expected);
    }

    #[test]
    fn a_stencil_and_a_difference_hold_none() {
        let none = (Vec::new(), Vec::new());
        assert_eq!(rows("sum = x[id.x] + x[id.x + 1u];"), none);
        assert_eq!(rows("sum = f32(starts[id.x + 1u] - starts[id.x]);"), none);
        assert_eq!(
            rows("for (var j = starts[id.x]; j < starts[id.x + 2u]; j++) { sum += 1.0; }"),
            none
        );
    }
}
