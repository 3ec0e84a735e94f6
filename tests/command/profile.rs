//! What must hold of `lanescope profile` without any driver.

use std::path::Path;

use lanescope::record::{Cost, Flag, Measurement, Run, Status, Tag, Trust, Value};
use tempfile::TempDir;

use super::refused_in;
use crate::support::program;

/// Every third element takes a longer way; the last index reads past the end where `far` is set.
const SHADER: &str = "struct Params { count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var v = input[id.x];
    if (id.x % 32u < 8u) {
        for (var i = 0u; i < 50u; i++) {
            v = v * 3u + i;
        }
    }
    output[id.x] = v;
}
";

/// The line of the loop's body in [`SHADER`].
const BODY: u32 = 11;

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    program::write(&folder.path().join(name), text);
}

fn with(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        write(&folder, name, text);
    }
    folder
}

/// Profiles on the simulator at 32 lanes; further arguments come last.
fn sim_32(folder: &TempDir, arguments: &[&str]) -> (i32, Run, String) {
    let out = folder.path().join("out");
    if out.exists() {
        std::fs::remove_dir_all(out).unwrap();
    }
    let all = [&["profile"], arguments, &["--device", "sim:32"]].concat();
    program::record(folder, &[], &all)
}

/// What another shape of workgroup is said to cost is what the edited shader costs in an ordinary profile; a shader
/// that asks for y runs over a square, whatever its workgroups are.
pub(super) fn shapes() {
    let text = |size: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
             @compute @workgroup_size({size})
             fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 let at = id.y * 128u + id.x;
                 if id.x + id.y < 128u {{ for (var i = 0u; i < 40u; i++) {{ a[at] = a[at] * 3u + i; }} }}
             }}"
        )
    };
    let folder = with(&[("rows.wgsl", &text("64"))]);
    let arguments = ["profile", "rows.wgsl", "--n", "16384", "-d", "sim:32", "-d", "sim:64"];
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.measurements[0].dispatches[0].workgroups, Some([2, 128, 1]));
    let mut compared = 0;
    for (measurement, device) in run.measurements.iter().zip(["sim:32", "sim:64"]) {
        let shapes = measurement.shapes.as_ref().unwrap();
        assert_eq!(shapes.refused, None);
        for shape in &shapes.tried {
            let [x, y, z] = shape.workgroup_size;
            write(&folder, "edited.wgsl", text(&format!("{x}, {y}, {z}")));
            let grid = format!("{},{},1", 128 / x, 128 / y);
            let out = folder.path().join("out");
            std::fs::remove_dir_all(out).unwrap();
            let edited =
                ["profile", "edited.wgsl", "--n", "16384", "--workgroups", &grid, "-d", device];
            let (code, edited, stderr) = program::record(&folder, &[], &edited);
            assert_eq!(code, 0, "{stderr}");
            let lines = edited.measurements[0]
                .dispatches
                .iter()
                .flat_map(lanescope::record::Dispatch::lines);
            let operations: u64 = lines.map(|line| line.subgroup_operations).sum();
            assert_eq!(operations, shape.subgroup_operations, "{device}: {x} × {y}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}

fn line(measurement: &Measurement, number: u32) -> (u64, u64) {
    let mut lines = measurement.dispatches.iter().flat_map(lanescope::record::Dispatch::lines);
    let line = lines.find(|line| line.line == number).unwrap();
    (line.subgroup_operations, line.lane_operations)
}

/// A shader alone is enough; what a line wastes is in the record.
pub(super) fn a_shader_alone() {
    let folder = with(&[("waste.wgsl", SHADER)]);
    let (code, run, stderr) = program::record(&folder, &[], &["profile", "waste.wgsl"]);
    assert_eq!(code, 0, "{stderr}");
    let ids: Vec<&str> = run.devices.iter().map(|device| device.id.as_str()).collect();
    assert_eq!(ids, ["sim:32", "sim:64"]);
    assert!(run.devices.iter().all(|device| device.trust == Some(Trust::Guaranteed)));
    assert_eq!(run.sources.values().next().unwrap().text, SHADER);
    for (measurement, width) in run.measurements.iter().zip([32, 64]) {
        assert_eq!((measurement.kernel.as_str(), measurement.status), ("waste", Status::Ok));
        assert_eq!(measurement.parameters["n"], Value::Integer(65_536));
        assert!(measurement.runtime_checks.counted, "a user's shader is counted checked");
        let blocks = &measurement.dispatches[0].blocks;
        assert!(blocks.iter().all(|block| block.histogram.is_some()));
        let body = blocks.iter().find(|block| block.line == BODY).unwrap();
        // A quarter of the lanes are there, 50 times.
        assert_eq!(body.lanes.0, 65_536 / 4 * 50);
        assert_eq!(body.executions.0, 65_536 / width * 50);
        assert!(line(measurement, BODY).0 > 0);
    }
    assert!(folder.path().join("out/report.html").exists());
}

/// `--init` writes a file that gives the same counts, and is never written over.
pub(super) fn init_and_launch() {
    let folder = with(&[("waste.wgsl", SHADER)]);
    let init = ["profile", "--init", "waste.wgsl"];
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &init));
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    assert!(stderr.contains("--launch waste.toml"), "{stderr}");
    let written = std::fs::read_to_string(folder.path().join("waste.toml")).unwrap();
    refused_in(&folder, &init, 2, "not written over");
    assert_eq!(std::fs::read_to_string(folder.path().join("waste.toml")).unwrap(), written);
    let (_, mut alone, _) = sim_32(&folder, &["waste.wgsl", "--n", "1000"]);
    let arguments = ["waste.wgsl", "--n", "1000", "--launch", "waste.toml"];
    let (code, mut launched, stderr) = sim_32(&folder, &arguments);
    assert_eq!(code, 0, "{stderr}");
    // The simulator's speed is never the same twice.
    for measurement in alone.measurements.iter_mut().chain(&mut launched.measurements) {
        let names: Vec<_> = measurement.counters.drain(..).map(|counter| counter.name).collect();
        assert_eq!(
            names,
            ["simulator_subgroup_instructions_per_s", "simulator_lane_operations_per_s"]
        );
    }
    assert_eq!(alone.measurements, launched.measurements);
}

/// A kernel of the catalogue with its description counts what `run` counts.
pub(super) fn catalogue_files() {
    let folder = TempDir::new().unwrap();
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders/five_patterns");
    std::fs::copy(shaders.join("early_exit.wgsl"), folder.path().join("early_exit.wgsl")).unwrap();
    // What the kernel and its family say together.
    let described = r#"
reference = { name = "five_patterns/early_exit", tolerance_relative = 1.3e-4, tolerance_absolute = 0.0, reason = "rounding" }
buffers = [
    { name = "params", scalars = [{ u32 = "n" }, { u32 = 1024 }, { f32 = 1.01 }, { f32 = -0.005 }, { f32 = 0.5 }] },
    { name = "input", type = "f32", elements = "n", fill = { uniform = [0.0, 1.0] } },
    { name = "output", type = "f32", elements = "n", output = true },
]
dispatches = [{ entry_point = "sealed", workgroups = "ceil(n / 256)" }]
"#;
    program::write(&folder.path().join("early_exit.toml"), described);
    let arguments = ["early_exit.wgsl", "--launch", "early_exit.toml", "--n", "4096"];
    let (code, profiled, stderr) = sim_32(&folder, &arguments);
    assert_eq!(code, 0, "{stderr}");
    let arguments = ["five_patterns/early_exit", "-a", "n=4096", "-a", "form=sealed"];
    let arguments = [&arguments[..], &["--device", "sim:32", "--out", "run"]].concat();
    assert_eq!(program::parts(&program::run(&folder, &[], &arguments)).0, 0);
    let run = lanescope::store::load(&folder.path().join("run/result.json")).unwrap();
    let counts = |run: &Run| {
        let blocks = run.measurements[0].dispatches[0].blocks.iter();
        blocks.map(|block| (block.executions, block.lanes)).collect::<Vec<_>>()
    };
    assert_eq!(counts(&profiled), counts(&run));
    assert_eq!(profiled.measurements[0].output, run.measurements[0].output, "verified");
}

/// Files fill buffers; what they say decides where lanes go.
pub(super) fn files_fill_buffers() {
    let shader = "@group(0) @binding(0) var<storage> flags: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (flags[id.x] == 7u) {
        output[id.x] = 1u;
    }
}
";
    let launch = |file: &str| {
        format!(
            "[parameters.n]\ndescription = \"elements\"\ndefault = 64\n[[buffers]]\nname = \"flags\"\n\
             fill = {{ file = \"{file}\" }}\n"
        )
    };
    let folder = with(&[("a.wgsl", shader)]);
    let flags: Vec<u8> =
        (0..64_u32).flat_map(|i| if i < 5 { 7_u32 } else { i }.to_le_bytes()).collect();
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (64,), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    npy.extend_from_slice(header.as_bytes());
    npy.extend_from_slice(&flags);
    // Beside the launch file, wherever the program runs.
    std::fs::create_dir(folder.path().join("data")).unwrap();
    write(&folder, "data/flags.bin", &flags);
    write(&folder, "data/flags.npy", &npy);
    for file in ["flags.bin", "flags.npy"] {
        write(&folder, "data/launch.toml", launch(file));
        let (code, run, stderr) = sim_32(&folder, &["a.wgsl", "--launch", "data/launch.toml"]);
        assert_eq!(code, 0, "{stderr}");
        let blocks = &run.measurements[0].dispatches[0].blocks;
        let inside = blocks.iter().find(|block| block.line == 6).unwrap();
        // Elements 0 to 4 and element 7.
        assert_eq!((inside.executions.0, inside.lanes.0), (1, 6), "{file}");
    }
    write(&folder, "data/launch.toml", launch("missing.npy"));
    let arguments = ["profile", "a.wgsl", "--launch", "data/launch.toml", "--device", "sim:32"];
    refused_in(&folder, &arguments, 2, "relative to the launch file");
}

