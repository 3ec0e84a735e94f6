//! Parameters by name: as numbers in formulas, as words in texts.
//!
//! Input: the parameters' values, and formulas or texts that name them. Output: numbers and texts.
//! It knows nothing of launches.

use std::collections::BTreeMap;

use super::format::{Formula, NameChoice};
use super::formula::{self, Names};
use crate::record::Value;

/// The parameters that are numbers, by name.
pub(super) fn numbers(parameters: &BTreeMap<String, Value>) -> Names {
    let number = |(name, value): (&String, &Value)| Some((name.clone(), value.number()?));
    parameters.iter().filter_map(number).collect()
}

/// The values of a description's overrides.
///
/// # Errors
///
/// A sentence that quotes the formula that cannot be worked out.
pub fn overrides(
    given: &BTreeMap<String, Formula>,
    parameters: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, f64>, String> {
    values(given, &numbers(parameters))
}

/// The values of overrides, from names that are numbers.
pub(super) fn values(
    given: &BTreeMap<String, Formula>,
    names: &Names,
) -> Result<BTreeMap<String, f64>, String> {
    given
        .iter()
        .map(|(name, formula)| match formula::evaluate(formula, names) {
            Ok(value) => Ok((name.clone(), value)),
            Err(message) => Err(format!("the override `{name}`: {message}")),
        })
        .collect()
}

/// The parameters and the names that follow from them.
///
/// # Errors
///
/// A sentence that names what does not follow from its parameter's value.
pub(super) fn add_names(
    names: &BTreeMap<String, NameChoice>,
    parameters: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, String> {
    let mut named = parameters.clone();
    for (name, choice) in names {
        let value = parameters.get(&choice.by).map(Value::to_string);
        let chosen = value.as_ref().and_then(|value| choice.of.get(value));
        let chosen = chosen.ok_or_else(|| {
            let value = value.as_deref().unwrap_or("no parameter");
            format!("the name `{name}` follows from `{}`, which is {value}", choice.by)
        })?;
        named.insert(name.clone(), Value::Name(chosen.clone()));
    }
    Ok(named)
}

/// Replaces `{name}` with the parameter's value.
///
/// # Errors
///
/// A sentence that quotes the text, where it names a parameter that there is not.
pub fn interpolate(text: &str, parameters: &BTreeMap<String, Value>) -> Result<String, String> {
    let mut result = text.to_owned();
    for (name, value) in parameters {
        result = result.replace(&format!("{{{name}}}"), &value.to_string());
    }
    if result.contains('{') {
        return Err(format!("`{text}` names a parameter that the kernel does not have"));
    }
    Ok(result)
}
