//! Whether advice holds: shaders with a known cause, and edits of the WGSL beside what trials say.
//!
//! Input: how many random programs, the first seed; records with times. Output: on standard output, as JSON,
//! the shaders with a known cause (the label, the first card, what it says, what the edit saves), what was verified
//! over the corpus, the catalogue and random programs, and what advice says of kernels of the catalogue beside
//! the time that the changed kernel takes; exit code 1 where a card says more than its edit saves, or where the
//! simulator failed at a launch.
//!
//! `cargo run --release -p lab -- worth --count 2000 --beside results/records/… > results/other/lab/worth.json`

#[path = "../../tests/worth/cases.rs"]
mod cases;
#[path = "../../tests/worth/edits.rs"]
mod edits;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use lanescope::analyze::Advice;
use lanescope::kernel::{Catalogue, DeviceClass, KernelLanguage, Launch, SEED};
use lanescope::record::{Change, Device, Measurement, Run, RunErrorKind, Tool, Trial, Value};
use lanescope::run::RunError;
use lanescope::run::profile::{ProfileRequest, prepare};
use lanescope::run::simulator::STEPS_MAX;
use lanescope::run::what_if::{Budget, try_changes};
use lanescope::units::Width;
use rayon::prelude::*;
use serde::Serialize;

use crate::agreement::random_program::Options;
use crate::agreement::{launch, program};
use cases::{Case, Checked};
use edits::{Verified, verify};

/// Whether advice holds.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many random programs; none leaves corpus and catalogue out, too.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// The seed of the first one; the others follow it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The width.
    #[arg(long, default_value = "32")]
    width: u32,
    /// Records with times of pairs of kernels; of a pair that several have of one device the first is taken.
    #[arg(long)]
    beside: Vec<PathBuf>,
}

/// Workgroups of a random program.
const WORKGROUPS: u32 = 8;

/// Operations of subgroups that trials of a kernel of the catalogue may take.
const OPERATIONS: u64 = 1 << 24;

/// Elements of a shader of the corpus.
const ELEMENTS: u64 = 1000;

/// Parameters that say how large a launch is; trials take those of a quick run.
const SIZES: [&str; 4] = ["n", "columns", "rows", "sequence"];

/// Kernels of the catalogue with a cause, and what they are after the change.
const PAIRS: [[&str; 2]; 12] = [
    ["grain/run_lengths run=1", "grain/run_lengths run=128"],
    ["grain/run_lengths run=8", "grain/run_lengths run=128"],
    ["grain/small_workgroups size=16", "grain/small_workgroups size=64"],
    ["reduce/interleaved", "reduce/contiguous"],
    ["sort/divergent classes=2 arms=equal", "sort/sorted classes=2 arms=equal sort=before"],
    ["sort/divergent classes=2 arms=unequal", "sort/sorted classes=2 arms=unequal sort=before"],
    ["sort/divergent classes=8 arms=equal", "sort/sorted classes=8 arms=equal sort=before"],
    ["sort/divergent classes=8 arms=unequal", "sort/sorted classes=8 arms=unequal sort=before"],
    ["sort/divergent classes=32 arms=equal", "sort/sorted classes=32 arms=equal sort=before"],
    ["sort/divergent classes=32 arms=unequal", "sort/sorted classes=32 arms=unequal sort=before"],
    ["sparse/map_branch rounds=64", "sparse/map_compact rounds=64 sort=before"],
    ["sparse/attention_queries", "sparse/attention_ordered sort=before"],
];

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let width = Width::new(arguments.width)?;
    let mut groups = Vec::new();
    if arguments.count > 0 {
        groups.push(verify_group("corpus", &corpus()?, width));
        groups.push(verify_group("catalogue", &catalogue()?, width));
        groups.push(verify_group(
            "random programs",
            &random(arguments.seed, arguments.count),
            width,
        ));
    }
    let catalogue = Catalogue::embedded()?;
    let mut beside: Vec<Beside> = Vec::new();
    for path in &arguments.beside {
        let more = timed_pairs(path, &beside, &catalogue)?;
        beside.extend(more);
    }
    let sound = groups.iter().all(|group| group.wrong.is_empty() && group.failed.is_empty());
    let tool = Tool::this();
    let changed = if tool.git_dirty == Some(true) { " and changes" } else { "" };
    let sha = tool.git_sha.unwrap_or_default();
    let found = WorthFigures {
        made_by: format!("lanescope {} {sha}{changed}", tool.version),
        width: width.lanes(),
        causes: causes(width)?,
        verified: groups,
        beside,
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &found)?;
    writeln!(out)?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All that is printed.
