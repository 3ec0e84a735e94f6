//! Values of a kernel's parameters, and which keys a record leaves out.

use serde::{Deserialize, Serialize};

/// The value of a kernel's parameter at one point of a sweep.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number, such as an element count.
    Integer(i64),
    /// A real number, such as a probability.
    Real(f64),
    /// A name, such as a form.
    Name(String),
}

impl Value {
    /// It as a number; `None` of a name.
    #[expect(clippy::cast_precision_loss, reason = "parameters lie far below 2^53")]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            Self::Name(_) => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Real(value) => write!(formatter, "{value}"),
            Self::Name(value) => formatter.write_str(value),
        }
    }
}

/// Whether a key may be left out; serde gives a reference.
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}
