//! One entry point of a parsed module, with values for its overrides.
//!
//! Input: a name and override values. Output: the program, compacted and validated anew, or which
//! value is missing or does not fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use naga::valid::ModuleInfo;
use naga::{Expression, Function, Handle, Module, ShaderStage, Type, TypeInner};

use super::error::ProgramError;
use super::overrides::{Override, Overrides};
use super::parsed::{Findings, Parsed, Program};
use super::reflect;
use super::structure;
use super::validate::{guard, reasons, validate};
use super::visit::for_each_effect;
use crate::units::text::{listed, number};

impl Parsed {
    /// Picks the compute entry point `name` and puts in override values.
    ///
    /// # Errors
    ///
    /// [`ProgramError::EntryPoint`] when there is none of that name, [`ProgramError::Overrides`]
    /// when a value is unknown or does not fit, [`ProgramError::OverridesMissing`] when there is
    /// none, [`ProgramError::Validate`] when the module
    /// is no longer valid with these values.
    pub fn resolve(&self, name: &str, overrides: &Overrides) -> Result<Program, ProgramError> {
        if let Some(given) = self.with_constants(overrides)? {
            return given.resolve(name, &Overrides::new());
        }
        let file = self.text.file();
        if !self.entry_points().contains(&name) {
            return Err(ProgramError::EntryPoint {
                file: file.to_owned(),
                name: name.to_owned(),
                known: listed(&self.entry_points()),
            });
        }
        // Then it has this entry point alone and no overrides, so that nothing in it changes.
        let whole = self.info.as_ref().filter(|_| is_all_reached(&self.module));
        let (module, info) = if let Some(info) = whole {
            self.constants(&self.module, overrides)?;
            (self.module.clone(), info.clone())
        } else {
            self.compacted(name, overrides)?
        };
        let structure = structure::analyse(&module, &info, &self.text);
        let (text, findings) = (Arc::clone(&self.text), Findings::default());
        Ok(Program { text, module, info, structure, findings })
    }

    /// The module of one entry point with values for its overrides, and naga's analysis of it.
    fn compacted(
        &self,
        name: &str,
        overrides: &Overrides,
    ) -> Result<(Module, ModuleInfo), ProgramError> {
        let file = self.text.file();
        let mut module = self.module.clone();
        module.entry_points.retain(|e| e.stage == ShaderStage::Compute && e.name == name);
        let module = guard(file, "resolved overrides of", || {
            naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
            let info = validate(&module, &self.text)?;
            let constants = self.constants(&module, overrides)?;
            naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
                .map(|(resolved, _)| resolved.into_owned())
                .map_err(|error| ProgramError::Overrides {
                    file: file.to_owned(),
                    message: reasons(&error),
                })
        })??;
        let info = validate(&module, &self.text)?;
        Ok((module, info))
    }

    /// The values by the keys that naga looks for, of the overrides that are left in `module`.
    ///
    /// Naga refuses a key that its module does not have, and each entry point may read some only.
    fn constants(
        &self,
        module: &Module,
        values: &Overrides,
    ) -> Result<naga::back::PipelineConstants, ProgramError> {
        let file = self.text.file().to_owned();
        let overrides = self.overrides();
        let mut given = BTreeMap::new();
        for (word, value) in values {
            let known =
                |o: &&Override| o.name == *word || o.id.is_some_and(|id| id.to_string() == *word);
            let Some(found) = overrides.iter().find(known) else {
                let names: Vec<&str> = overrides.iter().map(|o| o.name.as_str()).collect();
                let names = listed(&names);
                let message = format!("there is no override {word:?}; the shader has: {names}");
                return Err(ProgramError::Overrides { file, message });
            };
            if let Some(needed) = reflect::unfit(self.module(), &found.name, *value) {
                let (name, line) = (&found.name, found.line);
                let value = number(*value);
                let message = format!("`{name}` (line {line}) is {value}, and must be {needed}");
                return Err(ProgramError::Overrides { file, message });
            }
            given.insert(found.name.clone(), *value);
        }
        let left = |o: &&Override| {
            module.overrides.iter().any(|(_, left)| left.name.as_deref() == Some(o.name.as_str()))
        };
        let missing: Vec<&Override> = overrides
            .iter()
            .filter(left)
            .filter(|o| !o.has_default && !given.contains_key(&o.name))
            .collect();
        if let Some(first) = missing.first() {
            let names: Vec<String> =
                missing.iter().map(|o| format!("`{}` (line {})", o.name, o.line)).collect();
            let names = listed(&names);
            return Err(ProgramError::OverridesMissing { file, line: first.line, names });
        }
        let pairs = overrides.iter().filter(left).filter_map(|o| {
            let key = o.id.map_or_else(|| o.name.clone(), |id| id.to_string());
            Some((key, *given.get(&o.name)?))
        });
        Ok(pairs.collect())
    }
}

/// Whether compaction would drop nothing of a module of naga's WGSL front end: it has one entry point, no overrides, and
/// no function, variable or named type that this does not reach. All else that is unused the front end has dropped.
/// Compaction takes time with the square of the number of functions, this walk with the module's size.
fn is_all_reached(module: &Module) -> bool {
    let [entry] = &module.entry_points[..] else { return false };
    if !module.overrides.is_empty() {
        return false;
    }
    let reached = Reached::from_entry(module, &entry.function);
    let mut named = module.types.iter().filter(|(_, ty)| ty.name.is_some());
    reached.functions.iter().chain(&reached.variables).all(|is_reached| *is_reached)
        && named.all(|(handle, _)| reached.types[handle.index()])
}

