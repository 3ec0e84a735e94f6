//! What a compiler did to each branch of the source.
//!
//! Input: the blocks of a dispatch with their counts, by way of calls, its machine code as [`Step`]s with what
//! each did, and which instructions are which block ([`Matching`]). Output: an [`Arm`] for each arm of an `if`
//! or a `switch` that does more than leave, and for each loop. Nothing is asked of the compiler, and no figure
//! is made here: an outcome is read off the code.
//!
//! | outcome | how it is told |
//! |---|---|
//! | `kept` | the arm's instructions are there, and a branch on a condition of the whole subgroup leads over them; a loop whose body is there, in a loop of the code, or that a loop of the code iterates nearly as often as, with nearly as many lanes, where instructions have no lines |
//! | `skipped` | they are there, lanes are masked, and a branch leads over them where none is left; of NVIDIA's code a branch of which counts show that a warp parts at it |
//! | `masked` | they are there, and nothing leads over them, though lanes are switched off; or none ran as the arm did, but instructions ran as often as what surrounds it, with the arm's lanes, the others masked or predicated off; or most of what stands on its lines is predicated off in some lanes; no loop is |
//! | `flattened` | none are there, and where what surrounds it ran, or on the construct's lines, or in each copy of an unrolled loop around it, there are selects, or what is predicated overwrites what every lane has; or they are there, all lanes came, and none is switched off. No loop is, and no arm that stores, has an atomic or holds a barrier, or calls what does |
//! | `unrolled` | a loop's body ran a whole number of times as often as what surrounds it, with lanes to match, and is not there as one; or it stands in copies: what is on its lines is in no loop of the code, or in one that iterates fewer times |
//! | `folded` | none ran as it did, and there is no select either |
//! | `merged` | it ran as often and with as many lanes as what surrounds it, or as another arm, so that counts do not tell them apart: neither is said to be in the code where either could be |
//!
//! Where instructions have lines (NVIDIA's do, AMD's do not), a block whose counts no instruction has may be
//! there in copies: instructions of one operation on one of its lines whose counts add up to the block's, or to
//! a whole number of times that. Nothing off a construct's lines is taken for an arm of it there, but for what reaches
//! memory without a line, as atomics do. Of arms that ran alike there, lines say which instructions are whose.
//!
//! Of an arm that stores or has an atomic, and of which nothing is there, stores and atomics of one operation whose
//! counts add up to its own are its copies. Of an unrolled loop, the copies of an arm are as many branches of one
//! shape, over what adds up to the arm.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{Arm, ArmOutcome, Block, Call, ConstructPart, Enclosure, Flow, NearBlock};

use super::matching::{BlocksRan, CodeRan, LanesOff, Match, Matching, Ran, snap};

/// A block of the source, as far as it is looked at here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBlock {
    /// Its operations.
    pub operations: u64,
    /// The lines of its operations.
    pub lines: Vec<u32>,
    /// Its place in control flow.
    pub flow: Flow,
    /// Executions and lanes, by every way of calls together.
    pub ran: (u64, u64),
}

impl SourceBlock {
    /// The block of a record; `None` if the record is too old to say what surrounds it.
    pub fn from_record(block: &Block) -> Option<Self> {
        Some(Self {
            operations: block.operations,
            lines: block.lines.keys().copied().collect(),
            flow: block.flow.clone()?,
            ran: (block.executions.0, block.lanes.0),
        })
    }

    /// Whether others see that it ran: it stores, has an atomic or holds a barrier.
    fn has_effect(&self) -> bool {
        self.flow.writes || self.flow.barrier
    }
}

/// A block by one way of calls, with its executions and lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The way of calls, as functions and the places that they are called from.
    pub way: String,
    /// The block.
    pub block: usize,
    /// Executions and lanes.
    pub ran: (u64, u64),
    /// The unit that calls the function, by its index; `None` in the entry point.
    pub caller: Option<usize>,
}

/// The blocks of a counted dispatch by way of calls, in the order in which they would be inlined. Where nobody
/// told the ways apart (`calls` is empty), each has the counts of all.
pub fn units(blocks: &[SourceBlock], entry_point: &str, calls: &[Call]) -> Vec<Unit> {
    let mut walk = UnitWalk { blocks, calls, units: Vec::new(), walked: Vec::new() };
    walk.function(entry_point, (!calls.is_empty()).then_some(0), String::new(), None);
    walk.units
}

