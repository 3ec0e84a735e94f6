//! Plans against the shader, against the catalogue, and against rules that hold for every cut.

use std::collections::BTreeMap;

use crate::algorithms::shaders;
use crate::kernel::format::DispatchDescription;
use crate::kernel::{Catalogue, DeviceClass, Dispatch, Kernel, Launch, SEED, Workgroups};
use crate::partition::*;
use crate::program::Parsed;
use crate::record::Value;
use crate::units::random::mix;

/// The shader, as the library puts it together.
fn shader() -> String {
    [shaders::SPLIT, shaders::SPLIT_FEW, shaders::SPLIT_MANY].concat()
}

const PERMUTATION: Writes = Writes { order: Some(Order::Permutation), pairs: false };
const ALL: Writes = Writes { order: Some(Order::WithInverse), pairs: true };

/// An H200's through Vulkan, as far as it has more than WebGPU asks.
const LARGE: Limits = Limits {
    invocations_max: 1024,
    workgroup_bytes_max: 49_152,
    workgroups_max: 65_535,
    storage_bytes_max: 1 << 32,
    subgroup_barrier: true,
};

/// Sizes about tiles and chunks, and what an experiment asks for at the most.
const SIZES: [u32; 14] = [
    0,
    1,
    4,
    1023,
    1024,
    1025,
    3072,
    65_536,
    262_144,
    262_145,
    1 << 20,
    1 << 24,
    10_000_001,
    1 << 26,
];

const CLASSES: [u32; 11] = [1, 2, 3, 8, 9, 16, 17, 32, 64, 255, 256];

fn writes() -> [Writes; 5] {
    [
        PERMUTATION,
        Writes { order: Some(Order::WithInverse), pairs: false },
        Writes { order: None, pairs: true },
        Writes { order: Some(Order::Permutation), pairs: true },
        ALL,
    ]
}

fn chosen(limits: &Limits, n: u32, classes: u32, writes: Writes) -> Plan {
    let tuning = Tuning::choose(*limits, n, classes, writes.pairs);
    Plan::new(limits, n, classes, writes, tuning)
}

/// Every stage binds what its entry point reads and writes, under the names and numbers that the
/// shader has; every override is one of the shader's, and `split` as long as its struct.
#[test]
fn plans_fit_the_shader() {
    let parsed = Parsed::new("split.wgsl", &shader()).unwrap();
    for classes in CLASSES {
        for writes in writes() {
            let plan = chosen(&Limits::WEBGPU, 5000, classes, writes);
            let overrides =
                plan.overrides.iter().map(|(name, value)| ((*name).to_owned(), f64::from(*value)));
            let overrides = overrides.collect();
            for stage in &plan.stages {
                let program = parsed.resolve(stage.entry_point, &overrides).unwrap();
                let mut found: Vec<(u32, u32, String)> = Vec::new();
                for binding in program.bindings().unwrap() {
                    found.push((binding.group, binding.binding, binding.name.clone()));
                    if binding.name == "split" {
                        assert_eq!(binding.size_min, SPLIT_WORDS as u64 * 4);
                    }
                }
                let bound = stage.binds.iter();
                let mut bound: Vec<(u32, u32, String)> = bound
                    .map(|m| (0, m.binding(), m.variable(plan.tuning.path).to_owned()))
                    .collect();
                found.sort();
                bound.sort();
                assert_eq!(bound, found, "{} for {classes} classes", stage.entry_point);
            }
        }
    }
}

/// The cut that the catalogue takes, which knows no device, is the one that larger devices take.
#[test]
fn larger_devices_take_the_same_cut() {
    for classes in CLASSES {
        for n in SIZES {
            for writes in writes() {
                let mut large = chosen(&LARGE, n, classes, writes);
                let small = chosen(&Limits::WEBGPU, n, classes, writes);
                assert_eq!(large.overrides.insert("SCAN_THREADS", 256), Some(512));
                assert_eq!(large, small, "n = {n}, {classes} classes");
                let unbound = Limits { storage_bytes_max: 1 << 32, ..Limits::WEBGPU };
                assert_eq!(small.tuning.check(unbound, n, classes), Ok(()), "{n}, {classes}");
            }
        }
    }
    let smallest = Limits { invocations_max: 128, ..Limits::WEBGPU };
    assert_eq!(chosen(&smallest, 1, 2, PERMUTATION).overrides["SCAN_THREADS"], 128);
}

