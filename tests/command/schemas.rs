//! What other tools read, held against the schemas that those tools publish; and records against ours.
//!
//! `LANESCOPE_SCHEMAS` names a folder with `fastjsonschema` (a package of Python), `sarif.json` (of
//! `@microsoft/jest-sarif`) and `speedscope.json` (`file-format-schema.json` of `speedscope`).

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::{program, trial_needing};

/// A helper that is called in two places, a branch, and a workgroup that is not full.
pub(super) const CALLS: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
fn more(v: u32) -> u32 {
    if v % 2u == 0u { return v / 2u; }
    return v * 3u + 1u;
}
@compute @workgroup_size(48)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = more(g.x);
    if g.x % 32u < 8u {
        for (var i = 0u; i < 50u; i++) { v = more(v); }
    }
    a[g.x] = v;
}
";

/// Committed records that are written again by this version.
const READ_AGAIN: usize = 24;

/// The schema of the record, from the folder of the checkout.
const RECORD: &str = "docs/record.schema.json";

pub(super) fn trials() -> Vec<Trial> {
    type Check = (&'static str, fn(&Path));
    let checks: [Check; 3] = [
        ("records_are_what_their_schema_says", records),
        ("sarif_is_what_its_schema_says", sarif),
        ("speedscope_is_what_its_schema_says", speedscope),
    ];
    let folder = std::env::var("LANESCOPE_SCHEMAS").map(PathBuf::from);
    let folder = folder.ok().filter(|folder| folder.join("sarif.json").exists());
    let trial = |(name, check): Check| {
        let folder = folder.clone();
        let why = || "LANESCOPE_SCHEMAS names no folder of schemas".to_owned();
        let missing = folder.is_none().then(why);
        let run = move || check(&folder.unwrap());
        trial_needing(format!("command::{name}"), missing, "schemas", run)
    };
    checks.into_iter().map(trial).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Holds files against a schema: how many were, or what is wrong.
fn validate(schema: &Path, options: &[&str], files: &[PathBuf]) -> Result<usize, String> {
    let script = root().join("tests/command/validate.py");
    let mut python = Command::new("python3");
    python.arg(script).args(options).arg(schema).args(files);
    let (code, stdout, stderr) = program::parts(&python.output().unwrap());
    if code == 0 { Ok(stdout.trim().parse().unwrap()) } else { Err(stderr) }
}

/// Profiles [`CALLS`]; a folder with the file that `option` names.
fn exported(option: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("a.wgsl"), CALLS);
    let arguments =
        ["profile", "a.wgsl", "--n", "1000", "-d", "sim:32", "-d", "sim:64", "--out", "out"];
    let file = folder.path().join("exported.json");
    let more = [option, "exported.json", "--fail-on", "efficiency<0.9"];
    let run = program::run(&folder, &[], &[&arguments[..], &more[..]].concat());
    let (code, _, stderr) = program::parts(&run);
    assert_eq!(code, 1, "{stderr}");
    (folder, file)
}

/// Changes a file's text, which must then be wrong.
fn spoiled(file: &Path, from: &str, to: &str) -> PathBuf {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{from} is not in {}", file.display());
    let other = file.with_extension("spoiled.json");
    program::write(&other, text.replacen(from, to, 1));
    other
}

/// Fresh records have no key that the schema does not name; committed ones are what it says.
fn records(_: &Path) {
    let schema = root().join(RECORD);
    let (folder, file) = exported("--export-json");
    let result = folder.path().join("out/result.json");
    assert_eq!(validate(&schema, &["--whole"], &[file.clone(), result]), Ok(2));
    for (from, to) in
        [("\"executions\": ", "\"executions\": -"), ("\"schema\": 2", "\"scheme\": 2")]
    {
        let wrong = validate(&schema, &["--whole"], &[spoiled(&file, from, to)]);
        assert!(wrong.is_err(), "{to} is taken");
    }
    let committed = committed();
    let number = lanescope::record::SCHEMA.to_string();
    let held = validate(&schema, &["--number", &number], &committed);
    assert!(held.as_ref().is_ok_and(|held| *held >= 3), "{held:?} of {}", committed.len());
    // Those of schema 1, of which the small ones must do, as they are written when they are read today.
    let mut small: Vec<(u64, PathBuf)> =
        committed.into_iter().map(|path| (path.metadata().unwrap().len(), path)).collect();
    small.sort();
    let again = small.into_iter().take(READ_AGAIN).enumerate().map(|(index, (_, path))| {
        let run = lanescope::store::load(&path).unwrap();
        let written = folder.path().join(format!("{index}.json"));
        program::write(&written, lanescope::store::encode(&run, &written).unwrap());
        written
    });
    let again: Vec<PathBuf> = again.collect();
    assert_eq!(validate(&schema, &["--whole"], &again), Ok(READ_AGAIN));
}

/// The committed records.
fn committed() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join("results/records")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".json.xz") {
                found.push(path);
            }
        }
    }
    found
}

fn sarif(schemas: &Path) {
    let schema = schemas.join("sarif.json");
    let (_folder, file) = exported("--sarif");
    assert_eq!(validate(&schema, &[], std::slice::from_ref(&file)), Ok(1));
    let wrong = spoiled(&file, "\"level\": \"note\"", "\"level\": \"hint\"");
    assert!(validate(&schema, &[], &[wrong]).is_err(), "a level that SARIF does not know");
}

fn speedscope(schemas: &Path) {
    let schema = schemas.join("speedscope.json");
    let (_folder, file) = exported("--export-speedscope");
    assert_eq!(validate(&schema, &[], std::slice::from_ref(&file)), Ok(1));
    let wrong = spoiled(&file, "\"unit\": \"none\"", "\"unit\": \"slots\"");
    assert!(validate(&schema, &[], &[wrong]).is_err(), "a unit that speedscope does not know");
}
