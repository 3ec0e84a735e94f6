//! The page on which one pastes a shader: one HTML file around lanescope's core.
//!
//! Input: the sources. Output: `paste.html`, which any static host serves. The core is built by
//! `lab/wasm/build`, with rustup's target `wasm32-unknown-unknown` or with what that file names in its place.
//!
//! `cargo run --release -p lab -- paste -o DIR`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, ensure};
use lanescope::web;

use crate::root;

/// The page's name in its folder.
pub(crate) const PAGE: &str = "paste.html";

/// The module that unpacks the core, from the core's folder.
const UNPACKER: &str = "examples/unpack.wasm";

/// The variable that names a core that was built.
const CORE: &str = "LANESCOPE_PASTE_CORE";

/// Makes the page on which one pastes a shader.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder to write `paste.html` to
    #[arg(short, long)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    write(&arguments.out)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the core, and writes the page to a folder.
#[expect(clippy::disallowed_methods, reason = "writes the page that is asked for")]
pub(crate) fn write(folder: &Path) -> anyhow::Result<()> {
    let module = match std::env::var_os(CORE) {
        Some(core) => PathBuf::from(core),
        None => build()?,
    };
    let read = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
    let core = read(&module)?;
    let html = web::paste_page(&core, &read(&module.with_file_name(UNPACKER))?)?;
    std::fs::create_dir_all(folder)?;
    let page = folder.join(PAGE);
    std::fs::write(&page, &html)?;
    println!("{}: {} bytes, of a core of {}", page.display(), html.len(), core.len());
    Ok(())
}

/// Builds the core; gives its path.
fn build() -> anyhow::Result<PathBuf> {
    let built = Command::new("bash")
        .arg("lab/wasm/build")
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("lab/wasm/build")?;
    ensure!(built.status.success(), "lanescope's core was not built for browsers");
    Ok(root().join(String::from_utf8(built.stdout)?.trim()))
}
