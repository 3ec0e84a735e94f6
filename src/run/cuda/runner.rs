//! A CUDA device behind [`Gpu`]: kernels are translated, compiled and launched.
//!
//! Input: shaders, buffers, samples. Output: what the trait asks for. Each dispatch is translated and
//! compiled by NVRTC for the device's own architecture (or found among the embedded PTX where there is
//! no NVRTC). A grid that is worked out on the device is read back first. A sample is one graph: the
//! work untimed, then the same work between events.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::device::{CudaDevice, CudaKernel, Images, compile_ahead};
use super::driver::{
    self, Argument, DriverBuffer, GRID_MAX, LoadedKernel, Recorded, WORKGROUP_BYTES_MAX,
};
use super::native;
use super::nvrtc::{Image, Nvrtc};
use super::translation::{probes, translation};
use crate::kernel::Launch;
use crate::record::{Backend, Device, DeviceKind, Gives};
use crate::run::back_end::WarmUpRule;
use crate::run::gpu::{
    Buffers, Clock, Compiler, Gpu, GpuDispatch, GpuLimits, GpuRunner, GpuSample, Grid, Shader,
    Slot, Uses,
};
use crate::run::probes::words;
use crate::run::sampling::Ticks;
use crate::run::{RunError, RunErrorKind};
use crate::translate::{Parameter, Translated};
use crate::units::Width;

/// What its devices give.
pub const GIVES: Gives = Gives { counts: true, times: true, counters: true, code: true };

/// A GPU through CUDA.
pub type CudaRunner = GpuRunner<CudaDevice>;

impl CudaDevice {
    /// Compiles a translation.
    fn image(&self, translated: &Translated) -> Result<Image, RunError> {
        if translated.workgroup_bytes > WORKGROUP_BYTES_MAX {
            let message = format!(
                "{} bytes of workgroup memory; CUDA has {WORKGROUP_BYTES_MAX} without being asked \
                 for more",
                translated.workgroup_bytes
            );
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        self.text_image(&translated.source)
    }

    /// Fills a kernel's constant memory, where `buffer` gives the one at a binding.
    ///
    /// Once is enough: a buffer belongs to one variable of the WGSL, by its name, and nothing writes
    /// to one that is uniform.
    fn hold<'b>(
        &self,
        kernel: &LoadedKernel,
        translated: &Translated,
        buffer: &dyn Fn(u32, u32) -> Result<&'b DriverBuffer, RunError>,
    ) -> Result<(), RunError> {
        for constant in &translated.constants {
            let from = buffer(constant.group, constant.binding)?;
            let bytes = (constant.size, constant.copies);
            self.driver.hold(kernel, &constant.symbol(), bytes, from)?;
        }
        Ok(())
    }

    /// The grid of a dispatch, read back where a buffer holds it.
    fn workgroups(&self, grid: &Grid<Rc<DriverBuffer>>) -> Result<[u32; 3], RunError> {
        match grid {
            Grid::Direct(workgroups) => Ok(*workgroups),
            Grid::Indirect(buffer, offset) => {
                let counts = words(&self.driver.read(buffer, *offset, 12)?);
                Ok([counts[0], counts[1], counts[2]])
            }
        }
    }

    /// Dispatches as the driver takes them.
    pub(super) fn launches<'a>(
        &self,
        work: &[GpuDispatch<'a, Self>],
    ) -> Result<Vec<driver::DriverLaunch<'a>>, RunError> {
        let launch = |(kernel, grid): &GpuDispatch<'a, Self>| {
            let CudaKernel { kernel, arguments, block, .. } = *kernel;
            Ok(driver::DriverLaunch {
                kernel,
                arguments,
                grid: self.workgroups(grid)?,
                block: *block,
            })
        };
        work.iter().map(launch).collect()
    }
}

/// What a translation's parameters are on this device, where `buffer` gives the one at a binding.
fn arguments<'b>(
    translated: &Translated,
    immediates: &[u8],
    buffer: &dyn Fn(u32, u32) -> Result<&'b DriverBuffer, RunError>,
) -> Result<Vec<Argument>, RunError> {
    let mut arguments = Vec::new();
    for parameter in &translated.parameters {
        arguments.push(match parameter {
            Parameter::Buffer { group, binding } => buffer(*group, *binding)?.argument(),
            Parameter::Lengths(lengths) => {
                let mut bytes = Vec::new();
                for length in lengths {
                    let size = buffer(length.group, length.binding)?.size;
                    let elements = size
                        .saturating_sub(u64::from(length.offset))
                        .checked_div(u64::from(length.stride))
                        .unwrap_or(0);
                    let elements = u32::try_from(elements).unwrap_or(u32::MAX);
                    bytes.extend(elements.to_le_bytes());
                }
                Argument::bytes(&bytes)
            }
            Parameter::Immediates { size } => {
                let mut bytes = immediates.to_vec();
                bytes.resize(*size as usize, 0);
                Argument::bytes(&bytes)
            }
        });
    }
    Ok(arguments)
}

