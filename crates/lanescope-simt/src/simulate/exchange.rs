//! What workgroups of one dispatch do with the same words.
//!
//! Input: each access to a buffer that the program writes, with its workgroup. Output: of a run on
//! several threads, whether workgroups stayed apart ([`Tags`]); of a run in turn, which values that
//! decide something came from another workgroup or were changed by one ([`Exchange`]). It changes no
//! memory and chooses no order: `schedule` does, by the rules of its headings.
//!
//! # Who meets
//! Two workgroups *meet* at a word where both touch it, unless both only read it, or both only change
//! it by the same operation that commutes (an integer `atomicAdd`, say) and use no old value. As long
//! as none meet, each does what it would do alone, whatever runs beside it: a value that it reads
//! was there before the dispatch or is its own. So whether workgroups meet does not depend on who runs
//! when either: the first two accesses that would meet are made in every order.

use std::collections::{BTreeMap, BTreeSet};

use super::mask::{Mask, for_each_lane};
use super::op::{At, FOLLOW_NONE, FollowId, JOINT_MAX, Touch};
use super::reach::{Pattern, Reach};

/// What watches the accesses of one worker.
#[derive(Debug)]
pub(super) enum Watch {
    /// Nothing: workgroups share no word that they write, or only the result counts.
    Nothing,
    /// Whether workgroups meet.
    Apart(Tags),
    /// What they exchange.
    Exchange(Exchange),
}

/// Workgroups of a dispatch at most for tags to tell them apart.
pub(super) const GROUPS_MAX: u64 = (1 << 28) - 2;

/// A word's tag: 0 where nobody touched it; else the workgroup in the upper bits, 0 for several, and
/// in the lower four what they did.
type Tag = u32;

const READ: Tag = 1;
const WRITE: Tag = 2;
const JOINT: Tag = 3;
const KIND: Tag = 15;

/// What the workgroups of one worker did with each word.
#[derive(Debug)]
pub(super) struct Tags {
    /// By root; nothing for those that are not watched.
    roots: Vec<Option<Vec<Tag>>>,
    /// Whether two of this worker's workgroups met.
    pub(super) met: bool,
}

/// Both together; `None` if two workgroups meet.
#[inline]
fn join(a: Tag, b: Tag) -> Option<Tag> {
    if a == 0 || b == 0 || a == b {
        return Some(a | b);
    }
    let (mine, other) = (a & !KIND, b & !KIND);
    let same_kind = a & KIND == b & KIND;
    if mine == other && mine != 0 {
        return Some(if same_kind { a } else { mine | WRITE });
    }
    // Several workgroups: the owner is none of them.
    (same_kind && a & KIND != WRITE).then_some(a & KIND)
}

// Threads

impl Tags {
    /// Tags for roots of so many words; nothing for those that need none.
    pub(super) fn new(words: impl Iterator<Item = Option<usize>>) -> Self {
        Self { roots: words.map(|words| words.map(|words| vec![0; words])).collect(), met: false }
    }

    /// Notes what a subgroup of `workgroup` does with one instruction.
    pub(super) fn note<const N: usize>(
        &mut self,
        workgroup: u64,
        touch: Touch,
        at: &At,
        reach: &Reach<N>,
    ) {
        let Some(tags) = &mut self.roots[usize::from(at.root)] else { return };
        #[expect(clippy::cast_possible_truncation, reason = "at most `GROUPS_MAX`")]
        let base = (workgroup as Tag + 1) << 4;
        let mine = base
            | match touch {
                Touch::Read => READ,
                Touch::Write => WRITE,
                Touch::Joint(number) => JOINT + Tag::from(number.min(JOINT_MAX - 1)),
            };
        if reach.pattern == Pattern::Row {
            let row = &mut tags[reach.row(at.count)];
            let (mut any, mut others) = (0, 0);
            for &tag in &*row {
                any |= tag;
                others |= tag ^ mine;
            }
            if any == 0 {
                row.fill(mine);
            }
            if any == 0 || others == 0 {
                return;
            }
        }
        let mut met = false;
        let lanes = if reach.pattern == Pattern::Same { 1 } else { reach.valid };
        for part in 0..u32::from(at.count) {
            let shift = part * at.form.bytes();
            for_each_lane(lanes, |lane| {
                let tag = &mut tags[(reach.offsets[lane] + shift) as usize / 4];
                if *tag == 0 {
                    *tag = mine;
                } else if *tag != mine {
                    match join(*tag, mine) {
                        Some(both) => *tag = both,
                        None => met = true,
                    }
                }
            });
        }
        self.met |= met;
    }

