//! Two runs side by side: what changed between them.
//!
//! Input: two runs, such as before and after a change, or two machines. Output: a row for each launch
//! that both measured, and a list of what has no counterpart. [`compare_launches`] goes into each
//! launch, down to its lines, and [`RelativeCondition`] judges it.

mod gate;
mod launch;
mod parts;
mod sentences;
mod texts;
mod timing;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

pub use gate::{RelativeCondition, RelativeViolation};
pub use launch::LaunchComparison;
pub use parts::{CHANGE_MIN, Figures, LaunchPart, LinePart, Trend};
pub use texts::LinePair;
pub use timing::LaunchTimeRatio;

use super::counts::{Work, active_lanes_mean, efficiency, ratio};
use super::machine::ExecutedCode;
use super::names::{
    SIZE, device_label, family, launch_key, list_text, parameters_text, plain_label, value_text,
};
use super::plausibility::plausibility;
use super::profile::decides;
use super::rounds::{median_time, times_ns};
use super::width_costs::{lane_slots, seed_range};
use crate::{
    record::{Device, Flag, Measurement, Run, Status, Tag, Value},
    statistics::{UnpairedRatio, unpaired_ratio},
    units::{Nanoseconds, Ratio, Width},
};

/// The seed of the intervals: any fixed number makes the same table from the same files.
const SEED: u64 = 0x6c61_6e65;

/// Of how many launches those are shown too that did not change.
const ROWS_ALL_SHOWN: usize = 16;

/// The comparison of a first run A with a second run B.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What differs between the two beside what is compared, a sentence each: to be read first.
    pub differing: Vec<String>,
    /// Launches that both runs measured, in A's order.
    pub rows: Vec<ComparisonRow>,
    /// Machine code that was executed without its hardware in both runs, in A's order.
    pub executed: Vec<ExecutedComparison>,
    /// Launches without a counterpart, A's before B's.
    pub not_compared: Vec<NotCompared>,
}

/// What one launch's machine code came to in both runs, executed without hardware; pairs are A, B.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutedComparison {
    /// The kernel's full name in A.
    pub kernel: String,
    /// Every parameter with its value, the same in both.
    pub parameters: BTreeMap<String, Value>,
    /// The devices' ids.
    pub devices: [String; 2],
    /// What the code came to, and what of.
    pub sides: [ExecutedCode; 2],
    /// B's instructions over A's; `None` if A executed none.
    pub instructions_ratio: Option<f64>,
    /// B's lanes over A's, in the mean over vector instructions; `None` where a side executed none, or where the
    /// waves are of two sizes.
    pub lanes_ratio: Option<f64>,
    /// B's passes over A's: where each empty half is skipped, and where none is.
    pub passes_ratios: [Option<f64>; 2],
}

/// One launch in both runs; pairs are A, B.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value, the same in both.
    pub parameters: BTreeMap<String, Value>,
    /// The devices' names for people.
    pub labels: [String; 2],
    /// The widths, in lanes.
    pub widths: [Option<Width>; 2],
    /// Mean active lanes; `None` if the two were counted by different rules.
    pub active_lanes_means: [Option<f64>; 2],
    /// Mean active lanes over the width.
    pub efficiencies: [Option<Ratio>; 2],
    /// Median times of one launch.
    pub medians: [Option<Nanoseconds>; 2],
    /// B's median time over A's; `None` if one was not timed or is not plausible.
    pub time_ratio: Option<UnpairedRatio>,
    /// B's Σ operations × executions over A's; `None` if one was not counted.
    pub subgroup_operations_ratio: Option<f64>,
    /// Subgroup operations × width, which compares across widths.
    pub lane_slots: [Option<u128>; 2],
    /// B's lane slots over A's; `None` if one was not counted.
    pub lane_slots_ratio: Option<f64>,
    /// The least and the greatest of that ratio over the seeds that both were counted with, and how many these are;
    /// `None` if there is one alone.
    pub lane_slots_range: Option<([f64; 2], usize)>,
    /// Whether its machine code was executed without hardware in both.
    pub executed: bool,
    /// Findings.
    pub flags: Vec<Flag>,
}

/// The most kernels, and families, that are named where launches have no counterpart.
const NAMED_MAX: usize = 4;

/// A measurement that has no counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct NotCompared {
    /// The run that has it: 0 is A, 1 is B.
    pub side: usize,
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// Why, in words for people.
    pub reason: String,
    /// The parameters that differ in the launch that the other run has instead, where that is why.
    pub instead: Option<String>,
}