/// The walk over the tree of calls.
struct UnitWalk<'a> {
    blocks: &'a [SourceBlock],
    calls: &'a [Call],
    units: Vec<Unit>,
    /// Calls that were walked.
    walked: Vec<usize>,
}

/// How deep calls may be nested; WGSL has no recursion.
const DEPTH_MAX: usize = 256;

impl UnitWalk<'_> {
    fn function(&mut self, name: &str, call: Option<usize>, way: String, from: Option<usize>) {
        if way.matches('/').count() > DEPTH_MAX {
            return;
        }
        let counted: BTreeMap<usize, (u64, u64)> = match call.and_then(|at| self.calls.get(at)) {
            Some(call) => call
                .blocks
                .iter()
                .map(|counts| (counts.block.0 as usize, (counts.executions.0, counts.lanes.0)))
                .collect(),
            None => BTreeMap::new(),
        };
        for (block, info) in self.blocks.iter().enumerate() {
            if info.flow.function != name {
                continue;
            }
            let ran = match call {
                Some(_) => counted.get(&block).copied().unwrap_or_default(),
                None => info.ran,
            };
            let here = self.units.len();
            self.units.push(Unit { way: way.clone(), block, ran, caller: from });
            for (callee, line) in info.flow.calls.iter().zip(&info.flow.call_lines) {
                let way = format!("{way}/{callee}:{line}");
                match call {
                    None => self.function(callee, None, way, Some(here)),
                    Some(caller) => {
                        if let Some(at) = self.called(caller, callee, *line) {
                            self.function(callee, Some(at), format!("{way}#{at}"), Some(here));
                        }
                    }
                }
            }
        }
    }

    /// The next call of a function by a caller from a line.
    fn called(&mut self, caller: usize, callee: &str, line: u32) -> Option<usize> {
        let is = |call: &Call| {
            call.caller == Some(caller) && call.function == callee && call.line == Some(line)
        };
        let found = self.calls.iter().enumerate().filter(|(_, call)| is(call));
        let at = found.map(|(at, _)| at).find(|at| !self.walked.contains(at))?;
        self.walked.push(at);
        Some(at)
    }
}

/// When a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Always.
    Always,
    /// On a condition that is one for the whole subgroup.
    Whole,
    /// On a condition of each lane: those that do not take it go on.
    Lanes,
}

/// What an instruction is, as far as branches are told by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A branch to an instruction.
    Branch(usize, Guard),
    /// A jump by a table: it leads wherever an arm begins.
    Table(Guard),
    /// Other control: the end, a barrier, what brings lanes together.
    Control,
    /// Chooses between two values, in each lane.
    Select,
    /// The same, once for the whole subgroup.
    ScalarSelect,
    /// A load, a store or an atomic of each lane.
    Memory,
    /// Anything else that lanes do.
    Lanes,
    /// What the whole subgroup does once.
    Scalar,
}

impl StepKind {
    /// Whether each lane does it for itself.
    pub(super) fn is_of_lanes(self) -> bool {
        matches!(self, Self::Select | Self::Memory | Self::Lanes)
    }

    /// Whether it does some of the work that the source asks for, rather than lead lanes there.
    pub fn works(self) -> bool {
        match self {
            Self::Branch(..) | Self::Table(_) | Self::Control => false,
            Self::Select | Self::ScalarSelect | Self::Memory | Self::Lanes | Self::Scalar => true,
        }
    }
}

/// How an instruction sets which lanes are on, without a branch: AMD's EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneSetting {
    /// Not at all.
    Unchanged,
    /// To those of a condition, or to a set of its own.
    Anew,
    /// To the others of those that came to a branch: the other arm begins.
    Others,
    /// To a set that was kept: lanes come together.
    Back,
}

/// An instruction with what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Executions and lanes.
    pub ran: (u64, u64),
    /// The lanes that were neither masked nor predicated off.
    pub on: u64,
    /// Its line of the source, where the code says it.
    pub line: Option<u32>,
    /// Its operation.
    pub operation: String,
    /// What it is.
    pub kind: StepKind,
    /// Whether it changes memory that others see: a store or an atomic.
    pub writes: bool,
    /// How it sets which lanes are on.
    pub sets_lanes: LaneSetting,
}

impl Step {
    /// Whether no lane comes from it to what stands behind it: lanes turn to the other arm, or all go elsewhere.
    fn ends_place(&self) -> bool {
        matches!(self.kind, StepKind::Branch(_, Guard::Always))
            || self.sets_lanes == LaneSetting::Others
    }
}

