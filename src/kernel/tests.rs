//! Tests of the catalogue.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::embedded_files;
use super::format::ByParameter;
use super::*;
use crate::program::Parsed;
use crate::record::Value;
use crate::units::Width;

fn catalogue() -> Catalogue {
    Catalogue::embedded().unwrap()
}

#[test]
fn what_is_embedded_is_what_lies_on_disk() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut on_disk = BTreeMap::new();
    for folder in ["shaders", "crates/lanescope-algorithms/shaders"].map(|name| root.join(name)) {
        let families = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        for family in families.filter(|path| path.is_dir()) {
            for path in std::fs::read_dir(&family).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
                on_disk.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let embedded = embedded_files();
    let (found, wanted): (Vec<_>, Vec<_>) = (embedded.keys().collect(), on_disk.keys().collect());
    assert_eq!(found, wanted);
    assert!(embedded == on_disk, "a text is stale: build again");
}

#[test]
fn every_kernel_names_known_claims_labels_references_and_baselines() {
    let known: Vec<String> =
        crate::claims::ledger().unwrap().into_iter().map(|claim| claim.id).collect();
    let catalogue = catalogue();
    for kernel in catalogue.all() {
        let id = &kernel.id;
        let description = &kernel.description;
        assert!(kernel.source.starts_with(&format!("// {}\n", description.question)), "{id}");
        for claim in &description.claims {
            assert!(known.contains(claim), "{id}: {claim}");
        }
        if let Some(published) = &description.published {
            assert!(known.contains(&published.claim), "{id}: {}", published.claim);
        }
        if let Some(published) = &description.published_speedup {
            assert!(known.contains(&published.claim), "{id}: {}", published.claim);
            assert!(description.baseline.is_some(), "{id}");
        }
        if let Some(baseline) = &description.baseline {
            assert!(catalogue.kernel(baseline).is_some(), "{id}: {baseline}");
        }
        if kernel.language == KernelLanguage::Cuda {
            assert!(!description.in_default_set && description.blocks.is_empty(), "{id}");
            continue;
        }
        let sources = launches(kernel).into_iter().map(|launch| launch.source);
        let sources: BTreeSet<String> = sources.collect();
        let mut found = BTreeSet::new();
        for source in sources {
            let parsed = Parsed::new(id, &source).unwrap();
            for (label, place) in parsed.text().labels() {
                assert!(description.blocks.contains_key(label), "{id}:{}: {label}", place.line);
                found.insert(label.to_owned());
            }
        }
        assert!(description.blocks.keys().all(|label| found.contains(label)), "{id}: {found:?}");
    }
}

/// The lines of a kernel's own two files, of those that take more than [`LINES_MAX`]: long algorithms, and
/// those that try many operations side by side. They may become fewer.
const LONG: [(&str, usize); 11] = [
    ("coalesced_group/reduction", 127),
    ("occupancy/latency_hiding", 163),
    ("occupancy/spilled", 140),
    ("occupancy/throughput", 121),
    ("reduce/device", 278),
    ("scan/device", 389),
    ("shuffle/latency", 351),
    ("shuffle/operations", 140),
    ("softmax/rows", 126),
    ("softmax/subgroup", 142),
    ("vote/early_exit", 153),
];

/// The most lines of a new kernel: its shader and its description.
const LINES_MAX: usize = 120;

/// The most lines of all descriptions and shaders of the kernels of 37d097a, with what their families share; 12,856
/// when each said everything by itself. `lab/house` counts alike.
const LINES_THEN_MAX: usize = 8500;

/// How many kernels there were.
const KERNELS_THEN: usize = 84;

/// The kernels that came since, whose own files are limited by [`LINES_MAX`] alone.
const SINCE: [&str; 31] = [
    "alignment/branch",
    "alignment/chunks",
    "boundary/guard",
    "boundary/product",
    "grain/image_tiles",
    "grain/run_lengths",
    "grain/small_workgroups",
    "grain/trips",
    "hot_loops/raymarch",
    "k_way/bounces",
    "k_way/switch",
    "masked/baseline",
    "masked/copy",
    "masked/select",
    "masked/two_kernels",
    "occupancy/capped",
    "predication/arithmetic",
    "predication/branch",
    "predication/chosen",
    "predication/common",
    "predication/elementwise",
    "predication/select",
    "predication/special",
    "predication/unlike",
    "self_test/switch_vote",
    "shuffle/matrices",
    "shuffle/stencil",
    "sparse/attention_whole",
    "split/lanes",
    "split/nested",
    "vote/after_return",
];

#[test]
fn a_kernel_says_what_is_its_own_and_families_the_rest() {
    let files = embedded_files();
    let lines = |text: &String| text.lines().count();
    let long: BTreeMap<&str, usize> = LONG.into();
    for kernel in catalogue().all() {
        let extensions = [kernel.language.extension(), "toml"];
        let extensions = extensions.map(|ending| lines(&files[&format!("{}.{ending}", kernel.id)]));
        let most = long.get(kernel.id.as_str()).copied().unwrap_or(LINES_MAX);
        assert!(
            extensions[0] + extensions[1] <= most,
            "{} takes {extensions:?} lines, of {most} at most",
            kernel.id
        );
    }
}

/// The lines of the kernels that there were, and of what their families and the library give them.
fn count_lines_then(files: &BTreeMap<String, String>, kernels: &[&str]) -> usize {
    let family = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let then = kernels.iter().filter(|kernel| !SINCE.contains(kernel)).map(|kernel| family(kernel));
    let families: BTreeSet<String> = then.chain(["lib".to_owned()]).collect();
    let counts = |path: &str| {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        // Of the library's parts those that a description names; the others are of no kernel.
        let part = stem.strip_suffix(".part").map(|name| format!("\"{name}\""));
        let part = part.filter(|_| crate::shaders::FILES.iter().any(|(file, _)| *file == path));
        let is_named = part.is_none_or(|name| files.values().any(|text| text.contains(&name)));
        !path.ends_with(".cu")
            && !SINCE.contains(&stem)
            && families.contains(&family(path))
            && is_named
    };
    files.iter().filter(|(path, _)| counts(path)).map(|(_, text)| text.lines().count()).sum()
}

#[test]
fn the_kernels_that_there_were_take_no_more_lines() {
    let (catalogue, mut files) = (catalogue(), embedded_files());
    let kernels: Vec<&str> = catalogue.all().map(|kernel| kernel.id.as_str()).collect();
    assert!(SINCE.iter().all(|kernel| kernels.contains(kernel)), "{SINCE:?}");
    assert_eq!(kernels.len() - SINCE.len(), KERNELS_THEN, "a new kernel is not listed");
    let counted = count_lines_then(&files, &kernels);
    assert!((8000..=LINES_THEN_MAX).contains(&counted), "{counted} lines");
    // A line more of a kernel that there was, and one of a kernel that came since.
    for (file, more) in [("five_patterns/uniform.wgsl", 1), ("split/lanes.wgsl", 0)] {
        files.get_mut(file).unwrap().push_str("// more\n");
        assert_eq!(count_lines_then(&files, &kernels), counted + more, "{file}");
        files = embedded_files();
    }
}

#[test]
fn what_was_renamed_is_found_and_told() {
    let catalogue = catalogue();
    for (family, described) in catalogue.families() {
        for renamed in &described.renamed {
            let kernel = catalogue.kernel(&renamed.to).unwrap();
            assert_eq!(kernel.family(), family, "{renamed:?}");
            for (name, value) in &renamed.parameters {
                let parameter = &kernel.description.parameters[name];
                assert_eq!(parameter.refuses(value, parameter.default.any()), None, "{renamed:?}");
            }
        }
    }
    let old = catalogue.kernel("sort/sorted_before").unwrap();
    assert_eq!(old.id, "sort/sorted");
    let n = || BTreeMap::from([("n".to_owned(), Value::Integer(8))]);
    let with = |sort: &str| {
        let mut parameters = n();
        parameters.insert("sort".to_owned(), Value::Name(sort.to_owned()));
        parameters
    };
    let today = |id: &str, parameters: BTreeMap<String, Value>| catalogue.today(id, &parameters);
    let sorted = || "sort/sorted".to_owned();
    assert_eq!(today("sort/sorted_before", n()), (sorted(), with("before")));
    assert_eq!(today("sort/sorted", n()), (sorted(), with("in_time")));
    assert_eq!(today("sort/sorted", with("before")), (sorted(), with("before")));
    assert_eq!(today("sort/divergent", n()), ("sort/divergent".to_owned(), n()));
    let message = catalogue.select("sorted_before").unwrap_err().to_string();
    assert!(message.contains("-a sort=before"), "{message}");
}

/// Every launch that some value of an enumerated parameter gives.
fn launches(kernel: &Kernel) -> Vec<Launch> {
    let mut choices = vec![BTreeMap::new()];
    for (name, parameter) in &kernel.description.parameters {
        for value in &parameter.values {
            let mut choice = BTreeMap::from([(name.clone(), value.clone())]);
            // What goes with certain values alone has one of them.
            let chosen = |combination: &&format::Combination| {
                combination.applies.get(name).is_some_and(|values| values.contains(value))
            };
            for combination in kernel.description.combinations.iter().filter(chosen) {
                choice.extend(
                    combination.only.iter().map(|(name, values)| (name.clone(), values[0].clone())),
                );
            }
            choices.push(choice);
        }
    }
    let launch = |c: &BTreeMap<String, Value>| kernel.launch(DeviceClass::Quick, c, SEED).unwrap();
    choices.iter().map(launch).collect()
}

/// Values that are no numbers are listed, numbers have a least one but for what contents range over,
/// and what stands in a description keeps to it.
#[test]
fn every_parameter_says_what_it_takes_and_its_own_values_are_among_them() {
    for kernel in catalogue().all() {
        let id = &kernel.id;
        for (name, parameter) in &kernel.description.parameters {
            let words = parameter.allowed_text(parameter.default.any());
            let ranged = ["low", "high"].contains(&name.as_str());
            assert!(ranged || !["anything", "numbers"].contains(&words.as_str()), "{id}: {name}");
            assert!(
                ranged || !parameter.values.is_empty() || parameter.min.is_some(),
                "{id}: {name}"
            );
        }
        for class in [DeviceClass::Gpu, DeviceClass::Cpu, DeviceClass::Quick] {
            kernel.parameters(class, &kernel.defaults(class)).unwrap();
        }
        for sweep in &kernel.description.sweeps {
            for (name, values) in &sweep.axes {
                for value in values {
                    let parameter = &kernel.description.parameters[name];
                    let refused = parameter.refuses(value, parameter.default.any());
                    assert_eq!(refused, None, "{id}: {name} = {value}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_allowed_is_refused_with_what_is() {
    let catalogue = catalogue();
    let refused = |id: &str, chosen: &[(&str, Value)]| {
        let chosen =
            chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let kernel = catalogue.kernel(id).unwrap();
        kernel.launch(DeviceClass::Quick, &chosen, SEED).err().map(|error| error.to_string())
    };
    let name = |name: &str| Value::Name(name.to_owned());
    let whole = Value::Integer;
    for (id, parameter, value, takes) in [
        ("five_patterns/uniform", "n", whole(-1), "whole numbers from 0 on"),
        ("five_patterns/uniform", "n", Value::Real(1.5), "whole numbers from 0 on"),
        ("vote/semantics", "density", Value::Real(1.5), "numbers from 0 to 1"),
        ("vote/semantics", "density", name("half"), "numbers from 0 to 1"),
        ("shuffle/tiles", "tile", whole(3), "powers of two from 1 to 256"),
        ("shuffle/latency", "links", whole(100), "whole numbers from 64 on, multiples of 64"),
    ] {
        let expected = format!("{id}: {parameter} cannot be {value}; it takes: {takes}");
        assert_eq!(refused(id, &[(parameter, value)]), Some(expected));
    }
    assert_eq!(refused("vote/semantics", &[("density", whole(1))]), None);
    let xor = ("operation", name("xor"));
    assert_eq!(refused("reduce/device", &[xor.clone(), ("type", name("u32"))]), None);
    let expected = "reduce/device: operation = xor goes with these alone: type = u32, i32; here type \
                    = f32, and floats have no bits to combine";
    assert_eq!(refused("reduce/device", &[xor]).as_deref(), Some(expected));
    let strided = refused("occupancy/strided", &[("stride", whole(64))]).unwrap();
    assert!(
        strided.contains("n = 131072, stride = 64 do not go together: n is at least"),
        "{strided}"
    );
}

#[test]
fn every_launch_fits_its_shader() {
    for kernel in catalogue().kernels() {
        for launch in launches(kernel) {
            let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
            for dispatch in &launch.dispatches {
                let program = parsed.resolve(&dispatch.entry_point, &launch.overrides).unwrap();
                for binding in program.bindings().unwrap() {
                    let buffer = launch.buffer(&binding.name).unwrap_or_else(|| {
                        panic!("{} has no buffer {}", launch.kernel, binding.name)
                    });
                    assert!(buffer.size >= binding.size_min, "{} {}", kernel.id, binding.name);
                    assert!(!buffer.output || binding.writable, "{} {}", kernel.id, binding.name);
                }
                for block in program.blocks() {
                    if let Some(label) = &block.label {
                        let width = Width::new(32).unwrap();
                        let expected = launch.active_lanes_mean_expected(label, width).unwrap();
                        let chosen = matches!(
                            kernel.description.blocks[label].active_lanes_mean,
                            ByParameter::Choice { .. }
                        );
                        let fits = |e: f64| e > 0.0 && e <= 32.0;
                        assert!(expected.map_or(chosen, fits), "{}: {label}", kernel.id);
                    }
                }
            }
            let expected = reference::compute(&launch).unwrap();
            let found = expected.is_some_and(|outputs| outputs.values().all(|v| !v.is_empty()));
            assert!(found || !kernel.description.in_default_set, "{} has no reference", kernel.id);
        }
    }
}

#[test]
fn every_launch_in_cuda_takes_the_parameters_that_its_text_has() {
    let mut claims = BTreeSet::new();
    for kernel in catalogue().all().filter(|kernel| kernel.language == KernelLanguage::Cuda) {
        claims.extend(kernel.description.claims.clone());
        for launch in launches(kernel) {
            assert_eq!(
                (launch.language(), launch.file.ends_with(".cu")),
                (KernelLanguage::Cuda, true)
            );
            let name = &launch.dispatches[0].entry_point;
            assert!(launch.dispatches[0].native.is_some() && launch.reference.is_some(), "{name}");
            // Entry points that a macro makes have the parameters of the macro.
            let made = || {
                kernel.source.split("__global__").nth(1)?.split('(').find(|part| part.contains('*'))
            };
            let head = kernel.source.split(&format!("\n{name}(")).nth(1).or_else(made).unwrap();
            let parameters: Vec<&str> = head
                .split(')')
                .next()
                .unwrap()
                .split(',')
                .map(|parameter| parameter.rsplit(' ').next().unwrap())
                .collect();
            let buffers: Vec<&str> = launch.buffers.iter().map(|b| b.name.as_str()).collect();
            assert_eq!(parameters, buffers, "{} {name}", kernel.id);
        }
    }
    // The claims of these families that no kernel in WGSL can test, every one.
    for claim in ["lesson-match-volta", "mastery-coalesced-reduce", "mastery-grid-sync-deadlock"] {
        assert!(claims.contains(claim), "{claim}");
    }
}

#[test]
fn only_kernels_in_cuda_have_a_workgroup_size_in_their_description() {
    let text = "question = \"?\"\n[[dispatches]]\nentry_point = \"main\"\nworkgroups = 1\n";
    let launch = |language: KernelLanguage, more: &str| {
        let kernel = Kernel::parse("f/k", "", &format!("{text}{more}")).unwrap();
        Kernel { language, ..kernel }.launch(DeviceClass::Quick, &BTreeMap::new(), SEED)
    };
    let size = "workgroup_size = [64, 1, 1]\n";
    assert_eq!(launch(KernelLanguage::Wgsl, "").unwrap().dispatches[0].native, None);
    let native = launch(KernelLanguage::Cuda, &format!("{size}cooperative = 1\n")).unwrap();
    let wanted = Native { workgroup_size: [64, 1, 1], cooperative: true };
    assert_eq!(native.dispatches[0].native, Some(wanted));
    assert!(!launch(KernelLanguage::Cuda, size).unwrap().dispatches[0].native.unwrap().cooperative);
    let message = launch(KernelLanguage::Wgsl, size).unwrap_err().to_string();
    assert!(message.contains("which only CUDA C++ takes"), "{message}");
    let message = launch(KernelLanguage::Cuda, "").unwrap_err().to_string();
    assert!(message.contains("`main`: it needs a `workgroup_size`"), "{message}");
}

#[test]
fn an_unknown_key_is_refused_with_file_line_and_key() {
    let text = "question = \"?\"\nrepeatable = true\ncolour = 3\ndispatches = []\n";
    let message = Kernel::parse("f/k", "", text).unwrap_err().to_string();
    assert!(message.contains("f/k.toml"), "{message}");
    assert!(message.contains("line 3"), "{message}");
    assert!(message.contains("colour"), "{message}");
}

#[test]
fn an_unknown_kernel_gets_near_matches() {
    let message = catalogue().select("brnch_by_lane").unwrap_err().to_string();
    assert!(message.contains("did you mean branch_by_lane"), "{message}");
    assert_eq!(catalogue().select("five_patterns").unwrap().len(), 5);
    assert_eq!(catalogue().select("uniform").unwrap().len(), 1);
}

#[test]
fn parameters_are_checked() {
    let catalogue = catalogue();
    let kernel = catalogue.kernel("five_patterns/uniform").unwrap();
    let with = |name: &str, value: Value| {
        kernel.launch(DeviceClass::Cpu, &BTreeMap::from([(name.to_owned(), value)]), SEED)
    };
    let message = with("m", Value::Integer(1)).unwrap_err().to_string();
    assert!(message.contains("it has: form, n"), "{message}");
    let message = with("form", Value::Name("x".into())).unwrap_err().to_string();
    assert!(message.contains("sealed, published, opaque"), "{message}");
    let message = with("n", Value::Real(0.5)).unwrap_err().to_string();
    assert!(message.contains("whole numbers from 0 on"), "{message}");
    let message = with("n", Value::Integer(1 << 53)).unwrap_err().to_string();
    assert!(message.contains("uniform.toml"), "{message}");
    let launch = with("n", Value::Integer(1 << 24)).unwrap();
    assert_eq!(launch.dispatches[0].workgroups, Workgroups::Direct([32_768, 2, 1]));
}

#[test]
fn a_kernel_without_its_pair_is_refused() {
    let files = BTreeMap::from([("f/k.wgsl".to_owned(), String::new())]);
    let message = Catalogue::from_files(&files).unwrap_err().to_string();
    assert_eq!(message, "f/k.wgsl has no f/k.toml beside it");
    let toml = ("f/k.toml".to_owned(), "question = \"?\"\n".to_owned());
    let files = BTreeMap::from([toml.clone()]);
    let message = Catalogue::from_files(&files).unwrap_err().to_string();
    assert_eq!(message, "f/k.toml has no f/k.wgsl beside it");
    let cuda = ("f/k.cu".to_owned(), String::new());
    let files = BTreeMap::from([toml.clone(), cuda.clone()]);
    let catalogue = Catalogue::from_files(&files).unwrap();
    assert_eq!(catalogue.kernel("f/k").unwrap().language, KernelLanguage::Cuda);
    assert_eq!((catalogue.all().count(), catalogue.kernels().count()), (1, 0));
    let files = BTreeMap::from([toml, cuda, ("f/k.wgsl".to_owned(), String::new())]);
    let message = Catalogue::from_files(&files).unwrap_err().to_string();
    assert_eq!(message, "f/k.wgsl: there is f/k.cu too; a kernel has one text");
}

#[test]
fn parts_are_of_a_family_or_of_the_library() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let toml = "question = \"?\"\nparts = [\"lib/words\", \"g/rest\"]\n";
    let mut files = BTreeMap::from([
        file("f/k.wgsl", "// ?\n"),
        file("f/k.toml", toml),
        file("lib/words.wgsl", "const A = 1;\n"),
        file("g/rest.part.wgsl", "const B = 2;\n"),
    ]);
    let catalogue = Catalogue::from_files(&files).unwrap();
    let ids: Vec<&str> = catalogue.all().map(|kernel| kernel.id.as_str()).collect();
    assert_eq!(ids, ["f/k"], "a part is no kernel");
    let expected =
        "// ?\n\n// lib/words.wgsl\n\nconst A = 1;\n\n// g/rest.part.wgsl\n\nconst B = 2;\n";
    assert_eq!(catalogue.kernel("f/k").unwrap().source, expected);
    files.remove("lib/words.wgsl");
    let message = Catalogue::from_files(&files).unwrap_err().to_string();
    assert_eq!(message, "f/k.wgsl has no lib/words.wgsl beside it");
}

#[test]
fn bytes_that_must_move_follow_from_the_parameters() {
    let text = "question = \"?\"\nbytes = \"4 * n + 4\"\n[parameters.n]\ndescription = \"n\"\n\
                default = 100\n[[dispatches]]\nentry_point = \"main\"\nworkgroups = 1\n";
    let kernel = Kernel::parse("f/k", "", text).unwrap();
    let launch = kernel.launch(DeviceClass::Cpu, &BTreeMap::new(), SEED).unwrap();
    assert_eq!(launch.bytes, Some(404));
    let wrong = Kernel::parse("f/k", "", &text.replace("4 * n", "n / 3")).unwrap();
    let message = wrong.launch(DeviceClass::Cpu, &BTreeMap::new(), SEED).unwrap_err().to_string();
    assert!(message.contains("`bytes`"), "{message}");
}

#[test]
fn lines_are_replaced_by_parameters() {
    let shader = "alias T = f32;\nconst N = 4u;\nfn f(a: T) -> T { return a + a; }\n";
    let text = r#"
question = "?"
[parameters.type]
description = "type"
default = "u32"
[parameters.items]
description = "items"
default = 8
[parameters.operation]
description = "operation"
default = "max"
[[replacements]]
text = "alias T = f32;"
with = "alias T = {type};"
[[replacements]]
text = "const N = 4u;"
with = "const N = {items}u;"
[[replacements]]
text = "return a + a;"
parameter = "operation"
with = { add = "return a + a;", max = "return max(a, a);" }
[[dispatches]]
entry_point = "main"
workgroups = 1
"#;
    let launch = |text: &str| {
        let kernel = Kernel::parse("f/k", shader, text).unwrap();
        kernel.launch(DeviceClass::Cpu, &BTreeMap::new(), SEED)
    };
    let expected = "alias T = u32;\nconst N = 8u;\nfn f(a: T) -> T { return max(a, a); }\n";
    assert_eq!(launch(text).unwrap().source, expected);
    let wrong = |old: &str, new: &str, says: &str| {
        let message = launch(&text.replace(old, new)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    };
    wrong("text = \"const N = 4u;\"", "text = \"const N = 5u;\"", "no `const N = 5u;`");
    wrong("max = \"return max(a, a);\"", "min = \"\"", "where operation = max");
    wrong("{items}u;", "{item}u;", "does not have");
    wrong("{items}u;\"", "{items}u;\\n\\n\"", "at most as many lines");
    wrong("parameter = \"operation\"\n", "", "its `parameter`");
}
