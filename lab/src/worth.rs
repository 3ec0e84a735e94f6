//! Whether advice holds: shaders with a known cause, and edits of the WGSL beside what trials say.
//!
//! Input: how many random programs, the first seed; records with times. Output: on standard output, as JSON,
//! the shaders with a known cause (the label, the first card, what it says, what the edit saves), what was verified
//! over the corpus, the catalogue and random programs, and what advice says of ten kernels of the catalogue beside
//! the time that the changed kernel takes; exit code 1 where a card says more than its edit saves.
//!
//! `cargo run --release -p lab -- worth --count 2000 --beside results/records/… > results/other/lab/worth.json`

#[path = "../../tests/worth/cases.rs"]
mod cases;
#[path = "../../tests/worth/edits.rs"]
mod edits;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use lanescope::analyze::Advice;
use lanescope::kernel::{Catalogue, DeviceClass, KernelLanguage, Launch, SEED};
use lanescope::record::{Change, Measurement, Run, Tool, Trial};
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
    /// Records of the ten pairs of kernels.
    #[arg(long)]
    beside: Vec<PathBuf>,
}

/// Workgroups of a random program.
const WORKGROUPS: u32 = 8;

/// Operations of subgroups that trials of a kernel of the catalogue may take.
const OPERATIONS: u64 = 1 << 24;

/// Elements of a shader of the corpus.
const ELEMENTS: u64 = 1000;

/// Kernels of the catalogue with a cause, and what they are after the change.
const PAIRS: [[&str; 2]; 10] = [
    ["grain/run_lengths run=1", "grain/run_lengths run=128"],
    ["grain/run_lengths run=8", "grain/run_lengths run=128"],
    ["grain/small_workgroups size=16", "grain/small_workgroups size=64"],
    ["reduce/interleaved", "reduce/contiguous"],
    ["sort/divergent classes=2 arms=equal", "sort/sorted classes=2 arms=equal sort=before"],
    ["sort/divergent classes=8 arms=equal", "sort/sorted classes=8 arms=equal sort=before"],
    ["sort/divergent classes=8 arms=unequal", "sort/sorted classes=8 arms=unequal sort=before"],
    ["sort/divergent classes=32 arms=equal", "sort/sorted classes=32 arms=equal sort=before"],
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
    let mut beside = Vec::new();
    for path in &arguments.beside {
        beside.extend(timed_pairs(path)?);
    }
    let sound = groups.iter().all(|group| group.wrong.is_empty());
    let tool = Tool::this();
    let found = WorthFigures {
        made_by: format!("lanescope {} {}", tool.version, tool.git_sha.unwrap_or_default()),
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
    /// Launches over the budget.
    too_large: usize,
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
    device: String,
    width: u32,
    before: String,
    after: String,
    advice: String,
    /// Subgroup operations after the change over those before: as advice says, and as the changed kernel counts.
    advised_ratio: f64,
    counted_ratio: f64,
    /// Time of the changed kernel over that of the other.
    time_ratio: f64,
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
            spirv: None,
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
    let found: Vec<Option<Vec<Verified>>> = launches
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
    Group {
        of: group.to_owned(),
        launches: launches.len(),
        too_large: found.iter().filter(|verified| verified.is_none()).count(),
        trials: all().count(),
        edited: count(&|verified| verified.saved.is_some()),
        exact: count(&|verified| verified.saved == Some(verified.said)),
        split: count(&|verified| verified.trial.change == Change::SplitLoopBody),
        wrong: wrong.collect(),
    }
}

/// What advice says of the ten pairs that a record has times of.
fn timed_pairs(path: &Path) -> anyhow::Result<Vec<Beside>> {
    let run = lanescope::store::load(path)?;
    let catalogue = Catalogue::embedded()?;
    let mut rows = Vec::new();
    for device in &run.devices {
        for [before, after] in PAIRS {
            let find = |wanted: &str| find(&run, &device.id, wanted);
            let (Some(then), Some(now)) = (find(before), find(after)) else { continue };
            let (Some(then_time), Some(now_time)) = (&then.time, &now.time) else { continue };
            let width = then.subgroup_width.or(device.subgroup_width_run).context("no width")?;
            let profiled = [then, now].map(|measured| -> anyhow::Result<_> {
                let kernel = catalogue.select(&measured.kernel)?.remove(0);
                let mut parameters = measured.parameters.clone();
                // As large as a simulator takes.
                parameters.retain(|name, _| {
                    !["n", "columns", "rows", "sequence"].contains(&name.as_str())
                });
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
            rows.push(Beside {
                device: device.name.clone(),
                width: width.lanes(),
                before: before.to_owned(),
                after: after.to_owned(),
                advice: card.as_ref().map_or_else(|| "none".to_owned(), name),
                advised_ratio: 1.0 - share,
                counted_ratio,
                time_ratio: now_time.median_ns.0 / then_time.median_ns.0,
            });
        }
    }
    Ok(rows)
}

/// The measurement of a kernel with these parameters.
fn find<'a>(run: &'a Run, device: &str, wanted: &str) -> Option<&'a Measurement> {
    let mut words = wanted.split_whitespace();
    let kernel = words.next()?;
    let parameters: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    run.measurements.iter().find(|measured| {
        let has = |(name, value): &(&str, &str)| {
            measured.parameters.get(*name).is_some_and(|found| found.to_string() == *value)
        };
        measured.kernel == kernel && measured.device == device && parameters.iter().all(has)
    })
}
