//! A device that counts a user's shader: in the way that it can be trusted with, and twice.
//!
//! Input: another runner, open. Output: its first result, counted as [`trust`] says after the parts
//! of the self-test that the shader needs, flagged [`DIFFERS`] where a second run has other outputs
//! or other counts, with the time that all of it took. A race that comes out the same twice is not
//! found.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::kernel::{Catalogue, Launch};
use crate::program::Construct;
use crate::record::{Device, Tag};
use crate::run::trust::{self, Counting};
use crate::run::{
    Collected, CountOptions, Counted, How, RunError, Runner, TimeOptions, Timed, self_test,
};
use crate::units::Nanoseconds;

/// Counts everything twice.
pub struct Twice {
    runner: Box<dyn Runner>,
    device: Device,
    counting: Option<Counting>,
    /// From when on the time of an answer runs: the device is open, or the last answer given.
    since: Instant,
}

impl std::fmt::Debug for Twice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Twice").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Twice {
    /// Takes a runner that was just opened, and runs the self-test's parts for `constructs` on it,
    /// the forms of control flow of what will be counted. Counts as asked for, or as can be trusted.
    ///
    /// # Errors
    ///
    /// What the self-test gives, where the device is not usable after it.
    pub fn new(
        mut runner: Box<dyn Runner>,
        catalogue: &Catalogue,
        constructs: &BTreeSet<Construct>,
        counting: Option<Counting>,
    ) -> Result<Self, RunError> {
        let since = now();
        let mut device = runner.device().clone();
        self_test::examine(&mut *runner, catalogue, constructs, &mut device)?;
        Ok(Self { runner, device, counting, since })
    }
}

/// The clock.
#[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
fn now() -> Instant {
    Instant::now()
}

impl Runner for Twice {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        let counting = match self.counting {
            Some(counting) => counting,
            None => trust::counting(&self.device, &trust::constructs(launch)?),
        };
        let how = match counting {
            Counting::Executed => {
                How::Counted(CountOptions { histogram: options.histogram, derived: false })
            }
            Counting::Derived => How::Counted(CountOptions { histogram: false, derived: true }),
            Counting::Estimated => How::Estimated,
        };
        let (mut first, same) = self.runner.count_twice(launch, how, &mut || {})?;
        if !same {
            first.flags.push(Tag::DiffersBetweenRuns.into());
        }
        let answered = now();
        first.answer_ns = Some(Nanoseconds((answered - self.since).as_secs_f64() * 1e9));
        self.since = answered;
        Ok(first)
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        self.runner.collect(launch)
    }

    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        self.runner.time(launches, options, notice)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::record::Output;
    use crate::run::Checked;
    use crate::run::simulator::SimulatorRunner;
    use crate::units::Width;

    /// Gives a digest a run, in turn.
    struct Scripted {
        device: Device,
        digests: Vec<&'static str>,
    }

    impl Runner for Scripted {
        fn device(&self) -> &Device {
            &self.device
        }

        fn count(&mut self, _: &Launch, _: &CountOptions) -> Result<Counted, RunError> {
            let digest = self.digests.remove(0).to_owned();
            Ok(Counted {
                answer_ns: None,
                counters: Vec::new(),
                outputs_shown: BTreeMap::new(),
                method: crate::record::Method::Executed,
                width: None,
                dispatches: Vec::new(),
                outputs_sha256: BTreeMap::from([("output".to_owned(), digest)]),
                checked: Checked { output: Output::Unchecked, mismatch: None },
                runtime_checks: true,
                flags: Vec::new(),
            })
        }

        fn time(
            &mut self,
            _: &[Launch],
            _: &TimeOptions,
            _: &mut dyn FnMut(usize),
        ) -> Vec<Result<Option<Timed>, RunError>> {
            Vec::new()
        }
    }

    #[test]
    fn runs_that_differ_are_flagged() {
        let launch = Catalogue::embedded().unwrap().select("uniform").unwrap()[0]
            .launch(crate::kernel::DeviceClass::Quick, &BTreeMap::new(), 1)
            .unwrap();
        let flags = |digests: [&'static str; 2]| {
            let device = SimulatorRunner::new(Width::new(4).unwrap(), 1).device().clone();
            let scripted = Box::new(Scripted { device, digests: digests.into() });
            let catalogue = Catalogue::embedded().unwrap();
            let none = BTreeSet::new();
            let exact = Some(Counting::Executed);
            let mut twice = Twice::new(scripted, &catalogue, &none, exact).unwrap();
            let options = CountOptions { histogram: true, derived: false };
            let counted = twice.count(&launch, &options).unwrap();
            assert!(counted.answer_ns.unwrap().0 > 0.0);
            counted.flags
        };
        assert!(flags(["a", "a"]).is_empty());
        assert_eq!(flags(["a", "b"]), [Tag::DiffersBetweenRuns.into()]);
    }
}
