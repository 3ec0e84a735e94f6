//! A device that counts everything twice, to find out whether it comes out the same.
//!
//! Input: another runner. Output: its first result, flagged [`DIFFERS`] where the second one has
//! other outputs or other counts. A race that comes out the same twice is not found.

use crate::kernel::Launch;
use crate::record::{Device, Trust};
use crate::run::{CountOptions, Counted, RunError, Runner, TimeOptions, Timed};

/// The flag of a launch whose two runs differ.
pub const DIFFERS: &str = "differs_between_runs";

/// Counts everything twice.
pub struct Twice {
    runner: Box<dyn Runner>,
    exact: bool,
}

impl std::fmt::Debug for Twice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Twice").field("device", self.runner.device()).finish()
    }
}

impl Twice {
    /// Counts twice on `runner`: executed, with histograms, where `exact` or where the self-test
    /// gave no reason to trust that lanes meet again, and on drivers for CPUs; otherwise derived.
    pub fn new(runner: Box<dyn Runner>, exact: bool) -> Self {
        Self { runner, exact }
    }
}

impl Runner for Twice {
    fn device(&self) -> &Device {
        self.runner.device()
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        let device = self.runner.device();
        // A CPU's time is not worth it: lavapipe loses derived counts of some partial subgroups.
        let exact = self.exact || device.trust != Some(Trust::Observed) || device.cpu_driver;
        let options = CountOptions { histogram: exact && options.histogram, derived: !exact };
        let mut first = self.runner.count(launch, &options)?;
        let second = self.runner.count(launch, &options)?;
        let same =
            first.outputs_sha256 == second.outputs_sha256 && first.dispatches == second.dispatches;
        if !same {
            first.flags.push(DIFFERS.to_owned());
        }
        Ok(first)
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
                counters: Vec::new(),
                outputs_shown: BTreeMap::new(),
                method: crate::record::IssuesMethod::Executed,
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
        let launch = crate::kernel::Catalogue::embedded().unwrap().select("uniform").unwrap()[0]
            .launch(crate::kernel::DeviceClass::Quick, &BTreeMap::new(), 1)
            .unwrap();
        let flags = |digests: [&'static str; 2]| {
            let device = SimulatorRunner::new(Width::new(4).unwrap(), 1).device().clone();
            let mut twice =
                Twice::new(Box::new(Scripted { device, digests: digests.into() }), true);
            twice.count(&launch, &CountOptions { histogram: true, derived: false }).unwrap().flags
        };
        assert!(flags(["a", "a"]).is_empty());
        assert_eq!(flags(["a", "b"]), [DIFFERS]);
    }
}