/// A span as whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans are positive and far below 2^53"
)]
fn whole_ns(span_ns: f64) -> u64 {
    span_ns.max(0.0).round() as u64
}

impl Gpu for CudaDevice {
    type Buffer = Rc<DriverBuffer>;
    type Kernel = CudaKernel;
    type Recorded = Recorded;

    const TAKES_INDIRECT_GRIDS: bool = false;

    fn limits(&self) -> GpuLimits {
        let memory_bytes = self.driver.facts.memory_bytes;
        GpuLimits {
            storage_bytes_max: memory_bytes,
            uniform_bytes_max: memory_bytes,
            memory_bytes: Some(memory_bytes),
            workgroups_max: GRID_MAX,
            subgroups: true,
        }
    }

    fn clock(&self) -> Option<Clock> {
        Some(Clock::Spans)
    }

    fn buffer(&self, _: &str, size: u64, _: Uses) -> Result<Rc<DriverBuffer>, RunError> {
        self.driver.buffer(size).map(Rc::new)
    }

    fn size(&self, buffer: &Rc<DriverBuffer>) -> u64 {
        buffer.size
    }

    fn write(&self, buffer: &Rc<DriverBuffer>, offset: u64, bytes: &[u8]) -> Result<(), RunError> {
        self.driver.write(buffer, offset, bytes)
    }

    fn read(&self, buffer: &Rc<DriverBuffer>, offset: u64, size: u64) -> Result<Vec<u8>, RunError> {
        self.driver.read(buffer, offset, size)
    }

    fn copy(&self, from: &Rc<DriverBuffer>, to: &Rc<DriverBuffer>) -> Result<(), RunError> {
        let doing = "copying a buffer";
        self.driver.copy(from, to, doing)?;
        self.driver.wait(doing)
    }

    fn clear(&self, buffer: &Rc<DriverBuffer>) -> Result<(), RunError> {
        self.driver.clear(buffer)
    }

