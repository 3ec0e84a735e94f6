//! Sweeps in nvbench's syntax: `n=4096`, `form=[sealed,published]`, `n[pow2]=[16:28:4]`.
//!
//! Input: the arguments of `-a`. Output: one map of parameter values for each point of the sweep,
//! the last axis running fastest. Whether a kernel has the parameter is checked by `kernel`.

use std::collections::BTreeMap;

use super::count;
use crate::record::Value;

/// The most points of one sweep.
pub(crate) const POINTS_MAX: usize = 4096;

/// Why an axis cannot be read.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "-a {argument}: {problem}; examples: `n=4096`, `form=[sealed,published]`, `n=[1000:5000:1000]`, \
     `n[pow2]=[16:28:4]`"
)]
pub(crate) struct AxisError {
    argument: String,
    problem: String,
}

/// Every combination of the axes' values.
pub(crate) fn points(axes: &[String]) -> Result<Vec<BTreeMap<String, Value>>, AxisError> {
    let mut points = vec![BTreeMap::new()];
    for argument in axes {
        let problem = |problem: String| AxisError { argument: argument.clone(), problem };
        let (name, values) = parse(argument).map_err(problem)?;
        if points.len() * values.len() > POINTS_MAX {
            return Err(problem(format!("the sweep has over {POINTS_MAX} points")));
        }
        points = points
            .into_iter()
            .flat_map(|point: BTreeMap<String, Value>| {
                values.iter().map(move |value| {
                    let mut point = point.clone();
                    point.insert(name.to_owned(), value.clone());
                    point
                })
            })
            .collect();
    }
    Ok(points)
}

/// Name and values of one axis.
fn parse(argument: &str) -> Result<(&str, Vec<Value>), String> {
    let (name, values) = argument.split_once('=').ok_or("an axis needs `name=values`")?;
    let (name, pow2) = match name.strip_suffix("[pow2]") {
        Some(name) => (name, true),
        None => (name, false),
    };
    if name.is_empty() || name.contains(['[', ']']) {
        return Err(format!("`{name}` is no parameter name (flags: `[pow2]`)"));
    }
    let inner = values.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if inner.is_none() && is_grouped(values) {
        let whole = values.replace(',', "");
        return Err(format!("a comma parts values: write {whole}, or [{values}] for a list"));
    }
    let mut result = Vec::new();
    for part in inner.unwrap_or(values).split(',') {
        let part = part.trim();
        if part.is_empty() {
            return Err("a value is empty".to_owned());
        }
        if part.contains(':') {
            result.extend(range(part)?);
        } else {
            result.push(value(part));
        }
    }
    if pow2 {
        result = result.into_iter().map(power_of_two).collect::<Result<_, _>>()?;
    }
    Ok((name, result))
}

/// Whether a text is one number with commas between groups of three digits, as in `1,000,000`.
fn is_grouped(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let grouped = rest.iter().all(|part| digits(part) && part.len() == 3);
    digits(first) && first.len() <= 3 && grouped && rest.iter().any(|part| part.starts_with('0'))
}

fn value(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        Value::Integer(number)
    } else if let Some(number) = count::whole(text).and_then(|count| i64::try_from(count).ok()) {
        Value::Integer(number)
    } else if let Ok(number) = text.parse::<f64>() {
        Value::Real(number)
    } else {
        Value::Name(text.to_owned())
    }
}

/// `start:end` or `start:end:stride`, the end included.
fn range(text: &str) -> Result<Vec<Value>, String> {
    let numbers: Vec<i64> = text
        .split(':')
        .map(|part| part.trim().parse().map_err(|_| format!("`{part}` is no whole number")))
        .collect::<Result<_, _>>()?;
    let (start, end, stride) = match numbers[..] {
        [start, end] => (start, end, 1),
        [start, end, stride] if stride > 0 => (start, end, stride),
        _ => return Err(format!("`{text}` is no `start:end:stride` with a positive stride")),
    };
    if start > end {
        return Err(format!("the range {text} is empty"));
    }
    let mut values = Vec::new();
    let mut next = Some(start);
    while let Some(number) = next.filter(|number| *number <= end) {
        if values.len() == POINTS_MAX {
            return Err(format!("the range {text} has over {POINTS_MAX} values"));
        }
        values.push(Value::Integer(number));
        next = number.checked_add(stride);
    }
    Ok(values)
}

fn power_of_two(value: Value) -> Result<Value, String> {
    match value {
        Value::Integer(exponent @ 0..=62) => Ok(Value::Integer(1 << exponent)),
        other => Err(format!("{other} is no exponent from 0 to 62")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(axes: &[&str]) -> Result<Vec<String>, String> {
        let axes: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
        let points = points(&axes).map_err(|error| error.to_string())?;
        let point_text = |point: &BTreeMap<String, Value>| {
            let pairs: Vec<String> = point.iter().map(|(k, v)| format!("{k}={v}")).collect();
            pairs.join(" ")
        };
        Ok(points.iter().map(point_text).collect())
    }

    #[test]
    fn axes_in_nvbenchs_syntax() {
        assert_eq!(shown(&[]).unwrap(), [""]);
        assert_eq!(shown(&["n=4096"]).unwrap(), ["n=4096"]);
        assert_eq!(shown(&["n[pow2]=[16:24:4]"]).unwrap(), ["n=65536", "n=1048576", "n=16777216"]);
        assert_eq!(
            shown(&["form=[sealed,published]", "n=[1:2]"]).unwrap(),
            ["form=sealed n=1", "form=sealed n=2", "form=published n=1", "form=published n=2"]
        );
        assert_eq!(shown(&["n=[1e3,2^10,1M]"]).unwrap(), ["n=1000", "n=1024", "n=1000000"]);
        assert_eq!(shown(&["p=[0.5,1]"]).unwrap(), ["p=0.5", "p=1"]);
        // One number with commas in it is no list.
        let problem = shown(&["n=1,000,000"]).unwrap_err();
        assert!(problem.contains("write 1000000, or [1,000,000] for a list"), "{problem}");
        assert_eq!(shown(&["n=128,256"]).unwrap(), ["n=128", "n=256"]);
        assert_eq!(shown(&["n=[1,000]"]).unwrap(), ["n=1", "n=0"]);
    }

    #[test]
    fn wrong_axes_say_what_is_wrong() {
        for (axis, problem) in [
            ("n", "name=values"),
            ("n=[5:1]", "empty"),
            ("n=[1:9:0]", "positive stride"),
            ("n[pow2]=99", "no exponent"),
            ("n=[1,,2]", "a value is empty"),
            ("n=[0:9999999]", "over 4096"),
            ("n[log]=[1:2]", "no parameter name"),
        ] {
            let message = shown(&[axis]).unwrap_err();
            assert!(message.contains(problem), "{axis}: {message}");
        }
    }
}
