//! The child process that owns a device, and the parent's end of the conversation.
//!
//! Input, of the child: [`Request`]s as JSON lines on standard input. Output: [`Reply`]s as JSON
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

use super::cuda::collect::{Part, merged, parts};
use super::cuda::{self, CudaRunner};
use super::self_test;
use super::wgpu::{Listed, WgpuRunner, list};
use super::{
    Collected, CountOptions, Counted, How, RunError, RunErrorKind, Runner, TimeOptions, Timed,
    caught,
};
use crate::kernel::{Catalogue, Launch};
use crate::program::Construct;
use crate::record::{CountersFrom, Device};

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
pub enum Request {
    /// List the adapters: answered with [`Reply::Adapters`].
    List,
    /// List what there is of CUDA: answered with [`Reply::Cuda`].
    ListCuda,
    /// Open device number `number`: answered with [`Reply::Opened`] or [`Reply::Failed`].
    Open {
        /// By which interface.
        interface: Interface,
        /// The N of `wgpu:N` or `cuda:N`.
        number: usize,
        /// Whether to measure rates, fusion and the loop limit.
        calibrate: bool,
    },
    /// Count: answered with any number of [`Reply::Counting`], then [`Reply::Counted`] or
    /// [`Reply::Failed`].
    Count {
        /// What to run.
        launch: Box<Launch>,
        /// How.
        options: CountOptions,
    },
    /// Count without subgroup operations: answered as [`Request::Count`].
    Estimate {
        /// What to run.
        launch: Box<Launch>,
    },
    /// Count twice: answered as [`Request::Count`], with [`Reply::CountedTwice`] for the last.
    CountTwice {
        /// What to run.
        launch: Box<Launch>,
        /// How.
        how: How,
    },
    /// Read hardware counters of a launch: answered with [`Reply::Collected`] or [`Reply::Failed`].
    /// No device may have been opened in the child, and nothing else is asked of it.
    Collect {
        /// The N of `cuda:N`.
        number: usize,
        /// What to run.
        launch: Box<Launch>,
        /// What to read.
        part: Part,
    },
    /// Say whether hardware counters can be read: answered with [`Reply::Counters`] or
    /// [`Reply::Failed`]. As [`Request::Collect`], in a child of its own.
    Counters {
        /// The N of `cuda:N`.
        number: usize,
    },
    /// Time: answered with any number of [`Reply::Sampling`], then [`Reply::Timed`].
    Time {
        /// What to run, side by side.
        launches: Vec<Launch>,
        /// How.
        options: TimeOptions,
    },
}

/// How a device is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interface {
    /// Vulkan, Metal or DX12.
    Wgpu,
    /// NVIDIA's own.
    Cuda,
}

impl Interface {
    /// What device ids begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Wgpu => "wgpu",
            Self::Cuda => "cuda",
        }
    }

    /// Opens device `number` in this process.
    fn open(self, number: usize, calibrate: bool) -> Result<Box<dyn Runner>, RunError> {
        match self {
            Self::Wgpu => WgpuRunner::open(number, calibrate).map(|runner| Box::new(runner) as _),
            Self::Cuda => CudaRunner::open(number, calibrate).map(|runner| Box::new(runner) as _),
        }
    }
}

/// What the child answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The adapters.
    Adapters(Vec<Listed>),
    /// What there is of CUDA.
    Cuda(cuda::Listed),
    /// The device is open.
    Opened(Box<Device>),
    /// Counting's result.
    Counted(Counted),
    /// Counting twice: the first result, and whether the second was the same.
    CountedTwice(Counted, bool),
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
        let request: Request = serde_json::from_str(&line)?;
        let reply = answer(request, &mut runner, output)?;
        send(output, &reply)?;
    }
}

