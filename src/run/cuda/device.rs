//! An open CUDA device with its compiler, and what it compiles.
//!
//! Input: texts in CUDA C++. Output: images that the driver loads: compiled by NVRTC, or found among
//! the embedded PTX where there is no NVRTC. What is done with them is the business of `runner`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::driver::{self, Argument, DriverBuffer, LoadedKernel};
use super::embedded;
use super::nvrtc::{Image, Nvrtc, NvrtcError};
use crate::run::{RunError, RunErrorKind};

/// The most bytes of images and their texts that are kept; when more are made, all are let go.
const KEPT_BYTES_MAX: usize = 256 << 20;

/// What NVRTC made, by its text.
#[derive(Debug, Default)]
pub(super) struct Images(Mutex<BTreeMap<String, Image>>);

impl Images {
    pub(super) fn new(made: BTreeMap<String, Image>) -> Self {
        Self(Mutex::new(made))
    }

    /// What NVRTC makes of a text, or has made of it.
    pub(super) fn compile(
        &self,
        nvrtc: &Nvrtc,
        source: &str,
        capability: u32,
    ) -> Result<Image, NvrtcError> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = kept().get(source) {
            return Ok(image.clone());
        }
        let image = nvrtc.compile(source, capability)?;
        let mut images = kept();
        let bytes = images.iter().map(|(text, image)| text.len() + image.bytes.len());
        if bytes.sum::<usize>() > KEPT_BYTES_MAX {
            images.clear();
        }
        images.insert(source.to_owned(), image.clone());
        Ok(image)
    }
}

/// An open device with the compiler for it.
pub struct CudaDevice {
    pub(super) driver: driver::DriverDevice,
    /// Nothing, and why: then only what is embedded can be loaded.
    pub(super) nvrtc: Result<Arc<Nvrtc>, NvrtcError>,
    /// What counts is timed too, probes are compiled while the device is opened, and launches before it is their turn.
    pub(super) images: Arc<Images>,
    /// Whether PTX is made machine code here, with source lines, and not while it is loaded.
    pub(super) assembles: bool,
    /// Where the next span begins, in nanoseconds: events give spans, not times of day, and samples
    /// stand one after the other.
    pub(super) now_ns: Cell<u64>,
}

impl std::fmt::Debug for CudaDevice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CudaDevice")
            .field("facts", &self.driver.facts)
            .finish_non_exhaustive()
    }
}

/// A compiled dispatch with what it takes.
pub struct CudaKernel {
    pub(super) kernel: LoadedKernel,
    /// What was loaded.
    pub(super) image: Image,
    /// The kernel's name in it.
    pub(super) function: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) block: [u32; 3],
    /// What the arguments point to, kept alive.
    pub(super) _bound: Vec<Rc<DriverBuffer>>,
}

impl std::fmt::Debug for CudaKernel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CudaKernel")
            .field("function", &self.function)
            .finish_non_exhaustive()
    }
}

impl CudaDevice {
    /// What the driver loads of a text in CUDA C++.
    pub(super) fn text_image(&self, source: &str) -> Result<Image, RunError> {
        let capability = self.driver.facts.capability;
        let image = match &self.nvrtc {
            Ok(nvrtc) => self
                .images
                .compile(nvrtc, source, capability)
                .map_err(|error| RunError::new(RunErrorKind::Driver, error.to_string())),
            Err(why) => embedded::find(source).ok_or_else(|| {
                let message = format!(
                    "lanescope brings PTX of the catalogue's default points alone, and none of \
                     this; {why}"
                );
                RunError::new(RunErrorKind::Unsupported, message)
            }),
        }?;
        if self.assembles && image.architecture.starts_with("compute_") {
            return self.driver.assemble(&image);
        }
        Ok(image)
    }
}

/// Compiles texts beside one another; one that is not compiled is left out, and says why when it is asked for.
pub(super) fn compile_ahead(
    nvrtc: &Nvrtc,
    texts: Vec<String>,
    capability: u32,
) -> BTreeMap<String, Image> {
    let compile = |text: String| {
        let image = nvrtc.compile(&text, capability).ok()?;
        Some((text, image))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            texts.into_iter().map(|text| scope.spawn(move || compile(text))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()?).collect()
    })
}
