//! A family that is a folder outside the tree.
//!
//! Input: two kernels and their `family.toml`, written here. Output: the list, a run on the
//! simulator, its chart and its page, and the page again from the record alone.

use lanescope::record::Output;
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
    assert!(stdout.contains("parted") && stdout.contains("whole"), "{stdout}");
    let chart = std::fs::read_to_string(folder.path().join("out/halves-lanes.svg")).unwrap();
    assert!(chart.contains("Lanes of halves") && chart.contains("parted"), "{chart}");
    // The record makes its page by itself, where nobody knows the folder.
    std::fs::remove_dir_all(folder.path().join("more")).unwrap();
    let again = program::run(&folder, &[], &["report", "out/result.json", "--out", "page"]);
    assert_eq!(program::parts(&again).0, 0);
    let page = std::fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    for text in ["Lanes of halves", "What does it cost in two ways?", "halves"] {
        assert!(page.contains(text), "{text}");
    }
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
