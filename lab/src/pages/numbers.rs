//! How numbers are written in pages.
//!
//! Input: numbers of templates; times in nanoseconds, shares where 1 is all. Output: filters that give a
//! text with its unit; and the error of a template that asks for what is not there.
//!
//! A sentence of a page speaks of many measurements and chooses the unit and the digits that its statement
//! needs: a ratio has two digits there, where a table of the program, whose cells are compared, has four in
//! all (`units::text`). A cell of the program keeps its own form in a page, too.

use minijinja::{Environment, Error};

/// Adds the filters to an environment.
pub(super) fn register(environment: &mut Environment<'_>) {
    environment.add_filter("fixed", |value: f64, digits: Option<usize>| {
        format!("{value:.*}", digits.unwrap_or(2))
    });
    environment
        .add_filter("ns", |value: f64, digits: Option<usize>| unit(value, 1.0, digits, "ns"));
    environment
        .add_filter("us", |value: f64, digits: Option<usize>| unit(value, 1e3, digits, "µs"));
    environment
        .add_filter("ms", |value: f64, digits: Option<usize>| unit(value, 1e6, digits, "ms"));
    environment.add_filter("s", |value: f64, digits: Option<usize>| unit(value, 1e9, digits, "s"));
    environment
        .add_filter("percent", |value: f64, digits: Option<usize>| unit(value, 0.01, digits, "%"));
    environment.add_filter("grouped", |value: f64| group_digits(value));
    environment.add_filter("spread", spread);
    environment.add_filter("spread_us", |values: Vec<f64>| spread_in(&values, 1e3, "µs"));
    environment.add_filter("spread_ms", |values: Vec<f64>| spread_in(&values, 1e6, "ms"));
    environment.add_function("quotients", quotients);
}

/// A number in a unit of so many of the number's own.
fn unit(value: f64, scale: f64, digits: Option<usize>, name: &str) -> String {
    format!("{:.*} {name}", digits.unwrap_or(1), value / scale)
}

/// A number without its fraction, with commas between thousands.
pub(super) fn group_digits(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group).into_owned()).collect::<Vec<_>>().join(",")
}

/// The least and the greatest of some numbers, `0.64 to 0.86`; one number where both are written alike.
fn spread(values: Vec<f64>, digits: Option<usize>) -> Result<String, Error> {
    if values.is_empty() {
        return Err(wrong("no values to spread"));
    }
    let digits = digits.unwrap_or(2);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [least, most] = [least, most].map(|value| format!("{value:.digits$}"));
    Ok(if least == most { least } else { format!("{least} to {most}") })
}

/// The same of times in nanoseconds, in a unit of so many.
fn spread_in(values: &[f64], scale: f64, name: &str) -> Result<String, Error> {
    let scaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
    Ok(format!("{} {name}", spread(scaled, Some(1))?))
}

/// The quotients of two lists, place by place.
fn quotients(left: Vec<f64>, right: Vec<f64>) -> Result<Vec<f64>, Error> {
    if left.len() != right.len() {
        return Err(wrong(format!("{} values over {}", left.len(), right.len())));
    }
    Ok(left.iter().zip(right).map(|(left, right)| left / right).collect())
}

/// An error of a template's function, with a sentence.
pub(super) fn wrong(sentence: impl std::fmt::Display) -> Error {
    Error::new(minijinja::ErrorKind::InvalidOperation, sentence.to_string())
}
