//! Data races: two invocations that touch one word without anything between them.
//!
//! Input: accesses and barriers, in the order of one thread. Output: [`Race`]s, each pair of lines
//! once with its first example. Which order the two came in here says nothing: on another device
//! they may come in the other.
//!
//! # What races
//!
//! Two accesses of different invocations to one scalar in memory, at least one of which writes and
//! none of which is atomic, race unless a barrier lies between them. A barrier orders only its own
//! workgroup's accesses, and only those to its memory: `workgroupBarrier` the workgroup's,
//! `storageBarrier` those to buffers, `subgroupBarrier` those of the subgroup's lanes. Between
//! workgroups of one dispatch nothing orders plain accesses. WGSL lets atomics be accessed by
//! atomic operations only, so that they race with nothing.
//!
//! # What is kept
//!
//! For each scalar its last writer and the last reader, with one reader of another lane of its
//! subgroup, one of another subgroup of its workgroup and one of another workgroup, where no barrier has
//! parted them. With them no scalar that two invocations raced for goes unnoticed; of several races for
//! one scalar some may. The workgroup's memory is kept for one workgroup at a time: on one thread and in
//! order, none begins before the one before it has ended.

use std::collections::{BTreeMap, BTreeSet};

use naga::{AddressSpace, StorageAccess};

use crate::program::Program;
use crate::simulate::mask::for_each_lane;
use crate::simulate::observe::{
    Access, AccessKind, ForkObserver, Observer, PassedBarrier, Space, SubgroupPlace,
};

/// Two lines whose accesses race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// Which memory.
    pub space: Space,
    /// The first byte of the scalar of the first example.
    pub offset: u32,
    /// The one whose access came first here.
    pub first: Toucher,
    /// The other, which writes where the first reads.
    pub second: Toucher,
    /// Whether both wrote, and the same value each time.
    pub equal_values: bool,
    /// How often it happened, scalar by scalar.
    pub count: u64,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toucher {
    /// The line in the source, from 1.
    pub line: u32,
    /// Whether it writes.
    pub writes: bool,
    /// The workgroup's number in dispatch order.
    pub workgroup: u64,
    /// The invocation's local index.
    pub invocation: u32,
}

/// Finds data races.
#[derive(Debug)]
pub struct Races {
    /// Buffers that the program may write.
    written: BTreeSet<(u32, u32)>,
    width: u32,
    moments: Vec<Moment>,
    /// By subgroup the number of its present moment.
    present: BTreeMap<(u64, u32), u32>,
    last: Option<(SubgroupPlace, u32)>,
    /// By workgroup, how many barriers of each kind it has passed.
    phases: BTreeMap<u64, [u32; 2]>,
    memories: BTreeMap<(Space, bool), Shadow>,
    found: BTreeMap<(Space, Side, Side), Race>,
}

/// A line, and whether it writes.
type Side = (u32, bool);

/// What a subgroup does between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    place: SubgroupPlace,
    /// Barriers of the workgroup before it that order workgroup memory, and storage.
    phases: [u32; 2],
    /// Barriers of the subgroup before it.
    of_subgroup: u32,
}

/// Who touched a scalar: the number of the moment, and line and lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    /// From 1; 0 where nobody did.
    moment: u32,
    /// The line in the upper bits, the lane in the lower seven.
    who: u32,
}

/// What is known of a scalar.
#[derive(Clone, Copy, Debug, Default)]
struct Scalar {
    writer: Mark,
    value: u32,
    /// The latest; then one of another lane, of another subgroup, of another workgroup.
    readers: [Mark; 4],
}

/// The scalars of a memory, by pages that somebody touched.
#[derive(Debug, Default)]
struct Shadow(Vec<Option<Box<[Scalar]>>>);

/// Scalars of a page.
const PAGE: usize = 1024;

impl Shadow {
    fn scalar(&mut self, number: usize) -> &mut Scalar {
        let (page, place) = (number / PAGE, number % PAGE);
        if self.0.len() <= page {
            self.0.resize_with(page + 1, || None);
        }
        let page = self.0[page].get_or_insert_with(|| vec![Scalar::default(); PAGE].into());
        &mut page[place]
    }
}