/// What is known of a dispatch's code.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The blocks of the source.
    pub blocks: &'a [SourceBlock],
    /// The same by way of calls.
    pub units: &'a [Unit],
    /// Which instruction is which of them.
    pub matching: &'a Matching,
    /// The code.
    pub steps: &'a [Step],
    /// Whether lanes can be masked without a branch, as AMD's EXEC does.
    pub masks: bool,
}

/// What a dispatch came to on another input than the first.
#[derive(Debug)]
pub struct OtherInput<'a> {
    /// The source's blocks by way of calls.
    pub units: &'a [Unit],
    /// Executions and lanes of each instruction.
    pub ran: Vec<(u64, u64)>,
}

/// A dispatch's code beside its source.
#[derive(Clone, Debug)]
pub struct SideBySide {
    /// The source's blocks by way of calls, in the order in which they would be inlined; each that is nearly what
    /// instructions ran as has their counts.
    pub units: Vec<Unit>,
    /// Of those, by how many lanes they differ.
    pub near: Vec<Option<LanesOff>>,
    /// Which instruction is which of them.
    pub matching: Matching,
    /// What the compiler did to each arm and loop.
    pub arms: Vec<Arm>,
}

impl SideBySide {
    /// Lays `steps` beside the blocks that `units` are of, on one input and, where there is another, on both;
    /// `masks` as [`Compared`] has it.
    pub fn new(
        blocks: &[SourceBlock],
        mut units: Vec<Unit>,
        steps: &[Step],
        other: Option<&OtherInput<'_>>,
        masks: bool,
    ) -> Self {
        let there = |unit: &Unit, others: &[Unit]| {
            // The other input may come by other ways.
            let same = |other: &&Unit| other.way == unit.way && other.block == unit.block;
            others.iter().find(same).map_or((0, 0), |other| other.ran)
        };
        let of_block = |unit: &Unit| -> Ran {
            let other = other.map(|other| there(unit, other.units));
            std::iter::once(unit.ran).chain(other).collect()
        };
        let of_step = |(at, step): (usize, &Step)| -> Ran {
            let other = other.map(|other| other.ran.get(at).copied().unwrap_or_default());
            std::iter::once(step.ran).chain(other).collect()
        };
        let machine: Vec<Ran> = steps.iter().enumerate().map(of_step).collect();
        let works: Vec<bool> = steps.iter().map(|step| step.kind.works()).collect();
        let (ran, near) = snap(&units.iter().map(of_block).collect::<Vec<_>>(), &machine);
        units.iter_mut().zip(&ran).for_each(|(unit, ran)| unit.ran = ran[0]);
        let operations: Vec<u64> = units.iter().map(|unit| blocks[unit.block].operations).collect();
        let path = |unit: &Unit| blocks[unit.block].flow.path.iter().map(key_of).collect();
        let paths: Vec<Vec<ArmKey>> = units.iter().map(path).collect();
        let encloses = |outer: usize, other: usize| encloses(&units, &paths, outer, other);
        let ends: Vec<bool> = steps.iter().map(Step::ends_place).collect();
        let places = places(&units, &paths);
        let matching = Matching::of_code(
            BlocksRan { ran: &ran, operations: &operations, places: &places },
            CodeRan { ran: &machine, works: &works, ends: &ends },
        );
        let matching = matching.without_guesses(encloses);
        let arms = Compared { blocks, units: &units, matching: &matching, steps, masks }.arms();
        Self { units, near, matching, arms }
    }

    /// The blocks whose lanes are nearly their instructions', each once, by the line that a block begins at.
    pub fn near_blocks(&self, line: impl Fn(usize) -> u32) -> Vec<NearBlock> {
        let mut found: Vec<NearBlock> = Vec::new();
        for (unit, near) in self.units.iter().zip(&self.near) {
            let Some(LanesOff { off, of: lanes, executions_off }) = *near else { continue };
            let line = line(unit.block);
            let block = NearBlock { line, lanes, lanes_off: off, executions_off };
            if !found.contains(&block) {
                found.push(block);
            }
        }
        found.sort_by_key(|block| block.line);
        found
    }
}

/// An arm: a construct and a part of it.
type ArmKey = (u32, ConstructPart, u32);

fn key_of(enclosure: &Enclosure) -> ArmKey {
    (enclosure.construct, enclosure.part, enclosure.case)
}