/// Bad input exits with 2 and names the place and the way out.
pub(super) fn bad_input() {
    let folder = with(&[
        ("waste.wgsl", SHADER),
        ("syntax.wgsl", "@compute @workgroup_size(1)\nfn main() { let x = ; }"),
        ("two.wgsl", "@compute @workgroup_size(1) fn a() {} @compute @workgroup_size(1) fn b() {}"),
        ("none.wgsl", "fn f() {}"),
        (
            "texture.wgsl",
            "\n@group(0) @binding(3) var image: texture_external;
             @compute @workgroup_size(1) fn main() { _ = textureLoad(image, vec2(0)); }",
        ),
        ("override.wgsl", "override tile: u32;\n@compute @workgroup_size(tile) fn main() {}"),
        ("key.toml", "\n[[dispatch]]\nentry_point = \"main\"\n"),
        ("two.toml", "[[dispatches]]\nentry_point = \"a\"\nworkgroups = 1\n"),
    ]);
    let refused = |arguments: &[&str], part: &str| {
        let all = [&["profile"], arguments, &["--device", "sim:32"]].concat();
        refused_in(&folder, &all, 2, part);
    };
    refused(&["missing.wgsl"], "missing.wgsl cannot be read");
    refused(&["syntax.wgsl"], "syntax.wgsl:2:21");
    let way_out = "a, b; choose one, or dispatch several in a launch file (--entry NAME; `lanescope profile --init";
    refused(&["two.wgsl"], way_out);
    refused(&["none.wgsl"], "no compute entry point");
    refused(
        &["texture.wgsl"],
        "texture.wgsl:2: image, bound at @group(0) @binding(3), is an external texture",
    );
    refused(&["override.wgsl"], "--init override.wgsl");
    refused(&["waste.wgsl", "--launch", "key.toml"], "key.toml: TOML parse error at line 2");
    refused(&["two.wgsl", "--launch", "two.toml", "--entry", "b"], "--entry has no effect");
    refused(&["waste.wgsl", "--fail-on", "speed<1"], "none of efficiency, active_lanes, share");
    refused(&["waste.wgsl", "--sass"], "--sass shows the machine code of a device cuda:N");
    let of_code =
        ["profile", "waste.wgsl", "--device", "radv:navi21/64", "--export-speedscope", "s"];
    refused_in(&folder, &of_code, 2, "none of these devices counts; add --device sim:32");
    assert!(!folder.path().join("s").exists(), "a profile of no stack is not written");
    refused(&["waste.wgsl", "--workgroups", "0"], "an example is 64,1,1");
    refused(&["waste.wgsl", "--entry", "mian"], "it has: main");
    refused(&["waste.wgsl", "--n", "0"], "at least 1");
    refused(&["two.toml"], "two.toml is a TOML file and no shader");
    refused(&["two.toml"], "`lanescope profile two.wgsl --launch two.toml`");
    assert!(!folder.path().join("lanescope-results").exists(), "bad input leaves nothing behind");
}

