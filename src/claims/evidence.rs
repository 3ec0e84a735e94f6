//! What records say of a quantity: a point for each launch that a selector takes.
//!
//! Input: records with a name each, a quantity, a selector. Output: [`Point`]s. A launch that failed, whose output
//! was wrong, or whose compiler removed the work gives none; nor do counts of another rule than today's, which limits of
//! the ledger do not speak of.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ledger::{Check, Quantity, Scope, ScopeWord, Verified};
use super::selector::{Selector, WIDTH};
use crate::analyze::{Load, Plausibility, Work, latencies, machine as code, plausibility};
use crate::kernel::format::Formula;
use crate::kernel::formula::{self, Names};
use crate::kernel::{Catalogue, KernelError};
use crate::record::{Backend, Block, Device, Measurement, Output, Run, Status, Value};
use crate::units::{Width, approximate};

/// A record, and the name by which figures refer to it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its file, or what else it is called.
    pub name: String,
    /// What was measured, with the names that kernels have today.
    pub run: Run,
}

impl Record {
    /// A record by its name; kernels get the names that they have today.
    ///
    /// # Errors
    ///
    /// What is wrong with the catalogue, which a test shows to be nothing.
    pub fn new(name: impl Into<String>, mut run: Run) -> Result<Self, KernelError> {
        // A gallery judges thousands of records.
        let catalogue = Catalogue::shared()?;
        catalogue.annotate(&mut run);
        catalogue.renew(&mut run);
        Ok(Self { name: name.into(), run })
    }
}

/// A committed table, a row a line, the cells of each divided by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactTable {
    /// Its path under `results`.
    pub name: String,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

impl FactTable {
    /// A table by its name, from its text.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect();
        Self { name: name.into(), rows: text.lines().map(cells).collect() }
    }
}

/// A quantity of one launch on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The value.
    pub value: f64,
    /// The least that it may be; the value itself where it is exact.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
    /// The width at which it was taken.
    pub width: Option<Width>,
    /// The launch's parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The device, for people.
    pub device: String,
    /// Its id in the record.
    pub device_id: String,
    /// What machine code it is of that was executed without its hardware: driver, waves and hash; else empty.
    pub code: String,
    /// What kind of device it is, such as `GPUs`.
    pub kind: &'static str,
    /// What it was reached through, such as `Vulkan`.
    pub interface: &'static str,
    /// The record.
    pub record: String,
    /// The kernels that it is of, with the parameters of each.
    pub launches: Vec<(String, BTreeMap<String, Value>)>,
}

/// Whether a device is one that a scope speaks of.
pub(super) fn fits(scope: &Scope, device: &Device) -> bool {
    scope.0.iter().all(|word| match word {
        ScopeWord::Gpu => !device.is_emulated() && !device.cpu_driver,
        ScopeWord::Device => !device.is_emulated(),
        ScopeWord::Nvidia => device.vendor.to_lowercase().contains("nvidia"),
        ScopeWord::Amd => device.vendor.to_lowercase().contains("amd"),
        ScopeWord::Cuda => device.backend == Backend::Cuda,
        ScopeWord::Vulkan => device.backend == Backend::Vulkan,
        ScopeWord::Simulator => device.is_simulator(),
    })
}

/// The points of a selector in all records.
pub(super) fn points(
    records: &[Record],
    what: &Quantity,
    selector: &Selector,
    scope: &Scope,
) -> Vec<Point> {
    records.iter().flat_map(|record| points_of(record, what, selector, scope)).collect()
}

fn points_of(record: &Record, what: &Quantity, selector: &Selector, scope: &Scope) -> Vec<Point> {
    if *what == Quantity::LinkCycles {
        return link_cycles(record, selector, scope);
    }
    let run = &record.run;
    if what.needs_counts() && !run.counts_as_today() {
        return Vec::new();
    }
    let taken = run
        .measurements
        .iter()
        .filter(|measurement| is_sound(measurement) && selector.takes(measurement));
    let found: Vec<Point> = taken
        .filter_map(|measurement| {
            let device = run.devices.iter().find(|device| device.id == measurement.device)?;
            if !fits(scope, device) {
                return None;
            }
            let inner = match what {
                Quantity::TimePer(_) | Quantity::TimeBeyond(_) => &Quantity::Time,
                _ => what,
            };
            let [value, low, high] = value(run, device, measurement, inner)?;
            Some(point(record, device, measurement, [value, low, high]))
        })
        .collect();
    match what {
        Quantity::TimePer(parameter) => slopes(&found, parameter),
        Quantity::TimeBeyond(parameter) => differences(&found, parameter),
        _ => found,
    }
}

