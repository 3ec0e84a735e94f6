//! `lanescope profile`: a shader of the user's own.
//!
//! Input: a WGSL file, a launch file where there is one. Output: a result file with a measurement for
//! each device, a page, the lines that waste lanes. With `--init`: a launch file to start from.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::annotate::{self, Look};
use super::arguments::ProfileArguments;
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure};
use super::run::{Job, RESULT_FILE, complain, exit};
use super::{export, render};
use crate::analyze::{self, Condition};
use crate::kernel::{Catalogue, Description, Launch};
use crate::record::Run;
use crate::run::profile::Request;
use crate::run::profile::pilot::prepare_affordable;
use crate::run::profile::template::template;
use crate::run::profile::twice::Twice;
use crate::run::session::SessionOptions;
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountOptions, RunError, Runner};

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
    let asked = !arguments.device.is_empty();
    let mut job = Job::new(arguments.out.as_deref(), asked, &available, &choices)?;
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    for choice in &choices {
        count(&mut job, choice, &launch, arguments, &catalogue)?;
    }
    finish(job, arguments, condition.as_ref(), out)
}

/// What the arguments ask for, with the files that they name.
fn request(arguments: &ProfileArguments) -> Result<Request, Failure> {
    let source = read_text(&arguments.shader)?;
    let description = arguments.launch.as_deref().map(|path| described(path, arguments));
    let description = description.transpose()?;
    let stem = arguments.shader.file_stem().unwrap_or_default();
    Ok(Request {
        file: arguments.shader.display().to_string(),
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
fn described(path: &Path, arguments: &ProfileArguments) -> Result<(String, Description), Failure> {
    let file = path.display().to_string();
    let description = Description::parse(&file, &read_text(path)?).map_err(Failure::bad_input)?;
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
fn launch(request: &Request, arguments: &ProfileArguments) -> Result<Launch, Failure> {
    let folder = arguments.launch.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let mut read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| {
            format!(
                "{} cannot be read: {error}; paths are relative to the launch file",
                path.display()
            )
        })
    };
    let prepared = prepare_affordable(request, &mut read).map_err(Failure::bad_input)?;
    Ok(prepared.launch)
}

/// Reads a text file.
fn read_text(path: &Path) -> Result<String, Failure> {
    let problem = |what: String| {
        Failure::message(Exit::BadInput, format!("{} cannot be read: {what}", path.display()))
    };
    let bytes = std::fs::metadata(path).map_err(|error| problem(error.to_string()))?.len();
    if bytes > TEXT_BYTES_MAX {
        return Err(problem(format!("it has {bytes} bytes, over the limit of {TEXT_BYTES_MAX}")));
    }
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| problem("it is not UTF-8 text".to_owned()))
}

/// Writes the launch file beside the shader.
fn init(request: &Request, shader: &Path) -> Result<Exit, Failure> {
    let path: PathBuf = shader.with_extension("toml");
    let text = template(request).map_err(Failure::bad_input)?;
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
    let stderr = &mut anstream::stderr();
    writeln!(stderr, "Launch file: {}", path.display())?;
    writeln!(
        stderr,
        "Use it with: lanescope profile {} --launch {}",
        shader.display(),
        path.display()
    )?;
    Ok(Exit::Done)
}

/// Counts the launch on one device.
fn count(
    job: &mut Job,
    choice: &Choice,
    launch: &Launch,
    arguments: &ProfileArguments,
    catalogue: &Catalogue,
) -> Result<(), Failure> {
    job.progress.set_message(format!("{}: opening", choice.id()));
    job.progress.enable_steady_tick(Duration::from_millis(120));
    let silence_max = Duration::from_secs(arguments.time_limit);
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        Ok(match choice {
            Choice::Simulator(width) => {
                let simulator = SimulatorRunner::new(*width, arguments.steps);
                Box::new(simulator.strict(arguments.strict))
            }
            Choice::Wgpu { .. } | Choice::Cuda { .. } => {
                let mut runner = choice.worker(false, silence_max)?;
                runner.test_counting(catalogue)?;
                Box::new(Twice::new(Box::new(runner), arguments.exact))
            }
        })
    };
    let options = SessionOptions {
        count: CountOptions { histogram: true, derived: false },
        timing: None,
        samples_min: 0,
        noise_ratio_max: 0.0,
    };
    job.session(choice, &mut open, &[vec![launch.clone()]], &options)
}

/// Tables, the export, the page; then the exit code.
fn finish(
    job: Job,
    arguments: &ProfileArguments,
    condition: Option<&Condition>,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    job.progress.finish_and_clear();
    let Job { folder, run, unopened, opened, .. } = job;
    let profiles = analyze::profiles(&run);
    if !export::is_stdout(arguments.export_json.as_deref()) {
        for profile in &profiles {
            let advice = analyze::advice_of(profile);
            write!(out, "{}", annotate::text(profile, &advice, Look::of_stdout()))?;
        }
    }
    out.flush()?;
    if let Some(path) = &arguments.export_json {
        export::json(&run, path, out)?;
    }
    let page = match profiles.first() {
        Some(profile) => Some(render::profile_page(&folder, profile, &run)?),
        None => None,
    };
    let stderr = &mut anstream::stderr();
    tell_findings(&run, stderr)?;
    writeln!(stderr, "Results: {}", folder.join(RESULT_FILE).display())?;
    if let Some(page) = page {
        writeln!(stderr, "Page:    {}", page.display())?;
    }
    for measurement in &run.measurements {
        complain(measurement, stderr)?;
    }
    let violations = condition.map(|condition| condition.violations(&run)).unwrap_or_default();
    for violation in &violations {
        writeln!(stderr, "--fail-on: {violation}")?;
    }
    Ok(match exit(&run, unopened, opened) {
        Exit::Done if !violations.is_empty() => Exit::CheckFailed,
        code => code,
    })
}

/// Says what was found about the launch, each thing once with its devices.
fn tell_findings(run: &Run, stderr: &mut impl Write) -> Result<(), Failure> {
    // Failures are told by themselves, with their reasons.
    let findings = analyze::findings(run, &analyze::Catalogue::default());
    for finding in findings.into_iter().filter(|finding| finding.flag != "failed") {
        let analyze::Finding { flag, explanation, places } = finding;
        writeln!(stderr, "{flag} ({}): {explanation}", places.join("; "))?;
    }
    Ok(())
}
