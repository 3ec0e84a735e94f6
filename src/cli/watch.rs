//! What is seen and saved of a run while it goes on, and seen of what else takes long.
//!
//! Input: what a session tells, or how far a command is that reads and compares records. Output: a folder with a result
//! file that grows with each finished measurement, and a line of progress on standard error. Nothing is decided here.

use crate::units::text;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::{Exit, Failure, with_hint};
use super::screen;
use super::shared;
use crate::kernel::Launch;
use crate::program::COUNTING_RULE;
use crate::record::{Device, Host, KernelNote, Measurement, Run, SCHEMA, Source, Tool};
use crate::run::clock::{Progress, Stopwatch};
use crate::run::launches_at_once;
use crate::run::session::{Listener, Phase};
use crate::run::{RunError, now_utc};
use crate::store::{Store, StoreError};
use crate::units::approximate;
use crate::units::visible::visible_line;

/// Folder of results where no other is asked for.
pub(crate) const RESULTS: &str = "lanescope-results";

/// The result file's name in its folder.
pub(crate) const RESULT_FILE: &str = "result.json";

/// The environment variables that change which driver runs, and how.
const ENVIRONMENT: [&str; 9] = [
    "LANESCOPE_WITHOUT_FEATURES",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_LOADER_DRIVERS_SELECT",
    "LP_NATIVE_VECTOR_WIDTH",
    "RADV_FORCE_FAMILY",
    "MESA_VK_DEVICE_SELECT",
    "WGPU_BACKEND",
    "WGPU_ADAPTER_NAME",
];

/// The screen and the folder of a run.
pub(super) struct Watch {
    folder: PathBuf,
    store: Store,
    progress: ProgressBar,
    /// The launches of the device at hand that are counted in all, where they are.
    planned: Option<usize>,
    /// How many were begun.
    begun: usize,
    /// Whether the device at hand is a simulator, which counts several launches at once.
    simulates: bool,
    /// Whether it was said how long they take.
    told: bool,
    /// Whether there is a budget of time, which counting is not within.
    budgeted: bool,
    /// How far the device at hand is with what it counts, where it says so.
    followed: Option<Progress>,
    /// Who tells of a launch that takes long.
    teller: Option<Teller>,
    /// Why something could not be saved.
    trouble: Option<Failure>,
}

/// The seconds of counting after which it is said how long the rest takes, where that is long too.
const COUNTING_LONG_S: f64 = 2.0;

/// After how long it is told of a launch how long it still takes.
const TELLING_AFTER: Duration = Duration::from_secs(2);

/// How often that is looked at.
const TELLING_EVERY: Duration = Duration::from_millis(250);

/// A run of `kernels` that begins now, of which nothing is measured yet.
pub(super) fn begin_run(kernels: BTreeMap<String, KernelNote>) -> Run {
    Run {
        schema: SCHEMA,
        counting_rule: COUNTING_RULE,
        tool: Tool::this(),
        started_utc: now_utc(),
        argv: shared::arguments(std::env::args_os().skip(1)),
        host: host(),
        devices: Vec::new(),
        measurements: Vec::new(),
        kernels,
        sources: BTreeMap::new(),
    }
}

impl Watch {
    /// Begins a run in `out`, or in a new folder.
    ///
    /// # Errors
    ///
    /// Where a run is there already, or the folder cannot be written.
    pub(super) fn begin(out: Option<&Path>, run: &Run) -> Result<Self, Failure> {
        let folder = out.map_or_else(|| fresh_folder(&run.started_utc), Path::to_path_buf);
        let file = folder.join(RESULT_FILE);
        if file.exists() {
            return Err(Failure::message(
                Exit::BadInput,
                format!(
                    "{} is there already, and a run is never written over; name another --out",
                    file.display()
                ),
            ));
        }
        let store = Store::create(&file, run).map_err(Failure::bad_input)?;
        Ok(Self {
            folder,
            store,
            progress: progress_line(),
            planned: None,
            begun: 0,
            simulates: false,
            told: false,
            budgeted: false,
            followed: None,
            teller: None,
            trouble: None,
        })
    }

    /// The same for a run whose timing has a budget.
    pub(super) fn with_budget(self) -> Self {
        Self { budgeted: true, ..self }
    }

    /// Ends the progress display; gives the folder.
    ///
    /// # Errors
    ///
    /// Where something could not be saved.
    pub(super) fn finish(mut self) -> Result<PathBuf, Failure> {
        self.teller = None;
        let saved = self.store.flush();
        self.note_failure(saved);
        self.progress.finish_and_clear();
        self.trouble.map_or(Ok(self.folder), Err)
    }

