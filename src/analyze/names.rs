//! Names: of parameters, kernels and devices, and what a run holds under them.
//!
//! Input: a run. Output: text, and references into the run. No figure is made here. What is looked up for each
//! measurement is put in order once, so that a run of thousands costs no more for each than one of ten.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use indexmap::IndexMap;

use crate::record::{Device, Measurement, PublishedFigure, PublishedSpeedup, Run, Status, Value};
use crate::units::{Width, grouped_text};

/// The parameter that holds a launch's element count.
pub const SIZE: &str = "n";

/// The parameter that tells a kernel's forms apart: sealed against the compiler, or as published.
pub const FORM: &str = "form";

/// Returns the last part of a kernel's name, or of a shader's path.
pub fn short_name(kernel: &str) -> &str {
    kernel.rsplit_once('/').map_or(kernel, |(_, name)| name)
}

/// Returns all but the last part of a kernel's name; empty where it has one part.
pub fn family(kernel: &str) -> &str {
    kernel.rsplit_once('/').map_or("", |(family, _)| family)
}

/// Writes parameters as `form=sealed, n=65536`, leaving out those named in `without`.
pub fn parameters_text(parameters: &BTreeMap<String, Value>, without: &[&str]) -> String {
    let parts: Vec<String> = parameters
        .iter()
        .filter(|(name, _)| !without.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    parts.join(", ")
}

/// A text that stands within a sentence.
pub(super) fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list_text<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [device] => (*device).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A count with its noun.
pub(super) fn write_count(count: usize, text: &str, many: &str) -> String {
    format!("{} {}", grouped_text(count as u128), if count == 1 { text } else { many })
}

/// A number in a sentence, with commas between thousands.
pub(super) fn exact(value: f64) -> String {
    if value < 10.0 || value.fract() > 1e-6 {
        return format!("{}", (value * 1e6).round() / 1e6);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 10"
    )]
    grouped_text(value.round() as u128)
}

/// A parameter's value in a sentence; where it may be pasted, after `name=`, it stands without commas.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::Integer(number) if *number >= 0 => grouped_text(number.unsigned_abs().into()),
        Value::Integer(_) | Value::Real(_) | Value::Name(_) => value.to_string(),
    }
}

/// The least part by which figures differ of which an opening speaks.
pub(super) const NOTABLE: f64 = 0.02;

/// Whether a ratio of two figures is worth a sentence of an opening.
pub(super) fn is_notable(ratio: f64) -> bool {
    ratio.is_finite() && ratio > 0.0 && ratio.ln().abs() >= NOTABLE.ln_1p()
}

/// How many parameters are named as those that were varied, and how many words of one.
const VARIED_MAX: usize = 4;

/// Which parameters launches differ in, each with its range, in brackets; empty where in none.
pub(super) fn varied_text<'a>(
    launches: impl Iterator<Item = &'a BTreeMap<String, Value>>,
) -> String {
    let mut values: IndexMap<&str, IndexMap<String, &Value>> = IndexMap::new();
    for (name, value) in launches.flatten() {
        values.entry(name).or_default().entry(value_key(value)).or_insert(value);
    }
    let range = |(name, values): (&str, IndexMap<String, &Value>)| {
        let mut values: Vec<&Value> = values.into_values().collect();
        if values.len() < 2 {
            return None;
        }
        if values.iter().all(|value| value.number().is_some()) {
            values.sort_by(|a, b| a.number().partial_cmp(&b.number()).unwrap_or(Ordering::Equal));
            let [least, most] = [values.first()?, values.last()?].map(|value| value_text(value));
            return Some(format!("{name} from {least} to {most}"));
        }
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        let fits = words.len() <= VARIED_MAX;
        let words = if fits { list_text(&words) } else { format!("of {} kinds", words.len()) };
        Some(format!("{name} {words}"))
    };
    let mut ranges: Vec<String> = values.into_iter().filter_map(range).collect();
    let others = ranges.split_off(ranges.len().min(VARIED_MAX)).len();
    if others > 0 {
        ranges.push(format!("{others} more"));
    }
    if ranges.is_empty() { String::new() } else { format!(" (varied: {})", ranges.join("; ")) }
}

