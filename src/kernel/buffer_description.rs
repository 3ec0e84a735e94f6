//! What a description says of buffers, immediate data, and what fills them; the types' documentation is the
//! format's specification.
//!
//! Input: the file's tables. Output: plain data. What it means for one choice of parameters is worked
//! out in `launch` and `scalars`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::condition::Condition;
use super::expression::Formula;
use super::pattern::{Lengths, NodeWord, Picture, TreeShape};
use crate::layout::ScalarType;

/// A buffer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferDescription {
    /// The shader's variable that it is bound to, or a name of its own for indirect arguments.
    #[serde(default)]
    pub name: String,
    /// In place of a name, with `binding`: the bind group of the variable.
    pub group: Option<u32>,
    /// In place of a name, with `group`: the binding of the variable in its group.
    pub binding: Option<u32>,
    /// The scalar type of its elements, such as `f32`.
    #[serde(rename = "type", default)]
    pub scalar: Option<ScalarType>,
    /// In place of `type`: the parameter whose value is the type.
    pub type_parameter: Option<String>,
    /// How many elements, a formula: scalars where there is a `type`, else elements of the shader's
    /// run-time array.
    pub elements: Option<Formula>,
    /// What it holds at first.
    #[serde(default)]
    pub fill: FillDescription,
    /// Its scalars one by one, in place of `elements` and `fill`: small structs. Each lies at the
    /// next multiple of its own size; padding beyond that is written out.
    #[serde(default)]
    pub scalars: Vec<ScalarDescription>,
    /// Whether it is compared with the reference.
    #[serde(default)]
    pub output: bool,
    /// Whether what it holds after counting goes into the record, up to
    /// [`super::limits::SHOWN_ELEMENTS_MAX`] elements: what a kernel shows and no reference knows.
    /// It must be an output.
    #[serde(default)]
    pub shown: bool,
    /// What it held after the program's own dispatch: a file, raw bytes. In a launch file alone; what a
    /// device wrote is compared with it.
    pub after: Option<FileDescription>,
    /// Whether there is such a buffer: a condition on a parameter, such as `"sort == before"`.
    #[serde(default = "Condition::always")]
    pub when: Condition,
}

/// A file beside the launch file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "a file is a name, or a part of one: { name = \"…\", offset = 0, bytes = 64 }"
)]
pub enum FileDescription {
    /// The whole file.
    Whole(String),
    /// A part of it: several variables may be bound to one buffer of a program.
    Part(FilePart),
}

/// A part of a file, as the bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePart {
    /// The file's name.
    pub name: String,
    /// Where the part begins, in bytes.
    #[serde(default)]
    pub offset: u64,
    /// Its length, in bytes.
    pub bytes: u64,
}

impl FileDescription {
    /// The file's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Whole(name) => name,
            Self::Part(part) => &part.name,
        }
    }

    /// The bytes that are meant of a file's content.
    ///
    /// # Errors
    ///
    /// A sentence, where the file ends before the part does.
    pub fn cut(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let Self::Part(FilePart { name, offset, bytes: length }) = self else { return Ok(bytes) };
        let end = offset.checked_add(*length).and_then(|end| usize::try_from(end).ok());
        let range = usize::try_from(*offset).ok().zip(end).map(|(from, to)| from..to);
        range.and_then(|range| bytes.get(range)).map(<[u8]>::to_vec).ok_or_else(|| {
            format!(
                "`{name}` has {} bytes, and {length} from byte {offset} on are asked for",
                bytes.len()
            )
        })
    }
}

/// One scalar of a small struct: its type and its value, such as `{ u32 = "n" }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ScalarDescription {
    /// A 32-bit float.
    F32(Formula),
    /// A 32-bit unsigned integer.
    U32(Formula),
    /// A 32-bit signed integer.
    I32(Formula),
    /// A 16-bit float.
    F16(Formula),
    /// A 64-bit float.
    F64(Formula),
    /// A 16-bit unsigned integer.
    U16(Formula),
    /// A 16-bit signed integer.
    I16(Formula),
    /// A 64-bit unsigned integer.
    U64(Formula),
    /// A 64-bit signed integer.
    I64(Formula),
}

impl ScalarDescription {
    /// The type and the value.
    pub fn parts(&self) -> (ScalarType, &Formula) {
        match self {
            Self::F32(value) => (ScalarType::F32, value),
            Self::U32(value) => (ScalarType::U32, value),
            Self::I32(value) => (ScalarType::I32, value),
            Self::F16(value) => (ScalarType::F16, value),
            Self::F64(value) => (ScalarType::F64, value),
            Self::U16(value) => (ScalarType::U16, value),
            Self::I16(value) => (ScalarType::I16, value),
            Self::U64(value) => (ScalarType::U64, value),
            Self::I64(value) => (ScalarType::I64, value),
        }
    }
}

/// Immediate data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ImmediatesDescription {
    /// Scalars in order, placed as a buffer's.
    Scalars(Vec<ScalarDescription>),
    /// The word `default`: sensible values by the variable's type, in a launch file alone.
    Word(DefaultWord),
    /// A file's raw bytes, `{ file = "immediates.bin" }`, in a launch file alone.
    File(ImmediatesFile),
}