    /// What is being done, in words, where no session says it.
    pub(super) fn doing(&self, text: &str) {
        self.progress.set_message(visible_line(text).into_owned());
    }

    /// Does something while no progress is shown.
    pub(super) fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        self.progress.suspend(act)
    }

    /// Saves a measurement that was saved as the `index`th as it is now.
    pub(super) fn replace(&mut self, index: usize, measurement: &Measurement) {
        let saved = self.store.replace(index, measurement);
        self.note_failure(saved);
    }

    /// Says how far counting is, and once, where it takes long, how long it will take.
    fn counting(&mut self, device: &str, launch: &Launch) {
        let kernel = &launch.kernel;
        let Some(planned) = self.planned.filter(|planned| self.begun < *planned) else {
            self.doing(&format!("{device}: counting {kernel}"));
            return;
        };
        let elapsed = self.progress.elapsed().as_secs_f64();
        let (done, left) = (self.begun, planned - self.begun);
        self.begun += 1;
        // Of launches that are counted at once the first one has taken as long as all of them.
        let at_once = if self.simulates { launches_at_once(launch) } else { 1 };
        #[expect(clippy::cast_precision_loss, reason = "launches are few")]
        let left_s = (done >= at_once).then(|| elapsed / done as f64 * left as f64);
        let rest = left_s.map_or(String::new(), |rest| format!(", about {rest:.0} s left"));
        let doing = format!("{device}: counting {kernel} ({} of {planned}", done + 1);
        self.doing(&format!("{doing}{rest})"));
        if let Some(followed) = self.followed.clone().filter(|_| left_s.is_none()) {
            // What is followed are the launches that are counted at once, which the others take as long as.
            #[expect(clippy::cast_precision_loss, reason = "launches are few")]
            let times = left as f64 / at_once.min(left).max(1) as f64;
            let doing = visible_line(&doing).into_owned();
            self.teller = Some(Teller::of_launch(self.progress.clone(), followed, doing, times));
        }
        let text = left_s.and_then(|left_s| long_counting(elapsed, left_s, planned, self.budgeted));
        if let Some(text) = text.filter(|_| !self.told) {
            self.told = true;
            self.message(&format!("{device}: {text}"));
        }
    }

    fn note_failure(&mut self, saved: Result<(), StoreError>) {
        if let Err(error) = saved {
            self.trouble.get_or_insert(Failure::bad_input(error));
        }
    }
}

impl Listener for Watch {
    fn opening(&mut self, device: &str) {
        (self.followed, self.teller) = (None, None);
        self.doing(&format!("{device}: opening"));
        self.progress.enable_steady_tick(Duration::from_millis(120));
    }

    fn plan(&mut self, _device: &str, launches: usize) {
        (self.planned, self.begun, self.told) = (Some(launches), 0, false);
        self.progress.reset_elapsed();
    }

    fn device(&mut self, device: &Device) {
        self.simulates = device.is_simulator();
        let saved = self.store.append_device(device);
        self.note_failure(saved);
        for flag in &device.flags {
            self.message(&format!("{}: {flag}: {}", device.id, flag.explanation()));
        }
    }

    fn follow(&mut self, progress: Option<Progress>) {
        self.followed = progress;
    }

    fn message(&mut self, text: &str) {
        self.progress.suspend(|| {
            // Nothing is left to tell it to when standard error is closed.
            let _ = writeln!(screen::stderr(), "{text}");
        });
    }

    fn has_failed(&self) -> bool {
        self.trouble.is_some()
    }

    fn unusable(&mut self, device: &str, error: &RunError) {
        let why = with_hint(&error.message, error.limit);
        self.message(&format!("{device} cannot be used: {why}"));
    }

    fn progress(&mut self, device: &str, phase: Phase, launch: &Launch) {
        self.teller = None;
        let doing = match phase {
            Phase::Counting => return self.counting(device, launch),
            Phase::CountingSeeds => "counting other seeds of",
            Phase::Timing => "timing",
            Phase::Collecting => "reading hardware counters of",
        };
        self.doing(&format!("{device}: {doing} {}", launch.kernel));
    }

