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

use crate::units::{BlockId, Issues, Lanes, Nanoseconds, Ratio, Width};

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

/// What kind of machine a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The built-in SIMT interpreter.
    Simulator,
    /// An adapter that wgpu opened: Vulkan, Metal or DX12.
    Wgpu,
    /// An NVIDIA GPU through CUDA.
    Cuda,
}

/// A device, and what was measured of the device itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The name by which measurements refer to it: `sim:32`, `wgpu:0`, `cuda:0`.
    pub id: String,
    /// What kind of machine it is.
    pub kind: DeviceKind,
    /// The name that the driver gives.
    pub name: String,
    /// The maker, in plain words, or the PCI number where it is unknown.
    pub vendor: String,
    /// The driver and its version.
    pub driver: String,
    /// The interface: `vulkan`, `metal`, `dx12`, `cuda`, `interpreter`.
    pub backend: String,
    /// Whether the processor does the work (lavapipe, SwiftShader, WARP).
    pub cpu_driver: bool,
    /// The least width that the driver reports, in lanes; `null` where it offers no subgroups.
    pub subgroup_width_min: Option<Width>,
    /// The largest width that the driver reports, in lanes.
    pub subgroup_width_max: Option<Width>,
    /// The width that a kernel found, in lanes: the one that counts.
    pub subgroup_width_run: Option<Width>,
    /// Whether lane = `local_invocation_index` mod W held for every invocation of a probe.
    pub lane_is_local_index_mod_width: Option<bool>,
    /// Nanoseconds for one tick of the timestamp counter; `null` where there are no timestamps.
    pub timestamp_period_ns: Option<f64>,
    /// The least nonzero difference between two timestamps that was seen.
    pub timestamp_quantum_ns: Option<Nanoseconds>,
    /// Fused multiply-adds a second, the best of independent chains over all lanes.
    pub peak_fma_per_s: Option<f64>,
    /// Bytes a second that a copy kernel moved, bytes read plus bytes written.
    pub copy_bytes_per_s: Option<f64>,
    /// Whether `fma()` rounds once.
    pub fma_fused: Option<bool>,
    /// After how many iterations the device leaves a loop by itself; `null`: not seen to do so.
    pub loop_limit: Option<u64>,
    /// Whether the uniform buffers of every shader are bound as read-only storage on it, since its
    /// driver would fold their values into the shader and compile it anew at each dispatch
    /// (lavapipe); absent where not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub uniform_buffers_as_storage: bool,
    /// How 2D and 3D workgroups are cut into subgroups; `null` or absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// How far counts of issues can be trusted, over every part of the self-test that was run;
    /// `null` or absent where it was not asked. [`Measurement::trust`] says it of a shader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The parts of the self-test that were run; absent where none was, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub self_test: Vec<TestedPart>,
    /// What the driver was found to do otherwise than it says, a word each:
    /// `subgroup_width_misreported`, `self_test_failed`, `no_subgroups`, `no_timestamps`.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// How a workgroup of two or three dimensions is cut into subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packing {
    /// By `local_invocation_index` alone: every subgroup but the last is full.
    Linear,
    /// Each row along x begins a new subgroup: where rows are no multiple of the width, lanes idle.
    Rows,
    /// Otherwise, such as in tiles.
    Other,
}

/// How far a device's counts of issues can be trusted to be those of maximal reconvergence, and its
/// subgroup operations to see the lanes that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// By construction: the simulator.
    Guaranteed,
    /// The self-test's counts were right on this driver.
    Observed,
    /// The self-test failed or could not be run.
    Unknown,
}

impl std::fmt::Display for Trust {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Guaranteed => "guaranteed",
            Self::Observed => "observed",
            Self::Unknown => "unknown",
        })
    }
}

