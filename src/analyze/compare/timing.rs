//! The time of B over the time of A, and what the device itself did between the two.
//!
//! Input: two measurements with their runs. Output: a [`LaunchTimeRatio`]. Times that were sampled side by
//! side are divided round by round. Times of different moments are divided median by median, and
//! brought to A's speed by what the device was measured to do when it was opened, copies and
//! multiply-adds; where that was not measured the ratio says that it cannot be.

use crate::units::text;
use serde::Serialize;

use super::parts::Side;
use crate::analyze::names::device;
use crate::analyze::plausibility::plausibility;
use crate::analyze::rounds::{overlap, ticks_by_round, times_ns};
use crate::record::Device;
use crate::statistics::{paired_ratio, unpaired_ratio};

/// The seed of the intervals: any fixed number makes the same table from the same files.
const SEED: u64 = 0x6c61_6e65;

/// B's time over A's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchTimeRatio {
    /// Of the medians, or the median of the rounds' ratios where they were sampled side by side.
    pub ratio: f64,
    /// Its 99 % interval, low and high; nothing with fewer than eight rounds side by side.
    pub interval: Option<[f64; 2]>,
    /// Whether both were sampled in the same rounds.
    pub side_by_side: bool,
    /// The ratio at A's speed of the device, as copies and as multiply-adds say: the lower and the
    /// higher; `None` if it needs none, or cannot be said.
    pub at_speed_of_a: Option<[f64; 2]>,
    /// What is to be said of the moments, a sentence.
    pub drift: String,
}

impl LaunchTimeRatio {
    /// The least and the most that it may be: the interval, at A's speed where that is known.
    pub fn bounds(&self) -> [f64; 2] {
        let [low, high] = self.interval.unwrap_or([self.ratio; 2]);
        let [slow, fast] = self.at_speed_of_a.unwrap_or([self.ratio; 2]);
        [low * slow / self.ratio, high * fast / self.ratio]
    }
}

/// Divides the times of two measurements; `None` if one has none, or did not do its work.
pub(super) fn time_ratio(a: Side<'_>, b: Side<'_>) -> Option<LaunchTimeRatio> {
    let removed = |side: Side<'_>| plausibility(side.run, side.measurement).is_removed();
    if removed(a) || removed(b) {
        return None;
    }
    let (before, after) = (times_ns(a.run, a.measurement), times_ns(b.run, b.measurement));
    let unpaired = unpaired_ratio(&after, &before, SEED)?;
    let here = |side: Side<'_>| device(side.run, &side.measurement.device).cloned();
    let (left, right) = (here(a)?, here(b)?);
    if a.run.started_utc == b.run.started_utc
        && left == right
        && overlap(a.measurement, b.measurement)
    {
        let (before, after) = (ticks_by_round(a.measurement), ticks_by_round(b.measurement));
        let pairs: Vec<(f64, f64)> =
            after.iter().filter_map(|(round, b)| Some((*b, *before.get(round)?))).collect();
        let paired = paired_ratio(&pairs)?;
        return Some(LaunchTimeRatio {
            ratio: paired.median,
            interval: paired.interval.map(|interval| [interval.low, interval.high]),
            side_by_side: true,
            at_speed_of_a: None,
            drift: "Both were timed side by side, round by round.".to_owned(),
        });
    }
    let interval = Some([unpaired.interval.low, unpaired.interval.high]);
    let (at_speed_of_a, drift) = normalise(&left, &right, unpaired.ratio);
    Some(LaunchTimeRatio {
        ratio: unpaired.ratio,
        interval,
        side_by_side: false,
        at_speed_of_a,
        drift,
    })
}

/// The ratio at A's speed, and what is said of it.
fn normalise(a: &Device, b: &Device, ratio: f64) -> (Option<[f64; 2]>, String) {
    if a.name != b.name || a.backend != b.backend {
        return (None, "The times are those of two devices.".to_owned());
    }
    let rate = |rate_of: fn(&Device) -> Option<f64>| {
        let (before, after) = (rate_of(a)?, rate_of(b)?);
        (before > 0.0 && after > 0.0).then(|| after / before)
    };
    let rates = rate(|device| device.copy_bytes_per_s).zip(rate(|device| device.peak_fma_per_s));
    let Some((copies, fmas)) = rates else {
        let drift = "The times are of different moments, and cannot be brought to one speed of the \
                     device: its rates were not measured in both runs. The interval knows nothing of \
                     what changed in between.";
        return (None, drift.to_owned());
    };
    let (low, high) = (ratio * copies.min(fmas), ratio * copies.max(fmas));
    let drift = format!(
        "The times are of different moments. In B's run the device copied {} and did \
         multiply-adds {} times as fast as in A's: at A's speed B takes {} to {} times A's time.",
        text::ratio(copies),
        text::ratio(fmas),
        text::ratio(low),
        text::ratio(high)
    );
    (Some([low, high]), drift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_different_moments_are_brought_to_one_speed_or_said_not_to_be() {
        let a = crate::fixtures::run().devices[0].clone();
        let with = |copy, fma| Device { copy_bytes_per_s: copy, peak_fma_per_s: fma, ..a.clone() };
        let (before, after) = (with(Some(100.0), Some(10.0)), with(Some(50.0), Some(9.0)));
        let (found, text) = normalise(&before, &after, 2.0);
        assert_eq!(found, Some([1.0, 1.8]));
        assert!(text.contains("copied 0.500") && text.contains("1.000 to 1.800"), "{text}");
        let (found, text) = normalise(&before, &with(None, Some(9.0)), 2.0);
        assert!(found.is_none() && text.contains("cannot be brought to one speed"), "{text}");
        let other = Device { name: "another".to_owned(), ..after };
        assert!(normalise(&before, &other, 2.0).1.contains("two devices"));
        let time = LaunchTimeRatio {
            ratio: 2.0,
            interval: Some([1.8, 2.2]),
            side_by_side: false,
            at_speed_of_a: Some([1.0, 1.8]),
            drift: String::new(),
        };
        assert_eq!(time.bounds().map(|bound| (bound * 100.0).round()), [90.0, 198.0]);
    }
}
