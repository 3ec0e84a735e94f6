//! Running launches on devices: counting, timing, verifying.
//!
//! Input: [`Launch`]es and a device's id. Output: counts, times and verdicts, which [`measure`] puts
//! together into records. A GPU's driver is only ever opened in a child process ([`worker`]); the
//! simulator runs here. Nothing is printed or written to disk.
//!
//! | file | what it does |
//! |---|---|
//! | `ahead` | launches that are worked on before they are asked for, several at once |
//! | [`back_end`] | what a back end is |
//! | [`backends`] | the back ends, a row each: which devices, how opened, what they give |
//! | [`cuda`] | the only place that sees cudarc: NVIDIA's GPUs through CUDA |
//! | [`clock`] | how long something took, where there is a clock, and how far it is |
//! | `counting` | methods, verdicts and errors that all runners share |
//! | [`gpu`] | preparing, counting, timing and probing of GPUs, written once over `trait Gpu` |
//! | [`launched`] | the programs of a launch, digests of its outputs |
//! | [`measure`] | counts and times → `record::Measurement` |
//! | `probes` | the WGSL by which a device is measured |
//! | [`profile`] | a user's shader and launch file → `Launch` |
//! | `radv` | AMD's machine code, compiled by Mesa's RADV and executed; Linux |
//! | [`sampling`] | which sample next, how often, until when |
//! | [`session`] | device by device, launch by launch; failures; fresh children |
//! | [`looks`] | what a profile looks at beside counts |
//! | [`shapes`] | the same invocations in workgroups of other shapes, on the simulator |
//! | [`self_test`] | doctor's checks of counting |
//! | [`simulator`] | the `Runner` of `sim:W` |
//! | [`trust`] | how far a shader's counts on a device can be trusted |
//! | [`wgpu`] | the only place that sees wgpu |
//! | [`worker`] | the child process that owns a device, and the `Runner` that speaks to it |

mod ahead;
pub mod back_end;
#[cfg(feature = "devices")]
pub mod backends;
pub mod clock;
#[cfg(feature = "devices")]
mod counting;
#[cfg(feature = "devices")]
pub mod cuda;
#[cfg(feature = "devices")]
pub mod gpu;
pub mod launched;
pub mod looks;
pub mod measure;
mod probes;
pub(crate) use probes::{
    WIDTH as WIDTH_PROBE, WIDTH_WORKGROUPS as WIDTH_PROBE_WORKGROUPS, program as probe_program,
};
pub mod profile;
#[cfg(feature = "devices")]
pub mod radv;
pub mod sampling;
pub mod self_test;
pub mod session;
pub mod shapes;
pub mod simulator;
pub mod trust;
#[cfg(feature = "devices")]
pub mod wgpu;
pub mod what_if;
#[cfg(feature = "devices")]
pub mod worker;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::instrument::{self, Count};
use crate::kernel::Launch;
use crate::kernel::reference::OutputVerdict;
use crate::program::catch_panic;
pub use crate::record::RunErrorKind;
use crate::record::{
    Call, Counter, CountersFrom, Device, Flag, Limit, LimitOf, MachineCode, Method, Output, Time,
    Trace,
};
use crate::units::{Nanoseconds, Width};
pub use ahead::launches_at_once;
use clock::Progress;

/// A device that runs launches.
pub trait Runner {
    /// What is known of the device.
    fn device(&self) -> &Device;

    /// Where can be asked how far it is with what it counts; nothing for devices that do not say.
    fn progress(&self) -> Option<Progress> {
        None
    }

    /// Runs a launch with counters, as often as is asked for and each time from the same start, and
    /// checks its outputs: one result a run. `notice` is called whenever a dispatch is about to be
    /// compiled or run, where the device can tell: drivers on processors compile what counts for tens
    /// of seconds.
    ///
    /// # Errors
    ///
    /// [`RunError`]: the shader is not usable, the device cannot run it or cannot count so, or it did
    /// not end well.
    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError>;

    /// Says which launches will be counted once each, in this order and before any other: a device that can may
    /// count several at once. One that is not counted after all costs time alone.
    fn announce(&mut self, _: &[&Launch], _: &CountRequest) {}

    /// The first result of [`Runner::count`], where nobody waits for signs of life.
    ///
    /// # Errors
    ///
    /// As counting.
    fn count_once(&mut self, launch: &Launch, request: &CountRequest) -> Result<Counted, RunError> {
        let counted = self.count(launch, &CountRequest { runs: 1, ..*request }, &mut || {})?;
        let nothing = || RunError::new(RunErrorKind::DeviceLost, "counting gave no result");
        counted.into_iter().next().ok_or_else(nothing)
    }

    /// Runs a launch once more in a process of its own with the hardware's counters, after everything
    /// that is timed; nothing on devices that have none that can be read.
    fn collect(&mut self, _: &Launch) -> Option<Collected> {
        None
    }

    /// As [`Runner::collect`], without figures of the whole launch: the machine code of its dispatches alone, with
    /// what its instructions did. Nothing where the hardware counts no instructions.
    fn collect_code(&mut self, _: &Launch) -> Option<Collected> {
        None
    }

