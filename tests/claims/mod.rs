//! The families that test a textbook's claims: their formulas, derived by hand in their descriptions, against
//! what the simulator counts at every width, and figures of an audit; the command from outside.
//!
//! Input: every point of the families' sweeps, on full grids. Output: a failure where a block's mean active lanes is not
//! what its formula gives, or a figure is not the audit's.

use std::collections::BTreeMap;
use std::path::Path;

use lanescope::kernel::{Catalogue, DeviceClass, Kernel, Launch, SEED};
use lanescope::record::Value;
use lanescope::units::Width;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::grain::{Point, compare, pairs, program_of, simulate, slots};
use crate::support::program;
use crate::support::trials_of;

const WIDTHS: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// The families.
const FAMILIES: [&str; 6] = ["k_way", "split", "alignment", "boundary", "predication", "masked"];

/// Their kernels whose lanes never part: these have no formulas.
const BRANCHLESS: [&str; 6] = [
    "predication/arithmetic",
    "predication/chosen",
    "predication/select",
    "masked/copy",
    "masked/select",
    "masked/two_kernels",
];

/// The one of so few elements that no subgroup is full: what it writes is checked, and not its lanes.
const SMALL: &str = "predication/special";

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("claims::formulas_hold_on_the_simulator_at_every_width", formulas),
        ("claims::operations_are_what_an_audit_found", audit),
        ("claims::committed_records_give_a_verdict_for_every_claim", committed),
        ("claims::one_record_of_each_system_gives_its_verdicts_back", systems),
        ("claims::opposed_claims_are_judged_together", opposed),
        ("claims::families_have_the_articles_form_or_say_what_is_printed", forms),
        ("claims::a_quick_run_without_a_driver_decides_by_counting", quick),
        ("claims::the_record_of_a_run_of_the_whole_ledger_gives_its_verdicts_back", whole),
    ])
}

/// Every point of a kernel's sweeps that simulators take, with little work.
fn points(kernel: &Kernel) -> Vec<Point> {
    let mut all = vec![Point::new()];
    for sweep in kernel.description.sweeps.iter().filter(|sweep| !sweep.gpu_only) {
        all.extend(sweep.points(&Point::new()));
    }
    for point in &mut all {
        let small = [("work", 8), ("decisions", 2), ("inner", 1)];
        for (name, value) in small {
            if kernel.description.parameters.contains_key(name) {
                point.insert(name.to_owned(), Value::Integer(value));
            }
        }
    }
    all
}

/// Whether a launch's lanes part by chance, so that a formula is a mean over all inputs. What a ray hits is by chance
/// too.
fn is_random(launch: &Launch) -> bool {
    let random = Value::Name("random".into());
    launch.kernel == "k_way/bounces" || launch.parameters.values().any(|value| *value == random)
}

fn formulas() {
    let catalogue = Catalogue::embedded().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for kernel in FAMILIES.iter().flat_map(|family| catalogue.select(family).unwrap()) {
        if kernel.id == SMALL {
            assert!(kernel.description.blocks.is_empty());
            continue;
        }
        let branchless = BRANCHLESS.contains(&kernel.id.as_str());
        assert_ne!(branchless, !kernel.description.blocks.is_empty(), "{}", kernel.id);
        let mut of_kernel = 0;
        for mut point in points(kernel) {
            let given = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
            if is_random(&given) {
                point.insert("n".to_owned(), Value::Integer(1 << 17));
            } else if kernel.family() == "masked" {
                // Whole workgroups.
                point.insert("n".to_owned(), Value::Integer(1 << 14));
            }
            let launch = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
            for width in WIDTHS.map(|width| Width::new(width).unwrap()) {
                let counts = pairs(&simulate(&launch, width));
                if branchless {
                    let full = |(executions, lanes): &&(u64, u64)| {
                        *lanes == *executions * u64::from(width.lanes())
                    };
                    let ran = counts.iter().filter(|(executions, _)| *executions > 0);
                    let parted = ran.filter(|count| !full(count)).count();
                    if parted > 0 {
                        wrong.push(format!("{}: {parted} blocks part at {width}", kernel.id));
                    }
                    of_kernel += counts.len();
                    continue;
                }
                match compare(&launch, width, (is_random(&launch), false), &counts) {
                    Ok(blocks) => of_kernel += blocks,
                    Err(why) => wrong.push(why),
                }
            }
        }
        assert!(of_kernel > 0, "no block of {} was compared", kernel.id);
        compared += of_kernel;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 500, "{compared}");
}

/// Subgroup operations of a launch at a width.
fn operations(id: &str, values: &[(&str, Value)], width: u32) -> f64 {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel(id).unwrap();
    let point: Point =
        values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let launch = kernel.launch(DeviceClass::Quick, &point, SEED).unwrap();
    slots(&launch, Width::new(width).unwrap()) / f64::from(width)
}

