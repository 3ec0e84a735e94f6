//! `lanescope profile`: a shader of the user's own.
//!
//! Input: a WGSL file, a launch file where there is one. Output: a result file with a measurement for
//! each device, a page, the lines that waste lanes. With `--init`: a launch file to start from.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::annotate::{self, Look, RESTS_ON_ESTIMATES};
use super::arguments::{LaunchArguments, ProfileArguments};
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure, chain};
use super::run::{complain, exit, tell_missing};
use super::screen::Outliving;
use super::watch::{RESULT_FILE, Watch, begin_run};
use super::{compare, export, marks, measuring, render, screen, shader};
use crate::analyze::{self, Condition, DeviceProfile, Mark, Profile};
use crate::kernel::{Catalogue, KernelError, Launch};
use crate::present::{self, terminal_columns};
use crate::record::{Flag, MadeUp, Measurement, Method, Run, Status, Tag, Trust, flag};
use crate::run::RunErrorKind;
use crate::run::clock::Stopwatch;
use crate::run::looks::{Looks, flag_moved};
use crate::run::profile::ProfileRequest;
use crate::run::profile::made_up::{Chosen, find_chosen, find_made_up};
use crate::run::profile::template::template;
use crate::run::session::{Listener, Recording};
use crate::run::what_if::{self, Budget};
use crate::units::Width;

/// A shader that is profiled.
struct Job {
    request: ProfileRequest,
    launch: Launch,
    made_up: Vec<MadeUp>,
}

impl Job {
    /// Reads a shader and makes its launch; nothing is run.
    fn new(path: &Path, how: &LaunchArguments) -> Result<Self, Failure> {
        let request = shader::request(path, how)?;
        let launch = shader::prepare(&request, how)?.launch;
        let made_up = find_made_up(&request, &launch).unwrap_or_default();
        Ok(Self { request, launch, made_up })
    }
}

/// Profiles shaders, or writes a launch file for one.
pub(crate) fn profile(arguments: &ProfileArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let condition = condition(arguments)?;
    let shaders = shader::expand(&arguments.shaders)?;
    check_stdout(arguments)?;
    if arguments.init {
        let [path] = shaders.as_slice() else {
            let message = "--init writes beside one shader: name one";
            return Err(Failure::message(Exit::BadInput, message));
        };
        if path == Path::new(shader::STDIN) {
            let message = "--init writes beside the shader: give it a file in place of -";
            return Err(Failure::message(Exit::BadInput, message));
        }
        return init(&shader::request(path, &arguments.how)?, path);
    }
    let folder = arguments.out.as_deref();
    once(arguments, &shaders, condition.as_ref(), folder, None, out).map(|(exit, _)| exit)
}

/// Refuses what would stand on standard output together.
///
/// # Errors
///
/// Where several forms are asked for there.
pub(super) fn check_stdout(arguments: &ProfileArguments) -> Result<(), Failure> {
    let there = |path: &Option<PathBuf>| export::is_stdout(path.as_deref());
    export::one_on_stdout(&[
        ("--json-lines", arguments.json_lines),
        ("--annotations", arguments.annotations.is_some()),
        ("--sarif -", there(&arguments.sarif)),
        ("--export-speedscope -", there(&arguments.export_speedscope)),
        ("--export-json -", there(&arguments.export_json)),
    ])
}

/// What no line may meet, as the arguments say it.
///
/// # Errors
///
/// Where it cannot be read.
pub(super) fn condition(arguments: &ProfileArguments) -> Result<Option<Condition>, Failure> {
    let parse = |text: &String| text.parse().map_err(Failure::bad_input);
    arguments.fail_on.as_ref().map(parse).transpose()
}

