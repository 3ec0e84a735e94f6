//! The targets of `fuzz` compile, and find nothing in inputs of their own kind, as they are and cut short: shaders of `tests/wgsl`,
//! SPIR-V, folders of a launch, words of AMD's machine code, records with changes.
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

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lanescope::program::{Parsed, read_spirv};
use lanescope::store;

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
        /// The file of each target, and what it does with an input.
        const TARGETS: &[(&str, fn(&[u8]))] = &[$(($file, $target::on_bytes),)*];
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

/// A path below the root.
fn below(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of a folder below the root that have an ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(below(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    found.sort();
    found
}

/// A target's name: that of its file.
fn name(file: &Path) -> &str {
    file.file_stem().unwrap().to_str().unwrap()
}

/// A new target is listed here, in its workspace, and has inputs of its own kind.
#[test]
fn every_target_is_here() {
    let paths = files("fuzz/fuzz_targets", "rs");
    let written: BTreeSet<&str> = paths.iter().map(|path| name(path)).collect();
    let here: BTreeSet<&str> = TARGETS.iter().map(|(file, _)| name(Path::new(file))).collect();
    assert_eq!(here, written);
    let manifest = std::fs::read_to_string(below("fuzz/Cargo.toml")).unwrap();
    let built: BTreeSet<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
        .collect();
    assert_eq!(built, written);
    for target in here {
        assert!(inputs(target).len() > 3, "{target}");
    }
}

/// Whole inputs of a target's own kind.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    match target {
        "load" | "instrument" | "launch" | "simulate" => shaders(),
        "spirv" => spirv(),
        "folder" => folders(),
        "amd" => machine_code(),
        "records" => [vec![record()], changes()].concat(),
        "report" => changes(),
        // The first half is changes to the first record: two bytes are none.
        "compare" => changes().into_iter().map(|change| [vec![0; 2], change].concat()).collect(),
        _ => panic!("no inputs of the kind that {target} takes"),
    }
}

/// Each shader of `tests/wgsl`; the options of an input stand behind its text.
fn shaders() -> Vec<Vec<u8>> {
    let paths = files("tests/wgsl", "wgsl").into_iter();
    let with_options = paths.enumerate().map(|(index, path)| {
        let mut text = std::fs::read(path).unwrap();
        text.push(u8::try_from(index % 256).unwrap());
        text
    });
    with_options.collect()
}

fn spirv() -> Vec<Vec<u8>> {
    let paths = files("crates/lanescope-simt/src/program/spirv/fixtures", "spv");
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Launch files of the examples, each with its shader: as they are, and as a captured dispatch.
fn folders() -> Vec<Vec<u8>> {
    let read = |name: String| std::fs::read(below("examples").join(name)).unwrap();
    let capture = "\n[capture]\nversion = 1\nshader = \"shader.wgsl\"\n[capture.files]\n\
                   \"shader.wgsl\" = @shader.wgsl\n\"weights.npy\" = @weights.npy\n";
    let mut folders = Vec::new();
    for example in ["blur", "rounds"] {
        for more in ["", capture] {
            folders.push(
                [
                    b"== launch.toml\n".to_vec(),
                    read(format!("{example}.toml")),
                    more.as_bytes().to_vec(),
                    b"== shader.wgsl\n".to_vec(),
                    read(format!("{example}.wgsl")),
                    b"== weights.npy\n".to_vec(),
                    read("weights.npy".to_owned()),
                ]
                .concat(),
            );
        }
    }
    folders
}

/// Words of gfx10.3 behind each byte of options.
fn machine_code() -> Vec<Vec<u8>> {
    let programs: [&[u32]; 2] = [
        &[
            0xb003_8000, // s_movk_i32 s3, 0x8000
            0xf408_0201, // s_load_dwordx4 s[8:11], s[2:3], null
            0xfa00_0000,
            0x3402_0082, // v_lshlrev_b32_e32 v1, 2, v0
            0xd834_0000, // ds_write_b32 v1, v0
            0x0000_0001,
            0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
            0xbf8a_0000, // s_barrier
            0xe070_1000, // buffer_store_dword v0, v1, s[8:11], 0 offen
            0x8002_0001,
            0xbf81_0000, // s_endpgm
        ],
        &[
            0xb003_8000, // s_movk_i32 s3, 0x8000
            0xf408_0201, // s_load_dwordx4 s[8:11], s[2:3], null
            0xfa00_0000,
            0x7e02_0281, // v_mov_b32_e32 v1, 1
            0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
            0xe0c8_4000, // buffer_atomic_add v1, off, s[8:11], 0 glc
            0x8002_0100,
            0xbf8c_3f70, // s_waitcnt vmcnt(0)
            0xbf81_0000, // s_endpgm
        ],
    ];
    let with_options = programs.into_iter().flat_map(|words| {
        (0..4_u8).map(move |option| {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            std::iter::once(option).chain(bytes).collect::<Vec<u8>>()
        })
    });
    with_options.collect()
}

fn record() -> Vec<u8> {
    std::fs::read(below("fuzz/record.json")).unwrap()
}

/// A change each to the record, all over it: to 0, to a hostile text, to twice as much.
fn changes() -> Vec<Vec<u8>> {
    let change = |index: u16| {
        let [high, low] = (index * 67).to_be_bytes();
        vec![high, low, [1, 7, 11][usize::from(index % 3)]]
    };
    (0..64).map(change).collect()
}

#[test]
fn inputs_are_of_the_kind_that_their_targets_take() {
    let decoded = |text: &[u8]| store::decode(text, Path::new("fuzz.json"));
    decoded(&record()).unwrap();
    let base = records::Base::new();
    let read = changes().into_iter().filter(|change| decoded(&base.changed(change)).is_ok());
    assert!(read.count() > 5);
    let modules = spirv();
    let words = modules.iter().map(|bytes| read_spirv("fuzz.spv", bytes).unwrap());
    let parsed = words.filter(|words| Parsed::from_spirv("fuzz.spv", words).is_ok());
    // All but the one with 8-bit numbers, which naga cannot hold.
    assert_eq!(parsed.count() + 1, modules.len());
    let texts = shaders();
    let texts = texts.iter().filter_map(|bytes| input(bytes));
    let parsed = texts.filter(|(text, _)| Parsed::new("fuzz.wgsl", text).is_ok());
    assert!(parsed.count() > 50);
}

#[test]
fn targets_find_nothing_in_what_is_known_to_be_fine() {
    let any = [Vec::new(), vec![0; 64], vec![255; 64]];
    for (file, on_bytes) in TARGETS {
        for input in any.iter().chain(&inputs(name(Path::new(file)))) {
            on_bytes(input);
            // What is but a few changes to a record is none when it is cut.
            if input.len() > 8 {
                on_bytes(&input[..input.len() / 2]);
            }
        }
    }
}
