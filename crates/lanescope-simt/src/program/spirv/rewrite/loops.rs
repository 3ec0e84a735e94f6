//! Loops that are left from within a switch, said in what naga's front end reads.
//!
//! Slang puts the body of a loop in which there is `continue` into a switch of one case: `continue` goes to the
//! switch's end, behind which the loop's step stands, and what leaves the loop leaves it from within the switch. naga's
//! front end takes each way out of a switch for the switch's own end, so that such a loop would never be left. Here the
//! switch is taken away, and the loop goes on where its end was: `continue` is one again, and the step is what
//! continues the loop.

use std::collections::{BTreeMap, BTreeSet};

use spirv::Op;

use crate::program::spirv::words::{FilePlace, Instruction, Instructions};

/// The most blocks that are looked at, each as often as it stands in a switch.
const LOOKS_MAX: usize = 1 << 20;

/// Takes away the switches of one case from within which loops are left.
///
/// # Errors
///
/// The place of a way out of a loop that leaves a switch which cannot be taken away.
pub(in crate::program::spirv) fn untangle(
    module: &mut Instructions,
) -> Result<(), Option<FilePlace>> {
    if !module.list.iter().any(|i| i.op == Op::Switch) {
        return Ok(());
    }
    let mut ways = Ways::new(&module.list);
    let tangled = tangled(&module.list, &mut ways)?;
    let mut gone = BTreeSet::new();
    for (loop_at, Tangle { switch_at, place }) in tangled {
        let (leave, resume) = (module.list[loop_at].word(0), module.list[loop_at].word(1));
        let (end, switch) = (module.list[switch_at - 1].word(0), &mut module.list[switch_at]);
        // A selector and the default.
        if switch.words.len() != 2 || !ways.only_resume(end, resume, leave) {
            return Err(place);
        }
        *switch = Instruction { op: Op::Branch, words: vec![switch.word(1)], place: switch.place };
        if let Some(goes_on) = module.list[loop_at].words.get_mut(1) {
            *goes_on = end;
        }
        gone.insert(switch_at - 1);
    }
    let mut index = 0;
    module.list.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    Ok(())
}

/// A switch from within which a loop is left.
struct Tangle {
    /// Where it stands; its merge instruction stands before it.
    switch_at: usize,
    /// The place of what leaves the loop.
    place: Option<FilePlace>,
}

/// The loops that are left from within a switch, by where their merge instruction stands.
///
/// # Errors
///
/// The place of what leaves a loop from within a second switch, or of a switch too many.
fn tangled(
    list: &[Instruction],
    ways: &mut Ways,
) -> Result<BTreeMap<usize, Tangle>, Option<FilePlace>> {
    let mut found = BTreeMap::new();
    // The loops that are open: where their merge instruction stands, and their first block.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut label = 0;
    for (index, instruction) in list.iter().enumerate() {
        match instruction.op {
            Op::Label => {
                label = instruction.word(0);
                if let Some(ended) = open.iter().position(|(at, _)| list[*at].word(0) == label) {
                    open.truncate(ended);
                }
            }
            Op::LoopMerge => open.push((index, label)),
            Op::FunctionEnd => open.clear(),
            Op::Switch => {
                let before = index.checked_sub(1).map(|at| &list[at]);
                let merge = before.filter(|i| i.op == Op::SelectionMerge);
                let (Some(&(loop_at, head)), Some(merge)) = (open.last(), merge) else { continue };
                let (leave, resume) = (list[loop_at].word(0), list[loop_at].word(1));
                let stops = [merge.word(0), leave, resume, head];
                let inside = ways.reach(label, &stops).ok_or(instruction.place)?;
                let Some(place) = inside.iter().find_map(|block| ways.leaves(*block, leave)) else {
                    continue;
                };
                let tangle = Tangle { switch_at: index, place };
                if found.insert(loop_at, tangle).is_some() {
                    return Err(place);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The blocks to which the last instruction of a block goes; `None` where it is none.
fn targets(instruction: &Instruction) -> Option<Vec<u32>> {
    let words = &instruction.words;
    match instruction.op {
        Op::Branch => Some(words.clone()),
        Op::BranchConditional => Some(words.iter().skip(1).take(2).copied().collect()),
        Op::Switch => Some(words.iter().skip(1).step_by(2).copied().collect()),
        Op::Return | Op::ReturnValue | Op::Kill | Op::Unreachable | Op::TerminateInvocation => {
            Some(Vec::new())
        }
        _ => None,
    }
}

/// Which blocks come after and before one another.
struct Ways {
    /// The blocks after each, and the place of the instruction that goes there.
    after: BTreeMap<u32, (Vec<u32>, Option<FilePlace>)>,
    before: BTreeMap<u32, BTreeSet<u32>>,
    /// How many blocks may still be looked at.
    looks: usize,
}

impl Ways {
    fn new(list: &[Instruction]) -> Self {
        let (mut after, mut before) = (BTreeMap::new(), BTreeMap::<u32, BTreeSet<u32>>::new());
        let mut label = 0;
        for instruction in list {
            if instruction.op == Op::Label {
                label = instruction.word(0);
            }
            let Some(targets) = targets(instruction) else { continue };
            for target in &targets {
                before.entry(*target).or_default().insert(label);
            }
            after.insert(label, (targets, instruction.place));
        }
        Self { after, before, looks: LOOKS_MAX }
    }

    /// The blocks that one comes to, itself too, up to those at which to stop; `None` where they are too many.
    fn reach(&mut self, from: u32, stops: &[u32]) -> Option<BTreeSet<u32>> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if stops.contains(&block) || !seen.insert(block) {
                continue;
            }
            self.looks = self.looks.checked_sub(1)?;
            if let Some((after, _)) = self.after.get(&block) {
                open.extend(after);
            }
        }
        Some(seen)
    }

    /// The place at which a block leaves a loop; `None` if it does not.
    fn leaves(&self, block: u32, leave: u32) -> Option<Option<FilePlace>> {
        let (after, place) = self.after.get(&block)?;
        after.contains(&leave).then_some(*place)
    }

    /// Whether all ways from a block come to where a loop goes on, and none but these do.
    fn only_resume(&mut self, from: u32, resume: u32, leave: u32) -> bool {
        let Some(step) = self.reach(from, &[resume]) else { return false };
        let goes_on = |block: &u32| {
            let after = self.after.get(block);
            after.is_some_and(|(after, _)| !after.is_empty() && !after.contains(&leave))
        };
        let mut before = self.before.get(&resume).into_iter().flatten();
        !step.is_empty() && step.iter().all(goes_on) && before.all(|block| step.contains(block))
    }
}