/// Names a device for people: what drivers call it, and the interface where it is hardware's.
///
/// Where several devices of `run` would get the same name, each gets its id too.
pub fn device_label(run: &Run, id: &str) -> String {
    let Some(device) = run.devices.iter().find(|device| device.id == id) else {
        return id.to_owned();
    };
    let label = plain_label(device);
    let alike = run.devices.iter().filter(|other| plain_label(other) == label).count();
    if alike > 1 { format!("{label}, {id}") } else { label }
}

/// The names of a run's devices, each beside itself with the width that it ran: for figures, which are
/// shown alone. Simulators are named by their width.
pub fn labels_with_width(run: &Run) -> BTreeMap<String, String> {
    let named = |device: &Device| {
        let label = device_label(run, &device.id);
        let width = device.subgroup_width_run.filter(|_| !device.is_emulated());
        let with = width.map_or(label.clone(), |width| format!("{label}, {width} lanes"));
        (label, with)
    };
    run.devices.iter().map(named).collect()
}

/// Names a device without regard to others.
pub(super) fn plain_label(device: &Device) -> String {
    if device.is_emulated() {
        device.id.clone()
    } else {
        format!("{} ({})", device.name, device.backend.name())
    }
}

/// Returns the kernel that `kernel` is compared with.
pub(super) fn baseline<'a>(run: &'a Run, kernel: &str) -> Option<&'a str> {
    run.kernels.get(kernel)?.baseline.as_deref()
}

/// Returns the figure published for `kernel` where it is comparable at `width`.
pub(super) fn find_published<'a>(
    run: &'a Run,
    kernel: &str,
    width: Option<Width>,
) -> Option<&'a PublishedFigure> {
    let published = run.kernels.get(kernel)?.published.as_ref();
    published.filter(|figure| figure.subgroup_width.is_none() || figure.subgroup_width == width)
}

/// Returns the published speed-up that is comparable: over the kernel's own baseline, at the size of the measurement.
pub(super) fn find_published_speedup<'a>(
    run: &'a Run,
    measurement: &Measurement,
) -> Option<&'a PublishedSpeedup> {
    let note = run.kernels.get(&measurement.kernel)?;
    let published = note.published_speedup.as_ref().filter(|_| note.baseline.is_some())?;
    let size = Value::Integer(published.n);
    (measurement.parameters.get(SIZE) == Some(&size)).then_some(published)
}

/// Returns the device of `run` with this id.
pub(super) fn device<'a>(run: &'a Run, id: &str) -> Option<&'a Device> {
    run.devices.iter().find(|device| device.id == id)
}

/// Whether a measurement was made by the simulator.
pub(super) fn is_simulated(run: &Run, measurement: &Measurement) -> bool {
    device(run, &measurement.device).is_some_and(Device::is_simulator)
}

/// What simulators counted in a run, by launch and width; of equal launches the first.
pub(super) struct Simulated<'a>(HashMap<String, &'a Measurement>);

impl<'a> Simulated<'a> {
    /// Collects what ended well.
    pub(super) fn from_run(run: &'a Run) -> Self {
        let mut all: HashMap<String, &Measurement> = HashMap::new();
        for measurement in &run.measurements {
            if measurement.status == Status::Ok && is_simulated(run, measurement) {
                all.entry(Self::key(measurement)).or_insert(measurement);
            }
        }
        Self(all)
    }

    /// Finds the simulator's measurement of the same kernel, parameters, seed, source and width.
    pub(super) fn find(&self, measurement: &Measurement) -> Option<&'a Measurement> {
        measurement.subgroup_width?;
        self.0.get(&Self::key(measurement)).copied()
    }

    fn key(measurement: &Measurement) -> String {
        let Measurement { kernel, parameters, seed, source_sha256, subgroup_width, .. } =
            measurement;
        let launch = launch_key(kernel, parameters);
        format!("{seed} {subgroup_width:?} {source_sha256:?} {launch}")
    }
}

