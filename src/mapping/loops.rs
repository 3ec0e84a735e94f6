//! What became of loops, and of arms that stand in copies of an unrolled one.
//!
//! Input: a loop or an arm that ran, of a dispatch's code beside its source ([`Compared`]). Output: its
//! [`ArmOutcome`], by the rules of [`branches`](super::branches). What guards an arm is [`guards`](super::guards)'.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::ArmOutcome;

use super::branches::{ArmRun, Around, Compared, Guard, Step, StepKind, Unit};
use super::guards::kind_of_guard;
use super::matching::Match;

/// A loop of the code iterates as often as that of the source where it lacks at most one iteration of so many.
const ITERATIONS_ALIKE: u64 = 20;

impl Compared<'_> {
    /// What became of a loop.
    pub(super) fn loop_outcome(&self, arm: &ArmRun<'_>) -> ArmOutcome {
        if let Some(outcome) = self.loop_by_lines(arm) {
            return outcome;
        }
        if arm.ran.iter().any(|unit| self.is_found(*unit)) {
            let loops = self.loops_of(arm);
            let iterates = |at: &usize| innermost(&loops, *at).is_some();
            return match self.steps_of(arm).iter().any(iterates) {
                true => ArmOutcome::Kept,
                false => ArmOutcome::Unrolled,
            };
        }
        let ran = [arm.ran.clone(), self.called_units(arm.blocks)].concat();
        if !self.is_lined() && self.iterates_nearly(&ran) {
            return ArmOutcome::Kept;
        }
        // A loop's ways out may run as what surrounds it does, whatever became of its iterations.
        let mut working = ran.iter().filter(|at| self.operations(**at) > 0).peekable();
        if working.peek().is_some() && working.all(|at| self.matching.blocks[*at] == Match::Merged)
        {
            return ArmOutcome::Merged;
        }
        // A loop is no arm that selects could choose, and its lanes are not masked off in place of a loop.
        let whole =
            |at: &usize| arm.around.is_some_and(|around| around.is_copied(self.units[*at].ran));
        if ran.iter().any(whole) { ArmOutcome::Unrolled } else { ArmOutcome::Folded }
    }

    /// What became of a loop, by where the instructions on lines of its own stand: in loops of the code whose first
    /// instruction ran as often as the loop iterated, or fewer times, each for several iterations at once.
    fn loop_by_lines(&self, arm: &ArmRun<'_>) -> Option<ArmOutcome> {
        let reached = arm.reached();
        let first = arm.blocks.iter().find(|block| arm.direct.contains(*block))?;
        let head = self.blocks[*first].ran;
        // A loop of one iteration for all that reach it is told by nothing.
        if arm.steps.is_empty() || Some(head) == reached {
            return None;
        }
        let mut loops = self.loops();
        loops.retain(|(_, from)| self.steps[*from].ran.0 > 0 && self.steps[*from].on > 0);
        let standing: BTreeSet<(usize, usize)> =
            arm.steps.iter().filter_map(|at| innermost(&loops, *at)).collect();
        let iterated: u64 = standing.iter().map(|(first, _)| self.steps[*first].ran.0).sum();
        // The head runs once more for all that leave there.
        let iterations = head.0.saturating_sub(reached.map_or(0, |reached| reached.0));
        let kept =
            iterated > 0 && iterations * ITERATIONS_ALIKE <= iterated * (ITERATIONS_ALIKE + 1);
        Some(if kept { ArmOutcome::Kept } else { ArmOutcome::Unrolled })
    }

    /// The loops of the code that may be a loop of the source: each iterates oftener than that is reached, or holds nothing
    /// else. Another is one that the loop stands in.
    fn loops_of(&self, arm: &ArmRun<'_>) -> Vec<(usize, usize)> {
        let mut loops = self.loops();
        if let Some((often, _)) = arm.reached() {
            let is_inside = |at: usize| {
                let mut unit = self.matching.instructions[at];
                while let Some(inner) = unit.filter(|unit| !arm.units.contains(unit)) {
                    match self.units[inner].caller {
                        Some(caller) => unit = Some(caller),
                        None => return false,
                    }
                }
                true
            };
            loops.retain(|(first, last)| {
                self.steps[*first].ran.0 > often || (*first..=*last).all(is_inside)
            });
        }
        loops
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

    /// What became of an arm that counts say is flattened or folded, where it may stand in copies: what it stores is
    /// there, or copies of a loop around it each have a branch over it, or selects. What others see is not selected.
    pub(super) fn in_copies(
        &self,
        arm: &ArmRun<'_>,
        ran: &[usize],
        outcome: ArmOutcome,
    ) -> ArmOutcome {
        let has_effect = self.has_effect(arm.blocks);
        if has_effect && let Some(first) = ran.iter().find_map(|at| self.stores_of(*at, ran)) {
            let Step { ran: (_, lanes), on, .. } = self.steps[first];
            return match self.is_lined() && on < lanes {
                true => ArmOutcome::Masked,
                false => self.guard(first, None),
            };
        }
        match outcome {
            ArmOutcome::Flattened if !has_effect => return outcome,
            _ if self.is_lined() => return ArmOutcome::Folded,
            _ => {}
        }
        match self.in_unrolled(arm) {
            Some(ArmOutcome::Flattened) if has_effect => ArmOutcome::Folded,
            found => found.unwrap_or(ArmOutcome::Folded),
        }
    }

    /// The first of the stores or atomics of one operation, one behind the other, that together ran as a unit did that
    /// writes; `None` where another arm's could be these. `ran` are the units of the arm.
    fn stores_of(&self, unit: usize, ran: &[usize]) -> Option<usize> {
        let Unit { block, ran: counts, .. } = &self.units[unit];
        let block = &self.blocks[*block];
        let is_rival = |(at, other): (usize, &Unit)| {
            let other_block = &self.blocks[other.block];
            let is_near = || block.lines.iter().any(|line| other_block.lines.contains(line));
            let writes = other_block.flow.writes && other.ran == *counts;
            writes && !ran.contains(&at) && (!self.is_lined() || is_near())
        };
        let has_none = !block.flow.writes || self.operations(unit) == 0;
        if has_none || self.units.iter().enumerate().any(is_rival) {
            return None;
        }
        let mut stores: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            // What is written for an atomic has no line.
            let is_here = step.line.is_none_or(|line| block.lines.contains(&line));
            if step.writes && step.ran.0 > 0 && is_here {
                stores.entry(&step.operation).or_default().push(at);
            }
        }
        let first = |all: Vec<usize>| {
            (0..all.len())
                .map(|from| &all[from..])
                .find(|some| self.add_up(some, *counts, ran))?
                .first()
                .copied()
        };
        stores.into_values().filter_map(first).min()
    }

    /// Whether the first of these stores add up to such counts. One alone does where it is not another block's.
    fn add_up(&self, stores: &[usize], counts: (u64, u64), ran: &[usize]) -> bool {
        let mut sum = (0, 0);
        for (place, at) in stores.iter().enumerate() {
            let step = &self.steps[*at];
            sum = (sum.0 + step.ran.0, sum.1 + step.on);
            if sum == counts {
                let owner = self.matching.instructions[*at];
                return place > 0 || owner.is_none_or(|owner| ran.contains(&owner));
            }
            if sum.0 > counts.0 || sum.1 > counts.1 {
                return false;
            }
        }
        false
    }

    /// What became of an arm in copies of the loops around it, where what surrounds the arm ran a whole number of times
    /// as what surrounds one of these loops did: that is how many copies there are, if the loop is unrolled.
    fn in_unrolled(&self, arm: &ArmRun<'_>) -> Option<ArmOutcome> {
        let Around { unit, ran: (often, lanes), .. } = arm.around?;
        let entered = self.units[*arm.ran.first()?].ran;
        let mut passed = vec![unit];
        while let Some(outer) = self.outward(passed[passed.len() - 1])
            && !passed.contains(&outer)
        {
            passed.push(outer);
            let ran = self.units[outer].ran;
            let times = often.checked_div(ran.0).unwrap_or(0);
            if times > 1
                && (often, lanes) == (times * ran.0, times * ran.1)
                && let Some(outcome) = self.copies_alike(entered, ran, times)
            {
                return Some(outcome);
            }
        }
        None
    }

    /// The unit that surrounds another one, at last its call.
    fn outward(&self, unit: usize) -> Option<usize> {
        let Unit { way, block, caller, .. } = &self.units[unit];
        let mut outward = self.blocks[*block].flow.path.iter().rev();
        outward.find_map(|enclosure| self.parent(way, enclosure)).or(*caller)
    }

    /// What became of an arm that `entered` so in `times` copies of an iteration, each of which ran as `ran`: as many
    /// branches of one shape, what they lead over adding up to the arm, or selects.
    fn copies_alike(&self, entered: (u64, u64), ran: (u64, u64), times: u64) -> Option<ArmOutcome> {
        let over = |at: usize| match self.steps[at].kind {
            StepKind::Branch(target, guard) => {
                let leads = target > at + 1 && guard != Guard::Always;
                leads.then_some((target, guard))
            }
            _ => None,
        };
        let is_copy = |at: &usize| self.steps[*at].ran.0 == ran.0 && over(*at).is_some();
        let branches: Vec<usize> = (0..self.steps.len()).filter(is_copy).collect();
        let shape = |at: usize| {
            let (target, _) = over(at)?;
            let first = self.steps.get(at + 1)?;
            Some((&self.steps[at].operation, target - at, &first.operation))
        };
        let are_copies = |window: &&[usize]| {
            let add = |sum: (u64, u64), at: &usize| {
                let first = self.steps.get(at + 1);
                first.map_or(sum, |first| (sum.0 + first.ran.0, sum.1 + first.on))
            };
            let alike = window.iter().all(|at| shape(*at) == shape(window[0]));
            alike && window.iter().fold((0, 0), add) == entered
        };
        let copies = branches.windows(usize::try_from(times).ok()?).find(are_copies);
        if let Some((_, guard)) = copies.and_then(|window| over(window[0])) {
            return Some(kind_of_guard(guard));
        }
        let selects = |step: &Step| {
            matches!(step.kind, StepKind::Select | StepKind::ScalarSelect) && step.ran == ran
        };
        self.steps.iter().any(selects).then_some(ArmOutcome::Flattened)
    }

    /// The first instruction of a block that is there in copies.
    pub(super) fn copies(&self, unit: usize) -> Option<usize> {
        let block = &self.blocks[self.units[unit].block];
        let (often, lanes) = block.ran;
        self.groups(&block.lines).into_iter().find_map(|group| {
            let times = group.times(often)?;
            (group.ran.1 == times * lanes).then_some(group.first)
        })
    }

    /// Whether a block's operations are there in every lane of what surrounds it, predicated; the block itself may be
    /// of an unrolled loop or of a function in an arm that so many lanes enter.
    pub(super) fn predicated(&self, unit: usize, enters: u64, parent: usize) -> bool {
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
}

