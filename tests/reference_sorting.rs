//! The committed results of sorting, then dispatching: as fast as was asked for, and as README and
//! `results/README.md` state them.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

mod records;

use std::path::{Path, PathBuf};

use lanescope::analyze::{self, ModelRow};
use lanescope::record::{PeerRow, Value};

use crate::records::load;

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn peers() -> Vec<PeerRow> {
    let path = results().join("reference/nvidia-h200/peers.json");
    lanescope::store::load_peers(&path).unwrap().rows
}

/// A text on one line, so that it may break lines anywhere.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(path).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn readme() -> String {
    text("README.md")
}

fn guide() -> String {
    text("results/README.md")
}

#[test]
fn partitions_are_as_fast_as_asked_for_on_the_h200() {
    let rows = peers();
    let asked = [
        ("permutation_8", 26, "cub", 2.0),
        ("permutation_8", 26, "torch", 8.0),
        ("pairs_8", 26, "cub", 1.25),
        ("pairs_256", 26, "cub", 1.0),
        ("permutation_8", 16, "cub", 2.0),
    ];
    for (work, pow2, peer, ratio) in asked {
        let row = rows.iter().find(|row| {
            (row.work.as_str(), row.n, row.peer.as_str()) == (work, 1 << pow2, peer)
                && row.device == "NVIDIA H200"
        });
        let row = row.unwrap_or_else(|| panic!("{work} of 2^{pow2} beside {peer}"));
        assert!(row.speed_ratio >= ratio, "{work} of 2^{pow2}: {}", row.speed_ratio);
        if (work, pow2) == ("permutation_8", 26) {
            assert!(row.median_ns <= 245e3, "{} ns", row.median_ns);
        }
    }
}

#[test]
fn the_partitions_beside_peers_that_the_guide_states_are_in_the_record() {
    let readme = readme();
    let mut stated = 0;
    for row in peers() {
        let (what, bits) = match row.work.as_str() {
            "permutation_8" => ("permutation by class, 8 classes", 3),
            "pairs_8" => ("class and payload in order, 8 classes", 3),
            "pairs_256" => ("class and payload in order, 256 classes", 8),
            _ => continue,
        };
        let peer = match row.peer.as_str() {
            "cub" => format!("`cub::DeviceRadixSort::SortPairs`, {bits} bits"),
            _ => "`torch.argsort(stable=True)`".to_owned(),
        };
        let line = format!(
            "| {what} | 2^{} | {peer} | {:.1} µs | {:.1} µs | {:.2}× | {:.2} | – | – |",
            row.n.ilog2(),
            row.peer_median_ns / 1e3,
            row.median_ns / 1e3,
            row.speed_ratio,
            row.copy_rate_ratio,
        );
        // The guide leaves out pairs of 2^16.
        if row.n == 1 << 26 || row.work == "permutation_8" {
            assert!(readme.contains(&line), "{line}");
            stated += 1;
        }
    }
    assert_eq!(stated, 6);
}

/// Peers are timed by CUDA events, lanescope by Vulkan's timestamps: what says that no ratio is the clocks'.
#[test]
fn both_clocks_give_a_copy_the_same_rate() {
    let run = load("h200-cuda-vulkan/sort-permutation-timers");
    let rates: Vec<f64> = run.devices.iter().filter_map(|one| one.copy_bytes_per_s).collect();
    let [events, timestamps] = rates[..] else { panic!("{rates:?}") };
    assert!((events / timestamps - 1.0).abs() < 0.002, "{rates:?}");
    let of = |device: &str| {
        let found = run.measurements.iter().find(|one| one.device == device).unwrap();
        found.time.as_ref().unwrap().median_ns.0
    };
    assert!(of("wgpu:0") < of("cuda:0"));
    let rows = peers();
    let cub = rows.iter().find(|row| {
        (row.work.as_str(), row.n, row.peer.as_str()) == ("permutation_8", 1 << 26, "cub")
    });
    let cub = cub.unwrap().peer_median_ns;
    let said = format!(
        "{:.2} TB/s (`h200-cuda-vulkan/sort-permutation-timers`). Compiled by NVRTC and timed by events, \
         `sort/permutation` takes {:.0} µs, {:.2} times as fast as CUB's {:.0}",
        events / 1e12,
        of("cuda:0") / 1e3,
        cub / of("cuda:0"),
        cub / 1e3
    );
    assert!(guide().contains(&said), "{said}");
}

