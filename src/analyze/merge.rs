//! Several runs as one, for tables and reports over several files.
//!
//! Input: runs. Output: one run with every device, measurement, kernel and source. It is made to be looked
//! at, never to be stored: its tool, host and arguments are those of the first run.

use std::collections::BTreeMap;

use crate::record::Run;

/// Why runs cannot be looked at as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is none.
    #[error("there is no run")]
    NoRuns,
    /// Their operations were counted by different rules.
    #[error(
        "the runs were counted by different rules ({0} and {1}): before rule 2, a jump counted as an \
         operation, so their means and subgroup operations cannot stand in one table; report each by \
         itself, or measure the older again"
    )]
    CountingRules(u32, u32),
}

/// Joins `runs`.
///
/// A device whose id an earlier run took is renamed, `wgpu:0` to `wgpu:0 (2)` where it comes from the
/// second run, even if it is the same hardware: its calibration and its samples are of another day.
///
/// # Errors
///
/// [`MergeError::NoRuns`], and [`MergeError::CountingRules`] where operations of two rules would mix.
pub fn merge(runs: &[Run]) -> Result<Run, MergeError> {
    let first = runs.first().ok_or(MergeError::NoRuns)?;
    let other = runs.iter().map(|run| run.counting_rule).find(|rule| *rule != first.counting_rule);
    if let Some(other) = other {
        return Err(MergeError::CountingRules(first.counting_rule, other));
    }
    let mut joined = first.clone();
    for (run, number) in runs.iter().zip(1usize..).skip(1) {
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        for device in &run.devices {
            let taken = joined.devices.iter().any(|known| known.id == device.id);
            let id = if taken { format!("{} ({number})", device.id) } else { device.id.clone() };
            names.insert(&device.id, id.clone());
            let mut device = device.clone();
            device.id = id;
            joined.devices.push(device);
        }
        joined.measurements.extend(run.measurements.iter().cloned().map(|mut measurement| {
            if let Some(id) = names.get(measurement.device.as_str()) {
                measurement.device.clone_from(id);
            }
            measurement
        }));
        for (kernel, note) in &run.kernels {
            joined.kernels.entry(kernel.clone()).or_insert_with(|| note.clone());
        }
        for (sha256, source) in &run.sources {
            joined.sources.entry(sha256.clone()).or_insert_with(|| source.clone());
        }
    }
    Ok(joined)
}
