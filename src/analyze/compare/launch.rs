//! One launch before and after: the whole, each dispatch, function and line, with the figures of both.
//!
//! Input: two measurements that are compared, each with its run. Output: a [`LaunchComparison`]. Lines
//! are matched by a diff of the texts, functions by name, calls by their lines, dispatches by their order and
//! entry points.
//! What else differs is said in sentences, to be read before any figure, and so is what to believe where
//! figures speak against each other.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::parts::{Figures, LaunchPart, LinePart, Side, Trend, have_changed};
use super::texts::{LinePair, pair_lines};
use super::timing::{LaunchTimeRatio, time_ratio};
use crate::analyze::counts::{Work, ratio};
use crate::analyze::names::device_label;
use crate::analyze::rounds::median_time;
use crate::analyze::totals::calls::{CalledFrom, Site};
use crate::analyze::totals::{by_call_site, by_function};
use crate::record::{Block, Dispatch};
use crate::units::Width;

/// One launch in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchComparison {
    /// The kernel's name in A and in B.
    pub kernels: [String; 2],
    /// The devices' ids.
    pub devices: [String; 2],
    /// The devices' names for people.
    pub labels: [String; 2],
    /// The widths, in lanes.
    pub widths: [Option<Width>; 2],
    /// What else differs, a sentence each.
    pub differing: Vec<String>,
    /// What to believe, a sentence each: where figures speak against each other.
    pub verdicts: Vec<String>,
    /// The whole launch, dispatches that only set up left out.
    pub whole: LaunchPart,
    /// Its time; `None` if one side was not timed, its work was removed, or one alone has run-time checks.
    pub time: Option<LaunchTimeRatio>,
    /// Each dispatch.
    pub dispatches: Vec<LaunchPart>,
    /// Each function; empty in records that do not know them.
    pub functions: Vec<LaunchPart>,
    /// Each place from which a function is called that is called from several, with all that is done in the call.
    pub calls: Vec<LaunchPart>,
    /// The lines of both texts in one order; those that neither counted too.
    pub lines: Vec<LinePart>,
}

impl LaunchComparison {
    /// Whether its work is another.
    pub fn has_changed(&self) -> bool {
        let work = |side: Option<Figures>| {
            side.map(|figures| (figures.subgroup_operations, figures.lane_operations))
        };
        let [before, after] = self.whole.figures.map(work);
        before != after
    }
}

/// Compares two measurements; `None` if their operations were counted by two rules, or one has no
/// counts.
pub(super) fn compare_launch(a: Side<'_>, b: Side<'_>) -> Option<LaunchComparison> {
    let counted = |side: &Side<'_>| side.measurement.dispatches.iter().any(Dispatch::has_lines);
    if a.run.counting_rule != b.run.counting_rule || !counted(&a) || !counted(&b) {
        return None;
    }
    // Times with and without run-time checks do not compare.
    let alike = a.measurement.runtime_checks.timed == b.measurement.runtime_checks.timed;
    let time = time_ratio(a, b).filter(|_| alike);
    let sides = [a, b];
    let wholes = sides.map(|side| {
        let work = Work::from_measurement(side.measurement);
        let interval = side.measurement.time.as_ref().map(|time| time.ci95_ns);
        Some(side.figures(work, median_time(side.measurement)).within(interval))
    });
    let before = wholes[0].and_then(|whole| whole.lane_slots).unwrap_or(0);
    let whole = part("whole".to_owned(), wholes, before);
    let pairs = pair_lines(a.text(), b.text());
    let mut verdicts = super::sentences::verdicts(&whole, time.as_ref());
    verdicts.extend(time.iter().map(|time| time.drift.clone()));
    let mut found = LaunchComparison {
        kernels: sides.map(|side| side.measurement.kernel.clone()),
        devices: sides.map(|side| side.measurement.device.clone()),
        labels: sides.map(|side| device_label(side.run, &side.measurement.device)),
        widths: sides.map(|side| side.measurement.subgroup_width),
        differing: super::sentences::differing(a, b, &pairs),
        verdicts,
        dispatches: dispatches(a, b, before),
        functions: functions(a, b, before),
        calls: calls(a, b, &pairs, before),
        lines: lines(a, b, &pairs, before),
        whole,
        time,
    };
    let parts = [&found.dispatches, &found.functions, &found.calls].into_iter().flatten();
    let changes = parts.map(|part| part.changed).chain(found.lines.iter().map(|line| line.changed));
    let unchanged =
        super::sentences::describe_unchanged(&found.whole, changes, found.time.as_ref());
    found.verdicts.splice(0..0, unchanged);
    Some(found)
}

