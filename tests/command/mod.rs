//! What must hold of the program without any driver.

mod action;
mod compare;
mod family;
mod gallery;
mod loops;
mod neovim;
mod profile;
mod schedules;
mod schemas;
mod spirv;

use std::time::Duration;

use lanescope::record::{DeviceKind, Measurement, Output, Run, Status};
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::devices::check_against_model;
use crate::support::program;

/// Every check as a trial.
#[expect(clippy::too_many_lines, reason = "a list of trials")]
pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, fn()); 80] = [
        ("without_a_driver_the_simulator_runs", without_a_driver),
        ("every_width_counts_what_the_data_say", every_width),
        ("bad_input_exits_with_two", bad_input),
        ("a_shader_or_a_misspelt_command_is_told_what_to_type", first_minutes),
        ("the_help_begins_with_the_two_jobs", help),
        ("unknown_devices_exit_with_three", unknown_devices),
        ("kernels_in_cuda_are_left_out_elsewhere", kernels_in_cuda),
        ("kernels_without_a_parameter_run_at_their_own_points", partly_lacking),
        ("cuda_without_a_gpu_exits_with_three", cuda_without_a_gpu),
        ("the_step_limit_fails_its_kernel_only", step_limit),
        ("what_is_too_large_is_refused_with_its_limit", too_large),
        ("a_run_is_never_written_over", never_written_over),
        ("exports_are_clean_on_standard_output", exports),
        ("report_and_compare_read_what_run_wrote", report_and_compare),
        ("killed_at_any_moment_what_is_finished_is_on_disk", killed),
        ("a_gallery_has_a_row_a_device_and_no_private_word", gallery::rows),
        ("a_gallery_keeps_widths_apart_and_every_pattern", gallery::widths_and_patterns),
        ("a_record_to_share_has_no_path", gallery::shared),
        ("a_gallery_does_not_depend_on_the_order_of_records", gallery::order),
        ("completions_and_the_manual_are_there", completions),
        ("a_family_comes_from_a_folder", family::from_a_folder),
        ("a_wrong_family_is_told_with_file_and_line", family::that_is_wrong),
        ("list_says_what_needs_more_than_webgpu_promises", list_limits),
        ("profile_needs_a_shader_alone", profile::a_shader_alone),
        ("profile_init_gives_the_same_launch", profile::init_and_launch),
        ("profile_takes_the_catalogues_files", profile::catalogue_files),
        ("profile_fills_buffers_from_files", profile::files_fill_buffers),
        ("profile_tries_shapes_as_an_edit_has_them", profile::shapes),
        ("profile_refuses_bad_input_with_two", profile::bad_input),
        ("profile_takes_or_refuses_awkward_input", profile::awkward_input),
        ("profile_reads_standard_input", profile::standard_input),
        ("profile_takes_long_expressions", profile::long_expressions),
        ("readme_shows_what_profile_prints", profile::readme),
        ("readme_shows_what_run_prints", profile::readme_catalogue),
        ("readme_shows_what_fail_on_says", profile::readme_fail_on),
        ("occupancy_is_documented_as_it_prints", profile::documented_occupancy),
        ("readme_launch_file_runs", profile::readme_launch_file),
        ("profile_fail_on_exits_with_one", profile::fail_on),
        ("profile_tells_accesses_out_of_bounds", profile::out_of_bounds),
        ("profile_finds_data_races", profile::data_races),
        ("profile_tells_texels_by_line_in_a_model", profile::texel_lines),
        ("profile_fail_on_says_what_is_made_up", profile::fail_on_made_up),
        ("profile_gives_one_answer_on_any_number_of_cores", schedules::one_answer),
        ("profile_gives_one_answer_in_fifty_runs", schedules::fifty_runs),
        ("profile_gates_alike_on_any_number_of_cores", schedules::gate),
        ("profile_tries_orders_of_what_dispatches_hand_on", schedules::handed_on),
        ("profile_counts_several_schedules", schedules::several_schedules),
        ("profile_exits_with_one_for_a_divergent_barrier", schedules::divergent_barrier),
        ("watch_profiles_each_save_and_errors_do_not_end_it", loops::watch_goes_on),
        ("watch_shows_what_changed", loops::watch_shows_changes),
        ("watch_looks_at_all_that_a_launch_is_made_of", loops::watch_looks_at_files),
        ("watch_looks_at_folders_too", loops::watch_looks_at_folders),
        ("watch_looks_at_the_sources_of_spirv", spirv::watched),
        ("watch_looks_at_a_line_map_and_its_files", spirv::map_watched),
        ("watch_ends_when_nobody_reads", loops::broken_pipe),
        ("profile_shows_its_figures_before_it_looks_further", loops::figures_first),
        ("profile_marks_lines_for_other_tools", loops::marks),
        ("profile_writes_stacks_for_speedscope", loops::speedscope),
        ("profile_takes_many_shaders", loops::many_shaders),
        ("profile_limits_its_trials_unless_all_are_asked_for", loops::trials_have_a_limit),
        ("profile_tells_call_sites_apart", loops::call_sites),
        ("profile_takes_ten_thousand_lines", loops::ten_thousand_lines),
        ("docs_show_what_the_loop_prints", compare::worked_example),
        ("compare_profiles_two_shaders", compare::two_shaders),
        ("compare_is_a_gate", compare::gate),
        ("compare_comments_pull_requests", action::compares_and_comments),
        ("compare_shows_lines_whose_idle_lanes_changed", compare::idle_lanes),
        ("compare_judges_a_gate_without_a_reader", compare::gate_without_reader),
        ("compare_has_rows_by_call_site", compare::call_sites),
        ("compare_shows_what_changed", compare::unchanged_launches),
        ("compare_takes_records_of_other_names", compare::records),
        ("compare_says_where_nothing_is_in_common", compare::nothing_in_common),
        ("compare_shows_dispatches_of_one_side", compare::dispatches_of_one_side),
        ("compare_takes_ten_thousand_lines", compare::ten_thousand_lines),
        ("profile_shows_the_source_of_spirv", spirv::source),
        ("profile_follows_no_link_from_spirv", spirv::links),
        ("profile_shows_what_mapped_wgsl_was_made_from", spirv::mapped),
        ("profile_marks_the_files_that_a_shader_was_made_from", spirv::marks),
        ("profile_gives_specialisation_constants_values", spirv::constants),
        ("profile_keeps_what_other_devices_gave", profile::endless_loop_and_export),
    ];
    let trial = |(name, check): (&str, fn())| {
        Trial::test(format!("command::{name}"), move || {
            check();
            Ok(())
        })
    };
    checks.into_iter().map(trial).chain(schemas::trials()).chain([neovim::trial()]).collect()
}

