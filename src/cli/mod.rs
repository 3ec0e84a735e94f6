//! The command line: the only place that prints.
//!
//! Input: the process's arguments. Output: tables and machine-readable data on standard output,
//! progress and messages on standard error, files where the user asked for them, an exit code.
//! What is measured and what it means is decided elsewhere.

mod again;
mod annotate;
mod arguments;
mod axis;
mod captured;
mod catalogue;
mod claims;
mod compare;
mod count;
mod devices;
mod doctor;
mod export;
mod failure;
mod foreign;
mod groups;
mod list;
mod marks;
mod measuring;
mod occupancy;
mod plan;
mod profile;
mod render;
mod report;
mod run;
mod screen;
mod shader;
mod shared;
mod source_files;
mod stack;
mod usage;
mod watch;
mod web;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command};
use failure::{Exit, Failure, broken_pipe, chain};

use crate::kernel::Launch;
use crate::present::error_columns;
use crate::present::fit::width_of;
use crate::program::panic_is_caught;
use crate::run::worker;

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    match stack::thread_builder().name("main".to_owned()).spawn(run_program) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        // Where there is no room for it, the stack that there is does for most shaders.
        Err(_) => run_program(),
    }
}

/// What the program takes on its command line, for whoever lists it.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The launches that `lanescope profile` makes of its arguments, in order; nothing is run. For programs that look at
/// what is read and what is refused.
///
/// # Errors
///
/// What `lanescope profile` would say in place of running: arguments, files or a shader that cannot be used.
pub fn profile_launches(arguments: &[&str]) -> Result<Vec<Launch>, String> {
    let words = ["lanescope", "profile"].iter().chain(arguments);
    let parsed = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
    match parsed.command {
        Some(Command::Profile(arguments)) => {
            profile::launches(&arguments).map_err(|failure| chain(&failure.error))
        }
        _ => Ok(Vec::new()),
    }
}

fn run_program() -> ExitCode {
    quiet_caught_panics();
    #[cfg(unix)]
    ignore_file_limit();
    limit_threads();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let words: Vec<String> =
                std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
            return tell_usage(&usage::name_way_out(error, &words));
        }
    };
    match dispatch(arguments) {
        Ok(exit) => exit.into(),
        Err(failure) => tell(&failure),
    }
}

/// Says why nothing more is done, and gives the exit code.
fn tell(failure: &Failure) -> ExitCode {
    if broken_pipe(&failure.error) {
        return Exit::Done.into();
    }
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(screen::stderr(), "lanescope: {}", chain(&failure.error));
    failure.exit.into()
}

/// Has panics that become an error print nothing: the error says what they say.
fn quiet_caught_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic_is_caught() {
            print(panic);
        }
    }));
}

/// Has a file that may not grow further (`ulimit -f`) be an error where it is written, which is told. The system would end the
/// program by a signal, and leave a half-written file. Children ignore it too.
#[cfg(unix)]
#[expect(unsafe_code, reason = "Rust's library has nothing for signals, so C's is called")]
fn ignore_file_limit() {
    // SAFETY: it is one of the system's signals, and where one is ignored nothing of this program runs.
    unsafe {
        // Where the system refuses, the signal ends the program.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Prints help, the version, or what is wrong with the arguments, with colours where no line has to be broken.
fn tell_usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let is_long = |columns: usize| text.lines().any(|line| width_of(line) > columns);
    let told = if error.use_stderr() && error_columns().is_some_and(is_long) {
        write!(screen::stderr(), "{text}")
    } else {
        error.print().and_then(|()| std::io::stdout().flush())
    };
    match told {
        Err(why) if !error.use_stderr() => return tell(&why.into()),
        // Nothing is left to tell it to when standard error is closed.
        Ok(()) | Err(_) => {}
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The variable that says how many threads there are.
const THREADS: &str = "RAYON_NUM_THREADS";

/// Threads at most: more would only wait for one another.
const THREADS_MAX: usize = 256;

/// Sees to it that a number of threads that no machine has costs nothing.
fn limit_threads() {
    let asked = std::env::var(THREADS).ok().and_then(|asked| asked.parse().ok());
    if asked.is_some_and(|asked: usize| asked > THREADS_MAX) {
        // It fails where threads were started already, and none was.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(THREADS_MAX).build_global();
    }
}

/// The manual page: the whole, then the options of each command but `run`, whose options are the whole's.
fn manual(out: &mut impl Write) -> std::io::Result<()> {
    let command = Arguments::command();
    let whole = clap_mangen::Man::new(command.clone());
    whole.render_title(out)?;
    whole.render_name_section(out)?;
    writeln!(out, ".SH SYNOPSIS")?;
    let mut shown: Vec<&clap::Command> =
        command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    // A user's own shader first.
    shown.sort_by_key(|command| command.get_name() != "profile");
    for command in &shown {
        let name = format!("lanescope {}", command.get_name());
        let usage = (*command).clone().bin_name(name).render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim().replace('-', "\\-");
        for line in usage.lines() {
            writeln!(out, "{}\n.br", line.trim())?;
        }
    }
    whole.render_description_section(out)?;
    whole.render_options_section(out)?;
    whole.render_subcommands_section(out)?;
    whole.render_extra_section(out)?;
    whole.render_version_section(out)?;
    for command in shown.into_iter().filter(|command| command.get_name() != "run") {
        let mut options = Vec::new();
        clap_mangen::Man::new(command.clone()).render_options_section(&mut options)?;
        let options =
            format!("\n{}", String::from_utf8_lossy(&options)).replace("\n.SH ", "\n.SS ");
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(out, ".SH \"LANESCOPE {}\"", command.get_name().to_uppercase())?;
        writeln!(out, "{}{options}", about.replace('-', "\\-"))?;
    }
    Ok(())
}

fn dispatch(arguments: Arguments) -> Result<Exit, Failure> {
    let mut out = screen::stdout();
    match arguments.command {
        None => run::run(&arguments.run, &mut out),
        Some(Command::Run(arguments)) => run::run(&arguments, &mut out),
        Some(Command::Profile(arguments)) if arguments.watch => again::watch(&arguments, &mut out),
        Some(Command::Profile(arguments)) => profile::profile(&arguments, &mut out),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments, &mut out),
        Some(Command::List(arguments)) => list::list(&arguments, &mut out),
        Some(Command::Report(arguments)) => report::report(&arguments, &mut out),
        Some(Command::Compare(arguments)) => compare::compare(&arguments, &mut out),
        Some(Command::Claims(arguments)) => claims::claims(&arguments, &mut out),
        Some(Command::Occupancy(arguments)) => occupancy::occupancy(&arguments, &mut out),
        Some(Command::Web(arguments)) => web::web(&arguments, &mut out),
        Some(Command::Completions { shell }) => {
            // It does not say that it could not write.
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "lanescope", &mut text);
            out.write_all(&text)?;
            Ok(Exit::Done)
        }
        Some(Command::Man) => {
            manual(&mut out)?;
            Ok(Exit::Done)
        }
        Some(Command::Worker) => {
            worker::serve()?;
            Ok(Exit::Done)
        }
    }
}
