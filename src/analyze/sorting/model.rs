//! What counting and traffic predict of a speed-up, beside what was measured.
//!
//! Input: a run that holds kernels and their baselines. Output: [`ModelRow`]s. What the record does
//! not say is left out; nothing is fitted.
//!
//! # The model
//!
//! Of arms of lengths Lᵢ that lanes choose independently with probabilities pᵢ, a subgroup of W lanes
//! runs arm i with probability 1 − (1 − pᵢ)^W: [`arms_run_unequal`]. In arms of the mean length, that
//! is Σ Lᵢ·(1 − (1 − pᵢ)^W) / Σ Lᵢ·pᵢ; for k even ones [`arms_run`], and equally for even ones of
//! unequal lengths. Sorting leaves one, and so this is the most that it gains. What is gained by the
//! counts of both kernels holds their other work too. Sorting adds traffic, at the device's copy rate:
//! [`SORT_BYTES_PER_ELEMENT`] where the sort is in the time, [`ORDER_BYTES_PER_ELEMENT`] where
//! elements are fetched by an order that was made before. And no launch takes less than the bytes that
//! must move at that rate.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{number, pairs, speedup, stages};
use crate::analyze::counts::{Work, active_lanes_mean, efficiency, ratio};
use crate::analyze::names::{SIZE, Sharing, device, device_label, family};
use crate::analyze::order::order_rows;
use crate::analyze::rounds::median_time;
use crate::analyze::usual::{Usual, asks_where_it_pays};
use crate::record::{CountedArms, Divergence, Measurement, Run, Status, Value};
use crate::units::{Bytes, Nanoseconds, Ratio, Width};

/// What sorting moves for each element beyond what the divergent kernel moves, in bytes: the class
/// read (4), its packed form written and read (1), the permutation written and read (8). Gathers
/// and scatters that move more than they use are not in it.
pub const SORT_BYTES_PER_ELEMENT: u32 = 13;

/// The same where the order was made before: the permutation read.
pub const ORDER_BYTES_PER_ELEMENT: u32 = 4;

/// A kernel's speed-up beside what counting and traffic predict.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRow {
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// The full name of what it is compared with.
    pub baseline: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The width that ran, in lanes.
    pub width: Option<Width>,
    /// The arms of mean length that a subgroup of the baseline runs, by the formula; `None` if
    /// lanes do not choose independently, or with what probabilities the record does not say.
    pub arms_run: Option<f64>,
    /// Mean active lanes over the width, of the baseline and of the kernel.
    pub efficiencies: [Option<Ratio>; 2],
    /// The ratio of Σ operations × executions, baseline over kernel: what counting predicts of the speed-up.
    pub speedup_counted: Option<f64>,
    /// The speed-up with the traffic of the sort, or of the order, at the copy rate added to the
    /// counted time, and no time below that of the bytes that must move; `None` if the copy rate
    /// is not known, or neither a sort nor bytes are.
    pub speedup_with_traffic: Option<f64>,
    /// The speed-up that was measured.
    pub speedup_measured: Option<f64>,
    /// The time that was measured.
    pub time: Option<Nanoseconds>,
    /// That less the predicted time, with traffic where it is known: what the model leaves
    /// unexplained; negative where the kernel is faster.
    pub remainder: Option<Nanoseconds>,
    /// The bytes that the kernel must move, with those of the sort or of the order; `None` if
    /// the kernel does not say what it must move.
    pub bytes: Option<Bytes>,
    /// These bytes over the time, over the copy rate.
    pub copy_rate: Option<Ratio>,
    /// In how many parameters the launch differs from the usual one.
    pub unusual: usize,
    /// How many dispatches the time holds.
    pub dispatches: usize,
    /// The sum of the measured times of those that only sort, route or make grids; `None` if
    /// dispatches were not timed one by one, or there is none.
    pub sorting: Option<Nanoseconds>,
}

impl ModelRow {
    /// The remainder over the time that was measured.
    pub fn remainder_share(&self) -> Option<Ratio> {
        let (left, time) = self.remainder.zip(self.time)?;
        (time.0 > 0.0).then(|| Ratio(left.0 / time.0))
    }
}

/// The rows of a device and family.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTable {
    /// The device's name for people.
    pub label: String,
    /// The family.
    pub family: String,
    /// The parameters that all rows share, as `work=512`.
    pub shared: Vec<String>,
    /// The names of the others.
    pub told: Vec<String>,
    /// The rows; where there are many, those of the most usual parameters.
    pub rows: Vec<ModelRow>,
    /// The other rows.
    pub others: Vec<ModelRow>,
}

