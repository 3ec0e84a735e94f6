//! The catalogue launches what it launched: the same buffers, dispatches, executions and lanes.
//!
//! Input: the embedded catalogue and `digests.txt` beside this file, taken before families became
//! folders. Output: a failure for each line that the catalogue no longer gives. A line names a
//! kernel and chosen parameters as records of that day do; what has another name today is found
//! through the families' lists of what was renamed. Texts may differ: executions and lanes are
//! compared as the sorted list of what ran, so that neither the number nor the line of a block
//! matters.
//!
//! `LANESCOPE_TAKE_DIGESTS=<file>` writes the lines of the catalogue at hand there. A new kernel needs
//! no line of its own, and changes the two of what a run of its family measures where there are such; whoever changes
//! what a kernel executes takes its lines anew. Either says why in the commit.
//!
//! Taken anew since: executions of kernels with a partition by class, whose texts became portable
//! WGSL, with a function more for the width that a workgroup's barriers depend on; runs of `hot_loops` and `sparse`,
//! which have a kernel more, as of `occupancy`, `shuffle` and `vote` since; `vote/early_exit`, whose vote's branch has work of
//! its own to be counted; the lanes that `sparse/attention_separate` expects, whose formula is rounded in
//! another place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

use lanescope::analyze::compare;
use lanescope::kernel::format::Combination;
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, Launch, SEED};
use lanescope::program::{Overrides, Parsed, Program};
use lanescope::record::{Measurement, Method, Run, Value};
use lanescope::run::launched::counts_depend_on_seed;
use lanescope::run::simulator::SimulatorRunner;
use lanescope::run::{CountRequest, Runner};
use lanescope::simulate::Schedule;
use lanescope::units::Width;
use libtest_mimic::Trial;
use rayon::prelude::*;

use crate::records;
use crate::support::program;
use crate::support::trials_of;

const DIGESTS: &str = include_str!("digests.txt");

/// How each committed record was made.
const INDEX: &str = include_str!("../../results/index.toml");

/// Names a file that the lines of the catalogue at hand are written to.
const TAKE: &str = "LANESCOPE_TAKE_DIGESTS";

/// Elements of a launch whose executions are counted, where the kernel has a parameter of that
/// name.
const ELEMENTS: [(&str, i64); 4] = [("n", 700), ("workgroups", 2), ("links", 64), ("work", 32)];

const WIDTHS: [u32; 2] = [8, 32];

const STEPS_MAX: u64 = 1 << 24;

/// Chosen parameters, by name.
pub(crate) type Point = BTreeMap<String, Value>;

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("launches::launches_executions_and_lanes_are_what_they_were", points_hold),
        ("launches::a_run_measures_what_it_measured", families_hold),
        ("launches::committed_records_compare_under_the_names_of_today", records_hold),
        ("launches::what_no_branch_follows_changes_no_count", seeds_decide_what_they_should),
    ])
}

/// The first half of a SHA-256.
fn digest(text: &str) -> String {
    lanescope::run::launched::sha256(text)[..16].to_owned()
}

fn programs(launch: &Launch) -> Vec<Program> {
    let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
    let dispatches = launch.dispatches.iter();
    dispatches
        .map(|dispatch| {
            let mut values: Overrides = launch.overrides.clone();
            values.extend(dispatch.overrides.clone());
            parsed.resolve(&dispatch.entry_point, &values).unwrap()
        })
        .collect()
}

