//! Drivers that trap, exit, print, hang or lose their device, beside one that works.
//!
//! The bad drivers are libraries of a few lines, built here by the system's C compiler; the lost device is
//! a layer over lavapipe (`layer.c`). Loops that lavapipe leaves by itself are run on SwiftShader too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lanescope::record::{Flag, Measurement, RunErrorKind, Status, Tag};
use lanescope::units::visible::is_hidden;
use tempfile::TempDir;

use super::{Ended, files_in, input, run};
use crate::support::drivers::Driver;
use crate::support::program;

/// A check that needs a driver.
pub(super) type Check = (&'static str, fn(&Driver));

/// Every check on lavapipe, beside which there must be a C compiler.
pub(super) const CHECKS: &[Check] = &[
    ("a_bad_driver_is_named_and_the_good_one_runs", bad_drivers),
    ("drivers_that_fail_only_together_are_told_apart", crowded),
    ("what_a_driver_prints_reaches_nobody", printing),
    ("a_driver_that_hangs_costs_ten_seconds", hanging),
    ("what_a_driver_calls_a_device_shows_escapes_alone", names),
    ("a_device_lost_at_any_submission_costs_its_launch", lost),
    ("a_driver_that_gives_up_waiting_costs_its_launch", unanswered),
    ("an_adapter_that_gives_no_device_is_left_out", deviceless),
    ("a_short_budget_ends_a_run_that_counts_too", short_budget),
    ("cut_off_loops_are_flagged_with_their_lines", cut_off_loops),
    #[cfg(target_os = "linux")]
    ("a_killed_parent_takes_its_children_along", super::children::killed_parent),
];

/// Every check on SwiftShader.
pub(super) const SWIFTSHADER_CHECKS: &[Check] = &[
    ("swiftshader_runs_long_loops_of_every_form_to_their_end", long_loops),
    ("no_count_of_an_endless_loop_on_swiftshader_is_without_a_flag", endless_loops),
];

/// Why there is no compiler, where there is none.
pub(super) fn compiler_missing() -> Option<String> {
    let works =
        Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    (!works).then(|| "cc is not installed".to_owned())
}

/// Builds a library from C, with more options of the compiler's.
pub(super) fn build(folder: &Path, source: &Path, name: &str, options: &[&str]) {
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(folder.join(name)).arg(source);
    assert!(command.args(options).status().unwrap().success(), "{}", source.display());
}

/// The variables with which the drivers of these manifests, and the good one, are found.
fn beside(driver: &Driver, manifests: &[&Path]) -> Vec<(String, String)> {
    let mut environment = driver.environment();
    let (_, good) = environment.iter_mut().find(|(name, _)| name == "VK_DRIVER_FILES").unwrap();
    let mut files: Vec<PathBuf> = manifests.iter().map(|path| path.to_path_buf()).collect();
    files.push(PathBuf::from(&*good));
    *good = std::env::join_paths(files).unwrap().into_string().unwrap();
    environment
}

/// The manifest of a driver that does no more than what `does` names in `inputs/driver.c`.
fn manifest(folder: &Path, does: &str) -> PathBuf {
    let name = does.to_lowercase();
    build(folder, &input("driver.c"), &format!("lib{name}.so"), &[&format!("-D{does}")]);
    let manifest = folder.join(format!("{name}.json"));
    let text = format!(
        r#"{{"file_format_version":"1.0.0","ICD":{{"library_path":"./lib{name}.so","api_version":"1.1.0"}}}}"#
    );
    program::write(&manifest, text);
    manifest
}

/// Asserts that doctor names the bad driver with what it did, examines the good one, and exits with 4.
fn doctor_names(ended: &Ended, what: &str, did: &str) {
    ended.sound(what);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ended.code, Some(4), "{what}: {text}\n{}", ended.stderr);
    assert!(text.contains(&format!("{what}.json is left out: {did}")), "{what}: {text}");
    assert!(text.contains("wgpu:0 llvmpipe"), "{what}: {text}");
}

