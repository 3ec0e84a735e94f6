//! Who runs when: workgroups, their subgroups, and the strands of those.
//!
//! Input: a launch. Output: the workers' tallies, or the trap that stopped it. Workers take
//! workgroups from a common queue; one that has used its slice goes back, so that a workgroup which
//! waits for an earlier one cannot keep it from running. It executes no instruction itself, and does
//! not ask whether workgroups may run side by side: `launch` does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use naga::BuiltIn;
use pulp::{Arch, Simd, WithSimd};

use super::arrange::Arrangement;
use super::config::{SUBGROUP_OPERATIONS, Schedule};
use super::error::{Trap, line};
use super::exchange::{Tags, Watch};
use super::interpret::run;
use super::mask::{Mask, for_each_lane};
use super::observe::{Observer, PassedBarrier, SubgroupPlace};
use super::op::{Op, SiteId, Slot};
use super::report::{ReportKind, Tally, coordinates};
use super::strand::{Event, Shared, Strand, Surroundings};
use super::table::{Code, LaunchContext};
use crate::units::Width;
use crate::units::random::SplitMix64;

/// What a launch is, for all workers.
pub(super) struct ScheduledLaunch<'a> {
    pub(super) code: &'a Code,
    pub(super) context: LaunchContext<'a>,
    pub(super) file: &'a str,
    pub(super) copies: usize,
    pub(super) width: Width,
    pub(super) workgroups: [u32; 3],
    pub(super) workgroup_size: [u32; 3],
    /// Which invocation each lane is, where it is not the one of its own place.
    pub(super) arrangement: Option<&'a Arrangement>,
    pub(super) zero_workgroup_memory: bool,
    pub(super) steps_max: u64,
    pub(super) operations_max: u64,
    /// The operations of all subgroups, as far as workers have told.
    pub(super) operations: AtomicU64,
    pub(super) schedule: Schedule,
    /// The words of registers that are the same in all subgroups.
    pub(super) constants: Vec<u32>,
    /// Whether workgroups met that were to stay apart: nothing of this run counts.
    pub(super) met: AtomicBool,
    /// The first workgroup with a trap; later ones need not run.
    pub(super) stop: AtomicU64,
    pub(super) trap: Mutex<Option<(u64, Trap)>>,
}

/// A workgroup in flight.
struct Group<const N: usize> {
    index: u64,
    shared: Shared,
    subgroups: Vec<Subgroup<N>>,
    random: Random,
}

/// A subgroup in flight.
struct Subgroup<const N: usize> {
    started: bool,
    launched: Mask,
    strands: Vec<Live<N>>,
    /// The loops that its strands are in, late reconvergence only.
    loops: Vec<LoopMerge<N>>,
    steps: u64,
}

struct Live<const N: usize> {
    strand: Strand<N>,
    /// The barrier that it waits at: the instruction after it, and its place.
    waits: Option<(usize, SiteId)>,
    /// Whether it waits at a branch for the other lanes of its loop.
    postponed: bool,
}

/// Where the strands of a loop reconverge.
struct LoopMerge<const N: usize> {
    expected: Mask,
    arrived: Mask,
    /// The lanes that the strand had when it came.
    outer: Mask,
    merged: Option<Strand<N>>,
}

/// The workgroups that wait for a worker.
pub(super) struct Queue<const N: usize> {
    next: u64,
    count: u64,
    waiting: Vec<Group<N>>,
    random: Random,
    picks: u64,
}

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.bits()
    }

    fn below(&mut self, count: usize) -> usize {
        let random = self.next() >> 11;
        usize::try_from(random).map_or(0, |random| random % count.max(1))
    }
}

/// Workgroups in flight at most, where the schedule starts more than it must.
const IN_FLIGHT_MAX: usize = 16;

/// Operations of the test whether lanes wait at a branch: the variable that says so is set, read and negated.
const SPLIT_TEST: u64 = 3;

/// Operations a strand may execute before others get their turn.
const SLICE: i64 = 1 << 16;

