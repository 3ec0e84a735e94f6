//! How long something took.
//!
//! Input: a beginning. Output: the time since, where there is a clock: code for browsers has none of its
//! own.

use std::time::{Duration, Instant};

/// Measures a time from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
    pub fn start() -> Self {
        Self((!cfg!(target_family = "wasm")).then(Instant::now))
    }

    /// Time since; `None` if there is no clock.
    pub fn elapsed(self) -> Option<Duration> {
        self.0.map(|begun| begun.elapsed())
    }
}
