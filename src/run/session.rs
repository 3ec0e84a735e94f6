//! Device by device, launch by launch: what is run in which order, and what happens on failure.
//!
//! Input: a way to open a device, and launches in groups that will be compared. Output: devices and
//! finished measurements, handed over one by one, and recorded in memory by a [`Recording`]. All launches are counted first, then each group is
//! timed side by side. A failure that takes the device with it is recorded, and the rest goes on in
//! a device opened anew. Nothing is printed or written to disk.

use std::time::{Duration, Instant};

use super::clock::Progress;
use super::looks::Looks;
use super::measure::{Results, measurement, seed_counts, source};
use super::{
    CountRequest, CountedDispatch, OtherCounted, RunError, RunErrorKind, Runner, TimeOptions,
    caught,
};
use crate::instrument;
use crate::kernel::Launch;
use crate::record::{Device, Measurement, Method, Run, SeedCounts, Seeds, Source, Status, Time};
use crate::statistics::StopRule;

/// What to do with each launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionOptions {
    /// How to count; nothing for no counting.
    pub count: Option<CountRequest>,
    /// How long timing may take in all on this device; nothing for no timing.
    pub timing: Option<Duration>,
    /// The fewest usable samples that the stop rule asks for.
    pub samples_min: u32,
    /// The noise at which the stop rule is met, 1.0 being 100 %.
    pub noise_ratio_max: f64,
    /// Whether to time a launch that is not trusted without run-time checks as well, side by side: only
    /// for launches that are known to access nothing out of bounds.
    pub time_unchecked: bool,
    /// Whether to time the modules that count as well.
    pub time_counting: bool,
    /// Whether to read hardware counters too, after timing.
    pub hardware_counters: bool,
    /// Under which limits memory is watched too, on a simulator of the width at which the device ran: what accesses
    /// cost in a model, and data races; `None` for no watching.
    pub memory: Option<Looks>,
}

impl SessionOptions {
    /// Counts, and does nothing else.
    pub fn counting(request: CountRequest) -> Self {
        Self {
            count: Some(request),
            timing: None,
            samples_min: StopRule::SAMPLES_MIN,
            noise_ratio_max: StopRule::NOISE_MAX.0,
            time_unchecked: false,
            time_counting: false,
            hardware_counters: false,
            memory: None,
        }
    }
}

/// What to do, and which launches say what other seeds make of one.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// What to do with each launch.
    pub session: SessionOptions,
    /// The launches with other seeds that are counted beside one; they are neither timed nor
    /// measurements of their own.
    pub seeded: &'a dyn Fn(&Launch) -> Seeded,
    /// Whether hardware counters of a launch are read, where the session reads any: it takes seconds a launch.
    pub collected: &'a dyn Fn(&Launch) -> bool,
    /// Who counts seeds where [`Seeded::by_wider`] says so.
    pub wider: Option<Wider<'a>>,
}

/// A launch with other seeds.
#[derive(Clone, Debug, Default)]
pub struct Seeded {
    /// One for each seed.
    pub launches: Vec<Launch>,
    /// Whether all are counted, even where the first two cost the same at both widths: another device found that
    /// they do not.
    pub all: bool,
    /// What was counted beside another device already.
    pub known: Option<Seeds>,
    /// Whether the wider simulator counts them, by whose masks this width's counts are known too.
    pub by_wider: bool,
}

/// A simulator of 64 lanes or more that counts seeds for a narrower one: the parts of its masks that have a lane are
/// executions of the narrower one.
#[derive(Clone, Copy)]
pub struct Wider<'a> {
    /// Opens it.
    pub open: &'a dyn Fn() -> Result<Box<dyn Runner>, RunError>,
    /// Keeps what a launch counted at its own width.
    pub keep: &'a dyn Fn(&Launch, Seeds),
}

impl std::fmt::Debug for Wider<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Wider").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RunOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RunOptions").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Who hears what happens.
pub trait Listener {
    /// A device, by its id, is about to be opened.
    fn opening(&mut self, _device: &str) {}
    /// A device was opened.
    fn device(&mut self, device: &Device);
    /// How far the opened device is with what it counts can be asked here, where it says so.
    fn follow(&mut self, _progress: Option<Progress>) {}
    /// So many launches are going to be counted on a device, by its id.
    fn plan(&mut self, _device: &str, _launches: usize) {}
    /// A device, by its id, cannot be used.
    fn unusable(&mut self, _device: &str, _error: &RunError) {}
    /// A launch is being counted or timed.
    fn progress(&mut self, device: &str, phase: Phase, launch: &Launch);
    /// A launch is counted and timed, and hardware counters are still to be read, which takes longer.
    fn answer(&mut self, _measurement: &Measurement) {}
    /// A measurement is finished; with it its source and that source's SHA-256.
    fn measurement(&mut self, measurement: &Measurement, source: (&str, &Source));
    /// Something that whoever watches should know, a sentence.
    fn message(&mut self, _text: &str) {}
    /// Whether no other device is to be run, since what is measured cannot be kept.
    fn has_failed(&self) -> bool {
        false
    }
}

