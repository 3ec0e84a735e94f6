//! What the model of memory says beside NVIDIA's hardware counters.
//!
//! Input: a run in which a simulator watched memory and a device read counters of the same launches. Output:
//! a [`TrafficRow`] for each launch and kind of traffic that both know. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::counter;
use super::names::{Launches, device_label};
use crate::record::{AccessCost, Cost, Measurement, Run, Status, Touching, Value};
use crate::units::{Width, approximate};

/// One kind of traffic of a launch, by both.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficRow {
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The device that read the counters, for people.
    pub label: String,
    /// What is counted.
    pub what: &'static str,
    /// By the model.
    pub modelled: u64,
    /// By the counter.
    pub counted: f64,
}

impl TrafficRow {
    /// What was counted over what the model says; `None` if the model says 0.
    pub fn ratio(&self) -> Option<f64> {
        (self.modelled > 0).then(|| self.counted / approximate(self.modelled))
    }
}

/// A kind of traffic: its name, NVIDIA's counter, what accesses do, and what the model says of one.
struct TrafficKind {
    what: &'static str,
    counter: &'static str,
    does: Touching,
    cost: fn(&AccessCost) -> Option<Cost>,
}

const KINDS: [TrafficKind; 4] = [
    TrafficKind {
        what: "sectors read",
        counter: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        does: Touching::Load,
        cost: |access| access.sectors,
    },
    TrafficKind {
        what: "sectors written",
        counter: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        does: Touching::Store,
        cost: |access| access.sectors,
    },
    TrafficKind {
        what: "passes read",
        counter: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        does: Touching::Load,
        cost: |access| access.passes,
    },
    TrafficKind {
        what: "passes written",
        counter: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        does: Touching::Store,
        cost: |access| access.passes,
    },
];

/// Compares every launch whose memory was watched whole at 32 lanes, NVIDIA's width, with the counters of
/// the same launch; those of dispatches that only make ready are in neither.
pub fn traffic_beside_counters(run: &Run) -> Vec<TrafficRow> {
    let counted = |measurement: &&Measurement| {
        measurement.status == Status::Ok
            && KINDS.iter().any(|kind| counter(measurement, kind.counter).is_some())
    };
    let watched = |measurement: &&Measurement| {
        measurement.subgroup_width == Some(Width::W32) && measurement.memory.is_some()
    };
    let launches = Launches::from_run(run);
    let mut rows = Vec::new();
    for device in run.measurements.iter().filter(counted) {
        let mut same = launches.find_same(&device.kernel, &device.parameters).iter().copied();
        let Some(watched) = same.find(watched) else { continue };
        let uniforms = find_uniforms(run, watched);
        for kind in &KINDS {
            let Some(counted) = counter(device, kind.counter) else { continue };
            let Some(modelled) = sum(watched, kind, &uniforms) else { continue };
            if modelled > 0 || counted > 0.0 {
                rows.push(TrafficRow {
                    kernel: device.kernel.clone(),
                    parameters: device.parameters.clone(),
                    label: device_label(run, &device.device),
                    what: kind.what,
                    modelled,
                    counted,
                });
            }
        }
    }
    rows
}

/// The uniform buffers of a launch's source, by name: CUDA gets them as constants, which no counter of global
/// memory sees.
fn find_uniforms(run: &Run, measurement: &Measurement) -> BTreeSet<String> {
    let text = run.sources.get(&measurement.source_sha256).map_or("", |source| &source.text);
    let name = |declared: &str| {
        let end = declared.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        Some(declared[..end].to_owned())
    };
    text.split("var<uniform>").skip(1).filter_map(|rest| name(rest.trim_start())).collect()
}

/// What the model says of one kind, uniform buffers left out; `None` if not every workgroup was watched.
fn sum(watched: &Measurement, kind: &TrafficKind, uniforms: &BTreeSet<String>) -> Option<u64> {
    let mut sum = 0;
    let memory = watched.memory.as_ref()?;
    for (dispatch, seen) in watched.dispatches.iter().zip(&memory.dispatches) {
        if dispatch.setup {
            continue;
        }
        if seen.workgroups_watched < seen.workgroups {
            return None;
        }
        let is_uniform = |access: &AccessCost| {
            access.buffer.as_ref().is_some_and(|name| uniforms.contains(name))
        };
        let of_kind =
            seen.accesses.iter().filter(|access| access.does == kind.does && !is_uniform(access));
        sum += of_kind.filter_map(kind.cost).map(|cost| cost.taken).sum::<u64>();
    }
    Some(sum)
}
