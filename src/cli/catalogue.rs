//! The catalogue that a command works on, and the kernels of it that words choose.
//!
//! Input: a folder of families, words. Output: a catalogue, and kernels in its order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use clap::CommandFactory as _;

use super::arguments::Arguments;
use super::failure::{Exit, Failure};
use super::shader::{files_meant, folder_text};
use crate::kernel::{Catalogue, Kernel, near_matches};

/// The catalogue, with the families of a folder where one is named.
pub(crate) fn read(folder: Option<&Path>) -> Result<Cow<'static, Catalogue>, Failure> {
    let catalogue = match folder {
        None => Catalogue::shared().map(Cow::Borrowed),
        Some(folder) => Catalogue::with_folder(folder).map(Cow::Owned),
    };
    catalogue.map_err(Failure::bad_input)
}

/// The kernels that words choose, each once, in the catalogue's order; all where there are none.
pub(crate) fn choose<'a>(
    catalogue: &'a Catalogue,
    words: &[String],
) -> Result<Vec<&'a Kernel>, Failure> {
    if words.is_empty() {
        return Ok(catalogue.all().collect());
    }
    if let Some(shader) = words.iter().find(|word| is_shader(word)) {
        // What stands before a shader is a command, if not spelt as one.
        let before = words.first().filter(|first| *first != shader);
        let meant = before.filter(|first| catalogue.select(first).is_err());
        let meant = meant.map_or(String::new(), |first| format!("there is no command `{first}`; "));
        let path = Path::new(shader);
        let message = if path.exists() {
            format!(
                "{meant}{shader} is a shader and no kernel of the catalogue; to see which of its lines waste \
                 lanes: lanescope profile {shader}"
            )
        } else {
            let near = files_meant(path);
            format!(
                "{meant}{shader} is a shader's name and no kernel of the catalogue; to see which of a shader's \
                 lines waste lanes: lanescope profile {shader}\nThere is no such file in {}{near}; \
                 `lanescope list` names the catalogue's kernels",
                folder_text(path)
            )
        };
        return Err(Failure::message(Exit::BadInput, message));
    }
    let mut ids = BTreeSet::new();
    for word in words {
        let kernels = catalogue.select(word).map_err(|error| {
            let hint = command_meant(word);
            Failure::message(Exit::BadInput, format!("{error}{hint}"))
        })?;
        ids.extend(kernels.into_iter().map(|kernel| kernel.id.clone()));
    }
    Ok(catalogue.all().filter(|kernel| ids.contains(&kernel.id)).collect())
}

/// The commands that a word may have been meant for, as a line of its own; empty where there are none.
fn command_meant(word: &str) -> String {
    let commands: Vec<String> = Arguments::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect();
    let hint = near_matches(word, commands.iter().map(String::as_str));
    hint.replace("; did you mean", "\nif it was to be a command, did you mean")
}

/// Whether a word is the name of a shader's file, in whatever language.
fn is_shader(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    let ending = ending.map(str::to_lowercase);
    ending.is_some_and(|ending| {
        ["wgsl", "spv", "glsl", "comp", "hlsl", "slang", "metal"].contains(&ending.as_str())
    })
}