/// Operations that a strand may execute now.
fn slice(schedule: Schedule, random: &mut Random) -> i64 {
    match schedule {
        Schedule::InOrder => SLICE,
        // Short ones and long ones: some end between any two accesses to memory.
        Schedule::Shuffled { .. } | Schedule::Unfair { .. } => {
            let most = 1 << random.below(13);
            1 + i64::try_from(random.below(most)).unwrap_or(0)
        }
    }
}

impl<const N: usize> Queue<N> {
    pub(super) fn new(launch: &ScheduledLaunch<'_>) -> Self {
        let count = launch.groups();
        let random = match launch.schedule {
            Schedule::InOrder => Random(SplitMix64::new(0)),
            Schedule::Shuffled { seed } | Schedule::Unfair { seed } => {
                Random(SplitMix64::new(seed))
            }
        };
        Self { next: 0, count, waiting: Vec::new(), random, picks: 0 }
    }

    // Workgroups

    /// Chooses the workgroup that runs next. The oldest in flight always gets its turn again.
    fn take(&mut self, launch: &ScheduledLaunch<'_>, pool: &mut Pool<N>) -> Option<Group<N>> {
        let waiting = self.waiting.len();
        self.picks += 1;
        let start = match launch.schedule {
            Schedule::InOrder => waiting == 0,
            Schedule::Shuffled { .. } => {
                waiting == 0 || waiting < IN_FLIGHT_MAX && self.random.next().is_multiple_of(2)
            }
            Schedule::Unfair { .. } => waiting < IN_FLIGHT_MAX,
        };
        if start && self.next < self.count && self.next <= launch.stop.load(Ordering::Relaxed) {
            let index = self.next;
            self.next += 1;
            return Some(pool.group(launch, index));
        }
        if waiting == 0 {
            return None;
        }
        let by_age = |order: fn(u64, u64) -> bool, groups: &[Group<N>]| {
            (0..groups.len()).fold(0, |best, other| {
                if order(groups[other].index, groups[best].index) { other } else { best }
            })
        };
        let chosen = match launch.schedule {
            Schedule::InOrder => by_age(|a, b| a < b, &self.waiting),
            Schedule::Shuffled { .. } => self.random.below(waiting),
            // The oldest only now and then, else the youngest.
            Schedule::Unfair { .. } if self.picks.is_multiple_of(8) => {
                by_age(|a, b| a < b, &self.waiting)
            }
            Schedule::Unfair { .. } => by_age(|a, b| a > b, &self.waiting),
        };
        Some(self.waiting.swap_remove(chosen))
    }
}

/// What a worker keeps to use again.
struct Pool<const N: usize> {
    strands: Vec<Strand<N>>,
    shared: Vec<Shared>,
}

impl<const N: usize> Pool<N> {
    fn group(&mut self, launch: &ScheduledLaunch<'_>, index: u64) -> Group<N> {
        let mut shared = self.shared.pop().unwrap_or_default();
        // What is not zeroed is recognisably nothing.
        let first = if launch.zero_workgroup_memory { 0 } else { 0xdead_beef };
        let words = launch.code.workgroup_bytes.div_ceil(4) as usize;
        shared.memory.resize_with(words, || AtomicU32::new(first));
        for word in &shared.memory {
            word.store(first, Ordering::Relaxed);
        }
        shared.uniform.clear();
        let invocations = launch.invocations(index);
        let width = launch.width.lanes();
        let decides = launch.code.decisive.iter().any(|follows| !follows.is_empty());
        shared.exchange.begin(decides && invocations > width);
        let subgroups = (0..invocations.div_ceil(width)).map(|number| {
            let lanes = (invocations - number * width).min(width);
            let launched = if lanes == 128 { Mask::MAX } else { (1 << lanes) - 1 };
            let (strands, loops) = (Vec::new(), Vec::new());
            Subgroup { started: false, launched, strands, loops, steps: 0 }
        });
        let seed = match launch.schedule {
            Schedule::InOrder => 0,
            Schedule::Shuffled { seed } | Schedule::Unfair { seed } => seed ^ index << 20,
        };
        Group {
            index,
            shared,
            subgroups: subgroups.collect(),
            random: Random(SplitMix64::new(seed)),
        }
    }

