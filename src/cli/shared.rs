//! Records without the paths of the machine that wrote them.
//!
//! Input: arguments as typed, values of variables, records. Output: the same with file names in the place of
//! paths. What a run keeps of its arguments and variables never has paths; the path of a user's own
//! shader is kept, since pages and editors lead to it, and [`shared`] makes a copy without it. The text of a
//! shader is left as it is.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command, CommandFactory};
use serde_json::Value;

use super::arguments::Arguments;
use crate::record::Run;
use crate::store::{self, StoreError};

/// Arguments without the program, as a record keeps them: of each that is a path its file name.
pub(super) fn arguments(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let words: Vec<OsString> = words.into_iter().collect();
    let command = Arguments::command();
    let all = std::iter::once(OsString::from("lanescope")).chain(words.iter().cloned());
    let mut paths = BTreeSet::new();
    // What no longer parses, such as an older version's arguments, has its absolute paths cut below.
    if let Ok(matches) = command.clone().try_get_matches_from(all) {
        gather(&command, &matches, &mut paths);
    }
    words.iter().map(|word| argument(&word.to_string_lossy(), &paths)).collect()
}

/// Adds the values of all arguments that are paths.
fn gather(command: &Command, matches: &ArgMatches, paths: &mut BTreeSet<String>) {
    let of_paths = command
        .get_arguments()
        .filter(|argument| argument.get_value_parser().type_id() == TypeId::of::<PathBuf>());
    for argument in of_paths {
        let values = matches.get_raw(argument.get_id().as_str()).into_iter().flatten();
        paths.extend(values.map(|value| value.to_string_lossy().into_owned()));
    }
    if let Some((name, inside)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        gather(command, inside, paths);
    }
}

/// One argument: a path, an option with a path behind it, or another word.
fn argument(word: &str, paths: &BTreeSet<String>) -> String {
    if paths.contains(word) {
        return file_name(word);
    }
    // `--out=DIR`, `-oDIR`.
    let behind = paths.iter().filter(|path| word.starts_with('-') && word.ends_with(path.as_str()));
    match behind.max_by_key(|path| path.len()) {
        Some(path) if !path.is_empty() => {
            format!("{}{}", &word[..word.len() - path.len()], file_name(path))
        }
        _ => without_paths(word),
    }
}

/// The value of a variable, or a list of paths, with file names in the place of paths.
pub(super) fn variable(value: &str) -> String {
    let names = std::env::split_paths(value).map(|path| file_name(&path.to_string_lossy()));
    std::env::join_paths(names)
        .map_or_else(|_| without_paths(value), |joined| joined.to_string_lossy().into_owned())
}

/// The last part of a path; the path itself where it has none, as `-` and `..`.
fn file_name(path: &str) -> String {
    let last = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let last = last.unwrap_or_else(|| path.to_owned());
    // A record of Windows is read on other systems too.
    last.rsplit('\\').next().unwrap_or_default().to_owned()
}

/// A text in which each path that begins at a root, at the user's folder or above this folder is its file name.
fn without_paths(text: &str) -> String {
    let is_edge = |c: char| c.is_whitespace() || "\"'`=,;()<>".contains(c);
    text.split_inclusive(is_edge)
        .map(|part| {
            let word = part.trim_end_matches(is_edge);
            let drive = word.chars().nth(1) == Some(':') && word.contains(":\\");
            let begins =
                ["/", "~/", "./", "../", "\\\\"].iter().any(|begin| word.starts_with(begin));
            let is_path = word.len() > 1 && (drive || begins);
            if is_path { file_name(word) + &part[word.len()..] } else { part.to_owned() }
        })
        .collect()
}

/// A copy to share: no path, but for those in the text of a shader.
///
/// # Errors
///
/// Where the copy is no record, a fault of lanescope's own.
pub(super) fn shared(run: &Run) -> Result<Run, StoreError> {
    let is_own = run.measurements.iter().all(|measurement| !measurement.kernel.contains('/'));
    let name = Path::new("result.json");
    let mut value: Value = serde_json::from_slice(&store::encode(run, name)?).unwrap_or_default();
    strip(&mut value, is_own);
    let mut copy = store::decode(value.to_string().as_bytes(), name)?;
    copy.argv = arguments(run.argv.iter().map(OsString::from));
    copy.host.environment.clone_from(&run.host.environment);
    for value in copy.host.environment.values_mut() {
        *value = variable(value);
    }
    for (sha256, source) in &mut copy.sources {
        if let Some(original) = run.sources.get(sha256) {
            source.text.clone_from(&original.text);
        }
    }
    Ok(copy)
}

/// Cuts paths in every text beneath a value; where the shader is the user's own, relative ones too.
fn strip(value: &mut Value, is_own: bool) {
    match value {
        Value::String(text) => *text = without_paths(text),
        Value::Array(all) => all.iter_mut().for_each(|element| strip(element, is_own)),
        Value::Object(all) => {
            for (key, element) in all.iter_mut() {
                match element {
                    Value::String(file) if is_own && key == "file" => *file = file_name(file),
                    other => strip(other, is_own),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared_arguments(words: &[&str]) -> Vec<String> {
        arguments(words.iter().map(OsString::from))
    }

    #[test]
    fn arguments_that_are_paths_are_kept_as_file_names() {
        let typed = [
            "profile",
            "/home/ada/shaders/a.wgsl",
            "--launch=secret/a.toml",
            "-oout/of/ada",
            "--device",
            "radv:navi21/32",
        ];
        let expected =
            ["profile", "a.wgsl", "--launch=a.toml", "-oada", "--device", "radv:navi21/32"];
        assert_eq!(shared_arguments(&typed), expected);
        // The name of a kernel has a stroke, and is no path.
        let typed = ["run", "sort/divergent", "-a", "n=64", "--out", "/tmp/ada/r"];
        assert_eq!(shared_arguments(&typed), ["run", "sort/divergent", "-a", "n=64", "--out", "r"]);
        assert_eq!(shared_arguments(&["profile", "-"]), ["profile", "-"]);
        // What this version does not know.
        assert_eq!(shared_arguments(&["old", "--to=/home/ada/r", "~/x"]), ["old", "--to=r", "x"]);
    }

    #[test]
    fn a_variable_keeps_file_names() {
        assert_eq!(variable("256"), "256");
        assert_eq!(variable("Intel*Arc"), "Intel*Arc");
        let drivers =
            std::env::join_paths(["/home/ada/a.json", "/usr/share/vulkan/icd.d/b.json"]).unwrap();
        let expected = std::env::join_paths(["a.json", "b.json"]).unwrap();
        assert_eq!(variable(&drivers.to_string_lossy()), expected.to_string_lossy());
    }

    #[test]
    fn paths_in_sentences_are_cut_and_others_are_not() {
        let told =
            "cannot read \"/home/ada/x.spv\": no such file; see C:\\ada\\y.txt, 1/2 and a/b.wgsl:3";
        let expected = "cannot read \"x.spv\": no such file; see y.txt, 1/2 and a/b.wgsl:3";
        assert_eq!(without_paths(told), expected);
    }
}