/// How many launches have the figure that a check asks for, and give no point since another rule counted their operations.
pub(super) fn count_of_other_rules(records: &[Record], check: &Check) -> usize {
    let (Some(what), Some(scope)) = (check.quantity(), check.scope()) else { return 0 };
    if !what.needs_counts() {
        return 0;
    }
    let selectors = check.selectors();
    let has_figure = |run: &Run, measurement: &Measurement| {
        let device = run.devices.iter().find(|device| device.id == measurement.device);
        is_sound(measurement)
            && selectors.iter().any(|selector| selector.takes(measurement))
            && device.is_some_and(|device| {
                fits(scope, device) && value(run, device, measurement, what).is_some()
            })
    };
    let others = records.iter().map(|record| &record.run).filter(|run| !run.counts_as_today());
    let of_run = |run: &Run| {
        run.measurements.iter().filter(|measurement| has_figure(run, measurement)).count()
    };
    others.map(of_run).sum()
}

/// Whether a measurement says anything: it ended well, and its outputs are not wrong.
fn is_sound(measurement: &Measurement) -> bool {
    measurement.status == Status::Ok && measurement.output != Output::Mismatch
}

/// Points that say whether outputs were right, 1, or wrong, 0.
pub(super) fn find_verified(records: &[Record], check: &Verified) -> Vec<Point> {
    let of_record = |record: &Record| -> Vec<Point> {
        let taken =
            record.run.measurements.iter().filter(|measurement| check.of.takes(measurement));
        let each = taken.filter_map(|measurement| {
            let compared = || record.run.kernels.get(&measurement.kernel)?.tolerance;
            if check.within.is_some_and(|within| {
                compared().is_none_or(|found| found.relative.max(found.absolute) > within)
            }) {
                return None;
            }
            let device =
                record.run.devices.iter().find(|device| device.id == measurement.device)?;
            let value = match (measurement.status, measurement.output) {
                (Status::Ok, Output::Verified) => 1.0,
                (Status::Ok, Output::Mismatch) => 0.0,
                _ => return None,
            };
            fits(&check.on, device).then(|| point(record, device, measurement, [value; 3]))
        });
        each.collect()
    };
    records.iter().flat_map(of_record).collect()
}

fn point(record: &Record, device: &Device, measurement: &Measurement, value: [f64; 3]) -> Point {
    let [value, low, high] = value;
    let label = if device.is_emulated() {
        device.id.clone()
    } else {
        format!("{} ({})", device.name, device.backend.name())
    };
    Point {
        value,
        low,
        high,
        width: measurement.subgroup_width.or(device.subgroup_width_run),
        parameters: measurement.parameters.clone(),
        device: label,
        device_id: device.id.clone(),
        code: code::ExecutedCode::new(&record.run, measurement)
            .map_or_else(String::new, |found| found.code_source()),
        kind: kind(device),
        interface: device.backend.name(),
        record: record.name.clone(),
        launches: vec![(measurement.kernel.clone(), measurement.parameters.clone())],
    }
}

/// What kind of device it is, as it stands behind "on".
fn kind(device: &Device) -> &'static str {
    if device.is_simulator() {
        "simulators"
    } else if device.is_emulated() {
        "machine code executed without hardware"
    } else if device.cpu_driver {
        "CPU drivers"
    } else {
        "GPUs"
    }
}

