//! `lanescope run`: the main job.
//!
//! Input: kernels, devices, axes. Output: a result file that grows with each finished measurement,
//! then a terminal table, charts and a page made from it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::arguments::RunArguments;
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure};
use super::groups::{self, Sizes};
use super::{axis, export, list, render};
use crate::analyze;
use crate::kernel::{Catalogue, DeviceClass, Kernel, Launch};
use crate::present::{self, Style};
use crate::program::COUNTING_RULE;
use crate::record::{
    Device, DeviceKind, Host, KernelNote, Measurement, Output, Run, SCHEMA, ScheduleCounts, Source,
    Status, Tag, Tool, flag,
};
use crate::run::measure::not_available;
use crate::run::session::{Listener, Open, Phase, SessionOptions, run_device};
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountOptions, RunError, Runner, now_utc};
use crate::statistics::StopRule;
use crate::store::Store;
use crate::units::Width;

/// Folder of results where no other is asked for.
pub(crate) const RESULTS: &str = "lanescope-results";

/// The result file's name in its folder.
pub(crate) const RESULT_FILE: &str = "result.json";

/// Seconds that timing may take, without and with `--quick`.
const BUDGET_S: [f64; 2] = [30.0, 6.0];

/// The fewest samples that the stop rule asks for: paired ratios need eight pairs.
const SAMPLES_MIN: u32 = 12;

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

/// The catalogue, with the families of a folder where one is named.
pub(crate) fn catalogue(folder: Option<&Path>) -> Result<Catalogue, Failure> {
    let read = folder.map_or_else(Catalogue::embedded, Catalogue::with_folder);
    read.map_err(Failure::bad_input)
}

/// Runs the main job.
pub(crate) fn run(arguments: &RunArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = catalogue(arguments.shaders.as_deref())?;
    let kernels = chosen(&catalogue, arguments)?;
    let points = axis::points(&arguments.axis).map_err(Failure::bad_input)?;
    let mut left_out = groups::lacking(&kernels, &points)?;
    left_out.extend(groups::refusing(&kernels, &points)?);
    let budget = arguments.budget.unwrap_or(BUDGET_S[usize::from(arguments.quick)]);
    let budget = Duration::try_from_secs_f64(budget)
        .map_err(|error| Failure::message(Exit::BadInput, format!("--budget: {error}")))?;
    // Launches are worked out before any device is opened: bad input costs nothing.
    groups::groups(&kernels, &points, Sizes::of_gpu(DeviceClass::Quick), arguments.seed)?;
    let available = Available::ask(&arguments.device);
    let devices = devices::choose(&arguments.device, &available)?;
    if arguments.counters && !devices.iter().any(|device| matches!(device, Choice::Cuda { .. })) {
        let message = "--counters reads what a device cuda:N has; add --device cuda:0";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    let devices = if arguments.no_counting { timed_alone(devices)? } else { devices };
    let notes =
        kernels.iter().map(|kernel| (kernel.id.clone(), kernel.description.note())).collect();
    let mut job = Job::new(
        arguments.out.as_deref(),
        !arguments.device.is_empty(),
        &available,
        &devices,
        notes,
    )?;
    left_out.iter().for_each(|text| note(&job.progress, text));
    let timed = devices.iter().filter(|device| device.is_device()).count();
    let options = SessionOptions {
        count: (!arguments.no_counting)
            .then_some(CountOptions { histogram: arguments.histogram, derived: false }),
        timing: (!arguments.no_timing)
            .then(|| budget.div_f64(u32::try_from(timed.max(1)).map_or(1.0, f64::from))),
        samples_min: SAMPLES_MIN,
        noise_ratio_max: StopRule::NOISE_MAX.0,
        hardware_counters: arguments.counters,
    };
    let gpu = devices.iter().any(|d| d.class(false) == DeviceClass::Gpu);
    let mut queue: std::collections::VecDeque<Choice> = devices.into();
    while let Some(device) = queue.pop_front() {
        let class = match (&device, arguments.quick, gpu) {
            // Beside a GPU the simulator runs the GPU's sizes, or nothing could be compared.
            (Choice::Simulator(_), false, true) => DeviceClass::Gpu,
            (device, quick, _) => device.class(quick),
        };
        let sizes = Sizes { class, alone: device.class(false) };
        let (able, unable): (Vec<_>, Vec<_>) =
            kernels.iter().partition(|kernel| device.speaks(kernel.language));
        if let Some(text) = unavailable(&device, &unable) {
            note(&job.progress, &text);
        }
        if able.is_empty() {
            continue;
        }
        let groups = groups::groups(&able, &points, sizes, arguments.seed)?;
        job.device(&device, &groups, arguments, &options, &catalogue)?;
        if arguments.device.is_empty() && !arguments.no_counting {
            job.add_simulator_beside(&device, &mut queue);
        }
    }
    job.finish(arguments, out)
}

/// The devices that have times.
fn timed_alone(devices: Vec<Choice>) -> Result<Vec<Choice>, Failure> {
    let timed: Vec<Choice> = devices.into_iter().filter(Choice::is_device).collect();
    if timed.is_empty() {
        let message = "--no-counting leaves nothing to do on simulators, which have no times: leave it \
                       out, or name another device (`lanescope doctor` lists them)";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    Ok(timed)
}

/// The kernels that the arguments name, or the default set.
fn chosen<'a>(
    catalogue: &'a Catalogue,
    arguments: &RunArguments,
) -> Result<Vec<&'a Kernel>, Failure> {
    let kernels = list::chosen(catalogue, &arguments.kernels)?;
    if !arguments.kernels.is_empty() {
        return Ok(kernels);
    }
    Ok(kernels.into_iter().filter(|kernel| kernel.description.in_default_set).collect())
}

