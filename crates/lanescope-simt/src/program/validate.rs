//! naga's validator, and its panics as errors.
//!
//! Input: a module and its text. Output: naga's analysis, or its diagnostic at a place of the text.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use naga::valid::{
    Capabilities, EntryPointError, ModuleInfo, SubgroupOperationSet, ValidationFlags, Validator,
};
use naga::{Handle, Module};

use super::error::ProgramError;
use super::source::Text;
/// Why naga finds a module invalid, with the places.
type InvalidModule = naga::WithSpan<naga::valid::ValidationError>;

/// The elements of an array, where its type says how many: nothing for run-time arrays.
///
/// In workgroup memory the number may be an override's, to which the type still refers after
/// overrides are resolved.
pub fn array_length(module: &Module, size: naga::ArraySize) -> Option<u32> {
    match size.resolve(module.to_ctx()) {
        Ok(naga::proc::IndexableLength::Known(length)) => Some(length),
        Ok(naga::proc::IndexableLength::Dynamic) | Err(_) => None,
    }
}

/// Validates a module with everything allowed that some device can run.
///
/// # Errors
///
/// [`ProgramError::Validate`] with naga's diagnostic against the original text.
pub fn validate(module: &Module, text: &Text) -> Result<ModuleInfo, ProgramError> {
    run_validator(module, text, Capabilities::all())?.map_err(|error| refusal(*error, module, text))
}

/// The validator's verdict with its diagnostic against the original text.
pub(super) fn refusal(error: InvalidModule, module: &Module, text: &Text) -> ProgramError {
    ProgramError::Validate {
        file: text.file().to_owned(),
        diagnostic: with_place(error, module, text)
            .emit_to_string_with_path(text.original(), text.file()),
    }
}

/// Gives an error for which naga names no place the nearest that is known: the entry point, the type.
fn with_place(error: InvalidModule, module: &Module, text: &Text) -> InvalidModule {
    if error.spans().next().is_some() {
        return error;
    }
    let (span, what) = match error.as_inner() {
        naga::valid::ValidationError::EntryPoint { name, .. } => {
            (text.function_start(name).map(|start| span_of(start, 2)), "this entry point")
        }
        naga::valid::ValidationError::Layouter(wrong) => {
            (first_of_type(module, wrong.ty), "declared here")
        }
        _ => (None, ""),
    };
    match span {
        Some(span) => error.with_span(span, what),
        None => error,
    }
}

/// The invocations that naga lets a workgroup have in each direction.
const WORKGROUP_SIZE_MAX: u32 = 0x4000;

/// What naga says of a module that it refuses, or of overrides that it cannot put in, with its reasons.
pub(super) fn reasons(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(reason) = source {
        let message = reason.to_string();
        if !text.contains(&message) {
            text += ": ";
            text += &message;
        }
        source = reason.source();
    }
    let out_of_range = EntryPointError::OutOfRangeWorkgroupSize.to_string();
    if text.ends_with(&out_of_range) {
        text += &format!(" (1 to {WORKGROUP_SIZE_MAX} invocations in each direction)");
    }
    text
}

/// A place by its first byte and its length.
fn span_of(start: usize, length: usize) -> naga::Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    naga::Span::new(offset(start), offset(start + length))
}

/// Where a type is declared, else the first variable that has it.
fn first_of_type(module: &Module, ty: Handle<naga::Type>) -> Option<naga::Span> {
    let declared = module.types.get_span(ty);
    let variables = || {
        let mut variables = module.global_variables.iter();
        let found = variables.find(|(_, variable)| variable.ty == ty);
        found.map(|(handle, _)| module.global_variables.get_span(handle))
    };
    declared.is_defined().then_some(declared).or_else(variables)
}

/// naga's verdict on a module where only `capabilities` are allowed.
pub(super) fn run_validator(
    module: &Module,
    text: &Text,
    capabilities: Capabilities,
) -> Result<Result<ModuleInfo, Box<InvalidModule>>, ProgramError> {
    guard(text.file(), "validated", || {
        let mut validator = Validator::new(ValidationFlags::all(), capabilities);
        validator.subgroup_stages(naga::valid::ShaderStages::all());
        validator.subgroup_operations(SubgroupOperationSet::all());
        validator.validate(module).map_err(Box::new)
    })
}

/// Runs a stage of naga and turns a panic into an error.
///
/// # Errors
///
/// [`ProgramError::Panicked`] with the panic's message.
pub fn guard<T>(
    file: &str,
    stage: &'static str,
    work: impl FnOnce() -> T,
) -> Result<T, ProgramError> {
    catch_panic(work).map_err(|message| ProgramError::Panicked {
        file: file.to_owned(),
        stage,
        message,
    })
}

thread_local! {
    /// Whether a panic of this thread ends in [`catch_panic`].
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, and gives its panic's message.
///
/// # Errors
///
/// What the panic says.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    done.map_err(|panic| {
        let payload = panic.downcast_ref::<String>().map(String::as_str);
        payload.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
    })
}

/// Whether a panic of this thread becomes an error that says what the panic says: a panic hook then has nothing to
/// print.
pub fn panic_is_caught() -> bool {
    IS_CAUGHT.get()
}
