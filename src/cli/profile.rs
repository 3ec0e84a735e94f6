//! `lanescope profile`: a shader of the user's own.
//!
//! Input: a WGSL file, a launch file where there is one. Output: a result file with a measurement for
//! each device, a page, the lines that waste lanes. With `--init`: a launch file to start from.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::annotate::{self, Look, RESTS_ON_ESTIMATES};
use super::arguments::ProfileArguments;
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure, hint};
use super::run::{complain, exit, tell_missing};
use super::watch::{RESULT_FILE, Watch, begin_run};
use super::{export, foreign, render, screen};
use crate::analyze::{self, Condition};
use crate::kernel::{Catalogue, Description, Launch, Workgroups};
use crate::program::ProgramError;
use crate::record::{
    Flag, Limit, LimitOf, Measurement, Method, Run, ScheduleCounts, Shapes, Status, Tag, flag,
};
use crate::run::back_end::OpenOptions;
use crate::run::measure::{Results, measurement};
use crate::run::profile::files::FILE_BYTES_MAX;
use crate::run::profile::made_up::{Chosen, find_chosen, find_made_up};
use crate::run::profile::pilot::prepare_affordable;
use crate::run::profile::repeated::RepeatedRunner;
use crate::run::profile::template::template;
use crate::run::profile::{ProfileError, ProfileRequest};
use crate::run::session::{Listener, Recording, SessionOptions};
use crate::run::shapes;
use crate::run::simulator::SimulatorRunner;
use crate::run::trust;
use crate::run::what_if::{self, Stopwatch};
use crate::run::{CountRequest, RunError, RunErrorKind, Runner, caught};
use crate::simulate::Schedule;
use crate::store;
use crate::units::grouped_text;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// Invocations of one dispatch from which on the user is warned that a simulator may take minutes.
const INVOCATIONS_MANY: u64 = 1 << 27;

