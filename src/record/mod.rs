//! The result format: what one invocation of lanescope measured, as written to disk.
//!
//! Input: finished measurements. Output: serde types whose documentation *is* the specification of
//! the JSON. Nothing here computes: what can be derived (ratios between kernels, agreement,
//! plausibility) is made by `analyze` and never written back.
//!
//! # Rules of the format
//!
//! - `schema` comes first; a file with another schema is refused, see [`SCHEMA`].
//! - Every key of a physical quantity ends in its unit; `_ratio` means that 1.0 is 100 %.
//! - What was not measured is `null` or absent, never zero.
//! - Integers that may exceed 2^53 are still JSON numbers: read them as 64-bit integers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{Nanoseconds, Ratio, Width};

mod counts;
mod device;
pub mod flag;
mod machine;
mod note;
mod outcome;
mod peers;

pub use counts::{Block, ConditionClass, Enclosure, Flow, Leave, Line, Part};
pub use device::{Backend, Device, DeviceKind, Packing, ShaderTrust, TestedPart, Trust};
pub use flag::{Flag, Tag};
pub use machine::{Counter, CountersFrom, Instruction, MachineCode};
pub use note::{Axis, KernelNote, Published, PublishedSpeedup};
pub use outcome::{Output, RunErrorKind, Status};
pub use peers::{PeerRow, Peers};

/// The number of the format that this version writes and reads.
pub const SCHEMA: u32 = 1;

/// One invocation: the whole content of a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The format's number, [`SCHEMA`].
    pub schema: u32,
    /// The program that wrote the file.
    pub tool: Tool,
    /// When the invocation started, RFC 3339 in UTC.
    pub started_utc: String,
    /// The arguments as typed, without the program's path.
    pub argv: Vec<String>,
    /// The machine.
    pub host: Host,
    /// Every device that was opened, in the order of use.
    pub devices: Vec<Device>,
    /// Every finished measurement, in the order in which it finished.
    pub measurements: Vec<Measurement>,
    /// What is known of each kernel, by its name as in [`Measurement::kernel`], as its description said
    /// when it was measured; absent in records of schema 1. A user's shader may have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, KernelNote>,
    /// Text of each source, by its SHA-256 in hexadecimal; stored once however often it is used.
    #[serde(default)]
    pub sources: BTreeMap<String, Source>,
}

/// A shader's text as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name under which messages and tables show it, such as `five_patterns/uniform.wgsl`.
    pub file: String,
    /// The whole text.
    pub text: String,
}

/// The program that wrote a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Always `lanescope`.
    pub name: String,
    /// The crate's version.
    pub version: String,
    /// The commit that the program's sources were at, where a git checkout told it.
    pub git_sha: Option<String>,
    /// Whether the sources differed from that commit.
    pub git_dirty: Option<bool>,
}

/// The machine that ran the invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Operating system, as Rust names it (`linux`, `windows`, `macos`).
    pub os: String,
    /// Processor architecture, as Rust names it (`x86_64`, `aarch64`).
    pub arch: String,
    /// Processors available to the program.
    pub logical_cpus: u32,
    /// The environment variables that change which driver runs and how, where they were set.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// How issues were obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssuesMethod {
    /// A leader was asked for at each execution of each block.
    Executed,
    /// Some blocks' issues follow from others' under maximal reconvergence.
    Derived,
    /// Lanes were counted without subgroup operations; a block's issues are the most trips of any
    /// lane, summed over chunks of as many consecutive invocations as a subgroup has lanes: at most
    /// what maximal reconvergence gives.
    Estimated,
}

/// The value of a kernel's parameter at one point of a sweep.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number, such as an element count.
    Integer(i64),
    /// A real number, such as a probability.
    Real(f64),
    /// A name, such as a form.
    Name(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Real(value) => write!(formatter, "{value}"),
            Self::Name(value) => formatter.write_str(value),
        }
    }
}

