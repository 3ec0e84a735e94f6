//! Tells the program which commit its sources are at, so that records can say it.
//!
//! Nothing else can: a binary may run on a machine that has no checkout. Without git, or outside a
//! checkout, the variables stay unset and records hold `null`.

use std::process::Command;

/// What the program is built from.
const SOURCES: [&str; 6] = ["src", "crates", "shaders", "Cargo.toml", "Cargo.lock", "build.rs"];

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    for path in SOURCES {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ["HEAD", "index", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && std::path::Path::new(&path).exists()
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
