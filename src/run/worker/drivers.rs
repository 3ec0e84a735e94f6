//! Which devices a back end has, where one driver may bring down who lists them.
//!
//! Input: a back end. Output: its [`Listing`]. All drivers are asked at once in a child. Where that fails, or
//! takes long, each is asked in a child of its own, those that answer are asked together again, and the
//! others are named with what they did; where those do not answer together either, they are added one by one.
//! No driver is opened here. The child that has listed them can open one of them: [`Lister`].

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::message::{Reply, WorkerRequest, unexpected_reply_error};
use super::process::{Worker, WorkerOptions};
use crate::run::back_end::{BackEnd, DriverFile, Drivers, Listing, Places};
use crate::run::{RunError, RunErrorKind};

/// How long nothing may be heard of a child that lists devices.
const LISTING_MAX: Duration = Duration::from_secs(10);

/// How long all drivers together may take before each is asked alone beside that: what hangs in one of them
/// costs [`LISTING_MAX`] once, not twice.
const PATIENCE: Duration = Duration::from_secs(3);

/// The child that has listed a back end's devices: it has its drivers loaded already.
#[derive(Debug)]
pub struct Lister(pub(super) Worker);

/// A driver that answers alone.
struct Answering {
    file: PathBuf,
    /// Whether it has devices that can be used.
    has_devices: bool,
}

/// Lists what a back end has, in children of its own, and gives the one that did it; for one whose devices have a
/// form, nothing.
///
/// # Errors
///
/// [`RunErrorKind::DeviceLost`] and [`RunErrorKind::TimeLimit`] where what lists the devices brings the child
/// down, and it is not known whose driver does.
pub fn list(back_end: &BackEnd) -> Result<(Listing, Option<Lister>), RunError> {
    let Places::Listed { drivers, .. } = &back_end.places else {
        return Ok((Listing::default(), None));
    };
    let Some(drivers) = drivers else { return ask(back_end, &[]) };
    let (sound, faulty): (Vec<_>, Vec<_>) =
        (drivers.files)().into_iter().partition(|file| file.fault.is_none());
    let fault = |file: &DriverFile| Some(fault_text(&file.path, file.fault.as_ref()?));
    let faults: Vec<String> = faulty.iter().filter_map(fault).collect();
    let sound: Vec<PathBuf> = sound.into_iter().map(|file| file.path).collect();
    // A file that cannot be read hides the others too.
    let environment = match faults.is_empty() {
        true => Vec::new(),
        false => (drivers.only)(&sound.iter().collect::<Vec<_>>()),
    };
    let (together, alone) = thread::scope(|scope| {
        let (asked, waits) = channel::<()>();
        let files = sound.as_slice();
        let alone = scope.spawn(move || {
            let takes_long = waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            takes_long.then(|| ask_each_alone(back_end, drivers, files))
        });
        let together = ask(back_end, &environment);
        drop(asked);
        (together, alone.join().ok().flatten())
    });
    match together {
        Ok((listing, lister)) => Ok((Listing { faults, environment, ..listing }, lister)),
        Err(_) if !sound.is_empty() => {
            let alone = alone.unwrap_or_else(|| ask_each_alone(back_end, drivers, &sound));
            ask_answering(back_end, drivers, sound.into_iter().zip(alone), faults)
        }
        Err(error) => Err(error),
    }
}

/// What each driver lists alone, all of them asked at the same time.
fn ask_each_alone(
    back_end: &BackEnd,
    drivers: &Drivers,
    files: &[PathBuf],
) -> Vec<Result<Listing, RunError>> {
    thread::scope(|scope| {
        let mut asked = Vec::new();
        for file in files {
            asked.push(scope.spawn(move || {
                let alone = (drivers.only)(&[file]);
                ask(back_end, &alone).map(|(listing, _)| listing)
            }));
        }
        let gone = || RunError::new(RunErrorKind::DeviceLost, "who asked it ended");
        asked.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(gone()))).collect()
    })
}

/// Asks those drivers together that answered alone.
fn ask_answering(
    back_end: &BackEnd,
    drivers: &Drivers,
    alone: impl Iterator<Item = (PathBuf, Result<Listing, RunError>)>,
    mut faults: Vec<String>,
) -> Result<(Listing, Option<Lister>), RunError> {
    let mut answering = Vec::new();
    for (file, listing) in alone {
        match listing {
            Ok(listing) => {
                let has_devices = listing.devices.iter().any(|device| device.left_out.is_none());
                answering.push(Answering { file, has_devices });
            }
            Err(error) => faults.push(fault_text(&file, &error.message)),
        }
    }
    let files: Vec<&PathBuf> = answering.iter().map(|driver| &driver.file).collect();
    let environment = (drivers.only)(&files);
    let together = if files.is_empty() { None } else { ask(back_end, &environment).ok() };
    let found = match together {
        Some((listing, lister)) => Some((Listing { environment, ..listing }, lister)),
        None => ask_one_by_one(back_end, drivers, &answering, &mut faults),
    };
    let Some((listing, lister)) = found else {
        let trouble = Some("no driver answers".to_owned());
        return Ok((Listing { trouble, faults, ..Listing::default() }, None));
    };
    Ok((Listing { faults, ..listing }, lister))
}

/// Asks more and more of the drivers together that answer alone, and leaves out each that does not answer beside those
/// before it. Those with devices come first: which of two that do not go together is at fault nobody knows.
fn ask_one_by_one(
    back_end: &BackEnd,
    drivers: &Drivers,
    answering: &[Answering],
    faults: &mut Vec<String>,
) -> Option<(Listing, Option<Lister>)> {
    let mut order: Vec<usize> = (0..answering.len()).collect();
    order.sort_by_key(|index| !answering[*index].has_devices);
    let mut kept = BTreeSet::new();
    let mut found = None;
    for index in order {
        // Devices are numbered in the order of the files, whichever were asked first.
        let tried: BTreeSet<usize> = kept.iter().copied().chain([index]).collect();
        let files: Vec<&PathBuf> = tried.iter().map(|index| &answering[*index].file).collect();
        let environment = (drivers.only)(&files);
        match ask(back_end, &environment) {
            Ok((listing, lister)) => {
                found = Some((Listing { environment, ..listing }, lister));
                kept = tried;
            }
            Err(error) => {
                let what = format!("it answers alone, and not beside others: {}", error.message);
                faults.push(fault_text(&answering[index].file, &what));
            }
        }
    }
    found
}

fn fault_text(file: &std::path::Path, what: &str) -> String {
    format!("the driver of {} is left out: {what}", file.display())
}

/// Lists what there is in a child with these variables.
fn ask(
    back_end: &BackEnd,
    environment: &[(String, String)],
) -> Result<(Listing, Option<Lister>), RunError> {
    let options =
        WorkerOptions { environment: environment.to_vec(), ..WorkerOptions::new(LISTING_MAX) };
    let mut worker = Worker::start(&options)?;
    worker.ask(&WorkerRequest::List { back_end: back_end.prefix.to_owned() })?;
    loop {
        match worker.hear(LISTING_MAX, &format!("listing the devices of {}", back_end.name))? {
            Reply::Listing => {}
            Reply::Listed(listing) => return Ok((listing, Some(Lister(worker)))),
            Reply::Failed(error) => return Err(error),
            other => return Err(unexpected_reply_error(&other)),
        }
    }
}