/// Refuses what none of the devices gives.
fn check_devices(
    arguments: &ProfileArguments,
    condition: Option<&Condition>,
    choices: &[Choice],
) -> Result<(), Failure> {
    if arguments.sass && !choices.iter().any(|choice| choice.back_end.gives.code) {
        let message = "--sass shows the machine code of a device cuda:N or radv:F/W; add --device cuda:0, \
                       or radv:navi21/64, which needs no GPU";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    if condition.is_some() && !choices.iter().any(|choice| choice.back_end.gives.counts) {
        let message = "--fail-on judges counts of the source's lines, which none of these devices has; add \
                       --device sim:32";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    let weighs = arguments.export_speedscope.is_some();
    if weighs && !choices.iter().any(|choice| choice.back_end.gives.counts) {
        let message = "--export-speedscope writes stacks by how often the source's lines ran, which none of these \
                       devices counts; add --device sim:32";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    Ok(())
}

/// Profiles shaders once; shows what changed from the run `before`, where there is one. Gives the exit
/// code and the run.
pub(super) fn once(
    arguments: &ProfileArguments,
    shaders: &[PathBuf],
    condition: Option<&Condition>,
    folder: Option<&Path>,
    before: Option<&Run>,
    out: &mut impl Write,
) -> Result<(Exit, Run), Failure> {
    let ((prepared, catalogue), available) = prepare_and_list(shaders, &arguments.how);
    let (jobs, refused) = prepared?;
    let catalogue = catalogue.map_err(Failure::bad_input)?;
    let choices = devices::choose_for_profile(&arguments.how.device, &available)?;
    check_devices(arguments, condition, &choices)?;
    for job in &jobs {
        shader::warn_of_size(&job.launch, &choices)?;
    }
    let note = |job: &Job| {
        let (_, description) = job.request.description.as_ref()?;
        Some((job.launch.kernel.clone(), description.note()))
    };
    let mut recording = Recording::new(begin_run(jobs.iter().filter_map(note).collect()));
    let mut watch = Watch::begin(folder, &recording.run)?;
    let asked = !arguments.how.device.is_empty();
    let remarks = devices::remarks(&available, &choices, asked);
    // Whoever watches has read them.
    remarks.iter().filter(|_| before.is_none()).for_each(|remark| watch.message(remark));
    // Children whose devices are not used end here.
    drop(available);
    let groups: Vec<Vec<Launch>> = jobs.iter().map(|job| vec![job.launch.clone()]).collect();
    let count = choices.len();
    let checked = jobs.iter().any(|job| !job.launch.trusted) && !arguments.how.no_timing;
    let mut measured_by: Vec<(Range<usize>, Duration)> = Vec::new();
    for choice in &in_order(choices, checked, arguments.watch) {
        let measured = recording.run.measurements.len();
        let stopwatch = Stopwatch::start();
        measuring::run(choice, &groups, &arguments.how, &catalogue, &mut recording, &mut watch);
        let took = stopwatch.elapsed().unwrap_or_default();
        let measured = measured..recording.run.measurements.len();
        // A device that cannot be opened measures nothing.
        for (job, index) in jobs.iter().zip(measured.clone()) {
            let measurement = &mut recording.run.measurements[index];
            measurement.made_up.clone_from(&job.made_up);
            watch.replace(index, measurement);
            count_schedules(&job.launch, index, arguments, &mut recording, &mut watch);
            // A data race is an error, and stands above every figure.
            watch_memory(&job.launch, index, &looks(arguments), &mut recording, &mut watch);
        }
        measured_by.push((measured, took));
        if watch.has_failed() {
            break;
        }
    }
    let chosen: Vec<Chosen> =
        jobs.iter().flat_map(|job| find_chosen(&job.request, &job.made_up)).collect();
    // A gate is judged, whoever reads.
    let gate = condition.is_some() && !arguments.watch;
    let out = &mut Outliving::new(gate, out);
    let printed = watch.suspend(|| print_figures(&recording.run, before, arguments, out));
    // Whoever reads no more wants no more looks, and what is measured is kept.
    let compared = match printed {
        Ok(compared) => compared,
        Err(failure) => return watch.finish().and(Err(failure)),
    };
    for (measured, took) in measured_by {
        let share = u32::try_from(count * jobs.len()).unwrap_or(1).max(1);
        let budget = match arguments.what_if {
            true => Budget::Everything,
            false => Budget::Time(took.max(what_if::TIME_MIN) / share),
        };
        for (job, index) in jobs.iter().zip(measured) {
            look(&job.launch, index, (arguments, budget), &mut recording, &mut watch);
        }
    }
    let shown = Shown { condition, blame: blame(&chosen), compared, jobs: &jobs };
    let exit = finish(watch, &recording, arguments, &shown, out)?;
    let exit = if refused && exit == Exit::Done { Exit::PartFailed } else { exit };
    Ok((exit, recording.run))
}

/// The limits under which a launch is looked at.
fn looks(arguments: &ProfileArguments) -> Looks {
    Looks {
        steps_max: arguments.how.steps,
        operations_max: arguments.how.operations,
        strict: arguments.how.strict,
        everything: arguments.what_if,
    }
}

/// Tries what counts do not say of a launch that was measured: other shapes of workgroups, changes.
fn look(
    launch: &Launch,
    index: usize,
    (arguments, budget): (&ProfileArguments, Budget),
    recording: &mut Recording,
    watch: &mut Watch,
) {
    if watch.has_failed() {
        return;
    }
    let looks = looks(arguments);
    count_shapes(launch, index, &looks, recording, watch);
    try_changes(launch, index, (&looks, budget), recording, watch);
}

/// Launches or why there are none, the catalogue, and the devices that there are.
type Beginning = ((Result<(Vec<Job>, bool), Failure>, Result<Catalogue, KernelError>), Available);

/// Makes launches while drivers, which take tenths of a second, list what they have. The children that list end with
/// the thread that started them, which must be this one.
fn prepare_and_list(shaders: &[PathBuf], how: &LaunchArguments) -> Beginning {
    let prepare = || (prepare(shaders, how), Catalogue::embedded());
    std::thread::scope(|scope| {
        // It goes down into long expressions; where there is no room for its stack, one is done after the other.
        let spawned = super::stack::thread_builder().spawn_scoped(scope, prepare);
        let available = Available::ask(&how.device);
        let prepared = match spawned {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => prepare(),
        };
        (prepared, available)
    })
}

/// The launch of each shader that the arguments name.
///
/// # Errors
///
/// Why there is none of one.
pub(super) fn launches(arguments: &ProfileArguments) -> Result<Vec<Launch>, Failure> {
    let shaders = shader::expand(&arguments.shaders)?;
    shaders.iter().map(|path| Ok(Job::new(path, &arguments.how)?.launch)).collect()
}

/// Makes a launch of each shader. Of several, one that cannot be launched is told and left out.
fn prepare(shaders: &[PathBuf], how: &LaunchArguments) -> Result<(Vec<Job>, bool), Failure> {
    let (mut jobs, mut last) = (Vec::new(), None);
    for path in shaders {
        match Job::new(path, how) {
            Ok(job) => jobs.push(job),
            Err(failure) => {
                // The last one's is told when it is known whether any is left.
                if let Some((path, earlier)) = last.replace((path, failure)) {
                    tell_left_out(path, &earlier)?;
                }
            }
        }
    }
    match last {
        Some((_, failure)) if jobs.is_empty() => Err(failure),
        Some((path, failure)) => tell_left_out(path, &failure).map(|()| (jobs, true)),
        None => Ok((jobs, false)),
    }
}

fn tell_left_out(path: &Path, failure: &Failure) -> Result<(), Failure> {
    let (path, why) = (path.display(), chain(&failure.error));
    Ok(writeln!(screen::stderr(), "{path} is left out: {why}")?)
}

/// The devices in the order of use: simulators first where a shader is timed that is not trusted, since
/// what they see of its accesses decides whether it may be timed without run-time checks as well. Where nothing
/// is profiled `again`, the last of them is known to be the last.
fn in_order(mut choices: Vec<Choice>, checked: bool, again: bool) -> Vec<Choice> {
    if checked {
        choices.sort_by_key(|choice| !choice.is_simulator());
    }
    if let Some(choice) = choices.pop() {
        choices.push(if again { choice } else { choice.last() });
    }
    choices
}

/// Writes the launch file beside the shader.
fn init(request: &ProfileRequest, shader: &Path) -> Result<Exit, Failure> {
    let path: PathBuf = shader.with_extension("toml");
    let text = template(request).map_err(|error| shader::to_failure(error, request))?;
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

/// Counts under other orders of workgroups what depends on their order, where a measurement is the simulator's; and what
/// may depend on it unnoticed, since one dispatch leaves it for the next.
fn count_schedules(
    launch: &Launch,
    index: usize,
    arguments: &ProfileArguments,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let Some(width) = simulated_width(&recording.run, index) else { return };
    let looks = looks(arguments);
    let last = &mut recording.run.measurements[index];
    let depends = flag::has(&last.flags, &Tag::DependsOnSchedule);
    let orders = match (depends, launch.dispatches.len()) {
        (true, _) => arguments.schedules,
        (false, ..2) => 0,
        (false, _) => arguments.schedules.max(u64::from(looks.tries_an_order(launch, last))),
    };
    let id = last.device.clone();
    for seed in 1..=orders {
        watch.doing(&format!("{id}: schedule {seed} of {orders}"));
        match looks.under_schedule(launch, width, seed) {
            Ok(counts) => last.schedules.push(counts),
            Err(error) => {
                watch.message(&format!("{id}: schedule {seed} was not counted: {error}"));
            }
        }
    }
    if !depends {
        flag_moved(launch, last);
    }
    watch.replace(index, last);
}

/// The width of the simulator that a measurement is of; `None` if it failed or is of another device.
fn simulated_width(run: &Run, index: usize) -> Option<Width> {
    let measured = run.measurements.get(index).filter(|measured| measured.status == Status::Ok)?;
    let mut devices = run.devices.iter();
    let device = devices.find(|device| device.id == measured.device && device.is_simulator())?;
    device.subgroup_width_run
}

/// Counts the same invocations in workgroups of other shapes, where a measurement is of
/// one of the two simulators that are compared.
fn count_shapes(
    launch: &Launch,
    index: usize,
    looks: &Looks,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let width = simulated_width(&recording.run, index);
    let Some(width) = width.filter(|width| analyze::WIDTHS_COMPARED.contains(width)) else {
        return;
    };
    let last = &mut recording.run.measurements[index];
    watch.doing(&format!("{}: other shapes of workgroups", last.device));
    looks.at_shapes(launch, width, last);
    watch.replace(index, last);
}

/// Watches the memory of the launch where a simulator was asked last: what accesses cost in a model, and
/// data races.
fn watch_memory(
    launch: &Launch,
    index: usize,
    looks: &Looks,
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let Some(width) = simulated_width(&recording.run, index) else { return };
    let last = &mut recording.run.measurements[index];
    watch.doing(&format!("{}: watching memory", last.device));
    if let Err(why) = looks.at_memory(launch, width, last) {
        let hint =
            if looks.everything { "" } else { " (a smaller --n may be, --what-if looks at all)" };
        watch.message(&format!("{}: {why}{hint}", last.device));
    }
    watch.replace(index, last);
}

/// What to do where a launch accesses out of bounds and parts of it were lanescope's choice.
fn blame(chosen: &[Chosen]) -> Option<String> {
    let way = |dispatch: &Chosen| match dispatch {
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
            "What lies out of bounds, and what races, may be the default launch's fault and not the shader's. \
             It has: {}; --init writes a launch file to start from",
            ways.join(", ")
        )
    })
}

/// Tries on the simulator what could save anything at the width of a measurement.
fn try_changes(
    launch: &Launch,
    index: usize,
    (looks, budget): (&Looks, Budget),
    recording: &mut Recording,
    watch: &mut Watch,
) {
    let (earlier, rest) = recording.run.measurements.split_at_mut(index);
    let Some(last) = rest.first_mut() else { return };
    let counted = !last.dispatches.is_empty() && last.method.is_some();
    let Some(width) = last.subgroup_width.filter(|_| counted) else { return };
    let known = earlier.iter().filter(|other| {
        other.subgroup_width == Some(width) && other.source_sha256 == last.source_sha256
    });
    last.what_if = known.filter_map(|other| other.what_if.clone()).next();
    if last.what_if.is_none() {
        watch.doing(&format!("{}: trying changes", last.device));
        match looks.at_changes(launch, width, budget) {
            Ok(tried) => last.what_if = Some(tried),
            Err(error) => {
                let hint = match budget {
                    Budget::Everything => "",
                    Budget::Time(_) | Budget::Operations(_) => {
                        " (--what-if tries them all the same)"
                    }
                };
                watch.message(&format!("{}: no change was tried: {error}{hint}", last.device));
            }
        }
    }
    watch.replace(index, last);
}

/// What a profile is shown with.
struct Shown<'a> {
    condition: Option<&'a Condition>,
    /// What to do where parts of the launch were lanescope's choice and lie out of bounds.
    blame: Option<String>,
    /// The kernels whose changes from a run before were printed.
    compared: Vec<String>,
    jobs: &'a [Job],
}

/// Tables, exports, pages; then the exit code.
fn finish(
    watch: Watch,
    recording: &Recording,
    arguments: &ProfileArguments,
    shown: &Shown<'_>,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let folder = watch.finish()?;
    let run = &recording.run;
    let Shown { condition, compared, blame, jobs } = shown;
    let violations = condition.map(|condition| condition.violations(run)).unwrap_or_default();
    let profiles = analyze::profiles(run);
    print_looks(&profiles, compared, arguments, out)?;
    out.flush()?;
    export(&profiles, run, &marks(&profiles, &violations, jobs), arguments, out)?;
    let pages = render::profile_pages(&folder, &profiles, run)?;
    let gate = condition.is_some() && !arguments.watch;
    let stderr = &mut Outliving::new(gate, screen::stderr());
    tell_findings(run, stderr)?;
    let may_be_ours = |flag: &Flag| {
        matches!(flag.tag, Tag::ReadOutOfBounds | Tag::WriteOutOfBounds | Tag::DataRace)
    };
    let any = run.measurements.iter().any(|measurement| measurement.flags.iter().any(may_be_ours));
    if let Some(blame) = blame.as_ref().filter(|_| any) {
        writeln!(stderr, "{blame}")?;
    }
    writeln!(stderr, "Results: {}", folder.join(RESULT_FILE).display())?;
    for page in pages {
        writeln!(stderr, "Page:    {}", page.display())?;
    }
    for measurement in &run.measurements {
        complain(run, measurement, stderr)?;
    }
    let beside_code = |id: &str, why: &str| {
        let mut devices = profiles.iter().flat_map(|profile| &profile.devices);
        devices.any(|device| device.column.device == id && device.is_beside_code(why))
    };
    tell_missing(run, beside_code, stderr)?;
    for violation in &violations {
        writeln!(stderr, "--fail-on: {violation}")?;
    }
    if condition.is_some() && violations.is_empty() {
        let most = run.measurements.iter().map(|measurement| measurement.schedules.len()).max();
        let under = most.filter(|most| *most > 0).map_or_else(String::new, |most| {
            format!(", under any of {}", present::count_text(most as u128 + 1, "schedule"))
        });
        writeln!(stderr, "--fail-on: nothing meets it{under}")?;
    }
    tell_limits(*condition, &profiles, run, stderr)?;
    Ok(match exit(recording) {
        // No device that was asked has what the shader needs: the shader is what can be changed.
        Exit::PartFailed if recording.unopened == 0 && all_unsupported(run) => Exit::BadInput,
        Exit::Done if !violations.is_empty() => Exit::CheckFailed,
        code => code,
    })
}

/// Says what a condition's verdict rests on, where it was judged by figures that may be others.
fn tell_limits(
    condition: Option<&Condition>,
    profiles: &[Profile],
    run: &Run,
    stderr: &mut impl Write,
) -> Result<(), Failure> {
    let estimated = |m: &&Measurement| m.method == Some(Method::Estimated);
    for measurement in run.measurements.iter().filter(estimated).filter(|_| condition.is_some()) {
        writeln!(stderr, "--fail-on rests on {RESTS_ON_ESTIMATES} ({})", measurement.device)?;
    }
    for profile in profiles.iter().filter(|_| condition.is_some()) {
        let made_up = profile.devices.iter().filter(|device| device.trust == Trust::GeneratedData);
        let ids: Vec<&str> = made_up.map(|buffer| &*buffer.column.device).collect();
        let notes = profile.made_up_notes();
        if !ids.is_empty() && !notes.is_empty() {
            let (ids, notes) = (ids.join(", "), notes.join(" "));
            writeln!(stderr, "--fail-on rests on made-up data ({ids}). {notes}")?;
        }
        let one_schedule = profile.devices.iter().filter(|device| device.schedules.len() < 2);
        for device in one_schedule.filter(|device| !device.schedule_lines().is_empty()) {
            let id = &device.column.device;
            writeln!(
                stderr,
                "--fail-on rests on one schedule's figures ({id}); --schedules 8 judges the worst"
            )?;
        }
    }
    Ok(())
}

/// Whether standard output is for tables: not where it takes lines of JSON, annotations or a file.
fn prints_tables(arguments: &ProfileArguments) -> bool {
    let files = [&arguments.export_json, &arguments.export_speedscope, &arguments.sarif];
    let taken = files.iter().any(|path| export::is_stdout(path.as_deref()));
    !(taken || arguments.json_lines || arguments.annotations.is_some())
}

/// Prints what was counted and timed, or what changed from the run before; gives the kernels whose changes were printed.
/// Of several shaders it is a table of them: the figures of each stand before what was looked at.
fn print_figures(
    run: &Run,
    before: Option<&Run>,
    arguments: &ProfileArguments,
    out: &mut impl Write,
) -> Result<Vec<String>, Failure> {
    if !prints_tables(arguments) {
        return Ok(Vec::new());
    }
    let profiles = analyze::profiles(run);
    let compared = before.map(|before| analyze::compare_launches(before, run, false));
    let mut launches = compared.unwrap_or_default();
    // Of the first the lines are shown: what changed goes before what did not.
    launches.sort_by_key(|launch| !launch.has_changed());
    let is_compared =
        |profile: &&Profile| launches.iter().any(|launch| launch.kernels[1] == profile.kernel);
    for profile in profiles.iter().filter(is_compared) {
        write!(out, "{}", annotate::faults(profile, Look::of_stdout()))?;
    }
    if !launches.is_empty() {
        compare::print_launches(&launches, terminal_columns(), out)?;
    }
    let compared: Vec<String> =
        launches.into_iter().map(|launch| launch.kernels[1].clone()).collect();
    match profiles.as_slice() {
        [profile] if !compared.contains(&profile.kernel) => {
            write!(out, "{}", annotate::figures(profile, Look::of_stdout()))?;
        }
        [] | [_] => {}
        _ => {
            let table = present::launches_table(&profiles).to_screen(terminal_columns());
            writeln!(out, "{table}")?;
        }
    }
    out.flush()?;
    Ok(compared)
}

/// Prints what was looked at besides; of kernels whose changes were printed the advice alone.
fn print_looks(
    profiles: &[Profile],
    compared: &[String],
    arguments: &ProfileArguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if !prints_tables(arguments) {
        return Ok(());
    }
    for profile in profiles {
        let advice = analyze::advice_of(profile);
        if compared.contains(&profile.kernel) {
            write!(out, "{}", annotate::advice(profile, &advice, Look::of_stdout()))?;
            continue;
        }
        if profiles.len() > 1 {
            write!(out, "{}", annotate::figures(profile, Look::of_stdout()))?;
        }
        write!(out, "{}", annotate::looks(profile, &advice, Look::of_stdout()))?;
        write!(out, "{}", annotate::machine_code(profile, arguments.sass, Look::of_stdout()))?;
    }
    Ok(())
}

/// What is said at places of the sources.
fn marks(profiles: &[Profile], violations: &[analyze::Violation], jobs: &[Job]) -> Vec<Mark> {
    let mut all = Vec::new();
    for profile in profiles {
        let mut marks = analyze::marks(profile, violations);
        if let Some(job) = jobs.iter().find(|job| job.launch.file == profile.file) {
            marks::put_on_sources(&mut marks, profile, &job.launch);
        }
        all.append(&mut marks);
    }
    all
}

/// Writes what other tools read.
fn export(
    profiles: &[Profile],
    run: &Run,
    marks: &[Mark],
    arguments: &ProfileArguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if let Some(path) = &arguments.export_json {
        export::json(run, marks, path, out)?;
    }
    if let Some(path) = &arguments.export_speedscope {
        let devices: Vec<DeviceProfile> =
            profiles.iter().flat_map(|profile| profile.devices.clone()).collect();
        let name = profiles.first().map_or("", |profile| &profile.kernel);
        export::value(&present::speedscope(name, &devices), path, out)?;
    }
    if let Some(path) = &arguments.sarif {
        export::value(&marks::sarif(marks), path, out)?;
    }
    if arguments.annotations.is_some() {
        write!(out, "{}", marks::annotations(marks))?;
    }
    if arguments.json_lines {
        writeln!(out, "{}", export::profile_event(profiles, marks))?;
    }
    Ok(out.flush()?)
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
