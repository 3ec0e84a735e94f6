//! The CUDA translation without a GPU: NVRTC compiles it, and it reads well.
//!
//! Input: the catalogue, `tests/wgsl`, random programs; NVRTC in the folders that `LANESCOPE_NVRTC`
//! names; the system's C++ compiler. Output: trials. Compiled for a processor, with lanes that run in
//! a random order ([`lockstep`]), translations give the simulator's counts and outputs. Where no NVRTC
//! knows an architecture its trial is *ignored* with the reason, and `LANESCOPE_REQUIRE=nvrtc` turns
//! that into a failure; `LANESCOPE_REQUIRE=lockstep` asks for the C++ compiler, `cupti` and
//! `cupti_headers` for what [`cupti`] needs. The snapshot of
//! emitted C++ is `tests/cuda/translated.snap`; renew it with `INSTA_UPDATE=always cargo test
//! --release --test main cuda::` and read the difference before it is committed.

mod cupti;
mod lockstep;
mod native;

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lanescope::instrument::{CounterScheme, Instrumented, Options as Instrumentation};
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, Launch, SEED};
use lanescope::program::{Overrides, Parsed, Program};
use lanescope::record::{self, Value};
use lanescope::run::CountRequest;
use lanescope::run::cuda::embedded::{self, PtxIndex, Stale};
use lanescope::run::cuda::nvrtc::{Image, Nvrtc, VARIABLE};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::translate::{Checks, Options, Translated, WIDTH, cuda};
use lanescope::units::Width;
use libtest_mimic::{Completion, Failed, Trial};
use rayon::prelude::*;

use self::lockstep::Lockstep;
use crate::corpus;
use crate::support::agreement;
use crate::support::random_program::Options as Randomness;
use crate::support::side_by_side::{Comparison, compare_launch};
use crate::support::{required, trial_needing, trials_of};

/// The architecture that everything compiles for, Hopper; the others share what comes before their own code.
const MAIN_ARCHITECTURE: u32 = 90;

/// The others that a translation must compile for: Turing, Ampere, Blackwell.
const OTHERS: [u32; 3] = [75, 80, 120];

/// Random programs for the main architecture.
const PROGRAMS: u64 = 120;

/// Random programs for each other: they say nothing that the corpus, which has every form, does not.
const PROGRAMS_OTHER: u64 = 12;

/// Set to anything, every architecture compiles every shader with every kind of counters.
const LONGER: &str = "LANESCOPE_NVRTC_LONGER";

/// What random programs contain: the translation covers no textures.
const RANDOM: Randomness = Randomness { textures: false, ..Randomness::ALL };

/// Random programs that run on the processor.
const LOCKSTEP_PROGRAMS: u64 = 24;

/// Shaders of `tests/wgsl` whose translation is shown.
const SHOWN: [&str; 9] = [
    "atomic_compare_exchange",
    "call_pointers",
    "loop_break_if",
    "matrix_transform",
    "pack_unpack",
    "subgroup_loop",
    "switch_in_loop",
    "uniform_full",
    "workgroup_uniform_load",
];

/// All trials.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials_of(&[
        ("cuda::translations_read_as_their_snapshots", snapshots),
        ("cuda::what_has_no_translation_is_refused_with_its_place", refusals),
        ("cuda::embedded_ptx_is_what_its_index_says", embedded_ptx),
    ]);
    trials.push(Trial::ignorable_test("cuda::embedded_ptx_is_of_todays_texts", stale_ptx));
    trials.push(trial_needing(
        "cuda::cupti_is_laid_out_as_its_headers_say",
        cupti::headers_missing(),
        "cupti_headers",
        cupti::layouts,
    ));
    trials.push(trial_needing(
        "cuda::cupti_can_be_loaded",
        cupti::library_missing(),
        "cupti",
        cupti::loads,
    ));
    let checks: [(&str, fn()); 4] = [
        ("cuda::lockstep_runs_kernels_in_cuda_as_their_references_say", native::runs),
        ("cuda::lockstep_counts_the_corpus_as_the_simulator", lockstep_corpus),
        ("cuda::lockstep_counts_the_catalogue_as_the_simulator", lockstep_catalogue),
        ("cuda::lockstep_counts_random_programs_as_the_simulator", lockstep_random),
    ];
    for (title, check) in checks {
        trials.push(trial_needing(title, lockstep::missing(), "lockstep", check));
    }
    trials.extend(native::trials());
    for architecture in OTHERS.into_iter().chain([MAIN_ARCHITECTURE]) {
        let title = format!("cuda::nvrtc_compiles_everything_for_sm_{architecture}");
        let found = compiler(architecture);
        let missing = found.as_ref().err().cloned();
        trials.push(trial_needing(title, missing, "nvrtc", move || {
            compiles_everything(&found.unwrap(), architecture);
        }));
    }
    trials
}

