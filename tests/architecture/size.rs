//! What the repository and the program may weigh.
//!
//! Input: the files that git knows, and the program as built. Output: a failure where one is over its limit:
//! something else must go before more comes.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Files in the repository.
const FILES_MAX: usize = 1500;

/// Bytes of these.
const BYTES_MAX: u64 = 20_000_000;

#[test]
fn the_repository_stays_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files: Vec<&str> = listed.split_terminator('\0').collect();
    // What is deleted and not committed yet has no bytes.
    let bytes: u64 = files
        .iter()
        .filter_map(|file| fs::symlink_metadata(root.join(file)).ok())
        .map(|m| m.len())
        .sum();
    assert!(files.len() > 500 && files.len() <= FILES_MAX, "{} files", files.len());
    assert!(bytes > 1_000_000 && bytes <= BYTES_MAX, "{bytes} bytes");
}

/// As a release is built, on the platform whose size is written down (docs/contributing/README.md).
#[cfg(all(not(debug_assertions), target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_program_has_25_mb_at_most() {
    let bytes = fs::metadata(env!("CARGO_BIN_EXE_lanescope")).unwrap().len();
    assert!(bytes > 1_000_000 && bytes <= 25_000_000, "{bytes} bytes");
}
