//! Files of the checkout that are made of others.
//!
//! Input: a file's name and the text that it should have. Output: the file, or whether it is current.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::process::ExitCode;

use crate::root;

/// Options of what makes a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; exit code 1 where the file would change.
    #[arg(long)]
    check: bool,
}

/// Writes a file, or says whether it has this text already.
#[expect(clippy::disallowed_methods, reason = "writes a file of the checkout")]
pub(crate) fn write(file: &str, text: &str, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let path = root().join(file);
    if std::fs::read_to_string(&path).is_ok_and(|written| written == text) {
        println!("{file} is current");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{file}: {}", if arguments.check { "stale" } else { "written" });
    if arguments.check {
        return Ok(ExitCode::FAILURE);
    }
    std::fs::write(&path, text)?;
    Ok(ExitCode::SUCCESS)
}
