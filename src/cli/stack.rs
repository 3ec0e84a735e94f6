//! Threads with room for long expressions.

use std::thread::Builder;

/// The stack on which everything runs, in bytes: naga's stages go down into long expressions
/// operator by operator. Only what is used is taken.
const STACK_BYTES: usize = 512 << 20;

/// What makes a thread with such a stack.
pub(super) fn thread_builder() -> Builder {
    Builder::new().stack_size(STACK_BYTES)
}
