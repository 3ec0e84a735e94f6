//! The back ends: how devices are reached, a row each.
//!
//! Input: nothing. Output: [`BACK_ENDS`], the table that the command line and the child processes
//! walk. A new back end is a folder in `run` and a row here: what its ids begin with, which devices
//! there are, how one is opened, and what it gives. It knows no launch and asks no driver by itself.

use super::back_end::{BackEnd, HardwareCounters, Places, no_device, number};
use super::cuda::{self, CudaRunner};
use super::radv;
use super::simulator::{self, SimulatorRunner};
use super::wgpu::{DRIVERS, GIVES as WGPU_GIVES, WgpuRunner, list as list_adapters};
use super::{RunError, RunErrorKind};
use crate::kernel::KernelLanguage;
use crate::units::Width;

/// Every back end, in the order in which their devices are used.
pub static BACK_ENDS: [BackEnd; 4] = [
    BackEnd {
        prefix: "wgpu",
        name: "wgpu",
        gives: WGPU_GIVES,
        languages: &[KernelLanguage::Wgsl],
        places: Places::Listed {
            list: list_adapters,
            drivers: Some(DRIVERS),
            by_default: true,
            json: "adapters",
        },
        in_child: true,
        compiles_ahead: false,
        watches_memory: false,
        environment: |_| Ok(Vec::new()),
        hardware: None,
        open: |place, options| {
            let runner = WgpuRunner::open(number("wgpu", place)?, options.calibrate)?;
            Ok(Box::new(runner))
        },
    },
    BackEnd {
        prefix: "cuda",
        name: "CUDA",
        gives: cuda::GIVES,
        languages: &[KernelLanguage::Wgsl, KernelLanguage::Cuda],
        places: Places::Listed {
            list: |_| (cuda::list(), None),
            drivers: None,
            by_default: false,
            json: "cuda",
        },
        in_child: true,
        compiles_ahead: true,
        watches_memory: false,
        environment: |_| Ok(Vec::new()),
        hardware: Some(HardwareCounters {
            available: |place| cuda::collect::available(number("cuda", place)?),
            parts: cuda::collect::parts,
            collect: |place, launch, part| {
                cuda::collect::collect(number("cuda", place)?, launch, part)
            },
            merge: cuda::collect::merge,
        }),
        open: |place, options| {
            let runner = CudaRunner::open(number("cuda", place)?, options.calibrate)?;
            Ok(Box::new(runner))
        },
    },
    BackEnd {
        prefix: simulator::PREFIX,
        name: "the simulator",
        gives: simulator::GIVES,
        languages: &[KernelLanguage::Wgsl],
        places: Places::Form {
            usual: &["32", "64"],
            surveyed: &[],
            meaning: ["sim:W", "the simulator, W = 1, 2, 4 … 128"],
            check: |place| width(place).map(drop),
        },
        in_child: false,
        compiles_ahead: false,
        watches_memory: true,
        environment: |_| Ok(Vec::new()),
        hardware: None,
        open: |place, options| {
            let wrong =
                |why: Option<String>| no_device(simulator::PREFIX, place, &why.unwrap_or_default());
            let runner = SimulatorRunner::new(width(place).map_err(wrong)?, options.steps_max);
            let runner = runner.strict(options.strict).operations_max(options.operations_max);
            Ok(Box::new(runner.memory_bytes_max(options.memory_bytes_max)))
        },
    },
    BackEnd {
        prefix: "radv",
        name: "Mesa's RADV",
        gives: radv::GIVES,
        languages: &[KernelLanguage::Wgsl],
        places: Places::Form {
            usual: &[],
            surveyed: &["navi21/32", "navi21/64"],
            meaning: [
                "radv:F/W",
                "AMD's machine code by Mesa's compiler, executed without a GPU: F = navi21 (RDNA 2), W = 32, 64",
            ],
            check: |place| radv::RadvPlace::parse(place).map(drop),
        },
        in_child: true,
        compiles_ahead: false,
        watches_memory: false,
        environment: radv::environment_of,
        hardware: None,
        open: radv::open,
    },
];

