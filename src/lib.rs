//! lanescope shows which lanes a GPU wastes.
//!
//! Threads of a GPU run in lockstep groups, *subgroups* (warps, wavefronts). Where the lanes of one
//! branch apart, the group runs every path, and the masked lanes are wasted. lanescope runs WGSL
//! compute kernels on any GPU and on a built-in simulator of any width, counts for each basic block
//! how often it was issued and with how many active lanes, and times the same kernels without
//! counters.
//!
//! # The way of a run
//!
//! ```text
//! shaders/<family>/<name>.{wgsl,toml} ─ kernel ─ Launch ─┬─ simulate ─────────────┐
//!                                                         └─ instrument ─ run/wgpu ┼─ Measurement
//!                                                                                  │
//!            tables · charts · report.html ◄─ analyze ◄─ store (result.json) ◄─────┘
//! ```
//!
//! # The map
//!
//! | module | what it is |
//! |---|---|
//! | [`units`] | newtypes: width, block number, issues, lanes, nanoseconds, ratio |
//! | [`statistics`] | median, noise, intervals, paired ratio, stop rule: pure functions |
//! | [`kernel`] | the catalogue and its format, seeded contents, CPU references, [`kernel::Launch`] |
//! | [`program`] | the only door to naga's front end: text in, numbered basic blocks out |
//! | [`simulate`] | the SIMT interpreter; its module page is the semantics |
//! | [`instrument`] | the pass that adds counters |
//! | [`run`] | devices, their child processes, sampling, sessions, doctor's self-test |
//! | [`record`] | the result format: the types' documentation is its specification |
//! | [`store`] | results on disk, whole at every moment |
//! | [`analyze`] | records to typed tables; no I/O |
//! | [`chart`], [`report`] | SVG figures, one HTML page |
//! | [`cli`] | the command line |
//!
//! # Invariants
//!
//! - Who may use whom is a table in `tests/architecture.rs`, which reads every `use` and fails on
//!   any other edge.
//! - Blocks are numbered in one place, [`program::structure`]; whoever walks a program walks its
//!   tree, so that no two modules can number differently.
//! - A GPU's driver is opened in a child process only ([`run::worker`]): a hung or lost device
//!   costs that process, and never a result.
//! - What is timed has no counters, and what is counted is never timed.
//! - `analyze` never writes into a record: every table, chart and page can be made again.
//! - There is no clock outside `run`, no file is written outside `store` and `cli`, nothing but
//!   `cli` prints, and there is no global state.
//! - `unsafe` stands in one file, `run/wgpu/trusted.rs`: wgpu's call for modules without run-time
//!   checks.
//!
//! `tests/main.rs` is the guide to the tests.

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