/// A value with the least and the most that it may be.
fn value(
    run: &Run,
    device: &Device,
    measurement: &Measurement,
    what: &Quantity,
) -> Option<[f64; 3]> {
    let work = || Work::from_measurement(measurement);
    let exact = |value: f64| [value; 3];
    match what {
        Quantity::Efficiency => measurement.efficiency_ratio.map(|ratio| exact(ratio.0)),
        Quantity::ActiveLanes => measurement.active_lanes_mean.map(exact),
        Quantity::SubgroupOperations => {
            let operations = work().subgroup_operations;
            (operations > 0).then(|| exact(wide(operations)))
        }
        Quantity::LaneSlots => {
            let slots = work().lane_slots(measurement.subgroup_width?);
            (slots > 0).then(|| exact(wide(slots)))
        }
        Quantity::Time => time(run, measurement),
        Quantity::CopyShare => {
            let bytes = approximate(measurement.bytes_moved_min?);
            let rate = device.copy_bytes_per_s?;
            time(run, measurement).map(|[value, low, high]| {
                [value, high, low].map(|time| bytes / (time * 1e-9) / rate)
            })
        }
        Quantity::PeakShare => peak(run, device, measurement, true),
        Quantity::UsefulPeakShare => peak(run, device, measurement, false),
        Quantity::BlockLanes(label) => {
            let (executions, lanes) = block(measurement, label)?;
            (executions > 0).then(|| exact(approximate(lanes) / approximate(executions)))
        }
        Quantity::BlockExecutions(label) => {
            block(measurement, label).map(|(executions, _)| exact(approximate(executions)))
        }
        Quantity::EfficiencyAt(percent) => {
            let spread = measurement.trace.as_ref()?.spread.as_ref()?;
            spread.efficiency_ratio_quantiles.get(percent).map(|ratio| exact(ratio.0))
        }
        Quantity::Counter(name) => code::counter(measurement, name).map(exact),
        Quantity::CounterRatio(above, below) => {
            let [above, below] = [above, below].map(|name| code::counter(measurement, name));
            above.zip(below.filter(|below| *below > 0.0)).map(|(above, below)| exact(above / below))
        }
        Quantity::MachineInstructions
        | Quantity::MachineExecuted
        | Quantity::MachineLanes
        | Quantity::MachineMatching(_) => machine(measurement, what).map(exact),
        Quantity::Dispatches => {
            let dispatches =
                measurement.dispatches.iter().filter(|dispatch| !dispatch.setup).count();
            (dispatches > 0).then(|| exact(wide(dispatches as u128)))
        }
        Quantity::Invocations => {
            let each =
                measurement.dispatches.iter().filter(|dispatch| !dispatch.setup).map(|dispatch| {
                    let product =
                        |sides: [u32; 3]| sides.into_iter().map(u128::from).product::<u128>();
                    Some(product(dispatch.workgroups?) * product(dispatch.workgroup_size))
                });
            each.sum::<Option<u128>>().map(|sum| exact(wide(sum)))
        }
        Quantity::Width => device.subgroup_width_run.map(|width| exact(width.lanes().into())),
        Quantity::LanesInOrder => {
            device.lane_is_local_index_mod_width.map(|so| exact(f64::from(u8::from(so))))
        }
        Quantity::OutputShown(name, index) => {
            let names = names(&measurement.parameters, measurement.subgroup_width);
            let index = formula::evaluate_count(&Formula::Text(index.clone()), &names).ok()?;
            let index = usize::try_from(index).ok()?;
            measurement.outputs_shown.get(name)?.get(index).copied().map(exact)
        }
        Quantity::TimePer(_) | Quantity::TimeBeyond(_) | Quantity::LinkCycles => None,
    }
}

