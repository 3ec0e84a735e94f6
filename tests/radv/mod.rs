//! AMD's machine code as Mesa's RADV compiles it, executed without hardware.
//!
//! Input: the catalogue, and RADV where it is installed. Output: every kernel compiles, decodes and
//! runs at both wave sizes, its outputs are the references', and where there is no reference they are
//! the simulator's; the counts of the five patterns are those that were worked out by hand. The child
//! is this test program itself, started with [`CHILD`] set: the family is chosen by the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use lanescope::amd::IssueKind;
use lanescope::analyze::{DeviceSummary, machine};
use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::mapping::matching::Match;
use lanescope::mapping::matching::NEAR;
use lanescope::record::{ArmOutcome, Counter, SOURCE_LANES_MEAN};
use lanescope::record::{Method, Output, Run, Value};
use lanescope::run::launched::programs;
use lanescope::run::radv::brought;
use lanescope::run::radv::{Matched, RadvPlace, RadvRunner, environment};
use lanescope::run::simulator::SimulatorRunner;
use lanescope::run::{CountRequest, Counted, RunErrorKind, Runner};
use lanescope::units::Width;
use libtest_mimic::Trial;
use serde_json::json;
use tempfile::TempDir;

use crate::records;
use crate::support::agreement;
use crate::support::program;
use crate::support::random_program::Options;
use crate::support::shaders::{Verdict, random_floats, verdicts};
use crate::support::{trial_needing, trials_of};

mod llvm;

/// Set in the child's environment to what it does: a check's name and a wave size.
pub(crate) const CHILD: &str = "LANESCOPE_RADV_CHILD";

/// What `LANESCOPE_REQUIRE` calls it.
const REQUIRED: &str = "radv";

const FAMILY: &str = "navi21";

/// Operations of a subgroup before a launch counts as hanging.
const STEPS_MAX: u64 = 1 << 28;

const REQUEST: CountRequest =
    CountRequest { method: Method::Executed, histogram: false, runs: 1, trace: false };

/// Kernels without a reference whose outputs are compared with the simulator's, bit for bit: the
/// families whose arithmetic has one answer.
const COMPARED: [&str; 2] = ["hot_loops", "self_test"];

/// At n = 4,096 in waves of 32 and 64: passes of vector instructions, by the loops' lengths.
///
/// 16 workgroups of 256 are 128 waves of 32. `branch_by_lane` executes 5 vector instructions and then
/// 2 · 512 multiply-adds in each, a half of the lanes at a time: 128 · (5 + 1,024) = 131,712.
const PASSES: [(&str, u64); 5] = [
    ("five_patterns/branch_by_lane", 131_712),
    ("five_patterns/branch_by_quad", 262_784),
    ("five_patterns/early_exit", 131_584),
    ("five_patterns/indirect_branch", 132_352),
    ("five_patterns/uniform", 65_920),
];

/// Random programs at each wave size, of integers and of floats; `lab wavefronts random` and `floats` run thousands.
const RANDOM: u64 = 40;

/// Families whose brought code is run.
const BROUGHT: [&str; 2] = ["five_patterns", "reduce"];

/// The driver whose code the figures are of.
const MEASURED: &str = "radv Mesa 22.3.6";

pub(crate) fn trials() -> Vec<Trial> {
    let missing = environment(FAMILY).err();
    let mut trials = Vec::new();
    for check in ["catalogue", "passes", "matching", "random", "floats", "corpus"] {
        for wave in ["32", "64"] {
            let title = format!("radv_{wave}::{check}");
            let run = move || start(check, wave);
            trials.push(trial_needing(title, missing.clone(), REQUIRED, run));
        }
    }
    trials.extend(CHECKS.map(|(name, check)| {
        trial_needing(format!("radv_command::{name}"), missing.clone(), REQUIRED, check)
    }));
    trials.extend(brought_trials());
    trials.extend(llvm_trials());
    trials
}

/// What must hold of the program where RADV is.
const CHECKS: [(&str, fn()); 6] = [
    ("a_profile_says_what_its_machine_code_is_of", a_profile_says_what_its_machine_code_is_of),
    ("arms_are_not_guessed", arms_are_not_guessed),
    ("outputs_are_held_against_the_simulators", outputs_are_held_against_the_simulators),
    ("two_are_compared_by_their_machine_code", two_are_compared_by_their_machine_code),
    ("limits_are_the_simulators", limits_are_the_simulators),
    ("exports_have_what_code_came_to", exports_have_what_code_came_to),
];

/// A shader with a loop that lanes leave by floating point.
const RAYS: &str = include_str!("../../examples/raymarch.wgsl");

/// A folder with shaders, and how it is profiled there: exit code, standard output and standard error.
fn profiled(files: &[(&str, &str)], arguments: &[&str]) -> (TempDir, (i32, String, String)) {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        program::write(&folder.path().join(name), text);
    }
    let parts = program::parts(&program::run(&folder, &[], arguments));
    (folder, parts)
}

/// What every figure of a profile's machine code stands with, from its record.
fn said_of(run: &Run) -> [String; 4] {
    let found = run.measurements.iter().find(|found| found.device.starts_with("radv:")).unwrap();
    let device = run.devices.iter().find(|device| device.id == found.device).unwrap();
    let code = found.dispatches[0].machine_code.as_ref().unwrap();
    let hash = code.sha256.as_ref().unwrap()[..8].to_owned();
    [FAMILY.to_owned(), device.driver.clone(), "64".to_owned(), hash]
}

