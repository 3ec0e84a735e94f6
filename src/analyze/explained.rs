//! What a launch's time can come from: idle lanes at most, memory and multiply-adds at least.
//!
//! Input: a measurement with times and counts, and the rates that were measured of its device. Output: an
//! [`ExplainedTime`] with a verdict. It is a bound and no model: what neither idle lanes nor a rate
//! explain stays unexplained.
//!
//! # The bounds
//!
//! - **Idle lanes, at most**: with every lane at work the launch would take at least its efficiency's part
//!   of its subgroup operations, so that at most `time × (1 − efficiency)` can go; and what memory takes
//!   at least cannot go with it: at most `time − memory`.
//! - **Memory, at least**: the bytes that must be moved over the copy rate that was measured. The bytes
//!   are those that the kernel, or `bytes` in a launch file, says must be moved however it is done; where hardware
//!   counters were read, the sectors that went through the second-level cache, 32 bytes each, whichever is more.
//! - **Multiply-adds, at least**: those of every executed block at its full width over the rate that was
//!   measured; idle lanes take their slot too.

use serde::Serialize;

use super::counts::{Work, blocks};
use super::names::device;
use super::plausibility::plausibility;
use super::rounds::median_time;
use crate::record::{Measurement, Run};
use crate::units::{Nanoseconds, Ratio, text};

/// The part of the time from which on something explains it.
const EXPLAINS_MIN: f64 = 0.5;

/// The part of the time below which idle lanes are not worth a change.
const IDLE_MIN: f64 = 0.1;

/// The hardware counter of sectors that went through the second-level cache, and their size in bytes.
const SECTORS: (&str, f64) = ("lts__t_sectors.sum", 32.0);

/// What a time can come from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExplainedTime {
    /// The median time of one launch.
    pub time_ns: Nanoseconds,
    /// What idle lanes can explain at most.
    pub idle_ns_max: Nanoseconds,
    /// What memory explains at least; `None` if the bytes or the copy rate are not known.
    pub memory_ns_min: Option<Nanoseconds>,
    /// What multiply-adds explain at least; `None` if they or their rate are not known.
    pub fma_ns_min: Option<Nanoseconds>,
    /// What it comes to.
    pub verdict: TimeVerdict,
}

/// What a time mostly comes from, as far as the bounds say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeVerdict {
    /// Memory explains half of it or more: branches can wait.
    Memory,
    /// Idle lanes can explain half of it or more.
    IdleLanes,
    /// Idle lanes can explain a part that is worth a change.
    PartlyIdleLanes,
    /// The lanes are full, and multiply-adds explain half of it or more: fewer of them help.
    Arithmetic,
    /// Neither idle lanes nor a rate that was measured explains it.
    Neither,
}

/// Says what the time of `measurement` can come from; `None` if it was not timed or not counted, or
/// its work was removed.
pub fn explain(run: &Run, measurement: &Measurement) -> Option<ExplainedTime> {
    if plausibility(run, measurement).is_removed() {
        return None;
    }
    let time = median_time(measurement).filter(|time| time.0 > 0.0)?;
    let width = measurement.subgroup_width?;
    let mean = Work::from_measurement(measurement).active_lanes_mean()?;
    let efficiency = (mean / f64::from(width.lanes())).clamp(0.0, 1.0);
    let rates = device(run, &measurement.device)?;
    let rate = |rate: Option<f64>| rate.filter(|rate| *rate > 0.0);
    let memory = rate(rates.copy_bytes_per_s)
        .zip(bytes(measurement))
        .map(|(rate, bytes)| (bytes / rate * 1e9).min(time.0));
    let fmas = fmas(measurement, f64::from(width.lanes()));
    let arithmetic = rate(rates.peak_fma_per_s)
        .filter(|_| fmas > 0.0)
        .map(|rate| (fmas / rate * 1e9).min(time.0));
    let idle = (time.0 * (1.0 - efficiency)).min(time.0 - memory.unwrap_or(0.0));
    let part = |duration: Option<f64>| duration.unwrap_or(0.0) / time.0;
    let verdict = if part(memory) >= EXPLAINS_MIN {
        TimeVerdict::Memory
    } else if part(Some(idle)) >= EXPLAINS_MIN - MARGIN {
        TimeVerdict::IdleLanes
    } else if part(Some(idle)) >= IDLE_MIN {
        TimeVerdict::PartlyIdleLanes
    } else if part(arithmetic) >= EXPLAINS_MIN {
        TimeVerdict::Arithmetic
    } else {
        TimeVerdict::Neither
    };
    Some(ExplainedTime {
        time_ns: time,
        idle_ns_max: Nanoseconds(idle),
        memory_ns_min: memory.map(Nanoseconds),
        fma_ns_min: arithmetic.map(Nanoseconds),
        verdict,
    })
}

