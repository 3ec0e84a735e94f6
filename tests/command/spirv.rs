//! What `lanescope profile` makes of SPIR-V, without any driver: the modules of `lanescope-simt`'s tests.

use lanescope::record::Run;
use tempfile::TempDir;

use super::loops::Watcher;
use crate::support::program;

/// Where the modules lie.
macro_rules! fixtures {
    () => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/crates/lanescope-simt/src/program/spirv/fixtures/")
    };
}

const GLSL: &str = include_str!(concat!(fixtures!(), "trips.comp"));
const INCLUDED: &str = include_str!(concat!(fixtures!(), "common.glsl"));
/// With lines and the text.
const WITH_TEXT: &[u8] = include_bytes!(concat!(fixtures!(), "trips.g.spv"));
/// With lines in the newer way, and the text.
const WITH_BOTH: &[u8] = include_bytes!(concat!(fixtures!(), "trips.gvs.spv"));
/// With specialisation constants.
const CONSTANTS: &[u8] = include_bytes!(concat!(fixtures!(), "rewritten.g.spv"));

/// A module of whose instructions, each with its number in front, some are changed or left out.
fn changed(spirv: &[u8], keep: impl Fn(u32, &mut Vec<u32>) -> bool) -> Vec<u8> {
    let words: Vec<u32> =
        spirv.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let (header, mut rest) = words.split_at(5);
    let mut made = header.to_vec();
    while let Some(first) = rest.first() {
        let (instruction, after) = rest.split_at((first >> 16) as usize);
        let mut operands = instruction[1..].to_vec();
        if keep(first & 0xffff, &mut operands) {
            let count = u32::try_from(operands.len() + 1).unwrap();
            made.push(count << 16 | first & 0xffff);
            made.extend(operands);
        }
        rest = after;
    }
    made.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// With lines, without the text.
fn with_lines() -> Vec<u8> {
    const EXT_INST: u32 = 12;
    const DEBUG_SOURCE: u32 = 35;
    changed(WITH_BOTH, |op, operands| {
        // A type, a result, the set, the instruction and the file; then the text.
        if op == EXT_INST && operands.get(3) == Some(&DEBUG_SOURCE) {
            assert_eq!(operands.len(), 6);
            operands.truncate(5);
        }
        true
    })
}

/// Without anything about the source.
fn bare() -> Vec<u8> {
    // OpSource, OpString, OpLine, OpNoLine.
    const ABOUT: [u32; 4] = [3, 7, 8, 317];
    changed(WITH_TEXT, |op, _| !ABOUT.contains(&op))
}

/// Profiles a module that lies in a folder.
fn profile(folder: &TempDir, spirv: &[u8], more: &[&str]) -> Run {
    program::write(&folder.path().join("trips.spv"), spirv);
    let arguments = ["profile", "trips.spv", "--n", "1024", "--device", "sim:32"];
    let _ = std::fs::remove_dir_all(folder.path().join("out"));
    let (code, run, stderr) = program::record(folder, &[], &[&arguments, more].concat());
    assert_eq!(code, 0, "{stderr}");
    run
}

/// The text on whose lines the figures stand, and the executions and lanes of each block.
fn shown(run: &Run) -> (String, Vec<(u64, u64)>) {
    let measurement = &run.measurements[0];
    let blocks = &measurement.dispatches[0].blocks;
    let counts = blocks.iter().map(|block| (block.executions.0, block.lanes.0)).collect();
    (run.sources[&measurement.source_sha256].text.clone(), counts)
}

/// The source is shown that the module holds, or that lies beside it; where neither is there, WGSL.
pub(super) fn source() {
    let folder = TempDir::new().unwrap();
    let (embedded, counts) = shown(&profile(&folder, WITH_TEXT, &[]));
    assert!(embedded.starts_with(GLSL) && embedded.ends_with(INCLUDED), "{embedded}");
    let (bare, bare_counts) = shown(&profile(&folder, &bare(), &[]));
    assert!(bare.contains("loop {") && !bare.contains("#version"), "{bare}");
    let (missing, missing_counts) = shown(&profile(&folder, &with_lines(), &[]));
    assert!(missing.contains("loop {") && !missing.contains("#version"), "{missing}");
    let write = |name: &str, text: &str| program::write(&folder.path().join(name), text);
    write("trips.comp", GLSL);
    write("common.glsl", INCLUDED);
    let (beside, beside_counts) = shown(&profile(&folder, &with_lines(), &[]));
    assert_eq!(beside, embedded);
    assert_eq!([&bare_counts, &missing_counts, &beside_counts], [&counts; 3]);
}

/// A source file that is saved is shown anew, though the module is the same.
pub(super) fn watched() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &[u8]| program::write(&folder.path().join(name), text);
    write("trips.spv", &with_lines());
    write("trips.comp", GLSL.as_bytes());
    write("common.glsl", INCLUDED.as_bytes());
    let profile = ["profile", "trips.spv", "--n", "1024", "--device", "sim:32"];
    let watcher = Watcher::watch(&folder, &[&profile[..], &["--json-lines"]].concat());
    let first = watcher.event();
    write("common.glsl", format!("{INCLUDED}\n// saved again\n").as_bytes());
    assert_eq!(watcher.event()["event"], "profile", "{first}");
}

/// A link in place of a source file is not followed.
#[cfg(unix)]
pub(super) fn links() {
    let folder = TempDir::new().unwrap();
    let secret = TempDir::new().unwrap();
    program::write(&secret.path().join("secret"), "not for a page\n".repeat(40));
    std::os::unix::fs::symlink(secret.path().join("secret"), folder.path().join("trips.comp"))
        .unwrap();
    let (text, _) = shown(&profile(&folder, &with_lines(), &[]));
    assert!(!text.contains("not for a page"), "{text}");
}

/// Specialisation constants take values from a launch file, by name and by number.
pub(super) fn constants() {
    let folder = TempDir::new().unwrap();
    let launch =
        "[overrides]\nFACTOR = 5\n7 = 32\n\n[[buffers]]\nname = \"result\"\nelements = 6144\n";
    program::write(&folder.path().join("launch.toml"), launch);
    let run = profile(&folder, CONSTANTS, &["--launch", "launch.toml", "--workgroups", "8"]);
    let grid = &run.measurements[0].dispatches[0];
    assert_eq!(grid.workgroup_size, [32, 1, 1]);
    let wrong = launch.replace("FACTOR", "WIDTH");
    program::write(&folder.path().join("wrong.toml"), wrong);
    let arguments = ["profile", "trips.spv", "--launch", "wrong.toml", "--device", "sim:32"];
    let (code, _, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("there is no specialisation constant \"WIDTH\""), "{stderr}");
}