/// A user's shader has no reference: what differs from the simulator's outputs is named.
fn outputs_are_held_against_the_simulators() {
    for (line, differs) in [("f32(id.x) * 3.0", false), ("exp(f32(id.x) * 0.01)", true)] {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
                o[id.x] = {line};
            }}"
        );
        let arguments = ["profile", "a.wgsl", "--device", "radv:navi21/32", "--n", "4096"];
        let (_folder, (code, stdout, stderr)) = profiled(&[("a.wgsl", &text)], &arguments);
        assert_eq!(code, 0, "{stderr}");
        let words = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_told = words.contains("the machine code left in `o` is not, bit for bit,");
        assert_eq!(is_told, differs, "{line}: {stdout}");
        let guess =
            "floating point is rounded otherwise, or invocations depend on which runs first";
        assert_eq!(words.contains(guess), differs, "{line}: {stdout}");
    }
    // Lanes that a wave does not have were asked, and nothing is a float: the flag is the reason, and no guess.
    let arguments = ["profile", "s.wgsl", "--device", "radv:navi21/64", "--n", "4096"];
    let shader = include_str!("../wgsl/subgroup_shuffle.wgsl");
    let (_folder, (code, stdout, stderr)) = profiled(&[("s.wgsl", shader)], &arguments);
    assert_eq!(code, 0, "{stderr}");
    let words = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = "values that are not defined (shuffle_past_the_edge_of_a_subgroup";
    assert!(words.contains(reason) && !words.contains("rounded otherwise, or"), "{stdout}");
}

/// Arms that load: each stands behind a branch, whatever waits before it.
const LOADED: &str = "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        var v = a[id.x];
        if (v & 1u) == 0u {
            v = a[v % 64u] * 3u;
        } else {
            v = a[v * 7u % 64u] + 1u;
        }
        o[id.x] = v;
        }";

/// A loop whose counts are nearly those of the source: floating point is rounded otherwise.
const ROUNDED: &str = include_str!("../../examples/mandelbrot.wgsl");

/// Arms whose counts are equal on every input, of which the compiler selects one, unrolls a loop in one, and masks one
/// in a function that does nothing else.
fn arms_are_not_guessed() {
    let alike = "@group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        var v = o[id.x];
        if (id.x & 1u) == 0u {
            for (var i = 0u; i < 20u; i++) { v = fma(v, 1.01, 0.5); }
        }
        if (id.x & 2u) == 0u {
            v = v * 2.0;
        }
        o[id.x] = v;
        }";
    let called = "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        fn step(s: u32, v: u32) -> u32 {
            switch s {
                case 0u: { return v * 3u + 1u; }
                case 1u: { return v ^ (v >> 3u); }
                case 2u, 3u: { return v / 7u; }
                default: { return v - 1u; }
            }
        }
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            var v = a[id.x];
            var n = 0u;
            loop {
                if v == 0u || n > 40u { break; }
                v = step(v % 5u, v);
                n++;
            }
            o[id.x] = v + n;
        }";
    // A loop that nobody turns is there all the same.
    let idle = "@group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        let none = arrayLength(&o) - 4096u;
        var v = o[id.x];
        if (id.x & 3u) == 0u {
            v = sqrt(v * 3.0 + 1.0) / (v + 2.0);
        } else {
            for (var i = 0u; i < none; i++) { v = fma(v, 1.01, 0.5); }
        }
        o[id.x] = v;
        }";
    for (text, said, never) in [
        (LOADED, ["line 5, if: skipped", "line 5, else: skipped"], [": masked"; 2]),
        (ROUNDED, ["line 15, loop: kept"; 2], ["loop: folded"; 2]),
        (idle, ["line 8, loop: kept"; 2], ["loop: unrolled"; 2]),
        (
            alike,
            ["line 4, if: skipped; line 5, loop: unrolled", "line 7, if: merged"],
            [": flattened"; 2],
        ),
        (
            called,
            ["line 4, arm 1 of the switch: flattened", "arm 3 of the switch: masked"],
            [": folded", ": skipped"],
        ),
    ] {
        let arguments = ["profile", "a.wgsl", "--device", "radv:navi21/32", "--n", "4096"];
        let (_folder, (code, stdout, stderr)) = profiled(&[("a.wgsl", text)], &arguments);
        assert_eq!(code, 0, "{stderr}");
        let arms = stdout.split_once("What became of arms and loops:").unwrap().1;
        let arms = arms.split_once("Arms and loops:").unwrap().0;
        assert!(said.iter().all(|word| arms.contains(word)), "{arms}");
        assert!(!never.iter().any(|word| arms.contains(word)), "{arms}");
    }
}

