//! Executing a dispatch: workgroups in a fixed order, a workgroup's waves in turn.
//!
//! Input: [`Code`], the number of workgroups, buffers. Output: changed buffers, and for each
//! instruction how often waves executed it, with how many lanes ([`Counts`]).
//!
//! # Schedule
//!
//! Up to [`RESIDENT`] workgroups are on the machine at once, the first ones first; whenever one
//! ends, the next begins. They take turns, and within a workgroup its waves do: each executes up to
//! [`TURN`] instructions, or up to a barrier or its end. The order is fixed, so that the same
//! launch gives the same bytes. Where what a workgroup does depends on what another wrote in the
//! same dispatch, the counts are this schedule's.
//!
//! # Threads
//!
//! Once there is enough to do, the workgroups that are left are executed side by side, each alone and
//! to its end, on views of the memory ([`super::memory`]). Where none met, each did what it does in
//! the schedule, so that the views are merged and the counts added up: memory and counts are the
//! schedule's, however many threads there were and whoever was first. Where two met, one failed,
//! or they executed more than they may, the views are thrown away, and the schedule goes on from
//! where it stood, on one thread: so do workgroups that hand values on, by atomics that return
//! them or by a flag that another waits for. Whatever an error says is the schedule's, too. Workgroups
//! with one and the same reduction, as histograms have it, do not meet. It is tried once a dispatch.
//!
//! Workgroups are not taken one after another, each on what those before it left, since the
//! schedule is none: up to [`RESIDENT`] of them take turns, and which write comes last follows from
//! how long others take.
//!
//! # What is counted
//!
//! `lanes` are the bits of EXEC at each execution. A wave of 64 gives its vector instructions to
//! lanes that are 32 wide in two *passes*, and may skip a pass whose half of EXEC is zero: the
//! least passes assume that it always does, the most that it never does. What writes scalar
//! registers is never skipped; what reads or writes one lane is one pass.

use std::ops::{AddAssign, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::code::{Code, IssueKind, Start};
use super::decode::Instruction;
use super::fields::Format;
use super::memory::{AmdMemory, DESCRIPTORS_HIGH, GROUPS_MAX, GlobalMemory, Touched, View};
use super::opcodes::{Control, OpcodeAction};
use super::reach::{Fault, Reach, Tally};
use super::wave::Wave;

/// Workgroups that are on the machine at once.
pub const RESIDENT: usize = 16;

/// Instructions of one turn of a wave.
pub const TURN: u64 = 4_000;

/// What each byte of the local data share holds before anything is written: on hardware what ran before, so
/// that code which relies on zeros must not find them.
const LOCAL_AT_START: u8 = 0xa5;

/// When workgroups are executed side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// Instructions that all waves have executed in turn before.
    pub(super) executed: u64,
    /// Instructions that are left, where workgroups go on as they began.
    pub(super) left: u64,
}

/// A thread takes some 10 µs to begin, in which it could execute a few hundred instructions.
const WORTH: Worth = Worth { executed: 20_000, left: 200_000 };

/// Bytes of views at most, all threads together: 1 GiB. Where more could be needed fewer threads run.
const VIEW_BYTES_MAX: u64 = 1 << 30;

/// Workgroups that a thread takes at once, at most.
const CHUNK_MAX: u64 = 64;

/// Instructions of a wave that may be waiting for what no other workgroup shows it.
const PATIENCE: u64 = 250_000;

/// When a planted fault is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before an instruction.
    Before,
    /// Behind it.
    After,
}

/// What one instruction came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often a wave executed it.
    pub executions: u64,
    /// Lanes that were on, summed over the executions.
    pub lanes: u64,
    /// Passes, where every half without a lane is skipped.
    pub passes_min: u64,
    /// Passes, where none is.
    pub passes_max: u64,
    /// What its accesses came to.
    pub accesses: Tally,
}

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, more: &Self) {
        self.executions += more.executions;
        self.lanes += more.lanes;
        self.passes_min += more.passes_min;
        self.passes_max += more.passes_max;
        self.accesses.conflicts += more.accesses.conflicts;
        self.accesses.outside += more.accesses.outside;
    }
}