/// Workgroups cover every element, scratch memory holds what they leave, for cuts that nobody would
/// choose too.
#[test]
fn every_cut_covers_every_element() {
    for seed in 0..2000_u64 {
        let among = |salt: u64, count: u64| mix(seed << 8 | salt) % count;
        let pick = |salt: u64, list: &[u32]| {
            list[usize::try_from(among(salt, list.len() as u64)).unwrap()]
        };
        let n = pick(0, &SIZES).saturating_add(pick(1, &[0, 1, 77, 4095]));
        let classes = pick(2, &CLASSES);
        let path = if classes <= 16 && among(3, 2) == 0 { Path::Few } else { Path::Many };
        let tuning = Tuning {
            path,
            threads: pick(4, &[128, 256, 512, 1024]),
            rows: pick(5, &[1, 2, 3]),
            tiles_per_chunk: pick(6, &[1, 2, 5, 16, 32]),
            fold: path == Path::Few && among(7, 2) == 0,
        };
        if tuning.check(LARGE, n, classes).is_err() {
            continue;
        }
        let plan = Plan::new(&LARGE, n, classes, ALL, tuning);
        let name = format!("seed {seed}: n = {n}, {classes} classes, {tuning:?}");
        assert_eq!(plan.stages.len(), if tuning.fold { 3 } else { 4 }, "{name}");
        let [_, _, chunks, tiles_per_chunk, inverse] = plan.split;
        assert_eq!((inverse, chunks), (1, tuning.chunks(n).max(1)), "{name}");
        let chunk = u64::from(tuning.tile()) * u64::from(tiles_per_chunk);
        for stage in &plan.stages {
            let [x, y, z] = stage.workgroups;
            assert!(x.max(y) <= 65_535 && z == 1, "{name}");
            let workgroups = u64::from(x) * u64::from(y);
            let part = if stage.entry_point.ends_with("_count") || path == Path::Few {
                chunk
            } else {
                u64::from(tuning.tile())
            };
            match stage.entry_point {
                _ if n == 0 => assert_eq!(workgroups, 0, "{name}"),
                "scan" => assert_eq!(workgroups, u64::from(classes), "{name}"),
                _ => assert!(workgroups * part >= u64::from(n), "{name}"),
            }
        }
        let keys_per_word = u64::from(tuning.tile() / tuning.threads / tuning.rows);
        assert!(plan.lengths[&Memory::Packed] * keys_per_word >= u64::from(n), "{name}");
        assert!(plan.lengths[&Memory::Packed] * keys_per_word >= u64::from(chunks) * chunk);
        assert_eq!(plan.lengths[&Memory::Counts], u64::from(chunks) * u64::from(classes));
        assert_eq!(plan.lengths[&Memory::Inverse], u64::from(words_of(n)), "{name}");
    }
}

/// The plan that a launch of the catalogue follows, from the words that it has in `split`.
fn planned(launch: &Launch) -> Plan {
    let bytes = launch.contents(launch.buffer("split").unwrap());
    let words: Vec<u32> =
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let order = if words[4] == 0 { Order::Permutation } else { Order::WithInverse };
    let writes = Writes { order: Some(order), pairs: false };
    let plan = chosen(&Limits::WEBGPU, words[0], words[1], writes);
    assert_eq!(words[..SPLIT_WORDS], plan.split, "{}", launch.kernel);
    plan
}

/// A launch has the dispatches, overrides and buffers of its plan.
fn follows(launch: &Launch, plan: &Plan) {
    let name = format!("{} {:?}", launch.kernel, launch.parameters);
    let stage = |d: &Dispatch| (d.entry_point.clone(), d.workgroups.clone());
    let stages: Vec<_> = plan
        .stages
        .iter()
        .map(|stage| (stage.entry_point.to_owned(), Workgroups::Direct(stage.workgroups)))
        .collect();
    let found: Vec<_> = launch.dispatches.iter().map(stage).collect();
    assert!(found.windows(stages.len()).any(|some| some == stages), "{name}: {found:?}");
    for (override_name, value) in &plan.overrides {
        assert_eq!(launch.overrides[*override_name], f64::from(*value), "{name}: {override_name}");
    }
    for (memory, words) in &plan.lengths {
        let buffer = launch.buffer(memory.variable(plan.tuning.path)).unwrap();
        if *memory != Memory::Split {
            assert_eq!(buffer.size, words * 4, "{name}: {memory:?}");
        }
    }
}