    fn answer(&mut self, measurement: &Measurement) {
        self.teller = None;
        let mean = measurement.active_lanes_mean.zip(measurement.subgroup_width);
        let lanes =
            mean.map(|(mean, width)| format!("{} of {width} lanes active", text::lanes(mean)));
        let time = measurement.time.as_ref().map(|time| time.median_ns.to_string());
        let parts: Vec<String> = lanes.into_iter().chain(time).collect();
        let device = &measurement.device;
        self.message(&format!("{device}: {}; reading hardware counters", parts.join(", ")));
    }

    fn measurement(&mut self, measurement: &Measurement, (sha256, source): (&str, &Source)) {
        self.teller = None;
        let saved =
            self.store.add_source(sha256, source).and_then(|()| self.store.append(measurement));
        self.note_failure(saved);
    }
}

/// What is said where counting takes long: how long the rest of the launches takes, and that no budget bounds it.
fn long_counting(elapsed_s: f64, left_s: f64, planned: usize, budgeted: bool) -> Option<String> {
    let budget = if budgeted { "; --budget is of timing alone" } else { "" };
    let is_long = elapsed_s >= COUNTING_LONG_S && left_s >= COUNTING_LONG_S;
    is_long.then(|| format!("counting {planned} launches takes about {left_s:.0} s more{budget}"))
}

/// The line of progress on standard error, where that is a terminal; hidden elsewhere.
fn progress_line() -> ProgressBar {
    let progress = ProgressBar::new_spinner();
    // It moves the cursor, and whoever wants no colours may want no such codes either.
    if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
        progress.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
        progress.set_style(style);
    }
    progress
}

/// Work of a command that runs nothing, in stages of equal parts: from two seconds on it is told what is done and how
/// long the stage still takes, until this is dropped.
pub(super) struct Work {
    progress: ProgressBar,
    stage: Arc<Mutex<Stage>>,
    /// Who tells of it.
    teller: Option<Teller>,
}

/// What is being done.
struct Stage {
    /// In words.
    doing: String,
    /// Its parts, such as bytes that are read, and those that are done.
    parts: u64,
    done: u64,
    /// The seconds that a part takes, about: what is gone by before one is done.
    part_s: f64,
    begun: Stopwatch,
}

impl Work {
    /// Begins with nothing.
    pub(super) fn begin() -> Self {
        let begun = Stopwatch::start();
        let stage = Stage { doing: String::new(), parts: 0, done: 0, part_s: 0.0, begun };
        let stage = Arc::new(Mutex::new(stage));
        let (progress, told) = (progress_line(), Arc::clone(&stage));
        let say = move |_: f64| {
            let stage = told.lock().unwrap_or_else(PoisonError::into_inner);
            Some(stage.text(stage.begun.elapsed().unwrap_or_default().as_secs_f64()))
        };
        let teller = Some(Teller::start(progress.clone(), say));
        Self { progress, stage, teller }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a stage of so many parts, each of which takes about so many seconds.
    pub(super) fn begin_stage(&self, doing: &str, parts: u64, part_s: f64) {
        let (doing, begun) = (visible_line(doing).into_owned(), Stopwatch::start());
        *self.stage() = Stage { doing, parts, done: 0, part_s, begun };
    }

    /// What is being done within the stage.
    pub(super) fn doing(&self, text: &str) {
        self.stage().doing = visible_line(text).into_owned();
    }

    /// So many more parts are done.
    pub(super) fn advance(&self, parts: u64) {
        self.stage().done += parts;
    }

    /// Does something while no progress is shown.
    pub(super) fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        self.progress.suspend(act)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.teller = None;
        self.progress.finish_and_clear();
    }
}

impl Stage {
    /// What is being done, and how long it still takes, where that is a second or more.
    fn text(&self, elapsed_s: f64) -> String {
        let left_s = if self.done == 0 {
            approximate(self.parts) * self.part_s - elapsed_s
        } else {
            elapsed_s / approximate(self.done) * approximate(self.parts.saturating_sub(self.done))
        };
        let doing = &self.doing;
        if left_s >= 1.0 { format!("{doing}, about {left_s:.0} s left") } else { doing.clone() }
    }
}

/// Tells how far something is, on a thread of its own, until it is dropped: on a terminal in the line of progress,
/// elsewhere in a line now and then.
struct Teller {
    /// Nothing once it is to end.
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    /// How long a launch still takes while it is counted: what is done, as far as an opened bracket, and how many times as
    /// long as what is followed all takes.
    fn of_launch(bar: ProgressBar, followed: Progress, doing: String, times: f64) -> Self {
        let say = move |elapsed_s: f64| {
            let left_s = elapsed_s / followed.share()? * times - elapsed_s;
            (left_s >= 1.0).then(|| format!("{doing}, about {left_s:.0} s left)"))
        };
        Self::start(bar, say)
    }

