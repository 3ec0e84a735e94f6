//! When to stop taking samples.
//!
//! Input: the samples so far and the time spent, as an argument: no clock is read here. Output: go
//! on, met, or out of time.

use super::noise;
use crate::units::{Nanoseconds, Ratio};

/// The rule that ends a kernel's sampling, after nvbench's: enough samples *and* little noise, or
/// no time left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// The fewest samples that count; never judged on fewer.
    pub samples_min: usize,
    /// The most noise, as [`noise`] computes it, at which the samples are good enough.
    pub noise_max: Ratio,
    /// The time after which sampling ends whether the rule is met or not.
    pub timeout: Nanoseconds,
}

/// What the stop rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take another sample.
    Continue,
    /// Enough samples with little enough noise.
    Met,
    /// The time is up and the rule is not met: to be said in the record.
    TimedOut,
}

impl StopRule {
    /// nvbench's default noise limit, 0.5 %.
    pub const NOISE_MAX: Ratio = Ratio(0.005);

    /// The fewest samples: paired ratios need eight pairs.
    pub const SAMPLES_MIN: u32 = 12;

    /// Judges the samples so far, in any one unit, after `elapsed` of sampling.
    ///
    /// A rule that is met is met even when the time is up.
    pub fn decide(&self, samples: &[f64], elapsed: Nanoseconds) -> Decision {
        let quiet = samples.len() >= self.samples_min
            && noise(samples).is_some_and(|noise| noise <= self.noise_max);
        if quiet {
            Decision::Met
        } else if elapsed >= self.timeout {
            Decision::TimedOut
        } else {
            Decision::Continue
        }
    }
}
