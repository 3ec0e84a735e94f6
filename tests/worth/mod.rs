//! What advice is worth: shaders with a known cause, edits beside what trials say, and shaders that were
//! once given advice that was false.
//!
//! Input: `new.md` and `corpus.md`, whose causes were written down before any advice on them was looked at;
//! random programs; the shaders of a trial. Output: failures. `lab worth` shows the same as tables, over more programs.

mod cases;
mod edits;

use std::collections::BTreeMap;
use std::path::Path;

use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::record::Change;
use lanescope::run::profile::{ProfileRequest, prepare};
use lanescope::run::what_if::Budget;
use lanescope::units::Width;
use libtest_mimic::Trial;
use rayon::prelude::*;
use tempfile::TempDir;

use crate::launches;
use crate::support::agreement::{launch, program as random_program};
use crate::support::program;
use crate::support::random_program::Options;
use cases::{Case, Checked};

/// Random programs that are tried.
const PROGRAMS: u64 = 60;

/// Workgroups of each.
const WORKGROUPS: u32 = 8;

/// How far what a card says may lie from what the edit saves.
const WITHIN: f64 = 0.05;

/// Shaders whose first card names another line, or says another saving, each with what is so.
const MISSED: [(&str, &str); 3] = [
    ("bitonic_in_a_workgroup", "no card: half as many invocations are another program"),
    ("return_in_loop", "no card: the label's edit saves nothing either"),
    (
        "stream_compaction",
        "the first card names the branch around the loop, whose order saves all that the loop's would",
    ),
];

/// Shaders whose edit is another change than the one that the card tried, which is what its saving is of.
const OTHER_EDITS: [&str; 6] = [
    "scanner_with_escapes",
    "near_pairs",
    "tree_of_every_second",
    "short_circuit",
    "switch_nested",
    "while_continue",
];

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, fn()); 10] = [
        ("worth::first_cards_name_the_known_cause", causes_are_named),
        ("worth::no_card_saves_less_than_it_says", no_card_overstates),
        ("worth::kernels_that_are_too_large_are_tried_on_fewer_elements", large_kernels),
        ("worth::loops_split_by_hand_save_what_trials_say", split_by_hand),
        ("worth::a_tree_that_is_never_walked_is_told_before_advice", made_up_tree),
        ("worth::reads_past_the_end_are_blamed_on_the_default_launch", default_launch),
        ("worth::a_search_s_figures_are_one_schedule_s", search),
        ("worth::rows_of_a_power_law_are_generated_data_and_their_figures_theirs", skewed_rows),
        ("worth::scattered_loads_are_not_nothing_to_advise", scattered),
        ("worth::offsets_are_made_up_as_offsets", made_up_offsets),
    ];
    checks
        .into_iter()
        .map(|(name, check)| {
            Trial::test(name, move || {
                check();
                Ok(())
            })
        })
        .collect()
}

