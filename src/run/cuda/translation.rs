//! What is translated for this path, and how: shaders, and the probes of `run::gpu`.
//!
//! Input: shaders; of a launch whether it is trusted and its workgroup memory zeroed. Output: texts in CUDA C++. For
//! those of the probes PTX is embedded; they are run by `run::gpu`.

use crate::instrument::Instrumented;
use crate::kernel::Launch;
use crate::run::gpu::Shader;
use crate::run::gpu::probe::texts;
use crate::run::probes::program;
use crate::run::{RunError, RunErrorKind, caught};
use crate::translate::{self, Checks, Translated};

/// How kernels are translated.
fn options(trusted: bool, zero_memory: bool) -> translate::Options {
    let checks = if trusted { Checks::Unchecked } else { Checks::Checked };
    translate::Options { checks, zero_memory }
}

/// How a launch's kernels are translated.
pub(super) fn options_for(launch: &Launch) -> translate::Options {
    options(launch.trusted, launch.workgroup_memory_zeroed)
}

/// A shader in CUDA C++.
pub(super) fn translation(shader: &Shader<'_>) -> Result<Translated, RunError> {
    let options = options(shader.trusted, shader.zero_memory);
    caught("translation", shader.file(), || {
        let program = shader.program;
        let module = shader.counting.map_or(program.module(), Instrumented::module);
        let info = shader.counting.map_or(program.info(), Instrumented::info);
        translate::cuda(module, info, program.text(), &options)
            .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))
    })
}

/// The C++ of every probe.
pub(super) fn probes() -> Result<Vec<String>, RunError> {
    let source = |text: String| {
        let program = program(&text)?;
        translate::cuda(program.module(), program.info(), program.text(), &options(true, true))
            .map(|translated| translated.source)
            .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))
    };
    texts().map(source).collect()
}
