//! Tests of the view, on what the simulator counted.

use super::*;
use crate::analyze::{advice_of, profiles};
use crate::fixtures::{DEMO, random_words, simulated, watched};
use crate::record::{Counter, Limit, LimitOf, Run};

const PLAIN: Look = Look { columns: None, colour: false };

fn demo(widths: &[u32]) -> Run {
    simulated(DEMO, random_words(), 32, widths)
}

fn view(run: &Run, look: Look) -> String {
    let profile = &profiles(run)[0];
    figures(profile, look) + &looks(profile, &advice_of(profile), look)
}

/// The part from the annotated source on.
fn source_part(view: &str) -> &str {
    &view[view.find("\ndemo.wgsl on").expect("the source")..]
}

#[test]
fn the_view_reads_well_without_a_terminal() {
    insta::assert_snapshot!(view(&demo(&[32, 64]), PLAIN));
}

#[test]
fn a_wide_terminal_has_bars_and_a_narrow_one_has_not() {
    let run = demo(&[32]);
    for columns in [130, 80, 60] {
        let view = view(&run, Look { columns: Some(columns), colour: false });
        let source = source_part(&view);
        assert_eq!(source.contains('█'), columns == 130, "{source}");
        assert_eq!(
            source.contains("7,965"),
            columns != 60,
            "{columns} subgroup operations\n{source}"
        );
        assert!(source.contains("13.3 / 32 (41.7 %)") && source.contains('…') == (columns < 130));
        for line in source.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn the_narrowest_terminals_show_efficiencies_alone() {
    let run = demo(&[32]);
    for columns in [20, 30, 40, 55] {
        let view = view(&run, Look { columns: Some(columns), colour: false });
        let source = source_part(&view);
        assert!(source.contains("41.7 %") && !source.contains("/ 32 ("), "{source}");
        for line in view.lines() {
            // Names of rules are not broken.
            let one_word = line.trim().chars().all(|c| c != ' ');
            assert!(one_word || width_of(line) <= columns, "{columns}: {line}");
        }
    }
}

/// Waits stand by line, within the columns of a terminal, and whether there are accesses or not.
#[test]
fn waits_at_barriers_stand_by_line() {
    let text = "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    if i < 32u { for (var t = 0u; t < 64u; t++) { tile[i] += t; } }
    workgroupBarrier();
    sums[id.x] = tile[i];
}
";
    let mut device = profiles(&watched(text, 1024, &[32]))[0].devices[0].clone();
    for columns in [80, 40] {
        let text = memory::memory(&device, Look { columns: Some(columns), colour: false });
        let (_, waits) = text.split_once("What subgroups wait").expect("waits");
        let words = waits.split_whitespace().collect::<Vec<_>>();
        assert!(words.contains(&"waited") && words.contains(&"6"), "{text}");
        for line in text.lines() {
            assert!(width_of(line) <= columns, "{columns}: {line}");
        }
    }
    let seen = device.memory.as_mut().expect("watched");
    seen.dispatches.iter_mut().for_each(|dispatch| dispatch.accesses.clear());
    let text = memory::memory(&device, PLAIN);
    assert!(text.contains("at barriers (line 6)") && !text.contains("accesses"), "{text}");
}

#[test]
fn two_devices_keep_every_column_on_a_narrow_terminal() {
    let run = demo(&[32, 64]);
    for columns in [40, 60, 80, 120] {
        let view = view(&run, Look { columns: Some(columns), colour: false });
        let table = &view[..view.find("\nBy function").expect("the totals follow")];
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        for name in ["slots", "1,121,856", "worst", "line 27", "guaranteed"] {
            assert!(words.contains(name), "{columns} {name}:\n{table}");
        }
    }
}

#[test]
fn colours_are_blue_and_orange_and_can_be_left_out() {
    let run = demo(&[32]);
    let coloured = view(&run, Look { columns: None, colour: true });
    assert!(coloured.contains("\u{1b}[38;5;32m█") && coloured.contains("\u{1b}[38;5;208m░"));
    let mut stripped = String::new();
    let mut escape = false;
    for c in coloured.chars() {
        escape |= c == '\u{1b}';
        if !escape {
            stripped.push(c);
        }
        escape &= c != 'm';
    }
    assert_eq!(stripped, view(&run, PLAIN), "colours only repeat");
}

#[test]
fn a_failed_device_is_said_and_the_others_are_kept() {
    let mut run = demo(&[32, 64]);
    let failed = &mut run.measurements[0];
    failed.status = Status::Failed;
    failed.error = Some("device lost\u{1b}[2J in its third second".to_owned());
    failed.dispatches.clear();
    let shown = view(&run, PLAIN);
    assert!(shown.contains("sim:32 failed: device lost\\u001b[2J in its third second"), "{shown}");
    assert!(shown.contains("\ndemo.wgsl on sim:64"), "{shown}");
    // What a limit of lanescope's own ended has the option that raises it.
    let failed = &mut run.measurements[0];
    failed.error = Some("the buffers take too much".to_owned());
    failed.limit = Some(Limit { which: LimitOf::MemoryBytes, value: 1 << 20 });
    let shown = view(&run, PLAIN);
    let told = "sim:32 failed: the buffers take too much (--memory-max raises it)";
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn of_many_flags_of_one_kind_the_first_are_told_and_the_others_counted() {
    let mut run = demo(&[32]);
    let many = (1..=1000).map(|line| Flag::at(Tag::ReadOutOfBounds, [line]));
    run.measurements[0].flags.extend(many);
    run.measurements[0].flags.push(Flag::at(Tag::LoopCutOff, [3]));
    let shown = view(&run, PLAIN);
    assert_eq!(shown.matches("sim:32: read_out_of_bounds_line_").count(), 20, "{shown}");
    assert!(shown.contains("sim:32: read_out_of_bounds on 980 more lines; the page has all"));
    assert!(shown.contains("sim:32: loop_cut_off_line_3: "), "another kind is told");
}

#[test]
fn full_subgroups_leave_nothing_to_say() {
    let text = "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    sums[id.x] = table[id.x];
}
";
    let mut run = simulated(text, random_words(), 4, &[32]);
    let whole = view(&run, PLAIN);
    for expected in
        ["Every line ran with full subgroups", "Nothing to advise", "32.0 / 32 (100.0 %)"]
    {
        assert!(whole.contains(expected), "{whole}");
    }
    let cut = "a loop was cut off, or may have been, and what it would have run is not counted";
    assert!(!whole.contains(cut), "{whole}");
    run.measurements[0].flags.push(Flag::at(Tag::LoopCutOff, [4]));
    let view = view(&run, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(view.contains(cut), "{view}");
}

#[test]
fn the_way_of_counting_is_said_with_its_reason_and_the_time() {
    // A GPU's measurement, made of the simulator's.
    let view_of = |method, trust, failed: &[&str], cpu_driver: bool| {
        let mut run = demo(&[32]);
        run.devices[0].kind = crate::record::DeviceKind::Wgpu;
        run.devices[0].cpu_driver = cpu_driver;
        let measurement = &mut run.measurements[0];
        measurement.method = Some(method);
        measurement.answer_ns = Some(crate::units::Nanoseconds(0.25e9));
        measurement.trust = Some(crate::record::ShaderTrust {
            trust,
            constructs: vec!["loop".to_owned(), "switch".to_owned()],
            failed: failed.iter().map(|name| (*name).to_owned()).collect(),
        });
        view(&run, PLAIN)
    };
    use crate::record::Trust::{Observed, Unknown};
    let passed = "the self-test passed for what it uses (loop, switch)";
    let cases = [
        (Method::Derived, Observed, &[][..], false, format!("counted by derivation: {passed}")),
        (
            Method::Executed,
            Unknown,
            &["switch"],
            false,
            "counted at each execution: the self-test failed for switch".to_owned(),
        ),
        (
            Method::Executed,
            Unknown,
            &[],
            false,
            "counted at each execution: the self-test could not be run".to_owned(),
        ),
        (
            Method::Executed,
            Observed,
            &[],
            true,
            format!("counted at each execution: a CPU's driver; {passed}"),
        ),
        (
            Method::Estimated,
            Unknown,
            &["loop"],
            false,
            "lanes counted, executions estimated, at most what maximal reconvergence gives: the \
             self-test failed for loop"
                .to_owned(),
        ),
    ];
    for (method, trust, failed, cpu_driver, expected) in cases {
        let view = view_of(method, trust, failed, cpu_driver);
        assert!(view.contains(&format!("  sim:32: {expected}\n")), "{expected}\n{view}");
        assert!(view.ends_with("after the device was open: sim:32 0.250 s\n"), "{view}");
    }
    let simulated = view(&demo(&[32]), PLAIN);
    assert!(!simulated.contains("counted at each") && !simulated.contains("device was open"));
    // Only where no simulator ran.
    let unseen = "accesses out of bounds: only a simulator reports them";
    assert!(!simulated.contains(unseen));
    assert!(view_of(Method::Executed, Observed, &[], false).contains(unseen));
}

/// A kernel of 2,000 lines whose work lies on two of them.
fn long() -> String {
    let idle = |from: u32| {
        (from..from + 900)
            .map(|i| format!("    if word == {i}u {{ sum = {i}u; }}\n"))
            .collect::<String>()
    };
    format!(
        "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
    let word = table[id.x]; var sum = 0u;
{}\tfor (var i = 0u; i < word % 64u * 200u; i++) {{ // 数える
\t\tsum = sum * 3u + i;
\t}}
{}    sums[id.x] = sum;
}}
",
        idle(0),
        idle(1000)
    )
}

