//! The device of a record: what it is, what was measured of it, and what its counts are worth.
//!
//! Input: what `run` found out when it opened the device. Output: serde types. Nothing is judged here.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Flag, is_false};
use crate::units::visible::visible_line;
use crate::units::{Nanoseconds, Width};

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
    /// AMD's machine code, compiled by Mesa's RADV for a GPU that is not there, and executed by the
    /// built-in interpreter.
    Radv,
    /// A GPU through WebGPU, measured by a page in a browser.
    Web,
}

/// The interface through which a device is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Vulkan, through wgpu.
    Vulkan,
    /// Metal, through wgpu.
    Metal,
    /// DX12, through wgpu.
    Dx12,
    /// OpenGL or OpenGL ES, through wgpu.
    Gl,
    /// WebGPU, in a browser.
    WebGpu,
    /// No GPU at all: wgpu's back end for tests.
    Noop,
    /// CUDA's driver interface.
    Cuda,
    /// The built-in SIMT interpreter.
    Interpreter,
    /// Mesa's RADV compiles, the built-in interpreter of machine code executes.
    Radv,
}

impl Backend {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Dx12 => "dx12",
            Self::Gl => "gl",
            Self::WebGpu => "webgpu",
            Self::Noop => "noop",
            Self::Cuda => "cuda",
            Self::Interpreter => "interpreter",
            Self::Radv => "radv",
        }
    }

    /// The name as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "Vulkan",
            Self::Metal => "Metal",
            Self::Dx12 => "DX12",
            Self::Gl => "OpenGL",
            Self::WebGpu => "WebGPU",
            Self::Noop => "noop",
            Self::Cuda => "CUDA",
            Self::Interpreter => "interpreter",
            Self::Radv => "RADV",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// A device, and what was measured of the device itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The name by which measurements refer to it: `sim:32`, `wgpu:0`, `cuda:0`, `web:<name>`.
    pub id: String,
    /// What kind of machine it is.
    pub kind: DeviceKind,
    /// What it gives; absent in older records, where [`Device::gives`] follows it from the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives: Option<Gives>,
    /// The name that the driver gives.
    pub name: String,
    /// The maker, in plain words, or the PCI number where it is unknown.
    pub vendor: String,
    /// The driver and its version.
    pub driver: String,
    /// The interface.
    pub backend: Backend,
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
    /// The least nonzero difference between two timestamps that was seen; in records that a browser
    /// made, the step of which all differences were multiples.
    pub timestamp_quantum_ns: Option<Nanoseconds>,
    /// Fused multiply-adds a second, the best of independent chains over all lanes.
    pub peak_fma_per_s: Option<f64>,
    /// Bytes a second that a copy kernel moved, bytes read plus bytes written.
    pub copy_bytes_per_s: Option<f64>,
    /// What a launch of next to no work takes, repeated as short launches are: the least of a few samples.
    /// Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_ns: Option<Nanoseconds>,
    /// Whether `fma()` rounds once.
    pub fma_fused: Option<bool>,
    /// After how many iterations the device leaves a loop by itself, other loops' before it in the same
    /// subgroup included; `null`: not seen to do so.
    pub loop_limit: Option<u64>,
    /// Whether the uniform buffers of every shader are bound as read-only storage on it, since its
    /// driver would fold their values into the shader and compile it anew at each dispatch
    /// (lavapipe); absent where not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub uniform_buffers_as_storage: bool,
    /// Why nothing compiles machine code for it here, so that what lanescope brings is executed, a clause; absent
    /// where something does, and for devices whose own drivers do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiles_nothing: Option<String>,
    /// How 2D and 3D workgroups are cut into subgroups; `null` or absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// How far counts of executions can be trusted, over every part of the self-test that was run;
    /// `null` or absent where it was not asked. [`Measurement::trust`](super::Measurement::trust) says it of a shader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The parts of the self-test that were run; absent where none was, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub self_test: Vec<TestedPart>,
    /// What the driver was found to do otherwise than it says, such as
    /// [`Tag::SubgroupWidthMisreported`](super::Tag::SubgroupWidthMisreported).
    #[serde(default)]
    pub flags: Vec<Flag>,
}

