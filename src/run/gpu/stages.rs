//! Times of the single dispatches of a launch.
//!
//! Input: a launch that has just been sampled. Output: a median with its interval for each dispatch that
//! is timed.
//! The launch's own time is `timed`'s.
//!
//! Passes of one submission follow one another and are alike: a submission counts once, by the median of
//! its passes, and the interval is one over submissions.
//!
//! No dispatch is repeated alone: the launch runs as it does in a sample, over and over, right after as
//! much of it without timestamps, and a timestamp is written after each dispatch. So each works on
//! the data and finds the caches that it has in the launch. It is done right after sampling, before
//! the processor checks outputs: meanwhile a GPU's clocks fall, on an H200 to a sixth within seconds.
//!
//! # What such a time holds
//!
//! From the end of the dispatch before to its own: starting, running, the tail in which its last
//! workgroups run, and what the driver does between dispatches. Where the device takes no timestamps
//! inside a pass, each dispatch has a pass of its own with timestamps at both ends, and the times
//! leave out what lies between passes.
//!
//! A timestamp also costs: the device drains, writes, and starts again; on an H200 about 5 µs,
//! where short dispatches take 2, and the same for one workgroup as for thousands. What it costs is
//! measured beside every group of launches, on a kernel of one workgroup with and without timestamps
//! between its dispatches, and taken off each dispatch; but not more than brings the sum of all down
//! to the launch's own time.

use super::device::GpuRunner;
use super::probe;
use super::timed::Prepared;
use super::{Gpu, GpuDispatch, GpuSample, Grid, SlotKind, Stamps};
use crate::kernel::{self, Launch};
use crate::record::Time;
use crate::run::counting::interrupted_error;
use crate::run::probes::FUSED;
use crate::run::sampling::{Around, BOOTSTRAP_SEED, Sampled, Timer};
use crate::run::{DispatchTime, RunError};
use crate::statistics::{Interval, median, median_interval};
use crate::units::Nanoseconds;

/// Samples of a launch's dispatches.
const SAMPLES: u32 = 24;

/// The same for a launch that takes so long that it goes without another before it.
const SAMPLES_LONG: u32 = 3;

/// The most launches with timestamps in a sample.
const REPEATS_MAX: u32 = 16;

/// The most dispatches with timestamps in a sample: a query set of wgpu's holds 4096 timestamps.
const DISPATCHES_MAX: usize = 2048;

/// Dispatches of the kernel that timestamps' cost is measured on, in a sample.
const COST_DISPATCHES: u32 = 64;

/// What sampling gave of a launch, and the times of its dispatches.
pub(super) type Staged = (Sampled, Vec<Option<DispatchTime>>);