/// A run so far: what was recorded, and how many of its devices could be used.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What is recorded.
    pub run: Run,
    /// Devices that could be opened.
    pub opened: usize,
    /// Devices that could not.
    pub unopened: usize,
}

impl Recording {
    /// Begins with a run that says how it was started, and nothing else yet.
    pub fn new(run: Run) -> Self {
        Self { run, opened: 0, unopened: 0 }
    }

    /// Runs groups of launches on the device with an id, and records what comes of it.
    pub fn run_device(
        &mut self,
        id: &str,
        open: &mut Open<'_>,
        groups: &[Vec<Launch>],
        options: &SessionOptions,
        listener: &mut dyn Listener,
    ) {
        let options = RunOptions {
            session: *options,
            seeded: &|_| Seeded::default(),
            collected: &|_| true,
            wider: None,
        };
        self.run_device_seeded(id, open, groups, &options, listener);
    }

    /// Runs groups of launches on the device with an id, counts other seeds beside them, and records
    /// what comes of it.
    pub fn run_device_seeded(
        &mut self,
        id: &str,
        open: &mut Open<'_>,
        groups: &[Vec<Launch>],
        options: &RunOptions<'_>,
        listener: &mut dyn Listener,
    ) {
        listener.opening(id);
        let mut recorder = Recorder { run: &mut self.run, listener };
        match run_device_seeded(open, groups, options, &mut recorder) {
            Ok(()) => self.opened += 1,
            Err(error) => {
                self.unopened += 1;
                listener.unusable(id, &error);
            }
        }
    }
}

/// Records what happens, and passes it on.
struct Recorder<'a> {
    run: &'a mut Run,
    listener: &'a mut dyn Listener,
}

impl Listener for Recorder<'_> {
    fn device(&mut self, device: &Device) {
        self.listener.device(device);
        self.run.devices.push(device.clone());
    }

    fn follow(&mut self, progress: Option<Progress>) {
        self.listener.follow(progress);
    }

    fn plan(&mut self, device: &str, launches: usize) {
        self.listener.plan(device, launches);
    }

    fn progress(&mut self, device: &str, phase: Phase, launch: &Launch) {
        self.listener.progress(device, phase, launch);
    }

    fn answer(&mut self, measurement: &Measurement) {
        self.listener.answer(measurement);
    }

    fn measurement(&mut self, measurement: &Measurement, (sha256, source): (&str, &Source)) {
        self.listener.measurement(measurement, (sha256, source));
        self.run.sources.entry(sha256.to_owned()).or_insert_with(|| source.clone());
        self.run.measurements.push(measurement.clone());
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Counting, with counters in the shader.
    Counting,
    /// Counting the same launch on data of another seed.
    CountingSeeds,
    /// Timing, without.
    Timing,
    /// Reading hardware counters, in a process of their own.
    Collecting,
}

/// Opens a device; called again after a failure that takes the device with it.
pub type Open<'a> = dyn FnMut() -> Result<Box<dyn Runner>, RunError> + 'a;

/// Runs groups of launches on one device.
///
/// # Errors
///
/// What opening the device for the first time gives. Later failures are recorded in measurements.
pub fn run_device(
    open: &mut Open<'_>,
    groups: &[Vec<Launch>],
    options: &SessionOptions,
    listener: &mut dyn Listener,
) -> Result<(), RunError> {
    let options = RunOptions {
        session: *options,
        seeded: &|_| Seeded::default(),
        collected: &|_| true,
        wider: None,
    };
    run_device_seeded(open, groups, &options, listener)
}

