//! What a device's process and its parent say to one another.
//!
//! Input: nothing. Output: [`WorkerRequest`] and [`Reply`], one JSON text each. A reply begins with
//! [`MARK`] and ends with a newline, which is RFC 7464's form, so that it can be told from what a driver
//! prints; a request is a line.

use serde::{Deserialize, Serialize};

use crate::kernel::Launch;
use crate::record::{CountersFrom, Device};
use crate::run::back_end::{CountersPart, Listing, OpenOptions};
use crate::run::{Collected, CountRequest, Counted, RunError, RunErrorKind, TimeOptions, Timed};
use crate::units::visible::visible_line;

/// What begins a reply: a character that no JSON text holds.
pub(super) const MARK: char = '\u{1e}';

/// What the parent asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerRequest {
    /// List what a back end has: answered with any number of [`Reply::Listing`], then
    /// [`Reply::Listed`].
    List {
        /// The back end's prefix.
        back_end: String,
    },
    /// Open a device: answered with [`Reply::Opened`] or [`Reply::Failed`].
    Open {
        /// Its id.
        id: String,
        /// How.
        options: OpenOptions,
    },
    /// Say what will be counted next, where the device makes use of it: answered with [`Reply::Announced`].
    Announce {
        /// What will be run, in order.
        launches: Vec<Launch>,
        /// How.
        request: CountRequest,
    },
    /// Count: answered with any number of [`Reply::Counting`], then [`Reply::Counted`] or
    /// [`Reply::Failed`].
    Count {
        /// What to run.
        launch: Box<Launch>,
        /// How, and how often.
        request: CountRequest,
    },
    /// Read hardware counters of a launch: answered with [`Reply::Collected`] or [`Reply::Failed`].
    /// No device may have been opened in the child, and nothing else is asked of it.
    Collect {
        /// The device's id.
        id: String,
        /// What to run.
        launch: Box<Launch>,
        /// What to read.
        part: CountersPart,
    },
    /// Say whether hardware counters can be read: answered with [`Reply::Counters`] or
    /// [`Reply::Failed`]. As [`WorkerRequest::Collect`], in a child of its own.
    Counters {
        /// The device's id.
        id: String,
    },
    /// Say what machine code the opened device runs for a launch: answered with [`Reply::Collected`] or
    /// [`Reply::Failed`].
    Code {
        /// What to compile and run.
        launch: Box<Launch>,
    },
    /// Time: answered with any number of [`Reply::Sampling`], then [`Reply::Timed`].
    Time {
        /// What to run, side by side.
        launches: Vec<Launch>,
        /// How.
        options: TimeOptions,
    },
}

/// What the child answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A device that a back end has is about to be looked at.
    Listing,
    /// What a back end has.
    Listed(Listing),
    /// The device is open.
    Opened(Box<Device>),
    /// What will be counted is known.
    Announced,
    /// Counting's results, one a run.
    Counted(Vec<Counted>),
    /// What hardware counters gave.
    Collected(Box<Collected>),
    /// What would read hardware counters, or why they cannot be read.
    Counters(Result<CountersFrom, String>),
    /// A dispatch is about to be compiled or run, to be counted.
    Counting,
    /// A sample of this launch begins.
    Sampling(usize),
    /// Timing's results, one a launch.
    Timed(Vec<Result<Option<Timed>, RunError>>),
    /// The request failed.
    Failed(RunError),
}

impl Reply {
    /// The same with each name that a driver gives on a line.
    pub(super) fn with_names_on_lines(mut self) -> Self {
        match &mut self {
            Self::Opened(device) => device.keep_names_on_lines(),
            Self::Listed(listing) => {
                for listed in &mut listing.devices {
                    listed.name = visible_line(&listed.name).into_owned();
                }
            }
            _ => {}
        }
        self
    }

    /// Whether it tells of a failure.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Timed(results) => results.iter().any(Result::is_err),
            _ => false,
        }
    }
}

/// A reply that does not belong to what was asked.
pub(super) fn unexpected_reply_error(reply: &Reply) -> RunError {
    RunError::new(RunErrorKind::DeviceLost, format!("the worker answered out of turn: {reply:?}"))
}