/// One kernel at one point of its parameters on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The device's id, see [`Device::id`].
    pub device: String,
    /// `family/name` of the kernel, or the path of a user's shader.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The seed of the generated inputs.
    pub seed: u64,
    /// How it ended.
    pub status: Status,
    /// Why it failed, or which outputs differ; `null` where nothing went wrong.
    pub error: Option<String>,
    /// The kind of failure where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<RunErrorKind>,
    /// The width at which the counts were taken, in lanes.
    pub subgroup_width: Option<Width>,
    /// Which modules were created with bounds, loop and division checks.
    pub runtime_checks: RuntimeChecks,
    /// Whether the outputs of what was timed (else of what was counted) were right.
    pub output: Output,
    /// SHA-256 of the shader's text, a key of [`Run::sources`].
    pub source_sha256: String,
    /// How issues were obtained; `null` where nothing was counted.
    pub issues_method: Option<IssuesMethod>,
    /// How far counts can be trusted for this shader; absent where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<ShaderTrust>,
    /// Time from the device being open to the counts being there, the self-test's parts and the
    /// second run included; absent where it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_ns: Option<Nanoseconds>,
    /// Σ ops·lanes / Σ ops·issues over every block, in lanes.
    pub active_lanes_mean: Option<f64>,
    /// [`Measurement::active_lanes_mean`] over the width.
    pub efficiency_ratio: Option<Ratio>,
    /// The dispatches, in the order of execution.
    pub dispatches: Vec<Dispatch>,
    /// Times, where the device was timed.
    pub time: Option<Time>,
    /// Bytes that one launch must read and write however it is done, as the kernel says: its time
    /// makes a rate of them, which compares with [`Device::copy_bytes_per_s`]. Absent where the
    /// kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_moved_min: Option<u64>,
    /// Elements of outputs that no reference knows and that the kernel wants shown, by the buffer's
    /// name, in the buffer's unit: what a device returns where nothing is promised.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs_shown: BTreeMap<String, Vec<f64>>,
    /// Hardware counters of the whole launch, all its dispatches together, by NVIDIA's names, of
    /// the module without counters of its own, in a run that was not timed; on a simulator its own
    /// speed.
    #[serde(default)]
    pub counters: Vec<Counter>,
    /// Why hardware counters that were asked for are not there, a sentence each; empty where nothing
    /// was asked or nothing is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters_missing: Vec<String>,
    /// What read the hardware counters; absent where none were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters_from: Option<CountersFrom>,
    /// Findings about how it was measured, such as [`Tag::StopRuleNotMet`], and what the simulator
    /// reported of lines, such as [`Tag::ReadOutOfBounds`].
    #[serde(default)]
    pub flags: Vec<Flag>,
}

/// Whether modules ran with bounds, loop-bound and division checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeChecks {
    /// Whether the timed module had them.
    pub timed: bool,
    /// Whether the counted module had them.
    pub counted: bool,
    /// Whether workgroup memory was zeroed before use.
    pub workgroup_memory_zeroed: bool,
}

/// One dispatch of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The entry point.
    pub entry_point: String,
    /// Workgroups along x, y and z; `null` where the device computed them (indirect).
    pub workgroups: Option<[u32; 3]>,
    /// Invocations a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Whether it only made ready what the others worked on: it is neither in the launch's time nor
    /// in [`Measurement::active_lanes_mean`].
    #[serde(default, skip_serializing_if = "is_false")]
    pub setup: bool,
    /// The median time of the dispatch within its launch, in nanoseconds, where a launch has several
    /// and the device takes timestamps: from the end of the dispatch before to its own end, less what
    /// a timestamp was seen to cost. On a device without timestamps inside passes it leaves out what
    /// lies between dispatches. The launch ran as in [`Measurement::time`]; timestamps keep dispatches
    /// apart that it may overlap, so these need not add up to it. In older records the cost is
    /// still in it, and a GPU's clocks may have fallen before it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<Nanoseconds>,
    /// Counts of each block, in the order of block numbers; empty where nothing was counted.
    pub blocks: Vec<Block>,
    /// The same counts by source line.
    pub lines: Vec<Line>,
    /// The machine code that ran and how often each instruction did, from hardware counters; absent
    /// where they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<MachineCode>,
}

/// Whether a key may be left out; serde gives a reference.
fn is_false(value: &bool) -> bool {
    !value
}

/// Times of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Median over the `ok` samples of the time of one launch (all its dispatches once).
    pub median_ns: Nanoseconds,
    /// 95 % bootstrap interval of the median, low and high.
    pub ci95_ns: [Nanoseconds; 2],
    /// Relative half-width of the interquartile range of the `ok` samples about the median.
    pub noise_ratio: Ratio,
    /// How often the launch is repeated between the two timestamps of a sample.
    pub dispatches_per_sample: u32,
    /// How often the launch runs, without timestamps, right before each sample and in the same
    /// submission: a device that waits between samples is slower at first. 0 for a launch of 50 ms or
    /// more, which needs none; absent in records from before this was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatches_before_sample: Option<u32>,
    /// Whether the stop rule (samples, noise) was met before the time ran out.
    pub stop_rule_met: bool,
    /// Raw samples in the order taken.
    pub samples: Vec<Sample>,
}

/// One timed pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The round: samples of several kernels in one round were taken side by side.
    pub round: u32,
    /// Timestamp at the beginning of the pass, in ticks.
    pub ticks_begin: u64,
    /// Timestamp at its end, in ticks.
    pub ticks_end: u64,
    /// Whether the sample counts.
    pub state: SampleState,
}

/// Whether a sample can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleState {
    /// It counts.
    Ok,
    /// Both timestamps are the same.
    Zero,
    /// The end lies before the beginning.
    Negative,
    /// The difference is so near the timer's quantum that it says nothing.
    Quantised,
}