fn run_device_seeded(
    open: &mut Open<'_>,
    groups: &[Vec<Launch>],
    options: &RunOptions<'_>,
    listener: &mut dyn Listener,
) -> Result<(), RunError> {
    let RunOptions { session: options, seeded, collected, wider } = options;
    let runner = open()?;
    listener.device(runner.device());
    listener.follow(runner.progress());
    let device = runner.device().clone();
    if options.count.is_some() {
        listener.plan(&device.id, groups.iter().map(Vec::len).sum());
    }
    let runner = Some(runner);
    let wider = wider.map(|wider| (wider, None));
    let mut session = Session { device, open, runner, wider, listener, options, seeded, collected };
    if let Some(request) = options.count {
        session.announce(&groups.iter().flatten().collect::<Vec<_>>(), &request);
    }
    let Some(budget) = options.timing.filter(|_| session.device.gives().times) else {
        // Nothing is to follow for all of them: each is finished once it is counted.
        for launch in groups.iter().flatten() {
            let mut results = session.count(launch);
            session.collect(launch, &mut results);
            session.finish(launch, results);
        }
        return Ok(());
    };
    let counted: Vec<Vec<Results>> = groups
        .iter()
        .map(|group| group.iter().map(|launch| session.count(launch)).collect())
        .collect();
    let total: usize = groups.iter().map(Vec::len).sum();
    for (group, mut results) in groups.iter().zip(counted) {
        let share = group.len() as f64 / total.max(1) as f64;
        session.time_group(group, &mut results, budget.mul_f64(share));
        for (launch, mut results) in group.iter().zip(results) {
            session.collect(launch, &mut results);
            session.finish(launch, results);
        }
    }
    Ok(())
}

struct Session<'a, 'b> {
    device: Device,
    open: &'a mut Open<'b>,
    /// Nothing after a failure that took the device with it.
    runner: Option<Box<dyn Runner>>,
    /// Who counts seeds for this device, opened once any are.
    wider: Option<(Wider<'a>, Option<Box<dyn Runner>>)>,
    listener: &'a mut dyn Listener,
    options: &'a SessionOptions,
    seeded: &'a dyn Fn(&Launch) -> Seeded,
    collected: &'a dyn Fn(&Launch) -> bool,
}

impl Session<'_, '_> {
    /// The device, opened anew where the last launch took it along.
    fn runner(&mut self) -> Result<&mut Box<dyn Runner>, RunError> {
        if self.runner.is_none() {
            self.runner = Some((self.open)()?);
        }
        self.runner
            .as_mut()
            .ok_or_else(|| RunError::new(RunErrorKind::NoDevice, "the device is gone"))
    }

    /// Says what will be counted next.
    fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        if let Some(runner) = &mut self.runner {
            runner.announce(launches, &CountRequest { runs: 1, ..*request });
        }
    }

    fn count(&mut self, launch: &Launch) -> Results {
        let Some(request) = self.options.count else { return Results::default() };
        self.listener.progress(&self.device.id, Phase::Counting, launch);
        let counted = self.runner().and_then(|runner| {
            caught("counting", &launch.file, || runner.count_once(launch, &request))
        });
        match counted {
            Ok(counted) => {
                let seeds = self.count_seeds(launch, &request);
                Results { counted: Some(counted), seeds, ..Results::default() }
            }
            Err(error) => {
                if error.kind.ends_device() {
                    self.runner = None;
                }
                Results { error: Some(error), ..Results::default() }
            }
        }
    }

    /// Counts other seeds of a launch; `None` where there are none, or one cannot be counted.
    fn count_seeds(&mut self, launch: &Launch, request: &CountRequest) -> Option<Seeds> {
        let Seeded { launches, all, known, by_wider } = (self.seeded)(launch);
        if known.is_some() {
            return known;
        }
        let parameters = launches.first()?.parameters.clone();
        // Their sums alone are kept.
        let request = &CountRequest { trace: false, histogram: false, ..*request };
        let width = self.device.subgroup_width_run;
        let mut wider = self.wider.as_mut().filter(|_| by_wider);
        let runner = match &mut wider {
            Some((_, Some(runner))) => runner,
            Some((wider, opened)) => opened.insert((wider.open)().ok()?),
            None => self.runner.as_mut()?,
        };
        let mut counts = Vec::new();
        let mut counts_wider = Vec::new();
        for (index, other) in launches.iter().enumerate() {
            let mut announce = |launches: Vec<&Launch>| {
                runner.announce(&launches, &CountRequest { runs: 1, ..*request });
            };
            // The first two decide whether there are others.
            match index {
                0 => announce(launches.iter().take(2).collect()),
                2 => announce(launches.iter().skip(2).collect()),
                _ => {}
            }
            self.listener.progress(&self.device.id, Phase::CountingSeeds, other);
            let counted =
                caught("counting", &other.file, || runner.count_once(other, request)).ok()?;
            counts.push(seed_counts(other, &counted, width.filter(|_| by_wider)).ok()?);
            if by_wider {
                counts_wider.push(seed_counts(other, &counted, None).ok()?);
            }
            // Where two other inputs cost the same at both widths, what they cost does not depend on them.
            let are_equal = |counts: &[SeedCounts]| match counts {
                [first, second] => first.subgroup_operations == second.subgroup_operations,
                _ => false,
            };
            if !all && by_wider && are_equal(&counts) && are_equal(&counts_wider) {
                break;
            }
        }
        if let Some((wider, _)) = wider {
            let seeds = Seeds { parameters: parameters.clone(), counts: counts_wider };
            (wider.keep)(launch, seeds);
        }
        Some(Seeds { parameters, counts })
    }

