//! Which launches a check looks at: `family/kernel form=sealed n>=65536 mask=random|runs W=32`.
//!
//! Input: the text of a selector. Output: [`Selector`], which says whether it takes a measurement, and at which
//! points its kernel has to run. `W` is the width, every other name a parameter of the kernel.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::record::{Measurement, Value};

/// The name that stands for the width.
pub(super) const WIDTH: &str = "W";

/// A kernel, and conditions on its parameters and on the width.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Selector {
    /// The kernel, `family/name`.
    pub kernel: String,
    /// The conditions, all of which have to be met.
    pub conditions: Vec<SelectorCondition>,
}

/// A condition on one parameter, or on the width.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorCondition {
    /// The parameter, or `W`.
    pub name: String,
    /// How it is compared.
    pub compared: Compared,
    /// The values; several where any of them will do.
    pub values: Vec<Value>,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It is one of the values.
    Equal,
    /// It is none of them.
    NotEqual,
    /// At most the value.
    AtMost,
    /// At least the value.
    AtLeast,
    /// Below the value.
    Below,
    /// Above the value.
    Above,
}

/// The signs, those of two characters first.
const SIGNS: [(&str, Compared); 6] = [
    ("<=", Compared::AtMost),
    (">=", Compared::AtLeast),
    ("!=", Compared::NotEqual),
    ("<", Compared::Below),
    (">", Compared::Above),
    ("=", Compared::Equal),
];

impl TryFrom<String> for Selector {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let kernel = words.next().ok_or("a selector names a kernel")?.to_owned();
        if !kernel.contains('/') {
            return Err(format!("`{kernel}` is no `family/kernel`"));
        }
        let conditions = words.map(condition).collect::<Result<_, _>>()?;
        Ok(Self { kernel, conditions })
    }
}

fn condition(word: &str) -> Result<SelectorCondition, String> {
    let found = SIGNS.iter().find_map(|(sign, compared)| {
        let (name, values) = word.split_once(sign)?;
        Some((name.to_owned(), *compared, values))
    });
    let (name, compared, values) =
        found.ok_or_else(|| format!("`{word}` is no condition such as `n=4096`"))?;
    let values: Vec<Value> = values.split('|').map(value).collect();
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if name.is_empty() || !plain || values.contains(&Value::Name(String::new())) {
        return Err(format!("`{word}` is no condition such as `n=4096`"));
    }
    Ok(SelectorCondition { name, compared, values })
}

/// A value as it is written: a whole number, a real one, else a name.
fn value(text: &str) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Integer(whole),
        (_, Ok(real)) => Value::Real(real),
        _ => Value::Name(text.to_owned()),
    }
}

/// Whether two values are the same, whole or real.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.number(), b.number()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a == b,
        _ => false,
    }
}

impl SelectorCondition {
    /// Whether a value meets it.
    fn takes(&self, value: &Value) -> bool {
        let any = self.values.iter().any(|known| same(known, value));
        let limit = self.values.first().and_then(Value::number);
        let meets = |test: fn(f64, f64) -> bool| {
            value.number().zip(limit).is_some_and(|(value, limit)| test(value, limit))
        };
        match self.compared {
            Compared::Equal => any,
            Compared::NotEqual => !any,
            Compared::AtMost => meets(|value, limit| value <= limit),
            Compared::AtLeast => meets(|value, limit| value >= limit),
            Compared::Below => meets(|value, limit| value < limit),
            Compared::Above => meets(|value, limit| value > limit),
        }
    }
}

impl Selector {
    /// Whether it takes a measurement.
    pub fn takes(&self, measurement: &Measurement) -> bool {
        let width = measurement.subgroup_width.map(|width| Value::Integer(width.lanes().into()));
        measurement.kernel == self.kernel
            && self.conditions.iter().all(|condition| {
                let value = if condition.name == WIDTH {
                    width.as_ref()
                } else {
                    measurement.parameters.get(&condition.name)
                };
                value.is_some_and(|value| condition.takes(value))
            })
    }

    /// Whether it says which values of a parameter it takes, one by one.
    pub fn fixes(&self, name: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.name == name && condition.compared == Compared::Equal)
    }

    /// The points that its kernel has to run at: each with each, of the values that are named one by one; what
    /// is not named keeps its default.
    pub fn points(&self) -> Vec<BTreeMap<String, Value>> {
        let mut points = vec![BTreeMap::new()];
        let named = self
            .conditions
            .iter()
            .filter(|condition| condition.name != WIDTH && condition.compared == Compared::Equal);
        for condition in named {
            points = points
                .iter()
                .flat_map(|point: &BTreeMap<String, Value>| {
                    condition.values.iter().map(|value| {
                        let mut more = point.clone();
                        more.insert(condition.name.clone(), value.clone());
                        more
                    })
                })
                .collect();
        }
        points
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.kernel)?;
        for condition in &self.conditions {
            let sign = SIGNS.iter().find(|(_, compared)| *compared == condition.compared);
            let sign = sign.map_or("", |(sign, _)| sign);
            let values: Vec<String> = condition.values.iter().map(ToString::to_string).collect();
            write!(formatter, " {}{sign}{}", condition.name, values.join("|"))?;
        }
        Ok(())
    }
}
