//! Where a value lies in memory, and what lies there.
//!
//! Input: nothing. Output: plain data; `place` makes instructions of it.

use naga::{Handle, Scalar, Type, VectorSize};

use crate::simulate::op::{Owner, Reg};

/// A part of a variable.
#[derive(Clone, Debug)]
pub(super) struct VariablePlace {
    pub(super) root: PlaceRoot,
    /// Bytes, or registers.
    pub(super) offset: u32,
    /// The register of what is added a lane, checked.
    pub(super) dynamic: Option<Reg>,
    pub(super) shape: PlaceShape,
    /// Who alone accesses it, where the index says so.
    pub(super) owner: Owner,
}

/// Where the variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceRoot {
    /// In registers from this one on.
    Registers(Reg),
    /// In this memory.
    Memory(u16),
}

/// The type behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceShape {
    Type(Handle<Type>),
    Scalar(Scalar),
    Vector(VectorSize, Scalar),
    /// Columns, rows.
    Matrix(VectorSize, VectorSize, Scalar),
}
