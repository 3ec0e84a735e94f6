//! Whether a measured time is long enough for the work that was counted.
//!
//! Input: a measurement with the multiply-adds of its blocks, and its device's calibrated peak.
//! Output: possible, impossible, or not known. It says nothing about times that are too long.

use super::counts::blocks;
use super::names::device;
use super::rounds::median_time;
use crate::record::{Measurement, Run, Tag, flag};

/// How far above the calibrated peak a kernel may seem to run before its time is not believed.
///
/// Calibration and clocks differ by a few percent from run to run; a kernel that was optimised away
/// is off by a factor.
pub const MARGIN_RATIO: f64 = 1.10;

/// What the multiply-adds say about a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plausibility {
    /// The device can do this many multiply-adds in this time; the ratio is rate over peak.
    Possible {
        /// Multiply-adds a second over the device's peak, 1.0 being the peak.
        peak_ratio: f64,
    },
    /// It cannot: some of the work was not done.
    WorkRemoved {
        /// Multiply-adds a second over the device's peak, above [`MARGIN_RATIO`].
        peak_ratio: f64,
    },
    /// Not timed, not counted, no multiply-adds told apart, or no peak measured.
    Unknown,
}

impl Plausibility {
    /// Whether the work cannot have been done in the time.
    pub fn is_removed(self) -> bool {
        matches!(self, Self::WorkRemoved { .. })
    }
}

/// Judges the time of `measurement` by its multiply-adds: executions × width × `fma_operations` a block.
///
/// Idle lanes count, since they take the subgroup operation too. Where the timed module may have run at
/// another width than the counted one, only active lanes count: the least work at any width.
pub fn plausibility(run: &Run, measurement: &Measurement) -> Plausibility {
    let peak = device(run, &measurement.device).and_then(|device| device.peak_fma_per_s);
    let (Some(peak), Some(time), Some(width)) =
        (peak.filter(|peak| *peak > 0.0), median_time(measurement), measurement.subgroup_width)
    else {
        return Plausibility::Unknown;
    };
    let width_known = !flag::has(&measurement.flags, &Tag::WidthNotKnownWhenTimed);
    let fmas: u128 = blocks(measurement)
        .map(|block| {
            let lanes = if width_known {
                u128::from(block.executions.0) * u128::from(width.lanes())
            } else {
                u128::from(block.lanes.0)
            };
            u128::from(block.fma_operations.unwrap_or(0)) * lanes
        })
        .sum();
    if fmas == 0 || time.0 <= 0.0 {
        return Plausibility::Unknown;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to a few digits")]
    let peak_ratio = fmas as f64 / (time.0 * 1e-9) / peak;
    if peak_ratio > MARGIN_RATIO {
        Plausibility::WorkRemoved { peak_ratio }
    } else {
        Plausibility::Possible { peak_ratio }
    }
}
