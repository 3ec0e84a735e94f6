//! One cell of a table, and the one form that each kind of figure has wherever it is shown.
//!
//! Input: figures, typed, or the reason why one is missing. Output: text for people, and plain numbers
//! for machines. What was not measured is a dash for people and empty for machines, never a zero.

use std::collections::BTreeMap;

use crate::analyze::{PairedRatio, RatioVerdict};
use crate::record::{Flag, Value, flag};
use crate::units::{Bytes, Nanoseconds, Ratio, Width, grouped_text, text};

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A kernel's full name, or a part of it where a heading says the rest.
    Kernel(String),
    /// Parameters with their values, those that a heading does not say.
    Parameters(Vec<(String, String)>),
    /// Words with more words beneath them, where a page has room.
    Noted(String, String),
    /// A mean of lanes.
    Lanes(f64),
    /// A width in lanes.
    Width(Width),
    /// The widths from the first to the second.
    Widths(Width, Width),
    /// A share; 1.0 is 100 %.
    Percent(Ratio),
    /// A time.
    Time(Nanoseconds),
    /// A time that is shorter than this, and could not be measured.
    Below(Nanoseconds),
    /// A time with its interval and, where it is known, its noise.
    Measured(Nanoseconds, [Nanoseconds; 2], Option<Ratio>),
    /// A ratio of times or operations; 1 is as long.
    Factor(f64),
    /// A ratio with the interval that it lies in.
    Between(f64, [f64; 2]),
    /// A count.
    Count(u128),
    /// A count to three digits, such as `6.28 M`.
    Rounded(u128),
    /// A size.
    Bytes(Bytes),
    /// A rate in this unit, such as `B/s`.
    Rate(f64, &'static str),
    /// Yes or no.
    YesNo(bool),
    /// Findings.
    Flags(Vec<Flag>),
    /// A figure, then words beneath it.
    With(Box<Self>, String),
    /// No figure, and why, as far as there is anything to say.
    Missing(String),
}

impl Cell {
    /// Words.
    pub fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    /// No figure, for a reason that needs no words.
    pub fn none() -> Self {
        Self::Missing(String::new())
    }