/// Terminal, page, lines of JSON and SARIF of a profile: machine lines stand beneath the source's, with what they are
/// of; arms with what became of them; lanes that differ by rounding as such.
fn a_profile_says_what_its_machine_code_is_of() {
    let arguments = ["profile", "r.wgsl", "--device", "radv:navi21/64", "--out", "out"];
    let (folder, (code, stdout, stderr)) = profiled(&[("r.wgsl", RAYS)], &arguments);
    assert_eq!(code, 0, "{stderr}");
    let run = lanescope::store::load(&folder.path().join("out/result.json")).unwrap();
    let figures = said_of(&run);
    let dispatch = &run.measurements[0].dispatches[0];
    let machine = dispatch.machine_code.as_ref().unwrap();
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for text in [&stdout, &page] {
        // The card's or the table's line, and the heading of the code.
        for line in text.lines().filter(|line| line.contains("Machine code of main")) {
            let parts = [&figures[0], &figures[1], &figures[3]];
            assert!(parts.iter().all(|part| line.contains(part.as_str())), "{line}");
            assert!(line.contains("wave64"), "{line}");
        }
        let heading =
            format!("{}, waves of {}, {}, code {}", figures[0], figures[2], figures[1], figures[3]);
        assert_eq!(text.matches(&heading).count(), 1, "{heading}");
        assert!(!text.contains("predicated off") && !text.contains("unknown"));
        assert!(!text.contains("nothing was counted"));
        assert!(text.contains("lanes on in vector instructions (VALU alone), "), "{text}");
        for arm in machine::arm_lines(dispatch) {
            assert!(text.contains(&arm), "{arm}");
        }
    }
    assert!(!machine.arms.is_empty() && stdout.contains("s_endpgm"));
    // Branches lead to offsets, not to labels that stand nowhere.
    let leads = |line: &str| line.split("s_cbranch_").nth(1).is_some_and(|to| to.contains(" 0x"));
    assert!(stdout.lines().any(leads) && !stdout.contains(" BB"), "{stdout}");
    // Rows of instructions follow a heading with all of it.
    for label in page.match_indices("<details class=\"sass\"><summary>") {
        let summary = page[label.0..].split_once("</summary>").unwrap().0;
        assert!(summary.contains(&figures[1]) && summary.contains(&figures[3]), "{summary}");
    }
    let near: Vec<u32> = machine.near.iter().map(|block| block.line).collect();
    if run.devices[0].driver == MEASURED {
        assert!([17, 18, 20].iter().all(|line| near.contains(line)), "{near:?}\n{stderr}");
        assert!(machine.near.iter().all(|block| block.lanes_off * NEAR <= block.lanes));
        for text in [&stdout, &page] {
            assert!(text.contains("lanes differ by 1 of "), "rounding is said");
        }
    }
    let causes = ["flattened, unrolled", "they were"];
    assert!(causes.iter().all(|cause| !stderr.contains(cause)), "{stderr}");
    let arguments = ["--json-lines", "--sarif", "a.sarif", "--device", "radv:navi21/64,sim:64"];
    let (folder, (code, stdout, stderr)) =
        profiled(&[("r.wgsl", RAYS)], &[&["profile", "r.wgsl"][..], &arguments].concat());
    assert_eq!(code, 0, "{stderr}");
    let event: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let whole = event["wholes"].as_array().unwrap();
    let whole = whole.iter().find(|whole| whole["device"] == "radv:navi21/64").unwrap();
    let absent = ["subgroup_operations", "active_lanes_mean", "efficiency_ratio", "trust"];
    assert!(absent.iter().all(|name| whole.get(name).is_none()), "{whole}");
    let executed = &whole["executed"];
    assert_eq!(executed["family"], figures[0].as_str());
    assert_eq!(executed["driver"], figures[1].as_str());
    assert_eq!(executed["width"], 64);
    assert_eq!(executed["code"], json!([figures[3]]));
    assert!(executed["instructions"].as_u64().unwrap() > 1000, "{executed}");
    // Marks are the simulator's: SARIF has no figure of machine code.
    let sarif = std::fs::read_to_string(folder.path().join("a.sarif")).unwrap();
    for text in [&sarif, &event["marks"].to_string()] {
        assert!(text.contains("sim:64") && !text.contains("radv"), "{text}");
    }
}