/// What a launch is made of but for texts and names of kernels.
fn plain(launch: &Launch, contents: bool) -> String {
    let mut buffers: Vec<String> = launch.buffers.iter().map(|b| format!("{b:?}")).collect();
    // Only kernels in CUDA C++ take buffers in order.
    if launch.language() == KernelLanguage::Wgsl {
        buffers.sort();
    }
    let mut shown = launch.shown.clone();
    shown.sort();
    let mut all = format!(
        "{buffers:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{shown:?}\n{:?}\n",
        launch.overrides,
        launch.dispatches,
        (launch.repeatable, launch.trusted, launch.workgroup_memory_zeroed),
        (&launch.immediates, &launch.reference, launch.bytes),
        launch.exempt_from_agreement,
    );
    if contents {
        let found: BTreeMap<&String, Vec<u8>> =
            launch.buffers.iter().map(|buffer| (&buffer.name, launch.contents(buffer))).collect();
        for (name, bytes) in found {
            writeln!(all, "{name} {}", digest(&hexadecimal(&bytes))).unwrap();
        }
    }
    all
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What a description expects of the blocks that a launch's programs have.
fn expected(launch: &Launch, programs: &[Program]) -> String {
    let width = Width::new(32).unwrap();
    let labels: BTreeSet<&String> = programs
        .iter()
        .flat_map(Program::blocks)
        .filter_map(|block| block.label.as_ref())
        .collect();
    let line = |label: &str| {
        let mean = launch.active_lanes_mean_expected(label, width).unwrap();
        format!("{label} {mean:?} {:?}\n", launch.counts_expected(label, width).unwrap())
    };
    labels.into_iter().map(|label| line(label)).collect()
}

/// The executions and lanes of the blocks that ran, and of those with a label, dispatch by
/// dispatch.
fn count_blocks(launch: &Launch, programs: &[Program], width: u32) -> String {
    let mut runner = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX)
        .schedule(Schedule::InOrder, Some(1));
    let request = CountRequest::once(Method::Executed);
    let counted = match runner.count_once(launch, &request) {
        Ok(counted) => counted,
        Err(error) => return digest(&error.to_string()),
    };
    let mut all = String::new();
    for (dispatch, program) in counted.dispatches.iter().zip(programs) {
        let mut blocks: Vec<String> = dispatch
            .counts
            .iter()
            .zip(program.blocks())
            .filter(|(count, _)| count.lanes.0 > 0)
            .map(|(count, block)| {
                let label = block.label.as_deref().unwrap_or_default();
                format!("{} {} {label}", count.executions.0, count.lanes.0)
            })
            .collect();
        blocks.sort();
        writeln!(all, "{:?} {}", dispatch.workgroups, blocks.join(", ")).unwrap();
    }
    digest(&all)
}

/// The line of a kernel at a point.
fn line(kernel: &Kernel, point: &Point) -> String {
    let launch = |class, point: &Point| kernel.launch(class, point, SEED).unwrap();
    let quick = launch(DeviceClass::Quick, point);
    let gpu = launch(DeviceClass::Gpu, point);
    let mut line = format!("{} {}", digest(&plain(&quick, true)), digest(&plain(&gpu, false)));
    if kernel.language == KernelLanguage::Wgsl {
        let small = small(kernel, point);
        let programs = programs(&small);
        write!(line, " {}", digest(&expected(&small, &programs))).unwrap();
        for width in WIDTHS {
            if kernel.description.exempt_from_agreement.is_none() {
                write!(line, " {}", count_blocks(&small, &programs, width)).unwrap();
            }
        }
    }
    line
}

/// A launch that the simulator runs at once, where the kernel can be made small.
pub(crate) fn small(kernel: &Kernel, point: &Point) -> Launch {
    let mut chosen = point.clone();
    for (name, value) in ELEMENTS {
        let described = kernel.description.parameters.get(name);
        if !point.contains_key(name)
            && described.is_some_and(|parameter| parameter.values.is_empty())
        {
            chosen.insert(name.to_owned(), Value::Integer(value));
        }
    }
    let launch = kernel.launch(DeviceClass::Quick, &chosen, SEED);
    launch.unwrap_or_else(|_| kernel.launch(DeviceClass::Quick, point, SEED).unwrap())
}

