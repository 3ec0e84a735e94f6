//! lanescope shows which lanes a GPU wastes.

pub mod analyze;
pub mod chart;
#[cfg(test)]
mod fixtures;
pub mod record;
pub mod report;
pub mod statistics;
pub mod store;
pub mod units;
