//! Newtypes of the quantities that lanescope counts and measures.
//!
//! Input: plain numbers from a device, a file or an argument. Output: values whose type names their
//! unit, so that nanoseconds are never added to bytes. This module does no arithmetic beyond what a
//! unit allows and knows nothing about devices.

pub mod random;
pub mod text;
pub mod visible;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The rule by which blocks' operations are counted, as records name it: 1 where jumps (`break`,
/// `continue`, `return`) count an operation, 2 where they count none. `program` counts by it.
pub const COUNTING_RULE: u32 = 2;

/// The number of lanes of a subgroup: a power of two from 1 to 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Width(u32);

impl Width {
    /// The widest subgroup that WGSL allows, in lanes.
    pub const MAX: u32 = 128;

    /// 32 lanes: NVIDIA's warps, AMD's wave32, Apple's SIMD-groups.
    pub const W32: Self = Self(32);

    /// 64 lanes: AMD's wave64.
    pub const W64: Self = Self(64);

    /// Checks `lanes` and wraps it.
    ///
    /// # Errors
    ///
    /// [`WidthError`] when `lanes` is zero, over [`Width::MAX`] or no power of two.
    pub fn new(lanes: u32) -> Result<Self, WidthError> {
        if lanes.is_power_of_two() && lanes <= Self::MAX {
            Ok(Self(lanes))
        } else {
            Err(WidthError(lanes))
        }
    }

    /// The width in lanes.
    pub fn lanes(self) -> u32 {
        self.0
    }

    /// The width as an index bound.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Width {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl TryFrom<u32> for Width {
    type Error = WidthError;
    fn try_from(lanes: u32) -> Result<Self, WidthError> {
        Self::new(lanes)
    }
}

impl From<Width> for u32 {
    fn from(width: Width) -> Self {
        width.0
    }
}

/// A subgroup width that no device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no subgroup width: it must be a power of two from 1 to {max}", max = Width::MAX)]
pub struct WidthError(pub u32);

/// The number of a basic block in a program, from 0, as `program` numbers them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The block's place in a table of all blocks.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b{}", self.0)
    }
}

/// How often subgroups executed something with at least one active lane.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Executions(pub u64);

/// Active lanes, summed over executions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Lanes(pub u64);

/// Parts of subgroups that had an active lane, summed over executions: what narrower hardware would
/// have executed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Parts {
    /// Parts of 16 neighbouring lanes, the first from lane 0.
    pub of_16: u64,
    /// Parts of 32 neighbouring lanes, the first from lane 0.
    pub of_32: u64,
}

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.abs() {
            t if t < 1e3 => (self.0, "ns"),
            t if t < 1e6 => (self.0 / 1e3, "µs"),
            t if t < 1e9 => (self.0 / 1e6, "ms"),
            _ => (self.0 / 1e9, "s"),
        };
        let decimals = match value.abs() {
            v if v < 10.0 => 2,
            v if v < 100.0 => 1,
            _ => 0,
        };
        write!(formatter, "{value:.decimals$} {unit}")
    }
}

/// A size in bytes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..1_000 => return write!(formatter, "{} B", self.0),
            1_000..1_000_000 => (approximate(self.0) / 1e3, "kB"),
            1_000_000..1_000_000_000 => (approximate(self.0) / 1e6, "MB"),
            _ => (approximate(self.0) / 1e9, "GB"),
        };
        let decimals = match value {
            v if v < 10.0 => 2,
            v if v < 100.0 => 1,
            _ => 0,
        };
        write!(formatter, "{value:.decimals$} {unit}")
    }
}

/// A dimensionless ratio; 1.0 is 100 %.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Ratio(pub f64);

impl Ratio {
    /// Divides two counts, or `None` if the divisor is zero: what was not counted has no ratio.
    pub fn divide(dividend: u64, divisor: u64) -> Option<Self> {
        (divisor != 0).then(|| Self(approximate(dividend) / approximate(divisor)))
    }
}

/// A count as a real number: itself below 2^53, which no count of one run comes near, else the
/// nearest that there is.
#[expect(clippy::cast_precision_loss, reason = "what this function is for")]
pub const fn approximate(count: u64) -> f64 {
    count as f64
}

/// Writes a count with its thousands set apart by commas.
pub fn grouped_text(value: u128) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a figure of whatever unit: large whole numbers in groups, others to five digits.
pub fn figure(value: f64) -> String {
    if value.fract() == 0.0 && (1000.0..9e15).contains(&value) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number that is not negative and below 2^53"
        )]
        return grouped_text(value as u128);
    }
    let digits = [10.0, 100.0, 1000.0].iter().filter(|limit| value.abs() >= **limit).count();
    format!("{value:.*}", 4 - digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_five_digits() {
        let shown = [0.064_626, 16.516_129, 142.360_352, 4_507_648.0, 25.0].map(figure);
        assert_eq!(shown, ["0.0646", "16.516", "142.36", "4,507,648", "25.000"]);
    }

    #[test]
    fn bytes_scale_to_a_readable_unit() {
        let shown = [0, 999, 12_288, 1_048_576, 201_326_592, 1 << 30].map(|n| Bytes(n).to_string());
        assert_eq!(shown, ["0 B", "999 B", "12.3 kB", "1.05 MB", "201 MB", "1.07 GB"]);
    }

    #[test]
    fn only_powers_of_two_up_to_128_are_widths() {
        for lanes in 0..=300 {
            let valid = [1, 2, 4, 8, 16, 32, 64, 128].contains(&lanes);
            assert_eq!(Width::new(lanes).is_ok(), valid, "{lanes}");
        }
        assert!(serde_json::from_str::<Width>("33").is_err());
    }

    #[test]
    fn nanoseconds_scale_to_a_readable_unit() {
        for (ns, text) in
            [(1.5, "1.50 ns"), (22_700.0, "22.7 µs"), (5e8, "500 ms"), (2e9, "2.00 s")]
        {
            assert_eq!(Nanoseconds(ns).to_string(), text);
        }
    }

    #[test]
    fn a_ratio_to_nothing_is_nothing() {
        assert_eq!(Ratio::divide(1, 0), None);
        assert_eq!(Ratio::divide(1, 2), Some(Ratio(0.5)));
    }
}