impl Comparison {
    /// The launches that changed, and how many did not: their lane slots and efficiency are the same, and their times
    /// are not told apart. Of few launches all stay.
    pub fn keep_changed(&self) -> (Self, usize) {
        let mut changed = self.clone();
        if self.rows.len() > ROWS_ALL_SHOWN {
            changed.rows.retain(|row| !row.is_unchanged());
        }
        let left = self.rows.len() - changed.rows.len();
        (changed, left)
    }

    /// That nothing changed, where that holds for all launches.
    pub fn describe_unchanged(&self) -> Option<String> {
        let all = !self.rows.is_empty() && self.rows.iter().all(ComparisonRow::is_unchanged);
        let launches = match self.rows.len() {
            1 => String::new(),
            count => format!(" in each of {count} launches"),
        };
        let of_what = match self.not_compared.is_empty() {
            true => "Nothing changed",
            false => "Nothing changed in what both runs have",
        };
        all.then(|| {
            format!(
                "{of_what}: B takes as many lane slots as A{launches}, and as many of them are idle."
            )
        })
    }
}

impl ComparisonRow {
    /// Whether its machine code was executed without hardware and nothing else of it was counted or timed: its
    /// figures are those of [`Comparison::executed`].
    pub fn is_executed_alone(&self) -> bool {
        let counted = self.active_lanes_means.iter().any(Option::is_some);
        self.executed && !counted && self.medians.iter().all(Option::is_none)
    }

    /// Whether lane slots and efficiency are the same and times are not told apart.
    fn is_unchanged(&self) -> bool {
        let near_one = |ratio: f64| (ratio - 1.0).abs() < CHANGE_MIN;
        let [before, after] = self.efficiencies;
        let lanes = before.zip(after).is_none_or(|(before, after)| near_one(after.0 / before.0));
        let slots = self.lane_slots_ratio.is_some_and(near_one) && lanes;
        let interval = self.time_ratio.as_ref().map(|ratio| ratio.interval);
        slots && interval.is_none_or(|times| times.low <= 1.0 && times.high >= 1.0)
    }
}

impl Comparison {
    /// What has no counterpart and why, a sentence for all launches for which the reason is the same.
    pub fn describe_not_compared(&self) -> Vec<String> {
        // By device first; then devices that lack the same go together.
        let mut of_devices: IndexMap<(usize, &str, &str), Vec<&NotCompared>> = IndexMap::new();
        for missing in &self.not_compared {
            let NotCompared { side, label, reason, .. } = missing;
            of_devices.entry((*side, label, reason)).or_default().push(missing);
        }
        let mut groups: IndexMap<(usize, &str, String), Vec<&str>> = IndexMap::new();
        let mut sentences = Vec::new();
        for ((side, label, reason), all) in of_devices {
            match all.as_slice() {
                [missing] => sentences.push(missing.sentence()),
                _ => groups.entry((side, reason, launches_text(&all))).or_default().push(label),
            }
        }
        sentences.extend(groups.into_iter().map(|((side, reason, launches), labels)| {
            let side = SIDES[side];
            let each = if labels.len() > 1 { "each of " } else { "" };
            format!("only in {side}: {launches} on {each}{}: {reason}", list_text(&labels))
        }));
        sentences
    }
}

/// What the two runs are called.
const SIDES: [&str; 2] = ["A", "B"];

/// How many launches of which kernels; of many kernels the families.
fn launches_text(all: &[&NotCompared]) -> String {
    let kernels: IndexSet<&str> = all.iter().map(|missing| missing.kernel.as_str()).collect();
    let families: IndexSet<&str> = kernels.iter().map(|kernel| family(kernel)).collect();
    let names = |names: &IndexSet<&str>| list_text(&names.iter().collect::<Vec<_>>());
    let owners = match (kernels.len(), families.len()) {
        (..=NAMED_MAX, _) => names(&kernels),
        (many, ..=NAMED_MAX) => format!("{many} kernels of {}", names(&families)),
        (many, families_count) => format!("{many} kernels of {families_count} families"),
    };
    format!("{} launches of {owners}", all.len())
}

impl NotCompared {
    /// What has no counterpart and why, in a sentence.
    pub fn sentence(&self) -> String {
        let parameters = parameters_text(&self.parameters, &[]);
        let Self { side, label, kernel, reason, instead, .. } = self;
        let instead = instead.as_ref().map_or(String::new(), |instead| format!(" ({instead})"));
        format!("only in {}: {kernel} {parameters} on {label}: {reason}{instead}", SIDES[*side])
    }
}