/// What a dispatch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// By instruction.
    pub counts: Vec<Counts>,
    /// Waves that were run.
    pub waves: u64,
}

impl Outcome {
    /// The counts of all instructions of a kind.
    pub fn total(&self, code: &Code, kind: IssueKind) -> Counts {
        let mut total = Counts::default();
        for (instruction, counts) in code.instructions().iter().zip(&self.counts) {
            if IssueKind::from_instruction(instruction) == kind {
                total += counts;
            }
        }
        total
    }

    /// Instructions that waves executed.
    pub fn instructions(&self) -> u64 {
        self.counts.iter().map(|counts| counts.executions).sum()
    }
}

/// What a dispatch is given.
#[derive(Clone, Debug)]
pub struct WaveLaunch<'a> {
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// The low halves of the addresses of the descriptor sets ([`AmdMemory::add_set`]).
    pub sets: &'a [u32],
    /// The immediate address space.
    pub immediates: &'a [u8],
    /// The most instructions that one wave may execute.
    pub steps_max: u64,
    /// The most instructions that all waves together may execute.
    pub all_steps_max: u64,
    /// Threads at most; nothing means as many as rayon's global pool has. They change how long a
    /// dispatch takes and nothing else.
    pub threads: Option<usize>,
}

/// Why a dispatch ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    /// An access or an operation that cannot be executed.
    #[error("{fault}, in workgroup {workgroup:?}, at byte {at:#x} of the code")]
    Fault {
        /// What it is.
        fault: Fault,
        /// The workgroup.
        workgroup: [u32; 3],
        /// The instruction's offset in bytes.
        at: usize,
    },
    /// A wave is over the limit.
    #[error("a wave executed more than {limit} instructions, in workgroup {workgroup:?}")]
    Steps {
        /// The limit.
        limit: u64,
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// The waves are over the limit that they have together.
    #[error("its waves executed more than {limit} instructions together")]
    AllSteps {
        /// The limit.
        limit: u64,
    },
    /// The waves of a workgroup wait at a barrier for one that has ended, or the code ran past its
    /// end.
    #[error("the code ran past its end, in workgroup {workgroup:?}")]
    End {
        /// The workgroup.
        workgroup: [u32; 3],
    },
}

/// What a wave stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Barrier,
    Ended,
}

/// Whether workgroups were executed side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// They were not: there was too little work, or one thread.
    Untried,
    /// They were, and what they did is what came of the dispatch.
    Merged,
    /// They were, and what they did was thrown away.
    Discarded,
}

/// A workgroup on the machine.
#[derive(Clone, Debug)]
struct Group {
    place: [u32; 3],
    local: Vec<u8>,
    waves: Vec<(Wave, State, u64)>,
}

/// Executes a dispatch over `memory`.
///
/// # Errors
///
/// [`DispatchError`] with the workgroup; `memory` then holds what was written up to there.
pub fn run(
    code: &Code,
    launch: &WaveLaunch<'_>,
    memory: &mut AmdMemory,
) -> Result<Outcome, DispatchError> {
    run_worth(code, launch, memory, WORTH).0
}

/// As [`run`], side by side from where `worth` says; and whether that was done.
pub(super) fn run_worth(
    code: &Code,
    launch: &WaveLaunch<'_>,
    memory: &mut AmdMemory,
    worth: Worth,
) -> (Result<Outcome, DispatchError>, Ahead) {
    let mut progress = Progress::new(code, launch);
    let mut machine = Machine::new(code, launch, GlobalMemory::Whole(memory), undisturbed);
    let mut ahead = None;
    while !progress.resident.is_empty() {
        if ahead.is_none() && progress.is_worth(worth, machine.taken) {
            ahead = Some(progress.run_ahead(&mut machine));
        } else if let Err(error) = progress.round(&mut machine) {
            return (Err(error), ahead.unwrap_or(Ahead::Untried));
        }
    }
    (Ok(progress.outcome(machine.counts)), ahead.unwrap_or(Ahead::Untried))
}

