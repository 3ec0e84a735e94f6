//! Which lines of a long source a terminal is shown.
//!
//! Input: a device's lines. Output: [`Piece`]s that cover the source from its first line to its
//! last: lines to show, and runs that are left out with their share of the subgroup operations, so that
//! nothing goes missing unsaid.

use std::ops::RangeInclusive;

use crate::analyze::{DeviceProfile, Profile};
use crate::present::fit::tabs;
use crate::units::Ratio;

/// The longest source that is shown whole, in lines.
const WHOLE_MAX: usize = 300;

/// Lines that waste most, which are shown whatever their share.
const WORST: usize = 20;

/// The least share of the subgroup operations for which a line is shown.
const SHARE_MIN: f64 = 0.01;

/// Lines shown around one that is.
const AROUND: usize = 2;

/// The shortest run that is left out, in lines.
const LEFT_MIN: usize = 3;

/// A part of the source; lines from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Lines to show.
    Lines(RangeInclusive<usize>),
    /// Lines that are left out.
    Left {
        /// Which.
        lines: RangeInclusive<usize>,
        /// Their part of all subgroup operations.
        share: Ratio,
    },
}

/// Chooses among the `count` lines of `file`.
pub(super) fn pieces(device: &DeviceProfile, file: &str, count: usize) -> Vec<Piece> {
    if count <= WHOLE_MAX {
        return vec![Piece::Lines(1..=count)];
    }
    let lines = || device.lines.iter().filter(|line| line.file == file);
    let number = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let share = |ratio: Option<Ratio>| ratio.map_or(0.0, |ratio| ratio.0);
    let wasteful =
        lines().filter(|line| line.wasted.is_some_and(|wasted| wasted > 0.0)).take(WORST);
    let heavy = lines().filter(|line| share(line.share) >= SHARE_MIN);
    let mut shown = vec![false; count + 1];
    for line in wasteful.chain(heavy).map(|line| number(line.line)).filter(|line| *line <= count) {
        let last = (line + AROUND).min(count);
        shown[line.saturating_sub(AROUND).max(1)..=last].fill(true);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut first = 1;
    while first <= count {
        let same = |line: &usize| *line <= count && shown[*line] == shown[first];
        let last = (first..).take_while(same).last().unwrap_or(first);
        let short = last - first < LEFT_MIN - 1;
        if shown[first] || short {
            // A short run joins what is shown around it.
            match pieces.last_mut() {
                Some(Piece::Lines(before)) => *before = *before.start()..=last,
                _ => pieces.push(Piece::Lines(first..=last)),
            }
        } else {
            let inside = lines().filter(|line| (first..=last).contains(&number(line.line)));
            let share = Ratio(inside.map(|line| share(line.share)).sum());
            pieces.push(Piece::Left { lines: first..=last, share });
        }
        first = last + 1;
    }
    pieces
}

/// A line of the source by its number from 1; empty where there is none.
pub(super) fn source_line(profile: &Profile, number: u32) -> String {
    tabs(profile.line(number))
}
