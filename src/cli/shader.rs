//! A shader of the user's own, as the command line names it: read, and made into a launch.
//!
//! Input: paths and options. Output: a [`ProfileRequest`] and its [`Launch`], or the failure with the
//! options that help. Nothing is run.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::arguments::LaunchArguments;
use super::devices::Choice;
use super::failure::{Exit, Failure, hint};
use super::{captured, foreign, screen, source_files};
use crate::binary::SpirV;
use crate::kernel::{Description, Launch, Workgroups, near_matches};
use crate::program::{ProgramError, Text};
use crate::record::{Limit, LimitOf};
use crate::run::caught;
use crate::run::profile::files::FILE_BYTES_MAX;
use crate::run::profile::pilot::prepare_affordable;
use crate::run::profile::{Prepared, ProfileError, ProfileRequest};
use crate::store;
use crate::units::grouped_text;
use crate::units::visible::visible_line;

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";

/// What the shader from there is called.
const STDIN_NAME: &str = "stdin.wgsl";

/// Invocations of one dispatch from which on the user is warned that a simulator may take minutes.
const INVOCATIONS_MANY: u64 = 1 << 27;

/// Seconds that naga's front end takes for each pair of words of a function, about: 1.4 s for a function of
/// 10,000 lines of six words and operators each, on a core of 2024. Lines that index take as long as that, others less.
const READING_S: f64 = 1.4 / 60_000.0 / 60_000.0;

/// Seconds of reading from which on it is said how long it takes.
const READING_LONG_S: f64 = 2.0;

/// The largest shader or launch file that is read, in bytes.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// Whether a file's name is that of a shader.
fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wgsl" || ending == "spv")
}

/// The shaders that paths name: of a folder, the captured dispatches in it, else its files that end in
/// `.wgsl` or `.spv`, by their names. The folder of one captured dispatch stands for itself.
///
/// # Errors
///
/// Where a folder cannot be read, or has none.
pub(super) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut shaders = Vec::new();
    for path in paths {
        let is_shader = has_ending(path);
        if !path.is_dir() || is_shader || captured::is_captured(path) {
            shaders.push(path.clone());
            continue;
        }
        let mut dispatches = captured::find(path)?;
        if !dispatches.is_empty() {
            shaders.append(&mut dispatches);
            continue;
        }
        let entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        let mut found: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        found.retain(|file| has_ending(file));
        found.sort();
        if found.is_empty() {
            let message = format!(
                "{} holds no file that ends in .wgsl or .spv, and no captured dispatch",
                path.display()
            );
            return Err(Failure::message(Exit::BadInput, message));
        }
        shaders.append(&mut found);
    }
    Ok(shaders)
}

/// What the arguments ask for, with the files that they name.
///
/// # Errors
///
/// What cannot be read, and options that have no effect.
pub(super) fn request(shader: &Path, how: &LaunchArguments) -> Result<ProfileRequest, Failure> {
    if captured::is_captured(shader) {
        return captured_request(shader, how);
    }
    let bytes = read_shader(shader)?;
    let (source, derived) = if SpirV::is(&bytes) {
        (String::new(), Some(source_files::read(shader, &bytes)?))
    } else {
        let text = to_text(shader, bytes)?;
        if let Some(known) = foreign::toml(shader, &text, Path::is_file) {
            return Err(Failure::message(Exit::BadInput, known));
        }
        tell_of_length(shader, &text);
        let derived = match shader == Path::new(STDIN) {
            true => None,
            false => source_files::read_mapped(shader, &text)?,
        };
        (text, derived)
    };
    let description = how.launch.as_deref().map(|path| read_description(path, shader, how));
    let description = description.transpose()?;
    tell_of_launch_file(shader, how);
    let shader = if shader == Path::new(STDIN) { Path::new(STDIN_NAME) } else { shader };
    let stem = shader.file_stem().unwrap_or_default();
    Ok(ProfileRequest {
        file: shader.display().to_string(),
        name: stem.to_string_lossy().into_owned(),
        source,
        derived,
        description,
        entry_point: how.entry.clone(),
        workgroups: how.workgroups,
        n: how.n,
        seed: how.seed,
    })
}

