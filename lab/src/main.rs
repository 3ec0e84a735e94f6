//! What measures lanescope itself, and what makes the files that are committed of it.
//!
//! Input: the name of a task and its options (`cargo run --release -p lab -- --help`). Output: what
//! the task says. This program is not published, and nothing that is published depends on it.

mod agreement;
mod answers;
mod embed_ptx;
mod findings;
mod growth;
mod hostile;
mod index;
mod overhead;
mod pages;
mod passes;
mod paste;
mod peers;
mod schema;
mod site;
mod sort_check;
mod speed;
mod split_check;
mod split_speed;
mod wavefronts;
mod worth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use lanescope::run::worker::serve;

/// Measures lanescope itself.
#[derive(Debug, Parser)]
#[command(name = "lab")]
enum Task {
    /// Runs random programs on a device and on the simulator, side by side.
    Agreement(agreement::Arguments),
    /// How soon `profile` answers on a device.
    Answers(answers::Arguments),
    /// Compiles the PTX that lanescope brings, where it is stale.
    EmbedPtx(embed_ptx::Arguments),
    /// Writes the page of findings: a verdict for each claim.
    Findings(Generated),
    /// What large inputs cost, in doublings.
    Growth(growth::Arguments),
    /// Runs the program on hostile inputs.
    Hostile(hostile::Arguments),
    /// Writes the index of the committed records.
    Index(Generated),
    /// What counting costs on a device.
    Overhead(overhead::Arguments),
    /// Writes the pages of `docs` that are made of templates.
    Pages(pages::Arguments),
    /// Compute passes with and without the capturer, beside each other.
    Passes(passes::Arguments),
    /// Makes the page on which one pastes a shader.
    Paste(paste::Arguments),
    /// Times the library's algorithms beside their peers.
    Peers(peers::Arguments),
    /// Writes the JSON Schema of the record.
    Schema(Generated),
    /// Builds the documentation as one static site.
    Site(site::Arguments),
    /// Random sorts and compactions on a device.
    SortCheck(sort_check::Arguments),
    /// The simulator's speed.
    Speed(speed::Arguments),
    /// Random partitions on a device.
    SplitCheck(split_check::Arguments),
    /// How fast partitions are on a device.
    SplitSpeed(split_speed::Arguments),
    /// AMD's machine code, executed: what runs, what notices faults, random programs, speed, code to bring.
    Wavefronts(wavefronts::Arguments),
    /// Whether advice holds: shaders with a known cause, and edits beside what trials say.
    Worth(worth::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    // The child that owns a device is this program too.
    if std::env::args().nth(1).as_deref() == Some("worker") {
        serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    match Task::parse() {
        Task::Agreement(arguments) => agreement::run(&arguments),
        Task::Answers(arguments) => answers::run(&arguments),
        Task::EmbedPtx(arguments) => embed_ptx::run(&arguments),
        Task::Findings(arguments) => findings::run(&arguments),
        Task::Growth(arguments) => growth::run(&arguments),
        Task::Hostile(arguments) => hostile::run(&arguments),
        Task::Index(arguments) => index::run(&arguments),
        Task::Overhead(arguments) => overhead::run(&arguments),
        Task::Pages(arguments) => pages::run(&arguments),
        Task::Passes(arguments) => passes::run(&arguments),
        Task::Paste(arguments) => paste::run(&arguments),
        Task::Peers(arguments) => peers::run(&arguments),
        Task::Schema(arguments) => schema::run(&arguments),
        Task::Site(arguments) => site::run(&arguments),
        Task::SortCheck(arguments) => sort_check::run(&arguments),
        Task::Speed(arguments) => speed::run(&arguments),
        Task::SplitCheck(arguments) => split_check::run(&arguments),
        Task::SplitSpeed(arguments) => split_speed::run(&arguments),
        Task::Wavefronts(arguments) => wavefronts::run(&arguments),
        Task::Worth(arguments) => worth::run(&arguments),
    }
}

/// The folder of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Options of what makes a file of the checkout from others.
#[derive(Debug, clap::Args)]
struct Generated {
    /// Write nothing; exit code 1 where the file would change.
    #[arg(long)]
    check: bool,
}

/// Writes a file of the checkout, or says whether it has this text already.
#[expect(clippy::disallowed_methods, reason = "writes a file of the checkout")]
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn write_generated(file: &str, text: &str, arguments: &Generated) -> anyhow::Result<ExitCode> {
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
