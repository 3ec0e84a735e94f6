//! Checks held against evidence, and verdicts.
//!
//! Input: a claim, records, tables. Output: [`Judged`]. How a verdict comes about says [`super`].

use super::condition::{condition, place};
use super::evidence::{
    FactTable, Lines, Point, PointsBeside, Record, count_of_other_rules, find_verified, names,
    points,
};
use super::ledger::{
    Arithmetic, Check, Claim, Fact, Goes, OccupancyCheck, OccupancyFigure, Order, Quantity,
    RatioCheck,
};
use super::selector::{Compared, Selector, WIDTH, same};
use crate::kernel::format::Formula;
use crate::kernel::formula::{self, Names};
use crate::occupancy;
use crate::record::Value;
use crate::units::COUNTING_RULE;

/// How far a limit may be passed by what numbers in floating point lose.
const ROUNDING: f64 = 1e-9;

/// What a claim is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so, at every point.
    Holds,
    /// It is not so, at any point.
    Contradicted,
    /// It is so only where this is met, a clause.
    HoldsOnlyWhere(String),
    /// What would be needed to test it, a clause.
    NotTestable(String),
    /// Why it is history or opinion.
    NoClaim(String),
}

impl Verdict {
    /// The words of it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Contradicted => "contradicted",
            Self::HoldsOnlyWhere(_) => "holds only where",
            Self::NotTestable(_) => "not testable here",
            Self::NoClaim(_) => "no claim about machines",
        }
    }

    /// Where it holds, if it does so only there.
    pub fn condition(&self) -> Option<&str> {
        match self {
            Self::HoldsOnlyWhere(condition) => Some(condition),
            Self::Holds | Self::Contradicted | Self::NotTestable(_) | Self::NoClaim(_) => None,
        }
    }

    /// The verdict in words, with its condition.
    pub fn text(&self) -> String {
        self.condition()
            .map_or_else(|| self.name().to_owned(), |condition| format!("holds{}", only(condition)))
    }
}

/// What follows "holds" or "is right" where it is so only under a condition.
pub fn only(condition: &str) -> String {
    match condition.strip_prefix("not ") {
        Some(where_not) => format!(", but not {}", place_text(where_not)),
        None => format!(" only {}", place_text(condition)),
    }
}

/// The conditions of several checks, each of the figure that it is of.
fn join_conditions(conditions: &[String]) -> String {
    let [first, others @ ..] = conditions else { return String::new() };
    if others.is_empty() {
        return first.clone();
    }
    let other = |condition: &String| match condition.strip_prefix("not ") {
        Some(where_not) => format!(", and not {} for another", place_text(where_not)),
        None => format!(", and {} for another", place_text(condition)),
    };
    let others: String = others.iter().map(other).collect();
    format!("{first} for one figure{others}")
}

/// A condition as a place: `at 2 of 8 points`, `on lavapipe`, `where W ≤ 32`.
fn place_text(condition: &str) -> String {
    let is_place = ["at ", "on ", "through "].iter().any(|word| condition.starts_with(word));
    format!("{}{condition}", if is_place { "" } else { "where " })
}

/// A figure that a verdict rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What was checked, a clause.
    pub says: String,
    /// The figure.
    pub value: f64,
    /// The interval that it lies in; the figure itself where it is exact.
    pub interval: [f64; 2],
    /// What it has to be, such as `at most 1.5`.
    pub expected: String,
    /// Whether it is as claimed; `None` if its interval lies on both sides of a limit.
    pub as_claimed: Option<bool>,
    /// The launch and the device, for people.
    pub place: String,
    /// The device; empty where none is needed.
    pub device: String,
    /// The record or the table; empty where none is needed.
    pub record: String,
    /// The command that repeats it; empty where it is arithmetic.
    pub repeat: String,
}

/// A claim with what records say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, a sentence or more.
    pub reason: String,
    /// The figures that decided, for each check and device the one nearest to the limit.
    pub figures: Vec<Figure>,
    /// What the ledger's doubt is worth, where there is one.
    pub doubt: Option<Verdict>,
    /// Why, with the figures that decided; empty where there is no doubt.
    pub doubt_reason: String,
    /// What records make of it and of each claim against it.
    pub pairs: Vec<Pair>,
}