/// Says which kernels a device does not have the language for; nothing where there are none.
fn unavailable(device: &Choice, kernels: &[&Kernel]) -> Option<String> {
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.id.as_str()).collect();
    let why = not_available(match names.as_slice() {
        [] => return None,
        [one] => one,
        _ => "each of them",
    });
    Some(match names.len() {
        1 => format!("{}: {why}", device.id()),
        _ => format!("{}: {}: {why}", device.id(), names.join(", ")),
    })
}

/// The run so far: on disk and in memory.
pub(super) struct Job {
    pub(super) folder: PathBuf,
    store: Store,
    pub(super) run: Run,
    pub(super) progress: ProgressBar,
    /// What to say on standard error when the bar is gone.
    trouble: Option<Failure>,
    pub(super) unopened: usize,
    pub(super) opened: usize,
}

impl Job {
    /// Begins a run of `kernels` in `out`, or in a new folder; `asked` says whether devices were named.
    pub(super) fn new(
        out: Option<&Path>,
        asked: bool,
        available: &Available,
        devices: &[Choice],
        kernels: BTreeMap<String, KernelNote>,
    ) -> Result<Self, Failure> {
        let run = Run {
            schema: SCHEMA,
            counting_rule: COUNTING_RULE,
            tool: Tool::this(),
            started_utc: now_utc(),
            argv: std::env::args().skip(1).collect(),
            host: host(),
            devices: Vec::new(),
            measurements: Vec::new(),
            kernels,
            sources: BTreeMap::new(),
        };
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
        let store = Store::create(&file, &run).map_err(Failure::bad_input)?;
        let progress = ProgressBar::new_spinner();
        // It moves the cursor, and whoever wants no colours may want no such codes either.
        if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
            progress.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
            progress.set_style(style);
        }
        for listed in available.listed.iter().filter(|listed| listed.left_out.is_some()) {
            let why = listed.left_out.clone().unwrap_or_default();
            note(&progress, &format!("{} ({}) is left out: {why}", listed.name, listed.backend));
        }
        if let Some(trouble) = &available.trouble {
            note(&progress, &format!("the adapters could not be listed: {trouble}"));
        }
        if !devices.iter().any(Choice::is_device) {
            let message =
                "no adapter is used: counts come from the simulator, and there are no times";
            note(&progress, message);
            if available.listed.is_empty() && !asked {
                note(&progress, devices::INSTALL);
            }
        }
        Ok(Self { folder, store, run, progress, trouble: None, unopened: 0, opened: 0 })
    }

    /// Runs everything on one device.
    fn device(
        &mut self,
        device: &Choice,
        groups: &[Vec<Launch>],
        arguments: &RunArguments,
        options: &SessionOptions,
        catalogue: &Catalogue,
    ) -> Result<(), Failure> {
        self.progress.set_message(format!("{}: opening", device.id()));
        self.progress.enable_steady_tick(Duration::from_millis(120));
        let silence_max = Duration::from_secs(arguments.time_limit);
        let mut calibrate = true;
        let mut open = || -> Result<Box<dyn Runner>, RunError> {
            Ok(match device {
                Choice::Simulator(width) => Box::new(
                    SimulatorRunner::new(*width, arguments.steps)
                        .strict(arguments.strict)
                        .memory_bytes_max(arguments.memory_max.saturating_mul(1 << 20)),
                ),
                Choice::Wgpu { .. } | Choice::Cuda { .. } => {
                    let mut runner = device.worker(calibrate, silence_max)?;
                    if calibrate {
                        runner.test_counting(catalogue)?;
                        calibrate = false;
                    }
                    Box::new(runner)
                }
            })
        };
        self.session(device, &mut open, groups, options)
    }

    /// Runs groups of launches on a device that `open` opens.
    pub(super) fn session(
        &mut self,
        device: &Choice,
        open: &mut Open<'_>,
        groups: &[Vec<Launch>],
        options: &SessionOptions,
    ) -> Result<(), Failure> {
        match run_device(open, groups, options, self) {
            Ok(()) => self.opened += 1,
            Err(error) => {
                self.unopened += 1;
                note(&self.progress, &format!("{} cannot be used: {error}", device.id()));
            }
        }
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// Adds the counts of other schedules to the measurement that was taken last.
    pub(super) fn add_schedules(&mut self, schedules: Vec<ScheduleCounts>) {
        if let Some(last) = self.run.measurements.last_mut() {
            last.schedules = schedules;
            let saved = self.store.replace_last(last);
            self.note_failure(saved);
        }
    }

    /// Puts the simulator at the device's own width into the queue, where it is not there yet.
    fn add_simulator_beside(
        &self,
        device: &Choice,
        queue: &mut std::collections::VecDeque<Choice>,
    ) {
        let id = device.id();
        let opened = self.run.devices.iter().find(|known| known.id == id);
        let width: Option<Width> = opened
            .filter(|device| device.kind != DeviceKind::Simulator)
            .and_then(|device| device.subgroup_width_run);
        if let Some(width) = width {
            let simulator = Choice::Simulator(width);
            if !queue.contains(&simulator) {
                queue.push_front(simulator);
            }
        }
    }

    /// Tables, exports, charts, page; then the exit code.
    fn finish(self, arguments: &RunArguments, out: &mut impl Write) -> Result<Exit, Failure> {
        self.progress.finish_and_clear();
        let Self { folder, run, unopened, opened, .. } = self;
        let summary = analyze::summary(&run);
        let exports = [&arguments.export_json, &arguments.export_csv, &arguments.export_markdown];
        let quiet = exports.iter().any(|path| export::is_stdout(path.as_deref()));
        if !quiet {
            write_tables(&run, out)?;
        }
        // Machine output begins only when everything that locks standard output is done.
        out.flush()?;
        if let Some(path) = &arguments.export_json {
            export::json(&run, path, out)?;
        }
        if let Some(path) = &arguments.export_csv {
            export::csv(&summary, path, out)?;
        }
        if let Some(path) = &arguments.export_markdown {
            export::markdown(&summary, path, out)?;
        }
        let page = render::write(&folder, std::slice::from_ref(&run), &[])?;
        let stderr = &mut anstream::stderr();
        writeln!(stderr, "Results: {}", folder.join(RESULT_FILE).display())?;
        writeln!(stderr, "Page:    {}", page.display())?;
        for measurement in &run.measurements {
            complain(measurement, stderr)?;
        }
        tell_missing(&run, stderr)?;
        Ok(exit(&run, unopened, opened))
    }
}

