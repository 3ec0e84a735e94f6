//! Timing of launches: they are made ready once and sampled over and over, and what was timed is
//! checked.
//!
//! Input: launches. Output: samples, times and verdicts. Which launch is sampled next, and when to
//! stop, `run::sampling` decides.

use std::cell::Cell;

use wgpu::{Buffer, BufferUsages};

use super::gpu::{Bound, Grid, Sample};
use super::launches::Buffers;
use super::runner::WgpuRunner;
use crate::instrument::Method;
use crate::kernel::Launch;
use crate::program::Program;
use crate::record::{Tag, Time};
use crate::run::counting::{verify, written};
use crate::run::measure::programs;
use crate::run::sampling::{LONG_NS, Ticks, Timer};
use crate::run::{RunError, Timed};
use crate::units::Nanoseconds;

/// Buffers and pipelines of a launch.
pub(super) struct Ready {
    buffers: Buffers,
    /// What is not timed.
    setup: Vec<(Bound, Grid)>,
    pub(super) work: Vec<(Bound, Grid)>,
    /// First contents and the buffers that they are copied to before each sample: those that a
    /// launch writes which cannot be repeated on what it left behind.
    pub(super) resets: Vec<(Buffer, Buffer)>,
    /// Whether the launch has taken [`LONG_NS`] or more.
    pub(super) long: Cell<bool>,
}

impl WgpuRunner {
    /// A launch made ready to be timed.
    pub(super) fn ready(
        &self,
        launch: &Launch,
        counting: Option<Method>,
    ) -> Result<Ready, RunError> {
        let programs = programs(launch)?;
        let buffers = self.buffers(launch, &programs)?;
        let made = self.pipelines(launch, &programs, &buffers, counting)?;
        let (mut setup, mut work) = (Vec::new(), Vec::new());
        for (dispatch, made) in launch.dispatches.iter().zip(made) {
            if dispatch.setup { setup.push(made) } else { work.push(made) }
        }
        let mut ready = Ready { buffers, setup, work, resets: Vec::new(), long: Cell::new(false) };
        self.set_up(launch, &ready)?;
        if !launch.repeatable {
            ready.resets = self.first_contents(launch, &programs, &ready.buffers)?;
        }
        // CPU drivers compile a pipeline when it is first dispatched: no sample is to hold that, nor
        // the time that samples may take in all.
        let work: Vec<(&Bound, &Grid)> = ready.work.iter().map(|(b, g)| (b, g)).collect();
        self.gpu.run(&format!("running {} before it is timed", launch.kernel), &work)?;
        Ok(ready)
    }

    /// Copies of the buffers that a launch writes, as they are after what is not timed: each with the
    /// buffer that it is copied to before a sample.
    pub(super) fn first_contents(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &Buffers,
    ) -> Result<Vec<(Buffer, Buffer)>, RunError> {
        let mut resets = Vec::new();
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for name in written(programs)? {
            let Some(buffer) = buffers.buffers.get(&name) else { continue };
            let first = self.gpu.buffer(&name, BufferUsages::empty(), buffer.size());
            encoder.copy_buffer_to_buffer(buffer, 0, &first, 0, buffer.size());
            resets.push((first, buffer.clone()));
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.check(&format!("keeping the first contents of {}", launch.kernel))?;
        Ok(resets)
    }

    /// Runs the dispatches that are not timed.
    pub(super) fn set_up(&self, launch: &Launch, ready: &Ready) -> Result<(), RunError> {
        if ready.setup.is_empty() {
            return Ok(());
        }
        let work: Vec<(&Bound, &Grid)> = ready.setup.iter().map(|(b, g)| (b, g)).collect();
        self.gpu.run(&format!("setting up {}", launch.kernel), &work)
    }

    /// Takes one sample, right after as much of the same work without timestamps; a launch that has
    /// once taken long goes without.
    pub(super) fn sample(
        &self,
        launch: &Launch,
        ready: &Ready,
        repeats: u32,
    ) -> Result<Ticks, RunError> {
        let work: Vec<(&Bound, &Grid)> = ready.work.iter().map(|(b, g)| (b, g)).collect();
        let before = if ready.long.get() { 0 } else { repeats };
        let sample = Sample { work: &work, repeats, before, resets: &ready.resets };
        let ticks = self.gpu.run_timed(&format!("timing {}", launch.kernel), &sample)?;
        let long = |timer: Timer| timer.duration_ns(ticks) >= LONG_NS * f64::from(repeats);
        ready.long.set(ready.long.get() || self.timer.is_some_and(long));
        Ok(ticks)
    }

    /// What sampling gave, with the outputs checked.
    pub(super) fn timed(
        &self,
        launch: &Launch,
        ready: &Ready,
        time: Option<Time>,
        dispatch_median_ns: Vec<Option<Nanoseconds>>,
    ) -> Result<Timed, RunError> {
        let before = |time: Time| Time {
            dispatches_before_sample: Some(if ready.long.get() {
                0
            } else {
                time.dispatches_per_sample
            }),
            ..time
        };
        let time = time.map(before);
        let mut flags = Vec::new();
        if time.is_none() {
            flags.push(Tag::NoUsableSamples.into());
        }
        if time.as_ref().is_some_and(|time| !time.stop_rule_met) {
            flags.push(Tag::StopRuleNotMet.into());
        }
        if self.width_varies() {
            flags.push(Tag::WidthNotKnownWhenTimed.into());
        }
        let checked = verify(launch, &self.outputs(launch, &ready.buffers)?)?;
        Ok(Timed { time, dispatch_median_ns, checked, runtime_checks: !launch.trusted, flags })
    }

    /// Brings a GPU's clocks up.
    pub(super) fn warm_up(&mut self, timer: Timer) {
        if let Some(warmth) = &mut self.warmth {
            // A device that fails here fails at its first sample too, which then says so.
            drop(warmth.up(&self.gpu, timer));
        }
    }
}