/// Compares run `a` with run `b`.
///
/// Devices are matched by name and interface, else by id, else, where each run has one device that
/// is no simulator, that one with that one. Devices that are left are matched in order, whatever they
/// are: their launches compare in lane slots. Kernels are matched by name with equal parameters; where
/// each run has one kernel that the other does not have, and their texts look like two versions of one,
/// or `versions` says that they are, those two.
pub fn compare(a: &Run, b: &Run, versions: bool) -> Comparison {
    compare_noticing(a, b, versions, &mut || {})
}

/// As [`compare`]; whoever waits is notified of each pair of launches that is compared.
pub fn compare_noticing(a: &Run, b: &Run, versions: bool, notice: &mut dyn FnMut()) -> Comparison {
    let (pairs, not_compared) = pair(a, b, versions);
    let noticed = |(left, right): &(&Measurement, &Measurement)| {
        let made = row(a, b, left, right);
        notice();
        made
    };
    let rows: Vec<ComparisonRow> = pairs.iter().map(noticed).collect();
    let executed = pairs.iter().filter_map(|(l, r)| executed(a, b, l, r)).collect();
    Comparison { differing: differing(a, b, &rows), rows, executed, not_compared }
}

/// Compares the machine code of two measurements; `None` where it was not executed in both.
fn executed(
    a: &Run,
    b: &Run,
    left: &Measurement,
    right: &Measurement,
) -> Option<ExecutedComparison> {
    let sides = [ExecutedCode::new(a, left)?, ExecutedCode::new(b, right)?];
    let over = |figure: fn(&ExecutedCode) -> u64| {
        let [before, after] = sides.each_ref().map(figure);
        ratio(after.into(), before.into())
    };
    let one_size = sides[0].width == sides[1].width;
    let [before, after] = sides.each_ref().map(|side| side.active_lanes_mean);
    let lanes = before.zip(after).filter(|(before, _)| one_size && *before > 0.0);
    Some(ExecutedComparison {
        kernel: left.kernel.clone(),
        parameters: left.parameters.clone(),
        devices: [left.device.clone(), right.device.clone()],
        instructions_ratio: over(|side| side.instructions),
        lanes_ratio: lanes.map(|(before, after)| after / before),
        passes_ratios: [over(|side| side.passes_min), over(|side| side.passes_max)],
        sides,
    })
}

/// Compares each launch that both runs have, down to its lines, in A's order; those whose operations
/// were not counted on both sides, or by two rules, are left out. Pairs as [`compare`] does.
pub fn compare_launches(a: &Run, b: &Run, versions: bool) -> Vec<LaunchComparison> {
    compare_launches_noticing(a, b, versions, &mut || {})
}

/// As [`compare_launches`]; whoever waits is notified of each pair of launches that is compared.
pub fn compare_launches_noticing(
    a: &Run,
    b: &Run,
    versions: bool,
    notice: &mut dyn FnMut(),
) -> Vec<LaunchComparison> {
    let (pairs, _) = pair(a, b, versions);
    let side = |run, measurement| parts::Side { run, measurement };
    let mut all = Vec::new();
    for (left, right) in pairs {
        all.extend(launch::compare_launch(side(a, left), side(b, right)));
        notice();
    }
    all
}

/// The measurements that belong together, A's first, and those that have no counterpart.
fn pair<'a>(
    a: &'a Run,
    b: &'a Run,
    versions: bool,
) -> (Vec<(&'a Measurement, &'a Measurement)>, Vec<NotCompared>) {
    let renamed = find_renamed(a, b, versions);
    let mut pairs = Vec::new();
    let mut not_compared = Vec::new();
    let mut taken = vec![false; b.measurements.len()];
    let mut open: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (index, right) in b.measurements.iter().enumerate() {
        let key = twin_key(&right.device, &right.kernel, &right.parameters);
        open.entry(key).or_default().push_back(index);
    }
    // Of the same launch that was measured several times the first that has no counterpart yet.
    let mut twin = |left: &Measurement, name: &str| {
        let device = counterpart(a, b, &left.device)?;
        open.get_mut(&twin_key(&device.id, name, &left.parameters))?.pop_front()
    };
    let sides = [Instances::from_run(a), Instances::from_run(b)];
    for left in &a.measurements {
        let name = match renamed {
            Some([from, to]) if from == left.kernel => to,
            _ => &left.kernel,
        };
        if let Some(index) = twin(left, name) {
            taken[index] = true;
            pairs.push((left, &b.measurements[index]));
        } else {
            not_compared.push(missing(0, a, (left, name), (b, &sides[1])));
        }
    }
    for (right, _) in b.measurements.iter().zip(&taken).filter(|(_, taken)| !**taken) {
        let name = match renamed {
            Some([from, to]) if to == right.kernel => from,
            _ => &right.kernel,
        };
        not_compared.push(missing(1, b, (right, name), (a, &sides[0])));
    }
    (pairs, not_compared)
}

