//! Counting of launches: kernels that count are run, dispatch by dispatch, and their counters read.
//!
//! Input: launches. Output: counts and verdicts. Nothing here is timed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::device::GpuRunner;
use super::launches::{Buffers, Counters, WIDTH_ASSUMED, written_by};
use super::{Gpu, Grid};
use crate::instrument::CounterScheme;
use crate::kernel::{KernelLanguage, Launch};
use crate::program::loops;
use crate::record::{self, Counter, Tag};
use crate::run::counting::{Outputs, decode, to_recorded, verify};
use crate::run::launched::{outputs_sha256, outputs_shown, programs};
use crate::run::{Checked, Counted, CountedDispatch, RunError, RunErrorKind};
use crate::units::Width;

/// A launch whose dispatches count: buffers, kernels and counters.
pub(super) struct Counting<G: Gpu> {
    buffers: Buffers<G::Buffer>,
    steps: Vec<(G::Kernel, Counters<G::Buffer>)>,
    /// The buffers that some dispatch may write.
    written: BTreeSet<String>,
    method: CounterScheme,
    width: Width,
}

/// What a counted run left behind.
pub(super) struct CountedRun {
    dispatches: Vec<CountedDispatch>,
    outputs: Outputs,
}

impl<G: Gpu> GpuRunner<G> {
    /// A launch made ready to be counted, more than once; `notice` is called for each dispatch before it is
    /// compiled.
    pub(super) fn prepare_counting(
        &self,
        launch: &Launch,
        method: CounterScheme,
        width: Width,
        notice: &mut dyn FnMut(),
    ) -> Result<Counting<G>, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let mut steps = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(programs.iter()) {
            notice();
            let counters = self.counters(program, &dispatch.workgroups, method)?;
            let kernel = self.kernel(launch, program, &buffers, Some(&counters))?;
            steps.push((kernel, counters));
        }
        Ok(Counting { buffers, steps, written: written_by(launch, &programs)?, method, width })
    }

    /// Runs the dispatches, whose buffers hold their first contents, and reads what they left behind;
    /// `notice` is called for each before it runs.
    pub(super) fn count_from_start(
        &self,
        launch: &Launch,
        counting: &Counting<G>,
        notice: &mut dyn FnMut(),
    ) -> Result<CountedRun, RunError> {
        let doing = format!("counting {}", launch.kernel);
        let programs = programs(launch)?;
        let mut dispatches = Vec::new();
        let steps = launch.dispatches.iter().zip(&counting.steps).zip(programs.iter());
        for ((dispatch, (kernel, counters)), program) in steps {
            notice();
            let grid = self.settle_grid(dispatch, &counting.buffers)?;
            self.gpu.run(&[(kernel, &grid)], &doing)?;
            let bytes = self.gpu.read(&counters.buffer, 0, self.gpu.size(&counters.buffer))?;
            let counts = decode(&counters.instrumented, &bytes, counting.width)?;
            let workgroups = dispatch.workgroups.direct();
            // Counts of a device that leaves loops by itself are held against what it may iterate.
            // Derived counting adds loops around them, whose turns no count tells.
            let executed = counting.method != CounterScheme::Derived;
            let limit = self.device.loop_limit.filter(|_| executed);
            let heads = limit.and_then(|_| loops::heads(program));
            let most = |heads: Vec<_>| counters.instrumented.most_in_a_stripe(&bytes, &heads);
            let iterations_max = heads.and_then(most);
            let sizes = workgroups.into_iter().flatten().chain(program.workgroup_size());
            let invocations = workgroups.map(|_| sizes.map(u64::from).product::<u64>());
            let begun = program.first_block().map(|block| counts[block.index()].lanes.0);
            let incomplete = self.device.loop_limit.is_some()
                && invocations.zip(begun).is_some_and(|(invocations, begun)| begun < invocations);
            let calls = Vec::new();
            dispatches.push(CountedDispatch {
                workgroups,
                counts,
                calls,
                iterations_max,
                incomplete,
            });
        }
        Ok(CountedRun { dispatches, outputs: self.outputs(launch, &counting.buffers)? })
    }

    /// Puts the first contents back where something may have been written, zeros into counters.
    pub(super) fn reset(&self, launch: &Launch, counting: &Counting<G>) -> Result<(), RunError> {
        for (_, counters) in &counting.steps {
            self.gpu.clear(&counters.buffer)?;
        }
        self.refill(launch, &counting.buffers, &counting.written)
    }

    /// What a counted run found, with its outputs checked.
    pub(super) fn finish_count(
        &self,
        launch: &Launch,
        counting: &Counting<G>,
        found: CountedRun,
    ) -> Result<Counted, RunError> {
        let CountedRun { dispatches, outputs } = found;
        let mut flags = Vec::new();
        // The width is the probe's: such a driver may have chosen another for this module.
        if self.width_varies() {
            flags.push(Tag::WidthNotKnownWhenCounted.into());
        }
        if self.device.subgroup_width_run.is_none() {
            flags.push(Tag::WidthAssumed.into());
        }
        Ok(Counted {
            answer_ns: None,
            trace: None,
            counters: Vec::new(),
            width: Some(counting.width),
            method: to_recorded(counting.method),
            dispatches,
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags,
        })
    }

    /// The width for which estimates are made.
    pub(super) fn find_estimated_width(&self) -> Result<Width, RunError> {
        let assumed = || Width::new(WIDTH_ASSUMED);
        let width = self.device.subgroup_width_run.map_or_else(assumed, Ok);
        width.map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))
    }

    /// Runs a launch without counters and checks its outputs: where there are no subgroups to count
    /// by, or no WGSL whose blocks could be counted. A refused cooperative dispatch runs nothing, and
    /// whether that is right is for the reference to say.
    pub(super) fn run_uncounted(&self, launch: &Launch) -> Result<Counted, RunError> {
        let native = launch.language() != KernelLanguage::Wgsl;
        let programs = if native { Arc::default() } else { programs(launch)? };
        let buffers = self.buffers(launch, &programs)?;
        let kernels = if native {
            self.gpu.compile_native(launch, &buffers)?
        } else {
            let kernel = |program| self.kernel(launch, program, &buffers, None);
            programs.iter().map(kernel).collect::<Result<_, _>>()?
        };
        let reason = if native { Tag::NoWgslToCount } else { Tag::NotCountedNoSubgroups };
        let mut flags = vec![reason.into()];
        let mut counters = Vec::new();
        for (dispatch, kernel) in launch.dispatches.iter().zip(&kernels) {
            let grid: Grid<G::Buffer> = self.settle_grid(dispatch, &buffers)?;
            let resident_max = self.gpu.resident_max(kernel)?;
            counters.extend(resident_max.map(resident_counter));
            match self.gpu.run(&[(kernel, &grid)], &format!("running {}", launch.kernel)) {
                Err(error) if resident_max.is_some() && error.kind == RunErrorKind::Unsupported => {
                    flags.push(Tag::CooperativeLaunchRefused.into());
                }
                other => other?,
            }
        }
        let outputs = self.outputs(launch, &buffers)?;
        let checked: Checked = verify(launch, &outputs)?;
        Ok(Counted {
            answer_ns: None,
            trace: None,
            counters,
            width: self.device.subgroup_width_run,
            method: record::Method::Executed,
            dispatches: Vec::new(),
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked,
            runtime_checks: !native && !launch.trusted,
            flags,
        })
    }
}

/// How many workgroups of a kernel the device holds at once, as a record keeps it.
pub(crate) fn resident_counter(resident_max: u32) -> Counter {
    Counter {
        name: "workgroups_resident_max".to_owned(),
        value: f64::from(resident_max),
        unit: "workgroups".to_owned(),
        description: "workgroups of this kernel that the whole device holds at once: \
                      cuOccupancyMaxActiveBlocksPerMultiprocessor times multiprocessors"
            .to_owned(),
    }
}