/// Says that a launch file stands beside the shader where none is asked for: `--init` puts it there.
fn tell_of_launch_file(shader: &Path, how: &LaunchArguments) {
    let beside = shader.with_extension("toml");
    if how.launch.is_none() && shader != Path::new(STDIN) && beside.is_file() {
        let beside = beside.display().to_string();
        let beside = visible_line(&beside);
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(
            screen::stderr(),
            "{beside} stands beside the shader and is not used: --launch {beside}"
        );
    }
}

/// What the folder of a captured dispatch asks for.
fn captured_request(folder: &Path, how: &LaunchArguments) -> Result<ProfileRequest, Failure> {
    let (file, mut description) = captured::open(folder)?;
    if let Some(launch) = &how.launch {
        let message = format!(
            "--launch {} has no effect: {} has a launch file of its own, {file}",
            launch.display(),
            folder.display()
        );
        return Err(Failure::message(Exit::BadInput, message));
    }
    check_options(&file, &description, how)?;
    let Some(capture) = &description.capture else {
        return Err(Failure::message(Exit::BadInput, format!("{file}: it has no [capture]")));
    };
    let shader = folder.join(&capture.shader);
    let bytes = captured::read(folder, capture, &capture.shader)
        .map_err(|message| Failure::message(Exit::BadInput, format!("{file}: {message}")))?;
    let (source, derived) = if SpirV::is(&bytes) {
        (String::new(), Some(source_files::read(&shader, &bytes)?))
    } else {
        let text = to_text(&shader, bytes)?;
        let derived = source_files::read_mapped(&shader, &text)?;
        (text, derived)
    };
    if description.question.is_empty() {
        description.question = capture.sentence();
    }
    // A folder may be named `.`.
    let name = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Ok(ProfileRequest {
        file: shader.display().to_string(),
        name: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        source,
        derived,
        description: Some((file, description)),
        entry_point: how.entry.clone(),
        workgroups: how.workgroups,
        n: how.n,
        seed: how.seed,
    })
}

/// A launch file's path and what it says.
fn read_description(
    path: &Path,
    shader: &Path,
    how: &LaunchArguments,
) -> Result<(String, Description), Failure> {
    let file = path.display().to_string();
    let with_way = |error: String| {
        let shader = shader.display();
        let way = format!("`lanescope profile --init {shader}` writes a file to start from");
        Failure::message(Exit::BadInput, format!("{error}\n{way}"))
    };
    let text =
        read_text(path).map_err(|failure| with_way(format!("--launch {}", failure.error)))?;
    let description = Description::parse_launch_file(&file, &text).map_err(|error| {
        let mut message = error.to_string();
        if message.contains("invalid type: map, expected a sequence") {
            message += "\nlists of tables have two brackets: [[buffers]], [[dispatches]]";
        }
        with_way(message)
    })?;
    check_options(&file, &description, how)?;
    Ok((file, description))
}

/// Refuses options that a launch file leaves without effect.
fn check_options(
    file: &str,
    description: &Description,
    how: &LaunchArguments,
) -> Result<(), Failure> {
    let options = [("--entry", how.entry.is_some()), ("--workgroups", how.workgroups.is_some())];
    for (option, given) in options {
        if given && !description.dispatches.is_empty() {
            let message =
                format!("{option} has no effect: {file} has [[dispatches]]; change them there");
            return Err(Failure::message(Exit::BadInput, message));
        }
    }
    Ok(())
}

/// The launch, with what it was made from; files that the launch file names lie beside it.
///
/// # Errors
///
/// Why there is no launch, with the options that help.
pub(super) fn prepare(
    request: &ProfileRequest,
    how: &LaunchArguments,
) -> Result<Prepared, Failure> {
    let launch = request.description.as_ref();
    let folder = launch.and_then(|(file, _)| Path::new(file).parent()).unwrap_or(Path::new(""));
    let capture = launch.and_then(|(_, description)| description.capture.as_ref());
    let mut read = |name: &str| {
        if let Some(capture) = capture {
            return captured::read(folder, capture, name);
        }
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
        Ok(Ok(prepared)) => check_memory(prepared, how.memory_max),
        Ok(Err(error)) => Err(to_failure(error, request)),
        Err(panic) => Err(Failure::message(Exit::PartFailed, panic.to_string())),
    }
}