/// The largest shader or launch file that is read, in bytes.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// Profiles a shader, or writes a launch file for it.
pub(crate) fn profile(arguments: &ProfileArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let condition: Option<Condition> = match &arguments.fail_on {
        Some(text) => Some(text.parse().map_err(Failure::bad_input)?),
        None => None,
    };
    let request = request(arguments)?;
    if arguments.init {
        return init(&request, &arguments.shader);
    }
    let launch = launch(&request, arguments)?;
    let available = Available::ask(&arguments.device);
    let choices = devices::choose_for_profile(&arguments.device, &available)?;
    if arguments.sass && !choices.iter().any(|choice| choice.back_end.gives.code) {
        let message = "--sass shows the machine code of a device cuda:N or radv:F/W; add --device cuda:0, \
                       or radv:navi21/64, which needs no GPU";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    warn_of_size(&launch, &choices)?;
    let asked = !arguments.device.is_empty();
    let note =
        |(_, description): &(String, Description)| (launch.kernel.clone(), description.note());
    let notes = request.description.iter().map(note).collect();
    let mut recording = Recording::new(begin_run(notes));
    let mut watch = Watch::begin(arguments.out.as_deref(), &recording.run)?;
    let remarks = devices::remarks(&available, &choices, asked);
    remarks.iter().for_each(|remark| watch.message(remark));
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    let made_up = find_made_up(&request, &launch).unwrap_or_default();
    for choice in &choices {
        let measured = recording.run.measurements.len();
        let stopwatch = Stopwatch::start();
        count(choice, &launch, arguments, &catalogue, &mut recording, &mut watch);
        if recording.run.measurements.len() > measured {
            if let Some(last) = recording.run.measurements.last_mut() {
                last.made_up.clone_from(&made_up);
                watch.replace_last(last);
            }
            count_schedules(&launch, arguments, &mut recording, &mut watch);
            count_shapes(&launch, arguments, &mut recording, &mut watch);
            let share = u32::try_from(choices.len()).unwrap_or(1).max(1);
            let limit = stopwatch.elapsed().max(what_if::TIME_MIN / share);
            let limit = (!arguments.what_if).then_some(limit);
            try_changes(&launch, arguments.steps, limit, &mut recording, &mut watch);
        }
        if watch.has_failed() {
            break;
        }
    }
    let blame = blame(&find_chosen(&request, &made_up));
    finish(watch, &recording, arguments, condition.as_ref(), blame.as_deref(), out)
}

/// What the arguments ask for, with the files that they name.
fn request(arguments: &ProfileArguments) -> Result<ProfileRequest, Failure> {
    let piped = arguments.shader == Path::new(STDIN);
    if piped && arguments.init {
        let message = "--init writes beside the shader: give it a file in place of -";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    let source = read_text(&arguments.shader)?;
    let description = arguments.launch.as_deref().map(|path| read_description(path, arguments));
    let description = description.transpose()?;
    let shader = if piped { Path::new("stdin.wgsl") } else { &arguments.shader };
    let stem = shader.file_stem().unwrap_or_default();
    Ok(ProfileRequest {
        file: shader.display().to_string(),
        name: stem.to_string_lossy().into_owned(),
        source,
        description,
        entry_point: arguments.entry.clone(),
        workgroups: arguments.workgroups,
        n: arguments.n,
        seed: arguments.seed,
    })
}

/// A launch file's path and what it says.
fn read_description(
    path: &Path,
    arguments: &ProfileArguments,
) -> Result<(String, Description), Failure> {
    let file = path.display().to_string();
    let description =
        Description::parse_launch_file(&file, &read_text(path)?).map_err(|error| {
            let shader = arguments.shader.display();
            let mut message = error.to_string();
            if message.contains("invalid type: map, expected a sequence") {
                message += "\nlists of tables have two brackets: [[buffers]], [[dispatches]]";
            }
            message +=
                &format!("\n`lanescope profile --init {shader}` writes a file to start from");
            Failure::message(Exit::BadInput, message)
        })?;
    let options =
        [("--entry", arguments.entry.is_some()), ("--workgroups", arguments.workgroups.is_some())];
    for (option, given) in options {
        if given && !description.dispatches.is_empty() {
            let message =
                format!("{option} has no effect: {file} has [[dispatches]]; change them there");
            return Err(Failure::message(Exit::BadInput, message));
        }
    }
    Ok((file, description))
}

/// The launch; files that the launch file names lie beside it.
fn launch(request: &ProfileRequest, arguments: &ProfileArguments) -> Result<Launch, Failure> {
    let folder = arguments.launch.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let mut read = |name: &str| {
        let path = folder.join(name);
        read_data(&path).map_err(|problem| {
            format!(
                "{} cannot be read: {problem}; paths are relative to the launch file",
                path.display()
            )
        })
    };
    let prepared =
        caught("preparation", &request.file, || Ok(prepare_affordable(request, &mut read)));
    match prepared {
        Ok(Ok(prepared)) => check_memory(prepared.launch, arguments.memory_max),
        Ok(Err(error)) => Err(to_failure(error, request)),
        Err(panic) => Err(Failure::message(Exit::PartFailed, panic.to_string())),
    }
}

/// Refuses a launch whose buffers take more mebibytes than they may, before any is made.
fn check_memory(launch: Launch, mebibytes_max: u64) -> Result<Launch, Failure> {
    let bytes_max = mebibytes_max.saturating_mul(1 << 20);
    let bytes = launch.buffers.iter().fold(0_u64, |sum, buffer| sum.saturating_add(buffer.size));
    let largest = launch.buffers.iter().max_by_key(|buffer| buffer.size);
    let Some(largest) = largest.filter(|_| bytes > bytes_max) else { return Ok(launch) };
    let message = format!(
        "{}: the buffers take {bytes} bytes, `{}` alone {}; at most {bytes_max} ({})",
        launch.file,
        largest.name,
        largest.size,
        hint(Limit { which: LimitOf::MemoryBytes, value: bytes_max })
    );
    Err(Failure::message(Exit::BadInput, message))
}

/// The failure of a shader that cannot be launched, with the options that help.
fn to_failure(error: ProfileError, request: &ProfileRequest) -> Failure {
    let file = &request.file;
    match error {
        // What panicked is no fault of the shader's.
        ProfileError::Program(error @ ProgramError::Panicked { .. }) => {
            Failure::message(Exit::PartFailed, error)
        }
        ProfileError::Program(error @ ProgramError::OverridesMissing { .. }) => {
            let message = format!(
                "{error}; put values under [overrides] in a launch file: `lanescope profile --init \
                 {file}` writes one, and `--launch` reads it"
            );
            Failure::message(Exit::BadInput, message)
        }
        error @ ProfileError::EntryPoints { .. } => {
            let message = format!(
                "{error} (--entry NAME; `lanescope profile --init {file}` writes a launch file, and \
                 --launch reads it)"
            );
            Failure::message(Exit::BadInput, message)
        }
        // What is written in another language is named as that.
        ProfileError::Program(error @ ProgramError::Parse { .. }) => {
            match foreign::text(&request.file, &request.source) {
                Some(known) => Failure::message(Exit::BadInput, known),
                None => Failure::bad_input(error),
            }
        }
        error => Failure::bad_input(error),
    }
}

/// Reads a file that fills a buffer. Devices and pipes need not end, so they are refused unopened.
fn read_data(path: &Path) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is no regular file".to_owned());
    }
    store::read_file(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
}

/// Reads a text file, or standard input where the path is `-`.
fn read_text(path: &Path) -> Result<String, Failure> {
    if path == Path::new(STDIN) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            let message = format!("standard input has over {TEXT_BYTES_MAX} bytes, the limit");
            return Err(Failure::message(Exit::BadInput, message));
        }
        let text = String::from_utf8(bytes);
        return text.map_err(|error| {
            let known = foreign::bytes("standard input", error.as_bytes());
            let message = known.unwrap_or("standard input is not UTF-8 text".to_owned());
            Failure::message(Exit::BadInput, message)
        });
    }
    let problem = |what: String| {
        Failure::message(Exit::BadInput, format!("{} cannot be read: {what}", path.display()))
    };
    let bytes =
        store::read_file(path, TEXT_BYTES_MAX).map_err(|error| problem(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        match foreign::bytes(&path.display().to_string(), error.as_bytes()) {
            Some(known) => Failure::message(Exit::BadInput, known),
            None => problem("it is not UTF-8 text".to_owned()),
        }
    })
}