    /// Times the launches that could be counted, and what checks and counting cost where that is asked
    /// for. A failure of what is only asked for beside fails nothing else.
    fn time_group(&mut self, launches: &[Launch], results: &mut Vec<Results>, budget: Duration) {
        let plain = results.len();
        let bare: Vec<usize> = (0..plain)
            .filter(|index| self.options.time_unchecked && !launches[*index].trusted)
            .filter(|index| results[*index].error.is_none())
            .collect();
        let unchecked = |index: &usize| Launch { trusted: true, ..launches[*index].clone() };
        let all: Vec<Launch> = launches.iter().cloned().chain(bare.iter().map(unchecked)).collect();
        results.extend(bare.iter().map(|_| Results::default()));
        self.time(&all, results, budget);
        let beside = results.split_off(plain);
        for (index, beside) in bare.into_iter().zip(beside) {
            results[index].time_unchecked = beside.timed.and_then(|timed| timed.time);
        }
        if self.options.time_counting {
            for (launch, results) in launches.iter().zip(results) {
                results.time_counting = self.time_counting(launch, results, budget / 4);
            }
        }
    }

    /// The times of the modules that count a launch; `None` if it was not counted and timed.
    fn time_counting(
        &mut self,
        launch: &Launch,
        results: &Results,
        budget: Duration,
    ) -> Option<Time> {
        results.timed.as_ref()?.time.as_ref()?;
        let counted = results.counted.as_ref()?;
        let histogram = |dispatch: &CountedDispatch| {
            dispatch.counts.iter().any(|count| count.histogram.is_some())
        };
        let method = match counted.method {
            Method::Executed if counted.dispatches.iter().any(histogram) => {
                instrument::CounterScheme::Histogram
            }
            Method::Executed => instrument::CounterScheme::Executed,
            Method::Derived => instrument::CounterScheme::Derived,
            Method::Estimated => instrument::CounterScheme::Estimated,
        };
        let options = TimeOptions {
            budget,
            samples_min: self.options.samples_min,
            noise_ratio_max: self.options.noise_ratio_max,
            counting: Some(method),
        };
        let runner = self.runner.as_mut()?;
        let timed = runner.time(std::slice::from_ref(launch), &options, &mut |_| {}).pop()?;
        match timed {
            Ok(timed) => timed?.time,
            Err(error) => {
                if error.kind.ends_device() {
                    self.runner = None;
                }
                None
            }
        }
    }

    /// Times launches; those that a neighbour's failure interrupted are
    /// timed again without it, so that each round of this loop settles at least one launch.
    fn time(&mut self, launches: &[Launch], results: &mut [Results], budget: Duration) {
        let mut left: Vec<usize> =
            (0..launches.len()).filter(|index| results[*index].error.is_none()).collect();
        #[expect(clippy::disallowed_methods, reason = "`run` reads the clock")]
        let start = Instant::now();
        while !left.is_empty() {
            let options = TimeOptions {
                budget: budget.saturating_sub(start.elapsed()),
                samples_min: self.options.samples_min,
                noise_ratio_max: self.options.noise_ratio_max,
                counting: None,
            };
            let chosen: Vec<Launch> = left.iter().map(|index| launches[*index].clone()).collect();
            if let Err(error) = self.runner() {
                for index in left {
                    results[index].error = Some(error.clone());
                }
                return;
            }
            let Self { device, runner: Some(runner), listener, .. } = self else { return };
            let mut notice =
                |index: usize| listener.progress(&device.id, Phase::Timing, &chosen[index]);
            let timed = runner.time(&chosen, &options, &mut notice);
            let mut interrupted = Vec::new();
            for (index, timed) in left.iter().zip(timed) {
                match timed {
                    Ok(timed) => results[*index].timed = timed,
                    Err(error) if error.kind == RunErrorKind::Interrupted => {
                        interrupted.push(*index);
                    }
                    Err(error) => {
                        if error.kind.ends_device() {
                            self.runner = None;
                        }
                        results[*index].error = Some(error);
                    }
                }
            }
            if interrupted.len() == left.len() {
                let error = RunError::new(RunErrorKind::DeviceLost, "timing was interrupted");
                for index in interrupted {
                    results[index].error = Some(error.clone());
                }
                return;
            }
            left = interrupted;
        }
    }