/// The first NVRTC that knows an architecture.
fn compiler(architecture: u32) -> Result<Nvrtc, String> {
    let mut why = format!("{VARIABLE} names no NVRTC");
    for folder in std::env::split_paths(&std::env::var_os(VARIABLE).unwrap_or_default()) {
        match Nvrtc::load_from(&folder) {
            Ok(found) if found.architectures().contains(&architecture) => return Ok(found),
            Ok(found) => why = format!("NVRTC {:?} does not know it", found.version()),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// A program with its name.
struct Named {
    name: String,
    program: Program,
    origin: Origin,
}

/// Where a program is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Catalogue,
    Corpus,
    Random,
}

/// Every entry point of a text, with its overrides' defaults.
fn programs(name: &str, text: &str, origin: Origin) -> Vec<Named> {
    let parsed = Parsed::new(&format!("{name}.wgsl"), text).unwrap_or_else(|e| panic!("{e}"));
    let programs = parsed.entry_points().into_iter().map(|entry| Named {
        name: format!("{name}_{entry}"),
        program: parsed.resolve(entry, &Overrides::new()).unwrap_or_else(|e| panic!("{e}")),
        origin,
    });
    programs.collect()
}

/// The text of a kernel, and those that values of its parameters make of it.
fn sources(kernel: &Kernel) -> Vec<String> {
    let parameters = kernel.description.parameters.iter();
    let values =
        parameters.flat_map(|(name, parameter)| parameter.values.iter().map(move |v| (name, v)));
    let launch = |(name, value): (&String, &Value)| {
        let chosen = BTreeMap::from([(name.clone(), value.clone())]);
        Some(kernel.launch(DeviceClass::Quick, &chosen, SEED).ok()?.source)
    };
    let made: BTreeSet<String> = values.filter_map(launch).collect();
    let others = made.into_iter().filter(|source| *source != kernel.source);
    once(kernel.source.clone()).chain(others).collect()
}

/// Every entry point of the catalogue and of `tests/wgsl`.
fn shaders() -> Vec<Named> {
    let mut all = Vec::new();
    for kernel in Catalogue::embedded().unwrap().kernels() {
        let mut seen = BTreeSet::new();
        for source in sources(kernel) {
            let more = programs(kernel.name(), &source, Origin::Catalogue);
            all.extend(more.into_iter().filter(|kernel| seen.insert(kernel.name.clone())));
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "wgsl")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        all.extend(programs(name, &text, Origin::Corpus));
    }
    all
}

fn translated(program: &Program, method: Option<CounterScheme>, checks: Checks) -> Translated {
    let options = Options { checks, zero_memory: true };
    let made = match method {
        None => cuda(program.module(), program.info(), program.text(), &options),
        Some(method) => {
            let how = Instrumentation {
                method,
                subgroup_width_max: 32,
                counter_bytes_max: 1 << 22,
                workgroups: Some([64, 1, 1]),
            };
            let made = Instrumented::new(program, &how).unwrap_or_else(|e| panic!("{e}"));
            cuda(made.module(), made.info(), program.text(), &options)
        }
    };
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// The ways in which a program is compiled: plainly, and with counters.
///
/// The main architecture compiles every shader plainly and with one or two of the four kinds of counters
/// in turn, and one random program in four with one. What comes before an architecture's own code is the
/// same for all of them, so that each shader is compiled for one of the others, in turn: those of the corpus
/// plainly, those of the catalogue plainly or with counters. All of it on all of them is left to a run with
/// `LANESCOPE_NVRTC_LONGER` set, which takes a quarter of an hour on two cores.
fn methods(named: &Named, index: usize, architecture: u32) -> Vec<Option<CounterScheme>> {
    let all = [
        CounterScheme::Executed,
        CounterScheme::Derived,
        CounterScheme::Histogram,
        CounterScheme::Estimated,
    ];
    let width = Some(all[index / 2 % 4]);
    let main = architecture == MAIN_ARCHITECTURE;
    let turn = OTHERS.iter().position(|other| *other == architecture).unwrap_or_default();
    match named.origin {
        _ if std::env::var_os(LONGER).is_some() => once(None).chain(all.map(Some)).collect(),
        Origin::Corpus if main => vec![None, Some(all[index % 4]), Some(all[(index + 1) % 4])],
        Origin::Catalogue if main => vec![None, Some(all[index % 4])],
        Origin::Random if main && index.is_multiple_of(4) => vec![None, Some(all[index / 4 % 4])],
        Origin::Catalogue | Origin::Corpus if index % OTHERS.len() != turn => Vec::new(),
        // Of three in a row one is this architecture's, and of those every other one is an even one.
        Origin::Catalogue if index.is_multiple_of(2) => vec![width],
        Origin::Catalogue | Origin::Corpus | Origin::Random => vec![None],
    }
}

/// Plain and with counters, checked and unchecked in turn: catalogue, corpus, random programs.
fn compiles_everything(compiler: &Nvrtc, architecture: u32) {
    let mut all = shaders();
    assert!(all.len() >= 150, "{}", all.len());
    let first = u64::from(architecture) * PROGRAMS;
    let longer = std::env::var_os(LONGER).is_some();
    let main = architecture == MAIN_ARCHITECTURE || longer;
    let count = if main { PROGRAMS } else { PROGRAMS_OTHER };
    all.extend((first..first + count).map(|seed| {
        let text = agreement::program(seed, RANDOM).to_string();
        programs(&format!("random_{seed}"), &text, Origin::Random).swap_remove(0)
    }));
    native::compile(compiler, architecture);
    let failures = Mutex::new(Vec::new());
    let (held, compiled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // PTX only: what makes machine code of it in the field is the driver, or a newer NVRTC.
    let target = format!("compute_{architecture}");
    (0..all.len()).into_par_iter().for_each(|index| {
        let Named { name, program, .. } = &all[index];
        for method in methods(&all[index], index, architecture) {
            // By twos: every other one of the catalogue has counters elsewhere than on the main one.
            let checks = if index / 2 % 2 == 0 { Checks::Checked } else { Checks::Unchecked };
            let made = translated(program, method, checks);
            let failed = match compiler.compile_for(&made.source, &target) {
                Ok(image) => {
                    compiled.fetch_add(1, Ordering::Relaxed);
                    let found = constants(&image);
                    held.fetch_add(found.len(), Ordering::Relaxed);
                    let known =
                        |name: &&String| made.constants.iter().any(|c| c.symbol() == **name);
                    found
                        .iter()
                        .find(|name| !known(name))
                        .map(|name| format!("nobody fills {name}"))
                }
                Err(error) => Some(error.to_string()),
            };
            if let Some(error) = failed {
                failures.lock().unwrap().push(format!("{name} {method:?} {checks:?}: {error}"));
            }
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let held = held.into_inner();
    let (least, compiled) = (if main { 100 } else { 30 }, compiled.into_inner());
    assert!(held >= least, "{held} uniform buffers in constant memory");
    assert!(compiled >= least, "{compiled} texts were compiled");
    // The check can fail.
    assert!(compiler.compile_for("__global__ void f() { g(); }", &target).is_err());
}

/// The variables in constant memory that PTX shows to whoever loads it.
fn constants(image: &Image) -> Vec<String> {
    let ptx = String::from_utf8_lossy(&image.bytes);
    let declared = ptx.lines().filter(|line| line.starts_with(".const "));
    let words = declared.flat_map(|line| line.split([' ', '[', ';']));
    words.filter(|word| word.starts_with("_ZN4wgsl")).map(str::to_owned).collect()
}

/// Executed, derived and with histograms in turn: outputs and each block's counts.
fn lockstep(launches: &[Launch]) -> Vec<Comparison> {
    lockstep_by(launches, |index| match index % 3 {
        1 => CountRequest::once(record::Method::Executed).with_histogram(),
        2 => CountRequest::once(record::Method::Derived),
        _ => CountRequest::once(record::Method::Executed),
    })
}

/// Outputs and each block's counts, counted as `options` says of each launch.
fn lockstep_by(
    launches: &[Launch],
    options: impl Fn(usize) -> CountRequest + Sync,
) -> Vec<Comparison> {
    let failures = Mutex::new(Vec::new());
    let compared = Mutex::new(Vec::new());
    launches.par_iter().enumerate().for_each(|(index, launch)| {
        let options = options(index);
        let mut simulator = SimulatorRunner::new(Width::new(WIDTH).unwrap(), STEPS_MAX);
        match compare_launch(launch, None, options, &mut Lockstep::new(), &mut simulator) {
            Ok(comparison) => {
                let differences =
                    comparison.differences.iter().chain(&comparison.differences_in_issues);
                for difference in differences {
                    let failure = format!("{} {options:?}: {difference}", launch.kernel);
                    failures.lock().unwrap().push(failure);
                }
                compared.lock().unwrap().push(comparison);
            }
            Err(error) => {
                let failure = format!("{} {options:?}: {error}", launch.kernel);
                failures.lock().unwrap().push(failure);
            }
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
    compared.into_inner().unwrap()
}

fn lockstep_corpus() {
    let compared = lockstep(&corpus::launches());
    assert!(compared.len() >= 60, "{}", compared.len());
    let blocks: usize = compared.iter().map(|comparison| comparison.blocks).sum();
    let idle: usize = compared.iter().map(|comparison| comparison.blocks_idle).sum();
    assert!(idle * 20 < blocks, "{idle} of {blocks} blocks are idle");
    let vectors = corpus::launches_of_threes();
    assert_eq!(lockstep(&vectors).len(), vectors.len());
}

fn lockstep_catalogue() {
    let catalogue = Catalogue::embedded().unwrap();
    let n = Value::Integer(600);
    let launches: Vec<Launch> = catalogue
        .kernels()
        .filter(|kernel| ["five_patterns", "hot_loops"].contains(&kernel.family()))
        .map(|kernel| {
            let parameters = [("n".to_owned(), n.clone())].into();
            kernel.launch(DeviceClass::Quick, &parameters, SEED).unwrap()
        })
        .collect();
    assert!(launches.len() >= 15, "{}", launches.len());
    let derived = CountRequest::once(record::Method::Derived);
    for compared in [lockstep(&launches), lockstep_by(&launches, |_| derived)] {
        assert_eq!(compared.len(), launches.len());
    }
}

fn lockstep_random() {
    // Other seeds than NVRTC's.
    let launches: Vec<Launch> = (0..LOCKSTEP_PROGRAMS)
        .map(|seed| agreement::launch(&agreement::program(seed, RANDOM), seed))
        .collect();
    let compared = lockstep(&launches);
    assert_eq!(compared.len() as u64, LOCKSTEP_PROGRAMS);
    assert!(compared.iter().all(|comparison| comparison.blocks >= 20));
}

/// The five patterns as they are timed, and some of the corpus, checked.
fn snapshots() {
    insta::with_settings!({
        snapshot_path => ".",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        let mut shown = Vec::new();
        for Named { name, program, origin } in shaders() {
            let pattern = origin == Origin::Catalogue && name.ends_with("_sealed");
            let chosen = origin == Origin::Corpus && SHOWN.iter().any(|shown| {
                let rest = name.strip_prefix(shown);
                rest.is_some_and(|rest| rest.starts_with('_') && !rest[1..].contains('_'))
            });
            let checks = match (pattern, chosen) {
                (true, _) => Checks::Unchecked,
                (false, true) => Checks::Checked,
                (false, false) => continue,
            };
            let source = translated(&program, None, checks).source;
            shown.push(format!("// {name}\n{}\n", source.trim_end()));
        }
        assert!(shown.len() >= SHOWN.len() + 5, "{}", shown.len());
        insta::assert_snapshot!("translated", shown.join("\n"));
    });
}

/// The archive holds what its index lists, and nothing else.
fn embedded_ptx() {
    let index = PtxIndex::embedded().unwrap();
    let files = embedded::embedded();
    assert_eq!((index.nvrtc.as_str(), index.architecture.as_str()), ("12.4", "compute_75"));
    assert_eq!(index.texts.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
    assert!(files.len() >= 150, "{}", files.len());
    for (key, ptx) in files {
        let ptx = std::str::from_utf8(ptx).unwrap();
        assert!(ptx.contains("\n.version 8.4\n.target sm_75\n"), "{key}");
        let name = index.texts[key].entry_point.as_deref().unwrap_or_default();
        assert!(ptx.contains(&format!(".visible .entry {name}")), "{key}: {}", index.texts[key]);
    }
}

/// There is PTX of every text that must have some, and of no other: a kernel or a translation that
/// has changed makes its PTX stale. That is a skip that is listed, so that nobody needs NVRTC to
/// change a kernel; `LANESCOPE_REQUIRE=ptx` makes it a failure.
fn stale_ptx() -> Result<Completion, Failed> {
    let texts = embedded::texts().unwrap();
    let stale = PtxIndex::embedded().unwrap().stale(&texts);
    if stale == Stale::default() {
        return Ok(Completion::Completed);
    }
    let kernels: BTreeSet<&str> = stale.missing.values().map(|row| row.kernel.as_str()).collect();
    let summary = format!(
        "stale: {} of {}, left over: {}; docs/contributing/development.md says how to renew them: {}",
        stale.missing.len(),
        texts.len(),
        stale.left_over.len(),
        kernels.into_iter().collect::<Vec<_>>().join(", ")
    );
    if required("ptx") { Err(summary.into()) } else { Ok(Completion::ignored_with(summary)) }
}

/// The first thing without a translation is named with its line and column.
fn refusals() {
    let text = "@group(0) @binding(0) var<storage, read_write> output: array<vec4<f32>>;
@group(0) @binding(1) var image: texture_2d<f32>;

@compute @workgroup_size(32)
fn main() {
    output[0] = textureLoad(image, vec2(0, 0), 0);
}";
    let program = programs("refused", text, Origin::Corpus).swap_remove(0).program;
    let options = Options { checks: Checks::Checked, zero_memory: true };
    let error = cuda(program.module(), program.info(), program.text(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "refused.wgsl:2:23: the CUDA translation does not cover `image`, which is no buffer"
    );
}
