//! A family that is a folder outside the tree.
//!
//! Input: two kernels and their `family.toml`, written here. Output: the list, a run on the
//! simulator, its table, its charts and its page, and charts and page again from the record alone.

use std::collections::BTreeMap;

use lanescope::record::{Dispatch, Output, Run, Time};
use lanescope::units::{Nanoseconds, Ratio};
use tempfile::TempDir;

use crate::support::program;

/// A family from a folder outside the tree, two files a kernel and one for all of them: it is
/// listed, run, verified by a reference that there is, compared with its baseline, and in table,
/// chart and page.
pub(super) fn from_a_folder() {
    let folder = TempDir::new().unwrap();
    write_family(&folder);
    let shaders = ["--shaders", "more"];
    let listed = program::run(&folder, &[], &["list", "halves", "--shaders", "more"]);
    let (code, stdout, stderr) = program::parts(&listed);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("What does it cost in two ways?"), "{stdout}");
    let devices = ["--device", "sim:8", "--device", "sim:32", "--out", "out"];
    let arguments = [&["run", "halves"][..], &shaders, &devices].concat();
    let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let run = lanescope::store::load(&folder.path().join("out/result.json")).unwrap();
    assert_eq!(run.measurements.len(), 2 * 4 * 2, "{stdout}");
    assert!(
        run.measurements.iter().all(|measurement| measurement.output == Output::Verified),
        "{stdout}"
    );
    let note = &run.kernels["halves/parted"];
    assert_eq!(note.baseline.as_deref(), Some("halves/whole"));
    assert_eq!((note.axes.len(), note.stages[0].name.as_str()), (1, "loops"));
    check_table(&stdout);
    let drawn = drawings(&folder, "out");
    let curves = &drawn["halves-lanes.svg"];
    for text in ["Lanes of halves", "sim:8: whole", "sim:32: parted"] {
        assert!(curves.contains(&format!(">{text}<")), "{text}: {curves}");
    }
    // At each width and size.
    assert_eq!(curves.matches(">50.1<").count(), 2 * 4, "{curves}");
    // The record makes charts and page by itself, where nobody knows the folder.
    std::fs::remove_dir_all(folder.path().join("more")).unwrap();
    let again = program::run(&folder, &[], &["report", "out/result.json", "--out", "page"]);
    let (code, printed, stderr) = program::parts(&again);
    assert_eq!(code, 0, "{stderr}");
    check_table(&printed);
    let redrawn = drawings(&folder, "page");
    assert!(redrawn == drawn, "{:?} and {:?}", redrawn.keys(), drawn.keys());
    let page = std::fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    assert!(page.contains("What does it cost in two ways?"));
    check_stages(&folder, run);
}

/// The rows of both kernels: at each turn of a loop half of the lanes are there, of as many turns for each half, and
/// what stands before and behind takes all.
fn check_table(stdout: &str) {
    let in_one = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = stdout.lines().map(in_one).collect();
    for row in [
        "parted n=1024 4.01 50.1 % 8.41 M 1.999×",
        "whole n=1024 8.00 100.0 % 4.21 M baseline",
        "parted n=1024 16.03 50.1 % 8.41 M 1.999×",
        "whole n=1024 32.00 100.0 % 4.21 M baseline",
    ] {
        let told = rows.iter().filter(|told| *told == row).count();
        assert_eq!(told, 1, "{row}: {stdout}");
    }
}

/// The charts of a folder by their files; each of them is on the folder's page as it is.
fn drawings(folder: &TempDir, name: &str) -> BTreeMap<String, String> {
    let folder = folder.path().join(name);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.ends_with(".svg") {
            let svg = std::fs::read_to_string(entry.path()).unwrap();
            assert!(page.contains(svg.trim()), "{name}/{file} is not on the page");
            found.insert(file, svg);
        }
    }
    found
}

