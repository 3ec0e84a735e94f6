//! Counting of launches: pipelines that count are run, dispatch by dispatch, and their counters read.
//!
//! Input: launches. Output: counts and verdicts. Nothing here is timed.

use std::collections::BTreeSet;

use wgpu::Buffer;

use super::gpu::{Bound, Grid, Shader};
use super::launches::{Buffers, WIDTH_ASSUMED, counter_slot};
use super::runner::WgpuRunner;
use crate::instrument::{Instrumented, Method};
use crate::kernel::Launch;
use crate::record::{self, Tag};
use crate::run::counting::{Outputs, decoded, method_recorded, verify, written};
use crate::run::measure::{outputs_sha256, outputs_shown, programs};
use crate::run::{Counted, CountedDispatch, RunError, RunErrorKind};
use crate::units::Width;

/// A launch whose dispatches count: buffers, pipelines and counters.
pub(super) struct Counting {
    buffers: Buffers,
    steps: Vec<CountStep>,
    /// The buffers that some dispatch may write.
    written: BTreeSet<String>,
    width: Width,
}

/// A dispatch that counts.
struct CountStep {
    instrumented: Instrumented,
    counters: Buffer,
    bound: Bound,
    grid: Grid,
}

/// What a counted run left behind.
#[derive(PartialEq)]
pub(super) struct Found {
    dispatches: Vec<CountedDispatch>,
    outputs: Outputs,
}

impl Counting {
    /// Runs the dispatches and reads what they left behind; `notice` hears of each before it runs.
    pub(super) fn run(
        &self,
        runner: &WgpuRunner,
        launch: &Launch,
        notice: &mut dyn FnMut(),
    ) -> Result<Found, RunError> {
        let mut dispatches = Vec::new();
        for CountStep { instrumented, counters, bound, grid } in &self.steps {
            notice();
            runner.gpu.run(&format!("counting {}", launch.kernel), &[(bound, grid)])?;
            let bytes = runner.gpu.read(counters, instrumented.counters().size)?;
            let counts = decoded(instrumented, &bytes, self.width)?;
            let workgroups = match grid {
                Grid::Direct(workgroups) => Some(*workgroups),
                Grid::Indirect(..) => None,
            };
            dispatches.push(CountedDispatch { workgroups, counts });
        }
        let outputs = runner.outputs(launch, &self.buffers)?;
        Ok(Found { dispatches, outputs })
    }

    /// Puts the first contents back where something may have been written, zeros into counters.
    pub(super) fn reset(&self, runner: &WgpuRunner, launch: &Launch) {
        for buffer in launch.buffers.iter().filter(|b| self.written.contains(&b.name)) {
            let made = &self.buffers.buffers[&buffer.name];
            runner.gpu.queue.write_buffer(made, 0, &launch.contents(buffer));
        }
        let mut encoder = runner.gpu.device.create_command_encoder(&Default::default());
        for step in &self.steps {
            encoder.clear_buffer(&step.counters, 0, None);
        }
        runner.gpu.queue.submit([encoder.finish()]);
    }
}

impl WgpuRunner {
    /// Runs a launch without counters and checks its outputs.
    pub(super) fn uncounted(&self, launch: &Launch) -> Result<Counted, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let work = self.pipelines(launch, &programs, &buffers, None)?;
        let work: Vec<(&Bound, &Grid)> = work.iter().map(|(b, g)| (b, g)).collect();
        self.gpu.run(&format!("running {}", launch.kernel), &work)?;
        let outputs = self.outputs(launch, &buffers)?;
        Ok(Counted {
            answer_ns: None,
            counters: Vec::new(),
            width: None,
            method: record::Method::Executed,
            dispatches: Vec::new(),
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags: vec![Tag::NotCountedNoSubgroups.into()],
        })
    }

    /// The width for which estimates are made.
    pub(super) fn width_estimated(&self) -> Result<Width, RunError> {
        let assumed = || Width::new(WIDTH_ASSUMED);
        let width = self.device.subgroup_width_run.map_or_else(assumed, Ok);
        width.map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))
    }

    /// A launch made ready to be counted, more than once; `notice` hears of each dispatch before its
    /// pipeline is made.
    pub(super) fn count_ready(
        &self,
        launch: &Launch,
        method: Method,
        width: Width,
        notice: &mut dyn FnMut(),
    ) -> Result<Counting, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let mut steps = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(&programs) {
            notice();
            let (instrumented, counters) = self.counting(program, &dispatch.workgroups, method)?;
            let mut slots = buffers.slots(launch, program)?;
            slots.push(counter_slot(&instrumented, &counters));
            let shader = Shader {
                file: &launch.file,
                module: instrumented.module(),
                entry_point: &dispatch.entry_point,
                trusted: launch.trusted,
                zero_memory: launch.workgroup_memory_zeroed,
                immediates: &launch.immediates,
            };
            let bound = self.gpu.bind(&shader, &slots)?;
            let grid = buffers.grid(&dispatch.workgroups)?;
            steps.push(CountStep { instrumented, counters, bound, grid });
        }
        Ok(Counting { buffers, steps, written: written(&programs)?, width })
    }

    /// What a counted run found, with its outputs checked.
    pub(super) fn concluded(
        &self,
        launch: &Launch,
        method: Method,
        width: Width,
        found: Found,
    ) -> Result<Counted, RunError> {
        let Found { dispatches, outputs } = found;
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
            counters: Vec::new(),
            width: Some(width),
            method: method_recorded(method),
            dispatches,
            outputs_sha256: outputs_sha256(&outputs),
            outputs_shown: outputs_shown(launch, &outputs),
            checked: verify(launch, &outputs)?,
            runtime_checks: !launch.trusted,
            flags,
        })
    }
}