/// Two shaders, and two records, by instructions, lanes and passes of their machine code.
fn two_are_compared_by_their_machine_code() {
    let other = RAYS.replace("16.0", "12.0");
    let files = [("a.wgsl", RAYS), ("b.wgsl", other.as_str())];
    let arguments = [
        &["compare", "a.wgsl", "b.wgsl", "--device", "radv:navi21/64", "--out", "out"][..],
        &["--export-json", "c.json", "--export-markdown", "c.md"],
    ];
    let (folder, (code, stdout, stderr)) = profiled(&files, &arguments.concat());
    assert_eq!(code, 0, "{stderr}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("c.json")).unwrap();
    let row = &json["executed"][0];
    let [a, b] = [0, 1].map(|side| &row["sides"][side]);
    for figure in ["instructions", "passes_min", "passes_max"] {
        let both = [a, b].map(|side| side[figure].as_f64().unwrap());
        assert!(both[1] > 0.0 && both[1] < both[0], "{figure}: {both:?}");
    }
    assert!(row["instructions_ratio"].as_f64().unwrap() < 1.0);
    assert!(row["lanes_ratio"].as_f64().unwrap() > 0.0);
    for text in [&stdout, &read("c.md"), &read("out/compare.html")] {
        for side in [a, b] {
            let hash = side["code"][0].as_str().unwrap();
            let driver = side["driver"].as_str().unwrap();
            assert!(text.contains(hash) && text.contains(driver), "{text}");
        }
        assert!(text.contains(FAMILY) && text.contains("instructions"), "{text}");
        assert!(!text.contains("no launch in common"), "{text}");
    }
    let same = program::parts(&program::run(&folder, &[], &["compare", "out", "out"]));
    assert!(same.0 == 0 && same.1.contains("1.00"), "{same:?}");
    // No figure of a gate is machine code's: it is said what has them.
    let gate = ["compare", "out", "out", "--fail-on", "operations>1"];
    let (code, _, stderr) = program::parts(&program::run(&folder, &[], &gate));
    assert!(code == 2 && stderr.contains("such as sim:32, slots, operations, idle"), "{stderr}");
}

/// CSV has figures of machine code in columns of their own; Markdown has its table, and none without a figure.
fn exports_have_what_code_came_to() {
    let folder = TempDir::new().unwrap();
    let run = |option: &str, out: &str| {
        let launches =
            ["run", "five_patterns", "-a", "n=4096", "--device", "radv:navi21/64,sim:64"];
        let arguments = [&launches[..], &[option, "-", "--out", out]].concat();
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let table = run("--export-csv", "a");
    let mut csv = csv::Reader::from_reader(table.as_bytes());
    let headers = csv.headers().unwrap().clone();
    let place = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let mut executed = 0;
    for row in &rows {
        let on_amd = row[place("device")].starts_with("radv:");
        executed += usize::from(on_amd);
        let code = &row[place("machine_code")];
        assert_eq!(code.contains(FAMILY) && code.contains(", code "), on_amd, "{row:?}");
        for name in ["machine_instructions", "machine_passes_min", "machine_passes_max"] {
            let count = row[place(name)].parse::<u64>();
            assert_eq!(count.is_ok_and(|count| count > 1000), on_amd, "{name}: {row:?}");
        }
        for name in ["active_lanes_mean", "machine_lanes_mean"] {
            let of_code = name == "machine_lanes_mean";
            assert_eq!(row[place(name)].parse::<f64>().is_ok(), of_code == on_amd, "{row:?}");
        }
    }
    assert!(executed > 0 && rows.len() == 2 * executed, "{table}");
    let tables = run("--export-markdown", "b");
    let titles: Vec<&str> = tables.lines().filter(|line| line.starts_with("### ")).collect();
    assert!(matches!(titles[..], ["### sim:64", code] if code.contains(FAMILY)), "{titles:?}");
    assert!(tables.contains("passes at least") && tables.contains("No pass is a cycle."));
    // No column says what became of branches, so that something else says what does; and rows have an order.
    assert!(
        tables.contains("What became of each branch,") && tables.contains("come with counters")
    );
    assert!(tables.contains("Launches that use the least part of their lanes"), "{tables}");
}

/// The options that bound a launch on the simulator bound it as machine code, with the same exit code and the same
/// word of them; what has more variables than the simulator takes never reaches Mesa's compiler.
fn limits_are_the_simulators() {
    let entry = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u)";
    let spin =
        format!("{entry} {{ loop {{ o[id.x] += 1u; if o[0] == 7u && o[0] == 8u {{ break; }} }} }}");
    let local = format!(
        "{entry} {{ var a: array<array<u32, 4096>, 256>; a[o[1]][o[2]] = 1u; o[id.x] = a[o[3]][id.x]; }}"
    );
    let private = format!(
        "var<private> p: array<u32, 268435455>; {entry} {{ p[o[1]] = 1u; o[id.x] = p[id.x]; }}"
    );
    let told = |text: &str, device: &str, options: &[&str]| {
        let all = [&["profile", "a.wgsl", "--n", "1024", "--device", device], options].concat();
        let (_, (code, _, stderr)) = profiled(&[("a.wgsl", text)], &all);
        (code, stderr)
    };
    for device in ["sim:32", "radv:navi21/32"] {
        let (code, stderr) = told(&spin, device, &["--steps", "20000"]);
        assert!(code == 5 && stderr.contains("--steps raises it"), "{code} {stderr}");
        assert!(stderr.contains("20000"), "{stderr}");
        let (code, stderr) = told(&spin, device, &["--operations", "300000"]);
        assert!(code == 5 && stderr.contains("--operations raises it"), "{code} {stderr}");
        assert!(stderr.contains("300000"), "{stderr}");
        for text in [&local, &private] {
            let (code, stderr) = told(text, device, &[]);
            let why = "a.wgsl: over 65535 words of variables and values an invocation";
            assert!(code == 2 && stderr.contains(why), "{code} {stderr}");
        }
    }
}

/// The decoder against LLVM's, where that is installed.
fn llvm_trials() -> Vec<Trial> {
    let missing = llvm::program().err();
    let checks: [(&str, fn()); 2] = [
        ("radv_llvm::every_number_is_llvms_opcode", llvm::every_number_is_llvms_opcode),
        ("radv_llvm::every_instruction_is_printed_alike", llvm::every_instruction_is_printed_alike),
    ];
    let trial =
        |(title, check): (&str, fn())| trial_needing(title, missing.clone(), llvm::REQUIRED, check);
    checks.into_iter().map(trial).collect()
}

/// Shaders of the corpus that are not executed, with a part of the reason.
const CORPUS_REFUSED: [(&str, &str); 3] = [
    ("directives.wgsl", "v_dot4_u32_u8"),
    ("packed_dot.wgsl", "v_dot4_i32_i8"),
    ("immediate_data.wgsl", "immediates"),
];

/// Every shader of the corpus gives the simulator's outputs, or is refused for a reason that is known.
fn corpus(runner: &RadvRunner) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl");
    let mut problems = Vec::new();
    let mut right = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.ends_with(".wgsl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (entry_point, verdict) in verdicts(runner, name, &text) {
            let known = |why: &str| {
                CORPUS_REFUSED.iter().any(|(refused, part)| *refused == name && why.contains(part))
            };
            match verdict {
                Verdict::Same | Verdict::Close => right += 1,
                Verdict::Undefined(_) => {}
                Verdict::Refused(why) if known(&why) || runner.device().driver != MEASURED => {}
                verdict => problems.push(format!("{name} {entry_point}: {verdict:?}")),
            }
        }
    }
    assert!(problems.is_empty() && right > 70, "{right} right, {problems:#?}");
}