/// The one kernel of A that B does not have, and the one of B that A does not have, where they are two
/// versions of one shader.
fn find_renamed<'a>(a: &'a Run, b: &'a Run, versions: bool) -> Option<[&'a str; 2]> {
    let alone = |run: &'a Run, other: &Run| -> Option<&'a Measurement> {
        let known: BTreeSet<&str> =
            other.measurements.iter().map(|measurement| measurement.kernel.as_str()).collect();
        let unknown = |measurement: &&Measurement| !known.contains(measurement.kernel.as_str());
        let mut left = run.measurements.iter().filter(unknown);
        let first = left.next()?;
        left.all(|measurement| measurement.kernel == first.kernel).then_some(first)
    };
    let (left, right) = (alone(a, b)?, alone(b, a)?);
    let text = |run: &'a Run, measurement: &Measurement| {
        Some(&run.sources.get(&measurement.source_sha256)?.text)
    };
    let alike = || Some(texts::are_versions(text(a, left)?, text(b, right)?));
    (versions || alike() == Some(true)).then_some([&left.kernel, &right.kernel])
}

/// A text that the same launches on a device share.
fn twin_key(device: &str, kernel: &str, parameters: &BTreeMap<String, Value>) -> String {
    format!("{device:?} {}", launch_key(kernel, parameters))
}

/// The launches of a run, to be found by what has no counterpart among them.
struct Instances<'a> {
    /// By device and kernel.
    launches: HashMap<String, Vec<&'a Measurement>>,
    /// By device, kernel and parameters other than the size, the first of each.
    sizes: HashMap<String, &'a Measurement>,
}

impl<'a> Instances<'a> {
    fn from_run(run: &'a Run) -> Self {
        let mut found = Self { launches: HashMap::new(), sizes: HashMap::new() };
        for measurement in &run.measurements {
            let key = Self::key(&measurement.device, &measurement.kernel);
            let at_a_size = format!("{key} {}", parameters_text(&measurement.parameters, &[SIZE]));
            found.launches.entry(key).or_default().push(measurement);
            found.sizes.entry(at_a_size).or_insert(measurement);
        }
        found
    }

    fn key(device: &str, kernel: &str) -> String {
        format!("{device:?} {kernel:?}")
    }
}

/// What differs between two runs whose launches are compared, a sentence each.
fn differing(a: &Run, b: &Run, rows: &[ComparisonRow]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for row in rows {
        let [left, right] = &row.labels;
        let sentence = match row.widths {
            [Some(narrow), Some(wide)] if narrow != wide => format!(
                "A ran on {left} with {narrow} lanes, B on {right} with {wide}: lane slots (subgroup \
                 operations × width) compare across widths; subgroup operations, active lanes and \
                 efficiency do not."
            ),
            _ if left != right => format!("A ran on {left}, B on {right}."),
            _ => continue,
        };
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let others = [
        (Tag::SourceDiffers, "the shader's text"),
        (Tag::SeedDiffers, "the seed of the inputs"),
        (Tag::RuntimeChecksDiffer, "run-time checks"),
    ];
    for (tag, words) in others {
        let count = rows.iter().filter(|row| crate::record::flag::has(&row.flags, &tag)).count();
        if count > 0 {
            sentences.push(format!("{words} differs in {count} of {} launches.", rows.len()));
        }
    }
    let rests =
        |run: &Run| run.measurements.iter().any(|measurement| decides(&measurement.made_up));
    let resting = match [a, b].map(rests) {
        [true, true] => Some("both runs"),
        [true, false] => Some("A"),
        [false, true] => Some("B"),
        [false, false] => None,
    };
    if let Some(runs) = resting {
        sentences.push(format!(
            "Data that nobody gave decide branches or loops in {runs}: real data may give another comparison."
        ));
    }
    if a.tool.version != b.tool.version {
        let [a, b] = [a, b].map(|run| run.tool.version.as_str());
        sentences.push(format!("A was made by version {a} of the program, B by {b}."));
    }
    sentences
}

/// Finds the device of `to` that the device `id` of `from` is compared with.
fn counterpart<'a>(from: &Run, to: &'a Run, id: &str) -> Option<&'a Device> {
    same_device(from, to, id).or_else(|| across(from, to, id))
}