fn without_a_driver() {
    let folder = TempDir::new().unwrap();
    let (code, run, stderr) = program::record(&folder, &[], &["--quick"]);
    assert_eq!(code, 0, "{stderr}");
    let ids: Vec<&str> = run.devices.iter().map(|device| device.id.as_str()).collect();
    assert_eq!(ids, ["sim:32", "sim:64", "radv:navi21/32", "radv:navi21/64"]);
    assert!(run.devices[..2].iter().all(|device| device.kind == DeviceKind::Simulator));
    let is_simulated = |m: &&Measurement| m.device.starts_with("sim:");
    let is_pattern = |m: &Measurement| m.kernel.starts_with("five_patterns/");
    let patterns = |m: &&Measurement| is_simulated(m) && is_pattern(m);
    assert_eq!(run.measurements.iter().filter(patterns).count(), 2 * 2 * 5);
    let executed = run.measurements.iter().filter(|m| !is_simulated(m)).collect::<Vec<_>>();
    assert_eq!(executed.iter().filter(|m| is_pattern(m)).count(), 2 * 2 * 5);
    assert!(executed.iter().all(|m| m.output == Output::Verified), "AMD's code is checked too");
    run.measurements.iter().filter(patterns).for_each(check_against_model);
    widths_are_compared(&run);
    assert!(stderr.contains("apt install mesa-vulkan-drivers"), "{stderr}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("five_patterns") && !page.contains("src=\"http"));
    // Warps beside wavefronts: what AMD's compiler made of each kernel, at both wave sizes.
    let section = page.split("Machine code of warps and wavefronts").nth(1).unwrap();
    let section = section.split("<h2").next().unwrap();
    assert!(section.contains("Machine code for navi21 by radv"), "{section}");
    assert_eq!(section.matches("<td data-name=\"kernel\">branch_by_lane").count(), 4, "{section}");
    // Above the charts: when 64 lanes cost more, and from which grain on; then the chart, and the kernels' table.
    let (figures, table) = (page.find("<svg").unwrap(), "subgroups of 64 lanes over 32");
    for sentence in &lanescope::analyze::width_sentences(&run)[..2] {
        // A page writes a slash in another way.
        let begins = sentence.split('/').next().unwrap().replace(" %", "\u{a0}%");
        let at = page.find(&begins);
        assert!(at.is_some_and(|at| at < figures), "{sentence}");
    }
    assert!(page.contains(table) && page.find(table) > Some(figures));
    assert!(folder.path().join("out/grain-runs.svg").exists());
    let screen = program::run(&folder, &[], &["--quick", "--out", "again"]);
    let screen = String::from_utf8_lossy(&screen.stdout);
    assert!(screen.contains(table) && screen.contains("64 lanes cost more than 32 at"), "{screen}");
}