/// Runs a check in a child whose environment names the family.
fn start(check: &str, wave: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .envs(environment(FAMILY).unwrap())
        .env(CHILD, format!("{check} {wave}"))
        .status()
        .unwrap();
    assert!(status.success(), "{check} at {wave}: {status}");
}

/// What the child does.
pub(crate) fn child(asked: &str) {
    let (check, wave) = asked.split_once(' ').unwrap();
    let wave = Width::new(wave.parse().unwrap()).unwrap();
    let mut runner =
        RadvRunner::open(RadvPlace::parse(&format!("{FAMILY}/{wave}")).unwrap()).unwrap();
    match check {
        "catalogue" => catalogue(&mut runner, wave),
        "passes" => passes(&runner),
        "random" => random(&mut runner, wave),
        "floats" => floats(&runner),
        "corpus" => corpus(&runner),
        _ => matching(&runner),
    }
}

fn launch(id: &str, chosen: &[(&str, i64)]) -> Launch {
    let catalogue = Catalogue::embedded().unwrap();
    let chosen: BTreeMap<String, Value> =
        chosen.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
    catalogue.kernel(id).unwrap().launch(DeviceClass::Quick, &chosen, SEED).unwrap()
}

/// Every kernel of the catalogue is right.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn catalogue(runner: &mut RadvRunner, wave: Width) {
    let catalogue = Catalogue::embedded().unwrap();
    let mut simulator = SimulatorRunner::new(wave, STEPS_MAX);
    let measured = runner.device().driver == MEASURED;
    let mut problems = Vec::new();
    let mut verified = 0;
    for kernel in catalogue.kernels() {
        let launch = launch(&kernel.id, &[]);
        let counted = match runner.count_once(&launch, &REQUEST) {
            Ok(counted) => {
                problems.extend(misnamed(runner, &launch));
                counted
            }
            // Another version of the compiler may emit what is not executed yet, and says so.
            Err(error) if !measured && error.kind == RunErrorKind::Unsupported => continue,
            Err(error) => {
                problems.push(format!("{}: {error}", kernel.id));
                continue;
            }
        };
        let right = match counted.checked.output {
            Output::Verified => true,
            Output::Mismatch => false,
            _ if COMPARED.contains(&kernel.family()) => {
                let simulated = simulator.count_once(&launch, &REQUEST).unwrap();
                simulated.outputs_sha256 == counted.outputs_sha256
            }
            _ => continue,
        };
        if right {
            verified += 1;
        } else {
            problems.push(format!("{}: {:?}", kernel.id, counted.checked));
        }
        problems.extend(strays(&kernel.id, &counted));
    }
    let report = json!({ "verified": verified, "problems": problems });
    println!("{report}");
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(!measured || verified >= 105, "{verified} kernels were right; there are more");
}

/// Instructions whose mnemonic is not the one that LLVM prints beside their words. One without a text is
/// one of those that the listing leaves out as repeated, or that LLVM misprints: a load into registers
/// of which the last are VCC, or what stands behind it.
fn misnamed(runner: &RadvRunner, launch: &Launch) -> Vec<String> {
    let mut found = Vec::new();
    for program in programs(launch).unwrap().iter() {
        let compiled = runner.compile(launch, program).unwrap();
        let code = &compiled.code;
        let words = |index: usize| {
            let at = code.offset(index) / 4;
            &compiled.words[at..at + code.instructions()[index].length]
        };
        for (index, (one, line)) in code.instructions().iter().zip(&compiled.lines).enumerate() {
            let name = one.mnemonic();
            let explained = match line {
                Some(text) => text.split_whitespace().next() == Some(name.as_str()),
                None => {
                    name == "s_buffer_load_dwordx4" && one.destination > 102
                        || index > 0 && words(index) == words(index - 1)
                }
            };
            if !explained {
                found.push(format!("{}: {name} for {line:?}, {:x?}", launch.kernel, words(index)));
            }
        }
    }
    found
}

/// Outputs of random programs are the simulator's, bit for bit.
fn random(runner: &mut RadvRunner, wave: Width) {
    let mut simulator = SimulatorRunner::new(wave, STEPS_MAX);
    for seed in 1..=RANDOM {
        let program = agreement::program(seed, Options::BUFFERS);
        let launch = agreement::launch(&program, seed);
        let executed = runner.count_once(&launch, &REQUEST).unwrap();
        let simulated = simulator.count_once(&launch, &REQUEST).unwrap();
        assert_eq!(executed.outputs_sha256, simulated.outputs_sha256, "seed {seed}\n{program}");
    }
}