fn send(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    serde_json::to_writer(&mut *output, reply)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn closed() -> RunError {
    RunError::new(RunErrorKind::NoDevice, "no device is open")
}

fn answer(
    request: Request,
    runner: &mut Option<Box<dyn Runner>>,
    output: &mut impl Write,
) -> io::Result<Reply> {
    Ok(match request {
        Request::List => Reply::Adapters(list()),
        Request::ListCuda => Reply::Cuda(cuda::list()),
        Request::Open { interface, number, calibrate } => match interface.open(number, calibrate) {
            Ok(opened) => {
                let device = Box::new(opened.device().clone());
                *runner = Some(opened);
                Reply::Opened(device)
            }
            Err(error) => Reply::Failed(error),
        },
        Request::Count { launch, options } => {
            let how = How::Counted(options);
            return count(runner.as_deref_mut(), &launch, output, |runner, notice| {
                runner.count_noticed(&launch, how, notice).map(Reply::Counted)
            });
        }
        Request::Estimate { launch } => {
            return count(runner.as_deref_mut(), &launch, output, |runner, notice| {
                runner.count_noticed(&launch, How::Estimated, notice).map(Reply::Counted)
            });
        }
        Request::CountTwice { launch, how } => {
            return count(runner.as_deref_mut(), &launch, output, |runner, notice| {
                let (first, same) = runner.count_twice(&launch, how, notice)?;
                Ok(Reply::CountedTwice(first, same))
            });
        }
        Request::Collect { number, launch, part } => {
            let collected = caught("reading of counters", &launch.file, || {
                cuda::collect::collect(number, &launch, part)
            });
            collected.map_or_else(Reply::Failed, |collected| Reply::Collected(Box::new(collected)))
        }
        Request::Counters { number } => {
            cuda::collect::available(number).map_or_else(Reply::Failed, Reply::Counters)
        }
        Request::Time { launches, options } => match runner.as_mut() {
            None => Reply::Failed(closed()),
            Some(runner) => return time(&mut **runner, &launches, &options, output),
        },
    })
}

/// Counts a launch, and says of each dispatch that it is about to be compiled or run.
fn count(
    runner: Option<&mut (dyn Runner + 'static)>,
    launch: &Launch,
    output: &mut impl Write,
    counted: impl FnOnce(&mut dyn Runner, &mut dyn FnMut()) -> Result<Reply, RunError>,
) -> io::Result<Reply> {
    let Some(runner) = runner else { return Ok(Reply::Failed(closed())) };
    let mut broken = None;
    let mut notice = || {
        if let Err(error) = send(output, &Reply::Counting) {
            broken = Some(error);
        }
    };
    let reply = caught("counting", &launch.file, || counted(runner, &mut notice));
    broken.map_or_else(|| Ok(reply.unwrap_or_else(Reply::Failed)), Err)
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

    fn ask(&mut self, request: &Request) -> Result<(), RunError> {
        let mut line = serde_json::to_vec(request)
            .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))?;
        line.push(b'\n');
        let requests = self.requests.as_mut();
        let sent = requests.is_some_and(|r| r.write_all(&line).and_then(|()| r.flush()).is_ok());
        if sent { Ok(()) } else { Err(self.died()) }
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
                    "{doing}: nothing was heard for {} s; its process was ended (--time-limit \
                     waits longer)",
                    limit.as_secs()
                );
                Err(RunError::new(RunErrorKind::TimeLimit, message))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
        }
    }

    /// What became of a child that is gone.
    fn died(&mut self) -> RunError {
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

/// Lists the adapters, in a child of their own.
///
/// # Errors
///
/// [`RunErrorKind::DeviceLost`] and [`RunErrorKind::TimeLimit`] where a driver brings the child down.
pub fn adapters() -> Result<Vec<Listed>, RunError> {
    let mut worker = Worker::start(&WorkerOptions::new(OPENING_MAX))?;
    worker.ask(&Request::List)?;
    match worker.hear(OPENING_MAX, "listing the adapters")? {
        Reply::Adapters(adapters) => Ok(adapters),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected(&other)),
    }
}

/// Lists what there is of CUDA, in a child of its own.
///
/// # Errors
///
/// [`RunErrorKind::DeviceLost`] and [`RunErrorKind::TimeLimit`] where the driver brings the child down.
pub fn cuda_devices() -> Result<cuda::Listed, RunError> {
    let mut worker = Worker::start(&WorkerOptions::new(OPENING_MAX))?;
    worker.ask(&Request::ListCuda)?;
    match worker.hear(OPENING_MAX, "listing CUDA's devices")? {
        Reply::Cuda(listed) => Ok(listed),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected(&other)),
    }
}

/// Reads a part of a launch's hardware counters on `cuda:<number>`, in a child of its own that ends
/// with it.
fn collected(
    number: usize,
    launch: &Launch,
    part: Part,
    options: &WorkerOptions,
) -> Result<Collected, RunError> {
    let mut worker = Worker::start(options)?;
    worker.ask(&Request::Collect { number, launch: Box::new(launch.clone()), part })?;
    let limit = COLLECTING_MAX.max(options.silence_max);
    match worker.hear(limit, &format!("reading counters of {}", launch.kernel))? {
        Reply::Collected(collected) => Ok(*collected),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected(&other)),
    }
}

