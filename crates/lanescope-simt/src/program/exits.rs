//! How lanes leave a block, a construct or a body.
//!
//! Input: jumps, and what comes one behind the other or side by side. Output: [`Exits`], the ways on.

#![warn(clippy::wildcard_enum_match_arm)]

use super::visit::Jump;

/// The ways in which lanes go on from a block, a construct or a body, seen from what holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Some may leave the loop or switch around.
    pub breaks: bool,
    /// Some may go to the `continuing` of the loop around.
    pub continues: bool,
    /// Some may leave the function.
    pub returns: bool,
    /// Some may come to the end.
    pub falls: bool,
}

impl Exits {
    /// As lanes go on from nothing.
    pub const THROUGH: Self = Self { breaks: false, continues: false, returns: false, falls: true };

    /// How lanes leave what comes first, and then this.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { falls: self.falls && next.falls, ..self.or(next) }
    }

    /// How lanes leave by a jump.
    pub(super) fn of_jump(jump: Jump) -> Self {
        match jump {
            Jump::Break => Self { breaks: true, ..Self::default() },
            Jump::Continue => Self { continues: true, ..Self::default() },
            Jump::Return(_) | Jump::Kill => Self { returns: true, ..Self::default() },
        }
    }

    /// Whether some lanes may leave before the end.
    pub fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    /// Whether `break` is the only way on.
    pub fn only_breaks(self) -> bool {
        self.breaks && !self.continues && !self.returns && !self.falls
    }

    /// One or the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
            falls: self.falls || other.falls,
        }
    }
}
