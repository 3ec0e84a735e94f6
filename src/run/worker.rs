//! The child process that owns a device, and the parent's end of the conversation.
//!
//! Input, of the child: [`WorkerRequest`]s as JSON lines on standard input. Output: [`Reply`]s as JSON
//! lines on standard output. The child ends when its input does. [`WorkerRunner`] is the parent's
//! end, a [`Runner`]: it waits for each line up to a limit, and where the child hangs or dies it
//! ends it and says so. Nothing that a driver does can reach the process that holds the results.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::back_end::{BackEnd, CountersPart, HardwareCounters, Listing, OpenOptions, Places};
use super::backends;
use super::self_test;
use super::{
    Collected, CountRequest, Counted, RunError, RunErrorKind, Runner, TimeOptions, Timed, caught,
};
use crate::kernel::{Catalogue, Launch};
use crate::program::Construct;
use crate::record::{CountersFrom, Device, LimitOf};

/// How long nothing may be heard of a launch.
pub const SILENCE_MAX: Duration = Duration::from_secs(120);

/// How long opening and calibrating a device may take.
const OPENING_MAX: Duration = Duration::from_secs(90);

/// How long reading a launch's hardware counters may take: it runs once for each of tens of passes.
const COLLECTING_MAX: Duration = Duration::from_secs(180);

/// Lines of the child's standard error that a failure quotes.
const STDERR_LINES: usize = 6;

/// What the parent asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerRequest {
    /// List what a back end has: answered with [`Reply::Listed`].
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
    /// What a back end has.
    Listed(Listing),
    /// The device is open.
    Opened(Box<Device>),
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

/// Answers requests until the input ends: the child's main.
///
/// # Errors
///
/// What reading or writing the two streams gives; the parent is then gone.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let mut runner: Option<Box<dyn Runner>> = None;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let request: WorkerRequest = serde_json::from_str(&line)?;
        let reply = answer(request, &mut runner, output)?;
        send(output, &reply)?;
    }
}

fn send(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    serde_json::to_writer(&mut *output, reply)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn closed_error() -> RunError {
    RunError::new(RunErrorKind::NoDevice, "no device is open")
}

fn answer(
    request: WorkerRequest,
    runner: &mut Option<Box<dyn Runner>>,
    output: &mut impl Write,
) -> io::Result<Reply> {
    Ok(match request {
        WorkerRequest::List { back_end } => list_here(&back_end),
        WorkerRequest::Open { id, options } => match open_here(&id, &options) {
            Ok(opened) => {
                let device = Box::new(opened.device().clone());
                *runner = Some(opened);
                Reply::Opened(device)
            }
            Err(error) => Reply::Failed(error),
        },
        WorkerRequest::Count { launch, request } => match runner.as_mut() {
            None => Reply::Failed(closed_error()),
            Some(runner) => return count(&mut **runner, &launch, &request, output),
        },
        WorkerRequest::Collect { id, launch, part } => {
            let collected = caught("reading of counters", &launch.file, || {
                let (hardware, place) = hardware(&id)?;
                (hardware.collect)(place, &launch, part)
            });
            collected.map_or_else(Reply::Failed, |collected| Reply::Collected(Box::new(collected)))
        }
        WorkerRequest::Counters { id } => {
            let found = hardware(&id).and_then(|(hardware, place)| (hardware.available)(place));
            found.map_or_else(Reply::Failed, Reply::Counters)
        }
        WorkerRequest::Time { launches, options } => match runner.as_mut() {
            None => Reply::Failed(closed_error()),
            Some(runner) => return time(&mut **runner, &launches, &options, output),
        },
    })
}

/// Lists what a back end has, in this process.
fn list_here(prefix: &str) -> Reply {
    match backends::by_prefix(prefix).map(|back_end| &back_end.places) {
        Some(Places::Listed { list, .. }) => Reply::Listed(list()),
        Some(Places::Form { .. }) => Reply::Listed(Listing::default()),
        None => Reply::Failed(RunError::new(RunErrorKind::NoDevice, "there is no such back end")),
    }
}

/// Opens a device in this process.
fn open_here(id: &str, options: &OpenOptions) -> Result<Box<dyn Runner>, RunError> {
    let (back_end, place) = backends::of_id(id)?;
    (back_end.open)(place, options)
}

/// How a device's hardware counters are read, and its place.
fn hardware(id: &str) -> Result<(&'static HardwareCounters, &str), RunError> {
    let (back_end, place) = backends::of_id(id)?;
    let none = || RunError::new(RunErrorKind::Unsupported, format!("{id} has no counters to read"));
    Ok((back_end.hardware.as_ref().ok_or_else(none)?, place))
}

/// Counts a launch, and says of each dispatch that it is about to be compiled or run.
fn count(
    runner: &mut dyn Runner,
    launch: &Launch,
    request: &CountRequest,
    output: &mut impl Write,
) -> io::Result<Reply> {
    let mut broken = None;
    let mut notice = || {
        if let Err(error) = send(output, &Reply::Counting) {
            broken = Some(error);
        }
    };
    let counted = caught("counting", &launch.file, || runner.count(launch, request, &mut notice));
    broken.map_or_else(|| Ok(counted.map_or_else(Reply::Failed, Reply::Counted)), Err)
}

/// Times launches, and says of each sample that it begins.
fn time(
    runner: &mut dyn Runner,
    launches: &[Launch],
    options: &TimeOptions,
    output: &mut impl Write,
) -> io::Result<Reply> {
    let mut broken = None;
    let timed = runner.time(launches, options, &mut |index| {
        if let Err(error) = send(output, &Reply::Sampling(index)) {
            broken = Some(error);
        }
    });
    broken.map_or(Ok(Reply::Timed(timed)), Err)
}

/// The parent's end of a child.
#[derive(Debug)]
struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<String>,
    complaints: Arc<Mutex<Vec<String>>>,
    listening: Option<JoinHandle<()>>,
}

