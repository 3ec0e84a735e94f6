//! The example that captures its own dispatches, on a driver: what it computes does not change, and what it
//! captured is what it was.

use std::path::Path;
use std::process::Command;

use lanescope::record::{Measurement, Output, Status};
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::{program, trial_needing};

/// The example's program, which is built with the tests of the workspace.
fn example() -> std::path::PathBuf {
    let built = program::path().with_file_name("examples").join("two_passes");
    assert!(built.is_file(), "{} is not built: cargo build --release --examples", built.display());
    built
}

/// Invocations of a row of a workgroup of the example's `paint`.
const PAINT_ROW: u32 = 8;

/// What the example says it computed, where its environment asks for a capture.
fn checksum(driver: &Driver, folder: &Path, asked: Option<&str>) -> String {
    computed(driver, folder, asked, &[])
}

/// What the example says it computed, with these words on its command line.
fn computed(driver: &Driver, folder: &Path, asked: Option<&str>, words: &[&str]) -> String {
    let mut command = Command::new(example());
    command.current_dir(folder).envs(driver.environment()).env_remove("LANESCOPE_CAPTURE");
    if let Some(asked) = asked {
        command.env("LANESCOPE_CAPTURE", asked);
    }
    let output = command.args(words).output().unwrap();
    let (code, stdout, stderr) = program::parts(&output);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    stdout
}

/// The folders of a capture, by their names.
fn folders(frame: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(frame).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder is its data and at most 64 kB.
fn check_size(folder: &Path) {
    let entries = std::fs::read_dir(folder).unwrap();
    let sizes = entries.map(|entry| {
        let entry = entry.unwrap();
        (entry.path(), entry.metadata().unwrap().len())
    });
    let beside = sizes.filter(|(path, _)| path.extension().is_none_or(|end| end != "bin"));
    let bytes: u64 = beside.map(|(_, bytes)| bytes).sum();
    assert!(bytes <= 64_000, "{}: {bytes} bytes beside its data", folder.display());
}

/// Frames 0 and 50, recorded on threads of their own, are captured without another result, and give the same executions
/// and lanes on the simulator and on the driver, whose outputs are those of the program.
pub(super) fn reproduced(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let plain = checksum(driver, folder.path(), None);
    assert!(!folder.path().join("captures").exists());
    assert_eq!(plain, checksum(driver, folder.path(), Some("frame=0,50")));
    assert_eq!(folders(&folder.path().join("captures")), ["frame_00000", "frame_00050"]);
    let first = folder.path().join("captures/frame_00000");
    assert_eq!(folders(&first), ["dispatch_000000_paint", "dispatch_000001_march"]);
    let last = folder.path().join("captures/frame_00050");
    assert_eq!(folders(&last), ["dispatch_000100_paint", "dispatch_000101_march"]);
    check_size(&last.join("dispatch_000101_march"));
    let simulator = format!("sim:{}", driver.width);
    let device = driver.device();
    let arguments =
        ["profile", "captures", "--no-timing", "--device", &simulator, "--device", &device];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.measurements.len(), 8, "{stderr}");
    // Lavapipe begins a subgroup with each row along x, of which a workgroup of `paint` has eight
    // invocations: wider subgroups of it are not full there, which is the device's own.
    let counts = |measurement: &Measurement| -> Vec<(u64, u64)> {
        let by_rows = measurement.kernel.ends_with("_paint") && driver.width > PAINT_ROW;
        let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
        blocks.map(|block| (if by_rows { 0 } else { block.executions.0 }, block.lanes.0)).collect()
    };
    for measurement in &run.measurements {
        let name = format!("{} on {}", measurement.kernel, measurement.device);
        assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
        assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
        assert!(measurement.parameters.is_empty(), "{name}: {:?}", measurement.parameters);
        let mut same = run.measurements.iter().filter(|other| other.kernel == measurement.kernel);
        assert!(same.all(|other| counts(other) == counts(measurement)), "{name}");
    }
    let efficiency = |kernel: &str| {
        let found = run.measurements.iter().find(|measurement| measurement.kernel == kernel);
        found.and_then(|measurement| measurement.efficiency_ratio).unwrap().0
    };
    let [first, last] = ["dispatch_000001_march", "dispatch_000101_march"].map(efficiency);
    assert!((first - last).abs() > 0.01, "frame 0 {first}, frame 50 {last}");
}

/// What is captured is what was asked for: the n-th dispatch of a label, and no more bytes than were allowed; what goes
/// beyond is named.
pub(super) fn asked(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let captures = folder.path().join("captures");
    let plain = checksum(driver, folder.path(), None);
    assert_eq!(plain, checksum(driver, folder.path(), Some("label=march nth=3")));
    assert_eq!(folders(&captures), ["frame_00003"]);
    assert_eq!(folders(&captures.join("frame_00003")), ["dispatch_000007_march"]);
    std::fs::remove_dir_all(&captures).unwrap();
    // The two dispatches of a frame have more than a byte each.
    assert_eq!(plain, checksum(driver, folder.path(), Some("frame=1 bytes=1")));
    assert_eq!(folders(&captures), ["not_captured.txt"]);
    let told = std::fs::read_to_string(captures.join("not_captured.txt")).unwrap();
    for (line, name) in told.lines().zip(["dispatch_000002_paint", "dispatch_000003_march"]) {
        assert!(line.starts_with(&format!("frame_00001/{name}: ")), "{told}");
        assert!(line.ends_with(" bytes are over what is left"), "{told}");
    }
    assert_eq!(told.lines().count(), 2, "{told}");
}

