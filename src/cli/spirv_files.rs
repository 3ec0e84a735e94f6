//! A SPIR-V file with the source that lies beside it.
//!
//! Input: the file's bytes. Output: its module, where the files that it names without their text have been
//! looked for: by their path as the compiler wrote it, and by their name, in the folder of the `.spv`.
//! Paths that lead out of that folder are not followed.

use std::path::{Component, Path, PathBuf};

use super::failure::{Exit, Failure};
use crate::binary::SpirV;
use crate::program::read_spirv;
use crate::store;

/// The largest source file that is read, in bytes.
const SOURCE_BYTES_MAX: u64 = 4 << 20;

/// Reads a module, and the texts of its source.
///
/// # Errors
///
/// Where the bytes are no SPIR-V.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<SpirV, Failure> {
    let read = read_spirv(&path.display().to_string(), bytes);
    let mut spirv = read.map_err(|error| Failure::message(Exit::BadInput, error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for file in spirv.files.iter_mut().filter(|file| file.text.is_none()) {
        file.text = candidates(folder, &file.name).iter().find_map(|path| text(path));
    }
    Ok(spirv)
}

/// Where the source files of a module may lie whose texts it does not hold; empty if it cannot be read now.
pub(super) fn source_files(path: &Path) -> Vec<PathBuf> {
    let Ok(bytes) = store::read_file(path, SOURCE_BYTES_MAX) else { return Vec::new() };
    let Ok(spirv) = read_spirv(&path.display().to_string(), &bytes) else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let outside = spirv.files.iter().filter(|file| file.text.is_none());
    outside.flat_map(|file| candidates(folder, &file.name)).collect()
}

/// Where a source file may lie, the likeliest first.
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    // Compilers on Windows write their separators.
    let name = name.replace('\\', "/");
    let path = Path::new(&name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let whole = (inside && !name.is_empty()).then(|| folder.join(path));
    let last = path.file_name().map(|last| folder.join(last));
    whole.into_iter().chain(last).collect()
}

fn text(path: &Path) -> Option<String> {
    std::fs::symlink_metadata(path).ok().filter(|about| about.is_file())?;
    String::from_utf8(store::read_file(path, SOURCE_BYTES_MAX).ok()?).ok()
}
