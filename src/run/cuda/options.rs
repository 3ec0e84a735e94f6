//! How kernels are translated for this path.
//!
//! Input: whether a launch is trusted and its workgroup memory zeroed. Output: options of `translate`.

use crate::kernel::Launch;
use crate::translate::{self, Checks};
/// How kernels are translated.
pub(super) fn options(trusted: bool, zero_memory: bool) -> translate::Options {
    let checks = if trusted { Checks::Unchecked } else { Checks::Checked };
    translate::Options { checks, zero_memory }
}

/// How a launch's kernels are translated.
pub(super) fn options_for(launch: &Launch) -> translate::Options {
    options(launch.trusted, launch.workgroup_memory_zeroed)
}
