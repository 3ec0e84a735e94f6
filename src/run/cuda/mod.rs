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
//! - `probe`: what is measured of the device itself;
//! - `native`: launches of the catalogue's kernels in CUDA C++;
//! - `runner`: launches on the device, and their timing;
//! - `count`: their counting;
//! - `warm`: brings clocks up before timing.

pub mod collect;
pub mod copies;
mod count;
pub mod cupti;
pub mod disassembly;
mod driver;
pub mod embedded;
mod native;
pub mod nvrtc;
mod probe;
mod runner;
mod warm;

use serde::{Deserialize, Serialize};

pub use runner::CudaRunner;

/// What there is of CUDA.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The devices, `cuda:0` first.
    pub devices: Vec<ListedDevice>,
    /// Why there is none, in a sentence.
    pub trouble: Option<String>,
    /// How kernels become machine code, and why so, in a sentence.
    pub path: String,
    /// Whether any kernel does, rather than those few that lanescope brings PTX of.
    pub compiles: bool,
}

impl Listed {
    /// What runs through CUDA here and how, or why nothing does, in a sentence. How kernels would be
    /// compiled matters only where there is a device for them.
    pub fn summary(&self) -> String {
        let nothing = "nothing runs through CUDA here, because";
        match &self.trouble {
            Some(trouble) => format!("{nothing} {trouble}"),
            None if self.devices.is_empty() => format!("{nothing} NVIDIA's driver has no device"),
            None => format!("the driver is there, and {}", self.path),
        }
    }
}

/// A device of CUDA's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedDevice {
    /// `cuda:N`.
    pub id: String,
    /// The driver's name for it.
    pub name: String,
}

/// Lists what there is.
pub fn list() -> Listed {
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
    let found = driver::count().and_then(|count| {
        (0..count)
            .map(|number| {
                let facts = driver::facts(number)?;
                Ok(ListedDevice { id: format!("cuda:{number}"), name: facts.name })
            })
            .collect()
    });
    match found {
        Ok(devices) => Listed { devices, trouble: None, path, compiles },
        Err(error) => Listed { devices: Vec::new(), trouble: Some(error.message), path, compiles },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_device_nothing_is_said_to_run() {
        let path = "only the catalogue's default points run, from embedded PTX: no NVRTC";
        let device = ListedDevice { id: "cuda:0".to_owned(), name: "H200".to_owned() };
        let summary = |devices: Vec<ListedDevice>, trouble: Option<&str>| {
            let trouble = trouble.map(str::to_owned);
            Listed { devices, trouble, path: path.to_owned(), compiles: false }.summary()
        };
        assert_eq!(summary(vec![device], None), format!("the driver is there, and {path}"));
        let because = "nothing runs through CUDA here, because NVIDIA's driver ";
        let missing = summary(Vec::new(), Some("NVIDIA's driver is not installed"));
        assert_eq!(missing, format!("{because}is not installed"));
        assert_eq!(summary(Vec::new(), None), format!("{because}has no device"));
    }
}