/// What records make of a claim and of one against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The other claim's id.
    pub other: String,
    /// Which of the two records support, a sentence; the same at both.
    pub says: String,
}

/// One figure of a check, with the point that it comes from.
struct Judgement {
    point: Option<Point>,
    figure: Figure,
    /// How far it is inside its limits, as a share of them; negative outside.
    margin: f64,
}

/// What a check says.
enum Outcome {
    Holds,
    Fails,
    Where(String),
    Undecided,
}

/// Judges a claim by records and tables, alone.
pub fn judge(claim: &Claim, records: &[Record], tables: &[FactTable]) -> Judged {
    let (doubt, doubt_reason) = doubt(claim, records, tables);
    if let Some(opinion) = &claim.opinion {
        let verdict = Verdict::NoClaim(opinion.clone());
        return Judged {
            claim: claim.clone(),
            reason: opinion.clone(),
            verdict,
            figures: Vec::new(),
            doubt,
            doubt_reason,
            pairs: Vec::new(),
        };
    }
    if let Some(needed) = &claim.untestable {
        return Judged {
            claim: claim.clone(),
            verdict: Verdict::NotTestable(needed.clone()),
            reason: with_tried(needed, claim.tried.as_deref()),
            figures: Vec::new(),
            doubt,
            doubt_reason,
            pairs: Vec::new(),
        };
    }
    let (verdict, reason, figures) = decide(&claim.checks, records, tables);
    let pairs = Vec::new();
    Judged { claim: claim.clone(), verdict, reason, figures, doubt, doubt_reason, pairs }
}

/// What would be needed, and what was tried in its place.
fn with_tried(needed: &str, tried: Option<&str>) -> String {
    tried.map_or_else(|| needed.to_owned(), |tried| format!("{needed}; tried: {tried}"))
}

/// What a claim's doubt is worth, and why.
fn doubt(claim: &Claim, records: &[Record], tables: &[FactTable]) -> (Option<Verdict>, String) {
    if let Some(opinion) = &claim.doubt_opinion {
        return (Some(Verdict::NoClaim(opinion.clone())), opinion.clone());
    }
    if let Some(needed) = &claim.doubt_untestable {
        let reason = with_tried(needed, claim.doubt_tried.as_deref());
        return (Some(Verdict::NotTestable(needed.clone())), reason);
    }
    if claim.doubt_checks.is_empty() {
        return (None, String::new());
    }
    let (verdict, reason, _) = decide(&claim.doubt_checks, records, tables);
    (Some(verdict), reason)
}

/// The first figure of `shown` that is as claimed (`as_claimed`) or not, in words: `: ` and the
/// figure, its interval, what was claimed and the place; empty where there is none.
fn deciding_figure(check: &Check, shown: &[Figure], as_claimed: bool) -> String {
    let Some(figure) = shown.iter().find(|figure| figure.as_claimed == Some(as_claimed)) else {
        return String::new();
    };
    let place = &figure.place;
    if matches!(check, Check::Verified(_) | Check::Fact(Fact { outcome: Some(_), .. })) {
        return format!(": {} ({place})", if as_claimed { "yes" } else { "no" });
    }
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let [low, high] = figure.interval;
    let interval = if number(low) == number(high) {
        String::new()
    } else {
        format!(" ({} to {})", number(low), number(high))
    };
    format!(": {}{interval}, claimed {}{place}", number(figure.value), figure.expected)
}