/// What the columns of the model's tables are, a sentence each.
pub const MODEL_LEGEND: [&str; 8] = [
    "Efficiency: mean active lanes over W, of the kernel's baseline and of the kernel.",
    "Arms run: what a subgroup of the baseline runs, in arms of the mean length: \
     Σ Lᵢ·(1 − (1 − pᵢ)^W) / Σ Lᵢ·pᵢ. A dash where lanes do not choose independently (classes in \
     runs or in order, masks in runs), or where the record does not hold the probabilities: of \
     arms that differ it does where another kernel counted what each arm has.",
    "Counted: subgroup operations of the baseline over the kernel's, the speed-up if time went by them.",
    "With traffic: the counted time and what sorting moves (13 B an element; 4 B where the order \
     was made before) at the device's copy rate, and no less than all that must move takes at it.",
    "Measured: the median time of the baseline over the kernel's, as in crossovers. The main table's \
     ratio is the median of ratios round by round: where times are noisy the two differ.",
    "Remainder: the measured time less the predicted one, and that over the measured; negative \
     where the kernel is faster than predicted. What it is made of, this table cannot say: hardware \
     counters can, those of a CUDA run or of Nsight Compute.",
    "Moved: the bytes that must move, the sort's among them, and their rate over the copy rate.",
    "Dispatches: how many a launch has, and the measured time of those that only route, sort or \
     make grids. Where few elements are sorted, that time is what dispatches cost, not bytes.",
];

/// The most rows of a table that are shown at once.
const ROWS_MAX: usize = 48;

/// Makes the model's tables, by device and family. A device of which no speed-up was counted or measured, as of executed
/// machine code, has none.
pub fn model_tables(run: &Run) -> Vec<ModelTable> {
    let mut found: BTreeMap<(String, String), Vec<ModelRow>> = BTreeMap::new();
    for row in model(run) {
        if asks_where_it_pays(run, &row.kernel) {
            let family = family(&row.kernel).to_owned();
            found.entry((row.label.clone(), family)).or_default().push(row);
        }
    }
    let has_speedup = |row: &ModelRow| row.speedup_counted.or(row.speedup_measured).is_some();
    found.retain(|_, rows| rows.iter().any(has_speedup));
    found.into_iter().map(|((label, family), rows)| table(label, family, rows)).collect()
}

fn table(label: String, family: String, rows: Vec<ModelRow>) -> ModelTable {
    let rows = order_rows(rows, |row| (&row.kernel, &row.parameters));
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.parameters.keys()).collect();
    let values = |name: &String| {
        let texts = rows.iter().map(|row| row.parameters.get(name).map(ToString::to_string));
        texts.collect::<BTreeSet<Option<String>>>()
    };
    let (told, shared): (Vec<&String>, Vec<&String>) =
        names.into_iter().partition(|name| values(name).len() > 1);
    let shared = shared.into_iter().flat_map(|name| {
        values(name).into_iter().flatten().map(move |value| format!("{name}={value}"))
    });
    let (shared, told) = (shared.collect(), told.into_iter().cloned().collect());
    let least = rows.iter().map(|row| row.unusual).min();
    let many = rows.len() > ROWS_MAX;
    let (rows, others) = rows.into_iter().partition(|row| !many || Some(row.unusual) == least);
    ModelTable { label, family, shared, told, rows, others }
}

impl ModelTable {
    /// The values of the parameters that rows differ in, as `n=1024`.
    pub fn parameters(&self, row: &ModelRow) -> String {
        let named = self.told.iter().filter_map(|name| Some((name, row.parameters.get(name)?)));
        named.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }
}

/// The arms of k that a subgroup of W lanes runs, where each lane chooses evenly and by itself:
/// k · (1 − (1 − 1/k)^W).
pub fn arms_run(arms: u32, width: Width) -> f64 {
    let k = f64::from(arms.max(1));
    k * (1.0 - (1.0 - 1.0 / k).powi(width_exponent(width)))
}

/// The time of arms of unequal length that a subgroup of W lanes runs, in the lengths' unit:
/// Σ length · (1 − (1 − p)^W) over arms of length and probability p.
pub fn arms_run_unequal(arms: &[(f64, f64)], width: Width) -> f64 {
    let expected_length =
        |(length, p): &(f64, f64)| length * (1.0 - (1.0 - p).powi(width_exponent(width)));
    arms.iter().map(expected_length).sum()
}

