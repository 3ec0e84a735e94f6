//! How scalars are written.
//!
//! Input: naga's scalars and literals. Output: their C++. The names are WGSL's, which the prelude
//! declares.

use naga::Literal;

use crate::program::builtin::BuiltinKind;

impl BuiltinKind {
    /// The type's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::Bool => "bool",
        }
    }

    /// The kind whose arithmetic C++ does without promoting it.
    pub(super) fn wide(self) -> Self {
        if matches!(self, Self::U16 | Self::I16) { Self::U32 } else { self.to_unsigned() }
    }

    /// The suffix of CUDA's mathematical functions of this kind.
    pub(super) fn suffix(self) -> &'static str {
        if self == Self::F64 { "" } else { "f" }
    }

    /// Zero.
    pub(super) fn zero(self) -> String {
        self.number(0.0)
    }

    /// A small whole number, or a fraction where the kind is a float.
    pub(super) fn number(self, value: f64) -> String {
        match self {
            Self::F16 => format!("f16({value:?}f)"),
            Self::F32 => format!("{value:?}f"),
            Self::F64 => format!("{value:?}"),
            Self::U32 => format!("{value}u"),
            Self::U64 => format!("{value}ull"),
            Self::I64 => format!("{value}ll"),
            Self::I32 => format!("{value}"),
            Self::I16 | Self::U16 => format!("{}({value})", self.name()),
            Self::Bool => (if value == 0.0 { "false" } else { "true" }).to_owned(),
        }
    }
}

/// A literal.
pub(super) fn literal(literal: Literal) -> Option<String> {
    Some(match literal {
        Literal::F64(value) => format!("{value:?}"),
        Literal::F32(value) => format!("{value:?}f"),
        Literal::F16(value) => format!("f16({:?}f)", value.to_f32()),
        Literal::U16(value) => format!("u16({value})"),
        Literal::I16(value) => format!("i16({value})"),
        Literal::U32(value) => format!("{value}u"),
        Literal::I32(i32::MIN) => "i32(0x80000000u)".to_owned(),
        Literal::I32(value) => parenthesise(i64::from(value), ""),
        Literal::U64(value) => format!("{value}ull"),
        Literal::I64(i64::MIN) => "i64(0x8000000000000000ull)".to_owned(),
        Literal::I64(value) => parenthesise(value, "ll"),
        Literal::Bool(value) => value.to_string(),
        Literal::AbstractInt(_) | Literal::AbstractFloat(_) => return None,
    })
}

/// A number that can stand anywhere in an expression.
fn parenthesise(value: i64, suffix: &str) -> String {
    if value < 0 { format!("({value}{suffix})") } else { format!("{value}{suffix}") }
}