/// A parameter that some kernels lack is for the others; the rest run at their own points.
fn partly_lacking() {
    let folder = TempDir::new().unwrap();
    let arguments = ["shuffle/tiles", "shuffle/latency", "-a", "n=512", "--device", "sim:8"];
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 0, "{stderr}");
    let sentence = "-a n: shuffle/latency has no such parameter and runs at its own points";
    assert!(stderr.contains(sentence), "{stderr}");
    let count = |kernel: &str| run.measurements.iter().filter(|m| m.kernel == kernel).count();
    assert!(count("shuffle/latency") > 2 && count("shuffle/tiles") > 2, "{stderr}");
    refused(&["run", "shuffle/latency", "-a", "n=512"], 2, "shuffle/latency has no such parameter");
}

/// The main job says what every kernel costs at 64 lanes over 32, whether it shows its launches or not.
fn widths_are_compared(run: &Run) {
    assert!(run.measurements.iter().all(|m| m.status == Status::Ok), "every kernel is simulated");
    let costs = lanescope::analyze::width_costs(run);
    let ratio = |kernel: &str| {
        let found = costs.iter().find(|cost| cost.kernel == kernel).unwrap();
        assert!(found.models.is_some(), "{kernel}");
        found.ratio.unwrap()
    };
    for kernel in ["uniform", "branch_by_lane", "branch_by_quad", "early_exit", "indirect_branch"] {
        let found = ratio(&format!("five_patterns/{kernel}"));
        assert!((found.ratio - 1.0).abs() < 0.005, "{kernel} is finer than any width: {found:?}");
    }
    let found = ratio("hot_loops/mandelbrot");
    assert!((found.ratio / 1.42 - 1.0).abs() < 0.02, "as an audit found: {found:?}");
    let kernels: std::collections::BTreeSet<&str> =
        costs.iter().map(|cost| cost.kernel.as_str()).collect();
    let catalogue = lanescope::kernel::Catalogue::embedded().unwrap();
    let all = catalogue.kernels().filter(|kernel| kernel.description.compared_across_widths);
    assert_eq!(kernels.len(), all.count());
    let sentences = lanescope::analyze::width_sentences(run);
    assert!(sentences[0].contains("more lane slots than 32 for"), "{sentences:?}");
}

/// With other kernels they are left out with a sentence; alone there is nothing to run.
fn kernels_in_cuda() {
    let folder = TempDir::new().unwrap();
    let arguments = ["match", "uniform", "-a", "n=1000", "--device", "sim:32"];
    let (code, run, stderr) = program::record(&folder, &[], &["match", "--device", "sim:32"]);
    assert_eq!((code, run.measurements.len()), (3, 0), "{stderr}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("Kernels in CUDA C++ run on cuda:N alone"), "it says why it is empty");
    let folder = TempDir::new().unwrap();
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(run.measurements.iter().all(|m| m.kernel == "five_patterns/uniform"));
    let reason = "sim:32: match/all, match/any: each of them is not available on this device: it is \
                CUDA C++, for what WGSL cannot say, and runs on cuda:N alone";
    assert!(stderr.contains(reason), "{stderr}");
}

fn every_width() {
    let folder = TempDir::new().unwrap();
    let widths = [1, 2, 4, 8, 16, 32, 64, 128].map(|width| format!("sim:{width}"));
    let mut arguments = vec!["five_patterns", "-a", "n=1000", "-a", "form=[sealed,published]"];
    for width in &widths {
        arguments.extend(["--device", width]);
    }
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run.measurements.len(), 8 * 2 * 5);
    run.measurements.iter().for_each(check_against_model);
}

/// Runs with arguments that must fail, and checks the code and a part of the message.
fn refused(arguments: &[&str], code: i32, part: &str) {
    refused_in(&TempDir::new().unwrap(), arguments, code, part);
}

