//! Errors at the edge: a chain of reasons and the exit code that it earns.
//!
//! Input: the typed errors of the modules. Output: [`Failure`], which `main` renders once.

use std::fmt::Display;
use std::process::ExitCode;

use crate::record::{Limit, LimitOf};
use crate::store::StoreError;
use crate::units::visible::visible_line;

/// The exit codes, as `docs/run.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done = 0,
    /// A check failed: outputs differ from the reference.
    CheckFailed = 1,
    /// Usage, or input that cannot be used.
    BadInput = 2,
    /// No such device, or none that works.
    NoDevice = 3,
    /// The driver reports what it does not do, or fails its self-test.
    DriverLies = 4,
    /// Part of the run failed; the rest is on disk.
    PartFailed = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error and the exit code that it earns.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The code.
    pub(crate) exit: Exit,
    /// The chain of reasons.
    pub(crate) error: anyhow::Error,
}

impl Failure {
    /// Input that cannot be used.
    pub(crate) fn bad_input(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::BadInput, error: error.into() }
    }

    /// A message of the command line's own.
    pub(crate) fn message(exit: Exit, message: impl Display) -> Self {
        Self { exit, error: anyhow::anyhow!("{message}") }
    }
}

/// What raises a limit, in words for the command line.
pub(crate) fn hint(limit: Limit) -> &'static str {
    match limit.which {
        LimitOf::Steps => "--steps raises it",
        LimitOf::Operations => "--operations raises it",
        LimitOf::MemoryBytes => "--memory-max raises it",
        LimitOf::SilenceSeconds => "--time-limit waits longer",
    }
}

/// Why something failed, with what raises the limit that it reached.
pub(crate) fn with_hint(why: &str, limit: Option<Limit>) -> String {
    match limit {
        Some(limit) => format!("{why} ({})", hint(limit)),
        None => why.to_owned(),
    }
}

/// What cannot be written to disk or to a pipe is the user's to mend: bad input.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::bad_input(error)
    }
}

/// The reasons of an error, outermost first; a reason that repeats its cause is said once. What a record says stays on
/// its line.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let of_record = cause.is::<StoreError>() || cause.is::<serde_json::Error>();
        let cause = cause.to_string();
        let cause = if of_record { visible_line(&cause) } else { cause.as_str().into() };
        if !text.contains(&*cause) {
            if !text.is_empty() {
                text += ": ";
            }
            text += &cause;
        }
    }
    text
}

/// Whether the reader of standard output went away, which is no failure of ours.
pub(crate) fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_says_stays_on_its_line() {
        let read =
            serde_json::from_str::<crate::record::Status>("\"x\\r\\nlanescope: it is whole\"");
        let text = chain(&anyhow::Error::new(read.expect_err("no status")));
        assert!(text.contains(r"`x\u000d\u000alanescope: it is whole`"), "{text}");
        // Messages of lanescope itself may have several.
        assert_eq!(chain(&anyhow::anyhow!("one\ntwo")), "one\ntwo");
    }
}
