//! What must hold of sort-then-dispatch: every result right, at every width and on every driver.
//!
//! Input: the families `sort`, `sparse` and `moe`, and the library function through its example and
//! through the laboratory's random partitions. Output: trials without a driver, and a check of each
//! driver.

#[path = "../../lab/src/sort_check.rs"]
mod sort_check;
#[path = "../../lab/src/split_check.rs"]
mod split_check;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

use clap::Parser;
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, Launch};
use lanescope::record::{Method, Output, Run, Status, Tag, Value};
use lanescope::run::launched::outputs_sha256;
use lanescope::run::simulator::SimulatorRunner;
use lanescope::run::{CountRequest, Runner as _};
use lanescope::units::Width;
use lanescope::units::random::mix;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::program;

/// Set in a child's environment to what it does: a driver is chosen before a process begins.
pub(crate) const CHILD: &str = "LANESCOPE_PARTITIONS_CHILD";

/// The words of [`CHILD`].
#[derive(Parser)]
enum Child {
    Partitions(split_check::Arguments),
    Sorts(sort_check::Arguments),
}

/// What the child does.
pub(crate) fn child(arguments: &str) -> ExitCode {
    match Child::parse_from(std::iter::once("child").chain(arguments.split(' '))) {
        Child::Partitions(arguments) => split_check::run(&arguments).unwrap(),
        Child::Sorts(arguments) => sort_check::run(&arguments).unwrap(),
    }
}

/// Every width that a subgroup may have here.
const WIDTHS: [&str; 6] = ["sim:4", "sim:8", "sim:16", "sim:32", "sim:64", "sim:128"];

/// The trials without a driver.
pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, fn()); 5] = [
        ("permutations_are_right_at_every_width", permutations),
        ("random_permutations_are_right", random_permutations),
        ("random_pairs_are_right", random_pairs),
        ("families_are_right_at_every_width", families),
        ("sorting_leaves_full_subgroups", full_subgroups),
    ];
    let trial = |(name, check): (&str, fn())| {
        Trial::test(format!("sorting::{name}"), move || {
            check();
            Ok(())
        })
    };
    checks.into_iter().map(trial).collect()
}

/// Where its keys lie in its workgroup's list depends on which subgroup comes first.
const LISTED_AS_THEY_COME: &str = "sparse/attention_compact";

/// Runs kernels on the simulator at every width; every output must be verified.
fn verified(arguments: &[&str], devices: &[&str]) -> Run {
    let folder = TempDir::new().unwrap();
    let mut all = arguments.to_vec();
    for device in devices {
        all.extend(["--device", device]);
    }
    let (code, run, stderr) = program::record(&folder, &[], &all);
    assert_eq!(code, 0, "{stderr}");
    for measurement in &run.measurements {
        let name =
            format!("{} {:?} {}", measurement.kernel, measurement.parameters, measurement.device);
        assert_eq!(measurement.status, Status::Ok, "{name}: {:?}", measurement.error);
        assert_eq!(measurement.output, Output::Verified, "{name}: {:?}", measurement.error);
        // The simulator tells of accesses out of bounds and barriers in divergent flow.
        let listed = measurement.kernel == LISTED_AS_THEY_COME
            && measurement.parameters["sort"] == Value::Name("in_time".to_owned());
        let tags: Vec<&Tag> = measurement.flags.iter().map(|flag| &flag.tag).collect();
        let expected: &[&Tag] = if listed { &[&Tag::DependsOnSchedule] } else { &[] };
        assert_eq!(tags, expected, "{name}");
    }
    run
}

/// Offsets, permutation, and inverse where it is asked for, for few and many classes, odd sizes and
/// sizes about tiles.
fn permutations() {
    let arguments = [
        "sort/permutation",
        "-a",
        "n=[0,1,31,1023,2049]",
        "-a",
        "classes=[2,16,256]",
        "-a",
        "input=random",
        "-a",
        "inverse=[no,yes]",
    ];
    let run = verified(&arguments, &WIDTHS);
    assert_eq!(run.measurements.len(), 5 * 3 * 2 * WIDTHS.len());
}