    /// A figure where there is one.
    pub fn from_option<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(Self::none, cell)
    }

    /// A time with its interval, as far as they are known; where it cannot be told from zero, what it is at most.
    pub fn time(median: Option<Nanoseconds>, interval: Option<[Nanoseconds; 2]>) -> Self {
        match (median, interval) {
            (Some(median), Some([_, high])) if median.0 <= 0.0 => Self::Below(high),
            (Some(median), Some(interval)) => Self::Measured(median, interval, None),
            (median, _) => Self::from_option(median, Self::Time),
        }
    }

    /// Parameters with their values.
    pub fn parameters(all: &BTreeMap<String, Value>) -> Self {
        Self::Parameters(
            all.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        )
    }

    /// A ratio that was measured pair by pair, with its interval; or what keeps it from being more.
    pub fn from_paired(ratio: &PairedRatio) -> Self {
        let figure = match ratio.interval {
            Some(interval) => Self::Between(ratio.median, [interval.low, interval.high]),
            None => Self::Factor(ratio.median),
        };
        match ratio.verdict() {
            RatioVerdict::Different => figure,
            RatioVerdict::NotDistinguished => figure.with("not distinguished from 1".to_owned()),
            RatioVerdict::TooFewPairs => figure.with(format!("only {} pairs", ratio.pairs)),
        }
    }

    /// The same with words beneath it.
    #[must_use]
    pub fn with(self, words: String) -> Self {
        if words.is_empty() { self } else { Self::With(Box::new(self), words) }
    }

    /// Whether there is no figure.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Missing(_) => true,
            Self::With(inner, _) => inner.is_missing(),
            Self::Text(words) => words.is_empty(),
            Self::Parameters(all) => all.is_empty(),
            Self::Flags(flags) => flags.is_empty(),
            _ => false,
        }
    }

    /// The cell for people, on one line.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(words) | Self::Kernel(words) | Self::Noted(words, _) => words.clone(),
            Self::Parameters(all) => parameters(all),
            Self::Lanes(lanes) => text::lanes(*lanes),
            Self::Width(width) => width.to_string(),
            Self::Widths(least, most) if least == most => least.to_string(),
            Self::Widths(least, most) => format!("{least}–{most}"),
            Self::Percent(share) => text::percent(*share),
            Self::Time(time) | Self::Measured(time, ..) => time.to_string(),
            Self::Below(bound) => format!("< {bound}"),
            Self::Factor(factor) | Self::Between(factor, _) => format!("{}×", text::ratio(*factor)),
            Self::Count(count) => grouped_text(*count),
            Self::Rounded(count) => text::rounded(*count),
            Self::Bytes(bytes) => bytes.to_string(),
            Self::Rate(value, unit) => text::rate(*value, unit),
            Self::YesNo(true) => "yes".to_owned(),
            Self::YesNo(false) => "no".to_owned(),
            Self::Flags(flags) => flags.iter().map(flag_text).collect::<Vec<String>>().join(", "),
            Self::With(inner, _) => inner.to_text(),
            Self::Missing(_) => text::NONE.to_owned(),
        }
    }

    /// What stands beneath it where there is room; empty where nothing does.
    pub fn to_note(&self) -> String {
        match self {
            Self::Noted(_, note) | Self::Missing(note) => note.clone(),
            Self::Measured(_, interval, Some(noise)) => {
                format!("{}; noise {}", text::times(*interval), text::percent(*noise))
            }
            Self::Measured(_, interval, None) => text::times(*interval),
            Self::Between(_, [low, high]) => {
                format!("{} to {}", text::ratio(*low), text::ratio(*high))
            }
            Self::With(inner, words) => match inner.to_note() {
                note if note.is_empty() => words.clone(),
                note => format!("{note}, {words}"),
            },
            Self::Text(_)
            | Self::Kernel(_)
            | Self::Parameters(_)
            | Self::Lanes(_)
            | Self::Width(_)
            | Self::Widths(..)
            | Self::Percent(_)
            | Self::Time(_)
            | Self::Below(_)
            | Self::Factor(_)
            | Self::Count(_)
            | Self::Rounded(_)
            | Self::Bytes(_)
            | Self::Rate(..)
            | Self::YesNo(_)
            | Self::Flags(_) => String::new(),
        }
    }

    /// Of what stands beneath it the interval; empty where there is none.
    pub fn to_interval(&self) -> String {
        match self {
            Self::With(inner, _) => inner.to_interval(),
            Self::Between(..) | Self::Measured(..) => self.to_note(),
            _ => String::new(),
        }
    }

    /// Of what stands beneath it all but the interval; empty where nothing does.
    pub fn to_remark(&self) -> String {
        match self {
            Self::With(inner, words) => match inner.to_remark() {
                remark if remark.is_empty() => words.clone(),
                remark => format!("{remark}, {words}"),
            },
            Self::Noted(..) | Self::Missing(_) => self.to_note(),
            _ => String::new(),
        }
    }

    /// The same without what [`Self::to_remark`] gives.
    #[must_use]
    pub fn without_remark(self) -> Self {
        match self {
            Self::With(inner, _) => inner.without_remark(),
            Self::Noted(words, _) => Self::Text(words),
            Self::Missing(_) => Self::none(),
            cell => cell,
        }
    }

    /// The figure as a plain number, in the unit of its kind; `None` if it is none, or several.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Lanes(value) | Self::Factor(value) | Self::Between(value, _) => Some(*value),
            Self::Percent(share) => Some(share.0),
            Self::Time(time) | Self::Measured(time, ..) => Some(time.0),
            Self::With(inner, _) => inner.value(),
            _ => None,
        }
    }

    /// The cell for machines: a plain number in the unit that its column's key says.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Text(words) | Self::Kernel(words) | Self::Noted(words, _) => words.clone(),
            Self::Parameters(all) => parameters(all),
            Self::Lanes(value) | Self::Factor(value) | Self::Between(value, _) => value.to_string(),
            Self::Rate(value, _) => value.to_string(),
            Self::Width(width) => width.to_string(),
            Self::Widths(least, most) => format!("{least} {most}"),
            Self::Percent(share) => share.0.to_string(),
            Self::Time(time) | Self::Measured(time, ..) => time.0.to_string(),
            Self::Count(count) | Self::Rounded(count) => count.to_string(),
            Self::Bytes(bytes) => bytes.0.to_string(),
            Self::YesNo(value) => value.to_string(),
            Self::Flags(flags) => flag::words(flags, " "),
            Self::With(inner, _) => inner.to_plain(),
            Self::Below(_) | Self::Missing(_) => String::new(),
        }
    }
}

