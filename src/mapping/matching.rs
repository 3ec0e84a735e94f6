//! Which machine instructions are which block of the source: those that ran equally often with equally
//! many lanes.
//!
//! Input: for each block and for each instruction, in order, how often it ran and with how many lanes,
//! on one input or on several. Output: [`Matching`]. It needs nothing from the compiler: where a block
//! survives compilation, its executions and its lanes are the machine code's, to the lane. A function
//! that is called from several places has its blocks here once for each way of calls, in the order in
//! which they would be inlined.
//!
//! Where several blocks came to the same counts, order breaks the tie: stretches of instructions and
//! blocks are laid beside one another so that as many blocks as can be have a stretch. A block that gets
//! none, though instructions ran as it did, is merged with another of the same counts. A stretch ends where counts
//! change, and where lanes turn from one arm to the other. Where blocks of several arms
//! could have a stretch, and as many blocks would have one whichever has it, none of them is said to
//! ([`Matching::without_guesses`]). A block that no
//! instruction ran as was flattened into selects, folded away, or is in the code in parts (an unrolled
//! loop).

use std::collections::{BTreeMap, BTreeSet};

/// How often something ran, and with how many lanes, on each input.
pub type Ran = Vec<(u64, u64)>;

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It never ran.
    NeverRan,
    /// Instructions ran as it did.
    Found,
    /// Instructions ran as it did, and stand for another block of the same counts.
    Merged,
    /// No instruction ran as it did.
    Missing,
}

impl Match {
    /// Whether instructions ran as the block did.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Found | Self::Merged)
    }
}

/// Lanes may differ by one in so many.
pub const NEAR: u64 = 10_000;

/// By how many lanes a block differs from the instructions that are taken for it, on the first input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanesOff {
    /// The lanes that one has and the other has not.
    pub off: u64,
    /// The block's lanes.
    pub of: u64,
    /// The executions that one has and the other has not: where no other lane was on.
    pub executions_off: u64,
}

/// Blocks with the counts of the instructions that they are nearly equal to; beside each that has none of its
/// own, by how much it differs.
pub fn snap(blocks: &[Ran], instructions: &[Ran]) -> (Vec<Ran>, Vec<Option<LanesOff>>) {
    let counts: BTreeSet<&Ran> = instructions.iter().filter(|counts| has_run(counts)).collect();
    let counts_of_blocks: BTreeSet<&Ran> = blocks.iter().filter(|counts| has_run(counts)).collect();
    let near_one = |to: &Ran, among: &BTreeSet<&Ran>| -> Option<Ran> {
        let mut near = among.iter().filter(|other| is_near(to, other));
        let first = near.next()?;
        near.next().is_none().then(|| (*first).clone())
    };
    let snapped = blocks.iter().map(|block| {
        if !has_run(block) || counts.contains(block) {
            return (block.clone(), None);
        }
        let found = near_one(block, &counts).filter(|found| {
            // Another block of the machine's very counts, or one as near, has as good a claim.
            near_one(found, &counts_of_blocks).as_ref() == Some(block)
        });
        let Some(found) = found else { return (block.clone(), None) };
        let ((executions, lanes), (machine_executions, machine_lanes)) = (block[0], found[0]);
        let differs = LanesOff {
            off: lanes.abs_diff(machine_lanes),
            of: lanes,
            executions_off: executions.abs_diff(machine_executions),
        };
        (found, Some(differs))
    });
    snapped.unzip()
}

/// Whether something ran on any input.
fn has_run(counts: &Ran) -> bool {
    counts.iter().any(|(executions, _)| *executions > 0)
}

/// Whether two ran alike on each input but for at most one lane in [`NEAR`], and for executions in which no other
/// lane was on: these are no more than such lanes, and no more than one in [`NEAR`] either.
fn is_near(counts: &Ran, other: &Ran) -> bool {
    counts.len() == other.len()
        && counts.iter().zip(other).all(|((executions, lanes), (others, other_lanes))| {
            let (off, lanes_off) = (executions.abs_diff(*others), lanes.abs_diff(*other_lanes));
            lanes_off <= lanes.min(other_lanes) / NEAR
                && off <= lanes_off.min(executions.min(others) / NEAR)
        })
}

/// Blocks and instructions side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The block of each instruction, by its index.
    pub instructions: Vec<Option<usize>>,
    /// What became of each block.
    pub blocks: Vec<Match>,
    /// Blocks that may have been taken for one another.
    pub guesses: Vec<Guess>,
}

