//! A device in a process of its own: what a driver does cannot reach the process that holds the results.
//!
//! Input: a device's id. Output: [`WorkerRunner`], a [`Runner`] whose device lives in a child; and lists of
//! devices. The child is [`serve`], the conversation [`WorkerRequest`] and [`Reply`]. A child ends when its
//! parent does, however it ended: its input ends then, and on Linux the system ends it besides.

mod child;
mod drivers;
mod message;
mod process;

use std::collections::BTreeSet;
use std::time::Duration;

pub use child::serve;
pub use drivers::{Lister, list};
pub use message::{Reply, WorkerRequest};
pub use process::WorkerOptions;

use super::back_end::{BackEnd, CountersPart, HardwareCounters, OpenOptions, WarmUpRule};
use super::backends;
use super::self_test;
use super::{Collected, CountRequest, Counted, RunError, RunErrorKind, Runner, TimeOptions, Timed};
use crate::kernel::{Catalogue, Launch};
use crate::program::Construct;
use crate::record::{CountersFrom, Device, LimitOf};
use child::hardware;
use message::unexpected_reply_error;
use process::Worker;

/// How long nothing may be heard of a launch.
pub const SILENCE_MAX: Duration = Duration::from_secs(120);

/// How long opening and calibrating a device may take.
const OPENING_MAX: Duration = Duration::from_secs(90);

/// How long reading a launch's hardware counters may take: it runs once for each of tens of passes.
const COLLECTING_MAX: Duration = Duration::from_secs(180);

