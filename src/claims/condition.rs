//! Where a check holds: what tells the points that are as claimed from those that are not.
//!
//! Input: points, each with whether it is as claimed. Output: a clause such as `W ≤ 32` or `n ≥ 65536`.

use std::collections::BTreeSet;

use super::evidence::Point;
use super::selector::{WIDTH, number_of};
use crate::record::Value;

/// The most values that are named one by one.
const NAMED_MAX: usize = 4;

/// The condition that tells points apart; where no single one does, how many are as claimed and one of them. What a
/// driver decides and no width, as what it writes, is told by device first.
pub(super) fn condition(points: &[(&Point, bool)], by_driver: bool) -> String {
    let names: BTreeSet<&str> =
        points.iter().flat_map(|(point, _)| point.parameters.keys().map(String::as_str)).collect();
    let by_parameter = || names.iter().find_map(|name| split_by_attribute(points, name));
    let by_device = || by_words(points, "on", |point| point.device.clone());
    by_device()
        .filter(|_| by_driver)
        .or_else(|| split_by_attribute(points, WIDTH))
        .or_else(by_parameter)
        .or_else(by_device)
        .unwrap_or_else(|| counts_text(points))
}

/// How many points are as claimed, and one of them.
fn counts_text(points: &[(&Point, bool)]) -> String {
    let holding: Vec<&Point> =
        points.iter().filter(|(_, holds)| *holds).map(|(point, _)| *point).collect();
    let such =
        holding.first().map_or_else(String::new, |point| format!(", such as {}", place(point)));
    format!("at {} of {} points{such}", holding.len(), points.len())
}

/// A point's parameters and device.
pub(super) fn place(point: &Point) -> String {
    let parameters = crate::analyze::parameters_text(&point.parameters, &[]);
    if parameters.is_empty() {
        point.device.clone()
    } else {
        format!("{parameters} on {}", point.device)
    }
}

fn attribute(point: &Point, name: &str) -> Option<Value> {
    if name == WIDTH {
        return point.width.map(|width| Value::Integer(width.lanes().into()));
    }
    point.parameters.get(name).cloned()
}

/// The condition on one parameter, or on the width, where it alone tells the points apart.
fn split_by_attribute(points: &[(&Point, bool)], name: &str) -> Option<String> {
    let values: Option<Vec<(Value, bool)>> =
        points.iter().map(|(point, holds)| Some((attribute(point, name)?, *holds))).collect();
    let values = values?;
    let numbers: Option<Vec<(f64, bool)>> =
        values.iter().map(|(value, holds)| Some((number_of(value)?, *holds))).collect();
    if let Some(numbers) = numbers {
        let end = |wanted: bool, pick: fn(f64, f64) -> f64| {
            let taken =
                numbers.iter().filter(|(_, holds)| *holds == wanted).map(|(value, _)| *value);
            taken.reduce(pick)
        };
        let most = end(true, f64::max).zip(end(false, f64::min));
        if let Some((most, _)) = most.filter(|(most, fails)| most < fails) {
            return Some(format!("{name} ≤ {most}"));
        }
        let least = end(true, f64::min).zip(end(false, f64::max));
        if let Some((least, _)) = least.filter(|(least, fails)| least > fails) {
            return Some(format!("{name} ≥ {least}"));
        }
    }
    let named = |point: &Point| attribute(point, name).map_or_else(String::new, |v| v.to_string());
    by_words(points, &format!("{name} ="), named)
}

/// The words that go with points as claimed, where no other point has one of them.
fn by_words(
    points: &[(&Point, bool)],
    before: &str,
    word: impl Fn(&Point) -> String,
) -> Option<String> {
    let of = |wanted: bool| -> BTreeSet<String> {
        points.iter().filter(|(_, holds)| *holds == wanted).map(|(point, _)| word(point)).collect()
    };
    let (holding, failing) = (of(true), of(false));
    if !holding.is_disjoint(&failing) || holding.len() > NAMED_MAX {
        return None;
    }
    let holding: Vec<String> = holding.into_iter().collect();
    Some(format!("{before} {}", holding.join(" or ")))
}