fn part(name: String, figures: [Option<Figures>; 2], whole: u128) -> LaunchPart {
    let [before, after] = figures.map(|figures| figures.and_then(|figures| figures.lane_slots));
    let lane_slots_ratio =
        before.zip(after).and_then(|(before, after)| ratio(after, before)).filter(|r| *r > 0.0);
    let changed = have_changed(&figures, whole);
    LaunchPart {
        name,
        lane_slots_ratio,
        trend: Trend::from_slots(before, after, whole),
        changed,
        figures,
    }
}

/// Pairs dispatches in order, those of one entry point with each other; where each side has one, these.
fn pair_dispatches(a: &[Dispatch], b: &[Dispatch]) -> Vec<[Option<usize>; 2]> {
    if a.len() == 1 && b.len() == 1 {
        return vec![[Some(0), Some(0)]];
    }
    let names = |list: &[Dispatch]| -> Vec<String> {
        list.iter().map(|dispatch| dispatch.entry_point.clone()).collect()
    };
    let mut pairs = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &names(a), &names(b)) {
        match operation {
            DiffOp::Equal { old_index, new_index, len } => {
                pairs.extend((0..len).map(|step| [Some(old_index + step), Some(new_index + step)]))
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                pairs.extend(operation.old_range().map(|old| [Some(old), None]));
                pairs.extend(operation.new_range().map(|new| [None, Some(new)]));
            }
        }
    }
    pairs
}

fn dispatches(a: Side<'_>, b: Side<'_>, whole: u128) -> Vec<LaunchPart> {
    let dispatch = |[in_a, in_b]: [Option<usize>; 2]| {
        let figures_of = |side: Side<'_>, index: Option<usize>| {
            let dispatch = &side.measurement.dispatches[index?];
            let figures = side.figures(work_of(&dispatch.blocks), dispatch.median_ns);
            Some(figures.within(dispatch.ci95_ns))
        };
        let name = |side: Side<'_>, index: Option<usize>| {
            let dispatch = &side.measurement.dispatches[index?];
            let setup = if dispatch.setup { " (sets up)" } else { "" };
            Some(format!("{} {}{setup}", index? + 1, dispatch.entry_point))
        };
        let name = name(a, in_a).or_else(|| name(b, in_b)).unwrap_or_default();
        part(name, [figures_of(a, in_a), figures_of(b, in_b)], whole)
    };
    pair_dispatches(&a.measurement.dispatches, &b.measurement.dispatches)
        .into_iter()
        .map(dispatch)
        .collect()
}

fn work_of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Work {
    blocks.into_iter().fold(Work::default(), |sum, block| sum.plus(Work::of_block(block)))
}

/// The functions of both, those of A first, each by its name.
fn functions(a: Side<'_>, b: Side<'_>, whole: u128) -> Vec<LaunchPart> {
    let work_by_function = |side: Side<'_>| -> BTreeMap<String, Work> {
        by_function(&side.measurement.dispatches).into_iter().collect()
    };
    let (in_a, in_b) = (work_by_function(a), work_by_function(b));
    let mut names: Vec<&String> = in_a.keys().collect();
    names.extend(in_b.keys().filter(|name| !in_a.contains_key(*name)));
    let mut parts: Vec<LaunchPart> = names
        .into_iter()
        .map(|name| {
            let left = in_a.get(name).map(|work| a.figures(*work, None));
            let right = in_b.get(name).map(|work| b.figures(*work, None));
            part(name.clone(), [left, right], whole)
        })
        .collect();
    let most = |part: &LaunchPart| part.figures.iter().flatten().filter_map(|f| f.lane_slots).max();
    parts.sort_by_key(|part| std::cmp::Reverse(most(part)));
    parts
}