/// Whether a unit stands in no arm that another does not stand in: around it, before it or behind it.
fn encloses(units: &[Unit], paths: &[Vec<ArmKey>], outer: usize, other: usize) -> bool {
    let mut inner = Some(other);
    while let Some(at) = inner {
        if units[at].way == units[outer].way {
            return paths[at].starts_with(&paths[outer]);
        }
        inner = units[at].caller;
    }
    false
}

/// The place of each unit, for [`BlocksRan::places`]: a loop's `continuing` right behind its body, which ran alike, is
/// at the body's.
fn places(units: &[Unit], paths: &[Vec<ArmKey>]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    for (at, (unit, path)) in units.iter().zip(paths).enumerate() {
        let before = at.checked_sub(1).filter(|before| {
            let body = match path.split_last() {
                Some(((construct, ConstructPart::LoopContinuing, case), around)) => {
                    [around, &[(*construct, ConstructPart::LoopBody, *case)]].concat()
                }
                _ => return false,
            };
            let other = &units[*before];
            paths[*before] == body && other.way == unit.way && other.ran == unit.ran
        });
        places.push(before.map_or(at, |before| places[before]));
    }
    places
}

/// What surrounds a construct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The unit.
    pub(super) unit: usize,
    /// Its executions and lanes.
    pub(super) ran: (u64, u64),
    /// Whether exactly these lanes reach the construct; else those and perhaps more.
    pub(super) exact: bool,
}

/// An arm or a loop by one way of calls, as it ran.
#[derive(Debug)]
pub(super) struct ArmRun<'a> {
    /// The construct and the part of it.
    pub(super) enclosure: &'a Enclosure,
    /// Its blocks, those of arms in it included.
    pub(super) blocks: &'a [usize],
    /// Those of them that stand in no arm in it.
    pub(super) direct: BTreeSet<usize>,
    /// Its units.
    pub(super) units: Vec<usize>,
    /// Those of them that ran.
    pub(super) ran: Vec<usize>,
    /// What surrounds it.
    pub(super) around: Option<Around>,
    /// The instructions on lines on which nothing else stands.
    pub(super) steps: Vec<usize>,
}

impl ArmRun<'_> {
    /// Executions and lanes of exactly those that reach the construct, where a block has them.
    pub(super) fn reached(&self) -> Option<(u64, u64)> {
        self.around.filter(|around| around.exact).map(|around| around.ran)
    }
}

