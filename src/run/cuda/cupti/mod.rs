//! Hardware counters through CUPTI, NVIDIA's profiling library.
//!
//! Input: an open device and what runs on it. Output: figures by NVIDIA's names. It is loaded when
//! counters are asked for, and only in a process that neither times nor counts otherwise
//! ([`super::collect`]).
//!
//! - [`layout`]: CUPTI's structures as C lays them out;
//! - `error`: its failures as sentences;
//! - `library`: finding, loading, calling (`unsafe`: it calls C);
//! - `sass`: counts of machine instructions (`unsafe`: it calls C);
//! - `ranges`: figures of a whole launch (`unsafe`: it calls C).

mod error;
pub mod layout;
mod library;
mod ranges;
mod sass;

pub use error::{CuptiError, VARIABLE};
pub use library::Cupti;
pub(super) use library::{Interface, Metric};
pub(super) use ranges::Ranges;
pub(super) use sass::{Record, Sass};
