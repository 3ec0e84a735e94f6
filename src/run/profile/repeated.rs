//! A device that counts a user's shader: in the way that it can be trusted with, and twice.
//!
//! Input: another runner, open. Output: its first result, counted as [`trust`] says after the parts
//! of the self-test that the shader needs, flagged [`Tag::DiffersBetweenRuns`] where a second run has other outputs
//! or other counts, with the time that all of it took. A race that comes out the same twice is not
//! found.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::kernel::{Catalogue, Launch};
use crate::program::Construct;
use crate::record::{Device, Method, Tag};
use crate::run::{
    Collected, CountRequest, Counted, RunError, Runner, TimeOptions, Timed, self_test, trust,
};
use crate::units::Nanoseconds;

/// Counts everything twice.
pub struct RepeatedRunner {
    runner: Box<dyn Runner>,
    device: Device,
    /// The method that is asked for; `None` if it is [`trust`]'s to choose.
    method: Option<Method>,
    /// From when on the time of an answer runs: the device is open, or the last answer given.
    since: Instant,
}

impl std::fmt::Debug for RepeatedRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RepeatedRunner")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl RepeatedRunner {
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
        method: Option<Method>,
    ) -> Result<Self, RunError> {
        let since = now();
        let mut device = runner.device().clone();
        self_test::examine(&mut *runner, catalogue, constructs, &mut device)?;
        Ok(Self { runner, device, method, since })
    }
}

/// The clock.
#[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
fn now() -> Instant {
    Instant::now()
}

impl Runner for RepeatedRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let method = match self.method {
            Some(method) => method,
            None => trust::method(&self.device, &trust::constructs(launch)?),
        };
        let histogram = request.histogram && method == Method::Executed;
        let request = CountRequest { method, histogram, runs: 2, trace: true };
        let mut counted = self.runner.count(launch, &request, notice)?;
        let same = |pair: &[Counted]| {
            pair[0].outputs_sha256 == pair[1].outputs_sha256
                && pair[0].dispatches == pair[1].dispatches
        };
        let differs = !counted.windows(2).all(same);
        counted.truncate(1);
        let answered = now();
        for first in &mut counted {
            if differs {
                first.flags.push(Tag::DiffersBetweenRuns.into());
            }
            first.answer_ns = Some(Nanoseconds((answered - self.since).as_secs_f64() * 1e9));
        }
        self.since = answered;
        Ok(counted)
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        self.runner.collect(launch)
    }

    fn collect_code(&mut self, launch: &Launch) -> Option<Collected> {
        self.runner.collect_code(launch)
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

    /// Gives these digests, one a run.
    struct Scripted {
        device: Device,
        digests: Vec<&'static str>,
    }

    impl Runner for Scripted {
        fn device(&self) -> &Device {
            &self.device
        }

        fn count(
            &mut self,
            _: &Launch,
            request: &CountRequest,
            _: &mut dyn FnMut(),
        ) -> Result<Vec<Counted>, RunError> {
            assert_eq!(request.runs, 2);
            let counted = |digest: &str| Counted {
                answer_ns: None,
                trace: None,
                counters: Vec::new(),
                outputs_shown: BTreeMap::new(),
                method: Method::Executed,
                width: None,
                dispatches: Vec::new(),
                outputs_sha256: BTreeMap::from([("output".to_owned(), digest.to_owned())]),
                checked: Checked { output: Output::Unchecked, mismatch: None },
                runtime_checks: true,
                flags: Vec::new(),
            };
            Ok(self.digests.iter().map(|digest| counted(digest)).collect())
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
            let exact = Some(Method::Executed);
            let mut twice = RepeatedRunner::new(scripted, &catalogue, &none, exact).unwrap();
            let request = CountRequest::once(Method::Executed);
            let counted = twice.count_once(&launch, &request).unwrap();
            assert!(counted.answer_ns.unwrap().0 > 0.0);
            counted.flags
        };
        assert!(flags(["a", "a"]).is_empty());
        assert_eq!(flags(["a", "b"]), [Tag::DiffersBetweenRuns.into()]);
    }
}
