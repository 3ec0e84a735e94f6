//! Device ids: which devices a command means.
//!
//! Input: the ids as typed, the adapters that there are. Output: [`Choice`]s, in the order of use.

use std::time::Duration;

use crate::kernel::{DeviceClass, Language, near_matches};
use crate::run::wgpu::Listed;
use crate::run::worker::{self, WorkerRunner};
use crate::run::{RunError, RunErrorKind, cuda};
use crate::units::Width;

use super::failure::{Exit, Failure};

/// A device to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The simulator at a width.
    Simulator(Width),
    /// An adapter by its number.
    Wgpu {
        /// The N of `wgpu:N`.
        number: usize,
        /// The driver's name for it.
        name: String,
        /// Whether the processor does the work.
        cpu_driver: bool,
    },
    /// A GPU of NVIDIA's through CUDA, by its number.
    Cuda {
        /// The N of `cuda:N`.
        number: usize,
        /// The driver's name for it.
        name: String,
    },
}

impl Choice {
    /// The id.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Simulator(width) => format!("sim:{width}"),
            Self::Wgpu { number, .. } => format!("wgpu:{number}"),
            Self::Cuda { number, .. } => format!("cuda:{number}"),
        }
    }

    /// Whether it is a device, rather than the simulator: it has times.
    pub(crate) fn is_device(&self) -> bool {
        !matches!(self, Self::Simulator(_))
    }

    /// Whether it runs kernels of this language.
    pub(crate) fn speaks(&self, language: Language) -> bool {
        match language {
            Language::Wgsl => true,
            Language::Cuda => matches!(self, Self::Cuda { .. }),
        }
    }

    /// Opens a device in a child process of its own.
    ///
    /// # Errors
    ///
    /// What opening gives; simulators have no process.
    pub(crate) fn worker(
        &self,
        calibrate: bool,
        silence_max: Duration,
    ) -> Result<WorkerRunner, RunError> {
        match self {
            Self::Wgpu { number, .. } => WorkerRunner::open(*number, calibrate, silence_max),
            Self::Cuda { number, .. } => WorkerRunner::open_cuda(*number, calibrate, silence_max),
            Self::Simulator(_) => {
                Err(RunError::new(RunErrorKind::NoDevice, "the simulator has no process"))
            }
        }
    }

    /// Whose defaults its kernels take.
    pub(crate) fn class(&self, quick: bool) -> DeviceClass {
        match self {
            _ if quick => DeviceClass::Quick,
            Self::Wgpu { cpu_driver: false, .. } | Self::Cuda { .. } => DeviceClass::Gpu,
            Self::Wgpu { .. } | Self::Simulator(_) => DeviceClass::Cpu,
        }
    }
}

/// The widths that stand beside every run.
const SIMULATED: [u32; 2] = [32, 64];

/// What there is to choose from.
#[derive(Debug)]
pub(crate) struct Available {
    /// Every adapter, the ones left out included.
    pub(crate) listed: Vec<Listed>,
    /// Why adapters could not be listed.
    pub(crate) trouble: Option<RunError>,
    /// What there is of CUDA; nothing where nobody asked.
    pub(crate) cuda: Option<cuda::Listed>,
}

impl Available {
    /// Asks children for what the ids may mean; where they mean nothing, for all that there is, so
    /// that the refusal can name it.
    pub(crate) fn ask(ids: &[String]) -> Self {
        let mut available = Self { listed: Vec::new(), trouble: None, cuda: None };
        if needs_adapters(ids) {
            available.ask_adapters();
        }
        if needs_cuda(ids) {
            available.ask_cuda();
        }
        if choose(ids, &available).is_err() {
            if !needs_adapters(ids) {
                available.ask_adapters();
            }
            if !needs_cuda(ids) {
                available.ask_cuda();
            }
        }
        available
    }

    fn ask_adapters(&mut self) {
        match worker::adapters() {
            Ok(listed) => self.listed = listed,
            Err(error) => self.trouble = Some(error),
        }
    }

    fn ask_cuda(&mut self) {
        self.cuda = Some(worker::cuda_devices().unwrap_or_else(|error| cuda::Listed {
            devices: Vec::new(),
            trouble: Some(error.message),
            path: "how kernels are compiled is not known".to_owned(),
            compiles: false,
        }));
    }