/// The row of a kernel with these parameters.
fn row<'a>(rows: &'a [ModelRow], kernel: &str, parameters: &[(&str, Value)]) -> &'a ModelRow {
    let found = rows.iter().find(|row| {
        row.kernel == kernel
            && parameters.iter().all(|(name, value)| row.parameters.get(*name) == Some(value))
    });
    found.unwrap_or_else(|| panic!("no {kernel} with {parameters:?}"))
}

#[test]
fn a_mixture_of_experts_gains_what_counting_predicts() {
    let run = load("h200-vulkan/moe-all");
    let rows = analyze::model(&run);
    let asked = [("n", 1 << 18), ("model", 64), ("hidden", 256)]
        .map(|(name, value)| (name, Value::Integer(value)));
    let sorted = row(&rows, "moe/sorted", &asked);
    let (counted, measured) = (sorted.speedup_counted.unwrap(), sorted.speedup_measured.unwrap());
    assert!(measured >= 0.8 * counted, "{measured} of {counted}");
    let separate = row(&rows, "moe/separate", &asked);
    let said = format!(
        "A mixture of experts with 262,144 tokens is {measured:.1} times as fast sorted as with \
         branches, and {:.1} times with a launch for each expert; counting predicts {counted:.1}",
        separate.speedup_measured.unwrap()
    );
    assert!(readme().contains(&said), "{said}");
}

/// README states for each device where sorting pays in the words of `report`; sparse maps and attention on
/// CPU drivers stand in `results/README.md`.
#[test]
fn the_crossovers_that_the_guide_states_are_in_the_records() {
    let stated = |text: &str, records: &[&str]| {
        let mut count = 0;
        for record in records {
            for sentence in analyze::crossover_sentences(&load(record)) {
                assert!(text.contains(&sentence), "{record}: {sentence}");
                count += 1;
            }
        }
        count
    };
    let of_readme = [
        "h200-vulkan/sort-curves",
        "h200-cuda/sort-curves",
        "lavapipe-4/sort-eight-arms",
        "lavapipe-8/sort-curves",
        "lavapipe-16/sort-eight-arms",
        "swiftshader/sort-curves",
        "h200-vulkan/moe-all",
        "h200-cuda/moe-tokens",
        "lavapipe-4/moe-tokens",
        "lavapipe-8/moe-tokens",
        "lavapipe-16/moe-tokens",
        "swiftshader/moe-tokens",
        "h200-vulkan/sparse-all",
        "h200-cuda/sparse-all",
        "h200-vulkan/sparse-attention",
    ];
    assert_eq!(stated(&readme(), &of_readme), 20);
    let of_guide = [
        "lavapipe-4/sparse-maps",
        "lavapipe-8/sparse-maps",
        "lavapipe-16/sparse-maps",
        "swiftshader/sparse-maps",
        "lavapipe-4/sparse-attention",
        "lavapipe-8/sparse-attention",
        "lavapipe-16/sparse-attention",
        "swiftshader/sparse-attention",
    ];
    assert_eq!(stated(&guide(), &of_guide), 12);
}

/// Where `sort/sorted` begins to pay for each number of arms, as README's table has it.
#[test]
fn the_table_of_crossovers_is_that_of_the_record() {
    let tables = analyze::crossover_tables(&load("h200-vulkan/sort-curves"));
    let [table] = tables.as_slice() else { panic!("{} tables", tables.len()) };
    let kernel = table.kernels.iter().position(|kernel| kernel == "sorted").unwrap();
    let place = |name: &str| table.parameters.iter().position(|one| one == name).unwrap();
    let (arms, classes, input) = (place("arms"), place("classes"), place("input"));
    let words = |form: &str, k: &str, lie: &str| {
        let found = table.rows.iter().find(|row| {
            let of = |at: usize| row.parameters[at].as_str();
            (of(arms), of(classes), of(input)) == (form, k, lie)
        });
        found.unwrap().crossovers[kernel].clone().unwrap()
    };
    let readme = readme();
    for k in ["2", "4", "8", "16", "32"] {
        let line = format!(
            "| {k} | {} | {} |",
            words("equal", k, "random"),
            words("unequal", k, "random")
        );
        assert!(readme.contains(&line), "{line}");
        for (form, lie) in [
            ("equal", "clustered"),
            ("equal", "ordered"),
            ("unequal", "clustered"),
            ("unequal", "ordered"),
        ] {
            assert_eq!(words(form, k, lie), "at no n from 64 to 67,108,864");
        }
    }
}

