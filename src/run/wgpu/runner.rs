//! The runner of an open adapter: what it says of itself, and which launches are counted and timed.
//!
//! Input: launches. Output: counts, times and verdicts. The measured facts of the device come from
//! `probe`, counts from `counted`, times from `timed`.

use std::cell::RefCell;

use wgpu::{DeviceType, Features};

use super::adapters;
use super::gpu::Gpu;
use super::inputs::Inputs;
use super::probe;
use super::timed::Ready;
use super::warm::Warmth;
use crate::instrument::Method;
use crate::kernel::Launch;
use crate::record::{Device, DeviceKind, Tag};
use crate::run::counting::{interrupted, method};
use crate::run::sampling::{Timer, sample_all};
use crate::run::{CountOptions, Counted, How, RunError, RunErrorKind, Runner, TimeOptions, Timed};
use crate::units::{Nanoseconds, Width};

/// A GPU or CPU driver through wgpu.
pub struct WgpuRunner {
    pub(super) gpu: Gpu,
    pub(super) device: Device,
    pub(super) timer: Option<Timer>,
    pub(super) inputs: RefCell<Inputs>,
    /// What brings clocks up; nothing on CPU drivers, which have none of their own.
    pub(super) warmth: Option<Warmth>,
}

impl std::fmt::Debug for WgpuRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WgpuRunner").field("device", &self.device).finish_non_exhaustive()
    }
}

impl WgpuRunner {
    /// Opens adapter `wgpu:<number>` and finds the width that it runs and its timer; with
    /// `calibrate`, its rates, fusion and loop limit too.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where there is no such adapter or it gives no device, and what
    /// its driver says where a probe fails.
    pub fn open(number: usize, calibrate: bool) -> Result<Self, RunError> {
        let (listed, adapter) = adapters::open(number).ok_or_else(|| {
            RunError::new(RunErrorKind::NoDevice, format!("there is no adapter wgpu:{number}"))
        })?;
        let info = adapter.get_info();
        let gpu = Gpu::open(&adapter)?;
        let subgroups = gpu.device.features().contains(Features::SUBGROUP);
        let timestamps = gpu.device.features().contains(Features::TIMESTAMP_QUERY);
        let width = |lanes: u32| subgroups.then(|| Width::new(lanes).ok()).flatten();
        let period = f64::from(gpu.queue.get_timestamp_period());
        let mut device = Device {
            id: listed.id.unwrap_or_default(),
            kind: DeviceKind::Wgpu,
            name: info.name.clone(),
            vendor: vendor(info.vendor),
            driver: [info.driver.as_str(), info.driver_info.as_str()].join(" ").trim().to_owned(),
            backend: adapters::backend(info.backend),
            cpu_driver: info.device_type == DeviceType::Cpu,
            subgroup_width_min: width(info.subgroup_min_size),
            subgroup_width_max: width(info.subgroup_max_size),
            subgroup_width_run: None,
            lane_is_local_index_mod_width: None,
            timestamp_period_ns: timestamps.then_some(period),
            timestamp_quantum_ns: None,
            peak_fma_per_s: None,
            copy_bytes_per_s: None,
            fma_fused: None,
            loop_limit: None,
            uniform_buffers_as_storage: gpu.uniforms_as_storage,
            packing: None,
            trust: None,
            self_test: Vec::new(),
            flags: Vec::new(),
        };
        if subgroups {
            probe::width(&gpu, &mut device)?;
        } else {
            device.flags.push(Tag::NoSubgroups.into());
        }
        let timer = if timestamps { probe::timer(&gpu, period)? } else { None };
        device.timestamp_quantum_ns = timer.map(|timer| Nanoseconds(timer.quantum_ns));
        if timer.is_none() {
            device.flags.push(Tag::NoTimestamps.into());
        }
        let mut warmth = None;
        if let Some(timer) = timer.filter(|_| !device.cpu_driver) {
            warmth = Some(Warmth::new(&gpu)?);
            if let Some(warmth) = warmth.as_mut().filter(|_| calibrate) {
                warmth.up(&gpu, timer)?;
            }
        }
        if calibrate {
            probe::calibrate(&gpu, timer, &mut device)?;
            if subgroups {
                device.packing = Some(probe::packing(&gpu)?);
            }
        }
        Ok(Self { gpu, device, timer, inputs: RefCell::default(), warmth })
    }