/// As [`run`], on one thread; `hook` is called before and after each arithmetic instruction and each
/// access, and may change the wave's registers: what tests plant faults with.
///
/// # Errors
///
/// As [`run`].
pub fn run_disturbed(
    code: &Code,
    launch: &WaveLaunch<'_>,
    memory: &mut AmdMemory,
    hook: impl FnMut(&mut Wave, &Instruction, Moment),
) -> Result<Outcome, DispatchError> {
    let mut progress = Progress::new(code, launch);
    let mut machine = Machine::new(code, launch, GlobalMemory::Whole(memory), hook);
    while !progress.resident.is_empty() {
        progress.round(&mut machine)?;
    }
    Ok(progress.outcome(machine.counts))
}

/// The hook of what runs undisturbed.
fn undisturbed(_: &mut Wave, _: &Instruction, _: Moment) {}

/// How far a dispatch is.
struct Progress<'a> {
    code: &'a Code,
    launch: &'a WaveLaunch<'a>,
    /// Workgroups in all.
    groups: u64,
    /// The next one that begins.
    next: u64,
    resident: Vec<Group>,
    /// Waves of workgroups that have ended.
    waves: u64,
}

impl<'a> Progress<'a> {
    fn new(code: &'a Code, launch: &'a WaveLaunch<'a>) -> Self {
        let groups = launch.workgroups.iter().map(|count| u64::from(*count)).product();
        let mut progress = Self { code, launch, groups, next: 0, resident: Vec::new(), waves: 0 };
        progress.fill();
        progress
    }

    /// A workgroup that begins.
    fn group(&self, number: u64) -> Group {
        let [x, y, _] = self.launch.workgroups.map(u64::from);
        let place = [number % x, number / x % y, number / (x * y)].map(|axis| axis as u32);
        Group::new(self.code, self.launch, place)
    }

    /// Lets workgroups begin where there is room.
    fn fill(&mut self) {
        while self.resident.len() < RESIDENT && self.next < self.groups {
            let group = self.group(self.next);
            self.resident.push(group);
            self.next += 1;
        }
    }

    /// Gives each workgroup on the machine its turn.
    fn round<F: FnMut(&mut Wave, &Instruction, Moment)>(
        &mut self,
        machine: &mut Machine<'_, F>,
    ) -> Result<(), DispatchError> {
        for group in &mut self.resident {
            machine.turn(group)?;
        }
        let waves = &mut self.waves;
        self.resident.retain(|group| {
            let ended = group.has_ended();
            if ended {
                *waves += group.waves.len() as u64;
            }
            !ended
        });
        self.fill();
        Ok(())
    }

    fn outcome(&self, mut counts: Vec<Counts>) -> Outcome {
        let halves = u64::from(self.code.facts.wave / 32);
        for (instruction, counts) in self.code.instructions().iter().zip(&mut counts) {
            finish(instruction, counts, halves);
        }
        Outcome { counts, waves: self.waves }
    }

    /// Workgroups that have not ended: those on the machine, then those to come.
    fn left(&self) -> u64 {
        self.resident.len() as u64 + self.groups - self.next
    }

    /// Whether to execute what is left side by side, after `executed` instructions.
    fn is_worth(&self, worth: Worth, executed: u64) -> bool {
        // Those that began took so many on average, those on the machine up to now.
        let left = self.left().saturating_mul(executed) / self.next.max(1);
        executed >= worth.executed && left >= worth.left
    }

    /// Executes what is left side by side, and ends the dispatch with it where no workgroups met.
    fn run_ahead<F>(&mut self, machine: &mut Machine<'_, F>) -> Ahead {
        let GlobalMemory::Whole(memory) = &mut machine.memory else { return Ahead::Untried };
        let threads = self.launch.threads.unwrap_or_else(rayon::current_num_threads) as u64;
        let room = VIEW_BYTES_MAX / memory.view_bytes_max().max(1);
        let workers = threads.min(self.left()).min(room);
        if workers < 2 || self.left() > GROUPS_MAX {
            return Ahead::Untried;
        }
        let sides = Sides::new(self, memory, machine.taken, workers);
        let Some(done) = sides.run(workers as usize) else { return Ahead::Discarded };
        let taken = machine.taken + done.iter().map(|side| side.taken).sum::<u64>();
        let (touched, tallies): (Vec<Touched>, Vec<(Vec<Counts>, u64)>) =
            done.into_iter().map(|side| (side.touched, (side.counts, side.waves))).unzip();
        if taken > self.launch.all_steps_max || !memory.merge(&touched) {
            return Ahead::Discarded;
        }
        for (counts, waves) in tallies {
            for (total, more) in machine.counts.iter_mut().zip(&counts) {
                *total += more;
            }
            self.waves += waves;
        }
        machine.taken = taken;
        self.resident.clear();
        self.next = self.groups;
        Ahead::Merged
    }
}

