//! Tables of what the program itself knows: its commands and options, its catalogue, its kinds of advice.
//!
//! Input: clap's description of the command line, the embedded catalogue, [`Rule`]. Output: Markdown.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};
use lanescope::analyze::Rule;
use lanescope::kernel::{Catalogue, Kernel, KernelLanguage};
use minijinja::{Environment, Error};

use super::fields;
use super::numbers::wrong;
use crate::root;

/// Adds the functions to an environment.
pub(super) fn register(environment: &mut Environment<'_>) {
    environment.add_function("commands", commands);
    environment.add_function("options", |command: String| options(&command));
    environment.add_function("families", families);
    environment.add_function("rules", rules);
    environment.add_function("file", |path: String| {
        let text = std::fs::read_to_string(root().join(&path));
        text.map(|text| text.trim_end().to_owned())
            .map_err(|error| wrong(format!("{path}: {error}")))
    });
    environment.add_function("claim", |id: String| claim(&id, None));
    environment.add_function("claims_by_width", claims_by_width);
    environment.add_function("quote", |id: String, words: String| claim(&id, Some(&words)));
    environment.add_function("fields", |places: Vec<String>, names: Vec<String>| {
        fields::tables(&root(), &places, &names)
    });
}

/// A table of the commands.
fn commands() -> String {
    let mut text = "| command | what it does |\n|---|---|\n".to_owned();
    for command in
        lanescope::cli::command().get_subcommands().filter(|command| !command.is_hide_set())
    {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let usage = usage(command);
        text += &format!("| `{}` | {} |\n", cell(&usage), cell(&about));
    }
    text
}

/// How a command is typed.
fn usage(command: &Command) -> String {
    let mut words = vec!["lanescope".to_owned(), command.get_name().to_owned()];
    if command.get_arguments().any(|argument| !argument.is_positional() && is_told(argument)) {
        words.push("[OPTIONS]".to_owned());
    }
    for argument in command.get_positionals() {
        let name = value_name(argument);
        let many = matches!(argument.get_action(), ArgAction::Append);
        words.push(match (argument.is_required_set(), many) {
            (true, _) => name,
            (false, true) => format!("[{name}]…"),
            (false, false) => format!("[{name}]"),
        });
    }
    words.join(" ")
}

/// What an argument's value is called.
fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    if names.is_empty() { argument.get_id().as_str().to_uppercase() } else { names.join(" ") }
}

/// Whether an option belongs into a table: clap adds help and version by itself.
fn is_told(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

/// A table of a command's options.
fn options(name: &str) -> Result<String, Error> {
    let mut whole = lanescope::cli::command();
    whole.build();
    let command = whole.find_subcommand(name).ok_or_else(|| wrong(format!("no command {name}")))?;
    let mut text = "| option | meaning |\n|---|---|\n".to_owned();
    for argument in command.get_arguments().filter(|argument| is_told(argument)) {
        let value =
            if argument.get_action().takes_values() { value_name(argument) } else { String::new() };
        let named = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) => {
                format!("`-{short}`, `{}`", format!("--{long} {value}").trim_end())
            }
            (None, Some(long)) => format!("`{}`", format!("--{long} {value}").trim_end()),
            _ => format!("`{value}`"),
        };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let defaults = argument.get_default_values();
        let default: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let default = match default.as_slice() {
            _ if !argument.get_action().takes_values() => String::new(),
            [] => String::new(),
            values => format!("; {} where left out", values.join(", ")),
        };
        let named = cell(&named);
        text += &format!("| {named} | {}{default} |\n", cell(&help));
    }
    Ok(text)
}

/// A table of the catalogue's families.
fn families() -> Result<String, Error> {
    let catalogue = Catalogue::embedded().map_err(wrong)?;
    let mut kernels: BTreeMap<String, Vec<&Kernel>> = BTreeMap::new();
    for kernel in catalogue.all() {
        let (family, _) = kernel.id.split_once('/').unwrap_or(("", &kernel.id));
        kernels.entry(family.to_owned()).or_default().push(kernel);
    }
    let mut text = "| family | asks | kernels |\n|---|---|---|\n".to_owned();
    for (name, kernels) in kernels {
        let family = catalogue.family(&name).filter(|family| !family.question.is_empty());
        let family = family.ok_or_else(|| wrong(format!("family.toml of {name} asks nothing")))?;
        let question = format!("{} {}", family.question, family.article);
        let short = |kernel: &&Kernel| {
            let name = kernel.id.rsplit('/').next().unwrap_or_default();
            let native = if kernel.language == KernelLanguage::Cuda { " (CUDA)" } else { "" };
            format!("`{name}`{native}")
        };
        let kernels: Vec<String> = kernels.iter().map(short).collect();
        text += &format!("| `{name}` | {} | {} |\n", cell(question.trim_end()), kernels.join(", "));
    }
    Ok(text)
}

/// A table of the kinds of advice.
fn rules() -> String {
    let mut text =
        "| change | what was seen | what it costs elsewhere |\n|---|---|---|\n".to_owned();
    for rule in Rule::ALL {
        text += &format!("| `{}` | {} | {} |\n", rule.name(), rule.cause(), rule.remedy());
    }
    text
}

/// The claims that hold only at some widths by all committed records, as the page of claims has them: id, statement
/// and condition.
fn claims_by_width() -> Result<Vec<BTreeMap<&'static str, String>>, Error> {
    let page = std::fs::read_to_string(root().join("docs/findings/claims.md")).map_err(wrong)?;
    let row = |line: &str| {
        let rest = line.strip_prefix("| **holds only where W ")?;
        let (condition, rest) = rest.split_once("** | `")?;
        let (id, rest) = rest.split_once("`<br>")?;
        let (says, _) = rest.split_once(" | ")?;
        let cells = [("id", id), ("says", says), ("condition", &format!("W {condition}"))];
        Some(cells.map(|(name, text)| (name, text.to_owned())).into())
    };
    let found: Vec<_> = page.lines().filter_map(row).collect();
    if found.is_empty() {
        return Err(wrong("the page of claims has none that holds only at some widths".to_owned()));
    }
    Ok(found)
}

/// A claim's id; with words, these words, which must stand in the claim.
fn claim(id: &str, words: Option<&str>) -> Result<String, Error> {
    let claims = lanescope::claims::ledger().map_err(wrong)?;
    let found = claims.iter().any(|claim| claim.id == id);
    if !found {
        return Err(wrong(format!("no claim {id}")));
    }
    let Some(words) = words else { return Ok(format!("`{id}`")) };
    let ledger = std::fs::read_to_string(root().join("shaders/claims.toml")).map_err(wrong)?;
    let text = ledger.split("[[claim]]").find(|text| text.contains(&format!("id = \"{id}\"")));
    let digits = |text: &str| -> Vec<String> {
        let parts = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        parts
            .map(|part| part.trim_matches('.').to_owned())
            .filter(|part| !part.is_empty())
            .collect()
    };
    let there = digits(text.unwrap_or_default());
    match digits(words).into_iter().find(|number| !there.contains(number)) {
        Some(number) => Err(wrong(format!("{id} does not say {number}"))),
        None => Ok(words.to_owned()),
    }
}

/// A text on one line, for a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