fn width_exponent(width: Width) -> i32 {
    i32::try_from(width.lanes()).unwrap_or(i32::MAX)
}

/// Makes the model's row of every kernel with a baseline that is another.
pub fn model(run: &Run) -> Vec<ModelRow> {
    let pairs = pairs(run).into_iter();
    let usual = Usual::from_run(run);
    let mut counters = Counters::new();
    for (place, measurement) in run.measurements.iter().enumerate() {
        if measurement.status == Status::Ok {
            let Measurement { kernel, device, parameters, .. } = measurement;
            let known = counters.entry((kernel.as_str(), device.as_str())).or_default();
            known.add(place, parameters, measurement);
        }
    }
    pairs
        .filter(|(kernel, baseline)| kernel.kernel != baseline.kernel)
        .map(|(kernel, baseline)| row(run, &usual, &mut counters, (kernel, baseline)))
        .collect()
}

/// The launches that ended well, by kernel and device, to be found by the parameters that they share with another.
type Counters<'a> = HashMap<(&'a str, &'a str), Sharing<'a, &'a Measurement>>;

fn row<'a>(
    run: &'a Run,
    usual: &Usual<'_>,
    counters: &mut Counters<'a>,
    (kernel, baseline): (&'a Measurement, &'a Measurement),
) -> ModelRow {
    let found = device(run, &kernel.device);
    // What was not counted has no width of its own.
    let width = kernel.subgroup_width.or(found.and_then(|device| device.subgroup_width_run));
    let (before, after) = (
        Work::from_measurement(baseline).subgroup_operations,
        Work::from_measurement(kernel).subgroup_operations,
    );
    let speedup_counted = ratio(before, after).filter(|_| before > 0);
    let rate = found.and_then(|device| device.copy_bytes_per_s);
    let order = order_bytes(run, kernel);
    let bytes = kernel.bytes_moved_min.map(|least| Bytes(least + order.unwrap_or(0)));
    let (time, time_before) = (median_time(kernel), median_time(baseline));
    let counted = time_before.zip(speedup_counted).map(|(time, ratio)| time.0 / ratio);
    let traffic = rate.filter(|_| order.is_some() || bytes.is_some()).zip(counted);
    let predicted = traffic.map(|(rate, counted)| {
        let added = counted + nanoseconds(order.unwrap_or(0), rate);
        bytes.map_or(added, |bytes| added.max(nanoseconds(bytes.0, rate)))
    });
    let active =
        [baseline, kernel].map(|measurement| efficiency(active_lanes_mean(measurement), width));
    let moved = |(time, rate): (Nanoseconds, f64)| {
        bytes.map(|bytes| Ratio(nanoseconds(bytes.0, rate) / time.0)).filter(|_| time.0 > 0.0)
    };
    ModelRow {
        label: device_label(run, &kernel.device),
        kernel: kernel.kernel.clone(),
        baseline: baseline.kernel.clone(),
        parameters: kernel.parameters.clone(),
        width,
        // Of no elements nothing is expected.
        arms_run: width
            .filter(|_| number(kernel, SIZE) != Some(0.0))
            .and_then(|width| arms_expected(run, counters, kernel, width)),
        efficiencies: active,
        speedup_counted,
        speedup_with_traffic: time_before.zip(predicted).map(|(time, ns)| time.0 / ns),
        speedup_measured: speedup(kernel, baseline),
        time,
        remainder: time.zip(predicted.or(counted)).map(|(time, ns)| Nanoseconds(time.0 - ns)),
        bytes,
        copy_rate: time.zip(rate).and_then(moved),
        unusual: usual.count(&kernel.parameters),
        dispatches: kernel.dispatches.iter().filter(|dispatch| !dispatch.setup).count(),
        sorting: sorting(run, kernel),
    }
}

/// The time of some bytes at a rate in bytes a second.
#[expect(clippy::cast_precision_loss, reason = "bytes of a launch lie far below 2^53")]
fn nanoseconds(bytes: u64, rate: f64) -> f64 {
    bytes as f64 / rate * 1e9
}

