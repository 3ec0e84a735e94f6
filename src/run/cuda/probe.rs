//! The probes of `run::gpu` as this path compiles them.
//!
//! Input: nothing. Output: their C++, for which PTX is embedded. They are run by `run::gpu`.

use super::options::options;
use crate::run::gpu::probe::texts;
use crate::run::probes::program;
use crate::run::{RunError, RunErrorKind};
use crate::translate;

/// The C++ of every probe.
pub(super) fn sources() -> Result<Vec<String>, RunError> {
    let source = |text: String| {
        let program = program(&text)?;
        translate::cuda(program.module(), program.info(), program.text(), &options(true, true))
            .map(|translated| translated.source)
            .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))
    };
    texts().map(source).collect()
}
