//! Which values parameters take, each by itself and together.
//!
//! Input: what a description says of its parameters, and values for them. Output: nothing where they
//! are allowed, else words that say what is. It works out no launch.

use std::collections::BTreeMap;

use super::format::{Combination, Parameter};
use super::{formula, names};
use crate::record::Value;

impl Parameter {
    /// What in it contradicts itself, a sentence: limits that are no numbers or leave nothing over, and
    /// a default that they do not allow.
    pub(super) fn contradiction(&self) -> Option<String> {
        for (key, limit) in [("min", self.min), ("max", self.max)] {
            if let Some(limit) = limit.filter(|limit| limit.is_nan()) {
                return Some(format!("`{key}` is {limit}, and must be a number"));
            }
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return Some(format!("`min` is {min} and `max` is {max}: no number is allowed"));
        }
        if let Some(multiple) = self.multiple_of.filter(|multiple| *multiple < 1) {
            return Some(format!(
                "`multiple_of` is {multiple}, and must be a whole number from 1 on"
            ));
        }
        let any = self.default.any();
        let refused = |value: &&Value| match value {
            Value::Real(number) if !number.is_finite() => true,
            value => !self.takes(value, any),
        };
        let value = self.default.all().into_iter().find(refused)?;
        let known = self.allowed_text(any);
        Some(format!("its default is {value}, and it takes: {known}"))
    }

    /// What it takes, in words, where that does not include `value`; `default` is its default.
    pub(super) fn refuses(&self, value: &Value, default: &Value) -> Option<String> {
        (!self.takes(value, default)).then(|| self.allowed_text(default))
    }

    /// Whether a value is allowed.
    fn takes(&self, value: &Value, default: &Value) -> bool {
        if !self.values.is_empty() {
            return self.values.contains(value);
        }
        let number = match (value, default) {
            (_, Value::Name(_)) => return true,
            (Value::Name(_), _) | (Value::Real(_), Value::Integer(_)) => return false,
            (Value::Integer(number), _) => {
                let multiple = self.multiple_of.is_none_or(|factor| number % factor.max(1) == 0);
                let power =
                    !self.power_of_two || u64::try_from(*number).is_ok_and(u64::is_power_of_two);
                if !(multiple && power) {
                    return false;
                }
                real(*number)
            }
            (Value::Real(number), _) => *number,
        };
        self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max)
    }

    /// What it takes, in words: its values, or the limits of its numbers.
    pub fn allowed_text(&self, default: &Value) -> String {
        if !self.values.is_empty() {
            return list_text(&self.values);
        }
        let mut words = match default {
            Value::Integer(_) if self.power_of_two => "powers of two".to_owned(),
            Value::Integer(_) => "whole numbers".to_owned(),
            Value::Real(_) => "numbers".to_owned(),
            Value::Name(_) => return "anything".to_owned(),
        };
        words += &match (self.min, self.max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" from {min} on"),
            (None, Some(max)) => format!(" up to {max}"),
            (None, None) => String::new(),
        };
        words + &self.multiple_of.map_or(String::new(), |factor| format!(", multiples of {factor}"))
    }
}

impl super::format::Default {
    /// Its value in every class.
    fn all(&self) -> Vec<&Value> {
        match self {
            Self::Same(value) => vec![value],
            Self::ByClass { gpu, cpu, quick, simulator } => {
                [gpu, cpu, quick].into_iter().chain(simulator).collect()
            }
        }
    }

    /// Its value on GPUs, which is of the same type as everywhere.
    pub fn any(&self) -> &Value {
        match self {
            Self::Same(value) | Self::ByClass { gpu: value, .. } => value,
        }
    }
}

impl Combination {
    /// Checks the values of all parameters.
    ///
    /// # Errors
    ///
    /// Which values do not go together, what does, and why.
    pub(super) fn check(&self, parameters: &BTreeMap<String, Value>) -> Result<(), String> {
        let has = |(name, values): (&String, &Vec<Value>)| {
            parameters.get(name).is_some_and(|value| values.contains(value))
        };
        if !self.applies.iter().all(has) {
            return Ok(());
        }
        let is = |name: &String| {
            let value = parameters.get(name).map_or("no parameter".to_owned(), Value::to_string);
            format!("{name} = {value}")
        };
        let reason = &self.reason;
        if let Some(other) = self.only.iter().find(|value| !has(*value)) {
            let chosen: Vec<String> = self.applies.keys().map(is).collect();
            let alone: Vec<String> = self
                .only
                .iter()
                .map(|(name, values)| format!("{name} = {}", list_text(values)))
                .collect();
            return Err(format!(
                "{} goes with these alone: {}; here {}, and {reason}",
                chosen.join(", "),
                alone.join(", "),
                is(other.0)
            ));
        }
        let Some(formula) = &self.not_negative else { return Ok(()) };
        let value = formula::evaluate(formula, &names::numbers(parameters))?;
        if value < 0.0 {
            let all: Vec<String> = parameters.keys().map(is).collect();
            return Err(format!(
                "{} do not go together: {reason} ({formula} is {value}, and must not be negative)",
                all.join(", ")
            ));
        }
        Ok(())
    }
}

fn list_text(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "limits lie far below 2^53")]
pub(super) fn real(number: i64) -> f64 {
    number as f64
}