#[test]
fn a_long_source_is_an_excerpt_on_a_terminal_and_whole_in_a_file() {
    let run = simulated(&long(), random_words(), 4, &[32]);
    let lines = long().lines().count();
    let whole = view(&run, PLAIN);
    assert!(source_part(&whole).lines().count() > lines, "every line");
    for columns in [60, 80, 200] {
        let view = view(&run, Look { columns: Some(columns), colour: false });
        let source = source_part(&view);
        assert!(source.lines().count() < 120, "{source}");
        assert!(source.contains("⋮ │ lines ") && source.contains("of 1809 lines are shown"));
        // The lines that take the time are there, with their tabs as spaces.
        assert!(source.contains("│     for (var i = 0u;"), "{source}");
        // The devices are a table where there is room for it, and what has none stands beneath.
        let beneath = "\n    counts executed; trust guaranteed; worst line 905\n";
        assert_eq!(view.contains(beneath), columns < 80, "{view}");
        for line in view.lines() {
            assert!(width_of(line) <= columns, "{columns}: {line}");
        }
    }
}

/// What an H200 gave for a shader with a division, a sine and a loop.
fn counted_by_hardware() -> Run {
    crate::fixtures::counters()
}

#[test]
fn machine_code_stands_under_its_lines_with_every_instruction() {
    let run = counted_by_hardware();
    let profile = &profiles(&run)[0];
    let code = profile.devices[0].dispatches[0].machine_code.as_ref().expect("machine code");
    let text = machine_code(profile, true, PLAIN);
    for instruction in &code.instructions {
        let offset = format!("  {:#06x}  ", instruction.offset_bytes);
        assert_eq!(text.matches(&offset).count(), 1, "{offset}");
        assert!(instruction.text.as_ref().is_some_and(|words| text.contains(words)), "{offset}");
    }
    let hot = "v = v * 0.5 + pow(abs(v), 1.5);";
    assert!(text.contains(&format!("19 │ {hot}\n  ")), "{text}");
    assert!(text.contains("of no line of the source") && text.contains("sm_90"));
    let narrow = machine_code(profile, true, Look { columns: Some(80), colour: false });
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
}

