//! A shader that was made from other files, with those of them that lie beside it.
//!
//! Input: a SPIR-V file's bytes, or WGSL with the line map beside it. Output: the module or the WGSL, where the files that
//! it names without their text have been looked for: by their path as the compiler or preprocessor wrote it, and by
//! their name, in the folder of the shader. Paths and links that lead out of that folder are not followed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use super::failure::{Exit, Failure};
use super::screen;
use crate::binary::{Derived, LinePlace, MappedWgsl, SourceFile, SpirV};
use crate::program::read_spirv;
use crate::store;
use crate::units::text::listed;
use crate::units::visible::visible_line;

/// The largest source file that is read, in bytes.
const SOURCE_BYTES_MAX: u64 = 4 << 20;

/// The most bytes of all source files of a line map together.
const SOURCES_BYTES_MAX: usize = 16 << 20;

/// The most files that a line map names.
const FILES_MAX: usize = 1000;

/// The largest line map that is read, in bytes.
const MAP_BYTES_MAX: u64 = 16 << 20;

/// What the name of a line map has behind its shader's.
const MAP_ENDING: &str = ".map.json";

/// An entry of a line map.
type Entry = Option<(String, u32)>;

/// Reads a module, and the texts of its source.
///
/// # Errors
///
/// Where the bytes are no SPIR-V.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Derived, Failure> {
    let read = read_spirv(&path.display().to_string(), bytes);
    let mut spirv = read.map_err(|error| Failure::message(Exit::BadInput, error))?;
    for file in spirv.files.iter_mut().filter(|file| file.text.is_none()) {
        file.text = find_text(path, &file.name);
    }
    Ok(Derived::SpirV(spirv))
}

/// Reads the line map beside WGSL, and the files that it names; `None` where there is no map, or none of its files.
///
/// # Errors
///
/// A sentence, where the map is none or does not fit.
pub(super) fn read_mapped(path: &Path, text: &str) -> Result<Option<Derived>, Failure> {
    let map = map_path(path);
    let Ok(about) = std::fs::symlink_metadata(&map) else { return Ok(None) };
    let shown = visible_line(&map.display().to_string()).into_owned();
    let wrong = |message: String| {
        let way = format!("make {} and its map anew, or remove the map", path.display());
        Failure::message(Exit::BadInput, format!("{shown}: {message}; {way}"))
    };
    if !about.is_file() {
        return Err(wrong("it is a link, or no regular file".to_owned()));
    }
    let bytes = store::read_file(&map, MAP_BYTES_MAX);
    let bytes = bytes.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let entries = entries(&bytes).map_err(wrong)?;
    let lines = text.lines().count();
    // Some count what stands behind the last line's end.
    let empty = usize::from(text.is_empty() || text.ends_with('\n'));
    if !(lines..=lines + empty).contains(&entries.len()) {
        let count = entries.len();
        let message = format!("it has {count} entries, and the shader has {lines} lines");
        return Err(wrong(message));
    }
    let mapped = with_texts(path, text, entries).map_err(wrong)?;
    check_lines(&mapped).map_err(wrong)?;
    let missing: Vec<&str> =
        mapped.files.iter().filter(|f| f.text.is_none()).map(|f| f.name.as_str()).collect();
    if !missing.is_empty() {
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(
            screen::stderr(),
            "{shown}: figures stand on the WGSL where they are of files that are no text in the \
             shader's folder; put there: {}",
            visible_line(&listed(&missing))
        );
    }
    let known = missing.len() < mapped.files.len();
    Ok(known.then_some(Derived::Wgsl(mapped)))
}

/// Where the files may lie that a shader was made from, and the map that names them; without those whose text a module
/// holds, and empty if it cannot be read now.
pub(super) fn source_files(path: &Path) -> Vec<PathBuf> {
    let found = |names: Vec<String>| -> Vec<PathBuf> {
        names.iter().flat_map(|name| candidates(folder(path), name)).collect()
    };
    if path.extension().is_some_and(|ending| ending == "spv") {
        let Ok(bytes) = store::read_file(path, SOURCE_BYTES_MAX) else { return Vec::new() };
        let Ok(SpirV { files, .. }) = read_spirv(&path.display().to_string(), &bytes) else {
            return Vec::new();
        };
        let outside = files.into_iter().filter(|file| file.text.is_none());
        return found(outside.map(|file| file.name).collect());
    }
    let map = map_path(path);
    let named = std::fs::symlink_metadata(&map)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .and_then(|_| store::read_file(&map, MAP_BYTES_MAX).ok())
        .and_then(|bytes| entries(&bytes).ok())
        .unwrap_or_default();
    let mut names: Vec<String> = named.into_iter().flatten().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(FILES_MAX);
    let mut files = found(names);
    files.push(map);
    files
}