/// The verdict of checks that all have to hold, why, and the figures.
fn decide(
    checks: &[Check],
    records: &[Record],
    tables: &[FactTable],
) -> (Verdict, String, Vec<Figure>) {
    // The figures of what decides the verdict come first.
    let mut figures: Vec<(u8, Figure)> = Vec::new();
    let (mut failed, mut limited, mut open, mut held) = (vec![], vec![], vec![], vec![]);
    for check in checks {
        let judgements = judgements(check, records, tables);
        let outcome = outcome(check, &judgements);
        let shown = representatives(judgements, is_some(check));
        let sentence = |so: bool| format!("{}{}", check.says(), deciding_figure(check, &shown, so));
        let rank = match outcome {
            Outcome::Fails => {
                failed.push(sentence(false));
                0
            }
            Outcome::Where(condition) => {
                limited.push((condition, sentence(false)));
                1
            }
            Outcome::Undecided => {
                open.push(needs_text(check, records));
                2
            }
            Outcome::Holds => {
                held.push(sentence(true));
                3
            }
        };
        figures.extend(shown.into_iter().map(|figure| (rank, figure)));
    }
    figures.sort_by_key(|(rank, _)| *rank);
    let figures = figures.into_iter().map(|(_, figure)| figure).collect();
    let reason = |parts: &[String]| parts.join("; ");
    if !failed.is_empty() {
        return (Verdict::Contradicted, reason(&failed), figures);
    }
    if !limited.is_empty() {
        let mut conditions: Vec<String> =
            limited.iter().map(|(condition, _)| condition.clone()).collect();
        conditions.dedup();
        let sentences: Vec<String> =
            limited.iter().map(|(_, sentence)| format!("elsewhere not: {sentence}")).collect();
        return (
            Verdict::HoldsOnlyWhere(join_conditions(&conditions)),
            reason(&sentences),
            figures,
        );
    }
    if !open.is_empty() {
        open.dedup();
        let needed = open.join("; ");
        let explanation = if held.is_empty() {
            needed.clone()
        } else {
            format!("{needed}; so far: {}", reason(&held))
        };
        return (Verdict::NotTestable(needed), explanation, figures);
    }
    (Verdict::Holds, reason(&held), figures)
}

fn is_some(check: &Check) -> bool {
    match check {
        Check::Bound(check) => check.some,
        Check::Equality(check) => check.some,
        Check::Ratio(check) => check.some,
        Check::Order(check) => check.some,
        Check::Verified(check) => check.some,
        Check::Arithmetic(_) | Check::Occupancy(_) | Check::Fact(_) => false,
    }
}

fn outcome(check: &Check, judgements: &[Judgement]) -> Outcome {
    let decided: Vec<&Judgement> =
        judgements.iter().filter(|judgement| judgement.figure.as_claimed.is_some()).collect();
    let holding =
        decided.iter().filter(|judgement| judgement.figure.as_claimed == Some(true)).count();
    match (holding, decided.len()) {
        (_, 0) => Outcome::Undecided,
        (0, _) => Outcome::Fails,
        (_, _) if holding == decided.len() && !is_some(check) && lacks_values(check, &decided) => {
            Outcome::Undecided
        }
        (holding, all) if holding == all || is_some(check) => Outcome::Holds,
        _ => {
            let points: Vec<(&Point, bool)> = decided
                .iter()
                .filter_map(|judgement| {
                    Some((judgement.point.as_ref()?, judgement.figure.as_claimed?))
                })
                .collect();
            let points = reproduced(&points);
            if points.iter().all(|(_, holds)| !holds) {
                return Outcome::Fails;
            }
            let by_driver = matches!(check, Check::Verified(_))
                || matches!(check.quantity(), Some(Quantity::OutputShown(..)));
            Outcome::Where(condition(&points, by_driver))
        }
    }
}

/// The points, those as claimed alone that no other record of the same launch on the same device contradicts: what one
/// record has and another has not is no condition.
fn reproduced<'a>(points: &[(&'a Point, bool)]) -> Vec<(&'a Point, bool)> {
    let same = |a: &Point, b: &Point| {
        (&a.device, a.width, &a.launches) == (&b.device, b.width, &b.launches)
    };
    let contradicted =
        |point: &Point| points.iter().any(|(other, holds)| !holds && same(point, other));
    points.iter().map(|(point, holds)| (*point, *holds && !contradicted(point))).collect()
}

/// Whether a value that a selector names has no figure: of one of several operations nothing follows for the others.
fn lacks_values(check: &Check, decided: &[&Judgement]) -> bool {
    let launches = || {
        let points = decided.iter().filter_map(|judgement| judgement.point.as_ref());
        points.flat_map(|point| &point.launches)
    };
    let found = |selector: &Selector, name: &str, value: &Value| {
        launches().any(|(kernel, parameters)| {
            // Of chains and slopes the parameter is no longer there.
            let parameter = parameters.get(name).is_none_or(|parameter| same(parameter, value));
            *kernel == selector.kernel && parameter
        })
    };
    check.selectors().into_iter().any(|selector| {
        let named =
            selector.conditions.iter().filter(|condition| condition.compared == Compared::Equal);
        named.filter(|condition| condition.name != WIDTH).any(|condition| {
            condition.values.iter().any(|value| !found(selector, &condition.name, value))
        })
    })
}

