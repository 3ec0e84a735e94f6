//! How a variable that the host binds lies in memory, as plain data.
//!
//! Input: what `program` reflects from a shader, or a description. Output: a [`Shape`]'s size and
//! scalars. It knows nothing of naga, reads no shader and makes no contents.

use serde::{Deserialize, Serialize};

/// A host-shareable type with its layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// One number.
    Scalar {
        /// Its type.
        scalar: ScalarType,
        /// Whether it is atomic.
        atomic: bool,
    },
    /// Numbers in a row.
    Vector {
        /// The type of a component.
        scalar: ScalarType,
        /// How many.
        components: u32,
    },
    /// Columns of numbers.
    Matrix {
        /// The type of a component.
        scalar: ScalarType,
        /// How many columns.
        columns: u32,
        /// How many rows.
        rows: u32,
        /// Bytes from column to column.
        stride: u64,
    },
    /// Elements of one shape.
    Array {
        /// An element.
        element: Box<Self>,
        /// Bytes from element to element.
        stride: u64,
        /// How many; `None` if the buffer's size says it.
        count: Option<u64>,
    },
    /// Fields of several shapes.
    Struct {
        /// The fields, in order.
        fields: Vec<Field>,
        /// Its size in bytes, with one element of a run-time array at its end.
        size: u64,
    },
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name in the source.
    pub name: String,
    /// Where it begins in the struct, in bytes.
    pub offset: u64,
    /// Its shape.
    pub shape: Shape,
}

/// Where a member of a struct lies, or of each element of an array of structs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPlaces<'a> {
    /// Its shape.
    pub shape: &'a Shape,
    /// Where the first one begins, in bytes.
    pub offset: u64,
    /// The size of each, in bytes.
    pub size: u64,
    /// Bytes from one to the next.
    pub stride: u64,
    /// How many there are.
    pub count: u64,
}

/// A scalar of a shape, with the path of fields that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where it lies, in bytes.
    pub offset: u64,
    /// Its type.
    pub scalar: ScalarType,
    /// Its name, such as `camera.position.x`.
    pub name: String,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The components of the vector that it belongs to; 1 for a number that stands alone.
    pub components: u32,
}

impl Shape {
    /// Its size in bytes, where run-time arrays hold `elements`.
    pub fn size(&self, elements: u64) -> u64 {
        match self {
            Self::Scalar { scalar, .. } => scalar.bytes(),
            Self::Vector { scalar, components } => scalar.bytes() * u64::from(*components),
            Self::Matrix { columns, stride, .. } => u64::from(*columns) * stride,
            Self::Array { stride, count, .. } => stride.saturating_mul(count.unwrap_or(elements)),
            Self::Struct { fields, size } => match fields.last() {
                Some(last) if last.shape.stride().is_some() => {
                    last.offset.saturating_add(last.shape.size(elements))
                }
                _ => *size,
            },
        }
    }

    /// Bytes from element to element of the run-time array that it is or ends in.
    pub fn stride(&self) -> Option<u64> {
        match self {
            Self::Array { stride, count: None, .. } => Some(*stride),
            Self::Struct { fields, .. } => fields.last().and_then(|last| last.shape.stride()),
            Self::Scalar { .. }
            | Self::Vector { .. }
            | Self::Matrix { .. }
            | Self::Array { count: Some(_), .. } => None,
        }
    }

    /// The names of its members, or of its elements'.
    pub fn member_names(&self) -> Vec<&str> {
        match self {
            Self::Struct { fields, .. } => fields.iter().map(|field| &*field.name).collect(),
            Self::Array { element, .. } if matches!(**element, Self::Struct { .. }) => {
                element.member_names()
            }
            Self::Array { .. }
            | Self::Scalar { .. }
            | Self::Vector { .. }
            | Self::Matrix { .. } => Vec::new(),
        }
    }

