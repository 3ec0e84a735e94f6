//! What a profile looks at beside counts: other shapes of workgroups, other orders of them, memory, changes.
//!
//! Input: a launch, its measurement, a width. Output: the measurement's parts on these, by the
//! simulator. Whether each is looked at at all, whoever asks decides; nothing is counted here that the
//! measurement has counted already.

use std::collections::BTreeSet;

use super::launched::programs;
use super::measure::{Results, measurement, work};
use super::shapes::try_shapes;
use super::simulator::{LOOKED_AT_MAX, SimulatorRunner, WATCHED_OPERATIONS};
use super::what_if::{self, Budget};
use super::{CountRequest, RunError, Runner, caught};
use crate::kernel::{Launch, Workgroups};
use crate::layout::Shape;
use crate::record::{Flag, Measurement, Method, ScheduleCounts, Shapes, Tag, WhatIf, flag};
use crate::simulate::Schedule;
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

    /// Counts a launch under the random order of workgroups of this seed.
    ///
    /// # Errors
    ///
    /// As counting the launch on the simulator.
    pub fn under_schedule(
        &self,
        launch: &Launch,
        width: Width,
        seed: u64,
    ) -> Result<ScheduleCounts, RunError> {
        let simulator = self.simulator(width).strict(self.strict);
        let mut simulator = simulator.schedule(Schedule::Shuffled { seed }, None);
        let request = CountRequest::once(Method::Executed).with_histogram();
        let counted = simulator.count_once(launch, &request)?;
        let results = Results { counted: Some(counted), ..Results::default() };
        let counts = measurement(simulator.device(), launch, results)?;
        Ok(ScheduleCounts {
            seed,
            active_lanes_mean: counts.active_lanes_mean,
            efficiency_ratio: counts.efficiency_ratio,
            blocks: counts.totals(),
        })
    }

    /// Whether another order of workgroups is tried though nobody asks for one: where a dispatch before the last changes
    /// atomics, so that what it leaves for the next may follow the order, if that takes no longer than other looks.
    pub fn tries_an_order(&self, launch: &Launch, measurement: &Measurement) -> bool {
        let changes_atomics = programs(launch).is_ok_and(|programs| {
            let earlier = programs.iter().take(programs.len().saturating_sub(1));
            let resources = earlier.filter_map(|program| program.interface().ok());
            let mut resources = resources.flat_map(|interface| interface.resources);
            resources.any(|resource| resource.written && holds_atomics(&resource.shape))
        });
        changes_atomics && (self.everything || operations(measurement) <= LOOKED_AT_MAX)
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

/// Flags a measurement of which other orders of workgroups counted something else, though no dispatch by itself follows
/// what others of it write: with the lines of the branches and loops around the blocks that differ. Where none does,
/// another order might still: the conditions that may follow what a dispatch leaves by its order are flagged then. Where
/// there are none either, what the other orders counted is dropped.
pub fn flag_moved(launch: &Launch, measurement: &mut Measurement) {
    let before = measurement.totals();
    let mut lines: BTreeSet<u32> = BTreeSet::new();
    for schedule in &measurement.schedules {
        let counts = before.iter().zip(&schedule.blocks);
        for (dispatch, (then, now)) in measurement.dispatches.iter().zip(counts) {
            let moved = dispatch.blocks.iter().zip(then.iter().zip(now));
            for (block, _) in moved.filter(|(_, (then, now))| then != now) {
                let around = block.flow.as_ref().and_then(|flow| flow.path.last());
                lines.insert(around.map_or(block.line, |around| around.line));
            }
        }
    }
    if lines.is_empty() {
        lines = find_handed_on(launch).unwrap_or_default();
    }
    if lines.is_empty() {
        measurement.schedules.clear();
    } else {
        measurement.flags.push(Flag::at(Tag::DependsOnSchedule, lines));
    }
}

/// The lines of the conditions that may follow what an earlier dispatch leaves by the order of workgroups, as far as the
/// programs tell: whatever a dispatch writes that uses such a buffer is taken to come from it.
fn find_handed_on(launch: &Launch) -> Result<BTreeSet<u32>, RunError> {
    let mut lines = BTreeSet::new();
    if launch.dispatches.len() < 2 {
        return Ok(lines);
    }
    let programs = programs(launch)?;
    let mut left: BTreeSet<String> = BTreeSet::new();
    for (number, (program, dispatch)) in programs.iter().zip(&launch.dispatches).enumerate() {
        for (name, deciding) in program.find_deciding() {
            if name.split('.').next().is_some_and(|variable| left.contains(variable)) {
                lines.extend(deciding.conditions);
            }
        }
        let Ok(interface) = program.interface() else { continue };
        let workgroups = match dispatch.workgroups {
            Workgroups::Direct(workgroups) => workgroups,
            // There may be rows of them.
            Workgroups::Indirect { .. } => [u32::MAX; 3],
        };
        let by_order = programs.compiled(number)?.find_left_by_order(workgroups);
        let buffers = interface.resources.iter();
        let buffers = buffers.map(|r| (&r.name, (r.group, r.binding), r.written));
        let textures = interface.textures.iter();
        let textures = textures.map(|t| (&t.name, (t.group, t.binding), t.written));
        let bound: Vec<_> = buffers.chain(textures).collect();
        let uses = bound.iter().any(|(name, ..)| left.contains(*name));
        let handed = bound.iter().filter(
            |(_, place, written)| {
                if uses { *written } else { by_order.contains(place) }
            },
        );
        left.extend(handed.map(|(name, ..)| (*name).clone()));
    }
    Ok(lines)
}

/// Whether a shape has any atomic.
fn holds_atomics(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar { atomic, .. } => *atomic,
        Shape::Vector { .. } | Shape::Matrix { .. } => false,
        Shape::Array { element, .. } => holds_atomics(element),
        Shape::Struct { fields, .. } => fields.iter().any(|field| holds_atomics(&field.shape)),
    }
}

/// The subgroup operations of a measurement.
fn operations(measurement: &Measurement) -> u64 {
    u64::try_from(work(&measurement.dispatches).0).unwrap_or(u64::MAX)
}
