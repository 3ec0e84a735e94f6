//! Where a check holds: what tells the points that are as claimed from those that are not.
//!
//! Input: points, each with whether it is as claimed. Output: a clause such as `W ≤ 32`, `on CPU drivers`, `length ≥ 8 through
//! Vulkan` or `not on navi21`.
//!
//! Points have attributes: the width, the kind of device, its interface, the device, and the launch's parameters. A
//! condition is a term of one of them, else what fails is one, else there are two terms of two of them, or of one twice. Of
//! two terms the one with the fewest values is taken. A term is tried as tight as the points allow, so that none that tells
//! them apart is missed.

use std::collections::BTreeSet;

use super::evidence::Point;
use super::selector::WIDTH;
use crate::record::Value;

/// The most values that are named one by one.
const NAMED_MAX: usize = 4;

/// What points can have in common, with the words before its values; each point has one.
struct Attribute {
    before: String,
    values: Vec<Value>,
}

/// What an attribute may be.
enum Term {
    AtMost(f64),
    AtLeast(f64),
    Among(BTreeSet<String>),
}

/// The condition that tells points apart; where there is none, how many are as claimed and one of them. What a
/// driver decides and no width, as what it writes, is told by device first.
pub(super) fn condition(points: &[(&Point, bool)], by_driver: bool) -> String {
    let told = |wanted: bool, by: fn(&[Attribute], &[bool]) -> Option<String>| {
        let wanted: Vec<bool> = points.iter().map(|(_, holds)| *holds == wanted).collect();
        by(&attributes(points, &wanted, by_driver), &wanted)
    };
    told(true, one_term)
        .or_else(|| told(false, one_term).map(|text| format!("not {text}")))
        .or_else(|| told(true, two_terms))
        .or_else(|| told(false, two_terms).map(|text| format!("not {text}")))
        .or_else(|| by_device(points))
        .unwrap_or_else(|| counts_text(points))
}

/// A condition for each device where some points are as claimed; nothing where a device has none.
fn by_device(points: &[(&Point, bool)]) -> Option<String> {
    let devices: BTreeSet<&str> = points.iter().map(|(point, _)| point.device.as_str()).collect();
    let mut told = Vec::new();
    for device in devices {
        let on_device: Vec<(&Point, bool)> =
            points.iter().filter(|(point, _)| point.device == device).copied().collect();
        let wanted: Vec<bool> = on_device.iter().map(|(_, holds)| *holds).collect();
        if wanted.iter().all(|holds| *holds) {
            told.push(format!("on {device}"));
        } else if wanted.contains(&true) {
            let attributes = attributes(&on_device, &wanted, false);
            let term = one_term(&attributes, &wanted).or_else(|| two_terms(&attributes, &wanted));
            told.push(format!("{} on {device}", term?));
        }
    }
    Some(told.join(", and "))
}

/// How many points are as claimed, and one of them; where it is the only one, that is the condition.
fn counts_text(points: &[(&Point, bool)]) -> String {
    let holding: Vec<&Point> =
        points.iter().filter(|(_, holds)| *holds).map(|(point, _)| *point).collect();
    if let [only] = holding.as_slice()
        && points.iter().filter(|(point, _)| place(point) == place(only)).count() == 1
    {
        return format!("at one of {} points: {}", points.len(), place(only));
    }
    let such =
        holding.first().map_or_else(String::new, |point| format!(", such as {}", place(point)));
    format!(
        "at {} of {} points, which no common attribute tells from the others{such}",
        holding.len(),
        points.len()
    )
}

/// A point's parameters and device.
pub(super) fn place(point: &Point) -> String {
    let parameters = crate::analyze::parameters_text(&point.parameters, &[]);
    let device = match point.code.as_str() {
        "" => point.device.clone(),
        code => format!("{}: {code}", point.device),
    };
    if parameters.is_empty() { device } else { format!("{parameters} on {device}") }
}

