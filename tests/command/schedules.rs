//! What `lanescope profile` says of shaders whose workgroups talk to each other, and of barriers that
//! not all invocations reach.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use lanescope::record::{Method, Run, Tag};
use lanescope::run::profile::{ProfileRequest, prepare};
use lanescope::run::simulator::SimulatorRunner;
use lanescope::run::{CountRequest, Runner};
use lanescope::simulate::Schedule;
use lanescope::units::Width;
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
    let folder = folder(CHAIN);
    if let Some(output) = pinned(&folder, &[&PROFILE[..], &["--out", "out"]].concat()) {
        let (code, _, stderr) = program::parts(&output);
        assert_eq!(code, 0, "{stderr}");
        let file = folder.path().join("out").join("result.json");
        answers.push(counts(&lanescope::store::load(&file).unwrap()));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

/// Whether the system can keep a process on some processors: on Linux it must, by `taskset` of util-linux.
const PINS: bool = cfg!(target_os = "linux");

/// The first and the last processor that this process may run on.
fn processors() -> [String; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let numbers: Vec<&str> = allowed.trim().split([',', '-']).collect();
    let [first, last] = [numbers[0], numbers[numbers.len() - 1]].map(str::to_owned);
    [first, last]
}

/// Runs the program on one processor, where the system can do that.
fn pinned(folder: &TempDir, arguments: &[&str]) -> Option<Output> {
    PINS.then(|| {
        let [first, _] = processors();
        Command::new("taskset")
            .args(["-c", &first])
            .arg(program::path())
            .args(arguments)
            .current_dir(folder.path())
            .env("VK_DRIVER_FILES", "/nonexistent/no_driver.json")
            .env("NO_COLOR", "1")
            .output()
            .expect("taskset")
    })
}

/// A gate on a look-back of 256 workgroups has one exit code, and names the same, on any number of processors.
pub(super) fn gate() {
    let condition = ["--fail-on", "efficiency<0.5"];
    let arguments = ["profile", "chain.wgsl", "--n", "16384", "--device", "sim:32"];
    let arguments = [&arguments[..], &condition].concat();
    let folder = folder(CHAIN);
    let judged = |output: &Output| {
        let (code, _, stderr) = program::parts(output);
        let told = stderr.lines().filter(|line| line.starts_with("--fail-on: "));
        (code, told.map(str::to_owned).collect::<Vec<_>>())
    };
    let free = |threads: &str| {
        let environment = [("RAYON_NUM_THREADS".to_owned(), threads.to_owned())];
        judged(&program::run(&folder, &environment, &arguments))
    };
    let first = free("2");
    assert_eq!(first.0, 1, "one lane of 32 looks back: {first:?}");
    assert!(!first.1.is_empty());
    for threads in ["1", "7"] {
        assert_eq!(free(threads), first, "{threads} threads");
    }
    if let Some(output) = pinned(&folder, &arguments) {
        assert_eq!(judged(&output), first, "on one processor");
    }
}

/// Each invocation puts itself in front of a list, and goes through the rest of it in a second dispatch.
const LISTS: &str = "@group(0) @binding(0) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64)
fn link(@builtin(global_invocation_id) id: vec3<u32>) {
    next[id.x] = atomicExchange(&heads[(id.x * id.x / 7u) % 23u], id.x + 1u);
}
@compute @workgroup_size(64)
fn walk(@builtin(global_invocation_id) id: vec3<u32>) {
    var at = next[id.x];
    var length = 0u;
    while (at != 0u) {
        at = next[at - 1u];
        length++;
    }
    sums[id.x] = length;
}
";

/// How it puts itself there.
const LINK: &str = "next[id.x] = atomicExchange(&heads[(id.x * id.x / 7u) % 23u], id.x + 1u);";

/// What one dispatch leaves for the next by the order of its workgroups is tried, though no dispatch by itself shows it.
pub(super) fn handed_on() {
    let launch = "[[dispatches]]\nentry_point = \"link\"\n[[dispatches]]\nentry_point = \"walk\"\n";
    let profile = |shader: &str, more: &[&str]| {
        let folder = folder(shader);
        program::write(&folder.path().join("chain.toml"), launch);
        let arguments = ["profile", "chain.wgsl", "--launch", "chain.toml", "--n", "1024"];
        let arguments = [&arguments[..], &["--device", "sim:32"], more].concat();
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
        assert_eq!(code, 0, "{stderr}");
        let (_, mut run, _) = program::record(&folder, &[], &arguments);
        (stdout, run.measurements.remove(0))
    };
    for (more, orders) in [(&[][..], 1), (&["--schedules", "3"], 3)] {
        let (stdout, measured) = profile(LISTS, more);
        let flag = measured.flags.iter().find(|flag| flag.tag == Tag::DependsOnSchedule);
        assert_eq!(flag.expect("a flag").lines, [12], "the loop that walks");
        assert_eq!(measured.schedules.len(), orders);
        assert!(stdout.contains("leave for a later one"), "{stdout}");
        assert!(!stdout.contains("guaranteed") && !stdout.contains("line 12: "), "{stdout}");
    }
    // That no order which is tried moves a count is no proof: which turn a lane has follows the order all the same.
    let list = LISTS.replace(LINK, "next[id.x] = atomicAdd(&heads[0], 1u) % 2u;");
    for more in [&[][..], &["--schedules", "3"]] {
        let (stdout, measured) = profile(&list, more);
        let flag = measured.flags.iter().find(|flag| flag.tag == Tag::DependsOnSchedule);
        assert_eq!(flag.expect("a flag").lines, [12], "the loop that walks");
        assert!(measured.schedules.iter().all(|other| other.blocks == measured.totals()));
        assert!(
            stdout.contains("leave for a later one") && !stdout.contains("guaranteed"),
            "{stdout}"
        );
    }
    // Sums are the same in each order, and so is what follows them.
    let sums = LISTS
        .replace(LINK, "next[id.x] = id.x; atomicAdd(&heads[id.x % 23u], id.x);")
        .replace("var at = next[id.x];", "var at = atomicLoad(&heads[id.x % 23u]);")
        .replace("at = next[at - 1u];", "at = at / 2u;");
    let (stdout, measured) = profile(&sums, &[]);
    assert!(measured.flags.iter().all(|flag| flag.tag != Tag::DependsOnSchedule), "{stdout}");
    // Lists of one element each do not depend on any order.
    let alone = LISTS.replace("(id.x * id.x / 7u) % 23u", "id.x");
    let (stdout, measured) = profile(&alone, &["--schedules", "3"]);
    assert!(measured.flags.iter().all(|flag| flag.tag != Tag::DependsOnSchedule));
    assert!(measured.schedules.is_empty() && !stdout.contains("one schedule"), "{stdout}");
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
        let outputs = [1, 2, 7].map(|threads| outputs(text, threads));
        assert!(
            !outputs[0].is_empty() && outputs.iter().all(|other| *other == outputs[0]),
            "{name}"
        );
    }
    let mut moves = 0;
    let arguments = ["profile", "shaders", "--n", "1024", "--device", "sim:32"];
    let threads = ["1", "2", "7"];
    let places = places();
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
        // Where the system cannot keep a program on one processor it only moves it as it likes.
        let mut places = places.iter().cycle().skip(run);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            moves += u32::from(places.next().is_some_and(|place| is_moved(child.id(), place)));
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
            let parts = ["dispatches", "flags", "memory", "output", "active_lanes_mean"];
            assert!(measured["memory"].is_object(), "{}", measured["kernel"]);
            Value::from(parts.map(|part| measured[part].clone()).to_vec())
        };
        let answer: Vec<Value> =
            record["measurements"].as_array().unwrap().iter().map(counts).collect();
        assert_eq!(answer.len(), 5);
        assert_eq!(first.get_or_insert_with(|| answer.clone()), &answer, "run {run}");
    }
    // A thread that ends while it is moved is an error of that move alone.
    assert!(!PINS || moves >= 50, "{moves} moves from processor to processor");
}

