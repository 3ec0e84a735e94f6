//! What `lanescope profile` says of shaders whose workgroups talk to each other, and of barriers that
//! not all invocations reach.

use std::process::{Command, Stdio};
use std::time::Duration;

use lanescope::record::{Run, Tag};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program;

/// Each workgroup adds its number to what the workgroup before it has left.
const CHAIN: &str = "@group(0) @binding(0) var<storage, read_write> states: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> before: u32;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    if (i == 0u) {
        var sum = 0u;
        if (group.x > 0u) {
            loop {
                let state = atomicLoad(&states[group.x - 1u]);
                if (state != 0u) {
                    sum = state;
                    break;
                }
            }
        }
        before = sum;
        atomicStore(&states[group.x], sum + group.x + 1u);
    }
    workgroupBarrier();
    output[group.x * 64u + i] = before;
}
";

/// The lines of [`CHAIN`] that read what others wrote, and the conditions that follow.
const LINES: [u32; 3] = [9, 10, 11];

fn folder(shader: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("chain.wgsl"), shader);
    folder
}

const PROFILE: [&str; 6] = ["profile", "chain.wgsl", "--n", "4096", "--device", "sim:32"];

/// The counts are the same bytes with any number of threads, pinned or not.
pub(super) fn one_answer() {
    let counts = |run: &Run| {
        let measurement = &run.measurements[0];
        format!("{:?}", (&measurement.dispatches, &measurement.flags, measurement.efficiency_ratio))
    };
    let mut answers = Vec::new();
    for threads in ["1", "2", "7", "2", "7"] {
        let folder = folder(CHAIN);
        let environment = [("RAYON_NUM_THREADS".to_owned(), threads.to_owned())];
        let (code, run, stderr) = program::record(&folder, &environment, &PROFILE);
        assert_eq!(code, 0, "{stderr}");
        let flag = run.measurements[0].flags.iter().find(|f| f.tag == Tag::DependsOnSchedule);
        assert_eq!(flag.unwrap().lines, LINES);
        answers.push(counts(&run));
    }
    // Where the system can keep a process on one processor.
    let folder = folder(CHAIN);
    let program = program::path();
    let arguments = [&["-c", "0"], &[program.to_str().unwrap()][..], &PROFILE].concat();
    let pinned = Command::new("taskset")
        .args(arguments)
        .args(["--out", "out"])
        .current_dir(folder.path())
        .env("VK_DRIVER_FILES", "/nonexistent/no_driver.json")
        .output();
    if pinned.is_ok_and(|output| output.status.success()) {
        let file = folder.path().join("out").join("result.json");
        answers.push(counts(&lanescope::store::load(&file).unwrap()));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

/// A search marks neighbours of marked vertices and collects them in a list.
const SEARCH: &str = "@group(0) @binding(0) var<storage, read> edges: array<u32>;
@group(0) @binding(1) var<storage, read_write> level: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> next: array<u32>;
@group(0) @binding(3) var<storage, read_write> size: atomic<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x > 0u && atomicLoad(&level[id.x]) == 0u) { return; }
    for (var k = 0u; k < 4u; k++) {
        let vertex = edges[(id.x * 4u + k) % arrayLength(&edges)];
        if (atomicCompareExchangeWeak(&level[vertex], 0u, 1u).exchanged) {
            next[atomicAdd(&size, 1u) % arrayLength(&next)] = vertex;
        }
    }
}
";

/// Joins the trees of the two ends of each edge.
const UNION: &str = "@group(0) @binding(0) var<storage, read> edges: array<u32>;
@group(0) @binding(1) var<storage, read_write> parents: array<atomic<u32>>;
fn find(start: u32) -> u32 {
    var at = start;
    loop {
        let up = atomicLoad(&parents[at]);
        if (up == 0u) { break; }
        at = up - 1u;
    }
    return at;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = id.x;
    var b = edges[id.x];
    loop {
        a = find(a);
        b = find(b);
        if (a == b) { break; }
        let low = min(a, b);
        if (atomicCompareExchangeWeak(&parents[max(a, b)], 0u, low + 1u).exchanged) { break; }
    }
}
";

/// Workgroups take items from a common counter until none is left.
const QUEUE: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read_write> taken: atomic<u32>;
var<workgroup> item: u32;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    loop {
        if (i == 0u) { item = atomicAdd(&taken, 1u); }
        let own = workgroupUniformLoad(&item);
        if (own >= arrayLength(&output) / 64u) { break; }
        for (var turns = own * 7u % 13u; turns > 0u; turns--) { output[own * 64u + i] += 1u; }
        workgroupBarrier();
    }
}
";