fn bad_drivers(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let trap = manifest(folder.path(), "TRAP");
    let exits = manifest(folder.path(), "EXITS");
    let broken = folder.path().join("broken.json");
    program::write(&broken, "{ no JSON");
    let doctor = |manifest: &Path| {
        let environment = beside(driver, &[manifest]);
        run(&folder, &environment, &["doctor", "--device", "wgpu:0"], 60)
    };
    doctor_names(&doctor(&trap), "trap", "the device's process ended (signal");
    doctor_names(&doctor(&exits), "exits", "the device's process ended (exit status: 0)");
    doctor_names(&doctor(&broken), "broken", "its file is no JSON");
    // A run goes on with the good one, and says what is wrong.
    let environment = beside(driver, &[&trap, &exits, &broken]);
    let ended = run(
        &folder,
        &environment,
        &["five_patterns/uniform", "--quick", "--device", "wgpu:0", "--no-counting", "--out", "o"],
        60,
    );
    ended.says("run", 0, "trap.json is left out");
    let run = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    assert!(run.devices[0].name.contains("llvmpipe"), "{:?}", run.devices);
}

/// Drivers of which each answers alone.
fn crowded(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let crowded = manifest(folder.path(), "CROWDED");
    let alone = [("VK_DRIVER_FILES".to_owned(), crowded.display().to_string())];
    let ended = run(&folder, &alone, &["doctor"], 60);
    assert_eq!(ended.code, Some(0), "alone it is harmless: {}{}", ended.stdout, ended.stderr);
    let environment = beside(driver, &[&crowded]);
    let ended = run(&folder, &environment, &["doctor", "--device", "wgpu:0"], 60);
    let did = "it answers alone, and not beside others: the device's process ended (signal";
    doctor_names(&ended, "crowded", did);
}

fn printing(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let prints = manifest(folder.path(), "PRINTS");
    let environment = beside(driver, &[&prints]);
    let ended = run(
        &folder,
        &environment,
        &["five_patterns/uniform", "--quick", "--device", "wgpu:0", "--no-counting", "--out", "o"],
        60,
    );
    ended.sound("prints");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stdout.contains("garbage") && !ended.stderr.contains("garbage"));
}

fn hanging(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let sleeps = manifest(folder.path(), "SLEEPS");
    let environment = beside(driver, &[&sleeps]);
    let ended = run(&folder, &environment, &["doctor", "--device", "wgpu:0"], 60);
    doctor_names(&ended, "sleeps", "listing the devices of wgpu: nothing was heard for 10 s");
    let seconds = Duration::from_secs;
    assert!((seconds(10)..seconds(25)).contains(&ended.took), "{:?}", ended.took);
}

/// The variables that put the layer over a driver.
pub(super) fn with_layer(
    driver: &Driver,
    folder: &Path,
    variable: &str,
    value: &str,
) -> Vec<(String, String)> {
    let mut environment = driver.environment();
    environment.extend(
        [
            ("VK_LAYER_PATH", folder.display().to_string()),
            ("VK_INSTANCE_LAYERS", "VK_LAYER_LANESCOPE_test".to_owned()),
            (variable, value.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    environment
}

/// Builds the layer and its manifest.
pub(super) fn build_layer(folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/layer.c");
    build(folder, &source, "libtest.so", &[]);
    program::write(
        &folder.join("test.json"),
        r#"{"file_format_version":"1.1.2","layer":{"name":"VK_LAYER_LANESCOPE_test","type":"GLOBAL",
           "library_path":"./libtest.so","api_version":"1.3.0","implementation_version":"1",
           "description":"for tests"}}"#,
    );
}

/// What steers a terminal, turns text around, breaks lines and is markup.
const STEERING: &str = "a\u{202e}b\u{1b}[31mc\u{9b}2Jd\ne\rf\u{2066}g\th</td><script>i";

/// The same with escapes.
const SHOWN: &str = "a\\u202eb\\u001b[31mc\\u009b2Jd\\u000ae\\u000df\\u2066g\\u0009h</td><script>i";

fn names(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    build_layer(folder.path());
    let environment = with_layer(driver, folder.path(), "LANESCOPE_TEST_NAME", STEERING);
    let doctor = run(&folder, &environment, &["doctor", "--device", "wgpu:0"], 60);
    doctor.sound("doctor");
    assert_eq!(doctor.code, Some(0), "{}", doctor.stderr);
    // In the list of devices, and in the table as the device's and as the driver's.
    assert!(doctor.stdout.contains(&format!("wgpu:0 {SHOWN} (vulkan)")), "{}", doctor.stdout);
    assert!(doctor.stdout.matches(SHOWN).count() >= 3, "{}", doctor.stdout);
    let arguments = ["five_patterns/uniform", "--quick", "--budget", "0.3", "--no-counting"];
    let device = ["--device", "wgpu:0", "--out", "o"];
    let ended = run(&folder, &environment, &[&arguments[..], &device].concat(), 60);
    ended.sound("run");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.matches(SHOWN).count() >= 2, "{}", ended.stdout);
    for path in files_in(&folder.path().join("o")) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(is_hidden), "{} hides something", path.display());
        let page = path.extension().is_some_and(|ending| ending == "html" || ending == "svg");
        assert!(!(page && text.contains("<script")), "{}", path.display());
    }
    let record = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    assert_eq!(record.devices[0].name, SHOWN);
    assert!(record.devices[0].driver.contains(SHOWN), "{}", record.devices[0].driver);
    let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
    let (shown, _) = SHOWN.split_once('<').unwrap();
    assert!(page.contains(&format!("{shown}&lt;")), "the page does not name the device");
}

