//! Why there is no page.
//!
//! Input: what collecting and packing meet. Output: an error with its source.

use crate::kernel::KernelError;
use crate::program::ProgramError;
use crate::run::RunError;
use crate::store::StoreError;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The catalogue refuses a launch.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A launch cannot be worked out.
    #[error("{kernel}: {error}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        error: RunError,
    },
    /// A probe of lanescope's own cannot be written.
    #[error("a probe of lanescope's own: {0}")]
    Probe(#[from] ProgramError),
    /// The record's form cannot be encoded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data cannot be encoded.
    #[error("the page's data cannot be encoded: {0}")]
    Json(#[from] serde_json::Error),
    /// The data cannot be packed.
    #[error("the page's data cannot be packed: {0}")]
    Pack(#[from] std::io::Error),
    /// No kernel is left.
    #[error("none of the kernels can run in a browser: {0}")]
    Nothing(String),
}
