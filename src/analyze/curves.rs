//! Sweeps made into curves: what a parameter does to a time, or to lanes.
//!
//! Input: a run, whose notes say which figures its kernels have. Output: [`CurveTable`]s, one for
//! each figure. All times compared in a curve were sampled side by side. No kernel is known by name
//! here.

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;

use super::counts::{active_lanes_mean, efficiency};
use super::names::{
    NOTABLE, device_label, exact, is_notable, is_simulated, parameters_text, short_name,
    values_key, write_count,
};
use super::rounds::{median_time, overlap, ticks_by_round};
use super::usual::Usual;
use crate::record::{FigureLine, FigureNote, FigureY, Measurement, Run, Status, Value};
use crate::statistics;
use crate::units::{Ratio, text};

/// A figure of curves.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveTable {
    /// A word for file names, such as `vote-speed-up`.
    pub name: String,
    /// The title.
    pub title: String,
    /// What to know when reading it.
    pub subtitle: String,
    /// The devices that were measured, each with its width.
    pub devices: String,
    /// The x axis's quantity with its unit.
    pub x_label: String,
    /// Whether the x axis is logarithmic.
    pub x_logarithmic: bool,
    /// The y axis's quantity with its unit.
    pub y_label: String,
    /// Whether the y axis is logarithmic.
    pub y_logarithmic: bool,
    /// A value of y that gets a line through the whole plot.
    pub reference: Option<f64>,
    /// The curves, in the order of measurement.
    pub series: Vec<CurveSeries>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSeries {
    /// Its name.
    pub name: String,
    /// The name but for the device.
    pub curve: String,
    /// The devices whose launches its points are, each with its width, in the order of measurement.
    pub devices: Vec<String>,
    /// Whether it was measured, and not worked out or published.
    pub measured: bool,
    /// Its points by ascending x, in the units of the axes.
    pub points: Vec<(f64, f64)>,
}

/// The points of a curve, with what its name is made of.
#[derive(Default)]
struct Drawn {
    curve: String,
    devices: Vec<String>,
    points: BTreeMap<OrderedX, f64>,
}

/// Curves by their names.
type Points = IndexMap<String, Drawn>;

/// The fewest launches that are a sweep along x.
pub(super) const SWEEP_MIN: usize = 3;

/// What stands for the width in the names of a figure's curves.
const WIDTH: &str = "{W}";

/// Makes every figure that the run has points for.
pub fn curves(run: &Run) -> Vec<CurveTable> {
    let mut figures: IndexMap<&str, (&FigureNote, Vec<&str>)> = IndexMap::new();
    for (kernel, note) in &run.kernels {
        for figure in &note.figures {
            figures.entry(&figure.name).or_insert((figure, Vec::new())).1.push(kernel);
        }
    }
    let tables = figures.into_values().flat_map(|(figure, kernels)| tables(run, figure, &kernels));
    tables.filter(|table| !table.series.is_empty()).collect()
}

/// Of how many devices a figure is told.
const DEVICES_MAX: usize = 2;

/// What sweeps show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CurvesTold {
    /// For each figure in which a curve moves by a notable part a sentence a device, of a few devices: what was
    /// varied, and between what the curve lies that goes highest.
    pub(super) figures: Vec<Vec<String>>,
    /// How many figures have a sweep.
    pub(super) sweeps: usize,
}

impl CurvesTold {
    /// That no curve moves by a notable part; `None` where one does, or there is none.
    pub(super) fn describe_nothing(&self) -> Option<String> {
        let percent = text::whole_percent(Ratio(NOTABLE));
        let figures = write_count(self.sweeps, "figure", "figures");
        (self.figures.is_empty() && self.sweeps > 0).then(|| {
            format!(
                "Nothing notable was found along what was varied: in {figures} no curve moves by {percent} or more."
            )
        })
    }
}

/// What the figures with sweeps show, those of the fewest curves first.
pub(super) fn curve_sentences(run: &Run) -> CurvesTold {
    let mut tables = curves(run);
    tables.sort_by_key(|table| table.series.len());
    let sweeps = tables.iter().filter(|table| swept(table).next().is_some()).count();
    let figures = tables.iter().map(sentences).filter(|told| !told.is_empty()).collect();
    CurvesTold { figures, sweeps }
}