/// The names that formulas know of a launch: its numbers, and the width.
pub(super) fn names(parameters: &BTreeMap<String, Value>, width: Option<Width>) -> Names {
    let numbers =
        parameters.iter().filter_map(|(name, value)| Some((name.clone(), value.number()?)));
    let width = width.map(|width| (WIDTH.to_owned(), width.lanes().into()));
    numbers.chain(width).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a figure is shown to a few digits")]
fn wide(value: u128) -> f64 {
    value as f64
}

/// The time with its interval; `None` if the compiler removed the work.
fn time(run: &Run, measurement: &Measurement) -> Option<[f64; 3]> {
    let time = measurement.time.as_ref()?;
    if plausibility(run, measurement).is_removed() {
        return None;
    }
    Some([time.median_ns.0, time.ci95_ns[0].0, time.ci95_ns[1].0])
}

/// Multiply-adds a second over the device's peak, of all lanes or of those at work.
fn peak(run: &Run, device: &Device, measurement: &Measurement, idle_too: bool) -> Option<[f64; 3]> {
    if let Plausibility::Possible { peak_ratio } = plausibility(run, measurement)
        && idle_too
    {
        return Some([peak_ratio; 3]);
    }
    let [value, low, high] = time(run, measurement)?;
    let rate = device.peak_fma_per_s.filter(|_| !idle_too)?;
    let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
    let useful: f64 = blocks
        .map(|block| approximate(block.fma_operations.unwrap_or(0)) * approximate(block.lanes.0))
        .sum();
    (useful > 0.0).then(|| [value, high, low].map(|time| useful / (time * 1e-9) / rate))
}

/// Whether a block has one of the labels that stand between bars.
fn has_label(block: &Block, labels: &str) -> bool {
    block.label.as_deref().is_some_and(|name| labels.split('|').any(|label| label == name))
}

/// Executions and lanes of the blocks with a label.
fn block(measurement: &Measurement, label: &str) -> Option<(u64, u64)> {
    let blocks = measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
    let labelled: Vec<_> = blocks.filter(|block| has_label(block, label)).collect();
    let sum = labelled.iter().fold((0, 0), |(executions, lanes), block| {
        (executions + block.executions.0, lanes + block.lanes.0)
    });
    (!labelled.is_empty()).then_some(sum)
}

/// A figure of the machine code that ran.
fn machine(measurement: &Measurement, what: &Quantity) -> Option<f64> {
    let codes: Vec<_> = measurement
        .dispatches
        .iter()
        .filter_map(|dispatch| dispatch.machine_code.as_ref())
        .collect();
    let all = || codes.iter().flat_map(|code| &code.instructions);
    if codes.is_empty() {
        return None;
    }
    let executed: u64 = all().map(|instruction| instruction.inst_executed).sum();
    match what {
        Quantity::MachineInstructions => Some(approximate(all().count() as u64)),
        Quantity::MachineExecuted => Some(approximate(executed)),
        Quantity::MachineLanes => {
            let threads: u64 = all().map(|instruction| instruction.thread_inst_executed).sum();
            (executed > 0).then(|| approximate(threads) / approximate(executed))
        }
        Quantity::MachineMatching(words) => {
            let words: Vec<&str> = words.split('|').collect();
            let begins = |text: &str| {
                let text = text.trim_start();
                let guarded = text.starts_with('@');
                let plain = if guarded {
                    text.split_once(' ').map_or("", |(_, rest)| rest.trim_start())
                } else {
                    text
                };
                words.iter().any(|word| match word.strip_prefix('@') {
                    Some(word) => guarded && plain.starts_with(word),
                    None => plain.starts_with(word),
                })
            };
            if all().all(|instruction| instruction.text.is_none()) {
                return None;
            }
            let found =
                all().filter(|instruction| instruction.text.as_deref().is_some_and(begins)).count();
            Some(approximate(found as u64))
        }
        _ => None,
    }
}

/// Points by what others of the same record, device and width share with them, to be found however many there are.
pub(super) struct PointsBeside<'a> {
    points: &'a [Point],
    /// Places in `points` by the names of parameters.
    named: BTreeMap<Vec<&'a str>, Vec<usize>>,
    /// The same by the names that are compared of them, and by what these points have to share.
    compared: BTreeMap<[Vec<&'a str>; 2], HashMap<String, Vec<usize>>>,
}

impl<'a> PointsBeside<'a> {
    pub(super) fn new(points: &'a [Point]) -> Self {
        let mut named: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (place, point) in points.iter().enumerate() {
            let names = point.parameters.keys().map(String::as_str).collect();
            named.entry(names).or_default().push(place);
        }
        Self { points, named, compared: BTreeMap::new() }
    }

    /// The places of those that agree with a point in every parameter that both have, but for those that are `fixed`.
    pub(super) fn find(&mut self, point: &Point, fixed: &dyn Fn(&str) -> bool) -> Vec<usize> {
        let Self { points, named, compared } = self;
        let mut found: Vec<usize> = Vec::new();
        for (names, places) in &*named {
            let is_compared = |name: &&'a str| !fixed(name) && point.parameters.contains_key(*name);
            let shared: Vec<&'a str> = names.iter().copied().filter(is_compared).collect();
            let key = shared_key(point, &shared);
            let by_key =
                compared.entry([names.clone(), shared]).or_insert_with_key(|[_, shared]| {
                    let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
                    for place in places {
                        by_key.entry(shared_key(&points[*place], shared)).or_default().push(*place);
                    }
                    by_key
                });
            found.extend(by_key.get(&key).into_iter().flatten());
        }
        found.sort_unstable();
        found
    }
}

/// A text that points share which agree in their record, device, width and these parameters.
fn shared_key(point: &Point, names: &[&str]) -> String {
    format!("{:?} {}", point.width, device_key(point, names))
}

/// The same but for the width.
fn device_key<T: AsRef<str>>(point: &Point, names: &[T]) -> String {
    let Point { record, device_id, parameters, .. } = point;
    let mut key = format!("{record:?} {device_id:?}");
    for value in names.iter().filter_map(|name| parameters.get(name.as_ref())) {
        // Whole or real, a number is the same; so are the two zeros.
        match value.number() {
            Some(number) => key += &format!(" {}", number + 0.0),
            None => key += &format!(" {:?}", value.to_string()),
        }
    }
    key
}

/// Lines of points that differ in a parameter alone, by what their first points are: the record, the device and the other
/// parameters that these have.
pub(super) struct Lines<'a> {
    along: &'a str,
    /// Their numbers by the names of these parameters, and by all that is shared.
    by_names: BTreeMap<Vec<String>, HashMap<String, BTreeSet<usize>>>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(along: &'a str) -> Self {
        Self { along, by_names: BTreeMap::new() }
    }

    /// The number of the first line on which a point lies.
    pub(super) fn find(&self, point: &Point) -> Option<usize> {
        let mut first: Option<usize> = None;
        for (names, lines) in &self.by_names {
            if names.iter().all(|name| point.parameters.contains_key(name)) {
                let numbers = lines.get(&device_key(point, names));
                first = first.into_iter().chain(numbers.and_then(BTreeSet::first).copied()).min();
            }
        }
        first
    }

    /// Adds a line by its first point.
    pub(super) fn add(&mut self, number: usize, first: &Point) {
        let names = self.names(first);
        let key = device_key(first, &names);
        self.by_names.entry(names).or_default().entry(key).or_default().insert(number);
    }

    /// Removes a line whose first point was this.
    fn remove(&mut self, number: usize, first: &Point) {
        let names = self.names(first);
        let lines = self.by_names.get_mut(&names);
        if let Some(numbers) = lines.and_then(|lines| lines.get_mut(&device_key(first, &names))) {
            numbers.remove(&number);
        }
    }

    fn names(&self, point: &Point) -> Vec<String> {
        point.parameters.keys().filter(|name| *name != self.along).cloned().collect()
    }
}