/// What is left of a dispatch, executed side by side.
struct Sides<'a> {
    progress: &'a Progress<'a>,
    base: &'a AmdMemory,
    /// Instructions that were executed before.
    taken: u64,
    /// Instructions that a wave may execute.
    steps_max: u64,
    /// Workgroups that a thread takes at once.
    chunk: u64,
    /// The first of those left that nobody has begun.
    next: AtomicU64,
    /// Whether it was in vain.
    stopped: AtomicBool,
}

/// What a thread came to.
struct Side {
    counts: Vec<Counts>,
    waves: u64,
    /// Instructions that its waves executed.
    taken: u64,
    touched: Touched,
}

impl<'a> Sides<'a> {
    fn new(progress: &'a Progress<'a>, base: &'a AmdMemory, taken: u64, workers: u64) -> Self {
        // Code that waits for other workgroups reads memory past the caches; alone it waits for ever.
        let past_caches =
            |i: &Instruction| matches!(i.format, Format::Mubuf | Format::Smem) && i.access.returns;
        let waits = progress.code.instructions().iter().any(past_caches);
        let patience = if waits { PATIENCE } else { u64::MAX };
        Self {
            progress,
            base,
            taken,
            steps_max: progress.launch.steps_max.min(patience),
            // Several chunks a thread, since some take longer; neighbours that may meet in the same.
            chunk: (progress.left() / (8 * workers)).clamp(1 + u64::from(waits), CHUNK_MAX),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// What each of so many threads came to; nothing where it was in vain.
    fn run(&self, workers: usize) -> Option<Vec<Side>> {
        let mut done: Vec<Option<Side>> = Vec::new();
        done.resize_with(workers, || None);
        let all = |done: &mut [Option<Side>]| {
            rayon::scope(|scope| {
                for done in done {
                    scope.spawn(move |_| *done = self.work());
                }
            });
        };
        match self.progress.launch.threads {
            None => all(&mut done),
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.ok()?.install(|| all(&mut done));
            }
        }
        done.into_iter().collect()
    }

    /// Executes workgroups until none is left; nothing where it is in vain.
    fn work(&self) -> Option<Side> {
        let mut touched = Touched::new(self.base);
        let Progress { code, launch, .. } = *self.progress;
        let view = GlobalMemory::View(View { base: self.base, touched: &mut touched });
        let mut machine = Machine::new(code, launch, view, undisturbed);
        machine.taken = self.taken;
        machine.limit = self.steps_max;
        let mut waves = 0;
        while let Some(chunk) = self.next_chunk() {
            for number in chunk {
                let mut group = self.group(number);
                machine.begin(number as u32);
                while !group.has_ended() {
                    let failed = machine.turn(&mut group).is_err() || machine.has_met();
                    if failed || self.stopped.load(Ordering::Relaxed) {
                        self.stopped.store(true, Ordering::Relaxed);
                        return None;
                    }
                }
                waves += group.waves.len() as u64;
            }
        }
        let (counts, taken) = (machine.counts, machine.taken - self.taken);
        Some(Side { counts, waves, taken, touched })
    }

    /// Workgroups for a thread, counted among those left.
    fn next_chunk(&self) -> Option<Range<u64>> {
        let left = self.progress.left();
        let first = self.next.fetch_add(self.chunk, Ordering::Relaxed);
        (first < left).then(|| first..left.min(first + self.chunk))
    }

    /// One of those left.
    fn group(&self, number: u64) -> Group {
        let resident = &self.progress.resident;
        let begun = usize::try_from(number).ok().and_then(|number| resident.get(number));
        begun.cloned().unwrap_or_else(|| {
            self.progress.group(self.progress.next + number - resident.len() as u64)
        })
    }
}

/// Works out the passes that follow from executions alone.
fn finish(instruction: &Instruction, counts: &mut Counts, halves: u64) {
    match instruction.row.run {
        OpcodeAction::Vector(_) => counts.passes_max = counts.executions * halves,
        OpcodeAction::VectorToScalar(_) => {
            counts.passes_max = counts.executions * halves;
            // A comparison that writes EXEC may skip one pass, of which `passes_min` holds the
            // rest.
            if !instruction.row.name.starts_with("v_cmpx") {
                counts.passes_min = counts.passes_max;
            } else {
                counts.passes_min = counts.passes_min.max(counts.executions);
            }
        }
        OpcodeAction::Lane(_) => {
            counts.passes_min = counts.executions;
            counts.passes_max = counts.executions;
        }
        _ => counts.passes_min = 0,
    }
}

impl Group {
    fn has_ended(&self) -> bool {
        self.waves.iter().all(|(_, state, _)| *state == State::Ended)
    }

