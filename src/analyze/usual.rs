//! What notes of kernels say of their parameters: which values are usual, and along which it is
//! asked where a kernel pays.
//!
//! Input: a run's notes. Output: how unusual a launch is, axes in order. It knows no parameter by
//! name but the size.

use std::collections::{BTreeMap, BTreeSet};

use super::SIZE;
use crate::record::{KernelNote, Run, Value};

/// The usual values of a run's parameters.
pub(super) struct Usual<'a>(BTreeMap<&'a str, &'a Value>);

impl<'a> Usual<'a> {
    /// Collects what the notes of all kernels say; of different values, the first one's.
    pub(super) fn from_run(run: &'a Run) -> Self {
        let mut values: BTreeMap<&str, &Value> = BTreeMap::new();
        for (name, value) in run.kernels.values().flat_map(|note| &note.usual) {
            values.entry(name).or_insert(value);
        }
        Self(values)
    }

    /// The parameters that have another value than they usually have.
    pub(super) fn unusual(&self, parameters: &BTreeMap<String, Value>) -> BTreeSet<String> {
        let differs = |(name, value): &(&String, &Value)| {
            let usual = self.0.get(name.as_str());
            usual.is_some_and(|usual| usual.to_string() != value.to_string())
        };
        parameters.iter().filter(differs).map(|(name, _)| name.clone()).collect()
    }

    /// In how many parameters a launch differs from the usual one.
    pub(super) fn count(&self, parameters: &BTreeMap<String, Value>) -> usize {
        self.unusual(parameters).len()
    }

    /// The usual value of a parameter.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).copied()
    }
}

/// Keeps those that are least unusual.
pub(super) fn keep_usual<T>(all: &mut Vec<T>, unusual: impl Fn(&T) -> usize) {
    let least = all.iter().map(&unusual).min();
    all.retain(|measurement| Some(unusual(measurement)) == least);
}

/// Keeps those of each kernel that are least unusual.
pub(super) fn keep_usual_of_each<T>(all: &mut Vec<T>, kernel: impl Fn(&T) -> (&str, usize)) {
    let mut least: BTreeMap<String, usize> = BTreeMap::new();
    for (kernel, unusual) in all.iter().map(&kernel) {
        let known = least.entry(kernel.to_owned()).or_insert(unusual);
        *known = unusual.min(*known);
    }
    all.retain(|measurement| {
        let (kernel, unusual) = kernel(measurement);
        least.get(kernel) == Some(&unusual)
    });
}

/// Whether it is asked where a kernel pays.
pub(super) fn asks_where_it_pays(run: &Run, kernel: &str) -> bool {
    run.kernels.get(kernel).is_some_and(|note| !note.axes.is_empty())
}

/// A parameter that curves run along, with what sentences call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AxisName {
    pub(super) name: String,
    pub(super) words: String,
}

/// The parameters along which curves are made, those that matter most first: the size, then those
/// that notes name, by the least place that one of them gives them.
pub(super) fn axes(run: &Run) -> Vec<AxisName> {
    let mut found: BTreeMap<&str, (usize, &str)> = BTreeMap::from([(SIZE, (0, SIZE))]);
    for note in run.kernels.values() {
        let KernelNote { axes, .. } = note;
        for (place, axis) in axes.iter().enumerate() {
            let words = axis.words.as_deref().unwrap_or(&axis.name);
            let known = found.entry(&axis.name).or_insert((place, words));
            known.0 = known.0.min(place);
        }
    }
    let mut found: Vec<(usize, bool, &str, &str)> = found
        .into_iter()
        .map(|(name, (place, words))| (place, name != SIZE, name, words))
        .collect();
    found.sort_unstable();
    let axis = |(_, _, name, words): (usize, bool, &str, &str)| AxisName {
        name: name.to_owned(),
        words: words.to_owned(),
    };
    found.into_iter().map(axis).collect()
}
