//! What a back end is: how devices are reached, what they give, and what is listed of them.
//!
//! Input: nothing. Output: the types of a row of [`backends`](super::backends), which the back ends
//! fill in. Nothing is asked or opened here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::simulator;
use super::{Collected, RunError, RunErrorKind, Runner};
use crate::kernel::{KernelLanguage, Launch};
use crate::record::{Backend, CountersFrom, Gives};

/// A way to reach devices.
#[derive(Debug)]
pub struct BackEnd {
    /// What its devices' ids begin with, before a colon.
    pub prefix: &'static str,
    /// What sentences call it.
    pub name: &'static str,
    /// What its devices can give.
    pub gives: Gives,
    /// The languages of kernels that they run.
    pub languages: &'static [KernelLanguage],
    /// Which devices there are.
    pub places: Places,
    /// Whether a device is opened in a child process, which alone is lost with it, rather than here.
    pub in_child: bool,
    /// Whether its devices compile what will be counted before it is counted, where they are told.
    pub compiles_ahead: bool,
    /// Whether a launch's memory is watched beside its counts, where that is asked for.
    pub watches_memory: bool,
    /// What the child that opens a place has in its environment, beside its parent's; a driver reads
    /// it before anything can be said to it. Else why the place cannot be opened.
    pub environment: Environment,
    /// How hardware counters are read, where devices have any.
    pub hardware: Option<HardwareCounters>,
    /// Opens the device at a place in this process.
    pub open: Open,
}

/// The variables for the child that opens a place, by their names; else a sentence.
pub type Environment = fn(&str) -> Result<Vec<(String, String)>, String>;

/// Lists what there is, and says in between that it goes on. Beside it, where listing has opened devices, what
/// gives one of them.
pub type List = fn(&mut dyn FnMut()) -> (Listing, Option<OpenListed>);

/// Gives the device at a place as it was opened when devices were listed, and lets go of the others.
pub type OpenListed = Box<dyn FnOnce(&str, &OpenOptions) -> Result<Box<dyn Runner>, RunError>>;

/// Opens the device at a place.
pub type Open = fn(&str, &OpenOptions) -> Result<Box<dyn Runner>, RunError>;

/// What stands behind the colon in the ids of a back end.
#[derive(Debug)]
pub enum Places {
    /// A number, or a part of a name, of what a driver lists.
    Listed {
        /// Lists what there is.
        list: List,
        /// How its drivers are asked one by one, where that can be done.
        drivers: Option<Drivers>,
        /// Whether its devices are used where none is named.
        by_default: bool,
        /// What lists in JSON call it: with drivers its devices alone, their faults beside them; else all that
        /// is listed.
        json: &'static str,
    },
    /// Anything of a form; there is nothing to ask.
    Form {
        /// What is used beside every run.
        usual: &'static [&'static str],
        /// What the main job executes beside those, at the sizes of a simulator that is alone.
        surveyed: &'static [&'static str],
        /// The form and what it means, for lists of devices.
        meaning: [&'static str; 2],
        /// Whether a place is of the form; where not, why, in a clause where there is more to say.
        check: fn(&str) -> Result<(), Option<String>>,
    },
}

/// How the drivers of a back end are asked one by one.
#[derive(Debug)]
pub struct Drivers {
    /// Their files, in the order in which they are used.
    pub files: fn() -> Vec<DriverFile>,
    /// The variables with which a child asks these alone.
    pub only: fn(&[&PathBuf]) -> Vec<(String, String)>,
}

/// The file by which a driver is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong with it, a clause, so that its driver is not even loaded.
    pub fault: Option<String>,
}

/// How a back end's hardware counters are read: in parts, each in a process of its own.
#[derive(Debug)]
pub struct HardwareCounters {
    /// Whether they can be read at a place, and what reads them, or why they cannot be read.
    pub available: fn(&str) -> Result<Result<CountersFrom, String>, RunError>,
    /// The parts of a launch's counters; of each dispatch it is said whether it only sets up.
    pub parts: fn(&[bool]) -> Vec<CountersPart>,
    /// Reads a part of a launch's counters at a place.
    pub collect: fn(&str, &Launch, CountersPart) -> Result<Collected, RunError>,
    /// Puts the parts together.
    pub merge: fn(&[bool], Vec<Collected>) -> Collected,
}