/// The curves that were measured at enough points.
fn swept(table: &CurveTable) -> impl Iterator<Item = &CurveSeries> {
    table.series.iter().filter(|series| series.measured && series.points.len() >= SWEEP_MIN)
}

/// The lowest and the highest point of a curve, of equal ones the first.
fn ends(series: &CurveSeries) -> Option<[(f64, f64); 2]> {
    let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    Some([*series.points.iter().min_by(by_y)?, *series.points.iter().rev().max_by(by_y)?])
}

/// A sentence for each of the first devices on which a curve moves by a notable part.
fn sentences(table: &CurveTable) -> Vec<String> {
    let mut of_devices: IndexMap<&[String], Vec<&CurveSeries>> = IndexMap::new();
    for series in swept(table) {
        of_devices.entry(&series.devices).or_default().push(series);
    }
    let several = swept(table).any(|series| swept(table).any(|other| other.curve != series.curve));
    let mut told: Vec<String> = of_devices
        .into_iter()
        .filter_map(|(devices, curves)| sentence(table, devices, &curves, several))
        .collect();
    let others = told.split_off(told.len().min(DEVICES_MAX)).len();
    if let (Some(last), true) = (told.last_mut(), others > 0) {
        let devices = write_count(others, "more device is", "more devices are");
        last.push_str(&format!(" {devices} in the figure."));
    }
    told
}

