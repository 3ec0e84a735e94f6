//! What a profile looks at beside counts: other shapes of workgroups, memory, changes.
//!
//! Input: a launch, its measurement, a width. Output: the measurement's parts on these, by the
//! simulator. Whether each is looked at at all, whoever asks decides; nothing is counted here that the
//! measurement has counted already.

use super::measure::work;
use super::shapes::try_shapes;
use super::simulator::{LOOKED_AT_MAX, SimulatorRunner, WATCHED_OPERATIONS};
use super::what_if::{self, Budget};
use super::{RunError, caught};
use crate::kernel::Launch;
use crate::record::{Flag, Measurement, Shapes, Tag, WhatIf, flag};
use crate::units::{Width, grouped_text};

/// The limits under which a profile looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looks {
    /// Operations that one subgroup may execute.
    pub steps_max: u64,
    /// Operations that all subgroups of a launch may execute.
    pub operations_max: u64,
    /// Whether what a shader must not do fails its launch.
    pub strict: bool,
    /// Whether a launch is looked at whatever that takes.
    pub everything: bool,
}

impl Looks {
    fn simulator(&self, width: Width) -> SimulatorRunner {
        let simulator = SimulatorRunner::new(width, self.steps_max);
        simulator.operations_max(self.operations_max)
    }

    /// Counts the same invocations in workgroups of other shapes.
    pub fn at_shapes(&self, launch: &Launch, width: Width, measurement: &mut Measurement) {
        measurement.shapes = Some(if flag::has(&measurement.flags, &Tag::DependsOnSchedule) {
            let why = "what it does depends on the order of workgroups";
            Shapes { refused: Some(why.to_owned()), tried: Vec::new() }
        } else {
            let mut simulator = self.simulator(width).strict(self.strict);
            try_shapes(&mut simulator, launch, operations(measurement))
        });
    }

    /// Watches memory: what accesses cost in a model, and data races.
    ///
    /// # Errors
    ///
    /// Why it was not looked at, a sentence.
    pub fn at_memory(
        &self,
        launch: &Launch,
        width: Width,
        measurement: &mut Measurement,
    ) -> Result<(), String> {
        let operations = operations(measurement);
        if operations > LOOKED_AT_MAX && !self.everything {
            return Err(format!(
                "data races and memory accesses were not looked at: the launch takes {} subgroup \
                 operations, over {}",
                grouped_text(operations.into()),
                grouped_text(LOOKED_AT_MAX.into())
            ));
        }
        let watched_max = if self.everything { u64::MAX } else { WATCHED_OPERATIONS };
        let seen = caught("simulator", &launch.file, || {
            self.simulator(width).watch_memory(launch, operations, watched_max)
        });
        let seen = seen.map_err(|error| format!("memory was not looked at: {error}"))?;
        let races = seen.dispatches.iter().flat_map(|dispatch| &dispatch.races);
        let lines: Vec<u32> = races.flat_map(|race| race.sides.map(|side| side.line)).collect();
        if !lines.is_empty() {
            measurement.flags.push(Flag::at(Tag::DataRace, lines));
        }
        measurement.memory = Some(seen);
        Ok(())
    }

    /// Tries what could save operations.
    ///
    /// # Errors
    ///
    /// As counting the launch on the simulator.
    pub fn at_changes(
        &self,
        launch: &Launch,
        width: Width,
        budget: Budget,
    ) -> Result<WhatIf, RunError> {
        caught("simulator", &launch.file, || {
            what_if::try_changes(launch, width, self.steps_max, budget)
        })
    }
}

/// The subgroup operations of a measurement.
fn operations(measurement: &Measurement) -> u64 {
    u64::try_from(work(&measurement.dispatches).0).unwrap_or(u64::MAX)
}
