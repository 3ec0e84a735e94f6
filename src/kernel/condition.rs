//! Whether something of a description holds, by a parameter's value: `sort == before`.
//!
//! Input: a `true`, a `false` or a comparison, and the parameters' values. Output: yes or no, or a
//! sentence that says what cannot be compared. It knows nothing of what hangs on it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::record::Value;

/// Whether something holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ConditionText")]
pub enum Condition {
    /// The same whatever the parameters are.
    Same(bool),
    /// A parameter has a value, or has it not: `name == value`, `name != value`.
    Compared {
        /// The parameter.
        name: String,
        /// Its value, as it is written.
        value: String,
        /// Whether it must have the value.
        equal: bool,
    },
}

/// A condition as a description writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum ConditionText {
    Same(bool),
    Compared(String),
}

impl TryFrom<ConditionText> for Condition {
    type Error = String;

    fn try_from(text: ConditionText) -> Result<Self, String> {
        let text = match text {
            ConditionText::Same(same) => return Ok(Self::Same(same)),
            ConditionText::Compared(text) => text,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let equal = match words[..] {
            [_, "==", _] => true,
            [_, "!=", _] => false,
            _ => {
                return Err(format!(
                    "the condition {text:?} is neither `name == value` nor `name != value`"
                ));
            }
        };
        Ok(Self::Compared { name: words[0].to_owned(), value: words[2].to_owned(), equal })
    }
}

impl Condition {
    /// Whether it holds with these parameters.
    ///
    /// # Errors
    ///
    /// A sentence, where it names a parameter that there is not.
    pub fn holds(&self, parameters: &BTreeMap<String, Value>) -> Result<bool, String> {
        match self {
            Self::Same(same) => Ok(*same),
            Self::Compared { name, value, equal } => {
                let found = parameters
                    .get(name)
                    .ok_or_else(|| format!("a condition names `{name}`, which is no parameter"))?;
                Ok((found.to_string() == *value) == *equal)
            }
        }
    }

    /// What holds always.
    pub fn always() -> Self {
        Self::Same(true)
    }

    /// What never holds.
    pub fn never() -> Self {
        Self::Same(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Held {
        when: Condition,
    }

    fn read(text: &str) -> Result<Condition, String> {
        let held: Result<Held, _> = toml::from_str(&format!("when = {text}"));
        held.map(|held| held.when).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_compare_a_parameter_with_a_value() {
        let name = |value: &str| Value::Name(value.to_owned());
        let parameters = BTreeMap::from([
            ("sort".to_owned(), name("before")),
            ("classes".to_owned(), Value::Integer(8)),
        ]);
        let holds = |text: &str| read(text).unwrap().holds(&parameters);
        assert_eq!(holds("true"), Ok(true));
        assert_eq!(holds("\"sort == before\""), Ok(true));
        assert_eq!(holds("\"sort != before\""), Ok(false));
        assert_eq!(holds("\"classes == 8\""), Ok(true));
        assert!(holds("\"work == 8\"").unwrap_err().contains("`work`"));
        let message = read("\"sort = before\"").unwrap_err();
        assert!(message.contains("line 1") && message.contains("neither"), "{message}");
    }
}
