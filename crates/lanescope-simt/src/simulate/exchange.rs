//! What workgroups of one dispatch do with the same words.
//!
//! Input: each access to a buffer that the program writes, with its workgroup. Output: of a run on
//! several threads, whether workgroups stayed apart ([`Tags`]); of a run in turn, which values that
//! decide something came from another workgroup or were changed by one ([`Exchange`]); of any run, the same
//! of subgroups of one workgroup, where they use atomics ([`SubgroupExchange`]). It changes no
//! memory and chooses no order: `schedule` does, by the rules of its headings.
//!
//! # Who meets
//! Two workgroups *meet* at a word where both touch it, unless both only read it, or both only change
//! it by the same operation that commutes (an integer `atomicAdd`, say) and use no old value. As long
//! as none meet, each does what it would do alone, whatever runs beside it: a value that it reads
//! was there before the dispatch or is its own. So whether workgroups meet does not depend on who runs
//! when either: the first two accesses that would meet are made in every order.
//!
//! # Subgroups
//! Those of one workgroup exchange a value where one reads an atomic that another changes and no barrier lies
//! between. A barrier ends that, with one exception: where several changed the word, and neither all by the same
//! operation that commutes nor to the same value, its value depends on who came last (or first), whoever reads
//! it behind the barrier. What is no atomic needs a barrier anyway: without one it is a race.

use std::collections::{BTreeMap, BTreeSet};

use super::mask::{Mask, for_each_lane};
use super::op::{At, Combination, FOLLOW_NONE, FollowId, JOINT_MAX, Touch};
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
    sets: AccessSets,
    /// The accesses whose values workgroups exchanged.
    found: BTreeSet<FollowId>,
}

/// Sets of accesses by number, so that a word needs no set of its own.
#[derive(Debug)]
struct AccessSets {
    /// The first is empty.
    sets: Vec<BTreeSet<FollowId>>,
    /// The number of a set with an access more.
    with: BTreeMap<(u32, FollowId), u32>,
}

// Exchange

