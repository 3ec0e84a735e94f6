//! Arithmetic in descriptions: `ceil(n / 256)`, `W / (1 - 0.5^W)`.
//!
//! Input: a formula and the values of its names. Output: a number. The parsing is exmex's; this
//! file only binds names and words the errors.

use std::collections::BTreeMap;

use exmex::prelude::*;
use exmex::{BinOp, FloatOpsFactory, MakeOperators, Operator};

use super::expression::Formula;
use super::limits::FORMULA_BYTES_MAX;

/// Values by name.
pub type Names = BTreeMap<String, f64>;

/// What formulas know: exmex's operators of floats, and the greatest common divisor of whole numbers.
#[derive(Clone, Debug)]
struct Operators;

impl MakeOperators<f64> for Operators {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let mut operators = FloatOpsFactory::<f64>::make();
        let gcd = BinOp { apply: gcd, prio: 0, is_commutative: true };
        operators.push(Operator::make_bin("gcd", gcd));
        operators
    }
}

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
    let parsed = FlatEx::<f64, Operators>::parse(text)
        .map_err(|error| format!("the formula `{text}` does not parse: {error}"))?;
    let values: Vec<f64> = parsed
        .var_names()
        .iter()
        .map(|name| {
            names.get(name.as_str()).copied().ok_or_else(|| {
                let known: Vec<&str> = names.keys().map(String::as_str).collect();
                format!("the formula `{text}` names `{name}`; known here: {}", known.join(", "))
            })
        })
        .collect::<Result<_, _>>()?;
    let value = parsed
        .eval(&values)
        .map_err(|error| format!("the formula `{text}` cannot be worked out: {error}"))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("the formula `{text}` gives {value}, no finite number"))
    }
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
        assert!(value("W / 0").unwrap_err().contains("no finite number"));
        assert!(value("W +").unwrap_err().contains("does not parse"));
        let count = |text: &str| evaluate_count(&Formula::Text(text.into()), &names);
        assert_eq!(
            count("2 - 5").unwrap_err(),
            "`2 - 5` gives -3, where a whole number from 0 on is needed"
        );
        assert!(count("n / 256").unwrap_err().starts_with("`n / 256` gives 3.90625"));
    }
}
