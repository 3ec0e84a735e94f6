//! What the runners of GPUs share: how to count, and what to make of outputs.
//!
//! Input: requests and outputs. Output: methods, verdicts and errors. It runs nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, CountRequest, RunError, RunErrorKind, caught};
use crate::instrument::{Count, CounterScheme, InstrumentError, Instrumented, Options};
use crate::kernel::{Launch, reference};
use crate::program::{BoundTexture, Program};
use crate::record;
use crate::units::Width;

/// The most bytes that counters may take: the least that any device binds is 128 MiB.
pub(super) const COUNTER_BYTES_MAX: u64 = 16 << 20;

/// Output buffers' bytes by name.
pub(super) type Outputs = BTreeMap<String, Vec<u8>>;

/// Compares a launch's outputs with the reference.
pub(super) fn verify(launch: &Launch, outputs: &Outputs) -> Result<Checked, RunError> {
    reference::check(launch, outputs)
        .map(Checked::from)
        .map_err(|message| RunError::new(RunErrorKind::BadInput, message))
}

/// How to instrument.
pub(super) fn method(request: &CountRequest) -> CounterScheme {
    match (request.method, request.histogram) {
        (record::Method::Estimated, _) => CounterScheme::Estimated,
        (record::Method::Executed | record::Method::Derived, true) => CounterScheme::Histogram,
        (record::Method::Executed, false) => CounterScheme::Executed,
        (record::Method::Derived, false) => CounterScheme::Derived,
    }
}

/// What a record calls a method.
pub(super) fn to_recorded(method: CounterScheme) -> record::Method {
    match method {
        CounterScheme::Estimated => record::Method::Estimated,
        CounterScheme::Executed | CounterScheme::Histogram => record::Method::Executed,
        CounterScheme::Derived => record::Method::Derived,
    }
}

/// The counts in the counters' bytes, histograms cut to the width that ran.
pub(super) fn decode(
    instrumented: &Instrumented,
    bytes: &[u8],
    width: Width,
) -> Result<Vec<Count>, RunError> {
    let mut counts = instrumented.decode(bytes).ok_or_else(|| {
        RunError::new(
            RunErrorKind::Driver,
            "derived counts contradict one another: this device's lanes do not meet again where \
             they should; count each execution instead",
        )
    })?;
    for histogram in counts.iter_mut().filter_map(|count| count.histogram.as_mut()) {
        histogram.truncate(width.index());
    }
    Ok(counts)
}

/// A program instrumented for one dispatch.
pub(super) fn instrument(program: &Program, options: &Options) -> Result<Instrumented, RunError> {
    caught("instrumenter", program.text().file(), || {
        Instrumented::new(program, options).map_err(|error| match error {
            InstrumentError::Invalid(_) => RunError::new(RunErrorKind::Panicked, error.to_string()),
            InstrumentError::TooLarge { .. } => {
                RunError::new(RunErrorKind::Unsupported, error.to_string())
            }
        })
    })
}

/// The names of the buffers and textures that some of the programs may write.
pub(super) fn find_written(programs: &[Program]) -> Result<BTreeSet<String>, RunError> {
    let mut names = BTreeSet::new();
    for program in programs {
        let bound = program
            .bound()
            .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))?;
        names.extend(bound.buffers.into_iter().filter(|b| b.writable).map(|binding| binding.name));
        let textures = bound.textures.into_iter().filter(BoundTexture::is_writable);
        names.extend(textures.map(|texture| texture.name));
    }
    Ok(names)
}

/// What launches beside one that took down the device report.
pub(super) fn interrupted_error() -> RunError {
    RunError::new(RunErrorKind::Interrupted, "another launch took the device along")
}
