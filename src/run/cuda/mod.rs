//! NVIDIA's GPUs through CUDA. The only place that sees the crate `cudarc`.
//!
//! Input: a device's number and launches. Output: a [`Runner`](super::Runner), and what `doctor` says
//! of this path. Nothing of CUDA is needed to build or to start: libraries are looked for when a
//! device is asked for, and a missing one is a sentence. Everything here runs in the process that owns
//! the device.
//!
//! - [`collect`]: hardware counters of a launch, in a process that does nothing else;
//! - [`copies`]: one launch on several copies of its buffers, for times with cold caches;
//! - [`cupti`]: NVIDIA's library for them (`unsafe`: it calls C);
//! - [`disassembly`]: machine code as text, by NVIDIA's tools;
//! - [`nvrtc`]: the compiler library (`unsafe`: it calls C);
//! - `driver`: device, memory, kernels, events, graphs (`unsafe`: it calls C);
//! - [`embedded`]: PTX of the catalogue's default points, for machines without NVRTC;
//! - `device`: an open device with the compiler for it;
//! - `translation`: shaders, and the probes by which a device is measured, in C++;
//! - `native`: the catalogue's kernels in CUDA C++, compiled;
//! - `runner`: the device behind `run::gpu`'s trait: shaders translated, compiled and launched.
//!
//! Launches, counting, timing and probing are [`run::gpu`](super::gpu)'s.

pub mod collect;
pub mod copies;
pub mod cupti;
mod device;
pub mod disassembly;
mod driver;
pub mod embedded;
mod native;
pub mod nvrtc;
mod runner;
mod translation;

pub use runner::{CudaRunner, GIVES};

use super::back_end::{Listed, Listing};
use crate::record::Backend;

/// Lists what there is.
pub fn list() -> Listing {
    let (path, compiles) = match nvrtc::Nvrtc::load() {
        Ok(nvrtc) => {
            let (major, minor) = nvrtc.version();
            let at = nvrtc.path().display();
            (format!("NVRTC {major}.{minor} ({at}) compiles for the device"), true)
        }
        Err(error) => {
            let path =
                format!("only the catalogue's default points run, from embedded PTX: {error}");
            (path, false)
        }
    };
    let device = |number| {
        let facts = driver::facts(number)?;
        Ok(Listed {
            id: Some(format!("cuda:{number}")),
            name: facts.name,
            backend: Backend::Cuda,
            cpu_driver: false,
            left_out: None,
        })
    };
    let found = driver::count().and_then(|count| (0..count).map(device).collect());
    let (devices, trouble): (Vec<Listed>, _) = match found {
        Ok(devices) => (devices, None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    let none = || devices.is_empty().then(|| "NVIDIA's driver has no device".to_owned());
    let trouble = trouble.or_else(none);
    Listing { devices, trouble, path: Some(path), compiles, ..Listing::default() }
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::CUresult;

    use super::driver::kind_of;
    use crate::run::RunErrorKind;

    #[test]
    fn what_takes_the_device_along_is_told_from_what_does_not() {
        for (result, kind) in [
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, RunErrorKind::OutOfMemory),
            (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, RunErrorKind::DeviceLost),
            (CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, RunErrorKind::DeviceLost),
            (CUresult::CUDA_ERROR_UNKNOWN, RunErrorKind::DeviceLost),
            (CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, RunErrorKind::Unsupported),
            (CUresult::CUDA_ERROR_INVALID_VALUE, RunErrorKind::Driver),
        ] {
            assert_eq!(kind_of(result), kind, "{result:?}");
            let is_fatal = !matches!(kind, RunErrorKind::Unsupported | RunErrorKind::Driver);
            assert_eq!(kind.ends_device(), is_fatal, "{result:?}");
        }
    }
}