/// Between what the curve of these devices lies that goes highest; nothing where that is not notable.
fn sentence(
    table: &CurveTable,
    devices: &[String],
    curves: &[&CurveSeries],
    several: bool,
) -> Option<String> {
    // The curve that goes highest; of those that go as high, the one that falls lowest.
    let reach = |series: &CurveSeries| {
        let [least, most] = ends(series).unwrap_or_default();
        ((most.1 * 100.0).round(), most.1 / least.1)
    };
    let higher = |a: &&&CurveSeries, b: &&&CurveSeries| {
        let (a, b) = (reach(a), reach(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    let series = curves.iter().max_by(higher)?;
    let [least, most] = ends(series).filter(|[least, most]| is_notable(most.1 / least.1))?;
    let labelled = if several { ("curve", &series.curve) } else { ("figure", &table.title) };
    let device = match devices {
        [] => return None,
        [device] => device.clone(),
        // Names that tell no device are those of counts, which are the same on all of one width.
        [first, others @ ..] => {
            let others = write_count(others.len(), "more device", "more devices");
            format!("{first}, and alike on {others},")
        }
    };
    let y = table.y_label.split(';').next().unwrap_or_default();
    let [first, last] = [series.points.first()?, series.points.last()?].map(|(x, _)| exact(*x));
    Some(format!(
        "On {device} varying “{}” from {first} to {last} moved “{y}” between {} (at {}) and {} (at {}), in the {} “{}”.",
        table.x_label,
        text::ratio(least.1),
        exact(least.0),
        text::ratio(most.1),
        exact(most.0),
        labelled.0,
        labelled.1,
    ))
}

/// The tables of one figure: one, or one for each combination of what curves' names do not tell.
fn tables(run: &Run, figure: &FigureNote, kernels: &[&str]) -> Vec<CurveTable> {
    let drawable = |measurement: &&Measurement| {
        let shown = match figure.y {
            FigureY::Efficiency | FigureY::SlotsPerLaneOperation => {
                measurement.status == Status::Ok && active_lanes_mean(measurement).is_some()
            }
            FigureY::Speedup(_) | FigureY::Slowdown(_) | FigureY::OfBest | FigureY::WorkOfFirst => {
                measurement.time.is_some()
            }
        };
        shown
            && kernels.contains(&measurement.kernel.as_str())
            && number(measurement, &figure.x).is_some()
    };
    let mut all: Vec<&Measurement> = run.measurements.iter().filter(drawable).collect();
    let usual = Usual::from_run(run);
    let usual = figure.usual.as_deref().and_then(|name| Some((name, usual.value(name)?)));
    let is_usual = |measurement: &&Measurement| {
        usual.is_some_and(|(name, value)| has_value(measurement, name, value))
    };
    if all.iter().any(is_usual) {
        all.retain(is_usual);
    }
    let mut unsaid: Vec<&str> = figure.told.iter().map(String::as_str).collect();
    unsaid.push(&figure.x);
    let mut groups: IndexMap<String, Vec<&Measurement>> = IndexMap::new();
    for measurement in all {
        let fixed = if figure.apart {
            parameters_text(&measurement.parameters, &unsaid)
        } else {
            String::new()
        };
        groups.entry(fixed).or_default().push(measurement);
    }
    let table = |(fixed, found): (String, Vec<&Measurement>)| {
        let mut unsaid = unsaid.clone();
        // The usual value goes without saying.
        if found.iter().all(is_usual) {
            unsaid.extend(usual.map(|(name, _)| name));
        }
        let words = parameters_text(&found.first()?.parameters, &unsaid);
        let devices = devices_text(run, &found);
        Some(table(figure, &fixed, &words, devices, series_of(run, figure, &found)))
    };
    groups.into_iter().filter_map(table).collect()
}

/// The devices of some launches, in the order of measurement.
fn devices_text(run: &Run, found: &[&Measurement]) -> String {
    let mut devices: Vec<String> = Vec::new();
    for measurement in found {
        let named = name_device(run, measurement);
        if !devices.contains(&named) {
            devices.push(named);
        }
    }
    devices.join("; ")
}

/// The device of a launch with the width that it ran; simulators are named by it.
fn name_device(run: &Run, measurement: &Measurement) -> String {
    let label = device_label(run, &measurement.device);
    match measurement.subgroup_width.map(|width| width.lanes()) {
        Some(width) if !is_simulated(run, measurement) => format!("{label}, {width} lanes"),
        _ => label,
    }
}

fn table(
    figure: &FigureNote,
    fixed: &str,
    words: &str,
    devices: String,
    series: Vec<CurveSeries>,
) -> CurveTable {
    let FigureNote { name, title, subtitle, x_label, x_logarithmic, y_label, reference, .. } =
        figure;
    let (name, title, subtitle) = if figure.apart {
        let name = format!("{name}-{}", words.replace(", ", "-"));
        // What the title says is not said again.
        let fixed = fixed.split(", ").filter(|part| !words.split(", ").any(|told| told == *part));
        let subtitle =
            std::iter::once(subtitle.as_str()).chain(fixed).collect::<Vec<_>>().join(", ");
        (name, format!("{title}: {words}"), subtitle)
    } else {
        (name.clone(), title.clone(), subtitle.clone())
    };
    CurveTable {
        name,
        title,
        subtitle,
        devices,
        x_label: x_label.clone(),
        x_logarithmic: *x_logarithmic,
        y_label: y_label.clone(),
        y_logarithmic: spans_a_decade(figure, &series),
        reference: *reference,
        series,
    }
}

/// The least ratio of values that a linear axis would press together.
const DECADE: f64 = 10.0;

/// Whether ratios go so far along a logarithmic x that only equal ratios can be equally far apart. Percents are
/// parts of a whole, which begins at 0.
fn spans_a_decade(figure: &FigureNote, series: &[CurveSeries]) -> bool {
    let ratios = match figure.y {
        FigureY::Efficiency | FigureY::OfBest => false,
        FigureY::Speedup(_)
        | FigureY::Slowdown(_)
        | FigureY::WorkOfFirst
        | FigureY::SlotsPerLaneOperation => true,
    };
    let values = || {
        let measured = series.iter().filter(|series| series.measured);
        measured.flat_map(|series| &series.points).map(|(_, y)| *y)
    };
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    figure.x_logarithmic && ratios && least > 0.0 && most > DECADE * least
}

/// The curves of some launches, and those that are worked out.
fn series_of(run: &Run, figure: &FigureNote, found: &[&Measurement]) -> Vec<CurveSeries> {
    let mut points = Points::new();
    let by_width = figure.series.contains(WIDTH);
    let several = found.windows(2).any(|pair| pair[0].device != pair[1].device);
    for (measurement, y) in values_of(figure, found) {
        if let Some((x, y)) = number(measurement, &figure.x).zip(y) {
            let device = prefix(run, several && !by_width, &measurement.device);
            let curve = curve_name(figure, measurement);
            let drawn = points.entry(format!("{device}{curve}")).or_default();
            drawn.points.insert(OrderedX(x / figure.x_unit), y);
            drawn.curve = curve;
            let named = name_device(run, measurement);
            if !drawn.devices.contains(&named) {
                drawn.devices.push(named);
            }
        }
    }
    let mut series = series(points);
    let lines: Vec<CurveSeries> =
        figure.lines.iter().filter_map(|line| worked_out(line, &series)).collect();
    series.extend(lines);
    series
}

/// The launches that a figure draws, each with its value on the y axis, where it has one.
fn values_of<'a>(
    figure: &FigureNote,
    found: &[&'a Measurement],
) -> Vec<(&'a Measurement, Option<f64>)> {
    let is_drawn = |measurement: &&Measurement| {
        figure.only.iter().all(|(name, value)| has_value(measurement, name, value))
    };
    let drawn: Vec<&Measurement> = found.iter().copied().filter(is_drawn).collect();
    let share = |drawn: &Measurement| efficiency(active_lanes_mean(drawn), drawn.subgroup_width);
    let x = |drawn: &Measurement| number(drawn, &figure.x).unwrap_or(f64::MAX);
    let time = |drawn: &Measurement| median_time(drawn).map_or(f64::MAX, |time| time.0);
    // What is compared within the launches that differ in x alone.
    let within = |value: &dyn Fn(&[&Measurement], &Measurement) -> Option<f64>| {
        let sweeps = sweeps(&drawn, &figure.x).into_iter();
        sweeps
            .flat_map(|sweep| {
                let values: Vec<_> = sweep.iter().map(|at| (*at, value(&sweep, at))).collect();
                values
            })
            .collect()
    };
    match &figure.y {
        FigureY::Efficiency => {
            drawn.iter().map(|at| (*at, share(at).map(|share| share.0 * 100.0))).collect()
        }
        FigureY::SlotsPerLaneOperation => {
            drawn.iter().map(|at| (*at, share(at).map(|share| 1.0 / share.0))).collect()
        }
        FigureY::Speedup(over) => {
            let twins = Twins::from_launches(found, over);
            let value = |at: &Measurement| twins.find(at).and_then(|twin| time_ratio(twin, at));
            drawn.iter().map(|at| (*at, value(at))).collect()
        }
        FigureY::Slowdown(over) => {
            let twins = Twins::from_launches(found, over);
            // The baseline may differ in another parameter than x.
            within(&|_, at| twins.find(at).and_then(|twin| time_ratio(at, twin)))
        }
        FigureY::OfBest => within(&|sweep, at| {
            let best = sweep.iter().min_by(|a, b| time(a).total_cmp(&time(b)))?;
            time_ratio(best, at).map(|y| y * 100.0)
        }),
        FigureY::WorkOfFirst => within(&|sweep, at| {
            let first = sweep.iter().min_by(|a, b| x(a).total_cmp(&x(b)))?;
            time_ratio(first, at).map(|y| y * x(at) / x(first))
        }),
    }
}

/// Launches that agree in all parameters but x, where there are several.
fn sweeps<'a>(drawn: &[&'a Measurement], x: &str) -> Vec<Vec<&'a Measurement>> {
    let mut sweeps: IndexMap<String, Vec<&Measurement>> = IndexMap::new();
    for measurement in drawn {
        let rest = parameters_text(&measurement.parameters, &[x]);
        sweeps
            .entry(format!("{} {} {rest}", measurement.kernel, measurement.device))
            .or_default()
            .push(measurement);
    }
    sweeps.into_values().filter(|sweep| sweep.len() >= SWEEP_MIN).collect()
}

