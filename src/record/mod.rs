//! The result format: what one invocation of lanescope measured, as written to disk.
//!
//! Input: finished measurements. Output: serde types whose documentation *is* the specification of
//! the JSON. Nothing here computes: what can be derived (ratios between kernels, agreement,
//! plausibility) is made by `analyze` and never written back.
//!
//! # Rules of the format
//!
//! - `schema` comes first, see [`SCHEMA`]. Schema 1 is read too and becomes this one; any other is
//!   refused.
//! - Every key of a physical quantity ends in its unit; `_ratio` means that 1.0 is 100 %.
//! - What was not measured is `null` or absent, never zero.
//! - What the program says of a dispatch's blocks ([`BlockCode`]) is stored once a file, however many
//!   dispatches and measurements it concerns: `block_tables` has, by the SHA-256 of its own JSON, a
//!   list of rows in the order of block numbers; a dispatch names its table as `block_table`, and its
//!   `blocks` have `executions`, `lanes`, and where they were taken `histogram`, `parts` and
//!   `active_lanes_mean_expected`, in the same order. Counts by source line follow from both, see
//!   [`Dispatch::lines`].
//! - Integers that may exceed 2^53 are still JSON numbers: read them as 64-bit integers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{COUNTING_RULE, Nanoseconds, Ratio, Width};

mod counts;
mod device;
pub mod flag;
mod machine;
mod made_up;
mod memory;
mod note;
mod outcome;
mod peers;
mod value;
mod what_if;

use counts::lines_of;
pub use counts::{
    Block, BlockCode, BlockTotals, Call, CallBlock, ConditionClass, ConstructPart, Enclosure, Flow,
    Leave, Line, ShortCircuit, Spread, Trace, TracedSubgroup,
};
pub use device::{Backend, Device, DeviceKind, Gives, Packing, ShaderTrust, TestedPart, Trust};
pub use flag::{Flag, Tag};
pub use machine::{
    Arm, ArmOutcome, Counter, CountersFrom, Instruction, MachineCode, NearBlock, SOURCE_LANES_MEAN,
};
pub use made_up::{Constant, MadeUp};
pub use memory::{
    AccessCost, BarrierWait, Cost, DataRace, DispatchMemory, MemoryUse, Pattern, RaceSide, Touching,
};
pub use note::{
    Axis, ChainsNote, CountedArms, Divergence, FigureLine, FigureNote, FigureY, GrainNote,
    KernelNote, PublishedFigure, PublishedSpeedup, Reading, ShownNote, ShownRows, StageNote,
    Tolerance,
};
pub use outcome::{Limit, LimitOf, Output, RunErrorKind, Status};
pub use peers::{PEERS_SCHEMA, PeerRow, Peers};
pub use value::Value;
pub(crate) use value::is_false;
pub use what_if::{Change, KEPT_COUNTS_MAX, Refused, Trial, WhatIf};

/// The number of the format that this version writes and reads.
pub const SCHEMA: u32 = 2;

/// The rule by which operations were counted in records of schema 1: jumps counted 1.
pub const COUNTING_RULE_OF_SCHEMA_1: u32 = 1;

/// One invocation: the whole content of a result file; `D` is the form of its dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run<D = Dispatch> {
    /// The format's number, [`SCHEMA`].
    pub schema: u32,
    /// The rule by which operations were counted: 1 where jumps (`break`, `continue`, `return`) count
    /// an operation, 2 where they count none. Operations of two rules are never compared. Absent: 1.
    #[serde(default = "counting_rule_of_schema_1")]
    pub counting_rule: u32,
    /// The program that wrote the file.
    pub tool: Tool,
    /// When the invocation started, RFC 3339 in UTC.
    pub started_utc: String,
    /// The arguments as typed, without the program's path; of each that is a path its file name. Older
    /// records may hold whole paths.
    pub argv: Vec<String>,
    /// The machine.
    pub host: Host,
    /// Every device that was opened, in the order of use.
    pub devices: Vec<Device>,
    /// Every finished measurement, in the order in which it finished.
    pub measurements: Vec<Measurement<D>>,
    /// What is known of each kernel, by its name as in [`Measurement::kernel`], as its description said
    /// when it was measured; absent in records of schema 1. A user's shader may have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, KernelNote>,
    /// Text of each source, by its SHA-256 in hexadecimal; stored once however often it is used.
    #[serde(default)]
    pub sources: BTreeMap<String, Source>,
}