    /// Whether the driver may choose another width for each module.
    pub(super) fn width_varies(&self) -> bool {
        self.device.subgroup_width_min != self.device.subgroup_width_max
    }
}

impl WgpuRunner {
    /// How launches are counted and at which width; nothing where there are no subgroups to count by.
    fn method(&self, how: How) -> Result<Option<(Method, Width)>, RunError> {
        Ok(match how {
            How::Counted(options) => {
                self.device.subgroup_width_run.map(|width| (method(&options), width))
            }
            How::Estimated => Some((Method::Estimated, self.width_estimated()?)),
        })
    }
}

impl Runner for WgpuRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        self.count_noticed(launch, How::Counted(*options), &mut || {})
    }

    fn estimate(&mut self, launch: &Launch) -> Result<Counted, RunError> {
        self.count_noticed(launch, How::Estimated, &mut || {})
    }

    fn count_noticed(
        &mut self,
        launch: &Launch,
        how: How,
        notice: &mut dyn FnMut(),
    ) -> Result<Counted, RunError> {
        let Some((method, width)) = self.method(how)? else { return self.uncounted(launch) };
        let counting = self.count_ready(launch, method, width, notice)?;
        let found = counting.run(self, launch, notice)?;
        self.concluded(launch, method, width, found)
    }

    fn count_twice(
        &mut self,
        launch: &Launch,
        how: How,
        notice: &mut dyn FnMut(),
    ) -> Result<(Counted, bool), RunError> {
        let Some((method, width)) = self.method(how)? else {
            return Ok((self.uncounted(launch)?, true));
        };
        let counting = self.count_ready(launch, method, width, notice)?;
        let first = counting.run(self, launch, notice)?;
        counting.reset(self, launch);
        let second = counting.run(self, launch, notice)?;
        let same = first == second;
        Ok((self.concluded(launch, method, width, first)?, same))
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
        let mut ready: Vec<Result<Ready, RunError>> = Vec::new();
        for (index, launch) in launches.iter().enumerate() {
            notice(index);
            let made = if lost { Err(interrupted()) } else { self.ready(launch, options.counting) };
            lost |= made.as_ref().is_err_and(|error| error.kind.ends_device());
            ready.push(made);
        }
        let repeatable: Vec<bool> = launches.iter().map(|launch| launch.repeatable).collect();
        if !lost {
            self.warm_up(timer);
        }
        let times = sample_all(timer, &repeatable, options, |index, repeats| {
            notice(index);
            match &ready[index] {
                Ok(_) if lost => Err(interrupted()),
                Ok(ready) => self.sample(&launches[index], ready, repeats),
                Err(error) => Err(error.clone()),
            }
        });
        let staged = self.staged(launches, &ready, times, &mut lost, notice);
        let mut results = Vec::new();
        for (index, (ready, staged)) in ready.iter().zip(staged).enumerate() {
            notice(index);
            let result = match (ready, staged) {
                (Ok(_), Ok(_)) if lost => Err(interrupted()),
                (Ok(ready), Ok((time, medians))) => {
                    self.timed(&launches[index], ready, time, medians).map(Some)
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

/// The maker of a PCI vendor number.
fn vendor(number: u32) -> String {
    match number {
        0x1002 | 0x1022 => "AMD".to_owned(),
        0x10de => "NVIDIA".to_owned(),
        0x8086 => "Intel".to_owned(),
        0x106b => "Apple".to_owned(),
        0x13b5 => "Arm".to_owned(),
        0x5143 => "Qualcomm".to_owned(),
        0x1010 => "Imagination".to_owned(),
        0x1414 => "Microsoft".to_owned(),
        // Khronos's number for Mesa's software drivers, and Google's for SwiftShader.
        0x10005 => "Mesa".to_owned(),
        0x1ae0 => "Google".to_owned(),
        other => format!("PCI vendor 0x{other:04x}"),
    }
}
