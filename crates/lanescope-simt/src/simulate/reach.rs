//! Where the lanes of an instruction access a memory, and how these places lie to one another.
//!
//! Input: each lane's offset and the static part of the access. Output: [`Reach`].

#![expect(clippy::inline_always, reason = "compiled into each kind of access")]

use super::mask::{Mask, all, bits};
use super::op::{At, Form};

/// Where the lanes of an instruction access a memory.
#[derive(Debug)]
pub(super) struct Reach<const N: usize> {
    /// The lanes whose access lies inside.
    pub(super) valid: Mask,
    /// The first byte of each lane's access; entries of other lanes mean nothing.
    pub(super) offsets: [u32; N],
    /// How they lie to one another.
    pub(super) pattern: Pattern,
}

/// How the accesses of a subgroup's lanes lie to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All lanes are there, and each accesses the words behind the lane's before it.
    Row,
    /// All lanes are there, and access the same words.
    Same,
    /// Anyhow.
    Scattered,
}

impl<const N: usize> Reach<N> {
    /// Finds which lanes of `exec` access a memory of `size` bytes inside it, and where.
    #[inline(always)]
    pub(super) fn new(dynamic: &[u32; N], exec: Mask, at: &At, size: u32) -> Self {
        let Some(room) = size.checked_sub(at.end) else {
            return Self { valid: 0, offsets: [0; N], pattern: Pattern::Scattered };
        };
        let mut offsets = [0; N];
        let mut within = [0; N];
        for lane in 0..N {
            // An offset that is out of bounds already is over every room.
            within[lane] = u32::from(dynamic[lane] <= room);
            offsets[lane] = dynamic[lane].wrapping_add(at.offset);
        }
        let valid = exec & bits(&within);
        let mut pattern = Pattern::Scattered;
        if valid == all::<N>() && at.form == Form::Words {
            let step = u32::from(at.count) * 4;
            let (mut same, mut row) = (0, 0);
            for (&offset, number) in offsets.iter().zip(0..) {
                same |= offset ^ offsets[0];
                row |= offset ^ offsets[0].wrapping_add(step.wrapping_mul(number));
            }
            // What would lie in a row past the end of all addresses does not.
            if row == 0 && offsets[0] <= offsets[N - 1] {
                pattern = Pattern::Row;
            } else if same == 0 {
                pattern = Pattern::Same;
            }
        }
        Self { valid, offsets, pattern }
    }

    /// The words that a [`Pattern::Row`] covers.
    #[inline(always)]
    pub(super) fn row(&self, count: u16) -> std::ops::Range<usize> {
        let first = self.offsets[0] as usize / 4;
        first..first + N * usize::from(count)
    }
}
