//! What can be wrong with a partition: what is asked for, the buffers, the class ids.
//!
//! Input: buffers with what each must be, or the word that a partition left. Output: an error, or
//! nothing. It makes nothing on the device.

use wgpu::{Buffer, BufferUsages};

use crate::partition::{CLASSES_MAX, Memory, Path, TuningError};

/// Storage buffers that the compute stage of a device must bind.
pub const STORAGE_BUFFERS: u32 = 8;

/// Why a partition cannot be made, or what went wrong in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultisplitError {
    /// The number of classes.
    #[error("{classes} classes; a partition has 1 to {CLASSES_MAX}")]
    Classes {
        /// What was asked for.
        classes: u32,
    },
    /// Neither a permutation nor pairs were asked for.
    #[error("neither `order` nor `pairs` is given, so there is nothing to write")]
    NothingAsked,
    /// A buffer that is given for two fields.
    #[error("`{first}` and `{second}` are the same buffer; each needs one of its own")]
    SameBuffer {
        /// The one field.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A buffer that was made without a usage that it needs.
    #[error("buffer `{name}` was made without the usage {usage:?}")]
    BufferUsage {
        /// Its field.
        name: &'static str,
        /// The usage, or the usages, that it lacks.
        usage: BufferUsages,
    },
    /// A buffer that is too small.
    #[error("buffer `{name}` has {size} bytes; {needed} are needed")]
    BufferSize {
        /// Its field.
        name: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The least size in bytes.
        needed: u64,
    },
    /// More elements than the device binds.
    #[error("{n} elements take {needed} bytes; the device binds at most {limit}")]
    TooMany {
        /// The number of elements.
        n: u32,
        /// The largest binding in bytes.
        needed: u64,
        /// The device's limit in bytes.
        limit: u64,
    },
    /// The device has no subgroup operations, or they were not asked for when it was made.
    #[error("the device was made without `Features::SUBGROUP`")]
    NoSubgroups,
    /// The device binds too few storage buffers in a compute stage.
    #[error(
        "the device binds {limit} storage buffers in a compute stage; {STORAGE_BUFFERS} are needed"
    )]
    StorageBuffers {
        /// The device's limit.
        limit: u32,
    },
    /// A tuning that does not fit.
    #[error("this tuning does not fit: {0}")]
    Tuning(String),
    /// No element to a workgroup.
    #[error("a workgroup takes 0 elements; it takes at least one")]
    NoElements,
    /// A class id that is out of range, found by the device.
    #[error("the class id of element {index} is out of range: ids lie below {classes}")]
    ClassOutOfRange {
        /// The first such element.
        index: u32,
        /// The number of classes.
        classes: u32,
    },
}

impl From<TuningError> for MultisplitError {
    fn from(TuningError(message): TuningError) -> Self {
        Self::Tuning(message)
    }
}

/// Judges the word that a partition left in its `status` buffer.
///
/// # Errors
///
/// [`MultisplitError::ClassOutOfRange`] with the first offending index. What such a partition wrote
/// lies inside its buffers and has no meaning.
pub fn check(status: u32, classes: u32) -> Result<(), MultisplitError> {
    if status == 0 {
        Ok(())
    } else {
        Err(MultisplitError::ClassOutOfRange { index: !status, classes })
    }
}

/// Refuses a buffer that is given twice, that lacks a usage, or that is too small.
pub(super) fn check_buffers(
    given: &[(Memory, &Buffer)],
    needed: impl Fn(Memory) -> u64,
) -> Result<(), MultisplitError> {
    for (index, (memory, buffer)) in given.iter().enumerate() {
        let name = field(*memory);
        if let Some((other, _)) = given[..index].iter().find(|(_, other)| other == buffer) {
            return Err(MultisplitError::SameBuffer { first: field(*other), second: name });
        }
        let cleared = matches!(memory, Memory::Offsets | Memory::Status);
        let copied = if cleared { BufferUsages::COPY_DST } else { BufferUsages::empty() };
        check_buffer(name, buffer, BufferUsages::STORAGE | copied, needed(*memory))?;
    }
    Ok(())
}

/// Refuses a buffer that lacks a usage or is too small.
pub(crate) fn check_buffer(
    name: &'static str,
    buffer: &Buffer,
    usages: BufferUsages,
    needed: u64,
) -> Result<(), MultisplitError> {
    let usage = usages.difference(buffer.usage());
    if !usage.is_empty() {
        return Err(MultisplitError::BufferUsage { name, usage });
    }
    let size = buffer.size();
    if size < needed {
        return Err(MultisplitError::BufferSize { name, size, needed });
    }
    Ok(())
}

/// The field of [`super::Buffers`], [`super::Order`] or [`super::Pairs`].
fn field(memory: Memory) -> &'static str {
    memory.variable(Path::Few)
}