/// Invocations of all workgroups add to one word behind a lock.
const LOCK: &str = "@group(0) @binding(0) var<storage, read_write> sum: array<u32, 1>;
@group(0) @binding(1) var<storage, read_write> lock: atomic<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    loop {
        if (atomicExchange(&lock, 1u) == 0u) {
            sum[0] += id.x;
            atomicStore(&lock, 0u);
            break;
        }
    }
}
";

/// Look-back, search, union-find, work queue and spin lock: the same counts in fifty runs, on one
/// thread to seven, while the system moves the program from processor to processor.
pub(super) fn fifty_runs() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("shaders")).unwrap();
    let shaders = [("chain", CHAIN), ("lock", LOCK), ("queue", QUEUE), ("search", SEARCH)];
    for (name, text) in shaders.into_iter().chain([("union", UNION)]) {
        program::write(&folder.path().join(format!("shaders/{name}.wgsl")), text);
    }
    let arguments = ["profile", "shaders", "--n", "1024", "--device", "sim:32"];
    let threads = ["1", "2", "7"];
    let mut first: Option<Vec<Value>> = None;
    for run in 0..50 {
        let environment =
            [("RAYON_NUM_THREADS".to_owned(), threads[run % threads.len()].to_owned())];
        let mut child = program::command(folder.path(), &environment)
            .args(arguments)
            .args(["--export-json", "-"])
            .stdout(Stdio::from(std::fs::File::create(folder.path().join("record.json")).unwrap()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Where the system can keep a program on one processor; else it only moves it as it likes.
        let mut processors = ["0", "1", "0,1"].into_iter().cycle().skip(run);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let id = child.id().to_string();
            let _ = Command::new("taskset")
                .args(["-a", "-p", "-c", processors.next().unwrap_or("0"), &id])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            std::thread::sleep(Duration::from_millis(7));
        };
        assert!(status.success(), "{status}");
        let text = std::fs::read(folder.path().join("record.json")).unwrap();
        let record: Value = serde_json::from_slice(&text).unwrap();
        let counts = |measured: &Value| {
            assert!(
                measured["flags"].to_string().contains("depends_on_schedule"),
                "{}: {}",
                measured["kernel"],
                measured["flags"]
            );
            Value::from(vec![measured["dispatches"].clone(), measured["flags"].clone()])
        };
        let answer: Vec<Value> =
            record["measurements"].as_array().unwrap().iter().map(counts).collect();
        assert_eq!(answer.len(), 5);
        assert_eq!(first.get_or_insert_with(|| answer.clone()), &answer, "run {run}");
    }
}

/// What depends on the order of workgroups is never called guaranteed, and other orders are judged.
pub(super) fn several_schedules() {
    let folder = folder(CHAIN);
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &PROFILE));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("of one schedule") && stdout.contains("--schedules 8"), "{stdout}");
    assert!(!stdout.contains("guaranteed"), "{stdout}");
    for line in LINES {
        assert!(!stdout.contains(&format!("line {line}: ")), "advice on line {line}: {stdout}");
    }
    let condition = ["--fail-on", "efficiency<0.02"];
    let default = [&PROFILE[..], &condition].concat();
    let (_, _, stderr) = program::parts(&program::run(&folder, &[], &default));
    assert!(stderr.contains("rests on one schedule's figures (sim:32)"), "{stderr}");
    let arguments = [&PROFILE[..], &["--schedules", "5", "--fail-on", "efficiency<=1"]].concat();
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("(the worst of 6 schedules)"), "{stderr}");
    let measurement = &run.measurements[0];
    assert_eq!(
        measurement.schedules.iter().map(|other| other.seed).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    let differs = |ratio| ratio != measurement.efficiency_ratio;
    assert!(
        measurement.schedules.iter().any(|other| differs(other.efficiency_ratio)),
        "somebody waits"
    );
    // The figure that is judged is the lowest of all.
    let lowest = measurement
        .schedules
        .iter()
        .map(|other| other.efficiency_ratio)
        .fold(measurement.efficiency_ratio.unwrap().0, |lowest, ratio| {
            lowest.min(ratio.unwrap().0)
        });
    let judged = format!("chain.wgsl as a whole on sim:32: {:.1} active lanes", lowest * 32.0);
    assert!(stderr.contains(&judged), "{judged}: {stderr}");
}

/// A barrier that not all reach is an error, told before anything else.
pub(super) fn divergent_barrier() {
    let shader = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    if (i < 7u) {
        workgroupBarrier();
    }
    output[id.x] = i;
}
";
    let folder = folder(shader);
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &PROFILE));
    assert_eq!(code, 1, "{stderr}");
    let first = stdout.lines().next().unwrap_or_default().trim_start();
    assert!(first.starts_with("error: line 5: barrier in divergent control flow."), "{stdout}");
}