fn lost(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    build_layer(folder.path());
    let mut lost = 0;
    for (variable, at) in [
        ("LANESCOPE_TEST_LOST_AT", 1),
        ("LANESCOPE_TEST_LOST_AT", 3),
        ("LANESCOPE_TEST_LOST_AT", 60),
        ("LANESCOPE_TEST_LOST_AT", 100),
        ("LANESCOPE_TEST_MEMORY_AT", 1),
        ("LANESCOPE_TEST_MEMORY_AT", 4),
    ] {
        let environment = with_layer(driver, folder.path(), variable, &at.to_string());
        let out = format!("{variable}-{at}");
        let arguments = ["five_patterns/uniform", "five_patterns/early_exit", "--quick"];
        let devices = ["--device", "wgpu:0", "--device", "sim:8", "--out", &out];
        let ended = run(&folder, &environment, &[&arguments[..], &devices].concat(), 60);
        ended.sound(&out);
        // Where nothing can be allocated at all, there is no device to run on.
        if !folder.path().join(&out).exists() {
            assert_eq!(ended.code, Some(3), "{out}: {}", ended.stderr);
            lost += 1;
            continue;
        }
        let run = lanescope::store::load(&folder.path().join(&out).join("result.json")).unwrap();
        let measured =
            |id: &str| run.measurements.iter().filter(|m| m.device == id).collect::<Vec<_>>();
        assert!(
            measured("sim:8").iter().all(|m| m.status == Status::Ok),
            "{out}: {}",
            ended.stderr
        );
        assert!(measured("sim:8").len() >= 2, "{out}");
        let failed = measured("wgpu:0").iter().filter(|m| m.status == Status::Failed).count();
        let expected = if failed > 0 || measured("wgpu:0").is_empty() { 5 } else { 0 };
        assert_eq!(ended.code, Some(expected), "{out}: {}", ended.stderr);
        let kinds = measured("wgpu:0").iter().filter_map(|m| m.error_kind).collect::<Vec<_>>();
        let told = [RunErrorKind::DeviceLost, RunErrorKind::OutOfMemory];
        assert!(kinds.iter().all(|kind| told.contains(kind)), "{out}: {kinds:?}\n{}", ended.stderr);
        lost += usize::from(expected == 5);
    }
    assert!(lost >= 4, "the layer lost {lost} devices");
}

/// A driver that gives up waiting at once: the device is not used where that is while it is opened, and a launch fails
/// where it is later.
fn unanswered(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    build_layer(folder.path());
    let (mut unopened, mut failed) = (0, 0);
    let words = "did not return within 3600 s";
    for at in ["1", "260", "400", "600"] {
        let environment = with_layer(driver, folder.path(), "LANESCOPE_TEST_TIMEOUT_AT", at);
        let arguments = ["five_patterns/uniform", "five_patterns/early_exit", "--quick"];
        let devices = ["--device", "wgpu:0", "--device", "sim:8", "--out", at];
        let ended = run(&folder, &environment, &[&arguments[..], &devices].concat(), 60);
        ended.sound(at);
        let run = lanescope::store::load(&folder.path().join(at).join("result.json")).unwrap();
        let (there, simulated): (Vec<_>, Vec<_>) =
            run.measurements.iter().partition(|measurement| measurement.device == "wgpu:0");
        assert!(simulated.len() >= 2 && simulated.iter().all(|m| m.status == Status::Ok), "{at}");
        if there.is_empty() {
            ended.says(at, 5, words);
            assert!(ended.stderr.contains("wgpu:0 cannot be used: "), "{at}: {}", ended.stderr);
            unopened += 1;
            continue;
        }
        let errors: Vec<_> = there.iter().filter(|m| m.status == Status::Failed).collect();
        for measurement in &errors {
            assert_eq!(measurement.error_kind, Some(RunErrorKind::TimeLimit), "{at}");
            let why = measurement.error.as_deref().unwrap_or_default();
            assert!(why.contains(words), "{at}: {why}");
        }
        let expected = if errors.is_empty() { 0 } else { 5 };
        assert_eq!(ended.code, Some(expected), "{at}: {}", ended.stderr);
        failed += errors.len();
    }
    assert!(unopened > 0 && failed > 0, "{unopened} unopened, {failed} failed");
}