fn width() -> Width {
    Width::new(32).unwrap()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn all_cases() -> Vec<Case> {
    let read = |name: &str| std::fs::read_to_string(folder().join("worth").join(name)).unwrap();
    let corpus =
        |name: &str| std::fs::read_to_string(folder().join(format!("wgsl/{name}.wgsl"))).ok();
    let mut all = cases::read(&read("new.md"), &|_| None);
    all.extend(cases::read(&read("corpus.md"), &corpus));
    all
}

fn causes_are_named() {
    let all = all_cases();
    assert_eq!(all.len(), 60);
    let checked: Vec<Checked> =
        all.par_iter().map(|case| case.check(width(), &[|_| true]).remove(0)).collect();
    let missed: Vec<String> = all
        .iter()
        .zip(&checked)
        .filter_map(|(case, found)| {
            let other = OTHER_EDITS.contains(&&*case.name);
            let by_hand = i128::from(found.by_hand) == i128::from(found.said);
            let missed = !found.names(case.line) || !found.is_within(WITHIN) || by_hand == other;
            missed.then(|| format!("{}: {} {}: {found:?}", case.name, case.rule, case.line))
        })
        .collect();
    let known =
        |text: &&String| !MISSED.iter().any(|(name, _)| text.starts_with(&format!("{name}:")));
    let other: Vec<&String> = missed.iter().filter(known).collect();
    assert!(other.is_empty(), "{other:#?}");
    assert_eq!(missed.len(), MISSED.len(), "a miss that is none any more: {missed:#?}");
    misses_are_right(&all, &checked);
    committed_rows_are_these(&all, &checked);
}

/// What the page says of the shaders that are missed.
fn misses_are_right(all: &[Case], checked: &[Checked]) {
    let find = |name: &str| {
        let mut pairs = all.iter().zip(checked);
        pairs.find(|(case, _)| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
    };
    let (case, bitonic) = find("bitonic_in_a_workgroup");
    assert!(
        bitonic.first.is_none() && bitonic.by_hand * 4 > i64::try_from(bitonic.before).unwrap()
    );
    // Those with a pair as neighbours, found anew in each step: each works its pair out.
    let renumbered = [
        (
            "let l = i ^ j;\n            if l > i {",
            "if i < 64u {\n let at = 2u * i - (i & (j - 1u));\n let l = at + j;",
        ),
        ("let a = s[i];", "let a = s[at];"),
        ("(i & k)", "(at & k)"),
        ("s[i] = select(a", "s[at] = select(a"),
    ];
    let [idle, saved] = case.idle_and_saved(width(), &renumbered);
    assert!(saved > 0 && saved * 5 < idle * 4, "{saved} of {idle}");
    let (_, in_loop) = find("return_in_loop");
    assert_eq!((in_loop.first, in_loop.by_hand), (None, 0));
    let (case, compaction) = find("stream_compaction");
    let first_line = compaction.first.map(|(_, line)| line).expect("a card");
    let verified = case.verify(width());
    let saved_at = |line: u32| -> Vec<i128> {
        let here = verified.iter().filter(|verified| verified.trial.line == line);
        here.map(|verified| verified.said).collect()
    };
    let (branch, in_loop) = (saved_at(first_line), saved_at(case.line));
    assert!(first_line < case.line && branch == [i128::from(compaction.said)], "{branch:?}");
    assert!(!in_loop.is_empty() && in_loop.iter().all(|saved| *saved == branch[0]), "{in_loop:?}");
}

/// What `lab worth` wrote last: what the page of findings is made of.
fn committed() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/other/lab/worth.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The rows that the page of findings is made of are what was just found.
fn committed_rows_are_these(all: &[Case], checked: &[Checked]) {
    let written = committed();
    let written = written["causes"]["rows"].as_array().unwrap();
    assert_eq!(written.len(), all.len(), "worth.json is stale: run `lab worth`");
    for ((case, found), row) in all.iter().zip(checked).zip(written) {
        let expected = serde_json::json!({
            "shader": case.name,
            "cause": case.rule,
            "line": case.line,
            "first": found.first.map(|(rule, _)| rule.name()),
            "first_line": found.first.map(|(_, line)| line),
            "said": found.said,
            "saved": found.saved,
            "by_hand": found.by_hand,
            "before": found.before,
        });
        assert_eq!(*row, expected, "worth.json is stale: run `lab worth`");
    }
}

fn no_card_overstates() {
    let seeds: Vec<u64> = (1..=PROGRAMS).collect();
    let found: Vec<(u64, edits::Verified)> = seeds
        .par_iter()
        .flat_map(|&seed| {
            let options = Options { subgroups: seed.is_multiple_of(2), ..Options::BUFFERS };
            let mut program = random_program(seed, options);
            program.workgroups = WORKGROUPS;
            let verified = edits::verify(&launch(&program, seed), width(), Budget::Everything);
            verified.unwrap().into_iter().map(|verified| (seed, verified)).collect::<Vec<_>>()
        })
        .collect();
    let edited = found.iter().filter(|(_, verified)| verified.saved.is_some()).count();
    assert!(edited > 20, "{edited} trials were edited");
    let wrong: Vec<_> = found.iter().filter(|(_, verified)| verified.is_false()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The kernels of which `lab worth` tries nothing, since their quick launch is too large, overstate nothing either.
fn large_kernels() {
    let written = committed();
    let groups = written["verified"].as_array().unwrap();
    let group = groups.iter().find(|group| group["of"] == "catalogue").unwrap();
    let untried = group["not_tried"].as_array().unwrap();
    assert!(!untried.is_empty(), "all kernels were tried: this check has nothing to do");
    let catalogue = Catalogue::embedded().unwrap();
    for text in untried {
        let (name, _) = text.as_str().unwrap().split_once(": ").unwrap();
        let kernel = catalogue.kernels().find(|kernel| kernel.id == name).unwrap();
        let launch = launches::small(kernel, &launches::Point::new());
        let verified = edits::verify(&launch, width(), Budget::Everything).unwrap();
        assert!(verified.iter().any(|verified| verified.saved.is_some()), "{name}: {verified:#?}");
        assert!(!verified.iter().any(edits::Verified::is_false), "{name}: {verified:#?}");
    }
}

/// Loops that are split by hand: shaders of the corpus and the catalogue, each with the branch's line.
const SPLIT: [(&str, u32); 5] = [
    ("while_continue", 11),
    ("bit_tricks", 17),
    ("loops_nested", 15),
    ("hot_loops/trial_division", 23),
    ("self_test/return_in_loop", 16),
];

/// The launch of a shader of the corpus, or of a kernel at its quick point.
fn launch_of(name: &str) -> Launch {
    let path = folder().join(format!("wgsl/{name}.wgsl"));
    if let Ok(source) = std::fs::read_to_string(path) {
        let request = ProfileRequest {
            file: format!("{name}.wgsl"),
            name: name.to_owned(),
            source,
            derived: None,
            description: None,
            entry_point: None,
            workgroups: None,
            n: Some(1000),
            seed: SEED,
        };
        return prepare(&request, &mut |name| Err(format!("no file {name}"))).unwrap().launch;
    }
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernels().find(|kernel| kernel.id == name).unwrap();
    kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap()
}

/// What the edit saves is what the trial says, or more where the edit tests less often; every lane does the same.
fn split_by_hand() {
    for (name, line) in SPLIT {
        let verified = edits::verify(&launch_of(name), width(), Budget::Everything).unwrap();
        let mut split = verified.iter().filter(|verified| {
            verified.trial.change == Change::SplitLoopBody && verified.trial.line == line
        });
        let found = split.next().unwrap_or_else(|| panic!("{name} is not split: {verified:#?}"));
        let saved = found.saved.unwrap_or_else(|| panic!("{name} has no text: {found:#?}"));
        assert!(!found.is_false() && saved * 10 < found.said * 14, "{name}: {found:#?}");
    }
}

/// A folder with a shader of the trial as `a.wgsl`.
fn folder_of(name: &str) -> TempDir {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/analyze/advice/tests/trial.md"),
    );
    let text = text.unwrap();
    let (_, section) = text.split_once(&format!("## {name}\n```wgsl\n")).unwrap();
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("a.wgsl"), section.split_once("```").unwrap().0);
    folder
}

/// What `lanescope profile` prints of it, on a simulator of 32 lanes.
fn profiled(name: &str, n: &str) -> (String, String) {
    let all = ["profile", "a.wgsl", "--device", "sim:32", "--n", n];
    let (code, stdout, stderr) = program::parts(&program::run(&folder_of(name), &[], &all));
    assert_eq!(code, 0, "{stderr}");
    (stdout, stderr)
}

fn made_up_tree() {
    let (stdout, _) = profiled("bvh", "1024");
    let note = stdout.find("nodes").unwrap_or_else(|| panic!("{stdout}"));
    let advice = stdout.find("Advice").unwrap_or(stdout.len());
    assert!(note < advice, "{stdout}");
    assert!(stdout.contains("of generated data") && !stdout.contains("guaranteed"), "{stdout}");
    // The nodes that nobody gave are a tree: rays reach its leaves.
    assert!(stdout.contains("line 31") || stdout.contains("   31 "), "{stdout}");
}

/// Two elements an invocation stay within the buffer; what a guard would have to stop is blamed on the launch.
fn default_launch() {
    let (stdout, stderr) = profiled("scan", "4096");
    assert!(!stderr.contains("out of bounds") && stdout.contains("8×1×1 workgroups"), "{stdout}");
    let (_, stderr) = profiled("short", "100");
    assert!(stderr.contains("out of bounds") && stderr.contains("--workgroups"), "{stderr}");
}

/// A search whose vertices are claimed by an atomic operation: the same bytes each time, and nothing guaranteed.
fn search() {
    let (first, _) = profiled("bfs", "4096");
    assert!(first.contains("of one schedule") && !first.contains("guaranteed"), "{first}");
    assert!(first.contains("lines 17, 18, 19 follow"), "{first}");
    let cards = first.find("Advice").map_or("", |at| &first[at..]);
    assert!(!cards.contains("order_by"), "{cards}");
    assert_eq!(profiled("bfs", "4096").0, first);
}

/// The same rows, in random order of their lengths and all alike: other figures, each said to be those of
/// generated data.
fn skewed_rows() {
    let figures = ["power_law", "constant"].map(|lengths| {
        let folder = folder_of("spmv");
        let text = format!(
            "[[buffers]]\nname = \"row_ptr\"\ntype = \"u32\"\nelements = \"n + 1\"\n\
             fill = {{ offsets = {{ last = \"8 * n\", lengths = \"{lengths}\" }} }}\n\
             [[buffers]]\nname = \"vals\"\ntype = \"f32\"\nelements = \"8 * n\"\nfill = \"zero\"\n\
             [[buffers]]\nname = \"col_idx\"\ntype = \"u32\"\nelements = \"8 * n\"\nfill = \"zero\"\n"
        );
        program::write(&folder.path().join("a.toml"), &text);
        let all = ["profile", "a.wgsl", "--launch", "a.toml", "--device", "sim:32", "--n", "4096"];
        let (code, stdout, stderr) = program::parts(&program::run(&folder, &[], &all));
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("of generated data") && !stdout.contains("guaranteed"), "{stdout}");
        assert!(stdout.contains("distributed as the launch file says"), "{stdout}");
        let row = stdout.lines().find(|line| line.starts_with("sim:32")).unwrap();
        let share = row.split('%').next().and_then(|part| part.split_whitespace().last());
        share.unwrap().parse::<f64>().unwrap()
    });
    assert!(figures[0] < 30.0 && figures[1] > 90.0, "{figures:?}");
}

fn scattered() {
    let (stdout, _) = profiled("stride", "4096");
    assert!(!stdout.contains("Nothing to advise"), "{stdout}");
    for card in ["scattered_access", "crowded_atomic"] {
        assert!(stdout.contains(card), "{card}: {stdout}");
    }
}

/// An array that is read at i and i + 1 and decides turns holds offsets: by default and in the file that
/// `--init` writes, whose figures stay those of generated data.
fn made_up_offsets() {
    let folder = folder_of("spmv");
    let output = program::run(&folder, &[], &["profile", "a.wgsl", "--init"]);
    assert_eq!(program::parts(&output).0, 0);
    let written = std::fs::read_to_string(folder.path().join("a.toml")).unwrap();
    assert!(
        written.contains("fill = { offsets = { last = \"8 * n\", lengths = \"uniform\" } }"),
        "{written}"
    );
    assert!(written.contains("elements = \"n + 1\""), "{written}");
    let (stdout, stderr) = profiled("spmv", "4096");
    assert!(stdout.contains("of generated data"), "{stdout}");
    assert!(!stderr.contains("out of bounds"), "{stderr}");
}