/// What two calls have in common that are compared: the function, and the caller, the line in B and which of the line's
/// calls it is, where places are told apart.
type CallPlace<'a> = (&'a str, Option<(&'a str, u32, u32)>);

/// The place of a call; `line_in_b` gives the line that belongs to one of its own. `None` where it is compared with none.
fn call_place(site: &Site, line_in_b: impl Fn(u32) -> Option<u32>) -> Option<CallPlace<'_>> {
    match &site.from {
        CalledFrom::One => None,
        CalledFrom::Of(caller, line, nth) => {
            Some((site.function.as_str(), Some((caller.as_str(), line_in_b(*line)?, *nth))))
        }
        CalledFrom::Together(_) => Some((site.function.as_str(), None)),
    }
}

/// The calls of both, those of A first: of one function by one caller on lines that belong together.
fn calls(a: Side<'_>, b: Side<'_>, pairs: &[LinePair], whole: u128) -> Vec<LaunchPart> {
    let [in_a, in_b] = [a, b].map(|side| by_call_site(&side.measurement.dispatches));
    let lines: BTreeMap<u32, u32> = pairs.iter().filter_map(|pair| pair.a.zip(pair.b)).collect();
    let mut open: BTreeMap<CallPlace<'_>, VecDeque<usize>> = BTreeMap::new();
    for (index, (site, _)) in in_b.iter().enumerate() {
        if let Some(place) = call_place(site, Some) {
            open.entry(place).or_default().push_back(index);
        }
    }
    let mut taken = vec![false; in_b.len()];
    let name = |site: &Site| format!("{} from {}", site.function, site.from);
    let mut parts = Vec::new();
    for (site, work) in &in_a {
        let place = call_place(site, |line| lines.get(&line).copied());
        let twin = place.and_then(|place| open.get_mut(&place)?.pop_front());
        let twin = twin.map(|index| {
            taken[index] = true;
            &in_b[index]
        });
        let name = match twin {
            Some((other, _)) if other.from != site.from => {
                format!("{} → {}", name(site), other.from)
            }
            _ => name(site),
        };
        let right = twin.map(|(_, work)| b.figures(*work, None));
        parts.push(part(name, [Some(a.figures(*work, None)), right], whole));
    }
    let added = in_b.iter().zip(taken).filter(|(_, taken)| !taken);
    parts
        .extend(added.map(|((site, work), _)| {
            part(name(site), [None, Some(b.figures(*work, None))], whole)
        }));
    parts
}

fn lines(a: Side<'_>, b: Side<'_>, pairs: &[LinePair], whole: u128) -> Vec<LinePart> {
    let counts = |side: Side<'_>| -> BTreeMap<u32, Work> {
        let mut lines: BTreeMap<u32, Work> = BTreeMap::new();
        for line in side.measurement.dispatches.iter().flat_map(Dispatch::lines) {
            let sum = lines.entry(line.line).or_default();
            *sum = sum.plus(Work {
                subgroup_operations: line.subgroup_operations.into(),
                lane_operations: line.lane_operations.into(),
            });
        }
        lines
    };
    let (in_a, in_b) = (counts(a), counts(b));
    let texts = [a, b].map(|side| side.text().lines().collect::<Vec<_>>());
    let text = |side: usize, number: Option<u32>| {
        let index = usize::try_from(number?).ok()?.checked_sub(1)?;
        texts[side].get(index).map(|text| (*text).to_owned())
    };
    let figure = |pair: &LinePair| {
        let left = pair.a.and_then(|number| in_a.get(&number)).map(|work| a.figures(*work, None));
        let right = pair.b.and_then(|number| in_b.get(&number)).map(|work| b.figures(*work, None));
        let slots = |figures: Option<Figures>| figures.and_then(|figures| figures.lane_slots);
        LinePart {
            line: *pair,
            texts: [text(0, pair.a), text(1, pair.b)],
            trend: Trend::from_slots(slots(left), slots(right), whole),
            changed: have_changed(&[left, right], whole),
            figures: [left, right],
        }
    };
    pairs.iter().map(figure).collect()
}
