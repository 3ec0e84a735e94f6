//! The runner of an adapter: what wgpu says of it.
//!
//! Input: an adapter's number. Output: a [`GpuRunner`]. What is measured of the device, and all that is
//! done with launches, is `run::gpu`'s.

use wgpu::{DeviceType, Features};

use super::adapters::{self, FoundAdapter};
use super::gpu::WgpuDevice;
use crate::record::{Device, DeviceKind, Gives};
use crate::run::back_end::{Listing, OpenListed, OpenOptions, WarmUpRule, number};
use crate::run::gpu::{Clock, Gpu as _, GpuRunner};
use crate::run::{RunError, RunErrorKind, Runner};
use crate::units::Width;

/// What its devices give.
pub const GIVES: Gives = Gives { counts: true, times: true, counters: false, code: false };

/// A GPU or CPU driver through wgpu.
pub type WgpuRunner = GpuRunner<WgpuDevice>;

/// Lists every adapter, whose devices are opened for it; `notice` is called before each.
pub fn list(notice: &mut dyn FnMut()) -> (Listing, Option<OpenListed>) {
    let found = adapters::enumerate(notice);
    let listing = adapters::listing(&found);
    let open = |place: &str, options: &OpenOptions| {
        let runner = WgpuRunner::open_among(found, number("wgpu", place)?, options.calibrate)?;
        Ok(Box::new(runner) as Box<dyn Runner>)
    };
    (listing, Some(Box::new(open)))
}

impl WgpuRunner {
    /// Opens adapter `wgpu:<number>` and finds the width that it runs, its loop limit and its
    /// timer; with `calibrate`, its rates and fusion too.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where there is no such adapter or it gives no device, and what
    /// its driver says where a probe fails.
    pub fn open(number: usize, calibrate: Option<WarmUpRule>) -> Result<Self, RunError> {
        Self::open_among(adapters::enumerate(&mut || {}), number, calibrate)
    }

    /// As [`WgpuRunner::open`], of adapters that were found, and lets go of the others.
    fn open_among(
        found: Vec<FoundAdapter>,
        number: usize,
        calibrate: Option<WarmUpRule>,
    ) -> Result<Self, RunError> {
        let (listed, gpu) = adapters::select(found, number).ok_or_else(|| {
            RunError::new(RunErrorKind::NoDevice, format!("there is no adapter wgpu:{number}"))
        })?;
        let info = gpu.adapter.get_info();
        let subgroups = gpu.device.features().contains(Features::SUBGROUP);
        let width = |lanes: u32| subgroups.then(|| Width::new(lanes).ok()).flatten();
        let period_ns = |clock| match clock {
            Clock::Counter { period_ns } => period_ns,
            Clock::Spans => 1.0,
        };
        let id = listed.id.unwrap_or_default();
        let device = Device {
            gives: Some(GIVES),
            name: info.name.clone(),
            vendor: vendor(info.vendor),
            driver: [info.driver.as_str(), info.driver_info.as_str()].join(" ").trim().to_owned(),
            cpu_driver: info.device_type == DeviceType::Cpu,
            subgroup_width_min: width(info.subgroup_min_size),
            subgroup_width_max: width(info.subgroup_max_size),
            timestamp_period_ns: gpu.clock().map(period_ns),
            uniform_buffers_as_storage: gpu.uniforms_as_storage,
            ..Device::unmeasured(id, DeviceKind::Wgpu, adapters::backend(info.backend))
        };
        Self::probed(gpu, device, calibrate)
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