    /// The adapters that work.
    fn working(&self) -> Vec<Choice> {
        let working = self.listed.iter().filter(|listed| listed.left_out.is_none());
        working
            .enumerate()
            .map(|(number, listed)| Choice::Wgpu {
                number,
                name: listed.name.clone(),
                cpu_driver: listed.cpu_driver,
            })
            .collect()
    }

    /// The GPUs that CUDA sees.
    fn cuda_devices(&self) -> Vec<Choice> {
        let devices = self.cuda.iter().flat_map(|cuda| &cuda.devices).enumerate();
        devices.map(|(number, d)| Choice::Cuda { number, name: d.name.clone() }).collect()
    }
}

/// Whether any of the ids needs the adapters listed.
fn needs_adapters(ids: &[String]) -> bool {
    ids.is_empty() || ids.iter().any(|id| !id.starts_with("sim:") && !id.starts_with("cuda:"))
}

/// Whether any of the ids may be a device of CUDA's.
fn needs_cuda(ids: &[String]) -> bool {
    ids.iter().any(|id| id == "all" || id.starts_with("cuda:"))
}

/// Without ids: every GPU, else the CPU drivers, then the simulator at 32 and 64. With: those.
pub(crate) fn choose(ids: &[String], available: &Available) -> Result<Vec<Choice>, Failure> {
    let working = available.working();
    let mut chosen = Vec::new();
    if ids.is_empty() {
        let gpu = |choice: &Choice| matches!(choice, Choice::Wgpu { cpu_driver: false, .. });
        let gpus = working.iter().any(gpu);
        chosen.extend(working.into_iter().filter(|choice| !gpus || gpu(choice)));
        chosen.extend(simulators());
        return Ok(chosen);
    }
    for id in ids {
        let more = one(id, &working, available)?;
        for choice in more {
            if !chosen.contains(&choice) {
                chosen.push(choice);
            }
        }
    }
    Ok(chosen)
}

/// The devices of `profile`: without ids the first GPU, where there is one, then the simulator at 32
/// and 64. With: those.
pub(crate) fn choose_for_profile(
    ids: &[String],
    available: &Available,
) -> Result<Vec<Choice>, Failure> {
    if !ids.is_empty() {
        return choose(ids, available);
    }
    let gpu = |choice: &Choice| matches!(choice, Choice::Wgpu { cpu_driver: false, .. });
    let first = available.working().into_iter().find(gpu);
    Ok(first.into_iter().chain(simulators()).collect())
}

fn simulators() -> impl Iterator<Item = Choice> {
    SIMULATED.into_iter().filter_map(|lanes| Width::new(lanes).ok()).map(Choice::Simulator)
}

fn one(id: &str, working: &[Choice], available: &Available) -> Result<Vec<Choice>, Failure> {
    if id == "all" {
        let devices = working.iter().cloned().chain(available.cuda_devices());
        return Ok(devices.chain(simulators()).collect());
    }
    match id.split_once(':') {
        Some(("sim", lanes)) => {
            let lanes: u32 = lanes.parse().map_err(|_| unknown(id, working, available))?;
            let width = Width::new(lanes).map_err(|error| {
                Failure::message(Exit::NoDevice, format!("--device {id}: {error}"))
            })?;
            Ok(vec![Choice::Simulator(width)])
        }
        Some(("wgpu", rest)) => {
            let found = named(working.to_vec(), rest);
            if found.is_empty() { Err(unknown(id, working, available)) } else { Ok(found) }
        }
        Some(("cuda", rest)) => {
            let found = named(available.cuda_devices(), rest);
            if !found.is_empty() {
                return Ok(found);
            }
            let trouble = available.cuda.as_ref().and_then(|cuda| cuda.trouble.clone());
            let why = trouble.unwrap_or_else(|| "CUDA's driver has no such device".to_owned());
            let message = format!("--device {id}: {why}\n{}", list(available));
            Err(Failure::message(Exit::NoDevice, message))
        }
        _ => Err(unknown(id, working, available)),
    }
}