impl<G: Gpu> GpuRunner<G> {
    /// Times the dispatches of launches that were sampled; a launch that takes down the device sets
    /// `lost`.
    pub(super) fn time_stages(
        &self,
        timer: Timer,
        launches: &[Launch],
        prepared: &[Result<Prepared<G>, RunError>],
        times: Vec<Result<Sampled, RunError>>,
        lost: &mut bool,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Staged, RunError>> {
        let mut cost_ns = None;
        let mut all = Vec::new();
        for (index, (prepared, time)) in prepared.iter().zip(times).enumerate() {
            let several =
                launches[index].dispatches.iter().filter(|dispatch| !dispatch.setup).count() > 1;
            let launch = match (prepared, time) {
                (Ok(_), Ok(_)) if *lost => Err(interrupted_error()),
                (Ok(prepared), Ok(Sampled::Timed { time, contradicted })) if several => {
                    notice(index);
                    self.dispatch_times(timer, &launches[index], prepared, &time, &mut cost_ns)
                        .map(|dispatches| (Sampled::Timed { time, contradicted }, dispatches))
                }
                (Ok(_), Ok(time)) => Ok((time, Vec::new())),
                (Err(error), _) => Err(error.clone()),
                (_, Err(error)) => Err(error),
            };
            *lost |= launch.as_ref().is_err_and(|error| error.kind.ends_device());
            all.push(launch);
        }
        all
    }

    /// The time of each dispatch of a launch, what a timestamp costs taken off; nothing of
    /// those that are not timed. The cost is measured where it is not known yet.
    fn dispatch_times(
        &self,
        timer: Timer,
        launch: &Launch,
        prepared: &Prepared<G>,
        time: &Time,
        cost_ns: &mut Option<f64>,
    ) -> Result<Vec<Option<DispatchTime>>, RunError> {
        let cost_ns = match *cost_ns {
            Some(known) => known,
            None => *cost_ns.insert(self.stamp_cost_ns(timer)?),
        };
        let work = prepared.dispatches(launch, false);
        let (count, repeats) = (work.len(), time.dispatches_per_sample);
        let (before, samples) = if prepared.long { (0, SAMPLES_LONG) } else { (repeats, SAMPLES) };
        let fitting = u32::try_from(DISPATCHES_MAX / count).unwrap_or(REPEATS_MAX);
        let repeats = repeats.min(REPEATS_MAX).min(fitting).max(1);
        let (resets, stamps) = (prepared.resets.as_slice(), Stamps::Between);
        let doing = format!("timing the dispatches of {}", launch.kernel);
        let sample = GpuSample { work: &work, repeats, before, resets, stamps };
        let recorded = self.gpu.record(&sample, &doing)?;
        let mut submissions = vec![Vec::new(); count];
        for _ in 0..samples {
            let mut passes = vec![Vec::new(); count];
            let begun = self.gpu.machine_ns();
            let spans = self.gpu.play(&recorded, &doing)?;
            let around = Around::at_most(self.gpu.machine_ns() - begun);
            for (index, ticks) in spans.into_iter().enumerate() {
                // Not those that ran backwards, or tell of more than passed.
                if timer.is_possible(ticks, around) {
                    passes[index % count].push(timer.duration_ns(ticks));
                }
            }
            for (submissions, passes) in submissions.iter_mut().zip(&passes) {
                submissions.extend(median(passes));
            }
        }
        let spans: Vec<_> = submissions.iter().map(|spans| Span::from_samples(spans)).collect();
        let mut spans = without_cost(&spans, time.median_ns, cost_ns).into_iter();
        let timed = |dispatch: &kernel::Dispatch| {
            if dispatch.setup { None } else { spans.next().flatten() }
        };
        Ok(launch.dispatches.iter().map(timed).collect())
    }

    /// What a timestamp between two dispatches adds, in nanoseconds; zero where it is not seen.
    fn stamp_cost_ns(&self, timer: Timer) -> Result<f64, RunError> {
        let doing = "finding what timestamps cost";
        let buffer = probe::storage(&self.gpu, &[0; 4])?;
        let kernel = probe::compile(&self.gpu, FUSED, &[(&buffer, SlotKind::ReadWrite)])?;
        let grid = Grid::Direct([1, 1, 1]);
        let work: [GpuDispatch<'_, G>; 1] = [(&kernel, &grid)];
        let repeats = COST_DISPATCHES;
        let record = |stamps| {
            let sample = GpuSample { work: &work, repeats, before: repeats, resets: &[], stamps };
            self.gpu.record(&sample, doing)
        };
        let (around, between) = (record(Stamps::Around)?, record(Stamps::Between)?);
        let (mut plain, mut stamped) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            let whole = timer.duration_ns(probe::single_sample(self.gpu.play(&around, doing)?)?);
            let found = self.gpu.play(&between, doing)?;
            plain.push(whole / f64::from(repeats));
            stamped.extend(found.into_iter().map(|ticks| timer.duration_ns(ticks)));
        }
        let cost = median(&stamped).zip(median(&plain)).map(|(with, without)| with - without);
        Ok(cost.unwrap_or(0.0).max(0.0))
    }
}

/// A median with its interval, in nanoseconds, what timestamps cost included.
#[derive(Clone, Copy, Debug)]
struct Span {
    median: f64,
    interval: Interval,
}

impl Span {
    /// Of a dispatch's time in each submission; `None` if there is none.
    fn from_samples(submissions: &[f64]) -> Option<Self> {
        let interval = median_interval(submissions, BOOTSTRAP_SEED)?;
        Some(Self { median: median(submissions)?, interval })
    }
}

/// Takes off each of the times what a timestamp costs, and not more than brings
/// their sum down to the launch's time. Of a dispatch that takes no longer than a timestamp nothing is left: its median
/// is 0, and its interval reaches to what a timestamp costs.
fn without_cost(
    spans: &[Option<Span>],
    launch: Nanoseconds,
    cost_ns: f64,
) -> Vec<Option<DispatchTime>> {
    let known: Vec<f64> = spans.iter().flatten().map(|span| span.median).collect();
    #[expect(clippy::cast_precision_loss, reason = "a launch has a few dispatches")]
    let over_ns = (known.iter().sum::<f64>() - launch.0) / known.len().max(1) as f64;
    let less_ns = cost_ns.min(over_ns).max(0.0);
    let less = |ns: f64| Nanoseconds((ns - less_ns).max(0.0));
    let time = |span: &Span| {
        let median_ns = less(span.median);
        let [low, high] = [less(span.interval.low), less(span.interval.high)];
        let high = if median_ns.0 > 0.0 { high } else { Nanoseconds(high.0.max(less_ns)) };
        DispatchTime { median_ns, ci95_ns: [low, high] }
    };
    spans.iter().map(|span| span.as_ref().map(time)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected_medians(medians: &[f64], launch_ns: f64, cost_ns: f64) -> Vec<f64> {
        let span = |median: &f64| Span::from_samples(&[*median]);
        let spans: Vec<_> = medians.iter().map(span).collect();
        let found = without_cost(&spans, Nanoseconds(launch_ns), cost_ns);
        found.into_iter().map(|time| time.unwrap().median_ns.0).collect()
    }

    #[test]
    fn what_timestamps_cost_is_taken_off_down_to_the_launch_s_time() {
        // Short dispatches of an H200, where a timestamp costs 5 µs.
        assert_eq!(corrected_medians(&[10.0, 9.0, 13.0, 31.0], 40.0, 5.0), [5.0, 4.0, 8.0, 26.0]);
        // A cost that is seen too high takes no more than there is.
        assert_eq!(corrected_medians(&[10.0, 30.0], 36.0, 7.0), [8.0, 28.0]);
        // Nothing is added where the launch takes longer, and no time falls below zero.
        assert_eq!(corrected_medians(&[10.0, 30.0], 50.0, 7.0), [10.0, 30.0]);
        assert_eq!(corrected_medians(&[1.0, 39.0], 20.0, 7.0), [0.0, 32.0]);
        let short = Span::from_samples(&[1.0, 1.2, 0.9]);
        let short =
            without_cost(&[short, Span::from_samples(&[39.0])], Nanoseconds(20.0), 7.0)[0].unwrap();
        assert_eq!(short.median_ns.0, 0.0, "no longer than a timestamp takes");
        assert_eq!(short.ci95_ns.map(|end| end.0), [0.0, 7.0], "and no shorter bound is known");
        assert_eq!(without_cost(&[None], Nanoseconds(1.0), 5.0), [None]);
    }

    #[test]
    fn an_interval_is_one_over_submissions_and_less_the_cost_too() {
        let submissions: Vec<f64> = (0..24).map(|step| 100.0 + f64::from(step)).collect();
        let span = Span::from_samples(&submissions);
        let found = without_cost(&[span], Nanoseconds(0.0), 5.0)[0].unwrap();
        let [low, high] = found.ci95_ns.map(|end| end.0);
        assert_eq!(found.median_ns.0, 111.5 - 5.0);
        // The median of 24 even steps lies within some five steps of its middle, nineteen times in twenty.
        assert!((101.0..105.0).contains(&low) && (108.0..112.0).contains(&high), "{low} {high}");
        assert!(Span::from_samples(&[]).is_none());
    }
}
