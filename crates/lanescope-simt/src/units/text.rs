//! Figures as people read them: one form for each kind, wherever it stands.
//!
//! Input: a figure. Output: text without colour or padding. Tables, sentences, charts and pages all
//! write their shares, ratios, rates, lanes and missing figures with these functions; and their times, where it is not
//! each in the unit that suits it, which is how [`Nanoseconds`] are shown.

use super::{Nanoseconds, Ratio, Width};

/// What stands in place of a figure that there is none of.
pub const NONE: &str = "–";

/// Names that a list of them in a sentence shows at most.
const LISTED_MAX: usize = 30;

/// Names in a sentence, `a, b, c`; of many the first, and how many more there are; `none` where there are none.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(LISTED_MAX).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "none".to_owned(),
        count if count > LISTED_MAX => format!("{shown} and {} more", count - LISTED_MAX),
        _ => shown,
    }
}

/// A number that somebody gave, as it can be given again: `3`, `0.5`, `1e308`.
pub fn number(value: f64) -> String {
    let plain = value == 0.0 || (1e-6..1e16).contains(&value.abs()) || !value.is_finite();
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// A share as a percentage, `50.9 %`.
pub fn percent(share: Ratio) -> String {
    format!("{:.1} %", share.0 * 100.0)
}

/// A share as a percentage, or that there is none.
pub fn percent_or_none(share: Option<Ratio>) -> String {
    share.map_or(NONE.to_owned(), percent)
}

/// A share to whole percents, for bounds and for what is not known better: `51 %`.
pub fn whole_percent(share: Ratio) -> String {
    format!("{:.0} %", share.0 * 100.0)
}

/// A change as a percentage with its sign, `+1.3 %`.
pub fn signed_percent(change: Ratio) -> String {
    format!("{:+.1} %", change.0 * 100.0)
}

/// How many times one figure is another: four digits, at most three behind the point, `1.853`, `22.71`.
pub fn ratio(value: f64) -> String {
    let before = [10.0, 100.0, 1000.0].iter().filter(|limit| value.abs() >= **limit).count();
    format!("{value:.*}", 3 - before)
}

/// Cycles of a clock, of which a link takes a few or some hundreds: `26.0 cycles`.
pub fn cycles(count: f64) -> String {
    format!("{count:.1} cycles")
}

/// A mean number of lanes, `16.52`.
pub fn lanes(mean: f64) -> String {
    format!("{mean:.2}")
}

/// A mean number of lanes of a width, `16.5 / 32`; without the width where that is not known.
pub fn lanes_of(mean: f64, width: Option<Width>) -> String {
    width.map_or_else(|| format!("{mean:.1}"), |width| format!("{mean:.1} / {width}"))
}

/// The same with the efficiency, `16.5 / 32 (51.6 %)`.
pub fn lanes_and_efficiency(mean: f64, width: Option<Width>) -> String {
    let efficiency = width.map_or(String::new(), |width| {
        format!(" ({})", percent(Ratio(mean / f64::from(width.lanes()))))
    });
    lanes_of(mean, width) + &efficiency
}

/// The prefixes of large figures, the largest first.
const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// A count to three digits, `6.28 M`.
#[expect(clippy::cast_precision_loss, reason = "it is shown to three digits")]
pub fn rounded(count: u128) -> String {
    let value = count as f64;
    match PREFIXES.into_iter().find(|(scale, _)| value >= *scale) {
        None => count.to_string(),
        Some((scale, prefix)) => format!("{} {prefix}", three_digits(value / scale)),
    }
}

/// A rate to three digits with its unit, `3.21 TB/s`.
pub fn rate(value: f64, unit: &str) -> String {
    let found = PREFIXES.into_iter().find(|(scale, _)| value >= *scale);
    let (scale, prefix) = found.unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", three_digits(value / scale))
}

/// A rate without digits behind the point, for powers of ten along an axis: `10 GB/s`.
pub fn whole_rate(value: f64, unit: &str) -> String {
    // Powers of ten that were multiplied up may lie a little below their own.
    let found = PREFIXES.into_iter().find(|(scale, _)| value >= *scale * 0.999);
    let (scale, prefix) = found.unwrap_or((1.0, ""));
    format!("{:.0} {prefix}{unit}", value / scale)
}

/// A time that somebody waited, in seconds, `0.287 s`.
pub fn seconds(time: Nanoseconds) -> String {
    format!("{:.3} s", time.0 * 1e-9)
}

/// A time in microseconds without the unit, which is said once of many: `22.7`.
pub fn microseconds(time: Nanoseconds) -> String {
    format!("{:.1}", time.0 / 1e3)
}

/// An interval of times in one unit, to four digits, so that narrow ones show their ends.
pub fn times([low, high]: [Nanoseconds; 2]) -> String {
    let scales = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let found = scales.into_iter().find(|(scale, _)| high.0 >= *scale);
    let (scale, unit) = found.unwrap_or((1.0, "ns"));
    let decimals = match high.0 / scale {
        value if value < 10.0 => 3,
        value if value < 100.0 => 2,
        _ => 1,
    };
    format!("{:.decimals$} to {:.decimals$} {unit}", low.0 / scale, high.0 / scale)
}

/// A figure below 1000 to three digits.
fn three_digits(value: f64) -> String {
    let before = [10.0, 100.0].iter().filter(|limit| value >= **limit).count();
    format!("{value:.*}", 2 - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_figure_has_one_form() {
        assert_eq!(percent(Ratio(0.509)), "50.9 %");
        assert_eq!(cycles(26.04), "26.0 cycles");
        assert_eq!([percent_or_none(Some(Ratio(1.0))), percent_or_none(None)], ["100.0 %", NONE]);
        assert_eq!([0.02, -0.1].map(Ratio).map(whole_percent), ["2 %", "-10 %"]);
        assert_eq!([0.013, -0.5].map(Ratio).map(signed_percent), ["+1.3 %", "-50.0 %"]);
        assert_eq!(
            [1.8534, 22.706, 142.31, 1234.5].map(ratio),
            ["1.853", "22.71", "142.3", "1234"]
        );
        let width = Width::new(32).ok();
        assert_eq!(lanes(16.516), "16.52");
        assert_eq!([lanes_of(16.516, width), lanes_of(16.516, None)], ["16.5 / 32", "16.5"]);
        let both = [lanes_and_efficiency(16.0, width), lanes_and_efficiency(16.0, None)];
        assert_eq!(both, ["16.0 / 32 (50.0 %)", "16.0"]);
        assert_eq!([999, 411_000, 6_281_234].map(rounded), ["999", "411 k", "6.28 M"]);
        assert_eq!(
            [3.2131e12, 981.4e9, 12.0].map(|value| rate(value, "B/s")),
            ["3.21 TB/s", "981 GB/s", "12.0 B/s"]
        );
        let decades = [1e12_f64.next_down(), 1e10, 100.0].map(|value| whole_rate(value, "B/s"));
        assert_eq!(decades, ["1 TB/s", "10 GB/s", "100 B/s"]);
        assert_eq!(seconds(Nanoseconds(287.4e6)), "0.287 s");
        assert_eq!([22_674.0, 40.0].map(Nanoseconds).map(microseconds), ["22.7", "0.0"]);
        assert_eq!(times([22_674.0, 22_716.0].map(Nanoseconds)), "22.67 to 22.72 µs");
    }
}