#[derive(Debug, Serialize)]
struct WorthFigures {
    made_by: String,
    width: u32,
    causes: Causes,
    verified: Vec<Group>,
    beside: Vec<Beside>,
}

/// The shaders with a known cause.
#[derive(Debug, Serialize)]
struct Causes {
    shaders: usize,
    /// First cards that name the line, and those of them that say within 5 % what the edit saves.
    named: usize,
    within: usize,
    /// The same without split bodies and orders inside a workgroup.
    named_without: usize,
    within_without: usize,
    rows: Vec<Row>,
}

/// A shader with a known cause.
#[derive(Debug, Serialize)]
struct Row {
    shader: String,
    cause: String,
    line: u32,
    first: Option<String>,
    first_line: Option<u32>,
    said: u64,
    /// What an edit of the card's own change saves; and the edit that the label's author wrote.
    saved: Option<i64>,
    by_hand: i64,
    before: u64,
}

/// What was verified of some launches.
#[derive(Debug, Serialize)]
struct Group {
    of: String,
    launches: usize,
    /// Launches that were not looked at, each with the reason: over the budget, or not for a simulator.
    not_tried: Vec<String>,
    /// Launches at which the simulator failed, each with the error.
    failed: Vec<String>,
    /// Trials that save one operation in a hundred at least.
    trials: usize,
    /// Those edited in WGSL, and those of them that save exactly what was said.
    edited: usize,
    exact: usize,
    /// Split bodies, of which each lane's executions were compared.
    split: usize,
    /// What says more than its edit saves, or does something else.
    wrong: Vec<String>,
}

/// What advice says of a kernel, beside the changed kernel's time.
#[derive(Debug, Serialize)]
struct Beside {
    /// The record of the times.
    record: String,
    device: String,
    width: u32,
    before: String,
    after: String,
    /// How large both timed launches were, and those on the simulator.
    timed: String,
    tried: String,
    advice: String,
    /// Subgroup operations after the change over those before: as advice says, and as the changed kernel counts.
    advised_ratio: f64,
    counted_ratio: f64,
    /// Time of the changed kernel over that of the other.
    time_ratio: f64,
    /// Whether both times met the stop rule.
    stop_rule_met: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("tests")
}

/// The shaders with a known cause.
fn all_cases() -> anyhow::Result<Vec<Case>> {
    let read = |name: &str| std::fs::read_to_string(folder().join("worth").join(name));
    let corpus =
        |name: &str| std::fs::read_to_string(folder().join(format!("wgsl/{name}.wgsl"))).ok();
    let mut all = cases::read(&read("new.md")?, &|_| None);
    all.extend(cases::read(&read("corpus.md")?, &corpus));
    Ok(all)
}

fn causes(width: Width) -> anyhow::Result<Causes> {
    let all = all_cases()?;
    let without = |trial: &Trial| trial.change != Change::SplitLoopBody && !trial.within_workgroup;
    let kept: [fn(&Trial) -> bool; 2] = [|_| true, without];
    let checked: Vec<Vec<Checked>> = all.par_iter().map(|case| case.check(width, &kept)).collect();
    let rows =
        all.iter().zip(&checked).map(|(case, found)| (case, &found[0])).map(|(case, found)| Row {
            shader: case.name.clone(),
            cause: case.rule.clone(),
            line: case.line,
            first: found.first.map(|(rule, _)| rule.name().to_owned()),
            first_line: found.first.map(|(_, line)| line),
            said: found.said,
            saved: found.saved,
            by_hand: found.by_hand,
            before: found.before,
        });
    let hits = |index: usize| {
        let pairs = all.iter().zip(&checked).map(|(case, found)| (case, &found[index]));
        let named: Vec<_> = pairs.filter(|(case, found)| found.names(case.line)).collect();
        (named.len(), named.iter().filter(|(_, found)| found.is_within(0.05)).count())
    };
    let ((named, within), (named_without, within_without)) = (hits(0), hits(1));
    let rows = rows.collect();
    Ok(Causes { shaders: all.len(), named, within, named_without, within_without, rows })
}