/// Outputs of random programs of floats are the simulator's but for floats that lie close.
fn floats(runner: &RadvRunner) {
    let mut close = 0;
    for seed in 1..=RANDOM {
        let text = random_floats(seed);
        for (_, verdict) in verdicts(runner, "floats.wgsl", &text) {
            let is_right = matches!(verdict, Verdict::Same | Verdict::Close);
            assert!(is_right, "seed {seed}: {verdict:?}\n{text}");
            close += u64::from(verdict == Verdict::Close);
        }
    }
    // Else nothing was tried that may be rounded otherwise.
    assert!(close > RANDOM / 2, "{close} of {RANDOM}");
}

/// Accesses outside buffers, of which a kernel of the catalogue has none; figures that say nothing of
/// their code.
fn strays(id: &str, counted: &Counted) -> Vec<String> {
    let stray = |counter: &&Counter| {
        counter.name.ends_with("_outside") && counter.value != 0.0
            || !counter.description.contains(FAMILY)
            || !counter.description.contains("Mesa")
            || !counter.description.contains("waves of")
            || !counter.description.contains("code ")
    };
    let found = counted.counters.iter().filter(stray);
    found.map(|counter| format!("{id}: {counter:?}")).collect()
}

/// The five patterns' passes and lanes are those that follow from their loops.
fn passes(runner: &RadvRunner) {
    let wave = f64::from(runner.device().subgroup_width_run.unwrap().lanes());
    for (id, expected) in PASSES {
        let launch = launch(id, &[("n", 4096)]);
        let mut buffers: BTreeMap<String, Vec<u8>> = launch
            .buffers
            .iter()
            .map(|buffer| (buffer.name.clone(), launch.contents(buffer)))
            .collect();
        let executed = runner.execute(&launch, &mut buffers).unwrap();
        let [dispatch] = executed.as_slice() else { panic!("{id} has one dispatch") };
        let valu = dispatch.outcome.total(&dispatch.compiled.code, IssueKind::Valu);
        // Another version of the compiler emits another loop.
        if runner.device().driver == MEASURED {
            assert_eq!((valu.passes_min, valu.passes_max), (expected, expected), "{id}");
        }
        if id == "five_patterns/branch_by_lane" {
            let pairs = dispatch.compiled.code.instructions().iter().zip(&dispatch.outcome.counts);
            let fused: Vec<_> = pairs
                .filter(|(i, counts)| i.row.name == "v_fma_f32" && counts.executions > 0)
                .collect();
            assert!(!fused.is_empty());
            for (_, counts) in fused {
                #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
                let mean = counts.lanes as f64 / counts.executions as f64;
                assert!((mean - wave / 2.0).abs() < 1e-12, "{id}: {mean} lanes");
            }
        }
    }
}

/// Blocks that survive compilation run in machine code exactly as in the simulator; arms that were
/// flattened do not, and then every lane is on.
fn matching(runner: &RadvRunner) {
    let wave = u64::from(runner.device().subgroup_width_run.unwrap().lanes());
    let only =
        |id: &str| -> Matched { runner.match_code(&launch(id, &[("n", 4096)])).unwrap().remove(0) };
    let there = |matched: &Matched| {
        let ran = matched.beside.matching.blocks.iter().filter(|what| **what != Match::NeverRan);
        let there = matched.beside.matching.blocks.iter().filter(|what| what.is_there());
        (there.count(), ran.count())
    };
    let measured = runner.device().driver == MEASURED;
    let kept = only("five_patterns/branch_by_lane");
    assert!(!measured || there(&kept) == (11, 11), "branch_by_lane: {kept:?}");
    let sorting = only("hot_loops/insertion_sort");
    let (found, ran) = there(&sorting);
    assert!(
        !measured || found >= 15 && ran == 17,
        "insertion_sort: {:?}",
        sorting.beside.matching.blocks
    );
    let machine = only("hot_loops/state_machine");
    let flattened = machine.beside.arms.iter().filter(|arm| arm.outcome == ArmOutcome::Flattened);
    assert!(flattened.count() >= 4, "state_machine: {:?}", machine.beside.arms);
    let valu = machine.outcome.total(&machine.compiled.code, IssueKind::Valu);
    assert_eq!(valu.lanes, wave * valu.executions, "the arms of state_machine are selects");
}

/// The code that lanescope brings is what is compiled of today's texts; what differs is listed.
fn brought_trials() -> Vec<Trial> {
    let rows = brought::embedded().rows();
    let wanted = brought::list_wanted().unwrap();
    let missing = wanted.iter().filter(|(key, _)| !rows.contains_key(*key)).count();
    let left_over = rows.keys().filter(|key| !wanted.contains_key(*key)).count();
    let mut trials = trials_of(&[
        ("radv_brought::it_runs_without_mesa", it_runs_without_mesa),
        ("radv_record::every_figure_says_what_it_is_of", every_figure_says_what_it_is_of),
        ("radv_record::nvidia_has_the_same_kernels", nvidia_has_the_same_kernels),
    ]);
    let stale = (missing + left_over > 0).then(|| {
        format!(
            "{missing} entry points are not brought, {left_over} are of older texts: `lab wavefronts code` renews \
             them"
        )
    });
    trials.push(trial_needing("radv_brought::it_is_of_todays_texts", stale, "brought", || ()));
    trials
}