/// For each device the figure nearest to its limit, one that is as claimed and one that is not; where one that is as
/// claimed is enough, the best.
fn representatives(judgements: Vec<Judgement>, some: bool) -> Vec<Figure> {
    let mut kept: Vec<Judgement> = Vec::new();
    for judgement in judgements {
        let alike = |other: &&mut Judgement| {
            other.figure.device == judgement.figure.device
                && other.figure.as_claimed == judgement.figure.as_claimed
        };
        match kept.iter_mut().find(alike) {
            Some(other) => {
                let better = if some {
                    judgement.margin > other.margin
                } else {
                    judgement.margin.abs() < other.margin.abs()
                };
                if better {
                    *other = judgement;
                }
            }
            None => kept.push(judgement),
        }
    }
    kept.into_iter().map(|judgement| judgement.figure).collect()
}

/// What would be needed to decide a check, and what is there that cannot.
fn needs_text(check: &Check, records: &[Record]) -> String {
    if let Check::Fact(fact) = check {
        return format!("needs the table {}", fact.table);
    }
    let selectors: Vec<String> = check.selectors().iter().map(ToString::to_string).collect();
    let what = match check.quantity() {
        Some(quantity) if quantity.needs_counters() => "hardware counters",
        Some(quantity) if quantity.needs_times() => "times",
        _ => "a record",
    };
    let mut words: Vec<&str> = Vec::new();
    if let Some(scope) = check.scope() {
        let name = |word| super::ledger::SCOPES.iter().find(|(_, scope)| *scope == word);
        words.extend(scope.0.iter().filter_map(|word| name(*word)).map(|(name, _)| *name));
    }
    let on = if words.is_empty() { String::new() } else { format!(" on {}", words.join(" ")) };
    // Who has such records has to know why they decide nothing.
    let by_rule = match count_of_other_rules(records, check) {
        0 => String::new(),
        launches => format!(
            " counted by rule {COUNTING_RULE} (launches that another rule counted, and that are not \
             judged: {launches})"
        ),
    };
    format!("needs {what} of {}{on}{by_rule}", selectors.join(" and "))
}

fn judgements(check: &Check, records: &[Record], tables: &[FactTable]) -> Vec<Judgement> {
    let mut found = found_by(check, records, tables);
    // Without it, the launch gives no such figure.
    if check.quantity().is_some_and(Quantity::needs_counters) {
        for judgement in &mut found {
            judgement.figure.repeat.push_str(" --counters");
        }
    }
    found
}

fn found_by(check: &Check, records: &[Record], tables: &[FactTable]) -> Vec<Judgement> {
    let of_limits = |found: Vec<Point>, limits: &dyn Fn(&Names) -> Option<Limits>| {
        let judged = |point: Point| {
            let limits = limits(&names(&point.parameters, point.width))?;
            Some(limits.judge(check.says(), point))
        };
        found.into_iter().filter_map(judged).collect::<Vec<_>>()
    };
    match check {
        Check::Bound(check) => {
            of_limits(points(records, &check.what, &check.of, &check.on), &|names| {
                Limits::between(check.min.as_ref(), check.max.as_ref(), names)
            })
        }
        Check::Equality(check) => {
            of_limits(points(records, &check.what, &check.of, &check.on), &|names| {
                Limits::about(&check.to, check.within, names)
            })
        }
        Check::Ratio(check) => of_limits(
            ratios(
                points(records, &check.what, &check.of, &check.on),
                &points(records, &check.what, &check.over, &check.on),
                (&check.of, &check.over),
            ),
            &|names| ratio_limits(check, names),
        ),
        Check::Order(check) => lines(check, records),
        Check::Verified(check) => of_limits(find_verified(records, check), &|_| {
            let wanted = if check.wrong { 0.0 } else { 1.0 };
            let words = if check.wrong { "wrong" } else { "as the reference" };
            Some(Limits { min: wanted, max: wanted, words: words.to_owned() })
        }),
        Check::Arithmetic(check) => arithmetic(check),
        Check::Occupancy(check) => judge_occupancy(check),
        Check::Fact(check) => facts(check, tables),
    }
}