/// Parameters as they are typed: `form=sealed, n=65536`.
fn parameters(all: &[(String, String)]) -> String {
    let pairs: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(", ")
}

/// A count with its noun: `1 launch`, `2 launches`.
pub fn count_text(count: u128, noun: &str) -> String {
    let ending = match (count, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", grouped_text(count))
}

/// How many workgroups of which size, as `8×1×1 workgroups of 64×1×1`; nothing for a number that a buffer
/// holds.
pub fn workgroups(count: Option<[u32; 3]>, size: [u32; 3]) -> String {
    let shape = |shape: [u32; 3]| shape.map(|n| n.to_string()).join("×");
    let noun = if count == Some([1; 3]) { "workgroup" } else { "workgroups" };
    let count = count.map_or("an indirect number of".to_owned(), shape);
    format!("{count} {noun} of {}", shape(size))
}

/// The most lines that a flag names in a table.
const FLAG_LINES_MAX: usize = 4;

/// A flag as a word; of many lines the first, and how many more there are.
fn flag_text(flag: &Flag) -> String {
    if flag.lines.len() <= FLAG_LINES_MAX {
        return flag.to_string();
    }
    let (first, more) = flag.lines.split_at(FLAG_LINES_MAX - 1);
    format!("{}_and_{}_more", Flag::at(flag.tag.clone(), first.to_vec()), more.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_figure_has_one_form() {
        let width = |lanes| Width::new(lanes).expect("a width");
        let narrow = [Nanoseconds(22_674.0), Nanoseconds(22_716.0)];
        let flags =
            |lines: Vec<u32>| Cell::Flags(vec![Flag::at(crate::record::Tag::LoopCutOff, lines)]);
        let time = Cell::Measured(Nanoseconds(22_700.0), narrow, Some(Ratio(0.0031)));
        let dispatch = Cell::time(Some(Nanoseconds(22_700.0)), Some(narrow));
        let short = Cell::time(Some(Nanoseconds(0.0)), Some([0.0, 4_600.0].map(Nanoseconds)));
        let cases = [
            (short, "< 4.60 µs", "", ""),
            (Cell::Rounded(6_281_234), "6.28 M", "", "6281234"),
            (Cell::Rounded(411_000), "411 k", "", "411000"),
            (Cell::Rounded(999), "999", "", "999"),
            (Cell::Lanes(8.053), "8.05", "", "8.053"),
            (Cell::Widths(width(8), width(32)), "8–32", "", "8 32"),
            (Cell::Widths(width(8), width(8)), "8", "", "8 8"),
            (Cell::Percent(Ratio(0.509)), "50.9 %", "", "0.509"),
            (Cell::Factor(1.8534), "1.853×", "", "1.8534"),
            (Cell::Factor(22.706), "22.71×", "", "22.706"),
            (Cell::Between(2.0, [1.99, 2.01]), "2.000×", "1.990 to 2.010", "2"),
            (Cell::Count(1_048_576), "1,048,576", "", "1048576"),
            (Cell::Rate(4.2e12, "B/s"), "4.20 TB/s", "", "4200000000000"),
            (Cell::Rate(12.0, "B/s"), "12.0 B/s", "", "12"),
            (time, "22.7 µs", "22.67 to 22.72 µs; noise 0.3 %", "22700"),
            (dispatch, "22.7 µs", "22.67 to 22.72 µs", "22700"),
            (Cell::none(), "–", "", ""),
            (Cell::Missing("not sampled".to_owned()), "–", "not sampled", ""),
            (Cell::Factor(1.0).with("few".to_owned()), "1.000×", "few", "1"),
            (flags([7, 9].to_vec()), "loop_cut_off_line_7_9", "", "loop_cut_off_line_7_9"),
            (
                flags((1..=13).collect()),
                "loop_cut_off_line_1_2_3_and_10_more",
                "",
                "loop_cut_off_line_1_2_3_4_5_6_7_8_9_10_11_12_13",
            ),
        ];
        for (cell, text, note, plain) in cases {
            let found = [cell.to_text(), cell.to_note(), cell.to_plain()];
            assert_eq!(found, [text, note, plain], "{cell:?}");
        }
    }
}