/// A program that asks by a call gets what the environment's words get it: the same files, byte for byte.
pub(super) fn by_call(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    let plain = checksum(driver, place, Some("frame=50"));
    assert_eq!(plain, computed(driver, place, None, &["capture=frame=50 folder=asked"]));
    let [by_words, by_call] = ["captures/frame_00050", "asked/frame_00050"].map(|f| place.join(f));
    let dispatches = folders(&by_words);
    assert_eq!((dispatches.len(), folders(&by_call)), (2, dispatches.clone()));
    for dispatch in &dispatches {
        let [by_words, by_call] = [&by_words, &by_call].map(|frame| frame.join(dispatch));
        let files = folders(&by_words);
        assert!(files.contains(&"launch.toml".to_owned()), "{files:?}");
        assert_eq!(files, folders(&by_call), "{dispatch}");
        for file in &files {
            let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
            assert!(read(&by_words) == read(&by_call), "{dispatch}: {file}");
        }
    }
}

/// A shader that a program hands over as SPIR-V is captured as that, and leaves what the program's own dispatch left.
pub(super) fn spirv(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let plain = checksum(driver, folder.path(), None);
    let asked = Some("label=march nth=50");
    assert_eq!(plain, computed(driver, folder.path(), asked, &["spirv"]));
    let march = folder.path().join("captures/frame_00050/dispatch_000101_march");
    let files = folders(&march);
    assert!(files.contains(&"shader.spv".to_owned()), "{files:?}");
    assert!(!files.contains(&"shader.wgsl".to_owned()), "{files:?}");
    let (simulator, device) = (format!("sim:{}", driver.width), driver.device());
    let arguments =
        ["profile", "captures", "--no-timing", "--device", &simulator, "--device", &device];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!((code, run.measurements.len()), (0, 2), "{stderr}");
    for measurement in &run.measurements {
        let name = &measurement.device;
        assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
    }
}

/// What cannot be read is named in the folder, and nothing is made up for it: a folder that lacks what the shader
/// takes is refused by the binding's name.
pub(super) fn unread(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let plain = checksum(driver, folder.path(), None);
    let asked = Some("label=march nth=3");
    assert_eq!(plain, computed(driver, folder.path(), asked, &["early"]));
    let march = "captures/frame_00003/dispatch_000007_march";
    let launch = std::fs::read_to_string(folder.path().join(march).join("launch.toml")).unwrap();
    let halves = [0, 1].map(|binding| {
        format!(
            "\"the buffer at @group(2) @binding({binding}), which was made before the capture began\""
        )
    });
    let missing = format!("\nmissing = [{}]\n", halves.join(", "));
    assert!(launch.contains(&missing), "{launch}");
    assert!(!launch.contains("group = 2"), "{launch}");
    let simulator = format!("sim:{}", driver.width);
    let arguments = ["profile", march, "--no-timing", "--device", &simulator];
    let (code, _, stderr) =
        program::parts(&program::run(&folder, &driver.environment(), &arguments));
    assert_eq!(code, 2, "{stderr}");
    let told = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let lacking = "holds nothing for `even` at @group(2) @binding(0); not read: the buffer at @group(2) @binding(0)";
    assert!(told.contains(lacking), "{stderr}");
}

/// What a profile says of a dispatch on a simulator of 32 lanes.
struct Figures {
    efficiency: f64,
    operations: u64,
    /// Whether ordering by trip count is advised.
    is_ordered: bool,
}

fn figures(folder: &TempDir, what: &str, out: &str) -> Figures {
    let arguments = ["profile", what, "--no-timing", "--device", "sim:32", "--out", out];
    let (code, stdout, stderr) = program::parts(&program::run(folder, &[], &arguments));
    assert_eq!(code, 0, "{what}: {stderr}");
    let run = lanescope::store::load(&folder.path().join(out).join("result.json")).unwrap();
    assert_eq!(run.measurements.len(), 1, "{what}");
    let measurement = &run.measurements[0];
    let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
    Figures {
        efficiency: measurement.efficiency_ratio.unwrap().0,
        operations: blocks.map(|block| block.operations * block.executions.0).sum(),
        is_ordered: stdout.contains("order_by_trip_count saves "),
    }
}