/// The least and the most of some speed-ups, in the words of README.
fn span(rows: &[ModelRow], chosen: impl Fn(&ModelRow) -> bool, digits: usize) -> String {
    let of = rows.iter().filter(|row| chosen(row)).map(|row| row.speedup_measured.unwrap());
    let (least, most) =
        of.fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(one), high.max(one)));
    format!("{least:.digits$} to {most:.digits$} times")
}

#[test]
fn what_sorting_gains_is_as_the_guide_states() {
    let readme = readme();
    let stated = |said: &str| assert!(readme.contains(said), "{said}");
    let sorted = |row: &ModelRow| row.kernel == "sort/sorted";
    let arms = analyze::model(&load("h200-vulkan/sort-arms"));
    let random = |row: &ModelRow| row.parameters["input"] == Value::Name("random".to_owned());
    let costs = span(&arms, |row| sorted(row) && !random(row), 2);
    stated(&format!("{costs} the speed at 1,048,576 elements"));
    let equal = ("arms", Value::Name("equal".to_owned()));
    let gain = |k: i64| {
        let wanted = [
            ("classes", Value::Integer(k)),
            ("input", Value::Name("random".to_owned())),
            equal.clone(),
        ];
        row(&arms, "sort/sorted", &wanted).speedup_measured.unwrap()
    };
    let (two, most) = (gain(2), gain(32));
    stated(&format!("Of 1,048,576 elements 2 arms gain {two:.2} times, 32 arms {most:.1} times"));
    let experts = analyze::model(&load("h200-vulkan/moe-sizes"));
    let gains = span(&experts, |row| row.kernel == "moe/sorted", 1);
    stated(&format!("64 to 512 hidden units it gains {gains}"));
    let tops = analyze::model(&load("h200-vulkan/moe-top"));
    let spans = ["even", "skewed"].map(|routing| {
        let of_two = |row: &ModelRow| {
            row.kernel == "moe/sorted"
                && row.parameters["top"] == Value::Integer(2)
                && row.parameters["routing"] == Value::Name(routing.to_owned())
        };
        span(&tops, of_two, 1)
    });
    let [even, skewed] = spans;
    stated(&format!("hidden units {even}, and {skewed} where routing is skewed"));
}

/// What `sort/sorted` gains along the number of elements.
#[test]
fn what_sorting_gains_along_its_curve_is_as_the_guide_states() {
    let readme = readme();
    let stated = |said: &str| assert!(readme.contains(said), "{said}");
    let sorted = |row: &ModelRow| row.kernel == "sort/sorted";
    let whole = |row: &ModelRow, name: &str| match row.parameters[name] {
        Value::Integer(value) => value,
        _ => panic!("{name}"),
    };
    let curves = analyze::model(&load("h200-vulkan/sort-curves"));
    let usual = [
        ("classes", Value::Integer(8)),
        ("input", Value::Name("random".to_owned())),
        ("arms", Value::Name("equal".to_owned())),
    ];
    let of_eight = |row: &ModelRow| {
        let same = usual.iter().all(|(name, value)| row.parameters[*name] == *value);
        sorted(row) && same && (256..=65_536).contains(&whole(row, "n"))
    };
    let small = span(&curves, of_eight, 2);
    let large = [&usual[..], &[("n", Value::Integer(1 << 24))]].concat();
    let large = row(&curves, "sort/sorted", &large);
    stated(&format!(
        "From 256 to 65,536 elements 8 arms gain little, {small}, from there more: {:.1} times at \
         16,777,216",
        large.speedup_measured.unwrap()
    ));
    let [equal, unequal] = ["equal", "unequal"].map(|form| {
        let of_form = |row: &ModelRow| {
            sorted(row)
                && row.parameters["input"] == Value::Name("random".to_owned())
                && whole(row, "classes") == 32
                && whole(row, "n") >= 1 << 22
                && row.parameters["arms"] == Value::Name(form.to_owned())
        };
        span(&curves, of_form, 1)
    });
    let unequal = unequal.trim_end_matches(" times");
    stated(&format!(
        "and {equal} from 4,194,304 on (equal ones, as in all of this paragraph; unequal ones {unequal})"
    ));
    let gains = curves.iter().filter(|row| {
        sorted(row)
            && row.parameters["input"] != Value::Name("random".to_owned())
            && whole(row, "n") >= 1 << 22
    });
    let gains: Vec<f64> = gains.map(|row| row.speedup_measured.unwrap()).collect();
    assert_eq!(gains.len(), 60);
    assert!(gains.iter().all(|gain| *gain < 1.0), "{gains:?}");
}