/// An adapter whose driver makes no device is named with the reason, and what needs it says so.
fn deviceless(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    build_layer(folder.path());
    let environment = with_layer(driver, folder.path(), "LANESCOPE_TEST_REFUSED_AT", "1");
    let arguments = ["five_patterns/uniform", "--quick", "--device", "wgpu:0", "--out", "o"];
    let ended = run(&folder, &environment, &arguments, 40);
    ended.says("run", 3, "(vulkan): it gives no device: ");
    assert!(!folder.path().join("o").exists());
    let ended = run(&folder, &environment, &["doctor"], 60);
    ended.sound("doctor");
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ended.code, Some(0), "{text}");
    assert!(text.contains("left out llvmpipe") && text.contains("it gives no device: "), "{text}");
}

/// What a run counts comes beside its budget, and it ends all the same; the help and, where it takes long, the run
/// itself say so.
fn short_budget(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let help = run(&folder, &[], &["run", "--help"], 20);
    let help = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("Counting comes before, and is not within them"), "{help}");
    let arguments = ["run", "five_patterns/early_exit", "--quick", "--budget", "2", "--histogram"];
    let devices = ["wgpu:0", "sim:8", "sim:32"].map(|id| ["--device", id]).concat();
    let arguments = [&arguments[..], &devices[..], &["--out", "o"]].concat();
    let ended = run(&folder, &driver.environment(), &arguments, 100);
    ended.sound("run");
    assert_eq!(ended.code, Some(0), "after {:?}: {}", ended.took, ended.stderr);
    let record = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    for id in ["wgpu:0", "sim:8", "sim:32"] {
        let mut measurements = record.measurements.iter().filter(|m| m.device == id).peekable();
        assert!(measurements.peek().is_some(), "{id}");
        for measurement in measurements {
            let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
            assert!(blocks.count() > 0, "{id}: it is counted");
            let mut blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
            assert!(blocks.all(|block| block.histogram.is_some()), "{id}: with its histograms");
        }
    }
    let takes_long =
        |line: &&str| line.contains(": counting ") && line.contains(" launches takes ");
    for line in ended.stderr.lines().filter(takes_long) {
        assert!(line.ends_with(" s more; --budget is of timing alone"), "{line}");
    }
}

/// Loops that lavapipe leaves too early: what comes behind the head of `main`, and the line where the loop begins.
/// Every form of loop and of way out that WGSL has.
const CUT_LOOPS: [(&str, &str, u32); 12] = [
    ("while", "while i < 70000u { i += 1u; }", 3),
    ("for", "for (; i < 70000u; i++) { x ^= i; }", 3),
    ("break", "for (;;) { i += 1u; if i >= 70000u { break; } x ^= i; }", 3),
    ("continue", "for (; i < 70000u; i++) { if i % 3u == 0u { continue; } x ^= i; }", 3),
    (
        "return in a switch",
        "loop { switch i { case 70000u: { return; } default: { i += 1u; } } }",
        3,
    ),
    (
        "break behind a switch",
        "loop { switch i % 2u { case 0u: { x ^= i; } default: {} } i += 1u; if i > 70000u { break; } }",
        3,
    ),
    ("few lanes", "if id.x == 3u { while i < 70000u { i += 1u; } }", 3),
    (
        "inside a loop",
        "for (var k = 0u; k < 2u; k++) {\n i = 0u;\n while i < 70000u { i += 1u; }\n}",
        5,
    ),
    ("return in a for", "for (; i < 200000u; i++) { if i == 199999u { o[id.x] = i; return; } }", 3),
    ("endless", "loop { continuing { break if false; } }", 3),
    // Each is within the limit alone: the driver counts the iterations of both.
    (
        "one behind the other",
        "loop { i += 1u; continuing { break if i >= 40000u; } }
loop { x += 1u; continuing { break if x >= 40000u; } }",
        4,
    ),
    (
        "each time again",
        "for (; i < 300u; i++) { var k = 0u;
loop { k += 1u; x += 1u; continuing { break if k >= 300u; } } }",
        4,
    ),
];