/// How far off a figure may be, as a part of it, before that is told.
const TOLD_MIN: f64 = 0.1;

/// What a figure has to be.
struct Limits {
    min: f64,
    max: f64,
    words: String,
}

impl Limits {
    /// Limits from formulas; `None` if a name in them is not known at the point.
    fn between(min: Option<&Formula>, max: Option<&Formula>, names: &Names) -> Option<Self> {
        let value = |limit: Option<&Formula>, otherwise: f64| match limit {
            Some(limit) => formula::evaluate(limit, names).ok(),
            None => Some(otherwise),
        };
        let (min, max) = (value(min, f64::NEG_INFINITY)?, value(max, f64::INFINITY)?);
        let words = match (min.is_finite(), max.is_finite()) {
            (true, true) if (max - min).abs() <= ROUNDING * max.abs() => number(min),
            (true, true) => format!("{} to {}", number(min), number(max)),
            (true, false) => format!("at least {}", number(min)),
            _ => format!("at most {}", number(max)),
        };
        Some(Self { min, max, words })
    }

    /// A figure and how far off is still that.
    fn about(to: &Formula, within: f64, names: &Names) -> Option<Self> {
        let to = formula::evaluate(to, names).ok()?;
        let reach = if to == 0.0 { within } else { to.abs() * within };
        let (min, max) = (to - reach, to + reach);
        // How far off still counts is told where it is much.
        let words = match within >= TOLD_MIN {
            true => format!("{}, {} to {} counting as that", number(to), number(min), number(max)),
            false => number(to),
        };
        Some(Self { min, max, words })
    }

    fn judge(self, says: &str, point: Point) -> Judgement {
        let reach = |limit: f64| ROUNDING * limit.abs().max(1.0);
        let inside =
            point.low >= self.min - reach(self.min) && point.high <= self.max + reach(self.max);
        let outside =
            point.high < self.min - reach(self.min) || point.low > self.max + reach(self.max);
        let share = |room: f64, limit: f64| room / limit.abs().max(f64::MIN_POSITIVE);
        let below =
            if self.min.is_finite() { share(point.value - self.min, self.min) } else { f64::MAX };
        let above =
            if self.max.is_finite() { share(self.max - point.value, self.max) } else { f64::MAX };
        let figure = Figure {
            says: says.to_owned(),
            value: point.value,
            interval: [point.low, point.high],
            expected: self.words,
            as_claimed: if inside { Some(true) } else { outside.then_some(false) },
            place: place(&point),
            device: point.device.clone(),
            record: point.record.clone(),
            repeat: repeat(&point),
        };
        Judgement { point: Some(point), figure, margin: below.min(above) }
    }
}

/// A figure in words: four digits, more where it is whole.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e7 {
        format!("{value}")
    } else {
        crate::units::figure(value)
    }
}

/// The command that measures a point again.
fn repeat(point: &Point) -> String {
    let mut kernels: Vec<&str> = Vec::new();
    let mut axes: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
    for (kernel, parameters) in &point.launches {
        if !kernels.contains(&kernel.as_str()) {
            kernels.push(kernel);
        }
        for (name, value) in parameters {
            let values = axes.entry(name).or_default();
            if !values.contains(&value.to_string()) {
                values.push(value.to_string());
            }
        }
    }
    let axis = |(name, values): (&str, Vec<String>)| match values.as_slice() {
        [value] => format!(" -a {name}={value}"),
        _ => format!(" -a '{name}=[{}]'", values.join(",")),
    };
    let axes: String = axes.into_iter().map(axis).collect();
    format!("lanescope run {}{axes} --device {}", kernels.join(" "), point.device_id)
}

fn ratio_limits(check: &RatioCheck, names: &Names) -> Option<Limits> {
    match &check.to {
        Some(to) => Limits::about(to, check.within, names),
        None => Limits::between(check.min.as_ref(), check.max.as_ref(), names),
    }
}

