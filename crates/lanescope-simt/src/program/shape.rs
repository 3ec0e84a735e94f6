//! Whether what a program computes depends on the shape of its workgroups.
//!
//! Input: a program. Output: the first thing that says so, in words; or that nothing does, so that the
//! same invocations may be put into workgroups of another shape. It runs nothing.

use naga::{AddressSpace, Binding, BuiltIn, Module, TypeInner};

use super::Program;
use super::visit::{Meeting, for_each_effect};

impl Program {
    /// Why another shape of workgroup may compute something else, a clause; `None` where invocations
    /// know each other by their place in the whole grid alone.
    pub fn shape_dependence(&self) -> Option<&'static str> {
        let module = self.module();
        let in_workgroup = |space: AddressSpace| space == AddressSpace::WorkGroup;
        if module.global_variables.iter().any(|(_, variable)| in_workgroup(variable.space)) {
            return Some("it has workgroup memory");
        }
        meeting(module, self.entry_point()).or_else(|| builtin(module, self.entry_point()))
    }
}

/// Where lanes meet others of their workgroup or subgroup.
fn meeting(module: &Module, entry: &naga::EntryPoint) -> Option<&'static str> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let mut found = None;
    for function in functions.chain([&entry.function]) {
        for_each_effect(&function.body, &mut |effect| {
            let reason = match effect.synchronises {
                None => return,
                Some(Meeting::Barrier(_) | Meeting::MemoryOrder(_)) => "it has a barrier",
                Some(Meeting::UniformLoad) => "it has a workgroupUniformLoad",
                Some(Meeting::Subgroup) => "it has a subgroup operation",
            };
            found.get_or_insert(reason);
        });
    }
    found
}

/// A builtin that says where an invocation lies in its workgroup, or which one that is.
fn builtin(module: &Module, entry: &naga::EntryPoint) -> Option<&'static str> {
    let mut found = None;
    let mut see = |binding: Option<&Binding>| {
        let Some(Binding::BuiltIn(builtin)) = binding else { return };
        if *builtin != BuiltIn::GlobalInvocationId {
            found.get_or_insert(
                "it asks for a place in a workgroup, a workgroup's number or the width",
            );
        }
    };
    for argument in &entry.function.arguments {
        see(argument.binding.as_ref());
        if let TypeInner::Struct { members, .. } = &module.types[argument.ty].inner {
            members.iter().for_each(|member| see(member.binding.as_ref()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::program::{Overrides, Parsed};

    fn dependence(text: &str) -> Option<&'static str> {
        let parsed = Parsed::new("t.wgsl", text).unwrap();
        parsed.resolve("main", &Overrides::new()).unwrap().shape_dependence()
    }

    #[test]
    fn what_depends_on_the_shape_is_named() {
        let shader = |head: &str, arguments: &str, body: &str| {
            format!(
                "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n{head}\n\
                 @compute @workgroup_size(8, 8) fn main({arguments}) {{ {body} }}"
            )
        };
        let id = "@builtin(global_invocation_id) id: vec3u";
        assert_eq!(dependence(&shader("", id, "a[id.x] = id.y;")), None);
        let local = "@builtin(local_invocation_index) id: u32";
        let found = dependence(&shader("", local, "a[id] = 1u;")).unwrap();
        assert!(found.contains("place in a workgroup"), "{found}");
        let found = dependence(&shader("", id, "storageBarrier(); a[id.x] = 1u;")).unwrap();
        assert!(found.contains("barrier"), "{found}");
        let found = dependence(&shader("", id, "a[id.x] = subgroupAdd(id.y);")).unwrap();
        assert!(found.contains("subgroup operation"), "{found}");
        let memory = "var<workgroup> w: u32;";
        let found = dependence(&shader(memory, id, "w = 1u; a[id.x] = w;")).unwrap();
        assert!(found.contains("workgroup memory"), "{found}");
    }
}