/// The same in a folder with input.
fn refused_in(folder: &TempDir, arguments: &[&str], code: i32, part: &str) {
    let (found, _, stderr) = program::parts(&program::run(folder, &[], arguments));
    assert_eq!(found, code, "{arguments:?}: {stderr}");
    assert!(stderr.contains(part), "{arguments:?}: {stderr}");
}

fn bad_input() {
    refused(&["run", "unifrm"], 2, "did you mean uniform");
    refused(&["-a", "n"], 2, "name=values");
    refused(&["run", "five_patterns", "-a", "m=1"], 2, "they have: form, n");
    refused(&["run", "uniform", "-a", "from=sealed"], 2, "did you mean form?\nit has: form, n");
    refused(&["-a", "form=fast"], 2, "sealed, published, opaque");
    refused(&["run", "uniform", "--n", "0"], 2, "it is 0, and must be at least 1");
    refused(&["-a", "n=abc"], 2, "n cannot be abc; it takes: whole numbers from 0 on");
    refused(&["-a", "n=-1"], 2, "n cannot be -1; it takes: whole numbers from 0 on");
    refused(&["run", "device", "-a", "operation=mul"], 2, "it takes: add, product, max, min");
    refused(&["run", "reduce/device", "-a", "items=0"], 2, "it takes: whole numbers from 1 to 64");
    let xor = "operation = xor goes with these alone: type = u32, i32; here type = f32, and floats";
    refused(&["run", "reduce/device", "-a", "operation=xor"], 2, xor);
    refused(&["--budget=-1"], 2, "--budget");
    refused(&["--no-such-option"], 2, "--no-such-option");
    refused(&["report", "missing.json"], 2, "missing.json");
    refused(&["report"], 2, "run `lanescope` first");
}

fn unknown_devices() {
    refused(&["--device", "wgpu:0"], 3, "apt install");
    refused(&["--device", "sim:33"], 3, "power of two");
    refused(&["--device", "smi:32"], 3, "did you mean sim:32");
    refused(&["--device", "cuda:7"], 3, "--device cuda:7: ");
    refused(&["doctor", "--device", "metal"], 3, "no device");
}

/// Where there is a GPU it is hidden: the driver then says that it finds none.
fn cuda_without_a_gpu() {
    let hidden = [("CUDA_VISIBLE_DEVICES".to_owned(), "-1".to_owned())];
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/hot_loops/collatz.wgsl");
    let folder = TempDir::new().unwrap();
    for arguments in [&["run", "uniform"] as &[&str], &["doctor"], &["profile", shader]] {
        let all = [arguments, &["--device", "cuda:0"]].concat();
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &hidden, &all));
        assert_eq!((code, stdout.as_str()), (3, ""), "{arguments:?}: {stderr}");
        let why = "lanescope: --device cuda:0: NVIDIA's driver ";
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
    let counters = ["run", "uniform", "--counters", "--device", "sim:32"];
    let (code, _, stderr) = program::parts(&program::run(&folder, &hidden, &counters));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("add --device cuda:0"), "{stderr}");
}

/// The limit is below what the long loops need and above what the short one does.
fn step_limit() {
    let folder = TempDir::new().unwrap();
    let arguments = [
        "five_patterns",
        "-a",
        "n=256",
        "-a",
        "form=sealed",
        "--device",
        "sim:8",
        "--steps",
        "6000",
    ];
    let (code, run, stderr) = program::record(&folder, &[], &arguments);
    assert_eq!(code, 5, "{stderr}");
    let status = |name: &str| {
        let wanted = |m: &&Measurement| m.kernel.ends_with(name);
        run.measurements.iter().find(wanted).unwrap()
    };
    assert_eq!(status("uniform").status, Status::Ok);
    let failed = status("branch_by_quad");
    assert_eq!(failed.status, Status::Failed);
    let why = failed.error.clone().unwrap();
    assert!(why.contains("branch_by_quad.wgsl:") && why.contains("higher step limit"), "{why}");
    assert!(failed.active_lanes_mean.is_none() && failed.dispatches[0].blocks.is_empty());
    assert!(stderr.contains("failed: five_patterns/branch_by_quad"), "{stderr}");
    assert!(stderr.contains("(--steps raises it)"), "{stderr}");
}

