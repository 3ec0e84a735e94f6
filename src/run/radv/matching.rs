//! Which machine instructions are which block of the source: those that ran equally often with equally
//! many lanes.
//!
//! Input: for each block and for each instruction, in order, how often it ran and with how many lanes,
//! on one input or on several. Output: [`Matching`]. It needs nothing from the compiler: where a block
//! survives compilation, its executions and its lanes are the machine code's, to the lane.
//!
//! Where several blocks came to the same counts, order breaks the tie: the first stretch of
//! instructions with these counts is the first block's, if there are as many stretches as blocks.
//! Else nothing is said of them. A block without a match was flattened into selects, merged with
//! another, or is in the code more than once, so that its counts stand there in parts.

use std::collections::BTreeMap;

/// How often something ran, and with how many lanes, on each input.
pub type Ran = Vec<(u64, u64)>;

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It never ran.
    NeverRan,
    /// Instructions ran as it did.
    Found,
    /// Several blocks ran alike, and the code does not say which is which.
    Ambiguous,
    /// No instruction ran as it did.
    Missing,
}

/// Blocks and instructions side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The block of each instruction, by its index.
    pub instructions: Vec<Option<usize>>,
    /// What became of each block.
    pub blocks: Vec<Match>,
}

impl Matching {
    /// Matches `instructions` with `blocks`.
    pub fn new(blocks: &[Ran], instructions: &[Ran]) -> Self {
        let ran = |counts: &Ran| counts.iter().any(|(executions, _)| *executions > 0);
        let mut alike: BTreeMap<&Ran, Vec<usize>> = BTreeMap::new();
        for (block, counts) in blocks.iter().enumerate().filter(|(_, counts)| ran(counts)) {
            alike.entry(counts).or_default().push(block);
        }
        let stretches = stretches(instructions);
        let mut matching = Self {
            instructions: vec![None; instructions.len()],
            blocks: vec![Match::NeverRan; blocks.len()],
        };
        for (counts, members) in alike {
            let found: Vec<_> =
                stretches.iter().filter(|stretch| instructions[stretch.0] == *counts).collect();
            let what = match (members.len(), found.len()) {
                (_, 0) => Match::Missing,
                (1, _) => Match::Found,
                (blocks, stretches) if blocks == stretches => Match::Found,
                _ => Match::Ambiguous,
            };
            for block in &members {
                matching.blocks[*block] = what;
            }
            if what == Match::Found {
                for (place, (first, last)) in found.into_iter().enumerate() {
                    let block = members[place.min(members.len() - 1)];
                    matching.instructions[*first..=*last].fill(Some(block));
                }
            }
        }
        matching
    }
}

/// First and last index of each run of instructions with the same counts.
fn stretches(instructions: &[Ran]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (index, counts) in instructions.iter().enumerate() {
        match stretches.last_mut() {
            Some((first, last)) if instructions[*first] == *counts => *last = index,
            _ => stretches.push((index, index)),
        }
    }
    stretches
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
        let matching = Matching::new(&blocks, &code);
        assert_eq!(matching.blocks, [Match::Found; 4]);
        let of = [Some(0), Some(0), Some(1), Some(2), Some(2), Some(3)];
        assert_eq!(matching.instructions, of);
    }

    #[test]
    fn a_flattened_arm_is_missing_and_blocks_alike_are_told_apart_by_order_only() {
        // Both arms ran with half of the lanes; in the code nothing did.
        let flattened = Matching::new(&ran(&[(4, 128), (4, 64), (4, 64)]), &ran(&[(4, 128)]));
        assert_eq!(flattened.blocks, [Match::Found, Match::Missing, Match::Missing]);
        // Three stretches for two blocks: nobody knows.
        let code = ran(&[(4, 64), (1, 1), (4, 64), (2, 2), (4, 64)]);
        let unclear = Matching::new(&ran(&[(4, 64), (4, 64), (0, 0)]), &code);
        assert_eq!(unclear.blocks, [Match::Ambiguous, Match::Ambiguous, Match::NeverRan]);
        assert_eq!(unclear.instructions, [None; 5]);
    }

    #[test]
    fn a_second_input_tells_blocks_apart() {
        let blocks = vec![vec![(4, 64), (4, 10)], vec![(4, 64), (4, 54)]];
        let code = vec![vec![(4, 64), (4, 54)], vec![(4, 64), (4, 10)], vec![(4, 64), (4, 54)]];
        let matching = Matching::new(&blocks, &code);
        assert_eq!(matching.blocks, [Match::Found; 2]);
        assert_eq!(matching.instructions, [Some(1), Some(0), Some(1)]);
    }
}