/// Made-up data say of the second pass what no frame of the program says: that hardly a lane is idle, that it works
/// several times as long, and that no order of its invocations helps. The frames differ too.
pub(super) fn unlike_made_up(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    checksum(driver, folder.path(), Some("label=march frame=0,50"));
    let [first, last] = ["frame_00000/dispatch_000001_march", "frame_00050/dispatch_000101_march"]
        .map(|dispatch| format!("captures/{dispatch}"));
    let shader = folder.path().join(&first).join("shader.wgsl");
    std::fs::copy(shader, folder.path().join("march.wgsl")).unwrap();
    let made_up = figures(&folder, "march.wgsl", "made_up");
    let [first, last] =
        [(&first, "first"), (&last, "last")].map(|(what, out)| figures(&folder, what, out));
    for frame in [&first, &last] {
        let (found, wrong) = (frame.efficiency, made_up.efficiency);
        assert!(wrong - found > 0.1, "{found}, of made-up data {wrong}");
        let (found, wrong) = (frame.operations, made_up.operations);
        assert!(wrong > 2 * found, "{found}, of made-up data {wrong}");
        assert!(frame.is_ordered && !made_up.is_ordered);
    }
    let [earlier, later] = [&first, &last].map(|frame| (frame.efficiency, frame.operations));
    assert!(later.0 - earlier.0 > 0.05, "{earlier:?}, {later:?}");
    assert!(later.1 > 2 * earlier.1, "{earlier:?}, {later:?}");
}

/// What RenderDoc's tests need, by its name in `LANESCOPE_REQUIRE`.
const RENDERDOC: &str = "renderdoc";

/// Debian's own Python, which its module of RenderDoc is for.
const PYTHON: &str = "/usr/bin/python3";

/// The dispatches of a frame of the example by RenderDoc, held against those that the program captured itself.
pub(crate) fn trial() -> Trial {
    let title = "capture::renderdoc_gives_the_bytes_that_the_program_captured";
    let driver = Driver::all().into_iter().find(|driver| driver.name == "lavapipe_8");
    let driver = driver.expect("a driver");
    let runs = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let module = runs(Command::new(PYTHON).args(["-c", "import renderdoc"]));
    let there = module && runs(Command::new("renderdoccmd").arg("version"));
    let missing = if there { driver.missing() } else { Some("RenderDoc is not there".to_owned()) };
    trial_needing(title, missing, RENDERDOC, move || by_renderdoc(&driver))
}

/// Frame 50 in folders by the program itself and by RenderDoc: the same contents before and after each dispatch. What
/// runs them, on the simulator and on the driver, leaves what the program left.
fn by_renderdoc(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    let plain = checksum(driver, place, Some("frame=50"));
    let run = |command: &mut Command| {
        // What RenderDoc keeps for itself stays in the folder.
        let folders_of_renderdoc = ["HOME", "RENDERDOC_TEMP", "TMPDIR"].map(|name| (name, place));
        command.current_dir(place).envs(driver.environment()).envs(folders_of_renderdoc);
        let output = command.env_remove("LANESCOPE_CAPTURE").output().unwrap();
        let (code, stdout, stderr) = program::parts(&output);
        assert_eq!(code, 0, "{command:?}: {stdout}{stderr}");
        stdout
    };
    let captured = run(Command::new("renderdoccmd")
        .args(["capture", "-w", "-c"])
        .args([place.join("two"), example()])
        .args(["51", "50"])
        .envs([("ENABLE_VULKAN_RENDERDOC_CAPTURE", "1"), ("WGPU_DEBUG", "1")]));
    assert!(captured.contains(plain.trim()), "{captured}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/renderdoc");
    let told = run(Command::new(PYTHON).arg(script).args(["two_capture.rdc", "replayed"]));
    // Between them wgpu checks the arguments of the indirect dispatch.
    let found = folders(&place.join("replayed"));
    assert_eq!(told.lines().count(), 3, "{told}");
    assert_eq!((&*found[0], &*found[2]), ("dispatch_000000_paint", "dispatch_000002_march"));
    for (own, replayed) in [("000100_paint", &found[0]), ("000101_march", &found[2])] {
        let captured = place.join("captures/frame_00050").join(format!("dispatch_{own}"));
        let replayed = place.join("replayed").join(replayed);
        // The arguments of an indirect dispatch are in its workgroups.
        let contents = |folder: &Path| {
            let mut names = folders(folder);
            names.retain(|name| name.ends_with(".bin") && name != "indirect.bin");
            names
        };
        let names = contents(&captured);
        assert!(names.len() >= 3, "{names:?}");
        assert_eq!(names, contents(&replayed));
        for name in names {
            let read = |folder: &Path| std::fs::read(folder.join(&name)).unwrap();
            assert!(read(&captured) == read(&replayed), "{}: {name}", replayed.display());
        }
        let launch = std::fs::read_to_string(replayed.join("launch.toml")).unwrap();
        assert!(launch.contains("\nmissing = []\n"), "{launch}");
    }
    let simulator = format!("sim:{}", driver.width);
    let device = driver.device();
    let arguments =
        ["profile", "replayed", "--no-timing", "--device", &simulator, "--device", &device];
    let (code, run, stderr) = program::record(&folder, &driver.environment(), &arguments);
    assert_eq!((code, run.measurements.len()), (0, 6), "{stderr}");
    for measurement in &run.measurements {
        let name = format!("{} on {}", measurement.kernel, measurement.device);
        assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
    }
}