    /// Whether the workgroups of all workers stayed apart.
    pub(super) fn stayed_apart(workers: &[&Self]) -> bool {
        if workers.iter().any(|tags| tags.met) {
            return false;
        }
        let Some((first, others)) = workers.split_first() else { return true };
        (0..first.roots.len()).all(|root| {
            let Some(tags) = first.roots[root].as_deref() else { return true };
            let others: Vec<&[Tag]> =
                others.iter().filter_map(|tags| tags.roots[root].as_deref()).collect();
            (0..tags.len().div_ceil(TOGETHER)).all(|chunk| {
                let range = chunk * TOGETHER..tags.len().min((chunk + 1) * TOGETHER);
                let parts = std::iter::once(&tags[range.clone()])
                    .chain(others.iter().map(|tags| &tags[range.clone()]));
                let touched: Vec<&[Tag]> = parts.filter(|part| any(part)).collect();
                match touched.as_slice() {
                    [] | [_] => true,
                    [first, other] => {
                        let kept = |(a, b): (&Tag, &Tag)| (*a == 0) | (*b == 0) | (a == b);
                        let apart = first.iter().zip(*other).fold(true, |all, two| all & kept(two));
                        apart || first.iter().zip(*other).all(|(a, b)| join(*a, *b).is_some())
                    }
                    several => (0..range.len()).all(|word| {
                        let mut tags = several.iter().map(|tags| tags[word]);
                        tags.try_fold(0, join).is_some()
                    }),
                }
            })
        })
    }
}

/// Words whose tags are looked at together.
const TOGETHER: usize = 1024;

/// Whether any word was touched.
fn any(tags: &[Tag]) -> bool {
    tags.iter().fold(0, |sum, tag| sum | tag) != 0
}

/// In place of a workgroup's number: none.
const NOBODY: u32 = 0;

/// In place of a workgroup's number: more than one.
const SEVERAL: u32 = u32::MAX;

/// Which values that decide something another workgroup wrote, before or after.
#[derive(Debug)]
pub(super) struct Exchange {
    /// By root, for each word: the workgroup that wrote it, the one that read it by an access whose
    /// value decides something, and the number of the set of those accesses. Nothing for roots that
    /// are not watched. An array, so that memory which nobody touches is never cleared.
    roots: Vec<Option<Vec<[u32; 3]>>>,
    /// Sets of accesses; the first is empty.
    sets: Vec<BTreeSet<FollowId>>,
    /// The number of a set with an access more.
    with: BTreeMap<(u32, FollowId), u32>,
    /// The accesses whose values workgroups exchanged.
    found: BTreeSet<FollowId>,
}

// Exchange

impl Exchange {
    /// An empty one for roots of so many words; nothing for those that need none.
    pub(super) fn new(words: impl Iterator<Item = Option<usize>>) -> Self {
        Self {
            roots: words.map(|words| words.map(|words| vec![[0; 3]; words])).collect(),
            sets: vec![BTreeSet::new()],
            with: BTreeMap::new(),
            found: BTreeSet::new(),
        }
    }

    /// The accesses whose values workgroups exchanged.
    pub(super) fn exchanged_accesses(&self) -> &BTreeSet<FollowId> {
        &self.found
    }