    fn new(code: &Code, launch: &WaveLaunch<'_>, place: [u32; 3]) -> Self {
        let facts = &code.facts;
        let [x, y, z] = facts.workgroup;
        let invocations = x * y * z;
        let count = invocations.div_ceil(facts.wave);
        let waves = (0..count).map(|number| {
            let mut wave = Wave::new(facts.wave, facts.vectors as usize);
            if !facts.mode.flush32 {
                wave.kept32 = u32::MAX;
            }
            let first = number * facts.wave;
            let lanes = (invocations - first).min(facts.wave);
            let on = if lanes == 64 { u64::MAX } else { (1 << lanes) - 1 };
            wave.set_mask(super::fields::EXEC, on);
            for lane in 0..facts.wave {
                let local = first + lane;
                let ids = [local % x, local / x % y, local / (x * y)];
                for (register, id) in (0_u8..).zip(ids) {
                    if usize::from(register) < wave.vectors() {
                        wave.set_lane(register, lane as usize, id);
                    }
                }
            }
            scalars(&mut wave, code, launch, place, (number, count));
            (wave, State::Ready, 0)
        });
        Self {
            place,
            waves: waves.collect(),
            local: vec![LOCAL_AT_START; facts.local_bytes as usize],
        }
    }
}

/// Writes what the scalar registers hold at the start.
fn scalars(
    wave: &mut Wave,
    code: &Code,
    launch: &WaveLaunch<'_>,
    place: [u32; 3],
    (number, count): (u32, u32),
) {
    let mut register = 0;
    for start in &code.facts.scalars {
        match *start {
            Start::Unused(_) => {}
            Start::Descriptors(set) => {
                let address = launch.sets.get(set as usize).copied().unwrap_or(0);
                wave.set_scalar(register, address);
            }
            Start::Grid => {
                for (axis, size) in (0..).zip(launch.workgroups) {
                    wave.set_scalar(register + axis, size);
                }
            }
            Start::Workgroup(axis) => wave.set_scalar(register, place[usize::from(axis) % 3]),
            Start::WaveNumber => {
                wave.set_scalar(register, count | number << 6 | number << 20);
            }
            Start::Immediates(offset, words) => {
                let from = launch.immediates.get(offset as usize..).unwrap_or_default();
                let (given, _) = from.as_chunks::<4>();
                for (word, given) in (0..words).zip(given) {
                    wave.set_scalar(register + word, u32::from_le_bytes(*given));
                }
            }
        }
        register += start.registers();
    }
}

struct Machine<'a, F> {
    code: &'a Code,
    limit: u64,
    all_limit: u64,
    /// Instructions of all waves so far.
    taken: u64,
    memory: GlobalMemory<'a>,
    counts: Vec<Counts>,
    hook: F,
}

