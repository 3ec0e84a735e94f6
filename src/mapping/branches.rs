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
//! | `masked` | they are there, and nothing leads over them; or none ran as the arm did, but instructions ran as often as what surrounds it, with the arm's lanes, the others masked or predicated off; or most of what stands on its lines is predicated off in some lanes; no loop is |
//! | `flattened` | none are there, and where what surrounds it ran, or on the construct's lines, there are selects, or what is predicated overwrites what every lane has; no loop is |
//! | `unrolled` | a loop's body ran a whole number of times as often as what surrounds it, with lanes to match, and is not there as one; or it stands in copies: what is on its lines is in no loop of the code, or in one that iterates fewer times |
//! | `folded` | none ran as it did, and there is no select either |
//! | `merged` | it ran as often and with as many lanes as what surrounds it, or as another arm, so that counts do not tell them apart: neither is said to be in the code where either could be |
//!
//! Where instructions have lines (NVIDIA's do, AMD's do not), a block whose counts no instruction has may be
//! there in copies: instructions of one operation on one of its lines whose counts add up to the block's, or to
//! a whole number of times that. Nothing off a construct's lines is taken for an arm of it there, but for what reaches
//! memory without a line, as atomics do.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{Arm, ArmOutcome, Block, Call, ConstructPart, Enclosure, Flow, NearBlock};

use super::matching::{LanesOff, Match, Matching, Ran, snap};

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