/// Immediate data from a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImmediatesFile {
    /// The file.
    pub file: FileDescription,
}

/// The word `default`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultWord {
    /// Sensible values by the variable's type.
    Default,
}

/// How a buffer is filled.
#[derive(Clone, Debug, PartialEq, Deserialize, std::default::Default)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum FillDescription {
    /// Zeros.
    #[default]
    Zero,
    /// One value everywhere.
    Constant(Formula),
    /// Independent uniform values from the first, included, to the second, left out.
    Uniform([Formula; 2]),
    /// first + step · index.
    Series {
        /// The first element.
        first: Formula,
        /// The difference of neighbours.
        step: Formula,
    },
    /// range.0 + (range.1 − range.0) · u^exponent with u uniform from 0 to 1, rounded down for
    /// integers: with an exponent over 1 low values are frequent.
    Skewed {
        /// From this, included, to that, left out by integers.
        range: [Formula; 2],
        /// The exponent, 1 where it is left out.
        #[serde(default = "Formula::one")]
        exponent: Formula,
        /// How many neighbours share a value, 1 where it is left out.
        #[serde(default = "Formula::one")]
        length: Formula,
    },
    /// Ascending from 0 to `last`, the last element: where rows begin, and where the last one ends.
    Offsets {
        /// The last element.
        last: Formula,
        /// How lengths are distributed, `"uniform"` where it is left out.
        #[serde(default)]
        lengths: Lengths,
        /// Of a power law: how fast long rows become rare, 2 where it is left out; over 1.
        #[serde(default = "two")]
        exponent: Formula,
    },
    /// The numbers from 0 to the number of elements, each once, in random order.
    Permutation,
    /// Ascending values.
    Sorted {
        /// From this, included, to that, left out by integers.
        range: [Formula; 2],
        /// The part of the elements that stand elsewhere, 0 where it is left out.
        #[serde(default = "Formula::zero")]
        moved: Formula,
    },
    /// Numbers below `ids`, number k about as often as 1 / (k + 1)^exponent.
    Zipf {
        /// How many there are.
        ids: Formula,
        /// The exponent, 1 where it is left out; over 0.
        #[serde(default = "Formula::one")]
        exponent: Formula,
    },
    /// Points in a box.
    Points {
        /// The least value of each component.
        from: Vec<Formula>,
        /// The bound of each component.
        to: Vec<Formula>,
        /// Scalars from one point to the next, as many as components where it is left out.
        stride: Option<Formula>,
    },
    /// Pixels, row by row.
    Image {
        /// Pixels of a row.
        width: Formula,
        /// `"gradient"`, `"noise"` or `"checkers"`.
        of: Picture,
        /// The darkest and the lightest value, 0 and 1 where it is left out.
        #[serde(default = "unit_range")]
        range: [Formula; 2],
    },
    /// The nodes of a binary tree of boxes in the unit cube; 2 · leaves − 1 nodes.
    Bvh {
        /// Leaves.
        leaves: Formula,
        /// The 32-bit words of a node, such as `["min_x", "min_y", "min_z", "left", …]`.
        node: Vec<NodeWord>,
        /// `"complete"` or `"random"`; the first where it is left out.
        #[serde(default)]
        tree: TreeShape,
        /// Whether the right child of a node stands behind the left one, level by level; else nodes stand depth
        /// first.
        #[serde(default)]
        siblings: bool,
    },
    /// Of a struct, or of an array of structs, each member by its name; those that are left out as by `default`. In a
    /// launch file alone.
    Members(BTreeMap<String, Self>),
    /// One of several, by a parameter's value.
    Choice {
        /// The parameter.
        by: String,
        /// The fill for each of its values.
        of: BTreeMap<String, Self>,
    },
    /// Sensible values by the variable's type, see [`mod@super::shape`]; in a launch file alone.
    Default,
    /// A file beside the launch file: `.npy`, of which the elements count, or raw bytes; what is
    /// missing of `elements` is zero; or a part of a file. In a launch file alone.
    File(FileDescription),
}

impl FillDescription {
    /// Shows each file that a buffer, or a member of it, is filled from, with its name, such as `graph.offsets`.
    pub fn for_each_file<'a>(&'a self, name: &str, see: &mut dyn FnMut(&str, &'a FileDescription)) {
        match self {
            Self::File(file) => see(name, file),
            Self::Members(members) => {
                for (member, fill) in members {
                    fill.for_each_file(&format!("{name}.{member}"), see);
                }
            }
            Self::Zero
            | Self::Constant(_)
            | Self::Uniform(_)
            | Self::Series { .. }
            | Self::Skewed { .. }
            | Self::Offsets { .. }
            | Self::Permutation
            | Self::Sorted { .. }
            | Self::Zipf { .. }
            | Self::Points { .. }
            | Self::Image { .. }
            | Self::Bvh { .. }
            | Self::Choice { .. }
            | Self::Default => {}
        }
    }
}

fn two() -> Formula {
    Formula::Integer(2)
}

fn unit_range() -> [Formula; 2] {
    [Formula::zero(), Formula::one()]
}