/// What all points have: what says most about machines first, but what a driver decides by device first.
fn attributes(points: &[(&Point, bool)], wanted: &[bool], by_driver: bool) -> Vec<Attribute> {
    let names: BTreeSet<&String> =
        points.iter().flat_map(|(point, _)| point.parameters.keys()).collect();
    let attribute = |before: &str, value: &dyn Fn(&Point) -> Option<Value>| {
        let values: Option<Vec<Value>> = points.iter().map(|(point, _)| value(point)).collect();
        Some(Attribute { before: before.to_owned(), values: values? })
    };
    let mut launch = vec![attribute(WIDTH, &|p| {
        Some(Value::Integer(p.width.map(|width| width.lanes())?.into()))
    })];
    launch.extend(
        names.into_iter().map(|name| attribute(name, &|p| p.parameters.get(name).cloned())),
    );
    let mut kinds = vec![
        attribute("on", &|point| Some(Value::Name(point.kind.to_owned()))),
        attribute("through", &|point| Some(Value::Name(point.interface.to_owned()))),
    ];
    let device = attribute("on", &|point| Some(Value::Name(point.device.clone())));
    let all = || points.iter().zip(wanted).filter(|(_, wanted)| **wanted);
    let devices: BTreeSet<&str> = all().map(|((point, _), _)| point.device.as_str()).collect();
    // Of one device nothing follows for others of its kind, and drivers of a kind write different things.
    let at = if by_driver || devices.len() == 1 { 0 } else { kinds.len() };
    kinds.insert(at, device);
    let found = if by_driver { [kinds, launch] } else { [launch, kinds] };
    found.into_iter().flatten().flatten().collect()
}

impl Attribute {
    /// The terms that all wanted points meet, as tight as can be.
    fn terms(&self, wanted: &[bool]) -> Vec<Term> {
        let selected = || self.values.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let numbers: Option<Vec<f64>> = selected().map(|(value, _)| value.number()).collect();
        let mut terms = Vec::new();
        if let Some(numbers) = numbers {
            terms.extend(numbers.iter().copied().reduce(f64::max).map(Term::AtMost));
            terms.extend(numbers.into_iter().reduce(f64::min).map(Term::AtLeast));
        }
        let named: BTreeSet<String> = selected().map(|(value, _)| value.to_string()).collect();
        if named.len() <= NAMED_MAX {
            terms.push(Term::Among(named));
        }
        terms
    }

    /// Which points meet a term.
    fn meets(&self, term: &Term) -> Vec<bool> {
        let meets = |value: &Value| match term {
            Term::AtMost(most) => value.number().is_some_and(|value| value <= *most),
            Term::AtLeast(least) => value.number().is_some_and(|value| value >= *least),
            Term::Among(named) => named.contains(&value.to_string()),
        };
        self.values.iter().map(meets).collect()
    }

    /// Whether it is where a launch ran.
    fn is_place(&self) -> bool {
        ["on", "through"].contains(&self.before.as_str())
    }

    fn text(&self, term: &Term) -> String {
        let before = &self.before;
        let is = if self.is_place() { "" } else { " =" };
        match term {
            Term::AtMost(most) => format!("{before} ≤ {most}"),
            Term::AtLeast(least) => format!("{before} ≥ {least}"),
            Term::Among(named) => {
                let named: Vec<&str> = named.iter().map(String::as_str).collect();
                format!("{before}{is} {}", named.join(" or "))
            }
        }
    }
}

/// Two terms as one clause: what is a place stands behind what is not, as in `W ≥ 32 on GPUs`.
fn both_text(attributes: [&Attribute; 2], [first, second]: [String; 2]) -> String {
    match attributes.map(Attribute::is_place) {
        [false, true] => format!("{first} {second}"),
        [true, false] => format!("{second} {first}"),
        [true, true] | [false, false] => format!("both {first} and {second}"),
    }
}

/// How much a term says: the values that it names.
fn length(term: &Term) -> usize {
    match term {
        Term::AtMost(_) | Term::AtLeast(_) => 1,
        Term::Among(named) => named.len(),
    }
}

/// The first term that the wanted points meet, and no others.
fn one_term(attributes: &[Attribute], wanted: &[bool]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let terms = attribute.terms(wanted);
        let term = terms.iter().find(|term| attribute.meets(term) == wanted)?;
        Some(attribute.text(term))
    })
}

/// The two shortest terms that the wanted points meet both, and no others.
fn two_terms(attributes: &[Attribute], wanted: &[bool]) -> Option<String> {
    let terms: Vec<(&Attribute, Term, Vec<bool>)> = attributes
        .iter()
        .flat_map(|attribute| {
            attribute.terms(wanted).into_iter().map(move |term| (attribute, term))
        })
        .map(|(attribute, term)| {
            let meets = attribute.meets(&term);
            (attribute, term, meets)
        })
        .collect();
    let mut best: Option<(usize, String)> = None;
    for (index, (first, a, meets_a)) in terms.iter().enumerate() {
        for (second, b, meets_b) in &terms[index + 1..] {
            let both = meets_a.iter().zip(meets_b).map(|(a, b)| *a && *b);
            let values = length(a) + length(b);
            if both.eq(wanted.iter().copied())
                && best.as_ref().is_none_or(|(least, _)| values < *least)
            {
                best = Some((values, both_text([first, second], [first.text(a), second.text(b)])));
            }
        }
    }
    best.map(|(_, text)| text)
}