/// Writes the launch file beside the shader.
fn init(request: &ProfileRequest, shader: &Path) -> Result<Exit, Failure> {
    let path: PathBuf = shader.with_extension("toml");
    let text = template(request).map_err(|error| to_failure(error, request))?;
    let made = std::fs::File::options().write(true).create_new(true).open(&path);
    let mut file = made.map_err(|error| {
        let message = if error.kind() == std::io::ErrorKind::AlreadyExists {
            format!(
                "{} is there already and is not written over; remove it, or use it: --launch {}",
                path.display(),
                path.display()
            )
        } else {
            format!("{} cannot be written: {error}", path.display())
        };
        Failure::message(Exit::BadInput, message)
    })?;
    file.write_all(text.as_bytes())?;
    let stderr = &mut screen::stderr();
    writeln!(stderr, "Launch file: {}", path.display())?;
    writeln!(
        stderr,
        "Use it with: lanescope profile {} --launch {}",
        shader.display(),
        path.display()
    )?;
    Ok(Exit::Done)
}

/// Says beforehand that a simulator will take long, so that nobody takes it for hung.
fn warn_of_size(launch: &Launch, choices: &[Choice]) -> Result<(), Failure> {
    let simulated = choices.iter().any(|choice| !choice.is_device());
    let programs = crate::run::launched::programs(launch).map_err(Failure::bad_input)?;
    for (dispatch, program) in launch.dispatches.iter().zip(&programs) {
        let Workgroups::Direct(groups) = &dispatch.workgroups else { continue };
        let sizes = groups
            .iter()
            .chain(&program.workgroup_size())
            .copied()
            .map(u64::from)
            .collect::<Vec<_>>();
        let invocations = sizes.into_iter().fold(1, u64::saturating_mul);
        if simulated && invocations >= INVOCATIONS_MANY {
            writeln!(
                screen::stderr(),
                "{}: {} invocations may take a simulator minutes; --n makes it fewer",
                dispatch.entry_point,
                grouped_text(invocations.into())
            )?;
        }
    }
    Ok(())
}

/// Counts the launch on one device.
fn count(
    choice: &Choice,
    launch: &Launch,
    arguments: &ProfileArguments,
    catalogue: &Catalogue,
    recording: &mut Recording,
    listener: &mut dyn Listener,
) {
    let silence_max = Duration::from_secs(arguments.time_limit);
    let method = match (arguments.exact, arguments.estimate) {
        (true, _) => Some(Method::Executed),
        (false, true) => Some(Method::Estimated),
        (false, false) => None,
    };
    let here = OpenOptions {
        steps_max: arguments.steps,
        operations_max: arguments.operations,
        strict: arguments.strict,
        memory_bytes_max: arguments.memory_max.saturating_mul(1 << 20),
        ..OpenOptions::usual(false)
    };
    // A shader that cannot be used is reported when it is counted.
    let constructs = trust::constructs(launch).unwrap_or_default();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        if !choice.back_end.in_child {
            return choice.open_here(&here);
        }
        let runner = Box::new(choice.worker(false, silence_max)?);
        if !choice.back_end.gives.counts {
            return Ok(runner);
        }
        Ok(Box::new(RepeatedRunner::new(runner, catalogue, &constructs, method)?))
    };
    let options = SessionOptions {
        count: Some(CountRequest::once(Method::Executed).with_histogram()),
        timing: None,
        samples_min: 0,
        noise_ratio_max: 0.0,
        hardware_counters: true,
    };
    let groups = [vec![launch.clone()]];
    recording.run_device(&choice.id(), &mut open, &groups, &options, listener);
}

