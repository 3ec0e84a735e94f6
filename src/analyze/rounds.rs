//! Times of launches, by round and sample by sample.
//!
//! Input: measurements. Output: ticks and nanoseconds of one launch, and whether two measurements were
//! sampled side by side. Ratios are made by whoever compares.

use std::collections::BTreeMap;

use super::names::device;
use crate::record::{Measurement, Run, SampleState};
use crate::statistics;
use crate::units::Nanoseconds;

/// Returns the time of one launch in each round, in ticks: the median of the round's `ok` samples.
pub(super) fn ticks_by_round(measurement: &Measurement) -> BTreeMap<u32, f64> {
    let Some(time) = &measurement.time else { return BTreeMap::new() };
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in time.samples.iter().filter(|sample| sample.state == SampleState::Ok) {
        #[expect(clippy::cast_precision_loss, reason = "ticks of one pass, far below 2^53")]
        let ticks = sample.ticks_end.saturating_sub(sample.ticks_begin) as f64;
        let launches = f64::from(time.dispatches_per_sample.max(1));
        rounds.entry(sample.round).or_default().push(ticks / launches);
    }
    rounds
        .into_iter()
        .filter_map(|(round, ticks)| Some((round, statistics::median(&ticks)?)))
        .collect()
}

/// Returns every `ok` sample's time of one launch in nanoseconds; empty without a tick's length.
pub(super) fn times_ns(run: &Run, measurement: &Measurement) -> Vec<f64> {
    let period = device(run, &measurement.device).and_then(|device| device.timestamp_period_ns);
    let (Some(period), Some(time)) = (period, &measurement.time) else { return Vec::new() };
    let launches = f64::from(time.dispatches_per_sample.max(1));
    time.samples
        .iter()
        .filter(|sample| sample.state == SampleState::Ok)
        .map(|sample| {
            #[expect(clippy::cast_precision_loss, reason = "ticks of one pass, far below 2^53")]
            let ticks = sample.ticks_end.saturating_sub(sample.ticks_begin) as f64;
            ticks * period / launches
        })
        .collect()
}

/// Returns the median time of one launch where the device was timed.
pub(super) fn median_time(measurement: &Measurement) -> Option<Nanoseconds> {
    measurement.time.as_ref().map(|time| time.median_ns)
}

/// Whether the samples of two measurements were taken in overlapping stretches of time.
///
/// A single sample of each cannot overlap, and is taken to be side by side where it shares a round.
pub(super) fn overlap(first: &Measurement, other: &Measurement) -> bool {
    let stretch = |measurement: &Measurement| {
        let samples = &measurement.time.as_ref()?.samples;
        let begin = samples.iter().map(|sample| sample.ticks_begin).min()?;
        let end = samples.iter().map(|sample| sample.ticks_end).max()?;
        Some((begin, end, samples.len()))
    };
    match (stretch(first), stretch(other)) {
        (Some(a), Some(b)) => (a.2 == 1 && b.2 == 1) || (a.0 <= b.1 && b.0 <= a.1),
        _ => false,
    }
}