/// Reads a part of a launch's hardware counters on a device, in a child of its own that ends with it.
fn collect_part(
    id: &str,
    launch: &Launch,
    part: CountersPart,
    options: &WorkerOptions,
) -> Result<Collected, RunError> {
    let mut worker = Worker::start(options)?;
    let boxed = Box::new(launch.clone());
    worker.ask(&WorkerRequest::Collect { id: id.to_owned(), launch: boxed, part })?;
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
        let calibrate = calibrate.then_some(WarmUpRule::Whole);
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
        Self::open_listed(id, open, options, None)
    }

    /// As [`WorkerRunner::open_by`], in the child that has listed the device, where there is one.
    ///
    /// # Errors
    ///
    /// As [`WorkerRunner::open`].
    pub fn open_listed(
        id: &str,
        open: &OpenOptions,
        options: &WorkerOptions,
        lister: Option<Lister>,
    ) -> Result<Self, RunError> {
        let silence_max = options.silence_max;
        let (back_end, place) = backends::by_id(id)?;
        let missing = |why| RunError::new(RunErrorKind::NoDevice, why);
        let mut options = options.clone();
        options.environment.extend((back_end.environment)(place).map_err(missing)?);
        let idle = lister.map(|Lister(worker)| worker);
        let mut worker = match idle.filter(|worker| worker.serves(&options)) {
            Some(worker) => worker,
            None => Worker::start(&options)?,
        };
        worker.ask(&WorkerRequest::Open { id: id.to_owned(), options: *open })?;
        match worker.hear(OPENING_MAX, &format!("opening {id}"))? {
            Reply::Opened(device) => Ok(Self { worker, device: *device, silence_max, options }),
            Reply::Failed(error) => Err(error),
            other => Err(unexpected_reply_error(&other)),
        }
    }

    /// Says that no device is used after this one: its child is not waited for when it is ended, unless something
    /// failed.
    pub fn let_go(&mut self) {
        self.worker.let_go();
    }

    /// Waits for what the child says of a launch.
    fn hear(&mut self, doing: &str) -> Result<Reply, RunError> {
        let limit = self.silence_max;
        self.worker.hear(limit, doing).map_err(|error| match error.kind {
            RunErrorKind::TimeLimit => error.with_limit(LimitOf::SilenceSeconds, limit.as_secs()),
            _ => error,
        })
    }

    /// The parts of a launch's hardware counters that are `wanted`, each from a child of its own, put together.
    fn collect_parts(
        &self,
        hardware: &HardwareCounters,
        launch: &Launch,
        wanted: impl Fn(CountersPart) -> bool,
    ) -> Collected {
        let setup: Vec<bool> = launch.dispatches.iter().map(|dispatch| dispatch.setup).collect();
        let mut read_parts: Vec<Collected> = Vec::new();
        for part in (hardware.parts)(&setup) {
            if !wanted(part) {
                read_parts.push(Collected::default());
                continue;
            }
            let read = collect_part(&self.device.id, launch, part, &self.options);
            let read = read.unwrap_or_else(|error| {
                let missing = vec![format!("no hardware counters: {error}")];
                Collected { missing, ..Collected::default() }
            });
            // Where nothing reads one part, nothing reads the others.
            let hopeless = read.from.is_none();
            read_parts.push(read);
            if hopeless {
                break;
            }
        }
        (hardware.merge)(&setup, read_parts)
    }

    /// The machine code of a launch, from the child that has the device.
    fn match_code(&mut self, launch: &Launch) -> Collected {
        let doing = format!("matching the machine code of {}", launch.kernel);
        let asked = self.worker.ask(&WorkerRequest::Code { launch: Box::new(launch.clone()) });
        let why = match asked.and_then(|()| self.hear(&doing)) {
            Ok(Reply::Collected(collected)) => return *collected,
            Ok(Reply::Failed(error)) | Err(error) => error,
            Ok(other) => unexpected_reply_error(&other),
        };
        Collected { missing: vec![format!("no machine code: {why}")], ..Collected::default() }
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

    fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        let compiles = |(back_end, _): (&BackEnd, &str)| back_end.compiles_ahead;
        // One dispatch by itself is compiled as soon where it is counted.
        let dispatches: usize = launches.iter().map(|launch| launch.dispatches.len()).sum();
        if dispatches < 2 || !backends::by_id(&self.device.id).is_ok_and(compiles) {
            return;
        }
        let launches = launches.iter().copied().cloned().collect();
        let request = WorkerRequest::Announce { launches, request: *request };
        // A child that fails here says so when it is to count.
        let asked = self.worker.ask(&request);
        drop(asked.and_then(|()| self.hear("compiling")));
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let (boxed, doing) = (Box::new(launch.clone()), format!("counting {}", launch.kernel));
        self.worker.ask(&WorkerRequest::Count { launch: boxed, request: *request })?;
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
        let Ok((hardware, _)) = hardware(id) else {
            return self.device.gives().code.then(|| self.match_code(launch));
        };
        Some(self.collect_parts(hardware, launch, |_| true))
    }

    fn collect_code(&mut self, launch: &Launch) -> Option<Collected> {
        let (hardware, _) = hardware(&self.device.id).ok()?;
        Some(self.collect_parts(hardware, launch, |part| part != CountersPart::Figures))
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::record::Method;
    use crate::run::simulator::SimulatorRunner;
    use crate::units::Width;

    /// A device whose child says so and then nothing more.
    fn runner(replies: &[Reply]) -> WorkerRunner {
        let lines = replies.iter().map(|reply| serde_json::to_vec(reply).unwrap()).collect();
        WorkerRunner {
            worker: Worker::saying(lines),
            device: SimulatorRunner::new(Width::new(8).unwrap(), 1).device().clone(),
            silence_max: SILENCE_MAX,
            options: WorkerOptions::new(SILENCE_MAX),
        }
    }

    fn launch(kernel: &str) -> Launch {
        let text = "@compute @workgroup_size(8) fn main() {}";
        let kernel = kernel.to_owned();
        Launch { kernel, ..Launch::of_shader("s.wgsl", text, Vec::new(), [1; 3]) }
    }

    fn lost(message: &str) -> RunError {
        RunError::new(RunErrorKind::DeviceLost, message)
    }

    #[test]
    fn a_reply_out_of_turn_is_an_error_and_what_fails_is_told() {
        let request = CountRequest::once(Method::Executed);
        let count = |replies: &[Reply]| {
            let mut noticed = 0;
            let counted = runner(replies).count(&launch("a"), &request, &mut || noticed += 1);
            let error = counted.unwrap_err();
            assert_eq!(error.kind, RunErrorKind::DeviceLost);
            (noticed, error.message)
        };
        let turn = "the worker answered out of turn: Announced";
        assert_eq!(count(&[Reply::Counting, Reply::Announced]), (1, turn.to_owned()));
        assert_eq!(count(&[Reply::Failed(lost("gone"))]), (0, "gone".to_owned()));
        // It says nothing more, as one that died.
        let (noticed, message) = count(&[Reply::Counting, Reply::Counting]);
        assert!(noticed == 2 && message.starts_with("the device's process ended ("), "{message}");
    }

    #[test]
    fn who_was_timed_when_the_child_failed_is_at_fault() {
        let launches = ["a", "b", "c"].map(launch);
        let options = TimeOptions {
            budget: Duration::ZERO,
            samples_min: 2,
            noise_ratio_max: 0.01,
            counting: None,
        };
        let time = |replies: &[Reply]| {
            let times = runner(replies).time(&launches, &options, &mut |_| {});
            let errors = times.into_iter().map(|time| time.unwrap_err());
            errors.map(|error| (error.kind, error.message)).collect::<Vec<_>>()
        };
        let beside =
            |name: &str| (RunErrorKind::Interrupted, format!("timed beside {name}, which failed"));
        let gone = (RunErrorKind::DeviceLost, "gone".to_owned());
        let replies = [Reply::Sampling(0), Reply::Sampling(1), Reply::Failed(lost("gone"))];
        assert_eq!(time(&replies), [beside("b"), gone, beside("b")]);
        let turn = "the worker answered out of turn: Announced".to_owned();
        let turn = (RunErrorKind::DeviceLost, turn);
        assert_eq!(time(&[Reply::Announced]), [turn, beside("a"), beside("a")]);
        // A number that no launch has is the last one's.
        let kinds: Vec<_> = time(&[Reply::Sampling(9)]).iter().map(|(kind, _)| *kind).collect();
        let interrupted = RunErrorKind::Interrupted;
        assert_eq!(kinds, [interrupted, interrupted, RunErrorKind::DeviceLost]);
    }
}