/// Refuses a launch whose buffers and textures take more mebibytes than they may, before any is made.
fn check_memory(prepared: Prepared, mebibytes_max: u64) -> Result<Prepared, Failure> {
    let launch = &prepared.launch;
    let bytes_max = mebibytes_max.saturating_mul(1 << 20);
    let bytes = launch.bytes();
    let buffers = launch.buffers.iter().map(|buffer| (&buffer.name, buffer.size));
    let textures = launch.textures.iter().map(|t| (&t.name, t.layout.bytes()));
    let largest = buffers.chain(textures).max_by_key(|(_, size)| *size);
    let Some((name, size)) = largest.filter(|_| bytes > bytes_max) else { return Ok(prepared) };
    let what = if launch.textures.is_empty() { "buffers" } else { "buffers and textures" };
    let message = format!(
        "{}: the {what} take {bytes} bytes, `{name}` alone {size}; at most {bytes_max} ({})",
        launch.file,
        hint(Limit { which: LimitOf::MemoryBytes, value: bytes_max })
    );
    Err(Failure::message(Exit::BadInput, message))
}

/// The failure of a shader that cannot be launched, with the options that help.
pub(super) fn to_failure(error: ProfileError, request: &ProfileRequest) -> Failure {
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
    to_text(path, read_shader(path)?)
}

/// Reads a file, or standard input where the path is `-`.
fn read_shader(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new(STDIN) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            let message = format!("standard input has over {TEXT_BYTES_MAX} bytes, the limit");
            return Err(Failure::message(Exit::BadInput, message));
        }
        return Ok(bytes);
    }
    store::read_file(path, TEXT_BYTES_MAX).map_err(|error| {
        let hint = files_meant(path);
        let message = if path.exists() {
            format!("{} cannot be read: {error}", path.display())
        } else {
            format!(
                "{} cannot be read: there is no such file in {}{hint}",
                path.display(),
                folder_text(path)
            )
        };
        Failure::message(Exit::BadInput, message)
    })
}

/// The folder in which a file is looked for, in words.
pub(super) fn folder_text(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or("this folder".to_owned(), |folder| folder.display().to_string())
}

/// The files of the same folder that a name may have been meant for; nothing where the file is there.
pub(super) fn files_meant(path: &Path) -> String {
    let (false, Some(name)) = (path.exists(), path.file_name().and_then(|name| name.to_str()))
    else {
        return String::new();
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let names: Vec<String> = files
        .into_iter()
        .flatten()
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter(|file| {
            let packed = |name: &str| store::ENDINGS.iter().any(|ending| name.ends_with(ending));
            Path::new(file).extension() == path.extension() || (packed(file) && packed(name))
        })
        .collect();
    near_matches(name, names.iter().map(String::as_str))
}

/// The text that a file holds.
fn to_text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        let message = match path == Path::new(STDIN) {
            true => "standard input is not UTF-8 text".to_owned(),
            false => format!("{} cannot be read: it is not UTF-8 text", path.display()),
        };
        Failure::message(Exit::BadInput, message)
    })
}

/// Says how long a shader with a very long function will be read, so that nobody takes it for hung.
fn tell_of_length(path: &Path, text: &str) {
    let text = Text::new("", text);
    let Some((name, words)) = text.longest_function() else { return };
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = (words as f64).powi(2) * READING_S;
    if seconds >= READING_LONG_S {
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(
            screen::stderr(),
            "{}: reading it takes some {seconds:.0} s, with the square of the length of its longest \
             function, `{name}`; cut into several it takes a part of that",
            path.display()
        );
    }
}

/// Says beforehand that a simulator will take long, so that nobody takes it for hung.
///
/// # Errors
///
/// Where the shader cannot be used.
pub(super) fn warn_of_size(launch: &Launch, choices: &[Choice]) -> Result<(), Failure> {
    let simulated = choices.iter().any(|choice| !choice.is_device());
    let programs = crate::run::launched::programs(launch).map_err(Failure::bad_input)?;
    for (dispatch, program) in launch.dispatches.iter().zip(programs.iter()) {
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