/// A part of the self-test: a small kernel whose counts are known for every width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedPart {
    /// The kernel's name in the family `self_test`.
    pub part: String,
    /// The form of control flow that it tests, in a word of [`ShaderTrust::constructs`].
    pub construct: String,
    /// Whether issues were those of maximal reconvergence.
    pub issues_right: bool,
    /// Whether lanes were right, which they are wherever lanes come together again.
    pub lanes_right: bool,
}

impl TestedPart {
    /// Whether all counts were right.
    pub fn passed(&self) -> bool {
        self.issues_right && self.lanes_right
    }
}

/// How far a shader's counts on a device can be trusted: the self-test's parts for the forms of
/// control flow that the shader uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderTrust {
    /// The verdict.
    pub trust: Trust,
    /// The forms that the shader's reachable functions use: `branch`, `nested_branch`,
    /// `early_return`, `loop`, `nested_loop`, `branch_in_loop`, `work_before_break`, `continue`,
    /// `return_in_loop`, `break_if`, `call`, `loop_in_call`, `switch`, `switch_in_loop`,
    /// `switch_shared_case`.
    pub constructs: Vec<String>,
    /// Those of them whose part failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// How a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything that was asked for was measured.
    Ok,
    /// The device, the time limit or the shader ended it: `error` says which.
    Failed,
}

/// Whether the outputs were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Every element lay within the kernel's tolerance of the CPU reference.
    Verified,
    /// At least one element did not; `error` shows the first ones.
    Mismatch,
    /// There is no reference.
    Unchecked,
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
    /// The kind of failure where it failed: `bad_input`, `no_device`, `unsupported`, `driver`,
    /// `panicked`, `out_of_memory`, `device_lost`, `time_limit`, `interrupted`, `step_limit`, `trap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
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
    /// Findings about how it was measured, a word each: `width_not_known_when_timed`,
    /// `stop_rule_not_met`, `differs_between_runs`; and what the simulator reported of a line, such as
    /// `read_out_of_bounds_line_12`.
    #[serde(default)]
    pub flags: Vec<String>,
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

/// Counts of one basic block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Its number in the program.
    pub id: BlockId,
    /// The label that a marker comment gave it.
    pub label: Option<String>,
    /// The source file.
    pub file: String,
    /// Line of its first operation, from 1.
    pub line: u32,
    /// Column of its first operation, from 1.
    pub column: u32,
    /// Operations: expressions, stores, calls, atomics, barriers, subgroup operations, terminators.
    pub ops: u64,
    /// What the block costs each lane's multiply-add unit at least: each `fma`, and each addition,
    /// subtraction or multiplication of floats, a product and the sum that takes it together one; a
    /// vector's components each. `null` or absent where they were not told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fma_ops: Option<u64>,
    /// Operations by source line; their sum is [`Block::ops`]. Absent where they were not told apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<u32, u64>,
    /// Why the block is entered and how its lanes leave it; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Executions by a subgroup with at least one active lane.
    pub issues: Issues,
    /// Active lanes, summed over those executions.
    pub lanes: Lanes,
    /// Element k: executions with k + 1 active lanes; absent where not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Vec<u64>>,
    /// The mean active lanes that the kernel's author expects at this width, in lanes.
    pub active_lanes_mean_expected: Option<f64>,
}

/// A block's place in its function's structured control flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The function that the block lies in.
    pub function: String,
    /// The constructs around the block in its function, outermost first; empty in the outermost body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Enclosure>,
    /// The construct that ends right before the block in the same body: its lanes that did not
    /// leave come together here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// How the block's lanes leave at its end, where it ends in a statement that leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Leave>,
    /// Whether it holds a barrier, or a load that is one (`workgroupUniformLoad`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub barrier: bool,
    /// The functions that it calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

/// A construct around a block, and the part of it that the block lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enclosure {
    /// The construct's number in the program, from 0, in the order of the source within a function.
    pub construct: u32,
    /// The part.
    pub part: Part,
    /// The part's number: the switch's case, from 0; 0 for every other part.
    #[serde(default)]
    pub case: u32,
    /// The line of the condition or selector; of the loop's first line for a loop.
    pub line: u32,
    /// What the condition depends on; for a loop all the conditions under which it is left.
    pub condition: ConditionClass,
    /// A block of the body around the construct whose lanes are exactly those that reach it: before
    /// it, else after it; absent where there is no such block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<BlockId>,
}