impl Exchange {
    /// An empty one for roots of so many words; nothing for those that need none.
    pub(super) fn new(words: impl Iterator<Item = Option<usize>>) -> Self {
        Self {
            roots: words.map(|words| words.map(|words| vec![[0; 3]; words])).collect(),
            sets: AccessSets::default(),
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
        let Self { roots, sets, found } = self;
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
                    *accesses = sets.with(*accesses, at.follow);
                }
                if (writing >> lane) & 1 == 1 {
                    if *reader != NOBODY && *reader != number {
                        found.extend(sets.get(*accesses));
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

impl Default for AccessSets {
    fn default() -> Self {
        Self { sets: vec![BTreeSet::new()], with: BTreeMap::new() }
    }
}

impl AccessSets {
    /// The set `number`.
    fn get(&self, number: u32) -> &BTreeSet<FollowId> {
        &self.sets[number as usize]
    }

    /// The number of the set `number` with `access` in it.
    fn with(&mut self, number: u32, access: FollowId) -> u32 {
        let set = self.get(number);
        if set.contains(&access) {
            return number;
        }
        if let Some(&known) = self.with.get(&(number, access)) {
            return known;
        }
        let mut larger = set.clone();
        larger.insert(access);
        let same = self.sets.iter().position(|other| *other == larger).unwrap_or_else(|| {
            self.sets.push(larger);
            self.sets.len() - 1
        });
        let same = u32::try_from(same).unwrap_or(0);
        self.with.insert((number, access), same);
        same
    }
}

/// Which values that decide something subgroups of one workgroup exchange by atomics.
#[derive(Debug, Default)]
pub(super) struct SubgroupExchange {
    /// By root, what is known of its words, in pages that somebody touched.
    roots: Vec<Vec<Option<Box<[AtomicWord]>>>>,
    sets: AccessSets,
    /// Rises with each barrier and with each workgroup: what was noted before is void, and never cleared.
    phase: u64,
    /// The first phase of the workgroup.
    begun: u64,
    watches: bool,
}

/// Words of a page.
const PAGE: usize = 1024;

/// What is known of an atomic.
#[derive(Clone, Copy, Debug, Default)]
struct AtomicWord {
    /// The phase of all but `contested`.
    phase: u64,
    /// Who changed it: the number of a subgroup from 1, [`NOBODY`] or [`SEVERAL`].
    writer: u32,
    /// Who read it by an access whose value decides something.
    reader: u32,
    /// The number of the set of those accesses.
    accesses: u32,
    /// The operation of all changes, where it is one that commutes.
    joint: Option<u8>,
    /// Whether its value depends on the order in which subgroups changed it.
    contested: bool,
}

/// What one instruction of a subgroup does with atomics.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicTouch<'a> {
    /// The subgroup's number in its workgroup.
    pub(super) subgroup: u32,
    pub(super) at: &'a At,
    /// How the words are changed; nothing where they are only read.
    pub(super) combination: Option<Combination>,
    /// The lanes that access, those of them that write, and those of these that leave another value.
    pub(super) lanes: [Mask; 3],
    pub(super) offsets: &'a [u32],
}

impl SubgroupExchange {
    /// Begins a workgroup, whose subgroups are watched or not.
    pub(super) fn begin(&mut self, watches: bool) {
        self.phase += 1;
        self.begun = self.phase;
        self.watches = watches;
    }

    /// Whether the workgroup's subgroups are watched.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.watches
    }

    /// Notes that the workgroup has passed a barrier.
    pub(super) fn pass_barrier(&mut self) {
        self.phase += 1;
    }

    /// Notes what a subgroup does with one instruction; adds accesses whose values subgroups exchanged.
    pub(super) fn note(&mut self, touch: &AtomicTouch<'_>, exchanged: &mut BTreeSet<FollowId>) {
        let AtomicTouch { subgroup, at, combination, lanes, offsets } = *touch;
        let [accessing, writing, changed] = lanes;
        let Self { roots, sets, phase, begun, .. } = self;
        let root = usize::from(at.root);
        if roots.len() <= root {
            roots.resize_with(root + 1, Vec::new);
        }
        let pages = &mut roots[root];
        let number = subgroup + 1;
        let is_other = |who: u32| who != NOBODY && who != number;
        for part in 0..u32::from(at.count) {
            let shift = part * at.form.bytes();
            for_each_lane(accessing, |lane| {
                let word = atomic_word(pages, (offsets[lane] + shift) as usize / 4);
                word.enter(*phase, *begun);
                if at.follow != FOLLOW_NONE {
                    if word.contested || is_other(word.writer) {
                        exchanged.insert(at.follow);
                    }
                    word.reader = one_or_several(word.reader, number);
                    word.accesses = sets.with(word.accesses, at.follow);
                }
                let Some(combination) = combination else { return };
                if (writing >> lane) & 1 == 1 {
                    if is_other(word.reader) {
                        exchanged.extend(sets.get(word.accesses));
                    }
                    word.change(number, combination, (changed >> lane) & 1 == 1);
                } else if combination == Combination::Compares && is_other(word.writer) {
                    // It may have failed because the other was first.
                    word.contested = true;
                }
            });
        }
    }
}

/// A word among the pages of a root.
fn atomic_word(pages: &mut Vec<Option<Box<[AtomicWord]>>>, number: usize) -> &mut AtomicWord {
    let (page, place) = (number / PAGE, number % PAGE);
    if pages.len() <= page {
        pages.resize_with(page + 1, || None);
    }
    let page = pages[page].get_or_insert_with(|| vec![AtomicWord::default(); PAGE].into());
    &mut page[place]
}

impl AtomicWord {
    /// Forgets what lies behind a barrier; what was before the phase `begun` is another workgroup's.
    fn enter(&mut self, phase: u64, begun: u64) {
        if self.phase != phase {
            let contested = self.contested && self.phase >= begun;
            *self = Self { phase, contested, ..Self::default() };
        }
    }

    /// Notes a change by a subgroup; `differs` says whether it left another value.
    fn change(&mut self, number: u32, combination: Combination, differs: bool) {
        let joint = match combination {
            Combination::Commutes(operation) => Some(operation),
            Combination::Overwrites | Combination::Compares | Combination::Rounds => None,
        };
        let alike = joint.is_some() && self.joint == joint;
        if self.writer != NOBODY && self.writer != number {
            self.contested |= differs && !alike;
        } else if combination == Combination::Overwrites {
            self.contested = false;
        }
        self.joint = joint.filter(|_| alike || self.writer == NOBODY);
        self.writer = one_or_several(self.writer, number);
    }
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
