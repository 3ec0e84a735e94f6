//! A launch whose memory is watched: costs in a model, and data races.
//!
//! Input: a launch. Output: [`MemoryUse`]. The launch is run once more, on one thread, since both want
//! each workgroup's accesses in order; of a large one only the first workgroups are watched. How many
//! depends on the launch alone, so that what is found does not depend on the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::{Buffers, SimulatorRunner, buffers, grid};
use crate::kernel::Launch;
use crate::layout::Shape;
use crate::program::{BindingAccess, Program};
use crate::record::{
    AccessCost, BarrierWait, Cost, DataRace, DispatchMemory, MemoryUse, Pattern, RaceSide, Touching,
};
use crate::run::ahead::{Ahead, bytes};
use crate::run::launched::{programs, size_line};
use crate::run::{RunError, RunErrorKind};
use crate::simulate::{
    Access, AccessKind, AccessSums, Compiled, ForkObserver, Observer, PassedBarrier, Race, Races,
    Space, SubgroupPlace, Toucher, Traffic,
};
use crate::units::BlockId;

/// Operations of subgroups that are watched of a launch where nobody asks for all: a few tenths of a
/// second.
pub const WATCHED_OPERATIONS: u64 = 1 << 21;

/// Operations of a launch over which it is not run once more.
pub const LOOKED_AT_MAX: u64 = 1 << 26;

/// Pairs of lines of a dispatch that race and are listed, whatever lines they are.
const RACES_LISTED: usize = 256;

/// Watches the first workgroups of a dispatch.
#[derive(Debug)]
struct MemoryWatch {
    workgroups: u64,
    races: Races,
    traffic: Option<Traffic>,
}

impl Observer for MemoryWatch {
    fn watches(&self, place: SubgroupPlace) -> bool {
        place.workgroup < self.workgroups
    }

    fn block(&mut self, place: SubgroupPlace, block: BlockId, active: u128) -> ControlFlow<()> {
        match &mut self.traffic {
            Some(traffic) => traffic.block(place, block, active),
            None => ControlFlow::Continue(()),
        }
    }

    fn access(&mut self, access: &Access<'_>) {
        self.races.access(access);
        if let Some(traffic) = &mut self.traffic {
            traffic.access(access);
        }
    }

    fn barrier(&mut self, barrier: &PassedBarrier) {
        self.races.barrier(barrier);
        if let Some(traffic) = &mut self.traffic {
            traffic.barrier(barrier);
        }
    }
}

impl ForkObserver for MemoryWatch {
    fn fresh(&self) -> Self {
        Self {
            workgroups: self.workgroups,
            races: self.races.fresh(),
            traffic: self.traffic.as_ref().map(Traffic::fresh),
        }
    }

    fn merge(&mut self, other: Self) {
        self.races.merge(other.races);
        if let (Some(traffic), Some(other)) = (&mut self.traffic, other.traffic) {
            traffic.merge(other);
        }
    }
}

impl SimulatorRunner {
    /// Runs a launch once more and watches its memory. `operations` is what its subgroups execute in
    /// all; about `watched_max` of them are watched.
    ///
    /// # Errors
    ///
    /// As counting.
    pub fn watch_memory(
        &self,
        launch: &Launch,
        operations: u64,
        watched_max: u64,
    ) -> Result<MemoryUse, RunError> {
        self.check_memory(launch)?;
        let all = operations.max(1);
        let mut buffers = buffers(launch);
        let mut found = MemoryUse::default();
        let programs = programs(launch)?;
        for (number, program) in programs.iter().enumerate() {
            let workgroups = grid(&launch.dispatches[number], &buffers)?;
            let groups: u64 = workgroups.iter().map(|&count| u64::from(count)).product();
            // The same share of each dispatch, and at least one workgroup.
            let part = u128::from(groups) * u128::from(watched_max.min(all));
            let watched = u64::try_from(part.div_ceil(u128::from(all))).unwrap_or(groups);
            let mut watch = self.memory_watch(program, watched.min(groups), true);
            let with = (program, programs.compiled(number)?);
            self.dispatch_in_turn(launch, with, workgroups, &mut buffers, &mut watch)?;
            let mut seen = watch.to_record(program, groups)?;
            let size =
                program.workgroup_size().iter().map(|&side| u64::from(side)).product::<u64>();
            let lanes = size.next_multiple_of(self.config.width.lanes().into());
            seen.lanes_never_launched = Some((lanes - size) * groups);
            found.dispatches.push(seen);
        }
        Ok(found)
    }

