//! Why invocations of a program may not change places.
//!
//! Input: a module with one entry point and the trees of its bodies. Output: what ties an invocation to
//! its workgroup or its lane. An invocation of a program without any of it does the same work
//! wherever it runs, so long as no other reads what it writes: that is seen when it runs. Nothing is
//! changed.

use std::collections::BTreeSet;

use naga::{AddressSpace, Binding, BuiltIn, Module};

use super::structure::Structure;
use super::visit::{Meeting, effect};
use super::walk::for_each_statement;

/// What ties an invocation to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fixed {
    /// A barrier, or a load that is one.
    Barrier,
    /// A variable that the workgroup shares.
    WorkgroupMemory,
    /// An operation over the lanes of a subgroup, or its number, size or lane.
    Subgroup,
    /// The workgroup's number, or an invocation's place in it: the same wherever it runs, but not in
    /// workgroups of another size.
    Workgroup,
    /// The number of workgroups: the same wherever it runs, but not where fewer are launched.
    WorkgroupCount,
}

/// Finds what ties the invocations of a module's entry point.
pub(super) fn find_fixed(module: &Module, structure: &Structure) -> BTreeSet<Fixed> {
    let mut found = BTreeSet::new();
    let shared = |variable: &naga::GlobalVariable| variable.space == AddressSpace::WorkGroup;
    if module.global_variables.iter().any(|(_, variable)| shared(variable)) {
        found.insert(Fixed::WorkgroupMemory);
    }
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        for_each_statement(body, &mut |statement, _| match effect(statement).synchronises {
            Some(Meeting::Barrier(_) | Meeting::UniformLoad) => {
                found.insert(Fixed::Barrier);
            }
            Some(Meeting::Subgroup) => {
                found.insert(Fixed::Subgroup);
            }
            Some(Meeting::MemoryOrder(_)) | None => {}
        });
    }
    for argument in &module.entry_points[0].function.arguments {
        let binding = argument.binding.as_ref();
        let members = match &module.types[argument.ty].inner {
            naga::TypeInner::Struct { members, .. } => members.as_slice(),
            _ => &[],
        };
        let bindings = binding.into_iter().chain(members.iter().filter_map(|m| m.binding.as_ref()));
        found.extend(bindings.filter_map(tie));
    }
    found
}

/// What a built-in value ties an invocation to.
fn tie(binding: &Binding) -> Option<Fixed> {
    let Binding::BuiltIn(builtin) = *binding else { return None };
    #[expect(clippy::wildcard_enum_match_arm, reason = "most built-ins are of other stages")]
    match builtin {
        BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId
        | BuiltIn::SubgroupSize
        | BuiltIn::SubgroupInvocationId => Some(Fixed::Subgroup),
        BuiltIn::LocalInvocationId
        | BuiltIn::LocalInvocationIndex
        | BuiltIn::WorkGroupId
        | BuiltIn::WorkGroupSize => Some(Fixed::Workgroup),
        BuiltIn::NumWorkGroups => Some(Fixed::WorkgroupCount),
        _ => None,
    }
}
