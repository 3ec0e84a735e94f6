//! A number of a description, as it stands there.
//!
//! Input: a value of TOML. Output: [`Formula`], plain data; `formula` works it out.

use serde::Deserialize;

/// A number or a formula over the parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Formula {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// An expression over parameters, such as `ceil(n / 256)`.
    Text(String),
}

impl Formula {
    /// 0.
    pub(super) fn zero() -> Self {
        Self::Integer(0)
    }

    /// 1.
    pub(super) fn one() -> Self {
        Self::Integer(1)
    }
}

impl std::fmt::Display for Formula {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Real(value) => write!(formatter, "{value}"),
            Self::Text(value) => formatter.write_str(value),
        }
    }
}