    /// A strand at the program's start.
    fn strand(
        &mut self,
        launch: &ScheduledLaunch<'_>,
        place: SubgroupPlace,
        launched: Mask,
    ) -> Strand<N> {
        let mut strand = self.strands.pop().unwrap_or_else(|| {
            let mut registers = vec![[0; N]; launch.code.registers];
            for (register, &word) in registers.iter_mut().zip(&launch.constants) {
                *register = [word; N];
            }
            Strand {
                pc: 0,
                exec: 0,
                lanes: 0,
                launched: 0,
                slots: vec![0; launch.code.slots],
                registers,
                loops: Vec::new(),
                place,
            }
        });
        strand.pc = 0;
        strand.exec = launched;
        strand.lanes = launched;
        strand.launched = launched;
        strand.loops.clear();
        strand.place = place;
        launch.builtins(&mut strand);
        if let Some(arrangement) = launch.arrangement {
            launch.arrange(arrangement, &mut strand);
        }
        strand
    }
}

/// Whether the simulator provides a built-in value.
pub(super) fn knows(builtin: BuiltIn) -> bool {
    matches!(
        builtin,
        BuiltIn::GlobalInvocationId
            | BuiltIn::LocalInvocationId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::WorkGroupId
            | BuiltIn::WorkGroupSize
            | BuiltIn::NumWorkGroups
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupSize
            | BuiltIn::SubgroupInvocationId
    )
}

impl ScheduledLaunch<'_> {
    // Workgroups

    /// Workgroups that run.
    fn groups(&self) -> u64 {
        self.arrangement.map_or_else(
            || self.workgroups.iter().map(|&count| u64::from(count)).product(),
            Arrangement::groups,
        )
    }

    /// Invocations of a workgroup.
    fn invocations(&self, group: u64) -> u32 {
        self.arrangement.map_or_else(
            || self.workgroup_size.iter().product(),
            |arrangement| arrangement.invocations(group),
        )
    }

    // Arrangements

    /// Gives the lanes the built-in values of the invocations that an arrangement makes them.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all others are the same in any arrangement"
    )]
    fn arrange<const N: usize>(&self, arrangement: &Arrangement, strand: &mut Strand<N>) {
        let [x, y, _] = self.workgroup_size;
        let size = u64::from(self.workgroup_size.iter().product::<u32>().max(1));
        let first = strand.place.subgroup * self.width.lanes();
        for lane in 0..self.width.lanes() {
            let number = arrangement.invocation(strand.place.workgroup, first + lane);
            let workgroup = coordinates(number / size, self.workgroups);
            let index = u32::try_from(number % size).unwrap_or(0);
            let local = [index % x, index / x % y, index / x / y];
            for &(builtin, component, register) in &self.code.builtins {
                let axis = usize::from(component).min(2);
                let origin = workgroup[axis].wrapping_mul(self.workgroup_size[axis]);
                strand.registers[usize::from(register)][lane as usize] = match builtin {
                    BuiltIn::LocalInvocationId => local[axis],
                    BuiltIn::GlobalInvocationId => origin.wrapping_add(local[axis]),
                    BuiltIn::LocalInvocationIndex => index,
                    BuiltIn::WorkGroupId => workgroup[axis],
                    _ => continue,
                };
            }
        }
    }

    // Subgroups

    /// Sets the registers of built-in values. Lane l of subgroup s is the invocation whose local
    /// index is s · W + l.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`knows` refused the others")]
    fn builtins<const N: usize>(&self, strand: &mut Strand<N>) {
        let [x, y, _] = self.workgroup_size;
        let workgroup = coordinates(strand.place.workgroup, self.workgroups);
        let subgroup = strand.place.subgroup;
        let width = self.width.lanes();
        let invocations = self.invocations(strand.place.workgroup);
        for &(builtin, component, register) in &self.code.builtins {
            let axis = usize::from(component).min(2);
            let values = &mut strand.registers[usize::from(register)];
            let lanes = values.iter_mut().zip(0..);
            // Counted up from the first lane's, since a division a lane takes longer than a small shader.
            let first = subgroup * width;
            let mut local = [first % x, first / x % y, first / x / y];
            let mut next = || {
                let here = local[axis];
                local[0] += 1;
                for (axis, size) in [(0, x), (1, y)] {
                    if local[axis] == size {
                        local[axis] = 0;
                        local[axis + 1] += 1;
                    }
                }
                here
            };
            match builtin {
                BuiltIn::LocalInvocationId => lanes.for_each(|(value, _)| *value = next()),
                BuiltIn::GlobalInvocationId => {
                    let origin = workgroup[axis].wrapping_mul(self.workgroup_size[axis]);
                    lanes.for_each(|(value, _)| *value = origin.wrapping_add(next()));
                }
                BuiltIn::LocalInvocationIndex => {
                    lanes.for_each(|(value, lane)| *value = subgroup * width + lane);
                }
                BuiltIn::SubgroupInvocationId => lanes.for_each(|(value, lane)| *value = lane),
                BuiltIn::WorkGroupId => values.fill(workgroup[axis]),
                BuiltIn::WorkGroupSize => values.fill(self.workgroup_size[axis]),
                BuiltIn::NumWorkGroups => values.fill(self.workgroups[axis]),
                BuiltIn::NumSubgroups => values.fill(invocations.div_ceil(width)),
                BuiltIn::SubgroupId => values.fill(subgroup),
                BuiltIn::SubgroupSize => values.fill(width),
                _ => debug_assert!(!knows(builtin), "every built-in value that is known is set"),
            }
        }
    }

    // Limits

    /// Whether all subgroups together executed more operations than they may.
    pub(super) fn is_over(&self) -> bool {
        self.operations.load(Ordering::Relaxed) > self.operations_max
    }

    /// Stops the workgroups after this one. Earlier ones go on: the earliest trap is the one that is
    /// told, whoever comes to his first.
    fn note_trap(&self, index: u64, trap: Trap) {
        let mut first = lock(&self.trap);
        if first.as_ref().is_none_or(|&(other, _)| index < other) {
            *first = Some((index, trap));
        }
        self.stop.fetch_min(index, Ordering::Relaxed);
    }
}

