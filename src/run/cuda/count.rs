//! Counting of launches on an open CUDA device.
//!
//! Input: a launch and a way of counting. Output: counts, outputs and verdicts. Each dispatch is
//! instrumented, translated and compiled once, however often it then runs.

use super::driver::Buffer;
use super::runner::{Buffers, CudaRunner, Grid, Work};
use crate::instrument::{Instrumented, Method, Options};
use crate::kernel::{Launch, Workgroups};
use crate::program::Program;
use crate::run::counting::{
    COUNTER_BYTES_MAX, Outputs, decoded, instrumented, known, method_recorded, verify,
};
use crate::run::measure::{outputs_sha256, outputs_shown, programs};
use crate::run::{Counted, CountedDispatch, RunError, RunErrorKind};
use crate::translate::WIDTH;
use crate::units::Width;

/// Counters of a counting module.
pub(super) struct Counting {
    pub(super) instrumented: Instrumented,
    pub(super) buffer: Buffer,
}

/// A launch made ready to be counted, more than once.
pub(super) struct Ready {
    buffers: Buffers,
    steps: Vec<(Work, Counting)>,
    method: Method,
    width: Width,
}

/// What a counted run found.
#[derive(PartialEq)]
pub(super) struct Found {
    dispatches: Vec<CountedDispatch>,
    outputs: Outputs,
}

impl CudaRunner {
    /// A program that counts, with its counters' buffer.
    pub(super) fn counting(
        &self,
        program: &Program,
        workgroups: &Workgroups,
        method: Method,
    ) -> Result<Counting, RunError> {
        let options = Options {
            method,
            subgroup_width_max: WIDTH,
            counter_bytes_max: COUNTER_BYTES_MAX,
            workgroups: known(workgroups),
        };
        let instrumented = instrumented(program, &options)?;
        let buffer = self.gpu().buffer(instrumented.counters().size)?;
        Ok(Counting { instrumented, buffer })
    }

    /// Compiles a launch's dispatches with counters and makes its buffers.
    pub(super) fn count_ready(&self, launch: &Launch, method: Method) -> Result<Ready, RunError> {
        let width = self.device.subgroup_width_run.ok_or_else(|| {
            let message = format!("the width that {} runs was not found", self.device.id);
            RunError::new(RunErrorKind::BadInput, message)
        })?;
        let buffers = self.buffers(launch)?;
        let mut steps = Vec::new();
        for (number, program) in programs(launch)?.iter().enumerate() {
            let workgroups = &launch.dispatches[number].workgroups;
            let counting = self.counting(program, workgroups, method)?;
            let work = self.work(launch, number, program, &buffers, Some(&counting))?;
            steps.push((work, counting));
        }
        Ok(Ready { buffers, steps, method, width })
    }

    /// Runs a launch with counters.
    pub(super) fn count_once(&self, launch: &Launch, ready: &Ready) -> Result<Found, RunError> {
        let mut dispatches = Vec::new();
        for (work, counting) in &ready.steps {
            let grid = self.grid(launch, &work.grid, &ready.buffers)?;
            self.run_once(work, grid, &format!("counting {}", launch.kernel))?;
            let bytes = self.gpu().read(&counting.buffer, 0, counting.buffer.size)?;
            let counts = decoded(&counting.instrumented, &bytes, ready.width)?;
            let workgroups = match work.grid {
                Grid::Direct(workgroups) => Some(workgroups),
                Grid::Indirect { .. } => None,
            };
            dispatches.push(CountedDispatch { workgroups, counts });
        }
        Ok(Found { dispatches, outputs: self.outputs(launch, &ready.buffers)? })
    }

    /// Puts everything back to where counting begins.
    pub(super) fn count_again(&self, launch: &Launch, ready: &Ready) -> Result<(), RunError> {
        for (_, counting) in &ready.steps {
            self.gpu().clear(&counting.buffer)?;
        }
        self.refill(launch, &ready.buffers)
    }

    /// What a counted run found, with its outputs checked.
    pub(super) fn concluded(
        &self,
        launch: &Launch,
        ready: &Ready,
        found: Found,
    ) -> Result<Counted, RunError> {
        let Found { dispatches, outputs } = found;
        Ok(Counted {
            answer_ns: None,
            counters: Vec::new(),
            width: Some(ready.width),
            method: method_recorded(ready.method),
            dispatches,
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags: Vec::new(),
        })
    }
}