/// Half of the lanes idle but for what runs before and after: within this of half is half.
const MARGIN: f64 = 0.01;

/// The bytes that must be moved, as the kernel or the hardware says.
fn bytes(measurement: &Measurement) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "sizes lie far below 2^53")]
    let described = measurement.bytes_moved_min.map(|bytes| bytes as f64);
    let sectors = measurement.counters.iter().find(|counter| counter.name == SECTORS.0);
    let counted = sectors.map(|counter| counter.value * SECTORS.1);
    described.into_iter().chain(counted).reduce(f64::max)
}

/// The multiply-adds of every block that was executed, idle lanes too.
#[expect(clippy::cast_precision_loss, reason = "a rate is shown to a few digits")]
fn fmas(measurement: &Measurement, width: f64) -> f64 {
    blocks(measurement)
        .map(|block| block.fma_operations.unwrap_or(0) as f64 * block.executions.0 as f64 * width)
        .sum()
}

impl ExplainedTime {
    /// The verdict in a sentence, with its figures.
    pub fn sentence(&self) -> String {
        let Self { time_ns, idle_ns_max, memory_ns_min, fma_ns_min, verdict } = self;
        let share = |part: Nanoseconds| {
            format!("{part} ({})", text::whole_percent(Ratio(part.0 / time_ns.0)))
        };
        let mut text = format!("Idle lanes explain at most {} of {time_ns}", share(*idle_ns_max));
        match memory_ns_min {
            Some(memory) => {
                text += &format!(
                    "; moving the bytes at the copy rate takes at least {}",
                    share(*memory)
                );
            }
            None => {
                text += "; how much memory explains is not known (`bytes` in a launch file tells)"
            }
        }
        if let Some(fma) = fma_ns_min {
            text += &format!("; the multiply-adds take at least {}", share(*fma));
        }
        format!("{text}; {}.", verdict.meaning())
    }

    /// The part of the time that idle lanes can explain at most.
    pub fn idle_share_max(&self) -> Ratio {
        Ratio(self.idle_ns_max.0 / self.time_ns.0)
    }
}

impl TimeVerdict {
    /// What to do, in a clause.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Memory => "memory decides: leave the branches alone",
            Self::IdleLanes => "the branches are worth a change",
            Self::PartlyIdleLanes => {
                "a change of the branches can save this part of the time, and no more"
            }
            Self::Arithmetic => "few lanes are idle, so that fewer operations help",
            Self::Neither => {
                "none of these is most of the time; look at latency, at waiting, and at accesses that move more than \
                 they use"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Device;

    /// A measurement that took 1000 ns, on a device that copies and multiplies so much a second.
    fn explained(efficiency: u64, bytes: Option<u64>, fma_peak: Option<f64>) -> ExplainedTime {
        let mut run = crate::fixtures::run();
        let timed = |measurement: &&Measurement| {
            measurement.time.is_some() && measurement.subgroup_width.is_some()
        };
        let mut measurement = run.measurements.iter().find(timed).unwrap().clone();
        measurement.time.as_mut().unwrap().median_ns = Nanoseconds(1000.0);
        measurement.bytes_moved_min = bytes;
        measurement.dispatches.truncate(1);
        let width = u64::from(measurement.subgroup_width.unwrap().lanes());
        for block in &mut measurement.dispatches[0].blocks {
            block.executions = crate::units::Executions(100);
            block.lanes = crate::units::Lanes(100 * width * efficiency / 100);
        }
        let rates = |device: &mut Device| {
            device.copy_bytes_per_s = Some(1e12);
            device.peak_fma_per_s = fma_peak;
        };
        run.devices.iter_mut().for_each(rates);
        explain(&run, &measurement).unwrap()
    }

    #[test]
    fn what_memory_takes_cannot_be_taken_by_idle_lanes_too() {
        let half = explained(50, None, None);
        assert_eq!(half.verdict, TimeVerdict::IdleLanes);
        assert!((half.idle_share_max().0 - 0.5).abs() < 0.02, "{half:?}");
        assert!(half.sentence().contains("how much memory explains is not known"));
        // 900 000 bytes at 10¹² a second are 900 of the 1000 ns.
        let memory = explained(50, Some(900_000), None);
        assert_eq!(memory.verdict, TimeVerdict::Memory);
        assert!((memory.idle_ns_max.0 - 100.0).abs() < 1e-6, "{memory:?}");
        assert!(memory.sentence().contains("leave the branches alone"), "{}", memory.sentence());
        // More than the time is all of it.
        assert_eq!(explained(50, Some(9_000_000), None).idle_ns_max, Nanoseconds(0.0));
        assert_eq!(explained(80, Some(100_000), None).verdict, TimeVerdict::PartlyIdleLanes);
        assert_eq!(explained(100, Some(100_000), None).verdict, TimeVerdict::Neither);
    }
}