/// Finds the device of `to` that is compared with another device `id` of `from`: of those that have no
/// counterpart of their own, in order.
fn across<'a>(from: &Run, to: &'a Run, id: &str) -> Option<&'a Device> {
    let alone =
        |device: &&Device, from: &Run, to: &Run| same_device(from, to, &device.id).is_none();
    let mut left = from.devices.iter().filter(|device| alone(device, from, to));
    let place = left.position(|device| device.id == id)?;
    let right: Vec<&Device> = to.devices.iter().filter(|device| alone(device, to, from)).collect();
    right.get(place).copied()
}

/// Finds the device of `to` that is the device `id` of `from`.
fn same_device<'a>(from: &Run, to: &'a Run, id: &str) -> Option<&'a Device> {
    let known = super::names::device(from, id)?;
    let hardware = |run: &'a Run| -> Vec<&'a Device> {
        run.devices.iter().filter(|device| !device.is_simulator()).collect()
    };
    let only = || {
        let many = from.devices.iter().filter(|device| !device.is_simulator()).count();
        let candidates = hardware(to);
        (many == 1 && candidates.len() == 1 && !known.is_simulator()).then(|| candidates[0])
    };
    // Several devices of the same name are told apart by id.
    to.devices
        .iter()
        .find(|device| device.id == id && device.name == known.name)
        .or_else(|| {
            to.devices.iter().find(|device| {
                !known.is_simulator()
                    && device.name == known.name
                    && device.backend == known.backend
            })
        })
        .or_else(only)
        .or_else(|| to.devices.iter().find(|device| device.id == id && device.kind == known.kind))
}

