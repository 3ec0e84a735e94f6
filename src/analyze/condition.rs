//! The language of conditions: comparisons joined by `&&`.
//!
//! Input: a text such as `efficiency<0.5`, and the names of the figures that it may speak of. Output:
//! [`Comparison`]s. Which figures there are, and what they are asked of, is for whoever asks.

/// A figure held against a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison<F> {
    /// Which figure.
    pub(super) figure: F,
    /// How it is held against the number.
    pub(super) operator: Operator,
    /// The number.
    pub(super) bound: f64,
}

/// How a figure is held against a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl Operator {
    /// Whether a value meets it.
    pub(super) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::LessOrEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterOrEqual => value >= bound,
        }
    }
}

/// The signs, those first that others begin with.
const SIGNS: [(&str, Operator); 4] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Why a condition cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the condition {text:?} cannot be read: {problem}; examples: {examples}")]
pub struct ConditionError {
    text: String,
    problem: String,
    examples: &'static str,
}

/// Reads comparisons of `figures`, by their names; `check` says what is wrong with a bound.
///
/// # Errors
///
/// What cannot be read, with `examples`.
pub(super) fn parse<F: Copy>(
    text: &str,
    figures: &[(&str, F)],
    check: impl Fn(F, f64) -> Result<(), String>,
    examples: &'static str,
) -> Result<Vec<Comparison<F>>, ConditionError> {
    let figure = |part: &str| comparison(part, figures, &check);
    let comparisons: Result<Vec<Comparison<F>>, String> = text.split("&&").map(figure).collect();
    comparisons.map_err(|problem| ConditionError { text: text.to_owned(), problem, examples })
}

fn comparison<F: Copy>(
    text: &str,
    figures: &[(&str, F)],
    check: &impl Fn(F, f64) -> Result<(), String>,
) -> Result<Comparison<F>, String> {
    let text = text.trim();
    let at = text.find(['<', '>']).ok_or_else(|| {
        if text.is_empty() {
            "a comparison is missing".to_owned()
        } else {
            format!("{text:?} has none of <, <=, >, >=")
        }
    })?;
    let (figure, rest) = text.split_at(at);
    let found = figures.iter().find(|(name, _)| *name == figure.trim());
    let Some((_, figure)) = found else {
        let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
        return Err(format!("{:?} is none of {}", figure.trim(), names.join(", ")));
    };
    let found = SIGNS
        .into_iter()
        .find_map(|(sign, operator)| rest.strip_prefix(sign).map(|bound| (operator, bound.trim())));
    let Some((operator, bound)) = found else {
        return Err(format!("{rest:?} begins with none of <, <=, >, >="));
    };
    match bound.parse::<f64>() {
        Ok(bound) if bound.is_finite() => {
            check(*figure, bound)?;
            Ok(Comparison { figure: *figure, operator, bound })
        }
        _ => Err(format!("{bound:?} is no number")),
    }
}