/// What an audit under the rule that counts jumps found, within 2 %: operations over those of a uniform kernel.
fn audit() {
    let within = |name: &str, found: f64, expected: f64, most: f64| {
        assert!((found / expected - 1.0).abs() < most, "{name}: {found}, not {expected}");
    };
    let near = |name: &str, found, expected| within(name, found, expected, 0.02);
    let name = |value: &str| Value::Name(value.to_owned());
    let whole = Value::Integer;
    let arms = |keys: &str, classes: i64, width| {
        let n = whole(65536);
        let long = ("work", whole(512));
        let values = [("keys", name(keys)), ("classes", whole(classes)), ("n", n), long];
        operations("k_way/switch", &values, width)
    };
    for (classes, even) in [(2, 1.99), (4, 3.96), (8, 7.89), (16, 15.8), (32, 31.5)] {
        near("even keys", arms("even", classes, 32) / arms("one", classes, 32), even);
    }
    for (width, random) in [(32, 20.1), (64, 27.4)] {
        near("32 random keys", arms("random", 32, width) / arms("one", 32, width), random);
    }
    let split = |few: i64, others: f64| {
        let values = [("few", whole(few)), ("others", Value::Real(others)), ("work", whole(512))];
        operations("split/lanes", &values, 32)
    };
    for few in [1, 2, 8, 16, 24, 30, 31] {
        near("a mixed split", split(few, 1.0) / split(32, 1.0), 1.99);
    }
    near("a minority arm an eighth as long", split(30, 0.125) / split(32, 1.0), 1.13);
    let condition = |word: &str, width| {
        let values = [("condition", name(word)), ("work", whole(512))];
        operations("alignment/branch", &values, width)
    };
    let parts = [(16, 1.0), (32, 0.891), (64, 0.803)];
    for (width, efficiency) in parts {
        let found = condition("none", width) / condition("below_144", width);
        near("i < 144", found, efficiency);
    }
    near("i / 32 at 64", condition("none", 64) / condition("by_32", 64), 0.505);
    // Counted, and not by the formula that these are held against.
    let body = |id: &str, values: &[(&str, Value)], width: u32| {
        let catalogue = Catalogue::embedded().unwrap();
        let point: Point =
            values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let launch =
            catalogue.kernel(id).unwrap().launch(DeviceClass::Quick, &point, SEED).unwrap();
        lanes_of(&launch, "body", Width::new(width).unwrap()) / f64::from(width)
    };
    // Of the whole kernel, of which every subgroup executes the guard.
    let n = [("n".to_owned(), whole(65537))].into();
    let guarded = Catalogue::embedded().unwrap().kernel("boundary/guard").unwrap().clone();
    let guarded = guarded.launch(DeviceClass::Quick, &n, SEED).unwrap();
    within("65,537", efficiency(&guarded, Width::new(32).unwrap()), 0.9997, 2e-4);
    within("1000 by 1000", body("boundary/product", &[("across", whole(32))], 32), 0.977, 1e-3);
    within("1000 by 1000", body("boundary/product", &[("across", whole(16))], 32), 0.992, 1e-3);
}

/// The share of lane slots that work, by the simulator.
fn efficiency(launch: &Launch, width: Width) -> f64 {
    let program = program_of(launch);
    let counts = pairs(&simulate(launch, width));
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let work: f64 = program
        .blocks()
        .iter()
        .zip(counts)
        .map(|(block, (_, lanes))| (block.ops * lanes) as f64)
        .sum();
    work / slots(launch, width)
}

/// Mean lanes of the blocks of a label, by the simulator.
fn lanes_of(launch: &Launch, label: &str, width: Width) -> f64 {
    let program = program_of(launch);
    let counts = pairs(&simulate(launch, width));
    let of_label = program.blocks().iter().zip(counts);
    let of_label = of_label.filter(|(block, _)| block.label.as_deref() == Some(label));
    let (executions, lanes) =
        of_label.fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1));
    assert!(executions > 0, "no block {label}");
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    {
        lanes as f64 / executions as f64
    }
}