/// Blocks that ran alike, of which it is not known which is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Those with operations: order alone says which is there, any of them could be left out, and as many would be
    /// there; or the only one.
    pub blocks: Vec<usize>,
    /// Those without, where code may stand that no block counts, such as an unrolled loop.
    pub idle: Vec<usize>,
}

/// Blocks, as far as they are matched: what is said of each, by its index.
#[derive(Clone, Copy, Debug)]
pub struct BlocksRan<'a> {
    /// What each ran.
    pub ran: &'a [Ran],
    /// Its operations.
    pub operations: &'a [u64],
    /// Blocks that ran alike and have one number here are one place, of which one follows the other with nothing
    /// between them, as a loop's `continuing` follows its body.
    pub places: &'a [usize],
}

/// Instructions, as far as they are matched: what is said of each, by its index.
#[derive(Clone, Copy, Debug)]
pub struct CodeRan<'a> {
    /// What each ran.
    pub ran: &'a [Ran],
    /// Whether it does more than lead lanes about.
    pub works: &'a [bool],
    /// Whether what stands behind it is another place even if it ran alike: no lane comes from here to there.
    pub ends: &'a [bool],
}

impl Matching {
    /// Matches `instructions` with `blocks`, of which those without operations (a jump alone) have no
    /// instructions of their own where others ran alike.
    pub fn new(blocks: &[Ran], operations: &[u64], instructions: &[Ran]) -> Self {
        let places: Vec<usize> = (0..blocks.len()).collect();
        let blocks = BlocksRan { ran: blocks, operations, places: &places };
        let (works, ends) = (vec![true; instructions.len()], vec![false; instructions.len()]);
        Self::of_code(blocks, CodeRan { ran: instructions, works: &works, ends: &ends })
    }

    /// The same where some instructions only lead lanes about: where several blocks ran alike, a block is not there
    /// for these alone.
    pub fn of_code(blocks: BlocksRan<'_>, code: CodeRan<'_>) -> Self {
        let mut alike: BTreeMap<&Ran, Vec<usize>> = BTreeMap::new();
        for (block, counts) in blocks.ran.iter().enumerate().filter(|(_, counts)| has_run(counts)) {
            alike.entry(counts).or_default().push(block);
        }
        let stretches = stretches(code);
        let usable = usable(code, &stretches);
        let aligned = align(blocks.ran, blocks.operations, code.ran, (&stretches, &usable));
        let mut matching = Self {
            instructions: vec![None; code.ran.len()],
            blocks: vec![Match::NeverRan; blocks.ran.len()],
            guesses: Vec::new(),
        };
        let mut of_counts: BTreeMap<&Ran, Vec<usize>> = BTreeMap::new();
        for (stretch, (first, _)) in stretches.iter().enumerate() {
            of_counts.entry(&code.ran[*first]).or_default().push(stretch);
        }
        for (counts, members) in alike {
            let all = of_counts.get(counts).map_or(&[][..], Vec::as_slice);
            let with_operations: Vec<usize> =
                members.iter().copied().filter(|block| blocks.operations[*block] > 0).collect();
            let owners = if with_operations.is_empty() { &members } else { &with_operations };
            let found = all.iter().filter(|stretch| usable[**stretch]).count();
            let each = each_its_own(owners, blocks.places, found);
            let mut next = each.iter().flatten().copied();
            let places: Vec<Option<usize>> = all
                .iter()
                .map(|stretch| match owners.len() {
                    1 => Some(owners[0]),
                    _ if !usable[*stretch] => None,
                    _ if each.is_some() => next.next(),
                    _ => aligned.of[*stretch],
                })
                .collect();
            let placed: BTreeSet<usize> = places.iter().copied().flatten().collect();
            for block in &members {
                matching.blocks[*block] = match placed.contains(block) {
                    true => Match::Found,
                    false if all.is_empty() => Match::Missing,
                    false => Match::Merged,
                };
            }
            for (stretch, place) in all.iter().zip(places) {
                let (first, last) = stretches[*stretch];
                matching.instructions[first..=last].fill(place);
            }
            let by_order = owners.len() > 1 && each.is_none();
            if (by_order || owners.len() == 1) && !all.is_empty() {
                let may_go = |block: &usize| !by_order || !aligned.needed[*block];
                let blocks = owners.iter().copied().filter(may_go).collect();
                let idle = members.iter().copied().filter(|block| !owners.contains(block));
                matching.guesses.push(Guess { blocks, idle: idle.collect() });
            }
        }
        matching
    }