/// The points that differ in a parameter alone, line by line, by the parameter.
fn lines_along<'a>(points: &'a [Point], parameter: &str) -> Vec<Vec<(f64, &'a Point)>> {
    let mut known = Lines::new(parameter);
    // Each line's points by their places, and the places by line and value, in which the two zeros are equal.
    let mut lines: Vec<BTreeMap<usize, (f64, &Point)>> = Vec::new();
    let mut places: HashMap<(usize, u64), usize> = HashMap::new();
    for (place, point) in points.iter().enumerate() {
        let Some(at) = point.parameters.get(parameter).and_then(Value::number) else { continue };
        let number = known.find(point).unwrap_or(lines.len());
        if number == lines.len() {
            known.add(number, point);
            lines.push(BTreeMap::new());
        }
        let line = &mut lines[number];
        line.insert(place, (at, point));
        // Of a launch that was measured twice, at other clocks maybe, the last measurement stands with the others.
        let earlier = places.insert((number, (at + 0.0).to_bits()), place);
        let Some(earlier) = earlier else { continue };
        let was_first = line.first_key_value().is_some_and(|(first, _)| *first == earlier);
        let removed = line.remove(&earlier);
        if let (true, Some((_, removed)), Some((_, first))) =
            (was_first, removed, line.values().next())
        {
            known.remove(number, removed);
            known.add(number, first);
        }
    }
    let sorted = |line: BTreeMap<usize, (f64, &'a Point)>| {
        let mut line: Vec<(f64, &Point)> = line.into_values().collect();
        line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        line
    };
    lines.into_iter().map(sorted).collect()
}

/// A point, less another, over so much.
fn less(point: &Point, other: &Point, over: f64) -> Point {
    let mut copy = point.clone();
    copy.value = (point.value - other.value) / over;
    copy.low = (point.low - other.high) / over;
    copy.high = (point.high - other.low) / over;
    copy.launches.extend(other.launches.clone());
    copy
}

