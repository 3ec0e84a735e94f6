//! Several runs as one, for tables and reports over several files.
//!
//! Input: runs. Output: one run with every device, measurement, kernel and source. It is made to be looked
//! at, never to be stored: its tool, host and arguments are those of the first run.

use std::collections::BTreeMap;

use crate::record::Run;

/// Joins `runs`; nothing where there are none.
///
/// A device whose id an earlier run took is renamed, `wgpu:0` to `wgpu:0 (2)` where it comes from the
/// second run, even if it is the same hardware: its calibration and its samples are of another day.
pub fn merge(runs: &[Run]) -> Option<Run> {
    let mut joined = runs.first()?.clone();
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
    Some(joined)
}
