//! `lanescope profile --watch`: profiles again whenever something that the launch is made of is saved.
//!
//! Input: the arguments of `profile`. Output: a profile, then what changed from the last run that went
//! well, each time. What goes wrong is told, and ends nothing. Files are looked at, not announced: their
//! times and sizes are the same on every system and for every editor, those that write a new file and
//! rename it among them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::arguments::ProfileArguments;
use super::failure::{Exit, Failure, broken_pipe, chain};
use super::{profile, shader, spirv};
use crate::kernel::Description;
use crate::kernel::format::FillDescription;
use crate::kernel::texture_description::TexelFillDescription;
use crate::record::Run;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(150);

/// What is seen of a file: nothing where it is not there.
type Seen = Option<(SystemTime, u64)>;

/// Profiles until the process is ended, or nobody reads what it prints.
pub(super) fn watch(arguments: &ProfileArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let condition = profile::condition(arguments)?;
    let condition = condition.as_ref();
    let shaders = &shader::expand(&arguments.shaders)?[..];
    if shaders.iter().any(|path| path == Path::new(shader::STDIN)) {
        let message = "--watch looks at files: give it a file in place of -";
        return Err(Failure::message(Exit::BadInput, message));
    }
    let mut good: Option<Run> = None;
    for number in 1_u32.. {
        let files = files(arguments, shaders);
        let seen = look(&files);
        let folder = arguments.out.as_ref().map(|folder| folder.join(number.to_string()));
        let before = good.as_ref();
        let done = profile::once(arguments, shaders, condition, folder.as_deref(), before, out);
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
        writeln!(super::screen::stderr(), "Watching {}", list(shaders))?;
        while look(&files) == seen {
            std::thread::sleep(PERIOD);
        }
        // A file is often written in steps: what is read is what stands still.
        let mut now = look(&files);
        loop {
            std::thread::sleep(PERIOD);
            let next = look(&files);
            if next == now {
                break;
            }
            now = next;
        }
    }
    Ok(Exit::Done)
}

fn list(shaders: &[PathBuf]) -> String {
    shaders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What is seen of files now.
fn look(files: &[PathBuf]) -> Vec<Seen> {
    let seen = |path: &PathBuf| -> Seen {
        let about = std::fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    files.iter().map(seen).collect()
}

/// Everything that the launches are made of: the shaders, the files that a module in SPIR-V was compiled
/// from, the launch file and the data that it names.
fn files(arguments: &ProfileArguments, shaders: &[PathBuf]) -> Vec<PathBuf> {
    let modules =
        shaders.iter().filter(|path| path.extension().is_some_and(|extension| extension == "spv"));
    let sources = modules.flat_map(|path| spirv::source_files(path));
    let launch = arguments.how.launch.as_deref();
    let data = launch.map(data_files).unwrap_or_default();
    shaders.iter().cloned().chain(sources).chain(launch.map(Path::to_owned)).chain(data).collect()
}

/// The files that a launch file fills buffers and textures from; nothing where it cannot be read now.
fn data_files(launch: &Path) -> Vec<PathBuf> {
    let Ok(text) = std::fs::read_to_string(launch) else { return Vec::new() };
    let parsed = Description::parse(&launch.display().to_string(), &text);
    let Ok(description) = parsed else { return Vec::new() };
    let folder = launch.parent().unwrap_or(Path::new(""));
    let file = |fill: &FillDescription| match fill {
        FillDescription::File(name) => Some(folder.join(name)),
        _ => None,
    };
    let texels = |fill: &TexelFillDescription| match fill {
        TexelFillDescription::File(name) => Some(folder.join(name)),
        _ => None,
    };
    let buffers = description.buffers.iter().filter_map(|buffer| file(&buffer.fill));
    let textures =
        description.textures.iter().filter_map(|texture| texture.fill.as_ref().and_then(texels));
    buffers.chain(textures).collect()
}