    /// Reads hardware counters of a launch that went well.
    fn collect(&mut self, launch: &Launch, results: &mut Results) {
        let asked = self.options.hardware_counters && (self.collected)(launch);
        if !asked || results.error.is_some() {
            return;
        }
        if self.device.gives().counters {
            if let Ok(answer) = measurement(&self.device, launch, results.clone()) {
                self.listener.answer(&answer);
            }
            self.listener.progress(&self.device.id, Phase::Collecting, launch);
        }
        if let Some(runner) = self.runner.as_mut() {
            results.collected = runner.collect(launch);
        }
        if self.device.gives().counters {
            self.collect_other(launch, results);
        }
    }

    /// Counts a launch and its instructions on another input, where that tells blocks apart that ran alike on its
    /// own: where nothing of what was counted depends on the input, it does not.
    fn collect_other(&mut self, launch: &Launch, results: &mut Results) {
        let (Some(request), Some(runner)) = (self.options.count, self.runner.as_mut()) else {
            return;
        };
        let (Some(counted), Some(collected)) = (&results.counted, &mut results.collected) else {
            return;
        };
        let has_blocks = counted.dispatches.iter().any(|dispatch| !dispatch.counts.is_empty());
        if !has_blocks || collected.machine_code.iter().flatten().next().is_none() {
            return;
        }
        let other = launch.next_input();
        let request = CountRequest { trace: false, histogram: false, ..request };
        let found = caught("counting", &other.file, || runner.count_once(&other, &request));
        match found {
            Ok(found) if are_alike(&counted.dispatches, &found.dispatches) => {}
            Ok(found) => {
                let Some(code) = runner.collect_code(&other) else { return };
                for why in code.missing {
                    let why = format!("on a second input: {why}");
                    if !collected.missing.contains(&why) {
                        collected.missing.push(why);
                    }
                }
                let (dispatches, machine_code) = (found.dispatches, code.machine_code);
                collected.other = Some(OtherCounted { dispatches, machine_code });
            }
            Err(error) => {
                collected.missing.push(format!("a second input was not counted: {error}"));
                if error.kind.ends_device() {
                    self.runner = None;
                }
            }
        }
    }

    /// Watches a launch's memory, where that is asked for.
    fn watch_memory(&mut self, launch: &Launch, measurement: &mut Measurement) {
        let Some(looks) = self.options.memory else { return };
        let Some(width) = measurement.subgroup_width.filter(|_| measurement.status == Status::Ok)
        else {
            return;
        };
        if let Err(why) = looks.at_memory(launch, width, measurement) {
            self.listener.message(&format!("{}, {}: {why}", self.device.id, launch.kernel));
        }
    }

    fn finish(&mut self, launch: &Launch, results: Results) {
        let error = results.error.clone();
        let put = || measurement(&self.device, launch, results);
        let made = caught("bookkeeping", &launch.file, put).or_else(|mishap| {
            // The shader itself cannot be read: what is left is that it failed, and why.
            let error = error.unwrap_or(mishap);
            let empty = Launch { dispatches: Vec::new(), ..launch.clone() };
            measurement(&self.device, &empty, Results { error: Some(error), ..Results::default() })
        });
        if let Ok(mut measurement) = made {
            self.watch_memory(launch, &mut measurement);
            let (sha256, source) = source(launch);
            self.listener.measurement(&measurement, (&sha256, &source));
        }
    }
}

#[cfg(test)]
mod tests;

/// Whether every block ran equally often with equally many lanes.
fn are_alike(counted: &[CountedDispatch], others: &[CountedDispatch]) -> bool {
    let ran = |dispatches: &[CountedDispatch]| -> Vec<_> {
        let counts = dispatches.iter().flat_map(|dispatch| &dispatch.counts);
        counts.map(|count| (count.executions, count.lanes)).collect()
    };
    ran(counted) == ran(others)
}