#[test]
fn compaction_pays_for_heavy_bodies_only_as_the_guide_states() {
    let speedups = |name: &str| {
        let rows = analyze::model(&load(name));
        let of_map = |row: &ModelRow| row.kernel == "sparse/map_compact";
        rows.into_iter().filter(of_map).collect::<Vec<ModelRow>>()
    };
    let light: Vec<f64> = speedups("h200-vulkan/sparse-all")
        .iter()
        .filter(|row| row.parameters["rounds"] == Value::Integer(1))
        .map(|row| row.speedup_measured.unwrap())
        .collect();
    let least = light.iter().copied().fold(f64::INFINITY, f64::min);
    let most = light.iter().copied().fold(0.0, f64::max);
    let readme = readme();
    let said =
        format!("{least:.2} to {most:.2} times the branch's speed at densities from 1 to 0.01");
    assert!(readme.contains(&said), "{said}");
    let heavy = speedups("h200-vulkan/sparse-densities");
    let of = |rounds: i64| {
        let wanted = [("density", Value::Real(0.1)), ("rounds", Value::Integer(rounds))];
        row(&heavy, "sparse/map_compact", &wanted).speedup_measured.unwrap()
    };
    let said = format!("it gives {:.1} times, for 256 {:.1} times", of(64), of(256));
    assert!(readme.contains(&said), "{said}");
    let tables = analyze::crossover_tables(&load("h200-vulkan/sparse-densities"));
    let [table] = tables.as_slice() else { panic!("{} tables", tables.len()) };
    let kernel = table.kernels.iter().position(|kernel| kernel == "map_compact").unwrap();
    let rounds = table.parameters.iter().position(|one| one == "rounds").unwrap();
    assert_eq!(table.rows.len(), 4);
    for row in &table.rows {
        let words = row.crossovers[kernel].as_ref().unwrap();
        let line = format!("| {} | {words} |", row.parameters[rounds]);
        assert!(readme.contains(&line), "{line}");
    }
}

/// What listing keys and ordering queries give on the H200, from 1,024 to 8,192 keys.
#[test]
fn what_attention_gains_is_as_the_guide_states() {
    let runs = ["h200-vulkan/sparse-attention", "h200-vulkan/sparse-attention-8192"].map(load);
    let rows: Vec<ModelRow> = runs.iter().flat_map(analyze::model).collect();
    let of = |kernels: &'static [&'static str]| {
        move |row: &ModelRow| {
            let name = row.kernel.strip_prefix("sparse/attention_").unwrap();
            let in_runs = row.parameters.get("mask").is_some_and(|mask| mask.to_string() == "runs");
            kernels.contains(&name) && !in_runs
        }
    };
    let count = |chosen: &dyn Fn(&ModelRow) -> bool| rows.iter().filter(|row| chosen(row)).count();
    let readme = readme();
    // Two head dimensions and four sequences; with the order made before, twice as many.
    assert_eq!(count(&of(&["compact"])), 8);
    let said = format!("gains {} by listing keys first", span(&rows, of(&["compact"]), 1));
    assert!(readme.contains(&said), "{said}");
    let (ordered, alone) = (&["ordered", "ordered_before"], &["separate", "separate_before"]);
    assert_eq!((count(&of(ordered)), count(&of(alone))), (16, 16));
    let spans = [span(&rows, of(ordered), 2), span(&rows, of(alone), 2)];
    let said = format!(
        "{} the speed by one dispatch, {} by one for each of eight steps",
        spans[0],
        spans[1].trim_end_matches(" times")
    );
    assert!(readme.contains(&said), "{said}");
    // The sentence says never.
    let classes = analyze::model(&load("h200-vulkan/sparse-attention-classes"));
    assert_eq!(classes.len(), 4 * (2 + 2 * 6));
    for row in classes.iter().chain(rows.iter().filter(|row| row.baseline.ends_with("_queries"))) {
        assert!(row.speedup_measured.unwrap() < 1.0, "{row:?}");
    }
}