impl<'a, F> Machine<'a, F> {
    fn new(code: &'a Code, launch: &WaveLaunch<'_>, memory: GlobalMemory<'a>, hook: F) -> Self {
        Self {
            code,
            limit: launch.steps_max,
            all_limit: launch.all_steps_max,
            taken: 0,
            memory,
            counts: vec![Counts::default(); code.instructions().len()],
            hook,
        }
    }

    /// Says which workgroup's turns follow, where that is noted.
    fn begin(&mut self, group: u32) {
        if let GlobalMemory::View(view) = &mut self.memory {
            view.begin(group);
        }
    }

    /// Whether workgroups met, where that is noted.
    fn has_met(&self) -> bool {
        matches!(&self.memory, GlobalMemory::View(view) if view.touched.has_met())
    }
}

impl<F: FnMut(&mut Wave, &Instruction, Moment)> Machine<'_, F> {
    /// Gives each wave of a workgroup its turn.
    fn turn(&mut self, group: &mut Group) -> Result<(), DispatchError> {
        let Group { place, local, waves } = group;
        for (wave, state, steps) in waves.iter_mut() {
            if *state == State::Ready {
                let (then, taken) = self.wave(wave, local, *place)?;
                *state = then;
                *steps += taken;
                self.taken += taken;
                if *steps > self.limit {
                    return Err(DispatchError::Steps { limit: self.limit, workgroup: *place });
                }
                if self.taken > self.all_limit {
                    return Err(DispatchError::AllSteps { limit: self.all_limit });
                }
            }
        }
        // Waves that have ended are not waited for.
        if waves.iter().all(|(_, state, _)| *state != State::Ready) {
            for (_, state, _) in waves {
                if *state == State::Barrier {
                    *state = State::Ready;
                }
            }
        }
        Ok(())
    }

    /// Executes a wave for a turn.
    fn wave(
        &mut self,
        wave: &mut Wave,
        local: &mut [u8],
        place: [u32; 3],
    ) -> Result<(State, u64), DispatchError> {
        let instructions = self.code.instructions();
        for taken in 1..=TURN {
            let index = wave.next;
            let Some(i) = instructions.get(index) else {
                return Err(DispatchError::End { workgroup: place });
            };
            let counts = &mut self.counts[index];
            counts.executions += 1;
            counts.lanes += u64::from(wave.active());
            counts.passes_min += u64::from(wave.active_halves());
            wave.next = index + 1;
            match i.row.run {
                OpcodeAction::Scalar(act)
                | OpcodeAction::Vector(act)
                | OpcodeAction::VectorToScalar(act)
                | OpcodeAction::Lane(act) => {
                    (self.hook)(wave, i, Moment::Before);
                    act(wave, i);
                    (self.hook)(wave, i, Moment::After);
                }
                OpcodeAction::ScalarMemory(touch)
                | OpcodeAction::VectorMemory(touch)
                | OpcodeAction::Local(touch) => {
                    (self.hook)(wave, i, Moment::Before);
                    let tally = &mut counts.accesses;
                    let mut reach = Reach { memory: self.memory.reborrow(), local, tally };
                    touch(wave, i, &mut reach).map_err(|fault| self.fault(fault, index, place))?;
                    (self.hook)(wave, i, Moment::After);
                }
                OpcodeAction::Control(control) => match control {
                    Control::Hint | Control::Wait => {}
                    Control::End => return Ok((State::Ended, taken)),
                    Control::Barrier => return Ok((State::Barrier, taken)),
                    Control::Branch(condition) => {
                        if condition(wave) {
                            wave.next = self.code.target(index);
                        }
                    }
                },
                OpcodeAction::Refused => {
                    return Err(self.fault(Fault::Unknown(i.row.name), index, place));
                }
            }
        }
        Ok((State::Ready, TURN))
    }

    fn fault(&self, fault: Fault, index: usize, workgroup: [u32; 3]) -> DispatchError {
        DispatchError::Fault { fault, workgroup, at: self.code.offset(index) }
    }
}

/// The high half of a descriptor set's address, which the code holds as a constant.
pub const SETS_HIGH: u32 = DESCRIPTORS_HIGH;