fn corpus() -> anyhow::Result<Vec<Launch>> {
    let mut launches = Vec::new();
    for entry in std::fs::read_dir(folder().join("wgsl"))? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if path.extension().is_none_or(|extension| extension != "wgsl") {
            continue;
        }
        let source = std::fs::read_to_string(&path)?;
        let parsed = lanescope::program::Parsed::new(name, &source)?;
        let request = ProfileRequest {
            file: format!("{name}.wgsl"),
            name: name.to_owned(),
            entry_point: parsed.entry_points().first().map(|name| (*name).to_owned()),
            source,
            derived: None,
            description: None,
            workgroups: None,
            n: Some(ELEMENTS),
            seed: SEED,
        };
        launches.push(prepare(&request, &mut |name| Err(format!("no file {name}")))?.launch);
    }
    launches.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    Ok(launches)
}

fn catalogue() -> anyhow::Result<Vec<Launch>> {
    let catalogue = Catalogue::embedded()?;
    let kernels = catalogue.kernels().filter(|kernel| kernel.language == KernelLanguage::Wgsl);
    let launch = |kernel: &lanescope::kernel::Kernel| {
        kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED)
    };
    Ok(kernels.map(launch).collect::<Result<_, _>>()?)
}

fn random(seed: u64, count: u64) -> Vec<Launch> {
    let options = Options { subgroups: false, ..Options::BUFFERS };
    (seed..seed + count)
        .map(|seed| {
            // Every second one has subgroup operations, which hold its invocations in place.
            let options = Options { subgroups: seed % 2 == 0, ..options };
            let mut program = program(seed, options);
            program.workgroups = WORKGROUPS;
            launch(&program, seed)
        })
        .collect()
}

/// Verifies the trials of launches.
fn verify_group(group: &str, launches: &[Launch], width: Width) -> Group {
    let found: Vec<Result<Vec<Verified>, RunError>> = launches
        .par_iter()
        .map(|launch| verify(launch, width, Budget::Operations(OPERATIONS)))
        .collect();
    let all = || found.iter().flatten().flatten();
    let count = |holds: &dyn Fn(&Verified) -> bool| all().filter(|v| holds(v)).count();
    let wrong = launches.iter().zip(&found).flat_map(|(launch, verified)| {
        let wrong = verified.iter().flatten().filter(|verified| verified.is_false());
        wrong.map(|Verified { trial, said: claimed, saved, same }| {
            format!(
                "{} line {} {:?}: says {claimed}, saves {saved:?}, same lanes and outputs: {same}",
                launch.kernel, trial.line, trial.change
            )
        })
    });
    // A simulator refuses what it does not run and what takes more than the budget; any other error is a failure.
    let errors = |refused: bool| -> Vec<String> {
        let errors = launches.iter().zip(&found).filter_map(|(launch, verified)| {
            let error = verified.as_ref().err()?;
            let is_refused = error.kind == RunErrorKind::Unsupported;
            let text = || format!("{}: {}: {error}", launch.kernel, error.kind.name());
            (is_refused == refused).then(text)
        });
        errors.collect()
    };
    Group {
        of: group.to_owned(),
        launches: launches.len(),
        not_tried: errors(true),
        failed: errors(false),
        trials: all().count(),
        edited: count(&|verified| verified.saved.is_some()),
        exact: count(&|verified| verified.saved == Some(verified.said)),
        split: count(&|verified| verified.trial.change == Change::SplitLoopBody),
        wrong: wrong.collect(),
    }
}

/// What advice says of the pairs that a record has times of, but for those that are known of the same device.
fn timed_pairs(
    path: &Path,
    known: &[Beside],
    catalogue: &Catalogue,
) -> anyhow::Result<Vec<Beside>> {
    let run = lanescope::store::load(path)?;
    let record = record_name(path)?;
    let mut rows: Vec<Beside> = Vec::new();
    for device in &run.devices {
        for pair in PAIRS {
            let is_known = |row: &Beside| {
                row.device == device.name && [row.before.as_str(), row.after.as_str()] == pair
            };
            if known.iter().chain(&rows).any(is_known) {
                continue;
            }
            let Some(timed) = find_pair(&run, device, pair, catalogue)? else { continue };
            rows.push(beside((record.as_str(), device), pair, timed, catalogue)?);
        }
    }
    Ok(rows)
}

