//! What must hold of the loop of edit and look, and of what other tools read, without any driver.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::schemas::CALLS;
use crate::support::program;

/// Lanes of a subgroup take a loop or not.
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
fn more(v: u32) -> u32 {
    return v * 3u + 1u;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = a[g.x];
    if g.x % 32u < 8u {
        for (var i = 0u; i < 50u; i++) { v = more(v); }
    }
    a[g.x] = v;
}
";

/// The line of the branch in [`SHADER`].
const BRANCH: u64 = 8;

const PROFILE: [&str; 6] = ["profile", "a.wgsl", "--n", "1024", "--device", "sim:32"];

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("a.wgsl"), SHADER);
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    program::parts(&program::run(folder, &[], &[&PROFILE[..], arguments].concat()))
}

/// A child that watches, and its lines of output as they come.
pub(super) struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn start(folder: &TempDir, arguments: &[&str]) -> Self {
        Self::watch(folder, &[&PROFILE[..], arguments].concat())
    }

    /// Watches what a command line profiles.
    pub(super) fn watch(folder: &TempDir, arguments: &[&str]) -> Self {
        let mut child = program::command(folder.path(), &[])
            .args(arguments)
            .arg("--watch")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// The next line; a test that waits longer than a minute fails.
    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    pub(super) fn event(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The mean active lanes of the loop's line.
fn lanes(event: &Value) -> f64 {
    let marks = event["marks"].as_array().unwrap();
    let body = marks.iter().find(|mark| mark["line"] == BRANCH + 1 && mark["kind"] == "lanes");
    body.unwrap()["figures"]["active_lanes_mean"].as_f64().unwrap()
}

/// Each save is profiled; a file that vanishes, or cannot be read, ends nothing.
pub(super) fn watch_goes_on() {
    let folder = folder();
    let path = folder.path().join("a.wgsl");
    let watcher = Watcher::start(&folder, &["--json-lines"]);
    let first = watcher.event();
    assert_eq!(first["event"], "profile");
    assert!((lanes(&first) - 8.0).abs() < 0.2, "{first}");
    program::write(&path, SHADER.replace("< 8u", "< 16u"));
    assert!((lanes(&watcher.event()) - 16.0).abs() < 0.2);
    std::fs::remove_file(&path).unwrap();
    let gone = watcher.event();
    assert_eq!(gone["event"], "error");
    assert!(gone["message"].as_str().unwrap().contains("a.wgsl cannot be read"), "{gone}");
    program::write(&path, "fn main( {");
    assert_eq!(watcher.event()["event"], "error");
    // As an editor does that writes a new file and renames it.
    program::write(&folder.path().join("a.new"), SHADER.replace("< 8u", "< 24u"));
    std::fs::rename(folder.path().join("a.new"), &path).unwrap();
    assert!((lanes(&watcher.event()) - 24.0).abs() < 0.2);
}

/// The launch file and the data that it names are watched too.
pub(super) fn watch_looks_at_files() {
    let folder = folder();
    let write = |name: &str, text: &[u8]| program::write(&folder.path().join(name), text);
    let launch = |n: u32| {
        format!(
            "[[buffers]]\nname = \"a\"\nelements = {n}\nfill.file = \"a.bin\"\n\n\
             [[dispatches]]\nentry_point = \"main\"\nworkgroups = [{}, 1, 1]\n",
            n / 64
        )
    };
    let branch = SHADER.replace("g.x % 32u", "v");
    write("a.wgsl", branch.as_bytes());
    write("a.toml", launch(128).as_bytes());
    let words = |word: u32| [word.to_le_bytes(); 128].concat();
    write("a.bin", &words(9));
    let profile = ["profile", "a.wgsl", "--launch", "a.toml", "-d", "sim:32", "--json-lines"];
    let watcher = Watcher::watch(&folder, &profile);
    let operations = |event: &Value| {
        let marks = event["marks"].as_array().unwrap_or_else(|| panic!("{event}"));
        let figures =
            marks.iter().filter_map(|mark| mark["figures"]["subgroup_operations"].as_u64());
        figures.sum::<u64>()
    };
    let untaken = operations(&watcher.event());
    write("a.bin", &words(3));
    let taken = operations(&watcher.event());
    assert!(taken > 10 * untaken, "{untaken} {taken}");
    write("a.toml", launch(64).as_bytes());
    assert_eq!(operations(&watcher.event()) * 2, taken);
    write("a.toml", b"[[buffers]");
    assert_eq!(watcher.event()["event"], "error");
}

/// Without `--json-lines` the second run shows what changed from the first.
pub(super) fn watch_shows_changes() {
    let folder = folder();
    let watcher = Watcher::start(&folder, &[]);
    while !watcher.line().contains("a[g.x] = v;") {}
    // The output is flushed whole before the file is looked at again.
    std::thread::sleep(Duration::from_millis(500));
    program::write(&folder.path().join("a.wgsl"), SHADER.replace("i < 50u", "i < 25u"));
    let mut seen = Vec::new();
    while !seen.iter().any(|line: &String| line.contains("Lines that changed on")) {
        seen.push(watcher.line());
    }
    let text = seen.join("\n");
    assert!(text.contains("lines changed 1, removed 0, added 0"), "{text}");
    assert!(text.contains("better"), "{text}");
}

/// A reader that goes away ends it, quietly.
pub(super) fn broken_pipe() {
    let folder = folder();
    let mut watcher = program::command(folder.path(), &[])
        .args([&PROFILE[..], &["--json-lines", "--watch"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(watcher.stdout.take());
    let mut stderr = String::new();
    // It ends, or this waits until the test is ended.
    watcher.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(watcher.wait().unwrap().success(), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// The table and the lines that waste most are printed while changes are still to be tried.
pub(super) fn figures_first() {
    let folder = folder();
    let mut child = program::command(folder.path(), &[])
        .args(["profile", "a.wgsl", "--n", "1048576", "--device", "sim:32", "--what-if"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let table: Vec<String> =
        lines.by_ref().take_while(|line| !line.starts_with("The lines that waste")).collect();
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    assert!(table.iter().any(|line| line.starts_with("sim:32  32 ")), "{table:?}");
    let rest: Vec<String> = lines.collect();
    let place = |start: &str| rest.iter().position(|line| line.starts_with(start)).unwrap();
    assert!(place("Memory on") < place("Advice for") && place("Advice for") < place("a.wgsl on"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Marks have places and figures; annotations and SARIF what there is to do.
pub(super) fn marks() {
    let folder = folder();
    let (code, stdout, stderr) = run(&folder, &["--json-lines", "--sarif", "a.sarif"]);
    assert_eq!((code, stdout.lines().count()), (0, 1), "{stderr}");
    let event: Value = serde_json::from_str(&stdout).unwrap();
    assert!((lanes(&event) - 8.0).abs() < 0.2);
    let (_, stdout, stderr) = run(&folder, &["--json-lines", "--device", "sim:64"]);
    let both: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e} {stderr}"));
    let branch = both["marks"].as_array().unwrap().iter().filter(|mark| mark["line"] == BRANCH);
    let devices: Vec<&Value> = branch
        .filter(|mark| mark["kind"] == "lanes")
        .map(|mark| &mark["figures"]["device"])
        .collect();
    assert_eq!(devices, ["sim:32", "sim:64"], "each device has its figures");
    let marks = event["marks"].as_array().unwrap();
    let at = |line: u64| marks.iter().find(|mark| mark["line"] == line).unwrap();
    assert_eq!((&at(BRANCH)["column"], &at(BRANCH)["column_end"]), (&5.into(), &24.into()));
    let whole = &event["wholes"][0];
    assert_eq!((&whole["device"], &whole["trust"]), (&"sim:32".into(), &"guaranteed".into()));
    assert!(whole["subgroup_operations"].as_u64().unwrap() > 1000 && whole["time_ns"].is_null());
    // Two forms on standard output would be none.
    for two in [["--json-lines", "--sarif"], ["--annotations=github", "--export-json"]] {
        let (code, stdout, stderr) = run(&folder, &[&two[..], &["-"]].concat());
        assert_eq!((code, &*stdout), (2, ""), "{stderr}");
        assert!(stderr.contains("give all but one a FILE"), "{stderr}");
    }
    let sarif = std::fs::read_to_string(folder.path().join("a.sarif")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(
        !results.is_empty() && results.iter().all(|finding| finding["level"] == "note"),
        "{sarif}"
    );

    let gate = ["--annotations", "github", "--fail-on", "efficiency<0.6"];
    let (code, stdout, _) = run(&folder, &gate);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.lines().all(|line| line.starts_with("::")), "{stdout}");
    assert!(stdout.contains("::error file=a.wgsl,line=9,"), "{stdout}");
    assert!(stdout.contains("::notice file=a.wgsl,line="), "{stdout}");
}

/// The stacks of speedscope's file weigh what the record holds.
pub(super) fn speedscope() {
    let folder = folder();
    let (code, stdout, stderr) = run(&folder, &["--export-speedscope", "-", "--out", "out"]);
    assert_eq!(code, 0, "{stderr}");
    let file: Value = serde_json::from_str(&stdout).unwrap();
    let frames = file["shared"]["frames"].as_array().unwrap();
    let names: Vec<&str> = frames.iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    let profile = &file["profiles"][0];
    let weights: u64 =
        profile["weights"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap()).sum();
    assert_eq!(profile["endValue"].as_u64(), Some(weights));
    let run = lanescope::store::load(&folder.path().join("out")).unwrap();
    let blocks = run.measurements[0].dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
    let operations: u64 = blocks.map(|block| block.operations * block.executions.0).sum();
    assert_eq!(weights, operations);
    let stack = |text: &str| {
        let samples = profile["samples"].as_array().unwrap();
        samples.iter().any(|sample| {
            let at = |index: &Value| names[usize::try_from(index.as_u64().unwrap()).unwrap()];
            sample.as_array().unwrap().iter().map(at).collect::<Vec<_>>().join("/") == text
        })
    };
    assert!(stack("1 main/main/more/line 3"), "{names:?}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("class=\"flame\"") && page.contains("By function"), "no flame chart");
}

/// A folder is all its shaders; one that is wrong is told and left out.
pub(super) fn many_shaders() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("shaders")).unwrap();
    let put = |name: &str, text: &str| program::write(&folder.path().join(name), text);
    put("shaders/b.wgsl", &SHADER.replace("< 8u", "< 16u"));
    put("shaders/a.wgsl", SHADER);
    put("shaders/notes.txt", "no shader");
    let all = ["profile", "shaders", "--n", "1024", "-d", "sim:32", "-d", "sim:64"];
    let (code, run, stderr) = program::record(&folder, &[], &all);
    assert_eq!(code, 0, "{stderr}");
    let measured: Vec<(&str, &str)> =
        run.measurements.iter().map(|m| (m.device.as_str(), m.kernel.as_str())).collect();
    let expected = [("sim:32", "a"), ("sim:32", "b"), ("sim:64", "a"), ("sim:64", "b")];
    assert_eq!(measured, expected);
    assert!(run.measurements.iter().all(|m| m.what_if.is_some() && m.shapes.is_some()));
    let [a, b] = [0, 1].map(|index| run.measurements[index].efficiency_ratio.unwrap().0);
    assert!(a < b, "each has its own counts: {a} {b}");
    for page in ["out/a.html", "out/b.html"] {
        assert!(folder.path().join(page).exists(), "{page}");
    }
    put("shaders/c.wgsl", "fn main( {");
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    let (code, run, stderr) = program::record(&folder, &[], &all);
    assert_eq!((code, run.measurements.len()), (5, 4), "{stderr}");
    assert!(stderr.contains("c.wgsl is left out: "), "{stderr}");
}

/// Trials of all shaders and devices together may take as long as the profile, or two seconds where it took less; with
/// `--what-if` all are made, however long they take.
pub(super) fn trials_have_a_limit() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("shaders")).unwrap();
    let put = |name: &str, text: &str| program::write(&folder.path().join(name), text);
    put("shaders/a.wgsl", SHADER);
    put("shaders/b.wgsl", &SHADER.replace("< 8u", "< 16u"));
    let all = ["profile", "shaders", "--n", "1024", "-d", "sim:32", "-d", "sim:64"];
    let limits = |more: &[&str]| -> Vec<Option<f64>> {
        let _ = std::fs::remove_dir_all(folder.path().join("out"));
        let (code, run, stderr) = program::record(&folder, &[], &[&all[..], more].concat());
        assert_eq!(code, 0, "{stderr}");
        let tried = run.measurements.iter().map(|measured| measured.what_if.as_ref().unwrap());
        tried.map(|what_if| what_if.time_max_ns.map(|limit| limit.0 / 1e9)).collect()
    };
    let by_default = limits(&[]);
    let together: f64 = by_default.iter().map(|limit| limit.unwrap()).sum();
    assert!(by_default.len() == 4 && together > 1.999, "{by_default:?}");
    assert_eq!(limits(&["--what-if"]), [None::<f64>; 4]);
}

/// A helper that is called in two places has two rows: in the table, the flame chart, speedscope's file and the
/// record.
pub(super) fn call_sites() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("a.wgsl"), CALLS);
    let (code, stdout, stderr) = run(&folder, &["--export-speedscope", "a.json", "--out", "out"]);
    assert_eq!(code, 0, "{stderr}");
    let (_, table) = stdout.split_once("By call site").unwrap();
    for row in ["more      main, line 8 ", "more      main, line 10 "] {
        assert!(table.contains(row), "{row} is not in\n{table}");
    }
    let run = lanescope::store::load(&folder.path().join("out")).unwrap();
    let dispatch = &run.measurements[0].dispatches[0];
    let lines: Vec<Option<u32>> = dispatch.calls.iter().map(|call| call.line).collect();
    assert_eq!(lines, [None, Some(8), Some(10)]);
    // All lanes call in line 8; one call in line 10 is that of the 8 lanes of a subgroup.
    let entry = |index: usize| dispatch.calls[index].blocks[0];
    assert_eq!(entry(1).lanes.0, 48 * dispatch.workgroups.unwrap().map(u64::from)[0]);
    assert_eq!(entry(2).lanes.0, entry(2).executions.0 * 8);
    for block in &dispatch.blocks {
        let counts_here = dispatch.calls.iter().flat_map(|call| &call.blocks);
        let counts_here = counts_here.filter(|counts| counts.block == block.id);
        let sum = counts_here
            .fold((0, 0), |sum, counts| (sum.0 + counts.executions.0, sum.1 + counts.lanes.0));
        assert_eq!(sum, (block.executions.0, block.lanes.0));
    }
    let speedscope = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for name in ["more (line 8)", "more (line 10)"] {
        assert!(speedscope.contains(name) && page.contains(name), "{name}");
    }
}

/// A shader of ten thousand lines has a page, whose size is that of its lines.
pub(super) fn ten_thousand_lines() {
    let folder = TempDir::new().unwrap();
    let line = |line: u32| match line % 50 {
        0 => format!("    v = v * 3u + {line}u;\n"),
        _ => format!("    // line {line} of many\n"),
    };
    let lines: String = (0..10_000).map(line).collect();
    let text = SHADER.replace("    a[g.x] = v;\n", &format!("{lines}    a[g.x] = v;\n"));
    program::write(&folder.path().join("a.wgsl"), text);
    let arguments = ["profile", "a.wgsl", "--n", "64", "--device", "sim:32", "--out", "out"];
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("line 9999 of many"), "{stdout}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("line 9999 of many") && page.len() < 4_000_000, "{} bytes", page.len());
}

/// A shader that is new in a folder is profiled too, and shown in full beside what changed.
pub(super) fn watch_looks_at_folders() {
    let folder = folder();
    let write =
        |name: &str, text: &str| program::write(&folder.path().join("shaders").join(name), text);
    std::fs::create_dir(folder.path().join("shaders")).unwrap();
    write("a.wgsl", SHADER);
    let arguments = ["profile", "shaders", "--n", "1024", "-d", "sim:32"];
    let watcher = Watcher::watch(&folder, &[&arguments[..], &["--json-lines"]].concat());
    let files = |event: &Value| -> std::collections::BTreeSet<String> {
        let marks = event["marks"].as_array().unwrap_or_else(|| panic!("{event}"));
        marks.iter().map(|mark| mark["file"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(files(&watcher.event()).len(), 1);
    write("b.wgsl", &SHADER.replace("< 8u", "< 16u"));
    let both = files(&watcher.event());
    assert!(both.len() == 2 && both.iter().any(|file| file.ends_with("b.wgsl")), "{both:?}");
    for name in ["a.wgsl", "b.wgsl"] {
        std::fs::remove_file(folder.path().join("shaders").join(name)).unwrap();
    }
    assert_eq!(watcher.event()["event"], "error");
    write("c.wgsl", SHADER);
    assert_eq!(files(&watcher.event()).len(), 1);

    let watcher = Watcher::watch(&folder, &arguments);
    while !watcher.line().contains("a[g.x] = v;") {}
    std::thread::sleep(Duration::from_millis(500));
    write("d.wgsl", &SHADER.replace("< 8u", "< 24u"));
    while !watcher.line().contains("shaders/d.wgsl on sim:32") {}
}