    /// Where the member `name` of a struct lies, or of each element of an array of structs, in a buffer of `bytes`
    /// bytes; `None` if there is none of that name.
    pub fn member(&self, name: &str, bytes: u64) -> Option<MemberPlaces<'_>> {
        match self {
            Self::Struct { fields, .. } => {
                let Field { offset, shape, .. } = fields.iter().find(|field| field.name == name)?;
                let rest = bytes.saturating_sub(*offset);
                // A run-time array takes what is left, as far as it is whole elements.
                let elements = shape.stride().and_then(|stride| rest.checked_div(stride));
                let size = shape.size(elements.unwrap_or(0));
                Some(MemberPlaces { shape, offset: *offset, size, stride: size, count: 1 })
            }
            Self::Array { element, stride, count } => {
                let Self::Struct { fields, .. } = &**element else { return None };
                let Field { offset, shape, .. } = fields.iter().find(|field| field.name == name)?;
                let count = count.unwrap_or_else(|| bytes.checked_div(*stride).unwrap_or(0));
                let size = shape.size(0);
                Some(MemberPlaces { shape, offset: *offset, size, stride: *stride, count })
            }
            Self::Scalar { .. } | Self::Vector { .. } | Self::Matrix { .. } => None,
        }
    }

    /// The type of all its scalars and whether they are atomic, where they are alike throughout.
    pub fn uniform_scalar(&self) -> Option<(ScalarType, bool)> {
        match self {
            Self::Scalar { scalar, atomic } => Some((*scalar, *atomic)),
            Self::Vector { scalar, .. } | Self::Matrix { scalar, .. } => Some((*scalar, false)),
            Self::Array { element, .. } => element.uniform_scalar(),
            Self::Struct { fields, .. } => {
                let mut kinds = fields.iter().map(|field| field.shape.uniform_scalar());
                let first = kinds.next()??;
                kinds.all(|kind| kind == Some(first)).then_some(first)
            }
        }
    }

    /// Its scalars in order, where there is no array and there are at most `max`.
    pub fn leaves(&self, max: usize) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        (self.collect("", 0, max, &mut leaves) && leaves.len() <= max).then_some(leaves)
    }

    fn collect(&self, name: &str, offset: u64, max: usize, leaves: &mut Vec<Leaf>) -> bool {
        if leaves.len() > max {
            return false;
        }
        let mut push = |offset: u64, scalar: ScalarType, suffix: &str, atomic, components| {
            let name = format!("{name}{suffix}");
            leaves.push(Leaf { offset, scalar, name, atomic, components });
        };
        match self {
            Self::Scalar { scalar, atomic } => push(offset, *scalar, "", *atomic, 1),
            Self::Vector { scalar, components } => {
                for (index, suffix) in (0..*components).zip([".x", ".y", ".z", ".w"]) {
                    let at = offset + u64::from(index) * scalar.bytes();
                    push(at, *scalar, suffix, false, *components);
                }
            }
            Self::Matrix { scalar, columns, rows, stride } => {
                for column in 0..*columns {
                    for row in 0..*rows {
                        let at =
                            offset + u64::from(column) * stride + u64::from(row) * scalar.bytes();
                        push(at, *scalar, &format!("[{column}][{row}]"), false, *rows);
                    }
                }
            }
            Self::Array { .. } => return false,
            Self::Struct { fields, .. } => {
                return fields.iter().all(|field| {
                    let dot = if name.is_empty() { "" } else { "." };
                    let name = format!("{name}{dot}{}", field.name);
                    field.shape.collect(&name, offset + field.offset, max, leaves)
                });
            }
        }
        true
    }
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// 32-bit float.
    F32,
    /// 32-bit unsigned integer.
    U32,
    /// 32-bit signed integer.
    I32,
    /// 16-bit float.
    F16,
    /// 64-bit float.
    F64,
    /// 16-bit unsigned integer.
    U16,
    /// 16-bit signed integer.
    I16,
    /// 64-bit unsigned integer.
    U64,
    /// 64-bit signed integer.
    I64,
}

impl ScalarType {
    /// The type of this name, such as `f32`.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::F32,
            Self::U32,
            Self::I32,
            Self::F16,
            Self::F64,
            Self::U16,
            Self::I16,
            Self::U64,
            Self::I64,
        ];
        all.into_iter().find(|scalar| scalar.to_string() == name)
    }

    /// Its size in bytes: 2, 4 or 8.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F16 | Self::U16 | Self::I16 => 2,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F64 | Self::U64 | Self::I64 => 8,
        }
    }

    /// Whether it holds fractions.
    pub fn is_float(self) -> bool {
        match self {
            Self::F16 | Self::F32 | Self::F64 => true,
            Self::U16 | Self::I16 | Self::U32 | Self::I32 | Self::U64 | Self::I64 => false,
        }
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
        })
    }
}
