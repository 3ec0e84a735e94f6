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
//! # What is counted
//!
//! `lanes` are the bits of EXEC at each execution. A wave of 64 gives its vector instructions to
//! lanes that are 32 wide in two *passes*, and may skip a pass whose half of EXEC is zero: the
//! least passes assume that it always does, the most that it never does. What writes scalar
//! registers is never skipped; what reads or writes one lane is one pass.

use super::code::{Code, Start};
use super::fields::Format;
use super::instruction::Instruction;
use super::opcodes::{Control, OpcodeAction};
use super::reach::{AmdMemory, DESCRIPTORS_HIGH, Fault, Reach, Tally};
use super::wave::Wave;

/// Workgroups that are on the machine at once.
pub const RESIDENT: usize = 16;

/// Instructions of one turn of a wave.
pub const TURN: u64 = 4_000;

/// What each byte of the local data share holds before anything is written: on hardware what ran before, so
/// that code which relies on zeros must not find them.
const LOCAL_AT_START: u8 = 0xa5;

/// When a planted fault is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before an instruction.
    Before,
    /// Behind it.
    After,
}

/// What an instruction is, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IssueKind {
    /// Vector arithmetic.
    Valu,
    /// Scalar arithmetic.
    Salu,
    /// Scalar memory.
    Smem,
    /// Buffer memory.
    Vmem,
    /// The local data share, and moves between lanes that run through it.
    Lds,
    /// Branches and the end of the program.
    Branch,
    /// Waiting for memory or for other waves, and hints.
    Wait,
}

impl IssueKind {
    /// What an instruction is.
    pub fn from_instruction(instruction: &Instruction) -> Self {
        match instruction.row.run {
            OpcodeAction::Control(Control::Hint | Control::Wait | Control::Barrier) => Self::Wait,
            OpcodeAction::Control(_) => Self::Branch,
            _ => match instruction.format {
                Format::Sop2 | Format::Sopk | Format::Sop1 | Format::Sopc => Self::Salu,
                Format::Sopp => Self::Branch,
                Format::Smem => Self::Smem,
                Format::Ds => Self::Lds,
                Format::Mubuf => Self::Vmem,
                Format::Vop2 | Format::Vop1 | Format::Vopc | Format::Vop3 | Format::Vop3p => {
                    Self::Valu
                }
            },
        }
    }
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
                total.executions += counts.executions;
                total.lanes += counts.lanes;
                total.passes_min += counts.passes_min;
                total.passes_max += counts.passes_max;
                total.accesses.conflicts += counts.accesses.conflicts;
                total.accesses.outside += counts.accesses.outside;
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

/// A workgroup on the machine.
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
    run_disturbed(code, launch, memory, |_, _, _| {})
}

/// As [`run`]; `hook` is called before and after each arithmetic instruction and each access, and may
/// change the wave's registers: what tests plant faults with.
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
    let [x, y, z] = launch.workgroups.map(u64::from);
    let mut coming = (0..x * y * z).map(|n| {
        let place = [n % x, n / x % y, n / (x * y)].map(|part| part as u32);
        Group::new(code, launch, place)
    });
    let mut machine = Machine {
        code,
        limit: launch.steps_max,
        all_limit: launch.all_steps_max,
        taken: 0,
        memory,
        counts: vec![Counts::default(); code.instructions().len()],
        hook,
    };
    let mut resident: Vec<Group> = coming.by_ref().take(RESIDENT).collect();
    let mut waves = 0;
    while !resident.is_empty() {
        for group in &mut resident {
            machine.turn(group)?;
        }
        for place in (0..resident.len()).rev() {
            if resident[place].waves.iter().all(|wave| wave.1 == State::Ended) {
                waves += resident[place].waves.len() as u64;
                resident.remove(place);
            }
        }
        let room = RESIDENT - resident.len();
        resident.extend(coming.by_ref().take(room));
    }
    let mut counts = machine.counts;
    let halves = u64::from(code.facts.wave / 32);
    for (instruction, counts) in code.instructions().iter().zip(&mut counts) {
        finish(instruction, counts, halves);
    }
    Ok(Outcome { counts, waves })
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
    memory: &'a mut AmdMemory,
    counts: Vec<Counts>,
    hook: F,
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
                    let mut reach = Reach { memory: self.memory, local, tally };
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