    /// Times launches side by side, then checks the outputs of each; one result a launch, in order.
    /// `notice` is called for each sample as it is taken: the launch's index.
    ///
    /// The devices without timestamps, the simulator among them, give `Ok(None)`, as this does.
    fn time(
        &mut self,
        launches: &[Launch],
        _: &TimeOptions,
        _: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        launches.iter().map(|_| Ok(None)).collect()
    }
}

/// How to count, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRequest {
    /// By which method. A simulator counts what it executes, whether that or derived counts are asked
    /// for, and estimates nothing.
    pub method: Method,
    /// Whether to count by number of active lanes too: at each execution, whatever the method says,
    /// but for estimates, which have none.
    pub histogram: bool,
    /// How often to run the launch, each time from the same start.
    pub runs: u32,
    /// Whether a simulator also keeps what the lanes of one subgroup do, operation by operation.
    pub trace: bool,
}

impl CountRequest {
    /// One run by a method, without histograms.
    pub fn once(method: Method) -> Self {
        Self { method, histogram: false, runs: 1, trace: true }
    }

    /// The same with histograms.
    #[must_use]
    pub fn with_histogram(self) -> Self {
        Self { histogram: true, ..self }
    }

    /// The same, run so often.
    #[must_use]
    pub fn with_runs(self, runs: u32) -> Self {
        Self { runs, ..self }
    }
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
    pub counting: Option<instrument::CounterScheme>,
}

/// What counting gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The width that ran the counted modules; `None` if it is not known.
    pub width: Option<Width>,
    /// How executions were counted.
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
    /// Time from the device being open to the counts being there; `None` if it was not taken.
    #[serde(default)]
    pub answer_ns: Option<Nanoseconds>,
    /// What the lanes of one subgroup did; `None` if nobody watched.
    #[serde(default)]
    pub trace: Option<Trace>,
}

/// Counts of one dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedDispatch {
    /// Workgroups along x, y and z; `None` if the device worked them out.
    pub workgroups: Option<[u32; 3]>,
    /// A count for each block, by number; empty on devices that cannot count.
    pub counts: Vec<Count>,
    /// The same by the way that calls took, as [`record::Dispatch::calls`](crate::record::Dispatch::calls) has
    /// them; empty where nobody told them apart.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// What no subgroup's iterations of all loops together exceed; `None` if that was not asked.
    #[serde(default)]
    pub iterations_max: Option<u64>,
    /// Whether counts are missing: the device left the loop in which counting adds them up, so that its loops ran as
    /// often as it lets them.
    #[serde(default)]
    pub incomplete: bool,
}

/// What timing gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The samples and what follows from them; `None` if no sample was usable.
    pub time: Option<Time>,
    /// The time of each dispatch by itself, in order; empty where the device takes no timestamps
    /// between dispatches or there is only one.
    #[serde(default)]
    pub dispatches: Vec<Option<DispatchTime>>,
    /// Whether the outputs of what was timed were right.
    pub checked: Checked,
    /// Whether the timed modules had bounds, loop and division checks.
    pub runtime_checks: bool,
    /// Findings, a word each.
    pub flags: Vec<Flag>,
}

/// The time of one dispatch within its launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DispatchTime {
    /// Its median.
    pub median_ns: Nanoseconds,
    /// 95 % bootstrap interval of the median, low and high.
    pub ci95_ns: [Nanoseconds; 2],
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
    /// What another input came to, by which blocks are told apart that ran alike on the launch's own.
    #[serde(default)]
    pub other: Option<OtherCounted>,
}

/// What a launch came to on another input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherCounted {
    /// Counts of each dispatch.
    pub dispatches: Vec<CountedDispatch>,
    /// Each dispatch's machine code with what its instructions did.
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

impl From<OutputVerdict> for Checked {
    fn from(verdict: OutputVerdict) -> Self {
        match verdict {
            OutputVerdict::Verified => Self { output: Output::Verified, mismatch: None },
            OutputVerdict::Unchecked => Self { output: Output::Unchecked, mismatch: None },
            OutputVerdict::Mismatch(mismatch) => {
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
    /// What happened and what to do, in words; how a limit is raised, whoever set it says.
    pub message: String,
    /// The limit that was reached, where one was.
    #[serde(default)]
    pub limit: Option<Limit>,
}

impl RunError {
    /// An error of a kind.
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), limit: None }
    }

    /// The same, as one that a limit makes.
    #[must_use]
    pub fn with_limit(self, which: LimitOf, value: u64) -> Self {
        Self { limit: Some(Limit { which, value }), ..self }
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
    catch_panic(work).unwrap_or_else(|payload| {
        let message = format!(
            "lanescope's {part} panicked on {file}: {payload}; please report it with the shader"
        );
        Err(RunError::new(RunErrorKind::Panicked, message))
    })
}

/// The time of day, RFC 3339 in UTC, to the second: when an invocation started.
#[cfg(feature = "devices")]
pub fn now_utc() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}