/// Operations of a worker between two looks at what all together have done.
const OPERATIONS_TOLD: u64 = 1 << 20;

/// Takes a lock; nothing that holds one panics halfway through a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs workgroups until none is left.
pub(super) fn work<const N: usize>(
    launch: &ScheduledLaunch<'_>,
    queue: &Mutex<Queue<N>>,
    observer: Option<&mut dyn Observer>,
    watch: Watch,
) -> (Tally, Watch) {
    let tally = Tally::new(launch.copies, launch.width);
    let pool = Pool { strands: Vec::new(), shared: Vec::new() };
    let mut worker = Worker { launch, arch: Arch::new(), tally, pool, observer, watch, untold: 0 };
    while !launch.met.load(Ordering::Relaxed) && !launch.is_over() {
        let Some(mut group) = lock(queue).take(launch, &mut worker.pool) else { break };
        if group.index > launch.stop.load(Ordering::Relaxed) {
            continue;
        }
        match worker.group(&mut group) {
            Ok(true) => worker.pool.shared.push(group.shared),
            Ok(false) => lock(queue).waiting.push(group),
            Err(trap) => launch.note_trap(group.index, trap),
        }
        if let Watch::Apart(Tags { met: true, .. }) = worker.watch {
            launch.met.store(true, Ordering::Relaxed);
        }
    }
    worker.tell();
    (worker.tally, worker.watch)
}

struct Worker<'a, 'o, const N: usize> {
    launch: &'a ScheduledLaunch<'a>,
    arch: Arch,
    tally: Tally,
    pool: Pool<N>,
    observer: Option<&'o mut (dyn Observer + 'o)>,
    watch: Watch,
    /// Operations that the others do not know of.
    untold: u64,
}

/// The interpreter, to be compiled for each set of features.
struct Dispatched<'a, 'b, const N: usize> {
    strand: &'a mut Strand<N>,
    around: &'a mut Surroundings<'b>,
}

