//! How long both sides run: before samples count, and in a sample.
//!
//! Input: nanoseconds a call. Output: calls in a sample.

use std::time::Duration;
/// A sample should take about this long.
const SAMPLE_NS: f64 = 2e6;

/// How long both sides run before samples count.
pub(crate) const WARM_UP: Duration = Duration::from_millis(400);

/// The most calls in a sample.
const REPEATS_MAX: f64 = 200.0;

/// How many calls make a sample of a useful length.
pub(crate) fn repeats(time_ns: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 4 and 200"
    )]
    let repeats = (SAMPLE_NS / time_ns).clamp(4.0, REPEATS_MAX) as u32;
    repeats
}