fn counting_rule_of_schema_1() -> u32 {
    COUNTING_RULE_OF_SCHEMA_1
}

impl<D> Run<D> {
    /// Whether its operations are what this version counts as operations. If not, what follows from
    /// counts (lanes, efficiency, slots) is set beside no limit and no figure of today's rule; times and
    /// outputs are of no rule.
    pub fn counts_as_today(&self) -> bool {
        self.counting_rule == COUNTING_RULE
    }

    /// The same run with dispatches in another form.
    ///
    /// # Errors
    ///
    /// What `change` gives.
    pub fn with_dispatches<E, X>(
        self,
        mut change: impl FnMut(D) -> Result<E, X>,
    ) -> Result<Run<E>, X> {
        let measurements = self
            .measurements
            .into_iter()
            .map(|measurement| measurement.with_dispatches(&mut change));
        Ok(Run {
            measurements: measurements.collect::<Result<_, X>>()?,
            schema: self.schema,
            counting_rule: self.counting_rule,
            tool: self.tool,
            started_utc: self.started_utc,
            argv: self.argv,
            host: self.host,
            devices: self.devices,
            kernels: self.kernels,
            sources: self.sources,
        })
    }
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

impl Tool {
    /// This program, as what it measures names it.
    pub fn this() -> Self {
        Self {
            name: "lanescope".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_sha: option_env!("LANESCOPE_GIT_SHA").map(str::to_owned),
            git_dirty: option_env!("LANESCOPE_GIT_DIRTY").map(|dirty| dirty == "true"),
        }
    }
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
    /// The environment variables that change which driver runs and how, where they were set; of paths their file
    /// names.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// How executions were obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A leader was asked for at each execution of each block.
    Executed,
    /// Some blocks' executions follow from others' under maximal reconvergence.
    Derived,
    /// Lanes were counted without subgroup operations; a block's executions are the most trips of any
    /// lane, summed over chunks of as many consecutive invocations as a subgroup has lanes: at most
    /// what maximal reconvergence gives.
    Estimated,
}

impl Method {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::Derived => "derived",
            Self::Estimated => "estimated",
        }
    }
}

/// One kernel at one point of its parameters on one device; `D` is the form of its dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement<D = Dispatch> {
    /// The device's id, see [`Device::id`].
    pub device: String,
    /// `family/name` of the kernel, or the path of a user's shader.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The seed of the generated inputs.
    pub seed: u64,
    /// Whether it was counted to compare widths alone: tables of single devices leave it out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub for_widths: bool,
    /// How it ended.
    pub status: Status,
    /// Why it failed, or which outputs differ; `null` where nothing went wrong.
    pub error: Option<String>,
    /// The kind of failure where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<RunErrorKind>,
    /// The limit that ended it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The width at which the counts were taken, in lanes.
    pub subgroup_width: Option<Width>,
    /// Which modules were created with bounds, loop and division checks.
    pub runtime_checks: RuntimeChecks,
    /// Whether the outputs of what was timed (else of what was counted) were right.
    pub output: Output,
    /// SHA-256 of the shader's text, a key of [`Run::sources`].
    pub source_sha256: String,
    /// SHA-256 of each buffer's first content in hexadecimal, by the buffer's name; of `profile`, absent
    /// elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs_sha256: BTreeMap<String, String>,
    /// How executions were obtained; `null` where nothing was counted.
    #[serde(alias = "issues_method")]
    pub method: Option<Method>,
    /// How far counts can be trusted for this shader; absent where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<ShaderTrust>,
    /// Time from the device being open to the counts being there, the self-test's parts and the
    /// second run included; absent where it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_ns: Option<Nanoseconds>,
    /// Σ operations × lanes / Σ operations × executions over every block, in lanes.
    pub active_lanes_mean: Option<f64>,
    /// [`Measurement::active_lanes_mean`] over the width.
    pub efficiency_ratio: Option<Ratio>,
    /// The dispatches, in the order of execution.
    pub dispatches: Vec<D>,
    /// What the lanes of one subgroup did, of the dispatch with most operations; absent where no simulator
    /// counted, and along a sweep that only compares widths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Counts under seeded schedules of the simulator, where the figures depend on the schedule and
    /// others were asked for; else absent. All else is of the default schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<ScheduleCounts>,
    /// What other seeds of the generated inputs make of it, on simulators, where several were asked
    /// for; absent where its counts do not depend on the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
    /// What the same invocations cost in workgroups of other shapes, on simulators, where that was
    /// tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<Shapes>,
    /// What changes to the launch would have saved, tried on the simulator at this width; absent where
    /// nothing was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// What a simulator of this width saw of memory: costs in a model of no particular machine, and
    /// data races; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// What the contents that `profile` made up decide; empty where they decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_up: Vec<MadeUp>,
    /// Times, where the device was timed.
    pub time: Option<Time>,
    /// Times of the same launch without run-time checks, sampled in the same rounds as
    /// [`Measurement::time`]: what the checks cost. Only where the timed module has them, and the
    /// simulator, which ran the same launch, saw no access out of bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unchecked: Option<Time>,
    /// Times of the modules that count: what counting costs, and never a kernel's time. Of `profile`,
    /// where the device was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_counting: Option<Time>,
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