/// A loop of the code iterates as often as that of the source where it lacks at most one iteration of so many.
const ITERATIONS_ALIKE: u64 = 20;

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
    fn is_of_lanes(self) -> bool {
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
    /// Whether it sets which lanes are on, without a branch: AMD's EXEC.
    pub sets_lanes: bool,
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
        let matching = Matching::of_working(&ran, &operations, &machine, &works);
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

/// What surrounds a construct.
#[derive(Clone, Copy, Debug)]
struct Around {
    /// The unit.
    unit: usize,
    /// Its executions and lanes.
    ran: (u64, u64),
    /// Whether exactly these lanes reach the construct; else those and perhaps more.
    exact: bool,
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
            let Enclosure { construct, part, case, line, .. } = *enclosure;
            arms.extend(outcomes.into_iter().map(|outcome| Arm {
                construct,
                part,
                case,
                line,
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
        let surroundings = self.around(enclosure, &units);
        let around = surroundings.filter(|around| around.exact).map(|around| around.ran);
        let is_loop = enclosure.part == ConstructPart::LoopBody;
        if is_loop && let Some(outcome) = self.loop_outcome(enclosure, blocks, around) {
            return outcome;
        }
        let there = |at: &usize| {
            let found = self.matching.blocks[*at] == Match::Found && self.operations(*at) > 0;
            found && (!self.is_lined() || self.does_work(*at))
        };
        if ran.iter().any(there) {
            let of_arm = |at: &usize| {
                let unit = self.matching.instructions[*at];
                unit.is_some_and(|unit| ran.contains(&unit) && self.operations(unit) > 0)
            };
            let those: Vec<usize> = (0..self.steps.len()).filter(of_arm).collect();
            if is_loop {
                let loops = self.loops();
                let iterates = those.iter().any(|at| innermost(&loops, *at).is_some());
                return if iterates { ArmOutcome::Kept } else { ArmOutcome::Unrolled };
            }
            if let Some(guard) =
                self.guard_of_arm(&those, &self.direct(enclosure, blocks).collect())
            {
                return kind_of_guard(guard);
            }
            return self.guard(those.first().copied().unwrap_or(0), around);
        }
        let all_came = |at: &usize| Some(self.units[*at].ran) == around;
        let steps = self.own_steps(enclosure, blocks);
        let ran = &[ran, self.called_units(blocks)].concat();
        if !ran.iter().any(all_came) {
            if !is_loop && let Some(first) = ran.iter().find_map(|at| self.copies(*at)) {
                return self.guard(first, None);
            }
            // Of arms that ran alike, the one on whose lines it stands.
            let alike =
                |at: &&usize| ran.iter().any(|unit| self.units[*unit].ran == self.steps[**at].ran);
            if !is_loop && let Some(first) = steps.iter().find(alike) {
                return self.guard(*first, None);
            }
        }
        self.outcome_without_code(enclosure, ran, surroundings, &steps)
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

    /// What became of a loop, by where the instructions on lines of its own stand: in loops of the code whose first
    /// instruction ran as often as the loop iterated, or fewer times, each for several iterations at once.
    fn loop_outcome(
        &self,
        enclosure: &Enclosure,
        blocks: &[usize],
        around: Option<(u64, u64)>,
    ) -> Option<ArmOutcome> {
        let own_steps = self.own_steps(enclosure, blocks);
        let head = self.blocks[self.direct(enclosure, blocks).next()?].ran;
        // A loop of one iteration for all that reach it is told by nothing.
        if own_steps.is_empty() || Some(head) == around {
            return None;
        }
        let mut loops = self.loops();
        loops.retain(|(_, from)| self.steps[*from].ran.0 > 0 && self.steps[*from].on > 0);
        let standing: BTreeSet<(usize, usize)> =
            own_steps.iter().filter_map(|at| innermost(&loops, *at)).collect();
        let iterated: u64 = standing.iter().map(|(first, _)| self.steps[*first].ran.0).sum();
        // The head runs once more for all that leave there.
        let iterations = head.0.saturating_sub(around.map_or(0, |around| around.0));
        let kept =
            iterated > 0 && iterations * ITERATIONS_ALIKE <= iterated * (ITERATIONS_ALIKE + 1);
        Some(if kept { ArmOutcome::Kept } else { ArmOutcome::Unrolled })
    }

    /// Whether a loop of the code iterates about as often as one of which these units are, with about as many lanes, and has
    /// no instruction of another block: where floating point is rounded otherwise, no count is the same.
    fn iterates_nearly(&self, ran: &[usize]) -> bool {
        let Some(head) = ran.iter().map(|at| self.units[*at].ran).max() else { return false };
        let near = |a: u64, b: u64| a.abs_diff(b) * ITERATIONS_ALIKE <= a.max(b);
        let is_own =
            |at: usize| self.matching.instructions[at].is_none_or(|unit| ran.contains(&unit));
        self.loops().iter().any(|(first, last)| {
            let (often, lanes) = self.steps[*first].ran;
            near(often, head.0) && near(lanes, head.1) && (*first..=*last).all(is_own)
        })
    }

    /// The loops of the code: each from what a branch leads back to, to the branch.
    fn loops(&self) -> Vec<(usize, usize)> {
        let leads_back = |(from, step): (usize, &Step)| match step.kind {
            StepKind::Branch(to, _) => (to <= from).then_some((to, from)),
            _ => None,
        };
        self.steps.iter().enumerate().filter_map(leads_back).collect()
    }

    /// Whether most of these instructions are predicated off in some lanes.
    fn are_off(&self, steps: &[usize]) -> bool {
        let off = steps.iter().filter(|at| self.steps[**at].on < self.steps[**at].ran.1).count();
        2 * off > steps.len()
    }

    /// Whether these instructions ran with about the lanes of an arm, rather than with those of what surrounds it.
    fn are_fewer(&self, steps: &[usize], arm: (u64, u64), around: (u64, u64)) -> bool {
        let sum = |(often, lanes): (u128, u128), at: &usize| {
            let ran = self.steps[*at].ran;
            (often + u128::from(ran.0), lanes + u128::from(ran.1))
        };
        let ran = steps.iter().fold((0, 0), sum);
        let wide = |(often, lanes): (u64, u64)| (u128::from(often), u128::from(lanes));
        // lanes / often below the middle of both.
        let ((a, a_lanes), (b, b_lanes)) = (wide(arm), wide(around));
        ran.0 > 0 && 2 * ran.1 * a * b < ran.0 * (a_lanes * b + b_lanes * a)
    }

    /// The lines of a construct: that of its condition, those of its arms, and those of what they call.
    fn construct_lines(&self, enclosure: &Enclosure) -> BTreeSet<u32> {
        let is_in = |block: &&SourceBlock| {
            block.flow.path.iter().any(|step| step.construct == enclosure.construct)
        };
        let mut left: Vec<&SourceBlock> = self.blocks.iter().filter(is_in).collect();
        let mut lines = BTreeSet::from([enclosure.line]);
        let mut called: BTreeSet<&str> = BTreeSet::new();
        while let Some(block) = left.pop() {
            lines.extend(&block.lines);
            for name in block.flow.calls.iter().filter(|name| called.insert(name)) {
                left.extend(self.blocks.iter().filter(|block| block.flow.function == *name));
            }
        }
        lines
    }

    /// What surrounds the construct of an arm that these units are: a block that exactly the lanes run that reach
    /// it, else one around the arm that it stands in, at last the call of its function.
    fn around(&self, enclosure: &Enclosure, units: &[usize]) -> Option<Around> {
        let first = &self.units[*units.first()?];
        let unit_of = |parent: usize| {
            self.units.iter().position(|unit| unit.way == first.way && unit.block == parent)
        };
        let path = &self.blocks[first.block].flow.path;
        let here = path.iter().position(|step| key_of(step) == key_of(enclosure))?;
        let outward = path[..=here].iter().rev().enumerate();
        let mut found = outward
            .filter_map(|(steps, step)| Some((unit_of(step.parent?.0 as usize)?, steps == 0)));
        let (unit, exact) =
            found.next().or_else(|| first.caller.map(|caller| (caller, here == 0)))?;
        Some(Around { unit, ran: self.units[unit].ran, exact })
    }

    /// What an arm does in functions that nothing else calls, where instructions have lines by which copies are
    /// told.
    fn called_units(&self, blocks: &[usize]) -> Vec<usize> {
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

    /// What leads over the instruction at which an arm begins.
    fn guard(&self, first: usize, around: Option<(u64, u64)>) -> ArmOutcome {
        if let Some(guard) = self.own_guard(first) {
            return kind_of_guard(guard);
        }
        for at in (0..=first).rev() {
            let Some((target, guard)) = self.branch(at) else { continue };
            if target <= first {
                continue;
            }
            if guard == Guard::Always {
                // The end of an arm before this one: what leads here decides.
                let leads = |from: &usize| match self.steps[*from].kind {
                    StepKind::Table(_) => true,
                    _ => self.branch(*from).is_some_and(|(to, _)| to > at && to <= first),
                };
                let from = (0..at).rev().find(leads).and_then(|from| self.branch(from));
                return from.map_or(ArmOutcome::Kept, |(_, guard)| kind_of_guard(guard));
            }
            let (often, lanes) = self.steps[at].ran;
            let ran = self.steps[first].ran;
            let fits = match around {
                _ if !self.masks => often >= ran.0 && lanes >= ran.1,
                Some((around, _)) => often == around,
                None => true,
            };
            match (fits, self.masks) {
                (true, _) => return kind_of_guard(guard),
                (false, true) => return ArmOutcome::Masked,
                // Without masks only a branch can have led the other lanes away.
                (false, false) => {}
            }
        }
        match self.masks {
            true => ArmOutcome::Masked,
            // Nobody went another way.
            false if around == Some(self.steps[first].ran) => ArmOutcome::Merged,
            false => ArmOutcome::Skipped,
        }
    }

    /// The branch over the first of an arm's instructions that has one of its own, of those of its direct blocks: what
    /// leads to the branch may have the arm's counts, too.
    fn guard_of_arm(&self, those: &[usize], direct: &BTreeSet<usize>) -> Option<Guard> {
        let is_direct = |at: &&usize| {
            let unit = self.matching.instructions[**at];
            unit.is_some_and(|unit| direct.contains(&self.units[unit].block))
        };
        let direct = those.iter().filter(is_direct).filter(|at| self.steps[**at].kind.works());
        direct.copied().find_map(|at| self.own_guard(at))
    }

    /// The branch over an instruction that stands behind whatever set its lanes, where lanes can be set: it leads over
    /// just what these lanes do.
    fn own_guard(&self, first: usize) -> Option<Guard> {
        for at in (0..first).rev().take_while(|_| self.masks) {
            match self.branch(at) {
                Some((target, guard)) if target > first => {
                    return (guard != Guard::Always).then_some(guard);
                }
                _ if self.steps[at].sets_lanes => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether the code says which lines its instructions are of.
    fn is_lined(&self) -> bool {
        self.steps.iter().any(|step| step.line.is_some())
    }

    /// Whether one of the instructions that are taken for a unit does more than lead lanes about.
    fn does_work(&self, unit: usize) -> bool {
        let mut pairs = self.matching.instructions.iter().zip(self.steps);
        pairs.any(|(owner, step)| *owner == Some(unit) && step.kind.works())
    }

    /// Operations of a unit's block.
    fn operations(&self, unit: usize) -> u64 {
        self.blocks[self.units[unit].block].operations
    }

    /// Where a branch leads that is no loop's, and when.
    fn branch(&self, at: usize) -> Option<(usize, Guard)> {
        match self.steps[at].kind {
            StepKind::Branch(target, guard) => (target > at).then_some((target, guard)),
            StepKind::Table(guard) => Some((usize::MAX, guard)),
            _ => None,
        }
    }

    /// The first instruction of a block that is there in copies.
    fn copies(&self, unit: usize) -> Option<usize> {
        let block = &self.blocks[self.units[unit].block];
        let (often, lanes) = block.ran;
        self.groups(&block.lines).into_iter().find_map(|group| {
            let times = group.times(often)?;
            (group.ran.1 == times * lanes).then_some(group.first)
        })
    }

    /// Whether a block's operations are there in every lane of what surrounds it, predicated; the block itself may be
    /// of an unrolled loop or of a function in an arm that so many lanes enter.
    fn predicated(&self, unit: usize, enters: u64, parent: usize) -> bool {
        let block = &self.blocks[self.units[unit].block];
        let (often, _) = self.blocks[self.units[parent].block].ran;
        self.groups(&block.lines).into_iter().any(|group| {
            let times = group.times(often);
            let lanes = |times: u64| [block.ran.1, enters].contains(&(group.on / times.max(1)));
            let exact = times.is_some_and(|times| group.on.is_multiple_of(times) && lanes(times));
            group.on < group.ran.1 && exact
        })
    }

    /// Instructions that ran, of one operation on one line.
    fn groups(&self, lines: &[u32]) -> Vec<Group> {
        let mut groups: BTreeMap<(u32, &str), Group> = BTreeMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            let Some(line) = step.line.filter(|line| lines.contains(line)) else { continue };
            if !step.kind.is_of_lanes() || step.ran.0 == 0 {
                continue;
            }
            let new = Group { first: at, members: 0, ran: (0, 0), on: 0 };
            let group = groups.entry((line, &step.operation)).or_insert(new);
            group.members += 1;
            group.ran = (group.ran.0 + step.ran.0, group.ran.1 + step.ran.1);
            group.on += step.on;
        }
        groups.into_values().collect()
    }

    fn outcome_without_code(
        &self,
        enclosure: &Enclosure,
        ran: &[usize],
        around: Option<Around>,
        steps: &[usize],
    ) -> ArmOutcome {
        let units = || ran.iter().map(|at| &self.units[*at]);
        let merged =
            |at: &usize| self.matching.blocks[*at] == Match::Merged && self.operations(*at) > 0;
        let working: Vec<usize> =
            ran.iter().copied().filter(|at| self.operations(*at) > 0).collect();
        let is_loop = enclosure.part == ConstructPart::LoopBody;
        if is_loop && !self.is_lined() && self.iterates_nearly(ran) {
            return ArmOutcome::Kept;
        }
        // A loop's ways out may run as what surrounds it does, whatever became of its iterations.
        let all_merged = !working.is_empty() && working.iter().all(merged);
        if all_merged || (!is_loop && ran.iter().any(merged)) {
            return if !is_loop && self.are_off(steps) {
                ArmOutcome::Masked
            } else {
                ArmOutcome::Merged
            };
        }
        if is_loop {
            // A loop is no arm that selects could choose, and its lanes are not masked off in place of a loop.
            let whole = |unit: &Unit| around.is_some_and(|around| around.is_copied(unit.ran));
            return if units().any(whole) { ArmOutcome::Unrolled } else { ArmOutcome::Folded };
        }
        let lines = self.construct_lines(enclosure);
        let lined = self.is_lined();
        // What is written for an atomic has no line.
        let is_on_lines = |step: &Step| match step.line {
            Some(line) => lines.contains(&line),
            None => !lined || step.kind == StepKind::Memory,
        };
        let least = units().map(|unit| unit.ran.1).max().unwrap_or(0);
        let Some(Around { unit: parent, ran: (often, lanes), .. }) = around else {
            return self.selects(None, least, &lines);
        };
        let masked = |unit: &Unit| {
            let fewer = unit.ran.1 < lanes;
            let ran = |step: &Step| step.ran.0 == often && step.on == unit.ran.1;
            let found = |step: &Step| step.kind.is_of_lanes() && ran(step) && is_on_lines(step);
            self.steps.iter().position(|step| fewer && found(step))
        };
        if let Some(first) = units().find_map(masked) {
            // Every subgroup came there; where lanes are masked, a branch may lead over it all the same.
            return match self.masks {
                true => self.guard(first, Some((often, lanes))),
                false => ArmOutcome::Masked,
            };
        }
        let enters = units().next().map_or(0, |unit| unit.ran.1);
        if ran.iter().any(|at| self.predicated(*at, enters, parent)) || self.are_off(steps) {
            return ArmOutcome::Masked;
        }
        if let Some(arm) = units().next()
            && self.are_fewer(steps, arm.ran, (often, lanes))
        {
            return self.guard(steps[0], None);
        }
        match self.selects(Some((often, lanes)), least, &lines) {
            // What surrounds it may be flattened itself, into what surrounds that.
            ArmOutcome::Folded if !self.matching.blocks[parent].is_there() => {
                self.selects(None, least, &lines)
            }
            outcome => outcome,
        }
    }

    /// Whether selects ran with at least so many lanes as an arm, where what surrounds it did or in a part of that,
    /// or anywhere where that is not known; where the code has lines, on one of the construct's, on which an
    /// instruction that is predicated chooses too: it overwrites what every lane has computed.
    fn selects(&self, around: Option<(u64, u64)>, least: u64, lines: &BTreeSet<u32>) -> ArmOutcome {
        let lined = self.is_lined();
        let is_on_lines = |step: &Step| step.line.is_some_and(|line| lines.contains(&line));
        let here = |step: &Step| match around {
            Some(around) if step.ran == around => true,
            _ if lined => is_on_lines(step),
            // In an arm of what surrounds it, chosen by selects among others: with these lanes, and as often.
            Some((often, lanes)) => step.ran.0 == often && (least..=lanes).contains(&step.on),
            None => step.on >= least,
        };
        let chooses = |step: &Step| match step.kind {
            StepKind::Select | StepKind::ScalarSelect => here(step),
            StepKind::Memory | StepKind::Lanes => step.on < step.ran.1 && is_on_lines(step),
            _ => false,
        };
        let found = |step: &Step| step.ran.0 > 0 && chooses(step);
        if self.steps.iter().any(found) { ArmOutcome::Flattened } else { ArmOutcome::Folded }
    }
}

/// The innermost of these loops that an instruction stands in.
fn innermost(loops: &[(usize, usize)], at: usize) -> Option<(usize, usize)> {
    let around = loops.iter().filter(|(to, from)| (*to..=*from).contains(&at));
    around.min_by_key(|(to, from)| from - to).copied()
}

impl Around {
    /// Whether something that came to these counts is a whole number of copies of what surrounds it, of a part of its
    /// lanes where more lanes than reach it do that.
    fn is_copied(&self, (executions, lanes): (u64, u64)) -> bool {
        let (often, all) = self.ran;
        let times = executions.checked_div(often).unwrap_or(0);
        let whole = times > 1 && executions == often * times;
        whole && if self.exact { lanes == all * times } else { lanes.is_multiple_of(times) }
    }
}

/// Instructions of one operation on one line, together.
struct Group {
    first: usize,
    members: u64,
    ran: (u64, u64),
    on: u64,
}

impl Group {
    /// How many of its instructions a copy has, where copies of something that ran `often` add up to it.
    fn times(&self, often: u64) -> Option<u64> {
        let times = self.ran.0.checked_div(often)?;
        let whole = times > 0 && self.ran.0 == times * often;
        (whole && self.members.is_multiple_of(times)).then_some(times)
    }
}

fn kind_of_guard(guard: Guard) -> ArmOutcome {
    match guard {
        Guard::Lanes => ArmOutcome::Skipped,
        Guard::Always | Guard::Whole => ArmOutcome::Kept,
    }
}
