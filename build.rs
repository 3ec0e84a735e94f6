//! Tells the program which commit its sources are at, so that records can say it; lists the families' CPU
//! references, so that a new one is a file and no list has to name it; and packs the texts of `shaders`.
//!
//! Nothing else can tell the commit: a binary may run on a machine that has no checkout. Without git, or outside
//! a checkout, the variables stay unset and records hold `null`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use lzma_rust2::{XzOptions, XzWriter};

/// What the program is built from.
const SOURCES: [&str; 6] = ["src", "crates", "shaders", "Cargo.toml", "Cargo.lock", "build.rs"];

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The folder of the families' CPU references.
const REFERENCES: &str = "src/kernel/reference/families";

/// Writes a module for each file of [`REFERENCES`], the list of their tables, and the list of their JavaScript.
#[expect(clippy::disallowed_methods, reason = "the folder of what a build makes")]
fn list_references(out: &Path) -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let folder = root.join(REFERENCES);
    let entries = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    let (mut modules, mut tables, mut scripts) = (String::new(), String::new(), String::new());
    for path in &paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                modules += &format!("#[path = {path:?}]\nmod {stem};\n");
                tables += &format!("    {stem}::REFERENCES,\n");
            }
            Some("js") => scripts += &format!("    include_str!({path:?}),\n"),
            _ => {}
        }
    }
    let text = format!(
        "{modules}\npub(super) const ALL: &[&[(&str, By)]] = &[\n{tables}];\n\n/// The references in \
         JavaScript, entries of an object.\npub const JAVASCRIPT: &[&str] = &[\n{scripts}];\n"
    );
    fs::write(out.join("references.rs"), text)
}

/// The folder of the catalogue's texts.
const SHADERS: &str = "shaders";

/// The files below a folder, with their paths below the first one, in the order of these.
fn files(folder: &Path, below: &str, into: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            files(&path, &format!("{below}{name}/"), into)?;
        } else {
            into.push((format!("{below}{name}"), path.clone()));
        }
    }
    into.sort();
    Ok(())
}

/// Writes the texts of [`SHADERS`] as one packed file: path and text of each, with a NUL behind either.
fn pack_shaders(out: &Path) -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let mut found = Vec::new();
    files(&root.join(SHADERS), "", &mut found)?;
    let packed = fs::File::create(out.join("shaders.xz"))?;
    let mut packer = XzWriter::new(packed, XzOptions::with_preset(9))?;
    for (name, path) in found {
        write!(packer, "{name}\0{}\0", fs::read_to_string(path)?)?;
    }
    packer.finish()?;
    Ok(())
}

fn main() {
    let out = env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo names a folder for output");
    if let Err(error) = list_references(&out) {
        panic!("{REFERENCES} cannot be listed: {error}");
    }
    if let Err(error) = pack_shaders(&out) {
        panic!("{SHADERS} cannot be packed: {error}");
    }
    for path in SOURCES {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ["HEAD", "index", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(sha) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=LANESCOPE_GIT_SHA={sha}");
        let status = ["status", "--porcelain", "--"].into_iter().chain(SOURCES);
        if let Some(status) = git(&status.collect::<Vec<_>>()) {
            println!("cargo::rustc-env=LANESCOPE_GIT_DIRTY={}", !status.is_empty());
        }
    }
}