/// What `lanescope claims` says as JSON, by id, on a machine without a driver.
fn verdicts(folder: &TempDir, arguments: &[&str]) -> BTreeMap<String, String> {
    let all: Vec<&str> =
        ["claims", "--json"].into_iter().chain(arguments.iter().copied()).collect();
    let (code, text, errors) = program::parts(&program::run(folder, &[], &all));
    assert_eq!(code, 0, "{errors}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let word = |claim: &serde_json::Value, key: &str| claim[key].as_str().unwrap().to_owned();
    let claims = json["claims"].as_array().unwrap().iter();
    claims.map(|claim| (word(claim, "id"), word(claim, "verdict"))).collect()
}

fn committed() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = ["records", "other/cuda"].map(|name| results.join(name));
    let [records, tables] = folders.map(|path| path.to_string_lossy().into_owned());
    let folder = tempfile::tempdir().unwrap();
    let found = verdicts(&folder, &["--from", &records, &tables]);
    assert_eq!(found.len(), 244);
    let open: Vec<&String> =
        found.iter().filter(|(_, name)| *name == "not testable here").map(|(id, _)| id).collect();
    assert!(open.len() <= 30, "{} are not testable: {open:?}", open.len());
    for (id, verdict) in [
        ("gpuflight-indirect-1-5", "contradicted"),
        ("mastery-split-chart", "contradicted"),
        ("simt-warp-index-never", "holds only where"),
        ("lesson-16-16-twice", "holds only where"),
        ("lesson-history-fermi", "no claim about machines"),
    ] {
        assert_eq!(found[id], verdict, "{id}");
    }
}

/// Verdicts by record's file and claim, as the page's table of systems has them.
fn verdicts_of_page() -> BTreeMap<String, BTreeMap<String, String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings/claims.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("<summary>Verdicts by system</summary>").unwrap();
    let rows = table.lines().filter(|line| line.starts_with('|'));
    let mut rows =
        rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let heads = rows.next().unwrap();
    let file = |head: &&str| {
        let (_, address) = head.split_once("(../../").unwrap();
        address.trim_end_matches(')').to_owned()
    };
    let mut found: BTreeMap<String, BTreeMap<String, String>> =
        heads[1..].iter().map(|head| (file(head), BTreeMap::new())).collect();
    for row in rows.skip(1) {
        for (head, cell) in heads[1..].iter().zip(&row[1..]) {
            let verdict = if *cell == "–" { "not testable here" } else { cell };
            let verdicts = found.get_mut(&file(head)).unwrap();
            verdicts.insert(row[0].trim_matches('`').to_owned(), verdict.to_owned());
        }
    }
    found
}

/// One committed record each of the simulator, two drivers of the processor and a GPU through Vulkan and through
/// CUDA: every verdict is the committed page's.
fn systems() {
    let folder = tempfile::tempdir().unwrap();
    let page = verdicts_of_page();
    assert_eq!(page.len(), 5);
    for (file, expected) in &page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let found = verdicts(&folder, &["--from", &path.to_string_lossy()]);
        assert_eq!(found.len(), 244, "{file}");
        let differ = |(id, verdict): (&String, &String)| {
            let of_page = expected.get(id).map_or("nothing", String::as_str);
            (of_page != verdict).then(|| format!("{id}: {verdict}, and the page has {of_page}"))
        };
        let wrong: Vec<String> = found.iter().filter_map(differ).collect();
        assert!(wrong.is_empty() && expected.len() == found.len(), "{file}:\n{}", wrong.join("\n"));
    }
    // By hand, what only some of them can say: lanes at 64, outputs of a driver, times of a GPU, its counters.
    let expected = [
        ("simulator/claims-widths", "simt-warp-index-never", "holds only where"),
        ("simulator/claims-widths", "simt-its-not-faster", "not testable here"),
        ("lavapipe-8/claims-all", "simt-warp-index-never", "holds"),
        ("lavapipe-8/claims-all", "mastery-warp-identity", "holds"),
        ("swiftshader/claims-all", "simt-k-arms-formula", "not testable here"),
        ("swiftshader/claims-all", "mastery-warp-identity", "holds"),
        ("h200-vulkan/claims-all", "masked-speedup-2-3", "contradicted"),
        ("h200-vulkan/claims-all", "simt-its-not-faster", "holds"),
        ("h200-vulkan/claims-all", "mastery-schedulers-2-4", "not testable here"),
        ("h200-cuda/claims-all", "mastery-schedulers-2-4", "contradicted"),
        ("h200-cuda/claims-all", "simt-one-issue-per-cycle", "holds"),
    ];
    for (record, claim, verdict) in expected {
        let start = format!("results/records/{record}-2");
        let (_, verdicts) = page.iter().find(|(file, _)| file.starts_with(&start)).unwrap();
        assert_eq!(verdicts[claim], verdict, "{record}: {claim}");
    }
}