/// The defaults, and each value of each parameter that lists them, with what goes with it.
fn points(kernel: &Kernel) -> Vec<Point> {
    let mut points = vec![Point::new()];
    for (name, parameter) in &kernel.description.parameters {
        for value in &parameter.values {
            let mut point = Point::from([(name.clone(), value.clone())]);
            let chosen = |combination: &&Combination| {
                combination.applies.get(name).is_some_and(|values| values.contains(value))
            };
            for combination in kernel.description.combinations.iter().filter(chosen) {
                point.extend(
                    combination.only.iter().map(|(name, all)| (name.clone(), all[0].clone())),
                );
            }
            points.push(point);
        }
    }
    points
}

fn key(id: &str, point: &Point) -> String {
    let chosen: String = point.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{id}{chosen}:")
}

/// A value as it stands in a line.
fn value(text: &str) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Integer(whole),
        (Err(_), Ok(real)) => Value::Real(real),
        (Err(_), Err(_)) => Value::Name(text.to_owned()),
    }
}

/// The kernel and the point that a line speaks of, as the catalogue has them today.
fn today<'a>(catalogue: &'a Catalogue, key: &str) -> Option<(&'a Kernel, Point)> {
    let mut words = key.split(' ');
    let id = words.next()?;
    let point: Point = words
        .filter_map(|word| word.split_once('='))
        .map(|(name, text)| (name.to_owned(), value(text)))
        .collect();
    let (id, point) = catalogue.today(id, &point);
    Some((catalogue.kernel(&id)?, point))
}

fn all_lines(catalogue: &Catalogue) -> Vec<String> {
    let all: Vec<(&Kernel, Point)> = catalogue
        .all()
        .flat_map(|kernel| points(kernel).into_iter().map(move |point| (kernel, point)))
        .collect();
    let text_of = |(kernel, point): &(&Kernel, Point)| {
        format!("{} {}", key(&kernel.id, point), line(kernel, point))
    };
    let mut lines: Vec<String> = all.par_iter().map(text_of).collect();
    lines.extend(runs(catalogue).into_iter().map(|(name, digest)| format!("{name}: {digest}")));
    lines
}

