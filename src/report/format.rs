//! Numbers as the page writes them.
//!
//! Input: figures that may be missing. Output: text; what was not measured is a dash, never a zero.

/// Writes a figure of whatever unit.
pub(super) use crate::units::figure;
/// Writes a count with its thousands set apart by narrow spaces.
pub(super) use crate::units::grouped as count;
use crate::units::{Nanoseconds, Ratio, Width};

/// What stands where nothing was measured.
pub(super) const NONE: &str = "–";

/// Writes a mean number of lanes.
pub(super) fn lanes(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.2}"))
}

/// Writes a ratio as a percentage.
pub(super) fn percent(value: Option<Ratio>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{:.1} %", value.0 * 100.0))
}

/// Writes a width.
pub(super) fn width(value: Option<Width>) -> String {
    value.map_or(NONE.to_owned(), |value| value.to_string())
}

/// Writes a dimensionless factor.
pub(super) fn factor(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.3}"))
}

/// Writes a time.
pub(super) fn time(value: Option<Nanoseconds>) -> String {
    value.map_or(NONE.to_owned(), |value| value.to_string())
}

/// Writes an interval of times in one unit, to four digits, so that narrow ones show their ends.
pub(super) fn interval([low, high]: [Nanoseconds; 2]) -> String {
    let scales = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (scale, unit) =
        scales.into_iter().find(|(scale, _)| high.0 >= *scale).unwrap_or((1.0, "ns"));
    let decimals = match high.0 / scale {
        value if value < 10.0 => 3,
        value if value < 100.0 => 2,
        _ => 1,
    };
    format!("{:.decimals$} to {:.decimals$} {unit}", low.0 / scale, high.0 / scale)
}

/// Writes a rate with a unit such as `FMA/s`, scaled by powers of a thousand.
pub(super) fn rate(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value else { return NONE.to_owned() };
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) =
        scales.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    format!("{:.2} {prefix}{unit}", value / scale)
}

/// Writes yes, no, or that it is not known.
pub(super) fn yes_no(value: Option<bool>) -> String {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => NONE,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well_and_what_is_missing_is_no_zero() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_048_576), "1\u{202f}048\u{202f}576");
        assert_eq!(rate(Some(4.2e12), "B/s"), "4.20 TB/s");
        assert_eq!(rate(Some(12.0), "B/s"), "12.00 B/s");
        let narrow = [Nanoseconds(22_674.0), Nanoseconds(22_716.0)];
        assert_eq!(interval(narrow), "22.67 to 22.72 µs");
        assert_eq!(percent(Some(Ratio(0.509))), "50.9 %");
        assert_eq!([lanes(None), rate(None, "B/s"), yes_no(None)], [NONE; 3]);
    }
}