impl<D> Measurement<D> {
    /// The same measurement with dispatches in another form.
    ///
    /// # Errors
    ///
    /// What `change` gives.
    pub fn with_dispatches<E, X>(
        self,
        change: impl FnMut(D) -> Result<E, X>,
    ) -> Result<Measurement<E>, X> {
        Ok(Measurement {
            dispatches: self.dispatches.into_iter().map(change).collect::<Result<_, X>>()?,
            device: self.device,
            kernel: self.kernel,
            parameters: self.parameters,
            seed: self.seed,
            for_widths: self.for_widths,
            status: self.status,
            error: self.error,
            error_kind: self.error_kind,
            limit: self.limit,
            subgroup_width: self.subgroup_width,
            runtime_checks: self.runtime_checks,
            output: self.output,
            source_sha256: self.source_sha256,
            inputs_sha256: self.inputs_sha256,
            method: self.method,
            trust: self.trust,
            answer_ns: self.answer_ns,
            active_lanes_mean: self.active_lanes_mean,
            efficiency_ratio: self.efficiency_ratio,
            trace: self.trace,
            schedules: self.schedules,
            seeds: self.seeds,
            shapes: self.shapes,
            what_if: self.what_if,
            memory: self.memory,
            made_up: self.made_up,
            time: self.time,
            time_unchecked: self.time_unchecked,
            time_counting: self.time_counting,
            bytes_moved_min: self.bytes_moved_min,
            outputs_shown: self.outputs_shown,
            counters: self.counters,
            counters_missing: self.counters_missing,
            counters_from: self.counters_from,
            flags: self.flags,
        })
    }
}

/// What a launch counts with other seeds of its generated inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seeds {
    /// The parameters that it was counted at: those of the measurement, but for the sizes, which
    /// may be smaller.
    pub parameters: BTreeMap<String, Value>,
    /// The work of each seed, in the order of seeds.
    pub counts: Vec<SeedCounts>,
}

/// The work of a launch with one seed, without dispatches that only set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedCounts {
    /// The seed.
    pub seed: u64,
    /// Σ operations × executions.
    pub subgroup_operations: u64,
    /// Σ operations × active lanes.
    pub lane_operations: u64,
}

/// A launch in workgroups of other shapes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shapes {
    /// Why none was tried, a clause; absent where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What each shape counted.
    #[serde(default)]
    pub tried: Vec<ShapeCounts>,
}

/// The work of a launch in workgroups of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeCounts {
    /// Invocations a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Σ operations × executions.
    pub subgroup_operations: u64,
    /// Σ operations × active lanes.
    pub lane_operations: u64,
}

