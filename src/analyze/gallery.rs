//! Many records as one table: a row a device and width.
//!
//! Input: runs, one after the other; none is kept. Output: [`Gallery`], what each device showed at each
//! width that it ran: its self-test, how its kernels' lanes and times compare with their baselines'. Simulators
//! are the definition and have no row. Nothing of a record's host, its arguments, or a user's own shader
//! gets in.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{SIZE, parameters_text, short_name};
use super::summary::{SummaryRow, TimeRatio, summary};
use crate::record::{Backend, Device, Output, Run, Status, Tag, Value, flag};
use crate::statistics::median;
use crate::units::{Ratio, Width};

/// What makes two devices of two records one row. Rows of one device at its widths stand together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GalleryKey {
    /// Whether nothing shows that its figures were measured; such rows stand behind the others.
    pub unattested: bool,
    /// The name that its driver gives.
    pub name: String,
    /// The interface.
    pub backend: Backend,
    /// The width that it ran, where that is known: figures of two widths are never mixed.
    pub width: Option<Width>,
}

/// What the records say of a device, all together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GalleryDevice {
    /// How many records have it.
    pub records: u64,
    /// Its drivers.
    pub drivers: BTreeSet<String>,
    /// Of the self-test's parts that any record ran, by name, whether all records passed.
    pub self_test: BTreeMap<String, bool>,
    /// Launches that ended, and those whose outputs were wrong.
    pub launches: [u64; 2],
    /// Launches whose active lanes are left out, since another rule than today's counted them.
    pub of_other_rules: u64,
    /// Launches of patterns whose active lanes somebody published, by name and parameters other than sizes.
    pub patterns: BTreeMap<String, GalleryFigures>,
    /// Launches that are about the grain of branches.
    pub grain: BTreeMap<String, GalleryFigures>,
    /// Other launches with a baseline, by full name and parameters other than sizes.
    pub others: BTreeMap<String, GalleryFigures>,
}

/// A launch's figures at the largest size that any record has, one of each record that has that size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GalleryFigures {
    /// The size; `None` if the launch has none.
    pub size: Option<i64>,
    efficiencies: Vec<f64>,
    ratios: Vec<f64>,
}

impl GalleryFigures {
    /// Adds a record's figures; those of a smaller size are left out, and make room for those of a larger one. Lanes are
    /// added where today's rule counted them: a median over two rules would be of neither.
    fn add(&mut self, row: &SummaryRow, counts_as_today: bool) {
        let size = match row.parameters.get(SIZE) {
            Some(Value::Integer(size)) => Some(*size),
            _ => None,
        };
        if size < self.size {
            return;
        }
        if size > self.size {
            *self = Self { size, ..Self::default() };
        }
        let efficiency = row.efficiency.filter(|_| counts_as_today);
        self.efficiencies.extend(efficiency.map(|ratio| ratio.0));
        if let TimeRatio::Measured(paired) = &row.time_ratio {
            self.ratios.push(paired.median);
        }
    }

    /// The median share of lanes that were active.
    pub fn efficiency(&self) -> Option<Ratio> {
        median(&self.efficiencies).map(Ratio)
    }

    /// The median time over the baseline's.
    pub fn time_ratio(&self) -> Option<f64> {
        median(&self.ratios)
    }
}

/// Devices by what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// A row each.
    pub devices: BTreeMap<GalleryKey, GalleryDevice>,
    /// How many runs were added.
    pub runs: u64,
}

impl Gallery {
    /// Adds what a run says of its devices; gives the id of each that it has a row for, with its key.
    pub fn add(&mut self, run: &Run) -> Vec<(String, GalleryKey)> {
        self.runs += 1;
        let summary = summary(run);
        let mut added = Vec::new();
        for (device, rows) in run.devices.iter().zip(&summary.devices) {
            if device.is_simulator() {
                continue;
            }
            let key = key_of(device);
            let row = self.devices.entry(key.clone()).or_default();
            row.add(run, device, &rows.rows);
            added.push((device.id.clone(), key));
        }
        added
    }
}

fn key_of(device: &Device) -> GalleryKey {
    GalleryKey {
        unattested: flag::has(&device.flags, &Tag::Unattested),
        name: device.name.clone(),
        backend: device.backend,
        width: device.subgroup_width_run,
    }
}

impl GalleryDevice {
    fn add(&mut self, run: &Run, device: &Device, rows: &[SummaryRow]) {
        self.records += 1;
        self.drivers.insert(device.driver.clone());
        for part in &device.self_test {
            *self.self_test.entry(part.part.clone()).or_insert(true) &= part.has_passed();
        }
        for row in rows {
            let [ended, wrong] = &mut self.launches;
            *ended += u64::from(row.status == Status::Ok);
            *wrong += u64::from(row.output == Output::Mismatch);
            let Some(note) = run.kernels.get(&row.kernel) else { continue };
            // Only kernels of the catalogue have notes of these kinds. Names of other families may be alike.
            let (figures, kernel) = if note.grain.is_some() {
                (&mut self.grain, short_name(&row.kernel))
            } else if note.published.is_some() {
                (&mut self.patterns, short_name(&row.kernel))
            } else if note.baseline.is_some() && row.time_ratio != TimeRatio::Baseline {
                (&mut self.others, row.kernel.as_str())
            } else {
                continue;
            };
            let parameters = parameters_text(&row.parameters, &[SIZE]);
            let name = format!("{kernel} {parameters}").trim().to_owned();
            figures.entry(name).or_default().add(row, run.counts_as_today());
            self.of_other_rules += u64::from(!run.counts_as_today() && row.efficiency.is_some());
        }
    }
}
