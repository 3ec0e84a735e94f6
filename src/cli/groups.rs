//! The launches of a run: kernels at the points of the axes, in groups that are compared.
//!
//! Input: kernels, the points that the user asked for, which sizes a device runs. Output: groups of
//! launches, and sentences about kernels that lack a parameter or do not take a value. It knows
//! nothing of devices.

use std::collections::{BTreeMap, BTreeSet};

use super::failure::{Exit, Failure};
use crate::kernel::format::Sweep;
use crate::kernel::{DeviceClass, Kernel, KernelError, Launch, near_matches};
use crate::record::{FigureY, Value};

/// Which sizes a device runs.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// The class whose defaults it takes.
    pub(super) class: DeviceClass,
    /// The class that it has by itself: a simulator beside a GPU takes the GPU's sizes.
    pub(super) alone: DeviceClass,
    /// Whether it is a simulator, which takes sweeps of its own.
    pub(super) simulated: bool,
}

impl Sizes {
    pub(super) fn of_gpu(class: DeviceClass) -> Self {
        Self { class, alone: DeviceClass::Gpu, simulated: true }
    }

    /// The class whose defaults a kernel takes.
    pub(super) fn class_for(self, kernel: &Kernel) -> DeviceClass {
        let small = kernel.description.small_on_simulator && self.class == DeviceClass::Gpu;
        if small { self.alone } else { self.class }
    }
}

/// The launches, in groups that are compared: same family, same point of the sweep, but for what a
/// kernel's baseline has no parameter for; or a sweep of a kernel's own. Where a kernel does not take a
/// point's value, it has no launch there.
pub(super) fn groups(
    kernels: &[&Kernel],
    points: &[BTreeMap<String, Value>],
    sizes: Sizes,
    seed: u64,
) -> Result<Vec<Vec<Launch>>, Failure> {
    let mut groups: indexmap::IndexMap<String, Vec<Launch>> = indexmap::IndexMap::new();
    let mut known: Vec<(&str, BTreeMap<String, Value>)> = Vec::new();
    let mut alone = Vec::new();
    let mut swept = Vec::new();
    for point in points {
        for kernel in kernels.iter().filter(|kernel| !refuses(kernel, point)) {
            let selected = select_parameters(kernel, point);
            let baseline = baseline(kernel, kernels);
            // What a baseline has no parameter for keeps no kernel from its group.
            let shared = |name: &str| {
                baseline.is_none_or(|other| other.description.parameters.contains_key(name))
            };
            let compared = compared_along(kernel);
            alone.extend(kernel.points(&selected).into_iter().map(|chosen| {
                let names: Vec<String> = chosen
                    .iter()
                    .filter(|(name, _)| shared(name) && !compared.contains(name.as_str()))
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let key = format!("{} {}", kernel.family(), names.join(" "));
                (*kernel, selected.clone(), key, chosen, false)
            }));
            let points = sweeps(kernel, &selected, sizes, &shared);
            let with_kernel =
                |(key, chosen, for_widths)| (*kernel, selected.clone(), key, chosen, for_widths);
            swept.extend(points.into_iter().map(with_kernel));
        }
    }
    // A sweep may pass through the defaults, and a chosen value may collapse it: a point is taken
    // once, in the sweep that it is compared in.
    let (others, for_widths): (Vec<_>, Vec<_>) =
        swept.into_iter().chain(alone).partition(|(.., for_widths)| !for_widths);
    for (kernel, selected, key, chosen, for_widths) in others.into_iter().chain(for_widths) {
        let launch = kernel.launch(sizes.class_for(kernel), &chosen, seed);
        let launch = launch.map_err(|error| impossible(&selected, error))?;
        let launch = Launch { for_widths, traced: !for_widths, ..launch };
        let identity = (kernel.id.as_str(), launch.parameters.clone());
        if !known.contains(&identity) {
            known.push(identity);
            groups.entry(key).or_default().push(launch);
        }
    }
    Ok(groups.into_values().collect())
}

/// The launches by which kernels are compared across widths: their defaults at small sizes.
pub(super) fn for_widths(kernels: &[&Kernel], seed: u64) -> Vec<Vec<Launch>> {
    let launch = |kernel: &&Kernel| {
        let launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), seed).ok()?;
        Some(vec![Launch { for_widths: true, ..launch }])
    };
    kernels.iter().filter_map(launch).collect()
}