    /// A data race of a launch, which is run once more for it: of those of the first dispatch that has any, the one
    /// whose memory and lines come first; `None` if there is none.
    pub(super) fn find_race(&self, launch: &Launch) -> Result<Option<(String, Race)>, RunError> {
        let mut buffers = buffers(launch);
        let programs = programs(launch)?;
        for (number, program) in programs.iter().enumerate() {
            let workgroups = grid(&launch.dispatches[number], &buffers)?;
            let mut watch = self.memory_watch(program, u64::MAX, false);
            let with = (program, programs.compiled(number)?);
            self.dispatch_in_turn(launch, with, workgroups, &mut buffers, &mut watch)?;
            if let Some(race) = watch.races.races().next() {
                return Ok(Some((program.text().file().to_owned(), race.clone())));
            }
        }
        Ok(None)
    }

    fn memory_watch(&self, program: &Program, workgroups: u64, traffic: bool) -> MemoryWatch {
        let width = self.config.width;
        let traffic = traffic.then(|| Traffic::new(program, width));
        MemoryWatch { workgroups, races: Races::new(program, width), traffic }
    }

    /// Runs a dispatch on one thread.
    fn dispatch_in_turn(
        &self,
        launch: &Launch,
        program: (&Program, &Compiled),
        workgroups: [u32; 3],
        buffers: &mut Buffers,
        watch: &mut MemoryWatch,
    ) -> Result<(), RunError> {
        let alone = Self {
            device: self.device.clone(),
            config: crate::simulate::Config { threads: Some(1), strict: false, ..self.config },
            memory_bytes_max: self.memory_bytes_max,
            ahead: Ahead::new(bytes),
            progress: self.progress.clone(),
        };
        alone.dispatch(launch, program, workgroups, 0, buffers, watch).map(|_| ())
    }
}

impl MemoryWatch {
    fn to_record(&self, program: &Program, workgroups: u64) -> Result<DispatchMemory, RunError> {
        let bound = program
            .bound()
            .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))?;
        let textures = bound.textures.into_iter().map(|t| ((t.group, t.binding), t.name));
        let buffers = bound.buffers.into_iter().map(|b| ((b.group, b.binding), b.name));
        let named = buffers.chain(textures);
        let names: BTreeMap<(u32, u32), String> = named.collect();
        let name = |space: Space| match space {
            Space::Workgroup => None,
            Space::Buffer { group, binding } | Space::Texture { group, binding } => {
                Some(names.get(&(group, binding)).cloned().unwrap_or_default())
            }
            Space::Immediates => Some("var<immediate>".to_owned()),
        };
        let sums = self.traffic.as_ref().map(Traffic::sums).cloned().unwrap_or_default();
        let resources = program.interface().map(|interface| interface.resources);
        let resources = resources.unwrap_or_default();
        let uniform = resources.iter().filter(|resource| resource.access == BindingAccess::Uniform);
        let uniform: BTreeSet<&str> = uniform.map(|resource| resource.name.as_str()).collect();
        let structures = resources
            .iter()
            .filter_map(|resource| Some((&*resource.name, structure(&resource.shape)?)));
        let structures: BTreeMap<&str, u64> = structures.collect();
        // What a uniform buffer holds is one number for all lanes.
        let deciding = program.find_deciding();
        let varying = deciding.iter().filter(|(name, _)| {
            let buffer = name.split('.').next().unwrap_or_default();
            !uniform.contains(buffer)
        });
        let from_data: BTreeSet<u32> =
            varying.flat_map(|(_, deciding)| deciding.indices.iter().copied()).collect();
        let accesses = sums.accesses.iter().map(|(&(line, space, kind), sums)| {
            let name = name(space);
            let structure = name.as_deref().and_then(|name| structures.get(name).copied());
            let pattern = match sums.distances.gap() {
                Some(bytes) if structure == Some(bytes.into()) => Pattern::Members(bytes),
                Some(bytes) => Pattern::Stride(bytes),
                None if from_data.contains(&line) => Pattern::Data,
                None => Pattern::Several,
            };
            access_cost((line, name, kind), space == Space::Workgroup, pattern, sums)
        });
        let waits = sums.waits.iter().map(|(&line, sums)| BarrierWait {
            line,
            barriers: sums.barriers,
            waited_operations: sums.waited,
            operations: sums.operations,
        });
        let races = self.races.races().map(|race| DataRace {
            buffer: name(race.space),
            offset_bytes: race.offset,
            sides: [race.first, race.second].map(side),
            equal_values: race.equal_values,
            count: race.count,
        });
        let (races, unlisted) = list_races(races);
        Ok(DispatchMemory {
            workgroups,
            workgroups_watched: self.workgroups.min(workgroups),
            lanes_never_launched: None,
            size_line: Some(size_line(program)),
            accesses: accesses.collect(),
            waits: waits.collect(),
            races,
            races_unlisted: (unlisted > 0).then_some(unlisted),
        })
    }
}