/// The committed record of the whole catalogue.
const RECORD: &str = "navi21/catalogue-quick";

/// Hardware counters of NVIDIA's for the same kernels.
const COUNTERS: [&str; 9] = [
    "h200-cuda/boundary-counters",
    "h200-cuda/catalogue-counters",
    "h200-cuda/collective-counters",
    "h200-cuda/grain-counters",
    "h200-cuda/occupancy-counters",
    "h200-cuda/others-counters",
    "h200-cuda/predication-counters",
    "h200-cuda/sort-counters",
    "h200-cuda/sparse-counters",
];

/// Kernels that are younger than the last counters of an NVIDIA GPU: those to come have them.
const NOT_COUNTED_YET: [&str; 1] = ["self_test/switch_vote"];

/// Each kernel whose AMD code was executed has NVIDIA's counters, and the same is said of its arms.
fn nvidia_has_the_same_kernels() {
    let executed = records::load(RECORD);
    let on_amd = executed.measurements.iter().filter(|found| found.device.starts_with("radv:"));
    let mut missing: BTreeSet<&str> = on_amd.map(|found| found.kernel.as_str()).collect();
    let runs: Vec<_> = COUNTERS.iter().map(|name| records::load(name)).collect();
    for measurement in runs.iter().flat_map(|run| &run.measurements) {
        let kernel = measurement.kernel.as_str();
        let counted = machine::threads_means(&measurement.counters).is_some();
        if let (true, Some(arms)) = (counted, machine::arms_text(measurement)) {
            let codes = measurement.dispatches.iter().filter_map(|d| d.machine_code.as_ref());
            // Told when it was counted, on two inputs, and not from the record's one.
            let stored = codes.flat_map(|code| &code.arms).next().is_some();
            assert!(stored || arms == "none", "{kernel}: {arms}");
            missing.remove(kernel);
        }
    }
    assert_eq!(missing, BTreeSet::from(NOT_COUNTED_YET), "without counters of NVIDIA's");
}

/// The page that is made of it.
const PAGE: &str = "docs/findings/warps-and-wavefronts.md";

/// No figure of executed machine code without the driver's version, the family, the wave size and the
/// hash of the code; no time, and no cycle but where it is said that there are none.
fn every_figure_says_what_it_is_of() {
    let run = records::load(RECORD);
    let mut executed = 0;
    for measurement in run.measurements.iter().filter(|found| found.device.starts_with("radv:")) {
        let device = run.devices.iter().find(|device| device.id == measurement.device).unwrap();
        let kernel = &measurement.kernel;
        assert!(device.driver.contains(MEASURED), "{}", device.driver);
        assert!(measurement.time.is_none() && measurement.time_unchecked.is_none(), "{kernel}");
        let wave = format!("waves of {}", measurement.subgroup_width.unwrap());
        let of_code = |counter: &&Counter| counter.name != SOURCE_LANES_MEAN;
        for counter in measurement.counters.iter().filter(of_code) {
            let description = &counter.description;
            let worked = measurement.dispatches.iter().filter(|dispatch| !dispatch.setup);
            let codes = worked.filter_map(|dispatch| dispatch.machine_code.as_ref());
            for hash in codes.map(|code| code.sha256.as_ref().unwrap()) {
                assert!(description.contains(&hash[..16]), "{kernel}: {description}");
            }
            let all = [FAMILY, MEASURED, &wave, "code "];
            assert!(all.iter().all(|part| description.contains(part)), "{kernel}: {description}");
            assert!(!counter.name.contains("cycle") && counter.unit == "1", "{counter:?}");
            executed += 1;
        }
    }
    assert!(executed > 1000, "{executed} figures");
    for (_, table) in lanescope::present::tables(&run) {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        if columns.iter().any(|name| name.contains("passes")) {
            assert!(
                table.title.contains(FAMILY) && table.title.contains(MEASURED),
                "{}",
                table.title
            );
            assert!(columns.contains(&"W") && columns.contains(&"code"), "{columns:?}");
        }
    }
    // In the summary, of which CSV and Markdown are made, figures of machine code stand apart, with what they are of.
    let summary = lanescope::analyze::summary(&run);
    let on_amd = |device: &&DeviceSummary| device.device.starts_with("radv:");
    for row in summary.devices.iter().filter(on_amd).flat_map(|device| &device.rows) {
        let none = row.active_lanes_mean.is_none() && row.efficiency.is_none();
        assert!(none && row.lane_slots.is_none() && row.time.is_none(), "{}", row.kernel);
        let named = row.executed.as_ref().map(machine::ExecutedCode::code_source);
        let named = named.unwrap_or_default();
        let parts = [FAMILY, MEASURED, "waves of ", ", code "];
        assert!(parts.iter().all(|part| named.contains(part)), "{}: {named}", row.kernel);
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for text in ["docs/run.md", "docs/profile.md"] {
        let text = std::fs::read_to_string(root.join(text)).unwrap();
        for (at, _) in text.match_indices(" passes of 32") {
            let line = text[..at].lines().next_back().unwrap_or_default();
            assert!(!line.ends_with(|letter: char| letter.is_ascii_digit()), "{line}");
        }
    }
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
    assert!(page.contains(MEASURED) && page.contains(FAMILY) && page.contains("W = 64"), "{PAGE}");
    tables_name_their_code(&page);
    pages_say_what_code_is_of(&run);
    a_gallery_has_no_figure_of_code(&run);
    let html = lanescope::report::html(std::slice::from_ref(&run), &[]).unwrap();
    assert!(html.contains(MEASURED) && html.contains("passes at least"));
    for text in [&page, &html] {
        for (at, _) in text.match_indices(" cycles") {
            let number = text[..at].ends_with(|letter: char| letter.is_ascii_digit());
            assert!(!number, "{}", text[..at].lines().next_back().unwrap_or_default());
        }
    }
}

/// Each row of a table with figures at W = 32 or 64 has the hash of a code for each of these widths.
fn tables_name_their_code(page: &str) {
    let is_hash = |word: &&str| {
        let hexadecimal = |letter: char| matches!(letter, '0'..='9' | 'a'..='f');
        word.len() == 8 && word.chars().all(hexadecimal)
    };
    let mut rows = 0;
    let mut widths = 0;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with('|') {
            widths = 0;
        } else if lines.peek().is_some_and(|next| next.starts_with("|---")) {
            widths = ["W = 32", "W = 64"].iter().filter(|width| line.contains(**width)).count();
        } else if widths > 0 && !line.starts_with("|---") {
            let words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
            assert!(words.filter(is_hash).count() >= widths, "{line}");
            rows += 1;
        }
    }
    assert!(rows > 200, "{rows} rows");
}

