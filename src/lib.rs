//! lanescope shows which lanes a GPU wastes.

pub mod record;
pub mod statistics;
pub mod units;
