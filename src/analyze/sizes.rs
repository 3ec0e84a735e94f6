//! Rates against size: what each kernel of a family makes of the memory as its arrays grow.
//!
//! Input: a run that timed kernels, which say the bytes they must move, at several sizes. Output: a
//! table for each device and result, a series for each kernel at each set of parameters but size.
//! Kernels of a family that give other results, such as a sum a block and one sum of all, are not held
//! against each other.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::bandwidth::bandwidth;
use super::names::{SIZE, device, device_label, exact, family, parameters_text};
use super::usual::{Usual, asks_where_it_pays, keep_usual_of_each};
use crate::record::{Measurement, Run, Status, Value};
use crate::units::{Ratio, approximate, text};

/// The rates of a family's kernels on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSweep {
    /// The family.
    pub family: String,
    /// What the kernels give, the name of their reference, such as `reduce/blocks`; `None` if
    /// the whole family gives the same.
    pub result: Option<String>,
    /// What figures call that.
    pub result_words: Option<String>,
    /// The device's name for people.
    pub device: String,
    /// The device's copy rate in bytes a second, the ceiling; `None` if it was not measured.
    pub copy_bytes_per_s: Option<f64>,
    /// A series for each kernel and set of parameters, in the order of measurement; of more than a
    /// figure shows, those of each kernel's most usual parameters.
    pub series: Vec<SizeSeries>,
    /// How many series that leaves out.
    pub not_shown: usize,
    /// How many series of one size are left out, where others have lines.
    pub single: usize,
}

/// One kernel at several sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSeries {
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters but for size, as `type=f32`; may be empty.
    pub parameters: String,
    /// In how many of them it differs from the usual.
    pub unusual: usize,
    /// Bytes a second by number of elements: bytes that must move over the median time.
    pub points: BTreeMap<u64, f64>,
}

impl SizeSweep {
    /// Its family, or what of it its kernels give: `softmax`, `reduce/blocks`.
    pub fn name(&self) -> &str {
        self.result.as_deref().unwrap_or(&self.family)
    }

    /// Whether some series has two sizes or more.
    pub fn has_lines(&self) -> bool {
        self.series.iter().any(|series| series.points.len() > 1)
    }

    /// Whether its series can be told apart in one plot.
    pub fn is_one_plot(&self) -> bool {
        self.series.len() <= PLOT_SERIES_MAX || self.sets().len() == 1
    }

    /// The sets of parameters but size, in the order of measurement.
    pub fn sets(&self) -> Vec<&str> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let sets = self.series.iter().map(|series| series.parameters.as_str());
        sets.filter(|set| known.insert(*set)).collect()
    }

    /// Leaves out what a figure does not hold, and counts it.
    fn fit(&mut self) {
        if self.has_lines() {
            let all = self.series.len();
            self.series.retain(|series| series.points.len() > 1);
            self.single = all - self.series.len();
        }
        let all = self.series.len();
        let fits = |sweep: &Self| sweep.is_one_plot() || sweep.sets().len() <= PLOTS_MAX;
        if !fits(self) {
            keep_usual_of_each(&mut self.series, |measurement| {
                (&measurement.kernel, measurement.unusual)
            });
        }
        if !fits(self) {
            let kept = self.sets().into_iter().take(PLOTS_MAX).map(str::to_owned);
            let kept: BTreeSet<String> = kept.collect();
            self.series.retain(|series| kept.contains(&series.parameters));
        }
        self.not_shown = all - self.series.len();
    }
}

/// The most series of one plot: as many as there are colours.
const PLOT_SERIES_MAX: usize = 8;

/// The most plots of a figure: beyond them, a table reads better.
const PLOTS_MAX: usize = 6;

/// Collects every rate by device, family, result, kernel and size.
pub fn size_sweeps(run: &Run) -> Vec<SizeSweep> {
    let usual = Usual::from_run(run);
    let mut sweeps: IndexMap<[String; 3], (SizeSweep, IndexMap<String, usize>)> = IndexMap::new();
    let shown =
        |measurement: &&Measurement| measurement.status == Status::Ok && !measurement.for_widths;
    for measurement in run.measurements.iter().filter(shown) {
        let Some(Value::Integer(n)) = measurement.parameters.get(SIZE) else { continue };
        let (Ok(n), Some(rate)) = (u64::try_from(*n), bandwidth(run, measurement)) else {
            continue;
        };
        let known = run.kernels.get(&measurement.kernel);
        let result = known.and_then(|kernel| kernel.result.clone());
        let family = family(&measurement.kernel).to_owned();
        let key = [measurement.device.clone(), family.clone(), result.clone().unwrap_or_default()];
        let (sweep, places) = sweeps.entry(key).or_insert_with(|| {
            let copy = device(run, &measurement.device).and_then(|device| device.copy_bytes_per_s);
            let sweep = SizeSweep {
                family,
                result,
                result_words: known.and_then(|kernel| kernel.result_words.clone()),
                device: device_label(run, &measurement.device),
                copy_bytes_per_s: copy,
                series: Vec::new(),
                not_shown: 0,
                single: 0,
            };
            (sweep, IndexMap::new())
        });
        let parameters = parameters_text(&measurement.parameters, &[SIZE]);
        let name = format!("{} {parameters}", measurement.kernel);
        let index = *places.entry(name).or_insert_with(|| {
            let kernel = measurement.kernel.clone();
            let mut values = measurement.parameters.clone();
            values.remove(SIZE);
            let unusual = usual.count(&values);
            sweep.series.push(SizeSeries { kernel, parameters, unusual, points: BTreeMap::new() });
            sweep.series.len() - 1
        });
        sweep.series[index].points.insert(n, rate.bytes_per_s);
    }
    let mut sweeps: Vec<SizeSweep> = sweeps.into_values().map(|(sweep, _)| sweep).collect();
    sweeps.iter_mut().for_each(SizeSweep::fit);
    let results: BTreeSet<(String, Option<String>)> =
        sweeps.iter().map(|sweep| (sweep.family.clone(), sweep.result.clone())).collect();
    for sweep in &mut sweeps {
        if results.iter().filter(|(family, _)| *family == sweep.family).count() == 1 {
            sweep.result = None;
        }
    }
    sweeps
}