impl Mark {
    const LANES: u32 = 128;

    fn new(moment: u32, line: u32, lane: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a lane's number")]
        let lane = lane as u32;
        Self { moment, who: line * Self::LANES + lane }
    }

    fn lane(self) -> u32 {
        self.who % Self::LANES
    }

    fn line(self) -> u32 {
        self.who / Self::LANES
    }
}

impl Races {
    /// Watches a program that runs in subgroups of `width` lanes.
    pub fn new(program: &Program, width: crate::units::Width) -> Self {
        let variables = program.module().global_variables.iter();
        let written = variables.filter_map(|(_, variable)| {
            let AddressSpace::Storage { access } = variable.space else { return None };
            let binding = variable.binding.filter(|_| access.contains(StorageAccess::STORE))?;
            Some((binding.group, binding.binding))
        });
        Self::from_written(written.collect(), width.lanes())
    }

    fn from_written(written: BTreeSet<(u32, u32)>, width: u32) -> Self {
        Self {
            written,
            width,
            moments: Vec::new(),
            present: BTreeMap::new(),
            last: None,
            phases: BTreeMap::new(),
            memories: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// The races, by memory and line.
    pub fn races(&self) -> impl Iterator<Item = &Race> {
        self.found.values()
    }

    /// The number of a subgroup's present moment, from 1.
    fn moment(&mut self, place: SubgroupPlace) -> u32 {
        if let Some((known, moment)) = self.last
            && known == place
        {
            return moment;
        }
        let key = (place.workgroup, place.subgroup);
        let phases = self.phases.get(&place.workgroup).copied().unwrap_or_default();
        let known = self.present.get(&key).copied();
        let moment = match known {
            Some(number) if self.moments[number as usize - 1].phases == phases => number,
            _ => {
                let of_subgroup = known.map_or(0, |n| self.moments[n as usize - 1].of_subgroup);
                self.begin(Moment { place, phases, of_subgroup })
            }
        };
        self.last = Some((place, moment));
        moment
    }

    fn begin(&mut self, moment: Moment) -> u32 {
        self.moments.push(moment);
        let number = u32::try_from(self.moments.len()).unwrap_or(u32::MAX);
        self.present.insert((moment.place.workgroup, moment.place.subgroup), number);
        number
    }
}

/// Whether two accesses to a memory have nothing between them.
fn are_unordered(moments: &[Moment], space: Space, a: Mark, b: Mark) -> bool {
    if a.moment == b.moment {
        return a.lane() != b.lane();
    }
    let [first, other] = [a, b].map(|mark| &moments[mark.moment as usize - 1]);
    let storage = space != Space::Workgroup;
    if first.place.workgroup != other.place.workgroup {
        return storage;
    }
    if first.place.subgroup == other.place.subgroup {
        // What one invocation does is in order, and what its subgroup's barriers part.
        if a.lane() == b.lane() || first.of_subgroup != other.of_subgroup {
            return false;
        }
    }
    let phase = usize::from(storage);
    first.phases[phase] == other.phases[phase]
}

impl Scalar {
    /// The mark with which an access races, if there is one.
    fn race(&self, moments: &[Moment], space: Space, access: Mark, writes: bool) -> Option<Mark> {
        let readers: &[Mark] = if writes { &self.readers } else { &[] };
        let marks = std::iter::once(&self.writer).chain(readers);
        let there = marks.filter(|mark| mark.moment != 0);
        there.copied().find(|mark| are_unordered(moments, space, *mark, access))
    }

    fn read(&mut self, moments: &[Moment], space: Space, access: Mark) {
        if self.readers[0].moment == access.moment && self.readers[0].lane() == access.lane() {
            self.readers[0] = access;
            return;
        }
        let moment_of = |mark: Mark| &moments[mark.moment as usize - 1];
        let here = moment_of(access);
        let storage = usize::from(space != Space::Workgroup);
        let mut kept = [access, Mark::default(), Mark::default(), Mark::default()];
        for mark in self.readers.into_iter().filter(|mark| mark.moment != 0) {
            let there = moment_of(mark);
            let kind = match () {
                () if there.place.workgroup != here.place.workgroup => 3,
                () if there.place.subgroup != here.place.subgroup => 2,
                () if mark.lane() != access.lane() => 1,
                () => continue,
            };
            // What a barrier has parted from this one says nothing of what comes.
            let parted = kind != 3 && there.phases[storage] != here.phases[storage]
                || kind == 1 && there.of_subgroup != here.of_subgroup;
            if kept[kind].moment == 0 && !parted {
                kept[kind] = mark;
            }
        }
        self.readers = kept;
    }
}

impl Observer for Races {
    fn access(&mut self, access: &Access<'_>) {
        let Access {
            place,
            space,
            kind,
            active,
            offsets,
            size_bytes,
            part_bytes,
            values,
            line,
            ..
        } = *access;
        let watched = match space {
            Space::Workgroup => true,
            Space::Buffer { group, binding } | Space::Texture { group, binding } => {
                self.written.contains(&(group, binding))
            }
            Space::Immediates => false,
        };
        if !watched || kind == AccessKind::Atomic {
            return;
        }
        let moment = self.moment(place);
        let Self { moments, memories, found, width, .. } = self;
        let writes = kind == AccessKind::Store;
        let memory = memories.entry((space, part_bytes < 4)).or_default();
        for part in 0..size_bytes / part_bytes.max(1) {
            let first = part as usize * offsets.len();
            let values = values.get(first..first + offsets.len()).unwrap_or_default();
            for_each_lane(active, |lane| {
                let offset = offsets[lane] + part * part_bytes;
                // Smaller scalars have a memory of their own: nothing is accessed as both.
                let number = if part_bytes < 4 { offset } else { offset / 4 };
                let scalar = memory.scalar(number as usize);
                let access = Mark::new(moment, line, lane);
                let value = values.get(lane).copied().unwrap_or(0);
                if let Some(other) = scalar.race(moments, space, access, writes) {
                    let wrote = other == scalar.writer;
                    let equal = wrote && writes && scalar.value == value;
                    let side = |mark: Mark, writes: bool| {
                        let place = moments[mark.moment as usize - 1].place;
                        let invocation = place.subgroup * *width + mark.lane();
                        let line = mark.line();
                        Toucher { line, writes, workgroup: place.workgroup, invocation }
                    };
                    let (first, second) = (side(other, wrote), side(access, writes));
                    let mut lines = [(first.line, wrote), (line, writes)];
                    lines.sort_unstable();
                    let [low, high] = lines;
                    let race = found.entry((space, low, high)).or_insert(Race {
                        space,
                        offset,
                        first,
                        second,
                        equal_values: true,
                        count: 0,
                    });
                    race.count += 1;
                    race.equal_values &= equal;
                }
                if writes {
                    scalar.writer = access;
                    scalar.value = value;
                } else {
                    scalar.read(moments, space, access);
                }
            });
        }
    }

    fn barrier(&mut self, barrier: &PassedBarrier) {
        self.last = None;
        let PassedBarrier { workgroup, subgroup, orders_workgroup, orders_storage, .. } = *barrier;
        if let Some(subgroup) = subgroup {
            let number = self.moment(SubgroupPlace { workgroup, subgroup });
            let moment = self.moments[number as usize - 1];
            self.begin(Moment { of_subgroup: moment.of_subgroup + 1, ..moment });
            self.last = None;
            return;
        }
        let phases = self.phases.entry(workgroup).or_default();
        phases[0] += u32::from(orders_workgroup);
        phases[1] += u32::from(orders_storage);
    }
}

impl ForkObserver for Races {
    fn fresh(&self) -> Self {
        Self::from_written(self.written.clone(), self.width)
    }

    /// Takes over what the one worker of a launch on one thread saw.
    fn merge(&mut self, other: Self) {
        for (key, race) in other.found {
            let known = self.found.entry(key).or_insert(Race { count: 0, ..race.clone() });
            known.count += race.count;
            known.equal_values &= race.equal_values;
        }
    }
}
