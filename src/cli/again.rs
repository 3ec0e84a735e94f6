//! `lanescope profile --watch`: profiles again whenever something that the launch is made of is saved.
//!
//! Input: the arguments of `profile`. Output: a profile, then what changed from the last run that went
//! well, each time. What goes wrong is told, and ends nothing. Files are looked at, not announced: their
//! times and sizes are the same on every system and for every editor, those that write a new file and
//! rename it among them. A folder is read each time: a shader that is new in it is profiled too.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::arguments::ProfileArguments;
use super::failure::{Exit, Failure, broken_pipe, chain};
use super::{captured, profile, shader, source_files};
use crate::kernel::Description;
use crate::kernel::texture_description::TexelFillDescription;
use crate::record::Run;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(150);

/// A file, and its time and size: `None` if it is not there.
type Look = (PathBuf, Option<(SystemTime, u64)>);

/// Profiles until the process is ended, or nobody reads what it prints.
pub(super) fn watch(arguments: &ProfileArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let condition = profile::condition(arguments)?;
    profile::check_stdout(arguments)?;
    let condition = condition.as_ref();
    let mut shaders = shader::expand(&arguments.shaders)?;
    if shaders.iter().any(|path| path == Path::new(shader::STDIN)) {
        let message = "--watch looks at files: give it a file in place of -";
        return Err(Failure::message(Exit::BadInput, message));
    }
    let mut good: Option<Run> = None;
    for number in 1_u32.. {
        let seen = look(arguments, &shaders);
        let folder = arguments.out.as_ref().map(|folder| folder.join(number.to_string()));
        let before = good.as_ref();
        let folder = folder.as_deref();
        let done = profile::once(arguments, &shaders, condition, folder, before, out);
        match done {
            Ok((Exit::Done | Exit::CheckFailed, run)) => good = Some(run),
            Ok(_) => {}
            Err(failure) if broken_pipe(&failure.error) => return Err(failure),
            Err(failure) => {
                let why = chain(&failure.error);
                writeln!(super::screen::stderr(), "lanescope: {why}")?;
                if arguments.json_lines {
                    let event = serde_json::json!({ "event": "error", "message": why });
                    writeln!(out, "{event}")?;
                    out.flush()?;
                }
            }
        }
        writeln!(super::screen::stderr(), "Watching {}", list(&arguments.shaders))?;
        shaders = wait(arguments, shaders, &seen);
    }
    Ok(Exit::Done)
}

/// Waits until something is other than it was seen, and then stands still; gives the shaders that there are then,
/// or those that were where a folder has none.
fn wait(arguments: &ProfileArguments, mut shaders: Vec<PathBuf>, seen: &[Look]) -> Vec<PathBuf> {
    let again = |shaders: &mut Vec<PathBuf>| {
        std::thread::sleep(PERIOD);
        *shaders = shader::expand(&arguments.shaders).unwrap_or_else(|_| shaders.clone());
        look(arguments, shaders)
    };
    let mut now = again(&mut shaders);
    while now == seen {
        now = again(&mut shaders);
    }
    // A file is often written in steps: what is read is what stands still.
    loop {
        let next = again(&mut shaders);
        if next == now {
            return shaders;
        }
        now = next;
    }
}

fn list(shaders: &[PathBuf]) -> String {
    shaders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What is seen now of all that the launches are made of.
fn look(arguments: &ProfileArguments, shaders: &[PathBuf]) -> Vec<Look> {
    let seen = |path: &Path| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    let files = files(arguments, shaders);
    files.into_iter().map(|path| (path.clone(), seen(&path))).collect()
}

/// Everything that the launches are made of: the shaders, the files that they were compiled or preprocessed
/// from, the launch file and the data that it names.
fn files(arguments: &ProfileArguments, shaders: &[PathBuf]) -> Vec<PathBuf> {
    let sources = shaders.iter().flat_map(|path| source_files::source_files(path));
    let launch = arguments.how.launch.as_deref();
    let data = launch.map(data_files).unwrap_or_default();
    let captured = shaders.iter().filter(|path| path.is_dir());
    let captured = captured.map(|folder| folder.join(captured::LAUNCH));
    let launch = launch.map(Path::to_owned);
    shaders.iter().cloned().chain(sources).chain(launch).chain(captured).chain(data).collect()
}

/// The files that a launch file fills buffers and textures from; empty if it cannot be read now.
fn data_files(launch: &Path) -> Vec<PathBuf> {
    let Ok(text) = std::fs::read_to_string(launch) else { return Vec::new() };
    let parsed = Description::parse(&launch.display().to_string(), &text);
    let Ok(description) = parsed else { return Vec::new() };
    let folder = launch.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    for buffer in &description.buffers {
        buffer
            .fill
            .for_each_file(&buffer.name, &mut |_, file| files.push(folder.join(file.name())));
    }
    let texels = |fill: &TexelFillDescription| match fill {
        TexelFillDescription::File(file) => Some(folder.join(file.name())),
        _ => None,
    };
    let textures =
        description.textures.iter().filter_map(|texture| texture.fill.as_ref().and_then(texels));
    files.extend(textures);
    files
}
