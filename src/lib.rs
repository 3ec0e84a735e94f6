//! lanescope shows which lanes a GPU wastes.

pub mod analyze;
pub mod chart;
pub mod cli;
#[cfg(test)]
mod fixtures;
pub mod instrument;
pub mod kernel;
pub mod program;
pub mod record;
pub mod report;
pub mod run;
pub mod simulate;
pub mod statistics;
pub mod store;
pub mod units;
