//! Arithmetic in descriptions: `ceil(n / 256)`, `W / (1 - 0.5^W)`.
//!
//! Input: a formula and the values of its names. Output: a number. The parsing is minijinja's, whose `**` is
//! written `^` here; this file names the functions, binds names and words the errors.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use minijinja::value::Rest;
use minijinja::{Environment, Expression};

use super::expression::Formula;
use super::limits::FORMULA_BYTES_MAX;
use crate::units::text::listed;

/// Values by name.
pub type Names = BTreeMap<String, f64>;

type Function = fn(f64) -> f64;

/// Functions of one number.
const FUNCTIONS: [(&str, Function); 16] = [
    ("abs", f64::abs),
    ("cbrt", f64::cbrt),
    ("ceil", f64::ceil),
    ("cos", f64::cos),
    ("exp", f64::exp),
    ("floor", f64::floor),
    ("fract", f64::fract),
    ("ln", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("round", f64::round),
    ("signum", f64::signum),
    ("sin", f64::sin),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("trunc", f64::trunc),
];

/// What formulas know: operators of numbers and these functions.
static KNOWN: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut known = Environment::empty();
    for (name, function) in FUNCTIONS {
        known.add_function(name, function);
    }
    known.add_function("gcd", gcd);
    known.add_function("max", |first: f64, others: Rest<f64>| {
        others.iter().copied().fold(first, f64::max)
    });
    known.add_function("min", |first: f64, others: Rest<f64>| {
        others.iter().copied().fold(first, f64::min)
    });
    known
});

/// A formula that was read, and the names that it asks for.
struct Parsed {
    expression: Expression<'static, 'static>,
    asked: Vec<String>,
}

/// Reads a formula; each text once, since the catalogue works the same few out for every launch.
fn parse(text: &str) -> Result<Arc<Parsed>, String> {
    static READ: LazyLock<Mutex<HashMap<String, Arc<Parsed>>>> = LazyLock::new(Mutex::default);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(parsed) = read.get(text) {
        return Ok(Arc::clone(parsed));
    }
    let expression = KNOWN
        .compile_expression_owned(text.replace('^', "**"))
        .map_err(|error| format!("the formula `{text}` does not parse: {}", detail(&error)))?;
    let functions: Vec<&str> = KNOWN.globals().map(|(name, _)| name).collect();
    let mut asked: Vec<String> = expression.undeclared_variables(false).into_iter().collect();
    asked.retain(|name| !functions.contains(&name.as_str()));
    asked.sort();
    let parsed = Arc::new(Parsed { expression, asked });
    // Formulas of user's files are few; those of a fuzzer are not kept for ever.
    if read.len() >= READ_MAX {
        read.clear();
    }
    read.insert(text.to_owned(), Arc::clone(&parsed));
    Ok(parsed)
}

/// How many formulas are kept.
const READ_MAX: usize = 4096;

/// The greatest common divisor of two whole numbers, by Euclid's algorithm; not a number for others.
fn gcd(mut a: f64, mut b: f64) -> f64 {
    if a.fract() != 0.0 || b.fract() != 0.0 {
        return f64::NAN;
    }
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// Works out a formula.
///
/// # Errors
///
/// A sentence that quotes the formula, when it does not parse, names something unknown, or gives no
/// finite number; for a number that is not finite, that it is none.
pub fn evaluate(formula: &Formula, names: &Names) -> Result<f64, String> {
    match formula {
        #[expect(clippy::cast_precision_loss, reason = "counts in descriptions lie far below 2^53")]
        Formula::Integer(value) => Ok(*value as f64),
        Formula::Real(value) if value.is_finite() => Ok(*value),
        Formula::Real(value) => Err(format!("{value} is no finite number")),
        Formula::Text(text) => evaluate_text(text, names),
    }
}

/// Works out a formula given as text.
///
/// # Errors
///
/// As [`evaluate`].
pub fn evaluate_text(text: &str, names: &Names) -> Result<f64, String> {
    if text.len() > FORMULA_BYTES_MAX {
        let bytes = text.len();
        return Err(format!("a formula has {bytes} bytes; at most {FORMULA_BYTES_MAX}"));
    }
    let parsed = parse(text)?;
    if let Some(name) = parsed.asked.iter().find(|name| !names.contains_key(name.as_str())) {
        let known: Vec<&str> = names.keys().map(String::as_str).collect();
        return Err(format!("the formula `{text}` names `{name}`; known here: {}", listed(&known)));
    }
    let value = parsed.expression.eval(names).and_then(f64::try_from).map_err(|error| {
        format!("the formula `{text}` cannot be worked out: {}", detail(&error))
    })?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("the formula `{text}` gives {value}, no finite number"))
    }
}

/// What was wrong, without the place in a template.
fn detail(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

/// Works out a formula that must give a whole number from 0 to 2^53.
///
/// # Errors
///
/// As [`evaluate`], and when the value is negative, fractional or too large.
pub fn evaluate_count(formula: &Formula, names: &Names) -> Result<u64, String> {
    let value = evaluate(formula, names)?;
    if value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole, not negative and at most 2^53"
        )]
        Ok(value as u64)
    } else {
        Err(format!("`{formula}` gives {value}, where a whole number from 0 on is needed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_give_numbers_or_say_why_not() {
        let names = Names::from([("W".into(), 32.0), ("n".into(), 1000.0)]);
        let value = |text: &str| evaluate(&Formula::Text(text.into()), &names);
        assert_eq!(value("W / 4"), Ok(8.0));
        assert_eq!(value("ceil(n / 256)"), Ok(4.0));
        assert!((value("W * 0.5 / (1 - 0.5^W)").unwrap() - 16.000_000_003_7).abs() < 1e-9);
        assert!(value("W / q").unwrap_err().contains("known here: W, n"));
        assert!(value("W / 0").unwrap_err().contains("cannot be worked out"));
        assert!(value("ln(0)").unwrap_err().contains("no finite number"));
        assert_eq!(value("max(min(W, 256), n / 10, 7) - gcd(W, 12)"), Ok(96.0));
        assert_eq!(value("2^-1 * 2^3^1 + 7 % 4 - 1 / 2"), Ok(6.5));
        assert!(value("ceil(W, 2)").unwrap_err().contains("cannot be worked out"));
        assert!(value("nothing(W)").unwrap_err().contains("names `nothing`"));
        assert!(value("'a'").unwrap_err().contains("cannot be worked out"));
        assert!(value("W +").unwrap_err().contains("does not parse"));
        let count = |text: &str| evaluate_count(&Formula::Text(text.into()), &names);
        assert_eq!(
            count("2 - 5").unwrap_err(),
            "`2 - 5` gives -3, where a whole number from 0 on is needed"
        );
        assert!(count("n / 256").unwrap_err().starts_with("`n / 256` gives 3.90625"));
    }
}