/// Each point over those of the same record and device that agree in every parameter that both have, but for those
/// that both selectors fix.
fn ratios(above: Vec<Point>, below: &[Point], selectors: (&Selector, &Selector)) -> Vec<Point> {
    let fixed = |name: &str| selectors.0.fixes(name) && selectors.1.fixes(name);
    let mut beside = PointsBeside::new(below);
    let mut found = Vec::new();
    for a in above {
        let joined = beside.find(&a, &fixed).into_iter().map(|place| &below[place]);
        for b in joined.filter(|b| b.low > 0.0) {
            let mut joined = a.clone();
            joined.value = a.value / b.value;
            joined.low = a.low / b.high;
            joined.high = a.high / b.low;
            joined.launches.extend(b.launches.clone());
            found.push(joined);
        }
    }
    found
}

/// The lines of points along a parameter: whether each goes as claimed.
fn lines(check: &Order, records: &[Record]) -> Vec<Judgement> {
    let mut found = points(records, &check.what, &check.of, &check.on);
    if let Some(over) = &check.over {
        found = ratios(found, &points(records, &check.what, over, &check.on), (&check.of, over));
    }
    let at = |point: &Point| point.parameters.get(&check.along).and_then(Value::number);
    let mut known = Lines::new(&check.along);
    let mut lines: Vec<Vec<Point>> = Vec::new();
    for point in found.into_iter().filter(|point| at(point).is_some()) {
        if let Some(number) = known.find(&point) {
            lines[number].push(point);
        } else {
            known.add(lines.len(), &point);
            lines.push(vec![point]);
        }
    }
    let judged = |mut line: Vec<Point>| {
        line.sort_by(|a, b| at(a).unwrap_or(0.0).total_cmp(&at(b).unwrap_or(0.0)));
        line.dedup_by(|a, b| at(a) == at(b));
        // One point, however often it was measured, goes nowhere.
        if line.len() > 1 { judge_line(check, line) } else { None }
    };
    lines.into_iter().filter_map(judged).collect()
}

/// Whether all are so: no where one is not, else undecided where one is.
fn all_of(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let each: Vec<Option<bool>> = each.collect();
    if each.contains(&Some(false)) {
        return Some(false);
    }
    (!each.contains(&None)).then_some(true)
}

fn judge_line(check: &Order, line: Vec<Point>) -> Option<Judgement> {
    let (first, last) = (line.first()?.clone(), line.last()?.clone());
    let most = line.iter().map(|point| point.value).fold(f64::MIN, f64::max);
    let least = line.iter().map(|point| point.value).fold(f64::MAX, f64::min);
    // Whether the second is so many times the first, or more; undecided where their intervals leave it open.
    let more = |a: &Point, b: &Point, factor: f64| {
        let certain = b.low >= a.high * factor;
        (certain || b.high < a.low * factor).then_some(certain)
    };
    let (words, holds) = match check.goes {
        Goes::Level => {
            let within = 1.0 + check.within;
            let pairs = line.iter().flat_map(|a| line.iter().map(move |b| (a, b)));
            let pairs = pairs.filter(|(a, b)| !std::ptr::eq(*a, *b));
            let pairs = pairs.map(|(a, b)| more(b, a, 1.0 / within));
            ("level", all_of(pairs))
        }
        Goes::Up | Goes::Down => {
            let up = check.goes == Goes::Up;
            let in_order = |a: &Point, b: &Point, factor: f64| {
                if up { more(a, b, factor) } else { more(b, a, factor) }
            };
            let steps =
                line.windows(2).map(|pair| in_order(&pair[0], &pair[1], 1.0 - check.within));
            let whole = in_order(&first, &last, 1.0 + check.within);
            (if up { "rising" } else { "falling" }, all_of(steps.chain([whole])))
        }
    };
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { f64::INFINITY };
    let (value, interval) = if check.goes == Goes::Level {
        (most / least, [most / least; 2])
    } else {
        (last.value / first.value, [ratio(last.low, first.high), ratio(last.high, first.low)])
    };
    let mut point = last.clone();
    point.launches = line.iter().flat_map(|point| point.launches.clone()).collect();
    let from = first.parameters.get(&check.along)?.to_string();
    let figure = Figure {
        says: check.says.clone(),
        value,
        interval,
        expected: format!("{words} along {} from {from}", check.along),
        as_claimed: holds,
        place: place(&point),
        device: point.device.clone(),
        record: point.record.clone(),
        repeat: repeat(&point),
    };
    point.parameters.remove(&check.along);
    Some(Judgement { point: Some(point), figure, margin: value - 1.0 })
}

