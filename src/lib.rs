//! lanescope shows which lanes a GPU wastes.

pub mod instrument;
pub mod kernel;
pub mod program;
pub mod record;
pub mod units;