/// Every launch of the catalogue that has a partition has the dispatches, overrides and buffers of the
/// plan for its sizes.
#[test]
fn launches_of_the_catalogue_are_their_plans() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for kernel in catalogue.kernels() {
        if !kernel.description.dispatches.iter().any(|dispatch| dispatch.multisplit) {
            let counts = |d: &&DispatchDescription| d.entry_point.contains("_count");
            assert_eq!(kernel.description.dispatches.iter().find(counts), None, "{}", kernel.id);
            continue;
        }
        seen.insert(kernel.family().to_owned());
        for class in [DeviceClass::Gpu, DeviceClass::Cpu] {
            for (name, parameter) in &kernel.description.parameters {
                let values = [parameter.default.any().clone()];
                for value in
                    if parameter.values.is_empty() { &values } else { &parameter.values[..] }
                {
                    let parameters = BTreeMap::from([(name.clone(), value.clone())]);
                    let launch = kernel.launch(class, &parameters, SEED).unwrap();
                    follows(&launch, &planned(&launch));
                }
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["moe", "sort", "sparse"]);
}

/// The partition alone, for every number of classes and sizes about tiles and chunks.
#[test]
fn the_permutation_follows_its_plan_at_every_size() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("sort/permutation").unwrap();
    for n in SIZES {
        for classes in &kernel.description.parameters["classes"].values {
            for inverse in ["no", "yes"] {
                let parameters = BTreeMap::from([
                    ("n".to_owned(), Value::Integer(i64::from(n))),
                    ("classes".to_owned(), classes.clone()),
                    ("inverse".to_owned(), Value::Name(inverse.to_owned())),
                ]);
                let launch = kernel.launch(DeviceClass::Quick, &parameters, SEED).unwrap();
                let plan = planned(&launch);
                assert_eq!(
                    (Value::Integer(i64::from(plan.split[1])), plan.split[0], plan.split[4]),
                    (classes.clone(), n, u32::from(inverse == "yes"))
                );
                follows(&launch, &plan);
                assert_eq!(launch.dispatches.len(), plan.stages.len());
                assert_eq!(launch.buffers.len(), plan.lengths.len());
                assert_eq!(launch.overrides.len(), plan.overrides.len());
            }
        }
    }
}

/// What a description gives twice, or gives wrongly, is told.
#[test]
fn descriptions_that_contradict_their_plan_are_refused() {
    let text = "question = \"?\"\n[parameters.n]\ndescription = \"n\"\ndefault = 100\n\
                [multisplit]\nelements = \"n\"\nclasses = 8\n[[buffers]]\nname = \"keys\"\n\
                [[dispatches]]\nmultisplit = true\nsetup = true\n";
    let launch = |text: &str| {
        let kernel = Kernel::parse("f/k", "", text)?;
        kernel.launch(DeviceClass::Cpu, &BTreeMap::new(), SEED)
    };
    let right = launch(text).unwrap();
    follows(&right, &planned(&right));
    assert!(right.dispatches.iter().all(|dispatch| dispatch.setup));
    for (old, new, says) in [
        ("name = \"keys\"", "name = \"keys\"\ntype = \"u32\"", "type and length of buffer `keys`"),
        ("name = \"keys\"", "name = \"keys\"\nelements = 9", "type and length of buffer `keys`"),
        ("[multisplit]", "[overrides]\nTHREADS = 64\n[multisplit]", "the override `THREADS`"),
        ("classes = 8", "classes = 257", "257 classes; a partition has 1 to 256"),
        ("classes = 8", "classes = \"n / 3\"", "`classes`: `n / 3` gives 33.3"),
        ("\"n\"\nclasses", "\"n * 2^30\"\nclasses", "`elements` is 107374182400"),
        ("classes = 8", "classes = 8\nwrites = { by = \"m\", of = {} }", "`writes` says nothing"),
        ("classes = 8", "classes = 8\nwrites = \"order\"", "writes"),
        ("setup = true", "workgroups = 4", "takes `setup` and `when` alone"),
        ("setup = true", "entry_point = \"main\"", "takes `setup` and `when` alone"),
        ("multisplit = true", "workgroups = 4", "number 1 has no `entry_point`"),
        ("[multisplit]\nelements = \"n\"\nclasses = 8\n", "", "there is no [multisplit]"),
    ] {
        assert!(text.contains(old), "{old}");
        let message = launch(&text.replace(old, new)).unwrap_err().to_string();
        assert!(message.contains(says) && message.contains("f/k.toml"), "{message}");
    }
}
