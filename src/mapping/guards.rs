//! What guards an arm: a branch over it, lanes that are switched off, or a select.
//!
//! Input: an arm that ran, of a dispatch's code beside its source ([`Compared`]). Output: its [`ArmOutcome`], by the
//! rules of [`branches`](super::branches). Loops, and what stands in copies, are [`loops`](super::loops)'.

use std::collections::BTreeSet;

use crate::record::{ArmOutcome, Enclosure};

use super::branches::{
    ArmRun, Around, Compared, Guard, LaneSetting, SourceBlock, Step, StepKind, Unit,
};
use super::matching::Match;

impl Compared<'_> {
    /// What leads over an arm, by the instructions on its lines that ran as it did; `None` where the code has no lines,
    /// none ran so, or most of them are predicated off.
    ///
    /// Where arms ran alike, counts do not say which stands first: lines do.
    pub(super) fn guard_by_lines(&self, arm: &ArmRun<'_>) -> Option<ArmOutcome> {
        if !self.is_lined() {
            return None;
        }
        let reached = arm.reached();
        let direct = arm.ran.iter().filter(|at| arm.direct.contains(&self.units[**at].block));
        let entered: BTreeSet<(u64, u64)> = direct.clone().map(|at| self.units[*at].ran).collect();
        if let Some(reached) = reached
            && let Some(guard) = self.branch_of_lines(arm, reached, &entered)
        {
            return Some(kind_of_guard(guard));
        }
        let working = direct.filter(|at| self.operations(**at) > 0);
        let worked: BTreeSet<(u64, u64)> = working.map(|at| self.units[*at].ran).collect();
        let first = arm.steps.iter().find(|at| worked.contains(&self.steps[**at].ran))?;
        (!self.are_off(&arm.steps)).then(|| self.guard(*first, reached))
    }

    /// The branch that ran as what surrounds an arm did and leads over instructions on its lines that ran as the arm
    /// did, or to them from before another arm. What was moved before the branch is none of them.
    fn branch_of_lines(
        &self,
        arm: &ArmRun<'_>,
        reached: (u64, u64),
        entered: &BTreeSet<(u64, u64)>,
    ) -> Option<Guard> {
        let lines = |inside: bool| -> BTreeSet<u32> {
            let blocks = self.blocks.iter().enumerate();
            let of_arm = blocks.filter(|(at, _)| arm.blocks.contains(at) == inside);
            of_arm.flat_map(|(_, block)| block.lines.iter().copied()).collect()
        };
        let (lines, others) = (lines(true), lines(false));
        let is_of_arm = |at: &usize| {
            let step = &self.steps[*at];
            let is_there =
                step.line.is_some_and(|line| lines.contains(&line) && !others.contains(&line));
            let alike = step.ran != reached && entered.contains(&step.ran);
            is_there && alike && step.kind.is_of_lanes()
        };
        let steps: Vec<usize> = (0..self.steps.len()).filter(is_of_arm).collect();
        if self.are_off(&steps) {
            return None;
        }
        steps.into_iter().find_map(|first| {
            let asks = |at: &usize| {
                let guard = self.branch(*at).map(|(_, guard)| guard);
                self.steps[*at].ran == reached && guard.is_some_and(|guard| guard != Guard::Always)
            };
            let (target, guard) = self.branch((0..first).rev().find(asks)?)?;
            // What is led to from over another arm stands behind that arm's end.
            let ends_before = || {
                let end = self.branch(target.checked_sub(1)?)?;
                (end.1 == Guard::Always && end.0 > first).then_some(())
            };
            (target > first || ends_before().is_some()).then_some(guard)
        })
    }

    /// What leads over an arm of which instructions are there.
    pub(super) fn guard_of_found(&self, arm: &ArmRun<'_>) -> ArmOutcome {
        let those = self.steps_of(arm);
        if let Some(guard) = self.guard_of_arm(&those, &arm.direct) {
            return kind_of_guard(guard);
        }
        let first = those.first().copied().unwrap_or(0);
        let is_direct = |at: &usize| arm.direct.contains(&self.units[*at].block);
        let direct = arm.ran.iter().filter(|at| is_direct(at)).map(|at| self.units[*at].ran).max();
        let entered = direct.unwrap_or(self.units[arm.ran[0]].ran);
        // Of an arm in it alone: a branch right over that is not this arm's.
        let begins = self.matching.instructions.get(first).copied().flatten();
        let is_inner = begins.is_none_or(|unit| !is_direct(&unit))
            && arm.around.is_some_and(|around| self.matching.blocks[around.unit].is_there());
        let reached = arm.reached();
        let guarded = if is_inner { None } else { self.own_guard(first) };
        let outcome = match guarded {
            Some(guard) => kind_of_guard(guard),
            None => self.guard_before(first, reached, Some(entered)),
        };
        // Nobody was switched off: the compiler asks for no condition.
        if self.masks
            && outcome == ArmOutcome::Masked
            && reached == Some(entered)
            && !self.is_narrowed(first)
        {
            return match self.has_effect(arm.blocks) {
                true => ArmOutcome::Merged,
                false => ArmOutcome::Flattened,
            };
        }
        outcome
    }

    /// Whether lanes were last set, before an instruction, to fewer than came there.
    fn is_narrowed(&self, first: usize) -> bool {
        let mut before = self.steps[..first].iter().rev().map(|step| step.sets_lanes);
        let last = before.find(|set| *set != LaneSetting::Unchanged);
        last.is_some_and(|set| set != LaneSetting::Back)
    }

    /// What leads over the instruction at which an arm begins.
    pub(super) fn guard(&self, first: usize, around: Option<(u64, u64)>) -> ArmOutcome {
        match self.own_guard(first) {
            Some(guard) => kind_of_guard(guard),
            None => self.guard_before(first, around, None),
        }
    }

    /// The same, by the branches before it. Where it is known what `entered` the arm, those that ran no oftener, with no
    /// more lanes, are of arms in it.
    fn guard_before(
        &self,
        first: usize,
        around: Option<(u64, u64)>,
        entered: Option<(u64, u64)>,
    ) -> ArmOutcome {
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
            let is_inside = entered.is_some_and(|entered| often <= entered.0 && lanes <= entered.1);
            match (fits, self.masks) {
                (true, _) => return kind_of_guard(guard),
                (false, true) if !is_inside => return ArmOutcome::Masked,
                // Without masks only a branch can have led the other lanes away.
                (false, _) => {}
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
                _ if self.steps[at].sets_lanes != LaneSetting::Unchanged => return None,
                _ => {}
            }
        }
        None
    }

    /// Where a branch leads that is no loop's, and when.
    pub(super) fn branch(&self, at: usize) -> Option<(usize, Guard)> {
        match self.steps[at].kind {
            StepKind::Branch(target, guard) => (target > at).then_some((target, guard)),
            StepKind::Table(guard) => Some((usize::MAX, guard)),
            _ => None,
        }
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

    /// What became of an arm none of whose blocks is there; `ran` are its units with those of what it calls.
    pub(super) fn outcome_without_code(&self, arm: &ArmRun<'_>, ran: &[usize]) -> ArmOutcome {
        let units = || ran.iter().map(|at| &self.units[*at]);
        let merged =
            |at: &usize| self.matching.blocks[*at] == Match::Merged && self.operations(*at) > 0;
        if ran.iter().any(merged) {
            return match self.are_off(&arm.steps) {
                true => ArmOutcome::Masked,
                false => ArmOutcome::Merged,
            };
        }
        let lines = self.construct_lines(arm.enclosure);
        let lined = self.is_lined();
        // What is written for an atomic has no line.
        let is_on_lines = |step: &Step| match step.line {
            Some(line) => lines.contains(&line),
            None => !lined || step.kind == StepKind::Memory,
        };
        let least = units().map(|unit| unit.ran.1).max().unwrap_or(0);
        let Some(Around { unit: parent, ran: (often, lanes), .. }) = arm.around else {
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
        if ran.iter().any(|at| self.predicated(*at, enters, parent)) || self.are_off(&arm.steps) {
            return ArmOutcome::Masked;
        }
        if let Some(entered) = units().next()
            && self.are_fewer(&arm.steps, entered.ran, (often, lanes))
        {
            return self.guard(arm.steps[0], None);
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

/// What a branch over an arm makes of it.
pub(super) fn kind_of_guard(guard: Guard) -> ArmOutcome {
    match guard {
        Guard::Lanes => ArmOutcome::Skipped,
        Guard::Always | Guard::Whole => ArmOutcome::Kept,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mapping::branches::{SideBySide, units};
    use crate::record::{ConditionClass, ConstructPart, Flow};
    use crate::units::BlockId;

    /// An arm of a construct that the lanes of a block reach.
    pub(in crate::mapping) fn inside(
        construct: u32,
        part: ConstructPart,
        parent: u32,
    ) -> Enclosure {
        let (line, condition) = (construct + 1, ConditionClass::Data);
        let parent = Some(BlockId(parent));
        Enclosure { construct, part, case: 0, line, condition, parent, operator: None }
    }

    /// A block of `main` with what it ran.
    pub(in crate::mapping) fn block(path: &[Enclosure], ran: (u64, u64)) -> SourceBlock {
        let flow = Flow {
            function: "main".to_owned(),
            path: path.to_vec(),
            path_shared: 0,
            after: None,
            leaves: None,
            barrier: false,
            writes: false,
            calls: Vec::new(),
            call_lines: Vec::new(),
        };
        SourceBlock { operations: 1, lines: Vec::new(), flow, ran }
    }

    /// The same of one that stores.
    pub(in crate::mapping) fn writing(path: &[Enclosure], ran: (u64, u64)) -> SourceBlock {
        let mut block = block(path, ran);
        block.flow.writes = true;
        block
    }

    /// An instruction of AMD's.
    pub(in crate::mapping) fn step(kind: StepKind, ran: (u64, u64)) -> Step {
        let sets_lanes = LaneSetting::Unchanged;
        let operation = format!("{kind:?}").split('(').next().unwrap_or_default().to_owned();
        Step { ran, on: ran.1, line: None, operation, kind, writes: false, sets_lanes }
    }

    /// One that sets which lanes are on.
    pub(in crate::mapping) fn sets(sets_lanes: LaneSetting, ran: (u64, u64)) -> Step {
        Step { sets_lanes, ..step(StepKind::Control, ran) }
    }

    /// What became of each arm where lanes can be masked.
    pub(in crate::mapping) fn arms(blocks: &[SourceBlock], steps: &[Step]) -> Vec<ArmOutcome> {
        let units = units(blocks, "main", &[]);
        let found = SideBySide::new(blocks, units, steps, None, true);
        found.arms.iter().map(|arm| arm.outcome).collect()
    }

    #[test]
    fn a_branch_over_an_arm_within_is_not_over_the_arm() {
        let accept = inside(0, ConstructPart::IfAccept, 0);
        let reject = inside(0, ConstructPart::IfReject, 0);
        let inner = inside(1, ConstructPart::IfAccept, 2);
        let asked = SourceBlock { operations: 0, ..block(&[reject], (15, 480)) };
        let blocks = [
            block(&[], (16, 512)),
            block(&[accept], (1, 32)),
            asked,
            block(&[reject, inner], (15, 15)),
            block(&[], (16, 512)),
        ];
        let steps = [
            step(StepKind::Lanes, (16, 512)),
            step(StepKind::Branch(5, Guard::Whole), (16, 512)),
            step(StepKind::Lanes, (1, 32)),
            step(StepKind::Lanes, (1, 32)),
            step(StepKind::Branch(9, Guard::Always), (1, 32)),
            sets(LaneSetting::Anew, (15, 480)),
            step(StepKind::Branch(8, Guard::Lanes), (15, 15)),
            step(StepKind::Lanes, (15, 15)),
            sets(LaneSetting::Back, (15, 15)),
            step(StepKind::Lanes, (16, 512)),
        ];
        assert_eq!(
            arms(&blocks, &steps),
            [ArmOutcome::Kept, ArmOutcome::Kept, ArmOutcome::Skipped]
        );
    }

    #[test]
    fn an_arm_is_masked_where_lanes_are_switched_off() {
        // All lanes take an arm that is a loop; the code asks for no condition, or switches off who does not take it.
        let accept = inside(0, ConstructPart::IfAccept, 0);
        let turned = inside(1, ConstructPart::LoopBody, 1);
        let blocks = |writes: bool| {
            let mut looped = block(&[accept, turned], (40, 1280));
            looped.flow.writes = writes;
            [block(&[], (4, 128)), block(&[accept], (4, 128)), looped, block(&[], (4, 128))]
        };
        let plain = [
            step(StepKind::Lanes, (4, 128)),
            step(StepKind::Lanes, (40, 1280)),
            step(StepKind::Branch(1, Guard::Whole), (40, 1280)),
            step(StepKind::Lanes, (4, 128)),
        ];
        assert_eq!(arms(&blocks(false), &plain), [ArmOutcome::Flattened, ArmOutcome::Kept]);
        // What stores is not done for whoever does not ask for it.
        assert_eq!(arms(&blocks(true), &plain), [ArmOutcome::Merged, ArmOutcome::Kept]);
        let narrowed = [
            step(StepKind::Lanes, (4, 128)),
            sets(LaneSetting::Anew, (4, 128)),
            step(StepKind::Lanes, (40, 1280)),
            step(StepKind::Branch(2, Guard::Whole), (40, 1280)),
            step(StepKind::Lanes, (4, 128)),
        ];
        assert_eq!(arms(&blocks(false), &narrowed), [ArmOutcome::Masked, ArmOutcome::Kept]);
    }

    #[test]
    fn arms_side_by_side_are_told_apart_where_lanes_turn() {
        let accept = inside(0, ConstructPart::IfAccept, 0);
        let reject = inside(0, ConstructPart::IfReject, 0);
        let blocks = [
            block(&[], (4, 128)),
            writing(&[accept], (4, 64)),
            writing(&[reject], (4, 64)),
            block(&[], (4, 128)),
        ];
        let with = |turn: LaneSetting| {
            let steps = [
                step(StepKind::Lanes, (4, 128)),
                sets(LaneSetting::Anew, (4, 128)),
                step(StepKind::Branch(4, Guard::Lanes), (4, 64)),
                step(StepKind::Lanes, (4, 64)),
                sets(turn, (4, 64)),
                step(StepKind::Branch(7, Guard::Lanes), (4, 64)),
                step(StepKind::Lanes, (4, 64)),
                sets(LaneSetting::Back, (4, 64)),
                step(StepKind::Lanes, (4, 128)),
            ];
            arms(&blocks, &steps)
        };
        assert_eq!(with(LaneSetting::Others), [ArmOutcome::Skipped; 2]);
        assert_eq!(with(LaneSetting::Anew), [ArmOutcome::Merged; 2]);
    }

    #[test]
    fn what_stores_is_not_selected() {
        let accept = inside(0, ConstructPart::IfAccept, 0);
        let steps = [
            step(StepKind::Lanes, (4, 128)),
            step(StepKind::Select, (4, 128)),
            step(StepKind::Lanes, (4, 128)),
        ];
        let around = || block(&[], (4, 128));
        let computes = [around(), block(&[accept], (4, 64)), around()];
        assert_eq!(arms(&computes, &steps), [ArmOutcome::Flattened]);
        let stores = [around(), writing(&[accept], (4, 64)), around()];
        assert_eq!(arms(&stores, &steps), [ArmOutcome::Folded]);
        // By a function that it calls, or by a barrier.
        let mut calls = computes.clone();
        calls[1].flow.calls = vec!["put".to_owned()];
        calls[1].flow.call_lines = vec![3];
        let mut put = writing(&[], (4, 64));
        put.flow.function = "put".to_owned();
        assert_eq!(arms(&[&calls[..], &[put]].concat(), &steps), [ArmOutcome::Folded]);
        let mut waits = computes;
        waits[1].flow.barrier = true;
        assert_eq!(arms(&waits, &steps), [ArmOutcome::Folded]);
    }
}