/// Says what went wrong with a measurement, where something did.
pub(super) fn complain(measurement: &Measurement, stderr: &mut impl Write) -> Result<(), Failure> {
    let what = match (measurement.status, measurement.output) {
        (Status::Failed, _) => "failed",
        (Status::Ok, Output::Mismatch) => "wrong output",
        (Status::Ok, Output::Verified | Output::Unchecked) => return Ok(()),
    };
    let why = measurement.error.as_deref().unwrap_or("no reason was given");
    let parameters = analyze::parameters_text(&measurement.parameters, &[]);
    let (kernel, device) = (&measurement.kernel, &measurement.device);
    writeln!(stderr, "{what}: {kernel} ({parameters}) on {device}: {why}")?;
    Ok(())
}

/// Says why hardware counters that were asked for are not there, each reason once a device.
pub(super) fn tell_missing(run: &Run, stderr: &mut impl Write) -> Result<(), Failure> {
    let mut told = Vec::new();
    for measurement in &run.measurements {
        for why in &measurement.counters_missing {
            let line = format!("{}: {why}", measurement.device);
            if !told.contains(&line) {
                writeln!(stderr, "{line}")?;
                told.push(line);
            }
        }
    }
    Ok(())
}

/// The exit code that a run earns.
pub(super) fn exit(run: &Run, unopened: usize, opened: usize) -> Exit {
    if opened == 0 {
        Exit::NoDevice
    } else if run.measurements.iter().any(wrong) {
        Exit::CheckFailed
    } else if unopened > 0 || run.measurements.iter().any(|m| m.status == Status::Failed) {
        Exit::PartFailed
    } else {
        Exit::Done
    }
}

/// Whether outputs were wrong, or the program is: a barrier in divergent flow.
fn wrong(measurement: &Measurement) -> bool {
    let barrier = flag::has(&measurement.flags, &Tag::DivergentBarrier);
    measurement.output == Output::Mismatch || barrier
}