/// The arms that the formula expects of a subgroup, unequal ones and skewed experts among them, are what
/// counting gives of kernels whose sort is not in the counts or weighs little.
#[test]
fn the_arms_that_the_formula_expects_are_those_that_were_counted() {
    let mut compared = 0;
    for (record, kernel) in
        [("h200-vulkan/sort-all", "sort/sorted_before"), ("h200-vulkan/moe-routing", "moe/sorted")]
    {
        for row in analyze::model(&load(record)) {
            let large = !matches!(row.parameters["n"], Value::Integer(n) if n < 1 << 16);
            let found = row.arms_run.zip(row.speedup_counted);
            let Some((arms, counted)) = found.filter(|_| row.kernel == kernel && large) else {
                continue;
            };
            assert!((counted / arms - 1.0).abs() < 0.03, "{record}: {counted} of {arms}");
            compared += 1;
        }
    }
    // Five sizes; even, skewed and one expert, and even ones with two experts a token.
    assert!(compared >= 9, "{compared}");
}

/// With all tokens on one expert nothing diverges, and what sorting gains is not lanes.
#[test]
fn sorting_gains_by_shared_weights_where_counting_predicts_nothing() {
    let rows = analyze::model(&load("h200-vulkan/moe-routing"));
    let one = row(
        &rows,
        "moe/sorted",
        &[("routing", Value::Name("one".to_owned())), ("top", Value::Integer(1))],
    );
    assert!((0.9..1.1).contains(&one.speedup_counted.unwrap()));
    let said = format!("sorting still gives {:.1} times", one.speedup_measured.unwrap());
    assert!(readme().contains(&said), "{said}");
}

/// What the simulator counts before and after sorting, at the widths of warps and wavefronts.
#[test]
fn lanes_before_and_after_sorting_are_those_that_the_guide_states() {
    let run = load("simulator/sorting-widths");
    let lanes = |kernel: &str| {
        let of = |device: &str| {
            let found = run.measurements.iter().find(|m| m.kernel == kernel && m.device == device);
            format!("{:.1}", found.unwrap().active_lanes_mean.unwrap())
        };
        let [a, b, c] = ["sim:8", "sim:32", "sim:64"].map(of);
        format!("{a}, {b} and {c}")
    };
    let (before, after) = (lanes("sort/divergent"), lanes("sort/sorted"));
    let said = format!("{before} are active among eight arms, and {after} after sorting");
    assert!(readme().contains(&said), "{said}");
    let (before, after) = (lanes("sparse/attention_branch"), lanes("sparse/attention_compact"));
    let said =
        format!("{before} where a mask lets one key in ten pass, and {after} after listing keys");
    assert!(readme().contains(&said), "{said}");
}

/// A dispatch that Nsight Compute measured: the numbers that it printed, in its words, bytes and
/// nanoseconds for its larger units.
type Counters = std::collections::BTreeMap<String, f64>;

/// The last launches of a dispatch under the one command that has these words, as many as `count`.
fn launches(printed: &str, words: &str, dispatch: &str, count: usize) -> Vec<Counters> {
    let commands = printed
        .split("$ ncu ")
        .filter(|part| part.lines().next().is_some_and(|command| command.contains(words)));
    let [command] = commands.collect::<Vec<_>>()[..] else { panic!("commands with {words}") };
    let head = format!("\n  {dispatch} (");
    let found: Vec<&str> = command.rsplit(&head).take(count).collect();
    assert!(found.len() == count && command.split(&head).count() > count, "{dispatch} of {words}");
    found.into_iter().map(numbers).collect()
}

/// The last of them.
fn counters(printed: &str, words: &str, dispatch: &str) -> Counters {
    launches(printed, words, dispatch, 1).remove(0)
}

/// What was printed of one launch.
fn numbers(launch: &str) -> Counters {
    let lines = launch.lines().skip(1).take_while(|line| line.starts_with("    "));
    let number = |line: &str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let (name, value, unit) = match parts.as_slice() {
            [name, value] => (*name, *value, ""),
            [name, unit, value] => (*name, *value, *unit),
            _ => panic!("{line}"),
        };
        let scale = match unit {
            "Gbyte" => 1e9,
            "Mbyte" | "ms" => 1e6,
            "Kbyte" | "us" => 1e3,
            _ => 1.0,
        };
        (name.to_owned(), value.replace(',', "").parse::<f64>().unwrap() * scale)
    };
    lines.map(number).collect()
}

