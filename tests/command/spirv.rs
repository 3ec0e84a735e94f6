//! What `lanescope profile` makes of shaders that were made from other files, without any driver: SPIR-V, the modules of
//! `lanescope-simt`'s tests, and WGSL with a map of its lines.

use std::collections::BTreeSet;

use lanescope::record::Run;
use serde_json::Value;
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
    let source = &run.sources[&measurement.source_sha256];
    // Else no figure stands beside the text.
    assert!(blocks.iter().all(|block| block.file == source.file));
    (source.text.clone(), counts)
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

/// WGSL as a preprocessor writes it, and what it was made from.
const WRITTEN: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
fn library_more(v: u32) -> u32 {
    return v * 3u;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = library_more(data[id.x]);
    if 64u > id.x { data[id.x] = v; }
    data[id.x] += 1u;
}
";
const LIBRARY: &str = "// Three times as much.
fn more(v: u32) -> u32 {
    return v * 3u;
}
";
const IMPORTING: &str = "import library::more;
@if(BUFFERS)
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = more(data[id.x]);
    if COUNT > id.x { data[id.x] = v; }
}
";
const MAP: &str = r#"[["main.wesl", 3], ["parts/library.wesl", 2], ["parts/library.wesl", 3],
["parts/library.wesl", 4], ["main.wesl", 4], ["main.wesl", 5], ["main.wesl", 6], ["main.wesl", 7], null, null]"#;

const PROFILE_MAPPED: [&str; 6] = ["profile", "x.wgsl", "--n", "1024", "--device", "sim:32"];

/// A folder with the shader, its map and the files.
fn mapped_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let files = [
        ("x.wgsl", WRITTEN),
        ("x.wgsl.map.json", MAP),
        ("main.wesl", IMPORTING),
        ("parts/library.wesl", LIBRARY),
    ];
    for (name, text) in files {
        program::write(&folder.path().join(name), text);
    }
    folder
}

/// Figures stand on the files of the map, those of what no file has on the WGSL; counts are those of the WGSL alone.
pub(super) fn mapped() {
    let folder = mapped_folder();
    let profiled = || {
        let _ = std::fs::remove_dir_all(folder.path().join("out"));
        let (code, run, stderr) = program::record(&folder, &[], &PROFILE_MAPPED);
        assert_eq!(code, 0, "{stderr}");
        (shown(&run), stderr)
    };
    let remove = |name: &str| std::fs::remove_file(folder.path().join(name)).unwrap();
    let ((whole, counts), stderr) = profiled();
    let expected = format!("{IMPORTING}\n// parts/library.wesl\n{LIBRARY}\n// x.wgsl\n{WRITTEN}");
    assert_eq!(whole, expected);
    assert!(!stderr.contains("put there"), "{stderr}");
    remove("parts/library.wesl");
    let ((without, same), stderr) = profiled();
    assert_eq!((without, &same), (format!("{IMPORTING}\n// x.wgsl\n{WRITTEN}"), &counts));
    assert!(stderr.contains("put there: parts/library.wesl"), "{stderr}");
    remove("main.wesl");
    let ((bare, same), stderr) = profiled();
    assert_eq!((bare.as_str(), &same), (WRITTEN, &counts));
    assert!(stderr.contains("put there: main.wesl, parts/library.wesl"), "{stderr}");
    remove("x.wgsl.map.json");
    let ((plain, same), _) = profiled();
    assert_eq!((plain.as_str(), &same), (WRITTEN, &counts));
}

/// The marks of a profile that carry figures.
fn figures(folder: &TempDir, arguments: &[&str]) -> Vec<Value> {
    let output = program::run(folder, &[], &[arguments, &["--json-lines"]].concat());
    let (code, stdout, stderr) = program::parts(&output);
    assert_eq!(code, 0, "{stderr}");
    let event: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    let marks = event["marks"].as_array().unwrap().iter();
    marks.filter(|mark| mark["kind"] == "lanes").cloned().collect()
}

/// Marks for other tools name the original files, their lines and the bytes in them.
pub(super) fn marks() {
    let folder = mapped_folder();
    let marks = figures(&folder, &PROFILE_MAPPED);
    let text = |mark: &Value, key: &str| mark[key].as_str().unwrap().to_owned();
    let places: BTreeSet<(String, u64)> =
        marks.iter().map(|mark| (text(mark, "file"), mark["line"].as_u64().unwrap())).collect();
    let expected = [("main.wesl", 6), ("main.wesl", 7), ("parts/library.wesl", 3), ("x.wgsl", 9)];
    let expected = expected.map(|(file, line)| (file.to_owned(), line));
    assert_eq!(places, BTreeSet::from(expected));
    for mark in &marks {
        let file = std::fs::read_to_string(folder.path().join(text(mark, "file"))).unwrap();
        let byte = |index: usize| usize::try_from(mark["span_bytes"][index].as_u64().unwrap());
        let marked = &file[byte(0).unwrap()..byte(1).unwrap()];
        let line = usize::try_from(mark["line"].as_u64().unwrap()).unwrap();
        assert_eq!(marked, file.lines().nth(line - 1).unwrap().trim());
    }
    // Those of SPIR-V, where the sources lie beside it.
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &[u8]| program::write(&folder.path().join(name), text);
    write("trips.spv", &with_lines());
    write("trips.comp", GLSL.as_bytes());
    write("common.glsl", INCLUDED.as_bytes());
    let spirv = ["profile", "trips.spv", "--n", "1024", "--device", "sim:32"];
    let files: BTreeSet<String> =
        figures(&folder, &spirv).iter().map(|mark| text(mark, "file")).collect();
    assert_eq!(files, BTreeSet::from(["common.glsl".to_owned(), "trips.comp".to_owned()]));
}

/// A line map and a file of it that are saved are shown anew, though the shader is the same.
pub(super) fn map_watched() {
    let folder = mapped_folder();
    let write = |name: &str, text: &str| program::write(&folder.path().join(name), text);
    let watcher = Watcher::watch(&folder, &[&PROFILE_MAPPED[..], &["--json-lines"]].concat());
    let first = watcher.event();
    assert_eq!(first["event"], "profile", "{first}");
    write("parts/library.wesl", &format!("{LIBRARY}\n// saved again\n"));
    assert_eq!(watcher.event()["event"], "profile");
    write("x.wgsl.map.json", "[null]");
    let refused = watcher.event();
    assert_eq!(refused["event"], "error", "{refused}");
}
