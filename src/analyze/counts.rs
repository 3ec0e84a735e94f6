//! Sums of counts, and the means and shares that follow from them.
//!
//! Input: measurements. Output: [`Work`], mean active lanes and efficiency, measured and expected.

use crate::record::{Block, Measurement};
use crate::units::{Ratio, Width};

/// Sums over all blocks of all dispatches of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Σ operations × executions.
    pub subgroup_operations: u128,
    /// Σ operations × active lanes.
    pub lane_operations: u128,
}

impl Work {
    /// Sums over the blocks of `measurement`, without those of dispatches that only set up.
    pub fn from_measurement(measurement: &Measurement) -> Self {
        let worked = measurement.dispatches.iter().filter(|dispatch| !dispatch.setup);
        let blocks = worked.flat_map(|dispatch| &dispatch.blocks);
        blocks.fold(Self::default(), |sum, block| sum.plus(Self::of_block(block)))
    }

    /// The work of one block.
    pub(super) fn of_block(block: &Block) -> Self {
        let operations = u128::from(block.operations);
        Self {
            subgroup_operations: operations * u128::from(block.executions.0),
            lane_operations: operations * u128::from(block.lanes.0),
        }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            subgroup_operations: self.subgroup_operations + other.subgroup_operations,
            lane_operations: self.lane_operations + other.lane_operations,
        }
    }

    /// Returns the lane slots: what it cost at a width, which compares across widths.
    pub fn lane_slots(self, width: Width) -> u128 {
        self.subgroup_operations * u128::from(width.lanes())
    }

    /// Returns the mean active lanes; `None` if nothing was executed.
    pub fn active_lanes_mean(self) -> Option<f64> {
        ratio(self.lane_operations, self.subgroup_operations)
    }
}

/// Divides two sums; `None` if the divisor is zero.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts is shown to a few digits")]
pub(super) fn ratio(dividend: u128, divisor: u128) -> Option<f64> {
    (divisor != 0).then(|| dividend as f64 / divisor as f64)
}

/// Returns every block of every dispatch.
pub(super) fn blocks(measurement: &Measurement) -> impl Iterator<Item = &Block> {
    measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks)
}

/// Returns the mean active lanes from the blocks, else the figure that the record gives.
pub(super) fn active_lanes_mean(measurement: &Measurement) -> Option<f64> {
    Work::from_measurement(measurement).active_lanes_mean().or(measurement.active_lanes_mean)
}

/// Divides mean active lanes by the width.
pub(super) fn efficiency(active: Option<f64>, width: Option<Width>) -> Option<Ratio> {
    Some(Ratio(active? / f64::from(width?.lanes())))
}

/// Returns the mean active lanes that follow from the blocks' expectations.
///
/// A block's expected executions are its lanes over its expected mean; a block without an expectation
/// is taken as it was counted. So the figure is Σ operations × lanes / Σ operations × executions.
pub(super) fn active_lanes_mean_expected(measurement: &Measurement) -> Option<f64> {
    let (mut lanes_sum, mut issues_sum, mut any) = (0.0, 0.0, false);
    for block in blocks(measurement) {
        any |= block.active_lanes_mean_expected.is_some();
        #[expect(clippy::cast_precision_loss, reason = "a mean is shown to a few digits")]
        let [operations, lanes, executions] =
            [block.operations, block.lanes.0, block.executions.0].map(|count| count as f64);
        lanes_sum += operations * lanes;
        issues_sum +=
            operations * block.active_lanes_mean_expected.map_or(executions, |mean| lanes / mean);
    }
    (any && issues_sum > 0.0).then(|| lanes_sum / issues_sum)
}

/// How unlike executions are, in words: the active lanes that a tenth, half and nine tenths of them have at most, where
/// they have not all the same. `bins` are executions by active lanes, 1 first.
pub fn describe_quantiles(bins: &[u128]) -> Option<String> {
    let whole: u128 = bins.iter().sum();
    if bins.iter().filter(|count| **count > 0).count() < 2 {
        return None;
    }
    let at_most = |tenths: u128| {
        let sums = bins.iter().scan(0_u128, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.take_while(|sum| *sum * 10 < whole * tenths).count() + 1
    };
    let [least, half, most] = [1, 5, 9].map(at_most);
    Some(format!(
        "active lanes: at most {least} in a tenth of them, {half} in half, {most} in nine tenths"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_executions_by_active_lanes() {
        // 1 execution of 1 lane, 5 of 2, 4 of 4.
        let words = describe_quantiles(&[1, 5, 0, 4]).unwrap();
        assert_eq!(
            words,
            "active lanes: at most 1 in a tenth of them, 2 in half, 4 in nine tenths"
        );
        assert_eq!(describe_quantiles(&[0, 7, 0, 0]), None);
        assert_eq!(describe_quantiles(&[]), None);
    }
}
