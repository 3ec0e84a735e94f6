//! WGSL that every compiler of it takes, those of browsers among them.
//!
//! Input: a module that validates, plain or instrumented, without overrides. Output: [`Portable`],
//! its text and what its entry point is called there. Nothing is compiled: whether a compiler takes
//! the text, `tests/portable` asks Chromium. What WGSL lacks, `subgroupBarrier` say, goes out as it
//! is, and is refused there.
//!
//! naga's writer has naga's front end in mind, which asks for less than WGSL does. What is made
//! good, in the IR before the text is written where that is possible:
//!
//! | what naga writes | what goes out | where |
//! |---|---|---|
//! | no `enable subgroups;` | the line, where subgroups are used | text |
//! | no `diagnostic(off, subgroup_uniformity);` | the line, where the module has that | text |
//! | `subgroupBallot()` | `subgroupBallot(true)` | IR |
//! | `array<SIZE>`, for an array as long as an override says | `array<u32, 64>` | IR |
//! | f32's greatest value in decimal, which lies above it | `0x1.fffffep+127f` | text |
//! | `phase_1_` for an entry point `phase_1` | that; [`Portable::entry_point`] says so | – |
//!
//! The filter stands in a module whose text has it, or which counts by asking leaders
//! (`instrument`): a leader test stands wherever lanes part, by design.

use std::num::NonZeroU32;

use naga::diagnostic_filter::{
    DiagnosticFilter, DiagnosticFilterNode, FilterableTriggeringRule, Severity,
};
use naga::{
    Arena, ArraySize, Binding, Block, BuiltIn, Expression, Function, Handle, Literal, Module, Span,
    Statement, Type, TypeInner,
};

use super::error::{ProgramError, TargetLanguage};
use super::source::Text;
use super::validate::{array_length, guard, validate};
use super::visit::{Meeting, for_each_effect};

/// The rule by which WGSL refuses subgroup operations where lanes may have parted.
const SUBGROUP_UNIFORMITY: &str = "subgroup_uniformity";

/// How naga writes f32's greatest value, and how WGSL takes it.
const GREATEST: [&str; 2] = ["340282350000000000000000000000000000000f", "0x1.fffffep+127f"];

/// A module as WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portable {
    /// The text.
    pub text: String,
    /// What the entry point is called in it: a name that ends in a digit gets a `_` behind it.
    pub entry_point: String,
}

/// Writes a module of one compute entry point as WGSL; `text` is what messages refer to.
///
/// # Errors
///
/// What [`validate`] says, [`ProgramError::Emit`] where naga cannot write the module, and
/// [`ProgramError::Panicked`] where naga itself fails.
pub fn portable(module: &Module, text: &Text) -> Result<Portable, ProgramError> {
    let mut module = module.clone();
    size_arrays(&mut module);
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|e| &mut e.function)) {
        name_predicates(function);
    }
    let info = validate(&module, text)?;
    let flags = naga::back::wgsl::WriterFlags::empty();
    let written = guard(text.file(), "wrote WGSL for", || {
        naga::back::wgsl::write_string(&module, &info, flags)
    })?;
    let problem = |message: String| {
        let entry = module.entry_points.first().map(|e| e.name.clone()).unwrap_or_default();
        ProgramError::Emit {
            file: text.file().to_owned(),
            line: text.location(text.function_start(&entry).unwrap_or(0)).line,
            entry,
            language: TargetLanguage::Wgsl,
            message,
        }
    };
    let written = written.map_err(|error| problem(error.to_string()))?;
    let entry_point = entry_point(&written).map(str::to_owned);
    let entry_point = entry_point.ok_or_else(|| problem("no compute entry point".to_owned()))?;
    let mut header = String::new();
    if has_subgroups(&module) {
        header.push_str("enable subgroups;\n");
    }
    if let Some(severity) = severity(&module) {
        header.push_str(&format!("diagnostic({severity}, {SUBGROUP_UNIFORMITY});\n"));
    }
    let [naga, wgsl] = GREATEST;
    Ok(Portable { text: header + &written.replace(naga, wgsl), entry_point })
}

/// Notes in a module that its subgroup operations stand where lanes part, by design.
pub(crate) fn ignore_uniformity(module: &mut Module) {
    let inner = DiagnosticFilter {
        new_severity: Severity::Off,
        triggering_rule: FilterableTriggeringRule::Unknown(SUBGROUP_UNIFORMITY.into()),
    };
    let node = DiagnosticFilterNode { inner, parent: module.diagnostic_filter_leaf };
    let leaf = module.diagnostic_filters.append(node, Span::UNDEFINED);
    module.diagnostic_filter_leaf = Some(leaf);
}

/// What the module, or any part of it, makes of a break of the rule: the least severe that it says,
/// in WGSL's word for it.
fn severity(module: &Module) -> Option<&'static str> {
    let severities = module.diagnostic_filters.iter().filter_map(|(_, node)| {
        let DiagnosticFilter { new_severity, triggering_rule } = &node.inner;
        let about = match triggering_rule {
            FilterableTriggeringRule::Unknown(name) => &**name == SUBGROUP_UNIFORMITY,
            FilterableTriggeringRule::Standard(_) | FilterableTriggeringRule::User(_) => false,
        };
        about.then_some(*new_severity)
    });
    severities.min().map(|severity| match severity {
        Severity::Off => "off",
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    })
}

/// The name behind the attributes of the only entry point.
fn entry_point(written: &str) -> Option<&str> {
    let (_, entry) = written.rsplit_once("@compute")?;
    let (_, name) = entry.split_once("fn ")?;
    name.split_once('(').map(|(name, _)| name)
}