    /// The same without guesses between arms: of blocks that ran alike and may each be what is there, those that each
    /// `encloses` all the others are; where none does, none is said to be, and what ran so is nobody's. A block that is
    /// alone in having operations is one of several where another without any stands in another arm.
    #[must_use]
    pub fn without_guesses(mut self, encloses: impl Fn(usize, usize) -> bool) -> Self {
        for Guess { blocks, idle } in std::mem::take(&mut self.guesses) {
            let elsewhere = |candidate: &usize| {
                blocks
                    .iter()
                    .all(|block| !encloses(*candidate, *block) && !encloses(*block, *candidate))
            };
            let rivals = idle.into_iter().filter(elsewhere);
            let guessed: Vec<usize> = blocks.iter().copied().chain(rivals).collect();
            if guessed.len() < 2 {
                continue;
            }
            let all_around =
                |candidate: &usize| guessed.iter().all(|other| encloses(*candidate, *other));
            let outer: Vec<usize> = guessed.iter().copied().filter(all_around).collect();
            let mut there = BTreeSet::new();
            for assigned in &mut self.instructions {
                let Some(owner) = assigned.filter(|owner| guessed.contains(owner)) else {
                    continue;
                };
                // What was taken for an inner one stands behind the outer one before it.
                let before =
                    outer.iter().rfind(|block| **block <= owner).or(outer.first()).copied();
                *assigned = before;
                there.extend(before);
            }
            for block in &guessed {
                self.blocks[*block] =
                    if there.contains(block) { Match::Found } else { Match::Merged };
            }
        }
        self
    }
}

/// Blocks and stretches beside one another in order.
struct Aligned {
    /// The block of each stretch.
    of: Vec<Option<usize>>,
    /// Whether fewer blocks would have a stretch if this one had none.
    needed: Vec<bool>,
}

/// Lays blocks and stretches beside one another in order: as many blocks as can be have a stretch, and then as many
/// stretches a block.
fn align(
    blocks: &[Ran],
    operations: &[u64],
    code: &[Ran],
    (stretches, usable): (&[(usize, usize)], &[bool]),
) -> Aligned {
    let fits = |block: usize, stretch: usize| {
        let counts = &code[stretches[stretch].0];
        usable[stretch] && operations[block] > 0 && blocks[block] == *counts && has_run(counts)
    };
    let (rows, columns) = (blocks.len() + 1, stretches.len() + 1);
    let at = |block: usize, stretch: usize| block * columns + stretch;
    // The most blocks, then the most stretches, that those from (block, stretch) on have; and the same
    // where the block has taken one already.
    let mut fresh = vec![(0_u32, 0_u32); rows * columns];
    let mut taken = fresh.clone();
    for block in (0..blocks.len()).rev() {
        for stretch in (0..stretches.len()).rev() {
            let skip = fresh[at(block + 1, stretch)];
            let (mut new, mut again) = (fresh[at(block, stretch + 1)].max(skip), skip);
            again = again.max(taken[at(block, stretch + 1)]);
            if fits(block, stretch) {
                let (count, length) = taken[at(block, stretch + 1)];
                new = new.max((count + 1, length + 1));
                again = again.max((count, length + 1));
            }
            fresh[at(block, stretch)] = new;
            taken[at(block, stretch)] = again;
        }
    }
    let mut owners = vec![None; stretches.len()];
    let (mut block, mut stretch, mut has) = (0, 0, false);
    while block < blocks.len() && stretch < stretches.len() {
        let after = taken[at(block, stretch + 1)];
        let here = if has { taken[at(block, stretch)] } else { fresh[at(block, stretch)] };
        let gain = (after.0 + u32::from(!has), after.1 + 1);
        if fits(block, stretch) && here == gain {
            owners[stretch] = Some(block);
            (stretch, has) = (stretch + 1, true);
        } else if here == fresh[at(block + 1, stretch)] {
            (block, has) = (block + 1, false);
        } else {
            stretch += 1;
        }
    }
    // The most blocks that those before `block` have of the first so many stretches, row by row.
    let most = fresh[0].0;
    let mut before = vec![0_u32; columns];
    let needed = (0..blocks.len()).map(|block| {
        let without = (0..columns).map(|s| before[s] + fresh[at(block + 1, s)].0);
        let needed = without.max().unwrap_or(0) < most;
        // With this block: one of the stretches that it fits at least.
        let mut with = before.clone();
        for stretch in 0..stretches.len() {
            let new = if fits(block, stretch) { before[stretch] + 1 } else { 0 };
            with[stretch + 1] = with[stretch + 1].max(with[stretch]).max(new);
        }
        before = with;
        needed
    });
    let needed = needed.collect();
    Aligned { of: owners, needed }
}

