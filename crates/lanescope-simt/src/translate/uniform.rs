//! Which values are the same in all lanes of a mask.
//!
//! Input: an expression, and the loops that it stands in. Output: whether all lanes that come to it
//! together have the same value, as far as its form shows. Where a branch is on such a value they
//! stay together, so that nobody need vote on the mask, and CUDA's compiler can unroll the loop.
//!
//! The same are constants, lengths of arrays, what uniform buffers hold, built-in values that a
//! subgroup shares, *counters* of loops, and what is computed of those. A counter is a variable that
//! a loop's lanes have set to one value right before it (or that began with one), and that nothing
//! changes in it but the loop's `continuing`, by values that are the same, and outside of branches.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not known to be the same counts as different"
)]

use std::collections::{BTreeMap, BTreeSet};

use naga::{AddressSpace, BuiltIn, Expression, Function, Handle, LocalVariable, Statement};

use super::Writer;
use super::frame::{LoopCounter, Owner, TranslatedFunction};
use crate::program::operands::of_expression;
use crate::program::visit::{Written, effect};
use crate::program::walk::for_each_statement;
use crate::program::{Body, Node, Straight};

impl<'a> Writer<'a> {
    /// The counters of a loop, where `before` stands right before it.
    pub(super) fn counters(
        &self,
        frame: &TranslatedFunction<'a>,
        (body, continuing): (&Body, &Body),
        before: Option<&Node>,
    ) -> Vec<LoopCounter> {
        let mut inside = BTreeSet::new();
        for part in [body, continuing] {
            for_each_statement(part, &mut |statement, _| {
                if let Statement::Emit(range) = statement {
                    inside.extend(range.clone());
                }
            });
        }
        let changed = (changes(frame.function, body), changes(frame.function, continuing));
        let mut counters = Vec::new();
        for &variable in changed.1.keys().filter(|variable| !changed.0.contains_key(variable)) {
            let counter = LoopCounter { variable, inside: inside.clone() };
            let changes = changed.1[&variable];
            if self.begins_alike(frame, variable, changes, before)
                && self.stays_alike(frame, &counter, changes, continuing)
            {
                counters.push(counter);
            }
        }
        counters
    }

    /// Whether a variable has one value in all lanes that come to a loop with so many changes of it.
    fn begins_alike(
        &self,
        frame: &TranslatedFunction<'a>,
        wanted: Handle<LocalVariable>,
        changes: usize,
        before: Option<&Node>,
    ) -> bool {
        if let Some(Node::Straight(straight)) = before {
            let mut set = stores_in(straight);
            if let Some((place, value)) =
                set.rfind(|(place, _)| variable(frame.function, *place) == Some(wanted))
            {
                return self.whole(frame, place) && self.is_uniform(frame, value);
            }
        }
        // What it begins with is a constant, which it still is if this loop alone changes it, once.
        frame.in_no_loop() && frame.changes.get(&wanted) == Some(&changes)
    }

    /// Whether a loop with so many changes of a variable, all in its `continuing`, changes it in all
    /// of its lanes alike.
    fn stays_alike(
        &self,
        frame: &TranslatedFunction<'a>,
        counter: &LoopCounter,
        changes: usize,
        continuing: &Body,
    ) -> bool {
        let straight = continuing.nodes.iter().filter_map(|node| match node {
            Node::Straight(straight) => Some(straight),
            _ => None,
        });
        let changed: Vec<_> = straight
            .flat_map(stores_in)
            .filter(|(place, _)| variable(frame.function, *place) == Some(counter.variable))
            .collect();
        let mut known = BTreeMap::new();
        changed.len() == changes
            && changed.iter().all(|(place, value)| {
                self.whole(frame, *place) && self.same(frame, Some(counter), &mut known, *value)
            })
    }

    /// Whether a pointer leads to all of a local variable.
    fn whole(&self, frame: &TranslatedFunction<'a>, place: Handle<Expression>) -> bool {
        matches!(frame.function.expressions[place], Expression::LocalVariable(_))
    }

