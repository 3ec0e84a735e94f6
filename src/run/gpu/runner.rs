//! The runner of an open GPU: which launches are counted and timed, and when.
//!
//! Input: an open device behind [`Gpu`], what its interface says of it, and launches. Output: counts,
//! times and verdicts. The measured facts of the device come from `probe`, counts from `counted`,
//! times from `timed` and `stages`.

use super::Gpu;
use super::device::GpuRunner;
use super::probe;
use super::timed::Prepared;
use super::warm::WarmUp;
use crate::instrument::CounterScheme;
use crate::kernel::{KernelLanguage, Launch};
use crate::record::{Device, Gives, Tag};
use crate::run::back_end::WarmUpRule;
use crate::run::counting::{interrupted_error, method};
use crate::run::sampling::{Timer, sample_all};
use crate::run::{CountRequest, Counted, RunError, Runner, TimeOptions, Timed};
use crate::units::{Nanoseconds, Width};

impl<G: Gpu> GpuRunner<G> {
    /// Finds the width that a device runs, its loop limit and its timer; with `calibrate`, its rates and
    /// fusion too. `device` holds what its interface says of it.
    ///
    /// # Errors
    ///
    /// What the driver says where a probe fails.
    pub(in crate::run) fn probed(
        gpu: G,
        mut device: Device,
        calibrate: Option<WarmUpRule>,
    ) -> Result<Self, RunError> {
        if gpu.limits().subgroups {
            probe::width(&gpu, &mut device)?;
        } else {
            device.flags.push(Tag::NoSubgroups.into());
        }
        // Always, since no count of a loop that reached it goes unflagged.
        device.loop_limit = probe::loop_limit(&gpu)?;
        let timer = probe::timer(&gpu, &mut device)?;
        device.timestamp_quantum_ns = timer.map(|timer| Nanoseconds(timer.quantum_ns));
        device.gives = device.gives.map(|gives| Gives { times: timer.is_some(), ..gives });
        let mut runner = Self::unprobed(gpu, device);
        runner.timer = timer;
        if timer.is_some() && !runner.device.cpu_driver {
            let rule = calibrate.unwrap_or(WarmUpRule::Whole);
            runner.warm_up = Some(WarmUp::new(&runner.gpu, rule)?);
        }
        if calibrate.is_some() {
            runner.calibrate()?;
        }
        Ok(runner)
    }

    /// Measures rates and fusion, at a clock that is up.
    fn calibrate(&mut self) -> Result<(), RunError> {
        let Self { gpu, device, timer, warm_up, .. } = self;
        if let Some((warm_up, timer)) = warm_up.as_mut().zip(*timer) {
            warm_up.up(gpu, timer)?;
        }
        probe::calibrate(gpu, *timer, device)
    }

    /// How a launch is counted and at which width; `None` if there are no subgroups to count by, or
    /// no WGSL whose blocks could be counted.
    fn method(
        &self,
        launch: &Launch,
        request: &CountRequest,
    ) -> Result<Option<(CounterScheme, Width)>, RunError> {
        if launch.language() != KernelLanguage::Wgsl {
            return Ok(None);
        }
        let method = method(request);
        let width = match method {
            CounterScheme::Estimated => Some(self.find_estimated_width()?),
            CounterScheme::Executed | CounterScheme::Histogram | CounterScheme::Derived => {
                self.device.subgroup_width_run
            }
        };
        Ok(width.map(|width| (method, width)))
    }

    /// Makes launches ready to be timed; one that takes down the device sets `lost`.
    fn prepare_all(
        &self,
        launches: &[Launch],
        counting: Option<CounterScheme>,
        lost: &mut bool,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Prepared<G>, RunError>> {
        let mut all = Vec::new();
        for (index, launch) in launches.iter().enumerate() {
            notice(index);
            if !*lost && counting.is_none() {
                self.compile_plain(launches, index);
            }
            let prepared =
                if *lost { Err(interrupted_error()) } else { self.prepare(launch, counting) };
            *lost |= prepared.as_ref().is_err_and(|error| error.kind.ends_device());
            all.push(prepared);
        }
        all
    }

    /// Warms the device up.
    fn warm_up(&mut self, timer: Timer) {
        if let Some(warm_up) = &mut self.warm_up {
            // A device that fails here fails at its first sample too, which then says so.
            drop(warm_up.up(&self.gpu, timer));
        }
    }

    /// Whether the clock has moved since it was warmed up for a moment; a device that fails here says so
    /// elsewhere.
    fn clock_moved(&self, timer: Timer) -> bool {
        let asked = self.warm_up.as_ref().map(|warm_up| warm_up.has_moved(&self.gpu, timer));
        asked.and_then(Result::ok).unwrap_or(false)
    }
}

impl<G: Gpu> Runner for GpuRunner<G> {
    fn device(&self) -> &Device {
        &self.device
    }

    fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        self.announce_counting(launches, request);
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        self.compile_counting(launch, request, notice);
        let Some((method, width)) = self.method(launch, request)? else {
            return (0..request.runs).map(|_| self.run_uncounted(launch)).collect();
        };
        let counting = self.prepare_counting(launch, method, width, notice)?;
        let mut counted = Vec::new();
        for run in 0..request.runs {
            if run > 0 {
                self.reset(launch, &counting)?;
            }
            let found = self.count_from_start(launch, &counting, notice)?;
            counted.push(self.finish_count(launch, &counting, found)?);
        }
        Ok(counted)
    }

    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        let Some(timer) = self.timer else {
            return launches.iter().map(|_| Ok(None)).collect();
        };
        let mut lost = false;
        let mut prepared = self.prepare_all(launches, options.counting, &mut lost, notice);
        let repeatable: Vec<bool> = launches.iter().map(|launch| launch.repeatable).collect();
        if !lost {
            self.warm_up(timer);
        }
        let times = sample_all(timer, &repeatable, options, |index, repeats| {
            notice(index);
            match &mut prepared[index] {
                Ok(_) if lost => Err(interrupted_error()),
                Ok(prepared) => self.sample(timer, &launches[index], prepared, repeats),
                Err(error) => Err(error.clone()),
            }
        });
        // What counting takes is said without it.
        let moved = !lost && options.counting.is_none() && self.clock_moved(timer);
        let staged = self.time_stages(timer, launches, &prepared, times, &mut lost, notice);
        let mut results = Vec::new();
        for (index, (prepared, staged)) in prepared.iter().zip(staged).enumerate() {
            notice(index);
            let result = match (prepared, staged) {
                (Ok(prepared), _) if prepared.refused && !lost => Ok(None),
                (Ok(_), Ok(_)) if lost => Err(interrupted_error()),
                (Ok(prepared), Ok((time, dispatches))) => {
                    let timed = self.finish_time(&launches[index], prepared, time, dispatches);
                    timed.map(|mut timed| {
                        timed.flags.extend(moved.then(|| Tag::ClockMoved.into()));
                        Some(timed)
                    })
                }
                (_, Err(error)) => Err(error),
                (Err(error), _) => Err(error.clone()),
            };
            lost |= result.as_ref().is_err_and(|error| error.kind.ends_device());
            results.push(result);
        }
        results
    }
}
