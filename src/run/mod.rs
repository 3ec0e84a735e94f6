//! Running launches on devices: counting, timing, verifying.
//!
//! Input: [`Launch`]es and a device's id. Output: counts, times and verdicts, which [`measure`] puts
//! together into records. A GPU's driver is only ever opened in a child process ([`worker`]); the
//! simulator runs here. Nothing is printed or written to disk.
//!
//! | file | what it does |
//! |---|---|
//! | [`cuda`] | the only place that sees cudarc: NVIDIA's GPUs through CUDA |
//! | `counting` | what the runners of GPUs share |
//! | [`measure`] | counts and times → `record::Measurement` |
//! | `probes` | the WGSL by which a device is measured |
//! | [`profile`] | a user's shader and launch file → `Launch` |
//! | `radv` | AMD's machine code, compiled by Mesa's RADV and executed; Linux |
//! | [`sampling`] | which sample next, how often, until when |
//! | [`session`] | device by device, launch by launch; failures; fresh children |
//! | [`self_test`] | doctor's checks of counting |
//! | [`simulator`] | the `Runner` of `sim:W` |
//! | [`trust`] | how far a shader's counts on a device can be trusted |
//! | [`wgpu`] | the only place that sees wgpu |
//! | [`worker`] | the child process that owns a device, and the `Runner` that speaks to it |

mod counting;
pub mod cuda;
pub mod measure;
mod probes;
pub mod profile;
#[cfg(target_os = "linux")]
pub mod radv;
pub mod sampling;
pub mod self_test;
pub mod session;
pub mod simulator;
pub mod trust;
pub mod wgpu;
pub mod worker;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::instrument::{self, Count};
use crate::kernel::Launch;
use crate::kernel::reference::Verdict;
pub use crate::record::RunErrorKind;
use crate::record::{Counter, CountersFrom, Device, Flag, MachineCode, Method, Output, Time};
use crate::units::{Nanoseconds, Width};

/// A device that runs launches.
pub trait Runner {
    /// What is known of the device.
    fn device(&self) -> &Device;

    /// Runs a launch once with counters and checks its outputs.
    ///
    /// # Errors
    ///
    /// [`RunError`]: the shader is not usable, the device cannot run it, or it did not end well.
    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError>;

    /// As [`Runner::count`], or as [`Runner::estimate`]; `notice` hears whenever a dispatch is about to be
    /// compiled or run, where the device can tell. Drivers on processors compile what counts for tens of
    /// seconds.
    ///
    /// # Errors
    ///
    /// As counting and estimating.
    fn count_noticed(
        &mut self,
        launch: &Launch,
        how: How,
        _notice: &mut dyn FnMut(),
    ) -> Result<Counted, RunError> {
        match how {
            How::Counted(options) => self.count(launch, &options),
            How::Estimated => self.estimate(launch),
        }
    }

    /// As [`Runner::count`], without subgroup operations: lanes are exact, issues estimated.
    ///
    /// # Errors
    ///
    /// As counting, and [`RunErrorKind::Unsupported`] on devices that need no estimates.
    fn estimate(&mut self, launch: &Launch) -> Result<Counted, RunError> {
        let message =
            format!("{} counts {} and estimates nothing", self.device().id, launch.kernel);
        Err(RunError::new(RunErrorKind::Unsupported, message))
    }

    /// Counts a launch twice from the same start, and says whether the second run came out with the
    /// same counts and outputs; gives the first. `notice` hears what [`Runner::count_noticed`] tells.
    ///
    /// # Errors
    ///
    /// As counting and estimating.
    fn count_twice(
        &mut self,
        launch: &Launch,
        how: How,
        notice: &mut dyn FnMut(),
    ) -> Result<(Counted, bool), RunError> {
        let mut once = || self.count_noticed(launch, how, notice);
        let (first, second) = (once()?, once()?);
        let same =
            first.outputs_sha256 == second.outputs_sha256 && first.dispatches == second.dispatches;
        Ok((first, same))
    }

    /// Runs a launch once more in a process of its own with the hardware's counters, after everything
    /// that is timed; nothing on devices that have none that can be read.
    fn collect(&mut self, _: &Launch) -> Option<Collected> {
        None
    }

    /// Times launches side by side, then checks the outputs of each; one result a launch, in order.
    /// `notice` hears of each sample as it is taken: the launch's index.
    ///
    /// The devices without timestamps, the simulator among them, give `Ok(None)`.
    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>>;
}