/// What a launch counted under another schedule of the simulator's workgroups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleCounts {
    /// The seed of the random schedule.
    pub seed: u64,
    /// As [`Measurement::active_lanes_mean`].
    pub active_lanes_mean: Option<f64>,
    /// As [`Measurement::efficiency_ratio`].
    pub efficiency_ratio: Option<Ratio>,
    /// Executions and lanes of each block, by dispatch and block number.
    pub blocks: Vec<Vec<BlockTotals>>,
}

impl Measurement {
    /// The counts of its blocks, by dispatch and block number.
    pub fn totals(&self) -> Vec<Vec<BlockTotals>> {
        let totals_of =
            |block: &Block| BlockTotals { executions: block.executions, lanes: block.lanes };
        let dispatches = self.dispatches.iter();
        dispatches.map(|dispatch| dispatch.blocks.iter().map(totals_of).collect()).collect()
    }

    /// The same measurement with the counts of another schedule, of which there are no histograms.
    #[must_use]
    pub fn with_schedule(&self, schedule: &ScheduleCounts) -> Self {
        let mut other = Self {
            active_lanes_mean: schedule.active_lanes_mean,
            efficiency_ratio: schedule.efficiency_ratio,
            schedules: Vec::new(),
            ..self.clone()
        };
        for (dispatch, totals) in other.dispatches.iter_mut().zip(&schedule.blocks) {
            for (block, totals) in dispatch.blocks.iter_mut().zip(totals) {
                (block.executions, block.lanes) = (totals.executions, totals.lanes);
                (block.histogram, block.parts) = (None, None);
            }
        }
        other
    }
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
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The entry point.
    pub entry_point: String,
    /// Workgroups along x, y and z; `null` where the device computed them (indirect).
    pub workgroups: Option<[u32; 3]>,
    /// Invocations a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Whether it only made ready what the others worked on: it is neither in the launch's time nor
    /// in [`Measurement::active_lanes_mean`].
    pub setup: bool,
    /// The median time of the dispatch within its launch, in nanoseconds, where a launch has several
    /// and the device takes timestamps: from the end of the dispatch before to its own end, less what
    /// a timestamp was seen to cost. On a device without timestamps inside passes it leaves out what
    /// lies between dispatches. The launch ran as in [`Measurement::time`]; timestamps keep dispatches
    /// apart that it may overlap, so these need not add up to it. In older records the cost is
    /// still in it, and a GPU's clocks may have fallen before it was taken.
    pub median_ns: Option<Nanoseconds>,
    /// 95 % bootstrap interval of that median, low and high, over the submissions that it was taken in;
    /// what a timestamp costs is taken off both ends. Where the median is 0, the dispatch takes no longer than a
    /// timestamp, and the high end is at least what one costs. Absent in older records.
    pub ci95_ns: Option<[Nanoseconds; 2]>,
    /// Counts of each block, in the order of block numbers; empty where nothing was counted.
    pub blocks: Vec<Block>,
    /// The same counts by the way that calls took, an entry point first; on simulators, where a function is
    /// called from several places. Elsewhere empty or absent.
    pub calls: Vec<Call>,
    /// Counts by source line of old records, whose blocks do not tell their operations apart by line;
    /// empty in others, see [`Dispatch::lines`].
    pub line_counts: Vec<Line>,
    /// The machine code that ran and how often each instruction did, from hardware counters; absent
    /// where they were not read.
    pub machine_code: Option<MachineCode>,
}

impl Dispatch {
    /// The counts by source line, in the order of files and lines.
    pub fn lines(&self) -> Vec<Line> {
        if self.line_counts.is_empty() { lines_of(&self.blocks) } else { self.line_counts.clone() }
    }

    /// Whether there are counts by source line.
    pub fn has_lines(&self) -> bool {
        !self.line_counts.is_empty() || self.blocks.iter().any(|block| !block.lines.is_empty())
    }
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
    /// The machine's clock, read before and after, does not allow the difference: it is longer than the
    /// whole submission took, or far shorter.
    Impossible,
}