/// The back end with a prefix.
pub fn by_prefix(prefix: &str) -> Option<&'static BackEnd> {
    BACK_ENDS.iter().find(|back_end| back_end.prefix == prefix)
}

/// The back end and the place that an id names.
///
/// # Errors
///
/// [`RunErrorKind::NoDevice`] where no back end has the id's prefix.
pub fn by_id(id: &str) -> Result<(&'static BackEnd, &str), RunError> {
    let found = id.split_once(':').and_then(|(prefix, place)| Some((by_prefix(prefix)?, place)));
    found.ok_or_else(|| {
        RunError::new(RunErrorKind::NoDevice, format!("no back end reaches a device {id:?}"))
    })
}

/// The width that a place of the simulator is; else why not, where it is a number.
fn width(place: &str) -> Result<Width, Option<String>> {
    let lanes: u32 = place.parse().map_err(|_| None)?;
    Width::new(lanes).map_err(|error| Some(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::run::back_end::{Listing, OpenOptions, WarmUpRule};

    #[test]
    fn every_row_has_a_prefix_of_its_own_and_opens_nothing_elsewhere() {
        let prefixes: BTreeSet<&str> = BACK_ENDS.iter().map(|back_end| back_end.prefix).collect();
        assert_eq!(prefixes.len(), BACK_ENDS.len());
        for back_end in &BACK_ENDS {
            assert_eq!(by_id(&format!("{}:x", back_end.prefix)).unwrap().0.prefix, back_end.prefix);
            assert_eq!(back_end.gives.counters, back_end.hardware.is_some());
            let error = (back_end.open)("x", &OpenOptions::usual(None)).err().unwrap();
            assert_eq!(error.kind, RunErrorKind::NoDevice, "{}", back_end.prefix);
        }
        assert_eq!(by_id("metal:0").unwrap_err().kind, RunErrorKind::NoDevice);
    }

    #[test]
    fn the_simulator_opens_as_its_row_says() {
        let (back_end, place) = by_id("sim:64").unwrap();
        let runner = (back_end.open)(place, &OpenOptions::usual(Some(WarmUpRule::Whole))).unwrap();
        assert_eq!(runner.device().id, "sim:64");
        assert_eq!(runner.device().gives(), back_end.gives);
        let Places::Form { usual, check, .. } = &back_end.places else { panic!("a form") };
        assert!(usual.iter().all(|place| check(place).is_ok()));
        assert_eq!(check("x"), Err(None));
        assert!(check("33").unwrap_err().is_some());
    }

    #[test]
    fn a_place_of_amds_is_a_family_and_a_wave_size() {
        let radv = by_prefix("radv").unwrap();
        assert!(!radv.gives.times && radv.gives.code);
        let Places::Form { usual, surveyed, check, .. } = &radv.places else { panic!("a form") };
        assert!(usual.is_empty() && surveyed.iter().all(|place| check(place).is_ok()));
        assert!(check("navi21/64").is_ok());
        let why = |place: &str| check(place).unwrap_err().unwrap_or_default();
        assert!(why("navi33/32").contains("navi21"), "{}", why("navi33/32"));
        assert!(why("navi21/16").contains("32 and 64"), "{}", why("navi21/16"));
        assert_eq!(why("navi21"), "");
    }

    #[test]
    fn without_a_device_nothing_is_said_to_run() {
        let cuda = by_prefix("cuda").unwrap();
        let path = "only the catalogue's default points run, from embedded PTX: no NVRTC";
        let summary = |trouble: Option<&str>| {
            let listing = Listing {
                trouble: trouble.map(str::to_owned),
                path: Some(path.to_owned()),
                ..Listing::default()
            };
            listing.summary(cuda)
        };
        assert_eq!(summary(None), format!("the driver is there, and {path}"));
        let missing = summary(Some("NVIDIA's driver is not installed"));
        let because = "nothing runs through CUDA here, because NVIDIA's driver";
        assert_eq!(missing, format!("{because} is not installed"));
    }
}