/// Makes the row of two measurements of one launch.
fn row(a: &Run, b: &Run, left: &Measurement, right: &Measurement) -> ComparisonRow {
    let removed = plausibility(a, left).is_removed() || plausibility(b, right).is_removed();
    let (before, after) = (Work::from_measurement(left), Work::from_measurement(right));
    let mut flags: Vec<Flag> = Vec::new();
    for flag in left.flags.iter().chain(&right.flags) {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    let differing = [
        (removed, Tag::WorkRemovedByCompiler),
        (
            left.subgroup_width
                .zip(right.subgroup_width)
                .is_some_and(|(left, right)| left != right),
            Tag::WidthDiffers,
        ),
        (left.source_sha256 != right.source_sha256, Tag::SourceDiffers),
        (left.seed != right.seed, Tag::SeedDiffers),
        (left.status == Status::Failed || right.status == Status::Failed, Tag::Failed),
        (a.counting_rule != b.counting_rule, Tag::CountingRuleDiffers),
        (left.runtime_checks.timed != right.runtime_checks.timed, Tag::RuntimeChecksDiffer),
    ];
    flags.extend(differing.into_iter().filter(|(differs, _)| *differs).map(|(_, tag)| tag.into()));
    // Operations of two rules are not the same operations: no figure of them is set beside another.
    let one_rule = a.counting_rule == b.counting_rule;
    let means = [left, right].map(|side| active_lanes_mean(side).filter(|_| one_rule));
    let widths = [left.subgroup_width, right.subgroup_width];
    let slots = [left, right].map(|side| lane_slots(side).filter(|_| one_rule));
    let lane_slots_ratio = slots[0].zip(slots[1]).and_then(|(before, after)| ratio(after, before));
    let range = lane_slots_ratio.map(|ratio| seed_range(left, right, ratio));
    ComparisonRow {
        kernel: left.kernel.clone(),
        parameters: left.parameters.clone(),
        labels: [device_label(a, &left.device), device_label(b, &right.device)],
        widths,
        active_lanes_means: means,
        efficiencies: [efficiency(means[0], widths[0]), efficiency(means[1], widths[1])],
        medians: [median_time(left), median_time(right)],
        time_ratio: (!removed)
            .then(|| unpaired_ratio(&times_ns(b, right), &times_ns(a, left), SEED))
            .flatten(),
        subgroup_operations_ratio: ratio(after.subgroup_operations, before.subgroup_operations)
            .filter(|_| one_rule && after.subgroup_operations > 0),
        lane_slots: slots,
        lane_slots_ratio,
        lane_slots_range: range.filter(|(_, seeds)| *seeds > 1),
        executed: executed(a, b, left, right).is_some(),
        flags,
    }
}

/// Says why `measurement` of `run` has no counterpart in `other`, where its kernel would be called
/// `there`.
fn missing(
    side: usize,
    run: &Run,
    (measurement, there): (&Measurement, &str),
    (other, instances): (&Run, &Instances<'_>),
) -> NotCompared {
    let name = if side == 0 { "B" } else { "A" };
    let measured_on = super::names::device(run, &measurement.device);
    let device = counterpart(run, other, &measurement.device);
    let found = device.map(|device| (device, has_instead(measurement, there, (device, instances))));
    let reason = match &found {
        None => format!("run {name} has no such device"),
        Some((device, instead)) if measured_on.map(plain_label) == Some(plain_label(device)) => {
            match instead {
                Instead::Size(size) => {
                    format!("run {name} has it at {SIZE} = {}", value_text(size))
                }
                Instead::Parameters(_) => format!("run {name} has it with other parameters"),
                Instead::Once => format!("run {name} has it fewer times"),
                Instead::Nothing => {
                    format!("run {name} did not measure this kernel on that device")
                }
            }
        }
        // What another device lacks, nobody forgot.
        Some((device, instead)) => {
            let none = format!("run {name} has no such device");
            let label = device_label(other, &device.id);
            let is_cuda = crate::record::flag::has(&measurement.flags, &Tag::NoWgslToCount);
            match instead {
                Instead::Size(size) => {
                    format!("{none}; {label} has it at {SIZE} = {}", value_text(size))
                }
                Instead::Parameters(_) => format!("{none}; {label} has it with other parameters"),
                Instead::Once => format!("{none}; {label} has it fewer times"),
                Instead::Nothing if is_cuda && !device.runs_cuda() => {
                    format!("{none}; the kernel is CUDA C++, which {label} does not run")
                }
                Instead::Nothing => format!("{none}; on {label} this kernel was not measured"),
            }
        }
    };
    NotCompared {
        side,
        label: device_label(run, &measurement.device),
        kernel: measurement.kernel.clone(),
        parameters: measurement.parameters.clone(),
        reason,
        instead: found.and_then(|(_, instead)| match instead {
            Instead::Parameters(all) => Some(all),
            Instead::Size(_) | Instead::Once | Instead::Nothing => None,
        }),
    }
}

/// What there is of a kernel in place of a launch.
enum Instead {
    /// The same launch at another size.
    Size(Value),
    /// A launch that differs in these parameters; of several the one with fewest.
    Parameters(String),
    /// The same launch, which another of the first run is compared with.
    Once,
    /// No launch of it.
    Nothing,
}

/// What a device of another run, which calls the kernel `there`, has in place of a launch.
fn has_instead(
    measurement: &Measurement,
    there: &str,
    (device, other): (&Device, &Instances<'_>),
) -> Instead {
    let key = Instances::key(&device.id, there);
    let Some(elsewhere) = other.launches.get(&key) else { return Instead::Nothing };
    let parameters = &measurement.parameters;
    let at_a_size = format!("{key} {}", parameters_text(parameters, &[SIZE]));
    let size = other.sizes.get(&at_a_size).and_then(|other| other.parameters.get(SIZE));
    if let Some(size) = size.filter(|size| Some(*size) != parameters.get(SIZE)) {
        return Instead::Size(size.clone());
    }
    // Which they are is asked of the nearest alone.
    let count = |other: &&&Measurement| {
        let differs =
            |(name, value): &(&String, &Value)| other.parameters.get(*name) != Some(*value);
        let more = other.parameters.keys().filter(|name| !parameters.contains_key(*name));
        parameters.iter().filter(differs).count() + more.count()
    };
    let Some(nearest) = elsewhere.iter().min_by_key(count) else { return Instead::Nothing };
    let names = parameters.keys().chain(nearest.parameters.keys()).collect::<BTreeSet<_>>();
    let value = |parameters: &BTreeMap<String, Value>, name: &String| {
        parameters.get(name).map_or_else(|| "none".to_owned(), value_text)
    };
    let differs = |name: &&&String| parameters.get(**name) != nearest.parameters.get(**name);
    let word = |name: &String| {
        let [here, there] = [parameters, &nearest.parameters].map(|side| value(side, name));
        format!("{name}={there}, not {here}")
    };
    let differing: Vec<String> = names.iter().filter(differs).map(|name| word(name)).collect();
    if differing.is_empty() { Instead::Once } else { Instead::Parameters(differing.join("; ")) }
}
