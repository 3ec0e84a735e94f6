//! lanescope shows which lanes a GPU wastes.

pub mod program;
pub mod record;
pub mod simulate;
pub mod units;