/// Random sizes, numbers of classes, inputs and widths: the stable order, and its inverse.
fn random_permutations() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("sort/permutation").unwrap();
    for seed in 0..60 {
        let random = |salt: u64| mix(seed << 8 | salt);
        let among = |salt: u64, count: usize| {
            usize::try_from(random(salt) % u64::try_from(count).unwrap()).unwrap()
        };
        let width = Width::new([4, 8, 16, 32, 64, 128][among(0, 6)]).unwrap();
        let n = 1 + i64::try_from(random(1) % 5000).unwrap();
        let classes = [2, 4, 8, 16, 32, 64, 128, 256][among(2, 8)];
        let input = ["random", "clustered", "ordered"][among(3, 3)];
        let inverse = ["no", "yes"][among(4, 2)];
        let chosen = BTreeMap::from([
            ("n".to_owned(), Value::Integer(n)),
            ("classes".to_owned(), Value::Integer(classes)),
            ("input".to_owned(), Value::Name(input.to_owned())),
            ("inverse".to_owned(), Value::Name(inverse.to_owned())),
        ]);
        let launch = kernel.launch(DeviceClass::Quick, &chosen, seed).unwrap();
        let mut runner = SimulatorRunner::new(width, 1 << 26);
        let options = CountRequest::once(Method::Executed);
        let name =
            format!("n = {n}, {classes} classes, {input}, inverse {inverse}, {width}, seed {seed}");
        let counted =
            runner.count_once(&launch, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let checked = counted.checked;
        assert_eq!(checked.output, Output::Verified, "{name}: {:?}", checked.mismatch);
        assert_eq!(counted.flags, [], "{name}");
    }
}

/// A launch that orders pairs of n random classes below `below` and payloads; no kernel of the catalogue
/// does, but the library.
fn pairs(source: &str, n: u64, classes: u64, below: u64, seed: u64) -> Launch {
    let keys_sorted = if classes > 16 { "keys_filled" } else { "keys_sorted" };
    let description = format!(
        "question = \"?\"\n\
         [multisplit]\nelements = \"{n}\"\nclasses = \"{classes}\"\nwrites = \"pairs\"\n\
         [[buffers]]\nname = \"keys\"\nfill = {{ uniform = [0, {below}] }}\n\
         [[buffers]]\nname = \"payload\"\nfill = {{ series = {{ first = 7, step = 3 }} }}\n\
         [[buffers]]\nname = \"status\"\noutput = true\n\
         [[buffers]]\nname = \"offsets\"\noutput = true\n\
         [[buffers]]\nname = \"payload_sorted\"\noutput = true\n\
         [[buffers]]\nname = \"{keys_sorted}\"\noutput = true\n\
         [[dispatches]]\nmultisplit = true\n"
    );
    let kernel = Kernel::parse("test/pairs", source, &description).unwrap();
    kernel.launch(DeviceClass::Quick, &BTreeMap::new(), seed).unwrap()
}

/// The outputs of [`pairs`] where every id is in range: `status`, `offsets`, payloads and ids in order.
fn pairs_in_order(launch: &Launch, n: usize, classes: u32) -> BTreeMap<String, Vec<u8>> {
    let words = |name: &str| -> Vec<u32> {
        let bytes = launch.contents(launch.buffer(name).unwrap());
        let words = bytes.as_chunks::<4>().0.iter().take(n);
        words.map(|word| u32::from_le_bytes(*word)).collect()
    };
    let (keys, payload) = (words("keys"), words("payload"));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|index| keys[*index]);
    let begins = |class: u32| keys.iter().filter(|key| **key < class).count();
    let length = n.next_multiple_of(4);
    let padded = |words: &mut dyn Iterator<Item = u32>| -> Vec<u8> {
        let words = words.chain(std::iter::repeat(0)).take(length);
        words.flat_map(u32::to_le_bytes).collect()
    };
    let keys_sorted = if classes > 16 { "keys_filled" } else { "keys_sorted" };
    let offsets =
        (0..=classes).flat_map(|class| u32::try_from(begins(class)).unwrap().to_le_bytes());
    BTreeMap::from([
        ("status".to_owned(), vec![0; 4]),
        ("offsets".to_owned(), offsets.collect()),
        ("payload_sorted".to_owned(), padded(&mut order.iter().map(|index| payload[*index]))),
        (keys_sorted.to_owned(), padded(&mut order.iter().map(|index| keys[*index]))),
    ])
}