#[test]
fn instructions_without_texts_say_how_to_get_them() {
    let mut run = counted_by_hardware();
    let code = run.measurements[0].dispatches[0].machine_code.as_mut().expect("machine code");
    code.instructions.iter_mut().for_each(|instruction| instruction.text = None);
    let text = machine_code(&profiles(&run)[0], true, PLAIN);
    assert!(text.contains("pip install nvidia-cuda-nvdisasm") && text.contains("  0x0010  "));
}

/// What says that machine code was executed without its hardware.
fn counters_of_code() -> Vec<Counter> {
    let counter = |name: &str| Counter {
        name: name.to_owned(),
        value: 64.0,
        unit: "instruction".to_owned(),
        description: "made up, code 0123abcd".to_owned(),
    };
    let names = ["valu_instructions", "valu_lanes", "valu_passes_min", "valu_passes_max"];
    names.map(counter).to_vec()
}

#[test]
fn what_has_machine_code_alone_has_a_sentence_and_no_row() {
    let mut run = demo(&[32, 64]);
    let shown = |run: &Run| figures(&profiles(run)[0], PLAIN);
    let has_row = |text: &str| text.lines().any(|line| line.starts_with("sim:64 "));
    run.measurements[1].dispatches.clear();
    let text = shown(&run);
    assert!(has_row(&text), "nothing else says that it has no counts: {text}");
    run.measurements[1].counters = counters_of_code();
    let text = shown(&run);
    assert!(!has_row(&text) && text.lines().any(|line| line.starts_with("sim:32 ")), "{text}");
    assert!(text.contains("  sim:64: machine code, executed without hardware: "), "{text}");
    run.measurements[0].dispatches.clear();
    run.measurements[0].counters = counters_of_code();
    let text = shown(&run);
    assert!(!text.contains("efficiency"), "a table without rows is none: {text}");
}

#[test]
fn what_executed_code_has_nothing_of_is_told_with_the_code() {
    let mut run = counted_by_hardware();
    let measurement = &mut run.measurements[0];
    let why = format!("{}: nothing ran as lines 3, 4", measurement.dispatches[0].entry_point);
    measurement.counters = counters_of_code();
    measurement.counters_missing = vec![why.clone(), "the disk is full".to_owned()];
    let profile = &profiles(&run)[0];
    assert!(machine_code(profile, true, PLAIN).contains(&format!("{why}.\n")));
    assert!(profile.devices[0].is_beside_code(&why));
    assert!(!profile.devices[0].is_beside_code("the disk is full"));
}

#[test]
fn hardware_counters_have_nvidias_names_and_what_is_missing_has_no_figure() {
    let mut run = counted_by_hardware();
    let text = view(&run, PLAIN);
    for counter in &run.measurements[0].counters {
        assert!(text.contains(&counter.name), "{}", counter.name);
    }
    assert!(text.contains("Avg. Active Threads Per Warp") && text.contains("CUPTI 13.0"));
    let measurement = &mut run.measurements[0];
    measurement.counters.clear();
    measurement.counters_from = None;
    measurement.counters_missing = vec!["no hardware counters: there is no CUPTI".to_owned()];
    measurement.dispatches[0].machine_code = None;
    let text = view(&run, PLAIN);
    assert!(!text.contains("Hardware counters of") && !text.contains("Threads Per Warp"));
    assert_eq!(machine_code(&profiles(&run)[0], true, PLAIN), "");
}