/// The binding that most of the shaders below write.
const OUTPUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;";

/// What every error must do: say where, and what helps.
pub(super) fn awkward_input() {
    let main = |body: &str| {
        format!(
            "{OUTPUT}\n@compute @workgroup_size(64)\n\
             fn main(@builtin(global_invocation_id) id: vec3u) {{ {body} }}"
        )
    };
    let sized = |size: &str| {
        format!("{OUTPUT}\n@compute @workgroup_size({size})\nfn main() {{ o[0] = 1u; }}")
    };
    let folder = TempDir::new().unwrap();
    let check = |name: &str, text: &str, code: i32, part: &str| {
        write(&folder, "x.wgsl", text);
        let output =
            program::run(&folder, &[], &["profile", "x.wgsl", "--device", "sim:32", "--n", "64"]);
        let (found, stdout, stderr) = program::parts(&output);
        assert_eq!(found, code, "{name}: {stderr}");
        assert!(stderr.contains(part), "{name}: {stderr}");
        assert_eq!(code == 0, stdout.contains("x.wgsl on sim:32"), "{name}: {stdout}");
    };
    // naga says no place for these; the entry point or the variable is the nearest.
    check("size 0", &sized("0"), 2, "x.wgsl:3:1");
    check("derivative", &main("let a = dpdx(1.0);"), 2, "x.wgsl:3:1");
    let builtin = "@compute @workgroup_size(8, 8)\nfn main(@builtin(subgroup_id) s: u32) {}";
    check("subgroup_id in 2D", builtin, 2, "x.wgsl:2:1");
    let huge = "\n@group(0) @binding(0) var<storage, read_write> o: array<u32, 1000000000>;
        @compute @workgroup_size(1) fn main() { o[0] = 1u; }";
    check("a huge array", huge, 2, "x.wgsl:2:23");
    check("a huge workgroup", &sized("4096"), 2, "make @workgroup_size smaller");
    check("nothing at all", "", 2, "no compute entry point");
    check("recursion", &format!("fn f() {{ f(); }} {}", main("f();")), 2, "recursive");
    check("division", &main("o[id.x] = 1u / 0u;"), 2, "x.wgsl:3:");
    check("not closed", &main("{"), 2, "x.wgsl:3:");
    // These are right.
    check("3D", &sized("4, 4, 4"), 0, "");
    let alone = "@compute @workgroup_size(1) fn main() { var x = 1u; x += 1u; }";
    check("no binding", alone, 0, "");
    check("lines that end in CR LF", &main("o[id.x] = 1u;").replace('\n', "\r\n"), 0, "");
    check("division by what is 0", &main("let z = o[0] - o[0]; o[id.x] = 1u / z;"), 0, "");
    let atomics = "struct S { a: atomic<u32>, b: array<atomic<i32>, 4>, c: vec3f }
        @group(0) @binding(0) var<storage, read_write> s: array<S>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            atomicMax(&s[id.x].b[id.x % 4u], i32(atomicAdd(&s[0].a, 1u)));
        }";
    check("atomics in structs", atomics, 0, "");

    check("a byte order mark", &format!("\u{feff}enable f16;\n{}", main("o[id.x] = 1u;")), 0, "");
    let nested = format!("{}1u{}", "(".repeat(3000), ")".repeat(3000));
    let nested = main(&format!("o[id.x] =\n{nested};"));
    check("nested parentheses", &nested, 2, "x.wgsl:4: brackets are nested 3001 deep here");

    write(&folder, "x.wgsl", [0xff, 0xfe, b'@']);
    refused_in(&folder, &["profile", "x.wgsl"], 2, "x.wgsl cannot be read: it is not UTF-8");
    std::fs::create_dir(folder.path().join("d.wgsl")).unwrap();
    refused_in(&folder, &["profile", "d.wgsl"], 2, "d.wgsl cannot be read");
    write(&folder, "x.wgsl", main("o[id.x] = 1u;"));
    write(&folder, "x.toml", "[buffers.o]\nelements = \"n\"\n");
    let launch = ["profile", "x.wgsl", "--launch", "x.toml"];
    refused_in(&folder, &launch, 2, "two brackets: [[buffers]]");
    refused_in(&folder, &launch, 2, "`lanescope profile --init x.wgsl` writes a file");
    let file =
        "[[buffers]]\nname = \"o\"\ntype = \"u32\"\nelements = 64\nfill = { file = \"m.npy\" }\n";
    write(&folder, "x.toml", file);
    refused_in(&folder, &launch, 2, "m.npy cannot be read");
    #[cfg(unix)]
    {
        // It never ends.
        write(&folder, "x.toml", file.replace("m.npy", "/dev/zero"));
        refused_in(&folder, &launch, 2, "/dev/zero cannot be read: it is no regular file");
        refused_in(&folder, &["profile", "/dev/zero"], 2, "it has over 16777216 bytes");
    }
}