/// Several launches as one: amounts added up, ratios in instructions weighed by these, instructions a
/// cycle over all cycles.
fn together(launches: &[Counters]) -> Counters {
    let instructions = |one: &Counters| one["smsp__inst_executed.sum"];
    let all: f64 = launches.iter().map(instructions).sum();
    let value = |name: &String| {
        let sum = |of: &dyn Fn(&Counters) -> f64| launches.iter().map(of).sum::<f64>();
        if name.ends_with(".sum") {
            sum(&|one| one[name])
        } else if name.ends_with("per_cycle_active") {
            all / sum(&|one| instructions(one) / one[name])
        } else {
            sum(&|one| instructions(one) * one[name]) / all
        }
    };
    launches[0].keys().map(|name| (name.clone(), value(name))).collect()
}

/// The rows of the table of counters: the name, words of the command, the dispatch, and how many of its last
/// launches are one row.
const COUNTED: [(&str, &str, &str, usize); 21] = [
    (
        "`moe/naive`, 64 dimensions",
        "moe/naive -a n=262144 -a model=64 -a hidden=256 --",
        "naive",
        1,
    ),
    (
        "`moe/sorted`, its experts",
        "moe/sorted -a n=262144 -a model=64 -a hidden=256 --",
        "experts",
        1,
    ),
    ("`moe/naive`, all tokens on one expert", "routing=one", "naive", 1),
    ("`moe/naive`, 128 dimensions", "moe/naive -a n=262144 -a model=128", "naive", 1),
    ("`moe/sorted`, 128 dimensions", "moe/sorted -a n=262144 -a model=128", "experts", 1),
    ("`sort/divergent`, 2^24", "sort/divergent", "divergent", 1),
    ("`sort/sorted`, its arms", "sort/sorted", "ordered", 1),
    (
        "`attention_compact_before`, 2,048 keys",
        "compact_before -a density=0.1 -a head=128 -a sequence=2048",
        "listed",
        1,
    ),
    (
        "`attention_compact_before`, 8,192 keys",
        "compact_before -a density=0.1 -a head=128 -a sequence=8192",
        "listed",
        1,
    ),
    (
        "`attention_queries`, 8,192 keys",
        "queries -a density=0.1 -a head=128 -a sequence=8192",
        "by_query",
        1,
    ),
    (
        "`attention_ordered`, 8,192 keys",
        "ordered -a density=0.1 -a head=128 -a sequence=8192",
        "by_density",
        1,
    ),
    ("`map_branch`, 64 rounds", "map_branch -a rounds=64", "branch", 1),
    ("`map_compact`, its map", "map_compact -a rounds=64", "collected", 1),
    (
        "`moe/separate`, its eight experts",
        "moe/separate -a n=262144 -a model=64 -a hidden=256 --",
        "expert_alone",
        8,
    ),
    ("`sort/separate`, its eight arms", "sort/separate", "alone", 8),
    (
        "`attention_branch`, 2,048 keys",
        "attention_branch -a density=0.1 -a head=128 -a sequence=2048",
        "branch",
        1,
    ),
    (
        "`attention_branch`, 8,192 keys",
        "attention_branch -a density=0.1 -a head=128 -a sequence=8192",
        "branch",
        1,
    ),
    (
        "`attention_dense`, 8,192 keys",
        "attention_dense -a density=0.1 -a head=128 -a sequence=8192",
        "dense",
        1,
    ),
    (
        "`attention_compact`, 2,048 keys",
        "attention_compact -a density=0.1 -a head=128 -a sequence=2048",
        "compact",
        1,
    ),
    (
        "`attention_compact`, 8,192 keys",
        "attention_compact -a density=0.1 -a head=128 -a sequence=8192",
        "compact",
        1,
    ),
    (
        "`attention_separate`, its eight dispatches, 8,192 keys",
        "attention_separate -a density=0.1 -a head=128 -a sequence=8192",
        "of_density",
        8,
    ),
];