/// Measurements by kernel and parameters.
pub(super) struct Launches<'a>(HashMap<String, Vec<&'a Measurement>>);

impl<'a> Launches<'a> {
    /// Collects the measurements of a run.
    pub(super) fn from_run(run: &'a Run) -> Self {
        let mut all: HashMap<String, Vec<&Measurement>> = HashMap::new();
        for measurement in &run.measurements {
            let key = launch_key(&measurement.kernel, &measurement.parameters);
            all.entry(key).or_default().push(measurement);
        }
        Self(all)
    }

    /// The measurements of a kernel with these parameters, in the order of measurement.
    pub(super) fn find_same(
        &self,
        kernel: &str,
        parameters: &BTreeMap<String, Value>,
    ) -> &[&'a Measurement] {
        self.0.get(&launch_key(kernel, parameters)).map_or(&[][..], Vec::as_slice)
    }
}

/// Launches by the parameters that they share with another, which may have more or fewer.
pub(super) struct Sharing<'a, T>(IndexMap<Vec<&'a str>, Named<'a, T>>);

/// Launches whose parameters have the same names.
struct Named<'a, T> {
    /// Each with its place among all launches.
    launches: Vec<(usize, &'a BTreeMap<String, Value>, T)>,
    /// By the names that another launch shares: the places in `launches` by values.
    by_values: BTreeMap<Vec<&'a str>, HashMap<String, Vec<usize>>>,
}

impl<T> Default for Sharing<'_, T> {
    fn default() -> Self {
        Self(IndexMap::new())
    }
}

impl<'a, T: Copy> Sharing<'a, T> {
    /// Adds a launch; `place` orders those that are found.
    pub(super) fn add(&mut self, place: usize, parameters: &'a BTreeMap<String, Value>, launch: T) {
        let names = parameters.keys().map(String::as_str).collect();
        let fresh = || Named { launches: Vec::new(), by_values: BTreeMap::new() };
        let named = self.0.entry(names).or_insert_with(fresh);
        named.launches.push((place, parameters, launch));
        named.by_values.clear();
    }

    /// Those that have the same value in every parameter that both have, by their places.
    pub(super) fn find(&mut self, parameters: &BTreeMap<String, Value>) -> Vec<T> {
        let mut found: Vec<(usize, T)> = Vec::new();
        for (names, Named { launches, by_values }) in &mut self.0 {
            let shared: Vec<&'a str> =
                names.iter().copied().filter(|name| parameters.contains_key(*name)).collect();
            let key = values_key(parameters, &shared);
            let by_values = by_values.entry(shared).or_insert_with_key(|shared| {
                let mut by_values: HashMap<String, Vec<usize>> = HashMap::new();
                for (index, (_, known, _)) in launches.iter().enumerate() {
                    by_values.entry(values_key(known, shared)).or_default().push(index);
                }
                by_values
            });
            let same = by_values.get(&key).into_iter().flatten().map(|index| &launches[*index]);
            found.extend(same.map(|(place, _, launch)| (*place, *launch)));
        }
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, launch)| launch).collect()
    }
}

/// A text that launches of one kernel share where their parameters are equal, and no others.
pub(super) fn launch_key(kernel: &str, parameters: &BTreeMap<String, Value>) -> String {
    let mut key = format!("{kernel:?}");
    for (name, value) in parameters {
        let _ = write!(key, " {name:?}={}", value_key(value));
    }
    key
}

/// The same of the values of some parameters, in this order.
pub(super) fn values_key(parameters: &BTreeMap<String, Value>, names: &[&str]) -> String {
    let values = names.iter().map(|name| parameters.get(*name).map(value_key).unwrap_or_default());
    values.collect::<Vec<_>>().join(" ")
}

/// A text that equal values share, and no others.
fn value_key(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("{number}"),
        // The two zeros are equal.
        Value::Real(number) => format!("real {}", number + 0.0),
        Value::Name(name) => format!("{name:?}"),
    }
}
