//! Speed-ups over a family's slowest step, beside those that were published for the same kernels.
//!
//! Input: a run and its main table. Output: a table for each family that has published
//! speed-ups. A speed-up is the baseline's time over the kernel's: the inverse of the table's ratio,
//! so that it is there where that is.

use indexmap::IndexMap;

use super::names::{SIZE, family};
use super::summary::{Summary, TimeRatio};
use crate::record::{Run, Value};

/// The speed-ups of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Speedups {
    /// The family.
    pub family: String,
    /// The kernel that the others are compared with, by its full name.
    pub baseline: String,
    /// What the published figures were measured on.
    pub hardware: String,
    /// The parameter `n` that they were measured with.
    pub n: i64,
    /// The devices that were timed, by their names for people.
    pub devices: Vec<String>,
    /// A row for each kernel that has a published speed-up.
    pub rows: Vec<SpeedupRow>,
}

/// The speed-ups of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedupRow {
    /// The kernel's full name.
    pub kernel: String,
    /// The published speed-up; 2 is twice as fast.
    pub published: f64,
    /// The measured ones, in the order of the devices; `None` if the ratio was not measured.
    /// Where a kernel was timed with several parameters, the `n` of the published figure counts, and
    /// without it the first that has a ratio.
    pub measured: Vec<Option<f64>>,
}

/// Collects the speed-ups of every family that has published ones and was timed.
pub fn speedups(run: &Run, summary: &Summary) -> Vec<Speedups> {
    let mut families: IndexMap<String, Speedups> = IndexMap::new();
    for (kernel, known) in &run.kernels {
        let (Some(published), Some(baseline)) = (&known.published_speedup, &known.baseline) else {
            continue;
        };
        let timed = summary.devices.iter().map(|device| {
            let ratios = device.rows.iter().filter(|row| row.kernel == *kernel);
            let speedup = |ratio: &TimeRatio| match ratio {
                TimeRatio::Measured(ratio) => Some(1.0 / ratio.median),
                TimeRatio::Baseline => Some(1.0),
                TimeRatio::None | TimeRatio::Withheld(_) => None,
            };
            let mut timed: Vec<_> = ratios.filter(|row| row.time.is_some()).collect();
            let alike = Some(&Value::Integer(published.n));
            timed.sort_by_key(|row| row.parameters.get(SIZE) != alike);
            let measured = timed.iter().find_map(|row| speedup(&row.time_ratio));
            (device.label.clone(), measured)
        });
        let (devices, measured): (Vec<String>, Vec<Option<f64>>) = timed.unzip();
        let family = family(kernel).to_owned();
        let entry = families.entry(family.clone()).or_insert_with(|| Speedups {
            family,
            baseline: baseline.clone(),
            hardware: published.hardware.clone(),
            n: published.n,
            devices,
            rows: Vec::new(),
        });
        let published = published.factor;
        entry.rows.push(SpeedupRow { kernel: kernel.clone(), published, measured });
    }
    let any = |table: &Speedups| {
        let others = table.rows.iter().filter(|row| row.kernel != table.baseline);
        others.flat_map(|row| &row.measured).any(Option::is_some)
    };
    families.into_values().filter(any).map(only_timed).collect()
}

/// Leaves out the devices that have no figure.
fn only_timed(table: Speedups) -> Speedups {
    let keep: Vec<bool> = (0..table.devices.len())
        .map(|device| table.rows.iter().any(|row| row.measured[device].is_some()))
        .collect();
    fn keep_where<T>(values: Vec<T>, keep: &[bool]) -> Vec<T> {
        values.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| value).collect()
    }
    let rows = table
        .rows
        .into_iter()
        .map(|row| SpeedupRow { measured: keep_where(row.measured, &keep), ..row });
    Speedups { rows: rows.collect(), devices: keep_where(table.devices, &keep), ..table }
}

#[cfg(test)]
mod tests {
    use super::super::summary;
    use super::*;
    use crate::record::{KernelNote, PublishedSpeedup};

    #[test]
    fn a_speedup_is_the_inverse_of_the_time_ratio() {
        let note = |factor: f64| KernelNote {
            baseline: Some("five_patterns/uniform".to_owned()),
            published_speedup: Some(PublishedSpeedup {
                factor,
                n: 1 << 20,
                hardware: "A100".to_owned(),
            }),
            ..Default::default()
        };
        let mut run = crate::fixtures::run();
        run.kernels = [("five_patterns/uniform", 1.0), ("five_patterns/branch_by_lane", 0.5)]
            .map(|(name, factor)| (name.to_owned(), note(factor)))
            .into();
        let table = summary(&run);
        let found = speedups(&run, &table);
        assert_eq!(found.len(), 1);
        // The simulator is not timed.
        assert!(
            !found[0].devices.is_empty() && !found[0].devices.iter().any(|d| d.contains("sim"))
        );
        let row = found[0].rows.iter().find(|row| row.kernel.ends_with("branch_by_lane")).unwrap();
        let ratio = table.devices[0]
            .rows
            .iter()
            .filter(|other| other.kernel == row.kernel)
            .find_map(|other| match &other.time_ratio {
                TimeRatio::Measured(ratio) => Some(ratio.median),
                TimeRatio::None | TimeRatio::Baseline | TimeRatio::Withheld(_) => None,
            })
            .unwrap();
        assert!((row.measured[0].unwrap() * ratio - 1.0).abs() < 1e-12);
        run.measurements.retain(|measurement| measurement.kernel.ends_with("uniform"));
        assert_eq!(speedups(&run, &summary(&run)), []);
    }
}