/// A record's name: its folder, and its file without date and ending.
fn record_name(path: &Path) -> anyhow::Result<String> {
    let folder = path.parent().and_then(Path::file_name).context("a record has a folder")?;
    let file = path.file_name().context("a record is a file")?;
    crate::index::name(&format!("{}/{}", folder.to_string_lossy(), file.to_string_lossy()))
}

/// What advice says of a launch, beside the time of the changed one.
fn beside(
    (record, device): (&str, &Device),
    [before, after]: [&str; 2],
    [then, now]: [&Measurement; 2],
    catalogue: &Catalogue,
) -> anyhow::Result<Beside> {
    let then_time = then.time.as_ref().context("no time")?;
    let now_time = now.time.as_ref().context("no time")?;
    let width = then.subgroup_width.or(device.subgroup_width_run).context("no width")?;
    let profiled = [then, now].map(|measured| -> anyhow::Result<_> {
        let kernel = catalogue.select(&measured.kernel)?.remove(0);
        let mut parameters = measured.parameters.clone();
        // As large as a simulator takes.
        parameters.retain(|name, _| !SIZES.contains(&name.as_str()));
        let launch = kernel.launch(DeviceClass::Quick, &parameters, SEED)?;
        Ok((cases::profile(&launch, width), launch))
    });
    let [first, second] = profiled;
    let ((mut first, launch), (second, _)) = (first?, second?);
    let trials = try_changes(&launch, width, STEPS_MAX, Budget::Everything)?;
    first.measurements[0].what_if = Some(trials);
    let profile = lanescope::analyze::profiles(&first).remove(0);
    let card = lanescope::analyze::advice_of(&profile).into_iter().next();
    let work = |run: &Run| {
        let dispatches = run.measurements[0].dispatches.iter().filter(|d| !d.setup);
        let blocks = dispatches.flat_map(|dispatch| &dispatch.blocks);
        blocks.map(|b| b.operations * b.executions.0).sum::<u64>()
    };
    let name = |card: &Advice| format!("{} {}", card.rule.name(), card.line);
    let share = card.as_ref().map_or(0.0, |card| card.gain_share.0);
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let counted_ratio = work(&second) as f64 / work(&first) as f64;
    Ok(Beside {
        record: record.to_owned(),
        device: device.name.clone(),
        width: width.lanes(),
        before: before.to_owned(),
        after: after.to_owned(),
        timed: size_text(&then.parameters),
        tried: size_text(&launch.parameters),
        advice: card.as_ref().map_or_else(|| "none".to_owned(), name),
        advised_ratio: 1.0 - share,
        counted_ratio,
        time_ratio: now_time.median_ns.0 / then_time.median_ns.0,
        stop_rule_met: then_time.stop_rule_met && now_time.stop_rule_met,
    })
}

/// How large a launch with these parameters is, in words.
fn size_text(parameters: &BTreeMap<String, Value>) -> String {
    let size = |name: &&str| Some(format!("{name}={}", parameters.get(*name)?));
    SIZES.iter().filter_map(size).collect::<Vec<_>>().join(" ")
}

/// Whether a launch has the catalogue's size, and how large it is in each of [`SIZES`].
type Rank = (bool, [f64; 4]);

/// The two timed launches of a pair, alike in all parameters but those that the pair names: as large as the
/// catalogue takes them on such a device, or else the largest.
fn find_pair<'a>(
    run: &'a Run,
    device: &Device,
    pair: [&str; 2],
    catalogue: &Catalogue,
) -> anyhow::Result<Option<[&'a Measurement; 2]>> {
    let class = if device.cpu_driver { DeviceClass::Cpu } else { DeviceClass::Gpu };
    let named: BTreeSet<&str> =
        pair.iter().flat_map(|wanted| named_values(wanted)).map(|(name, _)| name).collect();
    let mut best: Option<(Rank, [&Measurement; 2])> = None;
    for then in timed(run, &device.id, pair[0]) {
        let usual =
            catalogue.select(&then.kernel)?.remove(0).parameters(class, &BTreeMap::new())?;
        let is_usual = SIZES.iter().all(|name| then.parameters.get(*name) == usual.get(*name));
        let size = SIZES.map(|name| then.parameters.get(name).and_then(Value::number));
        let rank = (is_usual, size.map(|size| size.unwrap_or(0.0)));
        let alike = |now: &&Measurement| {
            then.parameters.iter().all(|(name, value)| {
                named.contains(name.as_str())
                    || now.parameters.get(name).is_none_or(|other| other == value)
            })
        };
        let Some(now) = timed(run, &device.id, pair[1]).find(alike) else { continue };
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, [then, now]));
        }
    }
    Ok(best.map(|(_, pair)| pair))
}