/// Stages are drawn as the record's notes name them. Simulators take no times, so that some are planted, and those of a
/// dispatch whose entry point no stage names.
fn check_stages(folder: &TempDir, mut run: Run) {
    let launches = run.measurements.len();
    for measurement in &mut run.measurements {
        let dispatch = &mut measurement.dispatches[0];
        dispatch.median_ns = Some(Nanoseconds(600.0));
        let other = Dispatch {
            entry_point: "tidied".to_owned(),
            median_ns: Some(Nanoseconds(300.0)),
            ..dispatch.clone()
        };
        measurement.dispatches.push(other);
        measurement.time = Some(Time {
            median_ns: Nanoseconds(1000.0),
            ci95_ns: [Nanoseconds(999.0), Nanoseconds(1001.0)],
            noise_ratio: Ratio(0.0),
            dispatches_per_sample: 1,
            dispatches_before_sample: Some(1),
            stop_rule_met: true,
            samples: Vec::new(),
        });
    }
    let file = folder.path().join("timed.json");
    program::write(&file, lanescope::store::encode(&run, &file).unwrap());
    let told = program::run(folder, &[], &["report", "timed.json", "--out", "timed"]);
    let (code, _, stderr) = program::parts(&told);
    assert_eq!(code, 0, "{stderr}");
    let drawn = drawings(folder, "timed");
    let stages = &drawn["stages-halves.svg"];
    for text in ["Time by stage, halves", "loops", "tidied", "sim:32, n = 1024"] {
        assert!(stages.contains(&format!(">{text}<")), "{text}: {stages}");
    }
    let bar = ">loops 0.6 + tidied 0.3 + between dispatches 0.1 = 1.0; launch 1.0<";
    assert_eq!(stages.matches(bar).count(), launches, "{stages}");
}

/// A family that is wrong is told with file and line.
pub(super) fn that_is_wrong() {
    let folder = TempDir::new().unwrap();
    let wrong = folder.path().join("wrong/halves");
    std::fs::create_dir_all(&wrong).unwrap();
    program::write(&wrong.join("family.toml"), "[kernels]\ncolour = 3\n");
    let listed = program::run(&folder, &[], &["list", "--shaders", "wrong"]);
    let (code, _, stderr) = program::parts(&listed);
    assert_eq!(code, 2);
    assert!(stderr.contains("halves/family.toml") && stderr.contains("line 2"), "{stderr}");
}

/// The family `halves`: two files a kernel, and one for all of them.
fn write_family(folder: &TempDir) {
    let family = folder.path().join("more/halves");
    std::fs::create_dir_all(&family).unwrap();
    let write = |name: &str, text: &str| program::write(&family.join(name), text);
    write(
        "family.toml",
        r#"
[kernels]
in_default_set = true
repeatable = true
baseline = "halves/whole"
axes = [{ name = "n" }]
stages = [{ name = "loops", entry_points = ["each", "in_order"] }]
parameters.n = { description = "elements", default = 1024, min = 1 }
sweeps = [{ beside_family = true, axes = { n = [256, 512, 2048] } }]
buffers = [
    { name = "input", type = "f32", elements = "n", fill = { uniform = [0.0, 1.0] } },
    { name = "output", type = "f32", elements = "n", output = true },
]
figures = [{
    name = "halves-lanes", title = "Lanes of halves", subtitle = "mean active lanes over W",
    x = "n", x_label = "elements", x_logarithmic = true, y = "efficiency", y_label = "lanes / W (%)",
    series = "{kernel}",
}]

[kernels.reference]
name = "five_patterns/uniform"
tolerance_relative = 1e-3
tolerance_absolute = 0.0
reason = "512 steps"
"#,
    );
    let kernel = |question: &str, name: &str, step: &str| {
        let entry = if name == "whole" { "in_order" } else { "each" };
        let shader = format!(
            "// {question}
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn {entry}(@builtin(global_invocation_id) id: vec3<u32>) {{
    if (id.x < arrayLength(&input)) {{
        var v = input[id.x];
        {step}
        output[id.x] = v;
    }}
}}
"
        );
        write(&format!("{name}.wgsl"), &shader);
        let dispatch = format!("{{ entry_point = \"{entry}\", workgroups = \"ceil(n / 64)\" }}");
        write(
            &format!("{name}.toml"),
            &format!("question = \"{question}\"\ndispatches = [{dispatch}]\n"),
        );
    };
    let pass = |from: u32| {
        format!("for (var i = {from}u; i < 512u; i += 1u) {{ v = fma(v, 1.01, 0.001); }}")
    };
    kernel("What does a loop cost?", "whole", &pass(0));
    let halves = [pass(256), pass(256)].map(|half| format!("{{ {half} }}"));
    let parted = format!("if (id.x % 2u == 0u) {{ {} }} else {{ {} }}", pass(0), halves.join(" "));
    kernel("What does it cost in two ways?", "parted", &parted);
}
