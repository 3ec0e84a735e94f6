//! What is wrong with a command line, with the option that was meant.
//!
//! Input: the parser's error, and the words. Output: the same error, with a tip that names the way out where the
//! parser's own guess is of letters alone.

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::arguments::Arguments;
use crate::kernel::Catalogue;

/// The command that reads shaders, whose size is an option.
const READS_SHADERS: &str = "profile";

/// Names the option that sets a parameter where one was written as an option of its own.
pub(super) fn name_way_out(mut error: Error, words: &[String]) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let written = written.clone();
    let profiles = words.iter().skip(1).find(|word| !word.starts_with('-'));
    let profiles = profiles.is_some_and(|command| command == READS_SHADERS);
    let tip = match (profiles, written.trim_start_matches('-')) {
        (true, "a" | "axis") => {
            "a shader's size is set by '--n 4096'; its other values by a launch file, which '--init' writes"
                .to_owned()
        }
        (false, name) if is_parameter(name) => {
            format!("a kernel's parameter is set by '--axis': '-a {name}=4096', or '-a {name}=[1024,4096]'")
        }
        (_, name) => match command_with(name) {
            Some(command) => {
                format!("'{written}' is an option of `lanescope {command}`: lanescope {command} --help")
            }
            None => return error,
        },
    };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

/// The command that has an option of this name.
fn command_with(name: &str) -> Option<String> {
    let command = Arguments::command();
    let has = |command: &&clap::Command| {
        !command.is_hide_set()
            && command.get_arguments().any(|option| option.get_long() == Some(name))
    };
    command.get_subcommands().find(has).map(|command| command.get_name().to_owned())
}

/// Whether a kernel of the catalogue has a parameter of this name.
fn is_parameter(name: &str) -> bool {
    let Ok(catalogue) = Catalogue::shared() else { return false };
    catalogue.kernels().any(|kernel| kernel.description.parameters.contains_key(name))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn message_for(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = Arguments::try_parse_from(&words).expect_err("an option of no command");
        name_way_out(error, &words).to_string()
    }

    #[test]
    fn a_parameter_that_is_written_as_an_option_gets_the_option_that_sets_it() {
        for line in [
            "lanescope run --classes 4",
            "lanescope --classes=4",
            "lanescope run uniform --classes 4",
        ] {
            let message = message_for(line);
            assert!(
                message.contains("tip: a kernel's parameter is set by '--axis': '-a classes=4096'"),
                "{message}"
            );
            assert!(!message.contains("--counters"), "{message}");
        }
        let size = message_for("lanescope profile my.wgsl -a n=4096");
        assert!(size.contains("tip: a shader's size is set by '--n 4096'"), "{size}");
        let other = message_for("lanescope profile my.wgsl --quick");
        assert!(other.contains("'--quick' is an option of `lanescope run`"), "{other}");
    }

    #[test]
    fn what_is_no_parameter_keeps_the_parser_s_own_tip() {
        assert!(message_for("lanescope run --cuonters").contains("'--counters'"));
    }
}