impl<const N: usize> WithSimd for Dispatched<'_, '_, N> {
    type Output = Event;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must get the features of its caller")]
    fn with_simd<S: Simd>(self, _: S) -> Event {
        run(self.strand, self.around)
    }
}

impl<const N: usize> Worker<'_, '_, N> {
    /// Runs a workgroup until it ends, or everything in it has used its slice or waits.
    fn group(&mut self, group: &mut Group<N>) -> Result<bool, Trap> {
        loop {
            let mut yielded = false;
            let mut order: Vec<usize> = (0..group.subgroups.len()).collect();
            match self.launch.schedule {
                Schedule::InOrder => {}
                Schedule::Shuffled { .. } => {
                    for last in (1..order.len()).rev() {
                        order.swap(last, group.random.below(last + 1));
                    }
                }
                Schedule::Unfair { .. } => order.reverse(),
            }
            for number in order {
                yielded |= self.subgroup(group, number)?;
            }
            if yielded || self.launch.is_over() {
                return Ok(false);
            }
            if group.subgroups.iter().all(|subgroup| subgroup.strands.is_empty()) {
                return Ok(true);
            }
            self.release(group)?;
            let others = match self.launch.schedule {
                Schedule::InOrder => false,
                Schedule::Shuffled { .. } | Schedule::Unfair { .. } => group.random.below(2) == 0,
            };
            if others {
                return Ok(false);
            }
        }
    }

    /// Runs each strand of a subgroup; says whether one has used its slice.
    fn subgroup(&mut self, group: &mut Group<N>, number: usize) -> Result<bool, Trap> {
        let place = SubgroupPlace {
            workgroup: group.index,
            subgroup: u32::try_from(number).unwrap_or(u32::MAX),
        };
        let subgroup = &mut group.subgroups[number];
        if !subgroup.started {
            subgroup.started = true;
            self.untold += SUBGROUP_OPERATIONS;
            let strand = self.pool.strand(self.launch, place, subgroup.launched);
            subgroup.strands.push(Live { strand, waits: None, postponed: false });
        }
        let mut yielded = false;
        let mut index = 0;
        while index < subgroup.strands.len() {
            let live = &subgroup.strands[index];
            if live.waits.is_some() || live.postponed {
                index += 1;
                continue;
            }
            let slice = slice(self.launch.schedule, &mut group.random);
            let event = self.strand(&mut group.shared, subgroup, index, slice);
            match event {
                Event::Done => {
                    let done = subgroup.strands.swap_remove(index);
                    self.tally.steps += std::mem::take(&mut subgroup.steps);
                    self.pool.strands.push(done.strand);
                }
                Event::Barrier { site } => {
                    let live = &mut subgroup.strands[index];
                    live.waits = Some((live.strand.pc, site));
                    index += 1;
                }
                Event::Yield { site } => {
                    if subgroup.steps >= self.launch.steps_max {
                        return Err(self.steps(group.index, site));
                    }
                    yielded = true;
                    index += 1;
                }
                Event::Pause => {
                    yielded = true;
                    index += 1;
                }
                Event::Fault { kind, site } => return Err(self.fault(group.index, kind, site)),
                Event::Split { others } => subgroup.split(index, others),
                Event::SplitArms { first, arms } => subgroup.split_arms(index, first, arms),
                Event::Postpone { waiting } => {
                    self.tally.split_operations += 1;
                    if subgroup.postpone(index, waiting) {
                        self.tally.split_operations += SPLIT_TEST;
                    }
                    index = 0;
                }
                Event::LoopEnter => {
                    self.tally.split_operations += SPLIT_TEST;
                    subgroup.enter(index);
                }
                Event::LoopLeave { target } => {
                    subgroup.leave(index, target);
                    if subgroup.resume() {
                        self.tally.split_operations += SPLIT_TEST;
                        index = 0;
                    }
                }
            }
        }
        Ok(yielded)
    }

