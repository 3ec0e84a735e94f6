//! How long something took, and how far it is.
//!
//! Input: a beginning; workgroups that are to run, and that have run. Output: the time since, where there is a
//! clock: code for browsers has none of its own; the share that is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::units::approximate;

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

/// How far counting is, by workgroups, for whoever waits: it may be read on another thread.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<[AtomicU64; 2]>);

impl Progress {
    /// Begins anew: nothing is done, and nothing known that is to be done.
    pub(super) fn begin(&self) {
        self.0.iter().for_each(|number| number.store(0, Ordering::Relaxed));
    }

    /// Adds workgroups that are to run.
    pub(super) fn announce(&self, workgroups: u64) {
        let [_, all] = &*self.0;
        all.fetch_add(workgroups, Ordering::Relaxed);
    }

    /// Adds a workgroup that has run.
    pub(super) fn step(&self) {
        let [done, _] = &*self.0;
        done.fetch_add(1, Ordering::Relaxed);
    }

    /// The share of the workgroups that has run, between 0 and 1; `None` before the first has, and where more have
    /// than are known: what had to run again says nothing.
    pub fn share(&self) -> Option<f64> {
        let [done, all] = self.0.each_ref().map(|number| number.load(Ordering::Relaxed));
        (0 < done && done < all).then(|| approximate(done) / approximate(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_known_once_something_is_done_and_until_all_is() {
        let progress = Progress::default();
        let reader = progress.clone();
        progress.announce(3);
        progress.announce(1);
        let mut shares = vec![reader.share()];
        for _ in 0..4 {
            progress.step();
            shares.push(reader.share());
        }
        assert_eq!(shares, [None, Some(0.25), Some(0.5), Some(0.75), None]);
        progress.begin();
        progress.announce(2);
        assert_eq!(reader.share(), None);
    }
}
