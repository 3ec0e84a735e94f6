//! The targets of `fuzz` compile, and find nothing in the shaders of `tests/wgsl`, as they are and cut short.
//!
//! `fuzz` is a workspace of its own, which takes a nightly compiler and libFuzzer. Here its files are modules, and what they
//! take of libFuzzer is put in its place: a target becomes a function of bytes.

#![allow(
    unused_attributes,
    unused_imports,
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "what are crates of another workspace are modules here, and nothing is mutated"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

extern crate self as lanescope_fuzz;
extern crate self as libfuzzer_sys;

#[path = "../fuzz/src/lib.rs"]
mod shared;

pub use shared::*;

/// libFuzzer's own mutations, which no test makes.
pub fn fuzzer_mutate(_: &mut [u8], size: usize, _: usize) -> usize {
    size
}

/// In place of libFuzzer's: a function of bytes.
#[macro_export]
macro_rules! fuzz_target {
    (init: $begin:expr, |$data:ident: &[u8]| $body:block) => {
        pub fn begin() {
            $begin;
        }
        $crate::fuzz_target!(|$data: &[u8]| $body);
    };
    (|$data:ident: &[u8]| $body:block) => {
        pub fn on_bytes($data: &[u8]) {
            $body
        }
    };
}

/// In place of libFuzzer's: what compiles, and is not called.
#[macro_export]
macro_rules! fuzz_mutator {
    (|$data:ident: &mut [u8], $size:ident: usize, $most:ident: usize, $seed:ident: u32| $body:block) => {
        pub fn mutated($data: &mut [u8], $size: usize, $most: usize, $seed: u32) -> usize {
            $body
        }
    };
}

macro_rules! targets {
    ($($target:ident: $file:literal,)*) => {
        $(#[path = $file] mod $target;)*
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($target), $target::on_bytes),)*];
    };
}

targets! {
    amd: "../fuzz/fuzz_targets/amd.rs",
    compare: "../fuzz/fuzz_targets/compare.rs",
    folder: "../fuzz/fuzz_targets/folder.rs",
    instrument: "../fuzz/fuzz_targets/instrument.rs",
    launch: "../fuzz/fuzz_targets/launch.rs",
    load: "../fuzz/fuzz_targets/load.rs",
    // Their names are taken by what they share.
    of_records: "../fuzz/fuzz_targets/records.rs",
    report: "../fuzz/fuzz_targets/report.rs",
    simulate: "../fuzz/fuzz_targets/simulate.rs",
    spirv: "../fuzz/fuzz_targets/spirv.rs",
}

/// The files of a folder below the root.
fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn every_target_is_here() {
    let names = files("fuzz/fuzz_targets").len();
    assert_eq!(TARGETS.len(), names);
}

#[test]
fn targets_find_nothing_in_what_is_known_to_be_fine() {
    let shaders = files("tests/wgsl")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "wgsl"));
    let mut inputs: Vec<Vec<u8>> = vec![Vec::new(), vec![0; 64], vec![255; 64]];
    for (index, path) in shaders.enumerate() {
        let mut text = std::fs::read(path).unwrap();
        // The options of an input stand behind its text.
        text.push(u8::try_from(index % 256).unwrap());
        inputs.push(text[..text.len() / 2].to_vec());
        inputs.push(text);
    }
    assert!(inputs.len() > 100);
    for (_, on_bytes) in TARGETS {
        for input in &inputs {
            on_bytes(input);
        }
    }
}
