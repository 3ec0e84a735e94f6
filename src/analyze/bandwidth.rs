//! How fast memory was used: the bytes that a kernel must move over its time.
//!
//! Input: a measurement and its device. Output: [`Bandwidth`]. The bytes are the least that any
//! implementation moves, so that the rate falls short of the hardware's where a kernel moves more;
//! what the hardware moved in truth is not known here.

use super::names::device;
use crate::record::{Measurement, Run};
use crate::units::Ratio;
use crate::units::approximate;

/// The rate of a measurement that was timed and whose kernel says what it must move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Bytes that must move over the median time, in bytes a second.
    pub bytes_per_s: f64,
    /// That over the device's measured copy rate; `None` if that was not measured. Above 1
    /// where a cache holds the data, or where reading is faster than copying.
    pub copy_rate: Option<Ratio>,
}

/// Works out the rate of `measurement`; `None` if it has no time or its kernel says no bytes.
pub fn bandwidth(run: &Run, measurement: &Measurement) -> Option<Bandwidth> {
    let bytes = measurement.bytes_moved_min?;
    let time = measurement.time.as_ref()?.median_ns;
    if time.0 <= 0.0 {
        return None;
    }
    let bytes_per_s = approximate(bytes) / (time.0 * 1e-9);
    let copy = device(run, &measurement.device).and_then(|device| device.copy_bytes_per_s);
    Some(Bandwidth { bytes_per_s, copy_rate: copy.map(|copy| Ratio(bytes_per_s / copy)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_bytes_over_time_and_its_share_is_of_the_copy_rate() {
        let mut run = crate::fixtures::run();
        let device = run.devices[0].id.clone();
        run.devices[0].copy_bytes_per_s = Some(4.0e12);
        let mut timed = run.measurements.iter().find(|m| m.device == device).cloned().unwrap();
        assert_eq!(bandwidth(&run, &timed), None, "the kernel does not say");
        timed.bytes_moved_min = Some(2_000_000);
        timed.time.as_mut().unwrap().median_ns = crate::units::Nanoseconds(1000.0);
        let found = bandwidth(&run, &timed).unwrap();
        assert!((found.bytes_per_s - 2.0e12).abs() < 1.0, "{found:?}");
        assert!((found.copy_rate.unwrap().0 - 0.5).abs() < 1e-12, "{found:?}");
        run.devices[0].copy_bytes_per_s = None;
        assert_eq!(bandwidth(&run, &timed).unwrap().copy_rate, None);
        timed.time = None;
        assert_eq!(bandwidth(&run, &timed), None, "it was not timed");
    }
}