/// Counts under other orders of workgroups what depends on their order: where the simulator was asked
/// last.
fn count_schedules(
    launch: &Launch,
    arguments: &ProfileArguments,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let Run { devices, measurements, .. } = &mut recording.run;
    let Some(last) = measurements.last_mut() else { return };
    let device = devices.iter().find(|device| device.id == last.device && device.is_simulator());
    let width = device.and_then(|device| device.subgroup_width_run);
    let depends = flag::has(&last.flags, &Tag::DependsOnSchedule);
    let (Some(width), true) = (width, depends) else { return };
    let id = last.device.clone();
    let request = CountRequest::once(Method::Executed).with_histogram();
    for seed in 1..=arguments.schedules {
        watch.doing(&format!("{id}: schedule {seed} of {}", arguments.schedules));
        let simulator = SimulatorRunner::new(width, arguments.steps);
        let simulator = simulator.operations_max(arguments.operations);
        let schedule = Schedule::Shuffled { seed };
        let mut simulator = simulator.strict(arguments.strict).schedule(schedule, None);
        let results = simulator.count_once(launch, &request).and_then(|counted| {
            let results = Results { counted: Some(counted), ..Results::default() };
            measurement(simulator.device(), launch, results)
        });
        match results {
            Ok(counts) => last.schedules.push(ScheduleCounts {
                seed,
                active_lanes_mean: counts.active_lanes_mean,
                efficiency_ratio: counts.efficiency_ratio,
                blocks: counts.totals(),
            }),
            Err(error) => {
                watch.message(&format!("{id}: schedule {seed} was not counted: {error}"));
            }
        }
    }
    watch.replace_last(last);
}

/// Counts the same invocations in workgroups of other shapes, where one of the two simulators that are
/// compared was asked last.
fn count_shapes(
    launch: &Launch,
    arguments: &ProfileArguments,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let Run { devices, measurements, .. } = &mut recording.run;
    let Some(last) = measurements.last_mut().filter(|last| last.status == Status::Ok) else {
        return;
    };
    let device = devices.iter().find(|device| device.id == last.device && device.is_simulator());
    let width = device.and_then(|device| device.subgroup_width_run);
    let Some(width) = width.filter(|width| analyze::WIDTHS_COMPARED.contains(width)) else {
        return;
    };
    watch.doing(&format!("{}: other shapes of workgroups", last.device));
    last.shapes = Some(if flag::has(&last.flags, &Tag::DependsOnSchedule) {
        let why = "what it does depends on the order of workgroups";
        Shapes { refused: Some(why.to_owned()), tried: Vec::new() }
    } else {
        let operations = analyze::Work::from_measurement(last).subgroup_operations;
        let simulator = SimulatorRunner::new(width, arguments.steps).strict(arguments.strict);
        let mut simulator = simulator.operations_max(arguments.operations);
        let operations = u64::try_from(operations).unwrap_or(u64::MAX);
        shapes::try_shapes(&mut simulator, launch, operations)
    });
    watch.replace_last(last);
}

/// What to do where a launch accesses out of bounds and parts of it were lanescope's choice.
fn blame(chosen: &[Chosen]) -> Option<String> {
    let way = |one: &Chosen| match one {
        Chosen::Invocations => {
            "an invocation for each of n elements (--workgroups N launches another \
                                number)"
                .to_owned()
        }
        Chosen::Indices(buffers) => {
            format!("random indices in {} (describe them in a launch file)", buffers.join(", "))
        }
        Chosen::Lengths => {
            "arrays of n elements (a launch file gives them other lengths)".to_owned()
        }
    };
    let ways: Vec<String> = chosen.iter().map(way).collect();
    (!ways.is_empty()).then(|| {
        format!(
            "What lies out of bounds may be the default launch's fault and not the shader's. It has: \
             {}; --init writes a launch file to start from",
            ways.join(", ")
        )
    })
}