/// What is read of hardware counters in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountersPart {
    /// Figures of the whole launch.
    Figures,
    /// Counts of the instructions of the dispatch with this number.
    Instructions(usize),
}

/// How long a GPU is kept busy before anything is timed, so that its clock is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmUpRule {
    /// Until it is as fast as it has ever been: seconds, where that is not known yet. For figures that are kept.
    Whole,
    /// Until it has kept one speed for a moment, 0.15 s at most: for answers that somebody waits for. Whether the
    /// clock moved all the same is asked after timing, and flagged.
    Short,
}

/// How to open a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOptions {
    /// Whether to measure rates and fusion of a device that has a driver, and how it is warmed up then and
    /// before it is timed.
    pub calibrate: Option<WarmUpRule>,
    /// The most operations that a subgroup may execute, where it is the simulator that runs it, or
    /// instructions, where it is the interpreter of machine code.
    pub steps_max: u64,
    /// The same of all subgroups of a launch together.
    pub operations_max: u64,
    /// Whether the simulator fails a launch for what it would only flag.
    pub strict: bool,
    /// The most bytes of buffers that the simulator takes.
    pub memory_bytes_max: u64,
}

impl OpenOptions {
    /// The simulator's usual limits; `calibrate` says whether a driver's device is measured.
    pub fn usual(calibrate: Option<WarmUpRule>) -> Self {
        Self {
            calibrate,
            steps_max: simulator::STEPS_MAX,
            operations_max: simulator::OPERATIONS_MAX,
            strict: false,
            memory_bytes_max: simulator::MEMORY_BYTES_MAX,
        }
    }
}

/// What a back end lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The devices in order, those that are left out included.
    pub devices: Vec<Listed>,
    /// Why there is none, or why they could not be listed, in a sentence.
    pub trouble: Option<String>,
    /// How kernels become machine code, and why so, in a sentence, where that is not the driver's own
    /// business.
    pub path: Option<String>,
    /// Whether any kernel does, rather than those few that lanescope brings compiled.
    pub compiles: bool,
    /// Which drivers are left out, since they bring down whoever asks them, and what they did: a sentence
    /// each.
    #[serde(default)]
    pub faults: Vec<String>,
    /// The variables that a child needs so that its devices are those that are listed.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
}

impl Listing {
    /// What runs through a back end here and how, or why nothing does, in a sentence. How kernels would
    /// be compiled matters only where there is a device for them.
    pub fn summary(&self, back_end: &BackEnd) -> String {
        match (&self.trouble, &self.path) {
            (Some(trouble), _) => {
                format!("nothing runs through {} here, because {trouble}", back_end.name)
            }
            (None, Some(path)) => format!("the driver is there, and {path}"),
            (None, None) => "the driver is there".to_owned(),
        }
    }
}

/// A device that a driver lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// `wgpu:N`, `cuda:N`; nothing for one that is left out.
    pub id: Option<String>,
    /// The driver's name for it.
    pub name: String,
    /// The interface.
    pub backend: Backend,
    /// Whether the processor does the work.
    pub cpu_driver: bool,
    /// Why it is left out.
    pub left_out: Option<String>,
}

/// A place of a back end where there is no device, and why.
pub(super) fn no_device(prefix: &str, place: &str, why: &str) -> RunError {
    RunError::new(RunErrorKind::NoDevice, format!("there is no device {prefix}:{place} {why}"))
}

/// The number that a place is.
///
/// # Errors
///
/// [`RunErrorKind::NoDevice`] where it is none.
pub(super) fn number(prefix: &str, place: &str) -> Result<usize, RunError> {
    place.parse().map_err(|_| no_device(prefix, place, "(a number is wanted)"))
}