fn points_hold() {
    let catalogue = Catalogue::embedded().unwrap();
    if let Some(file) = std::env::var_os(TAKE) {
        program::write(Path::new(&file), all_lines(&catalogue).join("\n") + "\n");
    }
    let failures = Mutex::new(Vec::new());
    let lines: Vec<&str> = DIGESTS.lines().filter(|line| !line.starts_with("run ")).collect();
    assert!(lines.len() > 300, "{}", lines.len());
    lines.par_iter().for_each(|wanted| {
        let (key, digests) = wanted.split_once(": ").unwrap();
        let found = today(&catalogue, key).map(|(kernel, point)| line(kernel, &point));
        if found.as_deref() != Some(digests) {
            let found = found.unwrap_or_else(|| "no such kernel".to_owned());
            failures.lock().unwrap().push(format!("{wanted}\n  is now {found}"));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// Where no condition and no index follows what a seed makes anew, another seed gives the same counts.
fn seeds_decide_what_they_should() {
    let catalogue = Catalogue::embedded().unwrap();
    let small = |kernel: &&Kernel| {
        let elements =
            ELEMENTS.iter().filter(|(name, _)| kernel.description.parameters.contains_key(*name));
        let point: Point =
            elements.map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
        kernel.launch(DeviceClass::Quick, &point, SEED).ok()
    };
    let launches: Vec<Launch> = catalogue
        .all()
        .filter_map(|kernel| small(&kernel))
        .filter(Launch::depends_on_seed)
        .collect();
    let (decided, free): (Vec<_>, Vec<_>) = launches.into_iter().partition(counts_depend_on_seed);
    let names = |launches: &[Launch]| -> Vec<String> {
        launches.iter().map(|launch| launch.kernel.clone()).collect()
    };
    for decides in ["five_patterns/early_exit", "grain/trips", "vote/early_exit"] {
        assert!(names(&decided).contains(&decides.to_owned()), "{:?}", names(&free));
    }
    assert!(free.len() > 15, "{:?}", names(&free));
    let differs = |launch: &Launch| {
        let mut simulator = SimulatorRunner::new(Width::W32, STEPS_MAX);
        let request = CountRequest::once(Method::Executed);
        let other = Launch { seed: launch.seed + 1, ..launch.clone() };
        let [counted, other] = [launch, &other].map(|l| simulator.count_once(l, &request).unwrap());
        assert_ne!(counted.outputs_sha256, BTreeMap::new(), "{}", launch.kernel);
        (counted.dispatches != other.dispatches).then(|| launch.kernel.clone())
    };
    let wrong: Vec<String> = free.par_iter().filter_map(differs).collect();
    assert_eq!(wrong, [""; 0]);
}

/// What a run of each family measures without asking, on a GPU and elsewhere: every launch of the
/// default points and of the sweeps.
fn runs(catalogue: &Catalogue) -> BTreeMap<String, String> {
    let mut launches: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for kernel in catalogue.all() {
        for (class, name) in [(DeviceClass::Gpu, "gpu"), (DeviceClass::Quick, "quick")] {
            let mut points = kernel.points(&Point::new());
            for sweep in &kernel.description.sweeps {
                if class == DeviceClass::Gpu || !sweep.gpu_only {
                    points.extend(sweep.points(&Point::new()));
                }
            }
            let family = launches.entry(format!("run {} {name}", kernel.family())).or_default();
            for point in points {
                let launch = kernel.launch(class, &point, SEED).unwrap();
                family.insert(digest(&plain(&launch, false)));
            }
        }
    }
    let text_of = |(name, all): (String, BTreeSet<String>)| {
        let joined: Vec<String> = all.iter().cloned().collect();
        (name, format!("{} {}", all.len(), digest(&joined.join(" "))))
    };
    launches.into_iter().map(text_of).collect()
}

fn families_hold() {
    let found = runs(&Catalogue::embedded().unwrap());
    for wanted in DIGESTS.lines().filter(|line| line.starts_with("run ")) {
        let (name, digest) = wanted.split_once(": ").unwrap();
        assert_eq!(found.get(name).map(String::as_str), Some(digest), "{name}");
    }
}

/// Kernels of committed records have the names and parameters of today once they are renewed, none
/// is taken for another, and a record has everything in common with itself renewed.
fn records_hold() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut renamed = BTreeSet::new();
    let files = records::files();
    // The index, which a check of its own holds to the records, has as many.
    assert_eq!(files.len(), INDEX.matches("[[record]]").count());
    for path in files.values() {
        let run = lanescope::store::load(path).unwrap();
        let mut renewed = run.clone();
        catalogue.renew(&mut renewed);
        let keys = |run: &Run| {
            let key = |measurement: &Measurement| {
                (
                    measurement.device.clone(),
                    measurement.kernel.clone(),
                    format!("{:?}", measurement.parameters),
                )
            };
            run.measurements.iter().map(key).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(keys(&run), keys(&renewed));
        for (old, new) in run.measurements.iter().zip(&renewed.measurements) {
            let Some(known) = catalogue.all().find(|kernel| kernel.id == new.kernel) else {
                // A user's shader, or a variant that was tried once.
                assert_eq!(old.kernel, new.kernel);
                continue;
            };
            let sorts = known.description.parameters.contains_key("sort");
            assert_eq!(new.parameters.contains_key("sort"), sorts, "{}", old.kernel);
            if old.kernel != new.kernel {
                renamed.insert(old.kernel.clone());
            }
        }
        // What is called as it was compares as it did.
        if run.measurements != renewed.measurements {
            let rows = |run: &Run| compare(run, run, false).rows.len();
            assert_eq!(rows(&run), rows(&renewed));
        }
    }
    let families = catalogue.families().flat_map(|(_, family)| &family.renamed);
    let gone: BTreeSet<String> = families
        .filter(|family| family.from != family.to)
        .map(|family| family.from.clone())
        .collect();
    assert_eq!(renamed, gone, "each of them stands in a record");
}