/// Tries on the simulator what could save anything at the width of the last measurement.
fn try_changes(
    launch: &Launch,
    steps_max: u64,
    limit: Option<Duration>,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let Some((last, earlier)) = recording.run.measurements.split_last_mut() else { return };
    let counted = !last.dispatches.is_empty() && last.method.is_some();
    let Some(width) = last.subgroup_width.filter(|_| counted) else { return };
    let known = earlier.iter().filter(|other| other.subgroup_width == Some(width));
    last.what_if = known.filter_map(|other| other.what_if.clone()).next();
    if last.what_if.is_none() {
        watch.doing(&format!("{}: trying changes", last.device));
        let tried = caught("simulator", &launch.file, || {
            what_if::try_changes(launch, width, steps_max, limit)
        });
        match tried {
            Ok(tried) => last.what_if = Some(tried),
            Err(error) => {
                let hint =
                    if limit.is_some() { " (--what-if tries them all the same)" } else { "" };
                watch.message(&format!("{}: no change was tried: {error}{hint}", last.device));
            }
        }
    }
    watch.replace_last(last);
}

/// Tables, the export, the page; then the exit code.
fn finish(
    watch: Watch,
    recording: &Recording,
    arguments: &ProfileArguments,
    condition: Option<&Condition>,
    blame: Option<&str>,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let folder = watch.finish()?;
    let run = &recording.run;
    let profiles = analyze::profiles(run);
    if !export::is_stdout(arguments.export_json.as_deref()) {
        for profile in &profiles {
            let advice = analyze::advice_of(profile);
            write!(out, "{}", annotate::text(profile, &advice, Look::of_stdout()))?;
            if arguments.sass {
                write!(out, "{}", annotate::machine_code(profile, Look::of_stdout()))?;
            }
        }
    }
    out.flush()?;
    if let Some(path) = &arguments.export_json {
        export::json(run, path, out)?;
    }
    let page = match profiles.first() {
        Some(profile) => Some(render::profile_page(&folder, profile, run)?),
        None => None,
    };
    let stderr = &mut screen::stderr();
    tell_findings(run, stderr)?;
    let out_of_bounds =
        |flag: &Flag| matches!(flag.tag, Tag::ReadOutOfBounds | Tag::WriteOutOfBounds);
    let bounds = run.measurements.iter().any(|one| one.flags.iter().any(out_of_bounds));
    if let Some(blame) = blame.filter(|_| bounds) {
        writeln!(stderr, "{blame}")?;
    }
    writeln!(stderr, "Results: {}", folder.join(RESULT_FILE).display())?;
    if let Some(page) = page {
        writeln!(stderr, "Page:    {}", page.display())?;
    }
    for measurement in &run.measurements {
        complain(measurement, stderr)?;
    }
    tell_missing(run, stderr)?;
    let violations = condition.map(|condition| condition.violations(run)).unwrap_or_default();
    for violation in &violations {
        writeln!(stderr, "--fail-on: {violation}")?;
    }
    let estimated = |m: &&Measurement| m.method == Some(Method::Estimated);
    for measurement in run.measurements.iter().filter(estimated).filter(|_| condition.is_some()) {
        writeln!(stderr, "--fail-on rests on {RESTS_ON_ESTIMATES} ({})", measurement.device)?;
    }
    for profile in profiles.iter().filter(|_| condition.is_some()) {
        let one_schedule = profile.devices.iter().filter(|device| device.schedules.len() < 2);
        for device in one_schedule.filter(|device| !device.schedule_lines().is_empty()) {
            let id = &device.column.device;
            writeln!(
                stderr,
                "--fail-on rests on one schedule's figures ({id}); --schedules 8 judges the worst"
            )?;
        }
    }
    Ok(match exit(recording) {
        // No device that was asked has what the shader needs: the shader is what can be changed.
        Exit::PartFailed if recording.unopened == 0 && all_unsupported(run) => Exit::BadInput,
        Exit::Done if !violations.is_empty() => Exit::CheckFailed,
        code => code,
    })
}

/// Whether the shader failed on every device because it lacks something.
fn all_unsupported(run: &Run) -> bool {
    run.measurements.iter().all(|m| m.error_kind == Some(RunErrorKind::Unsupported))
}

/// Says what was found about the launch, each thing once with its devices.
fn tell_findings(run: &Run, stderr: &mut impl Write) -> Result<(), Failure> {
    // Failures are reported by themselves, with their reasons; the table says what nobody checked.
    let told = |flag: &Flag| !matches!(flag.tag, Tag::Failed | Tag::OutputUnchecked);
    let findings = analyze::findings(run);
    for finding in findings.into_iter().filter(|finding| told(&finding.flag)) {
        let analyze::Finding { flag, places } = finding;
        writeln!(stderr, "{flag} ({}): {}", places.join("; "), flag.explanation())?;
    }
    Ok(())
}
