//! The child process that owns a device.
//!
//! Input: [`WorkerRequest`]s on standard input. Output: [`Reply`]s on what was standard output. It ends
//! when its input does, at once and in the middle of whatever its driver is at.

use std::io::{self, BufRead as _, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::message::{MARK, Reply, WorkerRequest};
use crate::kernel::Launch;
use crate::run::back_end::{HardwareCounters, Listing, OpenListed, OpenOptions, Places};
use crate::run::backends;
use crate::run::{CountRequest, RunError, RunErrorKind, Runner, TimeOptions, caught};

/// What a child has in its hands.
#[derive(Default)]
struct Held {
    /// The devices of a back end that listing has opened, until one is asked for; with its prefix.
    listed: Option<(String, OpenListed)>,
    /// The device that was asked for.
    runner: Option<Box<dyn Runner>>,
}

/// Answers the requests on standard input until it ends: the child's main.
///
/// # Errors
///
/// What reading or writing gives; the parent is then gone.
pub fn serve() -> io::Result<()> {
    let mut output = protocol()?;
    let requests = listen();
    let mut held = Held::default();
    for line in requests {
        let reply = answer(serde_json::from_slice(line?.as_bytes())?, &mut held, &mut output)?;
        send(&mut output, &reply)?;
    }
    Ok(())
}

/// Reads requests, and ends the process where their end comes: the parent is gone, however it ended,
/// and what the driver is at concerns nobody any more.
///
/// The closed pipe is enough on every system, and is all that there is on macOS and Windows: the system closes a
/// process's end of it together with the process, nobody else has that end (`Worker::start`), the thread that reads
/// it does nothing else and takes no lock of a driver's, and [`end_now`] asks nobody. A job object of Windows or
/// Linux's signal do the same from outside. They would end two that this one does not: a process whose threads are
/// all stopped, as by a debugger, and one whose driver has put another file in the place of standard input. What
/// hangs within the kernel ends by none of them before it returns; and on Windows an abort may first be reported,
/// which takes what the system takes for it.
fn listen() -> Receiver<io::Result<String>> {
    let (sender, requests) = channel();
    #[cfg(target_os = "linux")]
    end_with_parent();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            // The other end goes only where the process ends.
            let _ = sender.send(line);
        }
        end_now();
    });
    requests
}

/// Has the system end this process as soon as the parent's thread that started it ends. A parent that
/// was gone before that is noticed by its end of standard input, which is closed.
#[cfg(target_os = "linux")]
fn end_with_parent() {
    // Where the system refuses, the end of standard input does as well.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Ends the process without what drivers do at an orderly end: they may hang in it.
fn end_now() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

/// The way to the parent: standard output as it was. Standard error takes its place, so that nothing
/// that a driver prints comes between replies.
#[cfg(unix)]
fn protocol() -> io::Result<impl Write> {
    use std::os::fd::AsFd as _;

    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(std::fs::File::from(stdout))
}

/// The way to the parent, which tells replies from what a driver prints by how they begin.
#[cfg(not(unix))]
fn protocol() -> io::Result<impl Write> {
    Ok(io::stdout())
}

fn send(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut text = MARK.to_string().into_bytes();
    serde_json::to_writer(&mut text, reply)?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}

fn closed_error() -> RunError {
    RunError::new(RunErrorKind::NoDevice, "no device is open")
}

fn answer(request: WorkerRequest, held: &mut Held, output: &mut impl Write) -> io::Result<Reply> {
    let Held { listed, runner } = held;
    Ok(match request {
        WorkerRequest::List { back_end } => return list_here(back_end, listed, output),
        WorkerRequest::Open { id, options } => match open_here(&id, &options, listed.take()) {
            Ok(opened) => {
                let device = Box::new(opened.device().clone());
                *runner = Some(opened);
                Reply::Opened(device)
            }
            Err(error) => Reply::Failed(error),
        },
        WorkerRequest::Announce { launches, request } => match runner.as_mut() {
            None => Reply::Failed(closed_error()),
            Some(runner) => {
                runner.announce(&launches.iter().collect::<Vec<_>>(), &request);
                Reply::Announced
            }
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
        WorkerRequest::Code { launch } => match runner.as_mut() {
            None => Reply::Failed(closed_error()),
            Some(runner) => {
                let none = || RunError::new(RunErrorKind::Unsupported, "there is no machine code");
                let found = runner.collect(&launch).ok_or_else(none);
                found.map_or_else(Reply::Failed, |code| Reply::Collected(Box::new(code)))
            }
        },
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

/// Lists what a back end has, in this process, and keeps what was opened for it.
fn list_here(
    prefix: String,
    opened: &mut Option<(String, OpenListed)>,
    output: &mut impl Write,
) -> io::Result<Reply> {
    let mut broken = None;
    let mut notice = || {
        if let Err(error) = send(output, &Reply::Listing) {
            broken = Some(error);
        }
    };
    let reply = match backends::by_prefix(&prefix).map(|back_end| &back_end.places) {
        Some(Places::Listed { list, .. }) => {
            let (listing, open) = list(&mut notice);
            *opened = open.map(|open| (prefix, open));
            Reply::Listed(listing)
        }
        Some(Places::Form { .. }) => Reply::Listed(Listing::default()),
        None => Reply::Failed(RunError::new(RunErrorKind::NoDevice, "there is no such back end")),
    };
    broken.map_or(Ok(reply), Err)
}

/// Opens a device in this process, or takes the one that listing has opened.
fn open_here(
    id: &str,
    options: &OpenOptions,
    listed: Option<(String, OpenListed)>,
) -> Result<Box<dyn Runner>, RunError> {
    let (back_end, place) = backends::by_id(id)?;
    match listed.filter(|(prefix, _)| prefix == back_end.prefix) {
        Some((_, open)) => open(place, options),
        None => (back_end.open)(place, options),
    }
}

/// How a device's hardware counters are read, and its place.
pub(super) fn hardware(id: &str) -> Result<(&'static HardwareCounters, &str), RunError> {
    let (back_end, place) = backends::by_id(id)?;
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