    fn strand(
        &mut self,
        shared: &mut Shared,
        subgroup: &mut Subgroup<N>,
        index: usize,
        slice: i64,
    ) -> Event {
        let left = self.launch.steps_max.saturating_sub(subgroup.steps);
        let fuel = slice.min(i64::try_from(left).unwrap_or(i64::MAX));
        let place = subgroup.strands[index].strand.place;
        // Two `match` arms, since a reborrow inside `map` would live too long.
        let observer: Option<&mut dyn Observer> = match self.observer {
            Some(ref mut observer) if observer.watches(place) => Some(&mut **observer),
            _ => None,
        };
        let mut around = Surroundings {
            context: &self.launch.context,
            group: shared,
            tally: &mut self.tally,
            observer,
            watch: &mut self.watch,
            fuel,
        };
        let strand = &mut subgroup.strands[index].strand;
        // Code for browsers has one set of features.
        let event = match cfg!(target_family = "wasm") {
            true => run(strand, &mut around),
            false => self.arch.dispatch(Dispatched { strand, around: &mut around }),
        };
        let executed = u64::try_from(fuel - around.fuel).unwrap_or(0);
        subgroup.steps += executed;
        self.untold += executed;
        if self.untold >= OPERATIONS_TOLD {
            self.tell();
        }
        event
    }

    /// Tells the others what was executed.
    fn tell(&mut self) {
        let executed = std::mem::take(&mut self.untold);
        self.launch.operations.fetch_add(executed, Ordering::Relaxed);
    }

    // Barriers

    /// Lets everything go on that waits at a barrier, and reports those that are not there, which
    /// in strict mode stops the launch.
    fn release(&mut self, group: &mut Group<N>) -> Result<(), Trap> {
        let mut barriers: BTreeMap<usize, SiteId> = BTreeMap::new();
        for live in group.subgroups.iter().flat_map(|subgroup| &subgroup.strands) {
            barriers.extend(live.waits);
        }
        for (&pc, &site) in &barriers {
            for (subgroup, number) in group.subgroups.iter().zip(0..) {
                let here = subgroup.strands.iter().filter(|live| live.waits == Some((pc, site)));
                let arrived = here.fold(0, |mask, live| mask | live.strand.exec);
                let missing = subgroup.launched & !arrived;
                if missing != 0 {
                    let place = SubgroupPlace { workgroup: group.index, subgroup: number };
                    let kind = ReportKind::DivergentBarrier;
                    self.tally.report(kind, site, place, missing, self.launch.width.index());
                    if self.launch.context.strict {
                        return Err(self.fault(group.index, kind, site));
                    }
                }
            }
        }
        self.show_barrier(group.index, &barriers);
        group.shared.uniform.clear();
        group.shared.exchange.pass_barrier();
        for subgroup in &mut group.subgroups {
            for live in &mut subgroup.strands {
                live.waits = None;
            }
        }
        Ok(())
    }

    /// Tells the observer that a workgroup waited at these barriers, one where it does so in order.
    fn show_barrier(&mut self, workgroup: u64, barriers: &BTreeMap<usize, SiteId>) {
        let Some(observer) = &mut self.observer else { return };
        let place = SubgroupPlace { workgroup, subgroup: 0 };
        let Some((_, &first)) = barriers.first_key_value().filter(|_| observer.watches(place))
        else {
            return;
        };
        let mut passed = PassedBarrier {
            workgroup,
            subgroup: None,
            line: line(self.launch.code.sites.get(first as usize)),
            orders_workgroup: false,
            orders_storage: false,
        };
        for &after in barriers.keys() {
            if let Op::Barrier { workgroup, storage, .. } = self.launch.context.code[after - 1] {
                passed.orders_workgroup |= workgroup;
                passed.orders_storage |= storage;
            }
        }
        observer.barrier(&passed);
    }

    // Limits

    fn steps(&self, index: u64, site: SiteId) -> Trap {
        Trap::Steps {
            file: self.launch.file.to_owned(),
            line: line(self.launch.code.sites.get(site as usize)),
            workgroup: coordinates(index, self.launch.workgroups),
            steps: self.launch.steps_max,
        }
    }

    // Strict mode