/// A figure that needs no device.
fn plain(
    says: &str,
    value: f64,
    expected: f64,
    within: f64,
    place: &str,
    record: &str,
) -> Judgement {
    let reach = (expected.abs() * within).max(ROUNDING);
    let figure = Figure {
        says: says.to_owned(),
        value,
        interval: [value; 2],
        expected: number(expected),
        as_claimed: Some((value - expected).abs() <= reach),
        place: place.to_owned(),
        device: String::new(),
        record: record.to_owned(),
        repeat: String::new(),
    };
    Judgement { point: None, figure, margin: 0.0 }
}

fn arithmetic(check: &Arithmetic) -> Vec<Judgement> {
    let value = formula::evaluate_text(&check.formula, &Names::new());
    let judged = |value| plain(&check.says, value, check.to, check.within, &check.formula, "");
    value.ok().map(judged).into_iter().collect()
}

fn judge_occupancy(check: &OccupancyCheck) -> Vec<Judgement> {
    let Ok(known) = occupancy::architecture(&check.arch) else { return Vec::new() };
    let needs = occupancy::Needs {
        registers: check.registers,
        memory_bytes: check.memory,
        invocations: check.size,
    };
    let Ok(found) = occupancy::occupancy(&known, &needs) else { return Vec::new() };
    let value = match check.what {
        OccupancyFigure::Workgroups => found.workgroups.into(),
        OccupancyFigure::Subgroups => found.subgroups.into(),
        OccupancyFigure::Ratio => found.ratio.0,
        OccupancyFigure::SubgroupsMax => known.subgroups.into(),
        OccupancyFigure::WorkgroupsMax => known.workgroups.into(),
        OccupancyFigure::RegistersMax => known.registers.into(),
        OccupancyFigure::MemoryMax => known.memory_bytes.into(),
        OccupancyFigure::SizeMax => known.workgroup_invocations_max.into(),
        OccupancyFigure::Width => known.width.into(),
    };
    let mut judged = plain(&check.says, value, check.to, 0.0, &check.arch, "");
    judged.figure.repeat = format!(
        "lanescope occupancy --arch {} --registers {} --workgroup-memory {} --workgroup-size {}",
        check.arch, check.registers, check.memory, check.size
    );
    vec![judged]
}

/// Whether a table's row says what is claimed.
fn words_of_table(check: &Fact, wanted: &str, table: &FactTable) -> Option<Judgement> {
    let row = table.rows.iter().find(|cells| cells.starts_with(&check.row))?;
    let cell = row.get(check.column)?;
    let so = cell == wanted;
    let value = f64::from(u8::from(so));
    let mut judgement = plain(
        &check.says,
        value,
        1.0,
        0.0,
        &format!("{}: {cell}", check.row.join(",")),
        &table.name,
    );
    judgement.figure.expected = format!("`{wanted}`");
    Some(judgement)
}

fn facts(check: &Fact, tables: &[FactTable]) -> Vec<Judgement> {
    let mut found = Vec::new();
    for table in tables.iter().filter(|table| table.name.ends_with(&check.table)) {
        if let Some(wanted) = &check.outcome {
            found.extend(words_of_table(check, wanted, table));
            continue;
        }
        let figure = |row: &[String]| {
            let row = table.rows.iter().find(|cells| cells.starts_with(row))?;
            row.get(check.column)?.trim().parse::<f64>().ok()
        };
        let above = match &check.less {
            Some(less) => figure(&check.row).zip(figure(less)).map(|(a, b)| a - b),
            None => figure(&check.row),
        };
        let value = match &check.over {
            Some(over) => above.zip(figure(over)).map(|(a, b)| a / b),
            None => above,
        };
        let Some(value) = value else { continue };
        let formula = |limit: Option<f64>| limit.map(Formula::Real);
        let (min, max) = (formula(check.min), formula(check.max));
        let Some(limits) = Limits::between(min.as_ref(), max.as_ref(), &Names::new()) else {
            continue;
        };
        let inside = (limits.min..=limits.max).contains(&value);
        let mut judgement =
            plain(&check.says, value, value, 0.0, &check.row.join(","), &table.name);
        judgement.figure.as_claimed = Some(inside);
        judgement.figure.expected = limits.words;
        found.push(judgement);
    }
    found
}