/// Who asks for one claim gets those against it too, judged in the same sentence, in every form.
fn opposed() {
    let folder = tempfile::tempdir().unwrap();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = ["records/h200-vulkan", "other/cuda"].map(|name| results.join(name));
    let from = folders.map(|path| path.to_string_lossy().into_owned());
    let told = |form: &str, claims: &[&str]| {
        let all = [&["claims"], claims, &["--from", &from[0], &from[1], form]].concat();
        let (code, text, errors) = program::parts(&program::run(&folder, &[], &all));
        assert_eq!(code, 0, "{errors}");
        text
    };
    let json: serde_json::Value =
        serde_json::from_str(&told("--json", &["lesson-launch-5us"])).unwrap();
    let claims = json["claims"].as_array().unwrap();
    let ids: Vec<&str> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["lesson-launch-5us", "lesson-launch-under-10us"], "who is asked for first");
    let says = claims[1]["pairs"][0]["says"].as_str().unwrap();
    assert_eq!(claims[1]["pairs"][0]["against"], ids[0]);
    let sentence = "The records support lesson-launch-under-10us, which holds; lesson-launch-5us is contradicted.";
    assert_eq!(says, sentence);
    for form in ["--csv", "--markdown"] {
        assert_eq!(told(form, &["lesson-launch-5us"]).matches(sentence).count(), 2, "{form}");
    }
    // A reason is no condition.
    let json: serde_json::Value =
        serde_json::from_str(&told("--json", &["lesson-history-fermi"])).unwrap();
    let opinion = &json["claims"][0];
    assert_eq!(opinion["condition"], serde_json::Value::Null);
    assert_eq!(opinion["doubt_condition"], serde_json::Value::Null);
    assert!(opinion["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
}

/// Each family has a form that is the articles', or a sentence says what they print in its place.
fn forms() {
    let catalogue = Catalogue::embedded().unwrap();
    for family in FAMILIES {
        let kernels = catalogue.select(family).unwrap();
        let published = |kernel: &&Kernel| {
            let form = kernel.description.parameters.get("form");
            form.is_some_and(|form| form.values.contains(&Value::Name("published".to_owned())))
        };
        let article = &catalogue.family(family).unwrap().article;
        assert_ne!(kernels.iter().any(published), !article.is_empty(), "{family}");
    }
}

/// A run of the whole ledger without a driver: its record says what the run said, claim by claim.
fn whole() {
    let folder = tempfile::tempdir().unwrap();
    let devices = ["--device", "sim:32", "--device", "sim:64"];
    let arguments: Vec<&str> = ["--quick", "--out", "run"].into_iter().chain(devices).collect();
    let found = verdicts(&folder, &arguments);
    assert_eq!(found.len(), 244);
    let decided = ["holds", "holds only where", "contradicted"];
    let count = found.values().filter(|verdict| decided.contains(&verdict.as_str())).count();
    assert!(count >= 90, "{count} are decided by counting");
    assert_eq!(verdicts(&folder, &["--from", "run"]), found);
}

/// Without a driver: what counting decides is decided, and what it does not is said to need more.
fn quick() {
    let folder = tempfile::tempdir().unwrap();
    let devices = ["--device", "sim:32", "--device", "sim:64"];
    let families = ["k-way-switch", "branch-alignment", "lesson-launch-5us"];
    let arguments: Vec<&str> =
        families.into_iter().chain(["--quick", "--out", "run"]).chain(devices).collect();
    let found = verdicts(&folder, &arguments);
    assert_eq!(found["gpuflight-below-5-percent"], "contradicted");
    assert_eq!(found["simt-warp-index-never"], "holds only where");
    assert_eq!(found["simt-k-arms-formula"], "holds");
    assert_eq!(found["lesson-launch-5us"], "not testable here");
    // The record says what the run said, claim by claim.
    let again: Vec<&str> = families.into_iter().chain(["--from", "run"]).collect();
    assert_eq!(verdicts(&folder, &again), found);
    // As a table and as Markdown, each claim once; and on the run's page.
    let told = |form: &str| {
        let all = [&["claims", form], &again[..]].concat();
        let (code, text, errors) = program::parts(&program::run(&folder, &[], &all));
        assert_eq!(code, 0, "{errors}");
        text
    };
    // So is what any other run decides.
    let run = ["run", "split/lanes", "--quick", "--device", "sim:32", "--out", "other"];
    let (code, _, errors) = program::parts(&program::run(&folder, &[], &run));
    assert_eq!(code, 0, "{errors}");
    let page = std::fs::read_to_string(folder.path().join("other/report.html")).unwrap();
    assert!(page.contains("id=\"claims\"") && page.contains("mastery-split-chart"));
    let (table, markdown) = (told("--csv"), told("--markdown"));
    assert_eq!(table.lines().count(), 1 + found.len(), "{table}");
    let page = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("id=\"claims\""));
    for (id, verdict) in &found {
        assert!(table.contains(&format!("{id},")), "{id}");
        assert!(markdown.contains(&format!("`{id}`")), "{id}");
        let decided = !["not testable here", "no claim about machines"].contains(&verdict.as_str());
        assert!(!decided || page.contains(id.as_str()), "{id}");
    }
}