/// `-` is standard input; nothing can lie beside it.
pub(super) fn standard_input() {
    let folder = TempDir::new().unwrap();
    let piped = |arguments: &[&str]| {
        let mut child = program::command(folder.path(), &[])
            .args([&["profile", "-"], arguments].concat())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A child that refuses its arguments reads nothing.
        let _ = std::io::Write::write_all(&mut stdin, SHADER.as_bytes());
        drop(stdin);
        program::parts(&child.wait_with_output().unwrap())
    };
    let (code, stdout, stderr) = piped(&["--device", "sim:32", "--out", "out"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("stdin.wgsl on sim:32") && stdout.contains("v = v * 3u + i;"));
    let (code, _, stderr) = piped(&["--init"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("give it a file in place of -"), "{stderr}");
}

/// naga goes into an expression operator by operator: long ones need stack, endless ones a limit.
pub(super) fn long_expressions() {
    let text = |operators: usize| {
        let sum = " + id.x".repeat(operators);
        format!(
            "{OUTPUT}\n@compute @workgroup_size(64)\n\
             fn main(@builtin(global_invocation_id) id: vec3u) {{\no[id.x] = 1u{sum};\n}}"
        )
    };
    let folder = with(&[("long.wgsl", &text(9_999)), ("endless.wgsl", &text(200_000))]);
    let (code, run, stderr) = sim_32(&folder, &["long.wgsl", "--n", "64"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(line(&run.measurements[0], 4).1 % 64, 0);
    let refused = "endless.wgsl:4: the expression here has more than 10000 operators";
    refused_in(&folder, &["profile", "endless.wgsl", "--device", "sim:32"], 2, refused);
}

/// The example of `--fail-on` in `docs/profile.md` says what the program says.
pub(super) fn readme_fail_on() {
    let readme = include_str!("../../docs/profile.md");
    let command = "lanescope profile examples/mandelbrot.wgsl --device sim:64 --fail-on";
    let block = readme.split_once(command).unwrap().1;
    let block = block.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    let shader = include_str!("../../examples/mandelbrot.wgsl");
    write(&folder, "examples/mandelbrot.wgsl", shader);
    let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
    arguments.push("efficiency<0.85");
    let (code, _, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 1, "{stderr}");
    let told: Vec<&str> = stderr.lines().filter(|line| line.starts_with("--fail-on")).collect();
    assert_eq!(told, block.lines().collect::<Vec<_>>());
}

/// The example of `occupancy` in `docs/run.md` says what the program says.
pub(super) fn documented_occupancy() {
    let page = include_str!("../../docs/run.md");
    let command = "lanescope occupancy --arch sm_80";
    let (_, after) = page.split_once(command).unwrap();
    let line = after.lines().next().unwrap();
    let block = after.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let folder = TempDir::new().unwrap();
    let words = format!("{command}{line}");
    let arguments: Vec<&str> = words.split(' ').skip(1).collect();
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(!block.trim().is_empty() && stdout.contains(block.trim()), "{stdout}");
}

/// The block of README's section on profiling is what the program prints, but for what `…` leaves
/// out.
pub(super) fn readme() {
    let readme = include_str!("../../README.md");
    let command = "lanescope profile examples/raymarch.wgsl --device sim:32";
    let block = readme.split_once(command).unwrap().1;
    let block = block.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    let shader = include_str!("../../examples/raymarch.wgsl");
    write(&folder, "examples/raymarch.wgsl", shader);
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let (code, printed, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stderr}");
    let mut rest = printed.lines().map(str::trim_end);
    let mut compared = 0;
    for line in block.lines().filter(|line| !line.is_empty() && *line != "…") {
        assert!(rest.any(|printed| printed == line), "{line}\nis not in\n{printed}");
        compared += 1;
    }
    assert!(compared > 25, "{compared} lines");
}

/// The table of README's section on the catalogue is what the program prints.
pub(super) fn readme_catalogue() {
    let readme = include_str!("../../README.md");
    let command = "lanescope run five_patterns --quick --device sim:32";
    let block = readme.split_once(command).unwrap().1;
    let block = block.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let folder = TempDir::new().unwrap();
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let (code, printed, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(printed.contains(block), "{block}\nis not in\n{printed}");
}

/// The launch file in `docs/profile.md` is the one in `examples`, and everything in it works.
pub(super) fn readme_launch_file() {
    let readme = include_str!("../../docs/profile.md");
    let block = readme.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let file = include_str!("../../examples/rounds.toml");
    assert_eq!(block, file);
    let folder =
        with(&[("rounds.wgsl", include_str!("../../examples/rounds.wgsl")), ("rounds.toml", file)]);
    write(&folder, "weights.npy", include_bytes!("../../examples/weights.npy"));
    let (code, run, stderr) = sim_32(&folder, &["rounds.wgsl", "--launch", "rounds.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let dispatches = &run.measurements[0].dispatches;
    let names: Vec<&str> = dispatches.iter().map(|d| d.entry_point.as_str()).collect();
    assert_eq!(names, ["clamp_rounds", "choose_groups", "spend"]);
    // The indirect dispatch covers n as well: the loop's head sees every element at least once.
    assert!(line(&run.measurements[0], 37).1 >= 4096);
    // 8 rounds from the file, not the shader's 4, and rounds up to n / 64: the body has more than 4
    // rounds a lane in the mean.
    let body = dispatches[2].blocks.iter().find(|block| block.line == 38).unwrap();
    assert!((4096 * 4..=4096 * 8).contains(&body.lanes.0), "{}", body.lanes.0);
}

/// `--fail-on` exits with 1 and names the lines.
pub(super) fn fail_on() {
    let folder = with(&[("waste.wgsl", SHADER)]);
    let (code, _, stderr) = sim_32(&folder, &["waste.wgsl", "--fail-on", "efficiency<0.3"]);
    assert_eq!(code, 1, "{stderr}");
    let named =
        format!("--fail-on: waste.wgsl:{BODY} on sim:32: 8.0 active lanes, efficiency 0.250");
    assert!(stderr.contains(&named), "{stderr}");
    assert!(stderr.contains("v = v * 3u + i;"), "{stderr}");
    let (code, _, stderr) = sim_32(&folder, &["waste.wgsl", "--fail-on", "efficiency<0.2"]);
    assert_eq!(code, 0, "{stderr}");
}

/// Accesses out of bounds are told with their line; in strict mode they end the device's launch.
pub(super) fn out_of_bounds() {
    let shader = SHADER.replace("input[id.x]", "input[id.x + params.count - 1u]");
    let folder = with(&[("far.wgsl", &shader)]);
    let (code, run, stderr) = sim_32(&folder, &["far.wgsl"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(run.measurements[0].flags.contains(&Flag::at(Tag::ReadOutOfBounds, [8])));
    assert!(
        stderr.contains("read_out_of_bounds_line_8") && stderr.contains("A strict run of"),
        "{stderr}"
    );
    let (code, run, stderr) = sim_32(&folder, &["far.wgsl", "--strict"]);
    assert_eq!(code, 5, "{stderr}");
    assert_eq!(run.measurements[0].status, Status::Failed);
    assert!(stderr.contains("far.wgsl:8: read out of bounds"), "{stderr}");
}

/// A data race is told first, with both lines and an example, is in the record, and in strict mode
/// ends the launch; a barrier makes it none.
pub(super) fn data_races() {
    let racing = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    tile[i] = id.x;
    // between
    output[id.x] = tile[63u - i];
}
";
    let folder = with(&[("race.wgsl", racing)]);
    let arguments = ["profile", "race.wgsl", "--device", "sim:32"];
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stderr}");
    let first = stdout.lines().next().unwrap_or_default().trim_start();
    let told = "data race in workgroup memory, line 5 writes what line 7 reads";
    assert!(first.starts_with(told), "{stdout}");
    assert!(stderr.contains("data_race_line_5_7"), "{stderr}");
    let (_, run, _) = sim_32(&folder, &["race.wgsl"]);
    let memory = run.measurements[0].memory.as_ref().unwrap();
    let race = &memory.dispatches[0].races[0];
    assert_eq!((race.buffer.as_deref(), race.sides.map(|side| side.invocation)), (None, [31, 32]));
    assert!(run.measurements[0].flags.contains(&Flag::at(Tag::DataRace, [5, 7])));
    let (code, run, stderr) = sim_32(&folder, &["race.wgsl", "--strict"]);
    assert_eq!((code, run.measurements[0].status), (5, Status::Failed), "{stderr}");
    assert!(stderr.contains("race.wgsl:5: data race: it writes what line 7 reads"), "{stderr}");
    let clean = racing.replace("// between", "workgroupBarrier();");
    let folder = with(&[("race.wgsl", &clean)]);
    let (code, run, stderr) = sim_32(&folder, &["race.wgsl", "--strict"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(run.measurements[0].flags.is_empty(), "{stderr}");
}

/// What reads of texels cost is in the record by line, of a model in which texels lie in tiles, and on the page under
/// that model's name: four bytes each, 4 × 2 texels are a sector and 8 × 4 a cache line.
pub(super) fn texel_lines() {
    let shader = "@group(0) @binding(0) var picture: texture_2d<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = textureLoad(picture, vec2(id.x, 0u), 0).x;
    let column = textureLoad(picture, vec2(0u, id.x), 0).x;
    let apart = textureLoad(picture, id.xx * vec2(4u, 2u), 0).x;
    let block = textureLoad(picture, vec2(id.x % 8u, id.x / 8u), 0).x;
    sums[id.x] = row + column + apart + block;
}
";
    let launch = "[[textures]]\nname = \"picture\"\nformat = \"r32uint\"\nsize = [128, 64]\n\
                  [[buffers]]\nname = \"sums\"\nelements = 32\n\
                  [[dispatches]]\nentry_point = \"main\"\nworkgroups = [1, 1, 1]\n";
    let folder = with(&[("texels.wgsl", shader), ("texels.toml", launch)]);
    let (code, run, stderr) = sim_32(&folder, &["texels.wgsl", "--launch", "texels.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let memory = run.measurements[0].memory.as_ref().unwrap();
    let read: Vec<(u32, u64, Cost, Cost)> = memory.dispatches[0]
        .accesses
        .iter()
        .filter(|access| access.buffer.as_deref() == Some("picture"))
        .map(|a| (a.line, a.lanes, a.sectors.unwrap(), a.cache_lines.unwrap()))
        .collect();
    let line = |line, sectors, cache_lines| {
        let cost = |taken, min| Cost { taken, min };
        (line, 32, cost(sectors, 4), cost(cache_lines, 1))
    };
    assert_eq!(read, [line(4, 8, 4), line(5, 16, 8), line(6, 32, 16), line(7, 4, 1)]);
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    let (_, told) = page.split_once("Memory, in a model of no particular machine").unwrap();
    for (line, costs) in
        [(4, ["2.000×", "4.000×"]), (5, ["4.000×", "8.000×"]), (6, ["8.000×", "16.00×"])]
    {
        let row = format!("<td class=\"n\"><a href=\"#L{line}\">{line}</a></td>");
        let (_, row) = told.split_once(&row).unwrap_or_else(|| panic!("no line {line}"));
        let (row, _) = row.split_once("</tr>").unwrap();
        assert!(row.contains("picture"), "{row}");
        for cost in costs {
            assert!(row.contains(cost), "{line}: {row}");
        }
    }
}

/// `--fail-on` says that what it judges is of made-up data.
pub(super) fn fail_on_made_up() {
    let folder = with(&[("table.wgsl", &SHADER.replace("id.x % 32u", "input[id.x] % 32u"))]);
    let (code, _, stderr) = sim_32(&folder, &["table.wgsl", "--fail-on", "efficiency<0.01"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("--fail-on rests on made-up data (sim:32)."), "{stderr}");
}

/// A loop that does not end costs its own device only, and the export is clean.
pub(super) fn endless_loop_and_export() {
    // Ends where subgroups have 64 lanes.
    let shader = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_size) lanes: u32) {
    while (lanes < 64u) {
        output[id.x] += 1u;
    }
}
";
    let folder = with(&[("spin.wgsl", shader)]);
    let arguments = ["profile", "spin.wgsl", "--export-json", "-", "--steps", "100000"];
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 5, "{stderr}");
    assert!(stderr.contains("spin.wgsl:4") && stderr.contains("--steps raises it"), "{stderr}");
    let run = lanescope::store::decode(stdout.as_bytes(), Path::new("-")).unwrap();
    let states: Vec<Status> = run.measurements.iter().map(|m| m.status).collect();
    assert_eq!(states, [Status::Failed, Status::Ok]);
    assert_eq!(
        run.measurements[0].parameters["n"],
        Value::Integer(1024),
        "made as small as can be"
    );
}
