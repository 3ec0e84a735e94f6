//! Which devices a back end has, where one driver may bring down who lists them.
//!
//! Input: a back end. Output: its [`Listing`]. All drivers are asked at once in a child; where that
//! fails, each is asked in a child of its own, those that answer are asked together again, and the
//! others are named with what they did. No driver is opened here. The child that has listed them can open one
//! of them: [`Lister`].

use std::path::PathBuf;
use std::time::Duration;

use super::message::{Reply, WorkerRequest, unexpected_reply_error};
use super::process::{Worker, WorkerOptions};
use crate::run::RunError;
use crate::run::back_end::{BackEnd, DriverFile, Drivers, Listing, Places};

/// How long nothing may be heard of a child that lists devices.
const LISTING_MAX: Duration = Duration::from_secs(10);

/// The child that has listed a back end's devices: it has its drivers loaded already.
#[derive(Debug)]
pub struct Lister(pub(super) Worker);

/// Lists what a back end has, in children of its own, and gives the one that did it; for one whose devices have a
/// form, nothing.
///
/// # Errors
///
/// [`RunErrorKind::DeviceLost`](crate::run::RunErrorKind::DeviceLost) and
/// [`RunErrorKind::TimeLimit`](crate::run::RunErrorKind::TimeLimit) where what lists the devices brings
/// the child down, and it is not known whose driver does.
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
    match ask(back_end, &environment) {
        Ok((listing, lister)) => Ok((Listing { faults, environment, ..listing }, lister)),
        Err(_) if !sound.is_empty() => ask_one_by_one(back_end, drivers, sound, faults),
        Err(error) => Err(error),
    }
}

/// Asks each driver alone, and then those together that answered.
fn ask_one_by_one(
    back_end: &BackEnd,
    drivers: &Drivers,
    mut files: Vec<PathBuf>,
    mut faults: Vec<String>,
) -> Result<(Listing, Option<Lister>), RunError> {
    files.retain(|file| match ask(back_end, &(drivers.only)(&[file])) {
        Ok(_) => true,
        Err(error) => {
            faults.push(fault_text(file, &error.message));
            false
        }
    });
    if files.is_empty() {
        let trouble = Some("no driver answers".to_owned());
        return Ok((Listing { trouble, faults, ..Listing::default() }, None));
    }
    let environment = (drivers.only)(&files.iter().collect::<Vec<_>>());
    let (listing, lister) = ask(back_end, &environment)?;
    Ok((Listing { environment, faults, ..listing }, lister))
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
