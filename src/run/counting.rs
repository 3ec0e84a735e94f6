//! What the runners of GPUs share: how to count, and what to make of outputs.
//!
//! Input: options and outputs. Output: methods, verdicts and errors. It runs nothing.

use std::collections::BTreeMap;

use super::{Checked, CountOptions, RunError, RunErrorKind};
use crate::instrument::Method;
use crate::kernel::{Launch, reference};
use crate::record::IssuesMethod;

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
pub(super) fn method(options: &CountOptions) -> Method {
    match (options.histogram, options.derived) {
        (true, _) => Method::Histogram,
        (false, true) => Method::Derived,
        (false, false) => Method::Executed,
    }
}

/// What a record calls a method.
pub(super) fn issues_method(method: Method) -> IssuesMethod {
    match method {
        Method::Executed | Method::Histogram => IssuesMethod::Executed,
        Method::Derived => IssuesMethod::Derived,
    }
}

/// What is said of derived counts that cannot be.
pub(super) fn contradicting() -> RunError {
    RunError::new(
        RunErrorKind::Driver,
        "derived counts contradict one another: this device's lanes do not meet again where they \
         should; count each execution with --exact",
    )
}

/// What launches beside one that took the device along are told.
pub(super) fn interrupted() -> RunError {
    RunError::new(RunErrorKind::Interrupted, "another launch took the device along")
}
