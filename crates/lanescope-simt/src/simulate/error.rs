//! Why a program cannot be simulated, or a launch was stopped.
//!
//! Input: nothing. Output: the module's error types. A shader's own fault while it runs is a
//! [`Trap`]; everything that can be said before is a [`SimulateError`].

use super::report::ReportKind;
use crate::program::Location;

/// Why a program cannot be simulated, or a launch cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    /// The program uses something that the simulator does not run.
    #[error("{file}:{line}: the simulator does not run {what}")]
    Unsupported {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: u32,
        /// What it is.
        what: String,
    },
    /// The program is too large.
    #[error("{file}: {limit}")]
    Limit {
        /// The file's name.
        file: String,
        /// Which limit.
        limit: Limit,
    },
    /// A buffer is not bound.
    #[error("no buffer is bound at @group({group}) @binding({binding})")]
    Unbound {
        /// Bind group.
        group: u32,
        /// Binding.
        binding: u32,
    },
    /// A texture or a sampler is not bound, or does not fit the variable.
    #[error("{what} at @group({group}) @binding({binding}): {why}")]
    Unfit {
        /// `the texture` or `the sampler`.
        what: &'static str,
        /// Bind group.
        group: u32,
        /// Binding.
        binding: u32,
        /// Why not.
        why: String,
    },
    /// A buffer, or the immediates, are too small for the variable.
    #[error("{what} has {bytes} bytes; the shader's variable needs at least {bytes_min}")]
    TooSmall {
        /// Which.
        what: String,
        /// Its size.
        bytes: usize,
        /// What is needed.
        bytes_min: u32,
    },
    /// A buffer is too large.
    #[error("{what} has {bytes} bytes; the simulator's offsets hold at most {bytes_max}")]
    TooLarge {
        /// Which.
        what: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        bytes_max: u32,
    },
    /// A dispatch has too many workgroups.
    #[error(
        "a dispatch of {}×{}×{} workgroups: at most {max} go along a dimension; fold it into two",
        workgroups[0], workgroups[1], workgroups[2]
    )]
    Workgroups {
        /// What was asked for.
        workgroups: [u32; 3],
        /// The limit of a dimension, WebGPU's.
        max: u32,
    },
    /// A workgroup has too many invocations.
    #[error(
        "a workgroup of {invocations} invocations: at most {max} are allowed; make @workgroup_size smaller"
    )]
    Invocations {
        /// What the shader asks for.
        invocations: u64,
        /// The limit.
        max: u64,
    },
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {message}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        message: String,
    },
}

/// A limit on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Instructions.
    #[error("over {max} instructions once its calls are inlined")]
    Operations {
        /// The limit.
        max: usize,
    },
    /// Registers.
    #[error("over {max} words of variables and values an invocation")]
    Registers {
        /// The limit.
        max: u32,
    },
    /// Workgroup memory.
    #[error("{bytes} bytes of workgroup memory, of which the simulator has {max}")]
    WorkgroupBytes {
        /// What is needed.
        bytes: u32,
        /// The limit.
        max: u32,
    },
    /// Control flow.
    #[error("control flow nested too deeply")]
    Nesting,
    /// Calls.
    #[error("calls over {max} deep")]
    Calls {
        /// The limit.
        max: u32,
    },
    /// Buffers.
    #[error("over 65,535 buffers")]
    Buffers,
}

/// Why a launch stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// The launch could not begin.
    #[error(transparent)]
    Refused(#[from] SimulateError),
    /// A subgroup executed too many operations.
    #[error(
        "{file}:{line}: workgroup {}, {}, {} is still in this loop after {steps} operations a \
         subgroup; a loop that ends needs a higher step limit",
        workgroup[0], workgroup[1], workgroup[2]
    )]
    Steps {
        /// The file's name.
        file: String,
        /// The loop's line.
        line: u32,
        /// The workgroup's coordinates.
        workgroup: [u32; 3],
        /// The limit.
        steps: u64,
    },
    /// All subgroups together executed too many operations, or would execute.
    #[error("{file}: its subgroups execute more than {operations} operations in all")]
    Operations {
        /// The file's name.
        file: String,
        /// The limit.
        operations: u64,
    },
    /// Something that is reported otherwise, in strict mode.
    #[error(
        "{file}:{line}: {kind} in workgroup {}, {}, {}", workgroup[0], workgroup[1], workgroup[2]
    )]
    Fault {
        /// What.
        kind: ReportKind,
        /// The file's name.
        file: String,
        /// The line.
        line: u32,
        /// The workgroup's coordinates.
        workgroup: [u32; 3],
    },
}

impl Trap {
    /// The line at which it happened, where there is one.
    pub fn line(&self) -> Option<u32> {
        match *self {
            Self::Refused(_) | Self::Operations { .. } => None,
            Self::Steps { line, .. } | Self::Fault { line, .. } => Some(line),
        }
    }
}

/// The line of a location, for a trap.
pub(super) fn line(location: Option<&Location>) -> u32 {
    location.map_or(1, |location| location.line)
}