/// The blocks that `found` stretches are, one by one, where there are as many of them; else the first of each place,
/// where there are as many places.
fn each_its_own(owners: &[usize], places: &[usize], found: usize) -> Option<Vec<usize>> {
    let mut firsts = owners.to_vec();
    firsts.dedup_by_key(|block| places[*block]);
    [owners, firsts.as_slice()].into_iter().find(|each| each.len() == found).map(<[usize]>::to_vec)
}

/// First and last index of each run of instructions with the same counts.
fn stretches(code: CodeRan<'_>) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (index, counts) in code.ran.iter().enumerate() {
        match stretches.last_mut() {
            Some((first, last)) if code.ran[*first] == *counts && !code.ends[*last] => {
                *last = index
            }
            _ => stretches.push((index, index)),
        }
    }
    stretches
}

/// Of each stretch whether a block may be there for it: it works, or nothing that ran so does.
fn usable(code: CodeRan<'_>, stretches: &[(usize, usize)]) -> Vec<bool> {
    let pairs = code.ran.iter().zip(code.works);
    let working: BTreeSet<&Ran> = pairs.filter(|(_, works)| **works).map(|(ran, _)| ran).collect();
    let is_usable = |(first, last): &(usize, usize)| {
        code.works[*first..=*last].contains(&true) || !working.contains(&code.ran[*first])
    };
    stretches.iter().map(is_usable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(counts: &[(u64, u64)]) -> Vec<Ran> {
        counts.iter().map(|count| vec![*count]).collect()
    }

    #[test]
    fn a_block_is_what_ran_as_it_did() {
        // A head, an arm of half of the lanes, another of the other half seven times, and the end.
        let blocks = ran(&[(4, 128), (4, 64), (28, 448), (4, 128)]);
        let code = ran(&[(4, 128), (4, 128), (4, 64), (28, 448), (28, 448), (4, 128)]);
        let matching = Matching::new(&blocks, &[1; 4][..blocks.len()], &code);
        assert_eq!(matching.blocks, [Match::Found; 4]);
        let expected = [Some(0), Some(0), Some(1), Some(2), Some(2), Some(3)];
        assert_eq!(matching.instructions, expected);
    }

    #[test]
    fn a_flattened_arm_is_missing_and_what_surrounds_it_is_merged() {
        // Both arms ran with half of the lanes; in the code nothing did.
        let flattened =
            Matching::new(&ran(&[(4, 128), (4, 64), (4, 64)]), &[1; 3], &ran(&[(4, 128)]));
        assert_eq!(flattened.blocks, [Match::Found, Match::Missing, Match::Missing]);
        // What stands before and behind a flattened arm is one stretch.
        let merged =
            Matching::new(&ran(&[(4, 128), (4, 64), (4, 128)]), &[1; 3], &ran(&[(4, 128)]));
        assert_eq!(merged.blocks, [Match::Found, Match::Missing, Match::Merged]);
        assert!(merged.blocks[2].is_there() && !merged.blocks[1].is_there());
    }

    #[test]
    fn blocks_alike_are_told_apart_by_what_stands_between_them() {
        // Three stretches for two blocks; what lies between the blocks says which has two.
        let blocks = ran(&[(4, 64), (1, 1), (4, 64), (0, 0)]);
        let code = ran(&[(4, 64), (1, 1), (4, 64), (2, 2), (4, 64)]);
        let found = Matching::new(&blocks, &[1; 4][..blocks.len()], &code);
        let all = [Match::Found, Match::Found, Match::Found, Match::NeverRan];
        assert_eq!(found.blocks, all);
        assert_eq!(found.instructions, [Some(0), Some(1), Some(2), None, Some(2)]);
    }

    #[test]
    fn a_jump_alone_takes_no_instructions_from_a_block_that_ran_alike() {
        // Two arms, each a loop's head, a `break` and a body; what stands before each head ran as the
        // `break`s did.
        let blocks = ran(&[(9, 90), (2, 20), (7, 70), (9, 90), (2, 20), (7, 70)]);
        let code = ran(&[(2, 20), (9, 90), (7, 70), (2, 20), (9, 90), (7, 70), (2, 20)]);
        let matching = Matching::new(&blocks, &[1, 0, 3, 1, 0, 3], &code);
        let expected = [None, Some(0), Some(2), None, Some(3), Some(5), None];
        assert_eq!(matching.instructions, expected);
        assert!(matching.blocks.iter().all(|what| what.is_there()));
    }

    #[test]
    fn which_of_two_arms_is_there_is_not_guessed() {
        // A head, an arm of half of the lanes, what lies between, another arm of as many, and the end; the code has
        // one stretch of half of the lanes.
        let blocks = ran(&[(4, 128), (4, 64), (4, 128), (4, 64), (4, 128)]);
        let code = ran(&[(4, 128), (4, 64), (4, 128)]);
        let arms = |outer: usize, other: usize| outer.is_multiple_of(2) || outer == other;
        let guessed = Matching::new(&blocks, &[1; 5], &code);
        let blocks_of = |guess: &Guess| guess.blocks.clone();
        assert_eq!(
            guessed.guesses.iter().map(blocks_of).collect::<Vec<_>>(),
            [vec![1, 3], vec![0, 2, 4]]
        );
        let found = guessed.without_guesses(arms);
        assert_eq!(found.blocks[1], Match::Merged);
        assert_eq!(found.blocks[3], Match::Merged);
        assert_eq!(found.instructions[1], None);
        // What surrounds the arms stays: which of its parts is which changes no arm.
        assert_eq!(found.blocks[0], Match::Found);
        assert!(found.instructions[0].is_some() && found.instructions[2].is_some());
        // Where what stands between them tells them apart, nothing is guessed.
        let code = ran(&[(4, 128), (4, 64), (9, 9), (4, 64), (4, 128)]);
        let told = Matching::new(&blocks, &[1; 5], &code).without_guesses(arms);
        assert_eq!(told.instructions[1], Some(1));
        assert_eq!(told.instructions[3], Some(3));
    }

    #[test]
    fn a_block_is_not_what_an_unrolled_loop_of_another_arm_left() {
        // An arm that is a loop of 20 iterations, which is left without an operation, and another arm of as many lanes.
        let blocks = ran(&[(4, 128), (84, 1344), (80, 1280), (4, 64), (4, 64), (4, 128)]);
        let code = ran(&[(4, 128), (4, 64), (4, 128)]);
        let arm = |block: usize| [0, 1, 1, 1, 2, 0][block];
        let encloses = |outer: usize, other: usize| arm(outer) == 0 || arm(outer) == arm(other);
        let found = Matching::new(&blocks, &[1, 1, 1, 0, 1, 1], &code).without_guesses(encloses);
        assert_eq!(found.blocks[4], Match::Merged);
        assert_eq!(found.instructions[1], None);
        // In its own arm such a block takes nothing from it.
        let arm = |block: usize| [0, 1, 1, 1, 1, 0][block];
        let encloses = |outer: usize, other: usize| arm(outer) == 0 || arm(outer) == arm(other);
        let found = Matching::new(&blocks, &[1, 1, 1, 0, 1, 1], &code).without_guesses(encloses);
        assert_eq!(found.instructions[1], Some(4));
    }

    #[test]
    fn what_leads_lanes_about_is_no_arm() {
        // Of two arms of as many lanes one is there; before the other EXEC is set with these lanes alone.
        let blocks = ran(&[(4, 128), (4, 64), (9, 9), (4, 64)]);
        let code = ran(&[(4, 128), (4, 64), (9, 9), (4, 64)]);
        let blocks = BlocksRan { ran: &blocks, operations: &[1; 4], places: &[0, 1, 2, 3] };
        let works = [true, false, true, true];
        let found =
            Matching::of_code(blocks, CodeRan { ran: &code, works: &works, ends: &[false; 4] });
        assert_eq!(found.instructions, [Some(0), None, Some(2), Some(3)]);
        assert_eq!(found.blocks[1], Match::Merged);
    }

    #[test]
    fn two_arms_side_by_side_are_two_places() {
        // A head, an arm, another of as many lanes right behind it, and the end: lanes turn between the arms.
        let ran_blocks = ran(&[(4, 128), (4, 64), (4, 64), (4, 128)]);
        let blocks = BlocksRan { ran: &ran_blocks, operations: &[1; 4], places: &[0, 1, 2, 3] };
        let code = ran(&[(4, 128), (4, 64), (4, 64), (4, 64), (4, 128)]);
        let found = |ends: [bool; 5]| {
            let code = CodeRan { ran: &code, works: &[true; 5], ends: &ends };
            let arms = |outer: usize, other: usize| outer.is_multiple_of(3) || outer == other;
            Matching::of_code(blocks, code).without_guesses(arms)
        };
        let turned = found([false, false, true, false, false]);
        assert_eq!(turned.blocks, [Match::Found; 4]);
        assert_eq!(turned.instructions, [Some(0), Some(1), Some(1), Some(2), Some(3)]);
        let in_one = found([false; 5]);
        assert_eq!(in_one.blocks[1..3], [Match::Merged; 2]);
        assert_eq!(in_one.instructions[1..4], [None; 3]);
    }

    #[test]
    fn a_body_and_what_follows_it_in_the_loop_are_one_place() {
        // Two arms, each a loop's body and its `continuing`; the code has a loop in each.
        let ran_blocks = ran(&[(4, 128), (40, 640), (40, 640), (40, 640), (40, 640)]);
        let code = ran(&[(4, 128), (40, 640), (9, 9), (40, 640)]);
        let code = CodeRan { ran: &code, works: &[true; 4], ends: &[false; 4] };
        let arm = |block: usize| [0, 1, 1, 2, 2][block];
        let encloses = |outer: usize, other: usize| arm(outer) == 0 || arm(outer) == arm(other);
        let found = |places: [usize; 5]| {
            let blocks = BlocksRan { ran: &ran_blocks, operations: &[1; 5], places: &places };
            Matching::of_code(blocks, code).without_guesses(encloses).instructions
        };
        assert_eq!(found([0, 1, 1, 3, 3]), [Some(0), Some(1), None, Some(3)]);
        // Where they could stand apart, no loop is said to be of an arm.
        assert_eq!(found([0, 1, 2, 3, 4]), [Some(0), None, None, None]);
    }

    #[test]
    fn a_second_input_tells_blocks_apart() {
        let blocks = vec![vec![(4, 64), (4, 10)], vec![(4, 64), (4, 54)]];
        let code = vec![vec![(4, 64), (4, 54)], vec![(4, 64), (4, 10)], vec![(4, 64), (4, 54)]];
        let matching = Matching::new(&blocks, &[1; 4][..blocks.len()], &code);
        assert_eq!(matching.blocks, [Match::Found; 2]);
        assert_eq!(matching.instructions, [Some(1), Some(0), Some(1)]);
    }

    #[test]
    fn a_lane_that_is_rounded_otherwise_is_no_other_block() {
        // A head, a loop's test and its body, of which one lane leaves a step earlier.
        let blocks = ran(&[(1_024, 65_536), (32_765, 1_044_380), (31_741, 978_844)]);
        let code = ran(&[(1_024, 65_536), (32_765, 1_044_379), (31_741, 978_843)]);
        let (snapped, off) = snap(&blocks, &code);
        assert_eq!(snapped, code);
        let near_miss = |lanes| Some(LanesOff { off: 1, of: lanes, executions_off: 0 });
        assert_eq!(off, [None, near_miss(1_044_380), near_miss(978_844)]);
        assert_eq!(Matching::new(&snapped, &[1; 3], &code).blocks, [Match::Found; 3]);
        // The last of its subgroup.
        let (snapped, off) = snap(&ran(&[(56_271, 1_044_380)]), &ran(&[(56_270, 1_044_379)]));
        assert_eq!(snapped, ran(&[(56_270, 1_044_379)]));
        assert_eq!(off, [Some(LanesOff { off: 1, of: 1_044_380, executions_off: 1 })]);
    }

    #[test]
    fn what_may_be_another_block_or_other_instructions_is_missing() {
        let missing = |blocks: &[(u64, u64)], code: &[(u64, u64)]| {
            let (snapped, off) = snap(&ran(blocks), &ran(code));
            assert_eq!(snapped, ran(blocks));
            assert!(off.iter().all(Option::is_none), "{off:?}");
        };
        let many = 1_044_380;
        // Two stretches, or two blocks, of which one is the machine's to the lane.
        missing(&[(9, many)], &[(9, many - 1), (9, many + 1)]);
        missing(&[(9, many), (9, many - 1)], &[(9, many - 1)]);
        missing(&[(9, many), (9, many - 2)], &[(9, many - 1)]);
        // Executions without a lane that differs, or too many; more lanes than one in ten thousand; few lanes.
        missing(&[(90_000, many)], &[(90_001, many)]);
        missing(&[(9, many)], &[(10, many + 1)]);
        missing(&[(9, many)], &[(9, many - 105)]);
        missing(&[(9, 64)], &[(9, 63)]);
    }
}