/// How to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountOptions {
    /// Whether to count issues by number of active lanes too.
    pub histogram: bool,
    /// Whether to derive counts from as few counters as can be: fast, and what maximal reconvergence
    /// would give. Histograms are never derived, and a simulator counts what it executes.
    pub derived: bool,
}

/// How to count where estimates are possible too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// As [`Runner::count`].
    Counted(CountOptions),
    /// As [`Runner::estimate`].
    Estimated,
}

/// How to time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeOptions {
    /// How long sampling may take for all launches together.
    pub budget: Duration,
    /// The fewest usable samples of each launch that the stop rule asks for.
    pub samples_min: u32,
    /// The noise at or below which the stop rule is met, 1.0 being 100 %.
    pub noise_ratio_max: f64,
    /// Times the modules that count so, in place of the plain ones: what counting costs. Never a
    /// kernel's time.
    pub counting: Option<instrument::Method>,
}

/// What counting gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The width that ran the counted modules; nothing where it is not known.
    pub width: Option<Width>,
    /// How issues were counted.
    pub method: Method,
    /// Counts of each dispatch, in order.
    pub dispatches: Vec<CountedDispatch>,
    /// SHA-256 of each output buffer after the last dispatch, in hexadecimal, by name.
    pub outputs_sha256: BTreeMap<String, String>,
    /// Whether the outputs were right.
    pub checked: Checked,
    /// Whether the counted modules had bounds, loop and division checks.
    pub runtime_checks: bool,
    /// Findings, a word each.
    pub flags: Vec<Flag>,
    /// Elements of the outputs that the launch wants shown, by name.
    #[serde(default)]
    pub outputs_shown: BTreeMap<String, Vec<f64>>,
    /// What else was measured while counting: a simulator's speed.
    #[serde(default)]
    pub counters: Vec<Counter>,
    /// Time from the device being open to the counts being there; nothing where it was not taken.
    #[serde(default)]
    pub answer_ns: Option<Nanoseconds>,
}

/// Counts of one dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedDispatch {
    /// Workgroups along x, y and z; nothing where the device worked them out.
    pub workgroups: Option<[u32; 3]>,
    /// A count for each block, by number; empty on devices that cannot count.
    pub counts: Vec<Count>,
}

/// What timing gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The samples and what follows from them; nothing where no sample was usable.
    pub time: Option<Time>,
    /// The median time of each dispatch by itself, in nanoseconds, in order; empty where the device
    /// takes no timestamps between dispatches or there is only one.
    #[serde(default)]
    pub dispatch_median_ns: Vec<Option<Nanoseconds>>,
    /// Whether the outputs of what was timed were right.
    pub checked: Checked,
    /// Whether the timed modules had bounds, loop and division checks.
    pub runtime_checks: bool,
    /// Findings, a word each.
    pub flags: Vec<Flag>,
}

/// What hardware counters gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// Figures of the whole launch, by the vendor's names.
    pub counters: Vec<Counter>,
    /// Why figures that were asked for are not there, a sentence each.
    pub missing: Vec<String>,
    /// What read them.
    pub from: Option<CountersFrom>,
    /// Each dispatch's machine code with what its instructions did; nothing for one whose figures
    /// are not valid.
    pub machine_code: Vec<Option<MachineCode>>,
}

/// A verdict on outputs, with the mismatch in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The verdict.
    pub output: Output,
    /// The first elements that differ.
    pub mismatch: Option<String>,
}

impl From<Verdict> for Checked {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Verified => Self { output: Output::Verified, mismatch: None },
            Verdict::Unchecked => Self { output: Output::Unchecked, mismatch: None },
            Verdict::Mismatch(mismatch) => {
                Self { output: Output::Mismatch, mismatch: Some(mismatch.to_string()) }
            }
        }
    }
}

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// What kind of failure it is.
    pub kind: RunErrorKind,
    /// What happened and what to do, in words.
    pub message: String,
}

impl RunError {
    /// An error of a kind.
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Runs a part of lanescope, and turns a panic in it into an error.
///
/// # Errors
///
/// [`RunErrorKind::Panicked`] with the part's and the shader's name, and what `work` gives.
pub fn caught<T>(
    part: &str,
    file: &str,
    work: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!(
            "lanescope's {part} panicked on {file}: {said}; please report it with the shader"
        );
        Err(RunError::new(RunErrorKind::Panicked, message))
    })
}

/// The time of day, RFC 3339 in UTC, to the second: when an invocation started.
pub fn now_utc() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