    /// Begins with what is told after so many seconds.
    fn start(bar: ProgressBar, say: impl Fn(f64) -> Option<String> + Send + 'static) -> Self {
        let (goes_on, ends) = channel();
        let tell = move || tell(&bar, &ends, &say);
        // Without a thread nothing is told.
        let thread = thread::Builder::new().name("teller".to_owned()).spawn(tell);
        Self { goes_on: Some(goes_on), thread: thread.ok() }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.goes_on = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say where it panicked.
            drop(thread.join());
        }
    }
}

fn tell(bar: &ProgressBar, ends: &Receiver<()>, say: &dyn Fn(f64) -> Option<String>) {
    let stopwatch = Stopwatch::start();
    let mut next = TELLING_AFTER;
    while ends.recv_timeout(TELLING_EVERY) == Err(RecvTimeoutError::Timeout) {
        let Some(elapsed) = stopwatch.elapsed().filter(|elapsed| *elapsed >= TELLING_AFTER) else {
            continue;
        };
        let Some(text) = say(elapsed.as_secs_f64()) else { continue };
        if !bar.is_hidden() {
            bar.set_message(text);
        } else if elapsed >= next {
            next = 2 * elapsed;
            // Nothing is left to tell it to when standard error is closed.
            let _ = writeln!(screen::stderr(), "{text}");
        }
    }
}

/// A folder named by the time, with a number where two runs start within a second.
fn fresh_folder(started_utc: &str) -> PathBuf {
    let name = started_utc.replace(':', "-");
    let numbered = |number: u32| {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        Path::new(RESULTS).join(format!("{name}{suffix}"))
    };
    (0..).map(numbered).find(|folder| !folder.exists()).unwrap_or_else(|| numbered(0))
}

fn host() -> Host {
    let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let set = |name: &&str| {
        std::env::var(name).ok().map(|value| ((*name).to_owned(), shared::variable(&value)))
    };
    Host {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        logical_cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        environment: ENVIRONMENT.iter().filter_map(set).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_that_takes_long_says_how_long_and_that_no_budget_bounds_it() {
        let text = long_counting(2.5, 48.2, 10, true).unwrap();
        assert_eq!(text, "counting 10 launches takes about 48 s more; --budget is of timing alone");
        let text = long_counting(60.0, 2.0, 3, false).unwrap();
        assert_eq!(text, "counting 3 launches takes about 2 s more");
        assert_eq!(long_counting(1.9, 48.2, 10, true), None);
        assert_eq!(long_counting(9.0, 1.9, 10, true), None);
    }

    #[test]
    fn who_tells_of_a_launch_ends_at_once() {
        let followed = Progress::default();
        let stopwatch = Stopwatch::start();
        for _ in 0..20 {
            let doing = "sim:8: counting x (1 of 1".to_owned();
            drop(Teller::of_launch(ProgressBar::hidden(), followed.clone(), doing, 1.0));
        }
        // Not after the pause at whose end it looks again.
        assert!(stopwatch.elapsed().is_some_and(|elapsed| elapsed < 20 * TELLING_EVERY));
    }

    #[test]
    fn a_stage_says_how_long_it_takes_from_what_is_usual_and_then_from_what_is_done() {
        let (doing, begun) = ("reading a.json".to_owned(), Stopwatch::start());
        let stage = |done| Stage { doing: doing.clone(), parts: 100, done, part_s: 0.1, begun };
        assert_eq!(stage(0).text(2.0), "reading a.json, about 8 s left");
        assert_eq!(stage(0).text(9.5), "reading a.json", "it takes longer than is usual");
        assert_eq!(stage(20).text(9.5), "reading a.json, about 38 s left");
        assert_eq!(stage(100).text(9.5), "reading a.json");
        assert_eq!(stage(120).text(9.5), "reading a.json");
    }

    #[test]
    fn what_is_done_is_told_without_hidden_characters() {
        let work = Work::begin();
        work.begin_stage("reading a\u{202e}\n", 3, 0.0);
        assert_eq!(work.stage().text(3.0), "reading a\\u202e\\u000a");
        work.advance(1);
        work.doing("reading b");
        assert_eq!(work.stage().text(3.0), "reading b, about 6 s left");
    }
}