/// How a child is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    /// The lanescope program; nothing for the running one.
    pub program: Option<PathBuf>,
    /// Environment variables that the child has beside its parent's.
    pub environment: Vec<(String, String)>,
    /// How long nothing may be heard of a launch.
    pub silence_max: Duration,
}

impl WorkerOptions {
    /// The running program in its own environment.
    pub fn new(silence_max: Duration) -> Self {
        Self { program: None, environment: Vec::new(), silence_max }
    }
}

impl Worker {
    fn start(options: &WorkerOptions) -> Result<Self, RunError> {
        let internal = |error: io::Error| {
            RunError::new(RunErrorKind::NoDevice, format!("the worker cannot be started: {error}"))
        };
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(internal)?,
        };
        let mut child = Command::new(program)
            .arg("worker")
            // Mesa's cache is shared by all widths and hands a kernel of one to another.
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(internal)?;
        let (sender, replies) = channel();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let listening = child.stderr.take().map(|stderr| {
            let complaints = Arc::clone(&complaints);
            thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.push(line);
                    let surplus = kept.len().saturating_sub(STDERR_LINES);
                    kept.drain(..surplus);
                }
            })
        });
        let requests = child.stdin.take();
        Ok(Self { child, requests, replies, complaints, listening })
    }

    fn ask(&mut self, request: &WorkerRequest) -> Result<(), RunError> {
        let mut line = serde_json::to_vec(request)
            .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))?;
        line.push(b'\n');
        let requests = self.requests.as_mut();
        let sent = requests.is_some_and(|r| r.write_all(&line).and_then(|()| r.flush()).is_ok());
        if sent { Ok(()) } else { Err(self.describe_death()) }
    }

    fn hear(&mut self, limit: Duration, doing: &str) -> Result<Reply, RunError> {
        match self.replies.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| {
                let message = format!("the worker answered something else: {error}");
                RunError::new(RunErrorKind::DeviceLost, message)
            }),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                let message = format!(
                    "{doing}: nothing was heard for {} s; its process was ended",
                    limit.as_secs()
                );
                Err(RunError::new(RunErrorKind::TimeLimit, message))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.describe_death()),
        }
    }

    /// What became of a child that is gone.
    fn describe_death(&mut self) -> RunError {
        self.end();
        let status = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        // The child's last words are the useful ones: they are all read once its end is closed.
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
        let said = if complaints.is_empty() { String::new() } else { format!(": {complaints}") };
        RunError::new(
            RunErrorKind::DeviceLost,
            format!("the device's process ended ({status}){said}"),
        )
    }

    /// Ends the child, which may hang inside the driver.
    fn end(&mut self) {
        self.requests = None;
        // It may be gone already, which is what is wanted.
        let _ = self.child.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        let _ = self.child.wait();
    }
}

/// Lists what a back end has, in a child of its own; for one whose devices have a form, nothing.
///
/// # Errors
///
/// [`RunErrorKind::DeviceLost`] and [`RunErrorKind::TimeLimit`] where a driver brings the child down.
pub fn list(back_end: &BackEnd) -> Result<Listing, RunError> {
    if matches!(back_end.places, Places::Form { .. }) {
        return Ok(Listing::default());
    }
    let mut worker = Worker::start(&WorkerOptions::new(OPENING_MAX))?;
    worker.ask(&WorkerRequest::List { back_end: back_end.prefix.to_owned() })?;
    match worker.hear(OPENING_MAX, &format!("listing the devices of {}", back_end.name))? {
        Reply::Listed(listing) => Ok(listing),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected_reply_error(&other)),
    }
}

/// Reads a part of a launch's hardware counters on a device, in a child of its own that ends with it.
fn collect_part(
    id: &str,
    launch: &Launch,
    part: CountersPart,
    options: &WorkerOptions,
) -> Result<Collected, RunError> {
    let mut worker = Worker::start(options)?;
    let of = Box::new(launch.clone());
    worker.ask(&WorkerRequest::Collect { id: id.to_owned(), launch: of, part })?;
    let limit = COLLECTING_MAX.max(options.silence_max);
    match worker.hear(limit, &format!("reading counters of {}", launch.kernel))? {
        Reply::Collected(collected) => Ok(*collected),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected_reply_error(&other)),
    }
}