/// A gallery has what executed the code and what compiled it, launches and verdicts, but no figure of the code.
fn a_gallery_has_no_figure_of_code(run: &Run) {
    let known = [
        "device, interface, drivers, records, width, self-test, launches, wrong outputs",
        "claim, verdict, devices",
    ];
    let mut gallery = lanescope::report::GalleryPage::default();
    gallery.add(run).unwrap();
    let tables = gallery.tables();
    assert!(!tables.is_empty());
    for table in &tables {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = columns.join(", ");
        assert!(known.contains(&columns.as_str()), "{columns}");
    }
    let page = gallery.html().unwrap();
    assert!(page.contains(FAMILY) && page.contains(MEASURED));
}

/// Pages of profiles and of a comparison, made of a record.
fn pages_say_what_code_is_of(run: &Run) {
    let mut shown = 0;
    for profile in lanescope::analyze::profiles(run).iter().step_by(16) {
        let page = lanescope::report::profile_html(profile, &[], run).unwrap();
        for device in profile.devices.iter().filter(|device| device.executed.is_some()) {
            let executed = device.executed.as_ref().unwrap();
            assert!(page.contains(&executed.code_source()), "{}", profile.kernel);
            for code in device.dispatches.iter().filter_map(|found| found.machine_code.as_ref()) {
                let heading = machine::code_text(code, &device.driver);
                assert!(heading.contains(MEASURED) && heading.contains("code "), "{heading}");
                let lines = machine::lines(code);
                assert!(page.matches(&format!("({heading})")).count() >= lines.len(), "{heading}");
                shown += lines.len();
            }
        }
        assert!(!page.contains("predicated off") && !page.contains("nothing was counted"));
    }
    assert!(shown > 100, "{shown} lines");
    for (_, table) in lanescope::present::tables(run) {
        let hint = table.notes.iter().find(|note| note.contains("come with counters"));
        assert!(hint.is_none(), "{hint:?} stands where branches are told");
    }
    let compared = lanescope::analyze::compare(run, run, false);
    let table = lanescope::present::compared_code(&compared).unwrap();
    assert!(table.title.contains(FAMILY) && table.title.contains(MEASURED), "{}", table.title);
    let of_one_lane = "v_writelane) counts one pass at both sizes";
    assert!(table.notes.iter().any(|note| note.contains(of_one_lane)), "{:?}", table.notes);
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert!(["W A", "code A", "instructions B / A"].iter().all(|name| columns.contains(name)));
    assert_eq!(table.rows.len(), compared.executed.len());
}

/// What is brought is executed, and says by whom it was compiled; what is not is refused with the reason.
fn it_runs_without_mesa() {
    for wave in [32, 64] {
        let place = RadvPlace::parse(&format!("{FAMILY}/{wave}")).unwrap();
        let mut runner = RadvRunner::open_brought(place).unwrap();
        assert!(
            runner.device().driver.contains("Mesa") && runner.device().driver.contains("brought")
        );
        let catalogue = Catalogue::embedded().unwrap();
        let mut verified = 0;
        for kernel in catalogue.kernels().filter(|k| BROUGHT.contains(&k.family())) {
            // Of a text that has changed since there is no code, which the other trial lists.
            let launch = launch(&kernel.id, &[]);
            match runner.count_once(&launch, &REQUEST) {
                Ok(counted) => {
                    assert_eq!(counted.checked.output, Output::Verified, "{}", kernel.id);
                    verified += 1;
                }
                Err(error) => assert!(error.message.contains("not among"), "{error}"),
            }
        }
        assert!(verified > 0, "none of {BROUGHT:?} is brought");
        let mut other = launch("five_patterns/uniform", &[]);
        other.source = other.source.replace("fma(", "1.0 + fma(");
        let error = runner.count_once(&other, &REQUEST).unwrap_err();
        assert_eq!(error.kind, RunErrorKind::Unsupported);
        assert!(error.message.contains("nothing compiles it here"), "{error}");
    }
}
