//! A device's process, seen from its parent.
//!
//! Input: how it is started, and [`WorkerRequest`]s. Output: its [`Reply`]s, each waited for up to a
//! limit; where it hangs or dies it is ended, and what it said last is told. It knows no device.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::message::{MARK, Reply, WorkerRequest};
use crate::run::{RunError, RunErrorKind};
use crate::units::visible::{visible_json, visible_line};

/// Lines of the child's standard error that a failure quotes, and the most bytes of each.
const STDERR_LINES: usize = 6;
const STDERR_LINE: usize = 400;

/// Bytes of the child's standard error that are read at once.
const STDERR_CHUNK: usize = 8192;

/// Held while a child is started: where pipes are made and marked as not to be inherited in two steps, as on macOS, another
/// child would take the parent's end along, and neither would find it closed when the parent is gone.
static STARTING: Mutex<()> = Mutex::new(());

/// The parent's end of a child.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<Vec<u8>>,
    complaints: Arc<Mutex<Complaints>>,
    listening: Option<JoinHandle<()>>,
    /// The variables that it was given.
    environment: Vec<(String, String)>,
    /// Whether it may still be ending when this end of it is gone.
    leaves: bool,
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
    pub(super) fn start(options: &WorkerOptions) -> Result<Self, RunError> {
        let internal = |error: io::Error| {
            RunError::new(RunErrorKind::NoDevice, format!("the worker cannot be started: {error}"))
        };
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(internal)?,
        };
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
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
        drop(starting);
        let (sender, replies) = channel();
        let complaints = Arc::new(Mutex::new(Complaints::default()));
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || forward(stdout, &sender));
        }
        let listening = child.stderr.take().map(|mut stderr| {
            let complaints = Arc::clone(&complaints);
            thread::spawn(move || {
                let mut bytes = [0; STDERR_CHUNK];
                while let Ok(length @ 1..) = stderr.read(&mut bytes) {
                    let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.add(&bytes[..length]);
                }
            })
        });
        let requests = child.stdin.take();
        let environment = options.environment.clone();
        let leaves = false;
        Ok(Self { child, requests, replies, complaints, listening, environment, leaves })
    }

    /// Whether a child that was started as `options` says would be like this one.
    pub(super) fn serves(&self, options: &WorkerOptions) -> bool {
        let WorkerOptions { program, environment, silence_max: _ } = options;
        program.is_none() && *environment == self.environment
    }

    /// Says that it is not waited for when it is ended, where it has answered all: what a driver gives back then
    /// takes up to tenths of a second. For the last device that is used.
    pub(super) fn let_go(&mut self) {
        self.leaves = true;
    }

    pub(super) fn ask(&mut self, request: &WorkerRequest) -> Result<(), RunError> {
        let mut line = serde_json::to_vec(request)
            .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))?;
        line.push(b'\n');
        let requests = self.requests.as_mut();
        let sent = requests.is_some_and(|r| r.write_all(&line).and_then(|()| r.flush()).is_ok());
        if sent { Ok(()) } else { Err(self.describe_death()) }
    }

    pub(super) fn hear(&mut self, limit: Duration, doing: &str) -> Result<Reply, RunError> {
        let heard = self.hear_any(limit, doing);
        // After a failure the device may be opened anew, by another child.
        self.leaves &= heard.as_ref().is_ok_and(|reply| !reply.has_failed());
        heard
    }

    fn hear_any(&mut self, limit: Duration, doing: &str) -> Result<Reply, RunError> {
        match self.replies.recv_timeout(limit) {
            Ok(line) => {
                let reply = serde_json::from_slice(&visible_json(&line));
                reply.map(Reply::with_names_on_lines).map_err(|error| {
                    let message = format!("the worker answered something else: {error}");
                    RunError::new(RunErrorKind::DeviceLost, message)
                })
            }
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
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner).text();
        let complaint =
            if complaints.is_empty() { String::new() } else { format!(": {complaints}") };
        RunError::new(
            RunErrorKind::DeviceLost,
            format!("the device's process ended ({status}){complaint}"),
        )
    }

    /// Ends the child, which may hang inside the driver.
    fn end(&mut self) {
        self.requests = None;
        // It may be gone already, which is what is wanted.
        let _ = self.child.kill();
    }
}

/// Hands over the replies among what comes on a child's standard output.
fn forward(stdout: impl Read, replies: &Sender<Vec<u8>>) {
    let mark = u8::try_from(MARK).unwrap_or_default();
    for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
        let begins = line.iter().rposition(|byte| *byte == mark);
        let reply = begins.map(|begins| line[begins + 1..].to_vec());
        if reply.is_some_and(|reply| replies.send(reply).is_err()) {
            break;
        }
    }
}

/// The last lines that a child wrote to standard error.
#[derive(Debug, Default)]
struct Complaints {
    /// Lines that ended, the oldest first.
    lines: VecDeque<Vec<u8>>,
    /// The line that did not.
    line: Vec<u8>,
}