/// The races that are listed, and how many more pairs of lines there are: the first, then such as name a line that none
/// before names. Each line that races is named, and what is listed grows with the lines, where pairs of them may grow with
/// their square.
fn list_races(races: impl Iterator<Item = DataRace>) -> (Vec<DataRace>, u64) {
    let mut listed = Vec::new();
    let (mut named, mut told, mut left) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for race in races {
        let mut lines = race.sides.each_ref().map(|side| side.line);
        lines.sort_unstable();
        let is_new = lines.map(|line| named.insert(line)).contains(&true);
        let pair = (race.buffer.clone(), lines);
        if is_new || listed.len() < RACES_LISTED {
            told.insert(pair);
            listed.push(race);
        } else if !told.contains(&pair) {
            left.insert(pair);
        }
    }
    (listed, left.len() as u64)
}

fn side(toucher: Toucher) -> RaceSide {
    let Toucher { line, writes, workgroup, invocation } = toucher;
    RaceSide { line, writes, workgroup, invocation }
}

/// The bytes from structure to structure of a shape that is an array of them, or ends in one.
fn structure(shape: &Shape) -> Option<u64> {
    match shape {
        Shape::Array { element, stride, .. } => {
            matches!(**element, Shape::Struct { .. }).then_some(*stride)
        }
        Shape::Struct { fields, .. } => fields.iter().find_map(|field| structure(&field.shape)),
        Shape::Scalar { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => None,
    }
}

fn access_cost(
    (line, buffer, kind): (u32, Option<String>, AccessKind),
    in_workgroup: bool,
    pattern: Pattern,
    sums: &AccessSums,
) -> AccessCost {
    let cost = |taken: u64, min: u64| Some(Cost { taken, min });
    let of_buffer = |pair: Option<Cost>| pair.filter(|_| !in_workgroup);
    let does = match kind {
        AccessKind::Load => Touching::Load,
        AccessKind::Store => Touching::Store,
        AccessKind::Atomic => Touching::Atomic,
    };
    AccessCost {
        line,
        buffer,
        does,
        executions: sums.executions,
        lanes: sums.lanes,
        sectors: of_buffer(cost(sums.sectors, sums.sectors_min)),
        cache_lines: of_buffer(cost(sums.lines, sums.lines_min)),
        passes: cost(sums.passes, sums.passes_min).filter(|_| in_workgroup),
        turns: cost(sums.turns, sums.turns_min).filter(|cost| cost.min > 0),
        pattern: Some(pattern),
    }
}