/// Nothing of these sizes may be allocated: the last would not fit into any machine.
fn too_large() {
    let sizes = [
        (&["-a", "n=67108864", "--memory-max", "100"][..], 5, "(--memory-max raises it)"),
        (&["-a", "n=1073741824"], 5, "4294967296 bytes; the simulator's offsets hold at most"),
        (&["-a", "n=8589934592"], 2, "34359738368 bytes; at most 17179869184"),
        (&["-a", "n=1000000000000000"], 2, "at most 17179869184"),
    ];
    for (arguments, code, part) in sizes {
        let mut all = vec!["uniform", "--device", "sim:32"];
        all.extend(arguments);
        refused(&all, code, part);
    }
}

fn never_written_over() {
    let folder = TempDir::new().unwrap();
    let arguments = ["uniform", "-a", "n=256", "--device", "sim:4", "--out", "here"];
    let (code, ..) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 0);
    let (code, _, stderr) = program::parts(&program::run(&folder, &[], &arguments));
    assert_eq!(code, 2);
    assert!(stderr.contains("never written over"), "{stderr}");
}

fn exports() {
    let folder = TempDir::new().unwrap();
    let run = |option: &str, out: &str| {
        let arguments = ["uniform", "-a", "n=256", "--device", "sim:8", option, "-", "--out", out];
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &arguments));
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let json: serde_json::Value = serde_json::from_str(&run("--export-json", "a")).unwrap();
    assert_eq!(
        (&json["schema"], &json["counting_rule"]),
        (&2.into(), &lanescope::program::COUNTING_RULE.into())
    );
    let table = run("--export-csv", "b");
    let mut csv = csv::Reader::from_reader(table.as_bytes());
    let mean = csv.headers().unwrap().iter().position(|h| h == "active_lanes_mean").unwrap();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2, "sealed and published");
    assert_eq!(&rows[0][mean], "8");
    assert!(run("--export-markdown", "c").starts_with("### sim:8"));
}

fn report_and_compare() {
    let folder = TempDir::new().unwrap();
    let (code, run, _) = program::record(&folder, &[], &["five_patterns", "-a", "n=512"]);
    assert_eq!((code, run.measurements.len()), (0, 20));
    let file = "out/result.json";
    let before = std::fs::read(folder.path().join(file)).unwrap();
    let output = program::run(&folder, &[], &["report", file, "--out", "again"]);
    assert_eq!(program::parts(&output).0, 0);
    for name in ["report.html", "lanes-five_patterns-sealed.svg", "trace-five_patterns-sealed.svg"]
    {
        let read = |part: &str| std::fs::read(folder.path().join(part).join(name)).unwrap();
        assert_eq!(read("out"), read("again"), "{name}");
    }
    assert_eq!(before, std::fs::read(folder.path().join(file)).unwrap(), "the record is unchanged");
    let (code, stdout, stderr) =
        program::parts(&program::run(&folder, &[], &["compare", file, file]));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Nothing changed: "), "{stdout}");
    assert!(stdout.contains(" in each of 20 launches, "), "{stdout}");
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let mut newer: serde_json::Value = serde_json::from_str(&text).unwrap();
    newer["schema"] = 99.into();
    program::write(&folder.path().join("newer.json"), newer.to_string());
    let (code, _, stderr) = program::parts(&program::run(&folder, &[], &["report", "newer.json"]));
    assert_eq!(code, 2);
    assert!(stderr.contains("schema 99"), "{stderr}");
}

