//! The files by which Vulkan's loader finds drivers.
//!
//! Input: the environment and the loader's folders. Output: the files, each with what is wrong with it as
//! far as that can be seen without loading the driver; and the variables that have the loader use some of
//! them alone. The order of folders is that of the loader's document `LoaderDriverInterface.md`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::run::back_end::{DriverFile, Drivers};

/// How single drivers are asked.
pub const DRIVERS: Drivers = Drivers { files, only };

/// The variables that name drivers, those that count first: the second is the older one.
const NAMED: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The variable that adds drivers.
const ADDED: &str = "VK_ADD_DRIVER_FILES";

/// The most bytes of a file that are read.
const BYTES_MAX: u64 = 1 << 20;

/// The drivers' files, in the loader's order; none where the system keeps them elsewhere than in files.
fn files() -> Vec<DriverFile> {
    let named = NAMED.into_iter().filter_map(std::env::var_os).find(|names| !names.is_empty());
    let explicit = named.is_some();
    let mut paths = match named {
        Some(names) => spread(&names),
        None => folders().iter().flat_map(|folder| inside(folder)).collect(),
    };
    if !explicit {
        paths.extend(std::env::var_os(ADDED).iter().flat_map(|names| spread(names)));
    }
    let file = |path: PathBuf| DriverFile { fault: find_fault(&path, explicit), path };
    paths.into_iter().map(file).collect()
}

/// The variables by which the loader uses these files alone.
fn only(files: &[&PathBuf]) -> Vec<(String, String)> {
    let joined = std::env::join_paths(files).unwrap_or_default();
    let joined = joined.to_string_lossy().into_owned();
    let mut variables: Vec<(String, String)> =
        NAMED.map(|name| (name.to_owned(), joined.clone())).to_vec();
    variables.push((ADDED.to_owned(), String::new()));
    variables
}

/// The files that a list of files and folders names.
fn spread(names: &OsStr) -> Vec<PathBuf> {
    let named = std::env::split_paths(names).filter(|path| !path.as_os_str().is_empty());
    named.flat_map(|path| if path.is_dir() { inside(&path) } else { vec![path] }).collect()
}

/// The files of a folder, in the order of their names.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_manifest).collect();
    files.sort();
    files
}

/// The loader's folders on systems where it has any.
fn folders() -> Vec<PathBuf> {
    if !cfg!(all(unix, not(target_vendor = "apple"))) {
        return Vec::new();
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let list = |name: &str, usual: String| {
        let given = std::env::var_os(name).filter(|value| !value.is_empty());
        let given = given.unwrap_or_else(|| usual.into());
        std::env::split_paths(&given).collect::<Vec<_>>()
    };
    let in_home = |folder: &str| home.join(folder).to_string_lossy().into_owned();
    let mut folders = list("XDG_CONFIG_HOME", in_home(".config"));
    folders.extend(list("XDG_CONFIG_DIRS", "/etc/xdg".to_owned()));
    folders.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    folders.extend(list("XDG_DATA_HOME", in_home(".local/share")));
    folders.extend(list("XDG_DATA_DIRS", "/usr/local/share:/usr/share".to_owned()));
    folders.iter().map(|folder| folder.join("vulkan/icd.d")).collect()
}

/// What is wrong with a file, a clause. Whether its library is there is asked only where the file was
/// named: systems keep files of other architectures too.
fn find_fault(path: &Path, named: bool) -> Option<String> {
    let mut text = Vec::new();
    // A pipe would be waited for without end, by opening it too.
    let read = std::fs::metadata(path).and_then(|about| {
        if !about.is_file() {
            return Err(std::io::Error::other("it is no regular file"));
        }
        File::open(path)?.take(BYTES_MAX).read_to_end(&mut text)
    });
    if let Err(error) = read {
        // The loader passes over what is not there, and so can be told to find no driver.
        if error.kind() == std::io::ErrorKind::NotFound {
            return None;
        }
        return Some(format!("its file cannot be read: {error}"));
    }
    let document: serde_json::Value = match serde_json::from_slice(&text) {
        Ok(document) => document,
        Err(error) => return Some(format!("its file is no JSON: {error}")),
    };
    let library = document.get("ICD").and_then(|icd| icd.get("library_path")?.as_str());
    let Some(library) = library else {
        return Some("its file names no `library_path` in `ICD`".to_owned());
    };
    // A bare name is looked for as the system looks for libraries.
    let beside = path.parent().unwrap_or(Path::new("")).join(library);
    let missing = named && Path::new(library).components().count() > 1 && !beside.exists();
    missing.then(|| format!("its library {} is not there", beside.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let folder = std::env::temp_dir().join(format!("lanescope-icd-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let fault = |text: &str, named| {
            let path = folder.join("x.json");
            write(&path, text);
            find_fault(&path, named).unwrap_or_default()
        };
        assert_eq!(fault(r#"{"ICD":{"library_path":"libvulkan_lvp.so"}}"#, true), "");
        assert_eq!(fault(r#"{"ICD":{"library_path":"./x.json"}}"#, true), "");
        assert_eq!(fault(r#"{"ICD":{"library_path":"./none.so"}}"#, false), "");
        assert!(fault(r#"{"ICD":{"library_path":"./none.so"}}"#, true).contains("is not there"));
        assert!(fault("{", true).starts_with("its file is no JSON"));
        assert!(fault("{}", false).contains("library_path"));
        assert_eq!(find_fault(&folder.join("none.json"), true), None);
        assert!(find_fault(&folder, true).is_some());
        assert_eq!(inside(&folder), [folder.join("x.json")]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn some_files_alone_are_named_by_both_variables() {
        let files = [PathBuf::from("/a/x.json"), PathBuf::from("/b/y.json")];
        let variables = only(&files.iter().collect::<Vec<_>>());
        assert_eq!(variables[0].1, "/a/x.json:/b/y.json");
        assert_eq!(variables[0].1, variables[1].1);
        assert_eq!(variables[2], (ADDED.to_owned(), String::new()));
    }
}