/// The devices with a number, or with a part of a name.
fn named(devices: Vec<Choice>, wanted: &str) -> Vec<Choice> {
    let part = wanted.to_lowercase();
    let matches = |choice: &Choice| match choice {
        Choice::Wgpu { number, name, .. } | Choice::Cuda { number, name } => {
            number.to_string() == wanted
                || (wanted.parse::<usize>().is_err()
                    && !wanted.is_empty()
                    && name.to_lowercase().contains(&part))
        }
        Choice::Simulator(_) => false,
    };
    devices.into_iter().filter(matches).collect()
}

fn unknown(id: &str, working: &[Choice], available: &Available) -> Failure {
    let mut known: Vec<String> = working.iter().map(Choice::id).collect();
    known.extend(SIMULATED.map(|lanes| format!("sim:{lanes}")));
    known.push("all".to_owned());
    let hint = near_matches(id, known.iter().map(String::as_str));
    let mut message = format!("there is no device {id:?}{hint}\n{}", list(available));
    if working.is_empty() {
        message += INSTALL;
    }
    Failure::message(Exit::NoDevice, message)
}

/// What to install where there is no driver.
pub(crate) const INSTALL: &str = "\
To get a Vulkan driver:
  Debian, Ubuntu: apt install mesa-vulkan-drivers (or NVIDIA's driver with its Vulkan part)
  Fedora: dnf install mesa-vulkan-drivers vulkan-loader
  macOS: Metal is part of the system; nothing is needed
  Windows: DX12 is part of the system; install the GPU maker's driver
Without one, the simulator runs everything: --device sim:32 --device sim:64";

/// What there is, a line each.
pub(crate) fn list(available: &Available) -> String {
    let mut text = String::new();
    if let Some(trouble) = &available.trouble {
        text += &format!("  the adapters could not be listed: {trouble}\n");
    }
    for listed in &available.listed {
        let id = listed.id.as_deref().unwrap_or("left out");
        let why = listed.left_out.as_ref().map_or(String::new(), |why| format!(": {why}"));
        text += &format!("  {id:9} {} ({}){why}\n", listed.name, listed.backend);
    }
    for device in available.cuda.iter().flat_map(|cuda| &cuda.devices) {
        text += &format!("  {:9} {} (cuda)\n", device.id, device.name);
    }
    text += "  sim:W     the simulator, W = 1, 2, 4 … 128\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Backend;

    fn available() -> Available {
        let listed = |id: Option<&str>, name: &str, cpu_driver| Listed {
            id: id.map(str::to_owned),
            name: name.to_owned(),
            backend: Backend::Vulkan,
            cpu_driver,
            left_out: id.is_none().then(|| "it gives no device".to_owned()),
        };
        Available {
            listed: vec![
                listed(None, "Null hardware", false),
                listed(Some("wgpu:0"), "Radeon RX 7900", false),
                listed(Some("wgpu:1"), "llvmpipe", true),
            ],
            trouble: None,
            cuda: None,
        }
    }

    fn ids(ids: &[&str]) -> Result<Vec<String>, Failure> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        choose(&ids, &available()).map(|chosen| chosen.iter().map(Choice::id).collect())
    }

    #[test]
    fn defaults_are_the_gpus_then_the_simulator() {
        assert_eq!(ids(&[]).unwrap(), ["wgpu:0", "sim:32", "sim:64"]);
        assert_eq!(ids(&["all"]).unwrap(), ["wgpu:0", "wgpu:1", "sim:32", "sim:64"]);
    }

    #[test]
    fn names_and_numbers_choose() {
        assert_eq!(ids(&["wgpu:radeon"]).unwrap(), ["wgpu:0"]);
        assert_eq!(ids(&["sim:8", "wgpu:1", "sim:8"]).unwrap(), ["sim:8", "wgpu:1"]);
    }

    #[test]
    fn unknown_devices_exit_with_three_and_say_what_there_is() {
        for id in ["wgpu:9", "wgpu0", "sim:33", "cuda:0", "sim:x"] {
            let failure = ids(&[id]).unwrap_err();
            assert_eq!(failure.exit, Exit::NoDevice, "{id}");
        }
        let message = ids(&["wgpu0"]).unwrap_err().error.to_string();
        assert!(message.contains("did you mean wgpu:0"), "{message}");
        assert!(message.contains("left out  Null hardware"), "{message}");
    }
}
