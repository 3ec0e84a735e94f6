//! Any folder is a captured dispatch, or a shader with a launch file, of which a launch is made as `lanescope profile`
//! does, or it is refused with a reason.
//!
//! An input is files, one behind the other: each begins with a line `== NAME`. In a launch file `@NAME` stands for
//! what vouches for a file: its length and its hash, which nobody finds by chance.
//!
//! Findings: a panic, a refusal without words, a file that is read outside the folder, contents of another size than
//! their buffer or texture.

#![no_main]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use lanescope::cli::profile_launches;
use lanescope::run::launched::sha256_bytes;
use lanescope_fuzz::let_panics_unwind;
use libfuzzer_sys::fuzz_target;

/// Files of a folder, at most.
const FILES_MAX: usize = 8;

/// Buffers and textures whose contents are looked at, in bytes at most.
const BYTES_MAX: u64 = 1 << 16;

/// What lies beside the folder, and must never be read: a launch that holds these bytes read it.
const OUTSIDE: &[u8] = b"outside of the folder, and read!";

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("lanescope-fuzz-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a folder for folders");
    fs::write(place.join("outside"), OUTSIDE).expect("a file beside the folder");
    place
});

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let files = files(data);
    let folder = PLACE.join("folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("an empty folder");
    for (name, bytes) in &files {
        fs::write(folder.join(name), with_notes(bytes, &files)).expect("a file of the folder");
    }
    let path = |name: &str| folder.join(name).display().to_string();
    check(&[&folder.display().to_string()], &files);
    for (shader, _) in files.iter().filter(|(name, _)| name.ends_with(".wgsl")) {
        check(&[&path(shader), "--launch", &path("launch.toml")], &files);
    }
});

fn check(arguments: &[&str], files: &[(String, Vec<u8>)]) {
    // A small launch: what is made up by itself is as large as a device takes.
    let all = [arguments, &["--memory-max", "64"]].concat();
    let launches = match profile_launches(&all) {
        Ok(launches) => launches,
        Err(error) => return assert!(error.len() > 10, "a refusal without words: {error:?}"),
    };
    let said = files.iter().any(|(_, bytes)| bytes.windows(8).any(|part| OUTSIDE.starts_with(part)));
    for launch in launches {
        for buffer in launch.buffers.iter().filter(|buffer| buffer.size <= BYTES_MAX) {
            let contents = launch.contents(buffer);
            assert_eq!(contents.len() as u64, buffer.size, "{}", buffer.name);
            assert!(said || !contents.starts_with(&OUTSIDE[..8]), "{} was read", buffer.name);
        }
        for texture in launch.textures.iter().filter(|texture| texture.layout.bytes() <= BYTES_MAX) {
            assert_eq!(launch.texels(texture).len() as u64, texture.layout.bytes(), "{}", texture.name);
        }
    }
}

/// The files of an input: plain names of letters, digits, dots, underscores and hyphens; others are left out.
fn files(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let name = line.strip_prefix(b"== ").map(|name| String::from_utf8_lossy(name.trim_ascii()));
        match name {
            Some(name) if files.len() < FILES_MAX => {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                if !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain) && name.len() < 64 {
                    files.push((name.into_owned(), Vec::new()));
                }
            }
            _ => {
                if let Some((_, bytes)) = files.last_mut() {
                    bytes.extend_from_slice(line);
                }
            }
        }
    }
    files
}

/// The bytes of a file, with what vouches for the others where it names them.
fn with_notes(bytes: &[u8], files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
    let mut whole = text.to_owned();
    for (name, bytes) in files {
        let mut note = String::new();
        let _ = write!(note, "{{ bytes = {}, sha256 = \"{}\" }}", bytes.len(), sha256_bytes(bytes));
        whole = whole.replace(&format!("@{name}"), &note);
    }
    whole.into_bytes()
}