    fn compile(
        &self,
        shader: &Shader<'_>,
        slots: &[Slot<'_, Rc<DriverBuffer>>],
    ) -> Result<CudaKernel, RunError> {
        let translated = translation(shader)?;
        let image = self.image(&translated)?;
        let kernel = self.driver.load(&image, &translated.kernel)?;
        let buffer = |group: u32, binding: u32| {
            let slot = slots.iter().find(|slot| (slot.group, slot.binding) == (group, binding));
            slot.map(|slot| slot.buffer.as_ref()).ok_or_else(|| {
                let message = format!("{} binds nothing at {group}, {binding}", shader.file());
                RunError::new(RunErrorKind::BadInput, message)
            })
        };
        self.hold(&kernel, &translated, &buffer)?;
        let arguments = arguments(&translated, shader.immediates, &buffer)?;
        let bound = slots.iter().map(|slot| Rc::clone(slot.buffer)).collect();
        let (function, block) = (translated.kernel, translated.block);
        Ok(CudaKernel { kernel, image, function, arguments, block, _bound: bound })
    }

    fn compiler(&self) -> Option<Compiler> {
        let (nvrtc, images) = (Arc::clone(self.nvrtc.as_ref().ok()?), Arc::clone(&self.images));
        let capability = self.driver.facts.capability;
        Some(Arc::new(move |shader| {
            if let Ok(translated) = translation(shader) {
                images.compile(&nvrtc, &translated.source, capability).ok();
            }
        }))
    }

    fn compile_native(
        &self,
        launch: &Launch,
        buffers: &Buffers<Rc<DriverBuffer>>,
    ) -> Result<Vec<CudaKernel>, RunError> {
        native::kernels(self, launch, buffers)
    }

    fn resident_max(&self, kernel: &CudaKernel) -> Result<Option<u32>, RunError> {
        let invocations = kernel.block.iter().product();
        let asks = kernel.kernel.is_cooperative();
        asks.then(|| self.driver.resident(&kernel.kernel, invocations)).transpose()
    }

    fn run(&self, work: &[GpuDispatch<'_, Self>], doing: &str) -> Result<(), RunError> {
        self.driver.run(&self.launches(work)?, doing)
    }

    fn record(&self, sample: &GpuSample<'_, Self>, doing: &str) -> Result<Recorded, RunError> {
        let GpuSample { work, repeats, before, resets, stamps } = sample;
        let launches = self.launches(work)?;
        let resets: Vec<(&DriverBuffer, &DriverBuffer)> =
            resets.iter().map(|(from, to)| (from.as_ref(), to.as_ref())).collect();
        let sample = driver::DriverSample {
            launches: &launches,
            repeats: *repeats,
            before: *before,
            resets: &resets,
            stamps: *stamps,
        };
        self.driver.record(&sample, doing)
    }

    fn play(&self, recorded: &Recorded, doing: &str) -> Result<Vec<Ticks>, RunError> {
        let spans = self.driver.take_sample(recorded, doing)?;
        let ticks = spans.into_iter().map(|span_ns| {
            let begin = self.now_ns.get();
            let end = begin + whole_ns(span_ns);
            self.now_ns.set(end);
            Ticks { begin, end }
        });
        Ok(ticks.collect())
    }
}

impl CudaRunner {
    /// Opens device `cuda:<number>` and finds the width that it runs, its loop limit and its timer;
    /// with `calibrate`, its rates and fusion too.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where there is no driver or no such device, and what the
    /// driver says where a probe fails.
    pub fn open(number: usize, calibrate: Option<WarmUpRule>) -> Result<Self, RunError> {
        let (gpu, device) = open(number, false, calibrate.is_some())?;
        Self::probed(gpu, device, calibrate)
    }

    /// Opens device `cuda:<number>` and measures nothing of it. Every kernel comes as machine code
    /// with source lines.
    pub(super) fn open_for_counters(number: usize) -> Result<Self, RunError> {
        let (gpu, device) = open(number, true, false)?;
        Ok(Self::unprobed(gpu, device))
    }
}

/// Opens a device, and says what the driver says of it. Meanwhile what it is `probed` with is compiled.
fn open(number: usize, assembles: bool, probed: bool) -> Result<(CudaDevice, Device), RunError> {
    let facts = driver::find(number)?;
    let nvrtc = Nvrtc::load().map(Arc::new);
    let ahead = || match (&nvrtc, probed) {
        (Ok(nvrtc), true) => compile_ahead(nvrtc, probes().unwrap_or_default(), facts.capability),
        (Ok(_) | Err(_), _) => BTreeMap::new(),
    };
    let (images, gpu) = std::thread::scope(|scope| {
        let ahead = scope.spawn(ahead);
        // The driver's context belongs to the thread that makes it.
        let gpu = driver::DriverDevice::open(number, facts.clone());
        (ahead.join().unwrap_or_default(), gpu)
    });
    let gpu = gpu?;
    let width = u32::try_from(facts.warp_size).ok().and_then(|lanes| Width::new(lanes).ok());
    let device = Device {
        gives: Some(GIVES),
        name: facts.name.clone(),
        vendor: "NVIDIA".to_owned(),
        driver: describe(&facts, nvrtc.as_deref().ok()),
        subgroup_width_min: width,
        subgroup_width_max: width,
        timestamp_period_ns: Some(1.0),
        ..Device::unmeasured(format!("cuda:{number}"), DeviceKind::Cuda, Backend::Cuda)
    };
    let now_ns = Cell::new(0);
    let images = Arc::new(Images::new(images));
    Ok((CudaDevice { driver: gpu, nvrtc, images, assembles, now_ns }, device))
}

/// The driver's and the compiler's versions, and what the chip is.
fn describe(facts: &driver::Facts, nvrtc: Option<&Nvrtc>) -> String {
    let compiler = match nvrtc.map(Nvrtc::version) {
        Some((major, minor)) => format!("NVRTC {major}.{minor}"),
        None => "embedded PTX".to_owned(),
    };
    format!(
        "CUDA {}.{}, {compiler}, sm_{}, {} SMs",
        facts.cuda_version / 1000,
        facts.cuda_version % 1000 / 10,
        facts.capability,
        facts.multiprocessors
    )
}