/// What a launch moves for its sort, or for an order that was made before, in bytes; `None` if it
/// has neither.
fn order_bytes(run: &Run, kernel: &Measurement) -> Option<u64> {
    let orders = |entry_point: &str| {
        stages::stage(run, &kernel.kernel, entry_point).is_some_and(|stage| stage.orders)
    };
    let mut sorts = kernel.dispatches.iter().filter(|dispatch| orders(&dispatch.entry_point));
    let in_time = sorts.clone().any(|dispatch| !dispatch.setup);
    sorts.next()?;
    let each = if in_time { SORT_BYTES_PER_ELEMENT } else { ORDER_BYTES_PER_ELEMENT };
    let counts = &run.kernels.get(&kernel.kernel)?.ordered;
    let whole = |name: &String| match kernel.parameters.get(name) {
        Some(Value::Integer(value)) => u64::try_from(*value).ok(),
        Some(Value::Real(_) | Value::Name(_)) | None => None,
    };
    let elements = counts.iter().map(whole).collect::<Option<Vec<u64>>>()?;
    (!elements.is_empty()).then(|| elements.iter().product::<u64>() * u64::from(each))
}

/// The measured time of the dispatches that only prepare what the work needs.
fn sorting(run: &Run, kernel: &Measurement) -> Option<Nanoseconds> {
    let prepares = |entry_point: &str| {
        stages::stage(run, &kernel.kernel, entry_point).is_some_and(|stage| stage.prepares)
    };
    let times: Vec<f64> = kernel
        .dispatches
        .iter()
        .filter(|dispatch| prepares(&dispatch.entry_point))
        .filter_map(|dispatch| dispatch.median_ns.map(|time| time.0))
        .collect();
    (!times.is_empty()).then(|| Nanoseconds(times.iter().sum()))
}

/// The arms of mean length that a subgroup of the baseline runs, by the formula.
fn arms_expected<'a>(
    run: &'a Run,
    counters: &mut Counters<'a>,
    kernel: &'a Measurement,
    width: Width,
) -> Option<f64> {
    let divergence = run.kernels.get(&kernel.kernel)?.divergence.as_ref()?;
    let arms = if has(kernel, &divergence.only) {
        arms(kernel, divergence)?
    } else {
        count_shares(counters, kernel, divergence.counted.as_ref()?)?
    };
    let mean: f64 = arms.iter().map(|(length, p)| length * p).sum();
    (mean > 0.0).then(|| arms_run_unequal(&arms, width) / mean)
}

/// Whether a launch has these values; a parameter that it lacks has every one.
fn has(kernel: &Measurement, values: &BTreeMap<String, Value>) -> bool {
    let same = |(name, value): (&String, &Value)| {
        kernel
            .parameters
            .get(name)
            .is_none_or(|parameter| parameter.to_string() == value.to_string())
    };
    values.iter().all(same)
}

/// Lengths and probabilities: arms of even probability, rising ones as long as 1, 2, 3 … of the first;
/// or a branch that a share of lanes takes, and nothing else.
fn arms(kernel: &Measurement, divergence: &Divergence) -> Option<Vec<(f64, f64)>> {
    let Divergence { arms, share, rising, .. } = divergence;
    if let Some(share) = share {
        return number(kernel, share).map(|share| vec![(1.0, share)]);
    }
    let count = match arms.as_ref()? {
        Value::Name(name) => number(kernel, name)?,
        number => number.number()?,
    };
    let unequal = !rising.is_empty() && has(kernel, rising);
    let lengths = (1_u32..=256).map(f64::from).take_while(|arm| *arm <= count);
    Some(lengths.map(|arm| (if unequal { arm } else { 1.0 }, 1.0 / count)).collect())
}

/// Each arm's share of the elements, from what a kernel counted of the same launch that has a dispatch
/// for each arm.
fn count_shares<'a>(
    counters: &mut Counters<'a>,
    kernel: &'a Measurement,
    counted: &'a CountedArms,
) -> Option<Vec<(f64, f64)>> {
    let CountedArms { kernel: counter, entry_point, only } = counted;
    if !has(kernel, only) {
        return None;
    }
    let known = counters.get_mut(&(counter.as_str(), kernel.device.as_str()))?;
    let separate = *known.find(&kernel.parameters).first()?;
    let alone = separate.dispatches.iter().filter(|dispatch| dispatch.entry_point == *entry_point);
    // An element passes every block of its arm's body equally often.
    let elements: Vec<u64> = alone
        .map(|dispatch| dispatch.blocks.iter().map(|block| block.lanes.0).max().unwrap_or(0))
        .collect();
    let all = u128::from(elements.iter().sum::<u64>());
    elements.iter().map(|count| Some((1.0, ratio(u128::from(*count), all)?))).collect()
}
