//! The simulator's figure beside each measured one.
//!
//! Input: a run that holds devices and `sim:W` measurements. Output: a row for each measurement of a
//! device that is no simulator, with its twin where there is one. Whether every count agrees, block
//! by block, is for `agreement`.

use super::counts::{Work, active_lanes_mean};
use super::names::{Simulated, device_label, is_simulated};
use crate::{
    record::{Measurement, Run},
    units::Width,
};
use std::collections::BTreeMap;

/// A measured figure and the simulator's at the same width.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionRow {
    /// The device's id.
    pub device: String,
    /// The device's name for people.
    pub label: String,
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, crate::record::Value>,
    /// The width of both, in lanes.
    pub width: Option<Width>,
    /// Mean active lanes, measured.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes, simulated; `None` if the run has no simulator at that width and size.
    pub active_lanes_mean_simulated: Option<f64>,
    /// Σ operations × executions, measured; `None` if nothing was counted.
    pub subgroup_operations: Option<u128>,
    /// Σ operations × executions, simulated.
    pub subgroup_operations_simulated: Option<u128>,
    /// The simulator's id.
    pub simulator: Option<String>,
}

/// Makes the table of measured beside simulated figures, in the order of measurement.
pub fn predictions(run: &Run) -> Vec<PredictionRow> {
    let operations = |measurement: &Measurement| {
        Some(Work::from_measurement(measurement).subgroup_operations)
            .filter(|operations| *operations > 0)
    };
    let simulated = Simulated::from_run(run);
    run.measurements
        .iter()
        .filter(|measurement| !is_simulated(run, measurement))
        .map(|measurement| {
            let twin = simulated.find(measurement);
            PredictionRow {
                device: measurement.device.clone(),
                label: device_label(run, &measurement.device),
                kernel: measurement.kernel.clone(),
                parameters: measurement.parameters.clone(),
                width: measurement.subgroup_width,
                active_lanes_mean: active_lanes_mean(measurement),
                active_lanes_mean_simulated: twin.and_then(active_lanes_mean),
                subgroup_operations: operations(measurement),
                subgroup_operations_simulated: twin.and_then(operations),
                simulator: twin.map(|twin| twin.device.clone()),
            }
        })
        .collect()
}