/// Twenty kills at moments spread over a run; every file that is left loads, and what it holds is
/// finished. At least one must have been killed with some but not all measurements on disk: on a busy
/// machine, where a run takes longer, more kills at later moments, up to a hundred.
fn killed() {
    let mut partial = 0;
    for attempt in 0..100_u64 {
        if attempt >= 20 && partial > 0 {
            break;
        }
        let folder = TempDir::new().unwrap();
        let arguments = [
            "five_patterns",
            "--device",
            "sim:32",
            "--device",
            "sim:64",
            "--device",
            "sim:8",
            "-a",
            "n=[4096,8192,16384,32768]",
            "--out",
            "out",
        ];
        let mut child = program::command(folder.path(), &[])
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Every other kill waits for the first record, so that it lands in the middle of the run.
        let file = folder.path().join("out/result.json");
        if attempt % 2 == 1 {
            while !file.exists() && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let moment = lanescope::kernel::generate::mix(attempt) % (400 * (1 + attempt / 20));
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        if file.exists() {
            let run = lanescope::store::load(&file).unwrap();
            assert!(run.measurements.iter().all(|m| m.status == Status::Ok));
            partial += u32::from((1..120).contains(&run.measurements.len()));
        }
    }
    assert!(partial > 0, "no kill hit a run in its middle");
}

/// Each kernel's own limit, and nothing of a kernel within the defaults.
fn list_limits() {
    let folder = TempDir::new().unwrap();
    let limits = |kernel: &str| {
        let (code, stdout, stderr) =
            program::parts(&program::run(&folder, &[], &["list", "-l", kernel]));
        assert_eq!(code, 0, "{stderr}");
        let line = stdout.lines().find(|line| line.contains("more than WebGPU promises"));
        line.map(|line| line.trim().to_owned())
    };
    let needs = |what: &str| {
        Some(format!(
            "needs more than WebGPU promises everywhere: {what}; counting takes one storage buffer more"
        ))
    };
    assert_eq!(limits("moe/sorted"), needs("9 storage buffers (8)"));
    assert_eq!(limits("reduce/device"), needs("1024 invocations a workgroup (256)"));
    assert_eq!(limits("five_patterns/uniform"), None);
    let json = program::run(&folder, &[], &["list", "--json", "moe/sorted"]);
    let kernels: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(kernels[0]["beyond_webgpu_defaults"], serde_json::json!(["9 storage buffers (8)"]));
}

/// What a newcomer types first, and what is said to it.
fn first_minutes() {
    let folder = TempDir::new().unwrap();
    let told = |arguments: &[&str], words: &str| {
        let (code, _, stderr) = program::parts(&program::run(&folder, &[], arguments));
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    };
    told(&["x.wgsl"], "lanescope profile x.wgsl");
    told(&["profiel", "x.wgsl"], "lanescope profile x.wgsl");
    told(&["profiel"], "if it was to be a command, did you mean profile?");
    told(&["profile", "x.wgsl", "--n", "-5"], "it is negative; 65536, 1e6, 2^20");
    told(&["profile", "x.wgsl", "--n", "1.5"], "it is no whole number; 65536, 1e6, 2^20");
    let write = |name: &str, bytes: &[u8]| program::write(&folder.path().join(name), bytes);
    write("x.comp", b"#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}\n");
    told(&["profile", "x.comp"], "x.comp is GLSL");
    write("x.spv", &[0x03, 0x02, 0x23, 0x07, 0xff, 0xfe]);
    told(&["profile", "x.spv"], "x.spv is no SPIR-V that can be read");
    write("bevy.wgsl", b"#import bevy_pbr::view\n@compute @workgroup_size(1) fn main() {}\n");
    told(&["profile", "bevy.wgsl"], "bevy.wgsl:1: `#import` is a preprocessor's");
    told(&["profile", "--init", "bevy.wgsl"], "bevy.wgsl:1: `#import`");
}

/// Both jobs stand before anything else, each with an example, and every command is listed.
fn help() {
    let folder = TempDir::new().unwrap();
    for option in ["-h", "--help"] {
        let (code, stdout, _) = program::parts(&program::run(&folder, &[], &[option]));
        assert_eq!(code, 0);
        let usage = stdout.find("Usage:").unwrap();
        for example in ["\n    lanescope profile my.wgsl\n", "\n    lanescope --quick\n"] {
            assert!(stdout.find(example).is_some_and(|place| place < usage), "{stdout}");
        }
        assert!(stdout.contains("\n  man "), "{stdout}");
    }
}

fn completions() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, stdout, _) =
            program::parts(&program::run(&folder, &[], &["completions", shell]));
        assert_eq!(code, 0);
        assert!(stdout.contains("export-json"), "{shell}");
    }
    let (code, stdout, _) = program::parts(&program::run(&folder, &[], &["man"]));
    assert!(code == 0 && stdout.contains(".TH lanescope"));
    let synopsis = stdout.split_once(".SH SYNOPSIS\n").expect("a synopsis").1;
    assert!(synopsis.starts_with("lanescope profile [OPTIONS] "), "{synopsis}");
    assert!(synopsis.contains("\nlanescope run [OPTIONS] "), "{synopsis}");
    let profile =
        stdout.split_once(".SH \"LANESCOPE PROFILE\"").expect("a command's own options").1;
    let profile = profile.split_once("\n.SH ").expect("a section after it").0;
    assert!(profile.contains("\\-\\-fail\\-on") && !profile.contains("\\-\\-gallery"), "{profile}");
}
