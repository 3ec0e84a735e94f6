//! A card of advice, as plain data.
//!
//! Input: nothing. Output: [`Advice`]. What makes one is [`super`]'s matter.

use super::rule::Rule;
use crate::record::Change;
use crate::units::{Ratio, Width};

/// The least saving, as part of all subgroup operations, that is worth advice; correctness is always.
pub const GAIN_SHARE_MIN: Ratio = Ratio(0.01);

/// A piece of advice for one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to change.
    pub rule: Rule,
    /// The device's id.
    pub device: String,
    /// The width at which it was tried, in lanes.
    pub width: Width,
    /// The file.
    pub file: String,
    /// The line of the condition, of the loop, of the barrier or of the entry point's first
    /// operation; from 1.
    pub line: u32,
    /// The subgroup operations that it saves and that no advice before it saves.
    pub saved_operations: u128,
    /// The same as part of all subgroup operations of the device's launch.
    pub gain_share: Ratio,
    /// The subgroup operations that it saves where nothing else is changed.
    pub saved_alone: u128,
    /// What a model says in place of operations, where nothing was tried.
    pub modelled: Option<String>,
    /// What a model says of the same rule and line at each other width at which it looked; `None` where it has no
    /// card there. Empty where nothing is modelled.
    pub modelled_at: Vec<(Width, Option<String>)>,
    /// What to do, in a sentence.
    pub sentence: String,
    /// Why, with the figures.
    pub reason: String,
    /// What the change alone saves at each width at which it was tried, as part of all subgroup operations.
    pub at_widths: Vec<(Width, Ratio)>,
    /// The change that was tried; `None` where a model or a rule speaks.
    pub change: Option<Change>,
    /// Where the body of the branch or loop begins, line and column; `None` unless another card has the same rule
    /// and line.
    pub entered_at: Option<[u32; 2]>,
}
