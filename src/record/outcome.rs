//! How a measurement ended: whether it did, why not, and whether its outputs were right.
//!
//! Input: what `run` saw. Output: serde types. What to do about a failure is not said here.

use serde::{Deserialize, Serialize};

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

/// A limit of lanescope's own that ended a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Of what.
    pub which: LimitOf,
    /// How much it allows, in the unit of what it limits.
    pub value: u64,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// Operations that one subgroup may execute on the simulator.
    Steps,
    /// Operations of all subgroups of a launch together, on simulators.
    Operations,
    /// Bytes of a launch's buffers on the simulator, all together.
    MemoryBytes,
    /// Seconds in which nothing is heard of a launch.
    SilenceSeconds,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunErrorKind {
    /// The shader or its description cannot be used: the user's to mend.
    BadInput,
    /// There is no such device, or it cannot be opened.
    NoDevice,
    /// The device lacks what the shader needs.
    Unsupported,
    /// The driver or wgpu refused something.
    Driver,
    /// lanescope or naga panicked: a fault of theirs.
    Panicked,
    /// The device ran out of memory.
    OutOfMemory,
    /// The device was lost, or its process died.
    DeviceLost,
    /// Nothing came back within the time limit.
    TimeLimit,
    /// Another launch, timed beside it, took down the device.
    Interrupted,
    /// The simulator's step limit.
    StepLimit,
    /// The shader did what it must not.
    Trap,
}

impl RunErrorKind {
    /// Its word in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadInput => "bad_input",
            Self::NoDevice => "no_device",
            Self::Unsupported => "unsupported",
            Self::Driver => "driver",
            Self::Panicked => "panicked",
            Self::OutOfMemory => "out_of_memory",
            Self::DeviceLost => "device_lost",
            Self::TimeLimit => "time_limit",
            Self::Interrupted => "interrupted",
            Self::StepLimit => "step_limit",
            Self::Trap => "trap",
        }
    }

    /// Whether the device may not be used any more and its process must be made anew.
    pub fn ends_device(self) -> bool {
        match self {
            Self::OutOfMemory | Self::DeviceLost | Self::TimeLimit => true,
            Self::BadInput
            | Self::NoDevice
            | Self::Unsupported
            | Self::Driver
            | Self::Panicked
            | Self::Interrupted
            | Self::StepLimit
            | Self::Trap => false,
        }
    }
}