/// What would read hardware counters on `cuda:<number>`, or why they cannot be read, asked in a child
/// of its own.
///
/// # Errors
///
/// What opening the device gives, and what ends the child.
pub fn counters(number: usize) -> Result<Result<CountersFrom, String>, RunError> {
    let mut worker = Worker::start(&WorkerOptions::new(OPENING_MAX))?;
    worker.ask(&Request::Counters { number })?;
    match worker.hear(OPENING_MAX, "taking hold of hardware counters")? {
        Reply::Counters(found) => Ok(found),
        Reply::Failed(error) => Err(error),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(reply: &Reply) -> RunError {
    RunError::new(RunErrorKind::DeviceLost, format!("the worker answered out of turn: {reply:?}"))
}

/// A device in a child process.
#[derive(Debug)]
pub struct WorkerRunner {
    worker: Worker,
    device: Device,
    silence_max: Duration,
    /// Where the device is, and how children for it are started.
    place: (Interface, usize, WorkerOptions),
}

impl WorkerRunner {
    /// Opens `wgpu:<number>` in a fresh child.
    ///
    /// # Errors
    ///
    /// What opening or calibrating gives, and what ends the child.
    pub fn open(number: usize, calibrate: bool, silence_max: Duration) -> Result<Self, RunError> {
        Self::open_by(Interface::Wgpu, number, calibrate, &WorkerOptions::new(silence_max))
    }

    /// Opens `cuda:<number>` in a fresh child.
    ///
    /// # Errors
    ///
    /// As [`WorkerRunner::open`].
    pub fn open_cuda(
        number: usize,
        calibrate: bool,
        silence_max: Duration,
    ) -> Result<Self, RunError> {
        Self::open_by(Interface::Cuda, number, calibrate, &WorkerOptions::new(silence_max))
    }

    /// Opens a device in a fresh child that is started as `options` says.
    ///
    /// # Errors
    ///
    /// As [`WorkerRunner::open`].
    pub fn open_by(
        interface: Interface,
        number: usize,
        calibrate: bool,
        options: &WorkerOptions,
    ) -> Result<Self, RunError> {
        let silence_max = options.silence_max;
        let mut worker = Worker::start(options)?;
        worker.ask(&Request::Open { interface, number, calibrate })?;
        let doing = format!("opening {}:{number}", interface.prefix());
        match worker.hear(OPENING_MAX, &doing)? {
            Reply::Opened(device) => {
                let place = (interface, number, options.clone());
                Ok(Self { worker, device: *device, silence_max, place })
            }
            Reply::Failed(error) => Err(error),
            other => Err(unexpected(&other)),
        }
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

    /// Asks for something to be done with a launch; gives the answer, failures aside.
    fn asked(
        &mut self,
        request: &Request,
        launch: &Launch,
        notice: &mut dyn FnMut(),
    ) -> Result<Reply, RunError> {
        self.worker.ask(request)?;
        let doing = format!("counting {}", launch.kernel);
        loop {
            match self.worker.hear(self.silence_max, &doing)? {
                Reply::Counting => notice(),
                Reply::Failed(error) => return Err(error),
                reply => return Ok(reply),
            }
        }
    }
}

impl Runner for WorkerRunner {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(&mut self, launch: &Launch, options: &CountOptions) -> Result<Counted, RunError> {
        self.count_noticed(launch, How::Counted(*options), &mut || {})
    }

    fn estimate(&mut self, launch: &Launch) -> Result<Counted, RunError> {
        self.count_noticed(launch, How::Estimated, &mut || {})
    }

    fn count_noticed(
        &mut self,
        launch: &Launch,
        how: How,
        notice: &mut dyn FnMut(),
    ) -> Result<Counted, RunError> {
        let of = Box::new(launch.clone());
        let request = match how {
            How::Counted(options) => Request::Count { launch: of, options },
            How::Estimated => Request::Estimate { launch: of },
        };
        match self.asked(&request, launch, notice)? {
            Reply::Counted(counted) => Ok(counted),
            other => Err(unexpected(&other)),
        }
    }

    fn count_twice(
        &mut self,
        launch: &Launch,
        how: How,
        notice: &mut dyn FnMut(),
    ) -> Result<(Counted, bool), RunError> {
        let request = Request::CountTwice { launch: Box::new(launch.clone()), how };
        match self.asked(&request, launch, notice)? {
            Reply::CountedTwice(first, same) => Ok((first, same)),
            other => Err(unexpected(&other)),
        }
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        let (interface, number, options) = &self.place;
        match interface {
            Interface::Wgpu => None,
            Interface::Cuda => {
                let read = |part| {
                    collected(*number, launch, part, options).unwrap_or_else(|error| {
                        let missing = vec![format!("no hardware counters: {error}")];
                        Collected { missing, ..Collected::default() }
                    })
                };
                let setup: Vec<bool> = launch.dispatches.iter().map(|one| one.setup).collect();
                let mut read_parts: Vec<Collected> = Vec::new();
                for part in parts(&setup) {
                    let read = read(part);
                    // Where there is no CUPTI for one part, there is none for the others.
                    let hopeless = read.from.is_none();
                    read_parts.push(read);
                    if hopeless {
                        break;
                    }
                }
                Some(merged(&setup, read_parts))
            }
        }
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
        let request = Request::Time { launches: launches.to_vec(), options: *options };
        if let Err(error) = self.worker.ask(&request) {
            return all(&error, current);
        }
        loop {
            let doing = format!("timing {}", launches[current].kernel);
            match self.worker.hear(self.silence_max, &doing) {
                Ok(Reply::Sampling(index)) => {
                    current = index.min(launches.len() - 1);
                    notice(current);
                }
                Ok(Reply::Timed(results)) => return results,
                Ok(Reply::Failed(error)) | Err(error) => return all(&error, current),
                Ok(other) => return all(&unexpected(&other), current),
            }
        }
    }
}