    /// Whether an expression is known to have one value in all lanes that come to it together.
    pub(super) fn is_uniform(
        &self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> bool {
        self.same(frame, None, &mut BTreeMap::new(), handle)
    }

    /// The same, where `more` counts too; `known` has what was asked before.
    fn same(
        &self,
        frame: &TranslatedFunction<'a>,
        more: Option<&LoopCounter>,
        known: &mut BTreeMap<Handle<Expression>, bool>,
        handle: Handle<Expression>,
    ) -> bool {
        if let Some(found) = known.get(&handle) {
            return *found;
        }
        let found = match frame.function.expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::ArrayLength(_) => true,
            Expression::FunctionArgument(number) => self.is_shared(frame, number, None),
            Expression::GlobalVariable(variable) => matches!(
                self.module.global_variables[variable].space,
                AddressSpace::Uniform | AddressSpace::Immediate
            ),
            Expression::AccessIndex { base, index } => match frame.function.expressions[base] {
                Expression::FunctionArgument(number) => self.is_shared(frame, number, Some(index)),
                _ => self.same(frame, more, known, base),
            },
            Expression::Load { pointer } => match frame.function.expressions[pointer] {
                Expression::LocalVariable(variable) => {
                    frame.counters.iter().chain(more).any(|counter| {
                        counter.variable == variable && counter.inside.contains(&handle)
                    })
                }
                _ => self.same(frame, more, known, pointer),
            },
            ref other @ (Expression::Access { .. }
            | Expression::Splat { .. }
            | Expression::Swizzle { .. }
            | Expression::Compose { .. }
            | Expression::Unary { .. }
            | Expression::As { .. }
            | Expression::Binary { .. }
            | Expression::Select { .. }
            | Expression::Math { .. }) => {
                let mut all = true;
                of_expression(other, &mut |operand| {
                    all = all && self.same(frame, more, known, operand);
                });
                all
            }
            _ => false,
        };
        known.insert(handle, found);
        found
    }

    /// Whether a subgroup's lanes share an argument of the entry point, or a member of one.
    fn is_shared(&self, frame: &TranslatedFunction<'a>, number: u32, member: Option<u32>) -> bool {
        if frame.owner != Owner::EntryPoint {
            return false;
        }
        let arguments = &self.module.entry_points[0].function.arguments;
        let Some(argument) = arguments.get(number as usize) else { return false };
        let binding = match (&argument.binding, member) {
            (Some(binding), _) => Some(binding),
            (None, Some(member)) => match self.module.types[argument.ty].inner {
                naga::TypeInner::Struct { ref members, .. } => {
                    members.get(member as usize).and_then(|member| member.binding.as_ref())
                }
                _ => None,
            },
            (None, None) => None,
        };
        matches!(
            binding,
            Some(naga::Binding::BuiltIn(
                BuiltIn::WorkGroupId
                    | BuiltIn::NumWorkGroups
                    | BuiltIn::WorkGroupSize
                    | BuiltIn::SubgroupSize
                    | BuiltIn::NumSubgroups
                    | BuiltIn::SubgroupId
            ))
        )
    }
}

/// How often the statements of a body change each local variable, or hand it to a function that may.
pub(super) fn changes(function: &Function, body: &Body) -> BTreeMap<Handle<LocalVariable>, usize> {
    let mut counts = BTreeMap::new();
    let mut change = |pointer| {
        if let Some(variable) = variable(function, pointer) {
            *counts.entry(variable).or_default() += 1;
        }
    };
    for_each_statement(body, &mut |statement, _| {
        let effect = effect(statement);
        effect.writes.into_iter().for_each(|write| change(write.pointer));
        let given = effect.calls.map_or(&[][..], |call| call.arguments);
        given.iter().copied().for_each(&mut change);
    });
    counts
}

/// The local variable that a pointer leads to, or into.
fn variable(function: &Function, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    match function.expressions[pointer] {
        Expression::LocalVariable(variable) => Some(variable),
        Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
            variable(function, base)
        }
        _ => None,
    }
}

/// A block's stores: where, and what.
fn stores_in(
    straight: &Straight,
) -> impl DoubleEndedIterator<Item = (Handle<Expression>, Handle<Expression>)> + use<'_> {
    straight.statements.iter().filter_map(|(statement, _)| {
        let write = effect(statement).writes?;
        match write.what {
            Written::Value(value) => Some((write.pointer, value)),
            Written::Updated | Written::Unknown => None,
        }
    })
}