/// What would read hardware counters on a device, or why they cannot be read, asked in a child of its
/// own.
///
/// # Errors
///
/// What opening the device gives, and what ends the child.
pub fn counters(id: &str) -> Result<Result<CountersFrom, String>, RunError> {
    let mut worker = Worker::start(&WorkerOptions::new(OPENING_MAX))?;
    worker.ask(&WorkerRequest::Counters { id: id.to_owned() })?;
    match worker.hear(OPENING_MAX, "taking hold of hardware counters")? {
        Reply::Counters(found) => Ok(found),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected_reply_error(&other)),
    }
}

fn unexpected_reply_error(reply: &Reply) -> RunError {
    RunError::new(RunErrorKind::DeviceLost, format!("the worker answered out of turn: {reply:?}"))
}

/// A device in a child process.
#[derive(Debug)]
pub struct WorkerRunner {
    worker: Worker,
    device: Device,
    silence_max: Duration,
    /// How children for it are started.
    options: WorkerOptions,
}

impl WorkerRunner {
    /// Opens a device in a fresh child.
    ///
    /// # Errors
    ///
    /// What opening or calibrating gives, and what ends the child.
    pub fn open(id: &str, calibrate: bool, silence_max: Duration) -> Result<Self, RunError> {
        Self::open_by(id, &OpenOptions::usual(calibrate), &WorkerOptions::new(silence_max))
    }

    /// Opens a device in a fresh child that is started as `options` says.
    ///
    /// # Errors
    ///
    /// As [`WorkerRunner::open`].
    pub fn open_by(
        id: &str,
        open: &OpenOptions,
        options: &WorkerOptions,
    ) -> Result<Self, RunError> {
        let silence_max = options.silence_max;
        let mut worker = Worker::start(options)?;
        worker.ask(&WorkerRequest::Open { id: id.to_owned(), options: *open })?;
        match worker.hear(OPENING_MAX, &format!("opening {id}"))? {
            Reply::Opened(device) => {
                Ok(Self { worker, device: *device, silence_max, options: options.clone() })
            }
            Reply::Failed(error) => Err(error),
            other => Err(unexpected_reply_error(&other)),
        }
    }

    /// Waits for what the child says of a launch.
    fn hear(&mut self, doing: &str) -> Result<Reply, RunError> {
        let limit = self.silence_max;
        self.worker.hear(limit, doing).map_err(|error| match error.kind {
            RunErrorKind::TimeLimit => error.with_limit(LimitOf::SilenceSeconds, limit.as_secs()),
            _ => error,
        })
    }

    /// Runs the whole self-test and notes what it found of the device.
    ///
    /// # Errors
    ///
    /// What running gives, where the device is not usable after it.
    pub fn test_counting(&mut self, catalogue: &Catalogue) -> Result<(), RunError> {
        let mut device = self.device.clone();
        self_test::examine(self, catalogue, &BTreeSet::from(Construct::ALL), &mut device)?;
        self.device = device;
        Ok(())
    }
}

impl Runner for WorkerRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let (of, doing) = (Box::new(launch.clone()), format!("counting {}", launch.kernel));
        self.worker.ask(&WorkerRequest::Count { launch: of, request: *request })?;
        loop {
            match self.hear(&doing)? {
                Reply::Counting => notice(),
                Reply::Counted(counted) => return Ok(counted),
                Reply::Failed(error) => return Err(error),
                other => return Err(unexpected_reply_error(&other)),
            }
        }
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        let id = &self.device.id;
        let (hardware, _) = hardware(id).ok()?;
        let read = |part| {
            collect_part(id, launch, part, &self.options).unwrap_or_else(|error| {
                let missing = vec![format!("no hardware counters: {error}")];
                Collected { missing, ..Collected::default() }
            })
        };
        let setup: Vec<bool> = launch.dispatches.iter().map(|one| one.setup).collect();
        let mut read_parts: Vec<Collected> = Vec::new();
        for part in (hardware.parts)(&setup) {
            let read = read(part);
            // Where nothing reads one part, nothing reads the others.
            let hopeless = read.from.is_none();
            read_parts.push(read);
            if hopeless {
                break;
            }
        }
        Some((hardware.merge)(&setup, read_parts))
    }

    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        let all = |error: &RunError, culprit: usize| {
            let innocent = RunError::new(
                RunErrorKind::Interrupted,
                format!("timed beside {}, which failed", launches[culprit].kernel),
            );
            (0..launches.len())
                .map(|i| Err(if i == culprit { error.clone() } else { innocent.clone() }))
                .collect()
        };
        let mut current = 0;
        let request = WorkerRequest::Time { launches: launches.to_vec(), options: *options };
        if let Err(error) = self.worker.ask(&request) {
            return all(&error, current);
        }
        loop {
            let doing = format!("timing {}", launches[current].kernel);
            match self.hear(&doing) {
                Ok(Reply::Sampling(index)) => {
                    current = index.min(launches.len() - 1);
                    notice(current);
                }
                Ok(Reply::Timed(results)) => return results,
                Ok(Reply::Failed(error)) | Err(error) => return all(&error, current),
                Ok(other) => return all(&unexpected_reply_error(&other), current),
            }
        }
    }
}