/// Random sizes, any number of classes, and widths: pairs in stable order, and the first id that is out of
/// range where there is one.
fn random_pairs() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("sort/permutation").unwrap();
    let whole = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), 1).unwrap();
    let mut refused = 0;
    for seed in 0..48 {
        let random = |salt: u64, below: u64| mix(seed << 8 | salt) % below;
        let width = Width::new(4 << random(0, 6)).unwrap();
        let n = 1 + random(1, 5000);
        let n = if seed % 2 == 0 { n.next_multiple_of(4) } else { n };
        let classes = if random(2, 2) == 0 { 1 + random(3, 16) } else { 17 + random(3, 240) };
        let out_of_range = seed % 4 == 3;
        let below = classes + u64::from(out_of_range);
        let launch = pairs(&whole.source, n, classes, below, seed);
        let (count, classes) = (usize::try_from(n).unwrap(), u32::try_from(classes).unwrap());
        let mut expected = pairs_in_order(&launch, count, classes);
        if !n.is_multiple_of(4) {
            // What lies beyond the last id has no meaning: here the fours are filled up.
            expected.remove("keys_filled");
        }
        let keys = launch.contents(launch.buffer("keys").unwrap());
        let mut keys = keys.as_chunks::<4>().0.iter().take(count);
        let first = keys.position(|key| u32::from_le_bytes(*key) >= classes);
        if let Some(first) = first {
            refused += 1;
            let status = (!u32::try_from(first).unwrap()).to_le_bytes().to_vec();
            expected = BTreeMap::from([("status".to_owned(), status)]);
        }
        let mut runner = SimulatorRunner::new(width, 1 << 26);
        let options = CountRequest::once(Method::Executed);
        let name = format!("n = {n}, {classes} classes, {width}, seed {seed}");
        let counted =
            runner.count_once(&launch, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(counted.flags, [], "{name}");
        for (output, sha256) in outputs_sha256(&expected) {
            assert_eq!(counted.outputs_sha256[&output], sha256, "{name}: {output}");
        }
    }
    // Of the twelve with an id too many the smallest may have none.
    assert!(refused >= 8, "{refused}");
}

/// Each family with a few of its shapes, experts without a token among them.
fn families() {
    let widths = ["sim:4", "sim:32", "sim:128"];
    let sort = ["sort/divergent", "sort/sorted", "sort/separate"];
    let arguments = ["--quick", "-a", "n=1500", "-a", "classes=[2,8,32]", "-a", "arms=unequal"];
    let run = verified(&[&sort[..], &arguments].concat(), &widths);
    // What is sorted in the time is measured with what was sorted before.
    assert_eq!(run.measurements.len(), (1 + 2 * 2) * 3 * widths.len());
    let arguments = ["sparse", "--quick", "-a", "density=[0.02,1]"];
    let run = verified(&arguments, &widths);
    // Two maps and three of attention show one value beside the default, one map and two of attention with
    // both of `sort`, and so are two of the three that have lists of their own.
    assert_eq!(run.measurements.len(), (4 * 2 + 3 * 4 + 5) * 2 * widths.len());
    let arguments =
        ["moe", "--quick", "-a", "n=70", "-a", "top=[1,2]", "-a", "routing=[even,skewed,one]"];
    let run = verified(&arguments, &widths);
    assert_eq!(run.measurements.len(), 6 * 2 * 3 * widths.len());
}