impl Complaints {
    /// Takes what was written; of a line its beginning, of lines the last.
    fn add(&mut self, bytes: &[u8]) {
        for (index, part) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                let ended = std::mem::take(&mut self.line);
                if !ended.is_empty() {
                    self.lines.push_back(ended);
                }
                if self.lines.len() > STDERR_LINES {
                    self.lines.pop_front();
                }
            }
            let room = STDERR_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    /// The lines as one, nothing hidden in it.
    fn text(&self) -> String {
        let lines = self.lines.iter().chain(Some(&self.line)).filter(|line| !line.is_empty());
        let text = |line: &Vec<u8>| {
            visible_line(String::from_utf8_lossy(line).trim_end_matches('\r')).into_owned()
        };
        lines.map(text).collect::<Vec<_>>().join("; ")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        if !self.leaves {
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_of_each_its_beginning() {
        let mut complaints = Complaints::default();
        for number in 0..10_000 {
            complaints.add(format!("line {number}\n\nhalf").as_bytes());
            complaints.add(b" and half\n");
        }
        complaints.add(&[b'x'; 100_000]);
        complaints.add(b"\x1b[31m");
        let text = complaints.text();
        assert!(text.starts_with("line 9997; half and half; line 9998; half and half; "), "{text}");
        assert!(text.len() < 600 && text.ends_with("xxx"), "{text}");
        let mut complaints = Complaints::default();
        complaints.add(b"a\x1b[2J\xff\r\nb");
        assert_eq!(complaints.text(), "a\\u001b[2J\u{fffd}; b");
    }

    #[cfg(unix)]
    impl Worker {
        /// A child that says so and then nothing more.
        pub(in crate::run::worker) fn saying(lines: Vec<Vec<u8>>) -> Self {
            let (sender, replies) = channel();
            lines.into_iter().for_each(|line| sender.send(line).unwrap());
            let mut child = Command::new("cat");
            let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            let (requests, complaints) = (child.stdin.take(), Arc::default());
            let (listening, environment, leaves) = (None, Vec::new(), false);
            Self { child, requests, replies, complaints, listening, environment, leaves }
        }
    }

    /// A child that is another program.
    fn start(program: &str) -> Result<Worker, RunError> {
        let program = Some(PathBuf::from(program));
        Worker::start(&WorkerOptions { program, ..WorkerOptions::new(Duration::ZERO) })
    }

    #[test]
    fn a_child_that_cannot_be_started_is_no_device() {
        let error = start("/nonexistent/lanescope").unwrap_err();
        assert_eq!(error.kind, RunErrorKind::NoDevice);
        assert!(error.message.starts_with("the worker cannot be started: "), "{}", error.message);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_dies_is_told_with_its_last_words_and_asked_nothing_more() {
        // It looks for a file of its argument's name.
        let mut worker = start("cat").unwrap();
        let error = worker.hear(Duration::from_secs(60), "waiting").unwrap_err();
        assert_eq!(error.kind, RunErrorKind::DeviceLost);
        let is_told = error.message.starts_with("the device's process ended (");
        assert!(is_told && error.message.contains(": cat: worker: "), "{}", error.message);
        let request = WorkerRequest::Counters { id: "cuda:0".to_owned() };
        let error = worker.ask(&request).unwrap_err();
        assert_eq!(error.kind, RunErrorKind::DeviceLost);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_prints_and_answers_nothing_is_ended() {
        let mut worker = start("yes").unwrap();
        let error = worker.hear(Duration::from_millis(100), "waiting").unwrap_err();
        let silent = "waiting: nothing was heard for 0 s; its process was ended";
        assert_eq!((error.kind, &*error.message), (RunErrorKind::TimeLimit, silent));
        let error = worker.hear(Duration::from_secs(60), "waiting").unwrap_err();
        let ended = error.message.starts_with("the device's process ended (");
        assert!(ended && error.kind == RunErrorKind::DeviceLost, "{}", error.message);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_reply_is_an_error() {
        for line in ["", "{}", "{\"opened\":1}", "{\"counted\":", "\u{7f}"] {
            let mut worker = Worker::saying(vec![line.as_bytes().to_vec()]);
            let error = worker.hear(Duration::from_secs(60), "waiting").unwrap_err();
            assert_eq!(error.kind, RunErrorKind::DeviceLost, "{line:?}");
            let is_told = error.message.starts_with("the worker answered something else: ");
            assert!(is_told, "{line:?}: {}", error.message);
        }
    }

    #[test]
    fn replies_are_told_from_what_drivers_print() {
        let (sender, replies) = channel();
        let text = b"{\"opened\":1}\nWarning: \x1e{\"a\":1}\n\x1e{\"b\":2}\nend";
        forward(&text[..], &sender);
        drop(sender);
        let found: Vec<Vec<u8>> = replies.iter().collect();
        assert_eq!(found, [b"{\"a\":1}".to_vec(), b"{\"b\":2}".to_vec()]);
    }
}