/// Every table of a run, how its devices agree with the simulator, and where kernels pay.
pub(crate) fn write_tables(run: &Run, out: &mut impl Write) -> Result<(), Failure> {
    for (_, table) in present::tables(run) {
        if !table.title.is_empty() {
            writeln!(out, "\n{}", table.title)?;
        }
        writeln!(out, "{}", table.to_text(Style::Terminal))?;
        if !table.rows_folded.is_empty() {
            let count = table.rows_folded.len();
            writeln!(out, "{count} rows of less usual parameters stand on the page.")?;
        }
        for note in &table.notes {
            writeln!(out, "– {note}")?;
        }
    }
    let agreements = analyze::agreements(run);
    if !agreements.is_empty() {
        let differing: usize =
            agreements.iter().filter(|row| !row.agreement.differences.is_empty()).count();
        let blocks: usize = agreements.iter().map(|row| row.agreement.blocks_compared).sum();
        let count = agreements.len();
        let verdict = if differing == 0 {
            "executions and lanes equal the simulator's in every block".to_owned()
        } else {
            format!("{differing} of them differ from the simulator")
        };
        writeln!(out, "\nAgreement: {count} launches, {blocks} blocks compared: {verdict}.")?;
    }
    let sentences = analyze::crossover_sentences(run);
    if !sentences.is_empty() {
        writeln!(out)?;
    }
    for sentence in sentences {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

impl Listener for Job {
    fn device(&mut self, device: &Device) {
        let saved = self.store.append_device(device);
        self.note_failure(saved);
        for flag in &device.flags {
            let text = flag.explanation();
            note(&self.progress, &format!("{}: {flag}: {text}", device.id));
        }
        self.run.devices.push(device.clone());
    }

    fn progress(&mut self, device: &str, phase: Phase, launch: &Launch) {
        let doing = match phase {
            Phase::Counting => "counting",
            Phase::Timing => "timing",
            Phase::Collecting => "reading hardware counters of",
        };
        self.progress.set_message(format!("{device}: {doing} {}", launch.kernel));
    }

    fn measurement(&mut self, measurement: Measurement, (sha256, source): (String, Source)) {
        let saved =
            self.store.add_source(&sha256, &source).and_then(|()| self.store.append(&measurement));
        self.note_failure(saved);
        self.run.sources.insert(sha256, source);
        self.run.measurements.push(measurement);
    }
}

impl Job {
    fn note_failure(&mut self, saved: Result<(), crate::store::StoreError>) {
        if let Err(error) = saved {
            self.trouble.get_or_insert(Failure::bad_input(error));
        }
    }
}

/// A line on standard error that does not break the progress display.
pub(super) fn note(progress: &ProgressBar, text: &str) {
    progress.suspend(|| {
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(anstream::stderr(), "{text}");
    });
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
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let set = |name: &&str| std::env::var(name).ok().map(|value| ((*name).to_owned(), value));
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
    fn what_a_device_cannot_run_is_a_sentence() {
        let catalogue = Catalogue::embedded().unwrap();
        let chosen = catalogue.select("match").unwrap();
        let simulator = Choice::Simulator(Width::new(32).unwrap());
        let cuda = Choice::Cuda { number: 0, name: String::new() };
        assert!(chosen.iter().all(|k| cuda.speaks(k.language) && !simulator.speaks(k.language)));
        let text = unavailable(&simulator, &chosen).unwrap();
        assert!(text.starts_with("sim:32: match/all, match/any: each of them is not"), "{text}");
        let text = unavailable(&simulator, &chosen[..1]).unwrap();
        assert!(text.starts_with("sim:32: match/all is not available on this device"), "{text}");
        assert_eq!(unavailable(&simulator, &[]), None);
    }

    #[test]
    fn the_exit_code_is_the_worst_that_happened() {
        let run = crate::fixtures::run();
        let with = |change: &dyn Fn(&mut Measurement)| {
            let mut run = run.clone();
            run.measurements.iter_mut().for_each(|measurement| {
                measurement.status = Status::Ok;
                measurement.output = Output::Verified;
            });
            change(&mut run.measurements[0]);
            run
        };
        let fine = with(&|_| {});
        assert_eq!(exit(&fine, 0, 1), Exit::Done);
        assert_eq!(exit(&fine, 1, 1), Exit::PartFailed);
        assert_eq!(exit(&fine, 1, 0), Exit::NoDevice);
        let wrong = with(&|measurement| measurement.output = Output::Mismatch);
        assert_eq!(exit(&wrong, 1, 1), Exit::CheckFailed);
        let failed = with(&|measurement| measurement.status = Status::Failed);
        assert_eq!(exit(&failed, 0, 1), Exit::PartFailed);
    }
}