/// The timed measurements of a kernel with these parameters on a device.
fn timed<'a>(run: &'a Run, device: &str, wanted: &str) -> impl Iterator<Item = &'a Measurement> {
    let kernel = wanted.split_whitespace().next().unwrap_or_default();
    run.measurements.iter().filter(move |measured| {
        let has = |(name, value): (&str, &str)| {
            measured.parameters.get(name).is_some_and(|found| found.to_string() == value)
        };
        measured.time.is_some()
            && measured.kernel == kernel
            && measured.device == device
            && named_values(wanted).all(has)
    })
}

/// The parameters that a text names, with their values.
fn named_values(wanted: &str) -> impl Iterator<Item = (&str, &str)> {
    wanted.split_whitespace().filter_map(|word| word.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A committed record.
    fn record(name: &str) -> Run {
        let folder = crate::root().join(crate::index::RECORDS);
        let files = crate::index::files(&folder).unwrap();
        let path = files.iter().find(|path| record_name(path).unwrap() == name).unwrap();
        lanescope::store::load(path).unwrap()
    }

    /// What `lab worth` wrote last.
    fn written() -> serde_json::Value {
        let path = crate::root().join("results/other/lab/worth.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn both_launches_of_a_pair_are_as_large_as_the_catalogue_takes_them() {
        let catalogue = Catalogue::embedded().unwrap();
        for (name, elements) in
            [("h100-vulkan/advice", "n=1048576"), ("lavapipe-8/advice", "n=8192")]
        {
            let run = record(name);
            for pair in PAIRS {
                let found = find_pair(&run, &run.devices[0], pair, &catalogue).unwrap();
                let [then, now] = found.unwrap_or_else(|| panic!("{name} has no {pair:?}"));
                let sizes = [then, now].map(|measured| size_text(&measured.parameters));
                assert_eq!(sizes[0], sizes[1], "{name}: {pair:?}");
                if pair[0].starts_with("sort/") {
                    assert_eq!(sizes[0], elements, "{name}: {pair:?}");
                }
            }
        }
    }

    /// Of each device all pairs, and of as many random programs as the list of logs says; no trial says more than its
    /// edit saves.
    #[test]
    fn what_was_written_is_whole() {
        let written = written();
        let mut devices: BTreeMap<&str, usize> = BTreeMap::new();
        for row in written["beside"].as_array().unwrap() {
            *devices.entry(row["device"].as_str().unwrap()).or_default() += 1;
        }
        assert!(devices.len() >= 3, "{devices:?}");
        assert!(devices.values().all(|pairs| *pairs == PAIRS.len()), "{devices:?}");
        for name in ["NVIDIA H200", "llvmpipe"] {
            assert!(devices.keys().any(|device| device.starts_with(name)), "{name}: {devices:?}");
        }
        let groups = written["verified"].as_array().unwrap();
        for (group, least) in [("corpus", 80), ("catalogue", 100), ("random programs", 2000)] {
            let found = groups.iter().find(|other| other["of"] == group).unwrap();
            let launches = found["launches"].as_u64().unwrap();
            let tried = launches - found["not_tried"].as_array().unwrap().len() as u64;
            assert!(tried >= least && found["trials"].as_u64() > Some(50), "{found}");
            for what in ["failed", "wrong"] {
                assert!(found[what].as_array().unwrap().is_empty(), "{group}: {found}");
            }
        }
        let random = groups.iter().find(|group| group["of"] == "random programs").unwrap();
        let list = crate::root().join("results/other/index.toml");
        let list: toml::Table = toml::from_str(&std::fs::read_to_string(list).unwrap()).unwrap();
        let made_with = list["lab/worth.json"]["made_with"].as_str().unwrap();
        let count = format!("--count {} ", random["launches"]);
        assert!(made_with.contains(&count), "{count}: {made_with}");
        for row in written["beside"].as_array().unwrap() {
            let record = row["record"].as_str().unwrap();
            assert!(made_with.contains(record), "{record}: {made_with}");
        }
    }
}