/// Where a program may be moved to; nothing where the system moves none.
fn places() -> Vec<String> {
    if !PINS {
        return Vec::new();
    }
    let [first, last] = processors();
    vec![first.clone(), last.clone(), format!("{first},{last}")]
}

/// Moves a process to other processors, and says whether that went well.
fn is_moved(process: u32, place: &str) -> bool {
    let moved = Command::new("taskset")
        .args(["-a", "-p", "-c", place, &process.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    moved.expect("taskset").success()
}

/// The digests of what a shader leaves in its buffers, on so many threads.
fn outputs(source: &str, threads: usize) -> BTreeMap<String, String> {
    let request = ProfileRequest {
        file: "shader.wgsl".to_owned(),
        name: "shader".to_owned(),
        source: source.to_owned(),
        derived: None,
        description: None,
        entry_point: None,
        workgroups: None,
        n: Some(1024),
        seed: 1,
    };
    let mut launch = prepare(&request, &mut |name| Err(format!("no file {name}"))).unwrap().launch;
    launch.buffers.iter_mut().for_each(|buffer| buffer.output = true);
    let simulator = SimulatorRunner::new(Width::new(32).unwrap(), 1 << 24);
    let mut simulator = simulator.schedule(Schedule::InOrder, Some(threads));
    let counted = simulator.count_once(&launch, &CountRequest::once(Method::Executed));
    counted.unwrap().outputs_sha256
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
    // The figure that is judged is the lowest of all, and the screen has the range.
    let ratios = measurement.schedules.iter().map(|other| other.efficiency_ratio);
    let ratios: Vec<f64> =
        ratios.chain([measurement.efficiency_ratio]).map(|ratio| ratio.unwrap().0).collect();
    let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let judged = format!("chain.wgsl as a whole on sim:32: {:.1} active lanes", lowest * 32.0);
    assert!(stderr.contains(&judged), "{judged}: {stderr}");
    let (_, stdout, _) = program::parts(&program::run(&folder, &[], &arguments));
    let [lowest, highest] = [lowest, highest].map(|ratio| format!("{:.1} %", ratio * 100.0));
    let range = format!("Over 6 schedules efficiency was {lowest} to {highest}");
    assert!(stdout.contains(&range), "{range}: {stdout}");
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