/// Launches that have certain values, each with its place, by the names of their other parameters, and by kernel, device
/// and what these parameters are; of equal ones the first.
struct Twins<'a>(IndexMap<Vec<&'a str>, HashMap<String, (usize, &'a Measurement)>>);

impl<'a> Twins<'a> {
    fn from_launches(all: &[&'a Measurement], over: &BTreeMap<String, Value>) -> Self {
        let mut by_names: IndexMap<Vec<&str>, HashMap<String, (usize, &Measurement)>> =
            IndexMap::new();
        let has_values =
            |launch: &Measurement| over.iter().all(|(name, value)| has_value(launch, name, value));
        for (place, launch) in all.iter().copied().enumerate() {
            if has_values(launch) {
                let names = launch.parameters.keys().map(String::as_str);
                let names: Vec<&str> = names.filter(|name| !over.contains_key(*name)).collect();
                let key = Self::key(launch, &names);
                by_names.entry(names).or_default().entry(key).or_insert((place, launch));
            }
        }
        Self(by_names)
    }

    /// The first launch that has the values and agrees in all its other parameters.
    fn find(&self, measurement: &Measurement) -> Option<&'a Measurement> {
        let mut first: Option<(usize, &'a Measurement)> = None;
        for (names, launches) in &self.0 {
            if !names.iter().all(|name| measurement.parameters.contains_key(*name)) {
                continue;
            }
            let Some((place, launch)) = launches.get(&Self::key(measurement, names)) else {
                continue;
            };
            if first.is_none_or(|(before, _)| *place < before) {
                first = Some((*place, *launch));
            }
        }
        first.map(|(_, launch)| launch)
    }

    fn key(launch: &Measurement, names: &[&str]) -> String {
        let Measurement { kernel, device, parameters, .. } = launch;
        format!("{kernel:?} {device:?} {}", values_key(parameters, names))
    }
}

fn has_value(measurement: &Measurement, name: &str, value: &Value) -> bool {
    measurement
        .parameters
        .get(name)
        .is_some_and(|parameter| parameter.to_string() == value.to_string())
}

/// A curve's name, but for the device.
fn curve_name(figure: &FigureNote, measurement: &Measurement) -> String {
    let kernel = short_name(&measurement.kernel);
    let kernel = kernel.strip_prefix(figure.prefix.as_str()).unwrap_or(kernel);
    let width = measurement.subgroup_width.map_or("?".to_owned(), |width| width.to_string());
    let mut name = figure.series.replace("{kernel}", kernel).replace(WIDTH, &width);
    for (parameter, value) in &measurement.parameters {
        let place = format!("{{{parameter}}}");
        let value = value.to_string();
        let words = figure.words.get(parameter);
        let words = words.and_then(|words| words.get(&value).or_else(|| words.get("others")));
        if let Some(words) = words {
            name = name.replace(&place, words);
        }
        name = name.replace(&place, &value);
    }
    let told = measurement.parameters.iter().filter(|(name, _)| figure.told.contains(name));
    let told: Vec<String> = told.map(|(name, value)| format!("{name}={value}")).collect();
    if told.is_empty() { name } else { format!("{name} ({})", told.join(", ")) }
}

/// A line up to a bound has the points of the longest curve; one without goes from 1 to the
/// greatest x.
fn worked_out(line: &FigureLine, series: &[CurveSeries]) -> Option<CurveSeries> {
    let FigureLine { name, at_most } = line;
    let longest = series.iter().max_by_key(|series| series.points.len())?;
    let points = match at_most {
        Some(most) => longest.points.iter().map(|(x, _)| (*x, x.min(*most))).collect(),
        None => {
            let ends = series.iter().filter_map(|series| series.points.last()).map(|(x, _)| *x);
            let most = ends.fold(1.0, f64::max);
            vec![(1.0, 1.0), (most, most)]
        }
    };
    let (name, curve) = (name.clone(), name.clone());
    Some(CurveSeries { name, curve, devices: Vec::new(), measured: false, points })
}

/// A parameter that is a number.
fn number(measurement: &Measurement, name: &str) -> Option<f64> {
    measurement.parameters.get(name)?.number()
}

/// The device's part of a curve's name: empty unless it is `told`, as where the figure has but one device, or names tell
/// widths, at which all devices count the same.
fn prefix(run: &Run, told: bool, device: &str) -> String {
    if told { format!("{}: ", device_label(run, device)) } else { String::new() }
}

/// The median over the rounds of one measurement's time over another's, where they were sampled
/// side by side.
fn time_ratio(dividend: &Measurement, divisor: &Measurement) -> Option<f64> {
    if !overlap(dividend, divisor) {
        return None;
    }
    let divisors = ticks_by_round(divisor);
    let ratios: Vec<f64> = ticks_by_round(dividend)
        .into_iter()
        .filter_map(|(round, ticks)| Some(ticks / divisors.get(&round).filter(|by| **by > 0.0)?))
        .collect();
    statistics::median(&ratios)
}

/// Series from points by name, each sorted by x.
fn series(points: Points) -> Vec<CurveSeries> {
    points
        .into_iter()
        .filter(|(_, drawn)| drawn.points.len() > 1)
        .map(|(name, Drawn { curve, devices, points })| CurveSeries {
            name,
            curve,
            devices,
            measured: true,
            points: points.into_iter().map(|(x, y)| (x.0, y)).collect(),
        })
        .collect()
}

/// A finite x, ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OrderedX(f64);

impl Eq for OrderedX {}

impl PartialOrd for OrderedX {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedX {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests;