/// What the experiments are about: random classes part subgroups, sorted ones do not.
fn full_subgroups() {
    let run = verified(
        &[
            "sort/divergent",
            "sort/sorted",
            "-a",
            "sort=before",
            "--quick",
            "-a",
            "classes=8",
            "-a",
            "n=65536",
        ],
        &["sim:32", "sim:64"],
    );
    let blocks = |kernel: &str, device: &str| -> (u64, u64) {
        let measurement = run.measurements.iter();
        let measurement =
            measurement.filter(|m| m.kernel == kernel && m.device == device).collect::<Vec<_>>();
        assert_eq!(measurement.len(), 1);
        let arms = measurement[0].dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
        arms.filter(|block| block.label.as_deref() == Some("arm"))
            .fold((0, 0), |(executions, lanes), b| (executions + b.executions.0, lanes + b.lanes.0))
    };
    for (device, width) in [("sim:32", 32_u32), ("sim:64", 64)] {
        let (executions, lanes) = blocks("sort/divergent", device);
        let width_of = Width::new(width).unwrap();
        let expected = lanescope::analyze::arms_run(8, width_of);
        #[expect(clippy::cast_precision_loss, reason = "counts of a small launch")]
        let found = executions as f64 / (lanes as f64 / f64::from(width));
        assert!((found / expected - 1.0).abs() < 0.01, "{device}: {found} for {expected}");
        let (executions, lanes) = blocks("sort/sorted", device);
        // Each of seven borders between classes may part one subgroup, which then runs two arms: as many
        // blocks once more as each of the elements runs.
        let parted = 7 * (lanes / 65_536);
        assert!(
            executions <= lanes / u64::from(width) + parted,
            "{device}: {executions} for {lanes}"
        );
    }
}

/// Runs an example, which `cargo test` builds beside the program under test.
fn example(name: &str, arguments: &[&str], driver: &Driver) -> String {
    let folder = program::path().parent().unwrap().join("examples");
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is built by `cargo test`", path.display());
    output(Command::new(path).args(arguments), driver)
}

/// What a program prints that must end well on a driver.
fn output(command: &mut Command, driver: &Driver) -> String {
    let output = command.envs(driver.environment()).output().unwrap();
    let (code, stdout, stderr) = program::parts(&output);
    assert_eq!(code, 0, "{stdout}{stderr}");
    stdout
}

/// No element, one class, as many elements as a binding holds, and random sizes, classes, cuts and
/// inputs through the library function, others at each width: stable, a permutation, its inverse, the
/// payload, and the first offending index where an id is out of range. lavapipe compiles for two seconds
/// in each.
pub(crate) fn partitions(driver: &Driver) {
    let count = if driver.family == "lavapipe" { 12 } else { 60 };
    let seed = 100 * driver.width;
    let random = format!("partitions --count {count} --seed {seed} --n-max 6000");
    let told = output(Command::new(std::env::current_exe().unwrap()).env(CHILD, random), driver);
    assert_eq!(told.trim(), format!("{} partitions, 0 wrong", count + 3));
    // The program that the documentation shows, on the ids that it has of its own.
    let told = example("multisplit", &[], driver);
    let expected = "ids          [3, 1, 0, 3, 2, 0, 1, 3]\n\
                    permutation  [2, 5, 1, 6, 4, 0, 3, 7]\n\
                    inverse      [5, 2, 0, 6, 4, 1, 3, 7]\n\
                    in order     [0, 0, 1, 1, 2, 3, 3, 3]\n\
                    offsets      [0, 2, 4, 5, 8]\n";
    assert_eq!(told, expected);
    // A payload, and a pipeline for each class: the class, and as its how-manyth it came, from 0.
    let payload = "--payload=10,11,12,13,14,15,16,17";
    let told = example("multisplit", &[payload, "--dispatch"], driver);
    let expected = expected.replace(
        "offsets",
        "payload      [12, 15, 11, 16, 14, 10, 13, 17]\n\
         of classes   [0, 0, 1, 1, 2, 3, 3, 3]\noffsets",
    ) + "results      [300, 100, 0, 301, 200, 1, 101, 302]\n";
    assert_eq!(told, expected);
}

