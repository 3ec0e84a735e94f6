//! What must hold of `lanescope compare` without any driver: two shaders, two records, a gate.

use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program;

/// A short branch in a loop, and a helper.
const BRANCH: &str = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
fn step(v: f32) -> f32 {
    return v * 1.7 + 0.3;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = a[g.x];
    for (var k = 0u; k < 100u; k++) {
        v = step(v);
        if v > 1.0 { v = v - 1.0; }
    }
    a[g.x] = v;
}
";

/// The line of the branch in [`BRANCH`].
const LINE: &str = "        if v > 1.0 { v = v - 1.0; }\n";

/// The same with a `select`: every lane works at every turn, and more is done than before.
fn select() -> String {
    let costly = "        let w = v - 1.0 + 0.0 * v * v;\n        v = select(v, w, v > 1.0);\n";
    BRANCH.replace(LINE, costly)
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        program::write(&folder.path().join(name), text);
    }
    folder
}

/// Runs `compare` on `a.wgsl` and `b.wgsl`, or on what the arguments name.
fn compare(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    program::parts(&program::run(folder, &[], &[&["compare"], arguments].concat()))
}

fn json(folder: &TempDir, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = compare(folder, &[arguments, &["--export-json", "-"]].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Two shaders of any names are profiled with one launch; lines, functions and the whole have the figures
/// of both, and a change that fills lanes and costs more is called a loss.
pub(super) fn two_shaders() {
    let folder = folder(&[("particles.wgsl", BRANCH), ("particles_2.wgsl", &select())]);
    let shaders = ["particles.wgsl", "particles_2.wgsl", "--n", "4096", "--device", "sim:32"];
    let (code, stdout, stderr) = compare(&folder, &[&shaders[..], &["--out", "out"]].concat());
    assert_eq!(code, 0, "{stderr}");
    for part in [
        "The texts differ: lines changed 1, removed 0, added 1.",
        "Believe the slots",
        "Functions on",
        "Lines that changed on",
        "let w = v - 1.0 + 0.0 * v * v;",
        "worse",
    ] {
        assert!(stdout.contains(part), "{part}:\n{stdout}");
    }
    let page = std::fs::read_to_string(folder.path().join("out/compare.html")).unwrap();
    assert!(
        page.contains("let w = v - 1.0 + 0.0 * v * v;") && page.contains("the same in both"),
        "{page}"
    );
    let record = std::fs::read_to_string(folder.path().join("out/result.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let kernels: Vec<&str> = record["measurements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|measurement| measurement["kernel"].as_str().unwrap())
        .collect();
    assert_eq!(kernels, ["particles (A)", "particles_2 (B)"]);

    let found = json(&folder, &shaders);
    let launch = &found["launches"][0];
    let whole = |side: usize, key: &str| launch["whole"]["figures"][side][key].as_f64().unwrap();
    assert!(whole(1, "efficiency_ratio") > whole(0, "efficiency_ratio"));
    assert!(whole(1, "lane_slots") > whole(0, "lane_slots"));
    let slots = whole(1, "lane_slots") / whole(0, "lane_slots");
    assert!((launch["whole"]["lane_slots_ratio"].as_f64().unwrap() - slots).abs() < 1e-12);
    // The helper is the same work in both; the loop's line belongs to its like.
    let parts = |key: &str| launch[key].as_array().unwrap().clone();
    let functions = parts("functions");
    let helper = functions.iter().find(|part| part["name"] == "step").unwrap();
    assert_eq!(helper["trend"], "same");
    assert_eq!(helper["figures"][0], helper["figures"][1]);
    let lines = parts("lines");
    let line = |text: &str| {
        let has =
            |line: &&Value| line["texts"][1].as_str().is_some_and(|found| found.trim() == text);
        lines.iter().find(has).unwrap().clone()
    };
    assert_eq!((&line("v = step(v);")["a"], &line("v = step(v);")["b"]), (&9.into(), &9.into()));
    assert_eq!(line("a[g.x] = v;")["a"], 12);
    assert_eq!(line("a[g.x] = v;")["b"], 13);
    // Lines sum to the whole on both sides.
    for side in [0, 1] {
        let sum: f64 =
            lines.iter().filter_map(|line| line["figures"][side]["lane_slots"].as_f64()).sum();
        assert!((sum - whole(side, "lane_slots")).abs() < 0.5, "{sum}");
    }
}

/// A function called from several places has a row for each, in both: matched where the line moved, with the lanes of
/// that call alone, and a call that one side lacks by itself.
pub(super) fn call_sites() {
    let before = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
fn step(v: f32) -> f32 {
    return v * 1.7 + 0.3;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    let i = g.x;
    var v = step(a[i]);
    if (i & 1u) == 0u {
        v = step(v);
    }
    a[i] = v;
}
";
    let after = before
        .replace("    let i = g.x;\n", "    let i = g.x;\n    // one lane of four, then all\n")
        .replace("(i & 1u)", "(i & 3u)")
        .replace("    a[i] = v;\n", "    v = step(v + 1.0);\n    a[i] = v;\n");
    let folder = folder(&[("a.wgsl", before), ("b.wgsl", &after)]);
    let shaders = ["a.wgsl", "b.wgsl", "--n", "1024", "--device", "sim:32"];
    let found = json(&folder, &shaders);
    let launch = &found["launches"][0];
    let calls = launch["calls"].as_array().unwrap();
    let names: Vec<&str> = calls.iter().filter_map(|call| call["name"].as_str()).collect();
    let expected = [
        "step from main, line 8 → main, line 9",
        "step from main, line 10 → main, line 11",
        "step from main, line 13",
    ];
    assert_eq!(names, expected);
    let figure = |call: usize, side: usize, key: &str| calls[call]["figures"][side][key].as_f64();
    let lanes = |side| [0, 1, 2].map(|call| figure(call, side, "active_lanes_mean"));
    assert_eq!(lanes(0), [Some(32.0), Some(16.0), None]);
    assert_eq!(lanes(1), [Some(32.0), Some(8.0), Some(32.0)]);
    // Each call is executed once by each of 32 subgroups, whatever its lanes.
    let operations = |call, side| figure(call, side, "subgroup_operations").unwrap();
    assert!(operations(0, 0) > 0.0 && operations(0, 0) % 32.0 == 0.0);
    for (call, side) in [(1, 0), (0, 1), (1, 1), (2, 1)] {
        assert_eq!(operations(call, side), operations(0, 0), "{call} {side}");
    }
    // The calls of a side sum to the function.
    let functions = launch["functions"].as_array().unwrap();
    let step = functions.iter().find(|part| part["name"] == "step").unwrap();
    for (side, count) in [(0, 2.0), (1, 3.0)] {
        let whole = step["figures"][side]["subgroup_operations"].as_f64().unwrap();
        assert_eq!(whole, count * operations(0, 0));
    }
    let (code, stdout, stderr) = compare(&folder, &shaders);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Functions by where they are called from on sim:32"), "{stdout}");
}

/// Two runs of one family: what changed is shown, what did not is counted; nothing where nothing did.
pub(super) fn unchanged_launches() {
    let folder = TempDir::new().unwrap();
    let run = |sizes: &str, out: &str| {
        let axis = format!("run={sizes}");
        let arguments = ["run", "grain/run_lengths", "--device", "sim:32", "-a", &axis];
        let more = ["-a", "n=1024", "-a", "work=16", "--seeds", "1", "--out", out];
        let (code, _, stderr) =
            program::parts(&program::run(&folder, &[], &[&arguments[..], &more[..]].concat()));
        assert_eq!(code, 0, "{stderr}");
    };
    run("[1:18:1]", "a");
    run("[1:18:1]", "b");
    let (code, stdout, stderr) = compare(&folder, &["a", "b"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Nothing changed"), "{stdout}");
    assert!(!stdout.contains("run="), "no row that did not change: {stdout}");
    // One launch of B has other counts.
    let path = folder.path().join("b/result.json");
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let rows = record["measurements"].as_array_mut().unwrap();
    let block = &mut rows[3]["dispatches"][0]["blocks"][0];
    block["executions"] = (block["executions"].as_u64().unwrap() * 3).into();
    program::write(&path, record.to_string());
    let (code, stdout, stderr) = compare(&folder, &["a", "b"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Unchanged, and not shown: "), "{stdout}");
    assert_eq!(stdout.matches("run_lengths").count(), 1, "{stdout}");
}

/// A gate in parts of A: exit 1 where it is met, 0 where not, 2 where it could never be.
pub(super) fn gate() {
    let folder = folder(&[("a.wgsl", BRANCH), ("b.wgsl", &select())]);
    let gate = |condition: &str, order: [&str; 2]| {
        let more = ["--n", "1024", "--device", "sim:32", "--fail-on", condition];
        compare(&folder, &[&order[..], &more[..]].concat())
    };
    let forth = ["a.wgsl", "b.wgsl"];
    let (code, _, stderr) = gate("slots>1.01", forth);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("--fail-on: b on sim:32: slots 1."), "{stderr}");
    assert_eq!(gate("slots>1.01", ["b.wgsl", "a.wgsl"]).0, 0);
    assert_eq!(gate("slots>1.01", ["a.wgsl", "a.wgsl"]).0, 0, "what is the same passes");
    assert_eq!(gate("slots>1.01 && efficiency<1", forth).0, 0, "both must hold");
    let (code, _, stderr) = gate("time>1.10", forth);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("no launch has time on both sides"), "{stderr}");
    let (code, _, stderr) = gate("slot>1.05", forth);
    assert_eq!(code, 2);
    assert!(stderr.contains("\"slot\" is none of slots, operations"), "{stderr}");
    let (code, _, stderr) = gate("slots>-1", forth);
    assert!(code == 2 && stderr.contains("must be above 0"), "{stderr}");
}

/// A gate that fails says so by its exit code where nobody reads, too.
pub(super) fn gate_without_reader() {
    let folder = folder(&[("a.wgsl", BRANCH), ("b.wgsl", &select())]);
    for arguments in [
        &["compare", "a.wgsl", "b.wgsl", "--device", "sim:32", "--fail-on", "slots>0.001"][..],
        &["profile", "a.wgsl", "--device", "sim:32", "--fail-on", "efficiency<1"],
    ] {
        let mut child = program::command(folder.path(), &[])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(1), "{arguments:?}");
    }
}

/// Records of two shaders of other names compare, and say what else differs.
pub(super) fn records() {
    let folder = folder(&[("p.wgsl", BRANCH), ("p_2.wgsl", &select())]);
    let record = |shader: &str, out: &str, more: &[&str]| {
        let all = [&["profile", shader, "--n", "1024", "--out", out], more].concat();
        let (code, _, stderr) = program::parts(&program::run(&folder, &[], &all));
        assert_eq!(code, 0, "{stderr}");
    };
    record("p.wgsl", "one", &["--device", "sim:32"]);
    record("p_2.wgsl", "two", &["--device", "sim:32"]);
    let found = json(&folder, &["one", "two/result.json"]);
    let launch = &found["launches"][0];
    assert_eq!(launch["kernels"], serde_json::json!(["p", "p_2"]));
    assert!(!launch["differing"].to_string().contains("inputs"), "{}", launch["differing"]);

    // Other data, and another width: said first, and compared in lane slots.
    record("p.wgsl", "three", &["--device", "sim:64", "--seed", "7"]);
    let (code, stdout, _) = compare(&folder, &["one", "three"]);
    assert_eq!(code, 0, "{stdout}");
    for part in [
        "The text is the same in both.",
        "The seeds differ: 1 in A, 7 in B.",
        "The inputs differ, by their hashes: a.",
        "A ran with 32 lanes, B with 64",
    ] {
        assert!(stdout.contains(part), "{part}:\n{stdout}");
    }
    for figure in ["operations", "lanes"] {
        let gate = format!("{figure}>0.1");
        let (code, _, stderr) = compare(&folder, &["one", "three", "--fail-on", &gate]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(&format!("no launch has {figure} on both sides")), "{stderr}");
        assert!(stderr.contains("; there are slots, idle, efficiency"), "{stderr}");
    }
    let at = |part: &str| stdout.find(part).unwrap();
    assert!(at("The seeds differ") < at("lane slots  "), "what differs is said first");

    let packed = crate::records::file("lavapipe-8/five_patterns-default");
    let packed = packed.to_str().unwrap();
    let (code, stdout, stderr) = compare(&folder, &[packed, packed]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Nothing changed: "), "{stdout}");
    let (_, stdout, _) = compare(&folder, &["one", "two", "--export-markdown", "-"]);
    assert!(stdout.starts_with("## lanescope: one → two") && stdout.contains("| lane slots"));
}

/// What does not compare is a clear sentence and exit 2.
pub(super) fn nothing_in_common() {
    let other = "@group(0) @binding(0) var<storage, read_write> b: array<u32>;\n@compute @workgroup_size(32)\n\
                 fn other() {\n    b[0] += 1u;\n}\n";
    let folder = folder(&[("a.wgsl", BRANCH), ("other.wgsl", other), ("x.json", "{\"a\": 1}")]);
    for (shader, out) in [("a.wgsl", "one"), ("other.wgsl", "two")] {
        let all = ["profile", shader, "--n", "64", "--device", "sim:32", "--out", out];
        assert_eq!(program::parts(&program::run(&folder, &[], &all)).0, 0);
    }
    let (code, stdout, _) = compare(&folder, &["one", "two"]);
    assert_eq!(code, 2, "{stdout}");
    assert!(stdout.contains("Nothing to compare: no kernel was launched"), "{stdout}");
    assert!(stdout.contains("only in A: a n=64"), "{stdout}");
    // Asked for as two versions, they are compared in their sums, and it is said that no line is the same.
    let shaders = ["a.wgsl", "other.wgsl", "--n", "64", "--device", "sim:32"];
    let (code, stdout, stderr) = compare(&folder, &shaders);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("The two texts have no line of code in common"), "{stdout}");
    assert!(stdout.contains("Only A has the inputs a. Only B has the inputs b."), "{stdout}");
    program::write(&folder.path().join("y.json"), "{\"tool\":\"other\",\"schema\":2}");
    let (code, _, stderr) = compare(&folder, &["one", "y.json"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("y.json was written by `other`, not by lanescope"), "{stderr}");
    let (code, _, stderr) = compare(&folder, &["one", "x.json"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("x.json") && stderr.contains("not a lanescope result file"),
        "{stderr}"
    );
    let (code, _, stderr) = compare(&folder, &["one", "a.wgsl"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("one is a record and a.wgsl a shader"), "{stderr}");
    let (code, _, stderr) = compare(&folder, &["one", "gone"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("gone does not exist"), "{stderr}");
}

/// A dispatch that only one side has is a row of one side; its cost is in the whole.
pub(super) fn dispatches_of_one_side() {
    let source = format!(
        "{BRANCH}@compute @workgroup_size(64)\nfn more(@builtin(global_invocation_id) g: vec3u) {{\n    \
         a[g.x] = a[g.x] * 2.0;\n}}\n"
    );
    let dispatch = |name: &str| format!("[[dispatches]]\nentry_point = \"{name}\"\n");
    let single = dispatch("main");
    let two = format!("{single}{}", dispatch("more"));
    let folder = folder(&[
        ("a.wgsl", &source),
        ("b.wgsl", &source),
        ("one.toml", &single),
        ("two.toml", &two),
    ]);
    for (launch, out) in [("one.toml", "one"), ("two.toml", "two")] {
        let all = ["profile", "a.wgsl", "-l", launch, "--n", "256", "-d", "sim:32", "--out", out];
        let (code, _, stderr) = program::parts(&program::run(&folder, &[], &all));
        assert_eq!(code, 0, "{stderr}");
    }
    let found = json(&folder, &["one", "two"]);
    let launch = &found["launches"][0];
    assert!(launch["differing"].to_string().contains("The dispatches differ"));
    let dispatches = launch["dispatches"].as_array().unwrap();
    assert_eq!(dispatches.len(), 2);
    assert_eq!(dispatches[0]["trend"], "same");
    assert!(dispatches[1]["figures"][0].is_null() && !dispatches[1]["figures"][1].is_null());
    assert_eq!(dispatches[1]["trend"], "worse");
}

/// Ten thousand lines make a page of a readable length, in a few seconds.
pub(super) fn ten_thousand_lines() {
    let body = |extra: &str| {
        let lines: String = (0..10_000)
            .map(|line| match line {
                5_000 => format!("    v = v * 3u;{extra}\n"),
                _ => format!("    // line {line} of many\n"),
            })
            .collect();
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
             @compute @workgroup_size(64)\n\
             fn main(@builtin(global_invocation_id) g: vec3u) {{\n    var v = a[g.x];\n{lines}    \
             a[g.x] = v;\n}}\n"
        )
    };
    let folder = folder(&[("a.wgsl", &body("")), ("b.wgsl", &body(" v = v + 1u;"))]);
    let more = ["a.wgsl", "b.wgsl", "--n", "64", "--device", "sim:32", "--out", "out"];
    let (code, stdout, stderr) = compare(&folder, &more);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("lines changed 1,"), "{stdout}");
    let page = std::fs::read(folder.path().join("out/compare.html")).unwrap();
    assert!(page.len() < 40_000, "{} bytes", page.len());
}

/// The page of the worked example shows what the program prints, wherever only the simulator counts.
pub(super) fn worked_example() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/compare.md")).unwrap();
    let examples = root.join("examples");
    let folder = TempDir::new().unwrap();
    for file in ["blur.wgsl", "blur_64.wgsl", "blur_clamped.wgsl", "blur.toml"] {
        std::fs::copy(examples.join(file), folder.path().join(file)).unwrap();
    }
    let mut compared = 0;
    for block in page.split("```text\n$ lanescope ").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        if command.contains("wgpu") || command.contains("cuda") {
            continue;
        }
        // A shell takes the quotes away.
        let words = command.trim_end_matches("; echo $?").split(' ');
        let words: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &words));
        let printed = format!("{stdout}\n{stderr}\n{code}");
        let mut rest = printed.lines().map(str::trim_end);
        for line in shown.lines().filter(|line| !line.is_empty() && !line.starts_with("(exit")) {
            assert!(rest.any(|printed| printed == line), "{command}: {line}\nis not in\n{printed}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared} lines");
}

/// A line that takes as many lane slots with other lanes at work is no line on which nothing changed.
pub(super) fn idle_lanes() {
    const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = a[g.x];
    if g.x % 32u < 8u {
        for (var i = 0u; i < 50u; i++) { v = v * 3u + 1u; }
    }
    a[g.x] = v;
}
";
    let folder = folder(&[("a.wgsl", SHADER), ("b.wgsl", &SHADER.replace("< 8u", "< 16u"))]);
    let shaders = ["a.wgsl", "b.wgsl", "--n", "1024", "--device", "sim:32"];
    let (code, stdout, stderr) = compare(&folder, &shaders);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        !stdout.contains("Nothing changed") && stdout.contains("Lines that changed"),
        "{stdout}"
    );
    let launch = &json(&folder, &shaders)["launches"][0];
    assert_eq!(
        (&launch["whole"]["trend"], &launch["whole"]["changed"]),
        (&"same".into(), &true.into())
    );
    let changed = launch["lines"].as_array().unwrap().iter().filter(|line| line["changed"] == true);
    let lines: Vec<&Value> = changed.map(|line| &line["a"]).collect();
    assert_eq!(lines, [6], "the loop's line, and no other");
}