/// What each device's sweeps of sizes reach, in a sentence: the fastest kernel where it is fastest.
pub(super) fn rate_sentences(run: &Run) -> Vec<String> {
    // Where it is asked at which size something pays, that is the answer.
    let pays = |sweep: &SizeSweep| {
        sweep.series.iter().any(|series| asks_where_it_pays(run, &series.kernel))
    };
    let sweeps = size_sweeps(run).into_iter().filter(|sweep| sweep.has_lines() && !pays(sweep));
    sweeps.filter_map(|sweep| rate_sentence(&sweep)).collect()
}

fn rate_sentence(sweep: &SizeSweep) -> Option<String> {
    let points = sweep
        .series
        .iter()
        .flat_map(|series| series.points.iter().map(move |(n, rate)| (series, *n, *rate)));
    let (series, n, rate) = points.max_by(|a, b| a.2.total_cmp(&b.2))?;
    // What only some series have tells them apart.
    let sets = sweep.sets();
    let everywhere =
        |part: &&str| sets.iter().all(|set| set.split(", ").any(|other| other == *part));
    let told = series.parameters.split(", ").filter(|part| !part.is_empty() && !everywhere(part));
    let told: Vec<&str> = told.collect();
    let parameters =
        if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) };
    let share = sweep.copy_bytes_per_s.filter(|copy| *copy > 0.0).map_or(String::new(), |copy| {
        format!(", {} of the rate of a copy", text::whole_percent(Ratio(rate / copy)))
    });
    let kernel = &series.kernel;
    Some(format!(
        "On {} {kernel}{parameters} is the fastest of {}, at n = {}: {}{share}.",
        sweep.device,
        sweep.name(),
        exact(approximate(n)),
        text::rate(rate, "B/s")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::KernelNote;
    use crate::units::Nanoseconds;

    #[test]
    fn rates_are_gathered_by_device_family_kernel_and_size() {
        let mut run = crate::fixtures::run();
        assert_eq!(size_sweeps(&run), [], "no kernel says its bytes");
        let device = run.devices[0].id.clone();
        run.devices[0].copy_bytes_per_s = Some(4e12);
        let measurement = run.measurements.iter().find(|m| m.device == device && m.time.is_some());
        let measurement = measurement.cloned().unwrap();
        run.measurements.clear();
        for (kernel, n, time) in [
            ("reduce/a", 1024, 100.0),
            ("reduce/a", 4096, 200.0),
            ("scan/b", 1024, 50.0),
            ("scan/c", 1024, 60.0),
        ] {
            let mut made = measurement.clone();
            made.kernel = kernel.to_owned();
            made.parameters.insert(SIZE.to_owned(), Value::Integer(n));
            made.bytes_moved_min = Some(4 * n.unsigned_abs());
            made.time.as_mut().unwrap().median_ns = Nanoseconds(time);
            run.measurements.push(made);
        }
        let sweeps = size_sweeps(&run);
        let families: Vec<&str> = sweeps.iter().map(|sweep| sweep.family.as_str()).collect();
        assert_eq!(families, ["reduce", "scan"]);
        assert!(sweeps[0].has_lines() && !sweeps[1].has_lines());
        assert_eq!((sweeps[1].series.len(), sweeps[1].single), (2, 0));
        assert_eq!(sweeps[0].copy_bytes_per_s, Some(4e12));
        let points: Vec<(u64, f64)> = sweeps[0].series[0].points.clone().into_iter().collect();
        assert_eq!(points.len(), 2);
        assert!((points[1].1 - 4.0 * 4096.0 / 200e-9).abs() < 1.0, "{points:?}");
        // A single rate stays where there is nothing else, and is counted where there are lines.
        let mut single = run.measurements[0].clone();
        single.kernel = "reduce/d".to_owned();
        run.measurements.push(single);
        let with_single = size_sweeps(&run);
        assert_eq!((with_single[0].series.len(), with_single[0].single), (1, 1));
        run.measurements.pop();
        // Where results differ within a family, each has a sheet of its own.
        for (kernel, result) in
            [("reduce/a", "reduce/all"), ("scan/b", "scan/all"), ("scan/c", "scan/blocks")]
        {
            let note = KernelNote { result: Some(result.to_owned()), ..KernelNote::default() };
            run.kernels.insert(kernel.to_owned(), note);
        }
        let sweeps = size_sweeps(&run);
        let names: Vec<&str> = sweeps.iter().map(SizeSweep::name).collect();
        assert_eq!(names, ["reduce", "scan/all", "scan/blocks"]);
    }
}