    fn fault(&self, index: u64, kind: ReportKind, site: SiteId) -> Trap {
        Trap::Fault {
            kind,
            file: self.launch.file.to_owned(),
            line: line(self.launch.code.sites.get(site as usize)),
            workgroup: coordinates(index, self.launch.workgroups),
        }
    }
}

// Reconvergence

impl<const N: usize> Subgroup<N> {
    /// Makes a strand of the lanes `others`, at the same branch.
    fn split(&mut self, index: usize, others: Mask) {
        let strand = &mut self.strands[index].strand;
        let mut child = strand.clone();
        child.slots.fill(0);
        child.exec = others;
        child.lanes = others;
        strand.exec &= !others;
        strand.lanes &= !others;
        self.strands.push(Live { strand: child, waits: None, postponed: false });
    }

    /// Gives each arm of a switch but the first a strand of its own.
    fn split_arms(&mut self, index: usize, first: Slot, arms: u16) {
        let mut kept = false;
        for slot in (first..first + arms).map(usize::from) {
            let strand = &mut self.strands[index].strand;
            let lanes = strand.slots[slot];
            if lanes == 0 || !std::mem::replace(&mut kept, true) {
                continue;
            }
            let mut child = strand.clone();
            child.slots.fill(0);
            child.slots[slot] = lanes;
            child.lanes = lanes;
            strand.slots[slot] = 0;
            strand.lanes &= !lanes;
            self.strands.push(Live { strand: child, waits: None, postponed: false });
        }
    }

    /// Lets lanes wait at a branch; where all that are left wait there, they go on together. Says whether
    /// they do.
    fn postpone(&mut self, index: usize, waiting: Mask) -> bool {
        if waiting == self.strands[index].strand.lanes {
            self.strands[index].postponed = true;
            return self.resume();
        }
        self.split(index, waiting);
        if let Some(live) = self.strands.last_mut() {
            live.postponed = true;
        }
        false
    }

    /// Joins the strands that wait at a branch, where there are no others; says whether it did.
    fn resume(&mut self) -> bool {
        if self.strands.is_empty() || !self.strands.iter().all(|live| live.postponed) {
            return false;
        }
        let mut waiting = self.strands.drain(..);
        let Some(mut first) = waiting.next() else { return false };
        for other in waiting {
            first.strand.join(&other.strand);
        }
        first.postponed = false;
        self.strands.push(first);
        true
    }

    fn enter(&mut self, index: usize) {
        let strand = &mut self.strands[index].strand;
        strand.loops.push(self.loops.len());
        let (expected, outer) = (strand.exec, strand.lanes);
        self.loops.push(LoopMerge { expected, arrived: 0, outer, merged: None });
        strand.lanes = expected;
    }

    /// Ends a strand at its loop's end; the last to come goes on for all.
    fn leave(&mut self, index: usize, target: usize) {
        let mut live = self.strands.swap_remove(index);
        let strand = &mut live.strand;
        let Some(reunion) = strand.loops.pop().and_then(|number| self.loops.get_mut(number)) else {
            self.strands.push(live);
            return;
        };
        reunion.arrived |= strand.lanes;
        if let Some(merged) = reunion.merged.take() {
            strand.join(&merged);
        }
        if reunion.arrived != reunion.expected {
            reunion.merged = Some(live.strand);
            return;
        }
        strand.lanes = reunion.outer;
        if strand.exec == 0 {
            strand.pc = target;
        }
        while self.loops.last().is_some_and(|last| last.arrived == last.expected) {
            self.loops.pop();
        }
        self.strands.push(live);
        let last = self.strands.len() - 1;
        if index < last {
            self.strands.swap(index, last);
        }
    }
}

impl<const N: usize> Strand<N> {
    /// Takes over the lanes of another strand that waits at the same place.
    fn join(&mut self, other: &Self) {
        for (lanes, others) in self.registers.iter_mut().zip(&other.registers) {
            for_each_lane(other.lanes, |lane| lanes[lane] = others[lane]);
        }
        for (slot, others) in self.slots.iter_mut().zip(&other.slots) {
            *slot |= others;
        }
        self.exec |= other.exec;
        self.lanes |= other.lanes;
    }
}
