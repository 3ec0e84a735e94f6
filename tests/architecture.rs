//! Who may use whom: reads every `use` and path of the sources and fails on an edge that the
//! architecture does not allow. Code under `#[cfg(test)]` may use anything.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// What each module may use of the crate; `run` and `cli` stand beside what they may use.
const ALLOWED: [(&str, &[&str]); 20] = [
    ("units", &[]),
    // How variables lie in memory: the catalogue describes them, `program` reflects them.
    ("layout", &[]),
    // The contract has no such module: arithmetic over published limits, which needs nothing.
    ("occupancy", &["units"]),
    // Nor this one: what `algorithms` and the experiments of `kernel` would else cut twice.
    ("partition", &[]),
    // The texts that `algorithms` runs, which the catalogue counts and times.
    ("shaders", &[]),
    ("statistics", &["units"]),
    ("record", &["units"]),
    // `record::Value` is the type of parameters, which go from the catalogue into the record.
    ("kernel", &["units", "layout", "record", "partition", "shaders"]),
    ("program", &["units", "layout"]),
    ("simulate", &["units", "program"]),
    ("instrument", &["units", "program"]),
    ("translate", &["units", "program"]),
    (
        "run",
        &[
            "units",
            "layout",
            "statistics",
            "kernel",
            "program",
            "simulate",
            "instrument",
            "translate",
            "record",
        ],
    ),
    ("algorithms", &["partition", "shaders"]),
    ("store", &["record", "units"]),
    // What a device of a known architecture holds stands beside what was measured.
    ("analyze", &["record", "units", "statistics", "occupancy"]),
    ("chart", &["analyze", "record", "units"]),
    ("report", &["analyze", "record", "units", "chart"]),
    (
        "cli",
        &[
            "units",
            "statistics",
            "kernel",
            "program",
            "simulate",
            "instrument",
            "translate",
            "record",
            "run",
            "algorithms",
            "store",
            "occupancy",
            "analyze",
            "chart",
            "report",
        ],
    ),
    ("main", &["cli"]),
];

/// External crates that only these places may use.
const ONLY_IN: [(&str, &[&str]); 7] = [
    ("naga", &["program", "simulate", "instrument", "translate", "run/wgpu"]),
    ("wgpu", &["run/wgpu", "algorithms"]),
    ("cudarc", &["run/cuda"]),
    ("plotters", &["chart"]),
    ("minijinja", &["report"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text without what stands under `#[cfg(test)]` and without comments.
fn shipped(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every forbidden edge, worded.
fn violations(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let edge =
        Regex::new(r"\bcrate::([a-z_]+)|\blanescope(?:_simt|_algorithms)?::([a-z_]+)").unwrap();
    let group = Regex::new(r"(?s)\buse crate::\{(.*?)\};").unwrap();
    let word = Regex::new(r"(?:^|[{,\s])([a-z_]+)(?:::|,|$|\s)").unwrap();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut found = BTreeSet::new();
    for (path, text) in files {
        let module = path.split(['/', '.']).next().unwrap_or_default();
        let Some(may) = allowed.get(module) else {
            found.insert(format!("{path}: module `{module}` is not in the table"));
            continue;
        };
        let direct = edge.captures_iter(text).filter_map(|c| c.get(1).or(c.get(2)));
        let mut used: BTreeSet<&str> = direct.map(|found| found.as_str()).collect();
        for list in group.captures_iter(text) {
            let names = list.get(1).unwrap().as_str();
            used.extend(word.captures_iter(names).map(|c| c.get(1).unwrap().as_str()));
        }
        for other in used {
            if allowed.contains_key(other) && other != module && !may.contains(&other) {
                found.insert(format!("{path} uses `{other}`"));
            }
        }
        for (name, places) in ONLY_IN {
            let uses = Regex::new(&format!(r"(^|[^:\w]){name}::")).unwrap().is_match(text);
            if uses && !places.iter().any(|place| path.starts_with(place)) {
                found.insert(format!("{path} uses the crate `{name}`"));
            }
        }
    }
    found
}

/// The packages' folders of sources, with the module that their files belong to where it is one.
const PACKAGES: [(&str, &str); 3] = [
    ("src", ""),
    ("crates/lanescope-simt/src", ""),
    ("crates/lanescope-algorithms/src", "algorithms/"),
];

/// Modules of a package that the table knows by themselves.
const OWN_ROWS: [&str; 2] = ["partition", "shaders"];

/// Reads the packages' sources, by module and path in it.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (folder, module) in PACKAGES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut paths = Vec::new();
        sources(&root, &mut paths);
        assert!(paths.len() > 5, "{folder} was not found");
        for path in paths {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            let test = name.ends_with("tests.rs") || name.starts_with("fixtures");
            if test || format!("/{name}").contains("/tests/") || name == "lib.rs" {
                continue;
            }
            let first = name.split(['/', '.']).next().unwrap_or_default();
            let prefix = if OWN_ROWS.contains(&first) { "" } else { module };
            let text = shipped(&fs::read_to_string(&path).unwrap());
            assert_eq!(files.insert(format!("{prefix}{name}"), text), None, "{name} twice");
        }
    }
    files
}

/// The sources keep to the table.
#[test]
fn the_sources_keep_to_the_table() {
    let files = files();
    assert!(files.len() > 10, "the sources were not found");
    let violations: Vec<String> = violations(&files).into_iter().collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// The check itself can fail.
#[test]
fn forbidden_edges_are_found() {
    let planted = BTreeMap::from([
        ("units.rs".to_owned(), "use crate::record::Run;".to_owned()),
        ("chart/mod.rs".to_owned(), "use crate::{\n analyze, run::Runner};".to_owned()),
        ("store.rs".to_owned(), "fn f() { wgpu::Instance::new(); }".to_owned()),
        ("stray.rs".to_owned(), String::new()),
    ]);
    let found: Vec<String> = violations(&planted).into_iter().collect();
    assert_eq!(
        found,
        [
            "chart/mod.rs uses `run`",
            "store.rs uses the crate `wgpu`",
            "stray.rs: module `stray` is not in the table",
            "units.rs uses `record`",
        ]
    );
}