/// What an entry point reaches, by index.
struct Reached {
    functions: Vec<bool>,
    variables: Vec<bool>,
    types: Vec<bool>,
}

impl Reached {
    fn from_entry(module: &Module, entry: &Function) -> Self {
        let mut reached = Self {
            functions: vec![false; module.functions.len()],
            variables: vec![false; module.global_variables.len()],
            types: vec![false; module.types.len()],
        };
        let mut pending = vec![entry];
        while let Some(function) = pending.pop() {
            reached.see_function(function);
            for_each_effect(&function.body, &mut |effect| {
                let Some(call) = effect.calls else { return };
                let is_reached = &mut reached.functions[call.function.index()];
                if !std::mem::replace(is_reached, true) {
                    pending.push(&module.functions[call.function]);
                }
            });
        }
        module.global_variables.iter().for_each(|(_, variable)| reached.see_type(variable.ty));
        module.constants.iter().for_each(|(_, constant)| reached.see_type(constant.ty));
        for (_, expression) in module.global_expressions.iter() {
            reached.see_expression(expression);
        }
        // A type names earlier ones alone.
        for (handle, ty) in module.types.iter().rev() {
            if reached.types[handle.index()] {
                inner_types(&ty.inner).into_iter().for_each(|inner| reached.see_type(inner));
            }
        }
        reached
    }

    fn see_function(&mut self, function: &Function) {
        let arguments = function.arguments.iter().map(|argument| argument.ty);
        let result = function.result.iter().map(|result| result.ty);
        let locals = function.local_variables.iter().map(|(_, variable)| variable.ty);
        arguments.chain(result).chain(locals).for_each(|ty| self.see_type(ty));
        for (_, expression) in function.expressions.iter() {
            self.see_expression(expression);
        }
    }

    fn see_expression(&mut self, expression: &Expression) {
        if let Expression::GlobalVariable(variable) = *expression {
            self.variables[variable.index()] = true;
        } else if let Expression::ZeroValue(ty)
        | Expression::Compose { ty, .. }
        | Expression::AtomicResult { ty, .. }
        | Expression::WorkGroupUniformLoadResult { ty }
        | Expression::SubgroupOperationResult { ty } = *expression
        {
            self.see_type(ty);
        }
    }

    fn see_type(&mut self, ty: Handle<Type>) {
        self.types[ty.index()] = true;
    }
}

/// The types that a type is made of.
fn inner_types(inner: &TypeInner) -> Vec<Handle<Type>> {
    if let TypeInner::Struct { members, .. } = inner {
        return members.iter().map(|member| member.ty).collect();
    }
    if let TypeInner::Array { base, .. }
    | TypeInner::BindingArray { base, .. }
    | TypeInner::Pointer { base, .. } = *inner
    {
        return vec![base];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "struct S { a: array<vec2u, 3>, b: atomic<u32> }
struct U { x: u32 }
@group(0) @binding(0) var<storage, read_write> v: array<S>;
var<workgroup> w: array<u32, 64>;
const n = 3u;
fn g(x: u32) -> u32 { if x > n { return 1u; } return x; }
fn f(p: ptr<function, u32>) -> U { return U(g(*p)); }
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    var x = i;
    w[i] = f(&x).x;
    workgroupBarrier();
    if w[i] > 2u { atomicAdd(&v[i].b, v[i].a[1].x); }
}
";

    #[test]
    fn what_is_reached_whole_is_as_naga_compacts_it() {
        let parsed = Parsed::new("t.wgsl", TEXT).unwrap();
        assert!(is_all_reached(&parsed.module));
        let mut compacted = parsed.module.clone();
        naga::compact::compact(&mut compacted, naga::compact::KeepUnused::No);
        assert_eq!(format!("{compacted:?}"), format!("{:?}", parsed.module));
        // What is not worked out again is the same.
        let program = parsed.resolve("main", &Overrides::new()).unwrap();
        let (module, info) = parsed.compacted("main", &Overrides::new()).unwrap();
        assert_eq!(format!("{:?}", program.module()), format!("{module:?}"));
        assert_eq!(format!("{:?}", program.info()), format!("{info:?}"));
    }

    #[test]
    fn what_is_not_reached_is_dropped() {
        let program = |text: &str| {
            let parsed = Parsed::new("t.wgsl", text).unwrap();
            let program = parsed.resolve("main", &Overrides::new()).unwrap();
            (is_all_reached(&parsed.module), format!("{:?}", program.module()))
        };
        let (_, whole) = program(TEXT);
        for more in [
            "fn h() {}",
            "var<private> p: u32;",
            "struct T { c: atomic<i32> }",
            "override o = 1u;",
            "@compute @workgroup_size(1) fn other() {}",
        ] {
            let (is_whole, dropped) = program(&format!("{TEXT}{more}"));
            assert!(!is_whole, "{more}");
            assert_eq!(dropped, whole, "{more}");
        }
    }
}
