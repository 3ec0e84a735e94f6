//! The folder of a captured dispatch: opened, and held against what it says of itself.
//!
//! Input: a folder that somebody else may have written. Output: its launch file, and the bytes of files that
//! are as it says; or a sentence. Nothing outside the folder is read: names are plain, links are refused.

use std::path::{Component, Path, PathBuf};

use super::failure::{Exit, Failure};
use crate::kernel::Description;
use crate::kernel::captured::CaptureDescription;
use crate::run::launched::sha256_bytes;
use crate::run::profile::files::FILE_BYTES_MAX;
use crate::store;

/// The launch file's name.
pub(super) const LAUNCH: &str = "launch.toml";

/// The largest launch file of a captured dispatch, in bytes.
const LAUNCH_BYTES_MAX: u64 = 1 << 20;

/// The version of the format that is read.
const VERSION: u32 = 1;

/// The most bytes of all files of a folder.
const BYTES_MAX: u64 = 4 << 30;

/// How deep folders of captured dispatches are looked for: a capture holds frames, which hold dispatches.
const DEPTH: u32 = 2;

/// Whether a folder is a captured dispatch: its launch file says so.
pub(super) fn is_captured(folder: &Path) -> bool {
    let path = folder.join(LAUNCH);
    if !std::fs::symlink_metadata(&path).is_ok_and(|about| !about.is_dir()) {
        return false;
    }
    // What is no file, or cannot be read, is opened, which says why; a pipe would be waited for.
    let text = std::fs::metadata(&path)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .and_then(|_| store::read_file(&path, LAUNCH_BYTES_MAX).ok());
    text.is_none_or(|bytes| is_capture(&String::from_utf8_lossy(&bytes)))
}

/// Whether the text of a launch file is that of a captured dispatch.
pub(super) fn is_capture(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[capture]")
}

/// The captured dispatches in a folder, by their names; none where it holds none.
///
/// # Errors
///
/// Where a folder cannot be read, or one in it is a link.
pub(super) fn find(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    add(folder, DEPTH, &mut found)?;
    Ok(found)
}

fn add(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut inner: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    inner.sort();
    for path in inner {
        let about = std::fs::symlink_metadata(&path)?;
        if about.is_symlink() && path.is_dir() && is_captured(&path) {
            let message = format!("{} is a link: name the folder itself", path.display());
            return Err(Failure::message(Exit::BadInput, message));
        }
        if !about.is_dir() {
            continue;
        }
        if is_captured(&path) {
            found.push(path);
        } else if depth > 1 {
            add(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Opens a folder: gives the launch file's path as messages show it, and what it says.
///
/// # Errors
///
/// A sentence, where it is no folder of this format or says what cannot be.
pub(super) fn open(folder: &Path) -> Result<(String, Description), Failure> {
    let path = folder.join(LAUNCH);
    let file = path.display().to_string();
    let wrong = |message: String| Failure::message(Exit::BadInput, format!("{file}: {message}"));
    check_kind(&path).map_err(wrong)?;
    let bytes = store::read_file(&path, LAUNCH_BYTES_MAX);
    let bytes = bytes.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    let description = Description::parse_launch_file(&file, &text);
    let description =
        description.map_err(|error| Failure::message(Exit::BadInput, error.to_string()))?;
    let capture = description.capture.as_ref();
    let capture = capture.ok_or_else(|| wrong("it has no [capture]".to_owned()))?;
    if capture.version != VERSION {
        let found = capture.version;
        return Err(wrong(format!("its format is {found}, and this lanescope reads {VERSION}")));
    }
    let bytes = capture.files.values().fold(0_u64, |sum, note| sum.saturating_add(note.bytes));
    if bytes > BYTES_MAX {
        return Err(wrong(format!("its files have {bytes} bytes together; at most {BYTES_MAX}")));
    }
    for (name, note) in &capture.files {
        check_name(name).map_err(wrong)?;
        if note.bytes > FILE_BYTES_MAX {
            let bytes = note.bytes;
            return Err(wrong(format!("`{name}` has {bytes} bytes; at most {FILE_BYTES_MAX}")));
        }
    }
    Ok((file, description))
}

/// Reads a file of a folder, and holds it against its length and hash.
///
/// # Errors
///
/// A sentence: a path, a link, a file that the launch file does not list or that is not as it says.
pub(super) fn read(
    folder: &Path,
    capture: &CaptureDescription,
    name: &str,
) -> Result<Vec<u8>, String> {
    check_name(name)?;
    let note = capture.files.get(name).ok_or_else(|| {
        format!("`{name}` is not listed under [capture.files], so that nothing vouches for it")
    })?;
    let path = folder.join(name);
    check_kind(&path).map_err(|why| format!("`{name}`: {why}"))?;
    let bytes = store::read_file(&path, note.bytes.min(FILE_BYTES_MAX));
    let bytes = bytes.map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    if bytes.len() as u64 != note.bytes {
        let (found, expected) = (bytes.len(), note.bytes);
        return Err(format!("`{name}` has {found} bytes, and the launch file says {expected}"));
    }
    if sha256_bytes(&bytes) != note.sha256 {
        return Err(format!("`{name}` is not what was captured: its SHA-256 is another"));
    }
    Ok(bytes)
}

/// Refuses a name that is a path.
fn check_name(name: &str) -> Result<(), String> {
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if plain && !name.contains(['/', '\\', ':']) {
        return Ok(());
    }
    Err(format!("`{name}` is no plain name: files of a captured dispatch lie in its folder"))
}

/// Refuses what is no regular file, links first.
fn check_kind(path: &Path) -> Result<(), String> {
    match std::fs::symlink_metadata(path) {
        Err(error) => Err(format!("it cannot be read: {error}")),
        Ok(about) if about.is_symlink() => {
            Err("it is a link; a captured dispatch holds its files itself".to_owned())
        }
        Ok(about) if !about.is_file() => Err("it is no regular file".to_owned()),
        Ok(_) => Ok(()),
    }
}