/// The parameters along which a kernel's figures compare its times with each other: such launches are timed side
/// by side.
fn compared_along(kernel: &Kernel) -> BTreeSet<&str> {
    let figures = kernel.description.figures.iter();
    let names = figures.flat_map(|figure| match &figure.y {
        FigureY::Speedup(over) | FigureY::Slowdown(over) => {
            over.keys().map(String::as_str).collect()
        }
        FigureY::OfBest | FigureY::WorkOfFirst => vec![figure.x.as_str()],
        FigureY::Efficiency | FigureY::SlotsPerLaneOperation => Vec::new(),
    });
    names.collect()
}

/// The kernel that another is compared with, where it runs too.
fn baseline<'a>(kernel: &Kernel, kernels: &[&'a Kernel]) -> Option<&'a Kernel> {
    let id = kernel.description.baseline.as_ref()?;
    kernels.iter().find(|other| other.id == *id).copied()
}

/// What of a point a kernel has parameters for.
fn select_parameters(kernel: &Kernel, point: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let known = point.iter().filter(|(name, _)| kernel.description.parameters.contains_key(*name));
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A sentence for each parameter that the points choose and some of the kernels lack.
///
/// # Errors
///
/// Bad input where none of the kernels has it.
pub(super) fn lacking(
    kernels: &[&Kernel],
    points: &[BTreeMap<String, Value>],
) -> Result<Vec<String>, Failure> {
    let mut sentences = Vec::new();
    for name in points.first().into_iter().flat_map(BTreeMap::keys) {
        let has = |kernel: &&&Kernel| kernel.description.parameters.contains_key(name);
        let (able, unable): (Vec<&&Kernel>, Vec<&&Kernel>) = kernels.iter().partition(has);
        if able.is_empty() {
            return Err(Failure::message(Exit::BadInput, nobody_has(name, kernels)));
        }
        if !unable.is_empty() {
            let names: Vec<&str> = unable.iter().map(|kernel| kernel.id.as_str()).collect();
            let (have, run) = if names.len() == 1 { ("has", "runs") } else { ("have", "run") };
            let whose = if names.len() == 1 { "its" } else { "their" };
            sentences.push(format!(
                "-a {name}: {} {have} no such parameter and {run} at {whose} own points",
                names.join(", ")
            ));
        }
    }
    Ok(sentences)
}

/// A sentence for each value that the points choose and some of the kernels do not take.
///
/// # Errors
///
/// Bad input where none of the kernels that have the parameter takes a value, and where no kernel
/// takes all of a point's.
pub(super) fn refusing(
    kernels: &[&Kernel],
    points: &[BTreeMap<String, Value>],
) -> Result<Vec<String>, Failure> {
    let mut values: Vec<(&String, &Value)> = Vec::new();
    for chosen in points.iter().flatten() {
        if !values.contains(&chosen) {
            values.push(chosen);
        }
    }
    let mut sentences = Vec::new();
    for (name, value) in values {
        let has = |kernel: &&&Kernel| kernel.description.parameters.contains_key(name);
        let unable: Vec<(&str, KernelError)> = kernels
            .iter()
            .filter_map(|kernel| Some((kernel.id.as_str(), refusal(kernel, name, value)?)))
            .collect();
        let all = kernels.iter().filter(has).count() == unable.len();
        let names: Vec<&str> = unable.iter().map(|(id, _)| *id).collect();
        let names = names.join(", ");
        match unable.into_iter().next() {
            Some((_, error)) if all => return Err(Failure::bad_input(error)),
            Some(_) => sentences.push(format!("-a {name}={value}: left out there: {names}")),
            None => {}
        }
    }
    for point in points {
        if kernels.iter().all(|kernel| refuses(kernel, point)) {
            let message =
                format!("-a {}: no chosen kernel takes these values together", point_text(point));
            return Err(Failure::message(Exit::BadInput, message));
        }
    }
    Ok(sentences)
}

/// Whether a kernel does not take one of a point's values.
fn refuses(kernel: &Kernel, point: &BTreeMap<String, Value>) -> bool {
    point.iter().any(|(name, value)| refusal(kernel, name, value).is_some())
}

/// What a kernel that has the parameter says against a value that it does not take.
fn refusal(kernel: &Kernel, name: &str, value: &Value) -> Option<KernelError> {
    if !kernel.description.parameters.contains_key(name) {
        return None;
    }
    let chosen = BTreeMap::from([(name.to_owned(), value.clone())]);
    match kernel.parameters(DeviceClass::Quick, &chosen) {
        Err(error @ KernelError::ParameterValue { .. }) => Some(error),
        // What does not go together is reported with the launch.
        Ok(_) | Err(_) => None,
    }
}

/// Says that a launch cannot be made, naming what the user chose for it.
fn impossible(chosen: &BTreeMap<String, Value>, error: KernelError) -> Failure {
    match error {
        KernelError::Description { file, message } if !chosen.is_empty() => {
            let kernel = file.strip_suffix(".toml").unwrap_or(&file);
            let message = format!("-a {}: {kernel}: {message}", point_text(chosen));
            Failure::message(Exit::BadInput, message)
        }
        other => Failure::bad_input(other),
    }
}

/// A point as it is asked for.
fn point_text(point: &BTreeMap<String, Value>) -> String {
    let setting = |(name, value): (&String, &Value)| format!("{name}={value}");
    point.iter().map(setting).collect::<Vec<_>>().join(" -a ")
}

/// Says that no kernel has a parameter, what was perhaps meant, and what there is.
fn nobody_has(name: &str, kernels: &[&Kernel]) -> String {
    let known: BTreeSet<&str> = kernels
        .iter()
        .flat_map(|kernel| kernel.description.parameters.keys().map(String::as_str))
        .collect();
    let hint = near_matches(name, known.iter().copied());
    let (who, has) = match kernels {
        [kernel] => (format!("{} has no such parameter", kernel.id), "it has"),
        _ => ("no chosen kernel has such a parameter".to_owned(), "they have"),
    };
    let known: Vec<&str> = known.into_iter().collect();
    format!("-a {name}: {who}{hint}\n{has}: {}", known.join(", "))
}

/// The points of a kernel's sweeps, each with its group's key and whether it is for comparing widths
/// alone; what `point` chose stays. What is not
/// `shared` with the kernel's baseline keeps a point from no group of the family's.
fn sweeps(
    kernel: &Kernel,
    point: &BTreeMap<String, Value>,
    sizes: Sizes,
    shared: &dyn Fn(&str) -> bool,
) -> Vec<(String, BTreeMap<String, Value>, bool)> {
    let gpu = sizes.alone == DeviceClass::Gpu;
    let wanted =
        |sweep: &&Sweep| (gpu || !sweep.gpu_only) && (sizes.simulated || !sweep.simulator_only);
    let compared = compared_along(kernel);
    let mut all = Vec::new();
    for (index, sweep) in kernel.description.sweeps.iter().filter(wanted).enumerate() {
        // Of a sweep whose every parameter was chosen nothing is left but the point itself.
        if sweep.axes.keys().all(|name| point.contains_key(name)) {
            continue;
        }
        let group = sweep.group.clone().unwrap_or_else(|| format!("sweep {index}"));
        let apart: BTreeMap<_, _> =
            point.iter().filter(|(name, _)| !compared.contains(name.as_str())).collect();
        let own_key = format!("{} {group} {apart:?}", kernel.id);
        all.extend(sweep.points(point).into_iter().map(|point| {
            let beside = || {
                let mut point = point.clone();
                point.retain(|name, _| shared(name));
                format!("{} sweep {point:?}", kernel.family())
            };
            let key = if sweep.beside_family { beside() } else { own_key.clone() };
            (key, point, sweep.simulator_only)
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Catalogue;

    #[test]
    fn sweeps_are_products_in_groups_of_their_own_and_yield_to_what_is_chosen() {
        let text = r#"
question = "?"
parameters.a = { description = "", default = 1 }
parameters.b = { description = "", default = 1 }
sweeps = [{ axes = { a = [1, 2], b = [1, 3] } }, { axes = { a = [5] }, gpu_only = true }]
dispatches = [{ entry_point = "main", workgroups = 1 }]
"#;
        let kernel = Kernel::parse("f/k", "", text).unwrap();
        let sizes = |groups: Vec<Vec<Launch>>| groups.iter().map(Vec::len).collect::<Vec<_>>();
        let made = |point: BTreeMap<String, Value>, alone: DeviceClass| {
            let simulated = alone == DeviceClass::Cpu;
            let given = Sizes { class: DeviceClass::Quick, alone, simulated };
            sizes(groups(&[&kernel], &[point], given, 1).unwrap_or_default())
        };
        // Two by two, the defaults among them; on GPUs one more.
        assert_eq!(made(BTreeMap::new(), DeviceClass::Gpu), [4, 1]);
        assert_eq!(made(BTreeMap::new(), DeviceClass::Cpu), [4]);
        let chosen = BTreeMap::from([("b".to_owned(), Value::Integer(7))]);
        assert_eq!(made(chosen, DeviceClass::Cpu), [2]);
    }

    #[test]
    fn what_a_figure_compares_is_timed_side_by_side() {
        let catalogue = Catalogue::embedded().unwrap();
        let sizes = |id: &str, axes: [(&str, Vec<Value>); 2]| {
            let kernel = catalogue.kernel(id).unwrap();
            let [(name, ones), (other, others)] = axes;
            let point = |a: &Value, b: &Value| {
                BTreeMap::from([(name.to_owned(), a.clone()), (other.to_owned(), b.clone())])
            };
            let points: Vec<_> =
                ones.iter().flat_map(|a| others.iter().map(move |b| point(a, b))).collect();
            let made = groups(&[kernel], &points, Sizes::of_gpu(DeviceClass::Quick), 1).unwrap();
            made.iter().map(Vec::len).collect::<Vec<usize>>()
        };
        let numbers = |values: &[i64]| values.iter().map(|v| Value::Integer(*v)).collect();
        let names = |values: [&str; 2]| values.map(|v| Value::Name(v.to_owned())).to_vec();
        // At each number of arms the keys that are compared.
        let arms = ("classes", numbers(&[2, 4, 8]));
        assert_eq!(sizes("k_way/switch", [arms, ("keys", names(["one", "even"]))]), [2, 2, 2]);
        // The whole sweep along x, where its own end is the baseline, beside what the kernel sweeps itself; a whole
        // number stands for a fraction.
        let few = ("few", numbers(&[1, 16, 32]));
        assert_eq!(sizes("split/lanes", [few, ("others", numbers(&[0, 1]))]), [6, 6]);
    }

    #[test]
    fn what_a_baseline_has_no_parameter_for_is_compared_with_it_all_the_same() {
        let kernel = |id: &str, more: &str| {
            let text = format!(
                "question = \"?\"\n\
                 {more}\n\
                 parameters.a = {{ description = \"\", default = 1 }}\n\
                 dispatches = [{{ entry_point = \"main\", workgroups = 1 }}]\n"
            );
            Kernel::parse(id, "", &text).unwrap()
        };
        let base = kernel("f/base", "");
        let text = "baseline = \"f/base\"\nparameters.b = { description = \"\", default = 1 }";
        let remedy = kernel("f/remedy", text);
        let number = |name: &str, value: i64| (name.to_owned(), Value::Integer(value));
        let point = |a, b| BTreeMap::from([number("a", a), number("b", b)]);
        let points = [point(1, 1), point(1, 2), point(2, 1), point(2, 2)];
        let sizes = |kernels: &[&Kernel]| {
            let made = groups(kernels, &points, Sizes::of_gpu(DeviceClass::Quick), 1).unwrap();
            made.iter().map(Vec::len).collect::<Vec<usize>>()
        };
        // At each value of `a` the baseline and the remedy at both values of `b`.
        assert_eq!(sizes(&[&base, &remedy]), [3, 3]);
        assert_eq!(sizes(&[&remedy]), [1; 4]);
    }

    #[test]
    fn parameters_that_some_kernels_lack_are_told_and_those_that_all_lack_refused() {
        let catalogue = Catalogue::embedded().unwrap();
        let latency = catalogue.kernel("shuffle/latency").unwrap();
        let uniform = catalogue.kernel("five_patterns/uniform").unwrap();
        let point = |name: &str| BTreeMap::from([(name.to_owned(), Value::Integer(512))]);
        let both = [latency, uniform];
        let sentences = lacking(&both, &[point("n")]).unwrap();
        let sentence = "-a n: shuffle/latency has no such parameter and runs at its own points";
        assert_eq!(sentences, [sentence]);
        assert!(lacking(&[uniform], &[point("n")]).unwrap().is_empty());
        let sizes = Sizes::of_gpu(DeviceClass::Quick);
        let made = groups(&both, &[point("n")], sizes, 1).unwrap();
        let launches_of =
            |id: &str| made.iter().flatten().filter(|launch| launch.kernel == id).count();
        let at_defaults = groups(&[latency], &[BTreeMap::new()], sizes, 1).unwrap();
        assert_eq!(launches_of("shuffle/latency"), at_defaults.iter().flatten().count());
        assert_eq!(launches_of("five_patterns/uniform"), 2);
        let refused = lacking(&both, &[point("link")]).unwrap_err();
        assert_eq!(refused.exit, Exit::BadInput);
        let text = refused.error.to_string();
        assert!(text.contains("did you mean links") && text.contains("they have: form,"), "{text}");
    }

    #[test]
    fn kernels_that_do_not_take_a_value_are_left_out_and_told() {
        let catalogue = Catalogue::embedded().unwrap();
        let both = ["sort/permutation", "sort/divergent"].map(|id| catalogue.kernel(id).unwrap());
        let point = |pairs: &[(&str, Value)]| -> BTreeMap<String, Value> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        };
        let classes = |count| point(&[("classes", Value::Integer(count))]);
        let sentences = refusing(&both, &[classes(8), classes(64)]).unwrap();
        assert_eq!(sentences, ["-a classes=64: left out there: sort/divergent"]);
        assert!(refusing(&both, &[classes(8)]).unwrap().is_empty());
        let sizes = Sizes::of_gpu(DeviceClass::Quick);
        let made = groups(&both, &[classes(64)], sizes, 1).unwrap();
        let ids: Vec<&str> = made.iter().flatten().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(ids, ["sort/permutation"]);
        // A value that nobody takes, and one that its only owner does not take, are bad input.
        let arms = Value::Name("none".to_owned());
        for (point, told) in [
            (classes(7), "sort/permutation: classes cannot be 7; it takes: 2, 4"),
            (point(&[("arms", arms)]), "sort/divergent: arms cannot be none; it takes: equal"),
        ] {
            let refused = refusing(&both, &[point]).unwrap_err();
            assert_eq!(refused.exit, Exit::BadInput);
            assert!(refused.error.to_string().starts_with(told), "{}", refused.error);
        }
        // So are two values that nobody takes together.
        let kernel = |id: &str, a: &str, b: &str| {
            let text = format!(
                "question = \"?\"\n\
                 parameters.a = {{ description = \"\", default = 1, values = {a} }}\n\
                 parameters.b = {{ description = \"\", default = 1, values = {b} }}\n"
            );
            Kernel::parse(id, "", &text).unwrap()
        };
        let (left, right) = (kernel("f/left", "[1, 2]", "[1]"), kernel("f/right", "[1]", "[1, 2]"));
        let two = [("a", Value::Integer(2)), ("b", Value::Integer(2))];
        let refused = refusing(&[&left, &right], &[point(&two)]).unwrap_err();
        let expected = "-a a=2 -a b=2: no chosen kernel takes these values together";
        assert_eq!(refused.error.to_string(), expected);
    }

    #[test]
    fn a_launch_that_cannot_be_made_names_the_axis() {
        let catalogue = Catalogue::embedded().unwrap();
        let kernel = catalogue.kernel("sort/permutation").unwrap();
        let point = BTreeMap::from([("n".to_owned(), Value::Integer(5_000_000_000))]);
        let refused =
            groups(&[kernel], &[point], Sizes::of_gpu(DeviceClass::Quick), 1).unwrap_err();
        assert_eq!(refused.exit, Exit::BadInput);
        let text = refused.error.to_string();
        let expected = "-a n=5000000000: sort/permutation: [multisplit]: `elements` is 5000000000";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn too_many_elements_for_a_partition_are_refused_with_the_most_that_fit() {
        let catalogue = Catalogue::embedded().unwrap();
        let kernel = catalogue.kernel("sort/sorted").unwrap();
        let launch = |n: i64| {
            let point = BTreeMap::from([("n".to_owned(), Value::Integer(n))]);
            kernel.launch(DeviceClass::Quick, &point, 1)
        };
        let text = launch(4_294_967_295).unwrap_err().to_string();
        let (_, rest) = text.split_once("`elements` is 4294967295; ").unwrap();
        let (_, rest) = rest.split_once("by 8 classes takes at most ").unwrap();
        let most: i64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!(rest.contains("chunks; 65535 at most"), "{text}");
        assert!(launch(most).is_ok(), "{most}");
        assert!(launch(most + 1).is_err(), "{most}");
    }
}