/// Gives each array whose length is an override's the length itself, then drops the overrides.
fn size_arrays(module: &mut Module) {
    let sized = |(handle, ty): (Handle<Type>, &Type)| match ty.inner {
        TypeInner::Array { base, size: size @ ArraySize::Pending(_), stride } => {
            let length = array_length(module, size).and_then(NonZeroU32::new)?;
            let inner = TypeInner::Array { base, size: ArraySize::Constant(length), stride };
            // The name, which is not written, tells it from an array that is there already.
            Some((handle, Type { name: Some(format!("sized_{}", handle.index())), inner }))
        }
        _ => None,
    };
    let sized: Vec<(Handle<Type>, Type)> = module.types.iter().filter_map(sized).collect();
    for (handle, ty) in sized {
        module.types.replace(handle, ty);
    }
    module.overrides = Arena::new();
}

/// Whether a module has what needs the extension: an operation, or a built-in value.
fn has_subgroups(module: &Module) -> bool {
    let functions = module.functions.iter().map(|(_, function)| function);
    if functions.chain(module.entry_points.iter().map(|e| &e.function)).any(exchanges) {
        return true;
    }
    let arguments = module.entry_points.iter().flat_map(|entry| &entry.function.arguments);
    let members = module.types.iter().filter_map(|(_, ty)| match &ty.inner {
        TypeInner::Struct { members, .. } => Some(members),
        _ => None,
    });
    let bindings = arguments.map(|argument| &argument.binding);
    bindings.chain(members.flatten().map(|member| &member.binding)).flatten().any(|binding| {
        matches!(
            binding,
            Binding::BuiltIn(
                BuiltIn::NumSubgroups
                    | BuiltIn::SubgroupId
                    | BuiltIn::SubgroupSize
                    | BuiltIn::SubgroupInvocationId
            )
        )
    })
}

/// Whether a function has subgroup operations.
fn exchanges(function: &Function) -> bool {
    let mut found = false;
    for_each_effect(&function.body, &mut |effect| {
        found |= effect.synchronises == Some(Meeting::Subgroup);
    });
    found
}

/// Gives every ballot of a function a predicate.
fn name_predicates(function: &mut Function) {
    let mut yes = None;
    for_each_ballot(&mut function.body, &mut |predicate| {
        predicate.get_or_insert_with(|| {
            *yes.get_or_insert_with(|| {
                let literal = Expression::Literal(Literal::Bool(true));
                function.expressions.append(literal, Span::UNDEFINED)
            })
        });
    });
}

/// Shows the predicate of every ballot of a block.
fn for_each_ballot(block: &mut Block, see: &mut dyn FnMut(&mut Option<Handle<Expression>>)) {
    for statement in block.iter_mut() {
        match statement {
            Statement::SubgroupBallot { predicate, .. } => see(predicate),
            Statement::Block(inner) => for_each_ballot(inner, see),
            Statement::If { accept, reject, .. } => {
                for_each_ballot(accept, see);
                for_each_ballot(reject, see);
            }
            Statement::Loop { body, continuing, .. } => {
                for_each_ballot(body, see);
                for_each_ballot(continuing, see);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| for_each_ballot(&mut case.body, see));
            }
            // `visit` says that no other statement holds any.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    fn written(text: &str, entry: &str) -> Portable {
        let program = Parsed::new("t.wgsl", text).unwrap().resolve(entry, &Overrides::new());
        let program = program.unwrap();
        portable(program.module(), program.text()).unwrap()
    }

    #[test]
    fn what_needs_no_subgroups_asks_for_none() {
        let Portable { text, entry_point } =
            written("@compute @workgroup_size(64) fn main() {}", "main");
        assert_eq!(entry_point, "main");
        assert!(!text.contains("enable") && !text.contains("diagnostic"), "{text}");
    }

    #[test]
    fn what_naga_writes_and_wgsl_does_not_take_is_made_good() {
        let Portable { text, entry_point } = written(
            "diagnostic(info, subgroup_uniformity);
             override SIZE: u32 = 6u;
             var<workgroup> long: array<f32, SIZE>;
             var<workgroup> longer: array<f32, 7>;
             var<workgroup> as_long: array<f32, 6>;
             @compute @workgroup_size(64)
             fn phase_1(@builtin(subgroup_size) width: u32) {
                 long[0] = -0x1.fffffep+127f;
                 longer[0] = f32(width);
                 as_long[0] = long[1];
             }",
            "phase_1",
        );
        let head = "enable subgroups;\ndiagnostic(info, subgroup_uniformity);\n";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(text.matches("array<f32, 6>").count(), 2, "{text}");
        assert!(text.contains("-0x1.fffffep+127f") && !text.contains("array<SIZE"), "{text}");
        assert!(text.contains(&format!("fn {entry_point}(")), "{text}");
        assert_ne!(entry_point, "phase_1", "naga puts something behind it");
    }

    #[test]
    fn ballots_have_a_predicate() {
        let Portable { text, .. } = written(
            "@group(0) @binding(0) var<storage, read_write> a: array<vec4<u32>>;
             @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
                 switch i {
                     case 0u: { a[0] = subgroupBallot(); }
                     default: { loop { a[1] += subgroupBallot(); break; } }
                 }
                 if (i > 3u) { a[2] = subgroupBallot(i > 4u); }
             }",
            "main",
        );
        assert!(text.starts_with("enable subgroups;\n"), "{text}");
        assert_eq!(text.matches("subgroupBallot(true)").count(), 2, "{text}");
        assert!(!text.contains("subgroupBallot()"), "{text}");
    }
}