impl Compared<'_> {
    /// What became of each arm and loop, in the order of the source.
    pub fn arms(&self) -> Vec<Arm> {
        let mut members: BTreeMap<ArmKey, (Enclosure, Vec<usize>)> = BTreeMap::new();
        for (block, info) in self.blocks.iter().enumerate() {
            for enclosure in &info.flow.path {
                members
                    .entry(key_of(enclosure))
                    .or_insert_with(|| (*enclosure, Vec::new()))
                    .1
                    .push(block);
            }
        }
        let mut arms: Vec<Arm> = Vec::new();
        for (enclosure, blocks) in members.values() {
            // An arm that only leaves is a part of what it leaves; a loop's end belongs to the loop.
            let works = blocks.iter().any(|block| self.blocks[*block].operations > 0);
            if enclosure.part == ConstructPart::LoopContinuing || !works {
                continue;
            }
            let mut outcomes: Vec<ArmOutcome> = Vec::new();
            for way in self.ways(blocks) {
                let outcome = self.outcome(enclosure, blocks, way);
                if !outcomes.contains(&outcome) {
                    outcomes.push(outcome);
                }
            }
            // A function that is inlined again may come to something else there.
            if outcomes.len() > 1 {
                outcomes.retain(|outcome| *outcome != ArmOutcome::NeverRan);
            }
            let Enclosure { construct, part, case, line, operator, .. } = *enclosure;
            arms.extend(outcomes.into_iter().map(|outcome| Arm {
                construct,
                part,
                case,
                line,
                operator,
                outcome,
            }));
        }
        arms
    }

    /// The ways of calls by which a block of an arm may run.
    fn ways(&self, blocks: &[usize]) -> Vec<&str> {
        let mut ways: Vec<&str> = Vec::new();
        for unit in self.units.iter().filter(|unit| blocks.contains(&unit.block)) {
            if !ways.contains(&unit.way.as_str()) {
                ways.push(&unit.way);
            }
        }
        ways
    }

    fn outcome(&self, enclosure: &Enclosure, blocks: &[usize], way: &str) -> ArmOutcome {
        let units: Vec<usize> = (0..self.units.len())
            .filter(|at| self.units[*at].way == way && blocks.contains(&self.units[*at].block))
            .collect();
        let ran: Vec<usize> =
            units.iter().copied().filter(|at| self.units[*at].ran.0 > 0).collect();
        if ran.is_empty() {
            return ArmOutcome::NeverRan;
        }
        let arm = ArmRun {
            enclosure,
            blocks,
            direct: self.direct(enclosure, blocks).collect(),
            around: self.around(enclosure, &units),
            steps: self.own_steps(enclosure, blocks),
            units,
            ran,
        };
        match enclosure.part {
            ConstructPart::LoopBody => self.loop_outcome(&arm),
            _ => self.arm_outcome(&arm),
        }
    }

    fn arm_outcome(&self, arm: &ArmRun<'_>) -> ArmOutcome {
        if let Some(outcome) = self.guard_by_lines(arm) {
            return outcome;
        }
        if arm.ran.iter().any(|unit| self.stands(arm, *unit)) {
            return self.guard_of_found(arm);
        }
        let reached = arm.reached();
        let all_came = |at: &usize| Some(self.units[*at].ran) == reached;
        let ran = [arm.ran.clone(), self.called_units(arm.blocks)].concat();
        if !ran.iter().any(all_came) {
            if let Some(first) = ran.iter().find_map(|at| self.copies(*at)) {
                return self.guard(first, None);
            }
            // Of arms that ran alike, the one on whose lines it stands.
            let alike =
                |at: &&usize| ran.iter().any(|unit| self.units[*unit].ran == self.steps[**at].ran);
            if let Some(first) = arm.steps.iter().find(alike) {
                return self.guard(*first, None);
            }
        }
        let outcome = self.outcome_without_code(arm, &ran);
        match outcome {
            ArmOutcome::Flattened | ArmOutcome::Folded => self.in_copies(arm, &ran, outcome),
            _ => outcome,
        }
    }

    /// Whether an arm's unit is there: where the code has lines, either on its own, or nothing of the arm ran so there.
    fn stands(&self, arm: &ArmRun<'_>, unit: usize) -> bool {
        let Unit { block, ran, .. } = &self.units[unit];
        let on_lines = || {
            let lines = &self.blocks[*block].lines;
            let is_own = |at: usize| self.steps[at].line.is_some_and(|line| lines.contains(&line));
            self.works_of(unit).any(is_own)
        };
        let alike = || arm.steps.iter().any(|at| self.steps[*at].ran == *ran);
        self.is_found(unit) && (arm.steps.is_empty() || on_lines() || alike())
    }

    /// Whether instructions that do more than lead lanes about are a unit, and no jump alone.
    pub(super) fn is_found(&self, unit: usize) -> bool {
        let found = self.matching.blocks[unit] == Match::Found && self.operations(unit) > 0;
        found && (!self.is_lined() || self.works_of(unit).next().is_some())
    }

    /// The instructions that are taken for a unit and do more than lead lanes about.
    fn works_of(&self, unit: usize) -> impl Iterator<Item = usize> {
        let pairs = self.matching.instructions.iter().zip(self.steps).enumerate();
        pairs
            .filter(move |(_, (owner, step))| **owner == Some(unit) && step.kind.works())
            .map(|(at, _)| at)
    }

    /// The instructions that are taken for units of an arm that are no jumps alone.
    pub(super) fn steps_of(&self, arm: &ArmRun<'_>) -> Vec<usize> {
        let of_arm = |at: &usize| {
            let unit = self.matching.instructions[*at];
            unit.is_some_and(|unit| arm.ran.contains(&unit) && self.operations(unit) > 0)
        };
        (0..self.steps.len()).filter(of_arm).collect()
    }

    /// Whether others see that some of these blocks ran, or a function that they call.
    pub(super) fn has_effect(&self, blocks: &[usize]) -> bool {
        let mut left: Vec<&SourceBlock> = blocks.iter().map(|block| &self.blocks[*block]).collect();
        let mut called: BTreeSet<&str> = BTreeSet::new();
        while let Some(block) = left.pop() {
            if block.has_effect() {
                return true;
            }
            for name in block.flow.calls.iter().filter(|name| called.insert(name)) {
                left.extend(self.blocks.iter().filter(|block| block.flow.function == *name));
            }
        }
        false
    }

    /// Those of an arm's blocks that stand in no arm in it.
    fn direct(&self, enclosure: &Enclosure, blocks: &[usize]) -> impl Iterator<Item = usize> {
        let key = key_of(enclosure);
        let is_direct = move |block: &usize| {
            self.blocks[*block].flow.path.last().is_some_and(|innermost| key_of(innermost) == key)
        };
        blocks.iter().copied().filter(is_direct)
    }

    /// Instructions that ran on lines on which nothing but an arm stands, without the arms in it, and that do some of
    /// its work.
    fn own_steps(&self, enclosure: &Enclosure, blocks: &[usize]) -> Vec<usize> {
        if !self.is_lined() {
            return Vec::new();
        }
        let direct: Vec<usize> = self.direct(enclosure, blocks).collect();
        let called = self.called_units(&direct).into_iter().map(|unit| self.units[unit].block);
        let own_blocks: BTreeSet<usize> = direct.iter().copied().chain(called).collect();
        let (own_blocks, others): (Vec<usize>, Vec<usize>) =
            (0..self.blocks.len()).partition(|block| own_blocks.contains(block));
        let lines = |blocks: &[usize]| -> BTreeSet<u32> {
            blocks.iter().flat_map(|block| self.blocks[*block].lines.clone()).collect()
        };
        let (own_lines, others) = (lines(&own_blocks), lines(&others));
        let here = |step: &Step| {
            let line = step.line.filter(|line| own_lines.contains(line) && !others.contains(line));
            line.is_some() && step.ran.0 > 0 && step.kind.is_of_lanes()
        };
        (0..self.steps.len()).filter(|at| here(&self.steps[*at])).collect()
    }

    /// What surrounds the construct of an arm that these units are: a block that exactly the lanes run that reach
    /// it, else one around the arm that it stands in, at last the call of its function.
    fn around(&self, enclosure: &Enclosure, units: &[usize]) -> Option<Around> {
        let first = &self.units[*units.first()?];
        let path = &self.blocks[first.block].flow.path;
        let here = path.iter().position(|step| key_of(step) == key_of(enclosure))?;
        let outward = path[..=here].iter().rev().enumerate();
        let mut found =
            outward.filter_map(|(steps, step)| Some((self.parent(&first.way, step)?, steps == 0)));
        let (unit, exact) =
            found.next().or_else(|| first.caller.map(|caller| (caller, here == 0)))?;
        Some(Around { unit, ran: self.units[unit].ran, exact })
    }

    /// The unit, by a way of calls, that exactly the lanes run that reach a construct.
    pub(super) fn parent(&self, way: &str, enclosure: &Enclosure) -> Option<usize> {
        let parent = enclosure.parent?.0 as usize;
        self.units.iter().position(|unit| unit.way == way && unit.block == parent)
    }

    /// What an arm does in functions that nothing else calls, where instructions have lines by which copies are
    /// told.
    pub(super) fn called_units(&self, blocks: &[usize]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut left: Vec<usize> = blocks.to_vec();
        while self.is_lined()
            && let Some(block) = left.pop()
        {
            for name in &self.blocks[block].flow.calls {
                let calls = self.blocks.iter().flat_map(|block| &block.flow.calls);
                if calls.filter(|called| *called == name).count() != 1 {
                    continue;
                }
                let inside = |(_, unit): &(usize, &Unit)| {
                    unit.ran.0 > 0 && self.blocks[unit.block].flow.function == *name
                };
                for (at, unit) in self.units.iter().enumerate().filter(inside) {
                    if !found.contains(&at) {
                        found.push(at);
                        left.push(unit.block);
                    }
                }
            }
        }
        found
    }

    /// Whether the code says which lines its instructions are of.
    pub(super) fn is_lined(&self) -> bool {
        self.steps.iter().any(|step| step.line.is_some())
    }

    /// Operations of a unit's block.
    pub(super) fn operations(&self, unit: usize) -> u64 {
        self.blocks[self.units[unit].block].operations
    }
}

impl Around {
    /// Whether something that came to these counts is a whole number of copies of what surrounds it, of a part of its
    /// lanes where more lanes than reach it do that.
    pub(super) fn is_copied(&self, (executions, lanes): (u64, u64)) -> bool {
        let (often, all) = self.ran;
        let times = executions.checked_div(often).unwrap_or(0);
        let whole = times > 1 && executions == often * times;
        whole && if self.exact { lanes == all * times } else { lanes.is_multiple_of(times) }
    }
}