/// What the loops write to.
const WRITTEN: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;";

/// A loop that lanes leave by the `return` of its function.
const CALLED: &str =
    "fn f(n: u32) -> u32 { var i = 0u; loop { i += 1u; if i >= n { return i; } } return 0u; }";

fn cut_off_loops(driver: &Driver) {
    let main = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {";
    let folder = TempDir::new().unwrap();
    let shader = folder.path().join("s.wgsl");
    program::write(&shader, super::BREAK_IF);
    is_flagged(driver, "256", "break if", &shader, 4);
    program::write(&shader, format!("{WRITTEN}\n{CALLED}\n{main} o[id.x] = f(200000u); }}\n"));
    is_flagged(driver, "256", "return in a function", &shader, 2);
    // lavapipe has 4, 8 or 16 lanes by the bits of the processor's vectors.
    let bits = ["128", "256", "512"].into_iter().cycle();
    for ((name, text, line), bits) in CUT_LOOPS.iter().zip(bits) {
        let start = "var i = 0u; var x = 0u;";
        let text = format!("{WRITTEN}\n{main} {start}\n{text}\no[id.x] = i + x;\n}}\n");
        program::write(&shader, text);
        is_flagged(driver, bits, name, &shader, *line);
    }
}

/// Asserts that a profile of the shader on lavapipe says in record and page that the loop of the line was, or may
/// have been, cut off.
fn is_flagged(driver: &Driver, bits: &str, name: &str, shader: &Path, line: u32) {
    let folder = TempDir::new().unwrap();
    let mut environment = driver.environment();
    environment.retain(|(name, _)| name != "LP_NATIVE_VECTOR_WIDTH");
    environment.push(("LP_NATIVE_VECTOR_WIDTH".to_owned(), bits.to_owned()));
    let arguments = ["profile", shader.to_str().unwrap(), "--n", "64", "--out", "o"];
    let device = ["--device", "wgpu:0", "--time-limit", "20"];
    let ended = run(&folder, &environment, &[&arguments[..], &device].concat(), 60);
    ended.sound(name);
    let run = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    assert_eq!(run.devices[0].loop_limit, Some(65_535), "{name}");
    let flags = &run.measurements[0].flags;
    let flagged = cut_off_flags(&run.measurements[0]).find(|flag| flag.lines.contains(&line));
    let flagged = flagged.unwrap_or_else(|| panic!("{name}: {flags:?}\n{}", ended.stderr));
    let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
    let marked = format!("{}_line_{line}", flagged.tag.word());
    assert!(page.contains(&marked), "{name}: {marked} is not in the page");
}

/// What a measurement says of loops that were or may have been cut off.
fn cut_off_flags(measurement: &Measurement) -> impl Iterator<Item = &Flag> {
    let tags = [Tag::LoopCutOff, Tag::LoopMayBeCutOff];
    measurement.flags.iter().filter(move |flag| tags.contains(&flag.tag))
}

/// SwiftShader leaves no loop by itself: whatever lavapipe cuts off it runs to the end, with the simulator's lanes, and
/// nothing is flagged.
fn long_loops(driver: &Driver) {
    let forms = CUT_LOOPS.iter().filter(|(name, ..)| *name != "endless").map(|(_, text, _)| *text);
    let beside =
        ["loop { i += 1u; continuing { break if i >= 200000u; } }", "i = f(200000u); x = i;"];
    let forms: Vec<&str> = forms.chain(beside).collect();
    assert_eq!(forms.len(), CUT_LOOPS.len() + 1);
    // Each in a function, so that a `return` leaves its form alone.
    let function = |(number, text): (usize, &&str)| {
        let start = "var i = 0u; var x = 0u;";
        format!("fn form_{number}(id: vec3u) {{ {start}\n{text}\no[id.x] += i + x;\n}}\n")
    };
    let functions = forms.iter().enumerate().map(function).collect::<Vec<_>>().concat();
    let calls: Vec<String> =
        (0..forms.len()).map(|number| format!("form_{number}(id);\n")).collect();
    let main = "@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {";
    let folder = TempDir::new().unwrap();
    let text = format!("{WRITTEN}\n{CALLED}\n{functions}{main}\n{}}}\n", calls.concat());
    program::write(&folder.path().join("s.wgsl"), text);
    let arguments = ["profile", "s.wgsl", "--n", "4", "--no-timing", "--steps", "2^30"];
    let devices = ["--device", "wgpu:0", "--device", "sim:4", "--out", "o"];
    let ended = run(&folder, &driver.environment(), &[&arguments[..], &devices].concat(), 60);
    ended.sound("long loops");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    let device = run.devices.iter().find(|device| device.id == "wgpu:0").unwrap();
    assert_eq!(device.loop_limit, None);
    let counted = |id: &str| -> Vec<(u64, u64)> {
        let measurement = run.measurements.iter().find(|found| found.device == id).unwrap();
        assert_eq!(measurement.status, Status::Ok, "{id}: {:?}", measurement.error);
        assert_eq!(cut_off_flags(measurement).next(), None, "{id}");
        let blocks = measurement.dispatches[0].blocks.iter();
        blocks.map(|block| (block.executions.0, block.lanes.0)).collect()
    };
    let (found, expected) = (counted("wgpu:0"), counted("sim:4"));
    assert!(expected.iter().any(|(executions, _)| *executions >= 199_999), "{expected:?}");
    let lanes =
        |counts: &[(u64, u64)]| -> Vec<u64> { counts.iter().map(|count| count.1).collect() };
    assert_eq!(lanes(&found), lanes(&expected));
    // It runs what stands before a `break` once all lanes have left (docs/findings/agreement.md).
    let later = found.iter().zip(&expected).all(|(found, expected)| found.0 <= expected.0);
    assert!(later, "{found:?}, simulated {expected:?}");
}

/// Loops without an end, and whether SwiftShader is known to run them until its process is ended: one that does nothing
/// its compiler may leave out.
const ENDLESS_LOOPS: [(&str, &str, bool); 3] = [
    ("empty", "loop { continuing { break if false; } }", false),
    ("in a branch", "if id.x < 2u { loop { continuing { break if false; } } }", false),
    ("stores", "loop { o[id.x] += 1u; continuing { break if false; } }", true),
];

/// An endless loop on SwiftShader either costs its process, and nothing is counted, or was left out of the shader, and
/// the page says that it was or may have been cut off.
fn endless_loops(driver: &Driver) {
    let main = "@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {";
    for (name, text, is_kept) in ENDLESS_LOOPS {
        let folder = TempDir::new().unwrap();
        let text = format!("{WRITTEN}\n{main} o[id.x] = 1u;\n{text}\no[id.x] += 1u;\n}}\n");
        program::write(&folder.path().join("s.wgsl"), text);
        let arguments = ["profile", "s.wgsl", "--n", "4", "--no-timing", "--out", "o"];
        let device = ["--device", "wgpu:0", "--time-limit", "4"];
        let ended = run(&folder, &driver.environment(), &[&arguments[..], &device].concat(), 60);
        ended.sound(name);
        let run = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
        let measurement = &run.measurements[0];
        if measurement.status == Status::Failed {
            assert_eq!(ended.code, Some(5), "{name}: {}", ended.stderr);
            assert_eq!(measurement.error_kind, Some(RunErrorKind::TimeLimit), "{name}");
            let why = measurement.error.as_ref().unwrap();
            assert!(why.contains("nothing was heard for 4 s; its process was ended"), "{why}");
            let mut blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
            assert!(blocks.next().is_none(), "{name}: it is counted");
            continue;
        }
        assert!(!is_kept, "{name}: it ended");
        let flagged = cut_off_flags(measurement).find(|flag| flag.lines.contains(&3));
        let flagged = flagged.unwrap_or_else(|| panic!("{name}: {:?}", measurement.flags));
        let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
        assert!(page.contains(&format!("{}_line_3", flagged.tag.word())), "{name}");
    }
}