/// Random keys, bits, cuts and flags through the library's sorts and compactions, and buffers that will
/// not do.
pub(crate) fn sorts(driver: &Driver) {
    let count = if driver.family == "lavapipe" { 6 } else { 30 };
    let seed = 100 * driver.width;
    let random = format!("sorts --count {count} --seed {seed} --n-max 6000");
    let told = output(Command::new(std::env::current_exe().unwrap()).env(CHILD, random), driver);
    assert_eq!(told.trim(), format!("{} sorts and {count} compactions, 0 wrong", count + 2));
    // The program that the documentation shows, on the numbers that it has of its own.
    let told = example("sort", &[], driver);
    let expected = "in order    [-1.0, -0.0, 0.0, 0.25, 2.5, 7.0]\n\
                    from        [1, 3, 4, 2, 0, 5]\n\
                    kept        [-0.0, 0.0, 0.25, 2.5, 7.0]\n";
    assert_eq!(told, expected);
}

/// Indirect dispatches for each class, set-up before the time and results put back by a dispatch of their
/// own: verified on the driver, with and without counting.
pub(crate) fn sorted(driver: &Driver) {
    let folder = TempDir::new().unwrap();
    let kernels = [
        "sort/separate",
        "moe/separate",
        "moe/sorted_scatter",
        "sparse/attention_compact",
        "sparse/attention_separate",
    ];
    let device = driver.device();
    let rest = ["-a", "n=1500", "--budget", "1", "--device", &device, "--time-limit", "300"];
    let (code, run, stderr) =
        program::record(&folder, &driver.environment(), &[&kernels[..], &rest].concat());
    assert_eq!(code, 0, "{stderr}");
    let seen: BTreeSet<&str> = run.measurements.iter().map(|m| m.kernel.as_str()).collect();
    assert_eq!(seen.len(), kernels.len());
    for measurement in &run.measurements {
        assert_eq!(measurement.output, Output::Verified, "{:?}", measurement.error);
    }
}

/// Each dispatch has a time within its launch, with timestamps inside passes and without, and a
/// launch of one has none; drivers that compile at a dispatch do so before the first sample.
pub(crate) fn stages(driver: &Driver) {
    let device = driver.device();
    let kernels = ["sort/permutation", "sort/divergent", "--quick", "--budget", "2"];
    for without in ["", "TIMESTAMP_QUERY_INSIDE_PASSES"] {
        let folder = TempDir::new().unwrap();
        let mut environment = driver.environment();
        environment.push(("LANESCOPE_WITHOUT_FEATURES".to_owned(), without.to_owned()));
        let (code, run, stderr) = program::record(
            &folder,
            &environment,
            &[&kernels[..], &["--device", &device, "-a", "n=8192"]].concat(),
        );
        assert_eq!(code, 0, "{stderr}");
        let of_lavapipe = driver.family == "lavapipe";
        assert_eq!(run.devices[0].uniform_buffers_as_storage, of_lavapipe);
        for measurement in &run.measurements {
            let name = format!("{} without `{without}`", measurement.kernel);
            let launch = measurement.time.as_ref().unwrap().median_ns.0;
            // lavapipe took 2.5 s for what takes it one millisecond when it does not compile.
            assert!(launch < 1e9, "{name}: {launch}");
            let times: Vec<Option<f64>> =
                measurement.dispatches.iter().map(|d| d.median_ns.map(|ns| ns.0)).collect();
            if times.len() == 1 {
                assert_eq!(times, [None], "{name}");
                continue;
            }
            // Few chunks have no `scan`: the last dispatch adds their counts up.
            assert_eq!(times.len(), 2, "{name}");
            let sum: f64 = times.iter().map(|time| time.unwrap()).sum();
            // A busy processor stretches either; a compilation, or a wait, would be a thousandfold.
            assert!(sum > 0.05 * launch && sum < 20.0 * launch, "{name}: {times:?} of {launch}");
            // What counting and scattering every element takes is seen.
            assert!(times[1].unwrap() > 0.0, "{name}: {times:?}");
        }
    }
}