/// Where the line map of WGSL lies.
fn map_path(shader: &Path) -> PathBuf {
    let mut path = shader.as_os_str().to_owned();
    path.push(MAP_ENDING);
    PathBuf::from(path)
}

/// What a line map holds: for each line of the WGSL a file and a line, or nothing.
fn entries(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    serde_json::from_slice(bytes).map_err(|error| {
        let form = r#"[["file", line], null, …], an entry for each line of the shader"#;
        format!("it is no line map ({error}); one is {form}")
    })
}

/// The WGSL with its places, and the texts of the files that lie beside it.
fn with_texts(path: &Path, text: &str, entries: Vec<Entry>) -> Result<MappedWgsl, String> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut files: Vec<SourceFile> = Vec::new();
    let mut lines = Vec::new();
    for entry in entries {
        let place = entry.map(|(name, line)| {
            let file = *known.entry(name).or_insert_with_key(|name| {
                files.push(SourceFile { name: name.clone(), text: None });
                files.len() - 1
            });
            LinePlace { file, line }
        });
        lines.push(place);
    }
    if files.len() > FILES_MAX {
        return Err(format!("it names {} files; at most {FILES_MAX}", files.len()));
    }
    let mut bytes = 0;
    for file in &mut files {
        file.text = find_text(path, &file.name);
        bytes += file.text.as_ref().map_or(0, String::len);
        if bytes > SOURCES_BYTES_MAX {
            return Err(format!("its files have over {SOURCES_BYTES_MAX} bytes together"));
        }
    }
    Ok(MappedWgsl { text: text.to_owned(), files, lines })
}

/// Refuses places that are not in their file, which is another than the one that the map was made of.
fn check_lines(mapped: &MappedWgsl) -> Result<(), String> {
    let count = |file: &SourceFile| file.text.as_ref().map(|text| text.lines().count());
    let counts: Vec<Option<usize>> = mapped.files.iter().map(count).collect();
    for (place, number) in mapped.lines.iter().zip(1..) {
        let Some(LinePlace { file, line }) = *place else { continue };
        let name = visible_line(&mapped.files[file].name);
        if line == 0 {
            return Err(format!("its entry {number} is line 0 of {name}, and lines count from 1"));
        }
        if let Some(count) = counts[file].filter(|count| line as usize > *count) {
            let message = format!("its entry {number} is line {line} of {name}, which has {count}");
            return Err(message);
        }
    }
    Ok(())
}

/// Where a source file of a shader lies, where it is there.
pub(super) fn find(shader: &Path, name: &str) -> Option<PathBuf> {
    candidates(folder(shader), name).into_iter().find(|path| is_inside(folder(shader), path))
}

/// The folder in which a shader lies.
fn folder(shader: &Path) -> &Path {
    shader.parent().unwrap_or(Path::new(""))
}

/// Where a source file may lie, the likeliest first.
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    // Compilers on Windows write their separators.
    let name = name.replace('\\', "/");
    let path = Path::new(&name);
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let inside = path.components().all(|part| is_plain(&part) || part == Component::CurDir);
    let plain: PathBuf = path.components().filter(is_plain).collect();
    let whole = (inside && !plain.as_os_str().is_empty()).then(|| folder.join(plain));
    let last = path.file_name().map(|last| folder.join(last));
    whole.into_iter().chain(last).collect()
}

/// The text of a source file of a shader.
fn find_text(shader: &Path, name: &str) -> Option<String> {
    String::from_utf8(store::read_file(&find(shader, name)?, SOURCE_BYTES_MAX).ok()?).ok()
}

/// Whether a path is a file in a folder, without links out of it.
fn is_inside(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A folder on the way may be a link.
    let whole = [path, folder].map(Path::canonicalize);
    let inside = matches!(&whole, [Ok(path), Ok(folder)] if path.starts_with(folder));
    inside && std::fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
}