/// The innermost of these loops that an instruction stands in.
fn innermost(loops: &[(usize, usize)], at: usize) -> Option<(usize, usize)> {
    let around = loops.iter().filter(|(to, from)| (*to..=*from).contains(&at));
    around.min_by_key(|(to, from)| from - to).copied()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::branches::{LaneSetting, SourceBlock};
    use crate::mapping::guards::tests::{arms, block, inside, sets, step, writing};
    use crate::record::ConstructPart;

    /// A loop of four iterations with an arm in it that not all lanes take.
    fn source(writes: bool) -> [SourceBlock; 4] {
        let turned = inside(0, ConstructPart::LoopBody, 0);
        let accept = inside(1, ConstructPart::IfAccept, 1);
        let made = if writes { writing } else { block };
        [
            block(&[], (4, 128)),
            block(&[turned], (16, 512)),
            made(&[turned, accept], (16, 500)),
            block(&[], (4, 128)),
        ]
    }

    /// Four copies of an iteration, each from `copy` by the place at which it begins.
    fn unrolled(copy: impl Fn(usize) -> Vec<Step>) -> Vec<Step> {
        let mut steps = vec![step(StepKind::Lanes, (4, 128))];
        for _ in 0..4 {
            steps.extend(copy(steps.len()));
        }
        steps.push(step(StepKind::Lanes, (4, 128)));
        steps
    }

    /// A copy behind a branch.
    fn guarded(begin: usize, guard: Guard, writes: bool) -> Vec<Step> {
        let branch = step(StepKind::Branch(begin + 3, guard), (4, 125));
        let work = Step { writes, ..step(StepKind::Lanes, (4, 125)) };
        let end = sets(LaneSetting::Back, (4, 125));
        vec![sets(LaneSetting::Anew, (4, 128)), branch, work, end]
    }

    #[test]
    fn copies_of_an_arm_are_what_each_copy_is() {
        use ArmOutcome::{Flattened, Folded, Kept, Skipped, Unrolled};
        for (guard, outcome) in [(Guard::Lanes, Skipped), (Guard::Whole, Kept)] {
            let code = unrolled(|begin| guarded(begin, guard, false));
            assert_eq!(arms(&source(false), &code), [Unrolled, outcome]);
        }
        // Selects that ran as what surrounds the loop did.
        let selected = unrolled(|_| vec![step(StepKind::Select, (4, 128))]);
        assert_eq!(arms(&source(false), &selected), [Unrolled, Flattened]);
        let gone = unrolled(|_| vec![step(StepKind::Lanes, (4, 128))]);
        assert_eq!(arms(&source(false), &gone), [Unrolled, Folded]);
        assert_eq!(arms(&source(true), &selected), [Unrolled, Folded]);
    }

    #[test]
    fn stores_that_add_up_to_an_arm_are_its_copies() {
        use ArmOutcome::{Folded, Skipped, Unrolled};
        // Between the branches stands something else, so that these are no copies of one shape.
        let copy = |begin: usize| {
            let mut copy = guarded(begin, Guard::Lanes, true);
            if begin > 5 {
                copy.insert(2, step(StepKind::Scalar, (4, 125)));
                copy[1] = step(StepKind::Branch(begin + 4, Guard::Lanes), (4, 125));
            }
            copy
        };
        assert_eq!(arms(&source(true), &unrolled(copy)), [Unrolled, Skipped]);
        // Another arm stores, and ran alike: whose these are is not known.
        let [before, turned, accept, after] = source(true);
        let other = inside(2, ConstructPart::IfAccept, 1);
        let rival = writing(&[turned.flow.path[0], other], (16, 500));
        let blocks = [before, turned, accept, rival, after];
        assert_eq!(arms(&blocks, &unrolled(copy)), [Unrolled, Folded, Folded]);
    }

    #[test]
    fn a_loop_around_is_not_the_loop() {
        // A loop of one iteration in a loop: the code has the outer one.
        let outer = inside(0, ConstructPart::LoopBody, 0);
        let inner = inside(1, ConstructPart::LoopBody, 1);
        let blocks = [
            block(&[], (4, 128)),
            block(&[outer], (40, 1280)),
            block(&[outer, inner], (40, 1000)),
            block(&[outer], (40, 1280)),
            block(&[], (4, 128)),
        ];
        let steps = [
            step(StepKind::Lanes, (4, 128)),
            step(StepKind::Lanes, (40, 1280)),
            step(StepKind::Lanes, (40, 1000)),
            step(StepKind::Lanes, (40, 1280)),
            step(StepKind::Branch(1, Guard::Whole), (40, 1280)),
            step(StepKind::Lanes, (4, 128)),
        ];
        assert_eq!(arms(&blocks, &steps), [ArmOutcome::Kept, ArmOutcome::Unrolled]);
    }
}