/// A part of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What lanes run for which an `if`'s condition is true.
    IfAccept,
    /// What the others run.
    IfReject,
    /// A case of a `switch`.
    SwitchCase,
    /// A loop's body, a `for`'s condition included.
    LoopBody,
    /// What follows the body in each iteration.
    LoopContinuing,
}

/// What a condition depends on, as far as the program alone proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionClass {
    /// The same for every invocation of a workgroup that evaluates it together.
    Uniform,
    /// An invocation's number modulo a small constant, or some of its low bits.
    LaneParity,
    /// An invocation's number otherwise, such as a bound.
    Invocation,
    /// Values loaded from memory, or whatever could not be traced.
    Data,
}

/// A statement by which lanes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// `return`, the implicit one at a function's end not counted.
    Return,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// Counts of one source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Operations on it, static.
    pub ops: u64,
    /// Σ ops·issues over its operations: the issue slots that it took.
    pub issues: Issues,
    /// Σ ops·lanes over its operations.
    pub lanes: Lanes,
}

/// What `examples/peers` measured: the library's algorithms beside what a CUDA user would pick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peers {
    /// The format's number, [`SCHEMA`].
    pub schema: u32,
    /// A row for each work, size, peer, device and state of the caches.
    pub rows: Vec<PeerRow>,
}

/// One work at one size, beside one peer; both sides were sampled in turn on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerRow {
    /// The work: `reduce_f32`, `scan_u32`, `softmax_f32`.
    pub work: String,
    /// Elements.
    pub n: u64,
    /// Who else does it: `cub`, `torch`.
    pub peer: String,
    /// The peer's time, median over the samples.
    pub peer_median_ns: f64,
    /// The device's name; with ` (CUDA)` behind it where the library's WGSL ran translated, through CUDA,
    /// and not through wgpu.
    pub device: String,
    /// Our time, median over the samples.
    pub median_ns: f64,
    /// The peer's time over ours.
    pub speed_ratio: f64,
    /// Bytes that must move: each input once, each output once.
    pub bytes_moved: u64,
    /// Those bytes over our time, over the device's copy rate.
    pub copy_rate_ratio: f64,
    /// Whether calls took turns on so many copies of the buffers that no cache held them.
    pub cold: bool,
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

/// A hardware counter's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The vendor's name for it.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The vendor's unit.
    pub unit: String,
    /// The vendor's description.
    pub description: String,
}

/// The library that read hardware counters, and what it says of the chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountersFrom {
    /// CUPTI's file.
    pub library: String,
    /// CUPTI's version in words, with its own number: `CUPTI 13.0 (130000)`.
    pub version: String,
    /// The chip's name, as `GH100`.
    pub chip: String,
    /// The program that disassembled; `null` where there is none.
    pub disassembler: Option<String>,
}

/// A kernel's machine code with what its instructions did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCode {
    /// The function's name.
    pub function: String,
    /// The architecture, as `sm_90`.
    pub architecture: String,
    /// The instructions in the order of their offsets, those that never ran included.
    pub instructions: Vec<Instruction>,
}

/// One machine instruction of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Where it lies in the function.
    pub offset_bytes: u32,
    /// The source file that it comes from; `null` where that is none of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its text; `null` or absent where there was no disassembler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How often subgroups executed it (`smsp__sass_inst_executed`).
    pub inst_executed: u64,
    /// The active lanes, summed over those executions (`smsp__sass_thread_inst_executed`).
    pub thread_inst_executed: u64,
    /// Those of them that a predicate did not turn off (`smsp__sass_thread_inst_executed_pred_on`).
    pub thread_inst_executed_pred_on: u64,
}