/// What the time grows by with one more of a parameter: from the least value to the greatest.
fn slopes(points: &[Point], parameter: &str) -> Vec<Point> {
    let slope = |line: Vec<(f64, &Point)>| {
        let ((least, first), (most, last)) = (*line.first()?, *line.last()?);
        (most > least).then(|| {
            let mut copy = less(last, first, most - least);
            copy.parameters.remove(parameter);
            copy
        })
    };
    lines_along(points, parameter).into_iter().filter_map(slope).collect()
}

/// What the time is longer than at the least value of a parameter.
fn differences(points: &[Point], parameter: &str) -> Vec<Point> {
    let mut found = Vec::new();
    for line in lines_along(points, parameter) {
        let (least, first) = line[0];
        let others = line.iter().filter(|(at, _)| *at > least);
        found.extend(others.map(|(_, point)| less(point, first, 1.0)));
    }
    found
}

/// Links of chains in cycles, as `analyze` works them out; their parameters are `operation` and `load`.
fn link_cycles(record: &Record, selector: &Selector, scope: &Scope) -> Vec<Point> {
    let mut found = Vec::new();
    for device in record.run.devices.iter().filter(|device| fits(scope, device)) {
        let here = |measurement: &&Measurement| {
            measurement.device == device.id && measurement.kernel == selector.kernel
        };
        let Some(first) = record.run.measurements.iter().find(here) else { continue };
        let mut alone = record.run.clone();
        alone.devices.retain(|other| other.id == device.id);
        alone.measurements.retain(|measurement| here(&measurement));
        for row in latencies(&alone).into_iter().flat_map(|table| table.rows) {
            let Some(cycles) = row.cycles else { continue };
            let load = match row.load {
                Load::Alone => "alone",
                Load::Saturated => "saturated",
            };
            let named = |name: &str| Value::Name(name.to_owned());
            let parameters = BTreeMap::from([
                ("operation".to_owned(), named(&row.operation)),
                ("load".to_owned(), named(load)),
            ]);
            let mut chosen = first.clone();
            chosen.parameters = parameters;
            if selector.takes(&chosen) {
                found.push(point(record, device, &chosen, [cycles; 3]));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::selector::same;

    fn point(value: f64, parameters: Vec<(&str, Value)>) -> Point {
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value));
        Point {
            value,
            low: value,
            high: value,
            width: None,
            parameters: parameters.collect(),
            device: String::new(),
            device_id: "wgpu:0".to_owned(),
            code: String::new(),
            kind: "GPUs",
            interface: "Vulkan",
            record: "record".to_owned(),
            launches: Vec::new(),
        }
    }

    /// The same lines, where each point is held against every line before it.
    fn lines_held_against<'a>(points: &'a [Point], along: &str) -> Vec<Vec<(f64, &'a Point)>> {
        let mut lines: Vec<Vec<(f64, &Point)>> = Vec::new();
        let alike = |a: &Point, b: &Point| {
            a.parameters.iter().all(|(name, value)| {
                name == along || b.parameters.get(name).is_some_and(|other| same(value, other))
            })
        };
        for point in points {
            let Some(at) = point.parameters.get(along).and_then(Value::number) else { continue };
            match lines.iter_mut().find(|line| alike(line[0].1, point)) {
                Some(line) => {
                    line.retain(|(there, _)| *there != at);
                    line.push((at, point));
                }
                None => lines.push(vec![(at, point)]),
            }
        }
        for line in &mut lines {
            line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        }
        lines
    }

    #[test]
    fn lines_are_those_of_points_that_are_held_against_every_line() {
        let mut state = 1_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % limit) as i64
        };
        let mut lengths = BTreeSet::new();
        for round in 0..200 {
            let mut points = Vec::new();
            for value in 0..30 {
                let mut parameters = vec![("n", Value::Integer(below(6)))];
                if below(4) > 0 {
                    parameters.push(("arms", Value::Integer(below(2))));
                }
                if below(3) == 0 {
                    parameters.push(("share", Value::Real(below(2) as f64)));
                }
                points.push(point(f64::from(value), parameters));
            }
            let found = lines_along(&points, "n");
            assert_eq!(found, lines_held_against(&points, "n"), "round {round}");
            lengths.insert(found.len());
        }
        assert!(lengths.len() > 2, "{lengths:?}");
    }
}