/// What the rest between counting and measuring is made of: the table of `results/README.md`.
#[test]
fn the_counters_that_the_guide_states_are_those_that_were_printed() {
    let printed = std::fs::read_to_string(results().join("other/ncu/sorting.txt")).unwrap();
    let guide = guide();
    for (name, words, dispatch, count) in COUNTED {
        let of = together(&launches(&printed, words, dispatch, count));
        let loads = "l1tex__t_sectors_pipe_lsu_mem";
        let sectors =
            of[&format!("{loads}_global_op_ld.sum")] + of[&format!("{loads}_local_op_ld.sum")];
        let waiting = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
        let row = format!(
            "| {name} | {} | {:.1} | {:.2} | {:.1} | {} | {} | {} | {} |",
            whole(of["smsp__inst_executed.sum"] / 1e6),
            of["smsp__thread_inst_executed_per_inst_executed.ratio"],
            of["smsp__inst_executed.avg.per_cycle_active"],
            of[waiting],
            whole(sectors * 32.0 / 1e6),
            whole(of["lts__t_sectors_op_read.sum"] * 32.0 / 1e6),
            whole((of["dram__bytes_read.sum"] + of["dram__bytes_write.sum"]) / 1e6),
            whole(of["gpu__time_duration.sum"] / 1e3),
        );
        assert!(guide.contains(&row), "{row}");
    }
    // The two dispatches of a sort as one; rates of both together say nothing.
    for name in ["sort/sorted", "sparse/map_compact -a rounds=64"] {
        let two = ["few_count", "few_permutation"].map(|one| counters(&printed, name, one));
        let of = together(&two);
        let short = name.split_whitespace().next().unwrap().trim_start_matches("sparse/");
        let row = format!(
            "| `{short}`, its two dispatches of the sort | {} | {:.1} | – | – | {} | {} | {} | {} |",
            whole(of["smsp__inst_executed.sum"] / 1e6),
            of["smsp__thread_inst_executed_per_inst_executed.ratio"],
            whole(of["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] * 32.0 / 1e6),
            whole(of["lts__t_sectors_op_read.sum"] * 32.0 / 1e6),
            whole((of["dram__bytes_read.sum"] + of["dram__bytes_write.sum"]) / 1e6),
            whole(of["gpu__time_duration.sum"] / 1e3),
        );
        assert!(guide.contains(&row), "{row}");
    }
}

/// A number without its fraction, in groups of three digits.
fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group).into_owned()).collect::<Vec<_>>().join(",")
}

/// Through CUDA the branches over experts execute more instructions at a lower rate, and both together are
/// what they take longer; with one expert for all, instructions are alike.
#[test]
fn instructions_and_their_rate_explain_what_experts_gain_through_cuda() {
    let printed = std::fs::read_to_string(results().join("other/ncu/sorting.txt")).unwrap();
    let of = |words: &str, dispatch: &str| {
        let found = counters(&printed, words, dispatch);
        let time = found["gpu__time_duration.sum"];
        (found["smsp__inst_executed.sum"], found["smsp__inst_executed.avg.per_cycle_active"], time)
    };
    let loaded = |words: &str, dispatch: &str| counters(&printed, words, dispatch)["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
    let of_64 = |kernel: &str| format!("moe/{kernel} -a n=262144 -a model=64 -a hidden=256 --");
    let bytes = loaded(&of_64("naive"), "naive") / loaded(&of_64("sorted"), "experts");
    let said = format!("load {bytes:.0} times as many bytes through L1");
    assert!(readme().contains(&said), "{said}");
    let branches = of(&of_64("naive"), "naive");
    let alike = of("routing=one", "naive");
    let sorted = of(&of_64("sorted"), "experts");
    let (more, slower) = (branches.0 / sorted.0, sorted.1 / branches.1);
    let longer = branches.2 / sorted.2;
    assert!((more * slower / longer - 1.0).abs() < 0.06, "{more} × {slower} of {longer}");
    assert!((alike.0 / sorted.0 - 1.0).abs() < 0.06, "{} of {}", alike.0, sorted.0);
    let said = format!(
        "the branches execute {more:.1} times the instructions at {:.2} of the rate, which are the \
         {longer:.0} times",
        1.0 / slower
    );
    assert!(guide().contains(&said), "{said}");
    let said = format!("and {:.1} times is what is left", alike.2 / sorted.2);
    assert!(guide().contains(&said), "{said}");
    let run = load("h200-cuda/moe-tokens");
    let rows = analyze::model(&run);
    let row = row(&rows, "moe/sorted", &[("n", Value::Integer(1 << 18))]);
    assert_eq!(format!("{:.0}", row.speedup_measured.unwrap()), format!("{longer:.0}"));
}