    /// Notes what a subgroup of `workgroup` does with one instruction: the lanes that read, where the
    /// value decides something, and those that write.
    pub(super) fn note(
        &mut self,
        workgroup: u64,
        at: &At,
        [reading, writing]: [Mask; 2],
        offsets: &[u32],
    ) {
        let Self { roots, sets, with, found } = self;
        let Some(words) = &mut roots[usize::from(at.root)] else { return };
        // Numbers repeat only where a dispatch has more workgroups than anybody runs.
        let number = u32::try_from(workgroup % u64::from(SEVERAL - 1)).unwrap_or(0) + 1;
        let reading = if at.follow == FOLLOW_NONE { 0 } else { reading };
        for part in 0..u32::from(at.count) {
            let shift = part * at.form.bytes();
            for_each_lane(reading | writing, |lane| {
                let word = &mut words[(offsets[lane] + shift) as usize / 4];
                let [writer, reader, accesses] = word;
                if (reading >> lane) & 1 == 1 {
                    if *writer != NOBODY && *writer != number {
                        found.insert(at.follow);
                    }
                    *reader = one_or_several(*reader, number);
                    *accesses = set_with(sets, with, *accesses, at.follow);
                }
                if (writing >> lane) & 1 == 1 {
                    if *reader != NOBODY && *reader != number {
                        found.extend(&sets[*accesses as usize]);
                    }
                    *writer = one_or_several(*writer, number);
                }
            });
        }
    }
}

/// Who did something, with one more.
fn one_or_several(before: u32, now: u32) -> u32 {
    if before == NOBODY || before == now { now } else { SEVERAL }
}

/// The number of the set `number` with `access` in it.
fn set_with(
    sets: &mut Vec<BTreeSet<FollowId>>,
    with: &mut BTreeMap<(u32, FollowId), u32>,
    number: u32,
    access: FollowId,
) -> u32 {
    let set = &sets[number as usize];
    if set.contains(&access) {
        return number;
    }
    if let Some(&known) = with.get(&(number, access)) {
        return known;
    }
    let mut larger = set.clone();
    larger.insert(access);
    let same = sets.iter().position(|other| *other == larger).unwrap_or_else(|| {
        sets.push(larger);
        sets.len() - 1
    });
    let same = u32::try_from(same).unwrap_or(0);
    with.insert((number, access), same);
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tag of what a workgroup did.
    fn tag(workgroup: u32, kind: Tag) -> Tag {
        workgroup << 4 | kind
    }

    /// Joins in this order; `None` if two meet.
    fn all(tags: &[Tag]) -> Option<Tag> {
        tags.iter().copied().try_fold(0, join)
    }

    #[test]
    fn meeting_does_not_depend_on_the_order() {
        let kinds = [READ, WRITE, JOINT, JOINT + 1];
        let mut touches = Vec::new();
        for workgroup in 1..4 {
            touches.extend(kinds.map(|kind| (workgroup, kind)));
        }
        for a in &touches {
            for b in &touches {
                for c in &touches {
                    let three = [*a, *b, *c];
                    let tags = three.map(|(workgroup, kind)| tag(workgroup, kind));
                    let pair = |(workgroup, kind): (u32, Tag), (other, also): (u32, Tag)| {
                        workgroup != other && (kind != also || kind == WRITE)
                    };
                    let meet = pair(*a, *b) || pair(*b, *c) || pair(*a, *c);
                    let [x, y, z] = tags;
                    for order in [[x, y, z], [y, x, z], [z, x, y], [x, z, y]] {
                        assert_eq!(all(&order).is_none(), meet, "{three:?}");
                    }
                    // Two workers: what one saw, then the other.
                    let two = all(&[x, y]).and_then(|both| join(z, both));
                    assert_eq!(two.is_none(), meet, "{three:?} by two workers");
                }
            }
        }
    }
}
