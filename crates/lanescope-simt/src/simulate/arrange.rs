//! Invocations in another order, and in workgroups of another size, of a program that is the same.
//!
//! Input: the numbers of the invocations of a dispatch, in the order in which lanes are to be given
//! to them. Output: for each lane of each workgroup the invocation that it is. An invocation is its
//! built-in values, so that whoever has those of invocation i does what invocation i does, and writes
//! where it writes. It asks nothing of the program: [`Program::find_fixed`](crate::program::Program::find_fixed) says
//! whether its invocations may change places.

use crate::units::BlockId;

/// Which invocation each lane is, where it is not the one of its own place.
///
/// Invocations are numbered workgroup by workgroup in dispatch order (x runs fastest), by local index in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    order: Vec<u64>,
    workgroup: u32,
}

impl Arrangement {
    /// Gives lanes to the invocations `order` one after the other, in workgroups of `workgroup`
    /// invocations each, the last of which may have fewer; invocations that are left out do not run.
    ///
    /// # Panics
    ///
    /// When a workgroup has no invocation.
    pub fn new(order: Vec<u64>, workgroup: u32) -> Self {
        assert!(workgroup > 0, "a workgroup has an invocation");
        Self { order, workgroup }
    }

    /// The invocations, in the order in which lanes are given to them.
    pub fn order(&self) -> &[u64] {
        &self.order
    }

    /// Invocations of a workgroup.
    pub fn workgroup(&self) -> u32 {
        self.workgroup
    }

    // Arrangements

    /// Workgroups that run.
    pub(super) fn groups(&self) -> u64 {
        (self.order.len() as u64).div_ceil(u64::from(self.workgroup))
    }

    /// Invocations of a workgroup that runs.
    pub(super) fn invocations(&self, group: u64) -> u32 {
        let before = group.saturating_mul(u64::from(self.workgroup));
        let left = (self.order.len() as u64).saturating_sub(before);
        u32::try_from(left).unwrap_or(u32::MAX).min(self.workgroup)
    }

    /// The invocation with this local index in a workgroup that runs; the first where there is none.
    pub fn invocation(&self, group: u64, local: u32) -> u64 {
        let place = group.saturating_mul(u64::from(self.workgroup)) + u64::from(local);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        self.order.get(place).copied().unwrap_or_default()
    }
}

/// A branch of a loop's body that lanes come to in iterations of their own, and take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Postponed {
    /// The first block of one arm of the branch.
    pub arm: BlockId,
    /// Whether the lanes that wait are those that do not take this arm, as where it is a `continue`.
    pub others: bool,
}