impl Device {
    /// A device of which nothing is known yet but what it is: no names, no widths, nothing measured.
    pub fn unmeasured(id: impl Into<String>, kind: DeviceKind, backend: Backend) -> Self {
        Self {
            id: id.into(),
            kind,
            gives: None,
            name: String::new(),
            vendor: String::new(),
            driver: String::new(),
            backend,
            cpu_driver: false,
            subgroup_width_min: None,
            subgroup_width_max: None,
            subgroup_width_run: None,
            lane_is_local_index_mod_width: None,
            timestamp_period_ns: None,
            timestamp_quantum_ns: None,
            peak_fma_per_s: None,
            copy_bytes_per_s: None,
            launch_ns: None,
            fma_fused: None,
            loop_limit: None,
            uniform_buffers_as_storage: false,
            compiles_nothing: None,
            packing: None,
            trust: None,
            self_test: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// Shows what breaks lines in its names as escapes: a driver, or a record, calls it as it likes.
    pub fn keep_names_on_lines(&mut self) {
        for name in [&mut self.name, &mut self.vendor, &mut self.driver] {
            *name = visible_line(name).into_owned();
        }
    }

    /// What it gives.
    pub fn gives(&self) -> Gives {
        let nothing = Gives { counts: true, times: false, counters: false, code: false };
        self.gives.unwrap_or(match self.kind {
            DeviceKind::Simulator => nothing,
            DeviceKind::Radv => Gives { counts: false, code: true, ..nothing },
            DeviceKind::Wgpu | DeviceKind::Web => {
                Gives { times: self.timestamp_quantum_ns.is_some(), ..nothing }
            }
            DeviceKind::Cuda => Gives {
                times: self.timestamp_quantum_ns.is_some(),
                counters: true,
                code: true,
                ..nothing
            },
        })
    }

    /// Whether it runs kernels in CUDA C++.
    pub fn runs_cuda(&self) -> bool {
        self.kind == DeviceKind::Cuda
    }

    /// Whether no hardware runs it: the simulator, or an interpreter of machine code.
    pub fn is_emulated(&self) -> bool {
        match self.kind {
            DeviceKind::Simulator | DeviceKind::Radv => true,
            DeviceKind::Wgpu | DeviceKind::Cuda | DeviceKind::Web => false,
        }
    }

    /// Whether it is the simulator, whose counts are right by definition.
    pub fn is_simulator(&self) -> bool {
        self.kind == DeviceKind::Simulator
    }
}

/// What a device gives of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gives {
    /// How often blocks were executed, and with how many lanes.
    pub counts: bool,
    /// How long it takes.
    pub times: bool,
    /// What the vendor's hardware counters say.
    pub counters: bool,
    /// Its machine code.
    pub code: bool,
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

/// How far a device's counts of executions can be trusted to be those of maximal reconvergence, and its
/// subgroup operations to see the lanes that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// By construction: the simulator, whose counts are the definition.
    Guaranteed,
    /// The self-test's counts were right on this driver, for a shader those of the forms of control
    /// flow that it uses.
    Observed,
    /// The self-test failed or could not be run.
    Unknown,
    /// No subgroup operation was used: lanes are counted, executions estimated.
    Estimated,
    /// The simulator's, of a launch whose workgroups, or subgroups of one, read what others write: the counts
    /// of the one order in which it ran them.
    OneSchedule,
    /// The simulator's, of a launch whose branches follow data that were made up: other data may give
    /// other counts.
    GeneratedData,
    /// A driver's, of a launch in which it left a loop by itself, or may have: the counts of a shorter loop.
    CutOff,
    /// Of a program that WGSL forbids, such as one with a barrier that not every invocation reaches: what it
    /// does is undefined, on every device.
    Undefined,
}

impl Trust {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guaranteed => "guaranteed",
            Self::Observed => "observed",
            Self::Unknown => "unknown",
            Self::Estimated => "estimated",
            Self::OneSchedule => "of one schedule",
            Self::GeneratedData => "of generated data",
            Self::CutOff => "of a cut-off loop",
            Self::Undefined => "none: undefined",
        }
    }

    /// What it means, as a clause.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Guaranteed => "the simulator's counts are the definition",
            Self::Observed => "the self-test passed on this driver for what the shader uses",
            Self::Unknown => "no passed self-test says that this driver counts the shader right",
            Self::Estimated => "counted without subgroup operations",
            Self::OneSchedule => {
                "workgroups, or subgroups of one, read what others write in the same dispatch or what their order \
                 left in one before, or invocations race for a word: another order of them may give other counts"
            }
            Self::GeneratedData => {
                "exact for data that were made up, which branches follow: other data may give other \
                 counts"
            }
            Self::CutOff => {
                "the driver left a loop by itself, or may have: counts, outputs and times may be of a \
                 shorter loop"
            }
            Self::Undefined => {
                "the program has an error that makes what it does undefined: another device may do \
                 something else, or hang"
            }
        }
    }

    /// What follows for the figures that `profile` shows of the device, as a clause.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Guaranteed => "profile shows them as they are, with histograms",
            Self::Observed => {
                "profile trusts its subgroup operations; on a GPU it derives what follows from \
                 fewer counters"
            }
            Self::Unknown => {
                "profile counts each execution, derives nothing, and marks the figures: set them \
                 beside the simulator's at the same width"
            }
            Self::Estimated => "profile shows lanes as they are, and executions as an estimate",
            Self::OneSchedule => {
                "profile names the lines that depend on the order, and gives no advice on them"
            }
            Self::GeneratedData => {
                "profile names the buffers and the lines that follow them; a launch file gives them \
                 real contents"
            }
            Self::CutOff => {
                "profile names the lines, and takes no advice from these counts: set them beside the \
                 simulator's at the same width"
            }
            Self::Undefined => {
                "profile says first what is wrong: mend it before reading any figure"
            }
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A part of the self-test: a small kernel whose counts are known for every width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedPart {
    /// The kernel's name in the family `self_test`.
    pub part: String,
    /// The form of control flow that it tests, in a word of [`ShaderTrust::constructs`].
    pub construct: String,
    /// Whether executions were those of maximal reconvergence.
    #[serde(alias = "issues_right")]
    pub executions_right: bool,
    /// Whether lanes were right; only those behind a subgroup operation depend on where lanes reconverge.
    pub lanes_right: bool,
}

impl TestedPart {
    /// Whether all counts were right.
    pub fn has_passed(&self) -> bool {
        self.executions_right && self.lanes_right
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
    /// `switch_shared_case`, `subgroup_in_shared_case`.
    pub constructs: Vec<String>,
    /// Those of them whose part failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}
