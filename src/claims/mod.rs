//! What published claims are worth: rules of the ledger, held against records.
//!
//! Input: the ledger `shaders/claims.toml`, and records. Output: a [`Judged`] for each claim that was asked
//! for: a verdict, the figures that decided it, and what repeats them. Nothing is run here, and no kernel's
//! name stands in this code: names stand in the ledger.
//!
//! # How a verdict comes about
//!
//! A claim has **checks**, or a reason why it has none. A check looks at one quantity of the launches that
//! its selector takes, at every point and on every device of the records, and says for each whether it is
//! as claimed; with an interval that lies on both sides of a limit a point decides nothing. A check
//! *holds* where every point that decides is as claimed and each value that its selectors name has one, *fails* where none is, and holds *only where* a
//! condition is met that tells the two apart. It is *undecided* where no point decides. With `some = true`
//! one point that is as claimed is enough: for claims of what can be. Lanes, operations and slots that another rule
//! counted than today's ([`crate::record::Run::counting_rule`]) are no points; an undecided check says how many there are.
//!
//! A claim is **contradicted** where a check fails. Else it **holds only where** its checks hold, if one
//! does so only there; else it is **not testable here** where one is undecided; else it **holds**. What is
//! history or opinion is **no claim about machines**. Two claims that say the opposite of each other are judged together,
//! and a sentence says which of them the records support. Doubts of the ledger are judged by checks of their
//! own, in the same way.

mod condition;
mod evidence;
mod judge;
mod ledger;
mod pair;
mod selector;
#[cfg(test)]
mod tests;

pub use evidence::{FactTable, Point, Record};
pub use judge::{Figure, Judged, Pair, Verdict, judge, only};
pub use ledger::{
    Check, Claim, Goes, LedgerError, OccupancyFigure, Quantity, Scope, ScopeWord, ledger,
};
pub use pair::{judge_all, judge_all_noticing, judge_touched};
pub use selector::Selector;
